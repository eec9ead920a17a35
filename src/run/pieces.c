/* pieces.c - what a run measures of a world that no process has as a whole: how far bodies have
 * moved, and totals. Frames are in window.c, what is drawn in shown.c.
 *
 *   places    Positions at the start are kept by uid: member k has the k-th range of uids, whoever
 *             computes these bodies.
 *   sums      Statistics are sums over grains by uid and over contacts in the order of the whole
 *             world. Rank 0 merges both from all members, window by window, as often as a statistic
 *             visits them, and keeps its sums alone. The same bits follow as in one process.
 *   contacts  of a grain are counted, and coordinates ranked, by those who have the grains. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "run/frame.h"
#include "run/run_file.h"
#include "run/together.h"

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

static int64_t own_uids(const cairn_team *t)
{
    return first_uid(t, t->link->member + 1) - first_uid(t, t->link->member);
}

static void write_stays(const cairn_team *t, int member, cairn_writer *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    const cairn_lattice cell = cairn_world_lattice(t->world);
    const cairn_window *w = &t->window;
    int begin = cairn_window_find(w, b.uid, first_uid(t, member));
    int end = cairn_window_find(w, b.uid, first_uid(t, member + 1));
    for (int i = begin; i < end; i++) {
        int row = w->row[i];
        const stay one = { b.uid[row], row < b.held ? -1 : own.order[row],
                           cairn_run_place(&b, &cell, row) };
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
cairn_status cairn_team_give_up(cairn_link *link, cairn_status status)
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
    cairn_status ready = t->window.place ? cairn_window_index(t) : CAIRN_NO_MEMORY;
    if (ready != CAIRN_OK)
        return cairn_team_give_up(link, ready);
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
    return link->status == CAIRN_OK ? CAIRN_OK : cairn_team_give_up(link, link->status);
}

static cairn_status keep_places(cairn_team *t)
{
    cairn_window *w = &t->window;
    w->uids = cairn_world_body_count(t->world);
    w->place = cairn_memory_zeroed((size_t)own_uids(t) + 1, sizeof *w->place);
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

/* ---- what is measured, of a member ----------------------------------------------------------- */

/* A grain on its way to rank 0, by uid. */
typedef struct grain {
    uint64_t key;
    cairn_vec3 x, v, omega, inertia;
    double mass, radius, volume, touching;
    int64_t material;
} grain;

/* A contact, with what statistics need of its bodies. */
typedef struct touch {
    uint64_t key;
    cairn_vec3 point, normal, force, x[2];
    double radius[2], volume[2];
    int32_t material[2];
    int64_t is_grain[2];
    int64_t image[3];
} touch;

/* What rank 0 asks for. */
typedef struct question {
    cairn_rows rows;
    bool first;
} question;

enum { ROWS_SHOWN = 8192, ROWS_WAITING = 65536, ROWS_LEAST = 64 };

/* Grains or contacts in a message: all members together send ROWS_WAITING, so that rank 0 needs no
 * more memory for more of them. */
static size_t rows_sent(const cairn_team *t)
{
    int rows = ROWS_WAITING / t->link->members;
    return (size_t)(rows > ROWS_SHOWN ? ROWS_SHOWN : rows < ROWS_LEAST ? ROWS_LEAST : rows);
}

/* A sample of what this member has. Ghosts are where their owners say. */
static cairn_status take_sample(cairn_team *t, int64_t step)
{
    cairn_sampled *s = &t->window.sampled;
    const cairn_world_part own = cairn_world_own(t->world);
    cairn_arena_reset(&s->arena);
    double length = step > 0 ? cairn_world_last_length(t->world) : 0;
    TRY(cairn_sample_take(t->world, length, &s->arena, &s->own));
    TRY(cairn_window_index_contacts(t));
    cairn_vec3 *x = cairn_arena_take(&s->arena, (size_t)s->own.count, sizeof *x);
    s->row = cairn_arena_take(&s->arena, (size_t)(own.end - own.begin), sizeof *s->row);
    if (!x || !s->row)
        return CAIRN_NO_MEMORY;
    if (s->own.count > 0)
        memcpy(x, s->own.x, (size_t)s->own.count * sizeof *x);
    s->own.x = x;
    s->rows = 0;
    for (int i = 0; i < s->own.count; i++) {
        int row = s->own.order[i];
        if (row >= own.begin && row < own.end && s->own.is_grain[row])
            s->row[s->rows++] = row;
    }
    return CAIRN_OK;
}

