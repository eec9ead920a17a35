/* test_run_summary.c - what a run counts and keeps beside its frames: sums, statistics,
 * problems. */
#include "cairn/fclib.h"
#include "cairn/study.h"
#include "run/frame.h"
#include "run/output.h"
#include "run/run_file.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/saved_world.h"

/* ==== test_run_summary: totals of hand-made reports, and summary.json ========================= */

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

GROUP(test_run_summary)
{
    RUN(CASE(worst_and_mean_are_taken_entry_by_entry), CASE(losses_add_up_and_states_are_the_last),
        CASE(the_start_counts_what_springs_store), CASE(a_value_that_is_no_number_stays_the_worst),
        CASE(no_steps_give_no_division_by_zero), CASE(the_json_file_holds_the_totals),
        CASE(a_folder_that_is_not_there_is_an_error), CASE(steps_are_listed_as_ranges),
        CASE(ranges_beyond_those_kept_are_counted), CASE(the_json_file_lists_the_steps_that_missed),
        CASE(the_deepest_overlap_is_kept_with_its_bodies_and_step));
}

/* ==== test_run_table: the tables name every number of a report exactly once =================== */

/* Entries at different places, with different names, that fill `bytes` of doubles. */
static void check_table(const cairn_report_entries *entries, size_t doubles)
{
    CHECK_INT(entries->count, doubles);
    for (int i = 0; i < entries->count; i++) {
        CHECK(entries->items[i].unit[0] != '\0');
        for (int j = 0; j < i; j++) {
            CHECK(entries->items[i].offset != entries->items[j].offset);
            CHECK(strcmp(entries->items[i].name, entries->items[j].name) != 0);
        }
    }
}

TEST(every_double_of_the_structs_is_named)
{
    /* 11 of its own, 4 in each of two residuals (beside an int, padded), 1 of the judgement */
    CHECK_INT(sizeof(cairn_certificate), (11 + 2 * 5 + 1) * sizeof(double));
    check_table(&cairn_certificate_entries, 11 + 2 * 4 + 1);
    check_table(&cairn_energy_entries, sizeof(cairn_energy) / sizeof(double));
    check_table(&cairn_timing_entries, sizeof(cairn_timing) / sizeof(double));
}

TEST(an_entry_reads_and_writes_its_field)
{
    cairn_energy energy = { .impact_loss = 3 };
    const cairn_report_entry *entry = cairn_energy_entries.items;
    while (strcmp(entry->name, "impact_loss") != 0)
        entry++;
    CHECK_NEAR(cairn_report_entry_get(entry, &energy), 3, 0);
    cairn_report_entry_set(entry, &energy, 4);
    CHECK_NEAR(energy.impact_loss, 4, 0);
}

GROUP(test_run_table)
{
    RUN(CASE(every_double_of_the_structs_is_named), CASE(an_entry_reads_and_writes_its_field));
}

/* ==== test_run_statistics: statistics that a run measures at its frames: HDF5 and CSV ========= */

static cairn_scene measured_scene(void)
{
    cairn_scene s = scene_create(3);
    s.measure = cairn_measure_options_default();
    s.run.statistics = (cairn_names){ { "centre", "coordination", "surface", "energy" }, 4 };
    return s;
}

TEST(a_series_has_a_row_for_each_frame)
{
    folder f = folder_create();
    cairn_scene s = measured_scene();
    double time[16], z[16];
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    path run = path_in(&f, "run.h5");
    const char *file = run.text;
    CHECK_INT(h5_numbers(file, "statistics/centre/time", time, 16), 6);
    CHECK_INT(h5_numbers(file, "statistics/centre/z", z, 16), 6);
    CHECK_NEAR(time[1], 0.02, 1e-12);
    CHECK_CLOSE(z[0], (0.1 + 0.11 + 0.4) / 3, 1e-12);
    char text[16];
    h5_text(file, "statistics/centre/z", "unit", text, sizeof text);
    CHECK_TEXT(text, "m");
    /* the first frame comes before the first step: nobody knows contacts */
    CHECK_INT(h5_numbers(file, "statistics/coordination/mean", z, 16), 5);
    CHECK_NEAR(z[0], 1 / 3.0, 1e-12); /* one of three balls lies on the floor */
    CHECK_CONTAINS(file_text(&f, "statistics/centre.csv"), "time,x,y,z,vx,vy,vz,mass\n0,1,0,");
    scene_destroy(&s);
    folder_remove(f.path);
}

