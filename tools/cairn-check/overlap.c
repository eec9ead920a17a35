/* overlap.c - how deep two bodies of any shapes overlap.
 *
 * Bodies are divided into convex pieces; the depth of a pair is that of the deepest pair of pieces.
 * Two solids: the shortest separating displacement (second half). A body in a wall: how far its
 * farthest point is behind the wall.
 *
 * A face of a mesh, height field or polyline has an allowed side. By the rule of docs/collision.md
 * the depth is found either along the direction of the shortest displacement D or along the normal
 * of the face, where it is the depth of the body over the face:
 *
 *     delta = max over p of the body, straight over the face, of the depth of p behind its plane
 *
 * Moving the body by delta along the normal of the face clears the face, so D <= delta, and the
 * depth is in [D, delta]. A one-sided face ignores bodies behind it, unless they are inside its
 * closed surface. */
#include "shapes.h"

enum { CORNERS = 64 }; /* of a clipped polygon, at most */

/* Promised residuals, relative to the size of both bodies (docs/collision.md). Corners count as
 * over a face when they miss it by less than 1e-9. */
static const double flat_share = 2e-9, smooth_share = 1e-9, rimmed_share = 2e-5, deep_share = 2e-3;
static const double deep = 0.02; /* deeper overlaps are found less accurately */

double check_promise(check_class one, check_class two, bool ball, double depth, double size)
{
    check_class worse = one > two ? one : two;
    bool both = one == CHECK_SMOOTH && two == CHECK_SMOOTH;
    if (worse == CHECK_FLAT)
        return flat_share * size;
    if (both || (worse == CHECK_SMOOTH && ball))
        return smooth_share * size;
    return (depth > deep * size ? deep_share : rimmed_share) * size;
}

static bool is_face(const check_solid *s)
{
    return check_is_surface(s->shape);
}

static check_class class_of(const check_solid *s)
{
    return is_face(s) ? CHECK_FLAT : check_class_of(s->shape);
}

/* A ball around a piece. */
static check_ball ball_of(const check_solid *s)
{
    check_ball ball = { s->at.x, 0 };
    int count = check_point_count(s);
    if (count == 0) {
        ball.radius = check_solid_extent(s);
        return ball;
    }
    ball.x = check_middle(s);
    for (int k = 0; k < count; k++)
        ball.radius = fmax(ball.radius, vec_norm(vec_add(check_point(s, k), -1, ball.x)));
    ball.radius += check_rounding_of(s);
    return ball;
}

static check_place_of place_of(const check_couple *pair, int body)
{
    return (check_place_of){ pair->x[body], pair->q[body] };
}

/* ---- over a face ---------------------------------------------------------------------------- */

typedef struct front {
    const check_solid *face;
    vec n, on;  /* unit, to the allowed side; a corner */
    bool sheet; /* has two sides                          */
} front;

static front front_of(const check_solid *face)
{
    vec n = quat_rotate(face->at.q, face->data->normals[face->row->first_face + face->face]);
    return (front){ face, n, check_point(face, 0),
                    face->shape == CHECK_MESH && !face->row->closed };
}

static double height_over(const front *f, vec p)
{
    return vec_dot(f->n, vec_add(p, -1, f->on));
}

/* m: how far in front of the face a piece is, for the rule of sides: halfway between its two
 * extreme points along the normal. One thinner than 0.02 of the edge of a solid's face counts as
 * that thick. A face has its solid behind it, and counts as lying there by its own size. */
static double height_of(const front *f, const check_solid *s)
{
    if (is_face(s))
        return height_over(f, vec_add(check_middle(s), -ball_of(s).radius, front_of(s).n));
    double up = check_reach(s, f->n), down = check_reach(s, vec_times(-1, f->n));
    double edge = vec_norm(vec_add(check_point(f->face, 1), -1, check_point(f->face, 0)));
    double missing = f->sheet ? 0 : fmax(0, 0.02 * edge - (up + down));
    return 0.5 * (up - down + missing) - vec_dot(f->n, f->on);
}

/* A polygon of the core of a solid: corners in space; 0: there are no more, -1: too many corners,
 * or it is curved. */
