#!/usr/bin/env python3
"""A column of bodies is one line of include/cairn/columns.h. A copy of the tree with one more line has the column in
the frames of a run and in its certificate. The same copy gets a shape and a joint (new_parts.py)."""
import os
import shutil
import subprocess
import sys
import tempfile

import new_parts
import run_numbers

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADER = "include/cairn/columns.h"
LINE = '''    COLUMN(warmth, double, CAIRN_COLUMN_REAL, 1, "K", CAIRN_GOES_SAVED | CAIRN_GOES_FRAME, \\
           CAIRN_RANGE_ANY, "of a test") \\
'''
BEFORE = "    COLUMN(extent, double"
SCENE = """cairn: 1
bodies:
  - {motion: fixed, shape: half_space}
  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.11]}
run: {time_step: 1e-3, duration: 0.05, certificate: full, paraview: false, picture: false}
"""


def run(*words, folder=None):
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.exit("%s ended with %d:\n%s" % (" ".join(words), done.returncode, done.stdout.decode()[-3000:]))


def add_line(tree):
    path = os.path.join(tree, HEADER)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert text.count(BEFORE) == 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(BEFORE, LINE + BEFORE))


def build(tree):
    """The program of a tree, as quickly as the compiler can."""
    cmake = os.environ.get("CMAKE", "cmake")
    run(cmake, "-S", tree, "-B", tree + "/made", "-G", "Ninja", "-DCAIRN_BUILD_TESTS=OFF", "-DCMAKE_C_FLAGS=-O0",
        "-DCMAKE_BUILD_TYPE=None")
    run(cmake, "--build", tree + "/made", "--target", "cairn_program", "--parallel", "2")
    return tree + "/made/tools/cairn"


def check(folder):
    found = run_numbers.Run(os.path.join(folder, "run.h5"))
    for name in ("frames/bodies", "certificate/bodies"):
        rows, others = len(found[name + "/warmth"]), len(found[name + "/x"])
        assert rows == others > 0, "%s: %d rows of the new column, %d of others" % (name, rows, others)
    found.close()


def main():
    if os.environ.get("CAIRN_SANITIZE") == "ON":
        print("skipped: a column is added in the release build")
        return 77
    try:
        run_numbers.load()
    except ImportError as missing:
        print("skipped: %s" % missing)
        return 77
    with tempfile.TemporaryDirectory(prefix="cairn-column-") as folder:
        tree = os.path.join(folder, "tree")
        shutil.copytree(SOURCE, tree, ignore=shutil.ignore_patterns("build*", ".git", "out", "node_modules"))
        add_line(tree)
        new_parts.add(tree)
        program = build(tree)
        with open(os.path.join(folder, "scene.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENE)
        run(program, "run", "scene.yaml", "--out", "whole", folder=folder)
        check(os.path.join(folder, "whole"))
        with open(os.path.join(folder, "parts.yaml"), "w", encoding="utf-8") as file:
            file.write(new_parts.scene())
        run(program, "run", "parts.yaml", "--out", "parts", folder=folder)
        found = run_numbers.Run(os.path.join(folder, "parts", "run.h5"))
        new_parts.check(found)
        found.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
