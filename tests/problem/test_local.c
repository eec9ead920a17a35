/* test_local.c - one contact: its cone, its local problem, its nonsmooth equation. */
#include "base/common.h"
#include "problem/cone.h"
#include "problem/operator.h"
#include "tests/check.h"

/* ==== test_cone: the projection on the friction cone ========================================== */

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

/* A point of a face, d beside an edge, moved by 1 along the normal (-mu c, cos a, sin a)/|.| of that
 * face, with a the middle of two edges and c = cos(pi/m). The edge is farther away by d^2/2 = 5e-19
 * only. */
TEST(a_projection_beside_an_edge_is_not_taken_for_the_edge)
{
    const int m = 8;
    const double mu = 0.3, c = cos(M_PI / m), beside = 1e-9;
    for (int k = 0; k < 2 * m; k++) { /* beside both edges of each face */
        double edge = 2 * M_PI * (k / 2 + k % 2) / m, middle = 2 * M_PI * (k / 2 + 0.5) / m;
        double side = k % 2 ? -beside : beside, long_ = sqrt(1 + mu * mu * c * c);
        double on[3] = { 0.05, 0.05 * mu * cos(edge) - side * sin(middle),
                         0.05 * mu * sin(edge) + side * cos(middle) };
        double p[3] = { on[0] - mu * c / long_, on[1] + cos(middle) / long_,
                        on[2] + sin(middle) / long_ };
        cairn_cone_project_polygon(m, mu, p);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(p[i], on[i], 1e-15);
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

GROUP(test_cone)
{
    RUN(CASE(points_inside_stay), CASE(polar_points_go_to_the_apex),
        CASE(points_beside_go_to_the_nearest_generator),
        CASE(without_friction_only_the_normal_stays), CASE(moreau_decomposition_of_random_points),
        CASE(polygon_projection_obeys_moreau_too),
        CASE(a_projection_beside_an_edge_is_not_taken_for_the_edge),
        CASE(a_projection_that_is_small_is_found_on_its_edge),
        CASE(many_edges_come_near_the_circular_cone), CASE(sliding_speed_of_a_law),
        CASE(projection_on_all_parts_obeys_moreau), CASE(two_parts_by_hand),
        CASE(rows_go_to_their_bounds));
}

/* ==== test_local: the one-contact solve satisfies its law exactly: any W, both laws, 2D and 3D */

/* |r - P_K(r - u^/w)|, u^ = W r + q (+ mu |u_T| n): 0 at a solution. */
static double residual(int d, cairn_law law, const double *W, double mu, const double *q,
                       const double *r)
{
    double u[3], step[3], sum = 0, w = 0;
    for (int i = 0, row = 0; i < d; row += ++i) {
        u[i] = q[i];
        w += W[row + i] / d;
        for (int k = 0; k < d; k++)
            u[i] += (k <= i ? W[row + k] : W[k * (k + 1) / 2 + i]) * r[k];
    }
    if (law == CAIRN_LAW_COULOMB)
        u[0] += mu * (d == 3 ? hypot(u[1], u[2]) : fabs(u[1]));
    for (int i = 0; i < d; i++)
        step[i] = r[i] - u[i] / w;
    cairn_cone_project(d, mu, step);
    for (int i = 0; i < d; i++)
        sum += (r[i] - step[i]) * (r[i] - step[i]);
    return w * sqrt(sum);
}

/* W = A A' + shift I with A random: positive definite, full coupling. */
static void random_matrix(int d, double shift, uint64_t *state, double *W)
{
    double A[9];
    for (int i = 0; i < d * d; i++)
        A[i] = cairn_random_between(state, -1, 1);
    for (int i = 0, entry = 0; i < d; i++)
        for (int l = 0; l <= i; l++, entry++) {
            W[entry] = i == l ? shift : 0;
            for (int k = 0; k < d; k++)
                W[entry] += A[i * d + k] * A[l * d + k];
        }
}

static double worst_of_many(int d, cairn_law law, double mu, double shift)
{
    uint64_t state = 42;
    double worst = 0;
    for (int k = 0; k < 20000; k++) {
        double W[6], q[3], r[3];
        random_matrix(d, shift, &state, W);
        for (int i = 0; i < d; i++)
            q[i] = cairn_random_normal(&state);
        cairn_local_solve(d, law, W, mu, q, r);
        worst = fmax(worst, residual(d, law, W, mu, q, r));
    }
    return worst;
}

TEST(convex_law_holds_for_random_contacts)
{
    const double mus[] = { 0, 0.1, 0.5, 1, 3 };
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(worst_of_many(2, CAIRN_LAW_CONVEX, mus[i], 0.05), 0, 1e-11);
        CHECK_NEAR(worst_of_many(3, CAIRN_LAW_CONVEX, mus[i], 0.05), 0, 1e-11);
    }
}

/* with strong coupling of normal and tangent a Coulomb contact may have no solution (Painleve);
 * W = A A' + 3 I keeps it weak enough for these mu */
TEST(coulomb_law_holds_for_random_contacts)
{
    const double mus[] = { 0, 0.1, 0.5, 1 };
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(worst_of_many(2, CAIRN_LAW_COULOMB, mus[i], 3), 0, 1e-11);
        CHECK_NEAR(worst_of_many(3, CAIRN_LAW_COULOMB, mus[i], 3), 0, 1e-11);
    }
}