/* By all members together: what each has, how many grains there are, the largest normal force, and
 * with that the contacts that push on own grains. */
static cairn_status sample_all(cairn_team *t, int64_t step, cairn_source *out)
{
    cairn_sampled *s = &t->window.sampled;
    cairn_status status = take_sample(t, step);
    if (status != CAIRN_OK)
        return cairn_team_give_up(t->link, status);
    cairn_world_fetch(t->world, (cairn_vec3 *)(uintptr_t)s->own.x, sizeof *s->own.x);
    out->grains = cairn_link_sum(t->link, s->rows);
    out->largest = cairn_link_largest(t->link, cairn_sample_largest(&s->own));
    cairn_measure m = { .sample = &s->own,
                        .arena = &s->arena,
                        .least = cairn_measure_least(out->largest) };
    status = cairn_measure_touch(&m);
    s->own.touching = m.touching;
    return status == CAIRN_OK ? t->link->status : cairn_team_give_up(t->link, status);
}

static double ranked(cairn_team *t, int axis, int64_t rank)
{
    cairn_sampled *s = &t->window.sampled;
    cairn_arena_moment before = cairn_arena_now(&s->arena);
    double *x = cairn_arena_take(&s->arena, (size_t)s->rows, sizeof *x);
    for (int i = 0; x && i < s->rows; i++)
        x[i] = cairn_component(s->own.x[s->row[i]], axis);
    if (!x)
        cairn_team_give_up(t->link, CAIRN_NO_MEMORY);
    double found = cairn_link_ranked(t->link, x, x ? s->rows : 0, rank);
    cairn_arena_return(&s->arena, before);
    return found;
}

static void pack_grain(const cairn_sample *s, uint64_t uid, int row, cairn_writer *out)
{
    const grain one = { .key = uid,
                        .x = s->x[row],
                        .v = s->v[row],
                        .omega = s->omega[row],
                        .inertia = s->inertia[row],
                        .mass = s->mass[row],
                        .radius = s->radius[row],
                        .volume = s->volume[row],
                        .touching = s->touching[row],
                        .material = s->material[row] };
    cairn_write_raw(out, &one, sizeof one);
}

static void pack_touch(const cairn_sample *s, uint64_t key, int c, cairn_writer *out)
{
    touch one = { .key = key, .point = s->point[c], .normal = s->normal[c], .force = s->force[c] };
    for (size_t side = 0; side < 2; side++) {
        int32_t row = s->pair[2 * (size_t)c + side];
        one.x[side] = s->x[row];
        one.radius[side] = s->radius[row];
        one.volume[side] = s->volume[row];
        one.material[side] = s->material[row];
        one.is_grain[side] = s->is_grain[row];
    }
    for (int k = 0; s->image && k < 3; k++)
        one.image[k] = s->image[c].k[k];
    cairn_write_raw(out, &one, sizeof one);
}

/* The next grains or contacts, as many as are sent at once unless there are fewer. */
static void pack_rows(cairn_team *t, const question *q, cairn_writer *out)
{
    cairn_window *w = &t->window;
    cairn_sampled *s = &w->sampled;
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    size_t full = rows_sent(t) * (q->rows.contacts ? sizeof(touch) : sizeof(grain));
    if (q->first)
        s->sent = w->sent = 0;
    while (q->rows.contacts && w->sent < w->contacts && out->size < full && !out->failed) {
        int c = w->contact[w->sent++];
        uint64_t key = cairn_window_key(s->own.pair + 2 * (size_t)c, b.held, own.order);
        pack_touch(&s->own, key, c, out);
    }
    while (!q->rows.contacts && s->sent < s->rows && out->size < full && !out->failed) {
        int row = s->row[s->sent++];
        double at = cairn_component(s->own.x[row], q->rows.axis);
        if (!q->rows.cut || (at >= q->rows.low && at <= q->rows.high))
            pack_grain(&s->own, b.uid[row], row, out);
    }
}

