/* shown.c - what a run draws of a world that no process has as a whole: pieces of a frame for
 * ParaView, and the picture.
 *
 *   shapes    All members have the same table of shapes. Geometries have rows in /geometry by the
 *             first bodies that have them, which the members find together.
 *   held      Forces on fixed and driven bodies: each member adds those of its contacts to the sums
 *             of those before it, in the order of rows, as one process does.
 *   picture   The members count what their bodies need of it, find together how near bodies must
 *             be, and send these to rank 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"
#include "math/vec.h"
#include "run/frame.h"
#include "run/together.h"

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The first body of each shape: all members have the same table of shapes, but not the bodies. */
typedef struct first_of_shape {
    int64_t uid; /* INT64_MAX: there is none */
    int32_t shape;
} first_of_shape;

static int compare_firsts(const void *a, const void *b)
{
    const first_of_shape *p = a, *q = b;
    return p->uid != q->uid ? (p->uid > q->uid) - (p->uid < q->uid)
                            : (p->shape > q->shape) - (p->shape < q->shape);
}

/* The smallest uids below order->known, as numbers of which the largest one counts. */
static cairn_status find_uids(const cairn_world *world, cairn_link *link, const cairn_order *o,
                              int64_t *last)
{
    const cairn_bodies b = cairn_world_bodies(world);
    const cairn_world_part own = cairn_world_own(world);
    for (int id = 0; id < b.shape_count; id++)
        last[id] = INT64_MIN;
    for (int i = 0; i < own.end; i = i + 1 < b.held || i >= own.begin ? i + 1 : own.begin) {
        int64_t uid = (int64_t)b.uid[i], *to;
        to = &last[cairn_bodies_shape(&b, i) - b.shapes];
        if (uid < o->known)
            *to = -uid > *to ? -uid : *to;
    }
    cairn_link_largests(link, last, b.shape_count);
    return link ? link->status : CAIRN_OK;
}

static cairn_status answer_firsts(cairn_team *t, const cairn_order *o)
{
    int64_t *last =
        cairn_memory_zeroed((size_t)cairn_world_bodies(t->world).shape_count + 1, sizeof *last);
    cairn_status status =
        last ? find_uids(t->world, t->link, o, last) : cairn_team_give_up(t->link, CAIRN_NO_MEMORY);
    cairn_memory_free(last);
    return status;
}

/* Rank 0: the shapes by their first bodies; the caller frees the list. */
static cairn_status find_firsts(cairn_team *t, const cairn_world *world, cairn_order order,
                                first_of_shape **out)
{
    cairn_link *link = world == t->world && t->copy ? t->link : NULL;
    size_t count = (size_t)cairn_world_bodies(world).shape_count;
    int64_t *last = cairn_memory_zeroed(count + 1, sizeof *last);
    *out = cairn_memory_zeroed(count + 1, sizeof **out);
    order.what = CAIRN_ORDER_FIRSTS;
    cairn_status status = last && *out ? CAIRN_OK : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK) {
        if (link)
            cairn_team_tell(t, &order);
        status = find_uids(world, link, &order, last);
        for (size_t id = 0; id < count; id++)
            (*out)[id] =
                (first_of_shape){ last[id] == INT64_MIN ? INT64_MAX : -last[id], (int32_t)id };
        qsort(*out, count, sizeof **out, compare_firsts);
    }
    cairn_memory_free(last);
    return status;
}

/* Geometries got their rows in the order of the bodies' rows, so the bodies that still exist yield
 * the same rows again, unless the only body with some geometry is gone (see
 * cairn_run_shelf_settle). */
