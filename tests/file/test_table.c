/* test_table.c - what others read: JSON, VTK, CSV, scripts of gnuplot. */
#include <stdlib.h>

#include "cairn/output.h"
#include "file/file.h"
#include "file/formats.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"

/* ==== test_json: what the JSON writer writes, letter by letter ================================ */

/* The text that `write` writes, in a static buffer. */
static const char *written(void (*write)(cairn_json *json))
{
    static char text[1024];
    FILE *out = tmpfile();
    CHECK(out != NULL);
    cairn_json json = { .out = out };
    write(&json);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    return text;
}

static void nested(cairn_json *json)
{
    cairn_json_begin(json, NULL);
    cairn_json_integer(json, "count", -3);
    cairn_json_begin(json, "inner");
    cairn_json_real(json, "x", 0.1);
    cairn_json_flag(json, "yes", true);
    cairn_json_end(json);
    cairn_json_begin(json, "empty");
    cairn_json_end(json);
    cairn_json_end(json);
}

TEST(objects_nest_with_commas_between_entries)
{
    CHECK_TEXT(written(nested), "{\n  \"count\": -3,\n  \"inner\": {\n    \"x\": 0.1,\n"
                                "    \"yes\": true\n  },\n  \"empty\": {}\n}\n");
}

static void not_finite(cairn_json *json)
{
    cairn_json_begin(json, NULL);
    cairn_json_real(json, "a", NAN);
    cairn_json_real(json, "b", INFINITY);
    cairn_json_real(json, "c", -INFINITY);
    cairn_json_end(json);
}

TEST(numbers_that_json_does_not_know_are_null)
{
    CHECK_TEXT(written(not_finite), "{\n  \"a\": null,\n  \"b\": null,\n  \"c\": null\n}\n");
}

static void special(cairn_json *json)
{
    cairn_json_begin(json, NULL);
    cairn_json_text(json, "k\"", "a\\b\n\t\x01 \xc3\xa9");
    cairn_json_text(json, "none", NULL);
    cairn_json_end(json);
}

TEST(quotes_backslashes_and_control_letters_are_escaped)
{
    CHECK_TEXT(written(special), "{\n  \"k\\\"\": \"a\\\\b\\u000a\\u0009\\u0001 \xc3\xa9\",\n"
                                 "  \"none\": null\n}\n");
}

TEST(a_number_reads_back_as_itself)
{
    const double numbers[] = { 1.0 / 3, 0.1, 1e300, 5e-324, -2.5, 123456789012345678.0 };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[32];
        cairn_number_text(numbers[i], text);
        CHECK(strtod(text, NULL) == numbers[i]);
    }
    char text[32];
    cairn_number_text(0.1, text);
    CHECK_TEXT(text, "0.1");
}

static void pairs(cairn_json *json)
{
    const int64_t steps[2][2] = { { 3, 5 }, { 9, 9 } };
    cairn_json_begin(json, NULL);
    cairn_json_pairs(json, "some", steps, 2);
    cairn_json_pairs(json, "none", steps, 0);
    cairn_json_end(json);
}

TEST(pairs_stand_on_one_line)
{
    CHECK_TEXT(written(pairs), "{\n  \"some\": [[3, 5], [9, 9]],\n  \"none\": []\n}\n");
}

static void lists(cairn_json *json)
{
    const double reals[] = { 1, 0.5, NAN };
    const char *const texts[] = { "a", "\"b\"" };
    cairn_json_begin(json, NULL);
    cairn_json_reals(json, "x", reals, 3);
    cairn_json_texts(json, "names", texts, 2);
    cairn_json_reals(json, "none", NULL, 0);
    cairn_json_end(json);
}

TEST(lists_stand_on_one_line)
{
    CHECK_TEXT(written(lists), "{\n  \"x\": [1, 0.5, null],\n  \"names\": [\"a\", \"\\\"b\\\"\"],\n"
                               "  \"none\": []\n}\n");
}

GROUP(test_json)
{
    RUN(CASE(lists_stand_on_one_line), CASE(objects_nest_with_commas_between_entries),
        CASE(numbers_that_json_does_not_know_are_null),
        CASE(quotes_backslashes_and_control_letters_are_escaped),
        CASE(a_number_reads_back_as_itself), CASE(pairs_stand_on_one_line));
}

/* ==== test_vtk: the bytes of .vtp and .pvd files. tests/tools/check_vtk.py reads them with VTK
 * itself */

