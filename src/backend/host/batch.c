/* batch.c - cutting the contacts of a problem into batches: of balls, or of any bodies.
 *
 * A window of batches is open at any time, and a contact goes into the first open batch that has
 * neither of its bodies. Batches of balls are filled and closed in their order, and neighbouring
 * batches share no body either, because a sweep begins the next batch before it has finished the
 * last one (batch_sweep.c). A group of them therefore has an even number of batches, followed by an
 * empty one, which is begun and never finished.
 *
 * Groups of different slabs run in parallel. Slabs and groups depend on the problem alone, never on
 * the number of threads, so that the results do not depend on it either. */
#include "backend/host/batch.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "problem/cut.h"
#include "problem/operator.h"

/* ---- batches -------------------------------------------------------------------------------- */

enum {
    WINDOW = 64,         /* open batches of balls: one bit each of a 64-bit word       */
    GENERAL_WINDOW = 32, /* open batches of any bodies                                 */
    WORTH_SLABS = 8192,  /* contacts with friction: fewer are one slab                 */
    MANY_SLABS = 32768,  /* fewer are four slabs, more are eight                       */
    WORTH_GROUP = 64,    /* contacts between two slabs: fewer go into the last group   */
};

/* Two slabs with contacts between them. */
typedef struct slab_pair {
    int32_t low, high, count; /* count: of contacts             */
    int32_t group;            /* -1: not chosen yet             */
    int32_t next;             /* of the same lower slab; -1: none */
} slab_pair;

/* The slots of the window hold batches. Those of balls form a ring in their order: the open ones
 * begin at slot `oldest`, and the slot before it has the batch that was closed last. Its bodies
 * still exclude contacts, since it is a neighbour of the oldest open batch. */
typedef struct filling {
    cairn_batches *s;
    uint64_t *used;    /* of each block: slots of the window that hold it             */
    int batch[WINDOW]; /* the batch in each slot; -1: none                            */
    int held[WINDOW];  /* number of contacts in it                                    */
    uint64_t shut;     /* slots with batches that are full or closed                  */
    int oldest;        /* slot                                                        */
    int most;          /* batches that memory was reserved for                        */
    bool full;         /* more would be needed: batches are not usable                */
    int32_t *order;    /* the contacts in the order of their blocks, then by groups   */
    int ordered;       /* their number; rows with bounds are not included             */
    uint16_t *slab;    /* of each block                                               */
    int *end;          /* of each group in `order`                                    */
    int now;           /* the group being filled                                      */
    slab_pair *pair;   /* pairs of slabs with contacts between them, by their lower slab */
    int pairs;         /* their number                                                */
    int32_t *first;    /* of each slab: its first pair with a higher one; -1: none       */
    bool *rim;         /* of each block: it touches another slab; NULL: slabs have no cores */
} filling;

/* Walls and padding have records after those of the blocks. Each slab has its own, so that threads
 * never write to the same cache line: sweeps write all records back, also those that stay 0. */
static int wall_record(const filling *f)
{
    const cairn_pieces *pieces = &f->s->pieces;
    int slab = f->now < pieces->count ? pieces->part[f->now][0] : 0;
    return f->s->p->blocks + CAIRN_WALL_RECORDS * slab;
}

/* Body a of padding lanes, whose body b is the wall. In batches of balls it has an inverse mass, so
 * that W of padding is not 0 (batch_state.c). */
static int ghost_record(const filling *f)
{
    return wall_record(f) + 1;
}

static uint64_t bit_of(int slot)
{
    return UINT64_C(1) << slot;
}

/* Positions in the ring, modulo WINDOW, which is a power of two. */
static int slot_at(int place)
{
    return place & (WINDOW - 1);
}

/* Rotate a set of slots around the ring. */
static uint64_t turned(uint64_t bits, int by)
{
    return bits << slot_at(by) | bits >> slot_at(-by);
}

/* A new batch, all padding, in a slot. */
static void open_batch(filling *f, int slot)
{
    cairn_batches *s = f->s;
    f->full = s->count == f->most;
    if (f->full)
        return;
    f->batch[slot] = s->count++;
    f->held[slot] = 0;
    f->shut &= ~bit_of(slot);
    size_t first = (size_t)f->batch[slot] * CAIRN_BATCH;
    for (size_t i = first; i < first + CAIRN_BATCH; i++) {
        s->contact[i] = -1;
        s->bodies[2 * i] = ghost_record(f);
        s->bodies[2 * i + 1] = wall_record(f);
    }
}

