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
    const cairn_material_def def = { .friction = friction, .restitution = restitution };
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
    const cairn_material_def sticky = { .friction = 2, .restitution = 0.1 };
    const cairn_material_def same = { .friction = 0, .restitution = 1 };
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
    const cairn_material_def told = { .friction = 0.05, .restitution = 0.5 };
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
    const cairn_material_def bad[] = {
        { .friction = -0.1 }, { .friction = NAN }, { .restitution = -0.1 }, { .restitution = 1.1 }
    };
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
    CHECK_INT(world->materials.count, 1);
    check_pair(world, 0, 0, 0.5, 0);
    cairn_world_destroy(world);
}

/* 0.8 falling to 0.2 at 1 m/s, against a constant 0.5: they cross at 0.5 m/s */
TEST(the_smaller_friction_counts_at_each_speed)
{
    cairn_world *world = empty_world();
    const double speeds[] = { 0, 1 }, values[] = { 0.8, 0.2 };
    cairn_material_def falling = { .friction_law = { .kind = CAIRN_FRICTION_TABLE } };
    falling.friction_law.speeds = (cairn_list){ speeds, 2 };
    falling.friction_law.values = (cairn_list){ values, 2 };
    CHECK_OK(cairn_material_create(world, &falling, NULL));
    add(world, 0.5, 0, 1);
    const double at[] = { 0, 0.4, 0.6, 2 }, expected[] = { 0.5, 0.5, 0.44, 0.2 };
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(cairn_material_friction(world, 0, 1, at[i]), expected[i], 1e-15);
        CHECK_NEAR(cairn_material_friction(world, 1, 0, at[i]), expected[i], 1e-15);
    }
    CHECK_NEAR(cairn_material_friction(world, 0, 0, 0.5), 0.5, 1e-15);
    CHECK_NEAR(cairn_material_pair(world, 0, 1).friction, 0.5, 0);
    CHECK_INT(cairn_material_pair(world, 0, 1).friction_law.kind, CAIRN_FRICTION_SMALLER);
    const cairn_material_def pair = { .friction = 0.9 };
    CHECK_OK(cairn_material_pair_set(world, 0, 1, &pair));
    CHECK_NEAR(cairn_material_friction(world, 0, 1, 2), 0.9, 0);
    cairn_world_destroy(world);
}

/* the world keeps its own copy of a table */
TEST(tables_of_friction_are_copied)
{
    cairn_world *world = empty_world();
    double speeds[] = { 0, 1 }, values[] = { 0.8, 0.2 };
    cairn_material_def falling = { .friction_law = { .kind = CAIRN_FRICTION_TABLE } };
    falling.friction_law.speeds = (cairn_list){ speeds, 2 };
    falling.friction_law.values = (cairn_list){ values, 2 };
    CHECK_OK(cairn_material_create(world, &falling, NULL));
    values[0] = values[1] = 7;
    CHECK_NEAR(cairn_material_friction(world, 0, 0, 0.5), 0.5, 1e-15);
    cairn_world_destroy(world);
}

TEST(friction_laws_that_rise_are_refused_with_their_key)
{
    cairn_world *world = empty_world();
    cairn_material_def rising = { .friction_law = { .kind = CAIRN_FRICTION_STRIBECK,
                                                    .mu_dynamic = 0.5,
                                                    .speed = 1,
                                                    .exponent = 1 } };
    CHECK_INT(cairn_material_create(world, &rising, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "friction_law.stribeck.dynamic");
    rising.friction_law.kind = CAIRN_FRICTION_SMALLER; /* only pairs have two materials */
    CHECK_INT(cairn_material_create(world, &rising, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "friction_law");
    CHECK_INT(world->materials.count, 0);
    CHECK(!world->materials.friction_varies);
    cairn_world_destroy(world);
}

/* e = 0.3 by Poisson's law meets 0.8 by Newton's: the smaller one with its law */
TEST(the_smaller_restitution_brings_its_law)
{
    cairn_world *world = empty_world();
    const cairn_material_def defs[] = { { .restitution = 0.3, .restitution_law = "poisson" },
                                        { .restitution = 0.8, .restitution_law = "newton" },
                                        { .restitution = 0.1 },
                                        { .restitution = 0.3 } };
    const char *const expected[4] = { "poisson", "poisson", "newton", "newton" };
    for (int i = 0; i < 4; i++)
        CHECK_OK(cairn_material_create(world, &defs[i], NULL));
    for (int i = 0; i < 4; i++) {
        CHECK_TEXT(cairn_material_pair(world, 0, i).restitution_law, expected[i]);
        CHECK_TEXT(cairn_material_pair(world, i, 0).restitution_law, expected[i]);
    }
    CHECK_NEAR(cairn_material_pair(world, 0, 1).restitution, 0.3, 0);
    const cairn_material_def bad = { .restitution_law = "hooke" };
    CHECK_INT(cairn_material_create(world, &bad, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "restitution_law");
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
    const cairn_material_def told = { .friction = 0.05, .restitution = 0.5 };
    const cairn_material_def one_more = { .friction = 0.9 };
    add(world, 0.1, 0, 0);
    CHECK_OK(cairn_material_pair_set(world, 0, 0, &told));
    for (long n = 1; n <= 2; n++) { /* two tables of pairs; the list has room for 8 */
        m.fail_at = m.calls + n;
        CHECK_INT(cairn_material_create(world, &one_more, NULL), CAIRN_NO_MEMORY);
        CHECK_INT(world->materials.count, 1);
        check_pair(world, 0, 0, 0.05, 0.5);
    }
    add(world, 0.9, 0, 1);
    cairn_world_destroy(world);
    cairn_allocator_set(NULL);
    CHECK_INT(m.alive, 0);
}

TEST(a_pair_can_be_asked_for)
{
    cairn_world *world = empty_world();
    cairn_material_def def;
    add(world, 0.3, 0.9, 0);
    add(world, 0.7, 0.2, 1);
    CHECK_OK(cairn_material_pair_get(world, 1, 0, &def));
    CHECK_NEAR(def.friction, 0.3, 0);
    CHECK_NEAR(def.restitution, 0.2, 0);
    CHECK_INT(cairn_material_pair_get(world, 0, 2, &def), CAIRN_NOT_FOUND);
    CHECK_INT(cairn_material_pair_get(world, -1, 0, &def), CAIRN_NOT_FOUND);
    CHECK_OK(cairn_material_get(world, 1, &def));
    CHECK_NEAR(def.friction, 0.7, 0);
    CHECK_INT(cairn_material_get(world, 2, &def), CAIRN_NOT_FOUND);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(the_default_is_friction_a_half_and_no_restitution),
        CASE(where_materials_meet_the_smaller_values_count),
        CASE(a_pair_can_be_told_in_either_order), CASE(pairs_stay_when_materials_are_added),
        CASE(values_out_of_range_are_refused_with_their_key),
        CASE(the_smaller_friction_counts_at_each_speed), CASE(tables_of_friction_are_copied),
        CASE(friction_laws_that_rise_are_refused_with_their_key),
        CASE(the_smaller_restitution_brings_its_law),
        CASE(pairs_of_materials_that_do_not_exist_are_not_found),
        CASE(without_memory_the_materials_stay_as_they_are), CASE(a_pair_can_be_asked_for));
}
