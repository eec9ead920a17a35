/* claims.c - what a run says of its bodies, its laws and its events, as far as the rest of the file
 * shows it: which lengths a shape has, when a body was created, how often it came back, laws of
 * pairs, when events happened, how often a step was tried. */
#include <stdlib.h>
#include <string.h>

#include "run.h"

/* ---- lengths of shapes ----------------------------------------------------------------------- */

/* The numbers that a shape may have. */
enum {
    RADIUS = 1,
    HALF_ANGLE = 2,
    RIMS = 4, /* bottom_radius, top_radius */
    HEIGHT = 8,
    LENGTH = 16,
    ROUNDING = 32,
    EXPONENTS = 64,
    SIZE = 128,
    SEMI_AXES = 256,
    DATA = 512, /* a row of /geometry */
    KINDS_OF_NUMBERS = 10
};

static const char *const number_names[KINDS_OF_NUMBERS] = {
    "radius", "half_angle", "bottom_radius or top_radius", "height", "length", "rounding",
    "exponents", "size", "semi_axes", "geometry"
};

static const int numbers_of[CHECK_OTHER] = {
    [CHECK_SPHERE] = RADIUS,
    [CHECK_CYLINDER] = RADIUS,
    [CHECK_CONE] = HALF_ANGLE,
    [CHECK_FUNNEL] = RIMS | HEIGHT,
    [CHECK_BOX] = SIZE | ROUNDING,
    [CHECK_CAPSULE] = RADIUS | LENGTH,
    [CHECK_SOLID_CYLINDER] = RADIUS | HEIGHT,
    [CHECK_SOLID_CONE] = RADIUS | HEIGHT,
    [CHECK_ELLIPSOID] = SEMI_AXES,
    [CHECK_SUPERELLIPSOID] = SEMI_AXES | EXPONENTS,
    [CHECK_INSIDE_BOX] = SIZE,
    [CHECK_HULL] = DATA | ROUNDING,
    [CHECK_MESH] = DATA,
    [CHECK_POLYLINE] = DATA,
    [CHECK_HEIGHT_FIELD] = DATA,
    [CHECK_COMPOUND] = DATA,
};

/* The largest of the numbers of one kind, and the smallest of those that must be positive. */
typedef struct range {
    double least, most;
} range;

static range of_vector(vec v, bool flat)
{
    double most = fmax(fabs(v.x), fmax(fabs(v.y), flat ? 0 : fabs(v.z)));
    return (range){ fmin(v.x, flat ? v.y : fmin(v.y, v.z)), most };
}

static range of_numbers(const check_run *run, int i, int kind)
{
    const check_bodies *b = &run->bodies;
    bool flat = run->settings.dimension == 2;
    const double *exponents = b->exponents + 2 * i;
    switch (kind) {
    case RADIUS: /* a capsule may be a segment, or a ball */
        if (b->shape[i] == CHECK_CAPSULE && b->radius[i] == 0)
            return (range){ b->length[i], 0 };
        break;
    case RIMS:
        return (range){ fmax(b->bottom_radius[i], b->top_radius[i]),
                        fmax(fabs(b->bottom_radius[i]), fabs(b->top_radius[i])) };
    case EXPONENTS:
        return (range){ exponents[0], fmax(fabs(exponents[0]), fabs(exponents[1])) };
    case SIZE:
        return of_vector(b->size[i], flat);
    case SEMI_AXES:
        return of_vector(b->semi_axes[i], flat);
    case DATA: /* older files have no /geometry, and a row of 0 for all */
        return (range){ b->geometry[i] + 1, b->geometry[i] + 1 };
    default:
        break;
    }
    double x = kind == RADIUS       ? b->radius[i]
               : kind == HALF_ANGLE ? b->half_angle[i]
               : kind == HEIGHT     ? b->height[i]
               : kind == LENGTH     ? b->length[i]
                                    : b->rounding[i];
    return (range){ x, fabs(x) };
}

