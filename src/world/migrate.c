/* migrate.c - bodies, contacts and ghosts on their way between members.
 *
 *   parts    of own bodies, by the work of all bodies before them (exchange.c), or by their places
 *            on a curve
 *   migrate  a body goes to the member that has its part, with all its contacts of the last step
 *   borders  the bodies of each part are cut into ranges; a box around each range, enlarged by how
 *            far its bodies may reach
 *   ghosts   own bodies that reach into a box of another part, or had a contact with a body of it,
 *            are sent to the member that has that part
 * Two members exchange at most two messages each way, one with migrating bodies and contacts and
 * one with ghosts; both know in advance whether there are any. Messages are written in the order of
 * the whole world, so received bodies are in order, unless they are sorted along the curve. */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "world/world.h"

/* ---- messages ------------------------------------------------------------------------------- */

/* The head of a record of a body in a message; the columns of the body follow. */
typedef struct traveller {
    uint64_t uid;
    int64_t order;        /* in the whole world                                                */
    uint64_t place;       /* on the curve; 0 if bodies are not being sorted                    */
    int32_t part, unused; /* `unused` makes the padding explicit, so that no byte is undefined */
    cairn_vec3 low, high; /* m: corners of the box in which it can be in this step             */
    double margin;        /* m: how far it may reach in this step */
} traveller;

/* The head of a record of a contact in a message: the uids of its bodies, because rows differ
 * between members, and the members that have these bodies from now on (-1: a held body, which all
 * have). The columns of the contact follow. */
typedef struct meeting {
    uint64_t uid[2];
    int32_t holder[2];
} meeting;

/* Bytes of a record of a body. All columns are sent, so a body arrives complete. */
static size_t body_size(void)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    size_t size = sizeof(traveller);
    for (int k = 0; k < list->count; k++)
        size += cairn_column_row(&list->items[k], 3);
    return size;
}

static void write_body(const cairn_body_store *b, int row, const traveller *head, cairn_writer *out)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    cairn_write_raw(out, head, sizeof *head);
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], 3);
        cairn_write_raw(out, (const char *)cairn_column_get(list, k, b) + (size_t)row * size, size);
    }
}

/* The head of record k. Records are not aligned in a message, hence memcpy. */
static traveller head_of(const unsigned char *records, size_t size, int k)
{
    traveller head;
    memcpy(&head, records + (size_t)k * size, sizeof head);
    return head;
}

/* A body that this member owns from now on: one of its rows, or a record that came. */
typedef struct owned {
    traveller head;
    int32_t row;    /* before the arrangement; -1: it came    */
    int32_t record; /* among those that came                  */
} owned;

/* Ranges of the bodies of a part, each with a box around them. */
typedef struct ranging {
    int each;    /* ranges of each part                                   */
    int32_t *of; /* of each own body: part * each + its range in the part */
} ranging;

/* The state of one arrangement. Writers own heap memory, which finish() frees; arrays are in the
 * scratch. */
typedef struct moving {
    cairn_world *world;
    cairn_exchange *x;
    int members, me;
    int32_t *holder;     /* of each dynamic row: the member that has it from now on */
    cairn_writer *to;    /* the message to each member                              */
    cairn_writer came;   /* records of received bodies                              */
    int lower_came;      /* how many of them are from lower members                 */
    cairn_writer ghosts; /* records of ghosts, in the order of rows                 */
    cairn_writer met;    /* records of received contacts                            */
    owned *own;          /* bodies that this member owns from now on                */
    int own_count;
    int32_t *index;        /* of each dynamic row of before: its body in `own`; -1    */
    const int32_t *places; /* where bodies of `own` went when it was sorted; NULL     */
    int lower, higher;     /* number of ghosts of lower and of higher members         */
    int32_t (*span)[2];    /* of each member: its bodies go to members [0] to [1]     */
    int32_t *slot;         /* of each member: its place among the near ones; -1: far  */
    int near;              /* members that can have ghosts here, and the reverse      */
    uint8_t *ghost;        /* of each own body and near member: 1: a ghost there      */
    ranging ranges;
    cairn_directory known; /* index in `own` of bodies that came and had no row here  */
    size_t record;         /* bytes of the record of a body                           */
    double way;            /* of images in this step, over their distance             */
    const uint64_t *place; /* of own bodies: sort by it; NULL: they keep their order  */
} moving;

/* Free a large message: at the start nearly all bodies move. The note of a failure stays. */
static void forget(cairn_writer *w)
{
    enum { LARGE = 1 << 22 };
    bool failed = w->failed;
    if (w->capacity > LARGE)
        cairn_writer_destroy(w);
    w->failed = failed;
}

