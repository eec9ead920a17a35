"""Pictures with matplotlib: a world or a frame, and force chains. In 3D the picture is a
view along y, with x to the right and z up; nearer bodies hide those behind."""
from __future__ import annotations

import numpy as np

from ._lib import Unsupported


def _axes(ax):
    if ax is None:
        import matplotlib.pyplot as plt
        ax = plt.figure(figsize=(6, 6)).add_subplot()
    ax.set_aspect("equal")
    return ax


def _plane(points, dimension):
    """Coordinates in the picture, and the depth."""
    points = np.asarray(points)
    if dimension == 2:
        return points[..., :2], np.zeros(points.shape[:-1])
    return points[..., [0, 2]], points[..., 1]


def _shade(polygon, dimension, light=(0.3, -0.8, 0.5)):
    """The brightness of a face; None: it faces away."""
    if dimension == 2:
        return 1.0
    normal = np.cross(polygon[1] - polygon[0], polygon[2] - polygon[1])
    length = np.linalg.norm(normal)
    if length == 0 or normal[1] > 0:
        return None
    return 0.55 + 0.45 * max(0.0, float(normal @ np.array(light)) / length)


def _colours(values, count, cmap):
    import matplotlib
    from matplotlib.colors import Normalize
    if values is None:
        return None, None
    norm = Normalize(float(np.nanmin(values)), float(np.nanmax(values)) or 1.0) if count else None
    return matplotlib.colormaps[cmap](norm(values))[:, :3], norm


def _paint(ax, bodies, dimension, values, cmap):
    """Bodies as (polygons, or a ball as centre and radius, fixed) in order of depth."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Circle, Polygon
    colours, norm = _colours(values, len(bodies), cmap)
    patches = []
    for i, (polygons, ball, fixed) in enumerate(bodies):
        colour = np.array(to_rgb("0.8" if fixed else "tab:blue"))
        if colours is not None and not fixed:
            colour = colours[i]
        if ball is not None:
            centre, depth = _plane(ball[0], dimension)
            patches.append((depth, Circle(centre, ball[1], facecolor=colour, edgecolor="0.2",
                                          linewidth=0.4)))
            continue
        for polygon in polygons:
            shade = _shade(polygon, dimension) if len(polygon) > 3 or dimension == 2 else None
            if shade is None:
                continue
            flat, depth = _plane(polygon, dimension)
            patches.append((depth.mean(), Polygon(flat, closed=dimension == 3 or len(polygon) > 2,
                                                  facecolor=np.clip(colour * shade, 0, 1),
                                                  edgecolor="0.3", linewidth=0.4)))
    for _, patch in sorted(patches, key=lambda pair: -pair[0]):
        ax.add_patch(patch)
    ax.autoscale_view()
    return norm


def _half_space(ax, x, q, axis, dimension):
    """The line in which a plane meets the plane of the picture."""
    w, v = q[0], np.asarray(q[1:])
    axis = np.asarray(axis)
    normal = axis + 2 * np.cross(v, np.cross(v, axis) + w * axis)
    along = np.cross(normal, (0, 0, 1)) if dimension == 2 else np.cross((0, -1, 0), normal)
    flat, _ = _plane(np.array([x, x + along]), dimension)
    if np.linalg.norm(flat[1] - flat[0]) > 0:
        limits = ax.get_xlim(), ax.get_ylim()  # those of the bodies
        ax.axline(flat[0], flat[1], color="0.4", linewidth=1)
        ax.set_xlim(limits[0])
        ax.set_ylim(limits[1])


def draw_world(world, ax=None, *, colour=None, cmap="viridis", forces=False, label=""):
    """Draw a world. `colour` is a number for each row of `world.bodies`, such as the speed;
    `forces` adds force chains."""
    ax = _axes(ax)
    bodies, values, centres, planes = [], [], {}, []
    for body in world.all_bodies:
        shape, (x, q) = body.shape, body.shape_pose()
        row = body.row
        fixed = body.motion != "dynamic"
        if not fixed:
            centres[row] = body.position
        if shape.name == "half_space":
            planes.append((x, q, shape.axis))
            continue
        if shape.name in ("sphere", "point"):
            drawn = (None, (x, getattr(shape, "radius", 0.0) if shape.name == "sphere" else 0.0),
                     fixed)
        else:
            try:
                drawn = (shape.polygons(x, q, world.dimension), None, fixed)
            except Unsupported:
                continue
        bodies.append(drawn)
        values.append(None if colour is None else colour[row])
    norm = _paint(ax, bodies, world.dimension, None if colour is None else np.array(values, float),
                  cmap)
    for x, q, axis in planes:
        _half_space(ax, x, q, axis, world.dimension)
    _legend(ax, norm, cmap, label)
    if forces:
        contacts = world.contacts
        _chains(ax, centres, contacts.body.copy(), contacts.point.copy(),
                contacts.impulse[:, 0].copy(), world.dimension)
    return ax


def _legend(ax, norm, cmap, label):
    if norm is not None:
        from matplotlib.cm import ScalarMappable
        ax.figure.colorbar(ScalarMappable(norm, cmap), ax=ax, label=label, shrink=0.7)


def _chains(ax, centres, sides, points, normal, dimension):
    """Lines from the contact to the centres of both bodies, as wide as the force is strong."""
    from matplotlib.collections import LineCollection
    top = normal.max() if len(normal) else 0
    if not top > 0:
        return
    lines, widths = [], []
    for (a, b), point, impulse in zip(sides, points, normal):
        if impulse > 0.02 * top:
            for side in (a, b):
                end = centres.get(int(side))  # walls have none
                if end is not None:
                    lines.append(_plane(np.array([point, end]), dimension)[0])
                    widths.append(4 * impulse / top)
    ax.add_collection(LineCollection(lines, linewidths=widths, colors="tab:red", zorder=5))


def draw_frame(frame, ax=None, *, colour=None, cmap="viridis", forces=False, label=""):
    """Draw the balls of a frame of a run, and with `forces` the chains of its contacts. `colour` is
    a number for each row of the frame."""
    ax = _axes(ax)
    run, table = frame.run, frame.bodies
    index, made = table["index"], run.bodies
    kinds = run.names_of("bodies/shape")
    dimension = int(run.info.dimension)
    dynamic = run.names_of("bodies/motion").index("dynamic")
    bodies, values, planes = [], [], []
    for i, row in enumerate(index):
        kind = kinds[made["shape"][row]]
        if kind == "half_space":
            planes.append((table["x"][i], table["q"][i], made["axis"][row]))
        if kind == "sphere":
            bodies.append((None, (table["x"][i], made["radius"][row]),
                           made["motion"][row] != dynamic))
            values.append(0.0 if colour is None else colour[i])
    norm = _paint(ax, bodies, dimension, None if colour is None else np.array(values), cmap)
    for x, q, axis in planes:
        _half_space(ax, x, q, axis, dimension)
    _legend(ax, norm, cmap, label)
    if forces:
        contacts = frame.contacts
        centres = {int(row): table["x"][i] for i, row in enumerate(index)
                   if made["motion"][row] == dynamic}
        _chains(ax, centres, contacts["body"], contacts["point"], contacts["impulse"][:, 0],
                dimension)
    return ax
