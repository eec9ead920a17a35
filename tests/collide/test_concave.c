/* test_concave.c - every bounded shape against meshes, height fields, polylines and compounds, at
 * random poses, against brute force.
 *
 * A body starts apart from the wall and moves towards a point of it, never by more than its distance,
 * until it is as near as wanted: the distance is then known. Flat bodies and walls are lists of
 * triangles (2D: segments), whose distance is the least of all their corners and edges; of curved
 * bodies points of the surface are searched, so that the distance found is no smaller than the true
 * one. Facts: the least gap is that distance; none is found beyond the margin; a body that is moved
 * into the wall has a contact; points are on body and wall, or in a hollow in the plane of a face.
 *
 * CAIRN_RANDOM_POSES sets how many poses of each pair of kinds are tried, default 30; of two solids 60. */
#include "tests/collide/meetings.h"

enum { TRIANGLES = 640, POOL = 6, STEPS = 12 };

/* A triangle; 2D a segment, or an end of a capsule: corners may coincide. */
typedef struct patch {
    cairn_vec3 corner[3];
    double rounding;
    cairn_vec3 centre;
    double radius; /* m: about the centre, holds it and its rounding */
} patch;

typedef struct patches {
    patch item[TRIANGLES];
    int count;
} patches;

/* Where two things are nearest. */
typedef struct nearest {
    double distance;
    cairn_vec3 on_a, on_b;
} nearest;

/* ---- surfaces as triangles --------------------------------------------------------------------- */

static void add_patch(patches *list, cairn_vec3 a, cairn_vec3 b, cairn_vec3 c, double rounding)
{
    CHECK(list->count < TRIANGLES);
    patch p = { .corner = { a, b, c }, .rounding = rounding };
    p.centre = cairn_scale(1.0 / 3, cairn_add(a, cairn_add(b, c)));
    for (int k = 0; k < 3; k++)
        p.radius = fmax(p.radius, brute_apart(p.corner[k], p.centre) + rounding);
    list->item[list->count++] = p;
}

/* Whether three corners (2D: two) lie in a plane that has all the others on one side. */
static bool is_outer(const brute_piece *p, int i, int j, int k, int dimension)
{
    cairn_vec3 e = cairn_sub(p->corner[j], p->corner[i]);
    cairn_vec3 n = dimension == 2 ? cairn_vec(e.y, -e.x, 0)
                                  : cairn_cross(e, cairn_sub(p->corner[k], p->corner[i]));
    if (!(cairn_norm(n) > 1e-12))
        return false;
    n = cairn_unit(n);
    double low = 0, high = 0;
    for (int c = 0; c < p->count; c++) {
        double above = cairn_dot(n, cairn_sub(p->corner[c], p->corner[i]));
        low = fmin(low, above);
        high = fmax(high, above);
    }
    return low > -1e-10 || high < 1e-10;
}

static void add_hull(const brute_piece *p, int dimension, patches *list)
{
    for (int i = 0; i < p->count; i++)
        for (int j = i + 1; j < p->count; j++) {
            if (dimension == 2 && is_outer(p, i, j, j, 2))
                add_patch(list, p->corner[i], p->corner[j], p->corner[j], p->rounding);
            for (int k = j + 1; k < p->count && dimension == 3; k++)
                if (is_outer(p, i, j, k, 3))
                    add_patch(list, p->corner[i], p->corner[j], p->corner[k], p->rounding);
        }
}

/* The flat pieces of a body. */
static void make_patches(const brute_body *b, patches *list)
{
    list->count = 0;
    for (int k = 0; k < b->count; k++) {
        const brute_piece *p = &b->piece[k];
        if (p->count == 1 || p->count == 2)
            add_patch(list, p->corner[0], p->corner[p->count - 1], p->corner[p->count - 1],
                      p->rounding);
        else if (!p->shape && p->count == 3)
            add_patch(list, p->corner[0], p->corner[1], p->corner[2], 0);
        else if (p->count > 2)
            add_hull(p, b->dimension, list);
    }
}

/* ---- distances --------------------------------------------------------------------------------- */

