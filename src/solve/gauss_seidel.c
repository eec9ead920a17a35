/* gauss_seidel.c - block Gauss-Seidel with an exact one-contact solve, plain and accelerated.
 *
 * pgs: (1) visit the contacts in order; (2) at each, solve its own problem exactly with the others
 * fixed (problem/local.c) and update the velocities at once.
 *
 * ngs: Nesterov's extrapolation around the same sweep:
 *   (1) y+ = r + beta (r - r_previous) + beta gamma (r - y), and the velocities by the same linear
 *       rule; gamma = 0.3 in float for the convex law, else 0;
 *   (2) r+ = one sweep from y;
 *   (3) theta+ = (theta sqrt(4 + theta^2) - theta^2)/2
 *       beta = theta (1 - theta)/(theta^2 + theta+);
 *   (4) convex law: restart (theta = 1) when (y - r+).(r+ - r) > 0, or after a period that adapts:
 *       longer while the residual falls slowly but surely, shorter when it grew; without friction
 *       beta <= 1 - min(0.08, 10/k) in sweep k;
 *   (5) exact friction: beta <= 1 - gap for 40 sweeps, <= 1 - 3.75 gap for 20, over and over; the
 *       gap is 0.15 mu for 600 sweeps, then grows with them to twice that.
 * Why gamma: to a mode that plain sweeps damp by 1 - e momentum with g = 1 - beta and gamma gives
 *     x^2 - ((1 - e)(1 + beta + beta gamma) - beta gamma) x + beta (1 - e) = 0,
 * critical at g = 2 sqrt(e (1 + gamma)) for small e, and the slowest modes fall as exp(-g/2):
 * faster by sqrt(1 + gamma). That is the step of the optimised gradient method (there gamma = 1);
 * modes with e near 1 or complex bound gamma for sweeps that are not symmetric.
 * Why (5): Coulomb's law makes the linearised operator unsymmetric. To a mode that plain sweeps
 * damp by 1 - e, e complex, momentum with g = 1 - beta gives (g +- sqrt(g^2 - 4 e))/2, so modes
 * grow once g < |Im e|/sqrt(Re e), with any restarts: at mu = 0.3 in settled boxes for g < 0.05.
 * The unsymmetric part, and with it Im e, is proportional to mu. Sweeps with a large g damp the
 * modes that have grown in sweeps with a small one. Both solve the convex law and, with Coulomb's
 * local solve, the exact one (then known as NSGS); for Coulomb's there is no proof of convergence,
 * and ngs continues without momentum if momentum makes things worse. Velocities are recomputed from
 * r regularly, so that rounding errors do not accumulate. */
#include <math.h>

#include "base/common.h"
#include "solve/solver.h"

enum { PLAIN, ACCELERATED };
enum { REFRESH = 50 }; /* sweeps after which velocities are recomputed */
enum { SHORTEST_PERIOD = 10 };

/* Sweeps after which the judge is called in any case: a solve that misses its tolerance returns the
 * best impulses that were judged. Sweeps that can measure their residual run longer. */
enum { MOST_PATIENCE = 250, LONGEST_PATIENCE = 1000 };

/* Forced restarts of the convex law, in sweeps; found on boxes of 2,744 and 32,768 balls. */
enum { FIRST_PERIOD = 200, LONGEST_PERIOD = 1600 };

/* (5) the sweeps of a cycle, how many of them have the small gap, after how many the gap grows, and
 * its share of mu. Found on boxes at rest of 1,000 to 32,768 balls, mu from 0.3 to 1. */
enum { CYCLE = 60, PUSHING = 40, FADING = 600 };
static const double gap_of_mu = 0.15, settling = 3.75, most_fading = 2;

/* (4) without friction, by 32,768 balls */
static const double smooth_gap = 0.08, smooth_sweeps = 10;

/* (1) gamma for the convex law; from 0.5 on sweeps diverge on settled boxes */
static const double further = 0.3;

/* What bounds beta. */
typedef enum bound { FREE, SMOOTH, CYCLES } bound;

/* Momentum of ngs; pgs runs with `off`. */
typedef struct momentum {
    bool off;
    bound bound;
    double theta, beta;
    int64_t age, period; /* sweeps since the restart, and when to force one   */
    double residual;     /* the sweeps' estimate when last compared           */
    int64_t sweeps;      /* in all                                            */
    double gap;          /* (5)                                               */
} momentum;

