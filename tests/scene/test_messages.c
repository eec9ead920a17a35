/* test_messages.c - what users type wrongly most often, and what they are told. */
#include "tests/check.h"
#include "tests/problems/run_scene.h"

/* ==== test_messages: place, key, what was found and what was expected ========================== */

#define BODIES HEAD "bodies:\n"
#define BALL(x)                                                                                    \
    BODIES "  - {name: ball, shape: {sphere: {radius: 0.1}}, position: [0, 0, 1]" x "}\n"

/* A tab is invisible: libyaml says "found character that cannot start any token". */
TEST(tabs_are_called_tabs)
{
    static const refused table[] = {
        { "cairn: 1\nrun:\n\ttime_step: 1.0e-3\n", 3, 1, "", "found a tab, expected spaces" },
        { BODIES "  - shape: half_space\n \tmotion: fixed\n", 5, 2, "", "found a tab" },
        { BODIES "\t- shape: half_space\n", 4, 1, "", "YAML allows no tabs before a value" },
    };
    CHECK_REFUSED(table);
    cairn_scene_destroy(scene_text_good(
        BODIES "  - {motion: fixed,\tshape: half_space} \t# tabs between values\n", NULL));
}

TEST(names_of_other_programs_are_known)
{
    static const struct {
        const char *text, *hint;
    } table[] = {
        { "{shape: {cube: {size: [1, 1, 1]}}}", "unknown shape 'cube'; did you mean 'box'?" },
        { "{shape: {cuboid: {size: [1, 1, 1]}}}", "did you mean 'box'?" },
        { "{shape: {ball: {radius: 1}}}", "unknown shape 'ball'; did you mean 'sphere'?" },
        { "{motion: fixed, shape: plane}", "unknown shape 'plane'; did you mean 'half_space'?" },
        { "{motion: fixed, shape: ground}", "did you mean 'half_space'?" },
        { "{shape: {stl: {file: a.stl}}}", "did you mean 'mesh'?" },
        { "{shape: {sphere: {diameter: 1}}}",
          "unknown key 'diameter'; did you mean 'radius'? It is half of the diameter." },
        { "{motion: static, shape: half_space}", "did you mean 'fixed'?" },
        { "{shape: {sphere: {radius: 1}}, weight: 2}", "did you mean 'mass'?" },
        { "{shape: {sphere: {radius: 1}}, rotation: [1, 0, 0, 0]}",
          "did you mean 'orientation'? It is {axis: [x, y, z], angle: rad} or [w, x, y, z]." },
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        char text[300];
        cairn_scene *scene;
        cairn_error error;
        snprintf(text, sizeof text, BODIES "  - %s\n", table[i].text);
        CHECK_INT(scene_text_load(text, NULL, &scene, &error), CAIRN_BAD_INPUT);
        CHECK_INT(error.line, 4);
        CHECK_CONTAINS(error.message, table[i].hint);
    }
}

/* The line is no YAML, or has the radius beside the shape; the right form is shown. */
TEST(a_shape_in_one_line_is_shown_in_its_form)
{
    static const refused table[] = {
        { BODIES "  - name: ball\n    shape: sphere, radius: 0.1\n", 5, 26, "",
          "found a second ':' in one line, expected braces around what belongs together: shape: "
          "{sphere: {radius: 0.1}}" },
        { BODIES "  - shape: sphere: 0.1\n", 4, 18, "", "together: shape: {sphere: 0.1}" },
        { BODIES "  - {shape: sphere, radius: 0.1}\n", 4, 21, "bodies.0.radius",
          "'radius' belongs to the shape, expected shape: {sphere: {radius: ...}}" },
        { BODIES "  - shape: sphere radius 0.1\n", 4, 12, "bodies.0.shape",
          "found 'sphere radius 0.1', expected a mapping like {sphere: {radius: ...}}" },
        { BODIES "  - shape: {capsule, radius: 0.1}\n", 4, 12, "bodies.0.shape",
          "found a mapping with several keys, expected a mapping like {capsule: {radius: ..., "
          "length: ...}}" },
    };
    CHECK_REFUSED(table);
}

TEST(decimal_commas_are_called_commas)
{
    static const refused table[] = {
        { BODIES "  - shape:\n      sphere:\n        radius: 0,5\n", 6, 17,
          "bodies.0.shape.sphere.radius",
          "found '0,5' (the decimal mark is a point), expected a number > 0" },
        { BODIES "  - shape: {sphere: {radius: 0,5}}\n", 4, 30, "bodies.0.shape.sphere.radius",
          "found '0,5', expected a decimal point: 0.5" },
        { BODIES "  - shape: {box: {size: [1,5, 1, 2]}}\n", 4, 25, "bodies.0.shape.box.size",
          "found a list of 4, expected a list of 3 numbers, x, y and z, in m in 3D; the decimal "
          "mark is a point, as in 0.5" },
        { HEAD "materials: {rock: {friction: \"0,5\"}}\n", 3, 30, "materials.rock.friction",
          "found '0,5' (the decimal mark is a point), expected a number" },
    };
    CHECK_REFUSED(table);
    const refused override = { BALL(""), 0, 0, "run.time_step", "the decimal mark is a point" };
    check_refused(&override, CAIRN_BAD_INPUT, "run.time_step=0,001");
}

TEST(four_numbers_are_no_position)
{
    static const refused table[] = {
        { BODIES "  - {shape: {sphere: {radius: 1}}, position: [0,0,1,2]}\n", 4, 46,
          "bodies.0.position",
          "found a list of 4, expected a list of 3 numbers, x, y and z, in m in 3D" },
    };
    CHECK_REFUSED(table);
}

