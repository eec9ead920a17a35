/* compare.c - schemes, solvers and time steps on the same scene. (Trajectories are at the end.)
 *
 * 1. The reference runs first, and the positions of its bodies at the common times are stored.
 * 2. Each other run measures its distance from them as it proceeds, so no second trajectory is
 *    stored.
 * 3. The order of a scheme and solver is the slope of log(difference) over log(time step), by least
 *    squares; with two time steps it is log(d1/d2) / log(h1/h2). */
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/output.h"
#include "file/file.h"
#include "run/frame.h"

enum { MOST_SCHEMES = 64 };

/* One comparison under way. All of it is private to cairn_compare except `comparison`, which the
 * caller receives. */
typedef struct session {
    const char *path;
    const char **overrides;        /* the caller's, then 3 more for scheme, solver and time step */
    cairn_compare_options options; /* after complete(): every default is filled in */
    /* Storage that `options` points to where the caller left a choice to the scene or to the
     * tables. */
    const char *all_schemes[MOST_SCHEMES];
    const char *scene_solver;
    double scene_step;
    cairn_scene *probe; /* the scene as the file has it: a source of defaults, never run */
    cairn_sample_times times;
    cairn_trajectory reference;
    cairn_comparison *comparison;
    int runs; /* to be made in all, for the progress callback */
} session;

/* ---- names and defaults --------------------------------------------------------------------- */

/* The table's own copy of a name, NULL: unknown. Items refer to this copy, so they outlive the
 * options of the caller, and two equal names are equal pointers. */
static const char *find_name(const char *(*name_at)(int), const char *name)
{
    for (int i = 0; name && name_at(i); i++)
        if (strcmp(name_at(i), name) == 0)
            return name_at(i);
    return NULL;
}

static cairn_status check_names(const char *(*name_at)(int), const char *what,
                                const char *const *names, int count, cairn_error *error)
{
    for (int i = 0; i < count; i++)
        if (!find_name(name_at, names[i]))
            return cairn_fail(error, CAIRN_BAD_INPUT, what, "there is no %s called '%s'", what,
                              names[i] ? names[i] : "");
    return CAIRN_OK;
}

/* The range is that of the option `time_step`, so that a comparison accepts what a scene
 * accepts. */
static cairn_status check_step(const char *key, double step, cairn_error *error)
{
    const cairn_option *option = cairn_record_find(cairn_step_record(), "time_step");
    char expected[160];
    if (step >= option->minimum && step <= option->maximum)
        return CAIRN_OK;
    cairn_option_expectation(option, expected, sizeof expected);
    return cairn_fail(error, CAIRN_BAD_INPUT, key, "found %g, expected %s", step, expected);
}

/* A reference step of 0 means: choose one, see complete(). */
static cairn_status check_steps(const cairn_compare_options *o, cairn_error *error)
{
    for (int i = 0; i < o->time_steps.count; i++)
        TRY(check_step("time_steps", o->time_steps.values[i], error));
    return o->reference_step == 0 ? CAIRN_OK
                                  : check_step("reference_step", o->reference_step, error);
}

static double smallest(const cairn_list *list)
{
    double least = INFINITY;
    for (int i = 0; i < list->count; i++)
        least = fmin(least, list->values[i]);
    return least;
}

static double largest(const cairn_list *list)
{
    double most = 0;
    for (int i = 0; i < list->count; i++)
        most = fmax(most, list->values[i]);
    return most;
}

/* Fill in what the caller left to the scene and to the tables, then check all of it before the
 * first run, which may take hours. */
