/* contacts.c - the candidate contacts of a step.
 *
 * Every body gets a reach: how far it may move in this step, from its free velocity with something
 * to spare. Candidates are all pairs whose gap the reaches can close. After the solve the true
 * motion is compared with the reach: a body that went further makes the step be done again with
 * larger reaches. So no contact that could have mattered is ever left out. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "world/scheme.h"
#include "world/touch.h"

enum { GRAIN = 2048 }; /* bodies or contacts in one piece of parallel work */

/* ---- storage -------------------------------------------------------------------------------- */

cairn_status cairn_contacts_reserve(cairn_contact_store *c, size_t count, int dimension)
{
    size_t turns = dimension == 2 ? 1 : 3;
    struct {
        void **block;
        size_t size;
    } columns[] = {
        { (void **)&c->body, 2 * sizeof *c->body },
        { (void **)&c->key, sizeof *c->key },
        { (void **)&c->feature, sizeof *c->feature },
        { (void **)&c->point, sizeof *c->point },
        { (void **)&c->normal, sizeof *c->normal },
        { (void **)&c->tangent, sizeof *c->tangent },
        { (void **)&c->arm_a, sizeof *c->arm_a },
        { (void **)&c->arm_b, sizeof *c->arm_b },
        { (void **)&c->gap, sizeof *c->gap },
        { (void **)&c->mu, sizeof *c->mu },
        { (void **)&c->restitution, sizeof *c->restitution },
        { (void **)&c->poisson, sizeof *c->poisson },
        { (void **)&c->impulse, (size_t)dimension * sizeof *c->impulse },
        { (void **)&c->velocity, (size_t)dimension * sizeof *c->velocity },
        { (void **)&c->mu_2, sizeof *c->mu_2 },
        { (void **)&c->mu_rolling, sizeof *c->mu_rolling },
        { (void **)&c->mu_spinning, sizeof *c->mu_spinning },
        { (void **)&c->adhesion, sizeof *c->adhesion },
        { (void **)&c->moment, turns * sizeof *c->moment },
        { (void **)&c->turning, turns * sizeof *c->turning },
    };
    size_t capacity = c->capacity, each = 0;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        each += columns[i].size;
        capacity = c->capacity;
        TRY(cairn_memory_extend(columns[i].block, &capacity, count, columns[i].size));
    }
    c->capacity = capacity;
    c->bytes = capacity * each;
    return CAIRN_OK;
}

void cairn_contacts_release(cairn_contact_store *c)
{
    void *blocks[] = { c->body,        c->key,        c->point,       c->normal,   c->tangent,
                       c->arm_a,       c->arm_b,      c->gap,         c->mu,       c->impulse,
                       c->restitution, c->velocity,   c->poisson,     c->feature,  c->mu_2,
                       c->turning,     c->mu_rolling, c->mu_spinning, c->adhesion, c->moment };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        cairn_memory_free(blocks[i]);
    *c = (cairn_contact_store){ 0 };
}

cairn_contacts cairn_world_contacts(const cairn_world *world)
{
    const cairn_contact_store *c = &world->contacts;
    return (cairn_contacts){ .count = c->count,
                             .dimension = world->dimension,
                             .body = c->body,
                             .point = c->point,
                             .normal = c->normal,
                             .tangent = c->tangent,
                             .gap = c->gap,
                             .impulse = c->impulse,
                             .velocity = c->velocity,
                             .mu = c->mu,
                             .restitution = c->restitution,
                             .feature = c->feature,
                             .mu_2 = c->mu_2,
                             .adhesion = c->adhesion,
                             .mu_rolling = c->mu_rolling,
                             .mu_spinning = c->mu_spinning,
                             .moments = c->moments,
                             .moment = c->moment,
                             .turning = c->turning };
}

/* ---- reach ---------------------------------------------------------------------------------- */

/* First guess: a quarter more than the free motion, two steps' gravity, 2 % of the size; and the
 * margin that the user asked for. Turning moves the surface by at most arm |omega| h. */
static double first_reach(const cairn_stage *stage, int i)
{
    double h = stage->h, extent = cairn_shape_extent(&stage->world->bodies.shape[i]);
    double speed = cairn_norm(stage->v_free[i]);
    double turning = cairn_body_arm(stage->world, i) * cairn_norm(stage->omega_free[i]);
    double reach = 1.25 * h * (speed + turning) + 2 * h * h * cairn_norm(stage->world->gravity);
    return fmax(reach + 0.02 * extent, stage->options->margin);
}

