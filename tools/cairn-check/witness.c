/* witness.c - gaps of shapes without a formula: whether stored points prove the gap. */
#include "shapes.h"

/* ---- edges of a surface from which both faces rise ------------------------------------------- */

/* With n the normal of the face, pointing to the side of p, and o the direction in its plane that
 * leads over the edge, the face across it rises if one of its corners is higher than the plane. The
 * wedge contains the points beyond the edge, o.(p - edge) >= 0, that are either straight over that
 * other face and above the plane, or behind both planes and beyond the edge from the other face as
 * well. */

/* A face seen from one of its edges, in the frame of its shape. */
typedef struct seen {
    const check_solid *s;
    int face;
    vec n;
} seen;

static vec corner(const seen *f, int k)
{
    return check_corner(f->s->data, f->s->row, f->face, k);
}

static seen see(const check_solid *s, int face)
{
    return (seen){ s, face, s->data->normals[s->row->first_face + face] };
}

/* m: how far p is out over the edge from corner k (2D: over the corner). */
static double out_over(const seen *f, int k, vec p)
{
    int count = check_corner_count(f->s->data, f->s->row, f->face);
    vec from = corner(f, k), e = vec_add(corner(f, (k + 1) % count), -1, from);
    vec out = count == 2 ? vec_times(-1, e) : vec_cross(e, f->n);
    return vec_dot(vec_add(p, -1, from), out) / vec_norm(out);
}

/* m: how far p is out over the edges, at most: negative straight over the face. */
static double outside(const seen *f, vec p)
{
    double most = -HUGE_VAL;
    for (int k = 0; k < check_corner_count(f->s->data, f->s->row, f->face); k++)
        most = fmax(most, out_over(f, k, p));
    return most;
}

static double height(const seen *f, vec p)
{
    return vec_dot(f->n, vec_add(p, -1, corner(f, 0)));
}

/* m: the highest corner of another face over the plane of this one, seen from the side of p. */
static double rise_of(const seen *other, const seen *f, double side)
{
    double most = 0;
    for (int k = 0; k < check_corner_count(f->s->data, f->s->row, other->face); k++)
        most = fmax(most, side * height(f, corner(other, k)));
    return most;
}

static bool is_in_wedge(const seen *f, int k, vec p, double tolerance)
{
    int next = check_neighbour(f->s->data, f->s->row, f->face, k);
    if (next < 0 || out_over(f, k, p) < -tolerance)
        return false;
    seen other = see(f->s, next);
    bool sheet = f->s->shape == CHECK_MESH && !f->s->row->closed;
    double side = sheet && height(f, p) < 0 ? -1 : 1;
    if (!(rise_of(&other, f, side) > tolerance))
        return false;
    if (side * height(f, p) >= -tolerance)
        return outside(&other, p) <= tolerance;
    return height(&other, p) <= tolerance && outside(&other, p) >= -tolerance;
}

/* Whether p, in space, lies beyond an edge of the face in the wedge between its plane and that of a
 * neighbour that rises there: a point there may be pushed along the normal of the face. */
static bool in_hollow(const check_solid *face, vec p, double tolerance)
{
    vec local = quat_rotate_back(face->at.q, vec_add(p, -1, face->at.x));
    seen f = see(face, face->face);
    for (int k = 0; k < check_corner_count(face->data, face->row, face->face); k++)
        if (is_in_wedge(&f, k, local, tolerance))
            return true;
    return false;
}

/* ---- witness points -------------------------------------------------------------------------- */

/* A contact states that the point a = p + g/2 n is on one shape, and b = p - g/2 n on the other.
 * For two convex solids A and B
 *
 *     a in A, b in B           their distance is at most |a - b| = g
 *     n.a = min over A of n.p, n.b = max over B of n.p     and it is at least g
 *
 * so these four facts prove gap and normal; of overlapping solids they prove that moving them apart
 * along n takes exactly -g, and that no small turn of n needs less. Of the points of one pair and
 * normal the deepest must have the last two; all are on both surfaces.
 *
 * Bodies of several pieces (compounds, surfaces) touch where some piece of each has these facts. A
 * face may instead push along its own normal, whatever lies beyond its edges: then both points are
 * on their surfaces, and n is the face's. In a hollow (above) its point may lie beyond its edge, in
 * its plane.
 *
 * Bodies that pass each other may have another plane between them, n.p = n.b: all of B is below it,
 * n.a is the lowest of A, up to what bodies at rest may overlap, and with the velocities before the
 * step A stays above it. Its gap is at most the distance.
 *
 * Walls: half-space and inside of a box have n and b on a plane of theirs; inside of a cylinder or
 * cone a point (less the rounding of its body) meets the wall along its own radius. */

