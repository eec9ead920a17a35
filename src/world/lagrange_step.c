/* lagrange_step.c - one step of a system in generalised coordinates.
 *
 *   (1) M(q^) = L L', v_free = v + h M^-1 F(t, q, v)
 *   (2) the contacts that take part, their rows H, bias b and friction mu
 *   (3) G = H L'^-1, W = G G', the local form u = W r + H v_free
 *   (4) r by the scheme
 *   (5) v+ = v_free + L'^-1 G' r, q+ = q + h v+
 * M, H and gaps are those of q^, which is q; q + h v/2 at mid-step (moreau-jean); or q + h v where
 * contacts are linearised ahead ([ST96] (27), 3.6). F is that of q, or of mid-step in the last two.
 * Linearised ahead, (2) to (5) are done again at q^ = q+ until q+ no longer moves: g(q+) >= 0 holds
 * then for the gaps themselves. In an impact by Poisson's law (4) is compression, without forces,
 * and decompression, as in impulses.c. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "solve/decompression.h"
#include "world/lagrange.h"
#include "world/scheme.h"

static const double SETTLED = 1e-12; /* in the units of q */

/* One step while it lasts. Rows: `dimension` per contact of the problem. */
typedef struct stage {
    cairn_lagrange *l;
    const cairn_lagrange_options *options;
    const cairn_scheme *scheme;
    bool velocity_level;
    int linearisations; /* at most, ahead; 0: contacts are those of the start             */
    cairn_lagrange_report *report;
    cairn_error *error;
    int m, d, count;        /* coordinates, dimension, contacts of the problem        */
    int *contact;           /* the contact that is number j of the problem            */
    double *L;              /* m x m, lower triangle                                  */
    double *at;             /* m: q^, where gaps and H are taken                      */
    double *v_free, *v, *q; /* m: without contact; at the end                         */
    double *H, *G, *W;      /* rows x m, rows x m, rows x rows                        */
    double *b, *mu, *s;     /* per contact                                            */
    double *e, *floor;      /* per contact: Poisson's coefficient; its least impulse  */
    double *compression;    /* rows: impulses of the first phase of an impact         */
    bool hit, can_bounce;   /* something hits; a contact of Poisson's law is there    */
    double *u_free, *r, *u; /* rows                                                   */
    cairn_matrix matrix;    /* W as the problem wants it                              */
} stage;

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

/* A = L L' in place, in the lower triangle; the first row without a positive pivot, or -1. */
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

static cairn_status evaluate_mass(stage *t, const double *q)
{
    const cairn_lagrange_system *system = &t->l->system;
    memset(t->L, 0, (size_t)t->m * (size_t)t->m * sizeof(double));
    system->mass(system->context, q, t->L);
    int bad = factor(t->m, t->L);
    if (bad >= 0)
        return cairn_fail(t->error, CAIRN_BAD_INPUT, "mass",
                          "M is not positive definite: no pivot in row %d", bad);
    return CAIRN_OK;
}

static cairn_status free_motion(stage *t)
{
    const cairn_lagrange_system *system = &t->l->system;
    double h = t->options->time_step;
    double ahead = h * cairn_scheme_ahead(t->scheme, t->linearisations); /* s */
    double middle = fmin(ahead, 0.5 * h);
    for (int i = 0; i < t->m; i++) {
        t->q[i] = t->l->q[i] + middle * t->l->v[i];
        t->at[i] = t->l->q[i] + ahead * t->l->v[i];
    }
    TRY(evaluate_mass(t, t->at));
    if (system->force)
        system->force(system->context, t->l->time + middle, t->q, t->l->v, t->v_free);
    if (!are_finite((size_t)t->m, t->v_free))
        return cairn_fail(t->error, CAIRN_NOT_FINITE, "force", "F at time %g is not finite",
                          t->l->time);
    solve_lower(t->m, t->L, t->v_free);
    solve_upper(t->m, t->L, t->v_free);
    for (int i = 0; i < t->m; i++)
        t->v_free[i] = t->l->v[i] + h * t->v_free[i];
    return CAIRN_OK;
}

/* ---- (2) contacts --------------------------------------------------------------------------- */

static cairn_status evaluate_contact(stage *t, const double *q, int index, double *rows,
                                     cairn_lagrange_contact *out)
{
    const cairn_lagrange_system *system = &t->l->system;
    size_t size = (size_t)t->d * (size_t)t->m;
    memset(rows, 0, size * sizeof(double));
    *out = (cairn_lagrange_contact){ .rows = rows };
    system->contact(system->context, q, index, out);
    if (!isfinite(out->gap) || !are_finite(size, rows))
        return cairn_fail(t->error, CAIRN_NOT_FINITE, "contact",
                          "the gap or the rows of contact %d are not finite", index);
    if (!(out->mu >= 0) || !isfinite(out->mu))
        return cairn_fail(t->error, CAIRN_BAD_INPUT, "mu", "contact %d has %g, expected >= 0",
                          index, out->mu);
    if (!(out->restitution >= 0 && out->restitution <= 1))
        return cairn_fail(t->error, CAIRN_BAD_INPUT, "restitution",
                          "contact %d has %g, expected 0 to 1", index, out->restitution);
    return CAIRN_OK;
}