/* The angle by which a driven body turns in this step. */
static double driven_turn(const cairn_stage *stage, int i)
{
    cairn_quat back = cairn_quat_conjugate(stage->q_eval[i]);
    return cairn_norm(cairn_quat_log(cairn_quat_multiply(stage->q_next[i], back)));
}

/* A driven body: as far as it goes; one without bounds says by `turn` how far it turns. */
static double driven_reach(const cairn_stage *stage, int i)
{
    double moved = cairn_norm(cairn_sub(stage->x_next[i], stage->x_eval[i]));
    double arm = cairn_body_arm(stage->world, i);
    return isfinite(arm) ? moved + arm * driven_turn(stage, i) : moved;
}

/* What a body is about to be hit by sets it in motion: it may go as far as its neighbours of the
 * last step. */
static void share_reach(cairn_stage *stage, const double *way)
{
    const cairn_contact_store *last = stage->warm;
    for (int j = 0; j < 2 * last->count; j++) {
        int i = last->body[j], other = last->body[j ^ 1];
        if (stage->block[i] >= 0 && 1.1 * way[other] > stage->reach[i])
            stage->reach[i] = 1.1 * way[other];
    }
}

typedef struct reach_job {
    const cairn_stage *stage;
    double *way; /* m: of each body that is there, without contact                     */
} reach_job;

static void reach_range(int begin, int end, void *context)
{
    const reach_job *job = context;
    const cairn_stage *stage = job->stage;
    const cairn_body_store *b = &stage->world->bodies;
    for (int i = begin; i < end; i++) {
        job->way[i] = 0;
        if (!b->alive[i])
            continue;
        job->way[i] = stage->h * cairn_norm(stage->v_free[i]);
        if (b->motion[i] == CAIRN_MOTION_DYNAMIC)
            stage->reach[i] = first_reach(stage, i);
        else if (b->motion[i] == CAIRN_MOTION_DRIVEN)
            stage->reach[i] = driven_reach(stage, i);
    }
}

static cairn_status take_reach(cairn_stage *stage)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_arena *scratch = &stage->world->scratch;
    stage->reach = cairn_arena_doubles(scratch, (size_t)b->count);
    if (!stage->reach)
        return CAIRN_NO_MEMORY;
    if (stage->scheme->velocity_level)
        return CAIRN_OK; /* only what overlaps is a contact */
    reach_job job = { stage, cairn_arena_take(scratch, (size_t)b->count, sizeof(double)) };
    if (!job.way)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for(b->count, GRAIN, reach_range, &job);
    share_reach(stage, job.way);
    return CAIRN_OK;
}

/* How far the points of a dynamic body are, with the velocities of the solve, from where the
 * candidates were found, which need not be x. */
static double moved_by(const cairn_stage *stage, int i)
{
    const cairn_body_store *b = &stage->world->bodies;
    cairn_vec3 v, omega, before = cairn_sub(b->x[i], stage->x_eval[i]);
    double arm = cairn_body_arm(stage->world, i);
    cairn_stage_new_velocity(stage, i, &v, &omega);
    v = cairn_add(v, cairn_stage_shift(stage, i));
    double moved = cairn_norm(cairn_add_scaled(before, stage->h, v));
    if (arm == 0)
        return moved;
    omega = cairn_add(omega, cairn_stage_shift_turn(stage, i));
    cairn_quat turn = cairn_quat_multiply(cairn_quat_conjugate(stage->q_eval[i]), b->q[i]);
    turn = cairn_quat_multiply(turn, cairn_quat_exp(cairn_scale(stage->h, omega)));
    /* the logarithm sees no full turns */
    double angle = fmax(cairn_norm(cairn_quat_log(turn)),
                        stage->h * cairn_norm(omega) > M_PI ? stage->h * cairn_norm(omega) : 0);
    return moved + arm * angle;
}

typedef struct outran_job {
    const cairn_stage *stage;
    bool *any; /* of each range */
} outran_job;

static void outran_range(int begin, int end, void *context)
{
    const outran_job *job = context;
    const cairn_stage *stage = job->stage;
    bool any = false;
    for (int i = begin; i < end; i++) {
        double moved = stage->block[i] < 0 ? 0 : moved_by(stage, i);
        if (moved > stage->reach[i]) {
            stage->reach[i] = 1.5 * moved;
            any = true;
        }
    }
    job->any[begin / GRAIN] = any;
}

