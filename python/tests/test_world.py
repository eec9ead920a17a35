"""Worlds: bodies, materials, joints, inlets, generators, stepping; and views of their numbers."""
import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import cairn
from cairn._lib import lib
from conftest import falling_ball, heap


def test_a_ball_falls_as_galileo_says(world):
    world.run(0.1)
    # by steps of h: z = z0 - g h^2 n (n + 1)/2
    assert world.ball.position[2] == pytest.approx(1.1 - 9.81 * 1e-6 * 100 * 101 / 2, abs=1e-12)
    assert world.ball.velocity[2] == pytest.approx(-0.981, abs=1e-12)
    assert world.time == pytest.approx(0.1)


def test_a_ball_comes_to_rest_on_the_floor(world):
    report = world.run(1.0)
    assert report.steps == 1000 and report.missed == 0
    assert world.ball.position[2] == pytest.approx(0.1, abs=1e-9)
    # the floor carries its weight: 9.81 N for 1 ms
    assert world.impulses[0, 0] == pytest.approx(9.81e-3, rel=1e-6)


def test_step_reports_what_happened(world):
    report = world.step()
    assert report.converged and report.candidates == 0
    assert report.energy.kinetic == pytest.approx(0.5 * 9.81e-3**2)
    assert "converged" in repr(report)
    assert report.asdict()["energy"]["kinetic"] == report.energy.kinetic


def test_the_last_step_of_a_run_is_whole(world):
    assert world.run(0.0105).steps == 11
    assert world.run(0.0).steps == 0


def test_until_ends_a_run(world):
    report = world.run(10.0, until=lambda w: w.ball.position[2] < 1.0)
    assert report.stopped
    assert world.time == pytest.approx(math.sqrt(2 * 0.1 / 9.81), abs=2e-3)


def test_options_hold_until_given_again(world):
    world.step(2e-3, scheme="convex")
    assert world.options["time_step"] == 2e-3 and world.options["scheme"] == "convex"
    world.step()
    assert world.time == pytest.approx(4e-3)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_options_that_are_not_finite_are_refused_where_they_are_given(world, value):
    """They leave the option as it was. So does a number out of range."""
    for name in ("time_step", "tolerance", "stabilisation", "margin", "model_tolerance"):
        before = world.options[name]
        with pytest.raises((cairn.NotFinite, cairn.BadInput), match=f"found {value:g}"):
            world.set(**{name: value})
        assert world.options[name] == before
    with pytest.raises(cairn.BadInput, match="found -1"):
        world.set(time_step=-1)
    with pytest.raises(cairn.Error, match="found"):
        cairn.Sphere(radius=value)
    with pytest.raises(cairn.Error, match="found"):
        cairn.loads.Constant(force=(0, value, 0))
    assert world.step().converged


def test_a_world_without_a_time_step_can_be_copied():
    import copy
    world = cairn.World(tolerance=1e-6)
    for other in (world.copy(), copy.copy(world), pickle.loads(pickle.dumps(world))):
        assert other.options == world.options


def test_bodies_know_their_numbers():
    world = cairn.World()
    box = world.add_body(cairn.Box(size=(1, 2, 3)), position=(1, 2, 3), density=100,
                         velocity=(1, 0, 0), orientation=(1, 0, 0, 0))
    assert box.mass == pytest.approx(600)
    assert sorted(box.inertia) == pytest.approx(sorted([50 * 13, 50 * 10, 50 * 5]))
    assert box.motion == "dynamic" and box.shape == cairn.Box(size=(1.0, 2.0, 3.0), rounding=0.0)
    assert list(box.velocity) == [1, 0, 0]
    assert "Box" in repr(box) and "600" in repr(box)
    assert "600" in box._repr_html_()


def test_a_mass_of_0_is_refused():
    """A mass that is not given is that of shape and density; one of 0 is given."""
    world, ball = cairn.World(), cairn.Sphere(radius=0.1)
    for make in (lambda: world.add_body(ball, mass=0),
                 lambda: world.add_bodies(ball, position=[(0, 0, 1), (0, 0, 2)], mass=[1, 0]),
                 lambda: world.add_inlet(count=1, rate=1, centre=(0, 0, 1), radius=0.1, mass=0),
                 lambda: world.generate(cairn.generators.Grid(count=(1, 1, 1), spacing=(1, 1, 1),
                                                              radius=0.1, mass=0))):
        with pytest.raises(cairn.BadInput, match="found 0, expected"):
            make()
    assert world.body_count == 0


