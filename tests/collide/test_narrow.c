/* test_narrow.c - the narrow phase, by hand and at random. */
#include "base/common.h"
#include "collide/collide.h"
#include "math/vec.h"
#include "shape/shape.h"
#include "tests/check.h"
#include "tests/problems/random_shapes.h"

/* ==== test_narrow: gaps, normals and points of every couple against closed forms ============== */

#define CHECK_VEC(found, ex, ey, ez, tolerance)                                                    \
    do {                                                                                           \
        cairn_vec3 vec_ = (found);                                                                 \
        CHECK_NEAR(vec_.x, ex, tolerance);                                                         \
        CHECK_NEAR(vec_.y, ey, tolerance);                                                         \
        CHECK_NEAR(vec_.z, ez, tolerance);                                                         \
    } while (0)

static const cairn_shape particle = { .kind = CAIRN_SHAPE_POINT };
static const cairn_shape floor_shape = { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } };
static const cairn_shape line_shape = { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 2, 0 } };
static const cairn_shape tube = { .kind = CAIRN_SHAPE_INSIDE_CYLINDER,
                                  .radius = 2,
                                  .axis = { 0, 0, 1 } };
/* walls at slopes of 3:4: sin = 0.6, cos = 0.8 */
static const cairn_shape cone = { .kind = CAIRN_SHAPE_INSIDE_CONE,
                                  .half_angle = 0.64350110879328438680,
                                  .axis = { 0, 0, 1 } };
static const cairn_shape wedge = { .kind = CAIRN_SHAPE_INSIDE_CONE,
                                   .half_angle = 0.64350110879328438680,
                                   .axis = { 0, 1, 0 } };
/* from radius 1 at z = 0 to radius 4 at z = 4: the meridian is 5 long, with slope 3:4 */
static const cairn_shape funnel = { .kind = CAIRN_SHAPE_FUNNEL,
                                    .bottom_radius = 1,
                                    .top_radius = 4,
                                    .height = 4,
                                    .axis = { 0, 0, 1 } };
static const cairn_shape chute = { .kind = CAIRN_SHAPE_FUNNEL,
                                   .bottom_radius = 1,
                                   .top_radius = 4,
                                   .height = 4,
                                   .axis = { 0, 1, 0 } };

static cairn_shape ball(double radius)
{
    return (cairn_shape){ .kind = CAIRN_SHAPE_SPHERE, .radius = radius };
}

static cairn_collider place(const cairn_shape *shape, double x, double y, double z)
{
    return (cairn_collider){ .shape = shape,
                             .x = { x, y, z },
                             .q = { 1, 0, 0, 0 },
                             .extent = cairn_shape_extent(shape),
                             .movable = isfinite(cairn_shape_extent(shape)) };
}

typedef struct answer {
    int count;
    bool swapped;
    cairn_witness w[CAIRN_WITNESSES];
} answer;

static answer find(cairn_collider first, cairn_collider second, int dimension)
{
    answer a = { 0 };
    a.count = cairn_witnesses_find(&first, &second, dimension, &a.swapped, a.w);
    return a;
}

/* With a margin that lets every witness through. */
static answer find_all(cairn_collider first, cairn_collider second, int dimension)
{
    first.reach = 1e9;
    return find(first, second, dimension);
}

/* What holds for every witness: a unit normal that leads from b to a over the gap, and on_a on
 * the surface of the ball. */
static void check_consistent(const answer *a, cairn_vec3 centre, double radius)
{
    for (int k = 0; k < a->count; k++) {
        const cairn_witness *w = &a->w[k];
        cairn_vec3 step = cairn_sub(w->on_a, w->on_b);
        double size = 1 + cairn_norm(centre) + fabs(w->gap);
        CHECK_NEAR(cairn_norm(w->normal), 1, 1e-14);
        CHECK_NEAR(cairn_dot(step, w->normal), w->gap, 1e-14 * size);
        CHECK_NEAR(cairn_norm(cairn_add_scaled(step, -w->gap, w->normal)), 0, 1e-14 * size);
        CHECK_NEAR(cairn_norm(cairn_sub(w->on_a, centre)), radius, 1e-14 * size);
    }
}

/* ---- balls ---------------------------------------------------------------------------------- */

/* Centres 5 apart along (3, 4)/5, radii 1 and 2: gap 2. */
TEST(two_balls)
{
    cairn_shape one = ball(1), two = ball(2);
    answer a = find_all(place(&one, 3, 4, 0), place(&two, 0, 0, 0), 3);
    CHECK_INT(a.count, 1);
    CHECK(!a.swapped);
    CHECK_NEAR(a.w[0].gap, 2, 1e-15);
    CHECK_VEC(a.w[0].normal, 0.6, 0.8, 0, 1e-15);
    CHECK_VEC(a.w[0].on_a, 2.4, 3.2, 0, 1e-15);
    CHECK_VEC(a.w[0].on_b, 1.2, 1.6, 0, 1e-15);
}

TEST(overlapping_balls_have_a_negative_gap)
{
    cairn_shape one = ball(1);
    answer a = find(place(&one, 0, 0, 1.5), place(&one, 0, 0, 0), 3);
    CHECK_INT(a.count, 1);
    CHECK_NEAR(a.w[0].gap, -0.5, 1e-15);
    CHECK_VEC(a.w[0].on_a, 0, 0, 0.5, 1e-15);
    CHECK_VEC(a.w[0].on_b, 0, 0, 1, 1e-15);
}

