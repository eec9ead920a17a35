/* test_state.c - a world to bytes and back, the same bits every time, the depth of the call stack,
 * and rows by uid. */
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>

#include "backend/host/batch.h"
#include "cairn/joint.h"
#include "shape/geometry.h"
#include "tests/problems/saved_world.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

/* ==== test_state: a world to bytes and back: what is loaded goes on with the same bits ======== */

static void goes_on(const char *text, const char *override, int before, int after)
{
    cairn_scene *scene = scene_text_good(text, override);
    check_goes_on(scene, before, after);
    cairn_scene_destroy(scene);
}

/* Inlets in the middle of pouring, drivers, loads, warm starts, unequal inertia, friction laws. */
TEST(a_loaded_world_goes_on_with_the_same_bits)
{
    static const int before[] = { 0, 1, 3, 17, 40 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        goes_on(scene_3d, "run.scheme=coulomb", before[i], 30);
        goes_on(scene_2d, "run.scheme=convex", before[i], 30);
        goes_on(scene_bounce, "run.scheme=coulomb", before[i], 30);
    }
}

/* saved between falling asleep and waking: the same bits as without */
TEST(a_loaded_world_sleeps_on)
{
    static const char *const text =
        "cairn: 1\n"
        "materials: {a: {friction: 0.5}}\n"
        "bodies:\n"
        "  - {motion: fixed, shape: half_space}\n"
        "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.101]}\n"
        "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0.01, 0, 0.303]}\n"
        "  - {shape: {sphere: {radius: 0.05}}, position: [0, 0, 1.2]}\n"
        "run: {time_step: 5e-3, duration: 1, tolerance: 1e-4, sleep: true}\n";
    static const int before[] = { 5, 12, 20, 60, 90 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        cairn_scene *scene = scene_text_good(text, NULL);
        check_goes_on(scene, before[i], 60);
        cairn_scene_destroy(scene);
    }
}

/* Every number that may vary, in the middle of varying; a motion by its speed, whose integral is
 * kept; a load and an inlet. */
