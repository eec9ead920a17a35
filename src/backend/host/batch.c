/* batch.c - cutting the contacts of a problem into batches: of balls, or of any bodies.
 *
 * They are filled through a window of open ones, and a contact goes into the first in which neither
 * of its bodies is. Batches of balls are filled and closed in their order, and neighbours share no
 * body either: a sweep begins the next one before it has ended the last (batch_sweep.h). So a group
 * of them is an even number of batches and an empty one, which is begun and never ended.
 *
 * Groups of different slabs run side by side. The slabs and groups depend on the problem alone. */
#include "backend/host/batch.h"

#include <string.h>

#include "base/status.h"
#include "problem/operator.h"
#include "problem/segments.h"

/* ---- batches -------------------------------------------------------------------------------- */

enum {
    WINDOW = 64,
    GENERAL_WINDOW = 32,
    WORTH_SLABS = 8192, /* contacts with friction: fewer are one slab */
    MANY_SLABS = 32768, /* fewer are four                             */
    WORTH_GROUP = 64,   /* contacts between two slabs: fewer go last  */
};

/* The slots of the window hold batches. Those of balls stand there in their order, as in a ring:
 * from slot `oldest` on the open ones, before it the last that was closed, whose bodies count. */
typedef struct filling {
    cairn_batches *s;
    uint64_t *used;    /* of each block: slots of the window that hold it             */
    int batch[WINDOW]; /* in each slot; -1: none                                      */
    int held[WINDOW];  /* contacts in them                                            */
    uint64_t shut;     /* slots with batches that are full or closed                  */
    int oldest;        /* slot                                                        */
    int most;          /* batches that there is room for                              */
    bool full;         /* it was not enough                                           */
    int32_t *order;    /* the contacts in the order of their blocks, then by groups   */
    int ordered;       /* how many; rows with bounds are not among them               */
    uint16_t *slab;    /* of each block                                               */
    int *end;          /* of each group in `order`                                    */
    int now;           /* the group being filled                                      */
    int32_t *group;    /* of contacts between two slabs or within one: slabs x slabs     */
} filling;

/* Walls and padding have records after those of the blocks, of their own in each slab. */
static int wall_record(const filling *f)
{
    const cairn_pieces *pieces = &f->s->pieces;
    int slab = f->now < pieces->count ? pieces->part[f->now][0] : 0;
    return f->s->p->blocks + CAIRN_WALL_RECORDS * slab;
}

static int ghost_record(const filling *f)
{
    return wall_record(f) + 1;
}

static uint64_t bit_of(int slot)
{
    return UINT64_C(1) << slot;
}

static int slot_at(int place)
{
    return place & (WINDOW - 1);
}

static uint64_t turned(uint64_t bits, int by)
{
    return bits << slot_at(by) | bits >> slot_at(-by);
}

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

/* The bodies of the batch that was there may meet again. */
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

static void close_oldest(filling *f)
{
    f->shut |= bit_of(f->oldest);
    reopen(f, slot_at(f->oldest - 1));
    f->oldest = slot_at(f->oldest + 1);
}

static uint64_t used_by(const filling *f, int block)
{
    return block < 0 ? 0 : f->used[block];
}

/* Slots that may not have a contact of these blocks. */
static uint64_t taken_by(const filling *f, const int32_t block[2])
{
    uint64_t held = used_by(f, block[0]) | used_by(f, block[1]);
    if (!f->s->general)
        held |= turned(held, 1) | turned(held, -1);
    return held | f->shut;
}

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

/* Those that the problem asks for, or a power of two from its size. Where cores pass cache lines to
 * each other slowly, slabs of fewer contacts make two threads slower than one; a contact without
 * friction takes less than half as long. */
static int slabs_for(const cairn_batches *s)
{
    int work = s->p->contacts / (s->smooth ? 2 : 1), asked = s->p->parts;
    if (asked > 0)
        return asked < s->p->blocks ? asked : s->p->blocks;
    return work < WORTH_SLABS ? 1 : work < MANY_SLABS ? 4 : 8;
}

