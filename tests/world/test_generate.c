/* test_generate.c - generators and packings. */
#include <time.h>

#include "cairn/generate.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

/* ==== test_generate: grids, hexagonal packings and piles: positions, order of draws, refusals */

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

static cairn_generator of_kind(cairn_generator_kind kind, double radius)
{
    cairn_generator g = cairn_generator_default(kind, 3);
    g.radius.value = radius;
    return g;
}

/* Generate in a new world; its bodies are valid until the world is destroyed. */
static cairn_bodies made_by(const cairn_generator *g, int dimension, cairn_world **world)
{
    cairn_error error = { 0 };
    int64_t made;
    *world = world_of(dimension);
    if (cairn_generate(*world, g, &made, &error) != CAIRN_OK)
        fail_msg("%s: %s", error.key, error.message);
    const cairn_bodies bodies = cairn_world_bodies(*world);
    CHECK_INT(bodies.count, made);
    return bodies;
}

static double distance(cairn_vec3 a, cairn_vec3 b)
{
    return hypot(hypot(a.x - b.x, a.y - b.y), a.z - b.z);
}

/* Pairs whose distance is 2 (1 +- 1e-12); closer ones are counted 1000 times. */
static int touching_pairs(const cairn_bodies *bodies)
{
    int count = 0;
    for (int i = 0; i < bodies->count; i++)
        for (int j = 0; j < i; j++) {
            double away = distance(bodies->x[i], bodies->x[j]) - 2;
            count += away < -1e-12 ? 1000 : away < 1e-12;
        }
    return count;
}

/* The benchmark box_of_spheres with n = 16. Expected values are from a separate program: per
 * sphere, i fastest, the draws radius, jitter x, y, z, mass of splitmix64 from 12345. */
TEST(box_of_spheres_is_the_same_everywhere)
{
    static const struct {
        int number;
        double radius, x, y, z, mass;
    } expected[] = {
        { 0, 0.25415873964566965, 0.30327551979255185, 0.30061070571903487, 0.302378681476405,
          1.506880215507456 },
        { 1, 0.26053232951998107, 0.9257078817176052, 0.31035808043384705, 0.3118683103919076,
          1.8675219243871908 },
        { 16, 0.2808351910181796, 0.31446979611059916, 0.9323869664958171, 0.3152349064964928,
          1.470175651120846 },
        { 256, 0.25768535297006195, 0.3241564665189802, 0.3211979130246151, 0.9515945252332652,
          1.382786061378129 },
        { 4095, 0.2762304630074962, 9.67906423281681, 9.69958154865682, 9.68448465307664,
          1.458610032397206 },
    };
    cairn_generator g = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    g.count = (cairn_vec3){ 16, 16, 16 };
    g.spacing = (cairn_vec3){ 0.625, 0.625, 0.625 };
    g.origin = (cairn_vec3){ 0.3125, 0.3125, 0.3125 };
    g.jitter = 0.015625;
    g.seed = 12345;
    g.radius = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM,
                                     .minimum = 0.25,
                                     .maximum = 0.28125 };
    g.mass = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM, .minimum = 1, .maximum = 2 };
    cairn_world *world;
    const cairn_bodies bodies = made_by(&g, 3, &world);
    CHECK_INT(bodies.count, 4096);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        int n = expected[i].number;
        CHECK_NEAR(cairn_bodies_shape(&bodies, n)->radius, expected[i].radius, 1e-15);
        CHECK_NEAR(bodies.x[n].x, expected[i].x, 4e-15);
        CHECK_NEAR(bodies.x[n].y, expected[i].y, 4e-15);
        CHECK_NEAR(bodies.x[n].z, expected[i].z, 4e-15);
        CHECK_NEAR(bodies.mass[n], expected[i].mass, 1e-15);
    }
    cairn_world_destroy(world);
}

