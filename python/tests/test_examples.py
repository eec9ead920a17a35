"""The examples, run cell by cell as their notebooks are, in their quick form: each computes a
number that one can check. And the example of the README, which ends in a picture and is as short
as it says."""
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT

EXAMPLES = os.path.join(ROOT, "python", "examples")
sys.path.insert(0, EXAMPLES)
import notebooks  # noqa: E402


def run(name, folder, monkeypatch):
    """Run the code cells of the notebook of an example; its names."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("CAIRN_QUICK", "1")
    names = {"__name__": "__main__"}
    for cell in notebooks.notebook(notebooks.scripts()[name])["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), name, "exec"), names)  # noqa: S102
    assert os.path.getsize(os.path.join(folder, name + ".png")) > 5000
    matplotlib.pyplot.close("all")
    return names


def first_steps(names):
    assert names["carried"] == pytest.approx(names["weight"], rel=1e-4)
    assert 0.9 < names["by_floor"] / names["weight"] < 1  # friction at the walls carries the rest


def incline_disk(names):
    for scheme, error in names["errors"].items():
        order = names["np"].polyfit(names["np"].log(names["steps"]), names["np"].log(error), 1)[0]
        assert order > 0.8, scheme


def angle_of_repose(names):
    assert names["angles"]["squares", 0.5] > names["angles"]["disks", 0.1]


def pebble_bed(names):
    assert 0.45 < names["packing"] < 0.66
    g, r = names["correlation"]["g"], names["correlation"]["r"]
    assert 0.9 < r[g.argmax()] / 0.06 < 1.15  # neighbours are one diameter away


def solvers(names):
    assert names["solution"].converged and len(names["problems"]) > 2
    assert names["np"].isfinite(names["seconds"]).any(axis=1).all()


def pendulum(names):
    assert names["lowest"] == pytest.approx(-2.6, abs=1e-3)
    assert max(names["impulses"]) > 0 and names["energies"][-1] < names["energies"][0]


def arch(names):
    sinking = names["sinking"]
    assert sinking[0.06] > 0.02 > 1e-4 > sinking[0.2]


def force_chains(names):
    assert names["checked"] and names["force"].max() > 0


def grasp(names):
    assert names["lifted"] > 0.05
    ball = names["gripper"].ball
    assert names["momentum"] == pytest.approx(0.5 * ball.velocity[2], abs=1e-9)
    assert names["recorded"].check()


def gym_grasp(names):
    assert names["returns"]["hold and lift"] > names["returns"]["let go"]


CHECKS = [first_steps, incline_disk, angle_of_repose, pebble_bed, solvers, pendulum, arch,
          force_chains, grasp, gym_grasp]


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_example(check, tmp_path, monkeypatch):
    if check is gym_grasp:
        pytest.importorskip("gymnasium")
    check(run(check.__name__, tmp_path, monkeypatch))


def test_every_example_is_tested():
    assert set(notebooks.scripts()) == {check.__name__ for check in CHECKS}


def test_notebooks_are_made_of_the_scripts(tmp_path):
    subprocess.run([sys.executable, os.path.join(EXAMPLES, "notebooks.py"), str(tmp_path)],
                   check=True, capture_output=True)
    for name, text in notebooks.scripts().items():
        made = json.loads((tmp_path / (name + ".ipynb")).read_text())
        assert made["nbformat"] == 4 and made["cells"][0]["cell_type"] == "markdown"
        code = "\n".join("".join(c["source"]) for c in made["cells"] if c["cell_type"] == "code")
        for line in text.splitlines():
            assert line.startswith("#") or line.strip() in code, (name, line)


# ---- the README ---------------------------------------------------------------------------------


def test_ten_lines_to_a_picture(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        code = re.search(r"```python\n(import numpy.*?)```", file.read(), re.DOTALL).group(1)
    assert len([line for line in code.splitlines() if line.strip()]) == 10
    exec(compile(code, "README.md", "exec"), {})  # noqa: S102
    assert os.path.getsize(tmp_path / "first.png") > 5000
    matplotlib.pyplot.close("all")
