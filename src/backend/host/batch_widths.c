/* batch_widths.c - the passes over batches for the registers of a machine: the tables of the units
 * (src/units.cmake), which are compiled once for each width. */
#include "backend/host/batch_general.h"
#include "backend/host/batch_plane.h"

extern const cairn_batch_kernels_f32 cairn_batch_f32_baseline, cairn_batch_f32_avx2,
    cairn_batch_f32_avx512;
extern const cairn_batch_kernels_f64 cairn_batch_f64_baseline, cairn_batch_f64_avx2,
    cairn_batch_f64_avx512;
extern const cairn_general_kernels_f32 cairn_general_f32_baseline, cairn_general_f32_avx2,
    cairn_general_f32_avx512;
extern const cairn_general_kernels_f64 cairn_general_f64_baseline, cairn_general_f64_avx2,
    cairn_general_f64_avx512;
extern const cairn_plane_kernels_f32 cairn_plane_f32_baseline, cairn_plane_f32_avx2,
    cairn_plane_f32_avx512;
extern const cairn_plane_kernels_f64 cairn_plane_f64_baseline, cairn_plane_f64_avx2,
    cairn_plane_f64_avx512;

const cairn_batch_kernels_f32 *cairn_batch_kernels_f32_of(cairn_width width)
{
    static const cairn_batch_kernels_f32 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_batch_f32_baseline, &cairn_batch_f32_avx2, &cairn_batch_f32_avx512
    };
    return tables[width];
}

const cairn_batch_kernels_f64 *cairn_batch_kernels_f64_of(cairn_width width)
{
    static const cairn_batch_kernels_f64 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_batch_f64_baseline, &cairn_batch_f64_avx2, &cairn_batch_f64_avx512
    };
    return tables[width];
}

const cairn_general_kernels_f32 *cairn_general_kernels_f32_of(cairn_width width)
{
    static const cairn_general_kernels_f32 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_general_f32_baseline, &cairn_general_f32_avx2, &cairn_general_f32_avx512
    };
    return tables[width];
}

const cairn_general_kernels_f64 *cairn_general_kernels_f64_of(cairn_width width)
{
    static const cairn_general_kernels_f64 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_general_f64_baseline, &cairn_general_f64_avx2, &cairn_general_f64_avx512
    };
    return tables[width];
}

const cairn_plane_kernels_f32 *cairn_plane_kernels_f32_of(cairn_width width)
{
    static const cairn_plane_kernels_f32 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_plane_f32_baseline, &cairn_plane_f32_avx2, &cairn_plane_f32_avx512
    };
    return tables[width];
}

const cairn_plane_kernels_f64 *cairn_plane_kernels_f64_of(cairn_width width)
{
    static const cairn_plane_kernels_f64 *const tables[CAIRN_WIDTH_COUNT] = {
        &cairn_plane_f64_baseline, &cairn_plane_f64_avx2, &cairn_plane_f64_avx512
    };
    return tables[width];
}
