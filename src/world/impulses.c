/* impulses.c - from the one-step problem of bodies to its impulses: which contacts hit and how
 * impacts are resolved, and which groups sleep and are not solved again. The solve itself is in
 * scheme.c; warm starts, and storing the results, are at the end of this file.
 *
 * In an impact by Poisson's law the compression is solved from mid-step,
 *     M (v_c - (v + v_free)/2) = H' r_c.
 * Half of the forces act before the impact and half after it. A ball with e = 1 then leaves with
 * the speed |v| with which the step began; since x += h v+ conserves v^2/2 + g x - h g v/2, so does
 * the bounce. A body at rest has r_cN + e r_cN <= its weight times h and does not leave. Groups of
 * bodies (groups.c) in which nothing hits are solved as in any other step. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "world/groups.h"
#include "world/scheme.h"
#include "world/step.h"

static const double SHALLOW = 2e-3; /* of the smallest radius: overlap by which a stall may end  */
enum { REDUCE_GRAIN = 8192 };       /* bodies in one piece of parallel work                      */

/* ---- friction laws -------------------------------------------------------------------------- */

/* mu of contact j at the sliding speed of u. */
static double friction_at(const cairn_world *world, int j, const double *u)
{
    const int32_t *body = world->contacts.body + 2 * j, *material = world->bodies.material;
    double speed = cairn_sliding_speed(world->dimension, 0, u);
    return cairn_material_friction(world, material[body[0]], material[body[1]], speed);
}

/* mu is the same in all directions: scheme.c refuses friction_2 together with a law of speed. */
static void set_friction(cairn_contact_store *c, int j, double mu, cairn_answer *answer)
{
    answer->mu[j] = c->mu[j] = c->mu_2[j] = mu;
}

