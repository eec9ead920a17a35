/* law.c - how well the stored impulses satisfy the contact law, as residuals and in other units. */
#include <float.h>

#include "law.h"

/* ---- residuals ------------------------------------------------------------------------------- */

/* How well the stored impulses satisfy the chosen law and exact Coulomb friction.
 * With w = trace(W_jj)/d and u^ = u + (b + mu s) n, s = 0 (convex law) or |u_T| (Coulomb):
 *     e_j = max(w |r - P_K(r - u^/w)|, the conditions of the law one by one: law.h),
 *     relative = x/(10 - 9 x) for x <= 1, else x = max e_j / S_j, S_j as in scales.c; in files of
 *     versions 1 and 2 it is
 *     whole = |e| / |q_closing|,
 *     fclib = |r - P_K(r - u^)| / max(|q|, |r|, |u|)
 * Contacts with rolling and spinning are judged in units in which these are speeds (r/l, l u), but
 * for fclib. q is u without impulses. q_closing takes the contacts with q_N < 0, for the convex law
 * also what violates K* elsewhere; for Coulomb it is at least 1/1000 of the convex one. Scheme
 * auto is judged by the convex law with s = |u_T| at marked contacts.
 *
 * Rows of joints count one by one: e = w |r - P(r - y/w)|, y = rate + gain theta + bias + eps r, P
 * onto their bounds; their closing part is the same at r = 0. Each block of them is one "contact".
 *
 * After the compression of an impact r is the additional impulse, K the part of the cone above the
 * least normal impulse, and q_closing includes w times that impulse. The worse phase counts. */

/* Sums over the contacts of a phase for one law. */
typedef struct sums {
    const check_phase *phase;
    bool convex, edges;
    bool map_alone; /* the residual of files of version 1: the natural map alone */
    bool scaled;    /* errors are related to scales                              */
    double e2, map2, worst;
    double closing2, doubtful2;    /* contacts for which rounding decides whether they close */
    double size2, map_size2, size; /* size that rounding is relative to                  */
    double closing_size2;
    double all_size2; /* the same over all contacts and rows, open ones too              */
    double q2, r2, u2;
    double share[2], carried2; /* bounds of max e_j / S_j; sum of (w |r|)^2          */
    double burden;             /* largest w |r_j| / S_j, at most                     */
} sums;

/* A contact as the law sees it; q is u without impulses, with the lift of the convex law. */
typedef struct view {
    cone k;
    double r[CONE_COMPONENTS], u[CONE_COMPONENTS], q[CONE_COMPONENTS];
    double w;    /* 1/kg: weight     */
    double lift; /* m/s: mu s, in u  */
} view;

/* mu s of the law. */
static double lift_of(const sums *s, int j, const cone *k, const double *u)
{
    if (!s->convex)
        return k->mu * cone_sliding(k, u) + cone_turning(k, u);
    return s->phase->s ? k->mu * s->phase->s[j] : 0;
}

/* In the units of the file: u^ and q with bias; u^ with the lift. */
static view plain_view(const check_run *run, const sums *s, int j)
{
    const check_phase *p = s->phase;
    view v = { .k = check_cone(run, p, j, s->edges), .w = run->by_contact.weight[j] };
    int m = run->settings.components;
    size_t first = (size_t)j * (size_t)m;
    for (int i = 0; i < m; i++) {
        v.r[i] = p->r[first + (size_t)i];
        v.u[i] = p->judged[first + (size_t)i];
        v.q[i] = p->q[first + (size_t)i];
    }
    v.u[0] += p->bias[j];
    v.q[0] += p->bias[j];
    v.lift = lift_of(s, j, &v.k, v.u);
    v.u[0] += v.lift;
    return v;
}

/* In units in which rotation is a speed: r/l, l u, mu/l. Lifts do not change. */
static view scaled_view(const check_run *run, const view *plain, int j)
{
    view v = *plain;
    const double *length = run->by_contact.length + 2 * j;
    int m = run->settings.components, spin = v.k.d + v.k.rolling;
    for (int i = v.k.d; i < m; i++) {
        double l = length[i >= spin];
        v.r[i] /= l;
        v.u[i] *= l;
        v.q[i] *= l;
    }
    v.k.mu_rolling /= length[0];
    v.k.mu_spinning /= length[1];
    v.w = run->by_contact.scaled[j];
    return v;
}

