/* penetration.c - how deep bodies overlap at the end of the step.
 *
 * Candidates are all pairs that can meet in the step, so the deepest overlap belongs to one of
 * them. There are two exceptions. Pairs with faces, of which only some triangles are kept
 * (touch.c), are also examined with all their pieces. A scheme at velocity level, whose contacts
 * are those that overlap at mid-step, requires a search over all bodies. Both searches reach as far
 * as the step can have moved bodies, since what is behind a face need not overlap its bounding box.
 * An overlap is measured twice: in metres, and as a share of the radius of the smaller body. */
#include <math.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "shape/shape.h"
#include "world/step.h"
#include "world/touch.h"

enum { GRAIN = 2048 }; /* contacts in one piece of parallel work */

/* The deepest overlaps so far; depth and share may belong to different pairs. */
typedef struct deepest {
    double depth;      /* m                                       */
    double share;      /* of the smaller body's radius            */
    long long body[2]; /* uids of the pair with the largest share */
} deepest;

static const deepest none = { 0, 0, { -1, -1 } };

/* Keeps the larger values. Ties keep the first pair, so the result does not depend on the
 * threads. */
static void note(deepest *d, const deepest *other)
{
    d->depth = fmax(d->depth, other->depth);
    if (other->share > d->share) {
        d->share = other->share;
        d->body[0] = other->body[0];
        d->body[1] = other->body[1];
    }
}

static void note_depth(const cairn_world *world, int a, int b, double depth, deepest *d)
{
    if (!(depth > 0))
        return;
    double share = depth / cairn_pair_radius(world, a, b);
    const deepest here = { depth, share, { cairn_row_uid(world, a), cairn_row_uid(world, b) } };
    note(d, &here);
}

/* ---- two bodies ----------------------------------------------------------------------------- */

/* m: from a body to its image where the step leaves it. */
static cairn_vec3 shift_after(const cairn_arrival *arrival, const cairn_meeting *couple)
{
    return cairn_image_is_other(couple->image) ? cairn_lattice_shift(&arrival->cell, couple->image)
                                               : cairn_vec(0, 0, 0);
}

/* The body on one side where the step leaves it; the second one as its image. */
static cairn_collider collider_after(const cairn_world *world, const cairn_arrival *arrival,
                                     const cairn_meeting *couple, int side)
{
    int i = couple->body[side];
    cairn_vec3 x = arrival->x[i];
    if (side == 1)
        x = cairn_add(x, shift_after(arrival, couple));
    const cairn_pose pose = { x, arrival->q[i] };
    return cairn_body_collider_at(world, i, &pose);
}

/* m: bound on the motion of the points of a body along the unit vector n in the step. */
static double way_along(const cairn_world *world, const cairn_arrival *arrival, int i, cairn_vec3 n)
{
    const cairn_body_store *b = &world->bodies;
    double arm = cairn_body_arm(world, i);
    cairn_quat turn = cairn_quat_multiply(arrival->q[i], cairn_quat_conjugate(b->q[i]));
    double sine = cairn_norm(cairn_vec(turn.x, turn.y, turn.z));
    return cairn_dot(n, cairn_sub(arrival->x[i], b->x[i])) +
           (arm > 0 ? 2 * arm * asin(fmin(1, sine)) : 0);
}

/* m: the deepest overlap of a pair at the start of the step, by its contacts. A linear search;
 * needed only where two faces overlap. */
static double overlap_told(const cairn_contact_store *c, int a, int b)
{
    double most = 0;
    for (int j = 0; j < c->count; j++) {
        const int32_t *body = c->body + 2 * (size_t)j;
        if ((body[0] == a && body[1] == b) || (body[0] == b && body[1] == a))
            most = fmax(most, -c->gap[j]);
    }
    return most;
}

/* Whether two faces can have passed through each other in this step, along the normal n from b to
 * a: they are no deeper than they were plus their motion, with a margin for rounding. Otherwise the
 * witness belongs to the far side of a thin part of the mesh, and is no overlap. */
