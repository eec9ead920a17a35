/* run_table.h - names and units of what a step reports: one set of tables for the columns of
 * run.h5, for totals, and for summary.json. */
#ifndef CAIRN_IO_RUN_TABLE_H
#define CAIRN_IO_RUN_TABLE_H

#include "cairn/world.h"

/* One double of a struct. */
typedef struct cairn_entry {
    const char *name;
    const char *unit;
    size_t offset;
} cairn_entry;

/* A struct as a list of entries. */
typedef struct cairn_entries {
    const cairn_entry *items;
    int count;
} cairn_entries;

extern const cairn_entries cairn_certificate_entries; /* of cairn_certificate */
extern const cairn_entries cairn_energy_entries;      /* of cairn_energy      */
extern const cairn_entries cairn_timing_entries;      /* of cairn_timing      */

/* The number of an entry. */
double cairn_entry_get(const cairn_entry *entry, const void *record);
void cairn_entry_set(const cairn_entry *entry, void *record, double value);

#endif
