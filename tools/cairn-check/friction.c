/* friction.c - friction and restitution of pairs of materials, laws beyond Coulomb friction,
 * and friction cones. */
#include <math.h>
#include <string.h>

#include "law.h"
#include "shapes.h"

/* ---- materials ------------------------------------------------------------------------------- */

/* Friction of a pair of materials at a sliding speed, and restitution.
 *
 *     constant   mu
 *     stribeck   mu_d + (mu_s - mu_d) exp(-(speed/v_s)^p)
 *     table      linear between points, constant outside
 * A pair names two laws; the smaller value counts. */

enum { KIND, CONSTANT = CHECK_LAW_CONSTANT, STATIC, DYNAMIC, SPEED, EXPONENT, POINTS };
enum { LAW_CONSTANT, LAW_STRIBECK, LAW_TABLE };

/* ---- reading -------------------------------------------------------------------------------- */

/* All numbers of a dataset with rows of `width` (0: as many as there are rows). */
static bool read_numbers(check_run *run, const char *name, int width, double **out, int *rows)
{
    hid_t dataset = H5Dopen2(run->file, name, H5P_DEFAULT);
    hsize_t extent[2] = { 0, 0 };
    if (dataset < 0)
        return check_fail(run->report, "there is no dataset /%s", name);
    hid_t space = H5Dget_space(dataset);
    bool good = H5Sget_simple_extent_ndims(space) == 2 || width != 2;
    good = good && H5Sget_simple_extent_ndims(space) <= 2 &&
           H5Sget_simple_extent_dims(space, extent, NULL) >= 1;
    if (H5Sget_simple_extent_ndims(space) == 1)
        extent[1] = 1;
    hsize_t wanted = width > 0 ? (hsize_t)width : extent[0];
    good = good && extent[1] == wanted && extent[0] < 100000000;
    good = good && check_memory_take(out, (size_t)(extent[0] * extent[1]) + 1, sizeof **out) &&
           (extent[0] == 0 ||
            H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) >= 0);
    *rows = (int)extent[0];
    H5Sclose(space);
    H5Dclose(dataset);
    return good || check_fail(run->report, "/%s cannot be read", name);
}

static bool read_matrix(check_run *run, const char *name, double **out)
{
    int rows = 0;
    check_materials *m = &run->materials;
    if (!read_numbers(run, name, 0, out, &rows))
        return false;
    bool good = rows > 0 && (m->count == 0 || m->count == rows);
    m->count = rows;
    return good || check_fail(run->report, "/%s: expected a row for each material", name);
}

/* The kinds are known, and the points exist. */
static bool read_laws(check_run *run)
{
    static const char *const kinds[] = { "constant", "stribeck", "table", NULL };
    check_materials *m = &run->materials;
    int names[16], next = 0;
    if (!read_numbers(run, "certificate/laws", CHECK_LAW_NUMBERS, &m->laws, &m->law_count) ||
        !read_numbers(run, "certificate/law_points", 2, &m->points, &m->point_count) ||
        !check_memory_take(&m->first_point, (size_t)m->law_count + 1, sizeof *m->first_point))
        return check_fail(run->report, "no memory");
    int known = check_names(run->file, "certificate/laws", kinds, 16, names);
    for (int i = 0; i < m->law_count; i++) {
        double *law = m->laws + i * CHECK_LAW_NUMBERS;
        int kind = law[KIND] >= 0 && law[KIND] < known ? names[(int)law[KIND]] : -1;
        bool good =
            kind >= 0 && law[POINTS] >= (kind == LAW_TABLE) && law[POINTS] <= m->point_count - next;
        if (!good)
            return check_fail(run->report, "/certificate/laws: law %d is of an unknown kind", i);
        law[KIND] = kind;
        m->first_point[i] = next;
        m->vary = m->vary || kind != LAW_CONSTANT;
        next += (int)law[POINTS];
    }
    return true;
}

static bool are_laws(check_run *run, const double *matrix)
{
    const check_materials *m = &run->materials;
    for (int i = 0; i < m->count * m->count; i++)
        if (!(matrix[i] >= 0 && matrix[i] < m->law_count))
            return check_fail(run->report, "/certificate: a pair names a law that does not exist");
    return true;
}

