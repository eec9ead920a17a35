/* test_passing.c - bodies that pass each other without touching, and seams of what they slide on. */
#include "base/common.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/worlds.h"

static const double steps[] = { 5e-3, 2e-3, 1e-3, 2e-4 };
enum { STEPS = sizeof steps / sizeof *steps };

static cairn_shape box_of(int dimension, cairn_vec3 size)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, dimension);
    box.size = size;
    return box;
}

static void add_mover(cairn_world *world, cairn_shape shape, cairn_vec3 x, cairn_vec3 v)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = shape;
    def.density = 1000;
    def.position = x;
    def.velocity = v;
    CHECK_OK(cairn_body_create(world, &def, NULL));
}

/* The last body after this time. */
static void go(cairn_world *world, double h, double duration, cairn_vec3 *v, cairn_vec3 *omega)
{
    cairn_step_options options = step_by(h, "coulomb", 1e-6);
    advance(world, &options, (int)(duration / h + 0.5));
    cairn_bodies b = cairn_world_bodies(world);
    *v = b.v[b.count - 1];
    *omega = b.omega[b.count - 1];
}

/* ==== test_passing: nothing stops a body that touches nothing ================================== */

/* A box flies over the corner of a block with 1 mm between them, in 2D and, turned, in 3D. */
TEST(a_box_that_passes_a_corner_is_not_stopped)
{
    for (int k = 0; k < 2 * STEPS; k++) {
        int dimension = k % 2 ? 3 : 2;
        cairn_world *world = new_world(dimension, 0, 0.5, 0.5);
        bool flat = dimension == 2;
        cairn_shape block = box_of(dimension, flat ? cairn_vec(2, 0.5, 0) : cairn_vec(2, 2, 0.5));
        cairn_shape box =
            box_of(dimension, flat ? cairn_vec(0.3, 0.1, 0) : cairn_vec(0.3, 0.2, 0.1));
        cairn_vec3 up = flat ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1), omega, v;
        add_wall(world, block, cairn_add_scaled(cairn_vec(1, 0, 0), -0.25, up));
        add_mover(world, box, cairn_add_scaled(cairn_vec(-0.5, 0, 0), 0.051, up),
                  cairn_vec(3, flat ? 0 : 0.3, 0));
        go(world, steps[k / 2], 0.4, &v, &omega);
        CHECK_NEAR(v.x, 3, 1e-12);
        CHECK_NEAR(cairn_norm(omega), 0, 1e-12);
        cairn_world_destroy(world);
    }
}

/* Two boxes, 1 mm apart, pass each other in free flight. */
TEST(two_boxes_pass_each_other)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_vec3 v, omega;
    cairn_shape box = box_of(3, cairn_vec(0.3, 0.2, 0.1));
    add_mover(world, box, cairn_vec(0.5, 0, -0.0505), cairn_vec(-3, 0, 0));
    add_mover(world, box, cairn_vec(-0.5, 0, 0.0505), cairn_vec(3, 0, 0));
    go(world, 2e-3, 0.4, &v, &omega);
    CHECK_NEAR(v.x, 3, 1e-12);
    CHECK_NEAR(cairn_norm(omega), 0, 1e-12);
    cairn_world_destroy(world);
}

/* 5 mm lower it hits the block, and is stopped by its side, not before. */
TEST(a_box_that_does_not_pass_is_stopped)
{
    for (int k = 0; k < STEPS; k++) {
        cairn_world *world = new_world(2, 0, 0, 0);
        cairn_vec3 v, omega;
        add_wall(world, box_of(2, cairn_vec(2, 0.5, 0)), cairn_vec(1, -0.25, 0));
        add_mover(world, box_of(2, cairn_vec(0.3, 0.3, 0)), cairn_vec(-0.5, -0.1, 0),
                  cairn_vec(3, 0, 0));
        go(world, steps[k], 0.4, &v, &omega);
        cairn_bodies b = cairn_world_bodies(world);
        CHECK(v.x < 1e-6 && b.x[1].x < -0.15 + 1e-6);
        cairn_world_destroy(world);
    }
}

