/* exchange.c - members that compute one world together: how they join, and what they exchange in a
 * step. parts.c cuts the world into parts; migrate.c moves bodies from one member to another. */
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

/* ---- making and leaving ---------------------------------------------------------------------- */

void cairn_exchange_release(cairn_exchange *x)
{
    cairn_making_release(x);
    for (int k = 0; x->neighbour && k < x->link->members; k++)
        cairn_memory_free(x->neighbour[k].out);
    cairn_memory_free(x->neighbour);
    cairn_memory_free(x->order);
    cairn_memory_free(x->grant);
    if (x->pace.bound)
        x->link->bound = NULL;
    cairn_memory_free(x->pace.bound);
    *x = (cairn_exchange){ 0 };
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

void cairn_world_fetch(const cairn_world *world, void *rows, size_t size)
{
    cairn_exchange_fetch(world, rows, size);
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
    x->arranged = false;
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
    x->arranged = false;
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

/* An array of rows of `size` bytes. */
typedef struct rows {
    char *at;
    size_t size;
} rows;

/* Write the rows of own bodies that a neighbour has as ghosts. */
static void write_ghosts(const cairn_neighbour *n, const rows *list, int count, cairn_writer *out)
{
    for (int k = 0; k < count; k++)
        for (int i = 0; i < n->outs; i++)
            cairn_write_raw(out, list[k].at + (size_t)n->out[i] * list[k].size, list[k].size);
}

static void read_ghosts(cairn_link *link, int from, const cairn_neighbour *n, const rows *list,
                        int count)
{
    size_t found, expected = 0, ghosts = (size_t)(n->in_end - n->in);
    const char *message = cairn_link_receive(link, from, &found);
    for (int k = 0; k < count; k++)
        expected += ghosts * list[k].size;
    if (link->status == CAIRN_OK && found != expected)
        link->status = CAIRN_BAD_INPUT;
    for (int k = 0; k < count && link->status == CAIRN_OK; k++) {
        memcpy(list[k].at + (size_t)n->in * list[k].size, message, ghosts * list[k].size);
        message += ghosts * list[k].size;
    }
}

/* All messages are sent before the first one is received: messages are buffered, so no two members
 * wait for each other. Both members know whether there are ghosts between them. */
static void fetch(const cairn_world *world, const rows *list, int count)
{
    const cairn_exchange *x = &world->exchange;
    for (int k = 0; x->link && k < x->link->members; k++) {
        const cairn_neighbour *n = &x->neighbour[k];
        cairn_writer message = { 0 };
        if (k == x->link->member || n->outs == 0)
            continue;
        write_ghosts(n, list, count, &message);
        if (message.failed)
            x->link->status = CAIRN_NO_MEMORY;
        cairn_link_send(x->link, k, message.data, message.size);
        cairn_writer_destroy(&message);
    }
    for (int k = 0; x->link && k < x->link->members; k++) {
        const cairn_neighbour *n = &x->neighbour[k];
        if (k != x->link->member && n->in_end > n->in)
            read_ghosts(x->link, k, n, list, count);
    }
}

void cairn_exchange_fetch(const cairn_world *world, void *x, size_t size)
{
    fetch(world, &(rows){ x, size }, 1);
}

/* m: how far a body reaches in this step, at least: as first_reach of contacts.c, with the speed at
 * the beginning of the step. */
static double reach_of(const cairn_world *world, int i, const cairn_step_options *options)
{
    const cairn_body_store *b = &world->bodies;
    double h = options->time_step,
           speed = cairn_norm(b->v[i]) + b->arm[i] * cairn_norm(b->omega[i]);
    double reach =
        1.25 * h * speed + 3.5 * h * h * cairn_norm(world->gravity) + 0.02 * b->extent[i];
    return fmax(reach, options->margin);
}

/* Whether no own body has come closer to bodies of which it is no ghost than was granted; what is
 * left of the grants is for this step. */
static bool grants_suffice(const cairn_world *world, const cairn_step_options *options,
                           double *margin)
{
    const cairn_exchange *x = &world->exchange;
    bool enough = true;
    for (int i = x->own; i < x->own_end && enough; i++) {
        const cairn_grant *g = &x->grant[i];
        margin[i] = g->reach - cairn_norm(cairn_sub(world->bodies.x[i], g->x));
        enough = reach_of(world, i, options) <= margin[i];
    }
    return enough;
}

/* In a periodic cell bodies are put back, and images move. */
cairn_status cairn_exchange_stay(cairn_world *world, const cairn_step_options *options, bool *done)
{
    enum { MOST = 64 };
    const cairn_column_list *list = &cairn_columns_of_bodies;
    cairn_exchange *x = &world->exchange;
    cairn_body_store *b = &world->bodies;
    rows columns[MOST];
    double *margin = cairn_arena_take(&world->scratch, (size_t)b->count, sizeof *margin);
    uint16_t *part = cairn_arena_take(&world->scratch, (size_t)(b->count - b->held), sizeof *part);
    if (!margin || !part || list->count > MOST)
        return CAIRN_NO_MEMORY;
    *done = cairn_link_all(x->link, x->arranged && !cairn_lattice_of(world) &&
                                        grants_suffice(world, options, margin));
    if (!*done)
        return CAIRN_OK;
    for (int k = 0; k < list->count; k++)
        columns[k] = (rows){ cairn_column_get(list, k, b), cairn_column_row(&list->items[k], 3) };
    fetch(world, columns, list->count);
    cairn_parts_name(world, 0, b->count - b->held, part);
    x->part = part;
    x->margin = margin;
    x->stays++;
    return x->link->status;
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
    if (x->again) {
        x->generosity *= 2;
        x->arranged = false;
    }
    TRY(x->link->status);
    /* any failure will do: cairn_world_step sees `again` and repeats the step */
    return x->again ? CAIRN_UNSUPPORTED : CAIRN_OK;
}

/* A member that fails must not wait for the others, so it leaves; the others then fail in their
 * next message, at the latest in the sum below, which waits for all members. */
static cairn_status agree(cairn_world *world, cairn_status status, bool here, bool *anywhere)
{
    cairn_link *link = world->exchange.link;
    bool own = status != CAIRN_OK;
    if (own)
        link->status = status;
    *anywhere = cairn_link_any(link, here);
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

/* After `again` all members agree already. */
cairn_status cairn_exchange_agree(cairn_world *world, cairn_status status)
{
    bool unused;
    if (!world->exchange.link || world->exchange.again)
        return status;
    return agree(world, status, false, &unused);
}

cairn_status cairn_exchange_agree_length(cairn_world *world, cairn_status status)
{
    cairn_exchange *x = &world->exchange;
    x->too_long = x->long_here;
    if (!x->link || x->again)
        return status;
    TRY(agree(world, x->long_here ? CAIRN_OK : status, x->long_here, &x->too_long));
    return x->too_long ? CAIRN_BAD_INPUT : CAIRN_OK;
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