cairn_status cairn_team_shelf(cairn_team *t, cairn_run_output *o)
{
    const cairn_world *world = t->spread ? t->world : o->scene->world;
    const cairn_bodies b = cairn_world_bodies(world);
    cairn_run_roll *roll = &o->roll;
    const cairn_order order = { .known = roll->count > 0 ? (int64_t)roll->uids[roll->count - 1] + 1
                                                         : 0 };
    first_of_shape *first = NULL;
    cairn_status status = find_firsts(t, world, order, &first);
    for (int k = 0; status == CAIRN_OK && k < b.shape_count && first[k].uid < INT64_MAX; k++)
        status = cairn_run_shelf_add(&roll->shelf, b.shapes[first[k].shape].geometry);
    cairn_memory_free(first);
    if (o->folder)
        cairn_run_shelf_settle(&roll->shelf, cairn_run_file_geometries(o->file));
    return status;
}

/* ---- pieces for ParaView --------------------------------------------------------------------- */

/* What a member answers: whether it can write its piece, or has written it; how many balls and
 * other shapes it has, and where its bodies are. */
typedef struct piece_note {
    int64_t good, balls, shapes;
    cairn_run_box box;
} piece_note;

/* What all members need to know for their pieces. Bodies have rows in /bodies in the order of their
 * uids, but some came and left between two frames. */
typedef struct piece_plan {
    int64_t balls, shapes, gaps; /* balls and shapes: whether there are any */
    uint64_t *gap;               /* uids without a row, ascending           */
} piece_plan;

static void destroy_plan(piece_plan *p)
{
    cairn_memory_free(p->gap);
}

