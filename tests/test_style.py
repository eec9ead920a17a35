#!/usr/bin/env python3
"""What CONTRIBUTING.md promises and a machine can count: lengths of lines, functions and files, no
goto, the heap in one file, a library that neither prints nor exits."""
import glob
import os
import re
import sys

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
LINE, FUNCTION, FILE, NESTING = 100, 60, 900, 4

HEAP = re.compile(r"\b(malloc|calloc|realloc|free|strdup|aligned_alloc)\s*\(")
HEAP_FILES = ("src/base/memory.c", "reproduce/memory.c", "tools/cairn-check/memory.c",
              "python/binding/extra.c")
OUTPUT = re.compile(r"\b(printf|puts|putchar|perror|exit|abort|_Exit)\s*\(|\bstd(out|err)\b")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def bare(text):
    """The text without comments and literals, with its line breaks."""
    return COMMENT_OR_TEXT.sub(lambda m: "\n" * m.group().count("\n"), text)


def functions(lines):
    """(first line number, lines of the body) of each function: braces in the first column."""
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            yield start, lines[start - 1:number]
            start = None


def depth(body):
    deepest = level = 0
    for char in "\n".join(body):
        level += (char == "{") - (char == "}")
        deepest = max(deepest, level)
    return deepest


def check(name, text):
    code = bare(text)
    lines = code.split("\n")
    if len(lines) > FILE:
        yield 1, f"{len(lines)} lines in a file"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LINE:
            yield number, f"a line of {len(line)} characters"
        if "\t" in line:
            yield number, "a tab"
    for start, body in functions(lines):
        if len(body) > FUNCTION:
            yield start, f"a function of {len(body)} lines"
        if depth(body) > NESTING + 1:
            yield start, f"nesting {depth(body) - 1}"
    for number, line in enumerate(lines, 1):
        if re.search(r"\bgoto\b", line):
            yield number, "goto"
        if name not in HEAP_FILES and HEAP.search(line):
            yield number, "the heap is reached through base/memory.h"
        if name.startswith("src/") and OUTPUT.search(line):
            yield number, "the library neither prints nor exits"


def self_test():
    """A checker that sees nothing cannot pass: each of these is refused, the last is fine."""
    bad = ["int x;\t/**/\n", "/*" + "x" * 100 + "*/\n", "x;\n" * 901,
           "void f(void)\n{\n" + "    a();\n" * 59 + "}\n", "    goto end;\n", "p = malloc(3);\n",
           "free(p);\n", 'printf("x");\n', "fputs(s, stderr);\n", "exit(1);\n",
           "void f(void)\n{\n" + "{" * 5 + "}" * 5 + "\n}\n"]
    for text in bad:
        assert list(check("src/x.c", text)), text
    good = ("/* free(x); goto */\nvoid f(void)\n{\n" + "    a(\"exit(1)\");\n" * 58 +
            "}\nsnprintf(t, n, f);\ncairn_memory_free(p);\n{{{{}}}}\n")
    assert not list(check("src/x.c", good)), list(check("src/x.c", good))


def main():
    self_test()
    failed = False
    for pattern in ("src/*/*.[ch]", "src/*/*/*.[ch]", "include/cairn/*.h", "reproduce/*.[ch]",
                    "tools/*.[ch]", "tools/*/*.[ch]", "python/binding/*.[ch]"):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            name = os.path.relpath(path, ROOT)
            with open(path, encoding="utf-8") as file:
                for number, problem in check(name, file.read()):
                    print(f"{name}:{number}: {problem}")
                    failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
