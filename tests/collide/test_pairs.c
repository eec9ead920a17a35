/* test_pairs.c - pairs of bodies that may meet, found and kept; test_grid.c compares all broad
 * phases. */
#include "base/common.h"
#include "collide/collide.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/problems/random_shapes.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

/* ==== test_pairs: the pair list, the oracle broad phase, and the sorted list of all pairs ===== */

static const cairn_shape half_ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 };
static const cairn_shape floor_shape = { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } };
static const cairn_shape tube_shape = { .kind = CAIRN_SHAPE_INSIDE_CYLINDER, .radius = 1 };

static cairn_collider ball_at(double x)
{
    cairn_collider c = { .shape = &half_ball, .movable = true };
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

GROUP(test_pairs)
{
    RUN(CASE(broad_phases_are_found_by_name), CASE(the_smaller_index_stands_first),
        CASE(boxes_that_touch_overlap), CASE(neighbours_on_a_row_in_any_order_of_bodies),
        CASE(reaches_bring_pairs_together), CASE(two_that_do_not_move_never_pair),
        CASE(holes_have_no_pairs),
        CASE(walls_pair_with_everything_that_moves_and_not_with_each_other),
        CASE(planes_pair_with_what_reaches_them), CASE(nobody_and_one_alone),
        CASE(a_list_is_emptied_before_it_is_filled), CASE(every_allocation_may_fail));
}

/* ==== test_tree: the tree of boxes as a broad phase; that it agrees with the oracle on random
 * clouds is shown for all broad phases in test_grid.c. */

enum { COUNT = 2000 };

static const cairn_shape tree_ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 1 };

