/* test_statistics.c - statistics of a state: the table, regions, sums over bodies and contacts. */
#include "cairn/statistics.h"
#include "tests/check.h"
#include "tests/measure/grain_sample.h"

/* ==== test_statistics: the table of statistics, and tables as values ========================== */

TEST(every_statistic_has_a_name_columns_and_a_summary)
{
    int count = 0;
    for (; cairn_statistic_name(count); count++) {
        const cairn_statistic *s = cairn_statistic_find(cairn_statistic_name(count));
        CHECK(s->field_count > 0 && s->field_count < CAIRN_STATISTIC_COLUMNS);
        CHECK(s->summary[0] && s->needs[0] && s->measure);
        int drawn = 0;
        for (int i = 0; i < s->field_count; i++) {
            CHECK(s->fields[i].column.text[0] != '\0');
            drawn += s->fields[i].column.drawn;
        }
        CHECK(drawn > 0);
    }
    CHECK_INT(count, 17);
    CHECK(cairn_statistic_find("temprature") == NULL);
    CHECK(cairn_statistic_summary("temprature") == NULL);
    CHECK(cairn_statistic_needs("temprature") == NULL);
}

TEST(in_2d_a_table_has_no_third_component_and_other_units)
{
    cairn_statistic_table flat, deep;
    CHECK_OK(cairn_statistic_table_create("stress", 2, &flat));
    CHECK_OK(cairn_statistic_table_create("stress", 3, &deep));
    CHECK_INT(flat.column_count, 7);
    CHECK_INT(deep.column_count, 10);
    CHECK_TEXT(flat.columns[0].name, "time");
    CHECK_TEXT(flat.columns[6].name, "xy");
    CHECK_TEXT(flat.columns[6].unit, "N/m");
    CHECK_TEXT(deep.columns[6].unit, "Pa");
    CHECK_INT(cairn_statistic_table_create("nothing", 2, &flat), CAIRN_NOT_FOUND);
}

TEST(rows_of_one_frame_follow_those_of_another)
{
    heap *h = heap_simple_cubic(2, 3);
    cairn_measure_options o = cairn_measure_options_default();
    cairn_arena arena = { 0 };
    cairn_statistic_table t;
    CHECK_OK(cairn_statistic_table_create("centre", 2, &t));
    for (int k = 0; k < 3; k++) {
        h->sample.time = 0.5 * k;
        CHECK_OK(cairn_statistic_measure(&h->sample, &o, &arena, &t));
    }
    CHECK_INT(t.rows, 3);
    CHECK_NEAR(table_at(&t, 2, "time"), 1, 0);
    CHECK_NEAR(table_at(&t, 2, "y"), 1, 1e-14);
    h->sample.dimension = 3; /* not a state for this table */
    CHECK_INT(cairn_statistic_measure(&h->sample, &o, &arena, &t), CAIRN_BAD_INPUT);
    CHECK_INT(t.rows, 3);
    cairn_statistic_table_destroy(&t);
    cairn_arena_destroy(&arena);
}

/* Whichever allocation fails, it is reported and nothing leaks. */
TEST(no_memory_is_reported_by_every_statistic)
{
    heap *h = heap_simple_cubic(2, 5);
    cairn_measure_options o = cairn_measure_options_default();
    heap_touch_all(h);
    h->radius[3] = 0.3;
    for (int s = 0; cairn_statistic_name(s); s++) {
        cairn_status status = CAIRN_NO_MEMORY;
        for (long fail = 1; status != CAIRN_OK && fail < 100; fail++) {
            meter m = { .fail_at = fail };
            cairn_statistic_table t;
            cairn_arena arena = { 0 };
            meter_install(&m);
            CHECK_OK(cairn_statistic_table_create(cairn_statistic_name(s), 2, &t));
            status = cairn_statistic_measure(&h->sample, &o, &arena, &t);
            CHECK(status == CAIRN_OK || (status == CAIRN_NO_MEMORY && t.rows == 0));
            cairn_statistic_table_destroy(&t);
            cairn_arena_destroy(&arena);
            cairn_allocator_set(NULL);
            CHECK_INT(m.alive, 0);
        }
        CHECK_OK(status);
    }
}

