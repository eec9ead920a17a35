"""Bodies and materials of a world."""
from __future__ import annotations

import numpy as np

from . import drivers as _drivers
from . import shapes as _shapes
from ._lib import BadInput, NotFound, ffi, lib, position, quaternion, text


def _column(name, doc):
    def get(self):
        return self._read(name)
    return property(get, doc=doc)


#: how to change what cannot be assigned
HOW_TO_SET = {
    **{name: f"body.put({name}=...) changes it between two steps"
       for name in ("position", "orientation", "angle")},
    **{name: f"body.put({name}=...) changes it between two steps, and body.drive({name}=...) that "
             "of a driven body" for name in ("velocity", "angular_velocity")},
    **{name: "it is given to World.add_body" for name in ("mass", "inertia", "shape", "motion")},
}


class Body:
    """A body of a world. Its numbers are copies, which do not change with the world."""

    __slots__ = ("world", "uid")

    def __init__(self, world, uid: int):
        self.world, self.uid = world, int(uid)

    def __setattr__(self, name, value):
        how = HOW_TO_SET.get(name)
        if how is not None:
            raise AttributeError(f"{name} of a body cannot be assigned; {how}")
        object.__setattr__(self, name, value)

    @property
    def row(self) -> int:
        """Its present row in `world.bodies`. Raises NotFound if it no longer exists."""
        with self.world._reading() as world:
            row = lib.cairn_body_row(world, lib.cairn_python_body(self.uid))
        if row < 0:
            raise NotFound("the body is no longer in the world", "body")
        return row

    @property
    def alive(self) -> bool:
        """Whether it is still in the world."""
        with self.world._reading() as world:
            return lib.cairn_body_row(world, lib.cairn_python_body(self.uid)) >= 0

    def _vector(self, value, key):
        """A vector of the world frame, as the library takes it; None: zero."""
        x, y, z = position(value, self.world.dimension, key) if value is not None else (0, 0, 0)
        return ffi.new("cairn_vec3 *", {"x": x, "y": y, "z": z})[0]

    def _axis(self, value, key):
        """As `_vector`, of rotation: in 2D a number."""
        if value is not None and np.ndim(value) == 0:
            if self.world.dimension == 3:
                raise BadInput(f"found {value!r}, expected 3 numbers", key)
            value = (0, 0, value)
        return self._vector(value, key)

    def _read(self, name):
        found = self.world.bodies[name][self.row]
        return np.array(found) if isinstance(found, np.ndarray) else found.item()

    position = _column("x", "m: of a dynamic body the centre of mass.")
    orientation = _column("q", "Unit quaternion w, x, y, z: body to world.")
    velocity = _column("v", "m/s.")
    angular_velocity = _column("omega", "rad/s, in the frame of the body (2D: z).")
    angle = _column("angle", "rad, in 2D.")
    mass = _column("mass", "kg; 0 for fixed and driven bodies without mass.")
    inertia = _column("inertia", "kg m^2: principal moments.")
    asleep = _column("asleep", "1: it rests.")

    @property
    def motion(self) -> str:
        """dynamic, fixed or driven."""
        return text(lib.cairn_motion_name(self._read("motion")))

    @property
    def material(self) -> "Material":
        """Its surface. Another one of its world may be set at any time between two steps."""
        return Material(self.world, self._read("material"))

    @material.setter
    def material(self, material) -> None:
        self.world._change(lib.cairn_body_set_material, lib.cairn_python_body(self.uid),
                           self.world._material_number(material))

    @property
    def shape(self) -> _shapes.Shape:
        """Its shape, as a new object."""
        row = self.row
        with self.world._reading() as world:
            struct = ffi.new("cairn_shape *")
            bodies = lib.cairn_world_bodies(world)
            struct[0] = bodies.shapes[bodies.shape[row]]
            geometry = lib.cairn_geometry_retain(struct.geometry) if struct.geometry else None
        kind = _shapes.KINDS[struct.kind]
        shape = kind.__new__(kind)
        shape.options = {o.name: kind.record.read(struct, o) for o in kind.record.options.values()}
        if geometry:
            shape._geometry = ffi.gc(geometry, lib.cairn_geometry_release)
        return shape

    def shape_pose(self):
        """The pose of its shape: position (m) and orientation of the shape's own frame."""
        row = self.row
        with self.world._reading() as world:
            bodies = ffi.new("cairn_bodies *")
            bodies[0] = lib.cairn_world_bodies(world)
            pose = lib.cairn_bodies_shape_pose(bodies, row)
        return (np.array([pose.x.x, pose.x.y, pose.x.z]),
                np.array([pose.q.w, pose.q.x, pose.q.y, pose.q.z]))

    def polygons(self):
        """Its faces (2D: its outline) at its pose, each an array of corners; for drawing."""
        return self.shape.polygons(*self.shape_pose(), dimension=self.world.dimension)

    def push(self, force=None, torque=None) -> None:
        """Push a dynamic body during the next step with a `force` (N) at its centre of mass and a
        `torque` (N m; 2D: a number), in the world frame. Several pushes add up, and the step
        forgets them."""
        self.world._change(lib.cairn_body_push, lib.cairn_python_body(self.uid),
                           self._vector(force, "force"), self._axis(torque, "torque"))

    def strike(self, impulse, point=None) -> None:
        """Strike a dynamic body with an `impulse` (N s) at a `point` (m), both in the world frame;
        without a point at its centre of mass. Its velocities change at once."""
        at = self.position if point is None else point
        self.world._change(lib.cairn_body_strike, lib.cairn_python_body(self.uid),
                           self._vector(impulse, "impulse"), self._vector(at, "point"))

    def put(self, *, position=None, orientation=None, angle=None, velocity=None,
            angular_velocity=None) -> None:
        """Put the body elsewhere (`position`, `orientation` w, x, y, z, in 2D `angle`) or give a
        dynamic one other velocities (m/s; rad/s in the frame of the body, 2D: a number). What is
        not given stays."""
        state, body = ffi.new("cairn_body_state *"), lib.cairn_python_body(self.uid)
        flat = self.world.dimension == 2
        with self.world._reading() as world:
            if lib.cairn_body_get(world, body, state) != lib.CAIRN_OK:
                raise NotFound("the body is no longer in the world", "body")
        if position is not None:
            state.x = self._vector(position, "position")
        if orientation is not None:
            if flat:
                raise BadInput("expected angle in 2D", "orientation")
            state.q.w, state.q.x, state.q.y, state.q.z = quaternion(orientation)
        if angle is not None:
            if not flat:
                raise BadInput("expected orientation, a quaternion, in 3D", "angle")
            state.angle = angle
        if velocity is not None:
            state.v = self._vector(velocity, "velocity")
        if angular_velocity is not None:
            state.omega = self._axis(angular_velocity, "angular_velocity")
        self.world._change(lib.cairn_body_put, body, state)

    def drive(self, *motions, velocity=None, angular_velocity=None) -> None:
        """Move a driven body by other motions from now on, from where it is: drivers, or a constant
        `velocity` (m/s) and `angular_velocity` (rad/s, in the world frame; 2D: a number). With
        neither it stands still."""
        given, dimension = list(motions), self.world.dimension
        if velocity is not None:
            given.append(_drivers.Velocity(velocity=position(velocity, dimension, "velocity")))
        if angular_velocity is not None:
            turn = (0, 0, angular_velocity) if np.ndim(angular_velocity) == 0 else angular_velocity
            given.append(_drivers.Rotation(angular_velocity=turn))
        structs = ffi.new("cairn_driver[]", max(len(given), 1))
        keep: list = []
        for k, motion in enumerate(given):
            motion._refuse_flat(dimension)
            motion._fill_struct(structs + k, keep)
        self.world._change(lib.cairn_body_drive, lib.cairn_python_body(self.uid), structs,
                           len(given))

    def destroy(self) -> None:
        """Remove it from the world, with its joints."""
        self.world._change(lib.cairn_body_destroy, lib.cairn_python_body(self.uid), told=False)

    def __eq__(self, other):
        return isinstance(other, Body) and (self.world, self.uid) == (other.world, other.uid)

    def __hash__(self):
        return hash((id(self.world), self.uid))

    def __repr__(self):
        if not self.world.alive or not self.alive:
            return f"<Body {self.uid}: removed>"
        x = ", ".join(f"{c:.4g}" for c in self.position[:self.world.dimension])
        return f"<Body {self.uid}: {self.shape!r}, {self.motion}, {self.mass:.4g} kg, at ({x})>"

    def _repr_html_(self):
        keys = ("motion", "shape", "mass", "position", "velocity", "angular_velocity")
        rows = "".join(f"<tr><td>{k}</td><td>{getattr(self, k)}</td></tr>" for k in keys)
        return f"<b>Body {self.uid}</b><table>{rows}</table>"


class Material:
    """A surface: friction, restitution and more."""

    __slots__ = ("world", "number")

    def __init__(self, world, number: int):
        self.world, self.number = world, int(number)

    @property
    def options(self) -> dict:
        """Its options, by the names of the table."""
        from .world import MATERIAL
        out = ffi.new("cairn_material_def *")
        with self.world._reading() as world:
            status = lib.cairn_material_get(world, self.number, out)
            if status != lib.CAIRN_OK:
                raise NotFound(f"there is no material {self.number}", "material")
            return {o.name: MATERIAL.read(out, o) for o in MATERIAL.options.values()}

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        options = self.options
        if name not in options:
            raise AttributeError(name)
        return options[name]

    def __eq__(self, other):
        return isinstance(other, Material) and (self.world, self.number) == (other.world,
                                                                             other.number)

    def __hash__(self):
        return hash((id(self.world), self.number))

    def __repr__(self):
        options = self.options
        return (f"<Material {self.number}: friction {options['friction']:.4g}, "
                f"restitution {options['restitution']:.4g}>")
