/* manifold.c - from the distance of two convex shapes to their contact points.
 *
 * The faces that face each other are projected along the normal n onto a plane. The contact
 * points are the corners of the intersection of the two polygons: corners of a inside b, corners of
 * b inside a, and crossings of their edges. Each has its own gap, measured along n between the
 * faces, and a key from the vertices that define it. There is no reference side that could change
 * from step to step. Points appear and disappear when their gap passes the margin, that is, when
 * they carry no load. If none of them has the exact gap (curved rims, tilted edges that cross), the
 * witness itself is added.
 *
 * If a face normal is as good as the normal found, up to rounding, it is used instead: bodies at
 * rest on each other then have the normal of the face, without rounding errors. Not where corners
 * of polyhedra see each other past the edge of that face: at a distance g, a normal that is turned
 * by t loses only g t^2/2, but the points are g t off. */
#include "collide/convex.h"
#include "math/vec.h"

enum { MAX_POINTS = 4 * CAIRN_FACE_POINTS };

static const double ALMOST = 5e-4;  /* rad: segments at this angle are parallel */
static const double EDGE_ON = 0.02; /* rad                                      */

/* A face seen along n: corners (u, v) in the plane and their heights along n. */
typedef struct outline {
    int count;
    double u[CAIRN_FACE_POINTS], v[CAIRN_FACE_POINTS], h[CAIRN_FACE_POINTS];
    const int32_t *vertex;
    double slope_u, slope_v; /* of a polygon's plane                                  */
    double longest;          /* m: of its edges                                       */
    double facing;           /* length in the plane over length in space, where it is shortest   */
} outline;

typedef struct manifold {
    const cairn_couple *c;
    cairn_vec3 n, t1, t2;
    double residual;  /* of the distance */
    double tolerance; /* m */
    double margin;    /* m: of the cores */
    outline a, b;
    int count;
    cairn_witness points[MAX_POINTS];
} manifold;

/* ---- the plane ------------------------------------------------------------------------------ */

static outline outline_of(const manifold *m, const cairn_face *f, cairn_vec3 origin)
{
    outline o = { .count = f->count, .vertex = f->vertex };
    for (int k = 0; k < f->count; k++) {
        cairn_vec3 p = cairn_add(origin, f->point[k]);
        o.u[k] = cairn_dot(p, m->t1);
        o.v[k] = cairn_dot(p, m->t2);
        o.h[k] = cairn_dot(p, m->n);
    }
    for (int k = 0, j = f->count - 1; k < f->count; j = k++)
        o.longest = fmax(o.longest, hypot(o.u[k] - o.u[j], o.v[k] - o.v[j]));
    double along = cairn_dot(f->normal, m->n);
    o.facing = f->count > 2 ? fabs(along) : 1;
    if (f->count == 2 && o.longest > 0)
        o.facing = o.longest / hypot(o.longest, o.h[1] - o.h[0]);
    /* a face seen edge on has no inside, nor has a segment seen end on */
    if (f->count == 2 && o.longest <= EDGE_ON * fabs(o.h[1] - o.h[0]))
        o.count = 0;
    if (f->count > 2) {
        o.count = fabs(along) > EDGE_ON ? f->count : 0;
        o.slope_u = -cairn_dot(f->normal, m->t1) / along;
        o.slope_v = -cairn_dot(f->normal, m->t2) / along;
    }
    return o;
}

/* Where (u, v) is along a segment: 0 at its first corner, 1 at the second. */
static double along_segment(const outline *o, double u, double v)
{
    double du = o->u[1] - o->u[0], dv = o->v[1] - o->v[0], square = du * du + dv * dv;
    return square > 0 ? ((u - o->u[0]) * du + (v - o->v[0]) * dv) / square : 0;
}

static double height_at(const outline *o, double u, double v)
{
    if (o->count > 2)
        return o->h[0] + o->slope_u * (u - o->u[0]) + o->slope_v * (v - o->v[0]);
    double t = o->count == 2 ? fmin(fmax(along_segment(o, u, v), 0), 1) : 0;
    return o->h[0] + t * (o->count == 2 ? o->h[1] - o->h[0] : 0);
}

