/* ipm_cone.c - the cones and rows of the interior point method, see ipm.h.
 *
 * P of an edge is sqrt(x/z). On a circle, with det x = x_0^2 - |x_1|^2,
 *     x~ = x/sqrt(det x),  z~ = z/sqrt(det z),  g = sqrt((1 + x~'z~)/2),
 *     w = (x~ + J z~)/(2 g),  eta = (det x/det z)^1/4,  P^2 = eta^2 (2 w w' - J),
 * whose eigenvectors are (1, n), (1, -n) and (0, t), n along w_1 and t across; P has there the
 * eigenvalues eta k, eta/k and eta with k = w_0 + |w_1|. All operations with P work on them, so
 * that damping is accurate however far apart they are. Near the boundary, x_0 - |x_1| computed from
 * the stored numbers would be pure rounding; it is therefore stored separately as the slack, and
 * updated by the step. With it l = P z has no significant cancellation:
 *     l = (det x det z)^1/4 (g, ((g + z~_0) x~_1 + (g + x~_0) z~_1)/(x~_0 + z~_0 + 2 g)). */
#include "solve/systems.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "problem/operator.h"

/* ---- the list ------------------------------------------------------------------------------- */

static int edges_of(const cairn_problem *p, int j)
{
    return p->mu[j] == 0 ? 1 : p->dimension == 2 ? 2 : p->directions;
}

static int variables_of(const cairn_cones *cones, int j)
{
    return cones->start[j + 1] - cones->start[j];
}

static cairn_cone_kind kind_of(const cairn_problem *p, int j, double weight)
{
    if (cairn_is_bounded(p, j))
        return CAIRN_CONE_ROWS;
    if (!(weight > 0))
        return CAIRN_CONE_NONE;
    bool circle = p->dimension == 3 && p->directions == 0 && p->mu[j] > 0;
    return circle ? CAIRN_CONE_CIRCLE : CAIRN_CONE_EDGES;
}

/* Variables of the rows of contact j, and how many bounds they have. */
static int count_rows(const cairn_problem *p, int j, int *bounds)
{
    int count = 0;
    for (int i = j * p->dimension; i < (j + 1) * p->dimension; i++) {
        bool open = p->lower[i] < p->upper[i];
        count += open;
        *bounds += open ? isfinite(p->lower[i]) + isfinite(p->upper[i]) : 0;
    }
    return count;
}

static int count_variables(const cairn_cones *cones, int j, int *rank)
{
    int edges = cones->kind[j] == CAIRN_CONE_EDGES ? edges_of(cones->p, j) : 0;
    if (cones->kind[j] == CAIRN_CONE_ROWS)
        return count_rows(cones->p, j, rank);
    bool circle = cones->kind[j] == CAIRN_CONE_CIRCLE;
    *rank += circle ? 1 : edges;
    return circle ? 3 : edges;
}

static void list_contacts(cairn_cones *cones)
{
    int rank = 0;
    cones->start[0] = 0;
    for (int j = 0; j < cones->p->contacts; j++) {
        cones->weight[j] = cairn_contact_inverse_mass(cones->p, j);
        cones->kind[j] = (uint8_t)kind_of(cones->p, j, cones->weight[j]);
        cones->start[j + 1] = cones->start[j] + count_variables(cones, j, &rank);
    }
    cones->rank = rank;
    cones->count = (size_t)cones->start[cones->p->contacts];
}

