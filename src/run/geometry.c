/* geometry.c - the groups /geometry and /joints of run.h5, and the shelf; see frame.h.
 *
 * Geometry g has rows [o[g], o[g+1]) of the vertices, faces and parts, o being the offsets of that
 * list. Face f of the file has corners [o[f], o[f+1]). A corner is the number of a vertex, counted
 * from the first one of its geometry, so that the rows of a geometry do not depend on what precedes
 * it. */

#include <string.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "run/frame.h"
#include "run/together.h"

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
 * the order of rows is the same as before (see cairn_team_shelf). */
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

/* ---- joints ---------------------------------------------------------------------------------- */

/* The joints of a stored frame, see frame.h. The plain numbers of a joint are one list,
 * which defines both their columns and where they come from. */

/* Name of the column, unit, member of a cairn_joint_setup. A macro list, because enum, offsets and
 * columns must have the same entries in the same order. */
#define NUMBERS(X)                                                                                 \
    X(length, "m", def.length)                                                                     \
    X(pitch, "m", def.pitch)                                                                       \
    X(ratio, "1", def.ratio)                                                                       \
    X(stiffness, "N/m", def.stiffness)                                                             \
    X(damping, "N s/m", def.damping)                                                               \
    X(turn_stiffness, "N m/rad", def.turn_stiffness)                                               \
    X(turn_damping, "N m s/rad", def.turn_damping)                                                 \
    X(break_force, "N", def.break_force)                                                           \
    X(break_torque, "N m", def.break_torque)                                                       \
    X(turn_lower, "rad", def.turn.lower)                                                           \
    X(turn_upper, "rad", def.turn.upper)                                                           \
    X(turn_friction, "N m", def.turn.friction)                                                     \
    X(turn_effort, "N m", def.turn.effort)                                                         \
    X(turn_spring, "N m/rad", def.turn.stiffness)                                                  \
    X(turn_damper, "N m s/rad", def.turn.damping)                                                  \
    X(turn_rest, "rad", def.turn.rest)                                                             \
    X(slide_lower, "m", def.slide.lower)                                                           \
    X(slide_upper, "m", def.slide.upper)                                                           \
    X(slide_friction, "N", def.slide.friction)                                                     \
    X(slide_effort, "N", def.slide.effort)                                                         \
    X(slide_spring, "N/m", def.slide.stiffness)                                                    \
    X(slide_damper, "N s/m", def.slide.damping)                                                    \
    X(slide_rest, "m", def.slide.rest)

#define PLACE(name, unit, field) NUMBER_##name,
enum { NUMBERS(PLACE) COUNT };
_Static_assert((int)COUNT == (int)CAIRN_RUN_JOINT_NUMBERS, "one column a number");

#define OFFSET(name, unit, field) offsetof(cairn_joint_setup, field),
static const size_t offsets[COUNT] = { NUMBERS(OFFSET) };

/* ---- columns -------------------------------------------------------------------------------- */

/* NULL past the last kind, as `value_name` of a column requires. */
static const char *joint_name(int kind)
{
    const cairn_record *record = cairn_joint_record(kind);
    return record ? record->name : NULL;
}

#define NUMBER(name, unit, field)                                                                  \
    {                                                                                              \
        #name, unit, CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.number[NUMBER_##name]),   \
        NULL                                                                                       \
    },
static const cairn_run_source joints[] = {
    { "kind", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.kind), joint_name },
    { "body", "", CAIRN_HDF5_INT, 2, offsetof(cairn_run_frame, joint.pair), NULL },
    { "collide", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.collide), NULL },
    { "anchor_a", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.anchor_a), NULL },
    { "anchor_b", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.anchor_b), NULL },
    { "frame_a", "1", CAIRN_HDF5_REAL, 4, offsetof(cairn_run_frame, joint.frame_a), NULL },
    { "frame_b", "1", CAIRN_HDF5_REAL, 4, offsetof(cairn_run_frame, joint.frame_b), NULL },
    { "turn_motor", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.turn_motor),
      cairn_motor_name },
    { "slide_motor", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.slide_motor),
      cairn_motor_name },
    NUMBERS(NUMBER)
};