TEST(functions_of_time_go_on_with_the_same_bits)
{
    static const char *const text =
        "cairn: 1\n"
        "gravity: [\"2 * sin(5 * t)\", 0, {ramp: {from: -9.81, to: -12, stop: 0.2}}]\n"
        "materials: {a: {friction: {harmonic: {mean: 0.5, amplitude: 0.3, frequency: 7}}}}\n"
        "bodies:\n"
        "  - {motion: driven, shape: half_space,\n"
        "     drivers: [motion: {vz: 0.2 * cos(40 * t), x: 0.01 * t^2, spin: t, axis: [0, 1, "
        "0]}]}\n"
        "  - {name: cart, shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.101],\n"
        "     loads: [function: {force: [1, 0, 0], factor: sin(30 * t)}]}\n"
        "joints: [spring: {a: cart, anchor_b: [1, 0, 0], slide: {motor: force, target: 3 * t}}]\n"
        "generators:\n"
        "  - pour: {count: 12, rate: {table: {time: [0, 0.1], values: [0, 200]}},\n"
        "           centre: [0, 0, 0.6], size: [0.4, 0.4, 0.1], radius: 0.05}\n"
        "run: {time_step: 2e-3, duration: 1, tolerance: 1e-6}\n";
    static const int before[] = { 0, 1, 20, 70 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        goes_on(text, NULL, before[i], 40);
}

/* Bodies that leave, hulls among them, and wait to come back. */
TEST(outlets_and_what_comes_back_go_on_with_the_same_bits)
{
    static const char *const text =
        "cairn: 1\n"
        "bodies:\n"
        "  - {motion: fixed, shape: half_space, position: [0, 0, -3]}\n"
        "  - {position: [0, 0, 0.3], shape: {polyhedron: {points: [[0, 0, 0], [0.1, 0, 0],\n"
        "     [0, 0.1, 0], [0, 0, 0.1], [0.1, 0.1, 0.1]]}}}\n"
        "generators:\n"
        "  - pour: {count: 6, rate: 60, centre: [0, 0, 0.6], size: [0.4, 0.4, 0.1], radius: 0.05}\n"
        "  - pour: {name: top, count: 0, rate: 30, centre: [0, 0, 1], size: [0.4, 0.4, 0.1],\n"
        "           turned: true, radius: 0.05}\n"
        "outlets:\n"
        "  - height: {below: 0.2, to: top, stop: 0.5}\n"
        "  - box: {centre: [0, 0, 0], size: [9, 9, 0.1]}\n"
        "run: {time_step: 5e-3, duration: 1, tolerance: 1e-6}\n";
    static const int before[] = { 0, 30, 60, 90 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        goes_on(text, NULL, before[i], 60);
}

/* Saving is looking. */
TEST(the_saved_world_is_not_changed)
{
    cairn_scene *scene = scene_text_good(scene_3d, NULL), *other = scene_text_good(scene_3d, NULL);
    go_on(scene->world, &scene->step, 20);
    go_on(other->world, &other->step, 20);
    saved s = save(scene->world);
    check_same_state(scene->world, other->world);
    go_on(scene->world, &scene->step, 20);
    go_on(other->world, &other->step, 20);
    check_same_state(scene->world, other->world);
    cairn_scene_destroy(scene);
    cairn_scene_destroy(other);
    free(s.data);
}

/* Hulls that are poured, some of them there and some to come: they share the data of the inlet, and
 * go on doing so. */
static const char *const scene_hulls =
    "cairn: 1\n"
    "materials: {a: {friction: 0.4}}\n"
    "bodies: [{motion: fixed, shape: half_space}]\n"
    "generators:\n"
    "  - pour: {count: 12, rate: 100, centre: [0, 0, 0.6], size: [0.8, 0.8, 0.2], turned: true,\n"
    "           shape: {polyhedron: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1],\n"
    "                                         [0.1, 0.1, 0.1]]}}}\n"
    "  - pour: {count: 5, rate: 50, centre: [2, 0, 0.6], size: [0.3, 0.3, 0.2], radius: 0.08,\n"
    "           shape: {box: {size: [1, 0.5, 0.8]}}}\n"
    "run: {time_step: 4e-3, duration: 0.24, scheme: coulomb}\n";

TEST(inlets_pour_the_same_shapes)
{
    static const int before[] = { 0, 1, 10, 40 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        goes_on(scene_hulls, NULL, before[i], 40);
    cairn_scene *scene = scene_text_good(scene_hulls, NULL);
    go_on(scene->world, &scene->step, 10);
    saved s = save(scene->world);
    cairn_world *copy = load(&s);
    go_on(copy, &scene->step, 40);
    cairn_bodies b = cairn_world_bodies(copy);
    CHECK_INT(b.count, 1 + 12 + 5);
    for (int k = 2; k < b.count; k++)
        CHECK(cairn_bodies_shape(&b, k)->kind == CAIRN_SHAPE_BOX ||
              cairn_bodies_shape(&b, k)->geometry == cairn_bodies_shape(&b, 1)->geometry);
    cairn_world_destroy(copy);
    check_damage_does_no_harm(&s, 97);
    check_without_memory(&s);
    cairn_scene_destroy(scene);
    free(s.data);
}

TEST(uids_go_on_where_they_were)
{
    cairn_world *world = world_create(3);
    cairn_body_id first = add_sphere(world, 0.1, (cairn_vec3){ 0, 0, 0 }), id, same;
    add_sphere(world, 0.1, (cairn_vec3){ 1, 0, 0 });
    CHECK_OK(cairn_body_destroy(world, first));
    saved s = save(world);
    cairn_world *copy = load(&s);
    CHECK_INT(cairn_body_destroy(copy, first), CAIRN_NOT_FOUND);
    id = add_sphere(world, 0.2, (cairn_vec3){ 2, 0, 0 });
    same = add_sphere(copy, 0.2, (cairn_vec3){ 2, 0, 0 });
    CHECK_INT(same.uid, 2);
    CHECK_INT(id.uid, 2);
    CHECK_INT(cairn_body_row(copy, same), cairn_body_row(world, id));
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
    free(s.data);
}

/* This fails where a struct below got a new field. Before its size is written down here: if a later
 * step, or a reader of the world, can see what the field held before the step, then state.c,
 * joint.c or shape.c must write and read it. */
TEST(every_field_of_a_world_was_thought_of)
{
    if (sizeof(void *) != 8)
        skip();
    size_t scratch = sizeof(cairn_problem) + sizeof(cairn_step_inputs) + sizeof(cairn_error);
    scratch += sizeof(cairn_exchange); /* members are not saved; where parts begin is */
    /* with the function of forces and its context, which no file can hold: who loads sets it; and
     * with the list of changes, which is a report to the next step and not part of the state */
    scratch += sizeof(cairn_images); /* of the list of pairs, which is not saved */
    /* with `plain` of the functions of time, which is set while a world is saved */
    /* with `done` and `share` of the clock, which follow from the time and the contacts */
    CHECK_INT(sizeof(cairn_world) - scratch, 1840);
    CHECK_INT(sizeof(cairn_body_store), 384);
    CHECK_INT(sizeof(cairn_contact_store), 208);
    /* felt_turn, felt_slide, gained, eased: made anew in every step; elsewhere: by members */
    CHECK_INT(sizeof(cairn_joint), 912);
    /* with the power of a grading, which follows from the dimension */
    CHECK_INT(sizeof(cairn_inlet), 496);
    CHECK_INT(sizeof(cairn_driven), 1512);
    CHECK_INT(sizeof(cairn_geometry), 224);
}

TEST(damaged_bytes_do_no_harm)
{
    cairn_scene *scene = scene_text_good(scene_3d, NULL);
    go_on(scene->world, &scene->step, 10);
    saved s = save(scene->world);
    check_damage_does_no_harm(&s, 97);
    cairn_scene_destroy(scene);
    free(s.data);
}

TEST(another_version_is_refused)
{
    cairn_world *world = world_create(2), *copy;
    saved s = save(world);
    cairn_error error = { 0 };
    s.data[0] = 9;
    CHECK_INT(cairn_world_load(s.data, s.bytes, &copy, &error), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "version 9, expected 8");
    cairn_world_destroy(world);
    free(s.data);
}

TEST(without_memory_nothing_is_loaded_and_nothing_leaks)
{
    cairn_scene *scene = scene_text_good(scene_2d, NULL);
    go_on(scene->world, &scene->step, 10);
    saved s = save(scene->world);
    cairn_scene_destroy(scene);
    check_without_memory(&s);
    free(s.data);
}

GROUP(test_state)
{
    RUN(CASE(a_loaded_world_goes_on_with_the_same_bits),
        CASE(functions_of_time_go_on_with_the_same_bits),
        CASE(outlets_and_what_comes_back_go_on_with_the_same_bits), CASE(a_loaded_world_sleeps_on),
        CASE(the_saved_world_is_not_changed), CASE(inlets_pour_the_same_shapes),
        CASE(uids_go_on_where_they_were), CASE(every_field_of_a_world_was_thought_of),
        CASE(damaged_bytes_do_no_harm), CASE(another_version_is_refused),
        CASE(without_memory_nothing_is_loaded_and_nothing_leaks));
}

/* ==== test_state_arrays: bodies of every shape and contacts of every law to bytes and back ==== */

TEST(shapes_and_surface_laws_go_on_with_the_same_bits)
{
    static const int before[] = { 0, 1, 20, 45 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        cairn_scene *scene = scene_text_good(scene_shapes, NULL);
        check_goes_on(scene, before[i], 20);
        cairn_scene_destroy(scene);
    }
}

static bool equal(const double *a, const double *b, size_t count)
{
    return memcmp(a, b, count * sizeof *a) == 0;
}

/* What a reader of the world sees of contacts and bodies: nothing is left out. */
TEST(contacts_and_bodies_look_the_same)
{
    cairn_scene *scene = scene_text_good(scene_shapes, NULL);
    go_on(scene->world, &scene->step, 45);
    saved s = save(scene->world);
    cairn_world *copy = load(&s);
    cairn_contacts c = cairn_world_contacts(scene->world), d = cairn_world_contacts(copy);
    size_t n = (size_t)c.count;
    CHECK(n > 5);
    CHECK_INT(d.count, c.count);
    CHECK_INT(d.moments, 3);
    CHECK_INT(c.moments, 3);
    CHECK(memcmp(c.feature, d.feature, n * sizeof *c.feature) == 0);
    CHECK(equal(c.impulse, d.impulse, 3 * n) && equal(c.velocity, d.velocity, 3 * n));
    CHECK(equal(c.moment, d.moment, 3 * n) && equal(c.turning, d.turning, 3 * n));
    CHECK(equal(c.mu, d.mu, n) && equal(c.mu_2, d.mu_2, n) && equal(c.adhesion, d.adhesion, n));
    CHECK(equal(c.gap, d.gap, n) && equal(c.restitution, d.restitution, n));
    CHECK(memcmp(c.point, d.point, n * sizeof *c.point) == 0);
    CHECK(memcmp(c.normal, d.normal, n * sizeof *c.normal) == 0);
    CHECK(memcmp(c.tangent, d.tangent, n * sizeof *c.tangent) == 0);
    CHECK(equal(c.mu_rolling, d.mu_rolling, n) && equal(c.mu_spinning, d.mu_spinning, n));
    cairn_bodies a = cairn_world_bodies(scene->world), b = cairn_world_bodies(copy);
    size_t m = (size_t)a.count;
    CHECK(memcmp(a.pose, b.pose, m * sizeof *a.pose) == 0);
    CHECK(memcmp(a.surface_velocity, b.surface_velocity, m * sizeof *a.surface_velocity) == 0);
    CHECK(memcmp(a.friction_axis, b.friction_axis, m * sizeof *a.friction_axis) == 0);
    CHECK(cairn_world_surface_laws(copy).moving && cairn_world_surface_laws(copy).adhesive);
    cairn_world_destroy(copy);
    cairn_scene_destroy(scene);
    free(s.data);
}

/* A belt that was removed is still known to the run file, whose columns tell of it. */
TEST(a_belt_that_is_gone_is_remembered)
{
    cairn_world *world = world_create(3);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    def.surface_velocity.x = 1;
    CHECK_OK(cairn_body_create(world, &def, &id));
    CHECK_OK(cairn_body_destroy(world, id));
    saved s = save(world);
    cairn_world *copy = load(&s);
    CHECK(cairn_world_surface_laws(copy).moving);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
    free(s.data);
}

TEST(damaged_bytes_of_shapes_do_no_harm)
{
    cairn_scene *scene = scene_text_good(scene_shapes, NULL);
    go_on(scene->world, &scene->step, 30);
    saved s = save(scene->world);
    check_damage_does_no_harm(&s, 211);
    cairn_scene_destroy(scene);
    free(s.data);
}

TEST(without_memory_no_shape_is_left)
{
    cairn_scene *scene = scene_text_good(scene_shapes, NULL);
    go_on(scene->world, &scene->step, 30);
    saved s = save(scene->world);
    check_without_memory(&s);
    cairn_scene_destroy(scene);
    free(s.data);
}

GROUP(test_state_arrays)
{
    RUN(CASE(shapes_and_surface_laws_go_on_with_the_same_bits),
        CASE(contacts_and_bodies_look_the_same), CASE(a_belt_that_is_gone_is_remembered),
        CASE(damaged_bytes_of_shapes_do_no_harm), CASE(without_memory_no_shape_is_left));
}

/* ==== test_state_joints: joints to bytes and back: turns counted, gears slipped, springs wound up,
 * one of them torn. */

TEST(joints_go_on_with_the_same_bits)
{
    static const int before[] = { 0, 1, 25, 40 };
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        cairn_scene *scene = scene_text_good(scene_machine, NULL);
        check_goes_on(scene, before[i], 30);
        cairn_scene_destroy(scene);
    }
}

/* What joints alone hold starts from the joint forces of the step before. */
TEST(swinging_bodies_go_on_with_the_same_bits)
{
    static const char *const text =
        "cairn: 1\n"
        "bodies:\n"
        "  - {name: top, shape: {sphere: {radius: 0.02}}, mass: 1, inertia: [0.004, 0.005, "
        "0.002],\n"
        "     position: [0, 0.1, 2], velocity: [0.1, 0, 0], angular_velocity: [0, 40, 60]}\n"
        "joints: [{ball: {a: top, anchor: [0, 0, 2]}}]\n"
        "run: {scheme: coulomb, tolerance: 1e-8, time_step: 1e-3, duration: 1}\n";
    cairn_scene *scene = scene_text_good(text, NULL);
    check_goes_on(scene, 25, 30);
    cairn_scene_destroy(scene);
}

static bool same_vector(cairn_vec3 a, cairn_vec3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

TEST(joints_look_the_same)
{
    cairn_scene *scene = scene_text_good(scene_machine, NULL);
    go_on(scene->world, &scene->step, 40);
    saved s = save(scene->world);
    cairn_world *copy = load(&s);
    int torn = 0, moved = 0, count = cairn_world_joint_count(scene->world);
    CHECK_INT(count, 10);
    CHECK_INT(cairn_world_joint_count(copy), 10);
    for (int i = 0; i < count; i++) {
        cairn_joint_state a = cairn_world_joint(scene->world, i), b = cairn_world_joint(copy, i);
        CHECK(a.alive == b.alive && a.broken == b.broken && a.kind == b.kind);
        CHECK(a.turn == b.turn && a.slide == b.slide && a.elastic == b.elastic);
        CHECK(same_vector(a.force, b.force) && same_vector(a.torque, b.torque));
        CHECK(same_vector(a.point, b.point) && same_vector(a.point_b, b.point_b));
        CHECK(a.drift == b.drift && a.turn_drift == b.turn_drift);
        torn += a.broken;
        moved += a.turn != 0;
    }
    CHECK_INT(torn, 1);
    CHECK(moved >= 3);
    cairn_world_destroy(copy);
    cairn_scene_destroy(scene);
    free(s.data);
}

/* A pendulum that was turned round three times knows it; a joint that was removed stays away, and
 * ids keep their meaning. */
TEST(ids_and_counted_turns_stay)
{
    cairn_world *world = world_create(2);
    cairn_joint_def def = cairn_joint_def_default();
    cairn_joint_id kept, gone;
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-2;
    options.scheme = "coulomb";
    def.kind = CAIRN_JOINT_REVOLUTE;
    def.a = add_sphere(world, 0.1, (cairn_vec3){ 0, 0, 0 });
    def.turn.motor = "velocity";
    def.turn.target = 20;
    CHECK_OK(cairn_joint_create(world, &def, &kept));
    CHECK_OK(cairn_joint_create(world, &def, &gone));
    CHECK_OK(cairn_joint_destroy(world, gone));
    go_on(world, &options, 100);
    saved s = save(world);
    cairn_world *copy = load(&s);
    CHECK_NEAR(cairn_world_joint(copy, kept.index).turn, 20, 1e-6);
    CHECK_INT(cairn_joint_destroy(copy, gone), CAIRN_NOT_FOUND);
    CHECK_OK(cairn_joint_aim(copy, kept, true, -20));
    go_on(copy, &options, 100);
    CHECK_NEAR(cairn_world_joint(copy, kept.index).turn, 0, 1e-6);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
    free(s.data);
}

TEST(damaged_bytes_of_joints_do_no_harm)
{
    cairn_scene *scene = scene_text_good(scene_machine, NULL);
    go_on(scene->world, &scene->step, 30);
    saved s = save(scene->world);
    check_damage_does_no_harm(&s, 211);
    cairn_scene_destroy(scene);
    free(s.data);
}

TEST(without_memory_no_joint_is_left)
{
    cairn_scene *scene = scene_text_good(scene_machine, NULL);
    saved s = save(scene->world);
    check_without_memory(&s);
    cairn_scene_destroy(scene);
    free(s.data);
}

GROUP(test_state_joints)
{
    RUN(CASE(joints_go_on_with_the_same_bits), CASE(swinging_bodies_go_on_with_the_same_bits),
        CASE(joints_look_the_same), CASE(ids_and_counted_turns_stay),
        CASE(damaged_bytes_of_joints_do_no_harm), CASE(without_memory_no_joint_is_left));
}

/* ==== test_determinism: the same bits every time: whatever the number of threads or the width
 * of registers, when a run is repeated, and when it goes on from saved bytes.
 * docs/determinism.md tells in which sense. */

/* ---- the width of registers ----------------------------------------------------------------- */

/* The linker puts this in the place of cairn_width_best (tests/CMakeLists.txt). */
cairn_width __real_cairn_width_best(void);
cairn_width __wrap_cairn_width_best(void);

static int widest = CAIRN_WIDTH_COUNT; /* that sweeps may use */

cairn_width __wrap_cairn_width_best(void)
{
    cairn_width best = __real_cairn_width_best();
    return (int)best < widest ? best : (cairn_width)widest;
}

/* ---- one world, run in many ways ------------------------------------------------------------ */

/* A way to run. */
typedef struct manner {
    int threads, width;
} manner;

/* Bytes after `steps` steps from saved bytes; *most is the largest number of candidates. */
static saved run_from(const saved *start, cairn_step_options options, manner how, int steps,
                      int *most)
{
    cairn_world *world = load(start);
    cairn_step_report report;
    options.threads = how.threads;
    widest = how.width;
    for (int i = 0; i < steps; i++) {
        CHECK_OK(cairn_world_step(world, &options, &report));
        *most = report.candidates > *most ? report.candidates : *most;
    }
    saved end = save(world);
    cairn_world_destroy(world);
    widest = CAIRN_WIDTH_COUNT;
    return end;
}

/* Saved in the middle, loaded, and finished with other threads. */
static saved run_in_two_parts(const saved *start, const cairn_step_options *options, int steps)
{
    int most = 0;
    const manner first = { 3, CAIRN_WIDTH_COUNT }, second = { 2, CAIRN_WIDTH_COUNT };
    saved middle = run_from(start, *options, first, steps / 2, &most);
    saved end = run_from(&middle, *options, second, steps - steps / 2, &most);
    free(middle.data);
    return end;
}

static bool same(const saved *a, const saved *b)
{
    return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

static void expect(const saved *expected, saved found, const char *name, const char *how)
{
    if (!same(expected, &found))
        fail_msg("%s: other bits %s", name, how);
    free(found.data);
}

/* All of the state is compared, contacts and impulses too. Returns the largest number of
 * candidates. */
static int check_same_bits(const char *name, const cairn_world *world,
                           const cairn_step_options *options, int steps)
{
    static const manner manners[] = { { 1, CAIRN_WIDTH_COUNT },    { 2, CAIRN_WIDTH_COUNT },
                                      { 3, CAIRN_WIDTH_COUNT },    { 8, CAIRN_WIDTH_COUNT },
                                      { 1, CAIRN_WIDTH_BASELINE }, { 2, CAIRN_WIDTH_AVX2 } };
    int most = 0;
    char how[64];
    saved start = save(world), end = run_from(&start, *options, manners[0], steps, &most);
    CHECK(!same(&start, &end)); /* something happened */
    for (size_t i = CHECKED; i < sizeof manners / sizeof manners[0]; i += CHECKED ? 2 : 1) {
        snprintf(how, sizeof how, "with %d threads, width %d", manners[i].threads,
                 manners[i].width);
        expect(&end, run_from(&start, *options, manners[i], steps, &most), name, how);
    }
    expect(&end, run_in_two_parts(&start, options, steps), name, "after saving and loading");
    free(start.data);
    free(end.data);
    return most;
}

/* ---- what is run ---------------------------------------------------------------------------- */

TEST(scenes_end_with_the_same_bits)
{
    static const struct {
        const char *name;
        int steps;
    } scenes[] = { { "ball_drop", 100 },
                   { "bouncing_ball", 500 },
                   { "four_balls", 100 },
                   { "column_collapse_2d", 30 },
                   { "newton_cradle", 400 },
                   { "pebble_bed", 100 },
                   { "rotating_drum_2d", 60 },
                   { "shaken_box_2d", 300 },
                   { "stribeck_block", 400 },
                   { "incline_disk_2d", 30 },
                   { "box_of_spheres", 6 },
                   { "chain", 100 },           /* joints */
                   { "gripper", 200 },         /* motors, limits */
                   { "slider_crank_2d", 200 }, /* dry friction in joints */
                   { "box_stack", 60 },        /* boxes */
                   { "hook", 300 },            /* a mesh */
                   { "superellipsoid_drum", 5 },
                   { "arch_2d", 60 },            /* polygons */
                   { "pebbles_on_a_belt", 300 }, /* rolling, spinning, a belt */
                   { "rolling_heap_2d", 200 },
                   { "ball_mill", 100 },         /* a group driven as one, impacts */
                   { "periodic/chains", 120 } }; /* joints through faces, inlets */
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        char file[512];
        cairn_scene *scene = NULL;
        snprintf(file, sizeof file, CAIRN_SOURCE_DIR "/scenes/%s.yaml", scenes[i].name);
        CHECK_OK(cairn_scene_load(file, NULL, 0, &scene, NULL));
        check_same_bits(scenes[i].name, scene->world, &scene->step,
                        CHECKED ? 1 + scenes[i].steps / 4 : scenes[i].steps);
        cairn_scene_destroy(scene);
    }
}

static void check_scene(const char *text, const char *override, int steps)
{
    cairn_scene *scene = scene_text_good(text, override);
    check_same_bits(override, scene->world, &scene->step, steps);
    cairn_scene_destroy(scene);
}

TEST(every_scheme_ends_with_the_same_bits)
{
    char override[64];
    for (int i = 0; cairn_scheme_name(i); i++) {
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        check_scene(scene_3d, override, CHECKED ? 15 : 60);
    }
}

/* Joints of ten kinds; shapes of every kind with rolling, adhesion and a belt. */
TEST(machines_and_shapes_end_with_the_same_bits)
{
    const int steps = CHECKED ? 15 : 50;
    check_scene(scene_machine, "run.scheme=coulomb", steps);
    check_scene(scene_machine, "run.scheme=convex", steps);
    check_scene(scene_shapes, "run.scheme=coulomb", steps);
    check_scene(scene_shapes, "run.scheme=convex", steps);
}

/* SIDE^3 spheres in touch on a floor. */
static cairn_world *cube(int side)
{
    cairn_world *world = world_create(3);
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), (cairn_vec3){ 0, 0, 0 });
    for (int i = 0; i < side * side * side; i++)
        add_sphere(world, 0.1,
                   (cairn_vec3){ 0.2 * (i % side), 0.2 * (i / side % side),
                                 0.1 + 0.2 * (i / side / side) });
    return world;
}

/* 117 contacts, each solver that treats the convex law of circular cones. */
TEST(every_solver_ends_with_the_same_bits)
{
    int solved = 0;
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-3;
    options.tolerance = 1e-6;
    options.scheme = "convex";
    for (int i = 0; cairn_solver_name(i); i++) {
        cairn_world *world = cube(3);
        options.solver = cairn_solver_name(i);
        if (cairn_world_step_check(world, &options, NULL) == CAIRN_OK) {
            check_same_bits(options.solver, world, &options, 4);
            solved++;
        }
        cairn_world_destroy(world);
    }
    CHECK(solved >= 12);
}

/* 4913 spheres in touch: 14161 candidates, four pieces of parallel work in the narrow phase (4096
 * pairs each), the least for which threads are woken, and more in products and judge. */
TEST(loops_that_are_cut_into_pieces_give_the_same_bits)
{
    static const char *const solvers[] = { "auto", "ngs",      "pgs",    "apgd",
                                           "pgd",  "apgd-asr", "apgd-d", "spg" };
    cairn_world *world = cube(17);
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-3;
    options.tolerance = 1e-1;
    options.max_iterations = 5;
    options.scheme = "convex";
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i += CHECKED ? 2 : 1) {
        options.solver = solvers[i];
        CHECK(check_same_bits(solvers[i], world, &options, 2) > 3 * 4096);
    }
    cairn_world_destroy(world);
}

