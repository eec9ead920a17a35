/* systems.h - internals of solvers that factorise or pivot: the linear systems of the interior
 * point method, with its cones and rows in their own variables, of the semismooth Newton method and
 * of ADMM; Lemke's algorithm, and the factor of an active set. */
#ifndef CAIRN_SOLVE_SYSTEMS_H
#define CAIRN_SOLVE_SYSTEMS_H

#include "backend/host/host.h"
#include "base/memory.h"
#include "cairn/problem.h"
#include "math/factor.h"
#include "problem/forms.h"
#include "solve/solver.h"

/* ---- rows with bounds -------------------------------------------------------------------- */

/* Rows with bounds in the interior point method.
 *
 * A row has the variable x = r, and for each of its two bounds that is finite a distance and a
 * velocity, both > 0:
 *     g_0 = x - lower, z_0;   g_1 = upper - x, z_1;   y = z_0 - z_1;   g_s z_s = t on the path.
 * A row without bounds has neither: y = 0. Its z in the arrays of the cones is z_0 - z_1. */

typedef struct cairn_cones cairn_cones;

/* One number for each variable of the cones; only those of rows are used. */
typedef struct cairn_cone_rows {
    int count;       /* variables that are rows; 0: the arrays are not there                 */
    int32_t *list;   /* count: the variables                                                 */
    int32_t *row;    /* of a variable: its component, dimension * contact + i                */
    double *w;       /* its W_ii, kg^-1                                                      */
    double *gap[2];  /* g_s, N s; INFINITY where there is no bound                           */
    double *z[2];    /* z_s, m/s; 0 where there is no bound                                  */
    double *c[2];    /* the value that g_s dz_s + z_s dg_s must have                         */
    double *kept[2]; /* c of the direction before                                            */
    double *dz[2];
} cairn_cone_rows;

/* List the rows once the variables of the cones are. */
cairn_status cairn_cones_list_rows(cairn_cones *cones, cairn_arena *arena);
/* d = the first x: in the middle of two bounds, `amount` w^-1/2 away from one, 0 without. */
void cairn_cones_start_rows(cairn_cones *cones, double amount, double *d);
/* z_s = t/g_s, with one bound at least its velocity u; d = z_0 - z_1 */
void cairn_cones_start_sides(cairn_cones *cones, double t, const double *u, double *d);
/* root = (sum z_s/g_s + eps + delta w)^-1/2: the eigenvalue of L for rows; false when outside */
bool cairn_cones_scale_rows(cairn_cones *cones, double delta, double *l);
/* sum g_s z_s */
double cairn_cones_product_rows(const cairn_cones *cones);
/* c_s = centring - g_s z_s - (last dg_s dz_s), without the last term when `corrected` is false;
 * d = root (c_0/g_0 - c_1/g_1) */
void cairn_cones_aim_rows(cairn_cones *cones, double centring, bool corrected, const double *dx,
                          double *d);
/* Keep c, or go back to it. */
void cairn_cones_keep_rows(cairn_cones *cones);
void cairn_cones_restore_rows(cairn_cones *cones);
/* dz_s of the scaled direction dx, and 1/t of the longest step, at least 1. */
double cairn_cones_reach_rows(cairn_cones *cones, const double *dx);
/* x, g_s or z_s moved by `length` times d or dz_s. */
void cairn_cones_move_rows(cairn_cones *cones, bool impulses, double length, const double *d,
                           double *x);

/* ---- cones ------------------------------------------------------------------------------- */

/* The cones of a problem in their own variables, and their scaling.
 *
 * Contact j has variables x_j in a self-dual cone, with r_j = A_j' x_j and z_j = A_j u^_j:
 *   edges   x_j >= 0; the rows of A_j are the edges (1, mu d_k). In 2D there are two, which is
 *           the cone itself; for mu = 0 there is one, the normal, and r_T = 0
 *   circle  x_j0 >= |(x_j1, x_j2)|, A_j = diag(1, mu, mu): mu is absorbed
 *   rows    rows with bounds: one variable x = r for each row with lower < upper, see above
 *   none    a contact that nothing can move (W_jj = 0): no impulse helps, it is left out */

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

/* Which function of the eigenvalues of P. */
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
/* Root mean square of (shortage of z)/sqrt(w) over the contacts whose z is outside its cone; 1 if
 * there are none. sqrt(J) */
double cairn_cones_closing(const cairn_cones *cones, const double *z);
/* The largest |x| sqrt(w), sqrt(J); NaN if x contains one. */
double cairn_cones_largest(const cairn_cones *cones, const double *x);

/* P with l = P z = P^-1 x (Nesterov and Todd), and its damping by delta times the weights. False
 * when x or z is not inside of the cone. */
