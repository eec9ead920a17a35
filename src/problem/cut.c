/* cut.c - cutting a one-step problem into parts, and the order in which sweeps visit its contacts.
 *
 * Both sides of a border see the same contacts in the same order. Each side therefore knows which
 * blocks the other one will send, and in which order, and messages need no indices. */
#include "problem/cut.h"

#include <string.h>

#include "base/common.h"

/* The blocks of a contact, the lower one first; a wall (-1) comes last. */
static void sort_blocks(const cairn_problem *p, int j, int32_t out[2])
{
    int32_t a = p->block[2 * (size_t)j], b = p->block[2 * (size_t)j + 1];
    bool turned = a < 0 || (b >= 0 && b < a);
    out[0] = turned ? b : a;
    out[1] = turned ? a : b;
}

/* ---- spans ---------------------------------------------------------------------------------- */

/* The part that counts a contact: that of its lower block. */
static int part_of(const cairn_problem *p, const cairn_cutting *by, int j)
{
    int32_t block[2];
    sort_blocks(p, j, block);
    return block[0] < 0 ? 0 : by->part[block[0]];
}

static int wall_of(const cairn_cutting *by, int j)
{
    return by->wall ? by->wall[j] : -1;
}

/* The spans of the parts of this member (`here`), or of all others, in the order of their contacts;
 * returns their number. `out` NULL: they are only counted. A span ends where part or wall change,
 * and after CAIRN_SPAN contacts. */
static int list_spans(const cairn_problem *p, const cairn_cutting *by, const cairn_parted *c,
                      bool here, cairn_span *out)
{
    int count = 0;
    for (int j = 0, begin = 0; j < p->contacts; begin = j) {
        int part = part_of(p, by, j), wall = wall_of(by, j);
        while (j < p->contacts && j - begin < CAIRN_SPAN && part_of(p, by, j) == part &&
               wall_of(by, j) == wall)
            j++;
        if ((part >= c->first && part < c->end) != here)
            continue;
        if (out)
            out[count] = (cairn_span){ begin, j, part };
        count++;
    }
    return count;
}

/* Sort spans by part, keeping their order within a part; returns the number of their contacts. */
static int64_t sort_spans(const cairn_span *from, int count, int parts, int *start, cairn_span *to)
{
    int64_t items = 0;
    memset(start, 0, ((size_t)parts + 1) * sizeof *start);
    for (int k = 0; k < count; k++)
        start[from[k].part + 1]++;
    for (int part = 0; part < parts; part++)
        start[part + 1] += start[part];
    for (int k = 0; k < count; k++) {
        to[start[from[k].part]++] = from[k];
        items += from[k].end - from[k].begin;
    }
    return items;
}

static cairn_status find_spans(const cairn_problem *p, const cairn_cutting *by, cairn_arena *arena,
                               cairn_cut *cut)
{
    cairn_parted *c = &cut->contacts;
    c->parts = by->parts;
    c->link = by->link;
    c->first = by->link ? cairn_link_first(by->link, by->link->member, by->parts) : 0;
    c->end = by->link ? cairn_link_first(by->link, by->link->member + 1, by->parts) : by->parts;
    c->count = list_spans(p, by, c, true, NULL);
    c->others = by->link ? list_spans(p, by, c, false, NULL) : 0;
    size_t all = (size_t)c->count + (size_t)c->others;
    cairn_span *listed = cairn_arena_take(arena, (size_t)c->count, sizeof *listed);
    cairn_span *sorted = cairn_arena_take(arena, all, sizeof *sorted);
    int *start = cairn_arena_take(arena, (size_t)by->parts + 1, sizeof *start);
    c->room = cairn_arena_take(arena, 1, cairn_parted_bytes(by->parts, (int)all));
    if (!listed || !sorted || !start || !c->room)
        return CAIRN_NO_MEMORY;
    list_spans(p, by, c, true, listed);
    if (c->others > 0)
        list_spans(p, by, c, false, sorted + c->count);
    cut->all = cairn_link_sum(by->link, sort_spans(listed, c->count, by->parts, start, sorted));
    c->span = sorted;
    return CAIRN_OK;
}

/* ---- borders -------------------------------------------------------------------------------- */

/* A contact between two members: the block of this member, and the ghost. */
typedef struct crossing {
    int32_t block[2];
} crossing;

typedef struct survey {
    const cairn_problem *p;
    const cairn_cutting *by;
    cairn_cut *cut;
    int32_t *border; /* of a part here and another one: first its contacts, then its index */
    crossing *crossing;
    int crossings;
} survey;

