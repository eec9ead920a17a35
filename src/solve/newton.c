/* newton.c - semismooth Newton in a proximal-point loop: exact Coulomb and convex law.
 *
 * Finds r = Phi(r - rho u), u = W r + q: Alart and Curnier's equation for Coulomb's law, the
 * natural map for the convex one (problem/local.c). W is mostly singular, so each round
 * solves the problem with W + alpha D instead, D = trace(W_jj)/d, pulled towards the last answer:
 *   (1) begin with a few sweeps of Gauss-Seidel, unless they are done or the residual is small
 *       already, and alpha = 1/1000;
 *   (2) centre = r: u = W r + q + alpha D (r - centre);
 *   (3) Newton steps J dr = -F, whole ones (see below), until |F| has fallen tenfold;
 *   (4) if that was reached in time: the centre moves there, and alpha is divided by 10 if it took
 *       few steps, else by 2;
 *   (5) if not: back to the centre, alpha grows fivefold, and a few sweeps bring contacts to other
 *       states; their result is kept unless the residual grew much;
 *   (6) stop on the judge's residual of P_K(r) after each round.
 * Steps are whole because what matters is which contacts are open, stick or slide; a line search
 * on |F| lets them change one by one, and took ten times the steps on the problems of FCLib.
 * There |F| may grow a thousandfold and vanish in the next step. The loop is safe because of alpha:
 * with a large one the problem is nearly diagonal. There is no proof of convergence for Coulomb's
 * law; a loop that finds nothing better for long gives up, and the report says so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "problem/cone.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "solve/systems.h"

enum { SWEEPS = 20, STEPS = 8, FEW_STEPS = 3, PATIENCE = 200 };

static const double first_alpha = 1e-3, least_alpha = 1e-12, largest_alpha = 1e3;
static const double enough = 0.1;   /* |F| of a round over |F| at its centre          */
static const double near = 1e-4;    /* residual below which sweeps change no states    */
static const double much_worse = 3; /* growth of the residual that sweeps may cause   */

typedef struct search {
    cairn_task *task;
    cairn_newton_system system;
    double residual; /* the judge's residual of r            */
    double *kept;    /* r to go back to                      */
    double *judged;  /* P_K(r)                               */
    int64_t rounds_at_best;
    double halved;     /* the best residual when it was last halved, */
    int64_t halved_at; /* and the iterations then                    */
} search;

/* (6) */
static void judge(search *s, const double *r)
{
    const cairn_system *system = s->task->system;
    double best = s->task->best_relative;
    memcpy(s->judged, r, system->r_count * sizeof(double));
    cairn_host_project(system, s->judged);
    s->task->report->converged = cairn_task_judge_array(s->task, s->judged);
    s->residual = s->task->report->judgement.asked.relative;
    if (s->task->best_relative < best)
        s->rounds_at_best = s->task->report->outer_iterations;
    if (s->task->best_relative > 0.5 * s->halved)
        return;
    s->halved = s->task->best_relative;
    s->halved_at = s->task->report->iterations;
}

/* Sweeps from r; the judge's velocities may be those of another r. */
static void sweep(search *s, double *r)
{
    cairn_task *task = s->task;
    const cairn_system *system = task->system;
    memcpy(s->judged, r, system->r_count * sizeof(double));
    cairn_problem_velocity(task->p, r, task->host.v);
    for (int k = 0; k < SWEEPS && cairn_task_may_go_on(task); k++) {
        cairn_host_sweep(system, task->options->law, s->judged, r, task->host.v);
        task->report->iterations++;
    }
    judge(s, r);
}

/* (2) and (3); *reached tells whether |F| fell enough */
static cairn_status solve_proximal(search *s, double *r, bool *reached, int *steps)
{
    cairn_newton_system *system = &s->system;
    memcpy(system->centre, r, system->n * sizeof(double));
    double target = enough * cairn_newton_system_residual(system, r);
    bool good = true;
    *reached = false;
    for (*steps = 0; *steps < STEPS && good && !*reached; ++*steps) {
        if (!cairn_task_may_go_on(s->task))
            return CAIRN_OK;
        TRY(cairn_newton_system_step(system, r, &good));
        s->task->report->iterations++;
        *reached = good && cairn_newton_system_residual(system, r) <= target;
    }
    return CAIRN_OK;
}

