/* impacts.c - impacts within a step, in sequence or by Poisson's law, and the bias of contacts. */
#include <string.h>

#include "law.h"

/* ---- impacts one after the other ------------------------------------------------------------- */

/* Impacts in sequence within a step, by Newton's restitution (docs/restitution.md).
 * Between impacts paths are straight:
 *     x(t) = x + t w - y,   w = v_free + sum M^-1 H' r,   y = sum t M^-1 H' r
 * A contact hits where its gap g - H_N y + t u_N closes within the step, at the time t, or when its
 * bodies were last hit if it is closed by then, and where it approaches faster than at rest: f_N -
 * u_N exceeds |f_N| and what forces give to each of its bodies, f = H (v_free - v), and twice the
 * size of the term of a round wall (arcs.c), by more than `tolerance` and (1 - e)/2 of the largest
 * such excess when the step begins. Impacts of a round are checked one by one: that the contact
 * hits, at that time, and that no contact of its bodies or their neighbours hits earlier; and all
 * together: that their impulses obey the law with b = e min(0, u_N + s) + s, s = (t/h - 1/2) f_N,
 * from the state after the rounds before. After the last round as many contacts hit as the step
 * says. Impacts that would create energy are left out of the rounds, all of a group together: such
 * a contact takes part in no later round. */

static const double TIE = 1e-9; /* of the step: impacts closer in time are simultaneous */

typedef enum answer { NO, PERHAPS, YES } answer;

/* How the bodies of a contact approach at this moment. */
typedef struct approach {
    double u, f, gap;    /* m/s, m                                               */
    double excess, slow; /* m/s: by how much it is faster than rest, and must be */
    double less;         /* m/s: by how much excess may be less, by the part that touches */
    double size, way;    /* sizes that rounding of u and gap is relative to      */
} approach;

static int components(const check_run *run)
{
    return run->settings.components;
}

/* Whether impacts are resolved in sequence in this run. */
static bool has_rounds(const check_run *run)
{
    const check_settings *s = &run->settings;
    const check_materials *m = &run->materials;
    bool other = m->friction_2 || m->adhesion || s->rolling || s->spinning || m->vary;
    for (int k = 0; k < m->count * m->count; k++)
        other = other || m->poisson[k] != 0;
    return s->impact_rounds > 0 && !other && !s->sleep && !s->scheme->middle &&
           s->linearisations == 0 && run->row_count == 0;
}

static bool any_bounces(const check_run *run)
{
    bool any = false;
    for (int j = 0; j < run->contacts.count; j++)
        any = any || run->contacts.restitution[j] > 0;
    return any;
}

/* |v_free - v| of a dynamic body. */
static double forced_speed(const check_run *run, int body)
{
    if (run->bodies.motion[body] != CHECK_DYNAMIC)
        return 0;
    return vec_norm(vec_add(run->v_start[body], -1, run->before.v[run->before.row[body]]));
}

double check_faded(const check_run *run, int j)
{
    return 0.5 * (1 - run->contacts.restitution[j]) * run->fastest;
}

/* Also sets the sizes of rounding to those of the fastest motion in the step. */
static approach look_at(check_run *run, int j)
{
    check_derived *c = &run->by_contact;
    size_t first = (size_t)j * (size_t)components(run);
    double u[CONE_COMPONENTS], y[CONE_COMPONENTS], most = -HUGE_VAL, least_term = 0;
    const int32_t *body = run->contacts.body + 2 * j;
    double speed = check_relative(run, j, run->path, true, u);
    double late = check_relative(run, j, run->late, false, y);
    double rest = fmax(forced_speed(run, body[0]), forced_speed(run, body[1]));
    approach at = { .u = u[0], .f = c->free[first] - c->before[first] };
    c->size[j] = fmax(c->size[j], 4 * speed);
    at.gap = run->contacts.gap[j] - y[0];
    at.excess = at.f - at.u - fmax(rest, fabs(at.f));
    for (check_arc arc = CHECK_FIRST_ARC; check_arc_next(run, j, &arc);) {
        most = fmax(most, arc.term);
        least_term = fmin(least_term, arc.term);
    }
    at.excess += 2 * most;
    at.less = 2 * (most - least_term);
    at.slow = fmax(run->settings.tolerance * run->fastest, check_faded(run, j));
    at.size = c->size[j];
    at.way = check_way_size(run, j) + late;
    return at;
}

