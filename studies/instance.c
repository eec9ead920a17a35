/* instance.c - random one-step problems in the manner of [C09] 5.2; see instance.h. */
#include "studies/instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "studies/memory.h"

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
