/* test_bodies.c - bodies and their shapes. */
#include <string.h>

#include "cairn/joint.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
#include "world/store.h"
#include "world/world.h"

/* ==== test_bodies: making and removing bodies: refusals, mass, ids, holes ===================== */

static cairn_body_def good(int dimension)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, dimension);
    def.shape.radius = 0.5;
    return def;
}

static void check_refused(int dimension, const cairn_body_def *def, cairn_status status,
                          const char *key, const char *piece)
{
    cairn_world *world = world_create(dimension);
    cairn_body_id id = { 77 };
    add_sphere(world, 1, cairn_vec(3, 0, 0));
    uint64_t hash = cairn_world_hash(world);
    CHECK_INT(cairn_body_create(world, def, &id), status);
    CHECK_TEXT(cairn_world_error(world)->key, key);
    CHECK_CONTAINS(cairn_world_error(world)->message, piece);
    CHECK_INT(id.uid, 77);
    CHECK_INT(cairn_world_bodies(world).count, 1);
    CHECK(cairn_world_hash(world) == hash);
    add_sphere(world, 1, cairn_vec(0, 0, 0)); /* and the world goes on */
    CHECK_TEXT(cairn_world_error(world)->message, "");
    cairn_world_destroy(world);
}

/* ---- refusals ------------------------------------------------------------------------------- */

TEST(impossible_shapes_are_refused)
{
    cairn_body_def def = cairn_body_def_default(); /* no radius */
    check_refused(3, &def, CAIRN_BAD_INPUT, "radius", "found 0, expected a number > 0");
    def = good(3);
    def.shape.radius = -1;
    check_refused(3, &def, CAIRN_BAD_INPUT, "radius", "found -1");
    def.shape.kind = (cairn_shape_kind)99;
    check_refused(3, &def, CAIRN_BAD_INPUT, "shape", "99");
    def = good(3);
    def.shape.kind = CAIRN_SHAPE_HALF_SPACE;
    check_refused(3, &def, CAIRN_BAD_INPUT, "motion", "half_space cannot be dynamic");
}

TEST(numbers_that_are_none_are_refused)
{
    cairn_body_def def = good(3);
    def.position.y = NAN;
    check_refused(3, &def, CAIRN_NOT_FINITE, "position", "nan");
    def = good(3);
    def.position.x = INFINITY;
    check_refused(3, &def, CAIRN_NOT_FINITE, "position", "inf");
    def = good(3);
    def.velocity.z = NAN;
    check_refused(3, &def, CAIRN_NOT_FINITE, "velocity", "nan");
    def = good(3);
    def.angular_velocity.x = NAN;
    check_refused(3, &def, CAIRN_NOT_FINITE, "angular_velocity", "nan");
    def = good(2);
    def.angle = NAN;
    check_refused(2, &def, CAIRN_NOT_FINITE, "angle", "nan");
    def = good(3);
    def.orientation.x = NAN;
    check_refused(3, &def, CAIRN_BAD_INPUT, "orientation", "nan");
    def = good(3);
    def.mass = NAN;
    check_refused(3, &def, CAIRN_NOT_FINITE, "mass", "nan");
}

TEST(an_orientation_has_length_1)
{
    cairn_body_def def = good(3);
    def.orientation = (cairn_quat){ 1, 1, 0, 0 };
    check_refused(3, &def, CAIRN_BAD_INPUT, "orientation", "length 1.41421, expected 1");
    def.orientation = (cairn_quat){ 0, 0, 0, 0 };
    check_refused(3, &def, CAIRN_BAD_INPUT, "orientation", "length 0");
}

TEST(in_2d_nothing_leaves_the_plane)
{
    cairn_body_def def = good(2);
    def.position.z = 0.1;
    check_refused(2, &def, CAIRN_BAD_INPUT, "position", "in 2D z must be 0");
    def = good(2);
    def.velocity.z = 0.1;
    check_refused(2, &def, CAIRN_BAD_INPUT, "velocity", "in 2D z must be 0");
    def = good(2);
    def.angular_velocity.x = 1;
    check_refused(2, &def, CAIRN_BAD_INPUT, "angular_velocity", "only the z component");
}

