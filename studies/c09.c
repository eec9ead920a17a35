/* c09.c - [C09] section 5: the double pendulum, random instances, the bead, the bad boy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "studies/classic_problems.h"
#include "studies/lagrangian_runs.h"
#include "studies/study.h"

/* ---- 5.1: double pendulum -------------------------------------------------------------------- */

typedef struct pendulum_frames {
    cairn_study *study;
    int series, steps;
} pendulum_frames;

static void see_pendulum(void *context, const cairn_lagrange *l,
                         const cairn_lagrange_report *report)
{
    pendulum_frames *f = context;
    const double *q = cairn_lagrange_position(l);
    double x = 0, y = 0;
    (void)report;
    if (f->steps++ % 200)
        return;
    cairn_study_point(f->study, f->series, 0, 0, 0);
    for (int i = 0; i < 2; i++) {
        x += arm[i] * sin(q[i]);
        y -= arm[i] * cos(q[i]);
        cairn_study_point(f->study, f->series, x, y, 0);
    }
    cairn_study_break(f->study, f->series);
}

static void pendulum_numbers(cairn_study *study, const cairn_swing *out)
{
    static const double half[2] = { 0.277043269, 0.8697405167 },
                        one[2] = { -0.72753332, 0.3845577529 };
    cairn_study_values row;
    for (int i = 0; i < 4; i++) {
        double expected = i < 2 ? half[i] : one[i - 2],
               found = i < 2 ? out->half[i] : out->one[i - 2];
        row = (cairn_study_values){ .reference = expected, .ours = found, .within = 1e-7 };
        cairn_study_row(study, &row, "theta%d at t = %g s (rad)", i % 2 + 1, i < 2 ? 0.5 : 1.0);
    }
    row = (cairn_study_values){ .reference = 0.6298046627, .ours = out->first, .within = 2e-3 };
    row.why = "end of the step of 0.001 s; the reference is the exact time";
    cairn_study_row(study, &row, "first contact (s)");
    row = (cairn_study_values){ .reference = -34.622052, .ours = out->energy, .within = 1e-6 };
    cairn_study_row(study, &row, "energy at t = 4 s (J)");
    row = (cairn_study_values){ .reference = 36.03729395, .ours = out->push, .within = 1e-6 };
    cairn_study_row(study, &row, "sum of the normal impulses (N s)");
    row = (cairn_study_values){ .ours = out->rise };
    cairn_study_claim(study, out->rise < 0, &row, "energy falls in every step with contact (J)");
}

static cairn_status fig_5(cairn_study *study)
{
    cairn_swing out;
    cairn_study_note(study, "Data as printed, g = 9.81; the initial state is not given: theta1 = "
                            "theta2 = 60 degrees at rest, dt = 0.001.");
    cairn_study_figure(study, &(cairn_figure){ .name = "trajectory",
                                               .title = "Double pendulum, every 0.2 s",
                                               .x_label = "x (m)",
                                               .y_label = "y (m)",
                                               .equal = true });
    int series = cairn_study_series(study, CAIRN_SERIES_LINE, "pendulum");
    pendulum_frames frames = { study, series, 0 };
    int floor = cairn_study_series(study, CAIRN_SERIES_DASHED, "floor");
    for (int x = -3; x <= 3; x++)
        cairn_study_point(study, floor, x, -floor_depth, 0);
    TRY(cairn_pendulum_swing("lcp", 0.001, 4, &(cairn_lagrange_watch){ see_pendulum, &frames },
                             &out));
    pendulum_numbers(study, &out);
    return CAIRN_OK;
}

/* ---- 5.2: random instances ------------------------------------------------------------------- */

typedef struct table_line {
    cairn_instance_def def;
    double iterations, phi_start, phi_end; /* published, of other instances           */
    double speed;                          /* reference; 0: none                      */
} table_line;