/* Left (or right: `turn` -1) of every edge of a polygon, up to the tolerance. */
static bool in_polygon(const outline *o, double u, double v, double turn, double tolerance)
{
    for (int k = 0, j = o->count - 1; k < o->count; j = k++) {
        double du = o->u[k] - o->u[j], dv = o->v[k] - o->v[j], length = hypot(du, dv);
        double side = du * (v - o->v[j]) - dv * (u - o->u[j]);
        if (turn * side < -tolerance * length)
            return false;
    }
    return o->count > 2;
}

/* On a segment; `aside` is the tolerated distance from its line. */
static bool on_segment(const outline *o, double u, double v, double aside, double tolerance)
{
    double t = along_segment(o, u, v), slack = o->longest > 0 ? tolerance / o->longest : 0;
    double du = o->u[0] + t * (o->u[1] - o->u[0]) - u, dv = o->v[0] + t * (o->v[1] - o->v[0]) - v;
    return t >= -slack && t <= 1 + slack && hypot(du, dv) <= aside;
}

/* ---- points --------------------------------------------------------------------------------- */

/* A positive number from up to five small ones; the same numbers give the same key. */
static int32_t key_of(const int32_t *parts, int count)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < count; k++) {
        h = (h ^ (uint32_t)parts[k]) * 0xbf58476d1ce4e5b9u;
        h ^= h >> 29;
    }
    return (int32_t)(h & 0x7fffffff);
}

static void add_point(manifold *m, double u, double v, const double height[2], int32_t feature)
{
    double gap = height[0] - height[1];
    if (!(gap <= m->margin) || m->count == MAX_POINTS)
        return;
    cairn_vec3 p = cairn_add_scaled(cairn_scale(u, m->t1), v, m->t2);
    cairn_witness w = { .on_a = cairn_add_scaled(p, height[0], m->n),
                        .on_b = cairn_add_scaled(p, height[1], m->n),
                        .normal = m->n,
                        .gap = gap,
                        .feature = feature };
    for (int k = 0; k < m->count; k++)
        if (cairn_norm(cairn_sub(m->points[k].on_a, w.on_a)) <= 4 * m->tolerance)
            return;
    m->points[m->count++] = w;
}

static int32_t corner_key(int side, int32_t vertex)
{
    return key_of((const int32_t[]){ 1 + side, vertex }, 2);
}

int32_t cairn_corner_feature(int32_t vertex)
{
    return corner_key(0, vertex);
}

/* The corners of `from` that lie within `in`; `side` 0: from a. */
static void add_corners(manifold *m, int side, double aside)
{
    const outline *from = side ? &m->b : &m->a, *in = side ? &m->a : &m->b;
    for (int k = 0; k < from->count; k++) {
        double u = from->u[k], v = from->v[k];
        /* a faces down, b up: their corners run in opposite directions */
        double near = m->tolerance * in->facing; /* in the plane: past an edge, on the face */
        bool inside = in->count > 2    ? in_polygon(in, u, v, side ? -1 : 1, near)
                      : in->count == 2 ? on_segment(in, u, v, aside, near)
                                       : false;
        double other = height_at(in, u, v);
        double height[2] = { side ? other : from->h[k], side ? from->h[k] : other };
        if (inside)
            add_point(m, u, v, height, corner_key(side, from->vertex[k]));
    }
}

static int32_t edge_key(const outline *a, int i, int j, const outline *b, int k, int l)
{
    int32_t p = a->vertex[i], q = a->vertex[j], r = b->vertex[k], s = b->vertex[l];
    int32_t parts[5] = { 3, p < q ? p : q, p < q ? q : p, r < s ? r : s, r < s ? s : r };
    return key_of(parts, 5);
}

