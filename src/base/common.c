/* random.c - splitmix64: one 64-bit state, full period, the same numbers on every machine. */
#include "base/random.h"

#include <math.h>

uint64_t cairn_random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double cairn_random_uniform(uint64_t *state)
{
    return (double)(cairn_random_next(state) >> 11) * 0x1p-53;
}

double cairn_random_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * cairn_random_uniform(state);
}

double cairn_random_normal(uint64_t *state)
{
    /* Box and Muller; 1 - u lies in (0, 1], so the logarithm is finite */
    double radius = sqrt(-2 * log(1 - cairn_random_uniform(state)));
    return radius * cos(2 * M_PI * cairn_random_uniform(state));
}
