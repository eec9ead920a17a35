/* check.c - is this a one-step problem at all? Sizes, indices, signs, finiteness. */
#include <math.h>

#include "base/status.h"
#include "cairn/problem.h"

static cairn_status check_numbers(const double *x, size_t count, const char *name,
                                  cairn_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, name, "entry %zu of %s is %g", i, name,
                              x[i]);
    return CAIRN_OK;
}

static cairn_status check_sizes(const cairn_problem *p, cairn_error *error)
{
    if (p->dimension != 2 && p->dimension != 3)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dimension", "found %d, expected 2 or 3",
                          p->dimension);
    if (p->block_size < 1 || p->block_size > 6)
        return cairn_fail(error, CAIRN_BAD_INPUT, "block_size", "found %d, expected 1 to 6",
                          p->block_size);
    if (p->blocks < 0 || p->contacts < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, p->blocks < 0 ? "blocks" : "contacts",
                          "a count is negative");
    if ((p->blocks && (!p->mass_inverse || !p->v_free)) ||
        (p->contacts && (!p->block || !p->H || !p->mu)))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "an array is missing");
    return CAIRN_OK;
}

static cairn_status check_contact(const cairn_problem *p, int j, cairn_error *error)
{
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        if (block < -1 || block >= p->blocks)
            return cairn_fail(error, CAIRN_BAD_INPUT, "block",
                              "contact %d names block %d, expected -1 to %d", j, block,
                              p->blocks - 1);
    }
    if (!(p->mu[j] >= 0) || !isfinite(p->mu[j]))
        return cairn_fail(error, CAIRN_BAD_INPUT, "mu", "contact %d has %g, expected >= 0", j,
                          p->mu[j]);
    if (p->s && !(p->s[j] >= 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "s", "contact %d has %g, expected >= 0", j,
                          p->s[j]);
    return CAIRN_OK;
}

cairn_status cairn_problem_check(const cairn_problem *p, cairn_error *error)
{
    TRY(check_sizes(p, error));
    size_t contacts = (size_t)p->contacts, d = (size_t)p->dimension;
    size_t velocities = (size_t)p->blocks * (size_t)p->block_size;
    TRY(check_numbers(p->mass_inverse, velocities, "mass_inverse", error));
    TRY(check_numbers(p->v_free, velocities, "v_free", error));
    for (size_t i = 0; i < velocities; i++)
        if (p->mass_inverse[i] < 0)
            return cairn_fail(error, CAIRN_BAD_INPUT, "mass_inverse",
                              "entry %zu is %g, expected >= 0", i, p->mass_inverse[i]);
    TRY(check_numbers(p->H, contacts * 2 * d * (size_t)p->block_size, "H", error));
    if (p->w)
        TRY(check_numbers(p->w, contacts * d, "w", error));
    if (p->b)
        TRY(check_numbers(p->b, contacts, "b", error));
    if (p->s)
        TRY(check_numbers(p->s, contacts, "s", error));
    for (int j = 0; j < p->contacts; j++)
        TRY(check_contact(p, j, error));
    return CAIRN_OK;
}