/* Where edge i-j of a crosses edge k-l of b, if it does. */
static void add_crossing(manifold *m, int i, int j, int k, int l)
{
    const outline *a = &m->a, *b = &m->b;
    double au = a->u[j] - a->u[i], av = a->v[j] - a->v[i];
    double bu = b->u[l] - b->u[k], bv = b->v[l] - b->v[k];
    double cross = au * bv - av * bu, du = b->u[k] - a->u[i], dv = b->v[k] - a->v[i];
    if (fabs(cross) <= 1e-9 * hypot(au, av) * hypot(bu, bv))
        return;
    double s = (du * bv - dv * bu) / cross, t = (du * av - dv * au) / cross;
    if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1))
        return;
    double height[2] = { a->h[i] + s * (a->h[j] - a->h[i]), b->h[k] + t * (b->h[l] - b->h[k]) };
    add_point(m, a->u[i] + s * au, a->v[i] + s * av, height, edge_key(a, i, j, b, k, l));
}

static int edges_of(const outline *o)
{
    return o->count > 2 ? o->count : o->count - 1;
}

static void add_crossings(manifold *m)
{
    for (int i = 0; i < edges_of(&m->a); i++)
        for (int k = 0; k < edges_of(&m->b); k++)
            add_crossing(m, i, (i + 1) % m->a.count, k, (k + 1) % m->b.count);
}

/* Two almost parallel segments, on round sides of capsules, cylinders or cones, lie on each other:
 * the tolerated lateral distance of their ends. A point at the lateral distance y is y^2/(2 R) off
 * the surface. */
static double parallel_width(const manifold *m)
{
    const outline *a = &m->a, *b = &m->b;
    if (a->count != 2 || b->count != 2)
        return m->tolerance;
    double au = a->u[1] - a->u[0], av = a->v[1] - a->v[0];
    double bu = b->u[1] - b->u[0], bv = b->v[1] - b->v[0];
    bool parallel = fabs(au * bv - av * bu) <= ALMOST * a->longest * b->longest;
    return parallel ? ALMOST * fmax(a->longest, b->longest) : m->tolerance;
}

/* ---- the normal ----------------------------------------------------------------------------- */

/* Take the normal of the face instead of n if the gap along it is no smaller. */
static void snap(manifold *m, const cairn_face *f, cairn_vec3 face_normal, double *gap)
{
    if (f->count < m->c->dimension || cairn_dot(face_normal, m->n) < 0.999)
        return;
    double along = cairn_couple_gap_along(m->c, face_normal);
    if (along >= *gap - 1e-14 * m->c->size) {
        m->n = face_normal;
        *gap = along;
    }
}

/* Whether one of the points is as near as the bodies are. */
static bool has_nearest(const manifold *m, double gap)
{
    double least = INFINITY;
    for (int k = 0; k < m->count; k++)
        least = fmin(least, m->points[k].gap);
    return least <= gap + 1e-9 * m->c->size;
}

static void add_witness(manifold *m, const cairn_distance *d, double gap)
{
    if (has_nearest(m, gap))
        return;
    cairn_vec3 middle = cairn_scale(0.5, cairn_add(d->on_a, d->on_b));
    double height = cairn_dot(middle, m->n), both[2] = { height + 0.5 * gap, height - 0.5 * gap };
    add_point(m, cairn_dot(middle, m->t1), cairn_dot(middle, m->t2), both, 0);
}

/* From cores to surfaces, and from coordinates relative to b's origin to world coordinates. */
static void give_points(manifold *m, cairn_witness *out)
{
    const cairn_convex *a = m->c->a, *b = m->c->b;
    for (int k = 0; k < m->count; k++) {
        cairn_witness *w = &m->points[k];
        w->on_a = cairn_add(b->x, cairn_add_scaled(w->on_a, -a->rounding, m->n));
        w->on_b = cairn_add(b->x, cairn_add_scaled(w->on_b, b->rounding, m->n));
        w->gap -= a->rounding + b->rounding;
        w->residual = (float)m->residual;
        out[k] = *w;
    }
}

