/* simd.h - SIMD arithmetic: the only file that depends on the number of lanes of a register.
 *
 * A unit (a source that is compiled once for each register width, see src/units.cmake) has one
 * register type, `wide`: CAIRN_REGISTER_BYTES bytes of numbers `real` of CAIRN_REAL_BYTES bytes.
 * Every machine has 16 bytes, AVX2 has 32, AVX-512 has 64. The code uses the vector types of the
 * compiler. Each lane performs the same operations in the same order for every width, so that all
 * widths give the same bits (nothing is fused: the build has -ffp-contract=off). Functions with
 * these types are always inlined, since the calling convention of vectors depends on the target.
 *
 * There are load, store, spread (one number to all lanes), root, choose (by a mask), and gather and
 * scatter of records of 4 or 8 numbers. The latter load whole records and transpose them in
 * registers. */
#ifndef CAIRN_MATH_SIMD_H
#define CAIRN_MATH_SIMD_H

#include <stdint.h>
#include <string.h>

#include "math/width.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC diagnostic ignored "-Wpsabi" /* no vector is passed to a function that is not inlined */

#define CAIRN_WIDE  static inline __attribute__((always_inline))
#define CAIRN_LANES (CAIRN_REGISTER_BYTES / CAIRN_REAL_BYTES)

enum { LANES = CAIRN_LANES };

#if CAIRN_REAL_BYTES == 4
typedef int32_t whole; /* the integer of the size of `real`, for masks */
CAIRN_WIDE float real_root(float x)
{
    return __builtin_sqrtf(x);
}
#else
typedef int64_t whole;
CAIRN_WIDE double real_root(double x)
{
    return __builtin_sqrt(x);
}
#endif

typedef real wide __attribute__((vector_size(CAIRN_REGISTER_BYTES)));
typedef whole mask
    __attribute__((vector_size(CAIRN_REGISTER_BYTES))); /* all bits of a lane, or none */
typedef wide loose_wide __attribute__((aligned(sizeof(real)), may_alias)); /* anywhere in memory */

CAIRN_WIDE wide wide_load(const real *from)
{
    return *(const loose_wide *)from;
}

CAIRN_WIDE void wide_store(real *to, wide x)
{
    *(loose_wide *)to = x;
}

/* x - 0, not x + 0: this keeps the sign of x = -0. */
CAIRN_WIDE wide wide_spread(real x)
{
    return x - (wide){ 0 };
}

/* Lane by lane: compilers turn the loop into one instruction. */
CAIRN_WIDE wide wide_root(wide x)
{
    real lanes[LANES];
    memcpy(lanes, &x, sizeof x);
    for (int i = 0; i < LANES; i++)
        lanes[i] = real_root(lanes[i]);
    return wide_load(lanes);
}

/* max(x, 0) by bits: an arithmetic shift spreads the sign bit over the lane, and its complement
 * masks the number. A NaN with a set sign bit becomes 0. */
CAIRN_WIDE wide wide_positive(wide x)
{
    return (wide)((mask)x & ~((mask)x >> (8 * sizeof(real) - 1)));
}

/* By bits, so that NaN and infinities of the other branch have no effect. */
CAIRN_WIDE wide wide_choose(mask where, wide yes, wide no)
{
    return (wide)((where & (mask)yes) | (~where & (mask)no));
}

/* ---- squares -------------------------------------------------------------------------------- */

/* Transposing a square of numbers in registers turns records (one after the other in memory) into
 * components (one register each), and back. The shuffles within four lanes are those that x86
 * executes in one instruction. */

#if CAIRN_LANES == 2

/* Transpose a 2 x 2 square; the same operation reverses it. */
CAIRN_WIDE void wide_square(wide *x)
{
    wide first = __builtin_shufflevector(x[0], x[1], 0, 2);
    x[1] = __builtin_shufflevector(x[0], x[1], 1, 3);
    x[0] = first;
}

