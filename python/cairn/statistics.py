"""Measuring: packing, coordination, pair correlation, stress, ... docs/statistics.md has the
formulas."""
from __future__ import annotations

import os

import numpy as np

from . import _records
from ._lib import NotFound, check, ffi, lib, new_error, process, text
from .tables import Table

MEASURE = _records.single(ffi, lib, "MeasureOptions")


def _options(given, dimension):
    out, keep = ffi.new("cairn_measure_options *"), []
    out[0] = lib.cairn_measure_options_default()
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
    """A statistic of a world as it stands."""
    options, keep = _options(given, world.dimension)
    table = ffi.new("cairn_statistic_table *")
    process.computes()
    with world._reading() as pointer:
        if lib.cairn_statistic_table_create(name.encode(), world.dimension, table) != lib.CAIRN_OK:
            raise NotFound(f"there is no statistic '{name}'", "statistics")
        try:
            h = world._step.time_step
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
