/* test_cairn_check_tampering.c - no stored number can be changed without cairn-check's notice. */
#include "check_runs.h"

/* ---- tampering ------------------------------------------------------------------------------ */

/* A dataset whose every number is checked; a change is a millionth of `scale` or of the number. */
typedef struct target {
    const char *name;
    double scale;
} target;

static const target reals[] = {
    { "certificate/bodies/x", 1 },
    { "certificate/bodies/q", 1 },
    { "certificate/bodies/v", 1 },
    { "certificate/bodies/omega", 1 },
    { "certificate/bodies/angle", 1 },
    { "certificate/contacts/point", 1 },
    { "certificate/contacts/normal", 1 },
    { "certificate/contacts/tangent", 1 },
    { "certificate/contacts/gap", 0.1 },
    { "certificate/contacts/impulse", 1 },
    { "certificate/contacts/velocity", 1 },
    { "certificate/contacts/mu", 1 },
    { "certificate/contacts/restitution", 1 },
    { "certificate/contacts/bias", 1 },
    { "certificate/contacts/compression", 1 },
    { "certificate/contacts/correction", 1 },
    { "certificate/guesses/v", 1 },
    { "certificate/loads/force", 1 },
    { "certificate/loads/torque", 1 },
    { "certificate/poses/x", 1 },
    { "certificate/poses/q", 1 },
    { "frames/time", 1 },
    { "frames/bodies/x", 1 },
    { "frames/bodies/q", 1 },
    { "frames/bodies/v", 1 },
    { "frames/bodies/omega", 1 },
    { "frames/bodies/angle", 1 },
    { "frames/contacts/point", 1 },
    { "frames/contacts/normal", 1 },
    { "frames/contacts/tangent", 1 },
    { "frames/contacts/gap", 1 },
    { "frames/contacts/impulse", 1 },
    { "frames/contacts/velocity", 1 },
    { "frames/contacts/mu", 1 },
    { "steps/time", 1 },
    { "steps/penetration", 1e-3 },
    { "steps/gap_error", 1e-3 },
    { "steps/cone_violation", 1 },
    { "steps/friction_direction", 100 },
    { "steps/complementarity", 1 },
    { "steps/dilatation", 1e-3 },
    { "steps/spurious_work", 1 },
    { "steps/friction_law", 1 },
    { "steps/linearisation_error", 1e-3 },
    { "steps/asked_worst", 1 },
    { "steps/asked_relative", 1 },
    { "steps/asked_fclib", 1 },
    { "steps/coulomb_worst", 1 },
    { "steps/coulomb_relative", 1 },
    { "steps/coulomb_fclib", 1 },
    { "steps/judge_cone_violation", 1 },
    { "steps/kinetic", 1 },
    { "steps/potential", 1 },
    { "steps/entered_energy", 1 },
    { "steps/load_work", 1 },
    { "steps/driver_work", 1 },
    { "steps/friction_loss", 1 },
    { "steps/impact_loss", 1 },
    { "steps/numerical_loss", 1 },
    { "steps/correction", 1 },
};

/* Whole numbers: changed by 1, or to the other value of two. */
static const char *const integers[] = {
    "certificate/bodies/index",
    "certificate/contacts/body",
    "certificate/contacts/feature",
    "certificate/contacts/exact",
    "certificate/guesses/body",
    "certificate/loads/body",
    "certificate/poses/body",
    "certificate/body_offset",
    "certificate/contact_offset",
    "frames/step",
    "frames/body_offset",
    "frames/bodies/index",
    "frames/contacts/body",
    "steps/step",
    "steps/candidates",
    "steps/active",
    "steps/entered",
    "steps/upgraded",
    "steps/converged",
};

/* Numbers in a dataset; 0: there is no such dataset. */
static hsize_t count_numbers(const folder *f, const char *name)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    hsize_t count = 0;
    if (H5Lexists(file, name, H5P_DEFAULT) > 0) {
        hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
        count = (hsize_t)H5Sget_simple_extent_npoints(space);
        H5Sclose(space);
        H5Dclose(dataset);
    }
    H5Fclose(file);
    return count;
}