TEST(points_have_no_size)
{
    cairn_shape one = ball(1);
    answer a = find_all(place(&one, 0, 0, 0), place(&particle, 0, 3, 0), 3);
    CHECK_NEAR(a.w[0].gap, 2, 0);
    CHECK_VEC(a.w[0].on_b, 0, 3, 0, 0);
    a = find_all(place(&particle, 1, 0, 0), place(&particle, 0, 0, 0), 3);
    CHECK_NEAR(a.w[0].gap, 1, 0);
    CHECK_VEC(a.w[0].normal, 1, 0, 0, 0);
}

TEST(balls_at_one_place_are_pushed_up)
{
    cairn_shape one = ball(1), two = ball(2);
    answer a = find(place(&one, 7, 8, 9), place(&two, 7, 8, 9), 3);
    CHECK_NEAR(a.w[0].gap, -3, 0);
    CHECK_VEC(a.w[0].normal, 0, 0, 1, 0);
    a = find(place(&one, 7, 8, 0), place(&two, 7, 8, 0), 2);
    CHECK_VEC(a.w[0].normal, 0, 1, 0, 0);
}

/* ---- half-space ----------------------------------------------------------------------------- */

TEST(a_ball_over_a_floor)
{
    cairn_shape half = ball(0.5);
    answer a = find_all(place(&half, 3, -2, 1.75), place(&floor_shape, 10, 10, 1), 3);
    CHECK_INT(a.count, 1);
    CHECK_NEAR(a.w[0].gap, 0.25, 1e-15);
    CHECK_VEC(a.w[0].normal, 0, 0, 1, 0);
    CHECK_VEC(a.w[0].on_a, 3, -2, 1.25, 1e-15);
    CHECK_VEC(a.w[0].on_b, 3, -2, 1, 1e-15);
}

/* A line through the origin turned by 30 degrees; its axis has length 2, which must not matter.
 * The point (0, 1) is cos 30 away from it. */
TEST(a_point_over_a_tilted_line)
{
    cairn_collider line = place(&line_shape, 0, 0, 0);
    line.q = cairn_quat_exp(cairn_vec(0, 0, M_PI / 6));
    answer a = find_all(place(&particle, 0, 1, 0), line, 2);
    CHECK_NEAR(a.w[0].gap, sqrt(0.75), 1e-15);
    CHECK_VEC(a.w[0].normal, -0.5, sqrt(0.75), 0, 1e-15);
    a = find(place(&particle, 0, -1, 0), line, 2);
    CHECK_NEAR(a.w[0].gap, -sqrt(0.75), 1e-15);
}

/* ---- cylinder ------------------------------------------------------------------------------- */

/* Radius 2, ball of radius 0.5 at x = 1: 0.5 to the near side. The two others face directions
 * 120 degrees off: 2 + 1/2 - 0.5 = 2. */
TEST(a_ball_in_a_tube)
{
    cairn_shape half = ball(0.5);
    answer a = find_all(place(&half, 1, 0, 100), place(&tube, 0, 0, 0), 3);
    CHECK_INT(a.count, 3);
    CHECK_NEAR(a.w[0].gap, 0.5, 1e-15);
    CHECK_VEC(a.w[0].normal, -1, 0, 0, 1e-15);
    CHECK_VEC(a.w[0].on_a, 1.5, 0, 100, 1e-15);
    CHECK_VEC(a.w[0].on_b, 2, 0, 100, 1e-15);
    CHECK_NEAR(a.w[1].gap, 2, 1e-15);
    CHECK_NEAR(a.w[2].gap, 2, 1e-15);
    CHECK_VEC(a.w[1].normal, 0.5, -sqrt(0.75), 0, 1e-15);
    CHECK_VEC(a.w[2].normal, 0.5, sqrt(0.75), 0, 1e-15);
}

TEST(a_ball_outside_a_tube_is_pushed_in)
{
    cairn_shape half = ball(0.5);
    answer a = find(place(&half, 0, 3, 0), place(&tube, 0, 0, 0), 3);
    CHECK_INT(a.count, 1);
    CHECK_NEAR(a.w[0].gap, -1.5, 1e-15);
    CHECK_VEC(a.w[0].normal, 0, -1, 0, 1e-15);
}

/* A disk in a circle: the same numbers, in the plane. */
TEST(a_disk_in_a_circle)
{
    cairn_shape half = ball(0.5);
    answer a = find_all(place(&half, 0, -1, 0), place(&tube, 0, 0, 0), 2);
    CHECK_INT(a.count, 3);
    CHECK_NEAR(a.w[0].gap, 0.5, 1e-15);
    CHECK_VEC(a.w[0].normal, 0, 1, 0, 1e-15);
    CHECK_NEAR(a.w[1].gap, 2, 1e-15);
    CHECK_NEAR(a.w[1].normal.z, 0, 0);
}

