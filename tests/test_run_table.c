/* test_run_table.c - the tables name every number of a report exactly once. */
#include "io/run_table.h"

#include "check.h"

/* Entries at different places, with different names, that fill `bytes` of doubles. */
static void check_table(const cairn_entries *entries, size_t doubles)
{
    CHECK_INT(entries->count, doubles);
    for (int i = 0; i < entries->count; i++) {
        CHECK(entries->items[i].unit[0] != '\0');
        for (int j = 0; j < i; j++) {
            CHECK(entries->items[i].offset != entries->items[j].offset);
            CHECK(strcmp(entries->items[i].name, entries->items[j].name) != 0);
        }
    }
}

TEST(every_double_of_the_structs_is_named)
{
    /* 11 of its own, 3 in each of two residuals (beside an int, padded), 1 of the judgement */
    CHECK_INT(sizeof(cairn_certificate), (11 + 2 * 4 + 1) * sizeof(double));
    check_table(&cairn_certificate_entries, 11 + 2 * 3 + 1);
    check_table(&cairn_energy_entries, sizeof(cairn_energy) / sizeof(double));
    check_table(&cairn_timing_entries, sizeof(cairn_timing) / sizeof(double));
}

TEST(an_entry_reads_and_writes_its_field)
{
    cairn_energy energy = { .impact_loss = 3 };
    const cairn_entry *entry = cairn_energy_entries.items;
    while (strcmp(entry->name, "impact_loss") != 0)
        entry++;
    CHECK_NEAR(cairn_entry_get(entry, &energy), 3, 0);
    cairn_entry_set(entry, &energy, 4);
    CHECK_NEAR(energy.impact_loss, 4, 0);
}

int main(void)
{
    RUN(CASE(every_double_of_the_structs_is_named), CASE(an_entry_reads_and_writes_its_field));
}
