/* test_cairn_check_geometry.c - contacts of hulls, meshes, height fields, polylines and compounds
 * are proved by their points, with the geometry that the file has. */
#include "check_tampering.h"

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
 * each other by what steps leave, 2e-6 m. It fell through the line once the way between the sides was
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
                                     "certificate: full, paraview: false,\n"
                                     "      picture: false}\n";
    check_verdict(scene, NULL, "penetration at most 1.83e-06 m");
}

int main(void)
{
    RUN(CASE(a_side_rests_on_a_longer_side), CASE(all_gaps_are_proved),
        CASE(a_sheet_can_be_touched_from_either_side), CASE(points_and_normals_cannot_be_changed),
        CASE(geometry_cannot_be_changed), CASE(damaged_geometry_is_refused),
        CASE(a_hull_in_a_wall_must_be_a_contact), CASE(what_was_not_checked_is_counted));
}
