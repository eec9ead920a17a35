#!/usr/bin/env python3
"""`cairn solve` from outside, and `cairn run --save-problem` that feeds it."""
import csv
import glob
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import h5py
    import numpy
except ImportError:
    print("skipped: there is no h5py")
    sys.exit(77)

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
CAIRN = os.environ.get("CAIRN", os.path.join(ROOT, "build/release/tools/cairn"))
REAL = os.path.join(ROOT, "../shared/data/fclib")

# nine disks thrown together, so that some slide
SCENE = """\
cairn: 1
title: A pile
dimension: 2
gravity: [0, -10]
materials: {rock: {friction: 0.3}}
bodies:
  - {name: floor, motion: fixed, shape: {half_space: {}}}
generators:
  - pile: {rows: 5, origin: [0, 0.1], radius: 0.1, density: 1000}
run: {time_step: 0.01, duration: 0.1, scheme: convex, solver: pgs, tolerance: 1e-6}
"""


def matrix(parent, name, rows, columns, entries, way):
    """A matrix group; entries are (row, column, value); way is triplets, columns or rows."""
    group = parent.create_group(name)
    key = (lambda e: (e[1], e[0])) if way == "columns" else (lambda e: (e[0], e[1]))
    entries = sorted(entries, key=key)
    if way == "triplets":
        nz, first, second = len(entries), [e[1] for e in entries], [e[0] for e in entries]
    else:
        line, other = (1, 0) if way == "columns" else (0, 1)
        lines = columns if way == "columns" else rows
        nz = -1 if way == "columns" else -2
        first = [sum(e[line] < k for e in entries) for k in range(lines + 1)]
        second = [e[other] for e in entries]
    for key, value in (("nzmax", [len(entries)]), ("m", [rows]), ("n", [columns]), ("nz", [nz]),
                       ("p", first), ("i", second)):
        group[key] = numpy.array(value, dtype="int32")
    group["x"] = numpy.array([e[2] for e in entries], dtype="float64")


def local_file(path, way="rows", mu=0.5):
    """One contact in 3D: u = (2 r_N - 1, r_T1 + 0.1, r_T2), sticks for mu = 0.5."""
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = numpy.array([3], dtype="int32")
        matrix(group, "W", 3, 3, [(0, 0, 2.0), (1, 1, 1.0), (2, 2, 1.0)], way)
        group["vectors/q"] = numpy.array([-1.0, 0.1, 0.0])
        group["vectors/mu"] = numpy.array([mu])