static const table_line lines_2d[] = {
    { { 2, 10, 0.5, 2, 2001 }, 1, 42.3, 3.1e-30, 13.2392729881 },
    { { 2, 20, 0.5, 2, 2011 }, 2, 38.8, 8.4e-27, 13.8432858235 },
    { { 2, 30, 0.5, 2, 2021 }, 3, 166.1, 1.6e-28, 22.2609955255 },
    { { 2, 40, 0.2, 3, 2031 }, 3, 184.6, 1.2e-27, 24.1006004978 },
    { { 2, 50, 0.2, 3, 2041 }, 1, 303.9, 2.6e-27, 0 },
    { { 2, 60, 0.2, 3, 2051 }, 4, 610.8, 7.8e-29, 0 },
};
static const table_line lines_3d[] = {
    { { 3, 10, 0.5, 2, 3001 }, 2, 44.8, 2.2e-11, 7.7316657565 },
    { { 3, 20, 0.5, 2, 3011 }, 2, 90.3, 1.6e-11, 14.2604872690 },
    { { 3, 30, 0.5, 2, 3021 }, 2, 369.1, 9.0e-10, 18.7996011009 },
    { { 3, 40, 0.2, 3, 3031 }, 2, 414.4, 7.4e-15, 22.5940659980 },
    { { 3, 50, 0.2, 3, 3041 }, 2, 1105.9, 1.7e-10, 0 },
    { { 3, 60, 0.2, 3, 3051 }, 4, 1287.3, 2.7e-9, 0 },
};

/* The instance is drawn and lives in x until the caller clears it. */
static cairn_status solve_line(cairn_study *study, const table_line *line, cairn_instance *x,
                               cairn_newton_answer *a)
{
    double s[INSTANCE_CONTACTS] = { 0 }, start, end, speed;
    int n = line->def.contacts;
    TRY(cairn_instance_make(&line->def, x));
    TRY(cairn_phi(x->p, s, NULL, &start));
    TRY(cairn_newton_solve(x->p, "pgs", 0, s, a));
    TRY(cairn_phi(x->p, s, NULL, &end));
    TRY(cairn_instance_speed(x, a->r, &speed));
    cairn_study_values row = { .published = line->iterations, .ours = a->steps };
    row.why = a->report.converged ? NULL : "not converged on this instance";
    cairn_study_claim(study, a->report.converged && a->steps <= 6, &row,
                      "n = %d, m = %d: few Newton iterations", n, 4 * n);
    row = (cairn_study_values){ .published = line->phi_end, .ours = end };
    cairn_study_claim(study, end < 1e-9 && start > 1, &row, "n = %d: phi falls from %.3g to", n,
                      start);
    if (line->speed == 0)
        return CAIRN_OK;
    row = (cairn_study_values){ .reference = line->speed, .ours = speed, .within = 1e-7 };
    cairn_study_row(study, &row, "n = %d: |v| of the solution", n);
    return CAIRN_OK;
}

static cairn_status solve_table(cairn_study *study, const table_line *lines, int count)
{
    cairn_instance *x = cairn_block_take(1, sizeof *x);
    cairn_newton_answer *a = cairn_block_take(1, sizeof *a);
    cairn_status status = x && a ? CAIRN_OK : CAIRN_NO_MEMORY;
    cairn_study_note(study, "The paper's matrices cannot be drawn again. This is a family of our "
                            "own, chosen because the method converges on it: a regression table, "
                            "not evidence for the published one (docs/references.md).");
    for (int i = 0; i < count && status == CAIRN_OK; i++) {
        status = solve_line(study, &lines[i], x, a);
        cairn_instance_clear(x);
    }
    cairn_block_free(x);
    cairn_block_free(a);
    return status;
}

static cairn_status table_1(cairn_study *study)
{
    return solve_table(study, lines_2d, sizeof lines_2d / sizeof lines_2d[0]);
}

static cairn_status table_2(cairn_study *study)
{
    return solve_table(study, lines_3d, sizeof lines_3d / sizeof lines_3d[0]);
}

/* ---- 5.3: bead ------------------------------------------------------------------------------- */