GROUP(test_determinism)
{
    RUN(CASE(scenes_end_with_the_same_bits), CASE(every_scheme_ends_with_the_same_bits),
        CASE(machines_and_shapes_end_with_the_same_bits),
        CASE(every_solver_ends_with_the_same_bits),
        CASE(loops_that_are_cut_into_pieces_give_the_same_bits));
}

/* ==== test_depth: how many functions there are from cairn_world_step to the first multiply of a
 * sweep: as many as stand on the stack of the optimised build, both ends counted.
 *
 * The linker puts the kernels of this file in place of those of the host (tests/CMakeLists.txt).
 * While this test runs they count, and do what those do. */

enum { MOST_FRAMES = 128, MOST_FUNCTIONS = 13 };

static const cairn_batch_kernels_f32 *kernels;
static int depth_of_sweep, depth_of_test;
static bool counted;

/* Frames on the stack, the caller's among them. */
__attribute__((noinline)) static int frames(void)
{
    void *at[MOST_FRAMES];
    return backtrace(at, MOST_FRAMES) - 1;
}

static void counting_sweep(const cairn_pass_f32 *job, int begin, int end, cairn_sweep *out)
{
    if (depth_of_sweep == 0)
        depth_of_sweep = frames();
    kernels->sweep(job, begin, end, out);
}

