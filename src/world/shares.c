/* shares.c - a world as bytes that no process has as a whole: members save it together, and each of
 * them loads its share. The bytes are those of state.c, whoever writes them.
 *
 *   first      what all members know, up to the columns of bodies
 *   bodies     column by column, the rows of all members in their order
 *   middle     what all members know, up to the columns of contacts
 *   contacts   column by column, in the order of their rows: first those with held bodies, which
 *              member 0 merges by held body and member, then the others of one member after the
 *              other
 *   last       clock and cells
 *
 * Every number has 8 bytes, so the size is known in advance. Member 0 never has more than one
 * column of one member, and of contacts with held bodies one column of all.
 *
 * A share of a saved world has its own range of rows, the bodies of other members that touch them,
 * which are ghosts, and the contacts of both. It is itself such a world; behind it are the rows
 * that its bodies have in the whole one, and how many bodies use each shape there. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "world/world.h"

enum { NUMBER = 8 }; /* bytes of any number */

/* ---- columns -------------------------------------------------------------------------------- */

/* Numbers of a column in a row; 0 if it is not saved, or contacts have no memory for it. */
static size_t numbers_of(const cairn_column *c, const cairn_world *world)
{
    int width = c->width == CAIRN_WIDTH_DIMENSION ? world->dimension
                : c->width == CAIRN_WIDTH_TURNS   ? world->contacts.moments
                                                  : c->width;
    bool there = (c->goes & CAIRN_GOES_SAVED) && (c->set & ~world->contacts.set) == 0;
    return there ? (size_t)width : 0;
}

/* Bytes of all columns of a row. */
static size_t row_bytes(const cairn_column_list *list, const cairn_world *world)
{
    size_t numbers = 0;
    for (int k = 0; k < list->count; k++)
        numbers += numbers_of(&list->items[k], world);
    return NUMBER * numbers;
}

/* Number i of an array of a type. */
static void write_number(cairn_writer *w, cairn_column_type type, const void *numbers, size_t i)
{
    if (type == CAIRN_COLUMN_REAL)
        cairn_write_real(w, ((const double *)numbers)[i]);
    else if (type == CAIRN_COLUMN_LONG)
        cairn_write_whole(w, (int64_t)((const uint64_t *)numbers)[i]);
    else if (type == CAIRN_COLUMN_INT)
        cairn_write_whole(w, ((const int32_t *)numbers)[i]);
    else if (type == CAIRN_COLUMN_FLAG)
        cairn_write_whole(w, ((const bool *)numbers)[i]);
    else
        cairn_write_whole(w, ((const uint8_t *)numbers)[i]);
}

/* The largest value that an integer column may have: its numbers are used as indices. */
static int64_t highest(const cairn_column *c, const cairn_world *world)
{
    const int64_t limits[] = { [CAIRN_RANGE_ANY] = INT32_MAX,
                               [CAIRN_RANGE_NO_YES] = 1,
                               [CAIRN_RANGE_MOTION] = CAIRN_MOTION_COUNT - 1,
                               [CAIRN_RANGE_MATERIAL] = (int64_t)world->materials.count - 1,
                               [CAIRN_RANGE_SHAPE] = world->bodies.shapes.count - 1,
                               [CAIRN_RANGE_BODY] = world->bodies.count - 1 };
    return limits[c->range];
}

/* Real numbers are taken as they are; integers must be within the range of their column. */
static void read_column(cairn_reader *r, const cairn_world *world, const cairn_column *c,
                        void *numbers, size_t count)
{
    int64_t low = c->range == CAIRN_RANGE_ANY ? INT32_MIN : 0, high = highest(c, world);
    for (size_t i = 0; i < count && !r->failed; i++) {
        if (c->type == CAIRN_COLUMN_REAL)
            ((double *)numbers)[i] = cairn_read_real(r);
        else if (c->type == CAIRN_COLUMN_LONG)
            ((uint64_t *)numbers)[i] = (uint64_t)cairn_read_within(r, 0, INT64_MAX);
        else if (c->type == CAIRN_COLUMN_INT)
            ((int32_t *)numbers)[i] = (int32_t)cairn_read_within(r, low, high);
        else if (c->type == CAIRN_COLUMN_FLAG)
            ((bool *)numbers)[i] = cairn_read_within(r, 0, 1) != 0;
        else
            ((uint8_t *)numbers)[i] = (uint8_t)cairn_read_within(r, low, high);
    }
}

