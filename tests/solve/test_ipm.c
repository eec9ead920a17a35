/* test_ipm.c - the interior point method. */
#include "cairn/fclib.h"
#include "cairn/solve.h"
#include "problem/forms.h"
#include "solve/systems.h"
#include "tests/check.h"
#include "tests/problems/hard_problems.h"
#include "tests/problems/random_problem.h"
#include "tests/problems/run_scene.h"

/* ==== test_ipm: the interior point method: iterations on hard problems, known answers, agreement
 * with Gauss-Seidel, both forms, cones with edges, and what it says where it cannot succeed. */

typedef struct answer {
    cairn_status status;
    cairn_solve_report report;
    double *r, *v, *u;
} answer;

static answer solve(const cairn_problem *p, const char *solver, double tolerance)
{
    size_t n = (size_t)p->dimension * (size_t)p->contacts;
    size_t m = (size_t)p->block_size * (size_t)p->blocks;
    answer a = { .r = calloc(n + 1, sizeof(double)),
                 .v = calloc(m + 1, sizeof(double)),
                 .u = calloc(n + 1, sizeof(double)) };
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    options.solver = solver;
    options.tolerance = tolerance;
    options.max_iterations = 1000000;
    CHECK_OK(cairn_workspace_create(&workspace));
    a.status = cairn_solve(p, &options, workspace, a.r, a.v, a.u, &a.report);
    cairn_workspace_destroy(workspace);
    return a;
}

static void release(answer *a)
{
    free(a->r);
    free(a->v);
    free(a->u);
}

static double largest_difference(size_t n, const double *a, const double *b)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

static double kinetic_energy(const cairn_problem *p, const double *v)
{
    double sum = 0;
    for (int i = 0; i < p->blocks * p->block_size; i++)
        sum += 0.5 * v[i] * v[i] / p->mass_inverse[i];
    return sum;
}

/* Solve to 1e-8 in at most so many iterations; all stays at rest. */
static void check_hard(hard_problem h, int most_iterations)
{
    answer a = solve(&h.p, "ipm", 1e-8);
    CHECK_OK(a.status);
    CHECK(a.report.converged);
    CHECK(a.report.judgement.asked.relative <= 1e-8);
    CHECK(a.report.iterations <= most_iterations);
    CHECK_NEAR(kinetic_energy(&h.p, a.v), 0, 1e-12);
    release(&a);
    hard_problem_free(&h);
}

TEST(stacks_and_walls_take_at_most_12_iterations_at_any_mass_ratio)
{
    check_hard(make_column(50, 1, 0.3), 12);
    check_hard(make_column(10, 1000, 0.3), 12);
    check_hard(make_column(10, 1e6, 0.3), 12);
    check_hard(make_column(10, 1e-6, 0.3), 12);
    check_hard(make_wall(5, 1, 0.3), 12);
    check_hard(make_wall(20, 1, 0.3), 12);
    check_hard(make_wall(20, 1000, 0.3), 12);
}

/* a frictionless column stands as well, and friction of 10 changes nothing */
TEST(friction_from_none_to_huge_on_a_column)
{
    check_hard(make_column(10, 1, 0), 12);
    check_hard(make_column(10, 1, 1e-9), 12);
    check_hard(make_column(10, 1, 10), 12);
}

TEST(duplicated_contacts_change_nothing)
{
    hard_problem once = make_wall(4, 1, 0.3);
    hard_problem twice = make_duplicated(&once.p);
    check_hard(twice, 12);
    hard_problem_free(&once);
}

TEST(settled_heaps_take_at_most_35_iterations)
{
    static const double friction[] = { 0, 0.1, 0.3 };
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int i = 0; i < 3; i++) {
            cairn_world *world;
            cairn_problem p =
                settled_heap(dimension, friction[i], dimension == 3 ? 8 : 20, 300, &world);
            CHECK(p.contacts > 80);
            answer a = solve(&p, "ipm", 1e-8);
            CHECK(a.report.converged);
            CHECK(a.report.iterations <= 35);
            release(&a);
            cairn_world_destroy(world);
        }
}

