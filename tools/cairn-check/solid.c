/* solid.c - convex solids, and bodies as the solids that they are made of; see shapes.h. */
#include "shapes.h"

/* ---- solids ---------------------------------------------------------------------------------- */

/* In the frame of the shape, with r = |p across the axis|, z along it:
 *
 *   box             corners of half the size, less the rounding, swept by a ball of it
 *   capsule         the segment |z| <= length/2, swept by the radius
 *   cylinder        r <= R, |z| <= height/2
 *   cone            from the base z = -height/4 to the apex z = 3/4 height
 *   ellipsoid       F = |(x/a, y/b, z/c)| = 1
 *   superellipsoid  F = ((|x/a|^n + |y/b|^n)^(k/n) + |z/c|^k)^(1/k) = 1
 *   hull            in front of no face, swept by a ball of the rounding; a face: its points
 * Ellipsoids and superellipsoids are norms; their reach is the dual norm, with n/(n - 1) and
 * k/(k - 1). */

check_class check_class_of(int32_t shape)
{
    switch (shape) {
    case CHECK_SPHERE:
    case CHECK_POINT:
    case CHECK_BOX:
    case CHECK_CAPSULE:
    case CHECK_HULL:
        return CHECK_FLAT;
    case CHECK_ELLIPSOID:
    case CHECK_SUPERELLIPSOID:
        return CHECK_SMOOTH;
    case CHECK_SOLID_CYLINDER:
    case CHECK_SOLID_CONE:
        return CHECK_RIMMED;
    default:
        return CHECK_NO_SOLID;
    }
}

bool check_is_surface(int32_t shape)
{
    return shape == CHECK_MESH || shape == CHECK_POLYLINE || shape == CHECK_HEIGHT_FIELD;
}

double check_rounding_of(const check_solid *s)
{
    bool swept = s->shape == CHECK_SPHERE || s->shape == CHECK_CAPSULE;
    bool rounded = s->shape == CHECK_BOX || s->shape == CHECK_HULL;
    return swept ? s->radius : rounded ? s->rounding : 0;
}

/* ---- frames --------------------------------------------------------------------------------- */

static vec into_shape(const check_solid *s, vec direction)
{
    return quat_rotate_back(s->at.q, direction);
}

/* Parts of a vector along the unit axis of a shape, and across it. */
static void split(const check_solid *s, vec p, double *along, double *across)
{
    vec axis = vec_times(1 / vec_norm(s->axis), s->axis);
    *along = vec_dot(p, axis);
    *across = vec_norm(vec_add(p, -*along, axis));
}

/* Half the core of a box; in 2D there is no z. */
static vec half_core(const check_solid *s)
{
    vec half = vec_add(vec_times(0.5, s->size), -s->rounding, (vec){ 1, 1, 1 });
    half.z = s->flat ? 0 : half.z;
    return half;
}

/* ---- powers --------------------------------------------------------------------------------- */

/* (|x|^n + |y|^n)^(1/n) without overflow. */
static double norm_of(double x, double y, double n)
{
    double most = fmax(fabs(x), fabs(y));
    return most > 0 ? most * pow(pow(fabs(x) / most, n) + pow(fabs(y) / most, n), 1 / n) : 0;
}

static void exponents_of(const check_solid *s, double *n, double *k)
{
    bool plain = s->shape == CHECK_ELLIPSOID;
    *n = plain ? 2 : s->exponents[0];
    *k = plain ? 2 : s->exponents[1] > 0 ? s->exponents[1] : s->exponents[0];
}

/* p with each part divided by the semi-axis, or multiplied. */
static vec stretch(const check_solid *s, vec p, bool divide)
{
    vec a = s->semi_axes;
    if (divide)
        return (vec){ p.x / a.x, p.y / a.y, s->flat ? 0 : p.z / a.z };
    return (vec){ p.x * a.x, p.y * a.y, s->flat ? 0 : p.z * a.z };
}

