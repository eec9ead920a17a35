/* test_free_turn.c - bodies that nothing pushes: second order, and the angular momentum stays. */
#include <string.h>

#include "turning.h"
#include "worlds.h"

static const cairn_vec3 moments = { 1, 2, 2.5 }; /* kg m^2 */
static const cairn_vec3 start = { 3, -4, 5 };    /* rad/s: |L| = 15.1 */

/* A ball of mass 1 at x with these moments; a constant torque in space. */
static void add_top(cairn_world *world, cairn_vec3 x, cairn_vec3 omega, cairn_vec3 torque)
{
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = cairn_body_def_default();
    load.torque = torque;
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = 0.1;
    def.mass = 1;
    def.inertia = moments;
    def.position = x;
    def.angular_velocity = omega;
    def.loads = &load;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
}

static cairn_vec3 momentum(const cairn_world *world)
{
    cairn_bodies b = cairn_world_bodies(world);
    return cairn_rotate(b.q[0], cairn_times(moments, b.omega[0]));
}

static cairn_vec3 run_top(cairn_vec3 torque, double h, double time, cairn_quat *q)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_options options = step_by(h, "coulomb", 1e-8);
    add_top(world, (cairn_vec3){ 0, 0, 0 }, start, torque);
    advance(world, &options, (int)round(time / h));
    cairn_vec3 L = momentum(world);
    *q = cairn_world_bodies(world).q[0];
    cairn_world_destroy(world);
    return L;
}

TEST(the_angular_momentum_of_a_free_body_stays_to_rounding)
{
    const cairn_vec3 none = { 0, 0, 0 };
    cairn_vec3 before = cairn_times(moments, start);
    cairn_quat q;
    for (double h = 0.002; h < 0.05; h *= 2) {
        cairn_vec3 after = run_top(none, h, 8, &q);
        CHECK(cairn_norm(cairn_sub(after, before)) <= 1e-12 * cairn_norm(before));
    }
}

/* A torque that stands still in space adds T t, whichever way the body turns: to second order, as
 * the torque is turned into the body's frame by a guess of where it is at mid-step. */
TEST(a_torque_adds_to_the_angular_momentum_in_space)
{
    const cairn_vec3 T = { 2, 1, -3 };
    cairn_vec3 expected = cairn_add(cairn_times(moments, start), T); /* after 1 s */
    cairn_quat q;
    double error[2];
    for (int k = 0; k < 2; k++)
        error[k] = cairn_norm(cairn_sub(run_top(T, k ? 0.002 : 0.004, 1, &q), expected));
    CHECK(error[0] < 1e-3 * cairn_norm(expected));
    CHECK_NEAR(error[0] / error[1], 4, 0.2);
}

/* A torque that stands still in space. */
static cairn_vec3 from_space(cairn_quat q, cairn_vec3 torque)
{
    return cairn_rotate_back(q, torque);
}

static cairn_quat reference(cairn_vec3 T, double time)
{
    const turning s = { start, { 1, 0, 0, 0 } };
    return turning_follow(s, moments, from_space, T, 1e-4, (int)round(time / 1e-4));
}

static double angle_between(cairn_quat a, cairn_quat b)
{
    return cairn_norm(cairn_quat_log(cairn_quat_multiply(cairn_quat_conjugate(a), b)));
}

/* It turns by some 14 rad in 2 s. Half the time step, a quarter of the error. */
TEST(turning_freely_is_of_second_order)
{
    const cairn_vec3 torques[] = { { 0, 0, 0 }, { 2, 1, -3 } };
    for (int i = 0; i < 2; i++) {
        cairn_quat exact = reference(torques[i], 2), q;
        double last = 0;
        for (double h = 0.008; h > 0.0009; h /= 2) {
            run_top(torques[i], h, 2, &q);
            double error = angle_between(q, exact);
            if (last > 0)
                CHECK_NEAR(last / error, 4, 0.2);
            last = error;
        }
        CHECK(last < 1e-5); /* rad, at 1 ms */
    }
}

/* angle = T t^2/(2 J), without an error of the time step */
TEST(a_torque_turns_a_disk_exactly)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_step_options options = step_by(0.01, "coulomb", 1e-8);
    add_top(world, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 0, 0, 0 }, (cairn_vec3){ 0, 0, 5 });
    advance(world, &options, 100);
    CHECK_NEAR(cairn_world_bodies(world).angle[0], 5 / (2 * 2.5), 1e-12);
    cairn_world_destroy(world);
}

/* Lying on the floor it is pushed: q+ = q exp(h w+), to the last bit, as gaps are linear in w+. */
TEST(what_a_contact_pushes_turns_by_its_new_velocity)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_step_options options = step_by(0.004, "coulomb", 1e-8);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, (cairn_vec3){ 0, 0, 0 });
    add_top(world, (cairn_vec3){ 0, 0, 0.1 }, start, (cairn_vec3){ 0, 0, 0 });
    for (int k = 0; k < 50; k++) {
        cairn_quat before = cairn_world_bodies(world).q[1];
        advance(world, &options, 1);
        cairn_bodies b = cairn_world_bodies(world);
        cairn_quat turn = cairn_quat_exp(cairn_scale(0.004, b.omega[1]));
        cairn_quat q = cairn_quat_normalised(cairn_quat_multiply(before, turn));
        CHECK(memcmp(&q, &b.q[1], sizeof q) == 0);
    }
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(the_angular_momentum_of_a_free_body_stays_to_rounding),
        CASE(a_torque_adds_to_the_angular_momentum_in_space),
        CASE(turning_freely_is_of_second_order), CASE(a_torque_turns_a_disk_exactly),
        CASE(what_a_contact_pushes_turns_by_its_new_velocity));
}
