/* together.c - a run that several processes compute, see together.h. */
#include "run/together.h"

#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/parallel.h"
#include "base/status.h"
#include "mpi/mpi.h"

/* What rank 0 tells the others to do. */
typedef enum order { STEP, GATHER, ACT, END } order;

/* ---- parts ---------------------------------------------------------------------------------- */

/* Fewer bodies than SMALL are one part. Then there are LEAST parts, of at most FULL bodies each
 * as long as that is possible. The number does not depend on the processes, so that the result does
 * not. */
enum { SMALL = 512, LEAST = 8, FULL = 8192 };

static int64_t default_parts(const cairn_world *world)
{
    const cairn_bodies b = cairn_world_bodies(world);
    int64_t bodies = b.count - b.held + cairn_world_inlet_pending(world), parts = LEAST;
    while (parts < CAIRN_MOST_PARTS && parts * FULL < bodies)
        parts *= 2;
    return bodies < SMALL ? 1 : parts;
}

/* Processors of a machine are shared by its ranks, unless the launcher gave each rank its own. */
static int64_t count_threads(const cairn_link *ranks)
{
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    int own = cairn_parallel_cores(), here = cairn_mpi_ranks_here(ranks);
    int threads = own < all ? own : own / here;
    return threads > 1 ? threads : 1;
}

/* ---- beginning ------------------------------------------------------------------------------ */

/* Become one of `members` that have parts, with a copy of the scene. */
static cairn_status join(cairn_team *t, int members)
{
    if (t->copy->step.threads == 0)
        t->copy->step.threads = count_threads(t->ranks);
    t->link = *t->ranks;
    t->link.members = members;
    t->link.traffic = (cairn_traffic){ 0 };
    t->world = t->copy->world;
    return cairn_world_join(t->world, &t->link);
}

/* The number of members, then the scene. */
static cairn_status hand_out(cairn_team *t, const cairn_scene *scene, int members,
                             cairn_error *error)
{
    cairn_writer w = { 0 };
    cairn_write_whole(&w, members);
    cairn_status status = cairn_scene_pack(scene, &w);
    for (int k = 1; k < members && status == CAIRN_OK; k++) {
        cairn_link_send(t->ranks, k, w.data, w.size);
        status = t->ranks->status;
    }
    if (status == CAIRN_OK)
        status = cairn_scene_unpack(w.data + 8, w.size - 8, &t->copy, error);
    cairn_writer_destroy(&w);
    return status;
}

static cairn_status check(const cairn_team *t, const cairn_scene *scene, cairn_error *error)
{
    if (scene->run.save_problem.count > 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "run.save_problem",
                          "contact problems cannot be written by several ranks yet");
    return cairn_world_step_check(t->world, &t->copy->step, error);
}

cairn_status cairn_team_begin(cairn_team *t, cairn_scene *scene, cairn_error *error)
{
    *t = (cairn_team){ .ranks = scene->link, .world = scene->world };
    if (!t->ranks)
        return CAIRN_OK;
    if (scene->step.parts == 0)
        scene->step.parts = default_parts(scene->world);
    int ranks = t->ranks->members;
    int members = scene->step.parts < ranks ? (int)scene->step.parts : ranks;
    if (members < 2)
        return CAIRN_OK;
    TRY(hand_out(t, scene, members, error));
    TRY(join(t, members));
    return check(t, scene, error);
}

/* ---- steps ---------------------------------------------------------------------------------- */

static void tell(cairn_team *t, order what)
{
    for (int k = 1; t->copy && k < t->link.members; k++)
        cairn_link_send(&t->link, k, &what, sizeof what);
}

static void add_traffic(cairn_traffic *sum, const cairn_traffic *now, const cairn_traffic *before)
{
    sum->messages += now->messages - before->messages;
    sum->bytes += now->bytes - before->bytes;
    sum->sending += now->sending - before->sending;
    sum->waiting += now->waiting - before->waiting;
}

/* Whether the run, or an event, waits for bodies to be slow. */
static bool waits_for_rest(const cairn_scene *scene)
{
    bool waits = scene->run.rest_speed > 0;
    for (int k = 0; k < scene->event_count; k++)
        waits = waits || scene->events[k].kind == CAIRN_EVENT_SETTLED;
    return waits;
}

/* What every member does in a step. */
static cairn_status step(cairn_team *t, const cairn_scene *scene, cairn_step_report *report)
{
    double start = cairn_clock_seconds();
    cairn_traffic before = t->link.traffic;
    TRY(cairn_world_step(t->world, &scene->step, report));
    if (waits_for_rest(scene))
        t->speed2 = cairn_world_speed2(t->world);
    t->spent.steps += cairn_clock_seconds() - start;
    add_traffic(&t->spent.traffic, &t->link.traffic, &before);
    return CAIRN_OK;
}

cairn_status cairn_team_step(cairn_team *t, const cairn_scene *scene, cairn_step_report *report)
{
    tell(t, STEP);
    TRY(step(t, t->copy ? t->copy : scene, report));
    t->stale = t->copy != NULL;
    if (t->copy) /* what is written of every step */
        cairn_world_copy_varied(t->world, scene->world);
    t->entered += t->copy ? report->entered : 0;
    return CAIRN_OK;
}

