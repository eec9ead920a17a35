/* test_statistics.c - the table of statistics, and tables as values. */
#include "failing_allocator.h"
#include "grain_sample.h"

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
    CHECK_INT(count, 14);
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

int main(void)
{
    RUN(CASE(every_statistic_has_a_name_columns_and_a_summary),
        CASE(in_2d_a_table_has_no_third_component_and_other_units),
        CASE(rows_of_one_frame_follow_those_of_another),
        CASE(no_memory_is_reported_by_every_statistic));
}
