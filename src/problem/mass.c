/* mass.c - M^-1 of a general positive definite mass matrix.
 *
 * 1. Parts: sets of degrees of freedom that the entries of M connect. A diagonal M has parts of one
 *    degree of freedom, rigid bodies have one part each, a mesh is one part.
 * 2. Symmetry: the largest |M_ij - M_ji| / sqrt(M_ii M_jj). Matrices that went through single
 *    precision, or of which only one triangle was stored, are not symmetric.
 * 3. S = (M + M')/2 must be positive definite. It is factored part by part: small parts dense
 *    (L D L'), large ones sparse (CHOLMOD).
 * 4. When M is symmetric these factors give M^-1; else M itself is factored by LU. */
#include "problem/operator.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "math/factor.h"

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
