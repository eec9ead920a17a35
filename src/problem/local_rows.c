/* local_rows.c - the bounded rows of one contact, solved exactly: a primal active-set method.
 *
 * Minimises 1/2 r'W r + q'r over lower <= r <= upper, W positive semidefinite, at most 6 rows:
 *   (1) r within its bounds; rows that are there already, and pushed further, are held
 *   (2) step s of the rows that are free: W_FF s = -(W r + q)_F
 *   (3) whole: release the held row that is pulled back most, done when there is none;
 *       else as far as the first bound, whose row is held from then on
 * The energy falls with every round, so no set of held rows comes twice. Rows that depend on others
 * in W (redundant ones) stay where they are; a row that nothing can move goes to the bound that its
 * velocity asks for, when it has one. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "problem/local.h"
#include "problem/operator.h"

enum { MOST = CAIRN_MAX_DIMENSION, ROUNDS = 100 };

static const double dependent = 1e-13; /* pivot over diagonal below which a row depends on others */

typedef struct rows {
    int d;
    const double *lower, *upper, *q;
    double W[MOST][MOST];
    bool held[MOST];
    double y[MOST]; /* W r + q */
    double s[MOST];
} rows;

static void load(const cairn_problem *p, int j, const double *W, const double *q, rows *x)
{
    size_t first = (size_t)j * (size_t)p->dimension;
    x->d = p->dimension;
    x->lower = p->lower + first;
    x->upper = p->upper + first;
    x->q = q;
    for (int i = 0, entry = 0; i < x->d; i++)
        for (int k = 0; k <= i; k++, entry++)
            x->W[i][k] = x->W[k][i] = W[entry];
}

static void find_velocity(rows *x, const double *r)
{
    for (int i = 0; i < x->d; i++) {
        x->y[i] = x->q[i];
        for (int k = 0; k < x->d; k++)
            x->y[i] += x->W[i][k] * r[k];
    }
}

/* Whether row i is at a bound and its y pushes it against it. */
static bool is_pushed(const rows *x, int i, double r)
{
    return (r <= x->lower[i] && x->y[i] >= 0) || (r >= x->upper[i] && x->y[i] <= 0);
}

/* (1) */
static void start(rows *x, double *r)
{
    for (int i = 0; i < x->d; i++) {
        bool fixed = !(x->W[i][i] > 0);
        if (fixed) /* nothing moves: to the bound asked for, or stay */
            r[i] = x->q[i] > 0 ? x->lower[i] : x->q[i] < 0 ? x->upper[i] : r[i];
        if (!isfinite(r[i]))
            r[i] = 0;
        r[i] = fmin(fmax(r[i], x->lower[i]), x->upper[i]);
        x->held[i] = fixed || x->lower[i] == x->upper[i];
    }
    find_velocity(x, r);
    for (int i = 0; i < x->d; i++)
        x->held[i] = x->held[i] || is_pushed(x, i, r[i]);
}

/* (2) by Cholesky, W = L D L' over the free rows; dependent ones have s = 0 */
static void find_step(rows *x)
{
    double L[MOST][MOST], D[MOST];
    bool used[MOST];
    for (int i = 0; i < x->d; i++) {
        double pivot = x->held[i] ? 0 : x->W[i][i];
        x->s[i] = -x->y[i];
        for (int k = 0; k < i; k++) {
            L[i][k] = used[k] ? x->W[i][k] : 0;
            for (int l = 0; used[k] && l < k; l++)
                L[i][k] -= used[l] ? L[i][l] * L[k][l] * D[l] : 0;
            L[i][k] = used[k] ? L[i][k] / D[k] : 0;
            pivot -= used[k] ? L[i][k] * L[i][k] * D[k] : 0;
            x->s[i] -= used[k] ? L[i][k] * x->s[k] : 0;
        }
        used[i] = !x->held[i] && pivot > dependent * x->W[i][i];
        D[i] = used[i] ? pivot : 1;
    }
    for (int i = x->d - 1; i >= 0; i--) {
        x->s[i] = used[i] ? x->s[i] / D[i] : 0;
        for (int k = i + 1; k < x->d; k++)
            x->s[i] -= used[i] && used[k] ? L[k][i] * x->s[k] : 0;
    }
}

/* The share of s that the bounds allow, and the row that ends it; -1: the whole. */
static double find_reach(const rows *x, const double *r, int *row)
{
    double reach = 1;
    *row = -1;
    for (int i = 0; i < x->d; i++) {
        double bound = x->s[i] < 0 ? x->lower[i] : x->upper[i];
        if (x->held[i] || x->s[i] == 0 || !(fabs(bound - r[i]) < reach * fabs(x->s[i])))
            continue;
        reach = fabs(bound - r[i]) / fabs(x->s[i]);
        *row = i;
    }
    return reach;
}

/* (3) the held row pulled back most, where that is more than rounding; -1: none */
static int find_release(const rows *x, const double *r)
{
    int best = -1;
    double most = 0;
    for (int i = 0; i < x->d; i++) {
        double rounding = fabs(x->q[i]);
        for (int k = 0; k < x->d; k++)
            rounding += fabs(x->W[i][k] * r[k]);
        bool can_move = x->held[i] && x->W[i][i] > 0 && x->lower[i] < x->upper[i];
        double pull = can_move && !is_pushed(x, i, r[i]) ? fabs(x->y[i]) : 0;
        if (pull <= 8 * DBL_EPSILON * rounding || pull / sqrt(x->W[i][i]) <= most)
            continue;
        most = pull / sqrt(x->W[i][i]);
        best = i;
    }
    return best;
}

static void advance(rows *x, double reach, int row, double *r)
{
    for (int i = 0; i < x->d; i++)
        r[i] = fmin(fmax(r[i] + reach * x->s[i], x->lower[i]), x->upper[i]);
    if (row >= 0) {
        r[row] = x->s[row] < 0 ? x->lower[row] : x->upper[row];
        x->held[row] = true;
    }
    find_velocity(x, r);
}

void cairn_local_solve_rows(const cairn_problem *p, int j, const double *W, const double *q,
                            double *r)
{
    rows x;
    load(p, j, W, q, &x);
    start(&x, r);
    for (int round = 0; round < ROUNDS; round++) {
        int row;
        find_step(&x);
        double reach = find_reach(&x, r, &row);
        advance(&x, reach, row, r);
        if (row >= 0)
            continue;
        int release = find_release(&x, r);
        if (release < 0)
            return;
        x.held[release] = false;
    }
}
