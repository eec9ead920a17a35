/* a05.c - [A05]: the table with six legs, drift, the elliptic body, and the times of the LCP. */
#include <math.h>
#include <string.h>

#include "studies/classic_problems.h"
#include "studies/lagrangian_runs.h"
#include "studies/study.h"

/* ---- the solution set of the LCP is not convex ----------------------------------------------- */

enum { LEGS = 6 };

/* c_n on every other leg, lambda = 1 on those that carry nothing. */
typedef struct leg_loads {
    double c[LEGS], lambda[LEGS];
} leg_loads;

static leg_loads loads_on(int parity, double load)
{
    leg_loads out = { { 0 } };
    for (int j = 0; j < LEGS; j++) {
        out.c[j] = j % 2 == parity ? load : 0;
        out.lambda[j] = j % 2 == parity ? 0 : 1;
    }
    return out;
}

/* z'w = sum mu c lambda as beta = 0 and v = 0, which the judge confirms. */
static double complementarity(const table *legs, const leg_loads *loads, double *speed,
                              double *residual)
{
    double r[3 * LEGS] = { 0 }, v[6], u[3 * LEGS], sum = 0;
    cairn_judgement judgement;
    for (int j = 0; j < LEGS; j++) {
        r[3 * j] = loads->c[j];
        sum += legs->mu[j] * loads->c[j] * loads->lambda[j];
    }
    cairn_judge(&legs->p, CAIRN_LAW_COULOMB, r, v, u, &judgement);
    *residual = judgement.coulomb.relative;
    *speed = 0;
    for (int i = 0; i < 6; i++)
        *speed = fmax(*speed, fabs(v[i]));
    return sum;
}

static cairn_status nonconvex(cairn_study *study)
{
    table legs;
    double load = 0.05 * 9.81 / 3, speed, residual;
    leg_loads mean = { { 0 } };
    make_table(&legs, 8);
    cairn_study_note(study, "Legs at 60 degrees on the unit circle, centre 0.5 m up, m = 1, h = "
                            "0.05, g = 9.81, mu = 0.5, 8 edges.");
    for (int parity = 0; parity < 2; parity++) {
        leg_loads one = loads_on(parity, load);
        double gap = complementarity(&legs, &one, &speed, &residual);
        for (int j = 0; j < LEGS; j++) {
            mean.c[j] += one.c[j] / 2;
            mean.lambda[j] += one.lambda[j] / 2;
        }
        cairn_study_values row = { .ours = fmax(residual, fmax(gap, speed)) };
        cairn_study_claim(study, row.ours < 1e-14, &row,
                          "loads on legs %d, %d, %d solve it, with v = 0 (largest violation)",
                          parity + 1, parity + 3, parity + 5);
    }
    double gap = complementarity(&legs, &mean, &speed, &residual);
    cairn_study_values row = { .reference = 0.122625, .ours = gap, .within = 1e-12 };
    cairn_study_row(study, &row, "z'w of their average, 6 mu (h m g/6)/2: no solution (N s)");
    row = (cairn_study_values){ .ours = speed };
    cairn_study_claim(study, speed < 1e-14, &row, "the average induces v = 0 as well (m/s)");
    return CAIRN_OK;
}

/* ---- drift ----------------------------------------------------------------------------------- */

static const char *const ellipse_data =
    "Axes 8 and 4 are taken as full lengths (semi-axes 4 and 2), the height 8 as that of the "
    "centre; long axis horizontal, m = 1, I = 5, g = 9.81, mu = 0.3 are choices of ours.";

static double ellipse_gap(const cairn_lagrange *l)
{
    const double *q = cairn_lagrange_position(l);
    double s = sin(q[2]), c = cos(q[2]);
    return q[1] - sqrt(16 * s * s + 4 * c * c);
}

static cairn_status drift_of(cairn_study *study, double h, bool velocity_level, int series,
                             cairn_fall *out)
{
    static const double axes[2] = { 4, 2 };
    cairn_lagrange_options options = exact_options("lcp", h);
    cairn_trace trace = { study, series, cairn_reading_time, ellipse_gap, 0, 0 };
    cairn_lagrange_watch watch = { cairn_trace_see, &trace };
    options.velocity_level = velocity_level;
    return cairn_ellipse_drop(axes, &options, 20, series >= 0 ? &watch : NULL, out);
}

