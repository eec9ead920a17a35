/* test_statistic_write.c - tables as CSV and as scripts of gnuplot. */
#include "run_scene.h"

/* A table with numbers of our own: rows x columns. */
static cairn_statistic_table table_of(const char *name, double *values, size_t rows)
{
    cairn_statistic_table t;
    CHECK_OK(cairn_statistic_table_create(name, 2, &t));
    t.values = values;
    t.rows = rows;
    return t;
}

TEST(a_table_is_names_and_numbers_and_nothing_for_what_is_not_known)
{
    folder f = folder_create();
    double values[] = { 0, 0.5, 2, 4, 0.1, NAN, 2, 4 };
    cairn_statistic_table t = table_of("packing", values, 2);
    CHECK_OK(cairn_statistic_table_write(&t, path_in(&f, "new").text, NULL));
    CHECK_TEXT(file_text(&f, "new/packing.csv"),
               "time,fraction,solid,volume\n0,0.5,2,4\n0.1,,2,4\n");
    folder_remove(f.path);
}

TEST(a_series_is_drawn_against_the_time)
{
    folder f = folder_create();
    double values[] = { 0, 0.5, 2, 4, 0.1, NAN, 2, 4 };
    cairn_statistic_table t = table_of("packing", values, 2);
    CHECK_OK(cairn_statistic_plot_write(&t, "it's\na bed", f.path, NULL));
    const char *text = file_text(&f, "packing.gp");
    CHECK_CONTAINS(text, "set title 'it''s a bed'\n");
    CHECK_CONTAINS(text, "set xlabel 'time (s)'\nset ylabel 'packing'\n");
    CHECK_CONTAINS(text, "0.1 NaN 2 4\n");
    CHECK_CONTAINS(text, "plot $data using 1:2 with");
    folder_remove(f.path);
}

/* Seven frames of two rows each: five of them, the last for sure. */
TEST(a_profile_is_drawn_for_five_frames_at_most)
{
    folder f = folder_create();
    double values[2 * 7 * 5];
    for (int k = 0; k < 14; k++)
        for (int c = 0; c < 5; c++)
            values[5 * k + c] = c == 0 ? k / 2 : k;
    cairn_statistic_table t = table_of("surface", values, 14);
    CHECK_OK(cairn_statistic_plot_write(&t, "a heap", f.path, NULL));
    const char *text = file_text(&f, "surface.gp");
    CHECK_CONTAINS(text, "set xlabel 'position (m)'\nset ylabel 'height (m)'\n");
    CHECK_CONTAINS(text, "$frame4 << END\n6 12 12 12 12\n6 13 13 13 13\nEND\n");
    CHECK_CONTAINS(text, "$frame4 using 2:3 with linespoints pointsize 0.4 title 't = 6 s'");
    CHECK(!strstr(text, "frame5"));
    folder_remove(f.path);
}

TEST(nothing_to_draw_is_said)
{
    folder f = folder_create();
    double values[] = { 0, NAN, 2, 4 };
    cairn_error error = { 0 };
    cairn_statistic_table t = table_of("packing", values, 1);
    CHECK_INT(cairn_statistic_plot_write(&t, "", f.path, &error), CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "nothing to draw");
    CHECK(!file_exists(&f, "packing.gp"));
    folder_remove(f.path);
}

TEST(a_folder_that_cannot_be_made_is_an_error)
{
    folder f = folder_create();
    double values[] = { 0, 1, 2, 4 };
    cairn_error error = { 0 };
    cairn_statistic_table t = table_of("packing", values, 1);
    file_write(&f, "taken", "");
    CHECK_INT(cairn_statistic_table_write(&t, path_in(&f, "taken").text, &error), CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "taken");
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(a_table_is_names_and_numbers_and_nothing_for_what_is_not_known),
        CASE(a_series_is_drawn_against_the_time), CASE(a_profile_is_drawn_for_five_frames_at_most),
        CASE(nothing_to_draw_is_said), CASE(a_folder_that_cannot_be_made_is_an_error));
}
