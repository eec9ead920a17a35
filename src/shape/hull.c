/* hull.c - the convex hull of points: in space by Qhull (Barber, Dobkin, Huhdanpaa 1996), where
 * facets that lie in one plane become one face; in the plane by Andrew's monotone chain. In
 * space the vertices keep their order. */
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <libqhull_r/libqhull_r.h>
#include <libqhull_r/poly_r.h>
#include <libqhull_r/qset_r.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"
#include "shape/geometry.h"

/* Neighbouring facets that are coplanar within this fraction of the extent become one face,
 * because coordinates in files are often rounded to 32-bit floats. For a thin hull the tolerance
 * is a hundredth of the thickness. */
#define COPLANAR 5e-7

/* Points whose width or thickness is below this fraction of their extent have no hull. */
#define FLAT 1e-10

/* ---- checks --------------------------------------------------------------------------------- */

/* The largest distance of the points from the first one, o, from the line through o along d, or
 * from the plane through o with normal d; *where is the number of the farthest point. */
typedef enum reference { FROM_POINT, FROM_LINE, FROM_PLANE } reference;

static double farthest(const cairn_vec3 *points, int count, reference from, cairn_vec3 d,
                       int *where)
{
    double most = -1;
    for (int i = 0; i < count; i++) {
        cairn_vec3 p = cairn_sub(points[i], points[0]);
        double distance = from == FROM_POINT  ? cairn_norm(p)
                          : from == FROM_LINE ? cairn_norm(cairn_cross(d, p))
                                              : fabs(cairn_dot(d, p));
        if (distance > most) {
            most = distance;
            *where = i;
        }
    }
    return most;
}

static cairn_status refuse_flat(cairn_error *error, const char *found)
{
    return cairn_fail(error, CAIRN_BAD_INPUT, "points",
                      "all points lie %s, expected a hull with an inside", found);
}

/* The extent of the points: from the first one, from a line and from a plane through the
 * farthest. */
typedef struct span {
    double length, width, thickness; /* m */
} span;

static span span_of(const cairn_vec3 *points, int count)
{
    const cairn_vec3 none = { 0, 0, 0 };
    int where = 0;
    span s = { .length = farthest(points, count, FROM_POINT, none, &where) };
    cairn_vec3 along = cairn_unit(cairn_sub(points[where], points[0]));
    s.width = farthest(points, count, FROM_LINE, along, &where);
    cairn_vec3 normal = cairn_unit(cairn_cross(along, cairn_sub(points[where], points[0])));
    s.thickness = farthest(points, count, FROM_PLANE, normal, &where);
    return s;
}

/* A hull needs points that span the space. */
static cairn_status check_span(const cairn_vec3 *points, int count, int dimension,
                               cairn_error *error)
{
    const span s = span_of(points, count);
    if (!(s.length > 0))
        return refuse_flat(error, "at one place");
    if (!(s.width > FLAT * s.length))
        return refuse_flat(error, "on one line");
    if (dimension == 3 && !(s.thickness > FLAT * s.length))
        return refuse_flat(error, "in one plane");
    return CAIRN_OK;
}

