/* mesh.c - a surface of triangles, 3D only. Each triangle has an outer side, from which its corners
 * run counterclockwise. A closed mesh is a solid whose volume integrals follow from the divergence
 * theorem; an open one is a wall without mass of its own. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

static cairn_status check_indices(const cairn_mesh_def *def, cairn_error *error)
{
    for (int i = 0; i < 3 * def->triangle_count; i++)
        if (def->triangles[i] < 0 || def->triangles[i] >= def->vertex_count)
            return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                              "triangle %d names vertex %d, expected one of 0 to %d", i / 3 + 1,
                              (int)def->triangles[i], def->vertex_count - 1);
    return CAIRN_OK;
}

static cairn_status check(const cairn_mesh_def *def, cairn_error *error)
{
    if (def->vertex_count < 3 || def->triangle_count < 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "found %d vertices and %d triangles, expected at least one triangle",
                          def->vertex_count, def->triangle_count);
    if (def->triangle_count > INT32_MAX / 12)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "found %d triangles, expected at most %d",
                          def->triangle_count, INT32_MAX / 12);
    for (int i = 0; i < def->vertex_count; i++)
        if (!cairn_is_finite(def->vertices[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, NULL, "vertex %d is not finite", i + 1);
    return check_indices(def, error);
}

static cairn_status fill(cairn_geometry *g, const cairn_mesh_def *def)
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

static cairn_status complete(cairn_geometry *g, cairn_error *error)
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
    TRY(check(def, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_MESH, 3);
    cairn_status status = g ? fill(g, def) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = complete(g, error);
    return cairn_geometry_finish(g, status, out, error);
}

const cairn_shape_class cairn_shape_class_mesh = {
    .record = { "mesh", "triangles with an outer side, 3D only; a closed mesh is a solid",
                sizeof(cairn_shape), cairn_shape_set_default, NULL, 0 },
    .moments = cairn_geometry_moments_of,
    .extent = cairn_geometry_extent_of,
    .complete = complete,
    .has_geometry = true,
    .only_in = 3,
};
