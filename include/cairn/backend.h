/* backend.h - back ends: where the vectors of a solve are stored, and what computes with them.
 *
 * First-order solvers are written in terms of one const table of functions. They hold a system and
 * its vectors by opaque pointers, so that a back end may store them as it likes: in another order,
 * in another precision, on another device. Back ends have names (cairn_backend_name); plug-ins are
 * loaded from shared objects at run time. docs/backends.md explains how to choose one and how to
 * write one. */
#ifndef CAIRN_BACKEND_H
#define CAIRN_BACKEND_H

#include "cairn/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a back end works with -------------------------------------------------------------- */

/** Version of the table below; a shared object with another version is refused. */
enum { CAIRN_BACKEND_VERSION = 2 };

/** A problem prepared for repeated passes; opaque, defined by the back end. */
typedef struct cairn_system cairn_system;
/** A vector of one space of a problem; opaque, defined by the back end. */
typedef struct cairn_vector cairn_vector;

/** The space of a vector: what its numbers are. */
typedef enum cairn_space {
    CAIRN_SPACE_IMPULSES,  /* `dimension` numbers for each contact: impulses r, N s; also relative
                              velocities u and gradients, m/s                                     */
    CAIRN_SPACE_REDUCED,   /* the same without the components that stay 0: the space in which
                              gradient methods iterate. It may equal the one above                */
    CAIRN_SPACE_VELOCITIES /* `block_size` numbers for each block: v, m/s and rad/s; none in the
                              local form                                                          */
} cairn_space;

/** A source of host memory. It stays valid as long as the system exists, and must not be freed. */
typedef struct cairn_room {
    void *(*take)(void *from, size_t count, size_t size); /* as malloc(count * size); NULL: none */
    void *from;
} cairn_room;

/** Momentum before a sweep: r is extrapolated to y = r + beta (r - point), velocities by the same
 *  rule. The point for the next extrapolation becomes r + lean (y - r), which is r for lean = 0. */
typedef struct cairn_momentum {
    double beta, lean;
} cairn_momentum;

/** Sums that a sweep computes. */
typedef struct cairn_sweep {
    double change2; /* sum (w_j |r+ - r|)^2, (m/s)^2: an estimate of the judge's |e|^2            */
    double uphill;  /* sum (y - r+).(r+ - point): > 0 means momentum points the wrong way         */
} cairn_sweep;

/** Impulses and velocities that sweeps work on; a back end's own state begins with this. */
typedef struct cairn_sweeping {
    bool single;   /* in float: residuals below 5e-4 need sweeps in double                       */
    bool measures; /* `measure` may be called                                                    */
} cairn_sweeping;

/** A step of a gradient method: from y, where the gradient is g, to r, where it is r_g; `last` is
 *  the point before r. All reduced; weight: w of each component, NULL: 1. */
typedef struct cairn_descent {
    const cairn_vector *y, *g, *r, *r_g, *last, *weight;
} cairn_descent;

/** Sums over all components of such a step. */
typedef struct cairn_descent_sums {
    double curvature;    /* (r - y).(r_g - g)             */
    double length2;      /* sum w (r - y)^2               */
    double way2;         /* sum (w (r - y))^2             */
    double uphill;       /* g.(r - last)                  */
    double change, size; /* |r - last|_inf, |last|_inf    */
} cairn_descent_sums;

/** The spectral method at r: gradient g, direction d, the gradient next_g at r + d, and the scales
 *  w of all components. */
typedef struct cairn_spectral {
    cairn_vector *r, *g, *d;
    const cairn_vector *next_g, *w;
} cairn_spectral;

/** Sums over all components with y = next_g - g. */
typedef struct cairn_spectral_sums {
    double slope, curvature; /* g.d, y.d             */
    double own, inverse;     /* sum w d^2, sum y^2/w */
} cairn_spectral_sums;

/* ---- the table ------------------------------------------------------------------------------- */

/** A back end. All vectors of one call belong to one system. Unless stated otherwise they may be of
 *  any space, all of the same one, and an output must not be one of the inputs. Results do not
 *  depend on the number of threads. Functions fail only if memory runs out; numbers that are not
 *  finite stay so. */
