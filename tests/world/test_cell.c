/* test_cell.c - walls of cells: their motion by the scalar equation of a wall, forces known by
 * statics, lengths by a rate of strain, and their work in the ledger. */
#include <math.h>

#include "math/vec.h"
#include "tests/problems/saved_world.h"
#include "tests/problems/worlds.h"
#include "world/world.h"

static cairn_body_id add_plate(cairn_world *world, cairn_motion motion, cairn_vec3 size,
                               cairn_vec3 at)
{
    cairn_body_id id;
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_BOX, cairn_world_dimension(world));
    def.shape.size = size;
    def.position = at;
    def.motion = motion;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

static cairn_function constant(double value)
{
    cairn_function f = cairn_function_default(CAIRN_FUNCTION_CONSTANT);
    f.value = value;
    return f;
}

/* A floor with its face at z = 0, a lid with its face at z = height that pushes with a force. */
static cairn_cell_def press(cairn_world *world, double height, double force)
{
    cairn_cell_def def = cairn_cell_def_default();
    cairn_vec3 size = { 1, 1, 0.2 };
    def.axis[2].low = add_plate(world, CAIRN_MOTION_FIXED, size, cairn_vec(0, 0, -0.1));
    def.axis[2].high = add_plate(world, CAIRN_MOTION_DYNAMIC, size, cairn_vec(0, 0, height + 0.1));
    def.axis[2].force = constant(force);
    return def;
}

static double speed_of(const cairn_world *world, cairn_body_id id)
{
    return cairn_world_bodies(world).v[cairn_body_row(world, id)].z;
}

/* The change of energy that the works and losses of a report account for. */
static double accounted(const cairn_energy *e)
{
    return e->entered + e->load_work + e->driver_work + e->motor_work + e->gravity_work +
           e->correction - e->friction_loss - e->impact_loss - e->damping_loss - e->sleep_loss -
           e->numerical_loss;
}

/* ---- a wall that nothing resists ------------------------------------------------------------- */

/* M dv/dt = F: v = F t/M, whatever its weight, which the servo carries. */
TEST(a_free_wall_with_mass_accelerates_by_force_over_mass)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_cell_def def = press(world, 10, 12);
    def.mass = 4;
    CHECK_OK(cairn_cell_create(world, &def));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-9);
    advance(world, &options, 50);
    CHECK_NEAR(speed_of(world, def.axis[2].high), -12.0 / 4 * 0.5, 1e-12);
    /* x = sum h v_k = F/M h^2 k (k + 1)/2 */
    CHECK_NEAR(cairn_world_cell(world, 0).length[2], 10 - 3 * 1e-4 * 50 * 51 / 2, 1e-12);
    cairn_world_destroy(world);
}

/* M dv/dt = F - c v, implicit: v_k = F/c (1 - (1 + h c/M)^-k), which tends to F/c. */
TEST(damping_bounds_the_speed_of_a_wall)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_cell_def def = press(world, 10, 12);
    def.mass = 4;
    def.damping = 20;
    CHECK_OK(cairn_cell_create(world, &def));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-9);
    for (int k = 1; k <= 100; k++) {
        advance(world, &options, 1);
        double expected = -12.0 / 20 * (1 - pow(1 + 0.01 * 20 / 4, -k));
        CHECK_NEAR(speed_of(world, def.axis[2].high), expected, 1e-13);
    }
    cairn_world_destroy(world);
}

/* Without mass v = F/c in every step; without damping as well, c = mass of the sample/h. */
TEST(an_overdamped_wall_has_the_speed_force_over_damping)
{
    for (int given = 0; given < 2; given++) {
        cairn_world *world = new_world(3, 9.81, 0.5, 0);
        cairn_cell_def def = press(world, 10, 12);
        add_ball(world, 0.1, cairn_vec(0, 0, 0.1), cairn_vec(0, 0, 0)); /* 1 kg */
        def.damping = given ? 50 : 0;
        CHECK_OK(cairn_cell_create(world, &def));
        cairn_step_options options = step_by(0.01, "coulomb", 1e-9);
        double c = given ? 50 : 1 / 0.01;
        for (int k = 0; k < 5; k++) {
            cairn_step_report report = advance(world, &options, 1);
            CHECK_NEAR(speed_of(world, def.axis[2].high), -12 / c, 1e-14);
            CHECK_NEAR(cairn_world_cell(world, 0).damping[2][1], c, 1e-12);
            if (k > 0) /* what the servo does is lost in its damper */
                CHECK_NEAR(report.energy.load_work, report.energy.damping_loss, 1e-14);
        }
        cairn_world_destroy(world);
    }
}

