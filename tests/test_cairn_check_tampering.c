/* test_cairn_check_tampering.c - no stored number can be changed without cairn-check's notice. */
#include "check_tampering.h"

TEST(no_number_of_a_3d_run_changes_unnoticed)
{
    tamper_with_run(scene_3d, "run.scheme=coulomb", "nothing", 2);
}

TEST(no_number_of_a_2d_run_changes_unnoticed)
{
    tamper_with_run(scene_2d, "run.scheme=convex", "nothing", 1);
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
        CASE(no_number_of_a_2d_run_changes_unnoticed), CASE(laws_of_materials_cannot_be_changed),
        CASE(what_bodies_are_cannot_be_changed), CASE(settings_cannot_be_changed));
}
