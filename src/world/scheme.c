/* scheme.c - the time-stepping schemes, by name. The one-step problem is the same for all of them:
 * a scheme chooses friction, the law it is judged by, and how the sliding correction s is found.
 *
 *   frictionless       mu = 0                                          [BL23] 1.3
 *   convex             s = 0: keeps a gap h mu |u_T| while sliding     [A06] (5.5), [BL23] (28)
 *   convex-polyhedral  the same on cones with edges                    [A06] (5.1), [A05]
 *   auto               s = |u_T| only where that gap is above a tolerance (mixed.c)
 *   coulomb            s = |u_T|: exact Coulomb friction, left to the solver
 *   fixed-point        s = |u_T(s)|: exact Coulomb friction            [BL23] 2.2.4
 *   coulomb-newton     the same s by a damped Newton method            [C09]
 *   lcp                exact Coulomb friction on cones with edges      [A05], [ST96] (29)
 *   stewart-trinkle    lcp with gaps and rows of q + h v, then of the result: g(q+) >= 0   [ST96] 3
 *   moreau-jean        exact Coulomb friction at velocity level, for contacts that overlap at
 *                      q + h v/2: no gap in the bias, so overlaps stay as they are
 * The letters in brackets are in docs/references.md. */
#include "world/scheme.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

/* One call of the solver, with the law of the scheme. */
static cairn_status solve_directly(const cairn_scheme_job *job)
{
    return cairn_solve(job->problem, &job->options, job->workspace, job->loop.r, job->loop.v,
                       job->loop.u, job->report);
}

/* Whether the solver treats a law on this problem, where it runs. */
static bool accepts(const cairn_scheme_job *job, cairn_law law)
{
    return cairn_solver_accepts_on(job->options.backend, job->options.solver, law, job->problem);
}

typedef cairn_status outer_loop(const cairn_problem *, const cairn_solve_options *,
                                const cairn_sliding_loop *, cairn_workspace *,
                                cairn_solve_report *);

/* A loop that ended without an answer may leave bodies without impulses: the law itself goes to the
 * solver, where it treats it, from the impulses that the loop left. The better of both is taken. */
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

/* An outer loop on s around convex solves. */
static cairn_status solve_around(const cairn_scheme_job *job, outer_loop *loop)
{
    bool by_change = job->loop.increment_tolerance > 0;
    if (by_change) /* [BL23] starts each step from s = 0 */
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

static bool starts_from_nothing(const cairn_scheme_job *job)
{
    size_t size = (size_t)job->problem->contacts * (size_t)job->problem->dimension;
    for (size_t i = 0; i < size; i++)
        if (job->loop.r[i] != 0)
            return false;
    return job->problem->contacts > 1;
}

/* Exact friction may have several solutions, and a pile that can stand also one in which it falls.
 * Where nothing slides the convex law is Coulomb's, and its velocity is unique: its answer is the
 * start where there is no other, so that what can rest does. It may take half of the iterations. */
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

/* Exact friction: directly where the solver can, else by the fixed point. */
static cairn_status solve_exactly(const cairn_scheme_job *job)
{
    const cairn_solve_options *o = &job->options;
    bool direct = accepts(job, CAIRN_LAW_COULOMB);
    bool both = direct && accepts(job, CAIRN_LAW_CONVEX);
    bool open = strcmp(o->solver, "auto") == 0; /* a method asked for by name starts by itself */
    if (both && open && starts_from_nothing(job))
        return solve_from_convex(job);
    return direct ? solve_directly(job) : solve_fixed_point(job);
}

enum { CONVEX = 1u << CAIRN_LAW_CONVEX, COULOMB = 1u << CAIRN_LAW_COULOMB };

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

cairn_law cairn_scheme_law(const char *name)
{
    const cairn_scheme *scheme = cairn_scheme_find(name);
    return scheme ? scheme->law : CAIRN_LAW_COUNT;
}

bool cairn_scheme_accepts(const cairn_scheme *scheme, const char *backend, const char *solver,
                          const cairn_problem *p)
{
    bool turns = p->rolling + p->spinning > 0;
    if (turns) /* no edges, and no loop on s: the solver treats the law of the scheme itself */
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

double cairn_scheme_bias(bool velocity_level, double h, const cairn_approach *at)
{
    double e = at->restitution;
    if (velocity_level)
        return e * fmin(0, at->before);
    bool closes = e > 0 && at->before < 0 && at->gap + h * at->before <= 0;
    return closes ? fmin(at->apart, e * at->before) : at->apart;
}

double cairn_scheme_ahead(const cairn_scheme *scheme, int linearisations)
{
    return scheme->velocity_level ? 0.5 : linearisations > 0 ? 1 : 0;
}

bool cairn_scheme_is_mixed(const cairn_scheme *scheme)
{
    return scheme->solve == cairn_scheme_upgrade;
}
