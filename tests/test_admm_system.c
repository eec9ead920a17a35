/* test_admm_system.c - (W + rho D)^-1 times W + rho D is one, in both forms. */
#include "solve/admm_system.h"

#include "check.h"
#include "problem/delassus.h"
#include "problem/operator.h"
#include "random_problem.h"

/* h = (W + rho D) x, then solved: x again */
static void check_inverse(const cairn_problem *p, const cairn_problem *local, double rho)
{
    cairn_arena arena = { 0 };
    cairn_admm_system s;
    uint64_t state = 7;
    double x[60] = { 0 }, h[60];
    bool positive;
    int n = p->contacts * p->dimension;
    for (int i = 0; i < n; i++)
        x[i] = cairn_random_normal(&state);
    cairn_problem_apply(local, x, NULL, h);
    for (int i = 0; i < n; i++) {
        int j = i / p->dimension;
        double w = cairn_contact_inverse_mass(local, j);
        h[i] += rho * (w > 0 ? w : 1) * x[i] - local->q[i];
    }
    CHECK_OK(cairn_admm_system_create(p, &arena, &s));
    CHECK_OK(cairn_admm_system_factor(&s, 2 * rho, &positive)); /* a factor of another rho first */
    CHECK_OK(cairn_admm_system_factor(&s, rho, &positive));
    CHECK(positive);
    CHECK_OK(cairn_admm_system_solve(&s, h));
    for (int i = 0; i < n; i++)
        CHECK_NEAR(h[i], x[i], 1e-9);
    cairn_admm_system_destroy(&s);
    cairn_arena_destroy(&arena);
}

TEST(the_inverse_is_the_inverse)
{
    for (uint64_t seed = 1; seed <= 8; seed++) {
        random_problem random;
        cairn_arena arena = { 0 };
        cairn_matrix W;
        cairn_problem local;
        make_random_problem(&random, seed % 2 ? 2 : 3, 20, 20, seed);
        random.block[0] = random.block[1] = -1; /* a contact between nothing */
        random.block[5] = random.block[4];      /* of a body with itself */
        random.mass_inverse[9] = 0;
        CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
        for (double rho = 1e-3; rho < 1e4; rho *= 100) {
            check_inverse(&random.p, &local, rho);
            check_inverse(&local, &local, rho);
        }
        cairn_arena_destroy(&arena);
    }
}

int main(void)
{
    RUN(CASE(the_inverse_is_the_inverse));
}
