/* polyline.c - a chain of segments in the plane, 2D only; solid on their left. A closed chain that
 * runs counterclockwise is a solid polygon, not necessarily convex; any other is a wall. */
#include "base/status.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

static cairn_status check(const cairn_vec3 *points, int count, bool closed, cairn_error *error)
{
    int least = closed ? 3 : 2;
    if (count < least)
        return cairn_fail(error, CAIRN_BAD_INPUT, "points", "found %d points, expected at least %d",
                          count, least);
    for (int i = 0; i < count; i++) {
        if (!cairn_is_finite(points[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, "points", "point %d is not finite", i + 1);
        if (points[i].z != 0)
            return cairn_fail(error, CAIRN_BAD_INPUT, "points",
                              "point %d has z = %g, expected a point of the plane", i + 1,
                              points[i].z);
    }
    return CAIRN_OK;
}

static cairn_status build(cairn_geometry *g, const cairn_vec3 *points, int count, bool closed)
{
    int segments = closed ? count : count - 1;
    const cairn_surface_size size = { count, segments, 2 * segments };
    TRY(cairn_geometry_size(g, &size));
    for (int i = 0; i < count; i++)
        cairn_geometry_vertices(g)[i] = points[i];
    for (int i = 0; i < segments; i++) {
        cairn_geometry_face_first(g)[i + 1] = 2 * (i + 1);
        cairn_geometry_face_vertex(g)[2 * i] = i;
        cairn_geometry_face_vertex(g)[2 * i + 1] = (i + 1) % count;
    }
    return CAIRN_OK;
}

/* A chain that ends where it begins has as many segments as points. */
static cairn_status complete(cairn_geometry *g, cairn_error *error)
{
    int without = cairn_geometry_find_normals(g);
    if (without >= 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "points",
                          "points %d and %d coincide, expected a segment between them", without + 1,
                          (without + 1) % g->view.vertex_count + 1);
    if (g->view.face_count == g->view.vertex_count)
        cairn_geometry_find_moments(g);
    /* clockwise: the inside is free */
    g->view.closed = g->moments.volume > 0;
    if (!g->view.closed)
        g->moments = (cairn_moments){ 0 };
    TRY(cairn_geometry_find_neighbours(g));
    return cairn_geometry_build_tree(g);
}

cairn_status cairn_polyline_create(const cairn_vec3 *points, int count, bool closed,
                                   const cairn_geometry **out, cairn_error *error)
{
    *out = NULL;
    TRY(check(points, count, closed, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_POLYLINE, 2);
    cairn_status status = g ? build(g, points, count, closed) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = complete(g, error);
    return cairn_geometry_finish(g, status, out, error);
}

const cairn_shape_class cairn_shape_class_polyline = {
    .record = { "polyline", "chain of segments with an outer side, 2D only", sizeof(cairn_shape),
                cairn_shape_set_default, NULL, 0 },
    .moments = cairn_geometry_moments_of,
    .extent = cairn_geometry_extent_of,
    .complete = complete,
    .has_geometry = true,
    .only_in = 2,
};
