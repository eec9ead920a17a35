/* test_inlet.c - inlets, outlets, and the distributions that inlets and generators draw from. */
#include <stdlib.h>

#include "base/common.h"
#include "cairn/generate.h"
#include "cairn/world.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

/* ==== test_inlet: bodies that come in while the world runs: how many, when, where, how large */

#define LIST(...)                                                                                  \
    {                                                                                              \
        (const double[]){ __VA_ARGS__ }, sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)  \
    }

/* No gravity: what comes in keeps its velocity. */
static cairn_world *space(int dimension)
{
    cairn_world *world = world_create(dimension);
    world->gravity = cairn_vec(0, 0, 0);
    return world;
}

/* Balls of radius 0.01 m in a box of 10 m: they never meet. */
static cairn_inlet_def wide(int64_t count, double rate)
{
    cairn_inlet_def def = cairn_inlet_def_default();
    def.count = count;
    def.rate = rate;
    def.size = cairn_vec(10, 10, 10);
    def.radius.value = 0.01;
    return def;
}

static int step(cairn_world *world, double h)
{
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = h;
    options.threads = 1;
    CHECK_OK(cairn_world_step(world, &options, &report));
    return report.entered;
}

/* ---- how many, when ------------------------------------------------------------------------- */

/* After t seconds floor(rate t) + 1 have come: 10 per second in steps of 0.1 s. */
TEST(bodies_come_at_their_rate_until_their_count)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(7, 10);
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_INT(cairn_world_inlet_pending(world), 7);
    CHECK_INT(cairn_world_bodies(world).count, 0);
    for (int k = 1; k <= 10; k++) {
        int before = cairn_world_bodies(world).count, expected = k + 1 < 7 ? k + 1 : 7;
        CHECK_INT(step(world, 0.1), expected - before);
        CHECK_INT(cairn_world_bodies(world).count, expected);
        CHECK_INT(cairn_world_inlet_pending(world), 7 - expected);
    }
    cairn_world_destroy(world);
}

/* 10 per second for 0.3 s: 4 have come; then 20 per second, and the next ones follow at once. */
TEST(a_rate_that_changes_later_counts_on)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(50, 10);
    cairn_function faster = { .kind = CAIRN_FUNCTION_CONSTANT, .value = 20 };
    CHECK_OK(cairn_inlet_create(world, &def));
    for (int k = 0; k < 3; k++)
        step(world, 0.1);
    CHECK_INT(cairn_world_bodies(world).count, 4);
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_RATE, 0, &faster));
    for (int k = 1; k <= 5; k++) {
        CHECK_INT(step(world, 0.1), 2);
        CHECK_INT(cairn_world_bodies(world).count, 4 + 2 * k);
    }
    CHECK_OK(cairn_world_vary(world, CAIRN_VARIED_RATE, 0, &faster));
    CHECK_INT(step(world, 0.1), 2);
    cairn_world_destroy(world);
}

TEST(nothing_comes_before_the_start)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(5, 2);
    def.start = 1;
    CHECK_OK(cairn_inlet_create(world, &def));
    for (int k = 1; k < 8; k++)
        CHECK_INT(step(world, 0.125), 0);
    CHECK_INT(step(world, 0.125), 1); /* t = 1 */
    CHECK_INT(step(world, 0.25), 0);
    CHECK_INT(step(world, 0.25), 1); /* t = 1.5 */
    CHECK_INT(step(world, 2), 3);    /* owed five more, three are left */
    CHECK_INT(step(world, 2), 0);
    cairn_world_destroy(world);
}

TEST(inlets_add_up)
{
    cairn_world *world = space(3);
    cairn_inlet_def slow = wide(3, 1), fast = wide(20, 100);
    fast.seed = 2;
    CHECK_OK(cairn_inlet_create(world, &slow));
    CHECK_OK(cairn_inlet_create(world, &fast));
    CHECK_INT(cairn_world_inlet_pending(world), 23);
    CHECK_INT(step(world, 0.125), 1 + 13);
    CHECK_INT(cairn_world_inlet_pending(world), 9);
    cairn_world_destroy(world);
}

/* ---- what ----------------------------------------------------------------------------------- */

/* r = 0.01 m at 600 kg/m^3: m = 600 * 4/3 pi 1e-6 = 8e-4 pi kg */
TEST(bodies_have_the_velocity_material_and_mass_asked_for)
{
    cairn_world *world = space(3);
    const cairn_material_def material = { .friction = 0.1, .restitution = 0.2 };
    cairn_inlet_def def = wide(2, 1);
    int number;
    CHECK_OK(cairn_material_create(world, &material, &number));
    def.velocity = cairn_vec(1, 2, -3);
    def.material = number;
    def.density = 600;
    def.count = 1;
    CHECK_OK(cairn_inlet_create(world, &def));
    def.mass = 0.5;
    CHECK_OK(cairn_inlet_create(world, &def));
    step(world, 0.1);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 2);
    CHECK_NEAR(b.v[0].y, 2, 0);
    CHECK_NEAR(b.v[0].z, -3, 0);
    CHECK_INT(b.material[0], 1);
    CHECK_CLOSE(b.mass[0], 8e-4 * M_PI, 1e-14);
    CHECK_NEAR(b.mass[1], 0.5, 0);
    CHECK_CLOSE(b.inertia[1].x, 0.4 * 0.5 * 1e-4, 1e-14);
    cairn_world_destroy(world);
}

