/* common.h - small utilities for many sources: code for devices, length of an array, clock, random
 * numbers, prefetching. */
#ifndef CAIRN_BASE_COMMON_H
#define CAIRN_BASE_COMMON_H

#include "cairn/base.h"

/* ---- code for devices ---------------------------------------------------------------------- */

/* A function that is compiled for the processor and, where a CUDA compiler reads it, for the device
 * as well (src/backend/cuda includes such sources). Formulas of one contact are written so. */
#ifdef __CUDACC__
#define ANYWHERE __host__ __device__
#else
#define ANYWHERE
#endif

/* ---- arrays ------------------------------------------------------------------------------ */

#define CAIRN_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* ---- the clock --------------------------------------------------------------------------- */

/* Time for reports; no result depends on it. */

/* Seconds since an arbitrary moment, by a clock that never goes back. */
double cairn_clock_seconds(void);

/* ---- random numbers ---------------------------------------------------------------------- */

/* The next 64 random bits of splitmix64. */
uint64_t cairn_random_next(uint64_t *state);
/* Uniform in [low, high). */
double cairn_random_between(uint64_t *state, double low, double high);
/* Standard normal. */
double cairn_random_normal(uint64_t *state);

/* ---- prefetching ------------------------------------------------------------------------- */

/* Loading memory into the cache before it is needed, where a list determines what comes next.
 *
 * Always inline: a function that only prefetches has no effect in the eyes of a compiler, which may
 * remove calls to it. */

#define CAIRN_ASKING static inline __attribute__((always_inline))

/* Prefetch a record that spans one cache line or two. This is only a hint: any address is allowed,
 * also an invalid one. */
CAIRN_ASKING void cairn_prefetch(const void *address, int bytes)
{
    __builtin_prefetch(address);
    __builtin_prefetch((const char *)address + bytes - 1);
}

/* The same for a record that will be written. */
CAIRN_ASKING void cairn_prefetch_write(const void *address, int bytes)
{
    __builtin_prefetch(address, 1);
    __builtin_prefetch((const char *)address + bytes - 1, 1);
}

#endif
