/* pile_walls.h - walls of a pile that are neither planes nor wide cylinders: what is held of them
 * on the device, and where a ball meets them. Distances are those of math/vec.h, and the rules for
 * triangles those of src/collide/triangles.c, for balls: see there.
 *
 * The triangles of a surface are held in space, below a complete binary tree of boxes. */
#ifndef CAIRN_BACKEND_CUDA_PILE_WALLS_H
#define CAIRN_BACKEND_CUDA_PILE_WALLS_H

#include <memory>

#include "backend/cuda/system.h"
#include "math/vec.h"

/* ---- what is held ---------------------------------------------------------------------------- */

enum { LEAF_FACES = 2, TREE_DEPTH = 32 };

/* A box along the axes. */
struct Bounds {
    cairn_vec3 low = { INFINITY, INFINITY, INFINITY }, high = { -INFINITY, -INFINITY, -INFINITY };

    ANYWHERE void add(cairn_vec3 p, cairn_vec3 q)
    {
        low = cairn_vec(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = cairn_vec(fmax(high.x, q.x), fmax(high.y, q.y), fmax(high.z, q.z));
    }

    /* Whether a cube about x with this half length overlaps or touches it. */
    ANYWHERE bool meets(cairn_vec3 x, double half) const
    {
        return x.x + half >= low.x && x.x - half <= high.x && x.y + half >= low.y &&
               x.y - half <= high.y && x.z + half >= low.z && x.z - half <= high.z;
    }
};

/* Triangles in space. Node i of the tree has the children 2 i + 1 and 2 i + 2; leaves come last and
 * have LEAF_FACES faces each, in the order of `order`. */
struct Surface {
    int32_t faces, leaves;
    const cairn_vec3 *vertex, *normal;
    const int32_t *corner, *neighbour, *patch, *order;
    const Bounds *node;

    ANYWHERE cairn_vec3 at(int32_t face, int k) const
    {
        return vertex[corner[3 * (int64_t)face + k]];
    }

    ANYWHERE Bounds box(int32_t face) const
    {
        Bounds b;
        for (int k = 0; k < 3; k++)
            b.add(at(face, k), at(face, k));
        return b;
    }
};

struct Wall {
    cairn_pile_wall is;
    cairn_vec3 axes[3]; /* of its shape, in space */
    Surface surface;
};

/* All of them. They are copied to the device when they differ from the copies of the host that are
 * kept here. */
struct PileWalls {
    Device device;
    std::vector<cairn_pile_wall> host; /* without the pointers of their surfaces */
    std::vector<std::vector<cairn_vec3>> vertex;
    std::vector<std::vector<int32_t>> corner;
    const Wall *there = nullptr;

