/* admm_system.c - x = (W + rho D)^-1 h with a sparse factor, for changing rho.
 *
 * Block form: W = G G' with G = H M^-1/2, and
 *     (W + rho D)^-1 h = (h - G A^-1 G'D^-1 h/rho)/(rho D),     A = I + G'D^-1 G/rho,
 * a matrix of the size of the velocities with a block for each pair of bodies in touch. Local form:
 * W + rho D with the symmetric part of W. In both the pattern is analysed once. D is trace(W_jj)/d
 * for a contact and W_ii for a row with bounds; a tenth of it for a row without any, an equation:
 * there rho only has to make up for redundancy. */
#include "solve/admm_system.h"

#include <math.h>

#include "base/status.h"
#include "math/sparse.h"
#include "problem/operator.h"

static const double slight = 0.1; /* D of an equation over W_ii */

/* ---- the matrix ----------------------------------------------------------------------------- */

/* Entries while they are listed. */
typedef struct list {
    int64_t count;
    int32_t *row, *column;
    double *value;
} list;

static void add_entry(list *to, int row, int column, double value)
{
    if (row > column)
        return; /* below the diagonal */
    to->row[to->count] = row;
    to->column[to->count] = column;
    to->value[to->count++] = value;
}

/* Block (a, b) of G'D^-1 G from contact j, a and b being its sides. */
static void add_pair(const cairn_admm_system *s, int j, int a, int b, list *to)
{
    const cairn_problem *p = s->p;
    int d = p->dimension, n = p->block_size;
    double room[2][18];
    const double *Ha = cairn_rows(p, j, a, room[0]), *Hb = cairn_rows(p, j, b, room[1]);
    int first = p->block[2 * j + a] * n, second = p->block[2 * j + b] * n;
    for (int i = 0; i < n && first >= 0 && second >= 0; i++)
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int l = 0; l < d; l++)
                sum += Ha[l * n + i] * Hb[l * n + k] / s->w[j * d + l];
            add_entry(to, first + i, second + k, s->root[first + i] * s->root[second + k] * sum);
        }
}

static cairn_status form_bodies(cairn_admm_system *s, cairn_arena *arena)
{
    const cairn_problem *p = s->p;
    int n = p->block_size, size = p->blocks * n;
    size_t most = (size_t)size + (size_t)p->contacts * (size_t)(4 * n * n);
    list all = { .row = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .column = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .value = cairn_arena_take(arena, most, sizeof(double)) };
    s->root = cairn_arena_take(arena, (size_t)size, sizeof(double));
    s->y = cairn_arena_take(arena, (size_t)size, sizeof(double));
    if (!all.row || !all.column || !all.value || !s->root || !s->y)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < size; i++) {
        s->root[i] = sqrt(p->mass_inverse[i]);
        add_entry(&all, i, i, 0);
    }
    for (int j = 0; j < p->contacts; j++)
        for (int pair = 0; pair < 4; pair++)
            add_pair(s, j, pair / 2, pair % 2, &all);
    cairn_entries entries = { all.count, all.row, all.column, all.value };
    return cairn_sparse_gather(size, size, &entries, arena, &s->base);
}

/* The symmetric part of W, with a diagonal. */
static cairn_status form_local(cairn_admm_system *s, cairn_arena *arena)
{
    const cairn_matrix *W = s->p->W;
    int size = s->p->contacts * s->p->dimension;
    size_t most = (size_t)size + (size_t)W->start[size];
    list all = { .row = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .column = cairn_arena_take(arena, most, sizeof(int32_t)),
                 .value = cairn_arena_take(arena, most, sizeof(double)) };
    if (!all.row || !all.column || !all.value)
        return CAIRN_NO_MEMORY;
    for (int row = 0; row < size; row++) {
        add_entry(&all, row, row, 0);
        for (int64_t k = W->start[row]; k < W->start[row + 1]; k++) {
            int column = W->column[k];
            double share = row == column ? 1 : 0.5;
            add_entry(&all, row < column ? row : column, row < column ? column : row,
                      share * W->value[k]);
        }
    }
    cairn_entries entries = { all.count, all.row, all.column, all.value };
    return cairn_sparse_gather(size, size, &entries, arena, &s->base);
}

