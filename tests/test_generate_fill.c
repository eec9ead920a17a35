/* test_generate_fill.c - random fill: no overlap, inside the region, reproducible, linear. */
#include <time.h>

#include "cairn/generate.h"
#include "check.h"
#include "failing_allocator.h"

static cairn_world *world_of(int dimension)
{
    cairn_world_def def = cairn_world_def_default();
    const cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    def.dimension = dimension;
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    return world;
}

static cairn_generator fill_of(int64_t bodies, double side, double low, double high)
{
    cairn_generator g = cairn_generator_default(CAIRN_GENERATOR_FILL, 3);
    g.bodies = bodies;
    g.size = (cairn_vec3){ side, side, side };
    g.radius =
        (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM, .minimum = low, .maximum = high };
    return g;
}

/* The smallest gap between any two spheres, by comparing all pairs. */
static double smallest_gap(const cairn_bodies *b)
{
    double smallest = INFINITY;
    for (int i = 0; i < b->count; i++)
        for (int j = 0; j < i; j++) {
            double away =
                hypot(hypot(b->x[i].x - b->x[j].x, b->x[i].y - b->x[j].y), b->x[i].z - b->x[j].z);
            smallest = fmin(smallest, away - cairn_bodies_shape(b, i)->radius -
                                          cairn_bodies_shape(b, j)->radius);
        }
    return smallest;
}

/* How far a sphere sticks out of a box of this side about the origin. */
static double sticking_out(const cairn_bodies *b, double side, int dimension)
{
    double worst = -INFINITY;
    for (int i = 0; i < b->count; i++) {
        double far = fmax(fabs(b->x[i].x), fabs(b->x[i].y));
        far = dimension == 3 ? fmax(far, fabs(b->x[i].z)) : far;
        worst = fmax(worst, far + cairn_bodies_shape(b, i)->radius - side / 2);
    }
    return worst;
}

/* Sizes 1:50, so that several levels of cells are in use. */
TEST(spheres_of_very_different_sizes_neither_overlap_nor_leave_the_box)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_world *world = world_of(dimension);
        cairn_generator g = fill_of(600, 12, 0.02, 1);
        g.radius = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_LOGNORMAL,
                                         .mean = 0.15,
                                         .deviation = 0.15,
                                         .minimum = 0.02,
                                         .maximum = 1 };
        int64_t made;
        CHECK_OK(cairn_generate(world, &g, &made, NULL));
        const cairn_bodies bodies = cairn_world_bodies(world);
        CHECK_INT(made, 600);
        CHECK(smallest_gap(&bodies) >= -1e-15);
        CHECK(sticking_out(&bodies, 12, dimension) <= 1e-15);
        cairn_world_destroy(world);
    }
}

TEST(a_second_fill_keeps_clear_of_the_first)
{
    cairn_world *world = world_of(3);
    cairn_generator big = fill_of(20, 10, 0.9, 1), small = fill_of(400, 10, 0.1, 0.2);
    cairn_generator middle = fill_of(20, 10, 0.5, 0.6);
    CHECK_OK(cairn_generate(world, &big, NULL, NULL));
    CHECK_OK(cairn_generate(world, &small, NULL, NULL));
    CHECK_OK(cairn_generate(world, &middle, NULL, NULL));
    const cairn_bodies bodies = cairn_world_bodies(world);
    CHECK_INT(bodies.count, 440);
    CHECK(smallest_gap(&bodies) >= -1e-15);
    cairn_world_destroy(world);
}

static void add_box(cairn_world *world, cairn_motion motion, cairn_vec3 half, cairn_vec3 at)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = motion;
    def.shape =
        (cairn_shape){ .kind = CAIRN_SHAPE_BOX, .size = { 2 * half.x, 2 * half.y, 2 * half.z } };
    def.position = at;
    CHECK_OK(cairn_body_create(world, &def, NULL));
}

/* Distance of a centre from a box whose axes are those of the world. */
static double box_distance(cairn_vec3 x, cairn_vec3 half, cairn_vec3 at)
{
    double dx = fmax(0, fabs(x.x - at.x) - half.x), dy = fmax(0, fabs(x.y - at.y) - half.y);
    return hypot(hypot(dx, dy), fmax(0, fabs(x.z - at.z) - half.z));
}

/* A lid of 0.6 x 0.02 m above 400 disks that fill 35 % of a region below it: its bounding ball
 * covers all of that. */
TEST(a_lid_blocks_no_more_than_itself)
{
    const cairn_vec3 half = { 0.3, 0.01, 0 }, at = { 0.3, 0.43, 0 };
    cairn_world *world = world_of(2);
    cairn_generator g = fill_of(400, 1, 0.004, 0.0065);
    g.size = (cairn_vec3){ 0.25, 0.4, 1 };
    g.centre = (cairn_vec3){ 0.13, 0.21, 0 };
    add_box(world, CAIRN_MOTION_DYNAMIC, half, at);
    CHECK_OK(cairn_generate(world, &g, NULL, NULL));
    const cairn_bodies b = cairn_world_bodies(world);
    CHECK_INT(b.count, 401);
    for (int i = 1; i < b.count; i++)
        CHECK(box_distance(b.x[i], half, at) >= cairn_bodies_shape(&b, i)->radius);
    cairn_world_destroy(world);
}