/* Laws beyond Coulomb friction: all of them are in the file, or none. */
static bool read_beyond(check_run *run)
{
    check_materials *m = &run->materials;
    if (!check_has(run->file, "certificate/friction_2"))
        return true;
    return read_matrix(run, "certificate/friction_2", &m->friction_2) &&
           read_matrix(run, "certificate/adhesion", &m->adhesion) &&
           read_matrix(run, "certificate/adhesion_range", &m->adhesion_range) &&
           read_matrix(run, "certificate/rolling_friction", &m->rolling) &&
           read_matrix(run, "certificate/spinning_friction", &m->spinning);
}

static bool has_any(const check_materials *m, const double *matrix)
{
    bool any = false;
    for (int i = 0; matrix && i < m->count * m->count; i++)
        any = any || matrix[i] > 0;
    return any;
}

/* Contacts have rotational components where some pair has rolling or spinning friction. */
static bool count_components(check_run *run)
{
    check_settings *s = &run->settings;
    const check_materials *m = &run->materials;
    bool smooth = s->scheme->frictionless;
    s->rolling = has_any(m, m->rolling) && !smooth ? s->dimension - 1 : 0;
    s->spinning = has_any(m, m->spinning) && !smooth && s->dimension == 3 ? 1 : 0;
    s->components = s->dimension + s->rolling + s->spinning;
    return true;
}

/* The friction of materials in each step, where one is a function of time. Law k is that of
 * material k, which must be a constant one if its friction varies. */
static bool read_in_step(check_run *run)
{
    check_materials *m = &run->materials;
    int rows = 0;
    if (!check_has(run->file, "steps/friction"))
        return true;
    if (!read_numbers(run, "steps/friction", m->count, &m->in_step, &rows))
        return false;
    return (rows >= run->steps.count && m->law_count >= m->count) ||
           check_fail(run->report, "/steps/friction: expected a row for each step");
}

bool check_materials_read(check_run *run)
{
    check_materials *m = &run->materials;
    return read_matrix(run, "certificate/friction", &m->friction) &&
           read_matrix(run, "certificate/restitution", &m->restitution) &&
           read_matrix(run, "certificate/poisson", &m->poisson) &&
           read_matrix(run, "certificate/law_first", &m->law_first) &&
           read_matrix(run, "certificate/law_second", &m->law_second) && read_laws(run) &&
           are_laws(run, m->law_first) && are_laws(run, m->law_second) && read_beyond(run) &&
           read_in_step(run) && count_components(run);
}

void check_materials_free(check_materials *m)
{
    void *blocks[] = { &m->friction,   &m->restitution, &m->poisson,        &m->law_first,
                       &m->law_second, &m->laws,        &m->points,         &m->first_point,
                       &m->friction_2, &m->adhesion,    &m->adhesion_range, &m->rolling,
                       &m->spinning,   &m->in_step };
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        check_memory_free(blocks[i]);
}

/* ---- laws ----------------------------------------------------------------------------------- */

static double between_points(const double *point, int count, double speed)
{
    int k = 0;
    while (k < count && point[2 * k] <= speed)
        k++;
    if (k == 0 || k == count)
        return point[k == 0 ? 1 : 2 * count - 1];
    const double *low = point + 2 * (k - 1), *high = point + 2 * k;
    return low[1] + (speed - low[0]) / (high[0] - low[0]) * (high[1] - low[1]);
}

static double law_at(const check_materials *m, int number, double speed)
{
    const double *law = m->laws + number * CHECK_LAW_NUMBERS;
    if (law[KIND] == LAW_TABLE)
        return between_points(m->points + 2 * m->first_point[number], (int)law[POINTS], speed);
    if (law[KIND] == LAW_CONSTANT)
        return law[CONSTANT];
    double share = exp(-pow(speed / law[SPEED], law[EXPONENT]));
    return law[DYNAMIC] + (law[STATIC] - law[DYNAMIC]) * share;
}

static size_t pair_of(const check_run *run, int j)
{
    const int32_t *body = run->contacts.body + 2 * j;
    int a = run->bodies.material[body[0]], b = run->bodies.material[body[1]];
    return (size_t)a * (size_t)run->materials.count + (size_t)b;
}

