/* walls.c - walls and containers as surfaces, the polygons they are made of, and the shapes of
 * moving bodies.
 *
 * 1. The box of the scene: bodies, and the parts of walls next to them.
 * 2. Half-spaces become polygons, cut by the box and by each other.
 * 3. Surfaces of revolution become grids of cells; cells outside another container are left out.
 * 4. Everything else is drawn by its own shape. */
#include "run/drawing.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/vec.h"

/* Resolution of surfaces of revolution, around the axis and along it; and room for the corners of a
 * polygon while it is cut. A cut of a convex polygon adds at most one corner, so 64 is enough for
 * the box and 54 half-spaces; beyond that, corners are left out. */
enum { SECTORS = 64, RINGS = 32, MOST_CORNERS = 64 };

/* A wall in world coordinates. */
typedef struct barrier {
    cairn_shape shape;
    cairn_vec3 origin, axis; /* m, unit           */
    cairn_quat q;
    int32_t index; /* row in /bodies    */
    int32_t slot;  /* row in the world */
} barrier;

/* The arguments that all drawing functions share. */
typedef struct drawing {
    cairn_run_walls *walls;
    const barrier *barriers;
    size_t count;
    int dimension;
    const cairn_bodies *bodies;
} drawing;

/* A unit vector at right angles to the unit vector a; in the plane z = 0 if a is. Crossing with z
 * fails only near a = z, where x is used instead. */
static cairn_vec3 across(cairn_vec3 a)
{
    cairn_vec3 z = { 0, 0, 1 }, x = { 1, 0, 0 };
    return cairn_unit(cairn_cross(fabs(a.z) < 0.9 ? z : x, a));
}

static bool is_barrier(const cairn_run_frame *f, int32_t slot)
{
    return cairn_run_look_of(f, slot) == CAIRN_LOOK_WALL;
}

static size_t count_barriers(const cairn_run_frame *f)
{
    size_t count = 0;
    for (size_t row = 0; row < f->bodies; row++)
        count += is_barrier(f, f->slot[row]);
    return count;
}

/* `out` has room for count_barriers() entries. */
static void find_barriers(const cairn_run_frame *f, barrier *out)
{
    for (size_t row = 0; row < f->bodies; row++) {
        const cairn_shape *shape = cairn_bodies_shape(&f->world, f->slot[row]);
        if (is_barrier(f, f->slot[row]))
            *out++ = (barrier){ *shape,
                                f->state.x[row],
                                cairn_unit(cairn_rotate(f->state.q[row], shape->axis)),
                                f->state.q[row],
                                f->index[row],
                                f->slot[row] };
    }
}

/* ---- the box of the scene ------------------------------------------------------------------ */

/* Extend a box by a ball (m); with radius 0, by a point. */
static void include_ball(cairn_run_box *box, cairn_vec3 centre, double radius)
{
    const cairn_vec3 low = { centre.x - radius, centre.y - radius, centre.z - radius };
    const cairn_vec3 high = { centre.x + radius, centre.y + radius, centre.z + radius };
    if (!box->filled)
        *box = (cairn_run_box){ true, low, high };
    cairn_vec3 *l = &box->low, *h = &box->high;
    *l = (cairn_vec3){ fmin(l->x, low.x), fmin(l->y, low.y), fmin(l->z, low.z) };
    *h = (cairn_vec3){ fmax(h->x, high.x), fmax(h->y, high.y), fmax(h->z, high.z) };
}

/* Extend a box by a circle of the given radius (m) around a unit axis a: its half extents are r
 * sqrt(1 - a_i^2). fmax guards against an axis that is longer than 1 by rounding. */
static void include_circle(cairn_run_box *box, cairn_vec3 centre, cairn_vec3 axis, double radius)
{
    const cairn_vec3 half = { radius * sqrt(fmax(0, 1 - axis.x * axis.x)),
                              radius * sqrt(fmax(0, 1 - axis.y * axis.y)),
                              radius * sqrt(fmax(0, 1 - axis.z * axis.z)) };
    include_ball(box, cairn_add_scaled(centre, -1, half), 0);
    include_ball(box, cairn_add_scaled(centre, 1, half), 0);
}

static cairn_vec3 box_centre(const cairn_run_box *box)
{
    cairn_vec3 half = { box->low.x / 2, box->low.y / 2, box->low.z / 2 };
    return cairn_add_scaled(half, 0.5, box->high);
}