bool cairn_cones_scale(cairn_cones *cones, double delta, const double *x, const double *z,
                       double *l);
/* x += length d, together with the slacks. x and z start at 0 and may be changed only by this. */
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

/* ---- the linear system ------------------------------------------------------------------- */

/* The linear system of an interior point step, S = I + L'W L, L = A'P c.
 *
 * S has one row for each variable of the cones, and is positive definite as W is never negative:
 *   block form   W = G G' with G = H M^-1/2, so S^-1 = I - L'G (I + G'L L'G)^-1 G'L: the matrix to
 *                factor has the size of the velocities, and a block for each pair in touch;
 *   local form   S itself, with the blocks of the symmetric part of W.
 * The pattern stays the same from step to step and is analysed once. */

/* A symmetric matrix in blocks of different sizes, upper triangle. */
typedef struct cairn_blocks {
    int count;       /* block rows                                                  */
    int32_t *first;  /* count + 1: first scalar row of each                         */
    int64_t *start;  /* count + 1: first pair of each block row                     */
    int64_t *pair;   /* row * count + column, ascending, column >= row              */
    int64_t *offset; /* of each pair: where its columns begin in a scalar row       */
    int64_t *scalar; /* scalar rows + 1: where they begin in `value`                */
    int32_t *column;
    double *value;
} cairn_blocks;

typedef struct cairn_normal {
    const cairn_cones *cones;
    cairn_problem linear; /* the problem without v_free, w, q: u = W r               */
    cairn_blocks blocks;
    cairn_cholesky *factor;
    double *mass_root;         /* block form: M^-1/2                                       */
    int64_t *where;            /* block form: pair of a and b of each contact, -1: none    */
    double *W;                 /* local form: 9 numbers a pair, symmetric part             */
    double *r, *u, *v;         /* scratch: impulses, relative velocities, velocities       */
    double *zero;              /* the v_free or q of `linear`                              */
    double *residual, *change; /* scratch: one per variable                            */
    double *L[2], *side[2];    /* scratch: factors of one contact                      */
} cairn_normal;

/* Set up the system. `normal` must be destroyed even if this fails. */
cairn_status cairn_normal_create(const cairn_system *system, const cairn_cones *cones,
                                 cairn_arena *arena, cairn_normal *normal);
void cairn_normal_destroy(cairn_normal *normal);

/* Factor S for the scaling that the cones have now. */
cairn_status cairn_normal_factor(cairn_normal *normal, bool *positive);
/* s = S^-1 h, refined `refinements` times at most. */
cairn_status cairn_normal_solve(cairn_normal *normal, int refinements, const double *h, double *s);

/* ---- the semismooth Newton method ------------------------------------------------------------ */

/* The equations of the semismooth Newton method and one step of it. */

typedef struct cairn_newton_system cairn_newton_system;

/* How W is held and J dr = -F solved: by contacts or by bodies. */
typedef struct cairn_newton_form {
    /* Set up the matrix; memory from the arena. */
    cairn_status (*create)(cairn_newton_system *s, cairn_arena *arena);
    /* s->u = W r + q, without the shift */
    void (*relative)(cairn_newton_system *s, const double *r);
    /* s->step = dr from s->F, s->G, s->closed at r; *regular is false when J is singular */
    cairn_status (*solve)(cairn_newton_system *s, const double *r, bool *regular);
} cairn_newton_form;

extern const cairn_newton_form cairn_newton_contacts, cairn_newton_bodies;

/* F(r) = D (r - Phi(r - R u)), u = (W + E) r + q + shift n + A D (r - centre). */
struct cairn_newton_system {
    const cairn_problem *p;
    const cairn_newton_form *form;
    cairn_law law;
    size_t n;       /* components of r                                                     */
    double alpha;   /* weight of the proximal term: A, except for equations                */
    double *centre; /* n: centre of the proximal term, N s                                 */
    double *shift;  /* contacts: b, for the convex law b + mu s, m/s                       */
    double *w;      /* n: D, kg^-1                                                         */
    double *eps;    /* n: E, the compliance of rows with bounds, kg^-1                     */
    bool *equation; /* n: a row without bounds, whose A is small                           */
    double *rho;    /* n: R, kg                                                            */
    double *u;      /* n: W r + q, m/s                                                     */
    double *F, *G;  /* n; d x d per contact: the residual and the derivative of Phi at r   */
    bool *closed;   /* contacts: Phi is not 0                                              */
    double *step;   /* n: dr                                                               */
    cairn_lu *lu;
    /* the linear system */
    double *right, *matrix;
    int64_t *row;
    int32_t *column;
    /* by contacts: contact j couples with contacts other[start[j] ..] by d x d blocks of W */
    cairn_problem local;
    cairn_matrix formed;
    int64_t *start;
    int32_t *other;
    double *W;
    int32_t *index; /* contacts: their number among the closed ones, -1: open              */
    /* by bodies: where the blocks of the 4 pairs of sides of a contact begin in `matrix` */
    double *root, *v; /* velocities: M^-1/2; velocities of r                               */
    int64_t *where;   /* 4 per contact, -1: none                                           */
};

