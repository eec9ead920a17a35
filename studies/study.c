/* study.c - studies: their rows and figures, and the entries of `cairn reproduce`. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "studies/study.h"

/* ---- rows and figures ------------------------------------------------------------------------ */

static const double same_within = 1e-3;

const char *cairn_match_name(cairn_match match)
{
    static const char *const names[] = { "same", "close", "trend", "differs" };
    return names[match];
}

void cairn_study_clear(cairn_study *study)
{
    for (int i = 0; i < study->series_count; i++)
        cairn_block_free(study->series[i].points);
    cairn_block_free(study->series);
    cairn_block_free(study->figures);
    cairn_block_free(study->findings);
    *study = (cairn_study){ .quick = study->quick, .threads = study->threads };
}

/* Room for one more item; false: out of memory, which the study records. */
static bool grow(cairn_study *study, void *address, int count, int *capacity, size_t size)
{
    if (study->status == CAIRN_OK)
        study->status = cairn_block_grow(address, count, capacity, size);
    return study->status == CAIRN_OK;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static cairn_finding *add_finding(cairn_study *study, const cairn_study_values *row,
                                  const char *format, va_list arguments)
{
    if (!grow(study, &study->findings, study->finding_count, &study->finding_capacity,
              sizeof *study->findings))
        return NULL;
    cairn_finding *f = &study->findings[study->finding_count++];
    *f = (cairn_finding){ .published = row->published,
                          .reference = row->reference,
                          .ours = row->ours,
                          .within = row->within };
    vsnprintf(f->what, sizeof f->what, format, arguments);
    snprintf(f->why, sizeof f->why, "%s", row->why ? row->why : "");
    return f;
}

static double relative(double ours, double expected)
{
    return fabs(ours - expected) / fabs(expected);
}

/* By the published number when there is one, else by the reference; with both, the reference must
 * hold as well. A NaN differs from everything. */
static void judge(const cairn_study_values *row, cairn_finding *f)
{
    double expected = row->published != 0 ? row->published : row->reference;
    f->difference = relative(row->ours, expected);
    f->match = f->difference <= fmin(same_within, row->within) ? CAIRN_MATCH_SAME
               : f->difference <= row->within                  ? CAIRN_MATCH_CLOSE
                                                               : CAIRN_MATCH_DIFFERS;
    if (row->published != 0 && row->reference != 0 &&
        !(relative(row->ours, row->reference) <= row->within_reference)) {
        f->match = CAIRN_MATCH_DIFFERS;
        snprintf(f->why, sizeof f->why, "not the reference value, which is known within %g",
                 row->within_reference);
    }
}

void cairn_study_row(cairn_study *study, const cairn_study_values *row, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cairn_finding *f = add_finding(study, row, format, arguments);
    va_end(arguments);
    if (f)
        judge(row, f);
}

static void add_claim(cairn_study *study, bool holds, const cairn_study_values *row,
                      const char *format, va_list arguments)
{
    cairn_finding *f = add_finding(study, row, format, arguments);
    if (!f)
        return;
    f->statement = true;
    f->match = holds ? CAIRN_MATCH_TREND : CAIRN_MATCH_DIFFERS;
}

void cairn_study_claim(cairn_study *study, bool holds, const cairn_study_values *row,
                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_claim(study, holds, row, format, arguments);
    va_end(arguments);
}

void cairn_study_time_claim(cairn_study *study, const cairn_trial *trial, bool holds,
                            const cairn_study_values *row, const char *format, ...)
{
    char why[sizeof((cairn_finding *)0)->why];
    bool solved = trial->verdict == CAIRN_VERDICT_SOLVED;
    cairn_study_values told = *row;
    va_list arguments;
    if (!solved) {
        snprintf(why, sizeof why,
                 "gave up after %.3g s, with a residual of %.1e: no time of a "
                 "solve to go by",
                 trial->seconds, trial->report.judgement.asked.relative);
        told.why = why;
    }
    va_start(arguments, format);
    add_claim(study, solved && holds, &told, format, arguments);
    va_end(arguments);
}

void cairn_study_note(cairn_study *study, const char *text)
{
    snprintf(study->note, sizeof study->note, "%s", text);
}

/* ---- figures --------------------------------------------------------------------------------- */

void cairn_study_figure(cairn_study *study, const cairn_figure *figure)
{
    if (!grow(study, &study->figures, study->figure_count, &study->figure_capacity,
              sizeof *study->figures))
        return;
    cairn_figure *f = &study->figures[study->figure_count++];
    *f = *figure;
    f->first = study->series_count;
    f->count = 0;
}

int cairn_study_series(cairn_study *study, cairn_series_style style, const char *format, ...)
{
    va_list arguments;
    if (!grow(study, &study->series, study->series_count, &study->series_capacity,
              sizeof *study->series))
        return -1;
    cairn_series *s = &study->series[study->series_count];
    *s = (cairn_series){ .style = style, .colour = study->figures[study->figure_count - 1].count };
    va_start(arguments, format);
    vsnprintf(s->name, sizeof s->name, format, arguments);
    va_end(arguments);
    study->figures[study->figure_count - 1].count++;
    return study->series_count++;
}

void cairn_study_point(cairn_study *study, int series, double x, double y, double z)
{
    if (study->status != CAIRN_OK)
        return;
    cairn_series *s = &study->series[series];
    if (!grow(study, &s->points, s->count, &s->capacity, sizeof *s->points))
        return;
    memcpy(s->points[s->count++], (double[3]){ x, y, z }, sizeof *s->points);
}

void cairn_study_colour(cairn_study *study, int series, int colour)
{
    if (study->status == CAIRN_OK)
        study->series[series].colour = colour;
}

void cairn_study_break(cairn_study *study, int series)
{
    cairn_study_point(study, series, NAN, NAN, NAN);
}

/* ---- pictures of a world --------------------------------------------------------------------- */

void cairn_view_balls(cairn_study *study, const cairn_world *world, const cairn_figure *figure,
                      int first, double plane)
{
    cairn_bodies b = cairn_world_bodies(world);
    bool flat = cairn_world_dimension(world) == 2;
    cairn_figure f = *figure;
    f.x_label = "x (m)";
    f.y_label = flat ? "y (m)" : "z (m)";
    f.equal = f.bare = true;
    cairn_study_figure(study, &f);
    int series = cairn_study_series(study, CAIRN_SERIES_DISKS, "balls");
    for (int i = first; i < b.count; i++) {
        double r = cairn_bodies_shape(&b, i)->radius, away = flat ? 0 : fabs(b.x[i].y - plane);
        if (away < r)
            cairn_study_point(study, series, b.x[i].x, flat ? b.x[i].y : b.x[i].z,
                              sqrt(r * r - away * away));
    }
}

/* ---- all entries, paper by paper ------------------------------------------------------------- */

static const struct {
    const cairn_study_entry *entries;
    const int *count;
} papers[] = {
    { cairn_entries_a06, &cairn_entries_a06_count },
    { cairn_entries_st96, &cairn_entries_st96_count },
    { cairn_entries_bl23, &cairn_entries_bl23_count },
    { cairn_entries_bl23_box, &cairn_entries_bl23_box_count },
    { cairn_entries_bl23_grains, &cairn_entries_bl23_grains_count },
    { cairn_entries_a05, &cairn_entries_a05_count },
    { cairn_entries_c09, &cairn_entries_c09_count },
    { cairn_entries_shaken, &cairn_entries_shaken_count },
    { cairn_entries_pebble_bed, &cairn_entries_pebble_bed_count },
};

const cairn_study_entry *cairn_entry_at(int index)
{
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++) {
        if (index < *papers[i].count)
            return &papers[i].entries[index];
        index -= *papers[i].count;
    }
    return NULL;
}

const cairn_study_entry *cairn_entry_find(const char *name)
{
    const cairn_study_entry *entry;
    for (int i = 0; (entry = cairn_entry_at(i)); i++)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}

/* ---- heap memory ----------------------------------------------------------------------------- */

void *cairn_block_take(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

cairn_status cairn_block_grow(void *block_address, int count, int *capacity, size_t size)
{
    void *block;
    if (count < *capacity)
        return CAIRN_OK;
    int more = *capacity > 0 ? 2 * *capacity : 16;
    memcpy(&block, block_address, sizeof block);
    block = realloc(block, (size_t)more * size);
    if (!block)
        return CAIRN_NO_MEMORY;
    memcpy(block_address, &block, sizeof block);
    *capacity = more;
    return CAIRN_OK;
}

void cairn_block_free(void *block)
{
    free(block);
}