/* dF/ds of F = |(|(s_x, s_y)|_n, s_z)|_k: powers of s_i/F, which are at most 1. */
static vec gradient_of(vec s, double n, double k)
{
    double flat = norm_of(s.x, s.y, n), all = norm_of(flat, s.z, k);
    double lift = flat > 0 ? pow(flat / all, k - 1) : 0;
    vec g = { 0, 0, copysign(pow(fabs(s.z) / all, k - 1), s.z) };
    if (flat > 0) {
        g.x = lift * copysign(pow(fabs(s.x) / flat, n - 1), s.x);
        g.y = lift * copysign(pow(fabs(s.y) / flat, n - 1), s.y);
    }
    return g;
}

/* (F - 1)/|grad F| */
static double outside_norm(const check_solid *s, vec p)
{
    double n, k;
    vec t = stretch(s, p, true);
    exponents_of(s, &n, &k);
    double F = norm_of(norm_of(t.x, t.y, n), t.z, k);
    if (!(F > 0))
        return -vec_norm(s->semi_axes);
    vec g = stretch(s, gradient_of(t, n, k), true);
    return (F - 1) / vec_norm(g);
}

/* ---- how far out ---------------------------------------------------------------------------- */

/* Of a rectangle or box, by the distances from its sides; the third may be -infinite. */
static double outside_sides(double x, double y, double z)
{
    vec out = { fmax(x, 0), fmax(y, 0), fmax(z, 0) };
    return vec_norm(out) + fmin(0, fmax(x, fmax(y, z)));
}

static double outside_cone(double R, double height, double r, double z)
{
    double low = -0.25 * height, top = 0.75 * height, slope = hypot(R, height);
    double base = low - z, side = (r * height + (z - top) * R) / slope;
    if (base <= 0 && side <= 0)
        return fmax(base, side);
    double t = (r * R + (top - z) * height) / (slope * slope); /* along the side, from the apex */
    t = fmin(1, fmax(0, t));
    double to_side = hypot(r - t * R, z - top + t * height);
    return fmin(to_side, hypot(fmax(0, r - R), z - low));
}

/* Inside, the distance from the nearest plane of a face; outside, from the nearest face. */
static double outside_hull(const check_solid *s, vec p)
{
    double highest = -HUGE_VAL, least = HUGE_VAL;
    for (int f = 0; f < s->row->faces; f++) {
        vec away = vec_add(p, -1, check_corner(s->data, s->row, f, 0));
        highest = fmax(highest, vec_dot(s->data->normals[s->row->first_face + f], away));
    }
    for (int f = 0; f < s->row->faces && highest > 0; f++)
        least = fmin(least, check_face_distance(s->data, s->row, f, p));
    return highest > 0 ? least : highest;
}

double check_outside(const check_solid *s, vec point)
{
    vec p = into_shape(s, vec_add(point, -1, s->at.x)), half;
    double along = 0, across = 0;
    switch (s->shape) {
    case CHECK_BOX:
        half = half_core(s);
        return outside_sides(fabs(p.x) - half.x, fabs(p.y) - half.y,
                             s->flat ? -HUGE_VAL : fabs(p.z) - half.z) -
               s->rounding;
    case CHECK_CAPSULE:
        split(s, p, &along, &across);
        return hypot(fmax(0, fabs(along) - 0.5 * s->length), across) - s->radius;
    case CHECK_SOLID_CYLINDER:
        split(s, p, &along, &across);
        return outside_sides(across - s->radius, fabs(along) - 0.5 * s->height, -HUGE_VAL);
    case CHECK_SOLID_CONE:
        split(s, p, &along, &across);
        return outside_cone(s->radius, s->height, across, along);
    case CHECK_ELLIPSOID:
    case CHECK_SUPERELLIPSOID:
        return outside_norm(s, p);
    case CHECK_HULL:
        return outside_hull(s, p) - s->rounding;
    case CHECK_MESH:
    case CHECK_POLYLINE:
    case CHECK_HEIGHT_FIELD:
        return check_face_distance(s->data, s->row, s->face, p);
    default:
        return vec_norm(p) - (s->shape == CHECK_SPHERE ? s->radius : 0);
    }
}

