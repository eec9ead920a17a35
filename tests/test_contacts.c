/* test_contacts.c - candidates and contact frames. */
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* candidates reach as far as the step can move things, and no further than that makes sense */
TEST(candidates_follow_the_speed)
{
    const double speeds[] = { 0, 1, 10 };
    const int expected[] = { 0, 0, 1 }; /* 0.2 m apart, h = 0.02 s */
    for (int i = 0; i < 3; i++) {
        cairn_world *world = new_world(3, 0, 0.3, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.3 }, (cairn_vec3){ 0, 0, -speeds[i] });
        cairn_step_options options = step_by(0.02, "convex", 1e-6);
        CHECK_INT(advance(world, &options, 1).candidates, expected[i]);
        cairn_world_destroy(world);
    }
}

TEST(a_margin_makes_candidates_of_things_further_away)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.3 }, zero);
    cairn_step_options options = step_by(0.02, "convex", 1e-6);
    options.margin = 0.25;
    CHECK_INT(advance(world, &options, 1).candidates, 1);
    cairn_world_destroy(world);
}

/* Two ellipsoids beside two balls: the least exact distance is theirs, and better than promised. */
TEST(the_worst_distance_of_a_step_is_recorded)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    add_ball(world, 0.1, zero, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0.2, 0, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    cairn_step_report report = advance(world, &options, 1);
    CHECK(report.certificate.distance == 0);
    CHECK_INT(report.distance_body[0], -1);
    for (int k = 0; k < 2; k++) {
        cairn_body_def def = cairn_body_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
        def.shape.semi_axes = (cairn_vec3){ 0.1, 0.2, 0.3 };
        def.position = (cairn_vec3){ 5 + 0.15 * k, 0.13 * k, 0.11 * k };
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    report = advance(world, &options, 1);
    CHECK_INT(report.candidates, 2);
    CHECK(report.certificate.distance > 0 && report.certificate.distance < 1e-10);
    CHECK_INT(report.distance_body[0], 2);
    CHECK_INT(report.distance_body[1], 3);
    cairn_world_destroy(world);
}

/* frames are right-handed and orthonormal, normals point from b to a */
TEST(contact_frames_are_orthonormal)
{
    cairn_world *world = new_heap(3, 0.3, 3);
    cairn_step_options options = step_by(0.005, "convex", 1e-4);
    advance(world, &options, 100);
    cairn_contacts c = cairn_world_contacts(world);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK(c.count > 10);
    for (int j = 0; j < c.count; j++) {
        cairn_vec3 n = c.normal[j], t = c.tangent[j];
        CHECK_NEAR(n.x * n.x + n.y * n.y + n.z * n.z, 1, 1e-14);
        CHECK_NEAR(t.x * t.x + t.y * t.y + t.z * t.z, 1, 1e-14);
        CHECK_NEAR(n.x * t.x + n.y * t.y + n.z * t.z, 0, 1e-14);
        cairn_vec3 a = b.x[c.body[2 * j]], p = c.point[j];
        /* the ball a lies on the side of the point to which the normal shows */
        CHECK((a.x - p.x) * n.x + (a.y - p.y) * n.y + (a.z - p.z) * n.z > 0);
    }
    cairn_world_destroy(world);
}

/* A pile of 60 balls on a floor; a box far away has them go through the narrow phase of any shapes. */
static cairn_world *new_pile(bool box)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_shape cube = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cube.size = (cairn_vec3){ 1, 1, 1 };
    if (box)
        add_wall(world, cube, (cairn_vec3){ 100, 0, 0 });
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 60; i++)
        add_ball(world, 0.05 + 0.0001 * i,
                 (cairn_vec3){ 0.11 * (i % 4), 0.11 * (i / 4 % 4), 0.06 + 0.11 * (i / 16) }, zero);
    return world;
}