static void set_faces(manifold *m, const cairn_face *fa, const cairn_face *fb)
{
    bool plane = m->c->dimension == 2;
    m->t1 = plane ? cairn_vec(-m->n.y, m->n.x, 0) : cairn_perpendicular(m->n);
    m->t2 = cairn_cross(m->n, m->t1);
    m->a = outline_of(m, fa, m->c->offset);
    m->b = outline_of(m, fb, cairn_vec(0, 0, 0));
}

static void intersect(manifold *m)
{
    double aside = parallel_width(m);
    add_corners(m, 0, aside);
    add_corners(m, 1, aside);
    add_crossings(m);
}

static int finish(manifold *m, cairn_witness *out)
{
    int corners = m->a.count > m->b.count ? m->a.count : m->b.count;
    double share = (m->margin - m->c->a->rounding - m->c->b->rounding) / m->c->size;
    int limit = cairn_witnesses_kept(m->c->dimension, corners, share);
    m->count = cairn_witnesses_reduce(m->points, m->count, limit);
    give_points(m, out);
    return m->count;
}

/* The faces that face each other along n. */
static manifold start_along(const cairn_couple *c, cairn_vec3 n, double margin, cairn_face *fa,
                            cairn_face *fb)
{
    manifold m = { .c = c, .n = n, .tolerance = 1e-9 * c->size };
    m.margin = margin + c->a->rounding + c->b->rounding;
    cairn_convex_face(c->a, cairn_scale(-1, n), fa);
    cairn_convex_face(c->b, n, fb);
    set_faces(&m, fa, fb);
    return m;
}

int cairn_manifold_along(const cairn_couple *c, cairn_vec3 n, double margin, cairn_witness *out)
{
    cairn_face fa, fb;
    manifold m = start_along(c, n, margin, &fa, &fb);
    intersect(&m);
    return finish(&m, out);
}

int cairn_manifold_corners(const cairn_couple *c, cairn_vec3 n, double margin, cairn_witness *out)
{
    cairn_face fa, fb;
    manifold m = start_along(c, n, margin, &fa, &fb);
    for (int k = 0; k < m.a.count; k++)
        add_point(&m, m.a.u[k], m.a.v[k],
                  (const double[2]){ m.a.h[k], height_at(&m.b, m.a.u[k], m.a.v[k]) },
                  corner_key(0, fa.vertex[k]));
    return finish(&m, out);
}

static bool are_polyhedra(const cairn_couple *c)
{
    cairn_vec3 any;
    return cairn_convex_corner(c->a, 0, &any) && cairn_convex_corner(c->b, 0, &any);
}

int cairn_manifold_find(const cairn_couple *c, const cairn_distance *d, double margin,
                        cairn_witness *out)
{
    cairn_face fa, fb;
    manifold m = { .c = c, .n = d->normal, .residual = d->residual, .tolerance = 1e-9 * c->size };
    m.margin = margin + c->a->rounding + c->b->rounding;
    cairn_convex_face(c->a, cairn_scale(-1, m.n), &fa);
    cairn_convex_face(c->b, m.n, &fb);
    double gap = d->gap;
    snap(&m, &fb, fb.normal, &gap);
    snap(&m, &fa, cairn_scale(-1, fa.normal), &gap);
    set_faces(&m, &fa, &fb);
    intersect(&m);
    if (are_polyhedra(c) && !has_nearest(&m, gap)) { /* the face does not reach so far */
        m.n = d->normal;
        m.count = 0;
        gap = d->gap;
        set_faces(&m, &fa, &fb);
        intersect(&m);
    }
    add_witness(&m, d, gap);
    return finish(&m, out);
}

/* ---- few points for many ----------------------------------------------------------------- */

/* A few contact points that represent many.
 *
 * The two points that are farthest apart are kept, then the farthest on either side of the line
 * between them, then, up to the limit, those farthest outside of the polygon so far, so that it
 * gives about the same support as all: the same, if they have no more corners than the limit. The
 * deepest point, if clearly deeper than those, replaces its nearest one. Comparisons need a clear
 * difference, so that points that are equal up to rounding are not exchanged from step to step. Of
 * very many points only those that are outermost in some direction are considered. */

