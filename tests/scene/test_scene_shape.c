/* test_scene_shape.c - shapes, joints and generators in scenes, and bodies that overlap. */
#include "cairn/joint.h"
#include "tests/check.h"
#include "tests/problems/run_scene.h"

/* ==== test_scene_shape: the shapes of a scene: every kind, files, refusals ==================== */

#define FIXED(shape) HEAD "bodies:\n  - {motion: fixed, shape: " shape "}\n"
#define FLAT(shape)  HEAD "dimension: 2\nbodies:\n  - {motion: fixed, shape: " shape "}\n"
#define TETRAHEDRON  "[[0, 0, 0], [2, 0, 0], [0, 3, 0], [0, 0, 4]]"

static const cairn_shape *shape_of(const cairn_scene *scene)
{
    return cairn_world_bodies(scene->world).shapes;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK_INT(fclose(file), 0);
}

TEST(every_kind_can_be_written)
{
    static const struct {
        const char *text;
        cairn_shape_kind kind;
        double extent_volume; /* m^3, 2D: m^2; 0: none */
    } table[] = {
        { FIXED("{inside_box: {size: [1, 2, 3]}}"), CAIRN_SHAPE_INSIDE_BOX, 0 },
        { FIXED("{box: {size: [1, 2, 3]}}"), CAIRN_SHAPE_BOX, 6 },
        { FLAT("{box: {size: [1, 2]}}"), CAIRN_SHAPE_BOX, 2 },
        { FLAT("{capsule: {radius: 0, length: 1}}"), CAIRN_SHAPE_CAPSULE, 0 },
        { FIXED("{capsule: {radius: 1, length: 3}}"), CAIRN_SHAPE_CAPSULE, 13 * M_PI / 3 },
        { FIXED("{cylinder: {radius: 1, height: 3}}"), CAIRN_SHAPE_CYLINDER, 3 * M_PI },
        { FIXED("{cone: {radius: 1, height: 3}}"), CAIRN_SHAPE_CONE, M_PI },
        { FIXED("{ellipsoid: {semi_axes: [1, 2, 3]}}"), CAIRN_SHAPE_ELLIPSOID, 8 * M_PI },
        { FLAT("{ellipsoid: {semi_axes: [1, 2]}}"), CAIRN_SHAPE_ELLIPSOID, 2 * M_PI },
        { FIXED("{superellipsoid: {semi_axes: [1, 2, 3], exponent: 2}}"),
          CAIRN_SHAPE_SUPERELLIPSOID, 8 * M_PI },
        { FIXED("{polyhedron: {points: " TETRAHEDRON "}}"), CAIRN_SHAPE_POLYHEDRON, 4 },
        { FIXED("{polyhedron: {points: " TETRAHEDRON ", scale: 0.5}}"), CAIRN_SHAPE_POLYHEDRON,
          0.5 },
        { FLAT("{polyhedron: {points: [[0, 0], [2, 0], [0, 1]]}}"), CAIRN_SHAPE_POLYHEDRON, 1 },
        { FLAT("{polyline: {points: [[0, 0], [2, 0], [0, 1]]}}"), CAIRN_SHAPE_POLYLINE, 0 },
        { FLAT("{polyline: {points: [[0, 0], [2, 0], [0, 1]], closed: true}}"),
          CAIRN_SHAPE_POLYLINE, 1 },
        { FIXED("{height_field: {heights: [[0, 1], [0, 1], [1, 1]], spacing: 0.5}}"),
          CAIRN_SHAPE_HEIGHT_FIELD, 0 },
        { FIXED("{compound: {parts: [{shape: {box: {size: [1, 1, 1]}}}, {shape: {box: {size: "
                "[1, 1, 1]}}, position: [1, 0, 0], orientation: {axis: [0, 0, 1], angle: 1}}]}}"),
          CAIRN_SHAPE_COMPOUND, 2 },
        { FLAT("{compound: {parts: [{shape: {box: {size: [1, 1]}}, angle: 1, position: [1, 0]}]}}"),
          CAIRN_SHAPE_COMPOUND, 1 },
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        cairn_scene *scene = scene_text_good(table[i].text, NULL);
        const cairn_shape *shape = shape_of(scene);
        int dimension = cairn_world_dimension(scene->world);
        cairn_mass m;
        CHECK_INT(shape->kind, table[i].kind);
        CHECK_OK(cairn_shape_check(shape, dimension, NULL));
        cairn_status status = cairn_shape_mass_tensor(shape, dimension, &m);
        CHECK_INT(status, table[i].extent_volume > 0 ? CAIRN_OK : CAIRN_UNSUPPORTED);
        CHECK_NEAR(m.mass, table[i].extent_volume, 1e-12);
        cairn_scene_destroy(scene);
    }
}

TEST(a_mesh_comes_from_a_file_beside_the_scene)
{
    write_file("scene_shape_a.obj",
               "v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    const char *const texts[] = { FIXED("{mesh: {file: scene_shape_a.obj, scale: 0.001}}"),
                                  FIXED("{polyhedron: {file: scene_shape_a.obj, scale: 0.001}}") };
    for (int i = 0; i < 2; i++) {
        cairn_scene *scene = scene_text_good(texts[i], NULL);
        cairn_mass m;
        CHECK_OK(cairn_shape_mass_tensor(shape_of(scene), 3, &m));
        CHECK_NEAR(m.mass, 4e-9, 1e-20);
        cairn_scene_destroy(scene);
    }
    remove("scene_shape_a.obj");
}

