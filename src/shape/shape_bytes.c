/* shape_bytes.c - shapes with their data as bytes and back, see geometry.h. A shape is its kind,
 * the options of the kind, and its data: NONE, or the number of the first shape of the list with
 * the same data; if that is the shape itself, the data follow. */
#include "shape/geometry.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"
#include "shape/shape.h"

enum { NONE = -1 };

static cairn_shape *shape_at(const cairn_shape_list *list, int i)
{
    return (cairn_shape *)((char *)list->first + (size_t)i * list->stride);
}

static cairn_shape_list parts_of(const cairn_geometry *g)
{
    cairn_part *parts = (cairn_part *)g->view.parts;
    return (cairn_shape_list){ parts ? &parts->shape : NULL, sizeof *parts, g->view.part_count,
                               g->view.dimension, true };
}

/* ---- writing -------------------------------------------------------------------------------- */

/* A shape and the data that it refers to. */
typedef struct holder {
    uintptr_t geometry;
    int32_t shape;
} holder;

static int by_geometry(const void *left, const void *right)
{
    const holder *a = left, *b = right;
    if (a->geometry != b->geometry)
        return a->geometry < b->geometry ? -1 : 1;
    return (a->shape > b->shape) - (a->shape < b->shape);
}

/* first[i] = the first shape with the data of shape i; NONE: it has none. Sorted by address,
 * shapes with the same data are neighbours; the result does not depend on the addresses. */
static void find_firsts(const cairn_shape_list *list, holder *holders, int32_t *first)
{
    for (int i = 0; i < list->count; i++)
        holders[i] = (holder){ (uintptr_t)shape_at(list, i)->geometry, i };
    qsort(holders, (size_t)list->count, sizeof *holders, by_geometry);
    for (int i = 0; i < list->count; i++) {
        bool follows = i > 0 && holders[i].geometry == holders[i - 1].geometry;
        int32_t own = follows ? first[holders[i - 1].shape] : holders[i].shape;
        first[holders[i].shape] = holders[i].geometry ? own : NONE;
    }
}

static void write_vectors(cairn_writer *w, const cairn_vec3 *vectors, int count)
{
    for (int i = 0; i < count; i++)
        cairn_write_vector(w, vectors[i]);
}

static void write_wholes(cairn_writer *w, const int32_t *numbers, int count)
{
    for (int i = 0; i < count; i++)
        cairn_write_whole(w, numbers[i]);
}

/* Write the poses first: the reader then knows the number of parts and can check it. */
static void write_parts(cairn_writer *w, const cairn_geometry *g)
{
    const cairn_shape_list parts = parts_of(g);
    cairn_write_whole(w, g->view.part_count);
    for (int i = 0; i < g->view.part_count; i++) {
        const cairn_pose *pose = &g->view.parts[i].pose;
        cairn_write_vector(w, pose->x);
        cairn_write_real(w, pose->q.w);
        cairn_write_vector(w, (cairn_vec3){ pose->q.x, pose->q.y, pose->q.z });
    }
    cairn_shapes_write(w, &parts);
}

/* The first entry of face_first is always 0 and is not written; only the ends of faces are. */
static void write_geometry(cairn_writer *w, const cairn_geometry *g)
{
    const cairn_geometry_view *v = &g->view;
    if (g->kind == CAIRN_SHAPE_COMPOUND) {
        write_parts(w, g);
        return;
    }
    cairn_write_whole(w, v->vertex_count);
    write_vectors(w, v->vertices, v->vertex_count);
    cairn_write_whole(w, v->face_count);
    write_wholes(w, v->face_first + 1, v->face_count);
    write_wholes(w, v->face_vertex, v->face_first[v->face_count]);
}

static void write_shape(cairn_writer *w, const cairn_shape *shape, int32_t i, int32_t first)
{
    cairn_write_whole(w, (int64_t)shape->kind);
    cairn_write_record(w, cairn_shape_record((int)shape->kind), shape);
    cairn_write_whole(w, first);
    if (first == i)
        write_geometry(w, shape->geometry);
}