static const cairn_run_source states[] = {
    { "index", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, joint.index), NULL },
    { "broken", "", CAIRN_HDF5_BYTE, 1, offsetof(cairn_run_frame, joint.broken), NULL },
    { "point", "m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.point), NULL },
    { "force", "N", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.force), NULL },
    { "torque", "N m", CAIRN_HDF5_REAL, 3, offsetof(cairn_run_frame, joint.torque), NULL },
    { "turn", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.turn), NULL },
    { "slide", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.slide), NULL },
    { "drift", "m", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.drift), NULL },
    { "turn_drift", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.turn_drift), NULL },
    /* the first FRAME_STATE columns go into frames; the next ones only into certificates */
    { "phase", "rad", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.phase), NULL },
    { "turn_target", "", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.turn_target), NULL },
    { "slide_target", "", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.slide_target), NULL },
    { "image", "", CAIRN_HDF5_INT, 3, offsetof(cairn_run_frame, joint.image), NULL },
};

enum { FRAME_STATE = 9 };

/* Rows of joints in the one-step problem. Units differ from row to row: a row is a translation or a
 * rotation, as its joint defines. */
static const cairn_run_source rows[] = {
    { "joint", "", CAIRN_HDF5_INT, 1, offsetof(cairn_run_frame, joint.row_joint), NULL },
    { "impulse", "N s, N m s", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.row_impulse),
      NULL },
    { "correction", "kg m/s, kg m^2/s", CAIRN_HDF5_REAL, 1,
      offsetof(cairn_run_frame, joint.row_correction), NULL },
    { "eased", "", CAIRN_HDF5_REAL, 1, offsetof(cairn_run_frame, joint.row_eased), NULL },
};

cairn_run_sources cairn_run_joint_sources(void)
{
    return cairn_run_sources_of(joints, CAIRN_COUNT(joints));
}

cairn_run_sources cairn_run_joint_state_sources(void)
{
    return cairn_run_sources_of(states, FRAME_STATE);
}

cairn_run_sources cairn_run_joint_detail_sources(void)
{
    return cairn_run_sources_of(states, CAIRN_COUNT(states));
}

cairn_run_sources cairn_run_joint_row_sources(void)
{
    return cairn_run_sources_of(rows, CAIRN_COUNT(rows));
}

/* ---- one frame ------------------------------------------------------------------------------ */

/* Every array is attempted even if one failed before: none is left undefined. */
static bool take_states(cairn_run_joints *j, cairn_arena *arena)
{
    bool good = true;
    good = CAIRN_TAKE(arena, j->index, j->count) && good;
    good = CAIRN_TAKE(arena, j->slot, 2 * j->count) && good;
    good = CAIRN_TAKE(arena, j->centre, 2 * j->count) && good;
    good = CAIRN_TAKE(arena, j->single, j->count) && good;
    good = CAIRN_TAKE(arena, j->broken, j->count) && good;
    good = CAIRN_TAKE(arena, j->force, j->count) && good;
    good = CAIRN_TAKE(arena, j->torque, j->count) && good;
    good = CAIRN_TAKE(arena, j->point, j->count) && good;
    good = CAIRN_TAKE(arena, j->point_b, j->count) && good;
    good = CAIRN_TAKE(arena, j->turn, j->count) && good;
    good = CAIRN_TAKE(arena, j->slide, j->count) && good;
    good = CAIRN_TAKE(arena, j->drift, j->count) && good;
    good = CAIRN_TAKE(arena, j->turn_drift, j->count) && good;
    good = CAIRN_TAKE(arena, j->phase, j->count) && good;
    good = CAIRN_TAKE(arena, j->turn_target, j->count) && good;
    good = CAIRN_TAKE(arena, j->slide_target, j->count) && good;
    good = CAIRN_TAKE(arena, j->image, j->count) && good;
    good = CAIRN_TAKE(arena, j->row_joint, j->rows) && good;
    good = CAIRN_TAKE(arena, j->row_impulse, j->rows) && good;
    good = CAIRN_TAKE(arena, j->row_correction, j->rows) && good;
    good = CAIRN_TAKE(arena, j->row_eased, j->rows) && good;
    return good;
}

static bool take_properties(cairn_run_joints *j, cairn_arena *arena)
{
    bool good = true;
    good = CAIRN_TAKE(arena, j->kind, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->pair, 2 * j->fresh) && good;
    good = CAIRN_TAKE(arena, j->collide, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->anchor_a, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->anchor_b, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->frame_a, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->frame_b, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->turn_motor, j->fresh) && good;
    good = CAIRN_TAKE(arena, j->slide_motor, j->fresh) && good;
    for (int k = 0; k < COUNT; k++)
        good = CAIRN_TAKE(arena, j->number[k], j->fresh) && good;
    return good;
}