/* Three contacts whose normals add up to nothing hold the ball from all sides. */
TEST(a_ball_that_fits_tightly_in_a_tube_has_three_contacts_at_120_degrees)
{
    cairn_shape tight = ball(2);
    for (int dimension = 2; dimension <= 3; dimension++) {
        answer a = find(place(&tight, 0, 0, 0), place(&tube, 0, 0, 0), dimension);
        CHECK_INT(a.count, 3);
        cairn_vec3 sum = { 0, 0, 0 };
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(a.w[k].gap, 0, 1e-15);
            CHECK_NEAR(cairn_dot(a.w[k].normal, a.w[(k + 1) % 3].normal), -0.5, 1e-15);
            CHECK_INT(a.w[k].feature, k);
            sum = cairn_add(sum, a.w[k].normal);
        }
        CHECK_VEC(sum, 0, 0, 0, 1e-15);
    }
}

/* ---- cone ----------------------------------------------------------------------------------- */

/* The wall runs along (0.6, 0.8), its inward normal is (-0.8, 0.6). A centre at (1, 0, 5) has
 * distance 0.6 * 5 - 0.8 = 2.2, the other directions 3 + 0.4 = 3.4. */
TEST(a_ball_in_a_cone)
{
    cairn_shape half = ball(0.5);
    answer a = find_all(place(&half, 1, 0, 5), place(&cone, 0, 0, 0), 3);
    CHECK_INT(a.count, 3);
    CHECK_NEAR(a.w[0].gap, 1.7, 1e-14);
    CHECK_VEC(a.w[0].normal, -0.8, 0, 0.6, 1e-15);
    CHECK_VEC(a.w[0].on_b, 1 + 2.2 * 0.8, 0, 5 - 2.2 * 0.6, 1e-14);
    CHECK_NEAR(a.w[1].gap, 2.9, 1e-14);
    CHECK_NEAR(a.w[2].gap, 2.9, 1e-14);
}

/* r = 0.6 z: a ball of radius 3 sits at z = 5, held by normals that add up to 3 sin(alpha) up. */
TEST(a_ball_that_sits_in_a_cone_has_three_contacts_that_lift_it)
{
    cairn_shape three = ball(3);
    answer a = find(place(&three, 0, 0, 5 - 1e-12), place(&cone, 0, 0, 0), 3);
    CHECK_INT(a.count, 3);
    cairn_vec3 sum = { 0, 0, 0 };
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(a.w[k].gap, 0, 1e-11);
        CHECK_NEAR(a.w[k].normal.z, 0.6, 1e-15);
        /* horizontal parts of length 0.8 at 120 degrees: n.m = 0.36 - 0.32 */
        CHECK_NEAR(cairn_dot(a.w[k].normal, a.w[(k + 1) % 3].normal), 0.04, 1e-15);
        sum = cairn_add(sum, a.w[k].normal);
    }
    CHECK_VEC(sum, 0, 0, 1.8, 1e-15);
}

TEST(a_disk_in_a_wedge_has_two_contacts)
{
    cairn_shape half = ball(0.5);
    answer a = find_all(place(&half, -1, 5, 0), place(&wedge, 0, 0, 0), 2);
    CHECK_INT(a.count, 2);
    CHECK_NEAR(a.w[0].gap, 1.7, 1e-14);
    CHECK_VEC(a.w[0].normal, 0.8, 0.6, 0, 1e-15);
    CHECK_NEAR(a.w[1].gap, 3.3, 1e-14); /* 3 + 0.8 - 0.5 */
    CHECK_VEC(a.w[1].normal, -0.8, 0.6, 0, 1e-15);
    cairn_shape three = ball(3);
    a = find(place(&three, 0, 5 - 1e-12, 0), place(&wedge, 0, 0, 0), 2);
    CHECK_INT(a.count, 2);
    CHECK_VEC(cairn_add(a.w[0].normal, a.w[1].normal), 0, 1.2, 0, 1e-15);
}

/* ---- funnel --------------------------------------------------------------------------------- */

/* Meridian from (1, 0) to (4, 4), direction (0.6, 0.8). Its middle is (2.5, 2); 1 m inward along
 * (-0.8, 0.6) lies (1.7, 2.6), 1 m outward (3.3, 1.4). */
TEST(a_funnel_is_touched_from_inside_and_from_outside)
{
    cairn_shape half = ball(0.5);
    answer a = find_all(place(&half, 1.7, 0, 2.6), place(&funnel, 0, 0, 0), 3);
    CHECK_INT(a.count, 3);
    CHECK_NEAR(a.w[0].gap, 0.5, 1e-14);
    CHECK_VEC(a.w[0].normal, -0.8, 0, 0.6, 1e-14);
    CHECK_VEC(a.w[0].on_b, 2.5, 0, 2, 1e-14);
    a = find_all(place(&half, 0, 3.3, 1.4), place(&funnel, 0, 0, 0), 3);
    CHECK_NEAR(a.w[0].gap, 0.5, 1e-14);
    CHECK_VEC(a.w[0].normal, 0, 0.8, -0.6, 1e-14);
    CHECK_VEC(a.w[0].on_b, 0, 2.5, 2, 1e-14);
}

