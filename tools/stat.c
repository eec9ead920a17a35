/* stat.c - `cairn stat` and `cairn plot`: statistics and series of forces of a finished run as
 * tables and pictures. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

/* ---- flags ----------------------------------------------------------------------------------- */

static const char *take_set(cairn_arguments *arguments, const char *value)
{
    cairn_error error = { 0 };
    if (cairn_record_assign(cairn_measure_record(), &arguments->measure, value, &error) == CAIRN_OK)
        return NULL;
    snprintf(arguments->problem, sizeof arguments->problem, "%s", error.message);
    return arguments->problem;
}

/* Numbers separated by commas, a star for an unbounded side. Returns their number; -1:
 * malformed. */
static int read_sides(const char *text, double side[6])
{
    for (int count = 0; count < 6; count++) {
        const char *end = text + 1;
        side[count] = count % 2 ? 1e30 : -1e30;
        if (*text != '*')
            end = text + cairn_number_read(text, &side[count]);
        if (end == text || !isfinite(side[count]) || (*end && *end != ','))
            return -1;
        if (!*end)
            return count + 1;
        text = end + 1;
    }
    return -1;
}

static const char *take_region(cairn_arguments *arguments, const char *value)
{
    double side[6] = { -1e30, 1e30, -1e30, 1e30, -1e30, 1e30 };
    int count = read_sides(value, side);
    if (count != 4 && count != 6)
        return "expected x0,x1,y0,y1 and in 3D z0,z1 in m, with * for an open side";
    arguments->measure.low = (cairn_vec3){ side[0], side[2], count == 6 ? side[4] : -1e30 };
    arguments->measure.high = (cairn_vec3){ side[1], side[3], count == 6 ? side[5] : 1e30 };
    return NULL;
}

static const char *take_out(cairn_arguments *arguments, const char *value)
{
    arguments->out = value;
    return value[0] ? NULL : "expected the name of a folder";
}

static const cairn_flag flag_region = {
    "--region", 0, "X0,...", "measure inside the box x0,x1,y0,y1[,z0,z1] in m; *: unbounded",
    take_region
};
static const cairn_flag flag_set = { "--set", 's', "KEY=VALUE",
                                     "measuring options, see 'cairn list statistics', as bins=20",
                                     take_set };
static const cairn_flag flag_tables = { "--out", 'o', "DIR", "write every frame as DIR/NAME.csv",
                                        take_out };
static const cairn_flag flag_pictures = { "--out", 'o', "DIR",
                                          "write the pictures to DIR (default: RUN/plots)",
                                          take_out };

static const cairn_flag *const stat_flags[] = { &flag_region, &flag_set, &flag_tables, NULL };
static const cairn_flag *const plot_flags[] = { &flag_region, &flag_set, &flag_pictures, NULL };

/* ---- names ---------------------------------------------------------------------------------- */

static const char *known_name(const char *word)
{
    for (int i = 0; cairn_statistic_name(i); i++)
        if (strcmp(cairn_statistic_name(i), word) == 0)
            return cairn_statistic_name(i);
    return NULL;
}

/* What is shown: statistics, and some of the series of the run. */
typedef struct choice {
    cairn_names statistics;
    cairn_series_names known; /* all series of the run */
    int series[CAIRN_MOST_PROBES], series_count;
} choice;

enum { MOST_TABLES = CAIRN_MOST_NAMES + CAIRN_MOST_PROBES };

static int unknown_name(const char *word, const cairn_series_names *series)
{
    const char *names[MOST_TABLES];
    int count = 0;
    for (; count < CAIRN_MOST_NAMES && cairn_statistic_name(count); count++)
        names[count] = cairn_statistic_name(count);
    for (int i = 0; i < series->count; i++)
        names[count++] = series->items[i];
    const char *nearest = cairn_nearest_name(word, names, count);
    fprintf(stderr, "cairn: unknown statistic or series '%s'", word);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, "\n'cairn list statistics' lists statistics; series are those of the scene.\n");
    return EXIT_USAGE;
}

static void add_statistic(choice *out, const char *name)
{
    for (int k = 0; k < out->statistics.count; k++)
        if (out->statistics.items[k] == name)
            return;
    out->statistics.items[out->statistics.count++] = name;
}

/* Whether the run has a series of that name; it is added once. */
static bool add_series(choice *out, const char *name)
{
    int found = -1;
    for (int i = 0; i < out->known.count; i++)
        if (strcmp(out->known.items[i], name) == 0)
            found = i;
    for (int k = 0; k < out->series_count; k++)
        if (out->series[k] == found)
            return true;
    if (found >= 0)
        out->series[out->series_count++] = found;
    return found >= 0;
}

