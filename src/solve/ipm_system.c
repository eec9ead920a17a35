/* ipm_system.c - the linear system of an interior point step, see ipm.h. */
#include "solve/systems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "problem/operator.h"

/* ---- pattern -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int64_t key_of(const cairn_blocks *b, int i, int k)
{
    return i < k ? (int64_t)i * b->count + k : (int64_t)k * b->count + i;
}

/* Sort the keys and remove duplicates. */
static int64_t sort_pairs(int64_t *pair, int64_t count)
{
    int64_t kept = 0;
    qsort(pair, (size_t)count, sizeof *pair, ascending);
    for (int64_t i = 0; i < count; i++)
        if (kept == 0 || pair[kept - 1] != pair[i])
            pair[kept++] = pair[i];
    return kept;
}

static int size_of(const cairn_blocks *b, int i)
{
    return b->first[i + 1] - b->first[i];
}

/* Where the columns of each pair begin within a scalar row; entries of all rows together. */
static int64_t place_pairs(cairn_blocks *b, int64_t pairs)
{
    int64_t at = 0, entries = 0;
    for (int i = 0; i < b->count; i++) {
        int64_t width = 0;
        b->start[i] = at;
        for (; at < pairs && b->pair[at] / b->count == i; at++) {
            b->offset[at] = width;
            width += size_of(b, (int)(b->pair[at] % b->count));
        }
        for (int row = b->first[i]; row < b->first[i + 1]; row++) {
            b->scalar[row] = entries;
            entries += width;
        }
    }
    b->start[b->count] = at;
    b->scalar[b->first[b->count]] = entries;
    return entries;
}

static void fill_columns(cairn_blocks *b)
{
    for (int i = 0; i < b->count; i++)
        for (int row = b->first[i]; row < b->first[i + 1]; row++) {
            int64_t at = b->scalar[row];
            for (int64_t k = b->start[i]; k < b->start[i + 1]; k++) {
                int other = (int)(b->pair[k] % b->count);
                for (int column = b->first[other]; column < b->first[other + 1]; column++)
                    b->column[at++] = column;
            }
        }
}

/* The pattern of `pairs` keys in b->pair; sizes are in b->first. */
static cairn_status lay_out(cairn_blocks *b, int64_t pairs, cairn_arena *arena)
{
    pairs = sort_pairs(b->pair, pairs);
    b->start = cairn_arena_take(arena, (size_t)b->count + 1, sizeof(int64_t));
    b->offset = cairn_arena_take(arena, (size_t)pairs, sizeof(int64_t));
    b->scalar = cairn_arena_take(arena, (size_t)b->first[b->count] + 1, sizeof(int64_t));
    if (!b->start || !b->offset || !b->scalar)
        return CAIRN_NO_MEMORY;
    int64_t entries = place_pairs(b, pairs);
    b->column = cairn_arena_take(arena, (size_t)entries, sizeof(int32_t));
    b->value = cairn_arena_take(arena, (size_t)entries, sizeof(double));
    if (!b->column || !b->value)
        return CAIRN_NO_MEMORY;
    fill_columns(b);
    return CAIRN_OK;
}

