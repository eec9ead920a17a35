/* test_math.c - vectors, small dense matrices, sparse matrices and their factors. */
#include "base/common.h"
#include "math/factor.h"
#include "math/vec.h"
#include "tests/check.h"

/* ==== test_vec: vectors and quaternions ======================================================= */

#define CHECK_VEC(found, ex, ey, ez, tolerance)                                                    \
    do {                                                                                           \
        cairn_vec3 vec_ = (found);                                                                 \
        CHECK_NEAR(vec_.x, ex, tolerance);                                                         \
        CHECK_NEAR(vec_.y, ey, tolerance);                                                         \
        CHECK_NEAR(vec_.z, ez, tolerance);                                                         \
    } while (0)

static cairn_vec3 random_vector(uint64_t *state, double size)
{
    double x = cairn_random_normal(state), y = cairn_random_normal(state);
    return cairn_scale(size, cairn_vec(x, y, cairn_random_normal(state)));
}

TEST(sums_and_products)
{
    cairn_vec3 a = { 1, 2, 3 }, b = { -4, 5, 0.5 };
    CHECK_VEC(cairn_add(a, b), -3, 7, 3.5, 0);
    CHECK_VEC(cairn_sub(a, b), 5, -3, 2.5, 0);
    CHECK_VEC(cairn_scale(-2, a), -2, -4, -6, 0);
    CHECK_VEC(cairn_add_scaled(a, 2, b), -7, 12, 4, 0);
    CHECK_VEC(cairn_times(a, b), -4, 10, 1.5, 0);
    CHECK_NEAR(cairn_dot(a, b), 7.5, 0);             /* -4 + 10 + 1.5                  */
    CHECK_VEC(cairn_cross(a, b), -14, -12.5, 13, 0); /* 1 - 15, -12 - 0.5, 5 + 8     */
    CHECK_NEAR(cairn_norm(cairn_vec(2, 3, 6)), 7, 0);
}

TEST(x_cross_y_is_z)
{
    CHECK_VEC(cairn_cross(cairn_vec(1, 0, 0), cairn_vec(0, 1, 0)), 0, 0, 1, 0);
    CHECK_VEC(cairn_cross(cairn_vec(0, 1, 0), cairn_vec(0, 0, 1)), 1, 0, 0, 0);
    CHECK_VEC(cairn_cross(cairn_vec(0, 0, 1), cairn_vec(1, 0, 0)), 0, 1, 0, 0);
}

TEST(finite_means_all_three)
{
    CHECK(cairn_is_finite(cairn_vec(1, -1e308, 0)));
    CHECK(!cairn_is_finite(cairn_vec(NAN, 0, 0)));
    CHECK(!cairn_is_finite(cairn_vec(0, -INFINITY, 0)));
    CHECK(!cairn_is_finite(cairn_vec(0, 0, NAN)));
}

TEST(perpendicular_is_a_unit_vector_at_right_angles)
{
    uint64_t state = 1;
    const cairn_vec3 axes[6] = { { 1, 0, 0 },  { 0, 1, 0 },  { 0, 0, 1 },
                                 { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } };
    for (int k = 0; k < 1000; k++) {
        cairn_vec3 n = k < 6 ? axes[k] : random_vector(&state, 1);
        n = cairn_scale(1 / cairn_norm(n), n);
        cairn_vec3 t = cairn_perpendicular(n);
        CHECK_NEAR(cairn_dot(n, t), 0, 1e-15);
        CHECK_NEAR(cairn_norm(t), 1, 1e-15);
    }
}

TEST(a_quarter_turn_about_z_takes_x_to_y)
{
    cairn_quat q = cairn_quat_exp(cairn_vec(0, 0, M_PI / 2));
    CHECK_NEAR(q.w, sqrt(0.5), 1e-15);
    CHECK_NEAR(q.z, sqrt(0.5), 1e-15);
    CHECK_VEC(cairn_rotate(q, cairn_vec(1, 0, 0)), 0, 1, 0, 1e-15);
    CHECK_VEC(cairn_rotate(q, cairn_vec(0, 1, 0)), -1, 0, 0, 1e-15);
    CHECK_VEC(cairn_rotate_back(q, cairn_vec(0, 1, 0)), 1, 0, 0, 1e-15);
}