/* Remove the batch from the slot: its bodies no longer exclude contacts there. */
static void release(filling *f, int slot)
{
    const cairn_batches *s = f->s;
    size_t first = (size_t)f->batch[slot] * CAIRN_BATCH;
    for (size_t i = 2 * first; f->batch[slot] >= 0 && i < 2 * (first + CAIRN_BATCH); i++)
        if (s->bodies[i] < s->p->blocks)
            f->used[s->bodies[i]] &= ~bit_of(slot);
    f->batch[slot] = -1;
}

static void reopen(filling *f, int slot)
{
    release(f, slot);
    open_batch(f, slot);
}

/* Close the oldest batch, whether it is full or not. The slot before it becomes free, and the ring
 * moves on by one. */
static void close_oldest(filling *f)
{
    f->shut |= bit_of(f->oldest);
    reopen(f, slot_at(f->oldest - 1));
    f->oldest = slot_at(f->oldest + 1);
}

/* The slots that hold a block; none for a wall, which batches may share. */
static uint64_t used_by(const filling *f, int block)
{
    return block < 0 ? 0 : f->used[block];
}

/* Slots that may not take a contact of these blocks: those that have one of the blocks and, for
 * balls, their neighbours in the ring; and those that are shut. */
static uint64_t taken_by(const filling *f, const int32_t block[2])
{
    uint64_t held = used_by(f, block[0]) | used_by(f, block[1]);
    if (!f->s->general)
        held |= turned(held, 1) | turned(held, -1);
    return held | f->shut;
}

/* If no general batch can take a contact, the fullest one is closed: it wastes the fewest lanes. */
static int fullest(const filling *f)
{
    int best = 0;
    for (int k = 1; k < GENERAL_WINDOW; k++)
        best = f->held[k] > f->held[best] ? k : best;
    return best;
}

static void make_room(filling *f)
{
    if (f->s->general)
        reopen(f, fullest(f));
    else
        close_oldest(f);
}

/* Put contact j into the next lane of a slot. */
static void put(filling *f, int j, int slot)
{
    cairn_batches *s = f->s;
    const int32_t *block = s->p->block + 2 * (size_t)j;
    size_t lane = (size_t)f->batch[slot] * CAIRN_BATCH + (size_t)f->held[slot]++;
    s->contact[lane] = j;
    for (int side = 0; side < 2; side++) {
        s->bodies[2 * lane + (size_t)side] = block[side] < 0 ? wall_record(f) : block[side];
        if (block[side] >= 0)
            f->used[block[side]] |= bit_of(slot);
    }
}

/* Put contact j into the first slot, from the oldest on, that may take it. If there is none,
 * batches are closed until there is. */
static void place(filling *f, int j)
{
    const int32_t *block = f->s->p->block + 2 * (size_t)j;
    uint64_t taken = taken_by(f, block);
    for (; taken == UINT64_MAX && !f->full; taken = taken_by(f, block))
        make_room(f);
    if (f->full)
        return;
    int slot = slot_at(f->oldest + __builtin_ctzll(turned(~taken, -f->oldest)));
    put(f, j, slot);
    if (f->held[slot] < CAIRN_BATCH)
        return;
    f->shut |= bit_of(slot);
    if (f->s->general)
        reopen(f, slot);
    while (f->shut & bit_of(f->oldest) && !f->full)
        close_oldest(f);
}

/* ---- slabs ---------------------------------------------------------------------------------- */

/* The number of slabs: that of the problem if it states one, else 1, 4 or 8 by its size. On
 * machines whose cores exchange cache lines slowly, smaller slabs make two threads slower than one.
 * A contact without friction takes less than half as long, so that it counts as half. */
static int slabs_for(const cairn_batches *s)
{
    int work = s->p->contacts / (s->smooth ? 2 : 1), asked = s->p->parts;
    if (s->p->cut)
        return s->p->cut->contacts.parts;
    if (asked > 0)
        return asked < s->p->blocks ? asked : s->p->blocks;
    return work < WORTH_SLABS ? 1 : work < MANY_SLABS ? 4 : 8;
}

