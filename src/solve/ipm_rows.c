/* ipm_rows.c - see ipm_rows.h.
 *
 * Newton's equations of a row, with dg_0 = dx = -dg_1:
 *     dz_s = c_s/g_s - (z_s/g_s) dg_s,    dy = dz_0 - dz_1 = sum +-c_s/g_s - (sum z_s/g_s) dx,
 * so the row enters the system of the cones with P^-2 = sum z_s/g_s. Compliance and regularisation
 * are added to P^-2, which makes it positive for rows without bounds as well. */
#include "solve/ipm_rows.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "problem/operator.h"
#include "solve/ipm_cone.h"

static const double least_delta = 1e-10; /* of rows without bounds */

/* dg_s is this times dx */
static double sign_of(int s)
{
    return s ? -1 : 1;
}

/* ---- the list ------------------------------------------------------------------------------- */

static void list(cairn_cones *cones)
{
    const cairn_problem *p = cones->p;
    cairn_cone_rows *rows = &cones->rows;
    rows->count = 0;
    for (int j = 0; j < p->contacts; j++) {
        double w[CAIRN_MAX_DIMENSION];
        int k = cones->start[j];
        if (cones->kind[j] == CAIRN_CONE_ROWS)
            cairn_contact_scales(p, j, w);
        for (int i = 0; cones->kind[j] == CAIRN_CONE_ROWS && i < p->dimension; i++) {
            int at = j * p->dimension + i;
            if (p->lower[at] == p->upper[at])
                continue;
            rows->list[rows->count++] = k;
            rows->row[k] = at;
            rows->w[k++] = w[i];
        }
    }
}

cairn_status cairn_cones_list_rows(cairn_cones *cones, cairn_arena *arena)
{
    cairn_cone_rows *rows = &cones->rows;
    bool any = false;
    for (int j = 0; j < cones->p->contacts; j++)
        any = any || cones->kind[j] == CAIRN_CONE_ROWS;
    if (!any)
        return CAIRN_OK;
    double **arrays[] = { &rows->w,       &rows->gap[0], &rows->gap[1], &rows->z[0],
                          &rows->z[1],    &rows->c[0],   &rows->c[1],   &rows->kept[0],
                          &rows->kept[1], &rows->dz[0],  &rows->dz[1] };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = cairn_arena_doubles(arena, cones->count)))
            return CAIRN_NO_MEMORY;
    rows->list = cairn_arena_take(arena, cones->count, sizeof(int32_t));
    rows->row = cairn_arena_take(arena, cones->count, sizeof(int32_t));
    if (!rows->list || !rows->row)
        return CAIRN_NO_MEMORY;
    list(cones);
    return CAIRN_OK;
}

/* ---- start ---------------------------------------------------------------------------------- */

void cairn_cones_start_rows(cairn_cones *cones, double amount, double *d)
{
    cairn_cone_rows *rows = &cones->rows;
    for (int i = 0; i < rows->count; i++) {
        int k = rows->list[i];
        double lower = cones->p->lower[rows->row[k]], upper = cones->p->upper[rows->row[k]];
        double away = amount / sqrt(rows->w[k]);
        if (isinf(lower) && isinf(upper))
            d[k] = 0;
        else if (isinf(upper))
            d[k] = lower + away;
        else if (isinf(lower))
            d[k] = upper - away;
        else
            d[k] = 0.5 * (lower + upper);
        rows->gap[0][k] = -lower; /* at x = 0 */
        rows->gap[1][k] = upper;
    }
}

void cairn_cones_start_sides(cairn_cones *cones, double t, const double *u, double *d)
{
    cairn_cone_rows *rows = &cones->rows;
    for (int i = 0; i < rows->count; i++) {
        int k = rows->list[i];
        for (int s = 0; s < 2; s++) {
            rows->z[s][k] = t / rows->gap[s][k]; /* 0 without a bound */
            rows->dz[s][k] = 0;
        }
        /* a bound on one side that is far from acting: its velocity is known already */
        for (int s = 0; s < 2; s++)
            if (isinf(rows->gap[1 - s][k]) && isfinite(rows->gap[s][k]))
                rows->z[s][k] = fmax(rows->z[s][k], sign_of(s) * u[k]);
        d[k] = rows->z[0][k] - rows->z[1][k];
    }
}