/* Half of the bodies are four times as large as the others, and wait longer for a place. They
 * must not be drawn again until a small one fits: 200 +- 5 standard errors of 10 bodies. */
TEST(a_large_body_that_waits_stays_large)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(400, 1e9);
    def.size = cairn_vec(0, 0, 0);
    def.velocity = cairn_vec(1, 0, 0);
    def.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    def.radius.values = (cairn_list)LIST(0.01, 0.04);
    CHECK_OK(cairn_inlet_create(world, &def));
    for (int k = 0; k < 3000 && cairn_world_inlet_pending(world) > 0; k++)
        step(world, 0.0123);
    cairn_bodies b = cairn_world_bodies(world);
    int large = 0;
    for (int i = 0; i < b.count; i++)
        large += cairn_bodies_shape(&b, i)->radius > 0.02;
    CHECK_INT(b.count, 400);
    CHECK_NEAR(large, 200, 50);
    cairn_world_destroy(world);
}

TEST(lists_of_radii_are_copied)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(20, 1e9);
    double *values = malloc(2 * sizeof *values), *weights = malloc(2 * sizeof *weights);
    values[0] = 0.01;
    values[1] = 0.02;
    weights[0] = 1;
    weights[1] = 3;
    def.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    def.radius.values = (cairn_list){ values, 2 };
    def.radius.weights = (cairn_list){ weights, 2 };
    CHECK_OK(cairn_inlet_create(world, &def));
    values[0] = values[1] = weights[0] = weights[1] = NAN;
    free(values);
    free(weights);
    CHECK_INT(step(world, 0.1), 20);
    cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < b.count; i++)
        CHECK(cairn_bodies_shape(&b, i)->radius == 0.01 ||
              cairn_bodies_shape(&b, i)->radius == 0.02);
    cairn_world_destroy(world);
}

/* ---- where ---------------------------------------------------------------------------------- */

TEST(bodies_fill_a_box)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(1000, 1e9);
    def.radius.value = 1e-4;
    def.centre = cairn_vec(5, -5, 2);
    def.size = cairn_vec(2, 4, 6);
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_INT(step(world, 0.1), 1000);
    cairn_bodies b = cairn_world_bodies(world);
    cairn_vec3 most = { 0, 0, 0 }, sum = { 0, 0, 0 };
    for (int i = 0; i < 1000; i++) {
        cairn_vec3 d = cairn_sub(b.x[i], def.centre);
        most = cairn_vec(fmax(most.x, fabs(d.x)), fmax(most.y, fabs(d.y)), fmax(most.z, fabs(d.z)));
        sum = cairn_add(sum, d);
    }
    CHECK(most.x <= 1 && most.y <= 2 && most.z <= 3);
    CHECK(most.x > 0.98 && most.y > 1.96 && most.z > 2.94);
    CHECK_NEAR(sum.x / 1000, 0, 5 * 2 / sqrt(12000)); /* standard error: width/sqrt(12 n) */
    CHECK_NEAR(sum.z / 1000, 0, 5 * 6 / sqrt(12000));
    cairn_world_destroy(world);
}

/* Evenly over a disk r^2/R^2 is uniform: mean 1/2. */
TEST(bodies_fill_a_vertical_cylinder_evenly)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(1000, 1e9);
    def.radius.value = 1e-4;
    def.size = cairn_vec(0, 0, 2);
    def.disk_radius = 3;
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_INT(step(world, 0.1), 1000);
    cairn_bodies b = cairn_world_bodies(world);
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        double share = (b.x[i].x * b.x[i].x + b.x[i].y * b.x[i].y) / 9;
        CHECK(share <= 1 + 1e-12);
        CHECK(fabs(b.x[i].z) <= 1);
        sum += share / 1000;
    }
    CHECK_NEAR(sum, 0.5, 5 / sqrt(12000));
    cairn_world_destroy(world);
}

TEST(in_2d_bodies_stay_in_the_plane)
{
    cairn_world *world = space(2);
    cairn_inlet_def def = wide(100, 1e9);
    def.disk_radius = 1; /* ignored */
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_INT(step(world, 0.1), 100);
    double furthest = 0;
    for (int i = 0; i < 100; i++) {
        CHECK_NEAR(cairn_world_bodies(world).x[i].z, 0, 0);
        furthest = fmax(furthest, fabs(cairn_world_bodies(world).x[i].x));
    }
    CHECK(furthest > 4 && furthest <= 5);
    cairn_world_destroy(world);
}

/* As many as fit: about 0.3 of the volume is the most that random trials fill. */
/* Balls of radius 0.01 m for places within 0.1 m, all inside of a cube of triangles, edge 1 m: they
 * touch none of its faces, and there is no room all the same. */
