#!/usr/bin/env python3
"""What CONTRIBUTING.md promises of the sources and a machine can see, one group a check:  test_source.py GROUP
Each checker first shows on small examples that it finds what it looks for: one that sees nothing cannot pass."""
import glob
import os
import re
import sys
import tempfile


# ==== test_style: lengths of lines, functions and files, no goto, the heap in one file, no prints =========

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
LINE, FUNCTION, FILE, NESTING = 100, 60, 900, 4
HEAP = re.compile(r"\b(malloc|calloc|realloc|free|strdup|aligned_alloc)\s*\(")
HEAP_FILES = ("src/base/memory.c", "studies/study.c", "tools/cairn-check/base.c",
              "python/binding/extra.c")
OUTPUT = re.compile(r"\b(printf|puts|putchar|perror|exit|abort|_Exit)\s*\(|\bstd(out|err)\b")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def bare(text):
    """The text without comments and literals, with its line breaks."""
    return COMMENT_OR_TEXT.sub(lambda m: "\n" * m.group().count("\n"), text)


def bodies_of(lines):
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


def style_of(name, text):
    code = bare(text)
    lines = code.split("\n")
    if len(lines) > FILE:
        yield 1, f"{len(lines)} lines in a file"
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LINE:
            yield number, f"a line of {len(line)} characters"
        if "\t" in line:
            yield number, "a tab"
    for start, body in bodies_of(lines):
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


def show_style():
    """A checker that sees nothing cannot pass: each of these is refused, the last is fine."""
    bad = ["int x;\t/**/\n", "/*" + "x" * 100 + "*/\n", "x;\n" * 901,
           "void f(void)\n{\n" + "    a();\n" * 59 + "}\n", "    goto end;\n", "p = malloc(3);\n",
           "free(p);\n", 'printf("x");\n', "fputs(s, stderr);\n", "exit(1);\n",
           "void f(void)\n{\n" + "{" * 5 + "}" * 5 + "\n}\n"]
    for text in bad:
        assert list(style_of("src/x.c", text)), text
    good = ("/* free(x); goto */\nvoid f(void)\n{\n" + "    a(\"exit(1)\");\n" * 58 +
            "}\nsnprintf(t, n, f);\ncairn_memory_free(p);\n{{{{}}}}\n")
    assert not list(style_of("src/x.c", good)), list(style_of("src/x.c", good))


def test_style():
    """Lengths of lines, functions and files, no goto, the heap in one file, a library that neither prints nor exits."""
    show_style()
    failed = False
    for pattern in ("src/*/*.[ch]", "src/*/*/*.[ch]", "include/cairn/*.h", "studies/*.[ch]",
                    "tools/*.[ch]", "tools/*/*.[ch]", "python/binding/*.[ch]"):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            name = os.path.relpath(path, ROOT)
            with open(path, encoding="utf-8") as file:
                for number, problem in style_of(name, file.read()):
                    print(f"{name}:{number}: {problem}")
                    failed = True
    sys.exit(failed)


# ==== test_counts: fields, values and macros ==============================================================

FIELDS, WORLD_LINES, VALUES, MACROS = 25, 150, 4, 29
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STRUCT = re.compile(r"\bstruct\s*(\w*)\s*\{([^{}]*)\}\s*(\w*)")
SIGNATURE = re.compile(r"^[A-Za-z_][\w *]*?\b(\w+)\(([^;{}]*?)\)\n\{", re.MULTILINE)
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
    for function in SIGNATURE.finditer(COMMENT.sub("", text)):
        values = len(VALUE.findall(function.group(2)))
        if values > VALUES and name != "step.c":
            yield f"{function.group(1)} takes {values} values of a step"
    if name == "world.h" and text.count("\n") >= WORLD_LINES:
        yield f"{text.count(chr(10))} lines"


