/* test_generate.c - grids, hexagonal packings and piles: positions, order of draws, refusals. */
#include "cairn/generate.h"
#include "check.h"

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

int main(void)
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
