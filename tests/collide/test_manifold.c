/* test_manifold.c - contact points: of faces, of manifolds, of the pieces of a wall, and which
 * are kept. */
#include "base/common.h"
#include "collide/collide.h"
#include "collide/convex.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/collide/meetings.h"

/* ==== test_faces: triangles of meshes and segments of polylines as colliders ================== */

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

static cairn_collider collider_at(const cairn_shape *shape, cairn_vec3 x)
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
    cairn_collider b = collider_at(&mesh, cairn_vec(0, 0, 0));
    for (int k = 0; k < 5; k++) {
        cairn_collider a = collider_at(&ball, cairn_vec(0.2 * k - 0.4, 0.1, 1.3));
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
    cairn_collider b = collider_at(&mesh, cairn_vec(0, 0, 0));
    cairn_collider a = collider_at(&ball, cairn_vec(1.2, 0, 1.2)); /* 0.2 sqrt(2) from the edge */
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
    cairn_collider a = collider_at(&mesh, cairn_vec(0, 0, 1.05)),
                   b = collider_at(&wall, cairn_vec(0, 0, 0));
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
    cairn_collider b = collider_at(&chain, cairn_vec(0, 0, 0));
    cairn_collider above = collider_at(&disk, cairn_vec(0.2, 0.4, 0));
    int count = find(&above, &b, w);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        CHECK_NEAR(w[i].normal.y, 1, 1e-12);
        CHECK_NEAR(w[i].gap, -0.1, 1e-12);
    }
    cairn_collider below = collider_at(&disk, cairn_vec(0.2, -0.4, 0));
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
    cairn_collider a = collider_at(&ball, cairn_vec(0.01, 0.02, 1.3)),
                   b = collider_at(&mesh, cairn_vec(0, 0, 0));
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
    cairn_collider a = collider_at(&point, cairn_vec(0.9, 0.3, 1 - 1e-7));
    cairn_collider b = collider_at(&mesh, cairn_vec(0, 0, 0));
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
    cairn_collider a = collider_at(&ball, cairn_vec(0.3, 0.1, -1.3)),
                   b = collider_at(&mesh, cairn_vec(0, 0, 0));
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
    cairn_collider b = collider_at(&chain, cairn_vec(0, 0, 0));
    cairn_witness w[8];
    cairn_collider a = collider_at(&point, cairn_vec(0.03 * c, 0.03 * c, 0));
    int count = find(&a, &b, w);
    CHECK_INT(count, 2);
    CHECK_NEAR(gap_along(w, count, floor), 0.03 * c, 1e-15);
    CHECK_NEAR(gap_along(w, count, ramp), 0, 1e-15);
    a = collider_at(&point, cairn_vec(0.5 * c, 0.5 * c, 0));
    CHECK_INT(find(&a, &b, w), 1);
    a = collider_at(&point, cairn_vec(3e-4, -1e-3, 0));
    count = find(&a, &b, w);
    CHECK_INT(count, 2);
    CHECK_NEAR(gap_along(w, count, floor), -1e-3, 1e-15);
    CHECK_NEAR(gap_along(w, count, ramp), -1.3e-3 * c, 1e-15);
    cairn_geometry_release(chain.geometry);
}

GROUP(test_faces)
{
    RUN(CASE(a_ball_on_a_cube_of_triangles_sees_the_normal_of_the_face),
        CASE(beside_an_edge_the_normal_leans_over_it),
        CASE(a_cube_of_triangles_stands_on_its_corners), CASE(a_polyline_is_solid_on_one_side),
        CASE(a_ball_over_the_tip_of_a_pyramid_touches_it), CASE(a_point_that_sinks_in_is_not_lost),
        CASE(a_ball_behind_a_triangle_does_not_see_it), CASE(in_a_hollow_both_faces_are_met));
}

/* ==== test_manifold: contact points of faces, edges and corners =============================== */

typedef struct answer {
    int count;
    cairn_witness w[CAIRN_FLAT_WITNESSES];
} answer;

