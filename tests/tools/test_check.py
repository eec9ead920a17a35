#!/usr/bin/env python3
"""`cairn check`: sizes, masses and extents, and warnings about numbers that look like another unit:
test_check.py GROUP"""
import glob
import os
import subprocess
import sys
import tempfile
import unittest

CAIRN = os.path.abspath(os.environ.get("CAIRN", "build/release/tools/cairn"))
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
SCENE = """\
cairn: 1
dimension: 3
materials: {rock: {friction: 0.3}}
bodies:
  - {name: floor, motion: fixed, shape: {box: {size: [4, 4, 0.2]}}, position: [0, 0, -0.1]}
  - {name: ball, shape: {sphere: {radius: 0.1}}, mass: 2, position: [0, 0, 0.2]}
  - {name: block, shape: {box: {size: [1, 0.5, 0.2]}}, density: 2500, position: [1, 0, 1]}
run: {time_step: 0.01, duration: 0.5}
"""
FLAT = """\
cairn: 1
dimension: 2
bodies:
  - {name: block, shape: {box: {size: [1, 0.5]}}, density: 2.5, position: [1, 0]}
run: {time_step: 0.01, duration: 0.5}
"""


class Check(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)

    def check(self, text, *sets, code=0, quiet=False):
        with open(os.path.join(self.home.name, "s.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        words = [word for each in sets for word in ("--set", each)]
        done = subprocess.run([CAIRN, "check", "s.yaml", *words, *["--quiet"] * quiet], capture_output=True,
                              cwd=self.home.name, text=True, timeout=1500, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def warning(self, text, *sets):
        """The only warning of a scene, which is valid."""
        found = self.check(text, *sets).stderr.splitlines()
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith("WARNING: "), found)
        return found[0][9:]

    # ---- what is printed --------------------------------------------------------------------------

    def test_masses_sizes_and_extent_are_printed(self):
        done = self.check(SCENE)
        lines = {line[2:22].strip(): line[23:] for line in done.stdout.splitlines()[1:]}
        # 2500 kg/m^3 times 0.1 m^3
        self.assertEqual(lines["masses"], "2 kg (body 'ball') to 250 kg (body 'block')")
        self.assertEqual(lines["sizes"], "0.2 m (body 'ball') to 1 m (body 'block')")
        self.assertEqual(lines["extent"], "[-2, -2, -0.2] to [2, 2, 1.1] m")
        self.assertEqual(done.stderr, "")

    def test_equal_bodies_have_one_size(self):
        text = SCENE.split("  - {name: block")[0] + "run: {time_step: 0.01, duration: 0.5}\n"
        out = self.check(text).stdout
        self.assertRegex(out, r"\n  sizes +0\.2 m\n")
        self.assertRegex(out, r"\n  masses +2 kg\n")

    # ---- doubts -----------------------------------------------------------------------------------

    def test_degrees_are_doubted(self):
        turn = "bodies.block.orientation={axis: [1, 0, 0], angle: 45}"
        self.assertEqual(self.warning(SCENE, turn),
                         "--set: bodies.2.orientation.angle: found 45 rad, more than a full turn; if it is in "
                         "degrees, write 0.7854")
        self.assertEqual(self.check(SCENE, turn.replace("45", "6.28")).stderr, "")
        flat = FLAT.replace("density: 2.5,", "angle: 45,")
        self.assertIn("s.yaml:4:58: bodies.0.angle: found 45 rad", self.warning(flat))

    def test_limits_in_degrees_are_doubted_and_those_of_slides_are_not(self):
        joint = "joints: [{revolute: {a: block, anchor: [1, 0, 1], turn: {lower: -90, upper: 90}}}]\n"
        found = self.warning(SCENE + joint)
        self.assertIn("joints.0.revolute.turn.lower: found -90, ", found)
        self.assertIn("write -1.5708 (and 1 more like this)", found)
        slide = joint.replace("revolute", "prismatic").replace("turn", "slide")
        self.assertEqual(self.check(SCENE + slide).stderr, "")

    def test_percent_is_doubted(self):
        self.assertIn("materials.rock.friction: found 30, which hardly any surface has; if it is in percent, "
                      "write 0.3", self.warning(SCENE, "materials.rock.friction=30"))
        self.assertEqual(self.check(SCENE, "materials.rock.friction=3").stderr, "")

    def test_densities_in_grams_are_doubted_in_space_alone(self):
        self.assertIn("bodies.2.density: found 2.5 kg/m^3, lighter than foam; if it is in g/cm^3, write 2500",
                      self.warning(SCENE, "bodies.block.density=2.5"))
        self.assertEqual(self.check(FLAT).stderr, "")

    def test_gravity_in_millimetres_is_doubted(self):
        found = self.check(SCENE, "gravity=[0, 0, -9810]", "run.time_step=1e-4").stderr
        self.assertIn("gravity.2: found -9810 m/s^2", found)
        self.assertIn("if it is in mm/s^2, write -9.81", found)

    def test_a_large_ball_and_a_long_step_are_doubted(self):
        """A ball of 25 m falls by 9.81 m in its first second: more than a quarter of its radius."""
        text = SCENE.split("  - {name: block")[0].replace("mass: 2, position: [0, 0, 0.2]", "position: [0, 0, 30]")
        text += "run: {time_step: 1, duration: 5}\n"
        text = text.replace("radius: 0.1", "radius: 25")
        found = self.check(text).stderr.splitlines()
        self.assertEqual(len(found), 2, found)
        self.assertIn("s.yaml:6:5: bodies.1: a body is 50 m large and has 6.545e+07 kg; lengths are in m", found[0])
        self.assertIn("s.yaml:7:18: run.time_step: in a step of 1 s a body that is let go falls by 9.81 m", found[1])
        self.assertIn("expected at most 0.23 s", found[1])  # 0.01*50 m = g h^2
        self.assertEqual(self.check(text, quiet=True).stderr.splitlines(), found)

    def test_what_an_inlet_brings_is_doubted(self):
        pour = "generators:\n  - pour: {count: 1, rate: 1, centre: [0, 0, 99], radius: {uniform: {minimum: 5, " \
            "maximum: 25}}}\n"
        text = SCENE.split("  - {name: ball")[0] + pour + "run: {time_step: 0.1, duration: 5}\n"
        self.assertIn("s.yaml:7:59: generators.0.pour.radius: bodies of up to 50 m come in; lengths are in m",
                      self.warning(text))
        small = text.replace("minimum: 5", "minimum: 0.05").replace("maximum: 25", "maximum: 0.1")
        # 0.1 m is more than a quarter of 0.05 m
        self.assertIn("a body that is let go falls by 0.0981 m, and the smallest body is 0.1 m large",
                      self.warning(small))

    def test_a_file_in_millimetres_is_doubted_unless_its_scale_is_given(self):
        with open(os.path.join(self.home.name, "part.obj"), "w", encoding="utf-8") as file:
            file.write("v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 100\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
        text = SCENE.replace("box: {size: [1, 0.5, 0.2]}", "mesh: {file: part.obj}").replace("[1, 0, 1]", "[1, 0, 9]")
        found = self.warning(text, "bodies.floor.position.2=-9")
        self.assertIn("bodies.2: a body of this file is 100 m large and has 4.167e+08 kg; if the file is in mm, write "
                      "scale: 0.001", found)
        self.assertEqual(self.check(text.replace("part.obj", "part.obj, scale: 0.001")).stderr, "")

    def test_no_scene_of_the_tree_is_doubted(self):
        paths = glob.glob(os.path.join(ROOT, "scenes", "**", "*.yaml"), recursive=True)
        self.assertGreater(len(paths), 40)
        for path in paths:
            done = subprocess.run([CAIRN, "check", path], capture_output=True, text=True, timeout=1500, check=False)
            self.assertNotIn("WARNING", done.stderr, path)


def test_check_command():
    unittest.main(argv=["test_check_command", "Check"])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
