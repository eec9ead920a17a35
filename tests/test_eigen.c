/* test_eigen.c - principal axes of symmetric 3 x 3 matrices. */
#include "check.h"
#include "math/eigen.h"
#include "math/vec.h"

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

int main(void)
{
    RUN(CASE(a_diagonal_matrix_stays_as_it_is), CASE(a_matrix_with_known_axes),
        CASE(random_matrices_are_rebuilt_from_axes_and_values), CASE(zero_has_zero_values),
        CASE(any_rotation_matrix_gives_its_quaternion));
}