/* The first three numbers of a plan are known. */
static cairn_status open_plan(piece_plan *p)
{
    p->gap = cairn_memory_zeroed((size_t)p->gaps + 1, sizeof *p->gap);
    return p->gap ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static int32_t row_of(const piece_plan *p, uint64_t uid)
{
    int64_t low = 0, high = p->gaps;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (p->gap[middle] < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)(uid - (uint64_t)low);
}

/* A frame of what this member has. */
static cairn_status take_own(cairn_team *t, int64_t step, const piece_plan *p, cairn_run_frame *f)
{
    cairn_run_roll roll = { 0 };
    cairn_status status = cairn_run_frame_take(t->world, &roll, &t->window.arena, f);
    cairn_run_roll_destroy(&roll);
    TRY(status);
    f->shelf = NULL;
    f->fresh = 0; /* the roll of the run knows all of them */
    f->time_step = cairn_world_last_length(t->world);
    if (step == 0)
        f->contacts = (size_t)(f->touch.count = 0);
    for (size_t row = 0; row < f->bodies; row++)
        f->index[row] = row_of(p, f->world.uid[f->slot[row]]);
    for (size_t i = 0; i < 2 * f->contacts; i++)
        f->pair[i] = row_of(p, f->world.uid[f->touch.body[i]]);
    return CAIRN_OK;
}

/* All that moves can be written in pieces, if the folder can be seen from here. */
static piece_note look_for(cairn_team *t, const char *folder)
{
    char path[CAIRN_PATH_BYTES];
    piece_note note = { .good = 0 };
    const cairn_world_part own = cairn_world_own(t->world);
    const cairn_run_frame f = { .dimension = cairn_world_dimension(t->world),
                                .world = cairn_world_bodies(t->world) };
    note.good = cairn_path_join(folder, "view.py", path, NULL) == CAIRN_OK && cairn_is_file(path);
    for (int i = t->link->member == 0 ? 0 : own.begin; i < own.end; i++) {
        cairn_run_look look = cairn_run_look_of(&f, i);
        if (i >= f.world.held && i < own.begin)
            continue;
        note.balls += look == CAIRN_LOOK_BALL;
        note.shapes += look == CAIRN_LOOK_SHAPE;
        note.good = note.good && (look != CAIRN_LOOK_WALL || i < f.world.held);
    }
    cairn_run_box_add(&note.box, &f, own.begin, own.end);
    return note;
}

static void set_own(const cairn_team *t, const piece_plan *plan, cairn_run_paraview *p)
{
    const cairn_world_part own = cairn_world_own(t->world);
    p->pieces = t->link->members;
    p->piece = t->link->member;
    p->own = own.begin;
    p->own_end = own.end;
    p->any_balls = plan->balls != 0;
    p->any_shapes = plan->shapes != 0;
}

/* Forces on held bodies: each member adds those of its contacts, in the order of rows. */
static cairn_status add_held(cairn_team *t, cairn_vec3 *sum)
{
    cairn_link *link = t->link;
    const cairn_run_frame f = { .dimension = cairn_world_dimension(t->world),
                                .time_step = cairn_world_last_length(t->world),
                                .world = cairn_world_bodies(t->world),
                                .touch = cairn_world_contacts(t->world),
                                .contacts = (size_t)cairn_world_contacts(t->world).count };
    const size_t bytes = (size_t)f.world.held * sizeof *sum;
    const piece_plan none = { .balls = 0 };
    cairn_run_paraview p = { .contacts = false };
    set_own(t, &none, &p);
    if (link->member > 0)
        cairn_link_receive_into(link, link->member - 1, sum, bytes);
    cairn_run_paraview_held(&p, &f, sum);
    cairn_link_send(link, (link->member + 1) % link->members, sum, bytes);
    if (link->member == 0)
        cairn_link_receive_into(link, link->members - 1, sum, bytes);
    return link->status;
}

static cairn_vec3 *take_held(const cairn_team *t)
{
    return cairn_memory_zeroed((size_t)cairn_world_bodies(t->world).held + 1, sizeof(cairn_vec3));
}

static cairn_status answer_held(cairn_team *t)
{
    cairn_vec3 *sum = take_held(t);
    cairn_status status = sum ? add_held(t, sum) : cairn_team_give_up(t->link, CAIRN_NO_MEMORY);
    cairn_memory_free(sum);
    return status;
}

static void send_plan(cairn_team *t, const piece_plan *p)
{
    cairn_writer w = { 0 };
    cairn_write_raw(&w, p, offsetof(piece_plan, gap));
    cairn_write_raw(&w, p->gap, (size_t)p->gaps * sizeof *p->gap);
    if (w.failed)
        t->link->status = CAIRN_NO_MEMORY;
    for (int k = 1; k < t->link->members; k++)
        cairn_link_send(t->link, k, w.data, w.size);
    cairn_writer_destroy(&w);
}

static cairn_status receive_plan(cairn_team *t, piece_plan *p)
{
    size_t bytes, head = offsetof(piece_plan, gap);
    const char *data = cairn_link_receive(t->link, 0, &bytes);
    if (!data || bytes < head)
        return t->link->status == CAIRN_OK ? CAIRN_BAD_INPUT : t->link->status;
    memcpy(p, data, head);
    size_t gaps = (size_t)p->gaps * sizeof *p->gap;
    if (bytes != head + gaps)
        return CAIRN_BAD_INPUT;
    TRY(open_plan(p));
    memcpy(p->gap, data + head, gaps);
    return CAIRN_OK;
}

static cairn_status answer_piece(cairn_team *t, const cairn_order *o)
{
    cairn_run_paraview p = { .contacts = o->known != 0,
                             .scene = t->copy,
                             .count = (size_t)o->from };
    cairn_error unused = { 0 };
    cairn_run_frame f;
    piece_plan shared = { .balls = 0 };
    piece_note note = { .good = 0 };
    size_t bytes;
    const char *folder = cairn_link_receive(t->link, 0, &bytes);
    if (!folder || bytes == 0 || bytes > sizeof p.folder)
        return t->link->status == CAIRN_OK ? CAIRN_BAD_INPUT : t->link->status;
    memcpy(p.folder, folder, bytes);
    p.folder[bytes - 1] = '\0';
    if (o->what == CAIRN_ORDER_LOOK_FOR) {
        note = look_for(t, p.folder);
    } else if (receive_plan(t, &shared) == CAIRN_OK) {
        set_own(t, &shared, &p);
        note.good = take_own(t, o->to, &shared, &f) == CAIRN_OK &&
                    cairn_run_paraview_piece(&p, &f, &t->window.arena, &unused) == CAIRN_OK;
    }
    destroy_plan(&shared);
    cairn_run_solids_destroy(&p.solids);
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
        own.balls += note.balls;
        own.shapes += note.shapes;
        cairn_run_box_join(&own.box, &note.box);
    }
    return own;
}

