/* gather.c - what the members of a world know together, collected by member 0: its bodies and
 * contacts in the order of the whole world, and the inputs of the last step, so that they can be
 * written to files as those of a world that one process computes.
 *
 *   rows      A body gets its row of the whole world (`order`). Usually members have ranges of them
 *             one after the other, and the rows of a column are those of all members in turn.
 *   contacts  A contact between two members is sent by the one that has the lower row. Each member
 *             sends its contacts sorted by rows; member 0 merges these lists.
 *   impacts   In the order of their rounds, and in a round by contacts.
 *   others    Joints, inlets, shapes and loads are known to all members.
 * There is one message for each column and member.
 *
 * Also what only one member knows of a step and all report: which contact has the largest residual,
 * and which bodies overlap most. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "world/world.h"

/* What a member will send. */
typedef struct share {
    int64_t rows, contacts;
    int64_t stepped; /* rows that were there in the last step: inlets add more after it */
    uint64_t set;    /* columns of contacts that have memory: CAIRN_CONTACTS_... */
    uint64_t inputs; /* one bit for each array of `inputs` that it has          */
} share;

/* The arrays of cairn_step_inputs. */
static const struct {
    size_t offset, size; /* size: bytes of a row; 0: `dimension` doubles */
    bool by_contact;
} inputs[] = {
    { offsetof(cairn_step_inputs, force), sizeof(cairn_vec3), false },
    { offsetof(cairn_step_inputs, torque), sizeof(cairn_vec3), false },
    { offsetof(cairn_step_inputs, damping), sizeof(cairn_vec3), false },
    { offsetof(cairn_step_inputs, x), sizeof(cairn_vec3), false },
    { offsetof(cairn_step_inputs, q), sizeof(cairn_quat), false },
    { offsetof(cairn_step_inputs, v), sizeof(cairn_vec3), false },
    { offsetof(cairn_step_inputs, omega), sizeof(cairn_vec3), false },
    { offsetof(cairn_step_inputs, bias), sizeof(double), true },
    { offsetof(cairn_step_inputs, exact), sizeof(uint8_t), true },
    { offsetof(cairn_step_inputs, compression), 0, true },
    { offsetof(cairn_step_inputs, correction), sizeof(double), true },
};

enum { INPUTS = sizeof inputs / sizeof inputs[0] };

typedef struct gathering {
    cairn_world *world; /* of this member                                                  */
    cairn_world *whole; /* NULL: not with this member                                      */
    cairn_link *link;
    share *shares;    /* of all members                                                    */
    share all;        /* sums; columns and inputs that any has                             */
    int32_t *counted; /* contacts that this member sends, ascending                        */
    int32_t *pair;    /* member 0: rows of the two bodies of each contact as they arrive   */
    int32_t *place;   /* member 0: where each contact goes                                 */
    char *packed;     /* one column of the contacts that this member sends                 */
    int32_t *row;     /* member 0: the row of each body that arrives                       */
    bool in_order;    /* member 0: these are ascending                                     */
} gathering;

/* ---- what there is -------------------------------------------------------------------------- */

/* Whether this member counts a contact: the dynamic body in the lower row is its own. */
static bool is_counted(const cairn_world *world, int j)
{
    const int32_t *body = world->contacts.body + 2 * (size_t)j;
    int low = body[0] < body[1] ? body[0] : body[1], high = body[0] < body[1] ? body[1] : body[0];
    return cairn_world_moves(world, low < world->bodies.held ? high : low);
}

static const void *input_of(const cairn_step_inputs *in, int k)
{
    const void *rows;
    memcpy(&rows, (const char *)in + inputs[k].offset, sizeof rows);
    return rows;
}

static share describe(const cairn_world *world, int contacts)
{
    const cairn_exchange *x = &world->exchange;
    const cairn_step_inputs in = cairn_world_step_inputs(world);
    share own = { .rows = x->own_end - x->own, .contacts = contacts, .set = world->contacts.set };
    int end = in.count < x->own_end ? in.count : x->own_end;
    own.stepped = end > x->own ? end - x->own : 0;
    for (int k = 0; k < INPUTS; k++)
        if (input_of(&in, k))
            own.inputs |= UINT64_C(1) << k;
    return own;
}

