/* test_profile.c - the performance profile of made-up times, by its corners. */
#include "io/trial.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(the_staircases_have_their_corners), CASE(one_solver_and_no_trial_at_all_are_drawn),
        CASE(a_folder_that_is_not_there_is_an_error));
}
