#!/usr/bin/env python3
"""`cairn compare` from outside: the table, the files, what is refused."""
import csv
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
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
                              capture_output=True, text=True, timeout=250, check=False, **more)
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
        out, err = child.communicate(timeout=60)
        self.assertEqual(child.returncode, 130)
        self.assertIn("interrupted", err)
        self.assertIn("reference", out.splitlines()[1])
        self.assertFalse(any(line.startswith("convex ") for line in out.splitlines()))


if __name__ == "__main__":
    unittest.main()
