/* random.h - reproducible random numbers. */
#ifndef CAIRN_BASE_RANDOM_H
#define CAIRN_BASE_RANDOM_H

#include "cairn/base.h"

/* The next 64 random bits of splitmix64. */
uint64_t cairn_random_next(uint64_t *state);
/* Uniform in [low, high). */
double cairn_random_between(uint64_t *state, double low, double high);
/* Standard normal. */
double cairn_random_normal(uint64_t *state);

#endif
