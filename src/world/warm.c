/* warm.c - the warm start of a solve: the impulses that a contact had in the last step, or in the
 * last attempt at this one; and storing the results of a solve.
 *
 * Contacts are matched by their bodies, by the flat regions of their pieces, and by their feature.
 * Both lists are sorted by these keys, so one pass over both is enough. The impulse is carried over
 * as a vector in space and decomposed in the new contact frame, because normals and tangents change
 * from step to step. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/status.h"
#include "math/vec.h"
#include "world/step.h"

enum { GRAIN = 2048 }; /* contacts in one piece of parallel work */

/* ---- matching ------------------------------------------------------------------------------- */

static int compare_numbers(int32_t a, int32_t b)
{
    return (a > b) - (a < b);
}

/* Compares the flat regions of two pieces of a body. Equal faces are in the same region. */
static int compare_regions(const cairn_world *world, int body, cairn_piece a, cairn_piece b)
{
    const cairn_shape *shape = cairn_body_shape(&world->bodies, body);
    if (a.face == b.face)
        return cairn_piece_compare(a, b);
    return cairn_piece_compare(cairn_piece_patch(shape, a), cairn_piece_patch(shape, b));
}

/* Compares the regions of two contacts of the same two bodies, in the order of uids, as pieces are
 * stored. */
static int compare_pieces(const cairn_world *world, const cairn_contact_store *last, int old, int j)
{
    const cairn_contact_store *c = &world->contacts;
    const uint64_t *uid = world->bodies.uid;
    const int32_t *body = c->body + 2 * (size_t)j;
    int first = uid[body[0]] < uid[body[1]] ? 0 : 1, order = 0;
    for (int i = 0; i < 2 && order == 0; i++)
        order = compare_regions(world, body[i ^ first], cairn_contact_piece(last, old, i),
                                cairn_contact_piece(c, j, i));
    return order;
}

/* The order of contact lists: rows, regions, feature. < 0: contact `old` of the last step comes
 * before contact j of this one. */
static int compare_keys(const cairn_world *world, const cairn_contact_store *last, int old, int j)
{
    const cairn_contact_store *c = &world->contacts;
    uint64_t then = cairn_contact_key(last, old), now = cairn_contact_key(c, j);
    if (then != now)
        return then < now ? -1 : 1;
    int order = last->piece || c->piece ? compare_pieces(world, last, old, j) : 0;
    return order ? order : compare_numbers(last->feature[old], c->feature[j]);
}

/* The first contact of the last step that does not come before contact j of this one, by bisection.
 * Ranges of contacts can thus be matched independently. */