/* e of a scaled view. */
static double error_of(const view *v, const sums *s)
{
    const double none[CONE_COMPONENTS] = { 0 };
    bool doubled = s->phase->least != NULL; /* the second phase of an impact */
    if (doubled && !(v->w > 0))
        return 0;
    double map = v->w > 0 ? v->w * cone_natural_map(&v->k, v->r, v->u, 1 / v->w)
                          : cone_natural_map(&v->k, none, v->u, 1);
    double apart = s->map_alone ? 0 : cone_conditions(&v->k, v->r, v->u, v->lift, v->w);
    return apart > map ? apart : map;
}

static void add_closing(const view *v, int j, double size, sums *s)
{
    const double none[CONE_COMPONENTS] = { 0 };
    double q[CONE_COMPONENTS], thrown = v->w * v->k.least;
    bool plain = !s->phase->least;
    int m = cone_components(&v->k);
    for (int i = 0; i < m; i++)
        q[i] = v->q[i];
    if (s->convex && plain)
        q[0] += lift_of(s, j, &v->k, q);
    double whole = cone_dot(m, q, q);
    double part = s->convex && plain ? cone_natural_map(&v->k, none, q, 1) : 0;
    s->closing2 += thrown * thrown;
    if (fabs(q[0]) <= CHECK_ROUNDING * size)
        s->doubtful2 += whole;
    else
        s->closing2 += q[0] < 0 ? whole : part * part;
    if (q[0] < 0 || part > 0 || thrown > 0)
        s->closing_size2 += (size + thrown) * (size + thrown);
}

/* How much larger mu u_T may be than u_T. */
static double steepness(const cone *k)
{
    return 1 + k->mu + k->mu_rolling + k->mu_spinning;
}

/* A contact without impulse whose u^ lies in K* by more than rounding: e is exactly 0. */
static bool is_open(const view *plain, double size)
{
    const double none[CONE_COMPONENTS] = { 0 };
    view v = *plain;
    v.u[0] -= CHECK_ROUNDING * steepness(&v.k) * size;
    return cone_dot(cone_components(&v.k), v.r, v.r) == 0 && v.k.least == 0 &&
           cone_natural_map(&v.k, none, v.u, 1) == 0;
}

/* Magnitude of the stored impulse: r of a phase may be a difference. */
static double whole_impulse(const check_run *run, int j)
{
    int m = run->settings.components;
    const double *r = run->by_contact.r + (size_t)j * (size_t)m;
    return sqrt(cone_dot(m, r, r)) + run->settings.h * run->contacts.adhesion[j];
}

/* m/s: squares of smaller numbers are lost. */
static const double least_size = 1e-140;

/* Bounds of e/S with rounding, S raised by w |r|. */
static void add_share(const check_scale *c, double e, double doubt, double carried, sums *s)
{
    double scale = fmax(c->scale, fmin(carried, c->most));
    doubt = fmax(doubt, least_size);
    double slack = CHECK_ROUNDING * (c->size + carried);
    double low = e > doubt ? (e - doubt) / (scale + slack) : 0;
    /* a scale of rounding errors: what is related to it may be anything */
    double high = scale > slack ? (e + doubt) / (scale - slack) : HUGE_VAL;
    s->share[0] = fmax(s->share[0], low);
    s->share[1] = fmax(s->share[1], high);
    s->carried2 += carried * carried;
    s->burden = fmax(s->burden, carried > 0 ? carried / fmax(0, scale - slack) : 0);
}

/* A contact that is not open: its errors. */
static void add_error(const check_run *run, int j, const view *raw, const view *v, sums *s)
{
    const check_derived *c = &run->by_contact;
    int m = cone_components(&raw->k);
    double e = error_of(v, s);
    double map = cone_natural_map(&raw->k, raw->r, raw->u, 1);
    double longest2 = fmax(cone_dot(m, raw->r, raw->r), cone_dot(m, v->r, v->r));
    double whole = sqrt(longest2) + whole_impulse(run, j);
    bool turns = m > raw->k.d;
    double lengths = turns ? c->length[2 * j] + c->length[2 * j + 1] : 0;
    double size = c->size[j] * (1 + lengths) * steepness(&v->k) + v->w * whole;
    s->e2 += e * e;
    s->map2 += map * map;
    s->worst = fmax(s->worst, e);
    s->size = fmax(s->size, size);
    s->size2 += size * size;
    const double *r = s->phase->least ? c->r + (size_t)j * (size_t)m : v->r; /* of both phases */
    double carried = v->w * sqrt(cone_dot(m, r, r));
    add_share(&c->scale[j], e, CHECK_ROUNDING * size, carried, s);
    double map_size = (whole + c->size[j]) * steepness(&raw->k);
    s->map_size2 += map_size * map_size;
}

