#!/usr/bin/env python3
"""The program `cairn` from outside: what it prints, what it writes, how it ends; and the JSON Schema of its
scenes:  test_cli.py GROUP"""
import copy
import glob
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree


# ==== test_cli: usage, lists, checks, texts, inputs, runs, interrupts =====================================

CAIRN = os.environ.get("CAIRN", "build/release/tools/cairn")
# a ball 0.1 m above a floor
BALL = """\
cairn: 1
title: A ball on a floor
dimension: 3
gravity: [0, 0, -10]
materials: {rock: {friction: 0.3}}
bodies:
  - {name: floor, motion: fixed, shape: {half_space: {}}}
  - {name: ball, shape: {sphere: {radius: 0.1}}, mass: 2, position: [0, 0, 0.2]}
run: {time_step: 0.01, duration: 0.5, scheme: convex, solver: pgs, tolerance: 1e-6}
"""
# a pile that one iteration cannot solve
PILE = """\
cairn: 1
title: A pile
dimension: 2
gravity: [0, -10]
materials: {rock: {friction: 0.3}}
bodies:
  - {name: floor, motion: fixed, shape: {half_space: {}}}
generators:
  - pile: {rows: 8, origin: [0, 0.1], radius: 0.1, density: 1000}
run: {time_step: 0.01, duration: 0.05, scheme: convex, solver: pgs, tolerance: 1e-10,
      max_iterations: 1}
"""