/* Writers remember a failed allocation, so it is enough to ask once, after all writing. */
static bool has_failed(const moving *m)
{
    bool failed = m->came.failed || m->ghosts.failed || m->met.failed;
    for (int k = 0; k < m->members; k++)
        failed |= m->to[k].failed;
    return failed;
}

/* Whether bodies of a member may go to another one: the same answer for all members. */
static bool goes_to(const moving *m, int from, int to)
{
    return from != to && to >= m->span[from][0] && to <= m->span[from][1];
}

/* ---- migration ------------------------------------------------------------------------------ */

/* The members to which the bodies of each member go. Parts rise with the rows, so these are those
 * between the holders of its first and of its last body. A member without bodies sends to
 * nobody. */
static void share_spans(moving *m, int begin, int end)
{
    int32_t *own = m->span[m->me];
    own[0] = begin < end ? m->holder[begin] : 0;
    own[1] = begin < end ? m->holder[end - 1] : -1;
    cairn_link_share(m->x->link, m->members, m->span, sizeof *m->span);
}

/* The member that has the part of each own body from now on. */
static void choose_members(moving *m)
{
    cairn_world *world = m->world;
    cairn_exchange *x = m->x;
    int held = world->bodies.held, begin = x->own - held, end = x->own_end - held;
    for (int i = begin; i < end; i++)
        m->holder[i] = cairn_link_holder(x->link, x->part[i], x->parts);
    share_spans(m, begin, end);
    /* contacts with ghosts need the new holders of both bodies */
    cairn_exchange_fetch(world, m->holder - held, sizeof *m->holder);
}

/* m: how far a body may reach in this step, with a margin. It must cover first_reach of contacts.c,
 * which is known only later in the step, hence the larger factors; cairn_exchange_cover checks it.
 * With the way of AHEAD further steps, or a quarter of the size if that is less, the ghosts can
 * stay for some steps (cairn_exchange_stay). */
static double margin_of(const cairn_world *world, int i, double h, double least)
{
    enum { AHEAD = 8 };
    const cairn_body_store *b = &world->bodies;
    double speed = cairn_norm(b->v[i]) + b->arm[i] * cairn_norm(b->omega[i]);
    double free = 1.5 * h * speed + 4 * h * h * cairn_norm(world->gravity) + 0.05 * b->extent[i];
    double later = fmin(AHEAD * h * speed, 0.25 * b->extent[i]);
    return world->exchange.generosity * (fmax(free, least) + later);
}

/* The head of the record of an own body. */
static traveller describe(const moving *m, int row, double h, double least)
{
    const cairn_body_store *b = &m->world->bodies;
    double margin = margin_of(m->world, row, h, least), far = b->extent[row] + margin;
    return (traveller){ .uid = b->uid[row],
                        .order = m->x->order[row],
                        .place = m->place ? m->place[row - m->x->own] : 0,
                        .part = m->x->part[row - b->held],
                        .margin = margin,
                        .low = cairn_sub(b->x[row], cairn_vec(far, far, far)),
                        .high = cairn_add(b->x[row], cairn_vec(far, far, far)) };
}

/* Write own bodies into the messages to the members that have them from now on. A message begins
 * with the number of bodies, which is filled in at the end. */
static void send_bodies(moving *m, double h, double least)
{
    const cairn_body_store *b = &m->world->bodies;
    size_t *counted =
        m->record ? cairn_arena_take(&m->world->scratch, (size_t)m->members, sizeof *counted)
                  : NULL;
    if (!counted) {
        m->came.failed = true;
        return;
    }
    memset(counted, 0, (size_t)m->members * sizeof *counted);
    for (int k = 0; k < m->members; k++)
        cairn_write_whole(&m->to[k], 0);
    for (int i = m->x->own; i < m->x->own_end; i++) {
        int to = m->holder[i - b->held];
        if (to == m->me)
            continue;
        traveller head = describe(m, i, h, least);
        write_body(b, i, &head, &m->to[to]);
        counted[to]++;
    }
    for (int k = 0; k < m->members; k++)
        if (!m->to[k].failed)
            cairn_rewrite_whole(&m->to[k], 0, (int64_t)counted[k]);
}

/* The member that had the body of a dynamic row so far: the last one whose rows do not begin behind
 * it, by bisection. */
