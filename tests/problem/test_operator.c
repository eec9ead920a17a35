/* test_operator.c - the operator of a problem: mass, rows, products, scales. */
#include <math.h>

#include "base/common.h"
#include "base/parallel.h"
#include "cairn/solve.h"
#include "math/factor.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "tests/check.h"
#include "tests/problems/random_problem.h"

/* ==== test_operator: u = W r + q without forming W equals the dense product =================== */

/* Dense H: rows = components of contacts, columns = velocity components. */
static void dense_rows(const cairn_problem *p, double *out)
{
    int d = p->dimension, n = p->block_size, width = p->blocks * n;
    memset(out, 0, sizeof(double) * (size_t)(p->contacts * d * width));
    for (int j = 0; j < p->contacts; j++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < d; i++)
                for (int k = 0; p->block[2 * j + side] >= 0 && k < n; k++)
                    out[(j * d + i) * width + p->block[2 * j + side] * n + k] +=
                        p->H[((2 * j + side) * d + i) * n + k];
}

static void compare_with_dense(const cairn_problem *p)
{
    static double H[60 * 120];
    int d = p->dimension, rows = p->contacts * d, width = p->blocks * p->block_size;
    double r[60] = { 0 }, v[120], u[60];
    uint64_t state = 4;
    dense_rows(p, H);
    for (int i = 0; i < rows; i++)
        r[i] = cairn_random_normal(&state);
    cairn_problem_apply(p, r, v, u);
    for (int k = 0; k < width; k++) {
        double expected = p->v_free[k];
        for (int i = 0; i < rows; i++)
            expected += p->mass_inverse[k] * H[i * width + k] * r[i];
        CHECK_NEAR(v[k], expected, 1e-13);
    }
    for (int i = 0; i < rows; i++) {
        double expected = p->w ? p->w[i] : 0;
        for (int k = 0; k < width; k++)
            expected += H[i * width + k] * v[k];
        CHECK_NEAR(u[i], expected, 1e-12);
    }
}

TEST(products_equal_dense_ones_in_2d_and_3d)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        make_random_problem(&random, dimension, 18, 15, 3);
        compare_with_dense(&random.p);
        random.p.w = NULL;
        compare_with_dense(&random.p);
    }
}

/* a point mass in 3D: blocks of 3, not one of the sizes that are unrolled */
TEST(other_block_sizes_work)
{
    random_problem random;
    make_random_problem(&random, 3, 18, 15, 3);
    random.p.block_size = 4;
    compare_with_dense(&random.p);
}

TEST(delassus_blocks_are_the_diagonal_of_w)
{
    random_problem random;
    make_random_problem(&random, 3, 18, 15, 8);
    random.block[9] = random.block[8]; /* a contact of a body with itself */
    for (int j = 0; j < 15; j++) {
        double W[6], trace = 0;
        cairn_contact_delassus(&random.p, j, W);
        for (int i = 0, entry = 0; i < 3; i++)
            for (int l = 0; l <= i; l++, entry++) {
                double r[45] = { 0 }, v[108], q[45], u[45];
                cairn_problem_apply(&random.p, r, v, q);
                r[3 * j + l] = 1;
                cairn_problem_apply(&random.p, r, v, u);
                CHECK_NEAR(W[entry], u[3 * j + i] - q[3 * j + i], 1e-13);
                trace += i == l ? W[entry] : 0;
            }
        CHECK_NEAR(cairn_contact_inverse_mass(&random.p, j), trace / 3, 1e-14);
    }
}

TEST(the_shift_is_bias_plus_friction_times_sliding)
{
    random_problem random;
    make_random_problem(&random, 2, 4, 2, 8);
    const double s[2] = { 2, 0 };
    random.p.s = s;
    CHECK_NEAR(cairn_contact_shift(&random.p, 0), random.b[0] + 2 * random.mu[0], 1e-15);
    CHECK_NEAR(cairn_contact_shift(&random.p, 1), random.b[1], 1e-15);
    random.p.b = NULL;
    CHECK_NEAR(cairn_contact_shift(&random.p, 1), 0, 0);
}