void cairn_columns_read(cairn_reader *r, const cairn_world *world, const cairn_columns_saved *part)
{
    for (int k = 0; k < part->list->count && !r->failed; k++) {
        size_t numbers = numbers_of(&part->list->items[k], world);
        size_t rest = NUMBER * numbers * (size_t)(part->all - part->rows);
        read_column(r, world, &part->list->items[k], cairn_column_get(part->list, k, part->store),
                    numbers * (size_t)part->rows);
        r->failed = r->failed || rest > r->size - r->at;
        r->at += r->failed ? 0 : rest;
    }
}

/* ---- what a member saves -------------------------------------------------------------------- */

/* What a member has to save; what all have. */
typedef struct load {
    int64_t rows;            /* own bodies                                        */
    int64_t walled, between; /* own contacts with a held body, and all others     */
    int64_t set, moments;    /* of its contacts                                   */
    int64_t possible;        /* 1: they are in order, and nothing is a callback   */
} load;

/* The contacts of a member that follow each other in the whole world. */
typedef struct run_of_contacts {
    int32_t held; /* the row of the held body */
    int32_t member;
    int64_t first, count; /* among all contacts with held bodies, as they arrive */
} run_of_contacts;

typedef struct saving {
    cairn_world *world;
    cairn_link *link; /* NULL: the world is whole */
    int me, members;
    load *loads, all;
    int32_t *contact; /* own contacts to save, in their order */
    cairn_writer first, middle, last, piece, walls, whole;
    run_of_contacts *runs;
    int64_t run_count;
    cairn_write_fn *write; /* member 0 */
    void *context;
    cairn_status status; /* of the first call of `write` that failed */
} saving;

static void close_saving(saving *s)
{
    cairn_writer_destroy(&s->first);
    cairn_writer_destroy(&s->middle);
    cairn_writer_destroy(&s->last);
    cairn_writer_destroy(&s->piece);
    cairn_writer_destroy(&s->walls);
    cairn_writer_destroy(&s->whole);
    cairn_memory_free(s->loads);
    cairn_memory_free(s->contact);
    cairn_memory_free(s->runs);
}

/* The row of a body in the whole world. */
static int32_t whole_row(const saving *s, int row)
{
    return s->link && row >= s->world->bodies.held ? (int32_t)s->world->exchange.order[row] : row;
}

static uint64_t key_of(const saving *s, int j)
{
    const int32_t *body = s->world->contacts.body + 2 * (size_t)j;
    uint64_t a = (uint64_t)whole_row(s, body[0]), b = (uint64_t)whole_row(s, body[1]);
    return a < b ? a << 32 | b : b << 32 | a;
}

/* List the contacts of this member: in a whole world all of them as they are, else those whose
 * dynamic body in the lower row is its own. Returns whether they are sorted by rows. */
static bool list_contacts(saving *s, load *own)
{
    const cairn_world *world = s->world;
    int held = world->bodies.held, count = 0;
    uint64_t last = 0;
    bool sorted = true;
    for (int j = 0; j < world->contacts.count; j++) {
        const int32_t *body = world->contacts.body + 2 * (size_t)j;
        int low = body[0] < body[1] ? body[0] : body[1];
        int high = body[0] < body[1] ? body[1] : body[0];
        if (s->link && !cairn_world_moves(world, low < held ? high : low))
            continue;
        uint64_t key = key_of(s, j);
        sorted = sorted && key >= last;
        last = key;
        s->contact[count++] = j;
        *(s->link && low < held ? &own->walled : &own->between) += 1;
    }
    return sorted;
}

