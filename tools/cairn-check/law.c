/* law.c - how well the stored impulses satisfy the law asked for and exact Coulomb friction.
 * With w = trace(W_jj)/d and u^ = u + (b + mu s) n, s = 0 (convex law) or |u_T| (Coulomb):
 *     e_j = w |r - P_K(r - u^/w)|,   relative = |e| / |q_closing|,
 *     fclib = |r - P_K(r - u^)| / max(|q|, |r|, |u|)
 * q is u without impulses. q_closing takes the contacts with q_N < 0, for the convex law also what
 * violates K* elsewhere; for Coulomb it is at least a thousandth of the convex one. */
#include <float.h>

#include "run.h"
#include "shapes.h"

/* The cone of a contact: d 2 or 3, edges 0 for a circle. */
typedef struct cone {
    int d, edges;
    double mu;
} cone;

static double dot(int d, const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + (d == 3 ? a[2] * b[2] : 0);
}

static double tangent_norm(int d, const double *a)
{
    return d == 3 ? hypot(a[1], a[2]) : fabs(a[1]);
}

/* ---- projections ---------------------------------------------------------------------------- */

static void project_circle(const cone *k, const double *r, double *out)
{
    double t = tangent_norm(k->d, r), along = (r[0] + k->mu * t) / (1 + k->mu * k->mu);
    bool inside = r[0] >= 0 && t <= k->mu * r[0];
    double normal = along > 0 ? along : 0, shrink = t > 0 ? k->mu * normal / t : 0;
    out[0] = inside ? r[0] : normal;
    for (int i = 1; i < k->d; i++)
        out[i] = inside ? r[i] : shrink * r[i];
}

/* Nearest point of the ray through p. */
static double ray(const double *p, const double *r, double *out)
{
    double s = fmax(0, dot(3, p, r) / dot(3, p, p)), far = 0;
    for (int i = 0; i < 3; i++) {
        out[i] = s * p[i];
        far += (r[i] - out[i]) * (r[i] - out[i]);
    }
    return far;
}

/* Nearest point of the plane through two edges, when it lies between them; else infinitely far. */
static double face(const double *a, const double *b, const double *r, double *out)
{
    double aa = dot(3, a, a), ab = dot(3, a, b), bb = dot(3, b, b), all = aa * bb - ab * ab;
    double ra = dot(3, r, a), rb = dot(3, r, b), far = 0;
    double s = (ra * bb - rb * ab) / all, t = (rb * aa - ra * ab) / all;
    if (!(s >= 0 && t >= 0))
        return HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        out[i] = s * a[i] + t * b[i];
        far += (r[i] - out[i]) * (r[i] - out[i]);
    }
    return far;
}

static void edge_of(const cone *k, int i, double *out)
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

/* The nearest of all edges, faces and the apex. */
static void project_edges(const cone *k, const double *r, double *out)
{
    double best = dot(3, r, r), near[3] = { 0, 0, 0 }, a[3], b[3];
    for (int i = 0; i < 3; i++)
        out[i] = inside_edges(k, r) ? r[i] : 0;
    if (inside_edges(k, r))
        return;
    for (int i = 0; i < 2 * k->edges; i++) {
        edge_of(k, i / 2, a);
        edge_of(k, i / 2 + 1, b);
        double far = i % 2 ? face(a, b, r, near) : ray(a, r, near);
        if (far >= best)
            continue;
        best = far;
        for (int c = 0; c < 3; c++)
            out[c] = near[c];
    }
}

/* |r - P_K(r - scale u)| */
static double natural_map(const cone *k, const double *r, const double *u, double scale)
{
    double moved[3] = { 0, 0, 0 }, nearest[3] = { 0, 0, 0 }, sum = 0;
    for (int i = 0; i < k->d; i++)
        moved[i] = r[i] - scale * u[i];
    if (k->edges > 0 && k->mu > 0)
        project_edges(k, moved, nearest);
    else
        project_circle(k, moved, nearest);
    for (int i = 0; i < k->d; i++)
        sum += (r[i] - nearest[i]) * (r[i] - nearest[i]);
    return sqrt(sum);
}