TEST(a_funnel_has_edges_at_both_ends)
{
    answer a = find_all(place(&particle, 4, 0, -4), place(&funnel, 0, 0, 0), 3);
    CHECK_NEAR(a.w[0].gap, 5, 1e-14); /* from (1, 0) by (3, -4) */
    CHECK_VEC(a.w[0].normal, 0.6, 0, -0.8, 1e-15);
    CHECK_VEC(a.w[0].on_b, 1, 0, 0, 1e-14);
    a = find_all(place(&particle, 7, 0, 8), place(&funnel, 0, 0, 0), 3);
    CHECK_NEAR(a.w[0].gap, 5, 1e-14); /* from (4, 4) by (3, 4) */
    CHECK_VEC(a.w[0].normal, 0.6, 0, 0.8, 1e-15);
    CHECK_VEC(a.w[0].on_b, 4, 0, 4, 1e-14);
}

/* A ball of radius 1.25 over the hole of radius 1: the edge holds it at height 0.75. */
TEST(a_ball_too_large_for_the_hole_rests_on_three_points_of_the_edge)
{
    cairn_shape stopper = ball(1.25), hole = funnel;
    hole.top_radius = 10; /* walls flatter than the contact: only the edge is near */
    hole.height = 0.1;
    answer a = find(place(&stopper, 0, 0, 0.75 - 1e-12), place(&hole, 0, 0, 0), 3);
    CHECK_INT(a.count, 3);
    cairn_vec3 sum = { 0, 0, 0 };
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(a.w[k].gap, 0, 1e-11);
        CHECK_NEAR(a.w[k].normal.z, 0.6, 1e-11);
        sum = cairn_add(sum, a.w[k].normal);
    }
    CHECK_VEC(sum, 0, 0, 1.8, 1e-11);
    CHECK_INT(find(place(&particle, 0, 0, 0), place(&hole, 0, 0, 0), 3).count, 0);
}

TEST(a_point_on_the_wall_has_gap_zero_and_a_unit_normal)
{
    answer a = find(place(&particle, 2.5, 0, 2), place(&funnel, 0, 0, 0), 3);
    CHECK(a.count >= 1);
    CHECK_NEAR(a.w[0].gap, 0, 1e-15);
    CHECK_NEAR(cairn_norm(a.w[0].normal), 1, 1e-14);
}

TEST(a_chute_in_the_plane_has_two_walls)
{
    answer a = find_all(place(&particle, 1.7, 2.6, 0), place(&chute, 0, 0, 0), 2);
    CHECK_INT(a.count, 2);
    CHECK_NEAR(a.w[0].gap, 1, 1e-14);
    CHECK_VEC(a.w[0].normal, -0.8, 0.6, 0, 1e-14);
    /* the mirror wall: (1.7, 2.6) - (-1, 0) = (2.7, 2.6) against direction (-0.6, 0.8): the foot
     * is 0.46 along it, the distance 0.8 * 2.7 + 0.6 * 2.6 = 3.72 */
    CHECK_NEAR(a.w[1].gap, 3.72, 1e-14);
    CHECK_VEC(a.w[1].normal, 0.8, 0.6, 0, 1e-14);
}

/* ---- all couples ---------------------------------------------------------------------------- */

typedef struct couple {
    const cairn_shape *wall;
    int dimension;
    cairn_vec3 low, high; /* where to put centres */
} couple;

static const cairn_shape big_ball = { .kind = CAIRN_SHAPE_SPHERE, .radius = 2 };

static const couple all_couples[] = {
    { &big_ball, 2, { -5, -5, 0 }, { 5, 5, 0 } },
    { &big_ball, 3, { -5, -5, -5 }, { 5, 5, 5 } },
    { &particle, 3, { -5, -5, -5 }, { 5, 5, 5 } },
    { &line_shape, 2, { -5, -5, 0 }, { 5, 5, 0 } },
    { &floor_shape, 3, { -5, -5, -5 }, { 5, 5, 5 } },
    { &tube, 2, { -3, -3, 0 }, { 3, 3, 0 } },
    { &tube, 3, { -3, -3, -3 }, { 3, 3, 3 } },
    { &wedge, 2, { -3, -1, 0 }, { 3, 5, 0 } },
    { &cone, 3, { -3, -3, -1 }, { 3, 3, 5 } },
    { &chute, 2, { -6, -2, 0 }, { 6, 6, 0 } },
    { &funnel, 3, { -6, -6, -2 }, { 6, 6, 6 } },
};

enum { COUPLES = sizeof all_couples / sizeof all_couples[0], ROUNDS = 500 };

static cairn_vec3 draw_point(const couple *c, uint64_t *state)
{
    double x = cairn_random_between(state, c->low.x, c->high.x);
    double y = cairn_random_between(state, c->low.y, c->high.y);
    return cairn_vec(x, y, cairn_random_between(state, c->low.z, c->high.z));
}

TEST(witnesses_fit_together_in_every_couple)
{
    uint64_t state = 1;
    for (int k = 0; k < COUPLES; k++)
        for (int round = 0; round < ROUNDS; round++) {
            const couple *c = &all_couples[k];
            cairn_shape me = ball(cairn_random_between(&state, 0.1, 1));
            cairn_vec3 x = draw_point(c, &state);
            answer a = find_all(place(&me, x.x, x.y, x.z), place(c->wall, 0, 0, 0), c->dimension);
            bool one = c->wall->kind <= CAIRN_SHAPE_HALF_SPACE;
            bool two = c->dimension == 2 && c->wall->kind > CAIRN_SHAPE_INSIDE_CYLINDER;
            CHECK_INT(a.count, one ? 1 : two ? 2 : 3);
            check_consistent(&a, x, me.radius);
            for (int i = 1; i < a.count; i++)
                CHECK(a.w[0].gap <= a.w[i].gap + 1e-14); /* the nearest stands first */
        }
}

