"""Systems in generalised coordinates, given by functions of Python.

    M(q) (v+ - v) = h F(t, q, v) + H(q)' r,   u = H(q) v+,   q+ = q + h v+
"""
from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from . import _records
from ._lib import (BadInput, Caller, Error, Struct, check, failure, ffi, lib, new_error, numbers,
                   process)

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LagrangeOptions

LAGRANGE = _records.single(ffi, lib, "LagrangeOptions")


class LagrangeReport(Struct):
    """The report of a step."""

    __slots__ = ()

    @property
    def converged(self) -> bool:
        """Whether the step met its tolerance."""
        return bool(self._c.solve.converged)


class Lagrange(Caller):
    """A system with its state.

    `mass(q)` gives the mass matrix, `force(t, q, v)` the generalised forces with inertial terms,
    `potential(q)` the energy for reports. `contact(q, k)` describes contact k of `contacts` as a
    dict: `gap` (m), `rows` (dimension x coordinates: the gradient of the gap, then the tangents),
    `mu`, `restitution`, `poisson`. Arrays that come in are copies. Options of the step are keyword
    arguments.
    """

    def __init__(self, q, v=None, *, mass, force=None, contact=None, contacts: int = 0,
                 potential=None, dimension: int = 2, **options):
        super().__init__()
        q = numbers(q, "q", ndim=1)
        v = np.zeros_like(q) if v is None else numbers(v, "v", shape=q.shape)
        self.coordinates, self.dimension, self.contacts = len(q), int(dimension), int(contacts)
        self.mass, self.force, self.contact, self.potential = mass, force, contact, potential
        system = ffi.new("cairn_lagrange_system *")
        system.coordinates, system.dimension = self.coordinates, self.dimension
        system.contacts, system.context = self.contacts, self.handle
        system.mass = lib.cairn_python_on_mass
        for function, name, callback in (
                (force, "force", lib.cairn_python_on_system_force),
                (contact, "contact", lib.cairn_python_on_contact),
                (potential, "potential", lib.cairn_python_on_potential)):
            if function is not None:
                setattr(system, name, callback)
        self._lock, self._inside = threading.RLock(), False
        self._step = ffi.new("cairn_lagrange_options *")
        self._kept: dict = {}
        self._step[0] = lib.cairn_lagrange_options_default()
        self.set(**options)
        out, error = ffi.new("cairn_lagrange **"), new_error()
        status = lib.cairn_lagrange_create(
            system, ffi.cast("double *", ffi.from_buffer(q)) if len(q) else ffi.NULL,
            ffi.cast("double *", ffi.from_buffer(v)) if len(q) else ffi.NULL, out, error)
        self.settle()
        check(status, error)
        self._pointer = ffi.gc(out[0], lib.cairn_lagrange_destroy)

    def set(self, **options: Unpack[LagrangeOptions]) -> None:
        """Set options of the step; each holds until it is given again."""
        for name, value in options.items():
            keep: list = []
            LAGRANGE.write_one(self._step, LAGRANGE.find(name), value, keep)
            self._kept[name] = keep

    def step(self, time_step: float | None = None, /,
             **options: Unpack[LagrangeOptions]) -> LagrangeReport:
        """Advance by one step. A step that misses its tolerance is a report, not an error."""
        if time_step is not None:
            options["time_step"] = time_step
        self.set(**options)
        process.computes()
        report, error = ffi.new("cairn_lagrange_report *"), new_error()
        with self._lock:
            if self._inside:
                raise Error("a callback may not step its own system")
            self._inside = True
            status = lib.cairn_lagrange_step(self._pointer, self._step, report, error)
            self._inside = False
        self.settle()
        if status:
            raise failure(status, error)
        return LagrangeReport(report)

    def run(self, duration: float, *, until=None, **options) -> list:
        """Steps for `duration` seconds; the reports of all of them."""
        self.set(**options)
        h = self._step.time_step
        if not (h > 0):
            raise BadInput("found 0, expected a number > 0 s", "time_step")
        reports = []
        for _ in range(int(np.ceil(duration / h * (1 - 1e-12) - 1e-9))):
            reports.append(self.step())
            if until is not None and until(self):
                break
        return reports

    def _numbers(self, function, count):
        with self._lock:
            return np.frombuffer(ffi.buffer(function(self._pointer), 8 * count)).copy() \
                if count else np.zeros(0)

    @property
    def time(self) -> float:
        """s since the start."""
        return lib.cairn_lagrange_time(self._pointer)

    @property
    def q(self) -> np.ndarray:
        """The coordinates, copied."""
        return self._numbers(lib.cairn_lagrange_position, self.coordinates)

    @property
    def v(self) -> np.ndarray:
        """Their velocities, copied."""
        return self._numbers(lib.cairn_lagrange_velocity, self.coordinates)

    @property
    def impulses(self) -> np.ndarray:
        """N s, a row for each contact of the last step, normal first; copied."""
        return self._numbers(lib.cairn_lagrange_impulse, self.contacts * self.dimension).reshape(
            self.contacts, self.dimension)

    def __reduce__(self):
        raise TypeError("a Lagrangian system cannot be pickled or copied: its functions are "
                        "Python's; make another one from q and v")

    def __repr__(self):
        q = ", ".join(f"{x:.4g}" for x in self.q[:6])
        return (f"<Lagrange: {self.coordinates} coordinates, {self.contacts} contacts, "
                f"t = {self.time:g} s, q = ({q}{', ...' if self.coordinates > 6 else ''})>")


Lagrange.__doc__ += "\n\nOptions\n-------\n" + LAGRANGE.table("")