static void take_nearer(nearest *best, cairn_vec3 a, cairn_vec3 b)
{
    double distance = brute_apart(a, b);
    if (distance < best->distance)
        *best = (nearest){ distance, a, b };
}

/* Two segments: where their lines are nearest, if that is within both; else an end, which is looked
 * at with the corners. */
static void cross_edges(const cairn_vec3 p[2], const cairn_vec3 q[2], nearest *best)
{
    cairn_vec3 u = cairn_sub(p[1], p[0]), v = cairn_sub(q[1], q[0]), w = cairn_sub(p[0], q[0]);
    double uu = cairn_dot(u, u), vv = cairn_dot(v, v), uv = cairn_dot(u, v);
    double uw = cairn_dot(u, w), vw = cairn_dot(v, w), square = uu * vv - uv * uv;
    if (!(square > 1e-14 * uu * vv))
        return;
    double s = (uv * vw - vv * uw) / square, t = (uu * vw - uv * uw) / square;
    if (s >= 0 && s <= 1 && t >= 0 && t <= 1)
        take_nearer(best, cairn_add_scaled(p[0], s, u), cairn_add_scaled(q[0], t, v));
}

static nearest between_patches(const patch *p, const patch *q)
{
    nearest best = { .distance = INFINITY };
    for (int i = 0; i < 3; i++) {
        take_nearer(&best, p->corner[i], brute_on_triangle(q->corner, p->corner[i]));
        take_nearer(&best, brute_on_triangle(p->corner, q->corner[i]), q->corner[i]);
        for (int j = 0; j < 3; j++) {
            const cairn_vec3 one[2] = { p->corner[i], p->corner[(i + 1) % 3] };
            const cairn_vec3 two[2] = { q->corner[j], q->corner[(j + 1) % 3] };
            cross_edges(one, two, &best);
        }
    }
    cairn_vec3 n = cairn_unit(cairn_sub(best.on_a, best.on_b));
    best.on_a = cairn_add_scaled(best.on_a, -p->rounding, n);
    best.on_b = cairn_add_scaled(best.on_b, q->rounding, n);
    best.distance -= p->rounding + q->rounding;
    return best;
}

static void from_patch(const patch *p, const patches *wall, nearest *best)
{
    for (int k = 0; k < wall->count; k++) {
        const patch *q = &wall->item[k];
        if (brute_apart(p->centre, q->centre) - p->radius - q->radius >= best->distance)
            continue;
        nearest found = between_patches(p, q);
        *best = found.distance < best->distance ? found : *best;
    }
}

/* The point where the ray from the centre of a curved piece leaves it. */
static cairn_vec3 surface_point(const brute_piece *p, cairn_vec3 d)
{
    const cairn_shape *s = p->shape;
    double z = cairn_dot(d, p->axis), across = sqrt(fmax(0, 1 - z * z)), length;
    if (s->kind == CAIRN_SHAPE_CYLINDER) {
        length = fmin(0.5 * s->height / fabs(z), s->radius / across);
    } else if (s->kind == CAIRN_SHAPE_CONE) {
        /* the side: h across' + r z' = 3/4 r h in the meridian, and the base at -h/4 */
        double side = s->height * across + s->radius * z;
        length = side > 0 ? 0.75 * s->radius * s->height / side : INFINITY;
        length = fmin(length, z < 0 ? 0.25 * s->height / -z : INFINITY);
    } else {
        cairn_vec3 q = cairn_rotate_back(p->pose.q, d), a = s->semi_axes;
        bool oval = s->kind == CAIRN_SHAPE_ELLIPSOID;
        double n = oval ? 2 : s->exponent, k = oval ? 2 : brute_exponent_z(s);
        length = 1 / brute_norm(brute_norm(q.x / a.x, q.y / a.y, n), a.z > 0 ? q.z / a.z : 0, k);
    }
    return cairn_add_scaled(p->pose.x, length, d);
}

