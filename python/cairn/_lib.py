"""Everything between Python and C: the extension module, errors as exceptions, structs, arrays that
users pass in, and functions of Python that the library calls."""
from __future__ import annotations

import os
import weakref

import numpy as np

from ._cairn import ffi, lib

lib.cairn_python_start()


def text(pointer) -> str:
    """A text of C; NULL is empty."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


class Error(Exception):
    """A failed call of the library.

    `message` says what was found and what was expected, `key` names the value (a dotted path, as in
    ``run.time_step``), `file`, `line` and `column` the place in a file. Unknown ones are an
    empty text or 0.
    """

    def __init__(self, message: str = "", key: str = "", file: str = "", line: int = 0,
                 column: int = 0):
        super().__init__(message)
        self.message, self.key = message, key
        self.file, self.line, self.column = file, line, column

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        return ": ".join(part for part in (place, self.key, self.message) if part)

    def __reduce__(self):
        return type(self), (self.message, self.key, self.file, self.line, self.column)


class NoMemory(Error, MemoryError):
    """There is not enough memory."""


class BadInput(Error, ValueError):
    """A value, key or the content of a file is not allowed."""


class NotFinite(Error, ValueError):
    """NaN or infinity appeared where a number was needed."""


class NotFound(Error, LookupError):
    """No such file, body, joint or name."""


class IoFailed(Error):
    """The operating system or a file library reported an error."""


class Unsupported(Error):
    """Valid, but not supported by this solver, shape or scheme."""


class Stopped(Error):
    """A callback requested a stop, or a step of a strict run missed its tolerance."""


class StaleView(Error):
    """The world changed since an array of its numbers was taken. Take it again, or keep a copy."""


class Closed(Error):
    """The world was destroyed."""


class Forked(Error):
    """The process is a fork of one that had computed: its worker threads are missing."""


#: exceptions by cairn_status; a test compares them with the enumeration
BY_STATUS = {
    lib.CAIRN_NO_MEMORY: NoMemory,
    lib.CAIRN_BAD_INPUT: BadInput,
    lib.CAIRN_NOT_FINITE: NotFinite,
    lib.CAIRN_NOT_FOUND: NotFound,
    lib.CAIRN_IO_FAILED: IoFailed,
    lib.CAIRN_UNSUPPORTED: Unsupported,
    lib.CAIRN_STOPPED: Stopped,
}


for _kind in list(BY_STATUS.values()) + [Error, StaleView, Closed, Forked]:
    _kind.__module__ = "cairn"


def failure(status: int, error=None) -> Error:
    """The exception of a status, with the text of a cairn_error."""
    kind = BY_STATUS.get(status, Error)
    message = text(error.message) if error else ""
    if not message:
        message = text(lib.cairn_status_text(status))
    if not error:
        return kind(message)
    return kind(message, text(error.key), text(error.file), error.line, error.column)


def check(status: int, error=None) -> None:
    """Raise unless a call succeeded."""
    if status != lib.CAIRN_OK:
        raise failure(status, error)


def new_error():
    return ffi.new("cairn_error *")


class _Process:
    """Whether threads of the library may be missing: they do not survive a fork."""

    def __init__(self):
        self.computed = False  # something ran that may have started threads
        self.forked = False    # in a child of a process that had computed
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self):
        self.forked = self.forked or self.computed

    def computes(self):
        """Called before anything that may use threads."""
        if self.forked:
            raise Forked("this process was forked from one in which cairn had computed, and has "
                         "none of its threads; start it by multiprocessing's spawn or forkserver")
        self.computed = True


process = _Process()

#: version of the library, and of the package
VERSION = text(lib.cairn_version())


# ---- structs of the library as Python objects: their fields are found, not written down ---------


_FIELDS: dict = {}


def _fields(c):
    kind = ffi.typeof(c)
    if kind.kind == "pointer":
        kind = kind.item
    if kind not in _FIELDS:
        _FIELDS[kind] = [name for name, _ in kind.fields if name != "owner"]
    return _FIELDS[kind]


def python_value(value, owner):
    """A field as a Python value: a number, a text, a tuple, or a Struct."""
    if not isinstance(value, ffi.CData):
        return value
    kind = ffi.typeof(value)
    if kind.kind == "struct":
        if kind.cname == "cairn_vec3":
            return (value.x, value.y, value.z)
        return Struct(value, owner)
    if kind.kind == "array":
        if kind.item.cname == "char":
            return text(value)
        return tuple(python_value(item, owner) for item in value)
    if kind.kind == "pointer" and kind.item.cname == "char":
        return text(value)
    return value


class Struct:
    """A struct of the library; its fields are attributes. `asdict()` copies them all."""

    __slots__ = ("_c", "_owner")

    def __init__(self, c, owner=None):
        self._c, self._owner = c, owner  # the owner keeps the memory

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return python_value(getattr(self._c, name), self._owner or self._c)

    def __dir__(self):
        return _fields(self._c) + ["asdict"]

    def asdict(self) -> dict:
        """All fields, structs within as dicts."""
        values = {name: getattr(self, name) for name in _fields(self._c)}
        return {k: v.asdict() if isinstance(v, Struct) else v for k, v in values.items()}

    def __reduce__(self):
        return Record, (self.asdict(),)

    def __repr__(self):
        return shown(type(self).__name__, self.asdict())


class Record:
    """A Struct that was copied or pickled: the same attributes."""

    def __init__(self, values):
        self._values = values

    def __getattr__(self, name):
        try:
            value = self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(name) from None
        return Record(value) if isinstance(value, dict) else value

    def asdict(self) -> dict:
        return dict(self._values)

    def __repr__(self):
        return shown("Record", self._values)


def shown(title, values):
    """A short line of the fields that are numbers or texts."""
    told = ", ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v!r}"
                     for k, v in values.items() if isinstance(v, (bool, int, float, str)))
    return f"{title}({told})"


# ---- arrays that users pass in: shape, type and finiteness, with the name in the error ----------


def numbers(value, key, ndim=None, shape=None, dtype=np.float64, finite=True):
    """A contiguous array of numbers. Texts, flags and complex numbers are refused; so are whole
    numbers with a fraction."""
    if value is None:
        raise BadInput("missing, expected an array of numbers", key)
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise BadInput(f"expected an array of numbers: {error}", key) from None
    if found.dtype.kind not in "iuf" and found.size > 0:
        raise BadInput(f"found an array of {found.dtype}, expected numbers", key)
    if ndim is not None and found.ndim != ndim:
        raise BadInput(f"found an array of {found.ndim} dimensions, expected {ndim}", key)
    if shape is not None and found.shape != tuple(shape):
        raise BadInput(f"found an array of shape {found.shape}, expected {tuple(shape)}", key)
    out = np.asarray(found, dtype=dtype, order="C")
    if np.dtype(dtype).kind == "i" and found.dtype.kind == "f" and not np.array_equal(out, found):
        raise BadInput("found numbers with a fraction, expected whole numbers", key)
    if finite and out.dtype.kind == "f" and not np.isfinite(out).all():
        raise NotFinite("found a number that is not finite", key)
    return out


def position(value, dimension, key="position"):
    """Three numbers; in 2D two are enough."""
    given = numbers(value, key, ndim=1)
    if len(given) not in ((2, 3) if dimension == 2 else (3,)):
        raise BadInput(f"found {len(given)} numbers, expected {dimension}", key)
    return [float(x) for x in given] + [0.0] * (3 - len(given))


def quaternion(value, key="orientation"):
    """A quaternion w, x, y, z."""
    given = numbers(value, key, ndim=1)
    if len(given) != 4:
        raise BadInput(f"found {len(given)} numbers, expected a quaternion w, x, y, z", key)
    return [float(x) for x in given]


def rows(value, count, widths, key, dtype=np.float64):
    """`count` rows of the first of `widths`; narrower rows are padded with zeros. A single row is
    repeated for all."""
    found = numbers(value, key, dtype=dtype)
    width = widths[0]
    scalar = width == 1
    if scalar and found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim == (0 if scalar else 1):
        found = np.broadcast_to(found, (count,) + found.shape)
    expected = (count,) if scalar else None
    if scalar and found.shape != expected or not scalar and (
            found.ndim != 2 or len(found) != count or found.shape[1] not in widths):
        told = expected if scalar else " or ".join(str((count, w)) for w in widths)
        raise BadInput(f"found an array of shape {found.shape}, expected {told}", key)
    if not scalar and found.shape[1] < width:
        found = np.hstack([found, np.zeros((count, width - found.shape[1]), dtype=found.dtype)])
    return np.ascontiguousarray(found, dtype=dtype)


# ---- callbacks ----------------------------------------------------------------------------------


class Caller:
    """The owner of callbacks. Exceptions raised in them are kept here until the library returns."""

    def __init__(self):
        self.exception = None
        self._weak = weakref.ref(self)  # no reference cycle: unused objects are freed at once
        self.handle = ffi.new_handle(self._weak)

    def keep(self, function, failed, *args):
        """Call a function of the user; an exception is kept for later."""
        try:
            return function(*args)
        except BaseException as exception:  # noqa: B902 - also Ctrl-C: C must not see it
            if self.exception is None:
                self.exception = exception
            return failed

    def settle(self):
        """Raise the exception of a callback."""
        exception, self.exception = self.exception, None
        if exception is not None:
            raise exception


def caller_of(context):
    return ffi.from_handle(context)()


def _lost(kind, exception, trace):
    """Keep an exception between two lines of a callback, such as Ctrl-C, with its caller."""
    context = trace.tb_frame.f_locals.get("context") if trace is not None else None
    if context is not None:
        caller = caller_of(context)
        if caller.exception is None:
            caller.exception = exception


def doubles(pointer, count, writeable=False):
    """An array over memory of C, valid during a call."""
    out = np.frombuffer(ffi.buffer(pointer, 8 * count), np.float64)
    out.flags.writeable = writeable
    return out


# ---- bytes and polygons ------------------------------------------------------------------------


@ffi.def_extern(error=lib.CAIRN_NO_MEMORY)
def cairn_python_on_write(data, size, context):
    ffi.from_handle(context).append(bytes(ffi.buffer(data, size)))
    return lib.CAIRN_OK


def saved(world):
    """The state of a world as bytes."""
    parts = []
    handle = ffi.new_handle(parts)
    check(lib.cairn_world_save(world, lib.cairn_python_on_write, handle))
    return b"".join(parts)


@ffi.def_extern(error=lib.CAIRN_NO_MEMORY)
def cairn_python_on_polygon(context, corners, count, closed):
    points = np.array(doubles(corners, 3 * count)).reshape(count, 3)
    ffi.from_handle(context).append(np.vstack([points, points[:1]]) if closed else points)
    return lib.CAIRN_OK


def draw(shape, dimension, pose):
    found = []
    handle = ffi.new_handle(found)
    check(lib.cairn_shape_draw(shape, dimension, pose, lib.cairn_python_on_polygon, handle))
    return found


# ---- runs --------------------------------------------------------------------------------------


class Destroyer:
    """Destroys a world or scene, and ends its run before that. The garbage collector finalizes what
    refers to each other in any order, so that a Running may come too late."""

    def __init__(self, destroy):
        self._destroy, self._end, self._none = destroy, lib.cairn_run_end, ffi.NULL
        self.run = None  #: cairn_running **, NULL once it has ended

    def __call__(self, pointer):
        if self.run is not None and self.run[0] != self._none:
            self._end(self.run, self._none, self._none)
        self._destroy(pointer)


@ffi.def_extern(error=False, onerror=_lost)
def cairn_python_on_progress(progress, context):
    caller = caller_of(context)
    return bool(caller.keep(caller.progress, False, progress))


@ffi.def_extern(error=False, onerror=_lost)
def cairn_python_on_compare(progress, context):
    caller = caller_of(context)
    return bool(caller.keep(caller.progress, False, progress))


# ---- forces ------------------------------------------------------------------------------------


@ffi.def_extern(error=lib.CAIRN_STOPPED, onerror=_lost)
def cairn_python_on_force(context, world, time, force, torque):
    caller = caller_of(context)
    count = lib.cairn_world_bodies(world).count
    given = caller.keep(caller.forces, None, time, count)
    if given is None:
        return lib.CAIRN_STOPPED
    for numbers, place in zip(given, (force, torque)):
        ffi.memmove(place, np.ascontiguousarray(numbers), 24 * count)
    return lib.CAIRN_OK


# ---- Lagrangian systems ------------------------------------------------------------------------


def fill(out, values, key):
    """Copy numbers of the user into memory of C."""
    values = np.asarray(values, dtype=float)
    if values.size != out.size:
        raise BadInput(f"found an array of shape {values.shape}, expected {out.shape}", key)
    out[...] = values.reshape(out.shape)


@ffi.def_extern(onerror=_lost)
def cairn_python_on_mass(context, q, M):
    caller = caller_of(context)
    n = caller.coordinates
    out = doubles(M, n * n, True).reshape(n, n)
    caller.keep(lambda: fill(out, caller.mass(np.array(doubles(q, n))), "mass"), None)


@ffi.def_extern(onerror=_lost)
def cairn_python_on_system_force(context, time, q, v, F):
    caller = caller_of(context)
    n = caller.coordinates
    out = doubles(F, n, True)
    state = np.array(doubles(q, n)), np.array(doubles(v, n))
    caller.keep(lambda: fill(out, caller.force(time, *state), "force"), None)


@ffi.def_extern(onerror=_lost)
def cairn_python_on_contact(context, q, index, out):
    caller = caller_of(context)
    n, d = caller.coordinates, caller.dimension
    rows = doubles(out.rows, d * n, True).reshape(d, n)

    def describe():
        given = caller.contact(np.array(doubles(q, n)), index)
        if not isinstance(given, dict):
            raise BadInput("expected a dict with gap, rows, mu and restitution", "contact")
        unknown = set(given) - {"gap", "rows", "mu", "restitution", "poisson"}
        if unknown:
            raise BadInput(f"unknown key '{sorted(unknown)[0]}'", "contact")
        fill(rows, given["rows"], "contact.rows")
        out.gap, out.mu = float(given["gap"]), float(given.get("mu", 0.0))
        out.restitution = float(given.get("restitution", 0.0))
        out.poisson = bool(given.get("poisson", False))
    caller.keep(describe, None)


@ffi.def_extern(error=float("nan"), onerror=_lost)
def cairn_python_on_potential(context, q):
    caller = caller_of(context)
    given = np.array(doubles(q, caller.coordinates))
    return caller.keep(lambda: float(caller.potential(given)), float("nan"))
