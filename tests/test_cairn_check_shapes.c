/* test_cairn_check_shapes.c - contacts of solids without a formula for their gap are proved by their
 * points: on both surfaces, with a common normal. */
#include "check_tampering.h"

/* Boxes, capsule, cylinder, cone, ellipsoids, superellipsoid and a ball, in a tube, in a box that
 * shakes, on a floor and on each other. */
static const char *const scene_shapes_3d =
    "cairn: 1\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: half_space}\n"
    "  - {motion: fixed, material: m, shape: {inside_cylinder: {radius: 0.285}}}\n"
    "  - {motion: driven, material: m, shape: {inside_box: {size: [0.55, 0.55, 3]}}, "
    "position: [0, 0, 1.5], drivers: [{shake: {amplitude: [0.03, 0, 0], frequency: 4}}]}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15, 0.1]}}, position: [-0.12, "
    "-0.1, 0.1], orientation: {axis: [1, 2, 3], angle: 0.7}}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15, 0.1], rounding: 0.02}}, "
    "position: [0.12, -0.1, 0.1], orientation: {axis: [3, 1, 1], angle: 0.5}}\n"
    "  - {material: m, mass: 1, shape: {capsule: {radius: 0.05, length: 0.12}}, position: "
    "[-0.12, 0.12, 0.12], orientation: {axis: [3, 1, 0], angle: 1.2}}\n"
    "  - {material: m, mass: 1, shape: {cylinder: {radius: 0.07, height: 0.12}}, position: "
    "[0.12, 0.12, 0.08], orientation: {axis: [3, 1, 0], angle: 0.2}}\n"
    "  - {material: m, mass: 1, shape: {cone: {radius: 0.08, height: 0.14}}, position: "
    "[-0.11, -0.08, 0.27], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.1, 0.07, 0.05]}}, "
    "position: [0.11, -0.08, 0.24], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {superellipsoid: {semi_axes: [0.1, 0.07, 0.05], "
    "exponent: 3, exponent_z: 4}}, position: [0.1, 0.1, 0.24], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {sphere: {radius: 0.06}}, position: [-0.1, 0.1, "
    "0.27], velocity: [0, 0, -1]}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.08, 0.07, 0.05]}}, "
    "position: [0.05, 0.0, 0.36], velocity: [0, 0, -2]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

static const char *const scene_shapes_2d =
    "cairn: 1\n"
    "dimension: 2\n"
    "gravity: [0, -9.81]\n"
    "materials: {m: {friction: 0.4}}\n"
    "bodies:\n"
    "  - {motion: fixed, material: m, shape: {half_space: {axis: [0.1, 1]}}}\n"
    "  - {motion: fixed, material: m, shape: {inside_cylinder: {radius: 0.5}}, position: [0, "
    "0.4]}\n"
    "  - {motion: driven, material: m, shape: {inside_box: {size: [0.8, 2]}}, position: [0, "
    "1], drivers: [{shake: {amplitude: [0.02, 0], frequency: 5}}]}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15]}}, position: [0, 0.15], "
    "angle: 0.3}\n"
    "  - {material: m, mass: 1, shape: {box: {size: [0.2, 0.15], rounding: 0.02}}, position: "
    "[0.27, 0.15], angle: 0.3}\n"
    "  - {material: m, mass: 1, shape: {capsule: {length: 0.15, radius: 0.05, axis: [1, "
    "0]}}, position: [-0.26, 0.19], angle: 0.3}\n"
    "  - {material: m, mass: 1, shape: {ellipsoid: {semi_axes: [0.1, 0.05]}}, position: [0, "
    "0.32], angle: 0.3, velocity: [0, -1]}\n"
    "  - {material: m, mass: 1, shape: {superellipsoid: {semi_axes: [0.1, 0.05], exponent: "
    "4}}, position: [0.25, 0.34], angle: 0.3, velocity: [0, -1]}\n"
    "  - {material: m, mass: 1, shape: {sphere: {radius: 0.07}}, position: [-0.25, 0.37], "
    "velocity: [0, -1]}\n"
    "run: {time_step: 4e-3, duration: 0.24, frame_interval: 0.02, certificate: full, "
    "paraview: false, picture: false}\n";

