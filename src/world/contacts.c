/* contacts.c - the candidate contacts of a step.
 *
 * Every body gets a reach: an upper bound on how far its points may move in this step, estimated
 * from its free velocity with some margin. Candidates are all pairs whose gap the reaches can
 * close. After the solve the actual motion is compared with the reach: if a body moved beyond its
 * reach, the step is repeated with larger reaches. So no contact that could have mattered is ever
 * left out, and the estimate affects only the cost. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "collide/narrow.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "world/step.h"
#include "world/touch.h"

enum { GRAIN = 2048 }; /* bodies or contacts in one piece of parallel work */

/* ---- reach ---------------------------------------------------------------------------------- */

/* First estimate: 1.25 times the free motion, plus two steps' worth of gravity, plus 2 % of the
 * size; at least the margin that the user asked for. A rotation moves the surface by at most arm
 * |omega| h. */
static double first_reach(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    double h = step->h, speed = cairn_norm(motion->v_free[i]);
    double arm = cairn_body_arm(step->world, i);
    double turning = arm > 0 ? arm * cairn_norm(motion->omega_free[i]) : 0;
    double reach = 1.25 * h * (speed + turning) + 2 * h * h * cairn_norm(step->world->gravity);
    return fmax(reach + 0.02 * cairn_body_size(step->world, i), step->options->margin);
}

/* The angle by which a driven body rotates from where it is evaluated to the end of the step. */
static double driven_turn(const cairn_free_motion *motion, int i)
{
    cairn_quat back = cairn_quat_conjugate(motion->q_eval[i]);
    return cairn_norm(cairn_quat_log(cairn_quat_multiply(motion->q_next[i], back)));
}

/* The reach of a driven body is its known motion. For a body without bounds (arm infinite) no
 * finite distance covers a rotation; its collider states the angle in `turn` instead. */
static double driven_reach(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    double moved = cairn_norm(cairn_sub(motion->x_next[i], motion->x_eval[i]));
    double arm = cairn_body_arm(step->world, i);
    return isfinite(arm) ? moved + arm * driven_turn(motion, i) : moved;
}

/* How far the bodies of one range move. */
typedef struct ways {
    double longest, least_reach; /* m: longest free motion; smallest reach of dynamic bodies */
} ways;

typedef struct reach_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    double *reach; /* m, of each body                             */
    double *way;   /* m, of each body: its motion without contact */
} reach_job;

/* Fixed bodies keep reach 0, to which the array was initialised. */
static void reach_range(int begin, int end, void *context, void *value)
{
    const reach_job *job = context;
    const cairn_step *step = job->step;
    const cairn_free_motion *motion = job->motion;
    double *reach = job->reach;
    const cairn_body_store *b = &step->world->bodies;
    ways w = { 0, INFINITY };
    for (int i = begin; i < end; i++) {
        job->way[i] = step->h * cairn_norm(motion->v_free[i]);
        w.longest = job->way[i] > w.longest ? job->way[i] : w.longest;
        if (b->motion[i] == CAIRN_MOTION_DYNAMIC) {
            reach[i] = first_reach(step, motion, i);
            w.least_reach = reach[i] < w.least_reach ? reach[i] : w.least_reach;
        } else if (b->motion[i] == CAIRN_MOTION_DRIVEN) {
            reach[i] = driven_reach(step, motion, i);
        }
    }
    *(ways *)value = w;
}

static void add_ways(void *result, const void *value)
{
    ways *all = result;
    const ways *w = value;
    all->longest = fmax(all->longest, w->longest);
    all->least_reach = fmin(all->least_reach, w->least_reach);
}

/* The first reach of all bodies. *far: whether some body moves farther than others can reach, so
 * that it may push them beyond their reach. If not, reaches need not be shared. */
