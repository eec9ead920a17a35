"""Option tables of the library: names, types, ranges, units and texts of everything one can set.

Keyword arguments, docstrings, signatures and type stubs follow from them. This file needs nothing
but the extension module, so that the build can make the stubs (binding/make_stubs.py).
"""
from __future__ import annotations

import inspect

#: the names of option types in stubs and docstrings
TYPES = {
    "REAL": "float", "INTEGER": "int", "FLAG": "bool", "VECTOR": "Vector",
    "LIST": "Sequence[float]", "NAME": "str", "NAMES": "Sequence[str]", "WORD": "str",
    "FUNCTION": "float | str",
}

#: types whose values are numbers
NUMERIC = ("REAL", "INTEGER", "VECTOR", "LIST")

#: types that are numbers here; only scenes write functions of time in their place
NUMBERS = {"VARYING": "REAL", "VARYING_VECTOR": "VECTOR"}


class Option:
    """One line of a table."""

    def __init__(self, ffi, lib, pointer):
        def text(p):
            return ffi.string(p).decode() if p else ""

        kinds = {getattr(lib, "CAIRN_OPTION_" + kind): NUMBERS.get(kind, kind)
                 for kind in [*TYPES, *NUMBERS]}
        self.pointer = pointer
        self.name, self.type = text(pointer.name), kinds[pointer.type]
        self.required, self.offset = bool(pointer.required), int(pointer.offset)
        self.minimum, self.maximum = pointer.minimum, pointer.maximum
        self.unit, self.text = text(pointer.unit), text(pointer.text)
        self.choices = []
        if pointer.choice:
            index = 0
            while pointer.choice(index):
                self.choices.append(text(pointer.choice(index)))
                index += 1
        room = ffi.new("char[]", 512)
        lib.cairn_option_expectation(pointer, room, 512)
        self.expectation = text(room)

    @property
    def in_unit(self) -> str:
        return f" in {self.unit}" if self.unit else ""

    @property
    def annotation(self) -> str:
        if self.type == "NAME" and self.choices:
            return "Literal[" + ", ".join(f'"{choice}"' for choice in self.choices) + "]"
        return TYPES[self.type]


