/* problem.h - the one-step problem as plain data, and the one judge of its solutions.
 *
 *     M (v - v_free) = H' r,   u = H v + w,   K  ∋  r  ⟂  u + (b + mu s) n  ∈  K*
 *
 * K = {|r_T| <= mu r_N} for each contact, K* its dual, n the normal direction of the contact.
 * With rolling and spinning friction K is {|r_T| <= mu r_N, |r_R| <= mu_R r_N, |r_S| <= mu_S r_N}.
 *
 * A contact may instead be a block of rows with bounds, for joints, limits, motors and springs.
 * Each of its components obeys, with y = u + eps r,
 *
 *     lower <= r <= upper,   y >= 0 where r = lower,   y <= 0 where r = upper,   y = 0 between.
 *
 * The problem contains neither bodies nor shapes: it comes from a world, from the caller or from a
 * file. */
#ifndef CAIRN_PROBLEM_H
#define CAIRN_PROBLEM_H

#include "cairn/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The friction law that a solution must satisfy. */
typedef enum cairn_law {
    CAIRN_LAW_CONVEX,  /* s is data: the associated law (s = 0), or one outer iterate (s given)  */
    CAIRN_LAW_COULOMB, /* s = |u_T|: exact Coulomb friction                                      */
    CAIRN_LAW_COUNT
} cairn_law;

/** Name of a law: "convex", "coulomb". */
CAIRN_API const char *cairn_law_name(cairn_law law);

/** What a contact of the problem is. */
typedef enum cairn_contact_kind {
    CAIRN_KIND_BALLS,   /* of balls and walls: its rows follow from its normal and tangent        */
    CAIRN_KIND_GENERAL, /* of any two bodies: its rows are stored, or follow from W               */
    CAIRN_KIND_ROLLING, /* likewise, with rolling or spinning friction                            */
    CAIRN_KIND_LONE,    /* both sides act on the same block, or on none                           */
    CAIRN_KIND_ROWS,    /* rows with bounds: of joints, limits, motors and springs                */
    CAIRN_KIND_COUNT
} cairn_contact_kind;

/** Contacts begin .. begin + count - 1 of a problem, all of one kind. */
typedef struct cairn_segment {
    cairn_contact_kind kind;
    bool friction; /* mu of one of them at least is not 0; false for rows with bounds             */
    int begin, count;
} cairn_segment;

/** The contacts of a problem by kind: segments in their order, without gaps, neighbours of
 *  different kinds. `made_from` are block, rows, bounded, mu, normal and W of the problem: in a
 *  copy of the problem with other arrays or another number of contacts, the segments are not valid
 *  and are derived again. */
typedef struct cairn_segments {
    int count, contacts;
    const cairn_segment *item;
    const void *made_from[6];
} cairn_segments;

enum { CAIRN_MAX_DIMENSION = 6 };
enum { CAIRN_MOST_PARTS = 16384 };

/** The one-step problem. All arrays belong to the caller and are only read. A contact has
 *  `dimension` components: the normal one, the tangents (1 in 2D, 2 in 3D), `rolling` and
 *  `spinning` ones. Two forms:
 *
 *  Block form (W is NULL): velocities are grouped in `blocks` of `block_size` numbers (one per
 *  body: 3 in 2D, 6 in 3D), M is diagonal in them, and a contact acts on at most two blocks.
 *  The rows of a contact are stored in H, or, for a contact of balls and walls, follow from its
 *  normal n and tangent t: blocks are (v, w) with v and w in space axes, the mass and the moment of
 *  inertia the same in all directions, side a is touched at -R n from its centre, side b at R n:
 *
 *      u = va - vb + n x (Ra wa + Rb wb)   in the directions n, t, n x t, plus w.
 *
 *  That takes 48 bytes instead of 288. 3D without rolling or spinning only.
 *
 *  Local form (W is given): u = W r + q, without velocities; blocks is 0 and the arrays of the
 *  block form are ignored. W may be singular and a little unsymmetric. */