/* A row of small boxes, and every tenth a rod as long as the row. */
static void fill(cairn_collider *c)
{
    uint64_t state = 4;
    for (int i = 0; i < COUNT; i++) {
        c[i] = (cairn_collider){ .shape = &tree_ball, .extent = 1, .movable = true };
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

GROUP(test_tree)
{
    RUN(CASE(rods_among_boxes_are_found_as_by_the_oracle), CASE(each_failed_allocation_is_told));
}

/* ==== test_strays: the pairs of a few zones are those that a test of each with all others
 * finds */

enum { ZONES = 500, MOST = 100 };

/* Balls of radius 0.3 to 0.5 in a box of edge 8 about the origin; a plane, a wall without bounds, a
 * long box, something that is gone, and a ball that does not move. */
static void fill_zones(cairn_zone *zones)
{
    uint64_t state = 5;
    for (int i = 0; i < ZONES; i++) {
        double half = cairn_random_between(&state, 0.3, 0.5);
        zones[i] = (cairn_zone){ { cairn_random_between(&state, -4, 4),
                                   cairn_random_between(&state, -4, 4),
                                   cairn_random_between(&state, -4, 4) },
                                 { half, half, half },
                                 half,
                                 CAIRN_ZONE_BALL,
                                 true };
    }
    zones[3] = (cairn_zone){ { 0, 0, -3 }, { 0, 0, 1 }, 0, CAIRN_ZONE_PLANE, false };
    zones[70] = (cairn_zone){ .kind = CAIRN_ZONE_UNBOUNDED };
    zones[200] = (cairn_zone){ { 0, 0, 0 }, { 5, 0.2, 0.2 }, 0, CAIRN_ZONE_BOX, false };
    zones[201].kind = CAIRN_ZONE_NONE;
    zones[202].movable = false;
}

static bool is_one_of(const int32_t *few, int count, int32_t i)
{
    bool any = false;
    for (int k = 0; k < count; k++)
        any = any || few[k] == i;
    return any;
}

static size_t list_all(const cairn_strays *s, cairn_pair *out)
{
    size_t count = 0;
    for (int i = 0; i < ZONES; i++)
        for (int j = i + 1; j < ZONES; j++) {
            const cairn_zone *a = &s->zones[i], *b = &s->zones[j];
            bool wanted = is_one_of(s->few, s->few_count, i) || is_one_of(s->few, s->few_count, j);
            if (wanted && a->kind && b->kind && (a->movable || b->movable) &&
                cairn_zones_meet(a, b))
                out[count++] = (cairn_pair){ i, j };
        }
    return count;
}

/* Every `every`-th ball strays; neighbours among them are listed once. */
static cairn_strays strays_of(const cairn_zone *zones, int every, int32_t *few)
{
    cairn_strays s = { zones, ZONES, few, 0, 0.8 };
    for (int i = 1; i < ZONES; i += every)
        if (zones[i].kind == CAIRN_ZONE_BALL)
            few[s.few_count++] = i;
    return s;
}

TEST(pairs_are_those_of_all_tests)
{
    static cairn_zone zones[ZONES];
    static cairn_pair expected[ZONES * ZONES / 2];
    const int every[4] = { 499, 67, 11, 5 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    fill_zones(zones);
    for (int k = 0; k < 4; k++) {
        int32_t few[MOST];
        const cairn_strays s = strays_of(zones, every[k], few);
        cairn_arena_reset(&scratch);
        CHECK(cairn_strays_suit(zones, few, s.few_count, s.usual));
        CHECK_OK(cairn_strays_find(&s, &scratch, &found));
        size_t count = list_all(&s, expected);
        CHECK(count >= (size_t)s.few_count);
        CHECK_INT(found.count, count);
        CHECK(memcmp(found.items, expected, count * sizeof *expected) == 0);
    }
    cairn_pair_list_destroy(&found);
    cairn_arena_destroy(&scratch);
}

/* Zones four times as long as usual still suit; longer ones, walls, and places where a cell cannot
 * be told from the next do not. */
TEST(what_is_unlike_the_others_does_not_suit)
{
    cairn_zone zone = { { 1, 2, 3 }, { 0.4, 1.6, 0.4 }, 0.4, CAIRN_ZONE_BOX, true };
    const int32_t few[1] = { 0 };
    CHECK(cairn_strays_suit(&zone, few, 1, 0.8));
    CHECK(!cairn_strays_suit(&zone, few, 1, 0.79));
    CHECK(!cairn_strays_suit(&zone, few, 1, 0)); /* there are none to compare with */
    zone.centre.y = -1e12;
    CHECK(!cairn_strays_suit(&zone, few, 1, 0.8));
    zone.centre.y = NAN;
    CHECK(!cairn_strays_suit(&zone, few, 1, 0.8));
    zone = (cairn_zone){ .half = { 0, 0, 1 }, .kind = CAIRN_ZONE_PLANE };
    CHECK(!cairn_strays_suit(&zone, few, 1, 0.8));
}

TEST(every_allocation_for_strays_may_fail)
{
    static cairn_zone zones[ZONES];
    int32_t few[MOST];
    fill_zones(zones);
    const cairn_strays s = strays_of(zones, 67, few);
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_pair_list found = { 0 };
        cairn_arena scratch = { 0 };
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_strays_find(&s, &scratch, &found);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        cairn_pair_list_destroy(&found);
        cairn_arena_destroy(&scratch);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
}

GROUP(test_strays)
{
    RUN(CASE(pairs_are_those_of_all_tests), CASE(what_is_unlike_the_others_does_not_suit),
        CASE(every_allocation_for_strays_may_fail));
}

/* ==== test_kept: a kept list of pairs gives what a new one gives, for as long as it may ======= */

enum { BALLS = 400, BODIES = BALLS + 2 };

static const cairn_vec3 nowhere = { 0, 0, 0 };

static cairn_zone ball_zone(cairn_vec3 x, double radius, double reach)
{
    double half = radius + reach;
    return (cairn_zone){ x, { half, half, half }, radius, CAIRN_ZONE_BALL, true };
}

/* Balls of radius 0.3 to 0.5 in a box of edge 7, a floor and something without bounds. */
static void fill_bodies(cairn_zone *zones, uint64_t *state)
{
    zones[0] = (cairn_zone){ nowhere, { 0, 0, 1 }, 0, CAIRN_ZONE_PLANE, false };
    zones[1] = (cairn_zone){ .kind = CAIRN_ZONE_UNBOUNDED };
    for (int i = 2; i < BODIES; i++) {
        cairn_vec3 x = { cairn_random_between(state, 0, 7), cairn_random_between(state, 0, 7),
                         cairn_random_between(state, 0, 7) };
        zones[i] = ball_zone(x, cairn_random_between(state, 0.3, 0.5), 0.01);
    }
}

/* Everybody moves by up to `most` on each axis; reaches vary with it. */
static void move(cairn_zone *zones, double most, uint64_t *state)
{
    for (int i = 2; i < BODIES; i++) {
        cairn_vec3 d = { cairn_random_between(state, -most, most),
                         cairn_random_between(state, -most, most),
                         cairn_random_between(state, -most, most) };
        zones[i] = ball_zone(cairn_add(zones[i].centre, d), zones[i].radius,
                             cairn_random_between(state, 0, 2 * most));
    }
}

/* The oracle: all pairs, one by one. */
static size_t list_all_kept(const cairn_zone *zones, cairn_pair *out)
{
    size_t count = 0;
    for (int i = 0; i < BODIES; i++)
        for (int j = i + 1; j < BODIES; j++)
            if (zones[i].kind && zones[j].kind && (zones[i].movable || zones[j].movable) &&
                cairn_zones_meet(&zones[i], &zones[j]))
                out[count++] = (cairn_pair){ i, j };
    return count;
}

/* Now one ball is gone, now it is back. */
static void come_and_go(cairn_zone *zone, int round)
{
    zone->kind = round % 3 ? CAIRN_ZONE_BALL : CAIRN_ZONE_NONE;
}

TEST(pairs_are_those_of_a_search_in_each_step)
{
    const double paces[3] = { 0.0005, 0.02, 0.5 };
    static cairn_pair expected[BODIES * BODIES / 2];
    static cairn_zone zones[BODIES];
    for (int p = 0; p < 3; p++) {
        cairn_kept_pairs kept = { 0 };
        cairn_pair_list found = { 0 };
        cairn_arena scratch = { 0 };
        uint64_t state = 7;
        fill_bodies(zones, &state);
        for (int round = 0; round < 60; round++) {
            move(zones, paces[p], &state);
            come_and_go(&zones[17], round);
            zones[0].centre.z += p ? 0.1 * paces[p] : 0; /* the floor rises */
            const cairn_layout at = { BODIES, zones, NULL, NULL };
            cairn_arena_reset(&scratch);
            CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_auto, &at, &scratch, &found));
            size_t count = list_all_kept(zones, expected);
            CHECK(count > BALLS);
            CHECK_INT(found.count, count);
            CHECK(memcmp(found.items, expected, count * sizeof *expected) == 0);
        }
        if (p == 0)
            CHECK(kept.lists < 10); /* the slow ones use each list often */
        cairn_kept_pairs_destroy(&kept);
        cairn_pair_list_destroy(&found);
        cairn_arena_destroy(&scratch);
    }
}

/* Three other balls are away in each round: those that follow them have other numbers. */
static int number_present(int round, int32_t *who)
{
    int count = 0;
    for (int i = 0; i < BODIES; i++)
        if (i < 2 || (i - 2) / 3 != round)
            who[count++] = i;
    return count;
}

/* Tell the list: old numbers of the present bodies, and new numbers of those before. */
static void rename_bodies(cairn_kept_pairs *kept, const int32_t *who, int count,
                          const int32_t *before, int count_before)
{
    static int32_t was[BODIES], now[BODIES], number[BODIES];
    memset(number, -1, sizeof number);
    for (int i = 0; i < count_before; i++)
        number[before[i]] = i;
    memset(now, -1, sizeof now);
    for (int i = 0; i < count; i++) {
        was[i] = number[who[i]];
        if (was[i] >= 0)
            now[was[i]] = i;
    }
    cairn_kept_pairs_rename(kept, was, count, now, count_before);
}

/* 400 balls of which three are away, others each time: one list serves, mended by those that
 * come. */
TEST(pairs_follow_bodies_that_get_other_numbers)
{
    static cairn_pair expected[BODIES * BODIES / 2];
    static cairn_zone all[BODIES], zones[BODIES];
    static int32_t who[2][BODIES];
    cairn_kept_pairs kept = { 0 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 7;
    fill_bodies(all, &state);
    for (int round = 0, before = 0; round < 60; round++) {
        int count = number_present(round, who[round % 2]);
        memset(zones, 0, sizeof zones);
        for (int i = 0; i < count; i++)
            zones[i] = all[who[round % 2][i]];
        rename_bodies(&kept, who[round % 2], count, who[1 - round % 2], before);
        const cairn_layout at = { count, zones, NULL, NULL };
        cairn_arena_reset(&scratch);
        CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_auto, &at, &scratch, &found));
        size_t pairs = list_all_kept(zones, expected);
        CHECK_INT(found.count, pairs);
        CHECK(memcmp(found.items, expected, pairs * sizeof *expected) == 0);
        before = count;
    }
    CHECK(kept.lists < 10);
    CHECK(kept.mended > 40);
    /* two bodies that change places */
    static const int32_t turned[] = { 1, 0 };
    kept.count = 2;
    cairn_kept_pairs_rename(&kept, turned, 2, turned, 2);
    CHECK(!kept.made);
    cairn_kept_pairs_destroy(&kept);
    cairn_pair_list_destroy(&found);
    cairn_arena_destroy(&scratch);
}