class Record:
    """A subject with options: a shape, a joint, the step, ..."""

    def __init__(self, ffi, lib, pointer):
        self.ffi, self.lib, self.pointer = ffi, lib, pointer
        self.name = ffi.string(pointer.name).decode()
        self.summary = ffi.string(pointer.summary).decode() if pointer.summary else ""
        self.size = int(pointer.size)
        self.options = {}
        for k in range(pointer.option_count):
            option = Option(ffi, lib, pointer.options + k)
            self.options[option.name] = option

    # ---- defaults -------------------------------------------------------------------------------

    def default_of(self, option):
        """The default of an option as a Python value; None: there is none, or one that cannot be
        given, as a mass of 0."""
        if option.required:
            return None
        room = self.ffi.new("char[]", self.size)
        if self.pointer.set_default:
            self.pointer.set_default(room)
        found = self.read(room, option)
        return None if option.type == "REAL" and found < option.minimum else found

    def read(self, place, option):
        """The value of an option in a struct."""
        ffi = self.ffi
        at = ffi.cast("char *", place) + option.offset
        if option.type == "REAL":
            return ffi.cast("double *", at)[0]
        if option.type == "INTEGER":
            return int(ffi.cast("int64_t *", at)[0])
        if option.type == "FLAG":
            return bool(ffi.cast("bool *", at)[0])
        if option.type == "VECTOR":
            v = ffi.cast("cairn_vec3 *", at)
            return (v.x, v.y, v.z)
        if option.type == "LIST":
            values = ffi.cast("cairn_list *", at)
            return [values.values[i] for i in range(values.count)]
        if option.type == "NAMES":
            names = ffi.cast("cairn_names *", at)
            return [ffi.string(names.items[i]).decode() for i in range(names.count)]
        if option.type == "FUNCTION":
            function = ffi.cast("cairn_function *", at)
            return ffi.string(function.text).decode() if function.text else function.value
        name = ffi.cast("const char **", at)[0]
        return ffi.string(name).decode() if name else None

    # ---- writing --------------------------------------------------------------------------------

    def write(self, place, given, keep):
        """Set options in a struct from a dict. Objects that must outlive it go to `keep`."""
        for name, value in given.items():
            self.write_one(place, self.find(name), value, keep)

    def find(self, name):
        option = self.options.get(name)
        if option is None:
            raise TypeError(self.unknown(name))
        return option

    def unknown(self, name):
        near = nearest(self.ffi, self.lib, name, list(self.options))
        hint = f"; did you mean '{near}'?" if near else ""
        return f"{self.name} has no option '{name}'{hint} (it has {', '.join(self.options)})"

    def write_one(self, place, option, value, keep):
        if option.type in NUMERIC:
            self._check(option, value)
        self._store(place, option, value, keep)

    def _check(self, option, value):
        """Have the library check numbers before they are stored; it refuses the same in scenes."""
        ffi, keep = self.ffi, []
        room, one, error = (ffi.new("char[]", self.size), ffi.new("cairn_record *"),
                            ffi.new("cairn_error *"))
        if self.pointer.set_default:
            self.pointer.set_default(room)
        self._store(room, option, value, keep)
        one.options, one.option_count = option.pointer, 1
        status = self.lib.cairn_record_check(one, room, error)
        if status:
            from ._lib import failure
            raise failure(status, error)

    def _store(self, place, option, value, keep):
        at = self.ffi.cast("char *", place) + option.offset
        try:
            self._put(at, option, value, keep)
        except (TypeError, ValueError, OverflowError, AttributeError) as error:
            raise self.refusal(option, value) from error

    def refuse_flat(self, given, dimension):
        """In 3D vectors have three numbers, as in scenes; two would leave the third at 0."""
        from ._lib import BadInput
        for name, value in given.items() if dimension == 3 else ():
            option = self.options.get(name)
            if option is not None and option.type == "VECTOR" and len(value) == 2:
                raise BadInput(f"found {value!r}, 2 numbers, expected 3: x, y and z"
                               f"{option.in_unit}", name)

    def refusal(self, option, value):
        from ._lib import BadInput
        if option.type == "VECTOR" and hasattr(value, "__len__") and not isinstance(value, str) \
                and len(value) not in (2, 3):
            return BadInput(f"found {value!r}, {len(value)} numbers, expected 3: x, y and z (in 2D "
                            f"2){option.in_unit}", option.name)
        return BadInput(f"found {value!r}, expected {option.expectation}", option.name)

    def _put(self, at, option, value, keep):
        ffi = self.ffi
        if option.type == "REAL":
            ffi.cast("double *", at)[0] = number(value)
        elif option.type == "INTEGER":
            ffi.cast("int64_t *", at)[0] = whole(value)
        elif option.type == "FLAG":
            ffi.cast("bool *", at)[0] = bool(value)
        elif option.type == "VECTOR":
            v = ffi.cast("cairn_vec3 *", at)
            given = vector(value)
            v.x, v.y, v.z = given if len(given) == 3 else (*given, v.z)
        elif option.type == "LIST":
            numbers = [number(x) for x in value]
            block = ffi.new("double[]", numbers)
            keep.append(block)
            values = ffi.cast("cairn_list *", at)
            values.values, values.count = block, len(numbers)
        elif option.type == "FUNCTION":
            self._put_function(ffi.cast("cairn_function *", at), value, keep)
        elif option.type == "NAMES":
            self._put_names(ffi.cast("cairn_names *", at), option, value, keep)
        else:
            ffi.cast("const char **", at)[0] = self._name(option, value, keep)

    def _name(self, option, value, keep):
        if not isinstance(value, str):
            raise TypeError(value)
        if value in option.choices:  # the library's own text: it may keep the pointer
            return option.pointer.choice(option.choices.index(value))
        if option.type != "WORD":
            raise ValueError(value)
        block = self.ffi.new("char[]", value.encode())
        keep.append(block)
        return block

    def _put_function(self, function, value, keep):
        """A number, or an expression of t as a text."""
        if not isinstance(value, str):
            function.kind, function.value = self.lib.CAIRN_FUNCTION_CONSTANT, number(value)
            return
        block = self.ffi.new("char[]", value.encode())
        keep.append(block)
        function.kind, function.text = self.lib.CAIRN_FUNCTION_EXPRESSION, block

    def _put_names(self, names, option, value, keep):
        value = [value] if isinstance(value, str) else list(value)
        if len(value) > self.lib.CAIRN_MOST_NAMES:
            raise ValueError(value)
        for k, name in enumerate(value):
            names.items[k] = self._name(option, name, keep)
        names.count = len(value)

    # ---- for people -----------------------------------------------------------------------------

    def table(self, indent="    "):
        """The options as lines of a docstring."""
        lines = []
        for option in self.options.values():
            default = self.default_of(option)
            told = "required" if option.required else \
                "optional" if default is None else f"default {shown(default)}"
            lines.append(f"{option.name} : {option.expectation}, {told}")
            lines.append(f"    {option.text}")
        return "\n".join(indent + line for line in lines)

    def parameters(self):
        """The options as keyword parameters of a signature."""
        return [inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, annotation=option.annotation,
            default=inspect.Parameter.empty if option.required else self.default_of(option))
            for option in self.options.values() if option.name.isidentifier()]