/* (5) */
static void step_back(search *s, double before, double *r)
{
    size_t bytes = s->system.n * sizeof(double);
    s->system.alpha = fmin(largest_alpha, 5 * fmax(s->system.alpha, 1e-9));
    if (!(s->residual <= before)) { /* true for NaN as well */
        memcpy(r, s->kept, bytes);
        s->residual = before;
    }
    before = s->residual;
    memcpy(s->kept, r, bytes);
    sweep(s, r);
    if (s->residual <= much_worse * before)
        return;
    memcpy(r, s->kept, bytes);
    s->residual = before;
}

/* (2) to (6) once */
static cairn_status go_round(search *s, double *r)
{
    bool reached;
    int steps;
    double before = s->residual;
    memcpy(s->kept, r, s->system.n * sizeof(double));
    TRY(solve_proximal(s, r, &reached, &steps));
    s->task->report->outer_iterations++;
    judge(s, r);
    if (s->task->report->converged)
        return CAIRN_OK;
    if (!reached || !isfinite(s->residual))
        step_back(s, before, r);
    else /* (4) */
        s->system.alpha = fmax(least_alpha, s->system.alpha * (steps <= FEW_STEPS ? 0.1 : 0.5));
    return CAIRN_OK;
}

/* Whether another round is worthwhile; if not, the remark of the report says why. */
static bool is_stuck(search *s)
{
    cairn_solve_report *report = s->task->report;
    bool impatient = s->task->patience > 0 && report->iterations - s->halved_at > s->task->patience;
    bool stuck = report->outer_iterations - s->rounds_at_best >= PATIENCE ||
                 s->system.alpha >= largest_alpha || impatient;
    if (stuck)
        snprintf(report->remark, sizeof report->remark,
                 "stuck after %lld rounds; the problem may have no solution",
                 (long long)report->outer_iterations);
    return stuck;
}

static cairn_status iterate(search *s, double *r)
{
    cairn_task *task = s->task;
    s->system.alpha = first_alpha;
    TRY(cairn_host_diagonals(task->system, task->arena));
    if (task->swept || task->report->judgement.asked.relative <= near)
        judge(s, r);
    else
        sweep(s, r); /* (1) */
    if (!isfinite(s->residual))
        return CAIRN_NOT_FINITE;
    while (!task->report->converged && cairn_task_may_go_on(task) && !is_stuck(s))
        TRY(go_round(s, r));
    return CAIRN_OK;
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    search s = { .task = task, .halved = INFINITY };
    task->report->converged = cairn_task_judge_array(task, r);
    if (task->report->converged)
        return CAIRN_OK;
    task->report->outer_iterations = 0;
    s.kept = cairn_arena_take(task->arena, task->system->r_count, sizeof(double));
    s.judged = cairn_arena_take(task->arena, task->system->r_count, sizeof(double));
    if (!s.kept || !s.judged)
        return CAIRN_NO_MEMORY;
    cairn_status status = cairn_newton_system_create(task, &s.system);
    if (status == CAIRN_OK)
        status = iterate(&s, r);
    cairn_newton_system_destroy(&s.system);
    return status;
}

const cairn_solver cairn_solver_newton = {
    .name = "newton",
    .summary = "semismooth Newton in a proximal-point loop; few contacts, high accuracy",
    .laws = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) | CAIRN_TREATS_ROWS |
            CAIRN_TREATS_ROLLING,
    .run_on_host = run,
    .most_contacts = 20000,
    .alone = true,
};

/* ---- the equations, and one step ------------------------------------------------------------- */

/* The equations of the semismooth Newton method and one step of it.
 *
 * With y = r - R u, u = (W + E) r + q + shift n + A D (r - centre), G = dPhi/dy
 * (problem/local.c):
 *     F = D (r - Phi(y)),     J = D (I - G) + D G R (W + E + A D),     J dr = -F.
 * Rows are scaled by D = trace(W_jj)/d, W_ii for rows with bounds, so that |F| is a speed and
 * comparable with the judge's residual. R is 1/W_NN for the normal and 1/mean(W_kk) for the other
 * parts of a contact; the projection of the convex law needs a single number, 1/D. E is the
 * compliance. A is alpha, but 1e-9 for rows without bounds: these are linear, and A only makes
 * redundant ones regular. In block form the unknowns are the velocities of the bodies, unless the
 * contacts are so few that their own equations are less work; these are also used in the local
 * form. */

