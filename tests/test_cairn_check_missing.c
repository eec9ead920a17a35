/* test_cairn_check_missing.c - contacts that are taken out of a run, and penetrations that are changed,
 * are noticed by cairn-check from the shapes alone. */
#include "check_tampering.h"

/* ---- contacts taken out --------------------------------------------------------------------- */

/* Solids of every kind fall into a box, on each other. Mid-step contacts overlap as bodies hit. */
static const char *const scene_pile =
    "cairn: 1\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: {inside_box: {size: [0.5, 0.5, 3]}}, position: [0, 0, "
    "1.5]}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15, 0.1]}}, position: [-0.12, -0.1, "
    "0.15], orientation: {axis: [1, 2, 3], angle: 0.7}, velocity: [0, 0, -2]}\n"
    "  - {material: m, mass: 1, shape: {capsule: {radius: 0.05, length: 0.12}}, position: [-0.1, "
    "0.12, 0.15], velocity: [0, 0, -2]}\n"
    "  - {material: m, mass: 1, shape: {cylinder: {radius: 0.07, height: 0.12}}, position: [0.12, "
    "0.12, 0.1], orientation: {axis: [3, 1, 0], angle: 0.4}, velocity: [0, 0, -2]}\n"
    "  - {material: m, mass: 1, shape: {polyhedron: {points: [[0.1, 0.1, 0.1], [0.1, -0.1, -0.1], "
    "[-0.1, 0.1, -0.1], [-0.1, -0.1, 0.1]]}}, position: [0.12, -0.1, 0.15], velocity: [0, 0, -2]}\n"
    "  - {material: m, mass: 1, shape: {cone: {radius: 0.08, height: 0.14}}, position: [-0.11, "
    "-0.08, 0.32], velocity: [0, 0, -3]}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.1, 0.07, 0.05]}}, position: "
    "[0.11, -0.08, 0.34], velocity: [0, 0, -3]}\n"
    "  - {material: m, mass: 1, shape: {superellipsoid: {semi_axes: [0.1, 0.07, 0.05], exponent: "
    "3, exponent_z: 4}}, position: [0.1, 0.1, 0.3], velocity: [0, 0, -3]}\n"
    "  - {material: m, density: 800, shape: {compound: {parts: [{shape: {box: {size: [0.2, 0.05, "
    "0.05]}}}, {shape: {sphere: {radius: 0.06}}, position: [0.1, 0, 0]}]}}, position: [-0.05, "
    "0.08, 0.5], velocity: [0, 0, -4]}\n"
    "run: {scheme: moreau-jean, time_step: 4e-3, duration: 0.24, certificate: full, paraview: "
    "false, picture: false}\n";

enum { MOST_ROWS = 16384 };

/* The contacts of a run: which bodies, how deep, and where steps begin. */
typedef struct listing {
    double body[2 * MOST_ROWS], gap[MOST_ROWS], offset[1024];
    int contacts, steps;
} listing;

static hsize_t read_whole(hid_t file, const char *name, double *out, hsize_t room)
{
    hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    hsize_t count = (hsize_t)H5Sget_simple_extent_npoints(space);
    CHECK(count <= room);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    return count;
}

static void list_run(const folder *f, listing *out)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDONLY, H5P_DEFAULT);
    read_whole(file, "certificate/contacts/body", out->body, 2 * MOST_ROWS);
    out->contacts = (int)read_whole(file, "certificate/contacts/gap", out->gap, MOST_ROWS);
    out->steps = (int)read_whole(file, "certificate/contact_offset", out->offset, 1024) - 1;
    H5Fclose(file);
}

