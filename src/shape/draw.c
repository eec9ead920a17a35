/* draw.c - the surface of a bounded shape as polygons, for drawing.
 *
 * Flat faces are given as they are. A convex shape with anything round is sampled: support
 * points in directions on a sphere (2D: circle) about its axis, of which neighbouring ones form
 * the polygons. Their corners lie on the surface. */
#include <math.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

/* RINGS is odd, so that no ring lies on the equator, where the support point of a cylinder jumps
 * between its caps. */
enum { SECTORS = 32, RINGS = 17 };

/* Where the polygons go, and the pose at which they are given. */
typedef struct brush {
    cairn_polygon_fn *add;
    void *context;
    cairn_pose pose;
} brush;

static cairn_status add_polygon(const brush *to, const cairn_vec3 *corners, int count, bool closed)
{
    cairn_vec3 placed[SECTORS];
    for (int k = 0; k < count; k++)
        placed[k] = cairn_pose_apply(&to->pose, corners[k]);
    return to->add(to->context, placed, count, closed);
}

/* ---- round shapes --------------------------------------------------------------------------- */

static cairn_vec3 surface_point(const cairn_shape *shape, cairn_vec3 direction)
{
    cairn_vec3 core = cairn_shape_support(shape, direction);
    return cairn_add_scaled(core, cairn_shape_rounding(shape), direction);
}

/* The points of a ring in the directions of all sectors; ring 0 is along the axis. */
static void ring_points(const cairn_shape *shape, cairn_vec3 axis, int ring, cairn_vec3 *out)
{
    double polar = M_PI * ring / RINGS;
    cairn_vec3 e = cairn_perpendicular(axis), f = cairn_cross(axis, e);
    cairn_vec3 along = cairn_scale(cos(polar), axis);
    for (int sector = 0; sector < SECTORS; sector++) {
        double around = 2 * M_PI * sector / SECTORS;
        cairn_vec3 d = cairn_add_scaled(along, sin(polar) * cos(around), e);
        out[sector] = surface_point(shape, cairn_add_scaled(d, sin(polar) * sin(around), f));
    }
}

static bool coincide(cairn_vec3 a, cairn_vec3 b, double size)
{
    return cairn_norm(cairn_sub(a, b)) <= 1e-9 * size;
}

/* Remove corners that coincide with the one before, which flat parts and poles produce; returns
 * how many remain. */
static int without_doubles(cairn_vec3 *corners, int count, double size)
{
    int kept = 0;
    for (int k = 0; k < count; k++)
        if (kept == 0 || !coincide(corners[k], corners[kept - 1], size))
            corners[kept++] = corners[k];
    while (kept > 1 && coincide(corners[0], corners[kept - 1], size))
        kept--;
    return kept;
}

static cairn_status draw_round(const cairn_shape *shape, const brush *to)
{
    bool has_axis = cairn_shape_class_of(shape)->has_axis;
    cairn_vec3 axis = has_axis ? cairn_unit(shape->axis) : cairn_vec(0, 0, 1);
    double size = cairn_shape_extent(shape);
    cairn_vec3 points[2][SECTORS]; /* of this ring and the next, alternating */
    ring_points(shape, axis, 0, points[0]);
    for (int ring = 0; ring < RINGS; ring++) {
        const cairn_vec3 *here = points[ring % 2], *next = points[1 - ring % 2];
        ring_points(shape, axis, ring + 1, points[1 - ring % 2]);
        for (int k = 0; k < SECTORS; k++) {
            int l = (k + 1) % SECTORS;
            cairn_vec3 corners[4] = { here[k], next[k], next[l], here[l] };
            int count = without_doubles(corners, 4, size);
            if (count > 2)
                TRY(add_polygon(to, corners, count, true));
        }
    }
    return CAIRN_OK;
}

static cairn_status draw_round_2d(const cairn_shape *shape, const brush *to)
{
    cairn_vec3 corners[SECTORS];
    for (int k = 0; k < SECTORS; k++) {
        /* shifted by half a sector: no direction is normal to a side of a box, where the support
         * point jumps */
        double angle = 2 * M_PI * (k + 0.5) / SECTORS;
        corners[k] = surface_point(shape, cairn_vec(cos(angle), sin(angle), 0));
    }
    int count = without_doubles(corners, SECTORS, cairn_shape_extent(shape));
    return count > 1 ? add_polygon(to, corners, count, true) : CAIRN_OK;
}

/* ---- flat faces ----------------------------------------------------------------------------- */

