"""Views: arrays over the library's memory, without copies; stale ones raise and never crash."""
import gc
import pickle
import weakref

import numpy as np
import pytest

import cairn
from cairn._lib import lib
from conftest import falling_ball, heap


def test_a_view_is_the_librarys_memory(world):
    x, again = world.positions, world.bodies.x
    assert isinstance(x, np.ndarray) and x.shape == (2, 3)
    assert x.__array_interface__["data"][0] == again.__array_interface__["data"][0]
    assert x[1, 2] == 1.1 and not x.flags.writeable
    with pytest.raises(ValueError):
        x[0, 0] = 3
    with pytest.raises(ValueError):
        x += 1


def test_every_column_of_the_tables_is_there():
    world = heap()
    world.run(0.3)
    assert set(world.bodies.keys()) >= {"x", "v", "q", "omega", "mass", "motion"}
    for rows in (world.bodies, world.contacts):
        for name in rows.keys():
            column = rows[name]
            assert len(column) in (0, len(rows)), name
    assert world.contacts.impulse.shape == (len(world.contacts), 2)
    assert world.contacts.body.dtype == np.int32
    with pytest.raises(AttributeError):
        world.bodies.colour
    with pytest.raises(KeyError):
        world.contacts["colour"]


STALE_USES = [
    lambda x: x[0], lambda x: x + 1, lambda x: 1 + x, lambda x: x.sum(), lambda x: np.sum(x),
    lambda x: x.shape, lambda x: x.T, lambda x: len(x), lambda x: list(x), lambda x: repr(x),
    lambda x: str(x), lambda x: x.copy(), lambda x: x.tolist(), lambda x: np.linalg.norm(x, axis=1),
    lambda x: np.concatenate([x, x]), lambda x: x @ x.T, lambda x: x.reshape(-1), lambda x: x == x,
    lambda x: np.add(x, x, out=np.zeros((2, 3))), lambda x: 3.0 in x, lambda x: pickle.dumps(x),
    lambda x: np.where(x > 0), lambda x: x.mean(axis=0), lambda x: x.astype(int),
]


@pytest.mark.parametrize("use", STALE_USES)
def test_each_use_of_a_stale_view_raises(use):
    world = falling_ball()
    x = world.positions
    use(x)
    world.step()
    with pytest.raises(cairn.StaleView):
        use(x)


def test_parts_of_a_view_go_stale_with_it(world):
    heights, last, copy, picked = (world.positions[:, 2], world.positions[-1],
                                   world.positions.copy(), world.positions[[0, 1]])
    world.step()
    for part in (heights, last):
        with pytest.raises(cairn.StaleView):
            part[0]
    assert copy[1, 2] == 1.1 and picked[1, 2] == 1.1


@pytest.mark.parametrize("change", [
    lambda w: w.step(), lambda w: w.run(1e-3), lambda w: w.ball.destroy(),
    lambda w: w.add_body(cairn.Sphere(radius=1), position=(9, 9, 9)),
    lambda w: w.add_bodies(cairn.Sphere, radius=0.1, position=np.random.rand(5000, 3) + 9),
    lambda w: w.overlap(), lambda w: w.destroy()])
def test_whatever_changes_the_world_ends_its_views(change):
    world = falling_ball()
    x = world.positions
    change(world)
    with pytest.raises(cairn.StaleView):
        x[0]


def test_memory_stays_readable_while_an_array_lives():
    """numpy.asarray makes a plain array that nobody watches: it shows old numbers, and its memory
    is not freed when the world's arrays move or the world goes."""
    world = falling_ball()
    plain = np.asarray(world.positions)
    for k in range(14):  # the arrays of the library move several times
        world.add_bodies(cairn.Sphere, radius=0.1, position=np.random.rand(2**k, 3) + 9)
    assert plain[1, 2] == 1.1
    world.destroy()
    del world
    gc.collect()
    assert plain[1, 2] == 1.1 and plain.sum() == 1.1


def test_a_world_is_freed_when_nobody_uses_it():
    """At once, without the collector: worlds may be large."""
    world = falling_ball()
    world.on_force(lambda w, time, force, torque: None)
    world.run(0.01)
    x, plain, columns = world.positions, np.asarray(world.positions), world.bodies
    del columns, world.ball
    gone = weakref.ref(world)
    gc.disable()
    try:
        del world
        assert gone() is None
    finally:
        gc.enable()
    with pytest.raises(cairn.StaleView):
        x[0]
    assert plain[1, 2] < 1.1


def test_columns_and_bodies_keep_their_world():
    columns, ball = falling_ball().bodies, falling_ball().ball
    gc.collect()
    assert columns.x[1, 2] == 1.1 and ball.position[2] == 1.1


def test_pins_are_taken_out_again():
    gc.collect()
    before = lib.cairn_python_pins()
    world = heap()
    world.run(0.1)
    kept = [np.asarray(world.bodies[name]) for name in world.bodies.keys()]
    kept += [np.asarray(world.contacts[name]) for name in world.contacts.keys()]
    assert lib.cairn_python_pins() > before
    world.run(0.1)
    world.destroy()
    del kept, world
    gc.collect()
    assert lib.cairn_python_pins() == before


def test_calls_on_a_destroyed_world_raise(world):
    contacts, bodies, ball = world.contacts, world.bodies, world.ball
    world.destroy()
    world.destroy()
    for use in (lambda: world.step(), lambda: world.time, lambda: bodies.x, lambda: len(contacts),
                lambda: ball.position, lambda: world.add_body(cairn.Sphere(radius=1)),
                lambda: world.save(), lambda: world.hash, lambda: world.run(1.0),
                lambda: ball.drive(), lambda: world.problem()):
        with pytest.raises(cairn.Closed):
            use()


def test_views_in_pandas():
    pytest.importorskip("pandas")
    world = heap()
    world.run(0.2)
    frame = world.bodies.to_pandas()
    assert len(frame) == len(world.bodies) and "x_2" in frame.columns


def test_contacts_without_turning_friction_have_no_moments():
    world = cairn.World(3, time_step=1e-3)
    world.add_body(cairn.HalfSpace(), motion="fixed")
    world.add_bodies(cairn.Sphere, radius=0.1, position=[(0.5 * i, 0, 0.0999) for i in range(20)])
    world.step()
    assert world.contacts.moment.shape == (20, 3)
    assert not world.contacts.moment.any() and not world.contacts.turning.any()


def test_contacts_are_sorted_into_a_list_that_knew_faces():
    """Rows change after a mesh has gone: what an older list knew of its faces is gone as well."""
    world = cairn.World(3, time_step=1e-3)
    world.add_body(cairn.HalfSpace(), motion="fixed")
    corners = [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)]
    mesh = world.add_body(cairn.Mesh(vertices=corners, triangles=[(0, 1, 2), (0, 2, 3)]),
                          motion="fixed")
    world.add_body(cairn.Sphere(radius=0.1), position=(1, -1, 0.1))
    world.step()
    mesh.destroy()
    world.add_body(cairn.Sphere(radius=0.1), position=(2, 0, 0.1))
    world.step()
    world.add_body(cairn.Sphere(radius=0.1), motion="fixed", position=(50, 0, 5))
    world.step()
    assert len(world.contacts) == 2
