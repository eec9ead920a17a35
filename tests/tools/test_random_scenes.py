#!/usr/bin/env python3
"""Random small scenes, each run by cairn, checked by cairn-check, and held against the truth of random_truth.py.

    test_random_scenes.py                                            the seeds of the tests
    test_random_scenes.py --count N [--first SEED] [--jobs N]        a soak: seeds FIRST, FIRST + 1, ...
    test_random_scenes.py --seeds 17,4,33                            these seeds
    test_random_scenes.py --seed 17 [--out FOLDER]                   write the scene of seed 17, and run nothing

A scene is a function of its seed alone. It is wrong when the program crashes or does not end, when
cairn-check certifies what is not so, and when an honest run is refused. The exit code is 1 if any was.

Variables: CAIRN, CAIRN_CHECK: the programs; CAIRN_SANITIZE=ON: they are slow."""
import argparse
import collections
import json
import math
import multiprocessing
import os
import re
import resource
import run_numbers
import shutil
import subprocess
import sys
import tempfile

from random_scene import write_scene
import random_truth as truth


# ==== what a scene is held against ========================================================================

CAIRN = os.path.abspath(os.environ.get("CAIRN", "build/release/tools/cairn"))
CHECK = os.path.abspath(os.environ.get("CAIRN_CHECK", "build/release/tools/cairn-check"))
SLOW = os.environ.get("CAIRN_SANITIZE", "OFF") == "ON"
CPU_SECONDS = 300 if SLOW else 60    # a scene takes 0.1 s; what takes this long does not end
ROUND = {"cylinder", "cone"}         # distances of these are promised to 1e-5 of the size only
Verdict = collections.namedtuple("Verdict", "seed kind text")
FAILURES = ("crash", "wrong", "false alarm", "ended", "flew off")


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def call(words, folder):
    """Exit code (None: it did not end), standard output, standard error."""
    try:
        done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=1500 * CPU_SECONDS, preexec_fn=limit, check=False)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def crashed(code, err):
    """What killed it, or None. 1 to 3: a message; 4: stopped as asked."""
    if code is None or code in (-24, -9):
        return "did not end"
    if "Sanitizer" in err or "runtime error" in err:
        return "sanitizer: " + next(line for line in err.splitlines() if "rror" in line)
    return None if 0 <= code <= 4 else "ended with %d: %s" % (code, err[-200:])


def reason(err):
    """The message without place and numbers, for the histogram."""
    last = [line for line in err.splitlines() if line.strip()][-1:]
    text = re.sub(r"^scene\.yaml:\d+:\d+: ", "", last[0]) if last else ""
    return re.sub(r"'[^']*'", "'..'", re.sub(r"-?\d[\d.]*(e[-+]?\d+)?", "#", text))[:150]


class Scene:
    """What the truth needs to know of a scene: its bodies, and which of them may overlap."""

    def __init__(self, scene, files):
        self.dimension = scene.get("dimension", 3)
        self.scene, self.files = scene, files
        bodies = scene.get("bodies", [])
        self.things = [truth.Thing(b["shape"], self.dimension, files) for b in bodies]
        self.moving = [b.get("motion", "dynamic") == "dynamic" for b in bodies]
        self.group = [b.get("group", 0) for b in bodies]
        servos = {value[end] for cell in scene.get("cells", []) for value in cell.values() if isinstance(value, dict)
                  for end in ("low", "high")}  # walls of cells touch grains alone
        self.moving = [moves and b.get("name") not in servos for moves, b in zip(self.moving, bodies)]
        for generator in scene.get("generators", []):
            keys = next(iter(generator.values()))
            count = math.prod(keys["count"]) if isinstance(keys["count"], list) else keys["count"]
            shape = keys.get("shape", {"sphere": {"radius": keys.get("radius")}})
            self.things += [truth.Thing(shape, self.dimension, files)] * count
            self.moving += [not keys.get("glued", False)] * count
            self.group += [keys.get("group", 0)] * count
        names = {b["name"]: k for k, b in enumerate(bodies) if "name" in b}
        joined = [next(iter(j.values())) for j in scene.get("joints", [])]
        self.joined = {frozenset((names[j["a"]], names[j["b"]])) for j in joined
                       if "b" in j and not j.get("collide", False)}

    def may_meet(self, i, j):
        """Groups are those of random_world.py, which touch none but themselves. Of bodies that come back through an
        outlet (further rows) nothing is known."""
        return (max(i, j) < len(self.moving) and self.group[i] == self.group[j] and
                (self.moving[i] or self.moving[j]) and frozenset((i, j)) not in self.joined)