/* a ball: W = diag(1, 3.5, 3.5); pressed with 1, dragged with 1 */
TEST(sliding_ball_by_hand)
{
    const double W[6] = { 1, 0, 3.5, 0, 0, 3.5 }, q[3] = { -1, 1, 0 };
    double r[3];
    cairn_local_solve(3, CAIRN_LAW_COULOMB, W, 0.1, q, r);
    CHECK_NEAR(r[0], 1, 1e-15);
    CHECK_NEAR(r[1], -0.1, 1e-15);
    cairn_local_solve(3, CAIRN_LAW_CONVEX, W, 0.1, q, r);
    CHECK_NEAR(r[0], 1.1 / 1.035, 1e-15); /* (mu |q_T| - q_N)/(w_N + mu^2 w_T) */
    CHECK_NEAR(r[1], -0.11 / 1.035, 1e-15);
    cairn_local_solve(3, CAIRN_LAW_CONVEX, W, 0.5, q, r);
    CHECK_NEAR(r[0], 1, 1e-15); /* sticks: 1/3.5 < 0.5 */
    CHECK_NEAR(r[1], -1 / 3.5, 1e-15);
}

TEST(opening_contacts_take_off)
{
    const double W[6] = { 1, 0.2, 2, 0.1, 0.3, 2 };
    const double inside[3] = { 1, 0.5, 0.5 }, beside[3] = { 0.1, 3, 0 };
    double r[3];
    cairn_local_solve(3, CAIRN_LAW_CONVEX, W, 1, inside, r);
    CHECK(r[0] == 0 && r[1] == 0 && r[2] == 0);
    cairn_local_solve(3, CAIRN_LAW_COULOMB, W, 1, beside, r);
    CHECK(r[0] == 0 && r[1] == 0 && r[2] == 0);
    cairn_local_solve(3, CAIRN_LAW_CONVEX, W, 1, beside, r);
    CHECK(r[0] > 0); /* the convex law pushes a sliding contact apart */
}

/* the pitfall of the apex: no tangential velocity at all */
TEST(pure_pressing_has_no_friction)
{
    const double W2[3] = { 1, 0, 1 }, W3[6] = { 1, 0, 2, 0, 0, 2 }, q[3] = { -2, 0, 0 };
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        double r[3];
        cairn_local_solve(2, (cairn_law)law, W2, 0.3, q, r);
        CHECK(r[0] == 2 && r[1] == 0);
        cairn_local_solve(3, (cairn_law)law, W3, 0.3, q, r);
        CHECK(r[0] == 2 && r[1] == 0 && r[2] == 0);
    }
}

TEST(contact_that_nothing_can_move_gives_no_nan)
{
    const double W[6] = { 0 }, q[3] = { -1, 1, 0 };
    for (int d = 2; d <= 3; d++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            double r[3];
            cairn_local_solve(d, (cairn_law)law, W, 0.3, q, r);
            for (int i = 0; i < d; i++)
                CHECK(isfinite(r[i]));
        }
}

GROUP(test_local)
{
    RUN(CASE(convex_law_holds_for_random_contacts), CASE(coulomb_law_holds_for_random_contacts),
        CASE(sliding_ball_by_hand), CASE(opening_contacts_take_off),
        CASE(pure_pressing_has_no_friction), CASE(contact_that_nothing_can_move_gives_no_nan));
}

/* ==== test_local_parts: the one-contact solve with rolling and spinning friction ============== */

static const int shapes[4][3] = { { 1, 1, 0 }, { 2, 2, 0 }, { 2, 0, 1 }, { 2, 2, 1 } };

static cairn_problem with_random_parts(const int *shape, const double *mu)
{
    return (cairn_problem){ .dimension = 1 + shape[0] + shape[1] + shape[2],
                            .rolling = shape[1],
                            .spinning = shape[2],
                            .contacts = 1,
                            .mu = mu,
                            .mu_rolling = mu + 1,
                            .mu_spinning = mu + 2 };
}

