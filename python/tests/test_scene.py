"""Scenes: files, dicts and back; their runs, read again and compared with those of the program;
and the programs that come with the package."""
import gc
import json
import math
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import cairn
from cairn import programs
from conftest import ROOT

BALL = {
    "cairn": 1, "title": "ball", "gravity": [0, 0, -9.81],
    "materials": {"rock": {"friction": 0.3, "restitution": 0.0}},
    "bodies": [{"name": "floor", "motion": "fixed", "shape": {"half_space": {}}},
               {"name": "ball", "shape": {"sphere": {"radius": 0.1}}, "density": 2500,
                "position": [0, 0, np.float64(0.5)]}],
    "run": {"time_step": 1e-3, "duration": 0.5, "certificate": "full", "paraview": False,
            "picture": False, "frame_interval": 0.1},
}


def test_a_scene_of_the_tree(scenes):
    scene = cairn.load(os.path.join(scenes, "ball_drop.yaml"), set={"run.time_step": 2e-3})
    assert scene.options["time_step"] == 2e-3 == scene.world.options["time_step"]
    assert scene.world.body_count > 0 and scene.title in repr(scene)
    scene.world.step()
    assert scene.world.time == 2e-3


def test_names_of_bodies():
    scene = cairn.load(BALL)
    assert scene.names == ["floor", "ball"] and scene.materials == ["rock"]
    assert scene.body("ball").position[2] == 0.5
    with pytest.raises(cairn.NotFound, match="did you mean 'ball'"):
        scene.body("bal")


def test_names_do_not_depend_on_rows():
    scene = cairn.load(dict(BALL, bodies=BALL["bodies"][::-1]))  # the floor stands in row 0
    assert scene.names == ["ball", "floor"]
    assert scene.body("ball").position[2] == 0.5 and scene.body("floor").motion == "fixed"


def falling(**more):
    """A ball of 2 kg in free fall for 0.1 s."""
    return cairn.load(dict(BALL, bodies=[{"name": "ball", "shape": {"sphere": {"radius": 0.1}},
                                          "mass": 2.0, "position": [0, 0, 5]}],
                           run=dict(BALL["run"], duration=0.1), **more))


def test_pushed_struck_and_put():
    scene = falling(gravity=[0, 0, 0])
    world, ball = scene.world, scene.body("ball")
    for _ in range(100):  # 3 N for 0.1 s on 2 kg
        ball.push((3, 0, 0), torque=(0, 0, 0.008))
        world.step()
    assert ball.velocity == pytest.approx([0.15, 0, 0], abs=1e-14)
    assert ball.angular_velocity[2] == pytest.approx(0.1 * 0.008 / (0.4 * 2 * 0.01), rel=1e-12)
    ball.strike((0, 4, 0))
    assert ball.velocity == pytest.approx([0.15, 2, 0], abs=1e-14)
    ball.put(orientation=(1, 0, 0, 0))
    ball.strike((0, 0, 1), point=ball.position + [0.1, 0, 0])  # turns it about -y
    assert ball.angular_velocity[1] == pytest.approx(-0.1 / (0.4 * 2 * 0.01))
    ball.put(position=(1, 2, 3), velocity=(0, 0, -1))
    assert ball.position.tolist() == [1, 2, 3] and ball.velocity.tolist() == [0, 0, -1]
    assert ball.angular_velocity[1] == pytest.approx(-12.5)  # as it was
    ball.material = ice = world.add_material(friction=0.01)
    assert ball.material == ice
    with pytest.raises(cairn.BadInput, match="expected 3"):
        ball.push((1, 0))
    with pytest.raises(cairn.BadInput, match="expected 3 numbers"):
        ball.push(torque=1.0)
    with pytest.raises(cairn.BadInput, match="quaternion"):
        ball.put(angle=1.0)
    with pytest.raises(cairn.BadInput):
        ball.material = 7


