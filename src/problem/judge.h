/* judge.h - the data of a judgement: sums over contacts, and the norms that can be kept from one
 * judgement of a problem to the next. residual.c has the formulas. */
#ifndef CAIRN_PROBLEM_JUDGE_H
#define CAIRN_PROBLEM_JUDGE_H

#include <float.h>

#include "cairn/problem.h"
#include "math/width.h"

/* The denominators of residuals: sums over contacts of the velocities q without impulses. They
 * depend on the problem alone. */
typedef struct cairn_norms {
    bool known;      /* false: not computed yet             */
    double convex2;  /* the closing part of q, squared      */
    double coulomb2; /* likewise for exact Coulomb friction */
    double q2;       /* |q|^2, bias included                */
    double terms2;   /* squares of all terms of q           */
} cairn_norms;

/* Sums over contacts for one law. */
typedef struct cairn_law_sums {
    double e2;           /* sum e_j^2                 */
    double fclib2;       /* sum |r - P_K(r - u^)|^2   */
    double worst, share; /* largest e_j, m/s; largest e_j / S_j, for problems with scales */
    int worst_contact;
    int holder; /* the member whose index this is */
} cairn_law_sums;

typedef struct cairn_judging {
    const cairn_problem *p;
    const double *r, *v;
    double *u;
    bool measures; /* also compute the norms                   */
    bool exact;    /* Coulomb's law only: convex sums stay 0   */
    bool brief;    /* errors and their shares alone            */
    cairn_norms norms;
    cairn_law_sums convex, coulomb;
    double r2, u2;   /* squared norms, bias included             */
    double terms2;   /* squares of all terms of H v              */
    double drowned2; /* sum (2 eps w |r|)^2, (m/s)^2             */
    double burden;   /* with scales: largest w |r_j| / S_j       */
    double noise;    /* m/s: the rounding of u of the contact that is judged now */
    double cone_violation;
} cairn_judging;

/* cairn_judge for a problem that is judged repeatedly. `norms` must be zero at first; it is filled
 * by the first call. */
void cairn_judge_again(const cairn_problem *p, cairn_law law, const double *r, double *v, double *u,
                       cairn_norms *norms, cairn_judgement *out);

/* |q|_c, the denominator of the residual of a law, m/s. */
double cairn_norms_scale(const cairn_norms *norms, cairn_law law);

/* A contact by one law: its parts of |e|^2 and |q|_c^2, (m/s)^2; with scales
 * the residual of e_j / max(S_j, min(w |r_j|, C_j)). */
typedef struct cairn_judged {
    double e2, q2, relative;
} cairn_judged;

/* Only p, r, v and u of the judging are used: v are the velocities of r; u_j is written. */
cairn_judged cairn_judge_one(const cairn_judging *judge, cairn_law law, int j);
/* The residual of a contact by a law alone, for a problem with scales; likewise. */
double cairn_judge_relative(const cairn_judging *judge, cairn_law law, int j);

/* The rounding of sums, relative to the norm of their terms: of |e|_2 over all contacts, and of one
 * u_j at most. That is a sum of m <= 14 terms, two bodies with six velocities each, w and b, with
 * an error of at most m eps/2 sum |terms| <= m^1.5 eps/2 |terms|_2 = 26 eps |terms|_2, and that of
 * the velocities themselves. */
static const double cairn_sum_rounding = 8 * DBL_EPSILON, cairn_own_rounding = 32 * DBL_EPSILON;
/* Squares of the terms of u_j for the velocities v of the impulses r, bias included. */
double cairn_contact_terms2(const cairn_problem *p, int j, const double *r, const double *v);

enum { CAIRN_JUDGED = 8 }; /* contacts of a group that is judged at once */

/* Judge contacts of balls with circular cones, in whole groups up to `end`; returns the first
 * contact that was not judged. All widths give the same bits. */
int cairn_judge_balls(cairn_width width, cairn_judging *judge, int begin, int end);
/* The same for contacts of any two bodies with stored rows, in 3D or 2D. */
int cairn_judge_rows(cairn_width width, cairn_judging *judge, int begin, int end);

/* ---- lane by lane ------------------------------------------------------------------------ */

/* The sums over contacts that were judged side by side, lane by lane, and the units (judge_lanes.c)
 * that compute them. */

/* Sums that do not depend on the law; their names are those of cairn_judging and cairn_norms. */
enum {
    CAIRN_SUM_TERMS2,
    CAIRN_SUM_R2,
    CAIRN_SUM_U2,
    CAIRN_SUM_WEIGHED2,
    CAIRN_SUM_FREE_TERMS2,
    CAIRN_SUM_Q2,
    CAIRN_SUM_COULOMB2,
    CAIRN_SUM_CONVEX2,
    CAIRN_PLAIN_SUMS
};

/* The sums of each lane over all groups; `where` is the contact with the largest error. */
typedef struct cairn_law_lanes {
    double e2[CAIRN_JUDGED], fclib2[CAIRN_JUDGED], worst2[CAIRN_JUDGED], where[CAIRN_JUDGED];
    double share2[CAIRN_JUDGED];
} cairn_law_lanes;

typedef struct cairn_judged_lanes {
    cairn_law_lanes convex, coulomb;
    double plain[CAIRN_PLAIN_SUMS][CAIRN_JUDGED], off_cone2[CAIRN_JUDGED], burden2[CAIRN_JUDGED];
} cairn_judged_lanes;

/* The judges of one width: they judge whole groups from `begin` on, and return where the next group
 * would begin. All widths give the same bits. */
typedef int cairn_judge_fn(cairn_judging *judge, int begin, int end, cairn_judged_lanes *out);

typedef struct cairn_judges {
    cairn_judge_fn *balls;
    cairn_judge_fn *rows[2]; /* contacts whose rows are stored, in 2D and in 3D */
} cairn_judges;

#endif
