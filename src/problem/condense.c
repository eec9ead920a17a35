/* condense.c - from a global problem to the local form: W = H' M^-1 H, q = H' M^-1 f + w. In global
 * problems H maps impulses to forces, that is, it is the transpose of the H of docs/notation.md.
 *
 * M^-1 is known part by part (last section), so W is a sum over the parts of M:
 * 1. for each part, the columns of H that touch it;
 * 2. G = H' M^-1 H restricted to the part and these columns, dense, one solve a column; when M is
 *    symmetric, half of G is mirrored, so W is symmetric to the last bit;
 * 3. row a of W is the sum of the rows of G over the parts that column a touches;
 * 4. q = w + H' v for the velocity v = M^-1 f.
 * The velocity of impulses r is v = M^-1 (f + H r), with the same factors. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/global.h"
#include "math/factor.h"
#include "problem/operator.h"

/* The result: the local problem, and the factors of M for cairn_condensed_velocity. The arrays of
 * the global problem g are the caller's and must outlive it. */
struct cairn_condensed {
    cairn_global g;
    cairn_mass_factor *mass;
    cairn_arena arena;
    cairn_matrix W;
    cairn_problem problem;
    double *b, *x; /* scratch for solves, as long as the largest part */
};

/* The columns of H that touch a part of M, and the contribution of the part to W among them. */
typedef struct share {
    int count;
    int32_t *column;
    double *G; /* count x count, by rows */
} share;

/* The data of one condensation. */
typedef struct condensing {
    const cairn_global *g;
    const cairn_mass_factor *mass;
    cairn_arena scratch;
    share *shares;    /* one for each part                                      */
    int32_t *seen;    /* per column: the part, later the row, that saw it last  */
    int32_t *local;   /* per column: its place among the columns of the part    */
    int32_t *touch;   /* parts and places of column a: from touched[a] in pairs */
    int64_t *touched; /* columns + 1                                            */
    double *sum;      /* per column: one row of W                               */
    double *b, *x;    /* the caller's, of one part                              */
} condensing;

/* ---- (1) columns of a part ------------------------------------------------------------------ */

/* `most` bounds the number of columns: all entries of the part's rows, or all columns. */
static cairn_status list_columns(condensing *c, int part)
{
    const cairn_matrix *H = &c->g->H;
    const cairn_mass_part *p = &c->mass->part[part];
    share *s = &c->shares[part];
    int64_t most = 0;
    for (int i = 0; i < p->size; i++)
        most += H->start[p->member[i] + 1] - H->start[p->member[i]];
    if (most > H->columns)
        most = H->columns;
    s->column = cairn_arena_take(&c->scratch, (size_t)most, sizeof(int32_t));
    if (!s->column)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < p->size; i++)
        for (int64_t k = H->start[p->member[i]]; k < H->start[p->member[i] + 1]; k++) {
            int32_t a = H->column[k];
            if (c->seen[a] == part)
                continue;
            c->seen[a] = part;
            c->local[a] = s->count;
            s->column[s->count++] = a;
        }
    return CAIRN_OK;
}

/* ---- (2) the share of a part ---------------------------------------------------------------- */

/* b = column a of H within the part */
static void load_column(const condensing *c, const cairn_mass_part *p, int32_t a)
{
    const cairn_matrix *H = &c->g->H;
    for (int i = 0; i < p->size; i++)
        c->b[i] = cairn_sparse_entry(H, p->member[i], a);
}

/* Column `at` of G = H' x; for a symmetric M only from the diagonal down, the rest is mirrored. */
static void store_column(const condensing *c, const cairn_mass_part *p, int at, share *s)
{
    const cairn_matrix *H = &c->g->H;
    for (int i = 0; i < p->size; i++)
        for (int64_t k = H->start[p->member[i]]; k < H->start[p->member[i] + 1]; k++) {
            int row = c->local[H->column[k]];
            if (row >= at || c->mass->asymmetry > 0)
                s->G[(size_t)row * (size_t)s->count + (size_t)at] += H->value[k] * c->x[i];
        }
}

static void mirror(share *s)
{
    size_t n = (size_t)s->count;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            s->G[j * n + i] = s->G[i * n + j];
}