static int64_t find_pair(const cairn_blocks *b, int i, int k)
{
    int64_t key = key_of(b, i, k), low = b->start[i < k ? i : k];
    int64_t high = b->start[(i < k ? i : k) + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (b->pair[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where entry (row, 0) of a pair stands; `row` counts within the block. */
static double *entry(const cairn_blocks *b, int64_t pair, int row)
{
    int i = (int)(b->pair[pair] / b->count);
    return b->value + b->scalar[b->first[i] + row] + b->offset[pair];
}

/* ---- block form: N = I + G'L L'G ------------------------------------------------------------- */

static cairn_status list_bodies(cairn_normal *normal, cairn_arena *arena)
{
    const cairn_problem *p = &normal->linear;
    cairn_blocks *b = &normal->blocks;
    int64_t pairs = 0;
    b->count = p->blocks;
    b->first = cairn_arena_take(arena, (size_t)p->blocks + 1, sizeof(int32_t));
    b->pair = cairn_arena_take(arena, (size_t)p->blocks + (size_t)p->contacts, sizeof(int64_t));
    normal->where = cairn_arena_take(arena, (size_t)p->contacts, sizeof(int64_t));
    if (!b->first || !b->pair || !normal->where)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i <= p->blocks; i++)
        b->first[i] = i * p->block_size;
    for (int i = 0; i < p->blocks; i++)
        b->pair[pairs++] = key_of(b, i, i);
    for (int j = 0; j < p->contacts; j++)
        if (p->block[2 * j] >= 0 && p->block[2 * j + 1] >= 0)
            b->pair[pairs++] = key_of(b, p->block[2 * j], p->block[2 * j + 1]);
    TRY(lay_out(b, pairs, arena));
    for (int j = 0; j < p->contacts; j++) {
        bool both = p->block[2 * j] >= 0 && p->block[2 * j + 1] >= 0;
        normal->where[j] = both ? find_pair(b, p->block[2 * j], p->block[2 * j + 1]) : -1;
    }
    return CAIRN_OK;
}

/* G_side' L_j: one row for each velocity of the body, one column for each variable. */
static void push_factor(const cairn_normal *normal, int j, int side, const double *L, double *out)
{
    const cairn_problem *p = &normal->linear;
    int d = p->dimension, n = p->block_size, body = p->block[2 * j + side];
    int count = normal->cones->start[j + 1] - normal->cones->start[j];
    double room[18];
    const double *H = cairn_rows(p, j, side, room);
    const double *root = normal->mass_root + (size_t)body * (size_t)n;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < count; k++) {
            double sum = 0;
            for (int l = 0; l < d; l++)
                sum += H[l * n + i] * L[l * count + k];
            out[i * count + k] = root[i] * sum;
        }
}

/* block += X Y' */
static void add_product(const cairn_blocks *b, int64_t pair, int count, const double *X,
                        const double *Y)
{
    int rows = size_of(b, (int)(b->pair[pair] / b->count));
    int columns = size_of(b, (int)(b->pair[pair] % b->count));
    for (int i = 0; i < rows; i++) {
        double *value = entry(b, pair, i);
        for (int l = 0; l < columns; l++)
            for (int k = 0; k < count; k++)
                value[l] += X[i * count + k] * Y[l * count + k];
    }
}

/* Contact j's share of N. */
static void add_contact(cairn_normal *normal, int j)
{
    const cairn_blocks *b = &normal->blocks;
    const int32_t *body = normal->linear.block + 2 * (size_t)j;
    int count = normal->cones->start[j + 1] - normal->cones->start[j];
    double *side[2] = { normal->side[0], normal->side[1] };
    cairn_cones_factor(normal->cones, j, normal->L[0]);
    for (int i = 0; i < 2; i++)
        if (body[i] >= 0) {
            push_factor(normal, j, i, normal->L[0], side[i]);
            add_product(b, b->start[body[i]], count, side[i], side[i]);
        }
    if (normal->where[j] < 0)
        return;
    bool swapped = body[0] > body[1];
    add_product(b, normal->where[j], count, side[swapped], side[!swapped]);
    if (body[0] == body[1])
        add_product(b, normal->where[j], count, side[1], side[0]);
}

/* y = G'L s, in v; then s = h - L'G N^-1 y */
static cairn_status solve_bodies(cairn_normal *normal, const double *h, double *s)
{
    const cairn_problem *p = &normal->linear;
    size_t velocities = (size_t)p->blocks * (size_t)p->block_size;
    cairn_cones_map(normal->cones, CAIRN_CONE_ROOT, h, s);
    cairn_cones_impulse(normal->cones, s, normal->r);
    cairn_problem_velocity(p, normal->r, normal->v); /* M^-1 H' r = M^-1/2 G' r */
    for (size_t i = 0; i < velocities; i++)
        normal->v[i] = normal->mass_root[i] > 0 ? normal->v[i] / normal->mass_root[i] : 0;
    TRY(cairn_cholesky_solve(normal->factor, normal->v, normal->v));
    for (size_t i = 0; i < velocities; i++)
        normal->v[i] *= normal->mass_root[i];
    cairn_problem_relative(p, NULL, normal->v, normal->u);
    cairn_cones_rows(normal->cones, normal->u, s);
    cairn_cones_map(normal->cones, CAIRN_CONE_ROOT, s, s);
    for (size_t k = 0; k < normal->cones->count; k++)
        s[k] = h[k] - s[k];
    return CAIRN_OK;
}

/* ---- local form: S = I + L'W L --------------------------------------------------------------- */

static cairn_status list_contacts(cairn_normal *normal, cairn_arena *arena)
{
    const cairn_problem *p = &normal->linear;
    cairn_blocks *b = &normal->blocks;
    size_t entries = p->contacts ? (size_t)p->W->start[p->W->rows] : 0;
    int64_t pairs = 0;
    b->count = p->contacts;
    b->first = normal->cones->start;
    b->pair = cairn_arena_take(arena, entries + (size_t)p->contacts, sizeof(int64_t));
    if (!b->pair)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < p->contacts; j++)
        b->pair[pairs++] = key_of(b, j, j);
    for (int row = 0; row < p->W->rows; row++)
        for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++)
            b->pair[pairs++] = key_of(b, row / p->dimension, p->W->column[k] / p->dimension);
    return lay_out(b, pairs, arena);
}

