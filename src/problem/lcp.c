/* lcp.c - the one-step problem with polyhedral cones as a linear complementarity problem.
 *
 * Each unknown z_i of contact j stands for an impulse a_i z_i in the contact's frame, so that
 * r_j = sum_i a_i z_i, and (with d_k the m directions; in 2D +1 and -1)
 *   convex law [A06]: edges beta_k, a = (1, mu d_k); rows
 *       0 <= (u + (b + mu s) n).(1, mu d_k)  ⟂  beta_k >= 0
 *   Coulomb [ST96] (17), (29): c_n with a = (1, 0), beta_k with (0, d_k), lambda with 0; rows
 *       0 <= u_N + b               ⟂  c_n >= 0
 *       0 <= lambda + d_k.u_T      ⟂  beta_k >= 0
 *       0 <= mu c_n - sum_k beta_k ⟂  lambda >= 0
 *   elastic mode of the convex law [A05]: the price `most` for each zeta_j bounds the impulse; rows
 *       0 <= (u + (b + mu s) n).(1, mu d_k) + zeta_j  ⟂  beta_k >= 0
 *       0 <= most - sum_k beta_k                      ⟂  zeta_j >= 0
 * Rows with bounds: if its bounds differ, a row has r = base + a z (else r = base); rows
 *       lower alone:  base = lower, a = 1,    0 <= y   ⟂  z >= 0
 *       upper alone:  base = upper, a = -1,   0 <= -y  ⟂  z >= 0
 *       none:         base = 0, a = 1,        y = 0,   z free
 *       both ([ST96] (30)-(32)):  base = lower, a = 1, and a further unknown lambda:
 *                     0 <= y + lambda ⟂ z >= 0,   0 <= upper - lower - z ⟂ lambda >= 0
 *   where y = u + eps r.
 * Since u = W r + q, every block is A_ij = a_i' W a_j plus the entries +-1 and mu of lambda and
 * zeta. A is dense: these problems are solved by pivoting, and only small ones. */
#include "problem/forms.h"

#include <math.h>
#include <string.h>

#include "base/common.h"
#include "problem/operator.h"

static int edges(const cairn_problem *p)
{
    return p->dimension == 2 ? 2 : p->directions;
}

bool cairn_lcp_possible(const cairn_problem *p)
{
    return p->dimension == 2 || p->directions > 0;
}

int cairn_lcp_unknowns(const cairn_problem *p, cairn_law law)
{
    return law == CAIRN_LAW_COULOMB ? edges(p) + 2 : edges(p);
}

/* ---- rows with bounds ----------------------------------------------------------------------- */

/* How a row is expressed: r = base + sign z. */
typedef struct row_form {
    int unknowns; /* 0: r = base; 1; 2: z and lambda */
    double base, sign;
    bool is_free;
} row_form;

static row_form form_of(const cairn_problem *p, size_t row)
{
    double lower = p->lower[row], upper = p->upper[row];
    bool below = isfinite(lower), above = isfinite(upper);
    if (lower == upper)
        return (row_form){ .base = lower };
    return (row_form){ .unknowns = below && above ? 2 : 1,
                       .base = below   ? lower
                               : above ? upper
                                       : 0,
                       .sign = !below && above ? -1 : 1,
                       .is_free = !below && !above };
}

static int unknowns_of(const cairn_problem *p, cairn_law law, int j)
{
    int count = 0;
    if (!cairn_is_bounded(p, j))
        return cairn_lcp_unknowns(p, law);
    for (int i = 0; i < p->dimension; i++)
        count += form_of(p, (size_t)(j * p->dimension + i)).unknowns;
    return count;
}

int64_t cairn_lcp_size(const cairn_problem *p, cairn_law law)
{
    int64_t size = 0;
    for (int j = 0; j < p->contacts; j++)
        size += unknowns_of(p, law, j);
    return size;
}

/* ---- unknowns ------------------------------------------------------------------------------- */

/* a = (normal, scale d_k) */
static void direction(const cairn_problem *p, int k, double normal, double scale, double *a)
{
    double angle = 2 * M_PI * k / edges(p);
    a[0] = normal;
    a[1] = p->dimension == 2 ? (k == 0 ? scale : -scale) : scale * cos(angle);
    a[2] = p->dimension == 2 ? 0 : scale * sin(angle);
}