static const double slight = 1e-9; /* A of equations */

/* ---- set up --------------------------------------------------------------------------------- */

static cairn_status take_arrays(cairn_newton_system *s, cairn_arena *arena)
{
    size_t contacts = (size_t)s->p->contacts, d = (size_t)s->p->dimension;
    double **arrays[] = { &s->centre, &s->rho, &s->u, &s->F, &s->step, &s->w, &s->eps };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = cairn_arena_doubles(arena, s->n)))
            return CAIRN_NO_MEMORY;
    s->shift = cairn_arena_take(arena, contacts, sizeof(double));
    s->equation = cairn_arena_take(arena, s->n, sizeof(bool));
    s->G = cairn_arena_take(arena, s->n * d, sizeof(double));
    s->closed = cairn_arena_take(arena, contacts, sizeof(bool));
    return s->shift && s->equation && s->G && s->closed ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static double positive_or(double x, double otherwise)
{
    return x > 0 ? x : otherwise;
}

/* Mean of W's diagonal over a part of contact j's cone. */
static double mean_of(const cairn_cone_part *part, const double *W)
{
    double sum = 0;
    for (int i = part->first; i < part->first + part->count; i++)
        sum += W[i * (i + 3) / 2];
    return sum / part->count;
}

/* R of Alart and Curnier's map for contact j */
static void scale_parts(cairn_newton_system *s, int j)
{
    cairn_cone_part part[CAIRN_CONE_PARTS];
    double W[CAIRN_TRIANGLE];
    size_t first = (size_t)j * (size_t)s->p->dimension;
    int parts = cairn_cone_parts(s->p, j, part);
    cairn_contact_delassus(s->p, j, W);
    s->rho[first] = 1 / positive_or(W[0], s->w[first]);
    for (int k = 0; k < parts; k++)
        for (int i = part[k].first; i < part[k].first + part[k].count; i++)
            s->rho[first + (size_t)i] = 1 / positive_or(mean_of(&part[k], W), s->w[first]);
}

/* D, R, E and shift of contact j; where nothing can move D = 1. */
static void scale_contact(cairn_newton_system *s, int j)
{
    const cairn_problem *p = s->p;
    size_t d = (size_t)p->dimension, first = (size_t)j * d;
    bool convex = s->law == CAIRN_LAW_CONVEX, rows = cairn_is_bounded(p, j);
    cairn_contact_scales(p, j, s->w + first);
    s->shift[j] = convex ? cairn_contact_shift(p, j) : cairn_contact_bias(p, j);
    for (size_t i = 0; i < d; i++) {
        s->rho[first + i] = 1 / s->w[first + i];
        s->eps[first + i] = rows && p->compliance ? p->compliance[first + i] : 0;
        s->equation[first + i] = rows && cairn_row_is_free(p, j, (int)i);
    }
    if (!convex && !rows)
        scale_parts(s, j);
}

double cairn_newton_pull(const cairn_newton_system *s, size_t i)
{
    return s->w[i] * (s->equation[i] ? slight : s->alpha);
}

cairn_status cairn_newton_system_create(cairn_task *task, cairn_newton_system *out)
{
    const cairn_system *system = task->system;
    bool by_bodies = !system->p->W && system->v_count <= 2 * system->r_count;
    *out = (cairn_newton_system){ .p = system->p,
                                  .form = by_bodies ? &cairn_newton_bodies : &cairn_newton_contacts,
                                  .law = task->options->law,
                                  .n = system->r_count };
    TRY(take_arrays(out, task->arena));
    for (int j = 0; j < out->p->contacts; j++)
        scale_contact(out, j);
    TRY(out->form->create(out, task->arena));
    return cairn_lu_create(&out->lu);
}

void cairn_newton_system_destroy(cairn_newton_system *s)
{
    cairn_lu_destroy(s->lu);
}

/* ---- residual and step ---------------------------------------------------------------------- */

