#!/usr/bin/env python3
"""The commands compare, stat, plot, export and sweep from outside:  test_commands.py GROUP"""
import csv
import json
import os
import re
import shutil
import signal
import struct
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

from view_server import CAIRN, make_run


# ==== test_compare_command: the table, the files, what is refused =========================================

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
CAIRN = os.path.abspath(os.environ.get("CAIRN", os.path.join(ROOT, "build/release/tools/cairn")))
INCLINE = os.path.abspath(os.path.join(ROOT, "scenes/incline_disk_2d.yaml"))


class Compare(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.home.cleanup()

    def path(self, name):
        return os.path.join(self.home.name, name)

    def compare(self, *words, code=0, scene=INCLINE, **more):
        done = subprocess.run([CAIRN, "compare", scene, *words], cwd=self.home.name,
                              capture_output=True, text=True, timeout=1500, check=False, **more)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def table(self, name):
        with open(self.path(name), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_the_incline_in_a_table_and_in_a_file(self):
        done = self.compare("--schemes", "convex,fixed-point", "--time-steps=0.08,0.04,0.02,0.01",
                            "--reference", "fixed-point:0.001", "--out", "d")
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0].split()[:3], ["scheme", "solver", "step"])
        self.assertTrue(lines[1].startswith("fixed-point"))
        self.assertTrue(lines[1].endswith("reference"))
        self.assertEqual([line.split()[0] for line in lines[2:10]],
                         ["convex"] * 4 + ["fixed-point"] * 4)
        self.assertIn("run 9 of 9: fixed-point, auto, time step 0.01 s", done.stderr)
        rows = self.table("d/compare.csv")
        self.assertEqual(len(rows), 9)
        for row in rows[1:]:
            self.assertGreater(float(row["order"]), 0.9)
            self.assertLess(float(row["order"]), 1.2)
            self.assertEqual(float(row["dilatation"]) > 1e-3, row["scheme"] == "convex")
            self.assertEqual((row["verdict"], row["missed"]), ("done", "0"))
        self.assertEqual(rows[0]["order"], "")
        self.assertEqual(float(rows[0]["difference_max"]), 0)

    @unittest.skipUnless(shutil.which("gnuplot"), "there is no gnuplot")
    def test_the_picture_has_axes_and_a_legend(self):
        self.compare("--schemes", "convex,fixed-point", "--time-steps", "0.04,0.02,0.01", "-q",
                     "--out", "d")
        text = "".join(xml.etree.ElementTree.parse(self.path("d/compare.svg")).getroot().itertext())
        for piece in ("time step (s)", "difference, rms over bodies and times (m)", "convex, auto",
                      "fixed-point, auto"):
            self.assertIn(piece, text)
        self.assertEqual(sorted(os.listdir(self.path("d"))),
                         ["compare.csv", "compare.gp", "compare.svg"])

    def test_without_gnuplot_it_says_so_and_goes_on(self):
        done = self.compare("--schemes", "convex", "--out", "d",
                            env={**os.environ, "PATH": "/none"})
        self.assertIn("gnuplot is not installed", done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["compare.csv", "compare.gp"])

    def test_a_gnuplot_that_fails_leaves_no_picture(self):
        with open(self.path("gnuplot"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho half > compare.svg.part\nexit 1\n")
        os.chmod(self.path("gnuplot"), 0o755)
        done = self.compare("--schemes", "convex", "--out", "d",
                            env={**os.environ, "PATH": self.home.name})
        self.assertIn("gnuplot failed", done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("d"))), ["compare.csv", "compare.gp"])

    def test_what_does_not_go_together_is_listed(self):
        scene = os.path.join(ROOT, "scenes/ball_drop.yaml")
        done = self.compare("--schemes", "convex", "--solvers", "pgs,lemke", "--set",
                            "run.duration=0.02", scene=os.path.abspath(scene))
        lines = [line for line in done.stdout.splitlines() if "do not go together" in line]
        self.assertEqual(len(lines), 1)
        self.assertEqual(lines[0].split()[:2], ["convex", "lemke"])

    def test_a_run_that_fails_is_told_and_the_others_go_on(self):
        done = self.compare("--schemes", "convex", "--time-steps", "10,0.1", "--set",
                            "bodies.1.loads=[{constant: {force: [0, -5e153]}}]", code=1)
        lines = done.stdout.splitlines()
        self.assertIn("failed: step 1", lines[2])
        self.assertNotIn("failed", lines[3])

    def test_names_given_twice_count_once(self):
        done = self.compare("--schemes", "convex,convex", "--time-steps", "0.1,0.1", "--solvers",
                            "pgs,pgs")
        self.assertIn("run 2 of 2", done.stderr)

    def test_bad_values_of_flags(self):
        for words in (["--schemes", "nobody"], ["--schemes", "convex,"], ["--schemes", ""],
                      ["--solvers", "pgs,nobody"], ["--time-steps", "0"], ["--time-steps", "0.1,"],
                      ["--time-steps", "0.1;0.2"], ["--time-steps", "nan"], ["--time-steps", "inf"],
                      ["--time-steps", "1e10"],
                      ["--time-steps", ",".join(str(i) for i in range(1, 40))],
                      ["--reference", "nobody"], ["--reference", "convex:"],
                      ["--reference", "convex:-1"], ["--reference", "convex:1x"], ["--out="]):
            self.assertIn("Try 'cairn help compare'", self.compare(*words, code=2).stderr)

    def test_a_bad_scene_and_a_bad_folder(self):
        with open(self.path("bad.yaml"), "w", encoding="utf-8") as file:
            file.write("cairn: 1\nrun: {time_step: -1, duration: 1}\n")
        self.assertIn("run.time_step", self.compare(scene=self.path("bad.yaml"), code=3).stderr)
        self.assertIn("none.yaml", self.compare(scene="none.yaml", code=1).stderr)
        done = self.compare("--schemes", "convex", "--out", "bad.yaml/x", code=1)
        self.assertIn("bad.yaml", done.stderr)

    def test_an_interrupt_keeps_what_was_done(self):
        child = subprocess.Popen([CAIRN, "compare", INCLINE, "--schemes", "convex", "--time-steps",
                                  "1e-7", "--reference", "fixed-point:0.01"], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while "run 2 of 2" not in child.stderr.readline():
            pass
        time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=1500)
        self.assertEqual(child.returncode, 130)
        self.assertIn("interrupted", err)
        self.assertIn("reference", out.splitlines()[1])
        self.assertFalse(any(line.startswith("convex ") for line in out.splitlines()))


