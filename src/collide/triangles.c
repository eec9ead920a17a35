/* triangles.c - a convex shape against one triangle of a mesh (2D: one side of a polyline).
 *
 * A single triangle has normals in all directions around its edges. Within a mesh most of them
 * point into a neighbour, and a body that slides over a flat mesh would catch on them. The rules:
 *
 *   - A body that is more than half behind a one-sided triangle has no contact with it. The front
 *     of a two-sided triangle is the side on which the larger half of the body is.
 *   - The points of the triangle that are farthest along the normal n are all of it, an edge, or a
 *     corner. A normal at an edge or corner is taken only if the mesh falls away from it there: if
 *     n.t <= 0 for all directions t in which the surface leaves the edge or corner, and n points to
 *     the front of one of its triangles. The body is then nowhere nearer to the surrounding mesh.
 *   - Otherwise the normal of the triangle is used, and only points where the facing face lies over
 *     the triangle count; points beyond the edge belong to the neighbour. A body that does not meet
 *     the triangle is not behind it either.
 *   - In a concave region, where the neighbour rises from the edge, the space in front of both is
 *     the wedge between their planes. A corner of the body in it that can get over the triangle
 *     has a contact with its plane already beyond the edge: otherwise a body that slides over the
 *     neighbour would run into the triangle. */
#include <math.h>

#include "collide/convex.h"
#include "collide/narrow.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

/* The triangle with its front towards the body. */
typedef struct front {
    const cairn_triangle *t;
    double side; /* -1: turned over                                                           */
    int count;
    cairn_vec3 corner[3];
    int32_t name[3];
    cairn_vec3 beyond[3];
    int edge[3]; /* which edge of the triangle it is                                          */
    cairn_vec3 normal;
    double sunk; /* m: how far the body lies wholly behind it (thin ones, faces), else 0      */
} front;

static cairn_vec3 normal_of(const cairn_vec3 *corner, int count)
{
    cairn_vec3 e = cairn_sub(corner[1], corner[0]);
    return cairn_unit(count == 2 ? cairn_vec(e.y, -e.x, 0)
                                 : cairn_cross(e, cairn_sub(corner[2], corner[0])));
}

/* The back of a triangle as its front: corners in reverse order, neighbours reversed as well. */
static void turn_over(front *f)
{
    front old = *f;
    int n = f->count;
    f->normal = cairn_scale(-1, f->normal);
    f->side = -1;
    for (int k = 0; k < n; k++) {
        int edge = n == 2 ? n - 1 - k : (2 * n - 2 - k) % n;
        f->corner[k] = old.corner[n - 1 - k];
        f->name[k] = old.name[n - 1 - k];
        f->beyond[k] = cairn_scale(-1, old.beyond[edge]);
        f->edge[k] = edge;
    }
}

/* A thin body, in particular a point, is half behind a face as soon as it touches it, and rounding
 * would decide about the contact. Bodies thinner than this share of the triangle's size are
 * detected as deep as if they had that thickness. */
static const double THINNEST = 0.02;

/* Whether a face that is completely behind the triangle has penetrated it: it faces the triangle
 * and is not deeper than thin bodies may be. Other faces are beyond the other side of the solid
 * that the triangle bounds. */
static bool has_sunk_face(const cairn_convex *a, const front *f, double size)
{
    bool looks_at_it = cairn_dot(normal_of(a->corners, a->corner_count), f->normal) < 0;
    return looks_at_it && f->sunk <= 0.5 * THINNEST * size;
}

/* The distance of the middle of the body in front of the triangle. The middle is half way between
 * the two extreme points along its normal, independent of the origin of the shape. If the body is a
 * face, its origin is inside its solid. */
static double in_front(const cairn_convex *a, front *f)
{
    double origin = cairn_dot(f->normal, cairn_sub(a->x, f->corner[0]));
    double high = cairn_dot(f->normal, cairn_convex_support(a, f->normal));
    double size = cairn_norm(cairn_sub(f->corner[1], f->corner[0]));
    f->sunk = fmax(0, 1e-12 * (size + fabs(origin)) - (origin + high + a->rounding));
    if (!a->shape) {
        f->sunk = has_sunk_face(a, f, size) ? f->sunk : 0;
        return origin;
    }
    double low = cairn_dot(f->normal, cairn_convex_support(a, cairn_scale(-1, f->normal)));
    double thickness = high - low + 2 * a->rounding;
    double missing = f->t->two_sided ? 0 : fmax(0, THINNEST * size - thickness);
    return origin + 0.5 * (high + low + missing);
}