/* Whether a function of time is a callback, which belongs to the program and cannot be saved. */
static bool has_callback(const cairn_world *world)
{
    bool found = cairn_drivers_call(world);
    for (size_t k = 0; k < world->driven.varied.count; k++) {
        const cairn_varied_number *v = &world->driven.varied.items[k];
        found |=
            v->told || (!world->driven.varied.plain && v->function.kind == CAIRN_FUNCTION_CALL);
    }
    for (size_t k = 0; k < world->loaded.count; k++)
        found |= world->loaded.items[k].load.course.kind == CAIRN_FUNCTION_CALL;
    for (size_t k = 0; k < 3 * world->driven.cells.count; k++) {
        const cairn_cell_axis *axis = &world->driven.cells.items[k / 3].def.axis[k % 3];
        found |= axis->stress.kind == CAIRN_FUNCTION_CALL ||
                 axis->force.kind == CAIRN_FUNCTION_CALL ||
                 axis->strain_rate.kind == CAIRN_FUNCTION_CALL;
    }
    return found;
}

static load describe(saving *s)
{
    const cairn_world *world = s->world;
    const cairn_exchange *x = &world->exchange;
    load own = { .set = world->contacts.set, .moments = world->contacts.moments };
    own.rows = s->link ? x->own_end - x->own : world->bodies.count - world->bodies.held;
    bool sorted = list_contacts(s, &own);
    own.possible = !x->making && !has_callback(world) && (!s->link || (sorted && !x->disordered));
    return own;
}

static cairn_status agree(saving *s, cairn_status status)
{
    return s->link ? cairn_exchange_agree(s->world, status) : status;
}

/* Share what all have. The columns of contacts are those that any member has. */
static cairn_status survey(saving *s)
{
    cairn_contact_store *c = &s->world->contacts;
    s->loads = cairn_memory_zeroed((size_t)s->members, sizeof *s->loads);
    s->contact = cairn_memory_zeroed((size_t)c->count + 1, sizeof *s->contact);
    TRY(agree(s, s->loads && s->contact ? CAIRN_OK : CAIRN_NO_MEMORY));
    s->loads[s->me] = describe(s);
    if (s->link)
        cairn_link_share(s->link, s->members, s->loads, sizeof *s->loads);
    s->all = (load){ .possible = 1 };
    for (int k = 0; k < s->members; k++) {
        s->all.rows += s->loads[k].rows;
        s->all.walled += s->loads[k].walled;
        s->all.between += s->loads[k].between;
        s->all.set |= s->loads[k].set;
        s->all.moments =
            s->all.moments > s->loads[k].moments ? s->all.moments : s->loads[k].moments;
        s->all.possible = s->all.possible && s->loads[k].possible;
    }
    if (!s->all.possible)
        return CAIRN_UNSUPPORTED;
    if (!s->link)
        return CAIRN_OK;
    c->moments = (int)s->all.moments;
    return agree(s, cairn_contacts_reserve(c, (size_t)c->count + 1, (unsigned)s->all.set,
                                           s->world->dimension));
}

/* Contacts are brought up to date with the rows first; this does not change the world as users see
 * it. */
static cairn_status open_saving(saving *s, const cairn_world *world)
{
    cairn_link *link = world->exchange.link;
    *s = (saving){ .world = (cairn_world *)world, .link = link, .members = 1 };
    s->members = link ? link->members : 1;
    s->me = link ? link->member : 0;
    cairn_world_name_rows(s->world);
    TRY(survey(s));
    cairn_state_write_first(&s->first, world, world->bodies.held + s->all.rows);
    cairn_state_write_middle(&s->middle, world, s->all.walled + s->all.between);
    cairn_state_write_last(&s->last, world);
    bool failed = s->first.failed || s->middle.failed || s->last.failed;
    return agree(s, failed ? CAIRN_NO_MEMORY : CAIRN_OK);
}

cairn_status cairn_world_saved_bytes(const cairn_world *world, int64_t *out)
{
    saving s;
    cairn_status status = open_saving(&s, world);
    size_t rows = (size_t)(world->bodies.held + s.all.rows);
    size_t contacts = (size_t)(s.all.walled + s.all.between);
    *out =
        (int64_t)(s.first.size + rows * row_bytes(&cairn_columns_of_bodies, world) + s.middle.size +
                  contacts * row_bytes(&cairn_columns_of_contacts, world) + s.last.size);
    close_saving(&s);
    return status;
}

/* ---- saving --------------------------------------------------------------------------------- */

/* A whole world is written at once, all bytes or nothing. After a failure nothing more is written,
 * but the messages of others are still received. */
static void put(saving *s, const void *data, size_t bytes)
{
    if (!s->link)
        cairn_write_raw(&s->whole, data, bytes);
    else if (s->status == CAIRN_OK && bytes > 0)
        s->status = s->write(data, bytes, s->context);
}