static double sliding(const cone *k, const double *u)
{
    double largest = 0;
    if (k->edges == 0)
        return tangent_norm(k->d, u);
    for (int i = 0; i < k->edges; i++) {
        double angle = 2 * M_PI * i / k->edges;
        largest = fmax(largest, cos(angle) * u[1] + sin(angle) * u[2]);
    }
    return largest;
}

/* ---- residuals ------------------------------------------------------------------------------ */

/* Sums over the contacts for one law. */
typedef struct sums {
    bool convex, edges;
    double e2, map2, worst;
    double closing2, doubtful2;    /* contacts of which rounding decides whether they close */
    double size2, map_size2, size; /* what rounding is relative to                       */
    double closing_size2;
    double q2, r2, u2;
} sums;

static cone cone_of(const check_run *run, int j, bool edges)
{
    double mu = run->settings.scheme->frictionless ? 0 : run->contacts.mu[j];
    return (cone){ run->settings.dimension, edges ? run->settings.directions : 0, mu };
}

/* u or q with bias and, for Coulomb, sliding. */
static void shift(const check_run *run, int j, const cone *k, const double *from, double *out)
{
    for (int i = 0; i < 3; i++)
        out[i] = i < k->d ? from[i] : 0;
    out[0] += run->contacts.bias[j];
}

static double error_of(const check_run *run, int j, const sums *s, double *map)
{
    cone k = cone_of(run, j, s->edges);
    size_t first = (size_t)j * (size_t)k.d;
    const double *r = run->contacts.impulse + first, none[3] = { 0, 0, 0 };
    double u[3], w = run->weight[j];
    shift(run, j, &k, run->velocity + first, u);
    u[0] += s->convex ? 0 : k.mu * sliding(&k, u);
    *map = natural_map(&k, r, u, 1);
    return w > 0 ? w * natural_map(&k, r, u, 1 / w) : natural_map(&k, none, u, 1);
}

static void add_closing(const check_run *run, int j, sums *s)
{
    cone k = cone_of(run, j, s->edges);
    double q[3], none[3] = { 0, 0, 0 };
    shift(run, j, &k, run->velocity_free + (size_t)j * (size_t)k.d, q);
    double whole = dot(k.d, q, q), part = s->convex ? natural_map(&k, none, q, 1) : 0;
    s->q2 += whole;
    if (fabs(q[0]) <= CHECK_ROUNDING * run->size[j])
        s->doubtful2 += whole;
    else
        s->closing2 += q[0] < 0 ? whole : part * part;
    if (q[0] < 0 || part > 0)
        s->closing_size2 += run->size[j] * run->size[j];
}

/* A contact without impulse whose u^ lies in K* by more than rounding: e is exactly 0. */
static bool is_open(const check_run *run, int j, const sums *s)
{
    cone k = cone_of(run, j, s->edges);
    size_t first = (size_t)j * (size_t)k.d;
    const double *r = run->contacts.impulse + first, none[3] = { 0, 0, 0 };
    double u[3];
    shift(run, j, &k, run->velocity + first, u);
    u[0] += s->convex ? 0 : k.mu * sliding(&k, u);
    u[0] -= CHECK_ROUNDING * (1 + k.mu) * run->size[j];
    return dot(k.d, r, r) == 0 && natural_map(&k, none, u, 1) == 0;
}

static void add_contact(const check_run *run, int j, sums *s)
{
    int d = run->settings.dimension;
    const double *r = run->contacts.impulse + (size_t)j * (size_t)d;
    cone k = cone_of(run, j, s->edges);
    double u[3], map, e = error_of(run, j, s, &map), length = sqrt(dot(d, r, r));
    double size = run->size[j] + run->weight[j] * length;
    shift(run, j, &k, run->velocity + (size_t)j * (size_t)d, u);
    s->u2 += dot(d, u, u);
    s->r2 += length * length;
    add_closing(run, j, s);
    if (is_open(run, j, s))
        return;
    s->e2 += e * e;
    s->map2 += map * map;
    s->worst = fmax(s->worst, e);
    s->size = fmax(s->size, size);
    s->size2 += size * size;
    s->map_size2 += (length + run->size[j]) * (length + run->size[j]);
}

