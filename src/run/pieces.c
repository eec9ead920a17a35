/* pieces.c - what a run measures and draws of a world that no process has as a whole: how far
 * bodies have moved, pieces of a frame for ParaView, and the picture. Frames are in window.c.
 *
 *   places    Positions at the start are kept by uid: member k has the k-th range of uids, whoever
 *             computes these bodies.
 *   sums      Each member adds what it has to the sum of those before it, in the order of rows, as
 *             one process does.
 *   joints    All members know their states; where they are fixed to bodies, those that have the
 *             bodies tell rank 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "file/file.h"
#include "math/vec.h"
#include "run/frame.h"
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
    cairn_status ready = t->window.place ? cairn_window_index(t) : CAIRN_NO_MEMORY;
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

/* ---- sums for events ------------------------------------------------------------------------- */

/* The impulse of contact j on its body a, in the world frame: r_N n + r_1 t + r_2 n x t. */
static cairn_vec3 impulse_of(const cairn_contacts *c, int j)
{
    const double *r = c->impulse + (size_t)j * (size_t)c->dimension;
    cairn_vec3 n = c->normal[j], t = c->tangent[j];
    cairn_vec3 sum = cairn_add_scaled(cairn_scale(r[0], n), r[1], t);
    return c->dimension == 3 ? cairn_add_scaled(sum, r[2], cairn_cross(n, t)) : sum;
}

/* Add the impulses on a body in the last step. Of several members the owner of the body has all its
 * contacts; those of a held body belong to the owners of the other bodies. */
static void add_impulses(const cairn_team *t, uint64_t uid, cairn_vec3 *sum)
{
    const cairn_contacts c = cairn_world_contacts(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    int row = cairn_body_row(t->world, (cairn_body_id){ uid });
    bool held = row < cairn_world_bodies(t->world).held;
    for (int j = 0; j < c.count && row >= 0; j++)
        for (int side = 0; side < 2; side++) {
            int other = c.body[2 * j + (side ^ 1)], counted = held ? other : row;
            if (c.body[2 * j + side] == row && counted >= own.begin && counted < own.end)
                *sum = cairn_add_scaled(*sum, side ? -1 : 1, impulse_of(&c, j));
        }
}

static void add_own(const cairn_team *t, const cairn_order *o, cairn_vec3 *sum)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    for (int i = own.begin; o->what == CAIRN_ORDER_MASS && i < own.end; i++)
        sum->x += b.mass[i];
    if (o->what == CAIRN_ORDER_IMPULSE)
        add_impulses(t, (uint64_t)o->from, sum);
}

/* The last member tells the first one. */
static cairn_status add_in_turn(cairn_team *t, const cairn_order *o, cairn_vec3 *sum)
{
    cairn_link *link = t->link;
    *sum = (cairn_vec3){ 0, 0, 0 };
    if (t->copy && link->member > 0)
        cairn_link_receive_into(link, link->member - 1, sum, sizeof *sum);
    add_own(t, o, sum);
    if (!t->copy)
        return CAIRN_OK;
    cairn_link_send(link, (link->member + 1) % link->members, sum, sizeof *sum);
    if (link->member == 0)
        cairn_link_receive_into(link, link->members - 1, sum, sizeof *sum);
    return link->status;
}

cairn_status cairn_team_sum(cairn_team *t, cairn_order_kind what, int64_t uid, cairn_vec3 *sum)
{
    const cairn_order order = { .what = what, .from = uid };
    cairn_team_tell(t, &order);
    return add_in_turn(t, &order, sum);
}

/* ---- joints ---------------------------------------------------------------------------------- */

/* Where a joint is fixed to a body, and where that body is. */
typedef struct joint_end {
    int64_t end; /* 2 joint + side */
    cairn_vec3 point, centre;
} joint_end;

