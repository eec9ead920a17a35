/* operator.h - products with the rows of one contact, for fixed small sizes, and with M^-1;
 * contacts by kind.
 *
 * The loops are written for any size and called with constants, so that the compiler unrolls them
 * for the two sizes that worlds produce: (d, n) = (2, 3) and (3, 6). */
#ifndef CAIRN_PROBLEM_OPERATOR_H
#define CAIRN_PROBLEM_OPERATOR_H

#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/problem.h"
#include "math/factor.h"
#include "math/vec.h"
#include "problem/cone.h"

/* Numbers in the lower triangle of the largest W_jj. */
enum { CAIRN_TRIANGLE = CAIRN_MAX_DIMENSION * (CAIRN_MAX_DIMENSION + 1) / 2 };

#define CAIRN_INLINE ANYWHERE static inline __attribute__((always_inline))

/* The rows of a contact of balls, written out: 3 x 6 numbers. Side a: (n, 0), (t, -R n x t),
 * (n x t, R t); side b: the linear part negative. */
CAIRN_INLINE void cairn_ball_rows(const cairn_problem *p, int j, int side, double *H)
{
    int block = p->block[2 * j + side];
    cairn_vec3 n = p->normal[j], t = p->tangent[j], across = cairn_cross(n, t);
    double R = block < 0 ? 0 : p->radius[block], sign = side ? -1 : 1;
    const cairn_vec3 linear[3] = { n, t, across };
    const cairn_vec3 angular[3] = { { 0, 0, 0 }, cairn_scale(-R, across), cairn_scale(R, t) };
    for (int i = 0; i < 3; i++, H += 6) {
        cairn_vec3 e = cairn_scale(sign, linear[i]);
        const double row[6] = { e.x, e.y, e.z, angular[i].x, angular[i].y, angular[i].z };
        memcpy(H, row, sizeof row);
    }
}

/* Whether contact j is one of balls: its rows follow from its normal and tangent. */
CAIRN_INLINE bool cairn_is_of_balls(const cairn_problem *p, int j)
{
    return p->normal && (!p->rows || p->rows[j] < 0);
}

/* The rows of contact j on side 0 (a) or 1 (b), if they are stored: not for contacts of balls. */
CAIRN_INLINE const double *cairn_rows_stored(const cairn_problem *p, int d, int n, int j, int side)
{
    size_t at = p->rows ? (size_t)p->rows[j] : (size_t)j;
    return p->H + (at * 2 + (size_t)side) * (size_t)(d * n);
}

/* The rows of any contact; those of balls are written to `room`, an array of 18 numbers. */
CAIRN_INLINE const double *cairn_rows(const cairn_problem *p, int j, int side, double *room)
{
    if (!cairn_is_of_balls(p, j))
        return cairn_rows_stored(p, p->dimension, p->block_size, j, side);
    cairn_ball_rows(p, j, side, room);
    return room;
}

/* terms += H_ik v_k. The products are not summed yet, so that the compiler can use SIMD. */
CAIRN_INLINE void cairn_rows_apply(int d, int n, const double *H, const double *v, double *terms)
{
    for (int i = 0; i < d; i++)
        for (int k = 0; k < n; k++)
            terms[i * n + k] += H[i * n + k] * v[k];
}

/* v += M^-1 H' r for one side. */
CAIRN_INLINE void cairn_rows_push(int d, int n, const double *H, const double *mass_inverse,
                                  const double *r, double *v)
{
    for (int k = 0; k < n; k++) {
        double sum = 0;
        for (int i = 0; i < d; i++)
            sum += H[i * n + k] * r[i];
        v[k] += mass_inverse[k] * sum;
    }
}

/* u_j = H_j v + w_j; `terms` is scratch of d * n numbers, all zero. */
CAIRN_INLINE void cairn_contact_sum(const cairn_problem *p, int d, int n, int j, const double *v,
                                    double *terms, double *u)
{
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block >= 0)
            cairn_rows_apply(d, n, cairn_rows_stored(p, d, n, j, side),
                             v + (size_t)block * (size_t)n, terms);
    }
    for (int i = 0; i < d; i++) {
        u[i] = p->w ? p->w[(size_t)j * (size_t)d + (size_t)i] : 0;
        for (int k = 0; k < n; k++)
            u[i] += terms[i * n + k];
    }
}

/* ---- contacts of balls ---------------------------------------------------------------------- */

