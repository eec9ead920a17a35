/* shelf.c - the bodies of a run as shapes again, read from its file; docs/run-format.md describes
 * the columns. */
#include <stddef.h>
#include <string.h>

#include "studies/study.h"
#include "view.h"

static cairn_status fail(cairn_error *error, const char *text)
{
    snprintf(error->message, sizeof error->message, "%s", text);
    return CAIRN_BAD_INPUT;
}

/* All numbers of a column, to be freed; *out is NULL when the run has no such column. */
static cairn_status read_all(cairn_recording *run, const char *column, double **out, int *rows,
                             cairn_error *error)
{
    cairn_recording_column about;
    const void *data;
    size_t bytes;
    *out = NULL;
    *rows = 0;
    cairn_status status = cairn_recording_look(run, column, &about, error);
    if (status == CAIRN_NOT_FOUND)
        return CAIRN_OK;
    TRY(status);
    const cairn_recording_rows all = { column, CAIRN_NUMBER_DOUBLE, 0, about.rows };
    TRY(cairn_recording_read(run, &all, 1, &data, &bytes, error));
    *out = cairn_block_take(bytes / 8 + 1, 8);
    if (!*out)
        return CAIRN_NO_MEMORY;
    memcpy(*out, data, bytes);
    *rows = (int)about.rows;
    return CAIRN_OK;
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* A column of lengths and the members of cairn_shape that it fills, in order. */
static const struct {
    const char *name;
    int width;
    size_t offset;
} lengths[] = {
    { "radius", 1, offsetof(cairn_shape, radius) },
    { "half_angle", 1, offsetof(cairn_shape, half_angle) },
    { "bottom_radius", 1, offsetof(cairn_shape, bottom_radius) },
    { "top_radius", 1, offsetof(cairn_shape, top_radius) },
    { "height", 1, offsetof(cairn_shape, height) },
    { "length", 1, offsetof(cairn_shape, length) },
    { "rounding", 1, offsetof(cairn_shape, rounding) },
    { "exponents", 2, offsetof(cairn_shape, exponent) },
    { "size", 3, offsetof(cairn_shape, size) },
    { "semi_axes", 3, offsetof(cairn_shape, semi_axes) },
    { "axis", 3, offsetof(cairn_shape, axis) },
};

/* Shapes, poses and rows of /geometry in a group: of bodies, or of parts of compounds. */
typedef struct rows {
    int count;
    cairn_shape *shapes;
    cairn_pose *poses;
    double *geometry; /* rows; -1: none */
} rows;

static void rows_free(rows *r)
{
    cairn_block_free(r->shapes);
    cairn_block_free(r->poses);
    cairn_block_free(r->geometry);
}

static cairn_status read_lengths(cairn_recording *run, const char *group, rows *out,
                                 cairn_error *error)
{
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        char column[64];
        double *numbers;
        int count;
        snprintf(column, sizeof column, "%s/%s", group, lengths[i].name);
        TRY(read_all(run, column, &numbers, &count, error));
        for (int k = 0; numbers && k < out->count && k < count; k++)
            memcpy((char *)&out->shapes[k] + lengths[i].offset, numbers + k * lengths[i].width,
                   (size_t)lengths[i].width * sizeof(double));
        cairn_block_free(numbers);
    }
    return CAIRN_OK;
}

/* The poses: x and q, under the names that the group has for them. */
static cairn_status read_poses(cairn_recording *run, const char *x_name, const char *q_name,
                               rows *out, cairn_error *error)
{
    double *x, *q = NULL;
    int x_count, q_count = 0;
    cairn_status status = read_all(run, x_name, &x, &x_count, error);
    if (status == CAIRN_OK)
        status = read_all(run, q_name, &q, &q_count, error);
    for (int k = 0; status == CAIRN_OK && k < out->count; k++) {
        out->poses[k] = (cairn_pose){ { 0, 0, 0 }, { 1, 0, 0, 0 } };
        if (k < x_count && k < q_count) {
            memcpy(&out->poses[k].x, x + 3 * k, 3 * sizeof(double));
            memcpy(&out->poses[k].q, q + 4 * k, 4 * sizeof(double));
        }
    }
    cairn_block_free(x);
    cairn_block_free(q);
    return status;
}