/* In 2D, with constant radius, the first three draws are jitter x, jitter y, mass. */
TEST(what_is_constant_draws_nothing)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_GRID, 0.25);
    uint64_t state = 99;
    double x = cairn_random_uniform(&state), y = cairn_random_uniform(&state);
    double mass = 1 + cairn_random_uniform(&state);
    g.jitter = 0.1;
    g.seed = 99;
    g.mass = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM, .minimum = 1, .maximum = 2 };
    cairn_world *world;
    const cairn_bodies bodies = made_by(&g, 2, &world);
    CHECK_NEAR(bodies.x[0].x, 0.2 * x - 0.1, 1e-16);
    CHECK_NEAR(bodies.x[0].y, 0.2 * y - 0.1, 1e-16);
    CHECK_NEAR(bodies.x[0].z, 0, 0);
    CHECK_NEAR(bodies.mass[0], mass, 1e-15);
    cairn_world_destroy(world);
}

TEST(the_density_gives_the_mass_when_none_is_given)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_GRID, 0.5);
    g.density = 12;
    cairn_world *world;
    CHECK_CLOSE(made_by(&g, 3, &world).mass[0], 2 * M_PI, 1e-14); /* 12 * 4/3 pi / 8 */
    cairn_world_destroy(world);
}

/* Row k has rows - k disks at x = (2j + k) r, y = k sqrt(3) r: contacts 3n(n-1)/2. */
TEST(a_pile_in_2d_is_a_triangle)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_PILE, 1);
    g.rows = 10;
    g.origin = (cairn_vec3){ 5, 1, 0 };
    cairn_world *world;
    const cairn_bodies bodies = made_by(&g, 2, &world);
    CHECK_INT(bodies.count, 55);
    CHECK_NEAR(bodies.x[0].x, 5, 0);
    CHECK_NEAR(bodies.x[0].y, 1, 0);
    CHECK_NEAR(bodies.x[9].x, 5 + 18, 1e-14);
    CHECK_NEAR(bodies.x[10].x, 5 + 1, 1e-14);
    CHECK_NEAR(bodies.x[10].y, 1 + sqrt(3), 1e-14);
    CHECK_NEAR(bodies.x[54].y, 1 + 9 * sqrt(3), 1e-13);
    CHECK_INT(touching_pairs(&bodies), 3 * 10 * 9 / 2);
    cairn_world_destroy(world);
}

/* 3 x 3, 2 x 2, 1: 12 + 4 contacts within layers, 4 below each of the 5 upper spheres. */
TEST(a_pile_in_3d_is_a_square_pyramid)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_PILE, 1);
    g.rows = 3;
    cairn_world *world;
    const cairn_bodies bodies = made_by(&g, 3, &world);
    CHECK_INT(bodies.count, 14);
    CHECK_NEAR(bodies.x[13].x, 2, 1e-15);
    CHECK_NEAR(bodies.x[13].y, 2, 1e-15);
    CHECK_NEAR(bodies.x[13].z, 2 * sqrt(2), 1e-15);
    CHECK_INT(touching_pairs(&bodies), 12 + 4 + 5 * 4);
    cairn_world_destroy(world);
}

TEST(a_gap_keeps_neighbours_apart)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_PILE, 1);
    g.rows = 2;
    g.gap = 0.5;
    cairn_world *world;
    const cairn_bodies bodies = made_by(&g, 2, &world);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(distance(bodies.x[i], bodies.x[(i + 1) % 3]), 2.5, 1e-15);
    cairn_world_destroy(world);
}

/* n x m disks: m (n - 1) contacts in rows, (m - 1) (2n - 1) between rows. */
TEST(hexagonal_rows_touch_in_2d)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_HEXAGONAL, 1);
    g.count = (cairn_vec3){ 5, 4, 1 };
    cairn_world *world;
    const cairn_bodies bodies = made_by(&g, 2, &world);
    CHECK_INT(bodies.count, 20);
    CHECK_INT(touching_pairs(&bodies), 4 * 4 + 3 * 9);
    cairn_world_destroy(world);
}

