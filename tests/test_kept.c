/* test_kept.c - a kept list of pairs gives what a new one gives, for as long as it may. */
#include "base/random.h"
#include "check.h"
#include "collide/kept.h"
#include "failing_allocator.h"
#include "math/vec.h"
#include "world/world.h"
#include "worlds.h"

enum { BALLS = 400, COUNT = BALLS + 2 };

static const cairn_vec3 nowhere = { 0, 0, 0 };

static cairn_zone ball_zone(cairn_vec3 x, double radius, double reach)
{
    double half = radius + reach;
    return (cairn_zone){ x, { half, half, half }, radius, CAIRN_ZONE_BALL, true };
}

/* Balls of radius 0.3 to 0.5 in a box of edge 7, a floor and something without bounds. */
static void fill(cairn_zone *zones, uint64_t *state)
{
    zones[0] = (cairn_zone){ nowhere, { 0, 0, 1 }, 0, CAIRN_ZONE_PLANE, false };
    zones[1] = (cairn_zone){ .kind = CAIRN_ZONE_UNBOUNDED };
    for (int i = 2; i < COUNT; i++) {
        cairn_vec3 x = { cairn_random_between(state, 0, 7), cairn_random_between(state, 0, 7),
                         cairn_random_between(state, 0, 7) };
        zones[i] = ball_zone(x, cairn_random_between(state, 0.3, 0.5), 0.01);
    }
}

/* Everybody moves by up to `most` on each axis; reaches vary with it. */
static void move(cairn_zone *zones, double most, uint64_t *state)
{
    for (int i = 2; i < COUNT; i++) {
        cairn_vec3 d = { cairn_random_between(state, -most, most),
                         cairn_random_between(state, -most, most),
                         cairn_random_between(state, -most, most) };
        zones[i] = ball_zone(cairn_add(zones[i].centre, d), zones[i].radius,
                             cairn_random_between(state, 0, 2 * most));
    }
}

/* The oracle: all pairs, one by one. */
static size_t list_all(const cairn_zone *zones, cairn_pair *out)
{
    size_t count = 0;
    for (int i = 0; i < COUNT; i++)
        for (int j = i + 1; j < COUNT; j++)
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
    static cairn_pair expected[COUNT * COUNT / 2];
    static cairn_zone zones[COUNT];
    for (int p = 0; p < 3; p++) {
        cairn_kept_pairs kept = { 0 };
        cairn_pair_list found = { 0 };
        cairn_arena scratch = { 0 };
        uint64_t state = 7;
        fill(zones, &state);
        for (int round = 0; round < 60; round++) {
            move(zones, paces[p], &state);
            come_and_go(&zones[17], round);
            zones[0].centre.z += p ? 0.1 * paces[p] : 0; /* the floor rises */
            const cairn_layout at = { COUNT, zones, NULL, NULL };
            cairn_arena_reset(&scratch);
            CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_auto, &at, &scratch, &found));
            size_t count = list_all(zones, expected);
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

/* One list for as long as nobody moves. A ball that was put elsewhere is mended into it; a floor
 * that turned, or a hundred balls of 400, make another. */
TEST(a_list_serves_while_everyone_stays)
{
    static cairn_zone zones[COUNT];
    cairn_kept_pairs kept = { 0 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 3;
    fill(zones, &state);
    const cairn_layout at = { COUNT, zones, NULL, NULL };
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
    static cairn_pair expected[COUNT * COUNT / 2];
    static cairn_zone zones[COUNT];
    cairn_kept_pairs kept = { 0 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 11;
    fill(zones, &state);
    const cairn_layout at = { COUNT, zones, NULL, NULL };
    for (int round = 0; round < 60; round++) {
        for (int i = 0; round > 0 && i < 6; i++)
            zones[2 + (6 * round + i) % BALLS].centre.y = cairn_random_between(&state, 0, 7);
        cairn_arena_reset(&scratch);
        CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_auto, &at, &scratch, &found));
        size_t count = list_all(zones, expected);
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
    static cairn_zone zones[COUNT];
    cairn_kept_pairs kept = { .share = 32, .growth = 1.5 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 3;
    fill(zones, &state);
    for (int i = 2; i < COUNT; i++)
        zones[i] = ball_zone(zones[i].centre, 0.25, 0.125);
    const cairn_layout at = { COUNT, zones, NULL, NULL };
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
    static cairn_zone zones[COUNT];
    cairn_kept_pairs kept = { 0 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    uint64_t state = 3;
    fill(zones, &state);
    for (int round = 0; round < 100; round++) {
        for (int i = 2; i < COUNT; i++)
            zones[i] =
                ball_zone(cairn_add(zones[i].centre, cairn_vec(0.2, 0, 0)), zones[i].radius, 0.25);
        const cairn_layout at = { COUNT, zones, NULL, NULL };
        cairn_arena_reset(&scratch);
        CHECK_OK(cairn_kept_pairs_live(&kept, &cairn_broad_phase_grid, &at, &scratch, &found));
        CHECK(kept.list.count < 40 * (size_t)COUNT);
    }
    CHECK(kept.lists > 1 && kept.lists < 60);
    cairn_kept_pairs_destroy(&kept);
    cairn_pair_list_destroy(&found);
    cairn_arena_destroy(&scratch);
}

TEST(every_allocation_may_fail)
{
    static cairn_zone zones[COUNT];
    uint64_t state = 3;
    fill(zones, &state);
    const cairn_layout at = { COUNT, zones, NULL, NULL };
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

int main(void)
{
    RUN(CASE(pairs_are_those_of_a_search_in_each_step), CASE(a_list_serves_while_everyone_stays),
        CASE(a_mended_list_is_whole), CASE(a_list_made_when_slow_things_turn_fast_is_of_neighbours),
        CASE(a_list_of_what_flies_stays_short), CASE(every_allocation_may_fail),
        CASE(kept_pairs_never_change_a_result),
        CASE(what_suddenly_flies_does_not_pass_through_walls));
}
