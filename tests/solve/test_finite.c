/* test_finite.c - whatever the masses, velocities and starting impulses: every solver returns
 * finite numbers. */
#include "base/common.h"
#include "base/memory.h"
#include "cairn/solve.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "tests/check.h"
#include "tests/problems/hard_problems.h"

/* ---- rows of balls -------------------------------------------------------------------------- */

enum { MOST = 4 }; /* contacts: a wall at either end of at most 3 balls */

/* A number between 10^-a and 10^a. */
static double ratio_between(double a, uint64_t *state)
{
    return pow(10, cairn_random_between(state, -a, a));
}

/* `count` balls side by side along x, the first at a wall, the last perhaps at another; masses
 * differ by up to 10^4. If `opens`, nothing closes: each ball is faster than the one before it. */
static hard_problem row_of_balls(int dimension, int count, bool opens, uint64_t *state)
{
    int n = dimension == 3 ? 6 : 3;
    hard_problem h = hard_problem_new(dimension, n, count, MOST);
    double frame[9] = { -1, 0, 0, 0, 1, 0, 0, 0, -1 }, speed = 0;
    bool walled = !opens && cairn_random_uniform(state) < 0.5;
    for (int k = 0; k < count; k++) {
        double mass = ratio_between(2, state), x[3] = { 0.2 * k, 0, 0 };
        const double inertia[3] = { 0.004 * mass, 0.004 * mass, 0.004 * mass };
        hard_body(&h, k, x, mass, inertia, 0);
        speed = opens ? speed + cairn_random_uniform(state) : cairn_random_normal(state);
        for (int i = 0; i < n; i++)
            h.v_free[k * n + i] = opens ? 0 : 0.3 * cairn_random_normal(state);
        h.v_free[k * n] = speed;
    }
    double mu = cairn_random_uniform(state) < 0.3 ? 0 : cairn_random_uniform(state);
    for (int k = 0; k < count + walled; k++) {
        double x[3] = { 0.2 * k - 0.1, 0, 0 };
        double wall[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
        bool last = k == count;
        hard_contact(&h, last ? k - 1 : k, last ? -1 : k - 1, x, last ? frame : wall, mu);
    }
    return h;
}

/* Impulses of an earlier step, some of them outside the cones. */
static void fill_start(int count, double size, uint64_t *state, double *r)
{
    for (int i = 0; i < count; i++)
        r[i] = size * cairn_random_normal(state);
}

static bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Every solver from this start; if nothing closes, no impulses are the answer. */
static void solve_by_all(const cairn_problem *p, cairn_law law, const double *start, bool opens)
{
    cairn_workspace *workspace;
    CHECK_OK(cairn_workspace_create(&workspace));
    const char *name;
    for (int i = 0; (name = cairn_solver_name(i)); i++) {
        double r[3 * MOST], v[3 * 6], u[3 * MOST];
        int size = p->contacts * p->dimension;
        cairn_solve_report report;
        cairn_solve_options options = cairn_solve_options_default();
        options.solver = name;
        options.law = law;
        options.max_iterations = 1000;
        if (!cairn_solver_accepts(name, law, p))
            continue;
        memcpy(r, start, (size_t)size * sizeof(double));
        CHECK_OK(cairn_solve(p, &options, workspace, r, v, u, &report));
        CHECK(all_finite(r, size) && all_finite(u, size));
        CHECK(p->W || all_finite(v, p->blocks * p->block_size));
        CHECK(isfinite(report.judgement.asked.relative));
        CHECK(report.converged || report.judgement.asked.relative > options.tolerance);
        if (opens && strcmp(name, "ngs") == 0)
            CHECK(report.converged);
    }
    cairn_workspace_destroy(workspace);
}

/* Both forms and both laws; impulses of about `size` N s to begin with, 0 in every third row. */
static void check_row(uint64_t seed, bool opens, double size)
{
    uint64_t state = seed;
    int dimension = seed % 2 ? 2 : 3, count = 2 + (int)(seed / 2 % 2);
    hard_problem row = row_of_balls(dimension, count, opens, &state);
    double start[3 * MOST] = { 0 };
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    if (seed % 3)
        fill_start(3 * MOST, size * ratio_between(2, &state), &state, start);
    CHECK_OK(cairn_delassus_localise(&row.p, &arena, &W, &local));
    for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
        solve_by_all(&row.p, (cairn_law)law, start, opens);
        solve_by_all(&local, (cairn_law)law, start, opens);
    }
    cairn_arena_destroy(&arena);
    hard_problem_free(&row);
}

TEST(every_solver_returns_finite_numbers_at_mass_ratios_up_to_ten_thousand)
{
    for (uint64_t seed = 1; seed <= (CHECKED ? 24 : 96); seed++)
        check_row(seed, false, 1);
}

TEST(every_solver_returns_finite_numbers_where_nothing_closes)
{
    for (uint64_t seed = 1; seed <= (CHECKED ? 24 : 96); seed++)
        check_row(seed, true, 1);
}

/* 10^130 is beyond float, and its square is not beyond double */
TEST(every_solver_returns_finite_numbers_from_huge_impulses)
{
    for (uint64_t seed = 1; seed <= (CHECKED ? 6 : 12); seed++)
        check_row(seed, false, 1e130);
}

/* ---- worlds --------------------------------------------------------------------------------- */

/* A heavy ball presses a light one against a wall: in the step after that nothing closes, and the
 * impulses of the impact are a start whose error has no speed to be relative to. */
static cairn_world *light_ball_at_a_wall(void)
{
    static const double density[2] = { 1, 1000 };
    cairn_world *world = new_world(3, 0, 0.3, 0);
    cairn_body_def wall = cairn_body_def_default(), ball = cairn_body_def_default();
    wall.motion = CAIRN_MOTION_FIXED;
    wall.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    wall.shape.axis = (cairn_vec3){ 1, 0, 0 };
    wall.position = (cairn_vec3){ -0.1, 0, 0 };
    CHECK_OK(cairn_body_create(world, &wall, NULL));
    ball.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.shape.radius = 0.1;
    for (int k = 0; k < 2; k++) {
        ball.density = density[k];
        ball.position = (cairn_vec3){ 0.2 * k, 0, 0 };
        ball.velocity = (cairn_vec3){ -k, 0, 0 };
        CHECK_OK(cairn_body_create(world, &ball, NULL));
    }
    return world;
}

TEST(a_light_ball_between_a_wall_and_a_heavy_one_is_solved_by_all)
{
    static const char *const schemes[2] = { "convex", "coulomb" };
    const char *name;
    for (int i = 0; (name = cairn_solver_name(i)); i++)
        for (int law = 0; law < CAIRN_LAW_COUNT; law++) {
            cairn_step_options options = cairn_step_options_default();
            cairn_problem none = { .dimension = 3, .block_size = 6 };
            options.time_step = 5e-4;
            options.solver = name;
            options.scheme = schemes[law];
            if (!cairn_solver_accepts(name, (cairn_law)law, &none))
                continue;
            cairn_world *world = light_ball_at_a_wall();
            for (int step = 0; step < 20; step++)
                CHECK_OK(cairn_world_step(world, &options, NULL));
            cairn_world_destroy(world);
        }
}

GROUP(test_finite)
{
    RUN(CASE(every_solver_returns_finite_numbers_at_mass_ratios_up_to_ten_thousand),
        CASE(every_solver_returns_finite_numbers_where_nothing_closes),
        CASE(every_solver_returns_finite_numbers_from_huge_impulses),
        CASE(a_light_ball_between_a_wall_and_a_heavy_one_is_solved_by_all));
}
