/* convex.c - how deep two convex solids overlap, with bounds from below and above.
 *
 * The cores of two solids (without the balls that sweep them) overlap where C = { a - b } contains
 * the origin, and C is known by its support point c(u) in a direction u. Any unit u gives
 * u.c(u) >= the depth, so the best of these is an upper bound, whatever search is used. A lower
 * bound follows from points of C:
 *
 *   apart        a point v of C, made of at most four c(u): the cores are |v| apart at most.
 *                Each iteration adds the c(u) for u = -v and takes the point of the new simplex
 *                that is nearest to the origin.
 *   overlapping  a polytope of points c(u) around the origin lies in C: the depth is at least the
 *                distance of its nearest facet, which is the one that grows next.
 *
 * The balls add the sum of their radii to all of this. In 2D shapes are prisms, so long that
 * nothing leaves by their ends. */
#include "shapes.h"

enum { TURNS = 100, POINTS = 256, FACETS = 1024, EDGES = 512 };

/* Two cores, and the best bounds so far; depths without the radii. */
typedef struct search {
    const check_solid *a, *b;
    double size;   /* m                                       */
    double radii;  /* m: of the balls                         */
    double prism;  /* m: half the length of shapes in 2D; 0   */
    double enough; /* m                                       */
    double high;
    vec n;
} search;

typedef struct simplex {
    int count;
    vec p[4];
} simplex;

static const vec units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
/* Relative thickness of C that counts as zero; flatness of a facet. */
static const double thin = 1e-12, level = 1e-13;

/* ---- the difference ------------------------------------------------------------------------- */

/* c(u); with it u.c(u) of the unit direction u is known. */
static vec farthest(search *s, vec u)
{
    vec c = vec_add(check_support(s->a, u), -1, check_support(s->b, vec_times(-1, u)));
    c.z += u.z < 0 ? -s->prism : s->prism;
    vec across = s->prism > 0 ? (vec){ u.x, u.y, 0 } : u; /* c is farthest along this, too */
    double length = vec_norm(across), depth = vec_dot(across, c) / length;
    if (length > 0 && depth < s->high) {
        s->high = depth;
        s->n = vec_times(-1 / length, across);
    }
    return c;
}

static void try_direction(search *s, vec n)
{
    n.z = s->prism > 0 ? 0 : n.z;
    double length = vec_norm(n);
    if (length > 0)
        farthest(s, vec_times(-1 / length, n));
}

static bool is_enough(const search *s)
{
    return s->high + s->radii <= s->enough;
}

double check_depth_along(const check_solid *a, const check_solid *b, vec n)
{
    return check_reach(a, vec_times(-1, n)) + check_reach(b, n);
}

/* ---- nearest point of a simplex -------------------------------------------------------------- */

/* Solves the count x count system by elimination with pivots; false: singular. */
static bool solve(int count, double A[3][4])
{
    for (int k = 0; k < count; k++) {
        int best = k;
        for (int i = k + 1; i < count; i++)
            best = fabs(A[i][k]) > fabs(A[best][k]) ? i : best;
        if (!(fabs(A[best][k]) > 0))
            return false;
        for (int j = 0; j <= count; j++) {
            double held = A[k][j];
            A[k][j] = A[best][j];
            A[best][j] = held;
        }
        for (int i = 0; i < count; i++) {
            double factor = i == k ? 0 : A[i][k] / A[k][k];
            for (int j = k; j <= count; j++)
                A[i][j] -= factor * A[k][j];
        }
    }
    for (int k = 0; k < count; k++)
        A[k][count] /= A[k][k];
    return true;
}

/* The point of the plane (line, space) through the points that is nearest to the origin: p_0 + sum
 * t_i e_i with e_i = p_i - p_0 and e_k.(p_0 + sum t_i e_i) = 0. false: it is not between them. */
static bool nearest_between(const simplex *x, vec *out)
{
    int m = x->count - 1;
    double A[3][4], first = 1;
    vec e[3];
    for (int i = 0; i < m; i++)
        e[i] = vec_add(x->p[i + 1], -1, x->p[0]);
    for (int i = 0; i < m; i++) { /* four points span space: its axes serve as e_k */
        vec row = m < 3 ? e[i] : units[i];
        for (int k = 0; k < m; k++)
            A[i][k] = vec_dot(row, e[k]);
        A[i][m] = -vec_dot(row, x->p[0]);
    }
    *out = x->p[0];
    if (!solve(m, A))
        return false;
    for (int i = 0; i < m; i++) {
        first -= A[i][m];
        if (!(A[i][m] >= 0))
            return false;
        *out = vec_add(*out, A[i][m], e[i]);
    }
    return first >= 0;
}

