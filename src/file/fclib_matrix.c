/* fclib_matrix.c - a matrix group of an FCLib file.
 *
 * int32 numbers m, n (rows, columns), nz and nzmax; int32 lists p and i; float64 list x.
 *     nz >= 0   triplets: p = column, i = row
 *     nz = -1   compressed columns: column c is p[c] .. p[c + 1], i = row
 *     nz = -2   compressed rows: row r is p[r] .. p[r + 1], i = column
 * Lists may be longer than their used part. Every size and index is checked before it is used. */
#include "file/fclib.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "math/factor.h"

/* A group as it is in the file; the lists may have more entries than are used. */
typedef struct stored {
    int32_t rows, columns, nz;
    cairn_hdf5_numbers p, i, x;
} stored;

/* ---- reading -------------------------------------------------------------------------------- */

/* Put the name of the group in front of an error's key: name/list. */
static void name_place(cairn_error *error, const char *name)
{
    char inside[sizeof error->key];
    if (!error)
        return;
    memcpy(inside, error->key, sizeof inside);
    snprintf(error->key, sizeof error->key, "%s%s%.80s", name, inside[0] ? "/" : "", inside);
}

static cairn_status read_size(hid_t group, stored *s, cairn_error *error)
{
    TRY(cairn_hdf5_read_int(group, "m", &s->rows, error));
    TRY(cairn_hdf5_read_int(group, "n", &s->columns, error));
    if (s->rows < 0 || s->columns < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, s->rows < 0 ? "m" : "n",
                          "found a matrix of %d x %d", s->rows, s->columns);
    return CAIRN_OK;
}

/* The size is compared before the lists are read. */
static cairn_status read_lists(hid_t group, cairn_fclib_size size, cairn_arena *scratch, stored *s,
                               cairn_error *error)
{
    TRY(read_size(group, s, error));
    if (s->rows != size.rows || s->columns != size.columns)
        return cairn_fail(error, CAIRN_BAD_INPUT, "m", "found %d x %d, expected %d x %d", s->rows,
                          s->columns, size.rows, size.columns);
    TRY(cairn_hdf5_read_int(group, "nz", &s->nz, error));
    TRY(cairn_hdf5_read(group, "p", CAIRN_HDF5_INT, scratch, &s->p, error));
    TRY(cairn_hdf5_read(group, "i", CAIRN_HDF5_INT, scratch, &s->i, error));
    return cairn_hdf5_read(group, "x", CAIRN_HDF5_REAL, scratch, &s->x, error);
}

/* `key` is the list of the file that the indices come from. */
static cairn_status check_indices(const int32_t *index, int64_t count, int limit, const char *key,
                                  cairn_error *error)
{
    for (int64_t k = 0; k < count; k++)
        if (index[k] < 0 || index[k] >= limit)
            return cairn_fail(error, CAIRN_BAD_INPUT, key,
                              "entry %lld has index %d, expected 0 to %d", (long long)k, index[k],
                              limit - 1);
    return CAIRN_OK;
}

/* Check the starts of a compressed matrix with `lines` rows or columns: they begin with 0, never
 * decrease and stay within the lists i and x. *count is the number of entries. */
static cairn_status check_starts(const stored *s, int lines, int64_t *count, cairn_error *error)
{
    const int32_t *p = s->p.data;
    int room = s->i.count < s->x.count ? s->i.count : s->x.count;
    if (s->p.count <= lines)
        return cairn_fail(error, CAIRN_BAD_INPUT, "p", "found %d numbers, expected %d", s->p.count,
                          lines + 1);
    if (p[0] != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, "p", "the first is %d, expected 0", p[0]);
    for (int k = 0; k < lines; k++)
        if (p[k + 1] < p[k] || p[k + 1] > room)
            return cairn_fail(error, CAIRN_BAD_INPUT, "p",
                              "start %d is %d, expected %d to %d: the lists i and x have %d and %d "
                              "numbers",
                              k + 1, p[k + 1], p[k], room, s->i.count, s->x.count);
    *count = p[lines];
    return CAIRN_OK;
}

/* Turn compressed rows or columns into a list with the line of every entry. */
static cairn_status expand(const stored *s, int lines, cairn_arena *scratch, int64_t *count,
                           int32_t **line, cairn_error *error)
{
    const int32_t *p = s->p.data;
    TRY(check_starts(s, lines, count, error));
    *line = cairn_arena_take(scratch, (size_t)*count, sizeof(int32_t));
    if (!*line)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < lines; k++)
        for (int32_t e = p[k]; e < p[k + 1]; e++)
            (*line)[e] = k;
    return CAIRN_OK;
}

