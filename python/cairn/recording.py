"""Reading runs: frames, contacts, certificates, the energy ledger, statistics; tables of numbers.

Data are read only when they are used. docs/run-format.md describes what a run holds.
"""
from __future__ import annotations

import html
import json
import os
import tempfile
import threading

import numpy as np

from ._lib import NotFound, Struct, check, ffi, lib, new_error
from .scene import written


# ---- tables: columns by name, as numpy arrays or as a pandas DataFrame --------------------------


def frame(columns):
    """A pandas DataFrame; a column of vectors becomes one for each number, as in x_0, x_1, x_2."""
    import pandas
    out = {}
    for name, values in columns.items():
        if values.ndim == 1:
            out[name] = values
        else:
            for k in range(values.shape[1]):
                out[f"{name}_{k}"] = values[:, k]
    return pandas.DataFrame(out)


class Table:
    """Columns of equal length by name: `table["time"]` or `table.time`. `units` has their units."""

    def __init__(self, name, columns, units=None, attributes=None):
        self.name, self._columns = name, dict(columns)
        self.units, self.attributes = dict(units or {}), dict(attributes or {})

    def __getitem__(self, name):
        return self._columns[name]

    def __getattr__(self, name):
        try:
            return self.__dict__["_columns"][name]
        except KeyError:
            raise AttributeError(f"there is no column '{name}'") from None

    def __iter__(self):
        return iter(self._columns)

    def __contains__(self, name):
        return name in self._columns

    def keys(self):
        """Names of the columns."""
        return list(self._columns)

    def __len__(self):
        return max((len(values) for values in self._columns.values()), default=0)

    def __dir__(self):
        return list(self._columns) + ["keys", "to_pandas", "units"]

    def select(self, names):
        """Some of the columns, as far as they exist."""
        kept = {name: self._columns[name] for name in names if name in self._columns}
        return Table(self.name, kept, self.units, self.attributes)

    def to_pandas(self):
        """A pandas DataFrame."""
        return frame(self._columns)

    def __repr__(self):
        return f"<Table {self.name}: {len(self)} rows of {', '.join(self._columns)}>"

    def _repr_html_(self):
        if len(self) == 0:
            return f"<b>{self.name}</b>: no rows"
        heads, rows = "", []
        shown = min(len(self), 10)
        for name in self._columns:
            unit = self.units.get(name, "")
            heads += f"<th>{name}{f' [{unit}]' if unit else ''}</th>"
        for i in range(shown):
            cells = "".join(f"<td>{_cell(values[i])}</td>" for values in self._columns.values())
            rows.append(f"<tr>{cells}</tr>")
        return (f"<b>{self.name}</b>, {shown} of {len(self)} rows"
                f"<table><tr>{heads}</tr>{''.join(rows)}</table>")


def _cell(value):
    if isinstance(value, np.ndarray):
        return "(" + ", ".join(f"{x:.4g}" for x in value) + ")"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else value


# ---- runs ---------------------------------------------------------------------------------------


def _fields(name):
    return [field for field, _ in ffi.typeof(name).fields]


class Frame:
    """A stored moment of a run. Columns of bodies are attributes: `x`, `q`, `v`, `omega`, ...; row
    i is the body `index[i]` of `run.bodies`."""

    def __init__(self, run, number):
        self.run, self.number = run, number
        self.time = float(run.times[number])

    def _rows(self, group, offset):
        first, last = self.run[f"frames/{offset}"][self.number:self.number + 2]
        return {name: self.run.read(f"frames/{group}/{name}", int(first), int(last - first))
                for name in self.run.columns_of(f"frames/{group}")}

    @property
    def bodies(self) -> Table:
        """All columns of bodies."""
        return self.run._table(f"frame {self.number}", "frames/bodies",
                               self._rows("bodies", "body_offset"))

    @property
    def contacts(self) -> Table:
        """All columns of contacts; `body` has the bodies of both sides as rows of `run.bodies`. The
        force is the impulse over the time step."""
        return self.run._table(f"contacts of frame {self.number}", "frames/contacts",
                               self._rows("contacts", "contact_offset"))

    @property
    def joints(self) -> Table:
        """All columns of joints."""
        return self.run._table(f"joints of frame {self.number}", "frames/joints",
                               self._rows("joints", "joint_offset"))

    def __getattr__(self, name):
        if name.startswith("_") or f"frames/bodies/{name}" not in self.run.columns:
            raise AttributeError(name)
        first, last = self.run["frames/body_offset"][self.number:self.number + 2]
        return self.run.read(f"frames/bodies/{name}", int(first), int(last - first))

    def plot(self, ax=None, **options):
        """Draw it with matplotlib; returns the axes. `forces=True` adds force chains."""
        from .plots import draw_frame
        return draw_frame(self, ax, **options)

    def __repr__(self):
        return (f"<Frame {self.number} of {self.run.path}: t = {self.time:g} s, "
                f"{len(self.x)} bodies>")


