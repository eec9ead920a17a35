/* test_friction.c - friction as a function of the sliding speed: its values, and what is refused. */
#include "check.h"
#include "world/world.h"

static cairn_friction_law stribeck(double at_rest, double fast, double speed)
{
    cairn_friction_law law = cairn_friction_law_default(CAIRN_FRICTION_STRIBECK);
    law.mu_static = at_rest;
    law.mu_dynamic = fast;
    law.speed = speed;
    return law;
}

static cairn_friction_law table(const double *speeds, const double *values, int count)
{
    cairn_friction_law law = cairn_friction_law_default(CAIRN_FRICTION_TABLE);
    law.speeds = (cairn_list){ speeds, count };
    law.values = (cairn_list){ values, count };
    return law;
}

/* 1/e of the difference is left at the speed given, whatever the exponent */
TEST(stribeck_falls_from_static_to_dynamic)
{
    cairn_friction_law law = stribeck(0.5, 0.2, 0.1);
    CHECK_NEAR(cairn_friction_law_at(&law, 9, 0), 0.5, 0);
    CHECK_NEAR(cairn_friction_law_at(&law, 9, 0.1), 0.2 + 0.3 * exp(-1), 1e-15);
    CHECK_NEAR(cairn_friction_law_at(&law, 9, 0.2), 0.2 + 0.3 * exp(-4), 1e-15);
    CHECK_NEAR(cairn_friction_law_at(&law, 9, 10), 0.2, 1e-15);
    law.exponent = 1;
    CHECK_NEAR(cairn_friction_law_at(&law, 9, 0.1), 0.2 + 0.3 * exp(-1), 1e-15);
    CHECK_NEAR(cairn_friction_law_at(&law, 9, 0.2), 0.2 + 0.3 * exp(-2), 1e-15);
}

TEST(a_table_is_linear_in_between_and_constant_outside)
{
    const double speeds[] = { 0.1, 0.2, 0.6, 1 }, values[] = { 0.8, 0.6, 0.2, 0.2 };
    cairn_friction_law law = table(speeds, values, 4);
    const double at[] = { 0, 0.1, 0.15, 0.2, 0.5, 0.6, 0.9, 1, 50 };
    const double expected[] = { 0.8, 0.8, 0.7, 0.6, 0.3, 0.2, 0.2, 0.2, 0.2 };
    CHECK_OK(cairn_friction_law_check(&law, NULL));
    for (int i = 0; i < 9; i++)
        CHECK_NEAR(cairn_friction_law_at(&law, 9, at[i]), expected[i], 1e-15);
    law.speeds.count = law.values.count = 1;
    CHECK_OK(cairn_friction_law_check(&law, NULL));
    CHECK_NEAR(cairn_friction_law_at(&law, 9, 3), 0.8, 0);
}

TEST(a_constant_law_is_the_friction_of_the_material)
{
    const cairn_friction_law law = { 0 };
    CHECK_OK(cairn_friction_law_check(&law, NULL));
    CHECK_NEAR(cairn_friction_law_at(&law, 0.7, 3), 0.7, 0);
}

static void check_refused(const cairn_friction_law *law, const char *key, const char *piece)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_friction_law_check(law, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, key);
    CHECK_CONTAINS(error.message, piece);
}

TEST(laws_that_rise_or_jump_are_refused)
{
    const double up[] = { 0, 1, 2 }, jump[] = { 0, 1, 1 }, values[] = { 0.5, 0.2, 0.3 };
    const double down[] = { 0.5, 0.4, 0.3 };
    cairn_friction_law law = stribeck(0.2, 0.5, 0.1);
    check_refused(&law, "dynamic", "must not rise");
    law = table(up, values, 3);
    check_refused(&law, "values", "entry 3 is 0.3, expected at most 0.2");
    law = table(jump, down, 3);
    check_refused(&law, "speeds", "entry 3 is 1, expected more than 1");
}

TEST(impossible_parameters_are_refused)
{
    const double numbers[] = { 0, 1, 2 };
    cairn_friction_law law = stribeck(0.5, 0.2, 0);
    check_refused(&law, "speed", "> 0");
    law = stribeck(-0.5, -0.7, 1);
    check_refused(&law, "static", "found -0.5");
    law = table(NULL, NULL, 0);
    check_refused(&law, "speeds", "empty");
    law = table(numbers, numbers, 3);
    law.values.count = 2;
    check_refused(&law, "values", "found 2 numbers, expected 3");
    law.kind = CAIRN_FRICTION_COUNT;
    CHECK_INT(cairn_friction_law_check(&law, NULL), CAIRN_BAD_INPUT);
}

TEST(the_tables_have_the_names_of_the_scene_format)
{
    CHECK_TEXT(cairn_friction_law_record(CAIRN_FRICTION_CONSTANT)->name, "constant");
    CHECK_TEXT(cairn_friction_law_record(CAIRN_FRICTION_STRIBECK)->name, "stribeck");
    CHECK_TEXT(cairn_friction_law_record(CAIRN_FRICTION_TABLE)->name, "table");
    CHECK(cairn_friction_law_record(CAIRN_FRICTION_SMALLER) == NULL);
    cairn_friction_law law;
    cairn_friction_law_record(CAIRN_FRICTION_STRIBECK)->set_default(&law);
    CHECK_INT(law.kind, CAIRN_FRICTION_STRIBECK);
    CHECK_NEAR(law.exponent, 2, 0);
}

int main(void)
{
    RUN(CASE(stribeck_falls_from_static_to_dynamic),
        CASE(a_table_is_linear_in_between_and_constant_outside),
        CASE(a_constant_law_is_the_friction_of_the_material),
        CASE(laws_that_rise_or_jump_are_refused), CASE(impossible_parameters_are_refused),
        CASE(the_tables_have_the_names_of_the_scene_format));
}