/* a_i: the impulse that unknown i of a contact stands for, per unit */
static void generator(const cairn_problem *p, cairn_law law, double mu, int i, double *a)
{
    if (law == CAIRN_LAW_CONVEX)
        direction(p, i, 1, mu, a);
    else if (i >= 1 && i <= edges(p))
        direction(p, i - 1, 0, 1, a);
    else
        direction(p, 0, i == 0 ? 1 : 0, 0, a);
}

/* The unknowns of all contacts. */
typedef struct unknowns {
    int *first;        /* contacts + 1: the first unknown of each              */
    double *generator; /* 3 for each unknown                                   */
    double *base;      /* impulses if all unknowns are 0                       */
    double *q;         /* u (for rows y) of these impulses                     */
} unknowns;

/* Generators and base of the rows of contact j. */
static void list_rows(const cairn_problem *p, int j, unknowns *out)
{
    double *a = out->generator + 3 * (size_t)out->first[j];
    for (int i = 0; i < p->dimension; i++) {
        size_t row = (size_t)j * (size_t)p->dimension + (size_t)i;
        row_form form = form_of(p, row);
        out->base[row] = form.base;
        if (form.unknowns)
            a[i] = form.sign;
        a += 3 * form.unknowns;
    }
}

/* q + (W + E) base */
static void find_base_velocity(const cairn_problem *local, unknowns *out)
{
    size_t d = (size_t)local->dimension;
    for (int j = 0; j < local->contacts; j++) {
        cairn_contact_relative_local(local, j, out->base, out->q + (size_t)j * d);
        cairn_contact_comply(local, j, out->base + (size_t)j * d, out->q + (size_t)j * d);
    }
}

static cairn_status list_unknowns(const cairn_problem *local, cairn_law law, cairn_arena *arena,
                                  unknowns *out)
{
    size_t contacts = (size_t)local->contacts, d = (size_t)local->dimension;
    out->first = cairn_arena_take(arena, contacts + 1, sizeof(int));
    out->generator = cairn_arena_doubles(arena, 3 * (size_t)cairn_lcp_size(local, law));
    out->base = cairn_arena_doubles(arena, d * contacts);
    out->q = cairn_arena_take(arena, d * contacts, sizeof(double));
    if (!out->first || !out->generator || !out->base || !out->q)
        return CAIRN_NO_MEMORY;
    out->first[0] = 0;
    for (int j = 0; j < local->contacts; j++) {
        int count = unknowns_of(local, law, j);
        out->first[j + 1] = out->first[j] + count;
        if (cairn_is_bounded(local, j))
            list_rows(local, j, out);
        for (int i = 0; !cairn_is_bounded(local, j) && i < count; i++)
            generator(local, law, local->mu[j], i,
                      out->generator + 3 * (size_t)(out->first[j] + i));
    }
    find_base_velocity(local, out);
    return CAIRN_OK;
}

/* Add a_i' W a_k for one entry of W, between component s of contact j and t of contact l. */
static void add_entry(const unknowns *x, const int *at, double value, cairn_lcp *out)
{
    int j = at[0], s = at[1], l = at[2], t = at[3];
    for (int i = x->first[j]; i < x->first[j + 1]; i++) {
        size_t row = (size_t)i;
        double left = value * x->generator[3 * row + (size_t)s];
        for (int k = x->first[l]; left != 0 && k < x->first[l + 1]; k++) {
            size_t column = (size_t)k;
            out->A[row * (size_t)out->size + column] += left * x->generator[3 * column + (size_t)t];
        }
    }
}

static void add_operator(const cairn_problem *local, const unknowns *x, cairn_lcp *out)
{
    int d = local->dimension;
    const cairn_matrix *W = local->W;
    for (int row = 0; row < d * local->contacts; row++)
        for (int64_t e = W->start[row]; e < W->start[row + 1]; e++) {
            const int at[4] = { row / d, row % d, W->column[e] / d, W->column[e] % d };
            add_entry(x, at, W->value[e], out);
        }
}