static double box_diagonal(const cairn_run_box *box)
{
    return cairn_norm(cairn_add_scaled(box->high, -1, box->low));
}

/* Corner k of a container box in world coordinates; bits 0, 1, 2 of k choose the side in x, y,
 * z. */
static cairn_vec3 box_corner(const barrier *b, int k)
{
    cairn_vec3 share = { k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5 };
    return cairn_add(b->origin, cairn_rotate(b->q, cairn_times(share, b->shape.size)));
}

/* Callback of cairn_shape_draw: extend the box by the corners of a polygon. */
static cairn_status include_polygon(void *context, const cairn_vec3 *corners, int count,
                                    bool closed)
{
    (void)closed;
    for (int k = 0; k < count; k++)
        include_ball(context, corners[k], 0);
    return CAIRN_OK;
}

/* Extend the box by a bounded body. A sphere is exact; other shapes are as large as their
 * polygons. */
static void include_body(cairn_run_box *box, const drawing *d, int32_t slot)
{
    cairn_pose pose = cairn_bodies_shape_pose(d->bodies, slot);
    if (cairn_bodies_shape(d->bodies, slot)->kind == CAIRN_SHAPE_SPHERE)
        include_ball(box, pose.x, cairn_bodies_shape(d->bodies, slot)->radius);
    else if (cairn_shape_draw(cairn_bodies_shape(d->bodies, slot), d->dimension, &pose,
                              include_polygon, box) != CAIRN_OK)
        /* out of memory for its polygons: at least its position is included */
        include_ball(box, pose.x, 0);
}

void cairn_run_box_add(cairn_run_box *box, const cairn_run_frame *f, int begin, int end)
{
    const drawing d = { .dimension = f->dimension, .bodies = &f->world };
    for (int slot = begin; slot < end; slot++)
        include_body(box, &d, slot);
}

void cairn_run_box_join(cairn_run_box *box, const cairn_run_box *other)
{
    if (!other->filled)
        return;
    include_ball(box, other->low, 0);
    include_ball(box, other->high, 0);
}

/* Extend the box by the part of a wall that must be visible: the part nearest to `core`, the box of
 * the other bodies. `along` is the height of the centre of `core` over the origin of the wall,
 * along its axis; `beside` is the point of the axis at that height. */
static void include_barrier(cairn_run_box *box, const cairn_run_box *core, const barrier *b,
                            const drawing *d)
{
    cairn_vec3 centre = core->filled ? box_centre(core) : b->origin;
    double along = cairn_dot(cairn_add_scaled(centre, -1, b->origin), b->axis);
    cairn_vec3 beside = cairn_add_scaled(b->origin, along, b->axis);
    switch (b->shape.kind) {
    case CAIRN_SHAPE_HALF_SPACE:
        include_ball(box, cairn_add_scaled(centre, -along, b->axis), 0);
        break;
    case CAIRN_SHAPE_INSIDE_CYLINDER:
        if (d->dimension == 2)
            include_ball(box, b->origin, b->shape.radius);
        else
            include_circle(box, beside, b->axis, b->shape.radius);
        break;
    case CAIRN_SHAPE_INSIDE_CONE:
        include_ball(box, b->origin, 0);
        break;
    case CAIRN_SHAPE_INSIDE_BOX:
        for (int k = 0; k < 8; k++)
            include_ball(box, box_corner(b, k), 0);
        break;
    case CAIRN_SHAPE_FUNNEL:
        include_circle(box, b->origin, b->axis, b->shape.bottom_radius);
        include_circle(box, cairn_add_scaled(b->origin, b->shape.height, b->axis), b->axis,
                       b->shape.top_radius);
        break;
    default:
        include_body(box, d, b->slot);
    }
}

/* Extend the box by this frame. A box that has to grow gets a margin of 5 % of its diagonal, so
 * that it need not grow again in the next frame: every growth redraws the walls and writes a new
 * file. Bodies come first, because unbounded walls are shown only near them. */