static void add_contact(const check_run *run, int j, sums *s)
{
    double size = run->by_contact.size[j];
    view raw = plain_view(run, s, j), v = scaled_view(run, &raw, j);
    int m = cone_components(&raw.k);
    double lifted = raw.u[0];
    raw.u[0] -= lift_of(s, j, &raw.k, raw.u);
    s->u2 += cone_dot(m, raw.u, raw.u);
    raw.u[0] = lifted;
    s->q2 += cone_dot(m, raw.q, raw.q);
    s->r2 += cone_dot(m, raw.r, raw.r);
    add_closing(&v, j, size, s);
    s->all_size2 += pow(steepness(&v.k) * size + v.w * whole_impulse(run, j), 2);
    /* an impulse of 0 may be a difference that was lost to rounding */
    bool lost = s->phase->r == run->by_contact.decompression && whole_impulse(run, j) > 0;
    if (lost || !is_open(&raw, size))
        add_error(run, j, &raw, &v, s);
}

/* e of one contact. */
static double contact_error(const check_run *run, int j, const sums *s)
{
    view raw = plain_view(run, s, j), v = scaled_view(run, &raw, j);
    return error_of(&v, s);
}

/* ---- rows of joints ------------------------------------------------------------------------- */

/* scale |r - P(r - y/scale)| for the bounds of a row. */
static double row_map(const check_joint_row *row, double r, double y, double scale)
{
    return scale * fabs(r - fmin(row->upper, fmax(row->lower, r - y / scale)));
}

/* y of a row with the impulses, and q without. */
static double row_y(const check_joint_row *row)
{
    return row->after + row->gain * row->defect + row->bias + row->eps * row->r;
}

static double row_q(const check_joint_row *row)
{
    return row->free + row->gain * row->defect + row->bias;
}

double check_row_supply(const check_joint_row *row)
{
    bool given = row->lower == row->upper;
    double wrong = given ? 0 : fmax(0, row->r * row_y(row));
    return fmax(0, row->r * row->after - wrong);
}

double check_row_closing(const check_joint_row *row)
{
    return row_map(row, 0, row_q(row), row->weight);
}

/* w |r| of the block of rows that begins with `first`, and the size that the rounding of e is
 * relative to. */
static double block_carries(const check_run *run, int first, double *size)
{
    double sum = 0;
    *size = 0;
    for (int i = first; i < run->row_count && run->rows[i].block == run->rows[first].block; i++) {
        const check_joint_row *row = &run->rows[i];
        double carried = row->weight * fabs(row->r);
        sum += carried * carried;
        *size += row->size + carried + check_row_closing(row);
    }
    return sqrt(sum);
}

/* e of the block of rows that begins with `first`. */
static double block_error(const check_run *run, int first)
{
    double sum = 0;
    for (int i = first; i < run->row_count && run->rows[i].block == run->rows[first].block; i++) {
        const check_joint_row *row = &run->rows[i];
        double e = row_map(row, row->r, row_y(row), row->weight);
        sum += e * e;
    }
    return sqrt(sum);
}

static void add_row(const check_joint_row *row, sums *s)
{
    double y = row_y(row), q = row_q(row), r = row->r, w = row->weight;
    double e = row_map(row, r, y, w), map = row_map(row, r, y, 1);
    double closing = row_map(row, 0, q, w), size = row->size + w * fabs(r) + closing;
    s->e2 += e * e;
    s->map2 += map * map;
    s->closing2 += closing * closing;
    s->q2 += q * q;
    s->r2 += r * r;
    s->u2 += y * y;
    s->size2 += size * size;
    s->all_size2 += size * size;
    s->closing_size2 += size * size;
    s->map_size2 += (fabs(r) + row->size) * (fabs(r) + row->size);
    s->size = fmax(s->size, size * CONE_COMPONENTS);
}

