/* lcp.h - the one-step problem with polyhedral cones as a linear complementarity problem. */
#ifndef CAIRN_PROBLEM_LCP_H
#define CAIRN_PROBLEM_LCP_H

#include "base/arena.h"
#include "cairn/problem.h"

/* w = A z + a,  0 <= w ⟂ z >= 0;  where is_free says so: w = 0, z of any sign. */
typedef struct cairn_lcp {
    int size;
    double *A;           /* size x size, by rows     */
    double *a;           /* size                     */
    const bool *is_free; /* size; NULL: none is free */
} cairn_lcp;

/* Whether the problem's cones are polyhedral: 2D, or 3D with edges. */
bool cairn_lcp_possible(const cairn_problem *p);
/* Unknowns of one cone: edges (convex law), or edges + 2 (Coulomb). */
int cairn_lcp_unknowns(const cairn_problem *p, cairn_law law);
/* Unknowns of all contacts: those of cones, and of rows with bounds. */
int64_t cairn_lcp_size(const cairn_problem *p, cairn_law law);
/* The LCP of the law. */
cairn_status cairn_lcp_create(const cairn_problem *p, cairn_law law, cairn_arena *arena,
                              cairn_lcp *out);
/* The convex law with normal impulses bounded by `most` (N s): behind the unknowns of all contacts
 * come their relaxations zeta, m/s. */
cairn_status cairn_lcp_create_elastic(const cairn_problem *p, double most, cairn_arena *arena,
                                      cairn_lcp *out);
bool cairn_lcp_is_finite(const cairn_lcp *lcp);
/* Impulses r of an answer z of cairn_lcp_create's or cairn_lcp_create_elastic's LCP. */
void cairn_lcp_impulses(const cairn_problem *p, cairn_law law, const double *z, double *r);
/* w of the convex law from the velocities u: (u + (b + mu s) n).(1, mu d_k) for each edge. */
void cairn_lcp_slacks(const cairn_problem *p, const double *u, double *w);
/* z >= 0 of the convex law from impulses r in their cones. */
void cairn_lcp_edges(const cairn_problem *p, const double *r, double *z);

#endif
