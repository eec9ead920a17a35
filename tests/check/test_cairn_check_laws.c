/* test_cairn_check_laws.c - cairn-check knows joints, surfaces and solids; and cases that others
 * get wrong. */
#include "tests/check/check_runs.h"

/* ==== test_cairn_check_joints: cairn-check computes the rows of every kind of joint again,
 * with every scheme, and no number of theirs can be changed without its notice. */

TEST(every_kind_of_joint_is_certified_with_every_scheme)
{
    char override[64];
    for (int i = 0; cairn_scheme_name(i); i++) {
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        check_verdict(scene_joints_3d, override, "certified: 60 steps");
        check_verdict(scene_joints_2d, override, "certified: 60 steps");
        check_verdict(scene_tension, override, "certified: 60 steps");
    }
}

TEST(options_that_change_the_rows_are_known)
{
    static const char *const overrides[] = { "run.overlaps=push", "run.linearisations=1",
                                             "run.stabilisation=0.3" };
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        check_verdict(scene_joints_3d, overrides[i], "certified: 60 steps");
        check_verdict(scene_joints_2d, overrides[i], "certified: 60 steps");
    }
}

static double sum_of(const folder *f, const char *name)
{
    double sum = 0;
    for (hsize_t i = 0, count = count_numbers(f, name); i < count; i++)
        sum += fabs(swap_number(f, name, i, NULL));
    return sum;
}

