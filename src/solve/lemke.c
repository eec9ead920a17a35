/* lemke.c - exact solutions of small problems with polyhedral cones: the LCP of problem/lcp.c,
 * solved by Lemke's algorithm (the tableau, below).
 *
 *   (1) the warm start is judged; if it meets the tolerance, it is the answer
 *   (2) build the LCP of the law
 *   (3) Lemke's algorithm; each pivot is an iteration
 *   (4) r from z, judged
 * Rows with bounds are unknowns of their own, those without bounds free ones.
 * 2D problems, where the two-sided cone is Coulomb's own, and 3D ones with edges. For Coulomb's law
 * solutions need not be unique, velocities included. */
#include "solve/systems.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "math/factor.h"

static bool accepts(cairn_law law, const cairn_problem *p)
{
    return cairn_lcp_possible(p) && cairn_lemke_fits(cairn_lcp_size(p, law));
}

static cairn_status run(const cairn_solver *self, cairn_task *task, double *r)
{
    (void)self;
    const cairn_problem *p = task->p;
    cairn_law law = task->options->law;
    cairn_solve_report *report = task->report;
    cairn_lcp lcp;
    cairn_lemke_end end = CAIRN_LEMKE_SOLVED;
    report->converged = cairn_task_judge_array(task, r);
    if (report->converged)
        return CAIRN_OK;
    TRY(cairn_lcp_create(p, law, task->arena, &lcp));
    double *z = cairn_arena_take(task->arena, (size_t)lcp.size, sizeof(double));
    if (!z)
        return CAIRN_NO_MEMORY;
    TRY(cairn_lemke(&lcp, task, z, &end));
    cairn_lcp_impulses(p, law, z, r);
    report->converged = cairn_task_judge_array(task, r);
    const char *words = cairn_lemke_words(end);
    if (!report->converged)
        snprintf(report->remark, sizeof report->remark, "%s",
                 words ? words : "solved up to rounding, which misses the tolerance");
    return CAIRN_OK;
}

const cairn_solver cairn_solver_lemke = {
    .name = "lemke",
    .summary = "Lemke's pivoting on the complementarity problem; exact, small, polyhedral cones",
    .laws = CAIRN_TREATS(CAIRN_LAW_CONVEX) | CAIRN_TREATS(CAIRN_LAW_COULOMB) |
            CAIRN_TREATS_EDGES(CAIRN_LAW_CONVEX) | CAIRN_TREATS_EDGES(CAIRN_LAW_COULOMB) |
            CAIRN_TREATS_ROWS,
    .run_on_host = run,
    .accepts = accepts,
};

/* ---- the tableau ------------------------------------------------------------------------- */

/* Lemke's algorithm with an explicit tableau and lexicographic pivoting, as
 * [ST96] section 4 uses it (Cottle, Pang, Stone: The Linear Complementarity Problem, 4.4 and 4.9).
 *
 * The dictionary holds each basic unknown as a constant plus multiples of the nonbasic ones; it
 * starts with w = a + A z + c z0, c > 0 the covering vector.
 *   (0) scale rows and columns alike; bring free z_i into the basis for their w_i = 0, once and
 *       for all (the Schur complement of the joints)
 *   (1) if the constants are >= 0: z = 0 is the answer. Else z0 enters, and the row leaves that
 *       over its c is lexicographically least
 *   (2) the complement of what just left enters; among the rows where it decreases, that one
 *       leaves that over its |entry| is lexicographically least; no such row: a ray. When z0 has
 *       left, or is 0 in the basis: done
 *   (3) with the basis so found solve A_BB z_B = -a_B from the original data, by LU with one
 *       refinement, and check z, w >= 0
 *   (4) a ray, or a basis that (3) finds wrong: again from (0) with another covering vector
 * The order in (1) and (2) compares the constant, then its change B^-1 g under a perturbation g of
 * a, then the row of B^-1. No two rows of B^-1 are proportional, so the least is unique and no
 * basis returns. Comparisons are exact; what a pivot cancels down to its rounding is set to zero,
 * so that ties at zero are exact ties; c and g are drawn from [1, 2), so that symmetry causes no
 * others. (With c = 1 rounding decided such ties, and a pile of 7 rows cycled.) B^-1 needs no extra
 * memory: its column j is that of w_j. The tableau is recomputed from the data regularly, before a
 * small pivot, and before a ray is accepted. */

