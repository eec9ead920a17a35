/* reproduce.c - `cairn reproduce`: tables and figures of the papers, recomputed and judged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cairn/output.h"
#include "command.h"
#include "reproduce.h"

/* ---- printing, and rows as CSV --------------------------------------------------------------- */

static void print_number(double value)
{
    if (value != 0)
        printf(" %14.8g", value);
    else
        printf(" %14s", "-");
}

static void print_rows(const cairn_study *study)
{
    printf("  %-64s %14s %14s %14s %9s\n", "", "published", "reference", "ours", "differ by");
    for (int i = 0; i < study->finding_count; i++) {
        const cairn_finding *f = &study->findings[i];
        printf("  %-64s", f->what);
        print_number(f->published);
        print_number(f->reference);
        printf(" %14.8g", f->ours);
        if (f->statement)
            printf(" %9s", "");
        else
            printf(" %9.1e", f->difference);
        printf("  %s\n", cairn_match_name(f->match));
        if (f->match == CAIRN_MATCH_DIFFERS)
            printf("      why: %s\n", f->why);
    }
}

static void print_computed(const cairn_computed *c)
{
    printf("%s %s: %s (%s, %.1f s, %.1f s of CPU)\n", c->entry->paper, c->entry->item,
           c->entry->summary, c->entry->name, c->seconds, c->cpu);
    print_rows(&c->study);
    if (c->problem[0])
        printf("  could not be computed: %s\n", c->problem);
    puts("");
    fflush(stdout);
}

static void print_counts(const char *what, const int *count)
{
    printf("  %-32s", what);
    for (int m = 0; m < CAIRN_MATCH_COUNT; m++)
        printf(" %8d", count[m]);
    puts("");
}

static void print_count(const cairn_verdict_count *count)
{
    printf("%d items; verdicts by what the numbers were compared with:\n  %-32s", count->entries,
           "");
    for (int m = 0; m < CAIRN_MATCH_COUNT; m++)
        printf(" %8s", cairn_match_name(m));
    puts("");
    print_counts("numbers printed in the papers", count->published);
    print_counts("an independent computation", count->reference);
    print_counts("statements of the papers", count->statements);
    if (count->failed)
        printf("  %d items could not be computed\n", count->failed);
}

static void print_entries(void)
{
    static const char *const when[] = { [CAIRN_QUICK] = "", [CAIRN_FULL] = " (not in --quick)" };
    const cairn_study_entry *entry;
    for (int i = 0; (entry = cairn_entry_at(i)); i++) {
        printf("%-20s %-7s %-22s %s%s\n", entry->name, entry->paper, entry->item, entry->summary,
               when[entry->size]);
    }
}

static void write_csv_head(FILE *csv)
{
    fprintf(csv, "entry,what,published,reference,ours,tolerance,judged_by,verdict,why\n");
}

/* A number and a comma; only the comma where there is none. */
static void put_cell(FILE *csv, bool there, int digits, double value)
{
    if (there)
        fprintf(csv, "%.*g", digits, value);
    fputc(',', csv);
}

static void write_csv_rows(FILE *csv, const cairn_computed *c)
{
    for (int i = 0; i < c->study.finding_count; i++) {
        const cairn_finding *f = &c->study.findings[i];
        fprintf(csv, "%s,\"%s\",", c->entry->name, f->what);
        put_cell(csv, f->published != 0, 17, f->published);
        put_cell(csv, f->reference != 0, 17, f->reference);
        put_cell(csv, true, 17, f->ours);
        put_cell(csv, !f->statement, 3, f->within);
        fprintf(csv, "%s,%s,\"%s\"\n",
                f->statement        ? "statement"
                : f->published != 0 ? "published"
                                    : "reference",
                cairn_match_name(f->match), f->why);
    }
}

/* ---- a call of the command ------------------------------------------------------------------- */

/* The state of one call of the command. */
typedef struct session {
    const char *folder;
    cairn_computed *items; /* in the order of the report */
    int count, printed;
    bool broken; /* something could not be written */
} session;

/* ---- files ----------------------------------------------------------------------------------- */

static void complain(session *s, const char *name, const char *end, const char *reason)
{
    fprintf(stderr, "cairn reproduce: %s/%s%s: %s\n", s->folder, name, end, reason);
    s->broken = true;
}