static cairn_status read_rows(cairn_recording *run, const char *group, rows *out,
                              cairn_error *error)
{
    char column[64];
    double *kind;
    int geometries;
    snprintf(column, sizeof column, "%s/shape", group);
    TRY(read_all(run, column, &kind, &out->count, error));
    out->shapes = cairn_block_take((size_t)out->count, sizeof *out->shapes);
    out->poses = cairn_block_take((size_t)out->count, sizeof *out->poses);
    for (int k = 0; out->shapes && k < out->count; k++)
        out->shapes[k].kind =
            (cairn_shape_kind)(kind[k] >= 0 && kind[k] < CAIRN_SHAPE_COUNT ? (int)kind[k]
                                                                           : CAIRN_SHAPE_POINT);
    cairn_block_free(kind);
    if (!out->shapes || !out->poses)
        return CAIRN_NO_MEMORY;
    snprintf(column, sizeof column, "%s/geometry", group);
    TRY(read_all(run, column, &out->geometry, &geometries, error));
    if (geometries != out->count)
        return fail(error, "shapes and geometries have different numbers of rows");
    return read_lengths(run, group, out, error);
}

/* ---- geometries ----------------------------------------------------------------------------- */

typedef struct tables {
    double *vertex_offset, *face_offset, *part_offset, *corner_offset, *corners, *vertices;
    int geometries, vertex_count, face_count, corner_count;
    rows parts;
} tables;

static void tables_free(tables *t)
{
    cairn_block_free(t->vertex_offset);
    cairn_block_free(t->face_offset);
    cairn_block_free(t->part_offset);
    cairn_block_free(t->corner_offset);
    cairn_block_free(t->corners);
    cairn_block_free(t->vertices);
    rows_free(&t->parts);
}

static cairn_status read_tables(cairn_recording *run, tables *t, cairn_error *error)
{
    int rows_there = 0, parts = 0;
    TRY(read_all(run, "geometry/vertex_offset", &t->vertex_offset, &rows_there, error));
    t->geometries = rows_there > 0 ? rows_there - 1 : 0;
    if (t->geometries == 0)
        return CAIRN_OK;
    TRY(read_all(run, "geometry/face_offset", &t->face_offset, &rows_there, error));
    TRY(read_all(run, "geometry/part_offset", &t->part_offset, &parts, error));
    if (rows_there != t->geometries + 1 || parts != t->geometries + 1)
        return fail(error, "the lists of /geometry differ in length");
    TRY(read_all(run, "geometry/vertices", &t->vertices, &t->vertex_count, error));
    TRY(read_all(run, "geometry/corner_offset", &t->corner_offset, &t->face_count, error));
    TRY(read_all(run, "geometry/corners", &t->corners, &t->corner_count, error));
    TRY(read_rows(run, "geometry/parts", &t->parts, error));
    return read_poses(run, "geometry/parts/x", "geometry/parts/q", &t->parts, error);
}

/* Whether offsets[k] to offsets[k + 1] is a range within `count`. */
static bool is_range(const double *offsets, int k, int count)
{
    return offsets[k] >= 0 && offsets[k] <= offsets[k + 1] && offsets[k + 1] <= count;
}

static cairn_status make_hull(const tables *t, int row, int dimension, const cairn_geometry **out,
                              cairn_error *error)
{
    int first = (int)t->vertex_offset[row], count = (int)t->vertex_offset[row + 1] - first;
    return cairn_hull_create((const cairn_vec3 *)t->vertices + first, count, dimension, out, error);
}

/* Triangles of a mesh or a height field. */
static cairn_status make_mesh(const tables *t, int row, const cairn_geometry **out,
                              cairn_error *error)
{
    int first = (int)t->vertex_offset[row], face = (int)t->face_offset[row];
    int faces = (int)t->face_offset[row + 1] - face;
    int32_t *corner = cairn_block_take(3 * (size_t)faces, sizeof *corner);
    if (!corner)
        return CAIRN_NO_MEMORY;
    for (int f = 0; f < faces; f++)
        for (int c = 0; c < 3; c++) {
            double at = t->corner_offset[face + f] + c;
            corner[3 * f + c] = at < t->corner_count ? (int32_t)t->corners[(int)at] : 0;
        }
    const cairn_mesh_def def = { (const cairn_vec3 *)t->vertices + first,
                                 (int)t->vertex_offset[row + 1] - first, corner, faces };
    cairn_status status = cairn_mesh_create(&def, out, error);
    cairn_block_free(corner);
    return status;
}

/* A closed chain has as many segments as points. */
static cairn_status make_polyline(const tables *t, int row, const cairn_geometry **out,
                                  cairn_error *error)
{
    int first = (int)t->vertex_offset[row], count = (int)t->vertex_offset[row + 1] - first;
    bool closed = (int)t->face_offset[row + 1] - (int)t->face_offset[row] == count;
    return cairn_polyline_create((const cairn_vec3 *)t->vertices + first, count, closed, out,
                                 error);
}