/* Point p of a curved body against all of the wall. */
static nearest from_point(cairn_vec3 p, const patches *wall)
{
    nearest best = { .distance = INFINITY };
    for (int k = 0; k < wall->count; k++) {
        const patch *q = &wall->item[k];
        if (brute_apart(p, q->centre) - q->radius >= best.distance)
            continue;
        nearest found = { .distance = INFINITY };
        take_nearer(&found, p, brute_on_triangle(q->corner, p));
        cairn_vec3 n = cairn_unit(cairn_sub(found.on_a, found.on_b));
        found.on_b = cairn_add_scaled(found.on_b, q->rounding, n);
        found.distance -= q->rounding;
        best = found.distance < best.distance ? found : best;
    }
    return best;
}

/* The best of many directions, then smaller and smaller turns of it. */
static void from_curved(const brute_piece *p, int dimension, const patches *wall, nearest *best,
                        uint64_t *state)
{
    cairn_vec3 d = { 1, 0, 0 };
    nearest mine = { .distance = INFINITY };
    for (int k = 0; k < 60; k++) {
        cairn_vec3 next = draw_unit(state, dimension);
        nearest found = from_point(surface_point(p, next), wall);
        d = found.distance < mine.distance ? next : d;
        mine = found.distance < mine.distance ? found : mine;
    }
    for (double step = 0.3; step > 1e-8;) {
        double before = mine.distance;
        for (int k = 0; k < 6; k++) {
            cairn_vec3 next = cairn_unit(cairn_add_scaled(d, step, draw_unit(state, dimension)));
            nearest found = from_point(surface_point(p, next), wall);
            d = found.distance < mine.distance ? next : d;
            mine = found.distance < mine.distance ? found : mine;
        }
        step *= mine.distance < before ? 1.2 : 0.6;
    }
    *best = mine.distance < best->distance ? mine : *best;
}

/* ---- a body on its way to the wall --------------------------------------------------------------- */

typedef struct approach {
    meeting *m;
    patches body, wall;
    brute_body *solid; /* the wall as pieces */
    bool curved;       /* the distance of the body is found by search          */
    uint64_t *state;
} approach;

static nearest distance_now(approach *w)
{
    nearest best = { .distance = INFINITY };
    meeting *m = w->m;
    m->a.shape = &m->body;
    brute_make(&m->a, m->dimension, m->brute);
    make_patches(m->brute, &w->body);
    for (int k = 0; k < w->body.count; k++)
        from_patch(&w->body.item[k], &w->wall, &best);
    w->curved = false;
    for (int k = 0; k < m->brute->count; k++)
        if (m->brute->piece[k].count == 0) {
            from_curved(&m->brute->piece[k], m->dimension, &w->wall, &best, w->state);
            w->curved = true;
        }
    return best;
}

/* Anywhere apart from the wall: false, if that is not found. */
static bool start_apart(approach *w)
{
    meeting *m = w->m;
    bool within = m->wall.kind == CAIRN_SHAPE_POLYLINE && m->wall.radius < 0;
    m->a.q = draw_turn(w->state, m->dimension);
    if (draw(w->state, 0, 1) < 0.4) { /* edges and faces that are almost parallel */
        cairn_vec3 turn = m->dimension == 2 ? cairn_vec(0, 0, 1) : draw_unit(w->state, 3);
        turn = cairn_scale(pow(10, draw(w->state, -9, -1)), turn);
        m->a.q = cairn_quat_multiply(cairn_quat_exp(turn), m->b.q);
    }
    cairn_vec3 d = draw_unit(w->state, m->dimension);
    if (m->wall.kind == CAIRN_SHAPE_HEIGHT_FIELD)
        d = cairn_vec(0.5 * d.x, 0.5 * d.y, 0.6);
    double far = cairn_shape_extent(&m->wall) + m->size + 0.1;
    m->a.x = cairn_add_scaled(m->b.x, within ? 0 : far, cairn_rotate(m->b.q, d));
    return !within || distance_now(w).distance > 0.02;
}

/* Towards a random corner of the wall, until the distance is `wanted` or less. */
static nearest go_near(approach *w, double wanted)
{
    meeting *m = w->m;
    const patch *aim = &w->wall.item[cairn_random_next(w->state) % (uint64_t)w->wall.count];
    nearest now = distance_now(w);
    for (int k = 0; k < STEPS && now.distance > wanted; k++) {
        cairn_vec3 way = cairn_unit(cairn_sub(aim->corner[0], m->a.x));
        m->a.x = cairn_add_scaled(m->a.x, 0.95 * (now.distance - 0.5 * wanted), way);
        now = distance_now(w);
    }
    return now;
}