static answer points_of(const placed *p, double margin)
{
    cairn_distance d;
    answer a = { 0 };
    double reach = margin + p->convex[0].rounding + p->convex[1].rounding;
    if (cairn_distance_find(&p->couple, reach, &d))
        a.count = cairn_manifold_find(&p->couple, &d, margin, a.w);
    return a;
}

static double least_gap(const answer *a)
{
    double least = INFINITY;
    for (int k = 0; k < a->count; k++)
        least = fmin(least, a->w[k].gap);
    return least;
}

/* On a_b and on_a differ by the gap along the normal, features ascend and differ. */
static void check_consistent(const answer *a)
{
    for (int k = 0; k < a->count; k++) {
        const cairn_witness *w = &a->w[k];
        cairn_vec3 off = cairn_add_scaled(cairn_sub(w->on_a, w->on_b), -w->gap, w->normal);
        CHECK_NEAR(cairn_norm(off), 0, 1e-12);
        CHECK(w->feature >= 0);
        if (k > 0)
            CHECK(w->feature > a->w[k - 1].feature);
    }
}

static cairn_quat turn(double x, double y, double z)
{
    return cairn_quat_exp(cairn_vec(x, y, z));
}

/* A cube of edge 1 on a slab of 10 x 10 x 2. */
static placed cube_on_slab(cairn_quat q, double height)
{
    placed p = { .shape = { box_of(1, 1, 1), box_of(10, 10, 2) } };
    p.at[0] = upright(&p.shape[0], 1, 2, 1 + height);
    p.at[1] = upright(&p.shape[1], 0, 0, 0);
    p.at[0].q = q;
    return p;
}

static answer rest(cairn_quat q, double height, double margin)
{
    placed p = cube_on_slab(q, height);
    for (int k = 0; k < 2; k++)
        p.at[k].shape = &p.shape[k];
    couple_up(&p, 3);
    answer a = points_of(&p, margin);
    check_consistent(&a);
    return a;
}

TEST(a_cube_on_its_face_has_four_points)
{
    answer a = rest(turn(0, 0, 0.3), 0.5, 0.01);
    CHECK_INT(a.count, 4);
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(a.w[k].gap, 0, 1e-15);
        CHECK_VEC(a.w[k].normal, 0, 0, 1, 0);
        CHECK_NEAR(hypot(a.w[k].on_a.x - 1, a.w[k].on_a.y - 2), sqrt(0.5), 1e-14);
    }
}

TEST(a_cube_on_its_edge_has_two_points)
{
    answer a = rest(turn(M_PI / 4, 0, 0), sqrt(0.5), 0.01);
    CHECK_INT(a.count, 2);
    for (int k = 0; k < 2; k++) {
        CHECK_NEAR(a.w[k].gap, 0, 1e-14);
        CHECK_NEAR(fabs(a.w[k].on_a.x - 1), 0.5, 1e-14);
        CHECK_NEAR(a.w[k].on_a.y, 2, 1e-14);
    }
}

/* The diagonal upright: turned by 45 degrees about x, then by atan(1/sqrt 2) about y. */
TEST(a_cube_on_its_corner_has_one_point)
{
    cairn_quat q = cairn_quat_multiply(turn(0, atan(sqrt(0.5)), 0), turn(M_PI / 4, 0, 0));
    answer a = rest(q, 0.5 * sqrt(3), 0.01);
    CHECK_INT(a.count, 1);
    CHECK_NEAR(a.w[0].gap, 0, 1e-14);
    CHECK_VEC(a.w[0].on_a, 1, 2, 1, 1e-14);
}

/* Above, touching, inside: the same four points with their gaps. */
TEST(points_keep_their_keys_through_touching)
{
    answer touching = rest(turn(0, 0, 0.3), 0.5, 0.01);
    static const double heights[] = { 0.501, 0.5 + 1e-12, 0.5 - 1e-12, 0.499 };
    for (int i = 0; i < 4; i++) {
        answer a = rest(turn(0, 0, 0.3), heights[i], 0.01);
        CHECK_INT(a.count, 4);
        for (int k = 0; k < 4; k++) {
            CHECK_INT(a.w[k].feature, touching.w[k].feature);
            CHECK_NEAR(a.w[k].gap, heights[i] - 0.5, 1e-14);
        }
    }
}