TEST(bodies_of_one_file_share_its_data)
{
    write_file("scene_shape_c.obj",
               "v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
    cairn_scene *scene = scene_text_good(
        HEAD "bodies:\n  - {motion: fixed, shape: {mesh: {file: scene_shape_c.obj}}}\n"
             "  - {motion: fixed, shape: {mesh: {file: scene_shape_c.obj}}}\n"
             "  - {motion: fixed, shape: {mesh: {file: scene_shape_c.obj, scale: 2}}}\n"
             "  - {motion: fixed, shape: {polyhedron: {file: scene_shape_c.obj}}}\n",
        NULL);
    const cairn_bodies b = cairn_world_bodies(scene->world);
    const cairn_geometry *first = cairn_bodies_shape(&b, 0)->geometry;
    CHECK(first == cairn_bodies_shape(&b, 1)->geometry);
    CHECK(first != cairn_bodies_shape(&b, 2)->geometry);
    CHECK(first != cairn_bodies_shape(&b, 3)->geometry);
    CHECK_INT(b.shape_count, 3);
    cairn_scene_destroy(scene);
    remove("scene_shape_c.obj");
}

TEST(the_tree_below_a_scene_is_all_it_can_read)
{
    static const refused table[] = {
        { FIXED("{mesh: {file: ../a.obj}}"), 4, 42, "bodies.0.shape.mesh.file",
          "found '../a.obj', expected a file in the scene's folder or below" },
        { FIXED("{mesh: {file: b/../../a.obj}}"), 4, 42, "bodies.0.shape.mesh.file", "or below" },
        { FIXED("{mesh: {file: b/..}}"), 4, 42, "bodies.0.shape.mesh.file", "or below" },
        { FIXED("{mesh: {file: /etc/a.obj}}"), 4, 42, "bodies.0.shape.mesh.file", "or below" },
        { FIXED("{mesh: {file: scene_shape_link.obj}}"), 4, 42, "bodies.0.shape.mesh.file",
          "or below" },
        { FIXED("{mesh: {file: [a]}}"), 4, 42, "bodies.0.shape.mesh.file",
          "expected the name of a file" },
    };
    remove("scene_shape_link.obj");
    CHECK_INT(symlink("/etc/passwd", "scene_shape_link.obj"), 0);
    CHECK_REFUSED(table);
    remove("scene_shape_link.obj");
    const refused absent = { FIXED("{mesh: {file: absent.obj}}"), 4, 42, "bodies.0.shape.mesh.file",
                             "absent.obj: cannot read" };
    check_refused(&absent, CAIRN_NOT_FOUND, NULL);
}

TEST(a_broken_file_is_told_with_its_line)
{
    static const refused table[] = {
        { FIXED("{mesh: {file: scene_shape_b.obj}}"), 4, 42, "bodies.0.shape.mesh.file",
          "scene_shape_b.obj:2: a face names vertex 2, but 1 vertices stand above it" },
    };
    write_file("scene_shape_b.obj", "v 0 0 0\nf 1 2 3\n");
    CHECK_REFUSED(table);
    remove("scene_shape_b.obj");
}

TEST(wrong_shapes_are_refused_where_they_stand)
{
    static const refused table[] = {
        { FIXED("{box: {size: [1, 0, 1]}}"), 4, 41, "bodies.0.shape.box.size", "numbers > 0" },
        { FIXED("{box: {size: [1, 1, 1], rounding: 1}}"), 4, 62, "bodies.0.shape.box.rounding",
          "at most half the smallest size, 0.5" },
        { FLAT("{cylinder: {radius: 1, height: 1}}"), 5, 39, "bodies.0.shape.cylinder",
          "exists only in 3D" },
        { FLAT("{mesh: {file: a.obj}}"), 5, 35, "bodies.0.shape.mesh", "exists only in 3D" },
        { FIXED("{polyline: {points: []}}"), 4, 39, "bodies.0.shape.polyline", "only in 2D" },
        { FIXED("polyhedron"), 4, 28, "bodies.0.shape.points", "expected points or a file" },
        { FIXED("{polyhedron: {points: [[0, 0, 0]], file: a.obj}}"), 4, 63,
          "bodies.0.shape.polyhedron.file", "found both" },
        { FIXED("{polyhedron: {points: [[0, 0], [1, 0]]}}"), 4, 51,
          "bodies.0.shape.polyhedron.points.0", "found a list of 2, expected a list of 3 numbers" },
        { FIXED("{polyhedron: {points: [[0, 0, x]]}}"), 4, 58,
          "bodies.0.shape.polyhedron.points.0.2", "found 'x', expected a number in m" },
        { FIXED("{polyhedron: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}}"), 4, 50,
          "bodies.0.shape.polyhedron.points", "in one plane" },
        { FIXED("{height_field: {heights: [[0, 1], [0]], spacing: 1}}"), 4, 62,
          "bodies.0.shape.height_field.heights.1", "expected a row of 2 heights" },
        { FIXED("{height_field: {heights: [[0, 1], [0, 1]]}}"), 4, 43,
          "bodies.0.shape.height_field.spacing", "'spacing' is missing" },
        { FIXED("{compound: {parts: []}}"), 4, 47, "bodies.0.shape.compound.parts", "no part" },
        { FIXED("{compound: {parts: [{shape: half_space}]}}"), 4, 39,
          "bodies.0.shape.compound.shape", "cannot be a part" },
        { FIXED("{compound: {parts: [{shape: {sphere: {radius: 1}}, angle: 1}]}}"), 4, 79,
          "bodies.0.shape.compound.parts.0.angle", "only in 2D" },
        { FIXED("{compound: {parts: [{shape: {box: {size: [0, 1, 1]}}}]}}"), 4, 69,
          "bodies.0.shape.compound.parts.0.shape.box.size", "numbers > 0" },
    };
    CHECK_REFUSED(table);
}

static void check_no_leak(const char *text)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK && n < 1000; n++) {
        meter m = { .fail_at = n };
        cairn_scene *scene;
        cairn_error error;
        meter_install(&m);
        status = scene_text_load(text, NULL, &scene, &error);
        cairn_scene_destroy(scene);
        cairn_allocator_set(NULL);
        CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

TEST(nothing_leaks_when_an_allocation_fails)
{
    write_file("scene_shape_d.obj", "v 0 0 0\nv 2 0 0\nv 0 3 0\nv 0 0 4\nf 1 3 2\n");
    check_no_leak(FIXED("{compound: {parts: [{shape: {polyhedron: {points: " TETRAHEDRON
                        "}}}, {shape: {compound: {parts: [{shape: {sphere: {radius: 1}}}]}}}]}}"));
    check_no_leak(FIXED("{compound: {parts: [{shape: {mesh: {file: scene_shape_d.obj}}}, "
                        "{shape: {mesh: {file: scene_shape_d.obj}}}]}}"));
    remove("scene_shape_d.obj");
}

GROUP(test_scene_shape)
{
    RUN(CASE(every_kind_can_be_written), CASE(a_mesh_comes_from_a_file_beside_the_scene),
        CASE(bodies_of_one_file_share_its_data), CASE(the_tree_below_a_scene_is_all_it_can_read),
        CASE(a_broken_file_is_told_with_its_line), CASE(wrong_shapes_are_refused_where_they_stand),
        CASE(nothing_leaks_when_an_allocation_fails));
}

/* ==== test_scene_joint: joints in scenes: what they become, and how wrong ones are refused ==== */

#define BALLS                                                                                      \
    "bodies:\n"                                                                                    \
    "  - {name: left, shape: {sphere: {radius: 0.1}}, mass: 1}\n"                                  \
    "  - {name: right, shape: {sphere: {radius: 0.1}}, mass: 1, position: [1, 0, 0]}\n"            \
    "  - {name: wall, motion: fixed, shape: half_space, position: [0, 0, -1]}\n"
#define JOINT(text) HEAD BALLS "joints:\n  - " text "\n" /* the joint is on line 8 */
#define FLAT_JOINT(text)                                                                           \
    HEAD "dimension: 2\nbodies:\n  - {name: left, shape: {sphere: {radius: 0.1}}, mass: 1}\n"      \
         "joints:\n  - " text "\n" /* the joint is on line 7 */

TEST(unknown_bodies_kinds_and_keys_are_refused_with_a_hint)
{
    static const refused table[] = {
        { JOINT("ball: {a: lefft}"), 8, 15, "joints.0.ball.a",
          "unknown body 'lefft'; did you mean 'left'?" },
        { JOINT("ball: {a: left, b: rihgt}"), 8, 24, "joints.0.ball.b", "did you mean 'right'?" },
        { JOINT("ball: {b: left}"), 8, 11, "joints.0.ball.a", "the key 'a' is missing" },
        { JOINT("hinge: {a: left}"), 8, 5, "joints.0.hinge", "unknown joint 'hinge'" },
        { JOINT("revolut: {a: left}"), 8, 5, "joints.0.revolut", "did you mean 'revolute'?" },
        { JOINT("ball: {a: left, ancor: [0, 0, 0]}"), 8, 21, "joints.0.ball.ancor",
          "unknown key 'ancor'; did you mean 'anchor'?" },
        { JOINT("ball"), 8, 5, "joints.0", "found 'ball', expected a mapping" },
        { JOINT("ball: {a: 3}"), 8, 15, "joints.0.ball.a", "unknown body '3'" },
        { HEAD BALLS "joints: {}\n", 7, 9, "joints", "expected a list of joints" },
    };
    CHECK_REFUSED(table);
}

TEST(impossible_joints_are_refused_at_their_key)
{
    static const refused table[] = {
        { JOINT("ball: {a: left, b: left}"), 8, 24, "joints.0.ball.b", "two different bodies" },
        { JOINT("ball: {a: wall}"), 8, 15, "joints.0.ball.a", "at least one body must be dynamic" },
        { JOINT("revolute: {a: left, axis: [0, 0, 0]}"), 8, 31, "joints.0.revolute.axis",
          "found zero, expected a direction" },
        { JOINT("universal: {a: left, b: right, axis_b: [0, 1, 1]}"), 8, 44,
          "joints.0.universal.axis_b", "expected a right angle" },
        { JOINT("universal: {a: left, b: right}"), 8, 16, "joints.0.universal.axis_b",
          "found zero, expected a direction" },
        { JOINT("rope: {a: left, b: right}"), 8, 11, "joints.0.rope.anchor_b",
          "found the same point as anchor, expected another" },
        { JOINT("screw: {a: left}"), 8, 12, "joints.0.screw.pitch", "the key 'pitch' is missing" },
        { JOINT("ball: {a: left, break_force: -1}"), 8, 34, "joints.0.ball.break_force",
          "found -1, expected a number" },
        { FLAT_JOINT("ball: {a: left}"), 7, 11, "joints.0.ball",
          "a ball joint does not exist in 2D" },
        { FLAT_JOINT("prismatic: {a: left, axis: [0, 0, 1]}"), 7, 39, "joints.0.prismatic.axis.2",
          "found 1, expected 0 in 2D" },
    };
    CHECK_REFUSED(table);
}

TEST(wrong_drives_are_refused)
{
    static const refused table[] = {
        { JOINT("ball: {a: left, turn: {friction: 1}}"), 8, 21, "joints.0.ball.turn",
          "unknown key 'turn'" },
        { JOINT("revolute: {a: left, slide: {friction: 1}}"), 8, 25, "joints.0.revolute.slide",
          "unknown key 'slide'" },
        { JOINT("revolute: {a: left, turn: {lower: 1, upper: -1}}"), 8, 31,
          "joints.0.revolute.turn", "found lower 1 > upper -1" },
        { JOINT("revolute: {a: left, turn: {motor: speed}}"), 8, 39, "joints.0.revolute.turn.motor",
          "unknown" },
        { JOINT("revolute: {a: left, turn: {frction: 1}}"), 8, 32, "joints.0.revolute.turn.frction",
          "did you mean 'friction'?" },
        { JOINT("revolute: {a: left, turn: {friction: -1}}"), 8, 42,
          "joints.0.revolute.turn.friction", "found -1, expected a number" },
        { JOINT("prismatic: {a: left, slide: 3}"), 8, 33, "joints.0.prismatic.slide",
          "expected a mapping" },
    };
    CHECK_REFUSED(table);
}

/* The coordinate of the spring is its length; the drive is that of the file, or of --set. */
TEST(a_scene_makes_its_joints)
{
    const char *text = HEAD BALLS
        "joints:\n"
        "  - prismatic: {a: left, axis: [1, 0, 0], slide: {motor: velocity, target: 2}}\n"
        "  - spring: {a: right, b: left, anchor: [1, 0, 0], slide: {stiffness: 10, rest: 0.5}}\n";
    for (int k = 0; k < 2; k++) {
        cairn_scene *s =
            scene_text_good(text, k ? "joints.0.prismatic.slide.target=3" : "gravity=[0, 0, 0]");
        cairn_step_report report;
        CHECK_INT(cairn_world_joint_count(s->world), 2);
        CHECK_INT(cairn_world_joint(s->world, 0).body[1], -1);
        CHECK_INT(cairn_world_joint_setup(s->world, 1).def.a.uid, 1);
        CHECK_INT(cairn_world_joint(s->world, 1).kind, CAIRN_JOINT_SPRING);
        CHECK_NEAR(cairn_world_joint(s->world, 1).slide, 1, 1e-15);
        CHECK_NEAR(cairn_world_joint(s->world, 1).elastic, 0.5 * 10 * 0.25, 1e-12);
        s->step.tolerance = 1e-12;
        CHECK_OK(cairn_world_step(s->world, &s->step, &report));
        int left = cairn_body_row(s->world, (cairn_body_id){ 0 });
        CHECK_NEAR(cairn_world_bodies(s->world).v[left].x, k ? 3 : 2, 1e-9);
        cairn_scene_destroy(s);
    }
}

/* Bodies of a joint may lie inside each other, unless they are to meet as shapes. */
TEST(joined_bodies_may_overlap)
{
    const char *text =
        HEAD "bodies:\n"
             "  - {name: left, shape: {sphere: {radius: 0.1}}}\n"
             "  - {name: right, shape: {sphere: {radius: 0.1}}, position: [0.05, 0, 0]}\n"
             "joints:\n  - fixed: {a: left, b: right, collide: false}\n";
    cairn_scene_destroy(scene_text_good(text, NULL));
    cairn_scene *scene;
    cairn_error error;
    CHECK_INT(scene_text_load(text, "joints.0.fixed.collide=true", &scene, &error),
              CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "overlap by 0.15 m");
}

TEST(where_no_body_has_a_name_that_is_said)
{
    static const refused nameless = { HEAD "bodies:\n  - {shape: point, mass: 1}\n"
                                           "joints:\n  - ball: {a: left}\n",
                                      6, 15, "joints.0.ball.a",
                                      "unknown body 'left': none has a name" };
    check_refused(&nameless, CAIRN_BAD_INPUT, NULL);
}

TEST(overrides_of_joints_are_refused_by_their_path)
{
    static const refused table[] = {
        { JOINT("ball: {a: left}"), 0, 0, "joints.0.ball.a",
          "unknown body 'lft'; did you mean 'left'?" },
        { JOINT("ball: {a: left}"), 0, 0, "joints.1.ball.a", "there is no '1'" },
    };
    check_refused(&table[0], CAIRN_BAD_INPUT, "joints.0.ball.a=lft");
    check_refused(&table[1], CAIRN_BAD_INPUT, "joints.1.ball.a=left");
}

GROUP(test_scene_joint)
{
    RUN(CASE(unknown_bodies_kinds_and_keys_are_refused_with_a_hint),
        CASE(impossible_joints_are_refused_at_their_key), CASE(wrong_drives_are_refused),
        CASE(a_scene_makes_its_joints), CASE(joined_bodies_may_overlap),
        CASE(where_no_body_has_a_name_that_is_said),
        CASE(overrides_of_joints_are_refused_by_their_path));
}

/* ==== test_scene_generate: generators and inlets in scenes ==================================== */

#define MANY            "pour: {count: 1e9, rate: 1, radius: 1, centre: [0, 0, 0], size: [9, 9, 9]}"
#define GENERATOR(text) HEAD "generators:\n  - " text "\n"

TEST(a_radius_is_a_number_or_a_distribution)
{
    static const char *const same[] = {
        GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: 0.25}"),
        GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: {constant: {value: "
                  "0.25}}}"),
        GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: {list: {values: "
                  "[0.25]}}}"),
    };
    for (int i = 0; i < 3; i++) {
        cairn_scene *s = scene_text_good(same[i], NULL);
        CHECK_NEAR(cairn_world_bodies(s->world).shapes[0].radius, 0.25, 0);
        cairn_scene_destroy(s);
    }
}

/* 3 kg of radius 1 to 1 kg of radius 2, which is 24 bodies to 1; by number it would be 3 to 1. */
TEST(weights_of_a_list_are_by_number_or_by_mass)
{
    static const char *const by[] = { "", "by: number, ", "by: mass, " };
    static const double large[] = { 25, 25, 4 };
    for (int k = 0; k < 3; k++) {
        char text[400];
        int count = 0;
        snprintf(text, sizeof text,
                 GENERATOR("grid: {count: [100, 1, 1], spacing: [4, 4, 4], radius: {list: {%s"
                           "values: [1, 2], weights: [3, 1]}}}"),
                 by[k]);
        cairn_scene *s = scene_text_good(text, NULL);
        const cairn_bodies bodies = cairn_world_bodies(s->world);
        for (int i = 0; i < bodies.count; i++)
            count += cairn_bodies_shape(&bodies, i)->radius == 2;
        CHECK_NEAR(count, large[k], k < 2 ? 15 : 0);
        cairn_scene_destroy(s);
    }
}

/* From 1 to 2 m half of the mass, evenly: at 1.5 m a quarter has passed. */
TEST(a_sieve_curve_is_a_distribution_of_radii)
{
    cairn_scene *s = scene_text_good(
        GENERATOR("grid: {count: [4000, 1, 1], spacing: [4, 4, 4], radius: {sieve: {sizes: "
                  "[1, 2, 4], passing: [0, 50, 100], between: linear}}}"),
        NULL);
    const cairn_bodies bodies = cairn_world_bodies(s->world);
    double all = 0, small = 0, smallest = INFINITY;
    for (int i = 0; i < bodies.count; i++) {
        double r = cairn_bodies_shape(&bodies, i)->radius;
        smallest = fmin(smallest, r);
        all += r * r * r;
        small += r <= 0.75 ? r * r * r : 0;
    }
    CHECK_NEAR(small / all, 0.25, 5e-3);
    CHECK_NEAR(smallest, 0.5, 1e-3);
    cairn_scene_destroy(s);
    static const refused table[] = {
        { GENERATOR("grid: {count: [4, 1, 1], spacing: [4, 4, 4], mass: 1, radius: {sieve: {sizes: "
                    "[1, 2], passing: [0, 100]}}}"),
          4, 56, "generators.0.grid.mass",
          "found a mass beside radii by mass, expected a density" },
        { GENERATOR("grid: {count: [4, 1, 1], spacing: [4, 4, 4], radius: {sieve: {sizes: [1, 2], "
                    "passing: [0, 1]}}}"),
          4, 91, "generators.0.grid.radius.sieve.passing",
          "found 1 % at the largest size, expected 100: shares are in percent" },
        { GENERATOR("grid: {count: [4, 1, 1], spacing: [4, 4, 4], radius: {list: {values: [1, 2], "
                    "by: volume}}}"),
          4, 86, "generators.0.grid.radius.list.by",
          "unknown by 'volume', expected one of number" },
    };
    CHECK_REFUSED(table);
}

TEST(generators_work_in_file_order)
{
    cairn_scene *s = scene_text_good(
        GENERATOR(
            "pile: {rows: 2, radius: 1}\n"
            "  - pile: {rows: 1, radius: 3, origin: [9, 0]}") "dimension: 2\nbodies: [{shape: "
                                                              "{sphere: {radius: 2}}, "
                                                              "position: [-9, 0]}]\n",
        NULL);
    const cairn_bodies bodies = cairn_world_bodies(s->world);
    CHECK_INT(bodies.count, 5);
    CHECK_NEAR(cairn_bodies_shape(&bodies, 0)->radius, 2, 0);
    CHECK_NEAR(cairn_bodies_shape(&bodies, 1)->radius, 1, 0);
    CHECK_NEAR(cairn_bodies_shape(&bodies, 4)->radius, 3, 0);
    cairn_scene_destroy(s);
}

TEST(an_inlet_is_poured_while_the_scene_runs)
{
    cairn_scene *s = scene_text_good(GENERATOR("pour: {count: 3, rate: 1000, centre: [0, 0, 0], "
                                               "size: [1, 1, 1], radius: 0.1, mass: 2}"),
                                     NULL);
    cairn_step_report report;
    CHECK_INT(cairn_world_bodies(s->world).count, 0);
    CHECK_INT(cairn_world_inlet_pending(s->world), 3);
    for (int i = 0; i < 5; i++)
        CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_INT(cairn_world_bodies(s->world).count, 3);
    CHECK_NEAR(cairn_world_bodies(s->world).mass[2], 2, 0);
    cairn_scene_destroy(s);
}

TEST(an_inlet_pours_any_shape)
{
    cairn_scene *s = scene_text_good(
        GENERATOR("pour: {count: 3, rate: 1000, centre: [0, 0, 0], size: [9, 9, 9], turned: true, "
                  "shape: {box: {size: [1, 2, 3]}}}"),
        NULL);
    cairn_step_report report;
    for (int i = 0; i < 5; i++)
        CHECK_OK(cairn_world_step(s->world, &s->step, &report));
    CHECK_INT(cairn_world_bodies(s->world).count, 3);
    CHECK_NEAR(cairn_world_bodies(s->world).shapes[0].size.z, 3, 0);
    CHECK(fabs(cairn_world_bodies(s->world).q[2].w) < 0.999);
    cairn_scene_destroy(s);
}

TEST(impossible_generators_are_refused)
{
    static const refused table[] = {
        { GENERATOR("grid: {count: [1.5, 1, 1], spacing: [1, 1, 1], radius: 1}"), 4, 19,
          "generators.0.grid.count", "expected whole numbers" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 0, 1], radius: 1}"), 4, 43,
          "generators.0.grid.spacing.1", "found 0, expected a number > 0 in m" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: -1}"), 4, 58,
          "generators.0.grid.radius", "-1" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: 0}"), 4, 58,
          "generators.0.grid.radius", "found 0" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: {unifrom: {}}}"), 4, 59,
          "generators.0.grid.radius.unifrom", "did you mean 'uniform'?" },
        { GENERATOR("grid: {count: [1, 1, 1], spacing: [1, 1, 1], radius: uniform}"), 4, 58,
          "generators.0.grid.radius", "expected a number or a mapping {uniform: {...}}" },
        { GENERATOR("pile: {rows: 2, radius: {uniform: {minimum: 2, maximum: 1}}}"), 4, 61,
          "generators.0.pile.radius.uniform.maximum", "found 1, expected at least 2" },
        { GENERATOR("pile: {rows: 2, radius: {uniform: {minimum: 1, maximum: 2}}}"), 4, 29,
          "generators.0.pile.radius", "expected one number" },
        { GENERATOR("pile: {rows: 0, radius: 1}"), 4, 18, "generators.0.pile.rows",
          "found 0, expected a whole number between 1 and" },
        { GENERATOR("pile: {rows: 2, radius: 1, mass: 1, density: 1}"), 4, 41,
          "generators.0.pile.density", "found both 'mass' and 'density'" },
        { GENERATOR("pile: {rows: 1000000, radius: 1}"), 4, 11, "generators.0.pile",
          "expected at most 2147483647" },
        { GENERATOR("fill: {bodies: 2, size: [1, 1, 1], radius: 0.5}"), 4, 20,
          "generators.0.fill.bodies", "no room for body 2 of 2 after 1000 tries" },
        { GENERATOR("pile: {rows: 2, radius: 1, mass: 0}"), 4, 38, "generators.0.pile.mass",
          "found 0, expected a mass > 0 kg" },
        { GENERATOR("pour: {count: 9, rate: 1, mass: 0, centre: [0, 0, 0], radius: 1}"), 4, 37,
          "generators.0.pour.mass", "found 0, expected a number > 0" },
        { GENERATOR("pour: {count: 9, rate: -1, centre: [0, 0, 0], size: [1, 1, 1], radius: 0.5}"),
          4, 28, "generators.0.pour.rate", "found -1" },
        { GENERATOR("pour: {count: 9, rate: 1, centre: [0, 0, 0]}"), 4, 11,
          "generators.0.pour.radius", "the key 'radius' is missing" },
        { GENERATOR("pour: {count: 9, rate: 1, centre: [0, 0, 0], shape: {funnel: {bottom_radius: "
                    "1, top_radius: 2, height: 1}}}"),
          4, 57, "generators.0.pour.shape", "found a funnel, expected a shape with a size" },
        { GENERATOR("pile: {rows: 2}"), 4, 11, "generators.0.pile.radius",
          "the key 'radius' is missing" },
        { GENERATOR("pile: {rows: 2, shape: {half_space: {}}}"), 4, 28, "generators.0.pile.shape",
          "found a half_space, expected a shape with a size" },
        { GENERATOR("[pile]"), 4, 5, "generators.0", "found a list of 1, expected a generator" },
        { HEAD "generators: 5\n", 3, 13, "generators", "found 5, expected a list of generators" },
        { GENERATOR(MANY "\n  - " MANY "\n  - " MANY), 6, 19, "generators.2.pour.count",
          "found more than 2147483647 bodies in all" },
    };
    CHECK_REFUSED(table);
}