static int holder_before(const cairn_exchange *x, int row)
{
    int low = 0, high = x->link->members;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (x->neighbour[middle].in <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Send a contact to the members that did not have it and have one of its bodies from now on. The
 * member that had this body sends it, with the body. If both bodies go to the same member, that of
 * the first one does. */
static void send_contact(moving *m, int j)
{
    const cairn_world *world = m->world;
    const int32_t *row = world->contacts.body + 2 * (size_t)j;
    int held = world->bodies.held, before[2];
    meeting head;
    for (int side = 0; side < 2; side++) {
        bool dynamic = row[side] >= held;
        head.uid[side] = world->bodies.uid[row[side]];
        head.holder[side] = dynamic ? m->holder[row[side] - held] : -1;
        before[side] = dynamic ? holder_before(m->x, row[side]) : -1;
    }
    for (int side = 0; side < 2; side++) {
        int to = head.holder[side];
        bool told = side == 1 && to == head.holder[0];
        if (before[side] != m->me || to == before[0] || to == before[1] || told)
            continue;
        cairn_write_raw(&m->to[to], &head, sizeof head);
        cairn_contact_write(&world->contacts, j, world->dimension, &m->to[to]);
    }
}

/* Append the bodies of one message to `came`, and its contacts to `met`. */
static void receive_migrants(moving *m, const unsigned char *data, size_t size)
{
    cairn_reader r = { .data = data, .size = size };
    size_t count = cairn_read_count(&r, m->record);
    if (r.failed) {
        m->came.failed = true;
        return;
    }
    cairn_write_raw(&m->came, data + r.at, count * m->record);
    cairn_write_raw(&m->met, data + r.at + count * m->record, size - r.at - count * m->record);
}

/* Exchange the first messages. They are received in the order of the members. */
static void migrate(moving *m)
{
    for (int k = 0; k < m->members; k++)
        if (goes_to(m, m->me, k)) {
            cairn_link_send(m->x->link, k, m->to[k].data, m->to[k].size);
            forget(&m->to[k]);
        }
    for (int k = 0; k < m->members; k++) {
        size_t size = 0;
        if (k == m->me)
            m->lower_came = (int)(m->came.size / m->record);
        if (goes_to(m, k, m->me)) {
            const void *data = cairn_link_receive(m->x->link, k, &size);
            receive_migrants(m, data, size);
        }
    }
}

/* One more own body. A body that came may have had a row here, as a ghost. */
static void own_body(moving *m, const traveller *head, int row, int record)
{
    const cairn_body_store *b = &m->world->bodies;
    int known = row < 0 ? cairn_directory_find(&b->directory, head->uid) : row;
    if (known >= 0)
        m->index[known - b->held] = m->own_count;
    else
        cairn_directory_set(&m->known, head->uid, m->own_count);
    m->own[m->own_count++] = (owned){ *head, row, record };
}

static void own_records(moving *m, int begin, int end)
{
    for (int k = begin; k < end; k++) {
        traveller head = head_of(m->came.data, m->record, k);
        own_body(m, &head, -1, k);
    }
}

/* List the own bodies. Those that came from lower members are before those that stayed in the whole
 * world, those from higher members after them, and each message is in order. So the list is in
 * order, unless places on the curve are to change it. */
static cairn_status list_own(moving *m, double h, double least)
{
    cairn_arena *scratch = &m->world->scratch;
    int came = (int)(m->came.size / m->record), held = m->world->bodies.held, stay = 0;
    size_t rows = (size_t)(m->world->bodies.count - held);
    for (int i = m->x->own; i < m->x->own_end; i++)
        stay += m->holder[i - held] == m->me;
    m->own = cairn_arena_take(scratch, (size_t)came + (size_t)stay + 1, sizeof *m->own);
    m->index = cairn_arena_take(scratch, rows + 1, sizeof *m->index);
    if (!m->own || !m->index || m->came.failed)
        return CAIRN_NO_MEMORY;
    TRY(cairn_directory_reserve(&m->known, (size_t)came));
    for (size_t i = 0; i < rows; i++)
        m->index[i] = -1;
    own_records(m, 0, m->lower_came);
    for (int i = m->x->own; i < m->x->own_end; i++)
        if (m->holder[i - held] == m->me) {
            traveller head = describe(m, i, h, least);
            own_body(m, &head, i, -1);
        }
    own_records(m, m->lower_came, came);
    return CAIRN_OK;
}

/* ---- sorting -------------------------------------------------------------------------------- */

/* Cut the curve into one range of places for each member, with about the same number of bodies. For
 * now there are as many parts as members; the step cuts its own parts afterwards. */
static cairn_status choose_places(moving *m)
{
    cairn_exchange *x = m->x;
    int held = m->world->bodies.held, own = x->own_end - x->own;
    uint64_t *last = cairn_arena_take(&m->world->scratch, (size_t)m->members, sizeof *last);
    if (!last)
        return CAIRN_NO_MEMORY;
    TRY(cairn_link_split(x->link, m->place, own, &m->world->scratch, last));
    for (int i = 0; i < own; i++) {
        int to = cairn_link_range(x->link, last, m->place[i]);
        m->holder[x->own - held + i] = to;
        x->part[x->own - held + i] = (uint16_t)to;
    }
    for (int k = 0; k < m->members; k++) {
        m->span[k][0] = 0;
        m->span[k][1] = m->members - 1;
    }
    cairn_exchange_fetch(m->world, m->holder - held, sizeof *m->holder);
    return CAIRN_OK;
}

/* Indices of own bodies by place; those at the same place by their previous order, so that the
 * result does not depend on members. */
static cairn_status sort_own(const moving *m, int32_t **out)
{
    cairn_arena *scratch = &m->world->scratch;
    size_t count = (size_t)m->own_count + 1;
    uint64_t *number = cairn_arena_take(scratch, count, sizeof *number);
    int32_t *by_order, *by_place;
    if (!number)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < m->own_count; k++)
        number[k] = (uint64_t)m->own[k].head.order;
    TRY(cairn_sort_by_number(number, m->own_count, scratch, &by_order));
    for (int k = 0; k < m->own_count; k++)
        number[k] = m->own[by_order[k]].head.place;
    TRY(cairn_sort_by_number(number, m->own_count, scratch, &by_place));
    for (int k = 0; k < m->own_count; k++)
        by_place[k] = by_order[by_place[k]];
    *out = by_place;
    return CAIRN_OK;
}

/* Put own bodies into their new order. Its numbers continue those of the members before. */
static cairn_status renumber(moving *m)
{
    cairn_arena *scratch = &m->world->scratch;
    int32_t *number;
    TRY(sort_own(m, &number));
    int64_t *counts = cairn_arena_take(scratch, (size_t)m->members, sizeof *counts);
    owned *sorted = cairn_arena_take(scratch, (size_t)m->own_count + 1, sizeof *sorted);
    int32_t *place = cairn_arena_take(scratch, (size_t)m->own_count + 1, sizeof *place);
    if (!counts || !sorted || !place)
        return CAIRN_NO_MEMORY;
    int64_t order = m->world->bodies.held;
    counts[m->me] = m->own_count;
    cairn_link_share(m->x->link, m->members, counts, sizeof *counts);
    for (int k = 0; k < m->me; k++)
        order += counts[k];
    for (int k = 0; k < m->own_count; k++) {
        sorted[k] = m->own[number[k]];
        sorted[k].head.order = order++;
        place[number[k]] = k;
    }
    m->own = sorted;
    m->places = place;
    return CAIRN_OK;
}

/* ---- ghosts --------------------------------------------------------------------------------- */

typedef cairn_bounds box;

/* The smallest box around a and the box of a body. */
static box box_around(box a, const traveller *t)
{
    a.low = cairn_vec(fmin(a.low.x, t->low.x), fmin(a.low.y, t->low.y), fmin(a.low.z, t->low.z));
    a.high =
        cairn_vec(fmax(a.high.x, t->high.x), fmax(a.high.y, t->high.y), fmax(a.high.z, t->high.z));
    return a;
}

static double longest_edge(const box *b)
{
    return fmax(b->high.x - b->low.x, fmax(b->high.y - b->low.y, b->high.z - b->low.z));
}

/* Whether what is in two boxes can meet in this step. */
static bool meet(const moving *m, const box *a, const box *b)
{
    if (!(a->low.x <= a->high.x && b->low.x <= b->high.x)) /* an empty part */
        return false;
    return cairn_bounds_meet(a, b) ||
           (cairn_lattice_of(m->world) && cairn_lattice_joins(m->world, m->way, a, b));
}

/* The range of each body [begin, end) of `own`, which are one part: a range ends where its box
 * would be longer than `edge`, m. Returns the number of ranges, or one too many. */
static int cut_part(moving *m, int begin, int end, double edge)
{
    int count = 0;
    box now = { 0 };
    for (int k = begin; k < end && count <= m->ranges.each; k++) {
        const traveller *head = &m->own[k].head;
        now = count > 0 ? box_around(now, head) : (box){ head->low, head->high };
        if (count == 0 || longest_edge(&now) > edge) {
            now = (box){ head->low, head->high };
            count++;
        }
        m->ranges.of[k] = head->part * m->ranges.each + count - 1;
    }
    return count;
}

/* Cut the bodies of each own part into ranges. The curve jumps, and a part begins and ends anywhere
 * on it: a single box around it would include much of its neighbours. With many parts there are
 * fewer ranges, because all members share the boxes of all of them. */
static cairn_status cut_ranges(moving *m)
{
    enum { MOST = 64, ALL = 1024 };
    int ranges = ALL / m->x->parts, end;
    m->ranges.each = ranges < 1 ? 1 : ranges < MOST ? ranges : MOST;
    m->ranges.of =
        cairn_arena_take(&m->world->scratch, (size_t)m->own_count + 1, sizeof *m->ranges.of);
    if (!m->ranges.of)
        return CAIRN_NO_MEMORY;
    for (int begin = 0; begin < m->own_count; begin = end) {
        const traveller *first = &m->own[begin].head;
        box whole = { first->low, first->high };
        for (end = begin; end < m->own_count && m->own[end].head.part == first->part; end++)
            whole = box_around(whole, &m->own[end].head);
        double edge = longest_edge(&whole) / cbrt(m->ranges.each);
        while (cut_part(m, begin, end, edge) > m->ranges.each)
            edge *= 1.5;
    }
    return CAIRN_OK;
}

/* Boxes around the bodies of all ranges, shared by all members; NULL: no memory. */
static box *find_boxes(const moving *m)
{
    const cairn_exchange *x = m->x;
    const box empty = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    size_t ranges = (size_t)m->ranges.each;
    box *boxes = cairn_arena_take(&m->world->scratch, (size_t)x->parts * ranges, sizeof *boxes);
    for (size_t k = 0; boxes && k < (size_t)x->parts * ranges; k++)
        boxes[k] = empty;
    for (int k = 0; boxes && k < m->own_count; k++)
        boxes[m->ranges.of[k]] = box_around(boxes[m->ranges.of[k]], &m->own[k].head);
    if (boxes)
        cairn_link_share(x->link, x->parts, boxes, ranges * sizeof *boxes);
    return boxes;
}

/* Number of an own body; -1: it is none. */
static int own_index(const moving *m, uint64_t uid)
{
    const cairn_body_store *b = &m->world->bodies;
    int row = cairn_directory_find(&b->directory, uid);
    int k = row < 0         ? cairn_directory_find(&m->known, uid)
            : row < b->held ? -1
                            : m->index[row - b->held];
    return k >= 0 && m->places ? m->places[k] : k;
}

/* Mark an own body as a ghost of another member. */
static void mark(moving *m, uint64_t uid, int member)
{
    int k = member >= 0 && member != m->me ? own_index(m, uid) : -1;
    if (k >= 0)
        m->ghost[(size_t)k * (size_t)m->near + (size_t)m->slot[member]] = 1;
}

/* Bodies of a contact of the last step are ghosts of each other's members, even if they have
 * separated: the contact can then be used as a warm start, and reaches are shared along it. */
static void mark_contact(moving *m, const meeting *head)
{
    if (head->holder[0] == m->me)
        mark(m, head->uid[0], head->holder[1]);
    if (head->holder[1] == m->me)
        mark(m, head->uid[1], head->holder[0]);
}

/* Bytes of a record of a contact, with its head. */
static size_t contact_size(const cairn_world *world)
{
    return sizeof(meeting) + cairn_contact_bytes(&world->contacts, world->dimension);
}

/* The other member of a contact is near. */
static void note_contact(moving *m, const meeting *head)
{
    for (int side = 0; side < 2; side++)
        if (head->holder[side] >= 0)
            m->slot[head->holder[side]] = 0;
}

/* Contacts that this member has kept, and those that it has just received. */
static void look_at_contacts(moving *m, void (*look)(moving *m, const meeting *head))
{
    const cairn_world *world = m->world;
    const cairn_contact_store *c = &world->contacts;
    int held = world->bodies.held;
    for (int j = 0; j < c->count; j++) {
        meeting head;
        for (int side = 0; side < 2; side++) {
            int row = c->body[2 * (size_t)j + (size_t)side];
            head.uid[side] = world->bodies.uid[row];
            head.holder[side] = row >= held ? m->holder[row - held] : -1;
        }
        look(m, &head);
    }
    size_t size = contact_size(world);
    for (size_t at = 0; at + size <= m->met.size; at += size) {
        meeting head;
        memcpy(&head, m->met.data + at, sizeof head);
        look(m, &head);
    }
}

/* Ranges of other members whose boxes overlap that of an own range, for each own range. */
typedef struct near_ranges {
    int *first;      /* of each own range, and the end */
    uint16_t *range; /* NULL: they are only counted    */
} near_ranges;

static void list_near(const moving *m, const box *boxes, near_ranges *near)
{
    int each = m->ranges.each, count = 0;
    int begin = m->x->bodies.first * each, end = m->x->bodies.end * each;
    for (int own = begin; own < end; own++) {
        near->first[own - begin] = count;
        for (int other = 0; other < m->x->parts * each; other++) {
            /* the lower one first, so that both members see the same */
            int low = own < other ? own : other, high = own < other ? other : own;
            if ((other >= begin && other < end) || !meet(m, &boxes[low], &boxes[high]))
                continue;
            if (near->range)
                near->range[count] = (uint16_t)other;
            count++;
        }
    }
    near->first[end - begin] = count;
}

static cairn_status find_near(const moving *m, const box *boxes, near_ranges *near)
{
    cairn_arena *scratch = &m->world->scratch;
    int own = (m->x->bodies.end - m->x->bodies.first) * m->ranges.each;
    *near = (near_ranges){ cairn_arena_take(scratch, (size_t)own + 1, sizeof *near->first), NULL };
    if (!near->first)
        return CAIRN_NO_MEMORY;
    list_near(m, boxes, near);
    near->range = cairn_arena_take(scratch, (size_t)near->first[own] + 1, sizeof *near->range);
    if (!near->range)
        return CAIRN_NO_MEMORY;
    list_near(m, boxes, near);
    return CAIRN_OK;
}

/* The member that has a range. */
static int holder_of_range(const moving *m, int range)
{
    return cairn_link_holder(m->x->link, range / m->ranges.each, m->x->parts);
}

/* Number the members that are near: boxes of ranges overlap, or there is a contact. Both members
 * see the same boxes and the same contacts, so each is near for the other. */
static cairn_status number_near(moving *m, const near_ranges *near)
{
    int own = (m->x->bodies.end - m->x->bodies.first) * m->ranges.each;
    m->slot = cairn_arena_take(&m->world->scratch, (size_t)m->members, sizeof *m->slot);
    if (!m->slot)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < m->members; k++)
        m->slot[k] = -1;
    for (int k = 0; k < near->first[own]; k++)
        m->slot[holder_of_range(m, near->range[k])] = 0;
    look_at_contacts(m, note_contact);
    m->slot[m->me] = -1;
    m->near = 0;
    for (int k = 0; k < m->members; k++)
        if (m->slot[k] == 0)
            m->slot[k] = m->near++;
    return CAIRN_OK;
}