/* The blocks of (W + W')/2. */
static cairn_status gather_blocks(cairn_normal *normal, cairn_arena *arena)
{
    const cairn_problem *p = &normal->linear;
    const cairn_blocks *b = &normal->blocks;
    int d = p->dimension;
    normal->W = cairn_arena_doubles(arena, 9 * (size_t)b->start[b->count]);
    if (!normal->W)
        return CAIRN_NO_MEMORY;
    for (int row = 0; row < p->W->rows; row++)
        for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++) {
            int i = row / d, l = p->W->column[k] / d, s = row % d, t = p->W->column[k] % d;
            double *block = normal->W + 9 * find_pair(b, i, l);
            if (i <= l)
                block[s * d + t] += 0.5 * p->W->value[k];
            if (i >= l)
                block[t * d + s] += 0.5 * p->W->value[k];
        }
    return CAIRN_OK;
}

/* block = L_i' W_ik L_k */
static void add_pair(cairn_normal *normal, int64_t pair, int i, int k)
{
    const cairn_blocks *b = &normal->blocks;
    int d = normal->linear.dimension, rows = size_of(b, i), columns = size_of(b, k);
    const double *W = normal->W + 9 * pair, *Li = normal->L[0], *Lk = normal->L[1];
    double *product = normal->side[0]; /* W_ik L_k */
    for (int s = 0; s < d; s++)
        for (int l = 0; l < columns; l++) {
            product[s * columns + l] = 0;
            for (int t = 0; t < d; t++)
                product[s * columns + l] += W[s * d + t] * Lk[t * columns + l];
        }
    for (int a = 0; a < rows; a++) {
        double *value = entry(b, pair, a);
        for (int s = 0; s < d; s++)
            for (int l = 0; l < columns; l++)
                value[l] += Li[s * rows + a] * product[s * columns + l];
    }
}

static void add_contact_row(cairn_normal *normal, int i)
{
    const cairn_blocks *b = &normal->blocks;
    cairn_cones_factor(normal->cones, i, normal->L[0]);
    for (int64_t pair = b->start[i]; pair < b->start[i + 1]; pair++) {
        int k = (int)(b->pair[pair] % b->count);
        cairn_cones_factor(normal->cones, k, normal->L[1]);
        add_pair(normal, pair, i, k);
    }
}

/* ---- both ----------------------------------------------------------------------------------- */

