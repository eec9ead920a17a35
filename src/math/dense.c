/* dense.c - LU factors of small dense matrices, and principal axes of symmetric 3 x 3 ones. These
 * need no library; factor.c has those that do. */
#include <math.h>
#include <string.h>

#include "math/factor.h"
#include "math/vec.h"

/* ---- dense LU ---------------------------------------------------------------------------- */

/* LU factors of small dense matrices: Gaussian elimination with partial pivoting. */

/* The row, from k on, with the largest entry of column k: the pivot. */
ANYWHERE static int largest_below(int n, const double *A, int k)
{
    int best = k;
    for (int i = k + 1; i < n; i++)
        if (fabs(A[(size_t)i * (size_t)n + (size_t)k]) >
            fabs(A[(size_t)best * (size_t)n + (size_t)k]))
            best = i;
    return best;
}

ANYWHERE static void swap_rows(int n, double *a, double *b)
{
    for (int j = 0; j < n && a != b; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

ANYWHERE bool cairn_dense_factor(int n, double *A, int *pivot)
{
    for (int k = 0; k < n; k++) {
        double *row = A + (size_t)k * (size_t)n;
        pivot[k] = largest_below(n, A, k);
        swap_rows(n, row, A + (size_t)pivot[k] * (size_t)n);
        /* negated, so that a NaN fails as well */
        if (!(fabs(row[k]) > 0) || !isfinite(row[k]))
            return false;
        for (int i = k + 1; i < n; i++) {
            double *other = A + (size_t)i * (size_t)n;
            double factor = other[k] / row[k];
            other[k] = factor;
            if (factor == 0)
                continue;
            for (int j = k + 1; j < n; j++)
                other[j] -= factor * row[j];
        }
    }
    return true;
}

ANYWHERE void cairn_dense_solve(int n, const double *factors, const int *pivot, double *x)
{
    for (int k = 0; k < n; k++) {
        double t = x[k];
        x[k] = x[pivot[k]];
        x[pivot[k]] = t;
    }
    for (int i = 1; i < n; i++)
        for (int j = 0; j < i; j++)
            x[i] -= factors[(size_t)i * (size_t)n + (size_t)j] * x[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            x[i] -= factors[(size_t)i * (size_t)n + (size_t)j] * x[j];
        x[i] /= factors[(size_t)i * (size_t)n + (size_t)i];
    }
}

/* ---- principal axes ---------------------------------------------------------------------- */

/* Principal axes of a symmetric 3 x 3 matrix by Jacobi's rotations.
 *
 * Each rotation in the plane (i, j) by the angle with tan(2 t) = 2 a_ij / (a_jj - a_ii) makes a_ij
 * zero; sweeps over the three planes converge quadratically (Golub, Van Loan, section 8.5). */

enum { SWEEPS = 30 }; /* a safeguard; a handful is enough, since convergence is quadratic */

static double off_diagonal(double a[3][3])
{
    return sqrt(a[0][1] * a[0][1] + a[1][2] * a[1][2] + a[2][0] * a[2][0]);
}

/* A <- G' A G, V <- V G, with the rotation G that clears a_ij. */
static void rotate(double a[3][3], double v[3][3], int i, int j)
{
    if (a[i][j] == 0)
        return;
    /* t = tan of the smaller of the two angles, by the formula without cancellation */
    double theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        double ki = a[k][i], kj = a[k][j];
        a[k][i] = c * ki - s * kj;
        a[k][j] = s * ki + c * kj;
    }
    for (int k = 0; k < 3; k++) {
        double ik = a[i][k], jk = a[j][k];
        a[i][k] = c * ik - s * jk;
        a[j][k] = s * ik + c * jk;
        double vi = v[k][i], vj = v[k][j];
        v[k][i] = c * vi - s * vj;
        v[k][j] = s * vi + c * vj;
    }
    a[i][j] = a[j][i] = 0;
}

cairn_quat cairn_quat_of_columns(cairn_vec3 x, cairn_vec3 y, cairn_vec3 z)
{
    /* 4 w^2, 4 x^2, 4 y^2, 4 z^2. Dividing by the largest component is accurate for every rotation;
     * row k below is 4 q q_k, so that normalising does the division. Of q and -q, the same
     * rotation, the one with w >= 0 is returned. */
    double of[4] = { 1 + x.x + y.y + z.z, 1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z,
                     1 - x.x - y.y + z.z };
    int most = 0;
    for (int k = 1; k < 4; k++)
        most = of[k] > of[most] ? k : most;
    const cairn_quat q[4] = { { of[0], y.z - z.y, z.x - x.z, x.y - y.x },
                              { y.z - z.y, of[1], x.y + y.x, z.x + x.z },
                              { z.x - x.z, x.y + y.x, of[2], y.z + z.y },
                              { x.y - y.x, z.x + x.z, y.z + z.y, of[3] } };
    cairn_quat unit = cairn_quat_normalised(q[most]);
    return unit.w < 0 ? (cairn_quat){ -unit.w, -unit.x, -unit.y, -unit.z } : unit;
}

void cairn_eigen_symmetric(const cairn_symmetric *s, cairn_vec3 *values, cairn_quat *q)
{
    double a[3][3] = { { s->xx, s->xy, s->zx }, { s->xy, s->yy, s->yz }, { s->zx, s->yz, s->zz } };
    double v[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double size = fabs(s->xx) + fabs(s->yy) + fabs(s->zz) + off_diagonal(a);
    for (int k = 0; k < SWEEPS && off_diagonal(a) > 1e-15 * size; k++) {
        rotate(a, v, 0, 1);
        rotate(a, v, 1, 2);
        rotate(a, v, 0, 2);
    }
    *values = cairn_vec(a[0][0], a[1][1], a[2][2]);
    /* V is a product of rotations, so that its columns are right-handed */
    *q = cairn_quat_of_columns(cairn_vec(v[0][0], v[1][0], v[2][0]),
                               cairn_vec(v[0][1], v[1][1], v[2][1]),
                               cairn_vec(v[0][2], v[1][2], v[2][2]));
}
