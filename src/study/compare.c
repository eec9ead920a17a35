/* compare.c - schemes, solvers and time steps on the same scene.
 *
 * 1. The reference runs first, and its bodies' places at the common times are kept.
 * 2. Each other run measures its distance from them as it goes, so no second trajectory is stored.
 * 3. The order of a scheme and solver is the slope of log(difference) over log(time step), by
 *    least squares; with two steps the ratio of the logarithms. */
#include "io/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "io/json.h"
#include "io/trajectory.h"

enum { MOST_SCHEMES = 64 };

typedef struct session {
    const char *path;
    const char **overrides;        /* the caller's, then room for scheme, solver and time step */
    cairn_compare_options options; /* complete: no defaults left */
    const char *all_schemes[MOST_SCHEMES];
    const char *scene_solver;
    double scene_step;
    cairn_scene *probe; /* the scene as it is, never run */
    cairn_sample_times times;
    cairn_trajectory reference;
    cairn_comparison *comparison;
    int runs;
} session;

/* ---- names and defaults --------------------------------------------------------------------- */

/* The name as its table keeps it; NULL: unknown. */
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

static cairn_status check_step(const char *key, double step, cairn_error *error)
{
    const cairn_option *option = cairn_record_find(cairn_step_record(), "time_step");
    char expected[160];
    if (step >= option->minimum && step <= option->maximum)
        return CAIRN_OK;
    cairn_option_expectation(option, expected, sizeof expected);
    return cairn_fail(error, CAIRN_BAD_INPUT, key, "found %g, expected %s", step, expected);
}

/* A reference step of 0 stands for the smallest of the others, or a tenth of it. */
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

/* Fill in what was left to the scene and to the tables. */
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
    if (o->reference_step == 0) /* a tenth, so that its own error does not spoil the order */
        o->reference_step = smallest(&o->time_steps) / (o->time_steps.count > 1 ? 10 : 1);
    s->times = cairn_sample_times_make(cairn_world_time(s->probe->world), s->probe->run.duration,
                                       largest(&o->time_steps));
    return CAIRN_OK;
}

/* ---- one run -------------------------------------------------------------------------------- */

/* A run under way. */
typedef struct watch {
    session *s;
    const cairn_world *world;
    cairn_compared *item;
    cairn_distance_meter meter;
    int next; /* the sample due next */
    cairn_status status;
    bool stopped;
} watch;

/* Take the samples that are due up to `limit`. */
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

static bool after_step(const cairn_progress *progress, void *context)
{
    watch *w = context;
    const double rounding = 1e-6;
    const cairn_energy *e = &progress->report->energy;
    double rise = -(e->friction_loss + e->impact_loss + e->sleep_loss + e->numerical_loss);
    if (rise > w->item->energy_rise)
        w->item->energy_rise = rise;
    w->status = sample_until(w, progress->time + rounding * w->item->time_step);
    w->stopped = !caller_goes_on(w, progress);
    return w->status == CAIRN_OK && !w->stopped;
}

/* A whole number of steps may end up to half a step before the duration: go on straight. */
static cairn_status run_scene(watch *w, cairn_scene *scene)
{
    const double half_a_step = 0.500001;
    cairn_compared *item = w->item;
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

static cairn_status check_fit(const session *s, const cairn_compared *item, cairn_error *error)
{
    cairn_step_options step = s->probe->step;
    step.scheme = item->scheme;
    step.solver = item->solver;
    step.time_step = item->time_step;
    return cairn_step_options_check(&step, cairn_world_dimension(s->probe->world), error);
}

/* Fills the item; fails only when the comparison cannot go on. */
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
    TRY(cairn_memory_reserve((void **)&c->items, &c->capacity, c->count + 1, sizeof *c->items));
    item.scheme = find_name(cairn_scheme_name, item.scheme);
    item.solver = find_name(cairn_solver_name, item.solver);
    TRY(run_item(s, &item));
    c->items[c->count++] = item;
    return CAIRN_OK;
}

/* ---- all runs ------------------------------------------------------------------------------- */

/* The first of the solvers that goes with the scheme of the reference, else auto. */
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

/* Combination number `k` of scheme, solver and time step, the last changing fastest. */
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

static bool counts(const cairn_compared *a, const cairn_compared *group)
{
    return a->scheme == group->scheme && a->solver == group->solver && !a->is_reference &&
           a->status == CAIRN_OK && a->difference.samples > 0 && a->difference.whole_rms > 0;
}

/* With x = log h and y = log d: n sum xy - sum x sum y over n sum x^2 - (sum x)^2. */
static double slope(const cairn_comparison *c, const cairn_compared *group)
{
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    const double least_spread = 1e-9;
    for (size_t i = 0; i < c->count; i++) {
        if (!counts(&c->items[i], group))
            continue;
        /* relative to the group's own step, so that equal steps give zeros */
        double x = log(c->items[i].time_step / group->time_step);
        double y = log(c->items[i].difference.whole_rms);
        n++, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    double spread = n * sxx - sx * sx;
    return n >= 2 && spread > least_spread ? (n * sxy - sx * sy) / spread : NAN;
}

static void estimate_orders(cairn_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        c->items[i].order = c->items[i].is_reference ? NAN : slope(c, &c->items[i]);
}

/* ---- the public face ------------------------------------------------------------------------ */

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
