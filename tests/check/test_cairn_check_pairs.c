/* test_cairn_check_pairs.c - cairn-check looks at shapes itself: every pair, every contact, none
 * missing. */
#include "tests/check/check_runs.h"

/* ==== test_cairn_check_pairs: cairn-check looks at every pair of shapes itself: what overlaps
 * must be a contact, and the penetration of a step is the deepest overlap of any pair. */

/* ---- every pair of shapes ------------------------------------------------------------------- */

/* All of them reach 0.05 m or more around their origins, and less than 0.25 m. */
static const char *const solids_3d[] = {
    "{sphere: {radius: 0.1}}",
    "{box: {size: [0.2, 0.16, 0.18]}}",
    "{box: {size: [0.2, 0.16, 0.18], rounding: 0.02}}",
    "{capsule: {radius: 0.06, length: 0.12}}",
    "{cylinder: {radius: 0.09, height: 0.2}}",
    "{cone: {radius: 0.1, height: 0.24}}",
    "{ellipsoid: {semi_axes: [0.1, 0.08, 0.07]}}",
    "{superellipsoid: {semi_axes: [0.1, 0.08, 0.07], exponent: 4, exponent_z: 3}}",
    "{polyhedron: {points: [[0.1, 0.1, 0.1], [0.1, -0.1, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, "
    "0.1]]}}",
    "{polyhedron: {points: [[0.1, 0.1, 0.1], [0.1, -0.1, -0.1], [-0.1, 0.1, -0.1], [-0.1, -0.1, "
    "0.1]], rounding: 0.02}}",
    "{mesh: {file: pairs_octahedron.obj}}",
    "{compound: {parts: [{shape: {box: {size: [0.3, 0.1, 0.1]}}}, {shape: {sphere: {radius: "
    "0.08}}, position: [0.1, 0.1, 0]}]}}",
};

static const char *const solids_2d[] = {
    "{sphere: {radius: 0.1}}",
    "{box: {size: [0.2, 0.16]}}",
    "{box: {size: [0.2, 0.16], rounding: 0.02}}",
    "{capsule: {radius: 0.06, length: 0.12, axis: [1, 0]}}",
    "{ellipsoid: {semi_axes: [0.1, 0.08]}}",
    "{superellipsoid: {semi_axes: [0.1, 0.08], exponent: 4}}",
    "{polyhedron: {points: [[0.12, 0], [-0.08, 0.1], [-0.08, -0.1]]}}",
    "{polyline: {points: [[-0.1, -0.1], [0.1, -0.1], [0, 0.15]], closed: true}}",
    "{compound: {parts: [{shape: {box: {size: [0.3, 0.1]}}}, {shape: {sphere: {radius: 0.08}}, "
    "position: [0.1, 0.1]}]}}",
};

/* What stands still, and where a solid that stood at (x, 0, 0) is put to overlap with it: at `to`, with
 * its x where it has to keep it. */
typedef struct fixed_shape {
    const char *shape, *position;
    double to[3];
    bool keeps_x;
} fixed_shape;

static const fixed_shape walls_3d[] = {
    { "half_space", "[0, 0, -2]", { 0, 0, -2.02 }, true },
    { "{inside_box: {size: [200, 2, 2]}}", "[0, 0, 0]", { 0, 0.98, 0 }, true },
    { "{inside_cylinder: {radius: 1, axis: [1, 0, 0]}}", "[0, 0, 0]", { 0, 0.7, 0.7 }, true },
    { "{inside_cone: {half_angle: 0.7854, axis: [1, 0, 0]}}", "[0, 0, 0]", { 0.2, 0.2, 0 }, false },
    { "{height_field: {spacing: 0.5, heights: [[0, 0, 0], [0, 0.01, 0], [0, 0, 0]]}}",
      "[0, 0, -1]",
      { 0.3, 0.2, -0.98 },
      false },
    { "{mesh: {file: pairs_sheet.obj}}", "[0, 0, -1]", { 0.3, 0, -0.92 }, false },
};

