/* test_containers.c - every bounded shape in every container, at random poses, against brute force.
 *
 * The wall of a container is a plane, or one for each direction e round the axis; the distance of a
 * body from it is the level of the plane minus how far the body reaches along its normal
 * (brute_force.h). Facts: each plane (round walls: each place where the body is nearest) that is
 * within the margin has a contact with that gap; no contact is deeper; points are on body and wall.
 *
 * CAIRN_RANDOM_POSES sets how many poses of each pair of kinds are tried, default 300. */
#include "tests/collide/meetings.h"

enum { WALLS = 6, DIRECTIONS = 720 };

/* Points are promised to rounding, and lower ones may be left out that are lower by 1e-9. */
static const double LOWEST = 2e-9;
/* Rounding of places some metres from the origin, m. */
static const double ROUNDING = 1e-13;

/* The half-space n.p >= level, all p in space. */
typedef struct plane {
    cairn_vec3 n;
    double level;
} plane;

static double gap_of(const brute_body *b, const plane *p)
{
    return -brute_reach(b, cairn_scale(-1, p->n)) - p->level;
}

/* ---- walls by their definitions --------------------------------------------------------------- */

static cairn_vec3 axis_of(const meeting *m)
{
    return cairn_rotate(m->b.q, cairn_unit(m->wall.axis));
}

static bool is_round(const meeting *m)
{
    return m->wall.kind == CAIRN_SHAPE_INSIDE_CYLINDER ||
           (m->wall.kind == CAIRN_SHAPE_INSIDE_CONE && m->dimension == 3);
}

/* The plane of a round wall at the direction e, at right angles to the axis. */
static plane tangent_plane(const meeting *m, cairn_vec3 e)
{
    double sine = 0, cosine = 1, level = -m->wall.radius;
    if (m->wall.kind == CAIRN_SHAPE_INSIDE_CONE) {
        sine = sin(m->wall.half_angle);
        cosine = cos(m->wall.half_angle);
        level = 0;
    }
    plane p = { cairn_add_scaled(cairn_scale(sine, axis_of(m)), -cosine, e), level };
    p.level += cairn_dot(p.n, m->b.x);
    return p;
}