/* Two windows of two balls each, and then a failure. */
typedef struct broken {
    cairn_source source;
    cairn_sample sample;
    int windows; /* left */
} broken;

static int next_window(void *context, const cairn_rows *rows, bool first)
{
    broken *b = context;
    (void)first;
    if (b->windows-- > 0)
        return rows->contacts ? 1 : 2;
    b->source.status = CAIRN_IO_FAILED;
    return 0;
}

static double no_rank(void *context, int axis, int64_t rank)
{
    broken *b = context;
    (void)axis;
    b->source.status = CAIRN_IO_FAILED;
    return (double)rank;
}

TEST(a_source_that_fails_is_reported_by_every_statistic)
{
    static const double touching[2] = { 1, 1 };
    cairn_measure_options o = cairn_measure_options_default();
    heap *h = heap_empty(3);
    heap_ball(h, 0.5, (cairn_vec3){ 4, 0, 1 });
    heap_ball(h, 0.4, (cairn_vec3){ 4, 0, 2 });
    heap_touch(h, 1, 0, 3);
    for (int i = 0; cairn_statistic_name(i); i++)
        for (int windows = 0; windows < 3; windows++) {
            broken b = { .source = { 4, 3, &b, next_window, no_rank, CAIRN_OK },
                         .sample = h->sample,
                         .windows = windows };
            cairn_arena arena = { 0 };
            cairn_statistic_table t;
            b.sample.source = &b.source;
            b.sample.touching = touching;
            CHECK_OK(cairn_statistic_table_create(cairn_statistic_name(i), 3, &t));
            bool walks = strcmp(t.name, "cell") != 0;
            CHECK_INT(cairn_statistic_measure(&b.sample, &o, &arena, &t),
                      walks ? CAIRN_IO_FAILED : CAIRN_OK);
            CHECK_INT(t.rows, 0);
            cairn_statistic_table_destroy(&t);
            cairn_arena_destroy(&arena);
        }
}

GROUP(test_statistics)
{
    RUN(CASE(every_statistic_has_a_name_columns_and_a_summary),
        CASE(in_2d_a_table_has_no_third_component_and_other_units),
        CASE(rows_of_one_frame_follow_those_of_another),
        CASE(no_memory_is_reported_by_every_statistic),
        CASE(a_source_that_fails_is_reported_by_every_statistic));
}

/* ==== test_measure_options: options of measuring: defaults pass, nonsense does not ============ */

TEST(the_defaults_are_right_in_both_dimensions)
{
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_OK(cairn_measure_options_check(&o, 2, NULL));
    CHECK_OK(cairn_measure_options_check(&o, 3, NULL));
    CHECK_INT(o.bins, 50);
    CHECK_NEAR(o.trim, 0.15, 0);
}

TEST(an_empty_box_is_refused)
{
    cairn_measure_options o = cairn_measure_options_default();
    cairn_error error = { 0 };
    o.low.z = o.high.z = 1;
    CHECK_OK(cairn_measure_options_check(&o, 2, &error));
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "high");
    CHECK_CONTAINS(error.message, "expected more than the lower corner's 1");
}

TEST(there_is_no_z_axis_in_2d)
{
    cairn_measure_options o = cairn_measure_options_default();
    cairn_error error = { 0 };
    o.axis = "z";
    CHECK_OK(cairn_measure_options_check(&o, 3, &error));
    CHECK_INT(cairn_measure_options_check(&o, 2, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "axis");
}

TEST(numbers_out_of_range_are_refused)
{
    cairn_measure_options o = cairn_measure_options_default();
    cairn_error error = { 0 };
    o.bins = 0;
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "bins");
    o = cairn_measure_options_default();
    o.trim = 0.5;
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
    CHECK_TEXT(error.key, "trim");
    o = (cairn_measure_options){ .trim = 0 };
    CHECK_INT(cairn_measure_options_check(&o, 3, &error), CAIRN_BAD_INPUT);
}

