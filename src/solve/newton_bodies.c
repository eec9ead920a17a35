/* newton_bodies.c - J dr = -F as equations of the bodies' velocities.
 *
 * J = A + B W with A = D (I - G) + D G R (E + pull) and B = D G R, pull the proximal term's, both
 * made of d x d blocks, one for each contact, and W = H M^-1 H'. With x = M^-1/2 H'dr, K = A^-1 B:
 *     (I + M^-1/2 H'K H M^-1/2) x = -M^-1/2 H'A^-1 F,     dr = -A^-1 F - K H M^-1/2 x,
 * a matrix with a block for each pair of bodies in touch: smaller than J, and much sparser, as two
 * contacts of one body do not meet in it. An open contact has B = 0 and adds nothing. A is regular
 * for alpha > 0; a contact that sticks has K = 1/pull, so alpha must not be tiny. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "problem/operator.h"
#include "solve/newton_system.h"

enum { MOST = CAIRN_MAX_DIMENSION };

/* ---- pattern -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Keys row * blocks + column of all block pairs, sorted, each once. */
static int64_t list_pairs(const cairn_problem *p, int64_t *key)
{
    int64_t count = 0, kept = 0;
    for (int i = 0; i < p->blocks; i++)
        key[count++] = (int64_t)i * p->blocks + i;
    for (int j = 0; j < p->contacts; j++) {
        int64_t a = p->block[2 * j], b = p->block[2 * j + 1];
        if (a < 0 || b < 0)
            continue;
        key[count++] = a * p->blocks + b;
        key[count++] = b * p->blocks + a;
    }
    qsort(key, (size_t)count, sizeof *key, ascending);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || key[i] != key[i - 1])
            key[kept++] = key[i];
    return kept;
}

/* Rows and columns of the matrix; place[i] is where the block of key[i] begins. */
static void lay_out(cairn_newton_system *s, int64_t pairs, const int64_t *key, int64_t *place)
{
    int n = s->p->block_size, blocks = s->p->blocks;
    int64_t at = 0, i = 0;
    for (int body = 0; body < blocks; body++) {
        int64_t first = i;
        while (i < pairs && key[i] / blocks == body)
            i++;
        for (int64_t k = first; k < i; k++)
            place[k] = at + (k - first) * n;
        for (int row = 0; row < n; row++) {
            s->row[(size_t)body * (size_t)n + (size_t)row] = at;
            for (int64_t k = first; k < i; k++)
                for (int l = 0; l < n; l++)
                    s->column[at++] = (int32_t)(key[k] % blocks) * n + l;
        }
    }
    s->row[(size_t)blocks * (size_t)n] = at;
}

/* Where the blocks of contact j begin, for each pair of its sides. */
static void locate(cairn_newton_system *s, int j, int64_t pairs, const int64_t *key,
                   const int64_t *place)
{
    const int32_t *body = s->p->block + 2 * (size_t)j;
    for (int pair = 0; pair < 4; pair++) {
        int64_t a = body[pair / 2], b = body[pair % 2], wanted = a * s->p->blocks + b;
        const int64_t *found =
            a < 0 || b < 0 ? NULL : bsearch(&wanted, key, (size_t)pairs, sizeof *key, ascending);
        s->where[4 * (size_t)j + (size_t)pair] = found ? place[found - key] : -1;
    }
}

static cairn_status create(cairn_newton_system *s, cairn_arena *arena)
{
    const cairn_problem *p = s->p;
    size_t n = (size_t)p->block_size, size = (size_t)p->blocks * n, contacts = (size_t)p->contacts;
    size_t most = (size_t)p->blocks + 2 * contacts;
    int64_t *key = cairn_arena_take(arena, most, sizeof(int64_t));
    int64_t *place = cairn_arena_take(arena, most, sizeof(int64_t));
    s->where = cairn_arena_take(arena, 4 * contacts, sizeof(int64_t));
    s->root = cairn_arena_take(arena, size, sizeof(double));
    s->v = cairn_arena_take(arena, size, sizeof(double));
    s->right = cairn_arena_take(arena, size, sizeof(double));
    s->row = cairn_arena_take(arena, size + 1, sizeof(int64_t));
    if (!key || !place || !s->where || !s->root || !s->v || !s->right || !s->row)
        return CAIRN_NO_MEMORY;
    int64_t pairs = list_pairs(p, key);
    s->column = cairn_arena_take(arena, (size_t)pairs * n * n, sizeof(int32_t));
    s->matrix = cairn_arena_take(arena, (size_t)pairs * n * n, sizeof(double));
    if (!s->column || !s->matrix)
        return CAIRN_NO_MEMORY;
    lay_out(s, pairs, key, place);
    for (int j = 0; j < p->contacts; j++)
        locate(s, j, pairs, key, place);
    for (size_t i = 0; i < size; i++)
        s->root[i] = sqrt(p->mass_inverse[i]);
    return CAIRN_OK;
}

static void relative(cairn_newton_system *s, const double *r)
{
    cairn_problem_apply(s->p, r, s->v, s->u);
}

/* ---- the linear system ---------------------------------------------------------------------- */

