/* backend.h - back ends: where the numbers of a solve lie, and who computes with them.
 *
 * First-order solvers are written over the functions of one const table. They hold a problem's copy
 * and its vectors by pointers and never look inside, so a back end may keep them where it likes: in
 * another order, in other numbers, on another device. Back ends have names (cairn_backend_name);
 * others are loaded from shared objects at run time. docs/backends.md tells how to choose one and
 * how to write one. */
#ifndef CAIRN_BACKEND_H
#define CAIRN_BACKEND_H

#include "cairn/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a back end works with -------------------------------------------------------------- */

/** Of the table below: a shared object of another version is refused. */
enum { CAIRN_BACKEND_VERSION = 1 };

/** A problem's copy, made ready for repeated passes; a back end's own. */
typedef struct cairn_system cairn_system;
/** Numbers of a problem, all of one space; a back end's own. */
typedef struct cairn_vector cairn_vector;

/** What the numbers of a vector are. */
typedef enum cairn_space {
    CAIRN_SPACE_IMPULSES,  /* `dimension` numbers for each contact: impulses r, N s; also relative
                              velocities u and gradients, m/s                                     */
    CAIRN_SPACE_REDUCED,   /* likewise, without numbers that a back end knows to stay 0: what
                              gradient methods iterate in. May be the same as the one above       */
    CAIRN_SPACE_VELOCITIES /* `block_size` numbers for each block: v, m/s and rad/s; none in the
                              local form                                                          */
} cairn_space;

/** Memory of the host, lent for as long as a system lives: nobody frees it. */
typedef struct cairn_room {
    void *(*take)(void *from, size_t count, size_t size); /* as malloc(count * size); NULL: none */
    void *from;
} cairn_room;

/** Momentum before a sweep: r moves on to y = r + beta (r - point), velocities by the same rule,
 *  and the point from which the next move counts becomes r + lean (y - r): r for lean = 0. */
typedef struct cairn_momentum {
    double beta, lean;
} cairn_momentum;

/** What a sweep noticed on its way. */
typedef struct cairn_sweep {
    double change2; /* sum (w_j |r+ - r|)^2, (m/s)^2: an estimate of the judge's |e|^2            */
    double uphill;  /* sum (y - r+).(r+ - point): > 0 means momentum points the wrong way         */
} cairn_sweep;

/** Impulses and velocities that sweeps work on; a back end's own state begins with this. */
typedef struct cairn_sweeping {
    bool single;   /* in float: residuals below 5e-4 take sweeps in double                       */
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

/** A back end. Vectors of one call are of one system. Where nothing is said they are of any space,
 *  all of the same, and an output is none of the inputs. Results do not depend on the number of
 *  threads. Nothing here fails but for want of memory; numbers that are not finite stay so. */
typedef struct cairn_backend {
    int version; /* CAIRN_BACKEND_VERSION */
    const char *name;
    const char *summary; /* one line */

    /** A problem's copy; the problem outlives it. What a system makes is freed with it. */
    cairn_status (*create)(const cairn_problem *p, const cairn_room *room, cairn_system **out);
    void (*destroy)(cairn_system *s);

    /** A vector, of numbers that are not set. `home`, NULL or as many numbers of the host in the
     *  order of cairn_problem, is where it moves up from and down to; the back end may keep the
     *  vector there. Reduced vectors have none. */
    cairn_status (*vector)(cairn_system *s, cairn_space space, double *home, cairn_vector **out);
    void (*upload)(const cairn_system *s, cairn_vector *x);
    void (*download)(const cairn_system *s, const cairn_vector *x);

    /** to = from; between impulses and reduced ones as well. */
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

    /** What cairn_judge says of impulses r; v becomes their velocity, u = H v + w. */
    void (*judge)(cairn_system *s, cairn_law law, const cairn_vector *r, cairn_vector *v,
                  cairn_vector *u, cairn_judgement *out);
    /** m/s: what the residual of a law is relative to; once the system was judged. */
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

    /** Sweeps of block Gauss-Seidel with exact one-contact solves, from r and its velocities v.
     *  coarse: float will do for now. */
    cairn_status (*begin)(cairn_system *s, bool coarse, const cairn_vector *r,
                          const cairn_vector *v, cairn_sweeping **out);
    /** r and v move on by their momentum, then one sweep. */
    cairn_sweep (*sweep)(cairn_sweeping *state, cairn_law law, cairn_momentum momentum);
    /** The judge's |e| of a law, m/s, as the state's own numbers have it; where it `measures`. */
    double (*measure)(const cairn_sweeping *state, cairn_law law);
    /** The impulses of the state. */
    void (*unload)(const cairn_sweeping *state, cairn_vector *r);
    /** Velocities computed anew, and the same from the state's own impulses: rounding does not add
     *  up. */
    void (*load_velocities)(cairn_sweeping *state, const cairn_vector *v);
    void (*refresh)(cairn_sweeping *state);
} cairn_backend;

/** The one symbol that a shared object libcairn_backend_NAME.so shows: its table, which is there
 *  for as long as the object is loaded. */
#define CAIRN_BACKEND_SYMBOL "cairn_backend_table"
typedef const cairn_backend *cairn_backend_table_function(void);

/* ---- back ends by name ----------------------------------------------------------------------- */

/** Name of the back end `index` that comes with the library, NULL past the last; the first is the
 *  default. */
CAIRN_API const char *cairn_backend_name(int index);
/** One line about such a back end, NULL when unknown. */
CAIRN_API const char *cairn_backend_summary(const char *name);
/** The folder of shared objects: the environment's CAIRN_BACKENDS, or that of the installation. */
CAIRN_API const char *cairn_backend_folder(void);
/** Whether there is a back end of that name and it can be used; a shared object is loaded and let
 *  go. Fails with CAIRN_BAD_INPUT (no such name), CAIRN_IO_FAILED (its file cannot be loaded),
 *  CAIRN_UNSUPPORTED (it is no back end, or one of another version); `error` (may be NULL) says
 *  which. */
CAIRN_API cairn_status cairn_backend_check(const char *name, cairn_error *error);
/** The same, with the one line that a back end says of itself. */
CAIRN_API cairn_status cairn_backend_describe(const char *name, char *text, size_t capacity,
                                              cairn_error *error);
/** Names of the shared objects in the folder, one call for each: copies name `index` in the order
 *  of the alphabet, at most CAIRN_BACKEND_NAME bytes with the 0; false past the last. */
enum { CAIRN_BACKEND_NAME = 32 };
CAIRN_API bool cairn_backend_plugin(int index, char name[CAIRN_BACKEND_NAME]);

#ifdef __cplusplus
}
#endif
#endif
