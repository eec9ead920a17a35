/* batch.h - contacts in batches, for SIMD: of balls, of any bodies in 3D and in 2D, and the rows
 * with bounds that are swept beside them.
 *
 * A lane holds one contact. All arrays of a batch are indexed [component][lane], so that one load
 * fills a register with one component of neighbouring lanes. The types exist twice, in float and in
 * double; batch_unit.h gives them common names. */
#ifndef CAIRN_BACKEND_HOST_BATCH_H
#define CAIRN_BACKEND_HOST_BATCH_H

#include "backend/host/host.h"
#include "base/parallel.h"
#include "math/width.h"
#include "problem/cut.h"

/* ---- contacts of balls ------------------------------------------------------------------- */

/* Contacts between balls (and walls) in batches, for SIMD.
 *
 * In a problem of balls every contact acts on a block at the same distance from its centre, along
 * the normal, and the moments of inertia of a block are equal. Such a contact is described by its
 * normal, its shift b + mu s, its friction coefficient and its two bodies. The CAIRN_BATCH contacts
 * of a batch share no body, so that they can be solved at the same time with the same result as one
 * after the other. */

enum {
    CAIRN_BATCH = 16,       /* floats of the widest register; the same for all widths, so that
                               batches and therefore the bits do not depend on the machine */
    CAIRN_WALL_RECORDS = 8, /* of a slab: even the smallest records then fill cache lines that no
                               other slab writes to */
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

/* What the errors of the contacts of a batch are related to: S, C and w of residual.c. */
typedef struct cairn_share_f32 {
    float scale[CAIRN_BATCH], most[CAIRN_BATCH], w[CAIRN_BATCH];
} cairn_share_f32;

typedef struct cairn_share_f64 {
    double scale[CAIRN_BATCH], most[CAIRN_BATCH], w[CAIRN_BATCH];
} cairn_share_f64;

/* The errors of a group: sum e_j^2, and the largest share. */
typedef struct cairn_batch_errors {
    double e2, share2;
} cairn_batch_errors;

/* One pass over batches. With friction, impulses are vectors in the world frame and the record of a
 * body has 8 numbers. Without friction `mu` is NULL, an impulse is one number along the normal and
 * a record has 4 numbers (batch_sweep.c). `share`, one for each batch, is NULL
 * if the problem has no scales; only `measure` reads it. */
typedef struct cairn_pass_f32 {
    const cairn_batch_f32 *batches;
    const float *mu;
    int convex;
    cairn_momentum momentum;
    float *v, *r, *previous;
    const cairn_share_f32 *share;
} cairn_pass_f32;

typedef struct cairn_pass_f64 {
    const cairn_batch_f64 *batches;
    const double *mu;
    int convex;
    cairn_momentum momentum;
    double *v, *r, *previous;
    const cairn_share_f64 *share;
} cairn_pass_f64;

/* A problem cut into batches. Blocks are cut into slabs, which threads take as a whole. The
 * contacts within a slab are one group of batches, the contacts between two slabs another. Pairs of
 * slabs with few contacts share the last group, which runs alone after all others. */
typedef struct cairn_batches {
    const cairn_problem *p;
    int slabs;
    int *first;          /* block of each slab, and the end                                    */
    cairn_pieces pieces; /* all groups but the last; group k < slabs is slab k or, if the
                            problem is cut, its rim, and group slabs + k its core (batch.c)    */
    int rounds;          /* of groups between two slabs; those of a round share no slab        */
    int *round;          /* first group of each round, and the end                             */
    struct cairn_plan *plan; /* what members exchange (together.c); NULL: there is one member  */
    int *start;       /* first batch of each group, and the end                             */
    int count;        /* batches                                                            */
    int32_t *contact; /* of each lane; -1: padding                                             */
    int32_t *bodies;  /* a and b of each lane                                                  */
    const double *radius;    /* m: R of each block; 0: no contacts, or a point                    */
    const cairn_quat *frame; /* of each block: from its axes to the world's; NULL: the same       */
    bool general; /* of any bodies, not only of balls                                     */
    bool smooth;  /* no contact has friction                                               */
    bool usable;  /* the problem is of this kind, and its batches are well filled         */
} cairn_batches;

/* Number of records after those of the blocks, for walls and padding. */
static inline size_t cairn_batches_extra(const cairn_batches *s)
{
    return (size_t)(CAIRN_WALL_RECORDS * s->slabs);
}

/* The batches of a problem, made in the arena. If it is not a problem of balls, they are marked as
 * not usable; this is not a failure. */
cairn_status cairn_batches_create(const cairn_problem *p, cairn_arena *arena, cairn_batches *out);

/* The batches of a problem of any bodies, in 3D or 2D; rows with bounds are left out. Not usable if
 * it has too few contacts, or contacts of other kinds. */
cairn_status cairn_batches_create_general(const cairn_problem *p, cairn_arena *arena,
                                          cairn_batches *out);

/* together.c: choose the messages of a pass, once for the batches of a member. */
cairn_status cairn_batches_plan(cairn_batches *s, cairn_arena *arena);

/* Call `work(k, k + 1, context)` for each group k. If another member has one of the two parts of a
 * group, the two members first exchange the records of the blocks on their border; NULL: nothing
 * is exchanged. */
void cairn_batches_pass_together(const cairn_batches *s, cairn_range_fn *work, void *context,
                                 const cairn_records *records);
static inline void cairn_batches_pass(const cairn_batches *s, cairn_range_fn *work, void *context,
                                      const cairn_records *records)
{
    if (s->plan) {
        cairn_batches_pass_together(s, work, context, records);
        return;
    }
    cairn_parallel_pieces(&s->pieces, work, context);
    work(s->pieces.count, s->pieces.count + 1, context);
}
/* The sum over all groups, in an order that depends on the batches alone, or on the parts if the
 * problem is cut into parts. */
cairn_sweep cairn_batches_sum(const cairn_batches *s, const cairn_sweep *partial);
/* The same of errors: the sum, and the largest share. */
cairn_measured cairn_batches_worst(const cairn_batches *s, const cairn_batch_errors *partial);

/* Set s->general, usable or not; done once for a problem. */
cairn_status cairn_system_cut(cairn_system *s, cairn_arena *arena);

/* *out = whether all contacts of a problem are between balls and no velocity is imposed on them;
 * sets radii and frames. `known`: all contacts are of the kind "balls", otherwise all have stored
 * rows. Memory is the arena's. */
cairn_status cairn_batches_find_balls(cairn_batches *s, bool known, cairn_arena *arena, bool *out);

/* The passes over batches [begin, end) of one width, see batch_sweep.c; all widths give the same
 * bits.
 *   sweep    an even number of batches, of which neighbours share no body; batch `end` is begun as
 *            well, and must be empty
 *   measure  adds the errors to *out; impulses and velocities stay
 *   add_up   v += M^-1 H' r */
typedef struct cairn_batch_kernels_f32 {
    void (*sweep)(const cairn_pass_f32 *job, int begin, int end, cairn_sweep *out);
    void (*measure)(const cairn_pass_f32 *job, int begin, int end, cairn_batch_errors *out);
    void (*add_up)(const cairn_pass_f32 *job, int begin, int end);
} cairn_batch_kernels_f32;

typedef struct cairn_batch_kernels_f64 {
    void (*sweep)(const cairn_pass_f64 *job, int begin, int end, cairn_sweep *out);
    void (*measure)(const cairn_pass_f64 *job, int begin, int end, cairn_batch_errors *out);
    void (*add_up)(const cairn_pass_f64 *job, int begin, int end);
} cairn_batch_kernels_f64;

const cairn_batch_kernels_f32 *cairn_batch_kernels_f32_of(cairn_width width);
const cairn_batch_kernels_f64 *cairn_batch_kernels_f64_of(cairn_width width);

/* ---- contacts of any bodies in 3D -------------------------------------------------------- */

/* Contacts of any bodies in 3D in batches, for SIMD: rows with lever arms and full 3 x 3 blocks
 * W_jj. Rows with bounds (joints) are swept one by one after the batches. */

enum { CAIRN_GENERAL_NUMBERS = 37 };

/* The rows of contact i of a batch are (line, turn_a) on body a and (-line, turn_b) on b. */
typedef struct cairn_general_f32 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    union {
        struct {
            float line[9][CAIRN_BATCH], turn_a[9][CAIRN_BATCH], turn_b[9][CAIRN_BATCH];
            float W[6][CAIRN_BATCH];     /* lower triangle, see problem/cone.h  */
            float shift[3][CAIRN_BATCH]; /* w + (b + mu s) n                    */
            float mu[CAIRN_BATCH];
        };
        float number[CAIRN_GENERAL_NUMBERS][CAIRN_BATCH]; /* all of them */
    };
} cairn_general_f32;

