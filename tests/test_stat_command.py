#!/usr/bin/env python3
"""`cairn stat` and `cairn plot` from outside: tables, files, pictures, what is refused."""
import csv
import os
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
CAIRN = os.path.abspath(os.environ.get("CAIRN", os.path.join(ROOT, "build/release/tools/cairn")))

# three disks of 2 kg in a column, at rest on a floor, gravity 10
COLUMN = """cairn: 1
title: A column
dimension: 2
gravity: [0, -10]
bodies:
  - {motion: fixed, shape: half_space}
  - {shape: {sphere: {radius: 0.5}}, mass: 2, position: [0, 0.5]}
  - {shape: {sphere: {radius: 0.5}}, mass: 2, position: [0, 1.5]}
  - {shape: {sphere: {radius: 0.5}}, mass: 2, position: [0, 2.5]}
run: {time_step: 0.01, duration: 0.1, frame_interval: 0.05, tolerance: 1.0e-8, paraview: false,
      picture: false, statistics: [stress]}
measure: {low: [-1, 1], high: [1, 2]}
"""


class Stat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        with open(os.path.join(cls.home.name, "column.yaml"), "w", encoding="utf-8") as file:
            file.write(COLUMN)
        subprocess.run([CAIRN, "run", "column.yaml", "--out", "run", "--quiet"], check=True,
                       cwd=cls.home.name, timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def cairn(self, *words, code=0, **more):
        done = subprocess.run([CAIRN, *words], cwd=self.home.name, capture_output=True, text=True,
                              timeout=60, check=False, **more)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def table(self, name):
        with open(os.path.join(self.home.name, name), encoding="utf-8", newline="") as file:
            return [{key: float(value) for key, value in row.items() if value}
                    for row in csv.DictReader(file)]

    def test_the_stress_of_a_column(self):
        """Half of the box carries 40 N (two disks above), half 20 N, over a width of 2."""
        rows = self.table("run/statistics/stress.csv")
        self.assertEqual(len(rows), 2)
        self.assertAlmostEqual(rows[1]["yy"], (0.5 * 40 + 0.5 * 20) / 2, places=5)
        self.cairn("stat", "run", "stress", "--region=-1,1,1,2", "--out", "tables")
        again = self.table("tables/stress.csv")
        self.assertEqual(len(again), 2)
        self.assertAlmostEqual(again[1]["yy"], rows[1]["yy"], places=12)

    def test_named_series_are_printed_frame_by_frame(self):
        lines = self.cairn("stat", "run", "centre").stdout.splitlines()
        self.assertEqual(lines[0], "centre: centre of mass and its velocity")
        self.assertEqual(lines[1].split(), ["time", "x", "y", "vx", "vy", "mass"])
        self.assertEqual(lines[2].split(), ["(s)", "(m)", "(m)", "(m/s)", "(m/s)", "(kg)"])
        self.assertEqual([line.split()[0] for line in lines[3:6]], ["0", "0.05", "0.1"])
        self.assertEqual([line.split()[5] for line in lines[3:6]], ["6"] * 3)

    def test_without_names_all_are_there(self):
        done = self.cairn("stat", os.path.join("run", "run.h5"))
        known = [line.split()[0] for line in self.cairn("list", "statistics").stdout.splitlines()
                 if line.startswith("  ") and line[2] != " "]
        known.remove("measure")
        self.assertEqual(len(known), 14)
        for name in known:
            self.assertIn(f"{name}: ", done.stdout)
        self.assertIn("mixing: mixing index of two classes of grains, the last frame\n"
                      "  nothing: no frame has grains of two classes in the region", done.stdout)

    def test_options_of_measuring(self):
        lines = self.cairn("stat", "run", "slices", "--set", "bins=3",
                           "--region", "-0.5,0.5,*,*").stdout.splitlines()
        self.assertEqual(len([line for line in lines if line.strip()]), 6)
        for line in lines[3:6]:
            self.assertAlmostEqual(float(line.split()[2]), 0.78539816, places=6)

    @unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not there")
    def test_pictures(self):
        done = self.cairn("plot", "run", "energy", "surface")
        self.assertIn("run/plots/energy.svg", done.stdout)
        for name in ("energy", "surface"):
            picture = os.path.join(self.home.name, "run", "plots", f"{name}.svg")
            text = "".join(xml.etree.ElementTree.parse(picture).getroot().itertext())
            self.assertIn("A column: ", text)
        self.assertIn("t = 0.1 s", text)
        self.assertIn("position (m)", text)
        self.cairn("plot", "run", "slices", "--region", "-0.5,0.5,*,*")
        picture = os.path.join(self.home.name, "run", "plots", "slices.svg")
        text = "".join(xml.etree.ElementTree.parse(picture).getroot().itertext())
        for label in ("fraction", "vy (m/s)", "t = 0.05 s"):
            self.assertIn(label, text)
        done = self.cairn("plot", "run", "mixing", "--out", "pictures")
        self.assertIn("not drawn: no frame has grains of two classes in the region", done.stderr)

    def test_without_gnuplot_the_script_is_kept(self):
        done = self.cairn("plot", "run", "height", "--out", "bare", env={"PATH": "/nowhere"})
        self.assertIn("gnuplot is not installed; height.gp is its script", done.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.home.name, "bare", "height.gp")))

    def test_what_is_refused(self):
        for words, code, piece in (
                (["run", "stres"], 2, "did you mean 'stress'?"),
                (["run", "--set", "bims=3"], 2, "did you mean 'bins'?"),
                (["run", "--set", "bins=0"], 2, "expected a whole number between 1 and 4096"),
                (["run", "--region", "1,2"], 2, "expected x0,x1,y0,y1"),
                (["run", "--region", "1,2,3,4m"], 2, "expected x0,x1,y0,y1"),
                (["run", "--region", "1,0,0,1"], 1, "expected more than the lower corner's 1"),
                (["run", "slices", "--set", "axis=z"], 1, "expected up, x or y in 2D"),
                (["none"], 1, "No such file"),
                (["column.yaml"], 1, "not an HDF5 file"),
                ([], 2, "is missing")):
            for command in ("stat", "plot"):
                self.assertIn(piece, self.cairn(command, *words, code=code).stderr)


if __name__ == "__main__":
    unittest.main()