static cairn_status find_reach(reach_job *job, bool *far)
{
    static const ways none = { 0, INFINITY };
    cairn_world *world = job->step->world;
    ways all = none;
    const cairn_reduction of_bodies = { .count = world->bodies.count,
                                        .grain = GRAIN,
                                        .parted = cairn_world_parted(world),
                                        .work = reach_range,
                                        .join = add_ways,
                                        .context = job,
                                        .neutral = &none,
                                        .size = sizeof none };
    TRY(cairn_arena_reduce(&world->scratch, &of_bodies, &all));
    *far = 1.1 * all.longest > all.least_reach;
    return CAIRN_OK;
}

/* How far, by contact j/2 of the last step, its body j & 1 may be pushed by the other one. A driven
 * body pushes only along the normal: what slides along it is not carried with it. */
static double pushed_by(const reach_job *job, const cairn_contact_store *last, int j)
{
    const cairn_body_store *b = &job->step->world->bodies;
    const cairn_free_motion *motion = job->motion;
    int other = last->body[j ^ 1];
    if (b->motion[other] != CAIRN_MOTION_DRIVEN || !last->normal || !last->point)
        return job->way[other];
    cairn_vec3 arm = cairn_sub(last->point[j / 2], b->x[other]);
    cairn_vec3 omega = cairn_rotate(b->q[other], motion->omega_free[other]);
    cairn_vec3 v = cairn_add(motion->v_free[other], cairn_cross(omega, arm));
    return job->step->h * fabs(cairn_dot(last->normal[j / 2], v));
}

/* Every dynamic body may move as far as each body that it touched in the last step, times
 * `share`. */
static void share_ring(const reach_job *job, const cairn_contact_store *last, double share)
{
    const cairn_step *step = job->step;
    const double *way = job->way;
    double *reach = job->reach;
    bool driven = step->world->driven.count > 0;
    for (int j = 0; j < 2 * last->count; j++) {
        int i = last->body[j];
        double push = driven ? pushed_by(job, last, j) : way[last->body[j ^ 1]];
        if (cairn_step_block(step, i) >= 0)
            reach[i] = cairn_larger(reach[i], share * push);
    }
}

/* A body that is about to be hit is set in motion: it may move as far as its neighbours of the last
 * step. These push their own neighbours, FADE times as far, and so on for a few rings. Measured on
 * a scene of poured spheres: of 600 steps, 381 had to be repeated with one ring and 15 with four,
 * for 8 % more candidates. */
enum { RINGS = 4 };
static const double FADE = 0.7;

/* Ghosts get their reaches from their owners after every ring, since their other neighbours are not
 * known here. */
static void share_reach(const reach_job *job, const cairn_contact_store *last)
{
    const cairn_step *step = job->step;
    share_ring(job, last, 1.1);
    cairn_exchange_fetch(step->world, job->reach, sizeof *job->reach);
    for (int ring = 1; ring < RINGS; ring++) {
        for (int i = 0; i < step->world->bodies.count; i++)
            if (cairn_step_block(step, i) >= 0)
                job->way[i] = cairn_larger(job->way[i], FADE * job->reach[i]);
        share_ring(job, last, 1);
        cairn_exchange_fetch(step->world, job->reach, sizeof *job->reach);
    }
}

/* The reach of all bodies, once per step; later attempts only enlarge it. */
static cairn_status take_reach(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_candidates *candidates)
{
    const cairn_body_store *b = &step->world->bodies;
    cairn_arena *scratch = &step->world->scratch;
    candidates->reach = cairn_arena_doubles(scratch, (size_t)b->count);
    if (!candidates->reach)
        return CAIRN_NO_MEMORY;
    if (step->scheme->velocity_level) { /* only what is closed is a contact */
        for (int i = 0; i < b->count; i++)
            candidates->reach[i] =
                cairn_step_block(step, i) < 0 ? 0 : cairn_step_closed(step, b->extent[i]);
        return CAIRN_OK;
    }
    cairn_arena_moment before = cairn_arena_now(scratch);
    reach_job job = { step, motion, candidates->reach,
                      cairn_arena_take(scratch, (size_t)b->count, sizeof *job.way) };
    bool far = false;
    if (!job.way)
        return CAIRN_NO_MEMORY;
    TRY(find_reach(&job, &far));
    if (far)
        share_reach(&job, candidates->warm);
    cairn_arena_return(scratch, before);
    return cairn_exchange_cover(step->world, candidates->reach);
}

