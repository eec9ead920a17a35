/* test_cairn_check_tampering.c - no stored number can be changed without cairn-check's notice. */
#include "file/hdf5.h"
#include "tests/check/check_runs.h"

/* ==== test_cairn_check_tampering: no stored number can be changed without cairn-check's notice */

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
                    { "tolerance", 0x1p-14 } };
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

GROUP(test_cairn_check_tampering)
{
    RUN(CASE(no_number_of_a_3d_run_changes_unnoticed),
        CASE(no_number_of_a_2d_run_changes_unnoticed), CASE(laws_of_materials_cannot_be_changed),
        CASE(what_bodies_are_cannot_be_changed), CASE(settings_cannot_be_changed));
}

/* ==== test_cairn_check_tampering_schemes: the same as test_cairn_check_tampering.c for schemes
 * that store more: mid-step poses, velocities ahead, marks of exact friction, compressions. */

/* At mid-step the pose of a driven body is what the file says: docs/cairn-check.md. */
TEST(no_number_of_a_mid_step_run_changes_unnoticed)
{
    tamper_with_run(scene_3d, "run.scheme=moreau-jean", "poses", 1);
}

TEST(no_number_of_a_step_that_linearises_ahead_changes_unnoticed)
{
    tamper_with_run(scene_2d, "run.scheme=stewart-trinkle", "nothing", 1);
}

TEST(no_number_of_a_mixed_law_changes_unnoticed)
{
    tamper_with_run(scene_3d, "run.scheme=auto", "nothing", 1);
}

/* How much mu changed last is history: docs/cairn-check.md. */
TEST(no_number_of_impacts_in_two_phases_changes_unnoticed)
{
    tamper_with_run(scene_bounce, "run.scheme=coulomb", "friction_law", 1);
}

GROUP(test_cairn_check_tampering_schemes)
{
    RUN(CASE(no_number_of_a_mid_step_run_changes_unnoticed),
        CASE(no_number_of_a_step_that_linearises_ahead_changes_unnoticed),
        CASE(no_number_of_a_mixed_law_changes_unnoticed),
        CASE(no_number_of_impacts_in_two_phases_changes_unnoticed));
}

/* ==== test_cairn_check_checksums: whatever changes in a run file, cairn-check finds by its
 * checksums: every dataset and every attribute, whether it can be computed again or not. */

/* All groups that a file can have: joints, geometry, names, statistics, frames, the certificate. */
static const char *const scene_all =
    "cairn: 1\n"
    "materials: {rock: {friction: 0.4, rolling_friction: 0.002}, steel: {friction: 0.2}}\n"
    "bodies:\n"
    "  - {name: floor, motion: fixed, material: steel, shape: half_space}\n"
    "  - {name: arm, material: rock, shape: {box: {size: [0.3, 0.06, 0.06]}}, position: [0.3, 0, "
    "0.5]}\n"
    "  - {name: stone, material: rock, position: [1, 0, 0.1], velocity: [-1, 0, 0],\n"
    "     shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]}}}\n"
    "  - {material: rock, shape: {sphere: {radius: 0.1}}, position: [0, 1, 0.1]}\n"
    "joints:\n"
    "  - revolute: {a: arm, anchor: [0.15, 0, 0.5], axis: [0, 1, 0]}\n"
    "run: {time_step: 4e-3, duration: 0.08, frame_interval: 0.02, certificate: full,\n"
    "      statistics: [energy, coordination], checkpoint_every: 0.02, paraview: false,\n"
    "      picture: false}\n";

/* ---- changing one bit of everything --------------------------------------------------------- */

/* Flip a bit of bytes that are all numbers or texts. */
static void flip(unsigned char *bytes, size_t count, uint64_t *state)
{
    bytes[draw(state) % count] ^= (unsigned char)(1u << draw(state) % 8);
}

