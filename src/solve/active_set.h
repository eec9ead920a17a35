/* active_set.h - the factor of the active constraints, updated when the set changes. */
#ifndef CAIRN_SOLVE_ACTIVE_SET_H
#define CAIRN_SOLVE_ACTIVE_SET_H

#include "base/arena.h"

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
