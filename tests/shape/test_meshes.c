/* test_meshes.c - shapes that own data: hulls, meshes, height fields, polylines, compounds. */
#include "cairn/world.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"
#include "tests/check.h"
#include "tests/shape/solids.h"

/* ==== test_geometry: shared data: who holds it, and what it shows ============================= */

static const cairn_vec3 square[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 } };

TEST(the_last_holder_frees_it)
{
    meter m = { 0 };
    const cairn_geometry *g;
    meter_install(&m);
    CHECK_OK(cairn_hull_create(square, 4, 2, &g, NULL));
    CHECK(cairn_geometry_retain(g) == g);
    cairn_geometry_release(g);
    CHECK_INT(cairn_geometry_look(g).vertex_count, 4);
    CHECK(m.alive > 0);
    cairn_geometry_release(g);
    CHECK_INT(m.alive, 0);
    CHECK(cairn_geometry_retain(NULL) == NULL);
    cairn_geometry_release(NULL);
    cairn_allocator_set(NULL);
}

static void check_world(bool remove_body)
{
    meter m = { 0 };
    cairn_world_def world_def = cairn_world_def_default();
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id id;
    cairn_world *world;
    world_def.dimension = 2;
    def.shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2);
    meter_install(&m);
    CHECK_OK(cairn_world_create(&world_def, &world));
    CHECK_OK(cairn_material_create(world, &(cairn_material_def){ .friction = 0.5 }, NULL));
    CHECK_OK(cairn_hull_create(square, 4, 2, &def.shape.geometry, NULL));
    CHECK_OK(cairn_body_create(world, &def, &id));
    cairn_geometry_release(def.shape.geometry);
    CHECK_INT(cairn_geometry_look(cairn_world_bodies(world).shapes[0].geometry).face_count, 4);
    if (remove_body)
        CHECK_OK(cairn_body_destroy(world, id));
    cairn_world_destroy(world);
    CHECK_INT(m.alive, 0);
    cairn_allocator_set(NULL);
}

TEST(a_body_holds_the_data_of_its_shape)
{
    check_world(false);
    check_world(true);
}

/* the unit square, counterclockwise: sides with normals -y, +x, +y, -x */
TEST(sides_of_a_polygon_follow_each_other)
{
    const cairn_geometry *g;
    CHECK_OK(cairn_hull_create(square, 4, 2, &g, NULL));
    cairn_geometry_view v = cairn_geometry_look(g);
    CHECK_INT(v.dimension, 2);
    for (int k = 0; k < 4; k++) {
        cairn_vec3 a = v.vertices[v.face_vertex[2 * k]], b = v.vertices[v.face_vertex[2 * k + 1]];
        CHECK_INT(v.face_vertex[2 * k + 1], v.face_vertex[2 * ((k + 1) % 4)]);
        CHECK_NEAR(v.face_normal[k].x, b.y - a.y, 1e-15);
        CHECK_NEAR(v.face_normal[k].y, a.x - b.x, 1e-15);
    }
    cairn_geometry_release(g);
}

/* a level cell, then one that climbs: two triangles each */
TEST(triangles_in_one_plane_are_a_patch)
{
    const double heights[6] = { 0, 0, 1, 0, 0, 1 };
    const cairn_height_field_def def = {
        .columns = 3, .rows = 2, .spacing = { 1, 1 }, .heights = heights
    };
    const cairn_geometry *g;
    CHECK_OK(cairn_height_field_create(&def, &g, NULL));
    CHECK_INT(g->view.face_count, 4);
    for (int face = 0; face < 4; face++)
        CHECK_INT(g->patch[face], face < 2 ? 0 : 2);
    cairn_geometry_release(g);
}

GROUP(test_geometry)
{
    RUN(CASE(the_last_holder_frees_it), CASE(a_body_holds_the_data_of_its_shape),
        CASE(sides_of_a_polygon_follow_each_other), CASE(triangles_in_one_plane_are_a_patch));
}

/* ==== test_hull: convex hulls in space and plane ============================================== */

/* The corners of a box about `centre`, a point inside, and one corner twice. */
static void box_points(cairn_vec3 half, cairn_vec3 centre, cairn_vec3 out[10])
{
    for (int i = 0; i < 8; i++)
        out[i] = cairn_add(centre, cairn_vec(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y,
                                             i & 4 ? half.z : -half.z));
    out[8] = centre;
    out[9] = out[3];
}

static cairn_shape hull(const cairn_vec3 *points, int count, int dimension)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, dimension);
    cairn_error error = { 0 };
    cairn_status status = cairn_hull_create(points, count, dimension, &shape.geometry, &error);
    if (status != CAIRN_OK)
        fail_msg("%s", error.message);
    CHECK_OK(cairn_shape_check(&shape, dimension, NULL));
    return shape;
}

