"""Measuring and comparing runs: packing, stress, ... (docs/statistics.md has the formulas), and
schemes, solvers and time steps side by side on the same scene."""
from __future__ import annotations

import os

import numpy as np

from . import _records
from ._lib import Caller, NotFound, Struct, check, ffi, lib, new_error, process, text
from .scene import _SceneFile, overrides, texts_of_c
from .recording import Table


# ---- statistics ---------------------------------------------------------------------------------


MEASURE = _records.single(ffi, lib, "MeasureOptions")


def _options(given, dimension):
    out, keep = ffi.new("cairn_measure_options *"), []
    out[0] = lib.cairn_measure_options_default()
    MEASURE.refuse_flat(given, dimension)
    MEASURE.write(out, given, keep)
    error = new_error()
    check(lib.cairn_measure_options_check(out, dimension, error), error)
    return out, keep


def _read(c):
    """A table of the library, copied."""
    columns, units = {}, {}
    count, rows = c.column_count, int(c.rows)
    values = np.empty((rows, count))
    if rows:
        values[...] = np.frombuffer(ffi.buffer(c.values, 8 * rows * count)).reshape(rows, count)
    for k in range(count):
        name = text(c.columns[k].name)
        columns[name], units[name] = values[:, k].copy(), text(c.columns[k].unit)
    return Table(text(c.name), columns, units)


def _names(names):
    """Names as the library takes them."""
    out, keep = ffi.new("cairn_names *"), [ffi.new("char[]", n.encode()) for n in names]
    for k, name in enumerate(keep):
        out.items[k] = name
    out.count = len(keep)
    return out, keep


def of_world(world, name, given):
    """A statistic of the present state of a world."""
    options, keep = _options(given, world.dimension)
    table = ffi.new("cairn_statistic_table *")
    process.computes()
    with world._reading() as pointer:
        if lib.cairn_statistic_table_create(name.encode(), world.dimension, table) != lib.CAIRN_OK:
            raise NotFound(f"there is no statistic '{name}'", "statistics")
        try:
            h = lib.cairn_world_last_length(pointer) or world._step.time_step
            check(lib.cairn_world_statistic(pointer, max(h, 0.0), options, table))
            return _read(table)
        finally:
            lib.cairn_statistic_table_destroy(table)
            del keep


def stat(run, *names: str, **options):
    """Measure every frame of a finished run (its folder, its run.h5, or a Run). One name gives a
    Table, several a dict of them."""
    from .recording import Run
    path = run.path if isinstance(run, Run) else os.fspath(run)
    info = ffi.new("cairn_run_info *")
    error = new_error()
    check(lib.cairn_run_read_info(os.fsencode(path), info, error), error)
    given, keep = _options(options, info.dimension)
    asked, kept = _names(names)
    tables = ffi.new("cairn_statistic_table[]", max(len(names), 1))
    process.computes()
    check(lib.cairn_run_measure(os.fsencode(path), asked, given, tables, error), error)
    found = {}
    for k, name in enumerate(names):
        found[name] = _read(tables[k])
        lib.cairn_statistic_table_destroy(tables + k)
    del keep, kept
    return found[names[0]] if len(names) == 1 else found


stat.__doc__ += "\n\nOptions\n-------\n" + MEASURE.table("")


# ---- comparisons --------------------------------------------------------------------------------


class _Watch(Caller):
    def progress(self, progress):
        return True  # Ctrl-C is raised here


class Compared(Struct):
    """One run of a comparison: `scheme`, `solver`, `time_step`, `summary`, `difference` from the
    reference, `order`, `energy_rise`."""

    __slots__ = ()

    @property
    def ok(self) -> bool:
        """Whether the run succeeded."""
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
    """Run every combination of schemes (default: all), solvers and time steps (default: those of
    the scene) on a scene, a path or a dict, and measure how far each is from a reference run
    (default: fixed-point). Nothing is written."""
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
