/* window.c - frames of a world that no process has as a whole, and what a run computes of all
 * bodies.
 *
 *   bodies    A frame lists bodies by uid. Rank 0 asks all members for the bodies with uids [from,
 *             to), appends their rows to run.h5, and goes on with the next window of uids.
 *   contacts  Each member has its contacts sorted by the rows of the whole world. Rank 0 takes them
 *             from each member in blocks, and merges these lists.
 *   places    Positions at the start are kept by uid: member k has the k-th range of uids, whoever
 *             computes these bodies.
 * The rows are those that one process writes. Rank 0 never has more than a window, a block of each
 * member, and 8 bytes of every body (its uid, in the roll). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "run/frame.h"
#include "run/together.h"

/* uids in a window; contacts in a block, and in what rank 0 appends at once */
enum { WINDOW = 2 * CAIRN_ROW_CHUNK, BLOCK = 1024, MERGED = 2 * CAIRN_ROW_CHUNK };

void cairn_window_destroy(cairn_window *w)
{
    cairn_memory_free(w->row);
    cairn_memory_free(w->contact);
    cairn_memory_free(w->place);
    cairn_arena_destroy(&w->arena);
    *w = (cairn_window){ 0 };
}

/* ---- bodies of a member ---------------------------------------------------------------------- */

typedef struct named_row {
    uint64_t uid;
    int32_t row;
} named_row;

static int compare_uids(const void *a, const void *b)
{
    const named_row *p = a, *q = b;
    return (p->uid > q->uid) - (p->uid < q->uid);
}

/* The rows of own bodies by uid; member 0 answers for fixed and driven ones, which all have. */
static cairn_status index_bodies(cairn_team *t)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    cairn_window *w = &t->window;
    int held = t->link->member == 0 ? b.held : 0, count = held + own.end - own.begin;
    named_row *list = cairn_memory_zeroed((size_t)count + 1, sizeof *list);
    cairn_status status =
        cairn_memory_extend((void **)&w->row, &w->room, (size_t)count + 1, sizeof *w->row);
    if (!list)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        int row = i < held ? i : own.begin + i - held;
        list[i] = (named_row){ b.uid[row], row };
    }
    qsort(list, (size_t)count, sizeof *list, compare_uids);
    for (int i = 0; status == CAIRN_OK && i < count; i++)
        w->row[i] = list[i].row;
    w->count = status == CAIRN_OK ? count : 0;
    cairn_memory_free(list);
    return status;
}

