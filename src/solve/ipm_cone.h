/* ipm_cone.h - the cones of a problem in variables of their own, and their scaling.
 *
 * Contact j has variables x_j in a self-dual cone, with r_j = A_j' x_j and z_j = A_j u^_j:
 *   edges   x_j >= 0; the rows of A_j are the edges (1, mu d_k). In 2D there are two, which is
 *           the cone itself; for mu = 0 there is one, the normal, and r_T = 0
 *   circle  x_j0 >= |(x_j1, x_j2)|, A_j = diag(1, mu, mu): mu is absorbed
 *   rows    rows with bounds: one variable x = r for each row with lower < upper, see ipm_rows.h
 *   none    a contact that nothing can move (W_jj = 0): no impulse helps, it is left out */
#ifndef CAIRN_SOLVE_IPM_CONE_H
#define CAIRN_SOLVE_IPM_CONE_H

#include "backend/host/host.h"
#include "solve/ipm_rows.h"

typedef enum cairn_cone_kind {
    CAIRN_CONE_NONE,
    CAIRN_CONE_EDGES,
    CAIRN_CONE_CIRCLE,
    CAIRN_CONE_ROWS
} cairn_cone_kind;

struct cairn_cones {
    const cairn_problem *p;
    size_t count;    /* variables of all contacts                                             */
    double rank;     /* x'z on the central path is rank times its parameter                   */
    int32_t *start;  /* contacts + 1: first variable of each contact                          */
    uint8_t *kind;   /* a cairn_cone_kind for each contact                                    */
    double *weight;  /* w_j = trace(W_jj)/d of each contact, kg^-1                            */
    double *edge;    /* directions pairs (cos, sin)                                           */
    double *root;    /* eigenvalues of the scaling P, one per variable                        */
    double *damping; /* 1/sqrt(1 + delta root^2), see cairn_cones_scale                       */
    double *slack;   /* circle: x_0 - |x_1| and z_0 - |z_1| of each contact */
    double *axis;    /* circle: unit vector n; eigenvectors of P are (1, n), (1, -n), (0, t)  */
    cairn_cone_rows rows;
};

/* Which of a pair: impulses x or velocities z. */
typedef enum cairn_cone_side { CAIRN_CONE_X, CAIRN_CONE_Z } cairn_cone_side;

/* What to do with the eigenvalues of P. */
typedef enum cairn_cone_map {
    CAIRN_CONE_P,       /* P                        */
    CAIRN_CONE_INVERSE, /* P^-1                     */
    CAIRN_CONE_DAMP,    /* c = (1 + delta P^2)^-1/2 */
    CAIRN_CONE_ROOT     /* P c                      */
} cairn_cone_map;

/* List the cones of a system. */
cairn_status cairn_cones_create(const cairn_system *system, cairn_arena *arena, cairn_cones *out);

/* r = A' x */
void cairn_cones_impulse(const cairn_cones *cones, const double *x, double *r);
/* r = A' x, and the rows whose bounds are one number have it. */
void cairn_cones_place(const cairn_cones *cones, const double *x, double *r);
/* z = A u */
void cairn_cones_rows(const cairn_cones *cones, const double *u, double *z);
/* x += amount w^power e, e the unit of each cone; not for rows */
void cairn_cones_add_unit(const cairn_cones *cones, double amount, double power, double *x);
/* Mean square root of (shortage of z)^2/w over the contacts whose z is outside of its cone; 1 where
 * none is. sqrt(J) */
double cairn_cones_closing(const cairn_cones *cones, const double *z);
/* The largest |x| sqrt(w), sqrt(J); not a number where x is not. */
double cairn_cones_largest(const cairn_cones *cones, const double *x);

/* P with l = P z = P^-1 x (Nesterov and Todd), and its damping by delta times the weights. False
 * when x or z is not inside of the cone. */
bool cairn_cones_scale(cairn_cones *cones, double delta, const double *x, const double *z,
                       double *l);
/* x += length d, and the slacks with it: the only way x and z may change, from 0. */
void cairn_cones_move(cairn_cones *cones, cairn_cone_side side, double length, const double *d,
                      double *x);
/* out = f(P) x; out may be x. */
void cairn_cones_map(const cairn_cones *cones, cairn_cone_map map, const double *x, double *out);
/* L_j = A_j' P c: dimension rows, one column for each variable of contact j, row major. */
void cairn_cones_factor(const cairn_cones *cones, int j, double *L);

/* out = x o y: products along edges, the Jordan product on circles. out may be x or y. */
void cairn_cones_product(const cairn_cones *cones, const double *x, const double *y, double *out);
/* out solves l o out = x for l inside; out may be x. */
void cairn_cones_divide(const cairn_cones *cones, const double *l, const double *x, double *out);
/* The longest step t <= 1 with l + t d in the cone, l inside. */
double cairn_cones_step(const cairn_cones *cones, const double *l, const double *d);
#endif
