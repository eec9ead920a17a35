"""The example of the README ends in a picture, and is as short as it says."""
import os
import re

import pytest

from conftest import ROOT


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