/* How far the points of a dynamic body moved, with the velocities of the solve and the penetration
 * correction, from the pose at which candidates were found, which need not be that of the start. */
static double moved_by(const cairn_step *step, const cairn_moves *m, int i)
{
    const cairn_answer *answer = m->answer;
    const cairn_body_store *b = &step->world->bodies;
    cairn_vec3 before = cairn_sub(b->x[i], m->motion->x_eval[i]);
    double arm = cairn_body_arm(step->world, i);
    const double *shift = cairn_mending_moves(step, m->mending, i) ? m->mending->shift : NULL;
    cairn_vec3 v = cairn_block_moving(step, i, answer->v);
    if (shift)
        v = cairn_add(v, cairn_block_moving(step, i, shift));
    if (cairn_mechanism_swings(m->joints, i))
        v = cairn_scale(0.5, cairn_add(v, b->v[i]));
    double moved = cairn_norm(cairn_add_scaled(before, step->h, v));
    if (answer->impacts.farthest)
        moved = fmax(moved, answer->impacts.farthest[cairn_step_block(step, i)]);
    if (arm == 0)
        return moved;
    cairn_vec3 omega = cairn_block_turning(step, &answer->balls, i, answer->v);
    if (shift)
        omega = cairn_add(omega, cairn_block_turning(step, &answer->balls, i, shift));
    cairn_quat turn = cairn_quat_multiply(cairn_quat_conjugate(m->motion->q_eval[i]), b->q[i]);
    turn = cairn_quat_multiply(turn, cairn_quat_exp(cairn_scale(step->h, omega)));
    /* the logarithm gives at most half a turn: for faster rotation use h |omega| itself */
    double angle = fmax(cairn_norm(cairn_quat_log(turn)),
                        step->h * cairn_norm(omega) > M_PI ? step->h * cairn_norm(omega) : 0);
    return moved + arm * angle;
}

typedef struct outran_job {
    const cairn_step *step;
    const cairn_moves *moves;
    double *reach; /* m: of each body */
} outran_job;

/* Each body writes only to its own reach, so ranges can run in any order. */
static void outran_range(int begin, int end, void *context, void *value)
{
    const outran_job *job = context;
    const cairn_step *step = job->step;
    bool *any = value;
    for (int i = begin; i < end; i++) {
        double moved = cairn_step_block(step, i) < 0 ? 0 : moved_by(step, job->moves, i);
        if (moved > job->reach[i]) {
            /* more than needed, because the new contacts will change the motion again */
            job->reach[i] = 1.5 * moved;
            *any = true;
        }
    }
}

static void add_any(void *result, const void *value)
{
    *(bool *)result = *(bool *)result || *(const bool *)value;
}

/* Bodies that are not dynamic never exceed their reach. Schemes of velocity level take contacts
 * from overlaps only and have no reach. */