/* Two bodies in the poses at which contacts are evaluated. */
typedef struct couple {
    int a, b;
    check_place_of at_a, at_b;
    double size;      /* m: size that rounding is relative to     */
    double tolerance; /* m: promised accuracy of points            */
} couple;

static check_place_of placed(const check_run *run, int j, int side)
{
    return (check_place_of){ check_x_of(run, j, side),
                             run->q_eval[run->contacts.body[2 * j + side]] };
}

static couple couple_of(const check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    couple p = { .a = c->body[2 * j], .b = c->body[2 * j + 1] };
    p.at_a = placed(run, j, 0);
    p.at_b = placed(run, j, 1);
    p.size = vec_norm(p.at_a.x) + vec_norm(p.at_b.x) + check_extent(run, p.a) +
             fmax(0, check_extent(run, p.b)) + vec_norm(c->point[j]);
    p.tolerance = 10 * CHECK_ROUNDING * p.size;
    return p;
}

static vec point_of(const check_run *run, int j, bool on_a)
{
    const check_contacts *c = &run->contacts;
    return vec_add(c->point[j], (on_a ? 0.5 : -0.5) * c->gap[j], c->normal[j]);
}

/* Whether two contacts are points of one pair and normal. Where bodies almost touch, rounding may
 * make normals of one contact differ by about 1e-8; heights along these differ by less than the
 * tolerance for the lowest. */
static bool belong_together(const check_run *run, int i, int j)
{
    const int32_t *p = run->contacts.body + 2 * i, *q = run->contacts.body + 2 * j;
    vec apart = vec_add(run->contacts.normal[i], -1, run->contacts.normal[j]);
    return p[0] == q[0] && p[1] == q[1] && vec_norm(apart) < CHECK_LOWEST;
}

static void check_near(check_run *run, int j, const char *what, double value, double tolerance)
{
    check_between(run->report, check_at(run, "contact", j, what), value, -tolerance, tolerance);
}

/* Contacts of the pair of contact j, which are consecutive: [first, end). */
typedef struct group {
    int first, end;
} group;

static bool are_of_one_pair(const check_run *run, int i, int j)
{
    const int32_t *p = run->contacts.body + 2 * i, *q = run->contacts.body + 2 * j;
    return (p[0] == q[0] && p[1] == q[1]) || (p[0] == q[1] && p[1] == q[0]);
}

static group group_of(const check_run *run, int j)
{
    group g = { j, j + 1 };
    while (g.first > 0 && are_of_one_pair(run, g.first - 1, j))
        g.first--;
    while (g.end < run->contacts.count && are_of_one_pair(run, g.end, j))
        g.end++;
    return g;
}

static bool is_deepest(const check_run *run, int j)
{
    group g = group_of(run, j);
    for (int i = g.first; i < g.end; i++)
        if (belong_together(run, i, j) && run->contacts.gap[i] < run->contacts.gap[j])
            return false;
    return true;
}

/* ---- on the surface ------------------------------------------------------------------------- */

/* Corners of the core are moved by the rounding along n: where n does not point away from a corner,
 * as at points that are not deepest, they end up inside by up to the rounding; the core of a ball
 * has no corners. */
static double allowed_inside(const check_solid *s, bool along)
{
    return along || s->shape == CHECK_SPHERE ? 0 : check_rounding_of(s);
}

/* One side of a contact: which point of which body. */
typedef struct side {
    int body;
    check_place_of at;
    vec point, other; /* of this body; of the other one           */
    bool along;       /* n points away from the body at the point */
    bool beyond;      /* it may be beyond the edges of faces      */
    double tolerance; /* m                                        */
} side;

/* m: how far a point is from the plane of a face in whose hollow the other point is. */
static double missed_in_hollow(const check_solid *s, const side *x)
{
    vec n = quat_rotate(s->at.q, s->data->normals[s->row->first_face + s->face]);
    bool inside = in_hollow(s, x->other, x->tolerance);
    return inside ? fabs(vec_dot(n, vec_add(x->point, -1, check_point(s, 0)))) : HUGE_VAL;
}