static int lower_block(const cairn_problem *p, int j)
{
    int a = p->block[2 * j], b = p->block[2 * j + 1];
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* The blocks of a contact; twice the same where the other side is a wall. */
static void find_blocks(const cairn_problem *p, int j, int32_t out[2])
{
    const int32_t *block = p->block + 2 * (size_t)j;
    out[0] = block[0] < 0 ? block[1] : block[0];
    out[1] = block[1] < 0 ? block[0] : block[1];
}

/* The work of a block in a sweep: a contact takes as long as four bodies, half for each of its
 * blocks. */
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

/* Slabs are ranges of blocks with about as much work each. */
static cairn_status cut_slabs(filling *f, cairn_arena *arena)
{
    cairn_batches *s = f->s;
    int blocks = s->p->blocks;
    int64_t before = 0, all = 0;
    int32_t *work = cairn_arena_take(arena, (size_t)blocks, sizeof *work);
    f->slab = cairn_arena_take(arena, (size_t)blocks, sizeof *f->slab);
    if (!work || !f->slab)
        return CAIRN_NO_MEMORY;
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

/* Contacts by the lower of their blocks, then by number: neighbours in space where the numbering of
 * the blocks follows space, whatever order they came in. */
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

enum { NEIGHBOURS = 512 };

/* Contacts in the order of their lower blocks, and of each block where its own end. */
typedef struct runs {
    const int32_t *order;
    int32_t *end;
} runs;

static cairn_status find_runs(const filling *f, cairn_arena *arena, runs *out)
{
    const cairn_problem *p = f->s->p;
    *out = (runs){ f->order, cairn_arena_take(arena, (size_t)p->blocks, sizeof *out->end) };
    if (!out->end)
        return CAIRN_NO_MEMORY;
    for (int i = 0, k = 0; i < p->blocks; i++) {
        while (k < f->ordered && lower_block(p, f->order[k]) == i)
            k++;
        out->end[i] = k;
    }
    return CAIRN_OK;
}

/* The `round`th contact of each of the blocks [begin, end) that has one; returns how many. */
static int take_round(const runs *from, int begin, int end, int round, int32_t *turns)
{
    int count = 0;
    for (int i = begin; i < end; i++) {
        int at = (i > 0 ? from->end[i - 1] : 0) + round;
        if (at < from->end[i])
            turns[count++] = from->order[at];
    }
    return count;
}

/* Where the blocks that take turns with `begin` end: the next slab or the next 512. */
static int end_of_neighbours(const filling *f, int begin)
{
    int end = (begin / NEIGHBOURS + 1) * NEIGHBOURS, slab_end = f->s->first[f->slab[begin] + 1];
    return end < slab_end ? end : slab_end;
}

/* Bodies that are no balls have many contacts, several with each neighbour, and these stand
 * together in the order of blocks: batches would stay almost empty. Among each 512 blocks of a slab
 * they take turns: first the first contact of each block, then the second ones, and so on. */
static cairn_status take_turns(filling *f, cairn_arena *arena)
{
    int32_t *turns = cairn_arena_take(arena, (size_t)f->ordered, sizeof *turns);
    int count = 0;
    runs all;
    if (!turns)
        return CAIRN_NO_MEMORY;
    TRY(find_runs(f, arena, &all));
    for (int begin = 0, end; begin < f->s->p->blocks; begin = end) {
        end = end_of_neighbours(f, begin);
        for (int round = 0; count < all.end[end - 1]; round++)
            count += take_round(&all, begin, end, round, turns + count);
    }
    f->order = turns;
    return CAIRN_OK;
}

/* ---- groups --------------------------------------------------------------------------------- */

static int group_of(const filling *f, int j)
{
    int32_t block[2];
    find_blocks(f->s->p, j, block);
    return f->group[f->slab[block[0]] * f->s->slabs + f->slab[block[1]]];
}

/* The power of two that is not below n. */
static int rounds_for(int n)
{
    int rounds = 1;
    while (rounds < n)
        rounds *= 2;
    return rounds;
}

/* Slabs are groups, and so are two with enough contacts between them: in round k slab i with slab
 * i ^ k, so that no slab waits for another in a round. The contacts that are left are the last
 * group, which is no piece and runs alone. */
static void choose_groups(filling *f, const int *between)
{
    cairn_pieces *pieces = &f->s->pieces;
    int slabs = f->s->slabs;
    memset(f->group, -1, (size_t)(slabs * slabs) * sizeof *f->group);
    for (int round = 0; round < rounds_for(slabs); round++)
        for (int i = 0; i < slabs; i++) {
            int other = i ^ round;
            if (other < i || other >= slabs)
                continue;
            int met = between[i * slabs + other] + between[other * slabs + i];
            if (round > 0 && met < WORTH_GROUP)
                continue;
            f->group[i * slabs + other] = f->group[other * slabs + i] = pieces->count;
            cairn_pieces_add(pieces, i, other);
        }
    for (int i = 0; i < slabs * slabs; i++)
        if (f->group[i] < 0)
            f->group[i] = pieces->count;
}

/* How many contacts there are between each two slabs, and within each. */
static void count_between(const filling *f, int *between)
{
    int slabs = f->s->slabs;
    memset(between, 0, (size_t)(slabs * slabs) * sizeof *between);
    between[0] = slabs == 1 ? f->ordered : 0;
    for (int k = 0; k < f->ordered && slabs > 1; k++) {
        int32_t block[2];
        find_blocks(f->s->p, f->order[k], block);
        between[f->slab[block[0]] * slabs + f->slab[block[1]]]++;
    }
}

/* Groups that there can be: a piece between two slabs has WORTH_GROUP contacts at least. */
static int most_groups(const cairn_batches *s)
{
    int64_t all = (int64_t)s->slabs * (s->slabs + 1) / 2;
    int64_t filled = s->slabs + s->p->contacts / WORTH_GROUP;
    return 1 + (int)(all < filled ? all : filled);
}

/* The contacts group by group, in each in their order. */
static cairn_status group_contacts(filling *f, cairn_arena *arena)
{
    size_t pairs = (size_t)f->s->slabs * (size_t)f->s->slabs;
    int groups = most_groups(f->s);
    int *between = cairn_arena_take(arena, pairs, sizeof *between);
    int *next = cairn_arena_take(arena, (size_t)groups + 1, sizeof *next);
    int32_t *grouped = cairn_arena_take(arena, (size_t)f->ordered, sizeof *grouped);
    f->group = cairn_arena_take(arena, pairs, sizeof *f->group);
    if (!between || !next || !grouped || !f->group)
        return CAIRN_NO_MEMORY;
    count_between(f, between);
    choose_groups(f, between);
    memset(next, 0, ((size_t)groups + 1) * sizeof *next);
    for (size_t i = 0; i < pairs; i++)
        next[f->group[i] + 1] += between[i];
    for (int g = 0; g < groups; g++)
        next[g + 1] += next[g];
    for (int k = 0; k < f->ordered; k++)
        grouped[next[group_of(f, f->order[k])]++] = f->order[k];
    f->end = next;
    f->order = grouped;
    return CAIRN_OK;
}

/* Of balls the last slot, before the oldest one in the ring, waits for it to be closed. */
static void open_window(filling *f, int group)
{
    int slots = f->s->general ? GENERAL_WINDOW : WINDOW - 1;
    f->now = group;
    f->oldest = 0;
    f->shut = UINT64_MAX;
    for (int k = 0; k < slots; k++)
        open_batch(f, k);
}

static void fill_group(filling *f, int group)
{
    open_window(f, group);
    for (int k = group > 0 ? f->end[group - 1] : 0; k < f->end[group] && !f->full; k++)
        place(f, f->order[k]);
    for (int slot = 0; slot < WINDOW; slot++)
        release(f, slot);
}

/* Open batches that hold nothing are taken back. */
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

/* Of balls only those at the end, so that none become neighbours; then an even number and one. */
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

/* Not filled: some body has so many contacts that batches stay half empty. */
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
    s->usable = !f->full;
}

static cairn_status fill_batches(cairn_batches *s, cairn_arena *arena, int most)
{
    filling f = { .s = s, .most = most };
    f.used = cairn_arena_take(arena, (size_t)s->p->blocks, sizeof *f.used);
    if (!f.used)
        return CAIRN_NO_MEMORY;
    TRY(cut_slabs(&f, arena));
    TRY(order_contacts(&f, arena));
    if (s->general)
        TRY(take_turns(&f, arena));
    TRY(group_contacts(&f, arena));
    fill_groups(&f);
    return CAIRN_OK;
}

/* Room for the batches of the contacts, and the filling. */
static cairn_status make_batches(cairn_batches *s, cairn_arena *arena)
{
    s->smooth = !cairn_problem_has_friction(s->p);
    s->slabs = slabs_for(s);
    int most = s->p->contacts / (CAIRN_BATCH / 2) + WINDOW * (s->slabs + 1);
    size_t lanes = (size_t)most * CAIRN_BATCH;
    int groups = most_groups(s);
    void *room = cairn_arena_take(arena, 1, cairn_pieces_bytes(s->slabs, groups));
    s->contact = cairn_arena_take(arena, lanes, sizeof *s->contact);
    s->bodies = cairn_arena_take(arena, 2 * lanes, sizeof *s->bodies);
    s->first = cairn_arena_take(arena, (size_t)s->slabs + 1, sizeof *s->first);
    s->start = cairn_arena_take(arena, (size_t)groups + 1, sizeof *s->start);
    if (!room || !s->contact || !s->bodies || !s->first || !s->start)
        return CAIRN_NO_MEMORY;
    cairn_pieces_start(&s->pieces, s->slabs, groups, room);
    cairn_arena_moment before = cairn_arena_now(arena);
    TRY(fill_batches(s, arena, most));
    cairn_arena_return(arena, before);
    return CAIRN_OK;
}

/* Whether the linear parts of the rows of a contact are opposite, and masses the same in all
 * directions. */
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

/* Contacts of balls are even by what they are, lone ones are in no batch. */
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
    bool solid = (space || plane) && !p->directions && !p->W && p->rolling + p->spinning == 0;
    if (!solid || p->blocks == 0 || p->contacts < CAIRN_WORTH_BATCHES)
        return CAIRN_OK;
    return is_between_bodies(p) ? make_batches(out, arena) : CAIRN_OK;
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
    bool known = cairn_problem_is_all(p, CAIRN_KIND_BALLS);
    if (p->W || !balls || p->blocks == 0 ||
        (!known && !cairn_problem_is_all(p, CAIRN_KIND_GENERAL)))
        return CAIRN_OK;
    TRY(cairn_batches_find_balls(out, known, arena, &balls));
    if (!balls)
        return CAIRN_OK;
    return make_batches(out, arena);
}