static cairn_status survey(gathering *g)
{
    cairn_world *world = g->world;
    int count = 0, members = g->link->members;
    g->counted =
        cairn_arena_take(&world->scratch, (size_t)world->contacts.count, sizeof *g->counted);
    g->shares = cairn_arena_take(&world->scratch, (size_t)members, sizeof *g->shares);
    TRY(cairn_exchange_agree(world, g->counted && g->shares ? CAIRN_OK : CAIRN_NO_MEMORY));
    for (int j = 0; j < world->contacts.count; j++)
        if (is_counted(world, j))
            g->counted[count++] = j;
    g->shares[g->link->member] = describe(world, count);
    cairn_link_share(g->link, members, g->shares, sizeof *g->shares);
    g->all = (share){ 0 };
    for (int k = 0; k < members; k++) {
        g->all.rows += g->shares[k].rows;
        g->all.stepped += g->shares[k].stepped;
        g->all.contacts += g->shares[k].contacts;
        g->all.set |= g->shares[k].set;
        g->all.inputs |= g->shares[k].inputs;
    }
    return g->link->status;
}

/* ---- memory --------------------------------------------------------------------------------- */

static size_t input_size(const cairn_world *world, int k)
{
    return inputs[k].size > 0 ? inputs[k].size : (size_t)world->dimension * sizeof(double);
}

/* Arrays for the inputs, in the scratch of the whole world. */
static cairn_status take_inputs(gathering *g)
{
    cairn_world *whole = g->whole;
    size_t rows = (size_t)g->world->bodies.held + (size_t)g->all.stepped;
    cairn_arena_reset(&whole->scratch);
    whole->problem_r = NULL;
    whole->inputs = (cairn_step_inputs){ .count = g->all.inputs ? (int)rows : 0 };
    for (int k = 0; k < INPUTS; k++) {
        if (!(g->all.inputs >> k & 1))
            continue;
        void *array =
            cairn_arena_take(&whole->scratch, inputs[k].by_contact ? (size_t)g->all.contacts : rows,
                             input_size(whole, k));
        if (!array)
            return CAIRN_NO_MEMORY;
        memcpy((char *)&whole->inputs + inputs[k].offset, &array, sizeof array);
    }
    const cairn_step_inputs in = cairn_world_step_inputs(g->world);
    whole->inputs.changes = in.changes; /* all members know them */
    whole->inputs.change = in.change;
    return CAIRN_OK;
}

static cairn_status take_whole(gathering *g)
{
    cairn_world *whole = g->whole;
    const cairn_body_store *mine = &g->world->bodies;
    size_t rows = (size_t)mine->held + (size_t)g->all.rows, contacts = (size_t)g->all.contacts;
    if (rows > INT32_MAX || contacts > INT32_MAX)
        return CAIRN_NO_MEMORY;
    cairn_making_release(&whole->exchange);
    TRY(cairn_bodies_reserve(&whole->bodies, rows));
    TRY(cairn_contacts_reserve(&whole->contacts, contacts, (unsigned)g->all.set, whole->dimension));
    g->pair = cairn_arena_take(&g->world->scratch, 2 * contacts, sizeof *g->pair);
    g->place = cairn_arena_take(&g->world->scratch, contacts, sizeof *g->place);
    g->row = cairn_arena_take(&g->world->scratch, rows, sizeof *g->row);
    if (!g->pair || !g->place || !g->row)
        return CAIRN_NO_MEMORY;
    return take_inputs(g);
}

/* All memory is taken before the first column is sent. A column that only other members have so far
 * is zero here. */
static cairn_status take_memory(gathering *g)
{
    cairn_contact_store *c = &g->world->contacts;
    size_t widest = 4 * sizeof(double);
    const cairn_column_list *list = &cairn_columns_of_contacts;
    for (int k = 0; k < list->count; k++) {
        size_t size = cairn_column_row(&list->items[k], g->world->dimension);
        widest = size > widest ? size : widest;
    }
    g->packed = cairn_arena_take(&g->world->scratch,
                                 (size_t)g->shares[g->link->member].contacts + 1, widest);
    if (!g->packed)
        return CAIRN_NO_MEMORY;
    TRY(cairn_contacts_reserve(c, (size_t)c->count + 1, (unsigned)g->all.set, g->world->dimension));
    return g->whole ? take_whole(g) : CAIRN_OK;
}

