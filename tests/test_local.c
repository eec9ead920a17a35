/* test_local.c - the one-contact solve satisfies its law exactly: any W, both laws, 2D and 3D. */
#include "problem/local.h"

#include "base/random.h"
#include "check.h"

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

int main(void)
{
    RUN(CASE(convex_law_holds_for_random_contacts), CASE(coulomb_law_holds_for_random_contacts),
        CASE(sliding_ball_by_hand), CASE(opening_contacts_take_off),
        CASE(pure_pressing_has_no_friction), CASE(contact_that_nothing_can_move_gives_no_nan));
}