/* F_j and G_j; returns |F_j|^2 */
static double residual_of(cairn_newton_system *s, int d, int j, const double *r)
{
    size_t first = (size_t)j * (size_t)d;
    double y[CAIRN_MAX_DIMENSION], phi[CAIRN_MAX_DIMENSION], sum = 0;
    for (size_t i = 0; i < (size_t)d; i++) {
        size_t k = first + i;
        double pull = cairn_newton_pull(s, k) * (r[k] - s->centre[k]) + s->eps[k] * r[k];
        y[i] = r[k] - s->rho[k] * (s->u[k] + (i ? 0 : s->shift[j]) + pull);
    }
    s->closed[j] = cairn_contact_map(s->p, j, s->law, y, phi, s->G + first * (size_t)d);
    for (size_t i = 0; i < (size_t)d; i++) {
        s->F[first + i] = s->w[first + i] * (r[first + i] - phi[i]);
        sum += s->F[first + i] * s->F[first + i];
    }
    return sum;
}

double cairn_newton_system_residual(cairn_newton_system *s, const double *r)
{
    double sum = 0;
    s->form->relative(s, r);
    for (int j = 0; j < s->p->contacts; j++)
        sum += residual_of(s, s->p->dimension, j, r);
    return sqrt(sum);
}

cairn_status cairn_newton_system_step(cairn_newton_system *s, double *r, bool *good)
{
    TRY(s->form->solve(s, r, good));
    for (size_t i = 0; *good && i < s->n; i++)
        *good = isfinite(s->step[i]);
    for (size_t i = 0; *good && i < s->n; i++)
        r[i] += s->step[i];
    return CAIRN_OK;
}

/* ---- equations of the contacts ----------------------------------------------------------- */

/* J dr = -F as equations of the contacts, with W formed in d x d blocks.
 *
 * An open contact has Phi = 0, G = 0, thus dr = -r. It is eliminated, so that the size of the
 * system is that of the closed contacts. */

/* ---- W by blocks ---------------------------------------------------------------------------- */

static void sort(int32_t *x, int64_t count)
{
    for (int64_t i = 1; i < count; i++) /* nearly sorted: insertion */
        for (int64_t k = i; k > 0 && x[k - 1] > x[k]; k--) {
            int32_t larger = x[k - 1];
            x[k - 1] = x[k];
            x[k] = larger;
        }
}

/* Which contacts each contact couples with, itself included, ascending. */
static int64_t list_neighbours(cairn_newton_system *s, int32_t *seen)
{
    const cairn_matrix *W = &s->formed;
    int d = s->p->dimension;
    int64_t at = 0;
    memset(seen, 0xff, (size_t)s->p->contacts * sizeof(int32_t)); /* -1 */
    for (int j = 0; j < s->p->contacts; j++) {
        size_t row = (size_t)j * (size_t)d;
        s->start[j] = at;
        seen[j] = j;
        s->other[at++] = j;
        for (int64_t k = W->start[row]; k < W->start[row + (size_t)d]; k++) {
            int other = W->column[k] / d;
            if (seen[other] != j)
                s->other[at++] = other;
            seen[other] = j;
        }
        sort(s->other + s->start[j], at - s->start[j]);
    }
    s->start[s->p->contacts] = at;
    return at;
}

/* Copy the numbers of W into the blocks; `where` is scratch, one per contact. */
static void fill_blocks(cairn_newton_system *s, int64_t *where)
{
    const cairn_matrix *W = &s->formed;
    int d = s->p->dimension;
    for (int j = 0; j < s->p->contacts; j++) {
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
            where[s->other[k]] = k;
        for (int i = 0; i < d; i++) {
            size_t row = (size_t)j * (size_t)d + (size_t)i;
            for (int64_t k = W->start[row]; k < W->start[row + 1]; k++) {
                int other = W->column[k] / d, l = W->column[k] % d;
                s->W[where[other] * d * d + i * d + l] += W->value[k];
            }
        }
    }
}