static void put_writer(saving *s, cairn_writer *w)
{
    if (w->failed && s->status == CAIRN_OK)
        s->status = CAIRN_NO_MEMORY;
    put(s, w->data, w->size);
    w->size = 0;
}

/* What a member has of a column: member 0 writes it, and then that of the others, which send it. */
static void pass_on(saving *s)
{
    if (s->piece.failed && s->link)
        s->link->status = CAIRN_NO_MEMORY; /* all find out when they agree */
    if (s->me > 0) {
        cairn_link_send(s->link, 0, s->piece.data, s->piece.size);
        s->piece.size = 0;
        return;
    }
    put_writer(s, &s->piece);
    for (int k = 1; k < s->members; k++) {
        size_t bytes;
        const void *data = cairn_link_receive(s->link, k, &bytes);
        put(s, data, bytes);
    }
}

static void save_bodies(saving *s)
{
    const cairn_body_store *b = &s->world->bodies;
    const cairn_column_list *list = &cairn_columns_of_bodies;
    int own = s->link ? s->world->exchange.own : b->held;
    for (int k = 0; k < list->count; k++) {
        const cairn_column *c = &list->items[k];
        const void *numbers = cairn_column_get(list, k, b);
        size_t width = numbers_of(c, s->world);
        for (size_t i = 0; s->me == 0 && i < (size_t)b->held * width; i++)
            write_number(&s->piece, c->type, numbers, i);
        for (size_t i = 0; i < (size_t)s->loads[s->me].rows * width; i++)
            write_number(&s->piece, c->type, numbers, (size_t)own * width + i);
        if (width > 0)
            pass_on(s);
    }
}

/* Contacts [begin, end) of those that this member saves, of column k. Their bodies have the rows of
 * the whole world. */
static void write_contacts(saving *s, int k, int64_t begin, int64_t end)
{
    const cairn_contact_store *store = &s->world->contacts;
    const cairn_column *c = &cairn_columns_of_contacts.items[k];
    const void *numbers = cairn_column_get(&cairn_columns_of_contacts, k, store);
    size_t width = numbers_of(c, s->world);
    for (int64_t j = begin; j < end; j++)
        for (size_t i = 0; i < width; i++) {
            size_t at = (size_t)s->contact[j] * width + i;
            if (numbers == store->body)
                cairn_write_whole(&s->piece, whole_row(s, store->body[at]));
            else
                write_number(&s->piece, c->type, numbers, at);
        }
}

/* Contacts with held bodies: member 0 takes those of all and writes them in their order. */
static void save_walled(saving *s, int k)
{
    size_t size = NUMBER * numbers_of(&cairn_columns_of_contacts.items[k], s->world);
    write_contacts(s, k, 0, s->loads[s->me].walled);
    if (s->me > 0) {
        cairn_link_send(s->link, 0, s->piece.data, s->piece.size);
        s->piece.size = 0;
        return;
    }
    cairn_write_raw(&s->walls, s->piece.data, s->piece.size);
    s->piece.size = 0;
    for (int member = 1; member < s->members; member++) {
        size_t bytes;
        const void *data = cairn_link_receive(s->link, member, &bytes);
        cairn_write_raw(&s->walls, data, bytes);
    }
    bool complete = !s->walls.failed && s->walls.size == size * (size_t)s->all.walled;
    for (int64_t i = 0; complete && i < s->run_count; i++)
        put(s, s->walls.data + size * (size_t)s->runs[i].first, size * (size_t)s->runs[i].count);
    s->status = complete || s->status != CAIRN_OK ? s->status : CAIRN_NO_MEMORY;
    s->walls.size = 0;
}

static int compare_runs(const void *a, const void *b)
{
    const run_of_contacts *p = a, *q = b;
    if (p->held != q->held)
        return p->held < q->held ? -1 : 1;
    return (p->member > q->member) - (p->member < q->member);
}