def test_compare_command():
    unittest.main(argv=["test_compare_command", "Compare"])


# ==== test_stat_command: `cairn stat` and `cairn plot`: tables, files, pictures, what is refused ==========

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
      picture: false, statistics: [stress, cell]}
measure: {low: [-1, 1], high: [1, 2]}
"""


class Stat(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        with open(os.path.join(cls.home.name, "column.yaml"), "w", encoding="utf-8") as file:
            file.write(COLUMN)
        subprocess.run([CAIRN, "run", "column.yaml", "--out", "run", "--quiet"], check=True,
                       cwd=cls.home.name, timeout=1500)

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def cairn(self, *words, code=0, **more):
        done = subprocess.run([CAIRN, *words], cwd=self.home.name, capture_output=True, text=True,
                              timeout=1500, check=False, **more)
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
        known.remove("fields")  # a row for each cell and frame: only by name
        self.assertEqual(len(known), 16)
        for name in known:
            self.assertIn(f"{name}: ", done.stdout)
        self.assertIn("mixing: mixing index of two classes of grains, the last frame\n"
                      "  nothing: no frame has grains of two classes in the region", done.stdout)
        self.assertIn("  nothing: no frame has a cell that was measured while the scene ran", done.stdout)

    def test_the_power_of_a_ball_mill(self):
        """The work on the mill is that of the ledger to rounding; that of the mean torque differs by the turn within
        a step, omega h/2 = 0.4 %; and the mean torque holds the charge, whose centre is beside the axis: M g x."""
        scene = os.path.abspath(os.path.join(ROOT, "scenes/ball_mill.yaml"))
        subprocess.run([CAIRN, "run", scene, "--out", "mill", "--quiet", "--set", "run.paraview=false"], check=True,
                       cwd=self.home.name, timeout=1500)
        rows = self.table("mill/series/mill.csv")
        work, torque = (sum(row[key] for row in rows) for key in ("work", "torque_y"))
        with open(os.path.join(self.home.name, "mill", "summary.json"), encoding="utf-8") as file:
            ledger = json.load(file)["energy"]["driver_work"]
        self.assertGreater(ledger, 2000)
        self.assertAlmostEqual(-work / ledger, 1, places=12)
        self.assertAlmostEqual(torque * 3.83 * 2e-3 / work, 1, delta=0.004)
        late = [row["torque_y"] for row in rows if row["time"] > 2.001]
        centre = [row for row in self.table("mill/statistics/centre.csv") if row["time"] > 1.999]
        x = (sum(row["x"] for row in centre) - 0.5 * (centre[0]["x"] + centre[-1]["x"])) / (len(centre) - 1)
        self.assertLess(x, -0.1)
        self.assertAlmostEqual(sum(late) / len(late) / (centre[0]["mass"] * 9.81 * x), 1, delta=0.02)
        self.assertAlmostEqual(sum(row["work"] for row in self.table("mill/series/power.csv")) / work, 1, places=12)

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
            self.assertIn("A column", text)
        self.assertIn("t = 0.1 s", text)
        self.assertIn("position (m)", text)
        self.cairn("plot", "run", "slices", "--region", "-0.5,0.5,*,*")
        picture = os.path.join(self.home.name, "run", "plots", "slices.svg")
        text = "".join(xml.etree.ElementTree.parse(picture).getroot().itertext())
        for label in ("fraction", "vy (m/s)", "t = 0.05 s"):
            self.assertIn(label, text)
        done = self.cairn("plot", "run")  # some are the same throughout
        self.assertNotIn("arning", done.stdout + done.stderr)
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


def test_stat_command():
    unittest.main(argv=["test_stat_command", "Stat"])


# ==== test_export_command: page, glTF, table, picture and film of a run, against its own numbers ==========

SHAPES = """cairn: 1
title: One of each
dimension: 3
gravity: [0, 0, -10]
bodies:
  - {motion: fixed, shape: half_space}
  - {shape: {sphere: {radius: 0.2}}, mass: 1, position: [0, 0, 2]}
  - {shape: {box: {size: [0.2, 0.3, 0.4]}}, mass: 1, position: [1, 0, 2]}
  - {shape: {cylinder: {radius: 0.1, height: 0.3}}, mass: 1, position: [2, 0, 2]}
  - {shape: {cone: {radius: 0.1, height: 0.4}}, mass: 1, position: [3, 0, 2]}
  - {shape: {polyhedron: {points: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}}, mass: 1, position: [4, 0, 2]}
  - shape: {compound: {parts: [{shape: {sphere: {radius: 0.1}}, position: [0.2, 0, 0]},
                               {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [-0.2, 0, 0]}]}}
    mass: 1
    position: [5, 0, 2]
