#!/usr/bin/env python3
"""Runs by several processes:  test_mpi.py test_mpi_bits | test_mpi_resume | test_mpi_refusals, or
test_mpi.py test_mpi_kills [KILLS [SEED]], or test_mpi.py test_mpi_scenes [all | NAME=SECONDS ...]. Skipped in a build
without MPI, except what is said there."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CAIRN = os.environ.get("CAIRN", "build/mpi/tools/cairn")
CHECK = os.environ.get("CAIRN_CHECK", "build/mpi/tools/cairn-check")
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MPIEXEC = os.environ.get("CAIRN_MPIEXEC")  # set by a build with MPI
SKIPPED = 77

# Open MPI refuses root, and more ranks than processors, unless told otherwise; MPICH does not look at these
os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
                   "OMP_WAIT_POLICY": "passive"})  # threads of more ranks than processors do not spin

BALLS = """\
cairn: 1
title: balls in a cylinder
materials: {stone: {friction: 0.4}}
bodies:
  - {name: floor, motion: fixed, shape: {half_space: {}}}
  - {name: wall, motion: fixed, shape: {inside_cylinder: {radius: 0.5}}}
generators:
  - grid: {count: [6, 6, 10], spacing: [0.1, 0.1, 0.1], origin: [-0.25, -0.25, 0.06], radius: 0.045,
           jitter: 0.004, seed: 3}
run: {time_step: 5e-3, duration: 0.25, solver: ngs, parts: 8, threads: 1, frame_interval: 0.05,
      certificate: full, checkpoint_every: 0.05, statistics: [centre], packing: true}
"""
MIXTURE = """\
cairn: 1
title: boxes, capsules and balls on a belt
materials: {wood: {friction: 0.5}, rubber: {friction: 0.8}}
bodies:
  - {name: belt, motion: fixed, shape: {half_space: {}}, surface_velocity: [0.3, 0, 0], material: rubber}
  - {name: paddle, motion: driven, shape: {box: {size: [1.2, 0.1, 0.4]}}, position: [0, 0, 0.2],
     material: wood, drivers: [{rotation: {angular_velocity: [0, 0, 2]}}]}
generators:
  - grid: {count: [4, 4, 3], spacing: [0.26, 0.26, 0.25], origin: [-0.4, -0.4, 0.6], material: wood,
           shape: {box: {size: [0.16, 0.14, 0.12]}}, turned: true, seed: 2}
  - grid: {count: [4, 4, 2], spacing: [0.26, 0.26, 0.25], origin: [-0.4, -0.4, 1.4], material: wood,
           shape: {capsule: {radius: 0.05, length: 0.1}}, turned: true, seed: 5}
run: {time_step: 5e-3, duration: 0.3, scheme: convex, solver: ngs, parts: 3, threads: 1,
      frame_interval: 0.1, checkpoint_every: 0.1}
"""
DISKS = """\
cairn: 1
dimension: 2
gravity: [0, -9.81]
materials: {stone: {friction: 0.3}}
bodies:
  - {motion: fixed, shape: {half_space: {axis: [0.7, 0.7]}}}
  - {motion: fixed, shape: {half_space: {axis: [-0.7, 0.7]}}}
generators:
  - grid: {count: [12, 12, 1], spacing: [0.22, 0.22, 1], origin: [-1.2, 1.6, 0], radius: 0.1, jitter: 0.01,
           seed: 4}
run: {time_step: 5e-3, duration: 0.5, solver: ngs, parts: 4, threads: 1, frame_interval: 0.1,
      certificate: full, rest_speed: 1e-3}
"""
# 20 m/s and 0.2 m a step: steps are divided when boxes land
FALL = """\
cairn: 1
title: boxes that move farther than their size in a step
materials: {wood: {friction: 0.5}}
bodies:
  - {name: floor, motion: fixed, shape: {half_space: {}}}
generators:
  - grid: {count: [5, 5, 3], spacing: [0.2, 0.2, 0.3], origin: [-0.4, -0.4, 0.22], material: wood,
           shape: {box: {size: [0.1, 0.12, 0.1]}}, velocity: [0, 0, -20], turned: true, seed: 3}
