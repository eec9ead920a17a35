#!/usr/bin/env python3
"""Runs small scenes with the program and gives the run folders to check_h5.py and check_vtk.py."""
import os
import subprocess
import sys
import tempfile

ROOT = os.environ.get("CAIRN_SOURCE_DIR") or os.path.join(os.path.dirname(__file__), "..", "..")
CAIRN = os.environ.get("CAIRN", os.path.join(ROOT, "build/release/tools/cairn"))
SKIPPED = 77

# a name, the scene
SCENES = {
    "pour": """
cairn: 1
title: a pour into a vessel with a conical bottom, in front of a moving wall
dimension: 3
materials: {rock: {friction: 0.4, restitution: 0.1}}
bodies:
  - {name: cone, motion: fixed, shape: {inside_cone: {half_angle: 1.0}}, position: [0, 0, 0]}
  - {name: vessel, motion: fixed, shape: {inside_cylinder: {radius: 0.5}}}
  - name: piston
    motion: driven
    shape: {half_space: {axis: [-1, 0, 0]}}
    position: [0.45, 0, 0]
    drivers: [{shake: {amplitude: [0.02, 0, 0], frequency: 5}}]
  - {name: ball, shape: {sphere: {radius: 0.08}}, density: 2000, position: [0, 0, 0.3]}
generators:
  - pour: {count: 12, rate: 60, centre: [0, 0, 1.0], size: [0.4, 0.4, 0.2], radius: 0.05}
run: {time_step: 2e-3, duration: 0.6, frame_interval: 0.05}
""",
    "flat": """
cairn: 1
title: disks in a wedge and a circle
dimension: 2
gravity: [0, -9.81]
bodies:
  - {motion: fixed, shape: {inside_cone: {half_angle: 0.8}}}
  - {motion: fixed, shape: {inside_cylinder: {radius: 4}}, position: [0, 2]}
generators:
  - grid: {count: [4, 3, 1], spacing: [0.25, 0.25, 1], origin: [-0.4, 1.4, 0], radius: 0.1}
run: {time_step: 2e-3, duration: 0.8, frame_interval: 0.1}
""",
    "joints": """
cairn: 1
title: a motor, a spring that was wound up, a rope, a joint that breaks
bodies:
  - {motion: fixed, shape: half_space}
  - {name: a, shape: {sphere: {radius: 0.1}}, position: [0, 0, 1]}
  - {name: b, shape: {sphere: {radius: 0.1}}, position: [0.5, 0, 1]}
  - {name: c, shape: {sphere: {radius: 0.1}}, position: [1, 0, 1], angular_velocity: [0, 9, 0]}
joints:
  - revolute:
      a: a
      b: b
      anchor: [0.25, 0, 1]
      axis: [0, 1, 0]
      turn: {motor: velocity, target: 3, effort: 5, friction: 0.5, upper: 0.4}
  - spring:
      a: a
      anchor: [0, 0, 1]
      anchor_b: [0, 0, 2]
      slide: {stiffness: 200, damping: 2, rest: 0.8}
  - rope: {a: b, b: c, anchor: [0.5, 0, 1], anchor_b: [1, 0, 1], length: 0.6}
  - ball: {a: c, anchor: [1, 0, 1.1], break_force: 41}
run: {time_step: 2e-3, duration: 0.6, scheme: coulomb, tolerance: 1e-6}
""",
    "boxes": """
cairn: 1
title: boxes and cylinders, some of them equal, that fall on a floor and on each other
bodies:
  - {motion: fixed, shape: half_space}
  - {motion: fixed, shape: {box: {size: [0.3, 0.3, 0.3]}}, position: [0.1, 0, 0.15]}
generators:
  - grid: {count: [2, 2, 2], spacing: [0.4, 0.4, 0.4], radius: 0.1, origin: [0, 0, 0.5],
           shape: {box: {size: [1, 0.5, 0.7]}}, turned: true}
  - grid: {count: [2, 1, 1], spacing: [0.4, 0.4, 0.4], radius: 0.1, origin: [0, 0, 1.4],
           shape: {cylinder: {radius: 0.5, height: 1}}, turned: true}
run: {time_step: 2e-3, duration: 0.6}
""",
    "solids": """
cairn: 1
title: one body of each shape that moves, two of them with names
materials: {rock: {friction: 0.4}, steel: {friction: 0.2}}
bodies:
  - {name: floor, motion: fixed, material: rock, shape: half_space}
  - {name: egg, material: steel, shape: {ellipsoid: {semi_axes: [0.1, 0.1, 0.15]}}, position: [0, 0, 0.3]}
  - {name: die, material: rock, shape: {superellipsoid: {semi_axes: [0.1, 0.1, 0.1], exponent: 4}}, position: [0.5, 0, 0.3]}
  - {material: rock, shape: {cylinder: {radius: 0.1, height: 0.2, axis: [1, 0, 1]}}, position: [1, 0, 0.3]}
  - {material: rock, shape: {capsule: {radius: 0.1, length: 0.2}}, position: [1.5, 0, 0.3]}
  - {material: rock, shape: {box: {size: [0.2, 0.2, 0.3]}}, position: [2, 0, 0.3]}
  - {material: rock, shape: {cone: {radius: 0.1, height: 0.2}}, position: [2.5, 0, 0.3]}
  - material: steel
    shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.3, 0], [0, 0, 0.2], [0.2, 0.3, 0.2]]}}
    position: [3, 0, 0.3]
  - material: rock
    shape:
      compound:
        parts:
          - {shape: {box: {size: [0.1, 0.1, 0.3]}}}
          - {shape: {box: {size: [0.3, 0.1, 0.1]}}, position: [0.2, 0, 0.1]}
    position: [3.5, 0, 0.3]
  - {material: rock, shape: {sphere: {radius: 0.1}}, position: [4, 0, 0.3]}
run: {time_step: 2e-3, duration: 0.6}
""",
    "cell": """
cairn: 1
title: disks that touch across the faces of a cell that is sheared
dimension: 2
gravity: [0, 0]
periodic: {axes: [x, y], low: [0.1, 0.2], high: [1.1, 1.2], gradient_x: [0, 2]}
generators:
  - grid: {count: [4, 4], spacing: [0.25, 0.25], origin: [0.15, 0.3], radius: 0.12}
run: {time_step: 4e-3, duration: 0.4}
""",
    "empty": """
cairn: 1
title: a ball that touches nothing
bodies:
  - {shape: {sphere: {radius: 0.1}}, density: 1000, position: [0, 0, 1]}
run: {time_step: 1e-2, duration: 0.1, frame_interval: 0}
""",
}


def run(folder, name, text):
    scene, out = os.path.join(folder, name + ".yaml"), os.path.join(folder, name)
    with open(scene, "w", encoding="utf-8") as file:
        file.write(text)
    command = [CAIRN, "run", scene, "--out", out, "--quiet", "--force"]
    for _ in range(2):  # the second time over the first: longer series leave nothing behind
        done = subprocess.run(command + ["--set", "run.frame_interval=0.04"], check=False,
                              capture_output=True, text=True, timeout=1500)
        assert done.returncode == 0, done.stdout + done.stderr
        command += ["--set", "run.duration=0.3"] if name != "empty" else []
    return out


def main():
    worst = 0
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        folders = [run(folder, name, text) for name, text in SCENES.items()]
        for script in ("check_h5.py", "check_vtk.py"):
            done = subprocess.run([sys.executable, os.path.join(here, script)] + folders,
                                  check=False, timeout=1500)
            if done.returncode not in (0, SKIPPED):
                sys.exit(1)
            worst = max(worst, done.returncode)
    sys.exit(worst)


if __name__ == "__main__":
    main()
