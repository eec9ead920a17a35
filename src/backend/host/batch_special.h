/* batch_special.h - rows with bounds (joints, limits, motors) beside batches of contacts: they are
 * swept one by one in their order after the batches, in double. */
#ifndef CAIRN_BACKEND_BATCH_SPECIAL_H
#define CAIRN_BACKEND_BATCH_SPECIAL_H

#include "backend/host/host.h"

typedef struct cairn_special_rows {
    const cairn_problem *p;
    int count;
    int32_t *contact;
    double *H;            /* dimension x block size of each side             */
    double *W;            /* lower triangle of each, see problem/local.h     */
    double *r, *previous; /* `dimension` each                                */
    cairn_sweep noted;    /* by the sweep that is under way                  */
} cairn_special_rows;

/* The rows with bounds of a problem of blocks of at most 6; memory is the arena's. */
cairn_status cairn_special_create(const cairn_problem *p, cairn_arena *arena,
                                  cairn_special_rows *out);

void cairn_special_load(cairn_special_rows *s, const double *r);
void cairn_special_unload(const cairn_special_rows *s, double *r);
/* The next move counts from here. */
void cairn_special_forget(cairn_special_rows *s);

/* The exact solution of block k, with the velocities of both sides; `change` is what it adds to
 * r + beta (r - r_previous). */
void cairn_special_solve(cairn_special_rows *s, int k, cairn_momentum momentum, double v[2][6],
                         double *change);

/* H' p of block k on one side. */
void cairn_special_force(const cairn_special_rows *s, int k, int side, const double *p,
                         double *out);

#endif