/* i j = k, j k = i, k i = j, and i i = -1 */
TEST(hamiltons_rules)
{
    const cairn_quat i = { 0, 1, 0, 0 }, j = { 0, 0, 1, 0 }, k = { 0, 0, 0, 1 };
    CHECK_NEAR(cairn_quat_multiply(i, j).z, 1, 0);
    CHECK_NEAR(cairn_quat_multiply(j, k).x, 1, 0);
    CHECK_NEAR(cairn_quat_multiply(k, i).y, 1, 0);
    CHECK_NEAR(cairn_quat_multiply(j, i).z, -1, 0);
    CHECK_NEAR(cairn_quat_multiply(i, i).w, -1, 0);
}

/* Rodrigues: R v = v cos a + (e x v) sin a + e (e.v)(1 - cos a) */
TEST(rotation_agrees_with_rodrigues)
{
    uint64_t state = 2;
    for (int k = 0; k < 1000; k++) {
        cairn_vec3 turn = random_vector(&state, 2), v = random_vector(&state, 1);
        double a = cairn_norm(turn);
        cairn_vec3 e = cairn_scale(1 / a, turn);
        cairn_vec3 expected = cairn_add_scaled(cairn_scale(cos(a), v), sin(a), cairn_cross(e, v));
        expected = cairn_add_scaled(expected, cairn_dot(e, v) * (1 - cos(a)), e);
        cairn_vec3 found = cairn_rotate(cairn_quat_exp(turn), v);
        CHECK_VEC(found, expected.x, expected.y, expected.z, 1e-14);
    }
}

TEST(a_product_turns_by_the_right_factor_first)
{
    uint64_t state = 3;
    for (int k = 0; k < 100; k++) {
        cairn_quat p = cairn_quat_exp(random_vector(&state, 1));
        cairn_quat q = cairn_quat_exp(random_vector(&state, 1));
        cairn_vec3 v = random_vector(&state, 1), twice = cairn_rotate(p, cairn_rotate(q, v));
        CHECK_VEC(cairn_rotate(cairn_quat_multiply(p, q), v), twice.x, twice.y, twice.z, 1e-14);
    }
}

TEST(log_is_the_inverse_of_exp_below_half_a_turn)
{
    uint64_t state = 4;
    for (int k = 0; k < 1000; k++) {
        double size = pow(10, -12 + 12.4 * k / 1000); /* up to 2.5 rad */
        cairn_vec3 d = random_vector(&state, 1);
        cairn_vec3 turn = cairn_scale(size / cairn_norm(d), d);
        cairn_vec3 back = cairn_quat_log(cairn_quat_exp(turn));
        CHECK_VEC(back, turn.x, turn.y, turn.z, 1e-14 * (size + 1e-2));
        cairn_quat q = cairn_quat_exp(turn), opposite = { -q.w, -q.x, -q.y, -q.z };
        back = cairn_quat_log(opposite); /* the same turn */
        CHECK_VEC(back, turn.x, turn.y, turn.z, 1e-14 * (size + 1e-2));
    }
}

TEST(no_turn_is_the_unit_quaternion_and_back)
{
    cairn_quat q = cairn_quat_exp(cairn_vec(0, 0, 0));
    CHECK_NEAR(q.w, 1, 0);
    CHECK_VEC(cairn_vec(q.x, q.y, q.z), 0, 0, 0, 0);
    CHECK_VEC(cairn_quat_log(q), 0, 0, 0, 0);
}

TEST(normalised_has_length_1_and_the_same_direction)
{
    cairn_quat q = cairn_quat_normalised((cairn_quat){ 2, -4, 5, 6 }); /* length 9 */
    CHECK_NEAR(q.w, 2.0 / 9, 1e-16);
    CHECK_NEAR(q.x, -4.0 / 9, 1e-16);
    CHECK_NEAR(q.y, 5.0 / 9, 2e-16);
    CHECK_NEAR(q.z, 6.0 / 9, 2e-16);
}

GROUP(test_vec)
{
    RUN(CASE(sums_and_products), CASE(x_cross_y_is_z), CASE(finite_means_all_three),
        CASE(perpendicular_is_a_unit_vector_at_right_angles),
        CASE(a_quarter_turn_about_z_takes_x_to_y), CASE(hamiltons_rules),
        CASE(rotation_agrees_with_rodrigues), CASE(a_product_turns_by_the_right_factor_first),
        CASE(log_is_the_inverse_of_exp_below_half_a_turn),
        CASE(no_turn_is_the_unit_quaternion_and_back),
        CASE(normalised_has_length_1_and_the_same_direction));
}