/* A segment from (0,0,0) to (1,2,3) with one number on its cell. */
static cairn_vtk_piece segment(void)
{
    static const cairn_vec3 x[2] = { { 0, 0, 0 }, { 1, 2, 3 } };
    static const int64_t corners[2] = { 0, 1 }, end[1] = { 2 };
    static const int32_t body[1] = { 7 };
    static const cairn_vtk_array arrays[1] = { { "body", CAIRN_VTK_INT, 1, body } };
    return (cairn_vtk_piece){ .time = 0.5,
                              .points = 2,
                              .x = x,
                              .cells = { "Lines", 1, corners, end },
                              .cell_arrays = arrays,
                              .cell_array_count = 1 };
}

/* The bytes of a file after the underscore that begins the appended data. */
static size_t appended(const char *name, char *out, size_t capacity)
{
    static char all[1 << 14];
    FILE *file = fopen(name, "rb");
    CHECK(file != NULL);
    size_t size = fread(all, 1, sizeof all - 1, file);
    fclose(file);
    all[size] = '\0';
    char *start = strstr(all, "<AppendedData encoding=\"raw\">\n_");
    CHECK(start != NULL);
    start += strlen("<AppendedData encoding=\"raw\">\n_");
    size_t left = size - (size_t)(start - all);
    CHECK(left <= capacity);
    memcpy(out, start, left < capacity ? left : capacity);
    return left;
}

TEST(arrays_follow_each_other_with_their_size_in_front)
{
    folder f = folder_create();
    path p = path_in(&f, "a.vtp");
    cairn_vtk_piece piece = segment();
    char bytes[4096];
    uint64_t size;
    double numbers[6];
    CHECK_OK(cairn_vtk_write(p.text, &piece, NULL));
    /* time 8+8, points 8+48, connectivity 8+16, offsets 8+8, body 8+4, then the closing tags */
    const char tail[] = "\n</AppendedData>\n</VTKFile>\n";
    CHECK_INT(appended(p.text, bytes, sizeof bytes), 16 + 56 + 24 + 16 + 12 + strlen(tail));
    CHECK(memcmp(bytes + 124, tail, strlen(tail)) == 0);
    memcpy(&size, bytes + 16, 8);
    memcpy(numbers, bytes + 24, sizeof numbers);
    CHECK_INT(size, 48);
    CHECK_NEAR(numbers[5], 3, 0);
    int32_t body;
    memcpy(&body, bytes + 120, 4);
    CHECK_INT(body, 7);
    folder_remove(f.path);
}

TEST(the_head_names_counts_and_offsets)
{
    folder f = folder_create();
    cairn_vtk_piece piece = segment();
    CHECK_OK(cairn_vtk_write(path_in(&f, "a.vtp").text, &piece, NULL));
    const char *text = file_text(&f, "a.vtp");
    CHECK_CONTAINS(text, "byte_order=\"LittleEndian\" header_type=\"UInt64\"");
    CHECK_CONTAINS(text, "NumberOfPoints=\"2\" NumberOfVerts=\"0\" NumberOfLines=\"1\"");
    CHECK_CONTAINS(text, "type=\"Int32\" Name=\"body\" NumberOfComponents=\"1\" "
                         "NumberOfTuples=\"1\" format=\"appended\" offset=\"112\"");
    folder_remove(f.path);
}

TEST(more_arrays_than_fit_are_refused_and_leave_no_file)
{
    folder f = folder_create();
    cairn_vtk_piece piece = segment();
    cairn_error error = { 0 };
    const int32_t number[1] = { 1 };
    cairn_vtk_array many[40];
    for (int i = 0; i < 40; i++)
        many[i] = (cairn_vtk_array){ "a", CAIRN_VTK_INT, 1, number };
    piece.cell_arrays = many;
    piece.cell_array_count = 40;
    CHECK_INT(cairn_vtk_write(path_in(&f, "a.vtp").text, &piece, &error), CAIRN_UNSUPPORTED);
    CHECK(!file_exists(&f, "a.vtp") && !file_exists(&f, "a.vtp.part"));
    folder_remove(f.path);
}

TEST(a_series_lists_times_and_files)
{
    folder f = folder_create();
    const cairn_vtk_moment moments[2] = { { 0, 0 }, { 0.1, 1234567 } };
    CHECK_OK(cairn_vtk_series_write(f.path, "bodies", moments, 2, NULL));
    const char *text = file_text(&f, "bodies.pvd");
    CHECK_CONTAINS(text, "<DataSet timestep=\"0\" part=\"0\" file=\"bodies_000000.vtp\"/>");
    CHECK_CONTAINS(text, "<DataSet timestep=\"0.1\" part=\"0\" file=\"bodies_1234567.vtp\"/>");
    folder_remove(f.path);
}