/* Mark own bodies that can meet a body of a range that is elsewhere. */
static void mark_near(moving *m, const box *boxes, const near_ranges *near)
{
    for (int k = 0; k < m->own_count; k++) {
        const traveller *head = &m->own[k].head;
        const int *first = near->first + (m->ranges.of[k] - m->x->bodies.first * m->ranges.each);
        for (int i = first[0]; i < first[1]; i++)
            if (meet(m, &(box){ head->low, head->high }, &boxes[near->range[i]])) {
                int to = m->slot[holder_of_range(m, near->range[i])];
                m->ghost[(size_t)k * (size_t)m->near + (size_t)to] = 1;
            }
    }
}

/* Which own bodies are ghosts of which member. The test by boxes includes more than can really
 * meet: this costs memory, but changes no result. */
static cairn_status choose_ghosts(moving *m)
{
    size_t count = (size_t)m->own_count;
    near_ranges near;
    TRY(cut_ranges(m));
    const box *boxes = find_boxes(m);
    /* where a message was lost, members may disagree about who has what */
    TRY(boxes ? m->x->link->status : CAIRN_NO_MEMORY);
    TRY(find_near(m, boxes, &near));
    TRY(number_near(m, &near));
    m->ghost = cairn_arena_take(&m->world->scratch, count * (size_t)m->near + 1, 1);
    if (!m->ghost)
        return CAIRN_NO_MEMORY;
    memset(m->ghost, 0, count * (size_t)m->near);
    look_at_contacts(m, mark_contact);
    mark_near(m, boxes, &near);
    return CAIRN_OK;
}

