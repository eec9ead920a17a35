/* test_inlet.c - bodies that come in while the world runs: how many, when, where, how large. */
#include <stdlib.h>

#include "check.h"
#include "failing_allocator.h"
#include "math/vec.h"
#include "small_world.h"
#include "world/world.h"

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
    refuse(3, &def, CAIRN_BAD_INPUT, "count", "found 0");
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

int main(void)
{
    RUN(CASE(bodies_come_at_their_rate_until_their_count), CASE(nothing_comes_before_the_start),
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