/* In hcp every sphere inside touches 12 others. */
TEST(hexagonal_layers_are_close_packed_in_3d)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_HEXAGONAL, 1);
    g.count = (cairn_vec3){ 5, 5, 5 };
    cairn_world *world;
    const cairn_bodies bodies = made_by(&g, 3, &world);
    int middle = 2 + 5 * (2 + 5 * 2), neighbours = 0;
    for (int i = 0; i < bodies.count; i++)
        neighbours += i != middle && distance(bodies.x[i], bodies.x[middle]) < 2 + 1e-12;
    CHECK_INT(neighbours, 12);
    CHECK(touching_pairs(&bodies) < 1000); /* none overlaps */
    cairn_world_destroy(world);
}

static void check_refused(const cairn_generator *g, int dimension, const char *key,
                          const char *message)
{
    cairn_world *world = world_of(dimension);
    cairn_error error = { 0 };
    int64_t made = -1;
    CHECK_INT(cairn_generate(world, g, &made, &error), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_generate(world, g, NULL, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, message);
    CHECK_INT(made, 0);
    CHECK_INT(cairn_world_bodies(world).count, 0);
    cairn_world_destroy(world);
}

TEST(impossible_generators_are_refused)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_GRID, 1);
    g.count.x = 2.5;
    check_refused(&g, 3, "count", "whole numbers");
    g.count = (cairn_vec3){ 1, 1, 2 };
    check_refused(&g, 2, "count", "expected 1 in 2D");
    g.count = (cairn_vec3){ 2000, 2000, 2000 };
    check_refused(&g, 3, "", "found 8000000000 bodies");
    g = of_kind(CAIRN_GENERATOR_GRID, 1);
    g.jitter = -1;
    check_refused(&g, 3, "jitter", "found -1, expected a number >= 0");
    g = of_kind(CAIRN_GENERATOR_GRID, -1);
    check_refused(&g, 3, "radius", "-1");
    g = of_kind(CAIRN_GENERATOR_PILE, 1);
    g.rows = 1000000;
    check_refused(&g, 3, "", "bodies, expected at most 2147483647");
    g.rows = 2;
    g.radius =
        (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM, .minimum = 1, .maximum = 2 };
    check_refused(&g, 3, "radius", "these bodies are equal");
    g = of_kind(CAIRN_GENERATOR_GRID, 1);
    g.mass = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM, .minimum = 2, .maximum = 1 };
    check_refused(&g, 3, "mass", "");
    g = of_kind(CAIRN_GENERATOR_GRID, 1);
    g.material = 7;
    check_refused(&g, 3, "material", "there is no material 7");
    g.kind = CAIRN_GENERATOR_COUNT;
    check_refused(&g, 3, "kind", "unknown kind");
}

TEST(every_generator_has_a_table)
{
    for (int kind = 0; kind < CAIRN_GENERATOR_COUNT; kind++) {
        const cairn_record *record = cairn_generator_record(kind);
        cairn_generator g;
        CHECK_INT(record->size, sizeof g);
        record->set_default(&g);
        CHECK_INT(g.kind, kind);
        CHECK_OK(cairn_record_check(record, &g, NULL));
    }
    CHECK(cairn_generator_record(CAIRN_GENERATOR_COUNT) == NULL);
    CHECK(cairn_generator_record(-1) == NULL);
}

/* ---- other shapes --------------------------------------------------------------------------- */

/* the ball about a 3 x 4 x 12 box has the radius 6.5; half of that makes a half box */
TEST(a_radius_scales_a_shape_and_without_it_the_size_is_its_own)
{
    const double radii[2] = { 0, 3.25 };
    for (int k = 0; k < 2; k++) {
        cairn_generator g = of_kind(CAIRN_GENERATOR_GRID, radii[k]);
        cairn_world *world;
        g.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        g.shape.size = (cairn_vec3){ 3, 4, 12 };
        g.count = (cairn_vec3){ 2, 1, 1 };
        g.spacing = (cairn_vec3){ 20, 1, 1 };
        g.density = 1;
        cairn_bodies b = made_by(&g, 3, &world);
        CHECK_INT(cairn_bodies_shape(&b, 1)->kind, CAIRN_SHAPE_BOX);
        CHECK_NEAR(cairn_bodies_shape(&b, 1)->size.z, k ? 6 : 12, 1e-12);
        CHECK_NEAR(b.mass[1], k ? 18 : 144, 1e-10);
        CHECK_NEAR(b.x[1].x, 20, 0);
        CHECK_NEAR(b.q[1].w, 1, 0);
        cairn_world_destroy(world);
    }
}

