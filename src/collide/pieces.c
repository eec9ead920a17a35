/* pieces.c - dividing bodies that are not convex into convex pieces.
 *
 * The trees over the parts of a compound and over the triangles of a mesh find the pieces of one
 * body near the box of the other, and for each of them the pieces of the other near its box. */
#include <math.h>

#include "base/common.h"
#include "base/memory.h"
#include "collide/collide.h"
#include "math/vec.h"
#include "shape/geometry.h"
#include "shape/shape.h"

void cairn_leaf_list_destroy(cairn_leaf_list *list)
{
    cairn_memory_free(list->items);
    *list = (cairn_leaf_list){ 0 };
}

static cairn_status append(cairn_leaf_list *list, cairn_leaf leaf)
{
    TRY(cairn_memory_reserve((void **)&list->items, &list->capacity, list->count + 1,
                             sizeof *list->items));
    list->items[list->count++] = leaf;
    return CAIRN_OK;
}

/* ---- what a piece is ------------------------------------------------------------------------ */

bool cairn_collider_has_pieces(const cairn_collider *c)
{
    return c->shape->kind == CAIRN_SHAPE_COMPOUND || cairn_shape_has_faces(c->shape);
}

static cairn_pose part_pose(const cairn_collider *whole, int32_t part)
{
    const cairn_pose pose = { whole->x, whole->q };
    return cairn_pose_compose(&pose, &whole->shape->geometry->view.parts[part].pose);
}

const cairn_shape *cairn_piece_shape(const cairn_collider *whole, cairn_piece piece)
{
    return piece.part < 0 ? whole->shape : &whole->shape->geometry->view.parts[piece.part].shape;
}

cairn_piece cairn_piece_patch(const cairn_shape *whole, cairn_piece piece)
{
    if (piece.face >= 0) {
        const cairn_shape *shape =
            piece.part < 0 ? whole : &whole->geometry->view.parts[piece.part].shape;
        piece.face = shape->geometry->patch[piece.face];
    }
    return piece;
}

const cairn_collider *cairn_collider_piece(const cairn_collider *whole, cairn_piece piece,
                                           cairn_collider *made)
{
    if (piece.part < 0 && piece.face < 0)
        return whole;
    *made = *whole;
    made->shape = cairn_piece_shape(whole, piece);
    made->face = piece.face;
    if (piece.part >= 0) {
        cairn_pose pose = part_pose(whole, piece.part);
        made->x = pose.x;
        made->q = pose.q;
        made->extent = cairn_shape_extent(made->shape);
    }
    return made;
}

