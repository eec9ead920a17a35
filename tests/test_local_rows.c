/* test_local_rows.c - the bounded rows of one contact: y has the sign that the law asks for. */
#include "base/random.h"
#include "check.h"
#include "problem/local.h"
#include "problem/operator.h"

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

static double velocity(const one *x, int i)
{
    double y = x->q[i];
    for (int k = 0; k < x->p.dimension; k++)
        y += (k <= i ? x->W[i * (i + 1) / 2 + k] : x->W[k * (k + 1) / 2 + i]) * x->r[k];
    return y;
}

static void check_law(const one *x, double tolerance)
{
    for (int i = 0; i < x->p.dimension; i++) {
        double y = velocity(x, i);
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
            CHECK_NEAR(velocity(&x, i), 0, 1e-9);
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

int main(void)
{
    RUN(CASE(random_rows_satisfy_their_law), CASE(redundant_rows_are_solved),
        CASE(by_hand_in_two_rows));
}
