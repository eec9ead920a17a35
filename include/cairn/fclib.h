/* fclib.h - contact problems as files: the HDF5 layout of FCLib; docs/fclib.md describes it.
 *
 * A file holds a local problem (u = W r + q) or a global one (M v = H r + f, u = H' v + w), in 2D
 * or 3D, and with it a solution and guesses. */
#ifndef CAIRN_FCLIB_H
#define CAIRN_FCLIB_H

#include "cairn/global.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Impulses and velocities stored with a problem. */
typedef struct cairn_fclib_answer {
    const double *r;    /* dimension per contact, N s                                           */
    const double *u;    /* dimension per contact, m/s; NULL: not stored                          */
    const double *v;    /* one per degree of freedom; NULL: not stored                           */
    double fclib_error; /* the measure of the literature, as stated in the file; NaN: not stated */
    const char *solver; /* who made it; "": not stated                                          */
} cairn_fclib_answer;

/** A problem and the other contents of its file. */
typedef struct cairn_fclib {
    cairn_problem problem;      /* in the local form: as stored, or condensed from `global`     */
    const cairn_global *global; /* NULL: a local problem                                        */
    cairn_condensed *condensed; /* of `global`: gives velocities; NULL without                  */
    const char *title;          /* "": none; likewise the next two                              */
    const char *description;
    const char *math_info;
    const cairn_fclib_answer *solution; /* NULL: none                                            */
    const cairn_fclib_answer *guesses;  /* `guess_count` of them                                 */
    int guess_count;
    void *owner; /* private                                                                      */
} cairn_fclib;

/** Read a file. Matrices may be stored as triplets, by columns or by rows. On failure *out is NULL
 *  and `error` (may be NULL) says what was found: CAIRN_NOT_FOUND (no such file), CAIRN_IO_FAILED,
 *  CAIRN_BAD_INPUT, CAIRN_NOT_FINITE, CAIRN_NO_MEMORY, CAIRN_UNSUPPORTED (rolling friction, or
 *  equality constraints). */
CAIRN_API cairn_status cairn_fclib_load(const char *path, cairn_fclib **out, cairn_error *error);
/** Free the result of cairn_fclib_load; NULL is allowed. */
CAIRN_API void cairn_fclib_destroy(cairn_fclib *fclib);

/** Write a file: a global one if `global` is given (`problem` is then ignored), else a local one;
 *  `condensed` and `owner` are not needed. The bias b of a local problem is added to q.
 *  cairn_fclib_load returns every number bit by bit. The file gets its name only when it is
 *  complete. */
CAIRN_API cairn_status cairn_fclib_save(const char *path, const cairn_fclib *fclib,
                                        cairn_error *error);

/** Write the problem of a file, as cairn_fclib_load gave it, with impulses r as its solution in
 *  place of the one it has: beside r the velocities u and, in a global file, v = M^-1 (f + H r),
 *  and fclib_error. Guesses and texts stay. `solver` may be NULL. */
CAIRN_API cairn_status cairn_fclib_save_answer(const char *path, const cairn_fclib *fclib,
                                               const char *solver, const double *r,
                                               cairn_error *error);

/** Write a problem of any form with impulses r (NULL: no solution). The block form becomes a
 *  global file with M diagonal, H, f = M v_free, and w with the bias b in its normal component. A
 *  degree of freedom with inverse mass 0 gets mass 1 and an empty row of H; the effect of its
 *  velocity on u is added to w. `title` and `solver` may be NULL. The format has no field for s
 *  (such a problem is refused) nor for the edges of cones (these are omitted). */
CAIRN_API cairn_status cairn_fclib_save_problem(const char *path, const cairn_problem *p,
                                                const char *title, const char *solver,
                                                const double *r, cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