cairn_status cairn_step_outran(const cairn_step *step, const cairn_moves *moves,
                               cairn_candidates *candidates, bool *outran)
{
    static const bool none = false;
    outran_job job = { step, moves, candidates->reach };
    const cairn_reduction all = { .count = step->world->bodies.count,
                                  .grain = GRAIN,
                                  .parted = cairn_world_parted(step->world),
                                  .work = outran_range,
                                  .join = add_any,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    *outran = false;
    if (step->scheme->velocity_level)
        return CAIRN_OK;
    TRY(cairn_arena_reduce(&step->world->scratch, &all, outran));
    if (!*outran)
        return CAIRN_OK;
    cairn_exchange_fetch(step->world, candidates->reach, sizeof *candidates->reach);
    return cairn_exchange_cover(step->world, candidates->reach);
}

/* The motion is proportional to the time step, so a step of h size/moved moves a body by its
 * size. */
double cairn_step_needed(const cairn_step *step, const cairn_moves *moves, int *body)
{
    const cairn_body_store *b = &step->world->bodies;
    double least = 0.5 * step->h;
    *body = -1;
    for (int i = 0; i < b->count; i++) {
        if (cairn_step_block(step, i) < 0)
            continue;
        double size = cairn_body_size(step->world, i), moved = moved_by(step, moves, i);
        if (size < moved && (*body < 0 || step->h * size / moved < least)) {
            least = step->h * size / moved;
            *body = i;
        }
    }
    return least;
}

/* ---- candidates ----------------------------------------------------------------------------- */

typedef struct layout_job {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const double *reach; /* m, of each body */
    cairn_zone *zones;
    cairn_collider *colliders;
} layout_job;

/* How far the points of a body moved from the start of the step to the pose at which contacts are
 * evaluated. */
static double came_by(const cairn_step *step, const cairn_free_motion *motion, int i)
{
    const cairn_body_store *b = &step->world->bodies;
    double moved = cairn_norm(cairn_sub(motion->x_eval[i], b->x[i]));
    double arm = cairn_body_arm(step->world, i);
    if (arm == 0 || !isfinite(arm))
        return moved;
    cairn_quat turn = cairn_quat_multiply(cairn_quat_conjugate(b->q[i]), motion->q_eval[i]);
    return moved + arm * cairn_norm(cairn_quat_log(turn));
}

/* A collider at the pose of evaluation. `behind` tells the narrow phase that the body may already
 * have passed through a thin face by then. */
static cairn_collider make_collider(const cairn_step *step, const cairn_free_motion *motion,
                                    double reach, int i)
{
    const cairn_pose body = { motion->x_eval[i], motion->q_eval[i] };
    cairn_collider c = cairn_body_collider_at(step->world, i, &body);
    c.reach = reach;
    if (cairn_scheme_ahead(step->scheme, step->linearisations) != 0)
        c.behind = came_by(step, motion, i);
    if (step->world->bodies.motion[i] == CAIRN_MOTION_DRIVEN && !step->scheme->velocity_level &&
        !cairn_collider_bounded(&c))
        c.turn = driven_turn(motion, i);
    return c;
}

/* A ball needs no collider: its zone says everything. */
static cairn_zone ball_zone(const cairn_world *world, cairn_vec3 centre, double reach, int i)
{
    const cairn_body_store *b = &world->bodies;
    double half = b->ball[i] + reach;
    return (cairn_zone){ .centre = centre,
                         .half = { half, half, half },
                         .radius = b->ball[i],
                         .kind = CAIRN_ZONE_BALL,
                         .movable = cairn_world_moves(world, i) };
}

/* The zones and colliders of a range; the value is the set of kinds of zones, as bits. */
static void layout_range(int begin, int end, void *context, void *value)
{
    const layout_job *job = context;
    const cairn_body_store *b = &job->step->world->bodies;
    unsigned kinds = 0;
    for (int i = begin; i < end; i++) {
        if (b->ball[i] >= 0) {
            job->zones[i] = ball_zone(job->step->world, job->motion->x_eval[i], job->reach[i], i);
        } else {
            job->colliders[i] = make_collider(job->step, job->motion, job->reach[i], i);
            job->zones[i] = cairn_zone_of(&job->colliders[i]);
        }
        kinds |= 1u << job->zones[i].kind;
    }
    *(unsigned *)value = kinds;
}

static void add_kinds(void *result, const void *value)
{
    *(unsigned *)result |= *(const unsigned *)value;
}

/* Where bodies pass each other follows from the velocities before the step: what forces add to them
 * is small beside those, and presses bodies that slide onto what they slide on. The correction of
 * overlaps leaves those of up to 0.02 h^2 |gravity|. Where contacts are not those of the start of
 * the step, nothing is known of the way to the end. */
static cairn_status find_ways(const cairn_step *step, const cairn_free_motion *motion,
                              cairn_collider *colliders, cairn_layout *out)
{
    const cairn_body_store *b = &step->world->bodies;
    double h = step->h;
    if (cairn_scheme_ahead(step->scheme, step->linearisations) != 0 || step->linearisations)
        return CAIRN_OK;
    cairn_vec3 *way = cairn_arena_take(&step->world->scratch, (size_t)b->count, sizeof *way);
    if (!way)
        return CAIRN_NO_MEMORY;
    out->way = way;
    out->sunk = 0.03 * h * h * cairn_norm(step->world->gravity);
    for (int i = 0; i < b->count; i++) {
        bool driven = b->motion[i] == CAIRN_MOTION_DRIVEN;
        way[i] = cairn_scale(h, driven ? motion->v_free[i] : b->v[i]);
        if (b->ball[i] < 0) {
            colliders[i].way = way[i];
            colliders[i].sunk = out->sunk;
        }
    }
    return CAIRN_OK;
}

/* Zones and colliders of all bodies, and whether there are only balls and planes: then each pair
 * has exactly one witness, and a faster path is taken. All members must take the same path. */
static cairn_status lay_out(const cairn_step *step, const cairn_free_motion *motion,
                            cairn_candidates *candidates, cairn_layout *out)
{
    cairn_arena *scratch = &step->world->scratch;
    static const unsigned none = 0;
    size_t count = (size_t)step->world->bodies.count;
    unsigned kinds = 0,
             plain = 1u << CAIRN_ZONE_NONE | 1u << CAIRN_ZONE_BALL | 1u << CAIRN_ZONE_PLANE;
    layout_job job = { step, motion, candidates->reach,
                       cairn_arena_take(scratch, count, sizeof(cairn_zone)),
                       cairn_arena_take(scratch, count, sizeof(cairn_collider)) };
    const cairn_reduction all = { .count = (int)count,
                                  .grain = GRAIN,
                                  .work = layout_range,
                                  .join = add_kinds,
                                  .context = &job,
                                  .neutral = &none,
                                  .size = sizeof none };
    if (!job.zones || !job.colliders)
        return CAIRN_NO_MEMORY;
    TRY(cairn_arena_reduce(scratch, &all, &kinds));
    candidates->plain = cairn_link_all(step->world->exchange.link, (kinds & ~plain) == 0);
    *out = (cairn_layout){ .count = (int)count,
                           .zones = job.zones,
                           .colliders = job.colliders,
                           .reach = candidates->reach };
    return candidates->plain ? CAIRN_OK : find_ways(step, motion, job.colliders, out);
}

/* z x n in 2D. In 3D n x z, so that cones with edges have the orientation of [ST96]; any
 * perpendicular direction if n is within 26 degrees of z (|n_z| > 0.9), where n x z becomes small.
 * It depends on n alone, not on earlier steps, so that resumed runs give the same bits. */
static cairn_vec3 tangent_of(int dimension, cairn_vec3 n)
{
    if (dimension == 2)
        return cairn_vec(-n.y, n.x, 0);
    bool level = fabs(n.z) <= 0.9;
    return level ? cairn_scale(1 / sqrt(n.x * n.x + n.y * n.y), cairn_vec(n.y, -n.x, 0))
                 : cairn_perpendicular(n);
}

/* The least accurate of all distances. */
typedef struct inexact {
    double residual;
    cairn_pair pair; /* -1: all distances are closed forms, without iteration error */
} inexact;

static const inexact exact = { 0, { -1, -1 } };

/* The state of the conversion of witnesses to contacts, for one range of leaves. */
typedef struct gathering {
    cairn_world *world;
    const cairn_quat *q_eval;  /* of each body: orientation at which contacts are evaluated */
    const cairn_lattice *cell; /* where they are evaluated; NULL: the world is not periodic */
    const cairn_touches *touches;
    int next;              /* index of the next contact            */
    cairn_contact_law law; /* cached law of the last two materials */
    inexact least;         /* of this range                        */
} gathering;

static void note_residual(inexact *least, const inexact *other)
{
    if (other->residual > least->residual)
        *least = *other;
}

/* The image of contact j, from pair k, whose second body is the image. In a contact it is b: if
 * that is the first body, the contact is moved to where a is in its own place. */
static void set_image(const gathering *g, int j, size_t k, bool swapped)
{
    cairn_contact_store *c = &g->world->contacts;
    cairn_image image = g->world->pair_list.image[k];
    c->image[j] = image;
    c->shift[j] = cairn_vec(0, 0, 0);
    if (!cairn_image_is_other(image)) /* most are in their own place */
        return;
    c->image[j] = swapped ? cairn_image_opposite(image) : image;
    c->shift[j] = cairn_lattice_shift(g->cell, c->image[j]);
    if (swapped)
        c->point[j] = cairn_add(c->point[j], c->shift[j]);
}

/* Append the contact of one witness of `leaf`. A pair is swapped if the distance function for its
 * two kinds of shapes takes them in the other order. Friction and the other surface laws follow
 * from the two materials. */
static inline void add_contact(gathering *g, bool swapped, const cairn_witness *found,
                               const cairn_leaf *leaf)
{
    const cairn_pair pair = g->world->pair_list.items[leaf->pair];
    int a = swapped ? pair.second : pair.first, b = swapped ? pair.first : pair.second;
    cairn_contact_store *c = &g->world->contacts;
    int j = g->next++;
    c->body[2 * j] = a;
    c->body[2 * j + 1] = b;
    c->feature[j] = found->feature;
    if (c->piece) {
        c->piece[2 * j] = leaf->first;
        c->piece[2 * j + 1] = leaf->second;
    }
    /* the middle of both witness points: with gap and normal it gives both (cairn_contact_arm) */
    c->point[j] = cairn_scale(0.5, cairn_add(found->on_a, found->on_b));
    c->normal[j] = found->normal;
    c->tangent[j] = tangent_of(g->world->dimension, found->normal);
    c->gap[j] = found->gap;
    if (g->cell)
        set_image(g, j, (size_t)leaf->pair, swapped);
    cairn_contact_meet(g->world, g->q_eval, j, &g->law);
}

/* The contact of a witness of leaf k. */
static void add_found(gathering *g, size_t k, const cairn_witness *found)
{
    const cairn_touches *t = g->touches;
    const cairn_leaf leaf = cairn_touches_leaf(t, k);
    const cairn_pair pair = t->pairs[leaf.pair];
    const inexact here = { (double)found->residual, pair };
    note_residual(&g->least, &here);
    add_contact(g, t->swapped[k], found, &leaf);
}

/* The contacts of leaves [begin, end), in the order of their features. */
static void add_leaves(gathering *g, size_t begin, size_t end)
{
    const cairn_touches *t = g->touches;
    for (size_t k = begin; k < end; k++)
        for (int i = 0; i < t->number[k]; i++)
            add_found(g, k, &t->found[t->first[k] + (size_t)i]);
}

/* The contacts of the pair whose leaves are [begin, end). Neighbouring faces of a mesh give the
 * same point several times, so their witnesses are merged first. */
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
    TRY(cairn_touches_merge(g->world, t, begin, end, &merged, &count));
    for (size_t i = 0; i < count; i++)
        add_found(g, merged[i].leaf, merged[i].found);
    return CAIRN_OK;
}

