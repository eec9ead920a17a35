/* system.c - a problem's copy of the scalar back end, and products with its rows. */
#include <stddef.h>

#include "backend/scalar/scalar.h"
#include "problem/cone.h"
#include "problem/segments.h"

double *cairn_scalar_take(const cairn_scalar_system *s, size_t count)
{
    double *x = s->room.take(s->room.from, count + 1, sizeof *x);
    for (size_t i = 0; x && i < count; i++)
        x[i] = 0;
    return x;
}

bool cairn_scalar_is_bounded(const cairn_scalar_system *s, int j)
{
    return s->kind[j] == CAIRN_KIND_ROWS;
}

double cairn_scalar_bias(const cairn_scalar_system *s, int j)
{
    return s->p->b && !cairn_scalar_is_bounded(s, j) ? s->p->b[j] : 0;
}

static const double *rows_of(const cairn_scalar_system *s, int j, int side)
{
    return s->H + (ptrdiff_t)(2 * j + side) * s->d * s->n;
}

/* ---- products ------------------------------------------------------------------------------- */

void cairn_scalar_push(const cairn_scalar_system *s, int j, const double *r_j, double *v)
{
    for (int side = 0; side < 2; side++) {
        ptrdiff_t block = s->p->block[2 * j + side];
        const double *H = rows_of(s, j, side);
        if (block < 0)
            continue;
        for (int i = 0; i < s->d; i++)
            for (int k = 0; k < s->n; k++)
                v[block * s->n + k] +=
                    s->p->mass_inverse[block * s->n + k] * H[i * s->n + k] * r_j[i];
    }
}

void cairn_scalar_velocity(const cairn_scalar_system *s, const double *r, double *v)
{
    if (s->p->W)
        return; /* the local form has none */
    for (int i = 0; i < s->blocks * s->n; i++)
        v[i] = s->p->v_free[i];
    for (int j = 0; j < s->contacts; j++)
        cairn_scalar_push(s, j, r + (ptrdiff_t)j * s->d, v);
}

/* u += H_j v */
static void add_rows(const cairn_scalar_system *s, int j, const double *v, double *u)
{
    for (int side = 0; side < 2; side++) {
        ptrdiff_t block = s->p->block[2 * j + side];
        const double *H = rows_of(s, j, side);
        for (int i = 0; block >= 0 && i < s->d; i++)
            for (int k = 0; k < s->n; k++)
                u[i] += H[i * s->n + k] * v[block * s->n + k];
    }
}

void cairn_scalar_relative(const cairn_scalar_system *s, int j, const double *r, const double *v,
                           double *u)
{
    const cairn_problem *p = s->p;
    for (int i = 0; i < s->d; i++) {
        ptrdiff_t row = (ptrdiff_t)j * s->d + i;
        u[i] = p->W ? p->q[row] : p->w ? p->w[row] : 0;
        for (int64_t k = p->W ? p->W->start[row] : 0; p->W && k < p->W->start[row + 1]; k++)
            u[i] += p->W->value[k] * r[p->W->column[k]];
    }
    if (!p->W)
        add_rows(s, j, v, u);
}

void cairn_scalar_comply(const cairn_scalar_system *s, int j, const double *r_j, double *y_j)
{
    for (int i = 0; s->p->compliance && cairn_scalar_is_bounded(s, j) && i < s->d; i++)
        y_j[i] += s->p->compliance[(ptrdiff_t)j * s->d + i] * r_j[i];
}

void cairn_scalar_project(const cairn_problem *p, int j, double *r_j)
{
    cairn_contact_kind kind = cairn_problem_kind(p, j);
    if (kind == CAIRN_KIND_ROWS)
        cairn_rows_project(p, j, r_j);
    else if (kind == CAIRN_KIND_ROLLING)
        cairn_cone_project_parts(p, j, r_j);
    else if (p->directions)
        cairn_cone_project_polygon(p->directions, p->mu[j], r_j);
    else
        cairn_cone_project(p->dimension, p->mu[j], r_j);
}

