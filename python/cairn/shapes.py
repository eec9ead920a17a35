"""Shapes of bodies. Lengths in m; angles in rad. In 2D everything lies in the plane z = 0."""
from __future__ import annotations

import os
import sys

import numpy as np

from ._kinds import Kind, make_family
from ._lib import BadInput, check, draw, ffi, lib, new_error, numbers, position, quaternion


class Shape(Kind):
    """The shape of a body."""

    _geometry = None  #: data of hulls, meshes, ...: a cdata that holds it

    def _struct(self, dimension):
        """The struct of the library, and objects that must outlive it."""
        self._refuse_flat(dimension)
        out, keep = ffi.new("cairn_shape *"), [self._geometry]
        out[0] = lib.cairn_shape_default(self.kind, dimension)
        self._fill(out, keep)
        if self._geometry is not None:
            out.geometry = self._geometry
        error = new_error()
        check(lib.cairn_shape_check(out, dimension, error), error)
        return out, keep

    def mass(self, density: float = 1000.0, dimension: int = 3):
        """Mass (kg) and principal moments of inertia (kg m^2) at a density (kg/m^3)."""
        struct, keep = self._struct(dimension)
        mass, inertia = ffi.new("double *"), ffi.new("cairn_vec3 *")
        check(lib.cairn_shape_mass(struct, dimension, density, mass, inertia))
        del keep
        return mass[0], np.array([inertia.x, inertia.y, inertia.z])

    def polygons(self, position=(0, 0, 0), orientation=(1, 0, 0, 0), dimension: int = 3):
        """Faces (2D: the outline) at a pose, each an array of corners; for drawing."""
        return polygons(self._struct(dimension)[0], dimension, position, orientation)

    def _hold(self, create, *arguments):
        """Make the shared data by a function of the library."""
        out, error = ffi.new("const cairn_geometry **"), new_error()
        check(create(*arguments, out, error), error)
        self._geometry = ffi.gc(out[0], lib.cairn_geometry_release)

    def _hold_file(self, load):
        """Make it from the given file; False: there is none."""
        if "file" not in self.options:
            return False
        self._hold(load, os.fsencode(self.options["file"]), float(self.options["scale"]))
        return True

    def __getstate__(self):
        state = dict(self.__dict__)
        state.pop("_geometry", None)
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._make()

    def _make(self):
        """Make shared data again from the options."""


def polygons(struct, dimension, place, turn):
    """Faces of a shape of the library at a pose."""
    pose = ffi.new("cairn_pose *")
    pose.x.x, pose.x.y, pose.x.z = (float(x) for x in position(place, 3))
    pose.q.w, pose.q.x, pose.q.y, pose.q.z = (float(x) for x in quaternion(turn))
    return draw(struct, dimension, pose)


def _points(value, widths, key="points"):
    """Points as rows of three numbers, and how many they had."""
    points = numbers(value, key, ndim=2)
    if points.shape[1] not in widths:
        raise BadInput(f"found rows of {points.shape[1]} numbers, expected "
                       f"{' or '.join(str(w) for w in widths)}", key)
    out = np.zeros((len(points), 3))
    out[:, :points.shape[1]] = points
    return out, points.shape[1]


def _source(file, scale, **data):
    """The source of a surface: a file, or data."""
    return data if file is None else {"file": os.fspath(file), "scale": scale}


def _vectors(points):
    return ffi.cast("cairn_vec3 *", ffi.from_buffer(points))


class Polyhedron(Shape):
    """Takes `points` (n x 3, in 2D n x 2), or the vertices in a `file` (.obj or .stl), times
    `scale`."""

    beside = ("points", "file", "scale")

    def __init__(self, points=None, *, file=None, scale=1.0, **options):
        super().__init__(**_source(file, scale, points=points), **options)
        self._make()

    def _make(self):
        if not self._hold_file(lib.cairn_hull_load):
            points, width = _points(self.options["points"], (2, 3))
            self._hold(lib.cairn_hull_create, _vectors(points), len(points), width)