static bool grow_box(const drawing *d, const cairn_run_frame *f)
{
    cairn_run_box *old = &d->walls->box, now = *old, core = { 0 };
    for (size_t row = 0; row < f->bodies; row++)
        if (!is_barrier(f, f->slot[row]))
            include_body(&core, d, f->slot[row]);
    cairn_run_box_join(&core, &d->walls->others);
    cairn_run_box_join(&now, &core);
    for (size_t i = 0; i < d->count; i++)
        include_barrier(&now, &core, &d->barriers[i], d);
    bool grew = now.filled && (!old->filled || memcmp(&now.low, &old->low, sizeof now.low) != 0 ||
                               memcmp(&now.high, &old->high, sizeof now.high) != 0);
    if (grew) {
        double pad = 0.05 * box_diagonal(&now);
        cairn_vec3 more = { pad, pad, pad };
        *old = (cairn_run_box){ true, cairn_add_scaled(now.low, -1, more),
                                cairn_add_scaled(now.high, 1, more) };
    }
    return grew;
}

/* ---- half-spaces: a large square (2D: segment) cut by the box and by the other half-spaces --- */

typedef struct polygon {
    cairn_vec3 corners[MOST_CORNERS];
    size_t count;
} polygon;

/* Keep the part of a polygon with normal . (x - origin) >= 0 (Sutherland and Hodgman). A segment is
 * a polygon of two corners; its second edge, back to the first corner, is skipped. An edge from a
 * to b with distances da and db crosses the plane at a + da/(da - db) (b - a). */
static void cut(polygon *p, cairn_vec3 origin, cairn_vec3 normal)
{
    polygon kept = { .count = 0 };
    bool segment = p->count == 2;
    for (size_t i = 0; i < p->count; i++) {
        cairn_vec3 a = p->corners[i], b = p->corners[(i + 1) % p->count];
        double da = cairn_dot(cairn_add_scaled(a, -1, origin), normal);
        double db = cairn_dot(cairn_add_scaled(b, -1, origin), normal);
        if (da >= 0 && kept.count < MOST_CORNERS)
            kept.corners[kept.count++] = a;
        bool crosses = (da < 0) != (db < 0) && !(segment && i == 1);
        if (crosses && kept.count < MOST_CORNERS)
            kept.corners[kept.count++] =
                cairn_add_scaled(a, da / (da - db), cairn_add_scaled(b, -1, a));
    }
    *p = kept;
}

