"""Classes of the kinds of shapes, joints, drivers, ..., made from the option tables."""
from __future__ import annotations

import inspect

from . import _records
from ._lib import BadInput, ffi, lib


class Kind:
    """One of the kinds of a family, with its options as keyword arguments and attributes."""

    record: _records.Record  #: its table
    kind: int                #: its number in the library
    beside: tuple = ()       #: arguments that are not in the table

    def __init__(self, **given):
        for name in given:
            if name not in self.beside:
                self.record.find(name)
        for option in self.record.options.values():
            if option.required and option.name not in given:
                raise BadInput(f"missing, expected {option.expectation}", option.name)
        self.options = given
        self.record.write(ffi.new("char[]", self.record.size), self._in_table(), [])

    @property
    def name(self) -> str:
        """The name by which scenes call it."""
        return self.record.name

    def _in_table(self):
        return {k: v for k, v in self.options.items() if k in self.record.options}

    def _fill(self, place, keep):
        """Write the options into a struct that has its defaults."""
        self.record.write(place, self._in_table(), keep)

    def __getattr__(self, name):
        if name.startswith("_") or name in ("options", "record"):
            raise AttributeError(name)
        if name in self.options:
            return self.options[name]
        option = self.record.options.get(name)
        if option is None:
            raise AttributeError(f"{type(self).__name__} has no option '{name}'")
        return self.record.default_of(option)

    def __repr__(self):
        given = ", ".join(f"{k}={short(v)}" for k, v in self.options.items())
        return f"{type(self).__name__}({given})"

    def __eq__(self, other):
        return type(self) is type(other) and repr(self.options) == repr(other.options)

    __hash__ = object.__hash__


def short(value):
    """A value for a repr: long arrays by their shape."""
    if hasattr(value, "shape") and getattr(value, "size", 0) > 6:
        return f"<array {'x'.join(str(n) for n in value.shape)}>"
    told = repr(value.tolist() if hasattr(value, "tolist") else value)
    return told if len(told) < 60 else told[:56] + " ..."


def describe(record, more=""):
    """The docstring of a kind or of a function that takes the options of a table."""
    options = "\n\nOptions\n-------\n" + record.table("") if record.options else ""
    return record.summary + "." + ("\n\n" + more if more else "") + options


def signature(function_or_class, first, record):
    """A signature with the options of a table as keyword arguments after the parameters given."""
    names = {p.name for p in first if p.kind is not inspect.Parameter.POSITIONAL_ONLY}
    options = [p for p in record.parameters() if p.name not in names]
    taken = {p.name for p in first} - names  # a name may stand in a signature once
    options = [p for p in options if p.name not in taken]
    options.sort(key=lambda p: p.default is not inspect.Parameter.empty)
    function_or_class.__signature__ = inspect.Signature(list(first) + options)


def make_family(name, base, namespace, beside=()):
    """Make the classes of a family into the namespace of its module; returns them by number."""
    made = []
    for kind, record in enumerate(_records.family(ffi, lib, name)):
        title = _records.camel(record.name)
        above = namespace.get(title, base)  # what the module has written by hand comes first
        cls = type(title, (above,), {
            "record": record, "kind": kind, "__module__": namespace["__name__"],
            "__doc__": describe(record, inspect.getdoc(above) if above is not base else "")})
        cls.beside = tuple(beside) + tuple(above.beside)
        if above is base:
            more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None)
                    for n in beside]
            signature(cls, more, record)
        namespace[title] = cls
        made.append(cls)
    return made