TEST(masses_and_moments_must_be_possible)
{
    cairn_body_def def = good(3);
    def.mass = -1;
    check_refused(3, &def, CAIRN_BAD_INPUT, "mass", "found -1");
    def = good(3);
    def.density = 0;
    check_refused(3, &def, CAIRN_BAD_INPUT, "density", "found 0");
    def = good(3);
    def.inertia = cairn_vec(1, 1, -1);
    check_refused(3, &def, CAIRN_BAD_INPUT, "inertia", "found -1");
    def.inertia = cairn_vec(1, 1, 0);
    check_refused(3, &def, CAIRN_BAD_INPUT, "inertia", "three numbers > 0");
    def.inertia = cairn_vec(1, 1, 2.1); /* a thin plate has 1, 1, 2 */
    check_refused(3, &def, CAIRN_BAD_INPUT, "inertia", "exceeds the sum of the others");
    def = good(3);
    def.shape.kind = CAIRN_SHAPE_POINT;
    check_refused(3, &def, CAIRN_BAD_INPUT, "mass", "found 0, expected a mass > 0");
}

TEST(only_the_right_motion_has_drivers_loads_and_a_velocity)
{
    const cairn_driver driver = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    const cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = good(3);
    def.drivers = &driver;
    def.driver_count = 1;
    check_refused(3, &def, CAIRN_BAD_INPUT, "drivers", "only a driven body");
    def.motion = CAIRN_MOTION_FIXED;
    check_refused(3, &def, CAIRN_BAD_INPUT, "drivers", "only a driven body");
    def = good(3);
    def.loads = &load;
    def.load_count = 1;
    def.motion = CAIRN_MOTION_DRIVEN;
    check_refused(3, &def, CAIRN_BAD_INPUT, "loads", "only a dynamic body");
    def = good(3);
    def.motion = CAIRN_MOTION_FIXED;
    def.velocity.x = 1;
    check_refused(3, &def, CAIRN_BAD_INPUT, "velocity", "only a dynamic body");
    def.velocity.x = 0;
    def.angular_velocity.z = 1;
    check_refused(3, &def, CAIRN_BAD_INPUT, "velocity", "only a dynamic body");
    def = good(3);
    def.motion = CAIRN_MOTION_COUNT;
    check_refused(3, &def, CAIRN_BAD_INPUT, "motion", "unknown motion 3");
}

TEST(materials_must_exist)
{
    cairn_body_def def = good(3);
    def.material = 1;
    check_refused(3, &def, CAIRN_BAD_INPUT, "material", "no material 1");
    def.material = -1;
    check_refused(3, &def, CAIRN_BAD_INPUT, "material", "no material -1");
}

/* The second driver is bad: the first must not stay behind. */
TEST(a_body_with_one_bad_driver_is_not_made_at_all)
{
    cairn_driver drivers[2] = { cairn_driver_default(CAIRN_DRIVER_VELOCITY),
                                cairn_driver_default(CAIRN_DRIVER_SHAKE) };
    drivers[1].frequency = -1;
    cairn_body_def def = good(3);
    def.motion = CAIRN_MOTION_DRIVEN;
    def.drivers = drivers;
    def.driver_count = 2;
    check_refused(3, &def, CAIRN_BAD_INPUT, "frequency", "found -1");
    cairn_world *world = world_create(3);
    CHECK_INT(cairn_body_create(world, &def, NULL), CAIRN_BAD_INPUT);
    CHECK_INT(world->driven.count, 0);
    cairn_world_destroy(world);
}

/* ---- mass ----------------------------------------------------------------------------------- */

static void make(int dimension, const cairn_body_def *def, double *mass, cairn_vec3 *inertia)
{
    cairn_world *world = world_create(dimension);
    cairn_body_id id;
    CHECK_OK(cairn_body_create(world, def, &id));
    *mass = cairn_world_bodies(world).mass[cairn_body_row(world, id)];
    *inertia = cairn_world_bodies(world).inertia[cairn_body_row(world, id)];
    cairn_world_destroy(world);
}