static cairn_status draw_bead(cairn_study *study, const cairn_problem *p)
{
    cairn_study_figure(study, &(cairn_figure){ .name = "phi",
                                               .title = "φ(s_1, s_2) of the bead in a corner",
                                               .x_label = "s_1 (m/s)",
                                               .y_label = "s_2 (m/s)",
                                               .equal = true,
                                               .bare = true });
    int map = cairn_study_series(study, CAIRN_SERIES_MAP, "phi");
    for (int i = 0; i <= 50; i++)
        for (int j = 0; j <= 50; j++) {
            double s[2] = { j * 0.025, i * 0.025 }, phi;
            TRY(cairn_phi(p, s, NULL, &phi));
            cairn_study_point(study, map, s[0], s[1], phi);
        }
    return CAIRN_OK;
}

static cairn_status bead_starts(cairn_study *study, const cairn_problem *p)
{
    static const double starts[4][3] = {
        { 0.42, 0.42, 0 }, { 0.43, 0.43, 1 }, { 0, 1, 1 }, { 0.3, 0.9, 1 }
    };
    for (int i = 0; i < 4; i++) {
        double s[2] = { starts[i][0], starts[i][1] };
        cairn_newton_answer a;
        TRY(cairn_newton_solve(p, "active-set", 1e-10, s, &a));
        double off = fmax(fabs(s[0] - starts[i][2]), fabs(s[1] - starts[i][2]));
        cairn_study_values row = { .ours = s[0] };
        cairn_study_claim(study,
                          a.report.converged &&
                                  off<1e-10, &row, "Newton from (%g, %g): %s, s = (%g, %g)",
                                      starts[i][0], starts[i][1], starts[i][2]> 0
                              ? "it takes off"
                              : "it stays wedged",
                          starts[i][2], starts[i][2]);
    }
    return CAIRN_OK;
}

static cairn_status fig_7(cairn_study *study)
{
    static const double grid[][3] = { { 0.25, 0.25, 0.11662659 }, { 0.5, 0.25, 0.26868988 },
                                      { 0.5, 0.5, 0.25 },         { 0.75, 0.5, 0.15625 },
                                      { 1, 0, 0.31399577 },       { 0, 0.25, 0.03543671 },
                                      { 0, 0.75, 0.31893036 },    { 1.25, 1.25, 0.0625 } };
    bead b;
    make_bead(&b, M_PI / 6, 1);
    cairn_study_note(study, "Half angle 30 degrees and mu = 1 are choices of ours; with the pull "
                            "1/cos(alpha) the second minimum lies at s = (1, 1), as in the paper.");
    TRY(draw_bead(study, &b.p));
    for (int i = 0; i < 8; i++) {
        double phi;
        TRY(cairn_phi(&b.p, grid[i], NULL, &phi));
        cairn_study_values row = { .reference = grid[i][2], .ours = phi, .within = 2e-7 };
        cairn_study_row(study, &row, "phi(%g, %g)", grid[i][0], grid[i][1]);
    }
    for (int i = 0; i < 2; i++) {
        double s[2] = { i, i }, phi;
        TRY(cairn_phi(&b.p, s, NULL, &phi));
        cairn_study_values row = { .ours = phi };
        cairn_study_claim(study, phi < 1e-20, &row, "phi(%d, %d) = 0: an isolated solution", i, i);
    }
    return bead_starts(study, &b.p);
}

/* ---- 5.4: bad boy ---------------------------------------------------------------------------- */

static cairn_status bad_starts(cairn_study *study, const cairn_problem *p)
{
    static const double starts[] = { 2.01, 8, 0, 0.5, 1.99 };
    for (int i = 0; i < 5; i++) {
        double s = starts[i];
        bool above = s > 2;
        cairn_newton_answer a;
        TRY(cairn_newton_solve(p, "active-set", 1e-10, &s, &a));
        cairn_study_values row = { .published = above ? 5 : 0, .ours = s };
        cairn_study_claim(
            study, above ? a.report.converged && fabs(s - 5) < 1e-9 : !a.report.converged && s == 0,
            &row, "Newton from s = %g %s", starts[i],
            above ? "finds the solution" : "fails at 0, and says so");
    }
    return CAIRN_OK;
}

