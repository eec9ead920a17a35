"""A random small scene for test_random_scenes.py: a function of its seed. 2D or 3D, a container or ground or none, 1
to 8 bodies of any shape that do not overlap, most of them about to touch something; any law, scheme and option
that go together (what cairn refuses by its documentation is left out)."""
import json
import math
import os

import random_truth as truth

GOLDEN = 0x9E3779B97F4A7C15


class Chance:
    """Random numbers by splitmix64: the same on every machine and with every version of Python."""

    def __init__(self, seed):
        self.state = seed
        # neighbouring seeds would give one sequence, shifted
        self.state = int(self.random() * (1 << 53)) * 2048

    def random(self):
        self.state = self.state + GOLDEN & (1 << 64) - 1
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
        z = (z ^ z >> 27) * 0x94D049BB133111EB & (1 << 64) - 1
        return ((z ^ z >> 31) >> 11) / (1 << 53)

    def real(self, low, high):
        """Rounded to 5 digits, so that it reads well."""
        return float("%.5g" % (low + (high - low) * self.random()))

    def whole(self, low, high):
        return low + int((high - low + 1) * self.random())

    def pick(self, *values):
        return values[int(len(values) * self.random())]

    def is_so(self, share):
        return self.random() < share

    def vector(self, size, dimension=3):
        return [self.real(-size, size) for _ in range(dimension)]

    def direction(self, dimension=3):
        while True:
            v = self.vector(1, dimension)
            if 0.2 < math.sqrt(sum(x * x for x in v)) <= 1:
                return v


# ---- meshes: (vertices, triangles) in files beside the scene

def cut(faces):
    """Polygons as triangles."""
    return [(f[0], f[k], f[k + 1]) for f in faces for k in range(1, len(f) - 1)]


def prism(outline, height):
    """A solid over a polygon that runs counterclockwise; `cut` must be right for its caps."""
    n = len(outline)
    vertices = [(x, y, z) for z in (-height / 2, height / 2) for x, y in outline]
    sides = [(k, (k + 1) % n, n + (k + 1) % n, n + k) for k in range(n)]
    return vertices, sides, n


def block():
    vertices, sides, n = prism([(-1, -1), (1, -1), (1, 1), (-1, 1)], 1.4)
    return vertices, cut(sides + [tuple(reversed(range(n))), tuple(range(n, 2 * n))])


def corner():
    """An L: not convex; its caps are two quadrilaterals from the inner corner, vertex 3."""
    vertices, sides, n = prism([(-1, -1), (1, -1), (1, 0), (0, 0), (0, 1), (-1, 1)], 1)
    caps = [(3, 0, 1, 2), (3, 4, 5, 0)]
    return vertices, cut(sides + [tuple(n + k for k in f) for f in caps] + [tuple(reversed(f)) for f in caps])


def tetrahedron():
    return ([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)], [(0, 1, 2), (0, 2, 3), (0, 3, 1), (1, 3, 2)])


def octahedron():
    return ([(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 0.8), (0, 0, -0.8)],
            [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)])


def torus():
    m, n, vertices, faces = 6, 4, [], []
    for i in range(m):
        for j in range(n):
            a, b = 2 * math.pi * i / m, 2 * math.pi * j / n
            r = 0.7 + 0.3 * math.cos(b)
            vertices.append((r * math.cos(a), r * math.sin(a), 0.3 * math.sin(b)))
            k, l = (i + 1) % m, (j + 1) % n
            faces.append((i * n + j, k * n + j, k * n + l, i * n + l))
    return vertices, cut(faces)


SOLID_MESHES = {"block.obj": block, "corner.obj": corner, "tetrahedron.obj": tetrahedron,
                "octahedron.obj": octahedron, "torus.obj": torus}


def sheet(chance, low):
    """Open ground of triangles, 3 m wide."""
    n = chance.whole(2, 4)
    rough = chance.pick(0.0, 0.02, 0.1)
    vertices = [(3 * i / (n - 1) - 1.5, 3 * j / (n - 1) - 1.5, low + rough * chance.real(-1, 1))
                for j in range(n) for i in range(n)]
    faces = [(j * n + i, j * n + i + 1, j * n + n + i + 1, j * n + n + i)
             for j in range(n - 1) for i in range(n - 1)]
    return vertices, cut(faces)