static void velocity(int d, const double *W, const double *q, const double *r, double *u)
{
    for (int i = 0; i < d; i++) {
        u[i] = q[i];
        for (int k = 0; k < d; k++)
            u[i] += (k <= i ? W[i * (i + 1) / 2 + k] : W[k * (k + 1) / 2 + i]) * r[k];
    }
}

/* |r - P_K(r - u^)| */
static double parts_residual(const cairn_problem *p, cairn_law law, const double *W,
                             const double *q, const double *r)
{
    double u[6], step[6], sum = 0;
    velocity(p->dimension, W, q, r, u);
    if (law == CAIRN_LAW_COULOMB)
        u[0] += cairn_contact_sliding(p, 0, u);
    for (int i = 0; i < p->dimension; i++)
        step[i] = r[i] - u[i];
    cairn_cone_project_parts(p, 0, step);
    for (int i = 0; i < p->dimension; i++)
        sum += (r[i] - step[i]) * (r[i] - step[i]);
    return sqrt(sum);
}

/* W = I + A A'/2: coupled, well conditioned, as bodies of one size make it. */
static void random_parts_matrix(int d, uint64_t *state, double *W)
{
    double A[36];
    for (int i = 0; i < d * d; i++)
        A[i] = cairn_random_between(state, -1, 1);
    for (int i = 0, entry = 0; i < d; i++)
        for (int l = 0; l <= i; l++, entry++) {
            W[entry] = i == l;
            for (int k = 0; k < d; k++)
                W[entry] += 0.5 * A[i * d + k] * A[l * d + k];
        }
}

TEST(random_contacts_satisfy_their_law)
{
    uint64_t state = 21;
    for (int k = 0; k < 4000; k++) {
        cairn_law law = k % 2 ? CAIRN_LAW_CONVEX : CAIRN_LAW_COULOMB;
        double mu[3], W[21], q[6], r[6] = { 0 };
        for (int i = 0; i < 3; i++)
            mu[i] = cairn_random_between(&state, 0, law == CAIRN_LAW_CONVEX ? 1 : 0.4);
        cairn_problem p = with_random_parts(shapes[k / 2 % 4], mu);
        random_parts_matrix(p.dimension, &state, W);
        for (int i = 0; i < p.dimension; i++)
            q[i] = 2 * cairn_random_normal(&state);
        cairn_local_solve_parts(&p, 0, law, W, q, r);
        CHECK_NEAR(parts_residual(&p, law, W, q, r), 0, 1e-12);
    }
}

/* W = I, mu = 1/2, mu_R = 1/4 in 2D, q = (-2, 3, -3). Coulomb: r_N = 2, r_T = -1, r_R = 1/2. Convex:
 * along a = (1, -1/2, 1/4): r_N = -q.a/a.a = (2 + 1.5 + 0.75)/(1 + 1/4 + 1/16). */
TEST(sliding_and_rolling_by_hand)
{
    const double mu[3] = { 0.5, 0.25, 0 }, W[6] = { 1, 0, 1, 0, 0, 1 }, q[3] = { -2, 3, -3 };
    double r[3] = { 0 };
    cairn_problem p = with_random_parts(shapes[0], mu);
    cairn_local_solve_parts(&p, 0, CAIRN_LAW_COULOMB, W, q, r);
    CHECK_NEAR(r[0], 2, 1e-14);
    CHECK_NEAR(r[1], -1, 1e-14);
    CHECK_NEAR(r[2], 0.5, 1e-14);
    cairn_local_solve_parts(&p, 0, CAIRN_LAW_CONVEX, W, q, r);
    CHECK_NEAR(r[0], 4.25 / 1.3125, 1e-14);
    CHECK_NEAR(r[1], -0.5 * 4.25 / 1.3125, 1e-14);
}

/* Without rolling friction the answer is that of the plain contact. */
TEST(without_coefficients_rolling_plays_no_part)
{
    uint64_t state = 22;
    const double mu[3] = { 0.6, 0, 0 };
    for (int k = 0; k < 200; k++) {
        double W[15] = { 0 }, q[5], r[5] = { 0 }, plain[3];
        random_parts_matrix(3, &state, W);
        W[9] = W[14] = 1;
        for (int i = 0; i < 5; i++)
            q[i] = cairn_random_normal(&state);
        cairn_problem p = with_random_parts(shapes[1], mu);
        cairn_local_solve_parts(&p, 0, CAIRN_LAW_CONVEX, W, q, r);
        cairn_local_solve(3, CAIRN_LAW_CONVEX, W, 0.6, q, plain);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(r[i], plain[i], 1e-12);
        CHECK(r[3] == 0 && r[4] == 0);
    }
}

GROUP(test_local_parts)
{
    RUN(CASE(random_contacts_satisfy_their_law), CASE(sliding_and_rolling_by_hand),
        CASE(without_coefficients_rolling_plays_no_part));
}