cairn_status cairn_team_look(cairn_team *t, const cairn_scene *scene)
{
    if (!t->stale)
        return CAIRN_OK;
    tell(t, GATHER);
    TRY(cairn_world_gather(t->world, scene->world));
    t->stale = false;
    t->entered = 0;
    return CAIRN_OK;
}

bool cairn_team_is_slow(const cairn_team *t, double speed)
{
    return t->speed2 <= speed * speed && cairn_world_inlet_pending(t->world) == 0;
}

/* ---- actions -------------------------------------------------------------------------------- */

static cairn_status act(cairn_world *world, const cairn_deed *deed)
{
    cairn_body_id target = { deed->target };
    if (deed->action == CAIRN_ACTION_OPEN)
        return cairn_body_destroy(world, target);
    return deed->action == CAIRN_ACTION_START_DRIVER ? cairn_body_start(world, target)
                                                     : cairn_body_stop(world, target);
}

/* scene->world must be current, and stays so. */
cairn_status cairn_team_act(cairn_team *t, const cairn_scene *scene, const cairn_deed *deed)
{
    tell(t, ACT);
    for (int k = 1; t->copy && k < t->link.members; k++)
        cairn_link_send(&t->link, k, deed, sizeof *deed);
    if (t->copy)
        TRY(act(t->world, deed));
    return act(scene->world, deed);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void add_spent(cairn_run_ranks *r, const cairn_team_spent *s)
{
    double busy = s->steps - s->traffic.sending - s->traffic.waiting;
    r->messages += s->traffic.messages;
    r->bytes += s->traffic.bytes;
    r->compute += busy;
    r->sending += s->traffic.sending;
    r->waiting += s->traffic.waiting;
    r->most_compute = busy > r->most_compute ? busy : r->most_compute;
    r->most_waiting = s->traffic.waiting > r->most_waiting ? s->traffic.waiting : r->most_waiting;
}

/* A member that is gone adds nothing. */
cairn_run_ranks cairn_team_dismiss(cairn_team *t, const cairn_scene *scene)
{
    cairn_run_ranks r = { 0 };
    if (!t->ranks)
        return r;
    r.ranks = t->ranks->members;
    r.members = t->copy ? t->link.members : 1;
    r.parts = scene->step.parts;
    add_spent(&r, &t->spent);
    tell(t, END);
    for (int k = 1; k < r.members; k++) {
        cairn_team_spent other;
        cairn_link_receive_into(&t->link, k, &other, sizeof other);
        add_spent(&r, &other);
    }
    r.compute /= (double)r.members;
    r.sending /= (double)r.members;
    r.waiting /= (double)r.members;
    return r;
}

void cairn_team_destroy(cairn_team *t)
{
    cairn_scene_destroy(t->copy);
    *t = (cairn_team){ 0 };
}

/* ---- the other ranks ------------------------------------------------------------------------ */

/* Read the scene and join. */
static cairn_status take_part(cairn_team *t, const void *data, size_t bytes, cairn_error *error)
{
    cairn_reader head = { .data = data, .size = bytes };
    int64_t members = cairn_read_within(&head, 2, t->ranks->members);
    if (head.failed)
        return CAIRN_BAD_INPUT;
    TRY(cairn_scene_unpack(head.data + head.at, bytes - head.at, &t->copy, error));
    return join(t, (int)members);
}

/* The next order; rank 0 may also have left. */
static order next_order(cairn_team *t)
{
    order what = END;
    size_t count;
    const void *message = cairn_link_receive(&t->link, 0, &count);
    if (message && count == sizeof what)
        memcpy(&what, message, sizeof what);
    return what;
}

static cairn_status obey_action(cairn_team *t)
{
    cairn_deed deed = { 0 };
    cairn_link_receive_into(&t->link, 0, &deed, sizeof deed);
    return t->link.status == CAIRN_OK ? act(t->world, &deed) : t->link.status;
}

static cairn_status obey(cairn_team *t)
{
    for (;;) {
        order what = next_order(t);
        if (what == STEP)
            TRY(step(t, t->copy, NULL));
        else if (what == GATHER)
            TRY(cairn_world_gather(t->world, NULL));
        else if (what == ACT)
            TRY(obey_action(t));
        else
            break;
    }
    cairn_link_send(&t->link, 0, &t->spent, sizeof t->spent);
    return CAIRN_OK;
}

/* What went wrong here is reported; what went wrong elsewhere, CAIRN_IO_FAILED of the link, is for
 * the rank where it did. */
cairn_status cairn_ranks_serve(cairn_link *link, cairn_error *error)
{
    cairn_team t = { .ranks = link };
    size_t bytes;
    const void *data = cairn_link_receive(link, 0, &bytes);
    if (!data)
        return CAIRN_OK;
    cairn_error unused = { 0 };
    error = error ? error : &unused;
    cairn_status status = take_part(&t, data, bytes, error);
    if (status == CAIRN_OK)
        status = obey(&t);
    if (status == t.link.status && status == CAIRN_IO_FAILED)
        status = CAIRN_OK;
    if (status != CAIRN_OK && !error->message[0]) {
        const cairn_error *why = t.world ? cairn_world_error(t.world) : NULL;
        cairn_fail(error, status, why ? why->key : NULL, "%s",
                   why && why->message[0] ? why->message : cairn_status_text(status));
    }
    cairn_team_destroy(&t);
    return status;
}