static cairn_status complete(session *s, cairn_error *error)
{
    cairn_compare_options *o = &s->options;
    s->scene_solver = s->probe->step.solver;
    s->scene_step = s->probe->step.time_step;
    if (o->scheme_count == 0) {
        for (; o->scheme_count < MOST_SCHEMES && cairn_scheme_name(o->scheme_count);
             o->scheme_count++)
            s->all_schemes[o->scheme_count] = cairn_scheme_name(o->scheme_count);
        o->schemes = s->all_schemes;
    }
    if (o->solver_count == 0) {
        o->solvers = &s->scene_solver;
        o->solver_count = 1;
    }
    if (o->time_steps.count == 0)
        o->time_steps = (cairn_list){ &s->scene_step, 1 };
    if (!o->reference)
        o->reference = "fixed-point";
    TRY(check_names(cairn_scheme_name, "scheme", o->schemes, o->scheme_count, error));
    TRY(check_names(cairn_scheme_name, "scheme", &o->reference, 1, error));
    TRY(check_names(cairn_solver_name, "solver", o->solvers, o->solver_count, error));
    TRY(check_steps(o, error));
    /* A tenth, so that the error of the reference hardly changes the order. A first-order scheme
     * has d = C (h - h_ref): the nearer h is to h_ref, the steeper the slope looks. */
    if (o->reference_step == 0)
        o->reference_step = smallest(&o->time_steps) / (o->time_steps.count > 1 ? 10 : 1);
    s->times = cairn_sample_times_make(cairn_world_time(s->probe->world), s->probe->run.duration,
                                       largest(&o->time_steps));
    return CAIRN_OK;
}

/* ---- one run -------------------------------------------------------------------------------- */

/* State of one run, for the callback after each of its steps. */
typedef struct watch {
    session *s;
    const cairn_world *world;
    cairn_compared *item;
    cairn_distance_meter meter;
    int next;            /* index of the next sample to take */
    cairn_status status; /* of the sampling itself                     */
    bool stopped;        /* the caller's callback ended the comparison */
} watch;

/* Take all samples with times up to `limit` (s). The reference first stores the sample and then
 * measures the distance from itself, which is 0, so that its table entry is complete. */
static cairn_status sample_until(watch *w, double limit)
{
    const cairn_sample_times *times = &w->s->times;
    for (; w->next < times->count; w->next++) {
        double t = times->start + (w->next + 1) * times->interval;
        if (t > limit)
            break;
        if (w->item->is_reference)
            TRY(cairn_trajectory_add(&w->s->reference, w->world, t));
        cairn_distance_meter_add(&w->meter, &w->s->reference, w->next, w->world, t);
    }
    return CAIRN_OK;
}

static bool caller_goes_on(const watch *w, const cairn_progress *step)
{
    const session *s = w->s;
    cairn_compare_progress progress = { (int)s->comparison->count + 1, s->runs, w->item, step };
    return !s->options.progress || s->options.progress(&progress, s->options.context);
}

/* Called by cairn_run after every step. Energy that works bring in does not count as a rise, so the
 * rise is minus the sum of the losses in the ledger of the step (docs/run-format.md). `rounding`, a
 * share of the step, keeps a sample that coincides with the end of a step from being taken one step
 * late because of rounding in the times. */
static bool after_step(const cairn_progress *progress, void *context)
{
    watch *w = context;
    const double rounding = 1e-6;
    const cairn_energy *e = &progress->report->energy;
    double rise =
        -(e->friction_loss + e->impact_loss + e->damping_loss + e->sleep_loss + e->numerical_loss);
    if (rise > w->item->energy_rise)
        w->item->energy_rise = rise;
    w->status = sample_until(w, progress->time + rounding * w->item->time_step);
    w->stopped = !caller_goes_on(w, progress);
    return w->status == CAIRN_OK && !w->stopped;
}

/* Run one scene without writing anything. The number of steps is rounded, so the last step may end
 * up to half a step before the last sample; that sample is extrapolated along straight lines. A run
 * that failed is not extrapolated. */