static answer is_negative(double x, double doubt)
{
    return x < -doubt ? YES : x > doubt ? NO : PERHAPS;
}

static answer least(answer a, answer b)
{
    return a < b ? a : b;
}

static answer closes(const check_run *run, const approach *at)
{
    answer comes = is_negative(at->u, CHECK_ROUNDING * at->size);
    return least(comes, is_negative(at->gap + run->settings.h * at->u, CHECK_ROUNDING * at->way));
}

static answer hits(const check_run *run, const approach *at)
{
    double doubt = CHECK_ROUNDING * at->size;
    answer fast = is_negative(at->slow - at->excess + at->less, doubt);
    if (fast == NO && is_negative(at->slow - at->excess, doubt) != NO)
        fast = PERHAPS;
    return least(closes(run, at), fast);
}

static double time_of(const check_run *run, int j, const approach *at)
{
    const int32_t *body = run->contacts.body + 2 * j;
    double since = fmax(run->hit_time[body[0]], run->hit_time[body[1]]);
    return fmin(run->settings.h, fmax(since, at->gap / -at->u));
}

/* s: the size that rounding of that time is relative to. */
static double time_size(const check_run *run, const approach *at)
{
    return run->settings.h + at->way / fmax(fabs(at->u), 1e-300);
}

/* ---- a round -------------------------------------------------------------------------------- */

/* When every contact hits, or may hit within rounding: for the order of impacts. */
static void find_times(check_run *run)
{
    for (int j = 0; j < run->contacts.count; j++) {
        approach at = look_at(run, j);
        answer hit = hits(run, &at);
        if (run->by_contact.spared[j] > 0)
            hit = NO;
        run->by_contact.sure[j] = hit == YES;
        run->by_contact.hits_at[j] = hit != NO ? time_of(run, j, &at) : HUGE_VAL;
        run->by_contact.hits_slack[j] = hit != NO ? CHECK_ROUNDING * time_size(run, &at) : 0;
    }
}

static void take_earlier(check_run *run, int body, double time, double *earliest)
{
    if (run->bodies.motion[body] == CHECK_DYNAMIC)
        earliest[body] = fmin(earliest[body], time);
}

/* The latest time at which the first impact of a body can be, and the earliest. */
static void find_earliest(check_run *run)
{
    const check_derived *c = &run->by_contact;
    for (int i = 0; i < run->bodies.count; i++)
        run->earliest[i] = run->earliest_perhaps[i] = HUGE_VAL;
    for (int k = 0; k < 2 * run->contacts.count; k++) {
        int j = k / 2, body = run->contacts.body[k];
        if (c->sure[j] > 0)
            take_earlier(run, body, c->hits_at[j] + c->hits_slack[j], run->earliest);
        take_earlier(run, body, c->hits_at[j] - c->hits_slack[j], run->earliest_perhaps);
    }
}

/* The same for a body and all bodies in contact with it. */
static void look_around(check_run *run)
{
    for (int i = 0; i < run->bodies.count; i++) {
        run->around[i] = run->earliest[i];
        run->around_perhaps[i] = run->earliest_perhaps[i];
    }
    for (int k = 0; k < 2 * run->contacts.count; k++) {
        int body = run->contacts.body[k], other = run->contacts.body[k ^ 1];
        take_earlier(run, body, run->earliest[other], run->around);
        take_earlier(run, body, run->earliest_perhaps[other], run->around_perhaps);
    }
}

/* Whether contacts may be left out of rounds: not before files said how many were reduced. */
static bool may_spare(const check_run *run)
{
    return run->steps.impacts_reduced != NULL;
}

/* Whether contact j hits in this round, which begins with impact `first`, or a later one. */
static bool hits_later(const check_run *run, int first, int j)
{
    for (int i = first; i < run->impacts.count; i++)
        if (run->impacts.contact[i] == j)
            return true;
    return false;
}

/* A contact that certainly hits, and certainly before all others near both bodies, is in the round,
 * or left out of this one and all that follow. Whether the latter is so for some contact. With
 * `perhaps` also one that hits first within the rounding of its own time. With `more` some were
 * left out already: what is first without these, and hits in a later round, waits for it. */