/* ---- columns -------------------------------------------------------------------------------- */

/* Where the bodies of all members go. */
static void gather_places(gathering *g)
{
    const cairn_exchange *x = &g->world->exchange;
    size_t own = (size_t)(x->own_end - x->own), at = 0;
    if (!g->whole) {
        cairn_link_send(g->link, 0, x->order + x->own, own * sizeof *x->order);
        return;
    }
    g->in_order = true;
    for (int k = 0; k < g->link->members; k++) {
        size_t found;
        const void *orders = k == 0 ? x->order + x->own : cairn_link_receive(g->link, k, &found);
        for (size_t i = 0; orders && i < (size_t)g->shares[k].rows; i++, at++) {
            int64_t order;
            memcpy(&order, (const char *)orders + i * sizeof order, sizeof order);
            g->row[at] = (int32_t)order;
            g->in_order = g->in_order && order == (int64_t)at + g->world->bodies.held;
        }
    }
}

/* Rows of a member, of which `first` of all members have arrived before. */
typedef struct portion {
    const char *rows;
    size_t first, count, size;
} portion;

static void put_rows(const gathering *g, const portion *p, bool in_order, char *to)
{
    size_t held = (size_t)g->world->bodies.held;
    if (in_order && p->count > 0)
        memcpy(to + (held + p->first) * p->size, p->rows, p->count * p->size);
    for (size_t i = 0; !in_order && i < p->count; i++)
        memcpy(to + (size_t)g->row[p->first + i] * p->size, p->rows + i * p->size, p->size);
}

/* The rows of an array, of bodies that exist now or of those of the last step: own ones go to
 * member 0, which has the held ones. */
static void gather_rows(gathering *g, const char *from, size_t size, bool stepped, char *to)
{
    const cairn_exchange *x = &g->world->exchange;
    const char *own = from + (size_t)x->own * size;
    const share *mine = &g->shares[g->link->member];
    if (!g->whole) {
        cairn_link_send(g->link, 0, own, (size_t)(stepped ? mine->stepped : mine->rows) * size);
        return;
    }
    memcpy(to, from, (size_t)g->world->bodies.held * size);
    for (size_t k = 0, at = 0; k < (size_t)g->link->members; k++) {
        size_t count = (size_t)(stepped ? g->shares[k].stepped : g->shares[k].rows), found;
        const char *rows = k == 0 ? own : cairn_link_receive(g->link, (int)k, &found);
        if (k > 0 && g->link->status == CAIRN_OK && found != count * size)
            g->link->status = CAIRN_BAD_INPUT;
        if (g->link->status == CAIRN_OK)
            put_rows(g, &(portion){ rows, at, count, size }, stepped || g->in_order, to);
        at += count;
    }
}

/* Copy rows of contacts, as they arrive, to their places; returns how many there were so far. */
static size_t put_contacts(const gathering *g, const portion *p, char *to)
{
    for (size_t i = 0; i < p->count; i++)
        memcpy(to + (size_t)g->place[p->first + i] * p->size, p->rows + i * p->size, p->size);
    return p->first + p->count;
}

/* An array that only other members have is zero here (`from` is NULL): nothing was corrected. */
static void gather_contacts(gathering *g, const void *from, size_t size, void *to)
{
    size_t own = (size_t)g->shares[g->link->member].contacts, done = 0;
    if (!from)
        memset(g->packed, 0, own * size);
    for (size_t i = 0; from && i < own; i++)
        memcpy(g->packed + i * size, (const char *)from + (size_t)g->counted[i] * size, size);
    if (!g->whole) {
        cairn_link_send(g->link, 0, g->packed, own * size);
        return;
    }
    done = put_contacts(g, &(portion){ g->packed, done, own, size }, to);
    for (int k = 1; k < g->link->members; k++) {
        size_t found, count = (size_t)g->shares[k].contacts;
        const char *rows = cairn_link_receive(g->link, k, &found);
        if (g->link->status == CAIRN_OK && found != count * size)
            g->link->status = CAIRN_BAD_INPUT;
        if (g->link->status == CAIRN_OK)
            done = put_contacts(g, &(portion){ rows, done, count, size }, to);
    }
}

/* ---- the order of contacts ------------------------------------------------------------------ */