def test_a_loop_of_ones_own_writes_a_run(tmp_path):
    """A ball that is held up by its weight stays, and the folder says so; without a push it is the
    run of the scene."""
    series = {"series": [{"name": "ball", "bodies": "ball"}],
              "run": dict(BALL["run"], duration=0.05)}
    series["bodies"] = [BALL["bodies"][0], dict(BALL["bodies"][1], position=[0, 0, 0.105])]
    alone = cairn.load(dict(BALL, **series)).run(tmp_path / "alone")
    with cairn.load(dict(BALL, **series)).begin(tmp_path / "same") as run:
        while run.goes_on:
            assert run.step().converged
    assert run.summary.hash == alone.summary.hash and run.result.info.ending == "complete"
    assert (run.result.series["ball"].force_z == alone.series["ball"].force_z).all()
    assert run.result.series["ball"].force_z.max() > 0

    scene = falling()
    with scene.begin(tmp_path / "held") as run:
        while run.goes_on:
            scene.body("ball").push((0, 0, 2 * 9.81))
            run.step()
    assert scene.body("ball").position[2] == pytest.approx(5, abs=1e-12)
    assert run.result.steps.load_work == pytest.approx(np.zeros(100), abs=1e-12)
    assert run.result.check()
    with pytest.raises(cairn.Error, match="has ended"):
        run.step()
    with pytest.raises(cairn.Error, match="has run already"):
        scene.begin(tmp_path / "again")


def test_a_loop_that_stops_goes_on_with_the_same_bits(tmp_path):
    def loop(run, steps):
        for _ in range(steps):
            run.scene.body("ball").push((run.world.time, 0, 0))
            run.step()

    whole, half = (falling().begin(tmp_path / name) for name in ("whole", "half"))
    loop(whole, 100)
    loop(half, 40)
    assert half.end().info.ending == "interrupted" and not half.goes_on
    half = cairn.continue_run(tmp_path / "half")
    assert half.world.time == pytest.approx(0.04)
    loop(half, 60)
    assert half.end().info.hash == whole.end().info.hash
    with pytest.raises(cairn.NotFound):
        cairn.continue_run(tmp_path / "half")


def test_the_run_of_a_world(tmp_path):
    """A box of 3 kg at rest: the floor feels its weight."""
    world = cairn.World(time_step=1e-3, tolerance=1e-10)
    floor = world.add_body(cairn.HalfSpace(), motion="fixed")
    world.add_body(cairn.Box(size=(1, 1, 1)), mass=3, position=(0, 0, 0.5))
    with pytest.raises(cairn.BadInput, match="letters, digits"):
        world.begin(tmp_path / "box", duration=0.02, series=[dict(name="a b", bodies=floor)])
    with pytest.raises(TypeError, match="no key 'bodie'"):
        world.begin(tmp_path / "box", duration=0.02, series=[dict(name="a", group=0, bodie=floor)])
    with world.begin(tmp_path / "box", duration=0.02, certificate="full", paraview=False,
                     series=[dict(name="floor", bodies=floor)]) as run:
        while run.goes_on:
            run.step()
    assert run.result.series["floor"].force_z == pytest.approx(np.full(20, -3 * 9.81))
    assert run.result.check()
    with pytest.raises(cairn.Error, match="was stepped already"):
        world.begin(tmp_path / "more", duration=1)


def resting_box():
    world = cairn.World(time_step=1e-3, threads=1)
    world.add_body(cairn.HalfSpace(), motion="fixed")
    world.add_body(cairn.Box(size=(1, 1, 1)), mass=3, position=(0, 0, 0.5))
    return world


@pytest.mark.parametrize("order", ["destroy", "with", "scene", "cycle"])
def test_a_world_ends_its_run_before_it_is_destroyed(tmp_path, order):
    """The run is kept as interrupted, and goes on from its checkpoint."""
    if order == "with":
        with pytest.raises(KeyError):
            with resting_box() as world:
                run = world.begin(tmp_path / "run", duration=0.02)
                run.step()
                raise KeyError
    elif order == "cycle":
        world = resting_box()
        run = world.begin(tmp_path / "run", duration=0.02)
        run.step()
        world.cycle, run.cycle = [run, world], [world, run]
        del world, run
        gc.collect()
        run = None
    else:
        scene = falling() if order == "scene" else None
        world = scene.world if scene else resting_box()
        run = scene.begin(tmp_path / "run") if scene else \
            world.begin(tmp_path / "run", duration=0.02)
        run.step()
        world.destroy()
    if run is not None:
        assert not run.goes_on and not world.alive
        assert run.result.info.ending == "interrupted"
        with pytest.raises(cairn.Error, match="has ended"):
            run.step()
    del run
    again = cairn.continue_run(tmp_path / "run")
    assert again.world.time == pytest.approx(1e-3)
    again.step()
    again.end()


