/* forms.c - a one-step problem in other forms, see forms.h: with W formed, in other units,
 * restricted to some of its contacts. lcp.c has the complementarity problem. */
#include "problem/forms.h"

#include <stdlib.h>
#include <string.h>

#include "base/common.h"
#include "problem/cut.h"
#include "problem/operator.h"

/* ---- W formed ---------------------------------------------------------------------------- */

/* W = H M^-1 H' formed block by block.
 *
 * Block (i, j) is the sum over the shared velocity blocks k of H_i,k M_k^-1 H_j,k'. For each
 * contact the contacts on its blocks are marked, sorted, and their blocks summed: linear in the
 * number of couplings. */

/* The contacts on each velocity block, and their side. */
typedef struct adjacency {
    int32_t *start; /* blocks + 1                  */
    int32_t *entry; /* 2 * contact + side          */
    int32_t *seen;  /* contacts: last row with it  */
    int32_t *row;   /* neighbours of one contact   */
} adjacency;

/* A counting sort. Counts are stored two places on, so that after filling `start` holds the
 * starts. */
static cairn_status list_adjacency(const cairn_problem *p, cairn_arena *arena, adjacency *a)
{
    size_t blocks = (size_t)p->blocks, contacts = (size_t)p->contacts;
    a->start = cairn_arena_take(arena, blocks + 2, sizeof(int32_t));
    a->entry = cairn_arena_take(arena, 2 * contacts, sizeof(int32_t));
    a->seen = cairn_arena_take(arena, contacts, sizeof(int32_t));
    a->row = cairn_arena_take(arena, contacts, sizeof(int32_t));
    if (!a->start || !a->entry || !a->seen || !a->row)
        return CAIRN_NO_MEMORY;
    memset(a->start, 0, (blocks + 2) * sizeof(int32_t));
    memset(a->seen, 0xff, contacts * sizeof(int32_t)); /* -1 */
    for (size_t e = 0; e < 2 * contacts; e++)
        if (p->block[e] >= 0)
            a->start[p->block[e] + 2]++;
    for (size_t k = 1; k < blocks + 2; k++)
        a->start[k] += a->start[k - 1];
    for (size_t e = 0; e < 2 * contacts; e++)
        if (p->block[e] >= 0)
            a->entry[a->start[p->block[e] + 1]++] = (int32_t)e;
    return CAIRN_OK;
}

static int ascending(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Contacts that share a block with contact i, itself included, ascending. */
static int neighbours(const cairn_problem *p, adjacency *a, int i)
{
    int count = 0;
    a->seen[i] = i;
    a->row[count++] = i;
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * i + side];
        for (int k = block < 0 ? 0 : a->start[block]; block >= 0 && k < a->start[block + 1]; k++) {
            int j = a->entry[k] / 2;
            if (a->seen[j] != i) {
                a->seen[j] = i;
                a->row[count++] = j;
            }
        }
    }
    qsort(a->row, (size_t)count, sizeof(int32_t), ascending);
    return count;
}

/* block(i, j) = sum over shared blocks of H_i M^-1 H_j' */
static void couple(const cairn_problem *p, int i, int j, double *block)
{
    int d = p->dimension, n = p->block_size;
    memset(block, 0, (size_t)(d * d) * sizeof(double));
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++) {
            int shared = p->block[2 * i + a];
            if (shared < 0 || shared != p->block[2 * j + b])
                continue;
            double room[2][18];
            const double *Hi = cairn_rows(p, i, a, room[0]), *Hj = cairn_rows(p, j, b, room[1]);
            const double *inverse = p->mass_inverse + (size_t)shared * (size_t)n;
            for (int s = 0; s < d; s++)
                for (int t = 0; t < d; t++)
                    for (int k = 0; k < n; k++)
                        block[s * d + t] += Hi[s * n + k] * inverse[k] * Hj[t * n + k];
        }
}

typedef struct filling {
    int64_t *start;
    int32_t *column;
    double *value;
} filling;

/* The d rows of contact i, from its `count` neighbours in a->row. */
static void fill_contact(const cairn_problem *p, const adjacency *a, int i, int count, filling *W)
{
    int d = p->dimension;
    int64_t first = W->start[(size_t)i * (size_t)d];
    for (int k = 0; k < count; k++) {
        double block[CAIRN_MAX_DIMENSION * CAIRN_MAX_DIMENSION];
        couple(p, i, a->row[k], block);
        for (int s = 0; s < d; s++)
            for (int t = 0; t < d; t++) {
                int64_t at = first + (int64_t)s * count * d + (int64_t)k * d + t;
                W->column[at] = (int32_t)(a->row[k] * d + t);
                W->value[at] = block[s * d + t];
            }
    }
    for (int s = 0; s < d; s++)
        W->start[(size_t)(i * d + s) + 1] = first + (int64_t)(s + 1) * count * d;
}

