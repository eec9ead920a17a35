#!/usr/bin/env python3
"""make_stubs.py - type stubs of everything that follows from option tables.

    make_stubs.py _CAIRN.abi3.so PACKAGE OUT

Writes into the folder OUT: _options.pyi with a TypedDict for each table; shapes.pyi, joints.pyi,
... with a class for each kind; __init__.pyi with the names of the package. PACKAGE is the folder of
its sources.
"""
import ast
import importlib.util
import os
import sys


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MADE = "# Made from the option tables of the library by binding/make_stubs.py: do not edit.\n"

OPTIONS = MADE + '''\
from typing import Literal, Sequence, Tuple, TypedDict, Union

import numpy as np

Vector = Union[Tuple[float, float], Tuple[float, float, float], Sequence[float], np.ndarray]
'''

FAMILY = MADE + '''\
from typing import Any, Literal, Sequence

from ._kinds import Kind
from ._options import Vector
'''

#: contents of family modules besides their kinds
BESIDE = {
    "shapes": ("data", "", '''
class Shape(Kind):
    def mass(self, density: float = ..., dimension: int = ...) -> Any: ...
    def polygons(self, position: Vector = ..., orientation: Sequence[float] = ...,
                 dimension: int = ...) -> list[Any]: ...
'''),
    "joints": ("", "turn: Any = ..., slide: Any = ..., ", '''
class JointKind(Kind): ...
class Drive(Kind):
    def __init__(self, {drive}) -> None: ...
class Joint:
    world: Any
    def __init__(self, world: Any, number: int, generation: int) -> None: ...
    @property
    def state(self) -> dict[str, Any]: ...
    def aim(self, *, turn: float | None = ..., slide: float | None = ...) -> None: ...
    def destroy(self) -> None: ...
'''),
    "generators": ("", "shape: Any = ..., radius: Any = ..., mass: Any = ..., "
                   "material: Any = ..., ", "\nclass Generator(Kind): ...\n"
                   "def fill_grains(out: Any, given: Any, world: Any, keep: Any) -> None: ...\n"),
    "distributions": ("", "", "\nclass Distribution(Kind): ...\n"
                      "def of(value: Any) -> Distribution: ...\n"),
}


def keywords(record):
    """Options as keyword parameters, those that must be given first."""
    options = sorted(record.options.values(), key=lambda o: not o.required)
    return ", ".join(f"{o.name}: {o.annotation}" + ("" if o.required else " = ...")
                     for o in options)


def typed_dict(name, record):
    lines = [f"{name} = TypedDict(\"{name}\", {{"]
    lines += [f"    \"{o.name}\": {o.annotation},  # {o.text}" for o in record.options.values()]
    return lines + ["}, total=False)", ""]


def one_class(records, base, record, data, beside):
    lines = [f"class {records.camel(record.name)}({base}):", f'    """{record.summary}"""']
    if data:  # hulls, meshes, ... take arrays as well
        given = "*data: Any, " + keywords(record)
        lines.append(f"    def __init__(self, {given.rstrip(', ')}, **more: Any) -> None: ...")
    else:
        given = (beside + keywords(record)).rstrip(", ")
        lines.append(f"    def __init__(self{', *, ' + given if given else ''}) -> None: ...")
    lines += [f"    {o.name}: {o.annotation}" for o in record.options.values()]
    return lines


def family_stub(cairn, records, name):
    base = records.FAMILIES[name][1]
    data, beside, more = BESIDE.get(name, ("", "", f"\nclass {base}(Kind): ...\n"))
    drive = "*, " + keywords(records.single(cairn.ffi, cairn.lib, "DriveOptions"))
    lines = [FAMILY + more.replace("{drive}", drive)]
    for record in records.family(cairn.ffi, cairn.lib, name):
        takes = data if not record.options or record.name == "polyhedron" else ""
        lines += one_class(records, base, record, takes, beside)
    return "\n".join(lines + [f"KINDS: list[type[{base}]]", ""])


def package_stub(source, kinds):
    """The imports of the package, all of them meant for users, and its shapes."""
    with open(source, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    lines, names = [], list(kinds)
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            lines.append(ast.unparse(node))
            names += [alias.asname or alias.name for alias in node.names]
    lines.append(f"from .shapes import {', '.join(kinds)}")
    shown = ", ".join(f'"{name}"' for name in sorted(names))
    return MADE + "\n".join(lines + ["__version__: str", f"__all__ = [{shown}]", ""])


def main():
    extension, package, out = sys.argv[1:]
    cairn = load("_cairn", extension)
    records = load("_records", os.path.join(package, "_records.py"))
    tables = [OPTIONS]
    for name in records.SINGLES:
        tables += typed_dict(name, records.single(cairn.ffi, cairn.lib, name))
    shapes = [records.camel(r.name) for r in records.family(cairn.ffi, cairn.lib, "shapes")]
    files = {"_options": "\n".join(tables),
             "__init__": package_stub(os.path.join(package, "__init__.py"), shapes)}
    for name in records.FAMILIES:
        files[name] = family_stub(cairn, records, name)
    os.makedirs(out, exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(out, name + ".pyi"), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