static cairn_status run_scene(watch *w, cairn_scene *scene)
{
    const double half_a_step = 0.500001;
    cairn_compared *item = w->item;
    /* The packing fraction costs time and is not compared. With "stop" a run would end at the first
     * missed step, and the differences would not be comparable. */
    scene->run.packing = false;
    scene->run.on_uncertified = "warn";
    w->world = scene->world;
    item->status = cairn_run(scene, NULL, after_step, w, &item->summary, &item->error);
    TRY(w->status);
    if (item->status == CAIRN_OK && !w->stopped)
        TRY(sample_until(w, item->summary.time + half_a_step * item->time_step));
    item->difference = w->meter.difference;
    return item->status == CAIRN_NO_MEMORY ? CAIRN_NO_MEMORY : CAIRN_OK;
}

/* Load the scene again with the scheme, solver and time step of the item as overrides, after those
 * of the caller, so that they win. Every run needs a new world. The three texts live on this stack
 * frame, so the pointers are cleared before it ends. */
static cairn_status load(session *s, const cairn_compared *item, cairn_scene **out,
                         cairn_error *error)
{
    char scheme[96], solver[96], time_step[64], number[32];
    const char **extra = s->overrides + s->options.override_count;
    cairn_number_text(item->time_step, number);
    snprintf(scheme, sizeof scheme, "run.scheme=%s", item->scheme);
    snprintf(solver, sizeof solver, "run.solver=%s", item->solver);
    snprintf(time_step, sizeof time_step, "run.time_step=%s", number);
    extra[0] = scheme;
    extra[1] = solver;
    extra[2] = time_step;
    cairn_status status =
        cairn_scene_load(s->path, s->overrides, s->options.override_count + 3, out, error);
    extra[0] = extra[1] = extra[2] = NULL;
    return status;
}

/* Whether the options of the item go together, before the scene is loaded: scheme, solver and
 * dimension. */
static cairn_status check_fit(const session *s, const cairn_compared *item, cairn_error *error)
{
    cairn_step_options step = s->probe->step;
    step.scheme = item->scheme;
    step.solver = item->solver;
    step.time_step = item->time_step;
    return cairn_step_options_check(&step, cairn_world_dimension(s->probe->world), error);
}

/* Fill the item. A run that fails, or options that do not go together, are results of the
 * comparison and recorded in the item; the function itself fails only if the comparison cannot
 * continue. */
static cairn_status run_item(session *s, cairn_compared *item)
{
    watch w = { .s = s, .item = item };
    cairn_scene *scene = NULL;
    item->order = NAN;
    if (!caller_goes_on(&w, NULL))
        return CAIRN_STOPPED;
    if (check_fit(s, item, &item->error) != CAIRN_OK) {
        item->status = CAIRN_UNSUPPORTED;
        return CAIRN_OK;
    }
    item->status = load(s, item, &scene, &item->error);
    cairn_status status = item->status == CAIRN_NO_MEMORY ? CAIRN_NO_MEMORY : CAIRN_OK;
    if (item->status == CAIRN_OK)
        status = run_scene(&w, scene);
    cairn_scene_destroy(scene);
    return status == CAIRN_OK && w.stopped ? CAIRN_STOPPED : status;
}

static cairn_status add_run(session *s, const cairn_compared *wanted)
{
    cairn_comparison *c = s->comparison;
    cairn_compared item = *wanted;
    /* Reserved before the run, so that a result of hours is not lost for want of memory. */
    TRY(cairn_memory_reserve((void **)&c->items, &c->capacity, c->count + 1, sizeof *c->items));
    item.scheme = find_name(cairn_scheme_name, item.scheme);
    item.solver = find_name(cairn_solver_name, item.solver);
    TRY(run_item(s, &item));
    c->items[c->count++] = item;
    return CAIRN_OK;
}

/* ---- all runs ------------------------------------------------------------------------------- */

/* The reference uses the first of the requested solvers that works with its scheme; if none does,
 * auto. */
