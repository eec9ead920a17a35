/* test_pairs.c - the pair list, the oracle broad phase, and the sorted list of all pairs. */
#include "check.h"
#include "failing_allocator.h"
#include "zones.h"

static const cairn_shape ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 };
static const cairn_shape floor_shape = { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } };
static const cairn_shape tube_shape = { .kind = CAIRN_SHAPE_INSIDE_CYLINDER, .radius = 1 };

static cairn_collider ball_at(double x)
{
    cairn_collider c = { .shape = &ball, .movable = true };
    cairn_collider_place(&c, (cairn_pose){ { x, 0, 0 }, { 1, 0, 0, 0 } });
    return c;
}

static cairn_collider wall(void)
{
    return (cairn_collider){ .shape = &floor_shape, .q = { 1, 0, 0, 0 }, .extent = INFINITY };
}

/* "0-1 0-3 ..." */
static const char *pairs_text(const cairn_broad_phase *broad, const cairn_collider *c, int count)
{
    static char text[256];
    cairn_arena scratch = { 0 };
    cairn_pair_list list = { 0 };
    size_t used = 0;
    text[0] = '\0';
    CHECK_OK(pairs_of(broad, c, count, &scratch, &list));
    for (size_t k = 0; k < list.count; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d-%d", k ? " " : "",
                                 list.items[k].first, list.items[k].second);
    cairn_pair_list_destroy(&list);
    cairn_arena_destroy(&scratch);
    return text;
}

/* every broad phase says the same */
static void check_pairs(const cairn_collider *c, int count, const char *expected)
{
    for (int i = 0; cairn_broad_phase_name(i); i++)
        CHECK_TEXT(pairs_text(cairn_broad_phase_find(cairn_broad_phase_name(i)), c, count),
                   expected);
}

TEST(broad_phases_are_found_by_name)
{
    CHECK(cairn_broad_phase_find("grid") == &cairn_broad_phase_grid);
    CHECK(cairn_broad_phase_find("all-pairs") == &cairn_broad_phase_all_pairs);
    CHECK(cairn_broad_phase_find("tree") == &cairn_broad_phase_tree);
    CHECK(cairn_broad_phase_find("auto") == &cairn_broad_phase_auto);
    CHECK(cairn_broad_phase_find("octree") == NULL);
    CHECK(cairn_broad_phase_find(NULL) == NULL);
    CHECK_TEXT(cairn_broad_phase_name(0), "auto");
    CHECK_TEXT(cairn_broad_phase_name(3), "all-pairs");
    CHECK(cairn_broad_phase_name(4) == NULL);
    CHECK(cairn_broad_phase_name(-1) == NULL);
    CHECK(strlen(cairn_broad_phase_summary("grid")) > 0);
    CHECK(cairn_broad_phase_summary("octree") == NULL);
}

TEST(the_smaller_index_stands_first)
{
    cairn_pair_list list = { 0 };
    CHECK_OK(cairn_pair_list_add(&list, 7, 3));
    CHECK_OK(cairn_pair_list_add(&list, 3, 8));
    CHECK_INT(list.count, 2);
    CHECK_INT(list.items[0].first, 3);
    CHECK_INT(list.items[0].second, 7);
    CHECK_INT(list.items[1].first, 3);
    CHECK_INT(list.items[1].second, 8);
    cairn_pair_list_destroy(&list);
    CHECK(list.items == NULL && list.count == 0 && list.capacity == 0);
}

TEST(boxes_that_touch_overlap)
{
    cairn_collider a = ball_at(0), b = ball_at(1);
    CHECK(cairn_boxes_overlap(&a, &b));
    b.box.centre.x = 1.0000001;
    CHECK(!cairn_boxes_overlap(&a, &b));
    a.reach = 1e-6;
    CHECK(cairn_boxes_overlap(&a, &b));
    b.box.centre.y = 1.1; /* apart on one axis is apart */
    CHECK(!cairn_boxes_overlap(&a, &b));
    b.box.centre.y = 0.9;
    b.box.centre.z = -1.1;
    CHECK(!cairn_boxes_overlap(&a, &b));
    b.box.centre.z = -0.9; /* boxes overlap, the balls do not */
    CHECK(cairn_boxes_overlap(&a, &b));
}

/* Diameter 1 on a row: neighbours at 0.9 overlap, those at 1.8 do not. */
TEST(neighbours_on_a_row_in_any_order_of_bodies)
{
    const cairn_collider row[4] = { ball_at(1.8), ball_at(0), ball_at(2.7), ball_at(0.9) };
    check_pairs(row, 4, "0-2 0-3 1-3");
}

