"""What the tests of the viewer share: a run, and `cairn view` on it."""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", ".."))
CAIRN = os.path.abspath(os.environ.get("CAIRN", os.path.join(ROOT, "build/release/tools/cairn")))

# a box on a floor that balls of two materials fall onto; gravity 10
SCENE = """cairn: 1
title: Balls and a box
dimension: 3
gravity: [0, 0, -10]
materials:
  rock: {friction: 0.5}
  rubber: {friction: 0.9, restitution: 0.3}
bodies:
  - {name: floor, motion: fixed, shape: half_space, material: rock}
  - {name: box, shape: {box: {size: [1, 1, 0.5]}}, density: 1000, position: [0, 0, 0.25], material: rock}
  - {name: low, shape: {sphere: {radius: 0.2}}, mass: 3, position: [0, 0, 0.7], material: rock}
  - {name: high, shape: {sphere: {radius: 0.3}}, mass: 2, position: [1.5, 0, 2], material: rubber}
  - {name: side, shape: {sphere: {radius: 0.25}}, mass: 1, position: [-1.5, 0, 0.25], material: rubber}
run: {time_step: 0.005, duration: 1, frame_interval: 0.05, tolerance: 1.0e-6, paraview: false, picture: false}
"""


def make_run(home, scene=SCENE, name="run"):
    """Writes home/NAME; returns its path."""
    with open(os.path.join(home, name + ".yaml"), "w", encoding="utf-8") as file:
        file.write(scene)
    subprocess.run([CAIRN, "run", name + ".yaml", "--out", name, "--quiet", "--force"], check=True, cwd=home,
                   timeout=1500)
    return os.path.join(home, name)


class Viewer:
    """`cairn WORDS --no-browser`, running; `address` is that of its page."""

    def __init__(self, *words, **more):
        self.process = subprocess.Popen([CAIRN, *words, "--no-browser"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, **more)
        first = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", first)
        if not found:
            message = first + self.process.stderr.read()
            self.process.wait(timeout=1500)
            if "was built without" in message:
                print("skipped:", message.strip())
                sys.exit(77)
            raise AssertionError(message)
        self.address, self.port, self.token = found.group(0), int(found.group(1)), found.group(2)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=1500)