/* d gap / d x = n for the nearest witness: central differences over 1e-5 m, error ~ 1e-10. */
TEST(the_normal_is_the_gradient_of_the_gap)
{
    uint64_t state = 2;
    const double e = 1e-5;
    cairn_shape me = ball(0.1);
    for (int k = 0; k < COUPLES; k++)
        for (int round = 0; round < ROUNDS; round++) {
            const couple *c = &all_couples[k];
            cairn_collider wall = place(c->wall, 0, 0, 0);
            cairn_vec3 x = draw_point(c, &state), axis = c->wall->axis;
            cairn_vec3 side = cairn_add_scaled(x, -cairn_dot(x, axis), axis);
            answer at = find_all(place(&me, x.x, x.y, x.z), wall, c->dimension);
            if (cairn_norm(side) < 0.05 || fabs(at.w[0].gap) < 0.05)
                continue; /* near an axis, a surface or a centre the gap has a kink */
            for (int i = 0; i < c->dimension; i++) {
                cairn_vec3 d = cairn_vec(i == 0 ? e : 0, i == 1 ? e : 0, i == 2 ? e : 0);
                cairn_vec3 p = cairn_add(x, d), m = cairn_sub(x, d);
                answer up = find_all(place(&me, p.x, p.y, p.z), wall, c->dimension);
                answer down = find_all(place(&me, m.x, m.y, m.z), wall, c->dimension);
                double slope = (up.w[0].gap - down.w[0].gap) / (2 * e);
                CHECK_NEAR(slope, cairn_dot(at.w[0].normal, d) / e, 1e-6);
            }
        }
}

TEST(swapping_the_pair_tells_the_same_contact)
{
    uint64_t state = 3;
    for (int k = 0; k < COUPLES; k++)
        for (int round = 0; round < 50; round++) {
            const couple *c = &all_couples[k];
            cairn_shape half = ball(0.5);
            cairn_vec3 x = draw_point(c, &state);
            cairn_collider me = place(&half, x.x, x.y, x.z), wall = place(c->wall, 0, 0, 0);
            me.reach = wall.reach = 10;
            answer there = find(me, wall, c->dimension), back = find(wall, me, c->dimension);
            bool equal_kinds = c->wall->kind == CAIRN_SHAPE_SPHERE;
            CHECK_INT(there.count, back.count);
            CHECK(!there.swapped);
            CHECK_INT(back.swapped, !equal_kinds); /* the ball is a: it is the second now */
            double sign = equal_kinds ? -1 : 1;    /* else a is the other ball: mirrored */
            for (int i = 0; i < there.count; i++) {
                cairn_vec3 n = cairn_scale(sign, back.w[i].normal), m = there.w[i].normal;
                cairn_vec3 p = equal_kinds ? back.w[i].on_b : back.w[i].on_a;
                CHECK_NEAR(there.w[i].gap, back.w[i].gap, 1e-14);
                CHECK_VEC(n, m.x, m.y, m.z, 1e-14);
                CHECK_VEC(p, there.w[i].on_a.x, there.w[i].on_a.y, there.w[i].on_a.z, 1e-14);
            }
        }
}

static cairn_vec3 random_turn(int dimension, uint64_t *state)
{
    double z = cairn_random_normal(state);
    if (dimension == 2)
        return cairn_vec(0, 0, z);
    double x = cairn_random_normal(state);
    return cairn_vec(x, cairn_random_normal(state), z);
}

/* Move and turn both: gaps stay, points and normals of the nearest witness go along. */
TEST(a_rigid_motion_of_both_changes_nothing)
{
    uint64_t state = 4;
    for (int k = 0; k < COUPLES; k++)
        for (int round = 0; round < 100; round++) {
            const couple *c = &all_couples[k];
            cairn_shape half = ball(0.5);
            cairn_vec3 x = draw_point(c, &state), move = cairn_scale(3, draw_point(c, &state));
            cairn_quat turn = cairn_quat_exp(random_turn(c->dimension, &state));
            cairn_collider me = place(&half, x.x, x.y, x.z), wall = place(c->wall, 0, 0, 0);
            answer before = find_all(me, wall, c->dimension);
            me.x = cairn_add(move, cairn_rotate(turn, x));
            wall.x = move;
            wall.q = turn;
            answer after = find_all(me, wall, c->dimension);
            CHECK_INT(before.count, after.count);
            for (int i = 0; i < before.count; i++)
                CHECK_NEAR(before.w[i].gap, after.w[i].gap, 1e-13);
            cairn_vec3 n = cairn_rotate(turn, before.w[0].normal);
            cairn_vec3 p = cairn_add(move, cairn_rotate(turn, before.w[0].on_b));
            CHECK_VEC(after.w[0].normal, n.x, n.y, n.z, 1e-12);
            CHECK_VEC(after.w[0].on_b, p.x, p.y, p.z, 1e-12);
        }
}

