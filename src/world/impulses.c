/* impulses.c - from the one-step problem of bodies to its impulses: which contacts hit and how
 * impacts are resolved, and which groups sleep and are not solved again. The solve itself is in
 * phases.c.
 *
 * In an impact by Poisson's law the compression is solved from mid-step,
 *     M (v_c - (v + v_free)/2) = H' r_c.
 * Half of the forces act before the impact and half after it. A ball with e = 1 then leaves with
 * the speed |v| with which the step began; since x += h v+ conserves v^2/2 + g x - h g v/2, so does
 * the bounce. A body at rest has r_cN + e r_cN <= its weight times h and does not leave. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "world/scheme.h"
#include "world/step.h"

static const double CLOSER = 0.1;   /* of the tolerance, for drowsy groups: they may stay asleep */
static const double SHALLOW = 2e-3; /* of the smallest radius: overlap by which a stall may end  */

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
    cairn_world *world = ((const cairn_step *)context)->world;
    const cairn_problem *p = &answer->problem;
    for (int j = 0; j < world->contacts.count; j++) {
        double before[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(p, p->dimension, p->block_size, j, answer->v_old, before);
        set_friction(&world->contacts, j, friction_at(world, j, before), answer);
    }
}

/* mu at the speeds of the answer; returns the largest change at a contact that pushes. Others have
 * no friction, so their change does not delay the end of the loop. */
static double update_friction(const void *context, cairn_answer *answer)
{
    cairn_world *world = ((const cairn_step *)context)->world;
    double largest = 0;
    for (int j = 0; j < world->contacts.count; j++) {
        size_t first = (size_t)j * (size_t)answer->problem.dimension;
        double mu = friction_at(world, j, answer->u + first);
        if (answer->r[first] > 0)
            largest = fmax(largest, fabs(mu - answer->mu[j]));
        set_friction(&world->contacts, j, mu, answer);
    }
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

/* m/s: the speed at which bodies sink into each other by SHALLOW of the smallest radius in a step.
 * A solve with exact friction that stalls does not end while contacts approach faster. */
static double shallow_approach(const cairn_step *step)
{
    const cairn_body_store *b = &step->world->bodies;
    double least = INFINITY;
    for (int i = 0; i < b->count; i++)
        if (cairn_step_block(step, i) >= 0 && b->extent[i] > 0)
            least = fmin(least, b->extent[i]);
    /* the smallest of all members, as minus the largest of the negatives */
    return SHALLOW * -cairn_link_largest(step->world->exchange.link, -least) / step->h;
}

/* How this step is solved: the options of the user, with the law of the scheme. */
static cairn_solving solving_of(const cairn_step *step, const cairn_speed_friction *friction)
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

/* Solve the listed contacts as a separate problem and write r and s back. Velocities are not
 * written: the judge computes those of all contacts later. */
static cairn_status solve_some(const cairn_solving *s, const int32_t *contacts, int count,
                               cairn_answer *answer)
{
    cairn_problem_part part;
    cairn_arena *scratch = s->scratch;
    cairn_scheme_job job = cairn_solving_job(s, answer);
    int d = answer->problem.dimension;
    /* a problem without contacts is solved */
    *s->report = (cairn_solve_report){ .converged = true, .solver = s->options.solver };
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
    TRY(s->scheme->solve(&job));
    cairn_part_spread(contacts, count, d, loop->r, answer->r);
    cairn_part_spread(contacts, count, 1, loop->s, answer->s);
    return CAIRN_OK;
}

/* What finding groups reads. */
typedef struct grouping {
    const cairn_step *step;
    const cairn_free_motion *motion;
} grouping;

/* Sleeping groups keep their impulses. Drowsy groups are solved one by one, since each may stay
 * asleep or wake by itself; all others are solved together. Sweeps over disjoint groups are
 * equivalent to one sweep over all, so the reported iterations are those of the slowest. */
static cairn_status solve_groups(const cairn_solving *s, const void *context, cairn_answer *answer)
{
    const grouping *by = context;
    cairn_solve_report *report = s->report, part;
    double tolerance = s->options.tolerance;
    cairn_solving closer = *s;
    const cairn_groups *groups = &answer->rest.groups;
    const int32_t *contacts;
    cairn_link *link = cairn_problem_link(&answer->problem);
    int count, next = 0;
    /* a drowsy group must pass the test of the tolerance by itself, with some margin */
    closer.options.tolerance = CLOSER * tolerance;
    closer.report = &part;
    TRY(cairn_rest_find_groups(by->step, by->motion, tolerance, answer));
    /* the usual case costs nothing: solve everything together */
    if (groups->sleepers == 0)
        return cairn_phase_whole.solve(s, NULL, answer);
    answer->s_held = NULL;
    answer->exact = NULL;
    TRY(solve_some(s, groups->list, groups->awake, answer));
    while (cairn_groups_next_drowsy(groups, link, &next, &contacts, &count)) {
        TRY(solve_some(&closer, contacts, count, answer));
        if (part.iterations > report->iterations)
            report->iterations = part.iterations;
        report->outer_iterations += part.outer_iterations;
        report->converged = report->converged && part.judgement.asked.relative <= tolerance;
    }
    /* the certificate covers all contacts, including those of sleeping groups */
    cairn_phase_whole.judge(s, answer, &report->judgement);
    return CAIRN_OK;
}

/* ---- Poisson's law -------------------------------------------------------------------------- */

/* Whether contact j follows Poisson's law with e > 0. */
static bool bounces(const cairn_contact_store *c, int j)
{
    return c->poisson && c->poisson[j] && c->restitution[j] > 0;
}

/* Whether contact j hits: its velocity before the step closes the gap in this step, and is larger
 * than what forces add in a step, since anything slower is rest. For a contact that can bounce, the
 * free velocity may close the gap instead; otherwise the body would just be stopped where it
 * touches. */
static bool hits(const cairn_step *step, const cairn_free_motion *motion,
                 const cairn_answer *answer, int j)
{
    const cairn_problem *p = &answer->problem;
    int d = p->dimension, n = p->block_size;
    double before[CAIRN_MAX_DIMENSION], free[CAIRN_MAX_DIMENSION];
    double gap = step->scheme->velocity_level ? 0 : cairn_contact_gap(step, motion, j);
    cairn_contact_relative(p, d, n, j, answer->v_old, before);
    cairn_contact_relative(p, d, n, j, p->v_free, free);
    double closing = bounces(&step->world->contacts, j) ? fmin(before[0], free[0]) : before[0];
    return cairn_impact_hits(before[0], free[0], closing, gap, step->h);
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
 * gap. *hit: whether any contact hits. */
static cairn_status let_bounce(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer, bool *hit)
{
    const cairn_contact_store *c = &step->world->contacts;
    double *b = own_copy(&step->world->scratch, answer->problem.b, answer->problem.contacts);
    if (!b)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < c->count; j++) {
        if (!hits(step, motion, answer, j))
            continue;
        *hit = true;
        if (bounces(c, j))
            b[j] = fmin(b[j], 0);
    }
    *hit = cairn_link_any(step->world->exchange.link, *hit);
    answer->problem.b = b;
    return CAIRN_OK;
}

/* Whether some contact hits and some contact can give impulse back, of any member. If none can
 * bounce, one phase is enough. */
static cairn_status find_impacts(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer, bool *hit)
{
    const cairn_contact_store *c = &step->world->contacts;
    bool can_bounce = false;
    *hit = false;
    for (int j = 0; step->world->materials.bouncing && !can_bounce && j < c->count; j++)
        can_bounce = bounces(c, j);
    can_bounce =
        step->world->materials.bouncing && cairn_link_any(step->world->exchange.link, can_bounce);
    return can_bounce ? let_bounce(step, motion, answer, hit) : CAIRN_OK;
}

/* Both phases of an impact; the first starts from the velocities at mid-step. */
static cairn_status solve_impact(const cairn_step *step, const cairn_solving *s,
                                 cairn_answer *answer)
{
    const cairn_contact_store *c = &step->world->contacts;
    cairn_problem first = answer->problem;
    size_t velocities = (size_t)first.blocks * (size_t)first.block_size;
    double *e = cairn_arena_doubles(s->scratch, (size_t)first.contacts);
    double *middle = cairn_arena_take(s->scratch, velocities, sizeof *middle);
    if (!e || !middle)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < c->count; j++)
        e[j] = bounces(c, j) ? c->restitution[j] : 0;
    for (size_t i = 0; i < velocities; i++)
        middle[i] = 0.5 * (answer->v_old[i] + first.v_free[i]);
    first.v_free = middle;
    return cairn_impact_solve(s, &first, e, answer);
}