/* Change one number, see that it is noticed, put it back. */
static void check_noticed(const folder *f, const char *name, hsize_t place, double new)
{
    double old = swap_number(f, name, place, &new);
    int code = verdict(f);
    if (code == CERTIFIED)
        fail_msg("%s[%llu] changed from %.17g to %.17g unnoticed", name, (unsigned long long)place,
                 old, new);
    swap_number(f, name, place, &old);
}

/* `tries` numbers of each dataset: the first is changed a lot, the others a little. */

static int tamper_with_reals(const folder *f, const char *left_out, int tries)
{
    uint64_t state = 7;
    int changes = 0;
    for (size_t t = 0; t < sizeof reals / sizeof reals[0]; t++) {
        hsize_t count = count_numbers(f, reals[t].name);
        if (strstr(reals[t].name, left_out))
            count = 0;
        for (int i = 0; i < tries && count > 0; i++, changes++) {
            hsize_t place = draw(&state) % count;
            double old = swap_number(f, reals[t].name, place, NULL);
            double step = 1e-6 * fmax(fabs(old), reals[t].scale);
            double small = old + (draw(&state) % 2 ? step : -step);
            check_noticed(f, reals[t].name, place, i ? small : -1.5 * old + reals[t].scale);
        }
    }
    return changes;
}

static int tamper_with_integers(const folder *f, int tries)
{
    uint64_t state = 3;
    int changes = 0;
    for (size_t t = 0; t < sizeof integers / sizeof integers[0]; t++) {
        hsize_t count = count_numbers(f, integers[t]);
        for (int i = 0; i < tries && count > 0; i++, changes++) {
            hsize_t place = draw(&state) % count;
            double old = swap_number(f, integers[t], place, NULL);
            bool flag = strstr(integers[t], "converged") || strstr(integers[t], "exact");
            check_noticed(f, integers[t], place, flag ? 1 - old : i % 2 ? old - 1 : old + 1);
        }
    }
    return changes;
}

static void tamper(const char *text, const char *override, const char *left_out, int tries)
{
    folder f = folder_create();
    run_into(&f, text, override);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK(tamper_with_reals(&f, left_out, tries) >= 45 * tries);
    CHECK(tamper_with_integers(&f, tries) >= 15 * tries);
    CHECK_INT(verdict(&f), CERTIFIED); /* all was put back */
    folder_remove(f.path);
}

TEST(no_number_of_a_3d_run_changes_unnoticed)
{
    tamper(scene_3d, "run.scheme=coulomb", "nothing", 2);
}

TEST(no_number_of_a_2d_run_changes_unnoticed)
{
    tamper(scene_2d, "run.scheme=convex", "nothing", 1);
}

/* At mid-step the pose of a driven body is what the file says: docs/cairn-check.md. */
TEST(no_number_of_a_mid_step_run_changes_unnoticed)
{
    tamper(scene_3d, "run.scheme=moreau-jean", "poses", 1);
}

TEST(no_number_of_a_step_that_linearises_ahead_changes_unnoticed)
{
    tamper(scene_2d, "run.scheme=stewart-trinkle", "nothing", 1);
}

TEST(no_number_of_a_mixed_law_changes_unnoticed)
{
    tamper(scene_3d, "run.scheme=auto", "nothing", 1);
}

/* How much mu changed last is history: docs/cairn-check.md. */
TEST(no_number_of_impacts_in_two_phases_changes_unnoticed)
{
    tamper(scene_bounce, "run.scheme=coulomb", "friction_law", 1);
}

