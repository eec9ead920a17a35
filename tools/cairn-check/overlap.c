/* overlap.c - how deep two bodies of any shapes overlap.
 *
 * Bodies are divided into convex pieces; the depth of a pair is that of the deepest pair of pieces.
 * Two solids: the shortest separating displacement, of convex.c. A body in a wall: how far its
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
