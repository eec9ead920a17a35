"""Structs of the library as Python objects: their fields are found, not written down."""
from __future__ import annotations

from ._lib import ffi, text

_FIELDS: dict = {}


def _fields(c):
    kind = ffi.typeof(c)
    if kind.kind == "pointer":
        kind = kind.item
    if kind not in _FIELDS:
        _FIELDS[kind] = [name for name, _ in kind.fields if name != "owner"]
    return _FIELDS[kind]


def python_value(value, owner):
    """A field as Python has it: numbers, texts, tuples, or a Struct."""
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
    """What a Struct becomes when it is copied or sent elsewhere: the same attributes."""

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
