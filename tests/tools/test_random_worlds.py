#!/usr/bin/env python3
"""Random worlds of several groups (random_world.py), each run by cairn, checked by cairn-check, and held against
mechanics by world_judge.py and random_truth.py.

    test_random_worlds.py                                                    false claims, and the seeds of the tests
    test_random_worlds.py --count N [--first SEED] [--jobs N] [--shrink DIR] a soak: seeds FIRST, FIRST + 1, ...
    test_random_worlds.py --seeds 17,4,33 [--shrink DIR]                     these seeds
    test_random_worlds.py --seed 17 [--out FOLDER]                           write the scene of seed 17, run nothing
    test_random_worlds.py --world FILE                                       judge a scene that --shrink wrote

A world fails in one of these ways:

    crash        the program crashes, or does not end
    ended        the run ends with an error, although the scene is valid
    wrong        cairn-check certifies it, no step missed its tolerance, and yet something is not so
    flew off     steps missed, and a group has several times the energy that it can have
    false alarm  cairn-check refuses an honest run

With --shrink the failure is made smaller, as long as it stays the same: groups, bodies, steps, options and numbers
are left out. The smallest scene is written to DIR/SEED.yaml, with its seed.

Variables: CAIRN, CAIRN_CHECK: the programs; CAIRN_SANITIZE=ON: they are slow."""
import argparse
import collections
import copy
import functools
import json
import os
import run_numbers
import shutil
import sys
import tempfile

import random_world
import test_random_scenes as scenes
import world_judge
from test_random_scenes import CAIRN, CHECK, FAILURES, SLOW, Verdict, call, crashed, reason

ONLY_CERTIFIED = ("rest missed", "slide")  # no step of the run may miss its tolerance for this to be promised


# ==== one world ===========================================================================================

def write_scene(world, folder, head=""):
    scene = random_world.scene_of(world)
    with open(os.path.join(folder, "scene.yaml"), "w", encoding="utf-8") as file:
        file.write(head)
        json.dump(scene, file, indent=1)
        file.write("\n")
    return scene


