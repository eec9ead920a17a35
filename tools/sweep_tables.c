/* sweep_tables.c - the tables of a sweep: all results, their means with confidence intervals, and
 * the picture of the means. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cairn/output.h"
#include "command.h"
#include "studies/study.h"
#include "sweep.h"

typedef cairn_sweep_plan sweep;

enum { PANELS = 6, CURVES = 8 }; /* at most */

/* ---- the tables ------------------------------------------------------------------------------ */

/* Whether a result was chosen; without --result all are. */
static bool is_chosen(const sweep *s, const char *name)
{
    const char *list = s->arguments->sweep.results;
    size_t length = strlen(name);
    for (const char *c = list; c && *c; c += strcspn(c, ",") + (c[strcspn(c, ",")] == ','))
        if (strcspn(c, ",") == length && strncmp(c, name, length) == 0)
            return true;
    return !list;
}

/* A table with names of its own. */
typedef struct collected {
    cairn_table table;
} collected;

static bool add_column(collected *c, const char *name)
{
    if (c->table.column_count == CAIRN_TABLE_COLUMNS)
        return false;
    char *copy = cairn_block_take(strlen(name) + 1, 1);
    c->table.columns[c->table.column_count++] = copy;
    if (copy)
        memcpy(copy, name, strlen(name) + 1);
    return copy != NULL;
}

static void destroy_table(collected *c)
{
    for (int k = 0; k < c->table.column_count; k++)
        cairn_block_free(c->table.columns[k]);
    cairn_block_free(c->table.values);
}

/* The columns of the first run that has results: run, the keys, the results. */
static bool name_columns(const sweep *s, const cairn_table *first, collected *c)
{
    bool good = add_column(c, "run");
    for (int k = 0; k < s->key_count; k++)
        good = good && add_column(c, s->keys[k].name);
    for (int k = 0; k < first->column_count; k++)
        if (is_chosen(s, first->columns[k]))
            good = good && add_column(c, first->columns[k]);
    c->table.values = cairn_block_take((size_t)s->run_count * (size_t)c->table.column_count + 1,
                                       sizeof *c->table.values);
    return good && c->table.values;
}

/* A row for each run that is done. */
static bool collect(const sweep *s, collected *c)
{
    const cairn_table_options options = { .frame = -1 };
    bool good = true;
    for (int r = 0; r < s->run_count && good; r++) {
        char path[SWEEP_PATH];
        cairn_table *t;
        cairn_sweep_path(s, r, "results.csv", path);
        if (access(path, F_OK) != 0 || cairn_table_read(path, &options, &t, NULL) != CAIRN_OK)
            continue;
        good = c->table.column_count > 0 || name_columns(s, t, c);
        double *to = good ? c->table.values + c->table.row_count++ * c->table.column_count : NULL;
        if (good)
            to[0] = r + 1;
        for (int k = 1; k < c->table.column_count && good; k++) {
            int from = cairn_table_find(t, c->table.columns[k]);
            to[k] = k <= s->key_count ? cairn_sweep_value(s, r, k - 1)
                    : from < 0        ? NAN
                                      : t->values[from];
        }
        cairn_table_destroy(t);
    }
    return good;
}

/* ---- mean and confidence --------------------------------------------------------------------- */

/* The regularised incomplete beta function I_x(a, b) by its continued fraction,
 *     I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) * 1/(1 + d_1/(1 + d_2/(1 + ...))),
 *     d_2m = m (b - m) x / ((a + 2m - 1)(a + 2m)),
 *     d_2m+1 = - (a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)),
 * which converges fast for x < (a + 1)/(a + b + 2); else I_x(a, b) = 1 - I_1-x(b, a). The fraction
 * is evaluated from its end. */
static double beta_share(double x, double a, double b)
{
    enum { TERMS = 200 };
    double tail = 1;
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    if (x >= (a + 1) / (a + b + 2))
        return 1 - beta_share(1 - x, b, a);
    for (int k = TERMS; k >= 1; k--) {
        double m = k / 2;
        double d = k % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                         : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        tail = 1 + d / tail;
    }
    double scale = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a;
    return scale / tail;
}

/* The quantile t of Student's distribution with nu degrees of freedom that |T| stays below with
 * probability 0.95: P(|T| > t) = I_x(nu/2, 1/2), x = nu/(nu + t^2). By bisection. */