def obj_text(mesh):
    vertices, faces = mesh
    return "".join("v %.9g %.9g %.9g\n" % tuple(v) for v in vertices) + \
        "".join("f %d %d %d\n" % tuple(k + 1 for k in f) for f in faces)


def rounded(mesh):
    """The numbers that the file holds."""
    return [tuple(float("%.9g" % x) for x in v) for v in mesh[0]], mesh[1]


# ---- shapes of bodies

def lengths(c, size, d):
    return [c.real(0.4 * size, size) for _ in range(d)]


def with_axis(c, keys, d):
    if c.is_so(0.4):
        keys["axis"] = c.direction(d)
    return keys


def make_box(c, size, d, _):
    keys = {"size": [2 * x for x in lengths(c, 0.7 * size, d)]}
    if c.is_so(0.3):
        keys["rounding"] = c.real(0.05, 0.45) * min(keys["size"])
    return {"box": keys}


def make_capsule(c, size, d, _):
    return {"capsule": with_axis(c, {"radius": c.real(0.2, 0.6) * size, "length": c.real(0, 1.4) * size}, d)}


def make_cylinder(c, size, d, _):
    return {"cylinder": with_axis(c, {"radius": c.real(0.3, 0.8) * size, "height": c.real(0.3, 1.4) * size}, d)}


def make_cone(c, size, d, _):
    return {"cone": with_axis(c, {"radius": c.real(0.4, 0.8) * size, "height": c.real(0.5, 1.4) * size}, d)}


def make_superellipsoid(c, size, d, _):
    keys = {"semi_axes": lengths(c, size, d), "exponent": c.pick(1.2, 1.5, 2, 3, 5, 10, 20)}
    if d == 3 and c.is_so(0.4):
        keys["exponent_z"] = c.pick(1.5, 2, 4, 8)
    return {"superellipsoid": keys}


def make_polyhedron(c, size, d, files):
    if d == 3 and c.is_so(0.3):
        name = c.pick("block.obj", "tetrahedron.obj", "octahedron.obj")
        files[name] = rounded(SOLID_MESHES[name]())
        keys = {"file": name, "scale": c.real(0.3, 0.6) * size}
    else:
        count = c.whole(d + 2, 10)
        keys = {"points": [[float("%.5g" % (size * x / max(0.5, math.hypot(*v)))) for x in v]
                           for v in (c.direction(d) for _ in range(count))]}
    if c.is_so(0.3):
        keys["rounding"] = 0.1 * size
    return {"polyhedron": keys}


def make_mesh(c, size, _, files):
    name = c.pick(*SOLID_MESHES)
    files[name] = rounded(SOLID_MESHES[name]())
    return {"mesh": {"file": name, "scale": c.real(0.4, 0.7) * size}}


def make_polyline(c, size, _, __):
    """A solid polygon, star-shaped about its origin, so often not convex."""
    count = c.whole(3, 8)
    corners = []
    for k in range(count):
        r, a = c.real(0.4, 1) * size, 2 * math.pi * (k + 0.3 * c.random()) / count
        corners.append([float("%.5g" % (r * math.cos(a))), float("%.5g" % (r * math.sin(a)))])
    return {"polyline": {"points": corners, "closed": True}}


def make_compound(c, size, d, files):
    parts = []
    for k in range(c.whole(2, 3)):
        kinds = [name for name in SHAPES[d] if name not in ("compound", "point")]
        part = {"shape": SHAPES[d][c.pick(*kinds)](c, 0.6 * size, d, files)}
        part["position"] = [0.5 * size * x for x in c.vector(1, d)] if k else [0.0] * d
        if c.is_so(0.6):
            part.update(orientation(c, d))
        parts.append(part)
    return {"compound": {"parts": parts}}


SHAPES = {3: {
    "sphere": lambda c, s, d, f: {"sphere": {"radius": c.real(0.3, 1) * s}},
    "point": lambda c, s, d, f: "point",
    "box": make_box, "capsule": make_capsule, "cylinder": make_cylinder, "cone": make_cone,
    "ellipsoid": lambda c, s, d, f: {"ellipsoid": {"semi_axes": lengths(c, s, d)}},
    "superellipsoid": make_superellipsoid, "polyhedron": make_polyhedron, "mesh": make_mesh,
    "compound": make_compound}}