run: {time_step: 1e-2, duration: 0.1, solver: ngs, parts: 6, threads: 1, frame_interval: 0.02,
      certificate: full, checkpoint_every: 0.02}
"""
# run.h5 alone is written: no rank ever has the whole world
BED = """\
cairn: 1
title: a bed that no rank has as a whole
materials: {stone: {friction: 0.3}}
bodies:
  - {name: ball, shape: {sphere: {radius: 0.04}}, position: [0, 0, 4]}
  - {name: floor, motion: fixed, shape: {half_space: {}}}
generators:
  - grid: {count: [20, 20, 21], spacing: [0.1, 0.1, 0.1], origin: [-0.95, -0.95, 0.05], radius: 0.05}
  - pour: {count: 20, rate: 2000, centre: [0, 0, 3], size: [1.6, 1.6, 0.4], radius: 0.04}
run: {time_step: 2e-3, duration: 8e-3, solver: ngs, max_iterations: 20, parts: 5, threads: 1, frame_interval: 4e-3,
      paraview: false, picture: false, state: false}
"""
# of this neither
MEASURED = """\
cairn: 1
title: all statistics of a silo, into which balls come, and which some of them leave
materials: {stone: {friction: 0.4}, other: {friction: 0.2}}
bodies:
  - {motion: fixed, shape: {half_space: {}}, material: stone}
  - {motion: fixed, shape: {inside_cylinder: {radius: 0.7}}, material: stone}
generators:
  - grid: {count: [18, 18, 8], spacing: [0.05, 0.05, 0.0495], origin: [-0.43, -0.43, 0.0245], seed: 4,
           radius: {uniform: {minimum: 0.0245, maximum: 0.0252}}, material: stone}
  - pour: {count: 20, rate: 1000, centre: [0, 0, 1], size: [0.8, 0.8, 0.3], radius: 0.03, material: other}
outlets: [box: {centre: [0.1, 0.1, 0.2], size: [0.3, 0.3, 0.2], start: 5e-3}]
measure: {kinetic: true, bins: 20, classes: material}
run: {time_step: 2e-3, duration: 0.02, solver: ngs, max_iterations: 50, parts: 8, threads: 1, frame_interval: 5e-3,
      certificate: full, checkpoint_every: 5e-3, packing: true, overlaps: push,
      statistics: [packing, slices, surface, height, centre, coordination, neighbours, pair-correlation, forces,
                   stress, fabric, temperature, mixing, energy, flow, fields]}
"""
HOPPER = """\
cairn: 1
title: bodies leave a hopper when its gate opens, and come back
materials: {stone: {friction: 0.4}}
bodies:
  - {name: hopper, motion: fixed, shape: {inside_cone: {half_angle: 1.2}}}
  - {name: gate, motion: fixed, shape: {half_space: {}}, position: [0, 0, 0.15]}
generators:
  - grid: {count: [3, 3, 4], spacing: [0.11, 0.11, 0.11], origin: [-0.11, -0.11, 0.22], radius: 0.05,
           jitter: 0.002, seed: 3}
  - pour: {name: top, count: 6, rate: 100, centre: [0, 0, 0.8], size: [0.3, 0.3, 0.1], radius: 0.04}
outlets:
  - height: {name: below, below: 0.1, to: top}
events:
  - {when: {force_above: {body: gate, force: 5}}, do: {save_state: loaded}}
  - {when: {settled: {speed: 3, for: 0.05}}, do: {open: gate}}
  - {when: {flow_stops: {outlet: below, for: 0.15}}, do: stop_run}
run: {time_step: 5e-3, duration: 0.6, solver: ngs, parts: 4, threads: 1, tolerance: 1e-2,
      frame_interval: 0.05, certificate: full, checkpoint_every: 0.1, statistics: [flow]}
