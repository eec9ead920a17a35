/* admm.c - alternating direction method of multipliers on the dual, with a factorised system.
 *
 * Minimises f(r) + [z in K] with r = z, f(r) = 1/2 r'W r + q'r, penalty rho/2 |r - z + l|_D^2,
 * where D makes rho a pure number (the system, below). Rows with bounds have their 1/2 eps z^2 on
 * the side of z. From y = z and m = l:
 *   (1) r = y - (W + rho D)^-1 (W y + q + rho D m): one product and one pair of triangular solves
 *       (the system, below). In the local form the symmetric part of W is factored; if W is a
 *       little unsymmetric, the iteration still converges to the solution of W itself
 *   (2) z+ = P_K(r + m), with compliance P((r + m) rho D/(rho D + eps)); l+ = m + r - z+
 *   (3) momentum, y = z+ + beta (z+ - z), m = l+ + beta (l+ - l), with Nesterov's beta; it starts
 *       anew when |D (z+ - y)|^2 + |D (l+ - m)|^2 has grown
 *   (4) at intervals that grow: rho times the square root of
 *           (|D (r - z+)|/|D z+|) / (rho |D (z+ - y)|/max(rho |D l+|, |q|)),
 *       and a new factor, when that is far from 1
 *   (5) stop on the judge's residual of z
 *   (6) if W is so unsymmetric that a small rho diverges: restart from the best z with a larger rho
 * -rho D l is the velocity with its shift. Convex law: for a fixed rho and beta = 0 it converges;
 * rho changes less and less often. Coulomb's law: the normal part of q contains mu s,
 * s = rho D |l_T|, updated in (1); that it then converges is experience, not a theorem. There is no
 * over-relaxation, because it does not combine well with momentum. */
#include "solve/systems.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/host/host.h"
#include "base/common.h"
#include "math/factor.h"
#include "problem/operator.h"
#include "solve/solver.h"

/* ---- the system -------------------------------------------------------------------------- */

/* X = (W + rho D)^-1 h with a sparse factor, for changing rho.
 *
 * Block form: W = G G' with G = H M^-1/2, and
 *     (W + rho D)^-1 h = (h - G A^-1 G'D^-1 h/rho)/(rho D),     A = I + G'D^-1 G/rho,
 * a matrix of the size of the velocities with a block for each pair of bodies in touch. Local form:
 * W + rho D with the symmetric part of W. In both the pattern is analysed once. D is trace(W_jj)/d
 * for a contact and W_ii for a row with bounds; a tenth of it for a row without bounds, that is, an
 * equation, where rho only has to compensate for redundant rows. */

static const double slight = 0.1; /* D of an equation over W_ii */

/* ---- the matrix ----------------------------------------------------------------------------- */

/* The list of entries while it is built. */
typedef struct list {
    int64_t count;
    int32_t *row, *column;
    double *value;
} list;

static void add_entry(list *to, int row, int column, double value)
{
    if (row > column)
        return; /* below the diagonal */
    to->row[to->count] = row;
    to->column[to->count] = column;
    to->value[to->count++] = value;
}

/* Block (a, b) of G'D^-1 G from contact j, a and b being its sides. */
static void add_pair(const cairn_admm_system *s, int j, int a, int b, list *to)
{
    const cairn_problem *p = s->p;
    int d = p->dimension, n = p->block_size;
    double room[2][18];
    const double *Ha = cairn_rows(p, j, a, room[0]), *Hb = cairn_rows(p, j, b, room[1]);
    int first = p->block[2 * j + a] * n, second = p->block[2 * j + b] * n;
    for (int i = 0; i < n && first >= 0 && second >= 0; i++)
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int l = 0; l < d; l++)
                sum += Ha[l * n + i] * Hb[l * n + k] / s->w[j * d + l];
            add_entry(to, first + i, second + k, s->root[first + i] * s->root[second + k] * sum);
        }
}