static bool find_spared(check_run *run, int first, int end, bool perhaps, bool more)
{
    check_derived *c = &run->by_contact;
    bool found = false;
    for (int j = 0, i = first; j < run->contacts.count; j++) {
        const int32_t *body = run->contacts.body + 2 * j;
        double others = fmin(run->around_perhaps[body[0]], run->around_perhaps[body[1]]);
        double latest = others + 0.5 * TIE * run->settings.h + (perhaps ? c->hits_slack[j] : 0);
        bool must = c->sure[j] > 0 && c->hits_at[j] <= latest;
        must = must && !(more && hits_later(run, first, j));
        while (i < end && run->impacts.contact[i] < j)
            i++;
        bool there = i < end && run->impacts.contact[i] == j;
        check_true(run->report, check_at(run, "contact", j, "impact"),
                   !must || there || may_spare(run),
                   "it hits before all other contacts of its bodies, but is not in the round");
        found = found || (must && !there && may_spare(run));
        c->spared[j] = c->spared[j] > 0 || (must && !there);
    }
    return found;
}

/* s: the latest time of impact i, by the contacts near its bodies. */
static double latest_time(const check_run *run, int i, double size)
{
    const int32_t *body = run->contacts.body + 2 * run->impacts.contact[i];
    double first = fmin(run->around[body[0]], run->around[body[1]]);
    return first + TIE * run->settings.h + CHECK_ROUNDING * size;
}

/* Whether some contact that is not in the round hits before one that is. */
static bool is_held_up(check_run *run, int first, int end)
{
    for (int i = first; i < end; i++) {
        approach at = look_at(run, run->impacts.contact[i]);
        if (run->impacts.time[i] > latest_time(run, i, time_size(run, &at)))
            return true;
    }
    return false;
}

/* What was left out before this round. What may have been the first, and would hold the round up,
 * was. */
static bool finds_more(check_run *run, int first, int end, bool more)
{
    if (find_spared(run, first, end, false, more))
        return true;
    return may_spare(run) && is_held_up(run, first, end) &&
           find_spared(run, first, end, true, more);
}

static void check_impact_at(check_run *run, int i)
{
    int j = run->impacts.contact[i];
    approach at = look_at(run, j);
    double t = run->impacts.time[i], size = time_size(run, &at);
    check_true(run->report, check_at(run, "impact", i, "contact"), hits(run, &at) != NO,
               "it does not hit anything");
    check_true(run->report, check_at(run, "impact", i, "contact"), !(run->by_contact.spared[j] > 0),
               "it was left out of an earlier round");
    check_same(run->report, check_at(run, "impact", i, "time"), t, time_of(run, j, &at), size);
    check_between(run->report, check_at(run, "impact", i, "time, after those of its bodies"), t, 0,
                  latest_time(run, i, size));
    run->by_contact.round_bias[j] =
        run->contacts.restitution[j] * fmin(0, at.u + (t / run->settings.h - 0.5) * at.f) +
        (t / run->settings.h - 0.5) * at.f;
}

/* Contacts that are not in the round are open. */
static void clear_round(check_run *run)
{
    size_t m = (size_t)components(run);
    check_derived *c = &run->by_contact;
    for (size_t j = 0; j < (size_t)run->contacts.count; j++) {
        for (size_t i = j * m; i < (j + 1) * m; i++)
            c->round_r[i] = c->round_u[i] = c->round_q[i] = 0;
        c->round_u[j * m] = c->round_q[j * m] = 1;
        c->round_bias[j] = c->least[j] = 0;
    }
}

/* Apply the impulses of the round. */
static void strike(check_run *run, int first, int end)
{
    int d = run->settings.dimension;
    for (int i = first; i < end; i++) {
        int j = run->impacts.contact[i];
        const double *r = run->impacts.impulse + (size_t)i * (size_t)d;
        double late[3];
        for (int k = 0; k < d; k++) {
            late[k] = run->impacts.time[i] * r[k];
            run->by_contact.round_r[(size_t)j * (size_t)d + (size_t)k] = r[k];
            run->by_contact.early[(size_t)j * (size_t)d + (size_t)k] += r[k];
        }
        check_strike(run, j, r, run->path);
        check_strike(run, j, late, run->late);
    }
    for (int i = first; i < end; i++)
        for (int side = 0; side < 2; side++) {
            int body = run->contacts.body[2 * run->impacts.contact[i] + side];
            if (run->bodies.motion[body] == CHECK_DYNAMIC)
                run->hit_time[body] = fmax(run->hit_time[body], run->impacts.time[i]);
        }
}