static void check_refused(const cairn_vec3 *points, int count, int dimension, const char *piece)
{
    const cairn_geometry *g = NULL;
    cairn_error error = { 0 };
    CHECK(cairn_hull_create(points, count, dimension, &g, &error) != CAIRN_OK);
    CHECK(g == NULL);
    CHECK_CONTAINS(error.message, piece);
    CHECK_TEXT(error.key, "points");
}

TEST(the_hull_of_a_boxs_corners_has_8_vertices_6_faces_12_edges)
{
    cairn_vec3 points[10];
    box_points(cairn_vec(1, 1.5, 2), cairn_vec(0, 0, 0), points);
    cairn_shape shape = hull(points, 10, 3);
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    CHECK_INT(v.vertex_count, 8);
    CHECK_INT(v.face_count, 6);
    CHECK_INT(v.edge_count, 12);
    CHECK(v.closed);
    for (int f = 0; f < 6; f++)
        CHECK_INT(v.face_first[f + 1] - v.face_first[f], 4);
    for (int i = 0; i < 8; i++)
        CHECK_NEAR(cairn_norm(cairn_sub(v.vertices[i], points[i])), 0, 0);
    cairn_geometry_release(shape.geometry);
}

TEST(edges_have_the_face_they_run_around_on_their_left)
{
    cairn_vec3 points[10];
    box_points(cairn_vec(1, 1.5, 2), cairn_vec(0, 0, 0), points);
    cairn_shape shape = hull(points, 10, 3);
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    for (int e = 0; e < v.edge_count; e++) {
        const int32_t *edge = v.edge + 4 * e;
        cairn_vec3 along = cairn_sub(v.vertices[edge[1]], v.vertices[edge[0]]);
        cairn_vec3 left = v.face_normal[edge[2]], right = v.face_normal[edge[3]];
        /* seen from outside, left x along points into the left face: away from the right one */
        CHECK(cairn_dot(cairn_cross(left, along), right) < 0);
        CHECK_NEAR(cairn_dot(along, left), 0, 1e-14);
        CHECK_NEAR(cairn_dot(along, right), 0, 1e-14);
    }
    cairn_geometry_release(shape.geometry);
}

TEST(a_box_as_a_hull_is_the_box)
{
    cairn_vec3 points[10];
    box_points(cairn_vec(1, 1.5, 2), cairn_vec(0, 0, 0), points);
    cairn_shape shape = hull(points, 10, 3), box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    cairn_mass found, expected;
    box.size = cairn_vec(2, 3, 4);
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &found));
    CHECK_OK(cairn_shape_mass_tensor(&box, 3, &expected));
    check_mass_equal(&found, &expected, 1e-13);
    CHECK_CLOSE(cairn_shape_extent(&shape), cairn_shape_extent(&box), 1e-15);
    cairn_geometry_release(shape.geometry);
}

/* centre at (3, -2, 1): the body's frame is put there, not turned */
TEST(a_hull_away_from_the_origin_has_its_body_frame_in_its_centre)
{
    cairn_vec3 points[10], inertia;
    cairn_pose pose;
    cairn_mass m;
    box_points(cairn_vec(1, 1.5, 2), cairn_vec(3, -2, 1), points);
    cairn_shape shape = hull(points, 10, 3);
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    cairn_mass_principal(&m, 3, &inertia, &pose);
    CHECK_NEAR(cairn_norm(cairn_sub(m.centre, cairn_vec(3, -2, 1))), 0, 1e-14);
    CHECK_NEAR(cairn_norm(cairn_add(pose.x, m.centre)), 0, 1e-14);
    CHECK(pose.q.w == 1 && pose.q.x == 0 && pose.q.y == 0 && pose.q.z == 0);
    CHECK_CLOSE(inertia.x, 50, 1e-12);
    CHECK_CLOSE(inertia.z, 26, 1e-12);
    cairn_geometry_release(shape.geometry);
}

TEST(hulls_of_random_points_have_good_supports_and_faces)
{
    uint64_t state = 9;
    for (int round = 0; round < 10; round++) {
        cairn_vec3 points[60];
        int dimension = round % 2 ? 3 : 2;
        for (int i = 0; i < 60; i++)
            points[i] = random_direction(&state, dimension);
        cairn_shape shape = hull(points, 60, dimension);
        check_support(&shape, dimension);
        check_faces(&shape, dimension);
        for (int i = 0; i < 60; i++) {
            cairn_vec3 best = cairn_shape_support(&shape, points[i]);
            CHECK(cairn_dot(best, points[i]) >= cairn_dot(points[i], points[i]));
        }
        cairn_geometry_release(shape.geometry);
    }
}

/* an STL file rounds to 32 bits: a turned box still has six faces */
TEST(facets_flat_to_the_rounding_of_floats_become_one_face)
{
    uint64_t state = 4;
    for (int round = 0; round < 50; round++) {
        cairn_vec3 points[10];
        cairn_quat q = cairn_quat_exp(cairn_scale(3, random_direction(&state, 3)));
        box_points(cairn_vec(1, 1.5, 2), cairn_vec(0, 0, 0), points);
        for (int i = 0; i < 8; i++) {
            cairn_vec3 p = cairn_rotate(q, points[i]);
            points[i] = cairn_vec((float)p.x, (float)p.y, (float)p.z);
        }
        cairn_shape shape = hull(points, 8, 3);
        CHECK_INT(cairn_geometry_look(shape.geometry).face_count, 6);
        CHECK_INT(cairn_geometry_look(shape.geometry).edge_count, 12);
        CHECK_CLOSE(shape.geometry->moments.volume, 24, 1e-6);
        cairn_geometry_release(shape.geometry);
    }
}