static const cairn_geometry *geometry_of(const cairn_view_shelf *shelf, double row)
{
    return row >= 0 && row < shelf->geometry_count ? shelf->geometries[(int)row] : NULL;
}

static cairn_status make_compound(const tables *t, int row, cairn_view_shelf *shelf,
                                  cairn_error *error)
{
    int first = (int)t->part_offset[row], count = (int)t->part_offset[row + 1] - first;
    cairn_part *parts = cairn_block_take((size_t)count, sizeof *parts);
    if (!parts)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        parts[i] = (cairn_part){ t->parts.shapes[first + i], t->parts.poses[first + i] };
        parts[i].shape.geometry = geometry_of(shelf, t->parts.geometry[first + i]);
    }
    cairn_status status =
        cairn_compound_create(parts, count, shelf->dimension, &shelf->geometries[row], error);
    cairn_block_free(parts);
    return status;
}

static bool is_mesh(cairn_shape_kind kind)
{
    return kind == CAIRN_SHAPE_MESH || kind == CAIRN_SHAPE_HEIGHT_FIELD;
}

/* The geometry of a row, by the kind of the first body or part that names it. */
static cairn_status make_geometry(const tables *t, int row, cairn_shape_kind kind,
                                  cairn_view_shelf *shelf, cairn_error *error)
{
    if (!is_range(t->vertex_offset, row, t->vertex_count) ||
        !is_range(t->face_offset, row, t->face_count) ||
        !is_range(t->part_offset, row, t->parts.count))
        return fail(error, "a row of /geometry points outside its lists");
    if (kind == CAIRN_SHAPE_COMPOUND)
        return make_compound(t, row, shelf, error);
    if (kind == CAIRN_SHAPE_POLYHEDRON)
        return make_hull(t, row, shelf->dimension, &shelf->geometries[row], error);
    if (kind == CAIRN_SHAPE_POLYLINE)
        return make_polyline(t, row, &shelf->geometries[row], error);
    return is_mesh(kind) ? make_mesh(t, row, &shelf->geometries[row], error) : CAIRN_OK;
}