void cairn_scalar_scales(const cairn_scalar_system *s, int j, double *w)
{
    const double *W = s->W + (ptrdiff_t)j * s->d * s->d;
    double mean = 0;
    for (int i = 0; i < s->d; i++)
        mean += W[i * s->d + i] / s->d;
    for (int i = 0; i < s->d; i++) {
        double own = W[i * s->d + i];
        bool by_itself = cairn_scalar_is_bounded(s, j) && own > 1e-12 * mean;
        w[i] = by_itself ? own : mean > 0 ? mean : 1;
    }
}

/* ---- the copy ------------------------------------------------------------------------------- */

/* What an impulse e_i at contact j does to its own velocity: with v the change of the velocities of
 * its blocks, one after the other, column i of H_j M^-1 H_j'. */
static void respond(const cairn_scalar_system *s, int j, int i, double *column)
{
    const int32_t *block = s->p->block + 2 * (ptrdiff_t)j;
    for (int from = 0; from < 2; from++)
        for (int to = 0; to < 2; to++) {
            if (block[from] < 0 || block[from] != block[to])
                continue; /* sides share a velocity where they are of one block */
            const double *F = rows_of(s, j, from), *T = rows_of(s, j, to);
            const double *inverse = s->p->mass_inverse + (ptrdiff_t)block[from] * s->n;
            for (int l = 0; l < s->d; l++)
                for (int k = 0; k < s->n; k++)
                    column[l] += T[l * s->n + k] * inverse[k] * F[i * s->n + k];
        }
}

/* W[row][column] of the matrix of the local form. */
static double entry(const cairn_matrix *W, int64_t row, int64_t column)
{
    for (int64_t k = W->start[row]; k < W->start[row + 1]; k++)
        if (W->column[k] == column)
            return W->value[k];
    return 0;
}

/* W_jj, symmetric; a matrix of the local form may be so up to rounding only. */
static void fill_own(const cairn_scalar_system *s, int j)
{
    int d = s->d;
    ptrdiff_t first = (ptrdiff_t)j * d;
    double *W = s->W + first * d;
    for (int i = 0; i < d; i++) {
        if (!s->p->W)
            respond(s, j, i, W + (ptrdiff_t)i * d);
        for (int l = 0; s->p->W && l < d; l++)
            W[i * d + l] =
                0.5 * (entry(s->p->W, first + i, first + l) + entry(s->p->W, first + l, first + i));
        if (s->p->compliance && cairn_scalar_is_bounded(s, j))
            W[i * d + i] += s->p->compliance[first + i];
    }
}

static void fill_contact(cairn_scalar_system *s, int j)
{
    const cairn_problem *p = s->p;
    for (int side = 0; side < 2 && !p->W; side++)
        cairn_problem_rows(p, j, side, s->H + (ptrdiff_t)(2 * j + side) * s->d * s->n);
    fill_own(s, j);
    bool slides = p->s && !cairn_scalar_is_bounded(s, j);
    s->shift[j] = cairn_scalar_bias(s, j) + (slides ? p->mu[j] * p->s[j] : 0);
}

static void fill_kinds(cairn_scalar_system *s)
{
    for (cairn_walk w = cairn_walk_over(s->p, 0, s->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; j < w.at; j++)
            s->kind[j] = (uint8_t)w.now.kind;
}

cairn_status cairn_scalar_create(const cairn_problem *p, const cairn_room *room, cairn_system **out)
{
    cairn_scalar_system *s = room->take(room->from, 1, sizeof *s);
    if (!s)
        return CAIRN_NO_MEMORY;
    *s = (cairn_scalar_system){ .p = p, .room = *room, .contacts = p->contacts, .d = p->dimension };
    s->blocks = p->W ? 0 : p->blocks;
    s->n = p->W ? 0 : p->block_size;
    s->H = cairn_scalar_take(s, (size_t)2 * s->contacts * s->d * s->n);
    s->W = cairn_scalar_take(s, (size_t)s->contacts * s->d * s->d);
    s->shift = cairn_scalar_take(s, s->contacts);
    s->kind = room->take(room->from, (size_t)s->contacts + 1, sizeof *s->kind);
    if (!s->H || !s->W || !s->shift || !s->kind)
        return CAIRN_NO_MEMORY;
    fill_kinds(s);
    for (int j = 0; j < s->contacts; j++)
        fill_contact(s, j);
    *out = (cairn_system *)s;
    return CAIRN_OK;
}