static sums sum_up(const check_run *run, bool convex, bool edges)
{
    sums s = { .convex = convex, .edges = edges };
    for (int j = 0; j < run->contacts.count; j++)
        add_contact(run, j, &s);
    return s;
}

/* What a step claims for one law. */
typedef struct claim {
    const char *worst_name, *relative_name, *fclib_name, *contact_name;
    double worst, relative, fclib, contact;
} claim;

/* |e| over the closing part lies between these, rounding considered. */
static void relative_range(const sums *s, const sums *convex, double range[2])
{
    double doubt = CHECK_ROUNDING * sqrt(s->size2), e = sqrt(s->e2);
    double least = 1e-3 * sqrt(convex->closing2);
    double most = 1e-3 * sqrt(convex->closing2 + convex->doubtful2);
    double low = fmax(sqrt(s->closing2), least),
           high = fmax(sqrt(s->closing2 + s->doubtful2), most);
    double slack = CHECK_ROUNDING * sqrt(fmax(s->closing_size2, convex->closing_size2));
    low = fmax(0, low - slack);
    range[0] = e > doubt ? (e - doubt) / (high + slack) : 0;
    range[1] = low > 0 ? (e + doubt) / low : e + doubt > 0 ? HUGE_VAL : 0;
}

static void check_claim(check_run *run, const claim *c, const sums *s, const sums *convex)
{
    double range[2], map, size = sqrt(fmax(s->q2, fmax(s->r2, s->u2)));
    int worst = (int)c->contact;
    check_same(run->report, check_at(run, NULL, 0, c->worst_name), c->worst, s->worst, s->size);
    relative_range(s, convex, range);
    check_between(run->report, check_at(run, NULL, 0, c->relative_name), c->relative, range[0],
                  range[1]);
    check_same(run->report, check_at(run, NULL, 0, c->fclib_name), c->fclib,
               size > 0 ? sqrt(s->map2) / size : 0, size > 0 ? sqrt(s->map_size2) / size : 0);
    bool there = worst >= -1 && worst < run->contacts.count && worst == c->contact;
    there = there && (worst >= 0 || s->worst <= CHECK_ROUNDING * s->size);
    check_true(run->report, check_at(run, NULL, 0, c->contact_name), there, "no such contact");
    if (there && worst >= 0)
        check_between(run->report, check_at(run, NULL, 0, c->contact_name),
                      error_of(run, worst, s, &map), s->worst - CHECK_ROUNDING * s->size, HUGE_VAL);
}

static void check_residuals(check_run *run)
{
    const check_steps *t = &run->steps;
    long i = run->step - 1;
    claim asked = { "asked_worst",         "asked_relative",         "asked_fclib",
                    "asked_worst_contact", t->asked_worst[i],        t->asked_relative[i],
                    t->asked_fclib[i],     t->asked_worst_contact[i] };
    claim coulomb = { "coulomb_worst",         "coulomb_relative",         "coulomb_fclib",
                      "coulomb_worst_contact", t->coulomb_worst[i],        t->coulomb_relative[i],
                      t->coulomb_fclib[i],     t->coulomb_worst_contact[i] };
    sums convex = sum_up(run, true, false), exact = sum_up(run, false, false);
    check_claim(run, &coulomb, &exact, &convex);
    bool edges = run->settings.directions > 0;
    sums convex_edges = edges ? sum_up(run, true, true) : convex;
    sums mine = run->settings.scheme->convex ? convex_edges
                : edges                      ? sum_up(run, false, true)
                                             : exact;
    check_claim(run, &asked, &mine, &convex_edges);
}

/* A step is certified when the residual of the law asked for is within the tolerance. */
static void check_tolerance(check_run *run)
{
    long i = run->step - 1;
    check_place place = check_at(run, NULL, 0, "converged");
    check_true(run->report, place, run->steps.converged[i] == 1,
               "the step missed its tolerance, and says so");
    if (run->steps.converged[i] == 1 && !(run->settings.increment > 0))
        check_between(run->report, check_at(run, NULL, 0, "asked_relative"),
                      run->steps.asked_relative[i], 0, run->settings.tolerance);
}