static void restart(momentum *m)
{
    m->theta = 1;
    m->beta = 0;
    m->age = 0;
}

static momentum start_momentum(bool off, cairn_law law, double mu)
{
    double gap = fmin(1, gap_of_mu * mu);
    momentum m = { .off = off,
                   .bound = mu == 0                    ? SMOOTH
                            : law == CAIRN_LAW_COULOMB ? CYCLES
                                                       : FREE,
                   .period = FIRST_PERIOD,
                   .residual = INFINITY,
                   .gap = gap };
    restart(&m);
    return m;
}

/* The largest beta that (4) and (5) allow. */
static double most_beta(const momentum *m)
{
    double fading = fmin(most_fading, fmax(1, (double)m->sweeps / FADING));
    double gap = fading * (m->sweeps % CYCLE < PUSHING ? m->gap : settling * m->gap);
    if (m->bound == FREE)
        return 1;
    if (m->bound == SMOOTH)
        return 1 - fmin(smooth_gap, smooth_sweeps / (double)(m->sweeps + 1));
    return fmax(0, 1 - gap);
}

/* (3) the next beta, (4) restart when momentum points uphill */
static void advance(momentum *m, const cairn_sweep *sweep)
{
    double theta = m->theta, theta2 = theta * theta;
    double next = 0.5 * (theta * sqrt(4 + theta2) - theta2);
    m->sweeps++;
    m->beta = fmin(most_beta(m), theta * (1 - theta) / (theta2 + next));
    m->theta = next;
    m->age++;
    if (sweep->uphill > 0)
        restart(m);
}

/* (1) y = r + beta (1 + gamma) (r - point), the point gamma/(1 + gamma) of the way from r to y */
static cairn_momentum next_move(const momentum *m, const cairn_sweeping *sweeps)
{
    double gamma = sweeps->single && m->bound != CYCLES ? further : 0;
    double beta = m->off ? 0 : m->beta;
    return (cairn_momentum){ beta * (1 + gamma), gamma / (1 + gamma) };
}

/* If the residual over all contacts is ten times its best value, momentum ends for the rest of the
 * solve. */
static void check_momentum(const cairn_task *task, double whole, momentum *m)
{
    if (whole > 10 * task->best_rank && whole > 1)
        m->off = true;
}

/* (4) the forced restart, by the residual as the sweeps estimate it */
static void adapt_period(momentum *m, double residual)
{
    if (m->bound == CYCLES || m->age < m->period)
        return;
    if (residual > m->residual && m->period > SHORTEST_PERIOD)
        m->period /= 2;
    else if (residual > 0.37 * m->residual && m->period < LONGEST_PERIOD)
        m->period *= 2;
    m->residual = residual;
    restart(m);
}

/* Few contacts are judged after every sweep, since one or two sweeps may be enough. */
static int64_t patience_for(int64_t contacts, bool can_measure)
{
    int64_t patience = 1 + contacts / 8, most = can_measure ? LONGEST_PATIENCE : MOST_PATIENCE;
    return patience < most ? patience : most;
}

/* ---- precision ------------------------------------------------------------------------------ */

/* Sweeps in float, if the problem allows it, down to the residual that float can reach; then in
 * double. */
static const double float_floor = 5e-4; /* relative residual                         */
static const double float_slow = 0.8;   /* of a residual over a look-back: give up   */
enum { LOOK_BACK = 100 };               /* sweeps                                     */

typedef struct precision {
    cairn_sweeping *sweeps;
    int64_t looked_at; /* sweep and residual of the last look back */
    double residual;
    bool done; /* float can make no more progress */
} precision;

static cairn_status begin(cairn_task *task, bool coarse, const cairn_vector *r, precision *out)
{
    TRY(task->backend->begin(task->system, coarse, r, task->v, &out->sweeps));
    out->looked_at = task->report->iterations;
    out->residual = task->report->judgement.asked.relative;
    out->done = false;
    return CAIRN_OK;
}

