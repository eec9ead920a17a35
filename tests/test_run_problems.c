/* test_run_problems.c - the contact problems of single steps, as files. */
#include "io/run_problems.h"

#include "cairn/fclib.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(the_world_lends_the_problem_of_its_last_step),
        CASE(the_steps_asked_for_are_written_with_their_solution),
        CASE(without_being_asked_a_good_run_writes_none),
        CASE(steps_that_missed_are_written_but_not_more_than_twenty),
        CASE(steps_that_missed_are_not_written_beyond_a_size),
        CASE(a_new_run_clears_what_an_earlier_one_left_and_nothing_else),
        CASE(half_a_step_is_refused));
}
