/* real.h - the type of number of a unit: a source that is compiled once for float and once for
 * double, see src/units.cmake, which says CAIRN_REAL_BYTES. */
#ifndef CAIRN_MATH_REAL_H
#define CAIRN_MATH_REAL_H

#if CAIRN_REAL_BYTES == 4
typedef float real;
#elif CAIRN_REAL_BYTES == 8
typedef double real;
#else
#error "CAIRN_REAL_BYTES is to be 4 or 8: units are compiled as src/units.cmake says"
#endif

#endif