TEST(a_full_disk_leaves_the_old_file)
{
    folder f = folder_create();
    cairn_vtk_piece piece = segment();
    cairn_error error = { 0 };
    file_write(&f, "a.vtp", "old");
    file_write(&f, "bodies.pvd", "old");
    disk_limit(100);
    cairn_status written = cairn_vtk_write(path_in(&f, "a.vtp").text, &piece, &error);
    cairn_status listed = cairn_vtk_series_write(f.path, "bodies", NULL, 0, &error);
    disk_limit(RLIM_INFINITY);
    CHECK_INT(written, CAIRN_IO_FAILED);
    CHECK_INT(listed, CAIRN_IO_FAILED);
    CHECK_CONTAINS(error.file, "bodies.pvd");
    CHECK_TEXT(file_text(&f, "a.vtp"), "old");
    CHECK_TEXT(file_text(&f, "bodies.pvd"), "old");
    CHECK(!file_exists(&f, "a.vtp.part") && !file_exists(&f, "bodies.pvd.part"));
    folder_remove(f.path);
}

/* 2 x 1 x 3 cells with a vector and a scalar: the head says where they lie, the numbers follow. */
TEST(a_grid_is_image_data)
{
    folder f = folder_create();
    const double vectors[18] = { 1, 2, 3, 4, 5, 6 }, scalars[6] = { 7, 8, 9, 10, 11, 12 };
    const cairn_vtk_array arrays[] = { { "velocity", CAIRN_VTK_REAL, 3, vectors },
                                       { "density", CAIRN_VTK_REAL, 1, scalars } };
    const cairn_vtk_grid grid = { .time = 0.5,
                                  .cells = { 2, 1, 3 },
                                  .origin = { -1, 0, 0.25 },
                                  .edge = { 0.5, 0.25, 0.5 },
                                  .arrays = arrays,
                                  .array_count = 2 };
    CHECK_OK(cairn_vtk_grid_write(path_in(&f, "fields_000000.vti").text, &grid, NULL));
    const char *text = file_text(&f, "fields_000000.vti");
    CHECK_CONTAINS(text, "<ImageData WholeExtent=\"0 2 0 1 0 3\" Origin=\"-1 0 0.25\" "
                         "Spacing=\"0.5 0.25 0.5\">");
    CHECK_CONTAINS(text, "Name=\"density\" NumberOfComponents=\"1\" NumberOfTuples=\"6\" "
                         "format=\"appended\" offset=\"168\"");
    const char *data = strstr(text, "\n_") + 2;
    double number;
    memcpy(&number, data + 168 + 8 + 8, sizeof number); /* the second density */
    CHECK_NEAR(number, 8, 0);
    folder_remove(f.path);
}

GROUP(test_vtk)
{
    RUN(CASE(a_grid_is_image_data), CASE(arrays_follow_each_other_with_their_size_in_front),
        CASE(the_head_names_counts_and_offsets),
        CASE(more_arrays_than_fit_are_refused_and_leave_no_file),
        CASE(a_series_lists_times_and_files), CASE(a_full_disk_leaves_the_old_file));
}

/* ==== tables of statistics with numbers of our own, for the tests of what writes them ========= */

/* A 2D table with these numbers, rows x columns; they are lent. */
static inline cairn_statistic_table table_of(const char *name, double *values, size_t rows)
{
    cairn_statistic_table t;
    CHECK_OK(cairn_statistic_table_create(name, 2, &t));
    t.values = values;
    t.rows = rows;
    return t;
}

/* ==== test_statistic_write: tables as CSV ===================================================== */

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

GROUP(test_statistic_write)
{
    RUN(CASE(a_table_is_names_and_numbers_and_nothing_for_what_is_not_known),
        CASE(a_folder_that_cannot_be_made_is_an_error));
}

/* ==== test_statistic_plot: tables as scripts of gnuplot ======================================= */

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
    CHECK_CONTAINS(text, "set title 'it''s' . \"\\n\" . 'a bed'\n");
    CHECK_CONTAINS(text, "set xlabel 'time (s)'\nset ylabel 'packing'\n");
    CHECK_CONTAINS(text, "0.1 NaN 2 4\n");
    CHECK_CONTAINS(text, "plot $data using 1:2 with");
    folder_remove(f.path);
}

