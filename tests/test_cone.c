/* test_cone.c - the projection on the friction cone. */
#include "problem/cone.h"

#include "base/random.h"
#include "check.h"

TEST(points_inside_stay)
{
    double r[3] = { 2, 0.6, 0.8 };
    cairn_cone_project(3, 0.5, r);
    CHECK(r[0] == 2 && r[1] == 0.6 && r[2] == 0.8);
}

TEST(polar_points_go_to_the_apex)
{
    double r[3] = { -2, 0.6, 0.8 }; /* -2 + 0.5 * 1 < 0 */
    cairn_cone_project(3, 0.5, r);
    CHECK(r[0] == 0 && r[1] == 0 && r[2] == 0);
}

TEST(points_beside_go_to_the_nearest_generator)
{
    double r[2] = { 0, 1 }; /* mu = 1: the generator (1, 1)/sqrt 2 */
    cairn_cone_project(2, 1, r);
    CHECK_NEAR(r[0], 0.5, 1e-16);
    CHECK_NEAR(r[1], 0.5, 1e-16);
}

TEST(without_friction_only_the_normal_stays)
{
    double up[3] = { 1.5, 2, -3 }, down[3] = { -1.5, 2, -3 };
    cairn_cone_project(3, 0, up);
    cairn_cone_project(3, 0, down);
    CHECK(up[0] == 1.5 && up[1] == 0 && up[2] == 0);
    CHECK(down[0] == 0 && down[1] == 0 && down[2] == 0);
    double straight_down[2] = { -1, 0 };
    cairn_cone_project(2, 0, straight_down);
    CHECK(straight_down[0] == 0 && straight_down[1] == 0);
}

/* x = P(x) + (x - P(x)) with P(x) in K, P(x) - x in K*, at right angles (Moreau) */
TEST(moreau_decomposition_of_random_points)
{
    uint64_t state = 3;
    for (int k = 0; k < 10000; k++) {
        double mu = cairn_random_between(&state, 0, 3), x[3], p[3], rest[3], dot = 0;
        for (int i = 0; i < 3; i++)
            p[i] = x[i] = cairn_random_normal(&state);
        cairn_cone_project(3, mu, p);
        for (int i = 0; i < 3; i++) {
            rest[i] = p[i] - x[i];
            dot += rest[i] * p[i];
        }
        CHECK(hypot(p[1], p[2]) <= mu * p[0] + 1e-15);
        CHECK(mu * hypot(rest[1], rest[2]) <= rest[0] + 1e-14);
        CHECK_NEAR(dot, 0, 1e-14);
    }
}

/* the projection on a cone with edges is the nearest of many points of it */
TEST(polygon_projection_obeys_moreau_too)
{
    uint64_t state = 13;
    for (int k = 0; k < 5000; k++) {
        int m = 4 + 2 * (k % 5);
        double mu = cairn_random_between(&state, 0.05, 2), x[3], p[3], rest[3], dot = 0;
        for (int i = 0; i < 3; i++)
            p[i] = x[i] = cairn_random_normal(&state);
        cairn_cone_project_polygon(m, mu, p);
        for (int i = 0; i < 3; i++) {
            rest[i] = p[i] - x[i];
            dot += rest[i] * p[i];
        }
        CHECK_NEAR(dot, 0, 1e-13);
        /* p in K: below every face; rest in K*: not below the plane of any edge */
        for (int e = 0; e < m; e++) {
            double face = 2 * M_PI * (e + 0.5) / m, edge = 2 * M_PI * e / m;
            CHECK(cos(face) * p[1] + sin(face) * p[2] <= mu * cos(M_PI / m) * p[0] + 1e-14);
            CHECK(rest[0] + mu * (cos(edge) * rest[1] + sin(edge) * rest[2]) >= -1e-13);
        }
    }
}

/* A sliding velocity of 1 m/s at an angle phi to edge k, u_N less than mu times its part against
 * that edge by 1e-9: -u is 1e-9/sqrt(1 + mu^2) long when projected, on that edge. Squared distances
 * from -u do not show it: they differ by 1e-18. */
TEST(a_projection_that_is_small_is_found_on_its_edge)
{
    const int m = 8;
    const double mu = 0.3, short_by = 1e-9;
    for (int k = 0; k < m; k++)
        for (int i = -3; i <= 3; i++) {
            double edge = 2 * M_PI * k / m, phi = edge + 0.1 * i;
            double u_N = mu * cos(phi - edge) - short_by;
            double p[3] = { -u_N, cos(phi), sin(phi) };
            cairn_cone_project_polygon(m, mu, p);
            double along = p[0] + mu * (cos(edge) * p[1] + sin(edge) * p[2]);
            double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
            CHECK_NEAR(length, short_by / sqrt(1 + mu * mu), 1e-15);
            CHECK_NEAR(along, length * sqrt(1 + mu * mu), 1e-15);
        }
}

