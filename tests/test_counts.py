#!/usr/bin/env python3
"""Counts of src/world that CONTRIBUTING.md promises: no struct of more than 25 fields (the columns of a table
count as one), world.h below 150 lines, and no function but those of step.c that takes more than four of the seven
values of a step."""
import glob
import os
import re
import sys

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
FIELDS, WORLD_LINES, VALUES = 25, 150, 4

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRUCT = re.compile(r"\bstruct\s*(\w*)\s*\{([^{}]*)\}\s*(\w*)")
FUNCTION = re.compile(r"^[A-Za-z_][\w *]*?\b(\w+)\(([^;{}]*?)\)\n\{", re.MULTILINE)
VALUE = re.compile(r"\bcairn_(?:free_motion|candidates|mechanism|posed|answer|mending|arrival) \*")


def fields_of(body):
    """Declared names: `double *x, y[2];` are two; a table of columns is one."""
    count = 0
    body = re.sub(r"\b[A-Z_]+\([A-Z_]+\)", "table;", body)
    for part in body.split(";"):
        part = re.sub(r"\[[^\]]*\]|\([^()]*\)", "", part).strip()
        count += 1 + part.count(",") if part else 0
    return count


def structs_of(text):
    """(name, fields) of each struct, those within others first."""
    text = COMMENT.sub("", text)
    found = True
    while found:
        found = STRUCT.search(text)
        if found:
            yield found.group(3) or found.group(1), fields_of(found.group(2))
            text = text[:found.start()] + "inner " + (found.group(3) or "x") + text[found.end():]


def problems_of(name, text):
    for struct, fields in structs_of(text):
        if fields > FIELDS:
            yield f"struct {struct} has {fields} fields"
    for function in FUNCTION.finditer(COMMENT.sub("", text)):
        values = len(VALUE.findall(function.group(2)))
        if values > VALUES and name != "step.c":
            yield f"{function.group(1)} takes {values} values of a step"
    if name == "world.h" and text.count("\n") >= WORLD_LINES:
        yield f"{text.count(chr(10))} lines"


def self_test():
    """A checker that sees nothing cannot pass."""
    many = "".join(f"    int a{i}; /* ; */\n" for i in range(26))
    assert list(structs_of("typedef struct x {\n    double *a, b[3];\n    TABLE(F)\n    int *c;\n} x;\n")) == [("x", 4)]
    assert list(structs_of("struct x { struct { int a, b; } y; int z; };")) == [("y", 2), ("x", 2)]
    assert list(problems_of("a.h", "typedef struct x {\n" + many + "} x;\n"))
    assert not list(problems_of("a.h", "typedef struct x {\n" + many[many.index("\n") + 1:] + "} x;\n"))
    assert list(problems_of("world.h", "\n" * 150)) and not list(problems_of("world.h", "\n" * 149))
    values = [f"const cairn_{v} *{v}" for v in ("free_motion", "candidates", "mechanism", "posed", "answer")]
    five, four = (f"static int f({', '.join(values[:k])})\n{{\n}}\n" for k in (5, 4))
    assert list(problems_of("a.c", five)) and not list(problems_of("a.c", four))
    assert not list(problems_of("step.c", five))


def main():
    self_test()
    failed = False
    for path in sorted(glob.glob(os.path.join(ROOT, "src/world/*.[ch]"))):
        with open(path, encoding="utf-8") as file:
            for problem in problems_of(os.path.basename(path), file.read()):
                print(f"{os.path.relpath(path, ROOT)}: {problem}")
                failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