static cairn_status answer_rows(cairn_team *t)
{
    question q = { .first = false };
    cairn_writer out = { 0 };
    cairn_link_receive_into(t->link, 0, &q, sizeof q);
    pack_rows(t, &q, &out);
    cairn_status status = out.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
    if (status == CAIRN_OK)
        cairn_link_send(t->link, 0, out.data, out.size);
    cairn_writer_destroy(&out);
    return status == CAIRN_OK ? t->link->status : status;
}

/* ---- what is measured, in rank 0 ------------------------------------------------------------- */

/* Rows of a member that have arrived, and are not in a window yet. */
typedef struct queue {
    cairn_writer rows;
    size_t at; /* bytes */
    bool ended;
} queue;

/* A state of which rank 0 has a window at a time: rows of all members, merged by their keys. */
typedef struct cairn_sampling {
    cairn_team *t;
    cairn_source source;
    cairn_sample sample; /* its arrays are these: */
    uint8_t *is_grain;
    cairn_vec3 *x, *v, *omega, *inertia, *point, *normal, *force;
    double *mass, *radius, *volume, *touching;
    int32_t *material, *pair;
    cairn_image *image;
    queue *queues; /* of each member                                           */
    int *heap;     /* members that have rows: that of the lowest key comes first */
    int waiting;   /* how many there are                                       */
} cairn_sampling;

void cairn_sampling_destroy(cairn_sampling *s)
{
    for (int k = 0; s && s->queues && k < s->t->link->members; k++)
        cairn_writer_destroy(&s->queues[k].rows);
    if (s) {
        cairn_memory_free(s->queues);
        cairn_memory_free(s->heap);
    }
    cairn_memory_free(s);
}

static uint64_t key_of(const cairn_sampling *s, int place)
{
    const queue *q = &s->queues[s->heap[place]];
    uint64_t key;
    memcpy(&key, q->rows.data + q->at, sizeof key);
    return key;
}

/* Let the member in a place of the heap sink below those with lower keys. */
static void sink(cairn_sampling *s, int place)
{
    for (int next = 2 * place + 1; next < s->waiting; next = 2 * place + 1) {
        if (next + 1 < s->waiting && key_of(s, next + 1) < key_of(s, next))
            next++;
        if (key_of(s, place) <= key_of(s, next))
            return;
        int member = s->heap[place];
        s->heap[place] = s->heap[next];
        s->heap[next] = member;
        place = next;
    }
}

/* The next rows of member k; it must have as many whole ones as are sent at once, or be done. */
static cairn_status refill(cairn_sampling *s, int k, const question *q)
{
    cairn_link *link = s->t->link;
    queue *to = &s->queues[k];
    size_t size = q->rows.contacts ? sizeof(touch) : sizeof(grain), bytes;
    to->rows.size = to->at = 0;
    if (k == 0) {
        pack_rows(s->t, q, &to->rows);
    } else {
        const cairn_order order = { .what = CAIRN_ORDER_ROWS };
        cairn_link_send(link, k, &order, sizeof order);
        cairn_link_send(link, k, q, sizeof *q);
        const void *rows = cairn_link_receive(link, k, &bytes);
        cairn_write_raw(&to->rows, rows, bytes);
    }
    to->ended = to->rows.size < rows_sent(s->t) * size;
    if (to->rows.failed)
        return CAIRN_NO_MEMORY;
    return link->status == CAIRN_OK && to->rows.size % size > 0 ? CAIRN_BAD_INPUT : link->status;
}