/* ---- facts --------------------------------------------------------------------------------------- */

static double least_gap(const meeting *m)
{
    double least = INFINITY;
    for (int k = 0; k < m->count; k++)
        least = fmin(least, m->contact[k].gap);
    return least;
}

/* What docs/collision.md promises for a point's place, of the size of both. */
static double promised(const approach *w)
{
    return (w->curved ? 2e-5 : 4e-9) * (w->m->size + cairn_shape_extent(&w->m->wall));
}

/* Unit normal of a triangle (2D: of a segment) that looks along `way`. */
static cairn_vec3 normal_along(const patch *p, int dimension, cairn_vec3 way)
{
    cairn_vec3 e = cairn_sub(p->corner[1], p->corner[0]);
    cairn_vec3 n =
        cairn_unit(dimension == 2 ? cairn_vec(e.y, -e.x, 0)
                                  : cairn_cross(e, cairn_sub(p->corner[2], p->corner[0])));
    return cairn_dot(n, way) < 0 ? cairn_scale(-1, n) : n;
}

/* Whether the second triangle has an edge of the first (2D: an end) and rises from its plane. */
static bool rises(const patch *from, const patch *to, int dimension, cairn_vec3 n)
{
    int shared = 0;
    double most = 0;
    for (int i = 0; i < dimension; i++) {
        for (int k = 0; k < dimension; k++)
            shared += brute_apart(from->corner[i], to->corner[k]) < 1e-12;
        most = fmax(most, cairn_dot(n, cairn_sub(to->corner[i], from->corner[0])));
    }
    return shared == dimension - 1 && most > 1e-9;
}

static bool lies_over(const patch *p, int dimension, cairn_vec3 x)
{
    cairn_vec3 way = cairn_sub(x, brute_on_triangle(p->corner, x));
    cairn_vec3 n = normal_along(p, dimension, way);
    return cairn_norm(cairn_sub(way, cairn_scale(cairn_dot(n, way), n))) <= 1e-6;
}

/* In a hollow a face meets what lies over a neighbour that rises from it: b is then in its plane,
 * beyond the edge. */
static bool is_in_hollow(const approach *w, const cairn_witness *c, double tolerance)
{
    int d = w->m->dimension;
    for (int i = 0; i < w->wall.count; i++) {
        const patch *face = &w->wall.item[i];
        cairn_vec3 n = normal_along(face, d, c->normal);
        double off = fabs(cairn_dot(n, cairn_sub(c->on_b, face->corner[0])));
        if (off > tolerance || cairn_norm(cairn_sub(n, c->normal)) > 1e-9)
            continue;
        for (int k = 0; k < w->wall.count; k++)
            if (rises(face, &w->wall.item[k], d, n) && lies_over(&w->wall.item[k], d, c->on_a))
                return true;
    }
    return false;
}

static bool check_points(const approach *w, verdicts *v)
{
    const meeting *m = w->m;
    double tolerance = promised(w);
    if (!meeting_points(m, v, tolerance))
        return false;
    for (int k = 0; k < m->count; k++) {
        double off = brute_off_surface(w->solid, m->contact[k].on_b);
        if (off > tolerance && is_in_hollow(w, &m->contact[k], tolerance))
            continue;
        if (!meeting_fact(m, v, off <= tolerance, "b is off the wall", off, 0))
            return false;
    }
    return true;
}

static void check_apart(const approach *w, const nearest *now, verdicts *v)
{
    const meeting *m = w->m;
    double least = least_gap(m), slack = promised(w);
    if (!check_points(w, v))
        return;
    if (now->distance > m->margin + slack) {
        meeting_fact(m, v, w->curved || m->count == 0, "contact out of reach", least,
                     now->distance);
        return;
    }
    bool known = w->curved ? least <= now->distance + slack : fabs(least - now->distance) <= slack;
    meeting_fact(m, v, known || now->distance > m->margin - slack, "least gap", least,
                 now->distance);
}

