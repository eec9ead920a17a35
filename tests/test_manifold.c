/* test_manifold.c - contact points of faces, edges and corners. */
#include "couples.h"
#include "random_shapes.h"

typedef struct answer {
    int count;
    cairn_witness w[4];
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
    CHECK_INT(a.count, 4);
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

int main(void)
{
    RUN(CASE(a_segment_seen_end_on_is_touched_at_its_end), CASE(a_cube_on_its_face_has_four_points),
        CASE(a_cube_on_its_edge_has_two_points), CASE(a_cube_on_its_corner_has_one_point),
        CASE(points_keep_their_keys_through_touching), CASE(small_tilts_keep_four_points),
        CASE(points_beyond_the_margin_are_left_out), CASE(half_overlapping_bricks),
        CASE(crossing_edges_have_one_point), CASE(cylinders), CASE(a_capsule_over_an_edge),
        CASE(squares_have_two_points), CASE(along_a_given_normal),
        CASE(the_deepest_point_has_the_gap));
}
