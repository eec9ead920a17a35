/* geometry.c - the group /geometry of run.h5, see columns.h; and the shelf, see frame.h.
 *
 * Geometry g has rows [o[g], o[g+1]) of the vertices, faces and parts, o being the offsets of that
 * list. Face f of the file has corners [o[f], o[f+1]). A corner is the number of a vertex, counted
 * from the first one of its geometry, so that the rows of a geometry do not depend on what precedes
 * it. */
#include "run/columns.h"

#include "base/memory.h"
#include "base/status.h"
#include "run/frame.h"

/* A part of a compound as it is stored: the columns are gathered from an array of these. */
typedef struct part_row {
    uint8_t kind;
    int32_t geometry;
    cairn_part part;
} part_row;

static const char *shape_name(int kind)
{
    const cairn_record *record = cairn_shape_record(kind);
    return record ? record->name : NULL;
}

static const cairn_run_source part_sources[] = {
    { "shape", "", CAIRN_HDF5_BYTE, 1, offsetof(part_row, kind), shape_name },
    { "geometry", "", CAIRN_HDF5_INT, 1, offsetof(part_row, geometry), NULL },
    { "x", "m", CAIRN_HDF5_REAL, 3, offsetof(part_row, part.pose.x), NULL },
    { "q", "1", CAIRN_HDF5_REAL, 4, offsetof(part_row, part.pose.q), NULL },
    { "radius", "m", CAIRN_HDF5_REAL, 1, offsetof(part_row, part.shape.radius), NULL },
    { "height", "m", CAIRN_HDF5_REAL, 1, offsetof(part_row, part.shape.height), NULL },
    { "length", "m", CAIRN_HDF5_REAL, 1, offsetof(part_row, part.shape.length), NULL },
    { "rounding", "m", CAIRN_HDF5_REAL, 1, offsetof(part_row, part.shape.rounding), NULL },
    { "exponents", "1", CAIRN_HDF5_REAL, 2, offsetof(part_row, part.shape.exponent),
      NULL }, /* also covers exponent_z, which follows it */
    { "size", "m", CAIRN_HDF5_REAL, 3, offsetof(part_row, part.shape.size), NULL },
    { "semi_axes", "m", CAIRN_HDF5_REAL, 3, offsetof(part_row, part.shape.semi_axes), NULL },
    { "axis", "1", CAIRN_HDF5_REAL, 3, offsetof(part_row, part.shape.axis), NULL },
};

_Static_assert(offsetof(cairn_shape, exponent_z) == offsetof(cairn_shape, exponent) + 8,
               "both exponents are one column");

/* Names of the offset columns, by list. */
static const char *const offset_names[CAIRN_GEOMETRY_LISTS] = {
    [CAIRN_GEOMETRY_VERTICES] = "vertex_offset",
    [CAIRN_GEOMETRY_FACES] = "face_offset",
    [CAIRN_GEOMETRY_PARTS] = "part_offset",
    [CAIRN_GEOMETRY_CORNERS] = "corner_offset",
};

/* ---- columns -------------------------------------------------------------------------------- */

static cairn_status create_parts(hid_t group, cairn_run_geometry *g, cairn_error *error)
{
    hid_t parts;
    const cairn_run_sources sources =
        cairn_run_sources_of(part_sources, sizeof part_sources / sizeof part_sources[0]);
    TRY(cairn_hdf5_group(group, "parts", &parts, error));
    cairn_status status = cairn_run_table_create(parts, sources, 3, g->writer, &g->parts, error);
    H5Gclose(parts);
    return status;
}

static cairn_status create_columns(hid_t group, cairn_run_geometry *g, cairn_error *error)
{
    const cairn_hdf5_column_def vertices = { "vertices", "m", CAIRN_HDF5_REAL, 3, 512,
                                             g->writer,  true };
    const cairn_hdf5_column_def corners = {
        "corners", "", CAIRN_HDF5_INT, 1, 1024, g->writer, true
    };
    /* Offsets begin with a 0, so that n geometries have n + 1 offsets. A continued file already has
     * it. */
    int64_t zero = 0;
    for (int i = 0; i < CAIRN_GEOMETRY_LISTS; i++) {
        const cairn_hdf5_column_def def = { offset_names[i],  "",       CAIRN_HDF5_LONG, 1,
                                            CAIRN_STEP_CHUNK, g->writer };
        TRY(cairn_hdf5_column_create(group, &def, &g->offsets[i], error));
        if (g->offsets[i].rows == 0)
            TRY(cairn_hdf5_column_append(&g->offsets[i], 1, &zero, error));
    }
    TRY(cairn_hdf5_column_create(group, &vertices, &g->vertices, error));
    TRY(cairn_hdf5_column_create(group, &corners, &g->corners, error));
    return create_parts(group, g, error);
}