/* ---- the certificate ------------------------------------------------------------------------ */

/* Largest values over the contacts, and what their rounding is relative to. */
typedef struct entry {
    double value, size;
} entry;

static void take(entry *e, double value, double size)
{
    e->value = fmax(e->value, value);
    e->size = fmax(e->size, size);
}

enum { GAP_ERROR, COMPLEMENTARITY, FRICTION, DILATATION, VIOLATION, ENTRIES };

static void certify(const check_run *run, int j, entry *out)
{
    cone k = cone_of(run, j, true);
    const double none[3] = { 0, 0, 0 };
    size_t first = (size_t)j * (size_t)k.d;
    const double *r = run->contacts.impulse + first, *u = run->velocity + first;
    double h = run->settings.h, length = sqrt(dot(k.d, r, r)), slide = tangent_norm(k.d, u);
    double lift = run->settings.scheme->convex ? k.mu * sliding(&k, u) : 0;
    double push = run->weight[j] * r[0], open = u[0] + run->contacts.bias[j] - lift;
    double along = dot(k.d, r, u) - r[0] * u[0] + tangent_norm(k.d, r) * slide;
    double size = (1 + k.mu) * run->size[j] + run->weight[j] * length;
    bool apart = r[0] == 0 && open > CHECK_ROUNDING * size;
    take(&out[GAP_ERROR], h * fabs(fmin(open, push)), apart ? 0 : h * size);
    take(&out[COMPLEMENTARITY], fabs(r[0] * open), length * size);
    take(&out[FRICTION], along / h, length * size / h);
    take(&out[DILATATION], push > 0 ? h * lift : 0, push > 0 ? h * size : 0);
    take(&out[VIOLATION], natural_map(&k, r, none, 0), length);
}

static void check_entries(check_run *run)
{
    const check_steps *t = &run->steps;
    long i = run->step - 1;
    entry found[ENTRIES] = { { 0, 0 } };
    const struct {
        const char *name;
        double stored;
        int entry;
    } claims[] = {
        { "gap_error", t->gap_error[i], GAP_ERROR },
        { "complementarity", t->complementarity[i], COMPLEMENTARITY },
        { "friction_direction", t->friction_direction[i], FRICTION },
        { "dilatation", t->dilatation[i], DILATATION },
        { "cone_violation", t->cone_violation[i], VIOLATION },
        { "judge_cone_violation", t->judge_cone_violation[i], VIOLATION },
    };
    for (int j = 0; j < run->contacts.count; j++)
        certify(run, j, found);
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++)
        check_same(run->report, check_at(run, NULL, 0, claims[k].name), claims[k].stored,
                   found[claims[k].entry].value, found[claims[k].entry].size);
}

/* The deepest overlap of the candidates where the bodies are after the step. */
static void check_penetration(check_run *run)
{
    double deepest = 0, size = 0;
    bool complete = true;
    for (int j = 0; j < run->contacts.count; j++) {
        check_witness found[CHECK_WITNESSES];
        int a = run->contacts.body[2 * j], b = run->contacts.body[2 * j + 1];
        int count = check_witnesses(run, a, b, run->x_after, run->q_after, found);
        complete = complete && count > 0;
        for (int i = 0; i < count; i++) {
            deepest = fmax(deepest, -found[i].gap);
            size = fmax(size, found[i].size);
        }
    }
    double stored = run->steps.penetration[run->step - 1];
    if (complete)
        check_same(run->report, check_at(run, NULL, 0, "penetration"), stored, deepest, size);
    else
        check_between(run->report, check_at(run, NULL, 0, "penetration"), stored,
                      deepest - CHECK_ROUNDING * size, HUGE_VAL);
}

void check_law_of(check_run *run)
{
    check_residuals(run);
    check_tolerance(run);
    check_entries(run);
    check_penetration(run);
}
