/* scheme.c - the time-stepping schemes by name, and the options of a step. The one-step problem is
 * the same for all schemes: a scheme chooses friction, the law by which it is judged, and how the
 * sliding correction s is found (docs/schemes.md).
 *
 *     frictionless       mu = 0                                          [BL23] 1.3
 *     convex             s = 0: keeps a gap h mu |u_T| while sliding     [A06] (5.5), [BL23] (28)
 *     convex-polyhedral  the same on cones with edges                    [A06] (5.1), [A05]
 *     auto               s = |u_T| only where that gap is above a tolerance
 *     coulomb            s = |u_T|: exact Coulomb friction, left to the solver
 *     fixed-point        s = |u_T(s)|: exact Coulomb friction            [BL23] 2.2.4
 *     coulomb-newton     the same s by a damped Newton method            [C09]
 *     lcp                exact Coulomb friction on cones with edges      [A05], [ST96] (29)
 *     stewart-trinkle    lcp with gaps and rows of q + h v, then of the result: g(q+) >= 0 [ST96] 3
 *     moreau-jean        exact Coulomb friction at velocity level, for contacts that overlap at
 *                        q + h v/2: no gap in the bias, so overlaps stay as they are
 * The letters in brackets are explained in docs/references.md. */
#include "world/scheme.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "problem/cut.h"
#include "problem/operator.h"
#include "solve/solver.h"
#include "world/step.h"
#include "world/world.h"

/* Calls the solver once, with the law of the scheme. */
static cairn_status solve_directly(const cairn_scheme_job *job)
{
    return cairn_solve(job->problem, &job->options, job->workspace, job->loop.r, job->loop.v,
                       job->loop.u, job->report);
}

/* Whether the solver, on the back end of the job, treats a law for this problem. */
static bool accepts(const cairn_scheme_job *job, cairn_law law)
{
    return cairn_solver_accepts_on(job->options.backend, job->options.solver, law, job->problem);
}

/* The form of cairn_solve_fixed_point and cairn_solve_coulomb_newton. */
typedef cairn_status outer_loop(const cairn_problem *, const cairn_solve_options *,
                                const cairn_sliding_loop *, cairn_workspace *,
                                cairn_solve_report *);

/* A loop that did not converge may leave bodies without impulses. Then the law itself is given to
 * the solver, if that treats it, starting from the impulses of the loop. Solvers return the best
 * impulses that were judged, so the better of both is used. */
static cairn_status solve_after(const cairn_scheme_job *job)
{
    const cairn_solve_report loop = *job->report;
    if (!accepts(job, CAIRN_LAW_COULOMB))
        return CAIRN_OK;
    TRY(solve_directly(job));
    job->report->iterations += loop.iterations;
    job->report->outer_iterations = loop.outer_iterations;
    return CAIRN_OK;
}

/* An outer loop on s around convex solves. If it ends by the change of s, as in [BL23], its result
 * is kept even without convergence, so that it can be compared with the paper. */
static cairn_status solve_around(const cairn_scheme_job *job, outer_loop *loop)
{
    bool by_change = job->loop.increment_tolerance > 0;
    if (by_change) /* [BL23] starts every step from s = 0 */
        memset(job->loop.s, 0, (size_t)job->problem->contacts * sizeof(double));
    TRY(loop(job->problem, &job->options, &job->loop, job->workspace, job->report));
    return job->report->converged || by_change ? CAIRN_OK : solve_after(job);
}

static cairn_status solve_fixed_point(const cairn_scheme_job *job)
{
    return solve_around(job, cairn_solve_fixed_point);
}

static cairn_status solve_coulomb_newton(const cairn_scheme_job *job)
{
    return solve_around(job, cairn_solve_coulomb_newton);
}

/* Whether there is no warm start, of any member, and more than one contact. */
static bool starts_from_nothing(const cairn_scheme_job *job)
{
    size_t size = (size_t)job->problem->contacts * (size_t)job->problem->dimension;
    bool nothing = !job->problem->resident || job->nothing;
    for (size_t i = 0; !job->problem->resident && nothing && i < size; i++)
        nothing = job->loop.r[i] == 0;
    nothing = cairn_link_all(cairn_problem_link(job->problem), nothing);
    return nothing && cairn_problem_size(job->problem) > 1;
}

/* Exact friction may have several solutions; a pile that can stand may also have one in which it
 * falls. Where nothing slides, the convex law agrees with Coulomb's, and its velocity is unique. So
 * its solution is the starting point if there is no warm start, and bodies that can rest do so. The
 * convex solve may use half of the iterations. */