GROUP(test_measure_options)
{
    RUN(CASE(the_defaults_are_right_in_both_dimensions), CASE(an_empty_box_is_refused),
        CASE(there_is_no_z_axis_in_2d), CASE(numbers_out_of_range_are_refused));
}

/* ==== test_measure_moments: centre, height, temperature and energy of a few grains ============ */

/* 1 kg at height 1 and 3 kg at height 5, moving. */
static heap *two_balls(void)
{
    heap *h = heap_empty(3);
    heap_ball(h, 0.5, (cairn_vec3){ 4, 0, 1 });
    heap_ball(h, 1, (cairn_vec3){ 0, 0, 5 });
    h->mass[1] = 3;
    h->v[0] = (cairn_vec3){ 0, 2, 0 };
    h->v[1] = (cairn_vec3){ 0, -2, 0 };
    h->omega[1] = (cairn_vec3){ 0, 0, 2 };
    h->inertia[1] = (cairn_vec3){ 1, 1, 0.5 };
    return h;
}

TEST(the_centre_is_weighted_by_mass)
{
    heap *h = two_balls();
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_NEAR(heap_number(h, "centre", "x", &o), 1, 1e-14);
    CHECK_NEAR(heap_number(h, "centre", "z", &o), 4, 1e-14);
    CHECK_NEAR(heap_number(h, "centre", "vy", &o), -1, 1e-14);
    CHECK_NEAR(heap_number(h, "centre", "mass", &o), 4, 0);
    o.high.z = 3;
    CHECK_NEAR(heap_number(h, "centre", "z", &o), 1, 0);
}

TEST(heights_are_measured_against_gravity)
{
    heap *h = two_balls();
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_NEAR(heap_number(h, "height", "mean", &o), 4, 1e-14);
    CHECK_NEAR(heap_number(h, "height", "top", &o), 6, 1e-14);
    CHECK_NEAR(heap_number(h, "height", "bottom", &o), 0.5, 1e-14);
    CHECK_NEAR(heap_number(h, "height", "spread", &o), sqrt((9 + 3) / 4.0), 1e-14);
    h->sample.gravity = (cairn_vec3){ -1, 0, -1 };
    CHECK_NEAR(heap_number(h, "height", "mean", &o), 5 / sqrt(2), 1e-14);
}

/* Velocities +-2 along y: variance 4, over three axes 4/3. */
TEST(the_temperature_is_about_the_mean_velocity)
{
    heap *h = two_balls();
    cairn_measure_options o = cairn_measure_options_default();
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(heap_number(h, "temperature", "temperature", &o), 4 / 3.0, 1e-13);
        CHECK_NEAR(heap_number(h, "temperature", "y", &o), 4, 1e-13);
        CHECK_NEAR(heap_number(h, "temperature", "x", &o), 0, 1e-13);
        h->v[0].x += 7; /* a common velocity changes nothing */
        h->v[1].x += 7;
    }
}

TEST(energy_is_that_of_the_grains_and_the_sums_of_the_steps)
{
    heap *h = two_balls();
    cairn_measure_options o = cairn_measure_options_default();
    cairn_energy sums = { .friction_loss = 3, .impact_loss = 4, .driver_work = 5 };
    CHECK_NEAR(heap_number(h, "energy", "kinetic", &o), 2 + 6 + 1, 1e-14);
    CHECK_NEAR(heap_number(h, "energy", "potential", &o), 10 * 1 + 30 * 5, 1e-12);
    CHECK(isnan(heap_number(h, "energy", "friction_loss", &o)));
    h->sample.totals = &sums;
    CHECK_NEAR(heap_number(h, "energy", "friction_loss", &o), 3, 0);
    CHECK_NEAR(heap_number(h, "energy", "impact_loss", &o), 4, 0);
    CHECK_NEAR(heap_number(h, "energy", "driver_work", &o), 5, 0);
}

