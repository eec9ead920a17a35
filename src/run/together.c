/* together.c - a run that several processes compute, see together.h. */
#include "run/together.h"

#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "cairn/joint.h"
#include "mpi/mpi.h"
#include "scene/stages.h"

/* How a world comes to the other ranks: the first word of their first message. */
typedef enum delivery { WHOLE, IN_SHARES, SAVED } delivery;

/* ---- parts ---------------------------------------------------------------------------------- */

/* Fewer bodies than SMALL are one part. Then there are LEAST parts, of at most FULL bodies each
 * as long as that is possible. The number does not depend on the processes, so that the result does
 * not. */
enum { SMALL = 512, LEAST = 8, FULL = 8192 };

static int64_t count_dynamic(const cairn_world *world)
{
    return cairn_world_body_count(world) - cairn_world_bodies(world).held;
}

static int64_t default_parts(const cairn_world *world)
{
    int64_t bodies = count_dynamic(world) + cairn_world_inlet_pending(world), parts = LEAST;
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

/* The ranks that have parts. */
static cairn_link link_of(const cairn_link *ranks, int members)
{
    cairn_link link = *ranks;
    link.members = members;
    link.traffic = (cairn_traffic){ 0 };
    return link;
}

static void choose_threads(cairn_team *t)
{
    if (t->copy->step.threads == 0)
        t->copy->step.threads = count_threads(t->ranks);
    t->world = t->copy->world;
}

/* Become one of `members` that have parts, with a copy of the scene. */
static cairn_status join(cairn_team *t, int members)
{
    t->own = link_of(t->ranks, members);
    t->link = &t->own;
    choose_threads(t);
    return cairn_world_join(t->world, t->link);
}

static void send_to_others(cairn_link *ranks, int members, const cairn_writer *w)
{
    for (int k = 1; k < members; k++)
        cairn_link_send(ranks, k, w->data, w->size);
}

/* What only the process of the caller can call. */
static cairn_status refuse_callback(cairn_error *error)
{
    return cairn_fail(error, CAIRN_UNSUPPORTED, "drivers",
                      "a callback moves a body, loads it or drives a cell, and exists in this "
                      "process alone: several ranks need a table, a formula, a ramp or a harmonic");
}

/* The number of members, then the scene. */
static cairn_status hand_out(cairn_team *t, const cairn_scene *scene, int members,
                             cairn_error *error)
{
    cairn_writer w = { 0 };
    cairn_write_whole(&w, WHOLE);
    cairn_write_whole(&w, members);
    size_t head = w.size;
    cairn_status status = cairn_scene_pack(scene, &w);
    if (status == CAIRN_UNSUPPORTED)
        refuse_callback(error);
    if (status == CAIRN_OK) {
        send_to_others(t->ranks, members, &w);
        status = t->ranks->status;
    }
    if (status == CAIRN_OK)
        status = cairn_scene_unpack(w.data + head, w.size - head, &t->copy, error);
    cairn_writer_destroy(&w);
    return status;
}

/* A function of the state is called within a step, after bodies have left, were put back and
 * sorted; no rank has all of them then. */
static cairn_status refuse_force(const cairn_scene *scene, cairn_error *error)
{
    if (!cairn_world_has_force(scene->world))
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_UNSUPPORTED, "loads",
                      "a force function (cairn_world_on_force) is called within a step, in which "
                      "each rank has only a part of the bodies: call cairn_body_push before each "
                      "step (cairn_run_step) instead");
}

/* Only the steps of a caller are preceded by messages about materials and functions. */
static cairn_status check_laws(const cairn_team *t, const cairn_scene *scene, cairn_error *error)
{
    if (t->whole || cairn_world_alike(scene->world, t->world))
        return CAIRN_OK;
    return cairn_fail(error, CAIRN_UNSUPPORTED, "world",
                      "a function of time is a callback, or materials or functions were changed "
                      "after the ranks had read the scene: only runs that their caller steps "
                      "(cairn_run_begin) send them to all ranks");
}

