/* duality.c - the duality gap of the convex law, and the error bound for the velocity that follows.
 *
 *     primal  p(v) = 1/2 |v - v_free|_M^2     over the v with  u^(v) = H v + w + (b + mu s) n in K*
 *     dual    d(r) = -(1/2 r'W r + q'r)       over the r in K, q = u^(v_free)
 *
 * Let v* be the solution, v_f any feasible velocity, r in K with velocity v(r). Strong convexity
 * and weak duality give
 *     1/2 |v_f - v*|_M^2 + 1/2 |v(r) - v*|_M^2  <=  p(v_f) - d(r)  =  gap.
 * A feasible velocity is made from r itself:
 *   (1) r = P_K(r), u^ = W r + q; its shortage at a contact is max(0, mu |u^_T| - u^_N)
 *   (2) impulses p, found by Gauss-Seidel, that open every contact: W p in the inside of K*,
 *       opening_j = (W p)_N - mu |(W p)_T| about 1. They solve the contact problem with q = -n
 *   (3) r_f = r + t p with t = max shortage_j/opening_j is feasible, since K* is a convex cone
 *   (4) gap = 1/2 t^2 p'W p + r'(u^ + t W p): both terms are >= 0 and nothing cancels
 * Polyhedral cones lie inside the circular ones, so that impulses that open the duals of the latter
 * open theirs as well. If (2) fails, no feasible velocity is known and the gap is infinite. It is
 * infinite with rows with bounds, too: with rounding, no velocity satisfies equations exactly. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "problem/cone.h"
#include "problem/operator.h"

enum { SWEEPS = 2000, LOOK_EVERY = 10 }; /* sweeps; those between two checks of the opening */

/* The sweeps stop at this opening. Any positive opening is valid; one near 1 makes t small. */
static const double wide_enough = 0.5;

/* Arrays of `dimension` numbers per contact, and one of velocities. */
typedef struct certificate {
    const cairn_problem *p;
    cairn_problem linear; /* the same with v_free, w, q = 0: u = W r  */
    double *r, *u;        /* impulses in K, their u^                  */
    double *opener, *Wp;  /* p and W p                                */
    double *free, *v;     /* q^; velocities                           */
    double *zero;         /* zeros, for r, v_free or q                */
    double t;             /* of step (3)                              */
} certificate;

static cairn_status take_arrays(const cairn_problem *p, cairn_arena *arena, certificate *c)
{
    size_t n = (size_t)p->dimension * (size_t)p->contacts;
    size_t m = (size_t)p->block_size * (size_t)p->blocks;
    struct {
        double **array;
        size_t count;
    } wanted[] = { { &c->r, n },    { &c->u, n }, { &c->opener, n },          { &c->Wp, n },
                   { &c->free, n }, { &c->v, m }, { &c->zero, n > m ? n : m } };
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        *wanted[k].array = cairn_arena_doubles(arena, wanted[k].count);
        if (!*wanted[k].array)
            return CAIRN_NO_MEMORY;
    }
    c->p = p;
    c->linear = *p;
    c->linear.w = NULL;
    c->linear.v_free = c->linear.q = c->zero;
    return CAIRN_OK;
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* u^_N - mu |u^_T|, with the norm |.| that belongs to the cone: >= 0 in K*. For rows with bounds,
 * minus the largest |y| towards an infinite bound, where only y = 0 is feasible. A NaN is kept. */
static double room(const cairn_problem *p, int j, const double *u)
{
    if (!cairn_is_bounded(p, j))
        return u[0] - cairn_contact_sliding(p, j, u);
    size_t first = (size_t)j * (size_t)p->dimension;
    double largest = 0;
    for (size_t i = 0; i < (size_t)p->dimension; i++) {
        double bound = u[i] > 0 ? p->lower[first + i] : p->upper[first + i];
        if (isinf(bound) || isnan(u[i]))
            largest = fmax(largest, fabs(u[i])) + (isnan(u[i]) ? u[i] : 0);
    }
    return -largest;
}

static bool has_rows(const cairn_problem *p)
{
    for (int j = 0; j < p->contacts; j++)
        if (cairn_is_bounded(p, j))
            return true;
    return false;
}

/* (1) r, u^ and q^ = u^ without impulses */
static void place(certificate *c, const double *r)
{
    const cairn_problem *p = c->p;
    size_t d = (size_t)p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        memcpy(c->r + (size_t)j * d, r + (size_t)j * d, d * sizeof(double));
        cairn_contact_project(p, p->dimension, j, c->r + (size_t)j * d);
    }
    cairn_problem_apply(p, c->zero, c->v, c->free);
    cairn_problem_apply(p, c->r, c->v, c->u);
    for (int j = 0; j < p->contacts; j++) {
        double shift = cairn_contact_shift(p, j);
        c->u[(size_t)j * d] += shift;
        c->free[(size_t)j * d] += shift;
        cairn_contact_comply(p, j, c->r + (size_t)j * d, c->u + (size_t)j * d);
    }
}

/* The largest shortage; NaN if any is NaN. */
static double infeasibility(const certificate *c)
{
    double largest = 0;
    for (int j = 0; j < c->p->contacts; j++) {
        double lack = -room(c->p, j, c->u + (size_t)j * (size_t)c->p->dimension);
        if (!(lack <= largest))
            largest = lack;
    }
    return largest;
}