/* Bodies with pieces: pair by pair and serially, because merging may leave out points, so that the
 * index of a contact depends on all earlier pairs. */
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

/* Contacts of whole bodies: `before` holds the number of witnesses before each range, so every
 * range knows where its contacts go. */
static void gather_range(int begin, int end, void *context, void *value)
{
    gathering g = *(const gathering *)context;
    g.next = (int)g.touches->before[(size_t)begin / CAIRN_TOUCH_GRAIN];
    add_leaves(&g, (size_t)begin, (size_t)end);
    *(inexact *)value = g.least;
}

static void join_residuals(void *result, const void *value)
{
    note_residual(result, value);
}

/* In parallel: the position of every contact is known beforehand. */
static cairn_status gather_pairs(gathering *g)
{
    gathering start = *g;
    const cairn_reduction all = { .count = (int)g->touches->count,
                                  .grain = CAIRN_TOUCH_GRAIN,
                                  .work = gather_range,
                                  .join = join_residuals,
                                  .context = &start,
                                  .neutral = &exact,
                                  .size = sizeof exact };
    TRY(cairn_arena_reduce(&g->world->scratch, &all, &g->least));
    g->next = (int)g->touches->total;
    return CAIRN_OK;
}

/* ---- balls and planes ----------------------------------------------------------------------- */

