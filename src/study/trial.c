/* trial.c - runs solvers on problems and keeps what came of it; writes it as a table. */
#include "io/trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "io/file.h"
#include "io/json.h"

const char *cairn_verdict_name(cairn_verdict verdict)
{
    static const char *const names[CAIRN_VERDICT_COUNT] = { "solved", "missed", "failed",
                                                            "not treated" };
    return (unsigned)verdict < CAIRN_VERDICT_COUNT ? names[verdict] : NULL;
}

cairn_status cairn_trials_create(cairn_trials **out)
{
    cairn_trials *trials = cairn_memory_zeroed(1, sizeof *trials);
    *out = NULL;
    if (!trials)
        return CAIRN_NO_MEMORY;
    cairn_status status = cairn_workspace_create(&trials->workspace);
    if (status == CAIRN_OK)
        *out = trials;
    else
        cairn_trials_destroy(trials);
    return status;
}

void cairn_trials_destroy(cairn_trials *trials)
{
    if (!trials)
        return;
    for (size_t i = 0; i < trials->name_count; i++)
        cairn_memory_free(trials->names[i]);
    cairn_memory_free(trials->names);
    cairn_memory_free(trials->items);
    cairn_workspace_destroy(trials->workspace);
    cairn_arena_destroy(&trials->scratch);
    cairn_memory_free(trials);
}

void cairn_trials_set_threads(cairn_trials *trials, int threads)
{
    trials->threads_set = true;
    trials->threads = threads;
}

void cairn_trials_set_repeats(cairn_trials *trials, int repeats)
{
    trials->repeats = repeats;
}

/* ---- one trial ------------------------------------------------------------------------------ */

/* The name, copied once for all trials of a problem. */
static cairn_status keep_name(cairn_trials *t, const char *name, const char **out)
{
    for (size_t i = 0; i < t->name_count; i++)
        if (strcmp(t->names[i], name) == 0) {
            *out = t->names[i];
            return CAIRN_OK;
        }
    TRY(cairn_memory_reserve((void **)&t->names, &t->name_capacity, t->name_count + 1,
                             sizeof *t->names));
    char *copy = cairn_memory_text(name);
    if (!copy)
        return CAIRN_NO_MEMORY;
    *out = t->names[t->name_count++] = copy;
    return CAIRN_OK;
}

/* The name of a solver as the library keeps it; NULL: unknown. */
static const char *find_solver(const char *name)
{
    for (int i = 0; cairn_solver_name(i); i++)
        if (name && strcmp(cairn_solver_name(i), name) == 0)
            return cairn_solver_name(i);
    return NULL;
}

typedef struct answer {
    double *r, *v, *u;
} answer;