/* Whether own body i is a ghost of a member. */
static bool is_ghost(const moving *m, int i, int member)
{
    int slot = m->slot[member];
    return slot >= 0 && m->ghost[(size_t)i * (size_t)m->near + (size_t)slot];
}

/* Write an own body as a record: from its row, or as it came. */
static void write_own(const moving *m, const owned *body, cairn_writer *out)
{
    const size_t head = sizeof body->head, at = (size_t)body->record * m->record + head;
    if (body->row >= 0) {
        write_body(&m->world->bodies, body->row, &body->head, out);
    } else {
        cairn_write_raw(out, &body->head, head);
        cairn_write_raw(out, m->came.data + at, m->record - head);
    }
}

/* Exchange the second messages: to each near member its ghosts. Members are received in their
 * order, so that `ghosts` are in the order of rows: lower ones, then, after own bodies, higher
 * ones. */
static void bring_ghosts(moving *m)
{
    for (int k = 0; k < m->members; k++) {
        m->to[k].size = 0; /* its memory is used again */
        for (int i = 0; m->slot[k] >= 0 && i < m->own_count; i++)
            if (is_ghost(m, i, k))
                write_own(m, &m->own[i], &m->to[k]);
        if (m->slot[k] >= 0)
            cairn_link_send(m->x->link, k, m->to[k].data, m->to[k].size);
    }
    int rows = 0; /* plus held rows, later */
    for (int k = 0; k < m->members; k++) {
        int count = k == m->me ? m->own_count : 0;
        if (m->slot[k] >= 0) {
            size_t size = 0;
            const void *data = cairn_link_receive(m->x->link, k, &size);
            count = (int)(size / m->record);
            cairn_write_raw(&m->ghosts, data, size);
        }
        m->x->neighbour[k].in = rows;
        m->x->neighbour[k].in_end = rows += count;
        m->lower += k < m->me ? count : 0;
        m->higher += k > m->me ? count : 0;
    }
}

