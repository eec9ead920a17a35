/* height_field.c - ground over a grid in x and y, centred about the origin, 3D only: two triangles
 * a cell, split along the diagonal from its first to its last point; solid below. */
#include <math.h>

#include "base/status.h"
#include "shape/geometry.h"
#include "shape/shape.h"

static cairn_status check(const cairn_height_field_def *def, cairn_error *error)
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

static cairn_status fill(cairn_geometry *g, const cairn_height_field_def *def)
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

static cairn_status complete(cairn_geometry *g, cairn_error *error)
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
    TRY(check(def, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_HEIGHT_FIELD, 3);
    cairn_status status = g ? fill(g, def) : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK)
        status = complete(g, error);
    return cairn_geometry_finish(g, status, out, error);
}

const cairn_shape_class cairn_shape_class_height_field = {
    .record = { "height_field", "ground over a grid in x and y, solid below; 3D only",
                sizeof(cairn_shape), cairn_shape_set_default, NULL, 0 },
    .extent = cairn_geometry_extent_of,
    .complete = complete,
    .has_geometry = true,
    .only_in = 3,
};