/* A biaxial test: after a consolidation, in which x shrinks more, y is compressed and x expands as
 * much. Drawn is the test, against the strain of y. */
TEST(a_cell_is_drawn_against_its_compression_without_the_consolidation)
{
    folder f = folder_create();
    double values[4 * 13] = { 0 };
    static const double length[4][2] = { { 2, 2 }, { 1, 1.2 }, { 1.1, 1.1 }, { 1.2, 1 } };
    for (int k = 0; k < 4; k++) {
        double *row = values + 13 * k;
        row[0] = k;
        for (int i = 0; i < 2; i++) {
            row[1 + i] = length[k][i];
            row[3 + i] = log((k == 0 ? 2 : length[1][i]) / length[k][i]);
            row[5 + i] = row[7 + i] = 100 + k;
        }
    }
    CHECK_INT(table_of("cell", values, 4).column_count, 13);
    const char *text = script_of(&f, "cell", values, 4);
    CHECK_CONTAINS(text, "set xlabel 'strain y (1)'\n");
    CHECK_CONTAINS(text, "$data << END\n1 1 1.2 0 0 ");
    CHECK_CONTAINS(text, "plot $data using 5:");
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

/* gnuplot has no range for numbers that are all the same, and says so on each drawing. */
TEST(numbers_that_are_all_the_same_get_a_range)
{
    folder f = folder_create();
    double values[] = { 0, 0.5, 2, 4, 0.1, 0.5, 2, 4 }, zero[] = { 3, 0, 0, 0 };
    const char *text = script_of(&f, "packing", values, 2);
    CHECK_CONTAINS(text, "set autoscale x\n");
    CHECK_CONTAINS(text, "set yrange [0.495:0.505]\n");
    text = script_of(&f, "packing", zero, 1);
    CHECK_CONTAINS(text, "set xrange [2.97:3.03]\n");
    CHECK_CONTAINS(text, "set yrange [-1:1]\n");
    folder_remove(f.path);
}

/* 100 letters of two bytes, a space, 20 more: lines end after 84 letters or at the space. */
TEST(long_titles_are_broken_into_lines)
{
    folder f = folder_create();
    char title[300] = "";
    double values[] = { 0, 0.5, 2, 4, 0.1, 0.6, 2, 4 };
    for (int k = 0; k < 120; k++)
        strcat(title, k == 100 ? " \u00e4" : "\u00e4");
    cairn_statistic_table t = table_of("packing", values, 2);
    CHECK_OK(cairn_statistic_plot_write(&t, title, f.path, NULL));
    const char *text = strstr(file_text(&f, "packing.gp"), "set title '");
    CHECK(text != NULL);
    CHECK_INT(strcspn(text + 11, "'"), 2 * 84);
    CHECK(strncmp(text + 11 + 2 * 84, "' . \"\\n\" . '", 12) == 0);
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

GROUP(test_statistic_plot)
{
    RUN(CASE(a_series_is_drawn_against_the_time),
        CASE(a_cell_is_drawn_against_its_compression_without_the_consolidation),
        CASE(a_profile_is_drawn_for_five_frames_at_most),
        CASE(numbers_that_are_all_the_same_get_a_range), CASE(long_titles_are_broken_into_lines),
        CASE(nothing_to_draw_is_said), CASE(energy_is_drawn_with_all_its_columns),
        CASE(slices_are_drawn_as_their_title_says));
}

/* ==== test_plot_style: the look that all diagrams share ======================================= */

TEST(a_script_begins_with_the_page)
{
    folder f = folder_create();
    FILE *out = fopen(path_in(&f, "a.gp").text, "wb");
    cairn_plot_begin(out, &(cairn_plot_page){ "pair-correlation.svg", 620, 440, true });
    fclose(out);
    const char *text = file_text(&f, "a.gp");
    CHECK_CONTAINS(text, "set terminal svg size 620,440 noenhanced background 'white'");
    CHECK_CONTAINS(text, "name \"pair_correlation\"\n");
    CHECK_CONTAINS(text, "set output 'pair-correlation.svg.part'\n");
    folder_remove(f.path);
}

TEST(eight_colours_follow_each_other)
{
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(cairn_plot_colour(i), cairn_plot_colour(k)) != 0);
    CHECK_TEXT(cairn_plot_colour(8), cairn_plot_colour(0));
}

GROUP(test_plot_style)
{
    RUN(CASE(a_script_begins_with_the_page), CASE(eight_colours_follow_each_other));
}

/* ==== test_table_read: tables of numbers in every format, and files that are wrong ============ */

static cairn_table *read_table(const folder *f, const char *name, const char *text, int64_t frame)
{
    const cairn_table_options options = { .frame = frame };
    cairn_table *table;
    cairn_error error = { 0 };
    if (text)
        file_write(f, name, text);
    if (cairn_table_read(path_in(f, name).text, &options, &table, &error) != CAIRN_OK)
        fail_msg("%s:%d: %s", name, error.line, error.message);
    return table;
}

static double at(const cairn_table *t, int64_t row, const char *column)
{
    int k = cairn_table_find(t, column);
    if (k < 0)
        fail_msg("there is no column %s", column);
    return t->values[row * t->column_count + k];
}

/* Two bodies: x = 1, 2, 3 with radius 0.25, and x = 4, 5, 6.5 with radius 0.5. */
static void check_two(cairn_table *t, const char *x, const char *z, const char *size, double factor)
{
    CHECK_INT(t->row_count, 2);
    CHECK_NEAR(at(t, 0, x), 1, 0);
    CHECK_NEAR(at(t, 0, z), 3, 0);
    CHECK_NEAR(at(t, 1, x), 4, 0);
    CHECK_NEAR(at(t, 1, z), 6.5, 0);
    CHECK_NEAR(at(t, 0, size), 0.25 * factor, 0);
    CHECK_NEAR(at(t, 1, size), 0.5 * factor, 0);
    cairn_table_destroy(t);
}

TEST(texts_are_read_with_and_without_names)
{
    folder f = folder_create();
    check_two(read_table(&f, "a.csv", "x,y,z,\"the radius\"\n1,2,3,0.25\n\n4,5,6.5,.5\n", -1), "x",
              "z", "the radius", 1);
    check_two(read_table(&f, "a.csv", "\xef\xbb\xbfx;y;z;r\r\n1;2;3;0.25\r\n4;5;6.5;5e-1", -1), "x",
              "z", "r", 1);
    check_two(
        read_table(&f, "a.tsv", "x\ty\tz\tr\tname\n1\t2\t3\t0.25\ta b\n4\t5\t6.5\t0.5\t\n", -1),
        "x", "z", "r", 1);
    check_two(read_table(&f, "a.txt", "# x y z r\n1 2 3 0.25\n4  5\t6.5 +0.5 \n", -1), "x", "z",
              "r", 1);
    check_two(read_table(&f, "a.dat", "# a comment of five words\n1 2 3 0.25\n4 5 6.5 0.5\n", -1),
              "1", "3", "4", 1);
    folder_remove(f.path);
}

TEST(files_of_lammps_are_read)
{
    folder f = folder_create();
    static const char dump[] =
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS pp pp pp\n0 1\n0 1\n0 1\n"
        "ITEM: ATOMS id x\n1 7\nITEM: TIMESTEP\n5\nITEM: NUMBER OF ATOMS\n2\n"
        "ITEM: ATOMS id type x y z radius\n2 1 1 2 3 0.25\n9 1 4 5 6.5 0.5\n";
    check_two(read_table(&f, "a.dump", dump, -1), "x", "z", "radius", 1);
    cairn_table *t = read_table(&f, "a.lammpstrj", dump, 0);
    CHECK_INT(t->row_count, 1);
    CHECK_NEAR(at(t, 0, "x"), 7, 0);
    cairn_table_destroy(t);
    char cut[sizeof dump + 20];
    snprintf(cut, sizeof cut, "%sITEM: TIMESTEP\n9\n", dump); /* what stands before can be read */
    check_two(read_table(&f, "a.dump", cut, 1), "x", "z", "radius", 1);
    static const char data[] =
        "comment\n\n2 atoms\n1 atom types\n0 9 xlo xhi\n\nMasses\n\n1 3.5\n\nAtoms # sphere\n\n"
        "7 1 0.5 1000 1 2 3 0 0 0\n5 1 1.0 2000 4 5 6.5 0 0 0\n\nVelocities\n\n"
        "5 0.1 0.2 0.3 1 2 3\n7 -1 0 0 0 0 4\n";
    t = read_table(&f, "a.data", data, -1);
    CHECK_NEAR(at(t, 1, "density"), 2000, 0);
    CHECK_NEAR(at(t, 0, "vx"), -1, 0);
    CHECK_NEAR(at(t, 0, "wz"), 4, 0);
    CHECK_NEAR(at(t, 1, "vz"), 0.3, 0);
    CHECK_INT(t->line[1], 14);
    check_two(t, "x", "z", "diameter", 2);
    t = read_table(&f, "a.data", "c\n\n1 atoms\n\nAtoms\n\n1 1 4 5 6 # a point\n", -1);
    CHECK_NEAR(at(t, 0, "z"), 6, 0);
    cairn_table_destroy(t);
    t = read_table(&f, "a.data", "c\n\n1 atoms\n\nAtoms #full\n\n1 1 1 0.5 4 5 6 0 0 -1\n", -1);
    CHECK_NEAR(at(t, 0, "z"), 6, 0);
    cairn_table_destroy(t);
    folder_remove(f.path);
}

#define VTK_HEAD(type, more)                                                                       \
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"" type "\" byte_order=\"LittleEndian\"" more         \
    ">\n<" type "><Piece NumberOfPoints=\"2\" NumberOfCells=\"0\">\n<PointData>\n"
#define VTK_RADIUS(form) "<DataArray type=\"Float32\" Name=\"radius\" format=\"" form "\""
#define VTK_POINTS(form)                                                                           \
    "</PointData>\n<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"" form  \
    "\""
#define VTK_TAIL "</Points>\n</Piece>\n"

/* 17 arrays of 16 numbers are 272 columns. */
TEST(more_columns_than_a_table_has_are_refused_by_their_number)
{
    folder f = folder_create();
    char text[1 << 13] = VTK_HEAD("PolyData", "");
    const cairn_table_options options = { .frame = -1 };
    cairn_table *table;
    cairn_error error = { 0 };
    for (int k = 0; k < 17; k++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length,
                 "<DataArray type=\"Float64\" Name=\"a%d\" NumberOfComponents=\"16\" "
                 "format=\"ascii\">0 0</DataArray>\n",
                 k);
    }
    strcat(text,
           VTK_POINTS("ascii") ">1 2 3\n4 5 6.5</DataArray>" VTK_TAIL "</PolyData></VTKFile>\n");
    file_write(&f, "a.vtp", text);
    CHECK_INT(cairn_table_read(path_in(&f, "a.vtp").text, &options, &table, &error),
              CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "more columns than 256");
    folder_remove(f.path);
}