/* ---- how far it reaches --------------------------------------------------------------------- */

static double reach_of_norm(const check_solid *s, vec d)
{
    double n, k;
    vec t = stretch(s, d, false);
    exponents_of(s, &n, &k);
    return norm_of(norm_of(t.x, t.y, n / (n - 1)), t.z, k / (k - 1));
}

static double reach_of_hull(const check_solid *s, vec d)
{
    double most = -HUGE_VAL;
    for (int i = 0; i < s->row->vertices; i++)
        most = fmax(most, vec_dot(d, s->data->vertices.value[s->row->first_vertex + i]));
    return most + s->rounding;
}

static double reach_of_face(const check_solid *s, vec d)
{
    double most = -HUGE_VAL;
    for (int k = 0; k < check_corner_count(s->data, s->row, s->face); k++)
        most = fmax(most, vec_dot(d, check_corner(s->data, s->row, s->face, k)));
    return most;
}

double check_reach(const check_solid *s, vec direction)
{
    vec d = into_shape(s, direction), half;
    double origin = vec_dot(s->at.x, direction), along = 0, across = 0;
    switch (s->shape) {
    case CHECK_BOX:
        half = half_core(s);
        return origin + half.x * fabs(d.x) + half.y * fabs(d.y) + half.z * fabs(d.z) + s->rounding;
    case CHECK_CAPSULE:
        split(s, d, &along, &across);
        return origin + 0.5 * s->length * fabs(along) + s->radius;
    case CHECK_SOLID_CYLINDER:
        split(s, d, &along, &across);
        return origin + 0.5 * s->height * fabs(along) + s->radius * across;
    case CHECK_SOLID_CONE:
        split(s, d, &along, &across);
        return origin +
               fmax(0.75 * s->height * along, s->radius * across - 0.25 * s->height * along);
    case CHECK_ELLIPSOID:
    case CHECK_SUPERELLIPSOID:
        return origin + reach_of_norm(s, d);
    case CHECK_HULL:
        return origin + reach_of_hull(s, d);
    case CHECK_MESH:
    case CHECK_POLYLINE:
    case CHECK_HEIGHT_FIELD:
        return origin + reach_of_face(s, d);
    default:
        return origin + (s->shape == CHECK_SPHERE ? s->radius : 0);
    }
}

/* ---- points --------------------------------------------------------------------------------- */

static vec into_space(const check_solid *s, vec p)
{
    return vec_add(s->at.x, 1, quat_rotate(s->at.q, p));
}

int check_point_count(const check_solid *s)
{
    switch (s->shape) {
    case CHECK_SPHERE:
    case CHECK_POINT:
        return 1;
    case CHECK_CAPSULE:
        return 2;
    case CHECK_BOX:
        return s->flat ? 4 : 8;
    case CHECK_HULL:
        return s->row->vertices;
    case CHECK_MESH:
    case CHECK_POLYLINE:
    case CHECK_HEIGHT_FIELD:
        return check_corner_count(s->data, s->row, s->face);
    default:
        return 0;
    }
}

/* In the frame of the shape. */
static vec local_point(const check_solid *s, int k)
{
    vec half = half_core(s);
    switch (s->shape) {
    case CHECK_CAPSULE:
        return vec_times((k ? -0.5 : 0.5) * s->length / vec_norm(s->axis), s->axis);
    case CHECK_BOX:
        return (vec){ k & 1 ? -half.x : half.x, k & 2 ? -half.y : half.y,
                      k & 4 ? -half.z : half.z };
    case CHECK_HULL:
        return s->data->vertices.value[s->row->first_vertex + k];
    case CHECK_MESH:
    case CHECK_POLYLINE:
    case CHECK_HEIGHT_FIELD:
        return check_corner(s->data, s->row, s->face, k);
    default:
        return (vec){ 0, 0, 0 };
    }
}

vec check_point(const check_solid *s, int k)
{
    return into_space(s, local_point(s, k));
}

