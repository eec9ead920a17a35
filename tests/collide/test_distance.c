/* test_distance.c - the distance and the overlap of convex shapes. */
#include <float.h>
#include <stdlib.h>

#include "collide/convex.h"
#include "math/vec.h"
#include "tests/check.h"
#include "tests/collide/meetings.h"

/* ==== test_convex: convex shapes in space, and the difference of two of them ================== */

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

GROUP(test_convex)
{
    RUN(CASE(support_points_turn_with_the_shape), CASE(faces_turn_with_the_shape),
        CASE(a_triangle_is_seen_from_both_sides), CASE(curvature_of_an_ellipsoid),
        CASE(the_gap_along_a_direction), CASE(walls_are_not_convex_shapes));
}

/* ==== test_gjk: distances of cores that are apart, against closed forms ======================= */

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

GROUP(test_gjk)
{
    RUN(CASE(two_cubes_face_to_face), CASE(two_cubes_corner_to_corner), CASE(crossing_edges),
        CASE(almost_touching_faces), CASE(overlapping_cores_touch),
        CASE(the_walk_stops_beyond_the_limit), CASE(rectangles_in_the_plane), CASE(flat_simplices));
}

/* ==== test_epa: depth and direction of overlaps, against closed forms ========================= */

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

GROUP(test_epa)
{
    RUN(CASE(cubes_part_along_the_shortest_way), CASE(a_point_inside_a_cube),
        CASE(cubes_that_touch_have_depth_zero), CASE(crossing_segments), CASE(cores_without_width),
        CASE(a_point_in_a_cylinder), CASE(in_the_plane));
}

/* ==== test_distance: what holds for the distance of every couple of convex shapes: no NaN, sound
 * witnesses, the brute-force answer, symmetry, rigid motion, continuity through touching.
 *
 * CAIRN_RANDOM_PAIRS sets how many random pairs of each couple are tried, default 10000. */

typedef void couple_check(placed *p, int dimension, uint64_t *state);

static const cairn_shape_kind *kinds_of(int dimension, int *count)
{
    *count = dimension == 2 ? KINDS_2D : KINDS_3D;
    return dimension == 2 ? convex_kinds_2d : convex_kinds_3d;
}

/* A few shapes of every kind, used again and again: hulls take long to make. */
enum { POOL = 16 };

static void draw_pool(cairn_shape_kind kind, int dimension, uint64_t *state, cairn_shape *pool)
{
    for (int k = 0; k < POOL; k++)
        pool[k] = draw_shape(kind, dimension, state);
}

static void run_couple(const cairn_shape_kind kind[2], int dimension, int count,
                       couple_check *check)
{
    uint64_t state = 1000 * (uint64_t)kind[0] + (uint64_t)kind[1];
    cairn_shape pool[2][POOL];
    for (int i = 0; i < 2; i++)
        draw_pool(kind[i], dimension, &state, pool[i]);
    for (int k = 0; k < count; k++) {
        placed p;
        for (int i = 0; i < 2; i++) {
            p.shape[i] = pool[i][cairn_random_next(&state) % POOL];
            p.at[i] = draw_collider(&p.shape[i], dimension, 3.5, &state);
        }
        couple_up(&p, dimension);
        check(&p, dimension, &state);
    }
    for (int k = 0; k < 2 * POOL; k++)
        cairn_geometry_release(pool[k / POOL][k % POOL].geometry);
}

/* Every couple, in both dimensions. */
static void run_all(int count, couple_check *check)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        int kinds;
        const cairn_shape_kind *list = kinds_of(dimension, &kinds);
        for (int i = 0; i < kinds; i++)
            for (int j = 0; j <= i; j++)
                run_couple((const cairn_shape_kind[]){ list[i], list[j] }, dimension, count, check);
    }
}

static cairn_distance distance_of(const cairn_couple *c)
{
    cairn_distance d;
    CHECK(cairn_distance_find(c, 1e9, &d));
    return d;
}

static void name_couple(const placed *p, int dimension)
{
    print_message("%dD %s - %s\n", dimension, cairn_shape_record((int)p->shape[0].kind)->name,
                  cairn_shape_record((int)p->shape[1].kind)->name);
}

/* ---- sound ---------------------------------------------------------------------------------- */