/* ==== test_dense: LU factors by hand, with a row exchange, and singular ones ================== */

TEST(a_system_that_needs_a_row_exchange)
{
    double A[9] = { 0, 2, 1, 1, 1, 0, 2, 0, 3 }, x[3] = { 5, 3, 8 };
    int pivot[3];
    /* solution: 2y + z = 5, x + y = 3, 2x + 3z = 8: x = 11/8, y = 13/8, z = 7/4 */
    CHECK(cairn_dense_factor(3, A, pivot));
    cairn_dense_solve(3, A, pivot, x);
    CHECK_NEAR(x[0], 1.375, 1e-15);
    CHECK_NEAR(x[1], 1.625, 1e-15);
    CHECK_NEAR(x[2], 1.75, 1e-15);
}

TEST(random_systems_are_solved_to_rounding)
{
    enum { N = 40 };
    double A[N * N], factors[N * N], x[N], b[N];
    int pivot[N];
    uint64_t state = 8;
    for (int i = 0; i < N * N; i++)
        A[i] = factors[i] = cairn_random_normal(&state);
    for (int i = 0; i < N; i++)
        b[i] = x[i] = cairn_random_normal(&state);
    CHECK(cairn_dense_factor(N, factors, pivot));
    cairn_dense_solve(N, factors, pivot, x);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < N; j++)
            sum += A[i * N + j] * x[j];
        CHECK_NEAR(sum, b[i], 1e-11);
    }
}

TEST(singular_and_not_finite_matrices_have_no_factors)
{
    double twice[4] = { 1, 2, 1, 2 }, zero[1] = { 0 }, bad[1] = { NAN }, big[1] = { INFINITY };
    int pivot[2];
    CHECK(!cairn_dense_factor(2, twice, pivot));
    CHECK(!cairn_dense_factor(1, zero, pivot));
    CHECK(!cairn_dense_factor(1, bad, pivot));
    CHECK(!cairn_dense_factor(1, big, pivot));
    CHECK(cairn_dense_factor(0, zero, pivot));
}

GROUP(test_dense)
{
    RUN(CASE(a_system_that_needs_a_row_exchange), CASE(random_systems_are_solved_to_rounding),
        CASE(singular_and_not_finite_matrices_have_no_factors));
}

/* ==== test_eigen: principal axes of symmetric 3 x 3 matrices ================================== */

/* R diag R' again */
static void check_rebuilt(const cairn_symmetric *a, double tolerance)
{
    cairn_vec3 values;
    cairn_quat q;
    cairn_eigen_symmetric(a, &values, &q);
    cairn_vec3 e[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } }, column[3];
    for (int k = 0; k < 3; k++)
        column[k] = cairn_rotate(q, cairn_times(values, cairn_rotate_back(q, e[k])));
    CHECK_NEAR(column[0].x, a->xx, tolerance);
    CHECK_NEAR(column[1].y, a->yy, tolerance);
    CHECK_NEAR(column[2].z, a->zz, tolerance);
    CHECK_NEAR(column[0].y, a->xy, tolerance);
    CHECK_NEAR(column[1].z, a->yz, tolerance);
    CHECK_NEAR(column[2].x, a->zx, tolerance);
    CHECK_CLOSE(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-14);
}

TEST(a_diagonal_matrix_stays_as_it_is)
{
    const cairn_symmetric a = { .xx = 3, .yy = 1, .zz = 2 };
    cairn_vec3 values;
    cairn_quat q;
    cairn_eigen_symmetric(&a, &values, &q);
    CHECK(values.x == 3 && values.y == 1 && values.z == 2);
    CHECK(q.w == 1 && q.x == 0 && q.y == 0 && q.z == 0);
}