/* ---- the new rows --------------------------------------------------------------------------- */

/* For each neighbour, the rows that it has as ghosts. They are ascending, in the order in which
 * bring_ghosts sent them, so later messages need no uids. */
static cairn_status list_ghosts(moving *m)
{
    cairn_exchange *x = m->x;
    int held = m->world->bodies.held;
    x->own = held + m->lower;
    x->own_end = x->own + m->own_count;
    for (int k = 0; k < m->members; k++) {
        cairn_neighbour *n = &x->neighbour[k];
        n->in += held;
        n->in_end += held;
        n->outs = 0;
        if (m->slot[k] < 0)
            continue;
        TRY(cairn_memory_extend((void **)&n->out, &n->capacity, m->to[k].size / m->record + 1,
                                sizeof *n->out));
        for (int i = 0; i < m->own_count; i++)
            if (is_ghost(m, i, k))
                n->out[n->outs++] = x->own + i;
    }
    return CAIRN_OK;
}

/* The dynamic row k after the arrangement: its head, and where it comes from. */
static traveller new_row(const moving *m, int k, cairn_row_source *from)
{
    const unsigned char *records = m->ghosts.data;
    int own = k - m->lower, record = own < 0 ? k : k - m->own_count;
    if (own >= 0 && own < m->own_count) {
        const owned *body = &m->own[own];
        *from = (cairn_row_source){ NULL, body->row };
        if (body->row >= 0)
            return body->head;
        records = m->came.data;
        record = body->record;
    }
    const unsigned char *at = records + (size_t)record * m->record;
    *from = (cairn_row_source){ at + sizeof(traveller), -1 };
    return records == m->came.data ? m->own[own].head : head_of(records, m->record, record);
}

