/* test_faces.c - triangles of meshes and segments of polylines as colliders. */
#include "check.h"
#include "collide/collide.h"
#include "collide/convex.h"
#include "math/vec.h"

/* The cube [-1, 1]^3 as twelve triangles. */
static cairn_shape cube_mesh(void)
{
    static const cairn_vec3 vertices[8] = { { -1, -1, -1 }, { 1, -1, -1 }, { -1, 1, -1 },
                                            { 1, 1, -1 },   { -1, -1, 1 }, { 1, -1, 1 },
                                            { -1, 1, 1 },   { 1, 1, 1 } };
    static const int32_t triangles[36] = { 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                           2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5 };
    const cairn_mesh_def def = { vertices, 8, triangles, 12 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    CHECK_OK(cairn_mesh_create(&def, &shape.geometry, NULL));
    return shape;
}

static cairn_collider placed(const cairn_shape *shape, cairn_vec3 x)
{
    cairn_collider c = { .shape = shape, .reach = 0.1 };
    cairn_collider_place(&c, (cairn_pose){ x, { 1, 0, 0, 0 } });
    return c;
}

/* All witnesses of a against the pieces of b. */
static int find(const cairn_collider *a, const cairn_collider *b, cairn_witness *out)
{
    cairn_leaf_list list = { 0 };
    cairn_collider one, two;
    bool swapped;
    int count = 0, dimension = b->shape->kind == CAIRN_SHAPE_POLYLINE ? 2 : 3;
    CHECK_OK(cairn_leaves_add(a, b, 0, &list));
    for (size_t k = 0; k < list.count; k++) {
        int more = cairn_witnesses_find(cairn_collider_piece(a, list.items[k].first, &one),
                                        cairn_collider_piece(b, list.items[k].second, &two),
                                        dimension, &swapped, out + count);
        CHECK(more >= 0);
        count += more;
    }
    cairn_leaf_list_destroy(&list);
    return count;
}

/* over the middle of the top both triangles are there, with the one normal of the face */
TEST(a_ball_on_a_cube_of_triangles_sees_the_normal_of_the_face)
{
    cairn_shape mesh = cube_mesh(), ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_witness w[64];
    ball.radius = 0.25;
    cairn_collider b = placed(&mesh, cairn_vec(0, 0, 0));
    for (int k = 0; k < 5; k++) {
        cairn_collider a = placed(&ball, cairn_vec(0.2 * k - 0.4, 0.1, 1.3));
        int count = find(&a, &b, w);
        CHECK(count > 0);
        for (int i = 0; i < count; i++) {
            CHECK_NEAR(w[i].normal.z, 1, 1e-12);
            CHECK_NEAR(w[i].gap, 0.05, 1e-12);
        }
    }
    cairn_geometry_release(mesh.geometry);
}

TEST(beside_an_edge_the_normal_leans_over_it)
{
    cairn_shape mesh = cube_mesh(), ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_witness w[64];
    ball.radius = 0.25;
    cairn_collider b = placed(&mesh, cairn_vec(0, 0, 0));
    cairn_collider a = placed(&ball, cairn_vec(1.2, 0, 1.2)); /* 0.2 sqrt(2) from the edge */
    int count = find(&a, &b, w);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(w[i].gap, 0.2 * sqrt(2) - 0.25, 1e-12);
        CHECK_NEAR(w[i].normal.x, sqrt(0.5), 1e-9);
    }
    cairn_geometry_release(mesh.geometry);
}

/* lying on a floor, gap 0.05: the four lower corners, and no others */
TEST(a_cube_of_triangles_stands_on_its_corners)
{
    cairn_shape mesh = cube_mesh(), wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    cairn_witness w[64];
    cairn_collider a = placed(&mesh, cairn_vec(0, 0, 1.05)), b = placed(&wall, cairn_vec(0, 0, 0));
    int count = find(&a, &b, w), corners = 0;
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(w[i].gap, 0.05, 1e-12);
        CHECK_NEAR(fabs(w[i].on_a.x), 1, 1e-12);
        corners |= 1 << ((w[i].on_a.x > 0) + 2 * (w[i].on_a.y > 0));
    }
    CHECK_INT(corners, 15);
    cairn_geometry_release(mesh.geometry);
}

/* outside is on the right: a chain that runs to -x is solid below */
TEST(a_polyline_is_solid_on_one_side)
{
    const cairn_vec3 points[3] = { { 5, 0, 0 }, { 0, 0, 0 }, { -5, 0, 0 } };
    cairn_shape chain = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    cairn_shape disk = cairn_shape_default(CAIRN_SHAPE_SPHERE, 2);
    cairn_witness w[16];
    disk.radius = 0.5;
    CHECK_OK(cairn_polyline_create(points, 3, false, &chain.geometry, NULL));
    cairn_collider b = placed(&chain, cairn_vec(0, 0, 0));
    cairn_collider above = placed(&disk, cairn_vec(0.2, 0.4, 0));
    int count = find(&above, &b, w);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(w[i].normal.y, 1, 1e-12);
        CHECK_NEAR(w[i].gap, -0.1, 1e-12);
    }
    cairn_collider below = placed(&disk, cairn_vec(0.2, -0.4, 0));
    CHECK_INT(find(&below, &b, w), 0);
    cairn_geometry_release(chain.geometry);
}

