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
 * Since u = W r + q, every block is A_ij = a_i' W a_j plus the ones that lambda, zeta bring. */
#include "problem/lcp.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "problem/delassus.h"
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

/* d_k scaled, behind a normal component */
static void direction(const cairn_problem *p, int k, double normal, double scale, double *a)
{
    double angle = 2 * M_PI * k / edges(p);
    a[0] = normal;
    a[1] = p->dimension == 2 ? (k == 0 ? scale : -scale) : scale * cos(angle);
    a[2] = p->dimension == 2 ? 0 : scale * sin(angle);
}

/* a_i: the impulse of a unit of unknown i of a contact */
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
    int per;           /* of one contact                       */
    double *generator; /* 3 for each unknown                   */
} unknowns;

static cairn_status list_unknowns(const cairn_problem *p, cairn_law law, cairn_arena *arena,
                                  unknowns *out)
{
    out->per = cairn_lcp_unknowns(p, law);
    size_t per = (size_t)out->per;
    out->generator = cairn_arena_take(arena, 3 * per * (size_t)p->contacts, sizeof(double));
    if (!out->generator)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < p->contacts; j++)
        for (size_t i = 0; i < per; i++)
            generator(p, law, p->mu[j], (int)i, out->generator + 3 * ((size_t)j * per + i));
    return CAIRN_OK;
}

/* A += a_i' W a_k for one entry of W, in component s of contact j and t of contact l */
static void add_entry(const unknowns *x, const int *at, double value, cairn_lcp *out)
{
    int j = at[0], s = at[1], l = at[2], t = at[3];
    for (int i = 0; i < x->per; i++) {
        size_t row = (size_t)j * (size_t)x->per + (size_t)i;
        double left = value * x->generator[3 * row + (size_t)s];
        for (int k = 0; left != 0 && k < x->per; k++) {
            size_t column = (size_t)l * (size_t)x->per + (size_t)k;
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

/* a = a_i.(q + shift n) */
static void add_constant(const cairn_problem *local, cairn_law law, const unknowns *x,
                         cairn_lcp *out)
{
    int d = local->dimension;
    for (int j = 0; j < local->contacts; j++) {
        double bias = local->b ? local->b[j] : 0;
        double shift = law == CAIRN_LAW_CONVEX ? cairn_contact_shift(local, j) : bias;
        const double *q = local->q + (size_t)j * (size_t)d;
        for (int i = 0; i < x->per; i++) {
            size_t row = (size_t)j * (size_t)x->per + (size_t)i;
            const double *a = x->generator + 3 * row;
            out->a[row] = a[0] * (q[0] + shift) + a[1] * q[1] + (d == 3 ? a[2] * q[2] : 0);
        }
    }
}

/* the ones of lambda, and mu */
static void add_lambda(const cairn_problem *p, const unknowns *x, cairn_lcp *out)
{
    size_t n = (size_t)out->size;
    for (int j = 0; j < p->contacts; j++) {
        size_t first = (size_t)j * (size_t)x->per, lambda = first + (size_t)x->per - 1;
        out->A[lambda * n + first] += p->mu[j];
        for (size_t k = first + 1; k < lambda; k++) {
            out->A[k * n + lambda] += 1;
            out->A[lambda * n + k] -= 1;
        }
    }
}

static cairn_status create(const cairn_problem *p, cairn_law law, int more, cairn_arena *arena,
                           cairn_lcp *out)
{
    cairn_matrix W;
    cairn_problem local;
    unknowns x;
    TRY(cairn_delassus_localise(p, arena, &W, &local));
    TRY(list_unknowns(p, law, arena, &x));
    int size = (x.per + more) * p->contacts;
    *out = (cairn_lcp){ .size = size };
    out->A = cairn_arena_doubles(arena, (size_t)size * (size_t)size);
    out->a = cairn_arena_doubles(arena, (size_t)size);
    if (!out->A || !out->a)
        return CAIRN_NO_MEMORY;
    add_operator(&local, &x, out);
    add_constant(&local, law, &x, out);
    if (law == CAIRN_LAW_COULOMB)
        add_lambda(p, &x, out);
    return CAIRN_OK;
}

cairn_status cairn_lcp_create(const cairn_problem *p, cairn_law law, cairn_arena *arena,
                              cairn_lcp *out)
{
    return create(p, law, 0, arena, out);
}

cairn_status cairn_lcp_create_elastic(const cairn_problem *p, double most, cairn_arena *arena,
                                      cairn_lcp *out)
{
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

void cairn_lcp_impulses(const cairn_problem *p, cairn_law law, const double *z, double *r)
{
    int d = p->dimension, per = cairn_lcp_unknowns(p, law);
    for (int j = 0; j < p->contacts; j++) {
        double sum[3] = { 0, 0, 0 }, a[3];
        for (int i = 0; i < per; i++) {
            generator(p, law, p->mu[j], i, a);
            for (int c = 0; c < 3; c++)
                sum[c] += a[c] * z[(size_t)j * (size_t)per + (size_t)i];
        }
        cairn_contact_project(p, j, sum); /* takes off what rounding left outside */
        memcpy(r + (size_t)j * (size_t)d, sum, (size_t)d * sizeof(double));
    }
}

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

/* One contact: r_T = mu (x d_k + y d_k+1) between two neighbours; what is left of r_N goes to d_k
 * and its opposite in equal parts. */
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

void cairn_lcp_edges(const cairn_problem *p, const double *r, double *z)
{
    size_t m = (size_t)edges(p), d = (size_t)p->dimension;
    for (size_t j = 0; j < (size_t)p->contacts; j++)
        split(p, p->mu[j], r + j * d, z + j * m);
}
