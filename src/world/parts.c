/* parts.c - the cut of a world into parts: where parts begin and end, which bodies stay together,
 * and which member computes which part.
 *
 * The work of a body is 1, plus 2 for each contact of the last step. Part k of n ends where the sum
 * over the bodies passes k/n of the total. These are whole numbers, so all members find the same
 * cut without rounding. Parts begin at the same rows of the whole world in the next steps, until
 * one of them has 1/ROOM more work than the mean: with each new cut bodies change their members. A
 * world with joints is cut in every step, since joints may come and break. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "world/exchange.h"
#include "world/world.h"

enum { ROOM = 32 };

/* ---- parts ---------------------------------------------------------------------------------- */

cairn_status cairn_row_cut_reserve(cairn_row_cut *cut, int parts)
{
    return cairn_memory_extend((void **)&cut->first, &cut->capacity, (size_t)parts + 1,
                               sizeof *cut->first);
}

cairn_status cairn_row_cut_copy(const cairn_row_cut *from, cairn_row_cut *to)
{
    TRY(cairn_row_cut_reserve(to, from->parts));
    to->parts = from->parts;
    for (int k = 0; k < from->parts; k++)
        to->first[k] = from->first[k];
    return CAIRN_OK;
}

void cairn_row_cut_write(cairn_writer *out, const cairn_row_cut *cut)
{
    cairn_write_whole(out, cut->parts);
    for (int k = 0; k < cut->parts; k++)
        cairn_write_whole(out, cut->first[k]);
}

