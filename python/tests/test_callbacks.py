"""Functions of Python that the library calls: forces, drivers, stopping, Lagrangian systems."""
import pickle

import numpy as np
import pytest

import cairn
from conftest import falling_ball


def test_a_force_follows_the_state():
    """A spring of 100 N/m on 1 kg without gravity: a period of 2 pi / 10 s."""
    world = cairn.World(gravity=(0, 0, 0), time_step=1e-4, threads=1)
    ball = world.add_body(cairn.Sphere(radius=0.1), position=(1, 0, 0), mass=1)

    @world.on_force
    def spring(w, time, force, torque):
        force -= 100 * w.positions

    world.run(2 * np.pi / 10)
    assert ball.position[0] == pytest.approx(1, abs=1e-3)
    world.remove_callback(spring)
    v = ball.velocity
    world.run(0.01)
    assert list(ball.velocity) == list(v)


def test_several_forces_add_up_and_torques_turn():
    world = cairn.World(gravity=(0, 0, 0), time_step=1e-2, threads=1)
    ball = world.add_body(cairn.Sphere(radius=0.5), mass=1)  # J = 0.1 kg m^2
    world.on_force(lambda w, t, force, torque: force.__iadd__([1, 0, 0]))
    world.on_force(lambda w, t, force, torque: (force.__iadd__([1, 0, 0]),
                                                torque.__iadd__([0, 0, 0.1])))
    world.step()
    assert ball.velocity[0] == pytest.approx(0.02)
    assert ball.angular_velocity[2] == pytest.approx(0.01)


def test_an_exception_in_a_force_comes_out(world):
    time = world.time

    @world.on_force
    def bad(w, t, force, torque):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        world.step()
    with pytest.raises(ZeroDivisionError):
        world.run(1.0)
    assert world.time == time
    world.remove_callback(bad)
    world.step()


def test_forces_that_are_no_numbers_are_refused(world):
    @world.on_force
    def bad(w, t, force, torque):
        force[1] = np.nan

    with pytest.raises(cairn.NotFinite):
        world.step()


@pytest.mark.parametrize("change", [
    lambda w: w.step(), lambda w: w.destroy(), lambda w: w.ball.destroy(), lambda w: w.run(1.0),
    lambda w: w.add_body(cairn.Sphere(radius=1)), lambda w: w.save()])
def test_a_callback_may_not_change_its_world(change):
    world = falling_ball()
    world.on_force(lambda w, t, force, torque: change(w))
    with pytest.raises(cairn.Error, match="callback"):
        world.step()
    assert world.alive and world.body_count == 2


def test_arrays_of_a_callback_may_be_kept(world):
    kept = []
    world.on_force(lambda w, t, force, torque: kept.append((force, w.positions)))
    world.run(0.01)
    assert all((force == 0).all() for force, _ in kept)
    with pytest.raises(cairn.StaleView):
        kept[0][1][0]


def test_views_of_one_step_end_with_the_next():
    """Many steps run in one call, and inlets make the arrays of the library move."""
    world = cairn.World(time_step=1e-2, threads=1)
    world.add_inlet(count=300, rate=300, centre=(0, 0, 0), size=(9, 9, 9), radius=0.1)
    kept = []

    @world.on_force
    def look(w, time, force, torque):
        x = w.positions
        assert len(x) == len(force)
        for old in kept[-1:]:
            with pytest.raises(cairn.StaleView):
                len(old)
        kept.append(x)

    world.run(1.0)
    assert len(kept) == 100 and world.body_count > 250


def test_a_driver_is_a_function_of_time():
    world = cairn.World(time_step=1e-3, threads=1)
    plate = world.add_body(cairn.Box(size=(1, 1, 0.1)), motion="driven")
    rider = world.add_body(cairn.Sphere(radius=0.1), position=(0, 0, 0.15), mass=1)

    @world.on_drive(plate)
    def lift(time):
        return (0, 0, 0.5 if time < 0.1 else 0.0)

    world.run(0.3)
    assert plate.position[2] == pytest.approx(0.05, abs=6e-4)
    assert rider.position[2] == pytest.approx(plate.position[2] + 0.15, abs=2e-3)
    world.remove_callback(lift)
    with pytest.raises(cairn.BadInput):
        world.on_drive(rider, lift)


def test_a_driver_may_turn_a_body():
    world = cairn.World(2, time_step=1e-2, threads=1)
    wheel = world.add_body(cairn.Sphere(radius=1), motion="driven")
    world.on_drive(wheel, lambda time: ((0.0, 0.0), 2.0))
    world.run(0.5)
    assert wheel.angle == pytest.approx(1.0)


def test_drive_from_outside():
    world = cairn.World(time_step=1e-2, threads=1)
    box = world.add_body(cairn.Box(size=(1, 1, 1)), motion="driven")
    box.drive(velocity=(1, 0, 0), angular_velocity=(0, 0, 1))
    world.step()
    assert box.position[0] == pytest.approx(0.01) and box.angular_velocity[2] == pytest.approx(1)
    box.drive()
    world.step()
    assert box.position[0] == pytest.approx(0.01)
    ball = world.add_body(cairn.Sphere(radius=1), position=(9, 9, 9))
    with pytest.raises(cairn.BadInput):
        ball.drive(velocity=(1, 0, 0))


def test_an_exception_in_until_comes_out(world):
    with pytest.raises(KeyError):
        world.run(1.0, until=lambda w: {}["x"])
    assert world.time == pytest.approx(1e-3)


# ---- Lagrangian systems -------------------------------------------------------------------------


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
