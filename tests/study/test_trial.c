/* test_trial.c - solvers compared with each other, and runs explained. */
#include "base/memory.h"
#include "base/parallel.h"
#include "cairn/study.h"
#include "study/study.h"
#include "tests/check/check_runs.h"
#include "tests/problems/random_problem.h"
#include "tests/problems/run_scene.h"

/* ==== test_trial: solvers against problems: verdicts, residuals and the table ================= */

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
    CHECK(last(trials)->seconds >= 0 && isfinite(last(trials)->seconds));
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

GROUP(test_trial)
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

/* ==== test_profile: the performance profile of made-up times, by its corners ================== */

/* Three problems; a: 1, 4, -, b: 2, 1, -: nobody solves the third. Then ratios are
 * a: 1, 4 and b: 2, 1, and both end at 2 of 3. */
static cairn_trial made_up[] = {
    { .problem = "p", .solver = "a", .seconds = 1 },
    { .problem = "p", .solver = "b", .seconds = 2 },
    { .problem = "q", .solver = "a", .seconds = 4 },
    { .problem = "q", .solver = "b", .seconds = 1 },
    { .problem = "r", .solver = "a", .seconds = 1, .verdict = CAIRN_VERDICT_MISSED },
    { .problem = "r", .solver = "b", .seconds = 1, .verdict = CAIRN_VERDICT_NOT_TREATED },
};

TEST(the_staircases_have_their_corners)
{
    folder f = folder_create();
    cairn_trials trials = { .items = made_up, .count = 6 };
    CHECK_OK(cairn_trials_write_profile(&trials, path_in(&f, "p.svg").text, NULL));
    const char *svg = file_text(&f, "p.svg");
    /* x from 80 (ratio 1) to 690 (ratio 4), y from 490 (none) to 50 (all): thirds of 440 */
    CHECK_CONTAINS(svg,
                   "points=\"80,490.0 80.0,490.0 80.0,343.3 690.0,343.3 690.0,196.7 690,196.7\"");
    CHECK_CONTAINS(svg,
                   "points=\"80,490.0 80.0,490.0 80.0,343.3 385.0,343.3 385.0,196.7 690,196.7\"");
    CHECK_CONTAINS(svg, ">a: 2 of 3</text>");
    CHECK_CONTAINS(svg, ">b: 2 of 3</text>");
    CHECK_CONTAINS(svg, "2 solvers, 3 problems");
    CHECK_CONTAINS(svg, "share of the problems solved");
    folder_remove(f.path);
}

TEST(one_solver_and_no_trial_at_all_are_drawn)
{
    folder f = folder_create();
    cairn_trials one = { .items = made_up, .count = 1 }, none = { 0 };
    CHECK_OK(cairn_trials_write_profile(&one, path_in(&f, "one.svg").text, NULL));
    CHECK_CONTAINS(file_text(&f, "one.svg"), ">a: 1 of 1</text>");
    CHECK(strstr(file_text(&f, "one.svg"), "nan") == NULL);
    CHECK_OK(cairn_trials_write_profile(&none, path_in(&f, "none.svg").text, NULL));
    CHECK_CONTAINS(file_text(&f, "none.svg"), "0 solvers, 0 problems");
    CHECK_CONTAINS(file_text(&f, "none.svg"), "</svg>");
    folder_remove(f.path);
}

TEST(a_folder_that_is_not_there_is_an_error)
{
    cairn_trials trials = { .items = made_up, .count = 6 };
    cairn_error error = { 0 };
    CHECK_INT(cairn_trials_write_profile(&trials, "/nowhere/p.svg", &error), CAIRN_IO_FAILED);
    CHECK_TEXT(error.file, "/nowhere/p.svg");
}

GROUP(test_profile)
{
    RUN(CASE(the_staircases_have_their_corners), CASE(one_solver_and_no_trial_at_all_are_drawn),
        CASE(a_folder_that_is_not_there_is_an_error));
}

/* ==== test_explain: the page that `cairn explain` prints, and the rules behind its advice ===== */

/* What is said about the run in a folder. */
static const char *page_of(const folder *f)
{
    FILE *out = fopen(path_in(f, "page.txt").text, "wb");
    CHECK_OK(cairn_run_explain(f->path, out, NULL));
    fclose(out);
    return file_text(f, "page.txt");
}