static bool came_through(const cairn_world *world, const cairn_arrival *arrival,
                         const cairn_meeting *couple, const cairn_witness *w, bool swapped)
{
    int a = couple->body[0], b = couple->body[1];
    cairn_vec3 n = swapped ? cairn_scale(-1, w->normal) : w->normal;
    double way = way_along(world, arrival, a, cairn_scale(-1, n)) + way_along(world, arrival, b, n);
    if (cairn_image_is_other(couple->image)) /* and by how much the image moves with the cell */
        way += cairn_dot(n, cairn_sub(shift_after(arrival, couple),
                                      cairn_lattice_shift(&world->periodic.cell, couple->image)));
    return -w->gap <= fmax(0, way) + 1e-3 * cairn_pair_radius(world, a, b) ||
           -w->gap <= fmax(0, way) + 1.001 * overlap_told(&world->contacts, a, b);
}

/* The least gap of two pieces. `faces_of` (else NULL): both are faces, of these bodies; overlaps of
 * faces that cannot have passed through each other do not count. */
static double least_gap(const cairn_world *world, const cairn_arrival *arrival,
                        const cairn_meeting *faces_of, const cairn_collider *a,
                        const cairn_collider *b)
{
    cairn_witness found[CAIRN_WITNESSES];
    bool swapped;
    double gap = INFINITY;
    int count = cairn_witnesses_find(a, b, world->dimension, &swapped, found);
    for (int k = 0; k < count; k++)
        if (!faces_of || found[k].gap >= 0 ||
            came_through(world, arrival, faces_of, &found[k], swapped))
            gap = fmin(gap, found[k].gap);
    return gap;
}

cairn_status cairn_arrival_gap(cairn_world *world, const cairn_arrival *arrival,
                               const cairn_meeting *couple, double reach, double *gap)
{
    cairn_leaf_list *list = &world->leaf_list;
    cairn_collider one = collider_after(world, arrival, couple, 0), part[2];
    cairn_collider two = collider_after(world, arrival, couple, 1);
    /* how far to look, both in front of faces and behind them */
    one.reach = one.behind = reach;
    list->count = 0;
    TRY(cairn_leaves_add(&one, &two, 0, list));
    *gap = INFINITY;
    for (size_t k = 0; k < list->count; k++) {
        const cairn_leaf *leaf = &list->items[k];
        bool faces = leaf->first.face >= 0 && leaf->second.face >= 0;
        *gap = fmin(*gap, least_gap(world, arrival, faces ? couple : NULL,
                                    cairn_collider_piece(&one, leaf->first, &part[0]),
                                    cairn_collider_piece(&two, leaf->second, &part[1])));
    }
    return CAIRN_OK;
}

/* ---- contacts ------------------------------------------------------------------------------- */

/* The piece of the body on one side of a contact; pieces are stored in the order of uids. `room`
 * holds the body and its piece. */
static const cairn_collider *side_of(const cairn_world *world, const cairn_arrival *arrival, int j,
                                     int side, cairn_collider room[2])
{
    const cairn_contact_store *c = &world->contacts;
    int body = c->body[2 * j + side], other = c->body[2 * j + 1 - side];
    bool first = world->bodies.uid[body] < world->bodies.uid[other];
    const cairn_meeting couple = cairn_contact_meeting(c, j);
    room[0] = collider_after(world, arrival, &couple, side);
    return cairn_collider_piece(&room[0], cairn_contact_piece(c, j, first ? 0 : 1), &room[1]);
}

/* Contacts of one pair are consecutive, in the same order of bodies; other images are another
 * pair. */
static bool has_same_bodies(const cairn_contact_store *c, int j)
{
    const int32_t *pair = c->body + 2 * j;
    return j > 0 && pair[0] == pair[-2] && pair[1] == pair[-1] &&
           (!c->image || cairn_image_compare(c->image[j], c->image[j - 1]) == 0);
}