ASKS = re.compile(r"\bcairn_is_of_balls\(")
BY_HAND = re.compile(r"\[begin / ")
# who gathers what ranges found, in their order, has one entry for each: that is no sum
GATHERS = {"src/base/parallel.c", "src/collide/kept.c", "src/collide/images.c", "src/collide/grid.c", "src/world/touch.c"}


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


OPAQUE = re.compile(r"^typedef struct (\w+) \1;", re.MULTILINE)
TYPE = re.compile(r"^(?:\} |typedef [^;{}]*?\b)(cairn_\w+)(?:\([^;{}]*\))?;", re.MULTILINE)


def types_of(texts):
    """Types that more than one header defines, with the headers. Opaque ones may be named again."""
    where = {}
    for path, text in texts:
        for name in set(TYPE.findall(OPAQUE.sub("", COMMENT.sub("", text)))):
            where.setdefault(name, []).append(path)
    return {name: paths for name, paths in where.items() if len(paths) > 1}


def show_counts():
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
    twice = "typedef struct cairn_x {\n    int a;\n} cairn_x;\ntypedef int cairn_y;\n"
    assert types_of([("a.h", twice), ("b.h", twice), ("c.h", "/* } cairn_z; */")]) == {
        "cairn_x": ["a.h", "b.h"], "cairn_y": ["a.h", "b.h"]}


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


def check_types():
    paths = [path for folder in ("src", "include") for path in glob.glob(f"{ROOT}/{folder}/**/*.h", recursive=True)]
    found = types_of((os.path.relpath(path, ROOT), read(path)) for path in sorted(paths))
    for name, where in sorted(found.items()):
        print(f"{name}: a type of {' and of '.join(where)}")
    return not found


def test_counts():
    """In src/world: no struct of more than 25 fields (the columns of a table count as one), world.h below 150 lines, and
    no function but those of step.c that takes more than four of the seven values of a step. Everywhere: what a contact
    is, is asked where problems are posed and in src/problem alone, and sums over ranges are formed by cairn_reduce. In
    src and include: at most MACROS macros with arguments, and every type of a header has a name of its own. (The group test_depth counts the functions from a step to the
    first multiply.)"""
    show_counts()
    failed = not check_macros()
    failed |= not check_types()
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


# ==== test_layers: who includes whom ======================================================================

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
SYSTEM_CAIRN = re.compile(r"^\s*#\s*include\s+<cairn/", re.MULTILINE)


def read_rules(path):
    rules = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                folder, allowed = line.split(":")
                rules[folder.strip()] = set(allowed.split())
    return rules


def c_files(folder):
    for name in sorted(os.listdir(folder)):
        if name.endswith((".c", ".h")):
            yield os.path.join(folder, name)


# These run on any back end: they know vectors by pointers alone.
FIRST_ORDER = ("apgd.c", "gauss_seidel.c", "spg.c")


def looks_inside(text):
    """Where a solver has numbers of its own or goes through contacts: what only a back end does."""
    return [f"line {number}: '{found.group().strip()}': numbers and contacts are the back end's"
            for number, line in enumerate(text.split("\n"), 1)
            for found in [re.search(r"\bdouble \*|< *[\w>.-]*(contacts|blocks|r_count)\b", line)] if found]


def source_folders(root):
    """The folders of src/ and those within them, by their names in include lines."""
    top = os.path.join(root, "src")
    return sorted(os.path.relpath(path, top) for path, _, _ in os.walk(top) if path != top)


def problem_of(include, folder, allowed):
    """What is wrong with one include line of a file in `folder`; None: nothing."""
    parts = include.split("/")
    if parts[0] == "cairn" and len(parts) == 2:
        return None
    if ".." in parts:
        return "leaves its folder"
    if folder.startswith("tools"):
        own = len(parts) == 1 or parts[0] in allowed
        return None if own else "tools may include public headers and studies/ only"
    if len(parts) < 2:
        return "does not name its folder"
    if "/".join(parts[:-1]) not in allowed | {folder}:
        return f"{folder} may include {', '.join(sorted(allowed)) or 'nothing'} only"
    return None


