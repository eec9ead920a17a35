/* test_small.c - a few contacts given by W: sweeps alone, modes in 2D, and when others go on. */
#include "solve/small.h"

#include <math.h>
#include <string.h>

#include "cairn/solve.h"
#include "check.h"
#include "failing_allocator.h"
#include "problem/delassus.h"
#include "random_problem.h"

/* The same problem given by W. */
static cairn_problem local_form(const cairn_problem *p, cairn_arena *arena, cairn_matrix *W)
{
    cairn_problem local;
    CHECK_OK(cairn_delassus_localise(p, arena, W, &local));
    return local;
}

typedef struct answer {
    double r[MOST_CONTACTS * 3], u[MOST_CONTACTS * 3], v[MOST_BLOCKS * 6];
    cairn_solve_report report;
} answer;

static cairn_solve_options options_of(cairn_law law, double tolerance)
{
    cairn_solve_options options = cairn_solve_options_default();
    options.law = law;
    options.tolerance = tolerance;
    return options;
}

static void solve(const cairn_problem *p, const cairn_solve_options *options, answer *a)
{
    cairn_workspace *workspace;
    *a = (answer){ 0 };
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(p, options, workspace, a->r, a->v, a->u, &a->report));
    cairn_workspace_destroy(workspace);
}

/* By small.c alone. */
static void solve_alone(const cairn_problem *p, const cairn_solve_options *options, answer *a)
{
    cairn_arena arena = { 0 };
    *a = (answer){ 0 };
    CHECK(cairn_small_accepts(p, options));
    CHECK_OK(cairn_small_solve(p, options, &arena, a->r, a->u, &a->report));
    cairn_arena_destroy(&arena);
}

/* Velocities of the convex law are unique; those of Coulomb's are, with little friction. */
TEST(random_contacts_move_as_with_plain_sweeps)
{
    for (int seed = 0; seed < 20; seed++)
        for (int dimension = 2; dimension <= 3; dimension++)
            for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
                cairn_arena arena = { 0 };
                cairn_matrix W;
                random_problem random;
                answer small, plain;
                make_random_problem(&random, dimension, 12, 10, seed);
                cairn_problem p = local_form(&random.p, &arena, &W);
                cairn_solve_options options = options_of((cairn_law)law, 1e-9);
                CHECK(cairn_small_accepts(&p, &options));
                solve(&p, &options, &small);
                options.solver = "pgs";
                CHECK(!cairn_small_accepts(&p, &options));
                solve(&p, &options, &plain);
                CHECK(small.report.converged && plain.report.converged);
                for (int i = 0; i < p.contacts * dimension; i++)
                    CHECK_NEAR(small.u[i], plain.u[i], 1e-6);
                cairn_arena_destroy(&arena);
            }
}

/* Two contacts of one body that are all but the same, W = (1, c; c, 1) in the normals with
 * c = SHARED: a sweep takes off 0.2 % of the error. Frictionless, q = (-1, -1): r_N = 1/(1 + c). */
static const double SHARED = 0.999;

enum { PAIRS = 10 }; /* 20 contacts are too many for their modes to be guessed */

typedef struct pairs {
    int64_t start[4 * PAIRS + 1];
    int32_t column[8 * PAIRS];
    double value[8 * PAIRS], q[4 * PAIRS], b[2 * PAIRS], mu[2 * PAIRS];
    cairn_matrix W;
    cairn_problem p;
} pairs;

/* `count` such pairs, each alone. */
static void make_pairs(int count, double mu, pairs *x)
{
    static const double q[4] = { -1, 0.1, -1, 0.2 };
    *x = (pairs){ 0 };
    for (int row = 0; row < 4 * count; row++) {
        int other = row % 4 < 2 ? row + 2 : row - 2;
        x->start[row + 1] = 2 * row + 2;
        for (int k = 0; k < 2; k++) {
            bool own = (row < other) == (k == 0);
            x->column[2 * row + k] = own ? row : other;
            x->value[2 * row + k] = own ? 1 : SHARED;
        }
        x->q[row] = q[row % 4];
        x->mu[row / 2] = mu;
    }
    x->W = (cairn_matrix){ 4 * count, 4 * count, x->start, x->column, x->value };
    x->p = (cairn_problem){
        .dimension = 2, .contacts = 2 * count, .W = &x->W, .q = x->q, .b = x->b, .mu = x->mu
    };
}