static void pack_ends(const cairn_team *t, cairn_writer *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    for (int k = 0; k < cairn_world_joint_count(t->world); k++) {
        const cairn_joint_state s = cairn_world_joint(t->world, k);
        for (int side = 0; side < 2 && s.alive; side++) {
            int row = s.body[side];
            const joint_end one = { 2 * (int64_t)k + side, side ? s.point_b : s.point,
                                    row >= 0 ? b.x[row] : s.point };
            if (row >= own.begin && row < own.end)
                cairn_write_raw(out, &one, sizeof one);
        }
    }
}

static cairn_status answer_joints(cairn_team *t)
{
    cairn_writer out = { 0 };
    pack_ends(t, &out);
    cairn_status status = out.failed ? give_up(t->link, CAIRN_NO_MEMORY) : CAIRN_OK;
    if (status == CAIRN_OK)
        cairn_link_send(t->link, 0, out.data, out.size);
    cairn_writer_destroy(&out);
    return status == CAIRN_OK ? t->link->status : status;
}

/* Members list joints in the order of the frame, so that the search goes on from `row`. */
static size_t place_end(const joint_end *one, cairn_run_joints *j, size_t row)
{
    size_t side = (size_t)one->end % 2;
    while (row < j->count && j->index[row] < one->end / 2)
        row++;
    if (row == j->count || j->index[row] != one->end / 2)
        return row;
    *(side ? &j->point_b[row] : &j->point[row]) = one->point;
    j->centre[2 * row + side] = one->centre;
    return row;
}

cairn_status cairn_team_joint_ends(cairn_team *t, cairn_run_frame *f)
{
    if (cairn_world_joint_count(t->world) == 0)
        return CAIRN_OK;
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_JOINTS });
    for (int k = 1; k < t->link->members; k++) {
        size_t bytes, row = 0;
        const char *data = cairn_link_receive(t->link, k, &bytes);
        for (size_t at = 0; data && at + sizeof(joint_end) <= bytes; at += sizeof(joint_end)) {
            joint_end one;
            memcpy(&one, data + at, sizeof one);
            row = place_end(&one, &f->joint, row);
        }
    }
    return t->link->status;
}