/* The lower of the two blocks of a contact; a wall (-1) does not count. */
static int lower_block(const cairn_problem *p, int j)
{
    int a = p->block[2 * j], b = p->block[2 * j + 1];
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* The blocks of a contact; the same one twice if the other side is a wall. */
static void find_blocks(const cairn_problem *p, int j, int32_t out[2])
{
    const int32_t *block = p->block + 2 * (size_t)j;
    out[0] = block[0] < 0 ? block[1] : block[0];
    out[1] = block[1] < 0 ? block[0] : block[1];
}

/* The estimated work of each block in a sweep: 1 for its extrapolation, and 4 for each contact,
 * half of it for each of the two blocks. */
static void find_work(const cairn_problem *p, int32_t *work)
{
    for (int i = 0; i < p->blocks; i++)
        work[i] = 1;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; w.now.kind != CAIRN_KIND_ROWS && j < w.at; j++) {
            int32_t block[2];
            find_blocks(p, j, block);
            work[block[0]] += 2;
            work[block[1]] += 2;
        }
}

/* If the problem is already cut into parts, these are the slabs. */
static void take_parts(filling *f)
{
    cairn_batches *s = f->s;
    const uint16_t *part = s->p->cut->part;
    int slab = 0;
    s->first[0] = 0;
    for (int i = 0; i < s->p->blocks; i++) {
        f->slab[i] = part[i];
        while (slab < part[i])
            s->first[++slab] = i;
    }
    while (slab < s->slabs)
        s->first[++slab] = s->p->blocks;
}

/* Slabs are ranges of blocks with about equal work. */
static cairn_status cut_slabs(filling *f, cairn_arena *arena)
{
    cairn_batches *s = f->s;
    int blocks = s->p->blocks;
    int64_t before = 0, all = 0;
    int32_t *work = cairn_arena_take(arena, (size_t)blocks, sizeof *work);
    f->slab = cairn_arena_take(arena, (size_t)blocks, sizeof *f->slab);
    if (!work || !f->slab)
        return CAIRN_NO_MEMORY;
    if (s->p->cut) {
        take_parts(f);
        return CAIRN_OK;
    }
    if (s->slabs == 1) {
        s->first[0] = 0;
        s->first[1] = blocks;
        memset(f->slab, 0, (size_t)blocks * sizeof *f->slab);
        return CAIRN_OK;
    }
    find_work(s->p, work);
    for (int i = 0; i < blocks; i++)
        all += work[i];
    for (int i = 0, slab = -1; i < blocks; before += work[i++]) {
        while (slab < s->slabs - 1 && before * s->slabs >= (slab + 1) * all)
            s->first[++slab] = i;
        f->slab[i] = (uint16_t)slab;
    }
    for (int slab = f->slab[blocks - 1] + 1; slab <= s->slabs; slab++)
        s->first[slab] = blocks;
    return CAIRN_OK;
}

/* Sort the contacts by their lower block, then by number (a counting sort). Blocks are numbered
 * along a space-filling curve in large worlds, so that neighbours in this order are neighbours in
 * space and share cache lines, in whatever order the contacts were found. */
static cairn_status order_contacts(filling *f, cairn_arena *arena)
{
    const cairn_problem *p = f->s->p;
    int32_t *next = cairn_arena_take(arena, (size_t)p->blocks + 1, sizeof *next);
    f->order = cairn_arena_take(arena, (size_t)p->contacts, sizeof *f->order);
    if (!next || !f->order)
        return CAIRN_NO_MEMORY;
    memset(next, 0, ((size_t)p->blocks + 1) * sizeof *next);
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; w.now.kind != CAIRN_KIND_ROWS && j < w.at; j++)
            next[lower_block(p, j) + 1]++;
    for (int i = 0; i < p->blocks; i++)
        next[i + 1] += next[i];
    f->ordered = next[p->blocks];
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); cairn_walk_next(&w);)
        for (int j = w.now.begin; w.now.kind != CAIRN_KIND_ROWS && j < w.at; j++)
            f->order[next[lower_block(p, j)]++] = j;
    return CAIRN_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

/* The pair of two different slabs; -1: not known yet. */
static int find_pair(const filling *f, int one, int other)
{
    int low = one < other ? one : other, high = one < other ? other : one, k = f->first[low];
    while (k >= 0 && f->pair[k].high != high)
        k = f->pair[k].next;
    return k;
}

