/* polyhedron.c - a convex hull, in 2D a convex polygon, that a ball may sweep: the points are the
 * core, so the solid is larger than their hull by the rounding.
 *
 * Moments: the divergence theorem over the faces; what a sweep adds is in rounded.c. */
#include <math.h>

#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/rounded.h"
#include "shape/shape.h"

static bool polyhedron_moments(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    (void)dimension;
    *out = shape->geometry->moments;
    if (shape->rounding > 0)
        cairn_rounded_add(&shape->geometry->view, shape->rounding, out);
    return true;
}

static double extent(const cairn_shape *shape)
{
    return shape->geometry->extent + shape->rounding;
}

static bool corner(const cairn_shape *shape, int k, cairn_vec3 *out)
{
    const cairn_geometry_view *view = &shape->geometry->view;
    if (k < view->vertex_count)
        *out = view->vertices[k];
    return k < view->vertex_count;
}

static cairn_vec3 support(const cairn_shape *shape, cairn_vec3 d)
{
    const cairn_geometry_view *view = &shape->geometry->view;
    double most = -INFINITY;
    int best = 0;
    for (int i = 0; i < view->vertex_count; i++) {
        double along = cairn_dot(d, view->vertices[i]);
        best = along > most ? i : best;
        most = along > most ? along : most;
    }
    return view->vertices[best];
}

static int facing(const cairn_geometry_view *view, cairn_vec3 d)
{
    double most = -INFINITY;
    int best = 0;
    for (int i = 0; i < view->face_count; i++) {
        double along = cairn_dot(d, view->face_normal[i]);
        best = along > most ? i : best;
        most = along > most ? along : most;
    }
    return best;
}

static void face(const cairn_shape *shape, cairn_vec3 d, cairn_face *out)
{
    const cairn_geometry_view *view = &shape->geometry->view;
    int id = facing(view, d), first = view->face_first[id];
    int corners = view->face_first[id + 1] - first;
    out->id = id;
    out->count = corners < CAIRN_FACE_POINTS ? corners : CAIRN_FACE_POINTS;
    out->normal = view->face_normal[id];
    for (int k = 0; k < out->count; k++) {
        int32_t vertex = view->face_vertex[first + (int64_t)k * corners / out->count];
        out->vertex[k] = vertex;
        out->point[k] = view->vertices[vertex];
    }
}

static double rounding(const cairn_shape *shape)
{
    return shape->rounding;
}

static const cairn_option options[] = {
    { "rounding", CAIRN_OPTION_REAL, false, offsetof(cairn_shape, rounding), 0, 1e12, "m",
      "radius of a ball that sweeps the hull and so makes it larger", NULL },
};

const cairn_shape_class cairn_shape_class_polyhedron = {
    .record = { "polyhedron", "convex hull of points, in 2D a polygon; may be rounded",
                sizeof(cairn_shape), cairn_shape_set_default, options, 1 },
    .moments = polyhedron_moments,
    .extent = extent,
    .support = support,
    .face = face,
    .corner = corner,
    .rounding = rounding,
    .complete = cairn_hull_complete,
    .has_geometry = true,
};