def test_a_body_that_was_removed_is_not_found(world):
    world.ball.destroy()
    assert not world.ball.alive and world.body_count == 1
    with pytest.raises(cairn.NotFound):
        world.ball.position
    with pytest.raises(cairn.NotFound):
        world.ball.destroy()
    assert "removed" in repr(world.ball)
    other = world.add_body(cairn.Sphere(radius=0.1), position=(0, 0, 1))
    assert other.uid != world.ball.uid and not world.ball.alive


def test_many_bodies_in_one_call():
    world = cairn.World()
    n = 1000
    x = np.arange(3 * n, dtype=float).reshape(n, 3)
    radius = np.linspace(0.1, 0.2, n)
    uids = world.add_bodies(cairn.Sphere, radius=radius, position=x, velocity=(0, 0, 1),
                            density=np.full(n, 500.0))
    assert len(uids) == n == world.body_count
    np.testing.assert_array_equal(world.positions, x)
    assert world.body(uids[7]).mass == pytest.approx(500 * 4 / 3 * math.pi * radius[7]**3)
    assert world.body(uids[-1]).velocity[2] == 1
    assert [b.uid for b in world.all_bodies][:3] == list(uids[:3])


def test_many_bodies_of_one_shape_in_2d_with_materials():
    world = cairn.World(2)
    rough, smooth = world.add_material(friction=0.9), world.add_material(friction=0.1)
    uids = world.add_bodies(cairn.Box(size=(1, 1)), position=[(0, 0), (2, 0), (4, 0)],
                            angle=[0, 0.1, 0.2], material=[rough, smooth, rough])
    assert [world.body(u).material.friction for u in uids] == [0.9, 0.1, 0.9]
    assert world.body(uids[2]).angle == 0.2


def test_no_bodies_in_one_call():
    assert len(cairn.World().add_bodies(cairn.Sphere, radius=np.zeros(0),
                                        position=np.zeros((0, 3)))) == 0


def test_materials_and_pairs():
    world = cairn.World()
    ice = world.add_material(friction=0.05)
    rock = world.add_material(law=cairn.friction.Stribeck(static=0.6, dynamic=0.4, speed=0.1))
    world.set_pair(ice, rock, friction=0.3)
    assert ice.friction == 0.05 and ice.restitution == 0
    assert "0.05" in repr(ice) and ice == cairn.Material(world, 0) and rock.number == 1


def test_shapes_with_data(tmp_path):
    world = cairn.World()
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    cube = cairn.Polyhedron(corners)
    assert cube.mass(1000)[0] == pytest.approx(1000)
    assert len(cube.polygons()) == 6
    body = world.add_body(cube, position=(0, 0, 5))
    assert body.position == pytest.approx([0.5, 0.5, 5.5]) and body.shape.name == "polyhedron"
    ground = cairn.HeightField(np.zeros((3, 4)), spacing=1.0)
    world.add_body(ground, motion="fixed")
    half = cairn.Sphere(radius=0.5)
    two = cairn.Compound([(half, (-1, 0, 0)), (half, (1, 0, 0))])
    assert two.mass(1.0)[0] == pytest.approx(2 * 4 / 3 * math.pi / 8)
    triangle = cairn.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    world.add_body(triangle, motion="fixed")
    file = tmp_path / "one.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    world.add_body(cairn.Mesh(file=file, scale=2), motion="fixed")
    flat = cairn.World(2)
    flat.add_body(cairn.Polyline([(1, 0), (-1, 0)]), motion="fixed")
    flat.add_body(cairn.Polyhedron([(0, 0), (1, 0), (0, 1)]), position=(0, 1))
    flat.add_body(cairn.Compound([(cairn.Box(size=(1, 1)), (0, 0), 0.3)], dimension=2))
    assert flat.body_count == 3


def test_drivers_loads_inlets_generators():
    world = cairn.World(time_step=1e-2, gravity=(0, 0, 0))
    moved = world.add_body(cairn.Sphere(radius=0.1), motion="driven",
                           drivers=[cairn.drivers.Velocity(velocity=(1, 0, 0))])
    pushed = world.add_body(cairn.Sphere(radius=0.1), position=(0, 5, 0), mass=2,
                            loads=[cairn.loads.Constant(force=(4, 0, 0))])
    world.add_inlet(count=3, rate=100, centre=(0, -5, 0), size=(1, 1, 1),
                    radius=cairn.distributions.Uniform(minimum=0.01, maximum=0.02))
    assert world.inlet_pending == 3
    made = world.generate(cairn.generators.Grid(count=(2, 2, 2), spacing=(1, 1, 1),
                                                origin=(0, 0, 20), radius=0.1))
    assert made == 8
    world.run(1.0)
    assert moved.position == pytest.approx([1, 0, 0])
    assert pushed.velocity[0] == pytest.approx(2.0)
    assert world.inlet_pending == 0 and world.body_count == 13