const cairn_batch_kernels_f32 *__real_cairn_batch_kernels_f32_of(cairn_width width);
const cairn_batch_kernels_f32 *__wrap_cairn_batch_kernels_f32_of(cairn_width width);

const cairn_batch_kernels_f32 *__wrap_cairn_batch_kernels_f32_of(cairn_width width)
{
    static cairn_batch_kernels_f32 counting;
    kernels = __real_cairn_batch_kernels_f32_of(width);
    counting = *kernels;
    counting.sweep = counting_sweep;
    return counted ? &counting : kernels;
}

/* 216 balls in a cube, each 1e-4 m from six others, above a floor. */
static cairn_world *new_cube(void)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    for (int k = 0; k < 216; k++)
        add_ball(world, 0.05,
                 (cairn_vec3){ 0.1001 * (k % 6), 0.1001 * (k / 6 % 6), 0.0501 + 0.1001 * (k / 36) },
                 (cairn_vec3){ 0.1, 0, -0.5 });
    return world;
}

TEST(from_a_step_to_the_first_multiply_are_at_most_13_functions)
{
    const char *type = getenv("CAIRN_BUILD_TYPE"), *sanitised = getenv("CAIRN_SANITIZE");
    cairn_world *world = new_cube();
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-3;
    depth_of_test = frames();
    counted = true;
    CHECK_OK(cairn_world_step(world, &options, NULL));
    counted = false;
    cairn_world_destroy(world);
    CHECK(depth_of_sweep > depth_of_test);
    int functions = depth_of_sweep - depth_of_test;
    print_message("%d functions\n", functions);
    CHECK(functions > 5); /* one that counts nothing cannot pass */
    if (type && strcmp(type, "Release") == 0 && !(sanitised && strcmp(sanitised, "ON") == 0))
        CHECK(functions <= MOST_FUNCTIONS);
}

