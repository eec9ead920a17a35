/* mesh.c - surfaces whose faces are collided one by one: meshes and height fields in 3D,
 * polylines in 2D. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

/* ---- meshes ------------------------------------------------------------------------------ */

/* A surface of triangles, 3D only. Each triangle has an outer side, from which its corners
 * run counterclockwise. A closed mesh is a solid whose volume integrals follow from the divergence
 * theorem; an open one is a wall without mass of its own. */

static cairn_status check_indices(const cairn_mesh_def *def, cairn_error *error)
{
    for (int i = 0; i < 3 * def->triangle_count; i++)
        if (def->triangles[i] < 0 || def->triangles[i] >= def->vertex_count)
            return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                              "triangle %d names vertex %d, expected one of 0 to %d", i / 3 + 1,
                              (int)def->triangles[i], def->vertex_count - 1);
    return CAIRN_OK;
}

static cairn_status mesh_check(const cairn_mesh_def *def, cairn_error *error)
{
    if (def->vertex_count < 3 || def->triangle_count < 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "found %d vertices and %d triangles, expected at least one triangle",
                          def->vertex_count, def->triangle_count);
    /* edges take four numbers for each of three sides of a triangle, indexed by int */
    if (def->triangle_count > INT32_MAX / 12)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "found %d triangles, expected at most %d",
                          def->triangle_count, INT32_MAX / 12);
    for (int i = 0; i < def->vertex_count; i++)
        if (!cairn_is_finite(def->vertices[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, NULL, "vertex %d is not finite", i + 1);
    return check_indices(def, error);
}

static cairn_status mesh_fill(cairn_geometry *g, const cairn_mesh_def *def)
{
    const cairn_surface_size size = { def->vertex_count, def->triangle_count,
                                      3 * def->triangle_count };
    TRY(cairn_geometry_size(g, &size));
    memcpy(cairn_geometry_vertices(g), def->vertices,
           (size_t)def->vertex_count * sizeof *def->vertices);
    memcpy(cairn_geometry_face_vertex(g), def->triangles,
           3 * (size_t)def->triangle_count * sizeof *def->triangles);
    for (int i = 0; i <= def->triangle_count; i++)
        cairn_geometry_face_first(g)[i] = 3 * i;
    return CAIRN_OK;
}

static cairn_status refuse_degenerate(const cairn_geometry *g, int face, cairn_error *error)
{
    const int32_t *corner = g->view.face_vertex + 3 * face;
    cairn_vec3 p = g->view.vertices[corner[0]];
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                      "triangle %d at (%g, %g, %g) is degenerate: it has no area", face + 1, p.x,
                      p.y, p.z);
}

/* A closed surface with negative volume has its outer sides inside; open ones have no inside to
 * tell. */