/* The first estimate of mu: at the sliding speeds before the step. */
static void start_friction(const void *context, cairn_answer *answer)
{
    const cairn_step *step = context;
    cairn_world *world = step->world;
    const cairn_problem *p = &answer->problem;
    for (int j = 0; j < world->contacts.count; j++) {
        double before[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(p, p->dimension, p->block_size, j, answer->v_old, before);
        set_friction(&world->contacts, j, friction_at(world, j, before), answer);
    }
    cairn_step_rescale(step, answer);
}

/* mu at the speeds of the answer; returns the largest change at a contact that pushes. Others have
 * no friction, so their change does not delay the end of the loop. */
static double update_friction(const void *context, cairn_answer *answer)
{
    const cairn_step *step = context;
    cairn_world *world = step->world;
    double largest = 0;
    for (int j = 0; j < world->contacts.count; j++) {
        size_t first = (size_t)j * (size_t)answer->problem.dimension;
        double mu = friction_at(world, j, answer->u + first);
        if (answer->r[first] > 0)
            largest = fmax(largest, fabs(mu - answer->mu[j]));
        set_friction(&world->contacts, j, mu, answer);
    }
    cairn_step_rescale(step, answer);
    return cairn_link_largest(world->exchange.link, largest);
}

/* ---- how to solve --------------------------------------------------------------------------- */

/* m/s: the speed mu |u_T| at which a contact of the convex law may lift. Neither the gap that it
 * keeps, h times this speed, nor the height to which it throws, its square over 2 |gravity|,
 * exceeds the tolerance. */
static double allowed_lift(const cairn_step *step)
{
    double height = step->options->model_tolerance, g = cairn_norm(step->world->gravity);
    return fmin(height / step->h, sqrt(2 * g * height));
}

/* The smallest radius of the dynamic bodies in a range. */
static void least_range(int begin, int end, void *context, void *value)
{
    const cairn_step *step = context;
    const double *extent = step->world->bodies.extent;
    double least = INFINITY;
    for (int i = begin; i < end; i++)
        if (cairn_step_block(step, i) >= 0 && extent[i] > 0)
            least = extent[i] < least ? extent[i] : least;
    *(double *)value = least;
}

static void take_less(void *result, const void *value)
{
    *(double *)result = fmin(*(double *)result, *(const double *)value);
}

/* m/s: the speed at which bodies sink into each other by SHALLOW of the smallest radius in a step.
 * A solve with exact friction that stalls does not end while contacts approach faster. */
static double shallow_approach(const cairn_step *step)
{
    static const double none = INFINITY;
    double least = INFINITY;
    const cairn_reduction all = { .count = step->world->bodies.count,
                                  .grain = REDUCE_GRAIN,
                                  .work = least_range,
                                  .join = take_less,
                                  .context = (void *)step,
                                  .neutral = &none,
                                  .size = sizeof none };
    if (cairn_arena_reduce(&step->world->scratch, &all, &least) != CAIRN_OK)
        least_range(0, step->world->bodies.count, (void *)step, &least);
    /* the smallest of all members, as minus the largest of the negatives */
    return SHALLOW * -cairn_link_largest(step->world->exchange.link, -least) / step->h;
}

/* How this step is solved: the options of the user, with the law of the scheme. */
cairn_solving cairn_step_solving(const cairn_step *step, const cairn_speed_friction *friction)
{
    const cairn_step_options *o = step->options;
    cairn_solving s = { .scheme = step->scheme,
                        .options = cairn_solve_options_default(),
                        .fixed_point_tolerance = o->fixed_point_tolerance,
                        .max_fixed_point = o->max_fixed_point,
                        .allowed = allowed_lift(step),
                        .circular = true,
                        .friction = friction,
                        .scratch = &step->world->scratch,
                        .workspace = step->world->workspace,
                        .report = &step->report->solve,
                        .upgraded = &step->report->upgraded };
    s.options.law = step->scheme->law;
    s.options.solver = o->solver;
    s.options.backend = o->backend;
    s.options.tolerance = o->tolerance;
    s.options.max_iterations = o->max_iterations;
    if (step->scheme->law == CAIRN_LAW_COULOMB)
        s.options.approach = shallow_approach(step);
    return s;
}

/* ---- groups that are awake ------------------------------------------------------------------ */

/* A copy of the numbers, `width` per contact, of the listed contacts; NULL: no memory. */
static double *collect(cairn_arena *scratch, const int32_t *contacts, int count, int width,
                       const double *from)
{
    size_t n = (size_t)width;
    double *to = cairn_arena_doubles(scratch, (size_t)count * n);
    for (size_t k = 0; to && k < (size_t)count; k++)
        memcpy(to + k * n, from + (size_t)contacts[k] * n, n * sizeof *to);
    return to;
}

cairn_status cairn_solve_some(const cairn_solving *s, const int32_t *contacts, int count,
                              cairn_answer *answer)
{
    cairn_problem_part part;
    cairn_arena *scratch = s->scratch;
    cairn_scheme_job job = cairn_solving_job(s, answer);
    int d = answer->problem.dimension;
    /* a problem without contacts is solved */
    *s->report = (cairn_solve_report){ .converged = true, .solver = s->options.solver };
    answer->s_held = NULL;
    answer->exact = NULL;
    if (!cairn_link_any(cairn_problem_link(&answer->problem), count > 0))
        return CAIRN_OK;
    TRY(cairn_problem_take_part(&answer->problem, contacts, count, scratch, &part));
    const cairn_problem *p = &part.problem;
    job.problem = p;
    cairn_sliding_loop *loop = &job.loop;
    loop->r = collect(scratch, contacts, count, d, answer->r);
    loop->s = collect(scratch, contacts, count, 1, answer->s);
    loop->u = cairn_arena_doubles(scratch, (size_t)count * (size_t)d);
    loop->v = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    if (!loop->r || !loop->s || !loop->u || !loop->v)
        return CAIRN_NO_MEMORY;
    if (cairn_scheme_is_mixed(s->scheme))
        TRY(cairn_prepare_upgrade(s, answer, count, &job));
    TRY(s->scheme->solve(&job));
    cairn_part_spread(contacts, count, d, loop->r, answer->r);
    cairn_part_spread(contacts, count, 1, loop->s, answer->s);
    for (int k = 0; k < count && answer->exact; k++)
        answer->exact[contacts[k]] = job.exact[k];
    return CAIRN_OK;
}

/* What finding groups reads. */
typedef struct grouping {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const cairn_phase *still; /* solves all contacts */
} grouping;

/* Sleeping groups keep their impulses, all others are solved together. */
static cairn_status solve_groups(const cairn_solving *s, const void *context, cairn_answer *answer)
{
    const grouping *by = context;
    const cairn_groups *groups = &answer->rest.groups;
    TRY(cairn_rest_find_groups(by->step, by->motion, s->options.tolerance, answer));
    if (groups->sleepers == 0)
        return by->still->solve(s, by->still->context, answer);
    const cairn_stillness awake = { by->step, by->motion, groups->list, groups->awake };
    const cairn_phase still = cairn_phase_still(&awake);
    TRY(still.solve(s, still.context, answer));
    /* the certificate covers all contacts, including those of sleeping groups */
    cairn_judge_whole(s, answer);
    return CAIRN_OK;
}

/* ---- Poisson's law -------------------------------------------------------------------------- */

/* Whether contact j follows Poisson's law with e > 0. */
static bool bounces(const cairn_contact_store *c, int j)
{
    return c->poisson && c->poisson[j] && c->restitution[j] > 0;
}

/* Whether contact j hits: its velocity before the step closes the gap in this step, and is larger
 * than what forces add to it, or to one of its bodies, in a step, since anything slower is rest.
 * For a contact that can bounce, the free velocity may close the gap instead; otherwise the body
 * would just be stopped where it touches. */
static bool hits(const cairn_step *step, const cairn_free_motion *motion,
                 const cairn_answer *answer, int j)
{
    const cairn_problem *p = &answer->problem;
    double before[CAIRN_MAX_DIMENSION], free[CAIRN_MAX_DIMENSION];
    double gap = step->scheme->velocity_level ? 0 : cairn_contact_gap(step, motion, j);
    cairn_contact_velocity(p, j, NULL, answer->v_old, before);
    cairn_contact_velocity(p, j, NULL, p->v_free, free);
    double closing = bounces(&step->world->contacts, j) ? fmin(before[0], free[0]) : before[0];
    double rest = cairn_contact_forced(p, answer->v_old, step->world->dimension, j);
    return before[0] < -rest && cairn_impact_hits(before[0], free[0], closing, gap, step->h);
}

/* A copy, in the scratch, of numbers that the problem only lends; NULL: no memory. */
static double *own_copy(cairn_arena *scratch, const double *from, int count)
{
    double *own = cairn_arena_take(scratch, (size_t)count, sizeof *own);
    if (own && count > 0)
        memcpy(own, from, (size_t)count * sizeof *own);
    return own;
}

/* Contacts of Poisson's law that hit end the step with u_N >= 0 instead of closing the remaining
 * gap. *hit: 1 for contacts that hit; NULL if none does, of any member. */
static cairn_status let_bounce(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer, uint8_t **hit)
{
    const cairn_contact_store *c = &step->world->contacts;
    cairn_arena *scratch = &step->world->scratch;
    double *b = own_copy(scratch, answer->problem.b, answer->problem.contacts);
    uint8_t *found = cairn_arena_take(scratch, (size_t)c->count, sizeof *found);
    bool any = false;
    if (!b || !found)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < c->count; j++) {
        found[j] = hits(step, motion, answer, j);
        any = any || found[j];
        if (found[j] && bounces(c, j))
            b[j] = fmin(b[j], 0);
    }
    *hit = cairn_link_any(step->world->exchange.link, any) ? found : NULL;
    answer->problem.b = b;
    return CAIRN_OK;
}

