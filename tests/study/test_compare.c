/* test_compare.c - runs compared with each other. */
#include "cairn/study.h"
#include "study/study.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/worlds.h"

/* ==== test_compare: runs of the same scene side by side: differences, orders, failures ======== */

#define INCLINE CAIRN_SOURCE_DIR "/scenes/incline_disk_2d.yaml"

/* A ball falls freely for 1 s, far above the floor; gravity 10. */
#define FALL                                                                                       \
    "cairn: 1\ndimension: 3\ngravity: [0, 0, -10]\nmaterials: {rock: {friction: 0.3}}\n"           \
    "bodies:\n  - {motion: fixed, shape: {half_space: {}}}\n"                                      \
    "  - {shape: {sphere: {radius: 0.1}}, mass: 2, position: [0, 0, 100]}\n"                       \
    "run: {time_step: 0.1, duration: 1, solver: pgs}\n"

static cairn_comparison *compare(const char *file_name, const cairn_compare_options *options)
{
    cairn_comparison *c = NULL;
    cairn_error error = { 0 };
    if (cairn_compare(file_name, options, &c, &error) != CAIRN_OK)
        fail_msg("%s: %s", error.key, error.message);
    return c;
}

static cairn_comparison *compare_text(const char *text, const cairn_compare_options *options)
{
    scene_text_write(text, strlen(text));
    cairn_comparison *c = compare(scene_text_path(), options);
    remove(scene_text_path());
    return c;
}

/* The run of a scheme and time step that is not the reference. */
static const cairn_compared *find(const cairn_comparison *c, const char *scheme, double h)
{
    const cairn_compared *a;
    for (int i = 0; (a = cairn_comparison_at(c, i)); i++)
        if (!a->is_reference && strcmp(a->scheme, scheme) == 0 && a->time_step == h)
            return a;
    fail_msg("there is no run %s, %g", scheme, h);
    return NULL;
}

/* [BL23]: on the incline both schemes are of first order. */
TEST(on_the_incline_both_schemes_have_order_one)
{
    const char *const schemes[] = { "convex", "fixed-point" };
    const double steps[] = { 0.08, 0.04, 0.02, 0.01 };
    cairn_compare_options options = {
        .schemes = schemes, .scheme_count = 2, .time_steps = { steps, 4 }, .reference_step = 0.001
    };
    cairn_comparison *c = compare(INCLINE, &options);
    CHECK_INT(cairn_comparison_count(c), 9);
    CHECK(cairn_comparison_at(c, 0)->is_reference);
    CHECK(isnan(cairn_comparison_at(c, 0)->order));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) {
            const cairn_compared *a = find(c, schemes[i], steps[k]);
            CHECK_OK(a->status);
            CHECK(a->order > 0.9 && a->order < 1.2);
            CHECK_INT(a->difference.samples, 125);
            CHECK_NEAR(a->difference.end_time, 10, 1e-9);
            CHECK_INT(a->summary.uncertified, 0);
            CHECK_NEAR(a->energy_rise, 0, 1e-12);
        }
    cairn_comparison_destroy(c);
}

/* While it slides the disk of the convex scheme floats h mu |u_T| above the incline; its speed at
 * the end is that of the exact answer, 2.4019 m/s at the contact, so 2.40 mm for h = 0.01. */
TEST(the_convex_scheme_shows_its_dilatation_and_the_exact_one_none)
{
    const char *const schemes[] = { "convex", "fixed-point" };
    const double steps[] = { 0.02, 0.01 };
    cairn_compare_options options = {
        .schemes = schemes, .scheme_count = 2, .time_steps = { steps, 2 }, .reference_step = 0.01
    };
    cairn_comparison *c = compare(INCLINE, &options);
    const cairn_compared *coarse = find(c, "convex", 0.02), *fine = find(c, "convex", 0.01);
    const cairn_compared *exact = find(c, "fixed-point", 0.02);
    CHECK_NEAR(fine->summary.worst.dilatation, 2.4e-3, 1e-4);
    CHECK_CLOSE(coarse->summary.worst.dilatation, 2 * fine->summary.worst.dilatation, 1e-2);
    CHECK_NEAR(exact->summary.worst.dilatation, 0, 0);
    CHECK(fine->summary.worst.judgement.coulomb.relative > 1);
    CHECK(exact->summary.worst.judgement.coulomb.relative <= 1e-8);
    /* one difference of the exact scheme is not enough for an order, two of the convex one are */
    CHECK(isnan(exact->order));
    CHECK(isfinite(coarse->order));
    cairn_comparison_destroy(c);
}

