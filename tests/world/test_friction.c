/* test_friction.c - materials and friction: coefficients, the default scheme, exact friction
 * where needed. */
#include <math.h>
#include <string.h>

#include "cairn/cairn.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

/* ==== test_material: materials, and what happens where two of them meet ======================= */

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

GROUP(test_material)
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

/* ==== test_friction: friction as a function of the sliding speed: its values, and what is
 * refused */

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

static void check_law_refused(const cairn_friction_law *law, const char *key, const char *piece)
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
    check_law_refused(&law, "dynamic", "must not rise");
    law = table(up, values, 3);
    check_law_refused(&law, "values", "entry 3 is 0.3, expected at most 0.2");
    law = table(jump, down, 3);
    check_law_refused(&law, "speeds", "entry 3 is 1, expected more than 1");
}

TEST(impossible_parameters_are_refused)
{
    const double numbers[] = { 0, 1, 2 };
    cairn_friction_law law = stribeck(0.5, 0.2, 0);
    check_law_refused(&law, "speed", "> 0");
    law = stribeck(-0.5, -0.7, 1);
    check_law_refused(&law, "static", "found -0.5");
    law = table(NULL, NULL, 0);
    check_law_refused(&law, "speeds", "empty");
    law = table(numbers, numbers, 3);
    law.values.count = 2;
    check_law_refused(&law, "values", "found 2 numbers, expected 3");
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

GROUP(test_friction)
{
    RUN(CASE(stribeck_falls_from_static_to_dynamic),
        CASE(a_table_is_linear_in_between_and_constant_outside),
        CASE(a_constant_law_is_the_friction_of_the_material),
        CASE(laws_that_rise_or_jump_are_refused), CASE(impossible_parameters_are_refused),
        CASE(the_tables_have_the_names_of_the_scene_format));
}

/* ==== test_mixed: scheme auto: exact Coulomb friction only where the convex law errs too much, and
 * the meters of that error. */

static const cairn_vec3 zero = { 0, 0, 0 };

static cairn_step_options auto_step(double h, double model_tolerance, double tolerance)
{
    cairn_step_options options = step_by(h, "auto", tolerance);
    options.model_tolerance = model_tolerance;
    return options;
}

/* The disk of scenes/incline_disk_2d.yaml, friction 0.1, after `steps` steps of 0.01 s. */
static cairn_vec3 slide_down(const cairn_step_options *options, int steps,
                             cairn_step_report *report)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = { .friction = 0.1 };
    cairn_world *world;
    def.dimension = 2;
    def.gravity = (cairn_vec3){ 0.5, -sqrt(0.75), 0 };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, NULL));
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 1, (cairn_vec3){ 0, 2, 0 }, zero);
    *report = advance(world, options, steps);
    cairn_vec3 x = cairn_world_bodies(world).x[1];
    cairn_world_destroy(world);
    return x;
}

/* Where the disk is judged by 0 it is Coulomb's, by 1 m it is the convex one, to the bit. */
TEST(on_the_incline_it_is_coulomb_or_convex_by_its_tolerance)
{
    cairn_step_report report;
    cairn_step_options coulomb = step_by(0.01, "coulomb", 1e-10), convex = coulomb;
    cairn_step_options fine = auto_step(0.01, 0, 1e-10), coarse = auto_step(0.01, 1, 1e-10);
    convex.scheme = "convex";
    cairn_vec3 exact = slide_down(&coulomb, 1000, &report), x = slide_down(&fine, 1000, &report);
    CHECK_NEAR(x.x, exact.x, 1e-7);
    CHECK_NEAR(x.y, exact.y, 1e-7);
    CHECK_INT(report.upgraded, 1);
    CHECK(report.certificate.dilatation == 0 && report.certificate.spurious_work == 0);
    cairn_vec3 lifted = slide_down(&convex, 1000, &report);
    x = slide_down(&coarse, 1000, &report);
    CHECK(x.x == lifted.x && x.y == lifted.y);
    CHECK_INT(report.upgraded, 0);
}

/* |u_T| grows with 0.5 - 3 * 0.1 * cos 30 = 0.24 m/s^2. The gap h mu |u_T| would reach 1e-2 m at
 * u_T = 10 m/s, but the height (mu |u_T|)^2/(2 g), g = 1 m/s^2, does so at 1.41 m/s, some 6 s after
 * the landing at 1.5 s: convex before, Coulomb after. */