vec check_middle(const check_solid *s)
{
    int count = check_point_count(s);
    vec sum = { 0, 0, 0 };
    for (int k = 0; k < count; k++)
        sum = vec_add(sum, 1.0 / count, local_point(s, k));
    return into_space(s, sum);
}

/* The farthest point along d of a disk of radius R perpendicular to the axis. Where d is along the
 * axis only rounding is left across it: then the whole rim is as far as the centre. */
static vec on_rim(vec axis, double R, vec d)
{
    vec across = vec_add(d, -vec_dot(d, axis), axis);
    across = vec_add(across, -vec_dot(across, axis), axis);
    double length = vec_norm(across);
    return length > 1e-13 * vec_norm(d) ? vec_times(R / length, across) : (vec){ 0, 0, 0 };
}

static vec support_of_round(const check_solid *s, vec d)
{
    vec axis = vec_times(1 / vec_norm(s->axis), s->axis), rim = on_rim(axis, s->radius, d);
    double along = vec_dot(d, axis);
    if (s->shape == CHECK_SOLID_CYLINDER)
        return vec_add(rim, along < 0 ? -0.5 * s->height : 0.5 * s->height, axis);
    vec base = vec_add(rim, -0.25 * s->height, axis), apex = vec_times(0.75 * s->height, axis);
    return vec_dot(base, d) > vec_dot(apex, d) ? base : apex;
}

/* The gradient of the dual norm. */
static vec support_of_norm(const check_solid *s, vec d)
{
    double n, k;
    vec t = stretch(s, d, false);
    exponents_of(s, &n, &k);
    if (!(vec_norm(t) > 0))
        return (vec){ 0, 0, 0 };
    return stretch(s, gradient_of(t, n / (n - 1), k / (k - 1)), false);
}

static vec farthest_point(const check_solid *s, vec d)
{
    vec best = local_point(s, 0);
    for (int k = 1; k < check_point_count(s); k++) {
        vec p = local_point(s, k);
        best = vec_dot(p, d) > vec_dot(best, d) ? p : best;
    }
    return best;
}

vec check_support(const check_solid *s, vec direction)
{
    vec d = into_shape(s, direction);
    bool rimmed = s->shape == CHECK_SOLID_CYLINDER || s->shape == CHECK_SOLID_CONE;
    bool norm = s->shape == CHECK_ELLIPSOID || s->shape == CHECK_SUPERELLIPSOID;
    vec p = rimmed ? support_of_round(s, d) : norm ? support_of_norm(s, d) : farthest_point(s, d);
    return into_space(s, p);
}

/* ---- how large it is ------------------------------------------------------------------------ */

/* The farthest of (x^n + y^n)^(1/n) <= 1 stretched by a and b: by Hoelder's inequality the norm of
 * (a, b) with the exponent 2n/(n - 2); a corner of the axes for n <= 2. */
static double farthest(double a, double b, double n)
{
    double most = fmax(a, b);
    if (n <= 2 || !(most > 0))
        return most;
    double e = 2 * n / (n - 2);
    return most * pow(pow(a / most, e) + pow(b / most, e), 1 / e);
}