/* For a ball only v and R w matter, w in world axes. With p the impulse as a vector in world axes
 *     u = va - vb + n x (Ra wa + Rb wb),
 *     va += p/ma, vb -= p/mb, w += R/J (p x n) for both,
 *     W = diag(wN, wT, wT),  wN = 1/ma + 1/mb,  wT = wN + Ra^2/Ja + Rb^2/Jb. */

/* u += sign v + n x R w: the contribution of the ball on one side, as a vector in world axes. */
CAIRN_INLINE void cairn_ball_add(const cairn_problem *p, int block, double sign, cairn_vec3 n,
                                 const double *v, cairn_vec3 *u)
{
    v += (size_t)block * 6;
    double R = p->radius[block];
    u->x += sign * v[0] + R * (n.y * v[5] - n.z * v[4]);
    u->y += sign * v[1] + R * (n.z * v[3] - n.x * v[5]);
    u->z += sign * v[2] + R * (n.x * v[4] - n.y * v[3]);
}

/* u_j = H_j v + w_j. */
CAIRN_INLINE void cairn_ball_relative(const cairn_problem *p, int j, const double *v, double *u)
{
    cairn_vec3 n = p->normal[j], t = p->tangent[j], s = { 0, 0, 0 };
    int a = p->block[2 * j], b = p->block[2 * j + 1];
    if (a >= 0)
        cairn_ball_add(p, a, 1, n, v, &s);
    if (b >= 0)
        cairn_ball_add(p, b, -1, n, v, &s);
    cairn_vec3 across = cairn_cross(n, t);
    u[0] = cairn_dot(n, s);
    u[1] = cairn_dot(t, s);
    u[2] = cairn_dot(across, s);
    for (int i = 0; p->w && i < 3; i++)
        u[i] += p->w[(size_t)j * 3 + (size_t)i];
}

/* An impulse on balls as a vector in world axes, and its torque divided by R, push x n. */
typedef struct cairn_ball_impulses {
    cairn_vec3 push, turn;
    bool turns; /* false for normal impulses: then w stays exactly as it is */
} cairn_ball_impulses;

CAIRN_INLINE cairn_ball_impulses cairn_ball_impulse(const cairn_problem *p, int j, const double *r)
{
    cairn_vec3 n = p->normal[j];
    cairn_ball_impulses out = { .push = { r[0] * n.x, r[0] * n.y, r[0] * n.z } };
    out.turns = r[1] != 0 || r[2] != 0; /* true for NaN */
    if (!out.turns)
        return out;
    /* r_N n + r_1 t + r_2 (n x t) */
    cairn_vec3 t = p->tangent[j], across = cairn_cross(n, t);
    out.push.x = out.push.x + r[1] * t.x + r[2] * across.x;
    out.push.y = out.push.y + r[1] * t.y + r[2] * across.y;
    out.push.z = out.push.z + r[1] * t.z + r[2] * across.z;
    out.turn = cairn_cross(out.push, n);
    return out;
}

/* v += M^-1 H_j' r_j on one side. */
CAIRN_INLINE void cairn_ball_push(const cairn_problem *p, int block, double sign,
                                  const cairn_ball_impulses *by, double *v)
{
    const double *inverse = p->mass_inverse + (size_t)block * 6;
    double linear = sign * inverse[0];
    v += (size_t)block * 6;
    v[0] += linear * by->push.x;
    v[1] += linear * by->push.y;
    v[2] += linear * by->push.z;
    if (!by->turns)
        return;
    double angular = p->radius[block] * inverse[3];
    v[3] += angular * by->turn.x;
    v[4] += angular * by->turn.y;
    v[5] += angular * by->turn.z;
}

/* ---- any contact ---------------------------------------------------------------------------- */

/* u_j = H_j v + w_j, block form, for a contact of balls or another one. Loops over segments of one
 * kind (see below) pass `balls` as a constant. */
CAIRN_INLINE void cairn_kind_relative(const cairn_problem *p, bool balls, int d, int n, int j,
                                      const double *v, double *u)
{
    if (balls) {
        cairn_ball_relative(p, j, v, u);
    } else if (d * n <= 18) { /* the sizes of worlds: the terms stay in registers */
        double terms[18] = { 0 };
        cairn_contact_sum(p, d, n, j, v, terms, u);
    } else {
        double terms[CAIRN_MAX_DIMENSION * 6] = { 0 };
        cairn_contact_sum(p, d, n, j, v, terms, u);
    }
}