static cairn_status check(const cairn_team *t, const cairn_scene *scene, cairn_error *error)
{
    TRY(refuse_force(scene, error));
    TRY(check_laws(t, scene, error));
    if (scene->run.save_problem.count > 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "run.save_problem",
                          "contact problems cannot be written by several ranks yet");
    return cairn_world_step_check(t->world, &t->copy->step, error);
}

static int count_members(const cairn_link *ranks, int64_t parts)
{
    return parts < ranks->members ? (int)parts : ranks->members;
}

bool cairn_team_can_spread(const cairn_team *t, const cairn_scene *scene)
{
    int64_t parts = scene->step.parts > 0 ? scene->step.parts : default_parts(scene->world);
    return count_members(t->ranks, parts) > 1 && !t->whole;
}

/* Rank 0: one share after the other, each when the one before has arrived, so that only one of them
 * is in memory. */
static cairn_status hand_out_saved(cairn_team *t, const cairn_scene *scene, cairn_error *error)
{
    cairn_status status = CAIRN_OK;
    for (int k = t->link->members - 1; k >= 0 && status == CAIRN_OK; k--) {
        cairn_writer w = { 0 };
        size_t unused, head = 0;
        if (k > 0) {
            cairn_write_whole(&w, SAVED);
            cairn_write_whole(&w, t->link->members);
            head = w.size;
        }
        status = cairn_share_pack(t, scene, k, &w);
        if (status == CAIRN_OK && k > 0) {
            cairn_link_send(t->link, k, w.data, w.size);
            cairn_link_receive(t->link, k, &unused);
            status = t->link->status;
        } else if (status == CAIRN_OK)
            status = cairn_share_unpack(t, w.data + head, w.size - head, error);
        cairn_writer_destroy(&w);
    }
    return status;
}

static cairn_status begin_saved(cairn_team *t, cairn_scene *scene, cairn_error *error)
{
    if (scene->step.parts == 0)
        scene->step.parts = default_parts(scene->world);
    scene->shared->link = link_of(t->ranks, count_members(t->ranks, scene->step.parts));
    t->link = &scene->shared->link;
    TRY(hand_out_saved(t, scene, error));
    cairn_file_unmap(&scene->shared->saved.file);
    t->stale = t->spread = true;
    choose_threads(t);
    return check(t, scene, error);
}

cairn_status cairn_team_begin(cairn_team *t, cairn_scene *scene, cairn_error *error)
{
    *t = (cairn_team){
        .ranks = scene->link, .link = &t->own, .world = scene->world, .whole = t->whole
    };
    if (!t->ranks)
        return CAIRN_OK;
    if (scene->shared && scene->shared->saved.file.data)
        return begin_saved(t, scene, error);
    if (scene->shared) {
        t->copy = scene->shared->scene; /* from now on the team's, the link still the scene's */
        scene->shared->scene = NULL;
        t->link = &scene->shared->link;
        t->stale = true;
        t->spread = !t->whole;
        choose_threads(t);
        return check(t, scene, error);
    }
    if (scene->step.parts == 0)
        scene->step.parts = default_parts(scene->world);
    int members = count_members(t->ranks, scene->step.parts);
    if (members < 2)
        return CAIRN_OK;
    TRY(hand_out(t, scene, members, error));
    TRY(join(t, members));
    return check(t, scene, error);
}

/* ---- steps ---------------------------------------------------------------------------------- */

void cairn_team_tell(cairn_team *t, const cairn_order *order)
{
    for (int k = 1; t->copy && k < t->link->members; k++)
        cairn_link_send(t->link, k, order, sizeof *order);
}