cairn_status cairn_stage_outran(cairn_stage *stage, bool *outran)
{
    int count = stage->world->bodies.count;
    size_t ranges = (size_t)(count + GRAIN - 1) / GRAIN;
    outran_job job = { stage, cairn_arena_take(&stage->world->scratch, ranges, sizeof(bool)) };
    *outran = false;
    if (!job.any)
        return CAIRN_NO_MEMORY;
    if (stage->scheme->velocity_level)
        return CAIRN_OK;
    cairn_parallel_for(count, GRAIN, outran_range, &job);
    for (size_t k = 0; k < ranges; k++)
        *outran = *outran || job.any[k];
    return CAIRN_OK;
}

double cairn_stage_needed_step(const cairn_stage *stage, int *body)
{
    const cairn_body_store *b = &stage->world->bodies;
    double least = 0.5 * stage->h;
    *body = -1;
    for (int i = 0; i < b->count; i++) {
        if (stage->block[i] < 0)
            continue;
        double size = cairn_shape_extent(&b->shape[i]), moved = moved_by(stage, i);
        if (size < moved && (*body < 0 || stage->h * size / moved < least)) {
            least = stage->h * size / moved;
            *body = i;
        }
    }
    return least;
}

/* ---- candidates ----------------------------------------------------------------------------- */

typedef struct layout_job {
    const cairn_stage *stage;
    cairn_zone *zones;
    cairn_collider *colliders;
} layout_job;

static cairn_collider make_collider(const cairn_stage *stage, int i)
{
    const cairn_pose body = { stage->x_eval[i], stage->q_eval[i] };
    cairn_collider c = cairn_body_collider_at(stage->world, i, &body);
    c.reach = stage->reach[i];
    if (stage->world->bodies.motion[i] == CAIRN_MOTION_DRIVEN && !stage->scheme->velocity_level &&
        !cairn_collider_bounded(&c))
        c.turn = driven_turn(stage, i);
    return c;
}

static cairn_zone ball_zone(const cairn_stage *stage, int i)
{
    const cairn_body_store *b = &stage->world->bodies;
    double half = b->ball[i] + stage->reach[i];
    return (cairn_zone){ .centre = stage->x_eval[i],
                         .half = { half, half, half },
                         .radius = b->ball[i],
                         .kind = CAIRN_ZONE_BALL,
                         .movable = b->motion[i] == CAIRN_MOTION_DYNAMIC };
}

static void layout_range(int begin, int end, void *context)
{
    const layout_job *job = context;
    const cairn_body_store *b = &job->stage->world->bodies;
    for (int i = begin; i < end; i++)
        if (b->alive[i] && b->ball[i] >= 0) {
            job->zones[i] = ball_zone(job->stage, i);
        } else {
            job->colliders[i] = make_collider(job->stage, i);
            job->zones[i] = cairn_zone_of(&job->colliders[i]);
        }
}

static cairn_status lay_out(const cairn_stage *stage, cairn_layout *out)
{
    cairn_arena *scratch = &stage->world->scratch;
    size_t count = (size_t)stage->world->bodies.count;
    layout_job job = { stage, cairn_arena_take(scratch, count, sizeof(cairn_zone)),
                       cairn_arena_take(scratch, count, sizeof(cairn_collider)) };
    if (!job.zones || !job.colliders)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for((int)count, GRAIN, layout_range, &job);
    *out = (cairn_layout){ (int)count, job.zones, job.colliders, stage->reach };
    return CAIRN_OK;
}

/* z x n in 2D. In 3D n x z, so that cones with edges stand as in [ST96]; any direction at right
 * angles where n is close to z. A formula without history. */
static cairn_vec3 tangent_of(int dimension, cairn_vec3 n)
{
    if (dimension == 2)
        return cairn_vec(-n.y, n.x, 0);
    bool level = fabs(n.z) <= 0.9;
    return level ? cairn_scale(1 / hypot(n.x, n.y), cairn_vec(n.y, -n.x, 0))
                 : cairn_perpendicular(n);
}

/* The least exact of all distances. */
typedef struct inexact {
    double residual;
    cairn_pair pair; /* -1: all are closed forms                                     */
} inexact;

static const inexact exact = { 0, { -1, -1 } };

/* One range of contacts on the way from witnesses. */
typedef struct gathering {
    const cairn_stage *stage;
    const cairn_touches *touches;
    int next; /* contact                                                      */
    cairn_contact_law law;
    inexact least;
} gathering;