/* [2 1; 1 2]: values 1 and 3, axes along the diagonals */
TEST(a_matrix_with_known_axes)
{
    const cairn_symmetric a = { .xx = 2, .yy = 2, .zz = 5, .xy = 1 };
    cairn_vec3 values;
    cairn_quat q;
    cairn_eigen_symmetric(&a, &values, &q);
    CHECK_NEAR(fmin(values.x, values.y), 1, 1e-15);
    CHECK_NEAR(fmax(values.x, values.y), 3, 1e-15);
    CHECK_NEAR(values.z, 5, 0);
    CHECK_CLOSE(fabs(cairn_rotate(q, cairn_vec(1, 0, 0)).y), sqrt(0.5), 1e-14);
}

TEST(random_matrices_are_rebuilt_from_axes_and_values)
{
    uint64_t state = 5;
    for (int i = 0; i < 1000; i++) {
        double v[6];
        for (int k = 0; k < 6; k++)
            v[k] = 2 * cairn_random_uniform(&state) - 1;
        /* also nearly equal values and very different sizes */
        double scale = pow(10, i % 30 - 15), near = i % 3 == 0 ? 1e-9 : 1;
        const cairn_symmetric a = { scale * (1 + near * v[0]), scale * (1 + near * v[1]),
                                    scale * (1 + near * v[2]), scale * near * v[3],
                                    scale * near * v[4],       scale * near * v[5] };
        check_rebuilt(&a, 1e-14 * scale);
    }
}

TEST(zero_has_zero_values)
{
    const cairn_symmetric a = { 0 };
    check_rebuilt(&a, 0);
}

TEST(any_rotation_matrix_gives_its_quaternion)
{
    uint64_t state = 6;
    for (int i = 0; i < 1000; i++) {
        cairn_quat q = { cairn_random_uniform(&state) - 0.5, cairn_random_uniform(&state) - 0.5,
                         cairn_random_uniform(&state) - 0.5, cairn_random_uniform(&state) - 0.5 };
        q = cairn_quat_normalised(q);
        cairn_quat found = cairn_quat_of_columns(cairn_rotate(q, cairn_vec(1, 0, 0)),
                                                 cairn_rotate(q, cairn_vec(0, 1, 0)),
                                                 cairn_rotate(q, cairn_vec(0, 0, 1)));
        double same = q.w * found.w + q.x * found.x + q.y * found.y + q.z * found.z;
        CHECK_CLOSE(fabs(same), 1, 1e-14);
        CHECK(found.w >= 0);
    }
}

GROUP(test_eigen)
{
    RUN(CASE(a_diagonal_matrix_stays_as_it_is), CASE(a_matrix_with_known_axes),
        CASE(random_matrices_are_rebuilt_from_axes_and_values), CASE(zero_has_zero_values),
        CASE(any_rotation_matrix_gives_its_quaternion));
}

/* ==== test_cholesky: the sparse factorisation behind the second-order methods ================= */

/* A = tridiagonal (-1, 2 + shift, -1) of size n; only the upper triangle is given. */
static cairn_matrix tridiagonal(int n, double shift, int64_t *start, int32_t *column, double *value)
{
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        start[i] = at;
        column[at] = i;
        value[at++] = 2 + shift;
        if (i + 1 < n) {
            column[at] = i + 1;
            value[at++] = -1;
        }
    }
    start[n] = at;
    return (cairn_matrix){ n, n, start, column, value };
}

TEST(solves_a_tridiagonal_system_again_and_again)
{
    enum { N = 50 };
    int64_t start[N + 1];
    int32_t column[2 * N];
    double value[2 * N], b[N], x[N];
    cairn_cholesky *c;
    CHECK_OK(cairn_cholesky_create(&c));
    for (int k = 0; k < 3; k++) {
        bool positive;
        cairn_matrix A = tridiagonal(N - 10 * k, 0.1 * k, start, column, value);
        CHECK_OK(cairn_cholesky_factor(c, &A, &positive));
        CHECK(positive);
        for (int i = 0; i < A.rows; i++)
            b[i] = 1;
        CHECK_OK(cairn_cholesky_solve(c, b, x));
        for (int i = 0; i < A.rows; i++) {
            double left = i ? x[i - 1] : 0, right = i + 1 < A.rows ? x[i + 1] : 0;
            CHECK_NEAR((2 + 0.1 * k) * x[i] - left - right, 1, 1e-12);
        }
    }
    CHECK(cairn_cholesky_fill(c) >= 30);
    cairn_cholesky_destroy(c);
}

