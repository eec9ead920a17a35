#!/usr/bin/env python3
"""make_stubs.py - type stubs of all that follows from option tables.

    make_stubs.py _CAIRN.abi3.so _RECORDS.py OUT.pyi

Writes cairn/tables.pyi: one TypedDict for each table, one class for each kind of shape, joint,
driver, load, distribution, generator and friction law.
"""
import importlib.util
import sys


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HEAD = '''\
# Made from the option tables of the library by binding/make_stubs.py: do not edit.
from typing import Any, Literal, Sequence, Tuple, TypedDict, Union

import numpy as np

Vector = Union[Tuple[float, float], Tuple[float, float, float], Sequence[float], np.ndarray]

class Kind:
    """One of the kinds of a family, with its options."""
    name: str
    options: dict[str, Any]
'''

# keys that are words of Python are given in a dict, so their TypedDict is made by a call
def typed_dict(name, record):
    lines = [f"{name} = TypedDict(\"{name}\", {{"]
    for option in record.options.values():
        lines.append(f"    \"{option.name}\": {option.annotation},"
                     f"  # {option.text}".replace("\n", " "))
    lines.append("}, total=False)")
    return lines


# arguments beside the table, of kinds that need more than numbers
BESIDE = {"shapes": "", "joints": "turn: Any = ..., slide: Any = ..., ",
          "generators": "shape: Any = ..., radius: Any = ..., mass: Any = ..., material: Any = ..., "}


def one_class(records, family, base, record):
    given = [option for option in record.options.values() if option.name.isidentifier()]
    options = ", ".join(f"{o.name}: {o.annotation}" + ("" if o.required else " = ...")
                        for o in given)
    beside = BESIDE.get(family, "")
    positional = "*data: Any, " if family == "shapes" else "*, " if given or beside else ""
    lines = [f"class {family}_{records.camel(record.name)}({base}):", f'    """{record.summary}"""']
    if family == "shapes":
        beside = "**more: Any"
        lines.append(f"    def __init__(self, {positional}" +
                     (options + ", " if options else "") + f"{beside}) -> None: ...")
    else:
        lines.append(f"    def __init__(self, {positional}{beside}{options}) -> None: ...")
    lines += [f"    {o.name}: {o.annotation}" for o in given]
    return lines


def main():
    extension, tables, out = sys.argv[1:]
    cairn = load("_cairn", extension)
    records = load("_records", tables)
    lines = [HEAD]
    for name in records.SINGLES:
        lines += typed_dict(name, records.single(cairn.ffi, cairn.lib, name)) + [""]
    for family, (_, base, summary) in records.FAMILIES.items():
        lines += [f"class {base}(Kind):", f'    """{summary}."""', ""]
        for record in records.family(cairn.ffi, cairn.lib, family):
            lines += one_class(records, family, base, record) + [""]
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


if __name__ == "__main__":
    main()