/* Put own bodies and ghosts into the dynamic rows. The memory for rows is taken before the first
 * one changes. */
static cairn_status settle(moving *m)
{
    cairn_exchange *x = m->x;
    cairn_body_store *b = &m->world->bodies;
    cairn_arena *scratch = &m->world->scratch;
    int count = m->lower + m->own_count + m->higher, all = b->held + count;
    TRY(cairn_bodies_reserve(b, (size_t)all));
    TRY(cairn_memory_extend((void **)&x->order, &x->capacity, (size_t)all + 1, sizeof *x->order));
    x->part = cairn_arena_take(scratch, (size_t)count, sizeof *x->part);
    TRY(cairn_memory_extend((void **)&x->grant, &x->grants, (size_t)all + 1, sizeof *x->grant));
    x->margin = cairn_arena_take(scratch, (size_t)all, sizeof *x->margin);
    cairn_row_source *from = cairn_arena_take(scratch, (size_t)count + 1, sizeof *from);
    if (!x->part || !x->margin || !from)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < count; k++)
        new_row(m, k, &from[k]);
    TRY(cairn_bodies_replace(b, from, count, scratch));
    for (int k = 0; k < count; k++) {
        traveller head = new_row(m, k, &from[k]);
        int row = b->held + k;
        x->order[row] = head.order;
        x->part[k] = (uint16_t)head.part;
        x->margin[row] = head.margin;
        x->grant[row] = (cairn_grant){ b->x[row], head.margin };
    }
    return list_ghosts(m);
}

