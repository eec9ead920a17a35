/* table.c - writes statistics as CSV and as gnuplot scripts, and the common look of all
 * diagrams. */
#include "file/formats.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/output.h"
#include "file/file.h"

/* ---- CSV --------------------------------------------------------------------------------- */

void cairn_statistic_write_row(FILE *out, const cairn_statistic_table *t, size_t row,
                               const char *between, const char *unknown)
{
    char text[32];
    for (int i = 0; i < t->column_count; i++) {
        double value = t->values[row * (size_t)t->column_count + (size_t)i];
        if (isfinite(value))
            cairn_number_text(value, text);
        else
            snprintf(text, sizeof text, "%s", unknown);
        fprintf(out, "%s%s", i ? between : "", text);
    }
    fputc('\n', out);
}

void cairn_statistic_write_head(FILE *out, const cairn_statistic_table *table)
{
    for (int i = 0; i < table->column_count; i++)
        fprintf(out, "%s%s", i ? "," : "", table->columns[i].name);
    fputc('\n', out);
}

void cairn_statistic_write_rows(FILE *out, const cairn_statistic_table *table)
{
    for (size_t k = 0; k < table->rows; k++)
        cairn_statistic_write_row(out, table, k, ",", "");
}

cairn_status cairn_statistic_file(const cairn_statistic_table *t, const char *folder,
                                  const char *ending, cairn_file *out, cairn_error *error)
{
    char name[64], path[CAIRN_PATH_BYTES];
    snprintf(name, sizeof name, "%s.%s", t->name, ending);
    TRY(cairn_folder_create(folder, error));
    TRY(cairn_path_join(folder, name, path, error));
    return cairn_file_create(path, out, error);
}

/* ---- grids ------------------------------------------------------------------------------- */

bool cairn_statistic_is_grid(const cairn_statistic_table *t)
{
    return t->name && strcmp(t->name, "fields") == 0;
}

static double value_at(const cairn_statistic_table *t, size_t row, int column)
{
    return t->values[row * (size_t)t->column_count + (size_t)column];
}

/* Rows, `stride` apart, until a coordinate has its first value again. */
static size_t count_cells(const cairn_statistic_table *t, size_t first, size_t end, size_t stride,
                          int column)
{
    size_t k = 1;
    while (first + k * stride < end &&
           value_at(t, first + k * stride, column) != value_at(t, first, column))
        k++;
    return k;
}

/* The coordinates are columns 1, 2 and in 3D 3, those of the centres of cells; x is fastest. */
static cairn_vtk_grid grid_of(const cairn_statistic_table *t, size_t first, size_t end)
{
    cairn_vtk_grid g = { .time = value_at(t, first, 0), .cells = { 1, 1, 1 } };
    size_t stride = 1;
    double edge[3] = { 0, 0, 0 }, usual = 0; /* of a single cell the edge is not known */
    for (int k = 0; k < t->dimension; k++) {
        size_t cells = count_cells(t, first, end, stride, 1 + k);
        if (cells > 1)
            edge[k] = value_at(t, first + stride, 1 + k) - value_at(t, first, 1 + k);
        usual = usual > 0 ? usual : edge[k];
        g.cells[k] = (int)cells;
        stride *= cells;
    }
    for (int k = 0; k < 3; k++) {
        g.edge[k] = edge[k] > 0 ? edge[k] : usual > 0 ? usual : 1;
        g.origin[k] = (k < t->dimension ? value_at(t, first, 1 + k) : 0) - 0.5 * g.edge[k];
    }
    return g;
}

enum { MOST_ARRAYS = 31 };

/* The columns of a grid as arrays; the numbers are in `room`. */
typedef struct grid_arrays {
    char names[MOST_ARRAYS][32];
    cairn_vtk_array items[MOST_ARRAYS];
    int count;
    double *room;
} grid_arrays;