/* r = 0.5: V = pi/6 m^3; J = 0.1 m */
TEST(mass_follows_from_the_density_or_is_given)
{
    cairn_body_def def = good(3);
    cairn_vec3 inertia;
    double mass;
    def.density = 600;
    make(3, &def, &mass, &inertia);
    CHECK_CLOSE(mass, 100 * M_PI, 1e-14);
    CHECK_CLOSE(inertia.y, 10 * M_PI, 1e-14);
    def.mass = 7; /* the moments follow */
    make(3, &def, &mass, &inertia);
    CHECK_CLOSE(mass, 7, 0);
    CHECK_CLOSE(inertia.x, 0.7, 1e-14);
    def.inertia = cairn_vec(1, 2, 3);
    make(3, &def, &mass, &inertia);
    CHECK_CLOSE(mass, 7, 0);
    CHECK_CLOSE(inertia.x, 1, 0);
    CHECK_CLOSE(inertia.z, 3, 0);
}

/* r = 0.5: A = pi/4 m^2; J = m/8 */
TEST(mass_of_disks)
{
    cairn_body_def def = good(2);
    cairn_vec3 inertia;
    double mass;
    def.density = 4;
    make(2, &def, &mass, &inertia);
    CHECK_CLOSE(mass, M_PI, 1e-14);
    CHECK_CLOSE(inertia.z, M_PI / 8, 1e-14);
    CHECK_NEAR(inertia.x, 0, 0);
    def.inertia.z = 5;
    make(2, &def, &mass, &inertia);
    CHECK_CLOSE(mass, M_PI, 1e-14);
    CHECK_CLOSE(inertia.z, 5, 0);
}

TEST(a_point_with_a_mass_has_no_moment)
{
    cairn_body_def def = good(3);
    cairn_vec3 inertia;
    double mass;
    def.shape = cairn_shape_default(CAIRN_SHAPE_POINT, 3);
    def.mass = 2;
    make(3, &def, &mass, &inertia);
    CHECK_CLOSE(mass, 2, 0);
    CHECK_NEAR(cairn_norm(inertia), 0, 0);
}

TEST(fixed_and_driven_bodies_need_no_mass)
{
    cairn_body_def def = good(3);
    cairn_vec3 inertia;
    double mass;
    def.motion = CAIRN_MOTION_FIXED;
    make(3, &def, &mass, &inertia);
    CHECK_NEAR(mass, 0, 0);
    def.motion = CAIRN_MOTION_DRIVEN;
    make(3, &def, &mass, &inertia);
    CHECK_NEAR(mass, 0, 0);
}

/* ---- ids ------------------------------------------------------------------------------------ */

TEST(bodies_are_numbered_from_0_and_keep_what_they_were_given)
{
    cairn_world *world = world_create(3);
    cairn_body_def def = good(3);
    cairn_body_id id;
    def.position = cairn_vec(1, 2, 3);
    def.velocity = cairn_vec(4, 5, 6);
    def.angular_velocity = cairn_vec(7, 8, 9);
    def.orientation = (cairn_quat){ 0.5 + 1e-8, -0.5, 0.5, -0.5 };
    for (int i = 0; i < 100; i++) {
        CHECK_OK(cairn_body_create(world, &def, &id));
        CHECK_INT(id.uid, i);
        CHECK_INT(cairn_body_row(world, id), i);
    }
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 100);
    CHECK_INT(b.uid[99], 99);
    CHECK_INT(b.motion[99], CAIRN_MOTION_DYNAMIC);
    CHECK_INT(b.material[99], 0);
    CHECK_NEAR(cairn_bodies_shape(&b, 99)->radius, 0.5, 0);
    CHECK_NEAR(b.x[99].z, 3, 0);
    CHECK_NEAR(b.v[99].y, 5, 0);
    CHECK_NEAR(b.omega[99].x, 7, 0);
    cairn_quat q = b.q[99]; /* made exactly a unit quaternion */
    CHECK_NEAR(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-15);
    cairn_world_destroy(world);
}