class Mesh(Shape):
    """Takes `vertices` (n x 3) and `triangles` (m x 3 whole numbers, counterclockwise seen from
    outside), or a `file` (.obj or .stl), times `scale`."""

    beside = ("vertices", "triangles", "file", "scale")

    def __init__(self, vertices=None, triangles=None, *, file=None, scale=1.0, **options):
        super().__init__(**_source(file, scale, vertices=vertices, triangles=triangles), **options)
        self._make()

    def _make(self):
        if self._hold_file(lib.cairn_mesh_load):
            return
        vertices, _ = _points(self.options["vertices"], (3,), "vertices")
        triangles = numbers(self.options["triangles"], "triangles", ndim=2, dtype=np.int32)
        if triangles.shape[1:] != (3,):
            raise BadInput("expected three vertices a row", "triangles")
        mesh = ffi.new("cairn_mesh_def *")
        mesh.vertices, mesh.vertex_count = _vectors(vertices), len(vertices)
        mesh.triangles = ffi.cast("int32_t *", ffi.from_buffer(triangles))
        mesh.triangle_count = len(triangles)
        self._hold(lib.cairn_mesh_create, mesh)


class Polyline(Shape):
    """Takes `points` (n x 2); `closed` joins the last to the first. The solid is on the left."""

    beside = ("points", "closed")

    def __init__(self, points, *, closed=False, **options):
        super().__init__(points=np.array(points, dtype=float), closed=bool(closed), **options)
        self._make()

    def _make(self):
        points, _ = _points(self.options["points"], (2,))
        self._hold(lib.cairn_polyline_create, _vectors(points), len(points),
                   self.options["closed"])


class HeightField(Shape):
    """Takes `heights` (rows along y, columns along x) and the `spacing` of its points along x, or
    along x and y."""

    beside = ("heights", "spacing")

    def __init__(self, heights, *, spacing, **options):
        super().__init__(heights=np.array(heights, dtype=float), spacing=spacing, **options)
        self._make()

    def _make(self):
        heights = numbers(self.options["heights"], "heights", ndim=2)
        spacing = np.broadcast_to(np.asarray(self.options["spacing"], dtype=float), (2,))
        field = ffi.new("cairn_height_field_def *")
        field.rows, field.columns = heights.shape
        field.spacing[0], field.spacing[1] = float(spacing[0]), float(spacing[1])
        field.heights = ffi.cast("double *", ffi.from_buffer(heights))
        self._hold(lib.cairn_height_field_create, field)


class Compound(Shape):
    """Takes `parts`: shapes, or tuples (shape, position), or (shape, position, orientation); in 2D
    the orientation is an angle. `dimension` is 3 by default."""

    beside = ("parts", "dimension")

    def __init__(self, parts, *, dimension=3, **options):
        super().__init__(parts=list(parts), dimension=dimension, **options)
        self._make()

    def _make(self):
        dimension, keep = self.options["dimension"], []
        parts = ffi.new("cairn_part[]", max(len(self.options["parts"]), 1))
        for k, part in enumerate(self.options["parts"]):
            part = part if isinstance(part, tuple) else (part,)
            shape, kept = part[0]._struct(dimension)
            keep.append(kept)
            parts[k].shape = shape[0]
            x, q = parts[k].pose.x, parts[k].pose.q
            x.x, x.y, x.z = position(part[1] if len(part) > 1 else (0, 0, 0), dimension)
            turn = part[2] if len(part) > 2 else None
            if dimension == 2 and turn is not None:
                turn = (np.cos(turn / 2), 0, 0, np.sin(turn / 2))
            q.w, q.x, q.y, q.z = quaternion((1, 0, 0, 0) if turn is None else turn)
        self._hold(lib.cairn_compound_create, parts, len(self.options["parts"]), dimension)


#: all kinds, by their number in the library
KINDS = make_family("shapes", Shape, sys.modules[__name__].__dict__)
