"""Classes of the kinds of shapes, joints, drivers, ..., made from the option tables; the modules
distributions, drivers, friction and loads; and the names of solvers, schemes and the like."""
from __future__ import annotations

import inspect
import sys
import types
from typing import Callable

from . import _records
from ._lib import BadInput, ffi, lib, text


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

    def _refuse_flat(self, dimension):
        """Refuse vectors of two numbers in 3D: the dimension is known where it is used."""
        self.record.refuse_flat(self._in_table(), dimension)

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
    """A value for a repr: long arrays as their shape."""
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
    taken = {p.name for p in first} - names  # a name may occur in a signature once
    options = [p for p in options if p.name not in taken]
    options.sort(key=lambda p: p.default is not inspect.Parameter.empty)
    function_or_class.__signature__ = inspect.Signature(list(first) + options)


def make_family(name, base, namespace, beside=()):
    """Add the classes of a family to the namespace of its module; returns them by number."""
    made = []
    for kind, record in enumerate(_records.family(ffi, lib, name)):
        title = _records.camel(record.name)
        above = namespace.get(title, base)  # a class written by hand takes precedence
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


# ---- families of plain kinds --------------------------------------------------------------------


class Plain(Kind):
    """A kind that is one struct of the library."""

    default: Callable  #: the function of the library that sets the struct's defaults

    def _fill_struct(self, place, keep):
        """Write it into a struct of the library."""
        place[0] = type(self).default(self.kind)
        self._fill(place, keep)


class Distribution(Plain):
    """A distribution of numbers."""

    default = lib.cairn_distribution_default


class Driver(Plain):
    """A motion of a driven body."""

    default = lib.cairn_driver_default


class FrictionLaw(Plain):
    """Friction over the sliding speed."""

    default = lib.cairn_friction_law_default


class Load(Plain):
    """A force and torque on a dynamic body."""

    default = lib.cairn_load_default


def distribution_of(value) -> Distribution:
    """A distribution; a number stands for a constant one."""
    if isinstance(value, Distribution):
        return value
    return sys.modules["cairn.distributions"].Constant(value=value)


def _make_module(name, base, doc, **more):
    """The module cairn.NAME with the kinds of a family. It needs no file: its classes follow from
    the tables of the library."""
    module = types.ModuleType(f"cairn.{name}", doc)
    base.__module__ = module.__name__
    module.__dict__.update({base.__name__: base}, **more)
    module.KINDS = make_family(name, base, module.__dict__)
    sys.modules[module.__name__] = module


_make_module("distributions", Distribution, "Distributions of positive numbers: radii, masses.",
             of=distribution_of)
_make_module("drivers", Driver, "Motions of driven bodies, as functions of time.")
_make_module("friction", FrictionLaw,
             "Friction as a function of the sliding speed; docs/friction.md has the laws.")
_make_module("loads", Load, "Forces and torques on dynamic bodies, as functions of time.")


# ---- names of what one may choose ---------------------------------------------------------------


_LISTS = {
    "solvers": (lib.cairn_solver_name, lib.cairn_solver_summary),
    "schemes": (lib.cairn_scheme_name, lib.cairn_scheme_summary),
    "backends": (lib.cairn_backend_name, lib.cairn_backend_summary),
    "statistics": (lib.cairn_statistic_name, lib.cairn_statistic_summary),
    "broad_phases": (lib.cairn_broad_phase_name, lib.cairn_broad_phase_summary),
}


def names(what: str) -> dict:
    """Names with a line about each: of "solvers", "schemes", "backends", "statistics" or
    "broad_phases"."""
    if what not in _LISTS:
        raise BadInput(f"found {what!r}, expected one of {', '.join(_LISTS)}", "what")
    name, summary = _LISTS[what]
    found, index = {}, 0
    while name(index):
        found[text(name(index))] = text(summary(name(index)))
        index += 1
    return found