/* kinetic energies after the first step of a triangular pile, known to 9 digits */
TEST(triangular_piles_move_as_known)
{
    static const struct {
        int rows;
        double mu, energy;
    } known[] = {
        { 2, 0, 0.017185018 },   { 3, 0, 0.053464500 },   { 4, 0, 0.109359205 },
        { 6, 0, 0.280688625 },   { 2, 0.2, 0.000686857 }, { 3, 0.2, 0.009040422 },
        { 4, 0.2, 0.020428384 }, { 6, 0.2, 0.062510804 }, { 2, 0.8, 0 },
        { 4, 0.8, 0 },           { 6, 0.8, 0 },
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        hard_problem h = make_hard_pile(known[i].rows, known[i].mu);
        answer a = solve(&h.p, "ipm", 1e-9);
        CHECK(a.report.converged);
        CHECK_NEAR(kinetic_energy(&h.p, a.v), known[i].energy, 1e-9);
        release(&a);
        hard_problem_free(&h);
    }
}

TEST(agrees_with_gauss_seidel_to_1e_10)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        random_problem random;
        make_random_problem(&random, seed % 2 ? 2 : 3, 40, 30, seed);
        answer by_sweeps = solve(&random.p, "pgs", 1e-10), a = solve(&random.p, "ipm", 1e-10);
        size_t n = (size_t)random.p.blocks * (size_t)random.p.block_size;
        CHECK(by_sweeps.report.converged && a.report.converged);
        CHECK(a.report.iterations <= 15);
        CHECK_NEAR(largest_difference(n, a.v, by_sweeps.v), 0, 1e-8);
        release(&by_sweeps);
        release(&a);
    }
}

TEST(cones_with_edges_agree_with_projected_gradients)
{
    for (int directions = 4; directions <= 12; directions += 4) {
        random_problem random;
        make_random_problem(&random, 3, 30, 20, (uint64_t)directions);
        random.p.directions = directions;
        random.mu[0] = 0; /* one contact without friction among them */
        answer by_steps = solve(&random.p, "apgd-asr", 1e-10), a = solve(&random.p, "ipm", 1e-10);
        size_t n = (size_t)random.p.blocks * (size_t)random.p.block_size;
        CHECK(by_steps.report.converged && a.report.converged);
        CHECK(a.report.iterations <= 15);
        CHECK_NEAR(largest_difference(n, a.v, by_steps.v), 0, 1e-8);
        release(&by_steps);
        release(&a);
    }
}

/* The local form of a problem: same u, in about as many iterations. */
static void check_local(const cairn_problem *p)
{
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    CHECK_OK(cairn_delassus_localise(p, &arena, &W, &local));
    answer a = solve(p, "ipm", 1e-9), b = solve(&local, "ipm", 1e-9);
    CHECK(a.report.converged && b.report.converged);
    CHECK(b.report.iterations <= a.report.iterations + 5);
    CHECK_NEAR(largest_difference((size_t)p->dimension * (size_t)p->contacts, a.u, b.u), 0, 1e-7);
    release(&a);
    release(&b);
    cairn_arena_destroy(&arena);
}

TEST(both_forms_find_the_same_with_full_and_with_singular_W)
{
    random_problem random;
    hard_problem wall = make_wall(4, 1, 0.3);
    make_random_problem(&random, 3, 30, 20, 4);
    check_local(&random.p);
    random.p.directions = 8;
    check_local(&random.p);
    make_random_problem(&random, 2, 30, 20, 5);
    check_local(&random.p);
    check_local(&wall.p); /* 100 contacts, 96 degrees of freedom: W has at most rank 96 of 300 */
    hard_problem_free(&wall);
}

/* W a little unsymmetric, as other codes store it: the judge takes W as it is */
TEST(a_slightly_unsymmetric_W_is_solved)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    uint64_t state = 9;
    make_random_problem(&random, 3, 30, 20, 6);
    CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
    double *value = calloc((size_t)W.start[W.rows], sizeof(double));
    for (int64_t k = 0; k < W.start[W.rows]; k++)
        value[k] = W.value[k] * (1 + 1e-6 * cairn_random_normal(&state));
    W.value = value;
    answer a = solve(&local, "ipm", 1e-9);
    CHECK(a.report.converged);
    release(&a);
    free(value);
    cairn_arena_destroy(&arena);
}