TEST(turned_bodies_have_all_orientations_and_glued_ones_never_move)
{
    cairn_generator g = of_kind(CAIRN_GENERATOR_GRID, 0);
    cairn_world *world;
    double sum = 0;
    g.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
    g.shape.semi_axes = (cairn_vec3){ 0.1, 0.2, 0.3 };
    g.count = (cairn_vec3){ 30, 30, 1 };
    g.turned = g.glued = true;
    cairn_bodies b = made_by(&g, 3, &world);
    for (int i = 0; i < b.count; i++) {
        CHECK_INT(b.motion[i], CAIRN_MOTION_FIXED);
        CHECK_NEAR(b.q[i].w * b.q[i].w + b.q[i].x * b.q[i].x + b.q[i].y * b.q[i].y +
                       b.q[i].z * b.q[i].z,
                   1, 1e-12);
        sum += b.q[i].w * b.q[i].w / b.count;
    }
    CHECK_NEAR(sum, 0.25, 0.03); /* a quarter for each part of a uniform quaternion */
    cairn_world_destroy(world);
}

TEST(shapes_without_size_or_with_data_of_their_own_are_not_scaled)
{
    const cairn_vec3 points[3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    cairn_generator g = of_kind(CAIRN_GENERATOR_GRID, 2);
    cairn_world *world = world_of(2);
    cairn_error error = { 0 };
    g.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2);
    CHECK_INT(cairn_generate(world, &g, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "shape");
    g.shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2);
    CHECK_OK(cairn_hull_create(points, 3, 2, &g.shape.geometry, NULL));
    CHECK_INT(cairn_generate(world, &g, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "radius");
    g.radius.value = 0;
    CHECK_OK(cairn_generate(world, &g, NULL, &error));
    g.glued = true;
    g.velocity.x = 1;
    CHECK_INT(cairn_generate(world, &g, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "velocity");
    cairn_geometry_release(g.shape.geometry);
    cairn_world_destroy(world);
}

GROUP(test_generate)
{
    RUN(CASE(box_of_spheres_is_the_same_everywhere), CASE(what_is_constant_draws_nothing),
        CASE(the_density_gives_the_mass_when_none_is_given), CASE(a_pile_in_2d_is_a_triangle),
        CASE(a_pile_in_3d_is_a_square_pyramid), CASE(a_gap_keeps_neighbours_apart),
        CASE(hexagonal_rows_touch_in_2d), CASE(hexagonal_layers_are_close_packed_in_3d),
        CASE(impossible_generators_are_refused), CASE(every_generator_has_a_table),
        CASE(a_radius_scales_a_shape_and_without_it_the_size_is_its_own),
        CASE(turned_bodies_have_all_orientations_and_glued_ones_never_move),
        CASE(shapes_without_size_or_with_data_of_their_own_are_not_scaled));
}

/* ==== test_generate_fill: random fill: no overlap, inside the region, reproducible, linear ==== */

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
    /* 2 pi/6 */
    CHECK_TEXT(error.message,
               "no room for body 2 of 2 after 1000 tries: all of them take about 105 % of "
               "the region, where random places are enough for about 30 %");
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
    CHECK_CONTAINS(
        error.message,
        "no room for body 238733 of 90000000 by their volume alone: all of them take about");
    CHECK_INT(cairn_world_bodies(world).count, 0);
    cairn_world_destroy(world);
}

/* 10 times the bodies in 10 times the room: 10 times the time, where comparing all pairs would
 * take 100 times as long. */
TEST(the_cost_is_linear)
{
    CHECK(seconds_for(20000) < 40 * seconds_for(2000) + 0.1);
}

GROUP(test_generate_fill)
{
    RUN(CASE(spheres_of_very_different_sizes_neither_overlap_nor_leave_the_box),
        CASE(a_second_fill_keeps_clear_of_the_first), CASE(a_lid_blocks_no_more_than_itself),
        CASE(a_fixed_box_is_kept_clear_of), CASE(walls_without_a_bound_are_kept_clear_of),
        CASE(a_region_can_be_an_upright_cylinder), CASE(the_seed_decides_everything),
        CASE(a_full_region_is_said_to_be_full),
        CASE(what_cannot_fit_is_refused_before_memory_is_taken), CASE(the_cost_is_linear));
}

/* ==== test_packing: the packing fraction of lattices and bodies whose volume is known ========= */

enum { SAMPLES = 100000 };

static void add_plane(cairn_world *world, cairn_vec3 position, cairn_vec3 normal)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, cairn_world_dimension(world));
    shape.axis = normal;
    add_wall(world, shape, position);
}