/* The held bodies of the contacts of a member, in the order of its contacts. */
static void add_runs(saving *s, int member, const unsigned char *data, int64_t first)
{
    for (int64_t i = 0; i < s->loads[member].walled; i++) {
        int32_t held;
        memcpy(&held, data + (size_t)i * sizeof held, sizeof held);
        run_of_contacts *last = s->run_count > 0 ? &s->runs[s->run_count - 1] : NULL;
        if (last && last->held == held && last->member == member)
            last->count++;
        else
            s->runs[s->run_count++] = (run_of_contacts){ held, member, first + i, 1 };
    }
}

/* In which order contacts with held bodies follow each other. */
static cairn_status order_walled(saving *s)
{
    const int32_t *body = s->world->contacts.body;
    cairn_writer own = { 0 };
    int64_t first = 0;
    for (int64_t i = 0; i < s->loads[s->me].walled; i++) {
        const int32_t *pair = body + 2 * (size_t)s->contact[i];
        int32_t held = pair[0] < pair[1] ? pair[0] : pair[1];
        cairn_write_raw(&own, &held, sizeof held);
    }
    if (s->me == 0)
        s->runs = cairn_memory_zeroed((size_t)s->all.walled + 1, sizeof *s->runs);
    bool good = !own.failed && (s->me > 0 || s->runs);
    cairn_status status = agree(s, good ? CAIRN_OK : CAIRN_NO_MEMORY);
    if (status == CAIRN_OK && s->me > 0)
        cairn_link_send(s->link, 0, own.data, own.size);
    for (int k = 0; status == CAIRN_OK && s->me == 0 && k < s->members; k++) {
        size_t bytes = own.size;
        const void *data = k == 0 ? own.data : cairn_link_receive(s->link, k, &bytes);
        if (bytes == sizeof(int32_t) * (size_t)s->loads[k].walled)
            add_runs(s, k, data, first);
        first += s->loads[k].walled;
    }
    if (s->run_count > 1)
        qsort(s->runs, (size_t)s->run_count, sizeof *s->runs, compare_runs);
    cairn_writer_destroy(&own);
    return status;
}

static void save_contacts(saving *s)
{
    const load *own = &s->loads[s->me];
    for (int k = 0; k < cairn_columns_of_contacts.count; k++) {
        if (numbers_of(&cairn_columns_of_contacts.items[k], s->world) == 0)
            continue;
        if (s->all.walled > 0)
            save_walled(s, k);
        write_contacts(s, k, own->walled, own->walled + own->between);
        pass_on(s);
    }
}

static cairn_status save(saving *s)
{
    if (s->all.walled > 0)
        TRY(order_walled(s));
    if (s->me == 0)
        put_writer(s, &s->first);
    save_bodies(s);
    if (s->me == 0)
        put_writer(s, &s->middle);
    save_contacts(s);
    if (s->me == 0)
        put_writer(s, &s->last);
    TRY(agree(s, CAIRN_OK)); /* all have sent all */
    if (s->link || s->status != CAIRN_OK)
        return s->status;
    return s->whole.failed ? CAIRN_NO_MEMORY : s->write(s->whole.data, s->whole.size, s->context);
}

cairn_status cairn_world_save(const cairn_world *world, cairn_write_fn *write, void *context)
{
    saving s;
    cairn_status status = open_saving(&s, world);
    s.write = write;
    s.context = context;
    if (status == CAIRN_OK)
        status = save(&s);
    close_saving(&s);
    return status;
}

cairn_status cairn_world_save_plain(cairn_world *world, cairn_write_fn *write, void *context)
{
    world->driven.varied.plain = true;
    cairn_status status = cairn_world_save(world, write, context);
    world->driven.varied.plain = false;
    return status;
}

/* ---- cutting a share out of a saved world ---------------------------------------------------- */

/* The share of a member: its own rows [begin, end) of the whole world, and those of ghosts. */
typedef struct cut {
    const cairn_world *world; /* with the columns that are saved */
    const cairn_saved *saved;
    int64_t begin, end;
    int64_t *row; /* dynamic rows of the share, ascending */
    size_t rows, row_room;
    int64_t *contact; /* its contacts, ascending */
    size_t contacts, contact_room;
} cut;

static int64_t number_at(const cairn_saved *saved, size_t at)
{
    cairn_reader r = { .data = saved->data, .size = saved->size, .at = at };
    return cairn_read_whole(&r);
}

