/* trial.c - runs solvers on problems and records time, residuals and verdict; writes the records as
 * a table and as a performance profile. */
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cairn/output.h"
#include "file/file.h"

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

/* Find the stored copy of a name, or store one. Trials of the same problem share it. A linear
 * search is enough: the number of problems is small compared with the cost of solving them. */
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

/* The library's own copy of a solver's name, which the caller's string need not outlive; NULL:
 * unknown. */
static const char *find_solver(const char *name)
{
    for (int i = 0; cairn_solver_name(i); i++)
        if (name && strcmp(cairn_solver_name(i), name) == 0)
            return cairn_solver_name(i);
    return NULL;
}

/* Result of a solve, in the arena: impulses (N s), velocities of the blocks (m/s, rad/s) and
 * relative velocities of the contacts (m/s). */
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

/* Every repetition begins with the same impulses. A solve overwrites r with its answer, so without
 * this the second solve would start from the solution. */
static void restart(const cairn_problem *p, const double *start, const answer *a)
{
    size_t size = (size_t)p->dimension * (size_t)p->contacts * sizeof(double);
    if (start && size)
        memcpy(a->r, start, size);
    else
        memset(a->r, 0, size);
}

static const double LONGEST = 1; /* s: no further repetition begins after this time */

/* Solve once, then repeat as often as requested. The answer is the same each time; the shortest
 * time counts, because it is the least disturbed by other programs and by cold caches. */
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

/* Residual of exact Coulomb friction with circular cones, whatever cones and law the solver was
 * asked to use. It makes the answers of different laws comparable. */
static cairn_residual judge_coulomb(const cairn_problem *p, const answer *a)
{
    cairn_problem round = *p;
    cairn_judgement judgement;
    round.directions = 0;
    cairn_judge(&round, CAIRN_LAW_COULOMB, a->r, a->v, a->u, &judgement);
    return judgement.coulomb;
}

/* The verdict rests on the residual of the judge, not on the flag `converged` of the solver, so
 * that it means the same for every solver. A failed solve has no meaningful report, so the report
 * is cleared. */
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
    /* All memory is reserved before the solve: a trial that was computed cannot be lost
     * afterwards. */
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

static void write_number(FILE *out, double value)
{
    char text[32];
    cairn_number_text(value, text);
    fprintf(out, ",%s", text);
}

/* Without an answer there are no residuals; the cells stay empty, which readers of CSV take as
 * unknown. A zero would look like a perfect answer. */
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
    cairn_csv_quote(out, t->problem);
    fprintf(out, ",%d,%d,%s,%s,%s,%d,%s", t->dimension, t->contacts, t->solver,
            t->report.solver ? t->report.solver : "", cairn_law_name(t->law), t->directions,
            t->fclib_measure ? "fclib" : "strict");
    write_number(out, t->tolerance);
    write_residuals(out, t);
    fprintf(out, ",%lld,%lld", (long long)t->report.iterations,
            (long long)t->report.outer_iterations);
    write_number(out, t->seconds);
    fprintf(out, ",%s,", cairn_verdict_name(t->verdict));
    cairn_csv_quote(out, t->status == CAIRN_OK ? t->report.remark : cairn_status_text(t->status));
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

/* ---- performance profiles ---------------------------------------------------------------- */

/* The performance profile of Dolan and More (2002), as SVG.
 *
 * 1. t(p, s): the time of solver s on problem p, infinite if s did not solve it.
 * 2. ratio(p, s) = t(p, s) / min over s of t(p, s).
 * 3. rho_s(tau) = share of all problems with ratio(p, s) <= tau: a staircase for each solver, drawn
 *    over log2(tau).
 *
 * A solver that does not treat any of the problems is left out. The value at tau = 1 says how often
 * a solver is the fastest; the value at the right end says which share of the problems it solves at
 * all. */

/* Size of the picture and of the diagram in it, in pixels. */
enum { WIDTH = 900, HEIGHT = 560, LEFT = 80, RIGHT = 690, TOP = 50, BOTTOM = 490, LEGEND = 710 };

static const double least_seconds = 1e-9; /* s: below this, clocks mean nothing; avoids 0/0 */

