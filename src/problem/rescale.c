/* rescale.c - a problem with rolling or spinning friction in units in which these are speeds.
 *
 * The rows of rolling and spinning are multiplied by the lengths of cone.h, sqrt(W_NN/W_kk), so
 * that W_jj has one scale on its diagonal: methods with one step for all components of a contact do
 * not depend on the size of the bodies then. Rows with bounds stay as they are. */
#include "problem/rescale.h"

#include <string.h>

#include "base/status.h"
#include "problem/operator.h"

/* The length of each component, and the coefficients in these units. */
static void find_lengths(const cairn_problem *p, double *length, double *mu_rolling,
                         double *mu_spinning)
{
    size_t d = (size_t)p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        double W[CAIRN_TRIANGLE], *own = length + (size_t)j * d;
        cairn_scaled_contact scaled;
        for (size_t i = 0; i < d; i++)
            own[i] = 1;
        mu_rolling[j] = mu_spinning[j] = 0;
        if (cairn_is_bounded(p, j))
            continue;
        cairn_contact_delassus(p, j, W);
        cairn_contact_scale(p, j, W, &scaled);
        memcpy(own, scaled.length, d * sizeof(double));
        mu_rolling[j] = p->rolling ? scaled.p.mu_rolling[0] : 0;
        mu_spinning[j] = p->spinning ? scaled.p.mu_spinning[0] : 0;
    }
}

/* x times the lengths, a copy */
static const double *times_lengths(const double *x, size_t size, const double *length,
                                   cairn_arena *arena)
{
    double *out = cairn_arena_take(arena, size, sizeof(double));
    for (size_t i = 0; out && i < size; i++)
        out[i] = length[i] * x[i];
    return out;
}

static cairn_status rescale_blocks(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out)
{
    size_t d = (size_t)p->dimension, n = (size_t)p->block_size, contacts = (size_t)p->contacts;
    double *H = cairn_arena_take(arena, contacts * 2 * d * n, sizeof(double));
    if (!H)
        return CAIRN_NO_MEMORY;
    for (size_t row = 0; row < contacts * 2 * d; row++)
        for (size_t k = 0; k < n; k++)
            H[row * n + k] = out->length[row / (2 * d) * d + row % d] * p->H[row * n + k];
    out->p.H = H;
    if (p->w && !(out->p.w = times_lengths(p->w, contacts * d, out->length, arena)))
        return CAIRN_NO_MEMORY;
    return CAIRN_OK;
}

static cairn_status rescale_local(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out)
{
    int size = p->dimension * p->contacts;
    double *value = cairn_arena_take(arena, (size_t)p->W->start[size], sizeof(double));
    out->p.q = times_lengths(p->q, (size_t)size, out->length, arena);
    if (!value || !out->p.q)
        return CAIRN_NO_MEMORY;
    for (int row = 0; row < size; row++)
        for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++)
            value[k] = out->length[row] * out->length[p->W->column[k]] * p->W->value[k];
    out->W = *p->W;
    out->W.value = value;
    out->p.W = &out->W;
    return CAIRN_OK;
}

cairn_status cairn_problem_rescale(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out)
{
    size_t contacts = (size_t)p->contacts;
    double *mu_rolling = cairn_arena_take(arena, contacts, sizeof(double));
    double *mu_spinning = cairn_arena_take(arena, contacts, sizeof(double));
    out->p = *p;
    out->length = cairn_arena_take(arena, contacts * (size_t)p->dimension, sizeof(double));
    if (!mu_rolling || !mu_spinning || !out->length)
        return CAIRN_NO_MEMORY;
    find_lengths(p, out->length, mu_rolling, mu_spinning);
    out->p.mu_rolling = mu_rolling;
    out->p.mu_spinning = mu_spinning;
    return p->W ? rescale_local(p, arena, out) : rescale_blocks(p, arena, out);
}