/* A D of component i, which the proximal term adds to W_ii. */
double cairn_newton_pull(const cairn_newton_system *s, size_t i);

/* Set up for the problem and the law of a task. Memory comes from its arena, except for the
 * factors. It must be destroyed even if this fails. */
cairn_status cairn_newton_system_create(cairn_task *task, cairn_newton_system *out);
void cairn_newton_system_destroy(cairn_newton_system *s);

/* F, G and the closed contacts at r; returns |F|, m/s. */
double cairn_newton_system_residual(cairn_newton_system *s, const double *r);

/* r += the Newton step, from F and G of the last residual. *good is false, and r unchanged, when
 * the matrix is singular or the step not finite. */
cairn_status cairn_newton_system_step(cairn_newton_system *s, double *r, bool *good);

/* ---- ADMM ------------------------------------------------------------------------------------ */

/* X = (W + rho D)^-1 h with a sparse factor, for changing rho. */

typedef struct cairn_admm_system {
    const cairn_problem *p;
    double rho;
    double *w;         /* components: D, kg^-1                                            */
    double *root;      /* block form: M^-1/2                                              */
    double *y;         /* block form: one number for each velocity                        */
    cairn_matrix base; /* block form: G'D^-1 G, local form: W; upper triangle by rows     */
    double *value;     /* the numbers of the matrix that is factored                      */
    cairn_cholesky *factor;
} cairn_admm_system;

/* Set up the system. Memory comes from the arena, except for the factor. It must be destroyed even
 * if this fails. */
cairn_status cairn_admm_system_create(const cairn_problem *p, cairn_arena *arena,
                                      cairn_admm_system *out);
void cairn_admm_system_destroy(cairn_admm_system *s);

/* Factor for this rho; *positive is false when W + rho D is not positive definite. */
cairn_status cairn_admm_system_factor(cairn_admm_system *s, double rho, bool *positive);

/* h = (W + rho D)^-1 h */
cairn_status cairn_admm_system_solve(cairn_admm_system *s, double *h);

/* ---- solvers that pivot --------------------------------------------------------------------- */

/* How a run of Lemke's algorithm ended. */
typedef enum cairn_lemke_end {
    CAIRN_LEMKE_SOLVED,
    CAIRN_LEMKE_RAY,      /* a secondary ray: for contact problems mostly infeasible  */
    CAIRN_LEMKE_STOPPED,  /* iterations or time were used up                          */
    CAIRN_LEMKE_SINGULAR, /* the free unknowns contradict each other                  */
    CAIRN_LEMKE_LOST      /* the final basis is wrong because of rounding             */
} cairn_lemke_end;

/* The text for a report; NULL for SOLVED. */
const char *cairn_lemke_words(cairn_lemke_end end);

/* Whether an LCP of this size fits: matrix and tableau take at most about 200 MB. */
bool cairn_lemke_fits(int64_t size);

/* z of the LCP; zero if it is not solved. Only the arena, the limits and the report of the task are
 * used; each pivot counts as an iteration. */
cairn_status cairn_lemke(const cairn_lcp *lcp, cairn_task *task, double *z, cairn_lemke_end *end);

/* ---- the factor of the active constraints ---------------------------------------------------- */

/* The factor of the active constraints, updated when the set changes. */

/* G_AA = L L' for the active members A of a symmetric positive semidefinite G. */
typedef struct cairn_active {
    int size;
    const double *G; /* size x size, by rows                                   */
    int most;        /* members at most                                        */
    int count;       /* members                                                */
    int *member;     /* their indices, in the order of L                       */
    double *L;       /* most rows of `most` numbers                            */
    double *row;     /* L^-1 G_Ap of the last cairn_active_probe               */
} cairn_active;

/* An empty set. */
cairn_status cairn_active_create(int size, const double *G, int most, cairn_arena *arena,
                                 cairn_active *out);
/* Compare index p with the members: d_A = -G_AA^-1 G_Ap, and the curvature
 * G_pp - G_pA G_AA^-1 G_Ap, which is 0 if p depends on them to working precision. */
double cairn_active_probe(cairn_active *a, int p, double *d);
/* Make p a member; right after its probe, which must have given a curvature > 0. */
void cairn_active_add(cairn_active *a, int p, double curvature);
/* Remove the member at position k. */
void cairn_active_drop(cairn_active *a, int k);
/* x = G_AA^-1 x */
void cairn_active_solve(const cairn_active *a, double *x);

#endif
