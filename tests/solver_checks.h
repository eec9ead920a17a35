/* solver_checks.h - what every solver owes, whatever its method: a right verdict on degenerate
 * problems, and a clean end when there is no memory. */
#ifndef CAIRN_TESTS_SOLVER_CHECKS_H
#define CAIRN_TESTS_SOLVER_CHECKS_H

#include "cairn/solve.h"
#include "check.h"
#include "failing_allocator.h"
#include "random_problem.h"

typedef struct checked {
    cairn_status status;
    cairn_solve_report report;
    double r[MOST_CONTACTS * 3], v[MOST_BLOCKS * 6], u[MOST_CONTACTS * 3];
} checked;

static inline checked solve_checked(const cairn_problem *p, const char *solver, cairn_law law,
                                    double tolerance, int64_t iterations)
{
    checked a = { .status = CAIRN_OK };
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.law = law;
    options.tolerance = tolerance;
    options.max_iterations = iterations;
    a.status = cairn_workspace_create(&workspace);
    if (a.status == CAIRN_OK)
        a.status = cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report);
    cairn_workspace_destroy(workspace);
    return a;
}

static inline void check_solved(const cairn_problem *p, const char *solver, cairn_law law,
                                double tolerance)
{
    checked a = solve_checked(p, solver, law, tolerance, 20000);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    CHECK(a.report.judgement.asked.relative <= tolerance);
    CHECK_NEAR(a.report.judgement.cone_violation, 0, 1e-10);
}

/* Not converged, and said so, with finite impulses. */
static inline void check_refused(const cairn_problem *p, const char *solver, cairn_law law)
{
    checked a = solve_checked(p, solver, law, 1e-6, 2000);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    for (int i = 0; i < p->contacts * p->dimension; i++)
        CHECK(isfinite(a.r[i]));
}

/* mu = 0, mu = 10, no contact, every contact twice, contacts between nothing that part. */
static inline void check_degenerate(const char *solver, cairn_law law)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        make_random_problem(&random, dimension, 12, 10, 31);
        for (int j = 0; j < 10; j++)
            random.mu[j] = j % 2 ? 0 : 10;
        check_solved(&random.p, solver, law, 1e-8);
        int n = random.p.block_size, d = dimension;
        for (int j = 5; j < 10; j++) { /* 5 .. 9 are 0 .. 4 again, impulses are not unique */
            memcpy(&random.H[j * 2 * d * n], &random.H[(j - 5) * 2 * d * n],
                   sizeof(double) * (size_t)(2 * d * n));
            memcpy(&random.block[2 * j], &random.block[2 * (j - 5)], 2 * sizeof(int32_t));
            memcpy(&random.w[j * d], &random.w[(j - 5) * d], sizeof(double) * (size_t)d);
            random.b[j] = random.b[j - 5];
            random.mu[j] = random.mu[j - 5] = 0.5;
        }
        check_solved(&random.p, solver, law, 1e-8);
        random.block[0] = random.block[1] = -1;
        random.w[0] = 100; /* nothing there can move, nothing has to */
        check_solved(&random.p, solver, law, 1e-8);
        random.p.contacts = 0;
        check_solved(&random.p, solver, law, 1e-8);
    }
}

/* A contact of something fixed (no block, or no inverse mass) that closes: nothing can stop it. */
static inline void check_infeasible(const char *solver, cairn_law law)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        make_random_problem(&random, dimension, 12, 10, 32);
        for (int i = 0; i < random.p.block_size; i++)
            random.mass_inverse[i] = 0;
        random.block[1] = -1;
        random.v_free[0] = -1;
        random.w[0] = random.b[0] = 0;
        check_refused(&random.p, solver, law);
        random.block[0] = -1;
        random.w[0] = -1;
        check_refused(&random.p, solver, law);
    }
}

/* Fails the n-th allocation for every n: NO_MEMORY, and nothing is left behind. */
static inline void check_memory(const cairn_problem *p, const char *solver, cairn_law law)
{
    bool done = false;
    for (long n = 1; !done; n++) {
        meter m = { .fail_at = n };
        meter_install(&m);
        checked a = solve_checked(p, solver, law, 1e-6, 20000);
        cairn_allocator_set(NULL);
        done = m.calls < n;
        CHECK_INT(a.status, done ? CAIRN_OK : CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
}

#endif