run: {time_step: 0.01, duration: 0.1, frame_interval: 0.05, paraview: false, picture: false}
"""
STACK = """cairn: 1
gravity: [0, 0, -10]
bodies: [{motion: fixed, shape: half_space}]
generators: [{grid: {count: [1, 1, 3], spacing: [1, 1, 0.2], origin: [0, 0, 0.1], radius: 0.1, density: 477.4648292756860}}]
run: {time_step: 0.01, duration: 0.02, frame_interval: 0, tolerance: 1e-10, paraview: false, picture: false}
"""
BLOCK = """cairn: 1
gravity: [2.5, 0, -10]
materials: {wood: {friction: 0.5}}
bodies:
  - {motion: fixed, shape: half_space}
  - {shape: {box: {size: [0.4, 0.4, 0.1]}}, mass: 1, position: [0, 0, 0.05], velocity: [SPEED, 0, 0]}
run: {time_step: 0.01, duration: 0.02, scheme: coulomb, tolerance: 1e-10, paraview: false, picture: false}
"""
ACROSS = """cairn: 1
gravity: [0, 0, 0]
periodic: {axes: [x], high: [1, 1, 1]}
bodies:
  - {shape: {sphere: {radius: 0.1}}, mass: 1, position: [0.1, 0, 0], velocity: [-1, 0, 0]}
  - {shape: {sphere: {radius: 0.1}}, mass: 1, position: [0.9, 0, 0], velocity: [1, 0, 0]}
run: {time_step: 0.01, duration: 0.01, tolerance: 1e-10, paraview: false, picture: false}
"""
NAMED = """cairn: 1
materials: {"gr\u00fcn": {friction: 0.5}}
bodies:
  - {name: 'a, "b" \\', shape: {box: {size: [1, 1, 1]}}, mass: 1}
  - {shape: {sphere: {radius: 0.2}}, mass: 1, position: [1, 0, 0]}
  - {name: ball, shape: {sphere: {radius: 0.2}}, mass: 1, position: [2, 0, 0]}
run: {time_step: 0.01, duration: 0.01, paraview: false, picture: false}
"""
POLYLINE = """cairn: 1
title: A ditch
dimension: 2
bodies:
  - {motion: fixed, shape: {polyline: {points: [[2, 1], [1, 0], [-1, 0], [-2, 1]]}}}
  - {shape: {sphere: {radius: 0.2}}, mass: 1, position: [0, 1]}