/* the feasible set is {0}: no velocity opens both contacts, and still v = 0 is found */
TEST(a_bead_wedged_in_a_corner_is_found_without_interior)
{
    hard_problem bead = make_hard_bead(M_PI / 6, 1);
    const double s[2] = { 0, 0 }, take_off[2] = { 1, 1 };
    bead.p.s = s;
    answer wedged = solve(&bead.p, "ipm", 1e-8);
    CHECK(wedged.report.converged);
    CHECK_NEAR(wedged.v[0], 0, 1e-7);
    CHECK_NEAR(wedged.v[1], 0, 1e-7);
    bead.p.s = take_off;
    answer away = solve(&bead.p, "ipm", 1e-8);
    CHECK(away.report.converged);
    CHECK_NEAR(away.v[1], 1.1547005384, 1e-9);
    release(&wedged);
    release(&away);
    hard_problem_free(&bead);
}

TEST(an_infeasible_problem_ends_and_is_called_so)
{
    hard_problem vice = make_vice(0.3);
    answer a = solve(&vice.p, "ipm", 1e-8);
    CHECK_OK(a.status);
    CHECK(!a.report.converged);
    CHECK(a.report.iterations < 100);
    CHECK_CONTAINS(a.report.remark, "feasible");
    CHECK(a.report.judgement.asked.relative <= 1); /* no worse than doing nothing */
    release(&a);
    hard_problem_free(&vice);
}

/* one contact of three cannot move and is violated: the others are solved all the same */
TEST(a_contact_between_nothing_does_not_spoil_the_rest)
{
    random_problem random;
    make_random_problem(&random, 3, 3, 3, 2);
    random.block[2] = random.block[3] = -1;
    for (int i = 0; i < 3; i++)
        random.w[3 + i] = 0;
    random.b[1] = 0.1;
    answer a = solve(&random.p, "ipm", 1e-9);
    CHECK(a.report.converged); /* satisfied: u_N = 0.1 */
    random.b[1] = -0.1;
    answer b = solve(&random.p, "ipm", 1e-9);
    CHECK(!b.report.converged);
    CHECK_INT(b.report.judgement.asked.worst_contact, 1);
    CHECK_NEAR(b.report.judgement.asked.worst, 0.1, 1e-9);
    CHECK_NEAR(largest_difference(18, a.v, b.v), 0, 1e-7);
    release(&a);
    release(&b);
}

TEST(a_body_without_answer_to_impulses_stays)
{
    random_problem random;
    make_random_problem(&random, 3, 12, 8, 3);
    for (int i = 0; i < 6; i++)
        random.mass_inverse[6 + i] = 0;
    random.mass_inverse[13] = 0;
    answer a = solve(&random.p, "ipm", 1e-9), b = solve(&random.p, "pgs", 1e-12);
    CHECK(a.report.converged && b.report.converged);
    CHECK_NEAR(largest_difference(6, a.v + 6, random.v_free + 6), 0, 0);
    CHECK_NEAR(largest_difference(72, a.v, b.v), 0, 1e-7);
    release(&a);
    release(&b);
}

TEST(a_contact_of_a_body_with_itself_is_solved)
{
    random_problem random;
    make_random_problem(&random, 3, 6, 4, 8);
    random.block[2] = random.block[3] = 1;
    answer a = solve(&random.p, "ipm", 1e-9), b = solve(&random.p, "pgs", 1e-11);
    CHECK(a.report.converged && b.report.converged);
    CHECK_NEAR(largest_difference(36, a.v, b.v), 0, 1e-7);
    release(&a);
    release(&b);
}

TEST(the_time_limit_is_respected)
{
    hard_problem h = make_wall(20, 1, 0.3);
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    double *r = calloc(9132, sizeof(double)), *v = calloc(2400, sizeof(double));
    double *u = calloc(9132, sizeof(double));
    options.solver = "ipm";
    options.tolerance = 1e-8;
    options.time_limit = 1e-9;
    CHECK_INT(h.p.contacts, 3044);
    CHECK_OK(cairn_workspace_create(&workspace));
    CHECK_OK(cairn_solve(&h.p, &options, workspace, r, v, u, &report));
    CHECK(!report.converged);
    CHECK(report.iterations <= 1);
    cairn_workspace_destroy(workspace);
    free(r);
    free(v);
    free(u);
    hard_problem_free(&h);
}

TEST(no_memory_is_an_error_and_nothing_leaks)
{
    random_problem random;
    cairn_status status = CAIRN_NO_MEMORY;
    make_random_problem(&random, 3, 60, 60, 4);
    for (long n = 1; status == CAIRN_NO_MEMORY; n++) {
        meter m = { .fail_at = n };
        double r[180] = { 0 }, v[360], u[180];
        cairn_workspace *workspace = NULL;
        cairn_solve_options options = cairn_solve_options_default();
        cairn_solve_report report;
        options.solver = "ipm";
        meter_install(&m);
        status = cairn_workspace_create(&workspace);
        if (status == CAIRN_OK)
            status = cairn_solve(&random.p, &options, workspace, r, v, u, &report);
        cairn_workspace_destroy(workspace);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        CHECK(n < 1000);
    }
    CHECK_OK(status);
}