static cairn_status form_bodies(cairn_admm_system *s, cairn_arena *arena)
{
    const cairn_problem *p = s->p;
    int n = p->block_size, size = p->blocks * n;
    size_t most = (size_t)size + (size_t)p->contacts * (size_t)(4 * n * n);
    list all = { .row = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .column = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .value = cairn_arena_take(arena, most, sizeof(double)) };
    s->root = cairn_arena_take(arena, (size_t)size, sizeof(double));
    s->y = cairn_arena_take(arena, (size_t)size, sizeof(double));
    if (!all.row || !all.column || !all.value || !s->root || !s->y)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < size; i++) {
        s->root[i] = sqrt(p->mass_inverse[i]);
        add_entry(&all, i, i, 0);
    }
    for (int j = 0; j < p->contacts; j++)
        for (int pair = 0; pair < 4; pair++)
            add_pair(s, j, pair / 2, pair % 2, &all);
    cairn_triplets entries = { all.count, all.row, all.column, all.value };
    return cairn_sparse_gather(size, size, &entries, arena, &s->base);
}

/* The symmetric part of W, with a diagonal. */
static cairn_status form_local(cairn_admm_system *s, cairn_arena *arena)
{
    const cairn_matrix *W = s->p->W;
    int size = s->p->contacts * s->p->dimension;
    size_t most = (size_t)size + (size_t)W->start[size];
    list all = { .row = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .column = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .value = cairn_arena_take(arena, most, sizeof(double)) };
    if (!all.row || !all.column || !all.value)
        return CAIRN_NO_MEMORY;
    for (int row = 0; row < size; row++) {
        add_entry(&all, row, row, 0);
        for (int64_t k = W->start[row]; k < W->start[row + 1]; k++) {
            int column = W->column[k];
            double share = row == column ? 1 : 0.5;
            add_entry(&all, row < column ? row : column, row < column ? column : row,
                      share * W->value[k]);
        }
    }
    cairn_triplets entries = { all.count, all.row, all.column, all.value };
    return cairn_sparse_gather(size, size, &entries, arena, &s->base);
}

static cairn_status weigh(cairn_admm_system *s, cairn_arena *arena)
{
    size_t d = (size_t)s->p->dimension;
    s->w = cairn_arena_take(arena, (size_t)s->p->contacts * d, sizeof(double));
    if (!s->w)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < s->p->contacts; j++) {
        double *w = s->w + (size_t)j * d;
        cairn_contact_scales(s->p, j, w);
        for (int i = 0; cairn_is_bounded(s->p, j) && i < (int)d; i++)
            w[i] *= cairn_row_is_free(s->p, j, i) ? slight : 1;
    }
    return CAIRN_OK;
}

cairn_status cairn_admm_system_create(const cairn_problem *p, cairn_arena *arena,
                                      cairn_admm_system *out)
{
    *out = (cairn_admm_system){ .p = p };
    TRY(weigh(out, arena));
    TRY(p->W ? form_local(out, arena) : form_bodies(out, arena));
    out->value = cairn_arena_take(arena, (size_t)out->base.start[out->base.rows], sizeof(double));
    return out->value ? cairn_cholesky_create(&out->factor) : CAIRN_NO_MEMORY;
}

void cairn_admm_system_destroy(cairn_admm_system *s)
{
    cairn_cholesky_destroy(s->factor);
}

/* ---- factor and solve ----------------------------------------------------------------------- */

cairn_status cairn_admm_system_factor(cairn_admm_system *s, double rho, bool *positive)
{
    cairn_matrix A = s->base;
    A.value = s->value;
    s->rho = rho;
    for (int row = 0; row < A.rows; row++) {
        double diagonal = s->p->W ? rho * s->w[row] : 1;
        double factor = s->p->W ? 1 : 1 / rho;
        for (int64_t k = A.start[row]; k < A.start[row + 1]; k++)
            s->value[k] = factor * s->base.value[k] + (A.column[k] == row ? diagonal : 0);
    }
    return cairn_cholesky_factor(s->factor, &A, positive);
}

