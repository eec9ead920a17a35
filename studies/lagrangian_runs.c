/* lagrangian_runs.c - the experiments of the papers in generalised coordinates. */
#include <string.h>

#include "studies/lagrangian_runs.h"
#include "studies/study.h"

static void tell(const cairn_lagrange_watch *watch, const cairn_lagrange *l,
                 const cairn_lagrange_report *report)
{
    if (watch)
        watch->see(watch->context, l, report);
}

/* One step, which must be solved. */
static cairn_status step(cairn_lagrange *l, const cairn_lagrange_options *options,
                         cairn_lagrange_report *report)
{
    TRY(cairn_lagrange_step(l, options, report, NULL));
    return report->solve.converged ? CAIRN_OK : CAIRN_STOPPED;
}

cairn_status cairn_follow(const cairn_lagrange_system *system, const cairn_start *start,
                          const cairn_lagrange_options *options, const cairn_lagrange_watch *own,
                          const cairn_lagrange_watch *also)
{
    cairn_lagrange *l;
    cairn_status status = CAIRN_OK;
    TRY(cairn_lagrange_create(system, start->q, start->v, &l, NULL));
    int steps = (int)lround(start->until / options->time_step);
    tell(also, l, NULL);
    for (int k = 0; k < steps && status == CAIRN_OK; k++) {
        cairn_lagrange_report report;
        status = step(l, options, &report);
        if (status == CAIRN_OK) {
            tell(own, l, &report);
            tell(also, l, &report);
        }
    }
    cairn_lagrange_destroy(l);
    return status;
}

/* ---- two schemes ----------------------------------------------------------------------------- */

static cairn_status step_both(cairn_lagrange *const l[2], double h, int coordinates, double *sum)
{
    cairn_lagrange_options convex = exact_options("convex", h), lcp = exact_options("lcp", h);
    cairn_lagrange_report report;
    TRY(step(l[0], &convex, &report));
    TRY(step(l[1], &lcp, &report));
    const double *a = cairn_lagrange_position(l[0]), *b = cairn_lagrange_position(l[1]);
    for (int i = 0; i < coordinates; i++)
        *sum += (a[i] - b[i]) * (a[i] - b[i]);
    return CAIRN_OK;
}

cairn_status cairn_scheme_distance(const cairn_lagrange_system *system, const cairn_start *start,
                                   double h, double *out)
{
    cairn_lagrange *l[2] = { NULL, NULL };
    double sum = 0;
    cairn_status status = cairn_lagrange_create(system, start->q, start->v, &l[0], NULL);
    if (status == CAIRN_OK)
        status = cairn_lagrange_create(system, start->q, start->v, &l[1], NULL);
    int steps = (int)lround(start->until / h);
    for (int k = 0; k < steps && status == CAIRN_OK; k++)
        status = step_both(l, h, system->coordinates, &sum);
    cairn_lagrange_destroy(l[0]);
    cairn_lagrange_destroy(l[1]);
    *out = sqrt(sum);
    return status;
}

/* ---- particle -------------------------------------------------------------------------------- */

static void see_hop(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    cairn_hop *hop = context;
    const double *q = cairn_lagrange_position(l);
    (void)report;
    hop->when = q[1] > hop->highest ? cairn_lagrange_time(l) : hop->when;
    hop->highest = fmax(hop->highest, q[1]);
    hop->x = q[0];
}

cairn_status cairn_particle_hop(double mu, const cairn_lagrange_options *options,
                                const cairn_lagrange_watch *also, cairn_hop *out)
{
    plane_body body = { .gravity = 9.8, .mu = mu };
    cairn_lagrange_system particle = particle_system(&body);
    double q[2] = { 0, 0 }, v[2] = { 3, 0 };
    cairn_start start = { q, v, 1.2 };
    *out = (cairn_hop){ 0 };
    return cairn_follow(&particle, &start, options, &(cairn_lagrange_watch){ see_hop, out }, also);
}

/* ---- bar ------------------------------------------------------------------------------------- */

static void see_bar(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    cairn_bar_run *run = context;
    const double *q = cairn_lagrange_position(l);
    double tip = q[1] - sin(q[2]);
    (void)report;
    if (run->angle == 0)
        memcpy(run->v1, cairn_lagrange_velocity(l), sizeof run->v1);
    run->when = tip > run->highest ? cairn_lagrange_time(l) : run->when;
    run->highest = fmax(run->highest, tip);
    run->angle = q[2];
}

cairn_status cairn_bar_slide(double speed, const cairn_lagrange_options *options,
                             const cairn_lagrange_watch *also, cairn_bar_run *out)
{
    plane_body body = { .inertia = 1.0 / 16, .gravity = 9.8, .mu = 0.75 };
    cairn_lagrange_system bar = bar_system(&body);
    double angle = 72 * pi / 180, q[3] = { cos(angle), sin(angle), angle }, v[3] = { speed, 0, 0 };
    cairn_start start = { q, v, 0.4 };
    *out = (cairn_bar_run){ .highest = 0 };
    return cairn_follow(&bar, &start, options, &(cairn_lagrange_watch){ see_bar, out }, also);
}

/* ---- double pendulum ------------------------------------------------------------------------- */

typedef struct swing_watch {
    cairn_swing *out;
    double h;
} swing_watch;