/* Both laws are the same for them. */
static void add_rows(const check_run *run, sums *s)
{
    for (int i = 0; i < run->row_count; i++) {
        add_row(&run->rows[i], s);
        if (i > 0 && run->rows[i].block == run->rows[i - 1].block)
            continue;
        double size, carried = block_carries(run, i, &size), e = block_error(run, i);
        s->worst = fmax(s->worst, e);
        add_share(&run->rows[i].scale, e, CHECK_ROUNDING * size, carried, s);
    }
}

/* The first row of a block; -1: there is none. */
static int first_of_block(const check_run *run, int block)
{
    for (int i = 0; i < run->row_count; i++)
        if (run->rows[i].block == block)
            return i;
    return -1;
}

/* ---- both ----------------------------------------------------------------------------------- */

static sums sum_up(const check_run *run, const check_phase *phase, sums kind)
{
    sums s = kind;
    s.phase = phase;
    for (int j = 0; j < run->contacts.count; j++)
        add_contact(run, j, &s);
    add_rows(run, &s);
    return s;
}

/* ---- claims --------------------------------------------------------------------------------- */

/* Residuals with the uncertainty of rounding. */
typedef struct residual {
    double worst, size, fclib, fclib_size, whole[2], relative[2];
} residual;

/* Bounds of |e| over the closing part, with rounding. Values within the rounding of the sums over
 * all contacts may count as 0. */
static void whole_range(const sums *s, const sums *convex, double range[2])
{
    double doubt = CHECK_ROUNDING * sqrt(s->size2), e = sqrt(s->e2);
    double share = s->phase->least ? 0 : 1e-3;
    double least = share * sqrt(convex->closing2);
    double most = share * sqrt(convex->closing2 + convex->doubtful2);
    double low = fmax(sqrt(s->closing2), least),
           high = fmax(sqrt(s->closing2 + s->doubtful2), most);
    double slack = CHECK_ROUNDING * sqrt(fmax(s->closing_size2, convex->closing_size2));
    bool nothing = high == 0 && e == 0; /* closes, and nothing is wrong: the residual is 0 */
    low = fmax(0, low - slack);
    bool noise = e <= CHECK_ROUNDING * sqrt(s->all_size2);
    range[0] = e > doubt && !noise ? fmin((e - doubt) / (high + slack), DBL_MAX) : 0;
    range[1] = low > 0 ? (e + doubt) / low : e + doubt > 0 && !nothing ? HUGE_VAL : 0;
}

static double residual_of_share(double x)
{
    return x < 1 ? x / (10 - 9 * x) : x;
}

/* Bounds of the relative residual, which is the whole one where errors are not related to scales.
 * Where the rounding of impulses drowns velocities it may be added to the errors. */
static void choose_relative(const sums *s, const double whole[2], double range[2])
{
    double drowned = 4 * DBL_EPSILON * sqrt(s->carried2);
    bool doubtful = drowned > 0.5e-13 * sqrt(s->closing2);
    range[0] = s->scaled ? residual_of_share(s->share[0]) : whole[0];
    double added = doubtful ? 4 * DBL_EPSILON * s->burden : 0;
    range[1] = s->scaled ? residual_of_share(s->share[1] + added) : whole[1];
}

/* The worse of the present values and a phase. */
static void take_worse(const sums *s, const sums *convex, residual *out)
{
    double whole[2], range[2], size = sqrt(fmax(s->q2, fmax(s->r2, s->u2)));
    double most = 2 / CHECK_ROUNDING; /* a ratio of rounding errors has no meaning */
    bool known = size > CHECK_ROUNDING * sqrt(s->all_size2);
    whole_range(s, convex, whole);
    choose_relative(s, whole, range);
    out->worst = fmax(out->worst, s->worst);
    out->size = fmax(out->size, fmax(s->size, least_size));
    out->fclib = fmax(out->fclib, size > 0 ? sqrt(s->map2) / size : 0);
    double fclib_size = known ? sqrt(s->map_size2) / size : s->all_size2 > 0 ? most : 0;
    out->fclib_size = fmax(out->fclib_size, fclib_size);
    for (int i = 0; i < 2; i++) {
        out->whole[i] = fmax(out->whole[i], whole[i]);
        out->relative[i] = fmax(out->relative[i], range[i]);
    }
}