/* A dataset of contacts without the rows [first, end). */
static herr_t drop_rows(hid_t group, const char *name, const H5L_info_t *info, void *context)
{
    const int *range = context;
    static double values[16 * MOST_ROWS];
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT), space = H5Dget_space(dataset);
    hsize_t extent[2] = { 1, 1 };
    (void)info;
    int rank = H5Sget_simple_extent_dims(space, extent, NULL);
    size_t width = rank == 2 ? extent[1] : 1;
    CHECK(extent[0] * width <= sizeof values / sizeof values[0]);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    memmove(values + (size_t)range[0] * width, values + (size_t)range[1] * width,
            (extent[0] - (size_t)range[1]) * width * sizeof *values);
    extent[0] -= (hsize_t)(range[1] - range[0]);
    CHECK(H5Dset_extent(dataset, extent) >= 0);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    return 0;
}

/* Take rows [first, end), all of one step, out of the contacts. */
static void remove_contacts(const folder *f, listing *l, int step, int first, int end)
{
    int range[2] = { first, end };
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t group = H5Gopen2(file, "certificate/contacts", H5P_DEFAULT);
    CHECK(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, NULL, drop_rows, range) >= 0);
    H5Gclose(group);
    hid_t offsets = H5Dopen2(file, "certificate/contact_offset", H5P_DEFAULT);
    for (int k = step; k <= l->steps; k++)
        l->offset[k] -= end - first;
    CHECK(H5Dwrite(offsets, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, l->offset) >= 0);
    H5Dclose(offsets);
    H5Fclose(file);
    double left = swap_number(f, "steps/candidates", (hsize_t)(step - 1), NULL) - (end - first);
    swap_number(f, "steps/candidates", (hsize_t)(step - 1), &left);
}

static void copy_file(const char *from, const char *to)
{
    char command[1024];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    CHECK_INT(system(command), 0);
}

/* The pair of contact j and its neighbours: rows [range[0], range[1]), and its least gap. */
static double pair_of(const listing *l, int step, int j, int range[2])
{
    int begin = (int)l->offset[step - 1], end = (int)l->offset[step];
    double least = HUGE_VAL;
    range[0] = range[1] = j;
    for (int i = begin; i < end; i++)
        if (l->body[2 * i] == l->body[2 * j] && l->body[2 * i + 1] == l->body[2 * j + 1]) {
            range[0] = i < range[0] ? i : range[0];
            range[1] = i + 1 > range[1] ? i + 1 : range[1];
            least = fmin(least, l->gap[i]);
        }
    return least;
}

/* Pairs that overlap by more than any promise about gaps (2e-5 of the size) are drawn at random, and
 * all their contacts in one step are taken out: the program names step and pair. */
TEST(contacts_of_any_pair_that_are_taken_out_are_missed)
{
    static listing l;
    folder f = folder_create();
    uint64_t state = 11;
    int removed = 0;
    run_into(&f, scene_pile, NULL);
    path whole = path_in(&f, "run.h5"), kept = path_in(&f, "kept.h5");
    copy_file(whole.text, kept.text);
    for (int turn = 0; turn < 4000 && removed < 25; turn++) {
        int range[2], step = 1;
        list_run(&f, &l);
        int j = (int)(draw(&state) % (uint64_t)l.contacts);
        while (l.offset[step] <= j)
            step++;
        double gap = pair_of(&l, step, j, range);
        int a = (int)l.body[2 * j], b = (int)l.body[2 * j + 1];
        if (gap > -2e-5 || (b == 0 && draw(&state) % 4)) /* most contacts are with the box */
            continue;
        remove_contacts(&f, &l, step, range[0], range[1]);
        char words[160];
        bool turned = b != 0 && b < a;
        snprintf(words, sizeof words, "step %d: candidates: bodies %d and %d overlap by", step,
                 turned ? b : a, turned ? a : b);
        const char *said = said_of(&f);
        if (!strstr(said, words) || !strstr(said, "evaluated and are no contact"))
            fail_msg("contacts %d to %d of bodies %d and %d, overlapping by %g, taken out of step "
                     "%d: %s",
                     range[0], range[1] - 1, a, b, -gap, step, said);
        copy_file(kept.text, whole.text);
        removed++;
    }
    CHECK_INT(removed, 25);
    folder_remove(f.path);
}

