/* entries.c - all entries of `cairn reproduce`, paper by paper. */
#include <string.h>

#include "reproduce/papers.h"

static const struct {
    const cairn_entry *entries;
    const int *count;
} papers[] = {
    { cairn_entries_a06, &cairn_entries_a06_count },
    { cairn_entries_st96, &cairn_entries_st96_count },
    { cairn_entries_bl23, &cairn_entries_bl23_count },
    { cairn_entries_bl23_box, &cairn_entries_bl23_box_count },
    { cairn_entries_bl23_grains, &cairn_entries_bl23_grains_count },
    { cairn_entries_a05, &cairn_entries_a05_count },
    { cairn_entries_c09, &cairn_entries_c09_count },
    { cairn_entries_shaken, &cairn_entries_shaken_count },
    { cairn_entries_pebble_bed, &cairn_entries_pebble_bed_count },
};

const cairn_entry *cairn_entry_at(int index)
{
    for (size_t i = 0; i < sizeof papers / sizeof papers[0]; i++) {
        if (index < *papers[i].count)
            return &papers[i].entries[index];
        index -= *papers[i].count;
    }
    return NULL;
}

const cairn_entry *cairn_entry_find(const char *name)
{
    const cairn_entry *entry;
    for (int i = 0; (entry = cairn_entry_at(i)); i++)
        if (strcmp(entry->name, name) == 0)
            return entry;
    return NULL;
}