typedef struct plain_job {
    gathering start;
    const cairn_layout *layout;
    const cairn_zone *zones;
} plain_job;

/* Contact k is the only witness of pair k, so pairs can be processed in any order. */
static void plain_range(int begin, int end, void *context)
{
    cairn_leaf wholes = { .first = { -1, -1 }, .second = { -1, -1 } };
    const plain_job *job = context;
    const cairn_world *world = job->start.world;
    gathering g = job->start;
    g.next = begin;
    for (int k = begin; k < end; k++) {
        const cairn_pair pair = world->pair_list.items[k];
        /* prefetch the zone of the second body: first bodies of a sorted list come in order, second
         * ones do not */
        int soon = k + CAIRN_AHEAD < end ? k + CAIRN_AHEAD : k;
        cairn_prefetch(&job->zones[world->pair_list.items[soon].second], sizeof(cairn_zone));
        bool swapped;
        cairn_witness found;
        cairn_zone made;
        cairn_zones_witness(&job->zones[pair.first],
                            cairn_second_zone(world, job->layout, (size_t)k, &made),
                            world->dimension, &swapped, &found);
        wholes.pair = k;
        add_contact(&g, swapped, &found, &wholes);
    }
}

/* ---- all candidates ------------------------------------------------------------------------- */

/* Columns only for laws that some material has: others read zeros (contact_store.c). */
static cairn_status make_room(cairn_world *world, size_t contacts, bool pieces)
{
    const cairn_surface_laws *laws = &world->materials.laws;
    unsigned set = pieces ? CAIRN_CONTACTS_PIECES : 0;
    set |= laws->anisotropic ? CAIRN_CONTACTS_AXES : 0;
    set |= world->materials.bouncing ? CAIRN_CONTACTS_BOUNCE : 0;
    set |= laws->adhesive ? CAIRN_CONTACTS_ADHERE : 0;
    set |= laws->rolling || laws->spinning ? CAIRN_CONTACTS_TURN : 0;
    set |= cairn_lattice_of(world) ? CAIRN_CONTACTS_IMAGES : 0;
    world->contacts.moments = set & CAIRN_CONTACTS_TURN ? 2 * world->dimension - 3 : 0;
    return cairn_contacts_reserve(&world->contacts, contacts, set, world->dimension);
}