TEST(nothing_comes_into_a_closed_mesh)
{
    static const cairn_vec3 v[8] = { { -0.5, -0.5, -0.5 }, { 0.5, -0.5, -0.5 }, { -0.5, 0.5, -0.5 },
                                     { 0.5, 0.5, -0.5 },   { -0.5, -0.5, 0.5 }, { 0.5, -0.5, 0.5 },
                                     { -0.5, 0.5, 0.5 },   { 0.5, 0.5, 0.5 } };
    static const int32_t corner[36] = { 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5 };
    cairn_world *world = space(3);
    cairn_mesh_def mesh = { v, 8, corner, 12 };
    cairn_body_def cube = cairn_body_def_default();
    cairn_inlet_def def = wide(1, 100);
    cairn_error error;
    cube.shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    CHECK_OK(cairn_mesh_create(&mesh, &cube.shape.geometry, &error));
    CHECK_OK(cairn_body_create(world, &cube, NULL));
    cairn_geometry_release(cube.shape.geometry);
    def.size = cairn_vec(0.1, 0.1, 0.1);
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_INT(step(world, 0.1), 0);
    CHECK_INT(cairn_world_inlet_pending(world), 1);
    cairn_world_destroy(world);
}

TEST(bodies_never_overlap_each_other_or_walls)
{
    cairn_world *world = space(3);
    cairn_shape vessel = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    cairn_inlet_def def = wide(10000, 1e9);
    double depth;
    vessel.radius = 0.5;
    add_wall(world, vessel, cairn_vec(0, 0, 0));
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), cairn_vec(0, 0, 0));
    def.centre = cairn_vec(0, 0, 0.5);
    def.size = cairn_vec(1, 1, 1);
    def.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    def.radius.minimum = 0.04;
    def.radius.maximum = 0.08;
    CHECK_OK(cairn_inlet_create(world, &def));
    for (int k = 0; k < 20; k++)
        step(world, 1e-3);
    CHECK(cairn_world_bodies(world).count > 100);
    CHECK(cairn_world_inlet_pending(world) > 5000); /* it is full */
    CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
    CHECK_NEAR(depth, 0, 0);
    cairn_world_destroy(world);
}

/* Boxes, turned, in 3D and 2D: any orientation, and still nobody overlaps. */
TEST(bodies_of_other_shapes_come_in_turned)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_world *world = space(dimension);
        cairn_inlet_def def = wide(100, 1e9);
        double depth, most = 0;
        def.size = cairn_vec(2, 2, 2);
        def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, dimension);
        def.shape.size = cairn_vec(0.3, 0.1, dimension == 3 ? 0.2 : 0);
        def.radius.value = 0;
        def.turned = true;
        CHECK_OK(cairn_inlet_create(world, &def));
        for (int k = 0; k < 10; k++)
            step(world, 0.1);
        CHECK(cairn_world_bodies(world).count >= (dimension == 3 ? 100 : 20));
        cairn_bodies b = cairn_world_bodies(world);
        for (int i = 0; i < b.count; i++)
            most = fmax(most, fabs(b.q[i].z));
        CHECK(most > 0.9);
        CHECK_NEAR(b.mass[0], dimension == 3 ? 6 : 30, 1e-9); /* density 1000 */
        CHECK_OK(cairn_world_overlap(world, &depth, NULL, NULL));
        CHECK_NEAR(depth, 0, 0);
        cairn_world_destroy(world);
    }
}

/* An ellipsoid of semi-axes 3, 2, 1 in a ball of radius 0.6: a fifth of its size. */
TEST(other_shapes_are_scaled_to_their_radius)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(1, 1);
    def.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
    def.shape.semi_axes = cairn_vec(3, 2, 1);
    def.radius.value = 0.6;
    CHECK_OK(cairn_inlet_create(world, &def));
    step(world, 0.1);
    CHECK_NEAR(cairn_world_bodies(world).shapes[0].semi_axes.y, 0.4, 1e-15);
    CHECK_NEAR(cairn_world_bodies(world).q[0].w, 1, 0); /* not turned */
    cairn_world_destroy(world);
}

/* The caller may let go of the data; the inlet holds it. */
TEST(hulls_are_poured)
{
    meter m = { 0 };
    static const cairn_vec3 corners[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    meter_install(&m);
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(3, 1e9);
    def.radius.value = 0;
    def.shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 3);
    CHECK_OK(cairn_hull_create(corners, 4, 3, &def.shape.geometry, NULL));
    CHECK_OK(cairn_inlet_create(world, &def));
    cairn_geometry_release(def.shape.geometry);
    CHECK_INT(step(world, 0.1), 3);
    CHECK_NEAR(cairn_world_bodies(world).mass[2], 1000.0 / 6, 1e-10);
    cairn_world_destroy(world);
    CHECK_INT(m.alive, 0);
    cairn_allocator_set(NULL);
}