/* The first of the rows by uid whose body has this uid or a larger one. */
static int find_uid(const cairn_window *w, const uint64_t *uid, int64_t from)
{
    int low = 0, high = w->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (uid[w->row[middle]] < (uint64_t)from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Whether a column of bodies is sent: the state, and all that is known of bodies that are new. */
static bool is_sent(const cairn_column *c, bool fresh)
{
    return fresh || (c->goes & CAIRN_GOES_FRAME) || strcmp(c->name, "uid") == 0;
}

/* The number of bodies in a window, then column by column. */
static void pack_bodies(const cairn_team *t, const cairn_order *o, cairn_writer *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_window *w = &t->window;
    int begin = find_uid(w, b.uid, o->from), end = find_uid(w, b.uid, o->to);
    const cairn_column *c;
    cairn_write_whole(out, end - begin);
    for (int k = 0; (c = cairn_body_column(k)) != NULL; k++) {
        size_t size = cairn_column_row(c, cairn_world_dimension(t->world));
        const char *rows = cairn_column_rows(c, &b);
        for (int i = begin; is_sent(c, o->to > o->known) && i < end; i++)
            cairn_write_raw(out, rows + (size_t)w->row[i] * size, size);
    }
}

/* ---- contacts of a member -------------------------------------------------------------------- */

/* A contact belongs to the member that has its dynamic body in the lower row. */
static cairn_status index_contacts(cairn_team *t)
{
    const cairn_contacts c = cairn_world_contacts(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    int held = cairn_world_bodies(t->world).held;
    cairn_window *w = &t->window;
    w->contacts = w->sent = 0;
    TRY(cairn_memory_extend((void **)&w->contact, &w->contact_room, (size_t)c.count + 1,
                            sizeof *w->contact));
    for (int j = 0; j < c.count; j++) {
        int a = c.body[2 * (size_t)j], b = c.body[2 * (size_t)j + 1];
        int low = a < b ? a : b, high = a < b ? b : a, row = low < held ? high : low;
        if (row >= own.begin && row < own.end)
            w->contact[w->contacts++] = j;
    }
    return CAIRN_OK;
}

/* Columns of contacts that frames have, by what materials there are. */
typedef struct contact_columns {
    const cairn_column *items[CAIRN_RUN_COLUMNS];
    int count;
} contact_columns;

static contact_columns columns_of(const cairn_world *world)
{
    const cairn_run_sources sources = cairn_run_contact_sources(world);
    contact_columns list = { .count = 0 };
    const cairn_column *c;
    for (int k = 0; (c = cairn_contact_column(k)) != NULL; k++)
        for (int i = 0; i < sources.count; i++)
            if (sources.items[i].offset == offsetof(cairn_run_frame, touch) + c->shown)
                list.items[list.count++] = c;
    return list;
}

/* The rows of both bodies in the whole world as one number, by which contacts are sorted. */
static uint64_t key_of(const int32_t *body, int held, const int64_t *order)
{
    uint64_t a = (uint64_t)(body[0] < held ? body[0] : order[body[0]]);
    uint64_t b = (uint64_t)(body[1] < held ? body[1] : order[body[1]]);
    return a < b ? a << 32 | b : b << 32 | a;
}

/* The next contacts: how many, their keys, the uids of their bodies, then column by column. */
static void pack_contacts(cairn_team *t, cairn_writer *out)
{
    const cairn_contacts c = cairn_world_contacts(t->world);
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    const contact_columns columns = columns_of(t->world);
    cairn_window *w = &t->window;
    int begin = w->sent, end = w->contacts - begin < BLOCK ? w->contacts : begin + BLOCK;
    cairn_write_whole(out, end - begin);
    for (int i = begin; i < end; i++) {
        uint64_t key = key_of(c.body + 2 * (size_t)w->contact[i], b.held, own.order);
        cairn_write_raw(out, &key, sizeof key);
    }
    for (int i = begin; i < end; i++)
        for (size_t side = 0; side < 2; side++)
            cairn_write_raw(out, &b.uid[c.body[2 * (size_t)w->contact[i] + side]], sizeof *b.uid);
    for (int k = 0; k < columns.count; k++) {
        size_t size = cairn_column_row(columns.items[k], c.dimension);
        const char *rows = cairn_column_rows(columns.items[k], &c);
        for (int i = begin; i < end; i++)
            cairn_write_raw(out, rows + (size_t)w->contact[i] * size, size);
    }
    w->sent = end;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The position of a body on its way to the member that has its place. */
typedef struct stay {
    uint64_t uid;
    int64_t order; /* its row in the whole world; of fixed and driven bodies -1 */
    cairn_vec3 x;
} stay;

/* The body that moved farthest; of equal ones that of the lowest row. */
typedef struct farthest {
    double moved; /* m; -1: there is none */
    int64_t order, uid;
} farthest;

static int64_t first_uid(const cairn_team *t, int member)
{
    return (int64_t)member * t->window.uids / t->link->members;
}

static void write_stays(const cairn_team *t, int member, cairn_writer *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    const cairn_window *w = &t->window;
    int begin = find_uid(w, b.uid, first_uid(t, member));
    int end = find_uid(w, b.uid, first_uid(t, member + 1));
    for (int i = begin; i < end; i++) {
        int row = w->row[i];
        const stay one = { b.uid[row], row < b.held ? -1 : own.order[row], b.x[row] };
        cairn_write_raw(out, &one, sizeof one);
    }
}

/* Whether a is farther than b, or as far and in a lower row. */
static bool is_farther(const farthest *a, const farthest *b)
{
    return a->moved > b->moved || (a->moved == b->moved && a->order < b->order);
}

/* Take the positions of one member: as those of the start, or compare them with these. */
static void take_stays(cairn_team *t, const unsigned char *data, size_t bytes, farthest *out)
{
    for (size_t at = 0; data && at + sizeof(stay) <= bytes; at += sizeof(stay)) {
        stay one;
        memcpy(&one, data + at, sizeof one);
        cairn_vec3 *place = &t->window.place[(int64_t)one.uid - first_uid(t, t->link->member)];
        if (!out) {
            *place = one.x;
        } else if (one.order >= 0) {
            const farthest now = { cairn_norm(cairn_sub(one.x, *place)), one.order,
                                   (int64_t)one.uid };
            *out = is_farther(&now, out) ? now : *out;
        }
    }
}

/* Nobody is left waiting for a member that has failed. */
static cairn_status give_up(cairn_link *link, cairn_status status)
{
    if (link->status == CAIRN_OK)
        link->status = status;
    link->leave(link->context);
    return status;
}

/* All members send each other the positions of their bodies. */
static cairn_status deal(cairn_team *t, farthest *out)
{
    cairn_link *link = t->link;
    cairn_writer own = { 0 };
    cairn_status ready = t->window.place ? index_bodies(t) : CAIRN_NO_MEMORY;
    if (ready != CAIRN_OK)
        return give_up(link, ready);
    for (int k = 0; k < link->members; k++) {
        cairn_writer to = { 0 };
        write_stays(t, k, k == link->member ? &own : &to);
        if (to.failed || own.failed)
            link->status = CAIRN_NO_MEMORY;
        if (k != link->member)
            cairn_link_send(link, k, to.data, to.size);
        cairn_writer_destroy(&to);
    }
    for (int k = 0; k < link->members; k++) {
        size_t bytes = own.size;
        const void *data = k == link->member ? own.data : cairn_link_receive(link, k, &bytes);
        take_stays(t, data, bytes, out);
    }
    cairn_writer_destroy(&own);
    return link->status == CAIRN_OK ? CAIRN_OK : give_up(link, link->status);
}

static cairn_status keep_places(cairn_team *t)
{
    cairn_window *w = &t->window;
    w->uids = cairn_world_body_count(t->world);
    int64_t count = first_uid(t, t->link->member + 1) - first_uid(t, t->link->member);
    w->place = cairn_memory_zeroed((size_t)count + 1, sizeof *w->place);
    return deal(t, NULL);
}

static cairn_status find_farthest(cairn_team *t, farthest *out)
{
    cairn_link *link = t->link;
    *out = (farthest){ -1, INT64_MAX, -1 };
    TRY(deal(t, out));
    if (link->member > 0)
        cairn_link_send(link, 0, out, sizeof *out);
    for (int k = 1; link->member == 0 && k < link->members; k++) {
        farthest other;
        cairn_link_receive_into(link, k, &other, sizeof other);
        *out = link->status == CAIRN_OK && is_farther(&other, out) ? other : *out;
    }
    return link->status;
}

/* ---- answers --------------------------------------------------------------------------------- */

static cairn_status pack(cairn_team *t, const cairn_order *o, cairn_writer *out)
{
    if (o->what == CAIRN_ORDER_BODIES && o->from == 0)
        TRY(index_bodies(t));
    if (o->what == CAIRN_ORDER_CONTACTS && o->from == 0)
        TRY(index_contacts(t));
    if (o->what == CAIRN_ORDER_BODIES)
        pack_bodies(t, o, out);
    else
        pack_contacts(t, out);
    return out->failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static cairn_status answer_piece(cairn_team *t, const cairn_order *o);

cairn_status cairn_window_answer(cairn_team *t, const cairn_order *o)
{
    farthest far;
    if (o->what == CAIRN_ORDER_HASH) {
        cairn_world_hash(t->world);
        return t->link->status;
    }
    int64_t unused;
    if (o->what == CAIRN_ORDER_LOOK_FOR || o->what == CAIRN_ORDER_PIECE)
        return answer_piece(t, o);
    if (o->what == CAIRN_ORDER_SAVED_BYTES) { /* what cannot be saved, rank 0 will say */
        cairn_status status = cairn_world_saved_bytes(t->world, &unused);
        return status == CAIRN_UNSUPPORTED ? t->link->status : status;
    }
    if (o->what == CAIRN_ORDER_SAVE)
        return cairn_world_save(t->world, NULL, NULL);
    if (o->what == CAIRN_ORDER_KEEP_PLACES)
        return keep_places(t);
    if (o->what == CAIRN_ORDER_FARTHEST)
        return find_farthest(t, &far);
    cairn_writer out = { 0 };
    cairn_status status = CAIRN_OK;
    if (o->what == CAIRN_ORDER_SEND_PLACES)
        cairn_write_raw(
            &out, t->window.place,
            (size_t)(first_uid(t, t->link->member + 1) - first_uid(t, t->link->member)) *
                sizeof *t->window.place);
    else
        status = pack(t, o, &out);
    if (status == CAIRN_OK && !out.failed)
        cairn_link_send(t->link, 0, out.data, out.size);
    status = out.failed ? CAIRN_NO_MEMORY : status;
    cairn_writer_destroy(&out);
    return status == CAIRN_OK ? t->link->status : status;
}

/* ---- rank 0: totals -------------------------------------------------------------------------- */

cairn_status cairn_team_remember(cairn_team *t)
{
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_KEEP_PLACES });
    return keep_places(t);
}

cairn_status cairn_team_measure(cairn_team *t, cairn_run_summary *summary)
{
    farthest far;
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_FARTHEST });
    TRY(find_farthest(t, &far));
    summary->displaced = far.uid;
    summary->displacement = far.uid >= 0 ? far.moved : summary->displacement;
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_HASH });
    summary->hash = cairn_world_hash(t->world);
    summary->bodies = cairn_world_body_count(t->world);
    return t->link->status;
}

