/* reproduce.c - `cairn reproduce`: tables and figures of the papers, computed again and judged. */
#include "reproduce.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "command.h"

/* What a call of the command works with. */
typedef struct session {
    const char *folder;
    bool quick;
    FILE *report, *csv; /* NULL: not written */
    cairn_verdict_count count;
    bool broken; /* something could not be written */
} session;

/* ---- files ----------------------------------------------------------------------------------- */

static bool make_folder(const char *folder)
{
    char path[REPRODUCE_PATH];
    if (snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        return false;
    for (char *slash = path + 1; *slash; slash++)
        if (*slash == '/') {
            *slash = 0;
            if (mkdir(path, 0777) != 0 && errno != EEXIST)
                return false;
            *slash = '/';
        }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/* NULL after a message. */
static FILE *open_file(session *s, const char *name, const char *end)
{
    char path[REPRODUCE_PATH];
    FILE *file = NULL;
    if (snprintf(path, sizeof path, "%s/%s%s", s->folder, name, end) < (int)sizeof path)
        file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "cairn reproduce: %s/%s%s: %s\n", s->folder, name, end, strerror(errno));
        s->broken = true;
    }
    return file;
}

static void close_file(session *s, FILE *file)
{
    if (file && fclose(file) != 0) {
        fprintf(stderr, "cairn reproduce: writing into %s failed: %s\n", s->folder,
                strerror(errno));
        s->broken = true;
    }
}

static void write_csv(FILE *csv, const cairn_computed *c)
{
    for (int i = 0; i < c->study->finding_count; i++) {
        const cairn_finding *f = &c->study->findings[i];
        fprintf(csv, "%s,\"%s\",%.17g,%.17g,%.17g,%.3g,%s,%s,\"%s\"\n", c->entry->name, f->what,
                f->published, f->reference, f->ours, f->within,
                f->statement        ? "statement"
                : f->published != 0 ? "published"
                                    : "reference",
                cairn_match_name(f->match), f->why);
    }
}

static void write_page(session *s, const cairn_computed *c)
{
    char title[128];
    FILE *page = open_file(s, c->entry->name, ".html");
    if (!page)
        return;
    snprintf(title, sizeof title, "%s %s", c->entry->paper, c->entry->item);
    cairn_page_begin(page, title);
    cairn_page_entry(page, s->folder, c);
    cairn_page_end(page);
    close_file(s, page);
}

/* ---- the terminal ---------------------------------------------------------------------------- */

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
    printf("%s %s: %s (%s, %.1f s)\n", c->entry->paper, c->entry->item, c->entry->summary,
           c->entry->name, c->seconds);
    print_rows(c->study);
    if (c->status != CAIRN_OK)
        printf("  could not be computed: %s\n", cairn_status_text(c->status));
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
    printf("%d items; verdicts, by what they were judged:\n  %-32s", count->entries, "");
    for (int m = 0; m < CAIRN_MATCH_COUNT; m++)
        printf(" %8s", cairn_match_name(m));
    puts("");
    print_counts("numbers printed in the papers", count->published);
    print_counts("an independent computation", count->reference);
    print_counts("statements of the papers", count->statements);
    if (count->failed)
        printf("  %d items could not be computed\n", count->failed);
}

static int list(void)
{
    const cairn_entry *entry;
    for (int i = 0; (entry = cairn_entry_at(i)); i++)
        printf("%-18s %-7s %-22s %s%s\n", entry->name, entry->paper, entry->item, entry->summary,
               entry->slow ? " (not in --quick)" : "");
    return EXIT_DONE;
}

/* ---- computing ------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(session *s, const cairn_entry *entry)
{
    cairn_study study = { .quick = s->quick };
    char path[REPRODUCE_PATH];
    double began = now();
    cairn_status status = entry->run(&study);
    cairn_computed c = { entry, &study, status != CAIRN_OK ? status : study.status, now() - began };
    for (int i = 0; i < study.figure_count; i++)
        cairn_figure_draw(s->folder, &c, i, path);
    print_computed(&c);
    write_page(s, &c);
    if (s->report)
        cairn_page_entry(s->report, s->folder, &c);
    if (s->csv)
        write_csv(s->csv, &c);
    cairn_verdict_count_add(&s->count, &c);
    cairn_study_clear(&study);
}

static void compute_all(session *s)
{
    const cairn_entry *entry;
    s->report = open_file(s, "report", ".html");
    s->csv = open_file(s, "rows", ".csv");
    if (!s->report || !s->csv)
        return;
    cairn_page_begin(s->report, "Published results, computed again");
    cairn_page_contents(s->report, s->quick);
    fprintf(s->csv, "entry,what,published,reference,ours,tolerance,judged_by,verdict,why\n");
    for (int i = 0; (entry = cairn_entry_at(i)); i++)
        if (!s->quick || !entry->slow)
            compute(s, entry);
    cairn_page_count(s->report, &s->count);
    cairn_page_end(s->report);
    print_count(&s->count);
}

static int unknown(const char *name)
{
    enum { MOST = 128 };
    const char *names[MOST];
    int count = 0;
    const cairn_entry *entry;
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
    session s = { .folder = arguments->out ? arguments->out : "out/reproduce",
                  .quick = arguments->reproduce.quick };
    const char *name = arguments->operand ? arguments->operand : "all";
    bool all = strcmp(name, "all") == 0;
    const cairn_entry *entry = cairn_entry_find(name);
    if (arguments->reproduce.list)
        return list();
    if (!all && !entry)
        return unknown(name);
    if (!make_folder(s.folder)) {
        fprintf(stderr, "cairn reproduce: %s: %s\n", s.folder, strerror(errno));
        return EXIT_FAILED;
    }
    if (all)
        compute_all(&s);
    else
        compute(&s, entry);
    close_file(&s, s.csv);
    close_file(&s, s.report);
    if (!s.broken)
        printf("written: %s/%s.html\n", s.folder, all ? "report" : name);
    return s.broken || s.count.failed ? EXIT_FAILED : EXIT_DONE;
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

static const cairn_flag flag_list = { "--list", 0, NULL, "name all items, compute nothing",
                                      take_list };
static const cairn_flag flag_quick = { "--quick", 0, NULL,
                                       "small sizes, and only what takes seconds", take_quick };
static const cairn_flag flag_out = { "--out", 'o', "DIR",
                                     "write pages and figures into DIR (default: out/reproduce)",
                                     take_folder };
static const cairn_flag *const flags[] = { &flag_list, &flag_quick, &flag_out, NULL };

const cairn_command cairn_command_reproduce = {
    .name = "reproduce",
    .operand = "[NAME]",
    .summary = "Compute published tables and figures again, with a verdict for each number",
    .details = "NAME is one of 'cairn reproduce --list', or all (the default). Writes a page with\n"
               "figures for each item into DIR (default: out/reproduce), and for all of them\n"
               "report.html and rows.csv.\n"
               "Exit codes: 0 done, 1 an item could not be computed or a file not be written,\n"
               "2 usage.",
    .flags = flags,
    .run = reproduce,
};
