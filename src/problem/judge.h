/* judge.h - one judgement while it is made: sums over contacts, and what can be kept from one
 * judgement of a problem to the next. residual.c has the formulas. */
#ifndef CAIRN_PROBLEM_JUDGE_H
#define CAIRN_PROBLEM_JUDGE_H

#include "cairn/problem.h"
#include "math/width.h"

/* What depends on the problem alone: sums over contacts of the velocities q without impulses. */
typedef struct cairn_norms {
    bool known;      /* false: still to be found            */
    double convex2;  /* the closing part of q, squared      */
    double coulomb2; /* likewise for exact Coulomb friction */
    double q2;       /* |q|^2, bias included                */
    double terms2;   /* squares of all terms of q           */
} cairn_norms;

/* Sums over contacts for one law. */
typedef struct cairn_law_sums {
    double e2;     /* sum e_j^2                 */
    double fclib2; /* sum |r - P_K(r - u^)|^2   */
    double worst;
    int worst_contact;
} cairn_law_sums;

typedef struct cairn_judging {
    const cairn_problem *p;
    const double *r, *v;
    double *u;
    bool measures; /* the norms are asked for, too             */
    bool exact;    /* the convex law is not: its sums stay 0   */
    cairn_norms norms;
    cairn_law_sums convex, coulomb;
    double r2, u2;   /* squared norms, bias included             */
    double terms2;   /* squares of all terms of H v              */
    double drowned2; /* sum (2 eps w |r|)^2, (m/s)^2             */
    double cone_violation;
} cairn_judging;

/* cairn_judge for a problem that is judged again and again: norms start as zero. */
void cairn_judge_again(const cairn_problem *p, cairn_law law, const double *r, double *v, double *u,
                       cairn_norms *norms, cairn_judgement *out);

/* What the residual of a law is relative to, m/s. */
double cairn_norms_scale(const cairn_norms *norms, cairn_law law);

/* What contact j alone adds to the residual of a law, e^2, and to the norm that it is relative to,
 * (m/s)^2. Of the judging p, r, v and u are used: v are the velocities of r; u_j is written. */
void cairn_judge_one(const cairn_judging *judge, cairn_law law, int j, double *e2, double *q2);

enum { CAIRN_JUDGED = 8 }; /* contacts that are judged at once */

/* Contacts of balls, with circular cones, whole groups up to `end`; returns where it stopped. All
 * widths give the same bits. */
int cairn_judge_balls(cairn_width width, cairn_judging *judge, int begin, int end);
/* Likewise contacts of any two bodies, whose rows are stored, in 3D or 2D. */
int cairn_judge_rows(cairn_width width, cairn_judging *judge, int begin, int end);

#endif