/* What a step claims for one law. */
typedef struct claim {
    const char *worst_name, *relative_name, *whole_name, *fclib_name, *contact_name;
    double worst, relative, whole, fclib, contact;
} claim;

/* The sums of one law over the phases. */
typedef struct law {
    sums phases[2];
    int count;
    residual found;
} law;

static void check_worst(check_run *run, const claim *c, const law *l)
{
    const residual *f = &l->found;
    check_place place = check_at(run, NULL, 0, c->contact_name);
    int worst = (int)c->contact;
    int contacts = run->contacts.count;
    bool there = worst >= -1 && worst < contacts + run->blocks && worst == c->contact;
    there = there && (worst >= 0 || f->worst <= CHECK_ROUNDING * f->size);
    check_true(run->report, place, there, "no such contact");
    if (!there || worst < 0)
        return;
    double e = 0;
    if (worst >= contacts)
        e = block_error(run, first_of_block(run, worst - contacts));
    for (int k = 0; k < l->count && worst < contacts; k++)
        e = fmax(e, contact_error(run, worst, &l->phases[k]));
    check_between(run->report, place, e, f->worst - CHECK_ROUNDING * f->size, HUGE_VAL);
}

static void check_claim(check_run *run, const claim *c, const law *l)
{
    const residual *f = &l->found;
    check_same(run->report, check_at(run, NULL, 0, c->worst_name), c->worst, f->worst, f->size);
    bool by_norm = run->settings.elsewhere && c->relative == c->whole;
    const double *range = by_norm ? f->whole : f->relative;
    check_between(run->report, check_at(run, NULL, 0, c->relative_name), c->relative, range[0],
                  range[1]);
    if (run->settings.version >= 3)
        check_between(run->report, check_at(run, NULL, 0, c->whole_name), c->whole, f->whole[0],
                      f->whole[1]);
    check_same(run->report, check_at(run, NULL, 0, c->fclib_name), c->fclib, f->fclib,
               f->fclib_size);
    check_worst(run, c, l);
}

/* By the kind of sums: law, cone and residual. */
static law judge(check_run *run, const check_phase *phases, int count, sums kind)
{
    law out = { .count = count };
    sums as_convex = kind;
    as_convex.convex = true;
    for (int k = 0; k < count; k++) {
        if (kind.scaled)
            check_scales(run, &phases[k]);
        sums all = sum_up(run, &phases[k], as_convex);
        out.phases[k] = kind.convex ? all : sum_up(run, &phases[k], kind);
        take_worse(&out.phases[k], &all, &out.found);
    }
    return out;
}

double check_phase_residual(check_run *run, const check_phase *phase)
{
    const check_scheme *scheme = run->settings.scheme;
    sums kind = { .convex = scheme->convex && !scheme->mixed };
    law found = judge(run, phase, 1, kind);
    return found.found.whole[0];
}

/* A file of version 1 claims residuals of the natural map, which may be smaller than the conditions
 * of the law by up to sqrt(1 + mu^2): these must hold to twice the tolerance. */
static void check_conditions(check_run *run, const check_phase *phases, int count, sums kind)
{
    kind.map_alone = false;
    law strict = judge(run, phases, count, kind);
    if (run->steps.converged[run->step - 1] == 1 && !(run->settings.increment > 0))
        check_between(run->report, check_at(run, NULL, 0, "residual of the conditions"),
                      strict.found.relative[0], 0, 2 * run->settings.tolerance);
}

