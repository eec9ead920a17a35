#!/usr/bin/env python3
"""What ParaView shows by the scripts that come with a run and with a .vtkhdf file: every ball covers its disk, the box
its square. Drawn by VTK off the screen (tests/tools/paraview_stand_in.py), and by ParaView itself where pvbatch is there."""
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

from view_server import CAIRN, SCENE, make_run

HERE = os.path.dirname(os.path.abspath(__file__))
PIXELS, HEIGHT, Z = 400, 4.0, 1.0  # of the picture; 100 pixels a metre
SCREEN = ["xvfb-run", "-a"] if shutil.which("xvfb-run") and shutil.which("xauth") else []

# what pvbatch does after the script of the run: the same camera as the stand-in's
BATCH = """import os, sys
folder, picture = sys.argv[1:]
script = os.path.join(folder, "view.py")
exec(open(script).read(), {{"__file__": script}})
from paraview.simple import *
view = GetActiveView()
GetAnimationScene().GoToLast()
view.ViewSize, view.CameraParallelProjection, view.CameraParallelScale = [{0}, {0}], 1, {1} / 2
view.CameraFocalPoint, view.CameraPosition, view.OrientationAxesVisibility = [0, 0, {2}], [0, -10 * {1}, {2}], 0
SaveScreenshot(picture, view, ImageResolution=[{0}, {0}])
""".format(PIXELS, HEIGHT, Z)


def unfilter(kind, line, above, step):
    """A line of a PNG as it was before its filter, by the specification, section 9."""
    out = bytearray(line)
    for i, value in enumerate(line):
        a, b, c = (out[i - step] if i >= step else 0), above[i], (above[i - step] if i >= step else 0)
        p = a + b - c
        nearest = min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]
        out[i] = (value + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
    return out


def read_png(path):
    """Rows of pixels, each (r, g, b)."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed, width, height, step = 8, b"", 0, 0, 3
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        part = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", part)
            assert depth == 8 and colour in (2, 6), (depth, colour)
            step = 3 if colour == 2 else 4
        packed += part if kind == b"IDAT" else b""
        at += length + 12
    lines, above, rows = zlib.decompress(packed), bytearray(step * width), []
    for k in range(height):
        start = k * (step * width + 1)
        above = unfilter(lines[start], lines[start + 1:start + 1 + step * width], above, step)
        rows.append([tuple(above[step * i:step * i + 3]) for i in range(width)])
    return rows


def covered(rows, x, z, half):
    """Pixels unlike the corner of the picture in a square about x, z, in m^2; not below the ground."""
    scale, count = PIXELS / HEIGHT, 0
    for k in range(PIXELS):
        for i in range(PIXELS):
            px, pz = (i + 0.5 - PIXELS / 2) / scale, Z - (k + 0.5 - PIXELS / 2) / scale
            if abs(px - x) < half and abs(pz - z) < half and pz > 1.5 / scale:
                count += sum(abs(a - b) for a, b in zip(rows[k][i], rows[0][0])) > 12
    return count / scale ** 2


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory()
        cls.run_folder = make_run(cls.home.name, SCENE.replace("paraview: false", "paraview: true"))

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def picture(self, command):
        path = os.path.join(self.home.name, "picture.png")
        if not SCREEN and not os.environ.get("DISPLAY"):
            self.skipTest("there is no xvfb-run with xauth")
        done = subprocess.run([*SCREEN, *(path if word is None else word for word in command)], capture_output=True, text=True,
                              timeout=1500, check=False)
        if done.returncode == 77 or "No module named 'paraview'" in done.stderr:
            self.skipTest((done.stdout + done.stderr).strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, done.stderr)
        return read_png(path)

    def check(self, rows):
        # after 1 s all lie still: two balls on the ground, 1.5 m to each side, one on the box of 1 m x 0.5 m
        for x, z, radius in ((1.5, 0.3, 0.3), (-1.5, 0.25, 0.25), (0, 0.7, 0.2)):
            # a corner of the square of the ball is free, its disk is full
            self.assertAlmostEqual(covered(rows, x, z, radius - 0.001) / (math.pi * radius ** 2), 1, delta=0.025)
        self.assertAlmostEqual(covered(rows, 0, 0.25, 0.25) / 0.25, 1, delta=0.07)  # all of it but two lines at the ground

    def stand_in(self, script):
        return [sys.executable, os.path.join(HERE, "paraview_stand_in.py"), script, None, str(HEIGHT), "0", str(Z)]

    def test_the_script_of_a_run_shows_balls_as_balls(self):
        self.check(self.picture(self.stand_in(os.path.join(self.run_folder, "paraview/view.py"))))

    def test_the_script_of_a_vtkhdf_file_does_as_well(self):
        path = os.path.join(self.home.name, "run.vtkhdf")
        subprocess.run([CAIRN, "export", self.run_folder, "--vtkhdf", path], check=True, timeout=1500, capture_output=True)
        self.check(self.picture(self.stand_in(path + ".py")))

    @unittest.skipUnless(shutil.which("pvbatch"), "there is no pvbatch")
    def test_paraview_itself_shows_balls_as_balls(self):
        script = os.path.join(self.home.name, "batch.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(BATCH)
        self.check(self.picture(["pvbatch", script, os.path.join(self.run_folder, "paraview"), None]))


if __name__ == "__main__":
    unittest.main()