void cairn_shapes_write(cairn_writer *w, const cairn_shape_list *list)
{
    size_t count = (size_t)list->count;
    if (count == 0)
        return;
    holder *holders = cairn_memory_resize(NULL, count, sizeof *holders);
    int32_t *first = cairn_memory_resize(NULL, count, sizeof *first);
    w->failed = w->failed || !holders || !first;
    if (!w->failed) {
        find_firsts(list, holders, first);
        for (int i = 0; i < list->count; i++)
            write_shape(w, shape_at(list, i), i, first[i]);
    }
    cairn_memory_free(holders);
    cairn_memory_free(first);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* A reader fails only if the bytes are invalid. */
static cairn_status settle(const cairn_reader *r)
{
    return r->failed ? CAIRN_BAD_INPUT : CAIRN_OK;
}

/* A part takes at least 8 numbers (pose and kind), so an invalid count is detected before memory
 * is allocated. */
static cairn_status read_parts(cairn_reader *r, cairn_geometry *g, cairn_error *error)
{
    int count = (int)cairn_read_count(r, 8 * sizeof(double));
    r->failed = r->failed || count == 0;
    TRY(settle(r));
    cairn_part *parts = cairn_memory_zeroed((size_t)count, sizeof *parts);
    if (!parts)
        return CAIRN_NO_MEMORY;
    g->view.parts = parts;
    g->view.part_count = count;
    for (int i = 0; i < count; i++) {
        parts[i].pose.x = cairn_read_vector(r);
        parts[i].pose.q.w = cairn_read_real(r);
        cairn_vec3 imaginary = cairn_read_vector(r);
        parts[i].pose.q = (cairn_quat){ parts[i].pose.q.w, imaginary.x, imaginary.y, imaginary.z };
    }
    const cairn_shape_list list = parts_of(g);
    return cairn_shapes_read(r, &list, error);
}

/* Where face i ends in the list of corners: segments and triangles have as many corners as they
 * must have, a face of a hull any number. */
static int64_t read_end(cairn_reader *r, const cairn_geometry *g, int64_t begin)
{
    bool hull = g->kind == CAIRN_SHAPE_POLYHEDRON;
    int least = g->view.dimension;
    int64_t end = cairn_read_within(r, begin + least, INT32_MAX);
    r->failed = r->failed || ((!hull || least == 2) && end != begin + least);
    return r->failed ? begin : end;
}

/* Copy vertices and faces into arrays of the right size. */
static void fill_surface(cairn_reader *r, cairn_geometry *g, const cairn_vec3 *vertices,
                         const int32_t *ends)
{
    for (int i = 0; i < g->view.vertex_count; i++) {
        cairn_geometry_vertices(g)[i] = vertices[i];
        r->failed = r->failed || !cairn_is_finite(vertices[i]);
    }
    for (int i = 0; i < g->view.face_count; i++)
        cairn_geometry_face_first(g)[i + 1] = ends[i];
    int corners = g->view.face_first[g->view.face_count];
    for (int i = 0; i < corners; i++)
        cairn_geometry_face_vertex(g)[i] =
            (int32_t)cairn_read_within(r, 0, g->view.vertex_count - 1);
}

/* The bytes may be damaged, so counts are compared with the bytes that remain before memory is
 * allocated, and every index with its range. */
static cairn_status read_surface(cairn_reader *r, cairn_geometry *g)
{
    size_t vertex_count = cairn_read_count(r, 3 * sizeof(double));
    cairn_vec3 *vertices = cairn_arena_take(r->arena, vertex_count, sizeof *vertices);
    for (size_t i = 0; vertices && i < vertex_count; i++)
        vertices[i] = cairn_read_vector(r);
    size_t face_count = cairn_read_count(r, 8);
    int32_t *ends = cairn_arena_take(r->arena, face_count, sizeof *ends);
    int64_t end = 0;
    for (size_t i = 0; ends && i < face_count; i++)
        ends[i] = (int32_t)(end = read_end(r, g, end));
    r->failed = r->failed || vertex_count == 0 || face_count == 0 ||
                vertex_count > INT32_MAX / 12 || (uint64_t)end > (r->size - r->at) / 8;
    TRY(settle(r));
    if (!vertices || !ends)
        return CAIRN_NO_MEMORY;
    const cairn_surface_size size = { (int)vertex_count, (int)face_count, (int)end };
    TRY(cairn_geometry_size(g, &size));
    fill_surface(r, g, vertices, ends);
    return settle(r);
}

static cairn_status read_geometry(cairn_reader *r, const cairn_shape *shape, int dimension,
                                  const cairn_geometry **out, cairn_error *error)
{
    cairn_geometry *g = cairn_geometry_begin(shape->kind, dimension);
    cairn_status status = g ? CAIRN_OK : CAIRN_NO_MEMORY;
    if (g)
        status = shape->kind == CAIRN_SHAPE_COMPOUND ? read_parts(r, g, error) : read_surface(r, g);
    if (status == CAIRN_OK)
        status = cairn_shape_class_of(shape)->complete(g, error);
    return cairn_geometry_finish(g, status, out, error);
}

/* Data may only be shared with an earlier shape, which has been read already. Compounds within
 * compounds are refused, which also bounds the recursion. */
static cairn_status read_shape(cairn_reader *r, const cairn_shape_list *list, int i,
                               cairn_error *error)
{
    cairn_shape *shape = shape_at(list, i);
    int kind = (int)cairn_read_within(r, 0, CAIRN_SHAPE_COUNT - 1);
    *shape = cairn_shape_default((cairn_shape_kind)kind, list->dimension);
    cairn_read_record(r, cairn_shape_record(kind), shape);
    int first = (int)cairn_read_within(r, NONE, i);
    bool has_data = cairn_shape_class_of(shape)->has_geometry;
    r->failed =
        r->failed || (list->parts && kind == CAIRN_SHAPE_COMPOUND) || (first != NONE && !has_data);
    TRY(settle(r));
    if (first == i)
        return read_geometry(r, shape, list->dimension, &shape->geometry, error);
    if (first != NONE)
        shape->geometry = cairn_geometry_retain(shape_at(list, first)->geometry);
    r->failed = first != NONE && !shape->geometry;
    return settle(r);
}

cairn_status cairn_shapes_read(cairn_reader *r, const cairn_shape_list *list, cairn_error *error)
{
    for (int i = 0; i < list->count; i++)
        TRY(read_shape(r, list, i, error));
    return CAIRN_OK;
}