TEST(laws_of_materials_cannot_be_changed)
{
    static const struct {
        const char *name;
        hsize_t place;
    } places[] = {
        { "certificate/friction", 1 },   { "certificate/restitution", 1 },
        { "certificate/poisson", 1 },    { "certificate/law_first", 1 },
        { "certificate/law_second", 1 }, { "certificate/laws", 1 },
        { "certificate/laws", 7 + 2 },   { "certificate/laws", 7 + 3 },
        { "certificate/laws", 7 + 4 },   { "certificate/laws", 7 + 5 },
        { "certificate/law_points", 1 },
    };
    folder f = folder_create();
    run_into(&f, scene_bounce, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double old = swap_number(&f, places[i].name, places[i].place, NULL);
        bool whole = strstr(places[i].name, "law_first") || strstr(places[i].name, "law_second") ||
                     strstr(places[i].name, "poisson");
        check_noticed(&f, places[i].name, places[i].place,
                      whole ? (old == 0) : old + 1e-6 * fmax(1e-2, old));
    }
    folder_remove(f.path);
}

/* Properties of bodies, where something shows them. Rows as in scene_3d. */
TEST(what_bodies_are_cannot_be_changed)
{
    static const struct {
        const char *name;
        hsize_t place;
    } places[] = {
        { "bodies/half_angle", 0 },
        { "bodies/radius", 1 },
        { "bodies/bottom_radius", 2 },
        { "bodies/top_radius", 2 },
        { "bodies/height", 2 },
        { "bodies/axis", 0 },
        { "bodies/axis", 3 * 3 + 1 },
        { "bodies/radius", 4 },
        { "bodies/radius", 5 },
        { "bodies/mass", 4 },
        { "bodies/mass", 5 },
        { "bodies/mass", 6 },
        { "bodies/inertia", 3 * 4 },
        { "bodies/inertia", 16 },
        { "bodies/inertia", 17 },
        { "bodies/shape", 0 },
        { "bodies/shape", 5 },
        { "bodies/motion", 4 },
        { "bodies/material", 4 },
        { "bodies/mass", 7 },
        { "bodies/radius", 8 },
        { "certificate/friction", 1 },
        { "certificate/restitution", 2 },
    };
    folder f = folder_create();
    run_into(&f, scene_3d, "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double old = swap_number(&f, places[i].name, places[i].place, NULL);
        bool whole = strstr(places[i].name, "shape") || strstr(places[i].name, "motion") ||
                     strstr(places[i].name, "material");
        check_noticed(&f, places[i].name, places[i].place,
                      whole ? old + 1 : old + 1e-6 * fmax(1e-2, old));
    }
    folder_remove(f.path);
}

/* Multiply the numbers of a root attribute. */
static void scale_attribute(const folder *f, const char *name, double factor)
{
    double numbers[3] = { 0, 0, 0 };
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    CHECK(H5Aread(attribute, H5T_NATIVE_DOUBLE, numbers) >= 0);
    for (int k = 0; k < 3; k++)
        numbers[k] *= factor;
    CHECK(H5Awrite(attribute, H5T_NATIVE_DOUBLE, numbers) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
}

TEST(settings_cannot_be_changed)
{
    static const struct {
        const char *name;
        double factor;
    } changes[] = { { "time_step", 1.25 },
                    { "stabilisation", 0.5 },
                    { "gravity", 1.25 },
                    { "initial_energy", 1.25 },
                    { "tolerance", 0.0078125 } };
    folder f = folder_create();
    run_into(&f, scene_3d, "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        scale_attribute(&f, changes[i].name, changes[i].factor);
        if (verdict(&f) != NOT_CERTIFIED)
            fail_msg("%s was changed unnoticed", changes[i].name);
        scale_attribute(&f, changes[i].name, 1 / changes[i].factor);
    }
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(no_number_of_a_3d_run_changes_unnoticed),
        CASE(no_number_of_a_2d_run_changes_unnoticed),
        CASE(no_number_of_a_mid_step_run_changes_unnoticed),
        CASE(no_number_of_a_step_that_linearises_ahead_changes_unnoticed),
        CASE(no_number_of_a_mixed_law_changes_unnoticed),
        CASE(no_number_of_impacts_in_two_phases_changes_unnoticed),
        CASE(laws_of_materials_cannot_be_changed), CASE(what_bodies_are_cannot_be_changed),
        CASE(settings_cannot_be_changed));
}
