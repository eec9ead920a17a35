/* ipm_rows.h - rows with bounds in the interior point method.
 *
 * A row has the variable x = r, and for each of its two bounds that is finite a distance and a
 * velocity, both > 0:
 *     g_0 = x - lower, z_0;   g_1 = upper - x, z_1;   y = z_0 - z_1;   g_s z_s = t on the path.
 * A row without bounds has neither: y = 0. Its z in the arrays of the cones is z_0 - z_1. */
#ifndef CAIRN_SOLVE_IPM_ROWS_H
#define CAIRN_SOLVE_IPM_ROWS_H

#include "base/arena.h"
#include "cairn/problem.h"

typedef struct cairn_cones cairn_cones;

/* One number for each variable of the cones; only those of rows are used. */
typedef struct cairn_cone_rows {
    int count;       /* variables that are rows; 0: the arrays are not there                 */
    int32_t *list;   /* count: the variables                                                 */
    int32_t *row;    /* of a variable: its component, dimension * contact + i                */
    double *w;       /* its W_ii, kg^-1                                                      */
    double *gap[2];  /* g_s, N s; INFINITY where there is no bound                           */
    double *z[2];    /* z_s, m/s; 0 where there is no bound                                  */
    double *c[2];    /* g_s dz_s + z_s dg_s is to be this                                    */
    double *kept[2]; /* c of the direction before                                            */
    double *dz[2];
} cairn_cone_rows;

/* List the rows once the variables of the cones are. */
cairn_status cairn_cones_list_rows(cairn_cones *cones, cairn_arena *arena);
/* d = the first x: in the middle of two bounds, `amount` w^-1/2 away from one, 0 without. */
void cairn_cones_start_rows(cairn_cones *cones, double amount, double *d);
/* z_s = t/g_s, where there is one bound at least the velocity u it has; d = z_0 - z_1 */
void cairn_cones_start_sides(cairn_cones *cones, double t, const double *u, double *d);
/* root = (sum z_s/g_s + eps + delta w)^-1/2: the eigenvalue of L for rows; false when outside */
bool cairn_cones_scale_rows(cairn_cones *cones, double delta, double *l);
/* sum g_s z_s */
double cairn_cones_product_rows(const cairn_cones *cones);
/* c_s = centring - g_s z_s - (last dg_s dz_s), without the last term when `corrected` is false;
 * d = root (c_0/g_0 - c_1/g_1) */
void cairn_cones_aim_rows(cairn_cones *cones, double centring, bool corrected, const double *dx,
                          double *d);
/* Keep c, or go back to it. */
void cairn_cones_keep_rows(cairn_cones *cones);
void cairn_cones_restore_rows(cairn_cones *cones);
/* dz_s of the scaled direction dx, and 1/t of the longest step, at least 1. */
double cairn_cones_reach_rows(cairn_cones *cones, const double *dx);
/* x, g_s or z_s moved by `length` times d or dz_s. */
void cairn_cones_move_rows(cairn_cones *cones, bool impulses, double length, const double *d,
                           double *x);

#endif
