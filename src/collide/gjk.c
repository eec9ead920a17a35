/* gjk.c - the closest points of two convex cores by Gilbert, Johnson and Keerthi's walk, and how
 * deep they overlap (EPA: second half).
 *
 * v is the point nearest to the origin of a simplex in C = A - B. Each round takes the support
 * point w of C against v, adds it to the simplex, and reduces that to the smallest face that
 * contains the new nearest point. v.w/|v| <= distance <= |v|: the walk ends when these bounds agree
 * to rounding, when w is not a new point, or when the origin is inside.
 *
 * The nearest point of a simplex is found by trying every face that contains the newest vertex and
 * taking the best: degenerate simplices need no special case, since a face that is too flat for its
 * formula is skipped, and its edges are tried anyway. In 2D there are no tetrahedra: the
 * nearest point of a triangle round the origin is the origin. */
#include <float.h>
#include <string.h>

#include "collide/convex.h"
#include "math/vec.h"

enum { MAX_ROUNDS = 128 };

/* A face of a simplex and the point of it that is nearest to the origin. */
typedef struct nearest {
    int count;
    int index[3];
    double weight[3];
    cairn_vec3 v;
    double squared; /* |v|^2 */
} nearest;

typedef struct simplex {
    int count;
    cairn_difference p[4];
    double weight[4];
} simplex;

static void keep_better(nearest *best, const nearest *other)
{
    if (other->squared < best->squared)
        *best = *other;
}

static void try_vertex(const simplex *s, int i, nearest *best)
{
    nearest n = { 1, { i }, { 1 }, s->p[i].w, cairn_dot(s->p[i].w, s->p[i].w) };
    keep_better(best, &n);
}

static void try_edge(const simplex *s, int i, int j, nearest *best)
{
    cairn_vec3 e = cairn_sub(s->p[j].w, s->p[i].w);
    double length = cairn_dot(e, e), t = -cairn_dot(s->p[i].w, e);
    if (!(t > 0 && t < length))
        return;
    t /= length;
    nearest n = { 2, { i, j }, { 1 - t, t }, cairn_add_scaled(s->p[i].w, t, e), 0 };
    n.squared = cairn_dot(n.v, n.v);
    keep_better(best, &n);
}

/* The foot of the origin on the plane of a triangle has the barycentric coordinates
 * N.(q x e2)/N.N and N.(e1 x q)/N.N with q = -p_i. */
static void try_triangle(const simplex *s, int i, int j, int k, nearest *best)
{
    cairn_vec3 p = s->p[i].w, q = cairn_scale(-1, p);
    cairn_vec3 e1 = cairn_sub(s->p[j].w, p), e2 = cairn_sub(s->p[k].w, p);
    cairn_vec3 N = cairn_cross(e1, e2);
    double square = cairn_dot(N, N);
    if (!(square > 1e-26 * cairn_dot(e1, e1) * cairn_dot(e2, e2)))
        return;
    double u = cairn_dot(N, cairn_cross(q, e2)) / square;
    double t = cairn_dot(N, cairn_cross(e1, q)) / square;
    if (!(u > 0 && t > 0 && u + t < 1))
        return;
    nearest n = { 3, { i, j, k }, { 1 - u - t, u, t }, { 0 }, 0 };
    n.v = cairn_scale(cairn_dot(p, N) / square, N);
    n.squared = cairn_dot(n.v, n.v);
    keep_better(best, &n);
}

/* Whether the origin is on the same side of the plane of p, q, r as m. */
static bool is_inner_side(cairn_vec3 p, cairn_vec3 q, cairn_vec3 r, cairn_vec3 m)
{
    cairn_vec3 N = cairn_cross(cairn_sub(q, p), cairn_sub(r, p));
    double of_m = cairn_dot(N, cairn_sub(m, p)), of_origin = -cairn_dot(N, p);
    return of_m > 0 ? of_origin >= 0 : of_m < 0 && of_origin <= 0;
}

/* Whether the tetrahedron of a triangle and the new point w holds the origin. */
static bool holds_origin(const simplex *s, cairn_vec3 w)
{
    cairn_vec3 p = s->p[0].w, q = s->p[1].w, r = s->p[2].w;
    return s->count == 3 && is_inner_side(p, q, r, w) && is_inner_side(p, q, w, r) &&
           is_inner_side(p, w, r, q) && is_inner_side(w, q, r, p);
}

