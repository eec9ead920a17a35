"""Schemes, solvers and time steps on the same scene, side by side."""
from __future__ import annotations

import numpy as np

from ._callbacks import Caller
from ._lib import check, ffi, lib, new_error, process, text
from ._struct import Struct
from .scene import _SceneFile, overrides, texts_of_c


class _Watch(Caller):
    def progress(self, progress):
        return True  # Ctrl-C is raised here


class Compared(Struct):
    """One run of a comparison: `scheme`, `solver`, `time_step`, `summary`, `difference` from the
    reference, `order`, `energy_rise`."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether there is a run."""
        return self._c.status == lib.CAIRN_OK

    def __repr__(self):
        if not self.ok:
            told = text(self._c.error.message)
            return f"<{self.scheme}, {self.solver}, {self.time_step:g} s: {told}>"
        return (f"<{self.scheme}, {self.solver}, {self.time_step:g} s: "
                f"{self.difference.whole_rms:.3g} m from the reference>")


class Comparison(list):
    """Runs, the reference first."""

    def to_pandas(self):
        """A pandas DataFrame with a row for each run."""
        import pandas
        return pandas.DataFrame([
            {"scheme": run.scheme, "solver": run.solver, "time_step": run.time_step,
             "reference": run.is_reference, "ok": run.ok, "difference": run.difference.whole_rms,
             "order": run.order, "energy_rise": run.energy_rise,
             "missed": run.summary.uncertified, "seconds": run.summary.wall_seconds}
            for run in self])


def compare(scene, *, schemes=(), solvers=(), time_steps=(), reference: str | None = None,
            reference_step: float = 0.0, set: dict | None = None, folder=None) -> Comparison:
    """Run every combination of schemes (all of them unless said), solvers and time steps (those of
    the scene unless said) on a scene, a path or a dict, and measure how far each is from a
    reference run (fixed-point unless said). Nothing is written."""
    keep: list = []
    given = ffi.new("cairn_compare_options *")
    changes = overrides(set)
    for name, items in (("scheme", schemes), ("solver", solvers), ("override", changes)):
        setattr(given, name + "s", texts_of_c(items, keep))
        setattr(given, name + "_count", len(items))
    steps = ffi.new("double[]", [float(h) for h in time_steps])
    given.time_steps.values, given.time_steps.count = steps, len(time_steps)
    if reference:
        keep.append(ffi.new("char[]", reference.encode()))
        given.reference = keep[-1]
    given.reference_step = reference_step
    watch = _Watch()
    given.progress, given.context = lib.cairn_python_on_compare, watch.handle
    out, error = ffi.new("cairn_comparison **"), new_error()
    process.computes()
    with _SceneFile(scene, folder) as path:
        status = lib.cairn_compare(path, given, out, error)
    comparison = ffi.gc(out[0], lib.cairn_comparison_destroy) if out[0] else None
    watch.settle()
    check(status, error)
    count = lib.cairn_comparison_count(comparison)
    return Comparison(Compared(lib.cairn_comparison_at(comparison, k), comparison)
                      for k in range(count))


def order(time_steps, errors) -> float:
    """The slope of errors over time steps on logarithmic axes."""
    return float(np.polyfit(np.log(time_steps), np.log(errors), 1)[0])
