/* shape.c - the list of shape kinds, and what is common to all of them. */
#include "shape/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "shape/geometry.h"

/* The class of each kind, in its own file. */
extern const cairn_shape_class cairn_shape_class_sphere, cairn_shape_class_point,
    cairn_shape_class_half_space, cairn_shape_class_inside_cylinder, cairn_shape_class_inside_cone,
    cairn_shape_class_funnel, cairn_shape_class_inside_box, cairn_shape_class_box,
    cairn_shape_class_capsule, cairn_shape_class_cylinder, cairn_shape_class_cone,
    cairn_shape_class_ellipsoid, cairn_shape_class_superellipsoid, cairn_shape_class_polyhedron,
    cairn_shape_class_mesh, cairn_shape_class_polyline, cairn_shape_class_height_field,
    cairn_shape_class_compound;

static const cairn_shape_class *const classes[CAIRN_SHAPE_COUNT] = {
    [CAIRN_SHAPE_SPHERE] = &cairn_shape_class_sphere,
    [CAIRN_SHAPE_POINT] = &cairn_shape_class_point,
    [CAIRN_SHAPE_HALF_SPACE] = &cairn_shape_class_half_space,
    [CAIRN_SHAPE_INSIDE_CYLINDER] = &cairn_shape_class_inside_cylinder,
    [CAIRN_SHAPE_INSIDE_CONE] = &cairn_shape_class_inside_cone,
    [CAIRN_SHAPE_FUNNEL] = &cairn_shape_class_funnel,
    [CAIRN_SHAPE_INSIDE_BOX] = &cairn_shape_class_inside_box,
    [CAIRN_SHAPE_BOX] = &cairn_shape_class_box,
    [CAIRN_SHAPE_CAPSULE] = &cairn_shape_class_capsule,
    [CAIRN_SHAPE_CYLINDER] = &cairn_shape_class_cylinder,
    [CAIRN_SHAPE_CONE] = &cairn_shape_class_cone,
    [CAIRN_SHAPE_ELLIPSOID] = &cairn_shape_class_ellipsoid,
    [CAIRN_SHAPE_SUPERELLIPSOID] = &cairn_shape_class_superellipsoid,
    [CAIRN_SHAPE_POLYHEDRON] = &cairn_shape_class_polyhedron,
    [CAIRN_SHAPE_MESH] = &cairn_shape_class_mesh,
    [CAIRN_SHAPE_POLYLINE] = &cairn_shape_class_polyline,
    [CAIRN_SHAPE_HEIGHT_FIELD] = &cairn_shape_class_height_field,
    [CAIRN_SHAPE_COMPOUND] = &cairn_shape_class_compound,
};

const cairn_record *cairn_shape_record(int kind)
{
    return kind >= 0 && kind < CAIRN_SHAPE_COUNT ? &classes[kind]->record : NULL;
}

int cairn_shape_dimension(cairn_shape_kind kind)
{
    return (unsigned)kind < CAIRN_SHAPE_COUNT ? classes[kind]->only_in : 0;
}

const cairn_shape_class *cairn_shape_class_of(const cairn_shape *shape)
{
    return classes[shape->kind];
}

void cairn_shape_set_default(void *shape)
{
    *(cairn_shape *)shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, 3);
}

cairn_shape cairn_shape_default(cairn_shape_kind kind, int dimension)
{
    /* the axis of a circle, the 2D form of a cylinder, is perpendicular to the plane */
    bool in_plane = dimension == 2 && kind != CAIRN_SHAPE_INSIDE_CYLINDER;
    return (cairn_shape){ .kind = kind,
                          .axis = in_plane ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1) };
}

/* ---- checks --------------------------------------------------------------------------------- */

cairn_status cairn_shape_check_lengths(cairn_vec3 lengths, int dimension, const char *key,
                                       cairn_error *error)
{
    if (dimension == 2 && lengths.z != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, key, "found z = %g, in 2D only x and y are given",
                          lengths.z);
    if (!(lengths.x > 0 && lengths.y > 0 && (dimension == 2 || lengths.z > 0)))
        return cairn_fail(error, CAIRN_BAD_INPUT, key,
                          "found [%g, %g, %g], expected numbers > 0 in m", lengths.x, lengths.y,
                          lengths.z);
    return CAIRN_OK;
}

