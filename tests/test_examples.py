#!/usr/bin/env python3
"""The example programs run, and print what the pages say of them."""
import os
import subprocess
import unittest

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..")
BUILD = os.environ.get("CAIRN_BINARY_DIR") or os.path.join(ROOT, "build/release")


class Examples(unittest.TestCase):
    def test_double_pendulum_swings_as_the_page_shows(self):
        program = os.path.join(BUILD, "examples", "double_pendulum")
        done = subprocess.run([program], capture_output=True, text=True, timeout=100, check=True)
        self.assertEqual(done.stderr, "")
        lines = [line.split() for line in done.stdout.splitlines()]
        rows = {float(line[0]): [float(x) for x in line[1:]] for line in lines[1:]}
        self.assertEqual(len(rows), 10)
        self.assertAlmostEqual(rows[1.0][0], -0.72753332, delta=1e-8)
        self.assertAlmostEqual(rows[1.0][1], 0.38455775, delta=1e-8)
        self.assertEqual(rows[0.6][2], 0)  # the floor is met at 0.63 s
        with open(os.path.join(ROOT, "docs", "lagrange.md"), encoding="utf-8") as page:
            self.assertIn("\n".join("    " + line for line in done.stdout.splitlines()[4:6]),
                          page.read())

    def test_rocking_block_loses_as_the_page_shows(self):
        program = os.path.join(BUILD, "examples", "rocking_block")
        done = subprocess.run([program], capture_output=True, text=True, timeout=100, check=True)
        self.assertEqual(done.stderr, "")
        rows = [[float(x) for x in line.split()] for line in done.stdout.splitlines()[1:]]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertAlmostEqual(row[3], 1 - 1.5 * 0.0625 / 1.0625, delta=0.01)
        with open(os.path.join(ROOT, "docs", "lagrange.md"), encoding="utf-8") as page:
            self.assertIn("\n".join("    " + line for line in done.stdout.splitlines()), page.read())


    def test_a_heap_is_steeper_with_rolling_friction(self):
        program = os.path.join(BUILD, "examples", "angle_of_repose")
        scene = os.path.join(ROOT, "scenes", "rolling_heap_2d.yaml")
        small = ["generators.0.pour.count=60", "run.time_step=2e-3", "run.duration=1.5"]
        angles = []
        for friction in ["0", "2.5e-3", "1e-2"]:
            done = subprocess.run(
                [program, scene, "materials.disk.rolling_friction=" + friction] + small,
                capture_output=True, text=True, timeout=100, check=True)
            self.assertEqual(done.stderr, "")
            angles.append(float(done.stdout))
        self.assertLess(angles[0], 5)  # the disks roll away
        self.assertGreater(angles[1], angles[0] + 3)
        self.assertGreater(angles[2], angles[1] + 3)


if __name__ == "__main__":
    unittest.main()