static cairn_status begin_in_float(cairn_task *task, const cairn_vector *r, precision *out)
{
    const cairn_solve_options *o = task->options;
    bool other_test = o->fclib_measure || o->increment_tolerance > 0;
    bool coarse = task->report->judgement.asked.relative > float_floor;
    return begin(task, !other_test && coarse, r, out);
}

/* Whether float can make no more progress, by the present residual. */
static void note_residual(const cairn_task *task, double residual, precision *at)
{
    if (!at->sweeps->single)
        return;
    at->done = at->done || residual <= float_floor;
    if (task->report->iterations < at->looked_at + LOOK_BACK)
        return;
    bool slow = residual > float_slow * at->residual && residual < 20 * float_floor;
    at->done = at->done || slow;
    at->looked_at = task->report->iterations;
    at->residual = residual;
}

/* ---- when to judge -------------------------------------------------------------------------- */

/* Looks (see the glossary). In units of the tolerance: the residual below which the estimate is
 * followed closely, and below which it is close to the tolerance. Then: the decrease of the
 * residual since the last look that justifies another one; and the sweeps between looks close to
 * the tolerance. The residual of the worst contact varies more from sweep to sweep than that over
 * all contacts, so that more looks save sweeps: found on a silo and on boxes of 4,000 balls. */
typedef struct closeness {
    double near, at_door, lower;
    int wait;
} closeness;

static const closeness by_norm = { .near = 2.5, .at_door = 1.3, .lower = 0.5, .wait = 10 };
static const closeness by_contact = { .near = 3, .at_door = 3, .lower = 0.5, .wait = 3 };

enum { FRESH = 5 }; /* sweeps for which recomputed velocities count as accurate */

static const double certain = 0.998; /* of the tolerance: the judge will most likely accept    */
static const double fine = 1e-9;     /* below this tolerance only the judge is accurate        */

/* Whether the sweeps can measure the residual to which the tolerance refers. */
static bool can_measure(const cairn_task *task, const precision *at)
{
    const cairn_solve_options *o = task->options;
    bool measures = at->sweeps->measures && task->backend->measure;
    return measures && !o->fclib_measure && o->tolerance >= fine;
}

/* What is known about the residual of the sweeps. */
typedef struct outlook {
    cairn_judge_timer timer;
    int64_t looked_at; /* sweep of the last look                   */
    double residual;   /* the residual of it, or of the judge since */
    double whole;      /* over all contacts; the same without scales */
    int64_t fresh_at;  /* sweep after which velocities were recomputed */
    double bias;       /* the judge's residual over the measured one   */
} outlook;

/* Whether to recompute the velocities and look in any case. With momentum by (5) the errors of
 * single contacts are smallest after the sweeps of a cycle that damp. */
static bool is_regular(const cairn_task *task, const momentum *m)
{
    if (task->p->scale && m->bound == CYCLES)
        return m->sweeps % CYCLE == CYCLE - 1;
    return task->report->iterations % REFRESH == 0;
}

/* Whether to take a look: regularly; if by the estimate the tolerance is met or, near it, the
 * residual has decreased much; and often close to the tolerance, where rounding in float may be the
 * only obstacle. */
static bool is_worth_a_look(const cairn_task *task, const momentum *m, const outlook *o,
                            double estimate)
{
    const closeness *c = task->p->scale ? &by_contact : &by_norm;
    int64_t sweeps = task->report->iterations;
    double tolerance = task->options->tolerance;
    double residual = cairn_judge_timer_residual(&o->timer, task, estimate);
    return is_regular(task, m) || residual <= tolerance ||
           (residual <= c->near * tolerance && residual <= c->lower * o->residual) ||
           (residual <= c->at_door * tolerance && sweeps >= o->looked_at + c->wait);
}

/* Recompute the velocities and measure the residual, which costs two sweeps at most, and calibrate
 * the estimate. Returns whether to call the judge. */
static bool look(const cairn_task *task, precision *at, outlook *o, double estimate)
{
    cairn_law law = task->options->law;
    if (task->report->iterations > o->fresh_at + FRESH) {
        task->backend->refresh(at->sweeps);
        o->fresh_at = task->report->iterations;
    }
    cairn_measured found = task->backend->measure(at->sweeps, law);
    double whole = found.error == 0 ? 0 : found.error / task->backend->scale(task->system, law);
    o->residual = o->bias * (task->p->scale ? cairn_task_residual(task, found.share) : whole);
    o->whole = task->p->scale ? whole : o->residual;
    o->looked_at = task->report->iterations;
    cairn_judge_timer_set(&o->timer, task, o->residual, estimate);
    note_residual(task, o->residual, at);
    return o->residual <= certain * task->options->tolerance || at->done;
}