/* ---- forces known by statics ----------------------------------------------------------------- */

/* The lid presses on a column of balls with its force, and the floor carries it and the weights:
 * v = gain (F - F_contact) means that F_contact = F at rest, for any gain and mass. */
static void press_column(int balls, double mass, double damping)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_cell_def def = press(world, 0.2 * balls + 0.01, 100);
    for (int k = 0; k < balls; k++)
        add_ball(world, 0.1, cairn_vec(0, 0, 0.1 + 0.2 * k), cairn_vec(0, 0, 0));
    def.mass = mass;
    def.damping = damping;
    CHECK_OK(cairn_cell_create(world, &def));
    cairn_step_options options = step_by(0.005, "coulomb", 1e-9);
    options.max_iterations = 20000;
    advance(world, &options, 100);
    const cairn_cell *cell = &world->driven.cells.items[0];
    CHECK_NEAR(cell->wall[5].force.z, 100, 1e-4);
    CHECK_NEAR(cell->wall[4].force.z, -100 - 9.81 * balls, 1e-4);
    CHECK_NEAR(speed_of(world, def.axis[2].high), 0, 1e-7);
    CHECK_NEAR(cairn_world_cell(world, 0).length[2], 0.2 * balls, 1e-6);
    cairn_world_destroy(world);
}

TEST(a_wall_presses_on_a_column_with_its_force)
{
    press_column(1, 0, 0);
    press_column(1, 7, 0);
    press_column(5, 0, 0);
    press_column(5, 0, 3000);
    press_column(5, 2, 0);
}

/* 2D, no gravity, no friction. Rows of two disks that touch the side walls, with one disk between
 * each two rows. A disk in the middle passes on the force F by contacts at the angle a from the
 * vertical, sin a = s/(4 R) with the distance s of the two disks. Each of its 4 contacts has the
 * horizontal part F/2 tan a, so that m disks in the middle push on each side wall with m F tan a. */
