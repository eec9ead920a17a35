/* common.h - small utilities for many sources: code for devices, length of an array, clock, random
 * numbers, prefetching, failures and text. */
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

/* ---- failures ------------------------------------------------------------------------------- */

/* Return the status of `call` from the enclosing function if it is a failure. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        cairn_status try_status_ = (call);                                                         \
        if (try_status_ != CAIRN_OK)                                                               \
            return try_status_;                                                                    \
    } while (0)

/* Fill `error` (may be NULL) with a formatted message and a key (NULL: keep the present one), and
 * return `status`, so that a caller can write `return cairn_fail(...)`. */
cairn_status cairn_fail(cairn_error *error, cairn_status status, const char *key,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- text written by people, byte by byte, independent of the locale ------------------------ */

static inline bool cairn_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A separator of words within a line. */
static inline bool cairn_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

static inline bool cairn_is_space(char c)
{
    return c == '\n' || cairn_is_blank(c);
}

static inline bool cairn_is_control(char c)
{
    return (unsigned char)c < 32 || c == 127;
}

/* Whether the text equals one of the words, a list that ends with NULL. */
bool cairn_text_is_one_of(const char *text, const char *const *words);

/* The whole text as a number by the core schema of YAML 1.2: a decimal number, .inf, -.inf, .nan.
 * False: it is something else; *out then is undefined. */
bool cairn_text_real(const char *text, double *out);

/* Length of the byte order mark of UTF-8 (EF BB BF) that some editors put at the start of a file:
 * 3, or 0 if there is none. */
size_t cairn_text_mark(const void *text, size_t length);

#endif
