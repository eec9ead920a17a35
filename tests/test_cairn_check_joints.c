/* test_cairn_check_joints.c - cairn-check computes the rows of every kind of joint again, with every
 * scheme, and no number of theirs can be changed without its notice. */
#include "check_more_runs.h"

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

int main(void)
{
    RUN(CASE(every_kind_of_joint_is_certified_with_every_scheme),
        CASE(options_that_change_the_rows_are_known), CASE(the_scene_of_joints_has_everything),
        CASE(a_run_that_went_on_from_a_checkpoint_is_certified),
        CASE(no_number_of_joints_in_3d_changes_unnoticed),
        CASE(no_number_of_joints_in_2d_changes_unnoticed), CASE(what_joints_are_cannot_be_changed));
}
