/* epa.c - the depth and direction of an overlap, by growing a polytope inside C = A - B.
 *
 * Every face of the polytope has a signed distance to the origin, positive when the origin is on
 * its inner side. The face with the least distance is pushed out to the support point of C along
 * its normal, until that no longer moves it: then no face of C is nearer. The first simplex need
 * not contain the origin, so that shapes that touch or are just apart are treated in the same way.
 * If C is flat (for example two crossing segments), its depth is 0 along the normal of its
 * plane. */
#include <float.h>
#include <string.h>

#include "collide/convex.h"
#include "math/vec.h"

enum { VERTICES = 256, FACES = 2 * VERTICES, EDGES = 3 * VERTICES };

typedef struct face {
    int v[3]; /* counterclockwise seen from outside; 2D: v[2] is unused */
    cairn_vec3 normal;
    double distance;
    bool dead; /* a sliver whose normal is rounding: never pushed out */
} face;

typedef struct polytope {
    const cairn_couple *c;
    int vertices, faces;
    double tolerance;
    cairn_difference p[VERTICES];
    face f[FACES];
} polytope;

/* The support point in direction d or -d that is farther from the plane through `base`. */
static cairn_difference farther(const cairn_couple *c, cairn_vec3 d, cairn_vec3 base)
{
    cairn_difference up = cairn_couple_support(c, d);
    cairn_difference down = cairn_couple_support(c, cairn_scale(-1, d));
    double above = cairn_dot(d, cairn_sub(up.w, base));
    double below = cairn_dot(d, cairn_sub(base, down.w));
    return above >= below ? up : down;
}

/* ---- faces ---------------------------------------------------------------------------------- */

/* False when there is no room. */
static bool add_face(polytope *t, int i, int j, int k)
{
    if (t->faces == FACES)
        return false;
    cairn_vec3 p = t->p[i].w, e = cairn_sub(t->p[j].w, p), g = cairn_sub(t->p[k].w, p);
    bool plane = t->c->dimension == 2;
    cairn_vec3 N = plane ? cairn_vec(e.y, -e.x, 0) : cairn_cross(e, g);
    double longest =
        plane ? 1 : fmax(cairn_norm(e), fmax(cairn_norm(g), cairn_norm(cairn_sub(g, e))));
    double length = cairn_norm(N);
    face f = { .v = { i, j, k }, .dead = !(length > 100 * t->tolerance * longest) };
    f.normal = length > 0 ? cairn_scale(1 / length, N) : N;
    f.distance = cairn_dot(f.normal, p);
    t->f[t->faces++] = f;
    return true;
}

/* The nearest face; -1: none is alive. */
static int least_face(const polytope *t)
{
    int best = -1;
    for (int i = 0; i < t->faces; i++)
        if (!t->f[i].dead && (best < 0 || t->f[i].distance < t->f[best].distance))
            best = i;
    return best;
}

static bool has_vertex(const polytope *t, cairn_vec3 w)
{
    for (int k = 0; k < t->vertices; k++)
        if (cairn_norm(cairn_sub(t->p[k].w, w)) <= t->tolerance)
            return true;
    return false;
}

/* ---- the first simplex ---------------------------------------------------------------------- */

