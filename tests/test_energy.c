/* test_energy.c - the energy ledger closes to rounding in every step, whatever happens. */
#include "worlds.h"

static const cairn_vec3 zero = { 0, 0, 0 };

/* d(kinetic + potential) minus what the ledger says, relative to the energy at hand. */
static double worst_gap(cairn_world *world, const cairn_step_options *options, int steps)
{
    double worst = 0, before = total_energy(world);
    for (int k = 0; k < steps; k++) {
        cairn_step_report report; /* the ledger closes whether or not the tolerance was met */
        CHECK_OK(cairn_world_step(world, options, &report));
        cairn_energy e = report.energy;
        double after = e.kinetic + e.potential;
        double said = e.entered + e.load_work + e.driver_work + e.correction - e.friction_loss -
                      e.impact_loss - e.numerical_loss;
        double size = fabs(e.kinetic) + fabs(e.potential) + fabs(e.impact_loss) + 1;
        worst = fmax(worst, fabs(after - before - said) / size);
        before = after;
    }
    return worst;
}

TEST(ledger_closes_in_heaps)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        const char *scheme;
        for (int i = 0; (scheme = cairn_scheme_name(i)); i++) {
            cairn_world *world = new_heap(dimension, 0.4, 3);
            cairn_step_options options = step_by(0.005, scheme, 1e-3);
            CHECK_NEAR(worst_gap(world, &options, 150), 0, 1e-13);
            cairn_world_destroy(world);
        }
    }
}

/* a shaken floor, an inlet, a load and a tumbling ellipsoid of inertia all at once */
TEST(ledger_closes_with_drivers_inlets_loads_and_tumbling)
{
    cairn_world *world = new_world(3, 9.81, 0.4, 0.5);
    cairn_driver shake = cairn_driver_default(CAIRN_DRIVER_SHAKE);
    cairn_driver turn = cairn_driver_default(CAIRN_DRIVER_ROTATION);
    cairn_load load = cairn_load_default(CAIRN_LOAD_SINE);
    cairn_body_def floor = cairn_body_def_default(), top = floor;
    shake.amplitude.z = 0.02;
    shake.frequency = 5;
    turn.angular_velocity = (cairn_vec3){ 0.1, 0.2, 0.5 };
    floor.motion = CAIRN_MOTION_DRIVEN;
    floor.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    floor.drivers = (cairn_driver[]){ shake, turn };
    floor.driver_count = 2;
    CHECK_OK(cairn_body_create(world, &floor, NULL));
    load.force = (cairn_vec3){ 1, 2, 3 };
    load.torque = (cairn_vec3){ 0.01, 0, 0.02 };
    load.frequency = 3;
    top.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    top.shape.radius = 0.1;
    top.mass = 1;
    top.inertia = (cairn_vec3){ 0.003, 0.004, 0.006 };
    top.angular_velocity = (cairn_vec3){ 3, 10, -5 };
    top.position.z = 0.3;
    top.loads = &load;
    top.load_count = 1;
    CHECK_OK(cairn_body_create(world, &top, NULL));
    cairn_inlet_def inlet = cairn_inlet_def_default();
    inlet.count = 20;
    inlet.rate = 40;
    inlet.centre.z = 1;
    inlet.size = (cairn_vec3){ 0.4, 0.4, 0.2 };
    inlet.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    inlet.radius.value = 0.05;
    CHECK_OK(cairn_inlet_create(world, &inlet));
    cairn_step_options options = step_by(0.002, "convex", 1e-4);
    CHECK_NEAR(worst_gap(world, &options, 500), 0, 1e-13);
    CHECK_INT(cairn_world_inlet_pending(world), 0);
    cairn_world_destroy(world);
}

/* 1 kg falling 1 m onto the floor: all of m g h is lost in the impact */
TEST(a_falling_ball_loses_its_energy_in_the_impact)
{
    cairn_world *world = new_world(3, 10, 0.3, 0);
    add_fixed(world, CAIRN_SHAPE_HALF_SPACE, 0, zero);
    add_ball(world, 0.1, (cairn_vec3){ 0, 0, 1.1 }, zero);
    cairn_step_options options = step_by(1e-4, "convex", 1e-10);
    double impact = 0, friction = 0, numerical = 0;
    for (int k = 0; k < 6000; k++) {
        cairn_energy e = advance(world, &options, 1).energy;
        impact += e.impact_loss;
        friction += e.friction_loss;
        numerical += e.numerical_loss;
    }
    CHECK_NEAR(impact, 10, 0.01);
    CHECK_NEAR(impact + numerical, 10, 1e-9);
    CHECK_NEAR(friction, 0, 1e-12);
    cairn_world_destroy(world);
}

int main(void)
{
    RUN(CASE(ledger_closes_in_heaps), CASE(ledger_closes_with_drivers_inlets_loads_and_tumbling),
        CASE(a_falling_ball_loses_its_energy_in_the_impact));
}
