/* simd.h - wide arithmetic: the one place that knows how many numbers go at once.
 *
 * Written with the vector types of the compiler, lowered to AVX-512, AVX2, NEON or scalar code as
 * the target allows. A register always holds the same count of numbers, whatever the machine: every
 * lane does the same operations in the same order, so all machines give the same bits (nothing is
 * fused: the build says -ffp-contract=off). Functions with these types are always inlined:
 * vectors never cross a call.
 *
 * Each type comes with: load, store, spread (one number to all lanes), root, choose (by a mask),
 * and the transposition of records, which replaces gather and scatter. */
#ifndef CAIRN_MATH_SIMD_H
#define CAIRN_MATH_SIMD_H

#include <stdint.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wpsabi" /* no vector crosses a call */

#define CAIRN_WIDE static inline __attribute__((always_inline))

typedef float cairn_f32x16 __attribute__((vector_size(64)));
typedef int32_t cairn_i32x16 __attribute__((vector_size(64)));
typedef double cairn_f64x8 __attribute__((vector_size(64)));
typedef int64_t cairn_i64x8 __attribute__((vector_size(64)));

/* ---- float, 16 lanes ------------------------------------------------------------------------ */

CAIRN_WIDE cairn_f32x16 cairn_f32_load(const float *from)
{
    cairn_f32x16 out;
    memcpy(&out, from, sizeof out);
    return out;
}

CAIRN_WIDE void cairn_f32_store(float *to, cairn_f32x16 x)
{
    memcpy(to, &x, sizeof x);
}

CAIRN_WIDE cairn_f32x16 cairn_f32_spread(float x)
{
    return x - (cairn_f32x16){ 0 };
}

CAIRN_WIDE cairn_f32x16 cairn_f32_root(cairn_f32x16 x)
{
    float lanes[16];
    memcpy(lanes, &x, sizeof x);
    for (int i = 0; i < 16; i++)
        lanes[i] = __builtin_sqrtf(lanes[i]);
    return cairn_f32_load(lanes);
}

CAIRN_WIDE cairn_f32x16 cairn_f32_choose(cairn_i32x16 mask, cairn_f32x16 yes, cairn_f32x16 no)
{
    return (cairn_f32x16)((mask & (cairn_i32x16)yes) | (~mask & (cairn_i32x16)no));
}

/* An index list for both halves of 8. */
#define CAIRN_HALVES(a, b, c, d, e, f, g, h)                                                       \
    (cairn_i32x16)                                                                                 \
    {                                                                                              \
        a, b, c, d, e, f, g, h, a + 8, b + 8, c + 8, d + 8, e + 8, f + 8, g + 8, h + 8             \
    }

/* Transposes the two 8 x 8 halves: row k holds records k and k + 8 before, component k of the 16
 * records after; the same again goes back. */
CAIRN_WIDE void cairn_f32_transpose(cairn_f32x16 x[8])
{
    const cairn_i32x16 low = CAIRN_HALVES(0, 16, 1, 17, 4, 20, 5, 21);
    const cairn_i32x16 high = CAIRN_HALVES(2, 18, 3, 19, 6, 22, 7, 23);
    const cairn_i32x16 first = CAIRN_HALVES(0, 1, 16, 17, 4, 5, 20, 21);
    const cairn_i32x16 second = CAIRN_HALVES(2, 3, 18, 19, 6, 7, 22, 23);
    const cairn_i32x16 left = CAIRN_HALVES(0, 1, 2, 3, 16, 17, 18, 19);
    const cairn_i32x16 right = CAIRN_HALVES(4, 5, 6, 7, 20, 21, 22, 23);
    cairn_f32x16 t[8], s[8];
    for (int k = 0; k < 8; k += 2) {
        t[k] = __builtin_shuffle(x[k], x[k + 1], low);
        t[k + 1] = __builtin_shuffle(x[k], x[k + 1], high);
    }
    for (int k = 0; k < 8; k += 4)
        for (int i = 0; i < 2; i++) {
            s[k + 2 * i] = __builtin_shuffle(t[k + i], t[k + i + 2], first);
            s[k + 2 * i + 1] = __builtin_shuffle(t[k + i], t[k + i + 2], second);
        }
    for (int k = 0; k < 4; k++) {
        x[k] = __builtin_shuffle(s[k], s[k + 4], left);
        x[k + 4] = __builtin_shuffle(s[k], s[k + 4], right);
    }
}