cairn_status cairn_team_places(cairn_team *t, cairn_take_places *take, void *context)
{
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_SEND_PLACES });
    take(t->window.place, first_uid(t, 1), context);
    for (int k = 1; k < t->link->members; k++) {
        size_t bytes;
        const void *data = cairn_link_receive(t->link, k, &bytes);
        take(data, (int64_t)(bytes / sizeof(cairn_vec3)), context);
    }
    return t->link->status;
}

/* ---- rank 0: saving -------------------------------------------------------------------------- */

static void call_others(void *context, bool save)
{
    cairn_team_tell(context,
                    &(cairn_order){ .what = save ? CAIRN_ORDER_SAVE : CAIRN_ORDER_SAVED_BYTES });
}

cairn_saver cairn_team_saver(cairn_team *t, const cairn_scene *scene)
{
    if (!t || !t->spread)
        return (cairn_saver){ .world = scene->world };
    return (cairn_saver){ t->world, call_others, t };
}

/* ---- rank 0: windows of bodies --------------------------------------------------------------- */

/* Ask all members, and call `take` with the answer of each, this one included. */
static cairn_status ask(cairn_team *t, const cairn_order *o, cairn_bodies *view,
                        void (*take)(cairn_team *t, const cairn_order *o, cairn_reader *r,
                                     cairn_bodies *view))
{
    cairn_writer own = { 0 };
    cairn_team_tell(t, o);
    cairn_status status = pack(t, o, &own);
    for (int k = 0; status == CAIRN_OK && k < t->link->members; k++) {
        size_t bytes = own.size;
        const void *data = k == 0 ? own.data : cairn_link_receive(t->link, k, &bytes);
        cairn_reader r = { .data = data, .size = bytes };
        if (t->link->status == CAIRN_OK)
            take(t, o, &r, view);
        status = t->link->status == CAIRN_OK && r.failed ? CAIRN_BAD_INPUT : t->link->status;
    }
    cairn_writer_destroy(&own);
    return status;
}

