/* test_mechanisms.c - the mechanisms of scenes/ against their equations of motion, written in the
 * coordinate that the joints leave free and integrated by small Runge-Kutta steps; and scenes with
 * motors, limits and contact in which every step must be certified. */
#include "cairn/cairn.h"
#include "check.h"
#include "math/vec.h"
#include "scene_text.h"

static const double g = 9.81;

/* ---- scenes --------------------------------------------------------------------------------- */

static cairn_scene *load_with(const char *name, const char *override)
{
    char path[512];
    cairn_scene *scene;
    cairn_error error;
    snprintf(path, sizeof path, "%s/scenes/%s", CAIRN_SOURCE_DIR, name);
    if (cairn_scene_load(path, &override, override ? 1 : 0, &scene, &error) != CAIRN_OK)
        fail_msg("%s:%d: %s: %s", name, error.line, error.key, error.message);
    return scene;
}

static cairn_scene *load(const char *name)
{
    return load_with(name, NULL);
}

/* Steps of length h up to `time`, every one certified; the largest certificate entries. */
static cairn_certificate play(cairn_scene *scene, double h, double time)
{
    cairn_certificate worst = { 0 };
    scene->step.time_step = h;
    for (int k = 0; k < (int)round(time / h); k++) {
        cairn_step_report report;
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        if (!report.solve.converged)
            fail_msg("step %d misses its tolerance: %g", k + 1,
                     report.certificate.judgement.asked.relative);
        worst.joint_drift = fmax(worst.joint_drift, report.certificate.joint_drift);
        worst.joint_turn_drift = fmax(worst.joint_turn_drift, report.certificate.joint_turn_drift);
        worst.penetration = fmax(worst.penetration, report.certificate.penetration);
    }
    return worst;
}

/* The turn of a joint at `time`, with steps of length h. */
static double turn_at(const char *name, int joint, double h, double time)
{
    cairn_scene *scene = load(name);
    play(scene, h, time);
    double turn = cairn_world_joint(scene->world, joint).turn;
    cairn_scene_destroy(scene);
    return turn;
}

/* ---- integration ---------------------------------------------------------------------------- */

enum { MOST = 4 };
typedef void rates_fn(const double *y, double *rates);

static void runge_kutta(rates_fn *rates, int n, double time, double *y)
{
    const double h = 2e-5, share[4] = { 0, 0.5, 0.5, 1 }, weight[4] = { 1, 2, 2, 1 };
    for (int k = 0; k < (int)round(time / h); k++) {
        double slope[MOST] = { 0 }, sum[MOST] = { 0 }, at[MOST];
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < n; i++)
                at[i] = y[i] + h * share[stage] * slope[i];
            rates(at, slope);
            for (int i = 0; i < n; i++)
                sum[i] += weight[stage] * slope[i] / 6;
        }
        for (int i = 0; i < n; i++)
            y[i] += h * sum[i];
    }
}

static double sign(double x)
{
    return (x > 0) - (x < 0);
}

/* ---- slider-crank ---------------------------------------------------------------------------- */

/* y = (theta, theta'). With x(theta) the places of all bodies, d'Alembert's principle says
 *     theta'' sum m x'.x' + theta'^2 sum m x'.x'' = motor - sum m g y' - friction,
 * turning bodies likewise with their angles. The crank never stops, so friction takes
 * sum bound |rate of its coordinate over theta|. */
static void slider_crank_rates(const double *y, double *rates)
{
    const double r = 0.3, l = 0.8, m1 = 1, J1 = 0.01, m2 = 0.5, J2 = 0.03, m3 = 2;
    double c = cos(y[0]), s = sin(y[0]), sp = -r / l * s, cp = sqrt(1 - sp * sp);
    double p1 = -r * c / (l * cp), p2 = (r * s + l * sp * p1 * p1) / (l * cp); /* phi', phi'' */
    double x2[2] = { -r * s - 0.5 * l * sp * p1, r * c + 0.5 * l * cp * p1 };
    double x2b[2] = { -r * c - 0.5 * l * (cp * p1 * p1 + sp * p2),
                      -r * s + 0.5 * l * (cp * p2 - sp * p1 * p1) };
    double x3 = -r * s - l * sp * p1, x3b = -r * c - l * (cp * p1 * p1 + sp * p2);
    double inertia =
        J1 + m1 * r * r / 4 + m2 * (x2[0] * x2[0] + x2[1] * x2[1]) + J2 * p1 * p1 + m3 * x3 * x3;
    double change = m2 * (x2[0] * x2b[0] + x2[1] * x2b[1]) + J2 * p1 * p2 + m3 * x3 * x3b;
    double push = 6 - g * (m1 * 0.5 * r * c + m2 * x2[1]);
    double friction = 0.2 + 0.1 * fabs(p1 - 1) + 0.1 * fabs(p1) + 5 * fabs(x3);
    rates[0] = y[1];
    rates[1] = (push - friction - change * y[1] * y[1]) / inertia;
}