/* G' and G are the operators of the problem with M^-1/2 for M^-1 and without w. */
static cairn_status solve_bodies(cairn_admm_system *s, double *h)
{
    cairn_problem G = *s->p;
    int d = G.dimension, n = G.block_size;
    size_t size = (size_t)G.blocks * (size_t)n;
    G.mass_inverse = s->root;
    G.w = NULL;
    for (size_t i = 0; i < size; i++)
        s->y[i] = 0;
    for (int j = 0; j < G.contacts; j++) { /* h = h/(rho D), y = G'h */
        double *own = h + (size_t)j * (size_t)d;
        for (int i = 0; i < d; i++)
            own[i] /= s->rho * s->w[j * d + i];
        cairn_contact_push(&G, d, n, j, own, s->y);
    }
    TRY(cairn_cholesky_solve(s->factor, s->y, s->y));
    for (size_t i = 0; i < size; i++)
        s->y[i] *= s->root[i];
    for (int j = 0; j < G.contacts; j++) { /* h -= G A^-1 y/(rho D) */
        double u[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(&G, d, n, j, s->y, u);
        for (int i = 0; i < d; i++)
            h[(size_t)j * (size_t)d + (size_t)i] -= u[i] / (s->rho * s->w[j * d + i]);
    }
    return CAIRN_OK;
}

cairn_status cairn_admm_system_solve(cairn_admm_system *s, double *h)
{
    return s->p->W ? cairn_cholesky_solve(s->factor, h, h) : solve_bodies(s, h);
}

/* ---- the method -------------------------------------------------------------------------- */

enum { PATIENCE = 10, FIRST_ADAPTATION = 10 };

static const double far_from_1 = 1.5; /* rho is changed only by more than this factor */
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

/* A new factor; rho l is kept, momentum restarts. */
static cairn_status change_rho(splitting *s, double rho, const double *z)
{
    size_t n = s->task->system->r_count;
    bool positive = false;
    double old = s->system.rho;
    for (; !positive && rho <= largest_rho; rho *= 10) /* until W + rho D is positive definite */
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
    cairn_host_project(system, z); /* a warm start may lie outside the cones */
    s->system.rho = 1;
    s->least_rho = 1e-8;
    s->adapt_at = s->interval = FIRST_ADAPTATION;
    return change_rho(s, 1, z);
}

/* (6) restart from the best z with a larger rho */
static cairn_status start_over(splitting *s, double *z)
{
    size_t bytes = s->task->system->r_count * sizeof(double);
    memcpy(z, s->task->host.best, bytes);
    memset(s->l, 0, bytes);
    s->least_rho = 10 * s->system.rho;
    return change_rho(s, s->least_rho, z);
}

/* Whether the z just judged is far worse than the best one, or not finite. */
static bool has_diverged(const splitting *s)
{
    double relative = s->task->report->judgement.asked.relative;
    return !isfinite(relative) || (relative > 1 && relative > 1e3 * s->task->best_relative);
}

/* (1) to (6) once; *lost is set if there is no larger rho to try */
static cairn_status go_round(splitting *s, cairn_judge_timer *timer, double *z, bool *lost)
{
    cairn_task *task = s->task;
    TRY(minimise(s));
    project(s, z);
    task->report->iterations++;
    double estimate = fmax(s->primal, s->dual);
    if (isfinite(estimate) && !cairn_judge_timer_due(timer, task, estimate))
        return adapt(s, z);
    task->report->converged = cairn_task_judge_array(task, z); /* (5) */
    cairn_judge_timer_learn(timer, task, estimate);
    if (!has_diverged(s))
        return adapt(s, z);
    *lost = 10 * s->system.rho > largest_rho;
    return *lost ? CAIRN_OK : start_over(s, z);
}

static cairn_status iterate(splitting *s, double *z)
{
    cairn_task *task = s->task;
    cairn_judge_timer timer = { .patience = PATIENCE };
    TRY(start(s, z));
    bool lost = false;
    while (!task->report->converged && cairn_task_may_go_on(task) && !lost)
        TRY(go_round(s, &timer, z, &lost));
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