static void check_residuals(check_run *run)
{
    const check_steps *t = &run->steps;
    long i = run->step - 1;
    claim asked = { .worst_name = "asked_worst",
                    .relative_name = "asked_relative",
                    .whole_name = "asked_whole",
                    .fclib_name = "asked_fclib",
                    .contact_name = "asked_worst_contact",
                    .worst = t->asked_worst[i],
                    .relative = t->asked_relative[i],
                    .whole = t->asked_whole ? t->asked_whole[i] : 0,
                    .fclib = t->asked_fclib[i],
                    .contact = t->asked_worst_contact[i] };
    claim coulomb = { .worst_name = "coulomb_worst",
                      .relative_name = "coulomb_relative",
                      .whole_name = "coulomb_whole",
                      .fclib_name = "coulomb_fclib",
                      .contact_name = "coulomb_worst_contact",
                      .worst = t->coulomb_worst[i],
                      .relative = t->coulomb_relative[i],
                      .whole = t->coulomb_whole ? t->coulomb_whole[i] : 0,
                      .fclib = t->coulomb_fclib[i],
                      .contact = t->coulomb_worst_contact[i] };
    check_phase phases[2];
    int count = check_phases(run, phases);
    sums kind = { .map_alone = run->settings.version < 2, .scaled = run->settings.version >= 3 };
    law exact = judge(run, phases, count, kind);
    check_claim(run, &coulomb, &exact);
    kind.convex = run->settings.scheme->convex;
    kind.edges = true;
    law mine = judge(run, phases, count, kind);
    check_claim(run, &asked, &mine);
    if (kind.map_alone)
        check_conditions(run, phases, count, kind);
}

/* A step is certified when the residual of the chosen law is within the tolerance. */
static void check_tolerance(check_run *run)
{
    long i = run->step - 1;
    check_place place = check_at(run, NULL, 0, "converged");
    check_true(run->report, place, run->steps.converged[i] == 1,
               "the file says that the step missed its tolerance");
    if (run->steps.converged[i] == 1 && !(run->settings.increment > 0))
        check_between(run->report, check_at(run, NULL, 0, "asked_relative"),
                      run->steps.asked_relative[i], 0, run->settings.tolerance);
}

/* ---- scheme auto ---------------------------------------------------------------------------- */

/* s = |u_T| at marked contacts; a contact that pushes and keeps a larger gap than the model
 * tolerance must be marked. */
static void check_marks(check_run *run)
{
    double marked = 0, h = run->settings.h;
    check_phase phases[2];
    check_phases(run, phases);
    for (int j = 0; j < run->contacts.count; j++) {
        cone k = check_cone(run, &phases[0], j, true);
        size_t first = (size_t)j * (size_t)run->settings.components;
        double slide = cone_sliding(&k, phases[0].u + first);
        bool exact = run->contacts.exact[j] == 1;
        check_between(run->report, check_at(run, "contact", j, "exact"), run->contacts.exact[j], 0,
                      run->settings.scheme->mixed);
        run->by_contact.s[j] = exact ? slide : 0;
        marked += exact;
        double most = run->settings.model_tolerance + CHECK_ROUNDING * h * run->by_contact.size[j];
        bool done = run->steps.converged[run->step - 1] == 1;
        if (run->settings.scheme->mixed && done && !exact && phases[0].r[first] > 0)
            check_between(run->report, check_at(run, "contact", j, "gap kept while sliding"),
                          h * k.mu * slide, 0, most);
    }
    check_same(run->report, check_at(run, NULL, 0, "upgraded"), run->steps.upgraded[run->step - 1],
               marked, 0);
}

void check_law_of(check_run *run)
{
    check_marks(run);
    check_residuals(run);
    check_tolerance(run);
}

/* ---- the certificate ------------------------------------------------------------------------- */

/* The contact law in physical units; formulas in docs/run-format.md and docs/schemes.md. After an
 * impact by Poisson's law r is the impulse after the compression. */

/* A number over all contacts, and the size that its rounding is relative to. */
typedef struct entry {
    double value, size;
} entry;

static void take(entry *e, double value, double size)
{
    e->value = fmax(e->value, value);
    e->size = fmax(e->size, size);
}

enum { GAP_ERROR, COMPLEMENTARITY, FRICTION, DILATATION, SPURIOUS, VIOLATION, ENTRIES };

/* Sizes of the terms of a lift: s, N s, m/s. */
typedef struct lift_scale {
    double h, length, size;
} lift_scale;

/* The gap that the convex law keeps under a pushing contact. An impulse above its minimum by no
 * more than rounding may count as pushing or not: both are correct. */