TEST(the_reference_step_is_a_tenth_of_the_smallest_of_several)
{
    const double steps[] = { 0.05, 0.04 };
    cairn_compare_options several = { .time_steps = { steps, 2 } },
                          one = { .time_steps = { steps, 1 } };
    cairn_comparison *c = compare(INCLINE, &several);
    CHECK_NEAR(cairn_comparison_at(c, 0)->time_step, 0.004, 1e-16);
    cairn_comparison_destroy(c);
    c = compare(INCLINE, &one);
    CHECK_NEAR(cairn_comparison_at(c, 0)->time_step, 0.05, 0);
    cairn_comparison_destroy(c);
}

/* In free fall the scheme is at z(t) = 100 - 5 t (t + h): after 1 s runs with h and H are 5 (H - h)
 * apart, and with h and H = 2 h the order is log(d1/d2)/log(2) of d = 5 t (H - h_ref). */
/* A ball without gravity flies away from a damped spring: what the damper takes is no rise. */
#define DAMPED                                                                                     \
    "cairn: 1\ndimension: 3\ngravity: [0, 0, 0]\nmaterials: {rock: {friction: 0.3}}\n"             \
    "bodies:\n  - {name: ball, shape: {sphere: {radius: 0.1}}, mass: 2, position: [1, 0, 0], "     \
    "velocity: [3, 0, 0]}\n"                                                                       \
    "joints:\n  - spring: {a: ball, anchor: [1, 0, 0], anchor_b: [0, 0, 0], "                      \
    "slide: {stiffness: 50, damping: 20, rest: 1}}\n"                                              \
    "run: {time_step: 0.01, duration: 0.5, solver: pgs}\n"

TEST(what_a_damper_takes_is_no_rise_of_energy)
{
    const char *const schemes[] = { "convex" };
    const double steps[] = { 0.01 };
    cairn_compare_options options = {
        .schemes = schemes, .scheme_count = 1, .time_steps = { steps, 1 }, .reference_step = 0.005
    };
    cairn_comparison *c = compare_text(DAMPED, &options);
    const cairn_compared *a = find(c, "convex", 0.01);
    CHECK_OK(a->status);
    CHECK(a->summary.energy.damping_loss > 1); /* of 9 J */
    CHECK_NEAR(a->energy_rise, 0, 1e-9);
    cairn_comparison_destroy(c);
}

TEST(in_free_fall_differences_and_order_are_known)
{
    const char *const schemes[] = { "convex" };
    const double steps[] = { 0.2, 0.1 };
    cairn_compare_options options = { .schemes = schemes,
                                      .scheme_count = 1,
                                      .time_steps = { steps, 2 },
                                      .reference = "frictionless",
                                      .reference_step = 0.05 };
    cairn_comparison *c = compare_text(FALL, &options);
    const cairn_compared *a = find(c, "convex", 0.2), *b = find(c, "convex", 0.1);
    CHECK_INT(cairn_comparison_count(c), 3);
    CHECK_TEXT(cairn_comparison_at(c, 0)->scheme, "frictionless");
    CHECK_INT(a->difference.samples, 5);
    CHECK_NEAR(a->difference.end_max, 0.75, 1e-9);
    CHECK_NEAR(b->difference.end_max, 0.25, 1e-9);
    CHECK_NEAR(b->difference.end_rms, 0.25, 1e-9);
    /* 0.25 t at t = 0.2 ... 1: root of the mean of t^2 is sqrt(0.44) */
    CHECK_NEAR(b->difference.whole_rms, 0.25 * sqrt(0.44), 1e-9);
    CHECK_NEAR(b->order, log(3) / log(2), 1e-6);
    cairn_comparison_destroy(c);
}