typedef struct cairn_backend {
    int version; /* CAIRN_BACKEND_VERSION */
    const char *name;
    const char *summary; /* one line */
    /** Why this machine cannot run it, in words; NULL: it can. NULL instead of the function: every
     *  machine can. */
    const char *(*reason)(void);

    /** Prepare a problem, which must outlive the system. Everything that a system creates is freed
     *  with it. */
    cairn_status (*create)(const cairn_problem *p, const cairn_room *room, cairn_system **out);
    void (*destroy)(cairn_system *s);

    /** A vector, not initialised. `home` is NULL or a host array of the same length in the order of
     *  cairn_problem, from which `upload` reads and to which `download` writes; the back end may
     *  use that array as the vector itself. Reduced vectors have no home. */
    cairn_status (*vector)(cairn_system *s, cairn_space space, double *home, cairn_vector **out);
    void (*upload)(const cairn_system *s, cairn_vector *x);
    void (*download)(const cairn_system *s, const cairn_vector *x);

    /** to = from; also between impulses and reduced vectors. */
    void (*copy)(const cairn_system *s, const cairn_vector *from, cairn_vector *to);
    /** x = 0 */
    void (*clear)(const cairn_system *s, cairn_vector *x);
    /** x = numbers from 1 to 4 that are always the same and orthogonal to no simple mode. */
    void (*probe)(const cairn_system *s, cairn_vector *x);
    /** y = a x + b y; x may be y. */
    void (*combine)(const cairn_system *s, double a, const cairn_vector *x, double b,
                    cairn_vector *y);
    /** y = r + beta (r - last) */
    void (*extrapolate)(const cairn_system *s, double beta, const cairn_vector *r,
                        const cairn_vector *last, cairn_vector *y);
    /** x.y */
    double (*dot)(const cairn_system *s, const cairn_vector *x, const cairn_vector *y);

    /** v = v_free + M^-1 H' r */
    void (*velocity)(const cairn_system *s, const cairn_vector *r, cairn_vector *v);
    /** g = (W + E) r + q + (b + mu s) n, E the compliance: the gradient of the dual at r, impulses
     *  or reduced; v becomes the velocity of r. */
    void (*gradient)(const cairn_system *s, const cairn_vector *r, cairn_vector *v,
                     cairn_vector *g);
    /** r = P_K(r), contact by contact, impulses or reduced; rows go to their bounds. */
    void (*project)(const cairn_system *s, cairn_vector *r);
    /** w = a scale > 0 of each component, kg^-1: trace(W_jj)/d for a contact, W_ii for a row with
     *  bounds, 1 where nothing can move; impulses or reduced. */
    void (*scales)(const cairn_system *s, cairn_vector *w);

    /** The judgement of impulses r, as by cairn_judge; v becomes their velocity, u = H v + w. */
    void (*judge)(cairn_system *s, cairn_law law, const cairn_vector *r, cairn_vector *v,
                  cairn_vector *u, cairn_judgement *out);
    /** m/s: the denominator of the relative residual of a law; only after a judgement. */
    double (*scale)(const cairn_system *s, cairn_law law);
    /** m/s: the largest -(u_N + b) of the contacts; at least 0. */
    double (*approach)(const cairn_system *s, const cairn_vector *u);

    /** r = P_K(y - g/(L w)); weight NULL: w = 1. Reduced. */
    void (*descend)(const cairn_system *s, double L, const cairn_vector *weight,
                    const cairn_vector *y, const cairn_vector *g, cairn_vector *r);
    cairn_descent_sums (*measure_descent)(const cairn_system *s, const cairn_descent *d);

    /** d = P_K(r - lambda/w g) - r; returns sum (w d)^2. Impulses. */
    double (*aim)(const cairn_system *s, double lambda, const cairn_spectral *at);
    cairn_spectral_sums (*measure_spectral)(const cairn_system *s, const cairn_spectral *at);
    /** r += t d, g += t (next_g - g) */
    void (*follow)(const cairn_system *s, double t, const cairn_spectral *at);

    /** Begin sweeps of block Gauss-Seidel with exact one-contact solves, from r and its velocities
     *  v. coarse: float is accurate enough for now. */
    cairn_status (*begin)(cairn_system *s, bool coarse, const cairn_vector *r,
                          const cairn_vector *v, cairn_sweeping **out);
    /** Extrapolate r and v by their momentum, then sweep once. */
    cairn_sweep (*sweep)(cairn_sweeping *state, cairn_law law, cairn_momentum momentum);
    /** The judge's |e| of a law, m/s, in the precision of the state; only if it `measures`. */
    double (*measure)(const cairn_sweeping *state, cairn_law law);
    /** Copy the impulses of the state to r. */
    void (*unload)(const cairn_sweeping *state, cairn_vector *r);
    /** Replace the velocities of the state by accurate ones, or recompute them from its impulses,
     *  so that rounding errors do not accumulate. */
    void (*load_velocities)(cairn_sweeping *state, const cairn_vector *v);
    void (*refresh)(cairn_sweeping *state);
} cairn_backend;

/** The symbol that a shared object libcairn_backend_NAME.so exports: a function that returns its
 *  table, which is valid as long as the object is loaded. */
#define CAIRN_BACKEND_SYMBOL "cairn_backend_table"
typedef const cairn_backend *cairn_backend_table_function(void);

/* ---- back ends by name ----------------------------------------------------------------------- */

/** Name of the built-in back end `index`, NULL past the last; the first is the default. */
CAIRN_API const char *cairn_backend_name(int index);
/** One line about such a back end, NULL when unknown. */
CAIRN_API const char *cairn_backend_summary(const char *name);
/** The folder of shared objects: the environment variable CAIRN_BACKENDS, or the folder of the
 *  installation. */
CAIRN_API const char *cairn_backend_folder(void);
/** Check that there is a back end of that name and that it can be used; a shared object is loaded
 *  and unloaded. Fails with CAIRN_BAD_INPUT (no such name), CAIRN_IO_FAILED (its file cannot be
 *  loaded), CAIRN_UNSUPPORTED (it is not a back end, or has another version); `error` (may be NULL)
 *  says which. */
CAIRN_API cairn_status cairn_backend_check(const char *name, cairn_error *error);
/** The same, and copy the one-line summary of the back end to `text`. */
CAIRN_API cairn_status cairn_backend_describe(const char *name, char *text, size_t capacity,
                                              cairn_error *error);
/** Copy the name of plug-in `index` in the folder, in alphabetical order, with at most
 *  CAIRN_BACKEND_NAME bytes including the 0; false past the last. */
enum { CAIRN_BACKEND_NAME = 32 };
CAIRN_API bool cairn_backend_plugin(int index, char name[CAIRN_BACKEND_NAME]);

#ifdef __cplusplus
}
#endif
#endif