/* The direction in which the neighbour leaves edge k: in its plane, at right angles to the edge. */
static cairn_vec3 leaves_over(const front *f, int k)
{
    cairn_vec3 other = f->beyond[k], e = cairn_sub(f->corner[(k + 1) % f->count], f->corner[k]);
    if (f->count == 2)
        return cairn_scale(k == 0 ? -1 : 1, cairn_vec(-other.y, other.x, 0));
    return cairn_unit(cairn_cross(e, other));
}

/* Away from the triangle over edge k (2D: corner k), in its plane; not of unit length. */
static cairn_vec3 out_over(const front *f, int k)
{
    cairn_vec3 e = cairn_sub(f->corner[(k + 1) % f->count], f->corner[k]);
    return f->count == 2 ? cairn_scale(-1, e) : cairn_cross(e, f->normal);
}

/* Whether a point behind the triangle is nearer to the outside across a convex edge, directly under
 * the neighbour there, whose plane contains the edge as well: then it belongs to the neighbour. */
static bool is_nearer_to_neighbour(cairn_vec3 place, const front *f)
{
    double here = cairn_dot(f->normal, cairn_sub(place, f->corner[0]));
    for (int k = 0; k < f->count; k++) {
        cairn_vec3 other = f->beyond[k], out = out_over(f, k);
        if (!(cairn_dot(other, out) > 1e-9 * cairn_norm(out)))
            continue;
        cairn_vec3 from_edge = cairn_sub(place, f->corner[k]);
        if (cairn_dot(other, from_edge) > here && cairn_dot(leaves_over(f, k), from_edge) >= 0)
            return true;
    }
    return false;
}

/* False: the body is behind a one-sided triangle. */
static bool make_front(const cairn_triangle *t, int dimension, const cairn_convex *a, front *f)
{
    *f = (front){ .t = t, .count = dimension, .side = 1 };
    for (int k = 0; k < dimension; k++) {
        f->corner[k] = t->corner[k];
        f->name[k] = t->name[k];
        f->beyond[k] = t->beyond[k];
        f->edge[k] = k;
    }
    f->normal = normal_of(f->corner, dimension);
    bool behind = in_front(a, f) < 0;
    if (t->two_sided)
        f->sunk = 0; /* there is no behind */
    if (behind && t->two_sided)
        turn_over(f);
    if (a->shape && f->sunk > 0 && is_nearer_to_neighbour(a->x, f))
        return false;
    return !behind || t->two_sided;
}

/* ---- whose normal --------------------------------------------------------------------------- */

/* rad: a normal within this of a right angle to a direction is at right angles. */
static const double UPRIGHT = 1e-7;

/* Whether the mesh falls away from n at edge k (2D: corner k). */
static bool falls_at_edge(const front *f, int k, cairn_vec3 n)
{
    cairn_vec3 other = f->beyond[k];
    bool open = !(cairn_norm(other) > 0);
    if (!open && cairn_dot(n, leaves_over(f, k)) > UPRIGHT)
        return false;
    return f->t->two_sided || cairn_dot(n, f->normal) >= 0 || cairn_dot(n, other) > 0;
}

/* A walk over the triangles around a corner. */
typedef struct fan {
    const front *f;
    const cairn_geometry *g;
    cairn_quat q;
    int32_t vertex;
    cairn_vec3 n;
    bool falls; /* n.t <= 0 for the edges of all triangles so far      */
    bool front; /* n looks to the front of one of them                 */
} fan;

/* Which corner of a face the vertex is. */
static int corner_of(const fan *w, int32_t face)
{
    const cairn_geometry_view *v = &w->g->view;
    int k = 0;
    while (k < 2 && v->face_vertex[v->face_first[face] + k] != w->vertex)
        k++;
    return k;
}