/* The scene is what it says: something breaks, dampers, motors and springs work, rows mend. */
TEST(the_scene_of_joints_has_everything)
{
    static const char *const used[] = { "steps/broken",       "steps/motor_work",
                                        "steps/damping_loss", "steps/elastic",
                                        "steps/joint_drift",  "steps/joint_turn_drift",
                                        "steps/impact_loss",  "certificate/rows/correction",
                                        "steps/driver_work",  "certificate/joints/phase" };
    folder f = folder_create();
    run_into(&f, scene_joints_3d, "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (!(sum_of(&f, used[i]) > 0))
            fail_msg("%s is 0", used[i]);
    folder_remove(f.path);
}

static bool stop_after(const cairn_progress *progress, void *context)
{
    const int *steps = context;
    return progress->step < *steps;
}

/* Joints in a checkpoint: turns counted, gears slipped, one broken in step 34. */
TEST(a_run_that_went_on_from_a_checkpoint_is_certified)
{
    static const int steps[] = { 20, 40 };
    for (size_t i = 0; i < 2; i++) {
        folder f = folder_create();
        int most = steps[i];
        cairn_scene *scene = scene_text_good(scene_joints_3d, "run.scheme=coulomb");
        const cairn_resume_options options = { .threads = 1 };
        CHECK_OK(cairn_run(scene, f.path, stop_after, &most, NULL, NULL));
        cairn_scene_destroy(scene);
        CHECK_OK(cairn_run_resume(f.path, &options, &scene, NULL, NULL));
        cairn_scene_destroy(scene);
        CHECK_INT(verdict(&f), CERTIFIED);
        CHECK_CONTAINS(file_text(&f, "said.txt"), "certified: 60 steps");
        folder_remove(f.path);
    }
}

/* ---- tampering ------------------------------------------------------------------------------ */

static const target joint_reals[] = {
    { "certificate/joints/point", 1 },
    { "certificate/joints/force", 1 },
    { "certificate/joints/torque", 1 },
    { "certificate/joints/turn", 1 },
    { "certificate/joints/slide", 1 },
    { "certificate/joints/drift", 1 },
    { "certificate/joints/turn_drift", 1 },
    { "certificate/joints/phase", 1 },
    { "certificate/rows/impulse", 1 },
    { "certificate/rows/correction", 1 },
    { "certificate/bodies/x", 1 },
    { "certificate/bodies/omega", 1 },
    { "frames/joints/point", 1 },
    { "frames/joints/force", 1 },
    { "frames/joints/torque", 1 },
    { "frames/joints/turn", 1 },
    { "frames/joints/slide", 1 },
    { "frames/joints/drift", 1 },
    { "frames/joints/turn_drift", 1 },
    { "steps/asked_worst", 1 },
    { "steps/asked_relative", 1 },
    { "steps/asked_fclib", 1 },
    { "steps/elastic", 1 },
    { "steps/motor_work", 1 },
    { "steps/damping_loss", 1 },
    { "steps/friction_loss", 1 },
    { "steps/impact_loss", 1 },
    { "steps/numerical_loss", 1 },
    { "steps/driver_work", 1 },
    { "steps/joint_drift", 1e-3 },
    { "steps/joint_turn_drift", 1e-3 },
    { NULL, 0 },
};

static const char *const joint_integers[] = {
    "certificate/joints/index",
    "certificate/joints/broken",
    "certificate/joint_offset",
    "certificate/rows/joint",
    "certificate/row_offset",
    "frames/joints/index",
    "frames/joints/broken",
    "frames/joint_offset",
    "steps/broken",
    "joints/kind",
    "joints/turn_motor",
    "joints/slide_motor",
    NULL,
};

TEST(no_number_of_joints_in_3d_changes_unnoticed)
{
    folder f = folder_create();
    run_into(&f, scene_joints_3d, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_INT(tamper_with_reals(&f, joint_reals, "nothing", 1), 31);
    CHECK_INT(tamper_with_integers(&f, joint_integers, 1), 12);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

TEST(no_number_of_joints_in_2d_changes_unnoticed)
{
    folder f = folder_create();
    run_into(&f, scene_joints_2d, "run.scheme=moreau-jean");
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_INT(tamper_with_reals(&f, joint_reals, "nothing", 1), 31);
    CHECK_INT(tamper_with_integers(&f, joint_integers, 1), 12);
    folder_remove(f.path);
}

/* What a joint is made of, where its kind uses it. Rows as in scene_joints_3d. */
TEST(what_joints_are_cannot_be_changed)
{
    enum {
        BALL = 1,
        WELD = 3,
        HINGE = 4,
        PISTON = 5,
        SLEEVE = 6,
        SLAB = 8,
        BOLT = 9,
        ROD = 10,
        ROPE = 11,
        GEAR = 14,
        SPRING = 15,
        TORSION = 16,
        BUSHING = 17
    };
    static const struct {
        const char *name;
        hsize_t place;
    } places[] = {
        { "joints/anchor_a", 3 * BALL },
        { "joints/anchor_b", 3 * BALL + 1 },
        { "joints/frame_a", 4 * HINGE },
        { "joints/frame_b", 4 * HINGE + 1 },
        { "joints/length", ROD },
        { "joints/length", ROPE },
        { "joints/pitch", BOLT },
        { "joints/ratio", GEAR },
        { "joints/stiffness", BUSHING },
        { "joints/damping", BUSHING },
        { "joints/turn_stiffness", BUSHING },
        { "joints/turn_damping", BUSHING },
        { "joints/turn_upper", HINGE },
        { "joints/turn_friction", HINGE },
        { "joints/turn_effort", BOLT },
        { "joints/turn_spring", SLAB },
        { "joints/turn_damper", SLEEVE },
        { "joints/turn_rest", TORSION },
        { "joints/slide_lower", SPRING },
        { "joints/slide_upper", PISTON },
        { "joints/slide_friction", PISTON },
        { "joints/slide_effort", PISTON },
        { "joints/slide_spring", SPRING },
        { "joints/slide_damper", SPRING },
        { "joints/slide_rest", SPRING },
        { "certificate/joints/turn_target", 3 * 18 + SLEEVE },
        { "certificate/joints/slide_target", 3 * 18 + PISTON },
    };
    folder f = folder_create();
    run_into(&f, scene_joints_3d, "run.tolerance=1e-10");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double old = swap_number(&f, places[i].name, places[i].place, NULL);
        check_noticed(&f, places[i].name, places[i].place, old + 1e-5 * fmax(1e-2, fabs(old)));
    }
    check_noticed(&f, "joints/break_force", HINGE, 1);
    check_noticed(&f, "joints/body", 2 * ROD, 3);
    check_noticed(&f, "joints/body", 2 * HINGE + 1, -1);
    folder_remove(f.path);
}

GROUP(test_cairn_check_joints)
{
    RUN(CASE(every_kind_of_joint_is_certified_with_every_scheme),
        CASE(options_that_change_the_rows_are_known), CASE(the_scene_of_joints_has_everything),
        CASE(a_run_that_went_on_from_a_checkpoint_is_certified),
        CASE(no_number_of_joints_in_3d_changes_unnoticed),
        CASE(no_number_of_joints_in_2d_changes_unnoticed), CASE(what_joints_are_cannot_be_changed));
}

/* ==== test_cairn_check_surface: cairn-check knows belts, friction with directions, adhesion,
 * rolling and spinning friction, and no number of theirs can be changed without its notice. */

/* A scheme that the laws of a scene do not go with is refused by the run itself. */
static int check_schemes(const char *text)
{
    int certified = 0;
    for (int i = 0; cairn_scheme_name(i); i++) {
        char override[64];
        folder f = folder_create();
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        cairn_scene *scene = NULL;
        cairn_error error = { 0 };
        if (scene_text_load(text, override, &scene, &error) == CAIRN_OK) {
            CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
            if (verdict(&f) != CERTIFIED)
                fail_msg("%s: %s", override, file_text(&f, "said.txt"));
            certified++;
        }
        cairn_scene_destroy(scene);
        folder_remove(f.path);
    }
    return certified;
}

TEST(rolling_and_spinning_are_certified_with_the_schemes_that_treat_them)
{
    CHECK_INT(check_schemes(scene_surface_3d), 4);
    CHECK_INT(check_schemes(scene_surface_2d), 7);
    CHECK_INT(check_schemes(scene_joint_on_belt), 4);
}

TEST(belts_directions_and_adhesion_are_certified_with_every_scheme)
{
    CHECK_INT(check_schemes(scene_sticky), 10);
}

/* ---- tampering ------------------------------------------------------------------------------ */

static const target surface_reals[] = {
    { "certificate/contacts/tangent", 1 },
    { "certificate/contacts/impulse", 1 },
    { "certificate/contacts/velocity", 1 },
    { "certificate/contacts/mu", 1 },
    { "certificate/contacts/mu_2", 1 },
    { "certificate/contacts/adhesion", 1 },
    { "certificate/contacts/mu_rolling", 1e-2 },
    { "certificate/contacts/mu_spinning", 1e-2 },
    { "certificate/contacts/moment", 1e-2 },
    { "certificate/contacts/turning", 1 },
    { "frames/contacts/mu_2", 1 },
    { "frames/contacts/adhesion", 1 },
    { "frames/contacts/mu_rolling", 1 },
    { "frames/contacts/mu_spinning", 1 },
    { "frames/contacts/moment", 1 },
    { "frames/contacts/turning", 1 },
    { "steps/asked_worst", 1 },
    { "steps/asked_relative", 1 },
    { "steps/asked_fclib", 1 },
    { "steps/gap_error", 1e-3 },
    { "steps/complementarity", 1 },
    { "steps/friction_direction", 100 },
    { "steps/dilatation", 1e-3 },
    { "steps/driver_work", 1 },
    { "steps/friction_loss", 1 },
    { "steps/impact_loss", 1 },
    { NULL, 0 },
};

static void tamper(const char *text, const char *override, int tries)
{
    folder f = folder_create();
    run_into(&f, text, override);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK(sum_of(&f, "certificate/contacts/adhesion") > 0);
    CHECK(sum_of(&f, "certificate/contacts/moment") > 0);
    CHECK_INT(tamper_with_reals(&f, surface_reals, "nothing", tries), 26 * tries);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

TEST(no_number_of_contacts_with_moments_changes_unnoticed)
{
    tamper(scene_surface_3d, "run.scheme=coulomb", 2);
    tamper(scene_surface_2d, "run.scheme=convex", 1);
}

/* Laws of pairs, belts and axes. Rows as in scene_surface_3d: wood 0, glue 1. */
TEST(what_surfaces_are_cannot_be_changed)
{
    static const struct {
        const char *name;
        hsize_t place;
    } places[] = {
        { "certificate/friction_2", 0 },       { "certificate/adhesion", 1 },
        { "certificate/rolling_friction", 0 }, { "certificate/spinning_friction", 0 },
        { "bodies/surface_velocity", 0 },      { "bodies/surface_velocity", 3 + 2 },
        { "bodies/friction_axis", 0 },         { "bodies/friction_axis", 3 * 2 + 2 },
    };
    folder f = folder_create();
    run_into(&f, scene_surface_3d, "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double old = swap_number(&f, places[i].name, places[i].place, NULL);
        check_noticed(&f, places[i].name, places[i].place, old + 1e-6 * fmax(1e-2, fabs(old)));
    }
    check_noticed(&f, "certificate/adhesion_range", 1, 1e-9);
    folder_remove(f.path);
}

/* Cones with edges, and impulses that fade to 1e-8 of what would stop the sliding: rounding must not
 * decide which side of the polygon of friction is the nearest one. */
TEST(friction_with_edges_that_fades_is_certified)
{
    static const char *const scene =
        "cairn: 1\n"
        "gravity: [0, 0, 0]\n"
        "materials: {m: {friction: 0.3}}\n"
        "bodies:\n"
        "  - {motion: fixed, material: m, shape: {half_space: {axis: [1, 0, 0]}},\n"
        "     position: [-3, 0, 0]}\n"
        "  - {material: m, shape: &ball {sphere: {radius: 1}}, density: 100,\n"
        "     position: [-2, 0, 0], velocity: [0.046066785, 0.00705198394, 0.068301751]}\n"
        "  - {material: m, shape: *ball, density: 100, position: [0, 0, -0.0053273]}\n"
        "  - {material: m, shape: *ball, density: 1.0e+6, position: [2, 0, 0]}\n"
        "run: {time_step: 5e-3, duration: 0.22, scheme: convex-polyhedral, certificate: full,\n"
        "      paraview: false, picture: false}\n";
    check_verdict(scene, NULL, "certified: 44 steps");
}

GROUP(test_cairn_check_surface)
{
    RUN(CASE(rolling_and_spinning_are_certified_with_the_schemes_that_treat_them),
        CASE(belts_directions_and_adhesion_are_certified_with_every_scheme),
        CASE(no_number_of_contacts_with_moments_changes_unnoticed),
        CASE(what_surfaces_are_cannot_be_changed),
        CASE(friction_with_edges_that_fades_is_certified));
}

/* ==== test_cairn_check_shapes: contacts of solids without a formula for their gap are proved
 * by their points: on both surfaces, with a common normal. */

/* Boxes, capsule, cylinder, cone, ellipsoids, superellipsoid and a ball, in a tube, in a box that
 * shakes, on a floor and on each other. */
static const char *const scene_shapes_3d =
    "cairn: 1\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: half_space}\n"
    "  - {motion: fixed, material: m, shape: {inside_cylinder: {radius: 0.285}}}\n"
    "  - {motion: driven, material: m, shape: {inside_box: {size: [0.55, 0.55, 3]}}, "
    "position: [0, 0, 1.5], drivers: [{shake: {amplitude: [0.03, 0, 0], frequency: 4}}]}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15, 0.1]}}, position: [-0.12, "
    "-0.1, 0.1], orientation: {axis: [1, 2, 3], angle: 0.7}}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15, 0.1], rounding: 0.02}}, "
    "position: [0.12, -0.1, 0.1], orientation: {axis: [3, 1, 1], angle: 0.5}}\n"
    "  - {material: m, mass: 1, shape: {capsule: {radius: 0.05, length: 0.12}}, position: "
    "[-0.12, 0.12, 0.12], orientation: {axis: [3, 1, 0], angle: 1.2}}\n"
    "  - {material: m, mass: 1, shape: {cylinder: {radius: 0.07, height: 0.12}}, position: "
    "[0.12, 0.12, 0.08], orientation: {axis: [3, 1, 0], angle: 0.2}}\n"
    "  - {material: m, mass: 1, shape: {cone: {radius: 0.08, height: 0.14}}, position: "
    "[-0.11, -0.08, 0.27], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.1, 0.07, 0.05]}}, "
    "position: [0.11, -0.08, 0.24], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {superellipsoid: {semi_axes: [0.1, 0.07, 0.05], "
    "exponent: 3, exponent_z: 4}}, position: [0.1, 0.1, 0.24], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {sphere: {radius: 0.06}}, position: [-0.1, 0.1, "
    "0.27], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.08, 0.07, 0.05]}}, "
    "position: [0.05, 0.0, 0.36], velocity: [0, 0, -2]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

static const char *const scene_shapes_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: {half_space: {axis: [0.1, 1]}}}\n"
    "  - {motion: fixed, material: m, shape: {inside_cylinder: {radius: 0.5}}, position: [0, "
    "0.4]}\n"
    "  - {motion: driven, material: m, shape: {inside_box: {size: [0.8, 2]}}, position: [0, "
    "1], drivers: [{shake: {amplitude: [0.02, 0], frequency: 5}}]}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15]}}, position: [0, 0.15], "
    "angle: 0.3}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15], rounding: 0.02}}, position: "
    "[0.27, 0.15], angle: 0.3}\n"
    "  - {material: m, mass: 1, shape: {capsule: {length: 0.15, radius: 0.05, axis: [1, "
    "0]}}, position: [-0.26, 0.19], angle: 0.3}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.1, 0.05]}}, position: [0, "
    "0.32], angle: 0.3, velocity: [0, -1]}\n"
    "  - {material: m, mass: 1, shape: {superellipsoid: {semi_axes: [0.1, 0.05], exponent: "
    "4}}, position: [0.25, 0.34], angle: 0.3, velocity: [0, -1]}\n"
    "  - {material: m, mass: 1, shape: {sphere: {radius: 0.07}}, position: [-0.25, 0.37], "
    "velocity: [0, -1]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

TEST(all_gaps_of_solids_are_proved)
{
    static const char *const overrides[] = { "run.scheme=coulomb", "run.scheme=convex",
                                             "run.scheme=moreau-jean" };
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        check_verdict(scene_shapes_3d, overrides[i], "proved by their points\n");
        check_verdict(scene_shapes_2d, overrides[i], "proved by their points\n");
    }
}

static const target contact_reals[] = {
    { "certificate/contacts/point", 1 },
    { "certificate/contacts/normal", 1 },
    { "certificate/contacts/gap", 0.1 },
    { "steps/penetration", 1 },
    { NULL, 0 },
};

TEST(points_and_normals_cannot_be_changed)
{
    folder f = folder_create();
    run_into(&f, scene_shapes_3d, "run.scheme=coulomb");
    CHECK_INT(tamper_with_reals(&f, contact_reals, "penetration", 5), 15);
    run_into(&f, scene_shapes_2d, "run.scheme=moreau-jean");
    CHECK_INT(tamper_with_reals(&f, contact_reals, "penetration", 5), 15);
    folder_remove(f.path);
}

/* Measures of shapes, by rows of scene_shapes_3d. */
TEST(measures_of_solids_cannot_be_changed)
{
    enum { CYLINDER_WALL = 1, BOX_WALL, BOX, ROUNDED, CAPSULE, CYLINDER, CONE, ELLIPSOID, SUPER };
    static const struct {
        const char *name;
        hsize_t place;
    } places[] = {
        { "bodies/radius", CYLINDER_WALL },
        { "bodies/size", 3 * BOX_WALL },
        { "bodies/size", 3 * BOX },
        { "bodies/size", 3 * BOX + 2 },
        { "bodies/rounding", ROUNDED },
        { "bodies/radius", CAPSULE },
        { "bodies/length", CAPSULE },
        { "bodies/radius", CYLINDER },
        { "bodies/height", CYLINDER },

        { "bodies/semi_axes", 3 * ELLIPSOID },
        { "bodies/semi_axes", 3 * SUPER + 2 },
        { "bodies/exponents", 2 * SUPER },
        { "bodies/exponents", 2 * SUPER + 1 },
        { "bodies/shape_x", 3 * BOX },
        { "bodies/shape_q", 4 * CAPSULE + 1 },
    };
    folder f = folder_create();
    run_into(&f, scene_shapes_3d, "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double old = swap_number(&f, places[i].name, places[i].place, NULL);
        check_noticed(&f, places[i].name, places[i].place, old + 1e-5 * fmax(1e-1, fabs(old)));
    }
    check_noticed(&f, "bodies/radius", CONE, 0.0801); /* rims are found to 2e-5 of the size */
    folder_remove(f.path);
}

/* The cube is 2 m above the floor and touches nothing; 5 m wide it would. */
TEST(a_solid_in_a_wall_must_be_a_contact)
{
    static const char *const scene =
        HEAD "bodies:\n"
             "  - {motion: fixed, shape: half_space}\n"
             "  - {shape: {box: {size: [1, 1, 1]}}, position: [0, 0, 2]}\n";
    folder f = folder_create();
    double large = 5;
    cairn_scene *s = scene_text_good(scene, "run.certificate=full");
    s->run.duration = 5e-3;
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    CHECK_INT(verdict(&f), CERTIFIED);
    swap_number(&f, "bodies/size", 5, &large);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "bodies 1 and 0 overlap by 5.00");
    folder_remove(f.path);
}