#else

/* Within each four lanes of two registers, interleave the numbers of the lower half (wide_low) or
 * of the upper half (wide_high); in double, the even or the odd ones. */
CAIRN_WIDE wide wide_low(wide a, wide b)
{
#if CAIRN_LANES == 4 && CAIRN_REAL_BYTES == 4
    return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#elif CAIRN_LANES == 4
    return __builtin_shufflevector(a, b, 0, 4, 2, 6);
#elif CAIRN_LANES == 8 && CAIRN_REAL_BYTES == 4
    return __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
#elif CAIRN_LANES == 8
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
#else
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
#endif
}

CAIRN_WIDE wide wide_high(wide a, wide b)
{
#if CAIRN_LANES == 4 && CAIRN_REAL_BYTES == 4
    return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#elif CAIRN_LANES == 4
    return __builtin_shufflevector(a, b, 1, 5, 3, 7);
#elif CAIRN_LANES == 8 && CAIRN_REAL_BYTES == 4
    return __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
#elif CAIRN_LANES == 8
    return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
#else
    return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15,
                                   31);
#endif
}

/* Within each four lanes of two registers, the first two numbers of both (wide_first), or the last
 * two (wide_second). */
CAIRN_WIDE wide wide_first(wide a, wide b)
{
#if CAIRN_LANES == 4
    return __builtin_shufflevector(a, b, 0, 1, 4, 5);
#elif CAIRN_LANES == 8
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
#else
    return __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
#endif
}

CAIRN_WIDE wide wide_second(wide a, wide b)
{
#if CAIRN_LANES == 4
    return __builtin_shufflevector(a, b, 2, 3, 6, 7);
#elif CAIRN_LANES == 8
    return __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
#else
    return __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30,
                                   31);
#endif
}

/* Transpose the 4 x 4 squares that four registers hold side by side. In float, t[0] and t[2]
 * hold the numbers of the new rows 0 and 1; in double, those of 0 and 2: hence SECOND_ROW. */
CAIRN_WIDE void wide_square(wide *x)
{
    enum { SECOND_ROW = sizeof(real) == sizeof(float) ? 1 : 2 };
    wide t[4];
    for (int k = 0; k < 4; k += 2) {
        t[k] = wide_low(x[k], x[k + 1]);
        t[k + 1] = wide_high(x[k], x[k + 1]);
    }
    x[0] = wide_first(t[0], t[2]);
    x[SECOND_ROW] = wide_second(t[0], t[2]);
    x[3 - SECOND_ROW] = wide_first(t[1], t[3]);
    x[3] = wide_second(t[1], t[3]);
}

#endif

/* All squares of `size` registers. */
CAIRN_WIDE void wide_squares(wide *x, int size)
{
    for (int k = 0; k < size; k += LANES < 4 ? LANES : 4)
        wide_square(x + k);
}

/* ---- halves --------------------------------------------------------------------------------- */

/* Joining two halves; extracting each of them; and interleaving the quarters of two registers, the
 * even (wide_left) or the odd ones (wide_right). On x86 by intrinsics, because gcc compiles the
 * equivalent shuffles to slower code. */

#if CAIRN_LANES >= 8

typedef real half_wide __attribute__((vector_size(CAIRN_REGISTER_BYTES / 2)));
typedef half_wide loose_half __attribute__((aligned(sizeof(real)), may_alias));

CAIRN_WIDE half_wide half_load(const real *from)
{
    return *(const loose_half *)from;
}

CAIRN_WIDE void half_store(real *to, half_wide x)
{
    *(loose_half *)to = x;
}

#endif

#if CAIRN_LANES == 8

CAIRN_WIDE wide wide_join(half_wide a, half_wide b)
{
#if !defined(__x86_64__)
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#elif CAIRN_REAL_BYTES == 4
    return _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
#else
    return _mm512_insertf64x4(_mm512_castpd256_pd512(a), b, 1);
#endif
}