TEST(an_oedometer_of_a_lattice_has_the_stress_ratio_of_statics)
{
    enum { MIDDLES = 3 };
    const double R = 0.1, s = 0.3, F = 50, W = s + 2 * R;
    const double tan_a = tan(asin(s / (4 * R))), rise = sqrt(4 * R * R - s * s / 4);
    const double H = 2 * MIDDLES * rise + 2 * R;
    cairn_world *world = new_world(2, 0, 0, 0);
    cairn_cell_def def = cairn_cell_def_default();
    cairn_vec3 side = { 0.2, 3, 0 }, end = { 1, 0.2, 0 }, zero = { 0, 0, 0 };
    def.axis[0].low = add_plate(world, CAIRN_MOTION_FIXED, side, cairn_vec(-0.1, 0.5, 0));
    def.axis[0].high = add_plate(world, CAIRN_MOTION_FIXED, side, cairn_vec(W + 0.1, 0.5, 0));
    def.axis[1].low = add_plate(world, CAIRN_MOTION_FIXED, end, cairn_vec(0.25, -0.1, 0));
    def.axis[1].high = add_plate(world, CAIRN_MOTION_DYNAMIC, end, cairn_vec(0.25, H + 0.101, 0));
    def.axis[1].stress = constant(F / W);
    for (int row = 0; row <= 2 * MIDDLES; row++)
        for (int i = 0; i < 2 - row % 2; i++)
            add_ball(world, R, cairn_vec(row % 2 ? W / 2 : R + i * s, R + row * rise, 0), zero);
    CHECK_OK(cairn_cell_create(world, &def));
    cairn_step_options options = step_by(0.002, "coulomb", 1e-9);
    options.max_iterations = 20000;
    advance(world, &options, 60);
    cairn_cell_state state = cairn_world_cell(world, 0);
    CHECK_NEAR(state.length[1], H, 1e-6);
    CHECK_CLOSE(state.stress[1], F / W, 1e-6);
    CHECK_CLOSE(state.force[0], MIDDLES * F * tan_a, 1e-6);
    CHECK_CLOSE(state.stress[0] / state.stress[1], MIDDLES * tan_a * W / H, 2e-6);
    CHECK_NEAR(state.shear.x, 0, 1e-4);
    cairn_world_destroy(world);
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Between two states of rest the servo does the work F (x1 - x0) along its path, which is the sum
 * of load_work; and every step closes. The lid moves down, meets a ball that it pushes into the gap
 * between others, and stops. */
static void check_work(double mass, double damping)
{
    cairn_world *world = new_world(3, 9.81, 0.3, 0);
    cairn_cell_def def = press(world, 0.8, 40);
    cairn_vec3 zero = { 0, 0, 0 };
    for (int k = 0; k < 3; k++)
        add_ball(world, 0.1, cairn_vec(0.13 * cos(2.0944 * k), 0.13 * sin(2.0944 * k), 0.1), zero);
    add_ball(world, 0.1, cairn_vec(0.001, 0, 0.3), zero);
    def.mass = mass;
    def.damping = damping;
    CHECK_OK(cairn_cell_create(world, &def));
    cairn_step_options options = step_by(0.002, "coulomb", 1e-8);
    options.max_iterations = 20000;
    double before = total_energy(world), start = cairn_world_cell(world, 0).length[2], work = 0;
    double largest = 0;
    for (int k = 0; k < 1500; k++) {
        cairn_step_report report = advance(world, &options, 1);
        double now = report.energy.kinetic + report.energy.potential;
        CHECK_NEAR(now - before, accounted(&report.energy), 1e-12);
        before = now;
        work += report.energy.load_work;
        largest = fmax(largest, report.energy.damping_loss);
    }
    CHECK(damping == 0 || largest > 1e-6);
    CHECK_NEAR(speed_of(world, def.axis[2].high), 0, 1e-6);
    /* the servo carries the weight as well: F downward, M g upward */
    double way = start - cairn_world_cell(world, 0).length[2];
    CHECK(way > 0.4);
    CHECK_NEAR(work, (40 - 9.81 * mass) * way, 1e-6);
    cairn_world_destroy(world);
}

TEST(the_work_of_a_servo_is_that_of_the_ledger)
{
    check_work(0, 80);
    check_work(2, 100);
    check_work(2, 0);
}

/* ---- control by strain ----------------------------------------------------------------------- */

/* L = L0 exp(-rate t) with both walls moving or one; stress before that, from which strains do not
 * count; and the force of the servo is that of the contacts. */
TEST(a_rate_of_strain_gives_an_exponential_length)
{
    for (int both = 0; both < 2; both++) {
        cairn_world *world = new_world(3, 0, 0.5, 0);
        cairn_vec3 size = { 1, 1, 0.2 };
        cairn_cell_def def = cairn_cell_def_default();
        def.axis[2].low = add_plate(world, both ? CAIRN_MOTION_DYNAMIC : CAIRN_MOTION_FIXED, size,
                                    cairn_vec(0, 0, -0.1));
        def.axis[2].high = add_plate(world, CAIRN_MOTION_DYNAMIC, size, cairn_vec(0, 0, 1.1));
        add_ball(world, 0.2, cairn_vec(0, 0, 0.5), cairn_vec(0, 0, 0));
        def.axis[2].force = constant(1);
        def.axis[2].strain_rate = constant(0.5);
        def.damping = 100;
        def.mass = both ? 0 : 3;
        def.strain_from = 0.1;
        CHECK_OK(cairn_cell_create(world, &def));
        cairn_step_options options = step_by(0.01, "coulomb", 1e-9);
        CHECK(isnan(cairn_world_cell(world, 0).strain[2]));
        advance(world, &options, 9);
        CHECK(isnan(cairn_world_cell(world, 0).strain[2]));
        CHECK(isnan(cairn_world_cell(world, 0).volume_strain));
        advance(world, &options, 1);
        CHECK_NEAR(cairn_world_cell(world, 0).strain[2], 0, 0);
        double before = cairn_world_cell(world, 0).length[2];
        CHECK(before < 1);
        for (int k = 1; k <= 100; k++) {
            double energy = total_energy(world);
            cairn_step_report report = advance(world, &options, 1);
            cairn_cell_state state = cairn_world_cell(world, 0);
            CHECK_CLOSE(state.length[2], before * exp(-0.5 * 0.01 * k), 1e-13);
            CHECK_NEAR(state.strain[2], 0.5 * 0.01 * k, 1e-13);
            CHECK_NEAR(total_energy(world) - energy, accounted(&report.energy), 1e-12);
            CHECK(isinf(state.damping[2][1]));
        }
        cairn_world_destroy(world);
    }
}

/* A plunger at a given speed against a wall that gives way only under 25 N: both walls are servos,
 * one at a rate, one at a force, with a ball between them that must pass it on. */
TEST(a_servo_at_a_rate_feels_the_force_of_the_other)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_vec3 size = { 1, 1, 0.2 };
    cairn_cell_def rate = cairn_cell_def_default(), force = rate;
    add_ball(world, 0.2, cairn_vec(0, 0, 0.2), cairn_vec(0, 0, 0));
    cairn_body_id mark = add_plate(world, CAIRN_MOTION_FIXED, size, cairn_vec(0, 0, 5.1));
    rate.axis[2].low = add_plate(world, CAIRN_MOTION_DYNAMIC, size, cairn_vec(0, 0, -0.1));
    rate.axis[2].high = mark;
    rate.axis[2].strain_rate = constant(0.01);
    force.axis[2].high = add_plate(world, CAIRN_MOTION_DYNAMIC, size, cairn_vec(0, 0, 0.5));
    force.axis[2].force = constant(25);
    CHECK_OK(cairn_cell_create(world, &rate));
    CHECK_OK(cairn_cell_create(world, &force));
    cairn_step_options options = step_by(0.001, "coulomb", 1e-9);
    advance(world, &options, 100);
    /* the overdamped lid moves with v = 0.01 L and has c = 1 kg/h: F_contact = F + c v */
    double v = speed_of(world, force.axis[2].high), L = cairn_world_cell(world, 0).length[2];
    CHECK_CLOSE(v, 0.01 * L, 1e-4);
    CHECK_NEAR(cairn_world_cell(world, 0).servo[2][0], 25 + 1 / 0.001 * v, 0.01);
    cairn_world_destroy(world);
}