TEST(in_2d_the_angle_makes_the_quaternion)
{
    cairn_world *world = world_create(2);
    cairn_body_def def = good(2);
    cairn_body_id id;
    def.angle = M_PI / 3;
    def.orientation = (cairn_quat){ 0, 0, 0, 0 }; /* does not count in 2D */
    CHECK_OK(cairn_body_create(world, &def, &id));
    CHECK_NEAR(cairn_world_bodies(world).angle[0], M_PI / 3, 0);
    CHECK_NEAR(cairn_world_bodies(world).q[0].w, sqrt(0.75), 1e-15);
    CHECK_NEAR(cairn_world_bodies(world).q[0].z, 0.5, 1e-15);
    cairn_world_destroy(world);
}

/* Who goes is replaced by the last one, and nobody ever gets his uid. */
TEST(rows_have_no_holes_and_uids_are_given_once)
{
    cairn_world *world = world_create(3);
    cairn_body_id id[4];
    for (int i = 0; i < 4; i++)
        id[i] = add_sphere(world, 0.1, cairn_vec(i, 0, 0));
    CHECK_OK(cairn_body_destroy(world, id[1]));
    CHECK_INT(cairn_world_bodies(world).count, 3);
    CHECK_INT(cairn_body_row(world, id[1]), -1);
    CHECK_INT(cairn_body_row(world, id[3]), 1);
    CHECK_INT(cairn_world_bodies(world).uid[1], 3);
    CHECK_NEAR(cairn_world_bodies(world).x[1].x, 3, 0);
    cairn_body_id young = add_sphere(world, 0.1, cairn_vec(8, 0, 0));
    CHECK_INT(young.uid, 4);
    CHECK_INT(cairn_body_row(world, young), 3);
    CHECK_INT(cairn_body_destroy(world, id[1]), CAIRN_NOT_FOUND); /* the old one is gone */
    CHECK_OK(cairn_body_destroy(world, young));
    CHECK_INT(cairn_body_destroy(world, young), CAIRN_NOT_FOUND);
    cairn_world_destroy(world);
}

/* Rows of each motion in turn, whatever the order in which bodies come and go. */
TEST(what_is_held_stands_before_what_is_dynamic)
{
    cairn_world *world = world_create(3);
    cairn_shape ground = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    cairn_body_id ball[3], wall[3];
    for (int i = 0; i < 3; i++) {
        ball[i] = add_sphere(world, 0.1, cairn_vec(i, 0, 0));
        wall[i] = add_wall(world, ground, cairn_vec(0, 0, -i));
    }
    CHECK_INT(cairn_world_bodies(world).held, 3);
    CHECK_OK(cairn_body_destroy(world, wall[0]));
    CHECK_OK(cairn_body_destroy(world, ball[2]));
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 4);
    CHECK_INT(b.held, 2);
    for (int i = 0; i < b.count; i++) {
        CHECK_INT(b.motion[i], i < 2 ? CAIRN_MOTION_FIXED : CAIRN_MOTION_DYNAMIC);
        CHECK_INT(cairn_body_row(world, (cairn_body_id){ b.uid[i] }), i);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(b.x[cairn_body_row(world, ball[i])].x, i, 0);
        CHECK_NEAR(b.x[cairn_body_row(world, wall[1 + i])].z, -1 - i, 0);
    }
    cairn_world_destroy(world);
}

/* The problem of the last step speaks of rows that are others now. */
TEST(the_last_problem_goes_when_a_held_body_takes_a_row)
{
    cairn_world *world = world_create(3);
    cairn_step_options options = cairn_step_options_default();
    options.time_step = 1e-3;
    for (int i = 0; i < 3; i++)
        add_sphere(world, 0.1, cairn_vec(i, 0, 0));
    CHECK_OK(cairn_world_step(world, &options, NULL));
    CHECK(cairn_world_problem(world, NULL) != NULL);
    add_sphere(world, 0.1, cairn_vec(5, 0, 0)); /* after all the others */
    CHECK(cairn_world_problem(world, NULL) != NULL);
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), cairn_vec(0, 0, -9));
    CHECK(cairn_world_problem(world, NULL) == NULL);
    cairn_world_destroy(world);
}