/* Relative to the largest entry of a column: below `least_pivot` an entry does not block, below
 * `small_pivot` the tableau is recomputed before it is used. */
static const double least_pivot = 1e-9, small_pivot = 1e-5;
/* The rounding error of a difference, relative to its larger term. */
static const double rounding = 64 * DBL_EPSILON;
/* z0 below this is 0, in the scale where the largest constant is 1. */
static const double no_cover = 1e-13;
/* (3) accepts z and w that are negative by this much, scaled. */
static const double most_violation = 1e-9;
/* (4) covering vectors tried; pivots for each, as a multiple of the unknowns; pivots after which
 * the tableau is recomputed, in addition to half the number of unknowns. */
enum { COVERS = 4, MOST_ROUNDS = 50, FRESH = 50 };

/* Unknowns by number: w_i is i, z_i is n + i, z0 is 2n. */
typedef struct tableau {
    int n;
    size_t width;               /* n + 3: nonbasic columns, the constant, its perturbation    */
    double *entry;              /* n rows                                                     */
    int *basic;                 /* the unknown of each row                                    */
    int *nonbasic;              /* the unknown of each column                                 */
    int *place;                 /* of each unknown: its row, or n + its column                */
    bool *settled;              /* rows that never leave: free unknowns, and rows without any */
    bool *wanted, *was_settled; /* of each unknown, while the tableau is refreshed            */
    int age;                    /* pivots since the entries were computed from the data       */
    double *scale;              /* z = scale * scaled z                                       */
} tableau;

/* The data from which a tableau is built. */
typedef struct path {
    const cairn_lcp *lcp;
    int cover; /* which covering vector */
} path;

static double *row_of(const tableau *t, int r)
{
    return t->entry + (size_t)r * t->width;
}

const char *cairn_lemke_words(cairn_lemke_end end)
{
    static const char *const words[] = { NULL, "ended on a ray: the problem looks infeasible",
                                         "iterations or time used up",
                                         "free unknowns contradict each other",
                                         "the path was lost to rounding" };
    return words[end];
}

bool cairn_lemke_fits(int64_t size)
{
    return size <= 3500;
}

/* ---- setting up ----------------------------------------------------------------------------- */

