/* test_cairn_check_surface.c - cairn-check knows belts, friction with directions, adhesion, rolling
 * and spinning friction, and no number of theirs can be changed without its notice. */
#include "check_more_runs.h"

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

static double sum_of(const folder *f, const char *name)
{
    double sum = 0;
    for (hsize_t i = 0, count = count_numbers(f, name); i < count; i++)
        sum += fabs(swap_number(f, name, i, NULL));
    return sum;
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

int main(void)
{
    RUN(CASE(rolling_and_spinning_are_certified_with_the_schemes_that_treat_them),
        CASE(belts_directions_and_adhesion_are_certified_with_every_scheme),
        CASE(no_number_of_contacts_with_moments_changes_unnoticed),
        CASE(what_surfaces_are_cannot_be_changed));
}
