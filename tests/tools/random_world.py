"""A random world for test_random_worlds.py, as a function of its seed: several groups of bodies that have nothing
to do with each other, such as a tower at rest beside a box that slides at 50 m/s. A group says what must hold of it,
which world_judge.py examines; a world is plain data, of which parts can be left out to find the smallest that fails.

    world: seed, dimension, gravity, run (of the scene), periodic (or None), groups
    group: kind, law (its material), bodies, joints, cells, generators, outlets (of the scene), and
      rest      its bodies are at rest, and some force field holds them there: they stay
      isolated  nothing outside touches them: momentum is conserved
      slides    [name, speed, mu]: a body that slides straight and is braked by mu g alone
      efforts   {joint: largest torque of its motor, N m}
      pushers   names of dynamic bodies that a cell moves: to the others they are driven walls
      drop      names of bodies that can be left out, in this order ("any": in any order), and all stays true"""
import math

from random_scene import EDGES, SCHEMES, SHAPES, Chance, orientation

APART = 40.0  # m between groups
MOST_STEPS = 200
EXACT = ("coulomb", "fixed-point", "coulomb-newton", "moreau-jean")


def at(place, x, up, y=0.0):
    """A point of the group: along x, up, and in 3D across."""
    digits = [float("%.15g" % v) for v in ((x, up) if place["d"] == 2 else (x, y, up))]
    digits[0] += place["x"]
    return digits


def way(place, x, up, y=0.0):
    return [float("%.9g" % v) for v in ((x, up) if place["d"] == 2 else (x, y, up))]


def flat(place, x, up, y=None):
    """Full lengths of a box."""
    return way(place, x, up, x if y is None else y)


def floor_of(c, place, up=0.0, way=0.0):
    """A fixed plane, or a slab of 20 m, whose top is there; a plane where something goes this far."""
    if c.is_so(0.5) or way > 8:
        return {"name": "floor", "motion": "fixed", "shape": {"half_space": {}}, "position": at(place, 0, up)}
    return {"name": "floor", "motion": "fixed", "shape": {"box": {"size": flat(place, 20, 1)}},
            "position": at(place, 0, up - 0.5)}


def group_of(kind, bodies, **more):
    return dict({"kind": kind, "bodies": bodies, "joints": [], "cells": [], "generators": [], "outlets": [],
                 "rest": False, "isolated": False, "slides": None, "efforts": {}, "pushers": [], "drop": []}, **more)


def densities(c, count):
    """Equal, or up to 10,000 times different."""
    ratio = c.pick(1, 1, 1, 10, 100, 1000, 10000)
    return [100 * ratio if c.is_so(0.5) else 100 for _ in range(count)]


def speed_of(c, place, size):
    """m/s: slow, fast, and at most a tenth, seldom a third, of its size in a step."""
    return min(c.pick(0.1, 1, 1, 3, 10, 50) * c.real(0.5, 1), c.pick(0.1, 0.1, 0.1, 0.3) * size / place["h"])


def ball(name, r, position, density, velocity=None):
    body = {"name": name, "shape": {"sphere": {"radius": r}}, "position": position, "density": density}
    if velocity:
        body["velocity"] = velocity
    return body


def any_shape(c, place, name, size, position, density):
    d = place["d"]
    kind = c.pick("sphere", "box", "box", "capsule", "ellipsoid", "polyhedron")
    shape = SHAPES[d][kind](c, size, d, None) if kind != "polyhedron" else {"polyhedron": {"points": [
        way(place, size * x, size * z, size * y) for x in (-0.5, 0.5) for z in (-0.4, 0.4)
        for y in ((-0.5, 0.5) if d == 3 else (0,))]}}
    return dict({"name": name, "shape": shape, "position": position, "density": density}, **orientation(c, d))


# ---- groups that move