/* Append the bodies of a member to the columns of a view. */
static void take_bodies(cairn_team *t, const cairn_order *o, cairn_reader *r, cairn_bodies *view)
{
    const cairn_column *c;
    size_t count = cairn_read_count(r, 1), at = r->at;
    r->failed = r->failed || count > (size_t)(o->to - o->from) - (size_t)view->count;
    for (int k = 0; !r->failed && (c = cairn_body_column(k)) != NULL; k++) {
        size_t size = cairn_column_row(c, cairn_world_dimension(t->world));
        char *rows = (char *)(uintptr_t)cairn_column_rows(c, view);
        if (!is_sent(c, o->to > o->known))
            continue;
        r->failed = r->failed || count * size > r->size - at;
        if (!r->failed && count > 0)
            memcpy(rows + (size_t)view->count * size, r->data + at, count * size);
        at += count * size;
    }
    view->count += r->failed ? 0 : (int)count;
}

/* Room for all columns of a window. */
static cairn_status open_view(cairn_team *t, size_t rows, cairn_bodies *view)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_column *c;
    cairn_arena_reset(&t->window.arena);
    *view = (cairn_bodies){ .shape_count = b.shape_count, .shapes = b.shapes };
    for (int k = 0; (c = cairn_body_column(k)) != NULL; k++) {
        void *array = cairn_arena_take(&t->window.arena, rows,
                                       cairn_column_row(c, cairn_world_dimension(t->world)));
        if (!array)
            return CAIRN_NO_MEMORY;
        memcpy((char *)view + c->shown, &array, sizeof array);
    }
    return CAIRN_OK;
}