/* kinetic + potential at the end less at the start is what went in less what was lost. */
TEST(the_energy_ledger_closes)
{
    folder f = folder_create();
    cairn_scene s = measured_scene();
    static const struct {
        const char *name;
        double sign;
    } terms[] = { { "kinetic", 1 },       { "potential", 1 },    { "entered", -1 },
                  { "load_work", -1 },    { "driver_work", -1 }, { "correction", -1 },
                  { "friction_loss", 1 }, { "impact_loss", 1 },  { "numerical_loss", 1 } };
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    double sum = 0, lost = 0, v[16];
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "statistics/energy/%s", terms[i].name);
        CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, name, v, 16), 6);
        sum += terms[i].sign * (v[5] - v[0]);
        lost += i >= 6 ? fabs(v[5]) : 0;
    }
    CHECK(lost > 1e-3);
    CHECK_NEAR(sum, 0, 1e-12);
    scene_destroy(&s);
    folder_remove(f.path);
}

/* The same bits out of the finished file as during the run. */
TEST(a_finished_run_is_measured_to_the_same_numbers)
{
    folder f = folder_create();
    cairn_scene s = measured_scene();
    cairn_statistic_table t[4];
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    CHECK_OK(cairn_run_measure(f.path, &s.run.statistics, &s.measure, t, NULL));
    for (int i = 0; i < 4; i++) {
        CHECK(t[i].rows > 0);
        for (int c = 0; c < t[i].column_count; c++) {
            char name[64];
            double v[512];
            snprintf(name, sizeof name, "statistics/%s/%s", t[i].name, t[i].columns[c].name);
            CHECK_INT(h5_numbers(path_in(&f, "run.h5").text, name, v, 512), t[i].rows);
            for (size_t k = 0; k < t[i].rows; k++) {
                double now = t[i].values[k * (size_t)t[i].column_count + (size_t)c];
                CHECK((isnan(now) && isnan(v[k])) || now == v[k]);
            }
        }
        cairn_statistic_table_destroy(&t[i]);
    }
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(files_of_an_earlier_run_go_and_without_statistics_there_are_none)
{
    folder f = folder_create();
    for (int k = 0; k < 2; k++) {
        cairn_scene s = measured_scene();
        if (k == 1)
            s.run.statistics = (cairn_names){ { "height" }, 1 };
        CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
        scene_destroy(&s);
    }
    CHECK(file_exists(&f, "statistics/height.csv"));
    CHECK(!file_exists(&f, "statistics/centre.csv"));
    cairn_scene s = scene_create(2); /* with no options of measuring at all */
    folder g = folder_create();
    CHECK_OK(cairn_run(&s, g.path, NULL, NULL, NULL, NULL));
    CHECK(!file_exists(&g, "statistics"));
    double none[1];
    CHECK_INT(h5_numbers(path_in(&g, "run.h5").text, "statistics", none, 1), -1);
    scene_destroy(&s);
    folder_remove(f.path);
    folder_remove(g.path);
}

TEST(options_that_are_not_right_are_refused_before_the_run)
{
    cairn_scene s = measured_scene();
    cairn_error error = { 0 };
    s.measure.bins = 0;
    CHECK_INT(cairn_run(&s, NULL, NULL, NULL, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "bins");
    s.measure = cairn_measure_options_default();
    s.run.statistics.items[1] = "coordinatoin";
    CHECK_INT(cairn_run(&s, NULL, NULL, NULL, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "statistics");
    scene_destroy(&s);
}

TEST(no_memory_at_any_point_is_reported)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long fail = 1; status != CAIRN_OK && fail < 3000; fail += 7) {
        folder f = folder_create();
        cairn_scene s = measured_scene();
        meter m = { .fail_at = fail };
        s.run.duration = 0.01;
        s.run.paraview = s.run.picture = false;
        meter_install(&m);
        status = cairn_run(&s, f.path, NULL, NULL, NULL, NULL);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        scene_destroy(&s);
        folder_remove(f.path);
    }
    CHECK_OK(status);
}

GROUP(test_run_statistics)
{
    RUN(CASE(a_series_has_a_row_for_each_frame), CASE(the_energy_ledger_closes),
        CASE(a_finished_run_is_measured_to_the_same_numbers),
        CASE(files_of_an_earlier_run_go_and_without_statistics_there_are_none),
        CASE(options_that_are_not_right_are_refused_before_the_run),
        CASE(no_memory_at_any_point_is_reported));
}

/* ==== test_sample: a world as a state for statistics ========================================== */

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

GROUP(test_sample)
{
    RUN(CASE(impulses_become_forces_in_the_world_frame), CASE(volumes_are_those_of_the_shapes),
        CASE(grains_are_the_dynamic_bodies_that_are_there), CASE(a_world_is_measured_as_it_stands));
}

/* ==== test_run_problems: the contact problems of single steps, as files ======================= */

static int count_files(const folder *f)
{
    int count = 0;
    char name[64];
    for (int step = 0; step <= 60; step++) {
        snprintf(name, sizeof name, "problems/step_%06d.hdf5", step);
        count += file_exists(f, name);
    }
    return count;
}

TEST(the_world_lends_the_problem_of_its_last_step)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_scene s = scene_create(dimension);
        cairn_step_report report;
        const double *r = NULL;
        CHECK(cairn_world_problem(s.world, &r) == NULL);
        CHECK(r == NULL);
        CHECK_OK(cairn_world_step(s.world, &s.step, &report));
        const cairn_problem *p = cairn_world_problem(s.world, &r);
        CHECK(p != NULL && r != NULL);
        CHECK_OK(cairn_problem_check(p, NULL));
        CHECK_INT(p->blocks, 3);
        CHECK_INT(p->contacts, report.candidates);
        /* v_free of the third sphere, still falling: one step of gravity */
        double fall = p->v_free[2 * p->block_size + dimension - 1];
        CHECK_CLOSE(fall, -9.81 * s.step.time_step, 1e-3);
        /* the judge says the same of the lent problem as of the step */
        double v[18], u[60];
        cairn_judgement judgement;
        CHECK(p->contacts <= 20);
        cairn_judge(p, CAIRN_LAW_CONVEX, r, v, u, &judgement);
        CHECK(judgement.asked.relative == report.solve.judgement.asked.relative);
        double depth;
        CHECK_OK(cairn_world_overlap(s.world, &depth, NULL, NULL));
        CHECK(cairn_world_problem(s.world, NULL) == NULL);
        scene_destroy(&s);
    }
}