GROUP(test_measure_moments)
{
    RUN(CASE(the_centre_is_weighted_by_mass), CASE(heights_are_measured_against_gravity),
        CASE(the_temperature_is_about_the_mean_velocity),
        CASE(energy_is_that_of_the_grains_and_the_sums_of_the_steps));
}

/* ==== test_coordination: contacts of lattices and of small heaps, and how forces are spread */

TEST(inside_a_simple_cubic_lattice_there_are_6_contacts)
{
    heap *h = heap_simple_cubic(3, 5);
    heap_touch_all(h);
    cairn_measure_options o =
        box_options((cairn_vec3){ 0.5, 0.5, 0.5 }, (cairn_vec3){ 3.5, 3.5, 3.5 });
    CHECK_NEAR(heap_number(h, "coordination", "mean", &o), 6, 0);
    CHECK_NEAR(heap_number(h, "coordination", "grains", &o), 27, 0);
    o = cairn_measure_options_default();
    /* 3 x 4 x 25 contacts of 125 grains */
    CHECK_CLOSE(heap_number(h, "coordination", "mean", &o), 2 * 300 / 125.0, 1e-14);
}

TEST(inside_face_centred_cubic_there_are_12)
{
    heap *h = heap_fcc(4);
    heap_touch_all(h);
    cairn_measure_options o = box_options((cairn_vec3){ 1, 1, 1 }, (cairn_vec3){ 3, 3, 3 });
    CHECK_NEAR(heap_number(h, "coordination", "mean", &o), 12, 0);
    cairn_statistic_table t = heap_measure(h, "neighbours", &o);
    CHECK_INT(t.rows, 13);
    CHECK_NEAR(table_at(&t, 12, "share"), 1, 1e-12);
    CHECK_NEAR(table_at(&t, 6, "share"), 0, 0);
    cairn_statistic_table_destroy(&t);
}

/* Two disks carry a third on a floor, a fourth is alone, and one contact has no force. */
static heap *four_disks(void)
{
    heap *h = heap_empty(2);
    heap_ball(h, 0.5, (cairn_vec3){ 0, 0.5, 0 });
    heap_ball(h, 0.5, (cairn_vec3){ 1, 0.5, 0 });
    heap_ball(h, 0.5, (cairn_vec3){ 0.5, 0.5 + sqrt(0.75), 0 });
    heap_ball(h, 0.5, (cairn_vec3){ 9, 0.5, 0 });
    heap_touch(h, 0, -1, 3);
    heap_touch(h, 1, -1, 3);
    heap_touch(h, 2, 0, 2);
    heap_touch(h, 2, 1, 2);
    heap_touch(h, 3, -1, 1e-9);
    return h;
}

TEST(walls_count_and_dust_does_not)
{
    heap *h = four_disks();
    cairn_measure_options o = cairn_measure_options_default();
    CHECK_NEAR(heap_number(h, "coordination", "mean", &o), 6 / 4.0, 1e-14);
    CHECK_NEAR(heap_number(h, "coordination", "between_grains", &o), 4 / 4.0, 1e-14);
    CHECK_NEAR(heap_number(h, "coordination", "without_rattlers", &o), 6 / 3.0, 1e-14);
    CHECK_NEAR(heap_number(h, "coordination", "rattlers", &o), 1 / 4.0, 1e-14);
    cairn_statistic_table t = heap_measure(h, "neighbours", &o);
    CHECK_INT(t.rows, 3);
    CHECK_NEAR(table_at(&t, 0, "share"), 0.25, 1e-14);
    CHECK_NEAR(table_at(&t, 2, "share"), 0.75, 1e-14);
    cairn_statistic_table_destroy(&t);
}

