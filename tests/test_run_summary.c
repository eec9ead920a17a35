/* test_run_summary.c - totals of hand-made reports, and summary.json. */
#include "io/run_summary.h"
#include "run_scene.h"

static cairn_run_summary two_steps(const cairn_world *world)
{
    cairn_run_summary s = cairn_run_summary_start(world);
    cairn_step_report a = { .candidates = 10, .active = 4, .attempts = 1 };
    cairn_step_report b = { .candidates = 20, .active = 2, .attempts = 2 };
    a.solve = (cairn_solve_report){ .converged = true, .iterations = 30 };
    b.solve = (cairn_solve_report){ .converged = false, .iterations = 10 };
    a.certificate.penetration = 1e-3;
    b.certificate.penetration = 3e-3;
    a.certificate.distance = 1e-12;
    b.certificate.distance = 1e-13;
    a.distance_body[0] = 4;
    a.distance_body[1] = 6;
    a.certificate.judgement.asked = (cairn_residual){ .worst = 5, .worst_contact = 8 };
    b.certificate.judgement.asked = (cairn_residual){ .worst = 2, .worst_contact = 1 };
    a.energy = (cairn_energy){ .kinetic = 1, .potential = 2, .friction_loss = 0.5 };
    b.energy = (cairn_energy){ .kinetic = 3, .potential = 4, .friction_loss = 0.25 };
    a.timing.solve = 0.5;
    b.timing.solve = 1;
    cairn_run_summary_add(&s, &a);
    cairn_run_summary_add(&s, &b);
    cairn_run_summary_finish(&s);
    return s;
}

TEST(worst_and_mean_are_taken_entry_by_entry)
{
    cairn_scene scene = scene_create(3);
    cairn_run_summary s = two_steps(scene.world);
    CHECK_INT(s.steps, 2);
    CHECK_NEAR(s.worst.penetration, 3e-3, 0);
    CHECK_NEAR(s.mean.penetration, 2e-3, 1e-18);
    CHECK_NEAR(s.worst.judgement.asked.worst, 5, 0);
    CHECK_INT(s.worst.judgement.asked.worst_contact, 8);
    CHECK_NEAR(s.worst.distance, 1e-12, 0);
    CHECK_INT(s.distance_body[0], 4);
    CHECK_INT(s.distance_body[1], 6);
    CHECK_INT(s.max_candidates, 20);
    CHECK_NEAR(s.mean_candidates, 15, 0);
    CHECK_INT(s.max_active, 4);
    CHECK_NEAR(s.mean_active, 3, 0);
    CHECK_INT(s.max_iterations, 30);
    CHECK_NEAR(s.mean_iterations, 20, 0);
    CHECK_INT(s.uncertified, 1);
    CHECK_INT(s.first_uncertified, 2);
    CHECK_INT(s.repeated, 1);
    scene_destroy(&scene);
}

TEST(losses_add_up_and_states_are_the_last)
{
    cairn_scene scene = scene_create(3);
    cairn_run_summary s = two_steps(scene.world);
    CHECK_NEAR(s.energy.friction_loss, 0.75, 0);
    CHECK_NEAR(s.energy.kinetic, 3, 0);
    CHECK_NEAR(s.energy.potential, 4, 0);
    CHECK_NEAR(s.timing.solve, 1.5, 0);
    scene_destroy(&scene);
}

/* A spring of 100 N/m, 1 m long where 0.8 m would be its rest, stores 2 J. */
TEST(the_start_counts_what_springs_store)
{
    cairn_scene scene = scene_create(3);
    cairn_run_summary before = cairn_run_summary_start(scene.world);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_SPRING;
    def.a = (cairn_body_id){ cairn_world_bodies(scene.world).uid[1] };
    def.anchor_b.z = 1;
    def.slide.stiffness = 100;
    def.slide.rest = 0.8;
    CHECK_OK(cairn_joint_create(scene.world, &def, NULL));
    cairn_run_summary s = cairn_run_summary_start(scene.world);
    CHECK_NEAR(s.energy.elastic, 2, 1e-12);
    CHECK_NEAR(s.initial_energy - before.initial_energy, 2, 1e-12);
    scene_destroy(&scene);
}

TEST(a_value_that_is_no_number_stays_the_worst)
{
    cairn_scene scene = scene_create(3);
    cairn_run_summary s = cairn_run_summary_start(scene.world);
    cairn_step_report report = { 0 };
    report.certificate.gap_error = NAN;
    cairn_run_summary_add(&s, &report);
    report.certificate.gap_error = 1;
    cairn_run_summary_add(&s, &report);
    CHECK(isnan(s.worst.gap_error));
    scene_destroy(&scene);
}

TEST(no_steps_give_no_division_by_zero)
{
    cairn_scene scene = scene_create(3);
    cairn_run_summary s = cairn_run_summary_start(scene.world);
    cairn_run_summary_finish(&s);
    CHECK_NEAR(s.mean_iterations, 0, 0);
    CHECK_NEAR(s.mean.penetration, 0, 0);
    CHECK_INT(s.worst.judgement.asked.worst_contact, -1);
    scene_destroy(&scene);
}