TEST(the_steps_asked_for_are_written_with_their_solution)
{
    const double steps[] = { 3, 7, 99 };
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    cairn_run_summary summary;
    cairn_fclib *file;
    s.run.save_problem = (cairn_list){ steps, 3 };
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, &summary, NULL));
    CHECK_INT(count_files(&f), 2); /* the run has 20 steps */
    CHECK_INT(summary.problems, 2);
    CHECK_OK(cairn_fclib_load(path_in(&f, "problems/step_000007.hdf5").text, &file, NULL));
    CHECK_CONTAINS(file->title, "three spheres: step 7 to t = 0.035 s");
    CHECK_INT(file->global->M.rows, 18);
    CHECK(file->problem.contacts >= 1);
    CHECK(file->solution->r[0] > 0); /* the first sphere lies on the floor */
    double u[60];
    cairn_judgement judgement;
    cairn_judge(&file->problem, CAIRN_LAW_CONVEX, file->solution->r, NULL, u, &judgement);
    CHECK(judgement.asked.relative <= s.step.tolerance);
    cairn_fclib_destroy(file);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(without_being_asked_a_good_run_writes_none)
{
    folder f = folder_create();
    cairn_scene s = scene_create(2);
    cairn_run_summary summary;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, &summary, NULL));
    CHECK_INT(summary.problems, 0);
    CHECK(!file_exists(&f, "problems"));
    scene_destroy(&s);
    folder_remove(f.path);
}