/* Forces 3, 3, 2, 2: mean 2.5, ratios 1.2 and 0.8, half of the contacts each;
 * the density times the width of a bin is that half. */
TEST(the_density_of_forces_integrates_to_1)
{
    heap *h = four_disks();
    cairn_measure_options o = cairn_measure_options_default();
    o.bins = 4; /* of 0.3: 0.8 is in the third, 1.2 in the last */
    cairn_statistic_table t = heap_measure(h, "forces", &o);
    CHECK_INT(t.rows, 4);
    CHECK_NEAR(table_at(&t, 0, "ratio"), 0.15, 1e-12);
    CHECK_NEAR(table_at(&t, 0, "density"), 0, 0);
    CHECK_NEAR(table_at(&t, 2, "density"), 0.5 / 0.3, 1e-12);
    CHECK_NEAR(table_at(&t, 3, "density"), 0.5 / 0.3, 1e-12);
    CHECK_NEAR(table_at(&t, 3, "force"), 1.05 * 2.5, 1e-12);
    cairn_statistic_table_destroy(&t);
}

TEST(without_contacts_there_are_no_rows)
{
    heap *h = heap_simple_cubic(2, 3);
    cairn_measure_options o = cairn_measure_options_default();
    const char *const names[] = { "coordination", "neighbours", "forces", "stress", "fabric" };
    h->sample.has_contacts = false;
    for (int i = 0; i < 5; i++) {
        cairn_statistic_table t = heap_measure(h, names[i], &o);
        CHECK_INT(t.rows, 0);
        cairn_statistic_table_destroy(&t);
    }
}

GROUP(test_coordination)
{
    RUN(CASE(inside_a_simple_cubic_lattice_there_are_6_contacts),
        CASE(inside_face_centred_cubic_there_are_12), CASE(walls_count_and_dust_does_not),
        CASE(the_density_of_forces_integrates_to_1), CASE(without_contacts_there_are_no_rows));
}

/* ==== test_tensors: stress and fabric where they are known by hand ============================ */

/* A column of 10 balls of 1 kg on a floor, radius 0.5, gravity 10: below ball k (from 0) the force
 * is the weight of those above, 10 (10 - k) N. */
static heap *column(void)
{
    heap *h = heap_empty(3);
    for (int k = 0; k < 10; k++)
        heap_ball(h, 0.5, (cairn_vec3){ 0.5, 0.5, k + 0.5 });
    for (int k = 0; k < 10; k++)
        heap_touch(h, k, k - 1, 10 * (10 - k));
    return h;
}

/* Between the centres of two balls the stress is the weight above over the area of the box. */
TEST(in_a_column_the_stress_is_the_weight_above_over_the_area)
{
    heap *h = column();
    for (int k = 1; k < 10; k++) {
        cairn_measure_options o =
            box_options((cairn_vec3){ 0, 0, k - 0.4 }, (cairn_vec3){ 2, 1, k + 0.4 });
        CHECK_CLOSE(heap_number(h, "stress", "zz", &o), 10 * (10 - k) / 2.0, 1e-12);
        CHECK_NEAR(heap_number(h, "stress", "xx", &o), 0, 0);
        CHECK_CLOSE(heap_number(h, "stress", "pressure", &o), 10 * (10 - k) / 6.0, 1e-12);
        CHECK_CLOSE(heap_number(h, "stress", "deviator", &o), 10 * (10 - k) / 2.0, 1e-12);
    }
}

/* Over the whole column: half a ball at the floor with 100 N, then 90, ... 10 N over one ball each:
 * (50 + 450)/10 over an area of 1. */
TEST(a_box_takes_its_share_of_each_branch)
{
    heap *h = column();
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 1, 1, 10 });
    CHECK_CLOSE(heap_number(h, "stress", "zz", &o), 50, 1e-12);
    o = box_options((cairn_vec3){ 0, 0, 9.25 }, (cairn_vec3){ 1, 1, 10.25 });
    CHECK_CLOSE(heap_number(h, "stress", "zz", &o), 10 * 0.25, 1e-12);
}