static double student(double nu)
{
    double low = 0, high = 1000;
    for (int i = 0; i < 200; i++) {
        double t = 0.5 * (low + high);
        if (beta_share(nu / (nu + t * t), nu / 2, 0.5) > 0.05)
            low = t;
        else
            high = t;
    }
    return 0.5 * (low + high);
}

/* Whether two rows differ only in keys that are averaged over. */
static bool same_point(const sweep *s, const double *a, const double *b)
{
    for (int k = 0; k < s->key_count; k++)
        if (!s->keys[k].repeats && a[1 + k] != b[1 + k])
            return false;
    return true;
}

/* Mean and half width of the 95 % confidence interval of one column, over the rows of one point:
 *     mean = sum x / n,   width = t_{0.975, n-1} s / sqrt(n),   s^2 = sum (x - mean)^2 / (n - 1).
 * Values that are not known are left out; with fewer than two the width is not known. */
static void average(const sweep *s, const cairn_table *t, const double *point, int column,
                    double out[2])
{
    double sum = 0, squares = 0;
    int n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < t->row_count; i++) {
            const double *r = t->values + i * t->column_count;
            if (!same_point(s, r, point) || !isfinite(r[column]))
                continue;
            n += pass == 0;
            sum += pass == 0 ? r[column] : 0;
            squares += pass == 1 ? (r[column] - sum / n) * (r[column] - sum / n) : 0;
        }
    out[0] = n > 0 ? sum / n : NAN;
    out[1] = n > 1 ? student(n - 1) * sqrt(squares / (n - 1) / n) : NAN;
}

static bool name_means(const sweep *s, const cairn_table *t, collected *out)
{
    bool good = true;
    for (int k = 0; k < s->key_count; k++)
        if (!s->keys[k].repeats)
            good = good && add_column(out, s->keys[k].name);
    good = good && add_column(out, "runs");
    for (int k = 1 + s->key_count; k < t->column_count; k++) {
        char width[200];
        snprintf(width, sizeof width, "%.180s +-", t->columns[k]);
        good = good && add_column(out, t->columns[k]) && add_column(out, width);
    }
    out->table.values = cairn_block_take((size_t)t->row_count * (size_t)out->table.column_count + 1,
                                         sizeof *out->table.values);
    return good && out->table.values;
}

