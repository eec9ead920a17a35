/* test_trial.c - solvers against problems: verdicts, residuals and the table. */
#include "cairn/trial.h"

#include "base/arena.h"
#include "base/parallel.h"
#include "lattice_problem.h"
#include "random_problem.h"
#include "run_scene.h"

static cairn_solve_options options_of(const char *solver, cairn_law law, double tolerance)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.law = law;
    options.tolerance = tolerance;
    return options;
}

static const cairn_trial *last(const cairn_trials *trials)
{
    return cairn_trials_at(trials, cairn_trials_count(trials) - 1);
}

TEST(verdicts_are_told_apart)
{
    cairn_trials *trials;
    random_problem random;
    make_random_problem(&random, 3, 20, 15, 5);
    CHECK_OK(cairn_trials_create(&trials));
    cairn_solve_options good = options_of("pgs", CAIRN_LAW_COULOMB, 1e-6), few = good, bad = good;
    few.max_iterations = 1;
    bad.solver = "apgd"; /* convex law only */
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &good, NULL));
    CHECK_INT(last(trials)->verdict, CAIRN_VERDICT_SOLVED);
    CHECK(last(trials)->report.judgement.asked.relative <= 1e-6);
    CHECK(last(trials)->seconds > 0);
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &few, NULL));
    CHECK_INT(last(trials)->verdict, CAIRN_VERDICT_MISSED);
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &bad, NULL));
    CHECK_INT(last(trials)->verdict, CAIRN_VERDICT_NOT_TREATED);
    random.v_free[0] = NAN;
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &good, NULL));
    CHECK_INT(last(trials)->verdict, CAIRN_VERDICT_FAILED);
    CHECK_INT(last(trials)->status, CAIRN_NOT_FINITE);
    bad.solver = "nobody";
    CHECK_INT(cairn_trials_run(trials, "p", &random.p, &bad, NULL), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_trials_count(trials), 4);
    CHECK(cairn_trials_at(trials, 4) == NULL);
    CHECK_TEXT(cairn_verdict_name(CAIRN_VERDICT_NOT_TREATED), "not treated");
    cairn_trials_destroy(trials);
}

TEST(the_coulomb_residual_is_that_of_circular_cones_and_the_exact_law)
{
    cairn_trials *trials;
    random_problem random;
    make_random_problem(&random, 3, 20, 15, 5);
    CHECK_OK(cairn_trials_create(&trials));
    cairn_solve_options convex = options_of("pgs", CAIRN_LAW_CONVEX, 1e-9);
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &convex, NULL));
    CHECK(last(trials)->report.judgement.asked.relative <= 1e-9);
    CHECK(last(trials)->coulomb.relative > 1e-3); /* it slides: the laws differ */
    random.p.directions = 4;
    cairn_solve_options edges = options_of("pgs", CAIRN_LAW_COULOMB, 1e-9);
    if (cairn_solver_accepts("pgs", CAIRN_LAW_COULOMB, &random.p)) {
        CHECK_OK(cairn_trials_run(trials, "p", &random.p, &edges, NULL));
        CHECK(last(trials)->report.judgement.coulomb.relative <= 1e-9);
        CHECK(last(trials)->coulomb.relative > 1e-3);
    }
    cairn_trials_destroy(trials);
}

TEST(a_start_from_the_answer_needs_no_iteration)
{
    cairn_trials *trials;
    cairn_workspace *workspace;
    random_problem random;
    cairn_solve_report report;
    double r[45] = { 0 }, v[120], u[45];
    make_random_problem(&random, 3, 20, 15, 5);
    cairn_solve_options options = options_of("pgs", CAIRN_LAW_COULOMB, 1e-8);
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&random.p, &options, workspace, r, v, u, &report));
    CHECK_OK(cairn_trials_create(&trials));
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &options, r));
    CHECK_INT(last(trials)->report.iterations, 0);
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &options, NULL));
    CHECK(last(trials)->report.iterations > 0);
    cairn_trials_destroy(trials);
    cairn_workspace_destroy(workspace);
}

