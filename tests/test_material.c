/* test_material.c - materials, and what happens where two of them meet. */
#include "check.h"
#include "failing_allocator.h"
#include "world/world.h"

static cairn_world *empty_world(void)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world;
    CHECK_OK(cairn_world_create(&def, &world));
    return world;
}

static void add(cairn_world *world, double friction, double restitution, int expected)
{
    const cairn_material_def def = { friction, restitution };
    int number = -1;
    CHECK_OK(cairn_material_create(world, &def, &number));
    CHECK_INT(number, expected);
}

static void check_pair(const cairn_world *world, int a, int b, double friction, double restitution)
{
    CHECK_NEAR(cairn_material_pair(world, a, b).friction, friction, 0);
    CHECK_NEAR(cairn_material_pair(world, a, b).restitution, restitution, 0);
    CHECK_NEAR(cairn_material_pair(world, b, a).friction, friction, 0);
    CHECK_NEAR(cairn_material_pair(world, b, a).restitution, restitution, 0);
}

TEST(the_default_is_friction_a_half_and_no_restitution)
{
    cairn_material_def def;
    cairn_material_record()->set_default(&def);
    CHECK_NEAR(def.friction, 0.5, 0);
    CHECK_NEAR(def.restitution, 0, 0);
}

TEST(where_materials_meet_the_smaller_values_count)
{
    cairn_world *world = empty_world();
    add(world, 0.3, 0.9, 0);
    add(world, 0.7, 0.2, 1);
    check_pair(world, 0, 0, 0.3, 0.9);
    check_pair(world, 1, 1, 0.7, 0.2);
    check_pair(world, 0, 1, 0.3, 0.2);
    cairn_world_destroy(world);
}

TEST(a_pair_can_be_told_in_either_order)
{
    cairn_world *world = empty_world();
    const cairn_material_def sticky = { 2, 0.1 }, same = { 0, 1 };
    add(world, 0.3, 0.9, 0);
    add(world, 0.7, 0.2, 1);
    CHECK_OK(cairn_material_pair_set(world, 1, 0, &sticky));
    CHECK_OK(cairn_material_pair_set(world, 1, 1, &same));
    check_pair(world, 0, 1, 2, 0.1);
    check_pair(world, 1, 1, 0, 1);
    check_pair(world, 0, 0, 0.3, 0.9);
    cairn_world_destroy(world);
}

TEST(pairs_stay_when_materials_are_added)
{
    cairn_world *world = empty_world();
    const cairn_material_def told = { 0.05, 0.5 };
    for (int i = 0; i < 10; i++) {
        add(world, 0.1 * (i + 1), 0, i);
        if (i == 3)
            CHECK_OK(cairn_material_pair_set(world, 1, 3, &told));
    }
    check_pair(world, 1, 3, 0.05, 0.5);
    check_pair(world, 9, 4, 0.5, 0);
    check_pair(world, 3, 2, 0.1 * 3, 0);
    cairn_world_destroy(world);
}

TEST(values_out_of_range_are_refused_with_their_key)
{
    cairn_world *world = empty_world();
    const cairn_material_def bad[] = { { -0.1, 0 }, { NAN, 0 }, { 0, -0.1 }, { 0, 1.1 } };
    const cairn_status status[] = { CAIRN_BAD_INPUT, CAIRN_NOT_FINITE, CAIRN_BAD_INPUT,
                                    CAIRN_BAD_INPUT };
    const char *const keys[] = { "friction", "friction", "restitution", "restitution" };
    add(world, 0.5, 0, 0);
    for (int i = 0; i < 4; i++) {
        int number = -1;
        CHECK_INT(cairn_material_create(world, &bad[i], &number), status[i]);
        CHECK_TEXT(cairn_world_error(world)->key, keys[i]);
        CHECK_INT(number, -1);
        CHECK_INT(cairn_material_pair_set(world, 0, 0, &bad[i]), status[i]);
        CHECK_TEXT(cairn_world_error(world)->key, keys[i]);
    }
    CHECK_INT(world->material_count, 1);
    check_pair(world, 0, 0, 0.5, 0);
    cairn_world_destroy(world);
}

TEST(pairs_of_materials_that_do_not_exist_are_not_found)
{
    cairn_world *world = empty_world();
    const cairn_material_def def = cairn_material_def_default();
    add(world, 0.5, 0, 0);
    CHECK_INT(cairn_material_pair_set(world, 0, 1, &def), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_material_pair_set(world, -1, 0, &def), CAIRN_NOT_FOUND);
    CHECK(strlen(cairn_world_error(world)->message) > 0);
    cairn_world_destroy(world);
}

TEST(without_memory_the_materials_stay_as_they_are)
{
    meter m = { 0 };
    meter_install(&m);
    cairn_world *world = empty_world();
    const cairn_material_def told = { 0.05, 0.5 }, one_more = { 0.9, 0 };
    add(world, 0.1, 0, 0);
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &told));
    for (long n = 1; n <= 2; n++) { /* two tables of pairs; the list has room for 8 */
        m.fail_at = m.calls + n;
        CHECK_INT(cairn_material_create(world, &one_more, NULL), CAIRN_NO_MEMORY);
        CHECK_INT(world->material_count, 1);
        check_pair(world, 0, 0, 0.05, 0.5);
    }
    add(world, 0.9, 0, 1);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
}

int main(void)
{
    RUN(CASE(the_default_is_friction_a_half_and_no_restitution),
        CASE(where_materials_meet_the_smaller_values_count),
        CASE(a_pair_can_be_told_in_either_order), CASE(pairs_stay_when_materials_are_added),
        CASE(values_out_of_range_are_refused_with_their_key),
        CASE(pairs_of_materials_that_do_not_exist_are_not_found),
        CASE(without_memory_the_materials_stay_as_they_are));
}