/* m: distance of a point from where it is allowed. */
static double missed_by(const check_solid *s, const side *x)
{
    double out = check_outside(s, x->point);
    double missed = fmax(0, fmax(out, -out - allowed_inside(s, x->along)));
    bool hollow = x->beyond && check_is_surface(s->shape) && missed > x->tolerance;
    return hollow ? fmin(missed, missed_in_hollow(s, x)) : missed;
}

/* The next piece that has the point on its surface. */
static bool next_on(const check_run *run, const side *x, check_piece *piece)
{
    double within = x->beyond ? HUGE_VAL : x->tolerance;
    while (check_piece_next(run, x->body, x->at, x->point, within, piece)) {
        check_solid s = check_piece_at(run, x->body, x->at, *piece);
        if (missed_by(&s, x) <= x->tolerance)
            return true;
    }
    return false;
}

static side side_of(const check_run *run, int j, const couple *p, bool on_a, double tolerance)
{
    /* a body that touches along the face's own normal may have its deepest point beyond an edge */
    bool faces = check_has_faces(run, p->a) || check_has_faces(run, p->b);
    side x = { .body = on_a ? p->a : p->b,
               .at = on_a ? p->at_a : p->at_b,
               .point = point_of(run, j, on_a),
               .other = point_of(run, j, !on_a),
               .along = !faces && !check_is_round_wall(run, p->b) && is_deepest(run, j),
               .tolerance = tolerance };
    check_piece piece = CHECK_FIRST_PIECE;
    x.beyond = check_has_faces(run, x.body) && !next_on(run, &x, &piece);
    return x;
}

/* The piece with the point on its surface, or the nearest one. */
static check_solid find_piece(const check_run *run, const side *x, double *missed)
{
    check_piece piece = CHECK_FIRST_PIECE;
    check_solid best = { .shape = CHECK_OTHER };
    bool good = next_on(run, x, &piece);
    *missed = HUGE_VAL;
    if (good) {
        best = check_piece_at(run, x->body, x->at, piece);
        *missed = missed_by(&best, x);
        return best;
    }
    piece = CHECK_FIRST_PIECE;
    while (check_piece_next(run, x->body, x->at, x->point, HUGE_VAL, &piece)) {
        check_solid s = check_piece_at(run, x->body, x->at, piece);
        double off = missed_by(&s, x);
        best = off < *missed ? s : best;
        *missed = fmin(off, *missed);
    }
    return best;
}

static check_solid check_on(check_run *run, int j, const couple *p, bool on_a, double tolerance)
{
    double missed;
    side x = side_of(run, j, p, on_a, tolerance);
    check_solid s = find_piece(run, &x, &missed);
    check_between(
        run->report,
        check_at(run, "contact", j,
                 on_a ? "witness on a: off the surface" : "witness on b: off the surface"),
        missed, 0, tolerance);
    return s;
}

/* ---- two solids ----------------------------------------------------------------------------- */

static double tolerance_of(const check_run *run, const couple *p, int j)
{
    check_class one = check_pieces_class(run, p->a), two = check_pieces_class(run, p->b);
    double size = check_extent(run, p->a) + check_extent(run, p->b);
    bool plain = check_is_one_piece(run, p->a) && check_is_one_piece(run, p->b);
    bool ball = check_is_ball(run, p->a) || check_is_ball(run, p->b);
    if (!plain && (one == CHECK_SMOOTH || two == CHECK_SMOOTH))
        one = CHECK_RIMMED; /* the smooth body may touch faces and parts */
    return p->tolerance + check_promise(one, two, ball, -run->contacts.gap[j], size) +
           2 * (check_bent(run, p->a) + check_bent(run, p->b));
}

/* n.a - min over A, and max over B - n.b: 0 where n is normal to both surfaces, or a face's own. */
static double slack_of(const check_run *run, int j, const check_solid *a, const check_solid *b)
{
    vec n = run->contacts.normal[j], back = vec_times(-1, n);
    if (check_is_face_normal(b, n) || check_is_face_normal(a, back))
        return 0;
    double low = -check_reach(a, back), high = check_reach(b, n);
    return fmax(fabs(vec_dot(n, point_of(run, j, true)) - low),
                fabs(high - vec_dot(n, point_of(run, j, false))));
}

