/* sparse.c - building and checking sparse matrices in compressed rows. Entries are sorted by two
 * counting sorts, columns first, rows second (a radix sort), which is linear in their number. */
#include <math.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "math/factor.h"

/* ---- gather --------------------------------------------------------------------------------- */

/* start[k + 1] = end of the entries whose key is k; start[0] = 0 */
static void count_keys(int keys, int64_t count, const int32_t *key, int64_t *start)
{
    memset(start, 0, ((size_t)keys + 1) * sizeof(int64_t));
    for (int64_t e = 0; e < count; e++)
        start[key[e] + 1]++;
    for (int k = 0; k < keys; k++)
        start[k + 1] += start[k];
}

/* order = the entries of `from` (NULL: 0, 1, 2, ...) by ascending key; equal keys keep their order.
 * `next` holds the starts of the keys and is overwritten. */
static void sort_by(int64_t count, const int32_t *key, const int64_t *from, int64_t *next,
                    int64_t *order)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t e = from ? from[k] : k;
        order[next[key[e]]++] = e;
    }
}

/* Sort the entries by rows, with ascending columns in each row. */
static cairn_status sort_entries(int rows, int columns, const cairn_triplets *e, cairn_arena *arena,
                                 int64_t **order)
{
    size_t count = (size_t)e->count;
    int64_t *start =
        cairn_arena_take(arena, (size_t)(rows > columns ? rows : columns) + 1, sizeof(int64_t));
    int64_t *first = cairn_arena_take(arena, count, sizeof(int64_t));
    *order = cairn_arena_take(arena, count, sizeof(int64_t));
    if (!start || !first || !*order)
        return CAIRN_NO_MEMORY;
    count_keys(columns, e->count, e->column, start);
    sort_by(e->count, e->column, NULL, start, first);
    count_keys(rows, e->count, e->row, start);
    sort_by(e->count, e->row, first, start, *order);
    return CAIRN_OK;
}

/* The arrays of a matrix while they are filled. */
typedef struct building {
    int64_t *start;
    int32_t *column;
    double *value;
} building;

/* Reserve the arrays for up to `count` entries; duplicates that are added up leave some unused. */
static cairn_status take(int rows, int64_t count, cairn_arena *arena, building *b)
{
    b->start = cairn_arena_take(arena, (size_t)rows + 1, sizeof(int64_t));
    b->column = cairn_arena_take(arena, (size_t)count, sizeof(int32_t));
    b->value = cairn_arena_take(arena, (size_t)count, sizeof(double));
    return b->start && b->column && b->value ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* Copy the entries in order; an entry at the same place as the last one is added to it. */
static void fill(int rows, const cairn_triplets *e, const int64_t *order, building *b)
{
    int64_t at = 0, k = 0;
    b->start[0] = 0;
    for (int row = 0; row < rows; row++) {
        for (; k < e->count && e->row[order[k]] == row; k++) {
            int32_t column = e->column[order[k]];
            double value = e->value[order[k]];
            if (at > b->start[row] && b->column[at - 1] == column) {
                b->value[at - 1] += value;
                continue;
            }
            b->column[at] = column;
            b->value[at++] = value;
        }
        b->start[row + 1] = at;
    }
}

cairn_status cairn_sparse_gather(int rows, int columns, const cairn_triplets *entries,
                                 cairn_arena *arena, cairn_matrix *out)
{
    /* an arena of its own, because `arena` must hold the result alone */
    cairn_arena scratch = { 0 };
    int64_t *order;
    building b;
    cairn_status status = sort_entries(rows, columns, entries, &scratch, &order);
    if (status == CAIRN_OK)
        status = take(rows, entries->count, arena, &b);
    if (status == CAIRN_OK) {
        fill(rows, entries, order, &b);
        *out = (cairn_matrix){ rows, columns, b.start, b.column, b.value };
    }
    cairn_arena_destroy(&scratch);
    return status;
}

/* ---- transpose ------------------------------------------------------------------------------ */

cairn_status cairn_sparse_transpose(const cairn_matrix *A, cairn_arena *arena, cairn_matrix *out)
{
    int64_t count = A->rows ? A->start[A->rows] : 0;
    building b;
    TRY(take(A->columns, count, arena, &b));
    count_keys(A->columns, count, A->column, b.start);
    for (int row = 0; row < A->rows; row++)
        for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) {
            int64_t at = b.start[A->column[k]]++;
            b.column[at] = row;
            b.value[at] = A->value[k];
        }
    /* filling has moved each start to the end of its row, which is the start of the next one */
    memmove(b.start + 1, b.start, (size_t)A->columns * sizeof(int64_t));
    b.start[0] = 0;
    *out = (cairn_matrix){ A->columns, A->rows, b.start, b.column, b.value };
    return CAIRN_OK;
}

/* ---- access and checks ---------------------------------------------------------------------- */

/* By bisection, since columns ascend. */

double cairn_sparse_entry(const cairn_matrix *A, int row, int column)
{
    int64_t low = A->start[row], high = A->start[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (A->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < A->start[row + 1] && A->column[low] == column ? A->value[low] : 0;
}

static cairn_status check_row(const cairn_matrix *A, int row, const char *name, cairn_error *error)
{
    for (int64_t k = A->start[row]; k < A->start[row + 1]; k++) {
        if (A->column[k] < 0 || A->column[k] >= A->columns)
            return cairn_fail(error, CAIRN_BAD_INPUT, name, "row %d names column %d of %d", row,
                              A->column[k], A->columns);
        if (k > A->start[row] && A->column[k] <= A->column[k - 1])
            return cairn_fail(error, CAIRN_BAD_INPUT, name, "the columns of row %d do not ascend",
                              row);
        if (!isfinite(A->value[k]))
            return cairn_fail(error, CAIRN_NOT_FINITE, name, "entry (%d, %d) of %s is %g", row,
                              A->column[k], name, A->value[k]);
    }
    return CAIRN_OK;
}

cairn_status cairn_sparse_check(const cairn_matrix *A, const char *name, cairn_error *error)
{
    if (A->rows < 0 || A->columns < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, name, "found %d x %d", A->rows, A->columns);
    if (A->rows && A->start[0] != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, name, "the first row does not start at 0");
    /* first the starts, because check_row uses them as indices */
    for (int row = 0; row < A->rows; row++)
        if (A->start[row + 1] < A->start[row])
            return cairn_fail(error, CAIRN_BAD_INPUT, name, "row %d ends before it begins", row);
    for (int row = 0; row < A->rows; row++)
        TRY(check_row(A, row, name, error));
    return CAIRN_OK;
}