static cairn_compared choose_reference(const session *s)
{
    const cairn_compare_options *o = &s->options;
    cairn_compared item = { .scheme = o->reference,
                            .time_step = o->reference_step,
                            .is_reference = true };
    for (int i = 0; i < o->solver_count; i++) {
        item.solver = o->solvers[i];
        if (check_fit(s, &item, NULL) == CAIRN_OK)
            return item;
    }
    item.solver = "auto";
    return item;
}

/* Combination k of scheme, solver and time step; the time step varies fastest, then the solver. */
static cairn_compared combination(const cairn_compare_options *o, int k)
{
    int steps = o->time_steps.count;
    return (cairn_compared){ .scheme = o->schemes[k / steps / o->solver_count],
                             .solver = o->solvers[k / steps % o->solver_count],
                             .time_step = o->time_steps.values[k % steps] };
}

static bool is_same(const cairn_compared *a, const cairn_compared *b)
{
    return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->solver, b->solver) == 0 &&
           a->time_step == b->time_step;
}

/* A combination that equals the reference is not computed twice. */
static cairn_status run_all(session *s)
{
    const cairn_compare_options *o = &s->options;
    int combinations = o->scheme_count * o->solver_count * o->time_steps.count;
    cairn_compared reference = choose_reference(s);
    s->runs = 1;
    for (int k = 0; k < combinations; k++) {
        cairn_compared item = combination(o, k);
        s->runs += !is_same(&item, &reference);
    }
    TRY(add_run(s, &reference));
    for (int k = 0; k < combinations; k++) {
        cairn_compared item = combination(o, k);
        if (!is_same(&item, &reference))
            TRY(add_run(s, &item));
    }
    return CAIRN_OK;
}

/* ---- (3) the order -------------------------------------------------------------------------- */

/* Whether a run contributes to the order of a group. Names are compared as pointers, see find_name.
 * A difference of 0 has no logarithm. */
static bool counts(const cairn_compared *a, const cairn_compared *group)
{
    return a->scheme == group->scheme && a->solver == group->solver && !a->is_reference &&
           a->status == CAIRN_OK && a->difference.samples > 0 && a->difference.whole_rms > 0;
}

/* The slope by least squares, with x = log h and y = log d:
 *   (n sum xy - sum x sum y) / (n sum x^2 - (sum x)^2)
 * NaN with fewer than two different time steps: the denominator is then 0 up to rounding. */
static double slope(const cairn_comparison *c, const cairn_compared *group)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    const double least_spread = 1e-9;
    for (size_t i = 0; i < c->count; i++) {
        if (!counts(&c->items[i], group))
            continue;
        /* h relative to the group's own step, so that equal steps give exactly 0 */
        double x = log(c->items[i].time_step / group->time_step);
        double y = log(c->items[i].difference.whole_rms);
        n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    double spread = n * sxx - sx * sx;
    return n >= 2 && spread > least_spread ? (n * sxy - sx * sy) / spread : NAN;
}

/* All runs of one scheme and solver get the same order. */
static void estimate_orders(cairn_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->items[i].order = c->items[i].is_reference ? NAN : slope(c, &c->items[i]);
}

/* ---- the public face ------------------------------------------------------------------------ */

/* On failure or stop, the session keeps what was computed; cairn_compare decides what the caller
 * gets. */
static cairn_status compare(session *s, cairn_error *error)
{
    const char *const *overrides = s->options.overrides;
    s->comparison = cairn_memory_zeroed(1, sizeof *s->comparison);
    s->overrides = cairn_memory_zeroed((size_t)s->options.override_count + 3, sizeof *s->overrides);
    if (!s->comparison || !s->overrides)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < s->options.override_count; i++)
        s->overrides[i] = overrides[i];
    TRY(cairn_scene_load(s->path, overrides, s->options.override_count, &s->probe, error));
    TRY(complete(s, error));
    cairn_status status = run_all(s);
    estimate_orders(s->comparison);
    return status;
}

