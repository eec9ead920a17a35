"""Nothing is copied from C by hand: keyword arguments, docstrings and stubs are those of the option
tables, the version is the library's, and the public face is bound as a whole. Errors name the
key."""
import ast
import glob
import inspect
import os
import pickle
import re

import numpy as np
import pytest

import cairn
from cairn import _lib, _records
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


# ---- mistakes: the error names the key and says what was expected -------------------------------


def refused(key, call, kind=cairn.BadInput):
    with pytest.raises(kind) as caught:
        call()
    assert caught.value.key == key, caught.value
    assert caught.value.message
    return caught.value


def test_shapes_of_arrays():
    world = cairn.World()
    sphere = cairn.Sphere
    refused("position", lambda: world.add_bodies(sphere, radius=1, position=np.zeros((5, 2))))
    refused("position", lambda: world.add_bodies(sphere, radius=1, position=np.zeros((5, 3, 2))))
    refused("velocity", lambda: world.add_bodies(sphere, radius=1, position=np.zeros((5, 3)),
                                                 velocity=np.zeros((4, 3))))
    refused("orientation", lambda: world.add_bodies(sphere, radius=1, position=np.zeros((5, 3)),
                                                    orientation=np.zeros((5, 3))))
    refused("position", lambda: world.add_body(sphere(radius=1), position=(1, 2, 3, 4)))
    refused("orientation", lambda: world.add_body(sphere(radius=1), orientation=(1, 2, 3)))
    refused("gravity", lambda: cairn.World(gravity=(1, 2)))
    assert world.body_count == 0


@pytest.mark.parametrize("value", ["text", [["a", "b", "c"]], 1j * np.ones((2, 3)),
                                   np.ones((2, 3), bool), [[1, 2, 3], [4, 5]], [{}], None])
def test_types_of_arrays(value):
    world = cairn.World()
    with pytest.raises((cairn.BadInput, ValueError)):
        world.add_bodies(cairn.Sphere, radius=0.1, position=value)
    assert world.body_count == 0


def test_other_types_of_numbers_serve():
    world = cairn.World()
    x = np.arange(12, dtype=np.float32).reshape(4, 3)[::-1]
    world.add_bodies(cairn.Sphere, radius=np.float32(0.5), position=x)
    world.add_bodies(cairn.Sphere, radius=np.int64(1), position=np.asfortranarray(x.astype(int)))
    np.testing.assert_array_equal(world.positions[:4], x)
    np.testing.assert_array_equal(world.positions[4:], x)


def test_numbers_that_are_none():
    world = cairn.World()
    refused("position", lambda: world.add_bodies(
        cairn.Sphere, radius=1, position=[(0, 0, 0), (0, np.nan, 0)]), cairn.NotFinite)
    with pytest.raises(cairn.Error):
        world.add_body(cairn.Sphere(radius=1), position=(0, 0, float("inf")))
    with pytest.raises(cairn.Error):
        world.add_body(cairn.Sphere(radius=float("nan")))
    with pytest.raises(cairn.Error):
        world.step(float("nan"))
    assert world.body_count == 0


def test_impossible_bodies():
    world = cairn.World()
    refused("mass", lambda: world.add_body(cairn.Sphere(radius=1), mass=-1))
    refused("radius", lambda: world.add_body(cairn.Sphere(radius=-1)))
    refused("motion", lambda: world.add_body(cairn.HalfSpace()))
    refused("motion", lambda: world.add_body(cairn.Sphere(radius=1), motion="flying"))
    refused("material", lambda: world.add_body(cairn.Sphere(radius=1), material=7))
    refused("material", lambda: world.add_body(cairn.Sphere(radius=1), material="rock"))
    refused("shape", lambda: world.add_body("sphere"))
    refused("velocity", lambda: world.add_body(cairn.Sphere(radius=1), motion="fixed",
                                               velocity=(1, 0, 0)))
    other = cairn.World().add_material()
    refused("material", lambda: world.add_body(cairn.Sphere(radius=1), material=other))
    assert world.body_count == 0