static const fixed_shape walls_2d[] = {
    { "half_space", "[0, -2]", { 0, -2.02, 0 }, true },
    { "{inside_box: {size: [200, 2]}}", "[0, 0]", { 0, 0.98, 0 }, true },
    { "{inside_cylinder: {radius: 100}}", "[0, 0]", { 0, 100, 0 }, true },
    { "{inside_cone: {half_angle: 0.7854, axis: [1, 0]}}", "[0, 0]", { 0.2, 0.2, 0 }, false },
    { "{polyline: {points: [[1, 0.2], [0, 0], [-1, 0.2]]}}", "[0, -1]", { 0.3, -0.92, 0 }, false },
};

static void write_pair_meshes(void)
{
    const char *const names[] = { "pairs_octahedron.obj", "pairs_sheet.obj" };
    const char *const texts[] = {
        "v 0.1 0 0\nv -0.1 0 0\nv 0 0.1 0\nv 0 -0.1 0\nv 0 0 0.1\nv 0 0 -0.1\n"
        "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n",
        "v -1 -1 0.2\nv 0 -1 0\nv 1 -1 0.2\nv -1 1 0.2\nv 0 1 0\nv 1 1 0.2\n"
        "f 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 5\n",
    };
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(names[i], "w");
        CHECK(file != NULL);
        fputs(texts[i], file);
        fclose(file);
    }
}

/* One step without gravity: the fixed shape, and all solids, 3 m apart. */
static void run_row(const folder *f, const fixed_shape *wall, const char *const *solids, int count,
                    int dimension)
{
    static char text[16384];
    bool flat = dimension == 2;
    int n = snprintf(text, sizeof text,
                     "cairn: 1\ndimension: %d\ngravity: %s\nbodies:\n"
                     "  - {motion: fixed, shape: %s, position: %s}\n",
                     dimension, flat ? "[0, 0]" : "[0, 0, 0]", wall->shape, wall->position);
    for (int i = 0; i < count; i++)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  - {shape: %s, position: [%d, %s], mass: 1, inertia: %s}\n", solids[i],
                      3 * (i + 1), flat ? "0" : "0, 0", flat ? "0.01" : "[0.01, 0.01, 0.01]");
    snprintf(text + n, sizeof text - (size_t)n,
             "run: {time_step: 1e-3, duration: 1e-3, certificate: full, paraview: false, picture: "
             "false}\n");
    run_into(f, text, NULL);
}

/* One row of three of an open dataset: read it, then write another. */
static void swap_row(hid_t dataset, hsize_t row, const double *to, double *old)
{
    const hsize_t at[2] = { row, 0 }, one[2] = { 1, 3 };
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(2, one, NULL);
    CHECK(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, old) >= 0);
    CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, to) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
}

/* Solid i of a row of `count` stands at the same place before and after its one step: both change.
 * `old` is where it was. */