/* Diameter 0.2 m, 0.09 m a step: the third step makes room. */
TEST(a_body_without_a_place_waits)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(4, 1e9);
    def.size = cairn_vec(0, 0, 0);
    def.velocity = cairn_vec(0, 0, -0.9);
    def.radius.value = 0.1;
    CHECK_OK(cairn_inlet_create(world, &def));
    for (int k = 0; k < 12; k++) {
        CHECK_INT(step(world, 0.1), k % 3 == 0);
        CHECK_INT(cairn_world_inlet_pending(world), 4 - (k / 3 + 1));
    }
    cairn_world_destroy(world);
}

TEST(the_seed_decides_where)
{
    cairn_world *worlds[3];
    for (int k = 0; k < 3; k++) {
        cairn_inlet_def def = wide(50, 1e9);
        def.seed = k == 2 ? 99 : 5;
        worlds[k] = space(3);
        CHECK_OK(cairn_inlet_create(worlds[k], &def));
        step(worlds[k], 0.1);
        CHECK_INT(cairn_world_bodies(worlds[k]).count, 50);
    }
    CHECK(cairn_world_hash(worlds[0]) == cairn_world_hash(worlds[1]));
    CHECK(cairn_world_hash(worlds[0]) != cairn_world_hash(worlds[2]));
    for (int k = 0; k < 3; k++)
        cairn_world_destroy(worlds[k]);
}

TEST(bodies_that_come_in_follow_the_others)
{
    cairn_world *world = space(3);
    cairn_body_id id = add_sphere(world, 0.01, cairn_vec(100, 0, 0));
    add_sphere(world, 0.01, cairn_vec(101, 0, 0));
    CHECK_OK(cairn_body_destroy(world, id));
    cairn_inlet_def def = wide(2, 1e9);
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_INT(step(world, 0.1), 2);
    CHECK_INT(cairn_world_bodies(world).count, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(cairn_world_bodies(world).uid[i], 1 + i);
    cairn_world_destroy(world);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refuse(int dimension, const cairn_inlet_def *def, cairn_status status, const char *key,
                   const char *piece)
{
    cairn_world *world = world_create(dimension);
    CHECK_INT(cairn_inlet_create(world, def), status);
    CHECK_TEXT(cairn_world_error(world)->key, key);
    CHECK_CONTAINS(cairn_world_error(world)->message, piece);
    CHECK_INT(cairn_world_inlet_pending(world), 0);
    cairn_world_destroy(world);
}

TEST(impossible_inlets_are_refused)
{
    cairn_inlet_def def = cairn_inlet_def_default();
    def.count = -1;
    refuse(3, &def, CAIRN_BAD_INPUT, "count", "found -1");
    def = wide(0, 1); /* none of its own: bodies come back by it, and those have a radius */
    def.radius.value = 0;
    refuse(3, &def, CAIRN_BAD_INPUT, "radius", "found 0");
    def = wide(1, 0);
    refuse(3, &def, CAIRN_BAD_INPUT, "rate", "found 0");
    def = wide(1, NAN);
    refuse(3, &def, CAIRN_NOT_FINITE, "rate", "nan");
    def = wide(1, 1);
    def.radius.value = 0;
    refuse(3, &def, CAIRN_BAD_INPUT, "radius", "found 0");
    def = wide(1, 1);
    def.radius.kind = CAIRN_DISTRIBUTION_LIST;
    refuse(3, &def, CAIRN_BAD_INPUT, "values", "empty");
    def = wide(1, 1);
    def.material = 1;
    refuse(3, &def, CAIRN_BAD_INPUT, "material", "no material 1");
    def = wide(1, 1);
    def.size.y = -1;
    refuse(3, &def, CAIRN_BAD_INPUT, "size", "found -1");
    def = wide(1, 1);
    def.seed = -1;
    refuse(3, &def, CAIRN_BAD_INPUT, "seed", "found -1");
    def = wide(1, 1);
    def.mass = -1;
    refuse(3, &def, CAIRN_BAD_INPUT, "mass", "found -1");
    def = wide(1, 1);
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    refuse(3, &def, CAIRN_BAD_INPUT, "shape", "found a half_space, expected a shape with a size");
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = cairn_vec(1, -1, 1);
    refuse(3, &def, CAIRN_BAD_INPUT, "size", "-1");
}

TEST(in_2d_inlets_lie_in_the_plane)
{
    cairn_inlet_def def = wide(1, 1);
    def.centre.z = 1;
    refuse(2, &def, CAIRN_BAD_INPUT, "centre", "in 2D z must be 0");
    def = wide(1, 1);
    def.velocity.z = 1;
    refuse(2, &def, CAIRN_BAD_INPUT, "velocity", "in 2D z must be 0");
}

TEST(every_allocation_of_an_inlet_may_fail)
{
    meter m = { 0 };
    meter_install(&m);
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(5, 1);
    def.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    def.radius.values = (cairn_list)LIST(0.1, 0.2);
    def.radius.weights = (cairn_list)LIST(1, 2);
    cairn_status status = CAIRN_NO_MEMORY;
    int failures = 0;
    for (long n = 1; status != CAIRN_OK; n++) {
        m.fail_at = m.calls + n;
        status = cairn_inlet_create(world, &def);
        failures += status == CAIRN_NO_MEMORY;
        CHECK_INT(cairn_world_inlet_pending(world), status == CAIRN_OK ? 5 : 0);
    }
    m.fail_at = 0;
    CHECK(failures >= 2);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
}

GROUP(test_inlet)
{
    RUN(CASE(bodies_come_at_their_rate_until_their_count),
        CASE(a_rate_that_changes_later_counts_on), CASE(nothing_comes_before_the_start),
        CASE(inlets_add_up), CASE(bodies_have_the_velocity_material_and_mass_asked_for),
        CASE(a_large_body_that_waits_stays_large), CASE(lists_of_radii_are_copied),
        CASE(bodies_fill_a_box), CASE(bodies_fill_a_vertical_cylinder_evenly),
        CASE(in_2d_bodies_stay_in_the_plane), CASE(bodies_never_overlap_each_other_or_walls),
        CASE(nothing_comes_into_a_closed_mesh), CASE(bodies_of_other_shapes_come_in_turned),
        CASE(other_shapes_are_scaled_to_their_radius), CASE(hulls_are_poured),
        CASE(a_body_without_a_place_waits), CASE(the_seed_decides_where),
        CASE(bodies_that_come_in_follow_the_others), CASE(impossible_inlets_are_refused),
        CASE(in_2d_inlets_lie_in_the_plane), CASE(every_allocation_of_an_inlet_may_fail));
}

/* ==== test_distribution: distributions of positive numbers: moments, cuts, refusals =========== */

enum { DRAWS = 100000 };

static cairn_distribution make(cairn_distribution_kind kind, double mean, double deviation)
{
    cairn_distribution d = cairn_distribution_default(kind);
    d.mean = mean;
    d.deviation = deviation;
    return d;
}

typedef struct moments {
    double mean, deviation, smallest, largest;
} moments;

static moments draw_many(const cairn_distribution *d, uint64_t seed)
{
    moments m = { .smallest = INFINITY, .largest = -INFINITY };
    uint64_t state = seed;
    double squares = 0;
    CHECK_OK(cairn_distribution_check(d, NULL));
    for (int i = 0; i < DRAWS; i++) {
        double x = cairn_distribution_draw(d, &state);
        m.mean += x / DRAWS;
        squares += x * x / DRAWS;
        m.smallest = fmin(m.smallest, x);
        m.largest = fmax(m.largest, x);
    }
    m.deviation = sqrt(squares - m.mean * m.mean);
    return m;
}

TEST(a_constant_is_always_the_same)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    d.value = 0.03;
    moments m = draw_many(&d, 1);
    CHECK_NEAR(m.smallest, 0.03, 0);
    CHECK_NEAR(m.largest, 0.03, 0);
}

/* [2, 5]: mean 3.5, deviation 3/sqrt(12) */
TEST(uniform_draws_fill_their_interval)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    d.minimum = 2;
    d.maximum = 5;
    moments m = draw_many(&d, 2);
    double deviation = 3 / sqrt(12);
    CHECK_NEAR(m.mean, 3.5, 5 * deviation / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, deviation, 5 * sqrt(0.2 / DRAWS)); /* (kurtosis 1.8 - 1)/4 = 0.2 */
    CHECK(m.smallest >= 2 && m.smallest < 2.001);
    CHECK(m.largest < 5 && m.largest > 4.999);
}