TEST(ids_that_never_were_are_not_found)
{
    cairn_world *world = world_create(3);
    add_sphere(world, 0.1, cairn_vec(0, 0, 0));
    CHECK_INT(cairn_body_destroy(world, (cairn_body_id){ 1 }), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_body_destroy(world, cairn_body_none()), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_body_row(world, (cairn_body_id){ 1 }), -1);
    CHECK_INT(cairn_body_row(world, (cairn_body_id){ 0 }), 0);
    cairn_world_destroy(world);
}

TEST(a_removed_body_takes_its_drivers_and_loads_along)
{
    cairn_world *world = world_create(3);
    const cairn_driver driver = cairn_driver_default(CAIRN_DRIVER_VELOCITY);
    const cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_id driven[2], loaded[2];
    for (int i = 0; i < 2; i++) {
        cairn_body_def def = good(3);
        def.loads = &load;
        def.load_count = 1;
        CHECK_OK(cairn_body_create(world, &def, &loaded[i]));
        def = good(3);
        def.motion = CAIRN_MOTION_DRIVEN;
        def.drivers = &driver;
        def.driver_count = 1;
        CHECK_OK(cairn_body_create(world, &def, &driven[i]));
    }
    CHECK_OK(cairn_body_destroy(world, driven[0]));
    CHECK_OK(cairn_body_destroy(world, loaded[1]));
    CHECK_INT(world->driven.count, 1);
    CHECK_INT(world->driven.items[0].uid, driven[1].uid);
    CHECK_INT(world->loaded.count, 1);
    CHECK_INT(world->loaded.items[0].uid, loaded[0].uid);
    cairn_world_destroy(world);
}

/* ---- warm start ----------------------------------------------------------------------------- */

static void step(cairn_world *world)
{
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = 1e-3;
    options.tolerance = 1e-2; /* loose, so that the start shows in the answer */
    options.solver = "pgs";
    options.threads = 1;
    CHECK_OK(cairn_world_step(world, &options, &report));
}

/* Three disks on a floor: two side by side, the third, ten times as heavy, on top. */
static cairn_world *pile(void)
{
    cairn_world *world = world_create(2);
    const double x[3] = { -0.5, 0.5, 0 }, y[3] = { 0.5, 0.5, 0.5 + sqrt(0.75) };
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2), cairn_vec(0, 0, 0));
    for (int i = 0; i < 3; i++) {
        cairn_body_def def = good(2);
        def.position = cairn_vec(x[i], y[i], 0);
        def.mass = i == 2 ? 10 : 1;
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    return world;
}

/* Replace the disks of a world by equal ones. */
static void replace(cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    cairn_body_def def[4];
    for (int i = 1; i < 4; i++) {
        def[i] = good(2);
        def[i].position = b.x[i];
        def[i].angle = b.angle[i];
        def[i].velocity = b.v[i];
        def[i].angular_velocity = b.omega[i];
        def[i].mass = b.mass[i];
    }
    for (int i = 3; i > 0; i--)
        CHECK_OK(cairn_body_destroy(world, (cairn_body_id){ b.uid[i] }));
    for (int i = 1; i < 4; i++)
        CHECK_OK(cairn_body_create(world, &def[i], NULL));
}

/* Whether the bodies of two worlds are in the same state, row by row, whoever they are. */
static bool are_alike(const cairn_world *one, const cairn_world *other)
{
    cairn_bodies a = cairn_world_bodies(one), b = cairn_world_bodies(other);
    size_t count = (size_t)a.count;
    return a.count == b.count && memcmp(a.x, b.x, count * sizeof *a.x) == 0 &&
           memcmp(a.v, b.v, count * sizeof *a.v) == 0 &&
           memcmp(a.omega, b.omega, count * sizeof *a.omega) == 0;
}