cairn_status cairn_cones_create(const cairn_system *system, cairn_arena *arena, cairn_cones *out)
{
    const cairn_problem *p = system->p;
    size_t contacts = (size_t)p->contacts, edges = (size_t)(p->dimension == 2 ? 2 : p->directions);
    *out = (cairn_cones){ .p = p };
    out->start = cairn_arena_take(arena, contacts + 1, sizeof(int32_t));
    out->kind = cairn_arena_take(arena, contacts, sizeof(uint8_t));
    out->weight = cairn_arena_take(arena, contacts, sizeof(double));
    out->axis = cairn_arena_take(arena, 2 * contacts, sizeof(double));
    out->slack = cairn_arena_doubles(arena, 2 * contacts);
    out->edge = cairn_arena_take(arena, 2 * edges, sizeof(double));
    if (!out->start || !out->kind || !out->weight || !out->axis || !out->slack || !out->edge)
        return CAIRN_NO_MEMORY;
    for (size_t k = 0; k < edges; k++) {
        double angle = 2 * M_PI * (double)k / (double)edges;
        out->edge[2 * k] = cos(angle);
        out->edge[2 * k + 1] = sin(angle);
    }
    list_contacts(out);
    TRY(cairn_cones_list_rows(out, arena));
    out->root = cairn_arena_take(arena, out->count, sizeof(double));
    out->damping = cairn_arena_take(arena, out->count, sizeof(double));
    return out->root && out->damping ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* ---- between contacts and cones ------------------------------------------------------------- */

/* Row k of A_j. */
static void row_of(const cairn_cones *cones, int j, int k, double *row)
{
    double mu = cones->p->mu[j];
    if (cones->kind[j] == CAIRN_CONE_CIRCLE || cones->kind[j] == CAIRN_CONE_ROWS) {
        bool circle = cones->kind[j] == CAIRN_CONE_CIRCLE;
        int i = circle ? k : cones->rows.row[cones->start[j] + k] % cones->p->dimension;
        row[0] = row[1] = row[2] = 0;
        row[i] = circle && k ? mu : 1;
        return;
    }
    row[0] = 1;
    row[1] = mu > 0 ? mu * cones->edge[2 * k] : 0; /* mu = 0: circles have no list of edges */
    if (cones->p->dimension == 3)
        row[2] = mu > 0 ? mu * cones->edge[2 * k + 1] : 0;
}

void cairn_cones_impulse(const cairn_cones *cones, const double *x, double *r)
{
    int d = cones->p->dimension;
    memset(r, 0, (size_t)d * (size_t)cones->p->contacts * sizeof(double));
    for (int j = 0; j < cones->p->contacts; j++, r += d)
        for (int k = 0; k < variables_of(cones, j); k++, x++) {
            double row[3];
            row_of(cones, j, k, row);
            for (int i = 0; i < d; i++)
                r[i] += row[i] * *x;
        }
}

void cairn_cones_place(const cairn_cones *cones, const double *x, double *r)
{
    const cairn_problem *p = cones->p;
    cairn_cones_impulse(cones, x, r);
    for (int i = 0; cones->rows.row && i < p->dimension * p->contacts; i++)
        if (cones->kind[i / p->dimension] == CAIRN_CONE_ROWS && p->lower[i] == p->upper[i])
            r[i] = p->lower[i];
}

void cairn_cones_rows(const cairn_cones *cones, const double *u, double *z)
{
    int d = cones->p->dimension;
    for (int j = 0; j < cones->p->contacts; j++, u += d)
        for (int k = 0; k < variables_of(cones, j); k++, z++) {
            double row[3];
            row_of(cones, j, k, row);
            *z = 0;
            for (int i = 0; i < d; i++)
                *z += row[i] * u[i];
        }
}

void cairn_cones_add_unit(const cairn_cones *cones, double amount, double power, double *x)
{
    for (int j = 0; j < cones->p->contacts; j++) {
        bool cone = cones->kind[j] == CAIRN_CONE_EDGES || cones->kind[j] == CAIRN_CONE_CIRCLE;
        double share = amount * (cone ? pow(cones->weight[j], power) : 0);
        int unit = cones->kind[j] == CAIRN_CONE_CIRCLE ? 1 : variables_of(cones, j);
        for (int k = 0; k < unit; k++)
            x[cones->start[j] + k] += share;
    }
}

/* The distance by which contact j's z is outside its cone; 0: inside. */
static double shortage(const cairn_cones *cones, int j, const double *z)
{
    const double *own = z + cones->start[j];
    double largest = 0;
    if (cones->kind[j] == CAIRN_CONE_CIRCLE)
        return fmax(0, hypot(own[1], own[2]) - own[0]);
    for (int k = 0; k < variables_of(cones, j); k++)
        largest = fmax(largest, -own[k]);
    return largest;
}

/* The same for a row, with no impulse. */
static double row_shortage(const cairn_cones *cones, int k, double z)
{
    int row = cones->rows.row[k];
    double bound = z > 0 ? cones->p->lower[row] : cones->p->upper[row];
    return bound == 0 ? 0 : fabs(z);
}

double cairn_cones_closing(const cairn_cones *cones, const double *z)
{
    double sum = 0;
    int closing = 0;
    for (int j = 0; j < cones->p->contacts; j++) {
        bool cone = cones->kind[j] == CAIRN_CONE_EDGES || cones->kind[j] == CAIRN_CONE_CIRCLE;
        double short_by = cone ? shortage(cones, j, z) : 0;
        sum += short_by > 0 ? short_by * short_by / cones->weight[j] : 0;
        closing += short_by > 0;
    }
    for (int i = 0; i < cones->rows.count; i++) {
        int k = cones->rows.list[i];
        double short_by = row_shortage(cones, k, z[k]);
        sum += short_by * short_by / cones->rows.w[k];
        closing += short_by > 0;
    }
    return closing ? sqrt(sum / closing) : 1;
}

double cairn_cones_largest(const cairn_cones *cones, const double *x)
{
    double largest = 0;
    for (int j = 0; j < cones->p->contacts; j++)
        for (int k = cones->start[j]; k < cones->start[j + 1]; k++) {
            bool row = cones->kind[j] == CAIRN_CONE_ROWS;
            double size = fabs(x[k]) * sqrt(row ? cones->rows.w[k] : cones->weight[j]);
            if (!(size <= largest))
                largest = size;
        }
    return largest;
}

/* ---- scaling -------------------------------------------------------------------------------- */

/* x_0^2 - |x_1|^2; 0 outside. For points well inside, as l is. */
static double determinant(const double *x)
{
    double side = hypot(x[1], x[2]);
    return x[0] > side ? (x[0] - side) * (x[0] + side) : 0;
}

/* x'z = s_x s_z + s_x |z_1| + s_z |x_1| + (|x_1||z_1| + x_1.z_1), where the last is half the
 * square of a sum of unit vectors: nothing cancels where both are next to the boundary */
static double inner_product(const double *x, const double *z, const double *slack)
{
    double X = hypot(x[1], x[2]), Z = hypot(z[1], z[2]), sum = 0;
    for (int i = 1; X > 0 && Z > 0 && i < 3; i++)
        sum += (x[i] / X + z[i] / Z) * (x[i] / X + z[i] / Z);
    return slack[0] * slack[1] + slack[0] * Z + slack[1] * X + 0.5 * X * Z * sum;
}

static bool scale_circle(const double *x, const double *z, const double *slack, double *root,
                         double *axis, double *l)
{
    if (!(slack[0] > 0) || !(slack[1] > 0))
        return false;
    double det_x = slack[0] * (2 * hypot(x[1], x[2]) + slack[0]), w[2];
    double det_z = slack[1] * (2 * hypot(z[1], z[2]) + slack[1]);
    double a = 1 / sqrt(det_x), b = 1 / sqrt(det_z), size = sqrt(sqrt(det_x * det_z));
    double g = sqrt(0.5 * (1 + fmax(1, a * b * inner_product(x, z, slack))));
    double share = 1 / (a * x[0] + b * z[0] + 2 * g);
    l[0] = size * g;
    for (int i = 0; i < 2; i++) {
        double own = a * x[i + 1], other = b * z[i + 1];
        w[i] = (own - other) / (2 * g);
        l[i + 1] = size * share * ((g + b * z[0]) * own + (g + a * x[0]) * other);
    }
    double side = hypot(w[0], w[1]), eta = sqrt(sqrt(det_x / det_z));
    double k = side + sqrt(1 + side * side);
    axis[0] = side > 0 ? w[0] / side : 1;
    axis[1] = side > 0 ? w[1] / side : 0;
    root[0] = eta * k;
    root[1] = eta / k;
    root[2] = eta;
    return true;
}

static bool scale_contact(cairn_cones *cones, int j, const double *x, const double *z, double *l)
{
    int first = cones->start[j], count = variables_of(cones, j);
    size_t pair = 2 * (size_t)j;
    if (cones->kind[j] == CAIRN_CONE_ROWS)
        return true; /* by cairn_cones_scale_rows */
    if (cones->kind[j] == CAIRN_CONE_CIRCLE)
        return scale_circle(x + first, z + first, cones->slack + pair, cones->root + first,
                            cones->axis + pair, l + first);
    bool inside = true;
    for (int k = first; k < first + count; k++) {
        inside = inside && x[k] > 0 && z[k] > 0;
        cones->root[k] = inside ? sqrt(x[k] / z[k]) : 0;
        l[k] = inside ? sqrt(x[k]) * sqrt(z[k]) : 0;
    }
    return inside;
}

bool cairn_cones_scale(cairn_cones *cones, double delta, const double *x, const double *z,
                       double *l)
{
    bool inside = true;
    for (int j = 0; inside && j < cones->p->contacts; j++) {
        inside = scale_contact(cones, j, x, z, l);
        double own = delta * cones->weight[j];
        for (int k = cones->start[j]; k < cones->start[j + 1]; k++)
            cones->damping[k] = 1 / sqrt(1 + own * cones->root[k] * cones->root[k]);
    }
    return inside && cairn_cones_scale_rows(cones, delta, l);
}

/* The change of |x_1| is ((x_1 + y_1).(x_1 + y_1) - x_1.x_1)/(|x_1 + y_1| + |x_1|): the slack is
 * as accurate as the step y is small. */
static void move_circle(double length, const double *d, double *x, double *slack)
{
    double before = hypot(x[1], x[2]), change = 0;
    for (int i = 1; i < 3; i++) {
        double y = length * d[i];
        change += y * (2 * x[i] + y);
        x[i] += y;
    }
    double after = hypot(x[1], x[2]);
    *slack += length * d[0] - (after + before > 0 ? change / (after + before) : 0);
    x[0] = after + *slack;
}

void cairn_cones_move(cairn_cones *cones, cairn_cone_side side, double length, const double *d,
                      double *x)
{
    for (int j = 0; j < cones->p->contacts; j++) {
        int first = cones->start[j];
        if (cones->kind[j] == CAIRN_CONE_CIRCLE)
            move_circle(length, d + first, x + first, cones->slack + 2 * (size_t)j + side);
        else if (cones->kind[j] != CAIRN_CONE_ROWS)
            for (int k = first; k < cones->start[j + 1]; k++)
                x[k] += length * d[k];
    }
    cairn_cones_move_rows(cones, side == CAIRN_CONE_X, length, d, x);
}

/* f of eigenvalue k of P. */
static double mapped(const cairn_cones *cones, cairn_cone_map map, int k)
{
    switch (map) {
    case CAIRN_CONE_P:
        return cones->root[k];
    case CAIRN_CONE_INVERSE:
        return 1 / cones->root[k];
    case CAIRN_CONE_DAMP:
        return cones->damping[k];
    default:
        return cones->root[k] * cones->damping[k];
    }
}

static void map_contact(const cairn_cones *cones, int j, cairn_cone_map map, const double *x,
                        double *out)
{
    int first = cones->start[j];
    if (cones->kind[j] != CAIRN_CONE_CIRCLE) {
        for (int k = 0; k < variables_of(cones, j); k++)
            out[k] = mapped(cones, map, first + k) * x[k];
        return;
    }
    const double *n = cones->axis + 2 * (size_t)j;
    double along = n[0] * x[1] + n[1] * x[2], across = n[0] * x[2] - n[1] * x[1];
    double plus = 0.5 * mapped(cones, map, first) * (x[0] + along);
    double minus = 0.5 * mapped(cones, map, first + 1) * (x[0] - along);
    across *= mapped(cones, map, first + 2);
    out[0] = plus + minus;
    out[1] = n[0] * (plus - minus) - n[1] * across;
    out[2] = n[1] * (plus - minus) + n[0] * across;
}

void cairn_cones_map(const cairn_cones *cones, cairn_cone_map map, const double *x, double *out)
{
    for (int j = 0; j < cones->p->contacts; j++)
        map_contact(cones, j, map, x + cones->start[j], out + cones->start[j]);
}

/* Column k of L_j: A_j' P c e_k. */
static void column_of(const cairn_cones *cones, int j, int k, double *column)
{
    if (cones->kind[j] == CAIRN_CONE_CIRCLE) {
        const double unit[3] = { k == 0, k == 1, k == 2 };
        map_contact(cones, j, CAIRN_CONE_ROOT, unit, column);
        column[1] *= cones->p->mu[j];
        column[2] *= cones->p->mu[j];
        return;
    }
    double scale = mapped(cones, CAIRN_CONE_ROOT, cones->start[j] + k);
    row_of(cones, j, k, column);
    for (int i = 0; i < cones->p->dimension; i++)
        column[i] *= scale;
}

void cairn_cones_factor(const cairn_cones *cones, int j, double *L)
{
    int d = cones->p->dimension, count = variables_of(cones, j);
    for (int k = 0; k < count; k++) {
        double column[3];
        column_of(cones, j, k, column);
        for (int i = 0; i < d; i++)
            L[i * count + k] = column[i];
    }
}

/* ---- algebra -------------------------------------------------------------------------------- */

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* (x'y, x_0 y_1 + y_0 x_1) */
static void circle_product(const double *x, const double *y, double *out)
{
    const double result[3] = { dot3(x, y), x[0] * y[1] + y[0] * x[1], x[0] * y[2] + y[0] * x[2] };
    memcpy(out, result, sizeof result);
}

void cairn_cones_product(const cairn_cones *cones, const double *x, const double *y, double *out)
{
    for (int j = 0; j < cones->p->contacts; j++) {
        int first = cones->start[j];
        if (cones->kind[j] == CAIRN_CONE_CIRCLE)
            circle_product(x + first, y + first, out + first);
        else
            for (int k = first; k < cones->start[j + 1]; k++)
                out[k] = x[k] * y[k];
    }
}

static void circle_divide(const double *l, const double *x, double *out)
{
    double first = (l[0] * x[0] - l[1] * x[1] - l[2] * x[2]) / determinant(l);
    const double result[3] = { first, (x[1] - first * l[1]) / l[0], (x[2] - first * l[2]) / l[0] };
    memcpy(out, result, sizeof result);
}

void cairn_cones_divide(const cairn_cones *cones, const double *l, const double *x, double *out)
{
    for (int j = 0; j < cones->p->contacts; j++) {
        int first = cones->start[j];
        if (cones->kind[j] == CAIRN_CONE_CIRCLE)
            circle_divide(l + first, x + first, out + first);
        else
            for (int k = first; k < cones->start[j + 1]; k++)
                out[k] = cones->kind[j] == CAIRN_CONE_ROWS ? 0 : x[k] / l[k];
    }
}

/* 1/t of the step t to the boundary: d is seen from the frame in which l is the unit. */
static double circle_reach(const double *l, const double *d)
{
    double size = sqrt(determinant(l));
    const double unit[3] = { l[0] / size, l[1] / size, l[2] / size };
    double own = (unit[0] * d[0] - unit[1] * d[1] - unit[2] * d[2]) / size;
    double share = (own + d[0] / size) / (unit[0] + 1);
    return hypot(d[1] / size - share * unit[1], d[2] / size - share * unit[2]) - own;
}

double cairn_cones_step(const cairn_cones *cones, const double *l, const double *d)
{
    double reach = 1;
    for (int j = 0; j < cones->p->contacts; j++) {
        int first = cones->start[j];
        if (cones->kind[j] == CAIRN_CONE_CIRCLE)
            reach = fmax(reach, circle_reach(l + first, d + first));
        else if (cones->kind[j] != CAIRN_CONE_ROWS)
            for (int k = first; k < cones->start[j + 1]; k++)
                reach = fmax(reach, -d[k] / l[k]);
    }
    return 1 / reach;
}

/* ---- rows with bounds -------------------------------------------------------------------- */

/* Newton's equations of a row, with dg_0 = dx = -dg_1:
 *     dz_s = c_s/g_s - (z_s/g_s) dg_s,    dy = dz_0 - dz_1 = sum +-c_s/g_s - (sum z_s/g_s) dx,
 * so the row enters the system of the cones with P^-2 = sum z_s/g_s. Compliance and regularisation
 * are added to P^-2, which makes it positive for rows without bounds as well. */

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
        /* a bound on one side that is far from active: its velocity is known already */
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