/* Append received contacts to those that were here. Their uids become rows. */
static cairn_status take_contacts(moving *m)
{
    cairn_world *world = m->world;
    cairn_contact_store *c = &world->contacts;
    size_t size = contact_size(world), came = m->met.size / size;
    TRY(cairn_contacts_reserve(c, (size_t)c->count + came, c->set, world->dimension));
    for (size_t i = 0; i < came; i++) {
        const unsigned char *at = m->met.data + i * size;
        size_t j = (size_t)c->count;
        meeting head;
        memcpy(&head, at, sizeof head);
        cairn_contact_append(c, at + sizeof head, world->dimension);
        /* found in every case: bodies of contacts are own, ghosts or held */
        for (size_t side = 0; side < 2; side++)
            c->body[2 * j + side] = cairn_directory_find(&world->bodies.directory, head.uid[side]);
    }
    world->contacts_sorted = cairn_contacts_are_sorted(c);
    return CAIRN_OK;
}

/* Contacts on their way have the columns that any member has: one without contacts so far may have
 * fewer. */
static cairn_status agree_on_columns(moving *m)
{
    enum { BITS = 8 * sizeof(unsigned) };
    cairn_contact_store *c = &m->world->contacts;
    int64_t has[BITS];
    unsigned set = 0;
    for (int bit = 0; bit < BITS; bit++)
        has[bit] = c->set >> bit & 1;
    cairn_link_sums(m->x->link, has, BITS);
    for (int bit = 0; bit < BITS; bit++)
        set |= has[bit] > 0 ? 1u << bit : 0;
    return cairn_contacts_reserve(c, (size_t)c->count + 1, set, m->world->dimension);
}

/* The whole arrangement. Between the first and the last exchange of messages a member must not
 * return early for lack of memory without `agree`: the others would wait for its messages.
 * cairn_exchange_move therefore calls it on every path. */
static cairn_status rearrange(moving *m, double h, double least)
{
    cairn_world *world = m->world;
    TRY(agree_on_columns(m));
    if (m->place)
        TRY(choose_places(m));
    else
        choose_members(m);
    send_bodies(m, h, least);
    for (int j = 0; j < world->contacts.count; j++)
        send_contact(m, j);
    migrate(m);
    TRY(list_own(m, h, least));
    if (m->place)
        TRY(renumber(m));
    /* only after sending: contacts that leave must have been written */
    cairn_exchange_keep_contacts(world, m->holder);
    TRY(choose_ghosts(m));
    bring_ghosts(m);
    if (has_failed(m))
        return CAIRN_NO_MEMORY;
    TRY(settle(m));
    /* contacts that stayed follow their bodies to the new rows, before received ones are
     * appended */
    cairn_world_name_rows(world);
    return take_contacts(m);
}

/* Free what is not in the scratch. */
static void finish(moving *m)
{
    for (int k = 0; m->to && k < m->members; k++)
        cairn_writer_destroy(&m->to[k]);
    cairn_memory_free(m->to);
    cairn_writer_destroy(&m->came);
    cairn_writer_destroy(&m->ghosts);
    cairn_writer_destroy(&m->met);
    cairn_directory_release(&m->known);
}

/* Arrays by the rows as they are before the arrangement. */
static cairn_status start(moving *m, int parts)
{
    cairn_world *world = m->world;
    size_t rows = (size_t)(world->bodies.count - world->bodies.held);
    m->x->parts = parts;
    m->x->bodies.first = cairn_link_first(m->x->link, m->me, parts);
    m->x->bodies.end = cairn_link_first(m->x->link, m->me + 1, parts);
    m->holder = cairn_arena_take(&world->scratch, rows, sizeof *m->holder);
    if (m->place) /* otherwise parts are known */
        m->x->part = cairn_arena_take(&world->scratch, rows, sizeof *m->x->part);
    m->span = cairn_arena_take(&world->scratch, (size_t)m->members, sizeof *m->span);
    m->to = cairn_memory_zeroed((size_t)m->members, sizeof *m->to);
    return m->holder && m->x->part && m->span && m->to ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* All members call this together. If one fails, all fail (cairn_exchange_agree). */
cairn_status cairn_exchange_move(cairn_world *world, const cairn_step_options *options, int parts,
                                 const uint64_t *place)
{
    cairn_exchange *x = &world->exchange;
    moving m = { .world = world,
                 .x = x,
                 .members = x->link->members,
                 .me = x->link->member,
                 .record = body_size(),
                 .way = cairn_lattice_way(world, options->time_step),
                 .place = place };
    cairn_status status = start(&m, parts);
    if (status == CAIRN_OK)
        status = rearrange(&m, options->time_step, options->margin);
    finish(&m);
    x->arranged = status == CAIRN_OK && !place;
    return cairn_exchange_agree(world, status);
}
