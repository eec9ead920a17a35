/* batch_special.c - rows with bounds beside batches of contacts. Each block is solved exactly and
 * in double, also if the batches are in float. */
#include "backend/host/batch.h"

#include <string.h>

#include "base/common.h"
#include "problem/cone.h"
#include "problem/operator.h"

static size_t triangle(const cairn_special_rows *s)
{
    return (size_t)s->p->dimension * (size_t)(s->p->dimension + 1) / 2;
}

/* The rows of block k on one side. */
static double *rows_of(const cairn_special_rows *s, int k, int side)
{
    size_t numbers = (size_t)s->p->dimension * (size_t)s->p->block_size;
    return s->H + (2 * (size_t)k + (size_t)side) * numbers;
}

/* The components of block k in an array like r. */
static double *numbers_of(const cairn_special_rows *s, double *x, int k)
{
    return x + (size_t)s->p->dimension * (size_t)k;
}

/* Append block j of the problem. The rows of a side without a block stay 0. */
static void add(cairn_special_rows *s, int j)
{
    int k = s->count++;
    s->contact[k] = j;
    cairn_contact_delassus(s->p, j, s->W + triangle(s) * (size_t)k);
    for (int side = 0; side < 2; side++)
        if (s->p->block[2 * j + side] >= 0)
            cairn_problem_rows(s->p, j, side, rows_of(s, k, side));
}

cairn_status cairn_special_create(const cairn_problem *p, cairn_arena *arena,
                                  cairn_special_rows *out)
{
    size_t count = 0, d = (size_t)p->dimension;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        count += w.now.kind == CAIRN_KIND_ROWS ? (size_t)w.now.count : 0;
    *out = (cairn_special_rows){ .p = p };
    out->contact = cairn_arena_take(arena, count, sizeof *out->contact);
    out->H = cairn_arena_doubles(arena, 2 * d * (size_t)p->block_size * count);
    out->W = cairn_arena_doubles(arena, triangle(out) * count);
    out->r = cairn_arena_doubles(arena, d * count);
    out->previous = cairn_arena_doubles(arena, d * count);
    if (!out->contact || !out->H || !out->W || !out->r || !out->previous)
        return CAIRN_NO_MEMORY;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; w.now.kind == CAIRN_KIND_ROWS && j < w.at; j++)
            add(out, j);
    return CAIRN_OK;
}

void cairn_special_load(cairn_special_rows *s, const double *r)
{
    size_t d = (size_t)s->p->dimension;
    for (int k = 0; k < s->count; k++)
        memcpy(numbers_of(s, s->r, k), r + d * (size_t)s->contact[k], d * sizeof *r);
}

void cairn_special_unload(const cairn_special_rows *s, double *r)
{
    size_t d = (size_t)s->p->dimension;
    for (int k = 0; k < s->count; k++)
        memcpy(r + d * (size_t)s->contact[k], numbers_of(s, s->r, k), d * sizeof *r);
}

void cairn_special_forget(cairn_special_rows *s)
{
    if (s->count > 0)
        memcpy(s->previous, s->r, (size_t)s->p->dimension * (size_t)s->count * sizeof *s->r);
}

/* u = H v + w of block k. */
static void find_relative(const cairn_special_rows *s, int k, double v[2][6], double *u)
{
    int d = s->p->dimension, n = s->p->block_size;
    const double *H = rows_of(s, k, 0);
    for (int i = 0; i < d; i++) {
        u[i] = s->p->w ? s->p->w[(size_t)d * (size_t)s->contact[k] + (size_t)i] : 0;
        for (int c = 0; c < 2 * n; c++)
            u[i] += H[d * n * (c / n) + n * i + c % n] * v[c / n][c % n];
    }
}

/* u -= W y, W a lower triangle */
static void subtract(int d, const double *W, const double *y, double *u)
{
    for (int i = 0; i < d; i++) {
        double sum = 0;
        for (int k = 0; k < d; k++)
            sum += W[k <= i ? i * (i + 1) / 2 + k : k * (k + 1) / 2 + i] * y[k];
        u[i] -= sum;
    }
}

/* trace(W)/d */
static double own_inverse_mass(int d, const double *W)
{
    double sum = 0;
    for (int i = 0; i < d; i++)
        sum += W[i * (i + 3) / 2];
    return sum / d;
}

void cairn_special_solve(cairn_special_rows *s, int k, cairn_momentum momentum, double v[2][6],
                         double *change)
{
    int d = s->p->dimension, j = s->contact[k];
    const double *W = s->W + triangle(s) * (size_t)k;
    double *r = numbers_of(s, s->r, k), *previous = numbers_of(s, s->previous, k);
    double u[3] = { 0 }, y[3], scale = own_inverse_mass(d, W);
    for (int i = 0; i < d; i++) {
        double move = momentum.beta * (r[i] - previous[i]);
        previous[i] = r[i] + momentum.lean * move;
        y[i] = r[i] += move;
    }
    find_relative(s, k, v, u);
    cairn_contact_comply(s->p, j, y, u);
    subtract(d, W, y, u);
    cairn_contact_solve(s->p, j, CAIRN_LAW_CONVEX, W, u, r); /* bounds: any law */
    for (int i = 0; i < d; i++) {
        change[i] = r[i] - y[i];
        s->noted.change2 += scale * scale * change[i] * change[i];
        s->noted.uphill -= change[i] * (r[i] - previous[i]);
    }
}

void cairn_special_force(const cairn_special_rows *s, int k, int side, const double *p, double *out)
{
    int d = s->p->dimension, n = s->p->block_size;
    const double *H = rows_of(s, k, side);
    for (int c = 0; c < n; c++) {
        out[c] = 0;
        for (int i = 0; i < d; i++)
            out[c] += H[n * i + c] * p[i];
    }
}