static void tell(cairn_team *t, cairn_order_kind what)
{
    cairn_team_tell(t, &(cairn_order){ .what = what });
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

/* What every member does in a step, or in a substep of a divided one. */
static cairn_status step(cairn_team *t, const cairn_scene *scene, cairn_step_report *report)
{
    double start = cairn_clock_seconds();
    cairn_traffic before = t->link->traffic;
    TRY(cairn_world_substep(t->world, &scene->step, report));
    if (waits_for_rest(scene))
        t->speed2 = cairn_world_speed2(t->world);
    t->spent.steps += cairn_clock_seconds() - start;
    add_traffic(&t->spent.traffic, &t->link->traffic, &before);
    return CAIRN_OK;
}

cairn_status cairn_team_step(cairn_team *t, const cairn_scene *scene, cairn_step_report *report)
{
    tell(t, CAIRN_ORDER_STEP);
    TRY(step(t, t->copy ? t->copy : scene, report));
    t->stale = t->copy != NULL;
    if (t->copy) /* what is written of every step */
        cairn_world_copy_varied(t->world, scene->world);
    return CAIRN_OK;
}

cairn_status cairn_team_look(cairn_team *t, const cairn_scene *scene)
{
    if (!t->stale)
        return CAIRN_OK;
    tell(t, CAIRN_ORDER_GATHER);
    TRY(cairn_world_gather(t->world, scene->world));
    t->stale = false;
    return CAIRN_OK;
}

bool cairn_team_is_slow(const cairn_team *t, double speed)
{
    return t->speed2 <= speed * speed && cairn_world_inlet_pending(t->world) == 0;
}

/* ---- actions -------------------------------------------------------------------------------- */

/* A body that is gone already needs no action. Where one was removed, rows have to be put in order
 * before something is written. */
static cairn_status act(cairn_world *world, const cairn_step_options *options,
                        const cairn_deed *deed)
{
    cairn_body_id target = { deed->target };
    bool opens = deed->action == CAIRN_ACTION_OPEN;
    cairn_status status = opens ? cairn_body_destroy(world, target)
                          : deed->action == CAIRN_ACTION_START_DRIVER
                              ? cairn_body_start(world, target)
                              : cairn_body_stop(world, target);
    if (status == CAIRN_NOT_FOUND)
        return CAIRN_OK;
    return status == CAIRN_OK && opens ? cairn_world_tidy(world, options) : status;
}

cairn_status cairn_team_act(cairn_team *t, const cairn_scene *scene, const cairn_deed *deed)
{
    if (!t->spread)
        TRY(cairn_team_look(t, scene));
    tell(t, CAIRN_ORDER_ACT);
    for (int k = 1; t->copy && k < t->link->members; k++)
        cairn_link_send(t->link, k, deed, sizeof *deed);
    if (t->copy)
        TRY(act(t->world, &scene->step, deed));
    return t->spread ? CAIRN_OK : act(scene->world, &scene->step, deed);
}

static cairn_status apply_to_all(const void *data, size_t bytes, void *context)
{
    cairn_team *t = context;
    tell(t, CAIRN_ORDER_APPLY);
    for (int k = 1; k < t->link->members; k++)
        cairn_link_send(t->link, k, data, bytes);
    return cairn_world_apply(t->world, data, bytes);
}

cairn_status cairn_team_apply(cairn_team *t, const cairn_scene *scene, cairn_error *error)
{
    if (!t->copy)
        return CAIRN_OK;
    TRY(refuse_force(scene, error));
    cairn_status status =
        cairn_world_applied(scene->world, t->world, t->copy->step.time_step, apply_to_all, t);
    return status == CAIRN_UNSUPPORTED ? refuse_callback(error) : status;
}

/* ---- packing -------------------------------------------------------------------------------- */

/* Share of the spheres left out at the bottom and at the top, and points. */
static const double PACKING_TRIM = 0.15;
enum { PACKING_SAMPLES = 200000 };

cairn_status cairn_team_packing(cairn_team *t, const cairn_scene *scene, cairn_packing *out)
{
    if (!t->spread)
        return cairn_world_packing(scene->world, PACKING_TRIM, PACKING_SAMPLES, out);
    tell(t, CAIRN_ORDER_PACKING);
    return cairn_world_packing(t->world, PACKING_TRIM, PACKING_SAMPLES, out);
}

/* What cannot be measured, rank 0 will say. */
static cairn_status obey_packing(cairn_team *t)
{
    cairn_packing unread;
    cairn_status status = cairn_world_packing(t->world, PACKING_TRIM, PACKING_SAMPLES, &unread);
    return status == CAIRN_UNSUPPORTED ? t->link->status : status;
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
    r.members = t->copy ? t->link->members : 1;
    r.parts = scene->step.parts;
    add_spent(&r, &t->spent);
    tell(t, CAIRN_ORDER_END);
    for (int k = 1; k < r.members; k++) {
        cairn_team_spent other;
        cairn_link_receive_into(t->link, k, &other, sizeof other);
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
    cairn_window_destroy(&t->window);
    *t = (cairn_team){ 0 };
}

/* ---- worlds in shares ------------------------------------------------------------------------ */

/* What each rank needs to make its share of a scene. */
typedef struct plan {
    cairn_scene_request asked;
    int members;
    int64_t parts, bodies;
} plan;

static void write_plan(cairn_writer *w, const plan *p)
{
    cairn_write_whole(w, IN_SHARES);
    cairn_write_whole(w, p->members);
    cairn_write_whole(w, p->parts);
    cairn_write_whole(w, p->bodies);
    cairn_write_text(w, p->asked.path);
    cairn_write_text(w, p->asked.text);
    cairn_scene_write_names(w, p->asked.overrides, p->asked.override_count);
}

static bool read_plan(cairn_reader *r, plan *p)
{
    p->parts = cairn_read_within(r, 2, INT64_MAX);
    p->bodies = cairn_read_within(r, 0, INT32_MAX);
    p->asked.path = cairn_read_text(r);
    p->asked.text = cairn_read_text(r);
    p->asked.overrides = cairn_scene_read_names(r, &p->asked.override_count);
    p->asked.length = p->asked.text ? strlen(p->asked.text) : 0;
    return !r->failed && p->asked.path && p->asked.text;
}

/* All members together. */
static cairn_status make_share(const plan *p, cairn_link *link, cairn_scene_share *share,
                               cairn_scene **out, cairn_error *error)
{
    *share = (cairn_scene_share){ .link = link, .bodies = p->bodies };
    TRY(cairn_scene_load_share(&p->asked, share, out, error));
    (*out)->step.parts = p->parts;
    return CAIRN_OK;
}

/* Rank 0: tell the others, and make its own share. */
static cairn_status lead_shares(cairn_link *ranks, const plan *p, cairn_scene_share *share,
                                cairn_scene *scene, cairn_error *error)
{
    cairn_writer w = { 0 };
    cairn_scene_shared *own = cairn_memory_zeroed(1, sizeof *own);
    write_plan(&w, p);
    scene->shared = own;
    cairn_status status = own && !w.failed ? CAIRN_OK : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK) {
        send_to_others(ranks, p->members, &w);
        own->link = link_of(ranks, p->members);
        status = make_share(p, &own->link, share, &own->scene, error);
    }
    cairn_writer_destroy(&w);
    TRY(status);
    own->kinetic = share->kinetic;
    own->potential = share->potential;
    scene->overlap = own->scene->overlap;
    return CAIRN_OK;
}

/* Files that another rank does not see are no reason to fail: rank 0 then makes the whole world, as
 * for scenes that cannot be made in shares. */
static bool is_for_rank_0(cairn_status status)
{
    return status == CAIRN_UNSUPPORTED || status == CAIRN_NOT_FOUND || status == CAIRN_IO_FAILED;
}

/* The scene without the bodies of generators; *shared: the ranks have these. */
static cairn_status load_shares(cairn_link *ranks, const cairn_scene_request *asked,
                                cairn_scene **out, bool *shared, cairn_error *error)
{
    cairn_scene_share none = { 0 }, share = { 0 };
    cairn_status status = cairn_scene_load_share(asked, &none, out, error);
    *shared = false;
    if (status == CAIRN_UNSUPPORTED)
        return CAIRN_OK;
    TRY(status);
    cairn_scene *scene = *out;
    if (scene->step.parts == 0)
        scene->step.parts = default_parts(scene->world);
    const plan p = { *asked, count_members(ranks, scene->step.parts), scene->step.parts,
                     count_dynamic(scene->world) };
    if (p.members < 2)
        return CAIRN_OK;
    status = lead_shares(ranks, &p, &share, scene, error);
    *shared = status == CAIRN_OK;
    return status != CAIRN_OK && is_for_rank_0(share.elsewhere) && ranks->status == CAIRN_OK
               ? CAIRN_OK
               : status;
}

static cairn_status load_text(cairn_link *ranks, const cairn_scene_request *asked,
                              cairn_scene **out, cairn_error *error)
{
    bool shared = false;
    if (ranks && ranks->members > 1)
        TRY(load_shares(ranks, asked, out, &shared, error));
    if (shared)
        return CAIRN_OK;
    cairn_scene_destroy(*out);
    return cairn_scene_load_share(asked, NULL, out, error);
}

cairn_status cairn_ranks_load(cairn_link *link, const char *path, const char *const *overrides,
                              int override_count, cairn_scene **out, cairn_error *error)
{
    cairn_scene_text text = { 0 };
    cairn_error unused = { 0 };
    cairn_scene_build b = { .error = error ? error : &unused };
    *out = NULL;
    cairn_status status = cairn_scene_text_read(&b, path, &text);
    if (status == CAIRN_OK) {
        const cairn_scene_request asked = { path, overrides, override_count, text.text,
                                            text.length };
        status = load_text(link, &asked, out, b.error);
    }
    cairn_memory_free(text.text);
    if (status == CAIRN_OK)
        (*out)->link = link;
    else
        cairn_scene_destroy(*out);
    *out = status == CAIRN_OK ? *out : NULL;
    return status;
}

/* ---- the other ranks ------------------------------------------------------------------------ */

/* Read the scene and make a share of its world. What fails here fails in rank 0 too, or is done in
 * another way there. */
static cairn_status take_share(cairn_team *t, cairn_reader *r, int members, cairn_error *error)
{
    cairn_arena arena = { 0 };
    cairn_scene_share share;
    plan p = { .members = members };
    r->arena = &arena;
    t->own = link_of(t->ranks, members);
    t->link = &t->own;
    cairn_status status = read_plan(r, &p) ? CAIRN_OK : CAIRN_BAD_INPUT;
    if (status == CAIRN_OK)
        status = make_share(&p, t->link, &share, &t->copy, error);
    cairn_arena_destroy(&arena);
    if (status == CAIRN_OK)
        choose_threads(t);
    return status;
}

/* A share of a saved world. Rank 0 cuts the next one as soon as this one has arrived; the message
 * stays until the next one is received. */
static cairn_status take_saved(cairn_team *t, cairn_reader *r, int members, cairn_error *error)
{
    cairn_writer own = { 0 };
    t->own = link_of(t->ranks, members);
    t->link = &t->own;
    cairn_write_raw(&own, r->data + r->at, r->size - r->at);
    cairn_link_send(t->link, 0, NULL, 0);
    cairn_status status =
        own.failed ? CAIRN_NO_MEMORY : cairn_share_unpack(t, own.data, own.size, error);
    cairn_writer_destroy(&own);
    if (status == CAIRN_OK)
        choose_threads(t);
    return status;
}

/* Take part in what the first message says; *more: another one follows. */
static cairn_status take_part(cairn_team *t, const void *data, size_t bytes, bool *more,
                              cairn_error *error)
{
    cairn_reader head = { .data = data, .size = bytes };
    int64_t how = cairn_read_within(&head, WHOLE, SAVED);
    int64_t members = cairn_read_within(&head, 2, t->ranks->members);
    *more = false;
    if (head.failed)
        return CAIRN_BAD_INPUT;
    if (how == IN_SHARES) {
        cairn_status status = take_share(t, &head, (int)members, error);
        *more = status != CAIRN_OK && status != CAIRN_NO_MEMORY;
        return *more ? CAIRN_OK : status;
    }
    if (how == SAVED)
        return take_saved(t, &head, (int)members, error);
    TRY(cairn_scene_unpack(head.data + head.at, bytes - head.at, &t->copy, error));
    return join(t, (int)members);
}

/* The next order; rank 0 may also have left. */
static cairn_order next_order(cairn_team *t)
{
    cairn_order next = { .what = CAIRN_ORDER_END };
    size_t count;
    const void *message = cairn_link_receive(t->link, 0, &count);
    if (message && count == sizeof next)
        memcpy(&next, message, sizeof next);
    return next;
}

static cairn_status obey_action(cairn_team *t)
{
    cairn_deed deed = { 0 };
    cairn_link_receive_into(t->link, 0, &deed, sizeof deed);
    return t->link->status == CAIRN_OK ? act(t->world, &t->copy->step, &deed) : t->link->status;
}

static cairn_status obey_application(cairn_team *t)
{
    size_t bytes;
    const void *data = cairn_link_receive(t->link, 0, &bytes);
    return data ? cairn_world_apply(t->world, data, bytes) : t->link->status;
}

static cairn_status obey(cairn_team *t)
{
    for (;;) {
        cairn_order next = next_order(t);
        if (next.what == CAIRN_ORDER_END)
            break;
        if (next.what == CAIRN_ORDER_STEP)
            TRY(step(t, t->copy, NULL));
        else if (next.what == CAIRN_ORDER_GATHER)
            TRY(cairn_world_gather(t->world, NULL));
        else if (next.what == CAIRN_ORDER_APPLY)
            TRY(obey_application(t));
        else if (next.what == CAIRN_ORDER_ACT)
            TRY(obey_action(t));
        else if (next.what == CAIRN_ORDER_PACKING)
            TRY(obey_packing(t));
        else
            TRY(cairn_window_answer(t, &next));
    }
    cairn_link_send(t->link, 0, &t->spent, sizeof t->spent);
    return CAIRN_OK;
}

/* What went wrong here is reported; what went wrong elsewhere, CAIRN_IO_FAILED of the link, is for
 * the rank where it did. */
cairn_status cairn_ranks_serve(cairn_link *link, cairn_error *error)
{
    cairn_team t = { .ranks = link };
    cairn_error unused = { 0 };
    cairn_status status = CAIRN_OK;
    error = error ? error : &unused;
    for (bool more = true; more && status == CAIRN_OK;) {
        size_t bytes;
        const void *data = cairn_link_receive(link, 0, &bytes);
        if (!data)
            return CAIRN_OK;
        *error = (cairn_error){ 0 };
        status = take_part(&t, data, bytes, &more, error);
    }
    if (status == CAIRN_OK)
        status = obey(&t);
    if (t.link && status == t.link->status && status == CAIRN_IO_FAILED)
        status = CAIRN_OK;
    if (status != CAIRN_OK && !error->message[0]) {
        const cairn_error *why = t.world ? cairn_world_error(t.world) : NULL;
        cairn_fail(error, status, why ? why->key : NULL, "%s",
                   why && why->message[0] ? why->message : cairn_status_text(status));
    }
    cairn_team_destroy(&t);
    return status;
}
