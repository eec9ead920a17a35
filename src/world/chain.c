/* chain.c - impacts one after the other within a step, by Newton's restitution.
 *
 * A single solve treats all impacts of a step as simultaneous, from the velocities before it: a
 * ball that is hit, and reaches the next one in the same step, is stopped there, and its energy is
 * lost. So a step with impacts is done in rounds. Bodies move on straight paths between impacts,
 *     x(t) = x + t w - y,      w = v_free + sum M^-1 H' r_k,      y = sum t_k M^-1 H' r_k,
 * and gaps change linearly: g(t) = g - H_N y + t u_N, u = H w + imposed. A contact hits at the time
 * t <= h at which its gap closes, or at once if it is closed, provided that it approaches faster
 * than forces can accelerate one of its bodies in a step (slower is rest), by more than a share of
 * the fastest approach. A round:
 *   (1) find the contacts that hit before all other contacts of their two bodies, and of the bodies
 *       that these may meet, since those could reach them first; ties count as first
 *   (2) solve their impact. Velocities refer to mid-step; s = (t/h - 1/2) f_N is the part of the
 *       forces f = H (v_free - v) that they lack at time t:
 *           K  ∋  r  ⟂  u+ + (b + mu s_T) n  ∈  K*,    b = e min(0, u_N + s) + s
 *   (3) w += M^-1 H' r,  y += t M^-1 H' r
 * until nothing hits, or the number of rounds reaches the user's limit. The rest of the step is the
 * usual solve, from w instead of v_free and with g - H_N y instead of g; the bodies end at
 *     x + h v - y.
 * The solve keeps bodies apart at the end of their paths, but demands no more separation than the
 * speed at which they leave plus that of impacts that are not followed (0 at e = 1, where more
 * would create energy). Contacts that still hit bounce as in a single solve. A round that misses
 * the tolerance is discarded and ends the rounds. Each impact with e = 1 and without friction
 * conserves the kinetic energy at its time to rounding. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "problem/cut.h"
#include "problem/forms.h"
#include "problem/operator.h"
#include "solve/solver.h"
#include "world/step.h"

static const double TIE = 1e-9;    /* of the step: impacts closer in time are simultaneous */
static const double CLOSE = 1e-12; /* relative residual that rounds aim at, small problems */
static const double FADING = 0.5;  /* of (1 - e) fastest: slower impacts are not followed  */
static const double GAIN = 1e-9;   /* of the energy of a group: less than this is rounding */
enum { MOST_SWEEPS = 100 };

/* The state of the rounds. Arrays are in the scratch; "of blocks" and "of contacts" mean one entry
 * (or one velocity) for each. */
typedef struct chain {
    const cairn_step *step;
    const cairn_problem *p;
    const double *v_old; /* of blocks: before the step                               */
    const double *arc;   /* m/s, of contacts: as in cairn_posed; NULL                */
    double *w, *y;       /* of blocks: the path x + t w - y, see above               */
    double *time;        /* s, of blocks: time of their last impact; 0: none yet     */
    double *earliest;    /* s, of blocks: when the first of their contacts hits      */
    double *around;      /* s, of blocks: the same, of it and all blocks it may meet */
    uint8_t *changed;    /* of blocks: 1 if the last round changed its velocity      */
    double *hits;        /* s, of contacts: when they hit; infinite: they do not     */
    double *bias;        /* m/s, of contacts: set for those of the round             */
    double *shift;       /* m/s, of contacts: s, likewise                            */
    double *total;       /* N s, of contacts: sum of the impulses of all rounds      */
    double *work;        /* J, of contacts: work of these impulses                   */
    uint8_t *left;       /* of contacts: 1 if left to the solve after the rounds     */
    uint8_t *struck;     /* of blocks: 1 if some impact changed its velocity         */
    double *farthest;    /* m, of blocks: largest distance from x at an impact       */
    int32_t *list;       /* contacts of the round                                    */
    int count;           /* number of contacts in the list                           */
    double fastest;      /* m/s: largest excess at the start of the step             */
    bool struck_any;     /* a round has changed velocities, of any member            */
    bool left_any;       /* some contact is left to the solve after the rounds       */
    cairn_impacts found; /* all impacts so far                                       */
    size_t room;         /* capacity of `found`                                      */
} chain;