GROUP(test_cairn_check_shapes)
{
    RUN(CASE(all_gaps_of_solids_are_proved), CASE(points_and_normals_cannot_be_changed),
        CASE(measures_of_solids_cannot_be_changed), CASE(a_solid_in_a_wall_must_be_a_contact));
}

/* ==== test_trust: cases that other engines are known to get wrong without a word
 * (docs/trust.md): each is run with the full certificate, certified by cairn-check, and
 * measured in what the file holds. */

/* Run a scene of the repository into the folder with overrides, certified by cairn-check. */
static void run_certified_with(const folder *f, const char *name, const char *const *sets,
                               int count)
{
    char file[512];
    cairn_scene *scene = NULL;
    cairn_error error = { 0 };
    snprintf(file, sizeof file, CAIRN_SOURCE_DIR "/scenes/%s.yaml", name);
    if (cairn_scene_load(file, sets, count, &scene, &error) != CAIRN_OK)
        fail_msg("%s: %s", file, error.message);
    scene->run.certificate = "full";
    scene->run.paraview = scene->run.picture = false;
    CHECK_OK(cairn_run(scene, f->path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    if (full_verdict(f) != CERTIFIED)
        fail_msg("%s, %s: %s", name, sets[0], file_text(f, "said.txt"));
}

static void run_certified(const folder *f, const char *name, const char *override)
{
    run_certified_with(f, name, &override, 1);
}

/* A whole dataset; the caller frees it. */
static double *numbers_of(const folder *f, const char *name, size_t *count)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    *count = (size_t)H5Sget_simple_extent_npoints(space);
    double *numbers = malloc((*count + 1) * sizeof *numbers);
    CHECK(numbers != NULL);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return numbers;
}

static double largest(const folder *f, const char *name)
{
    size_t count;
    double most = -INFINITY, *numbers = numbers_of(f, name, &count);
    for (size_t i = 0; i < count; i++)
        most = fmax(most, numbers[i]);
    free(numbers);
    return most;
}

static double total_of(const folder *f, const char *name)
{
    size_t count;
    double sum = 0, *numbers = numbers_of(f, name, &count);
    for (size_t i = 0; i < count; i++)
        sum += numbers[i];
    free(numbers);
    return sum;
}

/* Largest way up (sign 1) or down (-1) of a body from where it was, over all steps, m. */
static double moved(const folder *f, int body, int bodies, double sign)
{
    size_t count;
    double most = 0, *x = numbers_of(f, "certificate/bodies/x", &count);
    for (size_t i = 0; i < count; i += 3 * (size_t)bodies) {
        size_t z = 3 * (size_t)body + 2;
        most = fmax(most, sign * (x[i + z] - x[z]));
    }
    free(x);
    return most;
}

/* 1000 kg on 1 kg on 1 kg for 10 s: 1.5e-9 m of overlap and 1.9e-9 m of sinking were measured. */
TEST(a_heavy_box_does_not_sink_into_light_ones)
{
    static const char *const schemes[] = { "run.scheme=coulomb", "run.scheme=convex" };
    for (size_t i = 0; i < 2; i++) {
        folder f = folder_create();
        run_certified(&f, "trust/heavy_box", schemes[i]);
        CHECK(largest(&f, "steps/penetration") < 5e-9);
        CHECK(moved(&f, 3, 4, -1) < 5e-9);
        CHECK(moved(&f, 1, 4, -1) < 5e-9);
        folder_remove(f.path);
    }
}

TEST(a_sliding_cube_does_not_lift_with_exact_schemes)
{
    static const char *const schemes[] = { "run.scheme=coulomb",         "run.scheme=fixed-point",
                                           "run.scheme=coulomb-newton",  "run.scheme=lcp",
                                           "run.scheme=stewart-trinkle", "run.scheme=auto" };
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        folder f = folder_create();
        run_certified(&f, "trust/sliding_cube", schemes[i]);
        CHECK(moved(&f, 1, 2, 1) < 1e-12);
        CHECK(moved(&f, 1, 2, -1) < 1e-10);
        CHECK(largest(&f, "steps/dilatation") < 1e-12);
        folder_remove(f.path);
    }
}

