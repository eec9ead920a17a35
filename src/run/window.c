/* window.c - frames, and steps of a full certificate, of a world that no process has as a whole.
 *
 *   bodies    A frame lists bodies by uid. Rank 0 asks all members for the bodies with uids [from,
 *             to), appends their rows to run.h5, and goes on with the next window of uids.
 *   contacts  Each member has its contacts sorted by the rows of the whole world. Rank 0 takes them
 *             from each member in blocks, and merges these lists.
 *   inputs    For a certificate bodies come with their loads and poses, and contacts with
 *             what the step knew of them. Impacts are sorted by rounds and contacts: these rank 0
 *             has all at once.
 * The rows are those that one process writes. Rank 0 never has more than a window, a block of each
 * member, the impacts of a step, and 8 bytes of every body (its uid, in the roll). */
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "run/frame.h"
#include "run/together.h"

/* uids in a window; contacts in a block, and in what rank 0 appends at once */
enum { WINDOW = 2 * CAIRN_ROW_CHUNK, BLOCK = 1024, MERGED = 2 * CAIRN_ROW_CHUNK };

void cairn_window_destroy(cairn_window *w)
{
    cairn_memory_free(w->row);
    cairn_memory_free(w->contact);
    cairn_memory_free(w->push);
    cairn_memory_free(w->place);
    cairn_arena_destroy(&w->arena);
    cairn_arena_destroy(&w->sampled.arena);
    cairn_sampling_destroy(w->sampling);
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
cairn_status cairn_window_index(cairn_team *t)
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

int cairn_window_find(const cairn_window *w, const uint64_t *uid, int64_t from)
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

/* ---- what a certificate says of bodies ------------------------------------------------------- */

/* Inputs of the step that some bodies have: a load (force, torque, damping), the pose of a driven
 * one. (Members refuse schemes that linearise contacts ahead, which would also need guesses.) */
typedef enum extra_kind { LOAD, POSE, PUSH } extra_kind;

typedef struct extra {
    int64_t kind;
    uint64_t uid;
    cairn_vec3 a, b, c; /* of a pose: x; q in b and c.x. Of a push, for the picture: a.x */
} extra;

static void write_extra(cairn_writer *out, extra one)
{
    cairn_write_raw(out, &one, sizeof one);
}

static void pack_extra(const cairn_team *t, const cairn_step_inputs *in, int row, cairn_writer *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_vec3 none = { 0, 0, 0 };
    uint64_t uid = b.uid[row];
    if (cairn_run_has_load(in, row))
        write_extra(out, (extra){ LOAD, uid, in->force[row], in->torque[row],
                                  in->damping ? in->damping[row] : none });
    if (b.motion[row] == CAIRN_MOTION_DRIVEN) {
        const cairn_quat q = in->q[row];
        write_extra(out, (extra){ POSE, uid, in->x[row], { q.w, q.x, q.y }, { q.z, 0, 0 } });
    }
}

/* Of bodies in [begin, end) of those by uid. Inlets may have added some after the step. */
static void pack_extras(const cairn_team *t, int begin, int end, cairn_writer *out)
{
    const cairn_step_inputs in = cairn_world_step_inputs(t->world);
    for (int i = begin; i < end; i++)
        if (t->window.row[i] < in.count)
            pack_extra(t, &in, t->window.row[i], out);
}

/* The largest uid that this member has, the number of bodies in a window, then column by column;
 * for a certificate also their inputs, for the picture the forces on them. */
static void pack_bodies(const cairn_team *t, const cairn_order *o, cairn_writer *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_window *w = &t->window;
    int begin = cairn_window_find(w, b.uid, o->from), end = cairn_window_find(w, b.uid, o->to);
    const cairn_column *c;
    cairn_write_whole(out, w->count > 0 ? (int64_t)b.uid[w->row[w->count - 1]] : -1);
    cairn_write_whole(out, end - begin);
    for (int k = 0; (c = cairn_body_column(k)) != NULL; k++) {
        size_t size = cairn_column_row(c, cairn_world_dimension(t->world));
        const char *rows = cairn_column_rows(c, &b);
        for (int i = begin; is_sent(c, o->to > o->known) && i < end; i++)
            cairn_write_raw(out, rows + (size_t)w->row[i] * size, size);
    }
    if (o->what == CAIRN_ORDER_DETAIL_BODIES)
        pack_extras(t, begin, end, out);
    for (int i = begin; o->what == CAIRN_ORDER_DRAWN && i < end; i++)
        write_extra(out, (extra){ PUSH, b.uid[w->row[i]], { w->push[w->row[i]], 0, 0 } });
}

/* ---- contacts of a member -------------------------------------------------------------------- */

/* A contact belongs to the member that has its dynamic body in the lower row. */
cairn_status cairn_window_index_contacts(cairn_team *t)
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

/* Numbers of contacts that frames have, by what materials there are, and further ones of
 * certificates: where they are here, and where the pointer to them is in a frame. */
typedef struct contact_array {
    const char *rows; /* NULL: all are 0 */
    size_t size, offset;
} contact_array;

typedef struct contact_arrays {
    contact_array items[2 * CAIRN_RUN_COLUMNS];
    int count;
} contact_arrays;

static bool has_source(const cairn_run_sources *sources, size_t offset)
{
    for (int i = 0; i < sources->count; i++)
        if (sources->items[i].offset == offset)
            return true;
    return false;
}

static void add_inputs(const cairn_world *world, contact_arrays *list)
{
    const cairn_step_inputs in = cairn_world_step_inputs(world);
    const size_t d = (size_t)cairn_world_dimension(world);
    const contact_array inputs[] = {
        { (const char *)in.bias, sizeof(double), offsetof(cairn_run_frame, bias) },
        { (const char *)in.exact, sizeof(uint8_t), offsetof(cairn_run_frame, exact) },
        { (const char *)in.compression, d * sizeof(double),
          offsetof(cairn_run_frame, compression) },
        { (const char *)in.correction, sizeof(double), offsetof(cairn_run_frame, correction) },
    };
    for (int k = 0; k < CAIRN_COUNT(inputs); k++)
        list->items[list->count++] = inputs[k];
}

static contact_arrays arrays_of(const cairn_world *world, bool detail)
{
    const cairn_run_sources plain = cairn_run_contact_sources(world);
    const cairn_run_sources further = cairn_run_detail_sources();
    const cairn_contacts touch = cairn_world_contacts(world);
    contact_arrays list = { .count = 0 };
    const cairn_column *c;
    for (int k = 0; (c = cairn_contact_column(k)) != NULL; k++) {
        size_t offset = offsetof(cairn_run_frame, touch) + c->shown;
        if (has_source(&plain, offset) || (detail && has_source(&further, offset)))
            list.items[list.count++] =
                (contact_array){ cairn_column_rows(c, &touch),
                                 cairn_column_row(c, cairn_world_dimension(world)), offset };
    }
    if (detail)
        add_inputs(world, &list);
    return list;
}

/* The rows of both bodies in the whole world as one number. */
uint64_t cairn_window_key(const int32_t *body, int held, const int64_t *order)
{
    uint64_t a = (uint64_t)(body[0] < held ? body[0] : order[body[0]]);
    uint64_t b = (uint64_t)(body[1] < held ? body[1] : order[body[1]]);
    return a < b ? a << 32 | b : b << 32 | a;
}

/* An impact that the step resolved, on its way to rank 0. */
typedef struct impact {
    int64_t round, contact; /* contact: its number among those that the member sends, then of all */
    double time, impulse[3];
} impact;

static int compare_contacts(const void *a, const void *b)
{
    const impact *p = a, *q = b;
    return (p->contact > q->contact) - (p->contact < q->contact);
}

static int compare_impacts(const void *a, const void *b)
{
    const impact *p = a, *q = b;
    return p->round != q->round ? (p->round > q->round) - (p->round < q->round)
                                : compare_contacts(a, b);
}

/* The number of contact j among those that this member sends; -1: another one sends it. */
static int64_t find_sent(const cairn_window *w, int j)
{
    int low = 0, high = w->contacts;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (w->contact[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < w->contacts && w->contact[low] == j ? low : -1;
}

/* Those of contacts that this member sends, by contact. */
static void pack_impacts(const cairn_team *t, cairn_writer *out)
{
    const cairn_step_inputs in = cairn_world_step_inputs(t->world);
    size_t d = (size_t)cairn_world_dimension(t->world);
    cairn_writer list = { 0 };
    for (int k = 0; k < in.impacts; k++) {
        impact one = { .round = in.impact_round[k], .time = in.impact_time[k] };
        one.contact = find_sent(&t->window, in.impact_contact[k]);
        memcpy(one.impulse, in.impact_impulse + (size_t)k * d, d * sizeof *one.impulse);
        if (one.contact >= 0)
            cairn_write_raw(&list, &one, sizeof one);
    }
    if (!list.failed && list.size > sizeof(impact))
        qsort(list.data, list.size / sizeof(impact), sizeof(impact), compare_contacts);
    cairn_write_raw(out, list.data, list.size);
    out->failed = out->failed || list.failed;
    cairn_writer_destroy(&list);
}

static void pack_array(const cairn_window *w, const contact_array *array, int end,
                       cairn_writer *out)
{
    static const char zeros[3 * sizeof(double)];
    for (int i = w->sent; i < end; i++)
        cairn_write_raw(out,
                        array->rows ? array->rows + (size_t)w->contact[i] * array->size : zeros,
                        array->size);
}

/* The next contacts: how many, their keys, the uids of their bodies, then array by array. The first
 * ones for a certificate are followed by the impacts. */
static void pack_contacts(cairn_team *t, const cairn_order *o, cairn_writer *out)
{
    bool detail = o->what == CAIRN_ORDER_DETAIL_CONTACTS;
    const cairn_contacts c = cairn_world_contacts(t->world);
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    const contact_arrays arrays = arrays_of(t->world, detail);
    cairn_window *w = &t->window;
    int begin = w->sent, end = w->contacts - begin < BLOCK ? w->contacts : begin + BLOCK;
    cairn_write_whole(out, end - begin);
    for (int i = begin; i < end; i++) {
        uint64_t key = cairn_window_key(c.body + 2 * (size_t)w->contact[i], b.held, own.order);
        cairn_write_raw(out, &key, sizeof key);
    }
    for (int i = begin; i < end; i++)
        for (size_t side = 0; side < 2; side++)
            cairn_write_raw(out, &b.uid[c.body[2 * (size_t)w->contact[i] + side]], sizeof *b.uid);
    for (int k = 0; k < arrays.count; k++)
        pack_array(w, &arrays.items[k], end, out);
    if (detail && o->from == 0)
        pack_impacts(t, out);
    w->sent = end;
}

/* ---- answers --------------------------------------------------------------------------------- */

static cairn_status pack(cairn_team *t, const cairn_order *o, cairn_writer *out)
{
    bool drawn = o->what == CAIRN_ORDER_DRAWN; /* these have an index */
    bool bodies = drawn || o->what == CAIRN_ORDER_BODIES || o->what == CAIRN_ORDER_DETAIL_BODIES;
    if (bodies && o->from == 0 && !drawn)
        TRY(cairn_window_index(t));
    if (!bodies && o->from == 0)
        TRY(cairn_window_index_contacts(t));
    if (bodies)
        pack_bodies(t, o, out);
    else
        pack_contacts(t, o, out);
    return out->failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static cairn_status answer_window(cairn_team *t, const cairn_order *o)
{
    cairn_writer out = { 0 };
    cairn_status status = pack(t, o, &out);
    if (status == CAIRN_OK)
        cairn_link_send(t->link, 0, out.data, out.size);
    cairn_writer_destroy(&out);
    return status == CAIRN_OK ? t->link->status : status;
}

cairn_status cairn_window_answer(cairn_team *t, const cairn_order *o)
{
    int64_t unused;
    cairn_status status;
    switch (o->what) {
    case CAIRN_ORDER_HASH:
        cairn_world_hash(t->world);
        return t->link->status;
    case CAIRN_ORDER_SAVED_BYTES: /* what cannot be saved, rank 0 will say */
        status = cairn_world_saved_bytes(t->world, &unused);
        return status == CAIRN_UNSUPPORTED ? t->link->status : status;
    case CAIRN_ORDER_SAVE:
        return cairn_world_save(t->world, NULL, NULL);
    case CAIRN_ORDER_BODIES:
    case CAIRN_ORDER_CONTACTS:
    case CAIRN_ORDER_DETAIL_BODIES:
    case CAIRN_ORDER_DETAIL_CONTACTS:
    case CAIRN_ORDER_DRAWN:
        return answer_window(t, o);
    default:
        return cairn_piece_answer(t, o);
    }
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

/* Append the bodies of a member to the columns of a view. */
static void take_bodies(cairn_team *t, const cairn_order *o, cairn_reader *r, cairn_bodies *view)
{
    const cairn_column *c;
    int64_t last = cairn_read_within(r, -1, INT64_MAX - 1);
    size_t count = cairn_read_count(r, 1), at = r->at;
    t->window.last = last > t->window.last ? last : t->window.last;
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
    r->at = at;
}

/* Ask all members, this one included, for bodies, and for what a certificate says of them. */
static cairn_status ask(cairn_team *t, const cairn_order *o, cairn_bodies *view,
                        cairn_writer *extras)
{
    cairn_writer own = { 0 };
    cairn_team_tell(t, o);
    cairn_status status = pack(t, o, &own);
    for (int k = 0; status == CAIRN_OK && k < t->link->members; k++) {
        size_t bytes = own.size;
        const void *data = k == 0 ? own.data : cairn_link_receive(t->link, k, &bytes);
        cairn_reader r = { .data = data, .size = bytes };
        if (t->link->status == CAIRN_OK)
            take_bodies(t, o, &r, view);
        if (t->link->status == CAIRN_OK && !r.failed)
            cairn_write_raw(extras, r.data + r.at, r.size - r.at);
        status = t->link->status == CAIRN_OK && r.failed ? CAIRN_BAD_INPUT : t->link->status;
    }
    cairn_writer_destroy(&own);
    return extras->failed ? CAIRN_NO_MEMORY : status;
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
                              .time_step = cairn_world_last_length(t->world),
                              .dimension = cairn_world_dimension(t->world),
                              .cell = cairn_world_lattice(t->world),
                              .shelf = &o->roll.shelf };
}

static int compare_extras(const void *a, const void *b)
{
    const extra *p = a, *q = b;
    return p->kind != q->kind ? (p->kind > q->kind) - (p->kind < q->kind)
                              : (p->uid > q->uid) - (p->uid < q->uid);
}

static void take_extra(cairn_run_frame *f, const cairn_run_roll *roll, const extra *one)
{
    int32_t row = cairn_run_roll_find(roll, one->uid);
    if (one->kind == LOAD) {
        f->load_body[f->loads] = row;
        f->force[f->loads] = one->a;
        f->torque[f->loads] = one->b;
        f->load_damping[f->loads++] = one->c;
    } else {
        f->pose_body[f->poses] = row;
        f->pose_x[f->poses] = one->a;
        f->pose_q[f->poses++] = (cairn_quat){ one->b.x, one->b.y, one->b.z, one->c.x };
    }
}

/* The loads and poses of a window, each by increasing rows. */
static cairn_status take_extras(cairn_run_frame *f, const cairn_run_roll *roll, cairn_arena *arena,
                                cairn_writer *extras)
{
    size_t count = extras->size / sizeof(extra);
    TRY(cairn_run_frame_take_inputs(f, count, arena));
    if (count > 1)
        qsort(extras->data, count, sizeof(extra), compare_extras);
    for (size_t k = 0; k < count; k++) {
        extra one;
        memcpy(&one, extras->data + k * sizeof one, sizeof one);
        take_extra(f, roll, &one);
    }
    return CAIRN_OK;
}

/* How a frame is written: as one of run.h5, as one of the certificate, or the first one as both. */
typedef struct writing {
    cairn_run_output *output;
    int64_t step;
    bool detail; /* of the certificate: a step with its inputs */
    cairn_error *error;
} writing;

static cairn_status store_window(cairn_team *t, const writing *w, const cairn_order *wanted,
                                 int64_t *stored)
{
    cairn_run_output *o = w->output;
    cairn_run_frame frame = frame_of(t, o, w->step);
    cairn_writer extras = { 0 };
    TRY(open_view(t, (size_t)(wanted->to - wanted->from), &frame.world));
    cairn_status status = ask(t, wanted, &frame.world, &extras);
    if (status == CAIRN_OK)
        status = cairn_run_frame_fill(&o->roll, &o->arena, &frame);
    if (status == CAIRN_OK)
        status = take_extras(&frame, &o->roll, &o->arena, &extras);
    cairn_writer_destroy(&extras);
    TRY(status);
    if (!w->detail)
        TRY(cairn_run_file_bodies(o->file, &frame, w->error));
    if (w->detail || (w->step == 0 && cairn_run_file_is_full(o->file)))
        TRY(cairn_run_file_detail_piece(o->file, &frame, w->error));
    *stored += frame.world.count;
    return CAIRN_OK;
}

/* The uid from which on bodies are new to the run. */
static int64_t first_new(const cairn_run_roll *roll)
{
    return roll->count > 0 ? (int64_t)roll->uids[roll->count - 1] + 1 : 0;
}

/* The first window has all bodies with names, which are written together. Where bodies have left,
 * there are fewer of them in a window than uids. */
static cairn_status store_bodies(cairn_team *t, const writing *w)
{
    int64_t all = cairn_world_body_count(t->world), to, stored = 0;
    int64_t named = w->output->scene->body_count, known = first_new(&w->output->roll);
    t->window.last = 0;
    for (int64_t from = 0; from <= t->window.last; from = to) {
        to = from + WINDOW > named ? from + WINDOW : named;
        const cairn_order wanted = { w->detail ? CAIRN_ORDER_DETAIL_BODIES : CAIRN_ORDER_BODIES,
                                     from, to, known };
        TRY(store_window(t, w, &wanted, &stored));
    }
    return stored == all ? CAIRN_OK
                         : cairn_fail(w->error, CAIRN_BAD_INPUT, NULL,
                                      "the ranks have %lld bodies, expected %lld",
                                      (long long)stored, (long long)all);
}

/* Each body comes with one push, so that both are in the same order. */
static cairn_status take_pushes(cairn_team *t, const cairn_writer *extras, const double **out)
{
    size_t count = extras->size / sizeof(extra);
    double *forces = cairn_arena_doubles(&t->window.arena, count + 1);
    if (!forces)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < count; k++) {
        extra one;
        memcpy(&one, extras->data + k * sizeof one, sizeof one);
        forces[k] = one.a.x;
    }
    *out = forces;
    return CAIRN_OK;
}

cairn_status cairn_window_drawn(cairn_team *t, int64_t count, cairn_run_roll *roll,
                                cairn_run_output *o, cairn_run_frame *frame, const double **forces)
{
    const cairn_order all = { CAIRN_ORDER_DRAWN, 0, INT64_MAX, 0 };
    cairn_writer extras = { 0 };
    *frame = frame_of(t, o, 0);
    frame->shelf = &roll->shelf;
    TRY(open_view(t, (size_t)count, &frame->world));
    cairn_status status = ask(t, &all, &frame->world, &extras);
    if (status == CAIRN_OK)
        status = frame->world.count == count ? CAIRN_OK : CAIRN_BAD_INPUT;
    if (status == CAIRN_OK)
        status = take_pushes(t, &extras, forces);
    cairn_writer_destroy(&extras);
    TRY(status);
    TRY(cairn_run_frame_fill(roll, &o->arena, frame));
    return cairn_team_joints(t, roll, &o->arena, frame);
}

/* ---- rank 0: merging contacts ---------------------------------------------------------------- */

/* The contacts of a member that have arrived and are not merged yet. */
typedef struct stream {
    cairn_writer block;
    size_t count, next;
    size_t passed; /* contacts of earlier blocks and of this one that are merged */
    bool ended;
    cairn_writer impacts; /* by contact; the first `numbered` have the numbers of all contacts */
    size_t numbered;
} stream;

typedef struct merger {
    cairn_team *t;
    const writing *how;
    stream *streams;
    contact_arrays arrays;
    cairn_run_frame frame; /* what is merged and not written yet: frame.contacts rows */
    size_t merged;         /* contacts so far */
} merger;

/* Where the keys of a block begin: behind the number of contacts. */
enum { HEAD = 8 };

static uint64_t key_at(const stream *s, size_t i)
{
    uint64_t key;
    memcpy(&key, s->block.data + HEAD + i * sizeof key, sizeof key);
    return key;
}

/* Bytes of a contact in a block: its key, its bodies, its numbers. */
static size_t row_bytes(const merger *m)
{
    size_t bytes = 3 * sizeof(uint64_t);
    for (int k = 0; k < m->arrays.count; k++)
        bytes += m->arrays.items[k].size;
    return bytes;
}

/* The next block of member k, if there is any; impacts come with the first. */
static cairn_status refill(merger *m, int k, bool first)
{
    stream *s = &m->streams[k];
    const cairn_order wanted = { m->how->detail ? CAIRN_ORDER_DETAIL_CONTACTS
                                                : CAIRN_ORDER_CONTACTS,
                                 first ? 0 : 1, 0, 0 };
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
    size_t rows = HEAD + s->count * row_bytes(m);
    if (s->block.failed || r.failed || rows > s->block.size)
        return s->block.failed ? CAIRN_NO_MEMORY : CAIRN_BAD_INPUT;
    cairn_write_raw(&s->impacts, s->block.data + rows, s->block.size - rows);
    return s->impacts.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static cairn_status write_merged(merger *m)
{
    if (m->frame.contacts == 0)
        return CAIRN_OK;
    cairn_run_file *file = m->how->output->file;
    TRY(m->how->detail ? cairn_run_file_detail_piece(file, &m->frame, m->how->error)
                       : cairn_run_file_contacts(file, &m->frame, m->how->error));
    m->frame.contacts = 0;
    return CAIRN_OK;
}

/* The next `count` contacts of a stream get numbers from m->merged on. */
static void number_impacts(const merger *m, stream *s, size_t count)
{
    for (; (s->numbered + 1) * sizeof(impact) <= s->impacts.size; s->numbered++) {
        impact one;
        unsigned char *at = s->impacts.data + s->numbered * sizeof one;
        memcpy(&one, at, sizeof one);
        if ((size_t)one.contact >= s->passed + count)
            break;
        one.contact += (int64_t)m->merged - (int64_t)s->passed;
        memcpy(at, &one, sizeof one);
    }
}

/* Move `count` contacts of a block behind those that are merged. */
static void move_contacts(merger *m, stream *s, size_t count)
{
    size_t done = m->frame.contacts, at = HEAD + s->count * sizeof(uint64_t);
    for (size_t i = 0; i < 2 * count; i++) {
        uint64_t uid;
        memcpy(&uid, s->block.data + at + (2 * s->next + i) * sizeof uid, sizeof uid);
        m->frame.pair[2 * done + i] = cairn_run_roll_find(&m->how->output->roll, uid);
    }
    at += 2 * s->count * sizeof(uint64_t);
    for (int k = 0; k < m->arrays.count; k++) {
        const contact_array *array = &m->arrays.items[k];
        char *rows;
        memcpy(&rows, (const char *)&m->frame + array->offset, sizeof rows);
        memcpy(rows + done * array->size, s->block.data + at + s->next * array->size,
               count * array->size);
        at += s->count * array->size;
    }
    number_impacts(m, s, count);
    s->next += count;
    s->passed += count;
    m->merged += count;
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
    for (int k = 0; k < m->arrays.count; k++) {
        void *rows = cairn_arena_take(arena, MERGED, m->arrays.items[k].size);
        memcpy((char *)&m->frame + m->arrays.items[k].offset, &rows, sizeof rows);
        good = good && rows;
    }
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* The impacts of all members, by rounds and contacts, as one process finds them. */
static cairn_status sort_impacts(merger *m, cairn_writer *all)
{
    for (int k = 0; k < m->t->link->members; k++)
        cairn_write_raw(all, m->streams[k].impacts.data, m->streams[k].impacts.size);
    if (!all->failed && all->size > sizeof(impact))
        qsort(all->data, all->size / sizeof(impact), sizeof(impact), compare_impacts);
    return all->failed ? CAIRN_NO_MEMORY : CAIRN_OK;
}

static cairn_status write_impacts(merger *m, const cairn_writer *all)
{
    cairn_arena *arena = &m->t->window.arena;
    size_t count = all->size / sizeof(impact), d = (size_t)m->frame.dimension;
    int32_t *round = cairn_arena_take(arena, count, sizeof *round);
    int32_t *contact = cairn_arena_take(arena, count, sizeof *contact);
    double *time = cairn_arena_take(arena, count, sizeof *time);
    double *impulse = cairn_arena_take(arena, count * d, sizeof *impulse);
    if (!round || !contact || !time || !impulse)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < count; k++) {
        impact one;
        memcpy(&one, all->data + k * sizeof one, sizeof one);
        round[k] = (int32_t)one.round;
        contact[k] = (int32_t)one.contact;
        time[k] = one.time;
        memcpy(impulse + k * d, one.impulse, d * sizeof *impulse);
    }
    cairn_run_frame f = m->frame;
    f.impacts = count;
    f.impact_round = round;
    f.impact_contact = contact;
    f.impact_time = time;
    f.impact_impulse = impulse;
    return cairn_run_file_detail_piece(m->how->output->file, &f, m->how->error);
}

static cairn_status store_impacts(merger *m)
{
    cairn_writer all = { 0 };
    cairn_status status = sort_impacts(m, &all);
    if (status == CAIRN_OK && all.size > 0)
        status = write_impacts(m, &all);
    cairn_writer_destroy(&all);
    return status;
}

static cairn_status store_contacts(cairn_team *t, const writing *w)
{
    merger m = { .t = t, .how = w, .arrays = arrays_of(t->world, w->detail) };
    m.frame = frame_of(t, w->output, w->step);
    cairn_status status = open_merger(&m);
    if (status == CAIRN_OK)
        status = merge_all(&m);
    if (status == CAIRN_OK)
        status = store_impacts(&m);
    for (int k = 0; m.streams && k < t->link->members; k++) {
        cairn_writer_destroy(&m.streams[k].block);
        cairn_writer_destroy(&m.streams[k].impacts);
    }
    cairn_memory_free(m.streams);
    return status;
}

/* ---- rank 0: frames -------------------------------------------------------------------------- */

/* Before the first step there are no contacts of this run. */
cairn_status cairn_team_frame(cairn_team *t, cairn_run_output *o, int64_t step, cairn_error *error)
{
    const writing w = { o, step, false, error };
    if (!o->folder)
        return CAIRN_OK;
    TRY(cairn_run_file_end_flush(o->file, true, error));
    TRY(store_bodies(t, &w));
    if (step > 0 && o->scene->run.contacts)
        TRY(store_contacts(t, &w));
    cairn_run_frame frame = frame_of(t, o, step);
    TRY(cairn_team_joints(t, &o->roll, &o->arena, &frame));
    if (o->scene->run.statistics.count > 0)
        TRY(cairn_team_sample(t, step, &frame.sample));
    TRY(cairn_run_file_end_frame(o->file, &frame, error));
    if (step == 0 && cairn_run_file_is_full(o->file))
        TRY(cairn_run_file_detail(o->file, &frame, error));
    if (o->scene->run.paraview)
        TRY(cairn_team_paraview(t, o, step, error));
    return cairn_run_output_frame_end(o, error);
}

cairn_status cairn_team_detail(cairn_team *t, cairn_run_output *o, int64_t step, cairn_error *error)
{
    const writing w = { o, step, true, error };
    cairn_run_frame frame = frame_of(t, o, step);
    TRY(cairn_run_file_end_flush(o->file, true, error));
    TRY(store_bodies(t, &w));
    TRY(store_contacts(t, &w));
    TRY(cairn_team_joints(t, &o->roll, &o->arena, &frame));
    return cairn_run_file_detail(o->file, &frame, error);
}