static cairn_status make_plan(const cairn_run_output *o, const piece_note *all, piece_plan *p)
{
    const cairn_run_roll *roll = &o->roll;
    uint64_t next = 0;
    size_t gaps = 0;
    p->balls = all->balls > 0 || o->paraview.without_balls < o->paraview.count;
    p->shapes = all->shapes > 0;
    p->gaps = roll->count > 0 ? (int64_t)roll->uids[roll->count - 1] + 1 - roll->count : 0;
    TRY(open_plan(p));
    for (int32_t row = 0; row < roll->count; row++)
        for (; next <= roll->uids[row]; next++)
            if (next < roll->uids[row])
                p->gap[gaps++] = next;
    return CAIRN_OK;
}

/* Forces on held bodies that are written with their forces; NULL: there are none. */
static cairn_status ask_held(cairn_team *t, int64_t step, cairn_vec3 **out)
{
    const cairn_run_frame f = { .dimension = cairn_world_dimension(t->world),
                                .world = cairn_world_bodies(t->world) };
    bool any = false;
    for (int i = 0; i < f.world.held; i++)
        any = any || cairn_run_look_of(&f, i) != CAIRN_LOOK_WALL;
    if (!any || step == 0)
        return CAIRN_OK;
    *out = take_held(t);
    if (!*out)
        return CAIRN_NO_MEMORY;
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_HELD });
    return add_held(t, *out);
}

/* Rank 0 also draws the walls, and lists the pieces. */
static cairn_status store_planned(cairn_team *t, cairn_run_output *o, int64_t step,
                                  const piece_plan *plan, cairn_error *error)
{
    cairn_run_paraview *p = &o->paraview;
    cairn_run_frame frame;
    const cairn_order order = { CAIRN_ORDER_PIECE, (int64_t)p->count, step, p->contacts };
    TRY(take_own(t, step, plan, &frame));
    TRY(cairn_team_joint_ends(t, &frame));
    tell_folder(t, &order, p->folder);
    send_plan(t, plan);
    set_own(t, plan, p);
    cairn_status status = cairn_run_paraview_frame(p, &frame, &t->window.arena, error);
    p->pieces = 0;
    piece_note all = hear(t, (piece_note){ .good = 1 });
    if (status == CAIRN_OK && !all.good)
        return cairn_fail(error, CAIRN_IO_FAILED, "run.paraview",
                          "a rank could not write its piece of a frame into %.200s", p->folder);
    return status;
}

static cairn_status store_pieces(cairn_team *t, cairn_run_output *o, int64_t step,
                                 const piece_note *all, cairn_error *error)
{
    cairn_run_paraview *p = &o->paraview;
    cairn_vec3 *held = NULL;
    piece_plan plan = { .balls = 0 };
    cairn_status status = make_plan(o, all, &plan);
    if (status == CAIRN_OK)
        status = ask_held(t, step, &held);
    p->walls.others = all->box;
    p->held = held;
    if (status == CAIRN_OK)
        status = store_planned(t, o, step, &plan, error);
    p->walls.others = (cairn_run_box){ 0 };
    p->held = NULL;
    cairn_memory_free(held);
    destroy_plan(&plan);
    return status;
}

