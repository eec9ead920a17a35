/* mixed.c - scheme auto: the convex law, and exact Coulomb friction at the contacts where the gap
 * that the convex law keeps while sliding, h mu |u_T|, is above run.model_tolerance. A step starts
 * from the contacts that were above it in the last one. */
#include "base/status.h"
#include "world/scheme.h"

cairn_status cairn_scheme_upgrade(const cairn_scheme_job *job)
{
    const cairn_problem *p = job->problem;
    cairn_upgrade upgrade = {
        .allowed = job->allowed, .max_outer = job->max_outer, .exact = job->exact, .s = job->s
    };
    for (int j = 0; j < p->contacts; j++) {
        bool pushed = job->r[(size_t)j * (size_t)p->dimension] > 0;
        upgrade.exact[j] = pushed && p->mu[j] * job->s[j] > upgrade.allowed;
        job->s[j] = upgrade.exact[j] ? job->s[j] : 0;
    }
    TRY(cairn_solve_upgrade(p, &job->options, &upgrade, job->workspace, job->r, job->v, job->u,
                            job->report));
    *job->upgraded = upgrade.count;
    return CAIRN_OK;
}
