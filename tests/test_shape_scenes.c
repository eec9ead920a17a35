/* test_shape_scenes.c - scenes/ with bodies that are no balls, made short: each states a physical
 * fact. */
#include "cairn/scene.h"
#include "check.h"
#include "math/vec.h"
#include "worlds.h"

/* A scene of scenes/ with overrides, NULL at the end. */
static cairn_scene *load(const char *name, const char *const *overrides)
{
    char path[512];
    cairn_scene *scene = NULL;
    cairn_error error = { 0 };
    int count = 0;
    while (overrides && overrides[count])
        count++;
    snprintf(path, sizeof path, "%s/scenes/%s.yaml", CAIRN_SOURCE_DIR, name);
    cairn_status status = cairn_scene_load(path, overrides, count, &scene, &error);
    if (status != CAIRN_OK)
        fprintf(stderr, "%s: %s\n", error.key, error.message);
    CHECK_OK(status);
    return scene;
}

/* Steps until a time; the worst certificate of all. */
static cairn_certificate run(cairn_scene *scene, double until)
{
    cairn_certificate worst = { 0 };
    while (cairn_world_time(scene->world) < until - 1e-9) {
        cairn_step_report report = advance(scene->world, &scene->step, 1);
        worst.penetration = fmax(worst.penetration, report.certificate.penetration);
        worst.distance = fmax(worst.distance, report.certificate.distance);
    }
    return worst;
}

/* How far the body that moved most is from its place at the start. */
static double drift_of(const cairn_scene *scene, const cairn_vec3 *start)
{
    cairn_bodies b = cairn_world_bodies(scene->world);
    double drift = 0;
    for (int i = 0; i < b.count; i++)
        drift = fmax(drift, cairn_norm(cairn_sub(b.x[i], start[i])));
    return drift;
}

static double drift_after(const char *name, const char *const *overrides, double until)
{
    cairn_vec3 start[128];
    cairn_scene *scene = load(name, overrides);
    cairn_bodies b = cairn_world_bodies(scene->world);
    CHECK(b.count <= 128);
    for (int i = 0; i < b.count; i++)
        start[i] = b.x[i];
    run(scene, until);
    double drift = drift_of(scene, start);
    cairn_scene_destroy(scene);
    return drift;
}

/* ---- what stands, and what does not --------------------------------------------------------- */

/* 40 of the 500 planks */
TEST(a_plank_tower_stands)
{
    const char *const few[] = { "generators.0.grid.count=[1,2,10]",
                                "generators.1.grid.count=[2,1,10]", NULL };
    CHECK(drift_after("plank_tower", few, 0.5) < 1e-6);
}

/* 11 stones: friction 0.6 holds them, with 0.2 they slide apart. */
TEST(an_arch_stands_by_friction)
{
    const char *const smooth[] = { "materials.stone.friction=0.2", NULL };
    CHECK(drift_after("arch_2d", NULL, 0.5) < 1e-6);
    CHECK(drift_after("arch_2d", smooth, 0.5) > 0.01);
}

/* The bar in the hook under the whole load: what it is held by is its weight and 2 kN. */
TEST(a_hook_holds_its_load)
{
    const char *const soon[] = { "bodies.1.loads.0.table.time=[0,0.1]", NULL };
    cairn_scene *scene = load("hook", soon);
    cairn_vec3 start = cairn_world_bodies(scene->world).x[1];
    run(scene, 0.6);
    cairn_contacts c = cairn_world_contacts(scene->world);
    cairn_vec3 held = { 0, 0, 0 };
    for (int j = 0; j < c.count; j++) {
        const double *r = c.impulse + 3 * j;
        cairn_vec3 n = c.normal[j], t = c.tangent[j];
        cairn_vec3 f = cairn_add_scaled(cairn_scale(r[0], n), r[1], t);
        f = cairn_add_scaled(f, r[2], cairn_cross(n, t));
        held = cairn_add_scaled(held, (c.body[2 * j] == 1 ? 1 : -1) / scene->step.time_step, f);
    }
    double weight = 9.81 * cairn_world_bodies(scene->world).mass[1];
    CHECK_NEAR(weight, 9.81 * 7800 * 0.02 * 0.02 * 0.1 * 3.14159265358979, 1e-6);
    CHECK_NEAR(held.z, weight + 2000, 0.5);
    CHECK_NEAR(held.x, 0, 0.5);
    CHECK(cairn_norm(cairn_sub(cairn_world_bodies(scene->world).x[1], start)) < 0.01);
    cairn_scene_destroy(scene);
}

/* ---- what turns ----------------------------------------------------------------------------- */

/* Means over six teeth of the pinion, once it runs. */
typedef struct meshing {
    double speed[2];  /* rad/s: of pinion and wheel                              */
    double torque[2]; /* N m: of motor and brake                                 */
    double lag[2];    /* rad: least and most of the wheel behind half the pinion */
} meshing;