static cairn_status solve_from_convex(const cairn_scheme_job *job)
{
    cairn_scheme_job convex = *job;
    convex.options.law = CAIRN_LAW_CONVEX;
    convex.options.max_iterations /= 2;
    TRY(solve_directly(&convex));
    int64_t iterations = job->report->iterations;
    cairn_scheme_job exact = *job;
    exact.options.max_iterations -= iterations;
    TRY(solve_directly(&exact));
    job->report->iterations += iterations;
    return CAIRN_OK;
}

/* Exact friction: by the solver itself if it treats Coulomb's law, else by the fixed point. */
static cairn_status solve_exactly(const cairn_scheme_job *job)
{
    const cairn_solve_options *o = &job->options;
    bool direct = accepts(job, CAIRN_LAW_COULOMB);
    bool both = direct && accepts(job, CAIRN_LAW_CONVEX);
    bool open = strcmp(o->solver, "auto") == 0; /* a method chosen by name starts as given */
    if (both && open && starts_from_nothing(job))
        return solve_from_convex(job);
    return direct ? solve_directly(job) : solve_fixed_point(job);
}

enum { CONVEX = 1u << CAIRN_LAW_CONVEX, COULOMB = 1u << CAIRN_LAW_COULOMB };

/* Each entry: name, summary, law, laws of which the solver must treat one, frictionless, edges,
 * velocity level, linearisations, solve. 30 linearisations are a bound for steps that do not
 * settle; most settle within a few. */
static const cairn_scheme schemes[] = {
    { "convex", "convex relaxation: robust and fast; keeps a gap h mu |u_T| while sliding",
      CAIRN_LAW_CONVEX, CONVEX, false, false, false, 0, solve_directly },
    { "coulomb", "exact Coulomb friction, solved directly: the fastest exact scheme",
      CAIRN_LAW_COULOMB, CONVEX | COULOMB, false, false, false, 0, solve_exactly },
    { "auto", "convex, with exact Coulomb friction where the gap kept is above run.model_tolerance",
      CAIRN_LAW_CONVEX, CONVEX, false, false, false, 0, cairn_scheme_upgrade },
    { "fixed-point", "exact Coulomb friction by a fixed point around convex solves",
      CAIRN_LAW_COULOMB, CONVEX, false, false, false, 0, solve_fixed_point },
    { "coulomb-newton", "exact Coulomb friction by a Newton method around convex solves",
      CAIRN_LAW_COULOMB, CONVEX, false, false, false, 0, solve_coulomb_newton },
    { "lcp", "exact Coulomb friction on cones with edges (run.directions; 2D: exact)",
      CAIRN_LAW_COULOMB, CONVEX | COULOMB, false, true, false, 0, solve_exactly },
    { "stewart-trinkle", "lcp with gaps that hold where the step ends, not just to first order",
      CAIRN_LAW_COULOMB, CONVEX | COULOMB, false, true, false, 30, solve_exactly },
    { "convex-polyhedral", "convex relaxation on cones with edges (run.directions; 2D: exact)",
      CAIRN_LAW_CONVEX, CONVEX, false, true, false, 0, solve_directly },
    { "moreau-jean", "exact Coulomb friction at velocity level; overlaps are not mended",
      CAIRN_LAW_COULOMB, CONVEX | COULOMB, false, false, true, 0, solve_exactly },
    { "frictionless", "no friction at any contact, whatever the materials say", CAIRN_LAW_CONVEX,
      CONVEX, true, false, false, 0, solve_directly },
};

enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

const char *cairn_scheme_name(int index)
{
    return index >= 0 && index < SCHEMES ? schemes[index].name : NULL;
}

const cairn_scheme *cairn_scheme_find(const char *name)
{
    for (int i = 0; i < SCHEMES; i++)
        if (name && strcmp(schemes[i].name, name) == 0)
            return &schemes[i];
    return NULL;
}

const char *cairn_scheme_summary(const char *name)
{
    const cairn_scheme *scheme = cairn_scheme_find(name);
    return scheme ? scheme->summary : NULL;
}

/* CAIRN_LAW_COUNT if there is no such scheme. */
cairn_law cairn_scheme_law(const char *name)
{
    const cairn_scheme *scheme = cairn_scheme_find(name);
    return scheme ? scheme->law : CAIRN_LAW_COUNT;
}