/* The law asks for u_N = mu |u_T|, so the throw of 2 m/s becomes 0.78 m/s upwards: a gap of
 * h 0.78 m/s = 7.8 mm in the first step, and a flight of 35 mm. Both are told: the gap kept, and the
 * work done in lifting, which is at least m g times the height. */
TEST(the_lift_of_the_convex_law_is_reported)
{
    folder f = folder_create();
    run_certified(&f, "trust/sliding_cube", "run.scheme=convex");
    double height = moved(&f, 1, 2, 1);
    CHECK_NEAR(height, 0.035, 1e-3);
    CHECK_NEAR(largest(&f, "steps/dilatation"), 0.0078038, 1e-6);
    CHECK(total_of(&f, "steps/spurious_work") > 1 * 9.81 * height);
    CHECK(largest(&f, "steps/coulomb_whole") > 1); /* it is not Coulomb's law */
    folder_remove(f.path);
}

/* What is left is the tolerance: 1e-12 of h g in each of 6000 steps is 6e-12 m. */
TEST(a_gripped_ball_does_not_creep_in_a_minute)
{
    folder f = folder_create();
    run_certified(&f, "trust/grip", "run.scheme=coulomb");
    CHECK(moved(&f, 0, 3, -1) < 5e-11);
    CHECK(moved(&f, 0, 3, 1) < 5e-11);
    folder_remove(f.path);
}