/* ---- (2) the impulses that open ------------------------------------------------------------- */

/* One Gauss-Seidel step: solve contact j with q = (velocity by the other impulses) - n, and update
 * v. */
static void open_contact(certificate *c, int j)
{
    const cairn_problem *p = &c->linear;
    int d = p->dimension;
    double *own = c->opener + (size_t)j * (size_t)d, W[CAIRN_TRIANGLE];
    double u[CAIRN_MAX_DIMENSION], answer[CAIRN_MAX_DIMENSION], change[CAIRN_MAX_DIMENSION];
    cairn_contact_velocity(p, j, c->opener, c->v, u);
    cairn_contact_delassus(p, j, W);
    for (int i = 0, row = 0; i < d; row += ++i)
        for (int k = 0; k < d; k++)
            u[i] -= (k <= i ? W[row + k] : W[k * (k + 1) / 2 + i]) * own[k];
    u[0] -= 1;
    memcpy(answer, own, sizeof(double) * (size_t)d);
    cairn_contact_solve(p, j, CAIRN_LAW_CONVEX, W, u, answer);
    for (int i = 0; i < d; i++) {
        change[i] = answer[i] - own[i];
        own[i] = answer[i];
    }
    if (!p->W)
        cairn_contact_push(p, d, p->block_size, j, change, c->v);
}

/* W p from p alone; the least opening of a contact that can move */
static double least_opening(certificate *c)
{
    double least = HUGE_VAL;
    cairn_problem_apply(&c->linear, c->opener, c->v, c->Wp);
    for (int j = 0; j < c->p->contacts; j++)
        if (cairn_contact_inverse_mass(c->p, j) > 0)
            least = fmin(least, room(c->p, j, c->Wp + (size_t)j * (size_t)c->p->dimension));
    return least;
}

static bool find_opener(certificate *c)
{
    double least = least_opening(c); /* p = 0 */
    for (int k = 0; k < SWEEPS && least < wide_enough; k++) {
        for (int j = 0; j < c->p->contacts; j++)
            open_contact(c, j);
        if ((k + 1) % LOOK_EVERY == 0)
            least = least_opening(c);
    }
    return least > 0;
}

/* (3) the least t; false when a contact that nothing moves is violated */
static bool find_shift(certificate *c)
{
    bool possible = true;
    for (int j = 0; j < c->p->contacts; j++) {
        size_t first = (size_t)j * (size_t)c->p->dimension;
        double lack = -room(c->p, j, c->u + first), opening = room(c->p, j, c->Wp + first);
        if (lack > 0 && !(opening > 0))
            possible = false;
        else if (lack > 0)
            c->t = fmax(c->t, lack / opening);
    }
    return possible;
}

/* ---- the certificate ------------------------------------------------------------------------ */

/* (4); W r is u^ - q^ */
static void conclude(const certificate *c, bool feasible, cairn_duality *out)
{
    size_t n = (size_t)c->p->dimension * (size_t)c->p->contacts;
    double rWr = dot(n, c->r, c->u) - dot(n, c->r, c->free);
    double pWr = dot(n, c->opener, c->u) - dot(n, c->opener, c->free);
    double pWp = dot(n, c->opener, c->Wp), t = c->t;
    out->dual = -(0.5 * rWr + dot(n, c->r, c->free));
    out->feasible = feasible;
    out->primal = feasible ? 0.5 * (rWr + 2 * t * pWr + t * t * pWp) : INFINITY;
    double gap = 0.5 * t * t * pWp + dot(n, c->r, c->u) + t * dot(n, c->r, c->Wp);
    out->gap = feasible ? fmax(0, gap) : INFINITY;
    out->error_bound = sqrt(2 * out->gap);
}

static bool all_finite(const cairn_problem *p, const double *r)
{
    for (size_t i = 0; i < (size_t)p->dimension * (size_t)p->contacts; i++)
        if (!isfinite(r[i]))
            return false;
    return true;
}

/* Without any shortage v(r) is feasible itself: then t = 0, and no opener is needed. */
static cairn_status certify(const cairn_problem *p, const double *r, cairn_arena *arena,
                            cairn_duality *out)
{
    certificate c = { 0 };
    TRY(take_arrays(p, arena, &c));
    place(&c, r);
    out->infeasibility = infeasibility(&c);
    if (!isfinite(out->infeasibility) || !all_finite(p, r)) /* a projection can hide a NaN in r */
        return CAIRN_NOT_FINITE;
    bool feasible =
        !has_rows(p) && (out->infeasibility == 0 || (find_opener(&c) && find_shift(&c)));
    conclude(&c, feasible, out);
    return isnan(out->gap) || !isfinite(out->dual) ? CAIRN_NOT_FINITE : CAIRN_OK;
}

cairn_status cairn_problem_duality(const cairn_problem *p, const double *r, cairn_duality *out)
{
    cairn_arena arena = { 0 };
    *out = (cairn_duality){ 0 };
    cairn_status status = certify(p, r, &arena, out);
    cairn_arena_destroy(&arena);
    return status;
}
