#!/usr/bin/env python3
"""The moving picture of the README: small, without anything from elsewhere, and as the run was."""
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from view_server import CAIRN, ROOT

SVG = "{http://www.w3.org/2000/svg}"
KEPT = os.path.join(ROOT, "docs/pictures/rotating_drum.svg")


def moves(group, kind):
    """The values of an animated transform, as lists of numbers."""
    found = group.find(f"{SVG}animateTransform[@type='{kind}']")
    return [[float(v) for v in value.split()] for value in found.get("values").split(";")]


class Kept(unittest.TestCase):
    def test_it_is_small_and_asks_for_nothing(self):
        self.assertLess(os.path.getsize(KEPT), 0.5e6)
        with open(KEPT, encoding="utf-8") as file:
            text = file.read()
        self.assertNotRegex(text.replace('xmlns="http://www.w3.org/2000/svg"', ""), r"https?:|<script|href|url\(")
        self.assertEqual(len(ElementTree.fromstring(text).findall(f".//{SVG}circle")), 170 + 2)

    def test_the_readme_shows_it(self):
        with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
            self.assertIn("(docs/pictures/rotating_drum.svg)", file.read())


class Drawn(unittest.TestCase):
    def test_disks_are_where_h5py_finds_them(self):
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py")
        with tempfile.TemporaryDirectory() as home:
            run, picture = os.path.join(home, "run"), os.path.join(home, "run.svg")
            subprocess.run([CAIRN, "run", os.path.join(ROOT, "scenes/rotating_drum_2d.yaml"), "--out", run, "--quiet", "--set",
                            "run.duration=0.2"], check=True, timeout=120)
            subprocess.run([sys.executable, os.path.join(ROOT, "scripts/moving-picture"), run, picture], check=True, timeout=60)
            drawn = ElementTree.parse(picture).getroot()
            with h5py.File(os.path.join(run, "run.h5")) as file:
                x = file["frames/bodies/x"][:].reshape(5, 91, 3)  # 0, 0.05, ... 0.2 s: the drum and 90 disks
                angle, radius = file["frames/bodies/angle"][:].reshape(5, 91), file["bodies/radius"][:]
        # the drum, of radius 1, is as wide as the picture without its margin of 4: 236 pixels a metre
        disks = drawn.findall(f"{SVG}g")[1].findall(f"{SVG}g")
        self.assertEqual(len(disks), 90)
        for i, disk in enumerate(disks, 1):
            circle = disk.find(f".//{SVG}circle")
            self.assertAlmostEqual(float(circle.get("r")), 236 * radius[i], delta=0.06)
            for (px, py), place, (turn,), a in zip(moves(disk, "translate"), x[:, i], moves(disk.find(f"{SVG}g"), "rotate"), angle[:, i]):
                self.assertAlmostEqual(px, 4 + 236 * (1 + place[0]), delta=0.06)
                self.assertAlmostEqual(py, 4 + 236 * (1 - place[1]), delta=0.06)
                self.assertAlmostEqual(turn, -math.degrees(a), delta=0.51)
        frames = [g for g in drawn.iter(f"{SVG}animate") if g.get("attributeName") == "visibility"]
        self.assertEqual([g.get("keyTimes") for g in frames], ["0;0.125", "0;0.125;0.375", "0;0.375;0.625", "0;0.625;0.875", "0;0.875"])

    def test_a_run_in_space_is_refused(self):
        try:
            import h5py  # noqa: F401
        except ImportError:
            self.skipTest("there is no h5py")
        with tempfile.TemporaryDirectory() as home:
            run = os.path.join(home, "run")
            subprocess.run([CAIRN, "run", os.path.join(ROOT, "scenes/ball_drop.yaml"), "--out", run, "--quiet", "--set",
                            "run.duration=0.1"], check=True, timeout=120)
            done = subprocess.run([sys.executable, os.path.join(ROOT, "scripts/moving-picture"), run, os.path.join(home, "x.svg")],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertTrue(re.search("in 3D, expected one in 2D", done.stderr), done)
            self.assertFalse(os.path.exists(os.path.join(home, "x.svg")))


if __name__ == "__main__":
    unittest.main()