/* Two points of C that are apart; false when C is a point. */
static bool first_edge(polytope *t)
{
    static const cairn_vec3 axes[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    t->p[0] = cairn_couple_support(t->c, axes[0]);
    double longest = 0;
    for (int k = 0; k < t->c->dimension; k++) {
        cairn_difference p = farther(t->c, axes[k], t->p[0].w);
        double length = cairn_norm(cairn_sub(p.w, t->p[0].w));
        if (length > longest) {
            longest = length;
            t->p[1] = p;
        }
    }
    return longest > t->tolerance;
}

/* A direction at right angles to the first edge (3D: one of two) in which C has width. */
static bool third_point(polytope *t)
{
    cairn_vec3 e = cairn_unit(cairn_sub(t->p[1].w, t->p[0].w));
    cairn_vec3 side = t->c->dimension == 2 ? cairn_vec(-e.y, e.x, 0) : cairn_perpendicular(e);
    for (int k = 0; k < t->c->dimension - 1; k++) {
        t->p[2] = farther(t->c, side, t->p[0].w);
        cairn_vec3 d = cairn_sub(t->p[2].w, t->p[0].w);
        if (cairn_norm(cairn_add_scaled(d, -cairn_dot(d, e), e)) > t->tolerance)
            return true;
        side = cairn_cross(e, side);
    }
    return false;
}

static cairn_vec3 plane_normal(const polytope *t)
{
    cairn_vec3 e = cairn_sub(t->p[1].w, t->p[0].w);
    return cairn_unit(cairn_cross(e, cairn_sub(t->p[2].w, t->p[0].w)));
}

/* Orders vertices 0.. so that all faces look outward. */
static bool first_faces(polytope *t)
{
    cairn_vec3 N = plane_normal(t);
    if (t->c->dimension == 2) {
        bool ccw = N.z > 0;
        t->vertices = 3;
        return add_face(t, 0, ccw ? 1 : 2, 0) && add_face(t, ccw ? 1 : 2, ccw ? 2 : 1, 0) &&
               add_face(t, ccw ? 2 : 1, 0, 0);
    }
    double height = cairn_dot(N, cairn_sub(t->p[3].w, t->p[0].w));
    int i = height > 0 ? 2 : 1, j = 3 - i;
    t->vertices = 4;
    return add_face(t, 0, i, j) && add_face(t, 0, j, 3) && add_face(t, j, i, 3) &&
           add_face(t, i, 0, 3);
}

/* A direction in which C is flat; the sign is the one that leads from b to a. */
static void give_flat(const polytope *t, cairn_vec3 n, cairn_distance *out)
{
    if (cairn_dot(n, t->c->offset) < 0)
        n = cairn_scale(-1, n);
    cairn_difference p = cairn_couple_support(t->c, cairn_scale(-1, n));
    out->normal = n;
    out->gap = cairn_dot(n, p.w);
    out->on_a = p.a;
    out->on_b = cairn_add_scaled(p.a, -out->gap, n);
}

/* Build the first simplex; for a flat C, set the result and return false. */
static bool start(polytope *t, cairn_distance *out)
{
    bool plane = t->c->dimension == 2;
    cairn_vec3 up = plane ? cairn_vec(0, 1, 0) : cairn_vec(0, 0, 1), n = up;
    if (first_edge(t)) {
        cairn_vec3 e = cairn_unit(cairn_sub(t->p[1].w, t->p[0].w));
        n = plane ? cairn_vec(-e.y, e.x, 0) : cairn_perpendicular(e);
        if (third_point(t)) {
            n = plane_normal(t);
            if (!plane)
                t->p[3] = farther(t->c, n, t->p[0].w);
            bool thick =
                plane || fabs(cairn_dot(n, cairn_sub(t->p[3].w, t->p[0].w))) > t->tolerance;
            if (thick && first_faces(t))
                return true;
        }
    }
    give_flat(t, n, out);
    return false;
}

/* ---- growing -------------------------------------------------------------------------------- */

typedef struct edge_list {
    int count;
    int from[EDGES], to[EDGES];
} edge_list;

/* An edge that two removed faces share is inside the hole: it is removed. */
static void toggle(edge_list *edges, int from, int to)
{
    for (int i = 0; i < edges->count; i++)
        if (edges->from[i] == to && edges->to[i] == from) {
            edges->count--;
            edges->from[i] = edges->from[edges->count];
            edges->to[i] = edges->to[edges->count];
            return;
        }
    if (edges->count < EDGES) {
        edges->from[edges->count] = from;
        edges->to[edges->count++] = to;
    }
}

static bool share_edge(const face *f, const face *g)
{
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            if (f->v[k] == g->v[(i + 1) % 3] && f->v[(k + 1) % 3] == g->v[i])
                return true;
    return false;
}

/* Mark the faces that see w and are connected with face `first`. Without this condition, faces that
 * are flat to rounding could leave holes in the surface. */
static void mark_seen(const polytope *t, int first, cairn_vec3 w, bool *seen)
{
    int facing[FACES], count = 0, stack[FACES], depth = 0;
    double blind = 0.01 * t->tolerance; /* faces in the same plane as w are replaced as well */
    memset(seen, 0, (size_t)t->faces * sizeof *seen);
    for (int i = 0; i < t->faces; i++)
        if (cairn_dot(t->f[i].normal, w) - t->f[i].distance >= -blind)
            facing[count++] = i;
    stack[depth++] = first;
    seen[first] = true;
    while (depth > 0) {
        const face *f = &t->f[stack[--depth]];
        for (int k = 0; k < count; k++)
            if (!seen[facing[k]] && share_edge(f, &t->f[facing[k]])) {
                seen[facing[k]] = true;
                stack[depth++] = facing[k];
            }
    }
}

/* Remove the faces that see vertex w, and close the hole with faces to it. */
static bool grow_3d(polytope *t, int least, int w)
{
    edge_list edges;
    bool seen[FACES];
    int kept = 0;
    edges.count = 0;
    mark_seen(t, least, t->p[w].w, seen);
    for (int i = 0; i < t->faces; i++) {
        face f = t->f[i];
        if (!seen[i])
            t->f[kept++] = f;
        for (int k = 0; seen[i] && k < 3; k++)
            toggle(&edges, f.v[k], f.v[(k + 1) % 3]);
    }
    t->faces = kept;
    for (int i = 0; i < edges.count; i++)
        if (!add_face(t, edges.from[i], edges.to[i], w))
            return false;
    return edges.count > 2;
}

static bool grow_2d(polytope *t, int least, int w)
{
    face f = t->f[least];
    t->f[least] = t->f[--t->faces];
    return add_face(t, f.v[0], w, 0) && add_face(t, w, f.v[1], 0);
}

/* The point of the face that is nearest to the origin, as points of A and B. */
static void give_face(const polytope *t, const face *f, cairn_distance *out)
{
    const cairn_difference *p = &t->p[f->v[0]], *q = &t->p[f->v[1]], *r = q;
    cairn_vec3 foot = cairn_scale(f->distance, f->normal), d = cairn_sub(foot, p->w);
    cairn_vec3 e1 = cairn_sub(q->w, p->w), e2 = f->normal;
    double u = fmin(fmax(cairn_dot(d, e1) / cairn_dot(e1, e1), 0), 1), v = 0;
    if (t->c->dimension == 3) {
        r = &t->p[f->v[2]];
        e2 = cairn_sub(r->w, p->w);
        double area = cairn_dot(f->normal, cairn_cross(e1, e2));
        u = fmin(fmax(cairn_dot(f->normal, cairn_cross(d, e2)) / area, 0), 1);
        v = fmin(fmax(cairn_dot(f->normal, cairn_cross(e1, d)) / area, 0), 1 - u);
    }
    out->normal = cairn_scale(-1, f->normal);
    out->gap = -f->distance;
    out->on_a = cairn_scale(1 - u - v, p->a);
    out->on_a = cairn_add_scaled(cairn_add_scaled(out->on_a, u, q->a), v, r->a);
    out->on_b = cairn_scale(1 - u - v, p->b);
    out->on_b = cairn_add_scaled(cairn_add_scaled(out->on_b, u, q->b), v, r->b);
}

/* The result: the nearest face, or one that is hardly farther and contains the foot of the origin
 * better (flat parts of C consist of many faces, and rounding makes some of them slightly
 * nearer). */
static void give_nearest(const polytope *t, double least, cairn_distance *out)
{
    double best = DBL_MAX;
    for (int i = 0; i < t->faces; i++) {
        double farther = t->f[i].distance - least;
        if (t->f[i].dead || 10 * farther >= best)
            continue;
        cairn_distance d = *out;
        give_face(t, &t->f[i], &d);
        cairn_vec3 between = cairn_sub(d.on_a, d.on_b);
        double miss = cairn_norm(cairn_add_scaled(between, -d.gap, d.normal));
        if (miss + 10 * farther < best) {
            best = miss + 10 * farther;
            *out = d;
        }
    }
}

/* Push the nearest face out. False if it is on the surface of C, or no further progress is
 * possible. */
static bool grow(polytope *t, double precision, cairn_distance *out)
{
    int least = least_face(t);
    if (least < 0)
        return false;
    cairn_vec3 n = t->f[least].normal;
    cairn_difference p = cairn_couple_support(t->c, n);
    double growth = cairn_dot(n, p.w) - t->f[least].distance;
    out->iterations++;
    bool done = growth <= fmax(t->tolerance, precision * t->c->size);
    if (!done && has_vertex(t, p.w)) {
        /* a known point is outside this face: the face is an error of rounding */
        t->f[least].dead = true;
        return true;
    }
    if (done || t->vertices == VERTICES) {
        give_nearest(t, t->f[least].distance, out);
        return false;
    }
    t->p[t->vertices++] = p;
    bool whole = t->c->dimension == 2 ? grow_2d(t, least, t->vertices - 1)
                                      : grow_3d(t, least, t->vertices - 1);
    least = least_face(t);
    if (!whole && least >= 0)
        give_nearest(t, t->f[least].distance, out);
    return whole;
}

void cairn_epa(const cairn_couple *c, double precision, cairn_distance *out)
{
    polytope t;
    t.c = c;
    t.vertices = t.faces = 0;
    t.tolerance = 1e-12 * c->size;
    if (!start(&t, out))
        return;
    while (grow(&t, precision, out))
        continue;
}