static cairn_status weigh(cairn_admm_system *s, cairn_arena *arena)
{
    size_t d = (size_t)s->p->dimension;
    s->w = cairn_arena_take(arena, (size_t)s->p->contacts * d, sizeof(double));
    if (!s->w)
        return CAIRN_NO_MEMORY;
    for (int j = 0; j < s->p->contacts; j++) {
        double *w = s->w + (size_t)j * d;
        cairn_contact_scales(s->p, j, w);
        for (int i = 0; cairn_is_bounded(s->p, j) && i < (int)d; i++)
            w[i] *= cairn_row_is_free(s->p, j, i) ? slight : 1;
    }
    return CAIRN_OK;
}

cairn_status cairn_admm_system_create(const cairn_problem *p, cairn_arena *arena,
                                      cairn_admm_system *out)
{
    *out = (cairn_admm_system){ .p = p };
    TRY(weigh(out, arena));
    TRY(p->W ? form_local(out, arena) : form_bodies(out, arena));
    out->value = cairn_arena_take(arena, (size_t)out->base.start[out->base.rows], sizeof(double));
    return out->value ? cairn_cholesky_create(&out->factor) : CAIRN_NO_MEMORY;
}

void cairn_admm_system_destroy(cairn_admm_system *s)
{
    cairn_cholesky_destroy(s->factor);
}

/* ---- factor and solve ----------------------------------------------------------------------- */

cairn_status cairn_admm_system_factor(cairn_admm_system *s, double rho, bool *positive)
{
    cairn_matrix A = s->base;
    A.value = s->value;
    s->rho = rho;
    for (int row = 0; row < A.rows; row++) {
        double diagonal = s->p->W ? rho * s->w[row] : 1;
        double factor = s->p->W ? 1 : 1 / rho;
        for (int64_t k = A.start[row]; k < A.start[row + 1]; k++)
            s->value[k] = factor * s->base.value[k] + (A.column[k] == row ? diagonal : 0);
    }
    return cairn_cholesky_factor(s->factor, &A, positive);
}

/* G' and G are the operators of the problem with M^-1/2 for M^-1 and without w. */
static cairn_status solve_bodies(cairn_admm_system *s, double *h)
{
    cairn_problem G = *s->p;
    int d = G.dimension, n = G.block_size;
    size_t size = (size_t)G.blocks * (size_t)n;
    G.mass_inverse = s->root;
    G.w = NULL;
    for (size_t i = 0; i < size; i++)
        s->y[i] = 0;
    for (int j = 0; j < G.contacts; j++) { /* h = h/(rho D), y = G'h */
        double *own = h + (size_t)j * (size_t)d;
        for (int i = 0; i < d; i++)
            own[i] /= s->rho * s->w[j * d + i];
        cairn_contact_push(&G, d, n, j, own, s->y);
    }
    TRY(cairn_cholesky_solve(s->factor, s->y, s->y));
    for (size_t i = 0; i < size; i++)
        s->y[i] *= s->root[i];
    for (int j = 0; j < G.contacts; j++) { /* h -= G A^-1 y/(rho D) */
        double u[CAIRN_MAX_DIMENSION];
        cairn_contact_relative(&G, d, n, j, s->y, u);
        for (int i = 0; i < d; i++)
            h[(size_t)j * (size_t)d + (size_t)i] -= u[i] / (s->rho * s->w[j * d + i]);
    }
    return CAIRN_OK;
}

cairn_status cairn_admm_system_solve(cairn_admm_system *s, double *h)
{
    return s->p->W ? cairn_cholesky_solve(s->factor, h, h) : solve_bodies(s, h);
}
