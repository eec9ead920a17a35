#!/usr/bin/env python3
"""A column of bodies is one line of include/cairn/columns.h: a copy of the tree with one more line has the column in the
frames of a run and in its certificate. A convex shape is three files of the library, a joint two: the same copy gets
both, as CONTRIBUTING.md walks through it. The shape is an octahedron, |x|/a + |y|/b + |z|/c <= 1; the joint a slot, in
which a point slides along a line."""
import math
import os
import shutil
import subprocess
import sys
import tempfile

import run_numbers


# ==== a shape and a joint =================================================================================

SHAPE_FILES, JOINT_FILES = 3, 2
OCTAHEDRON = """/* octahedron.c - |x|/a + |y|/b + |z|/c <= 1, 3D only. V = 4/3 abc, integral of x^2: V a^2/10. */
#include <math.h>

#include "math/vec.h"
#include "shape/shape.h"

static cairn_status check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    return cairn_shape_check_lengths(shape->semi_axes, dimension, "semi_axes", error);
}

static bool octahedron_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    cairn_vec3 a = shape->semi_axes;
    double volume = 4.0 / 3 * a.x * a.y * a.z, part = volume / 10;
    (void)dimension;
    *out = cairn_moments_symmetric(volume, part * a.x * a.x, part * a.y * a.y, part * a.z * a.z);
    return true;
}

static double extent(const cairn_shape *shape)
{
    return fmax(fmax(shape->semi_axes.x, shape->semi_axes.y), shape->semi_axes.z);
}

static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    cairn_vec3 a = shape->semi_axes, p = cairn_times(a, d);
    double x = fabs(p.x), y = fabs(p.y), z = fabs(p.z);
    if (x >= y && x >= z)
        return cairn_vec(copysign(a.x, d.x), 0, 0);
    return y >= z ? cairn_vec(0, copysign(a.y, d.y), 0) : cairn_vec(0, 0, copysign(a.z, d.z));
}

/* The face of the octant that d points into. */
static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    cairn_vec3 a = shape->semi_axes;
    double x = copysign(1, d.x), y = copysign(1, d.y), z = copysign(1, d.z);
    bool even = x * y * z > 0;
    const cairn_vec3 corner[3] = { { x * a.x, 0, 0 }, { 0, y * a.y, 0 }, { 0, 0, z * a.z } };
    out->count = 3;
    out->id = (x > 0) + 2 * (y > 0) + 4 * (z > 0);
    out->normal = cairn_unit(cairn_vec(x / a.x, y / a.y, z / a.z));
    for (int k = 0; k < 3; k++) {
        int at = even ? k : 2 - k;
        out->point[k] = corner[at];
        out->vertex[k] = 2 * at + ((at == 0 ? x : at == 1 ? y : z) > 0);
    }
}

static bool corner(const cairn_shape *shape, int k, cairn_vec3 *out)
{
    const double a[3] = { shape->semi_axes.x, shape->semi_axes.y, shape->semi_axes.z };
    double at[3] = { 0, 0, 0 };
    if (k > 5)
        return false;
    at[k / 2] = k % 2 ? a[k / 2] : -a[k / 2];
    *out = cairn_vec(at[0], at[1], at[2]);
    return true;
}

static const cairn_option options[] = {
    { "semi_axes", CAIRN_OPTION_VECTOR, true, offsetof(cairn_shape, semi_axes), 0, 1e12, "m",
      "from the centre to the corners", NULL },
};

const cairn_shape_class cairn_shape_class_octahedron = {
    .record = { "octahedron", "octahedron, 3D only", sizeof(cairn_shape), cairn_shape_set_default,
                options, 1 },
    .check = check,
    .moments = octahedron_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .corner = corner,
    .only_in = 3,
};
"""
SLOT = """    [CAIRN_JOINT_SLOT] = { { "slot", "3D: a point slides along a line", sizeof(cairn_joint_def), set_default,
                             axis_options, sizeof axis_options / sizeof axis_options[0] },
                           0, ACROSS, false, false, true, false },
"""
SHAPE = {
    "src/shape/octahedron.c": OCTAHEDRON,
    "src/shape/shape.c": [
        ("extern const cairn_shape_class ", "extern const cairn_shape_class cairn_shape_class_octahedron;\n"),
        ("    [CAIRN_SHAPE_COMPOUND] =", "    [CAIRN_SHAPE_OCTAHEDRON] = &cairn_shape_class_octahedron,\n")],
    "include/cairn/shape.h": [("    CAIRN_SHAPE_COUNT\n", "    CAIRN_SHAPE_OCTAHEDRON,\n")],
}
JOINT = {
    "include/cairn/joint.h": [("    CAIRN_JOINT_COUNT\n", "    CAIRN_JOINT_SLOT,\n")],
    "src/world/joint.c": [("    [CAIRN_JOINT_BUSHING] =", SLOT)],
}
# The octahedron of semi-axes 0.1 m falls by 2 mm onto its face x + y + z = 0.1, which the turn by acos(-1/sqrt(3)) about
# (1, -1, 0) takes to the ground: its centre comes to rest at 0.1/sqrt(3). Others meet a box, a ball, a capsule and each
# other. The ball in the slot moves along x at 1 m/s and does not fall.
PARTS = """cairn: 1
bodies:
  - {motion: fixed, shape: half_space}
  - {shape: {octahedron: {semi_axes: [0.1, 0.1, 0.1]}}, position: [0, 0, %.12f], orientation: [%.12f, %.12f, %.12f, 0]}
  - {name: bead, shape: {sphere: {radius: 0.1}}, position: [0, 1, 0.5], velocity: [1, 0, 0]}
  - {motion: fixed, shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [2, 0, 0.1]}
  - {shape: {octahedron: {semi_axes: [0.1, 0.1, 0.1]}}, position: [2, 0, 0.301]}
  - {shape: {octahedron: {semi_axes: [0.05, 0.06, 0.07]}}, position: [2.01, 0, 0.473]}
  - {shape: {sphere: {radius: 0.05}}, position: [2.02, 0, 0.595]}
  - {shape: {capsule: {radius: 0.02, length: 0.1}}, position: [2.1, 0.02, 0.4]}
joints:
  - slot: {a: bead, anchor: [0, 1, 0.5], axis: [1, 0, 0]}
run: {time_step: 1e-3, duration: 0.2, certificate: full, frame_interval: 0.1, paraview: false, picture: false}
"""