/* Three spheres on a floor: nothing to say. */
TEST(of_a_good_run_nothing_stands_out)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.step.time_step = 1e-3;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    const char *page = page_of(&f);
    CHECK_CONTAINS(page, "three spheres: 100 steps of 0.001 s, scheme coulomb");
    CHECK_CONTAINS(page, "missed tolerance     0 of 100 steps");
    CHECK_CONTAINS(page, "what to change\n  nothing stands out\n");
    CHECK(strstr(page, "did not settle") == NULL);
    scene_destroy(&s);
    folder_remove(f.path);
}

TEST(the_speed_lost_along_round_walls_is_told)
{
    folder f = folder_create();
    cairn_scene s = scene_create(3);
    s.step.time_step = 1e-3;
    s.step.arcs = false;
    CHECK_OK(cairn_run(&s, f.path, NULL, NULL, NULL, NULL));
    CHECK_CONTAINS(page_of(&f), "with w rad/s loses a share of 0.0005 w^2 of its speed a second");
    scene_destroy(&s);
    folder_remove(f.path);
}

/* Three cubes of 20 kg stand for 0.2 s. What rounding and tolerance leave (some 1e-10 J of the 59 J
 * that lift them by half an edge) is no share of a kinetic energy of 1e-16 J; 1e-3 J are. */
TEST(energy_of_a_still_stack_that_is_rounding_is_not_told)
{
    static const char *const stack =
        "cairn: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "bodies:\n"
        "  - {motion: fixed, shape: {half_space: {}}}\n"
        "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 20, position: [0, 0, 0.1]}\n"
        "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 20, position: [0, 0, 0.3]}\n"
        "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, mass: 20, position: [0, 0, 0.5]}\n"
        "run: {time_step: 0.01, duration: 0.2, scheme: coulomb, tolerance: 1e-8}\n";
    folder f = folder_create();
    const double lost = 1e-3;
    run_into(&f, stack, NULL);
    const char *page = page_of(&f);
    CHECK_CONTAINS(page, "energy lost          next to nothing, largest kinetic energy ");
    CHECK_CONTAINS(page, "what to change\n  nothing stands out\n");
    swap_number(&f, "steps/numerical_loss", 0, &lost);
    swap_number(&f, "steps/correction", 0, &lost);
    page = page_of(&f);
    CHECK_CONTAINS(page, "energy lost          0.001 J by the time stepping");
    CHECK_CONTAINS(page, "the time stepping took 0.001 J");
    CHECK_CONTAINS(page, "moving overlapping bodies apart added 0.001 J");
    folder_remove(f.path);
}