/* One step of the scene, of which the report shall say whether it met its tolerance. */
static void step_and_note(cairn_run_problems *problems, const folder *f, cairn_scene *s, int step,
                          bool converged)
{
    cairn_step_report report;
    CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    report.solve.converged = converged;
    CHECK_OK(cairn_run_problems_step(problems, f->path, s, step, &report, NULL));
}

/* Written whatever the world did: the report alone says that the step missed. */
TEST(steps_that_missed_are_written_but_not_more_than_twenty)
{
    folder f = folder_create();
    cairn_scene s = scene_create(2);
    cairn_run_problems problems = { 0 };
    for (int step = 1; step <= 30; step++)
        step_and_note(&problems, &f, &s, step, step % 10 == 0);
    CHECK_INT(CAIRN_RUN_MOST_PROBLEMS, 20);
    CHECK_INT(problems.written, 20);
    CHECK_INT(count_files(&f), 20);
    CHECK(file_exists(&f, "problems/step_000001.hdf5"));
    CHECK(!file_exists(&f, "problems/step_000010.hdf5"));
    CHECK(file_exists(&f, "problems/step_000022.hdf5"));
    CHECK(!file_exists(&f, "problems/step_000023.hdf5"));
    scene_destroy(&s);
    folder_remove(f.path);
}

/* The first is written whatever its size, and none once they have 16 MiB together. */
TEST(steps_that_missed_are_not_written_beyond_a_size)
{
    folder f = folder_create();
    cairn_scene s = scene_create(2);
    cairn_run_problems problems = { 0 };
    for (int step = 1; step <= 3; step++) {
        step_and_note(&problems, &f, &s, step, false);
        CHECK_INT(problems.missed, step == 1 ? 1 : 2);
        CHECK(problems.bytes > 1000); /* of the files */
        if (step == 2)
            problems.bytes = 16 << 20;
    }
    CHECK_INT(count_files(&f), 2);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(a_new_run_clears_what_an_earlier_one_left_and_nothing_else)
{
    const double steps[] = { 2 };
    folder f = folder_create();
    cairn_scene s = scene_create(2);
    s.run.save_problem = (cairn_list){ steps, 1 };
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    CHECK(file_exists(&f, "problems/step_000002.hdf5"));
    file_write(&f, "problems/mine.hdf5", "");
    file_write(&f, "problems/step_2a.hdf5", "");
    s.run.save_problem.count = 0;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    CHECK(!file_exists(&f, "problems/step_000002.hdf5"));
    CHECK(file_exists(&f, "problems/mine.hdf5"));
    CHECK(file_exists(&f, "problems/step_2a.hdf5"));
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(half_a_step_is_refused)
{
    const double steps[] = { 2.5 };
    folder f = folder_create();
    cairn_scene s = scene_create(2);
    cairn_error error;
    s.run.save_problem = (cairn_list){ steps, 1 };
    CHECK_INT(cairn_run(&s, f.path, NULL, NULL, NULL, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "run.save_problem");
    CHECK_CONTAINS(error.message, "found 2.5");
    scene_destroy(&s);
    folder_remove(f.path);
}

GROUP(test_run_problems)
{
    RUN(CASE(the_world_lends_the_problem_of_its_last_step),
        CASE(the_steps_asked_for_are_written_with_their_solution),
        CASE(without_being_asked_a_good_run_writes_none),
        CASE(steps_that_missed_are_written_but_not_more_than_twenty),
        CASE(steps_that_missed_are_not_written_beyond_a_size),
        CASE(a_new_run_clears_what_an_earlier_one_left_and_nothing_else),
        CASE(half_a_step_is_refused));
}

/* ==== test_run_shelf: which row of /geometry the data of a shape have ========================= */

static const cairn_vec3 corners[4] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };

static const cairn_geometry *hull(void)
{
    const cairn_geometry *out;
    CHECK_OK(cairn_hull_create(corners, 4, 3, &out, NULL));
    return out;
}

/* Two hulls, the second twice, and a ball. */
static const cairn_geometry *compound(const cairn_geometry *first, const cairn_geometry *second)
{
    const cairn_geometry *out;
    cairn_part parts[4];
    const cairn_geometry *data[4] = { first, second, NULL, second };
    for (int i = 0; i < 4; i++) {
        cairn_shape_kind kind = data[i] ? CAIRN_SHAPE_POLYHEDRON : CAIRN_SHAPE_SPHERE;
        parts[i] = (cairn_part){ cairn_shape_default(kind, 3), { { i, 0, 0 }, { 1, 0, 0, 0 } } };
        parts[i].shape.radius = 0.5;
        parts[i].shape.geometry = data[i];
    }
    CHECK_OK(cairn_compound_create(parts, 4, 3, &out, NULL));
    return out;
}

TEST(data_keep_their_row_and_none_have_minus_1)
{
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull(), *b = hull();
    CHECK_OK(cairn_run_shelf_add(&shelf, NULL));
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    CHECK_OK(cairn_run_shelf_add(&shelf, b));
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    CHECK_INT(shelf.count, 2);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 0);
    CHECK_INT(cairn_run_shelf_row(&shelf, b), 1);
    CHECK_INT(cairn_run_shelf_row(&shelf, NULL), -1);
    cairn_geometry_release(a);
    cairn_geometry_release(b);
    cairn_run_shelf_destroy(&shelf);
}

TEST(parts_come_before_their_compound)
{
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull(), *b = hull(), *both = compound(a, b);
    CHECK_OK(cairn_run_shelf_add(&shelf, b));
    CHECK_OK(cairn_run_shelf_add(&shelf, both));
    CHECK_INT(shelf.count, 3);
    CHECK_INT(cairn_run_shelf_row(&shelf, b), 0);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 1);
    CHECK_INT(cairn_run_shelf_row(&shelf, both), 2);
    cairn_geometry_release(a);
    cairn_geometry_release(b);
    cairn_geometry_release(both);
    cairn_run_shelf_destroy(&shelf);
}

