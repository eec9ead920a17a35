#!/usr/bin/env python3
"""`cairn solve`, and back ends, from outside:  test_solve_command.py GROUP"""
import csv
import glob
import json
import math
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree


# ==== test_solve_command: the command, its files, and `cairn run --save-problem` that feeds it ============

try:
    import h5py
    import numpy
except ImportError:
    h5py = None
ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
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


def check_global_answer(test, file):
    """M v = H r + f and u = H' v + w of a file whose matrices are triplets; returns its problem group."""
    group = file["fclib_global"]
    n, m = group["M/m"][0], group["H/n"][0]
    M, H = numpy.zeros((n, n)), numpy.zeros((n, m))
    M[group["M/i"][:], group["M/p"][:]] = group["M/x"][:]
    H[group["H/i"][:], group["H/p"][:]] = group["H/x"][:]
    r, v, u = (file["solution/" + name][:] for name in "rvu")
    gap = M @ v - H @ r - group["vectors/f"][:]
    test.assertLess(abs(gap).max(), 1e-12 * abs(M @ v).max() + 1e-12)
    test.assertLess(abs(H.T @ v + group["vectors/w"][:] - u).max(), 1e-12)
    return group


class Program(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.home.cleanup()

    def path(self, name):
        return os.path.join(self.home.name, name)

    def run_cairn(self, *words, code=0):
        done = subprocess.run([CAIRN, *words], cwd=self.home.name, capture_output=True, text=True,
                              timeout=1500, check=False)
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
                               "polyhedral:8", "--csv", "t.csv"], cwd=self.home.name, timeout=1500,
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
                got = reader.communicate(timeout=1500)[0]
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