/* J: r.(u- + u+)/2 + r_N s, the work of an impact at its time. */
static void add_work(check_run *run, int i)
{
    check_derived *c = &run->by_contact;
    size_t j = (size_t)run->impacts.contact[i], m = (size_t)components(run), first = j * m;
    double f = c->free[first] - c->before[first];
    double s = (run->impacts.time[i] / run->settings.h - 0.5) * f, sum = c->round_r[first] * s;
    for (size_t k = first; k < first + m; k++) {
        sum += 0.5 * c->round_r[k] * (c->round_q[k] + c->round_u[k]);
        c->work_size[j] += fabs(c->round_r[k]) * c->size[j];
    }
    c->work[j] += sum;
}

/* An impact that is too slow for rounds shows that the fastest contact was not one in doubt. */
static void settle_fastest(check_run *run, int first, int end)
{
    for (int i = first; i < end; i++) {
        approach at = look_at(run, run->impacts.contact[i]);
        if (hits(run, &at) == NO)
            run->fastest = run->fastest_sure;
    }
}

static void check_round(check_run *run, int first, int end)
{
    check_derived *c = &run->by_contact;
    size_t m = (size_t)components(run);
    settle_fastest(run, first, end);
    bool more = false;
    do {
        find_times(run);
        find_earliest(run);
        look_around(run);
    } while ((more = finds_more(run, first, end, more)));
    clear_round(run);
    for (int i = first; i < end; i++) {
        int j = run->impacts.contact[i];
        check_impact_at(run, i);
        check_relative(run, j, run->path, true, c->round_q + (size_t)j * m);
    }
    strike(run, first, end);
    for (int i = first; i < end; i++) {
        size_t j = (size_t)run->impacts.contact[i];
        double speed = check_relative(run, (int)j, run->path, true, c->round_u + j * m);
        c->size[j] = fmax(c->size[j], 4 * speed);
        add_work(run, i);
    }
    check_phase phase = { c->round_r, c->round_u, c->round_q, c->round_bias,
                          c->mu,      NULL,       c->least,   c->round_u };
    check_between(run->report, check_at(run, "impact", first, "residual of its round"),
                  check_phase_residual(run, &phase), 0, run->settings.tolerance);
}

/* ---- all rounds ----------------------------------------------------------------------------- */

static void start(check_run *run)
{
    static const check_velocity none = { .v_size = 0 };
    size_t numbers = (size_t)run->contacts.count * (size_t)components(run);
    for (int body = 0; body < run->bodies.count; body++) {
        run->hit_time[body] = 0;
        run->late[body] = none;
        run->path[body] = (check_velocity){ run->v_start[body], run->omega_start[body], 0, 0 };
    }
    for (size_t i = 0; i < numbers; i++)
        run->by_contact.early[i] = 0;
    for (int j = 0; j < run->contacts.count; j++)
        run->by_contact.spared[j] = run->by_contact.work[j] = run->by_contact.work_size[j] = 0;
    run->fastest = run->fastest_sure = 0;
}

/* The largest excess when the step begins, with and without contacts of which rounding decides
 * whether they close. */
static void find_fastest(check_run *run)
{
    double fastest = 0, sure = 0;
    for (int j = 0; j < run->contacts.count; j++) {
        approach at = look_at(run, j);
        answer comes = closes(run, &at);
        fastest = comes != NO ? fmax(fastest, at.excess) : fastest;
        sure = comes == YES ? fmax(sure, at.excess - at.less) : sure;
    }
    run->fastest = fastest;
    run->fastest_sure = sure;
}

/* Bounds of the number of contacts that hit after the last round. */
static void check_left(check_run *run)
{
    double sure = 0, perhaps = 0;
    bool any = any_bounces(run) && has_rounds(run);
    for (int j = 0; j < run->contacts.count && any; j++) {
        approach at = look_at(run, j);
        answer hit = at.excess > -CHECK_ROUNDING * at.size ? hits(run, &at) : NO;
        sure += hit == YES;
        perhaps += hit == PERHAPS;
    }
    check_between(run->report, check_at(run, NULL, 0, "impacts_left"),
                  run->steps.impacts_left[run->step - 1], sure, sure + perhaps);
}

/* Rounds are numbered from 1; a contact is in a round once, contacts ascend. */
static bool in_order(const check_run *run, int i)
{
    int round = run->impacts.round[i], last = i > 0 ? run->impacts.round[i - 1] : 0;
    bool next = round == last + 1;
    bool same = i > 0 && round == last && run->impacts.contact[i] > run->impacts.contact[i - 1];
    return next || same;
}

