/* simd.h - wide arithmetic: the one place that knows how many numbers go at once.
 *
 * Written with the vector types of the compiler: registers of 16, 32 and 64 bytes, which every
 * machine, AVX2 and AVX-512 have. Each lane does the same operations in the same order whatever the
 * width, so all give the same bits (nothing is fused: the build says -ffp-contract=off). Functions
 * with these types are always inlined: vectors never cross a call.
 *
 * Each type cairn_f32xN or cairn_f64xN comes with: load, store, spread (one number to all lanes),
 * root, choose (by a mask), and gather and scatter of records of 4 or 8 numbers, by transposition
 * in registers. */
#ifndef CAIRN_MATH_SIMD_H
#define CAIRN_MATH_SIMD_H

#include <stdint.h>
#include <string.h>

#include "math/width.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#pragma GCC diagnostic ignored "-Wpsabi" /* no vector crosses a call */

/* TARGET: the instruction set of the register. Without it on every function on the way, gcc makes
 * masks of a kind that the wider sets do not have, and compares lane by lane. */
#define CAIRN_WIDE static inline __attribute__((always_inline)) TARGET

typedef float cairn_f32x4 __attribute__((vector_size(16)));
typedef float cairn_f32x8 __attribute__((vector_size(32)));
typedef float cairn_f32x16 __attribute__((vector_size(64)));
typedef int32_t cairn_i32x4 __attribute__((vector_size(16)));
typedef int32_t cairn_i32x8 __attribute__((vector_size(32)));
typedef int32_t cairn_i32x16 __attribute__((vector_size(64)));
typedef double cairn_f64x2 __attribute__((vector_size(16)));
typedef double cairn_f64x4 __attribute__((vector_size(32)));
typedef double cairn_f64x8 __attribute__((vector_size(64)));
typedef int64_t cairn_i64x2 __attribute__((vector_size(16)));
typedef int64_t cairn_i64x4 __attribute__((vector_size(32)));
typedef int64_t cairn_i64x8 __attribute__((vector_size(64)));

/* An index list for 4 lanes, repeated for all lanes. */
#define CAIRN_ONCE(a, b, c, d)  a, b, c, d
#define CAIRN_TWICE(a, b, c, d) a, b, c, d, a + 4, b + 4, c + 4, d + 4
#define CAIRN_FOUR_TIMES(a, b, c, d)                                                               \
    CAIRN_TWICE(a, b, c, d), CAIRN_TWICE(a + 8, b + 8, c + 8, d + 8)

/* Two halves side by side; the upper half; and quarters of two registers in turn, the even or the
 * odd ones. Of x86 by name: of the shuffles below, which mean the same, gcc makes slower ones. */
#if defined(__x86_64__)
#define CAIRN_JOIN_F32X8(a, b)   _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1)
#define CAIRN_UPPER_F32X8(x)     _mm256_extractf128_ps(x, 1)
#define CAIRN_JOIN_F32X16(a, b)  _mm512_insertf32x8(_mm512_castps256_ps512(a), b, 1)
#define CAIRN_UPPER_F32X16(x)    _mm512_extractf32x8_ps(x, 1)
#define CAIRN_LEFT_F32X16(a, b)  _mm512_mask_shuffle_f32x4(a, 0xf0f0, b, b, 0xa0)
#define CAIRN_RIGHT_F32X16(a, b) _mm512_mask_shuffle_f32x4(b, 0x0f0f, a, a, 0xf5)
#define CAIRN_JOIN_F64X8(a, b)   _mm512_insertf64x4(_mm512_castpd256_pd512(a), b, 1)
#define CAIRN_UPPER_F64X8(x)     _mm512_extractf64x4_pd(x, 1)
#else
#define CAIRN_JOIN_F32X8(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define CAIRN_UPPER_F32X8(x)   __builtin_shufflevector(x, x, 4, 5, 6, 7)
#define CAIRN_JOIN_F32X16(a, b)                                                                    \
    __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define CAIRN_UPPER_F32X16(x) __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15)
#define CAIRN_LEFT_F32X16(a, b)                                                                    \
    __builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27)
#define CAIRN_RIGHT_F32X16(a, b)                                                                   \
    __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31)
#define CAIRN_JOIN_F64X8(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define CAIRN_UPPER_F64X8(x)   __builtin_shufflevector(x, x, 4, 5, 6, 7)
#endif