/* The remaining entries of rows with bounds: compliance, lambda, and which unknowns are free. */
static void add_rows(const cairn_problem *p, int j, const unknowns *x, bool *is_free,
                     cairn_lcp *out)
{
    size_t n = (size_t)out->size, z = (size_t)x->first[j];
    for (int i = 0; i < p->dimension; i++) {
        size_t row = (size_t)j * (size_t)p->dimension + (size_t)i;
        row_form form = form_of(p, row);
        if (form.unknowns == 0)
            continue;
        out->A[z * n + z] += p->compliance ? p->compliance[row] : 0;
        is_free[z] = form.is_free;
        if (form.unknowns == 2) {
            out->A[z * n + z + 1] = 1;
            out->A[(z + 1) * n + z] = -1;
            out->a[z + 1] = p->upper[row] - p->lower[row];
        }
        z += (size_t)form.unknowns;
    }
}

static bool has_rows(const cairn_problem *p)
{
    for (int j = 0; j < p->contacts; j++)
        if (cairn_is_bounded(p, j))
            return true;
    return false;
}

static cairn_status add_all_rows(const cairn_problem *p, const unknowns *x, cairn_arena *arena,
                                 cairn_lcp *out)
{
    if (!has_rows(p))
        return CAIRN_OK;
    bool *is_free = cairn_arena_take(arena, (size_t)out->size, sizeof(bool));
    if (!is_free)
        return CAIRN_NO_MEMORY;
    memset(is_free, 0, (size_t)out->size * sizeof(bool));
    out->is_free = is_free;
    for (int j = 0; j < p->contacts; j++)
        if (cairn_is_bounded(p, j))
            add_rows(p, j, x, is_free, out);
    return CAIRN_OK;
}

/* a = a_i.(q + shift n). The shift is b + mu s for the convex law; Coulomb's law has lambda in
 * place of mu s. */
static void add_constant(const cairn_problem *local, cairn_law law, const unknowns *x,
                         cairn_lcp *out)
{
    int d = local->dimension;
    for (int j = 0; j < local->contacts; j++) {
        double bias = cairn_contact_bias(local, j);
        double shift = law == CAIRN_LAW_CONVEX ? cairn_contact_shift(local, j) : bias;
        const double *q = x->q + (size_t)j * (size_t)d;
        for (int i = x->first[j]; i < x->first[j + 1]; i++) {
            size_t row = (size_t)i;
            const double *a = x->generator + 3 * row;
            out->a[row] = a[0] * (q[0] + shift) + a[1] * q[1] + (d == 3 ? a[2] * q[2] : 0);
        }
    }
}

/* The entries of lambda: +1 and -1 with the beta_k, and mu with c_n. */
static void add_lambda(const cairn_problem *p, const unknowns *x, cairn_lcp *out)
{
    size_t n = (size_t)out->size;
    for (int j = 0; j < p->contacts; j++) {
        if (cairn_is_bounded(p, j))
            continue;
        size_t first = (size_t)x->first[j], lambda = (size_t)x->first[j + 1] - 1;
        out->A[lambda * n + first] += p->mu[j];
        for (size_t k = first + 1; k < lambda; k++) {
            out->A[k * n + lambda] += 1;
            out->A[lambda * n + k] -= 1;
        }
    }
}

/* `more`: further unknowns for each contact, behind all others (the zeta of elastic mode). */
static cairn_status create(const cairn_problem *p, cairn_law law, int more, cairn_arena *arena,
                           cairn_lcp *out)
{
    cairn_matrix W;
    cairn_problem local;
    unknowns x;
    TRY(cairn_delassus_localise(p, arena, &W, &local));
    TRY(list_unknowns(&local, law, arena, &x));
    int size = x.first[p->contacts] + more * p->contacts;
    *out = (cairn_lcp){ .size = size };
    out->A = cairn_arena_doubles(arena, (size_t)size * (size_t)size);
    out->a = cairn_arena_doubles(arena, (size_t)size);
    if (!out->A || !out->a)
        return CAIRN_NO_MEMORY;
    add_operator(&local, &x, out);
    add_constant(&local, law, &x, out);
    if (law == CAIRN_LAW_COULOMB)
        add_lambda(p, &x, out);
    return add_all_rows(p, &x, arena, out);
}

cairn_status cairn_lcp_create(const cairn_problem *p, cairn_law law, cairn_arena *arena,
                              cairn_lcp *out)
{
    return create(p, law, 0, arena, out);
}