bool cairn_scheme_accepts(const cairn_scheme *scheme, const char *backend, const char *solver,
                          const cairn_problem *p)
{
    bool turns = p->rolling + p->spinning > 0;
    if (turns) /* no edges, no outer loop on s: the solver must treat the scheme's own law */
        return !p->directions && !cairn_scheme_is_mixed(scheme) &&
               (scheme->solver_laws & (1u << scheme->law)) &&
               cairn_solver_accepts_on(backend, solver, scheme->law, p);
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        if ((scheme->solver_laws & (1u << law)) &&
            cairn_solver_accepts_on(backend, solver, (cairn_law)law, p))
            return true;
    return false;
}

int cairn_scheme_linearisations(const cairn_scheme *scheme, int64_t asked)
{
    return asked > 0 ? (int)asked : scheme->linearisations;
}

/* Newton's restitution acts only if the contact closes in this step. The smaller of both biases
 * demands the larger velocity of separation. What the tolerance left in the step before is no
 * impact: with e near 1 it would come back in every step, and grow. */
double cairn_scheme_bias(bool velocity_level, double h, const cairn_approach *at)
{
    double rebound = at->before < -at->error ? at->restitution * at->before : 0;
    if (velocity_level)
        return rebound;
    bool closes = rebound < 0 && at->gap + h * at->before <= 0;
    return closes ? fmin(at->apart, rebound) : at->apart;
}

double cairn_scheme_ahead(const cairn_scheme *scheme, int linearisations)
{
    return scheme->velocity_level ? 0.5 : linearisations > 0 ? 1 : 0;
}

bool cairn_scheme_is_mixed(const cairn_scheme *scheme)
{
    return scheme->solve == cairn_scheme_upgrade;
}

bool cairn_scheme_slides_fast(const cairn_solving *s, const cairn_answer *answer, int j)
{
    const cairn_problem *p = &answer->problem;
    const double *u = answer->u + (size_t)j * (size_t)p->dimension;
    return cairn_scheme_is_mixed(s->scheme) &&
           p->mu[j] * cairn_sliding_speed(p->dimension, p->directions, u) > s->allowed;
}

/* ==== convex and exact friction together ====================================================== */

/* Scheme auto: the convex law, but exact Coulomb friction at the contacts where its artefact would
 * be too large: the gap that the convex law keeps while sliding, h mu |u_T|, or, for bodies, the
 * height to which that speed throws, (mu |u_T|)^2/(2 g), is above run.model_tolerance. Both bounds
 * are given here as the speed job->allowed. A step starts from the contacts that exceeded it in the
 * last one. */

cairn_status cairn_scheme_upgrade(const cairn_scheme_job *job)
{
    const cairn_problem *p = job->problem;
    const cairn_sliding_loop *loop = &job->loop;
    cairn_upgrade upgrade = { .allowed = job->allowed, .exact = job->exact, .loop = *loop };
    for (int j = 0; j < p->contacts; j++) {
        bool pushed = loop->r[(size_t)j * (size_t)p->dimension] > 0;
        upgrade.exact[j] = pushed && p->mu[j] * loop->s[j] > upgrade.allowed;
        loop->s[j] = upgrade.exact[j] ? loop->s[j] : 0;
    }
    TRY(cairn_solve_upgrade(p, &job->options, &upgrade, job->workspace, job->report));
    *job->upgraded = upgrade.count;
    return CAIRN_OK;
}

/* ==== the options of a step =================================================================== */

/* The options of a step: defaults, table and checks. docs/scene-format.md lists them for users. */

cairn_step_options cairn_step_options_default(void)
{
    return (cairn_step_options){ .scheme = "coulomb",
                                 .solver = "auto",
                                 .backend = "host",
                                 .tolerance = 1e-3,
                                 .max_iterations = 1000,
                                 .stabilisation = 1,
                                 .overlaps = "move",
                                 .arcs = true,
                                 .directions = 8,
                                 .max_fixed_point = 100,
                                 .model_tolerance = 1e-4,
                                 .warm_start = true,
                                 .broad_phase = "auto",
                                 .reuse_pairs = true,
                                 .impact_rounds = 100,
                                 .max_substeps = 1024 };
}

static void set_default(void *options)
{
    *(cairn_step_options *)options = cairn_step_options_default();
}