SHAPES[2] = {name: SHAPES[3][name] for name in
             ("sphere", "point", "box", "capsule", "ellipsoid", "superellipsoid", "polyhedron", "compound")}
SHAPES[2]["polyline"] = make_polyline


def orientation(c, d):
    if d == 2:
        return {"angle": c.real(-3.1, 3.1)}
    if c.is_so(0.2):
        return {"orientation": [c.real(0.1, 1)] + c.vector(1)}
    if c.is_so(0.3):
        return {"orientation": {"axis": c.pick([1, 0, 0], [0, 1, 0], [0, 0, 1]),
                                "angle": c.pick(0.5, 0.7853981634, 1.570796327, 1.0471975512)}}
    return {"orientation": {"axis": c.direction(), "angle": c.real(-3.1, 3.1)}}


# ---- containers and ground

def bowl_of(c, d):
    """A closed polyline that runs clockwise, seen from inside a container."""
    count = c.whole(3, 7)
    turns = [2 * math.pi * (k + 0.2 * c.random()) / count for k in range(count)]
    return [[float("%.5g" % (0.9 * math.cos(-a))), float("%.5g" % (0.9 * math.sin(-a)))] for a in turns]


def rough_ground(c, d):
    if d == 2:
        count = c.whole(2, 8)
        rough = c.pick(0.0, 0.02, 0.15)
        xs = [1.5 - 3 * k / (count - 1) for k in range(count)]
        return {"polyline": {"points": [[float("%.5g" % x), rough * c.real(-1, 1)] for x in xs]}}
    rows, columns, rough = c.whole(2, 5), c.whole(2, 5), c.pick(0.0, 0.03, 0.15)
    keys = {"heights": [[rough * c.real(-1, 1) for _ in range(columns)] for _ in range(rows)],
            "spacing": float("%.5g" % (2.4 / (columns - 1)))}
    if c.is_so(0.3):
        keys["spacing_y"] = float("%.5g" % (2 / (rows - 1)))
    return {"height_field": keys}


def make_arena(c, d, files):
    """(bodies of the arena, where the middle of the bodies is, half the width of their region)."""
    up = [0, 0, 1] if d == 3 else [0, 1]
    kind = c.pick("half_space", "half_space", "slope", "inside_box", "inside_box", "inside_cylinder",
                  "inside_cylinder", "inside_cone", "inside_cone", "funnel", "ground", "ground", "mesh",
                  "bowl", "none", "corner")
    zero = [0.0] * d
    if kind == "half_space":
        return [{"half_space": {}}], [0.6 * x for x in up], 0.5
    if kind == "slope":
        lean = c.real(-1, 1)
        axis = [math.sin(lean), math.cos(lean)] if d == 2 else [math.sin(lean), 0, math.cos(lean)]
        return [{"half_space": {"axis": axis}}], [0.6 * x for x in axis], 0.4
    if kind == "inside_box":
        return [{"inside_box": {"size": lengths(c, 1.4, d)}}], zero, 0.7
    if kind == "inside_cylinder":
        keys = {"radius": c.real(0.4, 0.8)}
        if d == 2:
            return [{"inside_cylinder": keys}], zero, 0.7
        keys["axis"] = c.pick([0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0.2, 0.1])
        floor = [{"half_space": {"axis": [0, 0, 1]}, "_at": [0, 0, -0.4]}] if keys["axis"] == [0, 0, 1] else []
        return [{"inside_cylinder": keys}] + floor, zero, 0.6
    if kind == "inside_cone":
        return [{"inside_cone": {"half_angle": c.real(0.3, 1.3)}}], [0.8 * x for x in up], 0.6
    if kind == "funnel":
        keys = {"bottom_radius": c.real(0, 0.3), "top_radius": c.real(0.4, 0.9), "height": c.real(0.3, 0.8)}
        return [{"funnel": keys}], [0.8 * x for x in up], 0.5
    if kind == "mesh" and d == 3:
        if c.is_so(0.5):
            files["ground.obj"] = rounded(sheet(c, 0.0))
            return [{"mesh": {"file": "ground.obj"}}], [0, 0, 0.6], 0.4
        files["block.obj"] = rounded(block())
        return [{"mesh": {"file": "block.obj"}, "_at": [0, 0, -0.7]}], [0, 0, 0.6], 0.4
    if kind == "bowl" and d == 2:
        return [{"polyline": {"points": bowl_of(c, d), "closed": True}}], zero, 0.5
    if kind == "corner":
        walls = [{"half_space": {"axis": up}}]
        walls += [{"half_space": {"axis": [1, 0.3, 0.2][:d]}, "_at": [-0.5] + [0] * (d - 1)}]
        return walls, [0.5 * x for x in up], 0.4
    if kind == "none":
        return [], zero, 0.3
    return [rough_ground(c, d)], [0.6 * x for x in up], 0.4


