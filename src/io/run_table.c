/* run_table.c - see run_table.h. */
#include "io/run_table.h"

#include <string.h>

#define ENTRY(type, name, unit, field)                                                             \
    {                                                                                              \
        name, unit, offsetof(type, field)                                                          \
    }
#define TABLE(items)                                                                               \
    {                                                                                              \
        items, sizeof items / sizeof items[0]                                                      \
    }

static const cairn_entry certificate_items[] = {
    ENTRY(cairn_certificate, "penetration", "m", penetration),
    ENTRY(cairn_certificate, "gap_error", "m", gap_error),
    ENTRY(cairn_certificate, "cone_violation", "N s", cone_violation),
    ENTRY(cairn_certificate, "friction_direction", "W", friction_direction),
    ENTRY(cairn_certificate, "complementarity", "J", complementarity),
    ENTRY(cairn_certificate, "dilatation", "m", dilatation),
    ENTRY(cairn_certificate, "spurious_work", "J", spurious_work),
    ENTRY(cairn_certificate, "friction_law", "1", friction_law),
    ENTRY(cairn_certificate, "joint_drift", "m", joint_drift),
    ENTRY(cairn_certificate, "joint_turn_drift", "rad", joint_turn_drift),
    ENTRY(cairn_certificate, "distance", "1", distance),
    ENTRY(cairn_certificate, "asked_worst", "m/s", judgement.asked.worst),
    ENTRY(cairn_certificate, "asked_relative", "1", judgement.asked.relative),
    ENTRY(cairn_certificate, "asked_fclib", "1", judgement.asked.fclib),
    ENTRY(cairn_certificate, "coulomb_worst", "m/s", judgement.coulomb.worst),
    ENTRY(cairn_certificate, "coulomb_relative", "1", judgement.coulomb.relative),
    ENTRY(cairn_certificate, "coulomb_fclib", "1", judgement.coulomb.fclib),
    ENTRY(cairn_certificate, "judge_cone_violation", "N s", judgement.cone_violation),
};

static const cairn_entry energy_items[] = {
    ENTRY(cairn_energy, "kinetic", "J", kinetic),
    ENTRY(cairn_energy, "potential", "J", potential),
    ENTRY(cairn_energy, "elastic", "J", elastic),
    ENTRY(cairn_energy, "entered_energy", "J", entered),
    ENTRY(cairn_energy, "load_work", "J", load_work),
    ENTRY(cairn_energy, "driver_work", "J", driver_work),
    ENTRY(cairn_energy, "motor_work", "J", motor_work),
    ENTRY(cairn_energy, "correction", "J", correction),
    ENTRY(cairn_energy, "friction_loss", "J", friction_loss),
    ENTRY(cairn_energy, "impact_loss", "J", impact_loss),
    ENTRY(cairn_energy, "damping_loss", "J", damping_loss),
    ENTRY(cairn_energy, "sleep_loss", "J", sleep_loss),
    ENTRY(cairn_energy, "numerical_loss", "J", numerical_loss),
};

static const cairn_entry timing_items[] = {
    ENTRY(cairn_timing, "collide_seconds", "s", collide),
    ENTRY(cairn_timing, "assemble_seconds", "s", assemble),
    ENTRY(cairn_timing, "solve_seconds", "s", solve),
    ENTRY(cairn_timing, "finish_seconds", "s", finish),
};

const cairn_entries cairn_certificate_entries = TABLE(certificate_items);
const cairn_entries cairn_energy_entries = TABLE(energy_items);
const cairn_entries cairn_timing_entries = TABLE(timing_items);

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