/* real problems, with the convex law: W singular, unsymmetric, badly scaled */
TEST(every_problem_of_fclib_takes_at_most_35_iterations_to_1e_8)
{
    static const char *const folders[] = { "local2d", "local3d", "global2d", "global3d" };
    static file_list files;
    for (int i = 0; i < 4; i++)
        list_files(&files, folders[i]);
    if (files.count == 0) {
        print_message("skipped: %s is not there\n", FCLIB_FOLDER);
        skip();
    }
    for (int i = 0; i < files.count; i++) {
        cairn_fclib *file;
        CHECK_OK(cairn_fclib_load(files.path[i], &file, NULL));
        answer a = solve(&file->problem, "ipm", 1e-8);
        if (!a.report.converged || a.report.iterations > 35)
            fail_msg("%s: residual %.1e after %lld", files.path[i],
                     a.report.judgement.asked.relative, (long long)a.report.iterations);
        release(&a);
        cairn_fclib_destroy(file);
    }
}

GROUP(test_ipm)
{
    RUN(CASE(stacks_and_walls_take_at_most_12_iterations_at_any_mass_ratio),
        CASE(friction_from_none_to_huge_on_a_column), CASE(duplicated_contacts_change_nothing),
        CASE(settled_heaps_take_at_most_35_iterations), CASE(triangular_piles_move_as_known),
        CASE(agrees_with_gauss_seidel_to_1e_10),
        CASE(cones_with_edges_agree_with_projected_gradients),
        CASE(both_forms_find_the_same_with_full_and_with_singular_W),
        CASE(a_slightly_unsymmetric_W_is_solved),
        CASE(a_bead_wedged_in_a_corner_is_found_without_interior),
        CASE(an_infeasible_problem_ends_and_is_called_so),
        CASE(a_contact_between_nothing_does_not_spoil_the_rest),
        CASE(a_body_without_answer_to_impulses_stays),
        CASE(a_contact_of_a_body_with_itself_is_solved), CASE(the_time_limit_is_respected),
        CASE(no_memory_is_an_error_and_nothing_leaks),
        CASE(every_problem_of_fclib_takes_at_most_35_iterations_to_1e_8));
}

/* ==== test_ipm_cone: cones in variables of their own: their layout, scaling, algebra and steps */

typedef struct fixture {
    random_problem random;
    cairn_system system;
    cairn_arena arena;
    cairn_cones cones;
    double x[192], z[192], l[192], d[192], out[192];
} fixture;

static void open_fixture(fixture *f, int dimension, int directions, uint64_t seed)
{
    *f = (fixture){ 0 };
    make_random_problem(&f->random, dimension, 20, 15, seed);
    f->random.p.directions = directions;
    f->random.mu[3] = 0;
    CHECK_OK(cairn_system_create(&f->random.p, &f->arena, &f->system));
    CHECK_OK(cairn_cones_create(&f->system, &f->arena, &f->cones));
}

/* Random points inside of the cones for x and z. */
static void go_inside(fixture *f, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t k = 0; k < f->cones.count; k++) {
        f->d[k] = 0.4 * cairn_random_uniform(&state);
        f->out[k] = -0.4 * cairn_random_uniform(&state);
    }
    for (int j = 0; j < f->cones.p->contacts; j++)
        for (int k = f->cones.start[j]; k < f->cones.start[j + 1]; k++)
            if (f->cones.kind[j] == CAIRN_CONE_EDGES || k == f->cones.start[j]) {
                f->d[k] += 1;
                f->out[k] += 2;
            }
    cairn_cones_move(&f->cones, CAIRN_CONE_X, 1, f->d, f->x);
    cairn_cones_move(&f->cones, CAIRN_CONE_Z, 1, f->out, f->z);
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

