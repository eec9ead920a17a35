/* compare_write.c - a comparison as a table, and as a script that gnuplot draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "cairn/output.h"
#include "io/compare.h"
#include "io/file.h"
#include "io/json.h"

/* ---- compare.csv ---------------------------------------------------------------------------- */

static void write_number(FILE *out, double value)
{
    char text[32] = "";
    if (isfinite(value))
        cairn_number_text(value, text);
    fprintf(out, ",%s", text);
}

static void write_numbers(FILE *out, const double *values, size_t count, bool known)
{
    for (size_t i = 0; i < count; i++)
        write_number(out, known ? values[i] : NAN);
}

static const char *verdict(const cairn_compared *a)
{
    return a->status == CAIRN_OK            ? "done"
           : a->status == CAIRN_UNSUPPORTED ? "do not go together"
                                            : "failed";
}

/* In quotes, with quotes doubled, as RFC 4180 has it. */
static void write_remark(FILE *out, const cairn_compared *a)
{
    const char *text = a->error.message[0] ? a->error.message : cairn_status_text(a->status);
    fputs(",\"", out);
    for (const char *c = a->status == CAIRN_OK ? "" : text; *c; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputs("\"\n", out);
}

static void write_run(FILE *out, const cairn_compared *a)
{
    const cairn_run_difference *d = &a->difference;
    const cairn_run_summary *s = &a->summary;
    const cairn_certificate *worst = &s->worst;
    const double differences[] = { d->end_time, d->end_max, d->end_rms, d->whole_max,
                                   d->whole_rms };
    const double totals[] = { s->energy.kinetic + s->energy.potential,
                              a->energy_rise,
                              worst->penetration,
                              worst->judgement.asked.relative,
                              worst->judgement.coulomb.relative,
                              worst->dilatation,
                              worst->spurious_work,
                              s->mean_upgraded,
                              (double)s->steps,
                              (double)s->uncertified,
                              s->mean_iterations,
                              (double)s->max_iterations,
                              s->wall_seconds };
    fprintf(out, "%s,%s", a->scheme, a->solver);
    write_number(out, a->time_step);
    fprintf(out, ",%s,%s", a->is_reference ? "yes" : "no", verdict(a));
    write_numbers(out, differences, sizeof differences / sizeof *differences, d->samples > 0);
    write_number(out, a->order);
    write_numbers(out, totals, sizeof totals / sizeof *totals, s->steps > 0);
    write_remark(out, a);
}

static cairn_status write_csv(const cairn_comparison *c, const char *folder, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_file file;
    TRY(cairn_path_join(folder, "compare.csv", path, error));
    TRY(cairn_file_create(path, &file, error));
    fputs("scheme,solver,time_step,reference,verdict,difference_time,difference_end_max,"
          "difference_end_rms,difference_max,difference_rms,order,energy,energy_rise,penetration,"
          "asked_relative,coulomb_relative,dilatation,spurious_work,mean_upgraded,steps,missed,"
          "mean_iterations,max_iterations,"
          "seconds,remark\n",
          file.stream);
    for (size_t i = 0; i < c->count; i++)
        write_run(file.stream, &c->items[i]);
    return cairn_file_commit(&file, error);
}

/* ---- compare.gp ----------------------------------------------------------------------------- */

/* On logarithmic axes only differences above zero can be drawn. */
static bool is_drawn(const cairn_compared *a)
{
    return a->status == CAIRN_OK && !a->is_reference && a->difference.samples > 0 &&
           a->difference.whole_rms > 0;
}

static bool is_together(const cairn_compared *a, const cairn_compared *b)
{
    return a->scheme == b->scheme && a->solver == b->solver;
}

/* Whether item `i` is the first drawn one of its scheme and solver. */
static bool is_first(const cairn_comparison *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_drawn(&c->items[k]) && is_together(&c->items[k], &c->items[i]))
            return false;
    return is_drawn(&c->items[i]);
}

/* The points of the scheme and solver whose first item is `first`. */
static void write_points(FILE *out, const cairn_comparison *c, size_t first)
{
    char h[32], d[32];
    fprintf(out, "$run%zu << END\n", first);
    for (size_t i = first; i < c->count; i++) {
        const cairn_compared *a = &c->items[i];
        if (!is_drawn(a) || !is_together(a, &c->items[first]))
            continue;
        cairn_number_text(a->time_step, h);
        cairn_number_text(a->difference.whole_rms, d);
        fprintf(out, "%s %s\n", h, d);
    }
    fputs("END\n", out);
}

static void write_ticks(FILE *out, const cairn_comparison *c)
{
    char text[32];
    const char *between = "set xtics (";
    for (size_t i = 0; i < c->count; i++) {
        if (!is_drawn(&c->items[i]))
            continue;
        cairn_number_text(c->items[i].time_step, text);
        fprintf(out, "%s%s", between, text);
        between = ", ";
    }
    fputs(")\n", out);
}

static void write_head(FILE *out, const cairn_comparison *c)
{
    const cairn_compared *r = &c->items[0];
    char step[32];
    cairn_number_text(r->time_step, step);
    fputs("# compare.gp - run as: gnuplot compare.gp\n", out);
    cairn_plot_begin(out, &(cairn_plot_page){ "compare.svg", 760, 560, true });
    fputs("set logscale xy\n"
          "set format y '%.1e'\n"
          "set offsets graph 0.1, graph 0.1, 0, 0\n"
          "set xlabel 'time step (s)'\n"
          "set ylabel 'difference, rms over bodies and times (m)'\n",
          out);
    fprintf(out, "set title 'Difference from %s, %s, time step %s s'\n", r->scheme, r->solver,
            step);
    write_ticks(out, c);
}

static void write_curve(FILE *out, const cairn_compared *a, size_t index, int curve)
{
    char order[32] = "";
    if (isfinite(a->order))
        snprintf(order, sizeof order, ", order %.2f", a->order);
    fprintf(out,
            "%s$run%zu using 1:2 smooth unique with linespoints lw 2 pt %d ps 0.6 lc rgb '%s' "
            "title '%s, %s%s'",
            curve ? ", \\\n     " : "plot ", index, 5 + 2 * (curve / 8 % 5),
            cairn_plot_colour(curve), a->scheme, a->solver, order);
}

static void write_script(FILE *out, const cairn_comparison *c)
{
    int curves = 0;
    write_head(out, c);
    for (size_t i = 0; i < c->count; i++)
        if (is_first(c, i))
            write_points(out, c, i);
    for (size_t i = 0; i < c->count; i++)
        if (is_first(c, i))
            write_curve(out, &c->items[i], i, curves++);
    fputs("\n", out);
}

cairn_status cairn_comparison_write(const cairn_comparison *comparison, const char *folder,
                                    bool *drawable, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_file file;
    *drawable = false;
    TRY(cairn_folder_create(folder, error));
    TRY(write_csv(comparison, folder, error));
    for (size_t i = 0; i < comparison->count; i++)
        *drawable |= is_drawn(&comparison->items[i]);
    if (!*drawable)
        return CAIRN_OK;
    TRY(cairn_path_join(folder, "compare.gp", path, error));
    TRY(cairn_file_create(path, &file, error));
    write_script(file.stream, comparison);
    return cairn_file_commit(&file, error);
}
