/* part.c - some contacts of a one-step problem, as a problem of its own: what is far from where
 * something happens need not be solved again. */
#include "problem/part.h"

#include <string.h>

#include "base/status.h"
#include "problem/operator.h"

/* Which numbers of the whole to take, and where they come from. */
typedef struct taking {
    const cairn_problem *whole;
    const int32_t *contact;
    int count;
    cairn_arena *scratch;
    bool failed; /* no memory */
} taking;

/* `width` numbers of `size` bytes for each of `count` items; NULL stays NULL. */
static const void *take(taking *t, const void *from, const int32_t *items, int count, size_t bytes)
{
    char *to = from ? cairn_arena_take(t->scratch, (size_t)count, bytes) : NULL;
    t->failed = t->failed || (from && !to);
    for (size_t k = 0; to && k < (size_t)count; k++)
        memcpy(to + k * bytes, (const char *)from + (size_t)items[k] * bytes, bytes);
    return to;
}

static const double *take_reals(taking *t, const double *from, int width)
{
    return take(t, from, t->contact, t->count, (size_t)width * sizeof(double));
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* Numbers of the blocks in the part, -1: not in it; returns how many there are. */
static int number_blocks(const taking *t, int32_t *number)
{
    int blocks = 0;
    memset(number, 0xff, (size_t)t->whole->blocks * sizeof *number); /* -1 */
    for (int k = 0; k < t->count; k++)
        for (int side = 0; side < 2; side++) {
            int32_t block = t->whole->block[2 * t->contact[k] + side];
            if (block >= 0)
                number[block] = 0;
        }
    for (int i = 0; i < t->whole->blocks; i++)
        if (number[i] == 0)
            number[i] = blocks++;
    return blocks;
}

static cairn_status take_blocks(taking *t, cairn_problem_part *out)
{
    const cairn_problem *whole = t->whole;
    cairn_problem *p = &out->problem;
    int32_t *number = cairn_arena_take(t->scratch, (size_t)whole->blocks, sizeof *number);
    int32_t *block = cairn_arena_take(t->scratch, 2 * (size_t)t->count, sizeof *block);
    if (!number || !block)
        return CAIRN_NO_MEMORY;
    p->blocks = number_blocks(t, number);
    out->block = cairn_arena_take(t->scratch, (size_t)p->blocks, sizeof *out->block);
    if (!out->block)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < whole->blocks; i++)
        if (number[i] >= 0)
            out->block[number[i]] = i;
    for (int k = 0; k < 2 * t->count; k++) {
        int32_t from = whole->block[2 * t->contact[k / 2] + k % 2];
        block[k] = from >= 0 ? number[from] : -1;
    }
    size_t bytes = (size_t)whole->block_size * sizeof(double);
    p->block = block;
    p->mass_inverse = take(t, whole->mass_inverse, out->block, p->blocks, bytes);
    p->v_free = take(t, whole->v_free, out->block, p->blocks, bytes);
    p->radius = take(t, whole->radius, out->block, p->blocks, sizeof(double));
    return CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The rows that are stored, one after the other. */
static cairn_status take_rows(const taking *t, cairn_problem *p)
{
    const cairn_problem *whole = t->whole;
    size_t pair = 2 * (size_t)(p->dimension * p->block_size), stored = 0;
    int32_t *rows = cairn_arena_take(t->scratch, (size_t)t->count, sizeof *rows);
    if (!rows)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < t->count; k++)
        rows[k] = cairn_is_of_balls(whole, t->contact[k]) ? -1 : (int32_t)stored++;
    double *H = cairn_arena_take(t->scratch, stored * pair, sizeof *H);
    if (!H)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < t->count; k++)
        if (rows[k] >= 0)
            memcpy(H + (size_t)rows[k] * pair,
                   cairn_rows_stored(whole, p->dimension, p->block_size, t->contact[k], 0),
                   pair * sizeof *H);
    bool mixed = whole->normal && stored > 0;
    p->H = stored > 0 ? H : NULL;
    p->rows = mixed ? rows : NULL;
    return CAIRN_OK;
}

cairn_status cairn_problem_take_part(const cairn_problem *whole, const int32_t *contacts, int count,
                                     cairn_arena *scratch, cairn_problem_part *out)
{
    taking t = { whole, contacts, count, scratch, false };
    int d = whole->dimension;
    *out = (cairn_problem_part){ .problem = *whole, .contact = contacts };
    cairn_problem *p = &out->problem;
    p->contacts = count;
    p->segments = NULL;
    TRY(take_blocks(&t, out));
    TRY(take_rows(&t, p));
    p->normal = take(&t, whole->normal, contacts, count, sizeof *p->normal);
    p->tangent = take(&t, whole->tangent, contacts, count, sizeof *p->tangent);
    p->bounded = take(&t, whole->bounded, contacts, count, sizeof *p->bounded);
    struct {
        const double **to;
        const double *from;
        int width;
    } columns[] = {
        { &p->w, whole->w, d },
        { &p->lower, whole->lower, d },
        { &p->upper, whole->upper, d },
        { &p->compliance, whole->compliance, d },
        { &p->b, whole->b, 1 },
        { &p->s, whole->s, 1 },
        { &p->mu, whole->mu, 1 },
        { &p->mu_rolling, whole->mu_rolling, 1 },
        { &p->mu_spinning, whole->mu_spinning, 1 },
    };
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        *columns[k].to = take_reals(&t, columns[k].from, columns[k].width);
    return t.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

void cairn_part_spread(const int32_t *items, int count, int width, const double *part,
                       double *whole)
{
    size_t n = (size_t)width;
    for (int k = 0; k < count; k++)
        memcpy(whole + (size_t)items[k] * n, part + (size_t)k * n, n * sizeof *whole);
}