TEST(a_contact_has_the_variables_of_its_cone)
{
    fixture f;
    open_fixture(&f, 3, 0, 1);
    CHECK_INT(f.cones.start[1], 3);                    /* a circle                 */
    CHECK_INT(f.cones.start[4] - f.cones.start[3], 1); /* mu = 0: the normal       */
    CHECK_INT(f.cones.count, 14 * 3 + 1);
    CHECK_NEAR(f.cones.rank, 15, 0);
    cairn_arena_destroy(&f.arena);
    open_fixture(&f, 2, 0, 1);
    CHECK_INT(f.cones.count, 14 * 2 + 1); /* two edges in 2D          */
    cairn_arena_destroy(&f.arena);
    open_fixture(&f, 3, 6, 1);
    CHECK_INT(f.cones.count, 14 * 6 + 1);
    CHECK_NEAR(f.cones.rank, 85, 0);
    cairn_arena_destroy(&f.arena);
}

TEST(impulses_of_inner_points_are_in_the_friction_cone)
{
    static const int directions[] = { 0, 0, 6 }, dimension[] = { 2, 3, 3 };
    for (int i = 0; i < 3; i++) {
        fixture f;
        double r[45];
        open_fixture(&f, dimension[i], directions[i], 2);
        go_inside(&f, 3);
        cairn_cones_impulse(&f.cones, f.x, r);
        for (int j = 0; j < 15; j++) {
            const double *own = r + j * dimension[i];
            double tangent = dimension[i] == 3 ? hypot(own[1], own[2]) : fabs(own[1]);
            CHECK(own[0] > 0 && tangent <= f.random.mu[j] * own[0]);
        }
        cairn_arena_destroy(&f.arena);
    }
}

/* (A'x).u = x.(A u) */
TEST(impulses_and_rows_are_adjoint)
{
    fixture f;
    double r[45], u[45];
    uint64_t state = 8;
    open_fixture(&f, 3, 8, 2);
    go_inside(&f, 3);
    for (int i = 0; i < 45; i++)
        u[i] = cairn_random_normal(&state);
    cairn_cones_impulse(&f.cones, f.x, r);
    cairn_cones_rows(&f.cones, u, f.out);
    CHECK_CLOSE(dot(45, r, u), dot(f.cones.count, f.x, f.out), 1e-12);
    cairn_arena_destroy(&f.arena);
}

TEST(the_scaling_takes_z_and_x_to_the_same_point)
{
    static const int directions[] = { 0, 0, 6 }, dimension[] = { 2, 3, 3 };
    for (int i = 0; i < 3; i++) {
        fixture f;
        open_fixture(&f, dimension[i], directions[i], 4);
        go_inside(&f, 5);
        CHECK(cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
        cairn_cones_map(&f.cones, CAIRN_CONE_P, f.z, f.d);
        cairn_cones_map(&f.cones, CAIRN_CONE_INVERSE, f.x, f.out);
        for (size_t k = 0; k < f.cones.count; k++) {
            CHECK_NEAR(f.d[k], f.l[k], 1e-13);
            CHECK_NEAR(f.out[k], f.l[k], 1e-13);
        }
        CHECK_CLOSE(dot(f.cones.count, f.l, f.l), dot(f.cones.count, f.x, f.z), 1e-13);
        cairn_arena_destroy(&f.arena);
    }
}

/* c = (1 + delta w P^2)^-1/2: with delta w = 1 and P = 1/sqrt 3, c = sqrt(3)/2 */
TEST(damping_is_as_defined)
{
    fixture f;
    open_fixture(&f, 2, 0, 4);
    for (size_t k = 0; k < f.cones.count; k++) {
        f.x[k] = 1;
        f.z[k] = 3;
    }
    CHECK(cairn_cones_scale(&f.cones, 1 / f.cones.weight[0], f.x, f.z, f.l));
    CHECK_NEAR(f.cones.root[0], 1 / sqrt(3), 1e-15);
    CHECK_NEAR(f.cones.damping[0], sqrt(3) / 2, 1e-15);
    cairn_arena_destroy(&f.arena);
}

TEST(division_undoes_the_product)
{
    fixture f;
    uint64_t state = 1;
    open_fixture(&f, 3, 0, 6);
    go_inside(&f, 7);
    for (size_t k = 0; k < f.cones.count; k++)
        f.d[k] = cairn_random_normal(&state);
    cairn_cones_product(&f.cones, f.x, f.d, f.out);
    cairn_cones_divide(&f.cones, f.x, f.out, f.out);
    for (size_t k = 0; k < f.cones.count; k++)
        CHECK_NEAR(f.out[k], f.d[k], 1e-12);
    cairn_arena_destroy(&f.arena);
}

/* from the unit (1, 0, 0) along (-1, 3, 0): 1 - t = 3 t at t = 1/4; along (1, 0, 0): never */
TEST(steps_end_at_the_boundary)
{
    fixture f;
    open_fixture(&f, 3, 0, 6);
    cairn_cones_add_unit(&f.cones, 1, 0, f.l);
    CHECK_NEAR(cairn_cones_step(&f.cones, f.l, f.l), 1, 0);
    f.d[0] = -1;
    f.d[1] = 3;
    CHECK_NEAR(cairn_cones_step(&f.cones, f.l, f.d), 0.25, 1e-15);
    f.d[f.cones.start[3]] = -8; /* the contact without friction */
    CHECK_NEAR(cairn_cones_step(&f.cones, f.l, f.d), 0.125, 1e-15);
    cairn_arena_destroy(&f.arena);
}

/* x_1 = 0.75 and x_0 - |x_1| = 2^-70, which x_0 cannot hold: the slack still knows it */
TEST(nearness_to_the_boundary_is_not_lost_in_rounding)
{
    fixture f;
    open_fixture(&f, 3, 0, 6);
    cairn_cones_add_unit(&f.cones, 1, 0, f.d);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, f.d, f.z);
    memset(f.d, 0, sizeof f.d);
    f.d[1] = 0.75;
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    f.d[1] = 0;
    f.d[0] = -(0.25 - 0x1p-54);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    f.d[0] = -(0x1p-54 - 0x1p-70);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, f.d, f.x);
    CHECK_NEAR(f.x[0], 0.75, 0);
    CHECK_NEAR(f.x[1], 0.75, 0);
    CHECK(cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
    CHECK_CLOSE(f.cones.slack[0], 0x1p-70, 1e-12);
    CHECK_CLOSE(dot(3, f.l, f.l), 0.75, 1e-6); /* x'z */
    cairn_arena_destroy(&f.arena);
}