def check_folder(path, folder, rules):
    problems = []
    for file in c_files(path):
        allowed = rules.get(f"{folder}/{os.path.basename(file)}", rules[folder])
        with open(file, encoding="utf-8") as stream:
            text = stream.read()
        if SYSTEM_CAIRN.search(text):
            problems.append(f'{file}: write "cairn/..." with quotes')
        for include in INCLUDE.findall(text):
            problem = problem_of(include, folder, allowed)
            if problem:
                problems.append(f'{file}: "{include}": {problem}')
    return problems


def borrowed(path):
    """Headers of another folder that files of a folder within tools/ include without naming it."""
    own = {os.path.basename(file) for file in c_files(path)}
    problems = []
    for file in c_files(path):
        with open(file, encoding="utf-8") as stream:
            names = [name for name in INCLUDE.findall(stream.read()) if "/" not in name and name not in own]
        problems += [f'{file}: "{name}": not of its folder' for name in names]
    return problems


def check_tree(root, rules):
    problems = []
    for folder in source_folders(root):
        if folder not in rules:
            problems.append(f"src/{folder}: not in tests/house/layers.txt")
        else:
            problems += check_folder(os.path.join(root, "src", folder), folder, rules)
    for folder in ("studies", "tools", "tools/ending", "tools/view"):
        problems += check_folder(os.path.join(root, folder), folder, rules)
    for folder in ("ending", "view"):
        problems += borrowed(os.path.join(root, "tools", folder))
    for name in FIRST_ORDER:
        with open(os.path.join(root, "src", "solve", name), encoding="utf-8") as stream:
            problems += [f"src/solve/{name}: {problem}" for problem in looks_inside(stream.read())]
    graph = include_graph(root)
    problems += [f"{file}: part of an include cycle" for file in find_cycles(graph)]
    problems += public_crossings(graph, rules)
    return problems


def include_graph(root):
    """Which files of src/ and include/ each of them includes, all by the names that include lines have for them.
    <hdf5.h> counts as the private file/hdf5.h, as it does for a reader or a tool that goes by names."""
    files = {os.path.relpath(file, os.path.join(root, "src")): file
             for folder in source_folders(root) for file in c_files(os.path.join(root, "src", folder))}
    files.update({"cairn/" + os.path.basename(file): file
                  for file in c_files(os.path.join(root, "include", "cairn"))})
    graph = {}
    for name, file in files.items():
        with open(file, encoding="utf-8") as stream:
            included = ANY_INCLUDE.findall(stream.read())
        graph[name] = {other for line in included for other in files
                       if other != name and (other == line or other.endswith("/" + line))}
    return graph


def reached(graph, name):
    """All files that a file includes, directly and by way of others."""
    found, left = set(), [name]
    while left:
        new = graph[left.pop()] - found
        found |= new
        left += new
    return found


def public_crossings(graph, rules):
    """Files that see a public header which their line does not name; public headers without a line."""
    problems = []
    for name in sorted(graph):
        folder = os.path.dirname(name)
        if name == "cairn/cairn.h":
            continue
        line = name if folder == "cairn" else folder + " sees"
        if line not in rules:
            problems.append(f"{name}: tests/house/layers.txt has no line '{line}: ...'")
            continue
        seen = {header[len("cairn/"):-len(".h")] for header in reached(graph, name) if header.startswith("cairn/")}
        problems += [f"{name}: sees cairn/{header}.h" for header in sorted(seen - rules[line])]
    return problems


def find_cycles(graph):
    """The files that lead back to themselves: what is left when all that include nothing, or only what
    has been taken away, are taken away, again and again, and the same for what nobody includes."""
    left = dict(graph)
    while True:
        included = set().union(*left.values()) if left else set()
        gone = {file for file in left if not left[file] & left.keys() or file not in included}
        if not gone:
            return sorted(left)
        left = {file: left[file] - gone for file in left if file not in gone}