static bool have_faces(const meeting *m)
{
    return m->wall.kind != CAIRN_SHAPE_COMPOUND || m->body.kind == CAIRN_SHAPE_MESH ||
           m->body.kind == CAIRN_SHAPE_POLYLINE;
}

/* Moved into the wall by `depth` along the way out: there is a contact; between convex parts none deeper. */
static void check_inside(const approach *w, double depth, verdicts *v)
{
    const meeting *m = w->m;
    double least = least_gap(m), slack = promised(w);
    if (!check_points(w, v))
        return;
    if (meeting_fact(m, v, least <= slack, "a body in the wall has a contact", least, -depth))
        /* past a sharp edge a triangle pushes along its own normal, not along the way out */
        meeting_fact(m, v, have_faces(m) || least >= -1.001 * depth - slack,
                     "not deeper than the way out", least, -depth);
}

/* Whether a body that moves on is in the wall: a point passes a sharp edge beside it, and an open mesh
 * has no inside. */
static bool goes_in(const approach *w, const nearest *now, double depth)
{
    const cairn_shape *wall = &w->m->wall;
    if (wall->kind == CAIRN_SHAPE_MESH && !cairn_geometry_look(wall->geometry).closed)
        return false;
    for (int k = 0; k < w->wall.count && w->m->size == 0; k++)
        for (int i = 0; i < 3; i++) {
            const cairn_vec3 *c = w->wall.item[k].corner;
            cairn_vec3 near = brute_on_segment(c[i], c[(i + 1) % 3], now->on_b);
            if (brute_apart(near, now->on_b) < 10 * depth)
                return false;
        }
    return true;
}

/* One pose apart, one that touches deeper and deeper. */
static void try_pose(approach *w, verdicts *v)
{
    meeting *m = w->m;
    double wanted = pow(10, draw(w->state, -4, -1.3));
    if (!start_apart(w))
        return;
    nearest now = go_near(w, wanted);
    if (now.distance > 0.3 || !(now.distance > 1e-9))
        return;
    v->poses++;
    m->margin = draw(w->state, 0, 1) < 0.2 ? 0.5 * now.distance : now.distance + 0.02;
    meeting_find(m);
    check_apart(w, &now, v);
    double depth = fmax(m->size, 1e-3) * pow(10, draw(w->state, -6, -2));
    cairn_vec3 out = cairn_unit(cairn_sub(now.on_a, now.on_b));
    m->a.x = cairn_add_scaled(m->a.x, -(now.distance + depth), out);
    m->margin = 1e-3;
    meeting_find(m);
    if (!w->curved && goes_in(w, &now, depth))
        check_inside(w, depth, v);
    else
        check_points(w, v);
}

/* ---- walls --------------------------------------------------------------------------------------- */

typedef enum wall_kind { STAR, SHEET, FIELD, COMPOUND, RING, POCKET, COMPOUND_2D, WALLS } wall_kind;

static const char *const wall_names[WALLS] = { "closed mesh", "open mesh", "height field",
                                               "compound",    "polygon",   "polygon around",
                                               "2D compound" };

/* 5 x 5 points, 1 m apart, as height field or sheet. */
static const cairn_geometry *draw_field(uint64_t *state, bool sheet)
{
    double heights[25];
    double most = draw(state, 0.05, 1);
    for (int k = 0; k < 25; k++)
        heights[k] = draw(state, 0, most);
    const cairn_height_field_def def = { 5, 5, { 1, 1 }, heights };
    const cairn_geometry *field = NULL, *mesh = NULL;
    CHECK_OK(cairn_height_field_create(&def, &field, NULL));
    if (!sheet)
        return field;
    cairn_geometry_view view = cairn_geometry_look(field);
    const cairn_mesh_def copy = { view.vertices, view.vertex_count, view.face_vertex,
                                  view.face_count };
    CHECK_OK(cairn_mesh_create(&copy, &mesh, NULL));
    cairn_geometry_release(field);
    return mesh;
}