TEST(the_same_size_with_another_pattern_is_noticed)
{
    int64_t start[4] = { 0, 2, 3, 4 };
    int32_t first[4] = { 0, 1, 1, 2 }, second[4] = { 0, 2, 1, 2 };
    double value[4] = { 2, 1, 2, 2 }, b[3] = { 3, 3, 2 }, x[3];
    bool positive;
    cairn_cholesky *c;
    CHECK_OK(cairn_cholesky_create(&c));
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 3, 3, start, first, value }, &positive));
    CHECK_OK(cairn_cholesky_solve(c, b, x));
    CHECK_NEAR(x[0], 1, 1e-14);
    CHECK_NEAR(x[1], 1, 1e-14);
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 3, 3, start, second, value }, &positive));
    CHECK_OK(cairn_cholesky_solve(c, b, x));
    CHECK_NEAR(x[1], 1.5, 1e-14); /* row 1 stands alone now */
    CHECK_NEAR(2 * x[0] + x[2], 3, 1e-14);
    cairn_cholesky_destroy(c);
}

TEST(an_indefinite_matrix_is_told)
{
    int64_t start[3] = { 0, 2, 3 };
    int32_t column[3] = { 0, 1, 1 };
    double value[3] = { 1, 2, 1 };
    bool positive = true;
    cairn_cholesky *c;
    CHECK_OK(cairn_cholesky_create(&c));
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 2, 2, start, column, value }, &positive));
    CHECK(!positive);
    value[1] = 0.5; /* and it recovers */
    CHECK_OK(cairn_cholesky_factor(c, &(cairn_matrix){ 2, 2, start, column, value }, &positive));
    CHECK(positive);
    cairn_cholesky_destroy(c);
}

GROUP(test_cholesky)
{
    RUN(CASE(solves_a_tridiagonal_system_again_and_again),
        CASE(the_same_size_with_another_pattern_is_noticed), CASE(an_indefinite_matrix_is_told));
}

/* ==== test_lu: factors of unsymmetric matrices, small and large =============================== */

enum { MOST = 300 };

/* Bidiagonal and unsymmetric: 2 on the diagonal, -1 to the right, and 1 in the first column. */
static cairn_matrix comb(int n, double diagonal, int64_t *start, int32_t *column, double *value)
{
    int64_t at = 0;
    for (int i = 0; i < n; i++) {
        const int columns[3] = { 0, i, i + 1 };
        const double values[3] = { 1, diagonal, -1 };
        start[i] = at;
        for (int k = i == 0; k < 3 && columns[k] < n; k++) {
            column[at] = columns[k];
            value[at++] = values[k];
        }
    }
    start[n] = at;
    return (cairn_matrix){ n, n, start, column, value };
}

/* small (dense), large (sparse), large with the same pattern, small again */
TEST(solves_systems_of_changing_size)
{
    static const int sizes[5] = { 7, MOST, MOST, 200, 7 };
    static int64_t start[MOST + 1];
    static int32_t column[3 * MOST];
    static double value[3 * MOST], b[MOST], x[MOST];
    uint64_t state = 3;
    cairn_lu *lu;
    CHECK_OK(cairn_lu_create(&lu));
    for (int k = 0; k < 5; k++) {
        bool regular;
        cairn_matrix A = comb(sizes[k], 2 + k, start, column, value);
        CHECK_OK(cairn_lu_factor(lu, &A, &regular));
        CHECK(regular);
        for (int i = 0; i < A.rows; i++)
            b[i] = x[i] = cairn_random_normal(&state);
        CHECK_OK(cairn_lu_solve(lu, x, x)); /* in place */
        for (int i = 0; i < A.rows; i++) {
            double sum = 0;
            for (int64_t e = start[i]; e < start[i + 1]; e++)
                sum += value[e] * x[column[e]];
            CHECK_NEAR(sum, b[i], 1e-11);
        }
    }
    cairn_lu_destroy(lu);
}

TEST(a_singular_matrix_is_told_small_and_large)
{
    static int64_t start[MOST + 1];
    static int32_t column[3 * MOST];
    static double value[3 * MOST];
    cairn_lu *lu;
    CHECK_OK(cairn_lu_create(&lu));
    for (int n = 10; n <= MOST; n += 290) {
        bool regular = true;
        cairn_matrix A = comb(n, 2, start, column, value);
        for (int64_t e = start[n - 1]; e < start[n]; e++)
            value[e] = 0; /* an empty last row */
        CHECK_OK(cairn_lu_factor(lu, &A, &regular));
        CHECK(!regular);
    }
    cairn_lu_destroy(lu);
}