class Run:
    """A run folder, or its run.h5."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self.summary = None  #: of a run that was made here
        self._lock = threading.RLock()
        out, error = ffi.new("cairn_recording **"), new_error()
        check(lib.cairn_recording_open(os.fsencode(self.path), out, error), error)
        self._pointer = ffi.gc(out[0], lib.cairn_recording_close)
        self._small: dict = {}
        self.refresh()

    def refresh(self) -> None:
        """Read what a run in progress in another process has added."""
        error = new_error()
        with self._lock:
            told = written(lambda file: lib.cairn_recording_describe(self._pointer, file, error))
        told = json.loads(told)
        self.columns, self.attributes = told["columns"], told["attributes"]
        self.texts, self.grows = told.get("texts", {}), bool(told.get("grows", False))
        self._small = {}

    # ---- columns --------------------------------------------------------------------------------

    def columns_of(self, group: str) -> list:
        """Names of the columns of a group, as in "frames/bodies"."""
        start = group.rstrip("/") + "/"
        return [path[len(start):] for path in self.columns
                if path.startswith(start) and "/" not in path[len(start):]]

    def read(self, column: str, first: int = 0, count: int | None = None) -> np.ndarray:
        """Rows of a column by its path in the file, as in "frames/bodies/x"."""
        told, error = ffi.new("cairn_recording_column *"), new_error()
        with self._lock:
            check(lib.cairn_recording_look(self._pointer, column.encode(), told, error), error)
        width, whole = told.width, bool(told.whole)
        count = told.rows - first if count is None else count
        dtype = np.dtype(np.int32 if whole else np.float64)
        out = np.empty((count, width), dtype)
        most = max(1, (lib.CAIRN_RECORDING_MOST_BYTES - 64) // (width * dtype.itemsize))
        for begin in range(0, count, most):
            self._read_some(column, first + begin, out[begin:begin + most])
        return out if width > 1 else out[:, 0]

    def _read_some(self, column, first, out):
        rows, error = ffi.new("cairn_recording_rows *"), new_error()
        name = ffi.new("char[]", column.encode())
        rows.column, rows.first, rows.count = name, first, len(out)
        rows.type = lib.CAIRN_NUMBER_INT if out.dtype == np.int32 else lib.CAIRN_NUMBER_DOUBLE
        data, size = ffi.new("const void **"), ffi.new("size_t *")
        with self._lock:
            check(lib.cairn_recording_read(self._pointer, rows, 1, data, size, error), error)
            if out.size:
                ffi.memmove(ffi.from_buffer(out, require_writable=True), data[0], out.nbytes)

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self._small:
            try:
                values = self.read(column)
            except NotFound:
                raise KeyError(column) from None
            if values.nbytes > 1 << 20:
                return values
            values.flags.writeable = False
            self._small[column] = values
        return self._small[column]

    def _table(self, name, group, columns):
        units = {c: self.columns[f"{group}/{c}"].get("unit", "") for c in columns}
        return Table(name, columns, units)

    def table(self, group: str) -> Table:
        """All columns of a group, as in "steps" or "bodies"."""
        return self._table(group, group, {c: self[f"{group}/{c}"] for c in self.columns_of(group)})

    # ---- what it holds --------------------------------------------------------------------------

    @property
    def info(self) -> Struct:
        """What the run says about itself: title, version, scheme, steps, hash, ..."""
        out, error = ffi.new("cairn_run_info *"), new_error()
        check(lib.cairn_run_read_info(os.fsencode(self.path), out, error), error)
        return Struct(out)

    @property
    def times(self) -> np.ndarray:
        """s: of the frames."""
        return self["frames/time"]

    @property
    def frames(self) -> "Frames":
        """The frames: `len(run.frames)`, `run.frames[-1]`, and iteration."""
        return Frames(self)

    def frame(self, number: int | None = None, *, time: float | None = None) -> Frame:
        """A frame by its number, or the one nearest to a time (s)."""
        if time is not None:
            number = int(np.argmin(np.abs(self.times - time)))
        return self.frames[-1 if number is None else number]

    @property
    def bodies(self) -> Table:
        """Properties of bodies, one row each: shape, motion, mass, radius, ..."""
        return self.table("bodies")

    @property
    def steps(self) -> Table:
        """One row per step: contacts, residuals, certificate, energies, seconds."""
        return self.table("steps")

    @property
    def certificate(self) -> Table:
        """How well every step satisfies the law, in metres, newton-seconds and joules."""
        own = _fields("cairn_certificate") + [
            f"{law}_{name}" for law in ("asked", "coulomb") for name in _fields("cairn_residual")]
        steps = self.steps
        out = steps.select(["step", "time", "converged"] + own)
        out.name = "certificate"
        return out

    def certified(self, step: int) -> tuple:
        """The bodies after a step and its contacts, as Tables, from a run with `certificate: full`;
        step 0 is the state at the start."""
        tables = []
        for group, offset, block in (("bodies", "body_offset", step),
                                     ("contacts", "contact_offset", step - 1)):
            first, last = (self[f"certificate/{offset}"][block:block + 2] if block >= 0 else (0, 0))
            columns = {n: self.read(f"certificate/{group}/{n}", int(first), int(last - first))
                       for n in self.columns_of(f"frames/{group}")}
            tables.append(self._table(f"{group} of step {step}", f"frames/{group}", columns))
        return tuple(tables)

    @property
    def ledger(self) -> Table:
        """Where the energy went in every step, J."""
        names = _fields("cairn_energy") + ["entered_energy"]
        out = self.steps.select(["step", "time"] + [n for n in names if n != "entered"])
        out.name = "energy ledger"
        return out

    @property
    def statistics(self) -> dict:
        """Statistics that the run measured itself, as Tables by name."""
        groups = {path.split("/")[1] for path in self.columns if path.startswith("statistics/")}
        return {name: self.table(f"statistics/{name}") for name in sorted(groups)}

    @property
    def series(self) -> dict:
        """Series of forces, as Tables by name: `time`, `force_x`, ..., `torque_z`, `work`."""
        groups = {path.split("/")[1] for path in self.columns if path.startswith("series/")}
        return {name: self.table(f"series/{name}") for name in sorted(groups)}

    def stat(self, *names: str, **options):
        """Measure its frames now: see `cairn.stat`."""
        from .statistics import stat
        return stat(self, *names, **options)

    def names_of(self, column: str) -> list:
        """The names behind the whole numbers of a column."""
        return list(self.columns[column].get("names", []))

    # ---- for people -----------------------------------------------------------------------------

    def explain(self) -> str:
        """One page about the run: what was slow, where accuracy was lost, what to change."""
        error = new_error()
        return written(lambda file: lib.cairn_run_explain(os.fsencode(self.path), file, error))

    def check(self):
        """Recompute it with cairn-check: see `cairn.check`."""
        from .programs import check as check_run
        return check_run(self.path)

    def view(self, height: int = 600) -> "Page":
        """The animated run, inline in a notebook: the page of `cairn export --html`."""
        from .programs import call
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.html")
            call("cairn", "export", self.path, "--html", path)
            with open(path, encoding="utf-8") as file:
                return Page(file.read(), height)

    def _repr_html_(self):
        info = self.info
        told = {"ending": info.ending, "steps": info.steps, "frames": info.frames,
                "bodies": info.bodies, "time": f"{info.time:g} s", "scheme": info.scheme,
                "missed their tolerance": info.uncertified, "hash": f"{info.hash:016x}"}
        lines = "".join(f"<tr><td>{k}</td><td>{v}</td></tr>" for k, v in told.items())
        return f"<b>{html.escape(info.title or self.path)}</b><table>{lines}</table>"

    def __repr__(self):
        info = self.info
        return (f"<Run {self.path} '{info.title}': {info.bodies} bodies, {info.steps} steps, "
                f"{info.frames} frames, {info.ending or 'under way'}>")


class Frames:
    """The frames of a run, in order."""

    def __init__(self, run):
        self._run = run

    def __len__(self):
        return len(self._run.times)

    def __getitem__(self, number):
        if isinstance(number, slice):
            return [self[k] for k in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"found {number}, expected a number below {len(self)}")
        return Frame(self._run, number % len(self))


class Page:
    """A page that a notebook shows inline."""

    def __init__(self, text, height):
        self.text, self.height = text, height

    def save(self, path) -> None:
        """Write it as a file for any browser."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.text, quote=True)}" width="100%" '
                f'height="{self.height}" style="border:0"></iframe>')

    def __repr__(self):
        return f"<Page of {len(self.text)} characters>"
