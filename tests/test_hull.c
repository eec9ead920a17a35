/* test_hull.c - convex hulls in space and plane. */
#include "failing_allocator.h"
#include "solids.h"

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

TEST(nothing_leaks_when_an_allocation_fails)
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

int main(void)
{
    RUN(CASE(the_hull_of_a_boxs_corners_has_8_vertices_6_faces_12_edges),
        CASE(edges_have_the_face_they_run_around_on_their_left), CASE(a_box_as_a_hull_is_the_box),
        CASE(a_hull_away_from_the_origin_has_its_body_frame_in_its_centre),
        CASE(hulls_of_random_points_have_good_supports_and_faces),
        CASE(facets_flat_to_the_rounding_of_floats_become_one_face),
        CASE(the_hull_in_the_plane_is_a_polygon), CASE(points_without_a_hull_are_refused),
        CASE(nothing_leaks_when_an_allocation_fails));
}