/* One iteration where many are needed. */
static void run_badly(const folder *f, const char *certificate)
{
    cairn_scene *scene = scene_text_good(scene_3d, "run.scheme=coulomb");
    scene->step.solver = "pgs";
    scene->step.max_iterations = 1;
    scene->step.tolerance = 1e-9;
    scene->run.certificate = certificate;
    CHECK_OK(cairn_run(scene, f->path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
}

TEST(missed_steps_are_told_with_their_bodies_and_what_to_do)
{
    folder f = folder_create();
    run_badly(&f, "full");
    const char *page = page_of(&f);
    CHECK_CONTAINS(page, "contacts that did not settle\n  step ");
    CHECK_CONTAINS(page, ", bodies ");
    CHECK_CONTAINS(page, "steps missed the tolerance 1e-09, most of them with all iterations used");
    CHECK_CONTAINS(page, "raise run.max_iterations");
    run_badly(&f, "summary");
    CHECK_CONTAINS(page_of(&f), "unknown: run with certificate: full");
    run_badly(&f, "off");
    CHECK_CONTAINS(page_of(&f), "raise run.max_iterations");
    folder_remove(f.path);
}

/* Two balls on each other: one sweep does not solve it. */
TEST(bodies_of_missed_steps_are_called_by_their_names)
{
    static const char *const tower =
        "cairn: 1\n"
        "bodies:\n"
        "  - {name: floor, motion: fixed, shape: {half_space: {}}}\n"
        "  - {name: ball, shape: {sphere: {radius: 1}}, position: [0, 0, 1]}\n"
        "  - {name: top, shape: {sphere: {radius: 1}}, position: [0, 0, 3]}\n"
        "run: {time_step: 0.01, duration: 0.01, certificate: full, scheme: coulomb, solver: pgs,\n"
        "      max_iterations: 1, tolerance: 1e-9}\n";
    folder f = folder_create();
    run_into(&f, tower, NULL);
    CHECK_CONTAINS(page_of(&f), "step 1: contact 0, bodies 'ball' and 'floor', residual");
    folder_remove(f.path);
}

/* scene_3d slides fast: the convex law keeps gaps of more than 1 % of the smallest radius. */
TEST(the_gap_of_the_convex_law_is_told)
{
    folder f = folder_create();
    run_into(&f, scene_3d, "run.scheme=convex");
    CHECK_CONTAINS(page_of(&f), "the convex law lifts what begins to slide");
    run_into(&f, scene_3d, "run.scheme=coulomb");
    CHECK(strstr(page_of(&f), "the convex law lifts what begins to slide") == NULL);
    folder_remove(f.path);
}

/* A run whose first step took 1000 s to find contacts. */
static const char *page_of_slow_collision(const folder *f, const char *margin)
{
    const double slow = 1000;
    run_into(f, scene_3d, margin);
    swap_number(f, "steps/collide_seconds", 0, &slow);
    return page_of(f);
}

TEST(a_smaller_margin_is_advised_only_where_there_is_one)
{
    folder f = folder_create();
    const char *page = page_of_slow_collision(&f, "run.margin=0.01");
    CHECK_CONTAINS(page, "100 % of the time is collision: a run.margin below 0.01 m makes");
    page = page_of_slow_collision(&f, "run.margin=0");
    CHECK_CONTAINS(page, "100 % of the time is collision: more run.threads share it");
    CHECK(strstr(page, "run.margin") == NULL);
    folder_remove(f.path);
}

/* Offsets from anywhere are held against the rows that there are. */
TEST(wrong_offsets_do_no_harm)
{
    folder f = folder_create();
    static const double wrong[] = { -5, 1e15, 1e300, 77 };
    run_badly(&f, "full");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        for (hsize_t at = 0; at < 60; at += 7) {
            double old = swap_number(&f, "certificate/contact_offset", at, &wrong[i]);
            page_of(&f);
            swap_number(&f, "certificate/contact_offset", at, &old);
        }
    folder_remove(f.path);
}

/* A region as large as one ball of radius 0.1, at rest: of 9 balls a second the first one comes.
 * After 0.5 s 5 are due and 4 more are not. */
TEST(bodies_that_inlets_did_not_bring_are_told)
{
    static const char *const pour =
        "cairn: 1\n"
        "gravity: [0, 0, 0]\n"
        "generators:\n"
        "  - pour: {count: 2, rate: 1000, centre: [5, 0, 0], size: [0, 0, 1], radius: 0.1}\n"
        "  - pour: {count: 9, rate: 9.1, centre: [0, 0, 0], size: [0, 0, 0], radius: 0.1}\n"
        "run: {time_step: 0.01, duration: 0.5}\n";
    folder f = folder_create();
    cairn_run_summary s;
    cairn_scene *scene = scene_text_good(pour, NULL);
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, &s, NULL));
    cairn_scene_destroy(scene);
    CHECK_INT(s.inlets.bodies, 11);
    CHECK_INT(s.inlets.released, 3);
    CHECK_INT(s.inlets.unplaced, 4);
    CHECK_INT(s.inlets.later, 4);
    CHECK_INT(s.inlets.worst, 1);
    const char *page = page_of(&f);
    CHECK_CONTAINS(page, "the 11 bodies of inlets\n  came                 3\n"
                         "  found no free place  4\n  due later            4\n");
    CHECK_CONTAINS(page, "  - 4 of the 11 bodies of inlets did not come, because what came");
    CHECK_CONTAINS(file_text(&f, "summary.json"), "\"unplaced\": 4");
    folder_remove(f.path);
}

TEST(what_is_no_run_is_refused)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    CHECK_INT(cairn_run_explain(f.path, stdout, &error), CAIRN_NOT_FOUND);
    file_write(&f, "run.h5", "no");
    CHECK_INT(cairn_run_explain(f.path, stdout, &error), CAIRN_BAD_INPUT);
    folder_remove(f.path);
}

GROUP(test_explain)
{
    RUN(CASE(of_a_good_run_nothing_stands_out), CASE(the_speed_lost_along_round_walls_is_told),
        CASE(energy_of_a_still_stack_that_is_rounding_is_not_told),
        CASE(missed_steps_are_told_with_their_bodies_and_what_to_do),
        CASE(bodies_of_missed_steps_are_called_by_their_names),
        CASE(the_gap_of_the_convex_law_is_told),
        CASE(a_smaller_margin_is_advised_only_where_there_is_one), CASE(wrong_offsets_do_no_harm),
        CASE(bodies_that_inlets_did_not_bring_are_told), CASE(what_is_no_run_is_refused));
}
