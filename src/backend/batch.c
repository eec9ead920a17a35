/* batch.c - cutting the contacts of a problem of balls into batches.
 *
 * They are filled through a window of open ones: a contact goes into the first in which neither of
 * its bodies is. */
#include "backend/batch.h"

#include <string.h>

#include "base/status.h"

/* ---- batches -------------------------------------------------------------------------------- */

enum { WINDOW = 32, WORTH_SLABS = 8192 };

typedef struct filling {
    cairn_batches *s;
    uint32_t *used;    /* of each block: slots of the window that hold it  */
    int batch[WINDOW]; /* open batches                                     */
    int held[WINDOW];  /* contacts in them                                 */
    int most;          /* batches that there is room for                   */
    int32_t *order;    /* the contacts in the order of their blocks        */
    int at;            /* the next of them                                 */
    int now;           /* the group being filled                           */
} filling;

/* Walls and padding have records after those of the blocks, of their own in each group. */
static int wall_record(const filling *f)
{
    return f->s->p->blocks + 2 * f->now;
}

static int ghost_record(const filling *f)
{
    return wall_record(f) + 1;
}

static void open_batch(filling *f, int slot)
{
    cairn_batches *s = f->s;
    if (s->count == f->most)
        return; /* noticed at the end */
    f->batch[slot] = s->count++;
    f->held[slot] = 0;
    size_t first = (size_t)f->batch[slot] * CAIRN_BATCH;
    for (size_t i = first; i < first + CAIRN_BATCH; i++) {
        s->contact[i] = -1;
        s->bodies[2 * i] = ghost_record(f);
        s->bodies[2 * i + 1] = wall_record(f);
    }
}

/* The bodies of a full batch may meet again. */
static void close_batch(filling *f, int slot)
{
    const cairn_batches *s = f->s;
    size_t first = (size_t)f->batch[slot] * CAIRN_BATCH;
    for (size_t i = 2 * first; i < 2 * (first + CAIRN_BATCH); i++)
        if (s->bodies[i] < s->p->blocks)
            f->used[s->bodies[i]] &= ~(1u << slot);
    open_batch(f, slot);
}

static uint32_t used_by(const filling *f, int block)
{
    return block < 0 ? 0 : f->used[block];
}

static int fullest(const filling *f)
{
    int best = 0;
    for (int k = 1; k < WINDOW; k++)
        best = f->held[k] > f->held[best] ? k : best;
    return best;
}

