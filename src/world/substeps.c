/* substeps.c - steps as callers take them, where a step stands that was divided, and one report for
 * all its substeps. The division itself is in step.c. */
#include <math.h>
#include <stddef.h>

#include "base/common.h"
#include "world/step.h"

cairn_status cairn_world_step(cairn_world *world, const cairn_step_options *options,
                              cairn_step_report *report)
{
    return cairn_step_take(world, options, true, report);
}

cairn_status cairn_world_substep(cairn_world *world, const cairn_step_options *options,
                                 cairn_step_report *report)
{
    return cairn_step_take(world, options, false, report);
}

bool cairn_world_in_step(const cairn_world *world)
{
    return world->clock.done > 0;
}

void cairn_world_end_step(cairn_world *world)
{
    if (world->clock.done > 0)
        world->clock = (cairn_world_clock){ .start = world->time };
}

double cairn_world_last_length(const cairn_world *world)
{
    return world->contacts.step;
}

/* ---- one report for all substeps ------------------------------------------------------------ */

/* Counts that add up, and counts of which the largest is reported. All others are those of the last
 * substep. */
static const size_t added_counts[] = {
    offsetof(cairn_step_report, broken), offsetof(cairn_step_report, entered),
    offsetof(cairn_step_report, left), offsetof(cairn_step_report, changed),
    offsetof(cairn_step_report, woken), offsetof(cairn_step_report, impacts),
    offsetof(cairn_step_report, impacts_left), offsetof(cairn_step_report, impacts_reduced),
    offsetof(cairn_step_report, energy_made_groups), offsetof(cairn_step_report, substeps),
};
static const size_t largest_counts[] = {
    offsetof(cairn_step_report, attempts), offsetof(cairn_step_report, impact_rounds),
    offsetof(cairn_step_report, linearisations),
};

/* Numbers that add up: works, losses and times; the last one is the time that passed. */
static const size_t sums[] = {
    offsetof(cairn_step_report, energy.entered), offsetof(cairn_step_report, energy.applied),
    offsetof(cairn_step_report, energy.load_work), offsetof(cairn_step_report, energy.driver_work),
    offsetof(cairn_step_report, energy.motor_work),
    offsetof(cairn_step_report, energy.gravity_work),
    offsetof(cairn_step_report, energy.friction_loss),
    offsetof(cairn_step_report, energy.impact_loss), offsetof(cairn_step_report, energy.correction),
    offsetof(cairn_step_report, energy.damping_loss),
    offsetof(cairn_step_report, energy.sleep_loss),
    offsetof(cairn_step_report, energy.numerical_loss),
    offsetof(cairn_step_report, energy.entered_mass), offsetof(cairn_step_report, energy.left_mass),
    offsetof(cairn_step_report, timing.collide), offsetof(cairn_step_report, timing.assemble),
    offsetof(cairn_step_report, timing.solve), offsetof(cairn_step_report, timing.finish),
    offsetof(cairn_step_report, energy_made), offsetof(cairn_step_report, length),
};

static const size_t largest[] = {
    offsetof(cairn_step_report, certificate.penetration),
    offsetof(cairn_step_report, certificate.gap_error),
    offsetof(cairn_step_report, certificate.cone_violation),
    offsetof(cairn_step_report, certificate.friction_direction),
    offsetof(cairn_step_report, certificate.complementarity),
    offsetof(cairn_step_report, certificate.dilatation),
    offsetof(cairn_step_report, certificate.spurious_work),
    offsetof(cairn_step_report, certificate.friction_law),
    offsetof(cairn_step_report, certificate.joint_drift),
    offsetof(cairn_step_report, certificate.joint_turn_drift),
    offsetof(cairn_step_report, certificate.distance),
    offsetof(cairn_step_report, certificate.judgement.cone_violation),
    offsetof(cairn_step_report, solve.judgement.cone_violation),
    offsetof(cairn_step_report, linearisation_error), offsetof(cairn_step_report, overlap),
};

static int count_at(const cairn_step_report *report, size_t offset)
{
    return *(const int *)((const char *)report + offset);
}

static double real_at(const cairn_step_report *report, size_t offset)
{
    return *(const double *)((const char *)report + offset);
}

static void set_count(cairn_step_report *report, size_t offset, int value)
{
    *(int *)((char *)report + offset) = value;
}

static void set_real(cairn_step_report *report, size_t offset, double value)
{
    *(double *)((char *)report + offset) = value;
}

/* Whether `a` is the worse of two numbers. NaN is: what could not be judged is the worst. */
static bool is_worse(double a, double b)
{
    return isnan(a) || a > b;
}

static void keep_worse_judgement(const cairn_judgement *before, cairn_judgement *now)
{
    if (is_worse(before->asked.relative, now->asked.relative))
        now->asked = before->asked;
    if (is_worse(before->coulomb.relative, now->coulomb.relative))
        now->coulomb = before->coulomb;
}

/* What belongs to the pair of bodies with the largest number. */
static void keep_pairs(const cairn_step_report *before, cairn_step_report *now)
{
    for (int k = 0; k < 2; k++) {
        if (is_worse(before->certificate.distance, now->certificate.distance))
            now->distance_body[k] = before->distance_body[k];
        if (is_worse(before->overlap, now->overlap))
            now->overlap_body[k] = before->overlap_body[k];
    }
}

static void add_solve(const cairn_solve_report *before, cairn_solve_report *now)
{
    now->converged = now->converged && before->converged;
    now->stalled = now->stalled || before->stalled;
    now->iterations += before->iterations;
    now->outer_iterations += before->outer_iterations;
    keep_worse_judgement(&before->judgement, &now->judgement);
}

void cairn_step_report_add(const cairn_step_report *before, cairn_step_report *now)
{
    keep_pairs(before, now);
    for (int k = 0; k < CAIRN_COUNT(added_counts); k++)
        set_count(now, added_counts[k],
                  count_at(before, added_counts[k]) + count_at(now, added_counts[k]));
    for (int k = 0; k < CAIRN_COUNT(largest_counts); k++)
        if (count_at(before, largest_counts[k]) > count_at(now, largest_counts[k]))
            set_count(now, largest_counts[k], count_at(before, largest_counts[k]));
    for (int k = 0; k < CAIRN_COUNT(sums); k++)
        set_real(now, sums[k], real_at(before, sums[k]) + real_at(now, sums[k]));
    for (int k = 0; k < CAIRN_COUNT(largest); k++)
        if (is_worse(real_at(before, largest[k]), real_at(now, largest[k])))
            set_real(now, largest[k], real_at(before, largest[k]));
    keep_worse_judgement(&before->certificate.judgement, &now->certificate.judgement);
    add_solve(&before->solve, &now->solve);
    now->resident = now->resident && before->resident;
}