/* corners in any order, one on a side, one inside: 4 vertices, area 2, J = 2 (4 + 1)/12 */
TEST(the_hull_in_the_plane_is_a_polygon)
{
    const cairn_vec3 points[] = { { 1, 0.5, 0 },  { -1, -0.5, 0 }, { 0, 0.5, 0 },
                                  { 1, -0.5, 0 }, { 0, 0.1, 0 },   { -1, 0.5, 0 } };
    cairn_shape shape = hull(points, 6, 2);
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    cairn_mass m;
    CHECK_INT(v.vertex_count, 4);
    CHECK_INT(v.face_count, 4);
    CHECK_OK(cairn_shape_mass_tensor(&shape, 2, &m));
    CHECK_CLOSE(m.mass, 2, 1e-15);
    CHECK_CLOSE(m.inertia.zz, 10.0 / 12, 1e-15);
    CHECK_NEAR(cairn_norm(m.centre), 0, 1e-16);
    cairn_geometry_release(shape.geometry);
}

TEST(points_without_a_hull_are_refused)
{
    const cairn_vec3 few[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    const cairn_vec3 plane[] = { { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 1, 1, 1 }, { 2, 1, 1 } };
    const cairn_vec3 line[] = { { 0, 0, 0 }, { 1, 1, 0 }, { 2, 2, 0 }, { 3, 3, 0 } };
    const cairn_vec3 one[] = { { 1, 2, 3 }, { 1, 2, 3 }, { 1, 2, 3 }, { 1, 2, 3 } };
    const cairn_vec3 nan[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, NAN, 0 }, { 0, 0, 1 } };
    check_refused(few, 3, 3, "found 3 points, expected at least 4");
    check_refused(few, 2, 2, "found 2 points, expected at least 3");
    check_refused(plane, 5, 3, "in one plane");
    check_refused(line, 4, 3, "on one line");
    check_refused(line, 4, 2, "on one line");
    check_refused(one, 4, 3, "at one place");
    check_refused(nan, 4, 3, "point 3 is not finite");
    check_refused(plane, 5, 2, "point 1 has z = 1");
}

TEST(no_hull_leaks_when_an_allocation_fails)
{
    cairn_vec3 points[10];
    box_points(cairn_vec(1, 1.5, 2), cairn_vec(0, 0, 0), points);
    for (int dimension = 2; dimension <= 3; dimension++) {
        for (int i = 0; dimension == 2 && i < 10; i++)
            points[i].z = 0;
        cairn_status status = CAIRN_NO_MEMORY;
        for (long n = 1; status != CAIRN_OK && n < 50; n++) {
            meter m = { .fail_at = n };
            const cairn_geometry *g;
            meter_install(&m);
            status = cairn_hull_create(points, 10, dimension, &g, NULL);
            CHECK(status == CAIRN_OK || status == CAIRN_NO_MEMORY);
            cairn_geometry_release(g);
            cairn_allocator_set(NULL);
            CHECK_INT(m.alive, 0);
        }
        CHECK_OK(status);
        box_points(cairn_vec(1, 1.5, 2), cairn_vec(0, 0, 0), points);
    }
}

GROUP(test_hull)
{
    RUN(CASE(the_hull_of_a_boxs_corners_has_8_vertices_6_faces_12_edges),
        CASE(edges_have_the_face_they_run_around_on_their_left), CASE(a_box_as_a_hull_is_the_box),
        CASE(a_hull_away_from_the_origin_has_its_body_frame_in_its_centre),
        CASE(hulls_of_random_points_have_good_supports_and_faces),
        CASE(facets_flat_to_the_rounding_of_floats_become_one_face),
        CASE(the_hull_in_the_plane_is_a_polygon), CASE(points_without_a_hull_are_refused),
        CASE(no_hull_leaks_when_an_allocation_fails));
}

/* ==== test_mesh: surfaces of triangles: mass, openness, refusals ============================== */

/* Corners by bits; 12 triangles, counterclockwise from outside. */
static const int32_t cube_triangles[36] = { 1, 3, 7, 1, 7, 5, 0, 4, 6, 0, 6, 2, 2, 6, 7, 2, 7, 3,
                                            0, 1, 5, 0, 5, 4, 4, 5, 7, 4, 7, 6, 0, 2, 3, 0, 3, 1 };

static void cube_vertices(cairn_vec3 size, cairn_vec3 out[8])
{
    for (int i = 0; i < 8; i++)
        out[i] = cairn_vec(i & 1 ? size.x : 0, i & 2 ? size.y : 0, i & 4 ? size.z : 0);
}