TEST(a_contact_is_upgraded_when_its_throw_reaches_the_tolerance)
{
    cairn_step_report report;
    cairn_step_options options = auto_step(0.01, 1e-2, 1e-10);
    cairn_vec3 x = slide_down(&options, 400, &report);
    CHECK_INT(report.upgraded, 0);
    CHECK(report.certificate.dilatation > 3e-4 && report.certificate.dilatation < 1e-3);
    CHECK_NEAR(x.y - 1, report.certificate.dilatation, 1e-5);
    x = slide_down(&options, 800, &report);
    CHECK_INT(report.upgraded, 1);
    CHECK(report.certificate.dilatation == 0);
    CHECK_NEAR(x.y, 1, 1e-8);
}

/* m = 1, g = 10, mu = 0.2, h = 0.001, sliding with 1 - 0.001 * 0.2 * 10 * 3.5 = 0.993 after the first
 * step by Coulomb's law. The convex law lifts: u_N = mu |u_T| needs r_N more than m g h by that.
 * The work is r_N mu |u_T| with the numbers of the step. */
TEST(spurious_work_is_the_lifting_of_what_slides)
{
    cairn_world *world = new_world(3, 10, 0.2, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 0.1 }, (cairn_vec3){ 1, 0, 0 });
    cairn_step_options options = step_by(0.001, "convex", 1e-12);
    cairn_step_report report = advance(world, &options, 50);
    cairn_contacts c = cairn_world_contacts(world);
    double slide = sqrt(c.velocity[1] * c.velocity[1] + c.velocity[2] * c.velocity[2]);
    CHECK_NEAR(slide, 1 - 0.05 * 0.2 * 10 * 3.5, 0.02);
    CHECK_CLOSE(report.certificate.spurious_work, c.impulse[0] * 0.2 * slide, 1e-9);
    /* friction takes as much: r.(u + b n) = 0 */
    double taken = c.impulse[1] * c.velocity[1] + c.impulse[2] * c.velocity[2];
    CHECK_CLOSE(report.certificate.spurious_work, -taken, 1e-9);
    options.scheme = "coulomb";
    CHECK(advance(world, &options, 1).certificate.spurious_work == 0);
    cairn_world_destroy(world);
}

/* ---- a heap --------------------------------------------------------------------------------- */

/* A heap that falls apart, up to step 75; then one step by the options. */
static cairn_world *new_falling_heap(void)
{
    cairn_world *world = new_heap(3, 0.2, 6);
    cairn_step_options options = step_by(0.005, "coulomb", 1e-6);
    advance(world, &options, 75);
    return world;
}

/* Largest difference of velocities, m/s. */
static double apart(const cairn_world *one, const cairn_world *other)
{
    cairn_bodies a = cairn_world_bodies(one), b = cairn_world_bodies(other);
    double largest = 0;
    for (int i = 0; i < a.count; i++)
        largest = fmax(largest,
                       hypot(a.v[i].x - b.v[i].x, hypot(a.v[i].y - b.v[i].y, a.v[i].z - b.v[i].z)));
    return largest;
}

static cairn_step_report step_heap(const cairn_step_options *options, cairn_world **world)
{
    *world = new_falling_heap();
    return advance(*world, options, 1);
}

static int count_sliding(const cairn_world *world)
{
    cairn_contacts c = cairn_world_contacts(world);
    int count = 0;
    for (int j = 0; j < c.count; j++)
        count += c.impulse[3 * j] > 0 && hypot(c.velocity[3 * j + 1], c.velocity[3 * j + 2]) > 1e-6;
    return count;
}

TEST(in_a_heap_it_lies_between_coulomb_and_convex)
{
    cairn_world *coulomb, *convex, *none, *all, *some;
    cairn_step_options options = step_by(0.005, "coulomb", 1e-8);
    step_heap(&options, &coulomb);
    options.scheme = "convex";
    double kept = step_heap(&options, &convex).certificate.dilatation;
    CHECK(apart(coulomb, convex) > 1e-3);

    cairn_step_options mixed = auto_step(0.005, 1, 1e-8);
    CHECK_INT(step_heap(&mixed, &none).upgraded, 0);
    CHECK(cairn_world_hash(none) == cairn_world_hash(convex));

    mixed.model_tolerance = 0;
    cairn_step_report report = step_heap(&mixed, &all);
    CHECK(apart(coulomb, all) < 1e-6);
    CHECK(report.certificate.judgement.coulomb.relative < 1e-6);

    mixed.model_tolerance = 0.3 * kept;
    report = step_heap(&mixed, &some);
    CHECK(report.certificate.dilatation > 0 && report.certificate.dilatation <= 0.3 * kept);
    CHECK(report.upgraded > 0 && report.upgraded < count_sliding(some));
    CHECK(apart(coulomb, some) < apart(coulomb, convex));
    cairn_world *const worlds[] = { coulomb, convex, none, all, some };
    for (int i = 0; i < 5; i++)
        cairn_world_destroy(worlds[i]);
}