/* The group that contact j belongs to. */
static int group_of(const filling *f, int j)
{
    int32_t block[2];
    find_blocks(f->s->p, j, block);
    int one = f->slab[block[0]], other = f->slab[block[1]];
    if (f->rim && one == other && !f->rim[block[0]] && !f->rim[block[1]])
        return f->s->slabs + one;
    if (f->s->slabs == 1 || one == other)
        return one;
    return f->pair[find_pair(f, one, other)].group;
}

/* The smallest power of two that is at least n. */
static int rounds_for(int n)
{
    int rounds = 1;
    while (rounds < n)
        rounds *= 2;
    return rounds;
}

/* The least number of contacts between two slabs that makes a group. Between two parts of a cut
 * problem any contact does: the last group would need all members at once. */
static int least_group(const cairn_batches *s)
{
    return s->p->cut ? 1 : WORTH_GROUP;
}

/* The groups of the slabs themselves. In a cut problem a slab has two: first its rim, the contacts
 * of blocks that touch another slab, then its core. A core has no block in common with the groups
 * between slabs, so members may compute it while they wait for messages. */
static void choose_slabs(filling *f)
{
    int slabs = f->s->slabs;
    for (int i = 0; i < slabs; i++)
        cairn_pieces_add(&f->s->pieces, i, i);
    for (int i = 0; f->rim && i < slabs; i++)
        cairn_pieces_add(&f->s->pieces, i, i);
}

static int round_of(const slab_pair *pair)
{
    return pair->low ^ pair->high;
}

/* Every slab is a group, and so is every pair of slabs with enough contacts between them. Round k
 * pairs slab i with slab i ^ k: in a round each slab is in one pair at most, so that all pairs of a
 * round can run at the same time. All other contacts form the last group, which is not a piece of
 * work and runs alone. */
static void choose_groups(filling *f, const int32_t *by_round)
{
    cairn_pieces *pieces = &f->s->pieces;
    int slabs = f->s->slabs, least = least_group(f->s), k = 0;
    choose_slabs(f);
    f->s->round[0] = pieces->count;
    for (int round = 1; round < rounds_for(slabs); f->s->round[round++] = pieces->count)
        for (; k < f->pairs && round_of(&f->pair[by_round[k]]) == round; k++) {
            slab_pair *pair = &f->pair[by_round[k]];
            if (pair->count < least)
                continue;
            pair->group = pieces->count;
            cairn_pieces_add(pieces, pair->low, pair->high);
        }
    for (k = 0; k < f->pairs; k++)
        if (f->pair[k].group < 0)
            f->pair[k].group = pieces->count;
}

/* Count the contacts within each slab, and between each pair of slabs that have any. A slab touches
 * few others, so that its pairs are a short list. */
static void count_between(filling *f, int *within)
{
    int slabs = f->s->slabs;
    memset(within, 0, (size_t)slabs * sizeof *within);
    memset(f->first, -1, (size_t)slabs * sizeof *f->first);
    within[0] = slabs == 1 ? f->ordered : 0;
    for (int k = 0; k < f->ordered && slabs > 1; k++) {
        int32_t block[2];
        find_blocks(f->s->p, f->order[k], block);
        int one = f->slab[block[0]], other = f->slab[block[1]];
        int low = one < other ? one : other, at = one == other ? -1 : find_pair(f, one, other);
        if (one == other) {
            within[one]++;
            continue;
        }
        if (at < 0) {
            at = f->pairs++;
            f->pair[at] = (slab_pair){ low, one < other ? other : one, 0, -1, f->first[low] };
            f->first[low] = at;
        }
        f->pair[at].count++;
    }
}

/* The pairs by rounds, and in a round by slabs: a counting sort of the pairs, slab after slab. */
static cairn_status sort_pairs(const filling *f, cairn_arena *arena, int32_t **out)
{
    int slabs = f->s->slabs, rounds = rounds_for(slabs);
    int *next = cairn_arena_take(arena, (size_t)rounds + 1, sizeof *next);
    *out = cairn_arena_take(arena, (size_t)f->pairs + 1, sizeof **out);
    if (!next || !*out)
        return CAIRN_NO_MEMORY;
    memset(next, 0, ((size_t)rounds + 1) * sizeof *next);
    for (int k = 0; k < f->pairs; k++)
        next[round_of(&f->pair[k]) + 1]++;
    for (int round = 0; round < rounds; round++)
        next[round + 1] += next[round];
    for (int i = 0; i < slabs && f->pairs > 0; i++)
        for (int k = f->first[i]; k >= 0; k = f->pair[k].next)
            (*out)[next[round_of(&f->pair[k])]++] = k;
    return CAIRN_OK;
}