static int polygon_of(const check_solid *s, int k, vec out[CORNERS])
{
    static const int sides[6][4] = { { 0, 1, 3, 2 }, { 4, 5, 7, 6 }, { 0, 1, 5, 4 },
                                     { 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 1, 3, 7, 5 } };
    int points = check_point_count(s), corners = points;
    bool box = s->shape == CHECK_BOX && !s->flat, hull = s->shape == CHECK_HULL;
    if (points == 0)
        return -1;
    if (box)
        corners = k < 6 ? 4 : 0;
    else if (hull)
        corners = k < s->row->faces ? check_corner_count(s->data, s->row, k) : 0;
    else
        corners = k > 0 ? 0 : points;
    for (int i = 0; i < corners && corners <= CORNERS; i++) {
        vec p = hull ? check_corner(s->data, s->row, k, i) : (vec){ 0, 0, 0 };
        out[i] = hull ? vec_add(s->at.x, 1, quat_rotate(s->at.q, p))
                      : check_point(s, box           ? sides[k][i]
                                       : points == 4 ? i ^ i >> 1
                                                     : i);
    }
    return corners <= CORNERS ? corners : -1;
}

/* Clip a polygon to (p - on).out <= slack. */
static int cut(vec *p, int count, vec on, vec out, double slack)
{
    vec kept[CORNERS + 2];
    int n = 0;
    for (int k = 0; k < count && n < CORNERS; k++) {
        vec from = p[k], to = p[(k + 1) % count];
        double here = vec_dot(vec_add(from, -1, on), out) - slack;
        double there = vec_dot(vec_add(to, -1, on), out) - slack;
        if (here <= 0)
            kept[n++] = from;
        if ((here < 0 && there > 0) || (here > 0 && there < 0))
            kept[n++] = vec_add(from, here / (here - there), vec_add(to, -1, from));
    }
    for (int k = 0; k < n; k++)
        p[k] = kept[k];
    return n;
}

/* delta of one polygon; -infinite: nothing of it is over the face. */
static double delta_of(const front *f, vec *p, int count, double slack)
{
    int corners = check_point_count(f->face);
    double most = -HUGE_VAL;
    for (int k = 0; k < corners && count > 0; k++) {
        vec from = check_point(f->face, k), to = check_point(f->face, (k + 1) % corners);
        vec e = vec_add(to, -1, from), out = corners == 2 ? vec_times(-1, e) : vec_cross(e, f->n);
        count = cut(p, count, from, vec_times(1 / vec_norm(out), out), slack);
    }
    for (int k = 0; k < count; k++)
        most = fmax(most, -height_over(f, p[k]));
    return most;
}

/* Of a curved solid: all of it, whether it is over the face or not. */
static double delta(const front *f, const check_solid *s)
{
    vec p[CORNERS + 2];
    double slack = 2e-9 * (ball_of(s).radius + ball_of(f->face).radius), most = -HUGE_VAL;
    int count;
    for (int k = 0; (count = polygon_of(s, k, p)) > 0; k++)
        most = fmax(most, delta_of(f, p, count, slack));
    if (count < 0)
        return check_reach(s, vec_times(-1, f->n)) + vec_dot(f->n, f->on);
    return most + check_rounding_of(s);
}

/* ---- two pieces ----------------------------------------------------------------------------- */

/* Whether the face looks at the piece: 1: yes, -1: no, 0: uncertain. A sheet turns to it. */
static int looks_at(front *f, const check_solid *s, double slack)
{
    double height = height_of(f, s);
    if (f->sheet && height < 0) {
        f->n = vec_times(-1, f->n);
        height = -height;
    }
    return height > slack ? 1 : height < -slack ? -1 : 0;
}

/* m: how deep a thin piece that is still detected lies entirely behind the face; 0: it does not. */
static double sunk(const front *f, const check_solid *s)
{
    return is_face(s) || f->sheet ? 0 : fmax(0, vec_dot(f->n, f->on) - check_reach(s, f->n));
}

/* Contribution of a face: `high` becomes what the rule may find. -1: it repels nothing; 0:
 * perhaps. */
static int ask_face(const check_solid *face, const check_solid *s, double slack, double *high,
                    double *behind, vec *n)
{
    front f = front_of(face);
    int looks = looks_at(&f, s, slack);
    *n = f.n;
    *high = looks < 0 ? -HUGE_VAL : delta(&f, s);
    *behind = looks < 0 ? 0 : sunk(&f, s);
    if (f.sheet && looks == 0) { /* it may have turned the other way */
        f.n = vec_times(-1, f.n);
        *high = fmax(*high, delta(&f, s));
    }
    return looks;
}

