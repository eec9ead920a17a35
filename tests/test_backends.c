/* test_backends.c - every first-order solver on every back end, on problems of every kind; and each
 * function of a back end against the host's. */
#include "backend/backend.h"

#include <stdlib.h>

#include "backend_problems.h"
#include "cairn/solve.h"

static backend_problems problems;

/* On lattices, which are no better conditioned than packings, methods without restart take long. */
static double tolerance_of(const cairn_problem *p)
{
    return p->contacts > 100 ? 1e-3 : p->contacts > 20 ? 1e-4 : 1e-8;
}

/* Every back end: those of the library, then shared objects; false past the last. */
static bool backend_at(int index, char name[CAIRN_BACKEND_NAME])
{
    int own = 0;
    while (cairn_backend_name(own))
        own++;
    if (index >= own)
        return cairn_backend_plugin(index - own, name);
    snprintf(name, CAIRN_BACKEND_NAME, "%s", cairn_backend_name(index));
    return true;
}

static int backend_count(void)
{
    char name[CAIRN_BACKEND_NAME];
    int count = 0;
    while (backend_at(count, name))
        count++;
    return count;
}

/* The build tells where the plug-in of the tests lies; run by hand there may be none. */
TEST(host_scalar_and_the_plugin_of_the_tests_take_part)
{
    char name[CAIRN_BACKEND_NAME];
    CHECK(backend_count() >= 2);
    if (getenv("CAIRN_PLUGINS")) {
        CHECK(backend_at(2, name));
        CHECK_TEXT(name, "reversed");
    }
}

/* ---- solvers x back ends x problems --------------------------------------------------------- */

typedef struct answer {
    double *r, *v, *u;
    cairn_solve_report report;
} answer;

static answer solve(const cairn_problem *p, const char *solver, const char *backend, cairn_law law)
{
    answer a;
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    size_t rows = (size_t)p->contacts * (size_t)p->dimension;
    options.solver = solver;
    options.backend = backend;
    options.law = law;
    options.tolerance = tolerance_of(p);
    options.max_iterations = 100000;
    a.r = calloc(rows, sizeof(double));
    a.u = calloc(rows, sizeof(double));
    a.v = calloc((size_t)p->blocks * (size_t)p->block_size + 1, sizeof(double));
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report));
    cairn_workspace_destroy(workspace);
    return a;
}

static void drop(answer *a)
{
    free(a->r);
    free(a->v);
    free(a->u);
}

/* Met by the solver's own word and by the judge's. Velocities of the convex law are unique, and W
 * of these problems is of order 1: they agree to some tolerances. */
static void check_pair(int number, const char *solver, const char *backend, cairn_law law,
                       const answer *first)
{
    const cairn_problem *p = &problems.p[number];
    cairn_judgement judgement;
    answer a = solve(p, solver, backend, law);
    double near = 30 * tolerance_of(p);
    if (!a.report.converged)
        fail_msg("problem %d: %s on %s stops at %g: %s", number, solver, backend,
                 a.report.judgement.asked.relative, a.report.remark);
    for (int i = 0; i < p->contacts * p->dimension; i++)
        if (!(fabs(a.u[i] - first->u[i]) <= near))
            fail_msg("problem %d: %s on %s: u[%d] is %.12g, expected %.12g +- %g", number, solver,
                     backend, i, a.u[i], first->u[i], near);
    cairn_problem judged = *p;
    judged.s = law == CAIRN_LAW_COULOMB ? NULL : p->s;
    cairn_judge(&judged, law, a.r, a.v, a.u, &judgement);
    CHECK(judgement.asked.relative <= 1.001 * tolerance_of(p));
    drop(&a);
}

/* Returns how many pairs of solvers and back ends there were. */
static int check_problem(int number, cairn_law law)
{
    const cairn_problem *p = &problems.p[number];
    char backend[CAIRN_BACKEND_NAME];
    answer first = { 0 };
    int pairs = 0;
    for (int i = 0; cairn_solver_name(i); i++)
        for (int k = 0; backend_at(k, backend); k++) {
            const char *solver = cairn_solver_name(i);
            if (!cairn_solver_runs_elsewhere(solver) ||
                !cairn_solver_accepts_on(backend, solver, law, p))
                continue;
            if (!first.r)
                first = solve(p, solver, backend, law);
            check_pair(number, solver, backend, law, &first);
            pairs++;
        }
    drop(&first);
    return pairs;
}