/* ---- after impacts within the step ---------------------------------------------------------- */

/* Whether the impacts leave nothing to solve, of any member: u + b n lies in K* without any
 * impulse, for either law. */
static bool is_done(const cairn_problem *p, int dimension)
{
    bool done = true;
    for (int j = 0; j < p->contacts && done; j++) {
        double q[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(p, p->dimension, p->block_size, j, p->v_free, q);
        double slides = cairn_sliding_speed(dimension, 0, q);
        done = q[0] + p->b[j] >= p->mu[j] * slides;
    }
    return cairn_link_all(cairn_problem_link(p), done);
}

/* The solve after the impacts within the step; their impulses are then added to those of the solve.
 * If they leave nothing to solve, |q|_c is 0 and relative residuals have no meaning, so the solve
 * starts from its solution r = 0. */
static cairn_status solve_rest(const cairn_solving *s, const cairn_phase *by, int dimension,
                               cairn_answer *answer)
{
    size_t rows = (size_t)answer->problem.contacts * (size_t)answer->problem.dimension;
    double *r = cairn_arena_take(s->scratch, rows, sizeof *r);
    if (!r)
        return CAIRN_NO_MEMORY;
    if (is_done(&answer->problem, dimension))
        memset(answer->r, 0, rows * sizeof *answer->r);
    TRY(by->solve(s, by->context, answer));
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
    const cairn_solving s = solving_of(step, varies ? &law : NULL);
    const grouping by = { step, motion };
    const cairn_phase groups = { solve_groups, cairn_phase_whole.judge, &by };
    /* at most one of them: rounds of impacts follow Newton's law and are refused with Poisson's
     * (chain.c) */
    bool chain, impact;
    if (varies)
        TRY(own_friction(s.scratch, answer));
    TRY(find_impacts(step, motion, answer, &impact));
    answer->rest.by_groups = step->options->sleep && !impact; /* two phases solve everything */
    const cairn_phase *phase = answer->rest.by_groups ? &groups : &cairn_phase_whole;
    TRY(cairn_step_chain(step, answer, &chain));
    if (chain)
        TRY(solve_rest(&s, phase, step->world->dimension, answer));
    else if (impact)
        TRY(solve_impact(step, &s, answer));
    else
        TRY(varies ? cairn_phase_with_law(&s, phase, answer)
                   : phase->solve(&s, phase->context, answer));
    return cairn_rest_settle(step, motion, answer);
}