/* With another number of rows in the file nothing is known of them: the next is row 5. */
TEST(rows_of_a_file_that_are_not_these_are_forgotten)
{
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull();
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    cairn_run_shelf_settle(&shelf, 1);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 0);
    cairn_run_shelf_settle(&shelf, 5);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), -1);
    CHECK_OK(cairn_run_shelf_add(&shelf, a));
    CHECK_INT(cairn_run_shelf_row(&shelf, a), 5);
    cairn_geometry_release(a);
    cairn_run_shelf_destroy(&shelf);
}

TEST(no_memory_is_said_and_nothing_is_lost)
{
    meter m = { 0 };
    cairn_run_shelf shelf = { 0 };
    const cairn_geometry *a = hull();
    meter_install(&m);
    m.fail_at = 1;
    CHECK_INT(cairn_run_shelf_add(&shelf, a), CAIRN_NO_MEMORY);
    CHECK_INT(cairn_run_shelf_row(&shelf, a), -1);
    cairn_run_shelf_destroy(&shelf);
    CHECK_INT(m.alive, 0);
    cairn_allocator_set(NULL);
    cairn_geometry_release(a);
}

GROUP(test_run_shelf)
{
    RUN(CASE(data_keep_their_row_and_none_have_minus_1), CASE(parts_come_before_their_compound),
        CASE(rows_of_a_file_that_are_not_these_are_forgotten),
        CASE(no_memory_is_said_and_nothing_is_lost));
}

/* ==== test_run_series: forces, torques and works as rows of the steps ========================= */