typedef struct cairn_problem {
    int dimension;  /* components of a contact: 2 or 3, + rolling + spinning          */
    int rolling;    /* rolling components of a contact: 0; 1 in 2D, 2 in 3D           */
    int spinning;   /* spinning components of a contact: 0; 1 in 3D                   */
    int directions; /* 0: circular cones; m >= 4, even: cones with m edges, spanned by
                                   (1, mu d_k), d_k = (cos, sin)(2 pi k/m). In 2D: 0              */
    int block_size; /* velocity components in a block, 1 to 6                         */
    int blocks;     /* number of velocity blocks                                      */
    int contacts;   /* number of contacts                                             */
    int parts;      /* ranges of blocks that sweeps keep apart, at most CAIRN_MOST_PARTS:
                                   what threads work on; 0: by the number of contacts             */
    const double *mass_inverse; /* blocks * block_size: diagonal of M^-1, kg^-1 or (kg m^2)^-1    */
    const double *v_free;       /* blocks * block_size: velocity without contact, m/s or rad/s    */
    const int32_t *block;       /* 2 per contact: the block of side a and of side b; -1: none     */
    const double *H;            /* per contact two row-major dimension x block_size matrices      */
    const cairn_vec3 *normal;   /* contacts of balls: n of each contact, of length 1, towards side
                                   a; NULL: there are none                                        */
    const cairn_vec3 *tangent;  /* likewise t, of length 1, at right angles to n                  */
    const double *radius;       /* per block, m: R; of the blocks of contacts of balls            */
    const int32_t *rows;        /* per contact: its place in H, whose numbers are then not one pair
                                   per contact; -1: a contact of balls. NULL: all are stored one
                                   after the other or, where `normal` is given, all are of balls  */
    const double *w;            /* per contact `dimension`: velocity imposed from outside, m/s;
                                   NULL: none                                                     */
    const cairn_matrix *W;      /* local form: dimension * contacts rows and columns, kg^-1       */
    const double *q;            /* local form: per contact `dimension`, m/s; b is not in it       */
    const double *b;            /* per contact: normal bias, m/s; NULL: 0                         */
    const double *s;            /* per contact: sliding correction >= 0, m/s; NULL: 0             */
    const double *mu;           /* per contact: friction coefficient                              */
    const double *mu_rolling;   /* per contact: bound of |r_R|/r_N, m; NULL: 0                    */
    const double *mu_spinning;  /* per contact: bound of |r_S|/r_N, m; NULL: 0                    */
    const uint8_t *bounded;     /* per contact: 1: its components are rows with bounds, and b, s
                                   and mu of it are not looked at; NULL: all are contacts         */
    const double *lower;        /* bounded rows: per contact `dimension`, N s; may be -INFINITY   */
    const double *upper;        /* bounded rows: per contact `dimension`, N s; may be INFINITY    */
    const double *compliance;   /* bounded rows: per contact `dimension`, eps >= 0, kg^-1;
                                   NULL: 0                                                        */
    const double *scale;        /* per contact, m/s: S > 0, to which its error is related, see
                                   cairn_residual; NULL: all are related to one norm              */
    const double *most;         /* per contact, m/s, with `scale`: C, up to which w |r| raises S  */
    const cairn_segments *segments; /* its contacts by kind; NULL: to be found, as
                                   cairn_problem_segments does                                    */
    const struct cairn_cut *cut;    /* its blocks and contacts in parts, as a world that was asked
                                   for parts cuts them; NULL: solvers cut them by their work      */
    const struct cairn_resident *resident; /* all arrays, and those of impulses and velocities that
                                   go with them, are on the device of a back end, which alone may
                                   read them (cairn/backend.h); NULL: they are the host's         */
} cairn_problem;

/** The contacts of a problem by kind: writes the first `most` segments and returns the number of
 *  all. They are derived from its arrays, whether or not it has `segments`. */
CAIRN_API int cairn_problem_segments(const cairn_problem *p, cairn_segment *out, int most);

/** Check sizes, indices, signs and finiteness. CAIRN_BAD_INPUT or CAIRN_NOT_FINITE with `error`
 *  (may be NULL) saying which entry. */
CAIRN_API cairn_status cairn_problem_check(const cairn_problem *p, cairn_error *error);

/** Write the rows of contact j on side 0 (a) or 1 (b), stored or not, to H: a row-major
 *  dimension x block_size matrix. Block form only. */
CAIRN_API void cairn_problem_rows(const cairn_problem *p, int j, int side, double *H);