class Answers(Program):
    """`cairn solve --out`."""

    def problem_of_a_pile(self, rows):
        """The problem of the third step of SCENE with so many rows of disks."""
        with open(self.path("pile.yaml"), "w", encoding="utf-8") as file:
            file.write(SCENE.replace("rows: 5", f"rows: {rows}"))
        self.run_cairn("run", "pile.yaml", "--quiet", "--save-problem", "3", "--out", "run", "--set",
                       "run.duration=0.03", "--set", "run.max_iterations=20")
        return "run/problems/step_000003.hdf5"

    def test_an_answer_read_again_has_the_residual_that_was_reported(self):
        for law in ("coulomb", "convex"):
            local_file(self.path("one.hdf5"), mu=0.05)
            words = ("--solver", "pgs", "--law", law, "--tolerance", "1e-5", "--csv", "t.csv")
            out = self.run_cairn("solve", "one.hdf5", *words, "--out", law).stdout
            self.assertIn(f"answers: 1 in {law}\n", out)
            self.assertEqual(os.listdir(self.path(law)), ["one-pgs.hdf5"])
            first = self.table("t.csv")[0]
            self.assertEqual(first["verdict"], "solved")
            self.run_cairn("solve", law, *words, "--start", "solution")
            again = self.table("t.csv")[0]
            self.assertEqual(again["iterations"], "0")
            for name in ("asked_relative", "asked_worst", "asked_fclib", "coulomb_relative"):
                self.assertEqual(again[name], first[name])

    def test_the_file_holds_the_problem_and_its_solution(self):
        """u = W r + q with W = diag(2, 1, 1), q = (-1, 0.1, 0): r = (0.5, -0.1, 0) lets it stick."""
        local_file(self.path("one.hdf5"))
        self.run_cairn("solve", "one.hdf5", "--tolerance", "1e-12", "--solver", "newton", "-o", "a")
        with h5py.File(self.path("a/one-newton.hdf5")) as file:
            for got, expected in (("fclib_local/W/x", [2, 1, 1]), ("fclib_local/vectors/q", [-1, 0.1, 0]),
                                  ("solution/r", [0.5, -0.1, 0]), ("solution/u", [0, 0, 0])):
                self.assertLess(abs(file[got][:] - expected).max(), 1e-12)
            self.assertEqual(file["solution"].attrs["solver"], b"newton")
            self.assertLess(file["solution"].attrs["fclib_error"], 1e-12)

    def test_a_global_answer_has_the_velocities_of_the_bodies(self):
        self.run_cairn("solve", self.problem_of_a_pile(5), "--tolerance", "1e-10", "--solver",
                       "newton", "--law", "convex", "--out", "a")
        with h5py.File(self.path("a/step_000003-newton.hdf5")) as file:
            check_global_answer(self, file)
            self.assertEqual(file["solution"].attrs["solver"], b"newton, convex law")

    def test_one_file_for_each_problem_and_solver_that_has_an_answer(self):
        os.mkdir(self.path("set"))
        for name in ("a", "b"):
            local_file(self.path(f"set/{name}.hdf5"))
        self.run_cairn("solve", "set", "--solver", "all", "--out", "deep/er", "--csv", "t.csv")
        expected = sorted(f"{os.path.basename(row['problem'])[:-5]}-{row['solver']}.hdf5"
                          for row in self.table("t.csv") if row["verdict"] in ("solved", "missed"))
        self.assertEqual(sorted(os.listdir(self.path("deep/er"))), expected)
        self.assertIn("a-pgs.hdf5", expected)
        self.assertNotIn("a-pgd.hdf5", expected)  # the convex law alone

    def test_what_missed_its_tolerance_is_stored_too(self):
        problem = self.problem_of_a_pile(5)
        words = ("--solver", "pgs", "--tolerance", "1e-13", "--csv", "t.csv")
        self.run_cairn("solve", problem, *words, "--max-iterations", "3", "--out", "a", code=4)
        row = self.table("t.csv")[0]
        self.assertEqual(row["verdict"], "missed")
        with h5py.File(self.path("a/step_000003-pgs.hdf5")) as file:  # says so itself
            self.assertEqual(file["solution"].attrs["fclib_error"], float(row["coulomb_fclib"]))

    def test_an_answer_is_replaced_by_force_alone(self):
        local_file(self.path("one.hdf5"))
        local_file(self.path("two.hdf5"))
        self.run_cairn("solve", "one.hdf5", "--out", "a")
        with open(self.path("a/one-auto.hdf5"), "wb") as file:
            file.write(b"mine")
        done = self.run_cairn("solve", "two.hdf5", "one.hdf5", "--out", "a", code=1)
        self.assertIn("a/one-auto.hdf5: this answer is there already: --force replaces it", done.stderr)
        self.assertEqual(done.stdout, "")  # refused before anything is solved
        self.assertEqual(os.listdir(self.path("a")), ["one-auto.hdf5"])
        self.assertEqual(os.path.getsize(self.path("a/one-auto.hdf5")), 4)
        self.run_cairn("solve", "one.hdf5", "--out", "a", "--force")
        self.run_cairn("solve", "a", "--start", "solution")

    def test_folders_that_cannot_take_answers_are_refused_before_work(self):
        local_file(self.path("one.hdf5"))
        os.mkdir(self.path("set"))
        local_file(self.path("set/two.hdf5"))
        with open(self.path("note.txt"), "w", encoding="utf-8") as file:
            file.write("no folder\n")
        for folder, code, words in (("note.txt", 1, "found a file, expected a folder"),
                                    ("note.txt/a", 1, "Not a directory"),
                                    ("/proc/answers", 1, "No such file or directory"),
                                    ("set", 1, "answers cannot be written among the problems"),
                                    ("answer.hdf5", 2, "expected the name of a folder: it gets"),
                                    ("", 2, "expected the name of a folder")):
            done = self.run_cairn("solve", "one.hdf5", "set", "--solver", "all", f"--out={folder}",
                                  code=code)
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(os.listdir(self.home.name)), ["note.txt", "one.hdf5", "set"])

    @unittest.skipIf(os.geteuid() == 0, "root may write anywhere")
    def test_a_folder_without_permission_is_refused(self):
        local_file(self.path("one.hdf5"))
        os.mkdir(self.path("locked"), 0o500)
        done = self.run_cairn("solve", "one.hdf5", "--out", "locked", code=1)
        self.assertIn("locked: Permission denied", done.stderr)

    def test_two_problems_of_one_name_do_not_share_an_answer(self):
        for folder in ("a", "b"):
            os.mkdir(self.path(folder))
            local_file(self.path(f"{folder}/one.hdf5"))
        done = self.run_cairn("solve", "a", "b", "--solver", "all", "--out", "c", code=1)
        self.assertEqual(done.stderr, "b/one.hdf5: not solved: its answer would replace that of "
                         "a/one.hdf5; use another --out\n")
        self.assertNotIn("2 of 2", done.stdout)

    def test_a_disk_that_refuses_is_a_failure_and_leaves_no_part(self):
        local_file(self.path("one.hdf5"))
        os.makedirs(self.path("a/one-auto.hdf5"))  # a folder is in the way
        done = self.run_cairn("solve", "one.hdf5", "--out", "a", "--force", code=1)
        self.assertIn("a/one-auto.hdf5: cannot create: Is a directory", done.stderr)
        self.assertEqual(os.listdir(self.path("a")), ["one-auto.hdf5"])

    def test_the_number_of_threads_changes_no_bit(self):
        """1,225 disks in 49 rows, 3,577 contacts: loops are shared by threads."""
        problem, answers = self.problem_of_a_pile(49), []
        for threads in ("1", "2", "3", "8", "0"):
            self.run_cairn("solve", problem, "--solver", "ngs", "--max-iterations", "30", "--out",
                           "a" + threads, "--threads", threads, code=4)
            with h5py.File(self.path(f"a{threads}/step_000003-ngs.hdf5")) as file:
                self.assertEqual(len(file["fclib_global/vectors/mu"]), 3577)
                self.assertGreater(abs(file["solution/r"][:]).max(), 1)
                answers.append([file["solution/" + name][:].tobytes() for name in "rvu"])
        for other in answers[1:]:
            self.assertEqual(other, answers[0])


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
                      ["--repeat", "-1"], ["--repeat", "often"], ["--repeat", "1e7"],
                      ["--measure", "none"], ["--csv"], ["--csv="], ["--profile="],
                      ["--threads", "two"], ["--threads", "-1"], ["--threads", "4097"], ["--threads="],
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
                     "--max-iterations", "--start", "--threads", "--repeat", "--out", "--force", "--csv", "--profile",
                     "docs/notation.md"):
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
        # from the stored solution, the solver sees at once that it is one; a world relates errors to
        # each contact, a file to the norm over all
        self.run_cairn("solve", "out/pile/problems", "--law", "convex", "--solver", "pgs", "--start",
                       "solution", "--tolerance", "1e-4", "--csv", "t.csv")
        for row in self.table("t.csv"):
            self.assertEqual(row["iterations"], "0")
            self.assertGreater(int(row["contacts"]), 5)

    def test_the_file_holds_what_the_layout_says(self):
        self.run_cairn("run", "pile.yaml", "--quiet", "--save-problem=4")
        with h5py.File(self.path("out/pile/problems/step_000004.hdf5")) as file:
            group = check_global_answer(self, file)
            self.assertEqual(group["spacedim"][0], 2)
            n, m = group["M/m"][0], group["H/n"][0]
            self.assertEqual(group["M/nz"][0], n)  # triplets of a diagonal
            self.assertEqual(list(group["M/i"]), list(range(n)))
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


