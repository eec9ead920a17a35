/* statistic_write.c - a statistic as CSV, and as a script that gnuplot draws. */
#include "io/statistic_write.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "io/file.h"
#include "io/json.h"

enum { FRAMES_DRAWN = 5 };

static const double *row_at(const cairn_statistic_table *t, size_t row)
{
    return t->values + row * (size_t)t->column_count;
}

/* ---- CSV ------------------------------------------------------------------------------------ */

/* The numbers of a row; `unknown` stands for those that have no meaning. */
static void write_row(FILE *out, const cairn_statistic_table *t, size_t row, const char *between,
                      const char *unknown)
{
    char text[32];
    for (int i = 0; i < t->column_count; i++) {
        double value = row_at(t, row)[i];
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
        write_row(out, table, k, ",", "");
}

/* Start folder/NAME.ending. */
static cairn_status start_file(const cairn_statistic_table *t, const char *folder,
                               const char *ending, cairn_file *out, cairn_error *error)
{
    char name[64], path[CAIRN_PATH_BYTES];
    snprintf(name, sizeof name, "%s.%s", t->name, ending);
    TRY(cairn_folder_create(folder, error));
    TRY(cairn_path_join(folder, name, path, error));
    return cairn_file_create(path, out, error);
}

cairn_status cairn_statistic_table_write(const cairn_statistic_table *table, const char *folder,
                                         cairn_error *error)
{
    cairn_file file;
    TRY(start_file(table, folder, "csv", &file, error));
    cairn_statistic_write_head(file.stream, table);
    cairn_statistic_write_rows(file.stream, table);
    return cairn_file_commit(&file, error);
}

/* ---- gnuplot -------------------------------------------------------------------------------- */

/* In single quotes gnuplot takes everything as it is, but a quote, which is doubled. */
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

static void write_label(FILE *out, const char *axis, const char *name, const char *unit)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s%s%s", name, unit[0] ? " (" : "", unit, unit[0] ? ")" : "");
    fprintf(out, "set %slabel ", axis);
    write_quoted(out, text);
    fputc('\n', out);
}

static int first_drawn(const cairn_statistic_table *t)
{
    for (int i = 0; i < t->column_count; i++)
        if (t->columns[i].drawn)
            return i;
    return -1;
}

/* The frames of a statistic with several rows each: where each begins, FRAMES_DRAWN at most, evenly
 * over the run and the last for sure. */
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
        /* number i is drawn as the (i + 1)/drawn share of all, rounded down */
        if ((seen + 1) * drawn / frames > seen * drawn / frames)
            first[count++] = k;
        seen++;
    }
    return count;
}

static void write_head(FILE *out, const cairn_statistic_table *t, const char *title)
{
    int drawn = first_drawn(t), along = t->series ? 0 : 1;
    fprintf(out,
            "# %s.gp - run as: gnuplot %s.gp\n"
            "set terminal svg size 900,560 noenhanced background rgb 'white'\n"
            "set output '%s.svg.part'\n"
            "set linetype 5 linecolor rgb '#a0522d'\n" /* yellow is hard to see */
            "set grid\n"
            "set key outside right\n"
            "set title ",
            t->name, t->name, t->name);
    write_quoted(out, title);
    fputc('\n', out);
    write_label(out, "x", t->columns[along].name, t->columns[along].unit);
    write_label(out, "y", t->series ? t->name : t->columns[drawn].name, t->columns[drawn].unit);
}

static void write_block(FILE *out, const cairn_statistic_table *t, size_t first, const char *name)
{
    fprintf(out, "$%s << END\n", name);
    for (size_t k = first; k < t->rows; k++) {
        if (!t->series && row_at(t, k)[0] != row_at(t, first)[0])
            break;
        write_row(out, t, k, " ", "NaN");
    }
    fputs("END\n", out);
}

static void write_series(FILE *out, const cairn_statistic_table *t)
{
    const char *before = "plot ";
    write_block(out, t, 0, "data");
    for (int i = 0; i < t->column_count; i++)
        if (t->columns[i].drawn) {
            fprintf(out, "%s$data using 1:%d with linespoints pointsize 0.4 title '%s'", before,
                    i + 1, t->columns[i].name);
            before = ", \\\n     ";
        }
    fputc('\n', out);
}

static void write_frames(FILE *out, const cairn_statistic_table *t)
{
    size_t first[FRAMES_DRAWN];
    char name[32], time[32];
    int count = choose_frames(t, first), drawn = first_drawn(t);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "frame%d", i);
        write_block(out, t, first[i], name);
    }
    for (int i = 0; i < count; i++) {
        snprintf(time, sizeof time, "%.4g", row_at(t, first[i])[0]);
        fprintf(out, "%s$frame%d using 2:%d with linespoints pointsize 0.4 title 't = %s s'",
                i ? ", \\\n     " : "plot ", i, drawn + 1, time);
    }
    fputc('\n', out);
}

/* Whether there is a number to draw. */
static bool is_drawable(const cairn_statistic_table *t)
{
    for (size_t k = 0; k < t->rows; k++)
        for (int i = 0; i < t->column_count; i++)
            if (t->columns[i].drawn && isfinite(row_at(t, k)[i]))
                return true;
    return false;
}

cairn_status cairn_statistic_plot_write(const cairn_statistic_table *table, const char *title,
                                        const char *folder, cairn_error *error)
{
    cairn_file file;
    if (!is_drawable(table))
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "%s: there is nothing to draw",
                          table->name);
    TRY(start_file(table, folder, "gp", &file, error));
    write_head(file.stream, table, title);
    if (table->series)
        write_series(file.stream, table);
    else
        write_frames(file.stream, table);
    return cairn_file_commit(&file, error);
}
