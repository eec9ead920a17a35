/* coulomb_newton_step.c - the derivative of u(s), and Newton's step with it ([C09] 4.1, 4.3).
 *
 * The optimality conditions of the convex problem are differentiated with the constraints that are
 * active. With u^ = u + (b + mu s) n, w = trace(W_jj)/d and F = |u_T|, t = u_T/F, a contact is
 *   off   where P_K(r - u^/w) = 0:                  dr = 0
 *   stuck where r - u^/w is in K, so u^ = 0:        du^ = 0
 *   slid  else, u^_N = mu |u_T|, r_T = -mu r_N t:   du^_N = mu t.du_T
 *                                     dr_T + mu t dr_N + mu r_N/F (I - t t') du_T = 0
 * where du = W dr and du^ = du + mu ds n. Newton's equation ds = F - s + t.du_T (stuck: ds = -s)
 * takes ds out, and leaves one linear system in dr, of d rows for each contact:
 *   off:   w dr = 0
 *   stuck: du = -(u + b n)
 *   slid:  du_N = -(u_N + b)
 *          w t (dr_t + mu dr_N) + (I - t t')(share w dr_T + (1 - share) du_T) = 0,
 *          share = F/(F + w mu r_N), dr_t = t.dr_T
 * Rows with bounds do not slide; between their bounds they are like stuck ones, with compliance.
 * Redundant contacts make it singular without harm to du: w epsilon is added to the diagonal, and
 * refinement with the system itself takes its effect away again. */
#include "solve/coulomb_newton.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/sparse.h"
#include "problem/operator.h"

static const double epsilon = 1e-9;
enum { REFINEMENTS = 4 };

/* d rows for one contact: C du + D dr = side, D with `added` on its diagonal. */
typedef struct rows {
    double C[9], D[9], side[3], added[3];
} rows;

static double sliding(int d, const double *u, double *t)
{
    double F = cairn_sliding_speed(d, 0, u);
    for (int i = 1; i < d; i++)
        t[i] = F > 0 ? u[i] / F : 0;
    return F;
}

static void off_rows(int d, double w, rows *out)
{
    for (int i = 0; i < d; i++)
        out->D[i * d + i] = w;
}

static void stuck_rows(int d, double w, const double *u, rows *out)
{
    for (int i = 0; i < d; i++) {
        out->C[i * d + i] = 1;
        out->side[i] = -u[i];
        out->added[i] = epsilon * w;
    }
}

static void slid_rows(int d, double w, double mu, const double *r, const double *u, rows *out)
{
    double t[3], F = sliding(d, u, t), grip = w * mu * fmax(0, r[0]);
    double share = F + grip > 0 ? F / (F + grip) : 1;
    out->C[0] = 1;
    out->side[0] = -u[0];
    out->added[0] = epsilon * w;
    for (int i = 1; i < d; i++) {
        out->D[i * d] = w * mu * t[i];
        for (int k = 1; k < d; k++) {
            double across = (i == k) - t[i] * t[k];
            out->D[i * d + k] = w * (t[i] * t[k] + share * across);
            out->C[i * d + k] = (1 - share) * across;
        }
    }
}

/* Rows with bounds: dr = 0 at a bound, d(u + eps r) = -y between; y comes with the compliance. */
static void bounded_rows(const cairn_problem *p, int j, const double *r, const double *y, rows *out)
{
    int d = p->dimension;
    double w[3], z[3], inside[3];
    cairn_contact_scales(p, j, w);
    for (int i = 0; i < d; i++)
        z[i] = inside[i] = r[i] - y[i] / w[i];
    cairn_rows_project(p, j, inside);
    for (int i = 0; i < d; i++) {
        size_t row = (size_t)j * (size_t)d + (size_t)i;
        bool held = inside[i] != z[i] || p->lower[row] == p->upper[row];
        double eps = p->compliance ? p->compliance[row] : 0;
        out->C[i * d + i] = held ? 0 : 1;
        out->D[i * d + i] = held ? w[i] : eps;
        out->side[i] = held ? 0 : -y[i];
        out->added[i] = held ? 0 : epsilon * w[i];
    }
}

/* Where a contact is, and its rows; u comes with the bias b. True when it is stuck. */
static bool contact_rows(const cairn_problem *p, int j, double s, const double *r, const double *u,
                         rows *out)
{
    int d = p->dimension;
    double w = cairn_contact_inverse_mass(p, j), mu = p->mu[j], z[3], cone[3];
    *out = (rows){ .side = { 0 } };
    if (cairn_is_bounded(p, j)) {
        bounded_rows(p, j, r, u, out);
        return true; /* s stays 0 */
    }
    for (int i = 0; i < d; i++)
        z[i] = cone[i] = w > 0 ? r[i] - (u[i] + (i == 0 ? mu * s : 0)) / w : 0;
    cairn_cone_project(d, mu, cone);
    bool stuck = w > 0 && memcmp(z, cone, (size_t)d * sizeof(double)) == 0;
    if (stuck)
        stuck_rows(d, w, u, out);
    else if (cone[0] <= 0)
        off_rows(d, w > 0 ? w : 1, out);
    else
        slid_rows(d, w, mu, r, u, out);
    return stuck;
}