/* The rows of the two bodies in the whole world. */
static void gather_pairs(gathering *g)
{
    const cairn_world *world = g->world;
    size_t own = (size_t)g->shares[g->link->member].contacts;
    int32_t *mine = g->whole ? g->pair : (int32_t *)g->packed;
    for (size_t i = 0; i < 2 * own; i++) {
        int row = world->contacts.body[2 * (size_t)g->counted[i / 2] + i % 2];
        mine[i] = row < world->bodies.held ? row : (int32_t)world->exchange.order[row];
    }
    if (!g->whole) {
        cairn_link_send(g->link, 0, mine, 2 * own * sizeof *mine);
        return;
    }
    int32_t *at = g->pair + 2 * own;
    for (int k = 1; k < g->link->members; k++) {
        size_t count = 2 * (size_t)g->shares[k].contacts;
        cairn_link_receive_into(g->link, k, at, count * sizeof *at);
        at += count;
    }
}

static uint64_t key_of(const int32_t *pair)
{
    uint32_t a = (uint32_t)pair[0], b = (uint32_t)pair[1];
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* A contact as it arrives, to be sorted. */
typedef struct arrived {
    uint64_t key;
    int64_t at;
} arrived;

static int compare_arrived(const void *a, const void *b)
{
    const arrived *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return (p->at > q->at) - (p->at < q->at);
}

/* The lists of members are sorted unless bodies were removed since the last step. */
static bool are_sorted(const gathering *g)
{
    for (int64_t k = 0, at = 0; k < g->link->members; at += g->shares[k++].contacts)
        for (int64_t i = at + 1; i < at + g->shares[k].contacts; i++)
            if (key_of(g->pair + 2 * (i - 1)) > key_of(g->pair + 2 * i))
                return false;
    return true;
}

static cairn_status sort_contacts(gathering *g)
{
    size_t count = (size_t)g->all.contacts;
    arrived *list = cairn_arena_take(&g->world->scratch, count, sizeof *list);
    if (!list)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        list[i] = (arrived){ key_of(g->pair + 2 * i), (int64_t)i };
    qsort(list, count, sizeof *list, compare_arrived);
    for (size_t i = 0; i < count; i++)
        g->place[list[i].at] = (int32_t)i;
    return CAIRN_OK;
}

/* Merge the lists of all members by rows: `next` is the first contact of each that has no place
 * yet. Contacts of one pair come from one member and keep their order. */
static cairn_status merge_contacts(gathering *g)
{
    int members = g->link->members;
    int64_t *next = cairn_arena_take(&g->world->scratch, 2 * (size_t)members, sizeof *next);
    int64_t *end = next + members;
    if (!next)
        return CAIRN_NO_MEMORY;
    for (int64_t k = 0, at = 0; k < members; k++) {
        next[k] = at;
        end[k] = at += g->shares[k].contacts;
    }
    for (int64_t at = 0; at < g->all.contacts; at++) {
        int first = -1;
        for (int k = 0; k < members; k++)
            if (next[k] < end[k] &&
                (first < 0 || key_of(g->pair + 2 * next[k]) < key_of(g->pair + 2 * next[first])))
                first = k;
        g->place[next[first]++] = (int32_t)at;
    }
    return CAIRN_OK;
}

static cairn_status place_contacts(gathering *g)
{
    TRY(are_sorted(g) ? merge_contacts(g) : sort_contacts(g));
    for (int64_t i = 0; i < g->all.contacts; i++)
        memcpy(g->whole->contacts.body + 2 * (size_t)g->place[i], g->pair + 2 * i,
               2 * sizeof *g->pair);
    return CAIRN_OK;
}

/* ---- impacts within the step ---------------------------------------------------------------- */

typedef struct impact {
    int64_t round, contact; /* contact: its number among those that the member sends */
    double time, impulse[3];
} impact;

static int compare_impacts(const void *a, const void *b)
{
    const impact *p = a, *q = b;
    if (p->round != q->round)
        return p->round < q->round ? -1 : 1;
    return (p->contact > q->contact) - (p->contact < q->contact);
}

/* The number of contact j among those that this member sends; -1: another one sends it. */
static int64_t find_counted(const gathering *g, int j)
{
    int64_t low = 0, all = g->shares[g->link->member].contacts, high = all;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (g->counted[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all && g->counted[low] == j ? low : -1;
}

static void write_impacts(const gathering *g, cairn_writer *out)
{
    const cairn_step_inputs in = cairn_world_step_inputs(g->world);
    size_t d = (size_t)g->world->dimension;
    for (int k = 0; k < in.impacts; k++) {
        impact one = { .round = in.impact_round[k], .time = in.impact_time[k] };
        one.contact = find_counted(g, in.impact_contact[k]);
        memcpy(one.impulse, in.impact_impulse + (size_t)k * d, d * sizeof *one.impulse);
        if (one.contact >= 0)
            cairn_write_raw(out, &one, sizeof one);
    }
}

/* Append the impacts of a member; its contacts arrived from number `first` on. */
static void add_impacts(const gathering *g, const void *data, size_t bytes, int64_t first,
                        cairn_writer *all)
{
    for (size_t at = 0; data && at + sizeof(impact) <= bytes; at += sizeof(impact)) {
        impact one;
        memcpy(&one, (const char *)data + at, sizeof one);
        one.contact = g->place[first + one.contact];
        cairn_write_raw(all, &one, sizeof one);
    }
}

/* The arrays of the inputs, in the scratch of the whole world. */
static cairn_status store_impacts(cairn_world *whole, const impact *list, size_t count)
{
    size_t d = (size_t)whole->dimension;
    int32_t *round = cairn_arena_take(&whole->scratch, count, sizeof *round);
    int32_t *contact = cairn_arena_take(&whole->scratch, count, sizeof *contact);
    double *time = cairn_arena_take(&whole->scratch, count, sizeof *time);
    double *impulse = cairn_arena_take(&whole->scratch, count * d, sizeof *impulse);
    if (!round || !contact || !time || !impulse)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < count; k++) {
        round[k] = (int32_t)list[k].round;
        contact[k] = (int32_t)list[k].contact;
        time[k] = list[k].time;
        memcpy(impulse + k * d, list[k].impulse, d * sizeof *impulse);
    }
    cairn_step_inputs *in = &whole->inputs;
    in->impacts = (int)count;
    in->impact_round = round;
    in->impact_contact = contact;
    in->impact_time = time;
    in->impact_impulse = impulse;
    return CAIRN_OK;
}

/* Sorted by rounds and contacts, as one process finds them. */
static cairn_status receive_impacts(gathering *g, const cairn_writer *own, cairn_writer *all)
{
    for (int64_t k = 0, first = 0; k < g->link->members; first += g->shares[k++].contacts) {
        size_t bytes = own->size;
        const void *data = k == 0 ? own->data : cairn_link_receive(g->link, (int)k, &bytes);
        add_impacts(g, data, bytes, first, all);
    }
    size_t count = all->size / sizeof(impact);
    if (all->failed)
        return CAIRN_NO_MEMORY;
    if (count > 1)
        qsort(all->data, count, sizeof(impact), compare_impacts);
    return count > 0 ? store_impacts(g->whole, (const impact *)all->data, count) : CAIRN_OK;
}

static cairn_status gather_impacts(gathering *g)
{
    cairn_writer own = { 0 }, all = { 0 };
    cairn_status status = CAIRN_OK;
    write_impacts(g, &own);
    if (own.failed)
        g->link->status = CAIRN_NO_MEMORY;
    if (g->whole)
        status = receive_impacts(g, &own, &all);
    else
        cairn_link_send(g->link, 0, own.data, own.size);
    cairn_writer_destroy(&own);
    cairn_writer_destroy(&all);
    return status;
}

/* ---- the whole world ------------------------------------------------------------------------ */

/* Whether two entries of shape tables are the same. Geometry is compared by whether there is any:
 * each world has its own. */
static bool is_same_shape(const cairn_shape *a, const cairn_shape *b)
{
    if (a->kind != b->kind || !a->geometry != !b->geometry)
        return false;
    return a->geometry || memcmp(a, b, sizeof *a) == 0;
}

/* Shapes of bodies that came, and went, since the last time. Ids are the same in both tables. */
static cairn_status copy_shapes(const cairn_shape_table *from, cairn_shape_table *to)
{
    TRY(cairn_shapes_reserve(to, (size_t)from->count));
    for (int id = 0; id < from->count; id++) {
        if (id < to->count && is_same_shape(&from->items[id], &to->items[id]))
            continue;
        if (id < to->count)
            cairn_geometry_release(to->items[id].geometry);
        to->items[id] = from->items[id];
        to->items[id].geometry = cairn_geometry_retain(from->items[id].geometry);
    }
    for (int id = 0; id < from->count; id++) {
        to->users[id] = from->users[id];
        to->next_free[id] = from->next_free[id];
    }
    to->count = from->count;
    to->free = from->free;
    return CAIRN_OK;
}

/* What changes in steps: definitions stay. */
static void copy_joints(const cairn_joint_list *from, cairn_joint_list *to)
{
    const size_t state = offsetof(cairn_joint, turn);
    for (size_t k = 0; k < from->count && k < to->count; k++) {
        to->items[k].alive = from->items[k].alive;
        to->items[k].broken = from->items[k].broken;
        to->items[k].generation = from->items[k].generation;
        memcpy((char *)&to->items[k] + state, (const char *)&from->items[k] + state,
               sizeof *to->items - state);
    }
}

/* The bodies that wait at an inlet, with their geometries. */
static cairn_status copy_queue(const cairn_inlet *from, cairn_inlet *to)
{
    TRY(cairn_memory_reserve((void **)&to->queue, &to->queue_capacity, from->queued,
                             sizeof *to->queue));
    for (size_t i = 0; i < from->queued; i++)
        cairn_geometry_retain(from->queue[i].shape.geometry);
    for (size_t i = 0; i < to->queued; i++)
        cairn_geometry_release(to->queue[i].shape.geometry);
    if (from->queued > 0)
        memcpy(to->queue, from->queue, from->queued * sizeof *to->queue);
    to->queued = from->queued;
    return CAIRN_OK;
}

static cairn_status copy_inlets(const cairn_inlet_list *from, cairn_inlet_list *to)
{
    for (size_t k = 0; k < from->count && k < to->count; k++) {
        to->items[k].state = from->items[k].state;
        to->items[k].released = from->items[k].released;
        to->items[k].waiting = from->items[k].waiting;
        to->items[k].flow = from->items[k].flow;
        to->items[k].turn = from->items[k].turn;
        TRY(copy_queue(&from->items[k], &to->items[k]));
    }
    for (size_t k = 0; k < from->outlets.count && k < to->outlets.count; k++)
        to->outlets.items[k].state = from->outlets.items[k].state;
    return CAIRN_OK;
}

/* Integrals of drivers that follow a speed. */
static void copy_driven(const cairn_driven_list *from, cairn_driven_list *to)
{
    for (size_t k = 0; k < from->count && k < to->count; k++) {
        to->items[k].until = from->items[k].until;
        to->items[k].moved = from->items[k].moved;
        to->items[k].turned = from->items[k].turned;
    }
}

/* Drop loads of bodies that are gone. */
static void prune_loads(cairn_world *whole)
{
    for (size_t k = whole->loaded.count; k-- > 0;)
        if (k < whole->loaded.count &&
            cairn_directory_find(&whole->bodies.directory, whole->loaded.items[k].uid) < 0)
            cairn_drivers_remove(whole, whole->loaded.items[k].uid);
}

/* The state besides columns, which all members have. */
static cairn_status copy_rest(const cairn_world *from, cairn_world *to)
{
    TRY(copy_shapes(&from->bodies.shapes, &to->bodies.shapes));
    copy_joints(&from->joints, &to->joints);
    TRY(copy_inlets(&from->inlets, &to->inlets));
    copy_driven(&from->driven, &to->driven);
    TRY(cairn_applied_copy(from, to));
    TRY(cairn_row_cut_copy(&from->bodies.cut, &to->bodies.cut));
    cairn_world_copy_varied(from, to);
    cairn_cells_copy(from, to);
    prune_loads(to);
    cairn_joints_index(to);
    to->time = from->time;
    to->clock = from->clock;
    to->contacts.step = from->contacts.step;
    to->contacts.moments = from->contacts.moments;
    to->materials.laws.moving = from->materials.laws.moving;
    to->bodies.next_uid = from->bodies.next_uid;
    to->bodies.apart = from->bodies.apart;
    to->bodies.far = from->bodies.far;
    return CAIRN_OK;
}

/* Rows and contacts have been replaced together, so there are no old rows to remember. */
static void settle(gathering *g)
{
    cairn_body_store *b = &g->whole->bodies;
    for (int i = 0; i < b->count; i++)
        cairn_directory_remove(&b->directory, b->uid[i]);
    b->held = g->world->bodies.held;
    b->count = b->held + (int)g->all.rows;
    b->moved = false;
}

static void gather_columns(gathering *g)
{
    const cairn_column_list *bodies = &cairn_columns_of_bodies, *list = &cairn_columns_of_contacts;
    cairn_step_inputs in = cairn_world_step_inputs(g->world);
    cairn_world *whole = g->whole;
    for (int k = 0; k < bodies->count; k++)
        gather_rows(g, cairn_column_get(bodies, k, &g->world->bodies),
                    cairn_column_row(&bodies->items[k], 3), false,
                    whole ? cairn_column_get(bodies, k, &whole->bodies) : NULL);
    for (int k = 0; k < list->count; k++) {
        const void *from = cairn_column_get(list, k, &g->world->contacts);
        if (cairn_contacts_own(&g->world->contacts, k) && from != g->world->contacts.body)
            gather_contacts(g, from, cairn_column_row(&list->items[k], g->world->dimension),
                            whole ? cairn_column_get(list, k, &whole->contacts) : NULL);
    }
    for (int k = 0; k < INPUTS; k++) {
        if (!(g->all.inputs >> k & 1))
            continue;
        void *to = whole ? (void *)(uintptr_t)input_of(&whole->inputs, k) : NULL;
        if (inputs[k].by_contact)
            gather_contacts(g, input_of(&in, k), input_size(g->world, k), to);
        else
            gather_rows(g, input_of(&in, k), input_size(g->world, k), true, to);
    }
}

/* Member 0 has all columns: make a world of them. */
static cairn_status complete(gathering *g)
{
    cairn_world *whole = g->whole;
    cairn_body_store *b = &whole->bodies;
    for (int i = 0; i < b->count; i++)
        cairn_directory_set(&b->directory, b->uid[i], i);
    whole->contacts.count = (int)g->all.contacts;
    TRY(copy_rest(g->world, whole));
    whole->contacts_sorted = cairn_contacts_are_sorted(&whole->contacts);
    whole->exchange.gathered = true;
    return CAIRN_OK;
}

static cairn_status gather(gathering *g)
{
    TRY(survey(g));
    TRY(cairn_exchange_agree(g->world, take_memory(g)));
    gather_places(g);
    gather_pairs(g);
    cairn_status status = g->whole ? place_contacts(g) : CAIRN_OK;
    if (g->whole)
        settle(g);
    TRY(cairn_exchange_agree(g->world, status));
    gather_columns(g);
    TRY(gather_impacts(g));
    TRY(g->link->status);
    return g->whole ? complete(g) : CAIRN_OK;
}

/* Temporary arrays are above the inputs of the last step in the scratch, which stay. */
cairn_status cairn_world_gather(cairn_world *world, cairn_world *whole)
{
    gathering g = { .world = world, .link = world->exchange.link };
    if (!g.link)
        return CAIRN_UNSUPPORTED;
    g.whole = g.link->member == 0 ? whole : NULL;
    cairn_world_name_rows(world);
    cairn_arena_moment before = cairn_arena_now(&world->scratch);
    cairn_status status = gather(&g);
    cairn_arena_return(&world->scratch, before);
    return status;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* What one member knows about a step: the contacts with the largest residual, by a key that sorts
 * them as in the whole world, and a number among those of the same key; and two pairs of bodies. */
typedef struct known {
    bool here[2]; /* of the law that was asked for, and of Coulomb's */
    uint64_t key[2];
    int64_t number[2];
    int64_t overlap[2], distance[2]; /* uids; -1: not known here */
} known;

static uint64_t whole_key(const cairn_world *world, int j)
{
    int32_t pair[2];
    for (size_t side = 0; side < 2; side++) {
        int row = world->contacts.body[2 * (size_t)j + side];
        pair[side] = row < world->bodies.held ? row : (int32_t)world->exchange.order[row];
    }
    return key_of(pair);
}

/* In the problem the rows of joints follow after all contacts, in blocks. */
static uint64_t joint_key(size_t k)
{
    return UINT64_C(1) << 63 | k;
}

/* The blocks that joint k has in the problem of this member. The member that has its dynamic bodies
 * has the joint; one between held bodies is the first member's. */
static int joint_blocks(const cairn_world *world, size_t k, int components)
{
    const cairn_joint *joint = &world->joints.items[k];
    const uint64_t uid[2] = { joint->def.a.uid, joint->def.b.uid };
    bool held = true;
    for (int side = 0; side < 2; side++) {
        int row = cairn_directory_find(&world->bodies.directory, uid[side]);
        if (uid[side] == CAIRN_NO_BODY || (row >= 0 && row < world->bodies.held))
            continue;
        held = false;
        if (row < 0 || !cairn_world_moves(world, row))
            return 0;
    }
    bool acts = joint->alive && !joint->broken && (!held || world->exchange.link->member == 0);
    return acts ? (joint->rows + components - 1) / components : 0;
}

/* The key of contact j of this member's problem, and its number among those with the same one;
 * false: there is no such contact. */
static bool find_key(const cairn_world *world, int j, int components, uint64_t *key,
                     int64_t *number)
{
    int block = j - world->contacts.count;
    *number = 0;
    if (j >= 0 && block < 0) {
        *key = whole_key(world, j);
        while (--j >= 0 && whole_key(world, j) == *key)
            ++*number;
        return true;
    }
    for (size_t k = 0; j >= 0 && k < world->joints.count; k++) {
        int blocks = joint_blocks(world, k, components);
        if (block < blocks) {
            *key = joint_key(k);
            *number = block;
            return true;
        }
        block -= blocks;
    }
    return false;
}

static known recall(const cairn_world *world, const cairn_step_report *report, int components)
{
    const cairn_judgement *judged = &report->certificate.judgement;
    const int worst[2] = { judged->asked.worst_contact, judged->coulomb.worst_contact };
    known own = { .here = { false, false } };
    for (int law = 0; law < 2; law++) {
        own.here[law] = find_key(world, worst[law], components, &own.key[law], &own.number[law]);
        own.overlap[law] = report->overlap_body[law]; /* two bodies, as there are two laws */
        own.distance[law] = report->distance_body[law];
    }
    return own;
}

/* The number of contacts, and blocks of joints, of the whole world before those with a key. */
static int64_t count_before(const cairn_world *world, uint64_t key, int components)
{
    int64_t count = 0;
    for (int j = 0; j < world->contacts.count; j++)
        count += is_counted(world, j) && whole_key(world, j) < key;
    for (size_t k = 0; k < world->joints.count && joint_key(k) < key; k++)
        count += joint_blocks(world, k, components);
    return cairn_link_sum(world->exchange.link, count);
}

/* The first member that knows something is believed: all that know it agree. */
static const known *first_of(const known *all, int members, int law)
{
    for (int k = 0; k < members; k++)
        if (all[k].here[law])
            return &all[k];
    return NULL;
}

static void take_pairs(const known *all, int members, cairn_step_report *report)
{
    for (int k = members - 1; k >= 0; k--)
        for (int side = 0; side < 2; side++) {
            if (all[k].overlap[0] >= 0)
                report->overlap_body[side] = all[k].overlap[side];
            if (all[k].distance[0] >= 0)
                report->distance_body[side] = all[k].distance[side];
        }
}

cairn_status cairn_exchange_report(cairn_world *world, int components, cairn_step_report *report)
{
    cairn_link *link = world->exchange.link;
    cairn_judgement *judged = &report->certificate.judgement;
    int *worst[2] = { &judged->asked.worst_contact, &judged->coulomb.worst_contact };
    if (!link)
        return CAIRN_OK;
    known *all = cairn_arena_take(&world->scratch, (size_t)link->members, sizeof *all);
    if (!all)
        return CAIRN_NO_MEMORY;
    memset(all, 0, (size_t)link->members * sizeof *all);
    all[link->member] = recall(world, report, components);
    cairn_link_share(link, link->members, all, sizeof *all);
    take_pairs(all, link->members, report);
    for (int law = 0; law < 2; law++) {
        const known *found = first_of(all, link->members, law);
        int64_t before = found ? count_before(world, found->key[law], components) : 0;
        *worst[law] = found ? (int)(before + found->number[law]) : -1;
    }
    return link->status;
}