/* A successor starts like a body without a past: as in a world that never knew the impulses. */
TEST(a_removed_body_leaves_no_warm_start_to_its_successor)
{
    cairn_world *kept = pile(), *replaced = pile(), *forgetful = pile();
    cairn_world *worlds[3] = { kept, replaced, forgetful };
    for (int i = 0; i < 3; i++)
        step(worlds[i]);
    CHECK(cairn_world_hash(kept) == cairn_world_hash(replaced));
    replace(replaced);
    CHECK(cairn_world_hash(kept) != cairn_world_hash(replaced)); /* others, */
    CHECK(are_alike(kept, replaced));                            /* where these were */
    forgetful->contacts.count = 0;
    for (int i = 0; i < 3; i++)
        step(worlds[i]);
    CHECK(are_alike(replaced, forgetful));
    CHECK(!are_alike(replaced, kept)); /* else this proves nothing */
    for (int i = 0; i < 3; i++)
        cairn_world_destroy(worlds[i]);
}

TEST(motions_have_names)
{
    CHECK_TEXT(cairn_motion_name(CAIRN_MOTION_DYNAMIC), "dynamic");
    CHECK_TEXT(cairn_motion_name(CAIRN_MOTION_FIXED), "fixed");
    CHECK_TEXT(cairn_motion_name(CAIRN_MOTION_DRIVEN), "driven");
    CHECK(cairn_motion_name(CAIRN_MOTION_COUNT) == NULL);
    CHECK(cairn_motion_name(-1) == NULL);
}

TEST(the_default_body_is_dynamic_of_1000_kg_m3_at_rest)
{
    cairn_body_def def;
    cairn_body_record()->set_default(&def);
    CHECK_INT(def.motion, CAIRN_MOTION_DYNAMIC);
    CHECK_NEAR(def.density, 1000, 0);
    CHECK_NEAR(def.orientation.w, 1, 0);
    CHECK_NEAR(cairn_norm(def.velocity) + cairn_norm(def.position) + def.mass, 0, 0);
    def.mass = 1; /* 0, none given, is no mass of the table */
    CHECK_OK(cairn_record_check(cairn_body_record(), &def, NULL));
    def.mass = 0;
    CHECK_INT(cairn_record_check(cairn_body_record(), &def, NULL), CAIRN_BAD_INPUT);
}

/* Without a mass a ball has 4/3 pi r^3 rho; a negative one is refused. */
TEST(a_mass_of_0_in_a_definition_is_that_of_shape_and_density)
{
    cairn_world *world = world_create(3);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    def.shape.radius = 0.5;
    CHECK_OK(cairn_body_create(world, &def, &id));
    CHECK_NEAR(cairn_world_bodies(world).mass[0], 1000 * M_PI / 6, 1e-9);
    def.mass = -1;
    CHECK_INT(cairn_body_create(world, &def, &id), CAIRN_BAD_INPUT);
    cairn_world_destroy(world);
}

/* ---- the frame of a body -------------------------------------------------------------------- */

/* Balls of radius 0.1 (equal mass) at x = 0 and x = 1 of the shape, and one at x = 2, y = 1. */
static cairn_shape three_balls(void)
{
    static const cairn_vec3 places[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 2, 1, 0 } };
    cairn_part parts[3] = { 0 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < 3; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        parts[k].shape.radius = 0.1;
        parts[k].pose = (cairn_pose){ places[k], { 1, 0, 0, 0 } };
    }
    CHECK_OK(cairn_compound_create(parts, 3, 3, &shape.geometry, NULL));
    return shape;
}