/* Sweeps that cannot look: whether to call the judge, which takes longer than a look. */
static bool is_judge_due(const cairn_task *task, const momentum *m, const outlook *o,
                         double estimate)
{
    double residual = cairn_judge_timer_residual(&o->timer, task, estimate);
    bool calm = task->p->scale && m->bound == CYCLES && is_regular(task, m);
    return cairn_judge_timer_due(&o->timer, task, estimate) ||
           (calm && residual <= by_contact.near * task->options->tolerance);
}

static bool is_due(const cairn_task *task, const momentum *m, precision *at, outlook *o,
                   double estimate)
{
    int64_t sweeps = task->report->iterations;
    bool measures = can_measure(task, at);
    o->timer.patience = patience_for(task->contacts, measures);
    if (measures)
        return (is_worth_a_look(task, m, o, estimate) && look(task, at, o, estimate)) ||
               sweeps >= o->timer.judged_at + o->timer.patience;
    bool due = is_judge_due(task, m, o, estimate);
    if (!due && sweeps % REFRESH == 0)
        task->backend->refresh(at->sweeps);
    return due;
}

/* ---- progress ------------------------------------------------------------------------------- */

/* For exact friction there is no proof of convergence, and in packings that begin to flow residuals
 * decrease only as a power of the number of sweeps. The rate of the best residual over all contacts
 * since the last check,
 *     rho = ln(before/now)/sweeps between,
 * predicts how many more sweeps the tolerance takes, ln(now/tolerance)/rho. If that is more than
 * are allowed at two checks in a row, the sweeps have stalled and end: the rate varies, and one
 * slow window is often followed by a fast one. Checks are WINDOW sweeps apart, later half of all
 * sweeps so far, so that a user who allows many sweeps gets a patient test. */
enum { WINDOW = 100, FIRST_WINDOWS = 2 };

typedef struct progress {
    int64_t sweep; /* sweep of the last check                   */
    double best;   /* the best residual over all contacts then  */
    double whole;  /* and now                                   */
    double now;    /* the best residual                         */
    bool slow;     /* the last check predicted too many sweeps  */
} progress;

static bool has_stalled(const cairn_task *task, const outlook *o, progress *p)
{
    int64_t sweep = task->report->iterations, passed = sweep - p->sweep;
    bool fresh = o->looked_at == sweep || o->timer.judged_at == sweep;
    p->now = fmin(p->now, o->residual);
    p->whole = fmin(p->whole, o->whole);
    if (!fresh || passed < WINDOW || passed < p->sweep / 2)
        return false;
    double rate = log(p->best / p->whole) / (double)passed;
    double more = rate > 0 ? log(p->now / task->options->tolerance) / rate : INFINITY;
    p->best = p->whole;
    p->sweep = sweep;
    bool slow = (double)sweep + more > (double)task->horizon, again = slow && p->slow;
    p->slow = slow;
    return again && sweep >= FIRST_WINDOWS * WINDOW;
}

static bool may_give_up(const cairn_task *task, const momentum *m)
{
    return task->options->approach > 0 && m->bound == CYCLES && !task->report->converged;
}

/* ---- few contacts --------------------------------------------------------------------------- */

/* The error that a tolerance permits with exact friction lifts sliding bodies, since it is relative
 * to their speed. With few contacts more sweeps cost next to nothing: they continue for as many
 * again, at least MORE_SWEEPS, down to a hundredth of the tolerance, but not below `finest`. */
enum { FEW_CONTACTS = 128, MORE_SWEEPS = 10 };
static const double finer = 0.01, finest = 1e-7;

static bool is_done(const cairn_task *task, const momentum *m, int64_t *last)
{
    const cairn_solve_options *o = task->options;
    int64_t sweeps = task->report->iterations;
    bool few = m->bound == CYCLES && o->approach > 0 && task->contacts <= FEW_CONTACTS;
    if (!task->report->converged)
        return false;
    if (!few || o->increment_tolerance > 0 ||
        task->best_relative <= fmax(finer * o->tolerance, finest))
        return true;
    if (*last < 0)
        *last = sweeps + (sweeps > MORE_SWEEPS ? sweeps : MORE_SWEEPS);
    return sweeps >= *last || !cairn_task_may_go_on(task);
}

