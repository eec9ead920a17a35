/* batch_general.h - contacts of any bodies in 3D in batches, for wide arithmetic: rows with arms,
 * full 3 x 3 blocks W_jj. Rows with bounds (joints) are swept one by one after the batches. */
#ifndef CAIRN_BACKEND_BATCH_GENERAL_H
#define CAIRN_BACKEND_BATCH_GENERAL_H

#include "backend/host/batch.h"

enum { CAIRN_GENERAL_NUMBERS = 37 };

/* The rows of contact i of a batch are (line, turn_a) on body a and (-line, turn_b) on b. */
typedef struct cairn_general_f32 {
    int32_t a[CAIRN_BATCH], b[CAIRN_BATCH];
    union {
        struct {
            float line[9][CAIRN_BATCH], turn_a[9][CAIRN_BATCH], turn_b[9][CAIRN_BATCH];
            float W[6][CAIRN_BATCH];     /* lower triangle, see problem/local.h */
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

/* The passes over batches [begin, end) of one width: a sweep, and what their impulses do to the
 * bodies, added to v. All widths give the same bits. */
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

#endif