/* ---- one step ------------------------------------------------------------------------------- */

bool cairn_cones_scale_rows(cairn_cones *cones, double delta, double *l)
{
    cairn_cone_rows *rows = &cones->rows;
    for (int i = 0; i < rows->count; i++) {
        int k = rows->list[i];
        double eps = cones->p->compliance ? cones->p->compliance[rows->row[k]] : 0, sum = eps;
        for (int s = 0; s < 2; s++) {
            double gap = rows->gap[s][k], z = rows->z[s][k];
            if (!(gap > 0) || (isfinite(gap) && !(z > 0)))
                return false;
            sum += z / gap;
        }
        bool equation = isinf(rows->gap[0][k]) && isinf(rows->gap[1][k]);
        cones->root[k] = 1 / sqrt(sum + rows->w[k] * (equation ? fmax(delta, least_delta) : delta));
        cones->damping[k] = 1;
        l[k] = 0;
    }
    return true;
}

double cairn_cones_product_rows(const cairn_cones *cones)
{
    const cairn_cone_rows *rows = &cones->rows;
    double sum = 0;
    for (int i = 0; i < rows->count; i++)
        for (int s = 0; s < 2; s++) {
            int k = rows->list[i];
            sum += isfinite(rows->gap[s][k]) ? rows->gap[s][k] * rows->z[s][k] : 0;
        }
    return sum;
}

void cairn_cones_aim_rows(cairn_cones *cones, double centring, bool corrected, const double *dx,
                          double *d)
{
    cairn_cone_rows *rows = &cones->rows;
    for (int i = 0; i < rows->count; i++) {
        int k = rows->list[i];
        double step = corrected ? cones->root[k] * dx[k] : 0;
        d[k] = 0;
        for (int s = 0; s < 2; s++) {
            double gap = rows->gap[s][k];
            if (!isfinite(gap))
                continue;
            rows->c[s][k] = centring - gap * rows->z[s][k] - sign_of(s) * step * rows->dz[s][k];
            d[k] += cones->root[k] * sign_of(s) * rows->c[s][k] / gap;
        }
    }
}

void cairn_cones_keep_rows(cairn_cones *cones)
{
    for (int s = 0; cones->rows.count && s < 2; s++)
        memcpy(cones->rows.kept[s], cones->rows.c[s], cones->count * sizeof(double));
}

void cairn_cones_restore_rows(cairn_cones *cones)
{
    for (int s = 0; cones->rows.count && s < 2; s++)
        memcpy(cones->rows.c[s], cones->rows.kept[s], cones->count * sizeof(double));
}

double cairn_cones_reach_rows(cairn_cones *cones, const double *dx)
{
    cairn_cone_rows *rows = &cones->rows;
    double reach = 1;
    for (int i = 0; i < rows->count; i++) {
        int k = rows->list[i];
        for (int s = 0; s < 2; s++) {
            double gap = rows->gap[s][k], z = rows->z[s][k];
            double step = sign_of(s) * cones->root[k] * dx[k];
            if (!isfinite(gap))
                continue;
            rows->dz[s][k] = (rows->c[s][k] - z * step) / gap;
            reach = fmax(reach, fmax(-step / gap, -rows->dz[s][k] / z));
        }
    }
    return reach;
}

void cairn_cones_move_rows(cairn_cones *cones, bool impulses, double length, const double *d,
                           double *x)
{
    cairn_cone_rows *rows = &cones->rows;
    for (int i = 0; i < rows->count; i++) {
        int k = rows->list[i];
        double *gap0 = &rows->gap[0][k], *gap1 = &rows->gap[1][k];
        if (!impulses) {
            for (int s = 0; s < 2; s++)
                rows->z[s][k] += length * rows->dz[s][k];
            x[k] = rows->z[0][k] - rows->z[1][k];
            continue;
        }
        *gap0 += length * d[k];
        *gap1 -= length * d[k];
        x[k] += length * d[k];
        if (isfinite(*gap0) && *gap0 <= *gap1) /* from the nearer bound: no rounding outside */
            x[k] = cones->p->lower[rows->row[k]] + *gap0;
        else if (isfinite(*gap1))
            x[k] = cones->p->upper[rows->row[k]] - *gap1;
    }
}
