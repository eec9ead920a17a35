/* common.c - the clock and the random numbers of common.h, and the errors of status.h. */
#include "base/common.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "base/status.h"

/* ---- the clock --------------------------------------------------------------------------- */

double cairn_clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- random numbers ---------------------------------------------------------------------- */

/* Splitmix64: one 64-bit state, full period, the same numbers on every machine. */

uint64_t cairn_random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double cairn_random_uniform(uint64_t *state)
{
    /* the upper 53 bits, as many as a double holds: the result is below 1 */
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

/* ---- statuses and errors --------------------------------------------------------------------- */

const char *cairn_status_text(cairn_status status)
{
    static const char *const texts[] = {
        [CAIRN_OK] = "ok",
        [CAIRN_NO_MEMORY] = "out of memory",
        [CAIRN_BAD_INPUT] = "bad input",
        [CAIRN_NOT_FINITE] = "a number is not finite",
        [CAIRN_NOT_FOUND] = "not found",
        [CAIRN_IO_FAILED] = "reading or writing failed",
        [CAIRN_UNSUPPORTED] = "not supported",
        [CAIRN_STOPPED] = "stopped",
    };
    size_t count = sizeof texts / sizeof texts[0];
    return (size_t)status < count ? texts[status] : "unknown status";
}

const char *cairn_version(void)
{
    return CAIRN_VERSION;
}

cairn_status cairn_fail(cairn_error *error, cairn_status status, const char *key,
                        const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (key)
        snprintf(error->key, sizeof error->key, "%s", key);
    return status;
}
