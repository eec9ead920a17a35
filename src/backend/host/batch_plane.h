/* batch_plane.h - contacts of any bodies in 2D in batches, for wide arithmetic: disks and polygons
 * alike. Rows with bounds (joints) are swept one by one after the batches. */
#ifndef CAIRN_BACKEND_BATCH_PLANE_H
#define CAIRN_BACKEND_BATCH_PLANE_H

#include "backend/host/batch.h"

enum { CAIRN_PLANE_NUMBERS = 18 };

/* The rows of contact i of a batch are (line, turn_a) on body a and (-line, turn_b) on b; `push` is
 * the turn over the moment of inertia. */
typedef struct cairn_plane_f32 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    union {
        struct {
            float line[4][CAIRN_BATCH];
            float turn_a[2][CAIRN_BATCH], turn_b[2][CAIRN_BATCH];
            float push_a[2][CAIRN_BATCH], push_b[2][CAIRN_BATCH];
            float W[3][CAIRN_BATCH];     /* lower triangle, see problem/local.h */
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

/* The passes over batches [begin, end) of one width: a sweep, and what their impulses do to the
 * bodies, added to v. All widths give the same bits. */
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

#endif