static const cairn_option options[] = {
    CAIRN_LINES_SOLVING(cairn_step_options),
    CAIRN_LINE_STABILISATION(cairn_step_options),
    { "overlaps", CAIRN_OPTION_NAME, false, offsetof(cairn_step_options, overlaps), 0, 0, "",
      "move: mended without velocity; push: by velocities, as in the papers; keep: left",
      cairn_overlaps_name },
    { "arcs", CAIRN_OPTION_FLAG, false, offsetof(cairn_step_options, arcs), 0, 0, "",
      "contacts follow round walls to second order; false: to first order, as in the papers",
      NULL },
    CAIRN_LINE_DIRECTIONS(cairn_step_options),
    CAIRN_LINE_LINEARISATIONS(cairn_step_options),
    { "fixed_point_tolerance", CAIRN_OPTION_REAL, false,
      offsetof(cairn_step_options, fixed_point_tolerance), 0, 1, "",
      "fixed-point, coulomb-newton: > 0 stops on the change of s as in [BL23]; 0 on the tolerance",
      NULL },
    { "max_fixed_point", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, max_fixed_point),
      1, 1e6, "",
      "fixed-point, coulomb-newton, auto: most convex solves; friction laws: most updates of mu",
      NULL },
    CAIRN_LINE_MODEL_TOLERANCE(cairn_step_options),
    { "impact_rounds", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, impact_rounds), 0,
      1e6, "", "Newton's restitution: most impacts one after the other in a step; 0: all at once",
      NULL },
    { "max_substeps", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, max_substeps), 1,
      CAIRN_MOST_SUBSTEPS, "",
      "most that a step is divided into where bodies move too far in it; 1: it is refused", NULL },
    { "parts", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, parts), 0,
      CAIRN_MOST_PARTS, "",
      "that sweeps keep the bodies in, results depend on it; 0: by the number of contacts", NULL },
    { "margin", CAIRN_OPTION_REAL, false, offsetof(cairn_step_options, margin), 0, 1e12, "m",
      "candidates cover at least this much motion of each body; 0: what the step can need", NULL },
    { "warm_start", CAIRN_OPTION_FLAG, false, offsetof(cairn_step_options, warm_start), 0, 0, "",
      "start from the impulses of the last step", NULL },
    { "broad_phase", CAIRN_OPTION_NAME, false, offsetof(cairn_step_options, broad_phase), 0, 0, "",
      "how pairs that may touch are found", cairn_broad_phase_name },
    { "reuse_pairs", CAIRN_OPTION_FLAG, false, offsetof(cairn_step_options, reuse_pairs), 0, 0, "",
      "pairs found once serve while nothing leaves its place; never changes a result", NULL },
    { "sleep", CAIRN_OPTION_FLAG, false, offsetof(cairn_step_options, sleep), 0, 0, "",
      "groups at rest whose impulses still meet the tolerance are not solved again", NULL },
    { "threads", CAIRN_OPTION_INTEGER, false, offsetof(cairn_step_options, threads), 0, 4096, "",
      "worker threads; 0: as many as the machine has", NULL },
};

const cairn_record *cairn_step_record(void)
{
    static const cairn_record record = { .name = "step",
                                         .summary = "how the world steps; keys of run:",
                                         .size = sizeof(cairn_step_options),
                                         .set_default = set_default,
                                         .options = options,
                                         .option_count = sizeof options / sizeof options[0] };
    return &record;
}

/* Whether the solver treats the problems of the scheme, with so many further components of a
 * contact for rolling and spinning. */
static bool solver_goes_with(const cairn_step_options *step, int dimension, int rolling,
                             int spinning)
{
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    bool edges = scheme->edges && dimension == 3;
    cairn_problem kind = { .dimension = dimension + rolling + spinning,
                           .rolling = rolling,
                           .spinning = spinning,
                           .directions = edges ? (int)step->directions : 0 };
    return cairn_scheme_accepts(scheme, step->backend, step->solver, &kind);
}

/* Checks that need no world. Combinations that a step could not honour are refused here, not
 * ignored: sleep keeps impulses from one step to the next, so it needs the warm start. */
