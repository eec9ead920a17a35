/* profile.c - the performance profile of Dolan and More (2002), as SVG.
 *
 * 1. t(p, s): the time of solver s on problem p, infinite when it did not solve it.
 * 2. ratio(p, s) = t(p, s) / min over s of t(p, s).
 * 3. rho_s(tau) = share of all problems with ratio(p, s) <= tau: a staircase for each solver, drawn
 *    over log2(tau).
 * A solver that treats none of the problems is left out. At tau = 1 stands how often a solver is
 * the fastest, at the right how much it solves at all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/status.h"
#include "io/file.h"
#include "io/trial.h"

/* The sheet, in pixels. */
enum { WIDTH = 900, HEIGHT = 560, LEFT = 80, RIGHT = 690, TOP = 50, BOTTOM = 490, LEGEND = 710 };

static const double least_seconds = 1e-9; /* below this clocks mean nothing */

typedef struct profile {
    int problems, solvers;
    const char **problem, **solver;
    double *ratio;  /* problems x solvers; infinity: not solved */
    double *sorted; /* the finite ratios of one solver          */
    double widest;  /* log2 of the largest finite ratio          */
} profile;

/* ---- (1), (2): ratios ----------------------------------------------------------------------- */

static int place_of(const char **names, int *count, const char *name)
{
    for (int i = 0; i < *count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    names[*count] = name;
    return (*count)++;
}

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

/* Colours that differ in lightness too; solvers beyond the table repeat them dashed. */
static const char *const colours[] = {
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#8b4513",
};
enum { COLOURS = sizeof colours / sizeof colours[0] };

static const char *dashes_of(int solver)
{
    static const char *const dashes[] = { "none", "8 4", "2 3" };
    return dashes[solver / COLOURS % 3];
}

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

/* Lines at every power of 2, or every few of them; 10 at most. */
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

/* The ratios of one solver where it solved, ascending; returns how many. */
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

/* (3) */
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
    p->widest = fmax(p->widest, 1);
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