/* Find the blocks that touch another slab. */
static cairn_status find_rims(filling *f, cairn_arena *arena)
{
    size_t blocks = (size_t)f->s->p->blocks;
    f->rim = cairn_arena_take(arena, blocks + 1, sizeof *f->rim);
    if (!f->rim)
        return CAIRN_NO_MEMORY;
    memset(f->rim, 0, blocks * sizeof *f->rim);
    for (int k = 0; k < f->ordered; k++) {
        int32_t block[2];
        find_blocks(f->s->p, f->order[k], block);
        if (f->slab[block[0]] != f->slab[block[1]])
            f->rim[block[0]] = f->rim[block[1]] = true;
    }
    return CAIRN_OK;
}

/* An upper bound on the number of groups, the last one included: all pairs of slabs, or as many as
 * the contacts can fill with the least number; and cores. */
static int most_groups(const cairn_batches *s)
{
    int64_t pairs = (int64_t)s->slabs * (s->slabs - 1) / 2;
    int64_t filled = s->p->contacts / least_group(s);
    return 1 + (s->p->cut ? 2 : 1) * s->slabs + (int)(pairs < filled ? pairs : filled);
}

/* The number of contacts of each group, counted one entry later. */
static void count_groups(const filling *f, const int *within, int *next)
{
    int slabs = f->s->slabs;
    for (int i = 0; i < slabs; i++)
        next[i + 1] += within[i];
    for (int k = 0; k < f->pairs; k++)
        next[f->pair[k].group + 1] += f->pair[k].count;
    for (int k = 0; f->rim && k < f->ordered; k++) {
        int group = group_of(f, f->order[k]);
        if (group < slabs || group >= 2 * slabs)
            continue;
        next[group - slabs + 1]--;
        next[group + 1]++;
    }
}

/* Sort the contacts by groups; within a group they keep their order. After the counting sort,
 * `next` holds the end of each group. */
static cairn_status group_contacts(filling *f, cairn_arena *arena)
{
    size_t slabs = (size_t)f->s->slabs, pairs = slabs * (slabs - 1) / 2;
    int groups = most_groups(f->s);
    int32_t *by_round;
    int *within = cairn_arena_take(arena, slabs, sizeof *within);
    int *next = cairn_arena_take(arena, (size_t)groups + 1, sizeof *next);
    int32_t *grouped = cairn_arena_take(arena, (size_t)f->ordered, sizeof *grouped);
    pairs = pairs < (size_t)f->ordered ? pairs : (size_t)f->ordered;
    f->pair = cairn_arena_take(arena, pairs + 1, sizeof *f->pair);
    f->first = cairn_arena_take(arena, slabs, sizeof *f->first);
    if (!within || !next || !grouped || !f->pair || !f->first)
        return CAIRN_NO_MEMORY;
    if (f->s->p->cut)
        TRY(find_rims(f, arena));
    count_between(f, within);
    TRY(sort_pairs(f, arena, &by_round));
    choose_groups(f, by_round);
    memset(next, 0, ((size_t)groups + 1) * sizeof *next);
    count_groups(f, within, next);
    for (int g = 0; g < groups; g++)
        next[g + 1] += next[g];
    for (int k = 0; k < f->ordered; k++)
        grouped[next[group_of(f, f->order[k])]++] = f->order[k];
    f->end = next;
    f->order = grouped;
    return CAIRN_OK;
}

/* ---- turns ---------------------------------------------------------------------------------- */

enum { NEIGHBOURS = 512 }; /* blocks whose contacts take turns, see take_turns */

/* A range of contacts of one group, in the order of their lower blocks. */
typedef struct runs {
    const int32_t *contact;
    int count;
    int32_t *end; /* of each block: the end of its contacts in the range */
    int blocks;
} runs;