/* Copy the columns into arrays; a vector has three numbers in 2D as well. */
static void fill_arrays(const cairn_statistic_table *t, size_t first, size_t rows, grid_arrays *out)
{
    double *room = out->room;
    for (int c = 1 + t->dimension; c < t->column_count && out->count < MOST_ARRAYS; out->count++) {
        char *own = out->names[out->count];
        const char *name = t->columns[c].name;
        size_t length = strlen(name);
        bool vector = length > 2 && strcmp(name + length - 2, "_x") == 0;
        int width = vector ? 3 : 1, given = vector ? t->dimension : 1;
        snprintf(own, sizeof out->names[0], "%.*s", (int)(vector ? length - 2 : length), name);
        for (size_t row = 0; row < rows; row++)
            for (int i = 0; i < given; i++)
                room[row * (size_t)width + (size_t)i] = value_at(t, first + row, c + i);
        out->items[out->count] = (cairn_vtk_array){ own, CAIRN_VTK_REAL, width, room };
        room += rows * (size_t)width;
        c += given;
    }
}

cairn_status cairn_statistic_grid_write(const cairn_statistic_table *t, size_t first, size_t end,
                                        const char *path, cairn_error *error)
{
    grid_arrays arrays = { .count = 0 };
    cairn_vtk_grid g = grid_of(t, first, end);
    size_t rows = end - first;
    arrays.room = cairn_memory_zeroed(rows * (size_t)(t->column_count + 8), sizeof *arrays.room);
    if (!arrays.room)
        return CAIRN_NO_MEMORY;
    fill_arrays(t, first, rows, &arrays);
    g.arrays = arrays.items;
    g.array_count = arrays.count;
    cairn_status status = cairn_vtk_grid_write(path, &g, error);
    cairn_memory_free(arrays.room);
    return status;
}

/* All frames of a table as folder/fields_<frame>.vti, and folder/fields.pvd that lists them. */
static cairn_status write_grids(const cairn_statistic_table *t, const char *folder,
                                cairn_vtk_moment *moments, cairn_error *error)
{
    char name[64], path[CAIRN_PATH_BYTES];
    size_t frames = 0;
    for (size_t first = 0, end = 0; first < t->rows; first = end, frames++) {
        while (end < t->rows && value_at(t, end, 0) == value_at(t, first, 0))
            end++;
        moments[frames] = (cairn_vtk_moment){ value_at(t, first, 0), (int64_t)frames };
        cairn_vtk_file_name(t->name, (int64_t)frames, name);
        TRY(cairn_path_join(folder, name, path, error));
        TRY(cairn_statistic_grid_write(t, first, end, path, error));
    }
    return cairn_vtk_series_write(folder, t->name, moments, frames, error);
}

cairn_status cairn_statistic_table_write(const cairn_statistic_table *table, const char *folder,
                                         cairn_error *error)
{
    cairn_file file;
    TRY(cairn_statistic_file(table, folder, "csv", &file, error));
    cairn_statistic_write_head(file.stream, table);
    cairn_statistic_write_rows(file.stream, table);
    TRY(cairn_file_commit(&file, error));
    if (!cairn_statistic_is_grid(table))
        return CAIRN_OK;
    cairn_vtk_moment *moments = cairn_memory_zeroed(table->rows + 1, sizeof *moments);
    if (!moments)
        return CAIRN_NO_MEMORY;
    cairn_status status = write_grids(table, folder, moments, error);
    cairn_memory_free(moments);
    return status;
}

/* ---- a statistic as a script of gnuplot -------------------------------------------------- */

/* A statistic as a script that gnuplot draws.
 *
 * A series has a panel for each unit, with the curves of that unit over time. Other statistics
 * have a panel for each column, with a curve for each frame. Panels are stacked. Columns that
 * are 0 throughout are left out, unless all are. */

/* At most 5 frames, so that curves can be told apart; up to 30 points are drawn as dots as well. */
enum { FRAMES_DRAWN = 5, FEW_POINTS = 30 };