/* The value is that of all members; a member knows the two bodies only if they are its own. */
static void report_inexact(const cairn_step *step, const inexact *least)
{
    cairn_step_report *report = step->report;
    double all = cairn_link_largest(step->world->exchange.link, least->residual);
    bool here = least->residual == all;
    report->certificate.distance = all;
    report->distance_body[0] = cairn_row_uid(step->world, here ? least->pair.first : -1);
    report->distance_body[1] = cairn_row_uid(step->world, here ? least->pair.second : -1);
}

static gathering start_gathering(cairn_world *world, const cairn_quat *q_eval,
                                 const cairn_lattice *cell)
{
    return (gathering){
        .world = world, .q_eval = q_eval, .cell = cell, .law = { .a = -1, .b = -1 }, .least = exact
    };
}

/* All contacts if there are only balls and planes. Their distances are closed forms. */
static cairn_status gather_plain(const cairn_step *step, const cairn_quat *q_eval,
                                 const cairn_layout *layout)
{
    cairn_world *world = step->world;
    plain_job job = { start_gathering(world, q_eval, layout->cell), layout, layout->zones };
    TRY(cairn_world_pairs(world, step->broad, layout));
    int count = (int)world->pair_list.count;
    TRY(make_room(world, (size_t)count, false));
    cairn_parallel_for(count, CAIRN_TOUCH_GRAIN, plain_range, &job);
    world->contacts.count = count;
    report_inexact(step, &exact);
    return CAIRN_OK;
}

