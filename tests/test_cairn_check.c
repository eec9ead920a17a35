/* test_cairn_check.c - the program cairn-check: it certifies what the library computed, with every
 * scheme in 2D and 3D, and no stored number can be changed without its notice. Its exit code is
 * what is tested; CAIRN_CHECK names it. */
#include <sys/wait.h>

#include "scene_text.h"

#include "io/run_output.h"
#include "run_scene.h"

enum { CERTIFIED = 0, NOT_CERTIFIED = 1, CANNOT_CHECK = 2 };

/* Everything there is, short: curved walls, restitution, loads, drivers, an inlet, unequal inertia,
 * a particle. All that moves touches and spins within the 60 steps. */
static const char *const scene_3d =
    "cairn: 1\n"
    "materials:\n"
    "  rock: {friction: 0.4, restitution: 0.3}\n"
    "  steel: {friction: 0.2, restitution: 0.6}\n"
    "pairs: [{materials: [rock, steel], friction: 0.35, restitution: 0.5}]\n"
    "bodies:\n"
    "  - {motion: fixed, material: steel, shape: {inside_cone: {half_angle: 1.0}}}\n"
    "  - {motion: fixed, material: steel, shape: {inside_cylinder: {radius: 0.2}}}\n"
    "  - motion: driven\n"
    "    material: steel\n"
    "    shape: {funnel: {bottom_radius: 0.12, top_radius: 0.25, height: 0.2}}\n"
    "    position: [0, 0, 0.4]\n"
    "    drivers: [{rotation: {angular_velocity: [0.3, 0.2, 1]}}]\n"
    "  - motion: driven\n"
    "    material: rock\n"
    "    shape: {half_space: {axis: [-1, 0, 0.2]}}\n"
    "    position: [0.08, 0, 0]\n"
    "    drivers: [{shake: {amplitude: [0.05, 0, 0], frequency: 5}}]\n"
    "  - {material: rock, shape: {sphere: {radius: 0.08}}, density: 2000, position: [0.01, 0, "
    "0.16],\n"
    "     angular_velocity: [1, 2, 3],\n"
    "     loads: [{sine: {force: [30, 10, 0], torque: [0.1, 0.2, 0.3], frequency: 4}}]}\n"
    "  - {material: rock, shape: {sphere: {radius: 0.07}}, mass: 2, inertia: [0.004, 0.006, "
    "0.009],\n"
    "     position: [0.02, 0.01, 0.32], velocity: [0, 0, -1], angular_velocity: [5, 1, 8],\n"
    "     loads: [{constant: {torque: [0.05, 0.01, 0.02]}}]}\n"
    "  - {material: rock, shape: point, mass: 0.1, position: [0.1, 0.05, 0.1], velocity: [0, 1, "
    "-1]}\n"
    "generators:\n"
    "  - pour: {count: 3, rate: 200, centre: [0, 0, 0.57], size: [0.3, 0.3, 0.04], radius: 0.03,\n"
    "           velocity: [0, 0, -2], material: rock}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full,\n"
    "      paraview: false, picture: false}\n";

static const char *const scene_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials: {a: {friction: 0.3, restitution: 0.4}, b: {friction: 0.6}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: a, shape: {inside_cone: {half_angle: 0.8}}}\n"
    "  - {motion: driven, material: b, shape: {inside_cylinder: {radius: 0.5}}, position: [0, "
    "0.5],\n"
    "     drivers: [{rotation: {angular_velocity: 1}}]}\n"
    "  - {motion: driven, material: a, position: [0, 0.9],\n"
    "     shape: {funnel: {bottom_radius: 0.12, top_radius: 0.4, height: 0.2}},\n"
    "     drivers: [{shake: {amplitude: [0.05, 0.02], frequency: 3}}]}\n"
    "  - {material: a, shape: {sphere: {radius: 0.1}}, density: 100, position: [0.01, 0.2],\n"
    "     angular_velocity: 3, loads: [{constant: {force: [2, 1], torque: 0.1}}]}\n"
    "  - {material: b, shape: {sphere: {radius: 0.08}}, mass: 2, position: [0.03, 0.4],\n"
    "     velocity: [0, -2], angular_velocity: -1}\n"
    "  - {material: b, shape: point, mass: 1, position: [-0.3, 0.3], velocity: [-1, 0]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full,\n"
    "      paraview: false, picture: false}\n";

