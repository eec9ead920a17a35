/* test_warm.c - matching with the last step, and with the last attempt. */
#include "base/arena.h"
#include "math/vec.h"
#include "world/step.h"
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* Sweeps of 20 steps. */
static int64_t count_sweeps(cairn_world *world, const cairn_step_options *options)
{
    int64_t sweeps = 0;
    for (int k = 0; k < 20; k++)
        sweeps += advance(world, options, 1).solve.iterations;
    return sweeps;
}

/* a ball slides round a cylinder: the normal turns each step, the push stays the same in size; the
 * carried impulse is nearly the next answer: cold steps need a sweep each, warm ones none */
TEST(impulses_are_carried_over_as_vectors_in_space)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    add_fixed(world, CAIRN_SHAPE_INSIDE_CYLINDER, 1, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0.9, 0, 0 }, (cairn_vec3){ 0, 1, 0 });
    cairn_step_options options = step_by(0.001, "convex", 1e-4);
    advance(world, &options, 2);
    CHECK_INT(count_sweeps(world, &options), 0);
    options.warm_start = false;
    CHECK_INT(count_sweeps(world, &options), 20);
    cairn_world_destroy(world);
}

/* contact order and warm start survive bodies that come and go */
TEST(removed_bodies_do_not_confuse_the_matching)
{
    cairn_world *world = new_world(2, 10, 0.5, 0);
    cairn_body_id ids[5];
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    for (int i = 0; i < 5; i++)
        ids[i] = (cairn_body_id){ (uint64_t)add_ball(world, 0.1, (cairn_vec3){ i, 0.1, 0 }, zero) };
    cairn_step_options options = step_by(0.01, "convex", 1e-10);
    advance(world, &options, 10);
    CHECK_INT(cairn_world_contacts(world).count, 5);
    CHECK_OK(cairn_body_destroy(world, ids[2]));
    cairn_step_report report = advance(world, &options, 1);
    CHECK_INT(report.candidates, 4);
    CHECK_INT(report.solve.iterations, 0); /* the other four were carried over exactly */
    cairn_world_destroy(world);
}

TEST(changing_the_time_step_scales_the_warm_start)
{
    cairn_world *world = new_world(2, 10, 0.5, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0.1, 0 }, zero);
    cairn_step_options options = step_by(0.01, "convex", 1e-10);
    advance(world, &options, 10);
    options.time_step = 0.002;
    CHECK_INT(advance(world, &options, 1).solve.iterations, 0); /* m g h is 1/5 of before */
    CHECK_NEAR(cairn_world_contacts(world).impulse[0], 0.02, 1e-12);
    cairn_world_destroy(world);
}

/* What an attempt leaves behind is the impulse of each contact as a vector in space. */
TEST(an_attempt_is_set_aside_in_space_axes)
{
    cairn_world *world = new_heap(3, 0.3, 3);
    cairn_step_options options = step_by(0.005, "convex", 1e-6);
    advance(world, &options, 60);
    cairn_contacts c = cairn_world_contacts(world);
    const cairn_step step = { .world = world };
    const cairn_answer answer = { .r = world->contacts.impulse };
    cairn_candidates found = { .before_attempts = cairn_arena_now(&world->scratch) };
    int count = c.count;
    CHECK(count > 5);
    CHECK_OK(cairn_step_set_aside(&step, &answer, &found));
    CHECK_INT(found.aside.count, count);
    CHECK_INT(world->contacts.count, 0);
    CHECK(found.warm == &found.aside && found.warm_ratio == 1);
    for (int j = 0; j < count; j++) {
        cairn_vec3 n = c.normal[j], t = c.tangent[j], b = cairn_cross(n, t);
        const double *r = c.impulse + 3 * j, *p = found.aside.impulse + 3 * j;
        cairn_vec3 push = cairn_vec(p[0], p[1], p[2]);
        CHECK_NEAR(cairn_dot(push, n), r[0], 1e-14);
        CHECK_NEAR(cairn_dot(push, t), r[1], 1e-14);
        CHECK_NEAR(cairn_dot(push, b), r[2], 1e-14);
        CHECK_INT(found.aside.body[2 * j], c.body[2 * j]);
    }
    cairn_world_destroy(world);
}

/* Balls in a row, the first hits the others hard: the step is done again with more candidates, and
 * momentum is what it was. */
TEST(a_step_that_is_done_again_is_solved_as_well)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    for (int i = 0; i < 5; i++)
        add_ball(world, 0.1, (cairn_vec3){ 0.25 * i, 0, 0 }, (cairn_vec3){ i == 0 ? 20 : 0, 0, 0 });
    cairn_step_options options = step_by(0.01, "convex", 1e-10);
    cairn_step_report report = advance(world, &options, 1);
    double sum = 0;
    CHECK(report.attempts > 1);
    for (int i = 0; i < 5; i++)
        sum += cairn_world_bodies(world).v[i].x;
    CHECK_NEAR(sum, 20, 1e-12);
    CHECK(cairn_world_bodies(world).v[1].x > 1);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(impulses_are_carried_over_as_vectors_in_space),
        CASE(removed_bodies_do_not_confuse_the_matching),
        CASE(changing_the_time_step_scales_the_warm_start),
        CASE(an_attempt_is_set_aside_in_space_axes),
        CASE(a_step_that_is_done_again_is_solved_as_well));
}