/* Four walls at 0 and `width` on the first two axes. */
static void add_shaft(cairn_world *world, double width)
{
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(1, 0, 0));
    add_plane(world, cairn_vec(width, 0, 0), cairn_vec(-1, 0, 0));
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(0, 1, 0));
    add_plane(world, cairn_vec(0, width, 0), cairn_vec(0, -1, 0));
}

/* 6 x 6 x 6 balls of diameter 1. */
static cairn_world *cubic(void)
{
    cairn_world *world = world_create(3);
    for (int i = 0; i < 216; i++)
        add_sphere(world, 0.5, cairn_vec(0.5 + i % 6, 0.5 + i / 6 % 6, 0.5 + i / 36));
    return world;
}

static cairn_packing measure(cairn_world *world, double trim)
{
    cairn_packing p;
    CHECK_OK(cairn_world_packing(world, trim, SAMPLES, &p));
    CHECK(p.samples > SAMPLES / 10 && p.samples <= SAMPLES);
    return p;
}

/* pi/6 = 0.5236 */
TEST(a_simple_cubic_lattice_fills_pi_over_6)
{
    cairn_world *world = cubic();
    add_shaft(world, 6);
    cairn_packing p = measure(world, 0);
    CHECK_CLOSE(p.fraction, M_PI / 6, 0.01);
    CHECK_NEAR(p.low, 0.5, 0);
    CHECK_NEAR(p.high, 5.5, 0);
    cairn_world_destroy(world);
}

/* A fifth of 216 balls is a bit more than one layer of 36: from the second to the fifth layer. */
TEST(trimming_leaves_out_the_lowest_and_the_highest)
{
    cairn_world *world = cubic();
    add_shaft(world, 6);
    cairn_packing p = measure(world, 0.2);
    CHECK_CLOSE(p.fraction, M_PI / 6, 0.01);
    CHECK_NEAR(p.low, 1.5, 0);
    CHECK_NEAR(p.high, 4.5, 0);
    cairn_world_destroy(world);
}

/* Walls a quarter of a ball further out all round: 6^2/6.5^2 of the share. */
TEST(room_between_balls_and_walls_counts)
{
    cairn_world *world = world_create(3);
    for (int i = 0; i < 216; i++)
        add_sphere(world, 0.5, cairn_vec(0.75 + i % 6, 0.75 + i / 6 % 6, 0.5 + i / 36));
    add_shaft(world, 6.5);
    CHECK_CLOSE(measure(world, 0).fraction, M_PI / 6 * 36 / 42.25, 0.01);
    cairn_world_destroy(world);
}

/* Rows of 10 disks sqrt(3)/2 apart, every other row shifted by half a disk into the walls:
 * pi/(2 sqrt 3) = 0.9069 */
TEST(a_hexagonal_lattice_of_disks_fills_0_9069)
{
    cairn_world *world = world_create(2);
    for (int row = 0; row < 9; row++)
        for (int k = 0; k <= 10; k++) {
            double x = row % 2 ? k : k + 0.5;
            if (x <= 10)
                add_sphere(world, 0.5, cairn_vec(x, 0.5 + sqrt(0.75) * row, 0));
        }
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(1, 0, 0));
    add_plane(world, cairn_vec(10, 0, 0), cairn_vec(-1, 0, 0));
    CHECK_CLOSE(measure(world, 0).fraction, M_PI / (2 * sqrt(3)), 0.01);
    cairn_world_destroy(world);
}