/* Columns that share a y axis. */
typedef struct panel {
    int column[CAIRN_STATISTIC_COLUMNS];
    int count;
} panel;

typedef struct panels {
    panel items[CAIRN_STATISTIC_COLUMNS];
    int count;
} panels;

/* Column 0 of every table is the time of the frame. */
static const double *row_at(const cairn_statistic_table *t, size_t row)
{
    return t->values + row * (size_t)t->column_count;
}

/* ---- what is drawn -------------------------------------------------------------------------- */

/* Whether a column that may be drawn has any defined number, with `nonzero` one other than 0. */
static bool has_numbers(const cairn_statistic_table *t, int column, bool nonzero)
{
    bool found = false;
    for (size_t k = 0; k < t->rows && t->columns[column].drawn && !found; k++) {
        double value = row_at(t, k)[column];
        found = isfinite(value) && (value != 0 || !nonzero);
    }
    return found;
}

/* The panel of a column: in a series that of its unit, else one of its own. */
static panel *panel_for(const cairn_statistic_table *t, int column, panels *all)
{
    for (int i = 0; t->series && i < all->count; i++) {
        const char *unit = t->columns[all->items[i].column[0]].unit;
        if (strcmp(unit, t->columns[column].unit) == 0)
            return &all->items[i];
    }
    all->items[all->count] = (panel){ .count = 0 };
    return &all->items[all->count++];
}

/* Columns with numbers other than 0; if there are none, those that are 0 throughout. */
static panels choose_panels(const cairn_statistic_table *t)
{
    panels all = { .count = 0 };
    for (int nonzero = 1; nonzero >= 0 && all.count == 0; nonzero--)
        for (int i = 1; i < t->column_count; i++)
            if (has_numbers(t, i, nonzero)) {
                panel *p = panel_for(t, i, &all);
                p->column[p->count++] = i;
            }
    return all;
}

/* Choose frames of a statistic that has several rows per frame: *first is where each begins. At
 * most FRAMES_DRAWN, spread evenly over the run and with the last one included. */
static int choose_frames(const cairn_statistic_table *t, size_t first[FRAMES_DRAWN])
{
    size_t frames = 0, seen = 0;
    int count = 0;
    for (size_t k = 0; k < t->rows; k++)
        frames += k == 0 || row_at(t, k)[0] != row_at(t, k - 1)[0];
    size_t drawn = frames < FRAMES_DRAWN ? frames : FRAMES_DRAWN;
    for (size_t k = 0; k < t->rows; k++) {
        if (k > 0 && row_at(t, k)[0] == row_at(t, k - 1)[0])
            continue;
        /* frame i is drawn if floor(i drawn/frames) grows from i to i + 1 */
        if ((seen + 1) * drawn / frames > seen * drawn / frames)
            first[count++] = k;
        seen++;
    }
    return count;
}

/* ---- texts ---------------------------------------------------------------------------------- */

/* Write a text in single quotes, in which gnuplot interprets nothing but a quote, which is
 * doubled. */
static void write_quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            fputc('\'', out);
        fputc((unsigned char)*c < ' ' ? ' ' : *c, out);
    }
    fputc('\'', out);
}

/* Bytes of a text that fit into a line of the title: all, or those before the last space that
 * fits. A line ends at a line break. Bytes that continue a letter of UTF-8 take no room. */
static size_t line_length(const char *text)
{
    enum { LETTERS = 84 };
    size_t space = 0, at = 0;
    for (int letters = 0; text[at] && text[at] != '\n'; at++) {
        letters += (text[at] & 0xc0) != 0x80;
        if (letters > LETTERS)
            return space > 0 ? space : at;
        space = text[at] == ' ' ? at : space;
    }
    return at;
}

/* The next line of a title, NULL: there is none. */
static const char *next_line(const char *line)
{
    const char *end = line + line_length(line);
    return *end == ' ' || *end == '\n' ? end + 1 : *end ? end : NULL;
}