def test_series_with_an_interval_that_is_not_finite_are_refused(tmp_path):
    for value in (math.nan, math.inf, -1):
        world = resting_box()
        with pytest.raises((cairn.NotFinite, cairn.BadInput), match=f"found {value:g}"):
            world.begin(tmp_path / "run", duration=1,
                        series=[dict(name="a", low=(0, 0, 0), interval=value)])


def test_dicts_to_yaml_and_back(tmp_path):
    scene = cairn.load(BALL, set={"run.duration": 0.25, "bodies.1.density": 1000})
    tree = scene.to_dict()
    assert tree["run"]["duration"] == 0.25 and tree["bodies"][1]["density"] == 1000
    assert BALL["run"]["duration"] == 0.5
    scene.save(tmp_path / "ball.yaml")
    again = cairn.load(tmp_path / "ball.yaml")
    assert again.to_dict() == cairn.from_yaml(cairn.to_yaml(tree))
    assert again.run().hash == scene.run().hash
    assert "duration: 0.25" in (tmp_path / "ball.yaml").read_text()
    assert cairn.from_yaml("a: 1e-3\nb: 3\nc: 1.0e+2\nd: text\n") == {
        "a": 1e-3, "b": 3, "c": 100.0, "d": "text"}


def test_every_scene_of_the_tree_survives_a_dict(scenes, tmp_path):
    trust = [os.path.join("trust", name) for name in os.listdir(os.path.join(scenes, "trust"))]
    for name in sorted(os.listdir(scenes) + trust):
        if name.endswith(".yaml"):
            one = cairn.from_yaml(os.path.join(scenes, name))
            again = cairn.from_yaml(cairn.to_yaml(one))
            assert one == again, name
            if len(one.get("bodies", [])) < 20 and "generators" not in one:
                scene = cairn.load(one, folder=None if "hook" not in name else scenes)
                assert scene.world.hash == cairn.load(os.path.join(scenes, name)).world.hash, name