static cairn_status create_contacts(cairn_newton_system *s, cairn_arena *arena)
{
    TRY(cairn_delassus_localise(s->p, arena, &s->formed, &s->local));
    size_t contacts = (size_t)s->p->contacts, d = (size_t)s->p->dimension;
    size_t most = (contacts ? (size_t)s->formed.start[s->n] : 0) + contacts;
    int32_t *seen = cairn_arena_take(arena, contacts, sizeof(int32_t));
    int64_t *where = cairn_arena_take(arena, contacts, sizeof(int64_t));
    s->start = cairn_arena_take(arena, contacts + 1, sizeof(int64_t));
    s->other = cairn_arena_take(arena, most, sizeof(int32_t));
    if (!seen || !where || !s->start || !s->other)
        return CAIRN_NO_MEMORY;
    size_t numbers = (size_t)list_neighbours(s, seen) * d * d;
    s->W = cairn_arena_doubles(arena, numbers);
    s->matrix = cairn_arena_take(arena, numbers, sizeof(double));
    s->column = cairn_arena_take(arena, numbers, sizeof(int32_t));
    s->row = cairn_arena_take(arena, s->n + 1, sizeof(int64_t));
    s->right = cairn_arena_take(arena, s->n, sizeof(double));
    s->index = cairn_arena_take(arena, contacts, sizeof(int32_t));
    if (!s->W || !s->matrix || !s->column || !s->row || !s->right || !s->index)
        return CAIRN_NO_MEMORY;
    fill_blocks(s, where);
    return CAIRN_OK;
}

CAIRN_INLINE void multiply(cairn_newton_system *s, int d, const double *r)
{
    for (int j = 0; j < s->p->contacts; j++) {
        double *u = s->u + (size_t)j * (size_t)d;
        memcpy(u, s->local.q + (size_t)j * (size_t)d, sizeof(double) * (size_t)d);
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) {
            const double *W = s->W + k * d * d, *other = r + (size_t)s->other[k] * (size_t)d;
            for (int i = 0; i < d; i++)
                for (int l = 0; l < d; l++)
                    u[i] += W[i * d + l] * other[l];
        }
    }
}

static void relative_contacts(cairn_newton_system *s, const double *r)
{
    if (s->p->dimension == 3)
        multiply(s, 3, r);
    else
        multiply(s, s->p->dimension, r);
}

/* ---- the linear system ---------------------------------------------------------------------- */

/* Block (j, other) of J from the block W of the operator. */
CAIRN_INLINE void jacobian_block(const cairn_newton_system *s, int d, int j, bool own,
                                 const double *W, double *out)
{
    size_t first = (size_t)j * (size_t)d;
    const double *G = s->G + first * (size_t)d, *rho = s->rho + first;
    for (int i = 0; i < d; i++)
        for (int l = 0; l < d; l++) {
            size_t column = first + (size_t)l;
            double added = own ? cairn_newton_pull(s, column) + s->eps[column] : 0;
            double sum = own ? (i == l) - G[i * d + l] : 0;
            for (int k = 0; k < d; k++)
                sum += G[i * d + k] * rho[k] * (W[k * d + l] + (k == l ? added : 0));
            out[i * d + l] = s->w[first + (size_t)i] * sum;
        }
}

/* Store a block at `at`, with `stride` numbers from row to row. */
CAIRN_INLINE void store_block(cairn_newton_system *s, int d, const double *block, int first_column,
                              int64_t at, int64_t stride)
{
    for (int i = 0; i < d; i++)
        for (int l = 0; l < d; l++) {
            s->matrix[at + i * stride + l] = block[i * d + l];
            s->column[at + i * stride + l] = first_column + l;
        }
}

/* Rows of the closed contact j, beginning at entry `at`; open neighbours go to the right side. */
CAIRN_INLINE int64_t add_rows(cairn_newton_system *s, int d, int j, const double *r, int64_t at)
{
    size_t first = (size_t)j * (size_t)d, place = (size_t)s->index[j] * (size_t)d;
    int64_t stride = 0, slot = at;
    for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
        stride += s->index[s->other[k]] >= 0 ? d : 0;
    for (size_t i = 0; i < (size_t)d; i++) {
        s->row[place + i] = at + (int64_t)i * stride;
        s->right[place + i] = -s->F[first + i];
    }
    for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) {
        double block[CAIRN_MAX_DIMENSION * CAIRN_MAX_DIMENSION];
        int other = s->other[k], to = s->index[other];
        jacobian_block(s, d, j, other == j, s->W + k * d * d, block);
        if (to >= 0) {
            store_block(s, d, block, to * d, slot, stride);
            slot += d;
            continue;
        }
        for (int i = 0; i < d; i++)
            for (int l = 0; l < d; l++)
                s->right[place + (size_t)i] += block[i * d + l] * r[other * d + l];
    }
    return at + stride * d;
}

