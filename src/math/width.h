/* width.h - which registers this machine has, for code that is compiled for several. */
#ifndef CAIRN_MATH_WIDTH_H
#define CAIRN_MATH_WIDTH_H

typedef enum cairn_width {
    CAIRN_WIDTH_BASELINE, /* what every machine of the build has */
    CAIRN_WIDTH_AVX2,
    CAIRN_WIDTH_AVX512,
    CAIRN_WIDTH_COUNT
} cairn_width;

/* The widest that this machine has. */
cairn_width cairn_width_best(void);

#endif
