/* test_tree.c - the tree of boxes as a broad phase; that it agrees with the oracle on random clouds
 * is shown for all broad phases in test_grid.c. */
#include "base/random.h"
#include "check.h"
#include "failing_allocator.h"
#include "math/vec.h"
#include "zones.h"

enum { COUNT = 2000 };

static const cairn_shape ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 1 };

/* A row of small boxes, and every tenth a rod as long as the row. */
static void fill(cairn_collider *c)
{
    uint64_t state = 4;
    for (int i = 0; i < COUNT; i++) {
        c[i] = (cairn_collider){ .shape = &ball, .extent = 1, .movable = true };
        c[i].box.centre = cairn_vec(cairn_random_between(&state, 0, 1000), 0.1 * (i % 7), 0);
        c[i].box.half = cairn_vec(i % 10 ? 0.4 : 1000, 0.01, 0.01);
    }
}

TEST(rods_among_boxes_are_found_as_by_the_oracle)
{
    static cairn_collider c[COUNT];
    cairn_arena scratch = { 0 };
    cairn_pair_list found = { 0 }, expected = { 0 };
    fill(c);
    CHECK_OK(pairs_of(&cairn_broad_phase_tree, c, COUNT, &scratch, &found));
    CHECK_OK(pairs_of(&cairn_broad_phase_all_pairs, c, COUNT, &scratch, &expected));
    CHECK(expected.count > 10000);
    CHECK_INT(found.count, expected.count);
    CHECK(memcmp(found.items, expected.items, found.count * sizeof *found.items) == 0);
    cairn_pair_list_destroy(&found);
    cairn_pair_list_destroy(&expected);
    cairn_arena_destroy(&scratch);
}

TEST(each_failed_allocation_is_told)
{
    static cairn_collider c[COUNT];
    fill(c);
    for (long n = 1;; n++) {
        cairn_arena scratch = { 0 };
        cairn_pair_list list = { 0 };
        meter m = { .fail_at = n };
        meter_install(&m);
        cairn_status status = pairs_of(&cairn_broad_phase_tree, c, 100, &scratch, &list);
        cairn_pair_list_destroy(&list);
        cairn_arena_destroy(&scratch);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        if (m.calls < n) {
            CHECK_OK(status);
            CHECK(n > 3);
            return;
        }
        CHECK_INT(status, CAIRN_NO_MEMORY);
    }
}

int main(void)
{
    RUN(CASE(rods_among_boxes_are_found_as_by_the_oracle), CASE(each_failed_allocation_is_told));
}