typedef struct cairn_general_f64 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    union {
        struct {
            double line[9][CAIRN_BATCH], turn_a[9][CAIRN_BATCH], turn_b[9][CAIRN_BATCH];
            double W[6][CAIRN_BATCH];
            double shift[3][CAIRN_BATCH];
            double mu[CAIRN_BATCH];
        };
        double number[CAIRN_GENERAL_NUMBERS][CAIRN_BATCH];
    };
} cairn_general_f64;

/* One pass over batches. Records of bodies are (v, w, 1/m, 0); `inertia` has (1/J1, 1/J2, 1/J3, 0)
 * of each; impulses are in the contact frame. */
typedef struct cairn_general_pass_f32 {
    const cairn_general_f32 *batches;
    const float *inertia;
    cairn_law law;
    cairn_momentum momentum;
    float *v, *r, *previous;
} cairn_general_pass_f32;

typedef struct cairn_general_pass_f64 {
    const cairn_general_f64 *batches;
    const double *inertia;
    cairn_law law;
    cairn_momentum momentum;
    double *v, *r, *previous;
} cairn_general_pass_f64;

/* The passes over batches [begin, end) for one width: a sweep, and v += M^-1 H' r. All widths give
 * the same bits. */
typedef struct cairn_general_kernels_f32 {
    void (*sweep)(const cairn_general_pass_f32 *job, int begin, int end, cairn_sweep *out);
    void (*add_up)(const cairn_general_pass_f32 *job, int begin, int end);
} cairn_general_kernels_f32;

