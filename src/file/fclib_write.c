/* fclib_write.c - writes FCLib files; docs/fclib.md describes the layout. W is written as
 * compressed rows, M and H as triplets sorted by column.
 *
 * A problem in block form becomes a global one:
 *     M = diag(1/mass_inverse), f = M v_free, H' = the rows of problem.h's H, w_N += b
 * A degree of freedom k that nothing can move (mass_inverse 0) gets M_kk = 1, an empty row of H,
 * and w += H_k v_free,k: it keeps its velocity, and contacts still see it. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/fclib.h"
#include "file/file.h"
#include "file/formats.h"
#include "file/hdf5.h"
#include "math/factor.h"

/* ---- pieces --------------------------------------------------------------------------------- */

static cairn_status write_reals(hid_t group, const char *name, size_t count, const double *x,
                                cairn_error *error)
{
    return cairn_fclib_list_write(group, name,
                                  (cairn_hdf5_values){ CAIRN_HDF5_REAL, (int)count, x }, error);
}

static cairn_status write_int(hid_t group, const char *name, int32_t value, cairn_error *error)
{
    return cairn_fclib_list_write(group, name, (cairn_hdf5_values){ CAIRN_HDF5_INT, 1, &value },
                                  error);
}

static cairn_status write_info(hid_t group, const cairn_fclib *face, cairn_error *error)
{
    hid_t info;
    TRY(cairn_hdf5_group(group, "info", &info, error));
    const char *const texts[3][2] = { { "title", face->title },
                                      { "description", face->description },
                                      { "math_info", face->math_info } };
    cairn_status status = CAIRN_OK;
    for (int i = 0; i < 3 && status == CAIRN_OK; i++)
        status = cairn_fclib_text_write(info, texts[i][0], texts[i][1] ? texts[i][1] : "", error);
    H5Gclose(info);
    return status;
}

/* ---- problems ------------------------------------------------------------------------------- */

/* Write mu_r if there is rolling friction. */
static cairn_status write_rolling(hid_t vectors, int rolling, size_t contacts,
                                  const double *mu_rolling, cairn_error *error)
{
    return rolling ? write_reals(vectors, "mu_r", contacts, mu_rolling, error) : CAIRN_OK;
}

/* FCLib has no bias b, so it is added to the normal component of q. */
static cairn_status write_local_lists(hid_t vectors, const cairn_problem *p, cairn_arena *arena,
                                      cairn_error *error)
{
    size_t d = (size_t)p->dimension, size = d * (size_t)p->contacts;
    double *q = cairn_arena_take(arena, size, sizeof(double));
    if (!q)
        return CAIRN_NO_MEMORY;
    if (size)
        memcpy(q, p->q, size * sizeof(double));
    for (int j = 0; p->b && j < p->contacts; j++)
        q[(size_t)j * d] += p->b[j];
    TRY(write_reals(vectors, "q", size, q, error));
    TRY(write_reals(vectors, "mu", (size_t)p->contacts, p->mu, error));
    return write_rolling(vectors, p->rolling, (size_t)p->contacts, p->mu_rolling, error);
}

static cairn_status write_global_lists(hid_t vectors, const cairn_global *g, cairn_error *error)
{
    TRY(write_reals(vectors, "f", (size_t)g->M.rows, g->f, error));
    TRY(write_reals(vectors, "w", (size_t)g->H.columns, g->w, error));
    TRY(write_reals(vectors, "mu", (size_t)g->contacts, g->mu, error));
    return write_rolling(vectors, g->rolling, (size_t)g->contacts, g->mu_rolling, error);
}

static cairn_status write_vectors(hid_t group, const cairn_fclib *face, cairn_arena *arena,
                                  cairn_error *error)
{
    hid_t vectors;
    TRY(cairn_hdf5_group(group, "vectors", &vectors, error));
    cairn_status status = face->global ? write_global_lists(vectors, face->global, error)
                                       : write_local_lists(vectors, &face->problem, arena, error);
    H5Gclose(vectors);
    return status;
}

/* A global problem is stored instead of its condensed form, which could be derived but not
 * undone. */