/* The next contacts of a group: all those of up to NEIGHBOURS lower blocks. */
static void find_runs(const cairn_problem *p, const int32_t *contact, int count, runs *out)
{
    int k = 0;
    out->contact = contact;
    for (out->blocks = 0; out->blocks < NEIGHBOURS && k < count; out->blocks++) {
        int block = lower_block(p, contact[k]);
        while (k < count && lower_block(p, contact[k]) == block)
            k++;
        out->end[out->blocks] = k;
    }
    out->count = k;
}

/* The contact number `round` of each block that has so many; returns how many these are. */
static int take_round(const runs *from, int round, int32_t *turns)
{
    int count = 0;
    for (int i = 0; i < from->blocks; i++) {
        int at = (i > 0 ? from->end[i - 1] : 0) + round;
        if (at < from->end[i])
            turns[count++] = from->contact[at];
    }
    return count;
}

/* Bodies other than balls have many contacts, several with each neighbour. In the order of blocks
 * these follow each other, so that each would need another batch, and batches would stay almost
 * empty. Therefore the contacts of each NEIGHBOURS blocks of a group are reordered: first the first
 * contact of each block, then the second ones, and so on. */
static cairn_status take_turns(filling *f, cairn_arena *arena)
{
    int32_t *turns = cairn_arena_take(arena, (size_t)f->ordered, sizeof *turns);
    int32_t end[NEIGHBOURS];
    runs next = { .end = end };
    if (!turns)
        return CAIRN_NO_MEMORY;
    for (int group = 0, begin = 0; group <= f->s->pieces.count; group++)
        for (; begin < f->end[group]; begin += next.count) {
            find_runs(f->s->p, f->order + begin, f->end[group] - begin, &next);
            for (int round = 0, taken = 0; taken < next.count; round++)
                taken += take_round(&next, round, turns + begin + taken);
        }
    f->order = turns;
    return CAIRN_OK;
}

/* ---- filling -------------------------------------------------------------------------------- */

/* Open the batches of a group. For balls the last slot, which precedes the oldest one in the ring,
 * stays empty until that is closed. */
static void open_window(filling *f, int group)
{
    int slots = f->s->general ? GENERAL_WINDOW : WINDOW - 1;
    f->now = group;
    f->oldest = 0;
    f->shut = UINT64_MAX;
    for (int k = 0; k < slots; k++)
        open_batch(f, k);
}

/* Groups share no batch, so that the window is emptied after each. */
static void fill_group(filling *f, int group)
{
    open_window(f, group);
    for (int k = group > 0 ? f->end[group - 1] : 0; k < f->end[group] && !f->full; k++)
        place(f, f->order[k]);
    for (int slot = 0; slot < WINDOW; slot++)
        release(f, slot);
}

/* Remove the batches of a group that stayed empty. */
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

/* For balls, remove empty batches at the end only, since removing others would create new
 * neighbours. Then pad to an even number of batches and one empty batch. */
static void drop_last(filling *f, int first)
{
    cairn_batches *s = f->s;
    int count = s->count - first;
    while (count > 0 && s->contact[(size_t)(first + count - 1) * CAIRN_BATCH] < 0)
        count--;
    count += count % 2 + 1;
    while (s->count < first + count && !f->full)
        open_batch(f, 0);
    s->count = first + count;
}

/* Fill all groups. If memory for the batches runs out, some body has so many contacts that batches
 * stay half empty, and they are not usable. All members must agree on that. */
static void fill_groups(filling *f)
{
    cairn_batches *s = f->s;
    memset(f->used, 0, (size_t)s->p->blocks * sizeof *f->used);
    memset(f->batch, -1, sizeof f->batch);
    for (int group = 0; group <= s->pieces.count && !f->full; group++) {
        s->start[group] = s->count;
        fill_group(f, group);
        if (s->general)
            drop_empty(s, s->start[group]);
        else
            drop_last(f, s->start[group]);
    }
    s->start[s->pieces.count + 1] = s->count;
    s->usable = cairn_link_all(cairn_problem_link(s->p), !f->full);
}

static cairn_status fill_batches(cairn_batches *s, cairn_arena *arena, int most)
{
    filling f = { .s = s, .most = most };
    f.used = cairn_arena_take(arena, (size_t)s->p->blocks, sizeof *f.used);
    if (!f.used)
        return CAIRN_NO_MEMORY;
    TRY(cut_slabs(&f, arena));
    TRY(order_contacts(&f, arena));
    TRY(group_contacts(&f, arena));
    if (s->general)
        TRY(take_turns(&f, arena));
    fill_groups(&f);
    return CAIRN_OK;
}

