/* test_host.c - the kernels of the host back end. */
#include "backend/host/host.h"

#include "check.h"
#include "problem/operator.h"
#include "random_problem.h"

static cairn_system make_system(random_problem *random, cairn_arena *arena)
{
    cairn_system s;
    make_random_problem(random, 3, 12, 10, 2);
    CHECK_OK(cairn_system_create(&random->p, arena, &s));
    CHECK_OK(cairn_host_diagonals(&s, arena));
    return s;
}

TEST(a_sweep_keeps_velocities_in_step_with_impulses)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_system s = make_system(&random, &arena);
    double r[30] = { 0 }, previous[30] = { 0 }, v[72], fresh[72];
    cairn_problem_velocity(s.p, r, v);
    for (int k = 0; k < 5; k++)
        cairn_host_sweep(&s, CAIRN_LAW_CONVEX, previous, r, v);
    cairn_problem_velocity(s.p, r, fresh);
    for (int i = 0; i < 72; i++)
        CHECK_NEAR(v[i], fresh[i], 1e-13);
    cairn_arena_destroy(&arena);
}

TEST(a_sweep_at_the_solution_changes_nothing)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_system s = make_system(&random, &arena);
    double r[30] = { 0 }, previous[30] = { 0 }, v[72];
    cairn_problem_velocity(s.p, r, v);
    cairn_sweep sweep = { 0 };
    for (int k = 0; k < 200; k++)
        sweep = cairn_host_sweep(&s, CAIRN_LAW_CONVEX, previous, r, v);
    CHECK_NEAR(sqrt(sweep.change2), 0, 1e-14);
    cairn_arena_destroy(&arena);
}

/* the gradient of f(r) = 1/2 r'W r + q'r by central differences of f */
TEST(gradient_is_the_derivative_of_the_dual_energy)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_system s = make_system(&random, &arena);
    double r[30], v[72], g[30], q[30], zero[30] = { 0 };
    uint64_t state = 6;
    for (int i = 0; i < 30; i++)
        r[i] = cairn_random_normal(&state);
    cairn_host_gradient(&s, zero, v, q);
    cairn_host_gradient(&s, r, v, g);
    for (int i = 0; i < 30; i++) {
        double f[2], step[2] = { -1e-4, 1e-4 }, here[30];
        for (int k = 0; k < 2; k++) {
            r[i] += step[k];
            cairn_host_gradient(&s, r, v, here);
            f[k] = 0.5 * (cairn_host_dot(30, r, here) + cairn_host_dot(30, r, q));
            r[i] -= step[k];
        }
        CHECK_NEAR((f[1] - f[0]) / 2e-4, g[i], 1e-7);
    }
    cairn_arena_destroy(&arena);
}

TEST(vector_kernels_by_hand)
{
    double x[7] = { 1, 2, 3, 4, 5, 6, 7 }, y[7] = { 1, 1, 1, 1, 1, 1, 1 };
    CHECK_NEAR(cairn_host_dot(7, x, y), 28, 0);
    cairn_host_combine(7, 2, x, -1, y);
    CHECK(y[0] == 1 && y[6] == 13);
}

int main(void)
{
    RUN(CASE(a_sweep_keeps_velocities_in_step_with_impulses),
        CASE(a_sweep_at_the_solution_changes_nothing),
        CASE(gradient_is_the_derivative_of_the_dual_energy), CASE(vector_kernels_by_hand));
}