"""
CELL = """\
cairn: 1
title: a biaxial test of a few disks
dimension: 2
gravity: [0, 0]
materials: {grain: {friction: 0.5}, platen: {friction: 0}}
bodies:
  - {name: left, material: platen, position: [-0.05, 0.1], shape: {box: {size: [0.1, 0.5]}}}
  - {name: right, material: platen, position: [0.25, 0.1], shape: {box: {size: [0.1, 0.5]}}}
  - {name: bottom, material: platen, position: [0.1, -0.05], shape: {box: {size: [0.5, 0.1]}}}
  - {name: top, material: platen, position: [0.1, 0.25], shape: {box: {size: [0.5, 0.1]}}}
generators:
  - fill: {bodies: 80, size: [0.2, 0.2], centre: [0.1, 0.1], material: grain, density: 2000, seed: 7,
           radius: {uniform: {minimum: 0.006, maximum: 0.011}}}
cells:
  - {x: {low: left, high: right, stress: 1000}, mass: 5, strain_from: 0.03, filter: 0.02,
     y: {low: bottom, high: top, stress: 1000, strain_rate: 0.2}}
series: [{name: top, bodies: top}]
run: {time_step: 2e-3, duration: 0.12, solver: ngs, parts: 4, threads: 1, tolerance: 1e-3, frame_interval: 0.02,
      certificate: full, checkpoint_every: 0.02, statistics: [cell, stress]}
"""
PERIODIC = """\
cairn: 1
title: a sheared cell with joints through its faces, into which bodies come
gravity: [0, 0, {harmonic: {amplitude: 2, frequency: 5}}]
periodic: {axes: [x, y], high: [1, 1, 1], gradient_x: [0, {ramp: {from: 1, to: 4, stop: 0.1}}, 0]}
materials: {grain: {friction: 0.3}}
bodies:
  - {motion: fixed, shape: {half_space: {}}}
  - {name: a, shape: {sphere: {radius: 0.1}}, position: [0.9, 0.5, 0.15], velocity: [1, 3, 0]}
  - {name: b, shape: {box: {size: [0.1, 0.14, 0.12]}}, position: [0.15, 0.5, 0.15], velocity: [0, 2, 1]}
  - {name: c, shape: {sphere: {radius: 0.09}}, position: [0.4, 0.5, 0.15], velocity: [0, 2, 1]}
joints:
  - ball: {a: a, b: b, anchor: [1.05, 0.5, 0.15]}
  - spring: {a: b, b: c, anchor: [0.15, 0.5, 0.15], anchor_b: [0.4, 0.5, 0.15], slide: {stiffness: 100, rest: 0.2}}
generators:
  - grid: {count: [5, 5, 2], spacing: [0.2, 0.2, 0.2], radius: 0.08, origin: [0.05, 0.05, 0.35], seed: 3}
  - pour: {name: top, count: 12, rate: 300, centre: [1, 1, 0.9], size: [0.8, 0.8, 0.1], radius: 0.06, velocity: [0, 0, -2]}
outlets: [half_space: {normal: [0, 0, -1], point: [0, 0, 1.2], to: top}]
series: [{name: half, low: [0, 0, 0], high: [0.5, 1, 2]}]
run: {time_step: 2e-3, duration: 0.12, solver: ngs, parts: 4, threads: 1, tolerance: 1e-3, frame_interval: 0.02,
      certificate: full, checkpoint_every: 0.02, statistics: [flow, fields]}
"""
JOINTS = """\
cairn: 1
title: joints between bodies of different ranks, one that breaks, one whose body leaves
materials: {stone: {friction: 0.4}}
bodies:
  - {name: floor, motion: fixed, shape: {half_space: {}}}
  - {name: a, shape: {sphere: {radius: 0.05}}, position: [-0.7, 0, 0.6]}
  - {name: b, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0.7, 0, 0.6]}
  - {name: c, shape: {sphere: {radius: 0.05}}, position: [0, 0.7, 0.6], velocity: [0, 9, 0]}
  - {name: d, shape: {sphere: {radius: 0.05}}, position: [0, -0.7, 0.6], velocity: [0, -9, 0]}
  - {name: e, shape: {sphere: {radius: 0.05}}, position: [0.5, 0.5, 0.7]}
  - {name: g, shape: {sphere: {radius: 0.05}}, position: [-0.5, -0.5, 0.7]}