/* Reserve memory for the batches and fill them. On average they may be half empty; scratch memory
 * is returned to the arena at the end. */
static cairn_status make_batches(cairn_batches *s, cairn_arena *arena)
{
    s->smooth = !cairn_link_any(cairn_problem_link(s->p), cairn_problem_has_friction(s->p));
    s->slabs = slabs_for(s);
    int groups = most_groups(s);
    int most = s->p->contacts / (CAIRN_BATCH / 2) + WINDOW * (s->slabs + 1);
    /* Parts: a body with n contacts needs 2 n batches of balls, and what is usable must not depend
     * on who has it, so there is room for any problem. Memory that no batch is opened in is never
     * touched. */
    if (s->p->cut)
        most += 3 * s->p->contacts + 4 * groups;
    size_t lanes = (size_t)most * CAIRN_BATCH;
    void *room = cairn_arena_take(arena, 1, cairn_pieces_bytes(s->slabs, groups));
    s->contact = cairn_arena_take(arena, lanes, sizeof *s->contact);
    s->bodies = cairn_arena_take(arena, 2 * lanes, sizeof *s->bodies);
    s->first = cairn_arena_take(arena, (size_t)s->slabs + 1, sizeof *s->first);
    s->start = cairn_arena_take(arena, (size_t)groups + 1, sizeof *s->start);
    s->rounds = rounds_for(s->slabs) - 1;
    s->round = cairn_arena_take(arena, (size_t)s->rounds + 1, sizeof *s->round);
    if (!room || !s->contact || !s->bodies || !s->first || !s->start || !s->round)
        return CAIRN_NO_MEMORY;
    cairn_pieces_start(&s->pieces, s->slabs, groups, room);
    cairn_arena_moment before = cairn_arena_now(arena);
    TRY(fill_batches(s, arena, most));
    cairn_arena_return(arena, before);
    return cairn_problem_link(s->p) ? cairn_batches_plan(s, arena) : CAIRN_OK;
}

/* Whether the linear parts of the two sides of a contact are opposite and the masses are the same
 * in all directions: batches store one linear part and one inverse mass. */
CAIRN_INLINE bool is_even(const cairn_problem *p, int d, int n, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    double room[2][18];
    const double *H[2];
    bool even = true, both = block[0] >= 0 && block[1] >= 0;
    for (int side = 0; side < 2 && even; side++) {
        if (block[side] < 0)
            continue;
        const double *m = p->mass_inverse + (size_t)n * (size_t)block[side];
        even = m[0] == m[1] && m[0] == m[d - 1];
        H[side] = cairn_rows(p, j, side, room[side]);
    }
    for (int i = 0; i < d && even && both; i++)
        for (int c = 0; c < d; c++)
            even = even && H[0][n * i + c] == -H[1][n * i + c];
    return even;
}

/* Whether every contact fits a general batch. Contacts of balls always do; lone contacts never do,
 * because the lanes assume two different bodies. */
static bool is_between_bodies(const cairn_problem *p)
{
    bool even = !cairn_problem_has(p, CAIRN_KIND_LONE), space = p->dimension == 3;
    for (cairn_walk w = cairn_walk_over(p, 0, p->contacts); even && cairn_walk_next(&w);)
        for (int j = w.now.begin; w.now.kind == CAIRN_KIND_GENERAL && even && j < w.at; j++)
            even = space ? is_even(p, 3, 6, j) : is_even(p, 2, 3, j);
    return even;
}

cairn_status cairn_batches_create_general(const cairn_problem *p, cairn_arena *arena,
                                          cairn_batches *out)
{
    *out = (cairn_batches){ .p = p, .general = true };
    bool space = p->dimension == 3 && p->block_size == 6;
    bool plane = p->dimension == 2 && p->block_size == 3;
    /* circular cones in blocks, without rolling and spinning friction */
    bool solid = (space || plane) && !p->directions && !p->W && p->rolling + p->spinning == 0;
    bool worth = p->cut || (p->blocks > 0 && p->contacts >= CAIRN_WORTH_BATCHES);
    if (!solid || !worth)
        return CAIRN_OK;
    bool usable = cairn_link_all(cairn_problem_link(p), is_between_bodies(p));
    return usable ? make_batches(out, arena) : CAIRN_OK;
}

