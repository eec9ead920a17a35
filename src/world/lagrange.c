/* lagrange.c - systems in generalised coordinates: their options, their state and their step
 * (docs/lagrange.md). The schemes are those of scheme.c. All matrices are dense, because such
 * systems have few coordinates and contacts. */
#include "world/step.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"

/* ---- options -------------------------------------------------------------------------------- */

cairn_lagrange_options cairn_lagrange_options_default(void)
{
    return (cairn_lagrange_options){ .scheme = "coulomb",
                                     .solver = "auto",
                                     .backend = "host",
                                     .tolerance = 1e-10,
                                     .max_iterations = 20000,
                                     .max_outer = 100,
                                     .model_tolerance = 1e-4,
                                     .directions = 8,
                                     .stabilisation = 1,
                                     .reach = CAIRN_UNBOUNDED };
}

static void set_default(void *options)
{
    *(cairn_lagrange_options *)options = cairn_lagrange_options_default();
}

static const cairn_option lines[] = {
    CAIRN_LINES_SOLVING(cairn_lagrange_options),
    { "max_outer", CAIRN_OPTION_INTEGER, false, offsetof(cairn_lagrange_options, max_outer), 1, 1e6,
      "", "fixed-point, coulomb-newton, auto: most outer iterations", NULL },
    CAIRN_LINE_MODEL_TOLERANCE(cairn_lagrange_options),
    CAIRN_LINE_DIRECTIONS(cairn_lagrange_options),
    { "velocity_level", CAIRN_OPTION_FLAG, false, offsetof(cairn_lagrange_options, velocity_level),
      0, 1, "", "only contacts that touch, with their velocities; else gaps are kept open", NULL },
    CAIRN_LINE_STABILISATION(cairn_lagrange_options),
    CAIRN_LINE_LINEARISATIONS(cairn_lagrange_options),
    { "reach", CAIRN_OPTION_REAL, false, offsetof(cairn_lagrange_options, reach), 0,
      CAIRN_UNBOUNDED, "m", "contacts with a larger gap are left out", NULL },
};

const cairn_record *cairn_lagrange_record(void)
{
    static const cairn_record record = { .name = "lagrange",
                                         .summary = "how a Lagrangian system steps",
                                         .size = sizeof(cairn_lagrange_options),
                                         .set_default = set_default,
                                         .options = lines,
                                         .option_count = sizeof lines / sizeof lines[0] };
    return &record;
}

/* ---- state ---------------------------------------------------------------------------------- */

static cairn_status check_system(const cairn_lagrange_system *system, cairn_error *error)
{
    if (system->coordinates < 1)
        return cairn_fail(error, CAIRN_BAD_INPUT, "coordinates", "found %d, expected at least 1",
                          system->coordinates);
    if (system->dimension != 2 && system->dimension != 3)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dimension", "found %d, expected 2 or 3",
                          system->dimension);
    if (system->contacts < 0 || system->contacts > INT_MAX / system->dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "contacts", "found %d", system->contacts);
    if (!system->mass)
        return cairn_fail(error, CAIRN_BAD_INPUT, "mass", "the callback is missing");
    if (system->contacts && !system->contact)
        return cairn_fail(error, CAIRN_BAD_INPUT, "contact", "the callback is missing");
    return CAIRN_OK;
}