TEST(the_json_file_holds_the_totals)
{
    folder f = folder_create();
    cairn_scene scene = scene_create(3);
    cairn_run_ending ending = { "failed", "a \"quoted\" reason" };
    cairn_run_summary s = two_steps(scene.world);
    s.hash = 0xabc;
    s.worst.dilatation = INFINITY;
    CHECK_OK(cairn_run_summary_write(&s, &scene, &ending, f.path, NULL));
    const char *text = file_text(&f, "summary.json");
    CHECK_CONTAINS(text, "\"steps\": 2,");
    CHECK_CONTAINS(text, "\"penetration\": 0.003,");
    CHECK_CONTAINS(text, "\"dilatation\": null,");
    CHECK_CONTAINS(text, "\"message\": \"a \\\"quoted\\\" reason\"");
    CHECK_CONTAINS(text, "\"hash\": \"0000000000000abc\"");
    CHECK_CONTAINS(text, "\"packing\": null");
    CHECK_CONTAINS(text, "\"penetration\": \"m\"");
    s.has_packing = true;
    s.packing.fraction = 0.6;
    CHECK_OK(cairn_run_summary_write(&s, &scene, &ending, f.path, NULL));
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"fraction\": 0.6,");
    scene_destroy(&scene);
    folder_remove(f.path);
}

TEST(a_folder_that_is_not_there_is_an_error)
{
    cairn_scene scene = scene_create(3);
    cairn_run_ending ending = { "complete", "" };
    cairn_error error = { 0 };
    cairn_run_summary s = two_steps(scene.world);
    CHECK_INT(cairn_run_summary_write(&s, &scene, &ending, "/nowhere/at/all", &error),
              CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "summary.json");
    scene_destroy(&scene);
}

TEST(steps_are_listed_as_ranges)
{
    cairn_run_spans spans = { 0 };
    const int64_t steps[] = { 3, 4, 5, 9, 11, 12 };
    for (int i = 0; i < 6; i++)
        cairn_run_spans_add(&spans, steps[i]);
    CHECK_INT(spans.count, 3);
    CHECK_INT(spans.span[0][0], 3);
    CHECK_INT(spans.span[0][1], 5);
    CHECK_INT(spans.span[1][0], 9);
    CHECK_INT(spans.span[1][1], 9);
    CHECK_INT(spans.span[2][0], 11);
    CHECK_INT(spans.span[2][1], 12);
}

TEST(ranges_beyond_those_kept_are_counted)
{
    cairn_run_spans spans = { 0 };
    for (int64_t step = 1; step <= 200; step += 2)
        cairn_run_spans_add(&spans, step);
    cairn_run_spans_add(&spans, 200);
    CHECK_INT(spans.count, 100);
    CHECK_INT(spans.span[CAIRN_RUN_MOST_SPANS - 1][1], 2 * CAIRN_RUN_MOST_SPANS - 1);
}

TEST(the_json_file_lists_the_steps_that_missed)
{
    folder f = folder_create();
    cairn_scene scene = scene_create(3);
    cairn_run_summary s = two_steps(scene.world);
    cairn_run_ending ending = { "complete", "" };
    CHECK_OK(cairn_run_summary_write(&s, &scene, &ending, f.path, NULL));
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"missed\": [[2, 2]]");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"missed_ranges\": 1");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"distance_body\": [[4, 6]]");
    scene_destroy(&scene);
    folder_remove(f.path);
}

/* 2 % in step 1, 0.5 % in step 2: one step is above 1 %. */
TEST(the_deepest_overlap_is_kept_with_its_bodies_and_step)
{
    folder f = folder_create();
    cairn_scene scene = scene_create(3);
    cairn_run_summary s = cairn_run_summary_start(scene.world);
    cairn_run_ending ending = { "complete", "" };
    CHECK_INT(s.overlap_body[0], -1);
    cairn_run_summary_add(&s, &(cairn_step_report){ .overlap = 0.02, .overlap_body = { 3, 5 } });
    cairn_run_summary_add(&s, &(cairn_step_report){ .overlap = 0.005, .overlap_body = { 1, 2 } });
    CHECK_NEAR(s.overlap, 0.02, 0);
    CHECK_INT(s.overlap_step, 1);
    CHECK_INT(s.deep_steps, 1);
    CHECK_OK(cairn_run_summary_write(&s, &scene, &ending, f.path, NULL));
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"overlap\": 0.02,");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"overlap_body\": [[3, 5]]");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"overlap_step\": 1,");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"deep_steps\": 1");
    scene_destroy(&scene);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(worst_and_mean_are_taken_entry_by_entry), CASE(losses_add_up_and_states_are_the_last),
        CASE(the_start_counts_what_springs_store), CASE(a_value_that_is_no_number_stays_the_worst),
        CASE(no_steps_give_no_division_by_zero), CASE(the_json_file_holds_the_totals),
        CASE(a_folder_that_is_not_there_is_an_error), CASE(steps_are_listed_as_ranges),
        CASE(ranges_beyond_those_kept_are_counted), CASE(the_json_file_lists_the_steps_that_missed),
        CASE(the_deepest_overlap_is_kept_with_its_bodies_and_step));
}