def test_solve_command():
    if not h5py:
        print("skipped: there is no h5py")
        sys.exit(77)
    unittest.main(argv=["test_solve_command", "Solve", "Answers", "Wrong", "SaveProblem", "Real"])


# ==== test_fclib_solvers: problems of other laboratories (FCLib files), judged by the judge of cairn ======

SOURCE = pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", "."))
CHECKED = os.environ.get("CAIRN_SANITIZE") == "ON"
DATA = SOURCE / ".." / "shared" / "data" / "fclib"
FOLDERS = [str(DATA / name) for name in ("local2d", "local3d", "global2d", "global3d")]
SMALL = 30  # contacts: problems that every solver gets


def solve_files(*arguments):
    """The rows of the table that `cairn solve` writes."""
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        result = subprocess.run([CAIRN, "solve", *arguments, "--csv", table],
                                capture_output=True, text=True, timeout=1500)
        if result.returncode not in (0, 4):
            raise AssertionError("exit %d: %s" % (result.returncode, result.stderr))
        with open(table, newline="") as stream:
            return list(csv.DictReader(stream))


class Ladder(unittest.TestCase):
    def check_all(self, tolerance):
        rows = solve_files(*FOLDERS, "--measure", "fclib", "--tolerance", tolerance, "--time-limit", "60")
        self.assertGreaterEqual(len(rows), 50)
        missed = [row["problem"] for row in rows if row["verdict"] != "solved"]
        self.assertEqual(missed, [])
        for row in rows:
            self.assertLessEqual(float(row["asked_fclib"]), float(tolerance))

    def test_auto_solves_every_problem_to_1e_4(self):
        self.check_all("1e-4")

    @unittest.skipIf(CHECKED, "minutes with sanitizers; the optimised build runs it")
    def test_auto_solves_every_problem_to_1e_8(self):
        self.check_all("1e-8")


