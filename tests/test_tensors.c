/* test_tensors.c - stress and fabric where they are known by hand. */
#include "grain_sample.h"

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

int main(void)
{
    RUN(CASE(in_a_column_the_stress_is_the_weight_above_over_the_area),
        CASE(a_box_takes_its_share_of_each_branch), CASE(a_chain_carries_its_force_along_itself),
        CASE(moving_grains_carry_stress_when_asked),
        CASE(the_fabric_of_a_simple_cubic_lattice_is_a_third_of_the_unit),
        CASE(normals_all_over_the_sphere_are_isotropic));
}
