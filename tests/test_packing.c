/* test_packing.c - the packing fraction of lattices and bodies whose volume is known. */
#include "check.h"
#include "failing_allocator.h"
#include "math/vec.h"
#include "small_world.h"

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

int main(void)
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
