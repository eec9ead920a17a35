/* test_cone.c - the projection on the friction cone. */
#include "base/random.h"
#include "cairn/problem.h"
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

int main(void)
{
    RUN(CASE(points_inside_stay), CASE(polar_points_go_to_the_apex),
        CASE(points_beside_go_to_the_nearest_generator),
        CASE(without_friction_only_the_normal_stays), CASE(moreau_decomposition_of_random_points),
        CASE(polygon_projection_obeys_moreau_too), CASE(many_edges_come_near_the_circular_cone),
        CASE(sliding_speed_of_a_law));
}