/* ---- the loop ------------------------------------------------------------------------------- */

/* Get the impulses from the sweeps, judge them, and pass the judge's velocities, in double, back to
 * the sweeps. */
static cairn_status judge(cairn_task *task, precision *at, momentum *m, cairn_vector *r)
{
    task->backend->unload(at->sweeps, r);
    bool met = cairn_task_judge(task, r);
    task->report->converged = met || task->best_relative <= task->options->tolerance;
    if (met && task->contacts > FEW_CONTACTS)
        return CAIRN_OK;
    note_residual(task, task->report->judgement.asked.relative, at);
    if (at->done) {
        restart(m);
        return begin(task, false, r, at);
    }
    task->backend->load_velocities(at->sweeps, task->v);
    return CAIRN_OK;
}

static void note_judged(const cairn_task *task, outlook *o)
{
    const cairn_residual *judged = &task->report->judgement.asked;
    o->residual = judged->relative;
    o->whole = task->p->scale ? judged->whole : judged->relative;
}

/* Calibrate the estimates by a judgement, after a look or without one. */
static void learn(const cairn_task *task, outlook *o, double estimate)
{
    double judged = task->report->judgement.asked.relative;
    cairn_judge_timer_learn(&o->timer, task, estimate);
    bool looked = o->looked_at == task->report->iterations;
    if (looked && o->residual > 0 && judged > 0)
        o->bias *= judged / o->residual;
    note_judged(task, o);
}

static cairn_status run(const cairn_solver *self, cairn_task *task, cairn_vector *r)
{
    cairn_solve_report *report = task->report;
    momentum m = start_momentum(self->variant == PLAIN, task->options->law,
                                cairn_problem_largest_friction(task->p));
    outlook o = { .bias = 1 };
    precision at = { 0 };
    report->converged = cairn_task_judge(task, r);
    note_judged(task, &o);
    int64_t last = -1; /* last of the additional sweeps for few contacts; < 0: not known */
    if (!is_done(task, &m, &last))
        TRY(begin_in_float(task, r, &at));
    progress reached = { .best = o.whole, .whole = o.whole, .now = o.residual };
    report->stalled = false;
    while (!is_done(task, &m, &last) && !report->stalled && cairn_task_may_go_on(task)) {
        cairn_sweep sweep =
            task->backend->sweep(at.sweeps, task->options->law, next_move(&m, at.sweeps));
        double estimate = sqrt(sweep.change2);
        if (!isfinite(estimate))
            return CAIRN_NOT_FINITE;
        if (report->iterations++ == 0 && estimate > 0)
            cairn_judge_timer_set(&o.timer, task, o.residual, estimate);
        advance(&m, &sweep);
        adapt_period(&m, estimate);
        if (is_due(task, &m, &at, &o, estimate)) {
            TRY(judge(task, &at, &m, r));
            learn(task, &o, estimate);
        }
        check_momentum(task, o.whole, &m);
        if (may_give_up(task, &m) && has_stalled(task, &o, &reached)) {
            TRY(judge(task, &at, &m, r));
            report->stalled =
                task->backend->approach(task->system, task->u) <= task->options->approach;
        }
    }
    if (!report->converged && o.timer.judged_at < report->iterations)
        TRY(judge(task, &at, &m, r));
    task->kept = true; /* sweeps have velocities of their own */
    return CAIRN_OK;
}

enum {
    ALL = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) | CAIRN_TREATS_ROWS |
          CAIRN_TREATS_ROLLING
};

const cairn_solver cairn_solver_pgs = {
    "pgs", "block Gauss-Seidel, exact one-contact solves (projected; NSGS for exact Coulomb)",
    ALL,   ALL,
    PLAIN, run
};

const cairn_solver cairn_solver_ngs = {
    "ngs",       "Gauss-Seidel with Nesterov's acceleration and adaptive restart; large problems",
    ALL,         ALL,
    ACCELERATED, run
};