cairn_status cairn_lcp_create_elastic(const cairn_problem *p, double most, cairn_arena *arena,
                                      cairn_lcp *out)
{
    /* all contacts have m unknowns, since there are no rows with bounds */
    TRY(create(p, CAIRN_LAW_CONVEX, 1, arena, out));
    size_t n = (size_t)out->size, m = (size_t)edges(p);
    for (size_t j = 0; j < (size_t)p->contacts; j++) {
        size_t zeta = m * (size_t)p->contacts + j;
        out->a[zeta] = most;
        for (size_t k = j * m; k < (j + 1) * m; k++) {
            out->A[k * n + zeta] = 1;
            out->A[zeta * n + k] = -1;
        }
    }
    return CAIRN_OK;
}

/* A sum of magnitudes is finite only if all terms are. */
bool cairn_lcp_is_finite(const cairn_lcp *lcp)
{
    size_t n = (size_t)lcp->size;
    double sum = 0;
    for (size_t i = 0; i < n * n; i++)
        sum += fabs(lcp->A[i]);
    for (size_t i = 0; i < n; i++)
        sum += fabs(lcp->a[i]);
    return isfinite(sum);
}

/* Impulse of a cone from its unknowns. */
static void cone_impulse(const cairn_problem *p, cairn_law law, int j, const double *z, double *sum)
{
    int per = cairn_lcp_unknowns(p, law);
    for (int i = 0; i < per; i++) {
        double a[3];
        generator(p, law, p->mu[j], i, a);
        for (int c = 0; c < 3; c++)
            sum[c] += a[c] * z[i];
    }
}

static void rows_impulse(const cairn_problem *p, int j, const double *z, double *sum)
{
    for (int i = 0; i < p->dimension; i++) {
        row_form form = form_of(p, (size_t)(j * p->dimension + i));
        sum[i] = form.base + (form.unknowns ? form.sign * *z : 0);
        z += form.unknowns;
    }
}

void cairn_lcp_impulses(const cairn_problem *p, cairn_law law, const double *z, double *r)
{
    int d = p->dimension;
    for (int j = 0; j < p->contacts; z += unknowns_of(p, law, j++)) {
        double sum[3] = { 0, 0, 0 };
        if (cairn_is_bounded(p, j))
            rows_impulse(p, j, z, sum);
        else
            cone_impulse(p, law, j, z, sum);
        cairn_contact_project(p, p->dimension, j, sum); /* removes what rounding left outside */
        memcpy(r + (size_t)j * (size_t)d, sum, (size_t)d * sizeof(double));
    }
}

/* Only for problems without rows with bounds: every contact has m unknowns. */
void cairn_lcp_slacks(const cairn_problem *p, const double *u, double *w)
{
    int d = p->dimension, m = edges(p);
    for (int j = 0; j < p->contacts; j++) {
        const double *own = u + (size_t)j * (size_t)d;
        double normal = own[0] + cairn_contact_shift(p, j), a[3];
        for (int k = 0; k < m; k++) {
            direction(p, k, 1, p->mu[j], a);
            w[(size_t)j * (size_t)m + (size_t)k] =
                normal + a[1] * own[1] + (d == 3 ? a[2] * own[2] : 0);
        }
    }
}

/* One contact: r_T = mu (x d_k + y d_k+1) with the two directions next to it. The rest of r_N is
 * split equally between d_k and the opposite direction, where it adds no tangential impulse. */
static void split(const cairn_problem *p, double mu, const double *r, double *z)
{
    int m = edges(p), k = 0;
    double normal = fmax(0, r[0]), x = 0, y = 0;
    memset(z, 0, (size_t)m * sizeof(double));
    if (mu > 0 && p->dimension == 2)
        x = r[1] / mu;
    if (mu > 0 && p->dimension == 3) {
        double sector = 2 * M_PI / m, angle = atan2(r[2], r[1]);
        double length = sqrt(r[1] * r[1] + r[2] * r[2]) / mu;
        angle += angle < 0 ? 2 * M_PI : 0;
        k = (int)(angle / sector);
        y = length * sin(angle - k * sector) / sin(sector);
        x = length * cos(angle - k * sector) - y * cos(sector);
    }
    double rest = 0.5 * (normal - x - y);
    z[k % m] = fmax(0, x + rest);
    z[(k + 1) % m] += fmax(0, y);
    z[(k + m / 2) % m] += fmax(0, rest);
}

/* The same restriction holds here. */
void cairn_lcp_edges(const cairn_problem *p, const double *r, double *z)
{
    size_t m = (size_t)edges(p), d = (size_t)p->dimension;
    for (size_t j = 0; j < (size_t)p->contacts; j++)
        split(p, p->mu[j], r + j * d, z + j * m);
}