/* ---- which contacts hit --------------------------------------------------------------------- */

/* How the bodies of a contact approach each other. */
typedef struct approach {
    double u, f; /* m/s: normal velocity on the path; its change by forces in the step */
    double gap;  /* m: g - H_N y                                                       */
} approach;

/* The normal component of H_j v + w_j. */
static double normal_part(const cairn_problem *p, int j, const double *v)
{
    double u[CAIRN_MAX_DIMENSION];
    cairn_contact_velocity(p, j, NULL, v, u);
    return u[0];
}

/* y is a displacement: the imposed velocity, which normal_part adds, is no part of H_N y. */
double cairn_contact_behind(const cairn_problem *p, int j, const double *y)
{
    double imposed = p->w ? p->w[(size_t)j * (size_t)p->dimension] : 0;
    return normal_part(p, j, y) - imposed;
}

/* |v_free - v| of a block, m/s: how much forces change its speed in a step; 0 for a held body. */
static double forced_speed(const cairn_problem *p, const double *v_old, int dimension, int block)
{
    double sum = 0;
    for (int i = 0; block >= 0 && i < dimension; i++) {
        size_t k = (size_t)block * (size_t)p->block_size + (size_t)i;
        double change = p->v_free[k] - v_old[k];
        sum += change * change;
    }
    return sqrt(sum);
}

double cairn_contact_forced(const cairn_problem *p, const double *v_old, int dimension, int j)
{
    const int32_t *block = p->block + 2 * (size_t)j;
    return fmax(forced_speed(p, v_old, dimension, block[0]),
                forced_speed(p, v_old, dimension, block[1]));
}

/* Whether contact j closes in this step on the present paths, and how it approaches. The tests are
 * written so that a NaN counts as not closing. */
static bool closes(const chain *c, int j, approach *at)
{
    const cairn_problem *p = c->p;
    at->u = normal_part(p, j, c->w);
    if (!(at->u < 0))
        return false;
    double behind = c->struck_any ? cairn_contact_behind(p, j, c->y) : 0;
    at->gap = c->step->world->contacts.gap[j] - behind;
    if (!(at->gap + c->step->h * at->u <= 0))
        return false;
    at->f = normal_part(p, j, p->v_free) - normal_part(p, j, c->v_old);
    return true;
}

/* By how much an approach, not counting forces, is faster than rest, m/s. A body at rest on another
 * gains f in every step and loses it in the solve; that must not count as an impact. Neither must
 * the approach of a body that moves along a round wall: once the term of arc.c, twice at first. */
static double excess(const chain *c, int j, const approach *at)
{
    double rest = cairn_contact_forced(c->p, c->v_old, c->step->world->dimension, j);
    double arc = c->arc ? c->arc[j] : 0;
    return at->f - at->u + 2 * arc - fmax(rest, fabs(at->f));
}

/* The time of the last impact of either body of a contact; 0: none yet. */
static double since(const chain *c, int j)
{
    const int32_t *block = c->p->block + 2 * (size_t)j;
    double last = 0;
    for (int side = 0; side < 2; side++)
        if (block[side] >= 0)
            last = fmax(last, c->time[block[side]]);
    return last;
}

/* When contact j hits: when its gap closes, but not before the last impact of its bodies, since the
 * path is valid only from then on, and not after the end of the step. */
static double time_of(const chain *c, int j, const approach *at)
{
    double start = since(c, j);
    return fmin(c->step->h, fmax(start, at->gap / -at->u));
}