class EverySolver(unittest.TestCase):
    """Nothing fails; what is called solved meets the tolerance; the exact methods do not miss."""

    @classmethod
    def setUpClass(cls):
        rows = solve_files(*FOLDERS, "--tolerance", "1e-3", "--max-iterations", "200")
        cls.small = sorted({row["problem"] for row in rows if int(row["contacts"]) <= SMALL})

    def check(self, law, sure):
        limit = "5" if CHECKED else "1"
        rows = solve_files(*self.small, "--solver", "all", "--law", law, "--tolerance", "1e-6",
                     "--time-limit", limit)
        for row in rows:
            with self.subTest(problem=row["problem"], solver=row["solver"]):
                self.assertIn(row["verdict"], ("solved", "missed", "not treated"))
                if row["verdict"] == "solved":
                    self.assertLessEqual(float(row["asked_relative"]), 1e-6)
                if row["solver"] in sure:
                    self.assertNotEqual(row["verdict"], "missed")

    def test_exact_coulomb(self):
        self.check("coulomb", {"auto"})

    def test_convex(self):
        self.check("convex", {"auto"})

    def test_cones_with_edges(self):
        self.check("polyhedral:8", set())


def test_fclib_solvers():
    """The files lie beside the repository, in ../shared/data/fclib."""
    if not DATA.is_dir():
        print("skipped: no FCLib problems in %s" % DATA)
        sys.exit(77)
    unittest.main(argv=["test_fclib_solvers", "Ladder", "EverySolver"])


# ==== test_backend_runs: run.backend, solve --backend and list backends, with a plug-in of the tests ======

PLUGINS = os.environ.get("CAIRN_PLUGINS", "build/release/tests/plugins")
CAIRN_CHECK = os.path.abspath(os.environ.get("CAIRN_CHECK", "build/release/tools/cairn-check"))
# 12 balls fall 5 cm on a floor
HEAP = """\
cairn: 1
dimension: 3
materials: {rock: {friction: 0.3}}
bodies:
  - {name: floor, motion: fixed, shape: {half_space: {}}}
generators:
  - grid: {count: [3, 2, 2], spacing: [0.21, 0.21, 0.21], origin: [0, 0, 0.15], radius: 0.1}
run: {time_step: 0.01, duration: 0.2, tolerance: 1e-6, max_iterations: 20000, paraview: false,
      picture: false}
"""

