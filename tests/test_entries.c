/* test_entries.c - the list of entries of `cairn reproduce`. */
#include "check.h"
#include "reproduce/study.h"

TEST(each_name_finds_its_entry_and_no_other)
{
    const cairn_entry *entry;
    int count = 0;
    for (; (entry = cairn_entry_at(count)); count++) {
        CHECK(cairn_entry_find(entry->name) == entry);
        CHECK(entry->paper && entry->item && entry->summary && entry->run);
        CHECK(entry->cpu > 0);
    }
    CHECK(count > 20);
    CHECK(cairn_entry_find("all") == NULL);
    CHECK(cairn_entry_find("") == NULL);
}

TEST(every_paper_has_entries)
{
    static const char *const papers[] = { "[A06]", "[ST96]", "[BL23]", "[A05]", "[C09]" };
    for (int i = 0; i < 5; i++) {
        const cairn_entry *entry;
        int found = 0;
        for (int k = 0; (entry = cairn_entry_at(k)); k++)
            found += strcmp(entry->paper, papers[i]) == 0 && entry->size == CAIRN_QUICK;
        CHECK(found >= 3);
    }
}

int main(void)
{
    RUN(CASE(each_name_finds_its_entry_and_no_other), CASE(every_paper_has_entries));
}
