/* width.h - number types and register widths of sources that are compiled for several of them
 * (src/units.cmake): the number type of a unit, and the registers that this machine has. */
#ifndef CAIRN_MATH_WIDTH_H
#define CAIRN_MATH_WIDTH_H

/* A unit defines CAIRN_REAL_BYTES; sources that are compiled once have no type `real`. */
#if defined(CAIRN_REAL_BYTES) && CAIRN_REAL_BYTES == 4
typedef float real;
#elif defined(CAIRN_REAL_BYTES) && CAIRN_REAL_BYTES == 8
typedef double real;
#elif defined(CAIRN_REAL_BYTES)
#error "CAIRN_REAL_BYTES is to be 4 or 8: units are compiled as src/units.cmake says"
#endif

typedef enum cairn_width {
    CAIRN_WIDTH_BASELINE, /* what every machine of the target has */
    CAIRN_WIDTH_AVX2,
    CAIRN_WIDTH_AVX512,
    CAIRN_WIDTH_COUNT
} cairn_width;

/* The widest registers that this machine has. */
cairn_width cairn_width_best(void);

#endif