/* m/s: an excess that is not followed if e < 1; it is a small part of what is lost anyway. Without
 * this limit the fading impacts in a dense crowd would never end. */
static double faded(const chain *c, int j)
{
    return c->fastest * FADING * (1 - c->step->world->contacts.restitution[j]);
}

/* An excess that is too slow for rounds; also what cannot be distinguished from errors of the
 * solver. */
static double slow_at(const chain *c, int j)
{
    return fmax(c->fastest * c->step->options->tolerance, faded(c, j));
}

/* Set the time at which contact j hits. */
static void look_at(chain *c, int j)
{
    approach at;
    bool hit = !c->left[j] && closes(c, j, &at) && excess(c, j, &at) > slow_at(c, j);
    c->hits[j] = hit ? time_of(c, j, &at) : INFINITY;
}

/* The largest excess of all contacts; 0: there are no impacts. */
static double largest_excess(chain *c)
{
    double largest = 0;
    approach at;
    for (int j = 0; j < c->step->world->contacts.count; j++)
        if (closes(c, j, &at))
            largest = fmax(largest, excess(c, j, &at));
    return cairn_link_largest(cairn_problem_link(c->p), largest);
}

/* Whether the last round changed a body of contact j, so that its time must be computed again. */
static bool is_changed(const chain *c, int j)
{
    const int32_t *block = c->p->block + 2 * (size_t)j;
    return (block[0] >= 0 && c->changed[block[0]]) || (block[1] >= 0 && c->changed[block[1]]);
}

/* The earliest hit of each block and of the blocks that it may meet. A neighbour that is hit
 * earlier could reach this block before its own impact. Of ghosts only their owners know it. */
static void look_around(chain *c)
{
    const int32_t *block = c->p->block;
    cairn_problem_fetch(c->p, c->earliest, sizeof *c->earliest);
    memcpy(c->around, c->earliest, (size_t)c->step->blocks * sizeof *c->around);
    for (int k = 0; k < 2 * c->step->world->contacts.count; k++)
        if (block[k] >= 0 && block[k ^ 1] >= 0)
            c->around[block[k]] = fmin(c->around[block[k]], c->earliest[block[k ^ 1]]);
    cairn_problem_fetch(c->p, c->around, sizeof *c->around);
}

/* (1) The list of first contacts, ascending. Returns how many contacts hit at all, of all
 * members. */
static int64_t find_first(chain *c)
{
    const cairn_step *step = c->step;
    const int32_t *block = c->p->block;
    int contacts = step->world->contacts.count;
    int64_t hitting = 0;
    for (int i = 0; i < step->blocks; i++)
        c->earliest[i] = INFINITY;
    for (int j = 0; j < contacts; j++) {
        hitting += isfinite(c->hits[j]) && cairn_contact_counts(c->p, j);
        for (int side = 0; isfinite(c->hits[j]) && side < 2; side++)
            if (block[2 * j + side] >= 0)
                c->earliest[block[2 * j + side]] =
                    fmin(c->earliest[block[2 * j + side]], c->hits[j]);
    }
    look_around(c);
    c->count = 0;
    for (int j = 0; j < contacts; j++) {
        bool first = isfinite(c->hits[j]);
        for (int side = 0; first && side < 2; side++)
            first = block[2 * j + side] < 0 ||
                    c->hits[j] <= c->around[block[2 * j + side]] + TIE * step->h;
        if (first)
            c->list[c->count++] = j;
    }
    return cairn_link_sum(cairn_problem_link(c->p), hitting);
}

/* ---- a round -------------------------------------------------------------------------------- */

/* Scheme auto finds s contact by contact in an outer loop; in the rounds all its contacts have
 * exact friction. */
static cairn_law law_of(const cairn_scheme *scheme)
{
    return cairn_scheme_is_mixed(scheme) ? CAIRN_LAW_COULOMB : scheme->law;
}

