/* check.c - is this a one-step problem at all? Sizes, indices, signs, finiteness. */
#include <math.h>

#include "base/status.h"
#include "cairn/problem.h"
#include "math/sparse.h"

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
    bool edges = p->directions != 0;
    if (p->dimension != 2 && p->dimension != 3)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dimension", "found %d, expected 2 or 3",
                          p->dimension);
    if (edges && (p->dimension == 2 || p->directions < 4 || p->directions % 2))
        return cairn_fail(error, CAIRN_BAD_INPUT, "directions",
                          "found %d, expected 0, or in 3D an even number >= 4", p->directions);
    if (p->blocks < 0 || p->contacts < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, p->blocks < 0 ? "blocks" : "contacts",
                          "a count is negative");
    if (p->contacts && !p->mu)
        return cairn_fail(error, CAIRN_BAD_INPUT, "mu", "the array is missing");
    return CAIRN_OK;
}

/* ---- local form ----------------------------------------------------------------------------- */

static cairn_status check_local(const cairn_problem *p, cairn_error *error)
{
    int size = p->contacts * p->dimension;
    if (p->W->rows != size || p->W->columns != size)
        return cairn_fail(error, CAIRN_BAD_INPUT, "W", "found %d x %d, expected %d x %d",
                          p->W->rows, p->W->columns, size, size);
    if (p->blocks != 0 || (size && !p->q))
        return cairn_fail(error, CAIRN_BAD_INPUT, p->blocks ? "blocks" : "q",
                          "the local form has q and no blocks");
    TRY(cairn_sparse_check(p->W, "W", error));
    return check_numbers(p->q, (size_t)size, "q", error);
}

/* ---- block form ----------------------------------------------------------------------------- */

static cairn_status check_blocks(const cairn_problem *p, cairn_error *error)
{
    size_t contacts = (size_t)p->contacts, d = (size_t)p->dimension;
    if (p->block_size < 1 || p->block_size > 6)
        return cairn_fail(error, CAIRN_BAD_INPUT, "block_size", "found %d, expected 1 to 6",
                          p->block_size);
    if ((p->blocks && (!p->mass_inverse || !p->v_free)) || (contacts && (!p->block || !p->H)))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "an array is missing");
    size_t velocities = (size_t)p->blocks * (size_t)p->block_size;
    TRY(check_numbers(p->mass_inverse, velocities, "mass_inverse", error));
    TRY(check_numbers(p->v_free, velocities, "v_free", error));
    for (size_t i = 0; i < velocities; i++)
        if (p->mass_inverse[i] < 0)
            return cairn_fail(error, CAIRN_BAD_INPUT, "mass_inverse",
                              "entry %zu is %g, expected >= 0", i, p->mass_inverse[i]);
    TRY(check_numbers(p->H, contacts * 2 * d * (size_t)p->block_size, "H", error));
    for (size_t i = 0; i < 2 * contacts; i++)
        if (p->block[i] < -1 || p->block[i] >= p->blocks)
            return cairn_fail(error, CAIRN_BAD_INPUT, "block",
                              "contact %zu names block %d, expected -1 to %d", i / 2, p->block[i],
                              p->blocks - 1);
    return p->w ? check_numbers(p->w, contacts * d, "w", error) : CAIRN_OK;
}

/* ---- both ----------------------------------------------------------------------------------- */

static cairn_status check_contact(const cairn_problem *p, int j, cairn_error *error)
{
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
    if (p->W)
        TRY(check_local(p, error));
    else
        TRY(check_blocks(p, error));
    size_t contacts = (size_t)p->contacts;
    if (p->b)
        TRY(check_numbers(p->b, contacts, "b", error));
    if (p->s)
        TRY(check_numbers(p->s, contacts, "s", error));
    for (int j = 0; j < p->contacts; j++)
        TRY(check_contact(p, j, error));
    return CAIRN_OK;
}