CAIRN_WIDE half_wide wide_upper(wide x)
{
#if !defined(__x86_64__)
    return __builtin_shufflevector(x, x, 4, 5, 6, 7);
#elif CAIRN_REAL_BYTES == 4
    return _mm256_extractf128_ps(x, 1);
#else
    return _mm512_extractf64x4_pd(x, 1);
#endif
}

CAIRN_WIDE half_wide wide_lower(wide x)
{
    return __builtin_shufflevector(x, x, 0, 1, 2, 3);
}

CAIRN_WIDE wide wide_left(wide a, wide b)
{
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11);
}

CAIRN_WIDE wide wide_right(wide a, wide b)
{
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

#elif CAIRN_LANES == 16

typedef real quarter_wide __attribute__((vector_size(CAIRN_REGISTER_BYTES / 4)));
typedef quarter_wide loose_quarter __attribute__((aligned(sizeof(real)), may_alias));

CAIRN_WIDE quarter_wide quarter_load(const real *from)
{
    return *(const loose_quarter *)from;
}

CAIRN_WIDE void quarter_store(real *to, quarter_wide x)
{
    *(loose_quarter *)to = x;
}

CAIRN_WIDE half_wide half_join(quarter_wide a, quarter_wide b)
{
#if defined(__x86_64__)
    return _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1);
#else
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

CAIRN_WIDE quarter_wide half_upper(half_wide x)
{
#if defined(__x86_64__)
    return _mm256_extractf128_ps(x, 1);
#else
    return __builtin_shufflevector(x, x, 4, 5, 6, 7);
#endif
}

CAIRN_WIDE quarter_wide half_lower(half_wide x)
{
    return __builtin_shufflevector(x, x, 0, 1, 2, 3);
}

CAIRN_WIDE wide wide_join(half_wide a, half_wide b)
{
#if defined(__x86_64__)
    return _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1);
#else
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
}

CAIRN_WIDE half_wide wide_upper(wide x)
{
#if defined(__x86_64__)
    return _mm512_extractf32x8_ps(x, 1);
#else
    return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
}

CAIRN_WIDE half_wide wide_lower(wide x)
{
    return __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
}

CAIRN_WIDE wide wide_left(wide a, wide b)
{
#if defined(__x86_64__)
    return _mm512_mask_shuffle_f32x4(a, 0xf0f0, b, b, 0xa0);
#else
    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27);
#endif
}

CAIRN_WIDE wide wide_right(wide a, wide b)
{
#if defined(__x86_64__)
    return _mm512_mask_shuffle_f32x4(b, 0x0f0f, a, a, 0xf5);
#else
    return __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30,
                                   31);
#endif
}

#endif

/* ---- rows ----------------------------------------------------------------------------------- */

/* Row k of a square before its transposition: pieces of as many records as fit side by side into a
 * register, or of one record. The functions named put store such a row. */

#if CAIRN_LANES <= 4

CAIRN_WIDE wide wide_row(const real *records, const int32_t *index, int size, int k)
{
    return wide_load(records + (size_t)index[k % LANES] * (size_t)size + k / LANES * LANES);
}

CAIRN_WIDE void wide_put_row(real *records, const int32_t *index, int size, int k, wide x)
{
    wide_store(records + (size_t)index[k % LANES] * (size_t)size + k / LANES * LANES, x);
}

#elif CAIRN_LANES == 8

CAIRN_WIDE half_wide half_row(const real *records, const int32_t *index, int size, int k)
{
    return half_load(records + (size_t)index[k % 4] * (size_t)size + k / 4 * 4);
}

CAIRN_WIDE void half_put_row(real *records, const int32_t *index, int size, int k, half_wide x)
{
    half_store(records + (size_t)index[k % 4] * (size_t)size + k / 4 * 4, x);
}

#else