/* NULL after a message. */
static cairn_output *open_file(session *s, const char *name, const char *end)
{
    char path[REPRODUCE_PATH];
    cairn_output *file = NULL;
    cairn_error error = { .message = "the path is too long" };
    if (snprintf(path, sizeof path, "%s/%s%s", s->folder, name, end) < (int)sizeof path)
        cairn_output_create(path, &file, &error);
    if (!file)
        complain(s, name, end, error.message);
    return file;
}

static void close_file(session *s, cairn_output *file, const char *name, const char *end)
{
    cairn_error error = { 0 };
    if (cairn_output_commit(file, &error) != CAIRN_OK)
        complain(s, name, end, error.message);
}

static void write_page(session *s, const cairn_computed *c)
{
    cairn_output *page = open_file(s, c->entry->name, ".html");
    if (!page)
        return;
    cairn_page_write(cairn_output_stream(page), s->folder, c);
    close_file(s, page, c->entry->name, ".html");
}

static void write_rows(session *s)
{
    cairn_output *csv = open_file(s, "rows", ".csv");
    if (!csv)
        return;
    write_csv_head(cairn_output_stream(csv));
    for (int i = 0; i < s->count; i++)
        write_csv_rows(cairn_output_stream(csv), &s->items[i]);
    close_file(s, csv, "rows", ".csv");
}

static void write_report(session *s)
{
    cairn_output *report = open_file(s, "report", ".html");
    if (!report)
        return;
    cairn_page_report(cairn_output_stream(report), s->folder, s->items, s->count);
    close_file(s, report, "report", ".html");
}

/* ---- computing ------------------------------------------------------------------------------- */

/* Print the items that have ended, in order, up to the first that has not. */
static void print_ready(session *s)
{
    while (s->printed < s->count && s->items[s->printed].state == ENTRY_ENDED)
        print_computed(&s->items[s->printed++]);
}

static void item_ended(void *context, cairn_computed *item)
{
    write_page(context, item);
    print_ready(context);
}

static void warn_undrawn(const session *s)
{
    int undrawn = 0;
    bool no_gnuplot = false;
    for (int i = 0; i < s->count; i++) {
        undrawn += s->items[i].undrawn;
        no_gnuplot = no_gnuplot || s->items[i].no_gnuplot;
    }
    if (undrawn)
        fprintf(stderr, "cairn reproduce: %d figures were not drawn%s; their scripts are in %s\n",
                undrawn, no_gnuplot ? ": there is no gnuplot" : "", s->folder);
}

/* Items after an interrupted one have not been printed yet. */
static void print_rest(session *s, bool all)
{
    cairn_verdict_count count = { { 0 } };
    for (int i = 0; i < s->count; i++) {
        if (i >= s->printed && s->items[i].state == ENTRY_ENDED)
            print_computed(&s->items[i]);
        if (s->items[i].state == ENTRY_ENDED)
            cairn_verdict_count_add(&count, &s->items[i]);
        else
            printf("%s: interrupted\n", s->items[i].entry->name);
    }
    if (all)
        print_count(&count);
}

static int exit_code(const session *s)
{
    bool failed = s->broken;
    for (int i = 0; i < s->count; i++)
        failed = failed || s->items[i].problem[0];
    if (cairn_interrupt_signal())
        return 128 + cairn_interrupt_signal();
    return failed ? EXIT_FAILED : EXIT_DONE;
}

static int compute(session *s, const cairn_arguments *arguments, bool all)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int width = arguments->reproduce.jobs > 0 ? arguments->reproduce.jobs : (int)processors;
    cairn_jobs jobs = { .items = s->items,
                        .count = s->count,
                        .width = width,
                        .quick = arguments->reproduce.quick,
                        .quiet = arguments->quiet,
                        .folder = s->folder,
                        .ended = item_ended,
                        .context = s };
    cairn_jobs_run(&jobs);
    print_rest(s, all);
    warn_undrawn(s);
    if (all) {
        write_rows(s);
        write_report(s);
    }
    if (!s->broken)
        printf("written: %s/%s.html\n", s->folder, all ? "report" : s->items[0].entry->name);
    return exit_code(s);
}