static void check_mesh_refused(const cairn_mesh_def *def, cairn_status status, const char *piece)
{
    const cairn_geometry *g = NULL;
    cairn_error error = { 0 };
    CHECK_INT(cairn_mesh_create(def, &g, &error), status);
    CHECK(g == NULL);
    CHECK_CONTAINS(error.message, piece);
}

/* 2 x 3 x 4 m with a corner at the origin */
TEST(a_meshed_box_has_the_mass_of_the_box)
{
    cairn_vec3 vertices[8];
    cube_vertices(cairn_vec(2, 3, 4), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 12 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_error error = { 0 };
    cairn_mass m;
    if (cairn_mesh_create(&def, &shape.geometry, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    CHECK(v.closed);
    CHECK_INT(v.edge_count, 18);
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    const cairn_mass expected = { 24, { 1, 1.5, 2 }, { .xx = 50, .yy = 40, .zz = 26 } };
    check_mass_equal(&m, &expected, 1e-12);
    CHECK_CLOSE(cairn_shape_extent(&shape), sqrt(29), 1e-15);
    cairn_geometry_release(shape.geometry);
}

/* An ellipsoid with semi-axes 1, 0.8, 0.6 as n x 2n quadrilaterals cut in two. */
static cairn_mass meshed_ellipsoid(int n)
{
    enum { MOST = 48 };
    static cairn_vec3 vertices[2 * MOST * MOST + 2];
    static int32_t triangles[12 * MOST * MOST];
    int around = 2 * n, count = 0, corners = 0, south = (n - 1) * around, north = south + 1;
    for (int i = 1; i < n; i++)
        for (int j = 0; j < around; j++) {
            double a = M_PI * i / n, b = M_PI * j / n;
            vertices[count++] = cairn_vec(sin(a) * cos(b), 0.8 * sin(a) * sin(b), -0.6 * cos(a));
        }
    vertices[south] = cairn_vec(0, 0, -0.6);
    vertices[north] = cairn_vec(0, 0, 0.6);
    for (int j = 0; j < around; j++) {
        int next = (j + 1) % around, top = (n - 2) * around;
        const int32_t caps[6] = { south, next, j, north, top + j, top + next };
        for (int k = 0; k < 6; k++)
            triangles[corners++] = caps[k];
        for (int i = 0; i + 2 < n; i++) {
            int32_t p = i * around + j, q = i * around + next;
            const int32_t cell[6] = { p, q, q + around, p, q + around, p + around };
            for (int k = 0; k < 6; k++)
                triangles[corners++] = cell[k];
        }
    }
    const cairn_mesh_def def = { vertices, count + 2, triangles, corners / 3 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_error error = { 0 };
    cairn_mass m = { 0 };
    if (cairn_mesh_create(&def, &shape.geometry, &error) != CAIRN_OK)
        fail_msg("%s", error.message);
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    cairn_geometry_release(shape.geometry);
    return m;
}

TEST(meshes_of_an_ellipsoid_converge_to_it_with_the_square_of_their_size)
{
    cairn_shape smooth = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
    cairn_mass exact, coarse = meshed_ellipsoid(24), fine = meshed_ellipsoid(48);
    smooth.semi_axes = cairn_vec(1, 0.8, 0.6);
    CHECK_OK(cairn_shape_mass_tensor(&smooth, 3, &exact));
    CHECK_CLOSE(fine.mass, exact.mass, 5e-3);
    CHECK_CLOSE((coarse.mass - exact.mass) / (fine.mass - exact.mass), 4, 0.02);
    CHECK_CLOSE((coarse.inertia.xx - exact.inertia.xx) / (fine.inertia.xx - exact.inertia.xx), 4,
                0.02);
    CHECK_NEAR(cairn_norm(fine.centre), 0, 1e-14);
}

TEST(an_open_mesh_is_a_wall_without_mass)
{
    cairn_vec3 vertices[8];
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 11 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    cairn_mass m;
    CHECK_OK(cairn_mesh_create(&def, &shape.geometry, NULL));
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    CHECK(!v.closed);
    CHECK_INT(cairn_shape_mass_tensor(&shape, 3, &m), CAIRN_UNSUPPORTED);
    int open = 0;
    for (int e = 0; e < v.edge_count; e++)
        open += v.edge[4 * e + 3] < 0;
    CHECK_INT(open, 3);
    cairn_geometry_release(shape.geometry);
}

TEST(broken_meshes_are_refused)
{
    cairn_vec3 vertices[8];
    int32_t triangles[39];
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    cairn_mesh_def def = { vertices, 8, triangles, 12 };
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++)
            triangles[3 * i + k] = cube_triangles[3 * i + 2 - k];
    check_mesh_refused(&def, CAIRN_BAD_INPUT, "encloses a volume of -1");
    memcpy(triangles, cube_triangles, sizeof cube_triangles);
    triangles[1] = cube_triangles[2];
    triangles[2] = cube_triangles[1];
    check_mesh_refused(&def, CAIRN_BAD_INPUT, "one of them is inverted");
    memcpy(triangles, cube_triangles, sizeof cube_triangles);
    triangles[5] = 8;
    check_mesh_refused(&def, CAIRN_BAD_INPUT, "triangle 2 names vertex 8, expected one of 0 to 7");
    triangles[5] = triangles[4];
    check_mesh_refused(&def, CAIRN_BAD_INPUT, "triangle 2 at (1, 0, 0) is degenerate");
    memcpy(triangles, cube_triangles, sizeof cube_triangles);
    triangles[36] = 1;
    triangles[37] = 3;
    triangles[38] = 4;
    def.triangle_count = 13;
    check_mesh_refused(&def, CAIRN_BAD_INPUT, "expected at most two");
    def.triangle_count = 0;
    check_mesh_refused(&def, CAIRN_BAD_INPUT, "at least one triangle");
    def.triangle_count = 12;
    vertices[3].y = INFINITY;
    check_mesh_refused(&def, CAIRN_NOT_FINITE, "vertex 4 is not finite");
}

static bool count_faces(void *context, int32_t item)
{
    (void)item;
    ++*(int *)context;
    return true;
}

TEST(the_tree_finds_the_triangles_of_one_corner)
{
    cairn_vec3 vertices[8];
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 12 };
    const cairn_bounds corner = { { 0.9, 0.9, 0.9 }, { 1.1, 1.1, 1.1 } };
    const cairn_geometry *g;
    int found = 0, touching = 0;
    CHECK_OK(cairn_mesh_create(&def, &g, NULL));
    cairn_mesh_tree_query(&g->tree, &corner, count_faces, &found);
    /* all of the six triangles on the three faces there have boxes that cover the face */
    for (int i = 0; i < 36; i++)
        touching += cube_triangles[i] == 7;
    CHECK_INT(touching, 6);
    CHECK_INT(found, 6);
    cairn_geometry_release(g);
}

TEST(no_mesh_leaks_when_an_allocation_fails)
{
    cairn_vec3 vertices[8];
    cairn_status status = CAIRN_NO_MEMORY;
    cube_vertices(cairn_vec(1, 1, 1), vertices);
    const cairn_mesh_def def = { vertices, 8, cube_triangles, 12 };
    for (long n = 1; status != CAIRN_OK && n < 50; n++) {
        meter m = { .fail_at = n };
        const cairn_geometry *g;
        meter_install(&m);
        status = cairn_mesh_create(&def, &g, NULL);
        cairn_geometry_release(g);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

GROUP(test_mesh)
{
    RUN(CASE(a_meshed_box_has_the_mass_of_the_box),
        CASE(meshes_of_an_ellipsoid_converge_to_it_with_the_square_of_their_size),
        CASE(an_open_mesh_is_a_wall_without_mass), CASE(broken_meshes_are_refused),
        CASE(the_tree_finds_the_triangles_of_one_corner),
        CASE(no_mesh_leaks_when_an_allocation_fails));
}

/* ==== test_mesh_tree: the tree of boxes finds what a look at every box finds ================== */

enum { MOST = 3000 };

typedef struct seen {
    int times[MOST], count, stop_after;
} seen;

static bool note(void *context, int32_t item)
{
    seen *s = context;
    s->times[item]++;
    return ++s->count != s->stop_after;
}

static cairn_vec3 random_vec(uint64_t *state)
{
    double x = cairn_random_uniform(state), y = cairn_random_uniform(state);
    return cairn_vec(x, y, cairn_random_uniform(state));
}

static cairn_bounds random_box(uint64_t *state, double size)
{
    cairn_vec3 low = random_vec(state);
    return (cairn_bounds){ low, cairn_add_scaled(low, size, random_vec(state)) };
}

TEST(each_overlapping_box_is_visited_once_and_no_other)
{
    static cairn_bounds boxes[MOST];
    const int counts[] = { 1, 2, 4, 5, 17, 1000, MOST };
    uint64_t state = 3;
    for (int c = 0; c < 7; c++) {
        cairn_mesh_tree tree;
        for (int i = 0; i < counts[c]; i++)
            boxes[i] = random_box(&state, 0.05);
        CHECK_OK(cairn_mesh_tree_build(boxes, counts[c], &tree));
        for (int round = 0; round < 50; round++) {
            const cairn_bounds where = random_box(&state, 0.3);
            seen s = { 0 };
            cairn_mesh_tree_query(&tree, &where, note, &s);
            for (int i = 0; i < counts[c]; i++)
                CHECK_INT(s.times[i], cairn_bounds_meet(&boxes[i], &where));
        }
        cairn_mesh_tree_destroy(&tree);
    }
}

TEST(boxes_at_one_place_and_flat_ones_are_found)
{
    cairn_bounds boxes[100];
    cairn_mesh_tree tree;
    seen s = { 0 };
    for (int i = 0; i < 100; i++)
        boxes[i] = (cairn_bounds){ { 1, 1, 0 }, { 2, 2, 0 } };
    CHECK_OK(cairn_mesh_tree_build(boxes, 100, &tree));
    const cairn_bounds touching = { { 2, 2, 0 }, { 3, 3, 1 } },
                       past = { { 2.1, 2, 0 }, { 3, 3, 1 } };
    cairn_mesh_tree_query(&tree, &touching, note, &s);
    CHECK_INT(s.count, 100);
    cairn_mesh_tree_query(&tree, &past, note, &s);
    CHECK_INT(s.count, 100);
    cairn_mesh_tree_destroy(&tree);
}

TEST(a_visitor_can_stop_the_search)
{
    cairn_bounds boxes[100];
    cairn_mesh_tree tree;
    seen s = { .stop_after = 7 };
    for (int i = 0; i < 100; i++)
        boxes[i] = (cairn_bounds){ { 0, 0, 0 }, { 1, 1, 1 } };
    CHECK_OK(cairn_mesh_tree_build(boxes, 100, &tree));
    cairn_mesh_tree_query(&tree, &boxes[0], note, &s);
    CHECK_INT(s.count, 7);
    cairn_mesh_tree_destroy(&tree);
}

TEST(an_empty_tree_has_nothing)
{
    cairn_mesh_tree tree;
    seen s = { 0 };
    const cairn_bounds all = { { -1, -1, -1 }, { 1, 1, 1 } };
    CHECK_OK(cairn_mesh_tree_build(NULL, 0, &tree));
    cairn_mesh_tree_query(&tree, &all, note, &s);
    CHECK_INT(s.count, 0);
    cairn_mesh_tree_destroy(&tree);
}

TEST(no_tree_leaks_when_an_allocation_fails)
{
    cairn_bounds boxes[20];
    uint64_t state = 5;
    cairn_status status = CAIRN_NO_MEMORY;
    for (int i = 0; i < 20; i++)
        boxes[i] = random_box(&state, 0.1);
    for (long n = 1; status != CAIRN_OK && n < 20; n++) {
        meter m = { .fail_at = n };
        cairn_mesh_tree tree;
        meter_install(&m);
        status = cairn_mesh_tree_build(boxes, 20, &tree);
        cairn_mesh_tree_destroy(&tree);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

GROUP(test_mesh_tree)
{
    RUN(CASE(each_overlapping_box_is_visited_once_and_no_other),
        CASE(boxes_at_one_place_and_flat_ones_are_found), CASE(a_visitor_can_stop_the_search),
        CASE(an_empty_tree_has_nothing), CASE(no_tree_leaks_when_an_allocation_fails));
}

/* ==== test_height_field: ground over a grid =================================================== */

/* 3 columns 0.5 m apart, 2 rows 2 m apart: z = x + y/4 at x = -0.5, 0, 0.5 and y = -1, 1 */
static const double slope[6] = { -0.75, -0.25, 0.25, -0.25, 0.25, 0.75 };

TEST(a_plane_slope_has_one_normal)
{
    const cairn_height_field_def def = { 3, 2, { 0.5, 2 }, slope };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    cairn_mass m;
    CHECK_OK(cairn_height_field_create(&def, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    cairn_vec3 up = cairn_unit(cairn_vec(-1, -0.25, 1));
    CHECK_INT(v.face_count, 4);
    CHECK_INT(v.vertex_count, 6);
    for (int f = 0; f < 4; f++)
        CHECK_NEAR(cairn_norm(cairn_sub(v.face_normal[f], up)), 0, 1e-15);
    for (int i = 0; i < 6; i++)
        CHECK_CLOSE(v.vertices[i].z, v.vertices[i].x + v.vertices[i].y / 4, 1e-15);
    CHECK(!v.closed);
    CHECK_INT(cairn_shape_mass_tensor(&shape, 3, &m), CAIRN_UNSUPPORTED);
    CHECK_CLOSE(cairn_shape_extent(&shape), sqrt(0.25 + 1 + 0.5625), 1e-15);
    cairn_geometry_release(shape.geometry);
}

TEST(impossible_grids_are_refused)
{
    const double bad[4] = { 0, 0, NAN, 0 };
    const cairn_height_field_def defs[] = { { 1, 2, { 1, 1 }, slope },
                                            { 2, 2, { 1, 0 }, slope },
                                            { 2, 2, { 1, 1 }, bad },
                                            { 1 << 20, 1 << 20, { 1, 1 }, slope } };
    const char *const pieces[] = { "found 1 x 2 heights", "expected a number > 0",
                                   "row 2, column 1 is not finite", "expected at most" };
    for (int i = 0; i < 4; i++) {
        const cairn_geometry *g;
        cairn_error error = { 0 };
        CHECK(cairn_height_field_create(&defs[i], &g, &error) != CAIRN_OK);
        CHECK(g == NULL);
        CHECK_CONTAINS(error.message, pieces[i]);
    }
}

GROUP(test_height_field)
{
    RUN(CASE(a_plane_slope_has_one_normal), CASE(impossible_grids_are_refused));
}

/* ==== test_polyline: chains of segments in the plane ========================================== */

/* an L: 2 x 2 less the upper right 1 x 1, counterclockwise */
static const cairn_vec3 corner[] = { { 0, 0, 0 }, { 2, 0, 0 }, { 2, 1, 0 },
                                     { 1, 1, 0 }, { 1, 2, 0 }, { 0, 2, 0 } };

/* A = 3, centre (5/6, 5/6); int x^2 = 8/3 + 1/3 = 3 and the same for y */
TEST(a_closed_counterclockwise_chain_is_a_solid)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    cairn_mass m;
    CHECK_OK(cairn_polyline_create(corner, 6, true, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 2, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 2, &m));
    CHECK_CLOSE(m.mass, 3, 1e-15);
    CHECK_CLOSE(m.centre.x, 5.0 / 6, 1e-15);
    CHECK_CLOSE(m.inertia.zz, 6 - 3 * 2 * 25.0 / 36, 1e-14);
    CHECK_CLOSE(cairn_shape_extent(&shape), sqrt(5), 1e-15);
    cairn_geometry_view v = cairn_geometry_look(shape.geometry);
    CHECK_INT(v.face_count, 6);
    CHECK_NEAR(v.face_normal[0].y, -1, 0);
    CHECK_NEAR(v.face_normal[5].x, -1, 0);
    cairn_geometry_release(shape.geometry);
}

TEST(open_and_clockwise_chains_are_walls)
{
    cairn_vec3 back[6];
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    cairn_mass m;
    for (int i = 0; i < 6; i++)
        back[i] = corner[5 - i];
    for (int closed = 0; closed < 2; closed++) {
        CHECK_OK(cairn_polyline_create(closed ? back : corner, 6, closed, &shape.geometry, NULL));
        CHECK_INT(cairn_geometry_look(shape.geometry).face_count, 5 + closed);
        CHECK_INT(cairn_shape_mass_tensor(&shape, 2, &m), CAIRN_UNSUPPORTED);
        cairn_geometry_release(shape.geometry);
    }
}

TEST(impossible_chains_are_refused)
{
    const cairn_vec3 twice[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 1, 0, 0 } };
    const cairn_vec3 away[] = { { 0, 0, 0 }, { 1, 0, 1 } };
    const cairn_geometry *g;
    cairn_error error = { 0 };
    CHECK_INT(cairn_polyline_create(corner, 1, false, &g, &error), CAIRN_BAD_INPUT);
    CHECK_INT(cairn_polyline_create(corner, 2, true, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "found 2 points, expected at least 3");
    CHECK_INT(cairn_polyline_create(twice, 3, false, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "points 2 and 3 coincide");
    CHECK_INT(cairn_polyline_create(away, 2, false, &g, &error), CAIRN_BAD_INPUT);
    CHECK_CONTAINS(error.message, "point 2 has z = 1");
    CHECK(g == NULL);
}

TEST(no_polyline_leaks_when_an_allocation_fails)
{
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK && n < 50; n++) {
        meter m = { .fail_at = n };
        const cairn_geometry *g;
        meter_install(&m);
        status = cairn_polyline_create(corner, 6, true, &g, NULL);
        cairn_geometry_release(g);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

GROUP(test_polyline)
{
    RUN(CASE(a_closed_counterclockwise_chain_is_a_solid), CASE(open_and_clockwise_chains_are_walls),
        CASE(impossible_chains_are_refused), CASE(no_polyline_leaks_when_an_allocation_fails));
}

/* ==== test_compound: shapes joined rigidly ==================================================== */

static const cairn_quat none = { 1, 0, 0, 0 };

static cairn_part ball(double radius, cairn_vec3 x)
{
    cairn_part part = { cairn_shape_default(CAIRN_SHAPE_SPHERE, 3), { x, none } };
    part.shape.radius = radius;
    return part;
}

static cairn_part box(cairn_vec3 size, cairn_vec3 x, cairn_quat q)
{
    cairn_part part = { cairn_shape_default(CAIRN_SHAPE_BOX, 3), { x, q } };
    part.shape.size = size;
    return part;
}

/* balls of volume V at +-d on x: J_x = 2 2/5 V r^2, J_y = J_x + 2 V d^2 */
TEST(a_dumbbell)
{
    const cairn_part parts[] = { ball(0.5, cairn_vec(2, 0, 0)), ball(0.5, cairn_vec(-2, 0, 0)) };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    cairn_mass m;
    CHECK_OK(cairn_compound_create(parts, 2, 3, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_check(&shape, 3, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    double volume = M_PI / 6;
    CHECK_CLOSE(m.mass, 2 * volume, 1e-15);
    CHECK_CLOSE(m.inertia.xx, 0.2 * volume, 1e-14);
    CHECK_CLOSE(m.inertia.yy, 0.2 * volume + 8 * volume, 1e-14);
    CHECK_CLOSE(cairn_shape_extent(&shape), 2.5, 1e-15);
    cairn_geometry_release(shape.geometry);
}

/* a box cut in two turned halves is the box */
TEST(turned_parts_make_the_whole)
{
    const cairn_quat quarter = { sqrt(0.5), 0, 0, sqrt(0.5) }; /* x -> y about z */
    const cairn_part parts[] = { box(cairn_vec(1, 3, 4), cairn_vec(0.5, 0, 0), none),
                                 box(cairn_vec(3, 1, 4), cairn_vec(-0.5, 0, 0), quarter) };
    cairn_part whole = box(cairn_vec(2, 3, 4), cairn_vec(0, 0, 0), none);
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    cairn_mass found, expected;
    CHECK_OK(cairn_compound_create(parts, 2, 3, &shape.geometry, NULL));
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &found));
    CHECK_OK(cairn_shape_mass_tensor(&whole.shape, 3, &expected));
    check_mass_equal(&found, &expected, 1e-13);
    cairn_geometry_release(shape.geometry);
}

TEST(a_compound_in_a_compound_is_dissolved_and_lives_on_alone)
{
    const cairn_part pair[] = { ball(0.5, cairn_vec(1, 0, 0)), ball(0.25, cairn_vec(-1, 0, 0)) };
    cairn_part parts[2] = { ball(1, cairn_vec(0, 0, 0)) };
    const cairn_geometry *outer;
    parts[1].shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    parts[1].pose = (cairn_pose){ { 0, 0, 5 }, { sqrt(0.5), 0, 0, sqrt(0.5) } };
    CHECK_OK(cairn_compound_create(pair, 2, 3, &parts[1].shape.geometry, NULL));
    CHECK_OK(cairn_compound_create(parts, 2, 3, &outer, NULL));
    cairn_geometry_release(parts[1].shape.geometry);
    cairn_geometry_view v = cairn_geometry_look(outer);
    CHECK_INT(v.part_count, 3);
    CHECK_NEAR(cairn_norm(cairn_sub(v.parts[1].pose.x, cairn_vec(0, 1, 5))), 0, 1e-15);
    CHECK_NEAR(v.parts[2].shape.radius, 0.25, 0);
    cairn_geometry_release(outer);
}

/* the hull of a part is held by the compound */
TEST(the_data_of_parts_are_held)
{
    const cairn_vec3 corners[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 } };
    cairn_part part = { cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2), { { 0, 0, 0 }, none } };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 2);
    cairn_mass m;
    CHECK_OK(cairn_hull_create(corners, 3, 2, &part.shape.geometry, NULL));
    CHECK_OK(cairn_compound_create(&part, 1, 2, &shape.geometry, NULL));
    cairn_geometry_release(part.shape.geometry);
    CHECK_OK(cairn_shape_mass_tensor(&cairn_geometry_look(shape.geometry).parts[0].shape, 2, &m));
    CHECK_CLOSE(m.mass, 0.5, 1e-15);
    cairn_geometry_release(shape.geometry);
}

TEST(impossible_parts_are_refused)
{
    cairn_part wall = { cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3), { { 0, 0, 0 }, none } };
    cairn_part small = ball(0, cairn_vec(0, 0, 0)), turned = ball(1, cairn_vec(0, 0, 0));
    cairn_part far = ball(1, cairn_vec(NAN, 0, 0));
    turned.pose.q.w = 2;
    const cairn_part *const bad[] = { &wall, &small, &turned, &far };
    const char *const keys[] = { "shape", "radius", "orientation", "position" };
    for (int i = 0; i < 4; i++) {
        const cairn_geometry *g;
        cairn_error error = { 0 };
        CHECK(cairn_compound_create(bad[i], 1, 3, &g, &error) != CAIRN_OK);
        CHECK(g == NULL);
        CHECK_TEXT(error.key, keys[i]);
    }
    const cairn_geometry *g;
    CHECK_INT(cairn_compound_create(NULL, 0, 3, &g, NULL), CAIRN_BAD_INPUT);
}

TEST(no_compound_leaks_when_an_allocation_fails)
{
    const cairn_part parts[] = { ball(0.5, cairn_vec(2, 0, 0)), ball(0.5, cairn_vec(-2, 0, 0)) };
    cairn_status status = CAIRN_NO_MEMORY;
    for (long n = 1; status != CAIRN_OK && n < 50; n++) {
        meter m = { .fail_at = n };
        const cairn_geometry *g;
        meter_install(&m);
        status = cairn_compound_create(parts, 2, 3, &g, NULL);
        cairn_geometry_release(g);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
    }
    CHECK_OK(status);
}

GROUP(test_compound)
{
    RUN(CASE(a_dumbbell), CASE(turned_parts_make_the_whole),
        CASE(a_compound_in_a_compound_is_dissolved_and_lives_on_alone),
        CASE(the_data_of_parts_are_held), CASE(impossible_parts_are_refused),
        CASE(no_compound_leaks_when_an_allocation_fails));
}