run: {time_step: 0.01, duration: 0.1, frame_interval: 0.05, paraview: false, picture: false}
"""


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.run_folder = make_run(cls.home.name)
        cls.shapes = make_run(cls.home.name, SHAPES, "shapes")

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def path(self, name):
        return os.path.join(self.home.name, name)

    def export(self, *words, code=0, **more):
        done = subprocess.run([CAIRN, "export", *words], capture_output=True, text=True, timeout=1500, check=False,
                              cwd=self.home.name, **more)
        if code == 0 and "built without the page" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def glb(self, name):
        """JSON and bytes of a .glb file."""
        with open(self.path(name), "rb") as file:
            data = file.read()
        magic, version, length, text = struct.unpack("<4sIII", data[:16])
        self.assertEqual((magic, version, length), (b"glTF", 2, len(data)))
        about, rest = json.loads(data[20:20 + text]), data[20 + text:]
        self.assertEqual(struct.unpack("<I4s", rest[:8]), (len(rest) - 8, b"BIN\0"))
        self.assertEqual(about["buffers"][0]["byteLength"], len(rest) - 8)
        return about, rest[8:]

    def numbers(self, glb, accessor):
        about, data = glb
        a = about["accessors"][accessor]
        view = about["bufferViews"][a["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[a["type"]]
        stride = view.get("byteStride", 4 * width)
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        self.assertLessEqual(a.get("byteOffset", 0) + stride * (a["count"] - 1) + 4 * width, view["byteLength"])
        return [struct.unpack_from(f"<{width}f", data, start + stride * i) for i in range(a["count"])]

    def table(self):
        self.export("run", "--csv", "table.csv")
        with open(self.path("table.csv"), encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def test_a_frame_as_a_table_becomes_the_same_bodies_in_every_format(self):
        """The ball has fallen for 0.05 s: 5 steps of 0.01 s at 10 m/s^2."""
        for ending in ("csv", "txt", "h5", "vtp", "vtu", "data", "dump"):
            said = self.export("shapes", "--table", f"t.{ending}", "--time", "0.05")
            self.assertIn("1 spheres; 6 other bodies are left out", said)
            with open(self.path("back.yaml"), "w", encoding="utf-8") as file:
                file.write(f"cairn: 1\ngenerators: [{{table: {{file: t.{ending}}}}}]\ngravity: [0, 0, 0]\n"
                           "run: {time_step: 0.01, duration: 0.01, paraview: false, picture: false}\n")
            subprocess.run([CAIRN, "run", "back.yaml", "--out", "back", "--force", "--quiet"], cwd=self.home.name,
                           timeout=1500, check=True)
            self.export("back", "--table", "back.csv", "--time", "0")
            with open(self.path("back.csv"), encoding="utf-8", newline="") as file:
                row = next(csv.DictReader(file))
            self.assertAlmostEqual(float(row["vz"]), -0.5, delta=1e-15)
            self.assertAlmostEqual(float(row["z"]), 2 - 10 * 1e-4 * 15, delta=1e-15)
            self.assertEqual(float(row["radius"]), 0.2)
            self.assertAlmostEqual(float(row["mass"]), 1, delta=1e-15)

    def contacts(self, scene, name):
        make_run(self.home.name, scene, name)
        self.export(name, "--contacts", f"{name}.csv")
        with open(self.path(f"{name}.csv"), encoding="utf-8", newline="") as file:
            return [{k: float(v or "nan") for k, v in row.items()} for row in csv.DictReader(file)]

    def test_the_contacts_of_a_stack_carry_what_lies_above_them(self):
        """Three balls of 2 kg in 10 m/s^2: 60, 40 and 20 N; the lines go from centre to centre, and to the floor."""
        rows = sorted(self.contacts(STACK, "stack"), key=lambda r: r["point_z"])
        self.assertEqual([{r["body_a"], r["body_b"]} for r in rows], [{0, 1}, {1, 2}, {2, 3}])
        for row, force, length in zip(rows, (60, 40, 20), (0.1, 0.2, 0.2)):
            self.assertAlmostEqual(row["normal_force"], force, delta=1e-6)
            self.assertAlmostEqual(row["force_z"], force * row["normal_z"], delta=1e-6)
            self.assertAlmostEqual(abs(row["from_z"] - row["to_z"]), length, delta=1e-9)
            self.assertLess(abs(row["gap"]), 1e-9)
            self.assertEqual((row["slips"], row.get("image_x")), (0, None))
        self.assertIn("6 contacts of 3 frames", self.export("stack", "--contacts", "stack.h5", "--time", "all"))
        self.export("stack", "--contacts", "stack.vtp", "--time", "0.02")
        with open(self.path("stack.vtp"), "rb") as file:
            self.assertIn(b'NumberOfPoints="6" NumberOfVerts="0" NumberOfLines="3"', file.read())

    def test_a_block_that_slides_slips_and_one_at_rest_sticks(self):
        for speed, slips, friction in ((1, 1, 5), (0, 0, 2.5)):  # mu = 0.5, on 1 kg on a slope of 1/4
            rows = self.contacts(BLOCK.replace("SPEED", str(speed)), f"block{speed}")
            self.assertEqual({r["slips"] for r in rows}, {slips})
            self.assertAlmostEqual(abs(sum(r["force_x"] for r in rows)), friction, delta=1e-6)
            for row in rows:
                self.assertAlmostEqual(row["tangential_force"], row["mobilised"] * 0.5 * row["normal_force"], delta=1e-6)
                self.assertEqual(row["mobilised"] > 1 - 1e-6, slips)

    def test_lines_of_periodic_runs_end_at_the_image(self):
        """Two balls of 1 kg and 1 m/s that stop each other across a face in 0.01 s: 100 N, 0.2 m apart, not 0.8 m."""
        row, = self.contacts(ACROSS, "across")
        self.assertAlmostEqual(row["normal_force"], 100, delta=1e-6)
        self.assertAlmostEqual(abs(row["image_x"] * (row["from_x"] - row["to_x"])), 0.2, delta=1e-9)

    def test_wrong_tables_are_refused(self):
        self.assertIn(".csv, .txt, .h5 or .vtp", self.export("shapes", "--contacts", "c.data", code=2))
        self.assertIn("expected a time in s", self.export("shapes", "--contacts", "c.vtp", "--time", "all", code=2))
        self.assertIn("no frame at 7 s; the nearest is at 0.1 s",
                      self.export("shapes", "--table", "t.csv", "--time", "7", code=3))
        self.assertIn("t.xls: unknown kind of table", self.export("shapes", "--table", "t.xls", code=3))

    def test_the_table_has_a_row_for_each_body_in_each_frame(self):
        rows = self.table()
        self.assertEqual(len(rows), 5 * 21)
        self.assertEqual([float(rows[3][k]) for k in ("time", "body", "x", "y", "z", "qw")], [0, 3, 1.5, 0, 2, 1])
        falling = [r for r in rows if r["body"] == "3"][2]
        self.assertAlmostEqual(float(falling["vz"]), -10 * 0.1)

    def test_names_travel(self):
        """Into tables and scenes, also those with commas, quotes and other letters."""
        self.assertEqual([(r["name"], r["material"]) for r in self.table()[:5]],
                         [("floor", "rock"), ("box", "rock"), ("low", "rock"), ("high", "rubber"), ("side", "rubber")])
        make_run(self.home.name, NAMED, "named")
        self.export("named", "--csv", "named.csv")
        with open(self.path("named.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(r["name"], r["material"]) for r in rows[:3]],
                         [('a, "b" \\', "gr\u00fcn"), ("", "gr\u00fcn"), ("ball", "gr\u00fcn")])
        self.assertEqual([float(r["x"]) for r in rows[:3]], [0, 1, 2])
        self.export("named", "--gltf", "named.glb")
        nodes = self.glb("named.glb")[0]["nodes"]
        self.assertEqual([(n["name"], n["extras"]["material"]) for n in nodes[:3]],
                         [('a, "b" \\', "gr\u00fcn"), ("body 1", "gr\u00fcn"), ("ball", "gr\u00fcn")])

    def test_a_scene_of_gltf_moves_as_the_run_did(self):
        said = self.export("run", "--gltf", "run.glb")
        self.assertRegex(said, r"run\.glb: 0\.\d\d MB")
        glb = self.glb("run.glb")
        about = glb[0]
        self.assertEqual(len(about["nodes"]), 4 + 1)  # the floor is without end; one node is above all
        node = next(i for i, n in enumerate(about["nodes"]) if n["name"] == "high")
        channel = next(c for c in about["animations"][0]["channels"]
                       if c["target"] == {"node": node, "path": "translation"})
        sampler = about["animations"][0]["samplers"][channel["sampler"]]
        times, places = self.numbers(glb, sampler["input"]), self.numbers(glb, sampler["output"])
        rows = [r for r in self.table() if r["body"] == "3"]
        self.assertEqual(len(places), len(rows))
        for row, time, place in zip(rows, times, places):
            self.assertAlmostEqual(float(row["time"]), time[0], places=6)
            for name, found in zip("xyz", place):
                self.assertAlmostEqual(float(row[name]), found, places=5)

    def test_every_solid_has_triangles_with_unit_normals(self):
        self.export("shapes", "--gltf", "shapes.glb")
        glb = self.glb("shapes.glb")
        self.assertEqual(len(glb[0]["meshes"]), 6)
        for mesh in glb[0]["meshes"]:
            attributes = mesh["primitives"][0]["attributes"]
            corners, normals = self.numbers(glb, attributes["POSITION"]), self.numbers(glb, attributes["NORMAL"])
            self.assertEqual(len(corners) % 3, 0)
            self.assertGreaterEqual(len(corners), 12)
            for normal in normals:
                self.assertAlmostEqual(sum(c * c for c in normal), 1, places=4)

    def steps(self, name, k):
        """Points, ends of vertices, ends and corners of polygons and ids of step k, by the offsets of the file."""
        import h5py
        with h5py.File(self.path(name)) as file:
            root = file["VTKHDF"]
            self.assertEqual(bytes(root.attrs["Type"]), b"PolyData")
            self.assertEqual(list(root.attrs["Version"]), [2, 0])
            steps = root["Steps"]
            first, count = steps["PointOffsets"][k], root["NumberOfPoints"][k]
            polygons, kind = root["Polygons"], 2
            cell, ids = steps["CellOffsets"][k][kind], steps["ConnectivityIdOffsets"][k][kind]
            ends = polygons["Offsets"][cell + k:][:polygons["NumberOfCells"][k] + 1]  # one more than cells in each step
            return (steps["Values"][k], root["Points"][first:first + count], root["Vertices/NumberOfCells"][k], ends,
                    polygons["Connectivity"][ids:ids + polygons["NumberOfConnectivityIds"][k]],
                    root["PointData/id"][first:first + count], root["PointData/radius"][first:first + count])

    def test_a_file_for_paraview_has_balls_as_points_and_the_box_as_six_polygons(self):
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("there is no h5py")
        self.export("run", "--vtkhdf", "run.vtkhdf")
        time, points, balls, ends, corners, ids, radius = self.steps("run.vtkhdf", 2)
        self.assertAlmostEqual(time, 0.1)
        self.assertEqual((balls, len(points), list(ends)), (3, 3 + 8, [0, 4, 8, 12, 16, 20, 24]))
        rows = {int(r["body"]): r for r in self.table() if float(r["time"]) == time}
        for k in range(3):
            for name, found in zip("xyz", points[k]):
                self.assertAlmostEqual(float(rows[int(ids[k])][name]), found, places=6)
        self.assertEqual([round(float(r), 6) for r in radius[:4]], [0.2, 0.3, 0.25, 0])
        box = points[corners]
        self.assertEqual(set(ids[corners]), {1})
        for axis, size in enumerate((1, 1, 0.5)):
            self.assertAlmostEqual(float(box[:, axis].max() - box[:, axis].min()), size, places=5)

    def test_polygons_of_a_body_share_their_corners(self):
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("there is no h5py")
        self.export("shapes", "--vtkhdf", "shapes.vtkhdf")
        _, points, _, ends, corners, ids, _ = self.steps("shapes.vtkhdf", 2)
        edges = {}
        for first, last in zip(ends, ends[1:]):
            ring = [int(c) for c in corners[first:last]]
            edges.setdefault(int(ids[ring[0]]), []).extend(zip(ring, ring[1:] + ring[:1]))
        # box, cylinder, cone, tetrahedron, and a compound of two: each edge has a face on both of its sides
        self.assertEqual(sorted(edges), [2, 3, 4, 5, 6])
        for body, found in edges.items():
            self.assertEqual(sorted(found), sorted((b, a) for a, b in found), body)
            self.assertEqual(len(set(found)), len(found), body)
        # Euler: corners - edges + faces = 2
        self.assertEqual([len({a for a, _ in edges[body]}) for body in (2, 5)], [8, 4])
        self.assertEqual(len({tuple(p) for p in points[ids == 6]}), sum(ids == 6))

    def test_a_polyline_is_a_line(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        make_run(self.home.name, POLYLINE, "line")
        self.export("line", "--vtkhdf", "line.vtkhdf")
        with h5py.File(self.path("line.vtkhdf")) as file:
            lines, polygons = file["VTKHDF/Lines"], file["VTKHDF/Polygons"]
            self.assertEqual((lines["NumberOfCells"][0], polygons["NumberOfCells"][0]), (3, 1))  # the disk is a polygon
            points = file["VTKHDF/Points"][:]
            ends = [points[c].tolist() for c in lines["Connectivity"][:6]]
        self.assertEqual([p[:2] for p in ends], [[2, 1], [1, 0], [1, 0], [-1, 0], [-1, 0], [-2, 1]])

    def test_the_file_for_paraview_comes_with_a_script_that_names_it(self):
        said = self.export("run", "--vtkhdf", "with script.vtkhdf")
        self.assertIn("with script.vtkhdf.py", said)
        with open(self.path("with script.vtkhdf.py"), encoding="utf-8") as file:
            text = file.read()
        compile(text, "script", "exec")
        self.assertIn('NAME = "with script.vtkhdf"\nDIMENSION = 3\n', text)

    def test_vtk_reads_that_file_as_it_is(self):
        try:
            from vtkmodules.vtkCommonCore import vtkVersion
            from vtkmodules.vtkIOHDF import vtkHDFReader
        except ImportError:
            self.skipTest("there is no VTK with its HDF reader")
        if (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion()) < (9, 3):
            self.skipTest("VTK before 9.3 reads no steps of polygons")
        self.export("run", "--vtkhdf", "read.vtkhdf")
        reader = vtkHDFReader()
        reader.SetFileName(self.path("read.vtkhdf"))
        reader.UpdateInformation()
        self.assertEqual(reader.GetNumberOfSteps(), 21)
        last = [r for r in self.table() if r["body"] == "3"][-1]
        reader.SetStep(20)
        reader.Update()
        data = reader.GetOutputDataObject(0)
        self.assertEqual((data.GetNumberOfVerts(), data.GetNumberOfPolys()), (3, 6))
        for name, found in zip("xyz", data.GetPoint(1)):
            self.assertAlmostEqual(float(last[name]), found, places=6)

    def test_a_page_holds_its_data_and_tells_its_size(self):
        said = self.export("run", "--html", "page.html")
        size = os.path.getsize(self.path("page.html"))
        self.assertAlmostEqual(float(re.search(r"([\d.]+) MB", said).group(1)), size / 1e6, delta=0.006)
        with open(self.path("page.html"), encoding="utf-8") as file:
            text = file.read()
        self.assertGreater(len(re.search(r'type="text/plain">([A-Za-z0-9+/=]+)</script>', text).group(1)), 1000)
        self.assertIn("default-src 'none'", text)

    def test_what_cannot_be_done_is_said_and_leaves_no_file(self):
        self.assertIn("expected --html", self.export("run", code=2))
        self.assertIn(".glb", self.export("run", "--gltf", "run.obj", code=2))
        self.assertIn("time in s", self.export("run", "--png", "soon", code=2))
        self.assertIn("WIDTHxHEIGHT", self.export("run", "--png", "1", "--size", "9", code=2))
        self.assertIn("expected words", self.export("run", "--png", "1", "--look", "a b", code=2))
        self.assertIn("expected a time of the run: 0 to", self.export("run", "--png", "99", code=3))
        self.assertIn("found -1 s", self.export("run", "--png", "-1", code=3))
        self.assertFalse(os.path.exists(self.path("run.png")))
        self.export("nothing", "--csv", "none.csv", code=1)
        for flag, name in (("--csv", "no/t.csv"), ("--gltf", "no/t.glb"), ("--vtkhdf", "no/t.vtkhdf")):
            said = self.export("run", flag, name, code=1)
            self.assertRegex(said, rf"\A{name}(\.part)?: cannot create: No such file or directory\n")
        self.assertFalse(os.path.exists(self.path("none.csv")))
        bare = self.path("bin")
        os.makedirs(bare, exist_ok=True)
        for tool in ("sh", "rm"):
            if not os.path.exists(os.path.join(bare, tool)):
                os.symlink(shutil.which(tool), os.path.join(bare, tool))
        said = self.export("run", "--png", "0", "--out", "none.png", code=1, env={**os.environ, "PATH": bare})
        self.assertIn("chromium", said)
        self.assertFalse(os.path.exists(self.path("none.png")))

    @unittest.skipUnless(shutil.which("chromium"), "there is no chromium")
    def test_a_picture_has_the_size_that_was_asked_for(self):
        said = self.export("run", "--png", "0.5", "--size", "320x200", "--out", "one.png", "--look", "color=mass&theme=light")
        with open(self.path("one.png"), "rb") as file:
            head = file.read(24)
        self.assertEqual(head[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", head[16:24]), (320, 200))

    @unittest.skipUnless(shutil.which("chromium") and shutil.which("ffprobe"), "there is no chromium or no ffmpeg")
    def test_a_film_has_thirty_pictures_a_second(self):
        said = self.export("shapes", "--video", "film.mp4", "--size", "160x120")
        found = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "stream=nb_frames,width,height", "-of", "csv=p=0",
                                self.path("film.mp4")], capture_output=True, text=True, check=True).stdout
        self.assertEqual(found.strip(), "160,120,4")  # 0.1 s: 0, 1/30, 2/30, 3/30


def test_export_command():
    unittest.main(argv=["test_export_command", "Export"])


# ==== test_sweep_command: exact results, confidence, kept and resumed runs, tables, wrong input ===========

# a block that slides on a floor until it rests
SLIDE = """cairn: 1
title: A block slides, mu = $friction
parameters: {friction: 0.3, seed: 1}
gravity: [0, 0, -10]
materials: {rock: {friction: $friction}}
bodies:
  - {name: floor, motion: fixed, shape: half_space}
  - {name: block, shape: {box: {size: [0.2, 0.2, 0.1]}}, position: [0, 0, 0.05],
     velocity: ["$(1 + 0.01 * seed)", 0, 0]}