static cairn_matrix assemble_contacts(cairn_newton_system *s, const double *r)
{
    int32_t closed = 0, d = s->p->dimension;
    int64_t at = 0;
    for (int j = 0; j < s->p->contacts; j++)
        s->index[j] = s->closed[j] ? closed++ : -1;
    for (int j = 0; j < s->p->contacts; j++)
        if (s->closed[j])
            at = d == 3 ? add_rows(s, 3, j, r, at) : add_rows(s, d, j, r, at);
    s->row[closed * d] = at;
    return (cairn_matrix){ closed * d, closed * d, s->row, s->column, s->matrix };
}

static cairn_status solve_contacts(cairn_newton_system *s, const double *r, bool *regular)
{
    cairn_matrix J = assemble_contacts(s, r);
    int d = s->p->dimension;
    TRY(cairn_lu_factor(s->lu, &J, regular));
    if (!*regular)
        return CAIRN_OK;
    TRY(cairn_lu_solve(s->lu, s->right, s->right));
    for (int j = 0; j < s->p->contacts; j++)
        for (int i = 0; i < d; i++)
            s->step[j * d + i] = s->closed[j] ? s->right[s->index[j] * d + i] : -r[j * d + i];
    return CAIRN_OK;
}

const cairn_newton_form cairn_newton_contacts = { create_contacts, relative_contacts,
                                                  solve_contacts };

/* ---- equations of the bodies ------------------------------------------------------------- */

/* J dr = -F as equations of the bodies' velocities.
 *
 * J = A + B W with A = D (I - G) + D G R (E + pull) and B = D G R, pull the proximal term's, both
 * made of d x d blocks, one for each contact, and W = H M^-1 H'. With x = M^-1/2 H'dr, K = A^-1 B:
 *     (I + M^-1/2 H'K H M^-1/2) x = -M^-1/2 H'A^-1 F,     dr = -A^-1 F - K H M^-1/2 x,
 * a matrix with a block for each pair of bodies in touch: smaller than J, and much sparser, as two
 * contacts of one body do not meet in it. An open contact has B = 0 and adds nothing. A is regular
 * for alpha > 0; a contact that sticks has K = 1/pull, so alpha must not be tiny. */

enum { MOST = CAIRN_MAX_DIMENSION };

/* ---- pattern -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Keys row * blocks + column of all block pairs, sorted, each once. */
static int64_t list_pairs(const cairn_problem *p, int64_t *key)
{
    int64_t count = 0, kept = 0;
    for (int i = 0; i < p->blocks; i++)
        key[count++] = (int64_t)i * p->blocks + i;
    for (int j = 0; j < p->contacts; j++) {
        int64_t a = p->block[2 * j], b = p->block[2 * j + 1];
        if (a < 0 || b < 0)
            continue;
        key[count++] = a * p->blocks + b;
        key[count++] = b * p->blocks + a;
    }
    qsort(key, (size_t)count, sizeof *key, ascending);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || key[i] != key[i - 1])
            key[kept++] = key[i];
    return kept;
}

/* Rows and columns of the matrix; place[i] is where the block of key[i] begins. */
static void lay_out(cairn_newton_system *s, int64_t pairs, const int64_t *key, int64_t *place)
{
    int n = s->p->block_size, blocks = s->p->blocks;
    int64_t at = 0, i = 0;
    for (int body = 0; body < blocks; body++) {
        int64_t first = i;
        while (i < pairs && key[i] / blocks == body)
            i++;
        for (int64_t k = first; k < i; k++)
            place[k] = at + (k - first) * n;
        for (int row = 0; row < n; row++) {
            s->row[(size_t)body * (size_t)n + (size_t)row] = at;
            for (int64_t k = first; k < i; k++)
                for (int l = 0; l < n; l++)
                    s->column[at++] = (int32_t)(key[k] % blocks) * n + l;
        }
    }
    s->row[(size_t)blocks * (size_t)n] = at;
}

