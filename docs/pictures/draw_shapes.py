#!/usr/bin/env python3
"""Draws the picture of docs/shapes.md: python3 docs/pictures/draw_shapes.py writes shapes.svg beside this
file, one sheet with a cell for each shape. Solids are patches seen from a little above, shaded by their
normals; the dashed axes x, y (2D) or x, y, z meet at the origin of the shape."""
import math
import os

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE, COLUMNS, TURN, TILT = 170, 5, math.radians(-55), math.radians(22)
cells = []


def view(p):
    """World to picture: turned about z, tilted; the third number grows towards the eye."""
    x = p[0] * math.cos(TURN) - p[1] * math.sin(TURN)
    y = p[0] * math.sin(TURN) + p[1] * math.cos(TURN)
    return x, -(p[2] * math.cos(TILT) + y * math.sin(TILT)), p[2] * math.sin(TILT) - y * math.cos(TILT)


def shade(points):
    """Grey by the angle of the patch to the light; None: it faces away."""
    area = 0.0
    for a, b in zip(points, points[1:] + points[:1]):
        area += a[0] * b[1] - a[1] * b[0]
    u = [points[1][k] - points[0][k] for k in range(3)]
    v = [points[-1][k] - points[0][k] for k in range(3)]
    n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    length = math.sqrt(sum(c * c for c in n)) or 1
    light = abs(-0.35 * n[0] - 0.65 * n[1] + 0.67 * n[2]) / length
    return area, int(95 + 150 * light)


def cell(name, body, scale):
    """Adds a shape to the sheet, under its name."""
    x, y = len(cells) % COLUMNS * SIZE + SIZE / 2, len(cells) // COLUMNS * (SIZE + 20) + SIZE / 2 + 20
    cells.append(f'<g transform="translate({x:g} {y:g})"><text y="{-SIZE / 2:g}" font-size="13" '
                 f'text-anchor="middle">{name}</text>\n<g stroke-linejoin="round" transform="scale({scale:g})" '
                 f'stroke-width="{0.5 / scale:.3g}">\n' + "\n".join(body) + "\n</g></g>\n")