/* Rocked by up to 1e-3 about all axes: four points, the same keys, gaps of the corners. */
TEST(small_tilts_keep_four_points)
{
    answer flat = rest(turn(0, 0, 0.3), 0.5, 0.01);
    uint64_t state = 3;
    for (int i = 0; i < 200; i++) {
        cairn_quat tilt = cairn_quat_exp(cairn_scale(1e-3, draw_unit(&state, 3)));
        answer a = rest(cairn_quat_multiply(tilt, turn(0, 0, 0.3)), 0.5, 0.01);
        CHECK_INT(a.count, 4);
        for (int k = 0; k < 4; k++)
            CHECK_INT(a.w[k].feature, flat.w[k].feature);
    }
}

/* Tilted by 0.1 rad about x: the far edge is 0.1 higher, beyond the margin. */
TEST(points_beyond_the_margin_are_left_out)
{
    answer a = rest(turn(0.1, 0, 0), 0.5 * (cos(0.1) + sin(0.1)), 0.05);
    CHECK_INT(a.count, 2);
    CHECK_INT(rest(turn(0.1, 0, 0), 0.5 * (cos(0.1) + sin(0.1)), 0.2).count, 4);
    CHECK_INT(rest(turn(0, 0, 0), 0.7, 0.1).count, 0);
}

/* Bricks of a wall: 2 x 1 x 1, shifted by half a length: the overlap is 1 x 1. */
TEST(half_overlapping_bricks)
{
    placed p = { .shape = { box_of(2, 1, 1), box_of(2, 1, 1) } };
    put(&p, 3, 1, 0, 1);
    answer a = points_of(&p, 0.01);
    check_consistent(&a);
    CHECK_INT(a.count, 4);
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(fabs(a.w[k].on_a.x - 0.5), 0.5, 1e-14);
        CHECK_NEAR(fabs(a.w[k].on_a.y), 0.5, 1e-14);
    }
}

/* Edges that cross at right angles, 0.01 apart: one point where they cross. */
TEST(crossing_edges_have_one_point)
{
    placed p = { .shape = { box_of(4, 1, 1), box_of(4, 1, 1) } };
    p.at[0] = upright(&p.shape[0], 0.3, 0.2, 2 * sqrt(0.5) + 0.01);
    p.at[1] = upright(&p.shape[1], 0, 0, 0);
    p.at[0].q = turn(M_PI / 4, 0, 0);
    p.at[1].q = cairn_quat_multiply(turn(0, 0, M_PI / 2), turn(M_PI / 4, 0, 0));
    couple_up(&p, 3);
    answer a = points_of(&p, 0.02);
    check_consistent(&a);
    CHECK_INT(a.count, 1);
    CHECK_NEAR(a.w[0].gap, 0.01, 1e-14);
    CHECK_VEC(a.w[0].on_b, 0, 0.2, sqrt(0.5), 1e-14);
}

/* A cylinder standing on a slab: four of its rim points; tilted, the lowest point of the rim. */
TEST(cylinders)
{
    placed p = {
        .shape = { { .kind = CAIRN_SHAPE_CYLINDER, .radius = 1, .height = 2, .axis = { 0, 0, 1 } },
                   box_of(10, 10, 2) }
    };
    put(&p, 3, 0, 0, 2);
    answer a = points_of(&p, 0.01);
    check_consistent(&a);
    CHECK_INT(a.count, 8);
    p.at[0].q = turn(0.2, 0.1, 0);
    couple_up(&p, 3);
    double radial = hypot(p.convex[0].axes[2].x, p.convex[0].axes[2].y);
    double lowest = 1 - p.convex[0].axes[2].z - radial; /* of z - 1 */
    a = points_of(&p, 0.01);
    check_consistent(&a);
    CHECK_NEAR(least_gap(&a), lowest, 1e-13);
}