# 64 balls fall through a hopper of triangles into a cone with a post in it
HOPPER = """\
cairn: 1
dimension: 3
materials: {rock: {friction: 0.3}}
bodies:
  - {name: hopper, motion: fixed, shape: {mesh: {file: hopper.obj}}}
  - {name: cone, motion: fixed, shape: {inside_cone: {half_angle: 0.7}}}
  - {name: post, motion: fixed, position: [0, 0, 0.05], shape: {cylinder: {radius: 0.05, height: 0.1}}}
generators:
  - grid: {count: [4, 4, 4], spacing: [0.075, 0.075, 0.075], origin: [-0.11, -0.11, 0.5], jitter: 0.002,
           velocity: [0, 0, -1], radius: {uniform: {minimum: 0.028, maximum: 0.036}}}
run: {time_step: 0.004, duration: 0.4, scheme: coulomb, tolerance: 1e-3, max_iterations: 20000,
      certificate: full, paraview: false, picture: false}
"""


def write_hopper(path, segments=16, profile=((0.1, 0.3), (0.3, 0.45), (0.3, 0.9))):
    """A profile (radius, height) turned about z, as triangles."""
    n = len(profile)
    with open(path, "w", encoding="utf-8") as file:
        for i in range(segments):
            angle = 2 * math.pi * i / segments
            for radius, z in profile:
                file.write(f"v {radius * math.cos(angle):.9g} {radius * math.sin(angle):.9g} {z}\n")
        for i in range(segments):
            j = (i + 1) % segments
            for k in range(1, n):
                a, b, c, d = i * n + k, j * n + k, j * n + k + 1, i * n + k + 1
                file.write(f"f {a} {b} {c}\nf {a} {c} {d}\n")