def poses_of(run, block):
    """Poses of the shapes, by row of /bodies, after so many steps."""
    offset = run["certificate/body_offset"]
    index, x, q = (run["certificate/bodies/" + name] for name in ("index", "x", "q"))
    shape_x, shape_q = run["bodies/shape_x"], run["bodies/shape_q"]
    found = {}
    for k in range(int(offset[block]), int(offset[block + 1])):
        row = int(index[k])
        found[row] = truth.combined((x[k], q[k]), (shape_x[row], shape_q[row]))
    return found


def start_is_told(scene, poses):
    """The first state is what the scene says: else all that follows would speak of another scene."""
    for row, body in enumerate(scene.scene.get("bodies", [])):
        pose, given = poses[row], truth.pose_of(body)
        for p in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
            if truth.norm(truth.sub(truth.out_of(pose, p), truth.out_of(given, p))) > 1e-9:
                return "body %d does not start where the scene puts it" % row
    return None


def size_of(thing):
    return min(1.0, thing.solid.radius) if thing.solid else 1.0


def kinds_in(thing):
    if thing.kind == "compound":
        return {truth.kind_and_keys(part["shape"])[0] for part in thing.keys["parts"]}
    return {thing.kind}


def deepest(scene, poses):
    """(excess allowed, depth, pair) of the pairs of a state that overlap, each a lower bound."""
    rows = sorted(poses)
    for i in rows:
        for j in rows:
            if i < j and scene.may_meet(i, j):
                a, b = scene.things[i], scene.things[j]
                depth = truth.depth(a, poses[i], b, poses[j])
                if depth is not None and depth > 0:
                    share = 1e-4 if (kinds_in(a) | kinds_in(b)) & ROUND else 1e-8
                    yield share * (size_of(a) + size_of(b)), depth, (i, j)


def named(scene, pair):
    return " and ".join("%d (%s)" % (k, scene.things[k].kind) for k in pair)


def deeper_than_told(scene, run, steps):
    """The penetration of a step is at least what points of the bodies show."""
    told = run["steps/penetration"]
    for step in steps:
        for allowed, depth, pair in deepest(scene, poses_of(run, step)):
            if depth > told[step - 1] + allowed:
                return "step %d: %s overlap by %.3g m at least, told %.3g m" % (
                    step, named(scene, pair), depth, told[step - 1])
    return None


def speeds(run, block):
    """Largest speed of a point of each body; the radius is taken as 1 m, or as its own."""
    offset = run["certificate/body_offset"]
    index, v, w = (run["certificate/bodies/" + name] for name in ("index", "v", "omega"))
    return {int(index[k]): truth.norm(v[k]) + truth.norm(w[k])
            for k in range(int(offset[block]), int(offset[block + 1]))}


def far_pushes(scene, run, steps):
    """Bodies that push each other are near each other: no further apart than the step moves them."""
    h, gravity = scene.scene["run"]["time_step"], truth.norm(truth.vector(
        scene.scene.get("gravity"), (0, 0, 9.81)))
    offset, body = run["certificate/contact_offset"], run["certificate/contacts/body"]
    impulse, normal = run["certificate/contacts/impulse"], run["certificate/contacts/normal"]
    kept, mass = run["steps/dilatation"], run["bodies/mass"]
    for step in steps:
        before, after = poses_of(run, step - 1), poses_of(run, step)
        fast = [speeds(run, step - 1), speeds(run, step)]
        for k in range(int(offset[step - 1]), int(offset[step])):
            i, j = (int(row) for row in body[k])
            if impulse[k][0] <= 0 or i < 0 or j < 0 or i not in before or j not in before:
                continue
            jump = impulse[k][0] / min(mass[row] for row in (i, j) if scene.moving[row])
            if jump < 1e-3:  # m/s: what a tolerance leaves
                continue
            a, b = scene.things[i], scene.things[j]
            gap = min(truth.apart(a, p[i], b, p[j], normal[k]) for p in (before, after))
            reach = sum(s.get(row, 0.0) for s in fast for row in (i, j))
            allowed = 1e-3 + 2 * kept[step - 1] + 2 * h * (reach + h * gravity)
            if gap > allowed:
                return "step %d: %s push each other %.3g m apart (a step moves them %.3g m)" % (
                    step, named(scene, (i, j)), gap, allowed)
    return None