def show_layers(rules):
    """Each of these lines must be refused, or allowed, as written."""
    cases = [
        ("base", "math/vector.h", False), ("math", "base/memory.h", True),
        ("shape", "collide/broad.h", False), ("collide", "shape/shape.h", True),
        ("collide", "problem/cone.h", False), ("solve", "shape/shape.h", False),
        ("solve", "backend/backend.h", True), ("problem", "solve/solver.h", False),
        ("backend/host", "backend/host/batch.h", True), ("backend/host", "backend/backend.h", True),
        ("solve", "backend/host/batch.h", True), ("world", "backend/host/batch.h", False),
        ("backend/host", "host/batch.h", False),
        ("world", "solve/solver.h", True), ("world", "file/file.h", False),
        ("run", "world/world.h", False), ("run", "base/memory.h", True),
        ("run", "frame.h", False), ("run", "../base/memory.h", False),
        ("file", "scene/yaml.h", False), ("scene", "file/file.h", True), ("scene", "run/frame.h", False),
        ("run", "scene/stages.h", True), ("run", "study/study.h", False), ("study", "run/run_file.h", True),
        ("run", "cairn/world.h", True), ("tools", "base/memory.h", False),
        ("tools", "command.h", True), ("tools", "cairn/cairn.h", True),
        ("tools/view", "ending/ending.h", True), ("tools/ending", "view/view.h", False), ("tools", "view/view.h", True),
        ("tools", "studies/study.h", True), ("studies", "studies/study.h", True),
        ("studies", "base/memory.h", False), ("studies", "command.h", False),
        ("world", "studies/study.h", False),
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "x.c")
        for inside, include, allowed in cases:
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(f'/* x */\n#include <math.h>\n#include "{include}"\n')
            found = check_folder(folder, inside, rules)
            assert (not found) == allowed, f"{inside} including {include}: {found}"
        with open(file, "w", encoding="utf-8") as stream:
            stream.write('#include "command.h"\n')
        assert borrowed(folder)
    assert looks_inside("for (int j = 0; j < p->contacts; j++)\nconst double *mu;\ndouble a, b;\n") == [
        "line 1: '< p->contacts': numbers and contacts are the back end's",
        "line 2: 'double *': numbers and contacts are the back end's"]
    arrows = {"shape/shape.h": {"cairn/world.h"}, "collide/collide.h": {"shape/shape.h"}, "math/factor.h": {"cairn/problem.h"},
              "cairn/world.h": {"cairn/solve.h"}, "cairn/shape.h": {"cairn/solve.h"}, "cairn/solve.h": {"cairn/problem.h"},
              "cairn/problem.h": {"cairn/base.h"}, "cairn/base.h": set(), "cairn/new.h": set()}
    found = public_crossings(arrows, rules)
    for expected in ("shape/shape.h: sees cairn/world.h", "shape/shape.h: sees cairn/solve.h",
                     "collide/collide.h: sees cairn/world.h", "collide/collide.h: sees cairn/solve.h",
                     "math/factor.h: sees cairn/problem.h", "cairn/shape.h: sees cairn/solve.h",
                     "cairn/new.h: tests/house/layers.txt has no line 'cairn/new.h: ...'"):
        assert expected in found, f"{expected} not in {found}"
    assert "math/factor.h: sees cairn/base.h" not in found and "cairn/solve.h: sees cairn/problem.h" not in found
    assert find_cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert find_cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == ["b", "c"]


def test_layers():
    """The include lines of src/, include/cairn/, studies/ and tools/ keep to tests/house/layers.txt, and no file of src/ includes
    itself by a detour."""
    root = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
    rules = read_rules(os.path.join(root, "tests", "house", "layers.txt"))
    show_layers(rules)
    problems = check_tree(root, rules)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