TEST(balls_meet_alike_whatever_else_is_there)
{
    cairn_world *one = new_pile(false), *two = new_pile(true);
    cairn_step_options options = step_by(0.005, "convex", 1e-6);
    advance(one, &options, 40);
    advance(two, &options, 40);
    cairn_contacts a = cairn_world_contacts(one), b = cairn_world_contacts(two);
    CHECK(a.count > 60);
    CHECK_INT(a.count, b.count);
    CHECK(memcmp(a.gap, b.gap, (size_t)a.count * sizeof *a.gap) == 0);
    CHECK(memcmp(a.point, b.point, (size_t)a.count * sizeof *a.point) == 0);
    CHECK(memcmp(a.tangent, b.tangent, (size_t)a.count * sizeof *a.tangent) == 0);
    cairn_world_destroy(one);
    cairn_world_destroy(two);
}

/* A level rod of 2 m, 0.79 m above the floor; its tips go 1 m for each radian: 0.8 m in a step of
 * 0.02 s at 40 rad/s. */
TEST(turning_brings_candidates)
{
    const double spins[3] = { 0, 3, 40 };
    const int expected[3] = { 0, 0, 1 };
    for (int k = 0; k < 3; k++) {
        cairn_world *world = new_world(2, 0, 0.3, 0);
        add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
        cairn_body_def def = cairn_body_def_default();
        def.shape = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 2);
        def.shape.radius = 0.01;
        def.shape.length = 2;
        def.shape.axis = (cairn_vec3){ 1, 0, 0 };
        def.position.y = 0.8;
        def.angular_velocity.z = spins[k];
        CHECK_OK(cairn_body_create(world, &def, NULL));
        cairn_step_options options = step_by(0.02, "convex", 1e-6);
        CHECK_INT(advance(world, &options, 1).candidates > 0, expected[k]);
        cairn_world_destroy(world);
    }
}

/* a spinning rod strikes a ball that rests beside it and never goes through it: what turns past it
 * in a step is less than its radius, or the step is refused */
TEST(a_turning_rod_does_not_pass_through_a_ball)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 2);
    def.shape.radius = 0.01;
    def.shape.length = 2;
    def.shape.axis = (cairn_vec3){ 1, 0, 0 };
    def.angular_velocity.z = 20; /* 0.02 rad and 0.018 m at the ball in a step of 1 ms */
    CHECK_OK(cairn_body_create(world, &def, NULL));
    int ball = add_ball(world, 0.02, (cairn_vec3){ 0, 0.9, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-8);
    cairn_step_report report;
    double deepest = 0;
    cairn_status status = CAIRN_OK;
    for (int k = 0; k < 100 && status == CAIRN_OK; k++)
        status = cairn_world_step(world, &options, &report);
    CHECK_INT(status, CAIRN_BAD_INPUT);
    options.time_step = 0.001;
    for (int k = 0; k < 1000; k++)
        deepest = fmax(deepest, advance(world, &options, 1).certificate.penetration);
    CHECK(deepest < 2e-4); /* curved within the step: (1 - cos 0.02) 0.9 = 1.8e-4 */
    CHECK(cairn_world_bodies(world).v[ball].x < -1);
    cairn_world_destroy(world);
}

/* Three cubes of edge 1, one on the other, shifted a little: nothing moves in a second. */
TEST(a_stack_of_cubes_stays)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    def.shape.size = (cairn_vec3){ 1, 1, 1 };
    for (int k = 0; k < 3; k++) {
        def.position = (cairn_vec3){ 0.1 * k, 0.05 * k, 0.5 + k };
        CHECK_OK(cairn_body_create(world, &def, NULL));
    }
    cairn_step_options options = step_by(0.005, "convex", 1e-8);
    CHECK_INT(advance(world, &options, 200).candidates, 12);
    cairn_bodies b = cairn_world_bodies(world);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(b.x[1 + k].x, 0.1 * k, 1e-5);
        CHECK_NEAR(b.x[1 + k].z, 0.5 + k, 1e-5);
    }
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(candidates_follow_the_speed), CASE(a_margin_makes_candidates_of_things_further_away),
        CASE(the_worst_distance_of_a_step_is_recorded), CASE(contact_frames_are_orthonormal),
        CASE(balls_meet_alike_whatever_else_is_there), CASE(turning_brings_candidates),
        CASE(a_turning_rod_does_not_pass_through_a_ball), CASE(a_stack_of_cubes_stays));
}