/* The box of a triangle (2D: segment) of a placed mesh. */
static cairn_box face_box(const cairn_collider *c, int32_t face)
{
    const cairn_geometry_view *view = &c->shape->geometry->view;
    const cairn_pose pose = { c->x, c->q };
    cairn_bounds box = { { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    for (int32_t k = view->face_first[face]; k < view->face_first[face + 1]; k++) {
        cairn_vec3 p = cairn_pose_apply(&pose, view->vertices[view->face_vertex[k]]);
        const cairn_bounds point = { p, p };
        box = cairn_bounds_join(&box, &point);
    }
    return (cairn_box){ cairn_scale(0.5, cairn_add(box.low, box.high)),
                        cairn_scale(0.5, cairn_sub(box.high, box.low)) };
}

int cairn_piece_compare(cairn_piece a, cairn_piece b)
{
    if (a.part != b.part)
        return a.part < b.part ? -1 : 1;
    return a.face == b.face ? 0 : a.face < b.face ? -1 : 1;
}

/* ---- visiting pieces ------------------------------------------------------------------------ */

/* Visits the pieces of `c` whose boxes overlap `near` (NULL: all); `box` is that of the piece. */
typedef struct visit {
    const cairn_collider *c;
    const cairn_box *near;
    int32_t part; /* of which c is the shape; -1: none                        */
    bool (*found)(void *context, cairn_piece piece, const cairn_box *box);
    void *context;
} visit;

static bool visit_pieces(const visit *v);

static bool boxes_meet(const cairn_box *a, const cairn_box *b)
{
    return fabs(a->centre.x - b->centre.x) <= a->half.x + b->half.x &&
           fabs(a->centre.y - b->centre.y) <= a->half.y + b->half.y &&
           fabs(a->centre.z - b->centre.z) <= a->half.z + b->half.z;
}

static bool visit_face(void *context, int32_t face)
{
    const visit *v = context;
    cairn_box box = face_box(v->c, face);
    if (v->near && !boxes_meet(v->near, &box))
        return true;
    return v->found(v->context, (cairn_piece){ v->part, face }, &box);
}

static bool visit_part(void *context, int32_t part)
{
    const visit *v = context;
    cairn_collider c = { .shape = &v->c->shape->geometry->view.parts[part].shape };
    cairn_collider_place(&c, part_pose(v->c, part));
    if (v->near && !boxes_meet(v->near, &c.box))
        return true;
    const visit inner = { &c, v->near, part, v->found, v->context };
    return visit_pieces(&inner);
}

/* False: stopped by `found`. */
static bool visit_pieces(const visit *v)
{
    const cairn_collider *c = v->c;
    const cairn_pose pose = { c->x, c->q };
    cairn_bounds near = { { -INFINITY, -INFINITY, -INFINITY }, { INFINITY, INFINITY, INFINITY } };
    if (!cairn_collider_has_pieces(c))
        return v->found(v->context, (cairn_piece){ v->part, -1 }, &c->box);
    if (v->near)
        near = cairn_box_inside(v->near, &pose);
    cairn_mesh_tree_query(&c->shape->geometry->tree, &near,
                          cairn_shape_has_faces(c->shape) ? visit_face : visit_part, (void *)v);
    return true;
}

/* ---- leaves --------------------------------------------------------------------------------- */

typedef struct walk {
    const cairn_collider *a, *b;
    double reach; /* m: of both                                              */
    cairn_leaf leaf;
    cairn_leaf_list *list;
    cairn_status status;
} walk;

static cairn_box enlarged(const cairn_box *box, double by)
{
    return (cairn_box){ box->centre, { box->half.x + by, box->half.y + by, box->half.z + by } };
}

static bool found_second(void *context, cairn_piece piece, const cairn_box *box)
{
    (void)box;
    walk *w = context;
    w->leaf.second = piece;
    w->status = append(w->list, w->leaf);
    return w->status == CAIRN_OK;
}

static bool found_first(void *context, cairn_piece piece, const cairn_box *box)
{
    walk *w = context;
    w->leaf.first = piece;
    cairn_box near = enlarged(box, w->reach);
    const visit second = { w->b, cairn_collider_bounded(w->a) ? &near : NULL, -1, found_second, w };
    visit_pieces(&second);
    return w->status == CAIRN_OK;
}

static bool comes_before(const cairn_leaf *a, const cairn_leaf *b)
{
    int order = cairn_piece_compare(a->first, b->first);
    return order < 0 || (order == 0 && cairn_piece_compare(a->second, b->second) < 0);
}

/* Shell's sort: the leaves of one pair are few, and it needs no memory. */
static void sort(cairn_leaf *items, size_t count)
{
    size_t gap = 1;
    while (gap < count / 3)
        gap = 3 * gap + 1;
    for (; gap > 0; gap /= 3)
        for (size_t i = gap; i < count; i++) {
            cairn_leaf item = items[i];
            size_t k = i;
            for (; k >= gap && comes_before(&item, &items[k - gap]); k -= gap)
                items[k] = items[k - gap];
            items[k] = item;
        }
}

/* m: the largest distance behind a face at which a body without size is still detected
 * (triangles.c); the boxes of both are flat, and would not meet. */
static double seen_behind(const cairn_collider *point, const cairn_collider *surface)
{
    return point->extent == 0 && cairn_collider_bounded(surface) ? 0.01 * surface->extent : 0;
}

cairn_status cairn_leaves_add(const cairn_collider *a, const cairn_collider *b, int32_t pair,
                              cairn_leaf_list *list)
{
    walk w = { .a = a,
               .b = b,
               .reach = a->reach + b->reach + a->behind + b->behind + seen_behind(a, b) +
                        seen_behind(b, a),
               .leaf = { pair, { -1, -1 }, { -1, -1 } },
               .list = list };
    if (!cairn_collider_has_pieces(a) && !cairn_collider_has_pieces(b))
        return append(list, w.leaf);
    size_t start = list->count;
    cairn_box near = enlarged(&b->box, w.reach);
    const visit first = { a, cairn_collider_bounded(b) ? &near : NULL, -1, found_first, &w };
    visit_pieces(&first);
    TRY(w.status);
    if (list->count > start) /* else there may be no items at all to point to */
        sort(list->items + start, list->count - start);
    return CAIRN_OK;
}

/* ---- inside ------------------------------------------------------------------------------ */

/* Bodies inside the volume that a closed mesh or polyline encloses.
 *
 * Faces detect only bodies in front of them (triangles.c): a body completely behind them touches
 * none of them. When bodies are added to a world, this is checked by the winding number of the
 * surface about a point p, from the angles (2D) or solid angles that its faces subtend at p:
 *
 *     tan(angle/2 of a triangle) = a.(b x c) / (abc + (a.b) c + (b.c) a + (c.a) b)
 *
 * with a, b, c the corners relative to p, and in the denominator their lengths. */

static bool is_solid_surface(const cairn_shape *shape)
{
    bool surface = shape->kind == CAIRN_SHAPE_MESH || shape->kind == CAIRN_SHAPE_POLYLINE;
    return surface && shape->geometry->view.closed;
}

static double angle_of(const cairn_vec3 *c, int dimension)
{
    if (dimension == 2)
        return atan2(c[0].x * c[1].y - c[0].y * c[1].x, cairn_dot(c[0], c[1]));
    double l[3] = { cairn_norm(c[0]), cairn_norm(c[1]), cairn_norm(c[2]) };
    double below = l[0] * l[1] * l[2] + cairn_dot(c[0], c[1]) * l[2] +
                   cairn_dot(c[1], c[2]) * l[0] + cairn_dot(c[2], c[0]) * l[1];
    return atan2(cairn_dot(c[0], cairn_cross(c[1], c[2])), below);
}

/* m: the distance of p, in the frame of the surface, from the planes of its faces; 0: not
 * inside. */
static double depth_inside(const cairn_geometry_view *view, cairn_vec3 p)
{
    double filled = 0, nearest = INFINITY;
    for (int f = 0; f < view->face_count; f++) {
        cairn_vec3 corner[3];
        const int32_t *vertex = view->face_vertex + view->face_first[f];
        for (int k = 0; k < view->dimension; k++)
            corner[k] = cairn_sub(view->vertices[vertex[k]], p);
        filled += angle_of(corner, view->dimension);
        nearest = fmin(nearest, fabs(cairn_dot(view->face_normal[f], corner[0])));
    }
    return filled > M_PI ? nearest : 0; /* 2 pi inside, in 3D of halves of solid angles */
}

/* Some point of a body; of a convex one its middle. */
static cairn_vec3 point_of(const cairn_collider *c)
{
    const cairn_pose pose = { c->x, c->q };
    if (!cairn_collider_has_pieces(c))
        return c->box.centre;
    const cairn_geometry_view *view = &c->shape->geometry->view;
    if (c->shape->kind != CAIRN_SHAPE_COMPOUND)
        return cairn_pose_apply(&pose, view->vertices[0]);
    cairn_collider part = { .shape = &view->parts[0].shape };
    cairn_collider_place(&part, cairn_pose_compose(&pose, &view->parts[0].pose));
    return point_of(&part);
}

static double depth_at(const cairn_shape *shape, cairn_pose pose, cairn_vec3 p)
{
    if (!is_solid_surface(shape))
        return 0;
    cairn_vec3 local = cairn_rotate_back(pose.q, cairn_sub(p, pose.x));
    return depth_inside(&shape->geometry->view, local);
}

double cairn_collider_swallowed(const cairn_collider *inner, const cairn_collider *outer)
{
    const cairn_pose pose = { outer->x, outer->q };
    if (!cairn_collider_has_pieces(outer) || !cairn_collider_bounded(inner))
        return 0;
    cairn_vec3 p = point_of(inner);
    double depth = depth_at(outer->shape, pose, p);
    const cairn_geometry_view *view = &outer->shape->geometry->view;
    for (int k = 0; k < view->part_count; k++) {
        cairn_pose at = cairn_pose_compose(&pose, &view->parts[k].pose);
        depth = fmax(depth, depth_at(&view->parts[k].shape, at, p));
    }
    return depth > 0 ? depth + inner->extent : 0;
}