/* Two balls of 1 kg, one on the other, on a floor; a weight of 2 kg on a rope of the world. */
static const char *const scene_series =
    "cairn: 1\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
    "  - {name: low, shape: {sphere: {radius: 0.1}}, mass: 1, position: [2, 0, 0.1]}\n"
    "  - {name: high, shape: {sphere: {radius: 0.1}}, mass: 1, position: [2, 0, 0.3]}\n"
    "  - {name: weight, shape: {sphere: {radius: 0.1}}, mass: 2, position: [0, 0, 1]}\n"
    "joints: [rope: {name: string, a: weight, anchor: [0, 0, 1], anchor_b: [0, 0, 2]}]\n"
    "series:\n"
    "  - {name: floor, bodies: floor}\n"
    "  - {name: balls, bodies: [low, high], interval: 0.025, about: [1, 0, 0]}\n"
    "  - {name: upper, low: [-10, -10, 0.2], high: [10, 10, 0.5]}\n"
    "  - {name: string, joint: string}\n"
    "run: {time_step: 0.01, duration: 0.1, tolerance: 1e-12, paraview: false, picture: false}\n";

static cairn_statistic_table series_of(const folder *f, const char *name)
{
    cairn_statistic_table table;
    cairn_error said = { 0 };
    if (cairn_run_series(f->path, name, &table, &said) != CAIRN_OK)
        fail_msg("%s: %s", said.key, said.message);
    return table;
}

/* A row for each of the 10 steps: on the floor the weight of both balls, on the upper ball its own,
 * on the weight that of 2 kg. */
TEST(series_have_a_row_for_each_step)
{
    static const struct {
        const char *name;
        double force, torque;
    } expected[] = { { "floor", -2 * 9.81, 4 * 9.81 },
                     { "upper", 9.81, -2 * 9.81 },
                     { "string", 2 * 9.81, 0 } };
    folder f = folder_create();
    cairn_series_names names;
    cairn_scene *scene = scene_text_good(scene_series, NULL);
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_OK(cairn_run_series_names(f.path, &names, NULL));
    CHECK_INT(names.count, 4);
    CHECK(strcmp(names.items[0], "balls") == 0 && strcmp(names.items[3], "upper") == 0);
    for (int k = 0; k < 3; k++) {
        cairn_statistic_table t = series_of(&f, expected[k].name);
        CHECK_INT(t.rows, 10);
        CHECK_INT(t.column_count, 8);
        for (size_t row = 0; row < t.rows; row++) {
            CHECK_NEAR(t.values[8 * row], 0.01 * (double)(row + 1), 1e-15);
            CHECK_NEAR(t.values[8 * row + 3], expected[k].force, 1e-8);
            CHECK_NEAR(t.values[8 * row + 5], expected[k].torque, 1e-8);
        }
        cairn_statistic_table_destroy(&t);
    }
    char text[8];
    h5_text(file_copy(&f, "run.h5").text, "series/floor/torque_x", "unit", text, sizeof text);
    CHECK(strcmp(text, "N m") == 0);
    CHECK_CONTAINS(file_text(&f, "series/floor.csv"), "time,force_x,force_y,force_z,torque_x,");
    CHECK_INT(cairn_run_series(f.path, "none", &(cairn_statistic_table){ 0 }, NULL),
              CAIRN_NOT_FOUND);
    folder_remove(f.path);
}

/* Rows end with the steps that pass 0.025, 0.05, 0.075 and 0.1 s: means over 3, 2, 3 and 2 steps.
 * About x = 1 the balls at x = 2 feel the torque of the floor's force at an arm of 1. */
TEST(a_row_is_the_mean_over_an_interval)
{
    static const double times[] = { 0.03, 0.05, 0.08, 0.1 };
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_series, NULL);
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    cairn_statistic_table t = series_of(&f, "balls"), each = series_of(&f, "floor");
    CHECK_INT(t.rows, 4);
    for (size_t row = 0, step = 0; row < 4; row++) {
        double mean = 0;
        int steps = 0;
        for (; step < 10 && each.values[8 * step] < times[row] + 1e-9; step++, steps++)
            mean -= each.values[8 * step + 3];
        CHECK_NEAR(t.values[8 * row], times[row], 1e-12);
        CHECK_NEAR(t.values[8 * row + 3], mean / steps, 1e-12);
        CHECK_NEAR(t.values[8 * row + 5], -mean / steps, 1e-9);
    }
    cairn_statistic_table_destroy(&t);
    cairn_statistic_table_destroy(&each);
    folder_remove(f.path);
}

/* Steps after the last whole interval are a row as well; another run in the folder leaves only its
 * own files. */
