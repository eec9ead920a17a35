/* newton_contacts.c - J dr = -F as equations of the contacts, with W formed in d x d blocks.
 *
 * An open contact has Phi = 0, G = 0, thus dr = -r: it leaves the system, which is as small as the
 * number of closed contacts. */
#include <string.h>

#include "base/status.h"
#include "problem/delassus.h"
#include "problem/operator.h"
#include "solve/newton_system.h"

/* ---- W by blocks ---------------------------------------------------------------------------- */

static void sort(int32_t *x, int64_t count)
{
    for (int64_t i = 1; i < count; i++) /* nearly sorted: insertion */
        for (int64_t k = i; k > 0 && x[k - 1] > x[k]; k--) {
            int32_t larger = x[k - 1];
            x[k - 1] = x[k];
            x[k] = larger;
        }
}

/* Which contacts each contact couples with, itself included, ascending. */
static int64_t list_neighbours(cairn_newton_system *s, int32_t *seen)
{
    const cairn_matrix *W = &s->formed;
    int d = s->p->dimension;
    int64_t at = 0;
    memset(seen, 0xff, (size_t)s->p->contacts * sizeof(int32_t)); /* -1 */
    for (int j = 0; j < s->p->contacts; j++) {
        size_t row = (size_t)j * (size_t)d;
        s->start[j] = at;
        seen[j] = j;
        s->other[at++] = j;
        for (int64_t k = W->start[row]; k < W->start[row + (size_t)d]; k++) {
            int other = W->column[k] / d;
            if (seen[other] != j)
                s->other[at++] = other;
            seen[other] = j;
        }
        sort(s->other + s->start[j], at - s->start[j]);
    }
    s->start[s->p->contacts] = at;
    return at;
}

/* Copy the numbers of W into the blocks; `where` is scratch, one per contact. */
static void fill_blocks(cairn_newton_system *s, int64_t *where)
{
    const cairn_matrix *W = &s->formed;
    int d = s->p->dimension;
    for (int j = 0; j < s->p->contacts; j++) {
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
            where[s->other[k]] = k;
        for (int i = 0; i < d; i++) {
            size_t row = (size_t)j * (size_t)d + (size_t)i;
            for (int64_t k = W->start[row]; k < W->start[row + 1]; k++) {
                int other = W->column[k] / d, l = W->column[k] % d;
                s->W[where[other] * d * d + i * d + l] += W->value[k];
            }
        }
    }
}

static cairn_status create(cairn_newton_system *s, cairn_arena *arena)
{
    TRY(cairn_delassus_localise(s->p, arena, &s->formed, &s->local));
    size_t contacts = (size_t)s->p->contacts, d = (size_t)s->p->dimension;
    size_t most = (contacts ? (size_t)s->formed.start[s->n] : 0) + contacts;
    int32_t *seen = cairn_arena_take(arena, contacts, sizeof(int32_t));
    int64_t *where = cairn_arena_take(arena, contacts, sizeof(int64_t));
    s->start = cairn_arena_take(arena, contacts + 1, sizeof(int64_t));
    s->other = cairn_arena_take(arena, most, sizeof(int32_t));
    if (!seen || !where || !s->start || !s->other)
        return CAIRN_NO_MEMORY;
    size_t numbers = (size_t)list_neighbours(s, seen) * d * d;
    s->W = cairn_arena_doubles(arena, numbers);
    s->matrix = cairn_arena_take(arena, numbers, sizeof(double));
    s->column = cairn_arena_take(arena, numbers, sizeof(int32_t));
    s->row = cairn_arena_take(arena, s->n + 1, sizeof(int64_t));
    s->right = cairn_arena_take(arena, s->n, sizeof(double));
    s->index = cairn_arena_take(arena, contacts, sizeof(int32_t));
    if (!s->W || !s->matrix || !s->column || !s->row || !s->right || !s->index)
        return CAIRN_NO_MEMORY;
    fill_blocks(s, where);
    return CAIRN_OK;
}

CAIRN_INLINE void multiply(cairn_newton_system *s, int d, const double *r)
{
    for (int j = 0; j < s->p->contacts; j++) {
        double *u = s->u + (size_t)j * (size_t)d;
        memcpy(u, s->local.q + (size_t)j * (size_t)d, sizeof(double) * (size_t)d);
        for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) {
            const double *W = s->W + k * d * d, *other = r + (size_t)s->other[k] * (size_t)d;
            for (int i = 0; i < d; i++)
                for (int l = 0; l < d; l++)
                    u[i] += W[i * d + l] * other[l];
        }
    }
}

