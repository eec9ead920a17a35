/* delassus.c - W = H M^-1 H' formed block by block.
 *
 * Block (i, j) is the sum over the shared velocity blocks k of H_i,k M_k^-1 H_j,k'. For each
 * contact the contacts on its blocks are marked, sorted, and their blocks summed: linear in the
 * number of couplings. */
#include "problem/delassus.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "problem/operator.h"

/* Which contacts touch each velocity block, and on which side. */
typedef struct adjacency {
    int32_t *start; /* blocks + 1                  */
    int32_t *entry; /* 2 * contact + side          */
    int32_t *seen;  /* contacts: last row that saw */
    int32_t *row;   /* neighbours of one contact   */
} adjacency;

static cairn_status list_adjacency(const cairn_problem *p, cairn_arena *arena, adjacency *a)
{
    size_t blocks = (size_t)p->blocks, contacts = (size_t)p->contacts;
    a->start = cairn_arena_take(arena, blocks + 2, sizeof(int32_t));
    a->entry = cairn_arena_take(arena, 2 * contacts, sizeof(int32_t));
    a->seen = cairn_arena_take(arena, contacts, sizeof(int32_t));
    a->row = cairn_arena_take(arena, contacts, sizeof(int32_t));
    if (!a->start || !a->entry || !a->seen || !a->row)
        return CAIRN_NO_MEMORY;
    memset(a->start, 0, (blocks + 2) * sizeof(int32_t));
    memset(a->seen, 0xff, contacts * sizeof(int32_t)); /* -1 */
    for (size_t e = 0; e < 2 * contacts; e++)
        if (p->block[e] >= 0)
            a->start[p->block[e] + 2]++;
    for (size_t k = 1; k < blocks + 2; k++)
        a->start[k] += a->start[k - 1];
    for (size_t e = 0; e < 2 * contacts; e++)
        if (p->block[e] >= 0)
            a->entry[a->start[p->block[e] + 1]++] = (int32_t)e;
    return CAIRN_OK;
}

static int ascending(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Contacts that share a block with contact i, itself included, ascending. */
static int neighbours(const cairn_problem *p, adjacency *a, int i)
{
    int count = 0;
    a->seen[i] = i;
    a->row[count++] = i;
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * i + side];
        for (int k = block < 0 ? 0 : a->start[block]; block >= 0 && k < a->start[block + 1]; k++) {
            int j = a->entry[k] / 2;
            if (a->seen[j] != i) {
                a->seen[j] = i;
                a->row[count++] = j;
            }
        }
    }
    qsort(a->row, (size_t)count, sizeof(int32_t), ascending);
    return count;
}

/* block(i, j) = sum over shared blocks of H_i M^-1 H_j' */
static void couple(const cairn_problem *p, int i, int j, double *block)
{
    int d = p->dimension, n = p->block_size;
    memset(block, 0, (size_t)(d * d) * sizeof(double));
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            int shared = p->block[2 * i + a];
            if (shared < 0 || shared != p->block[2 * j + b])
                continue;
            double room[2][18];
            const double *Hi = cairn_rows(p, i, a, room[0]), *Hj = cairn_rows(p, j, b, room[1]);
            const double *inverse = p->mass_inverse + (size_t)shared * (size_t)n;
            for (int s = 0; s < d; s++)
                for (int t = 0; t < d; t++)
                    for (int k = 0; k < n; k++)
                        block[s * d + t] += Hi[s * n + k] * inverse[k] * Hj[t * n + k];
        }
}

typedef struct rows {
    int64_t *start;
    int32_t *column;
    double *value;
} rows;

static void fill_contact(const cairn_problem *p, const adjacency *a, int i, int count, rows *W)
{
    int d = p->dimension;
    int64_t first = W->start[(size_t)i * (size_t)d];
    for (int k = 0; k < count; k++) {
        double block[CAIRN_MAX_DIMENSION * CAIRN_MAX_DIMENSION];
        couple(p, i, a->row[k], block);
        for (int s = 0; s < d; s++)
            for (int t = 0; t < d; t++) {
                int64_t at = first + (int64_t)s * count * d + (int64_t)k * d + t;
                W->column[at] = (int32_t)(a->row[k] * d + t);
                W->value[at] = block[s * d + t];
            }
    }
    for (int s = 0; s < d; s++)
        W->start[(size_t)(i * d + s) + 1] = first + (int64_t)(s + 1) * count * d;
}

cairn_status cairn_delassus_form(const cairn_problem *p, cairn_arena *arena, cairn_matrix *out)
{
    if (p->W) {
        *out = *p->W;
        return CAIRN_OK;
    }
    adjacency a;
    rows W;
    int d = p->dimension, size = d * p->contacts;
    int64_t couplings = 0;
    TRY(list_adjacency(p, arena, &a));
    for (int i = 0; i < p->contacts; i++)
        couplings += neighbours(p, &a, i);
    memset(a.seen, 0xff, (size_t)p->contacts * sizeof(int32_t));
    W.start = cairn_arena_take(arena, (size_t)size + 1, sizeof(int64_t));
    W.column = cairn_arena_take(arena, (size_t)(couplings * d * d), sizeof(int32_t));
    W.value = cairn_arena_take(arena, (size_t)(couplings * d * d), sizeof(double));
    if (!W.start || !W.column || !W.value)
        return CAIRN_NO_MEMORY;
    W.start[0] = 0;
    for (int i = 0; i < p->contacts; i++) {
        int count = neighbours(p, &a, i);
        fill_contact(p, &a, i, count, &W);
    }
    *out = (cairn_matrix){ size, size, W.start, W.column, W.value };
    return CAIRN_OK;
}

cairn_status cairn_delassus_localise(const cairn_problem *p, cairn_arena *arena, cairn_matrix *W,
                                     cairn_problem *out)
{
    size_t size = (size_t)p->dimension * (size_t)p->contacts;
    TRY(cairn_delassus_form(p, arena, W));
    *out = *p;
    out->W = W;
    if (p->W)
        return CAIRN_OK;
    double *q = cairn_arena_take(arena, size, sizeof(double));
    if (!q)
        return CAIRN_NO_MEMORY;
    cairn_problem_relative(p, NULL, p->v_free, q);
    out->q = q;
    out->blocks = 0;
    return CAIRN_OK;
}