/* Poisson's law of restitution, e = 1 and 1/2: energy never grows, from 16.09 J on. */
TEST(walls_add_no_energy)
{
    static const char *const schemes[] = { "run.scheme=coulomb", "run.scheme=convex",
                                           "run.scheme=moreau-jean", "run.scheme=lcp" };
    for (size_t k = 0; k < sizeof schemes / sizeof schemes[0]; k++) {
        folder f = folder_create();
        size_t count;
        run_certified(&f, "trust/walls", schemes[k]);
        double *kinetic = numbers_of(&f, "steps/kinetic", &count), last = 16.087875;
        for (size_t i = 0; i < count; i++) {
            CHECK(kinetic[i] <= last * (1 + 1e-12));
            last = kinetic[i];
        }
        CHECK(last < 12); /* there were impacts with friction */
        free(kinetic);
        folder_remove(f.path);
    }
}

/* Newton's law, u_N+ = -e u_N, is known to: with friction a hit off the centre may come out with
 * more energy than it went in, here by 0.126 J. There it is reduced, which the step counts. */
TEST(newtons_restitution_adds_no_energy_and_is_told)
{
    folder f = folder_create();
    size_t count;
    run_certified(&f, "trust/walls", "materials.hard.restitution_law=newton");
    double *friction = numbers_of(&f, "steps/friction_loss", &count), least = 0, gain = 0;
    double *impact = numbers_of(&f, "steps/impact_loss", &count);
    double *kinetic = numbers_of(&f, "steps/kinetic", &count);
    for (size_t i = 1; i < count; i++) {
        least = fmin(least, friction[i] + impact[i]);
        gain = fmax(gain, kinetic[i] - kinetic[i - 1]);
    }
    CHECK(gain <= 1e-12 * kinetic[0]);
    CHECK(least >= -1e-12 * kinetic[0]);
    CHECK(total_of(&f, "steps/impacts_reduced") > 0);
    free(friction);
    free(impact);
    free(kinetic);
    folder_remove(f.path);
}