static cairn_status take_tableau(int n, cairn_arena *arena, tableau *t)
{
    size_t rows = (size_t)n;
    t->n = n;
    t->width = rows + 3;
    t->entry = cairn_arena_take(arena, rows * t->width, sizeof(double));
    t->basic = cairn_arena_take(arena, rows, sizeof(int));
    t->nonbasic = cairn_arena_take(arena, rows + 1, sizeof(int));
    t->place = cairn_arena_take(arena, 2 * rows + 1, sizeof(int));
    t->settled = cairn_arena_take(arena, rows, sizeof(bool));
    t->wanted = cairn_arena_take(arena, 2 * rows + 1, sizeof(bool));
    t->was_settled = cairn_arena_take(arena, 2 * rows + 1, sizeof(bool));
    t->scale = cairn_arena_take(arena, rows, sizeof(double));
    bool taken = t->entry && t->basic && t->nonbasic && t->place && t->settled && t->wanted &&
                 t->was_settled && t->scale;
    return taken ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* (0) scale_i = A_ii^-1/2; where A_ii is 0, such that its largest scaled entry is 1 */
static void choose_scale(const cairn_lcp *lcp, double *scale)
{
    size_t n = (size_t)lcp->size;
    for (size_t i = 0; i < n; i++)
        scale[i] = lcp->A[i * n + i] > 0 ? 1 / sqrt(lcp->A[i * n + i]) : 0;
    for (size_t i = 0; i < n; i++) {
        double largest = 0;
        for (size_t j = 0; scale[i] == 0 && j < n; j++)
            largest =
                fmax(largest, fabs(lcp->A[i * n + j]) * (lcp->A[j * n + j] > 0 ? scale[j] : 0));
        if (scale[i] == 0)
            scale[i] = largest > 0 ? 1 / largest : 1;
    }
}

static void fill_tableau(const cairn_lcp *lcp, int cover, tableau *t)
{
    uint64_t state = (uint64_t)cover;
    int n = t->n;
    double largest = 0;
    choose_scale(lcp, t->scale);
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs(lcp->a[i] * t->scale[i]));
    for (int i = 0; i < n; i++) {
        double *row = row_of(t, i);
        for (int j = 0; j < n; j++)
            row[j] = t->scale[i] * lcp->A[(size_t)i * (size_t)n + (size_t)j] * t->scale[j];
        row[n] = cairn_random_between(&state, 1, 2);
        row[n + 1] = largest > 0 ? lcp->a[i] * t->scale[i] / largest : 0;
        row[n + 2] = cairn_random_between(&state, 1, 2);
        t->basic[i] = i;
        t->nonbasic[i] = n + i;
        t->place[i] = i;
        t->place[n + i] = n + i;
        t->settled[i] = false;
    }
    t->nonbasic[n] = 2 * n;
    t->place[2 * n] = 2 * n;
    t->age = 0;
}

/* ---- pivoting ------------------------------------------------------------------------------- */

/* row += factor pivot_row; a difference within rounding becomes 0 */
static void eliminate(size_t width, double factor, const double *pivot_row, double *row)
{
    for (size_t j = 0; j < width; j++) {
        double term = factor * pivot_row[j], sum = row[j] + term;
        row[j] = fabs(sum) <= rounding * fabs(term) ? 0 : sum;
    }
}

/* Column c enters, row r leaves. */
static void pivot(tableau *t, int r, int c)
{
    double *row = row_of(t, r), inverse = 1 / row[c];
    for (size_t j = 0; j < t->width; j++)
        row[j] *= -inverse;
    row[c] = inverse;
    for (int i = 0; i < t->n; i++) {
        double *other = row_of(t, i), factor = other[c];
        if (i == r || factor == 0)
            continue;
        other[c] = 0;
        eliminate(t->width, factor, row, other);
    }
    int leaving = t->basic[r];
    t->basic[r] = t->nonbasic[c];
    t->nonbasic[c] = leaving;
    t->place[t->basic[r]] = r;
    t->place[leaving] = t->n + c;
    t->age++;
}

/* Entry (r, j) of the inverse of the basis: minus the column of w_j, or a unit vector's. */
static double inverse_entry(const tableau *t, int r, int j)
{
    int place = t->place[j];
    return place < t->n ? place == r : -row_of(t, r)[place - t->n];
}

/* Whether (constant, its perturbation, row of B^-1)/|entry in c| of row r is less than row s's. */
static bool lexicographically_less(const tableau *t, int c, int r, int s)
{
    double over_r = fabs(row_of(t, r)[c]), over_s = fabs(row_of(t, s)[c]);
    double left = row_of(t, r)[t->n + 1] / over_r, right = row_of(t, s)[t->n + 1] / over_s;
    if (left == right) {
        left = row_of(t, r)[t->n + 2] / over_r;
        right = row_of(t, s)[t->n + 2] / over_s;
    }
    for (int j = 0; left == right && j < t->n; j++) {
        left = inverse_entry(t, r, j) / over_r;
        right = inverse_entry(t, s, j) / over_s;
    }
    return left < right;
}

static double largest_in_column(const tableau *t, int c)
{
    double largest = 0;
    for (int r = 0; r < t->n; r++)
        largest = fmax(largest, fabs(row_of(t, r)[c]));
    return largest;
}

