/* surface.c - what contacts do beyond Coulomb friction with one mu (docs/friction.md):
 *
 *   ellipse   mu along an axis of a body, mu_2 across; with D = diag(mu, mu_2)/max and the tangents
 *             multiplied by D it is a circle: r = D^-1 r_T, u = D u_T
 *   adhesion  c where the gap is within its range: r_N + h c obeys the law, -h c n acts too
 *   belts     the velocity of a surface along itself, turned with its body
 *   rolling, spinning  moments, at most mu_R r_N and mu_S r_N */
#include "pieces.h"
#include "run.h"

/* A part of an axis in the contact that still is a direction; the smaller mu, of the larger. */
static const double upright = 1e-6, flattest = 1e-6;
/* Range of adhesion where none is given: of the smaller body; m where neither has a size. */
static const double touching = 1e-5, sizeless = 1e-3;

double check_pair(const check_run *run, int j, const double *matrix)
{
    const int32_t *body = run->contacts.body + 2 * j, *material = run->bodies.material;
    size_t n = (size_t)run->materials.count;
    return matrix ? matrix[(size_t)material[body[0]] * n + (size_t)material[body[1]]] : 0;
}

/* ---- directions ----------------------------------------------------------------------------- */

/* By the body that was made first, of those that have an axis. */
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

/* mu across the axis; without one the same as along. */
static void check_across(check_run *run, int j)
{
    vec any;
    bool along = check_tangent_along(run, j, &any) > 0;
    double expected = along ? check_pair(run, j, run->materials.friction_2) : run->contacts.mu[j];
    check_same(run->report, check_at(run, "contact", j, "mu_2"), run->contacts.mu_2[j], expected,
               0);
}

/* ---- adhesion ------------------------------------------------------------------------------- */

/* Where the range lies within rounding of the gap, or is not known, either is right. */
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

/* The stored impulses as the problem has them. */
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