static cairn_status write_form(hid_t group, const cairn_fclib *face, cairn_arena *arena,
                               cairn_error *error)
{
    const cairn_global *g = face->global;
    TRY(write_int(group, "spacedim", g ? g->dimension : face->problem.dimension, error));
    if (g) {
        TRY(cairn_fclib_matrix_write(group, "M", &g->M, true, error));
        TRY(cairn_fclib_matrix_write(group, "H", &g->H, true, error));
    } else {
        TRY(cairn_fclib_matrix_write(group, "W", face->problem.W, false, error));
    }
    TRY(write_vectors(group, face, arena, error));
    return write_info(group, face, error);
}

/* ---- answers -------------------------------------------------------------------------------- */

/* Only r is required. NaN is the mark of an unknown error and is not written. */
static cairn_status write_answer_lists(hid_t group, const cairn_fclib *face,
                                       const cairn_fclib_answer *answer, cairn_error *error)
{
    const cairn_problem *p = &face->problem;
    size_t size =
        face->global ? (size_t)face->global->H.columns : (size_t)p->dimension * (size_t)p->contacts;
    if (answer->v && face->global)
        TRY(write_reals(group, "v", (size_t)face->global->M.rows, answer->v, error));
    if (answer->u)
        TRY(write_reals(group, "u", size, answer->u, error));
    TRY(write_reals(group, "r", size, answer->r, error));
    if (!isnan(answer->fclib_error))
        TRY(cairn_hdf5_real(group, "fclib_error", answer->fclib_error, error));
    return answer->solver && answer->solver[0]
               ? cairn_hdf5_text(group, "solver", answer->solver, error)
               : CAIRN_OK;
}

static cairn_status write_answer(hid_t parent, const char *name, const cairn_fclib *face,
                                 const cairn_fclib_answer *answer, cairn_error *error)
{
    hid_t group;
    TRY(cairn_hdf5_group(parent, name, &group, error));
    cairn_status status = write_answer_lists(group, face, answer, error);
    H5Gclose(group);
    return status;
}

/* The groups of guesses are named 1, 2, ... */
static cairn_status write_guess_group(hid_t group, const cairn_fclib *face, cairn_error *error)
{
    TRY(write_int(group, "number_of_guesses", face->guess_count, error));
    for (int i = 0; i < face->guess_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i + 1);
        TRY(write_answer(group, name, face, &face->guesses[i], error));
    }
    return CAIRN_OK;
}

static cairn_status write_answers(hid_t file, const cairn_fclib *face, cairn_error *error)
{
    hid_t group;
    if (face->solution)
        TRY(write_answer(file, "solution", face, face->solution, error));
    if (face->guess_count == 0)
        return CAIRN_OK;
    TRY(cairn_hdf5_group(file, "guesses", &group, error));
    cairn_status status = write_guess_group(group, face, error);
    H5Gclose(group);
    return status;
}

/* Refuse problems that an FCLib file cannot represent. */
static cairn_status check_place(const cairn_problem *p, cairn_error *error)
{
    if (p->s)
        return cairn_fail(error, CAIRN_UNSUPPORTED, "s", "such a file has no place for s");
    if (p->rolling + p->spinning && (p->rolling != 2 || p->spinning || !p->mu_rolling))
        return cairn_fail(error, CAIRN_UNSUPPORTED, p->spinning ? "spinning" : "rolling",
                          "such a file has a place for rolling friction in 3D alone");
    for (int j = 0; p->bounded && j < p->contacts; j++)
        if (p->bounded[j])
            return cairn_fail(error, CAIRN_UNSUPPORTED, "bounded",
                              "contact %d has rows with bounds (a joint), for which such a file "
                              "has no place",
                              j);
    return CAIRN_OK;
}

/* ---- the file ------------------------------------------------------------------------------- */

/* The name of the root group tells the form: local or global, with rolling friction or without. */
static cairn_status write_all(hid_t file, const cairn_fclib *face, cairn_error *error)
{
    hid_t group;
    cairn_arena arena = { 0 };
    bool rolling = (face->global ? face->global->rolling : face->problem.rolling) != 0;
    const char *const names[2][2] = { { "fclib_local", "fclib_local_rolling" },
                                      { "fclib_global", "fclib_global_rolling" } };
    TRY(cairn_hdf5_group(file, names[face->global != NULL][rolling], &group, error));
    cairn_status status = write_form(group, face, &arena, error);
    cairn_arena_destroy(&arena);
    H5Gclose(group);
    if (status == CAIRN_OK)
        status = write_answers(file, face, error);
    return status;
}