/* 12 iterations in the worst step, the first, and less than one in the mean of 1000 steps. */
TEST(a_cube_at_rest_takes_a_few_iterations)
{
    folder f = folder_create();
    run_certified(&f, "trust/still_cube", "run.scheme=coulomb");
    CHECK(largest(&f, "steps/iterations") <= 12);
    CHECK(total_of(&f, "steps/iterations") < 1000);
    CHECK(largest(&f, "steps/kinetic") < 1e-17);
    folder_remove(f.path);
}

/* Every number of every step, not only the end. */
TEST(repeated_runs_are_identical)
{
    static const char *const names[] = { "certificate/bodies/x", "certificate/bodies/v",
                                         "certificate/contacts/impulse", "steps/iterations" };
    folder f = folder_create(), g = folder_create();
    run_certified(&f, "trust/walls", "run.scheme=coulomb");
    run_certified(&g, "trust/walls", "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t count, again;
        double *first = numbers_of(&f, names[i], &count);
        double *second = numbers_of(&g, names[i], &again);
        CHECK_INT(count, again);
        CHECK(count > 0 && memcmp(first, second, count * sizeof *first) == 0);
        free(first);
        free(second);
    }
    folder_remove(f.path);
    folder_remove(g.path);
}

/* ---- the ledger ----------------------------------------------------------------------------- */