/* A capsule of length 2 lying on the edge of a slab: its end and where it crosses the edge. */
TEST(a_capsule_over_an_edge)
{
    placed p = {
        .shape = { { .kind = CAIRN_SHAPE_CAPSULE, .radius = 0.5, .length = 2, .axis = { 1, 0, 0 } },
                   box_of(10, 10, 2) }
    };
    put(&p, 3, 5.2, 0, 1.5);
    answer a = points_of(&p, 0.01);
    check_consistent(&a);
    CHECK_INT(a.count, 2);
    double x = a.w[0].on_a.x + a.w[1].on_a.x, apart = fabs(a.w[0].on_a.x - a.w[1].on_a.x);
    CHECK_NEAR(x, 9.2, 1e-14);
    CHECK_NEAR(apart, 0.8, 1e-14);
    CHECK_NEAR(a.w[0].on_a.z, 1, 1e-14);
}

/* Squares in the plane: one on the half of another. */
TEST(squares_have_two_points)
{
    placed p = { .shape = { box_of(2, 2, 0), box_of(2, 2, 0) } };
    put(&p, 2, 1, 2, 0);
    answer a = points_of(&p, 0.01);
    check_consistent(&a);
    CHECK_INT(a.count, 2);
    CHECK_NEAR(a.w[0].on_a.x + a.w[1].on_a.x, 1, 1e-14);
    CHECK_VEC(a.w[0].normal, 0, 1, 0, 0);
    p.at[0].q = turn(0, 0, M_PI / 4);
    p.at[0].x = cairn_vec(0, 1 + sqrt(2), 0);
    couple_up(&p, 2);
    a = points_of(&p, 0.01);
    CHECK_INT(a.count, 1);
    CHECK_NEAR(a.w[0].gap, 0, 1e-14);
}

/* Along a normal of ours: a cube beside a slab has no point over it. */
TEST(along_a_given_normal)
{
    placed p = { .shape = { box_of(1, 1, 1), box_of(10, 10, 2) } };
    cairn_witness w[4];
    put(&p, 3, 1, 2, 1.5);
    CHECK_INT(cairn_manifold_along(&p.couple, cairn_vec(0, 0, 1), 0.1, w), 4);
    put(&p, 3, 5.6, 2, 1.5);
    CHECK_INT(cairn_manifold_along(&p.couple, cairn_vec(0, 0, 1), 0.1, w), 0);
}

/* In every random pair one of the points has the exact gap. */
TEST(the_deepest_point_has_the_gap)
{
    uint64_t state = 8;
    for (int k = 0; k < 20000; k++) {
        placed p;
        for (int i = 0; i < 2; i++) {
            cairn_shape_kind kind = convex_kinds_3d[1 + cairn_random_next(&state) % 6];
            p.shape[i] = draw_shape(kind, 3, &state);
            p.at[i] = draw_collider(&p.shape[i], 3, 3, &state);
        }
        couple_up(&p, 3);
        cairn_distance d;
        CHECK(cairn_distance_find(&p.couple, 1e9, &d));
        answer a = points_of(&p, 1e9);
        CHECK(a.count >= 1);
        double gap = d.gap - p.convex[0].rounding - p.convex[1].rounding;
        if (gap > -CAIRN_DEEP * p.couple.size)
            CHECK_NEAR(least_gap(&a), gap, 1e-8 * p.couple.size);
    }
}

/* A point in line with a segment sees the end of it. Seen end on the segment has no extent, and where
 * along it the point is was decided by rounding: 7.5e-6 m too far inside. */