static void add_lift(entry *out, double above, double normal, double lift, lift_scale scale)
{
    double slack = CHECK_ROUNDING * scale.length, h = scale.h;
    if (above < -slack || !(above > 0 || slack > 0))
        return;
    if (above <= slack) {
        take(&out[DILATATION], 0, h * lift / CHECK_ROUNDING + h * scale.size);
        out[SPURIOUS].size += fabs(normal) * lift / CHECK_ROUNDING + scale.length * scale.size;
        return;
    }
    take(&out[DILATATION], h * lift, h * scale.size);
    out[SPURIOUS].value += normal * lift;
    out[SPURIOUS].size += scale.length * scale.size;
}

static void certify(const check_run *run, const check_phase *p, int j, entry *out)
{
    const check_derived *c = &run->by_contact;
    cone k = check_cone(run, p, j, false);
    int m = run->settings.components;
    size_t first = (size_t)j * (size_t)m;
    const double *r = p->r + first, *u = p->u + first, *all = c->r + first;
    double h = run->settings.h,
           length = sqrt(cone_dot(m, all, all)) + h * run->contacts.adhesion[j];
    double slide = cone_tangent(k.d, u), above = r[0] - k.least;
    k.edges = run->settings.directions;
    double lift = k.mu * fmax(0, cone_sliding(&k, u) - (p->s ? p->s[j] : 0)) + cone_turning(&k, u);
    lift = run->settings.scheme->convex ? lift : 0;
    double push = c->weight[j] * above, open = u[0] + p->bias[j] - lift;
    double along = cone_dot(k.d, r, u) - r[0] * u[0] + cone_tangent(k.d, r) * slide;
    along = fmax(along, cone_against(&k, r, u));
    double steep = 1 + k.mu + k.mu_rolling + k.mu_spinning;
    double size = steep * c->size[j] + c->weight[j] * length;
    bool apart = above == 0 && open > CHECK_ROUNDING * size;
    take(&out[GAP_ERROR], h * fabs(fmin(open, push)), apart ? h * c->weight[j] * length : h * size);
    take(&out[COMPLEMENTARITY], fabs(above * open), length * size);
    take(&out[FRICTION], along / h, length * size / h);
    add_lift(out, above, r[0], lift, (lift_scale){ h, length, size });
}

/* Distance of impulses from their cones, in every phase. */
static void violate(const check_run *run, const check_phase *p, int j, entry *out)
{
    const double none[CONE_COMPONENTS] = { 0 };
    cone k = check_cone(run, p, j, true);
    int m = run->settings.components;
    const double *r = p->r + (size_t)j * (size_t)m,
                 *all = run->by_contact.r + (size_t)j * (size_t)m;
    take(&out[VIOLATION], cone_natural_map(&k, r, none, 0),
         sqrt(cone_dot(m, all, all)) + sqrt(cone_dot(m, r, r)) +
             run->settings.h * run->contacts.adhesion[j]);
}

/* The same for the rows of joints, block by block. */
static void violate_rows(const check_run *run, entry *out)
{
    double sum = 0, size = 0;
    for (int i = 0; i < run->row_count; i++) {
        const check_joint_row *row = &run->rows[i];
        bool same = i > 0 && row->block == row[-1].block;
        double over = fmax(0, fmax(row->lower - row->r, row->r - row->upper));
        sum = (same ? sum : 0) + over * over;
        size = (same ? size : 0) + fabs(row->r);
        take(&out[VIOLATION], sqrt(sum), size);
    }
}

static void find_entries(const check_run *run, entry *out)
{
    check_phase phases[2];
    int count = check_phases(run, phases);
    for (int j = 0; j < run->contacts.count; j++) {
        certify(run, &phases[count - 1], j, out);
        for (int k = 0; k < count; k++)
            violate(run, &phases[k], j, out);
    }
    violate_rows(run, out);
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
        { "spurious_work", t->spurious_work[i], SPURIOUS },
        { "cone_violation", t->cone_violation[i], VIOLATION },
        { "judge_cone_violation", t->judge_cone_violation[i], VIOLATION },
    };
    find_entries(run, found);
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++)
        check_same(run->report, check_at(run, NULL, 0, claims[k].name), claims[k].stored,
                   found[claims[k].entry].value, found[claims[k].entry].size);
    check_between(run->report, check_at(run, NULL, 0, "friction_law"), t->friction_law[i], 0,
                  run->materials.vary ? HUGE_VAL : 0);
}

void check_certificate_of(check_run *run)
{
    check_entries(run);
}
