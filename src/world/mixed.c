/* mixed.c - scheme auto: the convex law, and exact Coulomb friction at the contacts where the gap
 * that the convex law keeps while sliding, h mu |u_T|, or the height to which that speed throws,
 * (mu |u_T|)^2/(2 g), is above run.model_tolerance. A step starts
 * from the contacts that were above it in the last one. */
#include "base/status.h"
#include "world/scheme.h"

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