/* 1,000 balls of 0.06 m in a cubic metre: 0.905 of it. */
TEST(a_full_region_says_what_was_asked)
{
    static const refused table[] = {
        { HEAD "generators:\n  - fill: {bodies: 1000, size: [1, 1, 1], radius: 0.06}\n", 4, 20,
          "generators.0.fill.bodies",
          "all of them take about 90.5 % of the region, where random places are enough for about "
          "30 %" },
        { HEAD "generators:\n  - fill: {bodies: 1e6, size: [1, 1, 1], radius: 0.06}\n", 4, 20,
          "generators.0.fill.bodies",
          "by their volume alone: all of them take about 9.05e+04 % of the region" },
    };
    CHECK_REFUSED(table);
}

#define WALLS                                                                                      \
    BODIES                                                                                         \
    "  - {name: base, motion: fixed, shape: {box: {size: [1, 1, 0.2]}}}\n"                         \
    "  - {name: lid, motion: driven, shape: {box: {size: [1, 1, 0.2]}}, position: [0, 0, 1]}\n"    \
    "  - {name: stone, shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.4]}\n"

TEST(walls_of_cells_have_their_names)
{
    static const refused table[] = {
        { WALLS "cells:\n  - z: {low: base, high: lid, stress: 1000}\n", 8, 8, "cells.0.z",
          "found stress, but no wall that it could move: expected one of its walls, low: body "
          "'base' and high: body 'lid', with motion: dynamic" },
        { WALLS "cells:\n  - z: {low: base, high: stone, stress: 1000}\n", 8, 8, "cells.0.z",
          "its high wall is body 'stone', expected a box or half_space" },
        { WALLS "cells:\n  - z: {low: lid, high: base}\n", 8, 8, "cells.0.z",
          "the faces of its walls, low: body 'lid' and high: body 'base', are -1.2 m apart" },
        { WALLS "cells:\n  - z: {low: bottom, high: lid}\n", 8, 14, "cells.0.z.low",
          "unknown body 'bottom', expected one of base, lid, stone" },
    };
    CHECK_REFUSED(table);
}

TEST(unknown_parameters_list_those_that_exist)
{
    static const refused table[] = {
        { "cairn: 1\nparameters: {mu: 0.3, drop: 5}\ntitle: $friction\n", 3, 9, "title",
          "unknown parameter 'friction', expected one of mu, drop" },
        { "cairn: 1\nparameters: {mu: 0.3, drop: 5}\ntitle: $(2 * friction)\n", 3, 14, "title",
          "unknown name 'friction', expected one of mu, drop, or a function" },
    };
    CHECK_REFUSED(table);
    const refused set = { "cairn: 1\nparameters: {mu: 0.3, drop: 5}\ntitle: $mu $drop\n", 0, 0,
                          "parameters.friction",
                          "unknown parameter 'friction', expected one of mu, drop" };
    check_refused(&set, CAIRN_BAD_INPUT, "parameters.friction=1");
}

TEST(an_open_mesh_has_no_mass)
{
    static const refused table[] = {
        { BODIES "  - {shape: {mesh: {file: open.obj}}, density: 2500}\n", 4, 48,
          "bodies.0.density",
          "the mesh is open: it encloses no volume to which a density could give a mass; expected "
          "a closed one, or mass and inertia, or motion: fixed or driven" },
        { BODIES "  - {shape: {height_field: {heights: [[0, 1], [0, 1]], spacing: 1}}}\n", 4, 5,
          "bodies.0.density", "the height_field is open" },
    };
    FILE *file = fopen("open.obj", "w");
    CHECK(file != NULL);
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\n", file);
    CHECK_INT(fclose(file), 0);
    CHECK_REFUSED(table);
    CHECK_INT(remove("open.obj"), 0);
}

TEST(files_of_other_programs_are_recognised)
{
    static const refused table[] = {
        { "<?xml version=\"1.0\"?>\n<robot name=\"arm\">\n</robot>\n", 1, 1, "",
          "found a URDF file, a robot in XML, which is not supported, expected a scene in YAML" },
        { "\n <mujoco model=\"a\"/>\n", 1, 1, "", "found an MJCF file of MuJoCo" },
        { "<svg/>\n", 1, 1, "", "found an XML file, which is not supported" },
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        check_refused(&table[i], CAIRN_UNSUPPORTED, NULL);
}

TEST(an_override_beside_its_opposite_is_told_with_both_places)
{
    const refused set = { BALL(", density: 2500"), 0, 0, "bodies.0.mass",
                          "found both 'mass' and 'density', expected one of them; 'density' is in "
                          "scene_text" };
    cairn_scene *scene;
    cairn_error error;
    check_refused(&set, CAIRN_BAD_INPUT, "bodies.ball.mass=2");
    CHECK_INT(scene_text_load(set.text, "bodies.ball.mass=2", &scene, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, ", line 4");
}

GROUP(test_messages)
{
    RUN(CASE(tabs_are_called_tabs), CASE(names_of_other_programs_are_known),
        CASE(a_shape_in_one_line_is_shown_in_its_form), CASE(decimal_commas_are_called_commas),
        CASE(four_numbers_are_no_position), CASE(a_full_region_says_what_was_asked),
        CASE(walls_of_cells_have_their_names), CASE(unknown_parameters_list_those_that_exist),
        CASE(an_open_mesh_has_no_mass), CASE(files_of_other_programs_are_recognised),
        CASE(an_override_beside_its_opposite_is_told_with_both_places));
}
