/* sweep.c - `cairn sweep`: runs of one scene for all combinations of some values, side by side, and
 * a table of their results.
 *
 * A sweep folder has the file sweep.txt, which says what is varied, a run folder for each
 * combination (run_0001, ...), and at the end the tables. The results of a run are its totals and
 * the last row of each of its statistics. They are written into the run's folder when it is done,
 * so that a sweep that was killed goes on: finished runs are kept, and a run with a checkpoint is
 * resumed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cairn/output.h"
#include "command.h"
#include "studies/study.h"
#include "sweep.h"

typedef cairn_sweep_key varied;
typedef cairn_sweep_plan sweep;

enum { MOST_VALUES = 1000, MOST_RUNS = 10000 };

static int fail(const char *what, const char *message)
{
    fprintf(stderr, "cairn sweep: %.200s: %s\n", what, message);
    return EXIT_USAGE;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char too_many[] = "expected at most 1000 values of at most 63 bytes";

static bool add_value(varied *v, const char *text, size_t length)
{
    if (length == 0 || length >= SWEEP_VALUE || v->count == MOST_VALUES)
        return false;
    snprintf(v->values[v->count++], SWEEP_VALUE, "%.*s", (int)length, text);
    return true;
}

/* The item 1..5: whole numbers. NULL: good, else what was expected. */
static const char *take_range(varied *v, const char *text)
{
    int64_t first, last;
    const char *rest = strstr(text, "..") + 2;
    size_t used = cairn_integer_read(text, &first), more = cairn_integer_read(rest, &last);
    if (used == 0 || text + used + 2 != rest || more == 0 || rest[more])
        return "expected FIRST..LAST with whole numbers";
    if (last < first)
        return "expected FIRST..LAST with LAST >= FIRST";
    for (int64_t i = first; i <= last; i++) {
        char number[32];
        int length = snprintf(number, sizeof number, "%lld", (long long)i);
        if (!add_value(v, number, (size_t)length))
            return too_many;
    }
    return NULL;
}

/* The item 0.1:0.8:8: n numbers from a to b, x_i = a + i (b - a)/(n - 1), in at most 15 digits. */
static const char *take_steps(varied *v, const char *text)
{
    static const char expected[] = "expected FIRST:LAST:COUNT with a COUNT from 1 to 1000";
    double a, b;
    int64_t n;
    size_t used = cairn_number_read(text, &a), more;
    if (used == 0 || text[used] != ':')
        return expected;
    more = cairn_number_read(text + used + 1, &b);
    const char *rest = text + used + 1 + more;
    if (more == 0 || *rest != ':')
        return expected;
    used = cairn_integer_read(rest + 1, &n);
    if (used == 0 || rest[1 + used] || n < 1 || n > MOST_VALUES)
        return expected;
    for (int64_t i = 0; i < n; i++) {
        char number[32];
        double x = n > 1 ? a + (double)i * (b - a) / (double)(n - 1) : a;
        int length = snprintf(number, sizeof number, "%.15g", i == n - 1 && n > 1 ? b : x);
        if (!add_value(v, number, (size_t)length))
            return too_many;
    }
    return NULL;
}

/* One item of a list: a range, steps, or a value as it is. What begins with a number and goes on
 * with .. or : must be one of the first two; other texts may have these characters. */
static const char *take_item(varied *v, const char *text)
{
    double number;
    int64_t whole;
    size_t real = cairn_number_read(text, &number), integer = cairn_integer_read(text, &whole);
    if ((integer > 0 && strncmp(text + integer, "..", 2) == 0) ||
        (real > 0 && (text[real] == '.' || text[real - 1] == '.') && strstr(text, "..")))
        return take_range(v, text);
    if (real > 0 && text[real] == ':')
        return take_steps(v, text);
    if (!text[0])
        return "found nothing where a value is expected: after '=' and between commas";
    return add_value(v, text, strlen(text)) ? NULL : too_many;
}

/* The length of the next item: up to a comma that is not in brackets. */
static size_t item_length(const char *text)
{
    int depth = 0;
    size_t length = 0;
    for (; text[length] && (text[length] != ',' || depth > 0); length++)
        depth += text[length] == '[' ? 1 : text[length] == ']' ? -1 : 0;
    return length;
}