static bool check_order(check_run *run)
{
    bool good = true;
    for (int i = 0; i < run->impacts.count && good; i++) {
        int j = run->impacts.contact[i];
        good = j >= 0 && j < run->contacts.count && in_order(run, i);
        check_true(run->report, check_at(run, "impact", i, "contact and round"), good,
                   "no such contact, or out of order");
    }
    int last = good && run->impacts.count > 0 ? run->impacts.round[run->impacts.count - 1] : 0;
    check_same(run->report, check_at(run, NULL, 0, "impacts"), run->steps.impacts[run->step - 1],
               run->impacts.count, 0);
    check_same(run->report, check_at(run, NULL, 0, "impact_rounds"),
               run->steps.impact_rounds[run->step - 1], last, 0);
    check_between(run->report, check_at(run, NULL, 0, "impact_rounds"), last, 0,
                  has_rounds(run) && any_bounces(run) ? run->settings.impact_rounds : 0);
    return good;
}

/* Impulses, velocities and gaps at the beginning of the last phase. */
static void hand_on(check_run *run)
{
    size_t m = (size_t)components(run);
    check_derived *c = &run->by_contact;
    for (size_t j = 0; j < (size_t)run->contacts.count; j++) {
        double y[CONE_COMPONENTS];
        check_relative(run, (int)j, run->path, true, c->struck + j * m);
        check_relative(run, (int)j, run->late, false, y);
        c->lag[j] = y[0];
        for (size_t i = j * m; i < (j + 1) * m; i++)
            c->decompression[i] = c->r[i] - c->early[i];
    }
}

void check_chain(check_run *run)
{
    start(run);
    for (int j = 0; j < run->contacts.count; j++)
        run->by_contact.lag[j] = 0;
    if (run->settings.impact_rounds < 0 || !check_order(run)) {
        run->impacts.count = 0;
        return;
    }
    if (run->impacts.count > 0 || (has_rounds(run) && any_bounces(run)))
        find_fastest(run);
    for (int i = 0, end = 0; i < run->impacts.count; i = end) {
        while (end < run->impacts.count && run->impacts.round[end] == run->impacts.round[i])
            end++;
        check_round(run, i, end);
    }
    check_left(run);
    if (run->impacts.count > 0)
        hand_on(run);
}

/* ---- bias, and Poisson's law ----------------------------------------------------------------- */

/* The bias b of a contact, and impacts by Poisson's law.
 *
 * b = gamma g/h, of overlaps only where they are pushed apart; where Newton's restitution e acts
 * and the contact closes in this step, min(that, e u_N); contacts taken at mid-step:
 * e min(0, u_N). Where contacts are linearised at q + h v^, g is g - h n.v^. After impacts within
 * the step u_N and g are those after them; g may then be below 0 without any overlap, and b
 * follows it, but not below minus the speed at which the bodies already separate and that of
 * impacts which are not followed. Along round walls a term of second order is added to gamma g/h,
 * unless there were such impacts: arcs.c.
 *
 * An impact: some contact has Poisson's e > 0, and some contact is hit: its velocity before the
 * step, with that e also the free one, closes the gap in this step, and the former exceeds the
 * change by forces, since version 3 also that of the speeds of its bodies. Then contacts with that
 * e which are hit have b = min(b, 0), and the step has two phases: the compression r_c from
 * mid-step with max(b, 0) at contacts with that e, and the impulse after it, with at
 * least e r_cN. */

double check_gap(const check_run *run, int j)
{
    double gap = run->contacts.gap[j] - run->by_contact.lag[j];
    return run->settings.linearisations > 0 ? gap - run->settings.h * run->by_contact.guess[j]
                                            : gap;
}

/* The velocity before the step, or after the impacts within it, without forces. */
static double before_of(const check_run *run, int j)
{
    const check_derived *c = &run->by_contact;
    size_t first = (size_t)j * (size_t)run->settings.components;
    double gained = run->impacts.count > 0 ? c->struck[first] - c->free[first] : 0;
    return c->before[first] + gained;
}

/* Shares of restitution, and of what b' demands beyond b0, where Newton's law would create energy:
 *     b = b0 + lag (b' - b0) + rest (b - b'),   b0 = max(b', c)
 * b' without restitution, c <= 0 what pushes overlaps apart. */