enum { KEPT = CAIRN_FLAT_WITNESSES, MANY = 64, OUTERMOST = 16 };

static const double CLEARLY = 1 + 1e-6, SLOW = 0.05;

static double apart(const cairn_witness *p, const cairn_witness *q)
{
    cairn_vec3 d = cairn_sub(p->on_a, q->on_a);
    return cairn_dot(d, d);
}

static void farthest_pair(const cairn_witness *p, int count, int chosen[KEPT])
{
    double longest = 0;
    chosen[0] = chosen[1] = 0;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if (apart(&p[i], &p[j]) > longest * CLEARLY) {
                longest = apart(&p[i], &p[j]);
                chosen[0] = i;
                chosen[1] = j;
            }
}

/* The point that is farthest from the line of the chosen pair, on the side of sign; -1: none. */
static int farthest_aside(const cairn_witness *p, int count, const int chosen[KEPT], double sign)
{
    cairn_vec3 base = p[chosen[0]].on_a, line = cairn_sub(p[chosen[1]].on_a, base);
    cairn_vec3 side = cairn_cross(p[chosen[0]].normal, line);
    double square = cairn_dot(line, line), most = 1e-9 * square;
    int best = -1;
    for (int k = 0; k < count; k++) {
        double height = sign * cairn_dot(side, cairn_sub(p[k].on_a, base));
        if (height > most * CLEARLY) {
            most = height;
            best = k;
        }
    }
    return best;
}

/* Include the deepest point: as an additional one up to the limit, else in place of its nearest.
 * Returns how many are chosen. */
static int admit_deepest(const cairn_witness *p, int count, int limit, int *chosen, int kept)
{
    int deepest = 0, deepest_chosen = 0, nearest = 0;
    for (int k = 1; k < count; k++)
        if (p[k].gap < p[deepest].gap)
            deepest = k;
    for (int k = 1; k < kept; k++) {
        if (p[chosen[k]].gap < p[chosen[deepest_chosen]].gap)
            deepest_chosen = k;
        if (apart(&p[chosen[k]], &p[deepest]) < apart(&p[chosen[nearest]], &p[deepest]))
            nearest = k;
    }
    double size = sqrt(apart(&p[chosen[0]], &p[chosen[1]]));
    if (p[deepest].gap >= p[chosen[deepest_chosen]].gap - 1e-10 * size)
        return kept;
    chosen[kept < limit ? kept : nearest] = deepest;
    return kept < limit ? kept + 1 : kept;
}

static void sort_by_feature(cairn_witness *p, int count)
{
    for (int i = 1; i < count; i++) {
        cairn_witness item = p[i];
        int k = i;
        for (; k > 0 && p[k - 1].feature > item.feature; k--)
            p[k] = p[k - 1];
        p[k] = item;
    }
}

/* By how much p is outside of the edge from a to b of a polygon that runs counterclockwise about
 * the normal. */
static double outside_edge(const cairn_witness *a, const cairn_witness *b, const cairn_witness *p)
{
    cairn_vec3 edge = cairn_sub(b->on_a, a->on_a), out = cairn_cross(edge, a->normal);
    double length = cairn_norm(edge);
    return length > 0 ? cairn_dot(out, cairn_sub(p->on_a, a->on_a)) / length : 0;
}

/* Inserts the point that is farthest outside of the polygon `ring`; false: there is none. */
static bool insert_outermost(const cairn_witness *p, int count, int ring[KEPT], int kept)
{
    double most = 1e-9 * sqrt(apart(&p[ring[0]], &p[ring[kept / 2]]));
    int best = -1, after = 0;
    for (int i = 0; i < kept; i++)
        for (int k = 0; k < count; k++) {
            double out = outside_edge(&p[ring[i]], &p[ring[(i + 1) % kept]], &p[k]);
            if (out > most * CLEARLY) {
                most = out;
                best = k;
                after = i;
            }
        }
    for (int i = kept; best >= 0 && i > after + 1; i--)
        ring[i] = ring[i - 1];
    if (best >= 0)
        ring[after + 1] = best;
    return best >= 0;
}

