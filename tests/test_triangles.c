/* test_triangles.c - which normals of a triangle belong to it. The triangles (0,0) (4,0) (0,4) and
 * (4,0) (4,4) (0,4) make a square of edge 4 in the plane z = 0. */
#include "couples.h"

static const cairn_vec3 up = { 0, 0, 1 };
static const cairn_shape ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 0.5 };

/* The edge from corner 1 to corner 2, x + y = 4, has a neighbour with the normal given. */
static cairn_triangle lower_half(cairn_vec3 beyond)
{
    return (cairn_triangle){ .corner = { { 0, 0, 0 }, { 4, 0, 0 }, { 0, 4, 0 } },
                             .beyond = { { 0, 0, 0 }, beyond, { 0, 0, 0 } } };
}

static int touch(const cairn_shape *shape, cairn_vec3 x, const cairn_triangle *t, cairn_witness *w)
{
    cairn_collider at = upright(shape, x.x, x.y, x.z);
    cairn_convex a;
    CHECK(cairn_convex_make(&at, &a));
    return cairn_triangle_witnesses(&a, t, 3, 0.2, w);
}

TEST(a_ball_over_a_triangle)
{
    cairn_triangle t = lower_half(up);
    cairn_witness w[4];
    CHECK_INT(touch(&ball, cairn_vec(1, 1, 0.6), &t, w), 1);
    CHECK_NEAR(w[0].gap, 0.1, 1e-15);
    CHECK_VEC(w[0].normal, 0, 0, 1, 1e-15);
}

/* 0.1 beyond the edge: open, it is touched; flat or hollow, it is the neighbour's business. */
TEST(inner_edges_are_not_touched)
{
    cairn_vec3 x = { 2 + 0.1 * sqrt(0.5), 2 + 0.1 * sqrt(0.5), 0.5 };
    cairn_vec3 out = { sqrt(0.5), sqrt(0.5), 0 };
    cairn_witness w[4];
    cairn_triangle open = lower_half(cairn_vec(0, 0, 0)), flat = lower_half(up);
    cairn_triangle hollow = lower_half(cairn_unit(cairn_add_scaled(up, -0.5, out)));
    CHECK_INT(touch(&ball, x, &open, w), 1);
    CHECK_NEAR(w[0].gap, hypot(0.1, 0.5) - 0.5, 1e-14);
    CHECK_INT(touch(&ball, x, &flat, w), 0);
    CHECK_INT(touch(&ball, x, &hollow, w), 0);
}

/* An edge that bends away by 45 degrees: normals up to 45 degrees are its own. */
TEST(ridges_have_the_normals_between_their_sides)
{
    cairn_vec3 out = { sqrt(0.5), sqrt(0.5), 0 };
    cairn_triangle ridge = lower_half(cairn_unit(cairn_add(up, out)));
    cairn_witness w[4];
    cairn_vec3 near = cairn_add_scaled(cairn_vec(2, 2, 0.5), 0.2, out);
    cairn_vec3 far = cairn_add_scaled(cairn_vec(2, 2, 0.2), 0.5, out);
    CHECK_INT(touch(&ball, near, &ridge, w), 1);
    CHECK_INT(touch(&ball, far, &ridge, w), 0);
}

TEST(the_back_of_a_triangle)
{
    cairn_triangle t = lower_half(up);
    cairn_witness w[4];
    CHECK_INT(touch(&ball, cairn_vec(1, 1, -0.4), &t, w), 0);
    t.two_sided = true;
    CHECK_INT(touch(&ball, cairn_vec(1, 1, -0.4), &t, w), 1);
    CHECK_VEC(w[0].normal, 0, 0, -1, 1e-15);
    CHECK_NEAR(w[0].gap, -0.1, 1e-15);
    /* its edges are turned over as well: flat stays flat */
    CHECK_INT(touch(&ball, cairn_vec(2.1, 2.1, -0.4), &t, w), 0);
}

/* A point has no thickness: rounding puts it behind the face it lies on. It is seen down to half of
 * 0.02 of the edge of 4, which is 0.04, however small the margin. */