cairn_status cairn_row_cut_read(cairn_reader *in, cairn_row_cut *cut)
{
    int parts = (int)cairn_read_within(in, 0, CAIRN_MOST_PARTS);
    int64_t last = 0;
    if (in->failed)
        return CAIRN_BAD_INPUT;
    TRY(cairn_row_cut_reserve(cut, parts));
    for (int k = 0; k < parts; k++)
        cut->first[k] = last = cairn_read_within(in, last, INT32_MAX);
    cut->parts = parts;
    return in->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* The work of each dynamic body, in the scratch; NULL: no memory. Counted with the contacts of the
 * last step, because those of this step are not known yet. */
static int32_t *find_work(cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    const cairn_contact_store *c = &world->contacts;
    int32_t *work = cairn_arena_take(&world->scratch, (size_t)(b->count - b->held), sizeof *work);
    for (int i = 0; work && i < b->count - b->held; i++)
        work[i] = 1;
    for (int j = 0; work && j < 2 * c->count; j++)
        if (c->body[j] >= b->held)
            work[c->body[j] - b->held] += 2;
    return work;
}

/* The number of a dynamic body in the order of those of the whole world. */
static int64_t number_of(const cairn_world *world, int i)
{
    const cairn_exchange *x = &world->exchange;
    int held = world->bodies.held;
    return x->link ? x->order[held + i] - held : i;
}

void cairn_parts_name(const cairn_world *world, int begin, int end, uint16_t *part)
{
    const cairn_row_cut *cut = &world->bodies.cut;
    for (int i = begin, k = 0; i < end; i++) {
        int64_t number = number_of(world, i);
        while (k + 1 < cut->parts && cut->first[k + 1] <= number)
            k++;
        part[i] = (uint16_t)k;
    }
}

/* Own dynamic bodies that get parts. */
typedef struct cutting {
    cairn_world *world;
    int parts, begin, end;
    const int32_t *work;
    uint16_t *part;
    int64_t *sum; /* of each part */
} cutting;

/* Whether no part has much more work than the mean. */
static bool is_balanced(const cutting *c)
{
    int64_t most = 0, all = 0;
    memset(c->sum, 0, (size_t)c->parts * sizeof *c->sum);
    for (int i = c->begin; i < c->end; i++)
        c->sum[c->part[i]] += c->work[i];
    cairn_link_sums(c->world->exchange.link, c->sum, c->parts);
    for (int k = 0; k < c->parts; k++) {
        most = c->sum[k] > most ? c->sum[k] : most;
        all += c->sum[k];
    }
    return most * c->parts * ROOM <= all * (ROOM + 1);
}

/* The work of all bodies before the own ones, and of all. */
static cairn_status add_work(const cutting *c, int64_t *before, int64_t *all)
{
    cairn_link *link = c->world->exchange.link;
    int members = link ? link->members : 1, me = link ? link->member : 0;
    int64_t *sums = cairn_arena_take(&c->world->scratch, (size_t)members, sizeof *sums);
    if (!sums)
        return CAIRN_NO_MEMORY;
    *before = *all = sums[me] = 0;
    for (int i = c->begin; i < c->end; i++)
        sums[me] += c->work[i];
    if (link)
        cairn_link_share(link, members, sums, sizeof *sums);
    for (int k = 0; k < members; k++) {
        *before += k < me ? sums[k] : 0;
        *all += sums[k];
    }
    return CAIRN_OK;
}

static cairn_status bind(const cutting *c);

/* The part of a body follows from the work before it: k = floor(before n / all). Every body has
 * some work, so before < all and k < n; the clamp is a precaution. Parts begin where those before
 * them end, so counting their bodies is enough. */
static cairn_status cut_anew(const cutting *c)
{
    cairn_row_cut *cut = &c->world->bodies.cut;
    int64_t before, all, first = 0;
    TRY(add_work(c, &before, &all));
    for (int i = c->begin; i < c->end; before += c->work[i++]) {
        int64_t k = before * c->parts / all;
        c->part[i] = (uint16_t)(k < c->parts ? k : c->parts - 1);
    }
    TRY(bind(c));
    TRY(cairn_row_cut_reserve(cut, c->parts));
    memset(c->sum, 0, (size_t)c->parts * sizeof *c->sum);
    for (int i = c->begin; i < c->end; i++)
        c->sum[c->part[i]]++;
    cairn_link_sums(c->world->exchange.link, c->sum, c->parts);
    for (int k = 0; k < c->parts; first += c->sum[k++])
        cut->first[k] = first;
    cut->parts = c->parts;
    return CAIRN_OK;
}

cairn_status cairn_parts_choose(cairn_world *world, int begin, int end, bool *same)
{
    cairn_exchange *x = &world->exchange;
    int64_t *sum = cairn_arena_take(&world->scratch, (size_t)x->parts, sizeof *sum);
    const cutting c = { world, x->parts, begin, end, find_work(world), x->part, sum };
    if (!c.work || !sum)
        return CAIRN_NO_MEMORY;
    *same = world->bodies.cut.parts == x->parts && world->joints.count == 0;
    if (*same) {
        cairn_parts_name(world, begin, end, x->part);
        *same = is_balanced(&c);
    }
    return *same ? CAIRN_OK : cut_anew(&c);
}

/* ---- joints ---------------------------------------------------------------------------------- */

/* A range of rows of the whole world that stays in one part. */
typedef struct bond {
    int64_t low, high;
} bond;

/* The row in the whole world of an own body; -1: it is held, or another member has it. */
static int64_t own_row(const cairn_world *world, uint64_t uid)
{
    int row = cairn_directory_find(&world->bodies.directory, uid);
    if (row < 0 || !cairn_world_moves(world, row))
        return -1;
    return world->exchange.link ? world->exchange.order[row] : row;
}

static int compare_bonds(const void *a, const void *b)
{
    const bond *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

/* The rows that joints between two dynamic bodies span, sorted, and joined where they share a
 * row; returns their number. `rows` has the rows of both bodies of each joint, -1: held. */
static int find_bonds(const int64_t *rows, size_t joints, bond *out)
{
    int count = 0, kept = 0;
    for (size_t k = 0; k < joints; k++) {
        int64_t a = rows[2 * k], b = rows[2 * k + 1];
        if (a >= 0 && b >= 0)
            out[count++] = (bond){ a < b ? a : b, a < b ? b : a };
    }
    qsort(out, (size_t)count, sizeof *out, compare_bonds);
    for (int k = 0; k < count; k++)
        if (kept > 0 && out[k].low <= out[kept - 1].high)
            out[kept - 1].high =
                out[k].high > out[kept - 1].high ? out[k].high : out[kept - 1].high;
        else
            out[kept++] = out[k];
    return kept;
}

/* All rows of a bond get the part of its first one, which its owner tells all others. Parts still
 * rise with the rows. */
static cairn_status bind(const cutting *c)
{
    cairn_world *world = c->world;
    const cairn_exchange *x = &world->exchange;
    const cairn_joint_list *joints = &world->joints;
    int held = world->bodies.held;
    int64_t *rows = cairn_arena_take(&world->scratch, 2 * joints->count, sizeof *rows);
    bond *bonds = cairn_arena_take(&world->scratch, joints->count, sizeof *bonds);
    if (joints->count == 0)
        return CAIRN_OK;
    if (!rows || !bonds)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < joints->count; k++) {
        const cairn_joint *j = &joints->items[k];
        bool acts = j->alive && !j->broken;
        rows[2 * k] = acts ? own_row(world, j->def.a.uid) : -1;
        rows[2 * k + 1] = acts ? own_row(world, j->def.b.uid) : -1;
    }
    cairn_link_largests(x->link, rows, 2 * (int)joints->count);
    int count = find_bonds(rows, joints->count, bonds);
    int64_t *parts = rows; /* of the first row of each bond; -1: not known here */
    for (int k = 0; k < count; k++)
        parts[k] = -1;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = c->begin, k = 0; i < c->end && k < count; i++) {
            int64_t row = x->link ? x->order[held + i] : held + i;
            while (k < count && row > bonds[k].high)
                k++;
            if (k == count || row < bonds[k].low)
                continue;
            if (pass == 1)
                c->part[i] = (uint16_t)parts[k];
            else if (row == bonds[k].low)
                parts[k] = c->part[i];
        }
        if (pass == 0)
            cairn_link_largests(x->link, parts, count);
    }
    return CAIRN_OK;
}