TEST(all_gaps_of_solids_are_proved)
{
    static const char *const overrides[] = { "run.scheme=coulomb", "run.scheme=convex",
                                             "run.scheme=moreau-jean" };
    for (size_t i = 0; i < sizeof overrides / sizeof overrides[0]; i++) {
        check_verdict(scene_shapes_3d, overrides[i], "proved by their points\n");
        check_verdict(scene_shapes_2d, overrides[i], "proved by their points\n");
    }
}

static const target contact_reals[] = {
    { "certificate/contacts/point", 1 },
    { "certificate/contacts/normal", 1 },
    { "certificate/contacts/gap", 0.1 },
    { "steps/penetration", 1 },
    { NULL, 0 },
};

TEST(points_and_normals_cannot_be_changed)
{
    folder f = folder_create();
    run_into(&f, scene_shapes_3d, "run.scheme=coulomb");
    CHECK_INT(tamper_with_reals(&f, contact_reals, "penetration", 5), 15);
    run_into(&f, scene_shapes_2d, "run.scheme=moreau-jean");
    CHECK_INT(tamper_with_reals(&f, contact_reals, "penetration", 5), 15);
    folder_remove(f.path);
}

/* Measures of shapes, by rows of scene_shapes_3d. */
TEST(measures_of_solids_cannot_be_changed)
{
    enum { CYLINDER_WALL = 1, BOX_WALL, BOX, ROUNDED, CAPSULE, CYLINDER, CONE, ELLIPSOID, SUPER };
    static const struct {
        const char *name;
        hsize_t place;
    } places[] = {
        { "bodies/radius", CYLINDER_WALL },
        { "bodies/size", 3 * BOX_WALL },
        { "bodies/size", 3 * BOX },
        { "bodies/size", 3 * BOX + 2 },
        { "bodies/rounding", ROUNDED },
        { "bodies/radius", CAPSULE },
        { "bodies/length", CAPSULE },
        { "bodies/radius", CYLINDER },
        { "bodies/height", CYLINDER },

        { "bodies/semi_axes", 3 * ELLIPSOID },
        { "bodies/semi_axes", 3 * SUPER + 2 },
        { "bodies/exponents", 2 * SUPER },
        { "bodies/exponents", 2 * SUPER + 1 },
        { "bodies/shape_x", 3 * BOX },
        { "bodies/shape_q", 4 * CAPSULE + 1 },
    };
    folder f = folder_create();
    run_into(&f, scene_shapes_3d, "run.scheme=coulomb");
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        double old = swap_number(&f, places[i].name, places[i].place, NULL);
        check_noticed(&f, places[i].name, places[i].place, old + 1e-5 * fmax(1e-1, fabs(old)));
    }
    check_noticed(&f, "bodies/radius", CONE, 0.0801); /* rims are found to 2e-5 of the size */
    folder_remove(f.path);
}

/* The cube is 2 m above the floor and touches nothing; 5 m wide it would. */
TEST(a_solid_in_a_wall_must_be_a_contact)
{
    static const char *const scene =
        HEAD "bodies:\n"
             "  - {motion: fixed, shape: half_space}\n"
             "  - {shape: {box: {size: [1, 1, 1]}}, position: [0, 0, 2]}\n";
    folder f = folder_create();
    double large = 5;
    cairn_scene *s = scene_text_good(scene, "run.certificate=full");
    s->run.duration = 5e-3;
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    CHECK_INT(verdict(&f), CERTIFIED);
    swap_number(&f, "bodies/size", 5, &large);
    CHECK_INT(verdict(&f), NOT_CERTIFIED);
    CHECK_CONTAINS(file_text(&f, "said.txt"), "bodies 1 and 0 overlap by 5.00");
    folder_remove(f.path);
}

int main(void)
{
    RUN(CASE(all_gaps_of_solids_are_proved), CASE(points_and_normals_cannot_be_changed),
        CASE(measures_of_solids_cannot_be_changed), CASE(a_solid_in_a_wall_must_be_a_contact));
}
