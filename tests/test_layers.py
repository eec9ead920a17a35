#!/usr/bin/env python3
"""Checks the include lines of src/, reproduce/ and tools/ against tests/layers.txt, and that no file of src/
includes itself by a detour, after showing on small examples that a crossing is found: a checker that sees
nothing cannot pass."""
import os
import re
import sys
import tempfile

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
        return None if own else "tools may include public headers and reproduce/ only"
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
            problems.append(f"src/{folder}: not in tests/layers.txt")
        else:
            problems += check_folder(os.path.join(root, "src", folder), folder, rules)
    for folder in ("reproduce", "tools", "tools/ending", "tools/view"):
        problems += check_folder(os.path.join(root, folder), folder, rules)
    for folder in ("ending", "view"):
        problems += borrowed(os.path.join(root, "tools", folder))
    for name in FIRST_ORDER:
        with open(os.path.join(root, "src", "solve", name), encoding="utf-8") as stream:
            problems += [f"src/solve/{name}: {problem}" for problem in looks_inside(stream.read())]
    problems += [f"{file}: part of an include cycle" for file in find_cycles(include_graph(root))]
    return problems


def include_graph(root):
    """Which files of src/ each of them includes, by name. <hdf5.h> counts as the private io/hdf5.h, as
    it does for a reader or a tool that goes by names."""
    files = [file for folder in source_folders(root)
             for file in c_files(os.path.join(root, "src", folder))]
    graph = {}
    for file in files:
        with open(file, encoding="utf-8") as stream:
            names = ANY_INCLUDE.findall(stream.read())
        graph[file] = {other for name in names for other in files
                       if other != file and other.endswith("/" + name)}
    return graph


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


def self_test(rules):
    """Each of these lines must be refused, or allowed, as written."""
    cases = [
        ("base", "math/vector.h", False), ("math", "base/arena.h", True),
        ("shape", "collide/broad.h", False), ("collide", "shape/shape.h", True),
        ("collide", "problem/local.h", False), ("solve", "shape/shape.h", False),
        ("solve", "backend/backend.h", True), ("problem", "solve/solver.h", False),
        ("backend/host", "backend/host/batch.h", True), ("backend/host", "backend/backend.h", True),
        ("solve", "backend/host/batch.h", True), ("world", "backend/host/batch.h", False),
        ("backend/host", "host/batch.h", False),
        ("world", "solve/solver.h", True), ("world", "io/file.h", False),
        ("io", "world/world.h", False), ("io", "base/memory.h", True),
        ("io", "file.h", False), ("io", "../base/memory.h", False),
        ("io", "cairn/world.h", True), ("tools", "base/memory.h", False),
        ("tools", "command.h", True), ("tools", "cairn/cairn.h", True),
        ("tools/view", "ending/ending.h", True), ("tools/ending", "view/show.h", False), ("tools", "view/show.h", True),
        ("tools", "reproduce/study.h", True), ("reproduce", "reproduce/study.h", True),
        ("reproduce", "base/memory.h", False), ("reproduce", "command.h", False),
        ("world", "reproduce/study.h", False),
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
    assert find_cycles({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert find_cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == ["b", "c"]


def main():
    root = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
    rules = read_rules(os.path.join(root, "tests", "layers.txt"))
    self_test(rules)
    problems = check_tree(root, rules)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