/* Beyond the four that choose_of_few finds first. Returns how many are chosen. */
static int widen(const cairn_witness *p, int count, int limit, int chosen[KEPT], int kept)
{
    int ring[KEPT] = { chosen[0], chosen[1], chosen[2] };
    if (kept < 3)
        return kept;
    if (kept == 4) { /* counterclockwise: the fourth is on the right of the line of the first two */
        ring[1] = chosen[3];
        ring[2] = chosen[1];
        ring[3] = chosen[2];
    } else if (outside_edge(&p[chosen[0]], &p[chosen[1]], &p[chosen[2]]) > 0) {
        ring[1] = chosen[2];
        ring[2] = chosen[1];
    }
    while (kept < limit && insert_outermost(p, count, ring, kept))
        kept++;
    for (int k = 0; k < kept; k++)
        chosen[k] = ring[k];
    return kept;
}

static int choose_of_few(const cairn_witness *points, int count, int limit, int chosen[KEPT])
{
    int kept = 2;
    farthest_pair(points, count, chosen);
    for (int side = 1; side >= -1 && limit > 2; side -= 2) {
        int k = farthest_aside(points, count, chosen, side);
        if (k >= 0)
            chosen[kept++] = k;
    }
    if (limit > 4)
        kept = widen(points, count, limit, chosen, kept);
    return admit_deepest(points, count, limit, chosen, kept);
}

/* The point that is outermost along a direction. */
static int outermost(const cairn_witness *p, int count, cairn_vec3 direction)
{
    double size = sqrt(apart(&p[0], &p[count - 1]));
    int best = 0;
    for (int k = 1; k < count; k++)
        if (cairn_dot(direction, cairn_sub(p[k].on_a, p[best].on_a)) > 1e-9 * size)
            best = k;
    return best;
}

/* The outermost points in directions all around the normal, and the deepest; each once. */
static int list_outermost(const cairn_witness *p, int count, int list[OUTERMOST + 1])
{
    cairn_vec3 t = cairn_perpendicular(p[0].normal), u = cairn_cross(p[0].normal, t);
    int found = 0;
    for (int i = 0; i <= OUTERMOST; i++) {
        double angle = 2 * M_PI * i / OUTERMOST;
        cairn_vec3 d = cairn_add_scaled(cairn_scale(cos(angle), t), sin(angle), u);
        int next = outermost(p, count, d), known = 0;
        for (int k = 0; k < count && i == OUTERMOST; k++)
            next = k == 0 || p[k].gap < p[next].gap ? k : next;
        while (known < found && list[known] != next)
            known++;
        list[known] = next;
        found += known == found;
    }
    return found;
}

int cairn_witnesses_kept(int dimension, int corners, double share)
{
    return dimension == 2 ? 2 : corners > 4 && share <= SLOW ? KEPT : 4;
}

int cairn_witnesses_choose(const cairn_witness *points, int count, int limit, int chosen[KEPT])
{
    if (count <= MANY)
        return choose_of_few(points, count, limit, chosen);
    int list[OUTERMOST + 1], found = list_outermost(points, count, list);
    cairn_witness few[OUTERMOST + 1];
    for (int k = 0; k < found; k++)
        few[k] = points[list[k]];
    int kept = choose_of_few(few, found, limit, chosen);
    for (int k = 0; k < kept; k++)
        chosen[k] = list[chosen[k]];
    return kept;
}

int cairn_witnesses_reduce(cairn_witness *points, int count, int limit)
{
    if (count > limit) {
        int chosen[KEPT], kept = choose_of_few(points, count, limit, chosen);
        cairn_witness copy[KEPT];
        for (int k = 0; k < kept; k++)
            copy[k] = points[chosen[k]];
        for (int k = 0; k < kept; k++)
            points[k] = copy[k];
        count = kept;
    }
    sort_by_feature(points, count);
    return count;
}