    ~PileWalls()
    {
        device.release();
    }
};

/* A wall without pointers into the memory of the host, which may be another's by now. */
static cairn_pile_wall plain_wall(const cairn_pile_wall *w)
{
    cairn_pile_wall plain;
    std::memcpy(&plain, w, sizeof plain);
    plain.surface.vertex = plain.surface.normal = nullptr;
    plain.surface.corner = plain.surface.neighbour = plain.surface.patch = nullptr;
    plain.surface.order = nullptr;
    return plain;
}

template <class T> static bool holds_same(const std::vector<T> &held, const T *from)
{
    return held.empty() || std::memcmp(held.data(), from, held.size() * sizeof(T)) == 0;
}

/* Normals, neighbours and patches follow from vertices and corners. */
static bool are_same_walls(const PileWalls &w, const cairn_pile_bodies *b)
{
    bool same = w.host.size() == (size_t)b->wall_count;
    for (size_t i = 0; same && i < w.host.size(); i++) {
        cairn_pile_wall now = plain_wall(&b->walls[i]);
        same = std::memcmp(&now, &w.host[i], sizeof now) == 0 &&
               holds_same(w.vertex[i], b->walls[i].surface.vertex) &&
               holds_same(w.corner[i], b->walls[i].surface.corner);
    }
    return same;
}

/* The tree of a surface that is in space already, from its leaves up. */
static const Bounds *make_tree(Device &d, const Surface &s)
{
    Bounds *node = d.take<Bounds>(2 * (size_t)s.leaves);
    each(d, s.leaves, [=] ANYWHERE(int64_t leaf) {
        Bounds all;
        for (int64_t i = leaf * LEAF_FACES; i < (leaf + 1) * LEAF_FACES && i < s.faces; i++) {
            Bounds own = s.box(s.order[i]);
            all.add(own.low, own.high);
        }
        node[s.leaves - 1 + leaf] = all;
    });
    for (int64_t width = s.leaves / 2; width > 0; width /= 2)
        each(d, width, [=] ANYWHERE(int64_t i) {
            int64_t k = width - 1 + i;
            Bounds all = node[2 * k + 1];
            all.add(node[2 * k + 2].low, node[2 * k + 2].high);
            node[k] = all;
        });
    return node;
}

static Surface place_surface(Device &d, const cairn_pile_wall *w)
{
    const cairn_wall_surface &from = w->surface;
    size_t vertices = (size_t)from.vertices, faces = (size_t)from.faces;
    const cairn_pose pose = { w->x, w->q };
    const cairn_vec3 *vertex = d.copy_of(from.vertex, vertices);
    const cairn_vec3 *normal = d.copy_of(from.normal, faces);
    cairn_vec3 *p = d.take<cairn_vec3>(vertices), *n = d.take<cairn_vec3>(faces);
    each(d, from.vertices, [=] ANYWHERE(int64_t i) { p[i] = cairn_pose_apply(&pose, vertex[i]); });
    each(d, from.faces, [=] ANYWHERE(int64_t i) { n[i] = cairn_rotate(pose.q, normal[i]); });
    Surface s = {};
    s.faces = from.faces;
    s.leaves = 1;
    while ((int64_t)s.leaves * LEAF_FACES < s.faces)
        s.leaves *= 2;
    s.vertex = p;
    s.normal = n;
    s.corner = d.copy_of(from.corner, 3 * faces);
    s.neighbour = d.copy_of(from.neighbour, 3 * faces);
    s.patch = d.copy_of(from.patch, faces);
    s.order = d.copy_of(from.order, faces);
    s.node = make_tree(d, s);
    return s;
}

static void copy_walls(PileWalls *w, const cairn_pile_bodies *b)
{
    size_t count = (size_t)b->wall_count;
    std::vector<Wall> made(count);
    for (size_t i = 0; i < count; i++) {
        const cairn_pile_wall *from = &b->walls[i];
        const cairn_wall_surface &s = from->surface;
        w->host.push_back(plain_wall(from));
        w->vertex.emplace_back(s.vertex, s.vertex + s.vertices);
        w->corner.emplace_back(s.corner, s.corner + 3 * (size_t)s.faces);
        made[i].is = w->host.back();
        for (int k = 0; k < 3; k++)
            made[i].axes[k] = cairn_rotate(from->q, cairn_vec(k == 0, k == 1, k == 2));
        made[i].surface = s.faces > 0 ? place_surface(w->device, from) : Surface{};
    }
    w->there = w->device.copy_of(made.data(), count);
    w->device.wait();
}

/* ---- a triangle in front of a ball ----------------------------------------------------------- */

/* A ball, and how far from it walls are looked for. */
struct Sphere {
    cairn_vec3 x;
    double radius, margin;
};

/* rad: a normal within this of a right angle to a direction is at right angles. */
static constexpr double UPRIGHT = 1e-7;

/* A triangle with its front towards the ball. */
struct Front {
    const Surface *s;
    int32_t face;
    bool two_sided;
    double side; /* -1: turned over */
    cairn_vec3 corner[3], beyond[3], normal;
    int edge[3]; /* which edge of the triangle it is */
    int32_t name[3];
    double sunk; /* m: how far the ball lies wholly behind it, else 0 */