typedef struct profile {
    int problems, solvers;
    const char **problem, **solver;
    double *ratio;  /* problems x solvers: times (s) first, then ratios; infinity: not solved */
    double *sorted; /* scratch: the finite ratios of one solver */
    double widest;  /* log2 of the largest finite ratio          */
} profile;

/* ---- (1), (2): ratios ----------------------------------------------------------------------- */

/* Index of a name in a list, to which it is added if it is new. The list has room for every
 * trial. */
static int place_of(const char **names, int *count, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    names[*count] = name;
    return (*count)++;
}

/* Count problems and solvers before the matrix is allocated. Solvers are listed only where they
 * treat a problem; a problem counts even if no solver solved it, as in Dolan and More. */
static cairn_status take_arrays(const cairn_trials *trials, cairn_arena *arena, profile *p)
{
    p->problem = cairn_arena_take(arena, trials->count, sizeof *p->problem);
    p->solver = cairn_arena_take(arena, trials->count, sizeof *p->solver);
    if (!p->problem || !p->solver)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < trials->count; i++) {
        place_of(p->problem, &p->problems, trials->items[i].problem);
        if (trials->items[i].verdict != CAIRN_VERDICT_NOT_TREATED)
            place_of(p->solver, &p->solvers, trials->items[i].solver);
    }
    size_t cells = (size_t)p->problems * (size_t)p->solvers;
    p->ratio = cairn_arena_take(arena, cells, sizeof(double));
    p->sorted = cairn_arena_take(arena, (size_t)p->problems, sizeof(double));
    return p->ratio && p->sorted ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* If a solver ran several times on one problem, the last time counts. */
static void fill_times(const cairn_trials *trials, profile *p)
{
    for (int i = 0; i < p->problems * p->solvers; i++)
        p->ratio[i] = INFINITY;
    for (size_t i = 0; i < trials->count; i++) {
        const cairn_trial *t = &trials->items[i];
        if (t->verdict != CAIRN_VERDICT_SOLVED)
            continue;
        int row = place_of(p->problem, &p->problems, t->problem);
        int column = place_of(p->solver, &p->solvers, t->solver);
        p->ratio[row * p->solvers + column] = fmax(t->seconds, least_seconds);
    }
}

/* A problem that nobody solved keeps its infinite entries: inf/inf would be NaN. */
static void divide_by_best(profile *p)
{
    for (int row = 0; row < p->problems; row++) {
        double *t = p->ratio + (size_t)row * (size_t)p->solvers, best = INFINITY;
        for (int s = 0; s < p->solvers; s++)
            best = fmin(best, t[s]);
        for (int s = 0; s < p->solvers && isfinite(best); s++) {
            t[s] /= best;
            if (isfinite(t[s]))
                p->widest = fmax(p->widest, log2(t[s]));
        }
    }
}

/* ---- drawing -------------------------------------------------------------------------------- */

/* Colours that also differ in lightness, so that curves can be told apart in grey. Solvers beyond
 * the table reuse the colours with dashed lines. */
static const char *const colours[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#8b4513",
};
enum { COLOURS = sizeof colours / sizeof colours[0] };

static const char *dashes_of(int solver)
{
    static const char *const dashes[] = { "none", "8 4", "2 3" };
    return dashes[solver / COLOURS % 3];
}

/* Pixel positions: from log2 of a ratio, and from a share in [0, 1]. */
static double across(const profile *p, double log_ratio)
{
    return LEFT + (RIGHT - LEFT) * log_ratio / p->widest;
}

static double up(double share)
{
    return BOTTOM - (BOTTOM - TOP) * share;
}

static void draw_text(FILE *out, double x, double y, const char *anchor, const char *text)
{
    fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void draw_line(FILE *out, double x1, double y1, double x2, double y2)
{
    fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", x1,
            y1, x2, y2);
}

/* Vertical lines at every power of 2, or at every few powers, so that there are at most 10. */
static void draw_ratios(FILE *out, const profile *p)
{
    int every = 1 + (int)(p->widest / 10);
    for (int k = 0; k <= p->widest; k += every) {
        char text[32];
        double x = across(p, k);
        draw_line(out, x, TOP, x, BOTTOM);
        snprintf(text, sizeof text, "%.0f", ldexp(1, k));
        draw_text(out, x, BOTTOM + 20, "middle", text);
    }
}

