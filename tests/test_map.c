/* test_map.c - the nonsmooth equation of one contact and its derivative. */
#include "problem/map.h"

#include "base/random.h"
#include "check.h"

/* Phi of a contact with friction mu. */
static bool map(int dimension, cairn_law law, double mu, const double *y, double *phi, double *G)
{
    const cairn_problem p = { .dimension = dimension, .contacts = 1, .mu = &mu };
    return cairn_contact_map(&p, 0, law, y, phi, G);
}

TEST(open_stick_and_slide_by_hand)
{
    double phi[3], G[9];
    const double away[3] = { -1, 2, 0 }, inside[3] = { 2, 0.5, -0.5 }, outside[3] = { 2, 3, 4 };
    CHECK(!map(3, CAIRN_LAW_COULOMB, 0.5, away, phi, G));
    CHECK(phi[0] == 0 && phi[1] == 0 && phi[2] == 0);
    CHECK(map(3, CAIRN_LAW_COULOMB, 0.5, inside, phi, G));
    CHECK(phi[0] == 2 && phi[1] == 0.5 && phi[2] == -0.5);
    CHECK(G[0] == 1 && G[4] == 1 && G[8] == 1 && G[1] == 0 && G[3] == 0);
    CHECK(map(3, CAIRN_LAW_COULOMB, 0.5, outside, phi, G)); /* the disk of radius 1 */
    CHECK_NEAR(phi[0], 2, 0);
    CHECK_NEAR(phi[1], 0.6, 1e-15);
    CHECK_NEAR(phi[2], 0.8, 1e-15);
    CHECK_NEAR(G[3], 0.5 * 0.6, 1e-15);      /* mu t */
    CHECK_NEAR(G[4], 1.0 / 5 * 0.64, 1e-15); /* mu y_N/|y_T| (1 - t t) */
    CHECK_NEAR(G[5], -1.0 / 5 * 0.48, 1e-15);
}

TEST(the_convex_map_is_the_projection_on_the_cone)
{
    uint64_t state = 1;
    for (int k = 0; k < 1000; k++) {
        int d = k % 2 ? 2 : 3;
        double y[3], phi[3], G[9], expected[3], mu = k % 5 == 0 ? 0 : 0.1 * (k % 17);
        for (int i = 0; i < d; i++)
            expected[i] = y[i] = cairn_random_normal(&state);
        map(d, CAIRN_LAW_CONVEX, mu, y, phi, G);
        cairn_cone_project(d, mu, expected);
        for (int i = 0; i < d; i++)
            CHECK_NEAR(phi[i], expected[i], 1e-14);
    }
}

TEST(the_derivative_is_that_of_the_map)
{
    uint64_t state = 2;
    const double h = 1e-6;
    for (int k = 0; k < 1000; k++) {
        int d = k % 2 ? 2 : 3;
        cairn_law law = k % 4 < 2 ? CAIRN_LAW_CONVEX : CAIRN_LAW_COULOMB;
        double y[3], phi[3], G[9], ahead[3], behind[3], unused[9], mu = 0.1 * (k % 9);
        for (int i = 0; i < d; i++)
            y[i] = cairn_random_normal(&state);
        map(d, law, mu, y, phi, G);
        double tangent = d == 3 ? hypot(y[1], y[2]) : fabs(y[1]), near = 1e-3;
        if (fabs(tangent - mu * y[0]) < near || fabs(y[0] + mu * tangent) < near ||
            fabs(y[0]) < near || tangent < 0.1)
            continue; /* two pieces meet here, or the curvature is large */
        for (int l = 0; l < d; l++) {
            double keep = y[l];
            y[l] = keep + h;
            map(d, law, mu, y, ahead, unused);
            y[l] = keep - h;
            map(d, law, mu, y, behind, unused);
            y[l] = keep;
            for (int i = 0; i < d; i++)
                CHECK_NEAR(G[i * d + l], (ahead[i] - behind[i]) / (2 * h), 1e-7);
        }
    }
}

/* Rolling and spinning parts, and rows, by differences; y is kept away from where pieces meet. */
TEST(the_derivative_of_parts_and_rows_is_that_of_the_map)
{
    uint64_t state = 5;
    const double h = 1e-6;
    const uint8_t bounded[2] = { 0, 1 };
    const double lower[12] = { 0, 0, 0, 0, 0, 0, -INFINITY, 0, -1, -INFINITY, 0, 0 };
    const double upper[12] = { 0, 0, 0, 0, 0, 0, INFINITY, INFINITY, 1, 0, 0, 1 };
    int checked = 0;
    for (int k = 0; k < 2000; k++) {
        const double mu[2] = { 0.5, 0 }, mu_rolling[2] = { 0.3, 0 }, mu_spinning[2] = { 0.2, 0 };
        cairn_problem p = { .dimension = 6,
                            .rolling = 2,
                            .spinning = 1,
                            .contacts = 2,
                            .mu = mu,
                            .mu_rolling = mu_rolling,
                            .mu_spinning = mu_spinning,
                            .bounded = bounded,
                            .lower = lower,
                            .upper = upper };
        cairn_law law = k % 4 < 2 ? CAIRN_LAW_CONVEX : CAIRN_LAW_COULOMB;
        double y[6], phi[6], G[36], ahead[6], behind[6], near[6], G_near[36], jump = 0;
        for (int i = 0; i < 6; i++)
            y[i] = cairn_random_normal(&state);
        cairn_contact_map(&p, k % 2, law, y, phi, G);
        for (int l = 0; l < 6; l++) {
            double keep = y[l], slope[6];
            y[l] = keep + h;
            cairn_contact_map(&p, k % 2, law, y, ahead, G_near);
            for (int i = 0; i < 36; i++)
                jump = fmax(jump, fabs(G_near[i] - G[i]));
            y[l] = keep - h;
            cairn_contact_map(&p, k % 2, law, y, behind, G_near);
            y[l] = keep;
            cairn_contact_map(&p, k % 2, law, y, near, G_near);
            for (int i = 0; i < 6; i++)
                slope[i] = (ahead[i] - behind[i]) / (2 * h);
            for (int i = 0; jump < 1e-3 && i < 6; i++, checked++)
                CHECK_NEAR(G[i * 6 + l], slope[i], 1e-4);
        }
    }
    CHECK(checked > 50000);
}

int main(void)
{
    RUN(CASE(open_stick_and_slide_by_hand), CASE(the_convex_map_is_the_projection_on_the_cone),
        CASE(the_derivative_is_that_of_the_map),
        CASE(the_derivative_of_parts_and_rows_is_that_of_the_map));
}