/* One list for as long as nobody moves. A ball that was put elsewhere is mended into it; a floor
 * that turned, or a hundred balls of 400, make another. */
TEST(a_list_serves_while_everyone_stays)
{
    static cairn_zone zones[BODIES];
    cairn_kept_pairs kept = { 0 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 3;
    fill_bodies(zones, &state);
    const cairn_layout at = { BODIES, zones, NULL, NULL };
    for (int round = 0; round < 20; round++) {
        zones[5].centre.x += round == 10 ? 3 : 0;
        cairn_arena_reset(&scratch);
        CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_grid, &at, &scratch, &found));
        CHECK_INT(kept.lists, 1);
        CHECK_INT(kept.mended, round < 10 ? 0 : 1);
    }
    zones[0].half = cairn_unit(cairn_vec(0, 0.001, 1)); /* a floor that turned */
    CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_grid, &at, &scratch, &found));
    CHECK_INT(kept.lists, 2);
    for (int i = 100; i < 200; i++)
        zones[i].centre.x += 3;
    CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_grid, &at, &scratch, &found));
    CHECK_INT(kept.lists, 3);
    CHECK_INT(kept.mended, 1);
    cairn_kept_pairs_forget(&kept);
    CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_grid, &at, &scratch, &found));
    CHECK_INT(kept.lists, 4);
    cairn_kept_pairs_destroy(&kept);
    cairn_pair_list_destroy(&found);
    cairn_arena_destroy(&scratch);
}