static void cut_by_box(polygon *p, const cairn_run_box *box, int dimension)
{
    static const cairn_vec3 plus[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    static const cairn_vec3 minus[3] = { { -1, 0, 0 }, { 0, -1, 0 }, { 0, 0, -1 } };
    for (int i = 0; i < dimension; i++) {
        cut(p, box->low, plus[i]);
        cut(p, box->high, minus[i]);
    }
}

/* A square (2D: segment) in the plane of a half-space, around the middle of the box. Its half width
 * is the diagonal of the box, so it covers the box whatever the orientation of the plane. */
static polygon great_polygon(const drawing *d, const barrier *b)
{
    static const double s[4] = { -1, 1, 1, -1 }, t[4] = { -1, -1, 1, 1 };
    double reach = box_diagonal(&d->walls->box);
    cairn_vec3 centre = box_centre(&d->walls->box);
    double along = cairn_dot(cairn_add_scaled(centre, -1, b->origin), b->axis);
    cairn_vec3 foot = cairn_add_scaled(centre, -along, b->axis);
    cairn_vec3 e1 = across(b->axis), e2 = cairn_cross(b->axis, e1);
    polygon p = { .count = d->dimension == 2 ? 2 : 4 };
    for (size_t i = 0; i < p.count; i++)
        p.corners[i] = cairn_add_scaled(foot, s[i] * reach, e1);
    for (size_t i = 0; i < p.count && p.count == 4; i++)
        p.corners[i] = cairn_add_scaled(p.corners[i], t[i] * reach, e2);
    return p;
}

/* Other half-spaces cut off the part behind them, so that the walls of a trough end where they
 * meet. */
static cairn_status draw_half_space(const drawing *d, const barrier *b)
{
    polygon p = great_polygon(d, b);
    cut_by_box(&p, &d->walls->box, d->dimension);
    for (size_t i = 0; i < d->count; i++) {
        const barrier *other = &d->barriers[i];
        if (other != b && other->shape.kind == CAIRN_SHAPE_HALF_SPACE)
            cut(&p, other->origin, other->axis);
    }
    return p.count > 1 ? cairn_polygons_add(&d->walls->mesh, p.corners, p.count, b->index)
                       : CAIRN_OK;
}

/* ---- surfaces of revolution ----------------------------------------------------------------- */

/* How far a point lies outside a container (m); for a cone, measured at right angles to its axis.
 * <= 0 inside, and 0 for shapes that do not cut others. */
static double outside(const barrier *b, int dimension, cairn_vec3 point)
{
    cairn_vec3 from = cairn_add_scaled(point, -1, b->origin);
    double along = cairn_dot(from, b->axis);
    double radial = cairn_norm(cairn_add_scaled(from, -along, b->axis));
    switch (b->shape.kind) {
    case CAIRN_SHAPE_HALF_SPACE:
        return -along;
    case CAIRN_SHAPE_INSIDE_CYLINDER:
        return (dimension == 2 ? cairn_norm(from) : radial) - b->shape.radius;
    case CAIRN_SHAPE_INSIDE_CONE:
        return radial - along * tan(b->shape.half_angle);
    default:
        return 0;
    }
}

/* Add a cell unless its middle lies outside another container. The slack keeps cells that touch the
 * other surface, as where a cylinder stands on its cone. Cells are kept or dropped as a whole, so
 * the edge is as coarse as the grid. */
static cairn_status add_visible(const drawing *d, const barrier *b, const cairn_vec3 *corners,
                                size_t count)
{
    double slack = 1e-6 * box_diagonal(&d->walls->box);
    cairn_vec3 middle = { 0, 0, 0 };
    for (size_t i = 0; i < count; i++)
        middle = cairn_add_scaled(middle, 1.0 / (double)count, corners[i]);
    for (size_t i = 0; i < d->count; i++)
        if (&d->barriers[i] != b && outside(&d->barriers[i], d->dimension, middle) > slack)
            return CAIRN_OK;
    return cairn_polygons_add(&d->walls->mesh, corners, count, b->index);
}

/* A straight profile that is rotated around the axis: radius r (m) at height h (m), at both
 * ends. */
typedef struct profile {
    double h[2], r[2];
} profile;

/* The point of the surface at a share t in [0, 1] of the height, and at an angle (rad). */
static cairn_vec3 profile_point(const barrier *b, const profile *p, double t, double angle)
{
    cairn_vec3 e1 = across(b->axis), e2 = cairn_cross(b->axis, e1);
    double h = (1 - t) * p->h[0] + t * p->h[1], r = (1 - t) * p->r[0] + t * p->r[1];
    cairn_vec3 point = cairn_add_scaled(b->origin, h, b->axis);
    return cairn_add_scaled(cairn_add_scaled(point, r * cos(angle), e1), r * sin(angle), e2);
}

/* One ring of cells. In 2D the angles 0 and pi give the two lines of a wedge. */
static cairn_status draw_ring(const drawing *d, const barrier *b, const profile *p, int ring)
{
    double low = (double)ring / RINGS, high = (double)(ring + 1) / RINGS;
    int sectors = d->dimension == 2 ? 2 : SECTORS; /* 2D: the two sides of a wedge */
    for (int k = 0; k < sectors; k++) {
        double from = 2 * M_PI * k / sectors, to = 2 * M_PI * (k + 1) / sectors;
        cairn_vec3 corners[4] = { profile_point(b, p, low, from), profile_point(b, p, high, from),
                                  profile_point(b, p, high, to), profile_point(b, p, low, to) };
        TRY(add_visible(d, b, corners, d->dimension == 2 ? 2 : 4));
    }
    return CAIRN_OK;
}

/* A cylinder in 2D: a circle of segments. */
static cairn_status draw_circle(const drawing *d, const barrier *b)
{
    double r = b->shape.radius;
    for (int k = 0; k < SECTORS; k++) {
        double from = 2 * M_PI * k / SECTORS, to = 2 * M_PI * (k + 1) / SECTORS;
        cairn_vec3 ends[2] = { { b->origin.x + r * cos(from), b->origin.y + r * sin(from), 0 },
                               { b->origin.x + r * cos(to), b->origin.y + r * sin(to), 0 } };
        TRY(add_visible(d, b, ends, 2));
    }
    return CAIRN_OK;
}

/* The profile of a barrier. An unbounded one is cut to the range of heights that the box has along
 * its axis, which is the projection of the box: middle +- sum |size_i a_i| / 2. A cone begins at
 * its apex, height 0. */
static profile profile_of(const drawing *d, const barrier *b)
{
    const cairn_run_box *box = &d->walls->box;
    cairn_vec3 size = cairn_add_scaled(box->high, -1, box->low);
    double middle = cairn_dot(cairn_add_scaled(box_centre(box), -1, b->origin), b->axis);
    double reach = fabs(size.x * b->axis.x) + fabs(size.y * b->axis.y) + fabs(size.z * b->axis.z);
    double low = middle - reach / 2, high = middle + reach / 2;
    double top = fmax(high, 0);
    switch (b->shape.kind) {
    case CAIRN_SHAPE_INSIDE_CONE:
        return (profile){ { 0, top }, { 0, top * tan(b->shape.half_angle) } };
    case CAIRN_SHAPE_FUNNEL:
        return (profile){ { 0, b->shape.height }, { b->shape.bottom_radius, b->shape.top_radius } };
    default:
        return (profile){ { low, high }, { b->shape.radius, b->shape.radius } };
    }
}

/* ---- all walls ------------------------------------------------------------------------------ */

/* In 2D bodies are drawn as outlines, since walls are lines there. */
static cairn_status draw_bounded(const drawing *d, const barrier *b)
{
    const cairn_polygons_of how = { d->dimension, b->index, d->dimension == 2 };
    return cairn_polygons_add_body(&d->walls->mesh, d->bodies, b->slot, &how);
}

/* The six faces of a container box; in 2D its four sides. Numbers are corners of box_corner(). */
static cairn_status draw_inside_box(const drawing *d, const barrier *b)
{
    static const int sides[4][2] = { { 0, 1 }, { 1, 3 }, { 3, 2 }, { 2, 0 } };
    static const int faces[6][4] = { { 0, 1, 3, 2 }, { 4, 6, 7, 5 }, { 0, 4, 5, 1 },
                                     { 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 1, 5, 7, 3 } };
    cairn_vec3 corners[4];
    for (int face = 0; face < (d->dimension == 2 ? 4 : 6); face++) {
        int count = d->dimension == 2 ? 2 : 4;
        for (int k = 0; k < count; k++)
            corners[k] = box_corner(b, count == 2 ? sides[face][k] : faces[face][k]);
        TRY(cairn_polygons_add(&d->walls->mesh, corners, (size_t)count, b->index));
    }
    return CAIRN_OK;
}

static cairn_status draw_revolution(const drawing *d, const barrier *b)
{
    profile p = profile_of(d, b);
    for (int ring = 0; ring < RINGS; ring++)
        TRY(draw_ring(d, b, &p, ring));
    return CAIRN_OK;
}

static cairn_status draw_barrier(const drawing *d, const barrier *b)
{
    switch (b->shape.kind) {
    case CAIRN_SHAPE_HALF_SPACE:
        return draw_half_space(d, b);
    case CAIRN_SHAPE_INSIDE_CYLINDER:
        return d->dimension == 2 ? draw_circle(d, b) : draw_revolution(d, b);
    case CAIRN_SHAPE_INSIDE_CONE:
    case CAIRN_SHAPE_FUNNEL:
        return draw_revolution(d, b);
    case CAIRN_SHAPE_INSIDE_BOX:
        return draw_inside_box(d, b);
    default:
        return draw_bounded(d, b);
    }
}

/* Whether a wall appeared, disappeared, or may have moved. Walls that are not fixed (driven
 * containers, for example) count as moved in every frame. */
static bool has_moved(const cairn_run_frame *f, size_t count, size_t before)
{
    for (size_t row = 0; row < f->fresh; row++)
        if (is_barrier(f, f->fresh_slot[row]))
            return true;
    for (size_t row = 0; row < f->bodies; row++)
        if (is_barrier(f, f->slot[row]) && f->world.motion[f->slot[row]] != CAIRN_MOTION_FIXED)
            return true;
    return count != before;
}

/* Polygons are drawn again only if something changed; otherwise those of the last frame stay. */
static cairn_status draw(const drawing *d, const cairn_run_frame *f, bool *changed)
{
    cairn_run_walls *w = d->walls;
    bool grew = grow_box(d, f);
    *changed = has_moved(f, d->count, w->count) || grew;
    w->count = d->count;
    if (!*changed)
        return CAIRN_OK;
    cairn_polygons_clear(&w->mesh);
    /* all walls, since each may cut others */
    for (size_t i = 0; i < d->count; i++)
        TRY(draw_barrier(d, &d->barriers[i]));
    return CAIRN_OK;
}

cairn_status cairn_run_walls_draw(cairn_run_walls *walls, const cairn_run_frame *frame,
                                  bool *changed)
{
    size_t count = count_barriers(frame);
    barrier *barriers = cairn_memory_zeroed(count, sizeof *barriers);
    if (count > 0 && !barriers)
        return CAIRN_NO_MEMORY;
    find_barriers(frame, barriers);
    drawing d = { walls, barriers, count, frame->dimension, &frame->world };
    cairn_status status = draw(&d, frame, changed);
    cairn_memory_free(barriers);
    return status;
}

void cairn_run_walls_destroy(cairn_run_walls *walls)
{
    cairn_polygons_destroy(&walls->mesh);
    *walls = (cairn_run_walls){ 0 };
}

/* ---- polygons ---------------------------------------------------------------------------- */

void cairn_polygons_clear(cairn_polygons *p)
{
    p->points = p->corners = p->cells = 0;
}

void cairn_polygons_destroy(cairn_polygons *p)
{
    cairn_memory_free(p->x);
    cairn_memory_free(p->connectivity);
    cairn_memory_free(p->offsets);
    cairn_memory_free(p->body);
    *p = (cairn_polygons){ 0 };
}

/* Room for one more cell with `count` corners. Each pointer is stored even if reserving fails: the
 * old block stays valid and owned. */
static cairn_status make_room(cairn_polygons *p, size_t count)
{
    void *x = p->x, *connectivity = p->connectivity, *offsets = p->offsets, *bodies = p->body;
    cairn_status status = cairn_memory_reserve(&x, &p->x_room, p->points + count, sizeof *p->x);
    p->x = x;
    TRY(status);
    status = cairn_memory_reserve(&connectivity, &p->connectivity_room, p->corners + count,
                                  sizeof *p->connectivity);
    p->connectivity = connectivity;
    TRY(status);
    status = cairn_memory_reserve(&offsets, &p->offsets_room, p->cells + 1, sizeof *p->offsets);
    p->offsets = offsets;
    TRY(status);
    status = cairn_memory_reserve(&bodies, &p->body_room, p->cells + 1, sizeof *p->body);
    p->body = bodies;
    return status;
}

cairn_status cairn_polygons_add(cairn_polygons *p, const cairn_vec3 *corners, size_t count,
                                int32_t body)
{
    TRY(make_room(p, count));
    for (size_t i = 0; i < count; i++) {
        p->connectivity[p->corners++] = (int64_t)p->points;
        p->x[p->points++] = corners[i];
    }
    p->offsets[p->cells] = (int64_t)p->corners;
    p->body[p->cells++] = body;
    return CAIRN_OK;
}

/* Context of the callback `add`. */
typedef struct target {
    cairn_polygons *polygons;
    int32_t body;
    bool outlined;
} target;

/* Callback of cairn_shape_draw. A closed outline repeats its first corner at the end, since VTK
 * does not close lines. */
static cairn_status add(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    const target *t = context;
    cairn_polygons *p = t->polygons;
    size_t first = p->corners;
    TRY(cairn_polygons_add(p, corners, (size_t)count, t->body));
    if (!t->outlined || !closed)
        return CAIRN_OK;
    TRY(make_room(p, 1));
    p->connectivity[p->corners++] = p->connectivity[first];
    p->offsets[p->cells - 1] = (int64_t)p->corners;
    return CAIRN_OK;
}

cairn_status cairn_polygons_add_body(cairn_polygons *polygons, const cairn_bodies *bodies,
                                     int index, const cairn_polygons_of *how)
{
    target t = { polygons, how->body, how->outlined };
    cairn_pose pose = cairn_bodies_shape_pose(bodies, index);
    return cairn_shape_draw(cairn_bodies_shape(bodies, index), how->dimension, &pose, add, &t);
}

/* ---- solids ------------------------------------------------------------------------------ */

/* Whether two shapes are equal. The members after `kind` are doubles and a pointer without padding,
 * so their bytes can be compared. Geometry is compared by address. Shapes that differ in bits only
 * (0 and -0) are drawn twice, which does no harm. */
static bool is_same(const cairn_shape *a, const cairn_shape *b)
{
    const size_t first = offsetof(cairn_shape, radius);
    return a->kind == b->kind &&
           memcmp((const char *)a + first, (const char *)b + first, sizeof *a - first) == 0;
}

/* A point of a shape that is being drawn, and its place in units of 1e-9 of the shape, in which
 * corners that several polygons compute agree. */
typedef struct corner {
    int64_t place[3];
    size_t point;
} corner;

static int compare_corners(const void *a, const void *b)
{
    const corner *p = a, *q = b;
    int order = memcmp(p->place, q->place, sizeof p->place);
    return order ? order : (p->point > q->point) - (p->point < q->point);
}

/* Let the cells from `from` on share their corners: equal points become the first of them. `order`
 * and `number` have an entry for each of these points. */
static void share_corners(cairn_polygons *p, const cairn_run_solid *from, corner *order,
                          int64_t *number)
{
    size_t first = from->points, count = p->points - first, kept = 0;
    double unit = 0;
    for (size_t i = first; i < p->points; i++)
        unit = fmax(unit, 1e-9 * cairn_norm(p->x[i]));
    for (size_t i = 0; i < count; i++) {
        cairn_vec3 x = p->x[first + i];
        order[i] = (corner){ { llround(x.x / unit), llround(x.y / unit), llround(x.z / unit) }, i };
    }
    qsort(order, count, sizeof *order, compare_corners);
    for (size_t i = 0, same = 0; i < count; i++) {
        same = memcmp(order[i].place, order[same].place, sizeof order->place) == 0 ? same : i;
        number[order[i].point] = (int64_t)order[same].point;
    }
    for (size_t i = 0; i < count; i++) {
        bool is_new = number[i] == (int64_t)i;
        number[i] = is_new ? (int64_t)kept : number[number[i]];
        if (is_new)
            p->x[first + kept++] = p->x[first + i];
    }
    p->points = first + kept;
    for (size_t i = from->corners; i < p->corners; i++)
        p->connectivity[i] = number[p->connectivity[i] - (int64_t)first] + (int64_t)first;
}

/* On failure polygons of the shape may be left over; the run ends then. */
static cairn_status draw_solid(cairn_run_solids *s, const cairn_shape *shape, int dimension)
{
    static const cairn_pose here = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
    cairn_polygons *mesh = &s->mesh;
    const cairn_run_solid from = { *shape, mesh->points, mesh->corners, mesh->cells };
    target t = { mesh, (int32_t)s->count, false };
    TRY(cairn_shape_draw(shape, dimension, &here, add, &t));
    size_t count = mesh->points - from.points;
    corner *order = cairn_memory_zeroed(count + 1, sizeof *order);
    int64_t *number = cairn_memory_zeroed(count + 1, sizeof *number);
    cairn_status status = order && number ? CAIRN_OK : CAIRN_NO_MEMORY;
    if (status == CAIRN_OK) {
        share_corners(mesh, &from, order, number);
        s->items[s->count++] = from;
        s->items[s->count] = (cairn_run_solid){ *shape, mesh->points, mesh->corners, mesh->cells };
    }
    cairn_memory_free(order);
    cairn_memory_free(number);
    return status;
}

cairn_status cairn_run_solids_find(cairn_run_solids *s, const cairn_shape *shape, int dimension,
                                   size_t *number)
{
    /* searched from the end: bodies of one shape mostly follow each other */
    for (size_t i = s->count; i > 0; i--)
        if (is_same(&s->items[i - 1].shape, shape)) {
            *number = i - 1;
            return CAIRN_OK;
        }
    void *block = s->items;
    cairn_status status = cairn_memory_reserve(&block, &s->room, s->count + 2, sizeof *s->items);
    s->items = block;
    TRY(status);
    *number = s->count;
    return draw_solid(s, shape, dimension);
}

void cairn_run_solids_destroy(cairn_run_solids *s)
{
    cairn_memory_free(s->items);
    cairn_polygons_destroy(&s->mesh);
    *s = (cairn_run_solids){ .count = 0 };
}
