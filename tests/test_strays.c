/* test_strays.c - the pairs of a few zones are those that a test of each with all others finds. */
#include "base/random.h"
#include "check.h"
#include "collide/strays.h"
#include "failing_allocator.h"
#include "math/vec.h"

enum { COUNT = 500, MOST = 100 };

/* Balls of radius 0.3 to 0.5 in a box of edge 8 about the origin; a plane, a wall without bounds, a
 * long box, something that is gone, and a ball that does not move. */
static void fill(cairn_zone *zones)
{
    uint64_t state = 5;
    for (int i = 0; i < COUNT; i++) {
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
    for (int i = 0; i < COUNT; i++)
        for (int j = i + 1; j < COUNT; j++) {
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
    cairn_strays s = { zones, COUNT, few, 0, 0.8 };
    for (int i = 1; i < COUNT; i += every)
        if (zones[i].kind == CAIRN_ZONE_BALL)
            few[s.few_count++] = i;
    return s;
}

TEST(pairs_are_those_of_all_tests)
{
    static cairn_zone zones[COUNT];
    static cairn_pair expected[COUNT * COUNT / 2];
    const int every[4] = { 499, 67, 11, 5 };
    cairn_pair_list found = { 0 };
    cairn_arena scratch = { 0 };
    fill(zones);
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

TEST(every_allocation_may_fail)
{
    static cairn_zone zones[COUNT];
    int32_t few[MOST];
    fill(zones);
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

int main(void)
{
    RUN(CASE(pairs_are_those_of_all_tests), CASE(what_is_unlike_the_others_does_not_suit),
        CASE(every_allocation_may_fail));
}