/* Each witness is a half-space that the inside respects: a particle anywhere inside the container
 * has n.(y - on_b) >= 0 for all witnesses of any other ball. */
TEST(no_witness_of_a_tube_or_cone_cuts_into_the_inside)
{
    uint64_t state = 5;
    for (int k = 5; k < 9; k++)
        for (int round = 0; round < ROUNDS; round++) {
            const couple *c = &all_couples[k];
            cairn_collider wall = place(c->wall, 0, 0, 0);
            cairn_vec3 x = draw_point(c, &state), y = draw_point(c, &state);
            answer a = find_all(place(&particle, x.x, x.y, x.z), wall, c->dimension);
            if (find_all(place(&particle, y.x, y.y, y.z), wall, c->dimension).w[0].gap < 0)
                continue;
            for (int i = 0; i < a.count; i++)
                CHECK(cairn_dot(a.w[i].normal, cairn_sub(y, a.w[i].on_b)) >= -1e-12);
        }
}

/* Two unbounded shapes, and kinds that the narrow phase does not know, are told, not passed over. */
TEST(what_cannot_meet_is_unresolved)
{
    const cairn_shape *walls[] = { &floor_shape, &tube, &cone, &funnel };
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            CHECK_INT(find_all(place(walls[i], 0, 0, 0), place(walls[j], 0, 0, 0), 3).count,
                      CAIRN_UNRESOLVED);
    cairn_shape one = ball(1), mesh = { .kind = CAIRN_SHAPE_MESH };
    cairn_collider a = { .shape = &one, .q = { 1, 0, 0, 0 } }, b = { .shape = &mesh };
    CHECK_INT(find(a, b, 3).count, CAIRN_UNRESOLVED);
    cairn_shape several = { .kind = CAIRN_SHAPE_COMPOUND };
    b.shape = &several;
    CHECK_INT(find(a, b, 3).count, CAIRN_UNRESOLVED);
    CHECK_INT(cairn_witnesses_limit(&a, &b), 0);
}

/* ---- margins -------------------------------------------------------------------------------- */

TEST(a_witness_counts_up_to_the_sum_of_the_reaches)
{
    cairn_shape one = ball(1);
    cairn_collider a = place(&one, 3, 0, 0), b = place(&one, 0, 0, 0); /* gap 1 */
    CHECK_INT(find(a, b, 3).count, 0);
    a.reach = 0.5;
    b.reach = 0.499999;
    CHECK_INT(find(a, b, 3).count, 0);
    b.reach = 0.5;
    CHECK_INT(find(a, b, 3).count, 1);
    cairn_collider high = place(&one, 0, 0, 2), ground = place(&floor_shape, 0, 0, 0);
    CHECK_INT(find(high, ground, 3).count, 0);
    ground.reach = 1; /* a driven floor that rises by 1 */
    CHECK_INT(find(high, ground, 3).count, 1);
}

TEST(touching_counts_without_reach)
{
    cairn_shape one = ball(1);
    CHECK_INT(find(place(&one, 2, 0, 0), place(&one, 0, 0, 0), 3).count, 1);
    CHECK_INT(find(place(&one, 0, 0, 1), place(&floor_shape, 0, 0, 0), 3).count, 1);
}

/* 10 m from the axis a floor that turns by 0.01 rad comes up by 0.1 m. */
TEST(a_turning_wall_reaches_further_out_than_near_its_origin)
{
    cairn_shape one = ball(1);
    cairn_collider ground = place(&floor_shape, 0, 0, 0);
    ground.turn = 0.01;
    CHECK_INT(find(place(&one, 10, 0, 1.09), ground, 3).count, 1);
    CHECK_INT(find(place(&one, 0, 0, 1.09), ground, 3).count, 0);
    CHECK_INT(find(place(&one, 10, 0, 1.5), ground, 3).count, 0);
    ground.turn = 0;
    CHECK_INT(find(place(&one, 10, 0, 1.09), ground, 3).count, 0);
}

/* What is left out cannot touch: draw a pair without witness, move the ball by its reach, move and
 * turn the wall by what it announced, and there is still a gap. */
TEST(a_pair_left_out_cannot_touch_in_the_step)
{
    uint64_t state = 6;
    int left_out = 0, close_calls = 0;
    for (int k = 0; k < COUPLES; k++)
        for (int round = 0; round < 4 * ROUNDS; round++) {
            const couple *c = &all_couples[k];
            cairn_shape small = ball(0.2);
            cairn_vec3 x = draw_point(c, &state), turn = random_turn(c->dimension, &state);
            cairn_collider me = place(&small, x.x, x.y, x.z), wall = place(c->wall, 0, 0, 0);
            me.reach = cairn_random_between(&state, 0, 0.5);
            wall.reach = cairn_random_between(&state, 0, 0.5);
            wall.turn = isfinite(wall.extent) ? 0 : cairn_random_between(&state, 0, 0.9);
            answer now = find_all(me, wall, c->dimension);
            if (find(me, wall, c->dimension).count > 0)
                continue;
            left_out++;
            /* the worst moves: both straight at each other */
            cairn_vec3 n = now.w[0].normal;
            me.x = cairn_add_scaled(me.x, -me.reach, n);
            wall.x = cairn_scale(wall.reach, n);
            if (wall.turn > 0)
                wall.q = cairn_quat_exp(cairn_scale(wall.turn / cairn_norm(turn), turn));
            answer then = find_all(me, wall, c->dimension);
            for (int i = 0; i < then.count; i++)
                CHECK(then.w[i].gap > 0);
            close_calls += then.w[0].gap < 0.3;
        }
    CHECK(left_out > 1000 && close_calls > 50); /* else this proves nothing */
}

