/* scheme.c - the time-stepping schemes, by name. The one-step problem is the same for all of them:
 * a scheme chooses friction, the law it is judged by, and how the sliding correction s is found.
 *
 *   frictionless       mu = 0                                          [BL23] 1.3
 *   convex             s = 0: keeps a gap h mu |u_T| while sliding     [A06] (5.5), [BL23] (28)
 *   convex-polyhedral  the same on cones with edges                    [A06] (5.1), [A05]
 *   coulomb            s = |u_T|: exact Coulomb friction, left to the solver
 *   fixed-point        s = |u_T(s)|: exact Coulomb friction            [BL23] 2.2.4
 *   coulomb-newton     the same s by a damped Newton method            [C09]
 *   lcp                exact Coulomb friction on cones with edges      [A05], [ST96] (29)
 *   moreau-jean        exact Coulomb friction at velocity level, for contacts that overlap at
 *                      q + h v/2: no gap in the bias, so overlaps stay as they are
 * The letters in brackets are in docs/references.md. */
#include "world/scheme.h"

#include <string.h>

#include "base/status.h"

static cairn_solve_options solver_options(const cairn_stage *stage)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = stage->options->solver;
    options.law = stage->scheme->law;
    options.tolerance = stage->options->tolerance;
    options.max_iterations = stage->options->max_iterations;
    return options;
}

/* One call of the solver, with the law of the scheme. */
static cairn_status solve_directly(cairn_stage *stage)
{
    cairn_solve_options options = solver_options(stage);
    return cairn_solve(&stage->problem, &options, stage->world->workspace, stage->r, stage->v,
                       stage->u, &stage->report->solve);
}

typedef cairn_status outer_loop(const cairn_problem *, const cairn_solve_options *, double, int64_t,
                                cairn_workspace *, double *, double *, double *, double *,
                                cairn_solve_report *);

/* An outer loop on s around convex solves. */
static cairn_status solve_around(cairn_stage *stage, outer_loop *loop)
{
    cairn_solve_options options = solver_options(stage);
    double paper_test = stage->options->fixed_point_tolerance;
    if (paper_test > 0) /* [BL23] starts each step from s = 0 */
        memset(stage->s, 0, (size_t)stage->problem.contacts * sizeof(double));
    return loop(&stage->problem, &options, paper_test, stage->options->max_fixed_point,
                stage->world->workspace, stage->s, stage->r, stage->v, stage->u,
                &stage->report->solve);
}

static cairn_status solve_fixed_point(cairn_stage *stage)
{
    return solve_around(stage, cairn_solve_fixed_point);
}

static cairn_status solve_coulomb_newton(cairn_stage *stage)
{
    return solve_around(stage, cairn_solve_coulomb_newton);
}

/* Exact friction: directly where the solver can, else by the fixed point. */
static cairn_status solve_exactly(cairn_stage *stage)
{
    const char *solver = stage->options->solver;
    bool direct = cairn_solver_accepts(solver, CAIRN_LAW_COULOMB, &stage->problem);
    return direct ? solve_directly(stage) : solve_fixed_point(stage);
}

enum { CONVEX = 1u << CAIRN_LAW_CONVEX, COULOMB = 1u << CAIRN_LAW_COULOMB };

static const cairn_scheme schemes[] = {
    { "convex", "convex relaxation: robust and fast; keeps a gap h mu |u_T| while sliding",
      CAIRN_LAW_CONVEX, CONVEX, false, false, false, solve_directly },
    { "coulomb", "exact Coulomb friction, solved directly: the fastest exact scheme",
      CAIRN_LAW_COULOMB, CONVEX | COULOMB, false, false, false, solve_exactly },
    { "fixed-point", "exact Coulomb friction by a fixed point around convex solves",
      CAIRN_LAW_COULOMB, CONVEX, false, false, false, solve_fixed_point },
    { "coulomb-newton", "exact Coulomb friction by a Newton method around convex solves",
      CAIRN_LAW_COULOMB, CONVEX, false, false, false, solve_coulomb_newton },
    { "lcp", "exact Coulomb friction on cones with edges (run.directions; 2D: exact)",
      CAIRN_LAW_COULOMB, CONVEX | COULOMB, false, true, false, solve_exactly },
    { "convex-polyhedral", "convex relaxation on cones with edges (run.directions; 2D: exact)",
      CAIRN_LAW_CONVEX, CONVEX, false, true, false, solve_directly },
    { "moreau-jean", "exact Coulomb friction at velocity level; overlaps are not mended",
      CAIRN_LAW_COULOMB, CONVEX | COULOMB, false, false, true, solve_exactly },
    { "frictionless", "no friction at any contact, whatever the materials say", CAIRN_LAW_CONVEX,
      CONVEX, true, false, false, solve_directly },
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
