/* test_cairn_check_pairs.c - cairn-check looks at every pair of shapes itself: what overlaps must be a
 * contact, and the penetration of a step is the deepest overlap of any pair. */
#include "check_tampering.h"

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
    bool both = strstr(said, "evaluated and are no contact") &&
                strstr(said, "after the step and are no contact") &&
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
    for (int i = 1 + first; i <= count; i++)
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

int main(void)
{
    RUN(CASE(two_solids_that_overlap_must_be_a_contact),
        CASE(two_solids_that_overlap_must_be_a_contact_in_2d),
        CASE(a_solid_in_any_wall_must_be_a_contact),
        CASE(a_small_body_in_a_large_one_must_be_a_contact), CASE(depths_are_what_a_hand_finds));
}
