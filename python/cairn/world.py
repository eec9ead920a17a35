"""World: bodies, materials, joints, and the step that moves them. SI units throughout."""
from __future__ import annotations

import inspect
import sys
import threading
import time as _time
import warnings
from typing import TYPE_CHECKING

import numpy as np

from . import _records, generators
from ._kinds import signature
from ._lib import (BadInput, Caller, Closed, Destroyer, Error, Stopped, Struct, check, failure,
                   ffi, lib, new_error, position, process, quaternion, rows, saved)
from .body import Body, Material
from .friction import FrictionLaw
from .joints import Joint, JointKind
from .shapes import Shape
from .views import Bodies, Clock, Contacts

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import BodyOptions, InletOptions, MaterialOptions, StepOptions

STEP = _records.single(ffi, lib, "StepOptions")
BODY = _records.single(ffi, lib, "BodyOptions")
MATERIAL = _records.single(ffi, lib, "MaterialOptions")
INLET = _records.single(ffi, lib, "InletOptions")

MOTIONS = {ffi.string(lib.cairn_motion_name(k)).decode(): k for k in range(lib.CAIRN_MOTION_COUNT)}

#: m: a dynamic body larger than this is probably given in other units
LARGE = 1000.0


class UnitWarning(UserWarning):
    """Lengths that are probably not in metres."""


class StepReport(Struct):
    """What happened in a step: `candidates`, `active`, `solve`, `certificate`, `energy`, `timing`,
    ..."""

    __slots__ = ()

    @property
    def converged(self) -> bool:
        """Whether the step met its tolerance."""
        return bool(self._c.solve.converged)

    @property
    def residual(self) -> float:
        """The relative residual of the chosen law."""
        return self._c.certificate.judgement.asked.relative

    def __repr__(self):
        c = self._c
        return (f"<StepReport: {'converged' if self.converged else 'missed its tolerance'}, "
                f"residual {self.residual:.2e}, {c.active} of {c.candidates} contacts push, "
                f"penetration {c.certificate.penetration:.2e} m>")


class RunReport:
    """The report of a run of many steps."""

    def __init__(self):
        self.steps, self.missed, self.seconds = 0, 0, 0.0
        self.time, self.last, self.stopped = 0.0, None, False

    def __repr__(self):
        missed = f", {self.missed} missed their tolerance" if self.missed else ""
        return (f"<RunReport: {self.steps} steps to t = {self.time:g} s in {self.seconds:.3g} s"
                f"{missed}>")


class _Reading:
    """Calls that only read; they wait until a step in another thread ends."""

    def __init__(self, world):
        self._world = world

    def __enter__(self):
        self._world._lock.acquire()
        pointer = self._world._pointer
        if pointer is None:
            self._world._lock.release()
            raise Closed("the world was destroyed")
        return pointer

    def __exit__(self, *exception):
        self._world._lock.release()


def _nothing():
    return None