static int count_lines(const char *title)
{
    int lines = 0;
    for (const char *line = title; line; line = next_line(line))
        lines++;
    return lines;
}

/* The title, broken into lines that the picture is wide enough for. */
void cairn_plot_title(FILE *out, const char *title)
{
    for (const char *line = title; line; line = next_line(line)) {
        char text[512];
        snprintf(text, sizeof text, "%.*s", (int)line_length(line), line);
        fputs(line == title ? "" : " . \"\\n\" . ", out);
        write_quoted(out, text);
    }
    fputc('\n', out);
}

/* Names as people write them: spaces for underscores, m² for m^2. */
static void write_words(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        bool power = c[0] == '^' && (c[1] == '2' || c[1] == '3');
        if (power)
            fputs(*++c == '2' ? "²" : "³", out);
        else
            fputc(*c == '_' ? ' ' : *c, out);
    }
}

/* The label of the y axis: the name of the statistic if a series has one panel only, else the
 * names of the columns in the panel. */
static void write_y_label(FILE *out, const cairn_statistic_table *t, const panels *all, int index)
{
    const panel *p = &all->items[index];
    char names[128] = "";
    size_t length = 0;
    for (int i = 0; i < p->count && length < sizeof names; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "",
                                   t->columns[p->column[i]].name);
    bool whole = t->series && all->count == 1;
    cairn_plot_label(out, 'y', whole ? t->name : names, t->columns[p->column[0]].unit);
}

/* ---- the script ----------------------------------------------------------------------------- */

/* Space for a line of the title, above and below all panels, and between two of them, in pixels.
 * Panels of frames share one legend and one x axis, at the bottom. */
enum { LINE = 18, ABOVE = 22, BELOW = 90, BETWEEN = 35, PANEL = 180 };

/* gnuplot measures margins as fractions of the picture. The left one has room for numbers like
 * 1.6e-11 and a label, which gnuplot leaves out if it does not fit. */
static void write_layout(FILE *out, const cairn_statistic_table *t, int count, double above)
{
    double height = above + BELOW - BETWEEN + count * (PANEL + BETWEEN);
    fprintf(out, "set multiplot layout %d,1", count);
    if (!t->series)
        fprintf(out, " margins 0.13,0.97,%.4f,%.4f spacing 0,%.4f", BELOW / height,
                1 - above / height, BETWEEN / height);
    fputs(" title ", out);
}

/* A single panel has 480 pixels; several have 180 each, with space between them. */
static void write_head(FILE *out, const cairn_statistic_table *t, const char *title, int count)
{
    char picture[64];
    int above = ABOVE + LINE * count_lines(title);
    int height = count == 1 ? 480 : above + BELOW - BETWEEN + count * (PANEL + BETWEEN);
    snprintf(picture, sizeof picture, "%s.svg", t->name);
    fprintf(out, "# %s.gp - run as: gnuplot %s.gp\n", t->name, t->name);
    cairn_plot_begin(out, &(cairn_plot_page){ picture, 760, height, true });
    if (count > 1)
        write_layout(out, t, count, above);
    else
        fputs("set title ", out);
    cairn_plot_title(out, title);
}

/* Write the data of a series, or of one frame, into the script itself, so that it can be moved
 * without other files. Returns the number of rows. */
static int write_block(FILE *out, const cairn_statistic_table *t, size_t first, const char *name)
{
    int rows = 0;
    fprintf(out, "$%s << END\n", name);
    for (size_t k = first; k < t->rows; k++) {
        if (!t->series && row_at(t, k)[0] != row_at(t, first)[0])
            break;
        cairn_statistic_write_row(out, t, k, " ", "NaN");
        rows++;
    }
    fputs("END\n", out);
    return rows;
}