cairn_status cairn_team_joints(cairn_team *t, cairn_run_roll *roll, cairn_arena *arena,
                               cairn_run_frame *f)
{
    TRY(cairn_run_joints_take(t->world, roll, arena, f));
    return cairn_team_joint_ends(t, f);
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

/* Whether all own bodies that move are drawn as balls. */
static bool are_balls(const cairn_team *t)
{
    const cairn_world_part own = cairn_world_own(t->world);
    const cairn_run_frame f = { .dimension = cairn_world_dimension(t->world),
                                .world = cairn_world_bodies(t->world) };
    for (int i = own.begin; i < own.end; i++)
        if (cairn_run_look_of(&f, i) != CAIRN_LOOK_BALL)
            return false;
    return true;
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
    note.good = note.good && are_balls(t);
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
    TRY(take_own(t, step, &frame));
    TRY(cairn_team_joint_ends(t, &frame));
    tell_folder(t, &order, p->folder);
    set_own(t, p);
    p->walls.others = *box;
    cairn_status status = cairn_run_paraview_frame(p, &frame, &t->window.arena, error);
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
cairn_status cairn_team_paraview(cairn_team *t, cairn_run_output *o, int64_t step,
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

/* ---- the picture ----------------------------------------------------------------------------- */

/* Sums of the normal forces, in the order of the contacts as in the whole world: all contacts of an
 * own body are here. The largest one of own bodies. */
static cairn_status sum_pushes(cairn_team *t, double *largest)
{
    const cairn_contacts c = cairn_world_contacts(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    cairn_window *w = &t->window;
    size_t rows = (size_t)cairn_world_bodies(t->world).count;
    TRY(cairn_memory_extend((void **)&w->push, &w->push_room, rows + 1, sizeof *w->push));
    memset(w->push, 0, rows * sizeof *w->push);
    for (size_t j = 0; j < (size_t)c.count; j++)
        for (size_t side = 0; side < 2; side++)
            w->push[c.body[2 * j + side]] +=
                c.impulse[j * (size_t)c.dimension] / t->copy->step.time_step;
    for (int i = own.begin; i < own.end; i++)
        *largest = fmax(*largest, w->push[i]);
    return CAIRN_OK;
}

/* A whole number that grows with a real one. */
static uint64_t rank_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static bool is_near(const cairn_bodies *b, int row, cairn_vec3 towards, uint64_t limit)
{
    return row < b->held || rank_of(cairn_dot(b->x[row], towards)) >= limit;
}

static int64_t count_near(const cairn_team *t, cairn_vec3 towards, uint64_t limit)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    int64_t count = 0;
    for (int i = own.begin; i < own.end; i++)
        count += is_near(&b, i, towards, limit);
    return cairn_link_sum(t->link, count);
}

/* The largest limit that more bodies reach than are painted: what is farther away is not in the
 * picture. It is found bit by bit, by all members together. */
static uint64_t find_limit(const cairn_team *t, cairn_vec3 towards)
{
    uint64_t limit = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t next = limit | UINT64_C(1) << bit;
        if (count_near(t, towards, next) > CAIRN_PICTURE_MARKS)
            limit = next;
    }
    return limit;
}

/* What the members know together of the picture: whether all bodies that move are balls, and how
 * many are sent. */
typedef struct choice {
    bool good;
    int64_t count;
    double largest;    /* N                    */
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

static cairn_status choose(cairn_team *t, choice *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    cairn_window *w = &t->window;
    const cairn_vec3 towards = cairn_picture_towards(t->world);
    double largest = 0;
    int near = 0;
    cairn_status status = cairn_window_index(t);
    if (status == CAIRN_OK)
        status = sum_pushes(t, &largest);
    if (status != CAIRN_OK)
        return give_up(t->link, status);
    out->good = cairn_link_all(t->link, are_balls(t));
    out->largest = cairn_link_largest(t->link, largest);
    out->box = box_of_all(t);
    uint64_t limit = out->good ? find_limit(t, towards) : 0;
    for (int i = 0; i < w->count; i++)
        if (is_near(&b, w->row[i], towards, limit))
            w->row[near++] = w->row[i];
    w->count = near;
    out->count = cairn_link_sum(t->link, near);
    return t->link->status;
}

static cairn_status draw(cairn_team *t, cairn_run_output *o, const choice *c, cairn_error *error)
{
    cairn_run_roll roll = { 0 };
    cairn_run_frame frame;
    cairn_picture_rest rest = { .largest_force = c->largest, .box = c->box };
    cairn_status status = cairn_window_drawn(t, c->count, &roll, o, &frame, &rest.forces);
    if (status == CAIRN_OK)
        status = cairn_picture_write(&frame, &rest, o->scene, o->folder, &o->arena, error);
    cairn_run_roll_destroy(&roll);
    return status;
}

cairn_status cairn_team_picture(cairn_team *t, cairn_run_output *o, cairn_error *error)
{
    choice c = { .good = false };
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_CHOOSE });
    TRY(choose(t, &c));
    if (c.good)
        return draw(t, o, &c, error);
    TRY(cairn_team_look(t, o->scene));
    return cairn_run_output_picture(o, error);
}

/* ---- the other ranks ------------------------------------------------------------------------- */

cairn_status cairn_piece_answer(cairn_team *t, const cairn_order *o)
{
    const cairn_window *w = &t->window;
    farthest far;
    choice unread;
    cairn_vec3 sum;
    switch (o->what) {
    case CAIRN_ORDER_KEEP_PLACES:
        return keep_places(t);
    case CAIRN_ORDER_FARTHEST:
        return find_farthest(t, &far);
    case CAIRN_ORDER_CHOOSE:
        return choose(t, &unread);
    case CAIRN_ORDER_MASS:
    case CAIRN_ORDER_IMPULSE:
        return add_in_turn(t, o, &sum);
    case CAIRN_ORDER_JOINTS:
        return answer_joints(t);
    case CAIRN_ORDER_SEND_PLACES:
        cairn_link_send(t->link, 0, w->place, (size_t)own_uids(t) * sizeof *w->place);
        return t->link->status;
    default:
        return answer_piece(t, o);
    }
}