/* The least slack of contact j over pieces with both points on them, of these parts (-1: any). */
static double least_slack(const check_run *run, int j, const couple *p, double tolerance,
                          const int part[2], bool beyond)
{
    side on_a = side_of(run, j, p, true, tolerance), on_b = side_of(run, j, p, false, tolerance);
    on_a.beyond = on_a.beyond || (beyond && check_has_faces(run, p->a));
    on_b.beyond = on_b.beyond || (beyond && check_has_faces(run, p->b));
    double least = HUGE_VAL;
    for (check_piece i = CHECK_FIRST_PIECE; next_on(run, &on_a, &i);) {
        check_solid a = check_piece_at(run, p->a, p->at_a, i);
        for (check_piece k = CHECK_FIRST_PIECE; next_on(run, &on_b, &k);) {
            check_solid b = check_piece_at(run, p->b, p->at_b, k);
            if ((part[0] < 0 || part[0] == i.part) && (part[1] < 0 || part[1] == k.part))
                least = fmin(least, slack_of(run, j, &a, &b));
        }
    }
    return least;
}

/* A contact that is not the deepest of its parts is proved by the one that is. */
static double slack_in_group(const check_run *run, int j, const couple *p, double tolerance)
{
    side on_a = side_of(run, j, p, true, tolerance), on_b = side_of(run, j, p, false, tolerance);
    group g = group_of(run, j);
    double least = HUGE_VAL;
    for (check_piece i = CHECK_FIRST_PIECE; next_on(run, &on_a, &i);)
        for (check_piece k = CHECK_FIRST_PIECE; next_on(run, &on_b, &k);)
            for (int c = g.first; c < g.end && least > tolerance; c++)
                if (belong_together(run, c, j))
                    least = fmin(least, least_slack(run, c, p, tolerance,
                                                    (const int[2]){ i.part, k.part }, false));
    return least;
}

/* m/s: velocity of a body before the step, of a driven one in it. */
static vec velocity_of(const check_run *run, int body)
{
    bool dynamic = run->bodies.motion[body] == CHECK_DYNAMIC;
    return dynamic ? run->before.v[run->before.row[body]] : run->v_start[body];
}

/* Whether the plane of contact j lies between a piece of A, which may sink into it by so much, and
 * one of B. */
static bool lies_between(const check_run *run, int j, const couple *p, double sunk)
{
    vec n = run->contacts.normal[j], back = vec_times(-1, n);
    double high = vec_dot(n, point_of(run, j, true)), low = vec_dot(n, point_of(run, j, false));
    bool above = false, below = false;
    for (check_piece i = CHECK_FIRST_PIECE;
         check_piece_next(run, p->a, p->at_a, p->at_a.x, HUGE_VAL, &i);) {
        check_solid a = check_piece_at(run, p->a, p->at_a, i);
        double over = high + check_reach(&a, back);
        above = above || (over >= -p->tolerance && over <= sunk + p->tolerance);
    }
    for (check_piece i = CHECK_FIRST_PIECE;
         check_piece_next(run, p->b, p->at_b, p->at_b.x, HUGE_VAL, &i);) {
        check_solid b = check_piece_at(run, p->b, p->at_b, i);
        below = below || fabs(low - check_reach(&b, n)) <= p->tolerance;
    }
    return above && below;
}

/* Whether contact j is a plane between bodies that pass each other. */
static bool is_passing(const check_run *run, int j, const couple *p)
{
    double h = run->settings.h, least = fmin(check_extent(run, p->a), check_extent(run, p->b));
    double sunk = 1e-5 * least + 0.03 * h * h * vec_norm(run->settings.gravity);
    vec way = vec_add(velocity_of(run, p->a), -1, velocity_of(run, p->b));
    if (run->cell.there)
        way = vec_add(way, -1, check_drift(run, j));
    double gap = run->contacts.gap[j] + fmin(0, h * vec_dot(way, run->contacts.normal[j]));
    if (check_has_faces(run, p->a) || check_has_faces(run, p->b))
        return false;
    return gap >= -sunk - p->tolerance && lies_between(run, j, p, sunk);
}