/* One of the two bodies of a joint. */
typedef struct joint_end {
    uint64_t uid;
    size_t index; /* 2 joint + side */
} joint_end;

static int compare_ends(const void *a, const void *b)
{
    const joint_end *x = a, *y = b;
    return (x->uid > y->uid) - (x->uid < y->uid);
}

static bool lower(int64_t *x, int64_t value)
{
    bool lowers = value < *x;
    *x = lowers ? value : *x;
    return lowers;
}

/* The smallest place of a joint's bodies, and of each body's joints; whether one has changed. */
static bool lower_places(const joint_end *end, size_t ends, int64_t *place)
{
    bool changed = false;
    for (size_t i = 0; i < ends; i++) {
        size_t one = end[i].index, other = one ^ 1, next = i + 1 < ends ? end[i + 1].index : one;
        bool same = i + 1 < ends && end[i + 1].uid == end[i].uid;
        changed |= lower(&place[one], place[other]);
        changed |= lower(&place[other], place[one]);
        changed |= same && lower(&place[next], place[one]);
        changed |= same && lower(&place[one], place[next]);
    }
    return changed;
}

/* All members compute the same from the places of all joined bodies. */
cairn_status cairn_parts_gather(cairn_world *world, int first, uint64_t *place)
{
    const cairn_joint_list *joints = &world->joints;
    size_t ends = 0;
    int64_t *known = cairn_arena_take(&world->scratch, 2 * joints->count, sizeof *known);
    joint_end *end = cairn_arena_take(&world->scratch, 2 * joints->count, sizeof *end);
    TRY(cairn_exchange_agree(world, known && end ? CAIRN_OK : CAIRN_NO_MEMORY));
    for (size_t i = 0; i < 2 * joints->count; i++) {
        const cairn_joint *j = &joints->items[i / 2];
        uint64_t uid = i % 2 ? j->def.b.uid : j->def.a.uid;
        bool own = j->alive && !j->broken && own_row(world, uid) >= 0;
        int row = own ? cairn_directory_find(&world->bodies.directory, uid) : 0;
        known[i] = own ? (int64_t)place[row - first] : -1;
    }
    cairn_link_largests(world->exchange.link, known, 2 * (int)joints->count);
    for (size_t i = 0; i < 2 * joints->count; i++) {
        const cairn_joint *j = &joints->items[i / 2];
        if (known[i] >= 0 && known[i ^ 1] >= 0)
            end[ends++] = (joint_end){ i % 2 ? j->def.b.uid : j->def.a.uid, i };
    }
    qsort(end, ends, sizeof *end, compare_ends);
    while (lower_places(end, ends, known))
        continue;
    for (size_t i = 0; i < ends; i++)
        if (own_row(world, end[i].uid) >= 0)
            place[cairn_directory_find(&world->bodies.directory, end[i].uid) - first] =
                (uint64_t)known[end[i].index];
    return CAIRN_OK;
}