/* Where the blocks of contact j begin, for each pair of its sides. */
static void locate(cairn_newton_system *s, int j, int64_t pairs, const int64_t *key,
                   const int64_t *place)
{
    const int32_t *body = s->p->block + 2 * (size_t)j;
    for (int pair = 0; pair < 4; pair++) {
        int64_t a = body[pair / 2], b = body[pair % 2], wanted = a * s->p->blocks + b;
        const int64_t *found =
            a < 0 || b < 0 ? NULL : bsearch(&wanted, key, (size_t)pairs, sizeof *key, ascending);
        s->where[4 * (size_t)j + (size_t)pair] = found ? place[found - key] : -1;
    }
}

static cairn_status create_bodies(cairn_newton_system *s, cairn_arena *arena)
{
    const cairn_problem *p = s->p;
    size_t n = (size_t)p->block_size, size = (size_t)p->blocks * n, contacts = (size_t)p->contacts;
    size_t most = (size_t)p->blocks + 2 * contacts;
    int64_t *key = cairn_arena_take(arena, most, sizeof(int64_t));
    int64_t *place = cairn_arena_take(arena, most, sizeof(int64_t));
    s->where = cairn_arena_take(arena, 4 * contacts, sizeof(int64_t));
    s->root = cairn_arena_take(arena, size, sizeof(double));
    s->v = cairn_arena_take(arena, size, sizeof(double));
    s->right = cairn_arena_take(arena, size, sizeof(double));
    s->row = cairn_arena_take(arena, size + 1, sizeof(int64_t));
    if (!key || !place || !s->where || !s->root || !s->v || !s->right || !s->row)
        return CAIRN_NO_MEMORY;
    int64_t pairs = list_pairs(p, key);
    s->column = cairn_arena_take(arena, (size_t)pairs * n * n, sizeof(int32_t));
    s->matrix = cairn_arena_take(arena, (size_t)pairs * n * n, sizeof(double));
    if (!s->column || !s->matrix)
        return CAIRN_NO_MEMORY;
    lay_out(s, pairs, key, place);
    for (int j = 0; j < p->contacts; j++)
        locate(s, j, pairs, key, place);
    for (size_t i = 0; i < size; i++)
        s->root[i] = sqrt(p->mass_inverse[i]);
    return CAIRN_OK;
}

static void relative_bodies(cairn_newton_system *s, const double *r)
{
    cairn_problem_apply(s->p, r, s->v, s->u);
}

/* ---- the linear system ---------------------------------------------------------------------- */

/* X = A^-1 X for d rows of `columns` numbers, by elimination with row pivots. */
static void eliminate(int d, double A[MOST][MOST], int columns, double X[MOST][MOST + 1])
{
    for (int k = 0; k < d; k++) {
        int pivot = k;
        for (int i = k + 1; i < d; i++)
            pivot = fabs(A[i][k]) > fabs(A[pivot][k]) ? i : pivot;
        for (int l = 0; l < d; l++) {
            double keep = A[k][l];
            A[k][l] = A[pivot][l];
            A[pivot][l] = keep;
        }
        for (int l = 0; l < columns; l++) {
            double keep = X[k][l];
            X[k][l] = X[pivot][l];
            X[pivot][l] = keep;
        }
        for (int i = 0; i < d; i++) {
            double factor = i == k ? 0 : A[i][k] / A[k][k];
            for (int l = 0; l < d; l++)
                A[i][l] -= factor * A[k][l];
            for (int l = 0; l < columns; l++)
                X[i][l] -= factor * X[k][l];
        }
    }
    for (int i = 0; i < d; i++)
        for (int l = 0; l < columns; l++)
            X[i][l] /= A[i][i];
}

/* The columns of K = A^-1 B, and in the last one A^-1 F, for the closed contact j. */
static void contact_blocks(const cairn_newton_system *s, int j, double X[MOST][MOST + 1])
{
    int d = s->p->dimension;
    size_t first = (size_t)j * (size_t)d;
    const double *G = s->G + first * (size_t)d, *rho = s->rho + first;
    double A[MOST][MOST] = { { 0 } };
    for (int i = 0; i < d; i++) {
        double w = s->w[first + (size_t)i];
        for (int l = 0; l < d; l++) {
            size_t column = first + (size_t)l;
            X[i][l] = w * G[i * d + l] * rho[l];
            A[i][l] = w * ((i == l) - G[i * d + l]) +
                      (cairn_newton_pull(s, column) + s->eps[column]) * X[i][l];
        }
        X[i][d] = s->F[first + (size_t)i];
    }
    eliminate(d, A, d + 1, X);
}