/* In 2D axes lie in the plane, except that of a circle, which is perpendicular to it. */
static cairn_status check_axis(const cairn_shape *shape, int dimension, cairn_error *error)
{
    bool flat = shape->kind == CAIRN_SHAPE_INSIDE_CYLINDER;
    if (!(cairn_norm(shape->axis) > 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis", "found zero, expected a direction");
    if (dimension == 2 && flat && (shape->axis.x != 0 || shape->axis.y != 0))
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis",
                          "in 2D a cylinder is a circle: its axis can only be [0, 0, 1]");
    if (dimension == 2 && !flat && shape->axis.z != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "axis",
                          "found z = %g, expected a direction in the plane", shape->axis.z);
    return CAIRN_OK;
}

/* A geometry may come from the user, so its kind and dimension must match those of the shape. */
static cairn_status check_geometry(const cairn_shape *shape, int dimension, cairn_error *error)
{
    const char *name = classes[shape->kind]->record.name;
    if (!shape->geometry)
        return cairn_fail(error, CAIRN_BAD_INPUT, "geometry", "a %s needs its data", name);
    if (shape->geometry->kind != shape->kind)
        return cairn_fail(error, CAIRN_BAD_INPUT, "geometry",
                          "found the data of a %s, expected those of a %s",
                          classes[shape->geometry->kind]->record.name, name);
    if (shape->geometry->view.dimension != dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "geometry",
                          "found a %s made for %dD, expected one for %dD", name,
                          shape->geometry->view.dimension, dimension);
    return CAIRN_OK;
}

/* The ranges of the table come first, so that the checks of a kind can rely on them. */
cairn_status cairn_shape_check(const cairn_shape *shape, int dimension, cairn_error *error)
{
    if ((unsigned)shape->kind >= CAIRN_SHAPE_COUNT)
        return cairn_fail(error, CAIRN_BAD_INPUT, "shape", "unknown shape kind %d",
                          (int)shape->kind);
    const cairn_shape_class *class = classes[shape->kind];
    if (class->only_in != 0 && class->only_in != dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "shape", "a %s exists only in %dD",
                          class->record.name, class->only_in);
    TRY(cairn_record_check(&class->record, shape, error));
    if (class->has_axis)
        TRY(check_axis(shape, dimension, error));
    if (class->has_geometry)
        TRY(check_geometry(shape, dimension, error));
    return class->check ? class->check(shape, dimension, error) : CAIRN_OK;
}

/* ---- form ----------------------------------------------------------------------------------- */

bool cairn_shape_bounded(const cairn_shape *shape)
{
    return classes[shape->kind]->extent != NULL;
}

bool cairn_shape_has_faces(const cairn_shape *shape)
{
    return shape->kind == CAIRN_SHAPE_MESH || shape->kind == CAIRN_SHAPE_POLYLINE ||
           shape->kind == CAIRN_SHAPE_HEIGHT_FIELD;
}

double cairn_shape_extent(const cairn_shape *shape)
{
    const cairn_shape_class *class = classes[shape->kind];
    return class->extent ? class->extent(shape) : INFINITY;
}

double cairn_shape_rounding(const cairn_shape *shape)
{
    const cairn_shape_class *class = classes[shape->kind];
    return class->rounding ? class->rounding(shape) : 0;
}

cairn_vec3 cairn_shape_support(const cairn_shape *shape, cairn_vec3 direction)
{
    return classes[shape->kind]->support(shape, direction);
}

void cairn_shape_face(const cairn_shape *shape, cairn_vec3 direction, cairn_face *out)
{
    classes[shape->kind]->face(shape, direction, out);
}

cairn_vec3 cairn_radial(cairn_vec3 d, cairn_vec3 axis)
{
    cairn_vec3 across = cairn_add_scaled(d, -cairn_dot(d, axis), axis);
    if (!(cairn_norm(across) > 1e-14 * cairn_norm(d)))
        return cairn_vec(0, 0, 0);
    /* twice: if d is almost parallel to the axis, the remainder is still far from perpendicular
     * to it */
    across = cairn_unit(across);
    return cairn_unit(cairn_add_scaled(across, -cairn_dot(across, axis), axis));
}

void cairn_face_of_point(cairn_vec3 point, cairn_vec3 direction, cairn_face *out)
{
    out->count = 1;
    out->id = 0;
    out->normal = cairn_unit(direction);
    out->point[0] = point;
    out->vertex[0] = 0;
}

/* Seen from below, the rim points run backwards, so that the face is counterclockwise from
 * outside; the vertices keep their numbers. */
void cairn_face_of_disk(const cairn_disk *disk, cairn_face *out)
{
    enum { RIM = 8 };
    cairn_vec3 e = cairn_perpendicular(disk->axis), f = cairn_cross(disk->axis, e);
    bool back = cairn_dot(disk->normal, disk->axis) < 0;
    out->count = RIM;
    out->id = 0;
    out->normal = disk->normal;
    for (int k = 0; k < RIM; k++) {
        int vertex = back ? RIM - 1 - k : k;
        double angle = 2 * M_PI * vertex / RIM;
        cairn_vec3 p = cairn_add_scaled(disk->centre, disk->radius * cos(angle), e);
        out->point[k] = cairn_add_scaled(p, disk->radius * sin(angle), f);
        out->vertex[k] = vertex;
    }
}

/* ---- mass ----------------------------------------------------------------------------------- */

cairn_status cairn_shape_mass_tensor(const cairn_shape *shape, int dimension, cairn_mass *out)
{
    const cairn_shape_class *class = classes[shape->kind];
    cairn_moments m = { 0 };
    *out = (cairn_mass){ 0 };
    if (!class->moments || !class->moments(shape, dimension, &m))
        return CAIRN_UNSUPPORTED;
    *out = cairn_moments_mass(&m, dimension);
    return CAIRN_OK;
}

/* Moments are computed at density 1; mass and inertia are proportional to the density. */
cairn_status cairn_shape_mass(const cairn_shape *shape, int dimension, double density, double *mass,
                              cairn_vec3 *inertia)
{
    cairn_mass at_one;
    cairn_pose unused;
    *mass = 0;
    *inertia = cairn_vec(0, 0, 0);
    TRY(cairn_shape_mass_tensor(shape, dimension, &at_one));
    cairn_mass_principal(&at_one, dimension, inertia, &unused);
    *mass = density * at_one.mass;
    *inertia = cairn_scale(density, *inertia);
    return CAIRN_OK;
}

/* ---- shapes as bytes ------------------------------------------------------------------------- */

/* Shapes with their data as bytes and back, see geometry.h. A shape is its kind,
 * the options of the kind, and its data: NONE, or the number of the first shape of the list with
 * the same data; if that is the shape itself, the data follow. */

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

cairn_status cairn_shape_refuse_density(const cairn_shape *shape, cairn_error *error)
{
    const char *name = cairn_shape_record((int)shape->kind)->name;
    if (!shape->geometry)
        return cairn_fail(error, CAIRN_BAD_INPUT, "mass", "found 0, expected a mass > 0 kg");
    bool chain = shape->kind == CAIRN_SHAPE_POLYLINE;
    return cairn_fail(
        error, CAIRN_BAD_INPUT, "density",
        "the %s is open%s: it encloses no volume to which a density could give a "
        "mass; expected a closed one%s, or mass and inertia, or motion: fixed or driven",
        name, chain ? ", runs clockwise or crosses itself" : "",
        chain ? " that runs counterclockwise" : "");
}

/* ---- size ------------------------------------------------------------------------------------ */

typedef struct sides {
    cairn_vec3 low, high;
} sides;

/* A cairn_polygon_fn. */
static cairn_status widen(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    sides *s = context;
    (void)closed;
    for (int i = 0; i < count; i++) {
        cairn_vec3 x = corners[i];
        s->low = cairn_vec(fmin(s->low.x, x.x), fmin(s->low.y, x.y), fmin(s->low.z, x.z));
        s->high = cairn_vec(fmax(s->high.x, x.x), fmax(s->high.y, x.y), fmax(s->high.z, x.z));
    }
    return CAIRN_OK;
}

double cairn_shape_size(const cairn_shape *shape, int dimension)
{
    const cairn_pose here = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
    sides s = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    if (shape->kind == CAIRN_SHAPE_SPHERE)
        return 2 * shape->radius;
    if (shape->kind == CAIRN_SHAPE_POINT)
        return 0;
    if (cairn_shape_draw(shape, dimension, &here, widen, &s) != CAIRN_OK)
        return INFINITY;
    cairn_vec3 wide = cairn_sub(s.high, s.low);
    return fmax(fmax(wide.x, wide.y), dimension == 3 ? wide.z : 0);
}