TEST(points_outside_are_refused)
{
    fixture f;
    open_fixture(&f, 3, 0, 6);
    go_inside(&f, 7);
    CHECK(cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
    memset(f.d, 0, sizeof f.d);
    f.d[0] = -100;
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, f.d, f.z);
    CHECK(!cairn_cones_scale(&f.cones, 0, f.x, f.z, f.l));
    cairn_arena_destroy(&f.arena);
}

GROUP(test_ipm_cone)
{
    RUN(CASE(a_contact_has_the_variables_of_its_cone),
        CASE(impulses_of_inner_points_are_in_the_friction_cone),
        CASE(impulses_and_rows_are_adjoint), CASE(the_scaling_takes_z_and_x_to_the_same_point),
        CASE(damping_is_as_defined), CASE(division_undoes_the_product),
        CASE(steps_end_at_the_boundary), CASE(nearness_to_the_boundary_is_not_lost_in_rounding),
        CASE(points_outside_are_refused));
}

/* ==== test_ipm_rows: rows with bounds in the interior point method, by hand =================== */

typedef struct rows_fixture {
    row_problem rows;
    cairn_system system;
    cairn_arena arena;
    cairn_cones cones;
} rows_fixture;

/* A body of 2 kg and three rows on its velocity: bounds -1 and 3, none, and both 7. */
static void open_rows_fixture(rows_fixture *f)
{
    const double centre[3] = { 0, 0, 0 };
    memset(f, 0, sizeof *f);
    rows_begin(&f->rows);
    rows_body(&f->rows, 2, 1, 0);
    rows_ball(&f->rows, 0, -1, centre, centre);
    rows_bound(&f->rows, 0, 0, -1, 3);
    rows_bound(&f->rows, 0, 2, 7, 7);
    CHECK_OK(cairn_system_create(&f->rows.p, &f->arena, &f->system));
    CHECK_OK(cairn_cones_create(&f->system, &f->arena, &f->cones));
}

TEST(a_row_has_a_variable_unless_its_bounds_are_one_number)
{
    static rows_fixture f;
    open_rows_fixture(&f);
    const double x[2] = { 0.5, -4 };
    double r[3];
    CHECK_INT(f.cones.count, 2);
    CHECK_INT(f.cones.rows.count, 2);
    CHECK_NEAR(f.cones.rank, 2, 0); /* two finite bounds */
    cairn_cones_place(&f.cones, x, r);
    CHECK(r[0] == 0.5 && r[1] == -4 && r[2] == 7);
    cairn_arena_destroy(&f.arena);
}