/* matrix += M^-1/2 H_a' K H_b M^-1/2 */
static void add_block(cairn_newton_system *s, int j, int pair, double X[MOST][MOST + 1])
{
    const cairn_problem *p = s->p;
    int d = p->dimension, n = p->block_size;
    const int32_t *body = p->block + 2 * (size_t)j;
    double room[2][18];
    const double *Ha = cairn_rows(p, j, pair / 2, room[0]);
    const double *Hb = cairn_rows(p, j, pair % 2, room[1]);
    size_t first = (size_t)body[pair / 2] * (size_t)n, second = (size_t)body[pair % 2] * (size_t)n;
    int64_t stride = s->row[first + 1] - s->row[first];
    double *to = s->matrix + s->where[4 * (size_t)j + (size_t)pair], KH[MOST * 6];
    for (int i = 0; i < d; i++)
        for (int l = 0; l < n; l++) {
            KH[i * n + l] = 0;
            for (int k = 0; k < d; k++)
                KH[i * n + l] += X[i][k] * Hb[k * n + l] * s->root[second + (size_t)l];
        }
    for (int i = 0; i < n; i++)
        for (int l = 0; l < n; l++)
            for (int k = 0; k < d; k++)
                to[i * stride + l] += s->root[first + (size_t)i] * Ha[k * n + i] * KH[k * n + l];
}

/* The matrix, the right side, and step = -A^-1 F */
static cairn_matrix assemble_bodies(cairn_newton_system *s, const cairn_problem *half,
                                    const double *r)
{
    int d = s->p->dimension, n = s->p->block_size, size = s->p->blocks * n;
    memset(s->matrix, 0, (size_t)s->row[size] * sizeof(double));
    for (int row = 0; row < size; row++) {
        s->right[row] = 0;
        for (int64_t k = s->row[row]; k < s->row[row + 1]; k++)
            s->matrix[k] = s->column[k] == row;
    }
    for (int j = 0; j < s->p->contacts; j++) {
        double X[MOST][MOST + 1], *step = s->step + (size_t)j * (size_t)d;
        if (s->closed[j])
            contact_blocks(s, j, X);
        for (int i = 0; i < d; i++)
            step[i] = s->closed[j] ? -X[i][d] : -r[j * d + i];
        cairn_contact_push(half, d, n, j, step, s->right);
        for (int pair = 0; pair < 4 && s->closed[j]; pair++)
            if (s->where[4 * (size_t)j + (size_t)pair] >= 0)
                add_block(s, j, pair, X);
    }
    return (cairn_matrix){ size, size, s->row, s->column, s->matrix };
}

static cairn_status solve_bodies(cairn_newton_system *s, const double *r, bool *regular)
{
    cairn_problem half = *s->p; /* M^-1/2 for M^-1, and no w */
    int d = half.dimension, n = half.block_size, size = half.blocks * n;
    half.mass_inverse = s->root;
    half.w = NULL;
    cairn_matrix N = assemble_bodies(s, &half, r);
    TRY(cairn_lu_factor(s->lu, &N, regular));
    if (!*regular)
        return CAIRN_OK;
    TRY(cairn_lu_solve(s->lu, s->right, s->right));
    for (int i = 0; i < size; i++)
        s->right[i] *= s->root[i];
    for (int j = 0; j < half.contacts; j++) {
        double X[MOST][MOST + 1], u[MOST];
        if (!s->closed[j])
            continue;
        contact_blocks(s, j, X);
        cairn_contact_relative(&half, d, n, j, s->right, u);
        for (int i = 0; i < d; i++)
            for (int l = 0; l < d; l++)
                s->step[j * d + i] -= X[i][l] * u[l];
    }
    return CAIRN_OK;
}

const cairn_newton_form cairn_newton_bodies = { create_bodies, relative_bodies, solve_bodies };