GROUP(test_narrow)
{
    RUN(CASE(two_balls), CASE(overlapping_balls_have_a_negative_gap), CASE(points_have_no_size),
        CASE(balls_at_one_place_are_pushed_up), CASE(a_ball_over_a_floor),
        CASE(a_point_over_a_tilted_line), CASE(a_ball_in_a_tube),
        CASE(a_ball_outside_a_tube_is_pushed_in), CASE(a_disk_in_a_circle),
        CASE(a_ball_that_fits_tightly_in_a_tube_has_three_contacts_at_120_degrees),
        CASE(a_ball_in_a_cone), CASE(a_ball_that_sits_in_a_cone_has_three_contacts_that_lift_it),
        CASE(a_disk_in_a_wedge_has_two_contacts),
        CASE(a_funnel_is_touched_from_inside_and_from_outside),
        CASE(a_funnel_has_edges_at_both_ends),
        CASE(a_ball_too_large_for_the_hole_rests_on_three_points_of_the_edge),
        CASE(a_point_on_the_wall_has_gap_zero_and_a_unit_normal),
        CASE(a_chute_in_the_plane_has_two_walls), CASE(witnesses_fit_together_in_every_couple),
        CASE(the_normal_is_the_gradient_of_the_gap), CASE(swapping_the_pair_tells_the_same_contact),
        CASE(a_rigid_motion_of_both_changes_nothing),
        CASE(no_witness_of_a_tube_or_cone_cuts_into_the_inside),
        CASE(what_cannot_meet_is_unresolved), CASE(a_witness_counts_up_to_the_sum_of_the_reaches),
        CASE(touching_counts_without_reach),
        CASE(a_turning_wall_reaches_further_out_than_near_its_origin),
        CASE(a_pair_left_out_cannot_touch_in_the_step));
}

/* ==== test_narrow_couples: every couple of the narrow phase at random: the gap changes with the
 * poses as the contact's Jacobian says, witnesses fit together, swapping keeps the gap. */

enum { MEETINGS = 60, POOL = 4 };

typedef struct wall {
    cairn_shape shape;
    int dimension; /* 0: both                                              */
} wall;

static const wall walls[] = {
    { { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 0, 1 } }, 3 },
    { { .kind = CAIRN_SHAPE_HALF_SPACE, .axis = { 0, 1, 0 } }, 2 },
    { { .kind = CAIRN_SHAPE_INSIDE_CYLINDER, .radius = 4, .axis = { 0, 0, 1 } }, 0 },
    { { .kind = CAIRN_SHAPE_INSIDE_CONE, .half_angle = 0.7, .axis = { 0, 0, 1 } }, 3 },
    { { .kind = CAIRN_SHAPE_INSIDE_CONE, .half_angle = 0.7, .axis = { 0, 1, 0 } }, 2 },
    { { .kind = CAIRN_SHAPE_INSIDE_BOX, .size = { 6, 5, 7 } }, 3 },
    { { .kind = CAIRN_SHAPE_INSIDE_BOX, .size = { 6, 5, 0 } }, 2 },
};

enum { WALLS = sizeof walls / sizeof walls[0] };

static answer find_couple(const cairn_collider *a, const cairn_collider *b, int dimension)
{
    answer out = { 0 };
    out.count = cairn_witnesses_find(a, b, dimension, &out.swapped, out.w);
    CHECK(out.count != CAIRN_UNRESOLVED);
    CHECK(out.count <= cairn_witnesses_limit(a, b));
    return out;
}

static int deepest(const answer *a)
{
    int best = 0;
    for (int k = 1; k < a->count; k++)
        best = a->w[k].gap < a->w[best].gap ? k : best;
    return best;
}

/* Whether one point is clearly the deepest: only then its gap has a derivative. */
static bool is_alone(const answer *a)
{
    int best = deepest(a);
    for (int k = 0; k < a->count; k++)
        if (k != best && a->w[k].gap < a->w[best].gap + 5e-3)
            return false;
    return a->count > 0;
}

/* ---- the Jacobian --------------------------------------------------------------------------- */

typedef struct twist {
    cairn_vec3 v, omega;
} twist;

static cairn_collider moved(cairn_collider c, const twist *t, double h)
{
    c.x = cairn_add_scaled(c.x, h, t->v);
    c.q = cairn_quat_multiply(cairn_quat_exp(cairn_scale(h, t->omega)), c.q);
    return c;
}

static cairn_vec3 velocity_at(const cairn_collider *c, const twist *t, cairn_vec3 point)
{
    return cairn_add(t->v, cairn_cross(t->omega, cairn_sub(point, c->x)));
}