def test_a_pendulum_swings_on_its_joint():
    world = cairn.World(time_step=1e-3, threads=1)
    bob = world.add_body(cairn.Sphere(radius=0.05), position=(1, 0, 0), mass=1)
    joint = world.add_joint(cairn.joints.Revolute(anchor=(0, 0, 0), axis=(0, 1, 0)), bob)
    world.run(0.3)
    assert np.linalg.norm(bob.position) == pytest.approx(1, abs=1e-4)
    assert abs(joint.state["turn"]) > 0.3 and "revolute" in repr(joint)
    joint.destroy()
    assert not joint.state["alive"]
    with pytest.raises(cairn.NotFound):
        joint.destroy()


def test_a_motor_takes_another_target():
    world = cairn.World(time_step=1e-2, gravity=(0, 0, 0), threads=1)
    box = world.add_body(cairn.Box(size=(1, 1, 1)), mass=1)
    joint = world.add_joint(cairn.joints.Prismatic(
        axis=(1, 0, 0), slide=cairn.Drive(motor="velocity", target=1.0)), box)
    world.step()
    assert box.velocity[0] == pytest.approx(1)
    joint.aim(slide=-2.0)
    world.step()
    assert box.velocity[0] == pytest.approx(-2)
    with pytest.raises(cairn.BadInput):
        joint.aim(turn=1.0)


def test_measures_of_a_world():
    world = heap()
    world.run(0.5)
    kinetic, potential = world.energy()
    assert kinetic >= 0 and potential > 0
    assert len(world.statistic("energy")) == 1
    depth, a, b = world.overlap()
    assert 0 <= depth < 1e-3
    assert world.memory().bodies > 0
    assert world.gravity[1] == -9.81
    with pytest.raises(cairn.NotFound):
        world.statistic("nonsense")


def test_overlaps_name_the_two_bodies():
    world = cairn.World()
    a = world.add_body(cairn.Sphere(radius=1))
    b = world.add_body(cairn.Sphere(radius=1), position=(1.5, 0, 0))
    depth, one, other = world.overlap()
    assert depth == pytest.approx(0.5) and {one, other} == {a, b}


def test_strict_runs_stop_where_the_tolerance_is_missed():
    world = heap(tolerance=1e-12, max_iterations=1, solver="pgs")
    with pytest.raises(cairn.Stopped) as caught:
        world.run(1.0, strict=True)
    assert "residual" in caught.value.message


def test_repr_and_html_tell_something(world):
    world.run(0.6)
    assert "2 bodies" in repr(world) and "1 contacts" in repr(world)
    assert f"{world.hash:016x}" in world._repr_html_()
    assert "impulse" in repr(world.contacts) and "m/s" in world.bodies._repr_html_()
    world.destroy()
    assert repr(world) == "<World: destroyed>" and "destroyed" in world._repr_html_()


def test_a_world_is_a_context():
    with falling_ball() as world:
        world.step()
    assert not world.alive


def test_names():
    assert "auto" in cairn.names("solvers") and "coulomb" in cairn.names("schemes")
    assert cairn.names("statistics") and cairn.names("backends") and cairn.names("broad_phases")
    with pytest.raises(cairn.BadInput):
        cairn.names("colours")


def test_names_of_options_outlive_the_call():
    """The library keeps the pointer to the name of a motor, so it must be the library's own."""
    import gc
    world = cairn.World(time_step=1e-2, threads=1)
    hand = world.add_body(cairn.Sphere(radius=0.1), mass=1, position=(0, 0, 1))
    world.add_joint(cairn.joints.Prismatic(anchor=(0, 0, 1), axis=(0, 0, 1), slide=dict(
        motor="velocity", target=0.0, effort=100)), hand)
    gc.collect()
    rubbish = [bytes([k]) * 9 for k in range(255)]
    world.run(0.5)
    assert hand.position[2] == pytest.approx(1, abs=1e-3) and rubbish


# ---- views: arrays over the library's memory; stale ones raise and never crash ------------------