/* Whether contact j is a further point of the same two pieces as the contact before it. */
static bool is_repeated(const cairn_contact_store *c, int j)
{
    bool same = has_same_bodies(c, j);
    for (int i = 0; i < 2 && same; i++)
        same = cairn_piece_compare(cairn_contact_piece(c, j, i),
                                   cairn_contact_piece(c, j - 1, i)) == 0;
    return same;
}

static bool has_face(const cairn_contact_store *c, int j)
{
    return c->piece && (c->piece[2 * j].face >= 0 || c->piece[2 * j + 1].face >= 0);
}

/* m: depth of a ball in a half-space. */
static double depth_in_plane(const cairn_world *world, const cairn_arrival *arrival, int ball,
                             int wall)
{
    const cairn_body_store *b = &world->bodies;
    cairn_vec3 n = cairn_rotate(arrival->q[wall], cairn_unit(cairn_body_shape(b, wall)->axis));
    return b->ball[ball] - cairn_dot(n, cairn_sub(arrival->x[ball], arrival->x[wall]));
}

/* m: depth of the overlap of the two pieces of contact j; negative if there is none, or if the
 * contact before it measured the same pieces. Balls and planes have closed formulas. */
static double depth_of(const cairn_world *world, const cairn_arrival *arrival, int j)
{
    const cairn_contact_store *c = &world->contacts;
    const int32_t *body = c->body + 2 * (size_t)j;
    const cairn_body_store *b = &world->bodies;
    const cairn_vec3 *x = arrival->x;
    double r[2] = { b->ball[body[0]], b->ball[body[1]] };
    if (r[0] >= 0 && r[1] >= 0) {
        const cairn_meeting couple = cairn_contact_meeting(c, j);
        cairn_vec3 d = cairn_sub(x[body[0]], x[body[1]]);
        if (cairn_image_is_other(couple.image))
            d = cairn_sub(d, shift_after(arrival, &couple));
        return r[0] + r[1] - cairn_norm(d);
    }
    for (int side = 0; side < 2; side++)
        if (r[side] >= 0 && cairn_body_shape(b, body[1 - side])->kind == CAIRN_SHAPE_HALF_SPACE)
            return depth_in_plane(world, arrival, body[side], body[1 - side]);
    if (is_repeated(c, j))
        return -INFINITY;
    cairn_collider room[2][2];
    return -least_gap(world, arrival, NULL, side_of(world, arrival, j, 0, room[0]),
                      side_of(world, arrival, j, 1, room[1]));
}

/* Whether the penetration correction moved a body of contact j in addition to h v. */
static bool is_shifted(const uint8_t *shifted, const int32_t *block)
{
    bool any = false;
    for (int side = 0; shifted && side < 2; side++)
        any = any || (block[side] >= 0 && shifted[block[side]]);
    return any;
}

/* Whether a driven half-space has another normal after the step. */
static bool has_turning_plane(const cairn_world *world, const cairn_vec3 *omega)
{
    for (int i = 0; i < world->bodies.held; i++) {
        if (cairn_body_shape(&world->bodies, i)->kind == CAIRN_SHAPE_HALF_SPACE &&
            cairn_norm(omega[i]) > 0)
            return true;
    }
    return false;
}

/* Whether the linear gap bounds the depth: balls, and planes that do not rotate, end no closer than
 * along the normal of the start, gap + h u_N. Most contacts then need no exact depth. */
static bool gaps_tell(const cairn_step *step, const cairn_free_motion *motion, bool plain)
{
    return plain && cairn_scheme_ahead(step->scheme, step->linearisations) == 0 &&
           !has_turning_plane(step->world, motion->omega_free);
}

typedef struct depth_job {
    const cairn_step *step;
    const cairn_answer *answer;
    const cairn_arrival *arrival;
    bool told; /* the linear gaps bound the depths */
} depth_job;

