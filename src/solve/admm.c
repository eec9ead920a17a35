/* admm.c - alternating direction method of multipliers on the dual, with a factorised system.
 *
 * Minimises f(r) + [z in K] with r = z, f(r) = 1/2 r'W r + q'r, penalty rho/2 |r - z + l|_D^2,
 * where D makes rho a pure number (admm_system.c). Rows with bounds have their 1/2 eps z^2 on the
 * side of z. From y = z and m = l:
 *   (1) r = y - (W + rho D)^-1 (W y + q + rho D m): one product and one pair of triangular solves
 *       (admm_system.c). In the local form the symmetric part of W is factored; where W is a
 *       little unsymmetric the iteration still ends where W says
 *   (2) z+ = P_K(r + m), with compliance P((r + m) rho D/(rho D + eps)); l+ = m + r - z+
 *   (3) momentum, y = z+ + beta (z+ - z), m = l+ + beta (l+ - l), with Nesterov's beta; it starts
 *       anew when |D (z+ - y)|^2 + |D (l+ - m)|^2 has grown
 *   (4) at intervals that grow: rho times the square root of
 *           (|D (r - z+)|/|D z+|) / (rho |D (z+ - y)|/max(rho |D l+|, |q|)),
 *       and a new factor, when that is far from 1
 *   (5) stop on the judge, asked about z
 *   (6) where W is so unsymmetric that a small rho diverges: from the best z again, with a larger
 *       rho
 * -rho D l is the velocity with its shift. Convex law: for a fixed rho and beta = 0 it converges;
 * rho changes ever less often. Coulomb's law: the normal part of q carries mu s, s = rho D |l_T|,
 * renewed in (1); that it then converges is experience, not a theorem. Momentum took the place of
 * over-relaxation, which it does not go well with. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/host/host.h"
#include "base/status.h"
#include "problem/operator.h"
#include "solve/admm_system.h"
#include "solve/solver.h"

enum { PATIENCE = 10, FIRST_ADAPTATION = 10 };

static const double far_from_1 = 1.5; /* rho changes when it would by more than this factor */
static const double largest_rho = 1e8;

typedef struct splitting {
    cairn_task *task;
    cairn_admm_system system;
    double *l, *y, *m, *r; /* N s: as above                                       */
    double theta, change2; /* of (3)                                              */
    double primal, dual;   /* |D (r - z+)| and rho |D (z+ - y)|, m/s              */
    double impulse, speed; /* |D z+| and rho |D l+|, m/s                          */
    double free;           /* |q|, m/s                                            */
    double least_rho;
    int64_t adapt_at, interval; /* iteration of the next (4), and until the one after  */
} splitting;

static cairn_status take_arrays(splitting *s)
{
    double **arrays[] = { &s->l, &s->y, &s->m, &s->r };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = cairn_arena_doubles(s->task->arena, s->task->system->r_count)))
            return CAIRN_NO_MEMORY;
    return CAIRN_OK;
}

/* Coulomb's law: h_N += mu rho D |m_T|, and the same for rolling and spinning */
static void add_sliding(const splitting *s, double *h)
{
    const cairn_problem *p = s->task->p;
    for (int j = 0; j < p->contacts; j++) {
        size_t first = (size_t)j * (size_t)p->dimension;
        h[first] += s->system.rho * s->system.w[first] * cairn_contact_sliding(p, j, s->m + first);
    }
}

/* Compliance of component i. */
static double compliance(const cairn_problem *p, size_t i)
{
    bool rows = p->compliance && p->bounded && p->bounded[i / (size_t)p->dimension];
    return rows ? p->compliance[i] : 0;
}

/* (1) */
static cairn_status minimise(splitting *s)
{
    const cairn_system *system = s->task->system;
    double *h = s->r;
    cairn_host_gradient(system, s->y, s->task->host.v, h);
    if (s->task->options->law == CAIRN_LAW_COULOMB)
        add_sliding(s, h);
    for (size_t i = 0; i < system->r_count; i++)
        h[i] += s->system.rho * s->system.w[i] * s->m[i] - compliance(system->p, i) * s->y[i];
    TRY(cairn_admm_system_solve(&s->system, h));
    for (size_t i = 0; i < system->r_count; i++)
        s->r[i] = s->y[i] - h[i];
    return CAIRN_OK;
}

/* (3): the next beta */
static double next_beta(splitting *s, double change2)
{
    double theta = s->theta;
    bool grew = change2 >= s->change2;
    s->change2 = change2;
    s->theta = grew ? 1 : 0.5 * (1 + sqrt(1 + 4 * theta * theta));
    return grew ? 0 : (theta - 1) / s->theta;
}

/* (2) and (3) */
static void project(splitting *s, double *z)
{
    const cairn_system *system = s->task->system;
    size_t n = system->r_count;
    double primal2 = 0, moved2 = 0, impulse2 = 0, speed2 = 0;
    double *next = s->task->host.u; /* the judge's u is scratch in between */
    for (size_t i = 0; i < n; i++) {
        double push = s->system.rho * s->system.w[i];
        next[i] = (s->r[i] + s->m[i]) * (push / (push + compliance(system->p, i)));
    }
    cairn_host_project(system, next);
    for (size_t i = 0; i < n; i++) {
        double w2 = s->system.w[i] * s->system.w[i], gap = s->r[i] - next[i];
        double moved = next[i] - s->y[i], l = s->m[i] + gap;
        primal2 += w2 * gap * gap;
        moved2 += w2 * moved * moved;
        impulse2 += w2 * next[i] * next[i];
        speed2 += w2 * l * l;
    }
    double beta = next_beta(s, moved2 + primal2); /* l+ - m = r - z+ */
    for (size_t i = 0; i < n; i++) {
        double l = s->m[i] + s->r[i] - next[i];
        s->y[i] = next[i] + beta * (next[i] - z[i]);
        s->m[i] = l + beta * (l - s->l[i]);
        z[i] = next[i];
        s->l[i] = l;
    }
    s->primal = sqrt(primal2);
    s->dual = s->system.rho * sqrt(moved2);
    s->impulse = sqrt(impulse2);
    s->speed = s->system.rho * sqrt(speed2);
}