/* They are the solver's own: the judge says the same of them as the report. */
TEST(the_impulses_of_the_last_trial_are_lent)
{
    cairn_trials *trials;
    random_problem random;
    cairn_judgement judgement;
    double v[120], u[45];
    make_random_problem(&random, 3, 20, 15, 5);
    CHECK_OK(cairn_trials_create(&trials));
    CHECK(cairn_trials_impulses(trials) == NULL);
    cairn_solve_options good = options_of("pgs", CAIRN_LAW_COULOMB, 1e-6), bad = good;
    bad.solver = "apgd"; /* convex law only */
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &good, NULL));
    cairn_judge(&random.p, good.law, cairn_trials_impulses(trials), v, u, &judgement);
    CHECK(judgement.asked.relative > 0);
    CHECK(judgement.asked.relative == last(trials)->report.judgement.asked.relative);
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &bad, NULL));
    CHECK(cairn_trials_impulses(trials) == NULL);
    cairn_trials_destroy(trials);
}

/* 9,900 contacts of 3,375 balls: enough for sweeps, products and the judge to use threads. */
TEST(the_number_of_threads_is_taken_and_changes_no_bit)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    cairn_trials *trials;
    CHECK(make_lattice_problem(15, 0.3, &arena, &l));
    size_t size = 3 * (size_t)l.p.contacts;
    double *first = cairn_arena_doubles(&arena, size);
    CHECK_OK(cairn_trials_create(&trials));
    cairn_solve_options options = options_of("ngs", CAIRN_LAW_COULOMB, 1e-2);
    for (int threads = 1; threads <= 3; threads += 2) {
        cairn_trials_set_threads(trials, threads);
        CHECK_OK(cairn_trials_run(trials, "lattice", &l.p, &options, NULL));
        CHECK_INT(cairn_parallel_width(), threads);
        if (threads == 1)
            memcpy(first, cairn_trials_impulses(trials), size * sizeof(double));
        CHECK(memcmp(first, cairn_trials_impulses(trials), size * sizeof(double)) == 0);
    }
    CHECK_INT(last(trials)->verdict, CAIRN_VERDICT_SOLVED);
    cairn_parallel_threads(1);
    cairn_trials_destroy(trials);
    cairn_arena_destroy(&arena);
}

/* Each solve starts where the first one did, not from its answer: the count of iterations shows it. */
TEST(repeated_solves_give_the_same_answer)
{
    cairn_trials *trials;
    random_problem random;
    make_random_problem(&random, 3, 20, 15, 5);
    size_t size = 3 * (size_t)random.p.contacts * sizeof(double);
    double first[3 * 15], start[3 * 15];
    for (int i = 0; i < 3 * 15; i++)
        start[i] = i % 3 == 0 ? 0.1 : 0;
    CHECK_OK(cairn_trials_create(&trials));
    cairn_solve_options options = options_of("pgs", CAIRN_LAW_COULOMB, 1e-6);
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &options, start));
    CHECK_INT(random.p.contacts, 15);
    memcpy(first, cairn_trials_impulses(trials), size);
    int64_t iterations = last(trials)->report.iterations;
    CHECK(iterations > 1);
    cairn_trials_set_repeats(trials, 50);
    CHECK_OK(cairn_trials_run(trials, "p", &random.p, &options, start));
    CHECK_INT(last(trials)->report.iterations, iterations);
    CHECK(memcmp(first, cairn_trials_impulses(trials), size) == 0);
    CHECK(last(trials)->seconds >= 0 && last(trials)->seconds < 60);
    cairn_trials_destroy(trials);
}