/* ---- saved states ---------------------------------------------------------------------------- */

static cairn_world *squeezed_box(void)
{
    cairn_world *world = new_world(3, 9.81, 0.4, 0);
    cairn_cell_def def = cairn_cell_def_default();
    uint64_t state = 3;
    for (int k = 0; k < 3; k++)
        for (int side = 0; side < 2; side++) {
            cairn_vec3 size = { k == 0 ? 0.2 : 2, k == 1 ? 0.2 : 2, k == 2 ? 0.2 : 2 };
            double at = side ? 0.62 : -0.62;
            cairn_vec3 x = { k == 0 ? at : 0, k == 1 ? at : 0, k == 2 ? at : 0 };
            cairn_body_id id = add_plate(world, CAIRN_MOTION_DYNAMIC, size, x);
            *(side ? &def.axis[k].high : &def.axis[k].low) = id;
            def.axis[k].stress = constant(1000);
        }
    for (int i = 0; i < 5 * 5 * 5; i++) {
        cairn_vec3 at = { 0.2 * (i % 5 - 2), 0.2 * (i / 5 % 5 - 2), 0.2 * (i / 25 - 2) };
        at.x += 0.02 * cairn_random_uniform(&state);
        add_ball(world, 0.07 + 0.02 * cairn_random_uniform(&state), at, cairn_vec(0, 0, 0));
    }
    def.axis[2].strain_rate = constant(0.5);
    def.strain_from = 0.03;
    def.filter = 0.01;
    CHECK_OK(cairn_cell_create(world, &def));
    return world;
}