def crowd(c, place):
    """Balls in a row between two walls, exactly as far apart as they need."""
    n, r = c.whole(1, 5), c.pick(0.05, 0.1, 0.1, 1)
    v, rho = speed_of(c, place, r), densities(c, n)
    balls = [ball("ball %d" % k, r, at(place, (2 * k + 1 - n) * r, c.pick(0, 0, r * c.real(-0.01, 0.01))), rho[k],
                  way(place, v * c.real(-1, 1), v * c.real(-1, 1), v * c.real(-1, 1)) if c.is_so(0.7) else None)
             for k in range(n)]
    width = 2 * r * n + c.pick(0, 0, 0, 1e-4, 0.1 * r)
    walls = [{"name": "walls", "motion": "fixed", "shape": {"inside_box": {"size": flat(place, width, 6 * r, 6 * r)}},
              "position": at(place, 0, 0)}]
    if c.is_so(0.4):
        walls = [{"name": "wall %d" % k, "motion": "fixed", "shape": {"half_space": {"axis": way(place, s, 0)}},
                  "position": at(place, -s * width / 2, 0)} for k, s in enumerate((1, -1)) if k == 0 or c.is_so(0.8)]
    return group_of("crowd", walls + balls, drop="any")


def gas(c, place):
    """Bodies in a closed box, fast ones among them."""
    n, r = c.whole(2, place["most"]), 0.1
    v, rho, mixed = speed_of(c, place, r), densities(c, n), c.is_so(0.3)
    bodies = []
    for k in range(n):
        here = at(place, -0.45 + 0.3 * (k % 4) + c.real(-0.04, 0.04), c.real(-0.04, 0.04) + 0.3 * (k // 4 - 0.5),
                  c.real(-0.05, 0.05))
        one = any_shape(c, place, "body %d" % k, r, here, rho[k]) if mixed else ball("body %d" % k, r, here, rho[k])
        bodies.append(dict(one, velocity=way(place, *(v * c.real(-1, 1) for _ in range(3)))))
    box = {"name": "box", "motion": "fixed", "shape": {"inside_box": {"size": flat(place, 1.4, 0.8, 0.6)}},
           "position": at(place, 0, 0)}
    return group_of("gas", [box] + bodies, drop="any")


def cloud(c, place):
    """Bodies in free space that meet: a row, or from all sides."""
    n, r, mixed = c.whole(2, place["most"]), 0.1, c.is_so(0.3)
    v, rho, gap = speed_of(c, place, r), densities(c, n), c.pick(0, 0, 1e-4, 0.01)
    bodies, row = [], c.is_so(0.5)
    for k in range(n):
        if row:
            here = at(place, k * (2 * r + gap), 0)
            bodies.append(ball("body %d" % k, r, here, rho[k], way(place, v, 0) if k == 0 else None))
            continue
        a = 2 * math.pi * k / n + c.real(-0.1, 0.1)
        reach = (r + gap) / math.sin(math.pi / n) if n > 1 else r
        reach *= 3 if mixed else 1.4
        here = at(place, reach * math.cos(a), reach * math.sin(a), c.real(-0.02, 0.02))
        one = any_shape(c, place, "body %d" % k, r, here, rho[k]) if mixed else ball("body %d" % k, r, here, rho[k])
        bodies.append(dict(one, velocity=way(place, -v * math.cos(a), -v * math.sin(a))))
    return group_of("cloud", bodies, isolated=True, drop="any")


def tube(c, place):
    """A ball that runs around the inside of a tube, or a cone."""
    big, r = c.pick(0.5, 1, 2), c.pick(0.05, 0.1)
    v, turn = speed_of(c, place, r), c.pick(-math.pi / 2, -math.pi / 2, c.real(-3, 3))
    wall = {"inside_cylinder": {"radius": big} if place["d"] == 2 else {"radius": big, "axis": [0, 1, 0]}}
    b = ball("ball", r, at(place, (big - r) * math.cos(turn), (big - r) * math.sin(turn)), c.pick(100, 1000, 8000),
             way(place, -v * math.sin(turn), v * math.cos(turn), c.pick(0, 0, 0.2)))
    if place["d"] == 3 and c.is_so(0.3):
        angle = c.real(0.4, 1.2)
        wall = {"inside_cone": {"half_angle": angle}}
        b["position"] = at(place, big, big / math.tan(angle) + r / math.sin(angle))
        b["velocity"] = way(place, 0, 0, v)
    return group_of("tube", [{"name": "tube", "motion": "fixed", "shape": wall, "position": at(place, 0, 0)}, b])


def onto(c, place):
    """A ball that slides or rolls off a fixed or a free ball."""
    r, a = 0.1, c.real(0.05, 0.9)
    low = ball("low", 0.5, at(place, 0, 0), 1000)
    low["motion"] = "fixed"
    del low["density"]
    top = ball("top", r, at(place, (0.5 + r) * math.sin(a), (0.5 + r) * math.cos(a)), c.pick(100, 8000))
    return group_of("onto", [low, top])


def slider(c, place):
    """A box that slides straight over a floor."""
    size, mu = c.pick(0.2, 1, 2), place["law"]["friction"]
    v = min(c.pick(0.5, 5, 20, 50), 0.3 * size / place["h"])
    box = {"name": "box", "shape": {"box": {"size": flat(place, size, 0.25 * size)}}, "density": 1000,
           "position": at(place, 0, 0.125 * size), "velocity": way(place, v, 0)}
    return group_of("slider", [floor_of(c, place, 0.0, v * MOST_STEPS * place["h"]), box], slides=["box", v, mu] if mu <= 0.8 else None)


def debris(c, place):
    """Bodies of any shape that are thrown onto a floor."""
    n = c.whole(1, min(4, place["most"]))
    rho, v = densities(c, n), speed_of(c, place, 0.1)
    bodies = []
    for k in range(n):
        body = any_shape(c, place, "body %d" % k, 0.15, at(place, 0.5 * k, 0.3 + c.real(0, 0.2)), rho[k])
        body["velocity"] = way(place, v * c.real(-1, 1), -v * c.random(), 0.1 * c.real(-1, 1))
        body["angular_velocity"] = c.vector(5) if place["d"] == 3 else c.real(-5, 5)
        bodies.append(body)
    return group_of("debris", [floor_of(c, place)] + bodies, drop="any")


def hit_tower(c, place):
    """A tower, and a ball that hits it."""
    made = tower(c, place)
    v = speed_of(c, place, 0.1)
    hit = ball("hit", 0.1, at(place, -0.9, 0.3), c.pick(100, 1000, 10000), way(place, v, 0))
    return dict(made, kind="hit tower", bodies=made["bodies"] + [hit], rest=False, drop="any")


# ---- groups that rest

def tower(c, place):
    """Boxes on each other, each narrower than the one below it: no friction is needed."""
    n, up, wide, bodies = c.whole(1, min(6, place["most"])), 0.0, 1.0, []
    rho = densities(c, n)
    for k in range(n):
        height = c.pick(0.1, 0.2, 0.5, 1)
        bodies.append({"name": "box %d" % k, "shape": {"box": {"size": flat(place, wide, height)}},
                       "density": rho[k], "position": at(place, 0, up + height / 2)})
        up += height
        wide *= c.pick(1, 1, 0.9, 0.7)
    return group_of("tower", [floor_of(c, place)] + bodies, rest=True,
                    drop=["box %d" % k for k in reversed(range(n))])


def slope(c, place):
    """Flat blocks side by side on a slope that is less steep than friction allows."""
    mu = place["law"]["friction"]
    angle = math.atan(mu * c.real(0.3, 0.8))
    s, t = math.sin(angle), math.cos(angle)
    blocks, turn = [], {"angle": angle} if place["d"] == 2 else {"orientation": {"axis": [0, -1, 0], "angle": angle}}
    for k in range(c.whole(1, 4)):
        thick = 0.1 * min(1.0, 1 / mu)
        x = 0.5 * k
        blocks.append(dict({"name": "block %d" % k, "shape": {"box": {"size": flat(place, 0.3, thick)}},
                            "density": c.pick(100, 1000, 8000),
                            "position": at(place, x * t - s * thick / 2, x * s + t * thick / 2)}, **turn))
    plane = {"name": "plane", "motion": "fixed", "shape": {"half_space": {"axis": way(place, -s, t)}},
             "position": at(place, 0, 0)}
    return group_of("slope", [plane] + blocks, rest=True, drop="any")


def pile(c, place):
    """Disks in a triangle. With mu >= 0.54 there is a force field that holds up to 8 rows (row forces straight
    down the rows of the triangle, tan 15 degrees = 0.27 between disks, and on the floor 0.53 at 8 rows)."""
    rows, r = c.whole(2, 6), c.pick(0.1, 1)
    disks = [ball("disk %d %d" % (i, k), r, at(place, (2 * k + i) * r, r + i * r * math.sqrt(3)), 1000)
             for i in range(rows) for k in range(rows - i)]
    return group_of("pile", [floor_of(c, place)] + disks, rest=True, drop=[disks[-1]["name"]])


def layer(c, place):
    """Balls that touch, in a row on the floor between two walls, or free."""
    n, r = c.whole(1, place["most"]), c.pick(0.05, 0.5)
    rho = densities(c, n)
    balls = [ball("ball %d" % k, r, at(place, (2 * k + 1) * r, r), rho[k]) for k in range(n)]
    bodies = [floor_of(c, place)] + balls
    if c.is_so(0.5):
        bodies.append({"name": "left", "motion": "fixed", "shape": {"half_space": {"axis": way(place, 1, 0)}},
                       "position": at(place, 0, 0)})
    return group_of("layer", bodies, rest=True, drop="any")


def beam(c, place):
    """A beam on two blocks, with a weight on its middle: no friction is needed."""
    n = densities(c, 4)
    bodies = [{"name": "post %d" % k, "shape": {"box": {"size": flat(place, 0.2, 0.4)}}, "density": n[k],
               "position": at(place, x, 0.2)} for k, x in enumerate((-0.6, 0.6))]
    bodies += [{"name": "beam", "shape": {"box": {"size": flat(place, 1.6, 0.1, 0.2)}}, "density": n[2],
                "position": at(place, 0, 0.45)},
               {"name": "weight", "shape": {"box": {"size": flat(place, 0.2, 0.2)}}, "density": n[3],
                "position": at(place, c.real(-0.3, 0.3), 0.6)}]
    return group_of("beam", [floor_of(c, place)] + bodies, rest=True, drop=["weight", "beam"])


# ---- groups that something drives

def machine_motion(c, place, size):
    """A driver that moves by at most a tenth of the size in a step."""
    most = min(3.0, 0.1 * size / place["h"])
    f = c.real(1, 8)
    a = min(0.05, most / (2 * math.pi * f))
    kind = c.pick("shake", "motion", "expression")
    if kind == "shake":
        return {"shake": {"amplitude": way(place, a * c.real(-1, 1), a), "frequency": f}}
    up = "z" if place["d"] == 3 else "y"
    if kind == "motion":
        return {"motion": {up: {"harmonic": {"amplitude": a, "frequency": f}}, "vx": c.real(-1, 1)}}
    return {"motion": {"x": "%.5g * sin(%.5g * t)" % (a, 6 * f), up: "%.5g * (1 - cos(%.5g * t))" % (a, 4 * f)}}


def shaker(c, place):
    """Bodies on a table that moves."""
    n = c.whole(1, min(5, place["most"]))
    rho = densities(c, n)
    bodies = []
    for k in range(n):
        here = at(place, 0.4 * k - 0.8, 0.1)
        box = {"name": "body %d" % k, "shape": {"box": {"size": flat(place, 0.3, 0.2)}}, "density": rho[k],
               "position": here}
        bodies.append(box if c.is_so(0.5) else ball("body %d" % k, 0.1, here, rho[k]))
    table = {"name": "table", "motion": "driven", "shape": {"box": {"size": flat(place, 4, 0.5)}},
             "position": at(place, 0, -0.25), "drivers": [machine_motion(c, place, 0.2)]}
    return group_of("shaker", [table] + bodies, drop="any")


def belt(c, place):
    """Bodies on a belt."""
    made = shaker(c, place)
    table = dict(made["bodies"][0], motion="fixed", surface_velocity=way(place, c.real(-3, 3), 0))
    del table["drivers"]
    return dict(made, kind="belt", bodies=[table] + made["bodies"][1:])


def mill(c, place):
    """Balls or boxes in a drum that turns, sometimes exactly as wide as they need, with or without a lifter."""
    n, r = c.whole(1, min(6, place["most"])), 0.1
    big = c.pick(0.8, 0.8, 2 * r * n)
    w = min(c.pick(0.5, 2, 5), 0.1 * r / place["h"] / big)
    axis = {} if place["d"] == 2 else {"axis": [0, 1, 0]}
    turn = {"motion": dict(axis, spin=c.pick(w, "%g * sin(3 * t)" % w, {"ramp": {"from": 0, "to": w, "stop": 0.1}}),
                           point=at(place, 0, 0))}
    drum = {"name": "drum", "motion": "driven", "shape": {"inside_cylinder": dict(axis, radius=big)},
            "position": at(place, 0, 0), "drivers": [turn]}
    rho, bodies = densities(c, n), [drum]
    if c.is_so(0.4) and big == 0.8:
        bodies.append({"name": "lifter", "motion": "driven", "shape": {"box": {"size": flat(place, 0.1, 0.2, 2)}},
                       "position": at(place, 0.75, 0), "drivers": [turn]})
    for k in range(n):
        x = (2 * k + 1 - n) * r
        here = at(place, x, 0 if big != 0.8 else -math.sqrt((big - r) ** 2 - x * x) + 0.1 * (k % 2))
        if abs(x) + 0.1 > big - r and big == 0.8:
            continue
        bodies.append(ball("ball %d" % k, r, here, rho[k]))
    return group_of("mill", bodies, drop="any")


def pendulum(c, place):
    """A chain that hangs from the world, with or without a motor, above a floor or not."""
    n = c.whole(1, min(3, place["most"]))
    bodies, joints, efforts, d3 = [], [], {}, place["d"] == 3
    for k in range(n):
        here = at(place, 0.4 * k + 0.2, 0)
        body = ball("link %d" % k, 0.1, here, c.pick(100, 1000, 8000)) if c.is_so(0.5) else {
            "name": "link %d" % k, "shape": {"box": {"size": flat(place, 0.35, 0.1)}}, "position": here,
            "density": c.pick(100, 1000, 8000)}
        bodies.append(body)
        keys = {"name": "pin %d" % k, "a": "link %d" % k, "anchor": at(place, 0.4 * k, 0)}
        if k:
            keys["b"] = "link %d" % (k - 1)
        kind = c.pick("revolute", "revolute", "ball") if d3 else "revolute"
        if kind == "revolute" and d3:
            keys["axis"] = [0, 1, 0]
        if kind == "revolute" and k == 0 and c.is_so(0.5):
            effort = c.pick(1, 20, 500)
            keys["turn"] = {"motor": "velocity", "effort": effort, "target": c.pick(
                c.real(-3, 3), "%.4g * sin(%.4g * t)" % (c.real(1, 4), c.real(2, 20)),
                {"harmonic": {"amplitude": 3, "frequency": c.real(1, 5)}})}
            efforts["pin 0"] = effort
        joints.append({kind: keys})
    if c.is_so(0.6):
        bodies.insert(0, floor_of(c, place, -0.2 - 0.3 * c.random()))
    return group_of("pendulum", bodies, joints=joints, efforts=efforts, drop=[])


def servo(c, place):
    """Balls between walls, and a lid that presses on them with a force."""
    n, r = c.whole(1, min(6, place["most"])), 0.1
    rho = densities(c, n)
    wide = 2 * r * n + c.pick(0, 0.01)
    up = "z" if place["d"] == 3 else "y"
    balls = [ball("ball %d" % k, r, at(place, (2 * k + 1) * r, r), rho[k]) for k in range(n)]
    walls = [{"name": "floor", "motion": "fixed", "shape": {"box": {"size": flat(place, 4, 0.2)}},
              "position": at(place, wide / 2, -0.1)},
             {"name": "lid", "shape": {"box": {"size": flat(place, 4, 0.2)}},
              "position": at(place, wide / 2, 2 * r + c.pick(0, 0.01) + 0.1)}]
    walls += [{"name": name, "motion": "fixed", "shape": {"half_space": {"axis": way(place, s, 0)}},
               "position": at(place, x, 0)} for name, s, x in (("left", 1, 0), ("right", -1, wide))]
    force = c.pick(10, 500, "100 * (1 + sin(20 * t))", {"ramp": {"from": 0, "to": 300, "stop": 0.1}})
    keys = {up: {"low": "floor", "high": "lid", "force": force}}
    if c.is_so(0.6):
        keys.update(mass=c.pick(1, 20), damping=c.pick(0, 100))
    return group_of("servo", walls + balls, cells=[keys], pushers=["lid"], drop="any")


def flow(c, place):
    """An inlet above a floor, and an outlet; sometimes what leaves comes back."""
    r = c.pick(0.05, 0.1)
    ground = floor_of(c, place)
    rate = c.pick(20, 100, "50 * (1 + sin(30 * t))")
    pour = {"pour": {"name": "inlet", "count": c.whole(1, place["most"]), "rate": rate, "radius": r,
                     "density": 1000, "centre": at(place, 0, 1), "size": flat(place, 0.6, 0.2, 0.2),
                     "velocity": way(place, 0, -min(2, 0.2 * r / place["h"]))}}
    outlet = {"box": {"centre": at(place, 0, 0.5), "size": flat(place, 3, c.pick(0.2, 0.5), 3)}}
    if c.is_so(0.5) and place["alone"]:
        outlet = {"age": {"after": c.real(0.02, 0.2)}}  # of bodies anywhere
    if c.is_so(0.4):
        outlet[next(iter(outlet))]["to"] = "inlet"
    return group_of("flow", [ground], generators=[pour], outlets=[outlet] if c.is_so(0.7) else [])


# ---- the world

MOVING = (crowd, crowd, gas, cloud, cloud, tube)
NEED_WEIGHT = (slider, slider, onto, debris, hit_tower, pendulum, shaker, belt, mill, mill, servo, flow)
RESTING = (tower, tower, slope, slope, layer, beam, pile)


def make_law(c, kind, scheme):
    law = {"friction": c.pick(0, 0, 0.005, 0.1, 0.3, 0.5, 0.8, c.real(0, 1.5))}
    if kind in ("slope", "pile"):
        law["friction"] = c.real(0.6, 1.2) if kind == "pile" else c.real(0.2, 1.2)
    elif c.is_so(0.5) and kind != "servo":
        law["restitution"] = c.pick(1, c.real(0, 1), c.real(0, 1))
        if c.is_so(0.2) and kind != "pendulum":
            law["restitution_law"] = "poisson"
    if scheme == "frictionless":
        law["friction"] = 0
    return law


def make_run(c, scheme):
    h = c.pick(5e-4, 1e-3, 1e-3, 2e-3, 2e-3, 5e-3, 5e-3, 1e-2, 1 / 64)
    steps = c.whole(20, 60) if scheme in EDGES + ("coulomb-newton",) else c.whole(40, MOST_STEPS)
    keys = {"time_step": h, "duration": float("%.6g" % (h * steps)), "scheme": scheme, "certificate": "full",
            "threads": 1, "paraview": False, "picture": False, "state": False, "frame_interval": 1000.0}
    if c.is_so(0.4):
        keys["tolerance"] = c.pick(1e-2, 1e-4, 1e-6, 1e-8)
    if c.is_so(0.25) and scheme not in EDGES + ("coulomb-newton", "auto"):
        keys["solver"] = c.pick("ngs", "pgs", "newton", "admm")
    if c.is_so(0.1):
        keys["stabilisation"] = c.pick(0.2, 0.5)
    if c.is_so(0.1):
        keys["warm_start"] = False
    elif c.is_so(0.1) and scheme != "auto":
        keys["sleep"] = True
    if c.is_so(0.1):
        keys["impact_rounds"] = c.pick(0, 1, 5)
    if c.is_so(0.05):
        keys["parts"] = 2
    return keys


def cell_world(c, world, place):
    """Balls or boxes in a cell that repeats itself on all sides, and shears, shrinks, or neither."""
    d, side = world["dimension"], 1.0
    rate = c.pick(0, 0.3, 1, 3)
    row = [0.0] * d
    shear = list(row)
    shear[d - 1] = c.pick(rate, rate, {"harmonic": {"amplitude": rate, "frequency": c.real(1, 5)}})
    rows = {"gradient_x": shear}
    if c.is_so(0.2):
        shrink = -0.1 * min(rate, 1 / world["run"]["duration"])
        rows = {"gradient_" + "xyz"[k]: [shrink if k == j else 0.0 for j in range(d)] for k in range(d)}
    world["run"].pop("sleep", None)
    world["gravity"], world["periodic"] = [0.0] * d, dict(rows, axes=["x", "y", "z"][:d], low=row, high=[side] * d)
    n, per = c.whole(2, place["most"]), 3
    r, v, rho, mixed = c.real(0.08, 0.14), speed_of(c, place, 0.1), densities(c, n), c.is_so(0.3)
    bodies = []
    for k in range(n):
        here = [(i + 0.5) * side / per for i in (k % per, k // per % per, k // per // per)][:d]
        velocity = [v * c.real(-1, 1) for _ in range(d)]
        one = any_shape(c, place, "body %d" % k, 0.1, here, rho[k]) if mixed else ball("body %d" % k, r, here, rho[k])
        bodies.append(dict(one, velocity=velocity))
    law = make_law(c, "cell", world["run"]["scheme"])
    world["groups"] = [group_of("cell", bodies, isolated=True, drop="any", law=law)]


def pick_kinds(c, scheme, d, weight):
    """One to four kinds; with weight usually one that rests among them."""
    if not weight:
        return [c.pick(*MOVING) for _ in range(c.pick(1, 1, 2))]
    resting = [k for k in RESTING if (k is not slope or scheme != "frictionless") and
               (k is not pile or d == 2 and scheme != "frictionless")]
    kinds = [c.pick(*resting)] if c.is_so(0.6) else []
    kinds += [c.pick(*(MOVING + NEED_WEIGHT)) for _ in range(c.pick(0, 1, 1, 2, 3) if kinds else c.pick(1, 1, 1, 2))]
    servos, flows = [k for k in kinds if k is servo], [k for k in kinds if k is flow]
    others = [k for k in kinds if k is not servo and k is not flow]
    return others + flows[:1] + servos[:4]  # of whose flow a new body is could not be told


def make_world(seed):
    """The world of this seed."""
    c = Chance(seed + (1 << 40))
    d, scheme = c.pick(2, 3, 3), c.pick(*SCHEMES)
    weight = c.is_so(0.75)
    gravity = [0.0] * (d - 1) + ([-9.81] if weight else [0.0])
    world = {"seed": seed, "dimension": d, "gravity": gravity, "run": make_run(c, scheme), "periodic": None,
             "groups": []}
    place = {"d": d, "x": 0.0, "alone": True, "h": world["run"]["time_step"],
             "most": 3 if d == 3 and scheme in EDGES else 8}
    if c.is_so(0.1):
        cell_world(c, world, place)
        return world
    kinds = pick_kinds(c, scheme, d, weight)
    place["alone"] = len(kinds) == 1
    for kind in kinds:
        place["law"] = make_law(c, kind.__name__, scheme)
        world["groups"].append(dict(kind(c, place), law=place["law"]))
        place["x"] += APART
    if any(g["joints"] or g["cells"] for g in world["groups"]):
        world["run"].pop("sleep", None)
        for g in world["groups"]:
            g["law"].pop("restitution_law", None)
    return world


# ---- the scene of a world

def named(body, k):
    return dict(body, name="%d %s" % (k, body["name"]))


def renamed(joint, k):
    kind, keys = next(iter(joint.items()))
    return {kind: {key: "%d %s" % (k, value) if key in ("name", "a", "b") else value for key, value in keys.items()}}


def scene_of(world):
    """The scene, with names "3 box 1" for box 1 of group 3; groups do not touch each other."""
    groups = world["groups"]
    scene = {"cairn": 1, "title": "random world %d" % world["seed"], "dimension": world["dimension"],
             "gravity": world["gravity"], "materials": {}, "bodies": [], "joints": [], "generators": [], "cells": [],
             "outlets": [], "run": world["run"]}
    if world["periodic"]:
        scene["periodic"] = world["periodic"]
    for k, g in enumerate(groups):
        alone = {"group": k, "mask": 1 << k} if len(groups) > 1 else {}
        own = dict(alone, material="matter %d" % k)
        scene["materials"]["matter %d" % k] = g["law"]
        scene["bodies"] += [dict(named(body, k), **own) for body in g["bodies"]]
        scene["joints"] += [renamed(joint, k) for joint in g["joints"]]
        scene["generators"] += [{kind: dict(named(keys, k), **own) for kind, keys in one.items()}
                                for one in g["generators"]]
        scene["cells"] += [{key: dict(value, low="%d %s" % (k, value["low"]), high="%d %s" % (k, value["high"]))
                            if key in "xyz" else value for key, value in cell.items()} for cell in g["cells"]]
        scene["outlets"] += [{kind: dict(keys, to="%d %s" % (k, keys["to"])) if "to" in keys else keys
                              for kind, keys in one.items()} for one in g["outlets"]]
    return {key: value for key, value in scene.items() if value != []}