/* Three parts with flat cores: boxes, hulls, capsules, balls. */
static const cairn_geometry *draw_flat_compound(uint64_t *state, int dimension)
{
    static const cairn_shape_kind kinds[4] = { CAIRN_SHAPE_BOX, CAIRN_SHAPE_POLYHEDRON,
                                               CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_SPHERE };
    cairn_part parts[3] = { 0 };
    const cairn_geometry *compound = NULL;
    for (int k = 0; k < 3; k++) {
        parts[k].shape = draw_shape(kinds[cairn_random_next(state) % 4], dimension, state);
        if (k > 0)
            parts[k].shape.axis = dimension == 2 ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
        parts[k].pose.x = cairn_scale(1.2, draw_unit(state, dimension));
        parts[k].pose.q = k == 0 ? draw_turn(state, dimension) : (cairn_quat){ 1, 0, 0, 0 };
    }
    CHECK_OK(cairn_compound_create(parts, 3, dimension, &compound, NULL));
    for (int k = 0; k < 3; k++)
        cairn_geometry_release(parts[k].shape.geometry);
    return compound;
}

static cairn_shape draw_wall(wall_kind kind, uint64_t *state)
{
    static const cairn_shape_kind kinds[WALLS] = { CAIRN_SHAPE_MESH,         CAIRN_SHAPE_MESH,
                                                   CAIRN_SHAPE_HEIGHT_FIELD, CAIRN_SHAPE_COMPOUND,
                                                   CAIRN_SHAPE_POLYLINE,     CAIRN_SHAPE_POLYLINE,
                                                   CAIRN_SHAPE_COMPOUND };
    cairn_shape s = cairn_shape_default(kinds[kind], kind >= RING ? 2 : 3);
    s.geometry = kind == STAR                     ? draw_star(state, 0.8, 2.5)
                 : kind == SHEET || kind == FIELD ? draw_field(state, kind == SHEET)
                 : kind == RING                   ? draw_ring(state, 0.8, 2.5, 1)
                 : kind == POCKET
                     ? draw_ring(state, 2.5, 4, -1)
                     : draw_flat_compound(state, s.size.z == 0 && kind == COMPOUND_2D ? 2 : 3);
    s.radius = kind == POCKET ? -1 : 1; /* not used by the kind: tells where free space is */
    return s;
}

static verdicts run_pair(cairn_shape_kind body, wall_kind wall)
{
    static meeting m;
    static approach w;
    static brute_body solid;
    verdicts v = { 0 };
    uint64_t state = 1000 * (uint64_t)body + (uint64_t)wall + 11;
    int poses = poses_of_a_pair(30), dimension = wall >= RING ? 2 : 3;
    for (int shape = 0; shape < POOL; shape++) {
        m = (meeting){ .dimension = dimension };
        m.body = draw_body(body, dimension, &state);
        m.wall = draw_wall(wall, &state);
        if (shape % 2)
            m.body.axis = dimension == 2 ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
        meeting_open(&m);
        m.b.shape = &m.wall;
        m.b.x = cairn_scale(2, draw_unit(&state, dimension));
        m.b.q = draw_turn(&state, dimension);
        w = (approach){ .m = &m, .solid = &solid, .state = &state };
        brute_make(&m.b, dimension, &solid);
        make_patches(&solid, &w.wall);
        for (int k = shape; k < poses; k += POOL)
            try_pose(&w, &v);
        meeting_close(&m);
        cairn_geometry_release(m.body.geometry);
        cairn_geometry_release(m.wall.geometry);
    }
    return v;
}

static void run_all(wall_kind wall)
{
    verdicts sum = { 0 };
    for (int i = 0; i < (wall >= RING ? BODIES_2D : BODIES_3D); i++) {
        verdicts v = run_pair(wall >= RING ? body_kinds_2d[i] : body_kinds_3d[i], wall);
        sum.poses += v.poses;
        sum.contacts += v.contacts;
        sum.wrong += v.wrong;
    }
    print_message("%s: %ld poses, %ld contacts, %ld wrong\n", wall_names[wall], sum.poses,
                  sum.contacts, sum.wrong);
    CHECK_INT(sum.wrong, 0);
}