static cairn_status refill_all(cairn_sampling *s, const question *q)
{
    s->waiting = 0;
    for (int k = 0; k < s->t->link->members; k++) {
        TRY(refill(s, k, q));
        if (s->queues[k].rows.size > 0)
            s->heap[s->waiting++] = k;
    }
    for (int place = s->waiting / 2; place >= 0; place--)
        sink(s, place);
    return CAIRN_OK;
}

static void show_grain(cairn_sampling *s, int i, const void *row)
{
    grain one;
    memcpy(&one, row, sizeof one);
    s->is_grain[i] = 1;
    s->x[i] = one.x;
    s->v[i] = one.v;
    s->omega[i] = one.omega;
    s->inertia[i] = one.inertia;
    s->mass[i] = one.mass;
    s->radius[i] = one.radius;
    s->volume[i] = one.volume;
    s->touching[i] = one.touching;
    s->material[i] = (int32_t)one.material;
}

static void show_touch(cairn_sampling *s, int c, const void *row)
{
    touch one;
    memcpy(&one, row, sizeof one);
    s->point[c] = one.point;
    s->normal[c] = one.normal;
    s->force[c] = one.force;
    for (int side = 0; side < 2; side++) {
        int i = s->pair[2 * c + side] = 2 * c + side;
        s->is_grain[i] = one.is_grain[side] != 0;
        s->x[i] = one.x[side];
        s->radius[i] = one.radius[side];
        s->volume[i] = one.volume[side];
        s->material[i] = one.material[side];
    }
    for (int k = 0; k < 3; k++)
        s->image[c].k[k] = (int32_t)one.image[k];
}

/* Merge rows until the window is full, or there are no more. */
static cairn_status fill_window(cairn_sampling *s, const cairn_rows *rows, int *shown)
{
    const question more = { *rows, false };
    size_t size = rows->contacts ? sizeof(touch) : sizeof(grain);
    for (*shown = 0; s->waiting > 0 && *shown < ROWS_SHOWN; (*shown)++) {
        queue *q = &s->queues[s->heap[0]];
        if (rows->contacts)
            show_touch(s, *shown, q->rows.data + q->at);
        else
            show_grain(s, *shown, q->rows.data + q->at);
        q->at += size;
        if (q->at == q->rows.size && !q->ended)
            TRY(refill(s, s->heap[0], &more));
        if (q->at == q->rows.size)
            s->heap[0] = s->heap[--s->waiting];
        sink(s, 0);
    }
    return CAIRN_OK;
}

static int next_window(void *context, const cairn_rows *rows, bool first)
{
    cairn_sampling *s = context;
    const question begin = { *rows, true };
    int shown = 0;
    if (first)
        s->source.status = refill_all(s, &begin);
    if (s->source.status == CAIRN_OK)
        s->source.status = fill_window(s, rows, &shown);
    s->sample.count = rows->contacts ? 2 * shown : shown;
    s->sample.contacts = rows->contacts ? shown : 0;
    return s->source.status == CAIRN_OK ? shown : 0;
}

static double next_ranked(void *context, int axis, int64_t rank)
{
    cairn_sampling *s = context;
    cairn_team_tell(s->t, &(cairn_order){ CAIRN_ORDER_RANKED, axis, rank, 0 });
    double found = ranked(s->t, axis, rank);
    s->source.status = s->source.status == CAIRN_OK ? s->t->link->status : s->source.status;
    return found;
}