/* x = 1 is in the middle, both distances 2; z_s = 4/2; P^-2 = 1 + 1 (+ delta/2). */
TEST(the_start_is_in_the_middle)
{
    static rows_fixture f;
    double x[2] = { 0 }, z[2] = { 0 }, u[2] = { 0 }, d[2], l[2];
    open_rows_fixture(&f);
    cairn_cones_start_rows(&f.cones, 10, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, d, x);
    CHECK(x[0] == 1 && x[1] == 0);
    CHECK(f.cones.rows.gap[0][0] == 2 && f.cones.rows.gap[1][0] == 2);
    cairn_cones_start_sides(&f.cones, 4, u, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, d, z);
    CHECK(f.cones.rows.z[0][0] == 2 && f.cones.rows.z[1][0] == 2 && z[0] == 0);
    CHECK(f.cones.rows.z[0][1] == 0 && f.cones.rows.z[1][1] == 0 && z[1] == 0);
    CHECK_NEAR(cairn_cones_product_rows(&f.cones), 8, 0);
    CHECK(cairn_cones_scale(&f.cones, 0, x, z, l));
    CHECK_NEAR(f.cones.root[0], sqrt(0.5), 1e-15);
    CHECK_NEAR(f.cones.root[1], 1 / sqrt(0.5 * 1e-10), 1e-3); /* delta is at least 1e-10 */
    cairn_arena_destroy(&f.arena);
}

/* dx = -4: dz_0 = (-4 + 2*4)/2 = 2, dz_1 = (-4 - 2*4)/2 = -6. z_1 ends a third of the way, g_0 half;
 * a quarter leads to distances 1 and 3. */
TEST(a_step_by_hand)
{
    static rows_fixture f;
    double x[2] = { 0 }, z[2] = { 0 }, u[2] = { 0 }, d[2], l[2], dx[2] = { 0 };
    open_rows_fixture(&f);
    cairn_cones_start_rows(&f.cones, 10, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, d, x);
    cairn_cones_start_sides(&f.cones, 4, u, d);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 1, d, z);
    CHECK(cairn_cones_scale(&f.cones, 0, x, z, l));
    cairn_cones_aim_rows(&f.cones, 0, false, dx, d);
    CHECK_NEAR(f.cones.rows.c[0][0], -4, 0);
    CHECK_NEAR(d[0], 0, 1e-15); /* both bounds push alike */
    dx[0] = -4 / f.cones.root[0];
    CHECK_NEAR(cairn_cones_reach_rows(&f.cones, dx), 3, 1e-14);
    CHECK_NEAR(f.cones.rows.dz[0][0], 2, 1e-14);
    CHECK_NEAR(f.cones.rows.dz[1][0], -6, 1e-14);
    cairn_cones_aim_rows(&f.cones, 1, true, dx, d); /* c_s = 1 - 4 - dg_s dz_s */
    CHECK_NEAR(f.cones.rows.c[0][0], -3 + 8, 1e-13);
    CHECK_NEAR(f.cones.rows.c[1][0], -3 + 24, 1e-13);
    d[0] = -4;
    d[1] = 8;
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 0.25, d, x);
    cairn_cones_move(&f.cones, CAIRN_CONE_Z, 0.25, d, z);
    CHECK(x[0] == 0 && x[1] == 2);
    CHECK(f.cones.rows.gap[0][0] == 1 && f.cones.rows.gap[1][0] == 3);
    CHECK_NEAR(z[0], 2.5 - 0.5, 1e-14);
    cairn_arena_destroy(&f.arena);
}

TEST(points_at_a_bound_are_outside)
{
    static rows_fixture f;
    double x[2] = { 0 }, z[2] = { 0 }, d[2], l[2];
    open_rows_fixture(&f);
    cairn_cones_start_rows(&f.cones, 10, d);
    d[0] = 3; /* the upper bound */
    cairn_cones_move(&f.cones, CAIRN_CONE_X, 1, d, x);
    f.cones.rows.z[0][0] = f.cones.rows.z[1][0] = 1;
    CHECK(!cairn_cones_scale(&f.cones, 0, x, z, l));
    cairn_arena_destroy(&f.arena);
}

GROUP(test_ipm_rows)
{
    RUN(CASE(a_row_has_a_variable_unless_its_bounds_are_one_number),
        CASE(the_start_is_in_the_middle), CASE(a_step_by_hand),
        CASE(points_at_a_bound_are_outside));
}