cairn_status cairn_step_options_check(const cairn_step_options *step, int dimension,
                                      cairn_error *error)
{
    TRY(cairn_record_check(cairn_step_record(), step, error));
    TRY(cairn_solver_check(step->solver, step->backend, error));
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    bool on_host = strcmp(step->backend, cairn_backend_name(0)) == 0;
    if (step->directions % 2)
        return cairn_fail(error, CAIRN_BAD_INPUT, "directions",
                          "found %lld, expected an even number", (long long)step->directions);
    if (scheme->velocity_level && step->linearisations)
        return cairn_fail(error, CAIRN_BAD_INPUT, "linearisations",
                          "found %lld, expected 0: the scheme %s does not use gaps",
                          (long long)step->linearisations, step->scheme);
    if (step->sleep && cairn_scheme_is_mixed(scheme))
        return cairn_fail(error, CAIRN_UNSUPPORTED, "sleep",
                          "found true with the scheme %s, expected another scheme: which of its "
                          "contacts have exact friction is found for all together",
                          step->scheme);
    if (step->sleep && !step->warm_start)
        return cairn_fail(error, CAIRN_BAD_INPUT, "sleep",
                          "found true with warm_start false, expected true: what sleeps keeps its "
                          "impulses");
    if (!solver_goes_with(step, dimension, 0, 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "solver",
                          "%s does not treat the %s cones in %dD that the scheme %s has%s%s; "
                          "see cairn list solvers",
                          step->solver, scheme->edges ? "edged" : "circular", dimension,
                          step->scheme, on_host ? "" : " on the back end ",
                          on_host ? "" : step->backend);
    return CAIRN_OK;
}

/* Rolling and spinning friction, if some material has it. If even the default solver cannot treat
 * it, the scheme is to blame, otherwise the solver; the message names the key to change. */
static cairn_status check_turning(const cairn_world *world, const cairn_step_options *step,
                                  cairn_error *error)
{
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    int d = world->dimension, rolling = world->materials.laws.rolling ? d - 1 : 0,
        spinning = world->materials.laws.spinning;
    if (rolling + spinning == 0 || scheme->frictionless)
        return CAIRN_OK;
    if (cairn_materials_have_poisson(world))
        return cairn_fail(
            error, CAIRN_UNSUPPORTED, "scheme",
            "a material has rolling or spinning friction and one bounces by Poisson's "
            "law, expected restitution_law newton or no restitution");
    cairn_step_options usual = *step;
    usual.solver = "auto";
    if (!solver_goes_with(&usual, d, rolling, spinning))
        return cairn_fail(
            error, CAIRN_UNSUPPORTED, "scheme",
            "found %s, expected one that treats rolling and spinning friction (convex, "
            "coulomb, moreau-jean, frictionless): a material has it",
            step->scheme);
    if (!solver_goes_with(step, d, rolling, spinning))
        return cairn_fail(
            error, CAIRN_UNSUPPORTED, "solver",
            "%s does not treat rolling and spinning friction with the scheme %s, and a "
            "material has it; see cairn list solvers",
            step->solver, step->scheme);
    return CAIRN_OK;
}

/* Rows of joints: not every solver treats rows with bounds, nor do the two phases of Poisson's
 * impacts. A problem with one such row stands for all. */
static cairn_status check_joints(const cairn_world *world, const cairn_step_options *step,
                                 cairn_error *error)
{
    const uint8_t bounded = 1;
    const double lower[3] = { -INFINITY, -INFINITY, -INFINITY };
    const double upper[3] = { INFINITY, INFINITY, INFINITY };
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    bool edges = scheme->edges && world->dimension == 3;
    cairn_problem kind = { .dimension = world->dimension,
                           .directions = edges ? (int)step->directions : 0,
                           .contacts = 1,
                           .bounded = &bounded,
                           .lower = lower,
                           .upper = upper };
    if (world->joints.count == 0)
        return CAIRN_OK;
    if (!cairn_scheme_accepts(scheme, step->backend, step->solver, &kind))
        return cairn_fail(error, CAIRN_UNSUPPORTED, "solver",
                          "%s does not treat the rows of joints with the scheme %s; "
                          "see cairn list solvers",
                          step->solver, step->scheme);
    if (cairn_materials_have_poisson(world))
        return cairn_fail(error, CAIRN_UNSUPPORTED, "restitution_law",
                          "found poisson in a world with joints, expected newton");
    return CAIRN_OK;
}

static bool has_nan(cairn_vec3 v)
{
    return isnan(v.x) || isnan(v.y) || isnan(v.z);
}

/* What probes name must exist; bodies may be gone by now. */
static cairn_status check_probes(const cairn_world *world, const cairn_step_options *step,
                                 cairn_error *error)
{
    if (step->probe_count < 0 || step->probe_count > CAIRN_MOST_PROBES)
        return cairn_fail(error, CAIRN_BAD_INPUT, "probes", "found %d, expected at most %d",
                          step->probe_count, CAIRN_MOST_PROBES);
    for (int k = 0; k < step->probe_count; k++) {
        const cairn_probe *probe = &step->probes[k];
        if (probe->joint >= (int64_t)world->joints.count)
            return cairn_fail(error, CAIRN_BAD_INPUT, "probes",
                              "found joint %lld in probe %d, expected one of %zu joints",
                              (long long)probe->joint, k, world->joints.count);
        if (!isfinite(probe->about.x + probe->about.y + probe->about.z))
            return cairn_fail(error, CAIRN_NOT_FINITE, "probes",
                              "the point of the torque of probe %d is not finite", k);
        if (probe->boxed && (has_nan(probe->low) || has_nan(probe->high)))
            return cairn_fail(error, CAIRN_NOT_FINITE, "probes",
                              "a side of the box of probe %d is not a number", k);
    }
    return CAIRN_OK;
}

/* Walls of cells move along one axis alone: joints cannot hold them, and they never rest for good,
 * since their forces follow the places of others. */
static cairn_status check_cells(const cairn_world *world, const cairn_step_options *step,
                                cairn_error *error)
{
    if (world->driven.cells.count == 0)
        return CAIRN_OK;
    if (step->sleep)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "sleep",
                          "found true in a world with cells, expected false");
    for (size_t k = 0; k < world->joints.count; k++) {
        const cairn_joint_def *def = &world->joints.items[k].def;
        if (world->joints.items[k].alive &&
            (cairn_cells_move(world, def->a.uid) || cairn_cells_move(world, def->b.uid)))
            return cairn_fail(error, CAIRN_UNSUPPORTED, "joints",
                              "joint %d holds a wall that a cell moves", (int)k);
    }
    return CAIRN_OK;
}

