/* test_rounded.c - hulls swept by a ball. */
#include "solids.h"

static cairn_shape hull(const cairn_vec3 *points, int count, int dimension, double rounding)
{
    cairn_shape shape = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, dimension);
    CHECK_OK(cairn_hull_create(points, count, dimension, &shape.geometry, NULL));
    shape.rounding = rounding;
    return shape;
}

/* The core has half lengths 1, 1.5, 2 (2D: 1, 1.5) and sits at `centre`. */
static cairn_shape box_hull(int dimension, cairn_vec3 centre, double rounding)
{
    cairn_vec3 points[8];
    for (int i = 0; i < 8; i++)
        points[i] = cairn_add(centre, cairn_vec(i & 1 ? 1 : -1, i & 2 ? 1.5 : -1.5,
                                                dimension == 2 ? 0
                                                : i & 4        ? 2
                                                               : -2));
    return hull(points, dimension == 2 ? 4 : 8, dimension, rounding);
}

/* box.c has its own closed form */
TEST(a_swept_box_is_the_rounded_box)
{
    for (int dimension = 2; dimension <= 3; dimension++) {
        cairn_shape swept = box_hull(dimension, cairn_vec(0, 0, 0), 0.3);
        cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, dimension);
        cairn_mass found, expected;
        box.size = cairn_vec(2.6, 3.6, dimension == 3 ? 4.6 : 0);
        box.rounding = 0.3;
        CHECK_OK(cairn_shape_mass_tensor(&swept, dimension, &found));
        CHECK_OK(cairn_shape_mass_tensor(&box, dimension, &expected));
        check_mass_equal(&found, &expected, 1e-12);
        CHECK_CLOSE(cairn_shape_extent(&swept), cairn_shape_extent(&box), 1e-15);
        cairn_geometry_release(swept.geometry);
    }
}

TEST(its_place_changes_the_centre_alone)
{
    cairn_shape here = box_hull(3, cairn_vec(0, 0, 0), 0.3);
    cairn_shape there = box_hull(3, cairn_vec(1, -2, 3), 0.3);
    cairn_mass a, b;
    CHECK_OK(cairn_shape_mass_tensor(&here, 3, &a));
    CHECK_OK(cairn_shape_mass_tensor(&there, 3, &b));
    CHECK_NEAR(cairn_norm(cairn_sub(b.centre, cairn_vec(1, -2, 3))), 0, 1e-13);
    check_tensor(&b.inertia, &a.inertia, 1e-10);
    cairn_geometry_release(here.geometry);
    cairn_geometry_release(there.geometry);
}

static const cairn_vec3 tetrahedron[] = {
    { 0, 0, 0 }, { 1, 0, 0 }, { 0.2, 0.8, 0 }, { 0.1, 0.1, 0.7 }
};
static const cairn_vec3 triangle[] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0.2, 0.8, 0 } };

/* Distance from p to the segment a b. */
static double to_segment(cairn_vec3 p, cairn_vec3 a, cairn_vec3 b)
{
    cairn_vec3 d = cairn_sub(b, a), e = cairn_sub(p, a);
    double t = fmin(1, fmax(0, cairn_dot(e, d) / cairn_dot(d, d)));
    return cairn_norm(cairn_add_scaled(e, -t, d));
}

/* Within the rounding of the hull: inside, near the inner part of a face, or near an edge. */
static bool inside(const cairn_shape *shape, cairn_vec3 p)
{
    cairn_geometry_view v = cairn_geometry_look(shape->geometry);
    double nearest = INFINITY, deepest = -INFINITY;
    for (int f = 0; f < v.face_count; f++) {
        const int32_t *c = v.face_vertex + v.face_first[f];
        int count = v.face_first[f + 1] - v.face_first[f];
        double height = cairn_dot(v.face_normal[f], cairn_sub(p, v.vertices[c[0]]));
        bool over = count > 2;
        deepest = fmax(deepest, height);
        for (int k = 0; k < count; k++) {
            cairn_vec3 a = v.vertices[c[k]], b = v.vertices[c[(k + 1) % count]];
            nearest = fmin(nearest, to_segment(p, a, b));
            cairn_vec3 in = cairn_cross(v.face_normal[f], cairn_sub(b, a));
            over = over && cairn_dot(in, cairn_sub(p, a)) >= 0;
        }
        nearest = over && height >= 0 ? fmin(nearest, height) : nearest;
    }
    return deepest <= 0 || nearest <= shape->rounding;
}

TEST(a_swept_tetrahedron_agrees_with_counting)
{
    cairn_shape solid = hull(tetrahedron, 4, 3, 0.2), flat = hull(triangle, 3, 2, 0.2);
    check_counted(&solid, 3, inside, 1e-2);
    check_counted(&flat, 2, inside, 5e-3);
    cairn_geometry_release(solid.geometry);
    cairn_geometry_release(flat.geometry);
}

/* Steiner: V(r) = V + A r + (1/2) sum of edge length x angle r^2 + 4/3 pi r^3, so for a large ball
 * the volume tends to that of the ball about the hull */
TEST(a_great_ball_swallows_the_hull)
{
    cairn_shape shape = hull(tetrahedron, 4, 3, 1000);
    cairn_mass m;
    CHECK_OK(cairn_shape_mass_tensor(&shape, 3, &m));
    double volume = 4.0 / 3 * M_PI * 1e9;
    CHECK_CLOSE(m.mass, volume, 3e-3);
    CHECK_CLOSE(m.inertia.xx, 0.4 * m.mass * 1e6, 3e-3);
    cairn_geometry_release(shape.geometry);
}

int main(void)
{
    RUN(CASE(a_swept_box_is_the_rounded_box), CASE(its_place_changes_the_centre_alone),
        CASE(a_swept_tetrahedron_agrees_with_counting), CASE(a_great_ball_swallows_the_hull));
}