run: {time_step: 2.0e-3, duration: 0.6, tolerance: 1.0e-6, paraview: false, picture: false,
      statistics: [energy], checkpoint_every: 0.2}
"""


class Sweep(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.write("slide.yaml", SLIDE)

    def tearDown(self):
        self.home.cleanup()

    def path(self, *names):
        return os.path.join(self.home.name, *names)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def cairn(self, *words, code=0):
        done = subprocess.run([CAIRN, *words], capture_output=True, text=True, timeout=1500, check=False,
                              cwd=self.home.name)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def sweep(self, *words, code=0):
        return self.cairn("sweep", "slide.yaml", *words, "--quiet", code=code)

    def rows(self, *names):
        with open(self.path(*names), encoding="utf-8", newline="") as file:
            return [{k: float(v) if v else None for k, v in row.items()} for row in csv.DictReader(file)]

    def test_means_and_confidence_are_those_of_the_formula(self):
        """t = 4.302652729911275 for 3 runs, from a table of Student's distribution."""
        said = self.sweep("--vary", "friction=0.2:0.8:3", "--vary", "seed=1..3", "--jobs", "2", "--out", "s",
                          "--result", "displacement,energy.friction_loss")
        self.assertIn("9 of 9 runs are done", said)
        table, means = self.rows("s", "sweep.csv"), self.rows("s", "means.csv")
        self.assertEqual(list(table[0]), ["run", "friction", "seed", "displacement", "energy.friction_loss"])
        self.assertEqual(len(table), 9)
        for row in table:
            v = 1 + 0.01 * row["seed"]
            lost = row["friction"] * 10 * 2e-3  # m/s in a step
            n = int(v / lost)  # steps until it rests: d = h (v - lost) + h (v - 2 lost) + ...
            self.assertAlmostEqual(row["displacement"], 2e-3 * (n * v - lost * n * (n + 1) / 2), delta=1e-8)
            self.assertAlmostEqual(row["energy.friction_loss"], 0.5 * 4 * v * v, delta=1e-5)
        self.assertEqual([row["friction"] for row in means], [0.2, 0.5, 0.8])
        for row in means:
            d = [r["displacement"] for r in table if r["friction"] == row["friction"]]
            self.assertEqual(row["runs"], 3)
            self.assertAlmostEqual(row["displacement"], statistics.mean(d), delta=1e-15)
            self.assertAlmostEqual(row["displacement +-"], 4.302652729911275 * statistics.stdev(d) / 3 ** 0.5,
                                   delta=1e-12)
        with open(self.path("s", "sweep.gp"), encoding="utf-8") as script:
            text = script.read()
        self.assertIn("with yerrorlines", text)
        self.assertIn("'means of 3 runs; bars: 95 % confidence intervals of the means'\n", text)
        for label in ("xlabel 'friction'", "ylabel 'displacement (m)'", "ylabel 'energy.friction loss (J)'"):
            self.assertIn(f"set {label}\n", text)
        self.sweep("--vary", "run.time_step=1e-3,2e-3", "--vary", "friction=0.2,0.5", "--out", "steps",
                   "--result", "displacement")
        with open(self.path("steps", "sweep.gp"), encoding="utf-8") as script:
            text = script.read()
        self.assertIn("'each point is one run'\n", text)
        self.assertIn("set xlabel 'run.time step (s)'\n", text)
        self.assertIn("$curve1 using 1:4 with linespoints", text)
        self.assertIn("$curve1 << END\n0.001 0.5 1 ", text)
        self.assertTrue(os.path.getsize(self.path("s", "sweep.h5")) > 1000)

    def test_finished_runs_are_kept_and_a_killed_sweep_goes_on(self):
        words = ("--vary", "friction=0.2,0.4,0.6", "--jobs", "1", "--out", "s", "--set", "run.duration=1.2")
        with subprocess.Popen([CAIRN, "sweep", "slide.yaml", *words, "--quiet"], cwd=self.home.name,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            while not os.path.exists(self.path("s", "run_0001", "results.csv")) and child.poll() is None:
                time.sleep(0.01)
            child.terminate()
            self.assertIn(child.wait(timeout=1500), (0, 143))
        kept = os.stat(self.path("s", "run_0001", "results.csv")).st_mtime_ns
        self.assertIn("3 of 3 runs are done", self.sweep(*words))
        self.assertEqual(os.stat(self.path("s", "run_0001", "results.csv")).st_mtime_ns, kept)
        whole = self.rows("s", "sweep.csv")
        self.sweep(*words, "--force")
        for old, new in zip(whole, self.rows("s", "sweep.csv")):
            old.pop("wall_seconds")
            new.pop("wall_seconds")
            self.assertEqual(old, new)  # also that of a run that was stopped and resumed

    def test_a_run_killed_before_its_checkpoint_was_removed_is_complete(self):
        """Ranges and values may be mixed. A checkpoint beside a finished run, and no results: as a kill leaves them."""
        words = ("--vary", "seed=1..2,4", "--vary", "friction=0.5", "--out", "s", "--set", "run.duration=0.02")
        self.sweep(*words)
        whole, finished = self.rows("s", "sweep.csv"), self.path("s", "run_0002", "run.h5")
        before, seeds = os.stat(finished).st_ino, [row["seed"] for row in whole]
        self.write("s/run_0002/checkpoint", "left")
        os.unlink(self.path("s", "run_0002", "results.csv"))
        said = self.sweep(*words)
        self.assertTrue("3 of 3 runs are done" in said and "not drawn: gnuplot failed" not in said, said)
        self.assertEqual((os.stat(finished).st_ino, seeds), (before, [1, 2, 4]))  # it was not computed again
        self.assertFalse(os.path.exists(self.path("s", "run_0002", "checkpoint")))
        for old, new in zip(whole, self.rows("s", "sweep.csv")):
            self.assertEqual({**old, "wall_seconds": 0}, {**new, "wall_seconds": 0})

    def test_a_job_array_computes_the_same(self):
        name = "it's 5% of it"
        words = ("--vary", "friction=0.2,0.4", "--out", name)
        self.assertIn("2 tasks", self.sweep(*words, "--slurm"))
        with open(self.path(name, "sweep.slurm"), encoding="utf-8") as file:
            script = file.read()
        self.assertIn("#SBATCH --array=1-2\n", script)
        self.assertIn('it\'s 5%% of it/task_%a.txt"\n', script)  # %% is a % for Slurm
        for task in "12":
            environment = dict(os.environ, SLURM_ARRAY_TASK_ID=task,
                               PATH=os.path.dirname(os.path.abspath(CAIRN)) + ":" + os.environ["PATH"])
            subprocess.run(["sh", self.path(name, "sweep.slurm")], cwd=self.home.name, env=environment,
                           timeout=1500, check=True, capture_output=True)
        self.assertFalse(os.path.exists(self.path(name, "sweep.csv")))
        self.assertIn("2 of 2 runs are done", self.sweep(*words))

    def test_a_filling_is_shared_by_many_openings(self):
        scenes = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                              "scenes", "silo")
        self.cairn("run", os.path.join(scenes, "fill.yaml"), "--out", "out/fill", "--quiet", "--set",
                   "parameters.grains=40")
        self.cairn("sweep", os.path.join(scenes, "open.yaml"), "--vary", "friction=0.1,0.7", "--quiet", "--set",
                   "run.duration=0.2", "--out", "s")
        slick, rough = self.rows("s", "sweep.csv")
        self.assertEqual(slick["bodies"], 44)  # 40 grains and 4 walls; the gate is gone
        self.assertGreater(slick["kinetic"], rough["kinetic"])

    def test_wrong_sweeps_are_refused(self):
        for words, code, text in (
                ((), 2, "--vary: is missing"),
                (("--vary", "friction"), 2, "expected NAME=FIRST:LAST:COUNT"),
                (("--vary", "friction=0.1:0.8"), 2, "expected FIRST:LAST:COUNT"),
                (("--vary", "seed=5..1"), 2, "expected FIRST..LAST with LAST >= FIRST"),
                (("--vary", "seed=0.5..2"), 2, "expected FIRST..LAST with whole numbers"),
                (("--vary", "seed=1..3,2"), 2, "a value is given twice"),
                (("--vary", "seed=1,,2"), 2, "found nothing where a value"),
                (("--vary", "seed=1..2000"), 2, "expected at most 1000 values"),
                (("--vary", "seed=1..999", "--vary", "friction=0.1:0.2:99"), 2, "more than 10000 runs"),
                (("--vary", "seed=1,2", "--vary", "seed=1,2"), 2, "is varied twice"),
                (("--vary", "frction=1,2"), 3, "unknown parameter 'frction'; did you mean 'friction'?"),
                (("--vary", "run.time_step=0,1"), 3, "run.time_step: found 0, expected a number > 0"),
                (("--vary", "seed=1,2", "--only", "3"), 2, "there are fewer runs"),
                (("--vary", "seed=1,2", "--set", "bodies.block.velocity=[1,0,0]"), 3, "'seed' is used nowhere"),
                (("--vary", "seed=1", "--result", "distance", "--set", "run.duration=0.01", "--out", "d"), 2,
                 "no result 'distance'")):
            self.assertIn(text, self.sweep(*words, code=code))
        self.sweep("--vary", "seed=1", "--out", "s", "--set", "run.duration=0.01")
        self.assertIn("holds another sweep", self.sweep("--vary", "seed=2", "--out", "s", code=2))

    def test_a_run_that_fails_is_told(self):
        said = self.sweep("--vary", "run.scheme=coulomb,none", "--out", "s", code=1)
        self.assertIn("run_0002: run.scheme: unknown scheme 'none'", said)
        self.assertIn("1 of 2 runs are done", said)


def test_sweep_command():
    unittest.main(argv=["test_sweep_command", "Sweep"])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
