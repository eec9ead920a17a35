/* small.c - a few contacts in the local form: sweeps without the overhead of a back end.
 *
 *   (1) Sweeps of Gauss-Seidel as in gauss_seidel.c, without momentum. The size of their change,
 *       e = |W_NN (r+ - r)|, decreases like the residual. The judge is called if by e the tolerance
 *       is met, at first estimated from e/|q|, then calibrated by the judge; and after 2, 4, 8, ...
 *   (2) In 2D each contact is open, sticks, or slides either way, and in a given mode the law is
 *       linear:  r = 0;  u = 0;  or r_T = sigma mu r_N with
 *           u_N = 0  (Coulomb),   u_N + sigma mu u_T = 0  (convex law),   u with b + mu s.
 *       If e decreases slowly, the modes of the present r are assumed to be the right ones, the
 *       equations are solved, and the judge decides whether they were.
 *   (3) If more sweeps are expected than other methods cost, those continue from r. */
#include "solve/solver.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "math/factor.h"
#include "problem/cone.h"
#include "problem/judge.h"
#include "problem/operator.h"

enum { MOST_UNKNOWNS = 180, MOST_MODES = 16 }; /* MOST_MODES: contacts whose modes are guessed */
enum { FIRST_LOOK = 3 };                       /* sweeps after which their rate is used        */

typedef struct few {
    const cairn_problem *p;
    const cairn_solve_options *options;
    double *W;     /* W_jj of each contact, a lower triangle                        */
    double *r, *u; /* the caller's                                                  */
    double change; /* e of the last sweep                                           */
    double ratio;  /* the judge's residual over e when it was last asked; 1/|q| before */
    double *kept;  /* impulses to go back to                                        */
    double *A;     /* scratch for the equations of modes                            */
    cairn_norms norms;
    cairn_solve_report *report;
} few;

bool cairn_small_accepts(const cairn_problem *p, const cairn_solve_options *options)
{
    return strcmp(options->solver, "auto") == 0 && p->W && !p->directions && !p->bounded &&
           p->rolling + p->spinning == 0 && p->contacts > 0 &&
           p->contacts * p->dimension <= MOST_UNKNOWNS && options->increment_tolerance <= 0;
}

static bool can_guess(const cairn_problem *p)
{
    return p->dimension == 2 && p->contacts <= MOST_MODES;
}

static cairn_status reserve(cairn_arena *arena, few *f)
{
    size_t n = (size_t)f->p->contacts, d = (size_t)f->p->dimension;
    size_t modes = can_guess(f->p) ? 2 * n : 0;
    f->W = cairn_arena_take(arena, n * d * (d + 1) / 2, sizeof(double));
    f->kept = cairn_arena_take(arena, n * d, sizeof(double));
    f->A = cairn_arena_take(arena, modes * (modes + 1), sizeof(double));
    if (!f->W || !f->kept || !f->A)
        return CAIRN_NO_MEMORY;
    memcpy(f->kept, f->r, n * d * sizeof(double));
    for (int j = 0; j < f->p->contacts; j++)
        cairn_contact_delassus(f->p, j, f->W + (size_t)j * d * (d + 1) / 2);
    return CAIRN_OK;
}

/* ---- (1) ------------------------------------------------------------------------------------ */

/* The velocity of contact j without its own impulse: u - W_jj r_j. */
CAIRN_INLINE void without_own(int d, const double *W, const double *r, double *u)
{
    for (int i = 0; i < d; i++)
        for (int l = 0; l < d; l++)
            u[i] -= W[i >= l ? i * (i + 1) / 2 + l : l * (l + 1) / 2 + i] * r[l];
}