/* far points go to edges, so they land up to half the angle between edges beside: 0.223 pi/m */
TEST(many_edges_come_near_the_circular_cone)
{
    for (int m = 100; m <= 10000; m *= 10) {
        double a[3] = { 0.2, 1, 0.5 }, b[3] = { 0.2, 1, 0.5 };
        cairn_cone_project(3, 0.4, a);
        cairn_cone_project_polygon(m, 0.4, b);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(a[i], b[i], 0.2232 * M_PI / m);
    }
}

TEST(sliding_speed_of_a_law)
{
    const double u[3] = { 9, 3, 4 }, flat[2] = { 9, -2 };
    CHECK_NEAR(cairn_sliding_speed(3, 0, u), 5, 1e-15);
    CHECK_NEAR(cairn_sliding_speed(2, 0, flat), 2, 0);
    CHECK_NEAR(cairn_sliding_speed(3, 4, u), 4, 1e-15); /* directions +-x, +-y */
}

/* ---- parts and bounds ----------------------------------------------------------------------- */

static cairn_problem with_parts(int tangents, int rolling, int spinning, const double *mu)
{
    return (cairn_problem){ .dimension = 1 + tangents + rolling + spinning,
                            .rolling = rolling,
                            .spinning = spinning,
                            .contacts = 1,
                            .mu = mu,
                            .mu_rolling = mu + 1,
                            .mu_spinning = mu + 2 };
}

/* y = x + (y - x), x in K, x - y in K*, at right angles: x is the projection. */
TEST(projection_on_all_parts_obeys_moreau)
{
    static const int shapes[5][3] = {
        { 1, 0, 0 }, { 1, 1, 0 }, { 2, 2, 0 }, { 2, 0, 1 }, { 2, 2, 1 }
    };
    uint64_t state = 11;
    for (int k = 0; k < 5000; k++) {
        const int *shape = shapes[k % 5];
        double mu[3], y[6], x[6], away[6], along = 0;
        for (int i = 0; i < 3; i++)
            mu[i] = k % 7 == i ? 0 : cairn_random_uniform(&state);
        cairn_problem p = with_parts(shape[0], shape[1], shape[2], mu);
        for (int i = 0; i < p.dimension; i++)
            x[i] = y[i] = cairn_random_normal(&state);
        cairn_cone_project_parts(&p, 0, x);
        for (int i = 0; i < p.dimension; i++) {
            away[i] = x[i] - y[i];
            along += x[i] * away[i];
        }
        cairn_cone_part part[CAIRN_CONE_PARTS];
        int parts = cairn_cone_parts(&p, 0, part);
        for (int i = 0; i < parts; i++)
            CHECK(cairn_cone_length(&part[i], x) <= part[i].mu * x[0] + 1e-14);
        CHECK_NEAR(along, 0, 1e-14);
        CHECK(away[0] >= cairn_contact_sliding(&p, 0, away) - 1e-14);
    }
}

/* r = (1, 4, 0, 0, 3), mu = mu_R = 1/2: both are cut, x = (1 + 2 + 1.5)/1.5 = 3 leaves 1.5 each. */
TEST(two_parts_by_hand)
{
    const double mu[3] = { 0.5, 0.5, 0 };
    double r[5] = { 1, 4, 0, 0, 3 };
    cairn_problem p = with_parts(2, 2, 0, mu);
    cairn_cone_project_parts(&p, 0, r);
    CHECK_NEAR(r[0], 3, 1e-15);
    CHECK_NEAR(r[1], 1.5, 1e-15);
    CHECK_NEAR(r[4], 1.5, 1e-15);
    const double u[5] = { 0, 3, 4, -6, 8 };
    CHECK_NEAR(cairn_contact_sliding(&p, 0, u), 0.5 * 5 + 0.5 * 10, 1e-15);
}

TEST(rows_go_to_their_bounds)
{
    const uint8_t bounded[1] = { 1 };
    const double lower[3] = { 0, -INFINITY, -1 }, upper[3] = { INFINITY, INFINITY, 1 };
    double r[3] = { -2, -1e300, 7 };
    cairn_problem p = { .dimension = 3, .bounded = bounded, .lower = lower, .upper = upper };
    cairn_rows_project(&p, 0, r);
    CHECK(r[0] == 0 && r[1] == -1e300 && r[2] == 1);
    CHECK(cairn_row_is_free(&p, 0, 1) && !cairn_row_is_free(&p, 0, 0));
    CHECK(cairn_contact_sliding(&p, 0, r) == 0);
}

int main(void)
{
    RUN(CASE(points_inside_stay), CASE(polar_points_go_to_the_apex),
        CASE(points_beside_go_to_the_nearest_generator),
        CASE(without_friction_only_the_normal_stays), CASE(moreau_decomposition_of_random_points),
        CASE(polygon_projection_obeys_moreau_too),
        CASE(a_projection_that_is_small_is_found_on_its_edge),
        CASE(many_edges_come_near_the_circular_cone), CASE(sliding_speed_of_a_law),
        CASE(projection_on_all_parts_obeys_moreau), CASE(two_parts_by_hand),
        CASE(rows_go_to_their_bounds));
}
