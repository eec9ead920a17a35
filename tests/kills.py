"""Runs that are killed at random moments (kill -9) and resumed: each ends with the hash, and with
every number in run.h5, of the run that was left alone. Called by test_kills.py with 50 kills and by
the target `soak` with 1000:  kills.py KILLS [SEED]"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

CAIRN = os.environ.get("CAIRN", "build/release/tools/cairn")

# disks that are poured into a shaken wedge: inlets, drivers, loads, warm starts
POUR = """\
cairn: 1
dimension: 2
materials: {rock: {friction: 0.4, restitution: 0.2}}
bodies:
  - {motion: driven, shape: {inside_cone: {half_angle: 0.8}},
     drivers: [{shake: {amplitude: [0.02, 0.01], frequency: 4}}]}
  - {shape: {sphere: {radius: 0.1}}, position: [0, 0.4], angular_velocity: 3,
     loads: [{sine: {force: [20, 0], frequency: 3}}]}
generators:
  - pour: {count: 30, rate: 150, centre: [0, 1.6], size: [0.8, 0.3], seed: 5,
           radius: {uniform: {minimum: 0.03, maximum: 0.06}}, velocity: [0, -1]}
run: {time_step: 2e-3, duration: 0.6, frame_interval: 0.02, scheme: coulomb, threads: 1,
      checkpoint_every: 0.03, certificate: full, picture: false}
"""

# joints with motors, springs and limits, hulls and compounds, rolling friction, a belt, statistics
MACHINE = """\
cairn: 1
materials: {rock: {friction: 0.4, rolling_friction: 0.002, spinning_friction: 0.001}}
bodies:
  - {name: belt, motion: fixed, shape: half_space, surface_velocity: [0.5, 0, 0]}
  - {name: hub, shape: {sphere: {radius: 0.1}}, mass: 1, position: [0, 0, 0.5]}
  - {name: arm, shape: {box: {size: [0.3, 0.06, 0.06]}}, position: [0.3, 0, 0.5]}
  - {name: bob, shape: {sphere: {radius: 0.05}}, mass: 0.4, position: [0.55, 0, 0.5]}
  - {name: stone, position: [1, 0, 0.1], velocity: [-1, 0, 0], shape: {polyhedron: {points:
     [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0.15, 0.15, 0.15]], rounding: 0.01}}}
  - {name: dumbbell, position: [0.5, 0.5, 0.2], angular_velocity: [1, 2, 3], shape: {compound: {parts: [
     {shape: {sphere: {radius: 0.08}}, position: [-0.1, 0, 0]}, {shape: {sphere: {radius: 0.05}},
     position: [0.1, 0, 0]}, {shape: {capsule: {radius: 0.02, length: 0.2}},
     orientation: {axis: [0, 1, 0], angle: 1.57}}]}}}
joints:
  - ball: {a: hub, anchor: [0, 0, 0.8]}
  - revolute: {a: arm, b: hub, anchor: [0.1, 0, 0.5], axis: [0, 1, 0],
               turn: {lower: -0.5, upper: 0.4, friction: 0.05}}
  - spring: {a: bob, b: arm, anchor: [0.55, 0, 0.5], anchor_b: [0.45, 0, 0.5],
             slide: {stiffness: 200, damping: 1, rest: 0.1}}
  - fixed: {a: dumbbell, anchor: [0.5, 0.5, 0.2], break_force: 30}
run: {time_step: 2e-3, duration: 0.5, frame_interval: 0.02, scheme: coulomb, threads: 1,
      checkpoint_every: 0.03, statistics: [centre, coordination, energy], picture: false}