static void check_solids(check_run *run, int j, const couple *p)
{
    double tolerance = tolerance_of(run, p, j), missed;
    double size = check_extent(run, p->a) + check_extent(run, p->b);
    double most = tolerance + CHECK_LOWEST * size;
    bool plain = check_is_one_piece(run, p->a) && check_is_one_piece(run, p->b);
    side on_b = side_of(run, j, p, false, tolerance);
    find_piece(run, &on_b, &missed);
    if (missed > tolerance && is_passing(run, j, p))
        return;
    check_on(run, j, p, true, tolerance);
    check_on(run, j, p, false, tolerance);
    if (plain && !is_deepest(run, j))
        return;
    const int any[2] = { -1, -1 };
    double slack = least_slack(run, j, p, tolerance, any, false);
    if (slack > most && !plain)
        slack = slack_in_group(run, j, p, tolerance);
    if (slack > most && !plain)
        slack = fmin(slack, least_slack(run, j, p, tolerance, any, true));
    if (slack < HUGE_VAL) /* else no points are on the surfaces, which was reported */
        check_near(run, j, "normal of both surfaces: slack", slack, most);
}

/* ---- walls ---------------------------------------------------------------------------------- */

/* The plane with normal n. */
static check_plane plane_along(const check_run *run, const couple *p, vec n)
{
    check_plane planes[CHECK_PLANES];
    int best = 0, count = check_planes(run, p->b, p->at_b.q, planes);
    for (int k = 1; k < count; k++)
        best = vec_dot(planes[k].n, n) > vec_dot(planes[best].n, n) ? k : best;
    return planes[best];
}

/* A lowest point must be among those of the pair and plane. */
static double lowest_of(const check_run *run, int j, const couple *p)
{
    vec n = run->contacts.normal[j];
    double low = -check_body_reach(run, p->a, p->at_a, vec_times(-1, n)), least = HUGE_VAL;
    group g = group_of(run, j);
    for (int i = g.first; i < g.end; i++)
        if (belong_together(run, i, j))
            least = fmin(least, vec_dot(n, point_of(run, i, true)) - low);
    return least;
}

static bool is_first(const check_run *run, int j)
{
    for (int i = group_of(run, j).first; i < j; i++)
        if (belong_together(run, i, j))
            return false;
    return true;
}

static void check_on_plane(check_run *run, int j, const couple *p)
{
    vec n = run->contacts.normal[j];
    check_plane plane = plane_along(run, p, n);
    check_same_vec(run->report, check_at(run, "contact", j, "normal of the wall"), n, plane.n, 1);
    vec on = vec_add(point_of(run, j, false), -1, p->at_b.x);
    check_near(run, j, "witness on the wall", vec_dot(on, n) - plane.level, p->tolerance);
    check_on(run, j, p, true, p->tolerance);
    if (is_first(run, j))
        check_near(run, j, "lowest point: missed by", lowest_of(run, j, p),
                   p->tolerance + check_lowest_doubt(run, p->a));
}

/* The point of the core as a ball of its rounding, in the direction where it is nearest; of a ball
 * in the other directions, too. */
static void check_in_round(check_run *run, int j, const couple *p)
{
    check_solid s = check_on(run, j, p, true, p->tolerance);
    double round = check_rounding_of(&s);
    bool ball = s.shape == CHECK_SPHERE || s.shape == CHECK_POINT;
    vec n = run->contacts.normal[j], core = vec_add(point_of(run, j, true), round, n);
    check_witness w = check_in_wall(run, (check_ball){ core, round }, p->b, n, ball);
    check_same(run->report, check_at(run, "contact", j, "gap"), run->contacts.gap[j], w.gap,
               10 * w.size);
    check_same_vec(run->report, check_at(run, "contact", j, "normal"), n, w.normal, 10 * w.turn);
}

/* ---- all of it ------------------------------------------------------------------------------ */

bool check_witness_points(check_run *run, int j)
{
    couple p = couple_of(run, j);
    if (!check_has_pieces(run, p.a))
        return false;
    check_plane planes[CHECK_PLANES];
    if (check_planes(run, p.b, p.at_b.q, planes) > 0)
        check_on_plane(run, j, &p);
    else if (check_is_round_wall(run, p.b))
        check_in_round(run, j, &p);
    else if (check_has_pieces(run, p.b))
        check_solids(run, j, &p);
    else
        return false;
    return true;
}
