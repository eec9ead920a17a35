/* test_trajectory.c - sample times, places between steps, distances between runs. */
#include "io/trajectory.h"

#include "failing_allocator.h"
#include "small_world.h"

/* A world with a floor (body 0) and `count` spheres (bodies 1, ...) at (i, height). */
static cairn_world *spheres(int count, double height)
{
    cairn_world *world = world_create(2);
    add_wall(world, cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 2), (cairn_vec3){ 0 });
    for (int i = 0; i < count; i++)
        add_sphere(world, 0.1, (cairn_vec3){ i, height, 0 });
    return world;
}

TEST(there_is_a_sample_for_each_of_the_coarsest_steps)
{
    cairn_sample_times t = cairn_sample_times_make(2, 10, 0.08);
    CHECK_INT(t.count, 125);
    CHECK_NEAR(t.start, 2, 0);
    CHECK_NEAR(t.interval, 0.08, 1e-15);
    CHECK_INT(cairn_sample_times_make(0, 10, 1e-6).count, CAIRN_TRAJECTORY_SAMPLES);
    CHECK_INT(cairn_sample_times_make(0, 1, 100).count, 1);
    /* 1 s in steps of 0.3 s: 3 samples, the last at the end */
    CHECK_NEAR(cairn_sample_times_make(0, 1, 0.3).interval, 1.0 / 3, 1e-15);
}

TEST(distances_are_largest_and_mean_square_over_bodies_and_samples)
{
    cairn_trajectory t = { 0 };
    cairn_distance_meter m = { 0 };
    cairn_world *a = spheres(2, 1), *b = spheres(2, 1.3), *c = spheres(2, 1.4);
    CHECK_OK(cairn_trajectory_add(&t, a, 0));
    CHECK_OK(cairn_trajectory_add(&t, a, 0));
    cairn_distance_meter_add(&m, &t, 0, c, 0);
    CHECK_NEAR(m.difference.end_max, 0.4, 1e-15);
    cairn_distance_meter_add(&m, &t, 1, b, 0);
    CHECK_INT(m.difference.samples, 2);
    CHECK_NEAR(m.difference.end_max, 0.3, 1e-15);
    CHECK_NEAR(m.difference.end_rms, 0.3, 1e-15);
    CHECK_NEAR(m.difference.whole_max, 0.4, 1e-15);
    CHECK_NEAR(m.difference.whole_rms, sqrt((0.09 + 0.16) / 2), 1e-15);
    cairn_distance_meter_add(&m, &t, 2, c, 0); /* no such sample */
    CHECK_INT(m.difference.samples, 2);
    cairn_world_destroy(a);
    cairn_world_destroy(b);
    cairn_world_destroy(c);
    cairn_trajectory_destroy(&t);
}

TEST(bodies_that_one_run_lacks_and_fixed_ones_are_left_out)
{
    cairn_trajectory t = { 0 };
    cairn_distance_meter m = { 0 };
    cairn_world *one = spheres(1, 1), *three = spheres(3, 1.5), *none = spheres(0, 0);
    CHECK_OK(cairn_trajectory_add(&t, three, 0));
    cairn_distance_meter_add(&m, &t, 0, one, 0);
    CHECK_INT(m.count, 1);
    CHECK_NEAR(m.difference.end_rms, 0.5, 1e-15);
    cairn_distance_meter_add(&m, &t, 0, none, 0);
    CHECK_INT(m.difference.samples, 1);
    cairn_world_destroy(one);
    cairn_world_destroy(three);
    cairn_world_destroy(none);
    cairn_trajectory_destroy(&t);
}

TEST(between_steps_a_body_is_on_its_straight_line)
{
    cairn_trajectory t = { 0 };
    cairn_step_report report;
    cairn_world *world = spheres(1, 10);
    cairn_step_options step = cairn_step_options_default();
    step.time_step = 0.1;
    CHECK_OK(cairn_world_step(world, &step, &report));
    CHECK_OK(cairn_trajectory_add(&t, world, 0.1));
    CHECK_OK(cairn_trajectory_add(&t, world, 0.025));
    CHECK_INT(t.samples, 2);
    CHECK(isnan(t.x[0].x)); /* the floor */
    CHECK_NEAR(t.x[1].y, 10 - 0.0981, 1e-12);
    CHECK_NEAR(t.x[3].y, 10 - 0.0981 / 4, 1e-12);
    cairn_world_destroy(world);
    cairn_trajectory_destroy(&t);
}

TEST(no_memory_is_told_and_nothing_is_added)
{
    cairn_trajectory t = { 0 };
    cairn_world *world = spheres(1, 1);
    meter m = { .fail_at = 1 };
    meter_install(&m);
    CHECK_INT(cairn_trajectory_add(&t, world, 0), CAIRN_NO_MEMORY);
    CHECK_INT(t.samples, 0);
    CHECK_OK(cairn_trajectory_add(&t, world, 0));
    CHECK_INT(t.samples, 1);
    cairn_trajectory_destroy(&t);
    CHECK_INT(m.alive, 0);
    cairn_allocator_set(NULL);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(there_is_a_sample_for_each_of_the_coarsest_steps),
        CASE(distances_are_largest_and_mean_square_over_bodies_and_samples),
        CASE(bodies_that_one_run_lacks_and_fixed_ones_are_left_out),
        CASE(between_steps_a_body_is_on_its_straight_line),
        CASE(no_memory_is_told_and_nothing_is_added));
}