/* A cube of 0.4 m in the middle of 1 m^3, which 200 balls of 0.03 m share with it. */
TEST(a_fixed_box_is_kept_clear_of)
{
    const cairn_vec3 half = { 0.2, 0.2, 0.2 }, at = { 0, 0, 0 };
    cairn_world *world = world_of(3);
    cairn_generator g = fill_of(200, 1, 0.03, 0.03);
    add_box(world, CAIRN_MOTION_FIXED, half, at);
    CHECK_OK(cairn_generate(world, &g, NULL, NULL));
    const cairn_bodies b = cairn_world_bodies(world);
    for (int i = 1; i < b.count; i++)
        CHECK(box_distance(b.x[i], half, at) >= 0.03);
    cairn_world_destroy(world);
}

/* Half of the region is below the floor z = 0. */
TEST(walls_without_a_bound_are_kept_clear_of)
{
    cairn_world *world = world_of(3);
    cairn_body_def floor = cairn_body_def_default();
    cairn_generator g = fill_of(100, 1, 0.03, 0.03);
    floor.motion = CAIRN_MOTION_FIXED;
    floor.shape = (cairn_shape){ .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } };
    CHECK_OK(cairn_body_create(world, &floor, NULL));
    CHECK_OK(cairn_generate(world, &g, NULL, NULL));
    const cairn_bodies b = cairn_world_bodies(world);
    for (int i = 1; i < b.count; i++)
        CHECK(b.x[i].z >= 0.03);
    cairn_world_destroy(world);
}

TEST(a_region_can_be_an_upright_cylinder)
{
    cairn_world *world = world_of(3);
    cairn_generator g = fill_of(200, 4, 0.1, 0.2);
    g.disk_radius = 1.5;
    CHECK_OK(cairn_generate(world, &g, NULL, NULL));
    const cairn_bodies bodies = cairn_world_bodies(world);
    for (int i = 0; i < bodies.count; i++) {
        double radius = cairn_bodies_shape(&bodies, i)->radius;
        CHECK(hypot(bodies.x[i].x, bodies.x[i].y) + radius <= 1.5 + 1e-15);
        CHECK(fabs(bodies.x[i].z) + radius <= 2 + 1e-15);
    }
    cairn_world_destroy(world);
}

TEST(the_seed_decides_everything)
{
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        cairn_world *world = world_of(3);
        cairn_generator g = fill_of(50, 3, 0.1, 0.2);
        g.seed = i == 2 ? 8 : 7;
        CHECK_OK(cairn_generate(world, &g, NULL, NULL));
        hash[i] = cairn_world_hash(world);
        cairn_world_destroy(world);
    }
    CHECK(hash[0] == hash[1]);
    CHECK(hash[0] != hash[2]);
}

/* Two spheres of diameter 1 have no place in a box of side 1. */
TEST(a_full_region_is_said_to_be_full)
{
    cairn_world *world = world_of(3);
    cairn_generator g = fill_of(2, 1, 0.5, 0.5);
    cairn_error error = { 0 };
    int64_t made;
    CHECK_INT(cairn_generate(world, &g, &made, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.message, "no room for body 2 of 2 after 1000 tries");
    CHECK_TEXT(error.key, "bodies");
    CHECK_INT(made, 1);
    g = fill_of(1, 1, 0.6, 0.6);
    CHECK_INT(cairn_generate(world, &g, &made, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "size");
    CHECK_CONTAINS(error.message, "found a body of radius 0.6 m");
    cairn_world_destroy(world);
}

static double seconds_for(int64_t bodies)
{
    cairn_world *world = world_of(3);
    cairn_generator g = fill_of(bodies, cbrt((double)bodies), 0.02, 0.4);
    clock_t start = clock();
    CHECK_OK(cairn_generate(world, &g, NULL, NULL));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    cairn_world_destroy(world);
    return seconds;
}

/* 9e7 spheres of 0.01 m have 377 m^3, the box 1: refused before the 4 GB are taken that they need. */
TEST(what_cannot_fit_is_refused_before_memory_is_taken)
{
    cairn_world *world = world_of(3);
    cairn_generator g = fill_of(90000000, 1, 0.01, 0.01);
    cairn_error error = { 0 };
    meter m = { .fail_at = 0 };
    meter_install(&m);
    cairn_status status = cairn_generate(world, &g, NULL, &error);
    long calls = m.calls;
    cairn_allocator_set(NULL);
    CHECK_INT(status, CAIRN_BAD_INPUT);
    CHECK_INT(calls, 0);
    CHECK_TEXT(error.key, "bodies");
    CHECK_CONTAINS(error.message, "no room: the first 238733 of 90000000 bodies have");
    CHECK_INT(cairn_world_bodies(world).count, 0);
    cairn_world_destroy(world);
}

/* 10 times the bodies in 10 times the room: 10 times the time, where comparing all pairs would
 * take 100 times as long. */
TEST(the_cost_is_linear)
{
    CHECK(seconds_for(20000) < 40 * seconds_for(2000) + 0.1);
}

int main(void)
{
    RUN(CASE(spheres_of_very_different_sizes_neither_overlap_nor_leave_the_box),
        CASE(a_second_fill_keeps_clear_of_the_first), CASE(a_lid_blocks_no_more_than_itself),
        CASE(a_fixed_box_is_kept_clear_of), CASE(walls_without_a_bound_are_kept_clear_of),
        CASE(a_region_can_be_an_upright_cylinder), CASE(the_seed_decides_everything),
        CASE(a_full_region_is_said_to_be_full),
        CASE(what_cannot_fit_is_refused_before_memory_is_taken), CASE(the_cost_is_linear));
}