/* b of (2) for contact j. */
static void set_bias(chain *c, int j)
{
    const cairn_step *step = c->step;
    double e = step->world->contacts.restitution[j];
    approach at;
    closes(c, j, &at);
    double s = c->shift[j] = (c->hits[j] / step->h - 0.5) * at.f;
    c->bias[j] = e * fmin(0, at.u + s) + s;
}

/* A round that is solved: of each contact in the list, its impulse and its velocity after it. */
typedef struct solved {
    double *r, *u;
} solved;

/* (2) The impulses of the contacts in the list, in the scratch. A decompression with zero floors is
 * an impact solve: few contacts, solved almost exactly. */
static cairn_status solve_round(chain *c, solved *out, cairn_solve_report *report)
{
    const cairn_step *step = c->step;
    cairn_arena *scratch = &step->world->scratch;
    cairn_problem whole = *c->p;
    cairn_problem_part part;
    /* circular cones, whatever the scheme */
    whole.directions = 0;
    whole.v_free = c->w;
    whole.b = c->bias;
    for (int k = 0; k < c->count; k++)
        set_bias(c, c->list[k]);
    TRY(cairn_problem_take_part(&whole, c->list, c->count, scratch, &part));
    const cairn_problem *p = &part.problem;
    size_t rows = (size_t)p->contacts * (size_t)p->dimension;
    double *zeros = cairn_arena_doubles(scratch, rows);
    double *v = cairn_arena_doubles(scratch, (size_t)p->blocks * (size_t)p->block_size);
    *out = (solved){ cairn_arena_doubles(scratch, rows), cairn_arena_doubles(scratch, rows) };
    if (!zeros || !v || !out->r || !out->u)
        return CAIRN_NO_MEMORY;
    const cairn_decompression impact = { p, zeros, zeros, scratch };
    cairn_solve_options options = cairn_solve_options_default();
    options.law = law_of(step->scheme);
    options.tolerance = fmin(CLOSE, step->options->tolerance);
    options.max_iterations = MOST_SWEEPS;
    return cairn_decompression_solve(&impact, &options, out->r, v, out->u, report);
}

/* J: the work of the impact of contact j, at its time. *size: of its terms. */
static double work_of(const chain *c, int j, const double *r, const double *u, double *size)
{
    double before[CAIRN_MAX_DIMENSION], sum = r[0] * c->shift[j];
    cairn_contact_relative(c->p, c->p->dimension, c->p->block_size, j, c->w, before);
    *size = fabs(sum);
    for (int i = 0; i < c->p->dimension; i++) {
        sum += 0.5 * r[i] * (before[i] + u[i]);
        *size += 0.5 * fabs(r[i]) * (fabs(before[i]) + fabs(u[i]));
    }
    return sum;
}

/* Whether some contact of the round adds energy, of any member. Others of its group may take it. */
static bool any_adds(const chain *c, const solved *s)
{
    size_t d = (size_t)c->p->dimension;
    bool any = false;
    for (size_t k = 0; k < (size_t)c->count && !any; k++) {
        double size, work = work_of(c, c->list[k], s->r + k * d, s->u + k * d, &size);
        any = work > GAIN * size;
    }
    return cairn_link_any(cairn_problem_link(c->p), any);
}

/* The contacts of groups of the round that gain energy, in `gains`; *any: of any member. */
static cairn_status find_gains(chain *c, const solved *s, uint8_t *gains, bool *any)
{
    cairn_arena *scratch = &c->step->world->scratch;
    size_t contacts = (size_t)c->p->contacts, d = (size_t)c->p->dimension;
    double *r = cairn_arena_doubles(scratch, contacts * d);
    double *u = cairn_arena_doubles(scratch, contacts * d);
    uint8_t *joined = cairn_arena_take(scratch, contacts, sizeof *joined);
    cairn_problem p = *c->p;
    if (!r || !u || !joined)
        return CAIRN_NO_MEMORY;
    memset(joined, 0, contacts);
    for (size_t k = 0; k < (size_t)c->count; k++)
        joined[c->list[k]] = 1;
    cairn_part_spread(c->list, c->count, (int)d, s->r, r);
    cairn_part_spread(c->list, c->count, (int)d, s->u, u);
    p.v_free = c->w; /* there are no forces between before and after */
    const cairn_work work = { .p = &p,
                              .r = r,
                              .u = u,
                              .before = c->w,
                              .push = c->shift,
                              .joined = joined,
                              .share = GAIN };
    cairn_gain gain;
    TRY(cairn_work_gains(c->step, &work, gains, &gain));
    *any = gain.groups > 0;
    return CAIRN_OK;
}