/* X = A^-1 X for d rows of `columns` numbers, by elimination with row pivots. */
static void eliminate(int d, double A[MOST][MOST], int columns, double X[MOST][MOST + 1])
{
    for (int k = 0; k < d; k++) {
        int pivot = k;
        for (int i = k + 1; i < d; i++)
            pivot = fabs(A[i][k]) > fabs(A[pivot][k]) ? i : pivot;
        for (int l = 0; l < d; l++) {
            double keep = A[k][l];
            A[k][l] = A[pivot][l];
            A[pivot][l] = keep;
        }
        for (int l = 0; l < columns; l++) {
            double keep = X[k][l];
            X[k][l] = X[pivot][l];
            X[pivot][l] = keep;
        }
        for (int i = 0; i < d; i++) {
            double factor = i == k ? 0 : A[i][k] / A[k][k];
            for (int l = 0; l < d; l++)
                A[i][l] -= factor * A[k][l];
            for (int l = 0; l < columns; l++)
                X[i][l] -= factor * X[k][l];
        }
    }
    for (int i = 0; i < d; i++)
        for (int l = 0; l < columns; l++)
            X[i][l] /= A[i][i];
}

/* The columns of K = A^-1 B, and in the last one A^-1 F, for the closed contact j. */
static void contact_blocks(const cairn_newton_system *s, int j, double X[MOST][MOST + 1])
{
    int d = s->p->dimension;
    size_t first = (size_t)j * (size_t)d;
    const double *G = s->G + first * (size_t)d, *rho = s->rho + first;
    double A[MOST][MOST] = { { 0 } };
    for (int i = 0; i < d; i++) {
        double w = s->w[first + (size_t)i];
        for (int l = 0; l < d; l++) {
            size_t column = first + (size_t)l;
            X[i][l] = w * G[i * d + l] * rho[l];
            A[i][l] = w * ((i == l) - G[i * d + l]) +
                      (cairn_newton_pull(s, column) + s->eps[column]) * X[i][l];
        }
        X[i][d] = s->F[first + (size_t)i];
    }
    eliminate(d, A, d + 1, X);
}

/* matrix += M^-1/2 H_a' K H_b M^-1/2 */
static void add_block(cairn_newton_system *s, int j, int pair, double X[MOST][MOST + 1])
{
    const cairn_problem *p = s->p;
    int d = p->dimension, n = p->block_size;
    const int32_t *body = p->block + 2 * (size_t)j;
    double room[2][18];
    const double *Ha = cairn_rows(p, j, pair / 2, room[0]);
    const double *Hb = cairn_rows(p, j, pair % 2, room[1]);
    size_t first = (size_t)body[pair / 2] * (size_t)n, second = (size_t)body[pair % 2] * (size_t)n;
    int64_t stride = s->row[first + 1] - s->row[first];
    double *to = s->matrix + s->where[4 * (size_t)j + (size_t)pair], KH[MOST * 6];
    for (int i = 0; i < d; i++)
        for (int l = 0; l < n; l++) {
            KH[i * n + l] = 0;
            for (int k = 0; k < d; k++)
                KH[i * n + l] += X[i][k] * Hb[k * n + l] * s->root[second + (size_t)l];
        }
    for (int i = 0; i < n; i++)
        for (int l = 0; l < n; l++)
            for (int k = 0; k < d; k++)
                to[i * stride + l] += s->root[first + (size_t)i] * Ha[k * n + i] * KH[k * n + l];
}

/* The matrix, the right side, and step = -A^-1 F */
static cairn_matrix assemble(cairn_newton_system *s, const cairn_problem *half, const double *r)
{
    int d = s->p->dimension, n = s->p->block_size, size = s->p->blocks * n;
    memset(s->matrix, 0, (size_t)s->row[size] * sizeof(double));
    for (int row = 0; row < size; row++) {
        s->right[row] = 0;
        for (int64_t k = s->row[row]; k < s->row[row + 1]; k++)
            s->matrix[k] = s->column[k] == row;
    }
    for (int j = 0; j < s->p->contacts; j++) {
        double X[MOST][MOST + 1], *step = s->step + (size_t)j * (size_t)d;
        if (s->closed[j])
            contact_blocks(s, j, X);
        for (int i = 0; i < d; i++)
            step[i] = s->closed[j] ? -X[i][d] : -r[j * d + i];
        cairn_contact_push(half, d, n, j, step, s->right);
        for (int pair = 0; pair < 4 && s->closed[j]; pair++)
            if (s->where[4 * (size_t)j + (size_t)pair] >= 0)
                add_block(s, j, pair, X);
    }
    return (cairn_matrix){ size, size, s->row, s->column, s->matrix };
}

static cairn_status solve(cairn_newton_system *s, const double *r, bool *regular)
{
    cairn_problem half = *s->p; /* M^-1/2 for M^-1, and no w */
    int d = half.dimension, n = half.block_size, size = half.blocks * n;
    half.mass_inverse = s->root;
    half.w = NULL;
    cairn_matrix N = assemble(s, &half, r);
    TRY(cairn_lu_factor(s->lu, &N, regular));
    if (!*regular)
        return CAIRN_OK;
    TRY(cairn_lu_solve(s->lu, s->right, s->right));
    for (int i = 0; i < size; i++)
        s->right[i] *= s->root[i];
    for (int j = 0; j < half.contacts; j++) {
        double X[MOST][MOST + 1], u[MOST];
        if (!s->closed[j])
            continue;
        contact_blocks(s, j, X);
        cairn_contact_relative(&half, d, n, j, s->right, u);
        for (int i = 0; i < d; i++)
            for (int l = 0; l < d; l++)
                s->step[j * d + i] -= X[i][l] * u[l];
    }
    return CAIRN_OK;
}

const cairn_newton_form cairn_newton_bodies = { create, relative, solve };