static void check_sound(placed *p, int dimension, uint64_t *state)
{
    (void)state;
    cairn_distance d = distance_of(&p->couple);
    cairn_vec3 between = cairn_sub(d.on_a, d.on_b);
    bool sound = cairn_distance_is_sound(&p->couple, &d);
    /* the definition of the gap: the points are as far apart as the supports along the normal */
    double along = cairn_couple_gap_along(&p->couple, d.normal);
    sound &= fabs(along - d.gap) <= 1e-12 * p->couple.size;
    sound &= fabs(cairn_norm(d.normal) - 1) <= 1e-14;
    sound &= d.gap < 0 || fabs(cairn_norm(between) - d.gap) <= 1e-7 * p->couple.size;
    sound &= dimension == 3 || (d.normal.z == 0 && d.on_a.z == 0 && d.on_b.z == 0);
    if (!sound) {
        name_couple(p, dimension);
        print_message("gap %.12g of %g, residual %g, %d points\n", d.gap, p->couple.size,
                      d.residual, d.iterations);
    }
    CHECK(sound);
}

TEST(random_pairs_are_sound)
{
    const char *text = getenv("CAIRN_RANDOM_PAIRS");
    run_all(text ? atoi(text) : CHECKED ? 3000 : 10000, check_sound);
}

/* ---- brute force ---------------------------------------------------------------------------- */

static double gap_at(const cairn_couple *c, cairn_vec3 n)
{
    return cairn_couple_gap_along(c, cairn_unit(n));
}

/* The largest gap over many directions, the best ones climbed by random search. */
static double search(const cairn_couple *c, uint64_t *state)
{
    enum { DIRECTIONS = 600, STEPS = 400 };
    cairn_vec3 best = draw_unit(state, c->dimension);
    for (int k = 0; k < DIRECTIONS; k++) {
        cairn_vec3 n = draw_unit(state, c->dimension);
        best = gap_at(c, n) > gap_at(c, best) ? n : best;
    }
    double step = 0.3;
    for (int k = 0; k < STEPS; k++) {
        cairn_vec3 n = cairn_unit(cairn_add_scaled(best, step, draw_unit(state, c->dimension)));
        bool up = gap_at(c, n) > gap_at(c, best);
        best = up ? n : best;
        step *= up ? 1.5 : 0.85;
        step = step < 1e-9 ? 0.05 : step;
    }
    return gap_at(c, best);
}

/* No direction has a wider gap. Where the shapes are apart the search, which climbs a hill with one
 * top, also comes close. */
static void check_brute_force(placed *p, int dimension, uint64_t *state)
{
    cairn_distance d = distance_of(&p->couple);
    double found = search(&p->couple, state), size = p->couple.size;
    /* deep in curved shapes the direction is only near the best */
    double allowed = d.gap < -CAIRN_DEEP * size ? 1e-5 * size : 1e-9 * size;
    bool right = found <= d.gap + allowed && (d.gap < 0 || found >= d.gap - 0.02 * size);
    if (!right) {
        name_couple(p, dimension);
        print_message("gap %.12g, brute force %.12g\n", d.gap, found);
    }
    CHECK(right);
}

TEST(brute_force_finds_no_wider_gap)
{
    run_all(20, check_brute_force);
}

/* ---- symmetry and rigid motion -------------------------------------------------------------- */

/* Deep overlaps may have several ways out that are equally short. */
static bool is_comparable(const cairn_couple *c, const cairn_distance *d)
{
    return d->gap > -CAIRN_DEEP * c->size;
}

static void check_swap(placed *p, int dimension, uint64_t *state)
{
    (void)state;
    cairn_distance d = distance_of(&p->couple);
    cairn_couple mirrored = cairn_couple_make(&p->convex[1], &p->convex[0], dimension);
    cairn_distance e = distance_of(&mirrored);
    if (!is_comparable(&p->couple, &d))
        return;
    CHECK_NEAR(e.gap, d.gap, 1e-9 * p->couple.size);
    if (d.gap > 1e-3)
        CHECK_NEAR(cairn_norm(cairn_add(e.normal, d.normal)), 0, 1e-4);
}

TEST(swapping_the_shapes_mirrors_the_answer)
{
    run_all(300, check_swap);
}

static void check_motion(placed *p, int dimension, uint64_t *state)
{
    cairn_distance d = distance_of(&p->couple);
    cairn_quat turn = draw_turn(state, dimension);
    cairn_vec3 shift = cairn_scale(100, draw_unit(state, dimension));
    for (int i = 0; i < 2; i++) {
        p->at[i].q = cairn_quat_multiply(turn, p->at[i].q);
        p->at[i].x = cairn_add(shift, cairn_rotate(turn, p->at[i].x));
    }
    bool comparable = is_comparable(&p->couple, &d);
    couple_up(p, dimension);
    cairn_distance e = distance_of(&p->couple);
    if (!comparable)
        return;
    /* at 100 m a position is known to 1e-14 m */
    CHECK_NEAR(e.gap, d.gap, 1e-9 * p->couple.size);
    if (d.gap > 1e-3)
        CHECK_NEAR(cairn_norm(cairn_sub(e.normal, cairn_rotate(turn, d.normal))), 0, 1e-4);
}

