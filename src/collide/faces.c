/* faces.c - triangles of meshes and height fields, and segments of polylines, as colliders. */
#include "collide/convex.h"
#include "collide/narrow.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

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

/* The origin of a piece tells on which side of others it is: it is taken inside the solid, behind
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

/* Of two faces either may see the other: one that lies deep behind the other sees it in front. */
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
