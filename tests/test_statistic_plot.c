/* test_statistic_plot.c - tables as scripts of gnuplot. */
#include "statistic_table.h"

/* The script of a table of `rows` rows of these numbers, with a title that gnuplot must be
 * told carefully. */
static const char *script_of(const folder *f, const char *name, double *values, size_t rows)
{
    char file[64];
    cairn_statistic_table t = table_of(name, values, rows);
    CHECK_OK(cairn_statistic_plot_write(&t, "it's\na bed", f->path, NULL));
    snprintf(file, sizeof file, "%s.gp", name);
    return file_text(f, file);
}

TEST(a_series_is_drawn_against_the_time)
{
    folder f = folder_create();
    double values[] = { 0, 0.5, 2, 4, 0.1, NAN, 2, 4 };
    const char *text = script_of(&f, "packing", values, 2);
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
    const char *text = script_of(&f, "surface", values, 14);
    CHECK_CONTAINS(text, "set xlabel 'position (m)'\nset ylabel 'height (m)'\n");
    CHECK_CONTAINS(text, "$frame4 << END\n6 12 12 12 12\n6 13 13 13 13\nEND\n");
    CHECK_CONTAINS(text, "$frame4 using 2:3 with @LOOK lc rgb '#d98c00' title 't = 6 s'");
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

/* The columns of the energy in 2D are the time and ten others: all of those that are not 0
 * throughout, on one axis. */
TEST(energy_is_drawn_with_all_its_columns)
{
    folder f = folder_create();
    double values[2 * 11];
    for (int i = 0; i < 22; i++)
        values[i] = 1 + i;
    values[9] = values[20] = 0; /* numerical_loss */
    CHECK_INT(table_of("energy", values, 2).column_count, 11);
    const char *text = script_of(&f, "energy", values, 2);
    static const char *const curves[] = { "kinetic",       "potential",   "entered",
                                          "load work",     "driver work", "correction",
                                          "friction loss", "impact loss", "sleep loss" };
    for (int i = 0; i < 9; i++) {
        char title[64];
        snprintf(title, sizeof title, "title '%s'", curves[i]);
        CHECK_CONTAINS(text, title);
    }
    CHECK(!strstr(text, "numerical loss"));
    CHECK(!strstr(text, "multiplot"));
    CHECK_CONTAINS(text, "set ylabel 'energy (J)'\n");
    folder_remove(f.path);
}

/* Fraction, two components of the velocity and temperature: four panels with the same frames. */
TEST(slices_are_drawn_as_their_title_says)
{
    folder f = folder_create();
    double values[2 * 8];
    for (int i = 0; i < 16; i++)
        values[i] = i % 8 == 0 ? 3 : 1 + i;
    CHECK_INT(table_of("slices", values, 2).column_count, 8);
    const char *text = script_of(&f, "slices", values, 2);
    CHECK_CONTAINS(text, "set multiplot layout 4,1 margins");
    CHECK_CONTAINS(text, "set ylabel 'fraction'\nplot $frame0 using 2:3 with");
    CHECK_CONTAINS(text, "set ylabel 'vx (m/s)'\nplot $frame0 using 2:6 with");
    CHECK_CONTAINS(text, "set ylabel 'vy (m/s)'\nplot $frame0 using 2:7 with");
    CHECK_CONTAINS(text, "set ylabel 'temperature (m²/s²)'\nplot $frame0 using 2:8 with");
    CHECK_CONTAINS(text, "unset multiplot\n");
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(a_series_is_drawn_against_the_time), CASE(a_profile_is_drawn_for_five_frames_at_most),
        CASE(nothing_to_draw_is_said), CASE(energy_is_drawn_with_all_its_columns),
        CASE(slices_are_drawn_as_their_title_says));
}
