/* test_vec.c - vectors and quaternions. */
#include "base/random.h"
#include "check.h"
#include "math/vec.h"

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

int main(void)
{
    RUN(CASE(sums_and_products), CASE(x_cross_y_is_z), CASE(finite_means_all_three),
        CASE(perpendicular_is_a_unit_vector_at_right_angles),
        CASE(a_quarter_turn_about_z_takes_x_to_y), CASE(hamiltons_rules),
        CASE(rotation_agrees_with_rodrigues), CASE(a_product_turns_by_the_right_factor_first),
        CASE(log_is_the_inverse_of_exp_below_half_a_turn),
        CASE(no_turn_is_the_unit_quaternion_and_back),
        CASE(normalised_has_length_1_and_the_same_direction));
}
