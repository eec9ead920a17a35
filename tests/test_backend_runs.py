#!/usr/bin/env python3
"""Back ends from outside: run.backend, cairn solve --backend, cairn list backends, with a plug-in of the
tests in CAIRN_BACKENDS."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

CAIRN = os.environ.get("CAIRN", "build/release/tools/cairn")
PLUGINS = os.environ.get("CAIRN_PLUGINS", "build/release/tests/plugins")

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
                              timeout=200, check=False, env=dict(os.environ, CAIRN_BACKENDS=backends))
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
        self.assertRegex(out, r"\n  old +not usable: .*is of version 2 of the interface, expected 1")
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

    def test_a_run_on_a_plugin_is_resumed_on_it(self):
        whole = self.run_on("reversed", "-s", "run.duration=2")["hash"]
        child = subprocess.Popen([CAIRN, "run", self.scene, "-q", "-o", self.path("part"), "-s",
                                  "run.backend=reversed", "-s", "run.duration=2", "-s",
                                  "run.checkpoint_every=0.02"],
                                 env=dict(os.environ, CAIRN_BACKENDS=PLUGINS))
        while child.poll() is None and not os.path.exists(self.path("part", "checkpoint")):
            time.sleep(0.002)
        child.send_signal(signal.SIGTERM)
        child.wait()
        if child.returncode == 0:
            self.skipTest("the run was over before it could be stopped")
        shutil.copytree(self.path("part"), self.path("copy"))
        self.assertIn("backend", self.cairn("resume", self.path("copy"), backends="/nowhere", code=1).stderr)
        self.cairn("resume", self.path("part"), "-q")
        self.assertEqual(self.summary("part")["hash"], whole)
        self.assertEqual(self.summary("part")["settings"]["backend"], "reversed")

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


if __name__ == "__main__":
    unittest.main()