TEST(a_slider_crank_with_dry_friction_is_right_to_first_order)
{
    double y[2] = { M_PI / 3, 0 };
    runge_kutta(slider_crank_rates, 2, 0.7, y);
    double exact = y[0] - M_PI / 3;
    CHECK(exact > 3); /* through the dead centre */
    double coarse = turn_at("slider_crank_2d.yaml", 0, 5e-4, 0.7) - exact;
    double fine = turn_at("slider_crank_2d.yaml", 0, 2.5e-4, 0.7) - exact;
    CHECK(fabs(fine) < 0.01 * exact);
    CHECK(coarse / fine > 1.7 && coarse / fine < 2.3);
}

/* ---- spatial four-bar ------------------------------------------------------------------------ */

/* A and B, the ends of the coupler, with their derivatives by theta and psi. */
typedef struct ends {
    cairn_vec3 A1, A2, B1, B2, d; /* A', A'', B', B'', A - B */
} ends;

static ends ends_of(double theta, double psi)
{
    const double a = 0.2, b = 0.5;
    double c = cos(theta), s = sin(theta), cp = cos(psi), sp = sin(psi);
    cairn_vec3 A = { a * c, a * s, 0 }, B = { 0.6, 0.6 - b * sp, b * cp };
    return (ends){ .A1 = { -a * s, a * c, 0 },
                   .A2 = { -a * c, -a * s, 0 },
                   .B1 = { 0, -b * cp, -b * sp },
                   .B2 = { 0, b * sp, -b * cp },
                   .d = cairn_sub(A, B) };
}

/* y = (theta, psi, theta', psi'), held together by |A - B|^2 = L^2, twice differentiated:
 *     M q'' = Q - c + G' lambda,   G q'' = -gamma.
 * The coupler's centre is (A + B)/2 and its direction (A - B)/L; it does not spin. */
static void four_bar_rates(const double *y, double *rates)
{
    const double m = 0.6, J = 0.03, L2 = 0.4 * 0.4 + 0.6 * 0.6 + 0.5 * 0.5, m3 = 1.5;
    ends e = ends_of(y[0], y[1]);
    double t = y[2], p = y[3], near = m / 4 + J / L2, cross = m / 4 - J / L2;
    double M11 = 0.01 + 0.01 + near * cairn_dot(e.A1, e.A1);
    double M22 = 0.04 + m3 * 0.0625 + near * cairn_dot(e.B1, e.B1);
    double M12 = cross * cairn_dot(e.A1, e.B1);
    double Q1 = 3 - 0.3 * sign(t) - near * cairn_dot(e.A1, e.A2) * t * t -
                cross * cairn_dot(e.A1, e.B2) * p * p;
    double Q2 = -0.2 * sign(p) - g * (0.5 * m + 0.5 * m3) * e.B1.z -
                near * cairn_dot(e.B1, e.B2) * p * p - cross * cairn_dot(e.B1, e.A2) * t * t;
    double G1 = cairn_dot(e.d, e.A1), G2 = -cairn_dot(e.d, e.B1);
    cairn_vec3 speed = cairn_sub(cairn_scale(t, e.A1), cairn_scale(p, e.B1));
    double gamma =
        cairn_dot(speed, speed) + cairn_dot(e.d, e.A2) * t * t - cairn_dot(e.d, e.B2) * p * p;
    /* q'' = M^-1 (Q + G' lambda), G q'' = -gamma */
    double D = M11 * M22 - M12 * M12;
    double f1 = (M22 * Q1 - M12 * Q2) / D, f2 = (M11 * Q2 - M12 * Q1) / D;
    double n1 = (M22 * G1 - M12 * G2) / D, n2 = (M11 * G2 - M12 * G1) / D;
    double lambda = -(gamma + G1 * f1 + G2 * f2) / (G1 * n1 + G2 * n2);
    rates[0] = t;
    rates[1] = p;
    rates[2] = f1 + n1 * lambda;
    rates[3] = f2 + n2 * lambda;
}

TEST(a_spatial_four_bar_with_dry_friction_is_right_to_first_order)
{
    double y[4] = { 0 };
    runge_kutta(four_bar_rates, 4, 0.4, y);
    CHECK_NEAR(cairn_norm(ends_of(y[0], y[1]).d), sqrt(0.77), 1e-8); /* the loop stayed closed */
    for (int joint = 0; joint < 4; joint += 3) {                     /* crank, rocker */
        double exact = y[joint ? 1 : 0];
        double coarse = turn_at("four_bar.yaml", joint, 1e-3, 0.4) - exact;
        double fine = turn_at("four_bar.yaml", joint, 5e-4, 0.4) - exact;
        CHECK(fabs(exact) > 0.1 && fabs(fine) < 0.01 * fabs(exact));
        CHECK(coarse / fine > 1.7 && coarse / fine < 2.3);
    }
}

/* ---- closed loops with more rows than they need ---------------------------------------------- */

/* The slider-crank of slider_crank_2d.yaml in 3D: 20 rows, 17 of them independent, hold 18
 * velocities; in the plane 8 hold 9. */