static cairn_status take_answer(cairn_trials *t, const cairn_problem *p, answer *a)
{
    size_t size = (size_t)p->dimension * (size_t)p->contacts;
    cairn_arena_reset(&t->scratch);
    a->r = cairn_arena_doubles(&t->scratch, size);
    a->u = cairn_arena_doubles(&t->scratch, size);
    a->v = cairn_arena_doubles(&t->scratch, (size_t)p->blocks * (size_t)p->block_size);
    return a->r && a->u && a->v ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void restart(const cairn_problem *p, const double *start, const answer *a)
{
    size_t size = (size_t)p->dimension * (size_t)p->contacts * sizeof(double);
    if (start && size)
        memcpy(a->r, start, size);
    else
        memset(a->r, 0, size);
}

static const double LONGEST = 1; /* s: for which a solve is repeated */

/* The solve, once and then as often as is asked for: the same answer, and the shortest time. */
static void solve_timed(const cairn_trials *trials, const cairn_problem *p,
                        const cairn_solve_options *options, const double *start, const answer *a,
                        cairn_trial *trial)
{
    double first = cairn_clock_seconds(), began = first, now = first;
    trial->seconds = INFINITY;
    for (int k = 0; k <= trials->repeats && now - first < LONGEST; k++) {
        restart(p, start, a);
        began = cairn_clock_seconds();
        trial->status =
            cairn_solve(p, options, trials->workspace, a->r, a->v, a->u, &trial->report);
        now = cairn_clock_seconds();
        trial->seconds = fmin(trial->seconds, now - began);
    }
}

/* Exact Coulomb friction, whatever cones and law were asked for. */
static cairn_residual judge_coulomb(const cairn_problem *p, const answer *a)
{
    cairn_problem round = *p;
    cairn_judgement judgement;
    round.directions = 0;
    cairn_judge(&round, CAIRN_LAW_COULOMB, a->r, a->v, a->u, &judgement);
    return judgement.coulomb;
}

static void conclude(const cairn_problem *p, const answer *a, cairn_trial *trial)
{
    if (trial->status != CAIRN_OK) {
        bool untreated = trial->status == CAIRN_UNSUPPORTED;
        trial->verdict = untreated ? CAIRN_VERDICT_NOT_TREATED : CAIRN_VERDICT_FAILED;
        trial->report = (cairn_solve_report){ 0 };
        return;
    }
    const cairn_residual *asked = &trial->report.judgement.asked;
    double residual = trial->fclib_measure ? asked->fclib : asked->relative;
    trial->verdict = residual <= trial->tolerance ? CAIRN_VERDICT_SOLVED : CAIRN_VERDICT_MISSED;
    trial->coulomb = judge_coulomb(p, a);
}

cairn_status cairn_trials_run(cairn_trials *trials, const char *name, const cairn_problem *p,
                              const cairn_solve_options *options, const double *start)
{
    answer a;
    cairn_trial trial = { .dimension = p->dimension,
                          .contacts = p->contacts,
                          .solver = find_solver(options->solver),
                          .law = options->law,
                          .directions = p->directions,
                          .tolerance = options->tolerance,
                          .fclib_measure = options->fclib_measure };
    trials->impulses = NULL;
    if (!trial.solver)
        return CAIRN_NOT_FOUND;
    TRY(keep_name(trials, name, &trial.problem));
    TRY(cairn_memory_reserve((void **)&trials->items, &trials->capacity, trials->count + 1,
                             sizeof *trials->items));
    TRY(take_answer(trials, p, &a));
    if (trials->threads_set)
        cairn_parallel_threads(trials->threads);
    solve_timed(trials, p, options, start, &a, &trial);
    conclude(p, &a, &trial);
    trials->impulses = trial.status == CAIRN_OK ? a.r : NULL;
    trials->items[trials->count++] = trial;
    return CAIRN_OK;
}

int cairn_trials_count(const cairn_trials *trials)
{
    return (int)trials->count;
}

const cairn_trial *cairn_trials_at(const cairn_trials *trials, int index)
{
    return index >= 0 && (size_t)index < trials->count ? &trials->items[index] : NULL;
}

const double *cairn_trials_impulses(const cairn_trials *trials)
{
    return trials->impulses;
}

/* ---- the table ------------------------------------------------------------------------------ */

/* A text in quotes, with quotes doubled, as RFC 4180 has it. */
static void write_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}

static void write_number(FILE *out, double value)
{
    char text[32];
    cairn_number_text(value, text);
    fprintf(out, ",%s", text);
}

static void write_residuals(FILE *out, const cairn_trial *t)
{
    bool known = t->verdict == CAIRN_VERDICT_SOLVED || t->verdict == CAIRN_VERDICT_MISSED;
    const cairn_judgement *j = &t->report.judgement;
    const double values[] = { j->asked.relative,   j->asked.worst,   j->asked.fclib,
                              t->coulomb.relative, t->coulomb.worst, t->coulomb.fclib,
                              j->cone_violation };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (known)
            write_number(out, values[i]);
        else
            fputc(',', out);
}

static void write_trial(FILE *out, const cairn_trial *t)
{
    write_text(out, t->problem);
    fprintf(out, ",%d,%d,%s,%s,%s,%d,%s", t->dimension, t->contacts, t->solver,
            t->report.solver ? t->report.solver : "", cairn_law_name(t->law), t->directions,
            t->fclib_measure ? "fclib" : "strict");
    write_number(out, t->tolerance);
    write_residuals(out, t);
    fprintf(out, ",%lld,%lld", (long long)t->report.iterations,
            (long long)t->report.outer_iterations);
    write_number(out, t->seconds);
    fprintf(out, ",%s,", cairn_verdict_name(t->verdict));
    write_text(out, t->status == CAIRN_OK ? t->report.remark : cairn_status_text(t->status));
    fputc('\n', out);
}

cairn_status cairn_trials_write_csv(const cairn_trials *trials, const char *path,
                                    cairn_error *error)
{
    cairn_file file;
    TRY(cairn_file_create(path, &file, error));
    fputs("problem,dimension,contacts,solver,ran,law,directions,measure,tolerance,"
          "asked_relative,asked_worst,asked_fclib,coulomb_relative,coulomb_worst,coulomb_fclib,"
          "cone_violation,iterations,outer_iterations,seconds,verdict,remark\n",
          file.stream);
    for (size_t i = 0; i < trials->count; i++)
        write_trial(file.stream, &trials->items[i]);
    return cairn_file_commit(&file, error);
}
