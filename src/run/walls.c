/* run_walls.c - see run_walls.h. */
#include "io/run_walls.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/vec.h"

enum { SECTORS = 64, RINGS = 32, MOST_CORNERS = 64 };

/* A wall in world coordinates. */
typedef struct barrier {
    cairn_shape shape;
    cairn_vec3 origin, axis; /* m, unit           */
    cairn_quat q;
    int32_t index; /* row in /bodies    */
    int32_t slot;  /* index in the world */
} barrier;

/* What drawing needs. */
typedef struct drawing {
    cairn_run_walls *walls;
    const barrier *barriers;
    size_t count;
    int dimension;
    const cairn_bodies *bodies;
} drawing;

/* Some unit vector at right angles to the unit vector a; in the plane z = 0 when a is. */
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

/* A circle of given radius about a unit axis: the half extents are r sqrt(1 - a_i^2). */
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

/* Corner k of the box that a container is, bits of k: x, y, z. */
static cairn_vec3 box_corner(const barrier *b, int k)
{
    cairn_vec3 share = { k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, k & 4 ? 0.5 : -0.5 };
    return cairn_add(b->origin, cairn_rotate(b->q, cairn_times(share, b->shape.size)));
}

static cairn_status include_polygon(void *context, const cairn_vec3 *corners, int count,
                                    bool closed)
{
    (void)closed;
    for (int k = 0; k < count; k++)
        include_ball(context, corners[k], 0);
    return CAIRN_OK;
}

/* A bounded body of any shape. */
static void include_body(cairn_run_box *box, const drawing *d, int32_t slot)
{
    cairn_pose pose = cairn_bodies_shape_pose(d->bodies, slot);
    if (cairn_bodies_shape(d->bodies, slot)->kind == CAIRN_SHAPE_SPHERE)
        include_ball(box, pose.x, cairn_bodies_shape(d->bodies, slot)->radius);
    else if (cairn_shape_draw(cairn_bodies_shape(d->bodies, slot), d->dimension, &pose,
                              include_polygon, box) != CAIRN_OK)
        include_ball(box, pose.x, 0); /* without memory for its polygons */
}

/* What of a wall must be seen: the part nearest to `core`, the box of the bodies. */
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

/* Join the box so far with that of this frame. One that has to grow grows a bit more than needed,
 * so that it need not grow again in the next frame. */
static bool grow_box(const drawing *d, const cairn_run_frame *f)
{
    cairn_run_box *old = &d->walls->box, now = *old, core = { 0 };
    for (size_t row = 0; row < f->bodies; row++)
        if (!is_barrier(f, f->slot[row]))
            include_body(&core, d, f->slot[row]);
    if (core.filled) {
        include_ball(&now, core.low, 0);
        include_ball(&now, core.high, 0);
    }
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

/* ---- half-spaces: a great square (2D: segment) cut by the box and by the other half-spaces --- */

typedef struct polygon {
    cairn_vec3 corners[MOST_CORNERS];
    size_t count;
} polygon;

/* Keep the part with normal . (x - origin) >= 0 (Sutherland and Hodgman). A segment is a polygon
 * of two corners whose way back is left out. */
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

/* A great square (2D: segment) in the plane of a half-space, about the middle of the box. */
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

/* How far a point lies outside a container, m; <= 0 inside and for what is no container. */
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

/* Add a cell unless its middle lies outside another container. */
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

/* A straight profile turned about the axis: radius r at height h. */
typedef struct profile {
    double h[2], r[2];
} profile;

/* The point of the surface at a height share t in [0, 1] and an angle. */
static cairn_vec3 profile_point(const barrier *b, const profile *p, double t, double angle)
{
    cairn_vec3 e1 = across(b->axis), e2 = cairn_cross(b->axis, e1);
    double h = (1 - t) * p->h[0] + t * p->h[1], r = (1 - t) * p->r[0] + t * p->r[1];
    cairn_vec3 point = cairn_add_scaled(b->origin, h, b->axis);
    return cairn_add_scaled(cairn_add_scaled(point, r * cos(angle), e1), r * sin(angle), e2);
}

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

/* The profile of a barrier; one without end is cut to the heights of the box along its axis. */
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

static cairn_status draw_bounded(const drawing *d, const barrier *b)
{
    const cairn_polygons_of how = { d->dimension, b->index, d->dimension == 2 };
    return cairn_polygons_add_body(&d->walls->mesh, d->bodies, b->slot, &how);
}

/* The faces of a container box; in 2D its four sides. */
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

/* Whether a wall appeared, went, or may have moved. */
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

static cairn_status draw(const drawing *d, const cairn_run_frame *f, bool *changed)
{
    cairn_run_walls *w = d->walls;
    bool grew = grow_box(d, f);
    *changed = has_moved(f, d->count, w->count) || grew;
    w->count = d->count;
    if (!*changed)
        return CAIRN_OK;
    cairn_polygons_clear(&w->mesh);
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