/* Groups whose impact creates energy are taken out of the round and left to the solve after the
 * rounds, which reduces their restitution (restrain.c). */
static cairn_status leave_gains(chain *c, const solved *s)
{
    size_t d = (size_t)c->p->dimension;
    bool any;
    if (!any_adds(c, s))
        return CAIRN_OK;
    uint8_t *gains = cairn_arena_take(&c->step->world->scratch, (size_t)c->p->contacts, 1);
    if (!gains)
        return CAIRN_NO_MEMORY;
    TRY(find_gains(c, s, gains, &any));
    int kept = 0;
    for (int k = 0; k < c->count; k++) {
        int j = c->list[k];
        if (gains[j]) {
            c->left[j] = 1;
            c->hits[j] = INFINITY;
            continue;
        }
        memmove(s->r + (size_t)kept * d, s->r + (size_t)k * d, d * sizeof *s->r);
        memmove(s->u + (size_t)kept * d, s->u + (size_t)k * d, d * sizeof *s->u);
        c->list[kept++] = j;
    }
    c->count = kept;
    c->left_any = c->left_any || any;
    return CAIRN_OK;
}

/* (3) for one contact. y += t M^-1 H' r is the same product with t r. */
static void strike(chain *c, int j, int round, const double *r)
{
    const cairn_problem *p = c->p;
    int d = p->dimension, n = p->block_size;
    double t = c->hits[j], late[CAIRN_MAX_DIMENSION];
    cairn_impacts *found = &c->found;
    size_t k = (size_t)found->count++;
    found->round[k] = round;
    found->contact[k] = j;
    found->time[k] = t;
    for (int i = 0; i < d; i++) {
        found->impulse[k * (size_t)d + (size_t)i] = r[i];
        c->total[(size_t)j * (size_t)d + (size_t)i] += r[i];
        late[i] = t * r[i];
    }
    cairn_contact_push(p, d, n, j, r, c->w);
    cairn_contact_push(p, d, n, j, late, c->y);
}

/* How far from x the bodies of a contact are when it hits. The path may turn back, so this can
 * exceed the distance at the end of the step; the reach, within which candidates were searched,
 * must cover it. */
static void note_way(const chain *c, int j)
{
    const int32_t *block = c->p->block + 2 * (size_t)j;
    for (int side = 0; side < 2; side++) {
        if (block[side] < 0)
            continue;
        size_t first = (size_t)block[side] * (size_t)c->p->block_size;
        double sum = 0;
        for (size_t i = first; i < first + (size_t)c->step->world->dimension; i++)
            sum += (c->hits[j] * c->w[i] - c->y[i]) * (c->hits[j] * c->w[i] - c->y[i]);
        c->farthest[block[side]] = fmax(c->farthest[block[side]], sqrt(sum));
    }
}

static void mark_blocks(const chain *c, int j)
{
    const int32_t *block = c->p->block + 2 * (size_t)j;
    for (int side = 0; side < 2; side++)
        if (block[side] >= 0) {
            c->changed[block[side]] = 1;
            c->struck[block[side]] = 1;
            c->time[block[side]] = fmax(c->time[block[side]], c->hits[j]);
        }
}