# ---- where bodies start

def parted(a, pose_a, b, pose_b):
    """A lower bound of the distance of two solids: the best of several separating directions."""
    lines = [truth.sub(pose_a[0], pose_b[0])]
    for axis in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)):
        for n in (axis, truth.turned(pose_a[1], axis), truth.turned(pose_b[1], axis)):
            lines += [n, truth.times(-1, n)]
    lines += truth.directions(3, 12)
    if a.dimension == 2:
        lines = [(n[0], n[1], 0.0) for n in lines]
    return max(truth.apart(a, pose_a, b, pose_b, truth.unit(n)) for n in lines if truth.norm(n) > 1e-9)


def free(thing, pose, others, gap):
    """Whether the body is at least the gap away from everything."""
    for other, place in others:
        if other.kind in ("height_field", "polyline", "mesh", "funnel") and not other.is_body:
            if other.kind == "funnel":
                away = -(truth.depth(thing, pose, other, place) if thing.kind in ("sphere", "point") else 1)
            elif other.kind == "polyline" and other.keys.get("closed"):
                away = -other.solid.inside(truth.into(place, pose[0])) - thing.solid.radius
            else:
                up = (0.0, 0.0, 1.0) if thing.dimension == 3 else (0.0, 1.0, 0.0)
                top = max(truth.dot(up, truth.out_of(place, p)) for p, _ in other.solid.balls)
                away = -thing.support(pose)(truth.times(-1, up)) - top
        elif other.wall:
            away = -truth.depth(thing, pose, other, place)
        else:
            away = parted(thing, pose, other, place)
        if away < gap:
            return False
    return True


def settle(c, thing, pose, others, gap):
    """The body moved down until it would be nearer to something than the gap."""
    down = (0.0, 0.0, -1.0) if thing.dimension == 3 else (0.0, -1.0, 0.0)
    step = 0.4
    while step > 1e-5:
        lower = (truth.add(pose[0], truth.times(step, down)), pose[1])
        if free(thing, lower, others, gap) and truth.norm(lower[0]) < 2:
            pose = lower
        else:
            step /= 2
    return pose


def place(c, thing, others, middle, width):
    """A pose without overlap, often near something; None: none was found."""
    d = thing.dimension
    gap = c.pick(1e-6, 1e-4, 1e-3, 1e-2, 0.05)
    turn = orientation(c, d) if c.is_so(0.8) else {}
    for _ in range(30):
        x = [float("%.5g" % (m + width * c.real(-1, 1))) for m in middle]
        pose = truth.pose_of(dict(turn, position=x))
        if free(thing, pose, others, gap):
            if c.is_so(0.75):
                x = [float("%.7g" % v) for v in settle(c, thing, pose, others, gap)[0][:d]]
            return dict(turn, position=x)
    return None


# ---- laws and options

