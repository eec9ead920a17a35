/* fclib_read.c - reads FCLib files; docs/fclib.md describes the layout.
 *
 * 1. The root group tells the form: fclib_local or fclib_global, or one of these with _rolling.
 * 2. spacedim and the list mu give the dimension and the number of contacts. All other sizes must
 *    follow from these two, and from the list f in a global problem. With rolling friction spacedim
 *    is 5 (N, T1, T2, R1, R2), and a list mu_r has the coefficients.
 * 3. Equality constraints are refused.
 * 4. A global problem is condensed to the local form.
 * 5. /solution and /guesses are read if they exist. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/fclib.h"
#include "file/file.h"
#include "file/formats.h"
#include "math/factor.h"

/* A file in memory. The public struct comes first, so both have the same address; the rest is
 * what its pointers refer to. */
typedef struct loaded {
    cairn_fclib face; /* first: what the caller sees */
    cairn_arena arena;
    cairn_matrix W;
    cairn_global global;
    int size; /* dimension * contacts */
} loaded;

/* Answers in the arena. */
typedef struct answer_list {
    cairn_fclib_answer *items;
    int count;
} answer_list;

/* What the name of the root group tells. */
typedef struct form {
    const char *group;
    bool global, rolling;
} form;

static const form forms[] = {
    { "fclib_local", false, false },
    { "fclib_global", true, false },
    { "fclib_local_rolling", false, true },
    { "fclib_global_rolling", true, true },
};

/* ---- lists ---------------------------------------------------------------------------------- */

/* A list of finite numbers; `expected` < 0: of any length. */
static cairn_status read_list(hid_t group, const char *name, int expected, loaded *l,
                              cairn_hdf5_numbers *out, cairn_error *error)
{
    TRY(cairn_hdf5_read(group, name, CAIRN_HDF5_REAL, &l->arena, out, error));
    if (expected >= 0 && out->count != expected)
        return cairn_fail(error, CAIRN_BAD_INPUT, name, "found %d numbers, expected %d", out->count,
                          expected);
    const double *x = out->data;
    for (int i = 0; i < out->count; i++)
        if (!isfinite(x[i]))
            return cairn_fail(error, CAIRN_NOT_FINITE, name, "number %d is %g", i, x[i]);
    return CAIRN_OK;
}

/* A list that must exist, with `expected` numbers. */
static cairn_status take_list(hid_t group, const char *name, int expected, loaded *l,
                              const double **out, cairn_error *error)
{
    cairn_hdf5_numbers list;
    TRY(read_list(group, name, expected, l, &list, error));
    *out = list.data;
    return CAIRN_OK;
}

/* The same for a list that may be missing; *out then keeps its value. */
static cairn_status take_optional(hid_t group, const char *name, int expected, loaded *l,
                                  const double **out, cairn_error *error)
{
    return cairn_hdf5_has(group, name) ? take_list(group, name, expected, l, out, error) : CAIRN_OK;
}

/* ---- (2), (3): the form --------------------------------------------------------------------- */

/* In FCLib spacedim is the number of components of a contact: 2 in the plane, 3 in space, 5 with
 * rolling friction in space. */
static cairn_status read_dimension(hid_t group, bool rolling, loaded *l, cairn_error *error)
{
    int32_t dimension;
    TRY(cairn_hdf5_read_int(group, "spacedim", &dimension, error));
    if (rolling ? dimension != 5 : dimension != 2 && dimension != 3)
        return cairn_fail(error, CAIRN_BAD_INPUT, "spacedim", "found %d, expected %s", dimension,
                          rolling ? "5 with rolling friction" : "2 or 3");
    l->face.problem.dimension = dimension;
    l->face.problem.rolling = rolling ? 2 : 0;
    return CAIRN_OK;
}

static cairn_status refuse_equalities(cairn_error *error, const char *name)
{
    return cairn_fail(error, CAIRN_UNSUPPORTED, name,
                      "equality constraints (joints) are not treated");
}