TEST(schemes_and_solvers_that_do_not_go_together_are_entries)
{
    const char *const schemes[] = { "convex" }, *const solvers[] = { "lemke", "pgs" };
    cairn_compare_options options = {
        .schemes = schemes, .scheme_count = 1, .solvers = solvers, .solver_count = 2
    };
    cairn_comparison *c = compare_text(FALL, &options);
    CHECK_INT(cairn_comparison_count(c), 3);
    CHECK_TEXT(cairn_comparison_at(c, 0)->solver, "pgs"); /* the first that fits the reference */
    CHECK_INT(cairn_comparison_at(c, 1)->status, CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(cairn_comparison_at(c, 1)->error.message, "lemke");
    CHECK_OK(cairn_comparison_at(c, 2)->status);
    CHECK(cairn_comparison_at(c, 3) == NULL);
    cairn_comparison_destroy(c);
}

/* 5e153 N on 1 kg give 1.25e309 J in a step of 10 s, which is beyond the largest number. */
TEST(a_run_that_fails_does_not_end_the_others)
{
    const char *const schemes[] = { "convex" };
    const char *const overrides[] = { "bodies.1.loads=[{constant: {force: [0, -5e153]}}]" };
    const double steps[] = { 10, 0.1 };
    cairn_compare_options options = { .schemes = schemes,
                                      .scheme_count = 1,
                                      .time_steps = { steps, 2 } };
    cairn_comparison *c = NULL;
    cairn_error error = { 0 };
    options.overrides = overrides;
    options.override_count = 1;
    CHECK_OK(cairn_compare(INCLINE, &options, &c, &error));
    CHECK_INT(find(c, "convex", 10)->status, CAIRN_NOT_FINITE);
    CHECK_CONTAINS(find(c, "convex", 10)->error.message, "step 1");
    CHECK_OK(find(c, "convex", 0.1)->status);
    CHECK_INT(find(c, "convex", 0.1)->difference.samples, 1);
    cairn_comparison_destroy(c);
}

TEST(every_scheme_with_the_solver_and_step_of_the_scene_is_the_default)
{
    cairn_compare_options options = { 0 };
    cairn_comparison *c = compare_text(FALL, &options);
    int schemes = 0;
    while (cairn_scheme_name(schemes))
        schemes++;
    CHECK_INT(cairn_comparison_count(c), schemes);
    CHECK_TEXT(cairn_comparison_at(c, 0)->scheme, "fixed-point");
    for (int i = 0; i < schemes; i++) {
        CHECK_TEXT(cairn_comparison_at(c, i)->solver, "pgs");
        CHECK_NEAR(cairn_comparison_at(c, i)->time_step, 0.1, 0);
    }
    cairn_comparison_destroy(c);
}

TEST(what_is_not_right_is_refused_by_name)
{
    const char *const nobody[] = { "nobody" };
    const double zero[] = { 0 };
    const cairn_compare_options bad[] = {
        { .schemes = nobody, .scheme_count = 1 },
        { .solvers = nobody, .solver_count = 1 },
        { .reference = "nobody" },
        { .time_steps = { zero, 1 } },
        { .reference_step = -1 },
        { .reference_step = NAN },
    };
    const char *const keys[] = { "scheme",     "solver",         "scheme",
                                 "time_steps", "reference_step", "reference_step" };
    for (int i = 0; i < 6; i++) {
        cairn_comparison *c = (cairn_comparison *)1;
        cairn_error error = { 0 };
        CHECK_INT(cairn_compare(INCLINE, &bad[i], &c, &error), CAIRN_BAD_INPUT);
        CHECK(c == NULL);
        CHECK_TEXT(error.key, keys[i]);
    }
}

/* Ends the comparison at step `left` of run 2. */
static bool count_down(const cairn_compare_progress *progress, void *context)
{
    int *left = context;
    CHECK_INT(progress->runs, 2);
    return progress->run < 2 || !progress->step || (*left)-- > 0;
}

TEST(the_caller_may_stop_and_keeps_the_runs_that_ended)
{
    const char *const schemes[] = { "convex", "fixed-point" };
    cairn_compare_options options = { .schemes = schemes, .scheme_count = 2 };
    cairn_comparison *c = NULL;
    cairn_error error = { 0 };
    int left = 3;
    options.progress = count_down;
    options.context = &left;
    CHECK_INT(cairn_compare(INCLINE, &options, &c, &error), CAIRN_STOPPED);
    CHECK_INT(left, -1);
    CHECK_INT(cairn_comparison_count(c), 1);
    CHECK_INT(cairn_comparison_at(c, 0)->summary.steps, 1000);
    cairn_comparison_destroy(c);
}

TEST(overrides_hold_for_every_run)
{
    const char *const schemes[] = { "convex", "fixed-point" };
    const char *const overrides[] = { "run.duration=0.5", "run.time_step=0.1" };
    cairn_compare_options options = { .schemes = schemes, .scheme_count = 2 };
    cairn_comparison *c = NULL;
    cairn_error error = { 0 };
    options.overrides = overrides;
    options.override_count = 2;
    CHECK_OK(cairn_compare(INCLINE, &options, &c, &error));
    for (int i = 0; i < 2; i++)
        CHECK_INT(cairn_comparison_at(c, i)->summary.steps, 5);
    cairn_comparison_destroy(c);
}

TEST(any_allocation_may_fail)
{
    const char *const schemes[] = { "convex" };
    const char *const overrides[] = { "run.duration=0.3" };
    cairn_compare_options options = {
        .schemes = schemes, .scheme_count = 1, .overrides = overrides, .override_count = 1
    };
    cairn_status status = CAIRN_NO_MEMORY;
    long n = 0;
    scene_text_write(FALL, strlen(FALL));
    while (status != CAIRN_OK) {
        meter m = { .fail_at = ++n };
        cairn_comparison *c = NULL;
        cairn_error error = { 0 };
        meter_install(&m);
        status = cairn_compare(scene_text_path(), &options, &c, &error);
        CHECK((status == CAIRN_OK) == (c != NULL));
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        cairn_comparison_destroy(c);
        CHECK_INT(m.alive, 0);
        cairn_allocator_set(NULL);
    }
    CHECK(n > 20);
    remove(scene_text_path());
}

GROUP(test_compare)
{
    RUN(CASE(on_the_incline_both_schemes_have_order_one),
        CASE(the_convex_scheme_shows_its_dilatation_and_the_exact_one_none),
        CASE(the_reference_step_is_a_tenth_of_the_smallest_of_several),
        CASE(what_a_damper_takes_is_no_rise_of_energy),
        CASE(in_free_fall_differences_and_order_are_known),
        CASE(schemes_and_solvers_that_do_not_go_together_are_entries),
        CASE(a_run_that_fails_does_not_end_the_others),
        CASE(every_scheme_with_the_solver_and_step_of_the_scene_is_the_default),
        CASE(what_is_not_right_is_refused_by_name),
        CASE(the_caller_may_stop_and_keeps_the_runs_that_ended), CASE(overrides_hold_for_every_run),
        CASE(any_allocation_may_fail));
}

/* ==== test_compare_write: a comparison as compare.csv and compare.gp ========================== */

/* Three runs made by hand: the reference, one with a difference, one that failed. */
static cairn_compared runs[3];

static cairn_comparison by_hand(void)
{
    memset(runs, 0, sizeof runs);
    for (int i = 0; i < 3; i++) {
        runs[i].scheme = i == 0 ? "fixed-point" : "convex";
        runs[i].solver = "pgs";
        runs[i].time_step = 0.01 * (i + 1);
        runs[i].order = NAN;
        runs[i].summary.steps = 5;
    }
    runs[0].is_reference = true;
    runs[0].difference.samples = runs[1].difference.samples = 7;
    runs[1].difference.whole_rms = 0.125;
    runs[1].order = 1.5;
    runs[2].status = CAIRN_NOT_FINITE;
    snprintf(runs[2].error.message, sizeof runs[2].error.message, "it \"blew\" up");
    return (cairn_comparison){ .items = runs, .count = 3 };
}

TEST(the_table_has_a_line_for_each_run)
{
    folder f = folder_create();
    cairn_comparison c = by_hand();
    cairn_error error;
    bool drawable;
    CHECK_OK(cairn_comparison_write(&c, path_in(&f, "a/b").text, &drawable, &error));
    const char *text = file_text(&f, "a/b/compare.csv");
    int lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    CHECK_INT(lines, 4);
    CHECK_CONTAINS(text, "\nfixed-point,pgs,0.01,yes,done,0,0,0,0,0,,0,");
    CHECK_CONTAINS(text, "\nconvex,pgs,0.02,no,done,0,0,0,0,0.125,1.5,0,");
    CHECK_CONTAINS(text, "\nconvex,pgs,0.03,no,failed,,,,,,,0,");
    CHECK_CONTAINS(text, ",\"it \"\"blew\"\" up\"\n");
    CHECK(!file_exists(&f, "a/b/compare.csv.part"));
    folder_remove(f.path);
}

TEST(the_script_holds_the_points_the_units_and_the_legend)
{
    folder f = folder_create();
    cairn_comparison c = by_hand();
    cairn_error error;
    bool drawable = false;
    CHECK_OK(cairn_comparison_write(&c, f.path, &drawable, &error));
    CHECK(drawable);
    const char *text = file_text(&f, "compare.gp");
    CHECK_CONTAINS(text, "set logscale xy\n");
    CHECK_CONTAINS(text, "'time step (s)'");
    CHECK_CONTAINS(text, "times (m)'");
    CHECK_CONTAINS(text, "$run1 << END\n0.02 0.125\nEND\n");
    CHECK_CONTAINS(text, "title 'convex, pgs, order 1.50'");
    folder_remove(f.path);
}

TEST(without_a_difference_there_is_no_script)
{
    folder f = folder_create();
    cairn_comparison c = by_hand();
    cairn_error error;
    bool drawable = true;
    runs[1].difference.whole_rms = 0;
    CHECK_OK(cairn_comparison_write(&c, f.path, &drawable, &error));
    CHECK(!drawable);
    CHECK(!file_exists(&f, "compare.gp"));
    folder_remove(f.path);
}

TEST(a_folder_that_cannot_be_made_is_named)
{
    folder f = folder_create();
    cairn_comparison c = by_hand();
    cairn_error error = { 0 };
    bool drawable;
    file_write(&f, "file", "not a folder");
    CHECK_INT(cairn_comparison_write(&c, path_in(&f, "file/x").text, &drawable, &error),
              CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "file");
    folder_remove(f.path);
}

GROUP(test_compare_write)
{
    RUN(CASE(the_table_has_a_line_for_each_run),
        CASE(the_script_holds_the_points_the_units_and_the_legend),
        CASE(without_a_difference_there_is_no_script), CASE(a_folder_that_cannot_be_made_is_named));
}

/* ==== test_trajectory: sample times, places between steps, distances between runs ============= */

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

GROUP(test_trajectory)
{
    RUN(CASE(there_is_a_sample_for_each_of_the_coarsest_steps),
        CASE(distances_are_largest_and_mean_square_over_bodies_and_samples),
        CASE(bodies_that_one_run_lacks_and_fixed_ones_are_left_out),
        CASE(between_steps_a_body_is_on_its_straight_line),
        CASE(no_memory_is_told_and_nothing_is_added));
}

/* ==== test_run_read: frames out of run files, and files that are not right ==================== */

static folder run_create(bool contacts, const char *certificate)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.run.contacts = contacts;
    s.run.certificate = certificate;
    s.run.paraview = s.run.picture = false;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    scene_destroy(&s);
    return f;
}