def material(c, d, scheme, plain):
    """plain: no laws that some other choice rules out."""
    keys = {"friction": c.pick(0, 0.1, 0.3, 0.5, 0.8, 1, 2, c.real(0, 1), c.real(0, 1), 10, 100, 1000)}
    if c.is_so(0.4):
        keys["restitution"] = c.pick(1, c.real(0, 1), c.real(0, 1))
        keys["restitution_law"] = c.pick("newton", "poisson")
    rolls = {"convex", "coulomb", "moreau-jean", "frictionless"}
    rolls |= {"lcp", "stewart-trinkle", "convex-polyhedral"} if d == 2 else set()
    if c.is_so(0.2) and scheme in rolls and keys.get("restitution_law") != "poisson" and not plain:
        keys["rolling_friction"] = c.pick(1e-3, 0.01, 0.1, 10, 1000)
        if d == 3 and c.is_so(0.6):
            keys["spinning_friction"] = c.pick(1e-3, 0.01, 0.1, 100, 1e4)
    if c.is_so(0.1):
        keys["adhesion"] = c.pick(0.1, 1, 10, 1000)
        if c.is_so(0.5):
            keys["adhesion_range"] = c.pick(1e-4, 1e-3)
    if d == 3 and c.is_so(0.08):
        keys["friction_2"] = c.real(0, 1)
    elif c.is_so(0.08) and scheme in ("coulomb", "fixed-point", "coulomb-newton", "lcp", "moreau-jean"):
        del keys["friction"]
        keys["friction_law"] = c.pick({"stribeck": {"static": 0.6, "dynamic": 0.2, "speed": 0.2}},
                                      {"table": {"speeds": [0, 0.1, 1], "values": [0.6, 0.4, 0.35]}})
    return keys


def make_materials(c, d, scheme):
    """One or two materials; rolling friction and Poisson's law are not taken together."""
    one = material(c, d, scheme, False)
    made = {"rock": one}
    if c.is_so(0.3):
        other = material(c, d, scheme, "poisson" in one.values())
        if "rolling_friction" in one or "rolling_friction" in other:
            other.pop("restitution_law", None)
        if "friction_law" in one or "friction_law" in other:
            one.pop("friction_2", None)
            other.pop("friction_2", None)
        made["wall"] = other
    return made


SCHEMES = ("convex", "convex", "coulomb", "coulomb", "coulomb", "fixed-point", "coulomb-newton", "lcp",
           "stewart-trinkle", "moreau-jean", "auto", "convex-polyhedral", "frictionless")


EDGES = ("lcp", "stewart-trinkle", "convex-polyhedral")


def make_run(c, scheme, laws, joints):
    h = c.pick(1e-3, 1e-3, 2e-3, 2e-3, 5e-3, 5e-3, 1e-2, 1e-2, 2e-2, c.pick(0.05, 0.2, 1, 10))
    steps = c.whole(5, 40)
    keys = {"time_step": h, "duration": float("%.6g" % (h * steps)), "scheme": scheme,
            "tolerance": c.pick(1e-3, 1e-3, 1e-3, 1e-4, 1e-6, 1e-6, 1e-8, 1e-10, 1e-2, 0.1),
            "max_iterations": 2000, "certificate": "full", "threads": 1, "paraview": False,
            "picture": False, "frame_interval": float("%.6g" % (h * c.whole(1, 10)))}
    if c.is_so(0.1) and scheme not in EDGES + ("coulomb-newton", "auto"):
        keys["solver"] = c.pick("ngs", "pgs", "newton", "admm")
    if c.is_so(0.1):
        keys["overlaps"] = c.pick("push", "keep")
    if c.is_so(0.1):
        keys["stabilisation"] = c.pick(0.2, 0.5, 0.8)
    if c.is_so(0.08) and scheme != "moreau-jean":
        keys["linearisations"] = c.pick(1, 5, 30)
    law = any("friction_law" in m for m in laws.values())
    if c.is_so(0.15) and scheme != "auto" and not law:
        keys["sleep"] = True
    elif c.is_so(0.1):
        keys["warm_start"] = False
    if scheme in EDGES:
        keys.setdefault("linearisations", 8 if scheme == "stewart-trinkle" else 0)
        keys.update(directions=c.pick(4, 6, 8, 8), max_fixed_point=20)
    return keys


# ---- motions, loads, joints, inlets