/* The texts in base64 are made by Python's struct, zlib and base64. */
TEST(files_of_vtk_are_read_in_every_encoding)
{
    folder f = folder_create();
    static const char *const files[] = {
        VTK_HEAD("PolyData", "") VTK_RADIUS("ascii") ">0.25 0.5</DataArray>" VTK_POINTS(
            "ascii") ">1 2 3\n4 5 6.5</DataArray>" VTK_TAIL "</PolyData></VTKFile>\n",
        VTK_HEAD("UnstructuredGrid", "")
            VTK_RADIUS("binary") ">CAAAAA==AACAPgAAAD8=</DataArray>" VTK_POINTS(
                "binary") ">\n MAAAAAAAAAAAAPA/AAAAAAAAAEAAAAAAAAAIQAAAAAAAABBAAAAAAAAAFEAAAAAAA"
                          "AAaQA==\n</DataArray>" VTK_TAIL "</UnstructuredGrid></VTKFile>\n",
        VTK_HEAD("UnstructuredGrid", " header_type=\"UInt32\" compressor=\"vtkZLibDataCompressor\"")
            VTK_RADIUS("binary") ">AQAAACAAAAAIAAAAEAAAAA==eJxjYGiwY2BgsAcABH0A/g==</"
                                 "DataArray>" VTK_POINTS(
                                     "binary") ">AgAAACAAAAAQAAAAFwAAABIAAAA=eJxjYACBD/"
                                               "YMEOAAoTigtIADACXXAgh4"
                                               "nGNgAAERBzDFIOUAAAOMAK8=</DataArray>" VTK_TAIL
                                               "</UnstructuredGrid></VTKFile>\n",
        VTK_HEAD("PolyData", "") VTK_RADIUS("appended") " offset=\"0\"/>" VTK_POINTS(
            "appended") " offset=\"20\"/>" VTK_TAIL
                        "</PolyData>\n<AppendedData encoding=\"base64\">\n "
                        "_CAAAAA==AACAPgAAAD8=MAAAAAAAAAAAAPA/"
                        "AAAAAAAAAEAAAAAAAAAIQAAAAAAAABBAAAAAAAAAFEAAAAAAAAAaQA==\n</"
                        "AppendedData></VTKFile>\n",
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        check_two(read_table(&f, "a.vtu", files[i], -1), "Points:0", "Points:2", "radius", 1);
    folder_remove(f.path);
}

/* 0.1 + i is not exact in few digits; every format keeps its bits. */
TEST(every_format_reads_what_it_writes)
{
    static char *const names[] = { "id", "type", "x", "y", "z", "radius", "mass", "vx", "qw" };
    static const char *const files[] = { "a.csv", "a.txt", "a.h5",   "a.vtp",
                                         "a.vtu", "a.dat", "a.dump", "a.data" };
    folder f = folder_create();
    double values[5 * 9];
    cairn_table t = { .column_count = 9, .row_count = 5, .values = values };
    memcpy(t.columns, names, sizeof names);
    for (int i = 0; i < 5 * 9; i++)
        values[i] = i % 9 < 2 ? i % 9 + 1 : 0.1 + i;
    for (int k = 0; k < 8; k++) {
        cairn_error error = { 0 };
        if (cairn_table_write(path_in(&f, files[k]).text, &t, &error) != CAIRN_OK)
            fail_msg("%s: %s", files[k], error.message);
        cairn_table *back = read_table(&f, files[k], NULL, -1);
        bool vtk = strstr(files[k], ".vt") != NULL, data = strstr(files[k], ".data") != NULL;
        CHECK_INT(back->row_count, 5);
        for (int i = 0; i < 5; i++) {
            CHECK_NEAR(at(back, i, vtk ? "Points:2" : "z"), values[9 * i + 4], 0);
            CHECK_NEAR(at(back, i, "vx"), values[9 * i + 7], 0);
            CHECK_NEAR(at(back, i, data ? "diameter" : "radius") / (data ? 2 : 1),
                       values[9 * i + 5], 0);
            if (!data)
                CHECK_NEAR(at(back, i, "qw"), values[9 * i + 8], 0);
        }
        cairn_table_destroy(back);
    }
    CHECK_INT(cairn_table_write(path_in(&f, "a.xls").text, &t, NULL), CAIRN_UNSUPPORTED);
    t.column_count = 2;
    CHECK_INT(cairn_table_write(path_in(&f, "b.vtp").text, &t, NULL), CAIRN_UNSUPPORTED);
    CHECK(!file_exists(&f, "b.vtp") && !file_exists(&f, "b.vtp.part"));
    folder_remove(f.path);
}

#define SNAPSHOT "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: ATOMS id x\n1 23\n"

TEST(wrong_tables_are_refused_with_their_line)
{
    static const struct {
        const char *name, *text, *message;
        int line;
    } wrong[] = {
        { "a.csv", "x,y\n1,2\n3\n", "found 1 columns, expected 2", 3 },
        { "a.csv", "x,y\n1,2,3\n", "found 3 columns, expected 2", 2 },
        { "a.csv", "x,y\n", "the table has no rows", 0 },
        { "a.csv", "", "the table has no rows", 0 },
        { "a.xls", "1 2 3\n", "unknown kind of table", 0 },
        { "a.dump", "1 2 3\n", "found no ITEM: ATOMS", 1 },
        { "a.dump", "ITEM: NUMBER OF ATOMS\n3\nITEM: ATOMS id x\n1 2\n",
          "found 1 atoms, expected 3", 4 },
        { "a.data", "c\n\n2 atoms\n\nAtoms # sphere\n\n1 1 1 1 1 1 1\n", "ends before all atoms",
          7 },
        { "a.data", "c\n\nAtoms # sphere\n\n1 1 1 1 1 1 1\n", "before the number of atoms", 3 },
        { "a.data", "c\n\n1 atoms\n\nAtoms # odd\n\n1 1 1\n", "unknown atom style", 5 },
        { "a.data", "c\n\n1 atoms\n\nAtoms # peri\n\n1 1 1 1 1 1 1\n", "unknown atom style", 5 },
        { "a.data", "c\n\n1 atoms\n\nAtoms # hybrid sphere\n\n1 1 1 1 1 1 1\n",
          "unknown atom style", 5 },
        { "a.data", "c\n\n1 atoms\n\nAtoms\n\n1 1 1 1 1 1 1\n", "unknown atom style", 5 },
        { "a.data", "c\n\n1 atoms\n\nAtoms # sphere\n\n1 1 1 1 1 1 1 1\n",
          "another number of columns", 7 },
        { "a.dump", SNAPSHOT "ITEM: TIMESTEP\n5\n", "the file is cut short", 8 },
        { "a.dump", SNAPSHOT "ITEM: TIMESTEP\n5\nITEM: NUMBER OF ATOMS\n2\nITEM: AT",
          "before it are 1", 11 },
        { "a.dump",
          SNAPSHOT SNAPSHOT "ITEM: TIMESTEP\n5\nITEM: NUMBER OF ATOMS\n1\n"
                            "ITEM: ATOMS id x\n1 2",
          "before it are 2", 18 },
        { "a.csv", "x,y,z,x\n1,2,3,4\n", "columns 1 and 4 are both called 'x'", 0 },
        { "a.txt", "# x y z r r\n1 2 3 4 5\n", "columns 4 and 5 are both called 'r'", 0 },
        { "a.vtp",
          VTK_HEAD("PolyData", "") VTK_RADIUS("ascii") ">1 2</DataArray>" VTK_RADIUS(
              "ascii") ">3 4</DataArray>" VTK_POINTS("ascii") ">1 2 3 4 5 6</DataArray>" VTK_TAIL
                                                              "</PolyData></VTKFile>\n",
          "both called 'radius'", 0 },
        { "a.vtp", "hello", "found no element VTKFile", 0 },
        { "a.vtp", VTK_HEAD("PolyData", " compressor=\"vtkLZ4DataCompressor\""),
          "compressed in an unknown way", 0 },
        { "a.vtp",
          VTK_HEAD("PolyData", "") VTK_RADIUS("ascii") ">0.25</DataArray>" VTK_POINTS(
              "ascii") ">1 2 3 4 5 6</DataArray>" VTK_TAIL,
          "too few of them", 0 },
        { "a.vtp",
          VTK_HEAD("PolyData", "") VTK_POINTS("appended") " offset=\"99999\"/>" VTK_TAIL
                                                          "<AppendedData encoding=\"raw\">_",
          "beyond the end", 0 },
        { "a.h5", "no HDF5", "", 0 },
    };
    folder f = folder_create();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const cairn_table_options options = { .frame = -1 };
        cairn_table *table;
        cairn_error error = { 0 };
        file_write(&f, wrong[i].name, wrong[i].text);
        CHECK(cairn_table_read(path_in(&f, wrong[i].name).text, &options, &table, &error) !=
              CAIRN_OK);
        CHECK(table == NULL);
        CHECK_CONTAINS(error.message, wrong[i].message);
        CHECK_INT(error.line, wrong[i].line);
    }
    folder_remove(f.path);
}