/* One number of a dataset; false: it has none. */
static bool change_data(hid_t dataset, uint64_t *state)
{
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    size_t bytes = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    unsigned char *data = calloc(bytes + 1, 1);
    if (bytes > 0) {
        CHECK(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
        flip(data, bytes, state);
        CHECK(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    }
    free(data);
    H5Sclose(space);
    H5Tclose(type);
    return bytes > 0;
}

static bool change_attribute(hid_t object, hsize_t which, uint64_t *state)
{
    hid_t attribute =
        H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, which, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    size_t bytes = (size_t)H5Sget_simple_extent_npoints(space) * H5Tget_size(type);
    unsigned char *data = calloc(bytes + 1, 1);
    if (bytes > 0) {
        CHECK(H5Aread(attribute, type, data) >= 0);
        flip(data, bytes, state);
        CHECK(H5Awrite(attribute, type, data) >= 0);
    }
    free(data);
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return bytes > 0;
}

static herr_t count_one(hid_t object, const char *name, const H5A_info_t *info, void *count)
{
    (void)object, (void)name, (void)info;
    ++*(hsize_t *)count;
    return 0;
}

static hsize_t count_attributes(hid_t object)
{
    hsize_t count = 0;
    H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, count_one, &count);
    return count;
}

/* What is changed, and what cairn-check has to say of it. */
typedef struct visit {
    bool attributes;
    uint64_t state;
    int changed;
    char (*paths)[128]; /* of the changed ones */
} visit;

enum { MOST_PATHS = 400 };

static void visit_object(hid_t object, visit *v)
{
    char name[128];
    H5Iget_name(object, name, sizeof name);
    hsize_t attributes = count_attributes(object);
    bool changed = false;
    /* the root's format is what tells that it is a run */
    if (v->attributes && attributes > 0 && strcmp(name, "/") != 0)
        changed = change_attribute(object, draw(&v->state) % attributes, &v->state);
    else if (!v->attributes && H5Iget_type(object) == H5I_DATASET && !strstr(name, "/checksums"))
        changed = change_data(object, &v->state);
    if (!changed)
        return;
    CHECK(v->changed < MOST_PATHS);
    strcpy(v->paths[v->changed++], name);
}

static void visit_all(hid_t object, visit *v)
{
    H5G_info_t about;
    visit_object(object, v);
    if (H5Iget_type(object) == H5I_DATASET)
        return;
    CHECK(H5Gget_info(object, &about) >= 0);
    for (hsize_t i = 0; i < about.nlinks; i++) {
        hid_t member = H5Oopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT);
        visit_all(member, v);
        H5Oclose(member);
    }
}

/* Change something in each object of the file: each is named with these words. */
static int check_each_is_named(const folder *f, bool attributes, uint64_t seed, const char *words)
{
    static char paths[MOST_PATHS][128], said[1 << 17];
    visit v = { attributes, seed, 0, paths };
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t root = H5Gopen2(file, "/", H5P_DEFAULT);
    visit_all(root, &v);
    H5Gclose(root);
    H5Fclose(file);
    CHECK_INT(verdict_of(f, "", "--all"), NOT_CERTIFIED);
    FILE *stream = fopen(path_in(f, "said.txt").text, "rb");
    said[fread(said, 1, sizeof said - 1, stream)] = '\0';
    fclose(stream);
    for (int i = 0; i < v.changed; i++) {
        char line[256];
        snprintf(line, sizeof line, "not certified: %s: %s", paths[i], words);
        if (!strstr(said, line))
            fail_msg("%s was changed unnoticed", paths[i]);
    }
    return v.changed;
}

static void run_all(folder *f)
{
    *f = folder_create();
    run_into(f, scene_all, "run.scheme=coulomb");
    CHECK_INT(full_verdict(f), CERTIFIED);
}

TEST(no_number_of_any_dataset_changes_unnoticed)
{
    folder f;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run_all(&f);
        CHECK(check_each_is_named(&f, false, seed, "its numbers do not agree") >= 190);
        folder_remove(f.path);
    }
}

TEST(no_attribute_of_any_object_changes_unnoticed)
{
    folder f;
    run_all(&f);
    CHECK(check_each_is_named(&f, true, 5, "its kind or its attributes do not agree") >= 200);
    folder_remove(f.path);
}

/* ---- the root -------------------------------------------------------------------------------- */

static void each_attribute_of_the_root(const folder *f, bool (*notices)(const folder *))
{
    uint64_t state = 11;
    for (hsize_t i = 0, count = 1; i < count; i++) {
        uint64_t again;
        hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
        count = count_attributes(file);
        again = state;
        bool changed = change_attribute(file, i, &state);
        H5Fclose(file);
        if (changed && !notices(f))
            fail_msg("attribute %d of the root was changed unnoticed", (int)i);
        file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
        change_attribute(file, i, &again); /* the same bit: as before */
        H5Fclose(file);
    }
}