/* Whether contact j, of at most this depth, can change the maximum found so far. */
static inline bool can_matter(const cairn_world *world, int j, double depth, const deepest *known)
{
    const int32_t *body = world->contacts.body + 2 * (size_t)j;
    return depth > known->depth ||
           (depth > 0 && depth > known->share * cairn_pair_radius(world, body[0], body[1]));
}

/* The maximum of a range starts at 0, so skipping contacts does not depend on other ranges. */
static void depth_range(int begin, int end, void *context, void *value)
{
    const depth_job *job = context;
    const cairn_world *world = job->step->world;
    const double *gap = world->contacts.gap, *u = job->answer->u;
    const int32_t *body = world->contacts.body, *block = job->answer->problem.block;
    size_t d = (size_t)job->answer->problem.dimension;
    deepest *here = value;
    end = cairn_step_contacts(job->step, end);
    for (int j = begin; j < end; j++) {
        double most = -(gap[j] + job->step->h * u[(size_t)j * d]);
        if (!job->told || can_matter(world, j, most, here) ||
            is_shifted(job->arrival->shifted, block + 2 * (size_t)j))
            note_depth(world, body[2 * j], body[2 * j + 1], depth_of(world, job->arrival, j), here);
    }
}

static void add_deepest(void *result, const void *value)
{
    note(result, value);
}

static const double LOST = 0.1; /* of the smaller radius: faces may not detect a deeper body */

/* m: depth at the end of the step by the contacts of a pair from j on, taken as planes that only
 * translate; 0 if faces would still detect the body. */
static double depth_by_planes(const cairn_step *step, const cairn_free_motion *motion,
                              const cairn_arrival *arrival, int j)
{
    const cairn_contact_store *c = &step->world->contacts;
    const cairn_vec3 *x = motion->x_eval;
    int one = c->body[2 * j], two = c->body[2 * j + 1];
    cairn_vec3 way =
        cairn_sub(cairn_sub(arrival->x[one], x[one]), cairn_sub(arrival->x[two], x[two]));
    const cairn_meeting couple = cairn_contact_meeting(c, j);
    if (cairn_image_is_other(couple.image))
        way = cairn_sub(way, cairn_sub(shift_after(arrival, &couple), c->shift[j]));
    double depth = 0;
    for (int k = j; k < c->count && (k == j || has_same_bodies(c, k)); k++)
        depth = fmax(depth, -(c->gap[k] + cairn_dot(c->normal[k], way)));
    return depth > LOST * cairn_pair_radius(step->world, one, two) ? depth : 0;
}

/* m: depth of a body that ends more than half way behind a face and is not detected by any face
 * from now on. The planes of its contacts give the depth, and the step is marked as not converged,
 * whatever its residual. */
static double lost_depth(const cairn_step *step, const cairn_free_motion *motion,
                         const cairn_arrival *arrival, int j)
{
    const int32_t *body = step->world->contacts.body + 2 * (size_t)j;
    const cairn_body_store *b = &step->world->bodies;
    if (!cairn_shape_bounded(cairn_body_shape(b, body[0])) ||
        !cairn_shape_bounded(cairn_body_shape(b, body[1])))
        return 0; /* planes and round walls detect bodies at any depth */
    double depth = depth_by_planes(step, motion, arrival, j);
    if (depth > 0)
        step->report->solve.converged = false;
    return step->linearisations ? 0 : depth; /* planes ahead of the step may be far off */
}

/* m: bound on the distance of each body from where its contacts were found. */
static cairn_status reach_of_all(const cairn_step *step, const cairn_free_motion *motion,
                                 const cairn_candidates *candidates, const cairn_answer *answer,
                                 const double **reach)
{
    double *way = candidates->reach; /* 0 in schemes at velocity level */
    if (step->scheme->velocity_level)
        TRY(cairn_answer_ways(step, motion, answer, &way));
    *reach = way;
    return CAIRN_OK;
}