cairn_status cairn_compare(const char *path, const cairn_compare_options *options,
                           cairn_comparison **out, cairn_error *error)
{
    session s = { .path = path, .options = *options };
    cairn_status status = compare(&s, error);
    cairn_scene_destroy(s.probe);
    cairn_trajectory_destroy(&s.reference);
    cairn_memory_free(s.overrides);
    if (status != CAIRN_OK && status != CAIRN_STOPPED) {
        cairn_comparison_destroy(s.comparison);
        s.comparison = NULL;
    }
    *out = s.comparison;
    return status;
}

void cairn_comparison_destroy(cairn_comparison *comparison)
{
    if (!comparison)
        return;
    cairn_memory_free(comparison->items);
    cairn_memory_free(comparison);
}

int cairn_comparison_count(const cairn_comparison *comparison)
{
    return (int)comparison->count;
}

const cairn_compared *cairn_comparison_at(const cairn_comparison *comparison, int index)
{
    return index >= 0 && (size_t)index < comparison->count ? &comparison->items[index] : NULL;
}

/* ---- tables and diagrams ----------------------------------------------------------------- */

/* A comparison as a table, and as a gnuplot script. */

/* ---- compare.csv ---------------------------------------------------------------------------- */

/* A preceding comma and the number; numbers that are not finite are unknown and leave the cell
 * empty. */
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

/* The reason of a failure; ends the line. */
static void write_remark(FILE *out, const cairn_compared *a)
{
    const char *text = a->error.message[0] ? a->error.message : cairn_status_text(a->status);
    fputc(',', out);
    cairn_csv_quote(out, a->status == CAIRN_OK ? "" : text);
    fputc('\n', out);
}

/* One line of compare.csv, in the order of the names that write_csv writes. A run without steps has
 * no totals, and one without samples has no differences. */
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

/* Logarithmic axes can only show differences above zero. */
static bool is_drawn(const cairn_compared *a)
{
    return a->status == CAIRN_OK && !a->is_reference && a->difference.samples > 0 &&
           a->difference.whole_rms > 0;
}

static bool is_together(const cairn_compared *a, const cairn_compared *b)
{
    return a->scheme == b->scheme && a->solver == b->solver;
}

/* Whether item `i` is the first of its scheme and solver that is drawn; it stands for the curve. */
static bool is_first(const cairn_comparison *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (is_drawn(&c->items[k]) && is_together(&c->items[k], &c->items[i]))
            return false;
    return is_drawn(&c->items[i]);
}

/* The points of one curve, as a data block of gnuplot inside the script, so that the script is
 * complete without compare.csv. `first` is the first item of the curve. */
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

/* Ticks at the time steps that were run: the powers of ten of gnuplot would often miss all of
 * them. */
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

/* `smooth unique` sorts the points by time step. There are 8 colours; further curves reuse them
 * with other markers (pt 5, 7, 9, ...: the filled ones of gnuplot). */
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

/* ---- trajectories ---------------------------------------------------------------------------- */

/* Positions of bodies at given times, and the distance of another run from them; see
 * study.h.
 *
 * A step moves a body along a straight line. With x+ = x + h v+, the position at a time t within
 * the step is x+ - (t+ - t) v+, exactly as in the scheme. For a scheme that moves bodies by the
 * mean of v and v+, this is wrong by (t+ - t) |v+ - v|/2: an error of second order, except in the
 * one step in which a body hits another one. */

cairn_sample_times cairn_sample_times_make(double start, double duration, double coarsest)
{
    /* Rounded so that the samples coincide with the steps of the coarsest run, if its time step
     * divides the duration. */
    double count = fmin(fmax(round(duration / coarsest), 1), CAIRN_TRAJECTORY_SAMPLES);
    return (cairn_sample_times){ start, duration / count, (int)count };
}