"""

SCENES = {"pour": POUR, "machine": MACHINE}


def fail(text):
    sys.exit("kills.py: " + text)


def cairn(*words):
    done = subprocess.run([CAIRN, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        fail("cairn %s: %s" % (" ".join(words), done.stderr.decode()))
    return done.stdout.decode()


def hash_of(folder):
    return [line.split()[1] for line in cairn("info", folder).splitlines() if "hash" in line][0]


def start(words, seconds):
    """Runs a command until it ends, or kills it after so many seconds: was it killed?"""
    child = subprocess.Popen([CAIRN, *words, "--quiet"], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    try:
        _, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.communicate()
        return True
    if child.returncode != 0:
        fail("cairn %s ended with %d: %s" % (" ".join(words), child.returncode, err.decode()))
    return False


def differences(one, other):
    """Names of datasets that differ; wall clock times, and with them checksums, may."""
    import h5py
    found = []
    with h5py.File(one, "r") as a, h5py.File(other, "r") as b:
        def look(name, item):
            if isinstance(item, h5py.Dataset) and not name.endswith("_seconds") \
                    and not name.startswith("checksums/"):
                texts = item.dtype.kind == "O"
                bits = (lambda d: d[()].tolist()) if texts else (lambda d: d[()].tobytes())
                if name not in b or bits(item) != bits(b[name]):
                    found.append(name)
        a.visititems(look)
    return found


def other_files(one, other):
    """Names of files of the series and statistics, and lines of summary.json, that differ."""
    found = []
    for inside in ("paraview", "statistics"):
        mine, its = os.path.join(one, inside), os.path.join(other, inside)
        names = set(os.listdir(mine)) if os.path.isdir(mine) else set()
        found += names ^ (set(os.listdir(its)) if os.path.isdir(its) else set())
        for name in names - set(found):
            with open(os.path.join(mine, name), "rb") as a, open(os.path.join(its, name), "rb") as b:
                found += [] if a.read() == b.read() else [name]
    with open(os.path.join(one, "summary.json")) as a, open(os.path.join(other, "summary.json")) as b:
        found += [line for line, its in zip(a, b) if line != its and "_seconds" not in line]
    return found


def run_with_kills(scene, folder, whole, chance):
    """One run from start to end; how often it was killed."""
    kills, resumed = 0, False
    while True:
        there = os.path.exists(os.path.join(folder, "checkpoint"))
        words = ["resume", folder] if there else ["run", scene, "--out", folder, "--force"]
        if resumed and not there:
            fail("the checkpoint is gone")
        resumed = resumed or there
        # a run that is finished but for its checkpoint has nothing to resume
        if not start(words, chance.uniform(0.01, 0.4 * whole)):
            return kills
        kills += 1
        if os.path.exists(os.path.join(folder, "run.h5")):
            return kills


def compare(name, alone, folder, expected):
    """A run that was killed is the run that was left alone."""
    if hash_of(folder) != expected:
        fail("%s ended with the hash %s, expected %s" % (name, hash_of(folder), expected))
    found = other_files(alone, folder)
    try:
        found += differences(os.path.join(alone, "run.h5"), os.path.join(folder, "run.h5"))
    except ImportError:
        pass  # the hash and the other files were compared all the same
    if found:
        fail("%s: not the same numbers in %s" % (name, ", ".join(found)))


def run_alone(home, name):
    """The scene without a kill: scene file, folder, seconds, hash."""
    scene, alone = os.path.join(home, name + ".yaml"), os.path.join(home, name)
    with open(scene, "w", encoding="utf-8") as file:
        file.write(SCENES[name])
    began = time.time()
    cairn("run", scene, "--out", alone, "--quiet")
    return scene, alone, time.time() - began, hash_of(alone)


def main():
    wanted, chance = int(sys.argv[1]), random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    kills = runs = 0
    with tempfile.TemporaryDirectory() as home:
        whole = {name: run_alone(home, name) for name in SCENES}
        while kills < wanted:
            name = list(SCENES)[runs % len(SCENES)]
            scene, alone, seconds, expected = whole[name]
            folder = os.path.join(home, "killed")
            kills += run_with_kills(scene, folder, seconds, chance)
            runs += 1
            compare(name, alone, folder, expected)
            subprocess.run(["rm", "-rf", folder], check=True)
    print("%d kills in %d runs: all ended as the runs that were left alone" % (kills, runs))


if __name__ == "__main__":
    main()