static cairn_status fig_8(cairn_study *study)
{
    static const double expected[][2] = { { 0, 0.5 }, { 1, 2 }, { 2, 4.5 }, { 8, 4.5 } };
    bad_boy bad;
    double zero = 5, phi;
    make_bad_boy(&bad);
    cairn_study_figure(study, &(cairn_figure){ .name = "phi",
                                               .title = "φ(s) of the bad boy",
                                               .x_label = "s (m/s)",
                                               .y_label = "φ ((m/s)^2)",
                                               .bare = true });
    int line = cairn_study_series(study, CAIRN_SERIES_LINE, "phi");
    for (int k = 0; k <= 160; k++) {
        double s = k * 0.05;
        TRY(cairn_phi(&bad.p, &s, NULL, &phi));
        cairn_study_point(study, line, s, phi, 0);
    }
    for (int i = 0; i < 4; i++) {
        TRY(cairn_phi(&bad.p, &expected[i][0], NULL, &phi));
        cairn_study_values row = { .reference = expected[i][1], .ours = phi, .within = 1e-10 };
        cairn_study_row(study, &row, "phi(%g), exact", expected[i][0]);
    }
    TRY(cairn_phi(&bad.p, &zero, NULL, &phi));
    cairn_study_values row = { .ours = phi };
    cairn_study_claim(study, phi < 1e-20, &row, "phi(5) = 0: the solution");
    return bad_starts(study, &bad.p);
}

const cairn_study_entry cairn_entries_c09[] = {
    { "c09-fig-5", "[C09]", "Fig. 5", "double pendulum with friction", CAIRN_QUICK, 1, fig_5 },
    { "c09-table-1", "[C09]", "Table 1", "random instances in 2D", CAIRN_QUICK, 1, table_1 },
    { "c09-table-2", "[C09]", "Table 2", "random instances in 3D", CAIRN_QUICK, 1, table_2 },
    { "c09-fig-7", "[C09]", "Fig. 7", "phi for the bead in a corner", CAIRN_QUICK, 1, fig_7 },
    { "c09-fig-8", "[C09]", "Fig. 8", "phi of the counterexample", CAIRN_QUICK, 1, fig_8 },
};
const int cairn_entries_c09_count = sizeof cairn_entries_c09 / sizeof cairn_entries_c09[0];

/* ---- random problems ------------------------------------------------------------------------- */

/* ---- drawing --------------------------------------------------------------------------------- */

/* In the middle of the cells of 2^-53, so never 0. */
static double uniform(uint64_t *state)
{
    return cairn_random_uniform(state) + 0x1p-54;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * M_PI * uniform(state));
}

static void draw(const cairn_instance_def *def, cairn_instance *x)
{
    int m = x->velocities;
    uint64_t state = (uint64_t)def->seed;
    for (int r = 0; r < x->rows; r++) {
        x->H[r][r] = 1;
        for (int k = 0; k < 2; k++) {
            int j = (int)(uniform(&state) * m);
            x->H[r][j] += 0.15 * normal(&state);
        }
    }
    for (int i = 0; i < m; i++)
        x->M[i][i] = 1 + uniform(&state);
    for (int k = 0; k < m; k++) {
        int i = (int)(uniform(&state) * m), j = (int)(uniform(&state) * m);
        double value = 0.2 * (uniform(&state) - 0.5);
        x->M[i][j] += i != j ? value : 0;
        x->M[j][i] += i != j ? value : 0;
    }
    for (int i = 0; i < m; i++)
        x->f[i] = -3 * normal(&state);
    for (int i = 0; i < def->contacts; i++)
        x->mu[i] = def->mu_min + (def->mu_max - def->mu_min) * uniform(&state);
}

/* ---- condensing ------------------------------------------------------------------------------ */

