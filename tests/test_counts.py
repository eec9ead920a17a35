#!/usr/bin/env python3
"""Counts that CONTRIBUTING.md promises. In src/world: no struct of more than 25 fields (the columns of a table
count as one), world.h below 150 lines, and no function but those of step.c that takes more than four of the seven
values of a step. Everywhere: what a contact is, is asked where problems are posed and in src/problem alone, and sums
over ranges are formed by cairn_reduce. In src and include: at most MACROS macros with arguments. (test_depth.c counts the functions from a step to the first multiply.)"""
import glob
import os
import re
import sys

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
FIELDS, WORLD_LINES, VALUES, MACROS = 25, 150, 4, 29

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


ASKS = re.compile(r"\bcairn_is_of_balls\(")
BY_HAND = re.compile(r"\[begin / ")
# who gathers what ranges found, in their order, has one entry for each: that is no sum
GATHERS = {"src/base/parallel.c", "src/collide/kept.c", "src/collide/grid.c", "src/world/touch.c"}


def habits_of(path, text):
    """What holds for every source of the library."""
    if ASKS.search(text) and not path.startswith("src/problem/") and path != "src/world/assemble.c":
        yield "asks whether a contact is one of balls: the segments of the problem say so"
    if BY_HAND.search(text) and path not in GATHERS:
        yield "adds up what ranges come to: cairn_reduce does"


MACRO = re.compile(r"^ *# *define \w+\(", re.MULTILINE)


def macros_of(texts):
    """(path, macros with arguments) of files that have any, most first."""
    counts = [(len(MACRO.findall(text)), path) for path, text in texts]
    return sorted(((path, count) for count, path in counts if count), key=lambda item: -item[1])


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
    assert list(habits_of("src/backend/host/a.c", "if (cairn_is_of_balls(p, j))"))
    assert not list(habits_of("src/problem/a.c", "if (cairn_is_of_balls(p, j))"))
    assert macros_of([("a.c", "#define A 1\n#define B(x) x\n  # define C() \\\n 2\n"), ("b.c", "")]) == [("a.c", 2)]
    assert list(habits_of("src/problem/a.c", "sum[begin / GRAIN] = x;"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def check_macros():
    paths = [path for folder in ("src", "include") for path in glob.glob(f"{ROOT}/{folder}/**/*.[ch]", recursive=True)]
    found = macros_of((os.path.relpath(path, ROOT), read(path)) for path in paths)
    total = sum(count for _, count in found)
    if total > MACROS:
        print(f"{total} macros with arguments, at most {MACROS} are allowed: " +
              ", ".join(f"{path} {count}" for path, count in found))
    return total <= MACROS


def main():
    self_test()
    failed = not check_macros()
    for path in sorted(glob.glob(os.path.join(ROOT, "src/**/*.[ch]"), recursive=True)):
        name = os.path.relpath(path, ROOT)
        text = read(path)
        found = list(habits_of(name, text))
        if name.startswith("src/world/"):
            found += problems_of(os.path.basename(path), text)
        for problem in found:
            print(f"{name}: {problem}")
            failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