/* All contacts, by the general narrow phase of touch.c. */
static cairn_status gather_any(const cairn_step *step, const cairn_quat *q_eval,
                               const cairn_layout *layout)
{
    cairn_world *world = step->world;
    cairn_touches t;
    gathering g = start_gathering(world, q_eval, layout->cell);
    g.touches = &t;
    TRY(cairn_world_touches(world, step->broad, layout, &t));
    TRY(make_room(world, t.total, t.leaves));
    TRY(t.leaves ? gather_pieces(&g) : gather_pairs(&g));
    world->contacts.count = g.next;
    report_inexact(step, &g.least);
    return CAIRN_OK;
}

/* Replace the contacts of the world by the candidates. The caller gives back the scratch used
 * here. */
static cairn_status find_candidates(const cairn_step *step, const cairn_free_motion *motion,
                                    cairn_candidates *candidates)
{
    cairn_layout layout;
    double ahead = step->h * cairn_scheme_ahead(step->scheme, step->linearisations);
    const cairn_lattice cell = cairn_lattice_for(&step->world->periodic.cell, ahead,
                                                 step->scheme->velocity_level ? 0 : step->h);
    if (!step->options->reuse_pairs)
        cairn_kept_pairs_forget(&step->world->kept_pairs);
    TRY(lay_out(step, motion, candidates, &layout));
    layout.cell = cairn_lattice_of(step->world) ? &cell : NULL;
    return candidates->plain ? gather_plain(step, motion->q_eval, &layout)
                             : gather_any(step, motion->q_eval, &layout);
}

/* A ratio of 0, before the first step, makes the warm start zero. */
cairn_candidates cairn_candidates_none(const cairn_world *world, double h)
{
    return (cairn_candidates){ .warm = &world->last,
                               .warm_ratio = world->last.step > 0 ? h / world->last.step : 0 };
}

/* In the first call; later attempts have enlarged it. */
cairn_status cairn_step_reach(const cairn_step *step, const cairn_free_motion *motion,
                              cairn_candidates *candidates)
{
    if (candidates->reach)
        return CAIRN_OK;
    TRY(take_reach(step, motion, candidates));
    /* the reach must survive when an attempt gives its scratch back */
    candidates->before_attempts = cairn_arena_now(&step->world->scratch);
    return CAIRN_OK;
}

/* The first call also finds the reaches. Zones, colliders and witnesses are given back at the end;
 * the reaches stay for the whole step. */
cairn_status cairn_step_candidates(const cairn_step *step, const cairn_free_motion *motion,
                                   cairn_candidates *candidates)
{
    cairn_arena *scratch = &step->world->scratch;
    TRY(cairn_step_reach(step, motion, candidates));
    cairn_arena_moment before = cairn_arena_now(scratch);
    TRY(find_candidates(step, motion, candidates));
    cairn_arena_return(scratch, before);
    return CAIRN_OK;
}
