"""Functions of Python that the library calls. An exception in one is kept, ends what is under way,
and is raised again where the library was called from."""
from __future__ import annotations

import weakref

import numpy as np

from ._lib import BadInput, check, ffi, lib


class Caller:
    """What a callback belongs to. What it raises is kept here until the library has returned."""

    def __init__(self):
        self.exception = None
        self._weak = weakref.ref(self)  # no circle: what is no longer used is freed at once
        self.handle = ffi.new_handle(self._weak)

    def keep(self, function, failed, *args):
        """Call a function of the user; what it raises is kept for later."""
        try:
            return function(*args)
        except BaseException as exception:  # noqa: B902 - also Ctrl-C: C must not see it
            if self.exception is None:
                self.exception = exception
            return failed

    def settle(self):
        """Raise what a callback raised."""
        exception, self.exception = self.exception, None
        if exception is not None:
            raise exception


def caller_of(context):
    return ffi.from_handle(context)()


def _lost(kind, exception, trace):
    """An exception between two lines of a callback, as of Ctrl-C: kept with its caller."""
    context = trace.tb_frame.f_locals.get("context") if trace is not None else None
    if context is not None:
        caller = caller_of(context)
        if caller.exception is None:
            caller.exception = exception


def doubles(pointer, count, writeable=False):
    """An array over memory of C, for the time of a call."""
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
    """Numbers of the user into memory of C."""
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