static const struct {
    double rest, lag;
} milder[] = { { 1, 1 }, { 0.75, 1 }, { 0.5, 1 }, { 0, 1 }, { 0, 0 } };

enum { MILDER = sizeof milder / sizeof milder[0] };

/* m: the size that rounding of a displacement of this step is relative to. */
double check_way_size(const check_run *run, int j)
{
    return fabs(run->contacts.gap[j]) + run->settings.h * run->by_contact.size[j];
}

/* ---- impacts -------------------------------------------------------------------------------- */

static bool bounces(const check_run *run, int j)
{
    return check_is_poisson(run, j) && run->contacts.restitution[j] > 0;
}

static answer is_hit(const check_run *run, int j)
{
    size_t first = (size_t)j * (size_t)run->settings.components;
    double before = before_of(run, j), forced = fabs(run->by_contact.free[first] - before);
    const int32_t *body = run->contacts.body + 2 * j;
    if (run->settings.version >= 3)
        forced = fmax(forced, fmax(forced_speed(run, body[0]), forced_speed(run, body[1])));
    double gap = run->settings.scheme->middle ? 0 : check_gap(run, j);
    bool plain = run->settings.impact_rounds < 0 || !bounces(run, j);
    double fastest = plain ? before : fmin(before, run->by_contact.free[first]);
    double way = gap + run->settings.h * fastest;
    answer fast = is_negative(before + forced, CHECK_ROUNDING * run->by_contact.size[j]);
    answer closes = is_negative(way, CHECK_ROUNDING * check_way_size(run, j));
    return fast < closes ? fast : closes;
}

/* Whether the step has a compression; where rounding decides, the file does. */
static bool is_impact(const check_run *run)
{
    bool bouncy = false, stored = false;
    answer hit = NO;
    for (int j = 0; j < run->contacts.count; j++) {
        answer here = is_hit(run, j);
        bouncy = bouncy || bounces(run, j);
        hit = here > hit ? here : hit;
    }
    for (int k = 0; k < run->contacts.count * run->settings.dimension; k++)
        stored = stored || run->contacts.compression[k] != 0;
    return bouncy && (hit == YES || (hit == PERHAPS && stored));
}

/* Whether contact j hits; where rounding decides, whether the phase after the compression has a
 * part in its impulse, as it has where something bounces. */
static bool strikes(const check_run *run, int j)
{
    int d = run->settings.dimension;
    size_t first = (size_t)j * (size_t)d;
    const double *r = run->by_contact.r + first, *compression = run->contacts.compression + first;
    double change[CONE_COMPONENTS] = { 0 };
    answer hit = is_hit(run, j);
    for (int i = 0; i < d; i++)
        change[i] = r[i] - compression[i];
    return hit == YES || (hit == PERHAPS && cone_dot(d, change, change) > 1e-4 * cone_dot(d, r, r));
}

/* Groups in which nothing hits, or nothing bounces, have no part in an impact: their first phase is
 * that of any other step, and takes v_free. In files before version 3 all bodies have a part. */
static void find_struck(check_run *run)
{
    check_find_groups(run);
    for (int j = 0; j < run->contacts.count; j++) {
        check_scale *group = check_group_of(run, j);
        bool all = run->settings.version < 3;
        if (group && (all || strikes(run, j)))
            group->struck = true;
        if (group && (all || bounces(run, j)))
            group->bounces = true;
    }
    for (int i = 0; i < run->bodies.count; i++) {
        check_scale *group = check_group_of_body(run, i);
        if (group && !(group->struck && group->bounces) && run->before.row[i] >= 0)
            check_unhit(run, i);
    }
}

static bool is_struck(check_run *run, int j)
{
    const check_scale *group = check_group_of(run, j);
    return group && group->struck && group->bounces;
}

/* e r_cN; where restitution was reduced, with the largest share of e that r - r_c allows. */
static double floor_of(check_run *run, int j, double x, double compression)
{
    double e = run->contacts.restitution[j], doubt = CHECK_ROUNDING * (fabs(x) + compression);
    bool reduced = run->steps.impacts_reduced && run->steps.impacts_reduced[run->step - 1] > 0;
    int k = 0;
    while (reduced && k + 1 < MILDER && x < milder[k].rest * e * compression - doubt)
        k++;
    run->reduced += k > 0;
    run->reduced_poisson += k == 0 && compression > 0;
    return milder[k].rest * e * compression;
}