static bool is_refused(const folder *f)
{
    int code = full_verdict(f);
    return code == NOT_CERTIFIED || code == CANNOT_CHECK;
}

TEST(no_attribute_of_the_root_changes_unnoticed)
{
    folder f;
    run_all(&f);
    each_attribute_of_the_root(&f, is_refused);
    CHECK_INT(full_verdict(&f), CERTIFIED); /* all was put back */
    folder_remove(f.path);
}

/* ---- what is there ---------------------------------------------------------------------------- */

TEST(what_was_taken_away_or_put_in_is_noticed)
{
    folder f;
    run_all(&f);
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, "statistics/energy/kinetic", H5P_DEFAULT) >= 0);
    H5Gclose(H5Gcreate2(file, "mine", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Fclose(file);
    CHECK_INT(full_verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"),
                   "/statistics/energy/kinetic: it has a checksum and is not there");
    CHECK_CONTAINS(file_text(&f, "said.txt"), "/mine: it has no checksum");
    folder_remove(f.path);
}

TEST(a_file_without_its_checksums_is_not_certified)
{
    folder f;
    run_all(&f);
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, "checksums", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    CHECK_INT(full_verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "format_version: the file is of another version");
    folder_remove(f.path);
}

/* ---- runs that were killed -------------------------------------------------------------------- */

static bool kill_at_16(const cairn_progress *progress, void *context)
{
    (void)context;
    if (progress->step == 16)
        _exit(3);
    return true;
}

/* A run that dies after step 16 of 20; the last checkpoint, and with it a flush, is of step 15. */
static void run_and_die(folder *f)
{
    *f = folder_create();
    pid_t child = fork();
    if (child == 0) {
        cairn_scene *scene = scene_text_good(scene_all, NULL);
        cairn_run(scene, f->path, kill_at_16, NULL, NULL, NULL);
        _exit(4);
    }
    int code;
    CHECK(waitpid(child, &code, 0) == child && WIFEXITED(code));
    CHECK_INT(WEXITSTATUS(code), 3);
}

static cairn_status resume(const folder *f, cairn_error *error)
{
    cairn_scene *scene = NULL;
    const cairn_resume_options options = { .threads = 1 };
    cairn_status status = cairn_run_resume(f->path, &options, &scene, NULL, error);
    cairn_scene_destroy(scene);
    return status;
}

TEST(a_run_that_was_killed_has_the_checksums_of_its_last_flush)
{
    folder f;
    run_and_die(&f);
    CHECK_INT(verdict_of(&f, "run.h5.part", ""), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "the run did not end");
    CHECK_CONTAINS(file_text(&f, "said.txt"), "groups and datasets agree");
    CHECK_OK(resume(&f, NULL));
    CHECK_INT(full_verdict(&f), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "certified: 20 steps");
    folder_remove(f.path);
}

TEST(a_run_that_was_killed_and_changed_is_neither_certified_nor_resumed)
{
    folder f;
    cairn_error error = { 0 };
    uint64_t state = 1;
    run_and_die(&f);
    hid_t file = H5Fopen(path_in(&f, "run.h5.part").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, "statistics/energy/kinetic", H5P_DEFAULT);
    CHECK(change_data(dataset, &state));
    H5Dclose(dataset);
    H5Fclose(file);
    CHECK_INT(verdict_of(&f, "run.h5.part", ""), NOT_CERTIFIED);
    CHECK_INT(resume(&f, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "/statistics/energy/kinetic does not agree with its checksum");
    folder_remove(f.path);
}

GROUP(test_cairn_check_checksums)
{
    RUN(CASE(no_number_of_any_dataset_changes_unnoticed),
        CASE(no_attribute_of_any_object_changes_unnoticed),
        CASE(no_attribute_of_the_root_changes_unnoticed),
        CASE(what_was_taken_away_or_put_in_is_noticed),
        CASE(a_file_without_its_checksums_is_not_certified),
        CASE(a_run_that_was_killed_has_the_checksums_of_its_last_flush),
        CASE(a_run_that_was_killed_and_changed_is_neither_certified_nor_resumed));
}

/* ==== test_cairn_check_facts: what a run says about itself follows from the rest of the file, and
 * cairn-check computes it again: checksums are left out here. */

/* Solids of every kind that has a formula, falling apart; statistics of the grains. */
static const char *const scene_solids =
    "cairn: 1\n"
    "bodies:\n"
    "  - {motion: fixed, shape: half_space}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 1]}\n"
    "  - {shape: {box: {size: [0.1, 0.2, 0.3], rounding: 0.02}}, position: [1, 0, 0.15]}\n"
    "  - {shape: {capsule: {radius: 0.1, length: 0.3}}, position: [2, 0, 1]}\n"
    "  - {shape: {cylinder: {radius: 0.1, height: 0.3}}, position: [3, 0, 1]}\n"
    "  - {shape: {cone: {radius: 0.1, height: 0.3}}, position: [4, 0, 1]}\n"
    "  - {shape: {ellipsoid: {semi_axes: [0.1, 0.2, 0.3]}}, position: [5, 0, 1], velocity: [1, 2, "
    "3]}\n"
    "  - {shape: {superellipsoid: {semi_axes: [0.1, 0.2, 0.3], exponent: 3}}, position: [6, 0, "
    "1]}\n"
    "  - {shape: {polyhedron: {points: [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]}},\n"
    "     position: [7, 0, 1]}\n"
    "  - {shape: {compound: {parts: [{shape: {sphere: {radius: 0.1}}, position: [-0.2, 0, 0]},\n"
    "     {shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0.2, 0, 0]}]}}, position: [8, 0, 1]}\n"
    "  - {shape: {box: {size: [0.2, 0.2, 0.2]}}, position: [1.02, 0, 0.4]}\n"
    "run: {time_step: 4e-3, duration: 0.08, frame_interval: 0.02, certificate: full,\n"
    "      statistics: [energy, centre, height, temperature], paraview: false, picture: false}\n";

static void run_solids(folder *f)
{
    *f = folder_create();
    run_into(f, scene_solids, "run.scheme=coulomb");
    if (verdict(f) != CERTIFIED)
        fail_msg("%s", file_text(f, "said.txt"));
}

/* Numbers of each dataset, `apart` from each other, changed by a share of them or of 1. */
static void check_all_noticed(const folder *f, const char *const *names, hsize_t apart,
                              double change)
{
    for (const char *const *name = names; *name; name++) {
        hsize_t count = count_numbers(f, *name);
        if (count == 0)
            fail_msg("there is no %s", *name);
        for (hsize_t i = 0; i < count; i += apart) {
            double old = swap_number(f, *name, i, NULL);
            check_noticed(f, *name, i, old + change * fmax(1, fabs(old)));
        }
    }
}

TEST(volumes_follow_from_shapes)
{
    static const char *const names[] = { "bodies/volume", NULL };
    folder f;
    run_solids(&f);
    CHECK_INT(count_numbers(&f, names[0]), 11);
    check_all_noticed(&f, names, 1, 1e-6);
    folder_remove(f.path);
}

/* No uid may become that of the next row. */
TEST(uids_of_bodies_rise)
{
    folder f;
    run_solids(&f);
    for (hsize_t i = 0; i < 10; i++)
        check_noticed(&f, "bodies/uid", i, (double)i + 1);
    check_noticed(&f, "bodies/uid", 10, 9);
    check_noticed(&f, "bodies/uid", 0, -1);
    folder_remove(f.path);
}

TEST(statistics_follow_from_states_and_steps)
{
    static const char *const names[] = { "statistics/energy/time",
                                         "statistics/energy/kinetic",
                                         "statistics/energy/potential",
                                         "statistics/energy/friction_loss",
                                         "statistics/energy/impact_loss",
                                         "statistics/energy/numerical_loss",
                                         "statistics/centre/time",
                                         "statistics/centre/x",
                                         "statistics/centre/z",
                                         "statistics/centre/vy",
                                         "statistics/centre/mass",
                                         "statistics/height/time",
                                         "statistics/height/mean",
                                         "statistics/height/top",
                                         "statistics/height/bottom",
                                         "statistics/height/spread",
                                         "statistics/temperature/time",
                                         "statistics/temperature/temperature",
                                         "statistics/temperature/z",
                                         "statistics/temperature/speed",
                                         NULL };
    folder f;
    run_solids(&f);
    check_all_noticed(&f, names, 3, 1e-6);
    folder_remove(f.path);
}

/* Steps in which the two boxes touch name their pair; the others none. */
TEST(distances_are_as_promised_and_name_a_pair_that_is_searched_for)
{
    folder f;
    run_solids(&f);
    bool named = false;
    for (hsize_t step = 0; step < 20; step++) {
        double first = swap_number(&f, "steps/distance_body", 2 * step, NULL);
        named = named || first >= 0;
        check_noticed(&f, "steps/distance", step, 0.01);
        check_noticed(&f, "steps/distance", step, -1e-9);
        check_noticed(&f, "steps/distance_body", 2 * step, first < 0 ? 0 : 77);
    }
    CHECK(named);
    folder_remove(f.path);
}

/* An infinite energy on both sides of the ledger balances, and is refused all the same. */
TEST(energies_are_finite)
{
    static const char *const names[] = { "steps/kinetic",     "steps/potential",
                                         "steps/elastic",     "steps/load_work",
                                         "steps/driver_work", "steps/numerical_loss",
                                         "steps/impact_loss", NULL };
    folder f;
    run_solids(&f);
    for (const char *const *name = names; *name; name++) {
        check_noticed(&f, *name, 3, INFINITY);
        check_noticed(&f, *name, 3, NAN);
    }
    folder_remove(f.path);
}

/* ---- the end -------------------------------------------------------------------------------- */

static void set_real(const folder *f, const char *name, double value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
    CHECK(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(attribute);
    H5Fclose(file);
}

/* A text of the root; it gets the length of the text. */
static void set_text(const folder *f, const char *name, const char *value)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK_OK(cairn_hdf5_text(file, name, value, NULL));
    H5Fclose(file);
}

TEST(a_duration_that_the_steps_do_not_fill_is_noticed)
{
    folder f;
    run_solids(&f);
    set_real(&f, "duration", 0.12);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "ending: the steps that are there do not end");
    set_real(&f, "duration", 0.04);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    set_real(&f, "duration", 0.08);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

TEST(an_ending_that_did_not_come_is_noticed)
{
    static const char *const others[] = { "rest", "stopped", "failed", "unfinished", "glorious" };
    folder f;
    run_solids(&f);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        set_text(&f, "ending", others[i]);
        if (verdict(&f) != NOT_CERTIFIED)
            fail_msg("the ending '%s' is believed", others[i]);
    }
    set_text(&f, "ending", "rest"); /* of a longer run, in which bodies fall: they do not rest */
    set_real(&f, "duration", 0.8);
    set_real(&f, "rest_speed", 0.1);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    set_text(&f, "ending", "complete");
    set_real(&f, "duration", 0.08);
    CHECK_INT(verdict(&f), CERTIFIED);
    set_text(&f, "message", "all went wrong");
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    folder_remove(f.path);
}

TEST(a_run_that_came_to_rest_is_certified)
{
    static const char *const scene =
        HEAD "bodies:\n"
             "  - {motion: fixed, shape: half_space}\n"
             "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.1]}\n";
    folder f = folder_create();
    cairn_scene *s = scene_text_good(scene, "run.certificate=full");
    s->run.duration = 100 * s->step.time_step;
    s->run.rest_speed = 1e-3;
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    if (full_verdict(&f) != CERTIFIED)
        fail_msg("%s", file_text(&f, "said.txt"));
    set_text(&f, "ending", "complete");
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    folder_remove(f.path);
}

TEST(another_version_of_the_format_is_noticed)
{
    folder f;
    run_solids(&f);
    set_real(&f, "format_version", 1);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    set_real(&f, "format_version", 2);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    set_real(&f, "format_version", 4);
    CHECK_INT(verdict(&f), CANNOT_CHECK);
    folder_remove(f.path);
}

GROUP(test_cairn_check_facts)
{
    RUN(CASE(volumes_follow_from_shapes), CASE(uids_of_bodies_rise),
        CASE(statistics_follow_from_states_and_steps),
        CASE(distances_are_as_promised_and_name_a_pair_that_is_searched_for),
        CASE(energies_are_finite), CASE(a_duration_that_the_steps_do_not_fill_is_noticed),
        CASE(an_ending_that_did_not_come_is_noticed), CASE(a_run_that_came_to_rest_is_certified),
        CASE(another_version_of_the_format_is_noticed));
}

/* ==== test_cairn_check_periodic: cells, images and the work of shear ========================== */

/* Balls and boxes, dense enough to touch across all faces, in a cell that shears. */
static const char *const scene_cell =
    "cairn: 1\n"
    "gravity: [0, 0, -2]\n"
    "periodic: {axes: [x, y], high: [1, 1, 1], gradient_x: [0, {ramp: {from: 3, to: 6, stop: "
    "0.1}}, "
    "0],\n"
    "  gradient_y: [0, -0.2, 0]}\n"
    "materials: {grain: {friction: 0.3, restitution: 0.2}}\n"
    "bodies: [{motion: fixed, shape: half_space}]\n"
    "generators:\n"
    "  - grid: {count: [4, 4, 1], spacing: [0.25, 0.25, 1], radius: 0.12, origin: [0.9, 0.1, "
    "0.12],\n"
    "      velocity: [1, 1, 0]}\n"
    "  - grid: {count: [4, 4, 1], spacing: [0.25, 0.25, 1], turned: true, seed: 6,\n"
    "      shape: {box: {size: [0.12, 0.1, 0.14]}}, origin: [0.02, 0.225, 0.28], velocity: [-2, 0, "
    "-1]}\n"
    "run: {time_step: 5e-3, duration: 0.2, tolerance: 1e-6, certificate: full, paraview: false,\n"
    "      picture: false}\n";

static const char *const scene_cell_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, 0]\n"
    "periodic: {axes: [x, y], high: [1.2, 1.2], gradient_x: [-0.2, 9], gradient_y: [0, -0.2]}\n"
    "materials: {grain: {friction: 0.3}}\n"
    "generators: [grid: {count: [8, 8], spacing: [0.15, 0.15], origin: [0.05, 0.05],\n"
    "  radius: {uniform: {minimum: 0.06, maximum: 0.074}}, velocity: [0.3, 0.2]}]\n"
    "run: {time_step: 5e-3, duration: 0.2, certificate: full, paraview: false, picture: false}\n";