/* What is named after the run, each once; without names, everything. */
static int read_names(const cairn_arguments *arguments, choice *out)
{
    for (int i = 1; i < arguments->operand_count; i++) {
        const char *word = arguments->operands[i], *name = known_name(word);
        if (name)
            add_statistic(out, name);
        else if (!add_series(out, word))
            return unknown_name(word, &out->known);
    }
    /* fields are large, and are measured only by name */
    for (int i = 0; arguments->operand_count <= 1 && cairn_statistic_name(i); i++)
        if (strcmp(cairn_statistic_name(i), "fields") != 0)
            add_statistic(out, cairn_statistic_name(i));
    for (int i = 0; arguments->operand_count <= 1 && i < out->known.count; i++)
        add_series(out, out->known.items[i]);
    return EXIT_DONE;
}

/* ---- tables --------------------------------------------------------------------------------- */

static const double *row_at(const cairn_statistic_table *t, size_t row)
{
    return t->values + row * (size_t)t->column_count;
}

static void print_head(const cairn_statistic_table *t)
{
    for (int line = 0; line < 2; line++) {
        for (int i = 0; i < t->column_count; i++) {
            char text[32];
            const char *unit = t->columns[i].unit;
            snprintf(text, sizeof text, "%s%s%s", unit[0] ? "(" : "", unit, unit[0] ? ")" : "");
            printf(" %16s", line == 0 ? t->columns[i].name : text);
        }
        puts("");
    }
}

static void print_rows(const cairn_statistic_table *t, size_t first)
{
    print_head(t);
    for (size_t k = first; k < t->rows; k++) {
        for (int i = 0; i < t->column_count; i++)
            if (isfinite(row_at(t, k)[i]))
                printf(" %16.7g", row_at(t, k)[i]);
            else
                printf(" %16s", "-");
        puts("");
    }
}

/* Where the rows of the last frame begin. */
static size_t last_frame(const cairn_statistic_table *t)
{
    size_t first = t->rows > 0 ? t->rows - 1 : 0;
    while (first > 0 && row_at(t, first - 1)[0] == row_at(t, first)[0])
        first--;
    return first;
}

static const char *summary_of(const cairn_statistic_table *t)
{
    const char *summary = cairn_statistic_summary(t->name);
    return summary ? summary : "force, torque and work";
}

static const char *needs_of(const cairn_statistic_table *t)
{
    const char *needs = cairn_statistic_needs(t->name);
    return needs ? needs : "a step";
}

/* By name: series in full, others at the last frame. In a list of all: series at the last frame. */
static void print_table(const cairn_statistic_table *t, bool named)
{
    bool whole = named && t->series;
    printf("%s: %s%s\n", t->name, summary_of(t),
           whole ? "" : ", the last frame");
    if (t->rows == 0)
        printf("  nothing: no frame has %s\n", needs_of(t));
    else if (named || t->series)
        print_rows(t, whole ? 0 : last_frame(t));
    else
        printf("  %zu rows; give its name to print them\n", t->rows - last_frame(t));
    puts("");
}

static int write_tables(const cairn_statistic_table *tables, int count, const char *folder)
{
    for (int i = 0; i < count; i++) {
        cairn_error error = { 0 };
        cairn_status status = cairn_statistic_table_write(&tables[i], folder, &error);
        if (status != CAIRN_OK)
            return cairn_error_print(status, &error);
        printf("  %s/%s.csv: %zu rows\n", folder, tables[i].name, tables[i].rows);
    }
    return EXIT_DONE;
}

static void destroy_tables(cairn_statistic_table *tables, int count)
{
    for (int i = 0; i < count; i++)
        cairn_statistic_table_destroy(&tables[i]);
}

static int complain(const cairn_arguments *arguments, cairn_status status, cairn_error *error)
{
    if (!error->file[0])
        snprintf(error->file, sizeof error->file, "%s", arguments->operand);
    cairn_error_print(status, error);
    return EXIT_FAILED;
}

/* Measure statistics and read series; on failure there are no tables. */
static cairn_status fill_tables(const cairn_arguments *arguments, const choice *asked,
                                cairn_statistic_table *tables, int *count, cairn_error *error)
{
    cairn_status status = CAIRN_OK;
    *count = asked->statistics.count;
    if (*count > 0)
        status = cairn_run_measure(arguments->operand, &asked->statistics, &arguments->measure,
                                   tables, error);
    if (status != CAIRN_OK)
        return status;
    for (int i = 0; i < asked->series_count && status == CAIRN_OK; i++) {
        const char *name = asked->known.items[asked->series[i]];
        status = cairn_run_series(arguments->operand, name, &tables[*count], error);
        *count += status == CAIRN_OK;
    }
    if (status != CAIRN_OK)
        destroy_tables(tables, *count);
    return status;
}

