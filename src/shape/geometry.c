/* geometry.c - the shared data of hulls, meshes, height fields and compounds: their lifetime,
 * and what follows from vertices and faces in the same way for all (normals, edges, tree, volume
 * integrals). */
#include "shape/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"

/* ---- life ----------------------------------------------------------------------------------- */

cairn_geometry *cairn_geometry_begin(cairn_shape_kind kind, int dimension)
{
    cairn_geometry *g = cairn_memory_zeroed(1, sizeof *g);
    if (!g)
        return NULL;
    atomic_init(&g->holders, 1);
    g->kind = kind;
    g->view.dimension = dimension;
    return g;
}

const cairn_geometry *cairn_geometry_retain(const cairn_geometry *geometry)
{
    /* the reference count is the only member that changes in a finished geometry */
    if (geometry)
        atomic_fetch_add(&((cairn_geometry *)geometry)->holders, 1);
    return geometry;
}

/* Frees also a half-built geometry: arrays that were not allocated are NULL. */
static void destroy(cairn_geometry *g)
{
    for (int i = 0; i < g->view.part_count; i++)
        cairn_geometry_release(g->view.parts[i].shape.geometry);
    cairn_mesh_tree_destroy(&g->tree);
    cairn_memory_free((void *)g->view.vertices);
    cairn_memory_free((void *)g->view.face_first);
    cairn_memory_free((void *)g->view.face_vertex);
    cairn_memory_free((void *)g->view.face_normal);
    cairn_memory_free((void *)g->view.edge);
    cairn_memory_free(g->neighbour);
    cairn_memory_free(g->patch);
    cairn_memory_free((void *)g->view.parts);
    cairn_memory_free(g);
}

void cairn_geometry_release(const cairn_geometry *geometry)
{
    cairn_geometry *g = (cairn_geometry *)geometry;
    /* the last reference frees it, in whichever thread that is */
    if (g && atomic_fetch_sub(&g->holders, 1) == 1)
        destroy(g);
}

cairn_geometry_view cairn_geometry_look(const cairn_geometry *geometry)
{
    return geometry->view;
}

cairn_status cairn_geometry_finish(cairn_geometry *g, cairn_status status,
                                   const cairn_geometry **out, cairn_error *error)
{
    if (status == CAIRN_OK) {
        *out = g;
        return status;
    }
    cairn_geometry_release(g);
    return status == CAIRN_NO_MEMORY ? cairn_fail(error, status, NULL, "out of memory") : status;
}

bool cairn_geometry_moments_of(const cairn_shape *shape, int dimension, cairn_moments *out)
{
    (void)dimension;
    *out = shape->geometry->moments;
    return out->volume > 0;
}

double cairn_geometry_extent_of(const cairn_shape *shape)
{
    return shape->geometry->extent;
}

/* ---- making --------------------------------------------------------------------------------- */

/* After a failure the caller releases the geometry, which frees what was allocated. */
cairn_status cairn_geometry_size(cairn_geometry *g, const cairn_surface_size *size)
{
    cairn_geometry_view *v = &g->view;
    v->vertices = cairn_memory_zeroed((size_t)size->vertices, sizeof *v->vertices);
    v->face_first = cairn_memory_zeroed((size_t)size->faces + 1, sizeof *v->face_first);
    v->face_vertex = cairn_memory_zeroed((size_t)size->corners, sizeof *v->face_vertex);
    v->face_normal = cairn_memory_zeroed((size_t)size->faces, sizeof *v->face_normal);
    if (!v->vertices || !v->face_first || !v->face_vertex || !v->face_normal)
        return CAIRN_NO_MEMORY;
    v->vertex_count = size->vertices;
    v->face_count = size->faces;
    return CAIRN_OK;
}

cairn_vec3 *cairn_geometry_vertices(cairn_geometry *g)
{
    return (cairn_vec3 *)g->view.vertices;
}

int32_t *cairn_geometry_face_first(cairn_geometry *g)
{
    return (int32_t *)g->view.face_first;
}

int32_t *cairn_geometry_face_vertex(cairn_geometry *g)
{
    return (int32_t *)g->view.face_vertex;
}

/* ---- normals -------------------------------------------------------------------------------- */

/* Twice the area times the normal: the sum of the cross products about the first corner. In 2D
 * the side rotated clockwise, which points outward of a counterclockwise polygon. */
static cairn_vec3 area_vector(const cairn_geometry_view *v, int face)
{
    const int32_t *corner = v->face_vertex + v->face_first[face];
    int count = v->face_first[face + 1] - v->face_first[face];
    cairn_vec3 origin = v->vertices[corner[0]], sum = { 0, 0, 0 };
    if (v->dimension == 2) {
        cairn_vec3 along = cairn_sub(v->vertices[corner[1]], origin);
        return cairn_vec(along.y, -along.x, 0);
    }
    for (int k = 1; k + 1 < count; k++)
        sum = cairn_add(sum, cairn_cross(cairn_sub(v->vertices[corner[k]], origin),
                                         cairn_sub(v->vertices[corner[k + 1]], origin)));
    return sum;
}

