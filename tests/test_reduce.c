/* test_reduce.c - which contact points are kept. */
#include "check.h"
#include "collide/convex.h"
#include "math/vec.h"

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
    int chosen[4], sum = 0;
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

int main(void)
{
    RUN(CASE(an_octagon_becomes_a_square), CASE(few_points_are_only_sorted),
        CASE(rounding_does_not_change_the_choice), CASE(the_deepest_point_stays),
        CASE(points_on_a_line), CASE(two_points_in_the_plane),
        CASE(of_very_many_points_the_corners_stay));
}