/* A shape has the numbers of its kind, and no others. */
static void check_lengths(check_run *run)
{
    const check_bodies *b = &run->bodies;
    bool data = check_has(run->file, "bodies/geometry");
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < KINDS_OF_NUMBERS && b->shape[i] != CHECK_OTHER; k++) {
            int kind = 1 << k;
            range found = of_numbers(run, i, kind);
            bool has = numbers_of[b->shape[i]] & kind;
            bool free = has && (kind & (ROUNDING | LENGTH)) != 0;
            bool good = free  ? found.least >= 0
                        : has ? found.least > 0
                              : found.most == 0;
            check_true(run->report, check_at(run, "body", i, number_names[k]),
                       good || (kind == DATA && !data),
                       has ? "its shape has a positive one" : "its shape has none");
        }
}

/* ---- where bodies come from ------------------------------------------------------------------ */

static const check_bodies *sorted; /* of by_first; qsort takes no context */

/* By the uid of the first pass, then in the order of creation. */
static int by_first(const void *left, const void *right)
{
    int a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    double x = sorted->first[a], y = sorted->first[b];
    return x != y ? (x > y) - (x < y) : (a > b) - (a < b);
}

/* The row of the body as which each was there before: the last one with the same `first`; -1: it is
 * new, or came back from a queue that was there at the start. */
static bool find_lives(check_run *run)
{
    int n = run->bodies.count, *order = NULL;
    if (!check_memory_take(&order, (size_t)n, sizeof *order) ||
        !check_memory_take(&run->lived, (size_t)n, sizeof *run->lived)) {
        check_memory_free(&order);
        return check_fail(run->report, "no memory");
    }
    for (int i = 0; i < n; i++)
        order[i] = i;
    sorted = &run->bodies;
    qsort(order, (size_t)n, sizeof *order, by_first);
    for (int k = 0; k < n; k++) {
        bool same = k > 0 && sorted->first[order[k]] == sorted->first[order[k - 1]];
        run->lived[order[k]] = same ? order[k - 1] : -1;
    }
    check_memory_free(&order);
    return true;
}

/* A body that came back has the shape and the mass that it had, and one more pass. */
static void check_passes(check_run *run)
{
    const check_bodies *b = &run->bodies;
    for (int i = 0; i < b->count; i++) {
        int old = run->lived[i];
        double passes = b->passes[i];
        check_place place = check_at(run, "body", i, "passes");
        check_true(run->report, place,
                   passes >= 0 && passes == floor(passes) &&
                       (passes == 0) == (b->first[i] == b->uid[i]) && b->first[i] <= b->uid[i],
                   "they do not fit its first uid");
        if (old < 0)
            continue;
        check_same(run->report, place, passes, b->passes[old] + 1, 0);
        check_true(run->report, place,
                   b->shape[i] == b->shape[old] && b->radius[i] == b->radius[old] &&
                       b->mass[i] == b->mass[old],
                   "it is not the body that it was in its last pass");
    }
}

void check_births(check_run *run)
{
    const check_bodies *b = &run->bodies;
    const check_state *s = &run->after;
    double last = -HUGE_VAL, now = run->step > 0 ? run->steps.time[run->step - 1] : run->start_time;
    int count = check_has(run->file, "bodies/born") ? s->count : 0; /* not in older files */
    for (int i = 0; i < count; i++) {
        int body = s->index[i];
        check_place place = check_at(run, "body", body, "born");
        if (run->step == 0)
            check_true(run->report, place, b->born[body] >= last && b->born[body] <= now,
                       "after the start, or not in the order of the uids");
        else if (run->before.row[body] < 0)
            check_same(run->report, place, b->born[body], now, 0);
        if (run->lived && run->before.row[body] < 0 && run->lived[body] >= 0)
            check_true(run->report, check_at(run, "body", body, "passes"),
                       run->gone[run->lived[body]], "it had not left");
        last = b->born[body];
    }
}

/* ---- laws of pairs of materials -------------------------------------------------------------- */

/* Pair a, b has the laws of both materials, with their numbers, or one of its own: these follow in
 * the order of the pairs. */