double check_pair_friction(const check_materials *m, int pair, double speed)
{
    return fmin(law_at(m, (int)m->law_first[pair], speed),
                law_at(m, (int)m->law_second[pair], speed));
}

double check_friction(const check_run *run, int j, double speed)
{
    return check_pair_friction(&run->materials, (int)pair_of(run, j), speed);
}

bool check_is_poisson(const check_run *run, int j)
{
    return run->materials.poisson[pair_of(run, j)] == 1;
}

/* ---- surfaces -------------------------------------------------------------------------------- */

/* Contact laws beyond Coulomb friction with one mu (docs/friction.md):
 *
 *   ellipse   mu along an axis of a body, mu_2 across; with D = diag(mu, mu_2)/max and the tangents
 *             multiplied by D it is a circle: r = D^-1 r_T, u = D u_T
 *   adhesion  c where the gap is within its range: r_N + h c obeys the law, -h c n acts too
 *   belts     the velocity of a surface along itself, turned with its body
 *   rolling, spinning  moments, at most mu_R r_N and mu_S r_N */

/* The smallest part of an axis in the contact plane that still gives a direction; the smaller mu
 * relative to the larger. */
static const double upright = 1e-6, flattest = 1e-6;
/* Default range of adhesion: relative to the smaller body; m where neither has a size. */
static const double touching = 1e-5, sizeless = 1e-3;

double check_pair(const check_run *run, int j, const double *matrix)
{
    const int32_t *body = run->contacts.body + 2 * j, *material = run->bodies.material;
    size_t n = (size_t)run->materials.count;
    return matrix ? matrix[(size_t)material[body[0]] * n + (size_t)material[body[1]]] : 0;
}

/* ---- directions ----------------------------------------------------------------------------- */

/* By the body that was created first, of those with an axis. */
double check_tangent_along(const check_run *run, int j, vec *tangent)
{
    int a = run->contacts.body[2 * j], b = run->contacts.body[2 * j + 1], first = a < b ? a : b;
    if (!(check_pair(run, j, run->materials.friction_2) > 0))
        return 0;
    vec axis = run->bodies.friction_axis[first], n = run->contacts.normal[j];
    int body = vec_norm(axis) > 0 ? first : a + b - first;
    axis = run->bodies.friction_axis[body];
    if (!(vec_norm(axis) > 0))
        return 0;
    axis = quat_rotate(run->q_eval[body], vec_times(1 / vec_norm(axis), axis));
    axis = vec_add(axis, -vec_dot(axis, n), n);
    double left = vec_norm(axis);
    if (!(left > upright))
        return 0;
    *tangent = vec_times(1 / left, axis);
    return left;
}

void check_shares(const check_run *run, int j, double share[2])
{
    double mu = run->contacts.mu[j], across = run->contacts.mu_2[j], most = fmax(mu, across);
    share[0] = mu == across ? 1 : fmax(mu / most, flattest);
    share[1] = mu == across ? 1 : fmax(across / most, flattest);
}

/* mu across the axis; without an axis, the same as along. */
static void check_across(check_run *run, int j)
{
    vec any;
    bool along = check_tangent_along(run, j, &any) > 0;
    double expected = along ? check_pair(run, j, run->materials.friction_2) : run->contacts.mu[j];
    check_same(run->report, check_at(run, "contact", j, "mu_2"), run->contacts.mu_2[j], expected,
               0);
}

/* ---- adhesion ------------------------------------------------------------------------------- */

/* Where the range is within rounding of the gap, or is unknown, both are correct. */
static void check_adhesion(check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    double pull = check_pair(run, j, run->materials.adhesion), stored = c->adhesion[j];
    double range = check_pair(run, j, run->materials.adhesion_range), size = HUGE_VAL;
    bool known = true;
    for (int side = 0; side < 2; side++) {
        double extent = check_extent(run, c->body[2 * j + side]);
        known = known && extent >= 0;
        size = extent > 0 ? fmin(size, extent) : size;
    }
    range = range > 0 ? range : touching * (size < HUGE_VAL ? size : sizeless);
    double gap = check_gap(run, j), doubt = CHECK_ROUNDING * check_way_size(run, j);
    known = known || check_pair(run, j, run->materials.adhesion_range) > 0;
    bool either = !known || fabs(gap - range) <= doubt;
    if (either && (stored == 0 || stored == pull))
        return;
    check_same(run->report, check_at(run, "contact", j, "adhesion"), stored,
               gap <= range ? pull : 0, 0);
}