TEST(uniform_between_equal_bounds_is_a_constant)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    d.minimum = d.maximum = 0.7;
    CHECK_NEAR(draw_many(&d, 3).smallest, 0.7, 0);
    CHECK_NEAR(draw_many(&d, 3).largest, 0.7, 0);
}

TEST(normal_draws_have_their_mean_and_deviation)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 10, 1); /* 0 is 10 deviations away */
    moments m = draw_many(&d, 4);
    CHECK_NEAR(m.mean, 10, 5 / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, 1, 5 * sqrt(0.5 / DRAWS));
}

/* Cut to [mean - s, mean + s] the deviation is s sqrt(1 - 2 phi(1)/(2 Phi(1) - 1)) = 0.5396 s. */
TEST(normal_draws_outside_the_cut_are_drawn_again)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 10, 2);
    d.minimum = 8;
    d.maximum = 12;
    moments m = draw_many(&d, 5);
    CHECK_NEAR(m.mean, 10, 5 * 1.0792 / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, 2 * 0.53956, 0.01);
    CHECK(m.smallest >= 8 && m.largest <= 12);
}

TEST(normal_draws_are_positive_without_being_told)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 1, 5);
    CHECK(draw_many(&d, 6).smallest > 0);
}

/* Mean and deviation are those of the values, not of their logarithms. The standard error of the
 * mean is 0.5/sqrt(n); the median is mean/sqrt(1 + (0.5)^2). */
TEST(lognormal_draws_have_their_mean_deviation_and_median)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, 0.5);
    moments m = draw_many(&d, 7);
    CHECK_NEAR(m.mean, 1, 5 * 0.5 / sqrt(DRAWS));
    CHECK_CLOSE(m.deviation, 0.5, 0.02);
    CHECK(m.smallest > 0);
    uint64_t state = 7;
    int below = 0;
    for (int i = 0; i < DRAWS; i++)
        below += cairn_distribution_draw(&d, &state) < 1 / sqrt(1.25);
    CHECK_NEAR((double)below / DRAWS, 0.5, 5 * 0.5 / sqrt(DRAWS));
}