TEST(a_point_that_sank_a_little)
{
    cairn_triangle t = lower_half(up);
    cairn_shape point = { .kind = CAIRN_SHAPE_POINT };
    cairn_collider at = upright(&point, 1, 1, 0);
    cairn_witness w[4];
    for (double depth = 0; depth <= 0.039; depth = depth > 0 ? 10 * depth : 1e-12) {
        cairn_convex a;
        at.x.z = -depth;
        CHECK(cairn_convex_make(&at, &a));
        CHECK_INT(cairn_triangle_witnesses(&a, &t, 3, 0, w), 1);
        CHECK_NEAR(w[0].gap, -depth, 1e-15);
        CHECK_VEC(w[0].normal, 0, 0, 1, 1e-15);
    }
    CHECK_INT(touch(&point, cairn_vec(1, 1, -0.041), &t, w), 0);
}

/* A tetrahedron whose origin lies 1 below its base: the base is 0.1 above the triangle. */
TEST(a_hull_beside_its_origin)
{
    const cairn_vec3 corner[4] = { { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 0, 0, 2 } };
    cairn_shape hull = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 3);
    cairn_error error;
    cairn_triangle t = lower_half(up);
    cairn_witness w[4];
    CHECK_INT(cairn_hull_create(corner, 4, 3, &hull.geometry, &error), CAIRN_OK);
    CHECK_INT(touch(&hull, cairn_vec(1, 1, -0.9), &t, w), 3);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(w[k].gap, 0.1, 1e-14);
    cairn_geometry_release(hull.geometry);
}

/* A cube that sinks 0.01 into the square, over the diagonal: all normals are up, and no triangle
 * pushes it aside although that way out is shorter for the smaller part. */
TEST(a_cube_slides_over_an_inner_edge)
{
    cairn_triangle low = lower_half(up);
    cairn_triangle high = { .corner = { { 4, 0, 0 }, { 4, 4, 0 }, { 0, 4, 0 } },
                            .beyond = { { 0, 0, 0 }, { 0, 0, 0 }, up } };
    cairn_shape cube = box_of(1, 1, 1);
    for (int k = -20; k <= 20; k++) {
        cairn_vec3 x = { 2 + 0.05 * k, 2 + 0.05 * k, 0.49 };
        cairn_witness w[8];
        int count = touch(&cube, x, &low, w);
        count += touch(&cube, x, &high, w + count);
        CHECK(count >= 3);
        for (int i = 0; i < count; i++) {
            CHECK_VEC(w[i].normal, 0, 0, 1, 1e-12);
            CHECK_NEAR(w[i].gap, -0.01, 1e-12);
        }
    }
}

/* In the plane: a disk over the joint of two sides in line. */
TEST(sides_of_a_polyline)
{
    /* outside is on the right: walking along -x, above */
    cairn_triangle side = { .corner = { { 2, 0, 0 }, { 0, 0, 0 } },
                            .beyond = { { 0, 1, 0 }, { 0, 1, 0 } } };
    cairn_collider at = upright(&ball, 1, 0.6, 0);
    cairn_convex a;
    cairn_witness w[4];
    CHECK(cairn_convex_make(&at, &a));
    CHECK_INT(cairn_triangle_witnesses(&a, &side, 2, 0.2, w), 1);
    CHECK_VEC(w[0].normal, 0, 1, 0, 1e-15);
    a.x = cairn_vec(2.1, 0.5, 0);
    CHECK_INT(cairn_triangle_witnesses(&a, &side, 2, 0.2, w), 0);
    side.beyond[0] = cairn_vec(0, 0, 0);
    CHECK_INT(cairn_triangle_witnesses(&a, &side, 2, 0.2, w), 1);
}

int main(void)
{
    RUN(CASE(a_ball_over_a_triangle), CASE(inner_edges_are_not_touched),
        CASE(ridges_have_the_normals_between_their_sides), CASE(the_back_of_a_triangle),
        CASE(a_point_that_sank_a_little), CASE(a_hull_beside_its_origin),
        CASE(a_cube_slides_over_an_inner_edge), CASE(sides_of_a_polyline));
}