def test_one_bad_row_of_many_makes_none():
    world = cairn.World()
    mass = np.ones(100)
    mass[42] = -1
    error = refused("mass", lambda: world.add_bodies(cairn.Sphere, radius=0.1, mass=mass,
                                                     position=np.zeros((100, 3))))
    assert error.row == 42 and "row 42" in error.message and world.body_count == 0


def test_lengths_that_are_no_metres():
    world = cairn.World()
    with pytest.warns(cairn.UnitWarning, match="metres"):
        world.add_body(cairn.Sphere(radius=2500))  # a ball of 2.5 m given in mm
    with pytest.warns(cairn.UnitWarning):
        world.add_bodies(cairn.Box, size=[(1e4, 1e4, 1e4)], position=[(0, 0, 0)])


def test_a_step_too_long_for_its_bodies_is_refused():
    """Balls of 1 mm given as 1 m would do: such a step shows that lengths and times do not go
    together."""
    world = cairn.World()
    world.add_body(cairn.HalfSpace(), motion="fixed")
    world.add_body(cairn.Box(size=(1e-3, 1e-3, 1e-3)), position=(0, 0, 1e-3),
                   angular_velocity=(1e4, 0, 0))
    error = refused("run.time_step", lambda: world.step(0.1, max_substeps=1))
    assert "expected" in error.message
    report = world.step(0.1, max_substeps=1024)  # divided, it is taken
    assert report.substeps > 1 and report.length == pytest.approx(0.1)


def test_options_that_do_not_exist():
    world = cairn.World()
    for call in (lambda: cairn.Sphere(radus=1), lambda: world.step(1e-3, shceme="convex"),
                 lambda: world.add_body(cairn.Sphere(radius=1), postion=(0, 0, 0)),
                 lambda: world.add_material(fricton=1),
                 lambda: world.add_bodies(cairn.Sphere, radius=1, weight=[1]),
                 lambda: cairn.joints.Revolute(pivot=(0, 0, 0))):
        with pytest.raises(TypeError, match="has no option"):
            call()
    with pytest.raises(TypeError, match="did you mean 'radius'"):
        cairn.Sphere(radus=1)


def test_options_out_of_their_range():
    world = cairn.World()
    assert "convex" in refused("scheme", lambda: world.set(scheme="best")).message
    refused("radius", lambda: cairn.Sphere())
    refused("radius", lambda: cairn.Sphere(radius="0.1"))
    refused("radius", lambda: cairn.Sphere(radius=[1, 2]))
    refused("size", lambda: cairn.Box(size=1))
    refused("friction", lambda: world.add_material(friction=-0.1))
    refused("restitution", lambda: world.add_material(restitution=1.5))
    refused("threads", lambda: world.set(threads=1.5))
    refused("dimension", lambda: cairn.World(4))
    refused("time_step", lambda: cairn.World().run(1.0))
    refused("duration", lambda: cairn.World(time_step=1).run(-1.0))
    with pytest.raises(cairn.BadInput):
        world.step(tolerance=-1.0, time_step=1e-3)


def test_errors_are_errors_of_python_as_well():
    assert issubclass(cairn.BadInput, ValueError) and issubclass(cairn.NotFound, LookupError)
    assert issubclass(cairn.NoMemory, MemoryError)
    error = cairn.BadInput("found x", "run.time_step", "a.yaml", 3, 4)
    assert str(error) == "a.yaml:3:4: run.time_step: found x"
    again = pickle.loads(pickle.dumps(error))
    assert (again.key, again.line, str(again)) == (error.key, 3, str(error))


def test_every_status_has_an_exception():
    statuses = {value for name, value in ffi.typeof("cairn_status").relements.items()
                if name != "CAIRN_OK"}
    assert statuses == set(_lib.BY_STATUS)
    assert lib.CAIRN_OK == 0


def test_joints_of_other_worlds():
    a, b = cairn.World(), cairn.World()
    one, other = a.add_body(cairn.Sphere(radius=1)), b.add_body(cairn.Sphere(radius=1))
    refused("a", lambda: a.add_joint(cairn.joints.Ball(), one, other))
    refused("joint", lambda: a.add_joint("ball", one))
    one.destroy()
    with pytest.raises(cairn.NotFound):
        a.add_joint(cairn.joints.Ball(), one)