/* The number of a motor in the attribute `names`. An unknown name cannot occur: definitions are
 * checked when a joint is made. */
static uint8_t motor_number(const char *name)
{
    int kind = 0;
    while (kind < CAIRN_MOTOR_COUNT - 1 && strcmp(cairn_motor_name(kind), name) != 0)
        kind++;
    return (uint8_t)kind;
}

static void fill_properties(cairn_run_joints *j, size_t row, const cairn_joint_setup *s)
{
    j->kind[row] = (uint8_t)s->def.kind;
    j->collide[row] = s->def.collide;
    j->anchor_a[row] = s->anchor[0];
    j->anchor_b[row] = s->anchor[1];
    j->frame_a[row] = s->frame[0];
    j->frame_b[row] = s->frame[1];
    j->turn_motor[row] = motor_number(s->def.turn.motor);
    j->slide_motor[row] = motor_number(s->def.slide.motor);
    for (int k = 0; k < COUNT; k++)
        memcpy(&j->number[k][row], (const char *)s + offsets[k], sizeof(double));
}

static void fill_state(cairn_run_joints *j, size_t row, const cairn_joint_state *s)
{
    j->slot[2 * row] = s->body[0];
    j->slot[2 * row + 1] = s->body[1];
    j->broken[row] = s->broken;
    j->force[row] = s->force;
    j->torque[row] = s->torque;
    j->point[row] = s->point;
    j->point_b[row] = s->point_b;
    j->turn[row] = s->turn;
    j->slide[row] = s->slide;
    j->drift[row] = s->drift;
    j->turn_drift[row] = s->turn_drift;
    j->phase[row] = s->phase;
    j->image[row] = s->image;
}

/* All rows of one joint, from row `first` of the frame on. */
static void fill_rows(cairn_run_joints *j, size_t first, int joint, const cairn_joint_state *s)
{
    for (int i = 0; i < s->rows; i++) {
        j->row_joint[first + (size_t)i] = joint;
        j->row_impulse[first + (size_t)i] = s->impulse[i];
        j->row_correction[first + (size_t)i] = s->correction[i];
        j->row_eased[first + (size_t)i] = s->eased;
    }
}

/* Where the bodies of a joint are; those that only another process has it will tell. */
static void fill_centres(cairn_run_joints *j, size_t row, const cairn_vec3 *x)
{
    for (size_t side = 0; side < 2; side++) {
        int32_t slot = j->slot[2 * row + side];
        j->centre[2 * row + side] = slot >= 0 ? x[slot] : (cairn_vec3){ 0, 0, 0 };
    }
}

/* The row in /bodies of a body of a joint; -1: the world, or a body that was removed. */
static int32_t row_of(const cairn_run_roll *roll, const cairn_joint_state *s, int side,
                      cairn_body_id body)
{
    bool there = s->alive || s->body[side] >= 0;
    return there && body.uid != CAIRN_NO_BODY ? cairn_run_roll_find(roll, body.uid) : -1;
}

/* One pass over the joints of the world. Definitions are stored for new joints (index beyond the
 * roll), alive or not, so that the row in /joints stays equal to the index; states only for those
 * alive. */
static void fill(const cairn_world *world, const cairn_run_roll *roll, cairn_run_frame *f)
{
    const cairn_bodies b = cairn_world_bodies(world);
    cairn_run_joints *j = &f->joint;
    int count = cairn_world_joint_count(world);
    size_t alive = 0, fresh = 0, row = 0;
    for (int i = 0; i < count; i++) {
        cairn_joint_state s = cairn_world_joint(world, i);
        cairn_joint_setup setup = cairn_world_joint_setup(world, i);
        if (i >= roll->joints) {
            fill_properties(j, fresh, &setup);
            j->pair[2 * fresh] = row_of(roll, &s, 0, setup.def.a);
            j->pair[2 * fresh++ + 1] = row_of(roll, &s, 1, setup.def.b);
        }
        if (!s.alive)
            continue;
        j->index[alive] = i;
        j->turn_target[alive] = setup.def.turn.target;
        j->slide_target[alive] = setup.def.slide.target;
        j->single[alive] = setup.def.b.uid == CAIRN_NO_BODY;
        fill_state(j, alive, &s);
        fill_centres(j, alive++, b.x);
        fill_rows(j, row, i, &s);
        row += (size_t)s.rows;
    }
}