/* ---- the system ----------------------------------------------------------------------------- */

typedef struct assembly {
    int32_t *row, *column;
    double *value;
    int64_t count;
    double *side, *added; /* right-hand side; what `epsilon` added to the diagonal */
    bool *stuck;          /* of each contact                                       */
} assembly;

static cairn_status take_assembly(const cairn_problem *p, cairn_arena *arena, assembly *a)
{
    size_t d = (size_t)p->dimension, size = d * (size_t)p->contacts;
    size_t most = d * (size_t)p->W->start[size] + d * size;
    a->count = 0;
    a->row = cairn_arena_take(arena, most, sizeof(int32_t));
    a->column = cairn_arena_take(arena, most, sizeof(int32_t));
    a->value = cairn_arena_take(arena, most, sizeof(double));
    a->side = cairn_arena_take(arena, size, sizeof(double));
    a->added = cairn_arena_take(arena, size, sizeof(double));
    a->stuck = cairn_arena_take(arena, (size_t)p->contacts, sizeof(bool));
    bool taken = a->row && a->column && a->value && a->side && a->added && a->stuck;
    return taken ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static void put(assembly *a, int row, int column, double value)
{
    a->row[a->count] = row;
    a->column[a->count] = column;
    a->value[a->count++] = value;
}

static void put_rows(const cairn_problem *p, int j, const rows *x, assembly *a)
{
    int d = p->dimension, first = j * d;
    for (int i = 0; i < d; i++) {
        a->side[first + i] = x->side[i];
        a->added[first + i] = x->added[i];
        for (int k = 0; k < d; k++) {
            int64_t end = x->C[i * d + k] != 0 ? p->W->start[first + k + 1] : 0;
            for (int64_t e = p->W->start[first + k]; e < end; e++)
                put(a, first + i, p->W->column[e], x->C[i * d + k] * p->W->value[e]);
            put(a, first + i, first + k, x->D[i * d + k] + (i == k ? x->added[i] : 0));
        }
    }
}

static void assemble(const cairn_problem *p, const double *s, const double *r, const double *u,
                     assembly *a)
{
    size_t d = (size_t)p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        rows x;
        double biased[3] = { 0 };
        memcpy(biased, u + (size_t)j * d, d * sizeof(double));
        biased[0] += cairn_contact_bias(p, j);
        cairn_contact_comply(p, j, r + (size_t)j * d, biased);
        a->stuck[j] = contact_rows(p, j, s[j], r + (size_t)j * d, biased, &x);
        put_rows(p, j, &x, a);
    }
}

/* ---- its solution --------------------------------------------------------------------------- */

/* y = A x */
static double product(const cairn_matrix *A, int row, const double *x)
{
    double sum = 0;
    for (int64_t e = A->start[row]; e < A->start[row + 1]; e++)
        sum += A->value[e] * x[A->column[e]];
    return sum;
}

/* dr with the factors of A, refined against A without what was added */
static cairn_status solve_refined(cairn_lu *lu, const cairn_matrix *A, const assembly *a,
                                  double *rest, double *dr)
{
    memset(dr, 0, (size_t)A->rows * sizeof(double));
    for (int k = 0; k <= REFINEMENTS; k++) {
        for (int i = 0; i < A->rows; i++)
            rest[i] = a->side[i] - product(A, i, dr) + a->added[i] * dr[i];
        TRY(cairn_lu_solve(lu, rest, rest));
        for (int i = 0; i < A->rows; i++)
            dr[i] += rest[i];
    }
    return CAIRN_OK;
}

/* s+ = F + t.du_T; 0 where stuck */
static void step_from(const cairn_problem *p, const assembly *a, const double *u, const double *dr,
                      double *s_plus)
{
    int d = p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        double t[3];
        s_plus[j] = sliding(d, u + (size_t)j * (size_t)d, t);
        for (int i = 1; i < d; i++)
            s_plus[j] += t[i] * product(p->W, j * d + i, dr);
        if (a->stuck[j])
            s_plus[j] = 0;
    }
}

cairn_status cairn_newton_step_take(cairn_newton_step *step, const double *s, const double *r,
                                    const double *u, double *s_plus, bool *regular)
{
    const cairn_problem *p = step->p;
    int size = p->dimension * p->contacts;
    assembly a;
    cairn_matrix A;
    cairn_arena_reset(step->arena);
    TRY(take_assembly(p, step->arena, &a));
    assemble(p, s, r, u, &a);
    const cairn_entries entries = { a.count, a.row, a.column, a.value };
    TRY(cairn_sparse_gather(size, size, &entries, step->arena, &A));
    TRY(cairn_lu_factor(step->lu, &A, regular));
    if (!*regular)
        return CAIRN_OK;
    double *dr = cairn_arena_take(step->arena, (size_t)size, sizeof(double));
    double *rest = cairn_arena_take(step->arena, (size_t)size, sizeof(double));
    if (!dr || !rest)
        return CAIRN_NO_MEMORY;
    TRY(solve_refined(step->lu, &A, &a, rest, dr));
    step_from(p, &a, u, dr, s_plus);
    return CAIRN_OK;
}
