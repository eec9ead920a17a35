/* test_backends.c - back ends: the host, shared objects, and every function of each against the
 * host's. */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/backend.h"
#include "backend/host/host.h"
#include "base/memory.h"
#include "cairn/backend.h"
#include "cairn/solve.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "tests/check.h"
#include "tests/problems/random_problem.h"

/* ==== small problems of every kind, for products of solvers and back ends: 2D and
 * 3D, rows that are stored, balls, both, the local form, rows with bounds, rolling, edges. */

enum { BACKEND_PROBLEMS = 12 };

typedef struct backend_problems {
    cairn_arena arena;
    random_problem plane, space, smooth, turning;
    mixed_problem joints[2];
    lattice_problem balls, both, many;
    cairn_matrix W;
    double s[MOST_CONTACTS], mu_rolling[MOST_CONTACTS], mu_spinning[MOST_CONTACTS];
    cairn_problem p[BACKEND_PROBLEMS];
} backend_problems;

/* 8 contacts with sliding, rolling and spinning friction: rows of 6 components, the identity on a
 * block of their own and a little of the next one. */
static inline cairn_problem turning_problem(backend_problems *x)
{
    random_problem *t = &x->turning;
    uint64_t state = 5;
    make_random_problem(t, 3, 9, 8, 17);
    for (int j = 0; j < 8; j++) {
        t->block[2 * j + 1] = j + 1;
        for (int i = 0; i < 72; i++) {
            int side = i / 36, row = i % 36 / 6, column = i % 6;
            t->H[72 * j + i] = side ? 0.1 * cairn_random_normal(&state) : row == column;
        }
        x->mu_rolling[j] = cairn_random_between(&state, 0.05, 0.3);
        x->mu_spinning[j] = cairn_random_between(&state, 0.05, 0.3);
    }
    cairn_problem p = t->p;
    p.dimension = 6;
    p.rolling = 2;
    p.spinning = 1;
    p.w = NULL;
    p.mu_rolling = x->mu_rolling;
    p.mu_spinning = x->mu_spinning;
    return p;
}

/* False: no memory. `x` must not move. */
static inline bool make_backend_problems(backend_problems *x)
{
    cairn_problem *p = x->p;
    x->arena = (cairn_arena){ 0 };
    make_random_problem(&x->plane, 2, 18, 15, 3);
    make_random_problem(&x->space, 3, 18, 15, 4);
    make_random_problem(&x->smooth, 3, 18, 15, 5);
    memset(x->smooth.mu, 0, sizeof x->smooth.mu);
    x->space.block[9] = x->space.block[8]; /* a contact of a body with itself */
    make_mixed_problem(&x->joints[0], 2, 14, 11);
    make_mixed_problem(&x->joints[1], 3, 14, 12);
    if (!make_lattice_problem(3, 0.3, &x->arena, &x->balls) ||
        !make_lattice_problem(3, 0.4, &x->arena, &x->both) ||
        !make_lattice_problem(5, 0.3, &x->arena, &x->many))
        return false;
    p[0] = x->plane.p;
    p[1] = x->space.p;
    p[2] = x->smooth.p;
    p[3] = x->joints[0].random.p;
    p[4] = x->joints[1].random.p;
    p[5] = lattice_of_balls(&x->balls);
    p[6] = lattice_of_both(&x->both);
    p[7] = lattice_of_balls(&x->many); /* 300 contacts: batches, and float */
    p[8] = turning_problem(x);
    p[9] = x->space.p;
    p[9].directions = 6;
    p[10] = x->space.p; /* s given: one outer iterate of exact friction */
    for (int j = 0; j < 15; j++)
        x->s[j] = 0.1 * j;
    p[10].s = x->s;
    return cairn_delassus_localise(&x->space.p, &x->arena, &x->W, &p[11]) == CAIRN_OK;
}

/* ==== test_backends: every first-order solver on every back end, on problems of every kind;
 * and each function of a back end against the host's. */

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

/* 1,000 balls: velocities are recomputed several times on the way, in float too, and momentum must
 * not take that for movement. The scalar back end sweeps in double. */