/* A callback of cairn_hdf5_write_file. */
static cairn_status fill_file(hid_t file, const void *context, cairn_error *error)
{
    return write_all(file, context, error);
}

cairn_status cairn_fclib_save(const char *path, const cairn_fclib *fclib, cairn_error *error)
{
    cairn_status status = CAIRN_OK;
    if (!fclib->global && !fclib->problem.W)
        status = cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the problem is not in the local form");
    else
        status = check_place(&fclib->problem, error);
    if (status == CAIRN_OK)
        status = cairn_hdf5_write_file(path, fill_file, fclib, error);
    if (status != CAIRN_OK)
        cairn_error_set_file(error, path);
    return status;
}

/* ---- a problem of any form ------------------------------------------------------------------ */

/* Entries of H while they are collected: a row for each degree of freedom, a column for each
 * component of a contact. */
typedef struct collecting {
    const cairn_problem *p;
    int64_t count;
    int32_t *row, *column;
    double *value;
    double *w;
} collecting;

/* Add one row of the block form: side `side` of contact j, component i. Side blocks < 0 are held
 * bodies, whose motion is in w already. */
static void collect_row(collecting *c, int j, int side, int i, const double *H)
{
    const cairn_problem *p = c->p;
    int n = p->block_size, d = p->dimension, block = p->block[2 * j + side];
    for (int k = 0; block >= 0 && k < n; k++) {
        size_t at = (size_t)block * (size_t)n + (size_t)k;
        if (H[k] == 0)
            continue;
        if (p->mass_inverse[at] == 0) {
            c->w[j * d + i] += H[k] * p->v_free[at];
            continue;
        }
        c->row[c->count] = (int32_t)at;
        c->column[c->count] = j * d + i;
        c->value[c->count++] = H[k];
    }
}

/* At most 2 sides x dimension rows x block_size entries per contact; zeros are not stored. */
static cairn_status collect_H(const cairn_problem *p, cairn_arena *arena, cairn_global *g)
{
    size_t size = (size_t)p->dimension * (size_t)p->contacts,
           most = 2 * size * (size_t)p->block_size;
    collecting c = { .p = p,
                     .row = cairn_arena_take(arena, most, sizeof(int32_t)),
                     .column = cairn_arena_take(arena, most, sizeof(int32_t)),
                     .value = cairn_arena_take(arena, most, sizeof(double)),
                     .w = cairn_arena_doubles(arena, size) };
    if (!c.row || !c.column || !c.value || !c.w)
        return CAIRN_NO_MEMORY;
    if (p->w && size)
        memcpy(c.w, p->w, size * sizeof(double));
    for (int j = 0; j < p->contacts; j++) {
        c.w[j * p->dimension] += p->b ? p->b[j] : 0;
        for (int side = 0; side < 2; side++) {
            double H[CAIRN_MAX_DIMENSION * 6];
            cairn_problem_rows(p, j, side, H);
            for (int i = 0; i < p->dimension; i++)
                collect_row(&c, j, side, i, H + i * p->block_size);
        }
    }
    cairn_triplets entries = { c.count, c.row, c.column, c.value };
    g->w = c.w;
    return cairn_sparse_gather(g->M.rows, (int)size, &entries, arena, &g->H);
}

/* M is diagonal: row k has one entry. A degree of freedom without mass gets 1, so that M can be
 * inverted; its row of H is empty, so the value has no effect. */
static cairn_status collect_M(const cairn_problem *p, cairn_arena *arena, cairn_global *g)
{
    size_t n = (size_t)p->blocks * (size_t)p->block_size;
    int64_t *start = cairn_arena_take(arena, n + 1, sizeof(int64_t));
    int32_t *column = cairn_arena_take(arena, n, sizeof(int32_t));
    double *mass = cairn_arena_take(arena, n, sizeof(double));
    double *f = cairn_arena_take(arena, n, sizeof(double));
    if (!start || !column || !mass || !f)
        return CAIRN_NO_MEMORY;
    start[0] = 0;
    for (size_t k = 0; k < n; k++) {
        start[k + 1] = (int64_t)k + 1;
        column[k] = (int32_t)k;
        mass[k] = p->mass_inverse[k] > 0 ? 1 / p->mass_inverse[k] : 1;
        f[k] = mass[k] * p->v_free[k];
    }
    g->M = (cairn_matrix){ (int)n, (int)n, start, column, mass };
    g->f = f;
    return CAIRN_OK;
}