def make_driver(c, d):
    if c.is_so(0.3):
        return {"velocity": {"velocity": c.vector(0.5, d)}}
    if c.is_so(0.4):
        return {"shake": {"amplitude": c.vector(0.02, d), "frequency": c.real(1, 20), "phase": c.real(0, 3)}}
    if c.is_so(0.5):
        return {"rotation": {"angular_velocity": c.vector(1) if d == 3 else c.real(-1, 1)}}
    return {"table": {"time": [0, 0.05, 0.2], "x": [0, 0.01, -0.02], "angle": [0, 0.02, 0.05]}}


def make_load(c, d):
    keys = {"force": c.vector(20, d), "torque": c.vector(0.5) if d == 3 else c.real(-0.5, 0.5)}
    if c.is_so(0.3):
        return {"sine": dict(keys, frequency=c.real(1, 30))}
    return {"constant": keys}


def make_drive(c, coordinate):
    keys = c.pick({"friction": c.real(0, 2)}, {"motor": "velocity", "target": c.real(-2, 2), "effort": c.real(1, 20)},
                  {"motor": "position", "target": c.real(-0.3, 0.3), "effort": 10}, {"motor": "force", "target": 1},
                  {"stiffness": c.real(1, 200), "damping": c.real(0, 2)}, {"lower": -0.1, "upper": 0.1})
    return {coordinate: keys}


DRIVES = {"revolute": ["turn"], "prismatic": ["slide"], "cylindrical": ["turn", "slide"], "planar": ["turn"],
          "screw": ["turn", "slide"], "spring": ["slide"], "torsion_spring": ["turn"]}
TWO_ANCHORS = ("distance", "rope", "spring")
JOINTS = {2: ("fixed", "revolute", "prismatic", "distance", "rope", "gear", "spring", "torsion_spring", "bushing"),
          3: ("ball", "fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", "screw", "distance",
              "rope", "gear", "spring", "torsion_spring", "bushing")}


def joint_keys(c, d, kind, a, b):
    """Points between or at the bodies, axes at random."""
    xa, xb = a["position"], b["position"] if b else [x + 0.3 for x in a["position"]]
    keys = {"a": a["name"]}
    if b:
        keys["b"] = b["name"]
    if kind in TWO_ANCHORS:
        keys.update(anchor=xa, anchor_b=xb)
    elif kind != "gear":
        keys["anchor"] = [(p + q) / 2 for p, q in zip(xa, xb)]
    turning = d == 3 and kind not in TWO_ANCHORS + ("ball", "fixed", "bushing")
    if turning or kind == "prismatic":
        keys["axis"] = c.direction(d)
    if kind == "gear" and d == 3:
        keys["axis_b"] = c.direction()
    if kind == "gear":
        keys["ratio"] = c.real(-2, 2)
    if kind == "universal":
        keys["axis"], keys["axis_b"] = c.pick(([1, 0, 0], [0, 1, 0]), ([0, 1, 1], [1, 0, 0]))
    if kind == "screw":
        keys["pitch"] = c.real(0.01, 0.1)
    if kind == "bushing":
        keys.update(stiffness=c.real(10, 1000), damping=c.real(0, 5), turn_stiffness=c.real(0, 10))
    return keys


def make_joint(c, d, bodies):
    a = bodies[c.whole(0, len(bodies) - 1)]
    rest = [b for b in bodies if b is not a]
    b = c.pick(*rest) if rest and c.is_so(0.7) else None
    kind = c.pick(*JOINTS[d])
    keys = joint_keys(c, d, kind, a, b)
    if kind == "spring":
        keys["slide"] = {"stiffness": c.real(10, 500), "damping": c.real(0, 5), "rest": c.real(0.05, 0.5)}
    elif kind in DRIVES and c.is_so(0.6):
        keys.update(make_drive(c, c.pick(*DRIVES[kind])))
    if c.is_so(0.1):
        keys["break_force"] = c.real(5, 100)
    if b and c.is_so(0.2):
        keys["collide"] = True
    return {kind: keys}


def make_pour(c, d, middle):
    region = {"centre": list(middle), "size": [0.2] * d}
    return {"pour": dict(region, count=c.whole(1, 4), rate=c.pick(50, 200, 1000), radius=c.real(0.03, 0.08),
                         seed=c.whole(1, 999), density=1000)}


# ---- the scene