/* A matrix or a list of equality constraints must be empty when it is there. */
static cairn_status check_no_matrix(hid_t group, const char *name, cairn_error *error)
{
    int rows = 0, columns = 0;
    if (!cairn_hdf5_has(group, name))
        return CAIRN_OK;
    TRY(cairn_fclib_matrix_size(group, name, &rows, &columns, error));
    return rows > 0 && columns > 0 ? refuse_equalities(error, name) : CAIRN_OK;
}

/* The same for a list. */
static cairn_status check_no_list(hid_t vectors, const char *name, loaded *l, cairn_error *error)
{
    cairn_hdf5_numbers list;
    if (!cairn_hdf5_has(vectors, name))
        return CAIRN_OK;
    TRY(read_list(vectors, name, -1, l, &list, error));
    return list.count > 0 ? refuse_equalities(error, name) : CAIRN_OK;
}

static cairn_status read_mu(hid_t vectors, loaded *l, cairn_error *error)
{
    cairn_problem *p = &l->face.problem;
    cairn_hdf5_numbers mu;
    TRY(read_list(vectors, "mu", -1, l, &mu, error));
    /* sizes are ints: dimension * contacts must fit */
    if (mu.count > INT32_MAX / p->dimension)
        return cairn_fail(error, CAIRN_BAD_INPUT, "mu", "found %d contacts", mu.count);
    p->mu = mu.data;
    p->contacts = mu.count;
    l->size = p->dimension * mu.count;
    return p->rolling ? take_list(vectors, "mu_r", p->contacts, l, &p->mu_rolling, error)
                      : CAIRN_OK;
}

/* ---- the two forms -------------------------------------------------------------------------- */

/* The matrices V and R and the list s describe equality constraints; W and q the contacts. */
static cairn_status read_local(hid_t group, hid_t vectors, loaded *l, cairn_error *error)
{
    cairn_fclib_size square = { l->size, l->size };
    TRY(check_no_matrix(group, "V", error));
    TRY(check_no_matrix(group, "R", error));
    TRY(check_no_list(vectors, "s", l, error));
    TRY(take_list(vectors, "q", l->size, l, &l->face.problem.q, error));
    TRY(cairn_fclib_matrix_read(group, "W", square, &l->arena, &l->W, error));
    l->face.problem.W = &l->W;
    return cairn_problem_check(&l->face.problem, error);
}

/* u = H' v + w with M v = H r + f, where H has a row for each degree of freedom and a column for
 * each component of a contact. Condensing gives W = H' M^-1 H and q = H' M^-1 f + w. */
static cairn_status read_global(hid_t group, hid_t vectors, loaded *l, cairn_error *error)
{
    cairn_global *g = &l->global;
    cairn_hdf5_numbers f;
    TRY(check_no_matrix(group, "G", error));
    TRY(check_no_list(vectors, "b", l, error));
    TRY(read_list(vectors, "f", -1, l, &f, error));
    TRY(take_list(vectors, "w", l->size, l, &g->w, error));
    cairn_fclib_size square = { f.count, f.count }, tall = { f.count, l->size };
    TRY(cairn_fclib_matrix_read(group, "M", square, &l->arena, &g->M, error));
    TRY(cairn_fclib_matrix_read(group, "H", tall, &l->arena, &g->H, error));
    g->dimension = l->face.problem.dimension;
    g->contacts = l->face.problem.contacts;
    g->f = f.data;
    g->mu = l->face.problem.mu;
    g->rolling = l->face.problem.rolling;
    g->mu_rolling = l->face.problem.mu_rolling;
    TRY(cairn_condense(g, &l->face.condensed, error)); /* (4) */
    l->face.global = g;
    l->face.problem = *cairn_condensed_problem(l->face.condensed);
    return CAIRN_OK;
}

