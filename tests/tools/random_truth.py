"""How deep two shapes of a scene overlap, by brute force, for test_random_scenes.py. Nothing is shared with cairn
or cairn-check: shapes are made from the text of the scene, positions come from run.h5.

Of a convex set only two things are asked: its support h(d) = max d.p over its points, and for a point a bound
of how far inside it lies. A solid A holds small balls (p, r), most of them points, r = 0. If p lies inside B by
at least s, all directions alike, then A and B cannot be parted by a motion shorter than r + s. So

    depth(A, B) >= max over the balls of A of  r + s_B(p)                                      (1)

whatever the way out, which makes every number here a lower bound. Containers are intersections of half-spaces
d.p <= c, and a body is outside by max of h(d) - c: exact, for curved walls by a search over d."""
import math

INFINITE = math.inf


def add(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def times(s, a):
    return (s * a[0], s * a[1], s * a[2])


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def norm(a):
    return math.sqrt(dot(a, a))


def unit(a):
    return times(1 / norm(a), a)


def vector(list_of_numbers, default=(0.0, 0.0, 0.0)):
    """A vector of the scene, in 2D with z = 0."""
    given = default if list_of_numbers is None else list_of_numbers
    return tuple(float(x) for x in given) + (0.0,) * (3 - len(given))


# ---- poses: (x, q), a point p is at x + R(q) p

def turned(q, p):
    """R(q) p for q = (w, v): p + 2 w (v x p) + 2 v x (v x p)."""
    t = times(2, cross(q[1:], p))
    return add(add(p, times(q[0], t)), cross(q[1:], t))


def conjugate(q):
    return (q[0], -q[1], -q[2], -q[3])


def product(a, b):
    v = add(add(times(a[0], b[1:]), times(b[0], a[1:])), cross(a[1:], b[1:]))
    return (a[0] * b[0] - dot(a[1:], b[1:]),) + v


def out_of(pose, p):
    return add(pose[0], turned(pose[1], p))


def into(pose, p):
    return turned(conjugate(pose[1]), sub(p, pose[0]))


def combined(outer, inner):
    return (out_of(outer, inner[0]), product(outer[1], inner[1]))


def relative(pose, frame):
    """The pose as seen from the frame."""
    return (into(frame, pose[0]), product(conjugate(frame[1]), pose[1]))


def quaternion(thing):
    """The orientation of a body or part, as the scene writes it."""
    if "angle" in thing:
        return (math.cos(thing["angle"] / 2), 0.0, 0.0, math.sin(thing["angle"] / 2))
    given = thing.get("orientation")
    if given is None:
        return (1.0, 0.0, 0.0, 0.0)
    if isinstance(given, dict):
        half = given["angle"] / 2
        return (math.cos(half),) + times(math.sin(half), unit(vector(given["axis"])))
    length = math.sqrt(sum(x * x for x in given))
    return tuple(x / length for x in given)


def pose_of(thing):
    return (vector(thing.get("position")), quaternion(thing))


def directions(dimension, count):
    """Unit vectors spread evenly."""
    if dimension == 2:
        angles = [2 * math.pi * k / count for k in range(count)]
        return [(math.cos(a), math.sin(a), 0.0) for a in angles]
    found = []
    for k in range(count):
        z = 1 - (2 * k + 1) / count
        a, r = k * math.pi * (3 - math.sqrt(5)), math.sqrt(1 - z * z)
        found.append((r * math.cos(a), r * math.sin(a), z))
    return found


def basis(axis):
    """Three unit vectors at right angles, the last along the axis."""
    e = unit(axis)
    least = min(range(3), key=lambda k: abs(e[k]))
    first = unit(cross(e, tuple(1.0 if k == least else 0.0 for k in range(3))))
    return (first, cross(e, first), e)


def along(frame, p):
    return tuple(dot(e, p) for e in frame)


def segment_distance(p, a, b):
    e = sub(b, a)
    ee = dot(e, e)
    t = 0 if ee == 0 else min(1, max(0, dot(sub(p, a), e) / ee))
    return norm(sub(p, add(a, times(t, e))))


def triangle_distance(p, a, b, c):
    """Inside the prism over the triangle the height, else the distance of the nearest edge."""
    n = cross(sub(b, a), sub(c, a))
    if all(dot(cross(n, sub(v, u)), sub(p, u)) >= 0 for u, v in ((a, b), (b, c), (c, a))):
        return abs(dot(sub(p, a), n)) / norm(n)
    return min(segment_distance(p, a, b), segment_distance(p, b, c), segment_distance(p, c, a))


class Solid:
    """support(d), inside(p): a lower bound of how deep p lies, negative outside; balls: (p, r) in it."""

    def __init__(self, support, inside, balls, kind):
        self.support, self.inside, self.balls, self.kind = support, inside, balls, kind
        axes = [tuple(s if j == k else 0.0 for j in range(3)) for k in range(3) for s in (1, -1)]
        self.radius = norm(tuple(max(support(axes[2 * k]), support(axes[2 * k + 1])) for k in range(3)))


def points(list_of_points):
    return [(p, 0.0) for p in list_of_points]


def layers(surface):
    """Points of the surface, and some below them."""
    return points(surface + [times(0.5, p) for p in surface[::2]] + [(0.0, 0.0, 0.0)])


# ---- solids

def sphere(keys, _):
    r = keys.get("radius", 0.0)
    return Solid(lambda d: r * norm(d), lambda p: r - norm(p), [((0.0, 0.0, 0.0), r)], "sphere")


def box(keys, dimension):
    c = keys.get("rounding", 0.0)
    half = [s / 2 - c for s in keys["size"]]
    flat = range(dimension)

    def inside(p):
        out = [abs(p[k]) - half[k] for k in flat]
        if max(out) <= 0:
            return c - max(out)
        return c - math.sqrt(sum(max(0, x) ** 2 for x in out))

    def grid(parts):
        values = [[h * (2 * i / parts - 1) for i in range(parts + 1)] for h in half]
        return [vector((x, y) + z) for x in values[0] for y in values[1]
                for z in ([(v,) for v in values[2]] if dimension == 3 else [()])]
    return Solid(lambda d: sum(abs(d[k]) * half[k] for k in flat) + c * norm(d), inside,
                 [(p, c) for p in grid(4)], "box")


def capsule(keys, dimension):
    r, axis = keys["radius"], vector(keys.get("axis"), (0, 0, 1) if dimension == 3 else (0, 1, 0))
    end = times(keys["length"] / 2, unit(axis))
    inner = [times(k / 8 - 1, end) for k in range(17)]
    return Solid(lambda d: abs(dot(end, d)) + r * norm(d),
                 lambda p: r - segment_distance(p, times(-1, end), end), [(p, r) for p in inner], "capsule")


def ring(frame, r, z, count):
    turns = [2 * math.pi * k / count for k in range(count)]
    return [add(times(z, frame[2]), add(times(r * math.cos(a), frame[0]), times(r * math.sin(a), frame[1])))
            for a in turns]


def cylinder(keys, _):
    r, half, frame = keys["radius"], keys["height"] / 2, basis(vector(keys.get("axis"), (0, 0, 1)))

    def inside(p):
        x, y, z = along(frame, p)
        out = (math.hypot(x, y) - r, abs(z) - half)
        return -max(out) if max(out) <= 0 else -math.hypot(max(0, out[0]), max(0, out[1]))

    def support(d):
        x, y, z = along(frame, d)
        return r * math.hypot(x, y) + half * abs(z)
    surface = [p for z in (-half, -half / 2, 0, half / 2, half) for p in ring(frame, r, z, 24)]
    surface += [p for z in (-half, half) for p in ring(frame, r / 2, z, 8)]
    return Solid(support, inside, layers(surface), "cylinder")


def cone(keys, _):
    """Base at -h/4, apex at 3h/4 of the axis; the side is the half-space h rho + r z <= 3/4 h r."""
    r, h, frame = keys["radius"], keys["height"], basis(vector(keys.get("axis"), (0, 0, 1)))
    apex = times(0.75 * h, frame[2])
    surface = [p for k in range(5) for p in ring(frame, r * (1 - k / 5), h * (k / 5 - 0.25), 24)] + [apex]
    surface += ring(frame, r / 2, -h / 4, 8)

    rim, top = (r, -h / 4, 0.0), (0.0, 0.75 * h, 0.0)

    def inside(p):
        x, y, z = along(frame, p)
        rho = math.hypot(x, y)
        s = min(z + h / 4, (0.75 * h * r - h * rho - r * z) / math.hypot(h, r))
        if s >= 0:
            return s
        p = (rho, z, 0.0)
        return -min(segment_distance(p, (0.0, -h / 4, 0.0), rim), segment_distance(p, rim, top))

    def support(d):
        x, y, z = along(frame, d)
        return max(0.75 * h * z, r * math.hypot(x, y) - h / 4 * z)
    return Solid(support, inside, layers(surface), "cone")


def normed(gauge, dual, inner, dimension, kind):
    """The unit ball of a norm that holds the ball of radius `inner`: a point with gauge f < 1 lies inside
    by (1 - f) inner at least; one with f > 1 is no further away than p/f."""
    def inside(p):
        f = gauge(p)
        return (1 - f) * inner if f <= 1 else -norm(p) * (1 - 1 / f)
    surface = [times(1 / gauge(d), d) for d in directions(dimension, 32 if dimension == 2 else 90)]
    return Solid(dual, inside, layers(surface), kind)


def ellipsoid(keys, dimension):
    a = keys["semi_axes"]
    return normed(lambda p: math.sqrt(sum((p[k] / a[k]) ** 2 for k in range(dimension))),
                  lambda d: math.sqrt(sum((d[k] * a[k]) ** 2 for k in range(dimension))),
                  min(a), dimension, "ellipsoid")


def power_norm(v, n, k):
    """(|x|^n + |y|^n)^(1/n), and with z as ((..)^k + |z|^k)^(1/k); scaled, since powers underflow."""
    largest = max(abs(x) for x in v)
    if largest == 0:
        return 0.0
    w = [abs(x) / largest for x in v]
    flat = (w[0] ** n + w[1] ** n) ** (1 / n)
    return largest * (flat if len(v) == 2 else (flat ** k + w[2] ** k) ** (1 / k))


def superellipsoid(keys, dimension):
    a, n = keys["semi_axes"], keys["exponent"]
    k = keys.get("exponent_z", 0) or n
    inner = min(a) / (1 if min(n, k) >= 2 else math.sqrt(3))
    return normed(lambda p: power_norm([p[i] / a[i] for i in range(dimension)], n, k),
                  lambda d: power_norm([d[i] * a[i] for i in range(dimension)], n / (n - 1), k / (k - 1)),
                  inner, dimension, "superellipsoid")


def hull_planes(corners, dimension):
    """(n, c): all corners have n.p <= c; every plane through corners that has them all on one side."""
    found, size = [], max(norm(sub(p, corners[0])) for p in corners)
    count = len(corners)
    for i in range(count):
        for j in range(i + 1, count):
            for k in (range(j + 1, count) if dimension == 3 else [j]):
                edge = sub(corners[j], corners[i])
                n = cross(edge, sub(corners[k], corners[i]) if dimension == 3 else (0.0, 0.0, 1.0))
                if norm(n) < 1e-9 * size * size:
                    continue
                for side in (unit(n), unit(times(-1, n))):
                    c = dot(side, corners[i])
                    if all(dot(side, p) <= c + 1e-9 * size for p in corners):
                        found.append((side, c))
    return found


def polyhedron(keys, dimension, files):
    raw = files[keys["file"]][0] if "file" in keys else keys["points"]
    corners = [times(keys.get("scale", 1), vector(p)) for p in raw]
    c, planes = keys.get("rounding", 0.0), hull_planes(corners, dimension)
    middle = times(1 / len(corners), (sum(p[0] for p in corners), sum(p[1] for p in corners),
                                      sum(p[2] for p in corners)))

    def inside(p):
        s = min(b - dot(n, p) for n, b in planes)
        if s >= 0:
            return c + s
        f = max(dot(n, sub(p, middle)) / (b - dot(n, middle)) for n, b in planes)
        return c - norm(sub(p, middle)) * (1 - 1 / f)
    between = [add(times(0.5, p), times(0.5, q)) for i, p in enumerate(corners) for q in corners[:i]]
    inner = [add(times(0.5, p), times(0.5, middle)) for p in corners + between]
    return Solid(lambda d: max(dot(d, p) for p in corners) + c * norm(d), inside,
                 [(p, c) for p in corners + between + inner + [middle]], "polyhedron")


def winding(p, triangles):
    """Solid angle of the surface seen from p, over 4 pi: 1 inside, 0 outside."""
    total = 0.0
    for t in triangles:
        a, b, c = (sub(v, p) for v in t)
        la, lb, lc = norm(a), norm(b), norm(c)
        total += math.atan2(dot(a, cross(b, c)),
                            la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
    return total / (2 * math.pi)


def mesh(keys, _, files):
    corners, faces = files[keys["file"]]
    corners = [times(keys.get("scale", 1), vector(p)) for p in corners]
    triangles = [tuple(corners[i] for i in f) for f in faces]
    edges = {(f[i], f[i - 1]) for f in faces for i in range(3)}
    closed = all((b, a) in edges for a, b in edges)

    def inside(p):
        far = min(triangle_distance(p, *t) for t in triangles)
        return far if closed and winding(p, triangles) > 0.5 else -far
    surface = corners + [times(1 / 3, add(a, add(b, c))) for a, b, c in triangles]
    surface += [times(0.5, add(corners[a], corners[b])) for a, b in edges if a < b]
    return Solid(lambda d: max(dot(d, p) for p in corners), inside, points(surface),
                 "mesh" if closed else "sheet")


def height_field(keys, _):
    """Solid below the triangles. It has no sides: nothing is claimed of a point that is nearer to the
    border of the grid than to the triangles."""
    rows, dx = keys["heights"], keys["spacing"]
    dy = keys.get("spacing_y", 0) or dx
    half = (dx * (len(rows[0]) - 1) / 2, dy * (len(rows) - 1) / 2)
    p = [[(dx * i - half[0], dy * j - half[1], float(z)) for i, z in enumerate(row)]
         for j, row in enumerate(rows)]
    triangles = []
    for j in range(len(rows) - 1):
        for i in range(len(rows[0]) - 1):
            triangles += [(p[j][i], p[j][i + 1], p[j + 1][i + 1]), (p[j][i], p[j + 1][i + 1], p[j + 1][i])]

    def inside(q):
        far = min(triangle_distance(q, *t) for t in triangles)
        sides = min(half[0] - abs(q[0]), half[1] - abs(q[1]))
        if sides <= 0:
            return -far
        for a, b, c in triangles:
            n = cross(sub(b, a), sub(c, a))
            if all((v[0] - u[0]) * (q[1] - u[1]) >= (v[1] - u[1]) * (q[0] - u[0])
                   for u, v in ((a, b), (b, c), (c, a))):
                if dot(n, sub(q, a)) >= 0:
                    return -far
                return far if far <= sides else -INFINITE
        return -far
    corners = [q for row in p for q in row]
    return Solid(lambda d: max(dot(d, q) for q in corners) if d[2] >= 0 else INFINITE, inside,
                 points(corners + [times(0.5, add(t[0], t[1])) for t in triangles]), "height_field")


def polyline(keys, _):
    """Closed: a polygon, or a container when it runs clockwise; open: ground from right to left."""
    chain, closed = [vector(p) for p in keys["points"]], keys.get("closed", False)
    segments = list(zip(chain, chain[1:] + ([chain[0]] if closed else [])))
    area = sum(a[0] * b[1] - a[1] * b[0] for a, b in segments) if closed else 0.0

    def within(p):
        odd = False
        for a, b in segments:
            if (a[1] > p[1]) != (b[1] > p[1]):
                odd ^= p[0] < a[0] + (p[1] - a[1]) * (b[0] - a[0]) / (b[1] - a[1])
        return odd

    def under(p):
        for a, b in segments:
            if b[0] <= p[0] <= a[0]:
                return p[1] < b[1] + (p[0] - b[0]) * (a[1] - b[1]) / (a[0] - b[0])
        return False

    def inside(p):
        far = min(segment_distance(p, a, b) for a, b in segments)
        if closed:
            return far if within(p) == (area > 0) else -far
        sides = min(chain[0][0] - p[0], p[0] - chain[-1][0])
        if not under(p):
            return -far
        return far if far <= sides else -INFINITE
    between = [add(times(1 - k / 4, a), times(k / 4, b)) for a, b in segments for k in range(4)]
    bounded = closed and area > 0
    return Solid(lambda d: max(dot(d, p) for p in chain) if bounded else INFINITE, inside,
                 points(chain + between), "polyline")


def compound(keys, dimension, files):
    parts = [(pose_of(part), solid(part["shape"], dimension, files)) for part in keys["parts"]]
    balls = [(out_of(pose, p), r) for pose, part in parts for p, r in part.balls]
    return Solid(lambda d: max(dot(d, pose[0]) + part.support(turned(conjugate(pose[1]), d))
                               for pose, part in parts),
                 lambda p: max(part.inside(into(pose, p)) for pose, part in parts), balls, "compound")


PLAIN = {"sphere": sphere, "point": sphere, "box": box, "capsule": capsule, "cylinder": cylinder,
         "cone": cone, "ellipsoid": ellipsoid, "superellipsoid": superellipsoid,
         "height_field": height_field, "polyline": polyline}
WITH_FILES = {"polyhedron": polyhedron, "mesh": mesh, "compound": compound}


def kind_and_keys(shape):
    return (shape, {}) if isinstance(shape, str) else next(iter(shape.items()))


def solid(shape, dimension, files):
    """The Solid of a shape of the scene; files: (vertices, triangles) by name."""
    kind, keys = kind_and_keys(shape)
    if kind in WITH_FILES:
        return WITH_FILES[kind](keys, dimension, files)
    return PLAIN[kind](keys, dimension)


# ---- containers: depth(support) is how far a body with that support function is outside

def largest_over_turns(f):
    """The largest f(angle): 48 angles, then the neighbourhood of the best ones by golden sections."""
    turns = [2 * math.pi * k / 48 for k in range(48)]
    best = sorted(turns, key=f, reverse=True)[:3]
    ratio, found = (math.sqrt(5) - 1) / 2, f(best[0])
    for middle in best:
        low, high = middle - 0.14, middle + 0.14
        for _ in range(30):
            a, b = high - ratio * (high - low), low + ratio * (high - low)
            low, high = (low, b) if f(a) > f(b) else (a, high)
        found = max(found, f((low + high) / 2))
    return found


def half_space(keys, dimension):
    axis = unit(vector(keys.get("axis"), (0, 0, 1) if dimension == 3 else (0, 1, 0)))
    return lambda support: support(times(-1, axis))


def inside_box(keys, dimension):
    half = [s / 2 for s in keys["size"]]
    walls = [(tuple(s if j == k else 0.0 for j in range(3)), half[k]) for k in range(dimension)
             for s in (1.0, -1.0)]
    return lambda support: max(support(d) - c for d, c in walls)


def inside_cylinder(keys, dimension):
    r, (e, f, _) = keys["radius"], basis(vector(keys.get("axis"), (0, 0, 1)))
    del dimension
    return lambda support: largest_over_turns(
        lambda a: support(add(times(math.cos(a), e), times(math.sin(a), f)))) - r


def inside_cone(keys, dimension):
    """Walls e(a) cos(half_angle) - axis sin(half_angle), through the apex."""
    c, s = math.cos(keys["half_angle"]), math.sin(keys["half_angle"])
    axis = unit(vector(keys.get("axis"), (0, 0, 1) if dimension == 3 else (0, 1, 0)))
    if dimension == 2:
        across = (-axis[1], axis[0], 0.0)
        return lambda support: max(support(sub(times(c, across), times(s, axis))),
                                   support(sub(times(-c, across), times(s, axis))))
    e, f, _ = basis(axis)
    return lambda support: largest_over_turns(lambda a: support(
        sub(times(c, add(times(math.cos(a), e), times(math.sin(a), f))), times(s, axis))))


CONTAINERS = {"half_space": half_space, "inside_box": inside_box, "inside_cylinder": inside_cylinder,
              "inside_cone": inside_cone}


def funnel_depth(keys, dimension, centre, radius):
    """Of a ball and the thin wall of a truncated cone, in its frame: radius - distance."""
    axis = unit(vector(keys.get("axis"), (0, 0, 1) if dimension == 3 else (0, 1, 0)))
    z = dot(centre, axis)
    rho = norm(sub(centre, times(z, axis)))
    return radius - segment_distance((rho, z, 0.0), (keys["bottom_radius"], 0.0, 0.0),
                                     (keys["top_radius"], keys["height"], 0.0))


# ---- bodies of a scene

class Thing:
    """A body of the scene: its shape, ready to be asked."""

    def __init__(self, shape, dimension, files):
        self.kind, self.keys = kind_and_keys(shape)
        self.dimension = dimension
        self.wall = self.kind in CONTAINERS
        self.outside = CONTAINERS[self.kind](self.keys, dimension) if self.wall else None
        self.solid = None if self.wall or self.kind == "funnel" else solid(shape, dimension, files)

    def support(self, pose):
        """The support function of the body in the frame of the world."""
        back = conjugate(pose[1])
        return lambda d: dot(d, pose[0]) + self.solid.support(turned(back, d))


def depth(a, pose_a, b, pose_b):
    """A lower bound of how deep two bodies overlap; negative: they may be apart. None: not known here."""
    if a.solid is None:
        a, pose_a, b, pose_b = b, pose_b, a, pose_a
    if a.solid is None:
        return None
    if b.wall:
        return b.outside(a.support(relative(pose_a, pose_b)))
    if b.kind == "funnel":
        if a.kind not in ("sphere", "point"):
            return None
        return funnel_depth(b.keys, b.dimension, into(pose_b, pose_a[0]), a.keys.get("radius", 0.0))
    return max(balls_inside(a, pose_a, b, pose_b), balls_inside(b, pose_b, a, pose_a))


def balls_inside(a, pose_a, b, pose_b):
    """(1), for the balls of a that come near b."""
    pose = relative(pose_a, pose_b)
    if norm(pose[0]) > a.solid.radius + b.solid.radius:
        return -INFINITE
    found = -INFINITE
    for p, r in a.solid.balls:
        q = out_of(pose, p)
        if norm(q) <= b.solid.radius + r:
            found = max(found, r + b.solid.inside(q))
    return found


def apart(a, pose_a, b, pose_b, normal):
    """A lower bound of the distance of two bodies: along the normal from b to a, in containers to the wall.
    -inf where nothing is known."""
    if a.solid is None:
        a, pose_a, b, pose_b, normal = b, pose_b, a, pose_a, times(-1, normal)
    if a.solid is None or b.solid is None:
        bound = depth(a, pose_a, b, pose_b)
        return -INFINITE if bound is None else -bound
    return -a.support(pose_a)(times(-1, normal)) - b.support(pose_b)(normal)