/* The largest |change of energy - what the ledger says|, of the largest amount in it. */
static double ledger_gap(const folder *f)
{
    static const struct {
        const char *name;
        double sign;
    } lines[] = {
        { "steps/entered_energy", 1 }, { "steps/load_work", 1 },     { "steps/driver_work", 1 },
        { "steps/motor_work", 1 },     { "steps/correction", 1 },    { "steps/friction_loss", -1 },
        { "steps/impact_loss", -1 },   { "steps/damping_loss", -1 }, { "steps/numerical_loss", -1 },
        { "steps/sleep_loss", -1 },
    };
    static const char *const energies[] = { "steps/kinetic", "steps/potential", "steps/elastic" };
    size_t count;
    double *left = numbers_of(f, "steps/kinetic", &count), most = 0, worst = 0;
    memset(left, 0, count * sizeof *left);
    for (size_t k = 0; k < 3; k++) {
        double *e = numbers_of(f, energies[k], &count);
        for (size_t i = 1; i < count; i++)
            left[i] += e[i] - e[i - 1];
        for (size_t i = 0; i < count; i++)
            most = fmax(most, fabs(e[i]));
        free(e);
    }
    for (size_t k = 0; k < sizeof lines / sizeof lines[0]; k++) {
        double *e = numbers_of(f, lines[k].name, &count);
        for (size_t i = 1; i < count; i++)
            left[i] -= lines[k].sign * e[i];
        free(e);
    }
    for (size_t i = 1; i < count; i++)
        worst = fmax(worst, fabs(left[i]));
    free(left);
    return worst / most;
}

/* Joints with springs, motors and dampers; belts; rolling; adhesion: 3e-14 or less was measured. */
TEST(the_ledger_closes_to_rounding)
{
    static const char *const names[] = { "gripper", "four_bar", "clearance", "rolling_heap_2d",
                                         "pebbles_on_a_belt" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        folder f = folder_create();
        char file[512];
        cairn_scene *scene = NULL;
        cairn_error error = { 0 };
        snprintf(file, sizeof file, CAIRN_SOURCE_DIR "/scenes/%s.yaml", names[i]);
        CHECK_OK(cairn_scene_load(file, NULL, 0, &scene, &error));
        scene->run.paraview = scene->run.picture = false;
        scene->run.duration = 300 * scene->step.time_step;
        CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
        cairn_scene_destroy(scene);
        CHECK(ledger_gap(&f) < 1e-13);
        folder_remove(f.path);
    }
}

/* Overlaps of up to 3.9e-6 m were measured at tolerance 1e-3, and 4.8e-5 m at 0.1, where it sinks by
 * 9.2e-6 m at most. By the natural map alone, which divides a speed of approach by sqrt(1 + mu^2), it
 * moved by 0.099 m. */
TEST(huge_friction_does_not_let_a_box_fall_through_a_slope)
{
    static const char *const fine[] = { "run.scheme=coulomb",
                                        "run.scheme=convex",
                                        "run.scheme=lcp",
                                        "run.scheme=moreau-jean",
                                        "run.scheme=stewart-trinkle",
                                        "run.scheme=fixed-point",
                                        "run.scheme=auto",
                                        "materials.rock={friction: 1, rolling_friction: 1000}",
                                        "materials.rock={friction: 1, spinning_friction: 10000}" };
    static const char *const coarse[] = { "run.scheme=coulomb", "run.scheme=lcp",
                                          "run.scheme=moreau-jean", "run.scheme=stewart-trinkle" };
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        folder f = folder_create();
        run_certified(&f, "trust/rough_slope", fine[i]);
        CHECK(largest(&f, "steps/penetration") < 1e-5);
        folder_remove(f.path);
    }
    for (size_t i = 0; i < sizeof coarse / sizeof coarse[0]; i++) {
        const char *const sets[] = { coarse[i], "materials.rock.friction=10", "run.tolerance=0.1" };
        folder f = folder_create();
        run_certified_with(&f, "trust/rough_slope", sets, 3);
        CHECK(moved(&f, 1, 2, -1) < 2e-5);
        CHECK(largest(&f, "steps/penetration") < 1e-4);
        folder_remove(f.path);
    }
}