TEST(an_empty_matrix_is_fine)
{
    const int64_t start[1] = { 0 };
    double x[1] = { 5 };
    bool regular = false;
    cairn_lu *lu;
    CHECK_OK(cairn_lu_create(&lu));
    CHECK_OK(cairn_lu_factor(lu, &(cairn_matrix){ 0, 0, start, NULL, NULL }, &regular));
    CHECK(regular);
    CHECK_OK(cairn_lu_solve(lu, x, x));
    CHECK(x[0] == 5);
    cairn_lu_destroy(lu);
}

GROUP(test_lu)
{
    RUN(CASE(solves_systems_of_changing_size), CASE(a_singular_matrix_is_told_small_and_large),
        CASE(an_empty_matrix_is_fine));
}

/* ==== test_blas: threads of the linear algebra below ========================================== */

/* The linear algebra below the factorisations keeps to one thread, and leaves the
 * number of threads as the owner of the process has set it. */

/* In place of OpenBLAS' own, which in its serial build has no threads to set. */
static int blas_threads = 4, times_alone;

int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

int openblas_get_num_threads(void)
{
    return blas_threads;
}

void openblas_set_num_threads(int threads)
{
    blas_threads = threads;
    times_alone += threads == 1;
}

enum { SIZE = 200 }; /* more than what lu.c treats as dense */

/* The matrix with 2, 3, ... on its diagonal, and a right side of ones. */
typedef struct diagonal {
    int64_t start[SIZE + 1];
    int32_t column[SIZE];
    double value[SIZE], b[SIZE], x[SIZE];
    cairn_matrix A;
} diagonal;

static void make_diagonal(diagonal *d)
{
    for (int i = 0; i < SIZE; i++) {
        d->start[i] = i;
        d->column[i] = i;
        d->value[i] = 2 + i;
        d->b[i] = 1;
    }
    d->start[SIZE] = SIZE;
    d->A = (cairn_matrix){ SIZE, SIZE, d->start, d->column, d->value };
}

TEST(the_blas_has_one_thread_while_it_is_borrowed)
{
    blas_threads = 4;
    int threads = cairn_blas_borrow();
    CHECK_INT(threads, 4);
    CHECK_INT(blas_threads, 1);
    cairn_blas_give_back(threads);
    CHECK_INT(blas_threads, 4);
}

TEST(cholesky_leaves_the_threads_of_the_process_as_they_were)
{
    diagonal d;
    cairn_cholesky *factor;
    bool positive;
    make_diagonal(&d);
    blas_threads = 4;
    CHECK_OK(cairn_cholesky_create(&factor));
    CHECK_INT(blas_threads, 4);
    times_alone = 0;
    CHECK_OK(cairn_cholesky_factor(factor, &d.A, &positive));
    CHECK_OK(cairn_cholesky_solve(factor, d.b, d.x));
    CHECK_INT(blas_threads, 4);
    CHECK_INT(times_alone, 2); /* once to factorise, once to solve */
    CHECK_NEAR(d.x[2], 0.25, 1e-15);
    cairn_cholesky_destroy(factor);
}

TEST(lu_leaves_the_threads_of_the_process_as_they_were)
{
    diagonal d;
    cairn_lu *factor;
    bool regular;
    make_diagonal(&d);
    blas_threads = 4;
    CHECK_OK(cairn_lu_create(&factor));
    CHECK_INT(blas_threads, 4);
    times_alone = 0;
    CHECK_OK(cairn_lu_factor(factor, &d.A, &regular));
    CHECK_OK(cairn_lu_solve(factor, d.b, d.x));
    CHECK_INT(blas_threads, 4);
    CHECK_INT(times_alone, 2);
    CHECK_NEAR(d.x[2], 0.25, 1e-15);
    cairn_lu_destroy(factor);
}

GROUP(test_blas)
{
    RUN(CASE(the_blas_has_one_thread_while_it_is_borrowed),
        CASE(cholesky_leaves_the_threads_of_the_process_as_they_were),
        CASE(lu_leaves_the_threads_of_the_process_as_they_were));
}