void cairn_trajectory_destroy(cairn_trajectory *trajectory)
{
    cairn_memory_free(trajectory->x);
    trajectory->x = NULL;
    trajectory->count = trajectory->capacity = 0;
    trajectory->samples = 0;
}

/* x + ahead v: position of the body of row i, `ahead` seconds after the state (negative: before
 * it); in a periodic cell on its path, without jumps. */
static cairn_vec3 place(const cairn_bodies *b, const cairn_lattice *cell, int i, double ahead)
{
    cairn_vec3 x = cairn_run_place(b, cell, i), v = b->v[i];
    return (cairn_vec3){ x.x + ahead * v.x, x.y + ahead * v.y, x.z + ahead * v.z };
}

cairn_status cairn_trajectory_add(cairn_trajectory *t, const cairn_world *world, double time)
{
    cairn_bodies bodies = cairn_world_bodies(world);
    const cairn_lattice cell = cairn_world_lattice(world);
    double ahead = time - cairn_world_time(world);
    if (t->samples >= CAIRN_TRAJECTORY_SAMPLES)
        return CAIRN_OK;
    /* One entry for each uid up to the largest one that is in use. Held bodies are left out: their
     * motion is prescribed and the same in all runs. */
    uint64_t most = 0;
    for (int i = bodies.held; i < bodies.count; i++)
        most = bodies.uid[i] < most ? most : bodies.uid[i] + 1;
    TRY(cairn_memory_reserve((void **)&t->x, &t->capacity, t->count + (size_t)most, sizeof *t->x));
    cairn_vec3 *x = t->x + t->count;
    for (uint64_t uid = 0; uid < most; uid++)
        x[uid] = (cairn_vec3){ NAN, 0, 0 };
    for (int i = bodies.held; i < bodies.count; i++)
        x[bodies.uid[i]] = place(&bodies, &cell, i, ahead);
    t->count += (size_t)most;
    t->first[++t->samples] = t->count;
    return CAIRN_OK;
}

/* Add one sample of `count` > 0 distances. The root mean square over the whole run
 * weights every body at every time equally:
 *   end_rms = sqrt(sum / count),   whole_rms = sqrt(sum over all samples / count over all samples)
 */
static void conclude(cairn_distance_meter *m, double time, double sum, double greatest, int count)
{
    cairn_run_difference *d = &m->difference;
    m->sum += sum;
    m->count += count;
    m->greatest = fmax(m->greatest, greatest);
    d->samples++;
    d->end_time = time;
    d->end_max = greatest;
    d->end_rms = sqrt(sum / count);
    d->whole_max = m->greatest;
    d->whole_rms = sqrt(m->sum / (double)m->count);
}

void cairn_distance_meter_add(cairn_distance_meter *meter, const cairn_trajectory *reference, int k,
                              const cairn_world *world, double time)
{
    if (k < 0 || k >= reference->samples || reference->first[k + 1] == reference->first[k])
        return;
    cairn_bodies bodies = cairn_world_bodies(world);
    const cairn_lattice cell = cairn_world_lattice(world);
    const cairn_vec3 *there = reference->x + reference->first[k];
    /* uids beyond `both` are those of bodies that the reference does not have */
    size_t both = reference->first[k + 1] - reference->first[k];
    double ahead = time - cairn_world_time(world), sum = 0, greatest = 0;
    int count = 0;
    for (int i = bodies.held; i < bodies.count; i++) {
        if (bodies.uid[i] >= both)
            continue;
        cairn_vec3 here = place(&bodies, &cell, i, ahead), then = there[bodies.uid[i]];
        double x = here.x - then.x, y = here.y - then.y, z = here.z - then.z;
        double square = x * x + y * y + z * z;
        if (isnan(square)) /* the reference has no dynamic body with this uid */
            continue;
        sum += square;
        greatest = fmax(greatest, sqrt(square));
        count++;
    }
    if (count > 0)
        conclude(meter, time, sum, greatest, count);
}
