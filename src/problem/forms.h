/* forms.h - a one-step problem in other forms: with W formed, in other units, restricted to some of
 * its contacts, or as a linear complementarity problem. */
#ifndef CAIRN_PROBLEM_FORMS_H
#define CAIRN_PROBLEM_FORMS_H

#include "base/memory.h"
#include "cairn/problem.h"

/* ---- W formed ---------------------------------------------------------------------------- */

/* W = H M^-1 H' as a sparse matrix, for the methods that need it explicitly. */

/* W of a problem by compressed rows, columns ascending; memory from the arena. In the local form
 * `out` is the problem's own W. Compliance is not in it. A contact couples with every contact
 * on one of its blocks. */
cairn_status cairn_delassus_form(const cairn_problem *p, cairn_arena *arena, cairn_matrix *out);

/* The same problem in the local form: W and q formed, memory from the arena. *W becomes the matrix,
 * and `out` points to it: it must stay as long as `out` is used. All other arrays are shared. */
cairn_status cairn_delassus_localise(const cairn_problem *p, cairn_arena *arena, cairn_matrix *W,
                                     cairn_problem *out);

/* ---- in other units ---------------------------------------------------------------------- */

/* A problem with rolling or spinning friction in units in which these are speeds. */

/* The rescaled problem. With l the length of each component: r = l r', u' = l u, mu = l mu';
 * velocities are the same. */
typedef struct cairn_rescaled {
    cairn_problem p;
    cairn_matrix W; /* of p in the local form: p points to it, so the struct must not move */
    double *length; /* dimension per contact, m; 1 where nothing is scaled */
} cairn_rescaled;

/* Memory from the arena; arrays that need no scaling are shared. */
cairn_status cairn_problem_rescale(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out);

/* ---- some contacts alone ----------------------------------------------------------------- */

/* Some contacts of a one-step problem, as a separate problem. */

/* Contacts and blocks of the part, in the order of the whole; all arrays are scratch. */
typedef struct cairn_problem_part {
    cairn_problem problem;
    const int32_t *contact; /* of the whole, for each one of the part */
    int32_t *block;         /* likewise                               */
} cairn_problem_part;

/* The part of a problem in block form that consists of the given contacts, in ascending order, and
 * the blocks that they touch. It is a copy: later changes to the whole do not affect it. */
cairn_status cairn_problem_take_part(const cairn_problem *whole, const int32_t *contacts, int count,
                                     cairn_arena *scratch, cairn_problem_part *out);
/* Copy numbers of the part back into the whole: `width` for each item of the list. */
void cairn_part_spread(const int32_t *items, int count, int width, const double *part,
                       double *whole);

/* ---- as a linear complementarity problem ------------------------------------------------- */

/* The one-step problem with polyhedral cones as a linear complementarity problem. */

/* w = A z + a,  0 <= w ⟂ z >= 0;  for free unknowns (is_free): w = 0, z of any sign. */
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
/* The convex law with normal impulses bounded by `most` (N s). The unknowns of all contacts are
 * followed by one relaxation zeta, m/s, for each contact. Not for problems with rows with
 * bounds. */
cairn_status cairn_lcp_create_elastic(const cairn_problem *p, double most, cairn_arena *arena,
                                      cairn_lcp *out);
bool cairn_lcp_is_finite(const cairn_lcp *lcp);
/* The impulses r of a solution z of either LCP. */
void cairn_lcp_impulses(const cairn_problem *p, cairn_law law, const double *z, double *r);
/* w of the convex law from the velocities u: (u + (b + mu s) n).(1, mu d_k) for each edge. */
void cairn_lcp_slacks(const cairn_problem *p, const double *u, double *w);
/* z >= 0 of the convex law from impulses r in their cones. */
void cairn_lcp_edges(const cairn_problem *p, const double *r, double *z);

#endif