static void check_threads(const cairn_problem *p, cairn_arena *arena)
{
    size_t r_count = 3 * (size_t)p->contacts, v_count = 6 * (size_t)p->blocks;
    double *r = cairn_arena_doubles(arena, r_count);
    double *v[2], *u[2];
    for (size_t i = 0; i < r_count; i++)
        r[i] = i % 7 < 2 ? 0 : sin((double)i);
    for (int k = 0; k < 2; k++) {
        v[k] = cairn_arena_doubles(arena, v_count);
        u[k] = cairn_arena_doubles(arena, r_count);
        cairn_parallel_threads(k ? 3 : 1);
        cairn_problem_apply(p, r, v[k], u[k]);
    }
    cairn_parallel_threads(1);
    CHECK(v[0][0] != 0 && u[0][0] != 0);
    CHECK(memcmp(v[0], v[1], v_count * sizeof(double)) == 0);
    CHECK(memcmp(u[0], u[1], r_count * sizeof(double)) == 0);
}

/* The sums of a block are the same ones in the same order, whoever makes them. */
TEST(threads_change_no_bit_of_a_product)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(14, 0.3, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l);
    check_threads(&l.p, &arena);
    check_threads(&balls, &arena);
    cairn_arena_destroy(&arena);
}

/* (v, R'w) of all blocks, w in space axes */
static void turn_into_bodies(const lattice_problem *l, double *v)
{
    for (int i = 0; i < l->p.blocks; i++) {
        double *w = v + 6 * i + 3;
        cairn_vec3 own = cairn_rotate_back(l->q[i], cairn_vec(w[0], w[1], w[2]));
        w[0] = own.x;
        w[1] = own.y;
        w[2] = own.z;
    }
}

static void compare_with_stored(const lattice_problem *l, const cairn_problem *p)
{
    double r[300], v[2][200], u[2][300];
    for (int i = 0; i < 3 * p->contacts; i++) {
        r[i] = i % 7 < 2 ? 0 : sin((double)i);
        l->w[i] = cos((double)i);
    }
    cairn_problem_apply(&l->p, r, v[0], u[0]);
    cairn_problem_apply(p, r, v[1], u[1]);
    turn_into_bodies(l, v[1]);
    for (int i = 0; i < 6 * p->blocks; i++)
        CHECK_NEAR(v[1][i], v[0][i], 1e-13);
    for (int i = 0; i < 3 * p->contacts; i++)
        CHECK_NEAR(u[1][i], u[0][i], 1e-12);
    for (int j = 0; j < p->contacts; j++) {
        double W[2][6];
        cairn_contact_delassus(&l->p, j, W[0]);
        cairn_contact_delassus(p, j, W[1]);
        for (int i = 0; i < 6; i++)
            CHECK_NEAR(W[1][i], W[0][i], 1e-13);
    }
}

TEST(contacts_of_balls_act_like_their_rows)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(3, 0.3, &arena, &l));
    cairn_problem balls = lattice_of_balls(&l);
    compare_with_stored(&l, &balls);
    cairn_problem both = lattice_of_both(&l);
    compare_with_stored(&l, &both);
    cairn_arena_destroy(&arena);
}

/* Not even by rounding, on one thread or more. */
TEST(impulses_along_normals_do_not_turn_balls)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(12, 0.3, &arena, &l));
    cairn_problem p = lattice_of_balls(&l);
    CHECK(p.contacts > 4096); /* worth threads */
    double *r = cairn_arena_doubles(&arena, 3 * (size_t)p.contacts);
    double *v = cairn_arena_doubles(&arena, 6 * (size_t)p.blocks);
    for (int j = 0; j < p.contacts; j++)
        r[3 * j] = 1 + cos(j);
    for (int threads = 1; threads <= 2; threads++) {
        cairn_parallel_threads(threads);
        cairn_problem_velocity(&p, r, v);
        for (int i = 0; i < 6 * p.blocks; i++)
            CHECK(i % 6 < 3 ? v[i] != p.v_free[i] : v[i] == p.v_free[i]);
    }
    cairn_parallel_threads(1);
    cairn_arena_destroy(&arena);
}