static cairn_run_frame frame_of(const cairn_team *t, const cairn_run_output *o, int64_t step)
{
    return (cairn_run_frame){ .step = step,
                              .time = cairn_world_time(t->world),
                              .time_step = o->scene->step.time_step,
                              .dimension = cairn_world_dimension(t->world),
                              .shelf = &o->roll.shelf };
}

/* The first window has all bodies with names, which are written together. */
static cairn_status store_bodies(cairn_team *t, cairn_run_output *o, int64_t step,
                                 cairn_error *error)
{
    int64_t all = cairn_world_body_count(t->world), to, stored = 0;
    int64_t named = o->scene->body_count, known = o->roll.count;
    for (int64_t from = 0; from < all; from = to) {
        to = from + WINDOW > named ? from + WINDOW : named;
        to = to < all ? to : all;
        const cairn_order wanted = { CAIRN_ORDER_BODIES, from, to, known };
        cairn_run_frame frame = frame_of(t, o, step);
        TRY(open_view(t, (size_t)(to - from), &frame.world));
        TRY(ask(t, &wanted, &frame.world, take_bodies));
        TRY(cairn_run_frame_fill(&o->roll, &o->arena, &frame));
        TRY(cairn_run_file_bodies(o->file, &frame, error));
        stored += frame.world.count;
    }
    return stored == all ? CAIRN_OK
                         : cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                                      "the ranks have %lld bodies, expected %lld",
                                      (long long)stored, (long long)all);
}

/* ---- rank 0: merging contacts ---------------------------------------------------------------- */

/* The contacts of a member that have arrived and are not merged yet. */
typedef struct stream {
    cairn_writer block;
    size_t count, next;
    bool ended;
} stream;

typedef struct merger {
    cairn_team *t;
    cairn_run_output *output;
    stream *streams;
    contact_columns columns;
    cairn_run_frame frame; /* what is merged and not written yet: frame.contacts rows */
    cairn_error *error;
} merger;

/* Where the keys of a block begin: behind the number of contacts. */
enum { HEAD = 8 };

static uint64_t key_at(const stream *s, size_t i)
{
    uint64_t key;
    memcpy(&key, s->block.data + HEAD + i * sizeof key, sizeof key);
    return key;
}

