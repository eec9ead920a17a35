/* test_gjk.c - distances of cores that are apart, against closed forms. */
#include <float.h>

#include "couples.h"

static cairn_gjk_end walk(const placed *p, double limit, cairn_distance *d)
{
    *d = (cairn_distance){ .normal = { 0, 0, 1 } };
    return cairn_gjk(&p->couple, limit, 0, d);
}

/* Cubes of edge 2, middles 5 apart along x: face to face, 3 between. */
TEST(two_cubes_face_to_face)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    cairn_distance d;
    put(&p, 3, 5, 0.5, -0.25);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_APART);
    CHECK_NEAR(d.gap, 3, 1e-15);
    CHECK_VEC(d.normal, 1, 0, 0, 1e-15);
    CHECK_NEAR(d.on_a.x, 4, 1e-15);
    CHECK_NEAR(d.on_b.x, 1, 1e-15);
    CHECK_NEAR(d.on_a.y - d.on_b.y, 0, 1e-15);
}

/* Corner (4, 3, 2) - (1, 1, 1): the distance of (3, 2, 1) is sqrt(14). */
TEST(two_cubes_corner_to_corner)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    cairn_distance d;
    put(&p, 3, 5, 4, 3);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_APART);
    CHECK_NEAR(d.gap, sqrt(14), 1e-15);
    CHECK_VEC(d.on_b, 1, 1, 1, 1e-15);
    CHECK_VEC(d.on_a, 4, 3, 2, 1e-15);
}

/* Two segments at right angles, 0.7 apart along z. */
TEST(crossing_edges)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_CAPSULE, .length = 2, .axis = { 1, 0, 0 } },
                            { .kind = CAIRN_SHAPE_CAPSULE, .length = 2, .axis = { 0, 1, 0 } } } };
    cairn_distance d;
    put(&p, 3, 0.3, -0.2, 0.7);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_APART);
    CHECK_NEAR(d.gap, 0.7, 1e-15);
    CHECK_VEC(d.on_a, 0, -0.2, 0.7, 1e-15);
    CHECK_VEC(d.on_b, 0, -0.2, 0, 1e-15);
}

/* A gap of 1e-9 in a size of 3: the direction is exact all the same. */
TEST(almost_touching_faces)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    cairn_distance d;
    put(&p, 3, 0.3, 0.2, 2 + 1e-9);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_APART);
    CHECK_NEAR(d.gap, 1e-9, 1e-15);
    CHECK_VEC(d.normal, 0, 0, 1, 1e-6);
}

TEST(overlapping_cores_touch)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    cairn_distance d;
    put(&p, 3, 1.9, 1.9, 1.9);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_TOUCH);
    put(&p, 3, 0, 0, 2);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_TOUCH);
}

/* 3 apart: farther than 2.9, not than 3.1. */
TEST(the_walk_stops_beyond_the_limit)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    cairn_distance d;
    put(&p, 3, 5, 0, 0);
    CHECK_INT(walk(&p, 2.9, &d), CAIRN_GJK_FAR);
    CHECK_INT(walk(&p, 3.1, &d), CAIRN_GJK_APART);
}

/* A rectangle over the corner of another in the plane: from (2, 2) to (1, 1). */
TEST(rectangles_in_the_plane)
{
    placed p = { .shape = { box_of(2, 2, 0), box_of(2, 2, 0) } };
    cairn_distance d = { .normal = { 0, 1, 0 } };
    put(&p, 2, 3, 3, 0);
    CHECK_INT(cairn_gjk(&p.couple, DBL_MAX, 0, &d), CAIRN_GJK_APART);
    CHECK_NEAR(d.gap, sqrt(2), 1e-15);
    put(&p, 2, 1.5, 1.5, 0);
    CHECK_INT(cairn_gjk(&p.couple, DBL_MAX, 0, &d), CAIRN_GJK_TOUCH);
}

/* Segments along one line, and on top of each other: every simplex is flat. */
TEST(flat_simplices)
{
    placed p = { .shape = { { .kind = CAIRN_SHAPE_CAPSULE, .length = 2, .axis = { 1, 0, 0 } },
                            { .kind = CAIRN_SHAPE_CAPSULE, .length = 2, .axis = { 1, 0, 0 } } } };
    cairn_distance d;
    put(&p, 3, 5, 0, 0);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_APART);
    CHECK_NEAR(d.gap, 3, 1e-15);
    put(&p, 3, 0.5, 0, 0);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_TOUCH);
    put(&p, 3, 0.5, 0, 1e-3);
    CHECK_INT(walk(&p, DBL_MAX, &d), CAIRN_GJK_APART);
    CHECK_NEAR(d.gap, 1e-3, 1e-17);
}

int main(void)
{
    RUN(CASE(two_cubes_face_to_face), CASE(two_cubes_corner_to_corner), CASE(crossing_edges),
        CASE(almost_touching_faces), CASE(overlapping_cores_touch),
        CASE(the_walk_stops_beyond_the_limit), CASE(rectangles_in_the_plane), CASE(flat_simplices));
}