def test_errors_name_file_line_and_key(tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text("cairn: 1\nbodies: []\nrun:\n  time_step: -1\n  duration: 1\n")
    with pytest.raises(cairn.BadInput) as caught:
        cairn.load(path)
    error = caught.value
    assert (error.key, error.line, error.file) == ("run.time_step", 4, str(path))
    assert str(path) + ":4" in str(error)
    with pytest.raises(cairn.NotFound):
        cairn.load(tmp_path / "none.yaml")
    with pytest.raises(cairn.BadInput):
        cairn.load(BALL, set={"run.tim_step": 1})


def test_the_same_hash_as_the_program(scenes, tmp_path):
    for name, changes in (("box_stack_2d", {"run.duration": 0.2}), ("chain", {"run.duration": 0.1}),
                          ("four_balls", {"run.duration": 0.2})):
        path = os.path.join(scenes, name + ".yaml")
        flags = [f"--set={k}={v}" for k, v in changes.items()]
        out = tmp_path / name
        subprocess.run([programs.path("cairn"), "run", path, "--out", str(out), "--quiet", *flags],
                       check=True)
        theirs = cairn.Run(out).info.hash
        ours = cairn.load(path, set=changes)
        assert ours.run().hash == theirs, name
        # and stepped from Python, one by one
        stepped = cairn.load(path, set=changes)
        while stepped.world.time < changes["run.duration"] * (1 - 1e-9):
            stepped.world.step()
        assert stepped.world.hash == theirs, name


def test_a_scene_runs_once_and_replaces_nothing(tmp_path):
    scene = cairn.load(BALL)
    run = scene.run(tmp_path / "run")
    assert run.summary.steps == 500
    with pytest.raises(cairn.Error, match="load it again"):
        scene.run()
    with pytest.raises(cairn.BadInput):
        cairn.load(BALL).run(tmp_path / "run")
    cairn.load(BALL).run(tmp_path / "run", force=True)


def test_until_ends_a_scene_and_exceptions_come_out(tmp_path):
    summary = cairn.load(BALL).run(until=lambda p: p.step >= 10)
    assert summary.steps == 10 and summary.interrupted
    with pytest.raises(ZeroDivisionError):
        cairn.load(BALL).run(until=lambda p: 1 / 0)


def test_a_callback_may_look_at_the_world_and_not_change_it():
    scene, heights = cairn.load(BALL), []
    scene.run(until=lambda p: heights.append(scene.world.positions[1]))
    assert len(heights) == 500
    with pytest.raises(cairn.StaleView):
        heights[-2][2]
    other = cairn.load(BALL)
    with pytest.raises(cairn.Error, match="callback"):
        other.run(until=lambda p: other.world.step())
    other.world.step()


def test_the_schema_is_json():
    schema = cairn.schema()
    assert "run" in json.dumps(schema)


def test_schemes_side_by_side():
    found = cairn.compare(BALL, schemes=["convex", "coulomb"], time_steps=[2e-3, 1e-3],
                          set={"run.duration": 0.2})
    assert found[0].is_reference and len(found) == 5 and all(run.ok for run in found)
    assert {run.scheme for run in found[1:]} == {"convex", "coulomb"}
    assert found[1].difference.whole_rms >= 0 and re.search("from the reference", repr(found[1]))
    with pytest.raises(cairn.BadInput):
        cairn.compare(BALL, schemes=["best"])


# ---- runs and programs --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    changed = {"run.statistics": ["energy"], "run.duration": 0.4}
    return cairn.load(BALL, set=changed).run(tmp_path_factory.mktemp("runs") / "ball")


def test_frames(run):
    assert len(run.frames) == 5 and run.times == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    first, last = run.frames[0], run.frame()
    assert first.x[1].tolist() == [0, 0, 0.5] and last.time == pytest.approx(0.4)
    assert last.x[1, 2] == pytest.approx(0.1, abs=1e-6)
    assert run.frame(time=0.21).number == 2 and len(run.frames[1:3]) == 2
    assert last.bodies.keys() and "x" in last.bodies and "2 bodies" in repr(last)
    with pytest.raises(IndexError):
        run.frames[9]
    with pytest.raises(AttributeError):
        last.colour


def test_contacts_carry_the_weight(run):
    contacts = run.frame().contacts
    weight = run.bodies["mass"][1] * 9.81
    assert contacts["impulse"][0, 0] / 1e-3 == pytest.approx(weight, rel=1e-6)
    assert contacts.units["impulse"] == "N s" and len(run.frames[0].contacts) == 0


def test_the_ledger_closes(run):
    ledger = run.ledger
    energy = ledger["kinetic"] + ledger["potential"] + ledger["elastic"]
    gains = sum(ledger[k] for k in ("entered_energy", "load_work", "driver_work", "motor_work",
                                    "correction"))
    losses = sum(ledger[k] for k in ledger.keys() if k.endswith("_loss"))
    np.testing.assert_allclose(np.diff(energy), (gains - losses)[1:], atol=1e-9)


def test_certificate_and_steps(run):
    certificate = run.certificate
    assert len(certificate) == 400 and (certificate["asked_relative"] <= 1e-3).all()
    assert certificate.units["penetration"] == "m" and len(run.steps["time"]) == 400
    assert run.info.scheme == "coulomb" and run.attributes["title"] == "ball"
    assert "steps" in repr(run) and f"{run.info.hash:016x}" in run._repr_html_()


def test_every_step_of_a_full_certificate(run):
    bodies, contacts = run.certified(400)
    assert bodies["x"][1, 2] == run.frame().x[1, 2] and contacts["impulse"][0, 0] > 0
    bodies, contacts = run.certified(0)
    assert bodies["x"][1, 2] == 0.5 and len(contacts) == 0


def test_columns_by_their_path(run):
    np.testing.assert_array_equal(run["steps/step"], np.arange(1, 401))
    assert run.read("steps/time", 5, 3) == pytest.approx([6e-3, 7e-3, 8e-3])
    with pytest.raises(KeyError):
        run["steps/colour"]
    with pytest.raises(cairn.NotFound):
        run.read("steps/colour")
    with pytest.raises(cairn.BadInput):
        run.read("steps/time", 390, 20)


def test_the_same_numbers_as_h5py(run):
    h5py = pytest.importorskip("h5py")
    with h5py.File(os.path.join(run.path, "run.h5")) as file:
        for column in ("frames/bodies/x", "steps/kinetic", "certificate/bodies/v"):
            np.testing.assert_array_equal(run[column], file[column][...].reshape(run[column].shape))


def test_statistics(run):
    assert set(run.statistics) == {"energy"}
    table = run.stat("energy")
    np.testing.assert_allclose(table["kinetic"], run.statistics["energy"]["kinetic"])
    both = cairn.stat(run.path, "energy", "coordination")
    assert set(both) == {"energy", "coordination"} and "rows" in repr(both["energy"])
    with pytest.raises(cairn.Error):
        run.stat("nonsense")
    with pytest.raises(TypeError):
        run.stat("energy", colour=1)


def test_tables_in_pandas(run):
    pytest.importorskip("pandas")
    assert len(run.ledger.to_pandas()) == 400
    assert "x_2" in run.frame().bodies.to_pandas().columns


def test_tables_in_notebooks(run):
    assert "<table>" in run.ledger._repr_html_() and "[J]" in run.ledger._repr_html_()


def test_an_independent_program_computes_it_again(run):
    result = cairn.check(run)
    assert result and "certified" in repr(result) and run.check()
    h5py = pytest.importorskip("h5py")
    broken = os.path.join(os.path.dirname(run.path), "broken.h5")
    shutil.copy(os.path.join(run.path, "run.h5"), broken)
    with h5py.File(broken, "r+") as file:
        file["certificate/contacts/impulse"][-1, 0] += 1e-4
    result = cairn.check(broken, checksums=False)
    assert not result and "not certified" in repr(result) and result.text


def test_a_page_in_a_notebook(run):
    try:
        page = run.view()
    except cairn.Error as error:
        built = os.path.join(ROOT, "build", "viewer", "view.html.gz")
        assert not os.path.exists(built), f"built without the page that is there: {error}"
        pytest.skip(str(error))
    assert page._repr_html_().startswith("<iframe") and "characters" in repr(page)
    path = os.path.join(os.path.dirname(run.path), "page.html")
    page.save(path)
    assert os.path.getsize(path) > 1000


def test_explain(run):
    assert "where the time went" in run.explain()


def test_runs_that_are_not_there(tmp_path):
    with pytest.raises(cairn.NotFound):
        cairn.Run(tmp_path / "none")
    (tmp_path / "run.h5").write_bytes(b"nonsense")
    with pytest.raises(cairn.Error):
        cairn.Run(tmp_path)


def test_the_programs_are_of_the_same_version():
    told = programs.call("cairn", "--version").stdout
    assert cairn.__version__ in told
    code = ("import sys; from cairn.programs import main_cairn; sys.argv[1:] = ['--version']; "
            "main_cairn()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == told
    with pytest.raises(cairn.Error, match="ended with"):
        programs.call("cairn", "run", "none.yaml")
    with pytest.raises(cairn.NotFound):
        programs.path("cairn-dances")


@pytest.mark.slow
def test_published_numbers_are_computed_again(tmp_path):
    names = cairn.reproduce_names()
    assert names
    done = cairn.reproduce(names[0], out=tmp_path)
    assert done.text and os.listdir(tmp_path)


def test_pictures(run):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = run.frame().plot(forces=True, colour=[0.0, 1.0])
    assert ax.patches
    world = cairn.World(2, time_step=1e-2)
    world.add_body(cairn.HalfSpace(), motion="fixed")
    world.add_body(cairn.Box(size=(1, 1)), position=(0, 0.5))
    world.add_body(cairn.InsideBox(size=(9, 9)), motion="fixed", position=(0, 4.5))
    world.step()
    assert len(world.plot(forces=True, colour=world.bodies.mass).patches) == 1
    solid = cairn.World()
    solid.add_body(cairn.Box(size=(1, 1, 1)))
    assert solid.plot().patches
    matplotlib.pyplot.close("all")