/* ---- a wedge -------------------------------------------------------------------------------- */

/* A plank lies on the right wall of a wedge, from 0.8 m to 1.2 m from the apex. Made 0.9 m longer at
 * its lower end it lies as before, but that end is 0.1 m beyond the apex and so 0.1 sin(1.8) =
 * 0.09738 m in the left wall. */
TEST(each_wall_of_a_wedge_needs_its_contact)
{
    static const char *const scene =
        "cairn: 1\n"
        "dimension: 2\n"
        "gravity: [0, -9.81]\n"
        "materials: {m: {friction: 1}}\n"
        "bodies:\n"
        "  - {motion: fixed, material: m, shape: {inside_cone: {half_angle: 0.9}}}\n"
        "  - {material: m, mass: 1, inertia: 0.1, shape: {box: {size: [0.4, 0.1]}}, angle: "
        "0.6707963267948966, position: [0.7522464110, 0.6607762985]}\n"
        "run: {time_step: 4e-3, duration: 0.02, certificate: full, paraview: false, picture: "
        "false}\n";
    folder f = folder_create();
    double length = 1.3, middle = -0.45;
    run_into(&f, scene, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"),
                   "gaps: 0 computed again, 10 proved by their points\n");
    swap_number(&f, "bodies/size", 3, &length);
    swap_number(&f, "bodies/shape_x", 3, &middle);
    const char *said = said_of(&f);
    CHECK_CONTAINS(said, "step 1: candidates: bodies 1 and 0 overlap by 9.738e-02 m where");
    CHECK_CONTAINS(said, "evaluated and are no contact");
    CHECK_CONTAINS(said, "after the step and are no contact");
    CHECK_CONTAINS(said, "penetration: stored");
    CHECK(!strstr(said, "step 1, contact")); /* what there is, is right */
    folder_remove(f.path);
}

/* ---- the penetration ------------------------------------------------------------------------ */

/* Solids of every kind in a shaken box, on each other and, for 2D, in a wedge; overlaps stay. */
static const char *const scene_wedge =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials: {m: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: {inside_cone: {half_angle: 0.8}}}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15]}}, position: [0.2, 0.6], angle: "
    "0.3}\n"
    "  - {material: m, mass: 1, shape: {capsule: {length: 0.15, radius: 0.05, axis: [1, 0]}}, "
    "position: [-0.2, 0.6], angle: 0.8}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.1, 0.05]}}, position: [0, "
    "0.7]}\n"
    "  - {material: m, mass: 1, shape: {polyhedron: {points: [[0, 0], [0.2, 0], [0.1, 0.15]]}}, "
    "position: [0, 0.9]}\n"
    "run: {time_step: 4e-3, duration: 0.4, certificate: full, overlaps: keep, paraview: false, "
    "picture: false}\n";

/* What a step says is a tenth more or less than it is. */
static void change_penetrations(const folder *f, int tries)
{
    uint64_t state = 5;
    hsize_t steps = count_numbers(f, "steps/penetration");
    int changes = 0;
    for (int turn = 0; turn < 2000 && changes < tries; turn++) {
        hsize_t step = draw(&state) % steps;
        double old = swap_number(f, "steps/penetration", step, NULL);
        if (old < 2e-4)
            continue;
        check_noticed(f, "steps/penetration", step, changes % 2 ? 0.9 * old : 1.1 * old);
        changes++;
    }
    CHECK_INT(changes, tries);
}

TEST(a_penetration_cannot_be_changed)
{
    folder f = folder_create();
    run_into(&f, scene_wedge, "run.tolerance=0.1");
    CHECK_INT(verdict(&f), CERTIFIED);
    change_penetrations(&f, 8);
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(contacts_of_any_pair_that_are_taken_out_are_missed),
        CASE(each_wall_of_a_wedge_needs_its_contact), CASE(a_penetration_cannot_be_changed));
}