/* The next block of member k, if there is any. */
static cairn_status refill(merger *m, int k, bool first)
{
    stream *s = &m->streams[k];
    const cairn_order wanted = { CAIRN_ORDER_CONTACTS, first ? 0 : 1, 0, 0 };
    s->block.size = 0;
    if (k == 0) {
        TRY(pack(m->t, &wanted, &s->block));
    } else {
        size_t bytes;
        cairn_link_send(m->t->link, k, &wanted, sizeof wanted);
        const void *data = cairn_link_receive(m->t->link, k, &bytes);
        TRY(m->t->link->status);
        cairn_write_raw(&s->block, data, bytes);
    }
    cairn_reader r = { .data = s->block.data, .size = s->block.size };
    s->count = s->block.failed ? 0 : cairn_read_count(&r, sizeof(uint64_t));
    s->next = 0;
    s->ended = s->count < BLOCK;
    return s->block.failed ? CAIRN_NO_MEMORY : r.failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

static cairn_status write_merged(merger *m)
{
    if (m->frame.contacts == 0)
        return CAIRN_OK;
    TRY(cairn_run_file_contacts(m->output->file, &m->frame, m->error));
    m->frame.contacts = 0;
    return CAIRN_OK;
}

/* Move `count` contacts of a block behind those that are merged. */
static void move_contacts(merger *m, const stream *s, size_t count)
{
    size_t done = m->frame.contacts, at = HEAD + s->count * sizeof(uint64_t);
    for (size_t i = 0; i < 2 * count; i++) {
        uint64_t uid;
        memcpy(&uid, s->block.data + at + (2 * s->next + i) * sizeof uid, sizeof uid);
        m->frame.pair[2 * done + i] = cairn_run_roll_find(&m->output->roll, uid);
    }
    at += 2 * s->count * sizeof(uint64_t);
    for (int k = 0; k < m->columns.count; k++) {
        size_t size = cairn_column_row(m->columns.items[k], m->frame.dimension);
        char *rows = (char *)(uintptr_t)cairn_column_rows(m->columns.items[k], &m->frame.touch);
        memcpy(rows + done * size, s->block.data + at + s->next * size, count * size);
        at += s->count * size;
    }
    m->frame.contacts += count;
}

/* The two streams with the lowest next keys; -1: none. */
static void find_lowest(const merger *m, int *lowest, int *second)
{
    *lowest = *second = -1;
    for (int k = 0; k < m->t->link->members; k++) {
        const stream *s = &m->streams[k];
        if (s->next == s->count)
            continue;
        uint64_t key = key_at(s, s->next);
        if (*lowest < 0 || key < key_at(&m->streams[*lowest], m->streams[*lowest].next)) {
            *second = *lowest;
            *lowest = k;
        } else if (*second < 0 || key < key_at(&m->streams[*second], m->streams[*second].next)) {
            *second = k;
        }
    }
}

/* Merge the contacts of the lowest stream up to the next one of another stream. */
static cairn_status merge_some(merger *m, int lowest, int second)
{
    stream *s = &m->streams[lowest];
    uint64_t limit = second < 0 ? UINT64_MAX : key_at(&m->streams[second], m->streams[second].next);
    size_t count = 1, most = MERGED - m->frame.contacts;
    while (s->next + count < s->count && count < most && key_at(s, s->next + count) < limit)
        count++;
    move_contacts(m, s, count);
    s->next += count;
    if (m->frame.contacts == MERGED)
        TRY(write_merged(m));
    return s->next == s->count && !s->ended ? refill(m, lowest, false) : CAIRN_OK;
}

static cairn_status merge_all(merger *m)
{
    int lowest, second;
    for (int k = 0; k < m->t->link->members; k++)
        TRY(refill(m, k, true));
    for (find_lowest(m, &lowest, &second); lowest >= 0; find_lowest(m, &lowest, &second))
        TRY(merge_some(m, lowest, second));
    return write_merged(m);
}

static cairn_status open_merger(merger *m)
{
    cairn_arena *arena = &m->t->window.arena;
    cairn_arena_reset(arena);
    m->streams = cairn_memory_zeroed((size_t)m->t->link->members, sizeof *m->streams);
    m->frame.pair = cairn_arena_take(arena, 2 * MERGED, sizeof *m->frame.pair);
    bool good = m->streams && m->frame.pair;
    for (int k = 0; k < m->columns.count; k++) {
        const cairn_column *c = m->columns.items[k];
        void *rows = cairn_arena_take(arena, MERGED, cairn_column_row(c, m->frame.dimension));
        memcpy((char *)&m->frame.touch + c->shown, &rows, sizeof rows);
        good = good && rows;
    }
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status store_contacts(cairn_team *t, cairn_run_output *o, cairn_error *error)
{
    merger m = { .t = t, .output = o, .columns = columns_of(t->world), .error = error };
    m.frame = frame_of(t, o, 0);
    cairn_status status = open_merger(&m);
    if (status == CAIRN_OK)
        status = merge_all(&m);
    for (int k = 0; m.streams && k < t->link->members; k++)
        cairn_writer_destroy(&m.streams[k].block);
    cairn_memory_free(m.streams);
    return status;
}

/* ---- pieces for ParaView --------------------------------------------------------------------- */

/* What a member answers: whether it can write its piece, or has written it, and where its bodies
 * are. */
typedef struct piece_note {
    int64_t good;
    cairn_run_box box;
} piece_note;

/* A frame of what this member has; bodies have their uids in place of their rows in /bodies. */
static cairn_status take_own(cairn_team *t, int64_t step, cairn_run_frame *f)
{
    cairn_run_roll roll = { 0 };
    cairn_status status = cairn_run_frame_take(t->world, &roll, &t->window.arena, f);
    cairn_run_roll_destroy(&roll);
    TRY(status);
    f->shelf = NULL;
    f->fresh = 0; /* the roll of the run knows all of them */
    f->time_step = t->copy->step.time_step;
    if (step == 0)
        f->contacts = (size_t)(f->touch.count = 0);
    for (size_t row = 0; row < f->bodies; row++)
        f->index[row] = (int32_t)f->world.uid[f->slot[row]];
    for (size_t i = 0; i < 2 * f->contacts; i++)
        f->pair[i] = (int32_t)f->world.uid[f->touch.body[i]];
    return CAIRN_OK;
}

/* Balls and fixed walls can be written in pieces, if the folder can be seen from here. */
static piece_note look_for(cairn_team *t, const char *folder)
{
    char path[CAIRN_PATH_BYTES];
    piece_note note = { .good = 0 };
    const cairn_world_part own = cairn_world_own(t->world);
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_run_frame f = { .dimension = cairn_world_dimension(t->world), .world = b };
    note.good = cairn_path_join(folder, "view.py", path, NULL) == CAIRN_OK && cairn_is_file(path);
    for (int i = 0; i < b.held; i++)
        note.good = note.good && cairn_run_look_of(&f, i) == CAIRN_LOOK_WALL;
    for (int i = own.begin; i < own.end; i++)
        note.good = note.good && cairn_run_look_of(&f, i) == CAIRN_LOOK_BALL;
    if (note.good)
        cairn_run_box_add(&note.box, &f, own.begin, own.end);
    return note;
}

static void set_own(const cairn_team *t, cairn_run_paraview *p)
{
    const cairn_world_part own = cairn_world_own(t->world);
    p->pieces = t->link->members;
    p->piece = t->link->member;
    p->own = own.begin;
    p->own_end = own.end;
}

static cairn_status answer_piece(cairn_team *t, const cairn_order *o)
{
    cairn_run_paraview p = { .contacts = o->known != 0, .count = (size_t)o->from };
    cairn_error unused = { 0 };
    piece_note note = { .good = 0 };
    size_t bytes;
    const char *folder = cairn_link_receive(t->link, 0, &bytes);
    if (!folder || bytes == 0 || bytes > sizeof p.folder)
        return t->link->status == CAIRN_OK ? CAIRN_BAD_INPUT : t->link->status;
    memcpy(p.folder, folder, bytes);
    p.folder[bytes - 1] = '\0';
    if (o->what == CAIRN_ORDER_LOOK_FOR) {
        note = look_for(t, p.folder);
    } else {
        cairn_run_frame f;
        set_own(t, &p);
        note.good = take_own(t, o->to, &f) == CAIRN_OK &&
                    cairn_run_paraview_piece(&p, &f, &t->window.arena, &unused) == CAIRN_OK;
    }
    cairn_link_send(t->link, 0, &note, sizeof note);
    return t->link->status;
}

/* Tell all others, with the folder. */
static void tell_folder(cairn_team *t, const cairn_order *order, const char *folder)
{
    cairn_team_tell(t, order);
    for (int k = 1; k < t->link->members; k++)
        cairn_link_send(t->link, k, folder, strlen(folder) + 1);
}

/* The answers of all others, joined with that of this member. */
static piece_note hear(cairn_team *t, piece_note own)
{
    for (int k = 1; k < t->link->members; k++) {
        piece_note note;
        cairn_link_receive_into(t->link, k, &note, sizeof note);
        own.good = own.good && note.good && t->link->status == CAIRN_OK;
        cairn_run_box_join(&own.box, &note.box);
    }
    return own;
}

/* Rank 0 also draws the walls, and lists the pieces. */
static cairn_status store_pieces(cairn_team *t, cairn_run_output *o, int64_t step,
                                 const cairn_run_box *box, cairn_error *error)
{
    cairn_run_paraview *p = &o->paraview;
    cairn_run_frame frame;
    const cairn_order order = { CAIRN_ORDER_PIECE, (int64_t)p->count, step, p->contacts };
    tell_folder(t, &order, p->folder);
    cairn_status status = take_own(t, step, &frame);
    set_own(t, p);
    p->walls.others = *box;
    if (status == CAIRN_OK)
        status = cairn_run_paraview_frame(p, &frame, &t->window.arena, error);
    p->pieces = 0;
    p->walls.others = (cairn_run_box){ 0 };
    piece_note all = hear(t, (piece_note){ .good = 1 });
    if (status == CAIRN_OK && !all.good)
        return cairn_fail(error, CAIRN_IO_FAILED, "run.paraview",
                          "a rank could not write its piece of a frame into %.200s", p->folder);
    return status;
}

/* In pieces, one for each rank, if bodies have their uids as rows in /bodies and all can write;
 * else from the whole world. */
static cairn_status store_paraview(cairn_team *t, cairn_run_output *o, int64_t step,
                                   cairn_error *error)
{
    char folder[CAIRN_PATH_BYTES] = { 0 }; /* other ranks may have been started elsewhere */
    const cairn_run_roll *roll = &o->roll;
    if (realpath(o->paraview.folder, folder))
        memcpy(o->paraview.folder, folder, sizeof folder);
    tell_folder(t, &(cairn_order){ .what = CAIRN_ORDER_LOOK_FOR }, o->paraview.folder);
    piece_note all = hear(t, look_for(t, o->paraview.folder));
    all.good =
        all.good && roll->count > 0 && roll->uids[roll->count - 1] + 1 == (uint64_t)roll->count;
    TRY(t->link->status);
    if (all.good)
        return store_pieces(t, o, step, &all.box, error);
    cairn_run_frame frame;
    TRY(cairn_team_look(t, o->scene));
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    frame.step = step;
    frame.time_step = o->scene->step.time_step;
    if (step == 0)
        frame.contacts = (size_t)(frame.touch.count = 0);
    return cairn_run_paraview_frame(&o->paraview, &frame, &o->arena, error);
}

/* Before the first step there are no contacts of this run. */
cairn_status cairn_team_frame(cairn_team *t, cairn_run_output *o, int64_t step, cairn_error *error)
{
    if (!o->folder)
        return CAIRN_OK;
    TRY(cairn_run_file_end_flush(o->file, true, error));
    TRY(store_bodies(t, o, step, error));
    if (step > 0 && o->scene->run.contacts)
        TRY(store_contacts(t, o, error));
    const cairn_run_frame frame = frame_of(t, o, step);
    TRY(cairn_run_file_end_frame(o->file, &frame, error));
    if (o->scene->run.paraview)
        TRY(store_paraview(t, o, step, error));
    return cairn_run_output_frame_end(o, error);
}