TEST(momentum_survives_that_velocities_are_recomputed)
{
    cairn_arena arena = { 0 };
    lattice_problem deep;
    char backend[CAIRN_BACKEND_NAME];
    CHECK(make_lattice_problem(10, 0.3, &arena, &deep));
    const cairn_problem p = lattice_of_balls(&deep);
    answer reference = solve(&p, "ngs", "scalar", CAIRN_LAW_CONVEX);
    CHECK(reference.report.iterations > 100);
    for (int i = 0; backend_at(i, backend); i++) {
        answer a = solve(&p, "ngs", backend, CAIRN_LAW_CONVEX);
        if (!a.report.converged || a.report.iterations > 2 * reference.report.iterations)
            fail_msg("%s takes %d sweeps, expected at most twice the %d of scalar", backend,
                     (int)a.report.iterations, (int)reference.report.iterations);
        drop(&a);
    }
    drop(&reference);
    cairn_arena_destroy(&arena);
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

GROUP(test_backends)
{
    const struct CMUnitTest tests[] = {
        CASE(host_scalar_and_the_plugin_of_the_tests_take_part),
        CASE(functions_of_all_back_ends_agree),
        CASE(judges_of_all_back_ends_agree),
        CASE(sweeps_of_host_and_scalar_are_the_same_up_to_rounding),
        CASE(first_order_solvers_meet_the_convex_law_on_every_back_end),
        CASE(sweeps_meet_coulombs_law_on_every_back_end),
        CASE(momentum_survives_that_velocities_are_recomputed),
    };
    if (!make_backend_problems(&problems))
        return 1;
    return cmocka_run_group_tests_name(__func__, tests, NULL, end);
}

/* ==== test_plugins: back ends by name: what is refused and how that is told, and a back end from a
 * shared object (tests/plugins). */

/* The folder of the test's shared objects, or one in it. */
static void look_in(const char *folder)
{
    char path[1024];
    const char *plugins = getenv("CAIRN_PLUGINS");
    CHECK(plugins != NULL);
    snprintf(path, sizeof path, "%s%s", plugins, folder);
    CHECK_INT(setenv("CAIRN_BACKENDS", path, 1), 0);
}

static void check_refused(const char *name, cairn_status status, const char *piece)
{
    cairn_error error = { 0 };
    CHECK_INT(cairn_backend_check(name, &error), status);
    CHECK_TEXT(error.key, "backend");
    CHECK_CONTAINS(error.message, piece);
}

TEST(the_default_is_the_first_of_the_library)
{
    CHECK_TEXT(cairn_backend_name(0), "host");
    CHECK_TEXT(cairn_backend_name(1), "scalar");
    CHECK(cairn_backend_name(2) == NULL && cairn_backend_name(-1) == NULL);
    CHECK(cairn_backend_summary("host") && !cairn_backend_summary("nothing"));
    CHECK_TEXT(cairn_solve_options_default().backend, "host");
    CHECK_OK(cairn_backend_check(NULL, NULL));
}

TEST(a_name_that_is_nearly_right_gets_a_suggestion)
{
    check_refused("hots", CAIRN_BAD_INPUT, "unknown back end 'hots'; did you mean 'host'?");
    check_refused("scaler", CAIRN_BAD_INPUT, "did you mean 'scalar'?");
}

TEST(a_name_without_a_file_tells_the_file)
{
    look_in("");
    check_refused("quantum", CAIRN_BAD_INPUT, "expected one of host, scalar, or a shared object");
    check_refused("quantum", CAIRN_BAD_INPUT, "/plugins/libcairn_backend_quantum.so");
}

/* /refused holds libcairn_backend_old.so: no name leads to it from the folder above */
TEST(names_do_not_lead_out_of_the_folder)
{
    static const char *const names[] = { "../x",      "refused/libcairn_backend_old",
                                         "x/../../y", "",
                                         "a.b",       "a b",
                                         "a\nb",      "a_name_of_more_than_thirty_one_letters" };
    look_in("");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_refused(names[i], CAIRN_BAD_INPUT, "or a name of letters, digits, - and _");
}

TEST(another_version_is_refused)
{
    look_in("/refused");
    check_refused("old", CAIRN_UNSUPPORTED, "libcairn_backend_old.so is of version 7 of the");
    check_refused("old", CAIRN_UNSUPPORTED, "expected 6");
}

TEST(an_object_without_the_symbol_is_refused)
{
    look_in("/refused");
    check_refused("mute", CAIRN_UNSUPPORTED, "it does not show cairn_backend_table");
}

TEST(a_back_end_that_cannot_run_here_says_why)
{
    look_in("/refused");
    check_refused("cardless", CAIRN_UNSUPPORTED,
                  "the back end 'cardless' cannot run on this machine: there is no card");
}

TEST(an_object_of_another_name_is_refused)
{
    look_in("/refused");
    check_refused("misnamed", CAIRN_UNSUPPORTED, "calls itself 'host', expected 'misnamed'");
}

TEST(an_object_that_lacks_a_function_is_refused)
{
    look_in("/refused");
    check_refused("hollow", CAIRN_UNSUPPORTED, "hollow.so lacks the function project");
    check_refused("halfpile", CAIRN_UNSUPPORTED, "halfpile.so lacks the function pile->destroy");
}

TEST(a_fifo_is_not_waited_for)
{
    char folder[] = "/tmp/cairn_backends_XXXXXX", path[256];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libcairn_backend_pipe.so", folder);
    CHECK_INT(mkfifo(path, 0600), 0);
    setenv("CAIRN_BACKENDS", folder, 1);
    check_refused("pipe", CAIRN_IO_FAILED, "libcairn_backend_pipe.so is not a plain file");
    unlink(path);
    rmdir(folder);
}

TEST(a_file_that_is_no_shared_object_is_refused)
{
    char folder[] = "/tmp/cairn_backends_XXXXXX", path[256];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/libcairn_backend_text.so", folder);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs("not a shared object\n", file);
    fclose(file);
    setenv("CAIRN_BACKENDS", folder, 1);
    check_refused("text", CAIRN_IO_FAILED, "cannot load");
    check_refused("text", CAIRN_IO_FAILED, "libcairn_backend_text.so");
    unlink(path);
    rmdir(folder);
}

/* by the alphabet, and nothing else of the folder */
TEST(shared_objects_are_listed_by_name)
{
    char name[CAIRN_BACKEND_NAME];
    look_in("/refused");
    static const char *const names[] = { "cardless", "halfpile", "hollow",
                                         "misnamed", "mute",     "old" };
    for (int i = 0; i < 6; i++) {
        CHECK(cairn_backend_plugin(i, name));
        CHECK_TEXT(name, names[i]);
    }
    CHECK(!cairn_backend_plugin(6, name) && !cairn_backend_plugin(-1, name));
    setenv("CAIRN_BACKENDS", "/nowhere/at/all", 1);
    CHECK(!cairn_backend_plugin(0, name));
    CHECK_TEXT(cairn_backend_folder(), "/nowhere/at/all");
}

/* ---- solving -------------------------------------------------------------------------------- */

typedef struct plugin_answer {
    cairn_status status;
    cairn_solve_report report;
    double r[45], v[108], u[45];
} plugin_answer;

static plugin_answer solve_by(const cairn_problem *p, const char *solver, const char *backend,
                              cairn_workspace *workspace)
{
    plugin_answer a = { .status = CAIRN_OK };
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.backend = backend;
    options.tolerance = 1e-10;
    a.status = cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report);
    return a;
}