TEST(rigid_motion_changes_nothing)
{
    run_all(300, check_motion);
}

/* ---- continuity ----------------------------------------------------------------------------- */

/* Bring the cores to a gap near 0 along their normal, then pass through touching in small steps: no
 * step changes the gap by more than itself. (Cores without inside part again on the other side.) */
static void check_continuity(placed *p, int dimension, uint64_t *state)
{
    (void)state;
    cairn_distance d = distance_of(&p->couple);
    if (d.gap <= 0.01)
        return;
    cairn_vec3 n = d.normal;
    const double step = 1e-5 * p->couple.size;
    p->at[0].x = cairn_add_scaled(p->at[0].x, -d.gap + 5.5 * step, n);
    double last = NAN;
    for (int k = 0; k < 11; k++) {
        couple_up(p, dimension);
        d = distance_of(&p->couple);
        CHECK(cairn_distance_is_sound(&p->couple, &d));
        bool follows = k == 0 || fabs(d.gap - last) <= 1.001 * step;
        if (!follows) {
            name_couple(p, dimension);
            print_message("gap %.15g after %.15g, step %.15g residual %g %d\n", d.gap, last, step,
                          d.residual, d.iterations);
        }
        CHECK(follows);
        last = d.gap;
        p->at[0].x = cairn_add_scaled(p->at[0].x, -step, n);
    }
}

TEST(the_gap_is_continuous_through_touching)
{
    run_all(60, check_continuity);
}

/* A cube over a cube, from 1e-3 above to 1e-3 inside: the normal stays z. */
TEST(the_normal_of_faces_stays_through_touching)
{
    placed p = { .shape = { box_of(2, 2, 2), box_of(2, 2, 2) } };
    for (int k = -10; k <= 10; k++) {
        put(&p, 3, 0.3, 0.2, 2 + 1e-4 * k);
        cairn_distance d = distance_of(&p.couple);
        CHECK_NEAR(d.gap, 1e-4 * k, 1e-14);
        CHECK_VEC(d.normal, 0, 0, 1, 1e-11);
    }
}

/* Two crossed planks of a tower, tilted by 1e-9 and 5e-15 m apart: what is between them is rounding,
 * and so is the direction from one to the other; the answer is the normal of their faces. */
TEST(planks_that_touch_have_the_normal_of_their_faces)
{
    placed p = { .shape = { box_of(0.12, 0.024, 0.008), box_of(0.024, 0.12, 0.008) } };
    const cairn_pose poses[2] = {
        { { 0x1.3cbafbd412f64p-28, -0x1.893748b439e75p-5, 0x1.f0a3d70ac8e56p+0 },
          { 1, -0x1.6b35a830cb0aap-30, 0x1.b171d3c0287d4p-31, -0x1.b69c348dc85fdp-31 } },
        { { 0x1.89374e4c75e0ap-5, 0x1.856a6d7e01998p-28, 0x1.f2b020c4486cep+0 },
          { 1, -0x1.6b2ba7d946d66p-30, 0x1.b1780ada5811cp-31, -0x1.b8c47779c682ap-31 } },
    };
    for (int k = 0; k < 2; k++) {
        p.at[k].shape = &p.shape[k];
        cairn_collider_place(&p.at[k], poses[k]);
    }
    couple_up(&p, 3);
    cairn_distance d;
    CHECK(cairn_distance_find(&p.couple, 1e-3, &d));
    CHECK(cairn_distance_is_sound(&p.couple, &d));
    CHECK_NEAR(d.gap, 0, 1e-13);
    CHECK_NEAR(d.normal.z, -1, 1e-12);
}

GROUP(test_distance)
{
    RUN(CASE(random_pairs_are_sound), CASE(brute_force_finds_no_wider_gap),
        CASE(swapping_the_shapes_mirrors_the_answer), CASE(rigid_motion_changes_nothing),
        CASE(the_gap_is_continuous_through_touching),
        CASE(the_normal_of_faces_stays_through_touching),
        CASE(planks_that_touch_have_the_normal_of_their_faces));
}