static const char *const in_space = HEAD
    "gravity: [0, -9.81, 0]\n"
    "bodies:\n"
    "  - {name: crank, shape: {sphere: {radius: 0.02}}, mass: 1,\n"
    "     inertia: [0.01, 0.01, 0.01], position: [0.075, 0.12990381056766578, 0]}\n"
    "  - {name: rod, shape: {sphere: {radius: 0.02}}, mass: 0.5,\n"
    "     inertia: [0.03, 0.03, 0.03], position: [0.5283186487605389, 0.12990381056766578, 0]}\n"
    "  - {name: slider, shape: {sphere: {radius: 0.05}}, mass: 2,\n"
    "     position: [0.9066372975210779, 0, 0]}\n"
    "joints:\n"
    "  - revolute: {a: crank, turn: {motor: force, target: 6, friction: 0.2}}\n"
    "  - revolute: {a: rod, b: crank, anchor: [0.15, 0.25980762113533157, 0],\n"
    "               turn: {friction: 0.1}}\n"
    "  - revolute: {a: slider, b: rod, anchor: [0.9066372975210779, 0, 0],\n"
    "               turn: {friction: 0.1}}\n"
    "  - prismatic: {a: slider, axis: [1, 0, 0], anchor: [0.9066372975210779, 0, 0],\n"
    "                slide: {friction: 5}}\n";

TEST(a_redundant_loop_moves_as_the_plane_one)
{
    cairn_scene *scene = scene_text_good(in_space, "run.scheme=coulomb");
    scene->step.tolerance = 1e-10;
    cairn_certificate worst = play(scene, 1e-3, 0.5);
    double turn = cairn_world_joint(scene->world, 0).turn;
    CHECK_NEAR(turn, turn_at("slider_crank_2d.yaml", 0, 1e-3, 0.5), 1e-6);
    CHECK(worst.joint_turn_drift < 1e-9); /* nothing tilts out of the plane */
    cairn_scene_destroy(scene);
}

/* ---- a shaft in a hole ----------------------------------------------------------------------- */

static double crank_angle(const cairn_scene *scene)
{
    cairn_quat q = cairn_world_bodies(scene->world).q[1];
    return 2 * atan2(q.z, q.w);
}

/* Without friction in the hole the crank turns as on a joint, but for the half millimetre. */
TEST(a_crank_with_clearance_turns_nearly_as_on_a_joint)
{
    const char *const smooth = "materials.steel.friction=0";
    cairn_scene *loose = load_with("clearance.yaml", smooth);
    cairn_scene *tight = load_with("clearance.yaml", smooth);
    cairn_joint_def pin = cairn_joint_def_default();
    pin.kind = CAIRN_JOINT_REVOLUTE;
    pin.a = (cairn_body_id){ cairn_world_bodies(tight->world).uid[1] };
    pin.anchor = cairn_world_bodies(tight->world).x[1];
    CHECK_OK(cairn_joint_create(tight->world, &pin, NULL));
    cairn_certificate worst = play(loose, 5e-4, 0.3);
    play(tight, 5e-4, 0.3);
    cairn_vec3 x = cairn_world_bodies(loose->world).x[1];
    CHECK(crank_angle(tight) > 1);
    CHECK_NEAR(crank_angle(loose), crank_angle(tight), 0.01);
    CHECK(fabs(crank_angle(loose) - crank_angle(tight)) > 1e-6);
    CHECK(hypot(x.x, x.y) < 0.5e-3 + worst.penetration + 1e-9);
    CHECK(worst.penetration < 2e-5);
    cairn_scene_destroy(loose);
    cairn_scene_destroy(tight);
}

/* ---- a gripper ------------------------------------------------------------------------------- */

/* Fingers of 0.01 m gap touch after 0.1 s, when the hand has gone up 0.01 m; from then on the ball
 * goes up with it, to 0.1 + 0.2 - 0.01 m. Friction on each finger carries half its weight. */
TEST(a_gripper_lifts_a_ball_by_friction)
{
    cairn_scene *scene = load("gripper.yaml");
    play(scene, 2e-3, 3);
    cairn_bodies bodies = cairn_world_bodies(scene->world);
    CHECK_NEAR(bodies.x[1].z, 0.29, 1e-3);
    CHECK_NEAR(bodies.v[1].z, 0, 1e-6);
    CHECK_NEAR(cairn_world_joint(scene->world, 0).slide, 0.2, 1e-9);
    cairn_joint_state finger = cairn_world_joint(scene->world, 1);
    CHECK_NEAR(finger.force.x, 10, 1e-5);
    CHECK_NEAR(finger.force.z, (0.2 + 0.25) * g, 1e-5);
    cairn_scene_destroy(scene);
}

int main(void)
{
    RUN(CASE(a_slider_crank_with_dry_friction_is_right_to_first_order),
        CASE(a_spatial_four_bar_with_dry_friction_is_right_to_first_order),
        CASE(a_redundant_loop_moves_as_the_plane_one),
        CASE(a_crank_with_clearance_turns_nearly_as_on_a_joint),
        CASE(a_gripper_lifts_a_ball_by_friction));
}