def sunk(scene, run):
    """A certified step leaves no overlap that its tolerance and its length do not explain, unless the run
    warns of it."""
    options = scene.scene["run"]
    h, told = options["time_step"], run["steps/penetration"]
    start = max([depth for _, depth, _ in deepest(scene, poses_of(run, 0))] + [0.0])
    radii = [t.solid.radius for t, moves in zip(scene.things, scene.moving) if moves]
    size = min([r for r in radii if r > 0] + [0.1])
    late = options.get("scheme") == "moreau-jean" or options.get("overlaps") == "keep"
    furthest = 0.0
    for step, depth in enumerate(told, 1):
        way = h * max(list(speeds(run, step - 1).values()) + list(speeds(run, step).values()) + [0.0])
        furthest = max(furthest, way)
        allowed = min(0.05 * size + 4 * way * way / size, size) + (4 * furthest if late else 0)
        if depth > start + allowed:
            return "step %d: overlap of %.3g m (bodies of %.3g m) is certified" % (step, depth, size)
    return None


def lie_of(scene, folder, warned):
    """What is not so in a run that is certified; None: nothing was found."""
    run = run_numbers.Run(os.path.join(folder, "run.h5"))
    try:
        count = len(run["steps/penetration"])
        steps = sorted({1, max(1, count // 2), max(1, count - 1), count})
        return (start_is_told(scene, poses_of(run, 0)) or deeper_than_told(scene, run, steps) or
                far_pushes(scene, run, steps) or (None if warned else sunk(scene, run)))
    finally:
        run.close()


def judge_run(seed, scene, folder, said):
    """The verdict of a run that ended, and said this."""
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    code, out, err = call([CHECK, "--all", folder], folder)
    broken = crashed(code, err)
    if broken or code in (3, 4):
        return Verdict(seed, "crash", "cairn-check " + (broken or "ended with %d" % code))
    missed = summary["uncertified"]
    lines = [line for line in (out + err).splitlines() if line.startswith("not certified")]
    other = [line for line in lines if "missed" not in line and "tolerance" not in line]
    if code == 2 or other or (code == 1 and missed == 0):
        return Verdict(seed, "false alarm", (other + lines + [(out + err)[:300]])[0])
    if code == 0 and missed > 0:
        return Verdict(seed, "wrong", "certified, though %d steps missed the tolerance" % missed)
    if missed:
        return Verdict(seed, "missed", "")
    lie = lie_of(scene, folder, "bodies overlap by more than" in said)
    return Verdict(seed, "wrong", lie) if lie else Verdict(seed, "certified", "")


def told_of(scene):
    """What one wants to know first of a scene that failed."""
    run, laws = scene["run"], scene["materials"].values()
    words = ["%dD" % scene["dimension"], run["scheme"], "h %g" % run["time_step"], "tol %g" % run["tolerance"],
             "mu " + ",".join(str(m.get("friction", "law")) for m in laws)]
    return ", ".join(words + [key for key in ("overlaps", "linearisations", "sleep", "solver") if key in run])


def try_seed(seed):
    """Makes, runs and judges one scene; what fails is told with its settings."""
    folder, scene = tempfile.mkdtemp(prefix="cairn-random-"), None
    try:
        scene, files = write_scene(seed, folder)
        verdict = run_and_judge(seed, scene, files, folder)
    except Exception as error:  # a scene that breaks the soak is named like one that breaks cairn
        verdict = Verdict(seed, "crash", "test_random_scenes.py: %s: %s" % (type(error).__name__, error))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if scene and verdict.kind in FAILURES:
        return verdict._replace(text="%s [%s]" % (verdict.text, told_of(scene)))
    return verdict


def run_and_judge(seed, scene, files, folder):
    """The verdict of one scene, which lies in the folder."""
    code, _, err = call([CAIRN, "run", "scene.yaml", "--out", "run", "--quiet"], folder)
    broken = crashed(code, err)
    if broken:
        return Verdict(seed, "crash", "cairn " + broken)
    if code != 0:
        clear = len(err.strip()) > 10
        return Verdict(seed, "refused" if clear else "wrong", reason(err) if clear else "no message")
    return judge_run(seed, Scene(scene, files), os.path.join(folder, "run"), err)


def report(verdicts):
    count = collections.Counter(v.kind for v in verdicts)
    print("\n%8s %10s %8s %8s %8s %8s %12s" % ("scenes", "certified", "missed", "refused", "crashes",
                                             "wrong", "false alarms"))
    print("%8d %10d %8d %8d %8d %8d %12d" % (len(verdicts), count["certified"], count["missed"],
                                             count["refused"], count["crash"], count["wrong"],
                                             count["false alarm"]))
    for text, times in collections.Counter(v.text for v in verdicts if v.kind == "refused").most_common():
        seeds = [str(v.seed) for v in verdicts if v.kind == "refused" and v.text == text][:4]
        print("  refused %d times: %s (seeds %s)" % (times, text, ", ".join(seeds)))
    for v in sorted(verdicts):
        if v.kind in FAILURES:
            print("  seed %d: %s: %s" % v)
    return 1 if any(v.kind in FAILURES for v in verdicts) else 0


def soak(seeds, jobs, attempt=try_seed):
    """The verdicts of attempt(seed); failures are told as they come."""
    verdicts = []
    with multiprocessing.Pool(jobs) as pool:
        for v in pool.imap_unordered(attempt, seeds, chunksize=4):
            verdicts.append(v)
            if v.kind in FAILURES:
                print("seed %d: %s: %s" % v, flush=True)
            if len(verdicts) % 500 == 0:
                print("%d of %d scenes" % (len(verdicts), len(seeds)), flush=True)
    return verdicts


# ==== the seeds of the tests: some that once were wrong, and some more ====================================

# points, and hulls beside their origin, that fell through faces; a ball poured into a solid; rounding of adhesion,
# of joints that fight each other and of directions along an axis; bodies that turn by several radians in a step; moments
# that a scheme without friction did not store; a point that passed a line at mid-step; half
# turns; polylines that met where the step would end; pivoting that failed; joints that contradict each other
ONCE_WRONG = [34, 46, 85, 145, 202, 226, 232, 236, 240, 248, 292, 294, 297, 330, 332, 351, 369, 399, 487, 552, 582, 583,
              597, 640, 761, 864, 1001, 1079, 2444, 2619, 20101, 20474, 20768, 20953, 30844, 41421, 41595,
              51125, 51580, 52636, 60185, 60468, 60539, 61242, 63808,
              63845, 63946, 64266, 65654, 67041, 67626, 68434, 74798, 76861,
              80034, 80333, 80805, 83521, 84636, 87229, 89241,
              101499, 102306, 104121, 104166, 105667]
MORE = range(10001, 10034)


def seeds_of_tests():
    """All of them; under the sanitizers every fourth."""
    seeds = ONCE_WRONG + list(MORE)
    return seeds[::4] if SLOW else seeds


def main():
    parser = argparse.ArgumentParser(description="run random scenes and see that none is wrong")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, help="how many scenes; without it those of the tests")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--seeds", help="these seeds, with commas between them")
    parser.add_argument("--seed", type=int, help="write the scene of this seed, run nothing")
    parser.add_argument("--out", default=".", help="with --seed: the folder to write scene.yaml to")
    options = parser.parse_args()
    if options.seed is not None:
        os.makedirs(options.out, exist_ok=True)
        write_scene(options.seed, options.out)
        return 0
    try:
        run_numbers.load()
    except ImportError as missing:
        print("skipped: %s" % missing)
        return 77
    seeds = range(options.first, options.first + options.count) if options.count else seeds_of_tests()
    if options.seeds:
        seeds = [int(seed) for seed in options.seeds.split(",")]
    return report(soak(seeds, options.jobs))


if __name__ == "__main__":
    sys.exit(main())