/* The contacts that hit; NULL unless some contact hits and some contact can give impulse back, of
 * any member. If none can bounce, one phase is enough. */
static cairn_status find_impacts(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer, uint8_t **hit)
{
    const cairn_contact_store *c = &step->world->contacts;
    bool can_bounce = false;
    *hit = NULL;
    for (int j = 0; step->world->materials.bouncing && !can_bounce && j < c->count; j++)
        can_bounce = bounces(c, j);
    can_bounce =
        step->world->materials.bouncing && cairn_link_any(step->world->exchange.link, can_bounce);
    return can_bounce ? let_bounce(step, motion, answer, hit) : CAIRN_OK;
}

enum { STRUCK = 1, BOUNCES = 2 }; /* marks of a group: some contact of it hits; can bounce */

static void mark_struck(const cairn_contact_store *c, const cairn_problem *p, const uint8_t *hit,
                        cairn_groups *g)
{
    cairn_groups_clear(p, g);
    for (int j = 0; j < c->count; j++) {
        cairn_group *own = cairn_group_of(p, g, j);
        if (own)
            own->marks |= (uint8_t)((hit[j] ? STRUCK : 0) | (bounces(c, j) ? BOUNCES : 0));
    }
    cairn_groups_spread(p, g, CAIRN_TOLD_MARKS);
    for (int i = 0; i < p->blocks; i++)
        g->group[i].struck = g->group[i].marks == (STRUCK | BOUNCES);
    cairn_groups_clear(p, g);
}