/* m: what the rule may miss of a shortest displacement that is not along the normal of the face. It
 * takes caps and bases of cylinders and cones as octagons, which are R (1 - cos(pi/8)) smaller than
 * disks. */
static double missed_by_rule(const check_solid *s)
{
    bool rimmed = s->shape == CHECK_SOLID_CYLINDER || s->shape == CHECK_SOLID_CONE;
    return rimmed ? 0.0762 * s->radius : 0;
}

static check_range piece_range(const check_question *question, double slack)
{
    const check_solid *a = question->a, *b = question->b;
    double over[2] = { -HUGE_VAL, -HUGE_VAL }, behind[2] = { 0, 0 };
    vec n[2];
    int one = is_face(b) ? ask_face(b, a, slack, &over[0], &behind[0], &n[0]) : 1;
    int two = is_face(a) ? ask_face(a, b, slack, &over[1], &behind[1], &n[1]) : 1;
    bool faces = is_face(a) || is_face(b), both = is_face(a) && is_face(b);
    /* of two faces either may be the body */
    if (both ? one < 0 && two < 0 && !question->facing : one < 0 || two < 0)
        return (check_range){ -HUGE_VAL, -HUGE_VAL, { 0, 0, 0 } };
    check_range found = check_convex_depth(question);
    bool own = (is_face(b) && vec_norm(vec_add(found.n, -1, n[0])) < 1e-7) ||
               (is_face(a) && vec_norm(vec_add(found.n, 1, n[1])) < 1e-7);
    double below = fmax(behind[0], behind[1]); /* 2: in a hollow it may also be beyond the edge */
    if (faces && (both || !own) && found.high > -slack - 2 * below)
        found.high = fmax(fmax(found.high, below), fmax(over[0], over[1]));
    if (faces && !own)
        found.low -= fmax(missed_by_rule(a), missed_by_rule(b));
    if ((one <= 0 || two <= 0) && !question->facing)
        found.low = -HUGE_VAL;
    return found;
}

/* A body behind the faces that it crosses: harmless behind a thin sheet or a hollow, but not where
 * its centre is inside a closed surface. Then it must move at least by the distance of its centre
 * from the surface. */
static check_range swallowed_range(const check_question *question, double slack)
{
    const check_solid *face = is_face(question->a) ? question->a : question->b;
    const check_solid *s = face == question->a ? question->b : question->a;
    check_range nothing = { -HUGE_VAL, -HUGE_VAL, { 0, 0, 0 } };
    if (!is_face(face) || is_face(s) || !face->row->closed ||
        !(check_convex_depth(question).high > slack))
        return nothing;
    vec p = quat_rotate_back(face->at.q, vec_add(check_middle(s), -1, face->at.x));
    double depth = check_depth_inside(face->data, face->row, p);
    return depth > slack ? (check_range){ depth, HUGE_VAL, { 0, 0, 0 } } : nothing;
}

/* Whether a closed body, with face s and centre x, is in front of another face: then it may not
 * cross that, whichever way its own face points. */
static bool comes_from_front(const check_solid *s, vec x, const check_solid *face, double slack)
{
    if (!is_face(s) || !is_face(face) || !s->row->closed)
        return false;
    front f = front_of(face);
    double height = height_over(&f, x);
    return (f.sheet ? fabs(height) : height) > slack;
}

static double bent_of(const check_solid *s)
{
    return s->shape == CHECK_HULL ? s->row->bent : 0;
}

/* m: largest distance behind a face at which it still detects thin bodies. */
static double seen_behind(const check_solid *a, const check_solid *b)
{
    return 0.02 * fmax(is_face(a) ? ball_of(a).radius : 0, is_face(b) ? ball_of(b).radius : 0);
}

