/* narrow_alone.c - libccd is not installed. */
#include "narrow.h"

cairn_bench_times cairn_bench_ccd(const cairn_bench_pairs *pairs)
{
    (void)pairs;
    return (cairn_bench_times){ -1, -1 };
}
