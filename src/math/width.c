/* width.c - finding out which registers the machine has. The AVX-512 units need all four of the
 * extensions that are tested, since their compiler flags enable them all. */
#include "math/width.h"

#if defined(__x86_64__)
cairn_width cairn_width_best(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return CAIRN_WIDTH_AVX512;
    return __builtin_cpu_supports("avx2") ? CAIRN_WIDTH_AVX2 : CAIRN_WIDTH_BASELINE;
}
#else
cairn_width cairn_width_best(void)
{
    return CAIRN_WIDTH_BASELINE;
}
#endif