/** v = v_free + M^-1 H' r (blocks * block_size numbers; none in the local form) and
 *  u = H v + w, in the local form W r + q: relative velocities, `dimension` per contact, bias not
 *  included. */
CAIRN_API void cairn_problem_apply(const cairn_problem *p, const double *r, double *v, double *u);

/** Projection of one contact's vector onto its circular friction cone, in place. */
CAIRN_API void cairn_cone_project(int dimension, double mu, double *r);
/** Projection onto the cone spanned by the `directions` vectors (1, mu d_k), in place; 3D. */
CAIRN_API void cairn_cone_project_polygon(int directions, double mu, double *r);
/** The sliding speed that a law uses for s: |u_T|, for cones with edges max_k |d_k . u_T|. */
CAIRN_API double cairn_sliding_speed(int dimension, int directions, const double *u);

/** How well impulses r satisfy one law. Recomputed from r alone: v from r, u from v. All are
 *  INFINITY if a sum overflows or contains a NaN. docs/notation.md defines the errors e_j. */
typedef struct cairn_residual {
    double worst;      /* m/s: largest e_j: no contact is wrong by more                        */
    double relative;   /* tolerances refer to it. With scales: the largest x/(10 - 9 x), for x > 1
                          x, of x = e_j / max(S_j, min(w |r_j|, C_j)); otherwise `whole`       */
    double whole;      /* the norm over all contacts: |e|_2 over that of the closing part of q */
    double fclib;      /* the literature's |r - P_K(r - u^)|_2 / max(|q|,|r|,|u|)              */
    int worst_contact; /* index of the contact with the largest e_j, -1 when there is none     */
} cairn_residual;

/** The largest x that a relative residual of a problem with scales allows: 10 t/(1 + 9 t), for
 *  t > 1 t. A tolerance t promises e_j <= x max(S_j, min(w |r_j|, C_j)) at every contact. */
CAIRN_API double cairn_residual_share(double relative);

/** The judgement of impulses r, for the requested law and for exact Coulomb friction. */
typedef struct cairn_judgement {
    cairn_residual asked;
    cairn_residual coulomb;
    double cone_violation; /* N s: largest distance of r_j from its cone or its bounds         */
} cairn_judgement;

/** The only judge. It needs no workspace: `v` (blocks * block_size numbers) is scratch and receives
 *  the velocity of r; `u` (dimension per contact) receives u = H v + w. */
CAIRN_API void cairn_judge(const cairn_problem *p, cairn_law law, const double *r, double *v,
                           double *u, cairn_judgement *out);

/** How far impulses can be from the solution of the convex law, proven by duality:
 *
 *      1/2 |v_f - v*|_M^2 + 1/2 |v - v*|_M^2  <=  gap,      |v|_M^2 = v'M v,
 *
 *  v* the solution, v the velocity of r, v_f a feasible velocity made from r by impulses that
 *  open all contacts. All numbers are for r projected onto its cones, and hold to rounding. */
typedef struct cairn_duality {
    bool feasible;        /* a feasible velocity was found; else primal and gap are infinite      */
    double primal;        /* J: 1/2 |v_f - v_free|_M^2                                            */
    double dual;          /* J: -(1/2 r'W r + q'r) <= 1/2 |v* - v_free|_M^2 <= primal             */
    double gap;           /* J: primal - dual, computed without cancellation                      */
    double error_bound;   /* sqrt(J): sqrt(2 gap) >= |v - v*|_M                                   */
    double infeasibility; /* m/s: largest mu |u^_T| - u^_N of the velocity of r; 0: none          */
} cairn_duality;

/** The duality gap of impulses r for the convex law with the s of the problem, any form and cones
 *  (a W that is not symmetric is treated as if it were). Without a feasible velocity - there is
 *  none, none with all contacts open, it was not found, or there are rows with bounds - the gap is
 *  infinite and only `infeasibility` has a meaning. Allocates temporary memory. Fails with
 *  CAIRN_NO_MEMORY or CAIRN_NOT_FINITE. */
CAIRN_API cairn_status cairn_problem_duality(const cairn_problem *p, const double *r,
                                             cairn_duality *out);

#ifdef __cplusplus
}
#endif
#endif