/* One row for each combination of the keys that are not averaged over. */
static bool average_all(const sweep *s, const cairn_table *t, collected *out)
{
    if (!name_means(s, t, out))
        return false;
    for (int64_t i = 0; i < t->row_count; i++) {
        const double *r = t->values + i * t->column_count;
        double *to = out->table.values + out->table.row_count * out->table.column_count;
        int64_t earlier = 0, runs = 0;
        while (earlier < i && !same_point(s, t->values + earlier * t->column_count, r))
            earlier++;
        if (earlier < i)
            continue;
        for (int64_t j = 0; j < t->row_count; j++)
            runs += same_point(s, t->values + j * t->column_count, r);
        for (int k = 0; k < s->key_count; k++)
            if (!s->keys[k].repeats)
                *to++ = r[1 + k];
        *to++ = (double)runs;
        for (int k = 1 + s->key_count; k < t->column_count; k++, to += 2)
            average(s, t, r, k, to);
        out->table.row_count++;
    }
    return true;
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* The smallest and largest number of a column; `bars`: with those of the next column. */
static void find_range(const cairn_table *t, int column, bool bars, double range[2])
{
    range[0] = HUGE_VAL;
    range[1] = -HUGE_VAL;
    for (int64_t i = 0; i < t->row_count; i++) {
        const double *value = t->values + i * t->column_count + column;
        double bar = bars && value[1] > 0 ? value[1] : 0;
        range[0] = fmin(range[0], value[0] - bar);
        range[1] = fmax(range[1], value[0] + bar);
    }
}

/* Whether a result differs between the points: others, and those that are not known, are not worth
 * a panel. */
static bool varies(const cairn_table *t, int column)
{
    double range[2];
    find_range(t, column, false, range);
    return range[0] < range[1];
}

static void write_range(const cairn_table *t, int column, char axis, FILE *out)
{
    double range[2];
    find_range(t, column, axis == 'y', range);
    cairn_plot_range(out, axis, range[0], range[1]);
}

/* Whether a point has several runs, by the column of their number. */
static bool has_bars(const cairn_table *means, int runs)
{
    double range[2];
    find_range(means, runs, false, range);
    return range[1] > 1;
}

/* The scene, what a point is, and what its bar; column `runs` has the number of runs of each. */
static void write_title(const cairn_table *means, int runs, const char *scene, FILE *out)
{
    char title[SWEEP_PATH + 128], count[64];
    double range[2];
    find_range(means, runs, false, range);
    snprintf(count, sizeof count, range[0] < range[1] ? "%g to %g" : "%g", range[0], range[1]);
    if (has_bars(means, runs))
        snprintf(title, sizeof title,
                 "%.4000s\nmeans of %s runs; bars: 95 %% confidence intervals of the means", scene,
                 count);
    else
        snprintf(title, sizeof title, "%.4000s\neach point is one run", scene);
    fputs("title ", out);
    cairn_plot_title(out, title);
}

/* Whether row i is the first one with these keys but the first: it begins curve k. */
static bool begins_curve(const cairn_table *means, int keys, int64_t i)
{
    const double *r = means->values + i * means->column_count;
    int64_t first = 0;
    while (first < i && memcmp(means->values + first * means->column_count + 1, r + 1,
                               (size_t)(keys - 1) * sizeof *r) != 0)
        first++;
    return first == i;
}

/* The rows of the curve that begins in a row, as a block of data. */
static void write_block(const cairn_table *means, int keys, int64_t from, int curve, FILE *out)
{
    const double *first = means->values + from * means->column_count;
    fprintf(out, "$curve%d << END\n", curve);
    for (int64_t i = from; i < means->row_count; i++) {
        const double *r = means->values + i * means->column_count;
        bool same = memcmp(r + 1, first + 1, (size_t)(keys - 1) * sizeof *r) == 0;
        for (int k = 0; k < means->column_count && same; k++)
            fprintf(out, "%.15g%s", r[k], k + 1 < means->column_count ? " " : "\n");
    }
    fprintf(out, "END\n");
}

/* A curve for each combination of the other keys, CURVES at most; `from` receives their first rows.
 * The script has its data inside, as those of other commands. */
static int write_curves(const cairn_table *means, int keys, int64_t from[CURVES], FILE *out)
{
    int curves = 0;
    for (int64_t i = 0; i < means->row_count && curves < CURVES; i++)
        if (begins_curve(means, keys, i)) {
            write_block(means, keys, i, curves, out);
            from[curves++] = i;
        }
    return curves;
}

/* What is drawn: the means, how many keys they have, and the curves with their first rows. */
typedef struct picture {
    const cairn_table *means;
    int keys, curves;
    bool bars; /* some point has several runs */
    int64_t from[CURVES];
} picture;

/* The result in column y against the first key, with error bars where there are several runs. */
static void write_panel(const picture *p, int y, FILE *out)
{
    const cairn_table *means = p->means;
    char unit[32];
    cairn_sweep_unit(means->columns[0], unit);
    cairn_plot_label(out, 'x', means->columns[0], unit);
    cairn_sweep_unit(means->columns[y], unit);
    cairn_plot_label(out, 'y', means->columns[y], unit);
    write_range(means, 0, 'x', out);
    write_range(means, y, 'y', out);
    for (int c = 0; c < p->curves; c++) {
        const double *r = means->values + p->from[c] * means->column_count;
        fprintf(out, "%s$curve%d using 1:%d", c ? ", \\\n     " : "plot ", c, y + 1);
        if (p->bars)
            fprintf(out, ":($%d >= 0 ? $%d : 0)", y + 2, y + 2);
        fprintf(out, " with %s lw 2 pt 7 ps 0.4 lc rgb '%s' title '",
                p->bars ? "yerrorlines" : "linespoints", cairn_plot_colour(c));
        for (int k = 1; k < p->keys; k++)
            fprintf(out, "%s%s = %g", k > 1 ? ", " : "", means->columns[k], r[k]);
        fprintf(out, "'");
    }
    fprintf(out, "\n");
}

static void write_script(const sweep *s, const cairn_table *means, FILE *out)
{
    picture p = { .means = means };
    int panels = 0, shown[PANELS];
    for (int k = 0; k < s->key_count; k++)
        p.keys += !s->keys[k].repeats;
    for (int y = p.keys + 1; y < means->column_count && panels < PANELS; y += 2)
        if (varies(means, y))
            shown[panels++] = y;
    if (panels == 0)
        shown[panels++] = p.keys + 1;
    cairn_plot_begin(out, &(cairn_plot_page){ "sweep.svg", 760, 120 + 260 * panels, true });
    p.bars = has_bars(means, p.keys);
    p.curves = write_curves(means, p.keys, p.from, out);
    fprintf(out,
            "set offsets graph 0.03, graph 0.03, graph 0.03, graph 0.03\n"
            "set multiplot layout %d,1 ",
            panels);
    write_title(means, p.keys, s->arguments->operand, out);
    for (int k = 0; k < panels; k++)
        write_panel(&p, shown[k], out);
    fprintf(out, "unset multiplot\n");
}

static cairn_status draw(const sweep *s, const cairn_table *means, cairn_error *error)
{
    static const char *const words[] = {
        [PLOT_DRAWN] = "",
        [PLOT_NO_GNUPLOT] = "  not drawn: gnuplot is not installed; sweep.gp is its script",
        [PLOT_FAILED] = "  not drawn: gnuplot failed on sweep.gp",
    };
    char path[SWEEP_PATH];
    cairn_output *file;
    bool axis = false;
    for (int k = 0; k < s->key_count; k++)
        axis = axis || !s->keys[k].repeats;
    if (!axis || means->column_count < 3)
        return CAIRN_OK;
    snprintf(path, sizeof path, "%.4000s/sweep.gp", s->folder);
    TRY(cairn_output_create(path, &file, error));
    write_script(s, means, cairn_output_stream(file));
    TRY(cairn_output_commit(file, error));
    cairn_plot_outcome outcome = cairn_plot_draw(s->folder, "sweep.gp", "sweep.svg");
    printf("%s/sweep.svg%s\n", s->folder, words[outcome]);
    return CAIRN_OK;
}

static cairn_status write_both(const sweep *s, const char *name, const cairn_table *t,
                               cairn_error *error)
{
    static const char *const endings[] = { "csv", "h5" };
    for (int i = 0; i < 2; i++) {
        char path[SWEEP_PATH];
        snprintf(path, sizeof path, "%.4000s/%s.%s", s->folder, name, endings[i]);
        TRY(cairn_table_write(path, t, error));
        printf("%s\n", path);
    }
    return CAIRN_OK;
}

/* Every name of --result must be a result. */
static int check_results(const sweep *s, const cairn_table *t)
{
    const char *list = s->arguments->sweep.results;
    for (const char *c = list; c && *c; c += strcspn(c, ",") + (c[strcspn(c, ",")] == ',')) {
        char name[200];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(c, ","), c);
        if (cairn_table_find(t, name) <= s->key_count) {
            fprintf(stderr,
                    "cairn sweep: --result: there is no result '%s'; the tables without "
                    "--result name all\n",
                    name);
            return EXIT_USAGE;
        }
    }
    return EXIT_DONE;
}

int cairn_sweep_report(const sweep *s)
{
    int code = EXIT_DONE;
    collected all = { 0 }, means = { 0 };
    cairn_error error = { 0 };
    cairn_status status = CAIRN_OK;
    if (!collect(s, &all) || (all.table.row_count > 0 && !average_all(s, &all.table, &means)))
        status = CAIRN_NO_MEMORY;
    if (status == CAIRN_OK && all.table.row_count > 0) {
        printf("%lld of %d runs are done\n", (long long)all.table.row_count, s->run_count);
        status = write_both(s, "sweep", &all.table, &error);
        if (status == CAIRN_OK)
            status = write_both(s, "means", &means.table, &error);
        if (status == CAIRN_OK)
            status = draw(s, &means.table, &error);
    }
    if (status == CAIRN_OK && all.table.row_count > 0)
        code = check_results(s, &all.table);
    destroy_table(&all);
    destroy_table(&means);
    return status == CAIRN_OK ? code : cairn_error_print(status, &error);
}