CAIRN_WIDE quarter_wide quarter_row(const real *records, const int32_t *index, int size, int k)
{
    return quarter_load(records + (size_t)index[k % 4] * (size_t)size + k / 4 * 4);
}

CAIRN_WIDE half_wide half_row(const real *records, const int32_t *index, int size, int k)
{
    return half_join(quarter_row(records, index, size, k),
                     quarter_row(records, index + 4, size, k));
}

CAIRN_WIDE void quarter_put_row(real *records, const int32_t *index, int size, int k,
                                quarter_wide x)
{
    quarter_store(records + (size_t)index[k % 4] * (size_t)size + k / 4 * 4, x);
}

CAIRN_WIDE void half_put_row(real *records, const int32_t *index, int size, int k, half_wide x)
{
    if (size == 8) {
        half_store(records + (size_t)index[k] * 8, x);
        return;
    }
    quarter_put_row(records, index, size, k, half_lower(x));
    quarter_put_row(records, index + 4, size, k, half_upper(x));
}

#endif

#if CAIRN_LANES >= 8

CAIRN_WIDE wide wide_row(const real *records, const int32_t *index, int size, int k)
{
    return wide_join(half_row(records, index, size, k),
                     half_row(records, index + LANES / 2, size, k));
}

CAIRN_WIDE void wide_put_row(real *records, const int32_t *index, int size, int k, wide x)
{
    if (size == LANES) {
        wide_store(records + (size_t)index[k] * LANES, x);
        return;
    }
    half_put_row(records, index, size, k, wide_lower(x));
    half_put_row(records, index + LANES / 2, size, k, wide_upper(x));
}

#endif

/* ---- records -------------------------------------------------------------------------------- */

#if CAIRN_LANES == 16

/* 16 records of 8 numbers: whole records are loaded, two to a register, which takes fewer loads
 * than pieces of four; the pieces are put in order after the transposition. */
CAIRN_WIDE void wide_gather_pairs(const real *records, const int32_t *index, wide *x)
{
    for (int k = 0; k < 8; k++) {
        const int32_t *at = index + k % 4 + k / 4 * 8;
        x[k] = wide_join(half_load(records + (size_t)at[0] * 8),
                         half_load(records + (size_t)at[4] * 8));
    }
    wide_squares(x, 8);
    for (int k = 0; k < 4; k++) {
        wide kept = __builtin_shufflevector(x[k], x[k + 4], 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18,
                                            19, 24, 25, 26, 27);
        x[k + 4] = __builtin_shufflevector(x[k], x[k + 4], 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22,
                                           23, 28, 29, 30, 31);
        x[k] = kept;
    }
}

#endif

/* x[k] = component k of the LANES records given by `index`; a record has `size` numbers, 4 or 8. */
CAIRN_WIDE void wide_gather(const real *records, const int32_t *index, int size, wide *x)
{
#if CAIRN_LANES == 16
    if (size == 8) {
        wide_gather_pairs(records, index, x);
        return;
    }
#endif
    for (int k = 0; k < size; k++)
        x[k] = wide_row(records, index, size, k);
    wide_squares(x, size);
}

/* The reverse of wide_gather; x is overwritten. If two lanes name the same record, one of them
 * wins: callers have different bodies in all lanes, except for walls and padding. In registers of 8
 * or more lanes the two pieces of a record of 8 numbers are joined before it is stored. */
CAIRN_WIDE void wide_scatter(real *records, const int32_t *index, int size, wide *x)
{
    wide_squares(x, size);
#if CAIRN_LANES >= 8
    for (int k = 0; k < 4 && size == 8; k++) {
        wide kept = wide_left(x[k], x[k + 4]);
        x[k + 4] = wide_right(x[k], x[k + 4]);
        x[k] = kept;
    }
#endif
    for (int k = 0; k < size; k++)
        wide_put_row(records, index, size, k, x[k]);
}

#endif