/* Files of each format that are cut short or changed anywhere are read or refused; under the
 * sanitizers this also shows that nothing is read beyond its end. */
TEST(damaged_tables_do_no_harm)
{
    static char *const names[] = { "x", "y", "z", "radius", "mass" };
    static const char *const files[] = { "a.csv", "a.txt", "a.vtp", "a.vtu", "a.dump", "a.data" };
    folder f = folder_create();
    double values[3 * 5];
    uint64_t random = 3;
    cairn_table t = { .column_count = 5, .row_count = 3, .values = values };
    memcpy(t.columns, names, sizeof names);
    for (int i = 0; i < 15; i++)
        values[i] = 1 + i;
    for (int k = 0; k < 6; k++) {
        CHECK_OK(cairn_table_write(path_in(&f, files[k]).text, &t, NULL));
        FILE *file = fopen(path_in(&f, files[k]).text, "rb");
        static char bytes[20000], changed[20000];
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        for (int n = 0; n < 300; n++) {
            const cairn_table_options options = { .frame = -1 };
            cairn_table *back;
            memcpy(changed, bytes, size);
            size_t length = n % 3 ? size : (size_t)(cairn_random_uniform(&random) * (double)size);
            for (int i = 0; i < n % 5; i++)
                changed[(size_t)(cairn_random_uniform(&random) * (double)size)] =
                    (char)(cairn_random_uniform(&random) * 256);
            file = fopen(path_in(&f, files[k]).text, "wb");
            fwrite(changed, 1, length, file);
            fclose(file);
            cairn_table_read(path_in(&f, files[k]).text, &options, &back, NULL);
            cairn_table_destroy(back);
        }
    }
    folder_remove(f.path);
}

GROUP(test_table_read)
{
    RUN(CASE(texts_are_read_with_and_without_names), CASE(files_of_lammps_are_read),
        CASE(files_of_vtk_are_read_in_every_encoding),
        CASE(more_columns_than_a_table_has_are_refused_by_their_number),
        CASE(every_format_reads_what_it_writes), CASE(wrong_tables_are_refused_with_their_line),
        CASE(damaged_tables_do_no_harm));
}