/* Corner k of the face of a box with outward normal `side` (1 or -1) along `axis`. */
static cairn_vec3 box_corner(cairn_vec3 size, int axis, int side, int k)
{
    static const int s[4] = { -1, 1, 1, -1 }, t[4] = { -1, -1, 1, 1 };
    double c[3];
    c[axis] = 0.5 * side;
    c[(axis + 1) % 3] = 0.5 * s[k] * side;
    c[(axis + 2) % 3] = 0.5 * t[k];
    return cairn_times(size, cairn_vec(c[0], c[1], c[2]));
}

/* In 2D a box is one polygon, the face with normal +z. */
static cairn_status draw_box(const cairn_shape *shape, int dimension, const brush *to)
{
    for (int face = 0; face < 6; face++) {
        cairn_vec3 corners[4];
        int axis = dimension == 2 ? 2 : face / 2, side = face % 2 ? -1 : 1;
        for (int k = 0; k < 4; k++)
            corners[k] = box_corner(shape->size, axis, side, k);
        TRY(add_polygon(to, corners, 4, true));
        if (dimension == 2)
            break;
    }
    return CAIRN_OK;
}

/* Add a polygon with any number of corners; add_polygon has room for SECTORS only. */
static cairn_status add_large(const brush *to, const cairn_geometry_view *view,
                              const int32_t *vertex, int count, int stride)
{
    cairn_vec3 *corners = cairn_memory_resize(NULL, (size_t)count, sizeof *corners);
    if (!corners)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < count; k++)
        corners[k] = cairn_pose_apply(&to->pose, view->vertices[vertex[stride * k]]);
    cairn_status status = to->add(to->context, corners, count, true);
    cairn_memory_free(corners);
    return status;
}

/* A hull in the plane: its sides follow each other, so the first ends of all sides are its
 * corners. */
static cairn_status draw_polygon(const cairn_geometry_view *view, const brush *to)
{
    return add_large(to, view, view->face_vertex, view->face_count, 2);
}

static cairn_status draw_faces(const cairn_geometry_view *view, const brush *to)
{
    for (int f = 0; f < view->face_count; f++)
        TRY(add_large(to, view, view->face_vertex + view->face_first[f],
                      view->face_first[f + 1] - view->face_first[f], 1));
    return CAIRN_OK;
}

static cairn_status draw_segments(const cairn_geometry_view *view, const brush *to)
{
    for (int f = 0; f < view->face_count; f++) {
        const int32_t *ends = view->face_vertex + view->face_first[f];
        const cairn_vec3 corners[2] = { view->vertices[ends[0]], view->vertices[ends[1]] };
        TRY(add_polygon(to, corners, 2, false));
    }
    return CAIRN_OK;
}

/* ---- all ------------------------------------------------------------------------------------ */

static cairn_status draw(const cairn_shape *shape, int dimension, const brush *to);

static cairn_status draw_parts(const cairn_geometry_view *view, int dimension, const brush *to)
{
    for (int i = 0; i < view->part_count; i++) {
        brush inner = *to;
        inner.pose = cairn_pose_compose(&to->pose, &view->parts[i].pose);
        TRY(draw(&view->parts[i].shape, dimension, &inner));
    }
    return CAIRN_OK;
}

static cairn_status draw(const cairn_shape *shape, int dimension, const brush *to)
{
    bool rounded = cairn_shape_rounding(shape) > 0;
    switch (shape->kind) {
    case CAIRN_SHAPE_POINT:
        return CAIRN_OK;
    case CAIRN_SHAPE_COMPOUND:
        return draw_parts(&shape->geometry->view, dimension, to);
    case CAIRN_SHAPE_POLYLINE:
        return draw_segments(&shape->geometry->view, to);
    case CAIRN_SHAPE_MESH:
    case CAIRN_SHAPE_HEIGHT_FIELD:
        return draw_faces(&shape->geometry->view, to);
    default:
        break;
    }
    if (!cairn_shape_class_of(shape)->support)
        return CAIRN_UNSUPPORTED;
    if (shape->kind == CAIRN_SHAPE_BOX && !rounded)
        return draw_box(shape, dimension, to);
    if (shape->kind == CAIRN_SHAPE_POLYHEDRON && !rounded)
        return dimension == 2 ? draw_polygon(&shape->geometry->view, to)
                              : draw_faces(&shape->geometry->view, to);
    return dimension == 2 ? draw_round_2d(shape, to) : draw_round(shape, to);
}

cairn_status cairn_shape_draw(const cairn_shape *shape, int dimension, const cairn_pose *pose,
                              cairn_polygon_fn *add, void *context)
{
    const brush to = { add, context, *pose };
    return draw(shape, dimension, &to);
}