/* The square of the longest distance from a face's first corner, the scale for a vanishing area. */
static double size_squared(const cairn_geometry_view *v, int face)
{
    double most = 0;
    for (int k = v->face_first[face]; k < v->face_first[face + 1]; k++) {
        cairn_vec3 d = cairn_sub(v->vertices[v->face_vertex[k]],
                                 v->vertices[v->face_vertex[v->face_first[face]]]);
        most = fmax(most, cairn_dot(d, d));
    }
    return most;
}

/* A 3D face counts as without area if its area is below 1e-12 of the square of its size, where
 * the direction of the normal would be rounding. A 2D side only needs a length. */
int cairn_geometry_find_normals(cairn_geometry *g)
{
    cairn_vec3 *normal = (cairn_vec3 *)g->view.face_normal;
    int without = -1;
    for (int i = 0; i < g->view.vertex_count; i++)
        g->extent = fmax(g->extent, cairn_norm(g->view.vertices[i]));
    for (int i = 0; i < g->view.face_count; i++) {
        cairn_vec3 area = area_vector(&g->view, i);
        double least = g->view.dimension == 2 ? 0 : 1e-12 * size_squared(&g->view, i);
        normal[i] = cairn_unit(area);
        if (without < 0 && !(cairn_norm(area) > least))
            without = i;
    }
    return without;
}

/* ---- edges ---------------------------------------------------------------------------------- */

/* A side of a face, with its direction. */
typedef struct side {
    int32_t low, high; /* its vertices, the smaller first   */
    int32_t face;
    int32_t forward; /* 1: from low to high               */
} side;

/* Sides of the same edge become neighbours, the forward one first; the order is total, so that
 * the edges do not depend on the sort. */
static int by_vertices(const void *left, const void *right)
{
    const side *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    if (a->forward != b->forward)
        return a->forward > b->forward ? -1 : 1;
    return (a->face > b->face) - (a->face < b->face);
}

static void list_sides(const cairn_geometry_view *v, side *out)
{
    for (int f = 0; f < v->face_count; f++) {
        int first = v->face_first[f], end = v->face_first[f + 1];
        for (int k = first; k < end; k++) {
            int32_t a = v->face_vertex[k], b = v->face_vertex[k + 1 < end ? k + 1 : first];
            *out++ = (side){ a < b ? a : b, a < b ? b : a, f, a < b };
        }
    }
}

static bool same_edge(const side *a, const side *b)
{
    return a->low == b->low && a->high == b->high;
}

static cairn_status refuse_edge(const cairn_geometry_view *v, const side *s, bool flipped,
                                cairn_error *error)
{
    cairn_vec3 p = v->vertices[s->low], q = v->vertices[s->high];
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                      "faces %d and %d %s the edge from (%g, %g, %g) to (%g, %g, %g)%s",
                      (int)s[0].face + 1, (int)s[1].face + 1,
                      flipped ? "run the same way through" : "and more share", p.x, p.y, p.z, q.x,
                      q.y, q.z, flipped ? ": one of them is inverted" : ", expected at most two");
}

/* Join sorted sides to edges: from, to, face on the left, face on the right (-1: none). In a
 * consistently oriented surface two faces run through their edge in opposite directions. */
static cairn_status join_sides(cairn_geometry *g, const side *s, int count, cairn_error *error)
{
    int32_t *edge = (int32_t *)g->view.edge;
    g->view.closed = true;
    for (int i = 0; i < count;) {
        bool two = i + 1 < count && same_edge(&s[i], &s[i + 1]);
        bool three = two && i + 2 < count && same_edge(&s[i], &s[i + 2]);
        if (three || (two && s[i].forward == s[i + 1].forward))
            return refuse_edge(&g->view, &s[i], !three, error);
        int32_t *e = edge + 4 * g->view.edge_count++;
        e[0] = s[i].forward ? s[i].low : s[i].high;
        e[1] = s[i].forward ? s[i].high : s[i].low;
        e[2] = s[i].face;
        e[3] = two ? s[i + 1].face : -1;
        g->view.closed = g->view.closed && two;
        i += two ? 2 : 1;
    }
    return CAIRN_OK;
}

/* Every side of every face is listed and sorted, so that the two sides of an edge meet: n log n. */
cairn_status cairn_geometry_find_edges(cairn_geometry *g, cairn_error *error)
{
    int count = g->view.face_first[g->view.face_count];
    side *sides = cairn_memory_resize(NULL, (size_t)count, sizeof *sides);
    g->view.edge = cairn_memory_zeroed(4 * (size_t)count, sizeof *g->view.edge);
    cairn_status status = CAIRN_NO_MEMORY;
    if (sides && g->view.edge) {
        list_sides(&g->view, sides);
        qsort(sides, (size_t)count, sizeof *sides, by_vertices);
        status = join_sides(g, sides, count, error);
    }
    cairn_memory_free(sides);
    return status;
}

/* The index of `vertex` among the corners of a face; it must be one of them. */
static int corner_of(const cairn_geometry_view *v, int face, int32_t vertex)
{
    int k = v->face_first[face];
    while (v->face_vertex[k] != vertex)
        k++;
    return k;
}

