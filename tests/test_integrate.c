/* test_integrate.c - motion without contact: free flight, free turning, loads. */
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* x += h v+ gives y = y0 + v T - g T (T + h)/2: the error is g T h/2, first order */
TEST(free_flight_is_first_order_with_a_known_error)
{
    for (int dimension = 2; dimension <= 3; dimension++)
        for (double h = 0.1; h > 0.001; h /= 2) {
            cairn_world *world = new_world(dimension, 9.81, 0, 0);
            add_ball(world, 0.1, zero, (cairn_vec3){ 3, 0, 0 });
            cairn_step_options options = step_by(h, "convex", 1e-3);
            advance(world, &options, (int)round(1.6 / h));
            cairn_vec3 x = cairn_world_bodies(world).x[0];
            double exact = -0.5 * 9.81 * 1.6 * 1.6, height = dimension == 2 ? x.y : x.z;
            CHECK_NEAR(x.x, 4.8, 1e-12);
            CHECK_NEAR(exact - height, 0.5 * 9.81 * 1.6 * h, 1e-10);
            cairn_world_destroy(world);
        }
}

TEST(time_does_not_drift)
{
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_step_options options = step_by(0.1, "convex", 1e-3);
    advance(world, &options, 100000);
    CHECK_NEAR(cairn_world_time(world), 10000, 1e-11);
    cairn_world_destroy(world);
}

static int add_spinner(cairn_world *world, cairn_vec3 inertia, cairn_vec3 omega)
{
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    def.shape.kind = CAIRN_SHAPE_SPHERE;
    def.shape.radius = 0.1;
    def.mass = 1;
    def.inertia = inertia;
    def.angular_velocity = omega;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return cairn_body_row(world, id);
}

/* the turn about a principal axis is the exponential map: exact for any step */
TEST(turning_about_a_principal_axis_is_exact)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    add_spinner(world, (cairn_vec3){ 1, 2, 2.5 }, (cairn_vec3){ 0, 0, 2 });
    cairn_step_options options = step_by(0.05, "convex", 1e-3);
    advance(world, &options, 20);
    cairn_quat q = cairn_world_bodies(world).q[0];
    CHECK_NEAR(q.w, cos(1), 1e-13); /* angle 2 rad: half of it */
    CHECK_NEAR(q.z, sin(1), 1e-13);
    cairn_world_destroy(world);
}

/* about the middle axis the turn is unstable (Dzhanibekov); energy stays all the same */
TEST(free_turning_keeps_energy)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    add_spinner(world, (cairn_vec3){ 1, 2, 2.5 }, (cairn_vec3){ 0.01, 5, 0.01 });
    double before = total_energy(world), lowest = 5;
    cairn_step_options options = step_by(0.01, "convex", 1e-3);
    for (int k = 0; k < 2000; k++) {
        advance(world, &options, 1);
        lowest = fmin(lowest, cairn_world_bodies(world).omega[0].y);
    }
    CHECK_CLOSE(total_energy(world), before, 1e-11);
    CHECK(lowest < -4.9); /* it did flip over */
    cairn_world_destroy(world);
}

TEST(constant_load_accelerates)
{
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_load load = cairn_load_default(CAIRN_LOAD_CONSTANT);
    cairn_body_def def = cairn_body_def_default();
    load.force = (cairn_vec3){ 6, 0, 0 };
    load.torque = (cairn_vec3){ 0, 0, 0.5 };
    def.shape.kind = CAIRN_SHAPE_SPHERE;
    def.shape.radius = 1;
    def.mass = 2; /* J = 0.8 */
    def.loads = &load;
    def.load_count = 1;
    CHECK_OK(cairn_body_create(world, &def, NULL));
    cairn_step_options options = step_by(0.01, "convex", 1e-3);
    cairn_step_report report = advance(world, &options, 100);
    cairn_bodies b = cairn_world_bodies(world);
    CHECK_NEAR(b.v[0].x, 3, 1e-12);
    CHECK_NEAR(b.omega[0].z, 0.5 / 0.8, 1e-12);
    /* the last step's work is F.v at mid-step: 6 * 2.985 * 0.01 and 0.5 * 0.621875 * 0.01 */
    CHECK_NEAR(report.energy.load_work, 0.1791 + 0.003109375, 1e-12);
    cairn_world_destroy(world);
}

/* 374 rad/s are 19 rad in a step of 0.05 s: the midpoint rule has no answer there that Newton's
 * method finds, and a step without one is refused; half a radian a step is no trouble. */
TEST(turning_that_cannot_be_found_is_refused)
{
    const cairn_vec3 inertia = { 2, 1.7, 0.5 }, omega = { 300, 200, 100 };
    cairn_step_options options = step_by(0.05, "convex", 1e-3);
    cairn_world *world = new_world(3, 0, 0, 0);
    cairn_step_report report;
    cairn_status status = CAIRN_OK;
    add_spinner(world, inertia, omega);
    uint64_t before = 0;
    for (int k = 0; k < 10 && status == CAIRN_OK; k++) {
        before = cairn_world_hash(world);
        status = cairn_world_step(world, &options, &report);
    }
    CHECK_INT(status, CAIRN_BAD_INPUT);
    CHECK(strstr(cairn_world_error(world)->message, "body 0 turns too far in one step of 0.05 s"));
    CHECK(cairn_world_hash(world) == before);
    options.time_step = 0.0013;
    advance(world, &options, 100);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(turning_that_cannot_be_found_is_refused),
        CASE(free_flight_is_first_order_with_a_known_error), CASE(time_does_not_drift),
        CASE(turning_about_a_principal_axis_is_exact), CASE(free_turning_keeps_energy),
        CASE(constant_load_accelerates));
}