/* A chain along (3, 4)/5 with force F: sigma = F L n n' / A, whichever body is a. */
TEST(a_chain_carries_its_force_along_itself)
{
    heap *h = heap_empty(2);
    for (int k = 0; k < 3; k++)
        heap_ball(h, 0.5, (cairn_vec3){ 0.6 * k, 0.8 * k, 0 });
    heap_touch(h, 1, 0, 7);
    heap_touch(h, 1, 2, 7);
    cairn_measure_options o = box_options((cairn_vec3){ -1, -1, 0 }, (cairn_vec3){ 3, 4, 1 });
    const double unit = 7 * 2 / 20.0;
    CHECK_CLOSE(heap_number(h, "stress", "xx", &o), unit * 0.36, 1e-12);
    CHECK_CLOSE(heap_number(h, "stress", "yy", &o), unit * 0.64, 1e-12);
    CHECK_CLOSE(heap_number(h, "stress", "xy", &o), unit * 0.48, 1e-12);
    CHECK_CLOSE(heap_number(h, "stress", "deviator", &o), unit, 1e-12);
    CHECK_NEAR(heap_number(h, "stress", "asymmetry", &o), 0, 1e-12);
    CHECK_CLOSE(heap_number(h, "fabric", "anisotropy", &o), 1, 1e-12);
}

/* Two grains of 1 kg at +-3 m/s about a mean velocity: 2 x 9/V, and only when asked for. */
TEST(moving_grains_carry_stress_when_asked)
{
    heap *h = heap_empty(3);
    cairn_measure_options o = box_options((cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 2, 1, 1 });
    h->v[heap_ball(h, 0.1, (cairn_vec3){ 0.5, 0.5, 0.5 })] = (cairn_vec3){ 8, 0, 0 };
    h->v[heap_ball(h, 0.1, (cairn_vec3){ 1.5, 0.5, 0.5 })] = (cairn_vec3){ 2, 0, 0 };
    CHECK_NEAR(heap_number(h, "stress", "xx", &o), 0, 0);
    o.kinetic = true;
    CHECK_CLOSE(heap_number(h, "stress", "xx", &o), 9, 1e-12);
    CHECK_NEAR(heap_number(h, "stress", "yy", &o), 0, 1e-12);
}

TEST(the_fabric_of_a_simple_cubic_lattice_is_a_third_of_the_unit)
{
    heap *h = heap_simple_cubic(3, 4);
    cairn_measure_options o = cairn_measure_options_default();
    heap_touch_all(h);
    CHECK_CLOSE(heap_number(h, "fabric", "xx", &o), 1 / 3.0, 1e-12);
    CHECK_CLOSE(heap_number(h, "fabric", "zz", &o), 1 / 3.0, 1e-12);
    CHECK_NEAR(heap_number(h, "fabric", "xy", &o), 0, 1e-12);
    CHECK_NEAR(heap_number(h, "fabric", "anisotropy", &o), 0, 1e-12);
    CHECK_NEAR(heap_number(h, "fabric", "contacts", &o), 3 * 3 * 16, 0);
}

TEST(normals_all_over_the_sphere_are_isotropic)
{
    heap *h = heap_empty(3);
    cairn_measure_options o = cairn_measure_options_default();
    int middle = heap_ball(h, 1, (cairn_vec3){ 0, 0, 0 });
    enum { MANY = 4000 };
    for (int k = 0; k < MANY; k++) { /* a spiral of equal areas */
        double z = 1 - (2 * k + 1.0) / MANY, a = 2.399963229728653 * k, r = sqrt(1 - z * z);
        heap_touch(h, heap_ball(h, 1, (cairn_vec3){ 2 * r * cos(a), 2 * r * sin(a), 2 * z }),
                   middle, 1);
    }
    CHECK_NEAR(heap_number(h, "fabric", "xx", &o), 1 / 3.0, 1e-5);
    CHECK_NEAR(heap_number(h, "fabric", "yy", &o), 1 / 3.0, 1e-5);
    CHECK_NEAR(heap_number(h, "fabric", "zz", &o), 1 / 3.0, 1e-5);
    CHECK_NEAR(heap_number(h, "fabric", "yz", &o), 0, 1e-3);
}