/* x is the centre of mass (1, 1/3, 0) of the shape, while the shape stands where it was put */
TEST(a_dynamic_body_moves_about_its_centre_of_mass)
{
    cairn_world *world = world_create(3);
    cairn_body_def def = cairn_body_def_default();
    def.shape = three_balls();
    def.position = (cairn_vec3){ 5, 6, 7 };
    def.orientation = cairn_quat_exp(cairn_vec(0, 0, M_PI / 2)); /* x to y, y to -x */
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_geometry_release(def.shape.geometry);
    const cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.x[0].x, 5 - 1.0 / 3, 1e-12);
    CHECK_NEAR(b.x[0].y, 6 + 1, 1e-12);
    CHECK_NEAR(b.x[0].z, 7, 1e-12);
    cairn_pose shape = cairn_bodies_shape_pose(&b, 0);
    CHECK_NEAR(cairn_norm(cairn_sub(shape.x, def.position)), 0, 1e-12);
    cairn_quat off = cairn_quat_multiply(cairn_quat_conjugate(def.orientation), shape.q);
    CHECK_NEAR(cairn_norm(cairn_quat_log(off)), 0, 1e-12);
    cairn_world_destroy(world);
}

/* moments about principal axes: sum and product of the two in the plane follow from the tensor */
TEST(the_axes_of_a_dynamic_body_are_principal)
{
    cairn_world *world = world_create(3);
    cairn_body_def def = cairn_body_def_default();
    cairn_mass mass;
    def.shape = three_balls();
    def.density = 1;
    def.angular_velocity = (cairn_vec3){ 1, 2, 3 };
    CHECK_OK(cairn_shape_mass_tensor(&def.shape, 3, &mass));
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_geometry_release(def.shape.geometry);
    const cairn_bodies b = cairn_world_bodies(world);
    cairn_vec3 j = b.inertia[0], spin = b.omega[0];
    CHECK_CLOSE(j.x + j.y + j.z, mass.inertia.xx + mass.inertia.yy + mass.inertia.zz, 1e-12);
    /* the energy of the turning as the tensor has it about the shape's axes */
    cairn_symmetric t = mass.inertia;
    double twice = t.xx + 4 * t.yy + 9 * t.zz + 2 * (2 * t.xy + 6 * t.yz + 3 * t.zx);
    CHECK_CLOSE(cairn_dot(spin, cairn_times(j, spin)), twice, 1e-12);
    CHECK(fabs(t.xy) > 0.1 * t.xx); /* the shape's own axes are not principal */
    cairn_world_destroy(world);
}

/* fixed and driven bodies keep the shape's frame, and so do given moments */
TEST(without_a_principal_frame_the_axes_are_those_of_the_shape)
{
    cairn_world *world = world_create(3);
    cairn_body_def def = cairn_body_def_default();
    def.shape = three_balls();
    def.motion = CAIRN_MOTION_FIXED;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    def.motion = CAIRN_MOTION_DYNAMIC;
    def.inertia = (cairn_vec3){ 1, 1, 1 };
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_geometry_release(def.shape.geometry);
    const cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(cairn_norm(b.x[0]), 0, 0);
    CHECK_NEAR(b.x[1].x, 1, 1e-12);
    CHECK_NEAR(b.q[1].w, 1, 1e-15);
    CHECK_NEAR(cairn_norm(cairn_bodies_shape_pose(&b, 1).x), 0, 1e-12);
    cairn_world_destroy(world);
}

TEST(room_that_was_made_is_there)
{
    cairn_world *world = world_create(3);
    CHECK_OK(cairn_world_reserve(world, 1000));
    const cairn_vec3 *before = cairn_world_bodies(world).x;
    for (int i = 0; i < 1000; i++)
        add_sphere(world, 0.1, (cairn_vec3){ i, 0, 0 });
    CHECK(cairn_world_bodies(world).x == before);
    CHECK_INT(cairn_world_reserve(world, INT64_MAX), CAIRN_NO_MEMORY);
    CHECK_INT(cairn_world_reserve(world, -1), CAIRN_NO_MEMORY);
    CHECK_INT(cairn_world_bodies(world).count, 1000);
    cairn_world_destroy(world);
}