/* The texts are optional and never NULL: "" stands for a missing one. */
static cairn_status read_info(hid_t group, loaded *l, cairn_error *error)
{
    hid_t info;
    cairn_fclib *face = &l->face;
    face->title = face->description = face->math_info = "";
    if (!cairn_hdf5_has(group, "info"))
        return CAIRN_OK;
    TRY(cairn_hdf5_open_group(group, "info", &info, error));
    cairn_status status = cairn_hdf5_read_text(info, "title", &l->arena, &face->title, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_read_text(info, "description", &l->arena, &face->description, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_read_text(info, "math_info", &l->arena, &face->math_info, error);
    H5Gclose(info);
    return status;
}

/* The dimension comes first, since all sizes follow from it and from mu. */
static cairn_status read_form(hid_t group, const form *f, loaded *l, cairn_error *error)
{
    hid_t vectors;
    TRY(read_dimension(group, f->rolling, l, error));
    TRY(read_info(group, l, error));
    TRY(cairn_hdf5_open_group(group, "vectors", &vectors, error));
    cairn_status status = read_mu(vectors, l, error);
    if (status == CAIRN_OK)
        status = f->global ? read_global(group, vectors, l, error)
                           : read_local(group, vectors, l, error);
    H5Gclose(vectors);
    return status;
}

/* (1) */
static cairn_status read_problem(hid_t file, loaded *l, cairn_error *error)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        hid_t group;
        if (!cairn_hdf5_has(file, forms[i].group))
            continue;
        TRY(cairn_hdf5_open_group(file, forms[i].group, &group, error));
        cairn_status status = read_form(group, &forms[i], l, error);
        H5Gclose(group);
        return status;
    }
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                      "not an FCLib file: it has neither a group fclib_local nor fclib_global");
}

/* ---- (5) answers ---------------------------------------------------------------------------- */

/* Only running out of memory is an error: the attribute is optional, and nothing depends on it. */
static cairn_status read_solver(hid_t group, loaded *l, cairn_fclib_answer *out)
{
    char text[256] = "";
    cairn_status status = cairn_hdf5_read_text_attribute(group, "solver", text, sizeof text);
    if (status == CAIRN_NO_MEMORY)
        return status;
    if (status == CAIRN_OK) {
        char *copy = cairn_arena_take(&l->arena, strlen(text) + 1, 1);
        if (!copy)
            return CAIRN_NO_MEMORY;
        strcpy(copy, text);
        out->solver = copy;
    }
    return CAIRN_OK;
}

static cairn_status read_lists(hid_t group, loaded *l, cairn_fclib_answer *out, cairn_error *error)
{
    TRY(take_list(group, "r", l->size, l, &out->r, error));
    TRY(take_optional(group, "u", l->size, l, &out->u, error));
    if (l->face.global)
        TRY(take_optional(group, "v", l->global.M.rows, l, &out->v, error));
    /* files of other programs have the error under a different name; without either it stays NaN */
    if (!cairn_hdf5_read_real_attribute(group, "fclib_error", &out->fclib_error))
        cairn_hdf5_read_real_attribute(group, "siconos_error", &out->fclib_error);
    return read_solver(group, l, out);
}

/* Defaults mean "unknown": NaN for the error, "" for the solver, NULL for u and v. */
static cairn_status read_answer(hid_t parent, const char *name, loaded *l, cairn_fclib_answer *out,
                                cairn_error *error)
{
    hid_t group;
    *out = (cairn_fclib_answer){ .fclib_error = NAN, .solver = "" };
    TRY(cairn_hdf5_open_group(parent, name, &group, error));
    cairn_status status = read_lists(group, l, out, error);
    H5Gclose(group);
    return status;
}

static cairn_status read_solution(hid_t file, loaded *l, cairn_error *error)
{
    if (!cairn_hdf5_has(file, "solution"))
        return CAIRN_OK;
    cairn_fclib_answer *solution = cairn_arena_take(&l->arena, 1, sizeof *solution);
    if (!solution)
        return CAIRN_NO_MEMORY;
    l->face.solution = solution;
    return read_answer(file, "solution", l, solution, error);
}