cairn_status cairn_delassus_form(const cairn_problem *p, cairn_arena *arena, cairn_matrix *out)
{
    if (p->W) {
        *out = *p->W;
        return CAIRN_OK;
    }
    adjacency a;
    filling W;
    int d = p->dimension, size = d * p->contacts;
    int64_t couplings = 0;
    TRY(list_adjacency(p, arena, &a));
    for (int i = 0; i < p->contacts; i++)
        couplings += neighbours(p, &a, i);
    /* the first pass counted, the second one fills */
    memset(a.seen, 0xff, (size_t)p->contacts * sizeof(int32_t));
    W.start = cairn_arena_take(arena, (size_t)size + 1, sizeof(int64_t));
    W.column = cairn_arena_take(arena, (size_t)(couplings * d * d), sizeof(int32_t));
    W.value = cairn_arena_take(arena, (size_t)(couplings * d * d), sizeof(double));
    if (!W.start || !W.column || !W.value)
        return CAIRN_NO_MEMORY;
    W.start[0] = 0;
    for (int i = 0; i < p->contacts; i++) {
        int count = neighbours(p, &a, i);
        fill_contact(p, &a, i, count, &W);
    }
    *out = (cairn_matrix){ size, size, W.start, W.column, W.value };
    return CAIRN_OK;
}

cairn_status cairn_delassus_localise(const cairn_problem *p, cairn_arena *arena, cairn_matrix *W,
                                     cairn_problem *out)
{
    size_t size = (size_t)p->dimension * (size_t)p->contacts;
    /* v_free, H and the masses stay in *out, where they are not used once W is set */
    TRY(cairn_delassus_form(p, arena, W));
    *out = *p;
    out->W = W;
    if (p->W)
        return CAIRN_OK;
    double *q = cairn_arena_take(arena, size, sizeof(double));
    if (!q)
        return CAIRN_NO_MEMORY;
    cairn_problem_relative(p, NULL, p->v_free, q);
    out->q = q;
    out->blocks = 0;
    return CAIRN_OK;
}

/* ---- in other units ---------------------------------------------------------------------- */

/* A problem with rolling or spinning friction in units in which these are speeds.
 *
 * The rows of rolling and spinning are multiplied by the lengths of cone.h, sqrt(W_NN/W_kk), so
 * that the diagonal of W_jj has one scale. Methods with one step length for all components of a
 * contact then do not depend on the size of the bodies. Rows with bounds stay as they are. */

/* The length of each component, and the coefficients in these units. */
static void find_lengths(const cairn_problem *p, double *length, double *mu_rolling,
                         double *mu_spinning)
{
    size_t d = (size_t)p->dimension;
    for (int j = 0; j < p->contacts; j++) {
        double W[CAIRN_TRIANGLE], *own = length + (size_t)j * d;
        cairn_scaled_contact scaled;
        for (size_t i = 0; i < d; i++)
            own[i] = 1;
        mu_rolling[j] = mu_spinning[j] = 0;
        if (cairn_is_bounded(p, j))
            continue;
        cairn_contact_delassus(p, j, W);
        cairn_contact_scale(p, j, W, &scaled);
        memcpy(own, scaled.length, d * sizeof(double));
        mu_rolling[j] = p->rolling ? scaled.p.mu_rolling[0] : 0;
        mu_spinning[j] = p->spinning ? scaled.p.mu_spinning[0] : 0;
    }
}

/* x times the lengths, a copy */
static const double *times_lengths(const double *x, size_t size, const double *length,
                                   cairn_arena *arena)
{
    double *out = cairn_arena_take(arena, size, sizeof(double));
    for (size_t i = 0; out && i < size; i++)
        out[i] = length[i] * x[i];
    return out;
}

static cairn_status rescale_blocks(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out)
{
    size_t d = (size_t)p->dimension, n = (size_t)p->block_size, contacts = (size_t)p->contacts;
    double *H = cairn_arena_take(arena, contacts * 2 * d * n, sizeof(double));
    if (!H)
        return CAIRN_NO_MEMORY;
    for (size_t row = 0; row < contacts * 2 * d; row++)
        for (size_t k = 0; k < n; k++)
            H[row * n + k] = out->length[row / (2 * d) * d + row % d] * p->H[row * n + k];
    out->p.H = H;
    if (p->w && !(out->p.w = times_lengths(p->w, contacts * d, out->length, arena)))
        return CAIRN_NO_MEMORY;
    return CAIRN_OK;
}