TEST(rows_of_balls_can_be_written_out)
{
    cairn_arena arena = { 0 };
    lattice_problem l;
    CHECK(make_lattice_problem(3, 0.3, &arena, &l));
    cairn_problem both = lattice_of_both(&l);
    for (int j = 0; j < l.p.contacts; j++)
        for (int side = 0; side < 2; side++) {
            double H[18];
            cairn_problem_rows(&both, j, side, H);
            for (int i = 0; l.p.block[2 * j + side] >= 0 && i < 18; i++)
                CHECK_NEAR(H[i], l.H[36 * j + 18 * side + i], 1e-15);
        }
    cairn_arena_destroy(&arena);
}

GROUP(test_operator)
{
    RUN(CASE(products_equal_dense_ones_in_2d_and_3d), CASE(other_block_sizes_work),
        CASE(delassus_blocks_are_the_diagonal_of_w),
        CASE(the_shift_is_bias_plus_friction_times_sliding),
        CASE(threads_change_no_bit_of_a_product), CASE(contacts_of_balls_act_like_their_rows),
        CASE(impulses_along_normals_do_not_turn_balls), CASE(rows_of_balls_can_be_written_out));
}

/* ==== test_mass: M^-1 of general mass matrices, part by part ================================== */

enum { MOST = 200 };

typedef struct dense {
    int n;
    double a[MOST * MOST];
} dense;

static cairn_matrix sparse_of(const dense *m, cairn_arena *arena)
{
    static int32_t row[MOST * MOST], column[MOST * MOST];
    static double value[MOST * MOST];
    cairn_matrix A;
    cairn_triplets e = { 0, row, column, value };
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++)
            if (m->a[i * m->n + j] != 0) {
                row[e.count] = i;
                column[e.count] = j;
                value[e.count++] = m->a[i * m->n + j];
            }
    CHECK_OK(cairn_sparse_gather(m->n, m->n, &e, arena, &A));
    return A;
}

/* Blocks of `size` on the diagonal, each B B' + I with B random. */
static void make_blocks(dense *m, int n, int size, uint64_t seed)
{
    uint64_t state = seed;
    memset(m, 0, sizeof *m);
    m->n = n;
    for (int first = 0; first < n; first += size) {
        double b[MOST][MOST];
        for (int i = 0; i < size; i++)
            for (int k = 0; k < size; k++)
                b[i][k] = cairn_random_normal(&state);
        for (int i = 0; i < size; i++)
            for (int j = 0; j <= i; j++) {
                double sum = i == j;
                for (int k = 0; k < size; k++)
                    sum += b[i][k] * b[j][k] / size;
                m->a[(first + i) * n + first + j] = m->a[(first + j) * n + first + i] = sum;
            }
    }
}

/* Largest |M x - b| over all parts, b random. */
static double solve_error(const dense *m, const cairn_mass_factor *mass)
{
    double largest = 0;
    uint64_t state = 3;
    for (int part = 0; part < mass->parts; part++) {
        const cairn_mass_part *p = &mass->part[part];
        double b[MOST], x[MOST];
        for (int i = 0; i < p->size; i++)
            b[i] = cairn_random_normal(&state);
        CHECK_OK(cairn_mass_factor_solve(mass, part, b, x));
        for (int i = 0; i < p->size; i++) {
            double sum = -b[i];
            for (int j = 0; j < p->size; j++)
                sum += m->a[p->member[i] * m->n + p->member[j]] * x[j];
            largest = fmax(largest, fabs(sum));
        }
    }
    return largest;
}

static dense m;