TEST(periodic_runs_are_certified_with_every_scheme)
{
    static const char *const schemes[] = { "run.scheme=coulomb", "run.scheme=convex",
                                           "run.scheme=moreau-jean", "run.scheme=auto",
                                           "run.scheme=frictionless" };
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        check_verdict(scene_cell, schemes[i], "certified: 40 steps");
        check_verdict(scene_cell_2d, schemes[i], "certified: 40 steps");
    }
    check_verdict(scene_cell_2d, "run.scheme=stewart-trinkle", "certified: 40 steps");
    check_verdict(scene_cell, "run.statistics=[fields]", "certified: 40 steps");
    check_verdict(scene_cell_2d, "run.statistics=[fields]", "certified: 40 steps");
}

/* After 0.1 s gravity is so large that a disk would move further than its size: the run fails in a
 * step at whose beginning disks were put back into the cell, and what it wrote before is certified. */
TEST(a_periodic_run_that_failed_is_certified_up_to_there)
{
    static const char *const heavy =
        "gravity=[{table: {time: [0, 0.1, 0.101], values: [0, 0, 1e9]}}, 0]";
    folder f = folder_create();
    cairn_error error = { 0 };
    cairn_run_summary s;
    cairn_scene *scene = scene_text_good(scene_cell_2d, heavy);
    scene->run.frame_interval = 0.03; /* the last frame is written after the failure */
    CHECK(cairn_run(scene, f.path, NULL, NULL, &s, &error) != CAIRN_OK);
    CHECK_INT(s.steps, 20);
    CHECK_INT(verdict(&f), CERTIFIED);
    cairn_scene_destroy(scene);
    folder_remove(f.path);
}