/* The row that leaves when column c enters, -1: none. `sign` -1: rows where it decreases (2),
 * +1: where it increases (1). */
static int leaving_row(const tableau *t, int c, int sign)
{
    int best = -1;
    double least = least_pivot * largest_in_column(t, c);
    for (int r = 0; r < t->n; r++) {
        if (t->settled[r] || !(sign * row_of(t, r)[c] > least))
            continue;
        if (best < 0 || lexicographically_less(t, c, r, best))
            best = r;
    }
    /* z0 may leave if it ties for the least: the solution is reached */
    int z0 = t->place[2 * t->n];
    if (best < 0 || z0 >= t->n || !(sign * row_of(t, z0)[c] > least))
        return best;
    double ratio = row_of(t, best)[t->n + 1] / fabs(row_of(t, best)[c]);
    return row_of(t, z0)[t->n + 1] / fabs(row_of(t, z0)[c]) <= ratio ? z0 : best;
}

/* ---- (0) free unknowns ---------------------------------------------------------------------- */

/* The largest entry between rows and columns of free unknowns that are still to settle. */
static double largest_free(const tableau *t, const bool *is_free, int *r, int *c)
{
    double largest = 0;
    for (int i = 0; i < t->n; i++)
        for (int j = 0; is_free[i] && !t->settled[i] && j < t->n; j++) {
            bool enters = t->nonbasic[j] >= t->n && is_free[t->nonbasic[j] - t->n];
            double entry = enters ? fabs(row_of(t, i)[j]) : 0;
            if (entry > largest) {
                largest = entry;
                *r = i;
                *c = j;
            }
        }
    return largest;
}

/* False when a row that no free unknown can move is not satisfied. A settled row must not move
 * with others: its unknown w_i is 0 from now on. */
static bool settle_free(const bool *is_free, tableau *t)
{
    int r = 0, c = 0;
    while (largest_free(t, is_free, &r, &c) > least_pivot) {
        pivot(t, r, c);
        t->settled[r] = true;
    }
    for (int i = 0; i < t->n; i++) {
        if (!is_free[i] || t->settled[i])
            continue;
        for (int j = 0; j < t->n; j++)
            if (t->nonbasic[j] >= t->n && fabs(row_of(t, i)[j]) > least_pivot)
                return false;
        if (fabs(row_of(t, i)[t->n + 1]) > least_pivot)
            return false;
        t->settled[i] = true;
    }
    return true;
}

/* ---- (1) and (2) ---------------------------------------------------------------------------- */

static bool constants_are_not_negative(const tableau *t)
{
    for (int r = 0; r < t->n; r++)
        if (!t->settled[r] && row_of(t, r)[t->n + 1] < 0)
            return false;
    return true;
}

/* Bring column c into the basis for the row with its largest entry among those whose unknown is not
 * wanted there. */
static bool exchange(tableau *t, const bool *wanted, int c)
{
    int best = -1;
    for (int r = 0; r < t->n; r++)
        if (!wanted[t->basic[r]] && (best < 0 || fabs(row_of(t, r)[c]) > fabs(row_of(t, best)[c])))
            best = r;
    if (best < 0 || !(fabs(row_of(t, best)[c]) > 0))
        return false;
    pivot(t, best, c);
    return true;
}

/* The tableau of the same basis anew from the data, by Gauss and Jordan with partial pivoting.
 * False when the basis turns out singular. */
static bool refresh(const path *route, tableau *t)
{
    bool *wanted = t->wanted, *settled = t->was_settled;
    memset(wanted, 0, (2 * (size_t)t->n + 1) * sizeof(bool));
    memset(settled, 0, (2 * (size_t)t->n + 1) * sizeof(bool));
    for (int r = 0; r < t->n; r++) {
        wanted[t->basic[r]] = true;
        settled[t->basic[r]] = t->settled[r];
    }
    fill_tableau(route->lcp, route->cover, t);
    for (int c = 0; c <= t->n; c++)
        if (wanted[t->nonbasic[c]] && !exchange(t, wanted, c))
            return false;
    for (int r = 0; r < t->n; r++)
        t->settled[r] = settled[t->basic[r]];
    t->age = 0;
    return true;
}