static cairn_status form_share(condensing *c, int part)
{
    const cairn_mass_part *p = &c->mass->part[part];
    share *s = &c->shares[part];
    TRY(list_columns(c, part));
    s->G = cairn_arena_doubles(&c->scratch, (size_t)s->count * (size_t)s->count);
    if (!s->G)
        return CAIRN_NO_MEMORY;
    for (int at = 0; at < s->count; at++) {
        load_column(c, p, s->column[at]);
        TRY(cairn_mass_factor_solve(c->mass, part, c->b, c->x));
        store_column(c, p, at, s);
    }
    if (c->mass->asymmetry == 0)
        mirror(s);
    return CAIRN_OK;
}

/* ---- (3) the sum ---------------------------------------------------------------------------- */

/* For each column, the parts that it touches and its index there: a counting sort. The counts are
 * stored two places on, so that after filling `touched` holds the starts. */
static cairn_status list_touches(condensing *c)
{
    int columns = c->g->H.columns;
    int64_t count = 0;
    c->touched = cairn_arena_take(&c->scratch, (size_t)columns + 2, sizeof(int64_t));
    for (int part = 0; part < c->mass->parts; part++)
        count += c->shares[part].count;
    c->touch = cairn_arena_take(&c->scratch, 2 * (size_t)count, sizeof(int32_t));
    if (!c->touched || !c->touch)
        return CAIRN_NO_MEMORY;
    memset(c->touched, 0, ((size_t)columns + 2) * sizeof(int64_t));
    for (int part = 0; part < c->mass->parts; part++)
        for (int k = 0; k < c->shares[part].count; k++)
            c->touched[c->shares[part].column[k] + 2]++;
    for (int a = 0; a <= columns; a++)
        c->touched[a + 1] += c->touched[a];
    for (int part = 0; part < c->mass->parts; part++)
        for (int32_t k = 0; k < c->shares[part].count; k++) {
            int64_t at = c->touched[c->shares[part].column[k] + 1]++;
            c->touch[2 * at] = part;
            c->touch[2 * at + 1] = k;
        }
    return CAIRN_OK;
}