static void join_across_edges(cairn_geometry *g)
{
    for (int i = 0; i < g->view.edge_count; i++) {
        const int32_t *e = g->view.edge + 4 * (size_t)i; /* from, to, left, right */
        if (e[3] < 0)
            continue;
        g->neighbour[corner_of(&g->view, e[2], e[0])] = e[3];
        g->neighbour[corner_of(&g->view, e[3], e[1])] = e[2];
    }
}

/* In the plane the sides follow each other, and a closed chain ends where it begins. */
static void join_at_corners(cairn_geometry *g)
{
    int count = g->view.face_count;
    for (int f = 0; f < count; f++) {
        int next = f + 1 < count ? f + 1 : 0;
        if (g->view.face_vertex[2 * f + 1] != g->view.face_vertex[2 * next])
            continue;
        g->neighbour[2 * f + 1] = next;
        g->neighbour[2 * next] = f;
    }
}

/* ---- flat regions --------------------------------------------------------------------------- */

/* Assign to the patch of face `seed` all faces that lie in its plane and are connected with it;
 * `waiting` has room for all faces. Normals are compared with the seed's, not from face to face,
 * so that a finely divided curved surface does not count as flat. 1 - 1e-12 is an angle of
 * 1.4e-6 rad. */
static void flood(cairn_geometry *g, int32_t seed, int32_t *waiting)
{
    const cairn_geometry_view *v = &g->view;
    int count = 0;
    g->patch[seed] = seed;
    waiting[count++] = seed;
    while (count > 0) {
        int32_t face = waiting[--count];
        for (int k = v->face_first[face]; k < v->face_first[face + 1]; k++) {
            int32_t next = g->neighbour[k];
            bool flat = next >= 0 && g->patch[next] < 0 &&
                        cairn_dot(v->face_normal[next], v->face_normal[seed]) >= 1 - 1e-12;
            if (flat) {
                g->patch[next] = seed;
                waiting[count++] = next;
            }
        }
    }
}

/* In rising order, so that a patch has the smallest number of its faces. */
static cairn_status find_patches(cairn_geometry *g)
{
    size_t faces = (size_t)g->view.face_count;
    int32_t *waiting = cairn_memory_resize(NULL, faces, sizeof *waiting);
    g->patch = cairn_memory_resize(NULL, faces, sizeof *g->patch);
    if (waiting && g->patch) {
        for (size_t f = 0; f < faces; f++)
            g->patch[f] = -1;
        for (size_t f = 0; f < faces; f++)
            if (g->patch[f] < 0)
                flood(g, (int32_t)f, waiting);
    }
    bool good = waiting && g->patch;
    cairn_memory_free(waiting);
    return good ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_status cairn_geometry_find_neighbours(cairn_geometry *g)
{
    int corners = g->view.face_first[g->view.face_count];
    g->neighbour = cairn_memory_resize(NULL, (size_t)corners, sizeof *g->neighbour);
    if (!g->neighbour)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < corners; k++)
        g->neighbour[k] = -1;
    if (g->view.dimension == 2)
        join_at_corners(g);
    else
        join_across_edges(g);
    return find_patches(g);
}

/* ---- tree and volume ------------------------------------------------------------------------ */

static cairn_bounds bounds_of(const cairn_geometry_view *v, int face)
{
    cairn_vec3 first = v->vertices[v->face_vertex[v->face_first[face]]];
    cairn_bounds box = { first, first };
    for (int k = v->face_first[face] + 1; k < v->face_first[face + 1]; k++) {
        cairn_vec3 p = v->vertices[v->face_vertex[k]];
        const cairn_bounds point = { p, p };
        box = cairn_bounds_join(&box, &point);
    }
    return box;
}

cairn_status cairn_geometry_build_tree(cairn_geometry *g)
{
    int count = g->view.face_count;
    cairn_bounds *boxes = cairn_memory_resize(NULL, (size_t)count, sizeof *boxes);
    if (!boxes)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++)
        boxes[i] = bounds_of(&g->view, i);
    cairn_status status = cairn_mesh_tree_build(boxes, count, &g->tree);
    cairn_memory_free(boxes);
    return status;
}

/* Faces are cut into triangles about their first corner; each triangle and the origin span a
 * tetrahedron with sign (2D: each side and the origin a triangle). */
void cairn_geometry_find_moments(cairn_geometry *g)
{
    const cairn_geometry_view *v = &g->view;
    cairn_moments sum = { 0 };
    for (int f = 0; f < v->face_count; f++) {
        const int32_t *corner = v->face_vertex + v->face_first[f];
        int count = v->face_first[f + 1] - v->face_first[f];
        if (v->dimension == 2)
            cairn_moments_add_triangle(&sum, v->vertices[corner[0]], v->vertices[corner[1]]);
        for (int k = 1; k + 1 < count; k++)
            cairn_moments_add_tetrahedron(&sum, v->vertices[corner[0]], v->vertices[corner[k]],
                                          v->vertices[corner[k + 1]]);
    }
    g->moments = sum;
}