static void check_laws(check_run *run)
{
    const check_materials *m = &run->materials;
    const double *first = m->law_first, *second = m->law_second;
    int n = m->count, own = n;
    for (int a = 0; a < n; a++)
        for (int b = a; b < n; b++) {
            int there = a * n + b, back = b * n + a;
            bool both = first[there] == a && second[there] == b;
            bool mirrored = both ? first[back] == b && second[back] == a
                                 : first[back] == own && second[back] == own;
            check_true(run->report, check_at(run, "pair", there, "law_first, law_second"),
                       mirrored && (both || (first[there] == own && second[there] == own)),
                       "neither those of its materials nor one of its own");
            own += !both;
        }
    check_true(run->report, check_at(run, NULL, 0, "laws"), own == m->law_count,
               "there is a law that no pair names");
}

/* All numbers of a pair are the same in either order; friction at rest is that of its laws. */
static void check_pairs_of_materials(check_run *run)
{
    const check_materials *m = &run->materials;
    const double *const tables[] = { m->friction, m->restitution,    m->poisson, m->friction_2,
                                     m->adhesion, m->adhesion_range, m->rolling, m->spinning };
    static const char *const names[] = { "friction",   "restitution",    "poisson",
                                         "friction_2", "adhesion",       "adhesion_range",
                                         "rolling_friction", "spinning_friction" };
    int n = m->count;
    for (int there = 0; there < n * n; there++) {
        int back = there % n * n + there / n;
        for (int k = 0; k < CHECK_COUNT(tables); k++)
            if (tables[k])
                check_same(run->report, check_at(run, "pair", there, names[k]), tables[k][there],
                           tables[k][back], 0);
        if (!m->in_step) /* the matrix is that of the start */
            check_same(run->report, check_at(run, "pair", there, "friction"), m->friction[there],
                       check_pair_friction(m, there, 0), m->friction[there]);
        check_true(run->report, check_at(run, "pair", there, "poisson"),
                   m->poisson[there] == 0 || m->poisson[there] == 1, "neither 0 nor 1");
    }
}

bool check_claims(check_run *run)
{
    bool lives = check_has(run->file, "bodies/passes") && check_has(run->file, "bodies/uid");
    check_lengths(run);
    check_laws(run);
    check_pairs_of_materials(run);
    if (lives && !find_lives(run))
        return false;
    if (lives)
        check_passes(run);
    return true;
}

/* ---- events and attempts --------------------------------------------------------------------- */

/* They happened at the end of a step, each once, in the order of the scene where several did. */
void check_events(check_run *run)
{
    const check_event_list *e = &run->events;
    for (int64_t i = 0; i < run->event_count; i++) {
        double step = e->step[i], of_last = i > 0 ? e->step[i - 1] : 0;
        bool known = step >= 1 && step == floor(step) && step <= run->steps.count;
        check_place place = { known ? (long)step : 0, "event", (long)i, "step" };
        if (run->unfinished && step > run->steps.count)
            continue; /* of a step that was not written in full */
        check_true(run->report, place, known && step >= of_last, "not a step, or out of order");
        place.what = "event";
        check_true(run->report, place,
                   e->event[i] >= 0 && (i == 0 || step > of_last || e->event[i] > e->event[i - 1]),
                   "out of the order of the scene");
        for (int64_t k = 0; k < i; k++)
            check_true(run->report, place, e->event[k] != e->event[i], "it happened twice");
        place.what = "time";
        if (known)
            check_same(run->report, place, e->time[i], run->steps.time[(long)step - 1], 0);
    }
}

/* At least one attempt, at most this many for each linearisation. */
enum { ATTEMPTS = 20 };

void check_attempts(check_run *run)
{
    const check_steps *t = &run->steps;
    long count = check_has(run->file, "steps/attempts") ? t->count : 0;
    for (long i = 0; i < count; i++) {
        check_place place = { i + 1, NULL, 0, "attempts" };
        check_between(run->report, place, t->attempts[i], 1,
                      ATTEMPTS * fmax(1, t->linearisations[i]));
    }
}