static void visit(fan *w, int32_t face)
{
    const cairn_geometry_view *v = &w->g->view;
    cairn_vec3 here = v->vertices[w->vertex];
    for (int k = 0; k < 3; k++) {
        cairn_vec3 t = cairn_sub(v->vertices[v->face_vertex[v->face_first[face] + k]], here);
        w->falls &= cairn_dot(w->n, cairn_rotate(w->q, t)) <= UPRIGHT * cairn_norm(t);
    }
    w->front |= w->f->side * cairn_dot(w->n, cairn_rotate(w->q, v->face_normal[face])) >= 0;
}

/* From face to face over the sides that begin at the vertex, or (`back`) end there. False: it
 * reached an open edge before the circle was closed. */
static bool walk(fan *w, int32_t start, bool back)
{
    int32_t face = start;
    do {
        visit(w, face);
        int side = (corner_of(w, face) + (back ? 2 : 0)) % 3;
        face = w->g->neighbour[w->g->view.face_first[face] + side];
    } while (face >= 0 && face != start && w->falls);
    return face == start;
}

/* Whether the mesh falls away from n at corner k. */
static bool falls_at_corner(const front *f, int k, cairn_vec3 n)
{
    const cairn_collider *c = f->t->of;
    if (f->count == 2)
        return falls_at_edge(f, k, n);
    if (!c)
        return falls_at_edge(f, k, n) && falls_at_edge(f, (k + 2) % 3, n);
    fan w = { f, c->shape->geometry, c->q, f->name[k], n, true, false };
    if (!walk(&w, c->face, false) && w.falls)
        walk(&w, c->face, true);
    return w.falls && (w.front || f->t->two_sided);
}

static bool is_own_normal(const front *f, cairn_vec3 n)
{
    double height[3], most = -INFINITY, size = 0;
    int top[3], count = 0;
    for (int k = 0; k < f->count; k++) {
        cairn_vec3 p = cairn_sub(f->corner[k], f->corner[0]);
        height[k] = cairn_dot(n, p);
        most = fmax(most, height[k]);
        size = fmax(size, cairn_norm(p));
    }
    for (int k = 0; k < f->count; k++)
        if (height[k] >= most - UPRIGHT * size)
            top[count++] = k;
    if (count == f->count)
        return cairn_dot(n, f->normal) >= 0;
    if (count == 1)
        return falls_at_corner(f, top[0], n);
    return falls_at_edge(f, top[0] == 0 && top[1] == 2 ? 2 : top[0], n);
}

/* How far behind the triangle another face may be and still rest on it: by the longer edge of the
 * two, or as far as it may have moved. It must face the triangle: other faces, and deeper ones, may
 * belong to a body on the other side of the solid that the triangle bounds. */
static double rest_behind(const front *f, const cairn_convex *a)
{
    if (a->shape || f->t->two_sided)
        return 0;
    bool looks_at_it = cairn_dot(normal_of(a->corners, a->corner_count), f->normal) < 0;
    double edge = cairn_norm(cairn_sub(f->corner[1], f->corner[0]));
    double other = cairn_norm(cairn_sub(a->corners[1], a->corners[0]));
    return looks_at_it ? fmax(1e-3 * fmax(edge, other), f->t->behind) : 0;
}

/* Whether another face is a little behind the triangle and directly over it, like sides that rest
 * on each other: their distance is then measured along the normal. */
static bool rests_behind(const front *f, const cairn_couple *c, const cairn_distance *d)
{
    bool over = cairn_dot(d->normal, f->normal) < -0.996; /* to 5 degrees */
    return over && d->gap <= rest_behind(f, c->a);
}

/* ---- hollows -------------------------------------------------------------------------------- */