def write_sheet():
    width, height = COLUMNS * SIZE, -(-len(cells) // COLUMNS) * (SIZE + 20) + 10
    with open(os.path.join(HERE, "shapes.svg"), "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                   f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
                   '<!-- shapes.svg - every shape of a scene, drawn by draw_shapes.py -->\n'
                   f'<rect width="{width}" height="{height}" rx="6" fill="#f6f8fa"/>\n' +
                   "".join(cells) + "</svg>\n")


def axes(length, flat):
    ends = {"x": (length, 0, 0), "y": (0, length, 0)}
    ends.update({} if flat else {"z": (0, 0, length)})
    for label, end in ends.items():
        x, y = (end[0], -end[1]) if flat else view(end)[:2]
        yield (f'<path d="M0 0L{x:.3f} {y:.3f}" stroke="#c33" fill="none" stroke-dasharray=".04"/>'
               f'<text x="{1.12 * x:.3f}" y="{1.12 * y + 0.05:.3f}" font-size=".17" fill="#c33" '
               f'text-anchor="middle" stroke="none" font-family="sans-serif">{label}</text>')


def solid(name, patches, both_sides=False, scale=54):
    seen = []
    for patch in patches:
        points = [view(p) for p in patch]
        area, grey = shade(points)
        if both_sides or area < -1e-9:
            seen.append((sum(p[2] for p in points) / len(points), points, grey))
    body = []
    for _, points, grey in sorted(seen, key=lambda s: s[0]):
        path = "L".join(f"{x:.3f} {y:.3f}" for x, y, _ in points)
        colour = f"#{grey:02x}{grey:02x}{min(255, grey + 14):02x}"
        body.append(f'<path d="M{path}Z" fill="{colour}" stroke="#567"/>')
    cell(name, body + list(axes(1.25, False)), scale)


def plane(name, path, fill="#cdd3e0", scale=54):
    body = [f'<path d="{path}" fill="{fill}" stroke="#234" stroke-width=".025"/>']
    cell(name, body + list(axes(1.25, True)), scale)


def grid(f, rows, columns):
    """Patches of the surface f(u, v), u along rows in [0, 1], v around."""
    for i in range(rows):
        for j in range(columns):
            u, v = i / rows, j / columns
            yield [f(u, v), f(u, v + 1 / columns), f(u + 1 / rows, v + 1 / columns),
                   f(u + 1 / rows, v)]


def signed_power(x, e):
    return math.copysign(abs(x) ** e, x)


def superellipsoid(a, n, k):
    def at(u, v):
        s, t = math.pi * (u - 0.5), 2 * math.pi * v
        r = signed_power(math.cos(s), 2 / k)
        return (a[0] * r * signed_power(math.cos(t), 2 / n),
                a[1] * r * signed_power(math.sin(t), 2 / n), a[2] * signed_power(math.sin(s), 2 / k))
    return grid(at, 12, 24)


def revolution(profile, columns=24):
    """Surface about z of a profile [(radius, z), ...] from bottom to top."""
    for (r, z), (s, y) in zip(profile, profile[1:]):
        for j in range(columns):
            a, b = 2 * math.pi * j / columns, 2 * math.pi * (j + 1) / columns
            yield [(r * math.cos(a), r * math.sin(a), z), (r * math.cos(b), r * math.sin(b), z),
                   (s * math.cos(b), s * math.sin(b), y), (s * math.cos(a), s * math.sin(a), y)]


def box(x, y, z, centre=(0, 0, 0)):
    sides = [(0, 4, 6, 2), (1, 3, 7, 5), (0, 1, 5, 4), (2, 6, 7, 3), (0, 2, 3, 1), (4, 5, 7, 6)]
    corner = [tuple(c + (h if i >> k & 1 else -h)
                    for k, (c, h) in enumerate(zip(centre, (x, y, z)))) for i in range(8)]
    return [[corner[i] for i in side] for side in sides]


def arc(r, start, end, at, steps=8):
    return [(r * math.cos(a), at + r * math.sin(a))
            for a in (start + (end - start) * i / steps for i in range(steps + 1))]


def polygon(points):
    return "M" + "L".join(f"{x:.3f} {-y:.3f}" for x, y in points) + "Z"


def draw_solids():
    quarter = math.pi / 2
    solid("sphere", superellipsoid((0.9, 0.9, 0.9), 2, 2))
    solid("box", box(0.8, 0.55, 0.5))
    solid("capsule", revolution(arc(0.45, -quarter, 0, -0.5) + arc(0.45, 0, quarter, 0.5)))
    solid("cylinder", revolution([(0, -0.7), (0.6, -0.7), (0.6, 0.7), (0, 0.7)]))
    solid("cone", revolution([(0, -0.35), (0.7, -0.35), (0, 1.05)]))
    solid("ellipsoid", superellipsoid((1, 0.7, 0.5), 2, 2))
    solid("superellipsoid", superellipsoid((0.8, 0.7, 0.6), 5, 5))
    a, b = 0.55, 0.55 * 1.618
    ico = [(0, -a, b), (b, 0, a), (b, 0, -a), (-b, 0, -a), (-b, 0, a), (-a, b, 0), (a, b, 0),
           (a, -b, 0), (-a, -b, 0), (0, -a, -b), (0, a, -b), (0, a, b)]
    faces = [(1, 2, 6), (1, 7, 2), (3, 4, 5), (4, 3, 8), (6, 5, 11), (5, 6, 10), (9, 10, 2),
             (10, 9, 3), (7, 8, 9), (8, 7, 0), (11, 0, 1), (0, 11, 4), (6, 2, 10), (1, 6, 11),
             (3, 5, 10), (5, 4, 11), (2, 7, 9), (7, 1, 0), (3, 9, 8), (4, 8, 0)]
    solid("polyhedron", [[ico[i] for i in f] for f in faces])
    solid("compound", box(0.9, 0.2, 0.2) + box(0.2, 0.2, 0.5, (0.7, 0, 0.7)) +
          box(0.2, 0.2, 0.3, (-0.7, 0, 0.5)))

    def torus(u, v):
        s, t = 2 * math.pi * u, 2 * math.pi * v
        r = 0.7 + 0.3 * math.cos(s)
        return r * math.cos(t), r * math.sin(t), 0.3 * math.sin(s)
    solid("mesh", [t for p in grid(torus, 10, 20) for t in ([p[0], p[1], p[2]], [p[0], p[2], p[3]])])


def draw_walls():
    def ground(u, v):
        x, y = 2 * u - 1, 2 * v - 1
        return x, y, 0.25 * math.sin(3 * x) * math.cos(2 * y)
    cells = [t for p in grid(ground, 10, 10) for t in ([p[0], p[1], p[2]], [p[0], p[2], p[3]])]
    solid("height_field", cells, both_sides=True)
    solid("half_space", grid(lambda u, v: (2 * u - 1, 2 * v - 1, 0), 6, 6), both_sides=True)
    walls = box(0.8, 0.6, 0.5)
    solid("inside_box", [walls[0], walls[3], walls[4]], both_sides=True)
    solid("inside_cylinder", list(revolution([(0.7, -0.8), (0.7, 0.8)]))[4:16], both_sides=True)
    solid("inside_cone", list(revolution([(0, 0), (0.9, 1.1)]))[4:16], both_sides=True)
    solid("funnel", revolution([(0.25, 0), (0.85, 1)]), both_sides=True)


def draw_plane():
    plane("polyline, 2D", "M-1 .4L-.5 -.1L0 .1L.5 -.4L1 -.2", "none")
    plane("polyhedron, 2D", polygon([(-0.7, -0.6), (0.5, -0.7), (0.9, 0.1), (0.2, 0.8), (-0.8, 0.3)]))
    ring = [2 * math.pi * i / 72 for i in range(72)]
    plane("superellipsoid, 2D", polygon([(0.95 * signed_power(math.cos(t), 0.5),
                                       0.65 * signed_power(math.sin(t), 0.5)) for t in ring]))
    plane("capsule, 2D", polygon(arc(0.35, 0, math.pi, 0.5) + arc(0.35, math.pi, 2 * math.pi, -0.5)))


if __name__ == "__main__":
    draw_solids()
    draw_walls()
    draw_plane()
    write_sheet()