/* Memory for windows, of which contacts have two bodies each. */
static cairn_status open_windows(cairn_sampling *s, cairn_arena *arena)
{
    const size_t rows = ROWS_SHOWN, ends = 2 * rows;
    bool good = true;
    cairn_arena_reset(arena);
    good = CAIRN_TAKE(arena, s->is_grain, ends) && good;
    good = CAIRN_TAKE(arena, s->x, ends) && good;
    good = CAIRN_TAKE(arena, s->radius, ends) && good;
    good = CAIRN_TAKE(arena, s->volume, ends) && good;
    good = CAIRN_TAKE(arena, s->material, ends) && good;
    good = CAIRN_TAKE(arena, s->v, rows) && good;
    good = CAIRN_TAKE(arena, s->omega, rows) && good;
    good = CAIRN_TAKE(arena, s->inertia, rows) && good;
    good = CAIRN_TAKE(arena, s->mass, rows) && good;
    good = CAIRN_TAKE(arena, s->touching, rows) && good;
    good = CAIRN_TAKE(arena, s->pair, ends) && good;
    good = CAIRN_TAKE(arena, s->point, rows) && good;
    good = CAIRN_TAKE(arena, s->normal, rows) && good;
    good = CAIRN_TAKE(arena, s->force, rows) && good;
    good = CAIRN_TAKE(arena, s->image, rows) && good;
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Time, gravity and cells are those of any member. */
static void show_windows(cairn_sampling *s)
{
    const cairn_sample *own = &s->t->window.sampled.own;
    s->sample = (cairn_sample){ .dimension = own->dimension,
                                .time = own->time,
                                .gravity = own->gravity,
                                .lattice = own->lattice,
                                .cell = own->cell,
                                .has_contacts = own->has_contacts,
                                .source = &s->source,
                                .is_grain = s->is_grain,
                                .x = s->x,
                                .v = s->v,
                                .omega = s->omega,
                                .inertia = s->inertia,
                                .mass = s->mass,
                                .radius = s->radius,
                                .volume = s->volume,
                                .material = s->material,
                                .touching = s->touching,
                                .pair = s->pair,
                                .point = s->point,
                                .normal = s->normal,
                                .force = s->force,
                                .image = cairn_lattice_exists(&own->lattice) ? s->image : NULL };
}

static cairn_status open_sampling(cairn_team *t)
{
    cairn_sampling *s = t->window.sampling;
    size_t members = (size_t)t->link->members;
    if (!s)
        s = t->window.sampling = cairn_memory_zeroed(1, sizeof *s);
    if (!s)
        return CAIRN_NO_MEMORY;
    s->t = t;
    s->queues = s->queues ? s->queues : cairn_memory_zeroed(members, sizeof *s->queues);
    s->heap = s->heap ? s->heap : cairn_memory_zeroed(members, sizeof *s->heap);
    if (!s->queues || !s->heap)
        return CAIRN_NO_MEMORY;
    s->source = (cairn_source){ .context = s, .next = next_window, .ranked = next_ranked };
    return open_windows(s, &t->window.arena);
}

cairn_status cairn_team_sample(cairn_team *t, int64_t step, cairn_sample **out)
{
    TRY(open_sampling(t));
    cairn_sampling *s = t->window.sampling;
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_SAMPLE, .from = step });
    TRY(sample_all(t, step, &s->source));
    show_windows(s);
    *out = &s->sample;
    return CAIRN_OK;
}

/* ---- the other ranks ------------------------------------------------------------------------- */

cairn_status cairn_piece_answer(cairn_team *t, const cairn_order *o)
{
    const cairn_window *w = &t->window;
    farthest far;
    cairn_vec3 sum;
    cairn_source unused;
    switch (o->what) {
    case CAIRN_ORDER_KEEP_PLACES:
        return keep_places(t);
    case CAIRN_ORDER_FARTHEST:
        return find_farthest(t, &far);
    case CAIRN_ORDER_MASS:
    case CAIRN_ORDER_IMPULSE:
        return cairn_team_add(t, o, &sum);
    case CAIRN_ORDER_JOINTS:
        return cairn_team_tell_joints(t);
    case CAIRN_ORDER_SEND_PLACES:
        cairn_link_send(t->link, 0, w->place, (size_t)own_uids(t) * sizeof *w->place);
        return t->link->status;
    case CAIRN_ORDER_SAMPLE:
        return sample_all(t, o->from, &unused);
    case CAIRN_ORDER_RANKED:
        ranked(t, (int)o->from, o->to);
        return t->link->status;
    case CAIRN_ORDER_ROWS:
        return answer_rows(t);
    default:
        return cairn_shown_answer(t, o);
    }
}