static void place(filling *f, int j)
{
    cairn_batches *s = f->s;
    const int32_t *block = s->p->block + 2 * (size_t)j;
    uint32_t taken = used_by(f, block[0]) | used_by(f, block[1]);
    if (taken == UINT32_MAX)
        close_batch(f, fullest(f));
    taken = used_by(f, block[0]) | used_by(f, block[1]);
    int slot = __builtin_ctz(~taken);
    size_t lane = (size_t)f->batch[slot] * CAIRN_BATCH + (size_t)f->held[slot]++;
    s->contact[lane] = j;
    for (int side = 0; side < 2; side++) {
        s->bodies[2 * lane + (size_t)side] = block[side] < 0 ? wall_record(f) : block[side];
        if (block[side] >= 0)
            f->used[block[side]] |= 1u << slot;
    }
    if (f->held[slot] == CAIRN_BATCH)
        close_batch(f, slot);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* Contacts whose bodies all lie in one slab of the numbering are a group of their own, which runs
 * beside the others; those between slabs come last. The slabs depend on the problem alone. */
static int slab_of(const cairn_batches *s, int block)
{
    return (int)((int64_t)block * s->slabs / s->p->blocks);
}

static int lower_block(const cairn_problem *p, int j)
{
    int a = p->block[2 * j], b = p->block[2 * j + 1];
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int group_of(const cairn_batches *s, int j)
{
    int a = s->p->block[2 * j], b = s->p->block[2 * j + 1];
    if (a < 0 || b < 0)
        return slab_of(s, a < 0 ? b : a);
    return slab_of(s, a) == slab_of(s, b) ? slab_of(s, a) : s->slabs;
}

/* Contacts by the lower of their blocks, then by number: neighbours in space where the numbering of
 * the blocks follows space, whatever order they came in. */
static cairn_status order_contacts(const cairn_problem *p, cairn_arena *arena, int32_t **out)
{
    int32_t *next = cairn_arena_take(arena, (size_t)p->blocks + 1, sizeof *next);
    int32_t *order = cairn_arena_take(arena, (size_t)p->contacts, sizeof *order);
    if (!next || !order)
        return CAIRN_NO_MEMORY;
    memset(next, 0, ((size_t)p->blocks + 1) * sizeof *next);
    for (int j = 0; j < p->contacts; j++)
        next[lower_block(p, j) + 1]++;
    for (int i = 0; i < p->blocks; i++)
        next[i + 1] += next[i];
    for (int j = 0; j < p->contacts; j++)
        order[next[lower_block(p, j)]++] = j;
    *out = order;
    return CAIRN_OK;
}

/* In the order of contacts, those of a slab stand together, with those between slabs among them. */
static void fill_group(filling *f, int group)
{
    const cairn_problem *p = f->s->p;
    f->now = group;
    memset(f->used, 0, (size_t)p->blocks * sizeof *f->used);
    for (int k = 0; k < WINDOW; k++)
        open_batch(f, k);
    bool between = group == f->s->slabs;
    for (int k = between ? 0 : f->at; k < p->contacts; k++) {
        int j = f->order[k], own = slab_of(f->s, lower_block(p, j));
        f->at = k;
        if (!between && own != group)
            return;
        if (group_of(f->s, j) == group)
            place(f, j);
    }
}

/* Open batches that hold nothing are taken back: they are at the end, or swapped there. */
static void drop_empty(cairn_batches *s, int first)
{
    int kept = first;
    for (int k = first; k < s->count; k++) {
        size_t from = (size_t)k * CAIRN_BATCH, to = (size_t)kept * CAIRN_BATCH;
        if (s->contact[from] < 0)
            continue;
        memmove(s->contact + to, s->contact + from, CAIRN_BATCH * sizeof *s->contact);
        memmove(s->bodies + 2 * to, s->bodies + 2 * from, 2 * CAIRN_BATCH * sizeof *s->bodies);
        kept++;
    }
    s->count = kept;
}

/* Not filled: some body has so many contacts that batches stay half empty. */
static cairn_status fill_batches(cairn_batches *s, cairn_arena *arena, int most)
{
    filling f = { .s = s, .most = most };
    f.used = cairn_arena_take(arena, (size_t)s->p->blocks, sizeof *f.used);
    if (!f.used)
        return CAIRN_NO_MEMORY;
    TRY(order_contacts(s->p, arena, &f.order));
    for (int group = 0; group <= s->slabs && s->count < most; group++) {
        s->start[group] = s->count;
        fill_group(&f, group);
        drop_empty(s, s->start[group]);
    }
    s->start[s->slabs + 1] = s->count;
    s->usable = s->count < most;
    return CAIRN_OK;
}

static bool is_smooth(const cairn_problem *p)
{
    bool smooth = true;
    for (int j = 0; j < p->contacts; j++)
        smooth = smooth && p->mu[j] == 0;
    return smooth;
}

cairn_status cairn_batches_create(const cairn_problem *p, cairn_arena *arena, cairn_batches *out)
{
    *out = (cairn_batches){ .p = p, .slabs = p->contacts < WORTH_SLABS ? 1 : CAIRN_SLABS };
    bool balls = p->dimension == 3 && p->block_size == 6 && !p->directions && !p->bounded;
    if (p->W || !balls || p->blocks == 0)
        return CAIRN_OK;
    int most = p->contacts / (CAIRN_BATCH / 2) + 2 * WINDOW * (out->slabs + 1);
    size_t lanes = (size_t)most * CAIRN_BATCH;
    TRY(cairn_batches_find_balls(out, arena, &balls));
    if (!balls)
        return CAIRN_OK;
    out->contact = cairn_arena_take(arena, lanes, sizeof *out->contact);
    out->bodies = cairn_arena_take(arena, 2 * lanes, sizeof *out->bodies);
    if (!out->contact || !out->bodies)
        return CAIRN_NO_MEMORY;
    out->smooth = is_smooth(p);
    return fill_batches(out, arena, most);
}
