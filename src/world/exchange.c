/* exchange.c - a world in parts: the cut into parts, sums by parts, and what members exchange in a
 * step. migrate.c moves bodies from one member to another.
 *
 * The work of a body is 1, plus 2 for each contact of the last step. Part k of n ends where the sum
 * over the bodies passes k/n of the total. These are whole numbers, so all members find the same
 * cut without rounding. */
#include "world/exchange.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "world/world.h"

/* ---- joining --------------------------------------------------------------------------------- */

void cairn_exchange_keep_contacts(cairn_world *world, const int32_t *holder)
{
    cairn_contact_store *c = &world->contacts;
    int me = world->exchange.link->member;
    /* indexed by row instead of by dynamic body */
    const int32_t *of = holder - world->bodies.held;
    int held = world->bodies.held, kept = 0;
    for (int j = 0; j < c->count; j++) {
        const int32_t *body = c->body + 2 * (size_t)j;
        bool here =
            (body[0] >= held && of[body[0]] == me) || (body[1] >= held && of[body[1]] == me);
        if (here && kept < j)
            cairn_contacts_copy(c, j, c, kept, world->dimension);
        kept += here;
    }
    c->count = kept;
}

/* The first row of a member when a whole world is shared evenly by the number of bodies. */
static int first_row(const cairn_world *world, int member)
{
    const cairn_body_store *b = &world->bodies;
    return b->held + cairn_link_even(world->exchange.link, member, b->count - b->held);
}

/* Rows [begin, end) as the rows that a neighbour knows as ghosts. */
static cairn_status list_rows(cairn_neighbour *to, int begin, int end)
{
    TRY(cairn_memory_extend((void **)&to->out, &to->capacity, (size_t)(end - begin) + 1,
                            sizeof *to->out));
    to->outs = end - begin;
    for (int i = begin; i < end; i++)
        to->out[i - begin] = i;
    return CAIRN_OK;
}

/* At first each member knows all bodies: the rows are shared evenly, and every body of another
 * member is a ghost. The first arrangement (cairn_exchange_move) then balances the work and drops
 * ghosts that are far away. */
cairn_status cairn_world_join(cairn_world *world, cairn_link *link)
{
    cairn_exchange *x = &world->exchange;
    const cairn_body_store *b = &world->bodies;
    if (x->making)
        return cairn_making_join(world, link);
    cairn_world_name_rows(world);
    *x = (cairn_exchange){
        .link = link, .generosity = 1, .all = b->count, .pace.clock = cairn_clock_seconds
    };
    size_t members = (size_t)link->members;
    x->neighbour = cairn_memory_zeroed(members, sizeof *x->neighbour);
    int32_t *holder = cairn_memory_zeroed((size_t)b->count + 1, sizeof *holder);
    /* no TRY from here on: the list of holders is temporary and must be freed at the end */
    cairn_status status = x->neighbour && holder ? CAIRN_OK : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = cairn_memory_extend((void **)&x->order, &x->capacity, (size_t)b->count + 1,
                                     sizeof *x->order);
    for (int i = 0; status == CAIRN_OK && i < b->count; i++)
        x->order[i] = i;
    for (int k = 0; status == CAIRN_OK && k < link->members; k++) {
        int begin = first_row(world, k), end = first_row(world, k + 1);
        x->neighbour[k].in = begin;
        x->neighbour[k].in_end = end;
        for (int i = begin; i < end; i++)
            holder[i - b->held] = k;
    }
    x->own = first_row(world, link->member);
    x->own_end = first_row(world, link->member + 1);
    for (int k = 0; status == CAIRN_OK && k < link->members; k++)
        status = list_rows(&x->neighbour[k], x->own, x->own_end);
    if (status == CAIRN_OK)
        cairn_exchange_keep_contacts(world, holder);
    cairn_memory_free(holder);
    return cairn_exchange_agree(world, status);
}

/* ---- parts ---------------------------------------------------------------------------------- */

/* Counted with the contacts of the last step, because those of this step are not known yet. */
int32_t *cairn_parts_work(cairn_world *world)
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

/* The part of a body follows from the work before it: k = floor(before n / all). Every body has
 * some work, so before < all and k < n; the clamp is a precaution. */
