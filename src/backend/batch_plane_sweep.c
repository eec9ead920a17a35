/* batch_plane_sweep.c - the pass over batches of contacts in 2D for float and double,
 * compiled for several instruction sets from one text. All give the same bits. */
#include <stdbool.h>
#include <string.h>

#include "backend/batch_plane.h"
#include "math/simd.h"

#define TEXT "backend/batch_plane_sweep.h"

#define REAL  float
#define SMALL 5e-7f
#define BATCH cairn_plane_f32
#define JOB   cairn_plane_pass_f32
#include "backend/batch_widths_f32.h"

#undef REAL
#undef SMALL
#undef BATCH
#undef JOB

#define REAL  double
#define SMALL 1e-15
#define BATCH cairn_plane_f64
#define JOB   cairn_plane_pass_f64
#include "backend/batch_widths_f64.h"

static void f32_baseline(const cairn_plane_pass_f32 *job, int begin, int end, cairn_sweep *out)
{
    f32x4_work(job, begin, end, out);
}

CAIRN_AVX2 static void f32_avx2(const cairn_plane_pass_f32 *job, int begin, int end,
                                cairn_sweep *out)
{
    f32x8_work(job, begin, end, out);
}

CAIRN_AVX512 static void f32_avx512(const cairn_plane_pass_f32 *job, int begin, int end,
                                    cairn_sweep *out)
{
    f32x16_work(job, begin, end, out);
}

static void f64_baseline(const cairn_plane_pass_f64 *job, int begin, int end, cairn_sweep *out)
{
    f64x2_work(job, begin, end, out);
}

CAIRN_AVX2 static void f64_avx2(const cairn_plane_pass_f64 *job, int begin, int end,
                                cairn_sweep *out)
{
    f64x4_work(job, begin, end, out);
}

CAIRN_AVX512 static void f64_avx512(const cairn_plane_pass_f64 *job, int begin, int end,
                                    cairn_sweep *out)
{
    f64x8_work(job, begin, end, out);
}

void cairn_plane_sweep_f32(cairn_width width, const cairn_plane_pass_f32 *job, int begin, int end,
                           cairn_sweep *out)
{
    static void (*const passes[CAIRN_WIDTH_COUNT])(const cairn_plane_pass_f32 *, int, int,
                                                   cairn_sweep *) = { f32_baseline, f32_avx2,
                                                                      f32_avx512 };
    passes[width](job, begin, end, out);
}

void cairn_plane_sweep_f64(cairn_width width, const cairn_plane_pass_f64 *job, int begin, int end,
                           cairn_sweep *out)
{
    static void (*const passes[CAIRN_WIDTH_COUNT])(const cairn_plane_pass_f64 *, int, int,
                                                   cairn_sweep *) = { f64_baseline, f64_avx2,
                                                                      f64_avx512 };
    passes[width](job, begin, end, out);
}
