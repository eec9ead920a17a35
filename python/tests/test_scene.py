"""Scenes: files, dicts and back; their runs, compared with those of the program."""
import json
import os
import re
import subprocess

import numpy as np
import pytest

import cairn
from cairn import programs

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
    for name in sorted(os.listdir(scenes)):
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
