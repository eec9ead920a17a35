/* test_coordination.c - contacts of lattices and of small heaps, and how forces are spread. */
#include "grain_sample.h"

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

int main(void)
{
    RUN(CASE(inside_a_simple_cubic_lattice_there_are_6_contacts),
        CASE(inside_face_centred_cubic_there_are_12), CASE(walls_count_and_dust_does_not),
        CASE(the_density_of_forces_integrates_to_1), CASE(without_contacts_there_are_no_rows));
}
