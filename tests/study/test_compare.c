/* test_compare.c - runs of the same scene side by side: differences, orders, failures. */
#include "cairn/compare.h"

#include "failing_allocator.h"
#include "scene_text.h"

#define INCLINE CAIRN_SOURCE_DIR "/scenes/incline_disk_2d.yaml"

/* A ball falls freely for 1 s, far above the floor; gravity 10. */
#define FALL                                                                                       \
    "cairn: 1\ndimension: 3\ngravity: [0, 0, -10]\nmaterials: {rock: {friction: 0.3}}\n"           \
    "bodies:\n  - {motion: fixed, shape: {half_space: {}}}\n"                                      \
    "  - {shape: {sphere: {radius: 0.1}}, mass: 2, position: [0, 0, 100]}\n"                       \
    "run: {time_step: 0.1, duration: 1, solver: pgs}\n"

static cairn_comparison *compare(const char *path, const cairn_compare_options *options)
{
    cairn_comparison *c = NULL;
    cairn_error error = { 0 };
    if (cairn_compare(path, options, &c, &error) != CAIRN_OK)
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

int main(void)
{
    RUN(CASE(on_the_incline_both_schemes_have_order_one),
        CASE(the_convex_scheme_shows_its_dilatation_and_the_exact_one_none),
        CASE(the_reference_step_is_a_tenth_of_the_smallest_of_several),
        CASE(in_free_fall_differences_and_order_are_known),
        CASE(schemes_and_solvers_that_do_not_go_together_are_entries),
        CASE(a_run_that_fails_does_not_end_the_others),
        CASE(every_scheme_with_the_solver_and_step_of_the_scene_is_the_default),
        CASE(what_is_not_right_is_refused_by_name),
        CASE(the_caller_may_stop_and_keeps_the_runs_that_ended), CASE(overrides_hold_for_every_run),
        CASE(any_allocation_may_fail));
}