/* ---- seams ----------------------------------------------------------------------------------- */

static cairn_world *new_seam(double friction)
{
    cairn_world *world = new_world(3, 9.81, friction, 0.5);
    cairn_shape slab = box_of(3, cairn_vec(2, 2, 0.5));
    add_wall(world, slab, cairn_vec(-1, 0, -0.25));
    add_wall(world, slab, cairn_vec(1, 0, -0.25));
    return world;
}

/* Where two slabs meet, a box slides on: v = 3 - mu g t. */
TEST(a_box_slides_over_a_seam)
{
    for (int k = 0; k < 2 * STEPS; k++) {
        double mu = k % 2 ? 0.3 : 0;
        cairn_world *world = new_seam(mu);
        cairn_vec3 v, omega;
        add_mover(world, box_of(3, cairn_vec(0.3, 0.2, 0.1)), cairn_vec(-0.5, 0, 0.05),
                  cairn_vec(3, 0, 0));
        go(world, steps[k / 2], 0.4, &v, &omega);
        CHECK_NEAR(v.x, 3 - mu * 9.81 * 0.4, 1e-5);
        CHECK_NEAR(v.z, 0, 1e-4);
        cairn_world_destroy(world);
    }
}

/* So do a cylinder, a capsule, an ellipsoid and a box with round edges. */
TEST(other_shapes_slide_over_a_seam)
{
    cairn_shape shapes[4];
    const cairn_shape_kind kinds[] = { CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CAPSULE,
                                       CAIRN_SHAPE_ELLIPSOID, CAIRN_SHAPE_BOX };
    for (int k = 0; k < 4; k++) {
        cairn_world *world = new_seam(0);
        cairn_vec3 v, omega;
        shapes[k] = cairn_shape_default(kinds[k], 3);
        shapes[k].radius = shapes[k].height = 0.1;
        shapes[k].length = 0.2;
        shapes[k].axis = kinds[k] == CAIRN_SHAPE_CAPSULE ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
        shapes[k].semi_axes = cairn_vec(0.1, 0.15, 0.05);
        shapes[k].size = cairn_vec(0.2, 0.2, 0.1);
        shapes[k].rounding = kinds[k] == CAIRN_SHAPE_BOX ? 0.01 : 0;
        double up = kinds[k] == CAIRN_SHAPE_CAPSULE ? 0.1 : 0.05;
        add_mover(world, shapes[k], cairn_vec(-0.5, 0, up), cairn_vec(3, 0, 0));
        go(world, 2e-3, 0.4, &v, &omega);
        CHECK_NEAR(v.x, 3, 1e-5);
        cairn_world_destroy(world);
    }
}

/* A parcel goes from one conveyor to the next with their speed. */
TEST(a_parcel_goes_from_belt_to_belt)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_vec3 v, omega;
    for (int k = 0; k < 2; k++) {
        cairn_body_def belt = cairn_body_def_default();
        belt.motion = CAIRN_MOTION_FIXED;
        belt.shape = box_of(3, cairn_vec(2, 1, 0.2));
        belt.position = cairn_vec(2 * k - 1, 0, -0.1);
        belt.surface_velocity = cairn_vec(1, 0, 0);
        CHECK_OK(cairn_body_create(world, &belt, NULL));
    }
    add_mover(world, box_of(3, cairn_vec(0.3, 0.2, 0.1)), cairn_vec(-0.5, 0, 0.05),
              cairn_vec(1, 0, 0));
    go(world, 2e-3, 1, &v, &omega);
    CHECK_NEAR(v.x, 1, 1e-5);
    CHECK_NEAR(cairn_world_bodies(world).x[2].x, 0.5, 1e-5);
    cairn_world_destroy(world);
}

GROUP(test_passing)
{
    RUN(CASE(a_box_that_passes_a_corner_is_not_stopped), CASE(two_boxes_pass_each_other),
        CASE(a_box_that_does_not_pass_is_stopped), CASE(a_box_slides_over_a_seam),
        CASE(other_shapes_slide_over_a_seam), CASE(a_parcel_goes_from_belt_to_belt));
}
