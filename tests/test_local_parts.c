/* test_local_parts.c - the one-contact solve with rolling and spinning friction. */
#include "base/random.h"
#include "check.h"
#include "problem/local.h"
#include "problem/operator.h"

static const int shapes[4][3] = { { 1, 1, 0 }, { 2, 2, 0 }, { 2, 0, 1 }, { 2, 2, 1 } };

static cairn_problem with_parts(const int *shape, const double *mu)
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
static double residual(const cairn_problem *p, cairn_law law, const double *W, const double *q,
                       const double *r)
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
static void random_matrix(int d, uint64_t *state, double *W)
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
        cairn_problem p = with_parts(shapes[k / 2 % 4], mu);
        random_matrix(p.dimension, &state, W);
        for (int i = 0; i < p.dimension; i++)
            q[i] = 2 * cairn_random_normal(&state);
        cairn_local_solve_parts(&p, 0, law, W, q, r);
        CHECK_NEAR(residual(&p, law, W, q, r), 0, 1e-12);
    }
}

/* W = I, mu = 1/2, mu_R = 1/4 in 2D, q = (-2, 3, -3). Coulomb: r_N = 2, r_T = -1, r_R = 1/2. Convex:
 * along a = (1, -1/2, 1/4): r_N = -q.a/a.a = (2 + 1.5 + 0.75)/(1 + 1/4 + 1/16). */
TEST(sliding_and_rolling_by_hand)
{
    const double mu[3] = { 0.5, 0.25, 0 }, W[6] = { 1, 0, 1, 0, 0, 1 }, q[3] = { -2, 3, -3 };
    double r[3] = { 0 };
    cairn_problem p = with_parts(shapes[0], mu);
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
        random_matrix(3, &state, W);
        W[9] = W[14] = 1;
        for (int i = 0; i < 5; i++)
            q[i] = cairn_random_normal(&state);
        cairn_problem p = with_parts(shapes[1], mu);
        cairn_local_solve_parts(&p, 0, CAIRN_LAW_CONVEX, W, q, r);
        cairn_local_solve(3, CAIRN_LAW_CONVEX, W, 0.6, q, plain);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(r[i], plain[i], 1e-12);
        CHECK(r[3] == 0 && r[4] == 0);
    }
}

int main(void)
{
    RUN(CASE(random_contacts_satisfy_their_law), CASE(sliding_and_rolling_by_hand),
        CASE(without_coefficients_rolling_plays_no_part));
}