TEST(a_segment_seen_end_on_is_touched_at_its_end)
{
    const cairn_vec3 ends[2] = { { 0.25873560196965084, -0.0701052242030046, 0 },
                                 { 0.3544462195486813, -0.09603831672280613, 0 } };
    const cairn_vec3 n = { 0.9651971873784582, -0.26152321020650016, 0 };
    const double distance = 0.06634007596409985;
    cairn_shape point = cairn_shape_default(CAIRN_SHAPE_POINT, 2);
    cairn_collider c = { .shape = &point };
    cairn_convex a, b = cairn_convex_triangle(ends, 2);
    cairn_distance d;
    cairn_witness w[CAIRN_WITNESSES];
    cairn_collider_place(&c,
                         (cairn_pose){ cairn_add_scaled(ends[1], distance, n), { 1, 0, 0, 0 } });
    CHECK(cairn_convex_make(&c, &a));
    cairn_couple couple = cairn_couple_make(&a, &b, 2);
    CHECK(cairn_distance_find(&couple, 1, &d));
    CHECK_INT(cairn_manifold_find(&couple, &d, 1, w), 1);
    CHECK_NEAR(w[0].gap, distance, 1e-15);
    CHECK_NEAR(w[0].on_b.x, ends[1].x, 1e-15);
}

/* A point over the end of a segment 2 m long that is seen 70 degrees from its normal. What is within
 * rounding, 1e-9 of the size, past the end counts along the segment, not as it is seen. */
TEST(a_face_seen_aslant_ends_where_it_ends)
{
    const cairn_vec3 ends[2] = { { -1, 0, 0 }, { 1, 0, 0 } };
    const double past[2] = { 0.5e-9, 2e-9 }, slant = 70 * M_PI / 180;
    const cairn_vec3 n = { sin(slant), cos(slant), 0 };
    cairn_shape point = cairn_shape_default(CAIRN_SHAPE_POINT, 2);
    cairn_convex a, b = cairn_convex_triangle(ends, 2);
    for (int k = 0; k < 2; k++) {
        cairn_collider c = { .shape = &point };
        cairn_witness w[CAIRN_WITNESSES];
        cairn_vec3 at = cairn_add_scaled(cairn_vec(1 + past[k], 0, 0), 0.1, n);
        cairn_collider_place(&c, (cairn_pose){ at, { 1, 0, 0, 0 } });
        CHECK(cairn_convex_make(&c, &a));
        cairn_couple couple = cairn_couple_make(&a, &b, 2);
        CHECK_INT(cairn_manifold_along(&couple, n, 1, w), 1 - k);
    }
}

GROUP(test_manifold)
{
    RUN(CASE(a_face_seen_aslant_ends_where_it_ends),
        CASE(a_segment_seen_end_on_is_touched_at_its_end), CASE(a_cube_on_its_face_has_four_points),
        CASE(a_cube_on_its_edge_has_two_points), CASE(a_cube_on_its_corner_has_one_point),
        CASE(points_keep_their_keys_through_touching), CASE(small_tilts_keep_four_points),
        CASE(points_beyond_the_margin_are_left_out), CASE(half_overlapping_bricks),
        CASE(crossing_edges_have_one_point), CASE(cylinders), CASE(a_capsule_over_an_edge),
        CASE(squares_have_two_points), CASE(along_a_given_normal),
        CASE(the_deepest_point_has_the_gap));
}

/* ==== test_reduce: which contact points are kept ============================================== */

static cairn_witness at(double x, double y, double gap, int feature)
{
    return (cairn_witness){
        .on_a = { x, y, 0 }, .normal = { 0, 0, 1 }, .gap = gap, .feature = feature
    };
}

/* A regular octagon: every second corner, the largest quadrilateral, of area 2. */
TEST(an_octagon_becomes_a_square)
{
    cairn_witness p[8];
    for (int k = 0; k < 8; k++)
        p[k] = at(cos(k * M_PI / 4), sin(k * M_PI / 4), 0, 10 + k);
    CHECK_INT(cairn_witnesses_reduce(p, 8, 4), 4);
    for (int k = 0; k < 4; k++)
        CHECK_INT(p[k].feature, 10 + 2 * k);
}