cairn_status cairn_system_cut(cairn_system *s, cairn_arena *arena)
{
    if (s->general)
        return CAIRN_OK;
    cairn_batches *batches = cairn_arena_take(arena, 1, sizeof *batches);
    if (!batches)
        return CAIRN_NO_MEMORY;
    TRY(cairn_batches_create_general(s->p, arena, batches));
    s->general = batches;
    return CAIRN_OK;
}

cairn_status cairn_batches_create(const cairn_problem *p, cairn_arena *arena, cairn_batches *out)
{
    *out = (cairn_batches){ .p = p };
    bool balls = p->dimension == 3 && p->block_size == 6 && !p->directions && !p->bounded;
    cairn_link *link = cairn_problem_link(p);
    bool known = cairn_link_all(link, cairn_problem_is_all(p, CAIRN_KIND_BALLS));
    bool rows = !known && cairn_link_all(link, cairn_problem_is_all(p, CAIRN_KIND_GENERAL));
    if (p->W || !balls || (p->blocks == 0 && !link) || (!known && !rows))
        return CAIRN_OK;
    TRY(cairn_batches_find_balls(out, known, arena, &balls));
    return cairn_link_all(link, balls) ? make_batches(out, arena) : CAIRN_OK;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static void add_sweep(cairn_sweep *sum, const cairn_sweep *one)
{
    sum->change2 += one->change2;
    sum->uphill += one->uphill;
}

static void add_errors(cairn_batch_errors *sum, const cairn_batch_errors *one)
{
    sum->e2 += one->e2;
    sum->share2 = one->share2 <= sum->share2 ? sum->share2 : one->share2; /* NaN stays */
}

/* Whether this member counts group k: one between two parts is computed by both, and counted for
 * the lower of them. */
static bool counts(const cairn_batches *s, int k, int *part)
{
    const cairn_parted *by = &s->p->cut->contacts;
    int one = s->pieces.part[k][0], other = s->pieces.part[k][1];
    *part = one < other ? one : other;
    return *part >= by->first && *part < by->end;
}

/* Add up by parts, then over all parts in their order. */
static cairn_sweep sum_parts(const cairn_batches *s, const cairn_sweep *partial)
{
    const cairn_parted *by = &s->p->cut->contacts;
    cairn_sweep *parts = by->room, sum = { 0, 0 };
    for (int part = 0; part < by->parts; part++)
        parts[part] = sum;
    for (int k = 0, part; k < s->pieces.count; k++)
        if (counts(s, k, &part))
            add_sweep(&parts[part], &partial[k]);
    if (by->link)
        cairn_link_share(by->link, by->parts, parts, sizeof *parts);
    for (int part = 0; part < by->parts; part++)
        add_sweep(&sum, &parts[part]);
    return sum;
}

cairn_sweep cairn_batches_sum(const cairn_batches *s, const cairn_sweep *partial)
{
    cairn_sweep sum = { 0, 0 };
    if (s->p->cut)
        return sum_parts(s, partial);
    for (int k = 0; k <= s->pieces.count; k++)
        add_sweep(&sum, &partial[k]);
    return sum;
}

static cairn_batch_errors worst_of_parts(const cairn_batches *s, const cairn_batch_errors *partial)
{
    const cairn_parted *by = &s->p->cut->contacts;
    cairn_batch_errors *parts = by->room, sum = { 0, 0 };
    for (int part = 0; part < by->parts; part++)
        parts[part] = sum;
    for (int k = 0, part; k < s->pieces.count; k++)
        if (counts(s, k, &part))
            add_errors(&parts[part], &partial[k]);
    if (by->link)
        cairn_link_share(by->link, by->parts, parts, sizeof *parts);
    for (int part = 0; part < by->parts; part++)
        add_errors(&sum, &parts[part]);
    return sum;
}

cairn_measured cairn_batches_worst(const cairn_batches *s, const cairn_batch_errors *partial)
{
    cairn_batch_errors sum = { 0, 0 };
    if (s->p->cut)
        sum = worst_of_parts(s, partial);
    for (int k = 0; !s->p->cut && k <= s->pieces.count; k++)
        add_errors(&sum, &partial[k]);
    return (cairn_measured){ .error = sqrt(sum.e2), .share = sqrt(sum.share2) };
}