/* ---- spans ----------------------------------------------------------------------------------- */

/* Append the spans of rows [begin, end) of one part, of at most CAIRN_SPAN rows each; returns the
 * new number of spans. */
static int add_spans(cairn_span *span, int count, int begin, int end, int part)
{
    for (; begin < end; begin += CAIRN_SPAN) {
        int last = end - begin < CAIRN_SPAN ? end : begin + CAIRN_SPAN;
        span[count++] = (cairn_span){ begin, last, part };
    }
    return count;
}

/* Append the spans of dynamic rows: runs of rows of the same part. */
static int add_rows(const cairn_world *world, cairn_span *span, int count, int begin, int end)
{
    /* indexed by row instead of by dynamic body */
    const uint16_t *part = world->exchange.part - world->bodies.held;
    for (int i = begin, next; i < end; i = next) {
        for (next = i + 1; next < end && part[next] == part[i];)
            next++;
        count = add_spans(span, count, i, next, part[i]);
    }
    return count;
}

/* The spans of all rows: first those that this member counts, in the order of their parts, then
 * held rows and ghosts, which another member counts but which are worked on here too. Held rows,
 * which every member has, are counted once: with part 0. */
static cairn_status find_spans(cairn_world *world)
{
    cairn_exchange *x = &world->exchange;
    const cairn_body_store *b = &world->bodies;
    cairn_parted *by = &x->bodies;
    /* full spans, and for each part and each run of rows one that is not full */
    size_t most = (size_t)b->count / CAIRN_SPAN + 3 * (size_t)x->parts + 4;
    cairn_span *span = cairn_arena_take(&world->scratch, most, sizeof *span);
    int own = x->link ? x->own : b->held, end = x->link ? x->own_end : b->count;
    *by = (cairn_parted){ .parts = x->parts, .end = x->parts, .span = span, .link = x->link };
    if (x->link) {
        by->first = cairn_link_first(x->link, x->link->member, x->parts);
        by->end = cairn_link_first(x->link, x->link->member + 1, x->parts);
    }
    by->room = cairn_arena_take(&world->scratch, 1, cairn_parted_bytes(x->parts, (int)most));
    if (!span || !by->room)
        return CAIRN_NO_MEMORY;
    int count = by->first == 0 ? add_spans(span, 0, 0, b->held, 0) : 0;
    by->count = add_rows(world, span, count, own, end);
    count = by->first == 0 ? by->count : add_spans(span, by->count, 0, b->held, 0);
    count = add_rows(world, span, count, b->held, own);
    by->others = add_rows(world, span, count, end, b->count) - by->count;
    return CAIRN_OK;
}

/* The cut of a world that one process computes alone. */
static cairn_status cut_whole(cairn_world *world, int parts)
{
    cairn_exchange *x = &world->exchange;
    const cairn_body_store *b = &world->bodies;
    int rows = b->count - b->held;
    x->parts = parts > 1 && rows > 0 ? parts : 0;
    x->part = NULL;
    if (x->parts == 0)
        return CAIRN_OK;
    bool same;
    x->part = cairn_arena_take(&world->scratch, (size_t)rows, sizeof *x->part);
    if (!x->part)
        return CAIRN_NO_MEMORY;
    TRY(cairn_parts_choose(world, 0, rows, &same));
    return find_spans(world);
}

/* ---- balance -------------------------------------------------------------------------------- */

enum { WATCHED = 8 }; /* steps between two looks at the division of parts */

static double time_in_messages(const cairn_link *link)
{
    return link->traffic.sending + link->traffic.waiting;
}

/* What each member tells the others. */
typedef struct pace_note {
    double busy, moving; /* s: a step; the last move of parts */
} pace_note;

/* Seconds of each part in a step: a member's seconds are divided evenly, since its parts have the
 * same amount of work. A move takes as long as for the slowest member. */
static void spread_notes(const cairn_division *now, const pace_note *note, double *seconds,
                         double *moving)
{
    *moving = 0;
    for (int k = 0; k < now->members; k++) {
        int begin = now->bound[k], end = now->bound[k + 1];
        for (int part = begin; part < end; part++)
            seconds[part] = note[k].busy / (end - begin);
        *moving = fmax(*moving, note[k].moving);
    }
}

/* Look at the times of the last steps and divide the parts anew if that pays. All members have the
 * same numbers and decide the same; true: parts move. */