static void relative(cairn_newton_system *s, const double *r)
{
    if (s->p->dimension == 3)
        multiply(s, 3, r);
    else
        multiply(s, s->p->dimension, r);
}

/* ---- the linear system ---------------------------------------------------------------------- */

/* Block (j, other) of J from the block W of the operator. */
CAIRN_INLINE void jacobian_block(const cairn_newton_system *s, int d, int j, bool own,
                                 const double *W, double *out)
{
    size_t first = (size_t)j * (size_t)d;
    const double *G = s->G + first * (size_t)d, *rho = s->rho + first;
    for (int i = 0; i < d; i++)
        for (int l = 0; l < d; l++) {
            size_t column = first + (size_t)l;
            double added = own ? cairn_newton_pull(s, column) + s->eps[column] : 0;
            double sum = own ? (i == l) - G[i * d + l] : 0;
            for (int k = 0; k < d; k++)
                sum += G[i * d + k] * rho[k] * (W[k * d + l] + (k == l ? added : 0));
            out[i * d + l] = s->w[first + (size_t)i] * sum;
        }
}

/* Store a block at `at`, with `stride` numbers from row to row. */
CAIRN_INLINE void store_block(cairn_newton_system *s, int d, const double *block, int first_column,
                              int64_t at, int64_t stride)
{
    for (int i = 0; i < d; i++)
        for (int l = 0; l < d; l++) {
            s->matrix[at + i * stride + l] = block[i * d + l];
            s->column[at + i * stride + l] = first_column + l;
        }
}

/* Rows of the closed contact j, beginning at entry `at`; open neighbours go to the right side. */
CAIRN_INLINE int64_t add_rows(cairn_newton_system *s, int d, int j, const double *r, int64_t at)
{
    size_t first = (size_t)j * (size_t)d, place = (size_t)s->index[j] * (size_t)d;
    int64_t stride = 0, slot = at;
    for (int64_t k = s->start[j]; k < s->start[j + 1]; k++)
        stride += s->index[s->other[k]] >= 0 ? d : 0;
    for (size_t i = 0; i < (size_t)d; i++) {
        s->row[place + i] = at + (int64_t)i * stride;
        s->right[place + i] = -s->F[first + i];
    }
    for (int64_t k = s->start[j]; k < s->start[j + 1]; k++) {
        double block[CAIRN_MAX_DIMENSION * CAIRN_MAX_DIMENSION];
        int other = s->other[k], to = s->index[other];
        jacobian_block(s, d, j, other == j, s->W + k * d * d, block);
        if (to >= 0) {
            store_block(s, d, block, to * d, slot, stride);
            slot += d;
            continue;
        }
        for (int i = 0; i < d; i++)
            for (int l = 0; l < d; l++)
                s->right[place + (size_t)i] += block[i * d + l] * r[other * d + l];
    }
    return at + stride * d;
}

static cairn_matrix assemble(cairn_newton_system *s, const double *r)
{
    int32_t closed = 0, d = s->p->dimension;
    int64_t at = 0;
    for (int j = 0; j < s->p->contacts; j++)
        s->index[j] = s->closed[j] ? closed++ : -1;
    for (int j = 0; j < s->p->contacts; j++)
        if (s->closed[j])
            at = d == 3 ? add_rows(s, 3, j, r, at) : add_rows(s, d, j, r, at);
    s->row[closed * d] = at;
    return (cairn_matrix){ closed * d, closed * d, s->row, s->column, s->matrix };
}

static cairn_status solve(cairn_newton_system *s, const double *r, bool *regular)
{
    cairn_matrix J = assemble(s, r);
    int d = s->p->dimension;
    TRY(cairn_lu_factor(s->lu, &J, regular));
    if (!*regular)
        return CAIRN_OK;
    TRY(cairn_lu_solve(s->lu, s->right, s->right));
    for (int j = 0; j < s->p->contacts; j++)
        for (int i = 0; i < d; i++)
            s->step[j * d + i] = s->closed[j] ? s->right[s->index[j] * d + i] : -r[j * d + i];
    return CAIRN_OK;
}

const cairn_newton_form cairn_newton_contacts = { create, relative, solve };