/* As in impulses.c: an approach that closes the gap and is more than what forces give in a step. */
static bool hits(const stage *t, const cairn_lagrange_contact *c, double gap)
{
    double before = dot(t->m, c->rows, t->l->v), free = dot(t->m, c->rows, t->v_free);
    return before < -fabs(free - before) && gap + t->options->time_step * before <= 0;
}

/* gamma g/h; e u_N where the contact closes in this step and bounces; Poisson's where it hits: 0 */
static double bias(stage *t, const cairn_lagrange_contact *c)
{
    double h = t->options->time_step, before = dot(t->m, c->rows, t->l->v);
    double e = c->poisson ? 0 : c->restitution, gap = c->gap; /* g(q^) - n.(q^ - q) */
    for (int i = 0; i < t->m; i++)
        gap -= c->rows[i] * (t->at[i] - t->l->q[i]);
    bool hit = hits(t, c, t->velocity_level ? 0 : gap);
    t->hit = t->hit || hit;
    t->can_bounce = t->can_bounce || (c->poisson && c->restitution > 0);
    if (t->velocity_level)
        return e * fmin(before, 0);
    double apart = t->options->stabilisation * gap / h;
    if (c->poisson && c->restitution > 0)
        return hit ? fmin(apart, 0) : apart;
    bool bounces = e > 0 && before < 0 && gap + h * before <= 0;
    return bounces ? fmin(apart, e * before) : apart;
}

static cairn_status collect_contacts(stage *t)
{
    double reach = t->velocity_level ? 0 : t->options->reach;
    size_t d = (size_t)t->d, size = d * (size_t)t->m;
    t->count = 0;
    t->hit = t->can_bounce = false;
    for (int index = 0; index < t->l->system.contacts; index++) {
        cairn_lagrange_contact c;
        int j = t->count;
        TRY(evaluate_contact(t, t->at, index, t->H + (size_t)j * size, &c));
        if (c.gap > reach)
            continue;
        t->contact[j] = index;
        t->b[j] = bias(t, &c);
        t->e[j] = c.poisson ? c.restitution : 0;
        t->mu[j] = t->scheme->frictionless ? 0 : c.mu;
        t->s[j] = t->l->s[index];
        memcpy(t->r + (size_t)j * d, t->l->r + (size_t)index * d, d * sizeof(double));
        t->count++;
    }
    return CAIRN_OK;
}

/* ---- (3) the local form --------------------------------------------------------------------- */

static void fill_W(stage *t, int rows)
{
    size_t m = (size_t)t->m, n = (size_t)rows;
    memcpy(t->G, t->H, n * m * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        solve_lower(t->m, t->L, t->G + i * m);
        t->u_free[i] = dot(t->m, t->H + i * m, t->v_free);
        for (size_t j = 0; j <= i; j++)
            t->W[i * n + j] = t->W[j * n + i] = dot(t->m, t->G + i * m, t->G + j * m);
    }
}

static cairn_status form_problem(stage *t, cairn_problem *p)
{
    int rows = t->count * t->d;
    size_t n = (size_t)rows;
    int64_t *start = cairn_arena_take(&t->l->scratch, n + 1, sizeof(int64_t));
    int32_t *column = cairn_arena_take(&t->l->scratch, n * n, sizeof(int32_t));
    t->W = cairn_arena_take(&t->l->scratch, n * n, sizeof(double));
    if (!start || !column || !t->W)
        return CAIRN_NO_MEMORY;
    fill_W(t, rows);
    for (size_t i = 0; i <= n; i++)
        start[i] = (int64_t)(i * n);
    for (size_t k = 0; k < n * n; k++)
        column[k] = (int32_t)(k % n);
    t->matrix = (cairn_matrix){ rows, rows, start, column, t->W };
    *p = (cairn_problem){ .dimension = t->d, .contacts = t->count, .W = &t->matrix };
    p->directions = t->scheme->edges && t->d == 3 ? (int)t->options->directions : 0;
    p->q = t->u_free;
    p->b = t->b;
    p->mu = t->mu;
    return cairn_problem_check(p, t->error);
}

/* ---- (4) impulses --------------------------------------------------------------------------- */