/* In pieces, one for each rank, if all can write; else from the whole world. */
cairn_status cairn_team_paraview(cairn_team *t, cairn_run_output *o, int64_t step,
                                 cairn_error *error)
{
    char folder[CAIRN_PATH_BYTES] = { 0 }; /* other ranks may have been started elsewhere */
    if (realpath(o->paraview.folder, folder))
        memcpy(o->paraview.folder, folder, sizeof folder);
    tell_folder(t, &(cairn_order){ .what = CAIRN_ORDER_LOOK_FOR }, o->paraview.folder);
    const piece_note all = hear(t, look_for(t, o->paraview.folder));
    TRY(t->link->status);
    if (all.good)
        return store_pieces(t, o, step, &all, error);
    cairn_run_frame frame;
    TRY(cairn_team_look(t, o->scene));
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    frame.step = step;
    frame.time_step = cairn_world_last_length(o->scene->world);
    if (step == 0)
        frame.contacts = (size_t)(frame.touch.count = 0);
    return cairn_run_paraview_frame(&o->paraview, &frame, &o->arena, error);
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* Sums of the normal forces, in the order of the contacts as in the whole world: all contacts of an
 * own body are here. */
static cairn_status sum_pushes(cairn_team *t)
{
    const cairn_contacts c = cairn_world_contacts(t->world);
    cairn_window *w = &t->window;
    size_t rows = (size_t)cairn_world_bodies(t->world).count;
    TRY(cairn_memory_extend((void **)&w->push, &w->push_room, rows + 1, sizeof *w->push));
    memset(w->push, 0, rows * sizeof *w->push);
    for (size_t j = 0; j < (size_t)c.count; j++)
        for (size_t side = 0; side < 2; side++)
            w->push[c.body[2 * j + side]] +=
                c.impulse[j * (size_t)c.dimension] / cairn_world_last_length(t->world);
    return CAIRN_OK;
}

/* How near parts must be to be in the picture; of the same depth those that are painted last, which
 * are balls by uid, then polygons by uid. */
typedef struct limit {
    uint64_t depth, last;
} limit;

static bool is_near(const cairn_bodies *b, const cairn_picture_part *part, limit least)
{
    uint64_t depth = cairn_rank_of(part->depth), last = b->uid[part->slot];
    last |= part->polygon ? UINT64_C(1) << 62 : 0;
    return depth > least.depth || (depth == least.depth && last >= least.last);
}

static int64_t count_near(const cairn_team *t, const cairn_picture_needs *needs, limit least)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    int64_t count = 0;
    for (size_t k = 0; k < needs->count; k++)
        count += is_near(&b, &needs->parts[k], least) ? needs->parts[k].marks : 0;
    return cairn_link_sum(t->link, count);
}

/* The largest limit that more marks reach than are painted: what is farther away is not in the
 * picture. It is found bit by bit, by all members together. */
static limit find_limit(const cairn_team *t, const cairn_picture_needs *needs)
{
    limit least = { 0, 0 };
    for (int bit = 127; bit >= 0; bit--) {
        limit next = least;
        *(bit < 64 ? &next.last : &next.depth) |= UINT64_C(1) << bit % 64;
        if (count_near(t, needs, next) > CAIRN_PICTURE_MARKS)
            least = next;
    }
    return least;
}

/* What the members know together of the picture, and how many bodies are sent. */
typedef struct choice {
    int64_t count;
    cairn_picture_needs needs;
    cairn_run_box box; /* of all that move     */
} choice;

/* The box of the bodies of all members. */
static cairn_run_box box_of_all(const cairn_team *t)
{
    const cairn_world_part own = cairn_world_own(t->world);
    const cairn_run_frame f = { .dimension = cairn_world_dimension(t->world),
                                .world = cairn_world_bodies(t->world) };
    cairn_run_box box = { .filled = false };
    cairn_run_box_add(&box, &f, own.begin, own.end);
    bool empty = !box.filled;
    box.filled = !cairn_link_all(t->link, empty);
    double *const sides[6] = { &box.low.x,  &box.low.y,  &box.low.z,
                               &box.high.x, &box.high.y, &box.high.z };
    for (int k = 0; k < 6; k++) {
        double sign = k < 3 ? -1 : 1, side = empty ? -HUGE_VAL : sign * *sides[k];
        *sides[k] = sign * cairn_link_largest(t->link, side);
    }
    return box;
}