cairn_vec3 cairn_run_joint_end(const cairn_run_frame *f, size_t joint)
{
    cairn_vec3 x = f->joint.centre[2 * joint + 1];
    for (int axis = 0; axis < 3; axis++)
        x = cairn_add_scaled(x, f->joint.image[joint].k[axis], f->cell.edge[axis]);
    return x;
}

/* Counts first, because the arena needs the sizes of the arrays. */
cairn_status cairn_run_joints_take(const cairn_world *world, cairn_run_roll *roll,
                                   cairn_arena *arena, cairn_run_frame *f)
{
    cairn_run_joints *j = &f->joint;
    int count = cairn_world_joint_count(world);
    for (int i = 0; i < count; i++) {
        cairn_joint_state s = cairn_world_joint(world, i);
        j->count += s.alive;
        j->rows += s.alive ? (size_t)s.rows : 0;
    }
    j->fresh = (size_t)(count - roll->joints);
    if (!take_states(j, arena) || !take_properties(j, arena))
        return CAIRN_NO_MEMORY;
    fill(world, roll, f);
    roll->joints = count;
    return CAIRN_OK;
}

/* ---- joints of several processes ------------------------------------------------------------- */

/* All members know the states of joints; where they are fixed to bodies, those that have the bodies
 * tell rank 0. */

/* Where a joint is fixed to a body, and where that body is. */
typedef struct joint_end {
    int64_t end; /* 2 joint + side */
    cairn_vec3 point, centre;
} joint_end;

static void write_ends(const cairn_team *t, cairn_writer *out)
{
    const cairn_bodies b = cairn_world_bodies(t->world);
    const cairn_world_part own = cairn_world_own(t->world);
    for (int k = 0; k < cairn_world_joint_count(t->world); k++) {
        const cairn_joint_state s = cairn_world_joint(t->world, k);
        for (int side = 0; side < 2 && s.alive; side++) {
            int row = s.body[side];
            const joint_end one = { 2 * (int64_t)k + side, side ? s.point_b : s.point,
                                    row >= 0 ? b.x[row] : s.point };
            if (row >= own.begin && row < own.end)
                cairn_write_raw(out, &one, sizeof one);
        }
    }
}

cairn_status cairn_team_tell_joints(cairn_team *t)
{
    cairn_writer out = { 0 };
    write_ends(t, &out);
    cairn_status status = out.failed ? CAIRN_NO_MEMORY : CAIRN_OK;
    if (status == CAIRN_OK)
        cairn_link_send(t->link, 0, out.data, out.size);
    cairn_writer_destroy(&out);
    return status == CAIRN_OK ? t->link->status : status;
}

/* Members list joints in the order of the frame, so that the search goes on from `row`. */
static size_t place_end(const joint_end *one, cairn_run_joints *j, size_t row)
{
    size_t side = (size_t)one->end % 2;
    while (row < j->count && j->index[row] < one->end / 2)
        row++;
    if (row == j->count || j->index[row] != one->end / 2)
        return row;
    *(side ? &j->point_b[row] : &j->point[row]) = one->point;
    j->centre[2 * row + side] = one->centre;
    return row;
}

cairn_status cairn_team_joint_ends(cairn_team *t, cairn_run_frame *f)
{
    if (cairn_world_joint_count(t->world) == 0)
        return CAIRN_OK;
    cairn_team_tell(t, &(cairn_order){ .what = CAIRN_ORDER_JOINTS });
    for (int k = 1; k < t->link->members; k++) {
        size_t bytes, row = 0;
        const char *data = cairn_link_receive(t->link, k, &bytes);
        for (size_t at = 0; data && at + sizeof(joint_end) <= bytes; at += sizeof(joint_end)) {
            joint_end one;
            memcpy(&one, data + at, sizeof one);
            row = place_end(&one, &f->joint, row);
        }
    }
    return t->link->status;
}

cairn_status cairn_team_joints(cairn_team *t, cairn_run_roll *roll, cairn_arena *arena,
                               cairn_run_frame *f)
{
    TRY(cairn_run_joints_take(t->world, roll, arena, f));
    return cairn_team_joint_ends(t, f);
}