static void put_at(const folder *f, int i, int count, const double *to, double *old)
{
    hid_t file = H5Fopen(path_in(f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, "certificate/bodies/x", H5P_DEFAULT);
    swap_row(dataset, (hsize_t)i, to, old);
    swap_row(dataset, (hsize_t)(count + 1 + i), to, old);
    H5Dclose(dataset);
    H5Fclose(file);
}

/* Solid i is put where it overlaps with the fixed shape, of which no contact speaks. */
static void put_into(const folder *f, const fixed_shape *wall, int i, int count)
{
    const double to[3] = { wall->keeps_x ? 3 * i : wall->to[0], wall->to[1], wall->to[2] };
    double from[3], moved[3];
    put_at(f, i, count, to, from);
    char turned[64], plain[64];
    snprintf(plain, sizeof plain, "bodies 0 and %d overlap by ", i);
    snprintf(turned, sizeof turned, "bodies %d and 0 overlap by ", i);
    const char *said = said_of(f);
    bool both = strstr(said, "evaluated and have no contact") &&
                strstr(said, "after the step and have no contact") &&
                strstr(said, "penetration: stored 0, recomputed between ");
    if (!both || (!strstr(said, plain) && !strstr(said, turned)))
        fail_msg("%s and solid %d: %s", wall->shape, i, said);
    put_at(f, i, count, from, moved);
}

static void check_row(const fixed_shape *wall, const char *const *solids, int count, int dimension,
                      int first)
{
    folder f = folder_create();
    write_pair_meshes();
    run_row(&f, wall, solids, count, dimension);
    if (verdict(&f) != CERTIFIED)
        fail_msg("%s: %s", wall->shape, file_text(&f, "said.txt"));
    for (int i = 1 + first; i <= count; i += CHECKED ? 5 : 1)
        put_into(&f, wall, i, count);
    CHECK_INT(verdict(&f), CERTIFIED); /* all was put back */
    folder_remove(f.path);
}

enum {
    SOLIDS_3D = sizeof solids_3d / sizeof solids_3d[0],
    SOLIDS_2D = sizeof solids_2d / sizeof solids_2d[0]
};

TEST(two_solids_that_overlap_must_be_a_contact)
{
    for (int i = 0; i < SOLIDS_3D; i++)
        check_row(&(fixed_shape){ solids_3d[i], "[0, 0, 0]", { 0.1, 0.02, 0.01 }, false },
                  solids_3d, SOLIDS_3D, 3, i);
}

TEST(two_solids_that_overlap_must_be_a_contact_in_2d)
{
    for (int i = 0; i < SOLIDS_2D; i++)
        check_row(&(fixed_shape){ solids_2d[i], "[0, 0]", { 0.1, 0.02, 0 }, false }, solids_2d,
                  SOLIDS_2D, 2, i);
}

TEST(a_solid_in_any_wall_must_be_a_contact)
{
    for (size_t i = 0; i < sizeof walls_3d / sizeof walls_3d[0]; i++)
        check_row(&walls_3d[i], solids_3d, SOLIDS_3D, 3, 0);
    for (size_t i = 0; i < sizeof walls_2d / sizeof walls_2d[0]; i++)
        check_row(&walls_2d[i], solids_2d, SOLIDS_2D, 2, 0);
}

/* Grids have cells by the size of bodies: 1 mm beside 2.8 m. */
TEST(a_small_body_in_a_large_one_must_be_a_contact)
{
    static const char *const solids[] = { "{box: {size: [0.001, 0.001, 0.001]}}",
                                          "{box: {size: [0.3, 0.3, 0.3]}}" };
    check_row(&(fixed_shape){ "{box: {size: [2.8, 2, 2]}}", "[0, 0, 0]", { 1.4, 0, 0 }, false },
              solids, 2, 3, 0);
}

/* How deep, as it is told: by a little less, what may be off. */
static void check_depth(const fixed_shape *wall, const char *solid, double depth)
{
    folder f = folder_create();
    double old[3], told;
    const double to[3] = { wall->to[0], wall->to[1], wall->to[2] };
    run_row(&f, wall, &solid, 1, 3);
    put_at(&f, 1, 1, to, old);
    const char *said = said_of(&f), *words = strstr(said, " overlap by ");
    if (!words || sscanf(words, " overlap by %lf", &told) != 1)
        fail_msg("%s and %s: %s", wall->shape, solid, said);
    CHECK_NEAR(told, depth, 1e-5 + 5e-4 * depth); /* it is told with four digits */
    folder_remove(f.path);
}

TEST(depths_are_what_a_hand_finds)
{
    static const char *const cylinder = "{cylinder: {radius: 0.09, height: 0.2}}";
    static const char *const capsule = "{capsule: {radius: 0.06, length: 0.12}}";
    static const char *const box = "{box: {size: [0.2, 0.16, 0.18]}}";
    static const char *const ellipsoid = "{ellipsoid: {semi_axes: [0.1, 0.08, 0.07]}}";
    /* half of both sizes, less the distance */
    check_depth(&(fixed_shape){ box, "[0, 0, 0]", { 0.18, 0.01, 0.02 }, false }, box, 0.02);
    check_depth(&(fixed_shape){ capsule, "[0, 0, 0]", { 0.1, 0, 0.05 }, false }, capsule, 0.02);
    check_depth(&(fixed_shape){ cylinder, "[0, 0, 0]", { 0.148, 0, 0 }, false }, capsule, 0.002);
    check_depth(&(fixed_shape){ ellipsoid, "[0, 0, 0]", { 0, 0.15, 0 }, false }, ellipsoid, 0.01);
    check_depth(&(fixed_shape){ solids_3d[10], "[0, 0, 0]", { 0, 0, 0.19 }, false },
                "{sphere: {radius: 0.1}}", 0.01);
    /* a tube about x: the rim of a cylinder about z is highest at y = 0.09, z = 0.95 + 0.1 */
    check_depth(
        &(fixed_shape){
            "{inside_cylinder: {radius: 1, axis: [1, 0, 0]}}", "[0, 0, 0]", { 0, 0, 0.95 }, false },
        cylinder, sqrt(1.05 * 1.05 + 0.09 * 0.09) - 1);
    /* a cone of 45 degrees: the lower ball of an upright capsule is 0.2 m from the axis, 0.14 m above
     * the apex, and so 0.06/sqrt(2) behind the wall with its centre */
    check_depth(&(fixed_shape){ "{inside_cone: {half_angle: 0.7853981633974483}}",
                                "[0, 0, -10]",
                                { 0.2, 0, -9.8 },
                                false },
                capsule, 0.06 * sqrt(0.5) + 0.06);
}

GROUP(test_cairn_check_pairs)
{
    RUN(CASE(two_solids_that_overlap_must_be_a_contact),
        CASE(two_solids_that_overlap_must_be_a_contact_in_2d),
        CASE(a_solid_in_any_wall_must_be_a_contact),
        CASE(a_small_body_in_a_large_one_must_be_a_contact), CASE(depths_are_what_a_hand_finds));
}

/* ==== test_cairn_check_missing: contacts that are taken out of a run, and penetrations that
 * are changed, are noticed by cairn-check from the shapes alone. */

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
        if (!strstr(said, words) || !strstr(said, "evaluated and have no contact"))
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
    CHECK_CONTAINS(said, "evaluated and have no contact");
    CHECK_CONTAINS(said, "after the step and have no contact");
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

GROUP(test_cairn_check_missing)
{
    RUN(CASE(contacts_of_any_pair_that_are_taken_out_are_missed),
        CASE(each_wall_of_a_wedge_needs_its_contact), CASE(a_penetration_cannot_be_changed));
}

/* ==== test_cairn_check_geometry: contacts of hulls, meshes, height fields, polylines and compounds
 * are proved by their points, with the geometry that the file has. */

/* A closed octahedron, and an open sheet bent along its middle. */
static const char *const octahedron =
    "v 0.1 0 0\nv -0.1 0 0\nv 0 0.1 0\nv 0 -0.1 0\nv 0 0 0.1\nv 0 0 -0.1\n"
    "f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
static const char *const sheet =
    "v -1 -1 0.2\nv 0 -1 0\nv 1 -1 0.2\nv -1 1 0.2\nv 0 1 0\nv 1 1 0.2\n"
    "f 1 2 5\nf 1 5 4\nf 2 3 6\nf 2 6 5\n";

/* Hulls, one rounded, compounds of balls, boxes, cylinders, hulls and a mesh, two meshes, a ball, an
 * ellipsoid and a box, on a height field, in a tube, in a box that shakes. */
static const char *const scene_all_3d =
    "cairn: 1\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: {height_field: {spacing: 0.25, heights: [[0.02, 0.1, "
    "0, 0.1], [0, 0.05, 0.1, 0], [0.1, 0, 0.08, 0.1], [0, 0.1, 0, 0.05]]}}}\n"
    "  - {motion: fixed, material: m, shape: {inside_cylinder: {radius: 0.37}}}\n"
    "  - {motion: driven, material: m, shape: {inside_box: {size: [0.7, 0.7, 3]}}, position: [0, "
    "0, 1.4], drivers: [{shake: {amplitude: [0.03, 0, 0], frequency: 4}}]}\n"
    "  - {material: m, mass: 1, shape: {polyhedron: {points: [[0, 0, 0], [0.15, 0, 0], [0, 0.12, "
    "0], [0, 0, 0.1], [0.1, 0.1, 0.1]]}}, position: [-0.12, -0.1, 0.2], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {polyhedron: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, "
    "0], [0, 0, 0.1]], rounding: 0.02}}, position: [0.12, -0.1, 0.2], velocity: [0, 0, -1]}\n"
    "  - {material: m, density: 500, position: [-0.1, 0.16, 0.2], velocity: [0, 0, -1],\n"
    "     shape: {compound: {parts: [{shape: {box: {size: [0.2, 0.04, 0.04]}}},\n"
    "      {shape: {sphere: {radius: 0.05}}, position: [0.1, 0, 0]},\n"
    "      {shape: {cylinder: {radius: 0.03, height: 0.1}}, position: [-0.1, 0, 0]}]}}}\n"
    "  - {material: m, density: 500, shape: {mesh: {file: octahedron.obj}}, position: [0.12, 0.12, "
    "0.3], velocity: [0, 0, -1]}\n"
    "  - {material: m, density: 500, shape: {mesh: {file: octahedron.obj}}, position: [0.14, 0.1, "
    "0.52], velocity: [0, 0, -2]}\n"
    "  - {material: m, density: 500, position: [-0.1, -0.05, 0.5], velocity: [0, 0, -2],\n"
    "     shape: {compound: {parts: [{shape: {mesh: {file: octahedron.obj}}},\n"
    "      {shape: {polyhedron: {points: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}}, "
    "position: [0.05, 0, 0.05]}]}}}\n"
    "  - {material: m, mass: 0.5, shape: {sphere: {radius: 0.06}}, position: [0, -0.25, 0.2], "
    "velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 0.5, shape: {ellipsoid: {semi_axes: [0.08, 0.05, 0.04]}}, position: "
    "[0.2, -0.1, 0.42], velocity: [0, 0, -2]}\n"
    "  - {material: m, mass: 0.5, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [0, 0.05, 0.4], "
    "velocity: [0, 0, -2]}\n"
    "run: {time_step: 4e-3, duration: 0.2, frame_interval: 0.02, certificate: full, paraview: "
    "false, picture: false}\n";

static const char *const scene_all_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: {polyline: {points: [[-1, 0.3], [-0.3, 0], [0.3, "
    "0.05], [1, 0.3]]}}}\n"
    "  - {motion: fixed, material: m, shape: {inside_cylinder: {radius: 0.5}}, position: [0, "
    "0.45]}\n"
    "  - {material: m, mass: 1, shape: {polyhedron: {points: [[0, 0], [0.2, 0], [0.1, 0.15]]}}, "
    "position: [-0.1, 0.15], velocity: [0, -1]}\n"
    "  - {material: m, mass: 1, shape: {polyhedron: {points: [[0, 0], [0.2, 0], [0.2, 0.1], [0, "
    "0.1]], rounding: 0.02}}, position: [0.15, 0.2], velocity: [0, -1]}\n"
    "  - {material: m, density: 100, position: [0, 0.4], velocity: [0, -2], shape: {compound: "
    "{parts: [\n"
    "      {shape: {box: {size: [0.3, 0.05]}}}, {shape: {box: {size: [0.05, 0.2]}}, position: "
    "[0.1, 0.1]}, {shape: {sphere: {radius: 0.05}}, position: [-0.15, 0]}]}}}\n"
    "  - {material: m, mass: 0.3, shape: {sphere: {radius: 0.06}}, position: [-0.3, 0.3], "
    "velocity: [0, -1]}\n"
    "run: {time_step: 4e-3, duration: 0.2, frame_interval: 0.02, certificate: full, paraview: "
    "false, picture: false}\n";

/* Meshes are files beside the scene. */
static void write_meshes(void)
{
    const char *const names[] = { "octahedron.obj", "sheet.obj" };
    const char *const texts[] = { octahedron, sheet };
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(names[i], "w");
        CHECK(file != NULL);
        fputs(texts[i], file);
        fclose(file);
    }
}

static const char *const schemes[] = { "run.scheme=coulomb", "run.scheme=convex",
                                       "run.scheme=moreau-jean" };

TEST(all_gaps_are_proved)
{
    write_meshes();
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        check_verdict(scene_all_3d, schemes[i], "proved by their points\n");
        check_verdict(scene_all_2d, schemes[i], "proved by their points\n");
    }
}

/* A ball rolls down a sheet, over which nothing is solid: it has two sides. */
TEST(a_sheet_can_be_touched_from_either_side)
{
    static const char *const scene =
        "cairn: 1\n"
        "materials: {m: {friction: 0.4}}\n"
        "bodies:\n"
        "  - {motion: fixed, material: m, shape: {mesh: {file: sheet.obj}}}\n"
        "  - {material: m, shape: {sphere: {radius: 0.1}}, position: [0.3, 0, 0.18]}\n"
        "  - {material: m, shape: {box: {size: [0.1, 0.1, 0.1]}}, position: [-0.3, 0, -0.1], "
        "velocity: [0, 0, 3]}\n"
        "run: {time_step: 4e-3, duration: 0.2, certificate: full, paraview: false, picture: "
        "false}\n";
    write_meshes();
    check_verdict(scene, "run.scheme=coulomb", "gaps: 0 computed again");
    check_verdict(scene, "run.scheme=coulomb", "proved by their points\n");
}

static const target contact_reals[] = {
    { "certificate/contacts/point", 1 },
    { "certificate/contacts/normal", 1 },
    { "certificate/contacts/gap", 0.1 },
    { NULL, 0 },
};

TEST(points_and_normals_cannot_be_changed)
{
    folder f = folder_create();
    write_meshes();
    run_into(&f, scene_all_3d, "run.scheme=coulomb");
    CHECK_INT(tamper_with_reals(&f, contact_reals, "penetration", 8), 24);
    run_into(&f, scene_all_2d, "run.scheme=convex");
    CHECK_INT(tamper_with_reals(&f, contact_reals, "penetration", 5), 15);
    folder_remove(f.path);
}

/* ---- the geometry itself -------------------------------------------------------------------- */

/* A brick of a hull on a floor, one of a compound on it, a ball on a height field beside them. */
static const char *const scene_stack =
    "cairn: 1\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: half_space}\n"
    "  - {material: m, density: 1000, position: [0, 0, 0.1], shape: {polyhedron: {points: [[-0.2, "
    "-0.2, -0.1], [0.2, -0.2, -0.1], [0.2, 0.2, -0.1], [-0.2, 0.2, -0.1], [-0.2, -0.2, 0.1], "
    "[0.2, -0.2, 0.1], [0.2, 0.2, 0.1], [-0.2, 0.2, 0.1]]}}}\n"
    "  - {material: m, density: 1000, position: [0, 0, 0.25], shape: {compound: {parts: [{shape: "
    "{box: {size: [0.5, 0.5, 0.1]}}}, {shape: {sphere: {radius: 0.1}}, position: [0.5, 0, 0]}]}}}\n"
    "  - {motion: fixed, material: m, position: [0.5, 0, 0.1], shape: {height_field: {spacing: "
    "0.4, "
    "heights: [[0.05, 0.05], [0.05, 0.05]]}}}\n"
    "run: {time_step: 4e-3, duration: 0.02, certificate: full, paraview: false, picture: false}\n";

TEST(geometry_cannot_be_changed)
{
    static const struct {
        const char *name;
        hsize_t first, count; /* numbers */
    } places[] = {
        { "geometry/vertices", 0, 24 }, /* every corner of the brick touches */
        { "geometry/parts/size", 2, 1 },   { "geometry/parts/x", 5, 1 },
        { "geometry/parts/radius", 1, 1 }, { "geometry/parts/q", 1, 2 },
    };
    folder f = folder_create();
    run_into(&f, scene_stack, "run.scheme=coulomb");
    CHECK_INT(verdict(&f), CERTIFIED);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (hsize_t k = places[i].first; k < places[i].first + places[i].count; k++) {
            double old = swap_number(&f, places[i].name, k, NULL);
            check_noticed(&f, places[i].name, k, old + (k % 2 ? 1e-6 : -1e-6));
        }
    /* the ball stands over the triangle that begins with the first, second and last point */
    hsize_t ground = 3 * 8;
    double old = swap_number(&f, "geometry/vertices", ground + 2, NULL);
    check_noticed(&f, "geometry/vertices", ground + 2, old + 1e-6);
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

/* Numbers that cannot be: the file cannot be checked, and the program says so instead of reading
 * beyond the end. */
TEST(damaged_geometry_is_refused)
{
    static const struct {
        const char *name;
        hsize_t place;
        double value;
    } changes[] = {
        { "geometry/vertex_offset", 1, 1000 }, { "geometry/vertex_offset", 0, -1 },
        { "geometry/face_offset", 1, 2e9 },    { "geometry/corner_offset", 3, 1 },
        { "geometry/corners", 5, 8 },          { "geometry/corners", 5, -1 },
        { "geometry/part_offset", 2, 3 },      { "geometry/parts/shape", 0, 200 },
        { "geometry/parts/shape", 1, 2 },      { "bodies/geometry", 1, 3 },
        { "bodies/geometry", 1, -2 },          { "bodies/geometry", 2, 0 },
    };
    folder f = folder_create();
    run_into(&f, scene_stack, "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        double old = swap_number(&f, changes[i].name, changes[i].place, &changes[i].value);
        int code = verdict(&f);
        if (code != CANNOT_CHECK)
            fail_msg("%s[%llu] = %g gives %d", changes[i].name,
                     (unsigned long long)changes[i].place, changes[i].value, code);
        swap_number(&f, changes[i].name, changes[i].place, &old);
    }
    CHECK_INT(verdict(&f), CERTIFIED);
    folder_remove(f.path);
}

/* The brick stands 2 m above the floor and touches nothing; with a corner 3 m lower it would. */
TEST(a_hull_in_a_wall_must_be_a_contact)
{
    static const char *const scene =
        HEAD "bodies:\n"
             "  - {motion: fixed, shape: half_space}\n"
             "  - {position: [0, 0, 2], shape: {polyhedron: {points: [[0, 0, 0], [1, 0, 0], [0, 1, "
             "0], [0, 0, 1]]}}}\n";
    folder f = folder_create();
    double low = -3;
    cairn_scene *s = scene_text_good(scene, "run.certificate=full");
    s->run.duration = 5e-3;
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    CHECK_INT(verdict(&f), CERTIFIED);
    for (hsize_t k = 0; k < 4; k++)
        if (swap_number(&f, "geometry/vertices", 3 * k, NULL) == 0 &&
            swap_number(&f, "geometry/vertices", 3 * k + 1, NULL) == 0 &&
            swap_number(&f, "geometry/vertices", 3 * k + 2, NULL) == 0)
            swap_number(&f, "geometry/vertices", 3 * k + 2, &low);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "bodies 1 and 0 overlap by 1.00");
    folder_remove(f.path);
}

/* Files from before geometry was stored: gaps are taken as stored, and that is said. */
TEST(what_was_not_checked_is_counted)
{
    folder f = folder_create();
    run_into(&f, scene_stack, "run.scheme=coulomb");
    hid_t file = H5Fopen(path_in(&f, "run.h5").text, H5F_ACC_RDWR, H5P_DEFAULT);
    CHECK(H5Ldelete(file, "geometry", H5P_DEFAULT) >= 0);
    CHECK(H5Ldelete(file, "bodies/geometry", H5P_DEFAULT) >= 0);
    H5Fclose(file);
    CHECK_INT(verdict(&f), CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "(100 %) not checked: shapes without measures");
    folder_remove(f.path);
}

/* A triangle comes to rest with its side along one of an open line that is longer: both lie behind
 * each other by what steps leave, 3e-6 m. It fell through the line once the way between the sides was
 * more than rounding. */
TEST(a_side_rests_on_a_longer_side)
{
    static const char *const scene = "cairn: 1\n"
                                     "dimension: 2\n"
                                     "gravity: [0, -9.81]\n"
                                     "materials: {m: {friction: 0.4839}}\n"
                                     "bodies:\n"
                                     "  - motion: fixed\n"
                                     "    shape: {polyline: {points: [[0.8, 0.2036], [0.2, "
                                     "-0.05565], [-0.3, 0], [-0.8, 0.1139]]}}\n"
                                     "  - shape: {polyline: {points: [[-0.1, -0.07], [0.1, -0.07], "
                                     "[0.03128, 0.1]], closed: true}}\n"
                                     "    density: 500\n"
                                     "    position: [0.07086, 0.35]\n"
                                     "    angle: 4.957\n"
                                     "    velocity: [-0.2208, -0.3345]\n"
                                     "    angular_velocity: 0.1755\n"
                                     "run: {scheme: convex, time_step: 3e-3, duration: 0.9, "
                                     "tolerance: 0.015,\n"
                                     "      certificate: full, paraview: false, picture: false}\n";
    check_verdict(scene, NULL, "penetration at most 3.48e-06 m");
}

/* Bodies that pass each other have a plane between them, on the surface of one of them. */
static const char *const scene_seam =
    "cairn: 1\n"
    "materials: {m: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {motion: fixed, shape: {box: {size: [2, 2, 0.5]}}, position: [-1, 0, -0.25]}\n"
    "  - {motion: fixed, shape: {box: {size: [2, 2, 0.5]}}, position: [1, 0, -0.25]}\n"
    "  - {shape: {box: {size: [0.3, 0.2, 0.1]}}, position: [-0.2, 0, 0.05], velocity: [3, 0, 0]}\n"
    "  - {shape: {sphere: {radius: 0.1}}, position: [-0.2, 0.5, 0.1], velocity: [3, 0, 0]}\n"
    "  - {shape: {box: {size: [0.3, 0.2, 0.1]}}, position: [-0.2, -0.5, 0.06], velocity: [3, 0, "
    "0],\n"
    "     orientation: {axis: [0, 0, 1], angle: 0.4}}\n"
    "run: {time_step: 4e-3, duration: 0.1, certificate: full, paraview: false, picture: false}\n";

TEST(planes_between_bodies_that_pass_are_proved)
{
    static const char *const names[] = { "contacts/gap", "contacts/normal" };
    check_verdict(scene_seam, NULL, "certified: 25 steps");
    folder f = folder_create();
    run_into(&f, scene_seam, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "certificate/%s", names[i]);
        for (hsize_t place = 0; place < 200; place += 17) {
            double old = swap_number(&f, name, place, NULL);
            check_noticed(&f, name, place, old + 1e-6);
        }
    }
    folder_remove(f.path);
}

/* A square of sides falls past another: corner passes corner 5 mm apart, where the sides are parallel
 * to 4e-7 rad, and their points were 1e-9 m off the corners. */
TEST(points_of_corners_that_pass_are_on_the_corners)
{
    static const char *const scene =
        "cairn: 1\n"
        "dimension: 2\n"
        "materials: {m: {friction: 0}}\n"
        "bodies:\n"
        "  - {motion: fixed, shape: {inside_box: {size: [0.6, 0.6]}}}\n"
        "  - {shape: &square {polyline: {points: [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1],\n"
        "     [-0.1, 0.1]], closed: true}}, position: [-0.15, -0.2], velocity: [0.13, 0]}\n"
        "  - {shape: *square, position: [0.12, -0.2], velocity: [-0.15, 1]}\n"
        "run: {time_step: 2e-3, duration: 0.25, certificate: full, paraview: false,\n"
        "      picture: false}\n";
    check_verdict(scene, NULL, "certified: 125 steps");
}

/* A disk and an ellipse of one body bounce along a ring: each has its own term of second order. Where
 * the bias is e u_N it does not say which of them touches, but only one of them explains it. */
TEST(parts_of_a_body_in_a_ring_are_told_apart_by_the_whole_bias)
{
    static const char *const scene =
        "cairn: 1\n"
        "dimension: 2\n"
        "materials: {m: {friction: 0, restitution: 0.5}}\n"
        "bodies:\n"
        "  - {motion: fixed, shape: {inside_cylinder: {radius: 0.6}}}\n"
        "  - shape: {compound: {parts: [\n"
        "      {shape: {sphere: {radius: 0.05}}, position: [0.08, 0]},\n"
        "      {shape: {ellipsoid: {semi_axes: [0.1, 0.05]}}, position: [-0.08, 0]}]}}\n"
        "    position: [0.1, 0.05]\n"
        "    velocity: [2, 3]\n"
        "    angular_velocity: 3\n"
        "run: {time_step: 4e-3, duration: 2, certificate: full, paraview: false, picture: false}\n";
    check_verdict(scene, NULL, "certified: 500 steps");
}

GROUP(test_cairn_check_geometry)
{
    RUN(CASE(points_of_corners_that_pass_are_on_the_corners),
        CASE(parts_of_a_body_in_a_ring_are_told_apart_by_the_whole_bias),
        CASE(a_side_rests_on_a_longer_side), CASE(all_gaps_are_proved),
        CASE(a_sheet_can_be_touched_from_either_side), CASE(points_and_normals_cannot_be_changed),
        CASE(geometry_cannot_be_changed), CASE(damaged_geometry_is_refused),
        CASE(a_hull_in_a_wall_must_be_a_contact), CASE(what_was_not_checked_is_counted),
        CASE(planes_between_bodies_that_pass_are_proved));
}