static meshing turn_gears(const char *override)
{
    enum { START = 200, STEPS = 698 }; /* 6 teeth: 2 pi 6/18/3 s */
    const char *const overrides[] = { override, NULL };
    cairn_scene *scene = load("gears", overrides);
    meshing m = { .lag = { INFINITY, -INFINITY } };
    double time = STEPS * scene->step.time_step, first[2];
    run(scene, START * scene->step.time_step);
    for (int j = 0; j < 2; j++)
        first[j] = cairn_world_joint(scene->world, j).turn;
    for (int k = 0; k < STEPS; k++) {
        cairn_step_report report = advance(scene->world, &scene->step, 1);
        const cairn_joint_state joint[2] = { cairn_world_joint(scene->world, 0),
                                             cairn_world_joint(scene->world, 1) };
        double behind = 0.5 * joint[0].turn + joint[1].turn;
        m.lag[0] = fmin(m.lag[0], behind);
        m.lag[1] = fmax(m.lag[1], behind);
        for (int j = 0; j < 2; j++) {
            m.torque[j] += joint[j].torque.z / STEPS;
            m.speed[j] = (joint[j].turn - first[j]) / time;
        }
        CHECK(report.solve.converged && report.certificate.penetration < 1e-6);
    }
    cairn_scene_destroy(scene);
    return m;
}

/* Of 0.2 mm backlash half is taken up: the wheel is 0.1 mm/180 mm behind, but for what 12 points
 * leave of a flank. */
TEST(gears_turn_by_the_ratio_of_their_teeth)
{
    meshing m = turn_gears(NULL);
    CHECK_NEAR(m.speed[0], 3, 1e-5);
    CHECK_NEAR(m.speed[1], -3 * 18.0 / 36, 1e-5);
    CHECK_NEAR(m.lag[0], 1e-4 / 0.18, 2e-4);
    CHECK_NEAR(m.lag[1], 1e-4 / 0.18, 2e-4);
}

/* Without friction the motor gives 18/36 of the brake's torque, and 0.3 % for impacts at the corners
 * of flanks; with it more by about mu pi (1/18 + 1/36) (1 - e + e1^2 + e2^2), the mean for spur
 * gears, with the contact ratios e = 1.611 = e1 + e2, 0.765 and 0.847: 0.18 mu. */
TEST(gears_pass_on_torque)
{
    meshing smooth = turn_gears("materials.steel.friction=0");
    meshing rough = turn_gears("materials.steel.friction=0.2");
    CHECK_NEAR(smooth.torque[1], 20, 1e-4);
    CHECK_NEAR(rough.torque[1], 20, 1e-4);
    CHECK(smooth.torque[0] > 10 && smooth.torque[0] < 10.05);
    CHECK_NEAR(rough.torque[0] / smooth.torque[0] - 1, 0.18 * 0.2, 0.01);
}

/* ---- what flows ----------------------------------------------------------------------------- */

/* Without friction and drivers energy does not rise; the column sinks and stays above its floor. */
TEST(a_column_of_ellipses_collapses)
{
    cairn_scene *scene = load("ellipse_collapse_2d", NULL);
    double before = INFINITY, top = 0;
    for (int k = 0; k < 60; k++) {
        cairn_step_report report = advance(scene->world, &scene->step, 1);
        double energy = report.energy.kinetic + report.energy.potential;
        CHECK(energy <= before + report.energy.correction + 1e-3);
        CHECK(report.certificate.distance < 1e-10);
        CHECK(report.certificate.penetration < 2e-3);
        before = energy;
    }
    cairn_bodies b = cairn_world_bodies(scene->world);
    for (int i = b.held; i < b.count; i++) {
        CHECK(b.x[i].y > 0.2);
        top = fmax(top, b.x[i].y);
    }
    CHECK(top < 8.7); /* from 8.78 */
    cairn_scene_destroy(scene);
}

/* 24 dice: none leaves the drum, and the wall, which goes to -x at the bottom, takes them along. */
TEST(dice_are_carried_along_by_the_drum)
{
    const char *const few[] = { "generators.0.grid.count=[4,3,2]",
                                "generators.0.grid.origin=[-0.048,-0.036,-0.16]", NULL };
    cairn_scene *scene = load("superellipsoid_drum", few);
    cairn_certificate worst = run(scene, 0.4);
    cairn_bodies b = cairn_world_bodies(scene->world);
    double x = 0;
    for (int i = 3; i < b.count; i++) {
        CHECK(hypot(b.x[i].x, b.x[i].z) < 0.2 - 0.007);
        CHECK(fabs(b.x[i].y) < 0.06 - 0.007);
        x += b.x[i].x / (b.count - 3);
    }
    CHECK(x < -0.02);
    CHECK(worst.distance > 0 && worst.distance < 1e-10);
    CHECK(worst.penetration < 1e-3);
    cairn_scene_destroy(scene);
}

int main(void)
{
    RUN(CASE(a_plank_tower_stands), CASE(an_arch_stands_by_friction), CASE(a_hook_holds_its_load),
        CASE(a_column_of_ellipses_collapses), CASE(dice_are_carried_along_by_the_drum),
        CASE(gears_turn_by_the_ratio_of_their_teeth), CASE(gears_pass_on_torque));
}