/* Ghosts as the round leaves them: their owners know all of their contacts. */
static void fetch_ghosts(const chain *c)
{
    size_t width = (size_t)c->p->block_size;
    cairn_problem_fetch(c->p, c->w, width * sizeof *c->w);
    cairn_problem_fetch(c->p, c->y, width * sizeof *c->y);
    cairn_problem_fetch(c->p, c->time, sizeof *c->time);
    cairn_problem_fetch(c->p, c->changed, sizeof *c->changed);
    cairn_problem_fetch(c->p, c->struck, sizeof *c->struck);
}

/* All updates of a round. Distances are noted before w and y change; then only the contacts of
 * changed blocks can have another time. */
static void strike_all(chain *c, int round, const solved *s)
{
    size_t d = (size_t)c->p->dimension;
    int contacts = c->step->world->contacts.count;
    memset(c->changed, 0, (size_t)c->step->blocks);
    for (size_t k = 0; k < (size_t)c->count; k++) {
        double size;
        c->work[c->list[k]] += work_of(c, c->list[k], s->r + k * d, s->u + k * d, &size);
        note_way(c, c->list[k]);
    }
    for (int k = 0; k < c->count; k++)
        strike(c, c->list[k], round, s->r + (size_t)k * d);
    for (int k = 0; k < c->count; k++)
        mark_blocks(c, c->list[k]);
    c->struck_any = true;
    fetch_ghosts(c);
    for (int j = 0; j < contacts; j++)
        if (is_changed(c, j))
            look_at(c, j);
}

/* ---- all rounds ----------------------------------------------------------------------------- */

/* Capacity for the impacts of another round. Doubling keeps the copying linear; the old arrays stay
 * in the scratch until the end of the step. */
static cairn_status make_room(chain *c)
{
    cairn_arena *scratch = &c->step->world->scratch;
    size_t needed = (size_t)(c->found.count + c->count), d = (size_t)c->p->dimension;
    if (needed <= c->room)
        return CAIRN_OK;
    size_t room = 2 * needed, old = (size_t)c->found.count;
    cairn_impacts more = { .count = c->found.count,
                           .round = cairn_arena_take(scratch, room, sizeof *more.round),
                           .contact = cairn_arena_take(scratch, room, sizeof *more.contact),
                           .time = cairn_arena_take(scratch, room, sizeof *more.time),
                           .impulse = cairn_arena_take(scratch, room * d, sizeof *more.impulse) };
    if (!more.round || !more.contact || !more.time || !more.impulse)
        return CAIRN_NO_MEMORY;
    if (old > 0) {
        memcpy(more.round, c->found.round, old * sizeof *more.round);
        memcpy(more.contact, c->found.contact, old * sizeof *more.contact);
        memcpy(more.time, c->found.time, old * sizeof *more.time);
        memcpy(more.impulse, c->found.impulse, old * d * sizeof *more.impulse);
    }
    c->found = more;
    c->room = room;
    return CAIRN_OK;
}

/* One round; *good is false if it misses the tolerance, and then changes nothing. *done: it has
 * impacts, of any member. */
static cairn_status do_round(chain *c, int round, bool *good, bool *done)
{
    cairn_solve_report report;
    solved s;
    TRY(make_room(c));
    /* after make_room, whose arrays must stay */
    cairn_arena_moment before = cairn_arena_now(&c->step->world->scratch);
    TRY(solve_round(c, &s, &report));
    *good = report.judgement.asked.relative <= c->step->options->tolerance;
    if (*good)
        TRY(leave_gains(c, &s));
    *done = *good &&
            (!c->left_any || cairn_link_any(cairn_problem_link(c->p), c->count > 0));
    if (*done)
        strike_all(c, round, &s);
    cairn_arena_return(&c->step->world->scratch, before);
    return CAIRN_OK;
}

/* How many contacts hit, with those that the rounds have left out. */
static int64_t count_left(chain *c)
{
    memset(c->left, 0, (size_t)c->p->contacts);
    for (int j = 0; j < c->step->world->contacts.count; j++)
        look_at(c, j);
    return find_first(c);
}