def test_a_view_is_the_librarys_memory(world):
    x, again = world.positions, world.bodies.x
    assert isinstance(x, np.ndarray) and x.shape == (2, 3)
    assert x.__array_interface__["data"][0] == again.__array_interface__["data"][0]
    assert x[1, 2] == 1.1 and not x.flags.writeable
    with pytest.raises(ValueError):
        x[0, 0] = 3
    with pytest.raises(ValueError):
        x += 1
    for one in (x, np.asarray(x), x[1], x[:, 2].view(np.ndarray), world.bodies.uid, world.impulses):
        with pytest.raises(ValueError):
            one.flags.writeable = True
        with pytest.raises(ValueError):
            one.setflags(write=True)
    assert world.positions[1, 2] == 1.1


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


# ---- what one types wrongly ---------------------------------------------------------------------


@pytest.mark.parametrize("make", [
    lambda w: w.add_body(cairn.Sphere(radius=0.1), position=(0, 1)),
    lambda w: w.add_body(cairn.Box(size=(1, 1)), position=(5, 0, 1)),
    lambda w: w.add_body(cairn.HalfSpace(axis=(0, 1)), motion="fixed"),
    lambda w: w.add_body(cairn.Sphere(radius=0.1), velocity=np.array([1.0, 2.0])),
    lambda w: w.add_body(cairn.Sphere(radius=0.1), loads=[cairn.loads.Constant(force=(1, 2))]),
    lambda w: w.add_body(cairn.Sphere(radius=0.1), motion="driven",
                         drivers=[cairn.drivers.Velocity(velocity=(1, 2))]),
    lambda w: w.add_joint(cairn.joints.Revolute(anchor=(0, 1)), w.ball),
    lambda w: w.generate(cairn.generators.Grid(count=(2, 2), spacing=(1, 1, 1), radius=0.1)),
    lambda w: w.add_inlet(count=1, rate=1, centre=(0, 2), radius=0.1),
])
def test_vectors_have_three_numbers_in_space(world, make):
    """As in scenes; a third number of 0 would put bodies where nobody wanted them."""
    count = world.body_count
    with pytest.raises(cairn.BadInput, match="2 numbers, expected 3: x, y and z"):
        make(world)
    assert world.body_count == count


def test_vectors_have_two_numbers_in_the_plane():
    """The third one keeps its default, as the number of layers of a grid, 1."""
    world = cairn.World(2)
    assert world.generate(cairn.generators.Grid(count=(2, 3), spacing=(1, 1), radius=0.1)) == 6
    world.add_body(cairn.Box(size=(1, 2)), position=(9, 0))
    world.add_body(cairn.HalfSpace(axis=(1, 0)), motion="fixed", position=(-9, 0))


def test_four_numbers_are_no_position(world):
    with pytest.raises(cairn.BadInput) as caught:
        world.add_body(cairn.Sphere(radius=0.1), position=(0, 0, 1, 2))
    assert caught.value.key == "position"
    assert caught.value.message == ("found (0, 0, 1, 2), 4 numbers, expected 3: x, y and z (in 2D "
                                    "2) in m")


def test_a_material_is_no_name(world):
    for make in (lambda: world.add_body(cairn.Sphere(radius=0.1), material="steel"),
                 lambda: setattr(world.ball, "material", "steel")):
        with pytest.raises(cairn.BadInput, match="found 'steel', expected a material, which "
                                                 "World.add_material returns"):
            make()


@pytest.mark.parametrize("name, value, how", [
    ("velocity", (1, 0, 0), r"body.put\(velocity=...\).*body.drive\(velocity=...\)"),
    ("position", (0, 0, 1), r"body.put\(position=...\)"),
    ("orientation", (1, 0, 0, 0), r"body.put\(orientation=...\)"),
    ("mass", 3, "it is given to World.add_body"),
])
def test_assignments_tell_what_to_call(world, name, value, how):
    with pytest.raises(AttributeError, match=f"{name} of a body cannot be assigned; .*{how}"):
        setattr(world.ball, name, value)


def test_a_duration_is_a_number(world):
    with pytest.raises(cairn.BadInput, match="duration: found '1', expected a number >= 0 s"):
        world.run("1")
    assert world.time == 0


def test_scenes_in_other_units_are_doubted(recwarn):
    scene = {"cairn": 1, "dimension": 2, "run": {"time_step": 1e-3, "duration": 1},
             "bodies": [{"shape": {"box": {"size": [1, 1]}}, "angle": 45}]}
    cairn.load(scene)
    assert [(w.category, str(w.message)) for w in recwarn] == [
        (cairn.UnitWarning, "bodies.0.angle: found 45 rad, more than a full turn; if it is in "
                            "degrees, write 0.7854")]