TEST(a_frame_is_what_the_world_was)
{
    folder f = run_create(true, "summary");
    cairn_run_reader r;
    cairn_sample s;
    CHECK_OK(cairn_run_reader_open(f.path, &r, NULL));
    CHECK_INT(r.frames, 6);
    CHECK_OK(cairn_run_reader_frame(&r, 0, &s));
    CHECK_INT(s.count, 4);
    CHECK(!s.has_contacts);
    CHECK_NEAR(s.x[3].z, 0.4, 0);
    CHECK_NEAR(s.radius[0], 0, 0);
    CHECK_NEAR(s.radius[3], 0.1, 0);
    CHECK_NEAR(s.volume[0], 0, 0);
    CHECK_CLOSE(s.volume[3], 4.0 / 3 * M_PI * 1e-3, 1e-12);
    CHECK_INT(s.is_grain[0], 0);
    CHECK_INT(s.is_grain[3], 1);
    CHECK_NEAR(s.totals->friction_loss, 0, 0);
    CHECK_OK(cairn_run_reader_frame(&r, 1, &s));
    CHECK(s.has_contacts && s.contacts >= 1);
    CHECK_NEAR(s.time, 0.02, 1e-12);
    /* ball 1 rests: the force on it is its weight */
    int ball = s.pair[0] == 1 ? 1 : -1;
    CHECK_CLOSE(ball * s.force[0].z, -s.mass[1] * s.gravity.z, 1e-3);
    cairn_run_reader_close(&r);
    folder_remove(f.path);
}