/* ---- two convex solids -------------------------------------------------------------------------- */

/* Two solids, half of them with axes that are almost parallel, near each other: all points are on both
 * surfaces. That their gap is right: test_distance.c. */
static void try_solids(meeting *m, brute_body *other, uint64_t *state, verdicts *v)
{
    m->b.q = draw_turn(state, m->dimension);
    m->a.q = draw_turn(state, m->dimension);
    cairn_vec3 turn = m->dimension == 2 ? cairn_vec(0, 0, 1) : draw_unit(state, 3);
    if (draw(state, 0, 1) < 0.5)
        m->a.q = cairn_quat_multiply(
            cairn_quat_exp(cairn_scale(pow(10, draw(state, -9, -1)), turn)), m->b.q);
    m->a.x = cairn_scale(draw(state, 1, 3), draw_unit(state, m->dimension));
    m->margin = 10;
    meeting_find(m);
    if (!meeting_fact(m, v, m->resolved && m->count > 0, "a witness", m->count, 1))
        return;
    double size = m->size + cairn_shape_extent(&m->wall);
    double gap = draw(state, 0, 1) < 0.5 ? 1e-6 : draw(state, -0.01, 0.02) * size;
    m->a.x = cairn_add_scaled(m->a.x, gap - least_gap(m), m->contact[0].normal);
    m->margin = 0.05 * size;
    meeting_find(m);
    brute_make(&m->b, m->dimension, other);
    v->poses++;
    if (!meeting_points(m, v, 2e-5 * size))
        return;
    for (int k = 0; k < m->count; k++) {
        double off = brute_off_surface(other, m->contact[k].on_b);
        if (!meeting_fact(m, v, off <= 2e-5 * size, "b is off the other", off, 0))
            return;
    }
}

static verdicts run_solids(cairn_shape_kind body, cairn_shape_kind other, int dimension)
{
    static meeting m;
    static brute_body second;
    verdicts v = { 0 };
    uint64_t state = 1000 * (uint64_t)body + (uint64_t)other + 13;
    int poses = poses_of_a_pair(60);
    for (int shape = 0; shape < POOL; shape++) {
        m = (meeting){ .dimension = dimension };
        m.body = draw_body(body, dimension, &state);
        m.wall = draw_body(other, dimension, &state);
        m.body.axis = m.wall.axis = dimension == 2 ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1);
        meeting_open(&m);
        for (int k = shape; k < poses; k += POOL)
            try_solids(&m, &second, &state, &v);
        meeting_close(&m);
        cairn_geometry_release(m.body.geometry);
        cairn_geometry_release(m.wall.geometry);
    }
    return v;
}

TEST(points_of_two_solids_are_on_both)
{
    verdicts sum = { 0 };
    for (int dimension = 2; dimension <= 3; dimension++) {
        int kinds = dimension == 2 ? KINDS_2D : KINDS_3D;
        const cairn_shape_kind *list = dimension == 2 ? convex_kinds_2d : convex_kinds_3d;
        for (int i = 0; i < kinds; i++)
            for (int j = 0; j < kinds; j++) {
                verdicts v = run_solids(list[i], list[j], dimension);
                sum.poses += v.poses;
                sum.contacts += v.contacts;
                sum.wrong += v.wrong;
            }
    }
    print_message("two solids: %ld poses, %ld contacts, %ld wrong\n", sum.poses, sum.contacts,
                  sum.wrong);
    CHECK_INT(sum.wrong, 0);
}

/* ---- all ----------------------------------------------------------------------------------------- */

TEST(closed_meshes)
{
    run_all(STAR);
}

TEST(open_meshes)
{
    run_all(SHEET);
}

TEST(height_fields)
{
    run_all(FIELD);
}

TEST(compounds)
{
    run_all(COMPOUND);
    run_all(COMPOUND_2D);
}

TEST(polygons)
{
    run_all(RING);
    run_all(POCKET);
}

GROUP(test_concave)
{
    RUN(CASE(closed_meshes), CASE(open_meshes), CASE(height_fields), CASE(compounds),
        CASE(polygons), CASE(points_of_two_solids_are_on_both));
}