/* Write "plot" or a comma, and how curve number `curve` is drawn; its title has to follow.
 * gnuplot counts columns from 1. */
static void write_curve(FILE *out, int curve, const char *data, int along, int column)
{
    fprintf(out, "%s$%s using %d:%d with @LOOK lc rgb '%s' title ", curve ? ", \\\n     " : "plot ",
            data, along + 1, column + 1, cairn_plot_colour(curve));
}

/* Few points are drawn as dots joined by lines, many as lines only. */
static void write_look(FILE *out, int points)
{
    fprintf(out, "LOOK = '%s'\n",
            points > FEW_POINTS ? "lines lw 2" : "linespoints lw 2 pt 7 ps 0.4");
}

/* The x axis of a series: the time, column 0, or the largest compression at the end. */
static int along(const cairn_statistic_table *t)
{
    int best = 0;
    double most = 0;
    for (int i = 0; t->rows > 0 && i < t->column_count; i++) {
        double last = row_at(t, t->rows - 1)[i];
        if (strncmp(t->columns[i].name, "strain_", 7) == 0 && last > most) {
            most = last;
            best = i;
        }
    }
    return best;
}

/* The first row of the test itself: a strain ln(L0/L) is counted anew, with another L0, when the
 * consolidation before it ends. `strain` 0 is the time, with all rows. */
static size_t first_of_test(const cairn_statistic_table *t, int strain)
{
    int length = -1;
    for (int i = 0; i < t->column_count && strain > 0; i++)
        if (strncmp(t->columns[i].name, "length_", 7) == 0 &&
            strcmp(t->columns[i].name + 7, t->columns[strain].name + 7) == 0)
            length = i;
    if (length < 0)
        return 0;
    size_t first = t->rows - 1;
    const double *last = row_at(t, first);
    for (double l0 = last[strain] + log(last[length]); first > 0; first--) {
        const double *row = row_at(t, first - 1);
        if (!(fabs(row[strain] + log(row[length]) - l0) < 1e-9))
            break;
    }
    return first;
}

/* The smallest and largest number of a column in `rows` rows. */
static void widen(const cairn_statistic_table *t, size_t first, int rows, int column,
                  double range[2])
{
    for (size_t k = first; k < first + (size_t)rows; k++) {
        double value = row_at(t, k)[column];
        range[0] = isfinite(value) ? fmin(range[0], value) : range[0];
        range[1] = isfinite(value) ? fmax(range[1], value) : range[1];
    }
}

static void write_series(FILE *out, const cairn_statistic_table *t, const panels *all)
{
    int x = along(t);
    size_t first = first_of_test(t, x);
    int rows = write_block(out, t, first, "data");
    double across[2] = { HUGE_VAL, -HUGE_VAL };
    write_look(out, rows);
    widen(t, first, rows, x, across);
    cairn_plot_range(out, 'x', across[0], across[1]);
    for (int k = 0; k < all->count; k++) {
        const panel *p = &all->items[k];
        double range[2] = { HUGE_VAL, -HUGE_VAL };
        for (int i = 0; i < p->count; i++)
            widen(t, first, rows, p->column[i], range);
        cairn_plot_range(out, 'y', range[0], range[1]);
        cairn_plot_label(out, 'x', t->columns[x].name, t->columns[x].unit);
        write_y_label(out, t, all, k);
        for (int i = 0; i < p->count; i++) {
            write_curve(out, i, "data", x, p->column[i]);
            fputc('\'', out);
            write_words(out, t->columns[p->column[i]].name);
            fputc('\'', out);
        }
        fputc('\n', out);
    }
}