/* The friction coefficients are shared with the problem, not copied. */
static cairn_status globalise(const cairn_problem *p, cairn_arena *arena, cairn_global *g)
{
    g->dimension = p->dimension;
    g->contacts = p->contacts;
    g->mu = p->mu;
    g->rolling = p->rolling;
    g->mu_rolling = p->mu_rolling;
    TRY(collect_M(p, arena, g));
    return collect_H(p, arena, g);
}

/* The velocities that follow from r, with the bias in u as in the file, and the judge's residual
 * in FCLib's own measure. */
static cairn_status complete_answer(const cairn_problem *p, cairn_arena *arena,
                                    cairn_fclib_answer *out)
{
    cairn_judgement judgement;
    size_t d = (size_t)p->dimension;
    double *v = cairn_arena_doubles(arena, (size_t)p->blocks * (size_t)p->block_size);
    double *u = cairn_arena_doubles(arena, d * (size_t)p->contacts);
    if (!v || !u)
        return CAIRN_NO_MEMORY;
    cairn_judge(p, CAIRN_LAW_COULOMB, out->r, v, u, &judgement);
    for (int j = 0; p->b && j < p->contacts; j++)
        u[(size_t)j * d] += p->b[j];
    out->u = u;
    out->v = p->W ? NULL : v;
    out->fclib_error = judgement.coulomb.fclib;
    return CAIRN_OK;
}

/* Fill the public struct of a file with pointers to the caller's arrays or into the arena.
 * `known` has r (may be NULL) and the solver's name. */
static cairn_status prepare(const cairn_problem *p, const cairn_fclib_answer *known,
                            cairn_arena *arena, cairn_fclib *face, cairn_error *error)
{
    TRY(check_place(p, error));
    TRY(cairn_problem_check(p, error));
    cairn_global *g = cairn_arena_take(arena, 1, sizeof *g);
    cairn_fclib_answer *answer = cairn_arena_take(arena, 1, sizeof *answer);
    if (!g || !answer)
        return CAIRN_NO_MEMORY;
    *answer = *known;
    if (known->r) {
        TRY(complete_answer(p, arena, answer));
        face->solution = answer;
    }
    if (p->W) {
        face->problem = *p;
        return CAIRN_OK;
    }
    TRY(globalise(p, arena, g));
    face->global = g;
    return CAIRN_OK;
}

cairn_status cairn_fclib_save_problem(const char *path, const cairn_problem *p, const char *title,
                                      const char *solver, const double *r, cairn_error *error)
{
    cairn_arena arena = { 0 };
    char description[96];
    snprintf(description, sizeof description, "written by cairn %s", cairn_version());
    cairn_fclib face = { .title = title, .description = description };
    cairn_fclib_answer known = { .r = r, .solver = solver };
    cairn_status status = prepare(p, &known, &arena, &face, error);
    if (status == CAIRN_OK)
        status = cairn_fclib_save(path, &face, error);
    else
        cairn_error_set_file(error, path);
    cairn_arena_destroy(&arena);
    return status;
}

/* ---- the answer to a file ------------------------------------------------------------------- */

/* Complete an answer. A global file also has v, which its condensed problem does not give. */
static cairn_status complete_file_answer(const cairn_fclib *fclib, cairn_arena *arena,
                                         cairn_fclib_answer *out)
{
    TRY(complete_answer(&fclib->problem, arena, out));
    if (!fclib->condensed)
        return CAIRN_OK;
    double *v = cairn_arena_doubles(arena, (size_t)fclib->global->M.rows);
    if (!v)
        return CAIRN_NO_MEMORY;
    out->v = v;
    return cairn_condensed_velocity(fclib->condensed, out->r, v);
}

/* The file is written anew with the given answer; guesses and texts of the old one are kept. */
cairn_status cairn_fclib_save_answer(const char *path, const cairn_fclib *fclib, const char *solver,
                                     const double *r, cairn_error *error)
{
    cairn_arena arena = { 0 };
    cairn_fclib_answer answer = { .r = r, .solver = solver };
    cairn_fclib face = *fclib;
    face.solution = &answer;
    cairn_status status = complete_file_answer(fclib, &arena, &answer);
    if (status == CAIRN_OK)
        status = cairn_fclib_save(path, &face, error);
    cairn_arena_destroy(&arena);
    return status;
}
