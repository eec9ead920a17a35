/* test_compare_write.c - a comparison as compare.csv and compare.gp. */
#include "io/compare.h"
#include "run_scene.h"

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

int main(void)
{
    RUN(CASE(the_table_has_a_line_for_each_run),
        CASE(the_script_holds_the_points_the_units_and_the_legend),
        CASE(without_a_difference_there_is_no_script), CASE(a_folder_that_cannot_be_made_is_named));
}