GROUP(test_scene_generate)
{
    RUN(CASE(a_radius_is_a_number_or_a_distribution),
        CASE(weights_of_a_list_are_by_number_or_by_mass),
        CASE(a_sieve_curve_is_a_distribution_of_radii), CASE(generators_work_in_file_order),
        CASE(an_inlet_is_poured_while_the_scene_runs), CASE(an_inlet_pours_any_shape),
        CASE(impossible_generators_are_refused));
}

/* ==== test_scene_overlap: how far inside each other bodies may start ========================== */

#define FLOOR "bodies:\n  - {name: floor, motion: fixed, shape: half_space}\n"

TEST(overlapping_bodies_are_named)
{
    static const refused table[] = {
        { HEAD FLOOR "  - {name: ball, shape: {sphere: {radius: 1}}, position: [0, 0, 0.75]}\n", 5,
          5, "bodies.1", "'ball' and 'floor' overlap by 0.25 m" },
        { HEAD FLOOR "  - {shape: {sphere: {radius: 1}}, position: [0, 0, 1]}\n"
                     "  - {shape: {sphere: {radius: 1}}, position: [0, 1.5, 1]}\n",
          6, 5, "bodies.2", "body 2 and body 1 overlap by 0.5 m" },
        { HEAD FLOOR
          "generators:\n"
          "  - grid: {count: [2, 1, 1], spacing: [9, 9, 9], radius: 1, origin: [0, 0, 1]}\n"
          "  - grid: {count: [1, 1, 1], spacing: [9, 9, 9], radius: 1, origin: [8, 0, 1]}\n",
          7, 11, "generators.1.grid",
          "body 3 (made by generators.1.grid) and body 2 (made by generators.0.grid) overlap by 1 "
          "m" },
    };
    CHECK_REFUSED(table);
}