joints:
  - distance: {name: rod, a: a, b: b, anchor: [-0.7, 0, 0.6], anchor_b: [0.7, 0, 0.6]}
  - ball: {a: c, b: d, anchor: [0, 0, 0.6], break_force: 1}
  - revolute: {a: e, anchor: [0.5, 0.4, 0.7], axis: [1, 0, 0], turn: {motor: velocity, target: 3, effort: 1}}
  - ball: {a: g, anchor: [-0.5, -0.5, 0.8]}
generators:
  - grid: {count: [8, 8, 4], spacing: [0.12, 0.12, 0.11], origin: [-0.42, -0.42, 0.06], radius: 0.05, jitter: 0.005,
           seed: 3}
outlets: [box: {centre: [-0.5, -0.5, 0.7], size: [0.1, 0.1, 0.1], start: 0.06}]
series: [{name: rod, joint: rod}]
run: {time_step: 5e-3, duration: 0.2, solver: ngs, parts: 4, threads: 1, tolerance: 1e-2, frame_interval: 0.05,
      certificate: full, checkpoint_every: 0.1}
"""
# scene, then ranks and threads of each run
SAME = {"bed": (BED, ((2, 1), (4, 1))), "balls": (BALLS, ((1, 2), (2, 1), (3, 2), (8, 1))),
        "mixture": (MIXTURE, ((2, 1), (3, 1))), "disks": (DISKS, ((4, 1),)), "fall": (FALL, ((2, 1),)),
        "hopper": (HOPPER, ((2, 1), (3, 1))),
        "cell": (CELL, ((2, 1),)), "periodic": (PERIODIC, ((2, 1), (3, 1), (4, 1))), "measured": (MEASURED, ((3, 1),)),
        "joints": (JOINTS, ((2, 1), (3, 1)))}
# scenes of the tree and how long, in s, so that bodies push each other in most steps
SCENES = {"ball_mill": 0.24, "periodic/chains": 0.3, "laboratory/triaxial": 0.02, "laboratory/biaxial_2d": 0.03,
          "periodic/shear_2d": 0.15, "series/forces": 0.03, "periodic/layer": 0.2, "rotating_gravity": 0.1, "sieve": 0.12,
          "sleeping_pots": 0.1, "laboratory/oedometer": 0.065, "ellipse_collapse_2d": 0.3, "column_collapse_2d": 0.21}


def fail(text):
    sys.exit("FAILED: " + text)


def need_mpi():
    if not MPIEXEC:
        print("skipped: built without MPI (make mpi, docs/mpi.md)")
        sys.exit(SKIPPED)


def run(words, code=0, **how):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                          check=False, timeout=1500, **how)
    if (done.returncode == 0) != (code == 0):
        fail("%s ended with %d: %s%s" % (" ".join(words), done.returncode, done.stdout, done.stderr))
    return done


def together(ranks, *words, **how):
    return run([MPIEXEC, "-n", str(ranks), CAIRN, *words], **how)


def summary_of(folder):
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        return json.load(file)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


# ==== the same bits =======================================================================================

def differences(one, other):
    """Data sets of two run files that are not equal; times on the clock, and checksums of them, may differ."""
    import h5py  # pylint: disable=import-outside-toplevel
    found = []
    with h5py.File(one, "r") as a, h5py.File(other, "r") as b:
        names = []
        a.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        for name in names:
            if name.endswith("_seconds") or name.startswith("checksums/"):
                continue
            if name not in b or a[name][()].tobytes() != b[name][()].tobytes():
                found.append(name)
        if len(names) != count_sets(b):
            found.append("(another number of data sets)")
    return found


def count_sets(group):
    import h5py  # pylint: disable=import-outside-toplevel
    names = []
    group.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
    return len(names)


def compare(name, alone, folder):
    one, other = summary_of(alone), summary_of(folder)
    for key in ("hash", "steps", "frames", "energy", "certificate", "contacts", "packing"):
        if one[key] != other[key]:
            fail("%s: %s is %s, expected %s" % (name, key, other[key], one[key]))
    try:
        found = differences(os.path.join(alone, "run.h5"), os.path.join(folder, "run.h5"))
    except ImportError:
        print("h5py is not installed: only summaries are compared")
        found = []
    if found:
        fail("%s: not the same numbers in %s" % (name, ", ".join(found)))
    pictures = [os.path.join(each, "picture.svg") for each in (alone, folder)]
    if os.path.exists(pictures[0]) and len({read(path) for path in pictures}) != 1:
        fail("%s: not the same picture" % name)
    tables = os.path.join(alone, "statistics")
    for table in os.listdir(tables) if os.path.isdir(tables) else ():
        with open(os.path.join(tables, table), "rb") as a, open(os.path.join(folder, "statistics", table), "rb") as b:
            if a.read() != b.read():
                fail("%s: not the same numbers in %s" % (name, table))


def test_mpi_bits():
    """The files of several ranks are those of one process with the same parts, and certified."""
    need_mpi()
    with tempfile.TemporaryDirectory() as home:
        for name, (text, ways) in SAME.items():
            scene, alone = write(os.path.join(home, name + ".yaml"), text), os.path.join(home, name)
            run([CAIRN, "run", scene, "--out", alone, "--quiet"])
            for ranks, threads in ways:
                folder = "%s-%d-%d" % (alone, ranks, threads)
                together(ranks, "run", scene, "--out", folder, "--quiet", "--threads", str(threads))
                compare(name, alone, folder)
                if summary_of(folder)["ranks"]["members"] != ranks:
                    fail("%s: expected %d members" % (name, ranks))
                if "certificate: full" in text:
                    run([CHECK, folder])
                run([CAIRN, "info", folder])
        check_default_parts(home)


def pushing(folder):
    """The share of the steps in which a contact pushes, and how many do in the mean."""
    import h5py  # pylint: disable=import-outside-toplevel
    with h5py.File(os.path.join(folder, "run.h5"), "r") as file:
        active = file["steps/active"][()]
    return float((active > 0).mean()), float(active.mean())


def compare_scene(home, name, seconds, ways):
    """One scene of the tree by one process, and by ranks and threads."""
    alone = os.path.join(home, name.replace("/", "_"))
    words = ["run", os.path.join(ROOT, "scenes", name + ".yaml"), "--quiet"]
    for key in ("parts=8", "solver=ngs", "max_iterations=12", "paraview=false", "picture=false", "contacts=false",
                "certificate=summary", "duration=%g" % seconds):
        words += ["--set", "run." + key]
    began = time.time()
    run([CAIRN, *words, "--out", alone, "--threads", "1"])
    for ranks, threads in ways:
        folder = "%s-%d-%d" % (alone, ranks, threads)
        together(ranks, *words, "--out", folder, "--threads", str(threads))
        compare("%s by %d ranks with %d threads" % (name, ranks, threads), alone, folder)
        if summary_of(folder)["ranks"]["members"] != ranks:
            fail("%s: expected %d members" % (name, ranks))
        shutil.rmtree(folder)
    share, mean = pushing(alone)
    print("| %s | %d | %.0f %% | %.0f | %.0f s |" % (name, summary_of(alone)["steps"], 100 * share, mean,
                                                   time.time() - began), flush=True)
    if share < 0.5:
        fail("%s: bodies push each other in %.0f %% of the steps only" % (name, 100 * share))


def test_mpi_scenes():
    """Scenes of the tree in contact: without words two of them by 2 and 3 ranks; else each by 1 to 8 ranks."""
    need_mpi()
    chosen, ways = list(SCENES)[:2], ((2, 1), (3, 1))
    if len(sys.argv) > 2:
        chosen = list(SCENES) if sys.argv[2] == "all" else sys.argv[2:]
        ways = [(ranks, threads) for ranks in (1, 2, 3, 4, 8) for threads in (1, 2)]
    try:
        import h5py  # pylint: disable=import-outside-toplevel,unused-import
    except ImportError:
        print("skipped: h5py is not installed")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as home:
        for words in chosen:
            name, _, seconds = words.partition("=")
            compare_scene(home, name, float(seconds or SCENES[name]), ways)


def check_default_parts(home):
    """Without run.parts the number follows from the bodies, not from the ranks; and who has none is told."""
    text = BALLS.replace(" parts: 8,", "").replace("[6, 6, 10]", "[8, 8, 8]").replace("0.25, solver", "0.02, solver")
    scene = write(os.path.join(home, "default.yaml"), text.replace("radius: 0.5", "radius: 0.7"))
    hashes = set()
    for ranks in (1, 3):
        folder = os.path.join(home, "default%d" % ranks)
        done = together(ranks, "run", scene, "--out", folder)
        if "%d; 8 parts" % ranks not in done.stdout:
            fail("the summary does not tell the parts: " + done.stdout)
        hashes.add(summary_of(folder)["hash"])
    if len(hashes) != 1:
        fail("the number of ranks changed the result")
    done = together(3, "run", scene, "--out", os.path.join(home, "idle"), "--set", "run.parts=2")
    if "1 of 3 ranks had nothing to do" not in done.stderr:
        fail("an idle rank is not told: " + done.stderr)


# ==== killed and resumed ==================================================================================

def ranks_below(pid):
    """Processes of cairn that a launcher has started."""
    found, parents = [], {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8") as file:
                parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue
    for child in parents:
        ancestor = child
        while ancestor in parents and ancestor != pid:
            ancestor = parents[ancestor]
        try:
            if ancestor == pid and os.path.samefile("/proc/%d/exe" % child, CAIRN):
                found.append(child)
        except OSError:
            continue
    return sorted(found)


def kill_one(words, ranks, folder, chance, wait):
    """Kill a random rank at a random moment after the first checkpoint; whether it was in time."""
    with subprocess.Popen([MPIEXEC, "-n", str(ranks), CAIRN, *words], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as child:
        while child.poll() is None and not os.path.exists(os.path.join(folder, "checkpoint")):
            time.sleep(0.002)
        time.sleep(chance.uniform(0, wait))
        alive = ranks_below(child.pid)
        in_time = child.poll() is None and len(alive) == ranks
        if in_time:
            os.kill(chance.choice(alive), signal.SIGKILL)
        out, _ = child.communicate(timeout=1500)
        if in_time and child.returncode == 0 and not os.path.exists(os.path.join(folder, "run.h5")):
            fail("a rank was killed, and the job ended as if nothing had happened")
        if in_time and child.returncode != 0 and not out:
            fail("a rank was killed, and nobody said so")
        return in_time and child.returncode != 0


def kill_and_resume(wanted, seed):
    chance = random.Random(seed)
    kills = runs = 0
    with tempfile.TemporaryDirectory() as home:
        scene, alone = write(os.path.join(home, "balls.yaml"), BALLS), os.path.join(home, "alone")
        began = time.time()
        together(2, "run", scene, "--out", alone, "--quiet")
        wait = time.time() - began
        while kills < wanted and runs < 3 * wanted + 3:
            folder, ranks = os.path.join(home, "killed%d" % runs), chance.randint(2, 4)
            in_time = kill_one(["run", scene, "--out", folder, "--quiet"], ranks, folder, chance, wait / 2)
            kills += in_time
            if in_time and kills < wanted and chance.random() < 0.5:
                kills += kill_one(["resume", folder, "--quiet"], 2, folder, chance, wait / 2)
            if not os.path.exists(os.path.join(folder, "run.h5")):
                together(chance.randint(1, 4), "resume", folder, "--quiet")
            compare("after a kill", alone, folder)
            runs += 1
    print("%d kills in %d runs: all ended as the run that was left alone" % (kills, runs))


def test_mpi_kills():
    need_mpi()
    numbers = [int(word) for word in sys.argv[2:]]
    kill_and_resume(numbers[0] if numbers else 3, numbers[1] if len(numbers) > 1 else 1)


def test_mpi_resume():
    """A run that was stopped on some ranks goes on on others, or on one process without MPI."""
    need_mpi()
    with tempfile.TemporaryDirectory() as home:
        resume_on_others(home, "balls", BALLS, ((2, 3), (3, 0), (0, 2)))
        resume_on_others(home, "cell", CELL, ((3, 2),))
        resume_on_others(home, "periodic", PERIODIC, ((2, 3), (3, 2)))
        resume_on_others(home, "joints", JOINTS, ((2, 4), (0, 3)))


def resume_on_others(home, name, text, ways):
    scene, alone = write(os.path.join(home, name + ".yaml"), text), os.path.join(home, name)
    run([CAIRN, "run", scene, "--out", alone, "--quiet"])
    for before, after in ways:
        folder = "%s-%d-%d" % (alone, before, after)
        stop_early(before, scene, folder)
        words = ["resume", folder, "--quiet"]
        if after:
            together(after, *words)
        else:
            run([CAIRN, *words])
        compare("%s: %d ranks, then %d" % (name, before, after), alone, folder)


def stop_early(ranks, scene, folder):
    """Interrupt a run; 0 ranks: without MPI."""
    words = [CAIRN, "run", scene, "--out", folder, "--quiet"]
    with subprocess.Popen([MPIEXEC, "-n", str(ranks), *words] if ranks else words, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        while child.poll() is None and not os.path.exists(os.path.join(folder, "checkpoint")):
            time.sleep(0.002)
        first = ranks_below(child.pid) if ranks else [child.pid]
        for pid in first:  # all of them: the first rank ends the run, the others go on until it does
            os.kill(pid, signal.SIGTERM)
        child.communicate(timeout=1500)
    if os.path.exists(os.path.join(folder, "checkpoint")) and summary_of(folder)["ending"] != "interrupted":
        fail("the run was not interrupted cleanly")


# ==== what is refused =====================================================================================

def refused(done, text, times=1):
    """The message, once for all ranks."""
    if done.stderr.count(text) != times:
        fail("expected %d times '%s': %s" % (times, text, done.stderr))


def test_mpi_refusals():
    """Mistakes are told once, the job fails, and nothing is written."""
    if not MPIEXEC:
        refuse_without_mpi()
        return
    with tempfile.TemporaryDirectory() as home:
        scene, out = write(os.path.join(home, "balls.yaml"), BALLS), os.path.join(home, "out")
        wrong = (("run.solver=newton", "solvers that factorise"), ("run.save_problem=[2]", "several ranks"),
                 ("run.tolerance=-1", "run.tolerance"))
        for key, text in wrong:
            done = together(3, "run", scene, "--out", out, "--set", key, code=1)
            refused(done, text)
            if os.path.exists(out):
                fail(key + ": a folder was made")
        refused(together(3, "run", os.path.join(home, "none.yaml"), "--out", out, code=1), "none.yaml")
        refused(together(2, "run", scene, "--out", os.path.join(scene, "out"), code=1), "Not a directory")
        refused(together(2, "resume", os.path.join(home, "none"), code=1), "there is no such folder")
        refused(together(2, "run", scene, "--out", out, "--view", code=1), "--view is for one process")
        together(2, "run", scene, "--out", out, "--quiet", "--set", "run.duration=0.01")
        refused(together(2, "run", scene, "--out", out, code=1), "this folder holds a run")
        check_end_over_tcp(scene, os.path.join(home, "tcp"))


def check_end_over_tcp(scene, out):
    """Ranks that talk by TCP end, with their exit code; MPI_Finalize of MPICH before 4.2 does not."""
    env = dict(os.environ, UCX_TLS="tcp,self")
    together(3, "run", scene, "--out", out, "--quiet", "--set", "run.duration=0.01", env=env)
    refused(together(3, "run", scene, "--out", out, code=1, env=env), "this folder holds a run")


def refuse_without_mpi():
    """A program without MPI that mpirun starts twice says so, once; and one that it starts alone runs."""
    with tempfile.TemporaryDirectory() as home:
        scene, out = write(os.path.join(home, "balls.yaml"), BALLS), os.path.join(home, "out")
        words = [CAIRN, "run", scene, "--out", out, "--quiet", "--set", "run.duration=0.01"]
        for rank, times in ((0, 1), (1, 0)):
            env = dict(os.environ, PMI_SIZE="2", PMI_RANK=str(rank))
            refused(run(words, code=1, env=env), "built without MPI", times)
            if os.path.exists(out):
                fail("a folder was made")
        run(words, env=dict(os.environ, PMI_SIZE="1", PMI_RANK="0"))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