/* Six balls at a time hop to other places, in turn: each time the list is mended, and holds what
 * all tests of pairs find. In the end that has cost as much as a new list. */
TEST(a_mended_list_is_whole)
{
    static cairn_pair expected[BODIES * BODIES / 2];
    static cairn_zone zones[BODIES];
    cairn_kept_pairs kept = { 0 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 11;
    fill_bodies(zones, &state);
    const cairn_layout at = { BODIES, zones, NULL, NULL };
    for (int round = 0; round < 60; round++) {
        for (int i = 0; round > 0 && i < 6; i++)
            zones[2 + (6 * round + i) % BALLS].centre.y = cairn_random_between(&state, 0, 7);
        cairn_arena_reset(&scratch);
        CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_auto, &at, &scratch, &found));
        size_t count = list_all_kept(zones, expected);
        CHECK_INT(found.count, count);
        CHECK(memcmp(found.items, expected, count * sizeof *expected) == 0);
    }
    CHECK(kept.mended > 40);
    CHECK(kept.lists > 1 && kept.lists < 10);
    CHECK_INT(kept.mended + kept.lists, 60);
    cairn_kept_pairs_destroy(&kept);
    cairn_pair_list_destroy(&found);
    cairn_arena_destroy(&scratch);
}

/* A share of 32 was right for balls that move 0.01 of their radius in a step. When all move half of
 * it, the list is still of neighbours: zones of half length 2.5 radii at most, where 17.5 would list
 * every pair there is. */
