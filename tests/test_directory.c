/* test_directory.c - rows by uid, while bodies come and go. */
#include "base/directory.h"
#include "check.h"

/* 1,000 rounds of one that comes and one that goes, beside a plain list. */
TEST(each_uid_is_found_where_it_was_written_down)
{
    enum { MOST = 3000 };
    static int row[MOST]; /* row + 1; 0: not there */
    cairn_directory d = { 0 };
    uint64_t state = 7;
    CHECK_INT(cairn_directory_find(&d, 5), -1);
    CHECK_OK(cairn_directory_reserve(&d, MOST));
    for (int k = 0; k < 20000; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        int uid = (int)(state >> 33) % MOST;
        if (row[uid]) {
            cairn_directory_remove(&d, (uint64_t)uid);
            row[uid] = 0;
        } else {
            cairn_directory_set(&d, (uint64_t)uid, k);
            row[uid] = k + 1;
        }
    }
    size_t count = 0;
    for (int uid = 0; uid < MOST; uid++) {
        CHECK_INT(cairn_directory_find(&d, (uint64_t)uid), row[uid] - 1);
        count += row[uid] != 0;
    }
    CHECK_INT(d.count, count);
    cairn_directory_release(&d);
}

TEST(it_grows_and_forgets_nobody)
{
    cairn_directory d = { 0 };
    for (int k = 0; k < 1000; k++) {
        CHECK_OK(cairn_directory_reserve(&d, (size_t)k + 1));
        cairn_directory_set(&d, (uint64_t)k << 40, k);
    }
    for (int k = 0; k < 1000; k++)
        CHECK_INT(cairn_directory_find(&d, (uint64_t)k << 40), k);
    cairn_directory_release(&d);
}

int main(void)
{
    RUN(CASE(each_uid_is_found_where_it_was_written_down), CASE(it_grows_and_forgets_nobody));
}