GROUP(test_trust)
{
    RUN(CASE(huge_friction_does_not_let_a_box_fall_through_a_slope),
        CASE(a_heavy_box_does_not_sink_into_light_ones),
        CASE(a_sliding_cube_does_not_lift_with_exact_schemes),
        CASE(the_lift_of_the_convex_law_is_reported),
        CASE(a_gripped_ball_does_not_creep_in_a_minute), CASE(walls_add_no_energy),
        CASE(newtons_restitution_adds_no_energy_and_is_told),
        CASE(a_cube_at_rest_takes_a_few_iterations), CASE(repeated_runs_are_identical),
        CASE(the_ledger_closes_to_rounding));
}

/* ==== test_cairn_check_series: what is summed over contacts and bodies ======================== */

/* A number of a column, changed by a millionth of it or of 0.01. */
static void check_column(const char *group, const char *column, hsize_t row, const folder *f)
{
    char name[64];
    snprintf(name, sizeof name, "%s/%s", group, column);
    double old = swap_number(f, name, row, NULL);
    check_noticed(f, name, row, old + 1e-6 * fmax(1e-2, fabs(old)));
}

/* Sets of every kind, a belt, rolling friction, a joint and means: each stored force, torque and
 * work is computed again. */
TEST(series_follow_from_contacts_and_joints)
{
    static const char *const scene =
        "cairn: 1\n"
        "materials: {rock: {friction: 0.4, rolling_friction: 0.01}, wood: {}}\n"
        "bodies:\n"
        "  - {name: floor, motion: fixed, material: rock, shape: {half_space: {}},\n"
        "     surface_velocity: [0, 0.5, 0]}\n"
        "  - {name: low, material: rock, shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}\n"
        "  - {name: high, material: rock, shape: {sphere: {radius: 0.1}}, position: [0.05, 0, "
        "0.3]}\n"
        "  - {name: bob, material: wood, shape: {sphere: {radius: 0.1}}, position: [1, 0, 1]}\n"
        "joints: [ball: {name: pivot, a: bob, anchor: [1.3, 0, 1]}]\n"
        "series:\n"
        "  - {name: floor, bodies: floor}\n"
        "  - {name: rock, material: rock, interval: 0.015}\n"
        "  - {name: upper, low: [-9, -9, 0.2], high: [9, 9, 9]}\n"
        "  - {name: pivot, joint: pivot}\n"
        "  - {name: bob, bodies: bob, about: [1, 2, 0.5]}\n"
        "run: {time_step: 5e-3, duration: 0.1, certificate: full, paraview: false, "
        "picture: false}\n";
    static const char *const columns[] = { "floor/force_z",  "upper/force_x",  "pivot/force_z",
                                           "floor/torque_x", "upper/torque_y", "bob/torque_y",
                                           "pivot/torque_y", "floor/work",     "upper/work",
                                           "pivot/work" };
    folder f = folder_create();
    run_into(&f, scene, NULL);
    CHECK_INT(verdict(&f), CERTIFIED);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        check_column("series", columns[i], 5, &f);
    check_noticed(&f, "series/rock/time", 5, 0.0875);
    folder_remove(f.path);
}

/* Fields integrate to the sums over grains and contacts, whatever is in the single cells; the
 * velocity is compared in each of them. Three balls lean on each other on a floor. */
TEST(fields_integrate_to_mass_momentum_and_stress)
{
    static const char *const scene =
        "cairn: 1\n"
        "bodies:\n"
        "  - {motion: fixed, shape: {half_space: {}}}\n"
        "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0.1, 0.1]}\n"
        "  - {shape: {sphere: {radius: 0.1}}, position: [0.2, 0, 0.1]}\n"
        "  - {shape: {sphere: {radius: 0.1}}, position: [0.1, 0.05, 0.2658]}\n"
        "run: {time_step: 5e-3, duration: 0.02, frame_interval: 0.01, certificate: full, "
        "statistics: [fields], paraview: false, picture: false}\n";
    static const char *const columns[] = { "density",   "momentum_z", "velocity_x",
                                           "stress_xz", "kinetic_zz", "fabric_xy" };
    folder f = folder_create();
    run_into(&f, scene, NULL);
    CHECK_INT(verdict(&f), CERTIFIED);
    hsize_t row = 3 * count_numbers(&f, "statistics/fields/density") / 4; /* of the last frame */
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        check_column("statistics/fields", columns[i], row, &f);
    folder_remove(f.path);
}

GROUP(test_cairn_check_series)
{
    RUN(CASE(series_follow_from_contacts_and_joints),
        CASE(fields_integrate_to_mass_momentum_and_stress));
}