/* Numbers times -2 are exact: solvers see the bits of the scalar back end. */
TEST(a_plugin_gives_the_bits_of_what_it_wraps)
{
    static const char *const solvers[] = { "auto", "ngs", "pgs", "apgd-asr", "apgd-d", "spg" };
    random_problem random;
    cairn_workspace *workspace;
    look_in("");
    make_random_problem(&random, 3, 18, 15, 3);
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int i = 0; i < 6; i++) { /* back ends take turns in one workspace */
        plugin_answer a = solve_by(&random.p, solvers[i], "reversed", workspace);
        plugin_answer b = solve_by(&random.p, solvers[i], "scalar", workspace);
        plugin_answer c = solve_by(&random.p, solvers[i], NULL, workspace);
        CHECK(a.status == CAIRN_OK && b.status == CAIRN_OK && c.status == CAIRN_OK);
        CHECK(a.report.converged && b.report.converged && c.report.converged);
        CHECK_INT(a.report.iterations, b.report.iterations);
        CHECK(memcmp(a.r, b.r, sizeof a.r) == 0 && memcmp(a.u, b.u, sizeof a.u) == 0);
        CHECK(memcmp(a.v, b.v, sizeof a.v) == 0);
        for (int k = 0; k < 45; k++)
            CHECK_NEAR(c.u[k], b.u[k], 1e-8);
    }
    cairn_workspace_destroy(workspace);
}

TEST(solvers_that_factorise_are_refused_elsewhere)
{
    static const char *const solvers[] = { "newton", "ipm", "admm" };
    random_problem random;
    cairn_workspace *workspace;
    cairn_error error = { 0 };
    make_random_problem(&random, 3, 18, 15, 3);
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int i = 0; i < 3; i++) {
        plugin_answer a = solve_by(&random.p, solvers[i], "scalar", workspace);
        CHECK_INT(a.status, CAIRN_UNSUPPORTED);
        CHECK_CONTAINS(a.report.remark, "runs on the back end host only; on scalar run auto, ngs");
        CHECK(!cairn_solver_runs_elsewhere(solvers[i]));
        CHECK_INT(cairn_solver_check(solvers[i], "scalar", &error), CAIRN_UNSUPPORTED);
        CHECK_TEXT(error.key, "solver");
        CHECK_OK(cairn_solver_check(solvers[i], "host", NULL));
    }
    random.p.directions = 6; /* auto has lemke alone for this */
    cairn_solve_options options = cairn_solve_options_default();
    options.backend = "scalar";
    options.law = CAIRN_LAW_COULOMB;
    plugin_answer a = { .status = CAIRN_OK };
    a.status = cairn_solve(&random.p, &options, workspace, a.r, a.v, a.u, &a.report);
    CHECK_INT(a.status, CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(a.report.remark, "auto treats this problem on the back end host only");
    cairn_workspace_destroy(workspace);
}