static cairn_status take_scratch(const cairn_system *system, cairn_arena *arena,
                                 cairn_normal *normal)
{
    int wide = system->p->directions > 3 ? system->p->directions : 3;
    struct {
        double **array;
        size_t count;
    } wanted[] = {
        { &normal->r, system->r_count },
        { &normal->u, system->r_count },
        { &normal->v, system->v_count },
        { &normal->mass_root, system->v_count },
        { &normal->zero, system->v_count > system->r_count ? system->v_count : system->r_count },
        { &normal->residual, normal->cones->count },
        { &normal->change, normal->cones->count },
        { &normal->L[0], 3 * (size_t)wide },
        { &normal->L[1], 3 * (size_t)wide },
        { &normal->side[0], 6 * (size_t)wide },
        { &normal->side[1], 6 * (size_t)wide },
    };
    for (size_t k = 0; k < sizeof wanted / sizeof wanted[0]; k++) {
        *wanted[k].array = cairn_arena_doubles(arena, wanted[k].count);
        if (!*wanted[k].array)
            return CAIRN_NO_MEMORY;
    }
    return CAIRN_OK;
}

cairn_status cairn_normal_create(const cairn_system *system, const cairn_cones *cones,
                                 cairn_arena *arena, cairn_normal *normal)
{
    *normal = (cairn_normal){ .cones = cones, .linear = *system->p };
    TRY(take_scratch(system, arena, normal));
    normal->linear.w = NULL;
    normal->linear.q = normal->linear.v_free = normal->zero;
    for (size_t i = 0; i < system->v_count; i++)
        normal->mass_root[i] = sqrt(system->p->mass_inverse[i]);
    if (system->p->W) {
        TRY(list_contacts(normal, arena));
        TRY(gather_blocks(normal, arena));
    } else
        TRY(list_bodies(normal, arena));
    return cairn_cholesky_create(&normal->factor);
}

void cairn_normal_destroy(cairn_normal *normal)
{
    cairn_cholesky_destroy(normal->factor);
}

cairn_status cairn_normal_factor(cairn_normal *normal, bool *positive)
{
    const cairn_problem *p = &normal->linear;
    cairn_blocks *b = &normal->blocks;
    int size = b->first[b->count];
    cairn_matrix matrix = { size, size, b->scalar, b->column, b->value };
    memset(b->value, 0, (size_t)b->scalar[size] * sizeof(double));
    for (int i = 0; i < b->count; i++)
        for (int row = 0; row < size_of(b, i); row++)
            entry(b, b->start[i], row)[row] = 1;
    for (int j = 0; j < p->contacts; j++)
        if (p->W)
            add_contact_row(normal, j);
        else
            add_contact(normal, j);
    return cairn_cholesky_factor(normal->factor, &matrix, positive);
}

static cairn_status solve_once(cairn_normal *normal, const double *h, double *s)
{
    return normal->linear.W ? cairn_cholesky_solve(normal->factor, h, s)
                            : solve_bodies(normal, h, s);
}

/* residual = h - s - L'W L s; returns its square */
static double residual_of(cairn_normal *normal, const double *h, const double *s)
{
    const cairn_cones *cones = normal->cones;
    double sum = 0, *residual = normal->residual;
    cairn_cones_map(cones, CAIRN_CONE_ROOT, s, residual);
    cairn_cones_impulse(cones, residual, normal->r);
    cairn_problem_apply(&normal->linear, normal->r, normal->v, normal->u);
    cairn_cones_rows(cones, normal->u, residual);
    cairn_cones_map(cones, CAIRN_CONE_ROOT, residual, residual);
    for (size_t k = 0; k < cones->count; k++) {
        residual[k] = h[k] - s[k] - residual[k];
        sum += residual[k] * residual[k];
    }
    return sum;
}

cairn_status cairn_normal_solve(cairn_normal *normal, int refinements, const double *h, double *s)
{
    TRY(solve_once(normal, h, s));
    double left = refinements > 0 ? residual_of(normal, h, s) : 0;
    for (int i = 0; i < refinements && left > 0; i++) {
        TRY(solve_once(normal, normal->residual, normal->change));
        for (size_t k = 0; k < normal->cones->count; k++)
            s[k] += normal->change[k];
        double now = residual_of(normal, h, s);
        if (!(now < left)) { /* no improvement: undo the step */
            for (size_t k = 0; k < normal->cones->count; k++)
                s[k] -= normal->change[k];
            break;
        }
        left = now;
    }
    return CAIRN_OK;
}
