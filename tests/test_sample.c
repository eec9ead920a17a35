/* test_sample.c - a world as a state for statistics. */
#include "io/sample.h"

#include "run_scene.h"

/* A normal impulse of 2 and tangential ones of 3 and 5 over h = 0.5: n = z, t = x, n x t = y. */
TEST(impulses_become_forces_in_the_world_frame)
{
    const cairn_vec3 n = { 0, 0, 1 }, t = { 1, 0, 0 };
    const double r[3] = { 2, 3, 5 };
    cairn_sample_contacts c = { 1, &n, &t, r };
    cairn_arena arena = { 0 };
    const cairn_vec3 *f = cairn_sample_forces(&c, 3, 0.5, &arena);
    CHECK_NEAR(f->z, 4, 1e-15);
    CHECK_NEAR(f->x, 6, 1e-15);
    CHECK_NEAR(f->y, 10, 1e-15);
    f = cairn_sample_forces(&c, 2, 0.5, &arena);
    CHECK_NEAR(f->x, 6, 1e-15);
    CHECK_NEAR(f->y, 0, 0);
    cairn_arena_destroy(&arena);
}

TEST(volumes_are_those_of_the_shapes)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cairn_shape ellipse = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 2);
    cairn_shape floor = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    box.size = (cairn_vec3){ 1, 2, 3 };
    ellipse.semi_axes = (cairn_vec3){ 2, 0.5, 0 };
    CHECK_CLOSE(cairn_sample_volume(&box, 3), 6, 1e-14);
    CHECK_CLOSE(cairn_sample_volume(&ellipse, 2), M_PI, 1e-14);
    CHECK_NEAR(cairn_sample_volume(&floor, 3), 0, 0);
}

TEST(grains_are_the_dynamic_bodies_that_are_there)
{
    cairn_scene s = scene_create(3);
    cairn_arena arena = { 0 };
    cairn_sample sample;
    CHECK_OK(cairn_body_destroy(s.world, (cairn_body_id){ cairn_world_bodies(s.world).uid[2] }));
    CHECK_OK(cairn_sample_take(s.world, 0, &arena, &sample));
    CHECK_INT(sample.count, 3);       /* one is gone */
    CHECK_INT(sample.is_grain[0], 0); /* the floor */
    CHECK_INT(sample.is_grain[1], 1);
    CHECK_INT(sample.is_grain[2], 1);
    CHECK_NEAR(sample.radius[0], 0, 0);
    CHECK_NEAR(sample.radius[1], 0.1, 0);
    CHECK_NEAR(sample.volume[0], 0, 0);
    CHECK_CLOSE(sample.volume[1], 4.0 / 3 * M_PI * 1e-3, 1e-12);
    CHECK(!sample.has_contacts);
    cairn_arena_destroy(&arena);
    scene_destroy(&s);
}

/* A ball at rest on a floor: the stress times the volume is the weight times the radius. */
TEST(a_world_is_measured_as_it_stands)
{
    cairn_scene s = scene_create(3);
    cairn_measure_options o = cairn_measure_options_default();
    cairn_statistic_table t;
    cairn_step_report report;
    o.low = (cairn_vec3){ -0.1, -0.1, 0 };
    o.high = (cairn_vec3){ 0.1, 0.1, 0.2 };
    CHECK_OK(cairn_world_step(s.world, &s.step, &report));
    CHECK_OK(cairn_statistic_table_create("stress", 3, &t));
    CHECK_OK(cairn_world_statistic(s.world, s.step.time_step, &o, &t));
    CHECK_INT(t.rows, 1);
    double weight = cairn_world_bodies(s.world).mass[1] * -cairn_world_gravity(s.world).z;
    CHECK_TEXT(t.columns[7].name, "zz");
    CHECK_CLOSE(t.values[7], weight * 0.1 / 0.008, 1e-3);
    o.bins = 0;
    CHECK_INT(cairn_world_statistic(s.world, s.step.time_step, &o, &t), CAIRN_BAD_INPUT);
    cairn_statistic_table_destroy(&t);
    scene_destroy(&s);
}

int main(void)
{
    RUN(CASE(impulses_become_forces_in_the_world_frame), CASE(volumes_are_those_of_the_shapes),
        CASE(grains_are_the_dynamic_bodies_that_are_there), CASE(a_world_is_measured_as_it_stands));
}
