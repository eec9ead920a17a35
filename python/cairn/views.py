"""Arrays over the memory of a world, without copies.

A view is lent until the world next changes: a step, a body made or removed. From then on every use
of it raises StaleView: `x = world.positions` holds for this moment, `x.copy()` for ever. Its memory
stays readable for as long as the array, or anything made from it by numpy, is alive - also after
the world is gone - so a view that slipped through (`numpy.asarray(x)` is a plain array, which
nobody watches) shows old numbers and never crashes.
"""
from __future__ import annotations

import numpy as np

from ._lib import NoMemory, StaleView, ffi, lib

_plain = np.ndarray.view
_QUIET = frozenset(("_token", "__class__", "__array_finalize__", "__dict__", "__array_priority__",
                    "__array_interface__", "__array_struct__", "dtype"))


class Clock:
    """How often a world has changed. Views refer to it, not to the world."""

    __slots__ = ("version",)

    def __init__(self):
        self.version = 0


class View(np.ndarray):
    """An array over the memory of a world: read only, and valid until the world next changes."""

    _token = None  #: (clock, its version, first and last byte): where and when they are valid

    def __array_finalize__(self, source):
        if source is not None:
            self._token = getattr(source, "_token", None)

    def _check(self):
        token = object.__getattribute__(self, "_token")
        if token is None or token[0].version == token[1]:
            return
        place = np.ndarray.__getattribute__(self, "__array_interface__")["data"][0]
        if not token[2] <= place < token[3]:  # a copy: its memory is its own
            return
        raise StaleView("the world has changed since this view was taken; take it again, or keep a "
                        "copy: view.copy()")

    def __getattribute__(self, name):
        if name not in _QUIET:
            View._check(self)
        return np.ndarray.__getattribute__(self, name)

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        given = tuple(fresh(x) for x in inputs)
        if out is not None:
            kwargs["out"] = tuple(fresh(x) for x in out)
        return getattr(ufunc, method)(*given, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        return function(*_fresh_all(args), **_fresh_all(kwargs))

    def __getitem__(self, key):
        View._check(self)
        plain = _plain(self, np.ndarray)
        found = plain[fresh(key)]
        if isinstance(found, np.ndarray) and np.may_share_memory(found, plain):
            found = found.view(View)
            found._token = object.__getattribute__(self, "_token")
        return found

    def __setitem__(self, key, value):
        View._check(self)
        raise ValueError("views of a world are read only; a copy is not: view.copy()")

    def copy(self, order="C"):
        """A plain array with the same numbers, which does not change."""
        return np.array(_plain(self, np.ndarray), order=order)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return self.copy().__reduce__()

    def __iter__(self):
        View._check(self)
        return iter(_plain(self, np.ndarray))


def _checked(name):
    method = getattr(np.ndarray, name)

    def call(self, *args):
        View._check(self)
        return method(_plain(self, np.ndarray), *[fresh(x) for x in args])
    call.__name__ = name
    return call


for _name in ("__len__", "__contains__", "__bool__", "__float__", "__int__", "__repr__", "__str__",
              "__index__", "__complex__", "__format__", "__eq__", "__ne__", "__lt__", "__le__",
              "__gt__", "__ge__"):
    setattr(View, _name, _checked(_name))


def fresh(value):
    """A plain array of a view that is still valid; other values are returned as they are."""
    if isinstance(value, View):
        View._check(value)
        return _plain(value, np.ndarray)
    return value


def _fresh_all(value):
    if isinstance(value, (list, tuple)):
        return type(value)(_fresh_all(x) for x in value)
    if isinstance(value, dict):
        return {k: _fresh_all(v) for k, v in value.items()}
    return fresh(value)


def view(world, pointer, count, width, dtype):
    """A view of `count` rows from a block of the library on."""
    shape = (count, width) if width > 1 else (count,)
    dtype = np.dtype(dtype)
    if not pointer or count == 0:
        out = np.zeros(shape, dtype)
    else:
        if not lib.cairn_python_pin(pointer):
            raise NoMemory("no memory for a view")
        held = ffi.gc(ffi.cast("char *", pointer), lib.cairn_python_unpin)
        block = ffi.buffer(held, count * width * dtype.itemsize)
        # of a read-only buffer: numpy then refuses to make the array writeable again
        out = np.frombuffer(memoryview(block).toreadonly(), dtype).reshape(shape)
    out.flags.writeable = False
    first = out.__array_interface__["data"][0]
    out = out.view(View)
    last = first + max(count * width * dtype.itemsize, 1)
    out._token = (world._clock, world._clock.version, first, last)
    return out


_DTYPES = {lib.CAIRN_COLUMN_BYTE: np.uint8, lib.CAIRN_COLUMN_FLAG: np.bool_,
           lib.CAIRN_COLUMN_INT: np.int32, lib.CAIRN_COLUMN_LONG: np.uint64,
           lib.CAIRN_COLUMN_REAL: np.float64}


class Column:
    """One column of bodies or contacts, from the library's own list."""

    def __init__(self, pointer):
        self.pointer = pointer
        self.name, self.unit = (ffi.string(p).decode() for p in (pointer.name, pointer.unit))
        self.meaning = ffi.string(pointer.meaning).decode()
        self.dtype = np.dtype(_DTYPES[pointer.type])

    def width(self, dimension):
        return int(lib.cairn_column_row(self.pointer, dimension)) // self.dtype.itemsize


def _columns(function):
    found, index = {}, 0
    while function(index):
        column = Column(function(index))
        found[column.name] = column
        index += 1
    return found


BODY_COLUMNS = _columns(lib.cairn_body_column)
CONTACT_COLUMNS = _columns(lib.cairn_contact_column)


class Rows:
    """Columns of a world as attributes, each a view that is valid until the world next changes."""

    columns: dict = {}
    aliases: dict = {}
    _what = "rows"

    def __init__(self, world):
        self._world = world

    def _look(self, pointer):
        raise NotImplementedError

    def __getattr__(self, name):
        column = self.columns.get(self.aliases.get(name, name))
        if column is None:
            raise AttributeError(f"there is no column '{name}'; there are {', '.join(self)}")
        return self._column(column)

    def __getitem__(self, name):
        if name not in self.columns and name not in self.aliases:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self):
        return iter(self.columns)

    def keys(self):
        """Names of the columns."""
        return list(self.columns)

    def __dir__(self):
        return list(self.columns) + list(self.aliases) + ["keys", "to_pandas"]

    def _column(self, column):
        world, key = self._world, (self._what, column.name)
        with world._reading() as pointer:
            if world._made_at != world._clock.version:
                world._made, world._made_at = {}, world._clock.version
            if key not in world._made:
                seen = self._look(pointer)
                rows = self._rows(column, seen)
                width = column.width(world.dimension)
                world._made[key] = view(world, rows, seen.count, width, column.dtype)
            return world._made[key]

    def _rows(self, column, seen):
        """Where a column begins; NULL: all of it is 0."""
        return lib.cairn_column_rows(column.pointer, seen)

    def __len__(self):
        with self._world._reading() as pointer:
            return self._look(pointer).count

    def to_pandas(self):
        """A pandas DataFrame with a copy of all columns; vectors become several."""
        from .recording import frame
        return frame({name: self[name].copy() for name in self.columns
                      if len(self[name]) == len(self)})

    def __repr__(self):
        return f"<{len(self)} {self._what}: {', '.join(self.columns)}>"

    def _repr_html_(self):
        units = "".join(f"<tr><td><code>{c.name}</code></td><td>{c.unit}</td>"
                        f"<td>{c.meaning}</td></tr>" for c in self.columns.values())
        return (f"<b>{len(self)} {self._what}</b><table><tr><th>column</th><th>unit</th>"
                f"<th>meaning</th></tr>{units}</table>")


