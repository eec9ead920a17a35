/* run_table.c - see run_table.h. */
#include "io/run_table.h"

#include <string.h>

#include "base/count.h"

static const cairn_entry certificate_items[] = {
    { "penetration", "m", offsetof(cairn_certificate, penetration) },
    { "gap_error", "m", offsetof(cairn_certificate, gap_error) },
    { "cone_violation", "N s", offsetof(cairn_certificate, cone_violation) },
    { "friction_direction", "W", offsetof(cairn_certificate, friction_direction) },
    { "complementarity", "J", offsetof(cairn_certificate, complementarity) },
    { "dilatation", "m", offsetof(cairn_certificate, dilatation) },
    { "spurious_work", "J", offsetof(cairn_certificate, spurious_work) },
    { "friction_law", "1", offsetof(cairn_certificate, friction_law) },
    { "joint_drift", "m", offsetof(cairn_certificate, joint_drift) },
    { "joint_turn_drift", "rad", offsetof(cairn_certificate, joint_turn_drift) },
    { "distance", "1", offsetof(cairn_certificate, distance) },
    { "asked_worst", "m/s", offsetof(cairn_certificate, judgement.asked.worst) },
    { "asked_relative", "1", offsetof(cairn_certificate, judgement.asked.relative) },
    { "asked_fclib", "1", offsetof(cairn_certificate, judgement.asked.fclib) },
    { "coulomb_worst", "m/s", offsetof(cairn_certificate, judgement.coulomb.worst) },
    { "coulomb_relative", "1", offsetof(cairn_certificate, judgement.coulomb.relative) },
    { "coulomb_fclib", "1", offsetof(cairn_certificate, judgement.coulomb.fclib) },
    { "judge_cone_violation", "N s", offsetof(cairn_certificate, judgement.cone_violation) },
};

static const cairn_entry energy_items[] = {
    { "kinetic", "J", offsetof(cairn_energy, kinetic) },
    { "potential", "J", offsetof(cairn_energy, potential) },
    { "elastic", "J", offsetof(cairn_energy, elastic) },
    { "entered_energy", "J", offsetof(cairn_energy, entered) },
    { "load_work", "J", offsetof(cairn_energy, load_work) },
    { "driver_work", "J", offsetof(cairn_energy, driver_work) },
    { "motor_work", "J", offsetof(cairn_energy, motor_work) },
    { "correction", "J", offsetof(cairn_energy, correction) },
    { "friction_loss", "J", offsetof(cairn_energy, friction_loss) },
    { "impact_loss", "J", offsetof(cairn_energy, impact_loss) },
    { "damping_loss", "J", offsetof(cairn_energy, damping_loss) },
    { "sleep_loss", "J", offsetof(cairn_energy, sleep_loss) },
    { "numerical_loss", "J", offsetof(cairn_energy, numerical_loss) },
};

static const cairn_entry timing_items[] = {
    { "collide_seconds", "s", offsetof(cairn_timing, collide) },
    { "assemble_seconds", "s", offsetof(cairn_timing, assemble) },
    { "solve_seconds", "s", offsetof(cairn_timing, solve) },
    { "finish_seconds", "s", offsetof(cairn_timing, finish) },
};

const cairn_entries cairn_certificate_entries = { certificate_items,
                                                  CAIRN_COUNT(certificate_items) };
const cairn_entries cairn_energy_entries = { energy_items, CAIRN_COUNT(energy_items) };
const cairn_entries cairn_timing_entries = { timing_items, CAIRN_COUNT(timing_items) };

double cairn_entry_get(const cairn_entry *entry, const void *record)
{
    double value;
    memcpy(&value, (const char *)record + entry->offset, sizeof value);
    return value;
}

void cairn_entry_set(const cairn_entry *entry, void *record, double value)
{
    memcpy((char *)record + entry->offset, &value, sizeof value);
}
