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

#include "base/memory.h"
#include "base/status.h"
#include "cairn/fclib.h"
#include "file/fclib.h"
#include "file/file.h"

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