/* Where the rows of a column begin: one whose pointer in the store is at `place`. */
static size_t column_at(const cut *c, const cairn_column_list *list, size_t place)
{
    bool bodies = list == &cairn_columns_of_bodies;
    size_t at = bodies ? c->saved->bodies_at : c->saved->contacts_at;
    for (int k = 0; list->place[k] != place; k++)
        at += NUMBER * numbers_of(&list->items[k], c->world) *
              (size_t)(bodies ? c->saved->rows : c->saved->contacts);
    return at;
}

static cairn_status add(int64_t **list, size_t *count, size_t *room, int64_t value)
{
    TRY(cairn_memory_extend((void **)list, room, *count + 1, sizeof **list));
    (*list)[(*count)++] = value;
    return CAIRN_OK;
}

/* The contacts of own bodies, and the bodies of others that they touch. */
static cairn_status find_ghosts(cut *c)
{
    size_t at = column_at(c, &cairn_columns_of_contacts, offsetof(cairn_contact_store, body));
    for (int64_t j = 0; j < c->saved->contacts; j++, at += 2 * NUMBER) {
        const int64_t pair[2] = { number_at(c->saved, at), number_at(c->saved, at + NUMBER) };
        bool own[2];
        for (int side = 0; side < 2; side++)
            own[side] = pair[side] >= c->begin && pair[side] < c->end;
        if (own[0] || own[1])
            TRY(add(&c->contact, &c->contacts, &c->contact_room, j));
        for (int side = 0; side < 2; side++)
            if (own[side ^ 1] && !own[side] && pair[side] >= c->saved->held)
                TRY(add(&c->row, &c->rows, &c->row_room, pair[side]));
    }
    return CAIRN_OK;
}