GROUP(test_tensors)
{
    RUN(CASE(in_a_column_the_stress_is_the_weight_above_over_the_area),
        CASE(a_box_takes_its_share_of_each_branch), CASE(a_chain_carries_its_force_along_itself),
        CASE(moving_grains_carry_stress_when_asked),
        CASE(the_fabric_of_a_simple_cubic_lattice_is_a_third_of_the_unit),
        CASE(normals_all_over_the_sphere_are_isotropic));
}

/* ==== test_region: boxes: what lies in them, how much of a segment and of a ball ============== */

static const cairn_region unit = { 3, { 0, 0, 0 }, { 1, 1, 1 } };
static const cairn_region square = { 2, { 0, 0, 0 }, { 1, 1, 0 } };

TEST(neighbouring_boxes_share_no_point)
{
    CHECK(cairn_region_contains(&unit, (cairn_vec3){ 0, 0, 0 }));
    CHECK(!cairn_region_contains(&unit, (cairn_vec3){ 1, 0.5, 0.5 }));
    CHECK(cairn_region_contains(&square, (cairn_vec3){ 0.5, 0.5, 7 }));
    CHECK_NEAR(cairn_region_volume(&(cairn_region){ 3, { 0, 0, 0 }, { 1, 2, 4 } }), 8, 0);
    CHECK_NEAR(cairn_region_volume(&(cairn_region){ 2, { 0, 0, 9 }, { 1, 2, 9 } }), 2, 0);
}

TEST(a_segment_counts_by_its_share_in_the_box)
{
    cairn_vec3 a = { -1, 0.5, 0.5 }, b = { 3, 0.5, 0.5 }, beside = { 3, 4.5, 0.5 };
    CHECK_NEAR(cairn_region_share(&unit, a, b), 0.25, 1e-15);
    CHECK_NEAR(cairn_region_share(&unit, b, a), 0.25, 1e-15);
    /* enters at x = 0, leaves at y = 1: t from 1/4 to 1/8, so never inside */
    CHECK_NEAR(cairn_region_share(&unit, a, beside), 0, 0);
    CHECK_NEAR(cairn_region_share(&unit, (cairn_vec3){ 0, 0, 0.2 }, (cairn_vec3){ 2, 2, 0.2 }), 0.5,
               1e-15);
}

TEST(a_ball_about_a_corner_fills_an_eighth_of_itself)
{
    double ball = 4.0 / 3 * M_PI * 0.125;
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 0, 0, 0 }, 0.5), ball / 8, 1e-12);
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 0.5, 0.5, 0.5 }, 0.5), ball, 1e-15);
    CHECK_CLOSE(cairn_region_ball(&square, (cairn_vec3){ 1, 1, 0 }, 0.5), M_PI / 16, 1e-14);
    CHECK_NEAR(cairn_region_ball(&unit, (cairn_vec3){ 1.6, 0.5, 0.5 }, 0.5), 0, 0);
}

/* A cap of height h has volume pi h^2 (3 R - h)/3. */
TEST(a_ball_cut_by_one_face_is_a_cap)
{
    const double r = 0.4, h = 0.1, cap = M_PI * h * h * (3 * r - h) / 3;
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 0.5, 0.5, 1.3 }, r), cap, 1e-9);
    CHECK_CLOSE(cairn_region_ball(&unit, (cairn_vec3){ 1.3, 0.5, 0.5 }, r), cap, 1e-9);
    /* the same in 2D: a segment, R^2 acos(1 - h/R) - (R - h) sqrt(2 R h - h^2) */
    double segment = r * r * acos(1 - h / r) - (r - h) * sqrt(2 * r * h - h * h);
    CHECK_CLOSE(cairn_region_ball(&square, (cairn_vec3){ 1.3, 0.5, 0 }, r), segment, 1e-12);
    CHECK_CLOSE(cairn_region_ball(&square, (cairn_vec3){ 0.5, -0.3, 0 }, r), segment, 1e-12);
}