static cairn_status drift(cairn_study *study)
{
    static const double h[4] = { 0.05, 0.02, 0.01, 0.005 };
    static const double gap[4] = { -4.410e-02, -3.955e-03, -7.238e-04, -1.247e-04 };
    static const double velocity[4] = { -7.069e-01, -2.970e-01, -1.541e-01, -8.158e-02 };
    cairn_study_note(study, ellipse_data);
    cairn_study_figure(study, &(cairn_figure){ .name = "gap",
                                               .title = "Infeasibility, h = 0.05",
                                               .x_label = "time (s)",
                                               .y_label = "gap (m)",
                                               .y_low = -0.8,
                                               .y_high = 0.4 });
    int series[2] = { cairn_study_series(study, CAIRN_SERIES_LINE, "stabilised"),
                      cairn_study_series(study, CAIRN_SERIES_DASHED, "not stabilised") };
    for (int i = 0; i < 4; i++) {
        cairn_fall kept, lost;
        TRY(drift_of(study, h[i], false, i == 0 ? series[0] : -1, &kept));
        TRY(drift_of(study, h[i], true, i == 0 ? series[1] : -1, &lost));
        cairn_study_values row = { .reference = gap[i], .ours = kept.lowest, .within = 5e-4 };
        cairn_study_row(study, &row, "h = %g: smallest gap, stabilised (m)", h[i]);
        row = (cairn_study_values){ .reference = velocity[i], .ours = lost.lowest, .within = 5e-4 };
        cairn_study_row(study, &row, "h = %g: smallest gap, not stabilised (m)", h[i]);
        row = (cairn_study_values){ .ours = kept.last };
        cairn_study_claim(study, kept.last <= 4e-4 && lost.last > 0.9 * -lost.lowest, &row,
                          "h = %g: it recovers when stabilised, else never (overlap at 20 s, m)",
                          h[i]);
    }
    return CAIRN_OK;
}

/* ---- the elliptic body ----------------------------------------------------------------------- */

typedef struct ellipse_frames {
    cairn_study *study;
    int frames, steps;
    int centre; /* series of its path */
} ellipse_frames;

static void see_ellipse(void *context, const cairn_lagrange *l, const cairn_lagrange_report *report)
{
    ellipse_frames *f = context;
    const double *q = cairn_lagrange_position(l);
    double c = cos(q[2]), s = sin(q[2]);
    (void)report;
    cairn_study_point(f->study, f->centre, q[0], q[1], 0);
    if (f->steps++ % 25 || f->frames++ >= 10)
        return;
    int outline = cairn_study_series(f->study, CAIRN_SERIES_LINE, "%.2f s", cairn_lagrange_time(l));
    for (int k = 0; k <= 72; k++) {
        double x = 4 * cos(2 * pi * k / 72), y = 2 * sin(2 * pi * k / 72);
        cairn_study_point(f->study, outline, q[0] + c * x - s * y, q[1] + s * x + c * y, 0);
    }
}

static cairn_status ellipse(cairn_study *study)
{
    static const double axes[2] = { 4, 2 };
    static const double q2[3] = { -0.2800933306, 2.1366683547, 3.3598199136 };
    static const double q10[3] = { -0.3533683893, 2.1960024817, 3.4064688225 };
    static const char *const names[3] = { "x (m)", "y (m)", "angle (rad)" };
    cairn_lagrange_options options = exact_options("convex", 0.01);
    cairn_fall out;
    cairn_study_note(study, ellipse_data);
    cairn_study_figure(study, &(cairn_figure){ .name = "frames",
                                               .title = "Elliptic body, ten frames",
                                               .x_label = "x (m)",
                                               .y_label = "y (m)",
                                               .equal = true });
    int centre = cairn_study_series(study, CAIRN_SERIES_DASHED, "path of the centre");
    ellipse_frames frames = { .study = study, .centre = centre };
    TRY(cairn_ellipse_drop(axes, &options, 10, &(cairn_lagrange_watch){ see_ellipse, &frames },
                           &out));
    cairn_study_values row = { .reference = 1.10, .ours = out.first, .within = 1e-9 };
    cairn_study_row(study, &row, "end of the step of the first contact; exact 1.0994 (s)");
    for (int i = 0; i < 6; i++) {
        const double *expected = i < 3 ? q2 : q10, *found = i < 3 ? out.q2 : out.q10;
        row = (cairn_study_values){ .reference = expected[i % 3],
                                    .ours = found[i % 3],
                                    .within = 1e-6 };
        cairn_study_row(study, &row, "t = %d s: %s", i < 3 ? 2 : 10, names[i % 3]);
    }
    row = (cairn_study_values){ .reference = 21.630069, .ours = out.energy, .within = 1e-7 };
    cairn_study_row(study, &row, "energy at t = 10 s (J)");
    return CAIRN_OK;
}