static cairn_status rescale_local(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out)
{
    int size = p->dimension * p->contacts;
    double *value = cairn_arena_take(arena, (size_t)p->W->start[size], sizeof(double));
    out->p.q = times_lengths(p->q, (size_t)size, out->length, arena);
    if (!value || !out->p.q)
        return CAIRN_NO_MEMORY;
    for (int row = 0; row < size; row++)
        for (int64_t k = p->W->start[row]; k < p->W->start[row + 1]; k++)
            value[k] = out->length[row] * out->length[p->W->column[k]] * p->W->value[k];
    out->W = *p->W;
    out->W.value = value;
    out->p.W = &out->W;
    return CAIRN_OK;
}

cairn_status cairn_problem_rescale(const cairn_problem *p, cairn_arena *arena, cairn_rescaled *out)
{
    size_t contacts = (size_t)p->contacts;
    double *mu_rolling = cairn_arena_take(arena, contacts, sizeof(double));
    double *mu_spinning = cairn_arena_take(arena, contacts, sizeof(double));
    out->p = *p;
    out->length = cairn_arena_take(arena, contacts * (size_t)p->dimension, sizeof(double));
    if (!mu_rolling || !mu_spinning || !out->length)
        return CAIRN_NO_MEMORY;
    find_lengths(p, out->length, mu_rolling, mu_spinning);
    out->p.mu_rolling = mu_rolling;
    out->p.mu_spinning = mu_spinning;
    return p->W ? rescale_local(p, arena, out) : rescale_blocks(p, arena, out);
}

/* ---- some contacts alone ----------------------------------------------------------------- */

/* Some contacts of a one-step problem, as a separate problem, so that distant parts of a world need
 * not be solved again. */

/* The contacts to copy, and the memory for them. */
typedef struct taking {
    const cairn_problem *whole;
    const int32_t *contact;
    int count;
    cairn_arena *scratch;
    bool failed; /* no memory */
} taking;

/* Copy `bytes` bytes for each of `count` items. NULL stays NULL, since many arrays are optional; a
 * lack of memory is recorded in t->failed and checked once at the end. */
static const void *take(taking *t, const void *from, const int32_t *items, int count, size_t bytes)
{
    char *to = from ? cairn_arena_take(t->scratch, (size_t)count, bytes) : NULL;
    t->failed = t->failed || (from && !to);
    for (size_t k = 0; to && k < (size_t)count; k++)
        memcpy(to + k * bytes, (const char *)from + (size_t)items[k] * bytes, bytes);
    return to;
}