static cairn_status find_impulses(stage *t, const cairn_problem *p, int64_t most)
{
    const cairn_lagrange_options *o = t->options;
    if (!cairn_scheme_accepts(t->scheme, o->backend, o->solver, p))
        return cairn_fail(t->error, CAIRN_UNSUPPORTED, "solver",
                          "%s does not treat the problem of the scheme %s", o->solver,
                          t->scheme->name);
    double none; /* the local form has no velocities */
    int upgraded;
    uint8_t *exact = cairn_arena_take(&t->l->scratch, (size_t)t->count, 1);
    if (!exact)
        return CAIRN_NO_MEMORY;
    cairn_scheme_job job = { .problem = p,
                             .options = cairn_solve_options_default(),
                             .loop = { 0, o->max_outer, t->s, t->r, &none, t->u },
                             .allowed = o->model_tolerance / o->time_step,
                             .exact = exact,
                             .upgraded = &upgraded,
                             .workspace = t->l->workspace,
                             .report = &t->report->solve };
    job.options.solver = o->solver;
    job.options.backend = o->backend;
    job.options.tolerance = o->tolerance;
    job.options.max_iterations = most;
    return cairn_scheme_solve(t->scheme, &job);
}

/* The first phase: velocities before the step, no forces; overlaps must not bounce. */
static cairn_status compress(stage *t, const cairn_problem *p)
{
    cairn_problem first = *p;
    size_t m = (size_t)t->m;
    double *q = cairn_arena_doubles(&t->l->scratch, (size_t)(t->count * t->d));
    double *b = cairn_arena_doubles(&t->l->scratch, (size_t)t->count);
    if (!q || !b)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < t->count * t->d; i++)
        q[i] = dot(t->m, t->H + (size_t)i * m, t->l->v);
    for (int j = 0; j < t->count; j++)
        b[j] = t->e[j] > 0 ? fmax(0, t->b[j]) : t->b[j];
    first.q = q;
    first.b = b;
    int64_t all = t->options->max_iterations;
    TRY(find_impulses(t, &first, all - all / 2));
    memcpy(t->compression, t->r, (size_t)(t->count * t->d) * sizeof(double));
    for (int j = 0; j < t->count; j++) {
        t->floor[j] = t->e[j] * fmax(0, t->r[j * t->d]);
        t->r[j * t->d] += t->floor[j];
    }
    return CAIRN_OK;
}

static cairn_status find_impact(stage *t, const cairn_problem *p)
{
    const cairn_decompression second = { p, t->compression, t->floor };
    cairn_solve_options options = cairn_solve_options_default();
    double none;
    options.law = t->scheme->law;
    options.tolerance = t->options->tolerance;
    options.max_iterations = t->options->max_iterations;
    TRY(compress(t, p));
    const cairn_solve_report first = t->report->solve;
    options.max_iterations -= first.iterations;
    TRY(cairn_decompression_solve(&second, &options, t->r, &none, t->u, &t->report->solve));
    cairn_decompression_report(&first, &t->report->solve);
    return CAIRN_OK;
}

/* ---- (5) the end of the step ---------------------------------------------------------------- */

/* v+ and q+ */
static cairn_status move(stage *t)
{
    size_t m = (size_t)t->m;
    memset(t->v, 0, m * sizeof(double));
    for (int i = 0; i < t->count * t->d; i++)
        for (size_t k = 0; k < m; k++)
            t->v[k] += t->G[(size_t)i * m + k] * t->r[i];
    solve_upper(t->m, t->L, t->v);
    for (size_t k = 0; k < m; k++) {
        t->v[k] += t->v_free[k];
        t->q[k] = t->l->q[k] + t->options->time_step * t->v[k];
    }
    if (!are_finite(m, t->v) || !are_finite(m, t->q))
        return cairn_fail(t->error, CAIRN_NOT_FINITE, "q", "the new state is not finite");
    return CAIRN_OK;
}

/* What contacts took: r times the mean of the velocities before and after. */
static void measure_losses(stage *t)
{
    cairn_lagrange_report *report = t->report;
    for (int i = 0; i < t->count * t->d; i++) {
        double before = dot(t->m, t->H + (size_t)i * (size_t)t->m, t->l->v);
        double loss = -0.5 * t->r[i] * (before + t->u[i]);
        *(i % t->d ? &report->friction_loss : &report->impact_loss) += loss;
        report->active += i % t->d == 0 && t->r[i] > 0;
    }
}