TEST(the_tolerance_may_mean_the_measure_of_the_literature)
{
    cairn_trials *trials;
    random_problem random;
    make_random_problem(&random, 3, 20, 15, 5);
    CHECK_OK(cairn_trials_create(&trials));
    const char *const solvers[] = { "pgs", "ngs", "auto" };
    for (int i = 0; i < 3; i++) {
        cairn_solve_options options = options_of(solvers[i], CAIRN_LAW_COULOMB, 1e-4);
        options.fclib_measure = true;
        CHECK_OK(cairn_trials_run(trials, "p", &random.p, &options, NULL));
        CHECK_INT(last(trials)->verdict, CAIRN_VERDICT_SOLVED);
        CHECK(last(trials)->report.judgement.asked.fclib <= 1e-4);
        /* open contacts make the strict residual the larger one here */
        CHECK(last(trials)->report.judgement.asked.relative >
              last(trials)->report.judgement.asked.fclib);
    }
    cairn_trials_destroy(trials);
}

TEST(the_table_has_a_line_for_each_trial)
{
    folder f = folder_create();
    path p = path_in(&f, "t.csv");
    cairn_trials *trials;
    random_problem random;
    make_random_problem(&random, 2, 20, 15, 5);
    CHECK_OK(cairn_trials_create(&trials));
    cairn_solve_options good = options_of("pgs", CAIRN_LAW_COULOMB, 1e-6), bad = good;
    bad.solver = "apgd";
    CHECK_OK(cairn_trials_run(trials, "a \"b\", c", &random.p, &good, NULL));
    CHECK_OK(cairn_trials_run(trials, "second", &random.p, &bad, NULL));
    CHECK_OK(cairn_trials_write_csv(trials, p.text, NULL));
    const char *text = file_text(&f, "t.csv");
    CHECK(strncmp(text, "problem,dimension,contacts,solver,ran,law,directions,measure,tolerance,",
                  70) == 0);
    CHECK_CONTAINS(text, "\n\"a \"\"b\"\", c\",2,15,pgs,pgs,coulomb,0,strict,1e-06,");
    CHECK_CONTAINS(text, ",solved,\"\"\n");
    CHECK_CONTAINS(text, "\n\"second\",2,15,apgd,,coulomb,0,strict,1e-06,,,,,,,,0,0,");
    CHECK_CONTAINS(text, ",not treated,\"");
    int lines = 0;
    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    CHECK_INT(lines, 3);
    CHECK_INT(cairn_trials_write_csv(trials, "/nowhere/t.csv", NULL), CAIRN_IO_FAILED);
    cairn_trials_destroy(trials);
    folder_remove(f.path);
}

TEST(no_memory_at_any_place_is_reported_and_nothing_leaks)
{
    random_problem random;
    int failures = 0;
    make_random_problem(&random, 3, 20, 15, 5);
    for (long n = 1; n < 60; n++) {
        meter m = { .fail_at = n };
        cairn_trials *trials = NULL;
        cairn_solve_options options = options_of("pgs", CAIRN_LAW_COULOMB, 1e-3);
        meter_install(&m);
        cairn_status status = cairn_trials_create(&trials);
        if (status == CAIRN_OK)
            status = cairn_trials_run(trials, "p", &random.p, &options, NULL);
        /* inside the solver it is the solver's failure, and a verdict */
        if (status == CAIRN_OK && m.calls >= n)
            status = last(trials)->status;
        cairn_trials_destroy(trials);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        failures += status != CAIRN_OK;
    }
    CHECK(failures >= 5 && failures < 59);
}

int main(void)
{
    RUN(CASE(verdicts_are_told_apart),
        CASE(the_coulomb_residual_is_that_of_circular_cones_and_the_exact_law),
        CASE(a_start_from_the_answer_needs_no_iteration),
        CASE(the_impulses_of_the_last_trial_are_lent),
        CASE(the_number_of_threads_is_taken_and_changes_no_bit),
        CASE(repeated_solves_give_the_same_answer),
        CASE(the_tolerance_may_mean_the_measure_of_the_literature),
        CASE(the_table_has_a_line_for_each_trial),
        CASE(no_memory_at_any_place_is_reported_and_nothing_leaks));
}