/* The named entry, or with NULL all of this size or less; false: no memory. */
static bool choose_items(session *s, const cairn_study_entry *named, bool quick)
{
    const cairn_study_entry *entry;
    int count = 0;
    while (cairn_entry_at(count))
        count++;
    s->items = cairn_block_take((size_t)count, sizeof *s->items);
    for (int i = 0; s->items && (entry = cairn_entry_at(i)); i++)
        if (named ? entry == named : entry->size <= (quick ? CAIRN_QUICK : CAIRN_FULL))
            s->items[s->count++].entry = entry;
    return s->items;
}

static void session_clear(session *s)
{
    for (int i = 0; i < s->count; i++)
        cairn_study_clear(&s->items[i].study);
    cairn_block_free(s->items);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int unknown(const char *name)
{
    enum { MOST = 128 };
    const char *names[MOST];
    int count = 0;
    const cairn_study_entry *entry;
    while (count < MOST && (entry = cairn_entry_at(count)))
        names[count++] = entry->name;
    const char *nearest = cairn_nearest_name(name, names, count);
    fprintf(stderr, "cairn reproduce: unknown item '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, "\nTry 'cairn reproduce --list'.\n");
    return EXIT_USAGE;
}

static int reproduce(const cairn_arguments *arguments)
{
    session s = { .folder = arguments->out ? arguments->out : "out/reproduce" };
    const char *name = arguments->operand ? arguments->operand : "all";
    const cairn_study_entry *entry = cairn_entry_find(name);
    if (arguments->reproduce.list) {
        print_entries();
        return EXIT_DONE;
    }
    if (!entry && strcmp(name, "all") != 0)
        return unknown(name);
    int code = cairn_folder_prepare("reproduce", s.folder);
    if (code != EXIT_DONE)
        return code;
    code = EXIT_FAILED;
    if (!choose_items(&s, entry, arguments->reproduce.quick))
        fprintf(stderr, "cairn reproduce: %s\n", cairn_status_text(CAIRN_NO_MEMORY));
    else
        code = compute(&s, arguments, !entry);
    session_clear(&s);
    return code;
}

static const char *take_list(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->reproduce.list = true;
    return NULL;
}

static const char *take_folder(cairn_arguments *arguments, const char *value)
{
    return cairn_flag_out.take(arguments, value);
}

static const char *take_quick(cairn_arguments *arguments, const char *value)
{
    (void)value;
    arguments->reproduce.quick = true;
    return NULL;
}

static const char *take_jobs(cairn_arguments *arguments, const char *value)
{
    size_t length = strlen(value);
    if (length == 0 || length > 2 || strspn(value, "0123456789") != length || atoi(value) == 0)
        return "expected the number of items to compute at a time, 1 to 99";
    arguments->reproduce.jobs = atoi(value);
    return NULL;
}

static const cairn_flag flag_list = { "--list", 0, NULL, "list all items, compute nothing",
                                      take_list };
static const cairn_flag flag_quick = { "--quick", 0, NULL,
                                       "small sizes, and only items that take seconds",
                                       take_quick };
static const cairn_flag flag_jobs = { "--jobs", 'j', "N",
                                      "compute N items at a time (default: one per processor)",
                                      take_jobs };
static const cairn_flag flag_out = { "--out", 'o', "DIR",
                                     "write pages and figures to DIR (default: out/reproduce)",
                                     take_folder };
static const cairn_flag *const flags[] = { &flag_list, &flag_quick,       &flag_jobs,
                                           &flag_out,  &cairn_flag_quiet, NULL };

const cairn_command cairn_command_reproduce = {
    .name = "reproduce",
    .operand = "[NAME]",
    .summary = "Recompute published tables and figures, with a verdict for each number",
    .details =
        "NAME is an item of 'cairn reproduce --list', or all (the default). Writes a page with\n"
        "figures for each item to DIR (default: out/reproduce), and report.html and rows.csv\n"
        "for all of them. Ctrl-C keeps the items that are done.\n"
        "Exit codes: 0 success, 1 an item could not be computed or a file could not be\n"
        "written, 2 usage error; 129, 130 and 143: interrupted.",
    .flags = flags,
    .run = reproduce,
};

/* ---- entries in processes of their own ------------------------------------------------------- */

/* Entries in processes of their own (jobs.c): what a process computes and sends,
 * and what becomes of it. The texts of figures are constants of the program: their addresses are
 * valid in the parent as well. */

/* What a process sends first; its rows and its figures follow. */
typedef struct head {
    cairn_status status;
    int findings, figures, undrawn;
    bool no_gnuplot;
    char note[sizeof((cairn_study *)0)->note];
} head;

/* ---- in the child ---------------------------------------------------------------------------- */

static int compute_entry(const cairn_jobs *jobs, cairn_computed *c, int pipe)
{
    cairn_study *study = &c->study;
    /* others may run at the same time, and times are of one core */
    *study = (cairn_study){ .quick = jobs->quick, .threads = 1 };
    cairn_status status = c->entry->run(study);
    for (int i = 0; i < study->figure_count; i++)
        cairn_figure_draw(jobs->folder, c, i);
    head h = { .status = status != CAIRN_OK ? status : study->status,
               .findings = study->finding_count,
               .figures = study->figure_count,
               .undrawn = c->undrawn,
               .no_gnuplot = c->no_gnuplot };
    memcpy(h.note, study->note, sizeof h.note);
    bool sent =
        cairn_job_send(pipe, &h, sizeof h) &&
        cairn_job_send(pipe, study->findings, (size_t)h.findings * sizeof *study->findings) &&
        cairn_job_send(pipe, study->figures, (size_t)h.figures * sizeof *study->figures);
    cairn_study_clear(study);
    return sent ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int compute_item(void *context, int item, int pipe)
{
    const cairn_jobs *jobs = context;
    return compute_entry(jobs, &jobs->items[item], pipe);
}

/* ---- in the parent --------------------------------------------------------------------------- */

/* Bytes of a message into a new block; NULL: none or no memory. */
static void *take(const char **at, int count, size_t size)
{
    void *block = cairn_block_take((size_t)count, size);
    if (block)
        memcpy(block, *at, (size_t)count * size);
    *at += (size_t)count * size;
    return block;
}

/* False: not a complete message. */
static bool unpack(const cairn_job_end *end, cairn_computed *c)
{
    cairn_study *study = &c->study;
    const char *at = end->bytes;
    head h;
    if (end->count < sizeof h)
        return false;
    memcpy(&h, at, sizeof h);
    at += sizeof h;
    if (end->count != sizeof h + (size_t)h.findings * sizeof *study->findings +
                          (size_t)h.figures * sizeof *study->figures)
        return false;
    study->findings = take(&at, h.findings, sizeof *study->findings);
    study->figures = take(&at, h.figures, sizeof *study->figures);
    study->finding_count = study->findings ? h.findings : 0;
    study->figure_count = study->figures ? h.figures : 0;
    memcpy(study->note, h.note, sizeof h.note);
    c->undrawn = h.undrawn;
    c->no_gnuplot = h.no_gnuplot;
    if (h.status != CAIRN_OK)
        snprintf(c->problem, sizeof c->problem, "%s", cairn_status_text(h.status));
    return true;
}

/* What the process sent, or how it ended, goes into the item. */
static void end_item(void *context, int item, const cairn_job_end *end)
{
    const cairn_jobs *jobs = context;
    cairn_computed *c = &jobs->items[item];
    c->seconds = end->seconds;
    c->cpu = end->cpu;
    if (end->problem[0])
        snprintf(c->problem, sizeof c->problem, "%s", end->problem);
    else if (!unpack(end, c))
        snprintf(c->problem, sizeof c->problem, "its process ended without a result");
    c->state = ENTRY_ENDED;
    jobs->ended(jobs->context, c);
}

/* Estimated seconds of an item. With --quick all are short. */
static double weight_of(void *context, int item)
{
    const cairn_jobs *jobs = context;
    double cpu = jobs->items[item].entry->cpu;
    return jobs->quick ? fmin(cpu, 4) : cpu;
}

static const char *name_of(void *context, int item)
{
    const cairn_jobs *jobs = context;
    return jobs->items[item].entry->name;
}

void cairn_jobs_run(const cairn_jobs *jobs)
{
    const cairn_work work = { .count = jobs->count,
                              .width = jobs->width,
                              .quiet = jobs->quiet,
                              .noun = "items",
                              .context = (void *)jobs,
                              .weight = weight_of,
                              .name = name_of,
                              .compute = compute_item,
                              .ended = end_item };
    cairn_work_do(&work);
}