/* Energies and overlap of the new state; what the stage held of the old one is lost. */
static cairn_status measure_state(stage *t)
{
    const cairn_lagrange_system *system = &t->l->system;
    cairn_lagrange_report *report = t->report;
    TRY(evaluate_mass(t, t->q));
    for (int j = 0; j < t->m; j++) { /* v'M v = |L'v|^2 */
        double sum = 0;
        for (int i = j; i < t->m; i++)
            sum += t->L[(size_t)i * (size_t)t->m + (size_t)j] * t->v[i];
        report->kinetic += 0.5 * sum * sum;
    }
    if (system->potential)
        report->potential = system->potential(system->context, t->q);
    for (int index = 0; index < system->contacts; index++) {
        cairn_lagrange_contact c;
        TRY(evaluate_contact(t, t->q, index, t->H, &c));
        report->penetration = fmax(report->penetration, -c.gap);
    }
    return CAIRN_OK;
}

/* Nothing can fail here. */
static void commit(stage *t)
{
    cairn_lagrange *l = t->l;
    size_t m = (size_t)t->m, d = (size_t)t->d, contacts = (size_t)l->system.contacts;
    memcpy(l->q, t->q, m * sizeof(double));
    memcpy(l->v, t->v, m * sizeof(double));
    memset(l->r, 0, contacts * d * sizeof(double));
    memset(l->s, 0, contacts * sizeof(double));
    for (int j = 0; j < t->count; j++) {
        size_t index = (size_t)t->contact[j];
        memcpy(l->r + index * d, t->r + (size_t)j * d, d * sizeof(double));
        l->s[index] = t->s[j];
    }
    l->time += t->options->time_step;
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

static cairn_status take_arrays(stage *t)
{
    cairn_arena *arena = &t->l->scratch;
    size_t m = (size_t)t->m, contacts = (size_t)t->l->system.contacts;
    size_t rows = contacts * (size_t)t->d;
    cairn_arena_reset(arena);
    t->contact = cairn_arena_take(arena, contacts, sizeof(int));
    struct {
        double **array;
        size_t size;
    } wanted[] = {
        { &t->L, m * m },     { &t->v_free, m },   { &t->v, m },        { &t->q, m },
        { &t->at, m },        { &t->H, rows * m }, { &t->G, rows * m }, { &t->b, contacts },
        { &t->mu, contacts }, { &t->s, contacts }, { &t->e, contacts }, { &t->floor, contacts },
        { &t->u_free, rows }, { &t->r, rows },     { &t->u, rows },     { &t->compression, rows },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        *wanted[i].array = cairn_arena_doubles(arena, wanted[i].size);
        if (!*wanted[i].array)
            return CAIRN_NO_MEMORY;
    }
    return t->contact ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* (2) to (5) with gaps and H at q^ */
static cairn_status find_state(stage *t)
{
    TRY(collect_contacts(t));
    if (t->count) {
        cairn_problem problem;
        TRY(form_problem(t, &problem));
        TRY(t->hit && t->can_bounce ? find_impact(t, &problem)
                                    : find_impulses(t, &problem, t->options->max_iterations));
    } else {
        t->report->solve = nothing_to_solve();
    }
    return move(t);
}

/* The largest |q+ - q^|, and whether it is rounding or what the solver's tolerance leaves open. */
static bool is_settled(const stage *t)
{
    double largest = 0, motion = 0;
    for (int i = 0; i < t->m; i++) {
        largest = fmax(largest, fabs(t->q[i] - t->at[i]));
        motion = fmax(motion, t->options->time_step * fabs(t->v[i]));
    }
    t->report->linearisation_error = largest;
    return largest <= fmax(SETTLED, t->options->tolerance * motion);
}

/* (2) to (5) at q^, then at q+ until that settles. */
static cairn_status find_end(stage *t)
{
    cairn_lagrange_report *report = t->report;
    TRY(find_state(t));
    report->linearisations = 1;
    bool settled = is_settled(t);
    while (report->linearisations < t->linearisations && !settled) {
        memcpy(t->at, t->q, (size_t)t->m * sizeof(double));
        TRY(find_state(t));
        report->linearisations++;
        settled = is_settled(t);
    }
    if (t->linearisations > 1 && !settled) /* one alone is the scheme of [ST96] (29) */
        report->solve.converged = false;
    return CAIRN_OK;
}

static cairn_status advance(stage *t)
{
    TRY(take_arrays(t));
    TRY(free_motion(t));
    TRY(find_end(t));
    t->report->candidates = t->count;
    measure_losses(t);
    TRY(measure_state(t));
    commit(t);
    return CAIRN_OK;
}

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
    stage t = { .l = lagrange,
                .options = options,
                .scheme = scheme,
                .velocity_level = options->velocity_level || scheme->velocity_level,
                .linearisations = cairn_scheme_linearisations(scheme, options->linearisations),
                .report = report,
                .error = error,
                .m = lagrange->system.coordinates,
                .d = lagrange->system.dimension };
    cairn_status status = advance(&t);
    if (status != CAIRN_OK && error && !error->message[0])
        cairn_fail(error, status, NULL, "%s", cairn_status_text(status));
    return status;
}