/* ---- times of the LCP ------------------------------------------------------------------------ */

typedef struct pile_case {
    int rows;        /* of the triangle: rows (rows + 1)/2 bodies               */
    double contacts; /* published                                               */
    double mu;
    double seconds; /* published, by PATH in 2005; 0: MAXIT                     */
} pile_case;

static const pile_case pile_cases[] = {
    { 4, 21, 0.2, 0.04 },     { 4, 21, 0.8, 0.03 },   { 6, 52, 0.2, 0.28 },
    { 6, 52, 0.8, 0.20 },     { 8, 93, 0.2, 0.81 },   { 8, 93, 0.8, 0.82 },
    { 10, 146, 0.2, 2.10 },   { 10, 146, 0.8, 2.07 }, { 20, 574, 0.0, 0.80 },
    { 20, 574, 0.2, 174.29 }, { 20, 574, 0.8, 0 },
};

enum { PILES = sizeof pile_cases / sizeof pile_cases[0], PILE_SOLVERS = 5 };

static const struct {
    const char *solver;
    cairn_law law;
    const char *name;
} pile_solvers[PILE_SOLVERS] = {
    { "lemke", CAIRN_LAW_COULOMB, "lemke, LCP" },
    { "lemke", CAIRN_LAW_CONVEX, "lemke, QP" },
    { "ipm", CAIRN_LAW_CONVEX, "ipm, QP" },
    { "active-set", CAIRN_LAW_CONVEX, "active-set, QP" },
    { "auto", CAIRN_LAW_COULOMB, "auto, exact Coulomb" },
};

static void pile_row(cairn_study *study, const pile_case *c, int bodies, const cairn_trial *trial,
                     int solver)
{
    bool solved = trial->verdict == CAIRN_VERDICT_SOLVED;
    cairn_study_values row = { .published = c->seconds, .ours = trial->seconds };
    bool pivots = strcmp(pile_solvers[solver].solver, "lemke") == 0;
    row.why = solved   ? NULL
              : pivots ? "not within 60 s: lemke pivots in one dense tableau; see ipm for this pile"
                       : "not to 1e-8 within 60 s and 20,000 iterations";
    cairn_study_claim(study, solved, &row, "%d bodies, mu = %g: solved by %s (s)", bodies, c->mu,
                      pile_solvers[solver].name);
}

/* The slides on the largest piles with friction: 174 s, and no answer at all. */
static void lemke_row(cairn_study *study, const pile_case *c, int bodies, const cairn_trial *trial)
{
    cairn_study_values row = { .published = c->seconds, .ours = trial->seconds };
    cairn_study_time_claim(study, trial, trial->seconds > 2, &row,
                           "%d bodies, mu = %g: Lemke's method does not scale well (s)", bodies,
                           c->mu);
}

/* Contacts without friction as rows with bounds: r_N >= 0 and r_T = 0, so that the LCP has one row
 * for each. */
typedef struct bare_rows {
    uint8_t *bounded;
    double *lower, *upper;
} bare_rows;

static void bare_rows_free(bare_rows *rows)
{
    cairn_block_free(rows->bounded);
    cairn_block_free(rows->lower);
    cairn_block_free(rows->upper);
}

static cairn_status bare_rows_make(cairn_problem *p, bare_rows *out)
{
    size_t contacts = (size_t)p->contacts, all = contacts * (size_t)p->dimension;
    out->bounded = cairn_block_take(contacts, sizeof *out->bounded);
    out->lower = cairn_block_take(all, sizeof *out->lower);
    out->upper = cairn_block_take(all, sizeof *out->upper);
    if (!out->bounded || !out->lower || !out->upper)
        return CAIRN_NO_MEMORY;
    memset(out->bounded, 1, contacts);
    for (size_t j = 0; j < contacts; j++)
        out->upper[j * (size_t)p->dimension] = INFINITY;
    p->bounded = out->bounded;
    p->lower = out->lower;
    p->upper = out->upper;
    return CAIRN_OK;
}