TEST(a_list_made_when_slow_things_turn_fast_is_of_neighbours)
{
    static cairn_zone zones[BODIES];
    cairn_kept_pairs kept = { .share = 32, .growth = 1.5 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 3;
    fill_bodies(zones, &state);
    for (int i = 2; i < BODIES; i++)
        zones[i] = ball_zone(zones[i].centre, 0.25, 0.125);
    const cairn_layout at = { BODIES, zones, NULL, NULL };
    CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_grid, &at, &scratch, &found));
    CHECK_NEAR(kept.zones[2].half.x, 0.625, 1e-9);
    CHECK(kept.list.count < BALLS * BALLS / 10);
    cairn_kept_pairs_destroy(&kept);
    cairn_pair_list_destroy(&found);
    cairn_arena_destroy(&scratch);
}

/* All fly the same way, half a radius a step: a wide skin would make the list last and each step
 * cheaper, but hold 54 pairs a ball. */
TEST(a_list_of_what_flies_stays_short)
{
    static cairn_zone zones[BODIES];
    cairn_kept_pairs kept = { 0 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 3;
    fill_bodies(zones, &state);
    for (int round = 0; round < 100; round++) {
        for (int i = 2; i < BODIES; i++)
            zones[i] =
                ball_zone(cairn_add(zones[i].centre, cairn_vec(0.2, 0, 0)), zones[i].radius, 0.25);
        const cairn_layout at = { BODIES, zones, NULL, NULL };
        cairn_arena_reset(&scratch);
        CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_grid, &at, &scratch, &found));
        CHECK(kept.list.count < 40 * (size_t)BODIES);
    }
    CHECK(kept.lists > 1 && kept.lists < 60);
    cairn_kept_pairs_destroy(&kept);
    cairn_pair_list_destroy(&found);
    cairn_arena_destroy(&scratch);
}

TEST(every_allocation_for_kept_pairs_may_fail)
{
    static cairn_zone zones[BODIES];
    uint64_t state = 3;
    fill_bodies(zones, &state);
    const cairn_layout at = { BODIES, zones, NULL, NULL };
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK; n++) {
        cairn_kept_pairs kept = { 0 };
        cairn_pair_list found = { 0 };
        cairn_arena scratch = { 0 };
        meter m = { .fail_at = n };
        meter_install(&m);
        status = cairn_kept_pairs_live(&kept, &cairn_broad_phase_auto, &at, &scratch, &found);
        CHECK_INT(status, m.calls >= n ? CAIRN_NO_MEMORY : CAIRN_OK);
        cairn_kept_pairs_destroy(&kept);
        cairn_pair_list_destroy(&found);
        cairn_arena_destroy(&scratch);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
}

/* ---- in a world ----------------------------------------------------------------------------- */

static cairn_world *run_heap(bool reuse, const char *broad, int64_t threads)
{
    cairn_world *world = new_heap(3, 0.3, 4);
    cairn_step_options options = step_by(0.005, "convex", 1e-4);
    options.reuse_pairs = reuse;
    options.broad_phase = broad;
    options.threads = threads;
    advance(world, &options, 150);
    return world;
}