/* Of up to 8, all corners stay, whatever lies between them or on their sides. */
TEST(the_corners_of_a_polygon_stay)
{
    for (int corners = 3; corners <= 8; corners++) {
        cairn_witness p[24];
        for (int k = 0; k < corners; k++) {
            double turn = 2 * M_PI / corners, c = cos(k * turn), s = sin(k * turn);
            double side[2] = { 0.5 * (c + cos((k + 1) * turn)), 0.5 * (s + sin((k + 1) * turn)) };
            p[corners - 1 - k] = at(c, s, 0, k);
            p[corners + k] = at(side[0], side[1], 0, 100 + k);
            p[2 * corners + k] = at(0.5 * c, 0.5 * s, 0, 200 + k);
        }
        CHECK_INT(cairn_witnesses_reduce(p, 3 * corners, 8), corners);
        for (int k = 0; k < corners; k++)
            CHECK_INT(p[k].feature, k);
    }
}

TEST(few_points_are_only_sorted)
{
    cairn_witness p[3] = { at(0, 0, 0, 7), at(1, 0, 0, 3), at(0, 1, 0, 5) };
    CHECK_INT(cairn_witnesses_reduce(p, 3, 4), 3);
    CHECK_INT(p[0].feature, 3);
    CHECK_INT(p[1].feature, 5);
    CHECK_INT(p[2].feature, 7);
}

/* Equal gaps but for rounding: the choice does not change. */
TEST(rounding_does_not_change_the_choice)
{
    for (int i = 0; i < 8; i++) {
        cairn_witness p[8];
        for (int k = 0; k < 8; k++)
            p[k] = at(cos(k * M_PI / 4), sin(k * M_PI / 4), k == i ? -1e-15 : 0, 10 + k);
        p[i].on_a.x *= 1 + 1e-14;
        CHECK_INT(cairn_witnesses_reduce(p, 8, 4), 4);
        CHECK_INT(p[0].feature, 10);
        CHECK_INT(p[3].feature, 16);
    }
}

/* A point in the middle that is clearly deeper takes the place of a corner. */
TEST(the_deepest_point_stays)
{
    cairn_witness p[5] = { at(-1, -1, 0, 1), at(1, -1, 0, 2), at(1, 1, 0, 3), at(-1, 1, 0, 4),
                           at(0.1, 0.1, -0.01, 5) };
    CHECK_INT(cairn_witnesses_reduce(p, 5, 4), 4);
    CHECK_INT(p[3].feature, 5);
}

/* On a line: both ends, and the deepest between. */
TEST(points_on_a_line)
{
    cairn_witness p[5] = { at(0, 0, 0, 1), at(1, 0, 0, 2), at(2, 0, -0.1, 3), at(3, 0, 0, 4),
                           at(4, 0, 0, 5) };
    CHECK_INT(cairn_witnesses_reduce(p, 5, 4), 3);
    CHECK_INT(p[0].feature, 1);
    CHECK_INT(p[1].feature, 3);
    CHECK_INT(p[2].feature, 5);
}

TEST(two_points_in_the_plane)
{
    cairn_witness p[3] = { at(0, 0, 0, 1), at(1, 0, 0, 2), at(3, 0, 0, 3) };
    CHECK_INT(cairn_witnesses_reduce(p, 3, 2), 2);
    CHECK_INT(p[0].feature, 1);
    CHECK_INT(p[1].feature, 3);
}

/* 20 x 20 points: the corners; a clearly deeper point takes the place of the corner next to it. */
TEST(of_very_many_points_the_corners_stay)
{
    cairn_witness p[400];
    int chosen[CAIRN_FLAT_WITNESSES], sum = 0;
    for (int k = 0; k < 400; k++)
        p[k] = at(k % 20, k / 20, 0, k);
    CHECK_INT(cairn_witnesses_choose(p, 400, 4, chosen), 4);
    for (int k = 0; k < 4; k++)
        sum += chosen[k];
    CHECK_INT(sum, 0 + 19 + 380 + 399);
    p[21].gap = -0.1;
    CHECK_INT(cairn_witnesses_choose(p, 400, 4, chosen), 4);
    sum = 0;
    for (int k = 0; k < 4; k++)
        sum += chosen[k];
    CHECK_INT(sum, 21 + 19 + 380 + 399);
}