def shown(value):
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "(" + ", ".join(f"{x:g}" for x in value) + ")"
    return repr(value)


def number(value):
    """A float; texts and flags are refused."""
    if isinstance(value, (str, bytes, bool)):
        raise TypeError(value)
    return float(value)


def whole(value):
    if isinstance(value, (str, bytes, bool)) or int(value) != value:
        raise ValueError(value)
    return int(value)


def vector(value):
    """Three floats; with two, of 2D, the third keeps its default."""
    numbers = [number(x) for x in value]
    if len(numbers) not in (2, 3):
        raise ValueError(value)
    return numbers


def nearest(ffi, lib, word, names):
    """The name closest in spelling, or None."""
    texts = [ffi.new("char[]", name.encode()) for name in names]
    found = lib.cairn_nearest_name(word.encode(), ffi.new("const char *[]", texts), len(texts))
    return ffi.string(found).decode() if found else None


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


#: families of kinds: the module that has them, the function of their tables, what they are
FAMILIES = {
    "shapes": ("cairn_shape_record", "Shape", "The shape of a body"),
    "joints": ("cairn_joint_record", "JointKind", "A joint between two bodies"),
    "drivers": ("cairn_driver_record", "Driver", "A motion of a driven body"),
    "loads": ("cairn_load_record", "Load", "A force and torque on a dynamic body"),
    "distributions": ("cairn_distribution_record", "Distribution", "A distribution of numbers"),
    "generators": ("cairn_generator_record", "Generator", "Many bodies at once"),
    "friction": ("cairn_friction_law_record", "FrictionLaw", "Friction over the sliding speed"),
}

#: single tables: the name of their TypedDict in the stubs, the function
SINGLES = {
    "StepOptions": "cairn_step_record",
    "SolveOptions": "cairn_solve_record",
    "LagrangeOptions": "cairn_lagrange_record",
    "RunOptions": "cairn_run_record",
    "MeasureOptions": "cairn_measure_record",
    "MaterialOptions": "cairn_material_record",
    "BodyOptions": "cairn_body_record",
    "InletOptions": "cairn_inlet_record",
    "DriveOptions": "cairn_joint_drive_record",
}


def family(ffi, lib, name):
    """The tables of a family, by kind."""
    function, kind, found = getattr(lib, FAMILIES[name][0]), 0, []
    while function(kind):
        found.append(Record(ffi, lib, function(kind)))
        kind += 1
    return found


def single(ffi, lib, name):
    return Record(ffi, lib, getattr(lib, SINGLES[name])())