/* z0 is basic and 0 up to rounding: the solution is reached. It leaves, and of the nonbasic pair
 * w_i, z_i the one with the larger entry in its row enters. */
static bool take_out_cover(tableau *t, int leaving)
{
    int n = t->n, row = t->place[2 * n];
    if (row >= n || fabs(row_of(t, row)[n + 1]) > no_cover)
        return false;
    int w = t->place[leaving % n] - n, z = t->place[leaving % n + n] - n;
    int column = fabs(row_of(t, row)[w]) > fabs(row_of(t, row)[z]) ? w : z;
    if (fabs(row_of(t, row)[column]) > 0)
        pivot(t, row, column);
    return true;
}

/* The row that leaves for `column`. The tableau is recomputed first if necessary: regularly, before
 * a small pivot, and before a ray is accepted. *column follows its unknown. */
static int choose_row(const path *route, tableau *t, int sign, int *column)
{
    int unknown = t->nonbasic[*column], row = leaving_row(t, *column, sign);
    bool small =
        row < 0 || fabs(row_of(t, row)[*column]) < small_pivot * largest_in_column(t, *column);
    if (t->age == 0 || (!small && t->age < FRESH + t->n / 2))
        return row;
    if (!refresh(route, t))
        return -1;
    *column = t->place[unknown] - t->n;
    return leaving_row(t, *column, sign);
}

static cairn_lemke_end follow_path(const path *route, tableau *t, cairn_task *task)
{
    if (constants_are_not_negative(t))
        return CAIRN_LEMKE_SOLVED;
    int n = t->n, column = n, sign = 1;
    for (int64_t k = 0; k < MOST_ROUNDS * (int64_t)(n + 10) && cairn_task_may_go_on(task); k++) {
        int row = choose_row(route, t, sign, &column);
        if (row < 0)
            return CAIRN_LEMKE_RAY;
        int leaving = t->basic[row];
        pivot(t, row, column);
        task->report->iterations++;
        if (leaving == 2 * n || take_out_cover(t, leaving))
            return CAIRN_LEMKE_SOLVED;
        /* the complement enters */
        column = t->place[leaving < n ? leaving + n : leaving - n] - n;
        sign = -1;
    }
    return CAIRN_LEMKE_STOPPED;
}

/* ---- (3) the basic solution from the original data ------------------------------------------ */

/* The basic z, B, and their system. */
typedef struct basis {
    int size;
    int *member;
    int *pivot;
    double *factors, *rest, *x;
} basis;