static void note_residual(inexact *least, const inexact *other)
{
    if (other->residual > least->residual)
        *least = *other;
}

/* The contact of one witness between bodies a and b; `key` tells it from others of the pair. */
static void add_contact(gathering *g, int a, int b, const cairn_witness *found,
                        const cairn_contact_key *key)
{
    const cairn_stage *stage = g->stage;
    cairn_contact_store *c = &stage->world->contacts;
    int j = g->next++;
    c->body[2 * j] = a;
    c->body[2 * j + 1] = b;
    c->key[j] = *key;
    c->feature[j] = key->point;
    c->point[j] = cairn_scale(0.5, cairn_add(found->on_a, found->on_b));
    c->normal[j] = found->normal;
    c->tangent[j] = tangent_of(stage->world->dimension, found->normal);
    c->arm_a[j] = cairn_sub(found->on_a, stage->x_eval[a]);
    c->arm_b[j] = cairn_sub(found->on_b, stage->x_eval[b]);
    c->gap[j] = found->gap;
    cairn_contact_meet(stage, j, &g->law);
}

/* The contact of a witness of leaf k. */
static void add_found(gathering *g, size_t k, const cairn_witness *found)
{
    const cairn_touches *t = g->touches;
    const cairn_leaf leaf = cairn_touches_leaf(t, k);
    const cairn_pair pair = t->pairs[leaf.pair];
    const cairn_contact_key key = { leaf.first, leaf.second, found->feature };
    const inexact here = { (double)found->residual, pair };
    note_residual(&g->least, &here);
    if (t->swapped[k])
        add_contact(g, pair.second, pair.first, found, &key);
    else
        add_contact(g, pair.first, pair.second, found, &key);
}

/* The contacts of leaves, in the order of their features. */
static void add_leaves(gathering *g, size_t begin, size_t end)
{
    const cairn_touches *t = g->touches;
    for (size_t k = begin; k < end; k++)
        for (int i = 0; i < t->number[k]; i++)
            add_found(g, k, &t->found[t->first[k] + (size_t)i]);
}

/* The contacts of the pair whose leaves are [begin, end). */
static cairn_status add_pair(gathering *g, size_t begin, size_t end)
{
    const cairn_touches *t = g->touches;
    bool faces = false;
    for (size_t k = begin; k < end; k++)
        faces |= cairn_leaf_has_face(&t->leaves[k]);
    if (!faces) {
        add_leaves(g, begin, end);
        return CAIRN_OK;
    }
    cairn_touch *merged;
    size_t count;
    TRY(cairn_touches_merge(g->stage->world, t, begin, end, &merged, &count));
    for (size_t i = 0; i < count; i++)
        add_found(g, merged[i].leaf, merged[i].found);
    return CAIRN_OK;
}

/* Bodies taken apart: pair by pair, since points of one pair may be left out. */
static cairn_status gather_pieces(gathering *g)
{
    const cairn_touches *t = g->touches;
    for (size_t k = 0, end = 0; k < t->count; k = end) {
        while (end < t->count && t->leaves[end].pair == t->leaves[k].pair)
            end++;
        TRY(add_pair(g, k, end));
    }
    return CAIRN_OK;
}

typedef struct gather_job {
    const gathering *start;
    inexact *least; /* of each range */
} gather_job;

static void gather_range(int begin, int end, void *context)
{
    const gather_job *job = context;
    gathering g = *job->start;
    size_t range = (size_t)(begin / CAIRN_TOUCH_GRAIN);
    g.next = (int)g.touches->before[range];
    add_leaves(&g, (size_t)begin, (size_t)end);
    job->least[range] = g.least;
}

static cairn_status gather_pairs(gathering *g)
{
    size_t count = g->touches->count;
    size_t ranges = (count + CAIRN_TOUCH_GRAIN - 1) / CAIRN_TOUCH_GRAIN;
    const gathering start = *g;
    gather_job job = { &start,
                       cairn_arena_take(&g->stage->world->scratch, ranges, sizeof(inexact)) };
    if (!job.least)
        return CAIRN_NO_MEMORY;
    cairn_parallel_for((int)count, CAIRN_TOUCH_GRAIN, gather_range, &job);
    for (size_t k = 0; k < ranges; k++)
        note_residual(&g->least, &job.least[k]);
    g->next = (int)g->touches->total;
    return CAIRN_OK;
}

