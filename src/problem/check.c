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

/* 2 or 3 components, and what rolling and spinning add to them. */
static cairn_status check_components(const cairn_problem *p, cairn_error *error)
{
    int sliding = p->dimension - p->rolling - p->spinning;
    if (sliding != 2 && sliding != 3)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dimension", "found %d, expected %d or %d",
                          p->dimension, 2 + p->rolling + p->spinning, 3 + p->rolling + p->spinning);
    if (p->rolling != 0 && p->rolling != sliding - 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, "rolling", "found %d, expected 0 or %d",
                          p->rolling, sliding - 1);
    if (p->spinning != 0 && (p->spinning != 1 || sliding != 3))
        return cairn_fail(error, CAIRN_BAD_INPUT, "spinning", "found %d, expected 0, or 1 in 3D",
                          p->spinning);
    if (p->directions && p->rolling + p->spinning)
        return cairn_fail(error, CAIRN_BAD_INPUT, "directions",
                          "cones with edges have no rolling or spinning friction");
    return CAIRN_OK;
}

static cairn_status check_sizes(const cairn_problem *p, cairn_error *error)
{
    bool edges = p->directions != 0;
    TRY(check_components(p, error));
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

static cairn_status check_coefficient(const double *mu, int j, const char *name, cairn_error *error)
{
    if (mu && (!(mu[j] >= 0) || !isfinite(mu[j])))
        return cairn_fail(error, CAIRN_BAD_INPUT, name, "contact %d has %g, expected >= 0", j,
                          mu[j]);
    return CAIRN_OK;
}

static cairn_status check_contact(const cairn_problem *p, int j, cairn_error *error)
{
    TRY(check_coefficient(p->mu, j, "mu", error));
    if (p->rolling)
        TRY(check_coefficient(p->mu_rolling, j, "mu_rolling", error));
    if (p->spinning)
        TRY(check_coefficient(p->mu_spinning, j, "mu_spinning", error));
    return check_coefficient(p->s, j, "s", error);
}

/* A row has lower <= upper, each finite or infinite towards its own side. */
static cairn_status check_row(const cairn_problem *p, size_t row, cairn_error *error)
{
    double lower = p->lower[row], upper = p->upper[row];
    if (!(lower <= upper) || lower == INFINITY || upper == -INFINITY)
        return cairn_fail(error, CAIRN_BAD_INPUT, "lower",
                          "row %zu has the bounds %g and %g, expected lower <= upper", row, lower,
                          upper);
    double eps = p->compliance ? p->compliance[row] : 0;
    if (!(eps >= 0) || !isfinite(eps))
        return cairn_fail(error, CAIRN_BAD_INPUT, "compliance", "row %zu has %g, expected >= 0",
                          row, eps);
    return CAIRN_OK;
}

static cairn_status check_rows(const cairn_problem *p, int j, cairn_error *error)
{
    size_t d = (size_t)p->dimension;
    if (!p->lower || !p->upper)
        return cairn_fail(error, CAIRN_BAD_INPUT, p->lower ? "upper" : "lower",
                          "contact %d has bounded rows, but the array is missing", j);
    for (size_t i = 0; i < d; i++)
        TRY(check_row(p, (size_t)j * d + i, error));
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
        TRY(p->bounded && p->bounded[j] ? check_rows(p, j, error) : check_contact(p, j, error));
    return CAIRN_OK;
}