/* The planes of a container of planes: their number. */
static int planes_of(const meeting *m, plane out[WALLS])
{
    const cairn_vec3 units[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    const double sides[3] = { m->wall.size.x, m->wall.size.y, m->wall.size.z };
    if (m->wall.kind == CAIRN_SHAPE_HALF_SPACE) {
        out[0].n = axis_of(m);
        out[0].level = cairn_dot(out[0].n, m->b.x);
        return 1;
    }
    if (m->wall.kind == CAIRN_SHAPE_INSIDE_CONE) {
        cairn_vec3 axis = axis_of(m), e = { -axis.y, axis.x, 0 };
        out[0] = tangent_plane(m, e);
        out[1] = tangent_plane(m, cairn_scale(-1, e));
        return 2;
    }
    for (int k = 0; k < 2 * m->dimension; k++) {
        out[k].n = cairn_rotate(m->b.q, cairn_scale(k % 2 ? -1 : 1, units[k / 2]));
        out[k].level = cairn_dot(out[k].n, m->b.x) - 0.5 * sides[k / 2];
    }
    return 2 * m->dimension;
}

/* ---- planes ----------------------------------------------------------------------------------- */

static bool check_plane(const meeting *m, const plane *p, verdicts *v)
{
    double gap = gap_of(m->brute, p), least = INFINITY, slack = LOWEST * m->size + ROUNDING;
    for (int k = 0; k < m->count; k++)
        if (cairn_norm(cairn_sub(m->contact[k].normal, p->n)) <= 1e-9)
            least = fmin(least, m->contact[k].gap);
    if (gap > m->margin)
        return meeting_fact(m, v, least > m->margin - slack, "contact with a plane out of reach",
                            least, gap);
    if (gap > m->margin - slack)
        return true;
    return meeting_fact(m, v, fabs(least - gap) <= slack, "least gap with a plane", least, gap);
}

/* b is on the plane with its normal. */
static bool check_on_planes(const meeting *m, const plane *planes, int count, verdicts *v)
{
    for (int k = 0; k < m->count; k++) {
        double off = INFINITY;
        for (int i = 0; i < count; i++)
            if (cairn_norm(cairn_sub(m->contact[k].normal, planes[i].n)) <= 1e-12)
                off = fabs(cairn_dot(planes[i].n, m->contact[k].on_b) - planes[i].level);
        if (!meeting_fact(m, v, off <= 1e-12 * (m->size + 10), "b is off the planes", off, 0))
            return false;
    }
    return true;
}

static void check_in_planes(const meeting *m, verdicts *v)
{
    plane planes[WALLS];
    int count = planes_of(m, planes);
    if (!meeting_points(m, v, 1e-9 * m->size) || !check_on_planes(m, planes, count, v))
        return;
    for (int k = 0; k < count; k++)
        if (!check_plane(m, &planes[k], v))
            return;
}

/* ---- round walls ------------------------------------------------------------------------------ */

typedef struct ring {
    const meeting *m;
    const brute_piece *piece;
    cairn_vec3 t, u;
} ring;

static ring ring_of(const meeting *m, const brute_piece *piece)
{
    cairn_vec3 t = cairn_perpendicular(axis_of(m));
    return (ring){ m, piece, t, cairn_cross(axis_of(m), t) };
}

static cairn_vec3 direction_at(const ring *r, double angle)
{
    return cairn_add_scaled(cairn_scale(cos(angle), r->t), sin(angle), r->u);
}

static double gap_at(const ring *r, double angle)
{
    plane p = tangent_plane(r->m, direction_at(r, angle));
    return -brute_reach_of(r->piece, cairn_scale(-1, p.n)) - p.level;
}

/* The angle between low and high where the gap is least: golden section. */
static double least_between(const ring *r, double low, double high)
{
    const double part = 0.6180339887498949;
    for (int k = 0; k < 60; k++) {
        double a = high - part * (high - low), b = low + part * (high - low);
        if (gap_at(r, a) < gap_at(r, b))
            high = b;
        else
            low = a;
    }
    return 0.5 * (low + high);
}

static bool has_contact(const meeting *m, double gap, cairn_vec3 n, double turn)
{
    for (int k = 0; k < m->count; k++)
        if (fabs(m->contact[k].gap - gap) <= LOWEST * m->size + ROUNDING &&
            cairn_norm(cairn_sub(m->contact[k].normal, n)) <= turn)
            return true;
    return false;
}

/* How much nearer to the wall the place k of a ring is than all on the way to the next that is nearer
 * still: of both ways the lower. */
static double prominence(const double *gap, int k)
{
    double least = INFINITY;
    for (int way = -1; way <= 1; way += 2) {
        double most = gap[k];
        for (int i = 1; i < DIRECTIONS; i++) {
            double next = gap[(k + way * i + 2 * DIRECTIONS) % DIRECTIONS];
            most = fmax(most, next);
            if (next < gap[k])
                break;
        }
        least = fmin(least, most - gap[k]);
    }
    return least;
}

/* Where a curved piece is nearest to the wall, all round: places that stand out by more than 1e-4 of
 * its size. */
static bool check_curved(const meeting *m, const brute_piece *piece, verdicts *v)
{
    const ring r = ring_of(m, piece);
    const double step = 2 * M_PI / DIRECTIONS;
    double gap[DIRECTIONS];
    for (int k = 0; k < DIRECTIONS; k++)
        gap[k] = gap_at(&r, k * step);
    for (int k = 0; k < DIRECTIONS; k++) {
        double before = gap[(k + DIRECTIONS - 1) % DIRECTIONS], after = gap[(k + 1) % DIRECTIONS];
        if (gap[k] > before || gap[k] > after || gap[k] > m->margin)
            continue;
        double angle = least_between(&r, (k - 1) * step, (k + 1) * step), least = gap_at(&r, angle);
        plane p = tangent_plane(m, direction_at(&r, angle));
        bool found = least > m->margin - 1e-9 || has_contact(m, least, p.n, 1e-3) ||
                     prominence(gap, k) < 1e-4 * m->size;
        if (!meeting_fact(m, v, found, "a place nearest to the wall has a contact", NAN, least))
            return false;
    }
    return true;
}

/* Distance of a corner of the core from the wall, less the ball that sweeps it; its normal. */
static double corner_gap(const meeting *m, const brute_piece *piece, cairn_vec3 corner,
                         cairn_vec3 *normal)
{
    cairn_vec3 axis = axis_of(m), d = cairn_sub(corner, m->b.x);
    cairn_vec3 e = cairn_unit(cairn_add_scaled(d, -cairn_dot(d, axis), axis));
    plane p = tangent_plane(m, e);
    *normal = p.n;
    return cairn_dot(p.n, corner) - p.level - piece->rounding;
}

/* Whether the ball at a rounded corner is hidden in the body: other corners reach further along its
 * normal than the ball itself. */
static bool is_hidden(const brute_piece *piece, cairn_vec3 corner, cairn_vec3 n)
{
    double beyond = brute_reach_of(piece, cairn_scale(-1, n)) + cairn_dot(n, corner);
    return piece->rounding > 0 && beyond > 2 * piece->rounding * (1 - 1e-9);
}

/* A container is convex: a body is within it when its corners are. Each that is near the wall has a
 * contact of its own, up to the 12 that a pair can have. */
static bool check_corners(const meeting *m, const brute_piece *piece, verdicts *v)
{
    int near = 0;
    cairn_vec3 n;
    for (int k = 0; k < piece->count; k++)
        near += corner_gap(m, piece, piece->corner[k], &n) <= m->margin;
    for (int k = 0; k < piece->count && near <= CAIRN_WALL_WITNESSES; k++) {
        double gap = corner_gap(m, piece, piece->corner[k], &n);
        bool found = gap > m->margin - 1e-9 || has_contact(m, gap, n, 1e-6) ||
                     is_hidden(piece, piece->corner[k], n);
        if (!meeting_fact(m, v, found, "a corner near the wall has a contact", NAN, gap))
            return false;
    }
    return true;
}

/* The plane at b, along the normal, is one of the wall's, and b is on it. */
static bool check_on_round(const meeting *m, verdicts *v)
{
    for (int k = 0; k < m->count; k++) {
        const cairn_witness *w = &m->contact[k];
        cairn_vec3 axis = axis_of(m);
        cairn_vec3 e = cairn_unit(
            cairn_add_scaled(cairn_scale(-1, w->normal), cairn_dot(w->normal, axis), axis));
        plane p = tangent_plane(m, e);
        double off =
            fabs(cairn_dot(p.n, w->on_b) - p.level) + cairn_norm(cairn_sub(p.n, w->normal));
        if (!meeting_fact(m, v, off <= 1e-12 * (m->size + 10), "b is off the wall", off, 0))
            return false;
    }
    return true;
}

/* m: of a piece, where it is nearest: a corner, or the best of a ring, sharpened. */
static double least_gap_of(const meeting *m, const brute_piece *piece)
{
    double least = INFINITY, step = 2 * M_PI / DIRECTIONS;
    cairn_vec3 n;
    for (int k = 0; k < piece->count; k++)
        least = fmin(least, corner_gap(m, piece, piece->corner[k], &n));
    const ring r = ring_of(m, piece);
    for (int k = 0; k < DIRECTIONS && piece->count == 0; k++) {
        double here = gap_at(&r, k * step);
        if (here <= gap_at(&r, (k - 1) * step) && here <= gap_at(&r, (k + 1) * step))
            least = fmin(least, gap_at(&r, least_between(&r, (k - 1) * step, (k + 1) * step)));
    }
    return least;
}

/* The deepest of all contacts is as deep as the body. */
static bool check_deepest(const meeting *m, verdicts *v)
{
    double least = INFINITY, deepest = INFINITY;
    for (int k = 0; k < m->count; k++)
        least = fmin(least, m->contact[k].gap);
    for (int i = 0; i < m->brute->count; i++)
        deepest = fmin(deepest, least_gap_of(m, &m->brute->piece[i]));
    if (deepest > m->margin - 1e-9 && m->count == 0)
        return true;
    return meeting_fact(m, v, fabs(least - deepest) <= LOWEST * m->size + ROUNDING, "least gap",
                        least, deepest);
}

static void check_in_round(const meeting *m, verdicts *v)
{
    if (!meeting_points(m, v, 1e-9 * m->size) || !check_on_round(m, v) || !check_deepest(m, v))
        return;
    for (int k = 0; k < m->brute->count; k++) {
        const brute_piece *piece = &m->brute->piece[k];
        if (piece->count > 1 ? !check_corners(m, piece, v)
                             : piece->count == 0 && !check_curved(m, piece, v))
            return;
    }
}

/* ---- the funnel ------------------------------------------------------------------------------- */

/* Distance of a point from the meridian at direction e. */
static double from_meridian(const meeting *m, cairn_vec3 p, cairn_vec3 e)
{
    cairn_vec3 axis = axis_of(m), d = cairn_sub(p, m->b.x);
    cairn_vec3 low = cairn_scale(m->wall.bottom_radius, e);
    cairn_vec3 high = cairn_add_scaled(cairn_scale(m->wall.top_radius, e), m->wall.height, axis);
    return brute_apart(brute_on_segment(low, high, d), d);
}

/* Balls alone meet it: the nearest of all meridians is in the half-plane of the centre; in 2D there
 * are two. */
static void check_in_funnel(const meeting *m, verdicts *v)
{
    if (!meeting_points(m, v, 1e-9 * m->size))
        return;
    cairn_vec3 centre = m->brute->piece[0].corner[0], axis = axis_of(m);
    cairn_vec3 d = cairn_sub(centre, m->b.x);
    cairn_vec3 e = cairn_unit(cairn_add_scaled(d, -cairn_dot(d, axis), axis));
    for (int k = 0; k < (m->dimension == 2 ? 2 : 1); k++) {
        double gap =
            from_meridian(m, centre, cairn_scale(k ? -1 : 1, e)) - m->brute->piece[0].rounding;
        double nearest = INFINITY;
        for (int i = 0; i < m->count; i++)
            nearest = fmin(nearest, fabs(m->contact[i].gap - gap));
        bool found = gap > m->margin ? true : nearest <= 1e-12 * (m->size + 10);
        if (!meeting_fact(m, v, found, "a meridian within reach has a contact", nearest, gap))
            return;
    }
}

/* ---- random poses ----------------------------------------------------------------------------- */

typedef void pose_check(const meeting *m, verdicts *v);

static cairn_shape draw_wall(cairn_shape_kind kind, int dimension, uint64_t *state)
{
    cairn_shape s = cairn_shape_default(kind, dimension);
    bool across = kind == CAIRN_SHAPE_INSIDE_CYLINDER && dimension == 2;
    s.axis =
        across ? cairn_vec(0, 0, 1) : cairn_scale(draw(state, 0.5, 2), draw_unit(state, dimension));
    s.radius = draw(state, 0.8, 4);
    s.half_angle = draw(state, 0.2, 1.4);
    s.size = cairn_scale(3, draw_lengths(state, dimension));
    s.bottom_radius = draw(state, 0, 2);
    s.top_radius = draw(state, 0.5, 3);
    s.height = draw(state, 0.5, 3);
    return s;
}

/* Anywhere in the container, then moved to a chosen gap at one of its planes: also touching, and
 * parallel to it. */
static void draw_pose(meeting *m, uint64_t *state)
{
    m->b.x = cairn_scale(draw(state, 0, 5), draw_unit(state, m->dimension));
    m->b.q = draw_turn(state, m->dimension);
    m->a.x = cairn_add_scaled(m->b.x, draw(state, 0, 2.5), draw_unit(state, m->dimension));
    m->a.q = draw(state, 0, 1) < 0.2 ? m->b.q : draw_turn(state, m->dimension);
    m->margin = draw(state, 0, 1) < 0.5 ? 0.01 : draw(state, 0, 0.5);
    m->a.shape = &m->body;
    m->b.shape = &m->wall;
    if (m->wall.kind == CAIRN_SHAPE_FUNNEL)
        return;
    plane p;
    cairn_vec3 axis = axis_of(m);
    if (is_round(m) || m->wall.kind == CAIRN_SHAPE_INSIDE_CONE) {
        cairn_vec3 e = m->dimension == 2 ? cairn_vec(-axis.y, axis.x, 0)
                                         : cairn_cross(axis, draw_unit(state, 3));
        if (is_round(m) && m->dimension == 2)
            e = draw_unit(state, 2);
        p = tangent_plane(m, cairn_scale(draw(state, 0, 1) < 0.5 ? -1 : 1, cairn_unit(e)));
    } else {
        plane planes[WALLS];
        int count = planes_of(m, planes);
        p = planes[cairn_random_next(state) % (uint64_t)count];
    }
    brute_make(&m->a, m->dimension, m->brute);
    double kind = draw(state, 0, 1), target = draw(state, -0.3, 0.3);
    target = kind < 0.1 ? 0 : kind < 0.3 ? 1e-3 * target : target;
    m->a.x = cairn_add_scaled(m->a.x, target - gap_of(m->brute, &p), p.n);
}

/* A few shapes of each kind, used again and again. */
enum { POOL = 8 };

static verdicts run_pair(cairn_shape_kind body, cairn_shape_kind wall, int dimension,
                         pose_check *check)
{
    static meeting m;
    verdicts v = { 0 };
    uint64_t state = 1000 * (uint64_t)body + (uint64_t)wall + 7;
    int poses = poses_of_a_pair(300);
    for (int shape = 0; shape < POOL; shape++) {
        m = (meeting){ .dimension = dimension };
        m.body = draw_body(body, dimension, &state);
        m.wall = draw_wall(wall, dimension, &state);
        meeting_open(&m);
        for (int k = shape; k < poses; k += POOL) {
            draw_pose(&m, &state);
            meeting_find(&m);
            v.poses++;
            check(&m, &v);
        }
        meeting_close(&m);
        cairn_geometry_release(m.body.geometry);
    }
    return v;
}

static void run_all(cairn_shape_kind wall, pose_check *flat, pose_check *solid)
{
    verdicts sum = { 0 };
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int i = 0; i < (dimension == 2 ? BODIES_2D : BODIES_3D); i++) {
            cairn_shape_kind body = dimension == 2 ? body_kinds_2d[i] : body_kinds_3d[i];
            bool ball = body == CAIRN_SHAPE_SPHERE || body == CAIRN_SHAPE_POINT;
            if (wall == CAIRN_SHAPE_FUNNEL && !ball)
                continue;
            verdicts v = run_pair(body, wall, dimension, dimension == 2 ? flat : solid);
            sum.poses += v.poses;
            sum.contacts += v.contacts;
            sum.wrong += v.wrong;
        }
    print_message("%s: %ld poses, %ld contacts, %ld wrong\n", cairn_shape_record((int)wall)->name,
                  sum.poses, sum.contacts, sum.wrong);
    CHECK_INT(sum.wrong, 0);
}

TEST(half_spaces)
{
    run_all(CAIRN_SHAPE_HALF_SPACE, check_in_planes, check_in_planes);
}

TEST(insides_of_boxes)
{
    run_all(CAIRN_SHAPE_INSIDE_BOX, check_in_planes, check_in_planes);
}

TEST(insides_of_cylinders_and_circles)
{
    run_all(CAIRN_SHAPE_INSIDE_CYLINDER, check_in_round, check_in_round);
}

TEST(insides_of_cones_and_wedges)
{
    run_all(CAIRN_SHAPE_INSIDE_CONE, check_in_planes, check_in_round);
}

TEST(funnels)
{
    run_all(CAIRN_SHAPE_FUNNEL, check_in_funnel, check_in_funnel);
}

GROUP(test_containers)
{
    RUN(CASE(half_spaces), CASE(insides_of_boxes), CASE(insides_of_cylinders_and_circles),
        CASE(insides_of_cones_and_wedges), CASE(funnels));
}
