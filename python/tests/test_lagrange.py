"""Lagrangian systems by functions of Python."""
import pickle

import numpy as np
import pytest

import cairn


def bouncing(e=0.0, **options):
    """A point of 1 kg above a floor."""
    return cairn.Lagrange(
        [1.0], mass=lambda q: [[1.0]], force=lambda t, q, v: [-9.81],
        contact=lambda q, k: {"gap": q[0], "rows": [[1.0], [0.0]], "restitution": e}, contacts=1,
        potential=lambda q: 9.81 * q[0], **{"time_step": 1e-3, **options})


def test_it_falls_and_rests():
    system = bouncing()
    system.run(1.0)
    assert system.q[0] == pytest.approx(0, abs=1e-9) and system.v[0] == pytest.approx(0, abs=1e-9)
    assert system.impulses[0, 0] == pytest.approx(9.81e-3)
    assert system.time == pytest.approx(1.0) and "q = " in repr(system)


def test_reports_have_energies():
    system = bouncing()
    report = system.step()
    assert report.converged
    assert report.kinetic + report.potential == pytest.approx(9.81, rel=1e-5)


def test_a_pendulum_keeps_its_energy_to_first_order():
    g, h = 9.81, 1e-4
    system = cairn.Lagrange([1.0], mass=lambda q: [[1.0]], time_step=h,
                            force=lambda t, q, v: [-g * np.sin(q[0])])
    reports = system.run(1.0)
    energy = 0.5 * system.v[0]**2 - g * np.cos(system.q[0])
    assert energy == pytest.approx(-g * np.cos(1.0), abs=2e-3)
    assert len(reports) == 10000


@pytest.mark.parametrize("name", ["mass", "force", "contact", "potential"])
def test_exceptions_come_out(name):
    def bad(*args):
        raise ZeroDivisionError(name)
    given = {"mass": lambda q: [[1.0]], name: bad}
    system = cairn.Lagrange([1.0], contacts=int(name == "contact"), time_step=1e-3, **given)
    with pytest.raises(ZeroDivisionError, match=name):
        system.step()


def test_wrong_shapes_come_out():
    for given in ({"mass": lambda q: np.eye(2)}, {"mass": lambda q: [[1.0]],
                                                  "force": lambda t, q, v: [1, 2]}):
        with pytest.raises(cairn.BadInput):
            cairn.Lagrange([1.0], time_step=1e-3, **given).step()
    with pytest.raises(cairn.BadInput):
        cairn.Lagrange([1.0], mass=lambda q: [[1.0]], contacts=1, time_step=1e-3,
                       contact=lambda q, k: {"gap": 1, "rows": [[1.0], [0]], "colour": 3}).step()
    with pytest.raises(cairn.Error):
        cairn.Lagrange([1.0], mass=lambda q: [[-1.0]], time_step=1e-3).step()
    with pytest.raises(cairn.Error):
        cairn.Lagrange([], mass=lambda q: [[1.0]])
    with pytest.raises(cairn.NotFinite):
        cairn.Lagrange([np.nan], mass=lambda q: [[1.0]])


def test_it_is_not_pickled():
    with pytest.raises(TypeError, match="functions"):
        pickle.dumps(bouncing())


def test_a_callback_may_not_step_its_own_system():
    system = bouncing()
    system.mass = lambda q: system.step()
    with pytest.raises(cairn.Error, match="callback"):
        system.step()