/* The points come from the user: every assumption of the algorithms below is checked first. */
static cairn_status check(const cairn_vec3 *points, int count, int dimension, cairn_error *error)
{
    if (count < dimension + 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, "points", "found %d points, expected at least %d",
                          count, dimension + 1);
    for (int i = 0; i < count; i++) {
        if (!cairn_is_finite(points[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, "points", "point %d is not finite", i + 1);
        if (dimension == 2 && points[i].z != 0)
            return cairn_fail(error, CAIRN_BAD_INPUT, "points",
                              "point %d has z = %g, expected a point of the plane", i + 1,
                              points[i].z);
    }
    return check_span(points, count, dimension, error);
}

/* ---- plane ---------------------------------------------------------------------------------- */

static int by_x(const void *left, const void *right)
{
    const cairn_vec3 *a = left, *b = right;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return (a->y > b->y) - (a->y < b->y);
}

/* Whether c lies to the right of, or on, the line from a to b. */
static bool no_left_turn(cairn_vec3 a, cairn_vec3 b, cairn_vec3 c)
{
    cairn_vec3 u = cairn_sub(b, a), v = cairn_sub(c, b);
    return u.x * v.y - u.y * v.x <= 1e-14 * cairn_norm(u) * cairn_norm(v);
}

/* Append to out[0..from-1] the chain of sorted points that always turns left. Two chains,
 * forward and backward, make the hull counterclockwise. */
static int chain(const cairn_vec3 *sorted, int count, bool back, cairn_vec3 *out, int from)
{
    int used = from;
    for (int i = 0; i < count; i++) {
        cairn_vec3 p = sorted[back ? count - 1 - i : i];
        while (used >= from + 2 && no_left_turn(out[used - 2], out[used - 1], p))
            used--;
        out[used++] = p;
    }
    return used - 1; /* the last point begins the other chain */
}

/* A hull in the plane has as many sides as corners; side i runs from corner i to the next. */
static cairn_status polygon(cairn_geometry *g, const cairn_vec3 *sorted, int count,
                            cairn_vec3 *corner)
{
    int used = chain(sorted, count, true, corner, chain(sorted, count, false, corner, 0));
    const cairn_surface_size size = { used, used, 2 * used };
    TRY(cairn_geometry_size(g, &size));
    for (int i = 0; i < used; i++) {
        cairn_geometry_vertices(g)[i] = corner[i];
        cairn_geometry_face_first(g)[i + 1] = 2 * (i + 1);
        cairn_geometry_face_vertex(g)[2 * i] = i;
        cairn_geometry_face_vertex(g)[2 * i + 1] = (i + 1) % used;
    }
    return CAIRN_OK;
}

static cairn_status build_2d(cairn_geometry *g, const cairn_vec3 *points, int count)
{
    cairn_vec3 *sorted = cairn_memory_resize(NULL, (size_t)count, sizeof *sorted);
    cairn_vec3 *corner = cairn_memory_resize(NULL, 2 * (size_t)count, sizeof *corner);
    cairn_status status = CAIRN_NO_MEMORY;
    if (sorted && corner) {
        for (int i = 0; i < count; i++)
            sorted[i] = points[i];
        qsort(sorted, (size_t)count, sizeof *sorted, by_x);
        status = polygon(g, sorted, count, corner);
    }
    cairn_memory_free(sorted);
    cairn_memory_free(corner);
    return status;
}

/* ---- space ---------------------------------------------------------------------------------- */

/* What is copied from Qhull. */
typedef struct harvest {
    cairn_surface_size size;
    const cairn_vec3 *points;
    int32_t *number; /* for each point: its number among the vertices, -1: inside */
    int point_count;
    cairn_geometry *into;
} harvest;

/* Count first, so that the arrays are allocated outside Qhull, which may leave by longjmp. */
static void count_facets(qhT *qh, harvest *h)
{
    facetT *facet;
    vertexT *vertex;
    for (int i = 0; i < h->point_count; i++)
        h->number[i] = -1;
    FORALLvertices
    {
        h->number[qh_pointid(qh, vertex->point)] = 0;
    }
    for (int i = 0; i < h->point_count; i++)
        if (h->number[i] == 0)
            h->number[i] = h->size.vertices++;
    FORALLfacets
    {
        h->size.faces++;
        h->size.corners += qh_setsize(qh, facet->vertices);
    }
}

/* Whether the corners run counterclockwise seen from outside: compares Newell's sum with the
 * outward normal of the facet. */
static bool runs_outward(const cairn_vec3 *vertices, const int32_t *corner, int count,
                         const double *normal)
{
    cairn_vec3 sum = { 0, 0, 0 };
    for (int k = 1; k + 1 < count; k++)
        sum = cairn_add(sum, cairn_cross(cairn_sub(vertices[corner[k]], vertices[corner[0]]),
                                         cairn_sub(vertices[corner[k + 1]], vertices[corner[0]])));
    return cairn_dot(sum, cairn_vec(normal[0], normal[1], normal[2])) > 0;
}

static void reverse(int32_t *corner, int count)
{
    for (int a = 0, b = count - 1; a < b; a++, b--) {
        int32_t kept = corner[a];
        corner[a] = corner[b];
        corner[b] = kept;
    }
}

/* The vertices of a facet come in the order of its boundary but in either direction, so faces
 * that run inward are reversed. The test of `used` protects against a Qhull that lists more than
 * it counted. */
static void copy_facets(qhT *qh, harvest *h)
{
    int32_t *first = cairn_geometry_face_first(h->into);
    int32_t *corner = cairn_geometry_face_vertex(h->into);
    cairn_vec3 *vertices = cairn_geometry_vertices(h->into);
    facetT *facet;
    vertexT *vertex, **vertexp;
    int face = 0;
    for (int i = 0; i < h->point_count; i++)
        if (h->number[i] >= 0)
            vertices[h->number[i]] = h->points[i];
    FORALLfacets
    {
        int begin = first[face], used = begin;
        setT *loop = qh_facet3vertex(qh, facet);
        FOREACHvertex_(loop)
        {
            if (used < h->size.corners)
                corner[used++] = h->number[qh_pointid(qh, vertex->point)];
        }
        qh_settempfree(qh, &loop);
        if (!runs_outward(vertices, corner + begin, used - begin, facet->normal))
            reverse(corner + begin, used - begin);
        first[++face] = used;
    }
}

/* Run a step that calls Qhull, which leaves by longjmp if it finds something wrong. Nothing may
 * be allocated in a step. */
static bool guarded(qhT *qh, void (*step)(qhT *, harvest *), harvest *h)
{
    int failed = setjmp(qh->errexit);
    if (!failed) {
        qh->NOerrexit = False;
        step(qh, h);
    }
    qh->NOerrexit = True;
    return !failed;
}

static cairn_status refuse_hull(cairn_error *error)
{
    return cairn_fail(error, CAIRN_BAD_INPUT, "points",
                      "Qhull finds no hull: the points are too close to a plane or to each other");
}

static cairn_status take_hull(qhT *qh, harvest *h, cairn_error *error)
{
    if (!guarded(qh, count_facets, h))
        return refuse_hull(error);
    TRY(cairn_geometry_size(h->into, &h->size));
    return guarded(qh, copy_facets, h) ? CAIRN_OK : refuse_hull(error);
}

/* Qhull writes its messages to a file that nobody reads. Pp suppresses warnings about precision;
 * C-x merges facets that are coplanar within x. */
static cairn_status run_qhull(harvest *h, double *coordinates, FILE *nowhere, cairn_error *error)
{
    char command[64];
    qhT qh;
    const span s = span_of(h->points, h->point_count);
    snprintf(command, sizeof command, "qhull Pp C-%.3g",
             fmin(COPLANAR * s.length, 0.01 * s.thickness));
    int long_left, blocks_left;
    qh_zero(&qh, nowhere);
    int failed = qh_new_qhull(&qh, 3, h->point_count, coordinates, False, command, NULL, nowhere);
    cairn_status status = failed ? refuse_hull(error) : take_hull(&qh, h, error);
    qh.NOerrexit = True;
    qh_freeqhull(&qh, !qh_ALL);
    qh_memfreeshort(&qh, &long_left, &blocks_left);
    return status;
}

/* Qhull takes coordinates as one array of doubles, and needs a stream for its messages. */
static cairn_status build_3d(cairn_geometry *g, const cairn_vec3 *points, int count,
                             cairn_error *error)
{
    double *coordinates = cairn_memory_resize(NULL, 3 * (size_t)count, sizeof *coordinates);
    harvest h = { .points = points,
                  .point_count = count,
                  .into = g,
                  .number = cairn_memory_resize(NULL, (size_t)count, sizeof *h.number) };
    FILE *nowhere = fopen("/dev/null", "w");
    cairn_status status = coordinates && h.number ? CAIRN_OK : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK && !nowhere)
        status = cairn_fail(error, CAIRN_IO_FAILED, "points", "cannot open /dev/null for Qhull");
    if (status == CAIRN_OK) {
        for (int i = 0; i < count; i++) {
            coordinates[3 * i] = points[i].x;
            coordinates[3 * i + 1] = points[i].y;
            coordinates[3 * i + 2] = points[i].z;
        }
        status = run_qhull(&h, coordinates, nowhere, error);
    }
    if (nowhere)
        fclose(nowhere);
    cairn_memory_free(coordinates);
    cairn_memory_free(h.number);
    return status;
}

/* ---- both ----------------------------------------------------------------------------------- */

cairn_status cairn_hull_complete(cairn_geometry *g, cairn_error *error)
{
    bool flat = g->view.dimension == 2;
    if (cairn_geometry_find_normals(g) >= 0)
        return refuse_hull(error);
    if (!flat)
        TRY(cairn_geometry_find_edges(g, error));
    g->view.closed = g->view.closed || flat;
    cairn_geometry_find_moments(g);
    return g->view.closed && g->moments.volume > 0 ? CAIRN_OK : refuse_hull(error);
}

static cairn_status build(cairn_geometry *g, const cairn_vec3 *points, int count,
                          cairn_error *error)
{
    bool flat = g->view.dimension == 2;
    TRY(flat ? build_2d(g, points, count) : build_3d(g, points, count, error));
    return cairn_hull_complete(g, error);
}

cairn_status cairn_hull_create(const cairn_vec3 *points, int count, int dimension,
                               const cairn_geometry **out, cairn_error *error)
{
    *out = NULL;
    TRY(check(points, count, dimension, error));
    cairn_geometry *g = cairn_geometry_begin(CAIRN_SHAPE_POLYHEDRON, dimension);
    cairn_status status = g ? build(g, points, count, error) : CAIRN_NO_MEMORY;
    return cairn_geometry_finish(g, status, out, error);
}