TEST(reaches_bring_pairs_together)
{
    cairn_collider row[3] = { ball_at(0), ball_at(1.2), ball_at(2.4) };
    check_pairs(row, 3, "");
    row[1].reach = 0.2;
    check_pairs(row, 3, "0-1 1-2");
    row[0].reach = 1.3;
    check_pairs(row, 3, "0-1 1-2");
    row[0].reach = 1.4;
    check_pairs(row, 3, "0-1 0-2 1-2");
}

TEST(two_that_do_not_move_never_pair)
{
    cairn_collider row[3] = { ball_at(0), ball_at(0.1), ball_at(0.2) };
    row[0].movable = row[2].movable = false;
    check_pairs(row, 3, "0-1 1-2");
    row[1].movable = false;
    check_pairs(row, 3, "");
}

TEST(holes_have_no_pairs)
{
    cairn_collider all[4] = { ball_at(0), ball_at(0), wall(), ball_at(0) };
    check_pairs(all, 4, "0-1 0-2 0-3 1-2 1-3 2-3");
    all[1].shape = NULL;
    check_pairs(all, 4, "0-2 0-3 2-3");
    all[2].shape = NULL;
    check_pairs(all, 4, "0-3");
}

/* However far: how near a wall is, is for the narrow phase to say. */
TEST(walls_pair_with_everything_that_moves_and_not_with_each_other)
{
    cairn_collider all[5] = { wall(), ball_at(1e6), wall(), ball_at(-1e6), ball_at(5) };
    all[0].shape = all[2].shape = &tube_shape;
    all[4].movable = false;
    check_pairs(all, 5, "0-1 0-3 1-2 2-3");
}

/* A ball of radius 0.5 at a height of 1.5 over a plane: 1 m for both reaches to close. */
TEST(planes_pair_with_what_reaches_them)
{
    cairn_collider all[2] = { wall(), ball_at(0) };
    all[1].x.z = 1.5;
    cairn_collider_enclose(&all[1]);
    check_pairs(all, 2, "");
    all[1].reach = 0.999;
    check_pairs(all, 2, "");
    all[1].reach = 1.001;
    check_pairs(all, 2, "0-1");
    all[1].reach = all[0].reach = 0.501;
    check_pairs(all, 2, "0-1");
    all[1].reach = all[0].reach = 0;
    all[0].turn = 0.1; /* one that turns is left to the narrow phase */
    check_pairs(all, 2, "0-1");
}

TEST(nobody_and_one_alone)
{
    const cairn_collider one = ball_at(0);
    check_pairs(&one, 0, "");
    check_pairs(&one, 1, "");
}

TEST(a_list_is_emptied_before_it_is_filled)
{
    const cairn_collider row[2] = { ball_at(0), ball_at(0.5) };
    cairn_arena scratch = { 0 };
    cairn_pair_list list = { 0 };
    for (int round = 0; round < 3; round++) {
        CHECK_OK(pairs_of(&cairn_broad_phase_all_pairs, row, 2, &scratch, &list));
        CHECK_INT(list.count, 1);
    }
    cairn_pair_list_destroy(&list);
    cairn_arena_destroy(&scratch);
}

TEST(every_allocation_may_fail)
{
    cairn_collider row[30];
    for (int i = 0; i < 30; i++)
        row[i] = i % 10 ? ball_at(0.3 * i) : wall();
    for (int phase = 0; cairn_broad_phase_name(phase); phase++) {
        const cairn_broad_phase *broad = cairn_broad_phase_find(cairn_broad_phase_name(phase));
        meter m = { 0 };
        cairn_status status = CAIRN_NO_MEMORY;
        meter_install(&m);
        for (long n = 1; status != CAIRN_OK; n++) {
            cairn_arena scratch = { 0 };
            cairn_pair_list list = { 0 };
            m = (meter){ .fail_at = n, .alive = m.alive };
            status = pairs_of(broad, row, 30, &scratch, &list);
            CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
            cairn_pair_list_destroy(&list);
            cairn_arena_destroy(&scratch);
            CHECK_INT(m.alive, 0);
        }
        CHECK(m.calls >= 3);
        cairn_allocator_set(NULL);
    }
}

int main(void)
{
    RUN(CASE(broad_phases_are_found_by_name), CASE(the_smaller_index_stands_first),
        CASE(boxes_that_touch_overlap), CASE(neighbours_on_a_row_in_any_order_of_bodies),
        CASE(reaches_bring_pairs_together), CASE(two_that_do_not_move_never_pair),
        CASE(holes_have_no_pairs),
        CASE(walls_pair_with_everything_that_moves_and_not_with_each_other),
        CASE(planes_pair_with_what_reaches_them), CASE(nobody_and_one_alone),
        CASE(a_list_is_emptied_before_it_is_filled), CASE(every_allocation_may_fail));
}