/* Whether p is directly over the face of a mesh. */
static bool lies_over(const cairn_collider *c, int32_t face, cairn_vec3 p)
{
    const cairn_geometry_view *v = &c->shape->geometry->view;
    const int32_t *vertex = v->face_vertex + v->face_first[face];
    const cairn_pose pose = { c->x, c->q };
    int count = v->dimension == 2 ? 2 : 3;
    cairn_vec3 n = cairn_rotate(c->q, v->face_normal[face]);
    for (int k = 0; k < count; k++) {
        cairn_vec3 from = cairn_pose_apply(&pose, v->vertices[vertex[k]]);
        cairn_vec3 e =
            cairn_sub(cairn_pose_apply(&pose, v->vertices[vertex[(k + 1) % count]]), from);
        cairn_vec3 out = count == 2 ? cairn_scale(-1, e) : cairn_cross(e, n);
        if (cairn_dot(out, cairn_sub(p, from)) > 0)
            return false;
    }
    return true;
}

/* Whether p, beyond edge k by at most `near`, is in the wedge between the triangle and a neighbour
 * that rises: over the neighbour, or, of a thin body that has sunk in so far, behind both and
 * beyond the ends of both. */
static bool is_in_hollow(const front *f, int k, cairn_vec3 p, double near, double sunk)
{
    if (!(cairn_norm(f->beyond[k]) > 0) || cairn_dot(leaves_over(f, k), f->normal) <= UPRIGHT)
        return false;
    const cairn_geometry *g = f->t->of->shape->geometry;
    cairn_vec3 out = cairn_unit(out_over(f, k)), from_edge = cairn_sub(p, f->corner[k]);
    double beyond = cairn_dot(out, from_edge), height = cairn_dot(f->normal, from_edge);
    if (!(beyond > 0 && beyond <= near + sunk))
        return false;
    int32_t next = g->neighbour[g->view.face_first[f->t->of->face] + f->edge[k]];
    return height < 0 ? sunk > 0 && cairn_dot(leaves_over(f, k), from_edge) < 0
                      : lies_over(f->t->of, next, p);
}

/* Corners of the body that meet the plane of the triangle beyond an edge, in a hollow. */
static int meet_in_hollow(const front *f, const cairn_couple *c, double margin, cairn_witness *out)
{
    int count = f->t->of ? cairn_manifold_corners(c, f->normal, margin, out) : 0, kept = 0;
    double sunk = c->a->shape ? f->sunk : 0;
    for (int i = 0; i < count; i++) {
        bool inside = false;
        for (int k = 0; k < f->count && !inside; k++)
            inside = is_in_hollow(f, k, out[i].on_a, margin, sunk);
        if (inside)
            out[kept++] = out[i];
    }
    return kept;
}

/* Contact points along the normal of the triangle. Of a body that is apart from it, the points in
 * front of it; of a body behind it, the points to which no neighbour is nearer. */
static int meet_along(const front *f, const cairn_couple *c, const cairn_distance *d, double margin,
                      cairn_witness *out)
{
    cairn_witness points[2 * CAIRN_FLAT_WITNESSES]; /* over the triangle, and in hollows */
    int count = cairn_manifold_along(c, f->normal, margin, points), kept = 0;
    bool apart = d->gap > c->a->rounding, rests = rests_behind(f, c, d);
    for (int k = 0; k < count; k++) {
        bool sunk = f->sunk > 0 && !is_nearer_to_neighbour(points[k].on_a, f);
        if (!apart || points[k].gap >= 0 || rests || sunk)
            points[kept++] = points[k];
    }
    kept += meet_in_hollow(f, c, margin, points + kept);
    int limit = cairn_witnesses_kept(c->dimension, count, margin / c->size);
    kept = cairn_witnesses_reduce(points, kept, limit);
    for (int k = 0; k < kept; k++)
        out[k] = points[k];
    return kept;
}

int cairn_triangle_witnesses(const cairn_convex *a, const cairn_triangle *t, int dimension,
                             double margin, cairn_witness *out)
{
    front f;
    if (!make_front(t, dimension, a, &f))
        return 0;
    cairn_convex b = cairn_convex_triangle(f.corner, dimension);
    for (int k = 0; k < dimension; k++)
        b.corner_name[k] = f.name[k];
    cairn_couple c = cairn_couple_make(a, &b, dimension);
    cairn_distance d;
    double behind = fmax(2 * f.sunk, rest_behind(&f, a)); /* 2: beyond an edge as well */
    if (!cairn_distance_find(&c, margin + a->rounding + behind, &d))
        return 0;
    if (!cairn_distance_is_sound(&c, &d))
        return CAIRN_UNRESOLVED;
    if (is_own_normal(&f, d.normal))
        return d.gap > margin + a->rounding ? 0 : cairn_manifold_find(&c, &d, margin, out);
    /* the way out leads to the other side of a sheet: over its edge, to the neighbour */
    if (t->two_sided && cairn_dot(d.normal, f.normal) < 0)
        return 0;
    return meet_along(&f, &c, &d, margin, out);
}

