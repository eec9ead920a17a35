/* test_cairn_check_checksums.c - whatever changes in a run file, cairn-check finds by its checksums:
 * every dataset and every attribute, whether it can be computed again or not. */
#include "check_tampering.h"

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

int main(void)
{
    RUN(CASE(no_number_of_any_dataset_changes_unnoticed),
        CASE(no_attribute_of_any_object_changes_unnoticed),
        CASE(no_attribute_of_the_root_changes_unnoticed),
        CASE(what_was_taken_away_or_put_in_is_noticed),
        CASE(a_file_without_its_checksums_is_not_certified),
        CASE(a_run_that_was_killed_has_the_checksums_of_its_last_flush),
        CASE(a_run_that_was_killed_and_changed_is_neither_certified_nor_resumed));
}
