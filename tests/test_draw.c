/* test_draw.c - polygons of shapes: their corners lie on the surface and they enclose the volume. */
#include "check.h"
#include "math/vec.h"
#include "shape/shape.h"

static const cairn_pose aside = { { 1, 2, 3 }, { 1, 0, 0, 0 } };

/* What the polygons enclose: volume by the divergence theorem, 2D: area. */
typedef struct sum {
    int polygons, lines;
    double volume, farthest;
} sum;

static cairn_status add_3d(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    sum *s = context;
    s->polygons += closed;
    s->lines += !closed;
    for (int k = 0; k < count; k++)
        s->farthest = fmax(s->farthest, cairn_norm(cairn_sub(corners[k], aside.x)));
    for (int k = 1; k + 1 < count; k++)
        s->volume += cairn_dot(corners[0], cairn_cross(corners[k], corners[k + 1])) / 6;
    return CAIRN_OK;
}

static cairn_status add_2d(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    sum *s = context;
    s->polygons += closed;
    s->lines += !closed;
    for (int k = 0; k < count; k++)
        s->volume += 0.5 * cairn_cross(corners[k], corners[(k + 1) % count]).z;
    return CAIRN_OK;
}

static sum draw(const cairn_shape *shape, int dimension)
{
    sum s = { 0 };
    CHECK_OK(cairn_shape_draw(shape, dimension, &aside, dimension == 2 ? add_2d : add_3d, &s));
    return s;
}

TEST(a_box_has_six_faces)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
    box.size = cairn_vec(1, 2, 3);
    sum s = draw(&box, 3);
    CHECK_INT(s.polygons, 6);
    CHECK_NEAR(s.volume, 6, 1e-12);
    CHECK_NEAR(s.farthest, sqrt(14) / 2, 1e-12);
}

/* inscribed: a little less than the true volume, and outside in */
TEST(round_shapes_are_drawn_from_inside)
{
    cairn_shape shapes[5];
    for (int k = 0; k < 5; k++)
        shapes[k] = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
    shapes[0].radius = 1;
    shapes[1] = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 3);
    shapes[1].semi_axes = cairn_vec(1, 2, 3);
    shapes[2] = cairn_shape_default(CAIRN_SHAPE_CYLINDER, 3);
    shapes[2].radius = 1;
    shapes[2].height = 2;
    shapes[2].axis = cairn_vec(1, 0, 1);
    shapes[3] = cairn_shape_default(CAIRN_SHAPE_CAPSULE, 3);
    shapes[3].radius = 0.5;
    shapes[3].length = 2;
    shapes[4] = cairn_shape_default(CAIRN_SHAPE_CONE, 3);
    shapes[4].radius = 1;
    shapes[4].height = 3;
    for (int k = 0; k < 5; k++) {
        cairn_mass mass;
        CHECK_OK(cairn_shape_mass_tensor(&shapes[k], 3, &mass));
        sum s = draw(&shapes[k], 3);
        CHECK(s.volume < mass.mass && s.volume > 0.95 * mass.mass);
        CHECK(s.farthest <= cairn_shape_extent(&shapes[k]) * (1 + 1e-12));
    }
}

TEST(a_compound_draws_its_parts)
{
    cairn_part parts[2] = { 0 };
    cairn_shape both = cairn_shape_default(CAIRN_SHAPE_COMPOUND, 3);
    for (int k = 0; k < 2; k++) {
        parts[k].shape = cairn_shape_default(CAIRN_SHAPE_BOX, 3);
        parts[k].shape.size = cairn_vec(1, 1, 1);
        parts[k].pose = (cairn_pose){ { 2 * k, 0, 0 }, { 1, 0, 0, 0 } };
    }
    CHECK_OK(cairn_compound_create(parts, 2, 3, &both.geometry, NULL));
    sum s = draw(&both, 3);
    CHECK_INT(s.polygons, 12);
    CHECK_NEAR(s.volume, 2, 1e-12);
    cairn_geometry_release(both.geometry);
}

TEST(in_the_plane_a_shape_is_its_outline)
{
    cairn_shape box = cairn_shape_default(CAIRN_SHAPE_BOX, 2);
    cairn_shape ellipse = cairn_shape_default(CAIRN_SHAPE_ELLIPSOID, 2);
    cairn_shape triangle = cairn_shape_default(CAIRN_SHAPE_POLYHEDRON, 2);
    const cairn_vec3 points[3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 2, 0 } };
    CHECK_OK(cairn_hull_create(points, 3, 2, &triangle.geometry, NULL));
    box.size = cairn_vec(2, 3, 0);
    ellipse.semi_axes = cairn_vec(2, 1, 0);
    CHECK_NEAR(draw(&box, 2).volume, 6, 1e-12);
    CHECK_NEAR(draw(&triangle, 2).volume, 2, 1e-12);
    CHECK_CLOSE(draw(&ellipse, 2).volume, 2 * M_PI, 0.02);
    CHECK_INT(draw(&ellipse, 2).polygons, 1);
    cairn_geometry_release(triangle.geometry);
}

TEST(a_polyline_is_drawn_as_lines_a_point_not_at_all)
{
    const cairn_vec3 points[3] = { { 0, 0, 0 }, { 2, 0, 0 }, { 0, 2, 0 } };
    cairn_shape chain = cairn_shape_default(CAIRN_SHAPE_POLYLINE, 2);
    cairn_shape point = cairn_shape_default(CAIRN_SHAPE_POINT, 2);
    CHECK_OK(cairn_polyline_create(points, 3, false, &chain.geometry, NULL));
    CHECK_INT(draw(&chain, 2).lines, 2);
    CHECK_INT(draw(&point, 2).polygons, 0);
    cairn_geometry_release(chain.geometry);
}

TEST(what_has_no_end_cannot_be_drawn)
{
    cairn_shape wall = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, 3);
    sum s = { 0 };
    CHECK_INT(cairn_shape_draw(&wall, 3, &aside, add_3d, &s), CAIRN_UNSUPPORTED);
}

int main(void)
{
    RUN(CASE(a_box_has_six_faces), CASE(round_shapes_are_drawn_from_inside),
        CASE(a_compound_draws_its_parts), CASE(in_the_plane_a_shape_is_its_outline),
        CASE(a_polyline_is_drawn_as_lines_a_point_not_at_all),
        CASE(what_has_no_end_cannot_be_drawn));
}
