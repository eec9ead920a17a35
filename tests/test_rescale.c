/* test_rescale.c - rolling friction in units of sliding: the same problem. */
#include "problem/rescale.h"

#include "base/random.h"
#include "check.h"
#include "problem/delassus.h"
#include "problem/operator.h"

/* Two bodies of 1 kg and J = 1/10000; a contact with rolling friction between them, one with the
 * world, and a joint. */
typedef struct sample {
    cairn_problem p;
    double mass_inverse[6], v_free[6], H[54], w[9], mu[3], mu_rolling[3], lower[9], upper[9];
} sample;

static void make(sample *x)
{
    static const int32_t block[6] = { 0, 1, 0, -1, 1, -1 };
    static const uint8_t bounded[3] = { 0, 0, 1 };
    uint64_t state = 3;
    for (int i = 0; i < 6; i++) {
        x->mass_inverse[i] = i % 3 == 2 ? 1e4 : 1;
        x->v_free[i] = cairn_random_normal(&state);
    }
    for (int i = 0; i < 54; i++)
        x->H[i] = cairn_random_normal(&state) * (i % 9 / 3 == 1 && i % 3 == 2 ? 0.01 : 1) *
                  (i % 9 / 3 == 2 && i % 3 != 2 ? 0 : 1);
    for (int i = 0; i < 9; i++) {
        x->w[i] = cairn_random_normal(&state);
        x->lower[i] = -INFINITY;
        x->upper[i] = INFINITY;
    }
    for (int j = 0; j < 3; j++) {
        x->mu[j] = 0.5;
        x->mu_rolling[j] = 0.001;
    }
    x->p = (cairn_problem){ .dimension = 3,
                            .rolling = 1,
                            .block_size = 3,
                            .blocks = 2,
                            .contacts = 3,
                            .mass_inverse = x->mass_inverse,
                            .v_free = x->v_free,
                            .block = block,
                            .H = x->H,
                            .w = x->w,
                            .mu = x->mu,
                            .mu_rolling = x->mu_rolling,
                            .bounded = bounded,
                            .lower = x->lower,
                            .upper = x->upper };
}

/* r' = r/l makes the same velocities, u' = l u, and the coefficients follow. */
static void check_same(const cairn_problem *p, const double *mu_rolling)
{
    cairn_arena arena = { 0 };
    cairn_rescaled scaled;
    double r[9], own[9], v[6], u[9], v_scaled[6], u_scaled[9], W[CAIRN_TRIANGLE];
    uint64_t state = 5;
    CHECK_OK(cairn_problem_rescale(p, &arena, &scaled));
    for (int i = 0; i < 9; i++) {
        r[i] = cairn_random_normal(&state);
        own[i] = r[i] / scaled.length[i];
    }
    cairn_problem_apply(p, r, v, u);
    cairn_problem_apply(&scaled.p, own, v_scaled, u_scaled);
    for (int i = 0; i < 9; i++)
        CHECK_NEAR(u_scaled[i], scaled.length[i] * u[i], 1e-9 * (1 + fabs(u[i])));
    for (int j = 0; j < 2; j++) {
        CHECK(scaled.length[3 * j] == 1 && scaled.length[3 * j + 1] == 1);
        CHECK_CLOSE(scaled.p.mu_rolling[j] * scaled.length[3 * j + 2], mu_rolling[j], 1e-14);
        cairn_contact_delassus(&scaled.p, j, W);
        CHECK_CLOSE(W[5], W[0], 1e-12); /* W_RR' = W_NN */
    }
    for (int i = 6; i < 9; i++)
        CHECK(scaled.length[i] == 1); /* the joint */
    cairn_arena_destroy(&arena);
}

TEST(the_same_problem_in_both_forms)
{
    sample x;
    cairn_arena arena = { 0 };
    cairn_problem local;
    cairn_matrix W;
    make(&x);
    CHECK_OK(cairn_problem_check(&x.p, NULL));
    check_same(&x.p, x.mu_rolling);
    CHECK_OK(cairn_delassus_localise(&x.p, &arena, &W, &local));
    check_same(&local, x.mu_rolling);
    cairn_arena_destroy(&arena);
}

int main(void)
{
    RUN(CASE(the_same_problem_in_both_forms));
}