/* The face of the simplex with the point nearest to the origin takes its place. */
static vec reduce(simplex *x)
{
    simplex best = { 1, { x->p[0] } }, some;
    vec nearest = x->p[0], v;
    for (unsigned pick = 1; pick < 1u << x->count; pick++) {
        some.count = 0;
        for (int k = 0; k < x->count; k++)
            if (pick >> k & 1)
                some.p[some.count++] = x->p[k];
        if (nearest_between(&some, &v) && vec_dot(v, v) < vec_dot(nearest, nearest)) {
            nearest = v;
            best = some;
        }
    }
    *x = best;
    return nearest;
}

/* Leaves the last simplex and its nearest point v; true: v is not the origin, the cores are
 * apart by no more than |v|. */
static bool walk(search *s, simplex *x, vec *v)
{
    *v = farthest(s, (vec){ 1, 0, 0 });
    *x = (simplex){ 1, { *v } };
    for (int turn = 0; turn < TURNS && !is_enough(s); turn++) {
        double length = vec_norm(*v);
        if (length <= level * s->size || x->count == 4)
            return false;
        vec w = farthest(s, vec_times(-1 / length, *v));
        if (length + s->high <= level * s->size || vec_dot(vec_add(*v, -1, w), *v) <= 0)
            return true;
        x->p[x->count++] = w;
        vec next = reduce(x);
        if (x->count < 4 && vec_norm(next) >= length)
            return true; /* rounding: it gets no nearer */
        *v = next;
    }
    return true;
}

/* ---- a polytope in the difference ------------------------------------------------------------ */

typedef struct facet {
    int corner[3];
    vec n;    /* unit, outward                   */
    double d; /* m: of its plane from the origin */
} facet;

typedef struct polytope {
    int points, facets, edges;
    vec point[POINTS];
    facet facet[FACETS];
    int edge[EDGES][2]; /* around what a new point sees */
} polytope;

/* false: its corners are on a line, or there are too many. */
static bool add_facet(polytope *t, const search *s, int i, int j, int k)
{
    vec a = t->point[i], e = vec_add(t->point[j], -1, a), f = vec_add(t->point[k], -1, a);
    vec n = vec_cross(e, f);
    double length = vec_norm(n), longest = fmax(vec_norm(e), vec_norm(f));
    if (t->facets == FACETS || !(length > level * longest * s->size))
        return false;
    n = vec_times(1 / length, n);
    t->facet[t->facets++] = (facet){ { i, j, k }, n, vec_dot(n, a) };
    return true;
}

/* How far p is from the point, line or plane of a simplex. */
static double off_by(const simplex *x, vec p)
{
    vec away = vec_add(p, -1, x->p[0]);
    if (x->count == 1)
        return vec_norm(away);
    vec e = vec_add(x->p[1], -1, x->p[0]);
    if (x->count == 2)
        return vec_norm(vec_cross(e, away)) / vec_norm(e);
    vec n = vec_cross(e, vec_add(x->p[2], -1, x->p[0]));
    return fabs(vec_dot(n, away)) / vec_norm(n);
}

/* Directions in which C reaches farthest from a point, a line or a plane, one of them. */
static int ways_off(const simplex *x, vec out[6])
{
    vec e = vec_add(x->p[x->count > 1], -1, x->p[0]);
    int count = 0;
    for (int k = 0; k < 3; k++) {
        vec across = x->count == 1 ? units[k] : vec_cross(e, units[k]);
        if (vec_norm(across) > 0.1 * (x->count == 1 ? 1 : vec_norm(e)))
            out[count++] = vec_times(1 / vec_norm(across), across);
    }
    if (x->count == 3) {
        vec n = vec_cross(e, vec_add(x->p[2], -1, x->p[0]));
        out[0] = vec_times(1 / vec_norm(n), n);
        count = 1;
    }
    for (int k = 0; k < count; k++)
        out[count + k] = vec_times(-1, out[k]);
    return 2 * count;
}

/* A simplex that contains the origin grows to a tetrahedron; false: C is flat. */
static bool complete(search *s, simplex *x)
{
    while (x->count < 4) {
        vec way[6], best = x->p[0];
        double most = 0;
        int count = ways_off(x, way);
        for (int k = 0; k < count; k++) {
            vec c = farthest(s, way[k]);
            double off = off_by(x, c);
            best = off > most ? c : best;
            most = fmax(most, off);
        }
        if (!(most > thin * s->size))
            return false;
        x->p[x->count++] = best;
    }
    return true;
}