class Program(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.home.cleanup()

    def path(self, name):
        return os.path.join(self.home.name, name)

    def run_cairn(self, *words, code=0):
        done = subprocess.run([CAIRN, *words], cwd=self.home.name, capture_output=True, text=True,
                              timeout=250, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def table(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


class Solve(Program):
    def test_a_problem_is_solved_whatever_way_its_matrix_is_stored(self):
        for way in ("triplets", "columns", "rows"):
            local_file(self.path("one.hdf5"), way)
            out = self.run_cairn("solve", "one.hdf5", "--tolerance", "1e-10").stdout
            words = out.splitlines()[1].split()
            self.assertEqual(words[:3], ["one", "1", "auto"])
            self.assertIn("solved", words)

    def test_heading_and_columns(self):
        local_file(self.path("one.hdf5"))
        out = self.run_cairn("solve", "one.hdf5", "--solver", "pgs").stdout.splitlines()
        self.assertEqual(out[0].split(), "problem contacts solver residual coulomb fclib iterations "
                         "time (s) verdict".split())
        self.assertEqual(len(out), 2)
        self.assertLess(float(out[1].split()[3]), 1e-3)

    def test_all_solvers_and_the_csv_file(self):
        local_file(self.path("one.hdf5"))
        self.run_cairn("solve", "one.hdf5", "--solver", "all", "--csv", "t.csv")
        rows = self.table("t.csv")
        listed = self.run_cairn("list", "solvers").stdout
        names = [line.split()[0] for line in listed.splitlines() if line[:2] == "  "
                 and line[2:3] != " "]
        self.assertEqual([row["solver"] for row in rows], names)
        verdicts = {row["solver"]: row["verdict"] for row in rows}
        self.assertEqual(verdicts["pgs"], "solved")
        self.assertEqual(verdicts["pgd"], "not treated")  # the convex law alone
        for row in rows:
            self.assertEqual(row["law"], "coulomb")
            if row["verdict"] == "solved":
                self.assertLessEqual(float(row["asked_relative"]), 1e-3)

    def test_laws(self):
        local_file(self.path("one.hdf5"), mu=0.05)  # slides: the laws differ
        self.run_cairn("solve", "one.hdf5", "--law", "convex", "--csv", "a.csv", "--tolerance=1e-9")
        self.run_cairn("solve", "one.hdf5", "--law=coulomb", "--csv", "b.csv", "--tolerance=1e-9")
        convex, coulomb = self.table("a.csv")[0], self.table("b.csv")[0]
        self.assertEqual((convex["law"], coulomb["law"]), ("convex", "coulomb"))
        self.assertGreater(float(convex["coulomb_relative"]), 1e-3)
        self.assertLess(float(coulomb["coulomb_relative"]), 1e-9)

    def test_polyhedral_cones(self):
        local_file(self.path("one.hdf5"), mu=0.05)
        done = subprocess.run([CAIRN, "solve", "one.hdf5", "--solver", "all", "--law",
                               "polyhedral:8", "--csv", "t.csv"], cwd=self.home.name, timeout=100,
                              capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 4))
        for row in self.table("t.csv"):
            self.assertEqual((row["law"], row["directions"]), ("coulomb", "8"))

    def test_a_missed_tolerance_ends_with_4(self):
        local_file(self.path("one.hdf5"))
        shutil.copy(self.path("one.hdf5"), self.path("two.hdf5"))
        out = self.run_cairn("solve", "one.hdf5", "two.hdf5", "--solver", "pgd", code=4).stdout
        self.assertIn("not treated", out)
        self.run_cairn("run", self.scene(), "--quiet", "--save-problem", "5")
        done = self.run_cairn("solve", "out/pile/problems", "--solver", "pgs", "--tolerance",
                              "1e-13", "--max-iterations", "1", code=4)
        self.assertIn("missed", done.stdout)

    def test_a_folder_is_all_its_problems_by_name(self):
        os.mkdir(self.path("set"))
        for name in ("b.hdf5", "a.hdf5", "c.hdf5"):
            local_file(self.path("set/" + name))
        with open(self.path("set/note.txt"), "w", encoding="utf-8") as file:
            file.write("not a problem\n")
        out = self.run_cairn("solve", "set").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in out[1:4]], ["a", "b", "c"])
        self.assertIn("auto", out[4])
        self.assertIn("solved 3 of 3", out[4])

    def test_starts(self):
        local_file(self.path("one.hdf5"))
        with h5py.File(self.path("one.hdf5"), "a") as file:
            file["solution/r"] = numpy.array([0.5, -0.1, 0.0])
        for start, iterations in (("solution", 0), ("zero", None), ("guess", None)):
            done = self.run_cairn("solve", "one.hdf5", "--solver", "pgs", "--start", start, "--csv",
                                  "t.csv")
            found = int(self.table("t.csv")[0]["iterations"])
            self.assertEqual(found, 0) if iterations == 0 else self.assertGreater(found, 0)
            self.assertEqual("it has no guess" in done.stderr, start == "guess")

    def test_the_measure_of_the_literature(self):
        local_file(self.path("one.hdf5"))
        self.run_cairn("solve", "one.hdf5", "--measure", "fclib", "--csv", "t.csv")
        row = self.table("t.csv")[0]
        self.assertEqual(row["measure"], "fclib")
        self.assertLessEqual(float(row["asked_fclib"]), 1e-3)

    def test_a_profile_is_an_svg_file(self):
        local_file(self.path("one.hdf5"))
        local_file(self.path("two.hdf5"), mu=0.05)
        self.run_cairn("solve", "one.hdf5", "two.hdf5", "--solver", "all", "--profile", "p.svg")
        root = xml.etree.ElementTree.parse(self.path("p.svg")).getroot()
        self.assertTrue(root.tag.endswith("svg"))
        text = "".join(root.itertext())
        self.assertIn("pgs: 2 of 2", text)
        self.assertNotIn("pgd:", text)  # treats none of them
        self.assertIn("time relative to the fastest", text)

    def test_tables_and_profiles_replace_plain_files_only(self):
        local_file(self.path("one.hdf5"))
        for flag, name in (("--csv", "t.csv"), ("--profile", "p.svg")):
            words = ("solve", "one.hdf5", flag)
            self.run_cairn(*words, name)
            size = os.path.getsize(self.path(name))
            # a link stays, and what it points to is written
            os.symlink("target-" + name, self.path("link-" + name))
            self.run_cairn(*words, "link-" + name)
            self.assertTrue(os.path.islink(self.path("link-" + name)))
            self.assertGreater(os.path.getsize(self.path("target-" + name)), size // 2)
            # a FIFO stays, and its reader gets it all
            os.mkfifo(self.path("fifo-" + name))
            with subprocess.Popen(["cat", self.path("fifo-" + name)],
                                  stdout=subprocess.PIPE) as reader:
                self.run_cairn(*words, "fifo-" + name)
                got = reader.communicate(timeout=100)[0]
            self.assertGreater(len(got), size // 2)
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo-" + name)).st_mode))
            # devices stay devices, also for root
            self.run_cairn(*words, "/dev/null")
            self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
            # standard output gets it after the table
            out = self.run_cairn(*words, "/dev/stdout").stdout
            self.assertTrue(out.startswith("problem "), out)
            self.assertIn("problem,dimension," if flag == "--csv" else "</svg>", out)
        self.assertEqual([n for n in os.listdir(self.home.name) if n.endswith(".part")], [])

    def scene(self):
        with open(self.path("pile.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENE)
        return "pile.yaml"


class Wrong(Program):
    def test_files_that_are_not_right(self):
        with open(self.path("text.hdf5"), "w", encoding="utf-8") as file:
            file.write("no HDF5\n")
        with h5py.File(self.path("other.hdf5"), "w") as file:
            file["x"] = 1
        for name in ("text.hdf5", "other.hdf5"):
            self.assertIn(name, self.run_cairn("solve", name, code=3).stderr)
        self.assertIn("No such file", self.run_cairn("solve", "none.hdf5", code=1).stderr)
        os.mkdir(self.path("empty"))
        self.assertIn("no file *.hdf5", self.run_cairn("solve", "empty", code=1).stderr)

    def test_a_bad_file_does_not_stop_the_others(self):
        with open(self.path("a.hdf5"), "w", encoding="utf-8") as file:
            file.write("no HDF5\n")
        local_file(self.path("b.hdf5"))
        done = self.run_cairn("solve", "a.hdf5", "b.hdf5", code=3)
        self.assertIn("solved", done.stdout)

    def test_a_bad_entry_is_named(self):
        def break_index(file):
            file["fclib_local/W/i"][1] = 9

        def break_size(file):
            del file["fclib_local/vectors/q"]
            file["fclib_local/vectors/q"] = numpy.zeros(4)

        def break_number(file):
            file["fclib_local/W/x"][0] = numpy.nan

        def break_dimension(file):
            file["fclib_local/spacedim"][0] = 7

        def break_rolling(file):
            file["fclib_local/spacedim"][0] = 5

        def break_starts(file):
            file["fclib_local/W/p"][1] = 2000000000

        def break_type(file):
            del file["fclib_local/W/i"]
            file["fclib_local/W/i"] = numpy.zeros(3)

        for spoil, words in ((break_index, "W/i"), (break_size, "expected 3"),
                             (break_number, "nan"), (break_dimension, "found 7"),
                             (break_rolling, "found 5"), (break_starts, "W/p"),
                             (break_type, "list of integers")):
            local_file(self.path("bad.hdf5"))
            with h5py.File(self.path("bad.hdf5"), "a") as file:
                spoil(file)
            self.assertIn(words, self.run_cairn("solve", "bad.hdf5", code=3).stderr)

    def test_flags_with_bad_values(self):
        local_file(self.path("one.hdf5"))
        for words in (["--solver", "nobody"], ["--law", "hooke"], ["--law", "polyhedral:5"],
                      ["--law", "polyhedral:"], ["--law", "polyhedral:2"], ["--tolerance", "0"],
                      ["--tolerance", "x"], ["--tolerance", "2"], ["--time-limit", "-1"],
                      ["--max-iterations", "0"], ["--max-iterations", "1.5"], ["--start", "end"],
                      ["--measure", "none"], ["--csv"], ["--csv="], ["--profile="],
                      ["--set", "a=b"]):
            self.assertIn("Try 'cairn help solve'",
                          self.run_cairn("solve", "one.hdf5", *words, code=2).stderr)
        self.run_cairn("solve", code=2)
        self.run_cairn("solve", "one.hdf5", "", code=2)

    def test_a_table_that_cannot_be_written_is_a_failure(self):
        local_file(self.path("one.hdf5"))
        done = self.run_cairn("solve", "one.hdf5", "--csv", "nowhere/t.csv", code=1)
        self.assertIn("nowhere/t.csv", done.stderr)

    def test_help_tells_the_flags(self):
        out = self.run_cairn("help", "solve").stdout
        for flag in ("--solver", "--law", "--tolerance", "--measure", "--time-limit",
                     "--max-iterations", "--start", "--csv", "--profile"):
            self.assertIn(flag, out)


class SaveProblem(Program):
    def setUp(self):
        super().setUp()
        with open(self.path("pile.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENE)

    def files(self):
        return sorted(os.path.basename(name)
                      for name in glob.glob(self.path("out/pile/problems/*")))

    def test_steps_are_written_and_solved_again(self):
        done = self.run_cairn("run", "pile.yaml", "--save-problem", "2,9")
        self.assertEqual(self.files(), ["step_000002.hdf5", "step_000009.hdf5"])
        self.assertIn("problems: 2 contact problems", done.stdout)
        # from the stored solution, the solver sees at once that it is one
        self.run_cairn("solve", "out/pile/problems", "--law", "convex", "--solver", "pgs", "--start",
                       "solution", "--tolerance", "1.01e-6", "--csv", "t.csv")
        for row in self.table("t.csv"):
            self.assertEqual(row["iterations"], "0")
            self.assertGreater(int(row["contacts"]), 5)

    def test_the_file_holds_what_the_layout_says(self):
        self.run_cairn("run", "pile.yaml", "--quiet", "--save-problem=4")
        with h5py.File(self.path("out/pile/problems/step_000004.hdf5")) as file:
            group = file["fclib_global"]
            self.assertEqual(group["spacedim"][0], 2)
            n, m = group["M/m"][0], group["H/n"][0]
            self.assertEqual(group["M/nz"][0], n)  # triplets of a diagonal
            self.assertEqual(list(group["M/i"]), list(range(n)))
            M, H = numpy.zeros((n, n)), numpy.zeros((n, m))
            M[group["M/i"][:], group["M/p"][:]] = group["M/x"][:]
            H[group["H/i"][:], group["H/p"][:]] = group["H/x"][:]
            r, v, u = (file["solution/" + name][:] for name in "rvu")
            gap = M @ v - H @ r - group["vectors/f"][:]
            self.assertLess(abs(gap).max(), 1e-12 * abs(M @ v).max() + 1e-12)
            self.assertLess(abs(H.T @ v + group["vectors/w"][:] - u).max(), 1e-12)
            self.assertEqual(len(group["vectors/mu"]), m // 2)
            self.assertEqual(file["solution"].attrs["solver"], b"pgs")

    def test_steps_that_missed_are_written_unasked(self):
        done = self.run_cairn("run", "pile.yaml", "--set", "run.max_iterations=1", "--set",
                              "run.tolerance=1e-13", "--set", "run.duration=0.3")
        self.assertEqual(len(self.files()), 20)
        self.assertIn("first 20 of them are in out/pile/problems", done.stderr)

    def test_what_is_no_step_is_refused(self):
        for value in ("", "x", "1,,2", "1,", ",1", "-1", "1.5"):
            self.run_cairn("run", "pile.yaml", "--save-problem", value, code=2)
        self.run_cairn("run", "pile.yaml", "--save-problem", "0", code=3)


@unittest.skipUnless(os.path.isdir(REAL), f"there is no folder {REAL}")
class Real(Program):
    def test_general_masses_and_forms_are_solved_to_1e_3(self):
        names = ["global3d/GFC3D_TwoRods1.hdf5", "global3d/LMGC_GFC3D-i00501-4-00000.hdf5",
                 "global2d/gfc2d_granularflowonwall_00069_00350.hdf5", "local3d/Rover1040.hdf5",
                 "local2d/FrictionContactProblem00071.hdf5"]
        paths = [os.path.join(REAL, name) for name in names]
        self.run_cairn("solve", *paths, "--tolerance", "1e-3")

    def test_an_unsymmetric_mass_is_noted(self):
        done = self.run_cairn("solve", os.path.join(REAL, "global3d/CubeH8.hdf5"))
        self.assertIn("M is not symmetric", done.stderr)

    def test_rolling_friction_is_solved_to_1e_8(self):
        names = glob.glob(os.path.join(REAL, "rolling_*", "*.hdf5"))
        self.assertTrue(names)
        self.run_cairn("solve", *names, "--tolerance", "1e-8")


if __name__ == "__main__":
    unittest.main()