/* The velocities that the first phase starts from: at mid-step in groups in which something hits
 * and something can bounce; v_free in all others, for which the step is an ordinary one. */
static double *velocities_to_compress(const cairn_answer *answer, cairn_arena *scratch)
{
    const cairn_problem *p = &answer->problem;
    const cairn_groups *g = &answer->rest.groups;
    size_t n = (size_t)p->block_size;
    double *v = cairn_arena_take(scratch, (size_t)p->blocks * n, sizeof *v);
    for (size_t i = 0; v && i < (size_t)p->blocks * n; i++) {
        bool struck = g->group[g->first[i / n]].struck;
        v[i] = struck ? 0.5 * (answer->v_old[i] + p->v_free[i]) : p->v_free[i];
    }
    return v;
}

/* Both phases of an impact. Other groups have no part in it: their impulses are those of the first
 * phase. */
static cairn_status solve_impact(const cairn_step *step, const cairn_free_motion *motion,
                                 const cairn_solving *s, const uint8_t *hit,
                                 const cairn_phase *phase, cairn_answer *answer)
{
    const cairn_contact_store *c = &step->world->contacts;
    mark_struck(c, &answer->problem, hit, &answer->rest.groups);
    cairn_problem first = answer->problem;
    double *e = cairn_arena_doubles(s->scratch, (size_t)first.contacts);
    first.v_free = velocities_to_compress(answer, s->scratch);
    if (!e || !first.v_free)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < c->count; j++) {
        const cairn_group *own = cairn_group_of(&first, &answer->rest.groups, j);
        e[j] = bounces(c, j) && own && own->struck ? c->restitution[j] : 0;
    }
    const cairn_bounce bounce = { &first, e, phase, step };
    TRY(cairn_impact_solve(s, &bounce, answer));
    return cairn_step_restrain(step, motion, s, &bounce, answer);
}

/* ---- after impacts within the step ---------------------------------------------------------- */

/* Whether the impacts leave nothing to solve, of any member: u + b n lies in K* without any
 * impulse, for either law. */
static bool is_done(const cairn_problem *p, int dimension)
{
    bool done = true;
    for (int j = 0; j < p->contacts && done; j++) {
        double q[CAIRN_MAX_DIMENSION];
        cairn_contact_velocity(p, j, NULL, p->v_free, q);
        double slides = cairn_sliding_speed(dimension, 0, q);
        done = q[0] + p->b[j] >= p->mu[j] * slides;
    }
    return cairn_link_all(cairn_problem_link(p), done);
}

/* The solve after the impacts within the step; their impulses are then added to those of the solve.
 * If they leave nothing to solve, |q|_c is 0 and relative residuals have no meaning, so the solve
 * starts from its solution r = 0. */
static cairn_status solve_rest(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_solving *s, const cairn_phase *by, cairn_answer *answer)
{
    size_t rows = (size_t)answer->problem.contacts * (size_t)answer->problem.dimension;
    double *r = cairn_arena_take(s->scratch, rows, sizeof *r);
    if (!r)
        return CAIRN_NO_MEMORY;
    if (is_done(&answer->problem, step->world->dimension))
        memset(answer->r, 0, rows * sizeof *answer->r);
    TRY(by->solve(s, by->context, answer));
    TRY(cairn_step_restrain(step, motion, s, NULL, answer));
    if (answer->problem.directions)
        cairn_judge_circular(&answer->problem, answer->r, answer->v, answer->u,
                             &s->report->judgement);
    /* the user is shown the problem with the impulses that solve it, without those of the
     * impacts */
    memcpy(r, answer->r, rows * sizeof *r);
    for (size_t i = 0; i < rows; i++)
        answer->r[i] += answer->impacts.total[i];
    answer->compression = answer->impacts.total;
    answer->shown = answer->problem;
    answer->shown_r = r;
    return CAIRN_OK;
}