/* Panels share the legend and the x axis of the last one, so both are switched on only there. */
static void write_frames(FILE *out, const cairn_statistic_table *t, const panels *all)
{
    size_t first[FRAMES_DRAWN];
    char name[32];
    int count = choose_frames(t, first), points[FRAMES_DRAWN] = { 0 };
    double across[2] = { HUGE_VAL, -HUGE_VAL };
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "frame%d", i);
        points[i] = write_block(out, t, first[i], name);
        widen(t, first[i], points[i], 1, across);
    }
    write_look(out, points[count - 1]);
    cairn_plot_range(out, 'x', across[0], across[1]);
    fputs(all->count > 1 ? "set key off\n" : "", out);
    for (int k = 0; k < all->count; k++) {
        double range[2] = { HUGE_VAL, -HUGE_VAL };
        for (int i = 0; i < count; i++)
            widen(t, first[i], points[i], all->items[k].column[0], range);
        cairn_plot_range(out, 'y', range[0], range[1]);
        if (k == all->count - 1) {
            if (all->count > 1)
                fputs("set key default\n"
                      "set key at screen 0.5,screen 0.01 center bottom vertical maxrows 1 samplen "
                      "2.5\n",
                      out);
            cairn_plot_label(out, 'x', t->columns[1].name, t->columns[1].unit);
        }
        write_y_label(out, t, all, k);
        for (int i = 0; i < count; i++) {
            snprintf(name, sizeof name, "frame%d", i);
            write_curve(out, i, name, 1, all->items[k].column[0]);
            fprintf(out, "'t = %.4g s'", row_at(t, first[i])[0]);
        }
        fputc('\n', out);
    }
}

/* The script has its data inside, so it can be drawn anywhere by gnuplot alone. */
cairn_status cairn_statistic_plot_write(const cairn_statistic_table *table, const char *title,
                                        const char *folder, cairn_error *error)
{
    cairn_file file;
    const panels all = choose_panels(table);
    if (all.count == 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "%s: there is nothing to draw",
                          table->name);
    TRY(cairn_statistic_file(table, folder, "gp", &file, error));
    write_head(file.stream, table, title, all.count);
    if (table->series)
        write_series(file.stream, table, &all);
    else
        write_frames(file.stream, table, &all);
    fputs(all.count > 1 ? "unset multiplot\n" : "", file.stream);
    return cairn_file_commit(&file, error);
}

/* ---- the look of all diagrams ------------------------------------------------------------ */

void cairn_csv_quote(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}

/* The common look of all diagrams that gnuplot draws. */

static const char *const colours[] = { "#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad",
                                       "#d98c00", "#16a0a0", "#7f5539", "#555555" };

enum { COLOURS = sizeof colours / sizeof colours[0] };

const char *cairn_plot_colour(int series)
{
    return colours[series % COLOURS];
}

void cairn_plot_begin(FILE *out, const cairn_plot_page *page)
{
    /* the name becomes part of all ids in the drawing, so that one document can hold several
     * drawings */
    fprintf(out, "set terminal svg size %d,%d %s background 'white' font 'sans-serif,13' name \"",
            page->width, page->height, page->plain ? "noenhanced" : "enhanced");
    for (const char *c = page->picture; *c && *c != '.'; c++)
        fputc(*c == '-' ? '_' : *c, out);
    fprintf(out, "\"\nset encoding utf8\nset output '%s.part'\n", page->picture);
    fputs("set grid lc rgb '#dddddd'\nset border lc rgb '#555555'\n"
          "set key below center horizontal height 1 samplen 2.5\n",
          out);
}

void cairn_plot_range(FILE *out, char axis, double low, double high)
{
    double beside = low != 0 ? 0.01 * fabs(low) : 1;
    if (low == high)
        fprintf(out, "set %crange [%.9g:%.9g]\n", axis, low - beside, low + beside);
    else
        fprintf(out, "set autoscale %c\n", axis);
}

void cairn_plot_label(FILE *out, char axis, const char *name, const char *unit)
{
    fprintf(out, "set %clabel '", axis);
    write_words(out, name);
    fputs(unit[0] ? " (" : "", out);
    write_words(out, unit);
    fputs(unit[0] ? ")'\n" : "'\n", out);
}