CAIRN_INLINE void cairn_contact_relative(const cairn_problem *p, int d, int n, int j,
                                         const double *v, double *u)
{
    cairn_kind_relative(p, d == 3 && n == 6 && cairn_is_of_balls(p, j), d, n, j, v, u);
}

/* v += M^-1 H_j' r_j on one side, whose block is not -1. */
CAIRN_INLINE void cairn_side_push(const cairn_problem *p, bool balls, int d, int n, int j, int side,
                                  const double *r, double *v)
{
    int block = p->block[2 * j + side];
    size_t first = (size_t)block * (size_t)n;
    if (balls) {
        cairn_ball_impulses by = cairn_ball_impulse(p, j, r);
        cairn_ball_push(p, block, side ? -1 : 1, &by, v);
    } else {
        cairn_rows_push(d, n, cairn_rows_stored(p, d, n, j, side), p->mass_inverse + first, r,
                        v + first);
    }
}

/* Prefetch the n numbers of x of both blocks of contact j, which is processed soon; its blocks may
 * be anywhere in memory. Does nothing if j is past the last contact. */
CAIRN_INLINE void cairn_contact_fetch(const cairn_problem *p, int n, int j, const double *x)
{
    for (int side = 0; side < 2 && j < p->contacts; side++) {
        int block = p->block[2 * j + side];
        if (block >= 0)
            cairn_prefetch(x + (size_t)block * (size_t)n, n * (int)sizeof *x);
    }
}

/* v += M^-1 H_j' r_j. */
CAIRN_INLINE void cairn_kind_push(const cairn_problem *p, bool balls, int d, int n, int j,
                                  const double *r, double *v)
{
    int a = p->block[2 * j], b = p->block[2 * j + 1];
    if (balls) {
        cairn_ball_impulses by = cairn_ball_impulse(p, j, r);
        if (a >= 0)
            cairn_ball_push(p, a, 1, &by, v);
        if (b >= 0)
            cairn_ball_push(p, b, -1, &by, v);
        return;
    }
    if (a >= 0)
        cairn_side_push(p, false, d, n, j, 0, r, v);
    if (b >= 0)
        cairn_side_push(p, false, d, n, j, 1, r, v);
}

CAIRN_INLINE void cairn_contact_push(const cairn_problem *p, int d, int n, int j, const double *r,
                                     double *v)
{
    cairn_kind_push(p, d == 3 && n == 6 && cairn_is_of_balls(p, j), d, n, j, r, v);
}

/* Whether contact j is a block of rows with bounds. */
CAIRN_INLINE bool cairn_is_bounded(const cairn_problem *p, int j)
{
    return p->bounded && p->bounded[j];
}

/* The normal bias b of contact j; rows with bounds have none. */
CAIRN_INLINE double cairn_contact_bias(const cairn_problem *p, int j)
{
    return p->b && !cairn_is_bounded(p, j) ? p->b[j] : 0;
}

/* The normal shift b + mu s of contact j. */
CAIRN_INLINE double cairn_contact_shift(const cairn_problem *p, int j)
{
    bool slides = p->s && !cairn_is_bounded(p, j);
    return cairn_contact_bias(p, j) + (slides ? p->mu[j] * p->s[j] : 0);
}

/* u += eps r for the rows of contact j: u becomes the y of the law. */
CAIRN_INLINE void cairn_contact_comply(const cairn_problem *p, int j, const double *r, double *u)
{
    if (!p->compliance || !cairn_is_bounded(p, j))
        return;
    const double *eps = p->compliance + (size_t)j * (size_t)p->dimension;
    for (int i = 0; i < p->dimension; i++)
        u[i] += eps[i] * r[i];
}

/* Projection of contact j's vector of d components onto its cone or its bounds. */
CAIRN_INLINE void cairn_contact_project(const cairn_problem *p, int d, int j, double *r)
{
    if (cairn_is_bounded(p, j))
        cairn_rows_project(p, j, r);
    else if (p->directions)
        cairn_cone_project_polygon(p->directions, p->mu[j], r);
    else if (p->rolling + p->spinning)
        cairn_cone_project_parts(p, j, r);
    else
        cairn_circle_project(d, p->mu[j], r);
}