static int ascending(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Row a of W: its columns, unsorted, into `column`, its values into c->sum by column; returns the
 * number of entries. c->seen marks the columns of this row, so that c->sum need not be cleared. */
static int add_row(condensing *c, int a, int32_t *column)
{
    int count = 0;
    for (int64_t t = c->touched[a]; t < c->touched[a + 1]; t++) {
        const share *s = &c->shares[c->touch[2 * t]];
        const double *G = s->G + (size_t)c->touch[2 * t + 1] * (size_t)s->count;
        for (int k = 0; k < s->count; k++) {
            int32_t b = s->column[k];
            if (c->seen[b] != a) {
                c->seen[b] = a;
                column[count++] = b;
                c->sum[b] = 0;
            }
            c->sum[b] += G[k];
        }
    }
    return count;
}

/* The number of entries of W: its rows are formed once to count, and again to store. */
static int64_t count_entries(condensing *c, int32_t *column)
{
    int64_t entries = 0;
    for (int a = 0; a < c->g->H.columns; a++)
        entries += add_row(c, a, column);
    return entries;
}

static void forget_seen(condensing *c)
{
    if (c->g->H.columns)
        memset(c->seen, 0xff, (size_t)c->g->H.columns * sizeof(int32_t)); /* -1 */
}

static cairn_status add_shares(condensing *c, cairn_condensed *out)
{
    int size = c->g->H.columns;
    int32_t *row = cairn_arena_take(&c->scratch, (size_t)size, sizeof(int32_t));
    if (!row)
        return CAIRN_NO_MEMORY;
    forget_seen(c);
    size_t entries = (size_t)count_entries(c, row);
    int64_t *start = cairn_arena_take(&out->arena, (size_t)size + 1, sizeof(int64_t));
    int32_t *column = cairn_arena_take(&out->arena, entries, sizeof(int32_t));
    double *value = cairn_arena_take(&out->arena, entries, sizeof(double));
    if (!start || !column || !value)
        return CAIRN_NO_MEMORY;
    forget_seen(c);
    start[0] = 0;
    for (int a = 0; a < size; a++) {
        int count = add_row(c, a, column + start[a]);
        qsort(column + start[a], (size_t)count, sizeof(int32_t), ascending);
        start[a + 1] = start[a] + count;
        for (int64_t k = start[a]; k < start[a + 1]; k++)
            value[k] = c->sum[column[k]];
    }
    out->W = (cairn_matrix){ size, size, start, column, value };
    return CAIRN_OK;
}

static cairn_status form_W(condensing *c, cairn_condensed *out)
{
    size_t columns = (size_t)c->g->H.columns;
    c->shares = cairn_arena_take(&c->scratch, (size_t)c->mass->parts, sizeof(share));
    c->seen = cairn_arena_take(&c->scratch, columns, sizeof(int32_t));
    c->local = cairn_arena_take(&c->scratch, columns, sizeof(int32_t));
    c->sum = cairn_arena_doubles(&c->scratch, columns);
    if (!c->shares || !c->seen || !c->local || !c->sum)
        return CAIRN_NO_MEMORY;
    if (c->mass->parts)
        memset(c->shares, 0, (size_t)c->mass->parts * sizeof(share));
    forget_seen(c);
    for (int part = 0; part < c->mass->parts; part++)
        TRY(form_share(c, part));
    TRY(list_touches(c));
    return add_shares(c, out);
}

/* ---- (4) velocities ------------------------------------------------------------------------- */

/* v = M^-1 (f + H r); r NULL: none */
static cairn_status velocity(cairn_condensed *c, const double *r, double *v)
{
    const cairn_matrix *H = &c->g.H;
    for (int part = 0; part < c->mass->parts; part++) {
        const cairn_mass_part *p = &c->mass->part[part];
        for (int i = 0; i < p->size; i++) {
            int row = p->member[i];
            c->b[i] = c->g.f[row];
            for (int64_t k = H->start[row]; r && k < H->start[row + 1]; k++)
                c->b[i] += H->value[k] * r[H->column[k]];
        }
        TRY(cairn_mass_factor_solve(c->mass, part, c->b, c->x));
        for (int i = 0; i < p->size; i++)
            v[p->member[i]] = c->x[i];
    }
    return CAIRN_OK;
}

cairn_status cairn_condensed_velocity(cairn_condensed *condensed, const double *r, double *v)
{
    return velocity(condensed, r, v);
}

static cairn_status form_q(cairn_condensed *c, cairn_arena *scratch)
{
    const cairn_matrix *H = &c->g.H;
    double *q = cairn_arena_doubles(&c->arena, (size_t)H->columns);
    double *v = cairn_arena_doubles(scratch, (size_t)H->rows);
    if (!q || !v)
        return CAIRN_NO_MEMORY;
    TRY(velocity(c, NULL, v));
    for (int row = 0; row < H->rows; row++)
        for (int64_t k = H->start[row]; k < H->start[row + 1]; k++)
            q[H->column[k]] += H->value[k] * v[row];
    for (int a = 0; a < H->columns; a++)
        q[a] += c->g.w[a];
    c->problem.q = q;
    return CAIRN_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static cairn_status check(const cairn_global *g, cairn_error *error)
{
    if (g->dimension < 2 || g->dimension > CAIRN_MAX_DIMENSION)
        return cairn_fail(error, CAIRN_BAD_INPUT, "dimension", "found %d, expected 2 or 3",
                          g->dimension);
    if (g->contacts < 0 || g->contacts > INT_MAX / g->dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "contacts", "found %d", g->contacts);
    TRY(cairn_sparse_check(&g->M, "M", error));
    TRY(cairn_sparse_check(&g->H, "H", error));
    if (g->H.rows != g->M.rows || g->H.columns != g->dimension * g->contacts)
        return cairn_fail(error, CAIRN_BAD_INPUT, "H", "found %d x %d, expected %d x %d", g->H.rows,
                          g->H.columns, g->M.rows, g->dimension * g->contacts);
    if ((g->M.rows && !g->f) || (g->contacts && (!g->w || !g->mu)))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "an array is missing");
    for (int i = 0; i < g->M.rows; i++)
        if (!isfinite(g->f[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, "f", "entry %d of f is %g", i, g->f[i]);
    return CAIRN_OK;
}

static cairn_status take_scratch(cairn_condensed *c)
{
    int largest = 0;
    for (int part = 0; part < c->mass->parts; part++)
        if (c->mass->part[part].size > largest)
            largest = c->mass->part[part].size;
    c->b = cairn_arena_doubles(&c->arena, (size_t)largest);
    c->x = cairn_arena_doubles(&c->arena, (size_t)largest);
    return c->b && c->x ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status form(cairn_condensed *out, cairn_error *error)
{
    TRY(check(&out->g, error));
    TRY(cairn_mass_factor_create(&out->g.M, &out->mass, error));
    TRY(take_scratch(out));
    condensing c = { .g = &out->g, .mass = out->mass, .b = out->b, .x = out->x };
    cairn_status status = form_W(&c, out);
    if (status == CAIRN_OK)
        status = form_q(out, &c.scratch);
    cairn_arena_destroy(&c.scratch);
    TRY(status);
    const cairn_global *g = &out->g;
    out->problem = (cairn_problem){ .dimension = g->dimension,
                                    .rolling = g->rolling,
                                    .contacts = g->contacts,
                                    .W = &out->W,
                                    .q = out->problem.q,
                                    .mu = g->mu,
                                    .mu_rolling = g->mu_rolling,
                                    .bounded = g->bounded,
                                    .lower = g->lower,
                                    .upper = g->upper,
                                    .compliance = g->compliance };
    return cairn_problem_check(&out->problem, error);
}

cairn_status cairn_condense(const cairn_global *g, cairn_condensed **out, cairn_error *error)
{
    cairn_condensed *condensed = cairn_memory_zeroed(1, sizeof *condensed);
    *out = NULL;
    if (!condensed)
        return CAIRN_NO_MEMORY;
    condensed->g = *g;
    cairn_status status = form(condensed, error);
    if (status == CAIRN_OK)
        *out = condensed;
    else
        cairn_condensed_destroy(condensed);
    return status;
}

const cairn_problem *cairn_condensed_problem(const cairn_condensed *condensed)
{
    return &condensed->problem;
}

double cairn_condensed_asymmetry(const cairn_condensed *condensed)
{
    return condensed->mass->asymmetry;
}

void cairn_condensed_destroy(cairn_condensed *condensed)
{
    if (!condensed)
        return;
    cairn_mass_factor_destroy(condensed->mass);
    cairn_arena_destroy(&condensed->arena);
    cairn_memory_free(condensed);
}

/* ---- a general mass matrix ------------------------------------------------------------------- */

/* M^-1 of a general positive definite mass matrix.
 *
 * 1. Parts: sets of degrees of freedom that the entries of M connect. A diagonal M has parts of one
 *    degree of freedom, rigid bodies have one part each, a mesh is one part.
 * 2. Symmetry: the largest |M_ij - M_ji| / sqrt(M_ii M_jj). Matrices that went through single
 *    precision, or of which only one triangle was stored, are not symmetric.
 * 3. S = (M + M')/2 must be positive definite. It is factored part by part: small parts dense
 *    (L D L'), large ones sparse (CHOLMOD).
 * 4. When M is symmetric these factors give M^-1; else M itself is factored by LU. */

enum { MOST_DENSE = 48 }; /* degrees of freedom of the largest part that is factored densely */

/* ---- (1) parts ------------------------------------------------------------------------------ */

/* The representative of i in a union-find forest, with path halving. */
static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* parent[i] = smallest degree of freedom connected with i */
static void connect(const cairn_matrix *M, int32_t *parent)
{
    for (int32_t i = 0; i < M->rows; i++)
        parent[i] = i;
    for (int32_t i = 0; i < M->rows; i++)
        for (int64_t k = M->start[i]; k < M->start[i + 1]; k++) {
            int32_t a = root_of(parent, i), b = root_of(parent, M->column[k]);
            parent[a > b ? a : b] = a > b ? b : a;
        }
    for (int32_t i = 0; i < M->rows; i++)
        parent[i] = root_of(parent, i);
}

/* Number the parts and list their members, ascending. */
static cairn_status list_parts(cairn_mass_factor *mass)
{
    int n = mass->M->rows;
    int32_t *parent = cairn_arena_take(&mass->arena, (size_t)n, sizeof(int32_t));
    int32_t *member = cairn_arena_take(&mass->arena, (size_t)n, sizeof(int32_t));
    int32_t *number = cairn_arena_take(&mass->arena, (size_t)n, sizeof(int32_t));
    mass->place = cairn_arena_take(&mass->arena, (size_t)n, sizeof(int32_t));
    if (!parent || !member || !number || !mass->place)
        return CAIRN_NO_MEMORY;
    connect(mass->M, parent);
    for (int i = 0; i < n; i++) /* a root comes before the rest of its part */
        number[i] = parent[i] == i ? mass->parts++ : number[parent[i]];
    mass->part = cairn_arena_take(&mass->arena, (size_t)mass->parts, sizeof(cairn_mass_part));
    if (!mass->part)
        return CAIRN_NO_MEMORY;
    if (mass->parts)
        memset(mass->part, 0, (size_t)mass->parts * sizeof(cairn_mass_part));
    for (int i = 0; i < n; i++)
        mass->place[i] = mass->part[number[i]].size++;
    for (int k = 0, first = 0; k < mass->parts; first += mass->part[k++].size)
        mass->part[k].member = member + first;
    for (int i = 0; i < n; i++)
        member[mass->part[number[i]].member - member + mass->place[i]] = i;
    return CAIRN_OK;
}

/* ---- (2) symmetry --------------------------------------------------------------------------- */

static cairn_status check_diagonal(const cairn_matrix *M, cairn_error *error)
{
    for (int i = 0; i < M->rows; i++) {
        double diagonal = cairn_sparse_entry(M, i, i);
        if (!(diagonal > 0))
            return cairn_fail(error, CAIRN_BAD_INPUT, "M",
                              "not positive definite: entry (%d, %d) is %g", i, i, diagonal);
    }
    return CAIRN_OK;
}

/* 0 if M is symmetric to the last bit: only then half of the work may be mirrored. */
static double asymmetry(const cairn_matrix *M)
{
    double largest = 0;
    for (int i = 0; i < M->rows; i++)
        for (int64_t k = M->start[i]; k < M->start[i + 1]; k++) {
            int j = M->column[k];
            double differ = fabs(M->value[k] - cairn_sparse_entry(M, j, i));
            if (differ > 0)
                largest = fmax(largest, differ / sqrt(cairn_sparse_entry(M, i, i) *
                                                      cairn_sparse_entry(M, j, j)));
        }
    return largest;
}

/* ---- (3) factors ---------------------------------------------------------------------------- */

static cairn_status not_positive(const cairn_mass_part *part, cairn_error *error)
{
    return cairn_fail(error, CAIRN_BAD_INPUT, "M",
                      "not positive definite: no Cholesky factor of the %d degrees of freedom "
                      "connected with number %d",
                      part->size, part->member[0]);
}

/* L D L' = S in place, S in the lower triangle, D on the diagonal; false if a pivot is not above
 * the rounding of its diagonal entry. Without square roots, so that for a part of one degree of
 * freedom x = b/m exactly. */
static bool factor_dense(int n, double *L)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = L[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= L[i * n + k] * L[k * n + k] * L[j * n + k];
            if (i == j && !(sum > n * DBL_EPSILON * L[i * n + i]))
                return false;
            L[i * n + j] = i == j ? sum : sum / L[j * n + j];
        }
    return true;
}

static cairn_status create_dense(cairn_mass_factor *mass, cairn_mass_part *part, cairn_error *error)
{
    const cairn_matrix *M = mass->M;
    int n = part->size;
    part->L = cairn_arena_doubles(&mass->arena, (size_t)(n * n));
    if (!part->L)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < n; i++)
        for (int64_t k = M->start[part->member[i]]; k < M->start[part->member[i] + 1]; k++) {
            int j = mass->place[M->column[k]];
            /* both M_ij and M_ji arrive here: half of each is S_ij */
            part->L[(i > j ? i : j) * n + (i > j ? j : i)] += (i == j ? 1 : 0.5) * M->value[k];
        }
    return factor_dense(n, part->L) ? CAIRN_OK : not_positive(part, error);
}

/* The matrix of one part: that of M, or the upper triangle of S = (M + M')/2, where the halves of
 * M_ij and M_ji are added at the same place. */
static cairn_status part_matrix(const cairn_mass_factor *mass, const cairn_mass_part *part,
                                bool symmetric, cairn_arena *scratch, cairn_matrix *out)
{
    const cairn_matrix *M = mass->M;
    int64_t count = 0, at = 0;
    for (int i = 0; i < part->size; i++)
        count += M->start[part->member[i] + 1] - M->start[part->member[i]];
    int32_t *row = cairn_arena_take(scratch, (size_t)count, sizeof(int32_t));
    int32_t *column = cairn_arena_take(scratch, (size_t)count, sizeof(int32_t));
    double *value = cairn_arena_take(scratch, (size_t)count, sizeof(double));
    if (!row || !column || !value)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < part->size; i++)
        for (int64_t k = M->start[part->member[i]]; k < M->start[part->member[i] + 1]; k++, at++) {
            int j = mass->place[M->column[k]];
            bool swap = symmetric && j < i;
            row[at] = swap ? j : i;
            column[at] = swap ? i : j;
            value[at] = (symmetric && i != j ? 0.5 : 1) * M->value[k];
        }
    cairn_triplets entries = { count, row, column, value };
    return cairn_sparse_gather(part->size, part->size, &entries, scratch, out);
}

static cairn_status create_sparse(const cairn_mass_factor *mass, cairn_mass_part *part,
                                  cairn_arena *scratch, cairn_error *error)
{
    cairn_matrix S;
    bool positive;
    TRY(cairn_cholesky_create(&part->cholesky));
    TRY(part_matrix(mass, part, true, scratch, &S));
    TRY(cairn_cholesky_factor(part->cholesky, &S, &positive));
    return positive ? CAIRN_OK : not_positive(part, error);
}

static cairn_status create_lu(const cairn_mass_factor *mass, cairn_mass_part *part,
                              cairn_arena *scratch, cairn_error *error)
{
    cairn_matrix A;
    bool regular;
    TRY(cairn_lu_create(&part->lu));
    TRY(part_matrix(mass, part, false, scratch, &A));
    TRY(cairn_lu_factor(part->lu, &A, &regular));
    return regular ? CAIRN_OK : not_positive(part, error);
}

/* The factor of S is computed even if M is not symmetric: it shows whether M is acceptable. */
static cairn_status create_part(cairn_mass_factor *mass, cairn_mass_part *part,
                                cairn_arena *scratch, cairn_error *error)
{
    cairn_arena_reset(scratch);
    if (part->size <= MOST_DENSE)
        TRY(create_dense(mass, part, error));
    else
        TRY(create_sparse(mass, part, scratch, error));
    if (mass->asymmetry > 0 && part->size > 1)
        TRY(create_lu(mass, part, scratch, error));
    return CAIRN_OK;
}

/* ---- (4) solves ----------------------------------------------------------------------------- */

static void solve_dense(int n, const double *L, const double *b, double *x)
{
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int k = 0; k < i; k++)
            x[i] -= L[i * n + k] * x[k];
    }
    for (int i = n - 1; i >= 0; i--) {
        x[i] /= L[i * n + i];
        for (int k = i + 1; k < n; k++)
            x[i] -= L[k * n + i] * x[k];
    }
}