def arena_bodies(c, d, parts, laws):
    """The arena as bodies, sometimes driven or a belt."""
    bodies = []
    moves = c.is_so(0.2)
    for part in parts:
        at = part.pop("_at", None)
        body = {"motion": "driven" if moves else "fixed", "shape": part, "position": at or [0] * d}
        if "wall" in laws:
            body["material"] = "wall"
        if moves:
            body["drivers"] = [make_driver(c, d)]
        if c.is_so(0.1):
            body["surface_velocity"] = c.vector(1, d)
        if d == 3 and any("friction_2" in m for m in laws.values()):
            body["friction_axis"] = [1, 0.2, 0.1]
        bodies.append(body)
    return bodies


def moving_body(c, d, name, thing_shape, pose, laws):
    body = dict({"name": name, "shape": thing_shape}, **pose)
    if "wall" in laws:
        body["material"] = c.pick("rock", "wall")
    if thing_shape == "point":
        body["mass"] = c.real(0.1, 2)
    elif c.is_so(0.3):
        body["density"] = c.pick(100, 2500, 8000)
    if c.is_so(0.5):
        body["velocity"] = c.vector(c.pick(0.3, 1, 3), d)
    if c.is_so(0.4) and thing_shape != "point":
        body["angular_velocity"] = c.vector(c.pick(1, 5)) if d == 3 else c.real(-5, 5)
    if c.is_so(0.1):
        body["loads"] = [make_load(c, d)]
    return body


def make_bodies(c, d, arena, middle, width, laws, files, most):
    """1 to `most` bodies, as many as find a place."""
    others, bodies = [], []
    for body in arena:
        wall = truth.Thing(body["shape"], d, files)
        wall.is_body = False
        others.append((wall, truth.pose_of(body)))
    balls_only = any(other.kind == "funnel" for other, _ in others)
    for k in range(c.whole(1, most)):
        kind = c.pick("sphere", "point") if balls_only else c.pick(*SHAPES[d])
        shape = SHAPES[d][kind](c, c.real(0.05, 0.2), d, files)
        thing = truth.Thing(shape, d, files)
        thing.is_body = True
        pose = place(c, thing, others, middle, width)
        if pose is None:
            continue
        others.append((thing, truth.pose_of(pose)))
        bodies.append(moving_body(c, d, "body %d" % k, shape, pose, laws))
    return bodies


def make_scene(seed):
    """The scene as a value, and the meshes it names."""
    c, files = Chance(seed), {}
    d, scheme = c.pick(2, 3, 3), c.pick(*SCHEMES)
    laws = make_materials(c, d, scheme)
    parts, middle, width = make_arena(c, d, files)
    arena = arena_bodies(c, d, parts, laws)
    most = c.pick(2, 2, 3) if d == 3 and scheme in EDGES else c.pick(2, 4, 8)  # pivoting is for few
    bodies = make_bodies(c, d, arena, middle, width, laws, files, most)
    scene = {"cairn": 1, "title": "random scene %d" % seed, "dimension": d, "materials": laws,
             "bodies": arena + bodies}
    if c.is_so(0.15):
        scene["gravity"] = c.pick([0] * d, c.vector(9.81, d), [0] * (d - 1) + [-100])
    if len(laws) == 2 and c.is_so(0.2):
        scene["pairs"] = [{"materials": ["rock", "wall"], "restitution": 0.3}]
    if bodies and c.is_so(0.2):
        scene["joints"] = [make_joint(c, d, bodies) for _ in range(c.whole(1, 3))]
        for law in laws.values():
            law.pop("restitution_law", None)  # Poisson's is refused together with joints
    if c.is_so(0.1) and parts:
        pour = make_pour(c, d, middle)
        if "wall" in laws:
            pour["pour"]["material"] = "rock"
        scene["generators"] = [pour]
    scene["run"] = make_run(c, scheme, laws, scene.get("joints"))
    return scene, files


def write_scene(seed, folder):
    """scene.yaml (JSON is YAML) and its meshes; returns what make_scene does."""
    scene, files = make_scene(seed)
    for name, mesh in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(obj_text(mesh))
    with open(os.path.join(folder, "scene.yaml"), "w", encoding="utf-8") as file:
        json.dump(scene, file, indent=1)
        file.write("\n")
    return scene, files