static cairn_status mesh_complete(cairn_geometry *g, cairn_error *error)
{
    int flat = cairn_geometry_find_normals(g);
    if (flat >= 0)
        return refuse_degenerate(g, flat, error);
    TRY(cairn_geometry_find_edges(g, error));
    if (g->view.closed)
        cairn_geometry_find_moments(g);
    if (g->view.closed && !(g->moments.volume > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the closed surface encloses a volume of %g: its triangles are inverted, "
                          "expected corners counterclockwise seen from outside",
                          g->moments.volume);
    TRY(cairn_geometry_find_neighbours(g));
    return cairn_geometry_build_tree(g);
}

cairn_status cairn_mesh_create(const cairn_mesh_def *def, const cairn_geometry **out,
                               cairn_error *error)
{
    *out = NULL;
    TRY(mesh_check(def, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_MESH, 3);
    cairn_status status = g ? mesh_fill(g, def) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = mesh_complete(g, error);
    return cairn_geometry_finish(g, status, out, error);
}

const cairn_shape_class cairn_shape_class_mesh = {
    .record = { "mesh", "triangles with an outer side, 3D only; a closed mesh is a solid",
                sizeof(cairn_shape), cairn_shape_set_default, NULL, 0 },
    .moments = cairn_geometry_moments_of,
    .extent = cairn_geometry_extent_of,
    .complete = mesh_complete,
    .has_geometry = true,
    .only_in = 3,
};

/* ---- height fields ----------------------------------------------------------------------- */

/* Ground over a grid in x and y, centred at the origin, 3D only. Each cell has two triangles,
 * split along the diagonal from its first to its last point; solid below. */

/* INT32_MAX / 24: a grid has about two triangles per point, each with 12 numbers for its edges. */
static cairn_status field_check(const cairn_height_field_def *def, cairn_error *error)
{
    if (def->columns < 2 || def->rows < 2)
        return cairn_fail(error, CAIRN_BAD_INPUT, "heights",
                          "found %d x %d heights, expected at least 2 x 2", def->columns,
                          def->rows);
    if ((int64_t)def->columns * def->rows > INT32_MAX / 24)
        return cairn_fail(error, CAIRN_BAD_INPUT, "heights",
                          "found %d x %d heights, expected at most %d in all", def->columns,
                          def->rows, INT32_MAX / 24);
    for (int k = 0; k < 2; k++)
        if (!(def->spacing[k] > 0 && isfinite(def->spacing[k])))
            return cairn_fail(error, CAIRN_BAD_INPUT, "spacing", "found %g, expected a number > 0",
                              def->spacing[k]);
    for (int i = 0; i < def->columns * def->rows; i++)
        if (!isfinite(def->heights[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, "heights",
                              "the height in row %d, column %d is not finite", i / def->columns + 1,
                              i % def->columns + 1);
    return CAIRN_OK;
}

static void fill_vertices(const cairn_height_field_def *def, cairn_vec3 *out)
{
    for (int i = 0; i < def->columns * def->rows; i++) {
        int column = i % def->columns, row = i / def->columns;
        out[i] = (cairn_vec3){ (column - 0.5 * (def->columns - 1)) * def->spacing[0],
                               (row - 0.5 * (def->rows - 1)) * def->spacing[1], def->heights[i] };
    }
}

/* Both triangles run counterclockwise seen from above, so that their outer side is up. */
static void fill_cells(const cairn_height_field_def *def, int32_t *corner)
{
    for (int row = 0; row + 1 < def->rows; row++)
        for (int column = 0; column + 1 < def->columns; column++) {
            int32_t first = row * def->columns + column, last = first + def->columns + 1;
            const int32_t cell[6] = { first, first + 1, last, first, last, last - 1 };
            for (int k = 0; k < 6; k++)
                *corner++ = cell[k];
        }
}

static cairn_status field_fill(cairn_geometry *g, const cairn_height_field_def *def)
{
    int cells = (def->columns - 1) * (def->rows - 1);
    const cairn_surface_size size = { def->columns * def->rows, 2 * cells, 6 * cells };
    TRY(cairn_geometry_size(g, &size));
    fill_vertices(def, cairn_geometry_vertices(g));
    fill_cells(def, cairn_geometry_face_vertex(g));
    for (int i = 0; i <= 2 * cells; i++)
        cairn_geometry_face_first(g)[i] = 3 * i;
    return CAIRN_OK;
}

static cairn_status field_complete(cairn_geometry *g, cairn_error *error)
{
    int without = cairn_geometry_find_normals(g);
    if (without >= 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "heights",
                          "cell %d is steeper than numbers can tell", without / 2 + 1);
    TRY(cairn_geometry_find_edges(g, error));
    TRY(cairn_geometry_find_neighbours(g));
    return cairn_geometry_build_tree(g);
}

cairn_status cairn_height_field_create(const cairn_height_field_def *def,
                                       const cairn_geometry **out, cairn_error *error)
{
    *out = NULL;
    TRY(field_check(def, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    cairn_status status = g ? field_fill(g, def) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = field_complete(g, error);
    return cairn_geometry_finish(g, status, out, error);
}

const cairn_shape_class cairn_shape_class_height_field = {
    .record = { "height_field", "ground over a grid in x and y, solid below; 3D only",
                sizeof(cairn_shape), cairn_shape_set_default, NULL, 0 },
    .extent = cairn_geometry_extent_of,
    .complete = field_complete,
    .has_geometry = true,
    .only_in = 3,
};

/* ---- polylines --------------------------------------------------------------------------- */

/* A chain of segments in the plane, 2D only; solid on their left. A closed chain that runs
 * counterclockwise is a solid polygon, not necessarily convex; any other chain is a wall. */

/* An open chain needs one segment, a closed one three. */
static cairn_status polyline_check(const cairn_vec3 *points, int count, bool closed,
                                   cairn_error *error)
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

/* Complete a chain. One that ends where it begins has as many segments as points. */
static cairn_status polyline_complete(cairn_geometry *g, cairn_error *error)
{
    int without = cairn_geometry_find_normals(g);
    if (without >= 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "points",
                          "points %d and %d coincide, expected a segment between them", without + 1,
                          (without + 1) % g->view.vertex_count + 1);
    if (g->view.face_count == g->view.vertex_count)
        cairn_geometry_find_moments(g);
    /* a clockwise chain has a negative area: it is a wall around free space */
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
    TRY(polyline_check(points, count, closed, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_POLYLINE, 2);
    cairn_status status = g ? build(g, points, count, closed) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = polyline_complete(g, error);
    return cairn_geometry_finish(g, status, out, error);
}

const cairn_shape_class cairn_shape_class_polyline = {
    .record = { "polyline", "chain of segments with an outer side, 2D only", sizeof(cairn_shape),
                cairn_shape_set_default, NULL, 0 },
    .moments = cairn_geometry_moments_of,
    .extent = cairn_geometry_extent_of,
    .complete = polyline_complete,
    .has_geometry = true,
    .only_in = 2,
};