TEST(lognormal_draws_keep_to_their_cut)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 0.03, 0.01);
    d.minimum = 0.02;
    d.maximum = 0.04;
    moments m = draw_many(&d, 8);
    CHECK(m.smallest >= 0.02 && m.smallest < 0.0201);
    CHECK(m.largest <= 0.04 && m.largest > 0.0399);
}

TEST(without_deviation_all_draws_are_the_mean)
{
    const cairn_distribution_kind kinds[2] = { CAIRN_DISTRIBUTION_NORMAL,
                                               CAIRN_DISTRIBUTION_LOGNORMAL };
    for (int k = 0; k < 2; k++) {
        cairn_distribution d = make(kinds[k], 0.25, 0);
        moments m = draw_many(&d, 9);
        CHECK_NEAR(m.smallest, 0.25, 1e-15);
        CHECK_NEAR(m.largest, 0.25, 1e-15);
    }
}

static void count_draws(const cairn_distribution *d, int counts[3])
{
    uint64_t state = 10;
    CHECK_OK(cairn_distribution_check(d, NULL));
    counts[0] = counts[1] = counts[2] = 0;
    for (int i = 0; i < DRAWS; i++) {
        double x = cairn_distribution_draw(d, &state);
        CHECK(x == 1 || x == 2 || x == 3);
        counts[(int)x - 1]++;
    }
}

/* 5 standard errors of a share p: 5 sqrt(p (1 - p) n) */
TEST(lists_are_drawn_equally_or_by_weight)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    int counts[3];
    d.values = (cairn_list)LIST(1, 2, 3);
    count_draws(&d, counts);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(counts[k], DRAWS / 3.0, 5 * sqrt(2.0 / 9 * DRAWS));
    d.weights = (cairn_list)LIST(10, 0, 30);
    count_draws(&d, counts);
    CHECK_NEAR(counts[0], 0.25 * DRAWS, 5 * sqrt(0.1875 * DRAWS));
    CHECK_INT(counts[1], 0);
    CHECK_INT(counts[0] + counts[2], DRAWS);
}

TEST(equal_seeds_give_equal_draws)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, 0.5);
    uint64_t a = 1, b = 1, c = 2;
    for (int i = 0; i < 100; i++) {
        double x = cairn_distribution_draw(&d, &a);
        CHECK(x == cairn_distribution_draw(&d, &b));
        CHECK(x != cairn_distribution_draw(&d, &c));
    }
}

/* A cut that next to nothing passes ends, within the cut. */
TEST(a_draw_always_ends)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 1, 1);
    d.minimum = d.maximum = 1.5;
    uint64_t state = 1;
    CHECK_OK(cairn_distribution_check(&d, NULL));
    CHECK_NEAR(cairn_distribution_draw(&d, &state), 1.5, 0);
}

/* ---- refusals ------------------------------------------------------------------------------- */

static void refuse_distribution(const cairn_distribution *d, cairn_status status, const char *key,
                                const char *piece)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_distribution_check(d, &error), status);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, piece);
    CHECK_INT(cairn_distribution_check(d, NULL), status);
}

TEST(impossible_parameters_are_refused)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    d.value = -1;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "value", "found -1");
    d.value = NAN;
    refuse_distribution(&d, CAIRN_NOT_FINITE, "value", "nan");
    d = cairn_distribution_default(CAIRN_DISTRIBUTION_UNIFORM);
    d.maximum = 1;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "minimum", "found 0");
    d.minimum = 2;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "maximum", "found 1, expected at least 2");
    d.maximum = INFINITY;
    refuse_distribution(&d, CAIRN_NOT_FINITE, "maximum", "inf");
    d = make(CAIRN_DISTRIBUTION_NORMAL, 0, 1);
    refuse_distribution(&d, CAIRN_BAD_INPUT, "mean", "found 0");
    d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, -1);
    refuse_distribution(&d, CAIRN_BAD_INPUT, "deviation", "found -1");
    d.kind = CAIRN_DISTRIBUTION_COUNT;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "", "unknown distribution 6");
}

TEST(cuts_that_leave_nothing_are_refused)
{
    cairn_distribution d = make(CAIRN_DISTRIBUTION_NORMAL, 1, 0.1);
    d.minimum = 1.2;
    d.maximum = 1.1;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "maximum", "at least 1.2");
    d.minimum = 1.36;
    d.maximum = 2;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "minimum", "3.5 deviations");
    d.minimum = 0;
    d.maximum = 0.6;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "minimum", "3.5 deviations");
    d = make(CAIRN_DISTRIBUTION_LOGNORMAL, 1, 0);
    d.minimum = 1.01;
    refuse_distribution(&d, CAIRN_BAD_INPUT, "minimum", "3.5 deviations");
}