TEST(a_diagonal_has_parts_of_one_and_divides_exactly)
{
    cairn_arena arena = { 0 };
    cairn_mass_factor *mass;
    m = (dense){ .n = 3, .a = { 3, 0, 0, 0, 0.7, 0, 0, 0, 1e-9 } };
    cairn_matrix M = sparse_of(&m, &arena);
    CHECK_OK(cairn_mass_factor_create(&M, &mass, NULL));
    CHECK_INT(mass->parts, 3);
    for (int k = 0; k < 3; k++) {
        double b = 0.1, x;
        CHECK_OK(cairn_mass_factor_solve(mass, k, &b, &x));
        CHECK(x == 0.1 / m.a[4 * k]);
    }
    cairn_mass_factor_destroy(mass);
    cairn_arena_destroy(&arena);
}

TEST(bodies_are_parts_and_meshes_too)
{
    const int sizes[] = { 2, 5, 40, 100, 200 }; /* the last two are large: sparse Cholesky */
    for (int k = 0; k < 5; k++) {
        cairn_arena arena = { 0 };
        cairn_mass_factor *mass;
        make_blocks(&m, 200, sizes[k], 7);
        cairn_matrix M = sparse_of(&m, &arena);
        CHECK_OK(cairn_mass_factor_create(&M, &mass, NULL));
        CHECK_INT(mass->parts, 200 / sizes[k]);
        CHECK(mass->asymmetry == 0);
        CHECK((mass->part[0].cholesky != NULL) == (sizes[k] >= 100));
        CHECK_NEAR(solve_error(&m, mass), 0, 1e-12);
        cairn_mass_factor_destroy(mass);
        cairn_arena_destroy(&arena);
    }
}

TEST(members_of_a_part_need_not_be_neighbours)
{
    /* 0 with 2, 1 alone */
    cairn_arena arena = { 0 };
    cairn_mass_factor *mass;
    m = (dense){ .n = 3, .a = { 2, 0, 1, 0, 5, 0, 1, 0, 2 } };
    cairn_matrix M = sparse_of(&m, &arena);
    CHECK_OK(cairn_mass_factor_create(&M, &mass, NULL));
    CHECK_INT(mass->parts, 2);
    CHECK_INT(mass->part[0].size, 2);
    CHECK_INT(mass->part[0].member[1], 2);
    double b[2] = { 3, 0 }, x[2];
    CHECK_OK(cairn_mass_factor_solve(mass, 0, b, x));
    CHECK_NEAR(x[0], 2, 1e-15);
    CHECK_NEAR(x[1], -1, 1e-15);
    cairn_mass_factor_destroy(mass);
    cairn_arena_destroy(&arena);
}

TEST(what_is_not_symmetric_is_taken_as_it_is)
{
    const int sizes[] = { 5, 100 };
    for (int k = 0; k < 2; k++) {
        cairn_arena arena = { 0 };
        cairn_mass_factor *mass;
        make_blocks(&m, 100, sizes[k], 8);
        m.a[0 * 100 + 1] += 1e-7 * sqrt(m.a[0] * m.a[101]);
        cairn_matrix M = sparse_of(&m, &arena);
        CHECK_OK(cairn_mass_factor_create(&M, &mass, NULL));
        CHECK_CLOSE(mass->asymmetry, 1e-7, 1e-6);
        CHECK_NEAR(solve_error(&m, mass), 0, 1e-12); /* the symmetric part alone leaves 1e-8 */
        cairn_mass_factor_destroy(mass);
        cairn_arena_destroy(&arena);
    }
}

static void check_refused(const char *reason)
{
    cairn_arena arena = { 0 };
    cairn_mass_factor *mass;
    cairn_error error;
    cairn_matrix M = sparse_of(&m, &arena);
    CHECK_INT(cairn_mass_factor_create(&M, &mass, &error), CAIRN_BAD_INPUT);
    CHECK(mass == NULL);
    CHECK_TEXT(error.key, "M");
    CHECK_CONTAINS(error.message, reason);
    cairn_arena_destroy(&arena);
}