/* Triplets are used in place: no copy. */
static cairn_status list_triplets(const stored *s, cairn_triplets *out, cairn_error *error)
{
    if (s->nz > s->p.count || s->nz > s->i.count || s->nz > s->x.count)
        return cairn_fail(error, CAIRN_BAD_INPUT, "nz",
                          "found %d triplets, but the lists p, i, x have %d, %d, %d numbers", s->nz,
                          s->p.count, s->i.count, s->x.count);
    *out = (cairn_triplets){ s->nz, s->i.data, s->p.data, s->x.data };
    return CAIRN_OK;
}

/* The entries of a matrix stored in any of the three ways, with checked indices. Triplets are
 * the common form; cairn_sparse_gather makes rows of them. */
static cairn_status list_entries(const stored *s, cairn_arena *scratch, cairn_triplets *out,
                                 cairn_error *error)
{
    int32_t *line = NULL;
    int64_t count = 0;
    if (s->nz >= 0) {
        TRY(list_triplets(s, out, error));
    } else if (s->nz == CAIRN_FCLIB_COLUMNS) {
        TRY(expand(s, s->columns, scratch, &count, &line, error));
        *out = (cairn_triplets){ count, s->i.data, line, s->x.data };
    } else if (s->nz == CAIRN_FCLIB_ROWS) {
        TRY(expand(s, s->rows, scratch, &count, &line, error));
        *out = (cairn_triplets){ count, line, s->i.data, s->x.data };
    } else {
        return cairn_fail(error, CAIRN_BAD_INPUT, "nz",
                          "found %d, expected -2 (rows), -1 (columns) or a number of triplets",
                          s->nz);
    }
    bool by_rows = s->nz == CAIRN_FCLIB_ROWS;
    TRY(check_indices(out->row, out->count, s->rows, by_rows ? "p" : "i", error));
    return check_indices(out->column, out->count, s->columns, by_rows ? "i" : "p", error);
}

/* Gathering adds up entries at the same place, and sorts each row by column. */
static cairn_status read_group(hid_t group, cairn_fclib_size size, cairn_arena *scratch,
                               cairn_arena *arena, cairn_matrix *out, cairn_error *error)
{
    stored s;
    cairn_triplets entries;
    TRY(read_lists(group, size, scratch, &s, error));
    TRY(list_entries(&s, scratch, &entries, error));
    TRY(cairn_sparse_gather(s.rows, s.columns, &entries, arena, out));
    return cairn_sparse_check(out, "x", error);
}

/* The lists of the file live in a scratch arena, so that only the gathered matrix stays in the
 * caller's. Errors get the name of the group in front of their key. */
cairn_status cairn_fclib_matrix_read(hid_t parent, const char *name, cairn_fclib_size size,
                                     cairn_arena *arena, cairn_matrix *out, cairn_error *error)
{
    hid_t group;
    cairn_arena scratch = { 0 };
    TRY(cairn_hdf5_open_group(parent, name, &group, error));
    cairn_status status = read_group(group, size, &scratch, arena, out, error);
    if (status != CAIRN_OK)
        name_place(error, name);
    cairn_arena_destroy(&scratch);
    H5Gclose(group);
    return status;
}