GROUP(test_bodies)
{
    RUN(CASE(room_that_was_made_is_there), CASE(impossible_shapes_are_refused),
        CASE(numbers_that_are_none_are_refused), CASE(an_orientation_has_length_1),
        CASE(in_2d_nothing_leaves_the_plane), CASE(masses_and_moments_must_be_possible),
        CASE(only_the_right_motion_has_drivers_loads_and_a_velocity), CASE(materials_must_exist),
        CASE(a_body_with_one_bad_driver_is_not_made_at_all),
        CASE(mass_follows_from_the_density_or_is_given), CASE(mass_of_disks),
        CASE(a_point_with_a_mass_has_no_moment), CASE(fixed_and_driven_bodies_need_no_mass),
        CASE(bodies_are_numbered_from_0_and_keep_what_they_were_given),
        CASE(in_2d_the_angle_makes_the_quaternion),
        CASE(rows_have_no_holes_and_uids_are_given_once),
        CASE(what_is_held_stands_before_what_is_dynamic),
        CASE(the_last_problem_goes_when_a_held_body_takes_a_row),
        CASE(ids_that_never_were_are_not_found),
        CASE(a_removed_body_takes_its_drivers_and_loads_along),
        CASE(a_removed_body_leaves_no_warm_start_to_its_successor), CASE(motions_have_names),
        CASE(the_default_body_is_dynamic_of_1000_kg_m3_at_rest),
        CASE(a_mass_of_0_in_a_definition_is_that_of_shape_and_density),
        CASE(a_dynamic_body_moves_about_its_centre_of_mass),
        CASE(the_axes_of_a_dynamic_body_are_principal),
        CASE(without_a_principal_frame_the_axes_are_those_of_the_shape));
}

/* ==== test_shapes: the table of shapes: each once, and free entries used again ================ */

static cairn_shape ball(double radius)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    shape.radius = radius;
    return shape;
}

static int32_t use(cairn_shape_table *table, cairn_shape shape)
{
    CHECK_OK(cairn_shapes_reserve(table, (size_t)table->count + 1));
    return cairn_shapes_use(table, &shape);
}

TEST(equal_shapes_share_an_entry)
{
    cairn_shape_table table = { 0 };
    CHECK_INT(use(&table, ball(1)), 0);
    CHECK_INT(use(&table, ball(2)), 1);
    for (int k = 0; k < 1000; k++)
        CHECK_INT(use(&table, ball(1 + k % 2)), k % 2);
    CHECK_INT(table.count, 2);
    CHECK_INT(table.users[0], 501);
    cairn_shapes_release(&table);
}

TEST(an_entry_that_nobody_uses_is_given_to_the_next_shape)
{
    cairn_shape_table table = { 0 };
    for (int k = 0; k < 100; k++)
        CHECK_INT(use(&table, ball(1 + k)), k);
    cairn_shapes_leave(&table, 40);
    CHECK_INT(use(&table, ball(500)), 40);
    CHECK_INT(use(&table, ball(41)), 100); /* it was not known any more */
    CHECK_INT(use(&table, ball(42)), 41);
    CHECK_NEAR(table.items[40].radius, 500, 0);
    cairn_shapes_release(&table);
}

/* Two of three entries are in use: the other one goes, with its hold on the data. */
TEST(a_table_that_was_filled_by_hand_is_counted)
{
    cairn_shape_table table = { 0 };
    const int32_t ids[3] = { 2, 0, 2 };
    CHECK_OK(cairn_shapes_reserve(&table, 3));
    for (int k = 0; k < 3; k++)
        table.items[k] = ball(1 + k);
    table.count = 3;
    cairn_shapes_count(&table, ids, 3);
    CHECK_INT(table.users[0], 1);
    CHECK_INT(table.users[2], 2);
    CHECK_INT(use(&table, ball(3)), 2);
    CHECK_INT(use(&table, ball(7)), 1);
    cairn_shapes_release(&table);
}

GROUP(test_shapes)
{
    RUN(CASE(equal_shapes_share_an_entry),
        CASE(an_entry_that_nobody_uses_is_given_to_the_next_shape),
        CASE(a_table_that_was_filled_by_hand_is_counted));
}