TEST(bad_lists_are_refused)
{
    cairn_distribution d = cairn_distribution_default(CAIRN_DISTRIBUTION_LIST);
    refuse_distribution(&d, CAIRN_BAD_INPUT, "values", "empty");
    d.values = (cairn_list)LIST(1, 0);
    refuse_distribution(&d, CAIRN_BAD_INPUT, "values", "found 0");
    d.values = (cairn_list)LIST(1, 2);
    d.weights = (cairn_list)LIST(1);
    refuse_distribution(&d, CAIRN_BAD_INPUT, "weights", "found 1 numbers, expected 2");
    d.weights = (cairn_list)LIST(1, -1);
    refuse_distribution(&d, CAIRN_BAD_INPUT, "weights", "found -1");
    d.weights = (cairn_list)LIST(0, 0);
    refuse_distribution(&d, CAIRN_BAD_INPUT, "weights", "all are 0");
}

TEST(kinds_have_names)
{
    static const char *const names[] = { "constant",  "uniform", "normal",
                                         "lognormal", "list",    "sieve" };
    for (int k = 0; k < CAIRN_DISTRIBUTION_COUNT; k++) {
        cairn_distribution d;
        CHECK_TEXT(cairn_distribution_record(k)->name, names[k]);
        cairn_distribution_record(k)->set_default(&d);
        CHECK_INT(d.kind, k);
    }
    CHECK(cairn_distribution_record(CAIRN_DISTRIBUTION_COUNT) == NULL);
    CHECK(cairn_distribution_record(-1) == NULL);
}

GROUP(test_distribution)
{
    RUN(CASE(a_constant_is_always_the_same), CASE(uniform_draws_fill_their_interval),
        CASE(uniform_between_equal_bounds_is_a_constant),
        CASE(normal_draws_have_their_mean_and_deviation),
        CASE(normal_draws_outside_the_cut_are_drawn_again),
        CASE(normal_draws_are_positive_without_being_told),
        CASE(lognormal_draws_have_their_mean_deviation_and_median),
        CASE(lognormal_draws_keep_to_their_cut), CASE(without_deviation_all_draws_are_the_mean),
        CASE(lists_are_drawn_equally_or_by_weight), CASE(equal_seeds_give_equal_draws),
        CASE(a_draw_always_ends), CASE(impossible_parameters_are_refused),
        CASE(cuts_that_leave_nothing_are_refused), CASE(bad_lists_are_refused),
        CASE(kinds_have_names));
}

/* ==== test_outlet: bodies that leave, and those that come back =============================== */

static cairn_step_report one_step(cairn_world *world, double h)
{
    cairn_step_options options = step_by(h, "coulomb", 1e-6);
    cairn_step_report report;
    CHECK_OK(cairn_world_step(world, &options, &report));
    return report;
}

static double mass_in(const cairn_world *world)
{
    double mass = 0;
    for (int i = world->bodies.held; i < world->bodies.count; i++)
        mass += world->bodies.mass[i];
    return mass;
}

/* Balls poured onto a slope slide over its edge and leave below it: what there is, is what entered
 * less what left, and the ledger of energy is closed in every step. */
TEST(mass_and_energy_balance_to_rounding)
{
    cairn_world *world = new_world(3, 9.81, 0.2, 0);
    cairn_inlet_def def = wide(40, 80);
    cairn_outlet_def outlet = cairn_outlet_default(CAIRN_OUTLET_HEIGHT);
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    double in = 0, out = 0, energy = 0;
    int left = 0;
    box.size = cairn_vec(1, 1, 0.2);
    add_wall(world, box, cairn_vec(0, 0, -0.1));
    def.centre = cairn_vec(0, 0, 0.3);
    def.size = cairn_vec(1.4, 1.4, 0.2);
    def.radius =
        (cairn_distribution){ CAIRN_DISTRIBUTION_UNIFORM, .minimum = 0.02, .maximum = 0.06 };
    def.velocity = cairn_vec(1.5, 0, -1);
    outlet.below = -0.5;
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_OK(cairn_outlet_create(world, &outlet));
    for (int k = 0; k < 600; k++) {
        cairn_step_report report = one_step(world, 2e-3);
        const cairn_energy *e = &report.energy;
        in += e->entered_mass;
        out += e->left_mass;
        left += report.left;
        CHECK_NEAR(mass_in(world), in - out, 1e-12);
        energy +=
            e->entered + e->correction - e->friction_loss - e->impact_loss - e->numerical_loss;
        CHECK_NEAR(total_energy(world), energy, 1e-9);
    }
    CHECK_INT(left, 40 - (world->bodies.count - 1));
    CHECK(left > 20);
    CHECK_INT(cairn_world_outlet(world, 0).left, left);
    CHECK_NEAR(cairn_world_outlet(world, 0).mass, out, 1e-12);
    cairn_world_destroy(world);
}