/* auto, ngs, pgs and seven gradient methods; cones with edges are for auto and gradients */
TEST(first_order_solvers_meet_the_convex_law_on_every_back_end)
{
    for (int number = 0; number < BACKEND_PROBLEMS; number++)
        CHECK_INT(check_problem(number, CAIRN_LAW_CONVEX),
                  (number == 9 ? 8 : 10) * backend_count());
}

/* auto, ngs and pgs; the plane and the space problems have one answer */
TEST(sweeps_meet_coulombs_law_on_every_back_end)
{
    for (int number = 0; number < 9; number++)
        CHECK_INT(check_problem(number, CAIRN_LAW_COULOMB), 3 * backend_count());
}

/* ---- function by function ------------------------------------------------------------------- */

/* A problem on a back end, with vectors at home in arrays. */
typedef struct bench {
    cairn_backend_use use;
    const cairn_backend *b;
    cairn_arena arena;
    cairn_system *s;
    double *home[5];
    cairn_vector *r, *g, *v, *u, *w;
} bench;

static void *take(void *from, size_t count, size_t size)
{
    return cairn_arena_take(from, count, size);
}

static void set_up(bench *x, const char *backend, const cairn_problem *p)
{
    *x = (bench){ 0 };
    const cairn_room room = { take, &x->arena };
    size_t rows = (size_t)p->contacts * (size_t)p->dimension;
    size_t speeds = (size_t)p->blocks * (size_t)p->block_size;
    CHECK_OK(cairn_backend_open(backend, &x->use, NULL));
    x->b = x->use.backend;
    CHECK_OK(x->b->create(p, &room, &x->s));
    cairn_vector **vectors[] = { &x->r, &x->g, &x->u, &x->w, &x->v };
    for (int k = 0; k < 5; k++) {
        cairn_space space = k == 4 ? CAIRN_SPACE_VELOCITIES : CAIRN_SPACE_IMPULSES;
        x->home[k] = calloc(k == 4 ? speeds + 1 : rows, sizeof(double));
        CHECK_OK(x->b->vector(x->s, space, x->home[k], vectors[k]));
    }
    uint64_t state = 9;
    for (size_t i = 0; i < rows; i++)
        x->home[0][i] = cairn_random_normal(&state);
    x->b->upload(x->s, x->r);
}

static void tear_down(bench *x)
{
    x->b->destroy(x->s);
    cairn_backend_close(&x->use);
    cairn_arena_destroy(&x->arena);
    for (int k = 0; k < 5; k++)
        free(x->home[k]);
}

static void compare_numbers(const bench *a, const bench *b, int k, size_t count)
{
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(b->home[k][i], a->home[k][i], 1e-12 * (1 + fabs(a->home[k][i])));
}

static void fetch(bench *x)
{
    const cairn_vector *vectors[] = { x->r, x->g, x->u, x->w, x->v };
    for (int k = 0; k < 5; k++)
        x->b->download(x->s, vectors[k]);
}

/* Products, projections, scales and sums: one after the other, on two back ends. */
static void compare_functions(const cairn_problem *p, const char *backend)
{
    static bench two[2];
    double sums[2][4];
    for (int k = 0; k < 2; k++) {
        bench *x = &two[k];
        const cairn_backend *b = x->b;
        set_up(x, k ? backend : "host", p);
        b = x->b;
        b->gradient(x->s, x->r, x->v, x->g);
        b->scales(x->s, x->w);
        b->copy(x->s, x->r, x->u);
        b->combine(x->s, 0.5, x->g, -2, x->u);
        b->project(x->s, x->r);
        sums[k][0] = b->dot(x->s, x->g, x->r);
        sums[k][1] = b->approach(x->s, x->g);
        sums[k][2] = b->aim(x->s, 0.7, &(cairn_spectral){ x->r, x->g, x->u, x->g, x->w });
        b->extrapolate(x->s, 0.3, x->u, x->g, x->w);
        b->velocity(x->s, x->w, x->v);
        sums[k][3] = b->dot(x->s, x->v, x->v);
        fetch(x);
    }
    for (int i = 0; i < 4; i++)
        CHECK_NEAR(sums[1][i], sums[0][i], 1e-11 * (1 + fabs(sums[0][i])));
    size_t rows = (size_t)p->contacts * (size_t)p->dimension;
    for (int i = 0; i < 5; i++)
        compare_numbers(&two[0], &two[1], i,
                        i < 4 ? rows : (size_t)p->blocks * (size_t)p->block_size);
    tear_down(&two[0]);
    tear_down(&two[1]);
}