/* A column of balls in a tube of their radius: (4/3 pi r^3)/(2 pi r^3) = 2/3 */
TEST(a_column_in_a_tube_fills_two_thirds)
{
    cairn_world *world = world_create(3);
    cairn_shape tube = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    tube.radius = 0.5;
    add_wall(world, tube, cairn_vec(7, -3, 0));
    for (int i = 0; i < 5; i++)
        add_sphere(world, 0.5, cairn_vec(7, -3, i));
    CHECK_CLOSE(measure(world, 0).fraction, 2.0 / 3, 0.01);
    cairn_world_destroy(world);
}

/* tan = 3/4, from z = 2 to z = 4: pi/3 9/16 (64 - 8) = 32.99 m^3 around half a ball of radius 1
 * at each end, 4.189 m^3 together. */
TEST(two_balls_in_a_cone)
{
    cairn_world *world = world_create(3);
    cairn_shape cone = cairn_shape_default(CAIRN_SHAPE_INSIDE_CONE, 3);
    cone.half_angle = atan(0.75);
    add_wall(world, cone, cairn_vec(0, 0, 0));
    add_sphere(world, 1, cairn_vec(0, 0, 2));
    add_sphere(world, 1, cairn_vec(0, 0, 4));
    CHECK_CLOSE(measure(world, 0).fraction, 4.0 / 3 / (9.0 / 16 * 56 / 3), 0.01);
    cairn_world_destroy(world);
}

/* Gravity along -x: the shaft has its walls on y and z, heights are x. */
TEST(up_is_against_gravity)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    def.gravity = cairn_vec(-1.6, 0, 0);
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    for (int i = 0; i < 216; i++)
        add_sphere(world, 0.5, cairn_vec(0.5 + i / 36, 0.5 + i % 6, 0.5 + i / 6 % 6));
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(0, 1, 0));
    add_plane(world, cairn_vec(0, 6, 0), cairn_vec(0, -1, 0));
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(0, 0, 1));
    add_plane(world, cairn_vec(0, 0, 6), cairn_vec(0, 0, -1));
    cairn_packing p = measure(world, 0);
    CHECK_CLOSE(p.fraction, M_PI / 6, 0.01);
    CHECK_NEAR(p.high, 5.5, 1e-12);
    cairn_world_destroy(world);
}

TEST(bodies_that_are_not_dynamic_do_not_count)
{
    cairn_world *world = cubic();
    add_shaft(world, 6);
    cairn_shape giant = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    giant.radius = 20;
    add_wall(world, giant, cairn_vec(3, 3, 3));
    CHECK_CLOSE(measure(world, 0).fraction, M_PI / 6, 0.01);
    cairn_world_destroy(world);
}

TEST(the_same_world_gives_the_same_number)
{
    cairn_world *world = cubic();
    add_shaft(world, 6);
    CHECK(measure(world, 0.1).fraction == measure(world, 0.1).fraction);
    cairn_world_destroy(world);
}

/* ---- refusals ------------------------------------------------------------------------------- */

TEST(a_region_open_sideways_is_unsupported)
{
    cairn_world *world = cubic();
    cairn_packing p;
    CHECK_INT(cairn_world_packing(world, 0, 100, &p), CAIRN_UNSUPPORTED); /* no walls at all */
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(0, 0, 1));
    CHECK_INT(cairn_world_packing(world, 0, 100, &p), CAIRN_UNSUPPORTED); /* a floor */
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(1, 0, 0));
    add_plane(world, cairn_vec(6, 0, 0), cairn_vec(-1, 0, 0));
    add_plane(world, cairn_vec(0, 0, 0), cairn_vec(0, 1, 0));
    CHECK_INT(cairn_world_packing(world, 0, 100, &p), CAIRN_UNSUPPORTED); /* three of four */
    cairn_shape funnel = cairn_shape_default(CAIRN_SHAPE_FUNNEL, 3);
    funnel.bottom_radius = funnel.top_radius = 20;
    funnel.height = 20;
    add_wall(world, funnel, cairn_vec(3, 3, -5));
    CHECK_INT(cairn_world_packing(world, 0, 100, &p), CAIRN_UNSUPPORTED); /* no container */
    CHECK_NEAR(p.fraction, 0, 0);
    add_plane(world, cairn_vec(0, 6, 0), cairn_vec(0, -1, 0));
    CHECK_OK(cairn_world_packing(world, 0, 100, &p));
    cairn_world_destroy(world);
}