/* Four balls at rest at x = 0, 1, 2, 3 m; which of them are left after a step. */
static int stay_after(const cairn_outlet_def *def, int steps)
{
    cairn_world *world = space(3);
    int stay = 0;
    for (int k = 0; k < 4; k++)
        add_ball(world, 0.1, cairn_vec(k, 0, k), cairn_vec(0, 0, 0));
    CHECK_OK(cairn_outlet_create(world, def));
    for (int k = 0; k < steps; k++)
        one_step(world, 0.1);
    for (int i = 0; i < world->bodies.count; i++)
        stay |= 1 << (int)world->bodies.uid[i];
    cairn_world_destroy(world);
    return stay;
}

TEST(each_kind_of_outlet_takes_what_is_in_it)
{
    cairn_outlet_def box = cairn_outlet_default(CAIRN_OUTLET_BOX);
    box.centre = cairn_vec(1.5, 0, 1.5);
    box.size = cairn_vec(1.2, 1, 1.2);
    CHECK_INT(stay_after(&box, 1), 1 + 8);
    box.start = 0.05; /* the first step begins at 0 s, the second at 0.1 s */
    CHECK_INT(stay_after(&box, 1), 15);
    CHECK_INT(stay_after(&box, 2), 1 + 8);
    cairn_outlet_def plane = cairn_outlet_default(CAIRN_OUTLET_HALF_SPACE);
    plane.point = cairn_vec(1.5, 0, 0);
    plane.normal = cairn_vec(-2, 0, 0);
    CHECK_INT(stay_after(&plane, 1), 1 + 2);
    cairn_outlet_def height = cairn_outlet_default(CAIRN_OUTLET_HEIGHT);
    height.below = 2.5;
    CHECK_INT(stay_after(&height, 1), 8);
    cairn_outlet_def age = cairn_outlet_default(CAIRN_OUTLET_AGE);
    age.after = 0.2;
    CHECK_INT(stay_after(&age, 2), 15);
    CHECK_INT(stay_after(&age, 3), 0);
}

/* Three balls leave at once, at 0 s, and come back one every 0.5 s: their size and mass are the same, their
 * uids are new, and they count their passes. */
TEST(bodies_come_back_at_the_rate_of_their_inlet)
{
    cairn_world *world = space(3);
    cairn_inlet_def def = wide(0, 2);
    cairn_outlet_def outlet = cairn_outlet_default(CAIRN_OUTLET_HEIGHT);
    for (int k = 0; k < 3; k++)
        add_sphere(world, 0.1 + 0.1 * k, cairn_vec(2 * k, 0, -20));
    world->bodies.group[1] = 4;
    world->bodies.ignores[1] = 6;
    def.centre = cairn_vec(0, 0, 20);
    outlet.below = -10;
    outlet.inlet = 0;
    double mass = mass_in(world);
    CHECK_OK(cairn_inlet_create(world, &def));
    CHECK_OK(cairn_outlet_create(world, &outlet));
    for (int k = 1; k <= 20; k++) {
        cairn_step_report report = one_step(world, 0.1);
        CHECK_INT(report.left, k == 1 ? 3 : 0);
        CHECK_INT(report.entered, k == 1 || k == 5 || k == 10 ? 1 : 0);
        CHECK_INT(cairn_world_inlet_pending(world), 3 - world->bodies.count);
    }
    CHECK_NEAR(mass_in(world), mass, 0);
    for (int i = 0; i < 3; i++) {
        CHECK_INT(world->bodies.uid[i], 3 + i);
        CHECK_INT(world->bodies.first[i], i);
        CHECK_INT(world->bodies.passes[i], 1);
        CHECK_INT(world->bodies.group[i], i == 1 ? 4 : 0); /* its own, not that of the inlet */
        CHECK_INT(world->bodies.ignores[i], i == 1 ? 6 : 0);
        CHECK_NEAR(cairn_body_shape(&world->bodies, i)->radius, 0.1 + 0.1 * i, 0);
    }
    cairn_world_destroy(world);
}

TEST(outlets_with_impossible_numbers_are_refused)
{
    cairn_world *world = space(3);
    cairn_outlet_def def = cairn_outlet_default(CAIRN_OUTLET_HALF_SPACE);
    def.normal = cairn_vec(0, 0, 0);
    CHECK_INT(cairn_outlet_create(world, &def), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "normal");
    def = cairn_outlet_default(CAIRN_OUTLET_HEIGHT);
    def.inlet = 0;
    CHECK_INT(cairn_outlet_create(world, &def), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "to");
    def.inlet = -1;
    def.below = NAN;
    CHECK_INT(cairn_outlet_create(world, &def), CAIRN_NOT_FINITE);
    CHECK_INT(cairn_world_outlet_count(world), 0);
    for (int k = 0; k < CAIRN_OUTLET_COUNT; k++) {
        cairn_outlet_record(k)->set_default(&def);
        CHECK_INT(def.kind, k);
    }
    CHECK(cairn_outlet_record(CAIRN_OUTLET_COUNT) == NULL);
    cairn_world_destroy(world);
}

GROUP(test_outlet)
{
    RUN(CASE(mass_and_energy_balance_to_rounding), CASE(each_kind_of_outlet_takes_what_is_in_it),
        CASE(bodies_come_back_at_the_rate_of_their_inlet),
        CASE(outlets_with_impossible_numbers_are_refused));
}
