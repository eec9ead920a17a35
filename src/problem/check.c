/* check.c - validating a one-step problem: sizes, indices, signs, finiteness. Everything behind
 * this check may rely on it. Arrays are passed without their lengths, so that these cannot be
 * checked. */
#include <math.h>

#include "base/common.h"
#include "cairn/problem.h"
#include "math/factor.h"
#include "problem/operator.h"

static const double upright = 1e-9; /* tolerance for unit lengths and right angles of directions */

static cairn_status check_numbers(const double *x, size_t count, const char *name,
                                  cairn_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, name, "entry %zu of %s is %g", i, name,
                              x[i]);
    return CAIRN_OK;
}

/* A contact has 2 or 3 components, plus those of rolling and spinning friction. Rolling has as many
 * as there are tangents; spinning exists in 3D only. */
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

/* Polyhedral cones exist in 3D only (in 2D the circular cone is polyhedral already) and need pairs
 * of opposite directions, hence an even number. */
static cairn_status check_sizes(const cairn_problem *p, cairn_error *error)
{
    bool edges = p->directions != 0;
    TRY(check_components(p, error));
    if (edges && (p->dimension == 2 || p->directions < 4 || p->directions % 2))
        return cairn_fail(error, CAIRN_BAD_INPUT, "directions",
                          "found %d, expected 0, or in 3D an even number >= 4", p->directions);
    if (p->parts < 0 || p->parts > CAIRN_MOST_PARTS)
        return cairn_fail(error, CAIRN_BAD_INPUT, "parts", "found %d, expected 0 to %d", p->parts,
                          CAIRN_MOST_PARTS);
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

/* A contact of balls: its axes, and the blocks that it acts on. The formulas for balls assume one
 * mass and one moment of inertia, and two different bodies. */
static cairn_status check_ball(const cairn_problem *p, int j, cairn_error *error)
{
    const double *n = &p->normal[j].x, *t = &p->tangent[j].x;
    double nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    double tt = t[0] * t[0] + t[1] * t[1] + t[2] * t[2];
    double nt = n[0] * t[0] + n[1] * t[1] + n[2] * t[2];
    if (!(fabs(nn - 1) <= upright && fabs(tt - 1) <= upright && fabs(nt) <= upright))
        return cairn_fail(error, CAIRN_BAD_INPUT, "normal",
                          "contact %d has n.n = %g, t.t = %g, n.t = %g, expected 1, 1, 0", j, nn,
                          tt, nt);
    if (p->block[2 * j] >= 0 && p->block[2 * j] == p->block[2 * j + 1])
        return cairn_fail(error, CAIRN_BAD_INPUT, "block",
                          "contact %d is one of ball %d with itself", j, p->block[2 * j]);
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * j + side];
        const double *m = p->mass_inverse + (size_t)(block < 0 ? 0 : block) * 6;
        if (block < 0)
            continue;
        if (m[0] != m[1] || m[1] != m[2] || m[3] != m[4] || m[4] != m[5])
            return cairn_fail(error, CAIRN_BAD_INPUT, "mass_inverse",
                              "block %d is a ball, expected one mass and one moment of inertia",
                              block);
        if (!(p->radius[block] >= 0) || !isfinite(p->radius[block]))
            return cairn_fail(error, CAIRN_BAD_INPUT, "radius", "ball %d has %g, expected >= 0",
                              block, p->radius[block]);
    }
    return CAIRN_OK;
}

static cairn_status check_balls(const cairn_problem *p, cairn_error *error)
{
    if (!p->normal || !p->tangent || !p->radius)
        return cairn_fail(error, CAIRN_BAD_INPUT, p->normal ? "tangent" : "normal",
                          "contacts of balls need normal, tangent and radius");
    if (p->dimension != 3 || p->rolling + p->spinning || p->block_size != 6)
        return cairn_fail(error, CAIRN_BAD_INPUT, "normal",
                          "contacts of balls have 3 components and blocks of 6");
    for (int j = 0; j < p->contacts; j++) {
        bool ball = !p->rows || p->rows[j] < 0;
        if (p->rows && p->rows[j] < -1)
            return cairn_fail(error, CAIRN_BAD_INPUT, "rows", "contact %d has %d, expected >= -1",
                              j, p->rows[j]);
        TRY(ball ? check_ball(p, j, error) : CAIRN_OK);
    }
    return CAIRN_OK;
}

/* The stored rows H; contacts of balls have none. */
static cairn_status check_stored(const cairn_problem *p, cairn_error *error)
{
    size_t pair = 2 * (size_t)p->dimension * (size_t)p->block_size;
    if (p->normal && !p->rows)
        return CAIRN_OK;
    if (!p->rows)
        return check_numbers(p->H, (size_t)p->contacts * pair, "H", error);
    for (int j = 0; j < p->contacts; j++)
        if (p->rows[j] >= 0)
            TRY(check_numbers(p->H + (size_t)p->rows[j] * pair, pair, "H", error));
    return CAIRN_OK;
}

static cairn_status check_blocks(const cairn_problem *p, cairn_error *error)
{
    size_t contacts = (size_t)p->contacts, d = (size_t)p->dimension;
    if (p->block_size < 1 || p->block_size > 6)
        return cairn_fail(error, CAIRN_BAD_INPUT, "block_size", "found %d, expected 1 to 6",
                          p->block_size);
    bool all_balls = p->normal && !p->rows;
    if ((p->blocks && (!p->mass_inverse || !p->v_free)) ||
        (contacts && (!p->block || (!p->H && !all_balls))))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "an array is missing");
    size_t velocities = (size_t)p->blocks * (size_t)p->block_size;
    TRY(check_numbers(p->mass_inverse, velocities, "mass_inverse", error));
    TRY(check_numbers(p->v_free, velocities, "v_free", error));
    for (size_t i = 0; i < velocities; i++)
        if (p->mass_inverse[i] < 0)
            return cairn_fail(error, CAIRN_BAD_INPUT, "mass_inverse",
                              "entry %zu is %g, expected >= 0", i, p->mass_inverse[i]);
    for (size_t i = 0; i < 2 * contacts; i++)
        if (p->block[i] < -1 || p->block[i] >= p->blocks)
            return cairn_fail(error, CAIRN_BAD_INPUT, "block",
                              "contact %zu names block %d, expected -1 to %d", i / 2, p->block[i],
                              p->blocks - 1);
    TRY(p->normal || p->rows ? check_balls(p, error) : CAIRN_OK);
    TRY(check_stored(p, error));
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

/* A row has lower <= upper. A bound may be infinite towards its own side only, otherwise no impulse
 * would be admissible. */
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

/* Segments that are given must agree with those derived from the arrays. */
static cairn_status check_segments(const cairn_problem *p, cairn_error *error)
{
    cairn_problem bare = *p;
    bare.segments = NULL;
    cairn_walk given = cairn_walk_over(p, 0, p->contacts);
    cairn_walk found = cairn_walk_over(&bare, 0, p->contacts);
    while (cairn_walk_next(&found)) {
        const cairn_segment *s = &given.now, *own = &found.now;
        if (!cairn_walk_next(&given) || s->count != own->count || s->kind != own->kind ||
            s->friction != own->friction)
            return cairn_fail(error, CAIRN_BAD_INPUT, "segments",
                              "contacts from %d on are %d of kind %d, expected %d of kind %d",
                              own->begin, s->count, (int)s->kind, own->count, (int)own->kind);
    }
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
    return p->segments ? check_segments(p, error) : CAIRN_OK;
}