static void see_swing(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    const swing_watch *watch = context;
    cairn_swing *out = watch->out;
    double energy = report->kinetic + report->potential, time = cairn_lagrange_time(l);
    const double at[3] = { 0.5, 1, 2 };
    double *const kept[3] = { out->half, out->one, out->two };
    if (report->active)
        out->rise = fmax(out->rise, energy - out->energy);
    if (report->active && out->first == 0)
        out->first = time;
    out->energy = energy;
    out->push += cairn_lagrange_impulse(l)[0];
    for (int i = 0; i < 3; i++)
        if (fabs(time - at[i]) < watch->h / 2)
            memcpy(kept[i], cairn_lagrange_position(l), sizeof out->half);
}

cairn_status cairn_pendulum_swing(const char *scheme, double h, double until,
                                  const cairn_lagrange_watch *also, cairn_swing *out)
{
    cairn_lagrange_system pendulum = pendulum_system();
    cairn_lagrange_options options = exact_options(scheme, h);
    double q[2] = { pi / 3, pi / 3 }, v[2] = { 0, 0 };
    cairn_start start = { q, v, until };
    swing_watch watch = { out, h };
    options.velocity_level = true;
    *out = (cairn_swing){ .energy = pendulum_potential(NULL, q), .rise = -INFINITY };
    return cairn_follow(&pendulum, &start, &options, &(cairn_lagrange_watch){ see_swing, &watch },
                        also);
}

/* ---- ellipse --------------------------------------------------------------------------------- */

typedef struct fall_watch {
    cairn_fall *out;
    double h;
} fall_watch;

static void see_fall(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    const fall_watch *watch = context;
    cairn_fall *out = watch->out;
    double time = cairn_lagrange_time(l);
    if (fabs(time - 2) < watch->h / 2)
        memcpy(out->q2, cairn_lagrange_position(l), sizeof out->q2);
    if (fabs(time - 10) < watch->h / 2)
        memcpy(out->q10, cairn_lagrange_position(l), sizeof out->q10);
    if (report->active && out->first == 0)
        out->first = time;
    out->lowest = fmin(out->lowest, -report->penetration);
    out->last = report->penetration;
    out->energy = report->kinetic + report->potential;
}

cairn_status cairn_ellipse_drop(const double axes[2], const cairn_lagrange_options *options,
                                double until, const cairn_lagrange_watch *also, cairn_fall *out)
{
    plane_body body = { .gravity = 9.81, .mu = 0.3, .long_axis = axes[0], .short_axis = axes[1] };
    cairn_lagrange_system ellipse = ellipse_system(&body);
    double q[3] = { 0, 8, 0 }, v[3] = { 0, 0, 3 };
    cairn_start start = { q, v, until };
    fall_watch watch = { out, options->time_step };
    *out = (cairn_fall){ .lowest = 0 };
    return cairn_follow(&ellipse, &start, options, &(cairn_lagrange_watch){ see_fall, &watch },
                        also);
}

/* ---- rod ------------------------------------------------------------------------------------- */

typedef struct rod_watch {
    cairn_rod_run *out;
    double h;
} rod_watch;

static void see_rod(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    const rod_watch *watch = context;
    cairn_rod_run *run = watch->out;
    const double *r = cairn_lagrange_impulse(l), *v = cairn_lagrange_velocity(l);
    double ended = cairn_lagrange_time(l), began = ended - watch->h;
    if (run->start[0] > 0 && fabs(run->start[0] + watch->h - began) < watch->h / 2)
        memcpy(run->after, v, sizeof run->after);
    for (int j = 0; j < 2; j++) {
        if (r[2 * j] > 0 && run->start[j] == 0)
            run->start[j] = began;
        run->push += r[2 * j];
    }
    if (fabs(v[0]) + fabs(v[1]) + fabs(v[2]) > 1e-9)
        run->stop = ended;
    run->spin = fmax(run->spin, v[2]);
    run->penetration = fmax(run->penetration, report->penetration);
    memcpy(run->q, cairn_lagrange_position(l), sizeof run->q);
}

cairn_status cairn_rod_drop(double h, int linearisations, const cairn_lagrange_watch *also,
                            cairn_rod_run *out)
{
    plane_body body = { .inertia = 0.002, .gravity = 9.81, .mu = 0.6 };
    cairn_lagrange_system rod = rod_system(&body);
    cairn_lagrange_options options = exact_options("lcp", h);
    double q[3] = { 0, 1, pi / 6 }, v[3] = { 0, 0, 4 };
    cairn_start start = { q, v, 1 };
    rod_watch watch = { out, h };
    options.solver = "lemke";
    options.linearisations = linearisations;
    *out = (cairn_rod_run){ .stop = 0 };
    return cairn_follow(&rod, &start, &options, &(cairn_lagrange_watch){ see_rod, &watch }, also);
}

/* ---- drawing the motion into a series -------------------------------------------------------- */

void cairn_trace_see(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    cairn_trace *trace = context;
    (void)report;
    if (trace->every < 2 || trace->steps % trace->every == 0)
        cairn_study_point(trace->study, trace->series, trace->x(l), trace->y(l), 0);
    trace->steps++;
}

double cairn_reading_time(const cairn_lagrange *l)
{
    return cairn_lagrange_time(l);
}

double cairn_reading_q0(const cairn_lagrange *l)
{
    return cairn_lagrange_position(l)[0];
}

double cairn_reading_q1(const cairn_lagrange *l)
{
    return cairn_lagrange_position(l)[1];
}

double cairn_reading_q2(const cairn_lagrange *l)
{
    return cairn_lagrange_position(l)[2];
}

double cairn_reading_v0(const cairn_lagrange *l)
{
    return cairn_lagrange_velocity(l)[0];
}

double cairn_reading_v1(const cairn_lagrange *l)
{
    return cairn_lagrange_velocity(l)[1];
}

double cairn_reading_v2(const cairn_lagrange *l)
{
    return cairn_lagrange_velocity(l)[2];
}
