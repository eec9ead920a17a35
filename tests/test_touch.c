/* test_touch.c - what touches what in a world, without a step. */
#include "world/touch.h"
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

static cairn_shape box_of(double edge)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    box.size = (cairn_vec3){ edge, edge, edge };
    return box;
}

static cairn_collider at(const cairn_shape *shape, double x)
{
    cairn_collider c = { .shape = shape };
    cairn_collider_place(&c, (cairn_pose){ { x, 0, 0 }, { 1, 0, 0, 0 } });
    return c;
}

/* one witness within reach 0 is enough */
TEST(what_touches_or_overlaps_meets)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_shape box = box_of(1);
    cairn_collider a = at(&box, 0), touching = at(&box, 1), apart = at(&box, 1.001);
    CHECK(cairn_world_meet(world, &a, &a));
    CHECK(cairn_world_meet(world, &a, &touching));
    CHECK(!cairn_world_meet(world, &a, &apart));
    cairn_world_destroy(world);
}

/* a box 0.1 m in the floor, another 0.2 m in the first */
TEST(the_deepest_overlap_is_found_and_named)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id a, b;
    double depth;
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    def.shape = box_of(1);
    def.position.z = 0.4;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_OK(cairn_world_overlap(world, &depth, &a, &b));
    CHECK_NEAR(depth, 0.1, 1e-12);
    def.position.z = 1.2;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_OK(cairn_world_overlap(world, &depth, &a, &b));
    CHECK_NEAR(depth, 0.2, 1e-12);
    CHECK_INT(a.uid, 1);
    CHECK_INT(b.uid, 2);
    cairn_world_destroy(world);
}

/* A funnel meets balls only. */
TEST(a_pair_that_cannot_be_resolved_is_named)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_shape funnel = cairn_shape_default(CAIRN_SHAPE_FUNNEL, 3);
    cairn_body_def def = cairn_body_def_default();
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    cairn_step_report report;
    funnel.bottom_radius = funnel.top_radius = funnel.height = 1;
    add_wall(world, funnel, zero);
    add_ball(world, 0.1, zero, zero);
    CHECK_OK(cairn_world_step(world, &options, &report));
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 1, 1, 1 };
    def.position.x = 5;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    CHECK_INT(cairn_world_step(world, &options, &report), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(cairn_world_error(world)->message,
                   "the distance of body 0 (funnel) and body 2 (box) cannot be found: a funnel "
                   "meets balls only, expected a mesh");
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(what_touches_or_overlaps_meets), CASE(the_deepest_overlap_is_found_and_named),
        CASE(a_pair_that_cannot_be_resolved_is_named));
}