/* Give the answer its own mu, which a law of speed changes; that of the problem may be the contact
 * list. */
static cairn_status own_friction(cairn_arena *scratch, cairn_answer *answer)
{
    answer->mu = own_copy(scratch, answer->problem.mu, answer->problem.contacts);
    answer->problem.mu = answer->mu;
    return answer->mu ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Chooses how the step is solved: rounds of impacts by Newton's law and the rest after them; two
 * phases by Poisson's law; the loop of a friction law around the solve; or one plain solve. Finally
 * it decides which bodies sleep. */
cairn_status cairn_step_impulses(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer)
{
    const cairn_speed_friction law = { start_friction, update_friction, step,
                                       &step->report->certificate.friction_law };
    bool varies = step->world->materials.friction_varies && !step->scheme->frictionless;
    const cairn_solving s = cairn_step_solving(step, varies ? &law : NULL);
    const cairn_stillness all = { step, motion, NULL, answer->problem.contacts };
    const cairn_phase still = cairn_phase_still(&all);
    const grouping by = { step, motion, &still };
    const cairn_phase groups = { solve_groups, cairn_phase_whole.judge, &by };
    /* at most one of them: rounds of impacts follow Newton's law and are refused with Poisson's
     * (chain.c) */
    bool chain;
    uint8_t *hit;
    if (varies)
        TRY(own_friction(s.scratch, answer));
    TRY(find_impacts(step, motion, answer, &hit));
    answer->rest.by_groups = step->options->sleep && !hit; /* two phases solve everything */
    const cairn_phase *phase = answer->rest.by_groups ? &groups : &still;
    TRY(cairn_step_chain(step, answer, &chain));
    TRY(cairn_step_scales(step, answer));
    if (chain)
        TRY(solve_rest(step, motion, &s, phase, answer));
    else if (hit)
        TRY(solve_impact(step, motion, &s, hit, phase, answer));
    else {
        TRY(varies ? cairn_phase_with_law(&s, phase, answer)
                   : phase->solve(&s, phase->context, answer));
        TRY(cairn_step_restrain(step, motion, &s, NULL, answer));
    }
    return cairn_rest_settle(step, motion, answer);
}

/* ---- warm starts ----------------------------------------------------------------------------- */

/* The warm start of a solve: the impulses that a contact had in the last step, or in the
 * last attempt at this one; and storing the results of a solve.
 *
 * Contacts are matched by their bodies and images, by the flat regions of their pieces, and by
 * their feature. Both lists are sorted by these keys, so one pass over both is enough. Where
 * corners or edges of two bodies coincide, rounding decides which of them names the contact. So
 * what is left of both lists of a pair is then matched by place. The impulse is carried over as a
 * vector in space, turned with the normal, and decomposed in the new contact frame, because normals
 * and tangents change from step to step. */

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

/* Compares the images of two contacts of the same two bodies, as that of larger uid has it. */
static int compare_images(const cairn_world *world, const cairn_contact_store *last, int old, int j)
{
    const cairn_contact_store *both[2] = { last, &world->contacts };
    const int at[2] = { old, j };
    cairn_image image[2] = { last->image[old], world->contacts.image[j] };
    if (!cairn_image_is_other(image[0]) && !cairn_image_is_other(image[1])) /* most */
        return 0;
    for (int i = 0; i < 2; i++) {
        const int32_t *body = both[i]->body + 2 * (size_t)at[i];
        bool turned = world->bodies.uid[body[0]] > world->bodies.uid[body[1]];
        if (turned)
            image[i] = cairn_image_opposite(image[i]);
    }
    return cairn_image_compare(image[0], image[1]);
}

/* The order of contact lists: rows, images, regions, feature. < 0: contact `old` of the last step
 * comes before contact j of this one. */
static int compare_keys(const cairn_world *world, const cairn_contact_store *last, int old, int j)
{
    const cairn_contact_store *c = &world->contacts;
    uint64_t then = cairn_contact_key(last, old), now = cairn_contact_key(c, j);
    if (then != now)
        return then < now ? -1 : 1;
    int order = last->image && c->image ? compare_images(world, last, old, j) : 0;
    if (order)
        return order;
    order = last->piece || c->piece ? compare_pieces(world, last, old, j) : 0;
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
    uint8_t *found; /* of contacts: 1 if `last` has the same one */
    const cairn_problem *p;
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

/* In the problem r and u belong to tangents multiplied by D (material.c): r = D^-1 r_T, u = D
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

/* p, turned with the normal from m to n: what pushed along m pushes along n, and does no sliding
 * friction. With m.n > 0
 *     p' = p - (m + n) ((m + n).p)/(1 + m.n) + 2 n (m.p). */
static inline cairn_vec3 turned(cairn_vec3 m, cairn_vec3 n, cairn_vec3 p)
{
    double cosine = cairn_dot(m, n), along = 2 * cairn_dot(m, p);
    cairn_vec3 sum = cairn_add(m, n);
    if (!(cosine > 0))
        return p;
    p = cairn_add_scaled(p, -cairn_dot(sum, p) / (1 + cosine), sum);
    return cairn_add_scaled(p, along, n);
}

/* The problem's r includes the adhesion, which stored impulses do not. s starts from the last
 * sliding speed. */
static inline void warm_contact(const warm_job *job, int old, int j)
{
    const cairn_step *step = job->step;
    const cairn_contact_store *c = &step->world->contacts, *last = job->last;
    int d = step->world->dimension;
    job->found[j] = 1;
    double *r = job->r + (size_t)j * (size_t)step->components;
    const double *u = last->velocity + (size_t)old * (size_t)d;
    double slide[2] = { u[1], d == 3 ? u[2] : 0 };
    cairn_vec3 p = cairn_scale(job->ratio, impulse_of(last, old, d));
    cairn_vec3 n = c->normal[j], t = c->tangent[j];
    if (last->normal)
        p = turned(last->normal[old], n, p);
    r[0] = cairn_dot(p, n) + step->h * c->adhesion[j];
    r[1] = cairn_dot(p, t);
    if (d == 3)
        r[2] = cairn_dot(p, cairn_cross(n, t));
    if (c->set & CAIRN_CONTACTS_AXES)
        warm_along_axes(step->world, j, r, slide);
    job->s[j] = d == 3 ? sqrt(slide[0] * slide[0] + slide[1] * slide[1]) : fabs(slide[0]);
    if (step->components > d)
        warm_moment(job, old, j, r);
    /* the frame has turned, so the impulse may have left the cone: sliding friction of a contact
     * without friction would be work from nothing */
    cairn_contact_project(job->p, job->p->dimension, j, r);
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
    memset(job->found + begin, 0, count * sizeof *job->found);
    if (job->step->options->warm_start)
        warm_range(job, begin, end);
}

/* ---- by place ------------------------------------------------------------------------------- */

static const double NEAR = 0.1; /* of the radius of the smaller body: contacts of the same place */
enum { MOST_OF_PAIR = 64 };     /* contacts; pairs with more have none matched by place          */

/* Whether the bodies, images and regions of both contacts are the same. */
static bool is_same_region(const warm_job *job, int old, int j)
{
    const cairn_world *world = job->step->world;
    const cairn_contact_store *last = job->last, *c = &world->contacts;
    return cairn_contact_key(last, old) == cairn_contact_key(c, j) &&
           (!last->image || !c->image || compare_images(world, last, old, j) == 0) &&
           ((!last->piece && !c->piece) || compare_pieces(world, last, old, j) == 0);
}

/* Contacts of one pair of bodies in both lists. */
typedef struct pair_run {
    int begin, end, old_begin, old_end;
    uint64_t used; /* of the last step: bits of those that are matched */
} pair_run;

/* The contacts of the pair of contact j in the last step. */
static void find_old(const warm_job *job, int j, pair_run *run)
{
    const cairn_contact_store *last = job->last;
    uint64_t key = cairn_contact_key(&job->step->world->contacts, j);
    int i = first_match(job->step->world, last, j);
    while (i > 0 && cairn_contact_key(last, i - 1) == key)
        i--;
    run->old_begin = i;
    while (i < last->count && cairn_contact_key(last, i) == key)
        i++;
    run->old_end = i;
}

/* Marks those that the first pass has matched. */
static void mark_used(const warm_job *job, pair_run *run)
{
    for (int i = run->old_begin; i < run->old_end; i++)
        for (int j = run->begin; j < run->end; j++)
            if (job->found[j] && compare_keys(job->step->world, job->last, i, j) == 0)
                run->used |= (uint64_t)1 << (i - run->old_begin);
}

/* The nearest one that is left; -1: none is near. */
static int nearest_old(const warm_job *job, const pair_run *run, int j)
{
    const cairn_world *world = job->step->world;
    const int32_t *body = world->contacts.body + 2 * (size_t)j;
    double near = NEAR * fmin(world->bodies.extent[body[0]], world->bodies.extent[body[1]]);
    int nearest = -1;
    for (int i = run->old_begin; i < run->old_end; i++) {
        double apart = cairn_norm(cairn_sub(job->last->point[i], world->contacts.point[j]));
        if (run->used >> (i - run->old_begin) & 1 || !(apart <= near) || !is_same_region(job, i, j))
            continue;
        nearest = i;
        near = apart;
    }
    return nearest;
}

static void match_by_place(const warm_job *job, pair_run *run)
{
    find_old(job, run->begin, run);
    if (run->old_end - run->old_begin > MOST_OF_PAIR)
        return;
    mark_used(job, run);
    for (int j = run->begin; j < run->end; j++) {
        int old = job->found[j] ? -1 : nearest_old(job, run, j);
        if (old < 0)
            continue;
        warm_contact(job, old, j);
        run->used |= (uint64_t)1 << (old - run->old_begin);
    }
}

/* Of pairs whose first contact is in the range, those with contacts that were not found. */
static void place_range(int begin, int end, void *context)
{
    const warm_job *job = context;
    const cairn_contact_store *c = &job->step->world->contacts;
    for (int j = begin; j < end;) {
        pair_run run = { .begin = j, .end = j };
        uint64_t key = cairn_contact_key(c, j);
        bool first = j == 0 || cairn_contact_key(c, j - 1) != key, all = true;
        while (run.end < c->count && cairn_contact_key(c, run.end) == key)
            run.end++;
        for (int k = j; k < run.end && first && all; k++) /* else another range writes to it */
            all = job->found[k];
        if (first && !all && run.end - j <= MOST_OF_PAIR)
            match_by_place(job, &run);
        j = run.end;
    }
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
    answer->arc = posed->arc;
    answer->demand = posed->demand;
    answer->corrects = posed->corrects;
    answer->added = posed->added;
    TRY(take_answer(step, cairn_posed_shares(step, joints), answer));
    size_t contacts = (size_t)step->world->contacts.count;
    uint8_t *found = cairn_arena_take(&step->world->scratch, contacts, sizeof *found);
    if (!found)
        return CAIRN_NO_MEMORY;
    warm_job job = { step,  candidates->warm, candidates->warm_ratio, answer->r, answer->s,
                     found, &answer->problem };
    cairn_parallel_for(step->world->contacts.count, GRAIN, start_range, &job);
    if (step->options->warm_start && job.last->count > 0)
        cairn_parallel_for(step->world->contacts.count, GRAIN, place_range, &job);
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
    a->point = cairn_arena_take(scratch, count, sizeof *a->point);
    a->impulse = cairn_arena_take(scratch, d * count, sizeof *a->impulse);
    a->velocity = cairn_arena_take(scratch, d * count, sizeof *a->velocity);
    a->moment = cairn_arena_take(scratch, (size_t)c->moments * count, sizeof *a->moment);
    if (!a->body || !a->feature || !a->point || !a->impulse || !a->velocity || !a->moment)
        return CAIRN_NO_MEMORY;
    if (c->piece)
        a->piece = cairn_arena_take(scratch, 2 * count, sizeof *a->piece);
    if (c->image)
        a->image = cairn_arena_take(scratch, count, sizeof *a->image);
    bool whole = !a->piece == !c->piece && !a->image == !c->image;
    return whole ? CAIRN_OK : CAIRN_NO_MEMORY;
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
    memcpy(a->point + first, c->point + first, count * sizeof *a->point);
    memcpy(a->velocity + d * first, c->velocity + d * first, d * count * sizeof *a->velocity);
    if (a->piece)
        memcpy(a->piece + 2 * first, c->piece + 2 * first, 2 * count * sizeof *a->piece);
    if (a->image)
        memcpy(a->image + first, c->image + first, count * sizeof *a->image);
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