typedef struct cairn_general_kernels_f64 {
    void (*sweep)(const cairn_general_pass_f64 *job, int begin, int end, cairn_sweep *out);
    void (*add_up)(const cairn_general_pass_f64 *job, int begin, int end);
} cairn_general_kernels_f64;

const cairn_general_kernels_f32 *cairn_general_kernels_f32_of(cairn_width width);
const cairn_general_kernels_f64 *cairn_general_kernels_f64_of(cairn_width width);

/* ---- contacts of any bodies in 2D -------------------------------------------------------- */

/* Contacts of any bodies in 2D in batches, for SIMD: disks and polygons alike. Rows with bounds
 * (joints) are swept one by one after the batches. */

enum { CAIRN_PLANE_NUMBERS = 18 };

/* The rows of contact i of a batch are (line, turn_a) on body a and (-line, turn_b) on b; `push` is
 * turn/J, J the moment of inertia. */
typedef struct cairn_plane_f32 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    union {
        struct {
            float line[4][CAIRN_BATCH];
            float turn_a[2][CAIRN_BATCH], turn_b[2][CAIRN_BATCH];
            float push_a[2][CAIRN_BATCH], push_b[2][CAIRN_BATCH];
            float W[3][CAIRN_BATCH];     /* lower triangle, see problem/cone.h  */
            float shift[2][CAIRN_BATCH]; /* w + (b + mu s) n                    */
            float mu[CAIRN_BATCH];
        };
        float number[CAIRN_PLANE_NUMBERS][CAIRN_BATCH]; /* all of them */
    };
} cairn_plane_f32;