GROUP(test_mixed)
{
    RUN(CASE(on_the_incline_it_is_coulomb_or_convex_by_its_tolerance),
        CASE(a_contact_is_upgraded_when_its_throw_reaches_the_tolerance),
        CASE(spurious_work_is_the_lifting_of_what_slides),
        CASE(in_a_heap_it_lies_between_coulomb_and_convex));
}

/* ==== test_default_scheme: what friction does when nothing is set: it neither throws what
 * slides nor stalls. What can rest: test_promise.c. */

/* What a run showed of one body. */
typedef struct travel {
    double lift;            /* m: above where it was, at most         */
    double way;             /* m: along x                             */
    int64_t missed, sweeps; /* steps; most in one          */
} travel;

static cairn_vec3 place_of(const cairn_world *world, int body)
{
    return cairn_world_bodies(world).x[body];
}

static travel travel_of(cairn_scene *scene, int body, int up)
{
    cairn_vec3 start = place_of(scene->world, body);
    travel t = { 0 };
    int64_t steps = llround(scene->run.duration / scene->step.time_step);
    for (int64_t k = 0; k < steps; k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        cairn_vec3 x = place_of(scene->world, body);
        t.lift = fmax(t.lift, up == 1 ? x.y - start.y : x.z - start.z);
        t.way = x.x - start.x;
        t.missed += !report.solve.converged;
        t.sweeps = report.solve.iterations > t.sweeps ? report.solve.iterations : t.sweeps;
    }
    cairn_scene_destroy(scene);
    return t;
}

TEST(exact_friction_is_the_default_everywhere)
{
    cairn_scene *scene = scene_text_good(HEAD, NULL);
    CHECK_TEXT(scene->step.scheme, "coulomb");
    CHECK_INT(scene->step.max_iterations, 1000);
    cairn_scene_destroy(scene);
    CHECK_TEXT(cairn_step_options_default().scheme, "coulomb");
    CHECK_TEXT(cairn_lagrange_options_default().scheme, "coulomb");
}

static const char *const sliding_box =
    "cairn: 1\n"
    "materials: {m: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {axis: [0, 0, 1]}}}\n"
    "  - {shape: {box: {size: [0.4, 0.4, 0.05]}}, position: [0, 0, 0.025], velocity: [3, 0, 0]}\n"
    "run: {time_step: 1e-3, duration: 1.2}\n";

/* v^2/(2 mu g) = 1.52905 m; a step of friction more or less is v h/2. The convex law lifts it by
 * 35 mm, whatever the time step. */
TEST(a_box_that_slides_is_not_lifted)
{
    static const char *const steps[] = { "run.time_step=1e-2", "run.time_step=2.5e-3",
                                         "run.time_step=1e-3", "run.time_step=2e-4" };
    static const double h[] = { 1e-2, 2.5e-3, 1e-3, 2e-4 };
    for (int k = 0; k < 4; k++) {
        travel t = travel_of(scene_text_good(sliding_box, steps[k]), 1, 2);
        CHECK(t.lift < 1e-6);
        CHECK_NEAR(t.way, 9 / (2 * 0.3 * 9.81), 3 * h[k]);
        CHECK_INT(t.missed, 0);
    }
    CHECK(travel_of(scene_text_good(sliding_box, "run.scheme=convex"), 1, 2).lift > 0.03);
}

/* The gap that scheme auto allows and the height to which its lift throws are both at most
 * run.model_tolerance = 0.1 mm, also where the time step is small. */
TEST(the_mixed_scheme_bounds_the_height_of_a_throw)
{
    cairn_scene *scene = scene_text_good(sliding_box, "run.scheme=auto");
    scene->step.time_step = 2e-4;
    CHECK(travel_of(scene, 1, 2).lift < 2.5e-4);
}

static const char *const hit_block =
    "cairn: 1\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {half_space: {axis: [0, 0, 1]}}}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [0, 0, 0.1], mass: 1}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [-0.25, 0, 0.1], mass: 2, velocity: [4, 0, "
    "0]}\n"
    "run: {time_step: 1e-3, duration: 0.8}\n";

/* With the convex law it flew 52 mm high. */
TEST(a_block_that_is_hit_does_not_fly)
{
    travel t = travel_of(scene_text_good(hit_block, NULL), 1, 2);
    CHECK(t.lift < 1e-5);
    CHECK(t.way > 0.5);
}

GROUP(test_default_scheme)
{
    RUN(CASE(exact_friction_is_the_default_everywhere), CASE(a_box_that_slides_is_not_lifted),
        CASE(the_mixed_scheme_bounds_the_height_of_a_throw), CASE(a_block_that_is_hit_does_not_fly));
}