class Program(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.scene = self.write("ball.yaml", BALL)

    def tearDown(self):
        self.home.cleanup()

    def path(self, name):
        return os.path.join(self.home.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def run_cairn(self, *words, code=0):
        done = subprocess.run([CAIRN, *words], cwd=self.home.name, capture_output=True, text=True,
                              timeout=1500, check=False)
        self.assertEqual(done.returncode, code, f"{words}: {done.stdout}{done.stderr}")
        return done

    def value(self, output, name):
        """What stands behind `name` in a table of the program."""
        for line in output.splitlines():
            if line.startswith("  " + name + " "):
                return line[len(name) + 2:].strip()
        self.fail(f"no line '{name}' in:\n{output}")


class Usage(Program):
    def test_without_arguments_tells_the_commands_and_fails(self):
        out = self.run_cairn(code=2).stdout
        for command in ("run", "check", "list", "info", "help"):
            self.assertIn(f"\n  {command} ", out)

    def test_version(self):
        lines = self.run_cairn("--version").stdout.split("\n")
        self.assertEqual(lines[0], "cairn 0.1.0")
        # a build for MPI names its library
        self.assertEqual(len(lines[1:-1]), 1 if os.environ.get("CAIRN_MPIEXEC") else 0)
        self.assertEqual(lines[-1], "")

    def test_help_of_run_tells_its_flags(self):
        out = self.run_cairn("help", "run").stdout
        for flag in ("--out", "--set", "--quiet", "--threads", "--help"):
            self.assertIn(flag, out)
        self.assertEqual(self.run_cairn("run", "--help").stdout, out)

    def test_unknown_command_gives_the_nearest(self):
        self.assertIn("did you mean 'run'?", self.run_cairn("rnu", code=2).stderr)
        self.assertIn("did you mean 'check'?", self.run_cairn("help", "chekc", code=2).stderr)

    def test_unknown_flag_gives_the_nearest(self):
        done = self.run_cairn("run", "x.yaml", "--otu", "y", code=2)
        self.assertIn("did you mean '--out'?", done.stderr)
        self.run_cairn("check", "x.yaml", "--threads", "2", code=2)

    def test_bad_values_of_flags(self):
        for words in (["run", "x", "--threads", "-1"], ["run", "x", "--threads", "two"],
                      ["run", "x", "--set", "nothing"], ["run", "x", "--set", "=1"],
                      ["run", "x", "--out"], ["run", "x", "--out="], ["run", "x", "--quiet=1"],
                      ["run", "x", "y"], ["run"], ["check"], ["info"], ["run", ""]):
            self.assertIn("Try 'cairn help", self.run_cairn(*words, code=2).stderr)

    def test_a_missing_operand_is_named_alone(self):
        for command, operand in (("run", "SCENE"), ("stat", "RUN"), ("solve", "FILE")):
            self.assertTrue(self.run_cairn(command, code=2).stderr.startswith(
                f"cairn {command}: {operand}: is missing\n"))

    def test_what_is_written_to_must_be_a_folder(self):
        problem = "ball.yaml: found a file, expected a folder\n"
        for command in ("run", "compare"):
            done = self.run_cairn(command, self.scene, "--out", self.scene, code=1)
            self.assertTrue(done.stderr.endswith(problem), done.stderr)
            self.assertEqual(done.stdout, "")  # said before any work is done
        self.assertTrue(self.run_cairn("reproduce", "--out", self.scene, code=1).stderr.endswith(problem))

    def test_what_is_resumed_must_be_the_folder_of_a_run(self):
        expected = "expected the folder of a run\n"
        self.assertEqual(self.run_cairn("resume", "nowhere", code=1).stderr,
                         "nowhere: there is no such folder, " + expected)
        self.assertEqual(self.run_cairn("resume", "ball.yaml", code=1).stderr,
                         "ball.yaml: found a file, " + expected)

    def test_full_disk_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([CAIRN, "list"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=1500, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("writing the output failed", done.stderr)


class List(Program):
    def test_every_topic_has_its_names(self):
        names = {
            "schemes": "frictionless convex fixed-point",
            "solvers": "auto pgs apgd-asr",
            "backends": "host scalar",
            "broad-phases": "grid",
            "shapes": "sphere point half_space inside_cylinder inside_cone funnel radius half_angle",
            "generators": "grid hexagonal pile fill spacing rows rate",
            "drivers": "velocity shake rotation table motion frequency spin",
            "loads": "constant sine table function force",
            "functions": "constant table harmonic ramp amplitude from",
            "outlets": "box half_space height age",
            "events": "time settled mass_below force_above flow_stops",
            "friction-laws": "constant stribeck static dynamic speeds values",
            "distributions": "constant uniform normal lognormal list sieve deviation by",
            "options": "time_step duration tolerance friction restitution density",
        }
        everything = self.run_cairn("list").stdout
        for topic, expected in names.items():
            out = self.run_cairn("list", topic).stdout
            self.assertIn(out, everything)
            words = [line.split()[0] for line in out.splitlines() if line.startswith("  ")]
            for name in expected.split():
                self.assertIn(name, words, f"list {topic}")

    def test_an_option_tells_unit_range_default(self):
        lines = self.run_cairn("list", "options").stdout.splitlines()
        at = next(i for i, line in enumerate(lines) if line.split()[:1] == ["time_step"])
        self.assertIn("a number > 0", lines[at + 1])
        self.assertIn(" in s; required", lines[at + 1])
        at = next(i for i, line in enumerate(lines) if line.split()[:1] == ["warm_start"])
        self.assertIn("true or false; default true", lines[at + 1])

    def test_no_summary_is_missing(self):
        self.assertNotIn("(null)", self.run_cairn("list").stdout)

    def test_schema_is_json(self):
        self.assertIn("properties", json.loads(self.run_cairn("list", "schema").stdout))

    def test_help_names_every_topic(self):
        topics = self.run_cairn("list", "nothing", code=2).stderr.split("Topics:")[1].split()
        self.assertIn("joints", topics)
        told = re.split(r"[\s,.:]+", self.run_cairn("help", "list").stdout)
        self.assertEqual([topic for topic in topics if topic not in told], [])

    def test_unknown_topic_gives_the_nearest(self):
        done = self.run_cairn("list", "shape", code=2)
        self.assertIn("did you mean 'shapes'?", done.stderr)


class Check(Program):
    def test_a_good_scene_is_described(self):
        out = self.run_cairn("check", self.scene).stdout
        self.assertTrue(out.startswith(f"{self.scene}: ok\n"))
        self.assertEqual(self.value(out, "bodies"), "2: 1 dynamic 1 fixed")
        self.assertEqual(self.value(out, "dynamic mass"), "2 kg")
        self.assertEqual(self.value(out, "duration"), "0.5 s: 50 steps")

    def test_an_error_has_file_line_column_and_key(self):
        bad = self.write("bad.yaml", BALL.replace("time_step: 0.01", "time_step: -1"))
        done = self.run_cairn("check", bad, code=3)
        self.assertTrue(done.stderr.startswith(f"{bad}:9:18: run.time_step: "), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertEqual(self.run_cairn("run", bad, code=3).stderr, done.stderr)

    def test_a_missing_file_fails(self):
        self.assertIn("nowhere.yaml", self.run_cairn("check", "nowhere.yaml", code=1).stderr)

    def test_set_overrides(self):
        out = self.run_cairn("check", self.scene, "--set", "run.time_step=0.05",
                             "--set=run.duration=1").stdout
        self.assertEqual(self.value(out, "duration"), "1 s: 20 steps")

    def test_set_finds_bodies_by_name(self):
        out = self.run_cairn("check", self.scene, "--set", "bodies.ball.mass=7").stdout
        self.assertEqual(self.value(out, "dynamic mass"), "7 kg")

    def test_a_bad_override_names_its_key(self):
        done = self.run_cairn("check", self.scene, "--set", "run.time_stp=1", code=3)
        self.assertIn("time_stp", done.stderr)


class Texts(Program):
    """What files say reaches the terminal as text."""
    EVIL = BALL.replace("title: A ball on a floor", 'title: "red \\e[31m bell \\a line\\nnext"')
    SHOWN = r"red \x1b[31m bell \x07 line\nnext"

    def test_titles_do_not_command_the_terminal(self):
        scene = self.write("evil.yaml", self.EVIL)
        outputs = [self.run_cairn("check", scene).stdout, self.run_cairn("info", scene).stdout,
                   self.run_cairn("run", scene, "--out", "evil").stdout,
                   self.run_cairn("info", "evil").stdout, self.run_cairn("explain", "evil").stdout]
        for out in outputs:
            self.assertIn(self.SHOWN, out)
            self.assertNotIn("\x1b", out)
            self.assertNotIn("\x07", out)

    def test_the_picture_of_such_a_title_is_right_xml(self):
        scene = self.write("evil.yaml", self.EVIL)
        self.run_cairn("run", scene, "--out", "evil", "--quiet")
        xml.etree.ElementTree.parse(self.path("evil/picture.svg"))

    def test_errors_do_not_either(self):
        for key in ('"\\e[31m": 1', 'title: ["\\e[31m"]', '? "\\e]0;a\\a"\n: 1',
                    'run: {scheme: "\\e[31m"}'):
            scene = self.write("evil.yaml", key + "\ncairn: 1\n")
            done = self.run_cairn("check", scene, code=3)
            self.assertNotIn("\x1b", done.stderr)
            self.assertNotIn("\x07", done.stderr)

    def test_a_zero_in_a_text_is_refused_at_its_place(self):
        scene = self.write("zero.yaml", BALL.replace("A ball on a floor", '"a \\0 b"'))
        done = self.run_cairn("check", scene, code=3)
        self.assertIn("zero.yaml:2:8: the text has a zero character", done.stderr)

    def test_a_mark_of_utf8_is_passed_over(self):
        scene = self.write("marked.yaml", "\ufeff" + BALL)
        self.assertEqual(self.value(self.run_cairn("check", scene).stdout, "title"),
                         "A ball on a floor")


class Inputs(Program):
    """Nothing waits for a writer that never comes."""
    def test_fifos_are_refused(self):
        os.mkfifo(self.path("fifo.yaml"))
        os.mkfifo(self.path("fifo.h5"))
        for words, code in ((("check", "fifo.yaml"), 3), (("run", "fifo.yaml"), 3),
                            (("info", "fifo.yaml"), 3), (("info", "fifo.h5"), 1),
                            (("solve", "fifo.h5"), 3), (("stat", "fifo.h5"), 1),
                            (("explain", "fifo.h5"), 1)):
            done = self.run_cairn(*words, code=code)
            self.assertIn("is not a plain file but a FIFO", done.stderr)

    def test_standard_input_is_read(self):
        done = subprocess.run([CAIRN, "check", "/dev/stdin"], input=BALL, capture_output=True,
                              text=True, timeout=1500, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_time_step_that_never_ends_is_refused(self):
        done = self.run_cairn("run", self.scene, "--set", "run.time_step=1e-300", code=3)
        self.assertIn("run.time_step: found 1e-300 s", done.stderr)
        self.assertIn("at most 2^53 (9e15) steps", done.stderr)


    def test_a_time_step_longer_than_the_run_is_refused(self):
        for command in ("check", "run"):
            done = self.run_cairn(command, self.scene, "--set", "run.time_step=1", "--set",
                                  "run.duration=1e-9", code=3)
            self.assertIn("run.time_step: found 1 s for a duration of 1e-09 s", done.stderr)
        self.run_cairn("check", self.scene, "--set", "run.time_step=0.5")  # one step: the duration


class Run(Program):
    def test_a_run_leaves_its_folder_and_a_summary(self):
        done = self.run_cairn("run", self.scene, "--out", "here", "--threads", "1")
        for name in ("run.h5", "summary.json"):
            self.assertTrue(os.path.exists(self.path("here/" + name)), name)
            self.assertIn("here/" + name, done.stdout)
        self.assertEqual(self.value(done.stdout, "time"), "0.5 s of 0.5 s")
        self.assertTrue(self.value(done.stdout, "steps").startswith("50 "))
        for part in ("collide", "assemble", "solve", "finish", "write", "other"):
            self.assertIn(" %", self.value(done.stdout, part))
        # m g z: 2 * 10 * 0.2 at the start; at the end the ball lies at 0.1
        self.assertEqual(self.value(done.stdout, "at the start"), "4 J")
        self.assertTrue(self.value(done.stdout, "= at the end").startswith("2 J"))

    def test_the_summary_leaves_out_what_is_0_throughout(self):
        out = self.run_cairn("run", self.scene).stdout
        rows = [line[2:].split("  ")[0] for line in out.splitlines() if line.startswith("  ")]
        for row in ("+ motors", "- damping", "- falling asleep", "joint drift", "friction direction"):
            self.assertNotIn(row, rows)
        for row in ("- impacts", "penetration", "residual, chosen law"):
            self.assertIn(row, rows)

    def test_the_summary_says_what_a_tolerance_allows(self):
        # h g is 0.1 m/s; 1e-3 allows 1/1.009 % of it
        out = self.run_cairn("run", self.scene, "--set", "run.tolerance=1e-3").stdout
        self.assertRegex(self.value(out, "every contact"),
                         r"^wrong by at most \S+ m/s; 0.00099 m/s is allowed at rest$")
        told = self.run_cairn("explain", "out/ball").stdout
        self.assertIn("0.00099 m/s where gravity alone acts, 0.991 % of what a contact removes", told)

    def test_the_error_of_the_step_has_its_sign_and_says_what_it_is(self):
        # h m g (v_end - v_start)/2, here 0.01 * 2 * -10 * (v_end - v_start)/2 J: a fall to -1 m/s
        # loses 0.1 J, a ball thrown down at 1 m/s that ends at rest gains as much
        out = self.run_cairn("run", self.scene, "--set", "run.duration=0.1").stdout
        self.assertRegex(self.value(out, "- time stepping"), r"^0\.1 J  lost by steps of finite length")
        out = self.run_cairn("run", self.scene, "--out", "down", "--set", "run.duration=0.2",
                             "--set", "bodies.ball.velocity=[0, 0, -1]").stdout
        self.assertRegex(self.value(out, "+ time stepping"), r"^0\.1 J  gained by steps of finite length")

    def test_the_step_is_checked_by_half_of_it(self):
        # after t = 0.2 s a free fall is g h t/2 too deep: half the step moves it by 10 * 0.01 * 0.2/4 = 5 mm of
        # 0.2 + 0.01 m, 2.38 %, so that 0.01 * 1 %/(2 * 2.38 %) = 0.0021 s would have an error of 1 %
        self.run_cairn("run", self.scene, "--out", "fall", "--set", "run.duration=0.2", "--set", "bodies.ball.position=[0, 0, 9]",
                       "--set", "gravity=[0, 0, -10]", "--set", "run.time_step=0.01")
        done = self.run_cairn("explain", "fall", "--step-length")
        self.assertRegex(done.stdout, r"places of bodies, rms +m +0 +0\.005 +2\.38 % +0 +0 %")
        self.assertIn("The step of 0.01 s is too long", done.stdout)
        self.assertIn("about run.time_step: 0.0021 would", done.stdout)
        self.assertIn("three runs of the scene, 0.2 s of its time each", done.stderr)
        self.assertIn("run 3 of 3: a tenth of the tolerance", done.stderr)
        with open(self.path("fall/plots/step-length.gp"), encoding="utf-8") as file:
            ranges = re.findall(r"set yrange \[0:(.*)\]", file.read())
        self.assertEqual(ranges[:2], ["*", "*"])  # panels begin at 0, and show no change that does not count as large
        self.assertEqual([float(end) > 1e-3 for end in ranges[2:]], [True, True])
        done = self.run_cairn("explain", "fall", "--step-length", "-q", "--set", "run.time_step=1e-3", "--duration", "0.1",
                              "--out", "drawn")
        self.assertIn("the first 0.1 s of the scene, 100 samples", done.stdout)
        self.assertIn("The step of 0.001 s is short enough: half of it changes nothing above by more than 1 %", done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertTrue(os.path.exists(self.path("drawn/step-length.gp")))

    def test_what_depends_on_the_tolerance_is_not_due_to_the_step(self):
        heap = """cairn: 1
dimension: 2
bodies: [{motion: fixed, shape: {inside_cone: {half_angle: 1}}}]
generators: [{grid: {count: [5, 6], spacing: [0.21, 0.21], radius: 0.1, origin: [-0.4, 1]}}]
run: {time_step: 5e-3, duration: 1, tolerance: 0.3, paraview: false, picture: false, state: false}
"""
        self.run_cairn("run", self.write("heap.yaml", heap), "--out", "heap")
        said = self.run_cairn("explain", "heap", "--step-length", "-q").stdout
        self.assertIn("A tenth of the tolerance, with the same step, changes:\n  places of bodies, rms", said)
        self.assertIn("run.tolerance: 0.03) or on chance", said)

    def test_a_check_of_the_step_refuses_what_it_cannot_do(self):
        self.run_cairn("run", self.scene)
        for words, code, piece in ((["--duration", "1"], 2, "need --step-length"),
                                   (["--step-length", "--duration", "0"], 2, "expected a number > 0, in s"),
                                   (["--step-length", "--seconds", "soon"], 2, "expected a number > 0, in s"),
                                   (["--step-length", "--scene", "none.yaml"], 1, "none.yaml"),
                                   (["--step-length", "--out", "out/ball/run.h5/none"], 1, "Not a directory"),
                                   (["--step-length", "--set", "run.steps=3"], 3, "unknown key 'steps'")):
            self.assertIn(piece, self.run_cairn("explain", "out/ball", *words, code=code).stderr, words)
        self.assertIn("none", self.run_cairn("explain", "none", "--step-length", code=1).stderr)
        hook = os.path.join(ROOT, "scenes", "hook.yaml")  # names a mesh by a file beside it
        self.run_cairn("run", hook, "--out", "hook", "--set", "run.duration=0.01", "--set", "run.picture=false")
        said = self.run_cairn("explain", "hook", "--step-length", code=3).stderr
        self.assertIn("hook.obj", said)
        self.assertIn("if it names other files, give it with --scene FILE", said)
        said = self.run_cairn("explain", "hook", "--step-length", "--scene", hook, "--duration", "0.01").stdout
        self.assertIn("the first 0.01 s of the scene, 5 samples", said)

    def test_only_files_that_are_there_are_named(self):
        out = self.run_cairn("run", self.scene).stdout
        self.assertIn("  out/ball/paraview/bodies.pvd\n", out)
        self.assertNotIn("shapes.pvd", out)
        cube = BALL.replace("sphere: {radius: 0.1}", "box: {size: [0.1, 0.1, 0.1]}")
        out = self.run_cairn("run", self.write("cube.yaml", cube)).stdout
        self.assertIn("  out/cube/paraview/shapes.pvd\n", out)
        self.assertNotIn("bodies.pvd", out)
        for name in re.findall(r"^  (out/cube/\S+)", out, re.MULTILINE):
            self.assertTrue(os.path.exists(self.path(name)), name)

    def test_bodies_are_called_by_their_names(self):
        out = self.run_cairn("run", self.scene).stdout
        self.assertEqual(self.value(out, "largest displacement"), "0.1 m since the start, body 'ball'")

    def test_a_run_may_end_at_rest(self):
        done = self.run_cairn("run", self.scene, "--set", "run.duration=2", "--set",
                              "run.rest_speed=1e-3")
        self.assertTrue(self.value(done.stdout, "time").endswith(" s of 2 s, at rest"))

    def test_plain_progress_has_the_tenths(self):
        lines = self.run_cairn("run", self.scene).stderr.splitlines()
        percents = [int(line.split("%")[0]) for line in lines if "%" in line]
        self.assertEqual(percents, list(range(10, 101, 10)))
        self.assertIn("bodies 2", lines[0])

    def test_the_default_folder_is_named_after_the_scene(self):
        self.run_cairn("run", self.scene, "--quiet")
        self.assertTrue(os.path.exists(self.path("out/ball/run.h5")))

    def test_a_folder_that_holds_a_run_is_refused_without_force(self):
        first = self.value(self.run_cairn("run", self.scene).stdout, "hash")
        done = self.run_cairn("run", self.scene, "--set", "bodies.ball.mass=3", code=1)
        self.assertEqual(done.stderr, "out/ball: this folder holds a run (complete, t = 0.5 s): --force "
                                      "replaces it, --out names another folder\n")
        self.assertEqual(self.value(self.run_cairn("info", "out/ball").stdout, "hash"), first)
        self.run_cairn("run", self.scene, "--force", "--set", "bodies.ball.position=[0, 0, 0.3]")
        self.assertNotEqual(self.value(self.run_cairn("info", "out/ball").stdout, "hash"), first)

    def test_a_run_that_was_stopped_says_how_to_go_on(self):
        child = subprocess.Popen([CAIRN, "run", self.scene, "--set", "run.duration=1e5", "--set",
                                  "run.frame_interval=1e4", "--set", "run.checkpoint_every=1"],
                                 cwd=self.home.name, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        while child.poll() is None and not os.path.exists(self.path("out/ball/checkpoint")):
            time.sleep(0.02)
        busy = self.run_cairn("run", self.scene, code=1).stderr
        self.assertIn("another run is writing into this folder", busy)
        child.kill()
        child.wait()
        self.assertIn("'cairn resume out/ball' goes on with it",
                      self.run_cairn("run", self.scene, code=1).stderr)

    def test_quiet_prints_nothing(self):
        done = self.run_cairn("run", self.scene, "-q", "-o", "here")
        self.assertEqual(done.stdout + done.stderr, "")

    def test_the_same_run_gives_the_same_hash(self):
        first = self.run_cairn("run", self.scene, "--out", "a", "--threads", "1")
        second = self.run_cairn("run", self.scene, "--out", "b", "--threads", "2")
        other = self.run_cairn("run", self.scene, "--out", "c", "--set", "bodies.1.mass=3",
                               "--set", "bodies.1.position=[0, 0, 0.3]")
        found = self.value(first.stdout, "hash")
        self.assertEqual(found, self.value(second.stdout, "hash"))
        self.assertNotEqual(found, self.value(other.stdout, "hash"))
        info = self.run_cairn("info", "a").stdout
        self.assertEqual(self.value(info, "hash"), found)
        self.assertEqual(self.value(info, "title"), "A ball on a floor")

    def test_a_folder_that_cannot_be_made_fails(self):
        done = self.run_cairn("run", self.scene, "--out", "/dev/null/x", code=1)
        self.assertIn("/dev/null/x", done.stderr)

    def test_missed_tolerance_is_said_loudly(self):
        pile = self.write("pile.yaml", PILE)
        done = self.run_cairn("run", pile, "--quiet")
        self.assertIn("WARNING: ", done.stderr)
        self.assertIn(" of 5 steps missed the tolerance 1e-10", done.stderr)

    def test_bodies_that_find_no_place_at_an_inlet_are_said_loudly(self):
        # the first ball stays where it came and fills the region
        pour = self.write("pour.yaml", """\
cairn: 1
gravity: [0, 0, 0]
generators:
  - pour: {name: top, count: 10, rate: 1000, centre: [0, 0, 0], size: [0, 0, 0], radius: 0.1}
run: {time_step: 0.01, duration: 0.1}
""")
        done = self.run_cairn("run", pour)
        self.assertIn("1 of 10 bodies came; 9 found no place, 0 are due later", done.stdout)
        self.assertIn("WARNING: 9 of 10 bodies of inlets did not come", done.stderr)
        self.assertIn("at the inlet top", done.stderr)

    def test_a_deep_overlap_is_said_loudly_whatever_the_residual(self):
        # by moreau-jean the ball, 14 mm a step, is stopped when it is in the floor at mid-step
        done = self.run_cairn("run", self.scene, "--quiet", "--set", "run.scheme=moreau-jean")
        self.assertRegex(done.stderr, r"WARNING: in \d+ of 50 steps bodies overlap by more than 1 %")
        self.assertIn("bodies 'floor' and 'ball'", done.stderr)
        with open(self.path("out/ball/summary.json"), encoding="utf-8") as file:
            certificate = json.load(file)["certificate"]
        self.assertLess(certificate["worst"]["asked_relative"], 1e-6)
        self.assertGreater(certificate["overlap"], 0.01)
        self.assertGreater(certificate["deep_steps"], 0)

    def test_a_step_that_goes_too_far_fails_and_names_one_that_would_do(self):
        cube = BALL.replace("sphere: {radius: 0.1}", "box: {size: [0.1, 0.1, 0.1]}")
        done = self.run_cairn("run", self.write("cube.yaml", cube), "--set", "run.time_step=10",
                              "--set", "run.duration=100", "--set", "run.max_substeps=1", code=1)
        self.assertIn("run.time_step: step 1 from t = 0 s failed: body 'ball' would move by", done.stderr)
        advised = float(re.search(r"expected at most (\S+) s", done.stderr).group(1))
        self.run_cairn("run", self.path("cube.yaml"), "--set", f"run.time_step={advised}")

    def test_strict_stops_at_the_first_step_that_missed(self):
        pile = self.write("pile.yaml", PILE)
        done = self.run_cairn("run", pile, "--strict", "--out", "strict", code=4)
        self.assertRegex(done.stderr, r"stopped: step (\d+) to t = \S+ s missed its tolerance")
        step = re.search(r"stopped: step (\d+)", done.stderr).group(1)
        info = self.run_cairn("info", "strict").stdout
        self.assertEqual(self.value(info, "missed tolerance"), f"1 steps: {step}")

    def test_missed_tolerance_stops_when_asked(self):
        pile = self.write("pile.yaml", PILE)
        done = self.run_cairn("run", pile, "--set", "run.on_uncertified=stop", code=4)
        self.assertIn("run.on_uncertified", done.stderr)
        self.assertEqual(self.value(done.stdout, "time"), "0.01 s of 0.05 s, stopped")
        self.assertTrue(os.path.exists(self.path("out/pile/run.h5")))


class Interrupt(Program):
    def start_long(self, stderr):
        # 10^7 steps, with few frames: far more than there is time for
        return subprocess.Popen([CAIRN, "run", self.scene, "--out", "long", "--set",
                                 "run.duration=1e5", "--set", "run.frame_interval=1e4"],
                                cwd=self.home.name, stdout=subprocess.PIPE, stderr=stderr)

    def check_signal(self, number):
        child = self.start_long(subprocess.PIPE)
        # run.h5.part, or whatever it writes first, tells that it is under way
        while child.poll() is None and not (os.path.isdir(self.path("long")) and os.listdir(self.path("long"))):
            time.sleep(0.02)
        child.send_signal(number)
        out, err = child.communicate(timeout=1500)
        self.assertEqual(child.returncode, 128 + number, err)
        self.assertIn(b"the results so far are kept", err)
        self.assertIn(b", interrupted", out)
        with open(self.path("long/summary.json"), encoding="utf-8") as file:
            json.load(file)
        steps = self.value(self.run_cairn("info", "long").stdout, "time")
        self.assertGreater(int(steps.split(" in ")[1].split()[0]), 0)
        self.assertIn(b"to continue: cairn resume long", err)
        self.assertTrue(os.path.exists(self.path("long/checkpoint")))

    def test_ctrl_c_keeps_what_was_computed(self):
        self.check_signal(signal.SIGINT)

    def test_sigterm_keeps_what_was_computed(self):
        self.check_signal(signal.SIGTERM)

    def test_resume_tells_when_there_is_nothing_to_resume(self):
        self.run_cairn("run", self.scene, "--out", "short", "--quiet")
        result = self.run_cairn("resume", "short", code=1)
        self.assertIn("this run is finished (complete, t = 0.5 s)", result.stderr)

    def test_a_terminal_gets_one_redrawn_line(self):
        try:
            master, slave = pty.openpty()
        except OSError as problem:
            self.skipTest("no terminal to be had: %s" % problem)
        child = self.start_long(slave)
        os.close(slave)
        shown = b""
        while shown.count(b"\r\x1b[K") < 3 and child.poll() is None:
            if select.select([master], [], [], 1)[0]:
                shown += os.read(master, 4096)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=1500)
        os.close(master)
        self.assertGreaterEqual(shown.count(b"\r\x1b[K"), 3)
        self.assertNotIn(b"\n", shown)
        self.assertIn(b"contacts", shown)


class Info(Program):
    def test_a_scene(self):
        out = self.run_cairn("info", self.scene).stdout
        self.assertTrue(out.startswith(f"{self.scene}: a scene\n"))

    def test_what_is_no_run(self):
        fake = self.write("fake.h5", "not HDF5")
        self.assertIn("fake.h5", self.run_cairn("info", fake, code=1).stderr)
        os.mkdir(self.path("empty"))
        self.assertIn("empty", self.run_cairn("info", "empty", code=1).stderr)


def test_cli():
    unittest.main(argv=["test_cli", "Usage", "List", "Check", "Texts", "Inputs", "Run", "Interrupt", "Info"])


# ==== test_scene_schema: JSON that accepts every scene of the tree and refuses wrong ones =================

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
try:
    import jsonschema
    import yaml
except ImportError:
    jsonschema = None
SMALL = {"cairn": 1, "run": {"time_step": 0.001, "duration": 1},
         "bodies": [{"shape": {"sphere": {"radius": 1}}, "mass": 1, "position": [0, 0, 0]}],
         "generators": [{"grid": {"count": [1, 1, 1], "spacing": [1, 1, 1], "radius": 1}}]}
# path to a value, and what must not stand there
WRONG_VALUES = [(["cairn"], 2), (["dimension"], 4), (["gravitiy"], [0, 0, 0]), (["run", "time_step"], 0),
         (["run", "time_step"], "fast"), (["run", "scheme"], "none"), (["run", "contacts"], 1),
         (["bodies", 0, "mass"], -1), (["bodies", 0, "motion"], "flying"),
         (["bodies", 0, "shape"], {"spere": {}}), (["bodies", 0, "shape"], {"sphere": {}}),
         (["bodies", 0, "shape"], "sphere"), (["bodies", 0, "position"], [0]),
         (["bodies", 0, "drivers"], [{"shake": {"amplitude": [0, 0, 1]}}]),
         (["generators", 0, "grid", "radius"], {"uniform": {"minimum": 1}}),
         (["generators", 0, "grid", "radius"], "big"), (["materials"], {"rock": {"friction": -1}}),
         (["materials"], {"rock": {"restitution_law": "hooke"}}),
         (["materials"], {"rock": {"friction_law": {"stribeck": {"static": 1}}}})]


def schema():
    done = subprocess.run([CAIRN, "list", "schema"], capture_output=True, text=True, timeout=1500,
                          check=True)
    return json.loads(done.stdout)


def load_yaml(path):
    """YAML 1.2 numbers: PyYAML alone takes 1e-3 for a text."""
    class Loader(yaml.SafeLoader):
        pass
    number = re.compile(r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)$")
    Loader.add_implicit_resolver("tag:yaml.org,2002:float", number, list("-+.0123456789"))
    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader)


def names_of(part):
    """All names of properties anywhere in a schema."""
    names = set()
    if isinstance(part, dict):
        names |= set(part.get("properties", {}))
        for value in part.values():
            names |= names_of(value)
    elif isinstance(part, list):
        for value in part:
            names |= names_of(value)
    return names


def scene_pages():
    """The pages that describe scenes."""
    text = ""
    for name in ("scene-format.md", "scene-bodies.md", "scene-parts.md", "processes.md", "series.md",
                 "laboratory.md", "periodic.md"):
        with open(os.path.join(ROOT, "docs", name), encoding="utf-8") as file:
            text += file.read()
    return text


class Schema(unittest.TestCase):
    def test_the_page_names_every_key(self):
        page = scene_pages()
        names = names_of(schema())
        self.assertGreater(len(names), 80)
        self.assertEqual([name for name in sorted(names) if f"`{name}`" not in page], [])

    def test_the_examples_of_the_page_are_right(self):
        blocks = re.findall(r"```yaml\n(.*?)```", scene_pages(), re.DOTALL)
        parts = {re.match(r"\w+", b).group(): b for b in blocks if not b.startswith("#")}
        self.assertEqual(sorted(parts), ["bodies", "cairn", "generators", "joints", "materials",
                                         "run", "title"])
        head = "cairn: 1\n" + parts["run"]
        default = "materials: {rock: {}, wall: {}}\n"
        for text in (parts["cairn"], head + parts["materials"], head + default + parts["bodies"],
                     parts["cairn"] + parts["joints"], head + parts["generators"],
                     "cairn: 1\n" + parts["title"]):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "example.yaml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
                done = subprocess.run([CAIRN, "check", path], capture_output=True, text=True,
                                      timeout=1500, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_it_is_json_with_every_part(self):
        s = schema()
        self.assertEqual(s["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertEqual(sorted(s["$defs"]), sorted(
            ["run", "material", "pair", "body", "part", "orientation", "shape", "driver", "load",
             "joint", "drive", "distribution", "generator", "friction_law", "measure", "function",
             "driven_group", "outlet", "event", "condition", "start", "series", "cell", "cell_axis",
             "periodic"]))
        self.assertEqual(s["required"], ["cairn", "run"])
        self.assertEqual(s["$defs"]["run"]["required"], ["time_step", "duration"])
        self.assertEqual(s["$defs"]["run"]["properties"]["time_step"]["exclusiveMinimum"], 0)
        self.assertEqual(s["$defs"]["run"]["properties"]["on_uncertified"]["enum"],
                         ["warn", "stop"])
        self.assertEqual(s["$defs"]["material"]["properties"]["friction"]["default"], 0.5)

    @unittest.skipUnless(jsonschema, "the python packages jsonschema and yaml are not there")
    def test_the_scenes_of_the_tree_are_accepted(self):
        check = jsonschema.Draft202012Validator(schema())
        scenes = [path for folder in ("scenes", "scenes/laboratory", "scenes/periodic", "scenes/series", "scenes/trust")
                  for path in glob.glob(os.path.join(ROOT, folder, "*.yaml"))]
        self.assertGreater(len(scenes), 5)
        for path in scenes:
            errors = [e.message for e in check.iter_errors(load_yaml(path))]
            self.assertEqual(errors, [], path)

    @unittest.skipUnless(jsonschema, "the python packages jsonschema and yaml are not there")
    def test_wrong_scenes_are_refused(self):
        jsonschema.Draft202012Validator.check_schema(schema())
        check = jsonschema.Draft202012Validator(schema())
        self.assertTrue(check.is_valid(SMALL))
        for path, value in WRONG_VALUES:
            scene = copy.deepcopy(SMALL)
            place = scene
            for part in path[:-1]:
                place = place[part]
            place[path[-1]] = value
            self.assertFalse(check.is_valid(scene), f"{path} = {value}")


def test_scene_schema():
    if not jsonschema:
        print("the python packages jsonschema and yaml are not there: scenes are not validated")
    unittest.main(argv=["test_scene_schema", "Schema"])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