/* What the own bodies need; those that move, in the order of their uids. */
static cairn_status find_needs(cairn_team *t, cairn_picture_needs *needs)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    cairn_window *w = &t->window;
    cairn_arena_reset(&w->arena);
    int32_t *slot = cairn_arena_take(&w->arena, (size_t)w->count + 1, sizeof *slot);
    cairn_run_frame f = { .dimension = cairn_world_dimension(t->world), .world = b, .slot = slot };
    for (int i = 0; slot && i < w->count; i++)
        if (w->row[i] >= b.held)
            slot[f.bodies++] = w->row[i];
    return slot ? cairn_picture_need(t->world, &f, w->push, &w->arena, needs) : CAIRN_NO_MEMORY;
}

/* The needs of all members; each keeps its own parts. */
static void join_needs(const cairn_team *t, cairn_picture_needs *needs)
{
    needs->largest_force = cairn_link_largest(t->link, needs->largest_force);
    needs->polygons = cairn_link_any(t->link, needs->polygons);
    for (int axis = 0; axis < 2; axis++) {
        needs->low[axis] = -cairn_link_largest(t->link, -needs->low[axis]);
        needs->high[axis] = cairn_link_largest(t->link, needs->high[axis]);
    }
}

/* Keep the rows of held bodies, of walls that move, and of all that have a part near enough. */
static cairn_status keep_near(cairn_team *t, const cairn_picture_needs *needs, limit least)
{
    const cairn_run_frame f = { .dimension = cairn_world_dimension(t->world),
                                .world = cairn_world_bodies(t->world) };
    cairn_window *w = &t->window;
    bool *near = cairn_memory_zeroed((size_t)f.world.count + 1, sizeof *near);
    int kept = 0;
    for (size_t k = 0; near && k < needs->count; k++)
        near[needs->parts[k].slot] |= is_near(&f.world, &needs->parts[k], least);
    for (int i = 0; near && i < w->count; i++)
        if (w->row[i] < f.world.held || near[w->row[i]] ||
            cairn_run_look_of(&f, w->row[i]) == CAIRN_LOOK_WALL)
            w->row[kept++] = w->row[i];
    w->count = kept;
    cairn_status status = near ? CAIRN_OK : CAIRN_NO_MEMORY;
    cairn_memory_free(near);
    return status;
}

static cairn_status choose(cairn_team *t, choice *out)
{
    cairn_status status = cairn_window_index(t);
    if (status == CAIRN_OK)
        status = sum_pushes(t);
    if (status == CAIRN_OK)
        status = find_needs(t, &out->needs);
    if (status != CAIRN_OK)
        return cairn_team_give_up(t->link, status);
    join_needs(t, &out->needs);
    out->box = box_of_all(t);
    status = keep_near(t, &out->needs, find_limit(t, &out->needs));
    if (status != CAIRN_OK)
        return cairn_team_give_up(t->link, status);
    out->count = cairn_link_sum(t->link, t->window.count);
    return t->link->status;
}

cairn_status cairn_team_picture(cairn_team *t, cairn_run_output *o, cairn_error *error)
{
    choice c = { .count = 0 };
    cairn_run_roll roll = { 0 };
    cairn_run_frame frame;
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_CHOOSE });
    TRY(choose(t, &c));
    cairn_picture_rest rest = { .needs = c.needs, .box = c.box };
    cairn_status status = cairn_window_drawn(t, c.count, &roll, o, &frame, &rest.forces);
    if (status == CAIRN_OK)
        status = cairn_picture_write(&frame, &rest, o->scene, o->folder, &o->arena, error);
    cairn_run_roll_destroy(&roll);
    return status;
}

/* ---- the other ranks ------------------------------------------------------------------------- */

cairn_status cairn_shown_answer(cairn_team *t, const cairn_order *o)
{
    choice unread;
    switch (o->what) {
    case CAIRN_ORDER_CHOOSE:
        return choose(t, &unread);
    case CAIRN_ORDER_FIRSTS:
        return answer_firsts(t, o);
    case CAIRN_ORDER_HELD:
        return answer_held(t);
    default:
        return answer_piece(t, o);
    }
}