static void draw_axes(FILE *out, const profile *p)
{
    char text[96];
    draw_ratios(out, p);
    for (int k = 0; k <= 5; k++) {
        draw_line(out, LEFT, up(k / 5.0), RIGHT, up(k / 5.0));
        snprintf(text, sizeof text, "%d %%", 20 * k);
        draw_text(out, LEFT - 8, up(k / 5.0) + 5, "end", text);
    }
    fprintf(out,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"black\"/>\n",
            LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
    draw_text(out, (LEFT + RIGHT) / 2.0, BOTTOM + 48, "middle",
              "time relative to the fastest solver of the problem");
    fprintf(out,
            "<text transform=\"translate(22 %d) rotate(-90)\" text-anchor=\"middle\">share of the "
            "problems solved</text>\n",
            (TOP + BOTTOM) / 2);
    snprintf(text, sizeof text, "Performance profile: %d solvers, %d problems", p->solvers,
             p->problems);
    draw_text(out, (LEFT + RIGHT) / 2.0, TOP - 18, "middle", text);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sort the finite ratios of one solver into p->sorted, ascending; returns their number. */
static int sort_ratios(profile *p, int solver)
{
    int count = 0;
    for (int row = 0; row < p->problems; row++) {
        double ratio = p->ratio[row * p->solvers + solver];
        if (isfinite(ratio))
            p->sorted[count++] = ratio;
    }
    qsort(p->sorted, (size_t)count, sizeof(double), ascending);
    return count;
}

/* (3) The staircase of one solver: at each sorted ratio the curve rises by 1/problems. It continues
 * to the right edge, where its height is the share that the solver solved; then its line of the
 * legend. */
static void draw_solver(FILE *out, profile *p, int solver)
{
    int solved = sort_ratios(p, solver);
    const char *colour = colours[solver % COLOURS], *dashes = dashes_of(solver);
    double y = up(0), legend = TOP + 12 + 24.0 * solver;
    fprintf(out,
            "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" stroke-dasharray=\"%s\" "
            "points=\"%d,%.1f",
            colour, dashes, LEFT, y);
    for (int k = 0; k < solved; k++) {
        double x = across(p, log2(p->sorted[k]));
        fprintf(out, " %.1f,%.1f", x, y);
        y = up((k + 1.0) / p->problems);
        fprintf(out, " %.1f,%.1f", x, y);
    }
    fprintf(out, " %d,%.1f\"/>\n", RIGHT, y);
    fprintf(out,
            "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke-width=\"2\" stroke=\"%s\" "
            "stroke-dasharray=\"%s\"/>\n",
            LEGEND, legend - 5, LEGEND + 36, legend - 5, colour, dashes);
    fprintf(out, "<text x=\"%d\" y=\"%.1f\">%s: %d of %d</text>\n", LEGEND + 44, legend,
            p->solver[solver], solved, p->problems);
}

static void draw(FILE *out, profile *p)
{
    double needed = TOP + 24.0 * p->solvers + 12;
    int height = needed > HEIGHT ? (int)needed : HEIGHT;
    p->widest = fmax(p->widest, 1); /* one solver alone has only ratios 1, and log2(1) = 0 */
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"14\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            WIDTH, height, WIDTH, height);
    draw_axes(out, p);
    for (int s = 0; s < p->solvers; s++)
        draw_solver(out, p, s);
    fputs("</svg>\n", out);
}

static cairn_status write_profile(const cairn_trials *trials, const char *path, cairn_arena *arena,
                                  cairn_error *error)
{
    profile p = { 0 };
    cairn_file file;
    TRY(take_arrays(trials, arena, &p));
    fill_times(trials, &p);
    divide_by_best(&p);
    TRY(cairn_file_create(path, &file, error));
    draw(file.stream, &p);
    return cairn_file_commit(&file, error);
}

cairn_status cairn_trials_write_profile(const cairn_trials *trials, const char *path,
                                        cairn_error *error)
{
    cairn_arena arena = { 0 };
    cairn_status status = write_profile(trials, path, &arena, error);
    cairn_arena_destroy(&arena);
    return status;
}