/* u_j = (W r)_j + q_j, local form. */
void cairn_contact_relative_local(const cairn_problem *p, int j, const double *r, double *u);
/* u_j in any form; v must be the velocities of r. */
void cairn_contact_velocity(const cairn_problem *p, int j, const double *r, const double *v,
                            double *u);
/* v = v_free + M^-1 H' r; does nothing in the local form. Ghosts get the values of their owners. */
void cairn_problem_velocity(const cairn_problem *p, const double *r, double *v);
/* u = H v + w, in the local form W r + q. */
void cairn_problem_relative(const cairn_problem *p, const double *r, const double *v, double *u);
/* W_jj = H_j M^-1 H_j' as a lower triangle (see cone.h); the symmetric part in the local form.
 * Rows with bounds have their compliance on the diagonal. */
void cairn_contact_delassus(const cairn_problem *p, int j, double *W);
/* trace(W_jj)/d: the inverse effective mass of the contact, 1/kg. */
double cairn_contact_inverse_mass(const cairn_problem *p, int j);
/* A scale > 0 for each component of contact j, 1/kg: trace(W_jj)/d for a contact; W_ii for a row
 * with bounds, so that rows in m/s and in rad/s can share a block; 1 if nothing can move. */
void cairn_contact_scales(const cairn_problem *p, int j, double *scale);

/* ---- a general mass matrix ------------------------------------------------------------------- */

/* M^-1 of a general mass matrix, part by part. */

/* A set of degrees of freedom that the entries of M connect, and the factor of its block. */
typedef struct cairn_mass_part {
    int size;
    const int32_t *member;    /* the degrees of freedom, ascending                       */
    double *L;                /* small parts: size x size, L below and D on the diagonal */
    cairn_cholesky *cholesky; /* large parts; NULL for small ones                        */
    cairn_lu *lu;             /* when M is not symmetric; else NULL                      */
} cairn_mass_part;

/* A factorised mass matrix. */
typedef struct cairn_mass_factor {
    const cairn_matrix *M; /* the caller's                                         */
    double asymmetry;      /* largest |M_ij - M_ji| / sqrt(M_ii M_jj)              */
    int parts;
    cairn_mass_part *part;
    int32_t *place; /* of each degree of freedom: its index in its part */
    cairn_arena arena;
} cairn_mass_factor;

/* Factor M, which must stay as long as the result is used. CAIRN_BAD_INPUT with `error` (may be
 * NULL) when it is not square or its symmetric part is not positive definite. */
cairn_status cairn_mass_factor_create(const cairn_matrix *M, cairn_mass_factor **out,
                                      cairn_error *error);
/* x = M^-1 b within one part; both have its size, in the order of its members; x is not b. */
cairn_status cairn_mass_factor_solve(const cairn_mass_factor *mass, int part, const double *b,
                                     double *x);
void cairn_mass_factor_destroy(cairn_mass_factor *mass);

/* ---- contacts by kind ------------------------------------------------------------------------ */

/* The contacts of a problem by kind: derived once, used by all loops over contacts.
 *
 *     for (cairn_walk w = cairn_walk_over(p, begin, end); cairn_walk_next(&w);)
 *         ... contacts w.now.begin .. w.at - 1, of the kind w.now.kind
 *
 * goes through the segments of contacts begin .. end-1, cut at both ends. */

/* Derive the segments of a problem, in the arena, unless it has valid ones. */
cairn_status cairn_problem_find_segments(cairn_problem *p, cairn_arena *arena);

typedef struct cairn_walk {
    const cairn_problem *p;
    const cairn_segment *next; /* NULL: segments are derived on the way */
    int at;                    /* the end of the current segment */
    int end;
    cairn_segment now;
} cairn_walk;

cairn_walk cairn_walk_over(const cairn_problem *p, int begin, int end);
/* Go to the next segment; false: there is none. */
bool cairn_walk_next(cairn_walk *w);

/* The kind of one contact, derived from the arrays. */
cairn_contact_kind cairn_problem_kind(const cairn_problem *p, int j);
/* Whether some contact is of this kind. */
bool cairn_problem_has(const cairn_problem *p, cairn_contact_kind kind);
/* Whether all are. */
bool cairn_problem_is_all(const cairn_problem *p, cairn_contact_kind kind);
/* Whether some contact has mu > 0. */
bool cairn_problem_has_friction(const cairn_problem *p);

#endif
