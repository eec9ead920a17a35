/* test_convex.c - convex shapes in space, and the difference of two of them. */
#include "check.h"
#include "collide/convex.h"
#include "math/vec.h"

static const cairn_shape brick = { .kind = CAIRN_SHAPE_BOX, .size = { 2, 4, 6 } };

/* Turned by 90 degrees about z: x points to y, y to -x. */
static cairn_convex turned_brick(void)
{
    cairn_collider c = { .shape = &brick,
                         .x = { 10, 0, 0 },
                         .q = cairn_quat_exp(cairn_vec(0, 0, M_PI / 2)) };
    cairn_convex out;
    CHECK(cairn_convex_make(&c, &out));
    return out;
}

TEST(support_points_turn_with_the_shape)
{
    cairn_convex c = turned_brick();
    cairn_vec3 p = cairn_convex_support(&c, cairn_vec(1, 0.1, -0.2));
    CHECK_NEAR(p.x, 2, 1e-15);
    CHECK_NEAR(p.y, 1, 1e-15);
    CHECK_NEAR(p.z, -3, 1e-15);
}

TEST(faces_turn_with_the_shape)
{
    cairn_convex c = turned_brick();
    cairn_face f;
    cairn_convex_face(&c, cairn_vec(1, 0.1, -0.2), &f);
    CHECK_INT(f.count, 4);
    CHECK_NEAR(f.normal.x, 1, 1e-15);
    for (int k = 0; k < 4; k++)
        CHECK_NEAR(f.point[k].x, 2, 1e-15);
}

/* Corners at distance 1 from the middle of the legs' triangle (0,0) (3,0) (0,3). */
TEST(a_triangle_is_seen_from_both_sides)
{
    const cairn_vec3 corners[3] = { { 0, 0, 5 }, { 3, 0, 5 }, { 0, 3, 5 } };
    cairn_convex c = cairn_convex_triangle(corners, 3);
    cairn_face f;
    CHECK_NEAR(c.x.x, 1, 1e-15);
    CHECK_NEAR(c.x.z, 5, 1e-15);
    CHECK_NEAR(cairn_convex_support(&c, cairn_vec(0, 1, 0)).y, 2, 1e-15);
    cairn_convex_face(&c, cairn_vec(0, 0, 1), &f);
    CHECK_NEAR(f.normal.z, 1, 1e-15);
    CHECK_INT(f.vertex[0], 0);
    cairn_convex_face(&c, cairn_vec(0, 0, -1), &f);
    CHECK_NEAR(f.normal.z, -1, 1e-15);
    CHECK_INT(f.vertex[0], 2);
}

/* Along an axis of length a, across the other two, the ellipsoid of semi-axes a, b, c has the radii
 * of curvature b^2/a and c^2/a. */
TEST(curvature_of_an_ellipsoid)
{
    const cairn_shape e = { .kind = CAIRN_SHAPE_ELLIPSOID, .semi_axes = { 2, 3, 4 } };
    cairn_collider at = { .shape = &e, .q = { 1, 0, 0, 0 } };
    cairn_convex c;
    CHECK(cairn_convex_make(&at, &c));
    CHECK(cairn_convex_is_smooth(&c));
    cairn_vec3 x = { 1, 0, 0 }, y = { 0, 1, 0 }, z = { 0, 0, 1 };
    cairn_bend bend = cairn_convex_curvature(&c, x, y, z);
    CHECK_NEAR(bend.tt, 4.5, 1e-14);
    CHECK_NEAR(bend.uu, 8, 1e-14);
    CHECK_NEAR(bend.tu, 0, 1e-14);
}

/* Cubes of edge 2 with 5 between their middles: 3 apart along x, -2 along y. */
TEST(the_gap_along_a_direction)
{
    const cairn_shape cube = { .kind = CAIRN_SHAPE_BOX, .size = { 2, 2, 2 } };
    cairn_collider p = { .shape = &cube, .x = { 5, 0, 0 }, .q = { 1, 0, 0, 0 } }, q = p;
    q.x = cairn_vec(0, 0, 0);
    cairn_convex a, b;
    CHECK(cairn_convex_make(&p, &a) && cairn_convex_make(&q, &b));
    cairn_couple c = cairn_couple_make(&a, &b, 3);
    CHECK_NEAR(cairn_couple_gap_along(&c, cairn_vec(1, 0, 0)), 3, 1e-15);
    CHECK_NEAR(cairn_couple_gap_along(&c, cairn_vec(0, 1, 0)), -2, 1e-15);
    CHECK_NEAR(c.size, 2 * sqrt(3), 1e-15);
}

TEST(walls_are_not_convex_shapes)
{
    const cairn_shape wall = { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } };
    cairn_collider at = { .shape = &wall, .q = { 1, 0, 0, 0 } };
    cairn_convex c;
    CHECK(!cairn_convex_make(&at, &c));
}

int main(void)
{
    RUN(CASE(support_points_turn_with_the_shape), CASE(faces_turn_with_the_shape),
        CASE(a_triangle_is_seen_from_both_sides), CASE(curvature_of_an_ellipsoid),
        CASE(the_gap_along_a_direction), CASE(walls_are_not_convex_shapes));
}