/* ==== test_local_rows: the bounded rows of one contact: y has the sign that the law asks for */

typedef struct one {
    cairn_problem p;
    uint8_t bounded;
    double lower[6], upper[6], W[21], q[6], r[6];
} one;

/* W = A A' of `rank` columns; bounds of all sorts around 0 or not. */
static void make_random(one *x, int d, int rank, uint64_t *state)
{
    double A[36], b[6];
    for (int i = 0; i < d * rank; i++)
        A[i] = cairn_random_normal(state);
    for (int k = 0; k < rank; k++)
        b[k] = 3 * cairn_random_normal(state);
    for (int i = 0, entry = 0; i < d; i++) {
        double middle = cairn_random_normal(state), width = cairn_random_uniform(state);
        int sort = (int)(5 * cairn_random_uniform(state));
        x->lower[i] = sort <= 1 ? -INFINITY : middle - width;
        x->upper[i] = sort == 0 || sort == 2 ? INFINITY : sort == 4 ? x->lower[i] : middle + width;
        x->q[i] = 0;
        for (int k = 0; k < rank; k++)
            x->q[i] += A[i * rank + k] * b[k]; /* in the range of W */
        for (int l = 0; l <= i; l++, entry++) {
            x->W[entry] = 0;
            for (int k = 0; k < rank; k++)
                x->W[entry] += A[i * rank + k] * A[l * rank + k];
        }
        x->r[i] = cairn_random_normal(state);
    }
    x->bounded = 1;
    x->p = (cairn_problem){
        .dimension = d, .contacts = 1, .bounded = &x->bounded, .lower = x->lower, .upper = x->upper
    };
}

static double row_velocity(const one *x, int i)
{
    double y = x->q[i];
    for (int k = 0; k < x->p.dimension; k++)
        y += (k <= i ? x->W[i * (i + 1) / 2 + k] : x->W[k * (k + 1) / 2 + i]) * x->r[k];
    return y;
}

static void check_law(const one *x, double tolerance)
{
    for (int i = 0; i < x->p.dimension; i++) {
        double y = row_velocity(x, i);
        CHECK(x->r[i] >= x->lower[i] && x->r[i] <= x->upper[i]);
        if (x->r[i] > x->lower[i])
            CHECK(y <= tolerance);
        if (x->r[i] < x->upper[i])
            CHECK(y >= -tolerance);
    }
}

TEST(random_rows_satisfy_their_law)
{
    uint64_t state = 3;
    for (int k = 0; k < 3000; k++) {
        one x;
        int d = 2 + k % 5;
        make_random(&x, d, d, &state);
        cairn_local_solve_rows(&x.p, 0, x.W, x.q, x.r);
        check_law(&x, 1e-9);
    }
}

/* Rows without bounds that depend on each other: the velocity is 0, whatever the impulses. */
TEST(redundant_rows_are_solved)
{
    uint64_t state = 4;
    for (int k = 0; k < 300; k++) {
        one x;
        int d = 3 + k % 4;
        make_random(&x, d, 2, &state);
        for (int i = 0; i < d; i++) {
            x.lower[i] = -INFINITY;
            x.upper[i] = INFINITY;
        }
        cairn_local_solve_rows(&x.p, 0, x.W, x.q, x.r);
        for (int i = 0; i < d; i++)
            CHECK_NEAR(row_velocity(&x, i), 0, 1e-9);
    }
}

TEST(by_hand_in_two_rows)
{
    one x = { .bounded = 1, .lower = { 0, -1 }, .upper = { INFINITY, 1 }, .W = { 2, 1, 2 } };
    x.p = (cairn_problem){
        .dimension = 2, .contacts = 1, .bounded = &x.bounded, .lower = x.lower, .upper = x.upper
    };
    x.q[0] = -2;
    x.q[1] = -4; /* free: r = (0, 2); the second is cut to 1, then 2 r_0 + 1 - 2 = 0 */
    cairn_local_solve_rows(&x.p, 0, x.W, x.q, x.r);
    CHECK_NEAR(x.r[0], 0.5, 1e-15);
    CHECK_NEAR(x.r[1], 1, 0);
}

GROUP(test_local_rows)
{
    RUN(CASE(random_rows_satisfy_their_law), CASE(redundant_rows_are_solved),
        CASE(by_hand_in_two_rows));
}

/* ==== test_map: the nonsmooth equation of one contact and its derivative ====================== */

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

GROUP(test_map)
{
    RUN(CASE(open_stick_and_slide_by_hand), CASE(the_convex_map_is_the_projection_on_the_cone),
        CASE(the_derivative_is_that_of_the_map),
        CASE(the_derivative_of_parts_and_rows_is_that_of_the_map));
}