/* A new factor; rho l stays, momentum starts anew. */
static cairn_status change_rho(splitting *s, double rho, const double *z)
{
    size_t n = s->task->system->r_count;
    bool positive = false;
    double old = s->system.rho;
    for (; !positive && rho <= largest_rho; rho *= 10) /* until it makes up for W's errors */
        TRY(cairn_admm_system_factor(&s->system, rho, &positive));
    for (size_t i = 0; i < n; i++) {
        s->l[i] *= old / s->system.rho;
        s->m[i] = s->l[i];
        s->y[i] = z[i];
    }
    s->theta = 1;
    s->change2 = INFINITY;
    return positive ? CAIRN_OK : CAIRN_NOT_FINITE;
}

/* (4) */
static cairn_status adapt(splitting *s, const double *z)
{
    if (s->task->report->iterations < s->adapt_at)
        return CAIRN_OK;
    s->adapt_at += s->interval;
    s->interval += s->interval / 2;
    double balance = s->primal / s->impulse * fmax(s->speed, s->free) / s->dual;
    double wanted = fmin(10, fmax(0.1, sqrt(balance)));
    double rho = fmin(largest_rho, fmax(s->least_rho, s->system.rho * wanted));
    bool worth = wanted > far_from_1 || wanted < 1 / far_from_1;
    return worth && isfinite(balance) && rho != s->system.rho ? change_rho(s, rho, z) : CAIRN_OK;
}

static cairn_status start(splitting *s, double *z)
{
    const cairn_system *system = s->task->system;
    cairn_host_gradient(system, s->l, s->task->host.v, s->r); /* l = 0: q with its shift */
    s->free = sqrt(cairn_host_dot(system->r_count, s->r, s->r));
    cairn_host_project(system, z); /* a warm start may lie outside */
    s->system.rho = 1;
    s->least_rho = 1e-8;
    s->adapt_at = s->interval = FIRST_ADAPTATION;
    return change_rho(s, 1, z);
}

/* (6) from the best z again, with a larger rho */
static cairn_status start_over(splitting *s, double *z)
{
    size_t bytes = s->task->system->r_count * sizeof(double);
    memcpy(z, s->task->host.best, bytes);
    memset(s->l, 0, bytes);
    s->least_rho = 10 * s->system.rho;
    return change_rho(s, s->least_rho, z);
}

/* Whether the z just judged is far worse than the best, or lost altogether. */
static bool has_diverged(const splitting *s)
{
    double relative = s->task->report->judgement.asked.relative;
    return !isfinite(relative) || (relative > 1 && relative > 1e3 * s->task->best_relative);
}

/* (1) to (6) once; *lost when no rho is left to try */
static cairn_status go_round(splitting *s, cairn_watch *watch, double *z, bool *lost)
{
    cairn_task *task = s->task;
    TRY(minimise(s));
    project(s, z);
    task->report->iterations++;
    double estimate = fmax(s->primal, s->dual);
    if (isfinite(estimate) && !cairn_watch_due(watch, task, estimate))
        return adapt(s, z);
    task->report->converged = cairn_task_judge_array(task, z); /* (5) */
    cairn_watch_learn(watch, task, estimate);
    if (!has_diverged(s))
        return adapt(s, z);
    *lost = 10 * s->system.rho > largest_rho;
    return *lost ? CAIRN_OK : start_over(s, z);
}

static cairn_status iterate(splitting *s, double *z)
{
    cairn_task *task = s->task;
    cairn_watch watch = { .patience = PATIENCE };
    TRY(start(s, z));
    bool lost = false;
    while (!task->report->converged && cairn_task_may_go_on(task) && !lost)
        TRY(go_round(s, &watch, z, &lost));
    if (!task->report->converged)
        task->report->converged = cairn_task_judge_array(task, z);
    if (lost)
        snprintf(task->report->remark, sizeof task->report->remark, "diverges for every penalty");
    return CAIRN_OK;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    splitting s = { .task = task };
    task->report->converged = cairn_task_judge_array(task, r);
    if (task->report->converged)
        return CAIRN_OK;
    if (!isfinite(task->report->judgement.asked.relative))
        return CAIRN_NOT_FINITE;
    TRY(take_arrays(&s));
    cairn_status status = cairn_admm_system_create(task->p, task->arena, &s.system);
    if (status == CAIRN_OK)
        status = iterate(&s, r);
    cairn_admm_system_destroy(&s.system);
    return status;
}

const cairn_solver cairn_solver_admm = {
    .name = "admm",
    .summary = "alternating directions with a factorised system, adaptive penalty and momentum",
    .laws = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) |
            CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) | CAIRN_TREATS_ROWS | CAIRN_TREATS_ROLLING,
    .run_on_host = run,
    .alone = true,
};