/* Its velocities after the compression, where the group has no part in the impact. */
static void find_compressed(check_run *run, int j)
{
    check_derived *c = &run->by_contact;
    double *u = c->compressed + (size_t)j * (size_t)run->settings.components;
    if (!is_struck(run, j))
        c->size[j] += check_relative(run, j, run->hit, true, u);
}

/* Friction and bias of the compression (it has no rotational components); the impulse after it, and
 * its least normal part. */
static void split(check_run *run, int j)
{
    int d = run->settings.dimension;
    size_t first = (size_t)j * (size_t)d;
    check_derived *c = &run->by_contact;
    bool older = run->settings.impact_rounds < 0;
    const double *u = c->compressed + first, *r = run->contacts.compression + first;
    double speed = d == 3 ? hypot(u[1], u[2]) : fabs(u[1]), b = run->contacts.bias[j];
    double doubt = CHECK_ROUNDING * c->size[j];
    bool struck = is_struck(run, j), bouncy = struck && bounces(run, j);
    c->compression_mu[j] = c->mu[j];
    if (run->materials.vary && !run->settings.scheme->frictionless) {
        c->compression_mu[j] = check_friction(run, j, speed);
        double change =
            check_friction(run, j, fmax(0, speed - doubt)) - check_friction(run, j, speed + doubt);
        c->size[j] += c->weight[j] * fabs(r[0]) * change / CHECK_ROUNDING;
    }
    c->compression_bias[j] = bouncy ? fmax(b, 0) : b;
    c->least[j] = bouncy ? floor_of(run, j, c->r[first] - r[0], fmax(0, r[0])) : 0;
    for (size_t i = first; i < first + (size_t)d; i++) {
        c->decompression[i] = c->r[i] - r[i - first];
        c->middle[i] = older ? c->before[i] : 0.5 * (c->before[i] + c->free[i]);
        c->middle[i] = struck ? c->middle[i] : c->free[i];
    }
}

void check_impact(check_run *run)
{
    run->impact = run->settings.components == run->settings.dimension && is_impact(run);
    if (run->impact)
        find_struck(run);
    for (int j = 0; j < run->contacts.count; j++) {
        const double *r = run->contacts.compression + (size_t)j * (size_t)run->settings.dimension;
        for (int i = 0; i < run->settings.dimension && !run->impact; i++)
            check_same(run->report, check_at(run, "contact", j, "compression"), r[i], 0, 0);
        if (run->impact) {
            find_compressed(run, j);
            split(run, j);
        }
    }
}

/* ---- the bias ------------------------------------------------------------------------------- */

double check_pushing(const check_run *run, int j)
{
    double gap = check_gap(run, j) + run->by_contact.lag[j];
    bool pushes = run->settings.push && !run->settings.scheme->middle;
    return pushes ? fmin(0, run->settings.gamma * gap / run->settings.h) : 0;
}

/* m/s: gamma g/h, see above. */
static double apart_of(const check_run *run, int j, double gap)
{
    double rate = run->settings.gamma / run->settings.h, leaves = 0;
    double overlap = fmin(0, run->impacts.count > 0 ? run->contacts.gap[j] : gap);
    if (run->impacts.count > 0)
        leaves = fmax(0, run->by_contact.struck[(size_t)j * (size_t)run->settings.components]) +
                 check_faded(run, j);
    double apart = fmax(rate * (gap - overlap), -leaves);
    return run->settings.push ? apart + rate * overlap : apart;
}

double check_apart(const check_run *run, int j)
{
    return apart_of(run, j, check_gap(run, j));
}

/* Whether an approach is faster than what the tolerance may have left of the step before, by rules
 * 3: (10 tol) h |g|, at most h |g|. */
static answer is_approach(const check_run *run, int j, double before)
{
    const check_settings *s = &run->settings;
    double left = fmin(1, 10 * s->tolerance) * s->h * vec_norm(s->gravity);
    if (s->rules < 3)
        return before < 0 ? YES : NO;
    return is_negative(before + left, CHECK_ROUNDING * run->by_contact.size[j]);
}

/* With a term along a round wall. Two values are possible where rounding decides whether the
 * contact closes, or is hit. */
