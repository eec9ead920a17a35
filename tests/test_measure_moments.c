/* test_measure_moments.c - centre, height, temperature and energy of a few grains. */
#include "grain_sample.h"

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

int main(void)
{
    RUN(CASE(the_centre_is_weighted_by_mass), CASE(heights_are_measured_against_gravity),
        CASE(the_temperature_is_about_the_mean_velocity),
        CASE(energy_is_that_of_the_grains_and_the_sums_of_the_steps));
}