static nearest nearest_of(const simplex *s)
{
    int last = s->count - 1;
    nearest best = { .squared = DBL_MAX };
    try_vertex(s, last, &best);
    for (int i = 0; i < last; i++)
        try_edge(s, i, last, &best);
    for (int i = 0; i < last; i++)
        for (int j = i + 1; j < last; j++)
            try_triangle(s, i, j, last, &best);
    return best;
}

static void reduce(simplex *s, const nearest *n)
{
    simplex old = *s;
    s->count = n->count;
    for (int k = 0; k < n->count; k++) {
        s->p[k] = old.p[n->index[k]];
        s->weight[k] = n->weight[k];
    }
}

static bool has_vertex(const simplex *s, cairn_vec3 w)
{
    for (int k = 0; k < s->count; k++)
        if (s->p[k].w.x == w.x && s->p[k].w.y == w.y && s->p[k].w.z == w.z)
            return true;
    return false;
}

/* v = p + t e has an error of eps |p|, much of it along the edge e: remove that part. */
static cairn_vec3 square_to_edge(const simplex *s, cairn_vec3 v)
{
    cairn_vec3 e = cairn_sub(s->p[1].w, s->p[0].w);
    return cairn_add_scaled(v, -cairn_dot(v, e) / cairn_dot(e, e), e);
}

static void give_points(const simplex *s, cairn_vec3 v, cairn_distance *out)
{
    v = s->count == 2 ? square_to_edge(s, v) : v;
    out->on_a = out->on_b = cairn_vec(0, 0, 0);
    for (int k = 0; k < s->count; k++) {
        out->on_a = cairn_add_scaled(out->on_a, s->weight[k], s->p[k].a);
        out->on_b = cairn_add_scaled(out->on_b, s->weight[k], s->p[k].b);
    }
    out->gap = cairn_norm(v);
    out->normal = cairn_scale(1 / out->gap, v);
}

/* Whether the bounds |v| and v.w/|v| agree to the requested precision, or to the rounding of w. */
static bool bounds_meet(const cairn_couple *c, double precision, cairn_vec3 v, cairn_vec3 w)
{
    double squared = cairn_dot(v, v);
    return squared - cairn_dot(v, w) <= precision * squared + 1e-15 * c->size * sqrt(squared);
}

/* Add a support point and go to the nearest point of the new simplex. False: it is not nearer. */
static bool advance(simplex *s, const cairn_difference *p, cairn_vec3 *v)
{
    s->p[s->count++] = *p;
    nearest n = nearest_of(s);
    if (!(n.squared < cairn_dot(*v, *v))) {
        s->count--;
        return false;
    }
    reduce(s, &n);
    *v = n.v;
    return true;
}

cairn_gjk_end cairn_gjk(const cairn_couple *c, double limit, double precision, cairn_distance *out)
{
    simplex s = { .count = 1, .weight = { 1 } };
    s.p[0] = cairn_couple_support(c, cairn_scale(-1, out->normal));
    cairn_vec3 v = s.p[0].w;
    bool separated = false; /* a direction with a positive gap is known */
    for (out->iterations = 1; out->iterations < MAX_ROUNDS; out->iterations++) {
        if (cairn_norm(v) <= 1e-14 * c->size)
            return CAIRN_GJK_TOUCH;
        cairn_difference p = cairn_couple_support(c, cairn_scale(-1, v));
        if (cairn_dot(v, p.w) > limit * cairn_norm(v))
            return CAIRN_GJK_FAR;
        if (bounds_meet(c, precision, v, p.w) || has_vertex(&s, p.w))
            break;
        separated |= cairn_dot(v, p.w) > 1e-13 * c->size * cairn_norm(v);
        if (!separated && holds_origin(&s, p.w))
            return CAIRN_GJK_TOUCH;
        if (!advance(&s, &p, &v))
            break;
    }
    give_points(&s, v, out);
    return CAIRN_GJK_APART;
}

/* ---- EPA: how deep two shapes overlap -------------------------------------------------------- */

/* The depth and direction of an overlap, by growing a polytope inside C = A - B.
 *
 * Every face of the polytope has a signed distance to the origin, positive when the origin is on
 * its inner side. The face with the least distance is pushed out to the support point of C along
 * its normal, until that no longer moves it: then no face of C is nearer. The first simplex need
 * not contain the origin, so that shapes that touch or are just apart are treated in the same way.
 * If C is flat (for example two crossing segments), its depth is 0 along the normal of its
 * plane. */

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

static bool polytope_has(const polytope *t, cairn_vec3 w)
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
    if (!done && polytope_has(t, p.w)) {
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