/* ---- belts ---------------------------------------------------------------------------------- */

vec check_belt(const check_run *run, int body, vec normal)
{
    vec v = quat_rotate(run->q_eval[body], run->bodies.surface_velocity[body]);
    return vec_add(v, -vec_dot(v, normal), normal);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* The stored impulses in the form of the problem. */
static void find_impulse(check_run *run, int j)
{
    const check_settings *s = &run->settings;
    size_t d = (size_t)s->dimension, turns = d == 3 ? 3 : 1;
    const double *stored = run->contacts.impulse + (size_t)j * d;
    const double *moment = run->contacts.moment + (size_t)j * turns;
    double *r = run->by_contact.r + (size_t)j * (size_t)s->components;
    r[0] = stored[0] + s->h * run->contacts.adhesion[j];
    for (size_t i = 1; i < d; i++)
        r[i] = stored[i] / run->by_contact.share[2 * (size_t)j + i - 1];
    for (int i = 0; i < s->rolling; i++)
        r[d + (size_t)i] = moment[i];
    if (s->spinning)
        r[d + (size_t)s->rolling] = moment[2];
    for (size_t i = 0; i < turns; i++) {
        bool spins = d == 3 && i == 2;
        if (spins ? !s->spinning : !s->rolling)
            check_same(run->report, check_at(run, "contact", j, "moment"), moment[i], 0, 0);
    }
}

void check_surface_prepare(check_run *run, int j)
{
    check_shares(run, j, run->by_contact.share + 2 * j);
    find_impulse(run, j);
}

void check_surface(check_run *run, int j)
{
    const check_contacts *c = &run->contacts;
    check_across(run, j);
    check_same(run->report, check_at(run, "contact", j, "mu_rolling"), c->mu_rolling[j],
               check_pair(run, j, run->materials.rolling), 0);
    check_same(run->report, check_at(run, "contact", j, "mu_spinning"), c->mu_spinning[j],
               check_pair(run, j, run->materials.spinning), 0);
    check_adhesion(run, j);
}

/* ---- friction cones -------------------------------------------------------------------------- */

/* Friction cones: projections, the natural map, and the conditions of the law. */

double cone_dot(int d, const double *a, const double *b)
{
    double sum = a[0] * b[0];
    for (int i = 1; i < d; i++)
        sum += a[i] * b[i];
    return sum;
}

double cone_tangent(int d, const double *a)
{
    return d == 3 ? hypot(a[1], a[2]) : fabs(a[1]);
}

static void project_circle(const cone *k, const double *r, double *out)
{
    double t = cone_tangent(k->d, r), along = (r[0] + k->mu * t) / (1 + k->mu * k->mu);
    bool inside = r[0] >= 0 && t <= k->mu * r[0];
    double normal = along > 0 ? along : 0, shrink = t > 0 ? k->mu * normal / t : 0;
    out[0] = inside ? r[0] : normal;
    for (int i = 1; i < k->d; i++)
        out[i] = inside ? r[i] : shrink * r[i];
}

/* Nearest point of the ray through p. */
static void ray(const double *p, const double *r, double *out)
{
    double s = fmax(0, cone_dot(3, p, r) / cone_dot(3, p, p));
    for (int i = 0; i < 3; i++)
        out[i] = s * p[i];
}

static void edge_of(const cone *k, double i, double *out)
{
    double angle = 2 * M_PI * i / k->edges;
    out[0] = 1;
    out[1] = k->mu * cos(angle);
    out[2] = k->mu * sin(angle);
}

static bool inside_edges(const cone *k, const double *r)
{
    bool inside = r[0] >= 0;
    for (int i = 0; i < k->edges && inside; i++) {
        double angle = 2 * M_PI * (i + 0.5) / k->edges;
        double reach = cos(angle) * r[1] + sin(angle) * r[2];
        inside = reach <= k->mu * cos(M_PI / k->edges) * r[0];
    }
    return inside;
}

/* The nearest point of the face between edges a and b, or of one of them, or the apex. Edges are
 * equally long, so their sum and difference are at right angles. */
static void face(const double *a, const double *b, const double *r, double *out)
{
    double sum[3], across[3];
    for (int i = 0; i < 3; i++) {
        sum[i] = a[i] + b[i];
        across[i] = b[i] - a[i];
    }
    double s = cone_dot(3, r, sum) / cone_dot(3, sum, sum);
    double t = cone_dot(3, r, across) / cone_dot(3, across, across);
    if (fabs(t) > s) {
        ray(t < 0 ? a : b, r, out);
        return;
    }
    for (int i = 0; i < 3; i++)
        out[i] = s * sum[i] + t * across[i];
}

/* The cone is its own image in the planes through the axis and an edge, so the nearest point is as
 * r is between two of these planes. To compare distances to all faces would not tell an edge from
 * a point of a face that is sqrt(1e-16) |r| away from it. */
static void project_edges(const cone *k, const double *r, double *out)
{
    double a[3], b[3];
    double between = floor(atan2(r[2], r[1]) * k->edges / (2 * M_PI));
    for (int i = 0; i < 3; i++)
        out[i] = r[i];
    if (inside_edges(k, r))
        return;
    edge_of(k, between, a);
    edge_of(k, between + 1, b);
    face(a, b, r, out);
}

/* ---- rolling and spinning ------------------------------------------------------------------- */

/* A part of the cone: `count` components from `first` on, no longer than mu r_N. */
typedef struct part {
    int first, count;
    double mu;
} part;

static int parts_of(const cone *k, part out[3])
{
    int count = 1, first = k->d;
    out[0] = (part){ 1, k->d - 1, k->mu };
    if (k->rolling)
        out[count++] = (part){ first, k->rolling, k->mu_rolling };
    if (k->spinning)
        out[count++] = (part){ first + k->rolling, 1, k->mu_spinning };
    return count;
}

static double length_of(const part *p, const double *a)
{
    return p->count == 2 ? hypot(a[p->first], a[p->first + 1]) : fabs(a[p->first]);
}

/* The nearest point has the normal part x that solves x - r_N = sum mu max(0, |r_part| - mu x):
 * Newton's method from below, where the right side is steepest, ends after a step for each part. */
static void project_parts(const cone *k, const double *r, double *out)
{
    part parts[3];
    int count = parts_of(k, parts);
    double x = fmax(0, r[0]);
    for (int turn = 0; turn <= count; turn++) {
        double value = x - r[0], slope = 1;
        for (int i = 0; i < count; i++) {
            double over = length_of(&parts[i], r) - parts[i].mu * x;
            value -= over > 0 ? parts[i].mu * over : 0;
            slope += over > 0 ? parts[i].mu * parts[i].mu : 0;
        }
        x = fmax(0, x - value / slope);
    }
    out[0] = x;
    for (int i = 0; i < count; i++) {
        double length = length_of(&parts[i], r), most = parts[i].mu * x;
        for (int c = parts[i].first; c < parts[i].first + parts[i].count; c++)
            out[c] = length > most ? most / length * r[c] : r[c];
    }
}

double cone_turning(const cone *k, const double *u)
{
    part parts[3];
    double sum = 0;
    for (int i = 1, count = parts_of(k, parts); i < count; i++)
        sum += parts[i].mu * length_of(&parts[i], u);
    return sum;
}

double cone_against(const cone *k, const double *r, const double *u)
{
    part parts[3];
    double largest = 0;
    for (int i = 1, count = parts_of(k, parts); i < count; i++) {
        double sum = length_of(&parts[i], r) * length_of(&parts[i], u);
        for (int c = parts[i].first; c < parts[i].first + parts[i].count; c++)
            sum += r[c] * u[c];
        largest = fmax(largest, sum);
    }
    return largest;
}

/* ---- all kinds ------------------------------------------------------------------------------ */

/* The disk of friction at the least normal impulse. */
static void project_disk(const cone *k, const double *r, double *out)
{
    double t = cone_tangent(k->d, r), bound = k->mu * k->least;
    out[0] = k->least;
    for (int i = 1; i < k->d; i++)
        out[i] = t > bound ? bound / t * r[i] : r[i];
}

static void project(const cone *k, const double *r, double *out)
{
    if (k->rolling + k->spinning > 0)
        project_parts(k, r, out);
    else if (k->edges > 0 && k->mu > 0)
        project_edges(k, r, out);
    else
        project_circle(k, r, out);
    if (out[0] < k->least)
        project_disk(k, r, out);
}

double cone_natural_map(const cone *k, const double *r, const double *u, double scale)
{
    double moved[CONE_COMPONENTS], nearest[CONE_COMPONENTS], sum = 0;
    int n = cone_components(k);
    for (int i = 0; i < n; i++)
        moved[i] = r[i] - scale * u[i];
    project(k, moved, nearest);
    for (int i = 0; i < n; i++)
        sum += (r[i] - nearest[i]) * (r[i] - nearest[i]);
    return sqrt(sum);
}

double cone_sliding(const cone *k, const double *u)
{
    double largest = 0;
    if (k->edges == 0)
        return cone_tangent(k->d, u);
    for (int i = 0; i < k->edges; i++) {
        double angle = 2 * M_PI * i / k->edges;
        largest = fmax(largest, cos(angle) * u[1] + sin(angle) * u[2]);
    }
    return largest;
}

/* ---- conditions ----------------------------------------------------------------------------- */

/* The nearest point to x of the segment from a to b. */
static void segment(const double *a, const double *b, const double *x, double *near)
{
    double along[2] = { b[0] - a[0], b[1] - a[1] };
    double length2 = along[0] * along[0] + along[1] * along[1];
    double s = ((x[0] - a[0]) * along[0] + (x[1] - a[1]) * along[1]) / length2;
    s = length2 > 0 ? fmin(1, fmax(0, s)) : 0;
    near[0] = a[0] + s * along[0];
    near[1] = a[1] + s * along[1];
}

/* The nearest point to x of the polygon with corners at `bound`. It is on the side that x is above,
 * between the rays through two corners. To compare the distances to all sides would not tell a side
 * from its neighbour where |x| is 1e8 times as large as the polygon. */
static void into_polygon(int edges, double bound, const double *x, double *out)
{
    double side = floor(atan2(x[1], x[0]) * edges / (2 * M_PI));
    double from = 2 * M_PI * side / edges, to = 2 * M_PI * (side + 1) / edges;
    double a[2] = { bound * cos(from), bound * sin(from) };
    double b[2] = { bound * cos(to), bound * sin(to) };
    double left = (b[0] - a[0]) * (x[1] - a[1]) - (b[1] - a[1]) * (x[0] - a[0]);
    segment(a, b, x, out);
    for (int i = 0; i < 2 && bound > 0 && left >= 0; i++)
        out[i] = x[i];
}

/* Squared distance of w r from the nearest impulse to w r - u that the bound of a part allows. */
static double slip2(const part *p, int edges, const double *r, const double *u, double w,
                    double bound)
{
    double x[2] = { 0, 0 }, near[2], sum = 0;
    for (int i = 0; i < p->count; i++)
        x[i] = w * r[p->first + i] - u[p->first + i];
    double length = hypot(x[0], x[1]);
    for (int i = 0; i < 2; i++)
        near[i] = length > bound ? bound / length * x[i] : x[i];
    if (edges > 0)
        into_polygon(edges, bound, x, near);
    for (int i = 0; i < p->count; i++)
        sum += (w * r[p->first + i] - near[i]) * (w * r[p->first + i] - near[i]);
    return sum;
}

double cone_conditions(const cone *k, const double *r, const double *u, double lift, double w)
{
    part parts[3];
    double slide = k->mu * cone_sliding(k, u) + cone_turning(k, u), friction2 = 0;
    double push = w * (r[0] - k->least), opening = u[0] - slide, speed = u[0] - lift;
    double pull = -push, approach = -fmax(opening, speed), both = fmin(push, opening);
    for (int i = 0, count = parts_of(k, parts); i < count; i++)
        friction2 += slip2(&parts[i], i == 0 ? k->edges : 0, r, u, w,
                           w * parts[i].mu * fmax(r[0], k->least));
    double normal = fmax(fmax(pull, approach), fmax(both, 0));
    return fmax(normal, sqrt(friction2));
}