static cairn_status divide_parts(cairn_world *world, int parts, bool *moves)
{
    cairn_exchange *x = &world->exchange;
    cairn_pace *pace = &x->pace;
    size_t members = (size_t)x->link->members;
    pace_note *note = cairn_arena_take(&world->scratch, members, sizeof *note);
    double *seconds = cairn_arena_take(&world->scratch, (size_t)parts, sizeof *seconds);
    int *now = cairn_arena_take(&world->scratch, members + 1, sizeof *now);
    int *better = cairn_arena_take(&world->scratch, members + 1, sizeof *better);
    if (!pace->bound)
        pace->bound = cairn_memory_zeroed(members + 1, sizeof *pace->bound);
    if (!note || !seconds || !now || !better || !pace->bound)
        return CAIRN_NO_MEMORY;
    note[x->link->member] = (pace_note){ pace->busy / pace->steps, pace->balance.moving };
    cairn_link_share(x->link, (int)members, note, sizeof *note);
    for (int k = 0; k <= (int)members; k++)
        now[k] = cairn_link_first(x->link, k, parts);
    const cairn_division division = { seconds, parts, (int)members, now };
    spread_notes(&division, note, seconds, &pace->balance.moving);
    *moves = x->link->status == CAIRN_OK &&
             cairn_balance_moves(&pace->balance, &division, pace->steps, better);
    if (!*moves)
        return CAIRN_OK;
    memcpy(pace->bound, better, (members + 1) * sizeof *better);
    x->link->bound = pace->bound;
    x->link->parts = parts;
    return CAIRN_OK;
}

/* Before a step: note how long this member has computed since the last arrangement. The first one,
 * which brings all bodies to their members, tells how long moving takes. */
static cairn_status watch(cairn_world *world, int parts, bool *moves)
{
    cairn_exchange *x = &world->exchange;
    cairn_pace *pace = &x->pace;
    *moves = !pace->begun;
    if (!pace->begun)
        return CAIRN_OK;
    pace->busy += pace->clock() - pace->at - (time_in_messages(x->link) - pace->apart);
    pace->steps++;
    /* with one part each there is nothing to divide */
    if (pace->steps < WATCHED || parts == x->link->members)
        return CAIRN_OK;
    cairn_status status = divide_parts(world, parts, moves);
    pace->busy = 0;
    pace->steps = 0;
    return status;
}

/* The parts of own bodies. *same: no body changes its part. */
static cairn_status choose_parts(cairn_world *world, int parts, bool *same)
{
    cairn_exchange *x = &world->exchange;
    int held = world->bodies.held;
    x->parts = parts;
    x->part =
        cairn_arena_take(&world->scratch, (size_t)(world->bodies.count - held), sizeof *x->part);
    return x->part ? cairn_parts_choose(world, x->own - held, x->own_end - held, same)
                   : CAIRN_NO_MEMORY;
}

/* Move bodies to the members that have their parts, unless all can stay. If parts move as well,
 * note how long it takes. */
static cairn_status arrange_members(cairn_world *world, const cairn_step_options *options)
{
    cairn_exchange *x = &world->exchange;
    cairn_pace *pace = &x->pace;
    bool moves, same, done = false;
    cairn_status status = watch(world, (int)options->parts, &moves);
    double start = pace->clock();
    if (status == CAIRN_OK)
        status = choose_parts(world, (int)options->parts, &same);
    if (status == CAIRN_OK && same && !moves)
        status = cairn_exchange_stay(world, options, &done);
    if (status != CAIRN_OK)
        return cairn_exchange_agree(world, status);
    if (!done)
        TRY(cairn_exchange_move(world, options, (int)options->parts, NULL));
    pace->begun = true;
    pace->at = pace->clock();
    pace->apart = time_in_messages(x->link);
    pace->balance.moving = moves ? pace->at - start : pace->balance.moving;
    return CAIRN_OK;
}

cairn_status cairn_exchange_arrange(cairn_world *world, const cairn_step_options *options)
{
    cairn_exchange *x = &world->exchange;
    if (!x->link)
        return cut_whole(world, (int)options->parts);
    x->generosity = fmax(1, 0.98 * x->generosity); /* one fast body is not for ever */
    TRY(arrange_members(world, options));
    return find_spans(world);
}