/* ---- float ---------------------------------------------------------------------------------- */

#define REAL       float
#define ROOT       __builtin_sqrtf
#define SECOND_ROW 1

#define WIDE cairn_f32x4
#define TARGET
#define MASK        cairn_i32x4
#define LANES       4
#define WIDE_(name) cairn_f32x4_##name
#define LOW         CAIRN_ONCE(0, 4, 1, 5)
#define HIGH        CAIRN_ONCE(2, 6, 3, 7)
#define FIRST       CAIRN_ONCE(0, 1, 4, 5)
#define SECOND      CAIRN_ONCE(2, 3, 6, 7)
#include "math/simd_type.h"

#define WIDE        cairn_f32x8
#define TARGET      CAIRN_AVX2
#define MASK        cairn_i32x8
#define LANES       8
#define WIDE_(name) cairn_f32x8_##name
#define HALF_(name) cairn_f32x4_##name
#define LOWER       0, 1, 2, 3
#define JOIN        CAIRN_JOIN_F32X8
#define UPPER       CAIRN_UPPER_F32X8
#define LOW         CAIRN_TWICE(0, 8, 1, 9)
#define HIGH        CAIRN_TWICE(2, 10, 3, 11)
#define FIRST       CAIRN_TWICE(0, 1, 8, 9)
#define SECOND      CAIRN_TWICE(2, 3, 10, 11)
#define LEFT(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define RIGHT(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#include "math/simd_type.h"

#define WIDE        cairn_f32x16
#define TARGET      CAIRN_AVX512
#define MASK        cairn_i32x16
#define LANES       16
#define WIDE_(name) cairn_f32x16_##name
#define HALF_(name) cairn_f32x8_##name
#define LOWER       0, 1, 2, 3, 4, 5, 6, 7
#define JOIN        CAIRN_JOIN_F32X16
#define UPPER       CAIRN_UPPER_F32X16
#define LOW         CAIRN_FOUR_TIMES(0, 16, 1, 17)
#define HIGH        CAIRN_FOUR_TIMES(2, 18, 3, 19)
#define FIRST       CAIRN_FOUR_TIMES(0, 1, 16, 17)
#define SECOND      CAIRN_FOUR_TIMES(2, 3, 18, 19)
#define LEFT        CAIRN_LEFT_F32X16
#define RIGHT       CAIRN_RIGHT_F32X16
#define EVEN        0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27
#define ODD         4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31
#include "math/simd_type.h"

#undef REAL
#undef ROOT
#undef SECOND_ROW

/* ---- double --------------------------------------------------------------------------------- */

#define REAL       double
#define ROOT       __builtin_sqrt
#define SECOND_ROW 2

#define WIDE cairn_f64x2
#define TARGET
#define MASK        cairn_i64x2
#define LANES       2
#define WIDE_(name) cairn_f64x2_##name
#include "math/simd_type.h"

#define WIDE        cairn_f64x4
#define TARGET      CAIRN_AVX2
#define MASK        cairn_i64x4
#define LANES       4
#define WIDE_(name) cairn_f64x4_##name
#define LOW         CAIRN_ONCE(0, 4, 2, 6)
#define HIGH        CAIRN_ONCE(1, 5, 3, 7)
#define FIRST       CAIRN_ONCE(0, 1, 4, 5)
#define SECOND      CAIRN_ONCE(2, 3, 6, 7)
#include "math/simd_type.h"

#define WIDE        cairn_f64x8
#define TARGET      CAIRN_AVX512
#define MASK        cairn_i64x8
#define LANES       8
#define WIDE_(name) cairn_f64x8_##name
#define HALF_(name) cairn_f64x4_##name
#define LOWER       0, 1, 2, 3
#define JOIN        CAIRN_JOIN_F64X8
#define UPPER       CAIRN_UPPER_F64X8
#define LOW         CAIRN_TWICE(0, 8, 2, 10)
#define HIGH        CAIRN_TWICE(1, 9, 3, 11)
#define FIRST       CAIRN_TWICE(0, 1, 8, 9)
#define SECOND      CAIRN_TWICE(2, 3, 10, 11)
#define LEFT(a, b)  __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define RIGHT(a, b) __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15)
#include "math/simd_type.h"

#undef REAL
#undef ROOT
#undef SECOND_ROW

#endif