/* Run a scene into the folder, with one override (NULL: none). */
static void run_into(const folder *f, const char *text, const char *override)
{
    cairn_scene *scene = scene_text_good(text, override);
    cairn_error error = { 0 };
    if (cairn_run(scene, f->path, NULL, NULL, NULL, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    cairn_scene_destroy(scene);
}

/* What the program says of the run in the folder: its exit code; its words go to said.txt. */
static int verdict(const folder *f)
{
    char command[1024];
    const char *program = getenv("CAIRN_CHECK");
    CHECK(program != NULL);
    snprintf(command, sizeof command, "'%s' '%s' >'%s/said.txt' 2>&1", program, f->path, f->path);
    int code = system(command);
    CHECK(code >= 0 && WIFEXITED(code));
    return WEXITSTATUS(code);
}

/* Whether the program knows the scheme; if so its run must be certified. */
static bool is_certified(const char *text, const char *override)
{
    folder f = folder_create();
    run_into(&f, text, override);
    int code = verdict(&f);
    const char *said = file_text(&f, "said.txt");
    bool known = code != CANNOT_CHECK || !strstr(said, "is not known here");
    if (known && (code != CERTIFIED || !strstr(said, "certified: 60 steps")))
        fail_msg("%s: %s", override, said);
    folder_remove(f.path);
    return known;
}

TEST(runs_of_every_scheme_are_certified)
{
    char override[64];
    int certified = 0;
    for (int i = 0; cairn_scheme_name(i); i++) {
        snprintf(override, sizeof override, "run.scheme=%s", cairn_scheme_name(i));
        certified += is_certified(scene_3d, override) && is_certified(scene_2d, override);
    }
    CHECK(certified >= 8); /* all that docs/cairn-check.md names */
}

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
};

/* Whole numbers: changed by 1, or to the other value of two. */
static const char *const integers[] = {
    "certificate/bodies/index",
    "certificate/contacts/body",
    "certificate/contacts/feature",
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
    "steps/converged",
};

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* One number of a dataset, as a double: read it, and when `value` differs write it. */
static double swap_number(const folder *f, const char *name, hsize_t place, const double *value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    hsize_t extent[2] = { 1, 1 }, at[2], one = 1;
    int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    double old;
    CHECK(rank == 1 || rank == 2);
    at[0] = rank == 2 ? place / extent[1] : place;
    at[1] = rank == 2 ? place % extent[1] : 0;
    hid_t memory = H5Screate_simple(1, &one, NULL);
    CHECK(H5Sselect_elements(space, H5S_SELECT_SET, 1, at) >= 0);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &old) >= 0);
    if (value)
        CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return old;
}

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
            bool flag = strstr(integers[t], "converged") != NULL;
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
    CHECK(tamper_with_integers(&f, tries) == 16 * tries);
    CHECK_INT(verdict(&f), CERTIFIED); /* all was put back */
    folder_remove(f.path);
}

TEST(no_number_of_a_3d_run_changes_unnoticed)
{
    tamper(scene_3d, "run.scheme=coulomb", "nothing", 2);
}

TEST(no_number_of_a_2d_run_changes_unnoticed)
{
    tamper(scene_2d, "run.scheme=convex", "nothing", 2);
}

/* At mid-step the pose of a driven body is what the file says: docs/cairn-check.md. */
TEST(no_number_of_a_mid_step_run_changes_unnoticed)
{
    tamper(scene_3d, "run.scheme=moreau-jean", "poses", 1);
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

/* ---- what else a file can be --------------------------------------------------------------- */

/* Only the search for overlaps sees this: the particle that touches nothing becomes a large ball. */
TEST(a_pair_that_was_left_out_is_found)
{
    static const char *const scene =
        HEAD "bodies:\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0]}\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [1, 0, 0]}\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [2, 0, 0]}\n";
    folder f = folder_create();
    double large = 0.95;
    cairn_scene *s = scene_text_good(scene, "run.certificate=full");
    s->run.duration = 5e-3;
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    CHECK_INT(verdict(&f), CERTIFIED);
    swap_number(&f, "bodies/radius", 1, &large);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "not certified: step 1: candidates: bodies 0 and 1 ");
    CHECK_CONTAINS(file_text(&f, "said.txt"), "bodies 1 and 2 overlap by 5.000e-02 m");
    folder_remove(f.path);
}

