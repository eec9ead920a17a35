/* reproduce_print.c - what `cairn reproduce` prints, and its rows as CSV. */
#include <string.h>

#include "reproduce.h"

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

void cairn_print_computed(const cairn_computed *c)
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

void cairn_print_count(const cairn_verdict_count *count)
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

void cairn_print_entries(void)
{
    static const char *const when[] = { [CAIRN_QUICK] = "", [CAIRN_FULL] = " (not in --quick)" };
    const cairn_entry *entry;
    for (int i = 0; (entry = cairn_entry_at(i)); i++) {
        printf("%-20s %-7s %-22s %s%s\n", entry->name, entry->paper, entry->item, entry->summary,
               when[entry->size]);
    }
}

void cairn_csv_head(FILE *csv)
{
    fprintf(csv, "entry,what,published,reference,ours,tolerance,judged_by,verdict,why\n");
}

/* A number and a comma; nothing where there is none. */
static void put_cell(FILE *csv, bool there, int digits, double value)
{
    if (there)
        fprintf(csv, "%.*g", digits, value);
    fputc(',', csv);
}

void cairn_csv_rows(FILE *csv, const cairn_computed *c)
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