    /* The back as the front: corners in reverse order, neighbours reversed as well. */
    ANYWHERE void turn_over()
    {
        Front old = *this;
        normal = cairn_scale(-1, normal);
        side = -1;
        for (int k = 0; k < 3; k++) {
            edge[k] = (4 - k) % 3;
            corner[k] = old.corner[2 - k];
            name[k] = old.name[2 - k];
            beyond[k] = cairn_scale(-1, old.beyond[edge[k]]);
        }
    }

    ANYWHERE cairn_vec3 along(int k) const
    {
        return cairn_sub(corner[(k + 1) % 3], corner[k]);
    }

    ANYWHERE bool is_open(int k) const
    {
        return !(cairn_norm(beyond[k]) > 0);
    }

    /* The direction in which the neighbour leaves edge k. */
    ANYWHERE cairn_vec3 leaves_over(int k) const
    {
        return cairn_unit(cairn_cross(along(k), beyond[k]));
    }

    /* Away from the triangle over edge k; not of unit length. */
    ANYWHERE cairn_vec3 out_over(int k) const
    {
        return cairn_cross(along(k), normal);
    }

    /* Whether a point behind it is nearer to the outside across a convex edge. */
    ANYWHERE bool is_nearer_to_neighbour(cairn_vec3 place) const
    {
        double here = cairn_dot(normal, cairn_sub(place, corner[0]));
        for (int k = 0; k < 3; k++) {
            cairn_vec3 out = out_over(k), from_edge = cairn_sub(place, corner[k]);
            if (cairn_dot(beyond[k], out) > 1e-9 * cairn_norm(out) &&
                cairn_dot(beyond[k], from_edge) > here && cairn_dot(leaves_over(k), from_edge) >= 0)
                return true;
        }
        return false;
    }

    /* Whether the surface falls away from n at edge k. */
    ANYWHERE bool falls_at_edge(int k, cairn_vec3 n) const
    {
        if (!is_open(k) && cairn_dot(n, leaves_over(k)) > UPRIGHT)
            return false;
        return two_sided || cairn_dot(n, normal) >= 0 || cairn_dot(n, beyond[k]) > 0;
    }
};

/* The corners of a face, and the normals beyond its edges. */
ANYWHERE static inline Front front_of(const Wall &w, int32_t face)
{
    const Surface &s = w.surface;
    Front f;
    f.s = &s;
    f.face = face;
    f.two_sided = w.is.two_sided != 0;
    f.side = 1;
    f.sunk = 0;
    for (int k = 0; k < 3; k++) {
        int32_t next = s.neighbour[3 * (int64_t)face + k];
        f.name[k] = s.corner[3 * (int64_t)face + k];
        f.corner[k] = s.vertex[f.name[k]];
        f.beyond[k] = next >= 0 ? s.normal[next] : cairn_vec(0, 0, 0);
        f.edge[k] = k;
    }
    f.normal = cairn_unit(cairn_cross(f.along(0), cairn_sub(f.corner[2], f.corner[0])));
    return f;
}

/* Balls thinner than this share of the triangle's size are detected as deep as if they had that
 * thickness. */
static constexpr double THINNEST = 0.02;

/* False: the ball is behind a one-sided triangle. */
ANYWHERE static inline bool turn_to(const Sphere &ball, Front *f)
{
    double origin = cairn_dot(f->normal, cairn_sub(ball.x, f->corner[0]));
    double size = cairn_norm(f->along(0));
    if (f->two_sided) {
        if (origin < 0)
            f->turn_over();
        return true;
    }
    f->sunk = fmax(0.0, 1e-12 * (size + fabs(origin)) - (origin + ball.radius));
    double missing = fmax(0.0, THINNEST * size - 2 * ball.radius);
    bool behind = origin + 0.5 * missing < 0;
    return !behind && !(f->sunk > 0 && f->is_nearer_to_neighbour(ball.x));
}

/* From the nearest point of the triangle to p. [Ericson, Real-Time Collision Detection, 5.1.5] */
ANYWHERE static inline cairn_vec3 away_from(const Front &f, cairn_vec3 p)
{
    cairn_vec3 ab = f.along(0), ac = cairn_sub(f.corner[2], f.corner[0]);
    cairn_vec3 ap = cairn_sub(p, f.corner[0]), bp = cairn_sub(p, f.corner[1]);
    cairn_vec3 cp = cairn_sub(p, f.corner[2]);
    double d1 = cairn_dot(ab, ap), d2 = cairn_dot(ac, ap), d3 = cairn_dot(ab, bp);
    double d4 = cairn_dot(ac, bp), d5 = cairn_dot(ab, cp), d6 = cairn_dot(ac, cp);
    if (d1 <= 0 && d2 <= 0)
        return ap;
    if (d3 >= 0 && d4 <= d3)
        return bp;
    if (d6 >= 0 && d5 <= d6)
        return cp;
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    int k = vc <= 0 && d1 >= 0 && d3 <= 0             ? 0
            : va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0 ? 1
            : vb <= 0 && d2 >= 0 && d6 <= 0           ? 2
                                                      : 3;
    if (k == 3)
        return cairn_scale(cairn_dot(f.normal, ap), f.normal);
    cairn_vec3 from = k == 0 ? ap : k == 1 ? bp : cp, e = f.along(k);
    from = cairn_add_scaled(from, -cairn_dot(from, e) / cairn_dot(e, e), e);
    /* much of the error of the first step is along the edge */
    return cairn_add_scaled(from, -cairn_dot(from, e) / cairn_dot(e, e), e);
}

/* ---- whose normal ---------------------------------------------------------------------------- */

/* A walk over the triangles around a corner. */
struct Fan {
    const Front *f;
    int32_t vertex;
    cairn_vec3 n;
    bool falls, front; /* n.t <= 0 for all edges so far; n looks to the front of one of them */