static bool begin(polytope *t, const search *s, const simplex *x)
{
    vec a = x->p[0];
    vec n = vec_cross(vec_add(x->p[1], -1, a), vec_add(x->p[2], -1, a));
    bool turned = vec_dot(n, vec_add(x->p[3], -1, a)) > 0;
    int j = turned ? 2 : 1, k = turned ? 1 : 2;
    t->facets = 0;
    t->points = 4;
    for (int i = 0; i < 4; i++)
        t->point[i] = x->p[i];
    return add_facet(t, s, 0, j, k) && add_facet(t, s, 0, 3, j) && add_facet(t, s, j, 3, k) &&
           add_facet(t, s, k, 3, 0);
}

/* An edge between two removed facets is met twice, in both directions. */
static bool toggle_edge(polytope *t, int from, int to)
{
    for (int i = 0; i < t->edges; i++)
        if (t->edge[i][0] == to && t->edge[i][1] == from) {
            t->edges--;
            t->edge[i][0] = t->edge[t->edges][0];
            t->edge[i][1] = t->edge[t->edges][1];
            return true;
        }
    if (t->edges == EDGES)
        return false;
    t->edge[t->edges][0] = from;
    t->edge[t->edges++][1] = to;
    return true;
}

/* The convex hull of the polytope and w; false: too many facets, or rounding prevents it. */
static bool grow(polytope *t, const search *s, vec w)
{
    bool good = t->points < POINTS;
    t->edges = 0;
    for (int i = 0; i < t->facets && good;) {
        facet *f = &t->facet[i];
        if (vec_dot(f->n, w) - f->d <= level * s->size) {
            i++;
            continue;
        }
        for (int k = 0; k < 3 && good; k++)
            good = toggle_edge(t, f->corner[k], f->corner[(k + 1) % 3]);
        *f = t->facet[--t->facets];
    }
    if (good)
        t->point[t->points++] = w;
    for (int i = 0; i < t->edges && good; i++)
        good = add_facet(t, s, t->edge[i][0], t->edge[i][1], t->points - 1);
    return good && t->edges > 0;
}

/* m: the depth of the origin in C is at least this. */
static double expand(search *s, const simplex *x)
{
    polytope t;
    double low = 0;
    bool good = begin(&t, s, x);
    while (good) {
        const facet *nearest = &t.facet[0];
        for (int i = 1; i < t.facets; i++)
            nearest = t.facet[i].d < nearest->d ? &t.facet[i] : nearest;
        low = fmax(low, nearest->d);
        vec w = farthest(s, nearest->n);
        bool found = s->high - low <= level * s->size || is_enough(s);
        good = !found && vec_dot(nearest->n, w) - nearest->d > level * s->size && grow(&t, s, w);
    }
    return low;
}

/* ---- both ----------------------------------------------------------------------------------- */

/* Normals of faces: of boxes, of hulls with few of them, of a face itself; `sign` makes them point
 * from b to a. */
static void try_faces(search *s, const check_solid *x, double sign)
{
    bool surface = x->shape > CHECK_HULL, hull = x->shape == CHECK_HULL && x->row->faces <= 64;
    int first = surface ? x->face : 0;
    int end = surface ? x->face + 1 : hull ? x->row->faces : 0;
    for (int k = 0; k < 6 && x->shape == CHECK_BOX; k++)
        try_direction(s, quat_rotate(x->at.q, vec_times(k % 2 ? -1 : 1, units[k / 2])));
    for (int f = first; f < end; f++) {
        vec n = x->data->normals[x->row->first_face + f];
        try_direction(s, vec_times(sign, quat_rotate(x->at.q, n)));
    }
}

check_range check_convex_depth(const check_question *question)
{
    const check_solid *a = question->a, *b = question->b;
    search s = { .a = a, .b = b, .enough = question->enough, .high = HUGE_VAL };
    vec apart = vec_add(check_middle(a), -1, check_middle(b)), v;
    double low = -HUGE_VAL;
    simplex x;
    s.size = check_solid_extent(a) + check_solid_extent(b) + vec_norm(apart);
    s.radii = check_rounding_of(a) + check_rounding_of(b);
    s.prism = a->flat ? 4 * s.size : 0;
    for (int k = 0; k < question->hint_count && !is_enough(&s); k++)
        try_direction(&s, question->hints[k]);
    if (!is_enough(&s))
        try_direction(&s, apart);
    if (!is_enough(&s) && walk(&s, &x, &v))
        low = is_enough(&s) ? low : -vec_norm(v);
    else if (!is_enough(&s)) {
        try_faces(&s, a, -1);
        try_faces(&s, b, 1);
        low = complete(&s, &x) ? expand(&s, &x) : 0;
    }
    return (check_range){ low + s.radii, s.high + s.radii, s.n };
}