static int compare_rows(const void *a, const void *b)
{
    int64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static cairn_status choose_rows(cut *c)
{
    size_t kept = 0;
    TRY(find_ghosts(c));
    for (int64_t row = c->begin; row < c->end; row++)
        TRY(add(&c->row, &c->rows, &c->row_room, row));
    if (c->rows > 1)
        qsort(c->row, c->rows, sizeof *c->row, compare_rows);
    for (size_t i = 0; i < c->rows; i++)
        if (kept == 0 || c->row[i] != c->row[kept - 1])
            c->row[kept++] = c->row[i];
    c->rows = kept;
    return CAIRN_OK;
}

/* The row in the share of a row of the whole world that is in it. */
static int64_t row_in_share(const cut *c, int64_t row)
{
    size_t low = 0, high = c->rows;
    if (row < c->saved->held)
        return row;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->row[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return c->saved->held + (int64_t)low;
}

/* How many bodies use each shape. */
static cairn_status count_users(const cairn_saved *saved, int32_t *users)
{
    const cut c = { .world = saved->world, .saved = saved };
    size_t at = column_at(&c, &cairn_columns_of_bodies, offsetof(cairn_body_store, shape));
    for (int64_t i = 0; i < saved->rows; i++) {
        int64_t shape = number_at(saved, at + NUMBER * (size_t)i);
        if (shape < 0 || shape >= saved->world->bodies.shapes.count)
            return CAIRN_BAD_INPUT;
        users[shape]++;
    }
    return CAIRN_OK;
}

/* What joins the share to the others, behind it: the rows of its bodies in the whole world, and how
 * many bodies use each shape there. */
static void write_ties(const cut *c, cairn_writer *out)
{
    const cairn_shape_table *shapes = &c->world->bodies.shapes;
    cairn_write_whole(out, c->saved->rows);
    cairn_write_whole(out, (int64_t)c->rows);
    for (size_t i = 0; i < c->rows; i++)
        cairn_write_whole(out, c->row[i]);
    cairn_write_whole(out, shapes->count);
    for (int id = 0; id < shapes->count; id++)
        cairn_write_whole(out, shapes->users[id]);
}

static void write_rows(const cut *c, cairn_writer *out)
{
    const cairn_column_list *list = &cairn_columns_of_bodies;
    const unsigned char *data = c->saved->data;
    for (int k = 0; k < list->count; k++) {
        size_t size = NUMBER * numbers_of(&list->items[k], c->world);
        size_t at = column_at(c, list, list->place[k]);
        cairn_write_raw(out, data + at, size * (size_t)c->saved->held);
        for (size_t i = 0; i < c->rows; i++)
            cairn_write_raw(out, data + at + size * (size_t)c->row[i], size);
    }
}

static void write_own_contacts(const cut *c, cairn_writer *out)
{
    const cairn_column_list *list = &cairn_columns_of_contacts;
    for (int k = 0; k < list->count; k++) {
        size_t size = NUMBER * numbers_of(&list->items[k], c->world);
        size_t at = column_at(c, list, list->place[k]);
        bool bodies = list->place[k] == offsetof(cairn_contact_store, body);
        for (size_t i = 0; i < c->contacts; i++) {
            size_t from = at + size * (size_t)c->contact[i];
            for (size_t side = 0; bodies && side < 2; side++)
                cairn_write_whole(out, row_in_share(c, number_at(c->saved, from + NUMBER * side)));
            if (!bodies)
                cairn_write_raw(out, c->saved->data + from, size);
        }
    }
}

/* A saved world with fewer bodies and contacts. */
static void write_share(const cut *c, cairn_writer *out)
{
    const cairn_saved *s = c->saved;
    const unsigned char *data = s->data;
    cairn_write_raw(out, data, s->count_at);
    cairn_write_whole(out, s->held + (int64_t)c->rows);
    cairn_write_raw(out, data + s->count_at + NUMBER, s->bodies_at - s->count_at - NUMBER);
    write_rows(c, out);
    cairn_write_raw(out, data + s->middle_at, s->contacts_at - s->middle_at - NUMBER);
    cairn_write_whole(out, (int64_t)c->contacts);
    write_own_contacts(c, out);
    cairn_write_raw(out, data + s->last_at, s->size - s->last_at);
}

/* The first row of a member: rows are divided evenly, as in cairn_world_join. */
static int64_t first_row(const cairn_link *link, int member, int64_t held, int64_t rows)
{
    return held + cairn_link_even(link, member, (int)(rows - held));
}

cairn_status cairn_saved_cut(const cairn_saved *saved, const cairn_link *link, int member,
                             cairn_write_fn *write, void *context)
{
    cairn_writer out = { 0 };
    cut c = { .world = saved->world, .saved = saved };
    c.begin = first_row(link, member, saved->held, saved->rows);
    c.end = first_row(link, member + 1, saved->held, saved->rows);
    cairn_write_whole(&out, 0);
    cairn_status status = choose_rows(&c);
    if (status == CAIRN_OK) {
        write_share(&c, &out);
        if (!out.failed)
            cairn_rewrite_whole(&out, 0, (int64_t)out.size - NUMBER);
        write_ties(&c, &out);
    }
    if (status == CAIRN_OK)
        status = out.failed ? CAIRN_NO_MEMORY : write(out.data, out.size, context);
    cairn_writer_destroy(&out);
    cairn_memory_free(c.row);
    cairn_memory_free(c.contact);
    return status;
}

/* ---- loading a share ------------------------------------------------------------------------ */

cairn_status cairn_world_survey(const void *data, size_t bytes, cairn_world **out,
                                cairn_saved *saved, cairn_error *error)
{
    *saved = (cairn_saved){ .data = data, .size = bytes, .share = true, .survey = true };
    TRY(cairn_state_load(data, bytes, saved, out, error));
    cairn_body_store *b = &(*out)->bodies;
    saved->world = *out;
    (*out)->exchange.making->count = saved->rows - saved->held;
    cairn_status status = count_users(saved, b->shapes.users);
    cairn_shapes_count(&b->shapes, NULL, 0);
    return status;
}

/* The rows of the whole world, and the number of bodies that use each shape there. */
static cairn_status read_ties(cairn_reader *r, cairn_world *world, int64_t all)
{
    cairn_exchange *x = &world->exchange;
    cairn_body_store *b = &world->bodies;
    int64_t last = b->held - 1;
    size_t rows = cairn_read_count(r, NUMBER);
    if (r->failed || rows != (size_t)(b->count - b->held))
        return CAIRN_BAD_INPUT;
    TRY(cairn_memory_extend((void **)&x->order, &x->capacity, (size_t)b->count + 1,
                            sizeof *x->order));
    for (int i = 0; i < b->count; i++)
        x->order[i] = i < b->held ? i : (last = cairn_read_within(r, last + 1, all - 1));
    size_t shapes = cairn_read_count(r, NUMBER);
    if (r->failed || shapes != (size_t)b->shapes.count)
        return CAIRN_BAD_INPUT;
    for (size_t id = 0; id < shapes; id++)
        b->shapes.users[id] = (int32_t)cairn_read_within(r, 0, INT32_MAX);
    cairn_shapes_count(&b->shapes, NULL, 0);
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* The member whose ghost the body in a row is. */
static int owner_of(const cairn_exchange *x, int row)
{
    int k = 0;
    while (row >= x->neighbour[k].in_end)
        k++;
    return k;
}

/* Own rows that touch bodies of other members are ghosts there: count them, or list them. */
static void list_shown(cairn_world *world, bool list)
{
    cairn_exchange *x = &world->exchange;
    for (int k = 0; k < x->link->members; k++)
        x->neighbour[k].outs = 0;
    for (int j = 0; j < 2 * world->contacts.count; j++) {
        int row = world->contacts.body[j], other = world->contacts.body[j ^ 1];
        if (!cairn_world_moves(world, row) || other < world->bodies.held ||
            cairn_world_moves(world, other))
            continue;
        cairn_neighbour *n = &x->neighbour[owner_of(x, other)];
        if (list)
            n->out[n->outs] = row;
        n->outs++;
    }
}

static int compare_int(const void *a, const void *b)
{
    int32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Both sides of a border find the same bodies, since both have all contacts across it. */
static cairn_status find_borders(cairn_world *world)
{
    cairn_exchange *x = &world->exchange;
    int held = world->bodies.held, row = held;
    for (int k = 0; k < x->link->members; k++) {
        x->neighbour[k].in = row;
        while (row < world->bodies.count && x->order[row] < first_row(x->link, k + 1, held, x->all))
            row++;
        x->neighbour[k].in_end = row;
    }
    x->own = x->neighbour[x->link->member].in;
    x->own_end = x->neighbour[x->link->member].in_end;
    list_shown(world, false);
    for (int k = 0; k < x->link->members; k++) {
        cairn_neighbour *n = &x->neighbour[k];
        TRY(cairn_memory_extend((void **)&n->out, &n->capacity, (size_t)n->outs + 1,
                                sizeof *n->out));
    }
    list_shown(world, true);
    for (int k = 0; k < x->link->members; k++) {
        cairn_neighbour *n = &x->neighbour[k];
        int kept = 0;
        qsort(n->out, (size_t)n->outs, sizeof *n->out, compare_int);
        for (int i = 0; i < n->outs; i++)
            if (kept == 0 || n->out[i] != n->out[kept - 1])
                n->out[kept++] = n->out[i];
        n->outs = kept;
    }
    return CAIRN_OK;
}

static cairn_status join(cairn_world *world, cairn_link *link, cairn_reader *r)
{
    cairn_exchange *x = &world->exchange;
    int64_t all = cairn_read_within(r, world->bodies.count, INT32_MAX);
    cairn_making_release(x);
    *x = (cairn_exchange){
        .link = link, .generosity = 1, .all = all, .pace.clock = cairn_clock_seconds
    };
    x->neighbour = cairn_memory_zeroed((size_t)link->members, sizeof *x->neighbour);
    if (!x->neighbour)
        return CAIRN_NO_MEMORY;
    TRY(read_ties(r, world, all));
    world->joints.changed = world->joints.count > 0; /* whose they are is known from now on */
    return find_borders(world);
}

/* A member that cannot load its share leaves, and then all fail. */
cairn_status cairn_world_load_share(const void *data, size_t bytes, cairn_link *link,
                                    cairn_world **out, cairn_error *error)
{
    cairn_reader r = { .data = data, .size = bytes };
    cairn_saved share = { .share = true };
    *out = NULL;
    size_t size = cairn_read_count(&r, 1);
    cairn_status status =
        r.failed ? CAIRN_BAD_INPUT : cairn_state_load(r.data + r.at, size, &share, out, error);
    r.at += r.failed ? 0 : size;
    if (status == CAIRN_OK)
        status = join(*out, link, &r);
    if (*out)
        return cairn_exchange_agree(*out, status);
    link->status = status;
    link->leave(link->context);
    return status;
}
