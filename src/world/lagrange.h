/* lagrange.h - a system in generalised coordinates, from inside. */
#ifndef CAIRN_WORLD_LAGRANGE_H
#define CAIRN_WORLD_LAGRANGE_H

#include "base/arena.h"
#include "cairn/lagrange.h"

struct cairn_lagrange {
    cairn_lagrange_system system;
    double time;
    double *q, *v; /* coordinates                                       */
    double *r;     /* dimension per contact: impulses of the last step  */
    double *s;     /* per contact: sliding correction of the last step  */
    cairn_arena owned, scratch;
    cairn_workspace *workspace;
};

/* cairn_solve_fixed_point, cairn_solve_coulomb_newton */
typedef cairn_status cairn_outer_loop(const cairn_problem *, const cairn_solve_options *, double,
                                      int64_t, cairn_workspace *, double *, double *, double *,
                                      double *, cairn_solve_report *);

typedef struct cairn_lagrange_scheme {
    const char *name;
    cairn_law law;          /* by which the step is judged                       */
    bool frictionless;      /* mu = 0 everywhere                                 */
    bool edges;             /* cones with edges, in 3D                           */
    cairn_outer_loop *loop; /* around convex solves; NULL: one call of a solver  */
} cairn_lagrange_scheme;

/* The scheme of a name, NULL when unknown. */
const cairn_lagrange_scheme *cairn_lagrange_scheme_find(const char *name);

#endif