/* Checks that depend on the world. It runs at the start of every step, since the world may change
 * between steps. */
cairn_status cairn_world_step_check(const cairn_world *world, const cairn_step_options *step,
                                    cairn_error *error)
{
    TRY(cairn_step_options_check(step, world->dimension, error));
    const cairn_scheme *scheme = cairn_scheme_find(step->scheme);
    if (world->materials.friction_varies && scheme->law != CAIRN_LAW_COULOMB &&
        !scheme->frictionless)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "scheme",
                          "found %s, expected a scheme of exact Coulomb friction (coulomb, "
                          "fixed-point, ...): a friction law depends on the sliding speed",
                          step->scheme);
    if (world->materials.friction_varies && world->materials.laws.anisotropic &&
        !scheme->frictionless)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "scheme",
                          "a material has friction_2 and one a friction_law that depends on the "
                          "sliding speed, expected one of the two");
    if (world->materials.friction_varies && step->sleep && !scheme->frictionless)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "sleep",
                          "found true, expected false: a friction law depends on the sliding "
                          "speed, which who sleeps has not");
    TRY(cairn_exchange_check(world, step, error));
    TRY(cairn_lattice_check(world, step, error));
    TRY(check_turning(world, step, error));
    TRY(check_probes(world, step, error));
    TRY(check_cells(world, step, error));
    return check_joints(world, step, error);
}

/* ---- the impulses of a problem --------------------------------------------------------------- */

/* The impulses of a problem by the scheme, with outer iterations for what a scheme does
 * not treat itself.
 *
 * Friction that depends on the sliding speed: mu is found together with the speed,
 *    (1) mu = mu(|u_T|) with the velocity before the step
 *    (2) solve with this mu
 *    (3) mu = mu(|u_T|) with the velocity found; done if the impulses still satisfy the law with
 *        the new mu, by the judge, else (2). With fixed_point_tolerance > 0 the change of mu is
 *        compared with that instead.
 * mu falls with the speed and the speed with mu, so for one contact the iterates are monotone and
 * converge for any time step. Where several mu are solutions (steps too long for a steep law) the
 * motion before the step decides: a contact that sticks continues to stick if it can.
 *
 * Poisson's law of impact, in a step in which something hits and a contact with that law is near:
 *    (1) compression: r_c from the velocities that the caller gives, hit contacts with b = 0
 *    (2) decompression: M (v+ - v_free) = H'(r_c + x), x_N >= e r_cN, solve/decompression.c
 * Contacts without Poisson's e take part in both phases with their own bias. */

enum { MOST_MISSED = 3 }; /* consecutive solves that miss their tolerance: more do not help */

/* ---- one phase ------------------------------------------------------------------------------ */

/* The job of one solve, on the arrays of the answer, whose impulses are the warm start. */
cairn_scheme_job cairn_solving_job(const cairn_solving *s, const cairn_answer *answer)
{
    return (cairn_scheme_job){ .problem = &answer->problem,
                               .options = s->options,
                               .loop = { s->fixed_point_tolerance, s->max_fixed_point, answer->s,
                                         answer->r, answer->v, answer->u },
                               .workspace = s->workspace,
                               .report = s->report };
}

/* What scheme auto needs in addition: the marks of contacts with exact friction, and s as data of
 * the law by which the step is judged. */
