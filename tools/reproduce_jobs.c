/* reproduce_jobs.c - entries in processes of their own (jobs.c): what a process computes and sends,
 * and what becomes of it. The texts of figures are constants of the program: their addresses are
 * valid in the parent as well. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "reproduce.h"

/* What a process sends first; its rows and its figures follow. */
typedef struct head {
    cairn_status status;
    int findings, figures, undrawn;
    bool no_gnuplot;
    char note[sizeof((cairn_study *)0)->note];
} head;

/* ---- in the child ---------------------------------------------------------------------------- */

static int compute(const cairn_jobs *jobs, cairn_computed *c, int pipe)
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
    return compute(jobs, &jobs->items[item], pipe);
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