TEST(what_is_not_positive_definite_is_refused)
{
    m = (dense){ .n = 2, .a = { 1, 0, 0, -1 } };
    check_refused("entry (1, 1) is -1");
    m = (dense){ .n = 2, .a = { 1, 0, 0, 0 } };
    check_refused("entry (1, 1) is 0");
    m = (dense){ .n = 2, .a = { 1, 2, 2, 1 } };
    check_refused("not positive definite");
    m = (dense){ .n = 2, .a = { 1, 1, 1, 1 } };
    check_refused("not positive definite");
    make_blocks(&m, 100, 100, 9);
    m.a[0 * 100 + 1] = m.a[1 * 100] = 10;
    check_refused("not positive definite");
}

TEST(an_empty_matrix_has_no_parts)
{
    cairn_mass_factor *mass;
    const int64_t start[1] = { 0 };
    cairn_matrix M = { 0, 0, start, NULL, NULL };
    CHECK_OK(cairn_mass_factor_create(&M, &mass, NULL));
    CHECK_INT(mass->parts, 0);
    cairn_mass_factor_destroy(mass);
}

GROUP(test_mass)
{
    RUN(CASE(a_diagonal_has_parts_of_one_and_divides_exactly),
        CASE(bodies_are_parts_and_meshes_too), CASE(members_of_a_part_need_not_be_neighbours),
        CASE(what_is_not_symmetric_is_taken_as_it_is),
        CASE(what_is_not_positive_definite_is_refused), CASE(an_empty_matrix_has_no_parts));
}

/* ==== test_delassus: W formed equals W applied, and the local form is the same problem ======== */

TEST(formed_and_applied_agree_in_2d_and_3d)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        random_problem random;
        cairn_arena arena = { 0 };
        cairn_matrix W;
        cairn_problem local;
        double r[45] = { 0 }, v[120], u[45], u_local[45];
        uint64_t state = 1;
        make_random_problem(&random, dimension, 20, 15, 21);
        CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
        CHECK_OK(cairn_problem_check(&local, NULL));
        for (int i = 0; i < 15 * dimension; i++)
            r[i] = cairn_random_normal(&state);
        cairn_problem_apply(&random.p, r, v, u);
        cairn_problem_apply(&local, r, NULL, u_local);
        for (int i = 0; i < 15 * dimension; i++)
            CHECK_NEAR(u[i], u_local[i], 1e-12);
        cairn_arena_destroy(&arena);
    }
}

TEST(every_solver_solves_the_local_form_too)
{
    random_problem random;
    cairn_arena arena = { 0 };
    cairn_matrix W;
    cairn_problem local;
    cairn_workspace *workspace;
    make_random_problem(&random, 3, 20, 15, 22);
    CHECK_OK(cairn_delassus_localise(&random.p, &arena, &W, &local));
    CHECK_OK(cairn_workspace_create(&workspace));
    for (int i = 0; cairn_solver_name(i); i++) {
        cairn_solve_options options = cairn_solve_options_default();
        cairn_solve_report report;
        double r[45] = { 0 }, r_local[45] = { 0 }, v[120], u[45], u_local[45];
        options.solver = cairn_solver_name(i);
        options.tolerance = 1e-9;
        if (!cairn_solver_accepts(options.solver, CAIRN_LAW_CONVEX, &local))
            continue;
        CHECK_OK(cairn_solve(&random.p, &options, workspace, r, v, u, &report));
        CHECK_OK(cairn_solve(&local, &options, workspace, r_local, NULL, u_local, &report));
        CHECK(report.converged);
        for (int k = 0; k < 45; k++)
            CHECK_NEAR(u[k], u_local[k], 1e-7);
    }
    cairn_workspace_destroy(workspace);
    cairn_arena_destroy(&arena);
}

GROUP(test_delassus)
{
    RUN(CASE(formed_and_applied_agree_in_2d_and_3d), CASE(every_solver_solves_the_local_form_too));
}

/* ==== test_rescale: rolling friction in units of sliding: the same problem ==================== */

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

GROUP(test_rescale)
{
    RUN(CASE(the_same_problem_in_both_forms));
}
