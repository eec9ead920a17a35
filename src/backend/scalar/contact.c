/* contact.c - one contact as the scalar back end computes it: products with its rows, its own block
 * W_jj, its projection and its solution. A device may compile these functions as well: they call
 * only each other and the formulas of src/problem. */
#include <math.h>
#include <stddef.h>

#include "backend/scalar/scalar.h"
#include "problem/cone.h"
#include "problem/operator.h"

ANYWHERE double cairn_scalar_bias(const cairn_scalar_system *s, int j)
{
    return s->p->b && !cairn_is_bounded(s->p, j) ? s->p->b[j] : 0;
}

ANYWHERE const double *cairn_scalar_rows(const cairn_scalar_system *s, int j, int side,
                                         double *room)
{
    if (s->H)
        return s->H + (ptrdiff_t)(2 * j + side) * s->d * s->n;
    return cairn_rows(s->p, j, side, room);
}

/* Of balls: diag(W_N, W_T, W_T) with W_N = sum of 1/m and W_T = W_N + sum of R^2/I. */
ANYWHERE const double *cairn_scalar_block(const cairn_scalar_system *s, int j, double *room)
{
    const cairn_problem *p = s->p;
    double across = 0, along = 0;
    if (s->W)
        return s->W + (ptrdiff_t)j * s->d * s->d;
    for (int side = 0; side < 2; side++) {
        ptrdiff_t k = p->block[2 * j + side];
        double R = k < 0 ? 0 : p->radius[k];
        across += k < 0 ? 0 : p->mass_inverse[6 * k];
        along += k < 0 ? 0 : R * R * p->mass_inverse[6 * k + 3];
    }
    for (int i = 0; i < 9; i++)
        room[i] = i % 4 ? 0 : i == 0 ? across : across + along;
    return room;
}

/* ---- products ------------------------------------------------------------------------------- */

ANYWHERE void cairn_scalar_push_side(const cairn_scalar_system *s, int j, int side,
                                     const double *r_j, double *v)
{
    double room[18];
    const double *H = cairn_scalar_rows(s, j, side, room);
    const double *inverse = s->p->mass_inverse + (ptrdiff_t)s->p->block[2 * j + side] * s->n;
    for (int i = 0; i < s->d; i++)
        for (int k = 0; k < s->n; k++)
            v[k] += inverse[k] * H[i * s->n + k] * r_j[i];
}

ANYWHERE void cairn_scalar_push(const cairn_scalar_system *s, int j, const double *r_j, double *v)
{
    for (int side = 0; side < 2; side++) {
        ptrdiff_t block = s->p->block[2 * j + side];
        if (block >= 0)
            cairn_scalar_push_side(s, j, side, r_j, v + block * s->n);
    }
}

/* u += H_j v */
ANYWHERE static void add_rows(const cairn_scalar_system *s, int j, const double *v, double *u)
{
    for (int side = 0; side < 2; side++) {
        ptrdiff_t block = s->p->block[2 * j + side];
        double room[18];
        const double *H = cairn_scalar_rows(s, j, side, room);
        for (int i = 0; block >= 0 && i < s->d; i++)
            for (int k = 0; k < s->n; k++)
                u[i] += H[i * s->n + k] * v[block * s->n + k];
    }
}

ANYWHERE void cairn_scalar_relative(const cairn_scalar_system *s, int j, const double *r,
                                    const double *v, double *u)
{
    const cairn_problem *p = s->p;
    for (int i = 0; i < s->d; i++) {
        ptrdiff_t row = (ptrdiff_t)j * s->d + i;
        u[i] = p->W ? p->q[row] : p->w ? p->w[row] : 0;
        for (int64_t k = p->W ? p->W->start[row] : 0; p->W && k < p->W->start[row + 1]; k++)
            u[i] += p->W->value[k] * r[p->W->column[k]];
    }
    if (!p->W)
        add_rows(s, j, v, u);
}

ANYWHERE void cairn_scalar_comply(const cairn_scalar_system *s, int j, const double *r_j,
                                  double *y_j)
{
    for (int i = 0; s->p->compliance && cairn_is_bounded(s->p, j) && i < s->d; i++)
        y_j[i] += s->p->compliance[(ptrdiff_t)j * s->d + i] * r_j[i];
}

/* Onto bounds, a product of cones with one common r_N, a polyhedral cone or a circular one. */
ANYWHERE void cairn_scalar_project(const cairn_problem *p, int j, double *r_j)
{
    if (cairn_is_bounded(p, j))
        cairn_rows_project(p, j, r_j);
    else if (p->rolling + p->spinning)
        cairn_cone_project_parts(p, j, r_j);
    else if (p->directions)
        cairn_cone_project_polygon(p->directions, p->mu[j], r_j);
    else
        cairn_cone_project(p->dimension, p->mu[j], r_j);
}

ANYWHERE void cairn_scalar_scales(const cairn_scalar_system *s, int j, double *w)
{
    double room[9], mean = 0;
    const double *W = cairn_scalar_block(s, j, room);
    for (int i = 0; i < s->d; i++)
        mean += W[i * s->d + i] / s->d;
    for (int i = 0; i < s->d; i++) {
        double own = W[i * s->d + i];
        /* a row that nothing can move (W_ii = 0 to rounding) takes the mean of its block */
        bool by_itself = cairn_is_bounded(s->p, j) && own > 1e-12 * mean;
        w[i] = by_itself ? own : mean > 0 ? mean : 1;
    }
}

/* ---- the block W_jj ------------------------------------------------------------------------ */