/* ---- faces as colliders ------------------------------------------------------------------ */

/* Triangles of meshes and height fields, and segments of polylines, as colliders. */

/* The corners of the face that a collider means, in space, and their vertices; their number. */
static int corners_of(const cairn_collider *c, cairn_vec3 corner[3], int32_t vertex[3])
{
    const cairn_geometry_view *v = &c->shape->geometry->view;
    const cairn_pose pose = { c->x, c->q };
    int first = v->face_first[c->face], count = v->dimension == 2 ? 2 : 3;
    for (int k = 0; k < count; k++) {
        vertex[k] = v->face_vertex[first + k];
        corner[k] = cairn_pose_apply(&pose, v->vertices[vertex[k]]);
    }
    return count;
}

/* Whether the collider means a face that there is. */
static bool has_face(const cairn_collider *c)
{
    const cairn_geometry *g = c->shape->geometry;
    return g && g->neighbour && c->face >= 0 && c->face < g->view.face_count;
}

/* The origin of a piece determines on which side of others it is. It is inside the solid, behind
 * the face by the face's own size, and not in the face, where rounding would decide. */
bool cairn_convex_make_face(const cairn_collider *c, cairn_convex *out)
{
    cairn_vec3 corner[3];
    int32_t vertex[3];
    if (!has_face(c))
        return false;
    int count = corners_of(c, corner, vertex);
    *out = cairn_convex_triangle(corner, count);
    cairn_vec3 normal = cairn_rotate(c->q, c->shape->geometry->view.face_normal[c->face]);
    cairn_vec3 in = cairn_scale(-out->extent, normal);
    out->x = cairn_add(out->x, in);
    for (int k = 0; k < count; k++) {
        out->corners[k] = cairn_sub(out->corners[k], in);
        out->corner_name[k] = vertex[k];
    }
    out->extent *= sqrt(2);
    return true;
}

/* An open mesh is a sheet with two sides; what is closed, a height field or a polyline is solid on
 * one side. */
static cairn_triangle triangle_of(const cairn_collider *c)
{
    const cairn_geometry *g = c->shape->geometry;
    cairn_triangle t = { .two_sided = c->shape->kind == CAIRN_SHAPE_MESH && !g->view.closed,
                         .of = c };
    int count = corners_of(c, t.corner, t.name), first = g->view.face_first[c->face];
    for (int k = 0; k < count; k++) {
        int32_t next = g->neighbour[first + k];
        if (next >= 0)
            t.beyond[k] = cairn_rotate(c->q, g->view.face_normal[next]);
    }
    return t;
}

static int meet(const cairn_collider *a, const cairn_collider *b, int dimension, double margin,
                cairn_witness *out)
{
    cairn_convex body;
    if (!has_face(b) || !cairn_convex_make(a, &body))
        return CAIRN_UNRESOLVED;
    cairn_triangle t = triangle_of(b);
    t.behind = a->behind + b->behind;
    return cairn_triangle_witnesses(&body, &t, dimension, margin, out);
}

/* Of two faces either may detect the other: a face deep behind the other has it in front. */
int cairn_convex_face_of(const cairn_collider *a, const cairn_collider *b, int dimension,
                         double margin, cairn_witness *out)
{
    int count = meet(a, b, dimension, margin, out);
    if (count != 0 || !cairn_shape_has_faces(a->shape))
        return count;
    count = meet(b, a, dimension, margin, out);
    for (int k = 0; k < count; k++) {
        cairn_witness w = out[k];
        out[k].on_a = w.on_b;
        out[k].on_b = w.on_a;
        out[k].normal = cairn_scale(-1, w.normal);
    }
    return count;
}