cairn_status cairn_prepare_upgrade(const cairn_solving *s, cairn_answer *answer, int count,
                                   cairn_scheme_job *job)
{
    size_t all = (size_t)answer->problem.contacts;
    job->allowed = s->allowed;
    job->upgraded = s->upgraded;
    answer->exact = cairn_arena_take(s->scratch, all, 1);
    answer->s_held = answer->s;
    if (!answer->exact)
        return CAIRN_NO_MEMORY;
    memset(answer->exact, 0, all);
    job->exact =
        (size_t)count == all ? answer->exact : cairn_arena_take(s->scratch, (size_t)count, 1);
    return job->exact ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* All contacts in one problem. s_held and exact are set only by a mixed scheme, so they are
 * reset. */
static cairn_status solve_whole(const cairn_solving *s, const void *context, cairn_answer *answer)
{
    cairn_scheme_job job = cairn_solving_job(s, answer);
    (void)context;
    answer->s_held = NULL;
    answer->exact = NULL;
    if (cairn_scheme_is_mixed(s->scheme))
        TRY(cairn_prepare_upgrade(s, answer, job.problem->contacts, &job));
    return s->scheme->solve(&job);
}

static void judge_whole(const cairn_solving *s, cairn_answer *answer, cairn_judgement *out)
{
    cairn_problem p = answer->problem;
    if (answer->s_held)
        p.s = answer->s_held;
    cairn_judge(&p, s->scheme->law, answer->r, answer->v, answer->u, out);
    if (p.cut) /* as cairn_solve does: contacts between parts are the same for both */
        cairn_problem_relative(&p, answer->r, answer->v, answer->u);
}

const cairn_phase cairn_phase_whole = { solve_whole, judge_whole, NULL };

void cairn_judge_whole(const cairn_solving *s, cairn_answer *answer)
{
    cairn_solve_report *report = s->report;
    judge_whole(s, answer, &report->judgement);
    if (!(s->fixed_point_tolerance > 0))
        report->converged = report->judgement.asked.relative <= s->options.tolerance;
}

/* ---- friction laws -------------------------------------------------------------------------- */

/* A report that did not converge says how much mu still changed. */
static void remark_friction(cairn_solve_report *report, int64_t updates, double change)
{
    snprintf(report->remark, sizeof report->remark,
             "friction law: mu changed by %.1e in update %lld, the last one", change,
             (long long)updates);
}

/* (2) with half the tolerance, so that (3) can end although its mu differs slightly. */
static cairn_status solve_closer(const cairn_solving *s, const cairn_phase *by,
                                 cairn_answer *answer)
{
    cairn_solving closer = *s;
    closer.options.tolerance = 0.5 * s->options.tolerance;
    return by->solve(&closer, by->context, answer);
}

/* The report gives the largest number of iterations of any of the solves, because each solves a
 * different problem, but the sum of the outer iterations. */
cairn_status cairn_phase_with_law(const cairn_solving *s, const cairn_phase *by,
                                  cairn_answer *answer)
{
    const cairn_speed_friction *friction = s->friction;
    cairn_solve_report *report = s->report;
    double stop = s->fixed_point_tolerance, change = 0;
    int64_t iterations = 0, outer = 0, updates = 0;
    int missed = 0;
    bool done = false;
    friction->start(friction->context, answer);
    while (!done && updates < s->max_fixed_point && missed < MOST_MISSED) {
        TRY(solve_closer(s, by, answer));
        missed = report->converged ? 0 : missed + 1;
        change = friction->update(friction->context, answer);
        by->judge(s, answer, &report->judgement);
        done = stop > 0 ? change <= stop && report->converged
                        : report->judgement.asked.relative <= s->options.tolerance;
        if (report->iterations > iterations)
            iterations = report->iterations; /* each solve is a problem of its own */
        outer += report->outer_iterations;
        updates++;
    }
    report->converged = done;
    report->iterations = iterations;
    report->outer_iterations = outer;
    *friction->change = change;
    if (!done)
        remark_friction(report, updates, change);
    return CAIRN_OK;
}

/* ---- Poisson's law -------------------------------------------------------------------------- */

/* Whether a contact hits: it closes faster than forces accelerate it within a step. A slower one
 * counts as resting contact, which must not bounce. */
bool cairn_impact_hits(double before, double free, double closing, double gap, double h)
{
    return before < -fabs(free - before) && gap + h * closing <= 0;
}

/* The second phase as a problem, with r_c and the lower bounds e r_cN of its normal impulses. */
static cairn_decompression decompression_of(const cairn_solving *s, const cairn_answer *answer)
{
    return (cairn_decompression){ &answer->problem, answer->compression, answer->floor,
                                  s->scratch };
}

/* It has a method of its own, whatever solver the options name; law and tolerance are theirs. */
static cairn_status solve_decompression(const cairn_solving *s, const void *context,
                                        cairn_answer *answer)
{
    const cairn_decompression d = decompression_of(s, answer);
    cairn_solve_options own = cairn_solve_options_default();
    (void)context;
    own.law = s->scheme->law;
    own.tolerance = s->options.tolerance;
    own.max_iterations = s->options.max_iterations;
    return cairn_decompression_solve(&d, &own, answer->r, answer->v, answer->u, s->report);
}

static void judge_decompression(const cairn_solving *s, cairn_answer *answer, cairn_judgement *out)
{
    const cairn_decompression d = decompression_of(s, answer);
    cairn_decompression_judge(&d, s->scheme->law, answer->r, answer->v, answer->u, out);
}

static const cairn_phase decompression = { solve_decompression, judge_decompression, NULL };

/* One phase, with a limited number of iterations and, where mu varies, the loop around it. */
static cairn_status solve_limited(const cairn_solving *s, const cairn_phase *by, int64_t most,
                                  cairn_answer *answer)
{
    cairn_solving fewer = *s;
    fewer.options.max_iterations = most;
    return s->friction ? cairn_phase_with_law(&fewer, by, answer)
                       : by->solve(&fewer, by->context, answer);
}

/* Keeps what (2) and the certificate need of (1): impulses, mu and lower bounds. `shown` makes the
 * problem of the compression visible to the user, since that of (2) has another form. */
static cairn_status keep_compression(const cairn_solving *s, const double *e, cairn_answer *answer)
{
    size_t d = (size_t)answer->problem.dimension, contacts = (size_t)answer->problem.contacts;
    double *mu = cairn_arena_doubles(s->scratch, contacts);
    answer->floor = cairn_arena_doubles(s->scratch, contacts);
    answer->compression = cairn_arena_doubles(s->scratch, contacts * d);
    if (!mu || !answer->floor || !answer->compression)
        return CAIRN_NO_MEMORY;
    for (size_t j = 0; j < contacts; j++)
        if (e[j] > 0)
            answer->floor[j] = e[j] * fmax(0, answer->r[j * d]);
    memcpy(mu, answer->problem.mu, contacts * sizeof(double));
    memcpy(answer->compression, answer->r, contacts * d * sizeof(double));
    answer->shown = answer->problem;
    answer->shown.mu = mu; /* (2) may change the other */
    answer->shown_r = answer->compression;
    return CAIRN_OK;
}

/* (1): a negative bias, which corrects an overlap, would be returned as a bounce. So b is at least
 * 0 at contacts that bounce, and overlaps are left to (2). */
static cairn_status compress(const cairn_solving *s, const cairn_bounce *bounce, int64_t most,
                             cairn_answer *answer)
{
    const cairn_problem both = answer->problem;
    const double *e = bounce->e;
    double *b = cairn_arena_doubles(s->scratch, (size_t)both.contacts);
    if (!b)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < both.contacts; j++)
        b[j] = e[j] > 0 ? fmax(both.b[j], 0) : both.b[j];
    answer->problem = *bounce->first;
    answer->problem.b = b;
    if (bounce->step)
        cairn_step_rescale(bounce->step, answer);
    TRY(solve_limited(s, bounce->phase, most, answer));
    if (both.directions && s->circular)
        cairn_judge_circular(&answer->problem, answer->r, answer->v, answer->u,
                             &s->report->judgement);
    TRY(keep_compression(s, e, answer));
    answer->problem = both;
    answer->problem.directions = 0; /* (2) has round cones, which its scales must know */
    if (bounce->step)
        cairn_step_rescale(bounce->step, answer);
    answer->problem.directions = both.directions;
    return CAIRN_OK;
}

/* Compression may use half of the iterations, decompression all that remain. The second phase
 * starts from r_c plus the lower bounds, which satisfies them. */
cairn_status cairn_impact_solve(const cairn_solving *s, const cairn_bounce *bounce,
                                cairn_answer *answer)
{
    size_t d = (size_t)bounce->first->dimension;
    int64_t all = s->options.max_iterations;
    TRY(compress(s, bounce, all - all / 2, answer));
    answer->s_held = NULL; /* (2) is judged with s = 0 or the law's own */
    const cairn_solve_report compressed = *s->report;
    double change = s->friction ? *s->friction->change : 0;
    for (int j = 0; j < answer->problem.contacts; j++)
        answer->r[(size_t)j * d] += answer->floor[j];
    TRY(solve_limited(s, &decompression, all - compressed.iterations, answer));
    if (s->friction)
        *s->friction->change = fmax(change, *s->friction->change);
    cairn_decompression_report(&compressed, s->report);
    return CAIRN_OK;
}