TEST(functions_of_all_back_ends_agree)
{
    char backend[CAIRN_BACKEND_NAME];
    for (int k = 1; backend_at(k, backend); k++)
        for (int number = 0; number < BACKEND_PROBLEMS; number++)
            compare_functions(&problems.p[number], backend);
}

static void compare_residuals(const cairn_residual *a, const cairn_residual *b)
{
    CHECK_CLOSE(b->relative, a->relative, 1e-11);
    CHECK_CLOSE(b->fclib, a->fclib, 1e-11);
    CHECK_CLOSE(b->worst, a->worst, 1e-11);
    CHECK_INT(b->worst_contact, a->worst_contact);
}

/* The scalar judge shares no sum and no formula of a condition with problem/residual.c. Impulses in
 * their cones, outside of them, and none. */
static void compare_judges(const cairn_problem *p, const char *backend, cairn_law law, int how)
{
    static bench two[2];
    cairn_judgement judged[2];
    double scale[2];
    for (int k = 0; k < 2; k++) {
        bench *x = &two[k];
        set_up(x, k ? backend : "host", p);
        if (how == 1)
            x->b->project(x->s, x->r);
        if (how == 2)
            x->b->clear(x->s, x->r);
        x->b->judge(x->s, law, x->r, x->v, x->u, &judged[k]);
        scale[k] = x->b->scale(x->s, law);
        fetch(x);
    }
    CHECK_CLOSE(scale[1], scale[0], 1e-12);
    compare_residuals(&judged[0].asked, &judged[1].asked);
    compare_residuals(&judged[0].coulomb, &judged[1].coulomb);
    CHECK_NEAR(judged[1].cone_violation, judged[0].cone_violation, 1e-12);
    compare_numbers(&two[0], &two[1], 2, (size_t)p->contacts * (size_t)p->dimension);
    tear_down(&two[0]);
    tear_down(&two[1]);
}

TEST(judges_of_all_back_ends_agree)
{
    char backend[CAIRN_BACKEND_NAME];
    for (int k = 1; backend_at(k, backend); k++)
        for (int number = 0; number < BACKEND_PROBLEMS; number++)
            for (int law = 0; law < CAIRN_LAW_COUNT; law++)
                for (int how = 0; how < 3; how++)
                    compare_judges(&problems.p[number], backend, (cairn_law)law, how);
}

/* After the same sweeps impulses are the same: both go through 15 contacts one by one. */
TEST(sweeps_of_host_and_scalar_are_the_same_up_to_rounding)
{
    static bench two[2];
    for (int number = 0; number < 2; number++) {
        const cairn_problem *p = &problems.p[number];
        cairn_sweep noted[2];
        for (int k = 0; k < 2; k++) {
            bench *x = &two[k];
            cairn_sweeping *sweeps;
            set_up(x, k ? "scalar" : "host", p);
            x->b->velocity(x->s, x->r, x->v);
            CHECK_OK(x->b->begin(x->s, false, x->r, x->v, &sweeps));
            for (int i = 0; i < 7; i++)
                noted[k] = x->b->sweep(sweeps, CAIRN_LAW_CONVEX, (cairn_momentum){ 0.5, 0.2 });
            x->b->unload(sweeps, x->r);
            fetch(x);
        }
        CHECK_CLOSE(noted[1].change2, noted[0].change2, 1e-9);
        CHECK_CLOSE(noted[1].uphill, noted[0].uphill, 1e-9);
        compare_numbers(&two[0], &two[1], 0, (size_t)p->contacts * (size_t)p->dimension);
        tear_down(&two[0]);
        tear_down(&two[1]);
    }
}

static int end(void **state)
{
    (void)state;
    cairn_arena_destroy(&problems.arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(host_scalar_and_the_plugin_of_the_tests_take_part),
        CASE(functions_of_all_back_ends_agree),
        CASE(judges_of_all_back_ends_agree),
        CASE(sweeps_of_host_and_scalar_are_the_same_up_to_rounding),
        CASE(first_order_solvers_meet_the_convex_law_on_every_back_end),
        CASE(sweeps_meet_coulombs_law_on_every_back_end),
    };
    if (!make_backend_problems(&problems))
        return 1;
    return cmocka_run_group_tests(tests, NULL, end);
}