static const double *take_reals(taking *t, const double *from, int width)
{
    return take(t, from, t->contact, t->count, (size_t)width * sizeof(double));
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The index of each block in the part, -1: not in it; returns their number. They keep their
 * order. */
static int number_blocks(const taking *t, int32_t *number)
{
    int blocks = 0;
    memset(number, 0xff, (size_t)t->whole->blocks * sizeof *number); /* -1 */
    for (int k = 0; k < t->count; k++)
        for (int side = 0; side < 2; side++) {
            int32_t block = t->whole->block[2 * t->contact[k] + side];
            if (block >= 0)
                number[block] = 0;
        }
    for (int i = 0; i < t->whole->blocks; i++)
        if (number[i] == 0)
            number[i] = blocks++;
    return blocks;
}

static cairn_status take_blocks(taking *t, cairn_problem_part *out)
{
    const cairn_problem *whole = t->whole;
    cairn_problem *p = &out->problem;
    int32_t *number = cairn_arena_take(t->scratch, (size_t)whole->blocks, sizeof *number);
    int32_t *block = cairn_arena_take(t->scratch, 2 * (size_t)t->count, sizeof *block);
    if (!number || !block)
        return CAIRN_NO_MEMORY;
    p->blocks = number_blocks(t, number);
    out->block = cairn_arena_take(t->scratch, (size_t)p->blocks, sizeof *out->block);
    if (!out->block)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < whole->blocks; i++)
        if (number[i] >= 0)
            out->block[number[i]] = i;
    for (int k = 0; k < 2 * t->count; k++) {
        int32_t from = whole->block[2 * t->contact[k / 2] + k % 2];
        block[k] = from >= 0 ? number[from] : -1;
    }
    size_t bytes = (size_t)whole->block_size * sizeof(double);
    p->block = block;
    p->mass_inverse = take(t, whole->mass_inverse, out->block, p->blocks, bytes);
    p->v_free = take(t, whole->v_free, out->block, p->blocks, bytes);
    p->radius = take(t, whole->radius, out->block, p->blocks, sizeof(double));
    return CAIRN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Normals or tangents. Only contacts of balls have them: the arrays may end before the rows of
 * joints. */
static const cairn_vec3 *take_directions(taking *t, const cairn_vec3 *from)
{
    const cairn_vec3 none = { 0, 0, 0 };
    cairn_vec3 *to = from ? cairn_arena_take(t->scratch, (size_t)t->count, sizeof *to) : NULL;
    t->failed = t->failed || (from && !to);
    for (int k = 0; to && k < t->count; k++)
        to[k] = cairn_is_of_balls(t->whole, t->contact[k]) ? from[t->contact[k]] : none;
    return to;
}

/* Copy the stored rows, one contact after the other. `rows` is needed only if contacts with stored
 * rows and contacts of balls are mixed. */
static cairn_status take_rows(const taking *t, cairn_problem *p)
{
    const cairn_problem *whole = t->whole;
    size_t pair = 2 * (size_t)(p->dimension * p->block_size), stored = 0;
    int32_t *rows = cairn_arena_take(t->scratch, (size_t)t->count, sizeof *rows);
    if (!rows)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < t->count; k++)
        rows[k] = cairn_is_of_balls(whole, t->contact[k]) ? -1 : (int32_t)stored++;
    double *H = cairn_arena_take(t->scratch, stored * pair, sizeof *H);
    if (!H)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < t->count; k++)
        if (rows[k] >= 0)
            memcpy(H + (size_t)rows[k] * pair,
                   cairn_rows_stored(whole, p->dimension, p->block_size, t->contact[k], 0),
                   pair * sizeof *H);
    bool mixed = whole->normal && stored > 0;
    p->H = stored > 0 ? H : NULL;
    p->rows = mixed ? rows : NULL;
    return CAIRN_OK;
}

/* Cut the part like the whole: its blocks stay in their parts. */
static cairn_status take_cut(taking *t, cairn_problem_part *out)
{
    const cairn_cut *cut = t->whole->cut;
    const uint16_t *part = take(t, cut->part, out->block, out->problem.blocks, sizeof *cut->part);
    const int32_t *wall = take(t, cut->wall, t->contact, t->count, sizeof *cut->wall);
    const cairn_cutting by = { cut->contacts.parts, part, wall, cut->contacts.link };
    return part && !t->failed ? cairn_problem_cut(&out->problem, &by, t->scratch) : CAIRN_NO_MEMORY;
}

cairn_status cairn_problem_take_part(const cairn_problem *whole, const int32_t *contacts, int count,
                                     cairn_arena *scratch, cairn_problem_part *out)
{
    taking t = { whole, contacts, count, scratch, false };
    int d = whole->dimension;
    *out = (cairn_problem_part){ .problem = *whole, .contact = contacts };
    cairn_problem *p = &out->problem;
    p->contacts = count;
    p->segments = NULL;
    TRY(take_blocks(&t, out));
    TRY(take_rows(&t, p));
    p->normal = take_directions(&t, whole->normal);
    p->tangent = take_directions(&t, whole->tangent);
    p->bounded = take(&t, whole->bounded, contacts, count, sizeof *p->bounded);
    struct {
        const double **to;
        const double *from;
        int width;
    } columns[] = {
        { &p->w, whole->w, d },
        { &p->lower, whole->lower, d },
        { &p->upper, whole->upper, d },
        { &p->compliance, whole->compliance, d },
        { &p->b, whole->b, 1 },
        { &p->s, whole->s, 1 },
        { &p->mu, whole->mu, 1 },
        { &p->scale, whole->scale, 1 },
        { &p->most, whole->most, 1 },
        { &p->mu_rolling, whole->mu_rolling, 1 },
        { &p->mu_spinning, whole->mu_spinning, 1 },
    };
    for (size_t k = 0; k < sizeof columns / sizeof columns[0]; k++)
        *columns[k].to = take_reals(&t, columns[k].from, columns[k].width);
    if (t.failed)
        return CAIRN_NO_MEMORY;
    p->cut = NULL;
    return whole->cut ? take_cut(&t, out) : CAIRN_OK;
}

void cairn_part_spread(const int32_t *items, int count, int width, const double *part,
                       double *whole)
{
    size_t n = (size_t)width;
    for (int k = 0; k < count; k++)
        memcpy(whole + (size_t)items[k] * n, part + (size_t)k * n, n * sizeof *whole);
}