class World(Caller):
    """Bodies in 2D or 3D with hard contact and Coulomb friction.

    Options of the step are keyword arguments here, of `set`, `step` and `run`; each holds until it
    is given again. Calls from several threads on one world wait for each other; worlds are
    independent.
    """

    def __init__(self, dimension: int = 3, gravity=None, **options: Unpack[StepOptions]):
        if gravity is None:
            gravity = (0, 0, -9.81) if dimension == 3 else (0, -9.81)
        given = ffi.new("cairn_world_def *")
        if isinstance(dimension, bool) or dimension not in (2, 3):
            raise BadInput(f"found {dimension!r}, expected 2 or 3", "dimension")
        given.dimension = dimension
        given.gravity.x, given.gravity.y, given.gravity.z = position(gravity, dimension, "gravity")
        out = ffi.new("cairn_world **")
        check(lib.cairn_world_create(given, out))
        self._begin(out[0], options)

    def _begin(self, pointer, options, owner=None, destroyer=None):
        Caller.__init__(self)
        self._destroyer = destroyer or Destroyer(lib.cairn_world_destroy)
        self._pointer = pointer if owner else ffi.gc(pointer, self._destroyer)
        self._owner = owner
        self._lock, self._inside, self._clock = threading.RLock(), False, Clock()
        self._made, self._made_at = {}, -1  # views that are valid, by column
        self._step, self._kept = ffi.new("cairn_step_options *"), {}
        self._step[0] = lib.cairn_step_options_default()
        self._forces, self._drives, self._default_material = [], [], None
        self._running = _nothing  # a weak reference to the run that it began
        self.dimension = lib.cairn_world_dimension(pointer)
        self.set(**options)

    @classmethod
    def _of(cls, pointer, owner=None, destroyer=None):
        """A world that the library made; the destroyer is that of the owner."""
        world = cls.__new__(cls)
        world._begin(pointer, {}, owner, destroyer)
        return world

    # ---- calling the library --------------------------------------------------------------------

    def _reading(self):
        return _Reading(self)

    def _change(self, function, *args, told=True):
        """Call a function that changes the world; views become stale."""
        with _Reading(self) as pointer:
            self._refuse_inside()
            self._clock.version += 1
            status = function(pointer, *args)
            if status != lib.CAIRN_OK:
                raise failure(status, lib.cairn_world_error(pointer) if told else None)

    def _refuse_inside(self):
        if self._inside:
            raise Error("a callback may not change the world within a step")

    @property
    def alive(self) -> bool:
        """Whether the world was not destroyed."""
        return self._pointer is not None

    def destroy(self) -> None:
        """Free the world and all in it now. Later calls raise Closed. A run that it began and that
        has not ended is ended first, as by `Running.end`."""
        with self._lock:
            self._refuse_inside()
            try:
                running = self._running()
                if running is not None:
                    running._finish()
            finally:
                self._release()

    def _release(self):
        self._clock.version += 1
        pointer, self._pointer = self._pointer, None
        if pointer is not None and self._owner is None:
            ffi.release(pointer)
        self._owner = None

    def __del__(self):
        clock = getattr(self, "_clock", None)
        if clock is not None:
            clock.version += 1  # views that outlive it are stale

    def __enter__(self):
        return self

    def __exit__(self, kind, exception, trace):
        try:
            self.destroy()
        except Error:
            if exception is None:  # else the first one counts
                raise

    # ---- materials ------------------------------------------------------------------------------

    def _material_def(self, options, law):
        out, keep = ffi.new("cairn_material_def *"), []
        out[0] = lib.cairn_material_def_default()
        MATERIAL.write(out, options, keep)
        if law is not None:
            if not isinstance(law, FrictionLaw):
                raise BadInput(f"found {law!r}, expected one of cairn.friction", "law")
            law._fill_struct(ffi.addressof(out, "friction_law"), keep)
        error = new_error()
        check(lib.cairn_record_check(MATERIAL.pointer, out, error), error)
        return out, keep

    def add_material(self, *, law=None, **options: Unpack[MaterialOptions]) -> Material:
        """Add a surface. `law` is friction over the sliding speed: one of `cairn.friction`."""
        struct, keep = self._material_def(options, law)
        number = ffi.new("int *")
        self._change(lib.cairn_material_create, struct, number)
        del keep
        return Material(self, number[0])

    def set_pair(self, a: Material, b: Material, *, law=None,
                 **options: Unpack[MaterialOptions]) -> None:
        """Properties of a pair of surfaces, instead of the default: the smaller of each number."""
        struct, keep = self._material_def(options, law)
        self._change(lib.cairn_material_pair_set, self._material_number(a),
                     self._material_number(b), struct)
        del keep

    def _material_number(self, material):
        """The number of a material; None: the first one, which is made when there is none."""
        if material is None:
            with _Reading(self) as pointer:
                there = lib.cairn_material_get(pointer, 0, ffi.new("cairn_material_def *"))
            return 0 if there == lib.CAIRN_OK else self.add_material().number
        if isinstance(material, Material):
            if material.world is not self:
                raise BadInput("found a material of another world", "material")
            return material.number
        if isinstance(material, (int, np.integer)) and not isinstance(material, bool):
            return int(material)
        raise BadInput(f"found {material!r}, expected a material, which World.add_material returns",
                       "material")

    # ---- bodies ---------------------------------------------------------------------------------

    def _body_def(self, shape, motion, given, keep, turn=None):
        out = ffi.new("cairn_body_def *")
        out[0] = lib.cairn_body_def_default()
        if motion not in MOTIONS:
            raise BadInput(f"found {motion!r}, expected one of {', '.join(MOTIONS)}", "motion")
        out.motion = MOTIONS[motion]
        struct, kept = shape._struct(self.dimension)
        keep.append(kept)
        out.shape = struct[0]
        if turn is not None:
            q = out.orientation
            q.w, q.x, q.y, q.z = quaternion(turn)
        BODY.refuse_flat(given, self.dimension)
        BODY.write(out, given, keep)
        return out

    def _attach(self, out, drivers, loads, keep):
        for name, items in (("driver", drivers), ("load", loads)):
            structs = ffi.new(f"cairn_{name}[]", max(len(items), 1))
            for k, item in enumerate(items):
                item._refuse_flat(self.dimension)
                item._fill_struct(structs + k, keep)
            keep.append(structs)
            setattr(out, name + "s", structs)
            setattr(out, name + "_count", len(items))

    def add_body(self, shape: Shape, *, motion: str = "dynamic", material=None, orientation=None,
                 drivers=(), loads=(), **options: Unpack[BodyOptions]) -> Body:
        """Add a body. `drivers` move a driven body, `loads` act on a dynamic one; `orientation` is
        a quaternion w, x, y, z of the shape (2D: `angle`). Without a material the first one is
        used, which is made with its defaults if there is none."""
        if not isinstance(shape, Shape):
            raise BadInput(f"found {shape!r}, expected a shape such as cairn.Sphere(radius=0.1)",
                           "shape")
        keep: list = []
        out = self._body_def(shape, motion, dict(options), keep, orientation)
        self._attach(out, list(drivers), list(loads), keep)
        out.material = self._material_number(material)
        body = ffi.new("cairn_body_id *")
        self._change(lib.cairn_body_create, out, body)
        self._mind_units(out.shape, motion)
        return Body(self, body.uid)

    @staticmethod
    def _mind_units(shape, motion):
        size = max(shape.radius, shape.length, shape.height, shape.size.x, shape.size.y,
                   shape.size.z, shape.semi_axes.x, shape.semi_axes.y, shape.semi_axes.z)
        if motion == "dynamic" and size > LARGE:
            warnings.warn(f"a body of {size:g} m: lengths are in metres, and 1 m is 1000 mm",
                          UnitWarning, stacklevel=3)

    def add_bodies(self, shape, *, motion: str = "dynamic", material=None, **columns) -> np.ndarray:
        """Add many bodies in one call, all of them or none. `shape` is a kind such as
        `cairn.Sphere`, whose options (`radius`, ...) are given beside it, or a shape, the same for
        all. Each option of bodies and shapes is a number or vector for all, or an array with a row
        for each. Returns their numbers (`world.body(number)` is the body)."""
        kind = shape if isinstance(shape, type) else type(shape)
        if not issubclass(kind, Shape):
            raise BadInput(f"found {shape!r}, expected a shape or a kind of them", "shape")
        keep: list = []
        given, count = self._columns(kind, dict(columns))
        if count == 0:
            return np.empty(0, np.uint64)
        first = self._first(shape, kind, given)
        out = self._body_def(first, motion, {}, keep)
        table = self._table(kind, given, count, keep)
        self._many_materials(out, material, count, table, keep)
        return self._create(out, table, count, motion, keep)

    def _columns(self, kind, columns):
        """What was given, checked by name, and how many bodies that makes."""
        count = None
        for name, value in columns.items():
            option = kind.record.options.get(name) or BODY.options.get(name)
            if option is None and name != "orientation":
                raise TypeError(BODY.unknown(name))
            single = 0 if option is not None and option.type == "REAL" else 1
            value = columns[name] = np.asarray(value)
            if value.ndim > single:
                if count not in (None, len(value)):
                    raise BadInput(f"found {len(value)} rows, expected {count} as in the others",
                                   name)
                count = len(value)
        return columns, 1 if count is None else count

    @staticmethod
    def _first(shape, kind, given):
        """A shape to begin with: as given, or of the first row."""
        if isinstance(shape, Shape):
            return shape
        options = {}
        for name, option in kind.record.options.items():
            if name in given:
                value = given[name]
                many = value.ndim > (0 if option.type == "REAL" else 1)
                options[name] = value[0] if many else value
        return kind(**options)

    def _table(self, kind, given, count, keep):
        """The columns as the library takes them: (values, offset in cairn_body_def, width)."""
        within = ffi.offsetof("cairn_body_def", "shape")
        found = []
        for name, value in given.items():
            if name == "orientation":
                found.append((rows(value, count, (4,), name),
                              ffi.offsetof("cairn_body_def", "orientation"), 4))
                continue
            in_shape = name in kind.record.options
            option = (kind.record if in_shape else BODY).options[name]
            widths = (1,) if option.type == "REAL" else (3, 2) if self.dimension == 2 else (3,)
            values = rows(value, count, widths, name)
            if option.type == "REAL":
                self._refuse_row(option, np.flatnonzero(values < option.minimum), values)
            found.append((values, option.offset + (within if in_shape else 0), widths[0]))
        keep.extend(found)
        return found

    @staticmethod
    def _refuse_row(option, wrong, values):
        if len(wrong):
            error = BadInput(f"row {wrong[0]}: found {values[wrong[0]]:g}, expected "
                             f"{option.expectation}", option.name)
            error.row = int(wrong[0])
            raise error

    def _many_materials(self, out, material, count, table, keep):
        if isinstance(material, (list, tuple, np.ndarray)):
            items = [self._material_number(m) for m in material]
            table.append((rows(np.array(items), count, (1,), "material", np.int32),
                          ffi.offsetof("cairn_body_def", "material"), 1))
            keep.extend(table[-1:])
        else:
            out.material = self._material_number(material)

    def _create(self, out, table, count, motion, keep):
        columns = ffi.new("cairn_python_column[]", max(len(table), 1))
        for k, (values, offset, width) in enumerate(table):
            block = ffi.from_buffer(values)
            keep.append(block)
            if values.dtype == np.int32:
                columns[k].whole = ffi.cast("int32_t *", block)
            else:
                columns[k].values = ffi.cast("double *", block)
            columns[k].offset, columns[k].width = offset, width
        uids, made = np.empty(count, np.uint64), ffi.new("int64_t *")
        place = ffi.cast("uint64_t *", ffi.from_buffer(uids))
        try:
            self._change(lib.cairn_python_create, out, columns, len(table), count, place, made)
        except Error as error:
            error.message = f"row {made[0]}: {error.message}"
            error.row = made[0]
            raise
        self._mind_units(out.shape, motion)
        return uids

    def body(self, uid: int) -> Body:
        """The body with a number."""
        return Body(self, uid)

    @property
    def body_count(self) -> int:
        """How many bodies there are."""
        with _Reading(self) as pointer:
            return lib.cairn_world_bodies(pointer).count

    @property
    def all_bodies(self) -> list:
        """All bodies, as objects."""
        return [Body(self, uid) for uid in self.bodies.uids]

    @property
    def bodies(self) -> Bodies:
        """All bodies as columns: views without copies, valid until the world next changes."""
        return Bodies(self)

    @property
    def contacts(self) -> Contacts:
        """The contacts of the last step as columns, likewise."""
        return Contacts(self)

    @property
    def positions(self):
        """m, a row for each body: a view, valid until the world next changes."""
        return self.bodies.x

    @property
    def orientations(self):
        """Quaternions w, x, y, z, likewise."""
        return self.bodies.q

    @property
    def velocities(self):
        """m/s, likewise."""
        return self.bodies.v

    @property
    def angular_velocities(self):
        """rad/s in the frames of the bodies, likewise."""
        return self.bodies.omega

    @property
    def impulses(self):
        """N s, normal first: of the contacts of the last step, likewise."""
        return self.contacts.impulse

    def generate(self, generator: generators.Generator) -> int:
        """Make the bodies of a generator; returns their number."""
        keep: list = []
        error, made = new_error(), ffi.new("int64_t *")
        struct = generator._struct(self, keep)
        process.computes()
        with _Reading(self) as pointer:
            self._refuse_inside()
            self._clock.version += 1
            check(lib.cairn_generate(pointer, struct, made, error), error)
        return made[0]

    def add_inlet(self, *, shape=None, radius=None, material=None,
                  **options: Unpack[InletOptions]) -> None:
        """Pour bodies into the world while it runs. `radius` is a number or a distribution; without
        it they have the size of their shape."""
        keep: list = []
        out = ffi.new("cairn_inlet_def *")
        out[0] = lib.cairn_inlet_def_default()
        INLET.refuse_flat(options, self.dimension)
        INLET.write(out, options, keep)
        generators.fill_grains(out, {"shape": shape, "radius": radius, "material": material}, self,
                               keep)
        self._change(lib.cairn_inlet_create, out)

    @property
    def inlet_pending(self) -> int:
        """Bodies still to come from all inlets."""
        with _Reading(self) as pointer:
            return lib.cairn_world_inlet_pending(pointer)

    # ---- joints ---------------------------------------------------------------------------------

    def add_joint(self, joint: JointKind, a: Body, b: Body | None = None) -> Joint:
        """Join two bodies, or a body and the world."""
        if not isinstance(joint, JointKind):
            raise BadInput(f"found {joint!r}, expected one of cairn.joints", "joint")
        keep: list = []
        out = joint._struct(self.dimension, keep)
        for body in (a, b):
            if body is not None and (not isinstance(body, Body) or body.world is not self):
                raise BadInput(f"found {body!r}, expected a body of this world", "a")
        out.a = lib.cairn_python_body(a.uid)
        out.b = lib.cairn_body_none() if b is None else lib.cairn_python_body(b.uid)
        made = ffi.new("cairn_joint_id *")
        self._change(lib.cairn_joint_create, out, made)
        return Joint(self, made.index, made.generation)

    @property
    def joint_count(self) -> int:
        """Joints ever made."""
        with _Reading(self) as pointer:
            return lib.cairn_world_joint_count(pointer)

    # ---- callbacks ------------------------------------------------------------------------------

    def on_force(self, function):
        """Have `function(world, time, force, torque)` add to the forces (N) and torques (N m, world
        frame) of all rows of `world.bodies` in every step; `time` is that of the middle of the
        step. It may read the world and not change it. Returns the function, so this is a decorator
        as well."""
        if not callable(function):
            raise BadInput(f"found {function!r}, expected a function", "function")
        with _Reading(self) as pointer:
            self._forces.append(function)
            lib.cairn_world_on_force(pointer, lib.cairn_python_on_force, self.handle)
        return function

    def on_drive(self, body: Body, function=None):
        """Have `function(time)` say before every step how a driven body moves: a velocity (m/s), or
        a pair of velocity and angular velocity (rad/s). A decorator when it has no function."""
        if function is None:
            return lambda f: self.on_drive(body, f)
        if body.motion != "driven":
            raise BadInput("only a driven body has drivers", "motion")
        self._drives.append((body, function))
        return function

    def remove_callback(self, function) -> None:
        """Stop calling a function."""
        with _Reading(self) as pointer:
            self._forces = [f for f in self._forces if f is not function]
            self._drives = [d for d in self._drives if d[1] is not function]
            if not self._forces:
                lib.cairn_world_on_force(pointer, ffi.NULL, ffi.NULL)

    def forces(self, time, count):
        """For the library: forces and torques of all rows."""
        force, torque = np.zeros((count, 3)), np.zeros((count, 3))
        self._inside = True  # in a callback
        self._clock.version += 1   # one of several steps: views of the step before become stale
        try:
            for function in self._forces:
                function(self, time, force, torque)
        finally:
            self._inside = False
        return force, torque

    def _drive(self):
        now = self.time
        for body, function in self._drives:
            given = function(now)
            pair = isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1
            velocity, turn = given if pair else (given, None)
            body.drive(velocity=velocity, angular_velocity=turn)

    # ---- stepping -------------------------------------------------------------------------------

    def set(self, **options: Unpack[StepOptions]) -> None:
        """Set options of the step; each holds until it is given again."""
        for name, value in options.items():
            keep: list = []
            STEP.write_one(self._step, STEP.find(name), value, keep)
            self._kept[name] = keep

    @property
    def options(self) -> dict:
        """The options of the step as they are."""
        return {o.name: STEP.read(self._step, o) for o in STEP.options.values()}

    def step(self, time_step: float | None = None, /,
             **options: Unpack[StepOptions]) -> StepReport:
        """Advance by one time step. A step that misses its tolerance is a report, not an error."""
        if time_step is not None:
            options["time_step"] = time_step
        if options:
            self.set(**options)
        if process.forked or not process.computed:
            process.computes()
        report = ffi.new("cairn_step_report *")
        with self._lock:
            pointer = self._ready()
            try:
                status = lib.cairn_world_step(pointer, self._step, report)
            finally:
                self._clock.version += 1
            if status:
                self.settle()
                raise failure(status, lib.cairn_world_error(pointer))
        return StepReport(report)

    def begin(self, folder, *, duration: float, force: bool = False, series=(), **options):
        """Begin a run of `duration` seconds whose steps you take yourself, and which writes a run
        folder: see `cairn.Running`. Other options are those of `run:` in scenes (`frame_interval`,
        `certificate`, `statistics`, ...) and `title`. `series` are dicts with the keys of
        docs/series.md, with bodies, materials and joints of this world."""
        from .scene import begin_world
        if self.time > 0:
            raise Error("the world was stepped already; begin a run before its first step")
        return begin_world(self, folder, force, series, dict(options, duration=duration))

    def _ready(self):
        """Before steps: drivers are called, and views become stale."""
        pointer = self._pointer
        if pointer is None:
            raise Closed("the world was destroyed")
        if self._inside:
            self._refuse_inside()
        if self._drives:
            self._drive()
        self._clock.version += 1
        return pointer

    def run(self, duration: float, *, progress: bool = False, until=None, strict: bool = False,
            **options: Unpack[StepOptions]) -> RunReport:
        """Advance by `duration` seconds, in steps. `until(world)` is called after every step, and
        ends the run by returning True; `strict` ends it with Stopped at a step that misses its
        tolerance; `progress` shows its progress. Ctrl-C ends it after the step under way: the
        world is then as that step left it."""
        self.set(**options)
        process.computes()
        out, start = RunReport(), self.time
        h = self._step.time_step
        if not (h > 0):
            raise BadInput("found 0, expected a number > 0 s", "time_step")
        if isinstance(duration, (str, bytes)) or not 0 <= duration < float("inf"):
            raise BadInput(f"found {duration!r}, expected a number >= 0 s", "duration")
        total = int(np.ceil(duration / h * (1 - 1e-12) - 1e-9)) if duration > 0 else 0
        meter = _Meter(start, duration) if progress else None
        began = _time.perf_counter()
        batch = 1
        while out.steps < total:
            one = until is not None or bool(self._drives)
            self._advance(out, 1 if one else min(batch, total - out.steps), strict)
            spent = _time.perf_counter() - began
            batch = max(1, min(10000, int(0.05 * out.steps / max(spent, 1e-9))))
            if meter:
                meter.show(self.time)
            if until is not None and until(self):
                out.stopped = True
                break
        out.seconds, out.time = _time.perf_counter() - began, self.time
        if meter:
            meter.end()
        return out

    def _advance(self, out, count, strict):
        """Several steps in one call; between calls Python checks for Ctrl-C."""
        report, counted = ffi.new("cairn_step_report *"), ffi.new("cairn_python_count *")
        with self._lock:
            pointer = self._ready()
            try:
                status = lib.cairn_python_steps(pointer, self._step, count, strict, counted,
                                                report)
            finally:
                self._clock.version += 1
            out.steps += counted.done
            out.missed += counted.missed
            out.last = StepReport(report)
            if status:
                self.settle()
                if strict and counted.missed:
                    raise Stopped(f"step {out.steps} missed its tolerance: residual "
                                  f"{out.last.residual:.2e}", "tolerance")
                raise failure(status, lib.cairn_world_error(pointer))

    # ---- looking --------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """s reached."""
        with _Reading(self) as pointer:
            return lib.cairn_world_time(pointer)

    @property
    def gravity(self) -> np.ndarray:
        """m/s^2."""
        with _Reading(self) as pointer:
            g = lib.cairn_world_gravity(pointer)
        return np.array([g.x, g.y, g.z])

    @property
    def hash(self) -> int:
        """A hash of the state: equal bits give equal hashes."""
        with _Reading(self) as pointer:
            return lib.cairn_world_hash(pointer)

    def energy(self) -> tuple:
        """Kinetic energy of the dynamic bodies and their potential in gravity, J."""
        kinetic, potential = ffi.new("double *"), ffi.new("double *")
        with _Reading(self) as pointer:
            lib.cairn_world_energy(pointer, kinetic, potential)
        return kinetic[0], potential[0]

    def overlap(self) -> tuple:
        """The present deepest overlap, m, and the two bodies; (0, None, None): none."""
        depth = ffi.new("double *")
        a, b = ffi.new("cairn_body_id *"), ffi.new("cairn_body_id *")
        process.computes()
        self._change(lib.cairn_world_overlap, depth, a, b)
        if not depth[0] > 0:
            return 0.0, None, None
        return depth[0], Body(self, a.uid), Body(self, b.uid)

    def packing(self, trim: float = 0.15, samples: int = 100000) -> Struct:
        """Packing fraction of the dynamic spheres between quantiles of their heights."""
        out = ffi.new("cairn_packing *")
        process.computes()
        with _Reading(self) as pointer:
            check(lib.cairn_world_packing(pointer, trim, samples, out))
        return Struct(out)

    def statistic(self, name: str, **options):
        """Measure the present state of the world: a Table. Names: `cairn.names("statistics")`."""
        from .statistics import of_world
        return of_world(self, name, options)

    def problem(self):
        """The one-step problem of the last step, as a Problem with its impulses in `r`."""
        from .problem import Problem
        return Problem.of_world(self)

    def memory(self) -> Struct:
        """Bytes that the world holds, by purpose."""
        with _Reading(self) as pointer:
            out = ffi.new("cairn_memory_use *")
            out[0] = lib.cairn_world_memory(pointer)
        return Struct(out)

    def plot(self, ax=None, **options):
        """Draw the world with matplotlib; returns the axes."""
        from .plots import draw_world
        return draw_world(self, ax, **options)

    # ---- saving ---------------------------------------------------------------------------------

    def save(self) -> bytes:
        """The whole state of the world, without callbacks: `World.load` continues with the same
        bits."""
        with _Reading(self) as pointer:
            self._refuse_inside()
            return saved(pointer)

    @classmethod
    def load(cls, state: bytes, **options) -> "World":
        """A world from the bytes of `save`."""
        out, error = ffi.new("cairn_world **"), new_error()
        check(lib.cairn_world_load(ffi.from_buffer(state), len(state), out, error), error)
        world = cls._of(out[0])
        world.set(**options)
        return world

    def copy(self) -> "World":
        """Another world in the same state, without callbacks."""
        return type(self).load(self.save(), **self._chosen())

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return _unpickle, (self.save(), self._chosen())

    def _chosen(self):
        """The options that are not as a new world has them, where the time step is missing."""
        fresh = ffi.new("cairn_step_options *")
        fresh[0] = lib.cairn_step_options_default()
        return {o.name: value for o in STEP.options.values()
                if (value := STEP.read(self._step, o)) != STEP.read(fresh, o)}

    def __repr__(self):
        if not self.alive:
            return "<World: destroyed>"
        return (f"<World: {self.dimension}D, t = {self.time:g} s, {self.body_count} bodies, "
                f"{self.joint_count} joints, {len(self.contacts)} contacts>")

    def _repr_html_(self):
        if not self.alive:
            return "<b>World</b>: destroyed"
        kinetic, potential = self.energy()
        told = {"time": f"{self.time:g} s", "bodies": self.body_count, "joints": self.joint_count,
                "contacts of the last step": len(self.contacts),
                "kinetic energy": f"{kinetic:.4g} J",
                "potential energy": f"{potential:.4g} J", "scheme": self.options["scheme"],
                "time step": f"{self.options['time_step']:g} s", "hash": f"{self.hash:016x}"}
        lines = "".join(f"<tr><td>{k}</td><td>{v}</td></tr>" for k, v in told.items())
        return f"<b>World in {self.dimension}D</b><table>{lines}</table>"


def _unpickle(state, options):
    return World.load(state, **options)


class _Meter:
    """A line on the terminal with the progress of a run."""

    def __init__(self, start, duration):
        self.start, self.duration, self.last = start, duration, 0.0

    def show(self, time):
        now = _time.perf_counter()
        if now - self.last > 0.2:
            self.last = now
            share = (time - self.start) / self.duration
            sys.stderr.write(f"\r{share:6.1%}  t = {time:.4g} s   ")
            sys.stderr.flush()

    def end(self):
        sys.stderr.write("\r" + "100.0%".ljust(30) + "\n")


def _document(function, record, title):
    function.__doc__ = (inspect.getdoc(function) or "") + f"\n\n{title}\n{'-' * len(title)}\n" + \
        record.table("")
    first = [p for p in inspect.signature(function).parameters.values()
             if p.kind is not inspect.Parameter.VAR_KEYWORD]
    signature(function, first, record)


_document(World.step, STEP, "Options")
_document(World.run, STEP, "Options of the step")
_document(World.set, STEP, "Options")
_document(World.add_body, BODY, "Options")
_document(World.add_material, MATERIAL, "Options")
_document(World.set_pair, MATERIAL, "Options")
_document(World.add_inlet, INLET, "Options")