/* Column i of W_jj = H_j M^-1 H_j': the relative velocity at contact j that a unit impulse in its
 * component i causes. */
ANYWHERE static void respond(const cairn_scalar_system *s, int j, int i, double *column)
{
    const int32_t *block = s->p->block + 2 * (ptrdiff_t)j;
    for (int from = 0; from < 2; from++)
        for (int to = 0; to < 2; to++) {
            if (block[from] < 0 || block[from] != block[to])
                continue; /* mixed products count only if both sides act on one block */
            double room[2][18];
            const double *F = cairn_scalar_rows(s, j, from, room[0]);
            const double *T = cairn_scalar_rows(s, j, to, room[1]);
            const double *inverse = s->p->mass_inverse + (ptrdiff_t)block[from] * s->n;
            for (int l = 0; l < s->d; l++)
                for (int k = 0; k < s->n; k++)
                    column[l] += T[l * s->n + k] * inverse[k] * F[i * s->n + k];
        }
}

/* W[row][column] of the matrix of the local form. */
ANYWHERE static double entry(const cairn_matrix *W, int64_t row, int64_t column)
{
    for (int64_t k = W->start[row]; k < W->start[row + 1]; k++)
        if (W->column[k] == column)
            return W->value[k];
    return 0;
}

/* W_jj with the compliance on its diagonal. The matrix of the local form may be symmetric only up
 * to rounding; the one-contact solves need an exactly symmetric block, so both halves are
 * averaged. */
ANYWHERE static void fill_own(const cairn_scalar_system *s, int j)
{
    int d = s->d;
    ptrdiff_t first = (ptrdiff_t)j * d;
    double *W = s->W + first * d;
    for (int i = 0; i < d; i++) {
        for (int l = 0; l < d && !s->p->W; l++)
            W[i * d + l] = 0;
        if (!s->p->W)
            respond(s, j, i, W + (ptrdiff_t)i * d);
        for (int l = 0; s->p->W && l < d; l++)
            W[i * d + l] =
                0.5 * (entry(s->p->W, first + i, first + l) + entry(s->p->W, first + l, first + i));
        if (s->p->compliance && cairn_is_bounded(s->p, j))
            W[i * d + i] += s->p->compliance[first + i];
    }
}

/* The rows of both sides, written out. */
ANYWHERE static void fill_rows(const cairn_scalar_system *s, int j)
{
    double room[18];
    for (int side = 0; side < 2; side++) {
        const double *rows = cairn_rows(s->p, j, side, room);
        double *H = s->H + (ptrdiff_t)(2 * j + side) * s->d * s->n;
        for (int i = 0; i < s->d * s->n; i++)
            H[i] = rows[i];
    }
}

ANYWHERE void cairn_scalar_fill(const cairn_scalar_system *s, int j)
{
    const cairn_problem *p = s->p;
    if (!p->W && s->H)
        fill_rows(s, j);
    if (s->W)
        fill_own(s, j);
    bool slides = p->s && !cairn_is_bounded(s->p, j);
    s->shift[j] = cairn_scalar_bias(s, j) + (slides ? p->mu[j] * p->s[j] : 0);
}

/* ---- the solution -------------------------------------------------------------------------- */

/* Solve contact j alone: K contains r, orthogonal to W_jj r + q in K*. Here q = u - W_jj r_j is the
 * velocity that the contact has by all other impulses, with the shift b + mu s in its normal. */
ANYWHERE static void solve_one(const cairn_scalar_state *own, int j, cairn_law law, double *answer)
{
    const cairn_scalar_system *s = own->s;
    int d = s->d;
    const double *W = s->W + (ptrdiff_t)j * d * d, *r = own->r + (ptrdiff_t)j * d;
    double q[CAIRN_MAX_DIMENSION], lower[CAIRN_MAX_DIMENSION * (CAIRN_MAX_DIMENSION + 1) / 2];
    cairn_scalar_relative(s, j, own->r, own->v, q);
    cairn_scalar_comply(s, j, r, q);
    q[0] += s->shift[j];
    for (int i = 0, entry = 0; i < d; i++) {
        /* the start of the iterative solves; W is symmetric: its lower triangle is passed on */
        answer[i] = r[i];
        for (int k = 0; k < d; k++)
            q[i] -= W[i * d + k] * r[k];
        for (int k = 0; k <= i; k++)
            lower[entry++] = W[i * d + k];
    }
    cairn_contact_solve(s->p, j, law, lower, q, answer);
}

/* Replace r_j by its solution, update the velocities, and add to the sums of cairn_sweep. */
ANYWHERE void cairn_scalar_visit(const cairn_scalar_state *own, int j, cairn_law law,
                                 cairn_sweep *out)
{
    const cairn_scalar_system *s = own->s;
    double answer[CAIRN_MAX_DIMENSION], change[CAIRN_MAX_DIMENSION], length2 = 0, w = 0;
    double *r = own->r + (ptrdiff_t)j * s->d, *point = own->r_point + (ptrdiff_t)j * s->d;
    solve_one(own, j, law, answer);
    for (int i = 0; i < s->d; i++) {
        change[i] = answer[i] - r[i];
        r[i] = answer[i];
        length2 += change[i] * change[i];
        w += s->W[((ptrdiff_t)j * s->d + i) * s->d + i] / s->d;
        out->uphill -= change[i] * (r[i] - point[i]);
    }
    out->change2 += w * w * length2;
    if (!s->p->W)
        cairn_scalar_push(s, j, change, own->v);
}