/* The number of guesses, refused if it exceeds the number of entries of the group: memory is
 * allocated for that many. */
static cairn_status count_guesses(hid_t group, int *out, cairn_error *error)
{
    H5G_info_t about = { 0 };
    int32_t count;
    TRY(cairn_hdf5_read_int(group, "number_of_guesses", &count, error));
    if (count < 0 || H5Gget_info(group, &about) < 0 || (hsize_t)count > about.nlinks)
        return cairn_fail(error, CAIRN_BAD_INPUT, "guesses", "found %d guesses announced, %d there",
                          count, (int)about.nlinks - 1);
    *out = count;
    return CAIRN_OK;
}

static cairn_status read_guess_group(hid_t group, loaded *l, cairn_error *error)
{
    int count = 0;
    TRY(count_guesses(group, &count, error));
    cairn_fclib_answer *guesses = cairn_arena_take(&l->arena, (size_t)count, sizeof *guesses);
    if (!guesses)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        char name[16];
        /* FCLib numbers guesses from 1 */
        snprintf(name, sizeof name, "%d", i + 1);
        TRY(read_answer(group, name, l, &guesses[i], error));
    }
    l->face.guesses = guesses;
    l->face.guess_count = count;
    return CAIRN_OK;
}

static cairn_status read_guesses(hid_t file, loaded *l, cairn_error *error)
{
    hid_t group;
    if (!cairn_hdf5_has(file, "guesses"))
        return CAIRN_OK;
    TRY(cairn_hdf5_open_group(file, "guesses", &group, error));
    cairn_status status = read_guess_group(group, l, error);
    H5Gclose(group);
    return status;
}

/* ---- the file ------------------------------------------------------------------------------- */

static cairn_status read_file(const char *path, loaded *l, cairn_error *error)
{
    hid_t file;
    TRY(cairn_hdf5_open_foreign(path, &file, error));
    cairn_status status = read_problem(file, l, error);
    if (status == CAIRN_OK)
        status = read_solution(file, l, error);
    if (status == CAIRN_OK)
        status = read_guesses(file, l, error);
    H5Fclose(file);
    return status;
}

cairn_status cairn_fclib_load(const char *path, cairn_fclib **out, cairn_error *error)
{
    loaded *l = cairn_memory_zeroed(1, sizeof *l);
    *out = NULL;
    if (!l)
        return CAIRN_NO_MEMORY;
    l->face.owner = l;
    cairn_hdf5_quiet quiet = cairn_hdf5_quiet_begin();
    cairn_status status = read_file(path, l, error);
    cairn_hdf5_quiet_end(quiet);
    if (status == CAIRN_OK) {
        /* the key of each dataset is set before it is read, also if nothing fails */
        if (error)
            *error = (cairn_error){ 0 };
        *out = &l->face;
        return CAIRN_OK;
    }
    cairn_error_set_file(error, path);
    cairn_fclib_destroy(&l->face);
    return status;
}

void cairn_fclib_destroy(cairn_fclib *fclib)
{
    if (!fclib)
        return;
    loaded *l = fclib->owner;
    cairn_condensed_destroy(l->face.condensed);
    cairn_arena_destroy(&l->arena);
    cairn_memory_free(l);
}

/* ---- matrices -------------------------------------------------------------------------------- */

/* A matrix group of an FCLib file.
 *
 * int32 numbers m, n (rows, columns), nz and nzmax; int32 lists p and i; float64 list x.
 *     nz >= 0   triplets: p = column, i = row
 *     nz = -1   compressed columns: column c is p[c] .. p[c + 1], i = row
 *     nz = -2   compressed rows: row r is p[r] .. p[r + 1], i = column
 * Lists may be longer than their used part. Every size and index is checked before it is used. */

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
static cairn_status read_entries(hid_t group, cairn_fclib_size size, cairn_arena *scratch,
                                 stored *s, cairn_error *error)
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
    TRY(read_entries(group, size, scratch, &s, error));
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