TEST(cells_and_images_cannot_be_changed)
{
    static const char *const reals[] = { "steps/cell", "steps/cell_rate", "steps/driver_work" };
    static const char *const wholes[] = { "certificate/bodies/image",
                                          "certificate/contacts/image" };
    folder f = folder_create();
    run_into(&f, scene_cell_2d, NULL);
    CHECK_INT(verdict(&f), CERTIFIED);
    for (int k = 0; k < 3; k++) /* edges have 9 numbers a step */
        check_noticed(&f, reals[k], k < 2 ? 9 * 30 : 30,
                      swap_number(&f, reals[k], k < 2 ? 9 * 30 : 30, NULL) + 1e-6);
    for (int k = 0; k < 2; k++) {
        hsize_t place = count_numbers(&f, wholes[k]) / 2;
        check_noticed(&f, wholes[k], place, swap_number(&f, wholes[k], place, NULL) + 1);
    }
    folder_remove(f.path);
}

GROUP(test_cairn_check_periodic)
{
    RUN(CASE(periodic_runs_are_certified_with_every_scheme),
        CASE(a_periodic_run_that_failed_is_certified_up_to_there),
        CASE(cells_and_images_cannot_be_changed));
}

/* ==== test_cairn_check_applied: what a program did between steps is followed ================= */

