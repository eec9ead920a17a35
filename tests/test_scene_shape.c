/* test_scene_shape.c - the shapes of a scene: every kind, files, refusals. */
#include "failing_allocator.h"
#include "scene_text.h"

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

int main(void)
{
    RUN(CASE(every_kind_can_be_written), CASE(a_mesh_comes_from_a_file_beside_the_scene),
        CASE(bodies_of_one_file_share_its_data), CASE(the_tree_below_a_scene_is_all_it_can_read),
        CASE(a_broken_file_is_told_with_its_line), CASE(wrong_shapes_are_refused_where_they_stand),
        CASE(nothing_leaks_when_an_allocation_fails));
}
