#!/usr/bin/env python3
"""Solvers against contact problems of other laboratories (FCLib files), judged by cairn's judge.

The files lie beside the repository, in ../shared/data/fclib; without them the test is skipped.
"""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

CAIRN = os.environ.get("CAIRN", "build/release/tools/cairn")
SOURCE = pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", "."))
CHECKED = os.environ.get("CAIRN_SANITIZE") == "ON"
DATA = SOURCE / ".." / "shared" / "data" / "fclib"
FOLDERS = [str(DATA / name) for name in ("local2d", "local3d", "global2d", "global3d")]
SMALL = 30  # contacts: problems that every solver gets


def solve(*arguments):
    """The rows of the table that `cairn solve` writes."""
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        result = subprocess.run([CAIRN, "solve", *arguments, "--csv", table],
                                capture_output=True, text=True, timeout=250)
        if result.returncode not in (0, 4):
            raise AssertionError("exit %d: %s" % (result.returncode, result.stderr))
        with open(table, newline="") as stream:
            return list(csv.DictReader(stream))


class Ladder(unittest.TestCase):
    def check_all(self, tolerance):
        rows = solve(*FOLDERS, "--measure", "fclib", "--tolerance", tolerance, "--time-limit", "60")
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
        rows = solve(*FOLDERS, "--tolerance", "1e-3", "--max-iterations", "200")
        cls.small = sorted({row["problem"] for row in rows if int(row["contacts"]) <= SMALL})

    def check(self, law, sure):
        limit = "5" if CHECKED else "1"
        rows = solve(*self.small, "--solver", "all", "--law", law, "--tolerance", "1e-6",
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


if __name__ == "__main__":
    if not DATA.is_dir():
        print("skipped: no FCLib problems in %s" % DATA)
        sys.exit(77)
    unittest.main()