/* NULL leaves the state at zero; numbers that are not finite are refused. */
static cairn_status copy_state(int n, const double *from, const char *key, double *to,
                               cairn_error *error)
{
    for (int i = 0; from && i < n; i++) {
        if (!isfinite(from[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, key, "coordinate %d is %g", i, from[i]);
        to[i] = from[i];
    }
    return CAIRN_OK;
}

/* Fills a system that may be half-built on failure; cairn_lagrange_destroy handles that. */
static cairn_status fill(cairn_lagrange *l, const double *q, const double *v, cairn_error *error)
{
    const cairn_lagrange_system *system = &l->system;
    size_t m = (size_t)system->coordinates, contacts = (size_t)system->contacts;
    TRY(check_system(system, error));
    l->q = cairn_arena_doubles(&l->owned, m);
    l->v = cairn_arena_doubles(&l->owned, m);
    l->r = cairn_arena_doubles(&l->owned, contacts * (size_t)system->dimension);
    l->s = cairn_arena_doubles(&l->owned, contacts);
    if (!l->q || !l->v || !l->r || !l->s)
        return CAIRN_NO_MEMORY;
    TRY(cairn_workspace_create(&l->workspace));
    TRY(copy_state(system->coordinates, q, "q", l->q, error));
    return copy_state(system->coordinates, v, "v", l->v, error);
}

cairn_status cairn_lagrange_create(const cairn_lagrange_system *system, const double *q,
                                   const double *v, cairn_lagrange **out, cairn_error *error)
{
    cairn_lagrange *l = cairn_memory_zeroed(1, sizeof *l);
    *out = NULL;
    if (!l)
        return CAIRN_NO_MEMORY;
    l->system = *system;
    cairn_status status = fill(l, q, v, error);
    if (status == CAIRN_OK)
        *out = l;
    else
        cairn_lagrange_destroy(l);
    return status;
}

void cairn_lagrange_destroy(cairn_lagrange *lagrange)
{
    if (!lagrange)
        return;
    cairn_workspace_destroy(lagrange->workspace);
    cairn_arena_destroy(&lagrange->scratch);
    cairn_arena_destroy(&lagrange->owned);
    cairn_memory_free(lagrange);
}

double cairn_lagrange_time(const cairn_lagrange *lagrange)
{
    return lagrange->time;
}

const double *cairn_lagrange_position(const cairn_lagrange *lagrange)
{
    return lagrange->q;
}

const double *cairn_lagrange_velocity(const cairn_lagrange *lagrange)
{
    return lagrange->v;
}

const double *cairn_lagrange_impulse(const cairn_lagrange *lagrange)
{
    return lagrange->r;
}

/* ==== a step of a Lagrangian system =========================================================== */

/* One step of a system in generalised coordinates.
 *
 *    (1) M(q^) = L L', v_free = v + h M^-1 F(t, q, v)
 *    (2) the contacts that take part, their rows H, bias b and friction mu
 *    (3) G = H L'^-1, W = G G', the local form u = W r + H v_free
 *    (4) r by the scheme
 *    (5) v+ = v_free + L'^-1 G' r, q+ = q + h v+
 *
 * M, H and gaps are evaluated at q^. This is q; q + h v/2 at mid-step (moreau-jean); or q + h v
 * where contacts are linearised ahead ([ST96] (27), 3.6). F is evaluated at q, or at mid-step in
 * the last two cases. If contacts are linearised ahead, (2) to (5) are repeated with H and gaps at
 * q^ = q+ (M stays that of the first q^) until q+ no longer moves; then g(q+) >= 0 holds for the
 * gaps themselves. In an impact by Poisson's law, (4) consists of compression, without forces, and
 * decompression. Bodies use the same code for it: scheme.c. */

static const double SETTLED = 1e-12; /* in the units of q: a smaller change of q+ is rounding */

/* The input of a step, read by all its stages. */
typedef struct given {
    cairn_lagrange *l;
    const cairn_lagrange_options *options;
    const cairn_scheme *scheme;
    bool velocity_level;
    int linearisations; /* at most, ahead; 0: contacts are evaluated once */
    int m, d;           /* coordinates, dimension                         */
    cairn_lagrange_report *report;
    cairn_error *error;
} given;

/* Motion without contact, and the coordinates at which contacts are evaluated. */
typedef struct motion {
    double *L;      /* m x m, row by row: lower triangle of the factor of M */
    double *at;     /* m: q^, where gaps and H are evaluated                */
    double *middle; /* m: where forces are evaluated                        */
    double *v_free; /* m: velocities without contact                        */
} motion;

/* The contacts that take part and their problem. Rows: `dimension` per contact. */
typedef struct posed {
    int count;            /* contacts                                                      */
    int *contact;         /* the user's index of contact j                                 */
    double *H, *G, *W;    /* rows x m, rows x m, rows x rows                               */
    double *b, *mu, *e;   /* per contact: bias, friction, Poisson's coefficient            */
    double *u_free;       /* rows                                                          */
    bool hit, can_bounce; /* a contact hits; a contact has Poisson's law and e > 0         */
    cairn_matrix matrix;  /* W as a sparse matrix with all entries, as the problem expects */
    cairn_problem problem;
} posed;

/* The state at the end. */
typedef struct arrival {
    double *v, *q; /* m */
} arrival;

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static bool are_finite(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* ---- L L' ----------------------------------------------------------------------------------- */

/* Cholesky factorisation A = L L' in place, in the lower triangle. Returns the first row without a
 * positive pivot, or -1. */
static int factor(int n, double *A)
{
    for (int i = 0; i < n; i++) {
        double *row = A + (size_t)i * (size_t)n;
        for (int j = 0; j < i; j++) {
            const double *other = A + (size_t)j * (size_t)n;
            row[j] = (row[j] - dot(j, row, other)) / other[j];
        }
        double pivot = row[i] - dot(i, row, row);
        if (!(pivot > 0) || !isfinite(pivot))
            return i;
        row[i] = sqrt(pivot);
    }
    return -1;
}

/* x = L^-1 x */
static void solve_lower(int n, const double *L, double *x)
{
    for (int i = 0; i < n; i++) {
        const double *row = L + (size_t)i * (size_t)n;
        x[i] = (x[i] - dot(i, row, x)) / row[i];
    }
}

/* x = L'^-1 x */
static void solve_upper(int n, const double *L, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        const double *row = L + (size_t)i * (size_t)n;
        x[i] /= row[i];
        for (int j = 0; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}

/* ---- (1) free motion ------------------------------------------------------------------------ */

/* The factor of M(q). M is cleared first, so that the callback may set only its non-zero
 * entries. */
static cairn_status evaluate_mass(const given *g, const double *q, double *L)
{
    const cairn_lagrange_system *system = &g->l->system;
    memset(L, 0, (size_t)g->m * (size_t)g->m * sizeof(double));
    system->mass(system->context, q, L);
    int bad = factor(g->m, L);
    if (bad >= 0)
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "mass",
                          "M is not positive definite: no pivot in row %d", bad);
    return CAIRN_OK;
}

/* `middle` is 0 or h/2: forces never use coordinates beyond mid-step. v_free holds F until it is
 * solved for. */
static cairn_status find_free_motion(const given *g, motion *free)
{
    const cairn_lagrange_system *system = &g->l->system;
    double h = g->options->time_step;
    double ahead = h * cairn_scheme_ahead(g->scheme, g->linearisations); /* s */
    double middle = fmin(ahead, 0.5 * h);
    for (int i = 0; i < g->m; i++) {
        free->middle[i] = g->l->q[i] + middle * g->l->v[i];
        free->at[i] = g->l->q[i] + ahead * g->l->v[i];
    }
    TRY(evaluate_mass(g, free->at, free->L));
    if (system->force)
        system->force(system->context, g->l->time + middle, free->middle, g->l->v, free->v_free);
    if (!are_finite((size_t)g->m, free->v_free))
        return cairn_fail(g->error, CAIRN_NOT_FINITE, "force", "F at time %g is not finite",
                          g->l->time);
    solve_lower(g->m, free->L, free->v_free);
    solve_upper(g->m, free->L, free->v_free);
    for (int i = 0; i < g->m; i++)
        free->v_free[i] = g->l->v[i] + h * free->v_free[i];
    return CAIRN_OK;
}

/* ---- (2) contacts --------------------------------------------------------------------------- */

/* Asks the user's callback for a contact, and checks what it returns. `rows` has d x m numbers. */
static cairn_status evaluate_contact(const given *g, const double *q, int index, double *rows,
                                     cairn_lagrange_contact *out)
{
    const cairn_lagrange_system *system = &g->l->system;
    size_t size = (size_t)g->d * (size_t)g->m;
    memset(rows, 0, size * sizeof(double));
    *out = (cairn_lagrange_contact){ .rows = rows };
    system->contact(system->context, q, index, out);
    if (!isfinite(out->gap) || !are_finite(size, rows))
        return cairn_fail(g->error, CAIRN_NOT_FINITE, "contact",
                          "the gap or the rows of contact %d are not finite", index);
    if (!(out->mu >= 0) || !isfinite(out->mu))
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "mu", "contact %d has %g, expected >= 0",
                          index, out->mu);
    if (!(out->restitution >= 0 && out->restitution <= 1))
        return cairn_fail(g->error, CAIRN_BAD_INPUT, "restitution",
                          "contact %d has %g, expected 0 to 1", index, out->restitution);
    return CAIRN_OK;
}

/* The approach of a contact. Its gap at the start, by the linearisation at q^, is g(q^) - n.(q^ -
 * q). */
static cairn_approach approach_of(const given *g, const motion *free,
                                  const cairn_lagrange_contact *c)
{
    cairn_approach at = { .gap = c->gap,
                          .before = dot(g->m, c->rows, g->l->v),
                          .restitution = c->poisson ? 0 : c->restitution };
    for (int i = 0; i < g->m; i++)
        at.gap -= c->rows[i] * (free->at[i] - g->l->q[i]);
    at.apart = g->options->stabilisation * at.gap / g->options->time_step;
    return at;
}

/* The bias of a contact; at most 0 where it hits and bounces by Poisson's law. */
static double find_bias(const given *g, const motion *free, const cairn_lagrange_contact *c,
                        posed *out)
{
    const cairn_approach at = approach_of(g, free, c);
    double h = g->options->time_step, v_free = dot(g->m, c->rows, free->v_free);
    bool hit = cairn_impact_hits(at.before, v_free, at.before, g->velocity_level ? 0 : at.gap, h);
    bool bounces = c->poisson && c->restitution > 0;
    double b = cairn_scheme_bias(g->velocity_level, h, &at);
    out->hit = out->hit || hit;
    out->can_bounce = out->can_bounce || bounces;
    return hit && bounces ? fmin(b, 0) : b;
}

/* Rows of a contact that is left out are overwritten by those of the next one. */
static cairn_status collect_contacts(const given *g, const motion *free, posed *out)
{
    double reach = g->velocity_level ? 0 : g->options->reach;
    size_t size = (size_t)g->d * (size_t)g->m;
    out->count = 0;
    out->hit = out->can_bounce = false;
    for (int index = 0; index < g->l->system.contacts; index++) {
        cairn_lagrange_contact c;
        int j = out->count;
        TRY(evaluate_contact(g, free->at, index, out->H + (size_t)j * size, &c));
        if (c.gap > reach)
            continue;
        out->contact[j] = index;
        out->b[j] = find_bias(g, free, &c, out);
        out->e[j] = c.poisson ? c.restitution : 0;
        out->mu[j] = g->scheme->frictionless ? 0 : c.mu;
        out->count++;
    }
    return CAIRN_OK;
}

/* ---- (3) the local form --------------------------------------------------------------------- */

/* G = H L'^-1 row by row. W = G G' is computed for one triangle and copied, so it is symmetric to
 * the bit. */
static void fill_W(const given *g, const motion *free, int rows, posed *out)
{
    size_t m = (size_t)g->m, n = (size_t)rows;
    memcpy(out->G, out->H, n * m * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        solve_lower(g->m, free->L, out->G + i * m);
        out->u_free[i] = dot(g->m, out->H + i * m, free->v_free);
        for (size_t j = 0; j <= i; j++)
            out->W[i * n + j] = out->W[j * n + i] = dot(g->m, out->G + i * m, out->G + j * m);
    }
}

/* The local form of the one-step problem: W and q = H v_free, without M and H. */
static cairn_status form_problem(const given *g, const motion *free, posed *out)
{
    int rows = out->count * g->d;
    size_t n = (size_t)rows;
    int64_t *start = cairn_arena_take(&g->l->scratch, n + 1, sizeof(int64_t));
    int32_t *column = cairn_arena_take(&g->l->scratch, n * n, sizeof(int32_t));
    out->W = cairn_arena_take(&g->l->scratch, n * n, sizeof(double));
    if (!start || !column || !out->W)
        return CAIRN_NO_MEMORY;
    fill_W(g, free, rows, out);
    for (size_t i = 0; i <= n; i++)
        start[i] = (int64_t)(i * n);
    for (size_t k = 0; k < n * n; k++)
        column[k] = (int32_t)(k % n);
    out->matrix = (cairn_matrix){ rows, rows, start, column, out->W };
    cairn_problem *p = &out->problem;
    *p = (cairn_problem){ .dimension = g->d, .contacts = out->count, .W = &out->matrix };
    p->directions = g->scheme->edges && g->d == 3 ? (int)g->options->directions : 0;
    p->q = out->u_free;
    p->b = out->b;
    p->mu = out->mu;
    return cairn_problem_check(p, g->error);
}

/* ---- (4) impulses --------------------------------------------------------------------------- */

/* Warm start from the last step, by the user's index. The local form has no velocities of
 * blocks. */
static void first_guess(const given *g, const posed *p, cairn_answer *answer)
{
    size_t d = (size_t)g->d;
    answer->problem = p->problem;
    for (int j = 0; j < p->count; j++) {
        size_t index = (size_t)p->contact[j];
        answer->s[j] = g->l->s[index];
        memcpy(answer->r + (size_t)j * d, g->l->r + index * d, d * sizeof(double));
    }
}

/* No fixed_point_tolerance and no law of friction by speed: these are options of bodies only. */
static cairn_solving solving_of(const given *g, int *upgraded)
{
    const cairn_lagrange_options *o = g->options;
    cairn_solving s = { .scheme = g->scheme,
                        .options = cairn_solve_options_default(),
                        .max_fixed_point = o->max_outer,
                        .allowed = o->model_tolerance / o->time_step,
                        .scratch = &g->l->scratch,
                        .workspace = g->l->workspace,
                        .report = &g->report->solve,
                        .upgraded = upgraded };
    s.options.law = g->scheme->law;
    s.options.solver = o->solver;
    s.options.backend = o->backend;
    s.options.tolerance = o->tolerance;
    s.options.max_iterations = o->max_iterations;
    return s;
}

/* Both phases of an impact. The first starts from the velocities before the step, without
 * forces. */
static cairn_status solve_impact(const given *g, const posed *p, const cairn_solving *s,
                                 cairn_answer *answer)
{
    cairn_problem first = p->problem;
    double *q = cairn_arena_doubles(s->scratch, (size_t)(p->count * g->d));
    if (!q)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < p->count * g->d; i++)
        q[i] = dot(g->m, p->H + (size_t)i * (size_t)g->m, g->l->v);
    first.q = q;
    const cairn_bounce bounce = { &first, p->e, &cairn_phase_whole, NULL };
    return cairn_impact_solve(s, &bounce, answer);
}

static cairn_status find_impulses(const given *g, const posed *p, cairn_answer *answer)
{
    int upgraded;
    const cairn_solving s = solving_of(g, &upgraded);
    if (!cairn_scheme_accepts(g->scheme, g->options->backend, g->options->solver, &p->problem))
        return cairn_fail(g->error, CAIRN_UNSUPPORTED, "solver",
                          "%s does not treat the problem of the scheme %s", g->options->solver,
                          g->scheme->name);
    first_guess(g, p, answer);
    return p->hit && p->can_bounce ? solve_impact(g, p, &s, answer)
                                   : cairn_phase_whole.solve(&s, NULL, answer);
}

/* ---- (5) the end of the step ---------------------------------------------------------------- */

/* (5): v+ and q+. Fails if either is not finite. */
static cairn_status move(const given *g, const motion *free, const posed *p, const double *r,
                         arrival *out)
{
    size_t m = (size_t)g->m;
    memset(out->v, 0, m * sizeof(double));
    for (int i = 0; i < p->count * g->d; i++)
        for (size_t k = 0; k < m; k++)
            out->v[k] += p->G[(size_t)i * m + k] * r[i];
    solve_upper(g->m, free->L, out->v);
    for (size_t k = 0; k < m; k++) {
        out->v[k] += free->v_free[k];
        out->q[k] = g->l->q[k] + g->options->time_step * out->v[k];
    }
    if (!are_finite(m, out->v) || !are_finite(m, out->q))
        return cairn_fail(g->error, CAIRN_NOT_FINITE, "q", "the new state is not finite");
    return CAIRN_OK;
}

/* Energy that contacts removed: r times the mean of the velocities before and after. Component 0 is
 * the normal one and counts as impact, the others as friction. */
static void measure_losses(const given *g, const posed *p, const cairn_answer *answer)
{
    cairn_lagrange_report *report = g->report;
    for (int i = 0; i < p->count * g->d; i++) {
        double before = dot(g->m, p->H + (size_t)i * (size_t)g->m, g->l->v);
        double loss = -0.5 * answer->r[i] * (before + answer->u[i]);
        *(i % g->d ? &report->friction_loss : &report->impact_loss) += loss;
        report->active += i % g->d == 0 && answer->r[i] > 0;
    }
}

/* Energies and penetration of the new state. The memory of `free` and `p` is reused. */
static cairn_status measure_state(const given *g, const arrival *end, motion *free, posed *p)
{
    const cairn_lagrange_system *system = &g->l->system;
    cairn_lagrange_report *report = g->report;
    TRY(evaluate_mass(g, end->q, free->L));
    for (int j = 0; j < g->m; j++) { /* v'M v = |L'v|^2: M itself was overwritten by L */
        double sum = 0;
        for (int i = j; i < g->m; i++)
            sum += free->L[(size_t)i * (size_t)g->m + (size_t)j] * end->v[i];
        report->kinetic += 0.5 * sum * sum;
    }
    if (system->potential)
        report->potential = system->potential(system->context, end->q);
    for (int index = 0; index < system->contacts; index++) {
        cairn_lagrange_contact c;
        TRY(evaluate_contact(g, end->q, index, p->H, &c));
        report->penetration = fmax(report->penetration, -c.gap);
    }
    return CAIRN_OK;
}

/* Writes the new state. Nothing can fail here, so a step that fails leaves the state as it was. */
static void commit(const given *g, const posed *p, const cairn_answer *answer, const arrival *end)
{
    cairn_lagrange *l = g->l;
    size_t m = (size_t)g->m, d = (size_t)g->d, contacts = (size_t)l->system.contacts;
    memcpy(l->q, end->q, m * sizeof(double));
    memcpy(l->v, end->v, m * sizeof(double));
    memset(l->r, 0, contacts * d * sizeof(double));
    memset(l->s, 0, contacts * sizeof(double));
    for (int j = 0; j < p->count; j++) {
        size_t index = (size_t)p->contact[j];
        memcpy(l->r + index * d, answer->r + (size_t)j * d, d * sizeof(double));
        l->s[index] = answer->s[j];
    }
    l->time += g->options->time_step;
}

/* The report of a step without contacts. */
static cairn_solve_report nothing_to_solve(void)
{
    cairn_solve_report report = { .converged = true };
    report.judgement.asked.worst_contact = -1;
    report.judgement.coulomb.worst_contact = -1;
    return report;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* All values of a step. */
typedef struct values {
    motion free;
    posed posed;
    cairn_answer answer;
    arrival end;
} values;

/* All arrays of a step, in the scratch, which is reset here: results of an earlier step end. */
static cairn_status take_arrays(const given *g, values *a)
{
    cairn_arena *arena = &g->l->scratch;
    size_t m = (size_t)g->m, contacts = (size_t)g->l->system.contacts;
    size_t rows = contacts * (size_t)g->d;
    cairn_arena_reset(arena);
    a->posed.contact = cairn_arena_take(arena, contacts, sizeof(int));
    struct {
        double **array;
        size_t size;
    } wanted[] = {
        { &a->free.L, m * m },      { &a->free.at, m },         { &a->free.middle, m },
        { &a->free.v_free, m },     { &a->posed.H, rows * m },  { &a->posed.G, rows * m },
        { &a->posed.b, contacts },  { &a->posed.mu, contacts }, { &a->posed.e, contacts },
        { &a->posed.u_free, rows }, { &a->answer.s, contacts }, { &a->answer.r, rows },
        { &a->answer.u, rows },     { &a->answer.v, 1 },        { &a->end.v, m },
        { &a->end.q, m },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].array = cairn_arena_doubles(arena, wanted[i].size);
        if (!*wanted[i].array)
            return CAIRN_NO_MEMORY;
    }
    return a->posed.contact ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* (2) to (5) with gaps and H at q^. Contacts are collected again, since others may take part
 * there. */
static cairn_status find_state(const given *g, values *a)
{
    TRY(collect_contacts(g, &a->free, &a->posed));
    if (a->posed.count) {
        TRY(form_problem(g, &a->free, &a->posed));
        TRY(find_impulses(g, &a->posed, &a->answer));
    } else {
        g->report->solve = nothing_to_solve();
    }
    return move(g, &a->free, &a->posed, a->answer.r, &a->end);
}

/* Whether |q+ - q^| is down to rounding, or to what the solver's tolerance cannot resolve. */
static bool is_settled(const given *g, const double *at, const arrival *end)
{
    double largest = 0, farthest = 0;
    for (int i = 0; i < g->m; i++) {
        largest = fmax(largest, fabs(end->q[i] - at[i]));
        farthest = fmax(farthest, g->options->time_step * fabs(end->v[i]));
    }
    g->report->linearisation_error = largest;
    return largest <= fmax(SETTLED, g->options->tolerance * farthest);
}

/* (2) to (5) at q^, then at q+ until q+ settles. A result that does not settle is not converged. */
static cairn_status find_end(const given *g, values *a)
{
    cairn_lagrange_report *report = g->report;
    TRY(find_state(g, a));
    report->linearisations = 1;
    bool settled = is_settled(g, a->free.at, &a->end);
    while (report->linearisations < g->linearisations && !settled) {
        memcpy(a->free.at, a->end.q, (size_t)g->m * sizeof(double));
        TRY(find_state(g, a));
        report->linearisations++;
        settled = is_settled(g, a->free.at, &a->end);
    }
    if (g->linearisations > 1 && !settled) /* one alone is the scheme of [ST96] (29), by design */
        report->solve.converged = false;
    return CAIRN_OK;
}

static cairn_status advance(const given *g)
{
    values a = { .posed = { .count = 0 } };
    TRY(take_arrays(g, &a));
    TRY(find_free_motion(g, &a.free));
    TRY(find_end(g, &a));
    g->report->candidates = a.posed.count;
    measure_losses(g, &a.posed, &a.answer);
    TRY(measure_state(g, &a.end, &a.free, &a.posed));
    commit(g, &a.posed, &a.answer, &a.end);
    return CAIRN_OK;
}

/* Gaps have no meaning at velocity level, so linearising them again is refused there. */
static cairn_status check_options(const cairn_lagrange_options *options, cairn_error *error)
{
    TRY(cairn_record_check(cairn_lagrange_record(), options, error));
    TRY(cairn_solver_check(options->solver, options->backend, error));
    if (options->directions % 2)
        return cairn_fail(error, CAIRN_BAD_INPUT, "directions",
                          "found %lld, expected an even number", (long long)options->directions);
    const cairn_scheme *scheme = cairn_scheme_find(options->scheme);
    bool velocity_level = options->velocity_level || scheme->velocity_level;
    if (options->linearisations && velocity_level)
        return cairn_fail(error, CAIRN_BAD_INPUT, "linearisations",
                          "gaps are linearised anew; velocity level does not use them");
    if (scheme->linearisations && velocity_level)
        return cairn_fail(error, CAIRN_BAD_INPUT, "velocity_level",
                          "the scheme %s linearises gaps anew; velocity level does not use them",
                          scheme->name);
    return CAIRN_OK;
}

cairn_status cairn_lagrange_step(cairn_lagrange *lagrange, const cairn_lagrange_options *options,
                                 cairn_lagrange_report *report, cairn_error *error)
{
    cairn_lagrange_report unread;
    report = report ? report : &unread;
    *report = (cairn_lagrange_report){ 0 };
    if (error)
        *error = (cairn_error){ 0 };
    TRY(check_options(options, error));
    const cairn_scheme *scheme = cairn_scheme_find(options->scheme);
    const given g = { .l = lagrange,
                      .options = options,
                      .scheme = scheme,
                      .velocity_level = options->velocity_level || scheme->velocity_level,
                      .linearisations =
                          cairn_scheme_linearisations(scheme, options->linearisations),
                      .m = lagrange->system.coordinates,
                      .d = lagrange->system.dimension,
                      .report = report,
                      .error = error };
    cairn_status status = advance(&g);
    if (status != CAIRN_OK && error && !error->message[0])
        cairn_fail(error, status, NULL, "%s", cairn_status_text(status));
    return status;
}