TEST(an_empty_region_is_unsupported)
{
    cairn_world *world = world_create(3);
    cairn_packing p;
    CHECK_INT(cairn_world_packing(world, 0, 100, &p), CAIRN_UNSUPPORTED); /* nobody */
    add_shaft(world, 10);
    add_sphere(world, 0.5, cairn_vec(1, 1, 1));
    CHECK_INT(cairn_world_packing(world, 0, 100, &p), CAIRN_UNSUPPORTED); /* one */
    add_sphere(world, 0.5, cairn_vec(3, 3, 1));
    CHECK_INT(cairn_world_packing(world, 0, 100, &p), CAIRN_UNSUPPORTED); /* no height between */
    add_sphere(world, 0.5, cairn_vec(3, 3, 3));
    CHECK_OK(cairn_world_packing(world, 0, 100, &p));
    cairn_world_destroy(world);
}

TEST(impossible_arguments_are_refused)
{
    cairn_world *world = cubic();
    cairn_packing p;
    add_shaft(world, 6);
    CHECK_INT(cairn_world_packing(world, -0.1, 100, &p), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_world_packing(world, 0.5, 100, &p), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_world_packing(world, NAN, 100, &p), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_world_packing(world, 0, 0, &p), CAIRN_BAD_INPUT);
    cairn_world_destroy(world);
}

TEST(every_allocation_may_fail)
{
    cairn_packing p;
    meter m = { 0 };
    meter_install(&m);
    cairn_world *world = world_create(3);
    add_shaft(world, 100);
    for (int i = 0; i < 10000; i++) /* so many that the scratch memory grows on the way */
        add_sphere(world, 0.5, cairn_vec(0.5 + i % 100, 0.5 + i / 100, i % 7));
    long before = m.alive;
    cairn_status status = CAIRN_NO_MEMORY;
    int failures = 0;
    for (long n = 1; status != CAIRN_OK; n++) {
        m.fail_at = m.calls + n;
        status = cairn_world_packing(world, 0, 10, &p);
        failures += status == CAIRN_NO_MEMORY;
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, before);
    }
    CHECK(failures >= 2);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
}

/* a box among the balls would not be counted, so nothing is said */
TEST(worlds_with_other_shapes_are_not_measured)
{
    cairn_world *world = cubic();
    cairn_body_def def = cairn_body_def_default();
    cairn_packing packing;
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = cairn_vec(1, 1, 1);
    def.position = cairn_vec(3, 3, 20);
    add_shaft(world, 6);
    CHECK_OK(cairn_world_packing(world, 0.1, 1000, &packing));
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_INT(cairn_world_packing(world, 0.1, 1000, &packing), CAIRN_UNSUPPORTED);
    cairn_world_destroy(world);
}

GROUP(test_packing)
{
    RUN(CASE(a_simple_cubic_lattice_fills_pi_over_6),
        CASE(worlds_with_other_shapes_are_not_measured),
        CASE(trimming_leaves_out_the_lowest_and_the_highest),
        CASE(room_between_balls_and_walls_counts), CASE(a_hexagonal_lattice_of_disks_fills_0_9069),
        CASE(a_column_in_a_tube_fills_two_thirds), CASE(two_balls_in_a_cone),
        CASE(up_is_against_gravity), CASE(bodies_that_are_not_dynamic_do_not_count),
        CASE(the_same_world_gives_the_same_number), CASE(a_region_open_sideways_is_unsupported),
        CASE(an_empty_region_is_unsupported), CASE(impossible_arguments_are_refused),
        CASE(every_allocation_may_fail));
}