/* The pieces that the eight octants about any point cut out of a ball are the ball. */
TEST(pieces_of_a_ball_add_up)
{
    const double r = 1, cut[3] = { 0.31, -0.22, 0.57 }, big = 9;
    double sum = 0;
    for (int k = 0; k < 8; k++) {
        cairn_region octant = { .dimension = 3 };
        for (int i = 0; i < 3; i++) {
            octant.low[i] = k >> i & 1 ? cut[i] : -big;
            octant.high[i] = k >> i & 1 ? big : cut[i];
        }
        sum += cairn_region_ball(&octant, (cairn_vec3){ 0, 0, 0 }, r);
    }
    CHECK_CLOSE(sum, 4.0 / 3 * M_PI, 1e-6);
}

/* Against counting the points of a fine grid: a ball cut by an edge and by a corner of the box. */
TEST(a_ball_cut_by_an_edge_or_a_corner_agrees_with_counting)
{
    enum { FINE = 120 };
    const cairn_vec3 centres[2] = { { 0.9, 0.2, 0.5 }, { 0.85, 0.2, 0.1 } };
    const double radius = 0.4;
    for (int c = 0; c < 2; c++) {
        int inside = 0;
        for (int k = 0; k < FINE * FINE * FINE; k++) {
            double x = (k % FINE + 0.5) / FINE - centres[c].x;
            double y = (k / FINE % FINE + 0.5) / FINE - centres[c].y;
            double z = (k / (FINE * FINE) + 0.5) / FINE - centres[c].z;
            inside += x * x + y * y + z * z < radius * radius;
        }
        CHECK_CLOSE(cairn_region_ball(&unit, centres[c], radius),
                    inside / (double)(FINE * FINE * FINE), 1e-3);
    }
}

TEST(an_open_box_ends_at_quantiles_of_the_centres)
{
    heap *h = heap_empty(2);
    cairn_measure_options o = cairn_measure_options_default();
    cairn_arena arena = { 0 };
    cairn_region region;
    for (int i = 0; i <= 100; i++)
        heap_ball(h, 0.5, (cairn_vec3){ 100 - i, 2 * i, 0 });
    o.trim = 0.2;
    cairn_measure m = { .sample = &h->sample, .options = &o, .arena = &arena };
    m.box = (cairn_region){ 2, { -INFINITY, 30, 0 }, { INFINITY, INFINITY, 0 } };
    CHECK_OK(cairn_region_bulk(&m, &region));
    CHECK_NEAR(region.low[0], 20, 0);
    CHECK_NEAR(region.high[0], 80, 0);
    CHECK_NEAR(region.low[1], 30, 0);
    CHECK_NEAR(region.high[1], 160, 0);
    CHECK_OK(cairn_region_column(&m, 0, &region));
    CHECK_NEAR(region.low[0], -0.5, 0);
    CHECK_NEAR(region.high[0], 100.5, 0);
    cairn_arena_destroy(&arena);
}

GROUP(test_region)
{
    RUN(CASE(neighbouring_boxes_share_no_point), CASE(a_segment_counts_by_its_share_in_the_box),
        CASE(a_ball_about_a_corner_fills_an_eighth_of_itself),
        CASE(a_ball_cut_by_one_face_is_a_cap), CASE(pieces_of_a_ball_add_up),
        CASE(a_ball_cut_by_an_edge_or_a_corner_agrees_with_counting),
        CASE(an_open_box_ends_at_quantiles_of_the_centres));
}