static void expect(const check_run *run, int j, double arc, double out[2])
{
    double h = run->settings.h, before = before_of(run, j), gap = check_gap(run, j);
    double e = check_is_poisson(run, j) ? 0 : run->contacts.restitution[j];
    double apart = apart_of(run, j, gap);
    apart += run->impacts.count == 0 ? arc : 0;
    double closed = fmin(apart, e * before);
    answer closes = is_negative(gap + h * before, CHECK_ROUNDING * check_way_size(run, j));
    answer comes = e > 0 ? is_approach(run, j, before) : NO;
    out[0] = comes != NO && closes != NO ? closed : apart;
    out[1] = comes == YES && closes == YES ? closed : apart;
    if (run->settings.scheme->middle) {
        out[0] = comes != NO ? e * before : 0;
        out[1] = comes == YES ? e * before : 0;
    }
    answer hit = run->impact && bounces(run, j) ? is_hit(run, j) : NO;
    out[0] = hit != NO ? fmin(out[0], 0) : out[0];
    out[1] = hit == YES ? fmin(out[1], 0) : out[1];
}

static double milder_bias(const check_run *run, int j, double full, int k)
{
    double apart = run->settings.scheme->middle ? 0 : check_apart(run, j);
    double least = fmax(apart, check_pushing(run, j));
    bool poisson = run->impact && bounces(run, j);
    if (k == 0 || poisson)
        return full;
    return least + milder[k].lag * (apart - least) + milder[k].rest * (full - apart);
}

/* The bias that explains the stored one best: of all parts that may touch, levels of reduction, and
 * values that rounding decides between. */
typedef struct explained {
    double nearest, arc, arc_size; /* m/s */
    int level;
} explained;

static void explain_better(const check_run *run, int j, int levels, explained *best)
{
    double stored = run->contacts.bias[j], expected[2];
    for (check_arc arc = CHECK_FIRST_ARC; check_arc_next(run, j, &arc);) {
        expect(run, j, arc.term, expected);
        for (int i = 2 * levels - 1; i >= 0; i--) {
            double b = milder_bias(run, j, expected[i % 2], i / 2);
            if (fabs(stored - b) <= fabs(stored - best->nearest)) /* of equals the first level */
                *best = (explained){ b, arc.term, best->arc_size, i / 2 };
        }
        best->arc_size = run->impacts.count == 0 ? fmax(best->arc_size, arc.size) : 0;
    }
}

/* Which impacts are not followed depends on the fastest approach, which may be one in doubt. */
static explained explain_bias(check_run *run, int j, int levels)
{
    explained best = { .nearest = HUGE_VAL };
    double fastest = run->fastest;
    if (run->fastest_sure < fastest) {
        run->fastest = run->fastest_sure;
        explain_better(run, j, levels, &best);
        run->fastest = fastest;
    }
    explain_better(run, j, levels, &best);
    return best;
}

/* Also counts the contacts whose restitution is reduced, as far as it is certain. */
void check_bias(check_run *run, int j)
{
    double stored = run->contacts.bias[j], expected[2];
    double size =
        run->by_contact.size[j] + run->settings.gamma * check_way_size(run, j) / run->settings.h;
    bool reduced = run->steps.impacts_reduced && run->steps.impacts_reduced[run->step - 1] > 0;
    explained best = explain_bias(run, j, reduced ? MILDER : 1);
    double nearest = best.nearest;
    int level = best.level;
    expect(run, j, best.arc, expected);
    size += best.arc_size;
    check_same(run->report, check_at(run, "contact", j, "bias"), stored, nearest, size);
    double least = milder_bias(run, j, expected[0], MILDER - 1);
    bool differs = least != expected[0] || least != expected[1];
    bool sure = level > 0 && fabs(nearest - expected[0]) > 2 * CHECK_ROUNDING * size &&
                fabs(nearest - expected[1]) > 2 * CHECK_ROUNDING * size;
    run->reduced += sure;
    run->reduced_perhaps +=
        reduced && differs && !sure && fabs(least - expected[0]) <= MILDER * CHECK_ROUNDING * size;
}

/* Contacts with reduced restitution: at least those whose bias or least impulse says so. If there
 * are any, those whose impulse exceeds the whole e r_cN may be so as well. */
void check_reduced(check_run *run)
{
    double most = 0; /* a group that gains has some demand beyond rounding */
    if (run->reduced > 0)
        most = run->reduced + run->reduced_perhaps + run->reduced_poisson;
    if (run->steps.impacts_reduced)
        check_between(run->report, check_at(run, NULL, 0, "impacts_reduced"),
                      run->steps.impacts_reduced[run->step - 1], run->reduced, most);
    run->reduced = run->reduced_perhaps = run->reduced_poisson = 0;
}