/* ==== test_ipm_system: S = I + L'W L is solved, in both forms, for each kind of cone ========== */

enum { MOST = 15 * 8 };

/* s of S s = h for a scaling that depends on the seed alone. */
static void solve_system(const cairn_problem *p, const double *h, double *s, double *L_of_3)
{
    cairn_arena arena = { 0 };
    cairn_system system;
    cairn_cones cones;
    cairn_normal normal = { 0 };
    double x[MOST] = { 0 }, z[MOST] = { 0 }, l[MOST], unit[MOST] = { 0 };
    bool positive;
    CHECK_OK(cairn_system_create(p, &arena, &system));
    CHECK_OK(cairn_cones_create(&system, &arena, &cones));
    CHECK(cones.count <= MOST);
    cairn_cones_add_unit(&cones, 1, 0, unit);
    cairn_cones_move(&cones, CAIRN_CONE_Z, 1, unit, z);
    unit[0] += 3; /* different scalings at different contacts */
    unit[cones.start[5]] += 7;
    unit[cones.start[5] + 1] += 0.5;
    cairn_cones_move(&cones, CAIRN_CONE_X, 1, unit, x);
    CHECK(cairn_cones_scale(&cones, 0.01, x, z, l));
    CHECK_OK(cairn_normal_create(&system, &cones, &arena, &normal));
    CHECK_OK(cairn_normal_factor(&normal, &positive));
    CHECK(positive);
    CHECK_OK(cairn_normal_solve(&normal, 1, h, s));
    memset(L_of_3, 0, 9 * sizeof(double));
    if (cones.start[4] - cones.start[3] <= 3)
        cairn_cones_factor(&cones, 3, L_of_3);
    cairn_normal_destroy(&normal);
    cairn_arena_destroy(&arena);
}

TEST(both_forms_give_the_same_for_each_kind_of_cone)
{
    static const int directions[] = { 0, 0, 8 }, dimension[] = { 2, 3, 3 };
    for (int i = 0; i < 3; i++) {
        random_problem random;
        cairn_arena arena = { 0 };
        cairn_matrix W;
        cairn_problem local;
        double h[MOST], s[MOST] = { 0 }, s_local[MOST] = { 0 }, L[9];
        uint64_t state = 5;
        make_random_problem(&random, dimension[i], 20, 15, 31);
        random.p.directions = directions[i];
        random.mu[2] = 0;
        for (int k = 0; k < MOST; k++)
            h[k] = cairn_random_normal(&state);
        CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
        solve_system(&random.p, h, s, L);
        solve_system(&local, h, s_local, L);
        for (int k = 0; k < MOST; k++)
            CHECK_NEAR(s[k], s_local[k], 1e-12);
        CHECK(fabs(s[0]) > 1e-3 && fabs(s[0] - h[0]) > 1e-3);
        cairn_arena_destroy(&arena);
    }
}

/* W = 0 off the diagonal blocks: S_j = I + L_j' W_jj L_j, one contact alone, checked by hand */
TEST(a_lone_contact_is_solved_as_by_hand)
{
    random_problem random;
    double h[MOST], s[MOST] = { 0 }, L[9], W[9] = { 0 }, Ls[3] = { 0 }, WLs[3] = { 0 };
    uint64_t state = 6;
    make_random_problem(&random, 3, 15, 15, 32);
    for (int j = 0; j < 15; j++)
        random.block[2 * j + 1] = -1;
    for (int k = 0; k < MOST; k++)
        h[k] = cairn_random_normal(&state);
    for (int i = 0; i < 3; i++)
        W[4 * i] = random.mass_inverse[6 * 3 + i]; /* identity rows on block 3 */
    solve_system(&random.p, h, s, L);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            Ls[i] += L[3 * i + k] * s[9 + k];
    for (int i = 0; i < 3; i++)
        WLs[i] = W[4 * i] * Ls[i];
    for (int k = 0; k < 3; k++) {
        double left = s[9 + k];
        for (int i = 0; i < 3; i++)
            left += L[3 * i + k] * WLs[i];
        CHECK_NEAR(left, h[9 + k], 1e-12);
    }
}

GROUP(test_ipm_system)
{
    RUN(CASE(both_forms_give_the_same_for_each_kind_of_cone),
        CASE(a_lone_contact_is_solved_as_by_hand));
}
