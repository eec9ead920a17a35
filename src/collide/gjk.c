/* gjk.c - the closest points of two convex cores by Gilbert, Johnson and Keerthi's walk.
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