/* L D L' x = b by two triangular solves, or by the factors of a library. */
cairn_status cairn_mass_factor_solve(const cairn_mass_factor *mass, int part, const double *b,
                                     double *x)
{
    const cairn_mass_part *p = &mass->part[part];
    if (p->lu)
        return cairn_lu_solve(p->lu, b, x);
    if (p->cholesky)
        return cairn_cholesky_solve(p->cholesky, b, x);
    solve_dense(p->size, p->L, b, x);
    return CAIRN_OK;
}

/* ---- the object ----------------------------------------------------------------------------- */

/* On failure the caller destroys what was built. */
static cairn_status build(cairn_mass_factor *mass, cairn_error *error)
{
    const cairn_matrix *M = mass->M;
    if (M->rows != M->columns)
        return cairn_fail(error, CAIRN_BAD_INPUT, "M", "found %d x %d, expected a square matrix",
                          M->rows, M->columns);
    TRY(check_diagonal(M, error));
    mass->asymmetry = asymmetry(M);
    TRY(list_parts(mass));
    cairn_arena scratch = { 0 };
    cairn_status status = CAIRN_OK;
    for (int k = 0; k < mass->parts && status == CAIRN_OK; k++)
        status = create_part(mass, &mass->part[k], &scratch, error);
    cairn_arena_destroy(&scratch);
    return status;
}

cairn_status cairn_mass_factor_create(const cairn_matrix *M, cairn_mass_factor **out,
                                      cairn_error *error)
{
    cairn_mass_factor *mass = cairn_memory_zeroed(1, sizeof *mass);
    *out = mass;
    if (!mass)
        return CAIRN_NO_MEMORY;
    mass->M = M;
    cairn_status status = build(mass, error);
    if (status != CAIRN_OK) {
        cairn_mass_factor_destroy(mass);
        *out = NULL;
    }
    return status;
}

void cairn_mass_factor_destroy(cairn_mass_factor *mass)
{
    if (!mass)
        return;
    for (int k = 0; mass->part && k < mass->parts; k++) {
        cairn_cholesky_destroy(mass->part[k].cholesky);
        cairn_lu_destroy(mass->part[k].lu);
    }
    cairn_arena_destroy(&mass->arena);
    cairn_memory_free(mass);
}
