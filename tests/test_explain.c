/* test_explain.c - the page that `cairn explain` prints, and the rules behind its advice. */
#include "check_runs.h"

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

TEST(what_is_no_run_is_refused)
{
    folder f = folder_create();
    cairn_error error = { 0 };
    CHECK_INT(cairn_run_explain(f.path, stdout, &error), CAIRN_NOT_FOUND);
    file_write(&f, "run.h5", "no");
    CHECK_INT(cairn_run_explain(f.path, stdout, &error), CAIRN_BAD_INPUT);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(of_a_good_run_nothing_stands_out),
        CASE(energy_of_a_still_stack_that_is_rounding_is_not_told),
        CASE(missed_steps_are_told_with_their_bodies_and_what_to_do),
        CASE(bodies_of_missed_steps_are_called_by_their_names),
        CASE(the_gap_of_the_convex_law_is_told),
        CASE(a_smaller_margin_is_advised_only_where_there_is_one), CASE(wrong_offsets_do_no_harm),
        CASE(what_is_no_run_is_refused));
}