/* Items separated by commas. */
static const char *take_list(varied *v, const char *text)
{
    for (;;) {
        char item[256];
        size_t length = item_length(text);
        if (length >= sizeof item)
            return too_many;
        snprintf(item, sizeof item, "%.*s", (int)length, text);
        const char *problem = take_item(v, item);
        if (problem || !text[length])
            return problem;
        text += length + 1;
    }
}

/* "friction=0.1:0.8:8" */
static int read_varied(const char *text, varied *v)
{
    size_t length = strcspn(text, "=");
    const char *values = text + length + 1;
    if (!text[length] || length == 0 || length >= sizeof v->name)
        return fail(text, "expected NAME=FIRST:LAST:COUNT, NAME=FIRST..LAST, NAME=A,B,C or a "
                          "list of these");
    snprintf(v->name, sizeof v->name, "%.*s", (int)length, text);
    v->values = cairn_block_take(MOST_VALUES, SWEEP_VALUE);
    if (!v->values)
        return fail(text, "out of memory");
    const char *dot = strrchr(v->name, '.');
    v->repeats = strcmp(dot ? dot + 1 : v->name, "seed") == 0;
    const char *problem = take_list(v, values);
    for (int i = 0; i < v->count && !problem; i++)
        for (int k = 0; k < i && !problem; k++)
            if (strcmp(v->values[i], v->values[k]) == 0)
                problem = "a value is given twice";
    return problem ? fail(text, problem) : EXIT_DONE;
}

/* Value of key k in run r; the last key varies fastest. */
static int value_index(const sweep *s, int r, int k)
{
    for (int i = s->key_count - 1; i > k; i--)
        r /= s->keys[i].count;
    return r % s->keys[k].count;
}

double cairn_sweep_value(const sweep *s, int r, int k)
{
    const char *text = s->keys[k].values[value_index(s, r, k)];
    double number;
    size_t used = cairn_number_read(text, &number);
    return used > 0 && !text[used] ? number : value_index(s, r, k) + 1;
}