TEST(a_finding_tells_step_contact_and_both_numbers)
{
    folder f = folder_create();
    double gap = 0.25;
    run_into(&f, scene_2d, "run.scheme=coulomb");
    swap_number(&f, "certificate/contacts/gap", 0, &gap);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "contact 0: gap: stored 0.25, recomputed ");
    folder_remove(f.path);
}

TEST(a_summary_is_checked_as_far_as_it_goes)
{
    folder f = folder_create();
    double old, loss = 1;
    run_into(&f, scene_2d, "run.certificate=summary");
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "the run keeps a summary");
    old = swap_number(&f, "steps/friction_loss", 30, &loss);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "step 31: kinetic + potential by the ledger");
    swap_number(&f, "steps/friction_loss", 30, &old);
    run_into(&f, scene_2d, "run.certificate=off");
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "certificate: off");
    folder_remove(f.path);
}

TEST(a_step_that_missed_its_tolerance_is_not_certified)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_3d, "run.scheme=coulomb");
    scene->step.solver = "pgs";
    scene->step.max_iterations = 1;
    scene->step.tolerance = 1e-9;
    CHECK_OK(cairn_run(scene, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(scene);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "the step missed its tolerance");
    folder_remove(f.path);
}

/* What a crash leaves: a file without its end. */
TEST(a_run_that_did_not_end_is_checked_as_far_as_it_goes)
{
    folder f = folder_create();
    cairn_scene *scene = scene_text_good(scene_2d, "run.scheme=coulomb");
    cairn_run_output output;
    cairn_step_report report;
    CHECK_OK(cairn_run_output_create(f.path, scene, &output, NULL));
    CHECK_OK(cairn_run_output_frame(&output, 0, NULL));
    for (int64_t step = 1; step <= 12; step++) {
        CHECK_OK(cairn_world_step(scene->world, &scene->step, &report));
        CHECK_OK(cairn_run_output_step(&output, step, &report, NULL));
    }
    CHECK_OK(cairn_run_file_flush(output.file, NULL));
    cairn_run_output_destroy(&output); /* not committed */
    cairn_scene_destroy(scene);
    CHECK_INT(rename(path_in(&f, "run.h5.part").text, path_in(&f, "run.h5").text), 0);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "certified: 12 steps");
    CHECK_CONTAINS(file_text(&f, "said.txt"), "the run did not end");
    folder_remove(f.path);
}

TEST(what_is_no_run_is_refused)
{
    folder f = folder_create();
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "cannot be opened");
    file_write(&f, "run.h5", "cairn run");
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    folder_remove(f.path);
}

/* Cut anywhere, or with bytes overwritten: some exit code of ours, never a crash. */
TEST(damaged_files_do_no_harm)
{
    folder f = folder_create();
    uint64_t state = 11;
    struct stat about;
    run_into(&f, scene_2d, "run.duration=0.04");
    CHECK_INT(stat(path_in(&f, "run.h5").text, &about), 0);
    for (int i = 0; i < 20; i++) {
        FILE *file = fopen(path_in(&f, "run.h5").text, "r+b");
        fseek(file, (long)(draw(&state) % (uint64_t)about.st_size), SEEK_SET);
        for (int k = 0; k < 8; k++)
            fputc((int)(draw(&state) % 256), file);
        fclose(file);
        CHECK(verdict(&f) <= CANNOT_CHECK);
    }
    CHECK_INT(truncate(path_in(&f, "run.h5").text, about.st_size / 2), 0);
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(runs_of_every_scheme_are_certified), CASE(no_number_of_a_3d_run_changes_unnoticed),
        CASE(no_number_of_a_2d_run_changes_unnoticed),
        CASE(no_number_of_a_mid_step_run_changes_unnoticed),
        CASE(what_bodies_are_cannot_be_changed), CASE(settings_cannot_be_changed),
        CASE(a_pair_that_was_left_out_is_found),
        CASE(a_finding_tells_step_contact_and_both_numbers),
        CASE(a_summary_is_checked_as_far_as_it_goes),
        CASE(a_step_that_missed_its_tolerance_is_not_certified),
        CASE(a_run_that_did_not_end_is_checked_as_far_as_it_goes), CASE(what_is_no_run_is_refused),
        CASE(damaged_files_do_no_harm));
}
