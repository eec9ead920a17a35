/* scales.c - the velocities S_j and C_j to which the error of each contact is related (residual.c).
 *
 * A tolerance is a promise about every contact:
 *     e_j <= 10 tol/(1 + 9 tol) max(S_j, min(w |r_j|, C_j)),    with
 *     c_j = max(0, -(q_N + b)_j)             (m/s)
 * what the contact has to remove: the velocity at which it closes beyond its gap without any
 * impulse. Sliding does not count. For rows with bounds c_j is the error of r = 0.
 *     C_j = max max(c_i, k_i/1000)  over the group of j,    S_j = max(c_j, h |g|, C_j/1000),
 *     k_i = mu |q_T| - (q_N + b),            the same with moments of rolling and spinning,
 * which is what the convex law has to remove: sliding alone must not make its errors infinite where
 * nothing closes and there is no gravity.
 * A group is what candidate contacts and joints connect (groups.c), so that nothing elsewhere in
 * the world has a say. h |g|, which gravity adds in a step, is the floor: at rest, contacts inside
 * a heap close at 0. An impact acts on contacts that do not close themselves, with w |r_j|; C_j
 * bounds what this allows, so that impulses that grow because contacts are wedged do not allow any
 * error. C_j/1000 is for contacts without impulse in worlds without gravity. */
#include <math.h>

#include "base/common.h"
#include "base/parallel.h"
#include "math/vec.h"
#include "problem/cone.h"
#include "problem/cut.h"
#include "problem/judge.h"
#include "problem/operator.h"
#include "world/groups.h"

enum { SCALE_GRAIN = 4096 }; /* contacts in one piece of parallel work */

static const double least_share = 1e-3;

typedef struct scale_job {
    const cairn_problem *p;
    const cairn_groups *groups;
    double *scale, *most; /* m/s: first c_j and max(c_j, k_j/1000), then S_j and C_j */
    double floor;         /* m/s */
} scale_job;

/* What rows with bounds have to remove: |w P(-q/w)|. */
static double closing_of_rows(const cairn_problem *p, int j, const double *q)
{
    double w[CAIRN_MAX_DIMENSION], step[CAIRN_MAX_DIMENSION], sum = 0;
    cairn_contact_scales(p, j, w);
    for (int i = 0; i < p->dimension; i++)
        step[i] = -q[i] / w[i];
    cairn_rows_project(p, j, step);
    for (int i = 0; i < p->dimension; i++)
        sum += w[i] * w[i] * step[i] * step[i];
    return sqrt(sum);
}

/* c_j and max(c_j, k_j/1000) */
static void closing_range(int begin, int end, void *context)
{
    const scale_job *job = context;
    const cairn_problem *p = job->p;
    for (int j = begin; j < end; j++) {
        double q[CAIRN_MAX_DIMENSION];
        cairn_contact_velocity(p, j, NULL, p->v_free, q);
        bool rows = p->bounded && p->bounded[j];
        double closing = rows ? closing_of_rows(p, j, q) : -(q[0] + cairn_contact_bias(p, j));
        double lift = cairn_contact_sliding(p, j, q);
        job->scale[j] = closing > 0 ? closing : 0; /* not -0: errors are divided by it */
        job->most[j] = cairn_larger(job->scale[j], least_share * (closing + lift));
    }
}

/* C_j of each group, of all members. */
static void find_closing(const scale_job *job, cairn_groups *g)
{
    const cairn_problem *p = job->p;
    for (int j = 0; j < p->contacts; j++) {
        cairn_group *own = cairn_group_of(p, g, j);
        if (own)
            own->closing = cairn_larger(own->closing, job->most[j]);
    }
    cairn_groups_spread(p, g, CAIRN_TOLD_CLOSING);
}

/* C_j and S_j */
static void scale_range(int begin, int end, void *context)
{
    const scale_job *job = context;
    for (int j = begin; j < end; j++) {
        const cairn_group *own = cairn_group_of(job->p, job->groups, j);
        double most = own ? own->closing : job->most[j];
        double least = cairn_larger(job->floor, least_share * most);
        job->most[j] = most;
        job->scale[j] = cairn_larger(job->scale[j], least);
    }
}

double cairn_step_promised(const cairn_step *step)
{
    double share = cairn_smaller(1, cairn_largest_share * step->options->tolerance);
    return share * step->h * cairn_norm(step->world->gravity);
}

double cairn_step_closed(const cairn_step *step, double size)
{
    static const double half = 0.5, most_share = 1e-5;
    return cairn_smaller(half * step->h * cairn_step_promised(step), most_share * size);
}

void cairn_step_rescale(const cairn_step *step, cairn_answer *answer)
{
    cairn_problem *p = &answer->problem;
    scale_job job = { .p = p,
                      .groups = &answer->rest.groups,
                      .scale = (double *)p->scale, /* the arena's: the problem only lends them */
                      .most = (double *)p->most,
                      .floor = step->h * cairn_norm(step->world->gravity) };
    if (!p->scale)
        return;
    for (int i = 0; i < p->blocks; i++)
        answer->rest.groups.group[i].closing = 0;
    cairn_parallel_for(p->contacts, SCALE_GRAIN, closing_range, &job);
    find_closing(&job, &answer->rest.groups);
    cairn_parallel_for(p->contacts, SCALE_GRAIN, scale_range, &job);
}

cairn_status cairn_step_scales(const cairn_step *step, cairn_answer *answer)
{
    cairn_problem *p = &answer->problem;
    cairn_arena *scratch = &step->world->scratch;
    double *scale = cairn_arena_take(scratch, (size_t)p->contacts, sizeof *scale);
    double *most = cairn_arena_take(scratch, (size_t)p->contacts, sizeof *most);
    if (!scale || !most)
        return CAIRN_NO_MEMORY;
    TRY(cairn_groups_find(step, p, &answer->rest.groups));
    p->scale = scale;
    p->most = most;
    cairn_step_rescale(step, answer);
    return CAIRN_OK;
}