/* Pushes, strikes, a new pose and another material, in 2D and 3D, with balls that touch. */
static void run_applied(const folder *f, int dimension)
{
    cairn_scene scene = scene_create(dimension);
    cairn_material_def slippery = { .friction = 0.05 };
    cairn_running *run;
    cairn_body_state state;
    cairn_body_id id = { 1 }, other = { 2 };
    bool flat = dimension == 2;
    cairn_vec3 up = { 0, flat, !flat }, side = { 1, 0, 0 }, about = { 0, 0, 0.01 };
    scene.run.certificate = "full";
    scene.step.sleep = true;
    CHECK_OK(cairn_material_create(scene.world, &slippery, NULL));
    CHECK_OK(cairn_run_begin(&scene, f->path, &run, NULL));
    for (int k = 0; cairn_run_goes_on(run); k++) {
        CHECK_OK(cairn_body_push(scene.world, id, side, about));
        if (k == 0 || k == 5)
            CHECK_OK(cairn_body_strike(scene.world, id, side, up));
        if (k == 7)
            CHECK_OK(cairn_body_set_material(scene.world, id, 1));
        CHECK_OK(cairn_body_get(scene.world, other, &state));
        state.x.x += 0.01;
        state.v = side;
        if (k == 9 || k == 10)
            CHECK_OK(cairn_body_put(scene.world, other, &state));
        if (k == 10)
            CHECK_OK(cairn_body_strike(scene.world, other, up, side));
        CHECK_OK(cairn_run_step(run, NULL, NULL));
    }
    CHECK_OK(cairn_run_end(&run, NULL, NULL));
    scene_destroy(&scene);
}