static cairn_status make_named(const tables *t, const rows *users, cairn_view_shelf *shelf,
                               cairn_error *error)
{
    for (int i = 0; i < users->count; i++) {
        int row = (int)users->geometry[i];
        if (row >= 0 && row < shelf->geometry_count && !shelf->geometries[row])
            TRY(make_geometry(t, row, users->shapes[i].kind, shelf, error));
    }
    return CAIRN_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static cairn_status fill(cairn_recording *run, cairn_view_shelf *shelf, tables *t, rows *bodies,
                         cairn_error *error)
{
    TRY(read_rows(run, "bodies", bodies, error));
    TRY(read_poses(run, "bodies/shape_x", "bodies/shape_q", bodies, error));
    TRY(read_tables(run, t, error));
    shelf->geometries = cairn_block_take((size_t)t->geometries, sizeof(const cairn_geometry *));
    if (!shelf->geometries)
        return CAIRN_NO_MEMORY;
    shelf->geometry_count = t->geometries;
    /* rows that parts name come before those of their compounds */
    TRY(make_named(t, &t->parts, shelf, error));
    TRY(make_named(t, bodies, shelf, error));
    for (int i = 0; i < bodies->count; i++)
        bodies->shapes[i].geometry = geometry_of(shelf, bodies->geometry[i]);
    return CAIRN_OK;
}

cairn_status cairn_view_shelf_fill(cairn_recording *run, int dimension, cairn_view_shelf *out,
                                   cairn_error *error)
{
    tables t = { 0 };
    rows bodies = { 0 };
    *out = (cairn_view_shelf){ .dimension = dimension };
    cairn_status status = fill(run, out, &t, &bodies, error);
    out->count = bodies.count;
    out->shapes = bodies.shapes;
    out->poses = bodies.poses;
    cairn_block_free(bodies.geometry);
    tables_free(&t);
    if (status != CAIRN_OK)
        cairn_view_shelf_clear(out);
    return status;
}

void cairn_view_shelf_clear(cairn_view_shelf *s)
{
    for (int i = 0; i < s->geometry_count; i++)
        cairn_geometry_release(s->geometries[i]);
    cairn_block_free((void *)s->geometries);
    cairn_block_free(s->shapes);
    cairn_block_free(s->poses);
    *s = (cairn_view_shelf){ 0 };
}

bool cairn_view_is_drawn(const cairn_shape *shape)
{
    switch (shape->kind) {
    case CAIRN_SHAPE_POLYHEDRON:
    case CAIRN_SHAPE_MESH:
    case CAIRN_SHAPE_POLYLINE:
    case CAIRN_SHAPE_HEIGHT_FIELD:
    case CAIRN_SHAPE_COMPOUND:
        return shape->geometry != NULL;
    default:
        return true; /* containers report that themselves */
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Texts of the run, and a column of numbers that goes with them. */
typedef struct text_list {
    char *block; /* the texts, one after the other: cairn_recording_texts lends them only */
    char **items;
    double *number;
    int count, numbers;
} text_list;

static cairn_status copy_texts(cairn_recording *run, const char *column, text_list *out,
                               cairn_error *error)
{
    const char *const *texts;
    size_t bytes = 1;
    TRY(cairn_recording_texts(run, column, &texts, &out->count, error));
    for (int i = 0; i < out->count; i++)
        bytes += strlen(texts[i]) + 1;
    char *to = out->block = cairn_block_take(bytes, 1);
    out->items = cairn_block_take((size_t)out->count + 1, sizeof *out->items);
    if (!out->block || !out->items)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < out->count; i++) {
        out->items[i] = strcpy(to, texts[i]);
        to += strlen(to) + 1;
    }
    return CAIRN_OK;
}

/* Row number[i] of /bodies has name i, and row i has material number[i]. */
static void name_rows(const text_list *names, const text_list *materials, cairn_view_names *out)
{
    for (int i = 0; i < names->numbers && i < names->count; i++)
        if (names->number[i] >= 0 && names->number[i] < out->bodies)
            out->body[(int)names->number[i]] = names->items[i];
    for (int i = 0; i < materials->numbers && i < out->bodies; i++)
        if (materials->number[i] >= 0 && materials->number[i] < materials->count)
            out->material[i] = materials->items[(int)materials->number[i]];
}

cairn_status cairn_view_names_fill(cairn_recording *run, cairn_view_names *out, cairn_error *error)
{
    static const char *const columns[2][2] = { { "names/name", "names/body" },
                                               { "materials/name", "bodies/material" } };
    cairn_recording_column about;
    text_list lists[2] = { { 0 }, { 0 } };
    TRY(cairn_recording_look(run, "bodies/material", &about, error));
    *out = (cairn_view_names){ .bodies = (int)about.rows };
    out->body = cairn_block_take((size_t)about.rows + 1, sizeof *out->body);
    out->material = cairn_block_take((size_t)about.rows + 1, sizeof *out->material);
    cairn_status status = out->body && out->material ? CAIRN_OK : CAIRN_NO_MEMORY;
    for (int k = 0; k < 2 && status == CAIRN_OK; k++) {
        text_list *list = &lists[k];
        status = copy_texts(run, columns[k][0], list, error);
        if (status == CAIRN_OK)
            status = read_all(run, columns[k][1], &list->number, &list->numbers, error);
    }
    if (status == CAIRN_OK)
        name_rows(&lists[0], &lists[1], out);
    for (int k = 0; k < 2; k++) {
        out->texts[k] = lists[k].block;
        cairn_block_free(lists[k].items);
        cairn_block_free(lists[k].number);
    }
    return status;
}

void cairn_view_names_clear(cairn_view_names *names)
{
    cairn_block_free(names->body);
    cairn_block_free(names->material);
    cairn_block_free(names->texts[0]);
    cairn_block_free(names->texts[1]);
    *names = (cairn_view_names){ 0 };
}

/* ---- poses ---------------------------------------------------------------------------------- */

static cairn_vec3 cross(cairn_vec3 a, cairn_vec3 b)
{
    return (cairn_vec3){ a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x };
}

/* a b: rotation b first */
static cairn_quat times(cairn_quat a, cairn_quat b)
{
    return (cairn_quat){ a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                         a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                         a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                         a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w };
}

/* R(q) p = p + 2 w (v x p) + 2 v x (v x p), v the imaginary part of q */
static cairn_vec3 turned(cairn_quat q, cairn_vec3 p)
{
    cairn_vec3 v = { q.x, q.y, q.z }, t = cross(v, p), u = cross(v, t);
    return (cairn_vec3){ p.x + 2 * (q.w * t.x + u.x), p.y + 2 * (q.w * t.y + u.y),
                         p.z + 2 * (q.w * t.z + u.z) };
}

cairn_pose cairn_view_pose(const cairn_pose *body, const cairn_pose *own)
{
    cairn_vec3 away = turned(body->q, own->x);
    return (cairn_pose){ { body->x.x + away.x, body->x.y + away.y, body->x.z + away.z },
                         times(body->q, own->q) };
}
