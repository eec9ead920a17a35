/* batch.h - contacts between balls (and walls) in batches, for wide arithmetic.
 *
 * A problem whose blocks are balls - every contact acts on a block at the same distance from its
 * centre, along the normal, and its moments of inertia are equal - needs of each contact only the
 * normal, the bias, the friction coefficient and the two bodies. Batches hold CAIRN_BATCH contacts
 * none of which share a body. */
#ifndef CAIRN_BACKEND_BATCH_H
#define CAIRN_BACKEND_BATCH_H

#include "backend/host/host.h"
#include "base/parallel.h"
#include "math/width.h"

enum {
    CAIRN_BATCH = 16,
    CAIRN_WALL_RECORDS = 8, /* of a slab: its own cache lines for the smallest records as well */
    CAIRN_LOADED = 4096,    /* lanes or bodies that a thread takes at a time */
};

typedef struct cairn_batch_f32 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    float n[3][CAIRN_BATCH], shift[CAIRN_BATCH];
} cairn_batch_f32;

typedef struct cairn_batch_f64 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    double n[3][CAIRN_BATCH], shift[CAIRN_BATCH];
} cairn_batch_f64;

/* One pass over batches. With friction: impulses as vectors in space, records of bodies of 8
 * numbers; without, where mu is NULL, one multiplier and records of 4 (batch_sweep.c). */
typedef struct cairn_pass_f32 {
    const cairn_batch_f32 *batches;
    const float *mu;
    int convex;
    cairn_momentum momentum;
    float *v, *r, *previous;
} cairn_pass_f32;

typedef struct cairn_pass_f64 {
    const cairn_batch_f64 *batches;
    const double *mu;
    int convex;
    cairn_momentum momentum;
    double *v, *r, *previous;
} cairn_pass_f64;

/* A problem cut into batches. Blocks are cut into slabs; contacts within a slab are a group of
 * batches, those between two slabs another, and what is left is the last one. */
typedef struct cairn_batches {
    const cairn_problem *p;
    int slabs;
    int *first;          /* block of each slab, and the end                                    */
    cairn_pieces pieces; /* groups but the last; group k < slabs is slab k                     */
    int *start;          /* first batch of each group, and the end                             */
    int count;           /* batches                                                            */
    int32_t *contact;    /* of each lane; -1: padding                                             */
    int32_t *bodies;     /* a and b of each lane                                                  */
    const double *radius;    /* m: R of each block; 0: nothing touches it, or a point             */
    const cairn_quat *frame; /* of each block: its axes to those of space; NULL: the same         */
    bool general; /* of any bodies, not of balls                                          */
    bool smooth;  /* no contact has friction                                               */
    bool usable;  /* the problem is of the kind asked for, and its batches are well filled */
} cairn_batches;

/* Records after those of the blocks, for walls and padding. */
static inline size_t cairn_batches_extra(const cairn_batches *s)
{
    return (size_t)(CAIRN_WALL_RECORDS * s->slabs);
}

/* The batches of a problem, made in the arena; not usable where it is not one of balls. */
cairn_status cairn_batches_create(const cairn_problem *p, cairn_arena *arena, cairn_batches *out);

/* The batches of a problem of any bodies, in 3D or 2D; rows with bounds are left out. Not usable
 * where it has too few contacts, or other ones. */
cairn_status cairn_batches_create_general(const cairn_problem *p, cairn_arena *arena,
                                          cairn_batches *out);

/* Sees to it that the system has these batches, usable or not: made once for a problem. */
cairn_status cairn_system_cut(cairn_system *s, cairn_arena *arena);

/* Whether the contacts of a problem, all of balls as is `known` or all of stored rows, are of balls
 * that nothing else moves; their radii and frames. Memory is the arena's. */
cairn_status cairn_batches_find_balls(cairn_batches *s, bool known, cairn_arena *arena, bool *out);

/* The passes over batches [begin, end) of one width, see batch_sweep.c; all widths give the same
 * bits.
 *   sweep    an even number of them, of which neighbours share no body; batch `end` is begun as
 *            well, and must be empty
 *   measure  adds sum e_j^2 to out->change2; nothing moves
 *   add_up   what their impulses do to the bodies is added to v */
typedef struct cairn_batch_kernels_f32 {
    void (*sweep)(const cairn_pass_f32 *job, int begin, int end, cairn_sweep *out);
    void (*measure)(const cairn_pass_f32 *job, int begin, int end, cairn_sweep *out);
    void (*add_up)(const cairn_pass_f32 *job, int begin, int end);
} cairn_batch_kernels_f32;

typedef struct cairn_batch_kernels_f64 {
    void (*sweep)(const cairn_pass_f64 *job, int begin, int end, cairn_sweep *out);
    void (*measure)(const cairn_pass_f64 *job, int begin, int end, cairn_sweep *out);
    void (*add_up)(const cairn_pass_f64 *job, int begin, int end);
} cairn_batch_kernels_f64;

const cairn_batch_kernels_f32 *cairn_batch_kernels_f32_of(cairn_width width);
const cairn_batch_kernels_f64 *cairn_batch_kernels_f64_of(cairn_width width);

#endif