/* Rounds until nothing hits. The contacts that still hit at the end are reported, not hidden. */
static cairn_status do_rounds(chain *c)
{
    cairn_step_report *report = c->step->report;
    bool good = true, done;
    int64_t hitting = find_first(c), impacts = 0;
    while (hitting > 0 && good && report->impact_rounds < c->step->options->impact_rounds) {
        TRY(do_round(c, report->impact_rounds + 1, &good, &done));
        report->impact_rounds += done;
        hitting = find_first(c);
    }
    if (c->left_any)
        hitting = count_left(c);
    for (int k = 0; k < c->found.count; k++)
        impacts += cairn_contact_counts(c->p, c->found.contact[k]);
    report->impacts = (int)cairn_link_sum(cairn_problem_link(c->p), impacts);
    report->impacts_left = (int)hitting;
    return CAIRN_OK;
}

static cairn_status take_arrays(chain *c)
{
    const cairn_step *step = c->step;
    cairn_arena *scratch = &step->world->scratch;
    size_t blocks = (size_t)step->blocks, velocities = blocks * (size_t)step->block_size;
    size_t contacts = (size_t)step->world->contacts.count;
    c->y = cairn_arena_doubles(scratch, velocities);
    c->w = cairn_arena_take(scratch, velocities, sizeof *c->w);
    c->time = cairn_arena_doubles(scratch, blocks);
    c->earliest = cairn_arena_take(scratch, blocks, sizeof *c->earliest);
    c->around = cairn_arena_take(scratch, blocks, sizeof *c->around);
    c->changed = cairn_arena_take(scratch, blocks, sizeof *c->changed);
    c->hits = cairn_arena_take(scratch, contacts, sizeof *c->hits);
    c->bias = cairn_arena_take(scratch, contacts, sizeof *c->bias);
    c->list = cairn_arena_take(scratch, contacts, sizeof *c->list);
    c->total = cairn_arena_doubles(scratch, contacts * (size_t)c->p->dimension);
    c->shift = cairn_arena_doubles(scratch, contacts);
    c->work = cairn_arena_doubles(scratch, contacts);
    c->left = cairn_arena_take(scratch, contacts, sizeof *c->left);
    c->struck = cairn_arena_take(scratch, blocks, sizeof *c->struck);
    c->farthest = cairn_arena_doubles(scratch, blocks);
    if (!c->y || !c->w || !c->time || !c->earliest || !c->around || !c->changed || !c->hits ||
        !c->bias || !c->list || !c->total || !c->struck || !c->farthest || !c->shift || !c->work ||
        !c->left)
        return CAIRN_NO_MEMORY;
    memset(c->left, 0, contacts);
    memcpy(c->w, c->p->v_free, velocities * sizeof *c->w);
    memset(c->struck, 0, blocks);
    return CAIRN_OK;
}

/* Whether an impact has changed one of the bodies of contact j. */
static bool is_struck(const chain *c, int j)
{
    const int32_t *block = c->p->block + 2 * (size_t)j;
    return (block[0] >= 0 && c->struck[block[0]]) || (block[1] >= 0 && c->struck[block[1]]);
}

/* The bias, in the final solve, of a contact whose bodies took part in an impact: computed from the
 * paths instead of from the velocities before the step. *apart: without restitution. The term of
 * second order along round walls is left out, of all contacts: together with the impacts it may be
 * more than bodies can do. */
static double bias_after(const chain *c, int j, double *apart)
{
    const cairn_step *step = c->step;
    const cairn_contact_store *contacts = &step->world->contacts;
    double f = normal_part(c->p, j, c->p->v_free) - normal_part(c->p, j, c->v_old);
    double u = normal_part(c->p, j, c->w), overlap = fmin(0, contacts->gap[j]);
    double gap = contacts->gap[j] - cairn_contact_behind(c->p, j, c->y);
    *apart = cairn_contact_apart(step, gap, overlap, fmax(0, u) + faded(c, j));
    const cairn_approach at = { gap, *apart, u - f, contacts->restitution[j],
                                cairn_step_promised(step) };
    return cairn_scheme_bias(step->scheme->velocity_level, step->h, &at);
}