double check_solid_extent(const check_solid *s)
{
    vec half = half_core(s), a = s->semi_axes;
    const double *n = s->exponents;
    switch (s->shape) {
    case CHECK_BOX:
        return vec_norm(half) + s->rounding;
    case CHECK_CAPSULE:
        return 0.5 * s->length + s->radius;
    case CHECK_SOLID_CYLINDER:
        return hypot(s->radius, 0.5 * s->height);
    case CHECK_SOLID_CONE:
        return fmax(0.75 * s->height, hypot(s->radius, 0.25 * s->height));
    case CHECK_ELLIPSOID:
        return fmax(a.x, fmax(a.y, s->flat ? 0 : a.z));
    case CHECK_SUPERELLIPSOID:
        return farthest(farthest(a.x, a.y, n[0]), s->flat ? 0 : a.z, n[1] > 0 ? n[1] : n[0]);
    case CHECK_HULL:
        return s->row->extent + s->rounding;
    case CHECK_MESH:
    case CHECK_POLYLINE:
    case CHECK_HEIGHT_FIELD:
        return s->row->extent;
    default:
        return s->shape == CHECK_SPHERE ? s->radius : 0;
    }
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* A part has a pose in its compound, and the compound in its body: the pose of a piece is that of
 * the body, then shape_x and shape_q, then x and q of the part. */

static const check_geometry *row_of(const check_run *run, int body)
{
    int row = run->bodies.geometry[body];
    return row >= 0 ? &run->geometries.rows[row] : NULL;
}

static bool is_known(const check_run *run, int32_t shape, int geometry)
{
    bool solid = check_class_of(shape) != CHECK_NO_SOLID || check_is_surface(shape);
    return solid && (shape < CHECK_HULL || (geometry >= 0 && geometry < run->geometries.count));
}

bool check_has_pieces(const check_run *run, int body)
{
    const check_part_list *parts = &run->geometries.parts;
    int32_t shape = run->bodies.shape[body];
    const check_geometry *row = row_of(run, body);
    if (shape != CHECK_COMPOUND)
        return is_known(run, shape, run->bodies.geometry[body]);
    for (int i = 0; row && i < row->parts; i++) {
        int part = row->first_part + i;
        if (!is_known(run, parts->shape[part], parts->geometry[part]))
            return false;
    }
    return row != NULL;
}

bool check_is_one_piece(const check_run *run, int body)
{
    return check_class_of(run->bodies.shape[body]) != CHECK_NO_SOLID;
}

bool check_has_faces(const check_run *run, int body)
{
    int32_t shape = run->bodies.shape[body];
    const check_geometry *row = row_of(run, body);
    bool faces = check_is_surface(shape);
    for (int i = 0; shape == CHECK_COMPOUND && row && i < row->parts; i++)
        faces = faces || check_is_surface(run->geometries.parts.shape[row->first_part + i]);
    return faces;
}

check_class check_pieces_class(const check_run *run, int body)
{
    const check_geometry *row = row_of(run, body);
    int32_t shape = run->bodies.shape[body];
    check_class worst = check_is_surface(shape) ? CHECK_FLAT : check_class_of(shape);
    for (int i = 0; shape == CHECK_COMPOUND && row && i < row->parts; i++) {
        int32_t part = run->geometries.parts.shape[row->first_part + i];
        check_class one = check_is_surface(part) ? CHECK_FLAT : check_class_of(part);
        worst = one > worst ? one : worst;
    }
    return worst;
}

/* ---- one piece ------------------------------------------------------------------------------ */

static check_place_of within(check_place_of at, vec x, quat q)
{
    return (check_place_of){ vec_add(at.x, 1, quat_rotate(at.q, x)), quat_product(at.q, q) };
}

static check_place_of shape_place(const check_run *run, int body, check_place_of at)
{
    return within(at, run->bodies.shape_x[body], run->bodies.shape_q[body]);
}

static check_solid part_at(const check_run *run, int part, check_place_of at)
{
    const check_part_list *p = &run->geometries.parts;
    int row = p->geometry[part];
    return (check_solid){ .shape = p->shape[part],
                          .at = within(at, p->x[part], p->q[part]),
                          .radius = p->radius[part],
                          .height = p->height[part],
                          .length = p->length[part],
                          .rounding = p->rounding[part],
                          .exponents = { p->exponents[2 * part], p->exponents[2 * part + 1] },
                          .size = p->size[part],
                          .semi_axes = p->semi_axes[part],
                          .axis = p->axis[part],
                          .row = row >= 0 ? &run->geometries.rows[row] : NULL };
}

static check_solid body_at(const check_run *run, int body, check_place_of at)
{
    const check_bodies *b = &run->bodies;
    return (check_solid){ .shape = b->shape[body],
                          .at = at,
                          .radius = b->radius[body],
                          .height = b->height[body],
                          .length = b->length[body],
                          .rounding = b->rounding[body],
                          .exponents = { b->exponents[2 * body], b->exponents[2 * body + 1] },
                          .size = b->size[body],
                          .semi_axes = b->semi_axes[body],
                          .axis = b->axis[body],
                          .row = row_of(run, body) };
}

check_solid check_piece_at(const check_run *run, int body, check_place_of at, check_piece piece)
{
    check_place_of shape = shape_place(run, body, at);
    check_solid s = piece.part < 0
                        ? body_at(run, body, shape)
                        : part_at(run, row_of(run, body)->first_part + piece.part, shape);
    s.flat = run->settings.dimension == 2;
    s.data = &run->geometries;
    s.face = piece.face;
    return s;
}

bool check_is_face_normal(const check_solid *face, vec out)
{
    if (!check_is_surface(face->shape))
        return false;
    vec n = quat_rotate(face->at.q, face->data->normals[face->row->first_face + face->face]);
    bool sheet = face->shape == CHECK_MESH && !face->row->closed;
    double turned = vec_norm(vec_add(n, -1, out)), over = vec_norm(vec_add(n, 1, out));
    return turned < 1e-9 || (sheet && over < 1e-9);
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* The next face of the surface s after `face` near p; -1: none. */
static int next_face(const check_solid *s, vec p, double distance, int face)
{
    vec local = quat_rotate_back(s->at.q, vec_add(p, -1, s->at.x));
    return check_face_near(s->data, s->row, face + 1, local, distance);
}

bool check_piece_next(const check_run *run, int body, check_place_of at, vec p, double distance,
                      check_piece *piece)
{
    bool compound = run->bodies.shape[body] == CHECK_COMPOUND, begun = piece->face > -2;
    int parts = compound ? row_of(run, body)->parts : 0;
    int part = compound ? (begun ? piece->part : 0) : -1;
    int face = begun ? piece->face : -1;
    do {
        check_solid s = check_piece_at(run, body, at, (check_piece){ part, -1 });
        bool surface = check_is_surface(s.shape), here = part != piece->part || !begun;
        face = surface ? next_face(&s, p, distance, face) : -1;
        if (surface ? face >= 0 : here) {
            *piece = (check_piece){ part, face };
            return true;
        }
    } while (++part < parts);
    return false;
}

double check_body_reach(const check_run *run, int body, check_place_of at, vec direction)
{
    check_piece piece = CHECK_FIRST_PIECE;
    double most = -HUGE_VAL;
    while (check_piece_next(run, body, at, at.x, HUGE_VAL, &piece)) {
        check_solid s = check_piece_at(run, body, at, piece);
        most = fmax(most, check_reach(&s, direction));
    }
    return most;
}

double check_bent(const check_run *run, int body)
{
    const check_part_list *parts = &run->geometries.parts;
    const check_geometry *row = row_of(run, body);
    double most = row && run->bodies.shape[body] == CHECK_HULL ? row->bent : 0;
    for (int i = 0; run->bodies.shape[body] == CHECK_COMPOUND && i < row->parts; i++) {
        int part = row->first_part + i;
        if (parts->shape[part] == CHECK_HULL)
            most = fmax(most, run->geometries.rows[parts->geometry[part]].bent);
    }
    return most;
}

static double extent_of_shape(const check_run *run, int body)
{
    const check_place_of origin = { { 0, 0, 0 }, { 1, 0, 0, 0 } };
    bool compound = run->bodies.shape[body] == CHECK_COMPOUND;
    int parts = compound ? row_of(run, body)->parts : 1;
    double extent = 0;
    for (int i = 0; i < parts; i++) {
        check_solid s = check_piece_at(run, body, origin, (check_piece){ compound ? i : -1, 0 });
        vec x = compound ? run->geometries.parts.x[row_of(run, body)->first_part + i] : origin.x;
        extent = fmax(extent, vec_norm(x) + check_solid_extent(&s));
    }
    return extent;
}

double check_extent(const check_run *run, int body)
{
    if (run->bodies.shape[body] >= CHECK_HULL && !check_has_pieces(run, body))
        return -1;
    double extent = extent_of_shape(run, body);
    return extent > 0 ? extent + vec_norm(run->bodies.shape_x[body]) : extent;
}