CAIRN_INLINE void sweep_in(few *f, int d)
{
    const cairn_problem *p = f->p;
    bool exact = f->options->law == CAIRN_LAW_COULOMB;
    double sum = 0;
    for (int j = 0; j < p->contacts; j++) {
        double *r = f->r + (size_t)j * (size_t)d, q[3], next[3];
        const double *W = f->W + (size_t)j * (size_t)(d * (d + 1) / 2);
        cairn_contact_relative_local(p, j, f->r, q);
        q[0] += cairn_contact_shift(p, j);
        if (exact && q[0] >= 0 && r[0] == 0 && r[1] == 0 && r[d - 1] == 0)
            continue; /* it is open and stays so */
        without_own(d, W, r, q);
        cairn_local_solve(d, f->options->law, W, p->mu[j], q, next);
        for (int i = 0; i < d; i++) {
            sum += W[0] * W[0] * (next[i] - r[i]) * (next[i] - r[i]);
            r[i] = next[i];
        }
    }
    f->change = sqrt(sum);
    f->report->iterations++;
}

static void sweep(few *f)
{
    if (f->p->dimension == 2)
        sweep_in(f, 2);
    else
        sweep_in(f, 3);
}

static double length_of(const double *x, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* If squares overflow, a residual proves nothing. */
static bool is_finite(const few *f)
{
    int count = f->p->contacts * f->p->dimension;
    return isfinite(length_of(f->r, count)) && isfinite(length_of(f->u, count));
}

static double judge(few *f)
{
    cairn_judgement *found = &f->report->judgement;
    cairn_judge_again(f->p, f->options->law, f->r, NULL, f->u, &f->norms, found);
    double residual = f->options->fclib_measure ? found->asked.fclib : found->asked.relative;
    if (!is_finite(f))
        residual = INFINITY;
    f->report->converged = residual <= f->options->tolerance;
    return residual;
}

static bool is_due(const few *f)
{
    int64_t sweeps = f->report->iterations;
    bool doubled = sweeps > 1 && (sweeps & (sweeps - 1)) == 0;
    return doubled || f->change == 0 || f->ratio * f->change <= f->options->tolerance;
}

static void ask_judge(few *f)
{
    double residual = judge(f);
    f->ratio = f->change > 0 ? residual / f->change : INFINITY;
}

/* ---- (2) ------------------------------------------------------------------------------------ */

typedef enum mode { OPEN, STICKS, SLIDES } mode;

static mode mode_of(double mu, const double *r)
{
    if (!(r[0] > 0))
        return OPEN;
    return fabs(r[1]) < mu * r[0] ? STICKS : SLIDES;
}

/* The directions (N, T) of the impulses that a contact may have in its mode, and of the velocities
 * that are then 0; returns their number. */
static int directions_of(const few *f, int j, double act[2][2], double still[2][2])
{
    const double *r = f->r + 2 * (size_t)j;
    double mu = f->p->mu[j], slope = r[1] < 0 ? -mu : mu;
    bool convex = f->options->law == CAIRN_LAW_CONVEX;
    mode now = mode_of(mu, r);
    act[0][0] = still[0][0] = 1;
    act[0][1] = now == SLIDES ? slope : 0;
    still[0][1] = convex ? act[0][1] : 0;
    act[1][0] = still[1][0] = 0;
    act[1][1] = still[1][1] = 1;
    return now == OPEN ? 0 : now == SLIDES ? 1 : 2;
}

/* The unknowns of all contacts: contact and direction of each. */
typedef struct modes {
    int count;
    int first[MOST_MODES + 1]; /* of each contact */
    int contact[2 * MOST_MODES];
    double act[2 * MOST_MODES][2], still[2 * MOST_MODES][2];
} modes;

static void find_modes(const few *f, modes *m)
{
    m->count = 0;
    for (int j = 0; j < f->p->contacts; j++) {
        double act[2][2], still[2][2];
        int number = directions_of(f, j, act, still);
        m->first[j] = m->count;
        for (int k = 0; k < number; k++) {
            m->contact[m->count] = j;
            memcpy(m->act[m->count], act[k], sizeof act[k]);
            memcpy(m->still[m->count++], still[k], sizeof still[k]);
        }
    }
    m->first[f->p->contacts] = m->count;
}

/* A_i += still times row `row` of W, on the impulses that act. */
static void add_row(const few *f, const modes *m, double still, size_t row, double *A)
{
    const cairn_matrix *W = f->p->W;
    for (int64_t k = W->start[row]; k < W->start[row + 1]; k++) {
        int other = W->column[k] / 2, c = W->column[k] % 2;
        for (int l = m->first[other]; l < m->first[other + 1]; l++)
            A[l] += still * W->value[k] * m->act[l][c];
    }
}

/* Row i: still_i . (W sum_k act_k x_k + q + (b + mu s) n) = 0. */
static void fill_equations(const few *f, const modes *m, double *x)
{
    size_t n = (size_t)m->count;
    memset(f->A, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        int j = m->contact[i];
        x[i] = -m->still[i][0] * cairn_contact_shift(f->p, j);
        for (size_t c = 0; c < 2; c++) {
            size_t row = 2 * (size_t)j + c;
            x[i] -= m->still[i][c] * f->p->q[row];
            add_row(f, m, m->still[i][c], row, f->A + i * n);
        }
    }
}

/* Replace r by the impulses of its modes if the judge accepts them; else r stays. */
static void guess_modes(few *f)
{
    size_t size = 2 * (size_t)f->p->contacts;
    int pivot[2 * MOST_MODES];
    double x[2 * MOST_MODES];
    modes m;
    find_modes(f, &m);
    fill_equations(f, &m, x);
    if (!cairn_dense_factor(m.count, f->A, pivot))
        return;
    cairn_dense_solve(m.count, f->A, pivot, x);
    memcpy(f->kept, f->r, size * sizeof(double));
    memset(f->r, 0, size * sizeof(double));
    for (int i = 0; i < m.count; i++)
        for (int c = 0; c < 2; c++)
            f->r[2 * m.contact[i] + c] += m.act[i][c] * x[i];
    judge(f);
    if (!f->report->converged)
        memcpy(f->r, f->kept, size * sizeof(double));
}

/* ---- (3) ------------------------------------------------------------------------------------ */

/* The number of further sweeps to the tolerance if e continues to decrease at its present rate. */
static double sweeps_left(const few *f, double first_change)
{
    double fall = log(first_change / f->change) / (double)(f->report->iterations - 1);
    double way = log(f->ratio * f->change / f->options->tolerance);
    return way <= 0 ? 0 : fall > 0 ? way / fall : INFINITY;
}

/* Whether to continue with sweeps; if e decreases slowly, the modes are tried once before. */
static bool goes_on(few *f, double first_change, bool *may_guess)
{
    int n = f->p->contacts;
    int64_t sweeps = f->report->iterations;
    if (f->report->converged || sweeps >= f->options->max_iterations || !isfinite(f->change))
        return false;
    if (sweeps < FIRST_LOOK)
        return true;
    double left = f->change > 0 ? sweeps_left(f, first_change) : INFINITY;
    if (*may_guess && left > 2 + n * n / 12.0) {
        *may_guess = false;
        guess_modes(f);
    }
    return !f->report->converged && left <= 10 + n && sweeps <= 4 * (10 + n);
}

cairn_status cairn_small_solve(const cairn_problem *p, const cairn_solve_options *options,
                               cairn_arena *arena, double *r, double *u, cairn_solve_report *report)
{
    few f = { .p = p, .options = options, .r = r, .u = u, .report = report };
    bool may_guess = can_guess(p);
    double first_change = 0;
    TRY(reserve(arena, &f));
    f.ratio = 1 / length_of(p->q, p->contacts * p->dimension);
    while (goes_on(&f, first_change, &may_guess)) {
        sweep(&f);
        first_change = report->iterations == 1 ? f.change : first_change;
        if (is_due(&f))
            ask_judge(&f);
    }
    if (!isfinite(f.change))
        memcpy(r, f.kept, (size_t)p->contacts * (size_t)p->dimension * sizeof(double));
    return CAIRN_OK;
}