class Bodies(Rows):
    """All bodies of a world as arrays: `x` (position), `q` (orientation), `v` (velocity), `omega`
    (angular velocity in the frame of the body), `mass`, ... Row i is the same body in all of them;
    `uid` says which. Rows may change whenever the world does."""

    columns = BODY_COLUMNS
    aliases = {"position": "x", "orientation": "q", "velocity": "v", "angular_velocity": "omega"}
    _what = "rows of bodies"

    def _look(self, pointer):
        out = ffi.new("cairn_bodies *")
        out[0] = lib.cairn_world_bodies(pointer)
        return out

    @property
    def uids(self):
        """The uid of the body of each row, for `world.body(uid)`, as an array of its own."""
        return self.uid.copy()

    @property
    def dynamic(self):
        """Which rows are bodies that forces move, as flags."""
        return self.motion == lib.CAIRN_MOTION_DYNAMIC


class Contacts(Rows):
    """The contacts of the last step as arrays: `body` (rows of both), `point`, `normal`, `gap`,
    `impulse` (normal first), `velocity`, ..."""

    columns = CONTACT_COLUMNS
    _what = "contacts"

    def _look(self, pointer):
        out = ffi.new("cairn_contacts *")
        out[0] = lib.cairn_world_contacts(pointer)
        return out

    def _rows(self, column, seen):
        turns = column.pointer.width == lib.CAIRN_WIDTH_TURNS  # none without such friction
        return ffi.NULL if turns and seen.moments == 0 else super()._rows(column, seen)