def turned():
    """Half the angle between (1, 1, 1) and (0, 0, -1), and the axis of the turn, as a quaternion."""
    half = 0.5 * math.acos(-1 / math.sqrt(3))
    return math.cos(half), -math.sin(half) / math.sqrt(2), math.sin(half) / math.sqrt(2)


def parts_scene():
    return PARTS % ((0.1 / math.sqrt(3) + 0.002,) + turned())


def change(tree, path, lines):
    """Write a new file, or put each line before the only place where its mark stands."""
    path = os.path.join(tree, path)
    text = lines
    if not isinstance(lines, str):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for mark, line in lines:
            assert text.count(mark) == 1, "%s has %d times %r" % (path, text.count(mark), mark)
            text = text.replace(mark, line + mark)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def add_parts(tree):
    for parts, most in ((SHAPE, SHAPE_FILES), (JOINT, JOINT_FILES)):
        assert len(parts) <= most, "%d files: %s" % (len(parts), ", ".join(parts))
        for path, lines in parts.items():
            change(tree, path, lines)


def check_parts(found):
    """`found`: the numbers of a run of the scene."""
    last = dict(zip(found["frames/bodies/index"], found["frames/bodies/x"]))  # the last row of each body
    height, slid, fell = last[1][2], last[2][0], last[2][2]
    assert abs(height - 0.1 / math.sqrt(3)) < 1e-5, "the octahedron lies at %.6f" % height
    assert abs(slid - 0.2) < 1e-9 and abs(fell - 0.5) < 1e-9, "the slot holds x = %.9f, z = %.9f" % (slid, fell)
    assert max(found["steps/penetration"]) < 1e-3, "overlap of %g m" % max(found["steps/penetration"])
    assert min(found["steps/converged"]) == 1


# ==== a column ============================================================================================

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
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
        add_parts(tree)
        program = build(tree)
        with open(os.path.join(folder, "scene.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENE)
        run(program, "run", "scene.yaml", "--out", "whole", folder=folder)
        check(os.path.join(folder, "whole"))
        with open(os.path.join(folder, "parts.yaml"), "w", encoding="utf-8") as file:
            file.write(parts_scene())
        run(program, "run", "parts.yaml", "--out", "parts", folder=folder)
        found = run_numbers.Run(os.path.join(folder, "parts", "run.h5"))
        check_parts(found)
        found.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