static cairn_status gather(const cairn_stage *stage, const cairn_touches *t)
{
    cairn_world *world = stage->world;
    cairn_step_report *report = stage->report;
    gathering g = { .stage = stage, .touches = t, .law = { .a = -1, .b = -1 }, .least = exact };
    TRY(cairn_contacts_reserve(&world->contacts, t->total, world->dimension));
    TRY(t->leaves ? gather_pieces(&g) : gather_pairs(&g));
    world->contacts.count = g.next;
    report->certificate.distance = g.least.residual;
    report->distance_body[0] = g.least.pair.first;
    report->distance_body[1] = g.least.pair.second;
    return CAIRN_OK;
}

/* The candidates, out of scratch that is not needed after them. */
static cairn_status find_candidates(cairn_stage *stage)
{
    cairn_layout layout;
    cairn_touches touches;
    if (!stage->options->reuse_pairs)
        cairn_kept_pairs_forget(&stage->world->kept_pairs);
    TRY(lay_out(stage, &layout));
    TRY(cairn_world_touches(stage->world, stage->broad, &layout, &touches));
    return gather(stage, &touches);
}

cairn_status cairn_stage_collide(cairn_stage *stage)
{
    cairn_arena *scratch = &stage->world->scratch;
    if (!stage->reach)
        TRY(take_reach(stage));
    stage->before_collide = cairn_arena_now(scratch);
    TRY(find_candidates(stage));
    cairn_arena_return(scratch, stage->before_collide);
    return CAIRN_OK;
}

/* ---- warm start ----------------------------------------------------------------------------- */

static int compare_numbers(int32_t a, int32_t b)
{
    return (a > b) - (a < b);
}

/* Flat regions of a body, compared. */
static int compare_regions(const cairn_world *world, int body, cairn_piece a, cairn_piece b)
{
    const cairn_shape *shape = &world->bodies.shape[body];
    if (a.face == b.face)
        return cairn_piece_compare(a, b);
    return cairn_piece_compare(cairn_piece_patch(shape, a), cairn_piece_patch(shape, b));
}

/* By the smaller body, then by the larger one. */
static int compare_bodies(const int32_t *p, const int32_t *q)
{
    int order = compare_numbers(p[0] < p[1] ? p[0] : p[1], q[0] < q[1] ? q[0] : q[1]);
    return order ? order : compare_numbers(p[0] < p[1] ? p[1] : p[0], q[0] < q[1] ? q[1] : q[0]);
}

/* Contacts are sorted by (smaller body, larger body, regions of their pieces, point). Old ones of a
 * body that is gone stand before those of its successor. */
static int compare_keys(const cairn_stage *stage, int old, int j)
{
    const cairn_contact_store *c = &stage->world->contacts, *last = stage->warm;
    const int32_t *q = c->body + 2 * j;
    const cairn_contact_key *k = &last->key[old], *l = &c->key[j];
    int low = q[0] < q[1] ? q[0] : q[1], high = q[0] + q[1] - low;
    int order = compare_bodies(last->body + 2 * old, q);
    if (order == 0 && k->point == CAIRN_KEY_GONE)
        return -1;
    if (order == 0)
        order = compare_regions(stage->world, low, k->low, l->low);
    if (order == 0)
        order = compare_regions(stage->world, high, k->high, l->high);
    return order ? order : compare_numbers(k->point, l->point);
}

/* The first contact of the last step that does not stand before contact j of this one. */
static int first_match(const cairn_stage *stage, int j)
{
    int low = 0, high = stage->warm->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare_keys(stage, middle, j) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void warm_range(int begin, int end, void *context)
{
    const cairn_stage *stage = context;
    for (int i = first_match(stage, begin), j = begin; i < stage->warm->count && j < end;) {
        int order = compare_keys(stage, i, j);
        if (order == 0)
            cairn_contact_warm(stage, i, j);
        i += order <= 0;
        j += order >= 0;
    }
}

void cairn_stage_warm_start(cairn_stage *stage)
{
    cairn_parallel_for(stage->world->contacts.count, GRAIN, warm_range, stage);
}

static void store_range(int begin, int end, void *context)
{
    for (int j = begin; j < end; j++)
        cairn_contact_store_result(context, j);
}

void cairn_stage_store_contacts(cairn_stage *stage)
{
    cairn_parallel_for(stage->world->contacts.count, GRAIN, store_range, stage);
}