static bool is_here(const survey *s, int part)
{
    return part >= s->cut->contacts.first && part < s->cut->contacts.end;
}

static int32_t *border_of(const survey *s, int here, int other)
{
    return &s->border[(size_t)(here - s->cut->contacts.first) * (size_t)s->by->parts +
                      (size_t)other];
}

/* Whether contact j is between two members. */
static bool crosses(const survey *s, int j, crossing *out)
{
    int32_t block[2];
    sort_blocks(s->p, j, block);
    if (block[0] < 0 || block[1] < 0)
        return false;
    bool low = is_here(s, s->by->part[block[0]]), high = is_here(s, s->by->part[block[1]]);
    *out = (crossing){ { low ? block[0] : block[1], low ? block[1] : block[0] } };
    return low != high;
}

static int32_t *border_at(const survey *s, const crossing *c)
{
    return border_of(s, s->by->part[c->block[0]], s->by->part[c->block[1]]);
}

/* List the contacts between members, which are few, and count them for each border. The number also
 * bounds the number of its blocks. */
static void find_crossings(survey *s)
{
    for (int j = 0; j < s->p->contacts; j++)
        if (crosses(s, j, &s->crossing[s->crossings]))
            ++*border_at(s, &s->crossing[s->crossings++]);
}

static cairn_status open_border(survey *s, int here, int other, cairn_arena *arena)
{
    int32_t *place = border_of(s, here, other);
    size_t most = (size_t)*place;
    cairn_border *b = &s->cut->border[s->cut->borders];
    *b = (cairn_border){ .part = here,
                         .other = other,
                         .member = cairn_link_holder(s->by->link, other, s->by->parts),
                         .out = cairn_arena_take(arena, most, sizeof *b->out),
                         .in = cairn_arena_take(arena, most, sizeof *b->in) };
    *place = s->cut->borders++;
    return b->out && b->in ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Create the borders in an order that is the same on both sides: by the lower part, then by the
 * higher one. Messages are sent and received in this order. */
static cairn_status open_borders(survey *s, cairn_arena *arena)
{
    int parts = s->by->parts;
    for (int low = 0; low < parts; low++)
        for (int high = low + 1; high < parts; high++) {
            bool here = is_here(s, low);
            if (here == is_here(s, high))
                continue;
            int own = here ? low : high, other = here ? high : low;
            if (*border_of(s, own, other) > 0)
                TRY(open_border(s, own, other, arena));
        }
    return CAIRN_OK;
}

/* Crossings by one of their blocks: block i has items[start[i]] to items[start[i + 1] - 1]. */
typedef struct by_block {
    int32_t *start, *items;
} by_block;

/* Sort the crossings by the block of this member (`other` false), or by the ghost. */
static cairn_status sort_crossings(const survey *s, bool other, cairn_arena *arena, by_block *out)
{
    size_t blocks = (size_t)s->p->blocks;
    out->start = cairn_arena_take(arena, blocks + 2, sizeof *out->start);
    out->items = cairn_arena_take(arena, (size_t)s->crossings, sizeof *out->items);
    if (!out->start || !out->items)
        return CAIRN_NO_MEMORY;
    memset(out->start, 0, (blocks + 2) * sizeof *out->start);
    for (int k = 0; k < s->crossings; k++)
        out->start[s->crossing[k].block[other] + 2]++;
    for (size_t i = 1; i <= blocks; i++)
        out->start[i + 1] += out->start[i];
    for (int k = 0; k < s->crossings; k++)
        out->items[out->start[s->crossing[k].block[other] + 1]++] = k;
    return CAIRN_OK;
}

static void append(int32_t *list, int *count, int32_t block)
{
    if (*count == 0 || list[*count - 1] != block)
        list[(*count)++] = block;
}

/* List the blocks of all borders, ascending and each once in each border. */
static cairn_status list_blocks(survey *s, bool other, cairn_arena *arena)
{
    by_block sorted;
    TRY(sort_crossings(s, other, arena, &sorted));
    for (int i = 0; i < s->p->blocks; i++)
        for (int k = sorted.start[i]; k < sorted.start[i + 1]; k++) {
            cairn_border *b = &s->cut->border[*border_at(s, &s->crossing[sorted.items[k]])];
            append(other ? b->in : b->out, other ? &b->ins : &b->outs, i);
        }
    return CAIRN_OK;
}

/* Sort the borders by member; those with one member keep their order, which both sides know. The
 * buffer takes the message to any one member. */
static cairn_status sort_borders(cairn_cut *cut, int members, cairn_arena *arena)
{
    size_t longest = 0, borders = (size_t)cut->borders;
    int *next = cairn_arena_take(arena, (size_t)members + 1, sizeof *next);
    const cairn_border **sorted = cairn_arena_take(arena, borders + 1, sizeof *sorted);
    if (!next || !sorted)
        return CAIRN_NO_MEMORY;
    memset(next, 0, ((size_t)members + 1) * sizeof *next);
    for (size_t k = 0; k < borders; k++) {
        next[cut->border[k].member + 1]++;
        longest += (size_t)cut->border[k].outs;
    }
    for (int k = 0; k < members; k++)
        next[k + 1] += next[k];
    for (size_t k = 0; k < borders; k++)
        sorted[next[cut->border[k].member]++] = &cut->border[k];
    cut->by_member = sorted;
    cut->message = cairn_arena_take(arena, longest + 1, CAIRN_CUT_RECORD);
    return cut->message ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status find_borders(survey *s, cairn_arena *arena)
{
    size_t own = (size_t)(s->cut->contacts.end - s->cut->contacts.first);
    size_t pairs = own * (size_t)s->by->parts;
    size_t borders = 0;
    s->border = cairn_arena_take(arena, pairs, sizeof *s->border);
    s->crossing = cairn_arena_take(arena, (size_t)s->p->contacts + 1, sizeof *s->crossing);
    if (!s->border || !s->crossing)
        return CAIRN_NO_MEMORY;
    memset(s->border, 0, pairs * sizeof *s->border);
    find_crossings(s);
    for (size_t k = 0; k < pairs; k++)
        borders += s->border[k] > 0;
    s->cut->border = cairn_arena_take(arena, borders + 1, sizeof *s->cut->border);
    if (!s->cut->border)
        return CAIRN_NO_MEMORY;
    TRY(open_borders(s, arena));
    TRY(list_blocks(s, false, arena));
    TRY(list_blocks(s, true, arena));
    return sort_borders(s->cut, s->by->link->members, arena);
}

cairn_status cairn_problem_cut(cairn_problem *p, const cairn_cutting *by, cairn_arena *arena)
{
    cairn_cut *cut = cairn_arena_take(arena, 1, sizeof *cut);
    if (!cut)
        return CAIRN_NO_MEMORY;
    *cut = (cairn_cut){ .part = by->part, .wall = by->wall };
    TRY(find_spans(p, by, arena, cut));
    survey s = { .p = p, .by = by, .cut = cut };
    if (by->link)
        TRY(find_borders(&s, arena));
    p->parts = by->parts;
    p->cut = cut;
    return CAIRN_OK;
}

/* ---- messages ------------------------------------------------------------------------------- */

int cairn_borders_end(const cairn_border *const *border, int begin, int end)
{
    int next = begin + 1;
    while (next < end && border[next]->member == border[begin]->member)
        next++;
    return next;
}

void cairn_borders_send(const cairn_cut *cut, const cairn_border *const *border, int count,
                        const cairn_records *records)
{
    char *to = cut->message;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < border[k]->outs; i++, to += records->used)
            memcpy(to, (char *)records->bytes + (size_t)border[k]->out[i] * records->stride,
                   records->used);
    cairn_link_send(cut->contacts.link, border[0]->member, cut->message,
                    (size_t)(to - (char *)cut->message));
}

void cairn_borders_receive(const cairn_cut *cut, const cairn_border *const *border, int count,
                           const cairn_records *records)
{
    cairn_link *link = cut->contacts.link;
    size_t found, expected = 0;
    const char *from = cairn_link_receive(link, border[0]->member, &found);
    for (int k = 0; k < count; k++)
        expected += (size_t)border[k]->ins * records->used;
    if (link->status == CAIRN_OK && found != expected)
        link->status = CAIRN_BAD_INPUT;
    for (int k = 0; k < count && link->status == CAIRN_OK; k++)
        for (int i = 0; i < border[k]->ins; i++, from += records->used)
            memcpy((char *)records->bytes + (size_t)border[k]->in[i] * records->stride, from,
                   records->used);
}

void cairn_problem_fetch(const cairn_problem *p, void *x, size_t size)
{
    if (!cairn_problem_link(p))
        return;
    const cairn_cut *cut = p->cut;
    const cairn_records records = { x, size, size };
    /* all messages are sent before any is received: no member waits for one that waits for it */
    for (int k = 0, end; k < cut->borders; k = end) {
        end = cairn_borders_end(cut->by_member, k, cut->borders);
        cairn_borders_send(cut, cut->by_member + k, end - k, &records);
    }
    for (int k = 0, end; k < cut->borders; k = end) {
        end = cairn_borders_end(cut->by_member, k, cut->borders);
        cairn_borders_receive(cut, cut->by_member + k, end - k, &records);
    }
}

/* ---- the order of visits --------------------------------------------------------------------- */

/* The order in which sweeps that take one contact after the other visit those of a
 * problem that is cut into parts.
 *
 * Round k visits the contacts between parts i and i ^ k; round 0 those within a part, and those
 * with walls. In a round each part meets at most one other one, so the contacts of different pairs
 * share no block and their order does not matter: each pair may be visited by other members.
 * Contacts between two members are visited by both, with the same numbers. Before a round the two
 * exchange the velocities of the blocks at their border. */

/* The parts of the two blocks of a contact; with a wall, twice that of the other block. */
static void find_parts(const cairn_problem *p, int j, int out[2])
{
    const int32_t *block = p->block + 2 * (size_t)j;
    int32_t a = block[0] < 0 ? block[1] : block[0], b = block[1] < 0 ? block[0] : block[1];
    out[0] = a < 0 ? 0 : p->cut->part[a];
    out[1] = b < 0 ? 0 : p->cut->part[b];
}

static int round_of(const cairn_problem *p, int j)
{
    int part[2];
    find_parts(p, j, part);
    return part[0] ^ part[1];
}

/* The lower of its two parts counts a contact. */
int cairn_contact_part(const cairn_problem *p, int j)
{
    int part[2];
    find_parts(p, j, part);
    return part[0] < part[1] ? part[0] : part[1];
}

/* A counting sort of the contacts by rounds, in which they keep their order. Without a cut there is
 * one round, of all contacts. */
cairn_status cairn_visits_find(const cairn_problem *p, cairn_arena *arena, cairn_visits *out)
{
    *out = (cairn_visits){ .p = p, .rounds = 1 };
    if (!p->cut)
        return CAIRN_OK;
    while (out->rounds < p->cut->contacts.parts)
        out->rounds *= 2;
    out->end = cairn_arena_take(arena, (size_t)out->rounds + 1, sizeof *out->end);
    out->contact = cairn_arena_take(arena, (size_t)p->contacts, sizeof *out->contact);
    if (!out->end || !out->contact)
        return CAIRN_NO_MEMORY;
    memset(out->end, 0, ((size_t)out->rounds + 1) * sizeof *out->end);
    for (int j = 0; j < p->contacts; j++)
        out->end[round_of(p, j) + 1]++;
    for (int k = 0; k < out->rounds; k++)
        out->end[k + 1] += out->end[k];
    for (int j = 0; j < p->contacts; j++)
        out->contact[out->end[round_of(p, j)]++] = j;
    return CAIRN_OK;
}

/* ---- messages of a round -------------------------------------------------------------------- */

static bool is_of_round(const cairn_border *b, int round)
{
    return (b->part ^ b->other) == round;
}

static void send_border(const cairn_cut *cut, const cairn_border *b, const double *v, size_t width)
{
    double *message = cut->message;
    for (int i = 0; i < b->outs; i++)
        memcpy(message + (size_t)i * width, v + (size_t)b->out[i] * width, width * sizeof *v);
    cairn_link_send(cut->contacts.link, b->member, message,
                    (size_t)b->outs * width * sizeof *message);
}

static void receive_border(const cairn_cut *cut, const cairn_border *b, double *v, size_t width)
{
    cairn_link *link = cut->contacts.link;
    size_t size = width * sizeof *v, found;
    const char *message = cairn_link_receive(link, b->member, &found);
    if (link->status == CAIRN_OK && found != (size_t)b->ins * size)
        link->status = CAIRN_BAD_INPUT;
    for (int i = 0; i < b->ins && found == (size_t)b->ins * size; i++)
        memcpy(v + (size_t)b->in[i] * width, message + (size_t)i * size, size);
}

/* Everything is sent before anything is received: no member waits for one that waits for it. Both
 * members go through their common borders in the same order. */
void cairn_visits_meet(const cairn_visits *visits, int round, double *v)
{
    const cairn_problem *p = visits->p;
    size_t width = (size_t)p->block_size;
    int borders = cairn_problem_link(p) && round > 0 ? p->cut->borders : 0;
    for (int k = 0; k < borders; k++)
        if (is_of_round(&p->cut->border[k], round))
            send_border(p->cut, &p->cut->border[k], v, width);
    for (int k = 0; k < borders; k++)
        if (is_of_round(&p->cut->border[k], round))
            receive_border(p->cut, &p->cut->border[k], v, width);
}