/* The usual solve starts from w, with gaps measured along the paths. */
static cairn_status hand_on(const chain *c, cairn_answer *answer)
{
    size_t count = (size_t)c->step->world->contacts.count;
    double *b = cairn_arena_take(&c->step->world->scratch, count, sizeof *b);
    double *apart = cairn_arena_take(&c->step->world->scratch, count, sizeof *apart);
    if (!b || !apart)
        return CAIRN_NO_MEMORY;
    for (size_t j = 0; j < count; j++) {
        double gap = c->step->world->contacts.gap[j];
        apart[j] = cairn_contact_apart(c->step, gap, fmin(0, gap), 0);
        b[j] = c->arc || is_struck(c, (int)j) ? bias_after(c, (int)j, &apart[j]) : c->p->b[j];
    }
    answer->impacts = c->found;
    answer->impacts.total = c->total;
    answer->impacts.behind = c->y;
    answer->impacts.struck = c->struck;
    answer->impacts.farthest = c->farthest;
    answer->impacts.v_free = c->p->v_free;
    answer->impacts.apart = apart;
    answer->impacts.work = c->work;
    answer->problem.v_free = c->w;
    answer->problem.b = b;
    return CAIRN_OK;
}

/* ---- whether rounds apply ------------------------------------------------------------------- */

/* Whether rounds apply. They handle plain contacts only: laws with further components or pulls,
 * laws that are found by iteration around the solve, joints, sleep and contacts that are evaluated
 * elsewhere than at the start are left to a single solve. */
static bool is_for_rounds(const cairn_step *step, const cairn_problem *p)
{
    const cairn_world *world = step->world;
    const cairn_surface_laws *laws = &world->materials.laws;
    bool other = laws->rolling || laws->spinning || laws->anisotropic || laws->adhesive ||
                 world->materials.friction_varies || cairn_materials_have_poisson(world);
    return world->materials.bouncing && step->options->impact_rounds > 0 && !other &&
           !step->options->sleep && !step->scheme->velocity_level && !step->linearisations &&
           !p->bounded;
}

/* Whether some contact has restitution at all, of any member. */
static bool any_bounces(const cairn_contact_store *c, cairn_link *link)
{
    bool any = false;
    for (int j = 0; j < c->count && !any; j++)
        any = c->restitution[j] > 0;
    return cairn_link_any(link, any);
}

/* The entries of the report are set to 0 first: an earlier attempt of the step may have filled
 * them. */
cairn_status cairn_step_chain(const cairn_step *step, cairn_answer *answer, bool *any)
{
    const cairn_contact_store *contacts = &step->world->contacts;
    step->report->impacts = step->report->impact_rounds = step->report->impacts_left = 0;
    *any = false;
    if (!is_for_rounds(step, &answer->problem) ||
        !any_bounces(contacts, step->world->exchange.link))
        return CAIRN_OK;
    cairn_arena_moment before = cairn_arena_now(&step->world->scratch);
    chain c = { .step = step,
                .p = &answer->problem,
                .v_old = answer->v_old,
                .arc = answer->arc };
    TRY(take_arrays(&c));
    c.fastest = largest_excess(&c);
    if (c.fastest > 0) {
        for (int j = 0; j < contacts->count; j++)
            look_at(&c, j);
        TRY(do_rounds(&c));
    }
    *any = c.struck_any;
    if (*any)
        return hand_on(&c, answer);
    /* nothing was resolved: give the memory back, the answer is unchanged */
    cairn_arena_return(&step->world->scratch, before);
    return CAIRN_OK;
}
