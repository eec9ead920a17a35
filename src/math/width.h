/* width.h - which registers this machine has, for code that is compiled for several. */
#ifndef CAIRN_MATH_WIDTH_H
#define CAIRN_MATH_WIDTH_H

typedef enum cairn_width {
    CAIRN_WIDTH_BASELINE, /* what every machine of the build has */
    CAIRN_WIDTH_AVX2,
    CAIRN_WIDTH_AVX512,
    CAIRN_WIDTH_COUNT
} cairn_width;

/* Functions that may use them. */
#if defined(__x86_64__)
#define CAIRN_AVX2        __attribute__((target("avx2")))
#define CAIRN_AVX512_SETS "avx512f,avx512dq,avx512bw,avx512vl"
#if defined(__clang__)
#define CAIRN_AVX512 __attribute__((target(CAIRN_AVX512_SETS), min_vector_width(512)))
#else
#define CAIRN_AVX512 __attribute__((target(CAIRN_AVX512_SETS ",prefer-vector-width=512")))
#endif
#else
#define CAIRN_AVX2
#define CAIRN_AVX512
#endif

/* The widest that this machine has. */
cairn_width cairn_width_best(void);

#endif