GROUP(test_reduce)
{
    RUN(CASE(an_octagon_becomes_a_square), CASE(the_corners_of_a_polygon_stay),
        CASE(few_points_are_only_sorted), CASE(rounding_does_not_change_the_choice),
        CASE(the_deepest_point_stays), CASE(points_on_a_line), CASE(two_points_in_the_plane),
        CASE(of_very_many_points_the_corners_stay));
}

/* ==== test_pieces: compounds and meshes taken apart into convex pieces ======================== */

enum { PARTS = 30 };

/* `count` balls of radius 0.3 at random in a cube of 4 m. */
static cairn_shape cluster(int count, uint64_t seed)
{
    cairn_part parts[PARTS] = { 0 };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < count; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
        parts[k].shape.radius = 0.3;
        parts[k].pose.q.w = 1;
        parts[k].pose.x =
            cairn_vec(cairn_random_between(&seed, -2, 2), cairn_random_between(&seed, -2, 2),
                      cairn_random_between(&seed, -2, 2));
    }
    CHECK_OK(cairn_compound_create(parts, count, 3, &shape.geometry, NULL));
    return shape;
}

/* A flat square of 2 x n x n triangles, 1 m wide each cell, about the origin. */
static cairn_shape sheet(int n)
{
    double heights[400] = { 0 };
    const cairn_height_field_def def = { n + 1, n + 1, { 1, 1 }, heights };
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    CHECK_OK(cairn_height_field_create(&def, &shape.geometry, NULL));
    return shape;
}

static cairn_collider placed_piece(const cairn_shape *shape, cairn_vec3 x, cairn_vec3 turn)
{
    cairn_collider c = { .shape = shape, .movable = true };
    cairn_collider_place(&c, (cairn_pose){ x, cairn_quat_exp(turn) });
    return c;
}

/* Whether the balls i and j are within both reaches of each other, 0.15 m in these tests. */
static bool parts_are_near(const cairn_collider *a, int i, const cairn_collider *b, int j)
{
    cairn_collider one, two;
    cairn_collider_piece(a, (cairn_piece){ i, -1 }, &one);
    cairn_collider_piece(b, (cairn_piece){ j, -1 }, &two);
    return cairn_norm(cairn_sub(one.x, two.x)) - 0.6 <= a->reach + b->reach;
}

/* Whether the boxes of the two pieces, made larger by the reaches, overlap. */
static bool boxes_are_near(const cairn_collider *a, const cairn_collider *b, const cairn_leaf *leaf)
{
    cairn_collider one, two;
    cairn_collider_piece(a, leaf->first, &one);
    cairn_collider_piece(b, leaf->second, &two);
    cairn_collider_enclose(&one);
    cairn_collider_enclose(&two);
    return cairn_boxes_overlap(&one, &two);
}

static bool is_listed(const cairn_leaf_list *list, int i, int j)
{
    for (size_t k = 0; k < list->count; k++)
        if (list->items[k].first.part == i && list->items[k].second.part == j)
            return true;
    return false;
}

TEST(simple_shapes_have_one_leaf)
{
    cairn_shape ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_leaf_list list = { 0 };
    ball.radius = 1;
    cairn_collider a = placed_piece(&ball, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0)), made;
    CHECK_OK(cairn_leaves_add(&a, &a, 7, &list));
    CHECK_INT(list.count, 1);
    CHECK_INT(list.items[0].pair, 7);
    CHECK_INT(list.items[0].first.part, -1);
    CHECK_INT(list.items[0].second.face, -1);
    CHECK(cairn_collider_piece(&a, list.items[0].first, &made) == &a);
    cairn_leaf_list_destroy(&list);
}

