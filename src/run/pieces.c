/* pieces.c - what a run measures of a world that no process has as a whole: how far bodies have
 * moved, and totals. Frames are in window.c, what is drawn in shown.c.
 *
 *   places    Positions at the start are kept by uid: member k has the k-th range of uids, whoever
 *             computes these bodies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
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

/* ---- the other ranks ------------------------------------------------------------------------- */

cairn_status cairn_piece_answer(cairn_team *t, const cairn_order *o)
{
    const cairn_window *w = &t->window;
    farthest far;
    cairn_vec3 sum;
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
    default:
        return cairn_shown_answer(t, o);
    }
}