TEST(a_back_end_that_is_not_there_is_told_by_the_report)
{
    random_problem random;
    cairn_workspace *workspace;
    make_random_problem(&random, 2, 12, 10, 3);
    CHECK_OK(cairn_workspace_create(&workspace));
    plugin_answer a = solve_by(&random.p, "ngs", "scaler", workspace);
    CHECK_INT(a.status, CAIRN_BAD_INPUT);
    CHECK_CONTAINS(a.report.remark, "did you mean 'scalar'?");
    CHECK_OK(solve_by(&random.p, "ngs", "scalar", workspace).status);
    cairn_workspace_destroy(workspace);
}

/* Every allocation fails once: the call says so, and the plug-in's own memory is given back, which
 * the sanitizers see. */
TEST(without_memory_other_back_ends_end_cleanly)
{
    static const char *const names[] = { "scalar", "reversed" };
    random_problem random;
    look_in("");
    make_random_problem(&random, 3, 18, 15, 3);
    for (int k = 0; k < 2; k++) {
        bool done = false;
        for (long n = 1; !done; n++) {
            meter m = { .fail_at = n };
            cairn_workspace *workspace;
            meter_install(&m);
            cairn_status status = cairn_workspace_create(&workspace);
            if (status == CAIRN_OK)
                status = solve_by(&random.p, "apgd-d", names[k], workspace).status;
            cairn_workspace_destroy(workspace);
            cairn_allocator_set(NULL);
            done = m.calls < n;
            CHECK_INT(status, done ? CAIRN_OK : CAIRN_NO_MEMORY);
            CHECK_INT(m.alive, 0);
        }
    }
}

/* No contact, and one between things that cannot move: what every solver owes. */
TEST(problems_with_nothing_to_do_are_done_on_every_back_end)
{
    static const char *const names[] = { "host", "scalar", "reversed" };
    random_problem random;
    cairn_workspace *workspace;
    look_in("");
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int k = 0; k < 3; k++)
        for (int i = 0; cairn_solver_name(i); i++) {
            if (!cairn_solver_runs_elsewhere(cairn_solver_name(i)))
                continue;
            make_random_problem(&random, 3, 12, 10, 31);
            random.block[0] = random.block[1] = -1;
            random.w[0] = 100;
            plugin_answer a = solve_by(&random.p, cairn_solver_name(i), names[k], workspace);
            CHECK(a.status == CAIRN_OK && a.report.converged);
            random.p.contacts = 0;
            a = solve_by(&random.p, cairn_solver_name(i), names[k], workspace);
            CHECK(a.status == CAIRN_OK && a.report.converged);
        }
    cairn_workspace_destroy(workspace);
}

GROUP(test_plugins)
{
    RUN(CASE(the_default_is_the_first_of_the_library),
        CASE(a_name_that_is_nearly_right_gets_a_suggestion),
        CASE(a_name_without_a_file_tells_the_file), CASE(names_do_not_lead_out_of_the_folder),
        CASE(another_version_is_refused), CASE(an_object_without_the_symbol_is_refused),
        CASE(a_back_end_that_cannot_run_here_says_why), CASE(an_object_of_another_name_is_refused),
        CASE(an_object_that_lacks_a_function_is_refused), CASE(a_fifo_is_not_waited_for),
        CASE(a_file_that_is_no_shared_object_is_refused), CASE(shared_objects_are_listed_by_name),
        CASE(a_plugin_gives_the_bits_of_what_it_wraps),
        CASE(solvers_that_factorise_are_refused_elsewhere),
        CASE(a_back_end_that_is_not_there_is_told_by_the_report),
        CASE(without_memory_other_back_ends_end_cleanly),
        CASE(problems_with_nothing_to_do_are_done_on_every_back_end));
}

/* ==== test_host: the kernels of the host back end ============================================= */

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

GROUP(test_host)
{
    RUN(CASE(a_sweep_keeps_velocities_in_step_with_impulses),
        CASE(a_sweep_at_the_solution_changes_nothing),
        CASE(gradient_is_the_derivative_of_the_dual_energy), CASE(vector_kernels_by_hand));
}