TEST(modes_of_contacts_in_the_plane_are_guessed_when_sweeps_are_slow)
{
    for (int law = 0; law < CAIRN_LAW_COUNT; law++)
        for (int slides = 0; slides < 2; slides++) {
            pairs x;
            answer a;
            make_pairs(1, slides ? 0.01 : 0, &x);
            cairn_solve_options options = options_of((cairn_law)law, 1e-12);
            solve_alone(&x.p, &options, &a);
            CHECK(a.report.converged);
            CHECK(a.report.iterations <= 5);
            if (!slides)
                CHECK_NEAR(a.r[0] + a.r[2], 2 / (1 + SHARED), 1e-12);
            if (slides && law == CAIRN_LAW_COULOMB) { /* u_N = 0, r_T = -mu r_N */
                CHECK_NEAR(a.u[0], 0, 1e-12);
                CHECK_NEAR(a.r[1], -0.01 * a.r[0], 1e-15);
            }
        }
}

TEST(sweeps_that_are_slow_are_left_to_other_methods)
{
    pairs x;
    answer alone, all;
    make_pairs(PAIRS, 0.01, &x);
    cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-10);
    solve_alone(&x.p, &options, &alone);
    CHECK(!alone.report.converged);
    CHECK(alone.report.iterations >= 3 && alone.report.iterations <= 4 * (10 + 20));
    for (int i = 0; i < 4 * PAIRS; i++)
        CHECK(isfinite(alone.r[i]));
    solve(&x.p, &options, &all);
    CHECK(all.report.converged);
    CHECK(strcmp(all.report.solver, "newton") == 0);
    CHECK(all.report.iterations > alone.report.iterations);
}

TEST(no_more_sweeps_than_allowed)
{
    pairs x;
    answer a;
    make_pairs(1, 0.3, &x);
    for (int most = 0; most <= 2; most++) {
        cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-12);
        options.max_iterations = most;
        solve(&x.p, &options, &a);
        CHECK(!a.report.converged);
        CHECK_INT(a.report.iterations, most);
    }
}

TEST(numbers_that_overflow_leave_the_start_alone)
{
    pairs x;
    answer a = { .r = { 1, 0, 2, 0 } };
    cairn_arena arena = { 0 };
    make_pairs(1, 0.3, &x);
    x.q[0] = -1e308;
    x.value[0] = 1e-300;
    cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-6);
    CHECK_OK(cairn_small_solve(&x.p, &options, &arena, a.r, a.u, &a.report));
    CHECK(!a.report.converged);
    CHECK(a.r[0] == 1 && a.r[2] == 2);
    cairn_arena_destroy(&arena);
}

TEST(no_memory_is_reported_and_nothing_leaks)
{
    pairs x;
    make_pairs(1, 0.3, &x);
    cairn_solve_options options = options_of(CAIRN_LAW_COULOMB, 1e-6);
    cairn_status status = CAIRN_NO_MEMORY;
    for (int n = 1; status == CAIRN_NO_MEMORY; n++) {
        meter m = { .fail_at = n };
        answer a = { 0 };
        cairn_arena arena = { 0 };
        meter_install(&m);
        status = cairn_small_solve(&x.p, &options, &arena, a.r, a.u, &a.report);
        cairn_arena_destroy(&arena);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK(n > 1 || status == CAIRN_NO_MEMORY);
    }
    CHECK_OK(status);
}

int main(void)
{
    RUN(CASE(random_contacts_move_as_with_plain_sweeps),
        CASE(modes_of_contacts_in_the_plane_are_guessed_when_sweeps_are_slow),
        CASE(sweeps_that_are_slow_are_left_to_other_methods), CASE(no_more_sweeps_than_allowed),
        CASE(numbers_that_overflow_leave_the_start_alone),
        CASE(no_memory_is_reported_and_nothing_leaks));
}