TEST(what_a_run_did_not_keep_is_not_known)
{
    folder f = run_create(false, "off");
    cairn_run_reader r;
    cairn_sample s;
    CHECK_OK(cairn_run_reader_open(path_in(&f, "run.h5").text, &r, NULL));
    CHECK_OK(cairn_run_reader_frame(&r, 3, &s));
    CHECK(!s.has_contacts);
    CHECK(s.totals == NULL);
    cairn_run_reader_close(&r);
    folder_remove(f.path);
}

TEST(files_from_before_there_were_volumes_are_read)
{
    folder f = run_create(false, "off");
    cairn_run_reader r;
    cairn_sample s;
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, "bodies/volume", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    CHECK_OK(cairn_run_reader_open(f.path, &r, NULL));
    CHECK_OK(cairn_run_reader_frame(&r, 3, &s));
    CHECK_NEAR(s.volume[3], 0, 0);
    cairn_run_reader_close(&r);
    folder_remove(f.path);
}

/* ---- files that are not right --------------------------------------------------------------- */

/* Write one number over number `place` of a dataset. */
static void spoil(const folder *f, const char *name, hsize_t place, double value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(set);
    hsize_t one = 1, at[2] = { place, 0 }, single[2] = { 1, 1 };
    hid_t memory = H5Screate_simple(1, &one, NULL);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, single, NULL);
    CHECK(H5Dwrite(set, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
}

TEST(numbers_that_lead_nowhere_are_refused)
{
    static const struct {
        const char *dataset;
        hsize_t place;
        double value;
        const char *key;
    } wrong[] = {
        { "frames/body_offset", 3, 1e9, "index" },
        { "frames/body_offset", 3, -1, "body_offset" },
        { "frames/contact_offset", 4, 1e15, "contact_offset" },
        { "frames/bodies/index", 5, 4, "index" },
        { "frames/bodies/index", 5, -1, "index" },
        { "frames/contacts/body", 1, 99, "body" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        folder f = run_create(true, "summary");
        cairn_measure_options o = cairn_measure_options_default();
        cairn_names names = { { "stress", "centre" }, 2 };
        cairn_statistic_table t[2];
        cairn_error error = { 0 };
        spoil(&f, wrong[i].dataset, wrong[i].place, wrong[i].value);
        CHECK_INT(cairn_run_measure(f.path, &names, &o, t, &error), CAIRN_BAD_INPUT);
        CHECK_TEXT(error.key, wrong[i].key);
        CHECK_CONTAINS(error.file, "run.h5");
        CHECK(t[0].values == NULL && t[1].values == NULL);
        folder_remove(f.path);
    }
}

TEST(what_is_not_there_is_said)
{
    folder f = run_create(true, "summary");
    cairn_measure_options o = cairn_measure_options_default();
    cairn_names names = { { "strees" }, 1 };
    cairn_statistic_table t[1];
    cairn_error error = { 0 };
    CHECK_INT(cairn_run_measure(f.path, &names, &o, t, &error), CAIRN_NOT_FOUND);
    CHECK_CONTAINS(error.message, "there is no statistic 'strees'");
    names.items[0] = "stress";
    o.trim = 2;
    CHECK_INT(cairn_run_measure(f.path, &names, &o, t, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "trim");
    o.trim = 0.1;
    CHECK_INT(cairn_run_measure(path_in(&f, "none").text, &names, &o, t, &error), CAIRN_NOT_FOUND);
    folder_remove(f.path);
}

TEST(no_memory_at_any_point_is_reported)
{
    folder f = run_create(true, "summary");
    cairn_measure_options o = cairn_measure_options_default();
    cairn_names names = { { "stress", "slices" }, 2 };
    cairn_status status = CAIRN_NO_MEMORY;
    for (long fail = 1; status != CAIRN_OK && fail < 1000; fail++) {
        cairn_statistic_table t[2];
        meter m = { .fail_at = fail };
        meter_install(&m);
        status = cairn_run_measure(f.path, &names, &o, t, NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        cairn_statistic_table_destroy(&t[0]);
        cairn_statistic_table_destroy(&t[1]);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
    folder_remove(f.path);
}

GROUP(test_run_read)
{
    RUN(CASE(a_frame_is_what_the_world_was), CASE(what_a_run_did_not_keep_is_not_known),
        CASE(files_from_before_there_were_volumes_are_read),
        CASE(numbers_that_lead_nowhere_are_refused), CASE(what_is_not_there_is_said),
        CASE(no_memory_at_any_point_is_reported));
}