void cairn_parts_cut(const int32_t *work, int begin, int end, cairn_share share, uint16_t *part)
{
    for (int i = begin; i < end; share.before += work[i++]) {
        int64_t k = share.before * share.parts / share.all;
        part[i] = (uint16_t)(k < share.parts ? k : share.parts - 1);
    }
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
cairn_status cairn_parts_bind(cairn_world *world, int begin, int end, uint16_t *part)
{
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
        for (int i = begin, k = 0; i < end && k < count; i++) {
            int64_t row = x->link ? x->order[held + i] : held + i;
            while (k < count && row > bonds[k].high)
                k++;
            if (k == count || row < bonds[k].low)
                continue;
            if (pass == 1)
                part[i] = (uint16_t)parts[k];
            else if (row == bonds[k].low)
                parts[k] = part[i];
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
    int64_t all = 0;
    const int32_t *work = cairn_parts_work(world);
    x->part = cairn_arena_take(&world->scratch, (size_t)rows, sizeof *x->part);
    if (!work || !x->part)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < rows; i++)
        all += work[i];
    cairn_parts_cut(work, 0, rows, (cairn_share){ 0, all, parts }, x->part);
    TRY(cairn_parts_bind(world, 0, rows, x->part));
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

/* Move bodies to the members that have their parts. If parts move as well, note how long it
 * takes. */
static cairn_status arrange_members(cairn_world *world, const cairn_step_options *options)
{
    cairn_exchange *x = &world->exchange;
    cairn_pace *pace = &x->pace;
    bool moves;
    cairn_status status = watch(world, (int)options->parts, &moves);
    if (status != CAIRN_OK)
        return cairn_exchange_agree(world, status);
    double start = pace->clock();
    TRY(cairn_exchange_move(world, options, (int)options->parts, NULL));
    pace->begun = true;
    pace->at = pace->clock();
    pace->apart = time_in_messages(x->link);
    pace->balance.moving = moves ? pace->at - start : pace->balance.moving;
    return CAIRN_OK;
}

/* ---- making and leaving ---------------------------------------------------------------------- */

void cairn_exchange_release(cairn_exchange *x)
{
    cairn_making_release(x);
    for (int k = 0; x->neighbour && k < x->link->members; k++)
        cairn_memory_free(x->neighbour[k].out);
    cairn_memory_free(x->neighbour);
    cairn_memory_free(x->order);
    if (x->pace.bound)
        x->link->bound = NULL;
    cairn_memory_free(x->pace.bound);
    *x = (cairn_exchange){ 0 };
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

cairn_status cairn_exchange_sort(cairn_world *world, const cairn_step_options *options,
                                 const uint64_t *place)
{
    return cairn_exchange_move(world, options, world->exchange.link->members, place);
}

/* ---- worlds made in shares ------------------------------------------------------------------- */

void cairn_making_release(cairn_exchange *x)
{
    if (x->making)
        cairn_memory_free(x->making->line);
    cairn_memory_free(x->making);
    x->making = NULL;
}

/* Put a body behind all others; there is memory for it. */
static void line_up(cairn_making *m, uint64_t uid)
{
    cairn_stretch *last = m->last > m->first ? &m->line[m->last - 1] : NULL;
    if (last && last->uid + (uint64_t)last->count == uid)
        last->count++;
    else
        m->line[m->last++] = (cairn_stretch){ uid, 1 };
}

/* A new held body takes the row of the first dynamic one, which goes to the end (bodies.c). */
static void make_way(cairn_making *m)
{
    if (m->first == m->last)
        return;
    cairn_stretch *front = &m->line[m->first];
    uint64_t uid = front->uid++;
    m->first += --front->count == 0;
    line_up(m, uid);
}

cairn_world_part cairn_world_own(const cairn_world *world)
{
    const cairn_exchange *x = &world->exchange;
    if (!x->link)
        return (cairn_world_part){ world->bodies.held, world->bodies.count, NULL };
    return (cairn_world_part){ x->own, x->own_end, x->order };
}

int64_t cairn_world_body_count(const cairn_world *world)
{
    const cairn_exchange *x = &world->exchange;
    if (x->making)
        return world->bodies.held + x->making->count;
    return x->link ? x->all : world->bodies.count;
}

cairn_status cairn_world_share(cairn_world *world, int64_t begin, int64_t end)
{
    cairn_exchange *x = &world->exchange;
    const cairn_body_store *b = &world->bodies;
    if (x->link || x->making)
        return CAIRN_UNSUPPORTED;
    cairn_making *m = cairn_memory_zeroed(1, sizeof *m);
    if (!m)
        return CAIRN_NO_MEMORY;
    x->making = m;
    *m = (cairn_making){ .begin = begin, .end = end, .count = b->count - b->held };
    m->common = m->count;
    TRY(cairn_memory_reserve((void **)&m->line, &m->capacity, (size_t)m->common + 1,
                             sizeof *m->line));
    for (int i = b->held; i < b->count; i++)
        line_up(m, b->uid[i]);
    return CAIRN_OK;
}

/* Dynamic bodies that this member keeps among the first `count` that were created. */
static int64_t kept_of(const cairn_making *m, int64_t count)
{
    int64_t from = m->begin > m->common ? m->begin : m->common;
    int64_t to = count < m->end ? count : m->end;
    return (count < m->common ? count : m->common) + (to > from ? to - from : 0);
}

/* A stretch with the row of its first body in the whole world. */
typedef struct placed {
    cairn_stretch of;
    int64_t row;
} placed;

static int compare_placed(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    return (x->of.uid > y->of.uid) - (x->of.uid < y->of.uid);
}

/* The rows of own bodies and ghosts in the whole world. Both lists rise with the uid. */
static cairn_status find_orders(cairn_world *world, const cairn_making *m)
{
    cairn_exchange *x = &world->exchange;
    const cairn_body_store *b = &world->bodies;
    size_t count = m->last - m->first;
    placed *list = cairn_arena_take(&world->scratch, count + 1, sizeof *list);
    if (!list)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < count; k++)
        list[k] = (placed){ m->line[m->first + k],
                            k == 0 ? b->held : list[k - 1].row + list[k - 1].of.count };
    qsort(list, count, sizeof *list, compare_placed);
    for (size_t k = 1; k < count; k++)
        x->disordered = x->disordered || list[k].row < list[k - 1].row;
    size_t k = 0;
    for (int i = 0; i < b->count; i++) {
        while (i >= b->held && b->uid[i] >= list[k].of.uid + (uint64_t)list[k].of.count)
            k++;
        x->order[i] = i < b->held ? i : list[k].row + (int64_t)(b->uid[i] - list[k].of.uid);
    }
    return CAIRN_OK;
}

/* The dynamic rows by uid, that is in the order of creation: ghosts of lower members, own bodies,
 * ghosts of higher members. */
static cairn_status sort_by_uid(cairn_world *world)
{
    const cairn_body_store *b = &world->bodies;
    size_t rows = (size_t)(b->count - b->held);
    uint64_t *place = cairn_arena_take(&world->scratch, rows + 1, sizeof *place);
    bool sorted = true;
    if (!place)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < rows; i++) {
        place[i] = b->uid[(size_t)b->held + i];
        sorted = sorted && (i == 0 || place[i] > place[i - 1]);
    }
    return sorted ? CAIRN_OK : cairn_world_sort_rows(world, place);
}

/* Bodies that all members keep belong to one of them by the order of creation, as all others do,
 * and are ghosts of the others. */
static cairn_status find_borders(cairn_world *world, const cairn_making *m)
{
    cairn_exchange *x = &world->exchange;
    int held = world->bodies.held, me = x->link->member;
    for (int k = 0; k < x->link->members; k++) {
        cairn_neighbour *n = &x->neighbour[k];
        int64_t begin = cairn_link_even(x->link, k, (int)m->count);
        int64_t end = cairn_link_even(x->link, k + 1, (int)m->count);
        n->in = held + (int)kept_of(m, begin);
        n->in_end = held + (int)kept_of(m, end);
    }
    x->own = x->neighbour[me].in;
    x->own_end = x->neighbour[me].in_end;
    int64_t shown = m->common < m->end ? m->common : m->end;
    int outs = shown > m->begin ? (int)(shown - m->begin) : 0;
    for (int k = 0; k < x->link->members; k++) {
        cairn_neighbour *n = &x->neighbour[k];
        TRY(cairn_memory_extend((void **)&n->out, &n->capacity, (size_t)outs + 1, sizeof *n->out));
        for (n->outs = 0; n->outs < outs; n->outs++)
            n->out[n->outs] = x->own + n->outs;
    }
    return CAIRN_OK;
}

static cairn_status arrange_shares(cairn_world *world, const cairn_making *m)
{
    cairn_exchange *x = &world->exchange;
    size_t rows = (size_t)world->bodies.count;
    int me = x->link->member, all = (int)m->count;
    if (m->count > INT32_MAX || m->begin != cairn_link_even(x->link, me, all) ||
        m->end != cairn_link_even(x->link, me + 1, all))
        return cairn_fail(&world->error, CAIRN_BAD_INPUT, NULL,
                          "the members have not made equal shares of the same bodies");
    x->neighbour = cairn_memory_zeroed((size_t)x->link->members, sizeof *x->neighbour);
    if (!x->neighbour)
        return CAIRN_NO_MEMORY;
    TRY(cairn_memory_extend((void **)&x->order, &x->capacity, rows + 1, sizeof *x->order));
    cairn_arena_reset(&world->scratch);
    TRY(sort_by_uid(world));
    cairn_world_name_rows(world);
    TRY(find_orders(world, m));
    return find_borders(world, m);
}

/* Held bodies that were created after dynamic ones have changed the order of rows; then bodies go
 * to the members that have these rows. */
cairn_status cairn_making_join(cairn_world *world, cairn_link *link)
{
    cairn_exchange *x = &world->exchange;
    cairn_making *m = x->making;
    const cairn_step_options options = cairn_step_options_default();
    *x = (cairn_exchange){ .link = link,
                           .generosity = 1,
                           .all = world->bodies.held + m->count,
                           .pace.clock = cairn_clock_seconds };
    cairn_status status = arrange_shares(world, m);
    x->making = m;
    cairn_making_release(x);
    TRY(cairn_exchange_agree(world, status));
    return cairn_exchange_restore(world, &options);
}

/* ---- bodies that come and go ----------------------------------------------------------------- */

cairn_status cairn_exchange_reserve(cairn_exchange *x, size_t rows)
{
    cairn_making *m = x->making;
    if (m)
        return cairn_memory_extend((void **)&m->line, &m->capacity, m->last + 1, sizeof *m->line);
    return x->link
               ? cairn_memory_extend((void **)&x->order, &x->capacity, rows + 1, sizeof *x->order)
               : CAIRN_OK;
}

/* The last member has no ghosts of higher ones, so that its last row is its own. */
void cairn_exchange_added(cairn_world *world, int row, bool held)
{
    cairn_exchange *x = &world->exchange;
    if (x->making && held)
        make_way(x->making);
    else if (x->making) {
        line_up(x->making, world->bodies.next_uid);
        x->making->count++;
    }
    if (x->link && row >= 0) {
        x->order[row] = x->all;
        x->own_end = row + 1;
    }
    x->all++;
}

/* Only its owner answers; for all others the numbers are -1. */
bool cairn_exchange_find(const cairn_world *world, uint64_t uid, int64_t *order, int32_t *shape)
{
    const cairn_exchange *x = &world->exchange;
    int row = cairn_directory_find(&world->bodies.directory, uid);
    bool own = row >= x->own && row < x->own_end;
    *order = (int64_t)cairn_link_largest(x->link, own ? (double)x->order[row] : -1);
    *shape = (int32_t)cairn_link_largest(x->link, own ? world->bodies.shape[row] : -1);
    return *order >= 0;
}

/* A border after the row was removed, and those after it have moved up by one. */
static void remove_row(cairn_neighbour *n, int row)
{
    int kept = 0;
    for (int i = 0; i < n->outs; i++)
        if (n->out[i] != row)
            n->out[kept++] = n->out[i] - (n->out[i] > row);
    n->outs = kept;
    n->in -= n->in > row;
    n->in_end -= n->in_end > row;
}

void cairn_exchange_removed(cairn_world *world, int64_t order, int row)
{
    cairn_exchange *x = &world->exchange;
    int rows = world->bodies.count;
    if (row >= 0) {
        memmove(x->order + row, x->order + row + 1, (size_t)(rows - row) * sizeof *x->order);
        for (int k = 0; k < x->link->members; k++)
            remove_row(&x->neighbour[k], row);
        x->own -= x->own > row;
        x->own_end -= x->own_end > row;
    }
    x->all--;
    for (int i = world->bodies.held; i < rows; i++)
        if (x->order[i] == x->all)
            x->order[i] = order;
    x->disordered = x->disordered || order < x->all;
}

cairn_status cairn_exchange_restore(cairn_world *world, const cairn_step_options *options)
{
    cairn_exchange *x = &world->exchange;
    if (!x->link)
        return CAIRN_OK;
    cairn_world_name_rows(world); /* contacts travel with their bodies, by rows */
    if (!x->disordered)
        return CAIRN_OK;
    size_t own = (size_t)(x->own_end - x->own);
    uint64_t *place = cairn_arena_take(&world->scratch, own, sizeof *place);
    for (size_t i = 0; place && i < own; i++)
        place[i] = (uint64_t)x->order[(size_t)x->own + i];
    TRY(cairn_exchange_agree(world, place ? CAIRN_OK : CAIRN_NO_MEMORY));
    TRY(cairn_exchange_sort(world, options, place));
    x->disordered = false;
    return CAIRN_OK;
}

/* ---- in a step ------------------------------------------------------------------------------ */

/* All messages are sent before the first one is received: messages are buffered, so no two members
 * wait for each other. Both members know whether there are ghosts between them. */
void cairn_exchange_fetch(const cairn_world *world, void *rows, size_t size)
{
    const cairn_exchange *x = &world->exchange;
    char *at = rows;
    for (int k = 0; x->link && k < x->link->members; k++) {
        const cairn_neighbour *n = &x->neighbour[k];
        cairn_writer message = { 0 };
        if (k == x->link->member || n->outs == 0)
            continue;
        for (int i = 0; i < n->outs; i++)
            cairn_write_raw(&message, at + (size_t)n->out[i] * size, size);
        if (message.failed)
            x->link->status = CAIRN_NO_MEMORY;
        cairn_link_send(x->link, k, message.data, message.size);
        cairn_writer_destroy(&message);
    }
    for (int k = 0; x->link && k < x->link->members; k++) {
        const cairn_neighbour *n = &x->neighbour[k];
        if (k != x->link->member && n->in_end > n->in)
            cairn_link_receive_into(x->link, k, at + (size_t)n->in * size,
                                    (size_t)(n->in_end - n->in) * size);
    }
}

/* The factor is kept for later steps: a world that needed it once may well need it again. */
cairn_status cairn_exchange_cover(cairn_world *world, const double *reach)
{
    cairn_exchange *x = &world->exchange;
    bool covered = true;
    if (!x->link)
        return CAIRN_OK;
    for (int i = x->own; i < x->own_end; i++)
        covered = covered && reach[i] <= x->margin[i];
    x->again = !cairn_link_all(x->link, covered);
    if (x->again)
        x->generosity *= 2;
    TRY(x->link->status);
    /* any failure will do: cairn_world_step sees `again` and repeats the step */
    return x->again ? CAIRN_UNSUPPORTED : CAIRN_OK;
}

/* After `again` all members agree already. A member that fails must not wait for the others, so it
 * leaves; the others then fail in their next message, at the latest in the sum below. */
cairn_status cairn_exchange_agree(cairn_world *world, cairn_status status)
{
    cairn_link *link = world->exchange.link;
    if (!link || world->exchange.again)
        return status;
    bool own = status != CAIRN_OK;
    if (own)
        link->status = status;
    cairn_link_sum(link, 0); /* the value does not matter: it waits for all members */
    if (link->status == CAIRN_OK)
        return CAIRN_OK;
    link->leave(link->context); /* whoever waits for this member is not left waiting */
    if (own)
        return status;
    return cairn_fail(&world->error, link->status, NULL,
                      link->status == CAIRN_IO_FAILED
                          ? "another member of the computation could not make this step"
                          : "the members of the computation could not talk to each other");
}

/* ---- what is not supported yet -------------------------------------------------------------- */

static cairn_status refuse(cairn_error *error, const char *key, const char *what)
{
    return cairn_fail(error, CAIRN_UNSUPPORTED, key,
                      "%s cannot be computed by several members together yet", what);
}

static bool is_among(const char *name, const char *const *list)
{
    while (*list && strcmp(name, *list) != 0)
        list++;
    return *list != NULL;
}

/* Options that members cannot use are refused by name, rather than computed wrongly. */
static cairn_status check_options(const cairn_link *link, const cairn_step_options *o,
                                  cairn_error *error)
{
    static const char *const schemes[] = { "convex",      "coulomb", "frictionless",
                                           "fixed-point", "auto",    NULL };
    static const char *const factorise[] = { "ipm", "lemke", "active-set", "newton", "admm", NULL };
    if (!is_among(o->scheme, schemes) || o->linearisations)
        return refuse(error, "scheme",
                      "schemes other than convex, coulomb, fixed-point, auto and frictionless");
    if (is_among(o->solver, factorise))
        return refuse(error, "solver", "solvers that factorise (ipm, lemke, newton, ...)");
    if (strcmp(o->backend, "host") != 0)
        return refuse(error, "backend", "back ends other than host");
    if (o->parts < link->members || o->parts < 2)
        return cairn_fail(error, CAIRN_BAD_INPUT, "parts",
                          "found %lld, expected at least 2, and one for each of the %d members",
                          (long long)o->parts, link->members);
    return CAIRN_OK;
}

cairn_status cairn_exchange_check(const cairn_world *world, const cairn_step_options *options,
                                  cairn_error *error)
{
    if (world->exchange.making)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "bodies",
                          "this world has only a share of its bodies, and is not joined yet");
    if (!world->exchange.link)
        return CAIRN_OK;
    TRY(check_options(world->exchange.link, options, error));
    /* the function would see a part of the bodies only */
    if (world->loaded.force)
        return refuse(error, "loads", "forces that a function of the state gives");
    return CAIRN_OK;
}