/* A pyramid over an octagon of radius 1, with its tip at (0, 0, 1). */
static cairn_shape pyramid(void)
{
    cairn_vec3 vertices[10] = { [8] = { 0, 0, 1 }, [9] = { 0, 0, 0 } };
    int32_t triangles[48];
    for (int k = 0; k < 8; k++) {
        int32_t next = (k + 1) % 8;
        const int32_t two[6] = { k, next, 8, next, k, 9 };
        vertices[k] = cairn_vec(cos(0.25 * M_PI * k), sin(0.25 * M_PI * k), 0);
        for (int i = 0; i < 6; i++)
            triangles[6 * k + i] = two[i];
    }
    const cairn_mesh_def def = { vertices, 10, triangles, 16 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_MESH, 3);
    CHECK_OK(cairn_mesh_create(&def, &shape.geometry, NULL));
    return shape;
}

/* The normal at the tip is far from those of all eight sides, and belongs to the tip; beside it, where
 * a side is nearer, that of the side counts. */
TEST(a_ball_over_the_tip_of_a_pyramid_touches_it)
{
    cairn_shape mesh = pyramid(), ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_witness w[64];
    ball.radius = 0.25;
    cairn_collider a = placed(&ball, cairn_vec(0.01, 0.02, 1.3)),
                   b = placed(&mesh, cairn_vec(0, 0, 0));
    int count = find(&a, &b, w);
    CHECK(count >= 1);
    double distance = sqrt(0.0001 + 0.0004 + 0.09);
    for (int k = 0; k < count; k++) {
        CHECK_NEAR(w[k].gap, distance - 0.25, 1e-12);
        CHECK_NEAR(w[k].normal.z, 0.3 / distance, 1e-12);
    }
    cairn_geometry_release(mesh.geometry);
}

/* Of a point that rests on a cube and has sunk in by 1e-7, 0.1 from an edge: the top alone sees it. */
TEST(a_point_that_sinks_in_is_not_lost)
{
    cairn_shape mesh = cube_mesh(), point = cairn_shape_default(CAIRN_SHAPE_POINT, 3);
    cairn_collider a = placed(&point, cairn_vec(0.9, 0.3, 1 - 1e-7));
    cairn_collider b = placed(&mesh, cairn_vec(0, 0, 0));
    cairn_witness w[64];
    CHECK_INT(find(&a, &b, w), 1);
    CHECK_NEAR(w[0].gap, -1e-7, 1e-14);
    CHECK_NEAR(w[0].normal.z, 1, 1e-14);
    cairn_geometry_release(mesh.geometry);
}

/* A ball of radius 0.25 under the cube, within reach of its top and fast: the bottom alone sees it. */
TEST(a_ball_behind_a_triangle_does_not_see_it)
{
    cairn_shape mesh = cube_mesh(), ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    ball.radius = 0.25;
    cairn_collider a = placed(&ball, cairn_vec(0.3, 0.1, -1.3)),
                   b = placed(&mesh, cairn_vec(0, 0, 0));
    a.reach = 5;
    cairn_witness w[64];
    int count = find(&a, &b, w);
    CHECK(count >= 1);
    for (int k = 0; k < count; k++)
        CHECK_NEAR(w[k].normal.z, -1, 1e-12);
    cairn_geometry_release(mesh.geometry);
}

/* A floor along y = 0 and a ramp that rises from the origin at 45 degrees, open above. Over the foot
 * of the ramp a point is over neither end of the floor, and still in its way. */
static cairn_shape hollow(void)
{
    static const cairn_vec3 points[3] = { { 2, 2, 0 }, { 0, 0, 0 }, { -2, 0, 0 } };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    CHECK_OK(cairn_polyline_create(points, 3, false, &shape.geometry, NULL));
    return shape;
}

/* The gap of the witness along a normal; NAN: there is none. */
static double gap_along(const cairn_witness *w, int count, cairn_vec3 n)
{
    for (int k = 0; k < count; k++)
        if (cairn_norm(cairn_sub(w[k].normal, n)) < 1e-12)
            return w[k].gap;
    return NAN;
}

/* A point on the ramp, 0.03 m from its foot, meets the floor 0.03/sqrt(2) m ahead; one farther from
 * the foot than both may move does not; one a little behind both meets both. */
TEST(in_a_hollow_both_faces_are_met)
{
    cairn_shape chain = hollow(), point = cairn_shape_default(CAIRN_SHAPE_POINT, 2);
    double c = sqrt(0.5);
    cairn_vec3 floor = cairn_vec(0, 1, 0), ramp = cairn_vec(-c, c, 0);
    cairn_collider b = placed(&chain, cairn_vec(0, 0, 0));
    cairn_witness w[8];
    cairn_collider a = placed(&point, cairn_vec(0.03 * c, 0.03 * c, 0));
    int count = find(&a, &b, w);
    CHECK_INT(count, 2);
    CHECK_NEAR(gap_along(w, count, floor), 0.03 * c, 1e-15);
    CHECK_NEAR(gap_along(w, count, ramp), 0, 1e-15);
    a = placed(&point, cairn_vec(0.5 * c, 0.5 * c, 0));
    CHECK_INT(find(&a, &b, w), 1);
    a = placed(&point, cairn_vec(3e-4, -1e-3, 0));
    count = find(&a, &b, w);
    CHECK_INT(count, 2);
    CHECK_NEAR(gap_along(w, count, floor), -1e-3, 1e-15);
    CHECK_NEAR(gap_along(w, count, ramp), -1.3e-3 * c, 1e-15);
    cairn_geometry_release(chain.geometry);
}

int main(void)
{
    RUN(CASE(a_ball_on_a_cube_of_triangles_sees_the_normal_of_the_face),
        CASE(beside_an_edge_the_normal_leans_over_it),
        CASE(a_cube_of_triangles_stands_on_its_corners), CASE(a_polyline_is_solid_on_one_side),
        CASE(a_ball_over_the_tip_of_a_pyramid_touches_it), CASE(a_point_that_sinks_in_is_not_lost),
        CASE(a_ball_behind_a_triangle_does_not_see_it), CASE(in_a_hollow_both_faces_are_met));
}