/* M and the transpose of H by compressed rows. */
static void compress(cairn_instance *x, cairn_global *g)
{
    int64_t in_M = 0, in_H = 0;
    for (int i = 0; i < x->velocities; i++) {
        x->M_start[i] = in_M;
        x->H_start[i] = in_H;
        for (int j = 0; j < x->velocities; j++)
            if (x->M[i][j] != 0) {
                x->M_column[in_M] = j;
                x->M_value[in_M++] = x->M[i][j];
            }
        for (int r = 0; r < x->rows; r++)
            if (x->H[r][i] != 0) {
                x->H_column[in_H] = r;
                x->H_value[in_H++] = x->H[r][i];
            }
    }
    x->M_start[x->velocities] = in_M;
    x->H_start[x->velocities] = in_H;
    g->M = (cairn_matrix){ x->velocities, x->velocities, x->M_start, x->M_column, x->M_value };
    g->H = (cairn_matrix){ x->velocities, x->rows, x->H_start, x->H_column, x->H_value };
}

cairn_status cairn_instance_make(const cairn_instance_def *def, cairn_instance *out)
{
    cairn_global g = { .dimension = def->dimension, .contacts = def->contacts };
    memset(out, 0, sizeof *out);
    out->rows = def->dimension * def->contacts;
    out->velocities = 4 * def->contacts;
    draw(def, out);
    compress(out, &g);
    g.f = out->f;
    g.w = out->w;
    g.mu = out->mu;
    TRY(cairn_condense(&g, &out->condensed, NULL));
    out->p = cairn_condensed_problem(out->condensed);
    return CAIRN_OK;
}

void cairn_instance_clear(cairn_instance *instance)
{
    cairn_condensed_destroy(instance->condensed);
    instance->condensed = NULL;
}

cairn_status cairn_instance_speed(const cairn_instance *instance, const double *r, double *out)
{
    double v[INSTANCE_VELOCITIES], sum = 0;
    TRY(cairn_condensed_velocity(instance->condensed, r, v));
    for (int i = 0; i < instance->velocities; i++)
        sum += v[i] * v[i];
    *out = sqrt(sum);
    return CAIRN_OK;
}

/* ---- solving --------------------------------------------------------------------------------- */

/* "3 Newton steps, ...": the number in the remark; 0: none */
static int steps_of(const char *remark)
{
    const char *end = strstr(remark, " Newton step"), *digits = end;
    while (digits && digits > remark && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    return digits ? atoi(digits) : 0;
}

cairn_status cairn_newton_solve(const cairn_problem *p, const char *inner, double increment,
                                double *s, cairn_newton_answer *out)
{
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    memset(out, 0, sizeof *out);
    options.solver = inner;
    options.tolerance = 1e-11;
    options.max_iterations = 200000;
    TRY(cairn_workspace_create(&workspace));
    const cairn_sliding_loop loop = { increment, 100, s, out->r, out->v, out->u };
    cairn_status status = cairn_solve_coulomb_newton(p, &options, &loop, workspace, &out->report);
    cairn_workspace_destroy(workspace);
    out->steps = steps_of(out->report.remark);
    return status;
}

/* The convex problem with s; to rounding in 2D. */
static cairn_status solve_convex(const cairn_problem *p, const double *s, double *u)
{
    cairn_problem convex = *p;
    cairn_workspace *workspace;
    cairn_solve_options options = cairn_solve_options_default();
    cairn_solve_report report;
    double r[INSTANCE_ROWS] = { 0 }, v[INSTANCE_VELOCITIES];
    convex.s = s;
    options.solver = p->dimension == 2 && p->contacts <= 2 ? "active-set" : "pgs";
    options.tolerance = p->dimension == 2 && p->contacts <= 2 ? 1e-13 : 1e-12;
    TRY(cairn_workspace_create(&workspace));
    cairn_status status = cairn_solve(&convex, &options, workspace, r, v, u, &report);
    cairn_workspace_destroy(workspace);
    return status == CAIRN_OK && !report.converged ? CAIRN_STOPPED : status;
}

cairn_status cairn_phi(const cairn_problem *p, const double *s, double *u, double *phi)
{
    double own[INSTANCE_ROWS], *at = u ? u : own;
    TRY(solve_convex(p, s, at));
    *phi = 0;
    for (int j = 0; j < p->contacts; j++) {
        double apart = s[j] - cairn_sliding_speed(p->dimension, 0, at + p->dimension * j);
        *phi += 0.5 * apart * apart;
    }
    return CAIRN_OK;
}