/* Examines pairs with contacts on faces again, with all their pieces, once for each pair. */
static cairn_status search_faces(const cairn_step *step, const cairn_free_motion *motion,
                                 const double *reach, const cairn_arrival *arrival, deepest *out)
{
    const cairn_contact_store *c = &step->world->contacts;
    int first = 0; /* first contact of the pair */
    bool done = false;
    for (int j = 0; c->piece && j < c->count; j++) {
        bool same = has_same_bodies(c, j);
        first = same ? first : j;
        done = done && same;
        if (done || !has_face(c, j))
            continue;
        int a = c->body[2 * j], b = c->body[2 * j + 1];
        double gap;
        const cairn_meeting couple = cairn_contact_meeting(c, j);
        TRY(cairn_arrival_gap(step->world, arrival, &couple, reach[a] + reach[b], &gap));
        note_depth(step->world, a, b,
                   gap < INFINITY ? -gap : lost_depth(step, motion, arrival, first), out);
        done = true;
    }
    return CAIRN_OK;
}

static cairn_status search_contacts(depth_job *job, deepest *out)
{
    cairn_world *world = job->step->world;
    const cairn_reduction of_contacts = { .count = world->contacts.count,
                                          .grain = GRAIN,
                                          .parted = cairn_problem_parted(&job->answer->problem),
                                          .work = depth_range,
                                          .join = add_deepest,
                                          .context = job,
                                          .neutral = &none,
                                          .size = sizeof none };
    return cairn_arena_reduce(&world->scratch, &of_contacts, out);
}

/* ---- everything ----------------------------------------------------------------------------- */

/* Broad and narrow phase at the end of the step, for schemes whose contacts do not cover all
 * pairs. */
static cairn_status search_all(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_answer *answer, const cairn_arrival *arrival,
                               deepest *out)
{
    cairn_world *world = step->world;
    cairn_layout layout;
    cairn_touches t;
    double *way;
    TRY(cairn_answer_ways(step, motion, answer, &way));
    TRY(cairn_world_layout_at(world, arrival->x, arrival->q, way, &layout));
    const cairn_lattice cell = cairn_lattice_for(&world->periodic.cell, step->h, step->h);
    layout.cell = layout.cell ? &cell : NULL;
    TRY(cairn_world_touches(world, step->broad, &layout, &t));
    for (size_t k = 0; k < t.count; k++) {
        const cairn_pair pair = t.pairs[cairn_touches_leaf(&t, k).pair];
        for (int i = 0; i < t.number[k]; i++)
            note_depth(world, pair.first, pair.second, -t.found[t.first[k] + (size_t)i].gap, out);
    }
    return CAIRN_OK;
}

/* Reports the maxima over all members. Bodies are named by the member that found them, if any. */
static void tell(const cairn_step *step, const deepest *found)
{
    cairn_step_report *report = step->report;
    cairn_link *link = step->world->exchange.link;
    report->certificate.penetration = cairn_link_largest(link, found->depth);
    report->overlap = cairn_link_largest(link, found->share);
    report->solve.converged = cairn_link_all(link, report->solve.converged);
    for (int k = 0; k < 2; k++)
        report->overlap_body[k] = found->share == report->overlap ? found->body[k] : -1;
}

cairn_status cairn_step_penetration(const cairn_step *step, const cairn_free_motion *motion,
                                    const cairn_candidates *candidates, const cairn_answer *answer,
                                    const cairn_arrival *arrival)
{
    depth_job job = { step, answer, arrival, gaps_tell(step, motion, candidates->plain) };
    const double *reach;
    deepest found = none;
    TRY(search_contacts(&job, &found));
    TRY(reach_of_all(step, motion, candidates, answer, &reach));
    TRY(search_faces(step, motion, reach, arrival, &found));
    if (step->scheme->velocity_level)
        TRY(search_all(step, motion, answer, arrival, &found));
    tell(step, &found);
    return CAIRN_OK;
}