def geometry(scene, folder, said):
    """[(what, text)] of overlaps and distances, by the truth of random_truth.py."""
    run = run_numbers.Run(os.path.join(folder, "run.h5"))
    try:
        count = len(run["steps/penetration"])
        shapes = scenes.Scene(scene, {})
        lie = scenes.deeper_than_told(shapes, run, sorted({1, max(1, count // 2), count}))
        if lie is None and "bodies overlap by more than" not in said and "periodic" not in scene:
            lie = scenes.sunk(shapes, run)
        return [("overlap", lie)] if lie else []
    finally:
        run.close()


def mechanics(claimed, scene, folder):
    """What world_judge finds, for what is claimed of the world."""
    run = run_numbers.Run(os.path.join(folder, "run.h5"))
    try:
        return world_judge.judge(run, claimed, scene)
    finally:
        run.close()


def examine(world, scene, folder, said):
    """(kind, text) of a run that ended well, and said this."""
    with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
        missed = json.load(file)["uncertified"]
    code, out, err = call([CHECK, "--all", folder], folder)
    if crashed(code, err) or code in (3, 4):
        return "crash", "cairn-check " + (crashed(code, err) or "ended with %d" % code)
    lines = [line for line in (out + err).splitlines() if line.startswith("not certified")]
    other = [line for line in lines if "missed" not in line and "tolerance" not in line]
    if code == 2 or other or (code == 1) != (missed > 0):
        return "false alarm", (other + lines + [(out + err)[:300]])[0]
    found = mechanics(world, scene, folder)
    found += geometry(scene, folder, said) if not missed else []
    wild = [entry for entry in found if entry[0] in ("flies off", "not finite")]
    found = [entry for entry in found if not (missed and entry[0] in ONLY_CERTIFIED)]
    if wild:
        return "flew off" if missed else "wrong", "%s: %s" % wild[0]
    if found:
        return "wrong", "%s: %s" % found[0]
    return ("missed" if missed else "certified"), ""


def run_world(world):
    """(kind, text) of a world: what it is, and what is not so."""
    folder = tempfile.mkdtemp(prefix="cairn-world-")
    try:
        scene = write_scene(world, folder)
        code, _, err = call([CAIRN, "run", "scene.yaml", "--out", "run", "--quiet"], folder)
        if crashed(code, err):
            return "crash", "cairn " + crashed(code, err)
        if code != 0:
            return "ended", reason(err)
        return examine(world, scene, os.path.join(folder, "run"), err)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def told_of(world):
    """What one wants to know first of a world that failed."""
    run = world["run"]
    laws = ["mu %g e %g" % (g["law"]["friction"], g["law"].get("restitution", 0)) for g in world["groups"]]
    keys = [key for key in run if key in ("solver", "stabilisation", "impact_rounds", "warm_start", "parts", "sleep")]
    return "%dD, %s, h %g, tol %g, %s" % (world["dimension"], run["scheme"], run["time_step"],
                                          run.get("tolerance", 1e-3), ", ".join(laws + keys))


def try_world(seed, shrink_to=None):
    world = random_world.make_world(seed)
    try:
        kind, text = run_world(world)
    except Exception as error:  # a world that breaks the soak is named like one that breaks cairn
        kind, text = "crash", "test_random_worlds.py: %s: %s" % (type(error).__name__, error)
    if kind not in FAILURES:
        return Verdict(seed, kind, text)
    verdict = Verdict(seed, kind, "%s [%s]" % (text, told_of(world)))
    if shrink_to:
        write_smallest(verdict, smaller(world, kind, text), shrink_to)
    return verdict


# ==== the smallest world that fails in the same way =======================================================

MOST_TRIES = 150


def alike(kind, text):
    """The part of a failure that stays when a world becomes smaller."""
    if kind == "ended":
        return kind, text[-60:]
    return kind, text.split(":")[0]


def without_groups(world):
    for k in range(len(world["groups"]) if len(world["groups"]) > 1 else 0):
        less = copy.deepcopy(world)
        del less["groups"][k]
        yield less


def without_steps(world):
    h = world["run"]["time_step"]
    steps = round(world["run"]["duration"] / h)
    for fewer in (1, steps // 4, steps // 2, steps - steps // 8, steps - 1):
        if 0 < fewer < steps:
            less = copy.deepcopy(world)
            less["run"]["duration"] = float("%.9g" % (h * fewer))
            yield less


def without_bodies(world):
    for k, g in enumerate(world["groups"]):
        drop = g["drop"][:1] if g["drop"] != "any" else [
            b["name"] for b in g["bodies"] if not g["rest"] or b.get("motion", "dynamic") == "dynamic"]
        for name in drop if len(g["bodies"]) > 1 else []:
            less = copy.deepcopy(world)
            changed = less["groups"][k]
            changed["bodies"] = [b for b in g["bodies"] if b["name"] != name]
            if g["drop"] != "any":
                changed["drop"] = g["drop"][1:]
            yield less


def without_options(world):
    for key, plain in (("solver", None), ("warm_start", None), ("stabilisation", None), ("impact_rounds", None),
                       ("parts", None), ("sleep", None), ("tolerance", None), ("scheme", "coulomb")):
        if world["run"].get(key) not in (None, plain):
            less = copy.deepcopy(world)
            if plain is None:
                del less["run"][key]
            else:
                less["run"][key] = plain
            yield less
    for key in ("generators", "outlets", "joints", "cells"):
        for k, g in enumerate(world["groups"]):
            if g[key] and not g["pushers"] and not g["joints"]:
                less = copy.deepcopy(world)
                less["groups"][k][key] = []
                yield less


def with_plain_laws(world):
    for k, g in enumerate(world["groups"]):
        for key, plain in (("restitution_law", None), ("restitution", 0), ("restitution", 1), ("friction", 0)):
            if g["law"].get(key) in (None, plain) or key == "friction" and (g["rest"] or g["slides"]):
                continue
            less = copy.deepcopy(world)
            less["groups"][k]["law"].pop(key)
            if plain is not None:
                less["groups"][k]["law"][key] = plain
            yield less


def with_plain_bodies(world):
    """Without velocities, with round numbers."""
    for k, g in enumerate(world["groups"]):
        for j, body in enumerate(g["bodies"] if not g["slides"] else []):
            changes = [{key: None} for key in ("velocity", "angular_velocity") if key in body]
            changes += [{"density": 1000}] if body.get("density", 1000) != 1000 else []
            changes += [{key: [float("%.2g" % x) for x in body[key]]} for key in ("velocity",) if key in body]
            for change in changes:
                if all(body.get(key) == value for key, value in change.items()):
                    continue
                less = copy.deepcopy(world)
                changed = less["groups"][k]["bodies"][j]
                changed.update(change)
                less["groups"][k]["bodies"][j] = {key: v for key, v in changed.items() if v is not None}
                yield less


WAYS = (without_groups, without_steps, without_bodies, without_options, with_plain_laws, with_plain_bodies)


def smaller(world, kind, text):
    """(the smallest world found, what it shows): tries each way again until none makes it smaller."""
    wanted, tries, progress = alike(kind, text), 0, True
    while progress and tries < MOST_TRIES:
        progress = False
        for less in (less for make in WAYS for less in make(world)):
            tries += 1
            if tries > MOST_TRIES:
                break
            found = run_world(less)
            if alike(*found) == wanted:
                world, text, progress = less, found[1], True
                break
    return world, text


def write_smallest(verdict, smallest, folder):
    world, text = smallest
    os.makedirs(folder, exist_ok=True)
    own = tempfile.mkdtemp(prefix="cairn-world-")
    write_scene(world, own, "# seed %d: %s: %s\n# world: %s\n" % (
        verdict.seed, verdict.kind, text, json.dumps(world)))
    shutil.move(os.path.join(own, "scene.yaml"), os.path.join(folder, "%d.yaml" % verdict.seed))
    os.rmdir(own)


def judge_file(path):
    """The verdict of a scene that write_smallest wrote."""
    with open(path, encoding="utf-8") as file:
        line = next(line for line in file if line.startswith("# world: "))
    world = json.loads(line[len("# world: "):])
    kind, text = run_world(world)
    print("%s: %s: %s [%s]" % (path, kind, text, told_of(world)))
    return 1 if kind in FAILURES else 0


# ==== many worlds =========================================================================================

def report(verdicts):
    count = collections.Counter(v.kind for v in verdicts)
    print("\n%d worlds: %s" % (len(verdicts), ", ".join("%d %s" % (n, kind) for kind, n in count.most_common())))
    classes = collections.defaultdict(list)
    for v in sorted(verdicts):
        if v.kind in FAILURES:
            what = v.text.split(" [")[0] if v.kind == "ended" else v.text.split(":")[0]
            classes[v.kind + ": " + what].append(v.seed)
    for name, seeds in sorted(classes.items(), key=lambda item: -len(item[1])):
        print("  %d %s (seeds %s)" % (len(seeds), name, ", ".join(map(str, seeds[:12]))))
    return 1 if classes else 0


def false_claims(place):
    """(world that is true, what is false of it, what the judge must say)."""
    chance = random_world.Chance(5)

    def world(make, **false):
        g = dict(make(chance, place), law=place["law"])
        run = {"time_step": place["h"], "duration": 0.1, "scheme": "coulomb", "certificate": "full", "threads": 1,
               "picture": False, "paraview": False}
        true = {"seed": 0, "dimension": 3, "gravity": [0, 0, -9.81], "run": run, "periodic": None, "groups": [g]}
        return true, dict(true, groups=[dict(g, **false)])
    still = world(random_world.belt)
    table = {key: value for key, value in still[0]["groups"][0]["bodies"][0].items() if key != "surface_velocity"}
    still[1]["groups"][0]["bodies"] = [table] + still[1]["groups"][0]["bodies"][1:]
    return [(still, "energy"), (world(random_world.slider, rest=True), "rest"),
            (world(random_world.slider, isolated=True), "momentum"),
            (world(random_world.slider, slides=["box", 3.0, 0.1]), "slide"),
            (world(random_world.slider, law={"friction": 0.1}), "cone"),
            (world(random_world.tube, law={"friction": 0}), "spin")]


def judge_objects():
    """The judge finds what is false: else that it finds nothing in other worlds would mean nothing."""
    silent = 0
    for (true, false), wanted in false_claims({"d": 3, "x": 0.0, "h": 1e-3, "most": 4, "law": {"friction": 0.4}}):
        folder = tempfile.mkdtemp(prefix="cairn-world-")
        try:
            scene = write_scene(true, folder)
            code, _, err = call([CAIRN, "run", "scene.yaml", "--out", "run", "--quiet"], folder)
            found = [mechanics(claims, scene, os.path.join(folder, "run")) for claims in (true, false)]
            if code or found[0] or wanted not in [what for what, _ in found[1]]:
                print("%s: the judge should object: %s, %s" % (wanted, found, err))
                silent += 1
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return silent


# every kind of group in 2D and 3D, every scheme, and most options; impulses beside an edge of their cone (73, 252);
# impulses that are large beside what closes (59, 81, 279, 286); groups in which nothing closes, without gravity
# (143, 100021, 100039, 100289); impacts of which rounding decides whether and when they hit (100833, 101471, 101751);
# boxes that slide without friction and with restitution (600519); cones with edges in the first phase of an impact alone
# (700675); chains with light links (1003319, 1004539), also at an impact (1004831); contacts that lack exact friction
# where impacts were reduced (3001135); impulses of rounding in an impact (3003531), the fastest approach in doubt
# (3004240), a ball that two walls pinch at rest (3008312)
SEEDS_OF_TESTS = [11, 16, 30, 40, 47, 51, 56, 59, 73, 81, 82, 89, 125, 129, 132, 135, 140, 143, 148, 162, 163, 176, 194,
                  200, 205, 219, 220, 252, 279, 286, 100021, 100039, 100289, 100833, 101471, 101751, 310003, 600519,
                  700675, 1003319, 1004539, 1004831, 3001135, 3003531, 3004240,
                  3008312]


def main():
    parser = argparse.ArgumentParser(description="run random worlds and see that none is wrong")
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, help="how many worlds; without it those of the tests")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--seeds", help="these seeds, with commas between them")
    parser.add_argument("--seed", type=int, help="write the scene of this seed, run nothing")
    parser.add_argument("--out", default=".", help="with --seed: the folder to write scene.yaml to")
    parser.add_argument("--shrink", metavar="DIR", help="write the smallest scene of each failure to this folder")
    parser.add_argument("--world", metavar="FILE", help="judge a scene that --shrink wrote")
    options = parser.parse_args()
    if options.seed is not None:
        os.makedirs(options.out, exist_ok=True)
        write_scene(random_world.make_world(options.seed), options.out)
        return 0
    try:
        run_numbers.load()
    except ImportError as missing:
        print("skipped: %s" % missing)
        return 77
    if options.world:
        return judge_file(options.world)
    if not options.count and not options.seeds and judge_objects():
        return 1
    seeds = SEEDS_OF_TESTS[::4 if SLOW else 1]
    if options.count:
        seeds = range(options.first, options.first + options.count)
    if options.seeds:
        seeds = [int(seed) for seed in options.seeds.split(",")]
    return report(scenes.soak(seeds, options.jobs, functools.partial(try_world, shrink_to=options.shrink)))


if __name__ == "__main__":
    sys.exit(main())