static void check_same_places(cairn_world *one, cairn_world *two)
{
    cairn_bodies a = cairn_world_bodies(one), b = cairn_world_bodies(two);
    CHECK_INT(a.count, b.count);
    CHECK(memcmp(a.x, b.x, (size_t)a.count * sizeof *a.x) == 0);
    CHECK(memcmp(a.v, b.v, (size_t)a.count * sizeof *a.v) == 0);
    CHECK(memcmp(a.q, b.q, (size_t)a.count * sizeof *a.q) == 0);
}

/* same bits with and without kept lists, by any broad phase, on any number of threads */
TEST(kept_pairs_never_change_a_result)
{
    cairn_world *with = run_heap(true, "auto", 1);
    for (int k = 0; k < 3; k++) {
        const char *const phases[3] = { "auto", "tree", "all-pairs" };
        cairn_world *other = run_heap(k == 2, phases[k], 1 + k);
        check_same_places(with, other);
        cairn_world_destroy(other);
    }
    cairn_world_destroy(with);
}

/* a ball at 1 km/s crosses the room in a step, and ends in front of the wall; it was at rest long
 * enough for a list to be kept */
TEST(what_suddenly_flies_does_not_pass_through_walls)
{
    cairn_world *world = new_world(3, 0, 0.3, 0);
    cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    wall.size = (cairn_vec3){ 0.01, 4, 4 };
    add_wall(world, wall, (cairn_vec3){ 5, 0, 0 });
    int ball = add_ball(world, 0.1, nowhere, nowhere);
    cairn_step_options options = step_by(0.01, "convex", 1e-6);
    advance(world, &options, 10);
    CHECK_INT(world->kept_pairs.lists, 1);
    world->bodies.v[ball].x = 1000;
    advance(world, &options, 1);
    CHECK_NEAR(world->bodies.x[ball].x, 5 - 0.005 - 0.1, 1e-6);
    cairn_world_destroy(world);
}

GROUP(test_kept)
{
    RUN(CASE(pairs_are_those_of_a_search_in_each_step),
        CASE(pairs_follow_bodies_that_get_other_numbers), CASE(a_list_serves_while_everyone_stays),
        CASE(a_mended_list_is_whole), CASE(a_list_made_when_slow_things_turn_fast_is_of_neighbours),
        CASE(a_list_of_what_flies_stays_short), CASE(every_allocation_for_kept_pairs_may_fail),
        CASE(kept_pairs_never_change_a_result),
        CASE(what_suddenly_flies_does_not_pass_through_walls));
}

/* ==== test_collider: placing a shape in space ================================================= */

TEST(placing_sets_pose_extent_and_box)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cairn_collider c = { .shape = &box };
    box.size = cairn_vec(2, 2, 4);
    cairn_collider_place(&c, (cairn_pose){ { 1, 0, 0 }, { 1, 0, 0, 0 } });
    CHECK_NEAR(c.x.x, 1, 0);
    CHECK_NEAR(c.extent, sqrt(6), 1e-15);
    CHECK_NEAR(c.box.half.z, 2, 1e-15);
    CHECK(cairn_collider_bounded(&c));
}

TEST(a_half_space_has_no_bounds_and_a_hole_neither)
{
    cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    cairn_collider c = { .shape = &wall }, hole = { .shape = NULL };
    cairn_collider_place(&c, (cairn_pose){ { 0, 0, 0 }, { 1, 0, 0, 0 } });
    CHECK(!cairn_collider_bounded(&c));
    CHECK(!cairn_collider_bounded(&hole));
}

TEST(enclosing_takes_the_ball_of_the_extent)
{
    cairn_collider c = { .x = { 1, 2, 3 }, .extent = 0.5 };
    cairn_collider_enclose(&c);
    CHECK_NEAR(c.box.centre.y, 2, 0);
    CHECK_NEAR(c.box.half.x, 0.5, 0);
}

GROUP(test_collider)
{
    RUN(CASE(placing_sets_pose_extent_and_box), CASE(a_half_space_has_no_bounds_and_a_hole_neither),
        CASE(enclosing_takes_the_ball_of_the_extent));
}