static int read_keys(sweep *s)
{
    const cairn_sweep_arguments *a = &s->arguments->sweep;
    s->run_count = 1;
    if (a->vary_count == 0)
        return fail("--vary", "is missing, expected for example --vary friction=0.1:0.8:8");
    for (int k = 0; k < a->vary_count; k++) {
        int code = read_varied(a->vary[k], &s->keys[s->key_count++]);
        if (code != EXIT_DONE)
            return code;
        if (s->keys[k].count > MOST_RUNS / s->run_count)
            return fail("--vary", "more than 10000 runs");
        s->run_count *= s->keys[k].count;
        for (int i = 0; i < k; i++)
            if (strcmp(s->keys[i].name, s->keys[k].name) == 0)
                return fail(s->keys[k].name, "is varied twice");
    }
    return EXIT_DONE;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* The overrides of run r: those of the command line, the threads, and the varied values. */
typedef struct overrides {
    const char **items;
    int count;
    char texts[CAIRN_SWEEP_KEYS + 1][256];
} overrides;

static cairn_status list_overrides(const sweep *s, int r, overrides *o)
{
    const cairn_arguments *a = s->arguments;
    o->count = 0;
    o->items = cairn_block_take((size_t)a->override_count + CAIRN_SWEEP_KEYS + 1, sizeof *o->items);
    if (!o->items)
        return CAIRN_NO_MEMORY;
    /* first, so that the caller's own value for it counts */
    snprintf(o->texts[s->key_count], sizeof o->texts[0], "run.threads=%d",
             a->sweep.threads > 0 ? a->sweep.threads : 1);
    o->items[o->count++] = o->texts[s->key_count];
    for (int i = 0; i < a->override_count; i++)
        o->items[o->count++] = a->overrides[i];
    for (int k = 0; k < s->key_count; k++) {
        const char *name = s->keys[k].name;
        snprintf(o->texts[k], sizeof o->texts[k], "%s%s=%s", strchr(name, '.') ? "" : "parameters.",
                 name, s->keys[k].values[value_index(s, r, k)]);
        o->items[o->count++] = o->texts[k];
    }
    return CAIRN_OK;
}

static cairn_status load_scene(const sweep *s, int r, cairn_scene **out, cairn_error *error)
{
    overrides o;
    *out = NULL;
    TRY(list_overrides(s, r, &o));
    cairn_status status = cairn_scene_load(s->arguments->operand, o.items, o.count, out, error);
    cairn_block_free(o.items);
    return status;
}

void cairn_sweep_path(const sweep *s, int r, const char *name, char *path)
{
    snprintf(path, SWEEP_PATH, "%.4000s/run_%04d%s%s", s->folder, r + 1, name ? "/" : "",
             name ? name : "");
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Totals of a run that are results. */
static const struct {
    const char *name, *unit;
    size_t offset;
    char type;       /* r: double, l: int64_t, i: int                                      */
    const char *key; /* in summary.json, where it is the first of this name; NULL: the name */
} totals[] = {
    { "time", "s", offsetof(cairn_run_summary, time), 'r', NULL },
    { "steps", "", offsetof(cairn_run_summary, steps), 'l', NULL },
    { "bodies", "", offsetof(cairn_run_summary, bodies), 'l', NULL },
    { "uncertified", "", offsetof(cairn_run_summary, uncertified), 'l', NULL },
    { "displacement", "m", offsetof(cairn_run_summary, displacement), 'r', "largest_displacement" },
    { "kinetic", "J", offsetof(cairn_run_summary, energy.kinetic), 'r', NULL },
    { "potential", "J", offsetof(cairn_run_summary, energy.potential), 'r', NULL },
    { "friction_loss", "J", offsetof(cairn_run_summary, energy.friction_loss), 'r', NULL },
    { "impact_loss", "J", offsetof(cairn_run_summary, energy.impact_loss), 'r', NULL },
    { "driver_work", "J", offsetof(cairn_run_summary, energy.driver_work), 'r', NULL },
    { "mean_active", "", offsetof(cairn_run_summary, mean_active), 'r', NULL },
    { "max_active", "", offsetof(cairn_run_summary, max_active), 'i', NULL },
    { "mean_iterations", "", offsetof(cairn_run_summary, mean_iterations), 'r', "mean" },
    { "penetration", "m", offsetof(cairn_run_summary, worst.penetration), 'r', NULL },
    { "packing", "", offsetof(cairn_run_summary, packing.fraction), 'r', "fraction" },
    { "wall_seconds", "s", offsetof(cairn_run_summary, wall_seconds), 'r', NULL },
};

enum { TOTALS = sizeof totals / sizeof totals[0] };

/* The unit of the last word of a path with dots as in --set, if an option of a scene has it. */
static void unit_of_key(const char *word, char unit[32])
{
    const cairn_record *const records[] = { cairn_run_record(), cairn_step_record(),
                                            cairn_material_record(), cairn_body_record() };
    for (int i = 0; i < 4 && !unit[0]; i++)
        for (int k = 0; k < records[i]->option_count; k++)
            if (strcmp(records[i]->options[k].name, word) == 0)
                snprintf(unit, 32, "%s", records[i]->options[k].unit);
}

void cairn_sweep_unit(const char *name, char unit[32])
{
    char statistic[96];
    const char *dot = strchr(name, '.');
    unit[0] = '\0';
    for (int i = 0; i < TOTALS; i++)
        if (strcmp(totals[i].name, name) == 0)
            snprintf(unit, 32, "%s", totals[i].unit);
    if (!dot || (size_t)(dot - name) >= sizeof statistic)
        return;
    snprintf(statistic, sizeof statistic, "%.*s", (int)(dot - name), name);
    for (int dimension = 3; dimension >= 2 && !unit[0]; dimension--) {
        cairn_statistic_table t;
        if (cairn_statistic_table_create(statistic, dimension, &t) != CAIRN_OK)
            break;
        for (int k = 0; k < t.column_count; k++)
            if (strcmp(t.columns[k].name, dot + 1) == 0)
                snprintf(unit, 32, "%s", t.columns[k].unit);
        cairn_statistic_table_destroy(&t);
    }
    unit_of_key(strrchr(name, '.') + 1, unit);
}

/* A table of one row while it is filled. */
typedef struct row {
    cairn_table table;
    double values[CAIRN_TABLE_COLUMNS];
    char names[CAIRN_TABLE_COLUMNS][96];
} row;

static void add_result(row *to, const char *name, double value)
{
    cairn_table *t = &to->table;
    if (t->column_count == CAIRN_TABLE_COLUMNS)
        return;
    snprintf(to->names[t->column_count], sizeof to->names[0], "%s", name);
    t->columns[t->column_count] = to->names[t->column_count];
    to->values[t->column_count++] = value;
}

static void add_totals(const cairn_run_summary *summary, row *to)
{
    for (int i = 0; i < TOTALS; i++) {
        const char *field = (const char *)summary + totals[i].offset;
        double value = totals[i].type == 'r'   ? *(const double *)field
                       : totals[i].type == 'l' ? (double)*(const int64_t *)field
                                               : *(const int *)field;
        bool known = strcmp(totals[i].name, "packing") != 0 || summary->has_packing;
        add_result(to, totals[i].name, known ? value : NAN);
    }
}

/* The last row of a series as statistic.column; profiles have several rows a frame and are left
 * out. */
static void add_statistic(const sweep *s, int r, const char *name, row *to)
{
    char path[SWEEP_PATH], file[80], column[200];
    const cairn_table_options options = { .frame = -1 };
    cairn_table *t;
    snprintf(file, sizeof file, "statistics/%.60s.csv", name);
    cairn_sweep_path(s, r, file, path);
    if (cairn_table_read(path, &options, &t, NULL) != CAIRN_OK)
        return;
    const double *last = t->values + (t->row_count - 1) * t->column_count;
    bool series = t->row_count < 2 || last[0] != last[-t->column_count];
    for (int k = 1; series && k < t->column_count; k++) {
        snprintf(column, sizeof column, "%.60s.%s", name, t->columns[k]);
        add_result(to, column, last[k]);
    }
    cairn_table_destroy(t);
}

/* The file results.csv of a run says that it is done. */
static cairn_status write_results(const sweep *s, int r, const cairn_scene *scene,
                                  const cairn_run_summary *summary, cairn_error *error)
{
    char path[SWEEP_PATH];
    row *to = cairn_block_take(1, sizeof *to);
    if (!to)
        return CAIRN_NO_MEMORY;
    to->table.row_count = 1;
    to->table.values = to->values;
    add_totals(summary, to);
    for (int i = 0; i < scene->run.statistics.count; i++)
        add_statistic(s, r, scene->run.statistics.items[i], to);
    cairn_sweep_path(s, r, "results.csv", path);
    cairn_status status = cairn_table_write(path, &to->table, error);
    cairn_block_free(to);
    return status;
}

/* ---- runs that were done before -------------------------------------------------------------- */

static void put_total(int i, double value, cairn_run_summary *out)
{
    char *field = (char *)out + totals[i].offset;
    if (totals[i].type == 'r')
        *(double *)field = value;
    else if (totals[i].type == 'l')
        *(int64_t *)field = (int64_t)value;
    else
        *(int *)field = (int)value;
}

/* The totals in summary.json, which has a line `"key": number` for each. A packing that was not
 * measured is not there. */
static bool read_summary(const char *path, cairn_run_summary *out)
{
    char line[512];
    int found = 0;
    bool known[TOTALS] = { false };
    FILE *file = fopen(path, "r");
    *out = (cairn_run_summary){ 0 };
    while (file && fgets(line, sizeof line, file)) {
        const char *at = line + strspn(line, " ");
        for (int i = 0; i < TOTALS; i++) {
            const char *key = totals[i].key ? totals[i].key : totals[i].name;
            size_t length = strlen(key);
            double value;
            if (known[i] || at[0] != '"' || strncmp(at + 1, key, length) != 0 ||
                strncmp(at + 1 + length, "\": ", 3) != 0 ||
                cairn_number_read(at + length + 4, &value) == 0)
                continue;
            known[i] = true;
            found++;
            put_total(i, value, out);
            out->has_packing = out->has_packing || strcmp(totals[i].name, "packing") == 0;
        }
    }
    if (file)
        fclose(file);
    return found == TOTALS - !out->has_packing;
}

/* Whether a run has ended although its results are not written: the sweep was killed after run.h5
 * got its name. A checkpoint may be left. */
static bool is_done(const sweep *s, int r, cairn_run_summary *summary)
{
    char path[SWEEP_PATH];
    cairn_run_info info;
    cairn_error unused = { 0 };
    cairn_sweep_path(s, r, "run.h5.part", path);
    if (exists(path))
        return false;
    cairn_sweep_path(s, r, NULL, path);
    if (!exists(path) || cairn_run_read_info(path, &info, &unused) != CAIRN_OK ||
        (strcmp(info.ending, "complete") != 0 && strcmp(info.ending, "rest") != 0 &&
         strcmp(info.ending, "event") != 0))
        return false;
    cairn_sweep_path(s, r, "summary.json", path);
    return read_summary(path, summary);
}

/* ---- in the child ---------------------------------------------------------------------------- */

/* A run ends, with a checkpoint, when it is told to or when the sweep is gone (`context` is the
 * process of the sweep). */
static bool go_on(const cairn_progress *progress, void *context)
{
    const pid_t *parent = context;
    (void)progress;
    return cairn_interrupt_signal() == 0 && getppid() == *parent;
}

/* Run or resume; SIGTERM ends it cleanly, with a checkpoint. */
static cairn_status compute(const sweep *s, int r, pid_t parent, cairn_error *error)
{
    char folder[SWEEP_PATH], checkpoint[SWEEP_PATH];
    cairn_scene *scene = NULL;
    cairn_run_summary summary;
    cairn_status status;
    cairn_sweep_path(s, r, NULL, folder);
    cairn_sweep_path(s, r, "checkpoint", checkpoint);
    if (is_done(s, r, &summary)) {
        status = load_scene(s, r, &scene, error);
        unlink(checkpoint);
    } else if (exists(checkpoint)) {
        const cairn_resume_options options = { .progress = go_on, .context = &parent };
        status = cairn_run_resume(folder, &options, &scene, &summary, error);
    } else {
        status = load_scene(s, r, &scene, error);
        if (status == CAIRN_OK)
            status = cairn_run(scene, folder, go_on, &parent, &summary, error);
    }
    if (status == CAIRN_OK && summary.interrupted)
        status = CAIRN_STOPPED;
    if (status == CAIRN_OK)
        status = write_results(s, r, scene, &summary, error);
    cairn_scene_destroy(scene);
    return status;
}

static int compute_item(void *context, int item, int pipe)
{
    const sweep *s = context;
    cairn_error error = { 0 };
    cairn_interrupt_watch();
    cairn_status status = compute(s, s->runs[item], getppid(), &error);
    if (status == CAIRN_OK)
        return EXIT_DONE;
    if (!error.message[0])
        snprintf(error.message, sizeof error.message, "%s", cairn_status_text(status));
    cairn_job_send(pipe, &error, sizeof error);
    return EXIT_FAILED;
}

/* ---- in the parent --------------------------------------------------------------------------- */

static double weigh(void *context, int item)
{
    (void)context;
    (void)item;
    return 1;
}

static const char *name_item(void *context, int item)
{
    sweep *s = context;
    snprintf(s->label, sizeof s->label, "run_%04d", s->runs[item] + 1);
    return s->label;
}

static void end_item(void *context, int item, const cairn_job_end *end)
{
    sweep *s = context;
    cairn_error error = { 0 };
    if (end->code == EXIT_DONE)
        return;
    s->failed++;
    if (end->count == sizeof error)
        memcpy(&error, end->bytes, sizeof error);
    fprintf(stderr, "run_%04d: %s: %s\n", s->runs[item] + 1, error.key[0] ? error.key : "failed",
            end->problem[0] ? end->problem : error.message);
}

/* The runs without results; with --only one of them. */
static int list_runs(sweep *s)
{
    char path[SWEEP_PATH];
    int only = s->arguments->sweep.only;
    s->runs = cairn_block_take((size_t)s->run_count, sizeof *s->runs);
    if (!s->runs)
        return fail(s->folder, "out of memory");
    if (only > s->run_count)
        return fail("--only", "there are fewer runs");
    for (int r = 0; r < s->run_count; r++) {
        cairn_sweep_path(s, r, "results.csv", path);
        if (only > 0 ? r == only - 1 && !exists(path) : !exists(path))
            s->runs[s->todo_count++] = r;
    }
    return EXIT_DONE;
}

/* ---- what the folder is for ------------------------------------------------------------------ */

/* What determines the results: the keys, the overrides, and the text of the scene with all that it
 * includes, as the first run has it. NULL: no memory. */
static char *describe(const sweep *s, const cairn_scene *scene)
{
    static const char head[] = "cairn sweep, version 1\n";
    size_t room = sizeof head + strlen(scene->text), used = 0;
    for (int k = 0; k < s->key_count; k++)
        room += strlen(s->arguments->sweep.vary[k]) + sizeof "--vary \n";
    char *text = cairn_block_take(room, 1);
    if (!text)
        return NULL;
    used = (size_t)snprintf(text, room, "%s", head);
    for (int k = 0; k < s->key_count; k++)
        used +=
            (size_t)snprintf(text + used, room - used, "--vary %s\n", s->arguments->sweep.vary[k]);
    snprintf(text + used, room - used, "%s", scene->text);
    return text;
}

/* Whether the file has this text. */
static bool is_same(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "rb");
    char *there = cairn_block_take(length + 2, 1);
    bool same = file && there && fread(there, 1, length + 1, file) == length &&
                memcmp(there, text, length) == 0;
    cairn_block_free(there);
    if (file)
        fclose(file);
    return same;
}

static cairn_status write_text(const char *path, const char *text, cairn_error *error)
{
    cairn_output *file;
    TRY(cairn_output_create(path, &file, error));
    fputs(text, cairn_output_stream(file));
    return cairn_output_commit(file, error);
}

/* All runs are computed again. */
static void forget_results(const sweep *s)
{
    static const char *const names[] = { "results.csv", "checkpoint", "summary.json" };
    char path[SWEEP_PATH];
    for (int r = 0; r < s->run_count; r++)
        for (int k = 0; k < 3; k++) {
            cairn_sweep_path(s, r, names[k], path);
            unlink(path);
        }
}

/* A folder belongs to one sweep: results of another one must not be taken for its own. */
static int claim_folder(const sweep *s, const cairn_scene *scene)
{
    char path[SWEEP_PATH];
    char *text = describe(s, scene);
    cairn_error error = { 0 };
    if (!text)
        return fail(s->folder, "out of memory");
    snprintf(path, sizeof path, "%.4000s/sweep.txt", s->folder);
    bool there = exists(path), same = there && is_same(path, text, strlen(text));
    bool allowed = !there || same || s->arguments->force;
    if (there && s->arguments->force)
        forget_results(s);
    cairn_status status = same || !allowed ? CAIRN_OK : write_text(path, text, &error);
    cairn_block_free(text);
    if (!allowed)
        return fail(s->folder, "this folder holds another sweep: --force replaces it, --out names "
                               "another folder");
    return status == CAIRN_OK ? EXIT_DONE : cairn_error_print(status, &error);
}

/* ---- Slurm ----------------------------------------------------------------------------------- */

/* A word for the shell, in single quotes. */
static void put_word(FILE *out, const char *word)
{
    fputs(" '", out);
    for (const char *c = word; *c; c++)
        fputs(*c == '\'' ? "'\\''" : (char[]){ *c, 0 }, out);
    fputc('\'', out);
}

/* The file of each task for Slurm, in double quotes, so that blanks do not end the name; %% stands
 * for %, which would begin a pattern. */
static void put_task_file(FILE *out, const char *folder)
{
    fputs("#SBATCH --output=\"", out);
    for (const char *c = folder; *c; c++)
        fputs(*c == '%' ? "%%" : (char[]){ *c, 0 }, out);
    fputs("/task_%a.txt\"\n", out);
}

static int write_slurm(const sweep *s)
{
    const cairn_arguments *a = s->arguments;
    char path[SWEEP_PATH];
    cairn_output *file;
    cairn_error error = { 0 };
    snprintf(path, sizeof path, "%.4000s/sweep.slurm", s->folder);
    cairn_status status = cairn_output_create(path, &file, &error);
    if (status != CAIRN_OK)
        return cairn_error_print(status, &error);
    FILE *out = cairn_output_stream(file);
    fprintf(out,
            "#!/bin/sh\n# One run a task: sbatch %s\n"
            "# The same command without --only makes the tables when all are done.\n"
            "#SBATCH --job-name=cairn-sweep\n#SBATCH --array=1-%d\n#SBATCH --ntasks=1\n"
            "#SBATCH --cpus-per-task=%d\n",
            path, s->run_count, a->sweep.threads > 0 ? a->sweep.threads : 1);
    put_task_file(out, s->folder);
    fputs("exec cairn sweep", out);
    put_word(out, a->operand);
    for (int k = 0; k < a->sweep.vary_count; k++) {
        fputs(" --vary", out);
        put_word(out, a->sweep.vary[k]);
    }
    for (int k = 0; k < a->override_count; k++) {
        fputs(" --set", out);
        put_word(out, a->overrides[k]);
    }
    if (a->sweep.threads > 0)
        fprintf(out, " --threads %d", a->sweep.threads);
    fputs(" --out", out);
    put_word(out, s->folder);
    fputs(" --only \"$SLURM_ARRAY_TASK_ID\"\n", out);
    status = cairn_output_commit(file, &error);
    if (status != CAIRN_OK)
        return cairn_error_print(status, &error);
    printf("%s: %d tasks; sbatch %s\n", path, s->run_count, path);
    return EXIT_DONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

/* out/SCENE_sweep, or --out. */
static void choose_folder(sweep *s)
{
    const char *path = s->arguments->operand, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (s->arguments->out)
        snprintf(s->folder, sizeof s->folder, "%.4000s", s->arguments->out);
    else
        snprintf(s->folder, sizeof s->folder, "out/%.*s_sweep",
                 (int)(dot && dot > name ? dot - name : (long)strlen(name)), name);
}

static int run_all(sweep *s)
{
    const cairn_work work = { .count = s->todo_count,
                              .width = s->arguments->sweep.jobs > 0
                                           ? s->arguments->sweep.jobs
                                           : (int)sysconf(_SC_NPROCESSORS_ONLN),
                              .quiet = s->arguments->quiet,
                              .noun = "runs",
                              .context = s,
                              .weight = weigh,
                              .name = name_item,
                              .compute = compute_item,
                              .ended = end_item };
    if (s->todo_count > 0 && cairn_work_do(&work) != CAIRN_OK)
        return fail(s->folder, "out of memory");
    if (s->arguments->sweep.only > 0)
        return s->failed ? EXIT_FAILED : EXIT_DONE;
    int code = cairn_sweep_report(s);
    if (cairn_interrupt_signal())
        return EXIT_SIGNAL_BASE + cairn_interrupt_signal();
    return code == EXIT_DONE && s->failed ? EXIT_FAILED : code;
}

/* Load the scene of the first run, and claim the folder for the sweep. */
static int check_scene(const sweep *s)
{
    cairn_scene *scene;
    cairn_error error = { 0 };
    cairn_status status = load_scene(s, 0, &scene, &error);
    if (status != CAIRN_OK && !error.file[0])
        snprintf(error.file, sizeof error.file, "%s", s->arguments->operand);
    if (status != CAIRN_OK)
        return cairn_error_print(status, &error);
    int code = cairn_folder_prepare("sweep", s->folder);
    if (code == EXIT_DONE)
        code = claim_folder(s, scene);
    cairn_scene_destroy(scene);
    return code;
}

/* A scene is loaded before anything is computed, so that mistakes show at once. A process of
 * its own does it: loading starts threads, and perhaps a device, which processes that are
 * forked later could not use. */
static int prepare(sweep *s)
{
    int how = 0, code = read_keys(s);
    if (code != EXIT_DONE)
        return code;
    choose_folder(s);
    fflush(NULL); /* or the child would print buffered output again */
    pid_t process = fork();
    if (process == 0)
        exit(check_scene(s));
    while (process > 0 && waitpid(process, &how, 0) < 0 && errno == EINTR)
        continue;
    if (process < 0 || !WIFEXITED(how))
        return fail(s->arguments->operand,
                    "the process that loads it could not be started or ended");
    return WEXITSTATUS(how) == EXIT_DONE ? list_runs(s) : WEXITSTATUS(how);
}

static int run_sweep(const cairn_arguments *arguments)
{
    sweep *s = cairn_block_take(1, sizeof *s);
    if (!s)
        return fail(arguments->operand, "out of memory");
    s->arguments = arguments;
    int code = prepare(s);
    if (code == EXIT_DONE)
        code = arguments->sweep.slurm ? write_slurm(s) : run_all(s);
    for (int k = 0; k < s->key_count; k++)
        cairn_block_free(s->keys[k].values);
    cairn_block_free(s->runs);
    cairn_block_free(s);
    return code;
}

static const char *take_vary(cairn_arguments *arguments, const char *value)
{
    if (arguments->sweep.vary_count == CAIRN_SWEEP_KEYS)
        return "more than 8 are varied";
    arguments->sweep.vary[arguments->sweep.vary_count++] = value;
    return NULL;
}

/* A whole number from 1 on. */
static const char *take_count(const char *value, int *out)
{
    int64_t count = 0;
    size_t length = cairn_integer_read(value, &count);
    if (length == 0 || value[length] || count < 1 || count > MOST_RUNS)
        return "expected a whole number from 1 to 10000";
    *out = (int)count;
    return NULL;
}

static const char *take_jobs(cairn_arguments *arguments, const char *value)
{
    return take_count(value, &arguments->sweep.jobs);
}

static const char *take_only(cairn_arguments *arguments, const char *value)
{
    return take_count(value, &arguments->sweep.only);
}

static const char *take_threads(cairn_arguments *arguments, const char *value)
{
    return take_count(value, &arguments->sweep.threads);
}

static const char *take_result(cairn_arguments *arguments, const char *value)
{
    arguments->sweep.results = value;
    return NULL;
}

static const char *take_slurm(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->sweep.slurm = true;
    return NULL;
}

static const cairn_flag flag_vary = { "--vary", 0, "NAME=VALUES",
                                      "a parameter or key: 0.1:0.8:8, 1..5 or a,b,c", take_vary };
static const cairn_flag flag_jobs = { "--jobs", 'j', "N", "run N at a time (default: processors)",
                                      take_jobs };
static const cairn_flag flag_result = { "--result", 0, "NAME,...",
                                        "results in the tables (default: all)", take_result };
static const cairn_flag flag_only = { "--only", 0, "K", "compute run K only, make no tables",
                                      take_only };
static const cairn_flag flag_threads = { "--threads", 0, "N", "threads of each run (default: 1)",
                                         take_threads };
static const cairn_flag flag_slurm = { "--slurm", 0, NULL,
                                       "write the script of a job array instead", take_slurm };
static const cairn_flag *const flags[] = {
    &flag_vary,  &flag_jobs,      &flag_result,    &flag_only,        &flag_threads,
    &flag_slurm, &cairn_flag_set, &cairn_flag_out, &cairn_flag_force, &cairn_flag_quiet,
    NULL
};

const cairn_command cairn_command_sweep = {
    .name = "sweep",
    .operand = "SCENE",
    .summary = "Run a scene for all combinations of some values, side by side",
    .details =
        "Finished runs are kept: a sweep that was stopped goes on where it was. Results are\n"
        "averaged over keys called seed, with 95 % confidence intervals.",
    .flags = flags,
    .run = run_sweep,
};