TEST(a_saved_cell_goes_on_with_the_same_bits)
{
    cairn_world *world = squeezed_box();
    cairn_step_options options = step_by(0.002, "coulomb", 1e-4);
    go_on(world, &options, 12);
    saved s = save(world);
    cairn_world *copy = load(&s);
    check_same_state(world, copy);
    go_on(world, &options, 12);
    go_on(copy, &options, 12);
    check_same_state(world, copy);
    CHECK(world->driven.cells.items[0].counting);
    check_damage_does_no_harm(&s, s.bytes / 60);
    check_without_memory(&s);
    free(s.data);
    cairn_world_destroy(copy);
    cairn_world_destroy(world);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void check_cell_refused(cairn_world *world, const cairn_cell_def *def, const char *key,
                          const char *message)
{
    CHECK(cairn_cell_create(world, def) != CAIRN_OK);
    CHECK_TEXT(cairn_world_error(world)->key, key);
    CHECK_CONTAINS(cairn_world_error(world)->message, message);
    CHECK_INT(cairn_world_cell_count(world), 0);
}

TEST(cells_that_make_no_sense_are_refused)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_cell_def good = press(world, 1, 10), bad = good;
    bad.axis[2].stress = constant(5);
    check_cell_refused(world, &bad, "z", "stress and force");
    bad = good;
    bad.axis[2].force = constant(0);
    bad.axis[2].stress = constant(5);
    check_cell_refused(world, &bad, "z", "needs an area");
    bad = good;
    bad.axis[2].high = bad.axis[2].low;
    check_cell_refused(world, &bad, "z", "no wall that it could move");
    bad = good;
    bad.axis[2].high = bad.axis[2].low = good.axis[2].high;
    check_cell_refused(world, &bad, "z", "apart");
    bad = good;
    bad.axis[2].low = cairn_body_none();
    bad.axis[2].strain_rate = constant(1);
    check_cell_refused(world, &bad, "z", "expected a low and a high wall");
    bad = good;
    bad.mass = -1;
    check_cell_refused(world, &bad, "mass", "-1");
    int row = add_ball(world, 0.1, cairn_vec(0, 0, 0.5), cairn_vec(0, 0, 0));
    bad.mass = 0;
    bad.axis[2].high = (cairn_body_id){ cairn_world_bodies(world).uid[row] };
    check_cell_refused(world, &bad, "z", "expected a box or half_space");
    bad.axis[2].high = (cairn_body_id){ 77 };
    check_cell_refused(world, &bad, "z", "no such body");
    CHECK_OK(cairn_cell_create(world, &good));
    CHECK_INT(cairn_cell_create(world, &good), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(cairn_world_error(world)->message, "already a wall");
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    options.sleep = true;
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_UNSUPPORTED);
    /* without its wall there is no cell */
    CHECK_OK(cairn_body_destroy(world, good.axis[2].high));
    CHECK_INT(cairn_world_cell_count(world), 0);
    CHECK(isnan(cairn_world_cell(world, 0).length[2]));
    cairn_world_destroy(world);
}

TEST(an_overdamped_wall_alone_needs_damping)
{
    cairn_world *world = new_world(3, 0, 0.5, 0);
    cairn_cell_def def = press(world, 1, 10);
    CHECK_OK(cairn_cell_create(world, &def));
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    CHECK_INT(cairn_world_step(world, &options, NULL), CAIRN_BAD_INPUT);
    CHECK_TEXT(cairn_world_error(world)->key, "damping");
    cairn_world_destroy(world);
}

static cairn_world *small_press(void)
{
    cairn_world *world = new_world(3, 9.81, 0.5, 0);
    cairn_cell_def def = press(world, 0.21, 100);
    add_ball(world, 0.1, cairn_vec(0, 0, 0.1), cairn_vec(0, 0, 0));
    CHECK_OK(cairn_cell_create(world, &def));
    return world;
}

TEST(a_step_with_a_cell_survives_without_memory)
{
    cairn_step_options options = step_by(0.01, "coulomb", 1e-6);
    check_step_without_memory(small_press, &options);
}

GROUP(test_cell)
{
    RUN(CASE(a_free_wall_with_mass_accelerates_by_force_over_mass),
        CASE(damping_bounds_the_speed_of_a_wall),
        CASE(an_overdamped_wall_has_the_speed_force_over_damping),
        CASE(a_wall_presses_on_a_column_with_its_force),
        CASE(an_oedometer_of_a_lattice_has_the_stress_ratio_of_statics),
        CASE(the_work_of_a_servo_is_that_of_the_ledger),
        CASE(a_rate_of_strain_gives_an_exponential_length),
        CASE(a_servo_at_a_rate_feels_the_force_of_the_other),
        CASE(a_saved_cell_goes_on_with_the_same_bits), CASE(cells_that_make_no_sense_are_refused),
        CASE(an_overdamped_wall_alone_needs_damping),
        CASE(a_step_with_a_cell_survives_without_memory));
}
