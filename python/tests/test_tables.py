"""Nothing is copied from C by hand: keyword arguments, docstrings and stubs are those of the option
tables, the version is the library's, and the public face is bound as a whole."""
import ast
import glob
import inspect
import os
import re

import pytest

import cairn
from cairn import _records
from cairn._lib import ffi, lib
from conftest import ROOT

PACKAGE = os.path.dirname(cairn.__file__)


def stub(name):
    with open(os.path.join(PACKAGE, name + ".pyi"), encoding="utf-8") as file:
        return ast.parse(file.read())


@pytest.mark.parametrize("family", list(_records.FAMILIES))
def test_classes_and_stubs_have_the_options_of_the_tables(family):
    module = getattr(cairn, family)
    classes = {n.name: n for n in stub(family).body if isinstance(n, ast.ClassDef)}
    records = _records.family(ffi, lib, family)
    assert len(module.KINDS) == len(records) > 0
    for record in records:
        name = _records.camel(record.name)
        cls, declared = getattr(module, name), classes[name]
        assert cls.record.name == record.name and record.summary in cls.__doc__
        attributes = {n.target.id: ast.unparse(n.annotation) for n in declared.body
                      if isinstance(n, ast.AnnAssign)}
        assert set(attributes) == set(record.options), name
        for option in record.options.values():
            assert option.name in cls.__doc__ and option.text in cls.__doc__
            expected = ast.unparse(ast.parse(option.annotation))
            assert attributes[option.name] == expected, (name, option.name)
        init = [n for n in declared.body if isinstance(n, ast.FunctionDef)][0]
        given = dict(zip([a.arg for a in init.args.kwonlyargs], init.args.kw_defaults))
        for option in record.options.values():
            assert (given[option.name] is None) == option.required, (name, option.name)


@pytest.mark.parametrize("name", list(_records.SINGLES))
def test_typed_dicts_are_the_tables(name):
    record = _records.single(ffi, lib, name)
    calls = {n.targets[0].id: n.value for n in stub("_options").body if isinstance(n, ast.Assign)
             and isinstance(n.value, ast.Call)}
    keys = calls[name].args[1]
    assert [k.value for k in keys.keys] == list(record.options)
    assert [ast.unparse(v) for v in keys.values] == [
        ast.unparse(ast.parse(o.annotation)) for o in record.options.values()]


def test_signatures_and_docstrings_have_the_options():
    for function, table in ((cairn.World.step, "StepOptions"), (cairn.World.run, "StepOptions"),
                            (cairn.World.add_body, "BodyOptions"),
                            (cairn.World.add_material, "MaterialOptions"),
                            (cairn.World.add_inlet, "InletOptions")):
        record = _records.single(ffi, lib, table)
        parameters = inspect.signature(function).parameters
        for option in record.options.values():
            assert option.name in parameters and option.text in function.__doc__
            if not option.required and option.name != "time_step":
                assert parameters[option.name].default == record.default_of(option)


def test_defaults_are_the_librarys():
    options = cairn.World().options
    assert options["scheme"] == "coulomb" and options["tolerance"] == 1e-3
    assert cairn.Box(size=(1, 1, 1)).rounding == 0


def test_the_stub_of_the_package_names_what_is_there():
    shown = [n for n in stub("__init__").body if isinstance(n, ast.Assign)][-1]
    for name in ast.literal_eval(shown.value):
        assert hasattr(cairn, name), name
    assert os.path.exists(os.path.join(PACKAGE, "py.typed"))


def test_the_version_is_the_librarys():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as file:
        assert re.search(r"project\(cairn VERSION ([0-9.]+)", file.read()).group(1) == \
            cairn.__version__


def test_every_public_function_is_bound():
    for path in glob.glob(os.path.join(ROOT, "include", "cairn", "*.h")):
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
        for name in re.findall(r"CAIRN_API[^;{]*?\b(cairn_\w+)\(", text):
            assert hasattr(lib, name), name


def test_every_public_function_of_the_package_has_a_docstring():
    for name in dir(cairn):
        thing = getattr(cairn, name)
        if name.startswith("_") or not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and thing.__module__.startswith("cairn"):
            for member, value in vars(thing).items():
                if not member.startswith("_") and inspect.isfunction(value):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_kinds_are_values():
    assert cairn.Sphere(radius=1) == cairn.Sphere(radius=1) != cairn.Sphere(radius=2)
    assert repr(cairn.Sphere(radius=0.5)) == "Sphere(radius=0.5)"
    assert cairn.Sphere(radius=0.5).name == "sphere"
    import copy
    import pickle
    hull = cairn.Polyhedron([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    for other in (copy.deepcopy(hull), pickle.loads(pickle.dumps(hull))):
        assert other.mass(1.0)[0] == pytest.approx(1 / 6)


def test_lines_have_at_most_100_columns():
    for path in glob.glob(os.path.join(ROOT, "python", "*", "*.py")):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                assert len(line.rstrip("\n")) <= 100, f"{path}:{number}"