/* Add two pieces that may be close to the range of their bodies. */
static void add_pieces(const check_solid *a, const check_solid *b, const check_couple *pair,
                       check_range *out)
{
    check_ball one = ball_of(a), two = ball_of(b);
    double size = one.radius + two.radius, apart = vec_norm(vec_add(one.x, -1, two.x));
    double rounding =
        10 * CHECK_ROUNDING * (vec_norm(pair->x[pair->a]) + vec_norm(pair->x[pair->b]) + size);
    if (apart > size + rounding + seen_behind(a, b))
        return;
    rounding += 2 * (bent_of(a) + bent_of(b));
    double slack = rounding + flat_share * size;
    const check_question question = { a,
                                      b,
                                      pair->hints,
                                      pair->hint_count,
                                      fmax(pair->enough, out->low),
                                      comes_from_front(a, pair->x[pair->a], b, slack) ||
                                          comes_from_front(b, pair->x[pair->b], a, slack) };
    check_range found = piece_range(&question, slack);
    if (found.high == -HUGE_VAL)
        found = swallowed_range(&question, slack);
    bool ball = a->shape == CHECK_SPHERE || b->shape == CHECK_SPHERE;
    double doubt = rounding + CHECK_LOWEST * size +
                   check_promise(class_of(a), class_of(b), ball, found.high, size);
    out->low = fmax(out->low, found.low - doubt);
    out->high = fmax(out->high, found.high + doubt);
}

/* ---- two bodies ----------------------------------------------------------------------------- */

static void add_bodies(const check_run *run, const check_couple *pair, check_range *out)
{
    check_place_of at_a = place_of(pair, pair->a), at_b = place_of(pair, pair->b);
    check_piece i = CHECK_FIRST_PIECE;
    double reach = check_extent(run, pair->b);
    while (check_piece_next(run, pair->a, at_a, at_b.x, reach, &i)) {
        check_solid a = check_piece_at(run, pair->a, at_a, i);
        check_ball near = ball_of(&a);
        check_piece k = CHECK_FIRST_PIECE;
        while (check_piece_next(run, pair->b, at_b, near.x, near.radius, &k)) {
            check_solid b = check_piece_at(run, pair->b, at_b, k);
            add_pieces(&a, &b, pair, out);
        }
    }
}

static void add_depth(check_range *out, double depth, double doubt)
{
    out->low = fmax(out->low, depth - doubt);
    out->high = fmax(out->high, depth + doubt);
}

static void add_wall(const check_run *run, const check_couple *pair, check_range *out)
{
    check_plane planes[CHECK_PLANES];
    int a = pair->a, b = pair->b, count = check_planes(run, b, pair->q[b], planes);
    check_place_of at = place_of(pair, a);
    double size = vec_norm(at.x) + vec_norm(pair->x[b]) + check_extent(run, a) +
                  vec_norm(run->bodies.size[b]) + run->bodies.radius[b];
    double doubt = 10 * CHECK_ROUNDING * size + check_lowest_doubt(run, a);
    for (int k = 0; k < count; k++)
        add_depth(out, check_plane_depth(run, a, at, pair->x[b], &planes[k]), doubt);
    if (count == 0)
        add_depth(out, check_round_depth(run, a, at, b, place_of(pair, b)),
                  doubt + check_round_doubt(run, a));
}

/* Closed forms; false: there is none. */
static bool add_ball(const check_run *run, const check_couple *pair, check_range *out)
{
    check_witness found[CHECK_WITNESSES];
    int count = check_witnesses(run, pair->a, pair->b, pair->x, pair->q, found);
    for (int k = 0; k < count; k++)
        add_depth(out, -found[k].gap, CHECK_ROUNDING * found[k].size);
    return count > 0;
}

static check_couple turned(const check_couple *pair)
{
    check_couple other = *pair;
    other.a = pair->b;
    other.b = pair->a;
    other.hint_count = 0; /* they point the other way */
    return other;
}

bool check_overlap(const check_run *run, const check_couple *pair, check_range *out)
{
    check_couple other = turned(pair);
    *out = (check_range){ -HUGE_VAL, -HUGE_VAL, { 0, 0, 0 } };
    if (check_is_wall(run, pair->a) && check_is_wall(run, pair->b))
        return true;
    if (add_ball(run, pair, out) || add_ball(run, &other, out))
        return true;
    const check_couple *right = check_is_wall(run, pair->a) ? &other : pair;
    if (!check_has_pieces(run, right->a) || run->bodies.shape[right->b] == CHECK_FUNNEL)
        return false;
    if (check_is_wall(run, right->b))
        add_wall(run, right, out);
    else if (check_has_pieces(run, right->b))
        add_bodies(run, right, out);
    else
        return false;
    return true;
}

/* ---- convex solids --------------------------------------------------------------------------- */

/* How deep two convex solids overlap, with bounds from below and above.
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
