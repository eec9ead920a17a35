/* narrow_no_bullet.c - Bullet is not installed. */
#include "narrow.h"

cairn_bench_answers cairn_bench_bullet(const cairn_bench_pairs *pairs)
{
    (void)pairs;
    return (cairn_bench_answers){ -1, -1, -1 };
}