/* Component k of 16 records of 8 numbers, the records at `index`. */
CAIRN_WIDE void cairn_f32_gather(const float *records, const int32_t *index, cairn_f32x16 x[8])
{
    for (int k = 0; k < 8; k++) {
        memcpy(&x[k], records + 8 * (size_t)index[k], 8 * sizeof(float));
        memcpy((float *)&x[k] + 8, records + 8 * (size_t)index[k + 8], 8 * sizeof(float));
    }
    cairn_f32_transpose(x);
}

CAIRN_WIDE void cairn_f32_scatter(float *records, const int32_t *index, cairn_f32x16 x[8])
{
    cairn_f32_transpose(x);
    for (int k = 0; k < 8; k++) {
        memcpy(records + 8 * (size_t)index[k], &x[k], 8 * sizeof(float));
        memcpy(records + 8 * (size_t)index[k + 8], (float *)&x[k] + 8, 8 * sizeof(float));
    }
}

/* ---- double, 8 lanes ------------------------------------------------------------------------ */

CAIRN_WIDE cairn_f64x8 cairn_f64_load(const double *from)
{
    cairn_f64x8 out;
    memcpy(&out, from, sizeof out);
    return out;
}

CAIRN_WIDE void cairn_f64_store(double *to, cairn_f64x8 x)
{
    memcpy(to, &x, sizeof x);
}

CAIRN_WIDE cairn_f64x8 cairn_f64_spread(double x)
{
    return x - (cairn_f64x8){ 0 };
}

CAIRN_WIDE cairn_f64x8 cairn_f64_root(cairn_f64x8 x)
{
    double lanes[8];
    memcpy(lanes, &x, sizeof x);
    for (int i = 0; i < 8; i++)
        lanes[i] = __builtin_sqrt(lanes[i]);
    return cairn_f64_load(lanes);
}

CAIRN_WIDE cairn_f64x8 cairn_f64_choose(cairn_i64x8 mask, cairn_f64x8 yes, cairn_f64x8 no)
{
    return (cairn_f64x8)((mask & (cairn_i64x8)yes) | (~mask & (cairn_i64x8)no));
}

/* The 8 x 8 transpose: rows are records before, components after; the same again goes back. */
CAIRN_WIDE void cairn_f64_transpose(cairn_f64x8 x[8])
{
    const cairn_i64x8 low = { 0, 8, 2, 10, 4, 12, 6, 14 }, high = { 1, 9, 3, 11, 5, 13, 7, 15 };
    const cairn_i64x8 first = { 0, 1, 8, 9, 4, 5, 12, 13 }, second = { 2, 3, 10, 11, 6, 7, 14, 15 };
    const cairn_i64x8 left = { 0, 1, 2, 3, 8, 9, 10, 11 }, right = { 4, 5, 6, 7, 12, 13, 14, 15 };
    cairn_f64x8 t[8], s[8];
    for (int k = 0; k < 8; k += 2) {
        t[k] = __builtin_shuffle(x[k], x[k + 1], low);
        t[k + 1] = __builtin_shuffle(x[k], x[k + 1], high);
    }
    for (int k = 0; k < 8; k += 4)
        for (int i = 0; i < 2; i++) {
            s[k + i] = __builtin_shuffle(t[k + i], t[k + i + 2], first);
            s[k + i + 2] = __builtin_shuffle(t[k + i], t[k + i + 2], second);
        }
    for (int k = 0; k < 4; k++) {
        x[k] = __builtin_shuffle(s[k], s[k + 4], left);
        x[k + 4] = __builtin_shuffle(s[k], s[k + 4], right);
    }
}

/* Component k of 8 records of 8 numbers, the records at `index`. */
CAIRN_WIDE void cairn_f64_gather(const double *records, const int32_t *index, cairn_f64x8 x[8])
{
    for (int k = 0; k < 8; k++)
        x[k] = cairn_f64_load(records + 8 * (size_t)index[k]);
    cairn_f64_transpose(x);
}

CAIRN_WIDE void cairn_f64_scatter(double *records, const int32_t *index, cairn_f64x8 x[8])
{
    cairn_f64_transpose(x);
    for (int k = 0; k < 8; k++)
        cairn_f64_store(records + 8 * (size_t)index[k], x[k]);
}

#endif
