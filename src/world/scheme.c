/* scheme.c - the time-stepping schemes, by name. The one-step problem is the same for all of them:
 * a scheme chooses friction, the law it is judged by, and how the sliding correction s is found.
 *
 *   frictionless   mu = 0                                          [BL23] 1.3
 *   convex         s = 0: keeps a gap h mu |u_T| while sliding     [A06] (5.5), [BL23] (28)
 *   fixed-point    s = |u_T(s)|: exact Coulomb friction            [BL23] 2.2.4
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

static cairn_status solve_convex(cairn_stage *stage)
{
    cairn_solve_options options = solver_options(stage);
    return cairn_solve(&stage->problem, &options, stage->world->workspace, stage->r, stage->v,
                       stage->u, &stage->report->solve);
}

static cairn_status solve_fixed_point(cairn_stage *stage)
{
    cairn_solve_options options = solver_options(stage);
    double paper_test = stage->options->fixed_point_tolerance;
    if (paper_test > 0) /* [BL23] starts each step from s = 0 */
        memset(stage->s, 0, (size_t)stage->problem.contacts * sizeof(double));
    return cairn_solve_fixed_point(&stage->problem, &options, paper_test,
                                   stage->options->max_fixed_point, stage->world->workspace,
                                   stage->s, stage->r, stage->v, stage->u, &stage->report->solve);
}

static const cairn_scheme schemes[] = {
    { "convex", "convex relaxation: robust and fast; keeps a gap h mu |u_T| while sliding",
      CAIRN_LAW_CONVEX, CAIRN_LAW_CONVEX, false, solve_convex },
    { "fixed-point", "exact Coulomb friction by a fixed point around convex solves",
      CAIRN_LAW_COULOMB, CAIRN_LAW_CONVEX, false, solve_fixed_point },
    { "frictionless", "no friction at any contact, whatever the materials say", CAIRN_LAW_CONVEX,
      CAIRN_LAW_CONVEX, true, solve_convex },
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