cairn_status cairn_fclib_matrix_size(hid_t parent, const char *name, int *rows, int *columns,
                                     cairn_error *error)
{
    hid_t group;
    stored s = { 0 };
    TRY(cairn_hdf5_open_group(parent, name, &group, error));
    cairn_status status = read_size(group, &s, error);
    *rows = s.rows;
    *columns = s.columns;
    H5Gclose(group);
    return status;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Write a dataset. types: in the file, in memory; the caller owns them. `space` is closed here,
 * also if it is invalid. */
static cairn_status write_dataset(hid_t parent, const char *name, const hid_t types[2], hid_t space,
                                  const void *data, cairn_error *error)
{
    hid_t dataset =
        H5Dcreate2(parent, name, types[0], space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    cairn_status status = CAIRN_OK;
    if (dataset < 0 || (H5Sget_simple_extent_npoints(space) > 0 &&
                        H5Dwrite(dataset, types[1], H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0))
        status = cairn_hdf5_fail(error, "cannot write");
    if (dataset >= 0)
        H5Dclose(dataset);
    if (space >= 0)
        H5Sclose(space);
    return status;
}

cairn_status cairn_fclib_list_write(hid_t parent, const char *name, cairn_hdf5_values values,
                                    cairn_error *error)
{
    bool real = values.type == CAIRN_HDF5_REAL;
    const hid_t types[2] = { real ? H5T_IEEE_F64LE : H5T_STD_I32LE,
                             real ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32 };
    hsize_t extent = (hsize_t)values.count;
    return write_dataset(parent, name, types, H5Screate_simple(1, &extent, NULL), values.data,
                         error);
}

/* FCLib reads texts of fixed length with a final zero, unlike the texts of run files. */
cairn_status cairn_fclib_text_write(hid_t parent, const char *name, const char *text,
                                    cairn_error *error)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    const hid_t types[2] = { type, type };
    if (type < 0)
        return cairn_hdf5_fail(error, "cannot write");
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    cairn_status status = write_dataset(parent, name, types, H5Screate(H5S_SCALAR), text, error);
    H5Tclose(type);
    return status;
}

static cairn_status write_int(hid_t group, const char *name, int32_t value, cairn_error *error)
{
    return cairn_fclib_list_write(group, name, (cairn_hdf5_values){ CAIRN_HDF5_INT, 1, &value },
                                  error);
}

/* Write m, n, nz, p, i, x of a group whose lists are known. nzmax is the capacity of the lists in
 * FCLib's own struct; here they have no spare entries. */
static cairn_status write_lists(hid_t group, const stored *s, cairn_error *error)
{
    TRY(write_int(group, "nzmax", s->x.count, error));
    TRY(write_int(group, "m", s->rows, error));
    TRY(write_int(group, "n", s->columns, error));
    TRY(write_int(group, "nz", s->nz, error));
    const struct {
        const char *name;
        cairn_hdf5_type type;
        cairn_hdf5_numbers list;
    } lists[] = { { "p", CAIRN_HDF5_INT, s->p },
                  { "i", CAIRN_HDF5_INT, s->i },
                  { "x", CAIRN_HDF5_REAL, s->x } };
    for (int k = 0; k < 3; k++) {
        cairn_hdf5_values values = { lists[k].type, lists[k].list.count, lists[k].list.data };
        TRY(cairn_fclib_list_write(group, lists[k].name, values, error));
    }
    return CAIRN_OK;
}

/* FCLib has 32-bit starts; the caller has checked that they fit. */
static cairn_status write_rows(hid_t group, const cairn_matrix *A, cairn_arena *scratch,
                               cairn_error *error)
{
    int count = A->rows ? (int)A->start[A->rows] : 0;
    int32_t *start = cairn_arena_take(scratch, (size_t)A->rows + 1, sizeof(int32_t));
    if (!start)
        return CAIRN_NO_MEMORY;
    start[0] = 0;
    for (int row = 0; row < A->rows; row++)
        start[row + 1] = (int32_t)A->start[row + 1];
    stored s = { A->rows,
                 A->columns,
                 CAIRN_FCLIB_ROWS,
                 { start, A->rows + 1 },
                 { A->column, count },
                 { A->value, count } };
    return write_lists(group, &s, error);
}

static cairn_status write_triplets(hid_t group, const cairn_matrix *A, cairn_arena *scratch,
                                   cairn_error *error)
{
    cairn_matrix T; /* A' by rows: the entries of A by columns, as FCLib expects */
    TRY(cairn_sparse_transpose(A, scratch, &T));
    int count = (int)T.start[T.rows];
    int32_t *column = cairn_arena_take(scratch, (size_t)count, sizeof(int32_t));
    if (!column)
        return CAIRN_NO_MEMORY;
    for (int k = 0; k < T.rows; k++)
        for (int64_t e = T.start[k]; e < T.start[k + 1]; e++)
            column[e] = k;
    stored s = { A->rows,           A->columns,          count,
                 { column, count }, { T.column, count }, { T.value, count } };
    return write_lists(group, &s, error);
}

cairn_status cairn_fclib_matrix_write(hid_t parent, const char *name, const cairn_matrix *A,
                                      bool triplets, cairn_error *error)
{
    hid_t group;
    cairn_arena scratch = { 0 };
    /* a matrix without rows need not have starts */
    if (A->rows && A->start[A->rows] > INT32_MAX)
        return cairn_fail(error, CAIRN_UNSUPPORTED, name, "more entries than such a file can hold");
    TRY(cairn_hdf5_group(parent, name, &group, error));
    cairn_status status = triplets ? write_triplets(group, A, &scratch, error)
                                   : write_rows(group, A, &scratch, error);
    cairn_arena_destroy(&scratch);
    H5Gclose(group);
    return status;
}