/* Measure and read what the arguments name; EXIT_DONE, or an exit code after a message. */
static int measure(const cairn_arguments *arguments, choice *asked, cairn_statistic_table *tables,
                   int *count)
{
    cairn_error error = { 0 };
    *asked = (choice){ .series_count = 0 };
    cairn_status status = cairn_run_series_names(arguments->operand, &asked->known, &error);
    if (status != CAIRN_OK)
        return complain(arguments, status, &error);
    int code = read_names(arguments, asked);
    if (code != EXIT_DONE)
        return code;
    status = fill_tables(arguments, asked, tables, count, &error);
    return status == CAIRN_OK ? EXIT_DONE : complain(arguments, status, &error);
}

static int stat_run(const cairn_arguments *arguments)
{
    choice asked;
    cairn_statistic_table tables[MOST_TABLES];
    int count, code = measure(arguments, &asked, tables, &count);
    if (code != EXIT_DONE)
        return code;
    for (int i = 0; i < count; i++)
        print_table(&tables[i], arguments->operand_count > 1);
    if (arguments->out)
        code = write_tables(tables, count, arguments->out);
    destroy_tables(tables, count);
    return code;
}

const cairn_command cairn_command_stat = {
    .name = "stat",
    .operand = "RUN [NAME]...",
    .summary = "Measure a finished run: packing, contacts, stress, mixing and more",
    .details =
        "RUN is a run folder or its run.h5; 'cairn list statistics' lists the names, and the\n"
        "series of forces of the scene have theirs. Named series are printed in full, profiles\n"
        "for the last frame; --out writes every frame.\n"
        "Exit codes: 0 success, 1 the run cannot be read or measured, 2 usage error.",
    .flags = stat_flags,
    .run = stat_run,
};

/* ---- pictures ------------------------------------------------------------------------------- */

/* The folder of a run: the path itself, or where the file lies; "/plots" is added. */
static void default_folder(const char *run, char *out, size_t capacity)
{
    struct stat about;
    const char *slash = strrchr(run, '/');
    if (stat(run, &about) == 0 && S_ISDIR(about.st_mode))
        snprintf(out, capacity, "%s/plots", run);
    else
        snprintf(out, capacity, "%.*splots", slash ? (int)(slash - run + 1) : 0, run);
}

static int draw(const cairn_statistic_table *t, const char *run_title, const char *folder)
{
    char title[256], script[64], picture[64];
    cairn_error error = { 0 };
    snprintf(title, sizeof title, "%s\n%s", run_title, summary_of(t));
    snprintf(script, sizeof script, "%s.gp", t->name);
    snprintf(picture, sizeof picture, "%s.svg", t->name);
    cairn_status status = cairn_statistic_plot_write(t, title, folder, &error);
    if (status == CAIRN_UNSUPPORTED) {
        fprintf(stderr, "%s/%s: note: not drawn: no frame has %s\n", folder, picture,
                needs_of(t));
        return EXIT_DONE;
    }
    if (status != CAIRN_OK)
        return cairn_error_print(status, &error);
    cairn_plot_outcome outcome = cairn_plot_draw(folder, script, picture);
    if (outcome == PLOT_DRAWN)
        printf("  %s/%s: %s\n", folder, picture, summary_of(t));
    else
        fprintf(stderr, "%s/%s: note: not drawn: gnuplot %s; %s is its script\n", folder, picture,
                outcome == PLOT_NO_GNUPLOT ? "is not installed" : "failed", script);
    return outcome == PLOT_FAILED ? EXIT_FAILED : EXIT_DONE;
}

static int plot_run(const cairn_arguments *arguments)
{
    choice asked;
    cairn_statistic_table tables[MOST_TABLES];
    cairn_run_info info = { 0 };
    char folder[4096];
    int count, code = measure(arguments, &asked, tables, &count);
    if (code != EXIT_DONE)
        return code;
    default_folder(arguments->operand, folder, sizeof folder);
    if (cairn_run_read_info(arguments->operand, &info, NULL) != CAIRN_OK || !info.title[0])
        snprintf(info.title, sizeof info.title, "a run");
    for (int i = 0; i < count && code == EXIT_DONE; i++)
        code = draw(&tables[i], info.title, arguments->out ? arguments->out : folder);
    destroy_tables(tables, count);
    return code;
}

const cairn_command cairn_command_plot = {
    .name = "plot",
    .operand = "RUN [NAME]...",
    .summary = "Plot statistics of a finished run as SVG with gnuplot",
    .details =
        "RUN is a run folder or its run.h5; 'cairn list statistics' lists the names, and the\n"
        "series of forces of the scene have theirs; without one, all are drawn. Series are drawn\n"
        "against time, profiles and histograms for five frames. The script of each picture is\n"
        "kept beside it.\n"
        "Exit codes: 0 success, 1 failure, 2 usage error.",
    .flags = plot_flags,
    .run = plot_run,
};