class Backends(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.scene = os.path.join(self.home.name, "heap.yaml")
        with open(self.scene, "w", encoding="utf-8") as file:
            file.write(HEAP)

    def tearDown(self):
        self.home.cleanup()

    def path(self, *names):
        return os.path.join(self.home.name, *names)

    def cairn(self, *words, code=0, backends=PLUGINS):
        done = subprocess.run([CAIRN, *words], cwd=self.home.name, capture_output=True, text=True,
                              timeout=1500, check=False, env=dict(os.environ, CAIRN_BACKENDS=backends))
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def summary(self, folder):
        with open(self.path(folder, "summary.json"), encoding="utf-8") as file:
            return json.load(file)

    def run_on(self, backend, *words):
        self.cairn("run", self.scene, "-q", "-o", backend, "-s", f"run.backend={backend}", *words)
        return self.summary(backend)

    def test_a_run_is_the_same_on_every_back_end_to_its_tolerance(self):
        host, scalar, plugin = (self.run_on(name) for name in ("host", "scalar", "reversed"))
        for found in (scalar, plugin):
            self.assertEqual(found["uncertified"], 0)
            self.assertAlmostEqual(found["energy"]["potential"], host["energy"]["potential"], delta=1e-3)
        # the plug-in gives the bits of the scalar back end, which are not those of the host
        self.assertEqual(plugin["hash"], scalar["hash"])

    def test_a_summary_names_a_back_end_that_is_not_the_default(self):
        self.assertNotIn("backend", self.run_on("host")["settings"])
        self.assertEqual(self.run_on("scalar")["settings"]["backend"], "scalar")
        self.cairn("check", self.scene, "-s", "run.backend=scalar")
        out = self.cairn("check", self.scene, "-s", "run.backend=reversed").stdout
        self.assertIn("reversed", out)

    def test_a_list_tells_what_is_there_and_why_something_is_not(self):
        out = self.cairn("list", "backends").stdout
        for name in ("host", "scalar", "reversed"):
            self.assertIn(f"\n  {name} ", out)
        self.assertNotIn("not usable", out)
        out = self.cairn("list", "backends", backends=os.path.join(PLUGINS, "refused")).stdout
        self.assertRegex(out, r"\n  old +not usable: .*is of version 7 of the interface, expected 6")
        self.assertRegex(out, r"\n  mute +not usable: .*does not show cairn_backend_table")
        self.assertIn("newton", self.cairn("list", "solvers").stdout)
        self.assertEqual(self.cairn("list", "solvers").stdout.count("back end host only"), 5)

    def test_what_cannot_be_used_is_refused_before_anything_is_done(self):
        for words, expected in (
                (["run.backend=scalre"], "run.backend: unknown back end 'scalre'; did you mean 'scalar'?"),
                (["run.backend=cuda"], "there is no " + os.path.join(PLUGINS, "libcairn_backend_cuda.so")),
                (["run.backend=scalar", "run.solver=newton"],
                 "run.solver: newton factorises and runs on the back end host only; on scalar run auto, ngs"),
        ):
            sets = [word for value in words for word in ("-s", value)]
            done = self.cairn("run", self.scene, *sets, code=3)
            self.assertIn(expected, done.stderr)
            self.assertFalse(os.path.exists(self.path("out")))

    def stop_early(self, backend, *words):
        """A run that was killed after its first checkpoint, in the folder `part`."""
        child = subprocess.Popen([CAIRN, "run", self.scene, "-q", "-o", self.path("part"), "-s",
                                  f"run.backend={backend}", *words, "-s", "run.checkpoint_every=0.02"],
                                 env=dict(os.environ, CAIRN_BACKENDS=PLUGINS))
        while child.poll() is None and not os.path.exists(self.path("part", "checkpoint")):
            time.sleep(0.002)
        child.send_signal(signal.SIGTERM)
        child.wait()
        if child.returncode == 0:
            self.skipTest("the run was over before it could be stopped")

    def test_a_run_on_a_plugin_is_resumed_on_it(self):
        whole = self.run_on("reversed", "-s", "run.duration=2")["hash"]
        self.stop_early("reversed", "-s", "run.duration=2")
        shutil.copytree(self.path("part"), self.path("copy"))
        self.assertIn("backend", self.cairn("resume", self.path("copy"), backends="/nowhere", code=1).stderr)
        self.cairn("resume", self.path("part"), "-q")
        self.assertEqual(self.summary("part")["hash"], whole)
        self.assertEqual(self.summary("part")["settings"]["backend"], "reversed")

    def test_a_hopper_of_triangles_on_a_device_is_certified_and_resumed(self):
        if not os.path.exists(os.path.join(PLUGINS, "libcairn_backend_virtual-cuda.so")):
            self.skipTest("there is no C++ compiler, and so no virtual device")
        write_hopper(self.path("hopper.obj"))
        with open(self.scene, "w", encoding="utf-8") as file:
            file.write(HOPPER)
        whole = self.run_on("virtual-cuda")
        self.assertEqual((whole["resident"], whole["uncertified"]), (100, 0))
        done = subprocess.run([CAIRN_CHECK, self.path("virtual-cuda")], capture_output=True, text=True,
                              timeout=1500, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("certified: 100 steps", done.stdout)
        self.stop_early("virtual-cuda")
        self.cairn("resume", self.path("part"), "-q")
        self.assertEqual(self.summary("part")["hash"], whole["hash"])

    def test_problem_files_are_solved_on_a_back_end(self):
        self.run_on("host", "--save-problem", "15")
        problem = self.path("host", "problems", "step_000015.hdf5")
        for backend in ("host", "scalar", "reversed"):
            out = self.cairn("solve", problem, "--backend", backend, "--solver", "ngs").stdout
            self.assertIn("solved", out)
            self.assertEqual(f"back end: {backend}\n" in out, backend != "host")
        out = self.cairn("solve", problem, "--backend", "scalar", "--solver", "all", "--law", "convex").stdout
        self.assertEqual(out.count("not treated"), 5)
        done = self.cairn("solve", problem, "--backend", "scalar", "--solver", "ipm", code=3)
        self.assertIn("ipm factorises and runs on the back end host only", done.stderr)
        self.assertIn("did you mean 'scalar'?", self.cairn("solve", problem, "--backend", "scala", code=3).stderr)
        self.cairn("solve", problem, "--backend", "../x", code=2)


def test_backend_runs():
    unittest.main(argv=["test_backend_runs", "Backends"])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