TEST(the_last_row_has_the_steps_that_are_left)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_series, "run.duration=0.06");
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    cairn_statistic_table t = series_of(&f, "balls");
    CHECK_INT(t.rows, 3);
    CHECK_NEAR(t.values[16], 0.06, 1e-12);
    CHECK_NEAR(t.values[16 + 3], 2 * 9.81, 1e-8);
    cairn_statistic_table_destroy(&t);
    CHECK(file_exists(&f, "series/balls.csv"));
    scene = scene_text_good(scene_series, "series=[{name: mine, bodies: floor}]");
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK(file_exists(&f, "series/mine.csv") && !file_exists(&f, "series/balls.csv"));
    folder_remove(f.path);
}

static bool stop_at_5(const cairn_progress *progress, void *context)
{
    (void)context;
    return progress->step < 5;
}

/* Fields on their grid: in run.h5 and for ParaView, and the same after a resume. The first frame has
 * no contacts, so there are 5 of 6. */
TEST(fields_are_written_for_paraview_and_go_on)
{
    static const char *const run =
        "run={time_step: 0.01, duration: 0.1, frame_interval: 0.02, statistics: [fields], "
        "tolerance: 1e-10, picture: false}";
    folder whole = folder_create(), f = folder_create();
    cairn_scene *scene = scene_text_good(scene_series, run);
    const cairn_resume_options options = { .threads = 1 };
    CHECK_OK(cairn_run(scene, whole.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    scene = scene_text_good(scene_series, run);
    CHECK_OK(cairn_run(scene, f.path, stop_at_5, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_OK(cairn_run_resume(f.path, &options, &scene, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK(check_same_h5(&whole, &f) > 80);
    CHECK(check_same_files(&whole, &f, "paraview") > 15);
    CHECK(!file_exists(&f, "paraview/fields_000000.vti"));
    CHECK(file_exists(&f, "paraview/fields_000005.vti"));
    CHECK_CONTAINS(file_text(&f, "paraview/fields.pvd"), "file=\"fields_000005.vti\"");
    folder_remove(f.path);
    folder_remove(whole.path);
}

TEST(wrong_series_are_refused_at_their_place)
{
#define SERIES(line)                                                                               \
    "cairn: 1\nseries: [" line "]\nbodies: [{name: ball, shape: {sphere: {radius: 1}}}]\n"         \
    "run: {time_step: 0.01, duration: 1}\n"
    static const refused wrong[] = {
        { SERIES("{name: a, bodies: bal}"), 2, 28, "series.0.bodies", "did you mean 'ball'?" },
        { SERIES("{name: a, joint: hook}"), 2, 27, "series.0.joint", "unknown joint 'hook'" },
        { SERIES("{name: a/b, bodies: ball}"), 2, 17, "series.0.name", "letters, digits, - and _" },
        { SERIES("{name: stress, bodies: ball}"), 2, 17, "series.0.name",
          "the name of a statistic" },
        { SERIES("{name: a}"), 2, 10, "series.0", "expected bodies, material, group" },
        { SERIES("{name: a, bodies: []}"), 2, 28, "series.0.bodies", "an empty list" },
        { SERIES("{name: a, low: [0, 0, 0], high: [1, 0, 1]}"), 2, 10, "series.0",
          "the box is empty" },
        { SERIES("{name: a, bodies: ball}, {name: a, bodies: ball}"), 2, 42, "series.1.name",
          "given twice" },
        { SERIES("{name: a, bodies: ball, interval: -1}"), 2, 44, "series.0.interval",
          "found -1, expected" },
        { SERIES("{name: a, body: ball}"), 2, 20, "series.0.body", "unknown key 'body'" },
    };
    CHECK_REFUSED(wrong);
}

GROUP(test_run_series)
{
    RUN(CASE(series_have_a_row_for_each_step), CASE(a_row_is_the_mean_over_an_interval),
        CASE(the_last_row_has_the_steps_that_are_left),
        CASE(fields_are_written_for_paraview_and_go_on),
        CASE(wrong_series_are_refused_at_their_place));
}