    ANYWHERE void visit(int32_t face)
    {
        const Surface &s = *f->s;
        cairn_vec3 here = s.vertex[vertex];
        for (int k = 0; k < 3; k++) {
            cairn_vec3 t = cairn_sub(s.at(face, k), here);
            falls = falls && cairn_dot(n, t) <= UPRIGHT * cairn_norm(t);
        }
        front = front || f->side * cairn_dot(n, s.normal[face]) >= 0;
    }

    /* From face to face over the sides that begin at the vertex, or (`back`) end there. False: it
     * reached an open edge before the circle was closed. */
    ANYWHERE bool walk(bool back)
    {
        const Surface &s = *f->s;
        int32_t face = f->face;
        do {
            visit(face);
            int k = 0;
            while (k < 2 && s.corner[3 * (int64_t)face + k] != vertex)
                k++;
            face = s.neighbour[3 * (int64_t)face + (k + (back ? 2 : 0)) % 3];
        } while (face >= 0 && face != f->face && falls);
        return face == f->face;
    }
};

ANYWHERE static inline bool falls_at_corner(const Front &f, int k, cairn_vec3 n)
{
    Fan fan = { &f, f.name[k], n, true, false };
    if (!fan.walk(false) && fan.falls)
        fan.walk(true);
    return fan.falls && (fan.front || f.two_sided);
}

/* Whether the normal n, from the nearest point of the triangle, is not a neighbour's. */
ANYWHERE static inline bool is_own_normal(const Front &f, cairn_vec3 n)
{
    double height[3], most = -INFINITY, size = 0;
    int top[3] = { 0, 0, 0 }, count = 0;
    for (int k = 0; k < 3; k++) {
        cairn_vec3 p = cairn_sub(f.corner[k], f.corner[0]);
        height[k] = cairn_dot(n, p);
        most = fmax(most, height[k]);
        size = fmax(size, cairn_norm(p));
    }
    for (int k = 0; k < 3; k++)
        if (height[k] >= most - UPRIGHT * size)
            top[count++] = k;
    if (count == 3)
        return cairn_dot(n, f.normal) >= 0;
    if (count == 1)
        return falls_at_corner(f, top[0], n);
    return f.falls_at_edge(top[0] == 0 && top[1] == 2 ? 2 : top[0], n);
}

/* ---- hollows --------------------------------------------------------------------------------- */

/* Whether p is directly over a face. */
ANYWHERE static inline bool lies_over(const Surface &s, int32_t face, cairn_vec3 p)
{
    for (int k = 0; k < 3; k++) {
        cairn_vec3 from = s.at(face, k), e = cairn_sub(s.at(face, (k + 1) % 3), from);
        if (cairn_dot(cairn_cross(e, s.normal[face]), cairn_sub(p, from)) > 0)
            return false;
    }
    return true;
}

/* Whether p, beyond edge k by at most `near`, is in the wedge between the triangle and a neighbour
 * that rises. */
ANYWHERE static inline bool is_in_hollow(const Front &f, int k, cairn_vec3 p, double near)
{
    if (f.is_open(k) || cairn_dot(f.leaves_over(k), f.normal) <= UPRIGHT)
        return false;
    cairn_vec3 from_edge = cairn_sub(p, f.corner[k]);
    double beyond = cairn_dot(cairn_unit(f.out_over(k)), from_edge);
    if (!(beyond > 0 && beyond <= near + f.sunk))
        return false;
    if (cairn_dot(f.normal, from_edge) < 0)
        return f.sunk > 0 && cairn_dot(f.leaves_over(k), from_edge) < 0;
    return lies_over(*f.s, f.s->neighbour[3 * (int64_t)f.face + f.edge[k]], p);
}

/* ---- where a ball meets a wall --------------------------------------------------------------- */

/* A point of a wall: the unit normal towards the ball, and the gap. */
struct Touch {
    cairn_vec3 normal;
    double gap;
    cairn_pile_part part;
    int32_t wall;
};

/* Whether the ball's centre is over the triangle, to rounding. */
ANYWHERE static inline bool is_over(const Front &f, const Sphere &ball)
{
    double extent = 0;
    cairn_vec3 middle = cairn_vec(0, 0, 0);
    for (int k = 0; k < 3; k++)
        middle = cairn_add_scaled(middle, 1.0 / 3, f.corner[k]);
    for (int k = 0; k < 3; k++)
        extent = fmax(extent, cairn_norm(cairn_sub(f.corner[k], middle)));
    for (int k = 0; k < 3; k++) {
        double out = cairn_dot(cairn_unit(f.out_over(k)), cairn_sub(ball.x, f.corner[k]));
        if (out > 1e-9 * (extent + ball.radius))
            return false;
    }
    return true;
}

/* The point along the normal of the triangle, where that of the distance is a neighbour's: over the
 * triangle, or in a hollow beyond an edge. `distance` is that of the centre. */
ANYWHERE static inline bool meets_along(const Front &f, const Sphere &ball, double distance,
                                        Touch *to)
{
    cairn_vec3 on_ball = cairn_add_scaled(ball.x, -ball.radius, f.normal);
    to->normal = f.normal;
    to->gap = cairn_dot(f.normal, cairn_sub(ball.x, f.corner[0])) - ball.radius;
    if (!(to->gap <= ball.margin))
        return false;
    bool met = distance <= ball.radius || to->gap >= 0 ||
               (f.sunk > 0 && !f.is_nearer_to_neighbour(on_ball));
    met = met && is_over(f, ball);
    for (int k = 0; k < 3 && !met; k++)
        met = is_in_hollow(f, k, on_ball, ball.margin);
    return met;
}

static constexpr double EDGE_ON = 0.02; /* rad: seen so, a face has no inside */

/* Where a ball meets one triangle: at one point at most. */
ANYWHERE static inline bool meets_face(const Wall &w, int32_t face, const Sphere &ball, Touch *to)
{
    Front f = front_of(w, face);
    if (!turn_to(ball, &f))
        return false;
    cairn_vec3 away = away_from(f, ball.x);
    double distance = cairn_norm(away), most = ball.margin + ball.radius;
    if (distance > most + 2 * f.sunk)
        return false;
    cairn_vec3 n = distance > 0 ? cairn_scale(1 / distance, away) : f.normal;
    to->part = cairn_pile_part{ w.is.over, w.surface.patch[face], face };
    if (is_own_normal(f, n)) {
        to->normal = n;
        to->gap = distance - ball.radius;
        to->part.feature = fabs(cairn_dot(n, f.normal)) > EDGE_ON ? w.is.over : 0;
        return distance <= most;
    }
    /* the way out leads to the other side of a sheet: over its edge, to the neighbour */
    if (f.two_sided && cairn_dot(n, f.normal) < 0)
        return false;
    return meets_along(f, ball, distance, to);
}

/* Calls f(touch) for the points where a ball meets the faces near it: those with boxes within
 * `near` of its surface. */
template <class F>
FOR_DEVICE static inline void each_face_met(const Wall &w, const Sphere &ball, double near, F f)
{
    const Surface &s = w.surface;
    int32_t stack[TREE_DEPTH + 1];
    int top = 0;
    double half = ball.radius + near;
    stack[top++] = 0;
    while (top > 0) {
        int32_t k = stack[--top], leaf = k - (s.leaves - 1);
        if (!s.node[k].meets(ball.x, half))
            continue;
        if (leaf < 0) { /* one sibling waits at each level */
            stack[top++] = 2 * k + 2;
            stack[top++] = 2 * k + 1;
            continue;
        }
        for (int i = leaf * LEAF_FACES; i < (leaf + 1) * LEAF_FACES && i < s.faces; i++) {
            Touch touch;
            if (s.box(s.order[i]).meets(ball.x, half) && meets_face(w, s.order[i], ball, &touch))
                f(touch);
        }
    }
}

/* m: the distance of a point from a solid cylinder about `axis`, negative inside. */
ANYWHERE static inline double solid_cylinder_distance(const cairn_pile_wall &w, cairn_vec3 d,
                                                      cairn_vec3 *normal)
{
    double z = cairn_dot(d, w.axis), up = z < 0 ? -1 : 1;
    cairn_vec3 radial = cairn_add_scaled(d, -z, w.axis);
    double length = cairn_norm(radial), above = fabs(z) - 0.5 * w.height, out = length - w.radius;
    cairn_vec3 e = length > 0 ? cairn_scale(1 / length, radial) : cairn_perpendicular(w.axis);
    if (above > 0 && out > 0) { /* beyond the rim */
        double distance = sqrt(above * above + out * out);
        *normal = cairn_add_scaled(cairn_scale(up * above / distance, w.axis), out / distance, e);
        return distance;
    }
    bool cap = above > out;
    *normal = cap ? cairn_scale(up, w.axis) : e;
    return cap ? above : out;
}

/* How many points a wall has that is no surface: balls may touch it at each of them. */
ANYWHERE static inline int points_of(const Wall &w)
{
    return w.is.kind == CAIRN_WALL_CONTAINER ? 6 : w.is.kind <= CAIRN_WALL_FUNNEL ? 3 : 1;
}

/* The distance of the centre from a solid. */
ANYWHERE static inline double solid_distance(const Wall &w, cairn_vec3 d, cairn_vec3 *normal)
{
    const cairn_pile_wall &is = w.is;
    if (is.kind == CAIRN_WALL_CYLINDER)
        return solid_cylinder_distance(is, d, normal);
    if (is.kind == CAIRN_WALL_CAPSULE) {
        double t = cairn_clamped(cairn_dot(d, is.axis), 0.5 * is.height);
        cairn_vec3 away = cairn_add_scaled(d, -t, is.axis);
        double distance = cairn_norm(away);
        *normal = distance > 0 ? cairn_scale(1 / distance, away) : cairn_perpendicular(is.axis);
        return distance - is.radius;
    }
    cairn_vec3 n;
    double distance = cairn_box_distance(cairn_rotate_back(is.q, d), is.half, 3, &n);
    *normal = cairn_rotate(is.q, n);
    return distance - is.rounding;
}

/* The distance of the centre from point k of a wall, with its feature. */
ANYWHERE static inline double point_distance(const Wall &w, const cairn_revolution &s, int k,
                                             Touch *to)
{
    const cairn_pile_wall &is = w.is;
    to->part = cairn_pile_part{ k, -1, -1 };
    switch (is.kind) {
    case CAIRN_WALL_TUBE:
        return cairn_tube_distance(&s, k, is.radius, &to->normal);
    case CAIRN_WALL_CONE:
        return cairn_cone_distance(&s, k, is.sine, is.cosine, &to->normal);
    case CAIRN_WALL_FUNNEL:
        return cairn_funnel_distance(&s, k, is.radius, is.top, is.height, &to->normal);
    case CAIRN_WALL_CONTAINER:
        to->part.feature = (k << 24) + 1;
        to->normal = cairn_scale(k % 2 ? -1 : 1, w.axes[k / 2]);
        return cairn_dot(s.d, to->normal) + (k / 2 == 0   ? is.half.x
                                             : k / 2 == 1 ? is.half.y
                                                          : is.half.z);
    default:
        to->part.feature = is.kind == CAIRN_WALL_CYLINDER ? is.over : 0;
        return solid_distance(w, s.d, &to->normal);
    }
}

/* Calls f(touch) for every point where a ball meets a wall within its margin; `near`: how far from
 * the ball triangles are looked for. */
template <class F>
FOR_DEVICE static inline void each_touch(const Wall &w, const Sphere &ball, double near, F f)
{
    if (w.is.kind == CAIRN_WALL_SURFACE) {
        each_face_met(w, ball, near, f);
        return;
    }
    cairn_revolution s;
    cairn_vec3 d = cairn_sub(ball.x, w.is.x);
    s.d = d;
    if (w.is.kind <= CAIRN_WALL_FUNNEL)
        s = cairn_revolution_of(w.is.axis, d, false);
    for (int k = 0; k < points_of(w); k++) {
        Touch touch;
        touch.gap = point_distance(w, s, k, &touch) - ball.radius;
        if (touch.gap <= ball.margin)
            f(touch);
    }
}

/* ---- points that several triangles have ------------------------------------------------------ */

/* The order of the points of one ball. */
ANYWHERE static inline bool comes_before(const Touch &a, const Touch &b)
{
    if (a.wall != b.wall)
        return a.wall < b.wall;
    if (a.part.patch != b.part.patch)
        return a.part.patch < b.part.patch;
    return a.part.feature != b.part.feature ? a.part.feature < b.part.feature
                                            : a.part.face < b.part.face;
}

/* Whether two triangles of one wall have the same point, at their common edge: as touch.c. */
ANYWHERE static inline bool are_same(const Touch &a, const Touch &b, const Sphere &ball)
{
    double turned = cairn_norm(cairn_sub(a.normal, b.normal));
    double at = cairn_norm(cairn_add_scaled(ball.x, -ball.radius, b.normal));
    double size = 1e-9 * (fabs(b.gap) + at);
    return a.wall == b.wall && a.part.face >= 0 && a.part.feature == b.part.feature &&
           turned <= 1e-9 && fabs(a.gap - b.gap) <= size && ball.radius * turned <= size;
}

/* Sorts the points of a ball and leaves out those that repeat others; returns how many are left. A
 * flat region of a surface has one point, so nothing more is to be merged. */
ANYWHERE static inline int32_t merge_touches(Touch *list, int32_t count, const Sphere &ball)
{
    int32_t kept = 0;
    for (int32_t i = 1; i < count; i++) {
        Touch own = list[i];
        int32_t at = i;
        for (; at > 0 && comes_before(own, list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = own;
    }
    for (int32_t i = 0; i < count; i++) {
        bool repeated = false;
        for (int32_t k = 0; k < kept && !repeated; k++)
            repeated = are_same(list[k], list[i], ball);
        if (!repeated)
            list[kept++] = list[i];
    }
    return kept;
}

#endif