static cairn_status create(hid_t file, cairn_run_geometry *g, cairn_error *error)
{
    hid_t group;
    TRY(cairn_hdf5_group(file, "geometry", &group, error));
    cairn_status status = create_columns(group, g, error);
    H5Gclose(group);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Append the corners of a geometry, and the end of each face, counted from the first corner in the
 * file. */
static cairn_status append_faces(const cairn_geometry_view *view, cairn_run_geometry *g,
                                 cairn_error *error)
{
    size_t count = (size_t)view->face_count;
    if (count == 0)
        return CAIRN_OK;
    int64_t *ends = cairn_memory_zeroed(count, sizeof *ends);
    if (!ends)
        return CAIRN_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        ends[i] = (int64_t)g->corners.rows + view->face_first[i + 1];
    cairn_status status = cairn_hdf5_column_append(&g->corners, (size_t)view->face_first[count],
                                                   view->face_vertex, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_column_append(&g->offsets[CAIRN_GEOMETRY_CORNERS], count, ends, error);
    cairn_memory_free(ends);
    return status;
}

/* The shelf assigned rows to the geometries of parts before that of the compound, so their rows are
 * known here. */
static cairn_status append_parts(const cairn_geometry_view *view, const cairn_run_shelf *shelf,
                                 cairn_run_geometry *g, cairn_error *error)
{
    size_t count = (size_t)view->part_count;
    part_row *rows = cairn_memory_zeroed(count, sizeof *rows);
    cairn_status status = rows || count == 0 ? CAIRN_OK : CAIRN_NO_MEMORY;
    for (size_t i = 0; rows && i < count; i++)
        rows[i] =
            (part_row){ (uint8_t)view->parts[i].shape.kind,
                        cairn_run_shelf_row(shelf, view->parts[i].shape.geometry), view->parts[i] };
    for (int i = 0; rows && i < g->parts.sources.count && status == CAIRN_OK; i++) {
        const cairn_hdf5_strided numbers = { (const char *)rows + part_sources[i].offset,
                                             sizeof *rows };
        status = cairn_hdf5_column_gather(&g->parts.columns[i], count, numbers, error);
    }
    cairn_memory_free(rows);
    return status;
}

/* Offsets are appended last: a geometry counts only when all of it is in the file. The number of
 * faces so far is that of the corner offsets less the leading 0. */
static cairn_status append_one(const cairn_geometry *geometry, const cairn_run_shelf *shelf,
                               cairn_run_geometry *g, cairn_error *error)
{
    cairn_geometry_view view = cairn_geometry_look(geometry);
    TRY(cairn_hdf5_column_append(&g->vertices, (size_t)view.vertex_count, view.vertices, error));
    TRY(append_faces(&view, g, error));
    TRY(append_parts(&view, shelf, g, error));
    const int64_t ends[] = {
        [CAIRN_GEOMETRY_VERTICES] = (int64_t)g->vertices.rows,
        [CAIRN_GEOMETRY_FACES] = (int64_t)g->offsets[CAIRN_GEOMETRY_CORNERS].rows - 1,
        [CAIRN_GEOMETRY_PARTS] = cairn_run_table_rows(&g->parts),
    };
    for (int i = 0; i < CAIRN_GEOMETRY_CORNERS; i++)
        TRY(cairn_hdf5_column_append(&g->offsets[i], 1, &ends[i], error));
    return CAIRN_OK;
}

cairn_status cairn_run_geometry_append(hid_t file, const cairn_run_shelf *shelf,
                                       cairn_run_geometry *g, cairn_error *error)
{
    int64_t all = shelf->forgotten + shelf->count;
    if (shelf->count == 0)
        return CAIRN_OK;
    if (g->vertices.dataset <= 0)
        TRY(create(file, g, error));
    /* The file has offsets - 1 geometries; the shelf may have more, never fewer. */
    for (int64_t row = (int64_t)g->offsets[0].rows - 1; row < all; row++)
        TRY(append_one(shelf->items[row - shelf->forgotten], shelf, g, error));
    return CAIRN_OK;
}

/* ---- going on ------------------------------------------------------------------------------- */

/* Keep the first `rows` geometries. The offset with index `rows` is the end of the last geometry
 * that stays. Corners are indexed by faces, so their end follows from the number of faces. */
static cairn_status cut(cairn_run_geometry *g, int64_t rows, cairn_error *error)
{
    int64_t ends[CAIRN_GEOMETRY_LISTS];
    for (int i = 0; i < CAIRN_GEOMETRY_CORNERS; i++) {
        TRY(cairn_hdf5_column_at(&g->offsets[i], rows, &ends[i], error));
        TRY(cairn_hdf5_column_cut(&g->offsets[i], rows + 1, error));
    }
    int64_t faces = ends[CAIRN_GEOMETRY_FACES], corners;
    TRY(cairn_hdf5_column_at(&g->offsets[CAIRN_GEOMETRY_CORNERS], faces, &corners, error));
    TRY(cairn_hdf5_column_cut(&g->offsets[CAIRN_GEOMETRY_CORNERS], faces + 1, error));
    TRY(cairn_hdf5_column_cut(&g->corners, corners, error));
    TRY(cairn_hdf5_column_cut(&g->vertices, ends[CAIRN_GEOMETRY_VERTICES], error));
    return cairn_run_table_cut(&g->parts, ends[CAIRN_GEOMETRY_PARTS], error);
}

/* `create` opens the existing columns. A run that had no geometry at its checkpoint may have
 * written some later; then `rows` is 0, and all of it is cut off. */
cairn_status cairn_run_geometry_go_on(hid_t file, int64_t rows, cairn_run_geometry *g,
                                      cairn_error *error)
{
    if (H5Lexists(file, "geometry", H5P_DEFAULT) <= 0)
        return CAIRN_OK;
    TRY(create(file, g, error));
    return cut(g, rows, error);
}

void cairn_run_geometry_close(cairn_run_geometry *g)
{
    for (int i = 0; i < CAIRN_GEOMETRY_LISTS; i++)
        cairn_hdf5_column_close(&g->offsets[i]);
    cairn_hdf5_column_close(&g->vertices);
    cairn_hdf5_column_close(&g->corners);
    cairn_run_table_close(&g->parts);
}

/* ---- shelves ----------------------------------------------------------------------------- */

int32_t cairn_run_shelf_row(const cairn_run_shelf *shelf, const cairn_geometry *geometry)
{
    /* searched from the end: bodies that share a geometry mostly follow each other */
    for (int32_t i = geometry ? shelf->count - 1 : -1; i >= 0; i--)
        if (shelf->items[i] == geometry)
            return shelf->forgotten + i;
    return -1;
}

/* The reference is released by forget(). */
static cairn_status append(cairn_run_shelf *shelf, const cairn_geometry *geometry)
{
    void *block = shelf->items;
    TRY(cairn_memory_reserve(&block, &shelf->capacity, (size_t)shelf->count + 1,
                             sizeof *shelf->items));
    shelf->items = block;
    shelf->items[shelf->count++] = cairn_geometry_retain(geometry);
    return CAIRN_OK;
}

cairn_status cairn_run_shelf_add(cairn_run_shelf *shelf, const cairn_geometry *geometry)
{
    if (!geometry || cairn_run_shelf_row(shelf, geometry) >= 0)
        return CAIRN_OK;
    cairn_geometry_view view = cairn_geometry_look(geometry);
    for (int i = 0; i < view.part_count; i++) {
        /* parts are not compounds, so there is no deeper level */
        const cairn_geometry *part = view.parts[i].shape.geometry;
        if (part && cairn_run_shelf_row(shelf, part) < 0)
            TRY(append(shelf, part));
    }
    return append(shelf, geometry);
}

static void forget(cairn_run_shelf *shelf)
{
    for (int32_t i = 0; i < shelf->count; i++)
        cairn_geometry_release(shelf->items[i]);
    shelf->count = 0;
}

/* After a resume the geometries come from the bodies that still exist. If all of them were found,
 * the order of rows is the same as before (see cairn_run_roll_go_on). */
void cairn_run_shelf_settle(cairn_run_shelf *shelf, int32_t rows)
{
    if (shelf->forgotten + shelf->count == rows)
        return;
    forget(shelf);
    shelf->forgotten = rows;
}

void cairn_run_shelf_destroy(cairn_run_shelf *shelf)
{
    forget(shelf);
    cairn_memory_free(shelf->items);
    *shelf = (cairn_run_shelf){ 0 };
}