/* Allowed is a twentieth of the smaller radius, or what run.start_overlap says. */
TEST(a_little_overlap_is_allowed_and_told)
{
    const char *text =
        HEAD FLOOR "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 0.0951]}\n";
    cairn_scene *s = scene_text_good(text, NULL);
    CHECK_NEAR(s->overlap, 0.049, 1e-12);
    cairn_scene_destroy(s);
    cairn_error error;
    CHECK_INT(scene_text_load(text, "run.start_overlap=0.048", &s, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "overlap by 0.0049 m at the start");
    s = scene_text_good(HEAD FLOOR "  - {shape: {sphere: {radius: 0.1}}, position: [0, 0, 2]}\n",
                        "run.start_overlap=0");
    CHECK_NEAR(s->overlap, 0, 0);
    cairn_scene_destroy(s);
}

/* The large ball is deeper in the floor, by 1 % of its radius; the small one by half of its own. */
TEST(the_share_counts_not_the_depth)
{
    static const refused table[] = {
        { HEAD FLOOR "  - {shape: {sphere: {radius: 1}}, position: [0, 0, 0.99]}\n"
                     "  - {shape: {sphere: {radius: 0.01}}, position: [0, 3, 0.005]}\n",
          6, 5, "bodies.2", "body 2 and 'floor' overlap by 0.005 m" },
    };
    CHECK_REFUSED(table);
}

/* A sphere that sticks through the wall of its vessel: the vessel's radius is not the smaller. */
TEST(containers_count_too)
{
    static const refused table[] = {
        { HEAD "bodies:\n  - {motion: fixed, shape: {inside_cylinder: {radius: 2}}}\n"
               "  - {shape: {sphere: {radius: 0.5}}, position: [1.75, 0, 0]}\n",
          5, 5, "bodies.1", "body 1 and body 0 overlap by 0.25 m" },
    };
    CHECK_REFUSED(table);
}

TEST(bodies_whose_distance_is_unknown_are_called_by_their_names)
{
    cairn_scene *scene;
    cairn_error error;
    CHECK_INT(scene_text_load(HEAD "bodies:\n"
                                   "  - {name: hopper, motion: fixed, shape: {funnel: {"
                                   "bottom_radius: 0.1, top_radius: 0.5, height: 0.5}}}\n"
                                   "  - {name: crate, shape: {box: {size: [0.1, 0.1, 0.1]}},"
                                   " position: [0, 0, 0.3]}\n",
                              NULL, &scene, &error),
              CAIRN_UNSUPPORTED);
    CHECK_CONTAINS(error.message, "the distance of body 'hopper' (funnel) and body 'crate' (box)");
}

/* A disk of radius 0.1 in the middle of a solid square of edge 2 touches no side of it: 1 m to the
 * nearest, and its own radius. In a hollow of the same square it is free. */
TEST(the_inside_of_a_closed_line_is_solid)
{
    static const refused table[] = {
        { HEAD
          "dimension: 2\nbodies:\n"
          "  - {shape: {polyline: {closed: true, points: [[-1, -1], [1, -1], [1, 1], [-1, 1]]}}}\n"
          "  - {shape: {sphere: {radius: 0.1}}}\n",
          6, 5, "bodies.1", "body 1 and body 0 overlap by 1.1 m" },
    };
    CHECK_REFUSED(table);
    cairn_scene *s = scene_text_good(HEAD "dimension: 2\nbodies:\n"
                                          "  - {motion: fixed, shape: {polyline: {closed: true,\n"
                                          "     points: [[-1, -1], [-1, 1], [1, 1], [1, -1]]}}}\n"
                                          "  - {shape: {sphere: {radius: 0.1}}}\n",
                                     NULL);
    CHECK_NEAR(s->overlap, 0, 0);
    cairn_scene_destroy(s);
}

GROUP(test_scene_overlap)
{
    RUN(CASE(overlapping_bodies_are_named), CASE(a_little_overlap_is_allowed_and_told),
        CASE(the_share_counts_not_the_depth), CASE(containers_count_too),
        CASE(bodies_whose_distance_is_unknown_are_called_by_their_names),
        CASE(the_inside_of_a_closed_line_is_solid));
}

/* ==== test_scene_table: bodies from tables ==================================================== */

/* The scene with these generator options, beside a table in the folder. */
static cairn_status load_table(const folder *f, const char *head, const char *options,
                               cairn_scene **out, cairn_error *error)
{
    char text[1000];
    snprintf(text, sizeof text, HEAD "materials: {a: {}, b: {}}\n%sgenerators:\n  - table: {%s}\n",
             head, options);
    file_write(f, "scene.yaml", text);
    return cairn_scene_load(path_in(f, "scene.yaml").text, NULL, 0, out, error);
}

static cairn_scene *good_table(const folder *f, const char *head, const char *options)
{
    cairn_scene *s;
    cairn_error error = { 0 };
    if (load_table(f, head, options, &s, &error) != CAIRN_OK)
        fail_msg("%d:%d: %s", error.line, error.column, error.message);
    return s;
}

TEST(a_table_becomes_bodies)
{
    folder f = folder_create();
    file_write(&f, "t.csv",
               "x,y,z,radius,mass,vx,wz,qw,qx,type\n"
               "1,2,3,0.1,7,4,5,1,0,1\n"
               "2,2,3,0.2,8,0,3,0,2,2\n");
    cairn_scene *s = good_table(&f, "", "file: t.csv, materials: [a, b]");
    cairn_bodies b = cairn_world_bodies(s->world);
    CHECK_INT(b.count, 2);
    CHECK_NEAR(b.x[0].z, 3, 0);
    CHECK_NEAR(b.mass[1], 8, 0);
    CHECK_NEAR(b.ball[1], 0.2, 0);
    CHECK_NEAR(b.v[0].x, 4, 0);
    CHECK_NEAR(b.omega[0].z, 5, 0);
    CHECK_NEAR(b.q[1].x, 1, 0);      /* turned by pi about x: */
    CHECK_NEAR(b.omega[1].z, -3, 0); /* z of the world is -z of the body */
    CHECK_INT(b.material[1], 1);
    cairn_scene_destroy(s);
    /* columns by name and by number, in mm, shifted, of one density */
    file_write(&f, "t.txt", "1 2 3 9\n10 2 3 8\n");
    s = good_table(
        &f, "",
        "file: t.txt, material: b, scale: 0.001, origin: [1, 0, 0], density: 500, glued: "
        "true, columns: {x: 1, y: 2, z: 3, diameter: 4}");
    b = cairn_world_bodies(s->world);
    CHECK_NEAR(b.x[1].x, 1.01, 1e-15);
    CHECK_NEAR(b.ball[1], 0.004, 1e-18);
    CHECK_INT(b.motion[0], CAIRN_MOTION_FIXED);
    cairn_scene_destroy(s);
    /* 2D, without names: x y r; and a shape for all */
    file_write(&f, "t.txt", "1 2 0.5\n4 2 0.25\n");
    s = good_table(&f, "dimension: 2\n", "file: t.txt, material: a");
    CHECK_NEAR(cairn_world_bodies(s->world).ball[1], 0.25, 0);
    cairn_scene_destroy(s);
    s = good_table(&f, "", "file: t.txt, material: a, shape: {box: {size: [1, 2, 3]}}");
    CHECK_NEAR(cairn_world_bodies(s->world).mass[0], 6000, 1e-9);
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

#define TETRA "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"

/* Densities are 1000 kg/m^3, lengths in mm: a box of 1 x 2 x 3, a ball of radius 2, a cylinder, an
 * ellipsoid with half of its sizes as axes, and a tetrahedron of 1/6. */
TEST(rows_have_shapes_of_their_own)
{
    static const double mass[] = { 6, 4 * M_PI / 3 * 8, M_PI * 4 * 5, M_PI / 6 * 6, 1.0 / 6 };
    static const cairn_shape_kind kinds[] = { CAIRN_SHAPE_BOX, CAIRN_SHAPE_SPHERE,
                                              CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_ELLIPSOID,
                                              CAIRN_SHAPE_MESH };
    folder f = folder_create();
    file_write(&f, "a b.obj", TETRA);
    file_write(&f, "t.csv",
               "x,y,z,shape,radius,size_x,size_y,size_z,height,file\n"
               "0,0,0,box,,1,2,3,,\n"
               "9,0,0,sphere,2,,,,,\n"
               "18,0,0,cylinder,2,,,,5,\n"
               "27,0,0,ellipsoid,,1,2,3,,\n"
               "36,0,0,mesh,,,,,,\"a b.obj\"\n");
    cairn_scene *s = good_table(&f, "", "file: t.csv, material: a, scale: 0.001");
    cairn_bodies b = cairn_world_bodies(s->world);
    CHECK_INT(b.count, 5);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(cairn_bodies_shape(&b, i)->kind, kinds[i]);
        CHECK_NEAR(b.mass[i], 1e-6 * mass[i], 1e-12 * mass[i]);
    }
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

/* Without a column for it the shape is what the columns are for: files, sizes, radii. */
TEST(columns_of_sizes_or_files_are_enough)
{
    folder f = folder_create();
    file_write(&f, "one.obj", TETRA);
    file_write(&f, "t.txt", "# x y z file\n0 0 0 one.obj\n5 0 0 one.obj\n");
    cairn_scene *s = good_table(&f, "", "file: t.txt, material: a");
    cairn_bodies b = cairn_world_bodies(s->world);
    CHECK(cairn_bodies_shape(&b, 0)->geometry == cairn_bodies_shape(&b, 1)->geometry);
    CHECK_NEAR(b.mass[1], 1000.0 / 6, 1e-9);
    cairn_scene_destroy(s);
    file_write(&f, "t.txt", "x y width sy\n0 0 1 2\n");
    s = good_table(&f, "dimension: 2\n", "file: t.txt, material: a, columns: {size_x: width}");
    b = cairn_world_bodies(s->world);
    CHECK_INT(cairn_bodies_shape(&b, 0)->kind, CAIRN_SHAPE_BOX);
    CHECK_NEAR(b.mass[0], 2000, 1e-9);
    cairn_scene_destroy(s);
    /* numbers under `shape` are no shapes: of other programs */
    file_write(&f, "t.csv", "x,y,z,r,shape\n0,0,0,1,3\n");
    s = good_table(&f, "", "file: t.csv, material: a");
    CHECK_INT(cairn_world_bodies(s->world).shapes[0].kind, CAIRN_SHAPE_SPHERE);
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

/* The path of the columns in a file is one key, the collision group of the bodies another. */
TEST(a_table_of_a_run_file_has_a_path_and_a_group)
{
    folder f = folder_create();
    file_write(&f, "t.csv", "x,y,z,radius\n1,2,3,0.1\n2,2,4,0.1\n");
    cairn_scene *s = good_table(&f, "", "file: t.csv, material: a, glued: true");
    CHECK_OK(cairn_run(s, f.path, NULL, NULL, NULL, NULL));
    cairn_scene_destroy(s);
    s = good_table(
        &f, "",
        "file: run.h5, path: frames/bodies, radius: 0.1, material: a, group: 2, glued: true,\n"
        "      columns: {x: 'x:0', y: 'x:1', z: 'x:2'}");
    cairn_bodies b = cairn_world_bodies(s->world);
    CHECK_NEAR(b.x[1].z, 4, 0);
    CHECK_INT(b.group[1], 2);
    cairn_scene_destroy(s);
    folder_remove(f.path);
}

TEST(wrong_tables_are_refused_where_the_scene_names_them)
{
    static const struct {
        const char *table, *options, *message;
        int column;
    } wrong[] = {
        { "x,y,z,r\n1,2,3,4\n", "file: none.csv, material: a", "none.csv: ", 19 },
        { "x,y,z,r\n1,2,3,4\n", "file: ../t.csv, material: a", "in the scene's folder or below",
          19 },
        { "x,y,q,r\n1,2,3,4\n", "file: t.csv, material: a", "no column 'z', expected it or", 19 },
        { "x,y,z\n1,2,3\n", "file: t.csv, material: a", "the table has no radius", 12 },
        { "x,y,z,r\n1,2,a,4\n", "file: t.csv, material: a",
          "t.csv:2: column 'z' has no finite number", 19 },
        { "x,y,z,r\n1,2,3,4\n5,6,7,-1\n", "file: t.csv, material: a",
          "t.csv:3: found a radius that is not greater than 0", 19 },
        { "x,y,z,r\n1,2,3\n", "file: t.csv, material: a", "t.csv:2: found 3 columns, expected 4",
          19 },
        { "x,y,z,r\n1,2,3,4\n", "file: t.csv, material: a, columns: {x: xx}", "unknown column 'xx'",
          0 },
        { "x,y,z,r\n1,2,3,4\n", "file: t.csv, material: a, columns: {xx: x}", "unknown key 'xx'",
          0 },
        { "x,y,z,r,m\n1,2,3,4,5\n5,6,7,1,0\n", "file: t.csv, material: a",
          "t.csv:3: found a mass that is not greater than 0", 19 },
        { "x,y,z,r,x\n1,2,3,4,5\n", "file: t.csv, material: a",
          "columns 1 and 5 are both called 'x'", 19 },
        { "x,y,z,r,type\n1,2,3,4,3\n", "file: t.csv, materials: [a, b]",
          "t.csv:2: found a type that is not the number", 19 },
        { "x,y,z,r\n1,2,3,4\n1,2,3,4\n", "file: t.csv, material: a", "overlap by", 12 },
        { "x,y,z,shape,size_x\n1,2,3,box,4\n", "file: t.csv, material: a",
          "t.csv:2: the table has no column 'size_y', which a box needs", 19 },
        { "x,y,z,shape,r\n1,2,3,sphere,4\n1,9,3,cube,4\n", "file: t.csv, material: a",
          "t.csv:3: unknown shape 'cube'; did you mean 'box'?", 19 },
        { "x,y,z,shape,r\n1,2,3,sphere,4\n1,9,3,,4\n", "file: t.csv, material: a",
          "t.csv:3: found no shape, expected a name such as box", 19 },
        { "x,y,z,file\n1,2,3,none.obj\n", "file: t.csv, material: a", "t.csv:2: none.obj: ", 19 },
        { "x,y,z,file\n1,2,3,../a.obj\n", "file: t.csv, material: a",
          "t.csv:2: found '../a.obj', expected a file in the scene's folder", 19 },
    };
    folder f = folder_create();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cairn_scene *s;
        cairn_error error = { 0 };
        file_write(&f, "t.csv", wrong[i].table);
        CHECK(load_table(&f, "", wrong[i].options, &s, &error) != CAIRN_OK);
        CHECK_CONTAINS(error.message, wrong[i].message);
        CHECK_INT(error.line, 5);
        CHECK(wrong[i].column == 0 || wrong[i].column == error.column);
    }
    folder_remove(f.path);
}

/* The piles of others: number of spheres, mass by the table, and 3 steps that keep the energy in
 * the books. Skipped where the data are not there. */
TEST(the_piles_of_others_load_and_run)
{
    static const struct {
        const char *name;
        int bodies;
        double mass; /* kg, sum of the column, found with another program */
    } piles[] = { { "pile_2048.csv", 2048, 26.689953 }, { "pile_5040.csv", 5040, 66.455435 } };
    for (int i = 0; i < 2; i++) {
        folder f = folder_create();
        char command[700];
        cairn_error error = { 0 };
        cairn_scene *s;
        cairn_step_report report;
        snprintf(command, sizeof command, "cp '%s/../shared/data/piles/%s' '%s' 2>/dev/null",
                 CAIRN_SOURCE_DIR, piles[i].name, f.path);
        if (system(command) != 0) {
            print_message("%s is not there: skipped\n", piles[i].name);
            folder_remove(f.path);
            continue;
        }
        char options[100];
        snprintf(options, sizeof options, "file: %s, material: a", piles[i].name);
        CHECK_OK(
            load_table(&f,
                       "gravity: [0, 0, -10]\nbodies:\n  - {motion: fixed, material: a, shape: "
                       "half_space}\n",
                       options, &s, &error));
        cairn_bodies b = cairn_world_bodies(s->world);
        CHECK_INT(b.count, piles[i].bodies + 1);
        CHECK(s->overlap < 0.004); /* as its README says */
        double mass = 0, before[2], after[2];
        for (int k = b.held; k < b.count; k++)
            mass += b.mass[k];
        CHECK_NEAR(mass, piles[i].mass, 1e-10);
        for (int k = 0; k < 3; k++) {
            cairn_world_energy(s->world, &before[0], &before[1]);
            CHECK_OK(cairn_world_step(s->world, &s->step, &report));
            cairn_world_energy(s->world, &after[0], &after[1]);
            const cairn_energy *e = &report.energy;
            CHECK_NEAR(after[0] + after[1],
                       before[0] + before[1] + e->correction - e->friction_loss - e->impact_loss -
                           e->numerical_loss,
                       1e-9);
        }
        cairn_scene_destroy(s);
        folder_remove(f.path);
    }
}

GROUP(test_scene_table)
{
    RUN(CASE(a_table_becomes_bodies), CASE(rows_have_shapes_of_their_own),
        CASE(columns_of_sizes_or_files_are_enough),
        CASE(a_table_of_a_run_file_has_a_path_and_a_group),
        CASE(wrong_tables_are_refused_where_the_scene_names_them),
        CASE(the_piles_of_others_load_and_run));
}