GROUP(test_depth)
{
    RUN(CASE(from_a_step_to_the_first_multiply_are_at_most_13_functions));
}

/* ==== test_directory: rows by uid, while bodies come and go =================================== */

/* 1,000 rounds of one that comes and one that goes, beside a plain list. */
TEST(each_uid_is_found_where_it_was_written_down)
{
    enum { UIDS = 3000 };
    static int row[UIDS]; /* row + 1; 0: not there */
    cairn_directory d = { 0 };
    uint64_t state = 7;
    CHECK_INT(cairn_directory_find(&d, 5), -1);
    CHECK_OK(cairn_directory_reserve(&d, UIDS));
    for (int k = 0; k < 20000; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int uid = (int)(state >> 33) % UIDS;
        if (row[uid]) {
            cairn_directory_remove(&d, (uint64_t)uid);
            row[uid] = 0;
        } else {
            cairn_directory_set(&d, (uint64_t)uid, k);
            row[uid] = k + 1;
        }
    }
    size_t count = 0;
    for (int uid = 0; uid < UIDS; uid++) {
        CHECK_INT(cairn_directory_find(&d, (uint64_t)uid), row[uid] - 1);
        count += row[uid] != 0;
    }
    CHECK_INT(d.count, count);
    cairn_directory_release(&d);
}

TEST(it_grows_and_forgets_nobody)
{
    cairn_directory d = { 0 };
    for (int k = 0; k < 1000; k++) {
        CHECK_OK(cairn_directory_reserve(&d, (size_t)k + 1));
        cairn_directory_set(&d, (uint64_t)k << 40, k);
    }
    for (int k = 0; k < 1000; k++)
        CHECK_INT(cairn_directory_find(&d, (uint64_t)k << 40), k);
    cairn_directory_release(&d);
}

GROUP(test_directory)
{
    RUN(CASE(each_uid_is_found_where_it_was_written_down), CASE(it_grows_and_forgets_nobody));
}