typedef struct cairn_plane_f64 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    union {
        struct {
            double line[4][CAIRN_BATCH];
            double turn_a[2][CAIRN_BATCH], turn_b[2][CAIRN_BATCH];
            double push_a[2][CAIRN_BATCH], push_b[2][CAIRN_BATCH];
            double W[3][CAIRN_BATCH];
            double shift[2][CAIRN_BATCH];
            double mu[CAIRN_BATCH];
        };
        double number[CAIRN_PLANE_NUMBERS][CAIRN_BATCH];
    };
} cairn_plane_f64;

/* One pass over batches. Records of bodies are (v, w, 1/m); impulses are in the contact frame. */
typedef struct cairn_plane_pass_f32 {
    const cairn_plane_f32 *batches;
    bool smooth; /* no contact has friction: impulses are normal */
    cairn_law law;
    cairn_momentum momentum;
    float *v, *r, *previous;
} cairn_plane_pass_f32;

typedef struct cairn_plane_pass_f64 {
    const cairn_plane_f64 *batches;
    bool smooth;
    cairn_law law;
    cairn_momentum momentum;
    double *v, *r, *previous;
} cairn_plane_pass_f64;

/* The passes over batches [begin, end) for one width: a sweep, and v += M^-1 H' r. All widths give
 * the same bits. */
typedef struct cairn_plane_kernels_f32 {
    void (*sweep)(const cairn_plane_pass_f32 *job, int begin, int end, cairn_sweep *out);
    void (*add_up)(const cairn_plane_pass_f32 *job, int begin, int end);
} cairn_plane_kernels_f32;

typedef struct cairn_plane_kernels_f64 {
    void (*sweep)(const cairn_plane_pass_f64 *job, int begin, int end, cairn_sweep *out);
    void (*add_up)(const cairn_plane_pass_f64 *job, int begin, int end);
} cairn_plane_kernels_f64;

const cairn_plane_kernels_f32 *cairn_plane_kernels_f32_of(cairn_width width);
const cairn_plane_kernels_f64 *cairn_plane_kernels_f64_of(cairn_width width);

/* ---- rows with bounds -------------------------------------------------------------------- */

/* Rows with bounds (joints, limits, motors) beside batches of contacts: they are swept one by one
 * in their order after the batches, always in double. */

typedef struct cairn_special_rows {
    const cairn_problem *p;
    int count;
    int32_t *contact;     /* index in the problem                            */
    double *H;            /* dimension x block size of each side             */
    double *W;            /* lower triangle of each, see problem/cone.h      */
    double *r, *previous; /* `dimension` each                                */
    cairn_sweep noted;    /* sums of the current sweep                       */
} cairn_special_rows;

/* The rows with bounds of a problem of blocks of at most 6; memory is the arena's. */
cairn_status cairn_special_create(const cairn_problem *p, cairn_arena *arena,
                                  cairn_special_rows *out);

void cairn_special_load(cairn_special_rows *s, const double *r);
void cairn_special_unload(const cairn_special_rows *s, double *r);
/* Restart momentum. */
void cairn_special_forget(cairn_special_rows *s);

/* Solve block k exactly, given the velocities v of both sides. With y = r + beta (r - r_previous),
 * the extrapolated impulse, `change` becomes r+ - y. */
void cairn_special_solve(cairn_special_rows *s, int k, cairn_momentum momentum, double v[2][6],
                         double *change);

/* H' p of block k on one side. */
void cairn_special_force(const cairn_special_rows *s, int k, int side, const double *p,
                         double *out);

#endif