static int first_match(const cairn_world *world, const cairn_contact_store *last, int j)
{
    int low = 0, high = last->count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare_keys(world, last, middle, j) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- from the old frame to the new one ------------------------------------------------------ */

/* The impulse of a contact in world axes, N s. Lists of an earlier attempt have no normals: their
 * impulses are in world axes already. */
static inline cairn_vec3 impulse_of(const cairn_contact_store *c, int j, int d)
{
    const double *impulse = c->impulse + (size_t)j * (size_t)d;
    if (!c->normal)
        return cairn_vec(impulse[0], impulse[1], d == 3 ? impulse[2] : 0);
    cairn_vec3 p = cairn_scale(impulse[0], c->normal[j]);
    p = cairn_add_scaled(p, impulse[1], c->tangent[j]);
    return d == 3 ? cairn_add_scaled(p, impulse[2], cairn_cross(c->normal[j], c->tangent[j])) : p;
}

/* The rolling and spinning moment in world axes, N m s; in 2D about z. */
static cairn_vec3 moment_of(const cairn_contact_store *c, int j)
{
    const double *m = c->moment + (size_t)j * (size_t)c->moments;
    if (c->moments < 3)
        return cairn_vec(0, 0, c->moments ? m[0] : 0);
    if (!c->normal)
        return cairn_vec(m[0], m[1], m[2]);
    cairn_vec3 sum = cairn_scale(m[0], c->tangent[j]);
    sum = cairn_add_scaled(sum, m[1], cairn_contact_bitangent(c, j));
    return cairn_add_scaled(sum, m[2], c->normal[j]);
}

/* The contacts of the step, which start from those of `last`. */
typedef struct warm_job {
    const cairn_step *step;
    const cairn_contact_store *last;
    double ratio; /* of time steps: impulses are forces times h */
    double *r, *s;
} warm_job;

/* The moment, decomposed along the new rows of rolling and spinning. */
static void warm_moment(const warm_job *job, int old, int j, double *r)
{
    const cairn_step *step = job->step;
    cairn_vec3 turn[3], moment = moment_of(job->last, old);
    cairn_contact_turns(step, j, turn);
    for (int i = 0; i < step->rolling + step->spinning; i++)
        r[step->world->dimension + i] = job->ratio * cairn_dot(moment, turn[i]);
}

/* In the problem r and u belong to tangents multiplied by D (surface.c): r = D^-1 r_T, u = D
 * u_T. */
static void warm_along_axes(const cairn_world *world, int j, double *r, double *slide)
{
    double share[2];
    cairn_contact_shares(&world->contacts, j, share);
    for (int i = 0; i < world->dimension - 1; i++) {
        r[1 + i] /= share[i];
        slide[i] *= share[i];
    }
}

/* The problem's r includes the adhesion, which stored impulses do not. s starts from the last
 * sliding speed. */
static inline void warm_contact(const warm_job *job, int old, int j)
{
    const cairn_step *step = job->step;
    const cairn_contact_store *c = &step->world->contacts, *last = job->last;
    int d = step->world->dimension;
    double *r = job->r + (size_t)j * (size_t)step->components;
    const double *u = last->velocity + (size_t)old * (size_t)d;
    double slide[2] = { u[1], d == 3 ? u[2] : 0 };
    cairn_vec3 p = cairn_scale(job->ratio, impulse_of(last, old, d));
    cairn_vec3 n = c->normal[j], t = c->tangent[j];
    r[0] = cairn_dot(p, n) + step->h * c->adhesion[j];
    r[1] = cairn_dot(p, t);
    if (d == 3)
        r[2] = cairn_dot(p, cairn_cross(n, t));
    if (c->set & CAIRN_CONTACTS_AXES)
        warm_along_axes(step->world, j, r, slide);
    job->s[j] = d == 3 ? sqrt(slide[0] * slide[0] + slide[1] * slide[1]) : fabs(slide[0]);
    if (step->components > d)
        warm_moment(job, old, j, r);
}

/* Merges the two sorted lists; contacts without a match keep r = 0. */
static void warm_range(const warm_job *job, int begin, int end)
{
    const cairn_world *world = job->step->world;
    const cairn_contact_store *last = job->last;
    for (int i = first_match(world, last, begin), j = begin; i < last->count && j < end;) {
        int order = compare_keys(world, last, i, j);
        if (order == 0)
            warm_contact(job, i, j);
        i += order <= 0;
        j += order >= 0;
    }
}

static void start_range(int begin, int end, void *context)
{
    const warm_job *job = context;
    size_t d = (size_t)job->step->components, count = (size_t)(end - begin);
    memset(job->r + (size_t)begin * d, 0, count * d * sizeof *job->r);
    memset(job->s + begin, 0, count * sizeof *job->s);
    if (job->step->options->warm_start)
        warm_range(job, begin, end);
}

/* The arrays of the answer. Where the list of contacts holds the same numbers as the problem
 * (`shared`), they are its columns, and nothing needs to be copied afterwards. */
static cairn_status take_answer(const cairn_step *step, bool shared, cairn_answer *answer)
{
    const cairn_problem *p = &answer->problem;
    cairn_contact_store *c = &step->world->contacts;
    cairn_arena *scratch = &step->world->scratch;
    size_t m = (size_t)p->contacts, d = (size_t)p->dimension;
    answer->v = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    answer->r = shared ? c->impulse : cairn_arena_doubles(scratch, m * d);
    answer->u = shared ? c->velocity : cairn_arena_doubles(scratch, m * d);
    /* contacts set their own s; rows of joints need s = 0 */
    answer->s = p->bounded ? cairn_arena_doubles(scratch, m)
                           : cairn_arena_take(scratch, m, sizeof *answer->s);
    return answer->v && answer->r && answer->u && answer->s ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_status cairn_step_first_guess(const cairn_step *step, const cairn_candidates *candidates,
                                    const cairn_mechanism *joints, const cairn_posed *posed,
                                    cairn_answer *answer)
{
    *answer =
        (cairn_answer){ .problem = posed->problem, .balls = posed->balls, .v_old = posed->v_old };
    TRY(take_answer(step, cairn_posed_shares(step, joints), answer));
    warm_job job = { step, candidates->warm, candidates->warm_ratio, answer->r, answer->s };
    cairn_parallel_for(step->world->contacts.count, GRAIN, start_range, &job);
    if (joints->blocks > 0 && step->options->warm_start)
        cairn_joints_first_guess(step, candidates->warm_ratio, answer->r);
    return CAIRN_OK;
}

/* ---- what is kept --------------------------------------------------------------------------- */

typedef struct store_job {
    const cairn_step *step;
    const cairn_answer *answer;
} store_job;

static void store_range(int begin, int end, void *context)
{
    const store_job *job = context;
    for (int j = begin; j < end; j++)
        cairn_contact_store_result(job->step, job->answer, j);
}

/* Shared arrays hold the results already. */
void cairn_step_store_contacts(const cairn_step *step, const cairn_answer *answer)
{
    store_job job = { step, answer };
    if (answer->r != step->world->contacts.impulse)
        cairn_parallel_for(step->world->contacts.count, GRAIN, store_range, &job);
}

/* A list with only the columns that a warm start needs, with impulses in world axes. */
static cairn_status take_aside(cairn_world *world, cairn_contact_store *a)
{
    const cairn_contact_store *c = &world->contacts;
    cairn_arena *scratch = &world->scratch;
    size_t count = (size_t)c->count, d = (size_t)world->dimension;
    *a = (cairn_contact_store){ .count = c->count, .moments = c->moments };
    a->body = cairn_arena_take(scratch, 2 * count, sizeof *a->body);
    a->feature = cairn_arena_take(scratch, count, sizeof *a->feature);
    a->impulse = cairn_arena_take(scratch, d * count, sizeof *a->impulse);
    a->velocity = cairn_arena_take(scratch, d * count, sizeof *a->velocity);
    a->moment = cairn_arena_take(scratch, (size_t)c->moments * count, sizeof *a->moment);
    if (!a->body || !a->feature || !a->impulse || !a->velocity || !a->moment)
        return CAIRN_NO_MEMORY;
    if (!c->piece)
        return CAIRN_OK;
    a->piece = cairn_arena_take(scratch, 2 * count, sizeof *a->piece);
    return a->piece ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Writes the first `count` components of a vector. */
static void write_vector(cairn_vec3 v, int count, double *out)
{
    const double parts[3] = { v.x, v.y, v.z };
    memcpy(out, parts, (size_t)count * sizeof *out);
}

typedef struct aside_job {
    const cairn_contact_store *from, *to;
    int dimension;
} aside_job;

static void aside_range(int begin, int end, void *context)
{
    const aside_job *job = context;
    const cairn_contact_store *c = job->from, *a = job->to;
    size_t first = (size_t)begin, count = (size_t)(end - begin), d = (size_t)job->dimension;
    memcpy(a->body + 2 * first, c->body + 2 * first, 2 * count * sizeof *a->body);
    memcpy(a->feature + first, c->feature + first, count * sizeof *a->feature);
    memcpy(a->velocity + d * first, c->velocity + d * first, d * count * sizeof *a->velocity);
    if (a->piece)
        memcpy(a->piece + 2 * first, c->piece + 2 * first, 2 * count * sizeof *a->piece);
    for (int j = begin; j < end; j++) {
        write_vector(impulse_of(c, j, (int)d), (int)d, a->impulse + (size_t)j * d);
        if (c->moments == 3)
            write_vector(moment_of(c, j), 3, a->moment + 3 * (size_t)j);
        else if (c->moments == 1)
            a->moment[j] = c->moment[j];
    }
}

/* The memory of the attempt is returned to the arena and used again for the list, so that repeated
 * attempts do not add up. What is copied lies in the contact store, not in the arena. */
cairn_status cairn_step_set_aside(const cairn_step *step, const cairn_answer *answer,
                                  cairn_candidates *candidates)
{
    cairn_world *world = step->world;
    aside_job job = { &world->contacts, &candidates->aside, world->dimension };
    cairn_step_store_contacts(step, answer);
    cairn_arena_return(&world->scratch, candidates->before_attempts);
    TRY(take_aside(world, &candidates->aside));
    cairn_parallel_for(candidates->aside.count, GRAIN, aside_range, &job);
    world->contacts.count = 0;
    candidates->warm = &candidates->aside;
    candidates->warm_ratio = 1;
    return CAIRN_OK;
}