/* Solver `i` of the table on a pile. The LCP of a pile without friction has no rows for it. */
static cairn_status try_pile(cairn_trials *trials, const pile_case *c, cairn_problem p, int i)
{
    cairn_solve_options options = cairn_solve_options_default();
    bare_rows rows = { 0 };
    cairn_status status = i == 0 && c->mu == 0 ? bare_rows_make(&p, &rows) : CAIRN_OK;
    options.solver = pile_solvers[i].solver;
    options.law = pile_solvers[i].law;
    options.tolerance = 1e-8;
    options.time_limit = 60;
    if (status == CAIRN_OK)
        status = cairn_trials_run(trials, "pile", &p, &options, NULL);
    bare_rows_free(&rows);
    return status;
}

static cairn_status time_pile(cairn_study *study, const pile_case *c, pile *p, const int *series)
{
    cairn_trials *trials;
    make_pile(p, c->rows, c->mu);
    TRY(cairn_trials_create(&trials));
    for (int i = 0; i < PILE_SOLVERS; i++) {
        cairn_status status = try_pile(trials, c, p->p, i);
        if (status != CAIRN_OK) {
            cairn_trials_destroy(trials);
            return status;
        }
        const cairn_trial *trial = cairn_trials_at(trials, i);
        if (i == 0 && c->rows == 20 && c->mu > 0)
            lemke_row(study, c, p->p.blocks, trial);
        else
            pile_row(study, c, p->p.blocks, trial, i);
        if (trial->verdict == CAIRN_VERDICT_SOLVED)
            cairn_study_point(study, series[i], p->p.blocks, trial->seconds, 0);
    }
    cairn_trials_destroy(trials);
    return CAIRN_OK;
}

static cairn_status time_piles(cairn_study *study, pile *p)
{
    int series[PILE_SOLVERS];
    cairn_study_figure(study, &(cairn_figure){ .name = "times",
                                               .title = "One step of a pile, all mu",
                                               .x_label = "bodies",
                                               .y_label = "time (s)",
                                               .log_x = true,
                                               .log_y = true });
    for (int i = 0; i < PILE_SOLVERS; i++)
        series[i] = cairn_study_series(study, CAIRN_SERIES_POINTS, "%s", pile_solvers[i].name);
    int paper = cairn_study_series(study, CAIRN_SERIES_PUBLISHED, "PATH, 2005");
    for (int i = 0; i < PILES; i++) {
        const pile_case *c = &pile_cases[i];
        if (study->quick && c->rows > 10)
            continue;
        TRY(time_pile(study, c, p, series));
        if (c->seconds > 0)
            cairn_study_point(study, paper, p->p.blocks, c->seconds, 0);
        if (i % 2 && c->rows != 20)
            continue;
        cairn_study_values row = { .published = c->contacts,
                                   .ours = p->p.contacts,
                                   .within = 0.05 };
        row.why = "plain triangular piles; the slides do not say how theirs touch";
        if (c->rows != 20 || c->mu == 0)
            cairn_study_row(study, &row, "contacts of the pile of %d bodies", p->p.blocks);
    }
    return CAIRN_OK;
}

static cairn_status lcp_times(cairn_study *study)
{
    pile *p = cairn_block_take(1, sizeof *p);
    cairn_study_note(study, "Triangular piles of touching disks, one step of 0.05 s from rest. The "
                            "published times are those of a machine and a program of 2005, an "
                            "average over a run; the verdict says whether ours solves it to 1e-8.");
    cairn_status status = p ? time_piles(study, p) : CAIRN_NO_MEMORY;
    cairn_block_free(p);
    return status;
}

const cairn_study_entry cairn_entries_a05[] = {
    { "a05-nonconvex", "[A05]", "Nonconvex solution set", "a table with six legs", CAIRN_QUICK, 1,
      nonconvex },
    { "a05-lcp-times", "[A05]", "Solving the LCP", "times for piles of 10 to 210 bodies",
      CAIRN_QUICK, 150, lcp_times },
    { "a05-ellipse", "[A05]", "Elliptic body", "ten frames of an ellipse on a table", CAIRN_QUICK,
      1, ellipse },
    { "a05-drift", "[A05]", "Infeasibility", "drift with and without stabilisation", CAIRN_QUICK, 1,
      drift },
};
const int cairn_entries_a05_count = sizeof cairn_entries_a05 / sizeof cairn_entries_a05[0];
