/* test_epa.c - depth and direction of overlaps, against closed forms. */
#include "couples.h"

/* Cubes of edge 2, middles (1.5, 0.5, 0.2) apart: 0.5 deep along x. */
TEST(cubes_part_along_the_shortest_way)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    cairn_distance d = { 0 };
    put(&p, 3, 1.5, 0.5, 0.2);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, -0.5, 1e-15);
    CHECK_VEC(d.normal, 1, 0, 0, 1e-15);
    CHECK_VEC(cairn_sub(d.on_a, d.on_b), -0.5, 0, 0, 1e-14);
}

/* A point 0.1 below the face z = 1 of a cube. */
TEST(a_point_inside_a_cube)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_POINT }, box_of(2, 2, 2) } };
    cairn_distance d = { 0 };
    put(&p, 3, 0.3, -0.4, 0.9);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, -0.1, 1e-15);
    CHECK_VEC(d.normal, 0, 0, 1, 1e-15);
    CHECK_VEC(d.on_b, 0.3, -0.4, 1, 1e-14);
}

TEST(cubes_that_touch_have_depth_zero)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    cairn_distance d = { 0 };
    put(&p, 3, 0.5, 0.5, 2);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, 0, 1e-15);
    CHECK_VEC(d.normal, 0, 0, 1, 1e-15);
}

/* Segments that cross lie in a plane: depth 0 across it. In the plane itself the way out is along
 * it: segments from -1 to 1 along x and y, crossing 0.2 from an end. */
TEST(crossing_segments)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_CAPSULE, .length = 2, .axis = { 1, 0, 0 } },
                            { .kind = CAIRN_SHAPE_CAPSULE, .length = 2, .axis = { 0, 1, 0 } } } };
    cairn_distance d = { 0 };
    put(&p, 3, 0.8, 0, 0);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, 0, 1e-15);
    CHECK_NEAR(fabs(d.normal.z), 1, 1e-15);
    put(&p, 2, 0.8, 0, 0);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, -0.2, 1e-15);
    CHECK_VEC(d.normal, 1, 0, 0, 1e-15);
}

/* C is a point, or a line: there is a unit normal and no depth. */
TEST(cores_without_width)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_SPHERE, .radius = 1 },
                            { .kind = CAIRN_SHAPE_SPHERE, .radius = 1 } } };
    cairn_distance d = { 0 };
    put(&p, 3, 0, 0, 0);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, 0, 0);
    CHECK_NEAR(cairn_norm(d.normal), 1, 1e-15);
    p.shape[1] =
        (cairn_shape){ .kind = CAIRN_SHAPE_CAPSULE, .length = 2, .radius = 1, .axis = { 0, 0, 1 } };
    put(&p, 3, 0, 0, 0.5);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, 0, 1e-15);
    CHECK_NEAR(d.normal.z, 0, 1e-15);
}

/* A ball's centre 0.3 off the axis of a cylinder of radius 1, height 4: 0.7 to the side. */
TEST(a_point_in_a_cylinder)
{
    placed p = {
        .shape = { { .kind = CAIRN_SHAPE_POINT },
                   { .kind = CAIRN_SHAPE_CYLINDER, .radius = 1, .height = 4, .axis = { 0, 0, 1 } } }
    };
    cairn_distance d = { 0 };
    put(&p, 3, 0.3 * 0.6, 0.3 * 0.8, 0.1);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, -0.7, 1e-11);
    CHECK_VEC(d.normal, 0.6, 0.8, 0, 1e-5);
}

/* A disk's centre at distance 0.25 inside the side of a 2 x 2 square. */
TEST(in_the_plane)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_POINT }, box_of(2, 2, 0) } };
    cairn_distance d = { 0 };
    put(&p, 2, 0.1, -0.75, 0);
    cairn_epa(&p.couple, 0, &d);
    CHECK_NEAR(d.gap, -0.25, 1e-15);
    CHECK_VEC(d.normal, 0, -1, 0, 1e-15);
}

int main(void)
{
    RUN(CASE(cubes_part_along_the_shortest_way), CASE(a_point_inside_a_cube),
        CASE(cubes_that_touch_have_depth_zero), CASE(crossing_segments), CASE(cores_without_width),
        CASE(a_point_in_a_cylinder), CASE(in_the_plane));
}