static double gap_after(const cairn_collider c[2], const twist t[2], double h, int dimension)
{
    cairn_collider a = moved(c[0], &t[0], h), b = moved(c[1], &t[1], h);
    answer now = find_couple(&a, &b, dimension);
    CHECK(now.count > 0);
    return now.w[deepest(&now)].gap;
}

/* d(gap)/dt = n.(v_a - v_b), velocities at the witnesses. */
static void check_derivative(const cairn_collider c[2], int dimension, uint64_t *state,
                             int *counted)
{
    answer here = find_couple(&c[0], &c[1], dimension);
    if (!is_alone(&here))
        return;
    const cairn_witness *w = &here.w[deepest(&here)];
    int a = here.swapped ? 1 : 0;
    twist t[2];
    for (int i = 0; i < 2; i++) {
        cairn_vec3 spin = dimension == 3 ? draw_unit(state, 3) : cairn_vec(0, 0, 1);
        t[i] = (twist){ draw_unit(state, dimension), spin };
    }
    cairn_vec3 u =
        cairn_sub(velocity_at(&c[a], &t[a], w->on_a), velocity_at(&c[1 - a], &t[1 - a], w->on_b));
    double h = 1e-4;
    double change = gap_after(c, t, h, dimension) - gap_after(c, t, -h, dimension);
    double size = 1 + cairn_norm(cairn_sub(w->on_a, c[1].x)) + cairn_norm(w->on_a);
    if (fabs(change / (2 * h) - cairn_dot(u, w->normal)) > 2e-4 * size)
        print_message("%dD %s - %s, gap %g\n", dimension,
                      cairn_shape_record((int)c[0].shape->kind)->name,
                      cairn_shape_record((int)c[1].shape->kind)->name, w->gap);
    CHECK_NEAR(change / (2 * h), cairn_dot(u, w->normal), 2e-4 * size);
    (*counted)++;
}

/* ---- what else holds ------------------------------------------------------------------------ */

static void check_couple(const cairn_collider c[2], int dimension)
{
    answer here = find_couple(&c[0], &c[1], dimension),
           there = find_couple(&c[1], &c[0], dimension);
    CHECK((there.count > 0) == (here.count > 0));
    for (int k = 0; k < here.count; k++) {
        const cairn_witness *w = &here.w[k];
        cairn_vec3 off = cairn_add_scaled(cairn_sub(w->on_a, w->on_b), -w->gap, w->normal);
        double size = 1 + cairn_norm(w->on_a) + fabs(w->gap);
        CHECK_NEAR(cairn_norm(w->normal), 1, 1e-12);
        CHECK_NEAR(cairn_norm(off), 0, 1e-11 * size);
        CHECK(w->feature >= 0);
        CHECK(k == 0 || w->feature >= here.w[k - 1].feature);
        CHECK(dimension == 3 || (w->normal.z == 0 && w->on_a.z == 0));
    }
    if (here.count > 0 && here.w[deepest(&here)].gap > 1e-3)
        CHECK_NEAR(there.w[deepest(&there)].gap, here.w[deepest(&here)].gap, 1e-8);
}

static int run_couple(const cairn_shape *first, const wall *second, int dimension, double spread)
{
    uint64_t state = 7 + (uint64_t)first->kind * 100 + (uint64_t)second->shape.kind;
    int counted = 0;
    for (int k = 0; k < MEETINGS; k++) {
        cairn_collider c[2] = { draw_collider(first, dimension, spread, &state),
                                draw_collider(&second->shape, dimension, spread, &state) };
        c[0].reach = 1e6;
        check_couple(c, dimension);
        check_derivative(c, dimension, &state, &counted);
    }
    return counted;
}

TEST(every_couple_of_bounded_shapes)
{
    uint64_t state = 17;
    for (int dimension = 2; dimension <= 3; dimension++) {
        const cairn_shape_kind *kinds = dimension == 2 ? convex_kinds_2d : convex_kinds_3d;
        int count = dimension == 2 ? KINDS_2D : KINDS_3D;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++) {
                cairn_shape a = draw_shape(kinds[i], dimension, &state);
                wall b = { draw_shape(kinds[j], dimension, &state), 0 };
                CHECK(run_couple(&a, &b, dimension, 3) > MEETINGS / 3);
                cairn_geometry_release(a.geometry);
                cairn_geometry_release(b.shape.geometry);
            }
    }
}

TEST(every_bounded_shape_and_every_wall)
{
    uint64_t state = 18;
    for (int dimension = 2; dimension <= 3; dimension++) {
        const cairn_shape_kind *kinds = dimension == 2 ? convex_kinds_2d : convex_kinds_3d;
        int count = dimension == 2 ? KINDS_2D : KINDS_3D;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < WALLS; j++) {
                if (walls[j].dimension != 0 && walls[j].dimension != dimension)
                    continue;
                cairn_shape a = draw_shape(kinds[i], dimension, &state);
                CHECK(run_couple(&a, &walls[j], dimension, 2) > MEETINGS / 3);
                cairn_geometry_release(a.geometry);
            }
    }
}

GROUP(test_narrow_couples)
{
    RUN(CASE(every_couple_of_bounded_shapes), CASE(every_bounded_shape_and_every_wall));
}