/* all parts that can touch, each pair once and in order, and none whose boxes are apart */
TEST(two_compounds_have_the_leaves_of_all_near_parts)
{
    cairn_shape one = cluster(30, 1), two = cluster(20, 2);
    int near = 0;
    for (int round = 0; round < 20; round++) {
        cairn_collider a = placed_piece(&one, cairn_vec(0, 0, 0), cairn_vec(0, 0.2 * round, 0));
        cairn_collider b =
            placed_piece(&two, cairn_vec(0.2 * round, 1, 0), cairn_vec(1, 0, 0.1 * round));
        cairn_leaf_list list = { 0 };
        a.reach = 0.05;
        b.reach = 0.1;
        CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
        for (int i = 0; i < 30; i++)
            for (int j = 0; j < 20; j++)
                if (parts_are_near(&a, i, &b, j)) {
                    CHECK(is_listed(&list, i, j));
                    near++;
                }
        for (size_t k = 0; k < list.count; k++) {
            const cairn_leaf *leaf = &list.items[k];
            CHECK(boxes_are_near(&a, &b, leaf));
            int number = 20 * leaf->first.part + leaf->second.part;
            CHECK(k == 0 || 20 * leaf[-1].first.part + leaf[-1].second.part < number);
        }
        cairn_leaf_list_destroy(&list);
    }
    CHECK(near > 100);
    cairn_geometry_release(one.geometry);
    cairn_geometry_release(two.geometry);
}

TEST(all_parts_meet_an_unbounded_wall)
{
    cairn_shape many = cluster(30, 3), wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    cairn_collider a = placed_piece(&many, cairn_vec(0, 0, 9), cairn_vec(0, 0, 0));
    cairn_collider b = placed_piece(&wall, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    cairn_leaf_list list = { 0 };
    CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
    CHECK_OK(cairn_leaves_add(&b, &a, 1, &list));
    CHECK_INT(list.count, 60);
    CHECK_INT(list.items[59].second.part, 29);
    cairn_leaf_list_destroy(&list);
    cairn_geometry_release(many.geometry);
}

/* a ball of radius 0.25 over the middle of a cell of 10 x 10 sees its two triangles */
TEST(a_ball_over_a_field_sees_the_triangles_below_it)
{
    cairn_shape field = sheet(10), ball = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    cairn_leaf_list list = { 0 };
    ball.radius = 0.25;
    cairn_collider a = placed_piece(&ball, cairn_vec(1.5, 2.5, 0.3), cairn_vec(0, 0, 0));
    cairn_collider b = placed_piece(&field, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
    CHECK_INT(list.count, 0); /* 0.05 above */
    a.reach = 0.1;
    CHECK_OK(cairn_leaves_add(&a, &b, 0, &list));
    CHECK_INT(list.count, 2);
    CHECK_INT(list.items[0].second.part, -1);
    CHECK_INT(list.items[1].second.face, list.items[0].second.face + 1);
    cairn_leaf_list_destroy(&list);
    cairn_geometry_release(field.geometry);
}

TEST(a_list_without_memory_says_so)
{
    cairn_shape many = cluster(30, 3);
    cairn_collider a = placed_piece(&many, cairn_vec(0, 0, 0), cairn_vec(0, 0, 0));
    cairn_leaf_list list = { 0 };
    meter m = { .fail_at = 1 };
    meter_install(&m);
    CHECK_INT(cairn_leaves_add(&a, &a, 0, &list), CAIRN_NO_MEMORY);
    cairn_leaf_list_destroy(&list);
    cairn_allocator_set(NULL);
    cairn_geometry_release(many.geometry);
}

GROUP(test_pieces)
{
    RUN(CASE(simple_shapes_have_one_leaf), CASE(two_compounds_have_the_leaves_of_all_near_parts),
        CASE(all_parts_meet_an_unbounded_wall),
        CASE(a_ball_over_a_field_sees_the_triangles_below_it), CASE(a_list_without_memory_says_so));
}