TEST(a_run_that_its_program_changed_is_certified)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        folder f = folder_create();
        run_applied(&f, dimension);
        if (full_verdict(&f) != CERTIFIED)
            fail_msg("%dD: %s", dimension, file_text(&f, "said.txt"));
        folder_remove(f.path);
    }
}

/* Each number of a change, and the energy that it gave, is checked by what followed from it. */
TEST(changes_that_are_not_true_are_noticed)
{
    static const struct {
        const char *name;
        hsize_t place;
        double value;
    } lies[] = { { "certificate/changes/x", 3 * 4, 1.5 },  { "certificate/changes/v", 0, 1e-6 },
                 { "certificate/changes/omega", 1, 1e-4 }, { "certificate/changes/material", 2, 0 },
                 { "certificate/changes/body", 0, 3 },     { "certificate/change_offset", 1, 0 },
                 { "certificate/loads/force", 0, 1.001 },  { "steps/changed", 0, 0 },
                 { "steps/applied_energy", 0, 0 } };
    for (size_t k = 0; k < sizeof lies / sizeof lies[0]; k++) {
        folder f = folder_create();
        run_applied(&f, 3);
        swap_number(&f, lies[k].name, lies[k].place, &lies[k].value);
        int code = verdict(&f);
        if (code != NOT_CERTIFIED && code != CANNOT_CHECK)
            fail_msg("%s: %s", lies[k].name, file_text(&f, "said.txt"));
        folder_remove(f.path);
    }
}

GROUP(test_cairn_check_applied)
{
    RUN(CASE(a_run_that_its_program_changed_is_certified),
        CASE(changes_that_are_not_true_are_noticed));
}
