/* dense.c - LU factors of small dense matrices: Gaussian elimination with partial pivoting. */
#include "math/dense.h"

#include <math.h>
#include <stddef.h>

static int largest_below(int n, const double *A, int k)
{
    int best = k;
    for (int i = k + 1; i < n; i++)
        if (fabs(A[(size_t)i * (size_t)n + (size_t)k]) >
            fabs(A[(size_t)best * (size_t)n + (size_t)k]))
            best = i;
    return best;
}

static void swap_rows(int n, double *a, double *b)
{
    for (int j = 0; j < n && a != b; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

bool cairn_dense_factor(int n, double *A, int *pivot)
{
    for (int k = 0; k < n; k++) {
        double *row = A + (size_t)k * (size_t)n;
        pivot[k] = largest_below(n, A, k);
        swap_rows(n, row, A + (size_t)pivot[k] * (size_t)n);
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

void cairn_dense_solve(int n, const double *factors, const int *pivot, double *x)
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