static cairn_status take_basis(const tableau *t, cairn_arena *arena, basis *b)
{
    size_t n = (size_t)t->n;
    b->member = cairn_arena_take(arena, n, sizeof(int));
    b->pivot = cairn_arena_take(arena, n, sizeof(int));
    b->rest = cairn_arena_take(arena, n, sizeof(double));
    b->x = cairn_arena_take(arena, n, sizeof(double));
    b->factors = t->entry; /* in (3) the tableau is no longer needed */
    return b->member && b->pivot && b->rest && b->x ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* rest = -a_B - A_BB x, scaled */
static void basis_rest(const cairn_lcp *lcp, const double *scale, basis *b)
{
    for (int i = 0; i < b->size; i++) {
        size_t row = (size_t)b->member[i];
        long double sum = -lcp->a[row];
        for (int j = 0; j < b->size; j++)
            sum -= (long double)lcp->A[row * (size_t)lcp->size + (size_t)b->member[j]] *
                   scale[b->member[j]] * b->x[j];
        b->rest[i] = (double)sum * scale[row];
    }
}

static bool solve_basis(const cairn_lcp *lcp, const double *scale, basis *b)
{
    size_t size = (size_t)b->size, n = (size_t)lcp->size;
    for (size_t i = 0; i < size; i++)
        for (size_t j = 0; j < size; j++) {
            size_t row = (size_t)b->member[i], column = (size_t)b->member[j];
            b->factors[i * size + j] = scale[row] * lcp->A[row * n + column] * scale[column];
        }
    if (!cairn_dense_factor(b->size, b->factors, b->pivot))
        return false;
    memset(b->x, 0, size * sizeof(double));
    for (int round = 0; round < 2; round++) {
        basis_rest(lcp, scale, b);
        cairn_dense_solve(b->size, b->factors, b->pivot, b->rest);
        for (size_t i = 0; i < size; i++)
            b->x[i] += b->rest[i];
    }
    return true;
}

/* Largest |min(z, w)|, for free unknowns |w|, scaled, relative to the largest |a|. */
static double violation(const cairn_lcp *lcp, const double *scale, const double *z)
{
    size_t n = (size_t)lcp->size;
    double worst = 0, size = 0;
    for (size_t i = 0; i < n; i++) {
        double w = lcp->a[i];
        for (size_t j = 0; j < n; j++)
            w += lcp->A[i * n + j] * z[j];
        bool is_free = lcp->is_free && lcp->is_free[i];
        double miss = is_free ? scale[i] * w : fmin(z[i] / scale[i], scale[i] * w);
        worst = fmax(worst, fabs(miss));
        size = fmax(size, fabs(scale[i] * lcp->a[i]));
    }
    return size > 0 ? worst / size : worst;
}

static cairn_lemke_end refine(const cairn_lcp *lcp, const tableau *t, basis *b, double *z)
{
    memset(z, 0, (size_t)lcp->size * sizeof(double));
    b->size = 0;
    for (int i = 0; i < t->n; i++)
        if (t->place[t->n + i] < t->n)
            b->member[b->size++] = i;
    if (!solve_basis(lcp, t->scale, b))
        return CAIRN_LEMKE_LOST;
    for (int i = 0; i < b->size; i++) {
        int at = b->member[i];
        bool is_free = lcp->is_free && lcp->is_free[at];
        z[at] = t->scale[at] * (is_free ? b->x[i] : fmax(0, b->x[i]));
    }
    return violation(lcp, t->scale, z) <= most_violation ? CAIRN_LEMKE_SOLVED : CAIRN_LEMKE_LOST;
}

/* ---- the call ------------------------------------------------------------------------------- */

/* (0) to (3) with one covering vector */
static cairn_lemke_end attempt(const cairn_lcp *lcp, int cover, cairn_task *task, tableau *t,
                               basis *b, double *z)
{
    const path route = { lcp, cover };
    fill_tableau(lcp, cover, t);
    if (lcp->is_free && !settle_free(lcp->is_free, t))
        return CAIRN_LEMKE_SINGULAR;
    cairn_lemke_end end = follow_path(&route, t, task);
    return end == CAIRN_LEMKE_SOLVED ? refine(lcp, t, b, z) : end;
}

cairn_status cairn_lemke(const cairn_lcp *lcp, cairn_task *task, double *z, cairn_lemke_end *end)
{
    tableau t;
    basis b;
    if (!cairn_lcp_is_finite(lcp))
        return CAIRN_NOT_FINITE;
    TRY(take_tableau(lcp->size, task->arena, &t));
    TRY(take_basis(&t, task->arena, &b));
    /* (4) */
    *end = CAIRN_LEMKE_LOST;
    for (int cover = 0; *end != CAIRN_LEMKE_SOLVED && cover < COVERS; cover++)
        *end = attempt(lcp, cover, task, &t, &b, z);
    if (*end != CAIRN_LEMKE_SOLVED)
        memset(z, 0, (size_t)lcp->size * sizeof(double));
    return CAIRN_OK;
}
