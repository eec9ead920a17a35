/* backend.h - the kernels that first-order solvers run on. A method is written once over these;
 * a back end is one const table of them. */
#ifndef CAIRN_BACKEND_BACKEND_H
#define CAIRN_BACKEND_BACKEND_H

#include "base/arena.h"
#include "cairn/problem.h"

typedef struct cairn_kernels cairn_kernels;

/* Which of the exact one-contact solves a contact takes (problem/local.h). */
typedef enum cairn_local_kind {
    CAIRN_LOCAL_CONE,  /* any W                                             */
    CAIRN_LOCAL_BALL,  /* 3D: W = diag(W_N, W_T, W_T)                       */
    CAIRN_LOCAL_PARTS, /* with rolling or spinning friction                 */
    CAIRN_LOCAL_ROWS   /* rows with bounds                                  */
} cairn_local_kind;

/* A problem made ready for repeated passes. */
typedef struct cairn_system {
    const cairn_problem *p;
    const cairn_kernels *kernels;
    size_t r_count; /* dimension * contacts                               */
    size_t v_count; /* block_size * blocks                                */
    double *shift;  /* b + mu s of each contact                           */
    double *W;     /* W_jj of each contact as a lower triangle; NULL until `diagonals` was called */
    uint8_t *kind; /* how each contact is solved, a cairn_local_kind; likewise                    */
    struct cairn_batches
        *batches; /* NULL until asked for: batch.h                                */
    struct cairn_batches
        *general; /* likewise, of any bodies: batch_general.h                     */
} cairn_system;

/* Momentum before a sweep: r moves on to y = r + beta (r - point), velocities by the same rule, and
 * the point from which the next move counts becomes r + lean (y - r). With lean = 0 it is r. */
typedef struct cairn_momentum {
    double beta, lean;
} cairn_momentum;

/* What a sweep noticed on its way. */
typedef struct cairn_sweep {
    double change2; /* sum (w_j |r+ - r|)^2, (m/s)^2: an estimate of the judge's |e|^2            */
    double uphill;  /* sum (y - r+).(r+ - point): > 0 means momentum points the wrong way         */
} cairn_sweep;

/* Sweeps of block Gauss-Seidel with exact local solves, on a state in a layout of their own. */
typedef struct cairn_sweeps {
    const char *name;
    bool single; /* in float */
    /* The state in the arena, from r and its velocities v; NULL: not for this problem. */
    cairn_status (*begin)(cairn_system *s, cairn_arena *arena, const double *r, const double *v,
                          void **out);
    /* r and v move on by their momentum, then one sweep. */
    cairn_sweep (*sweep)(void *state, cairn_law law, cairn_momentum momentum);
    /* The judge's |e| of a law, m/s, as the state's own numbers have it; NULL: ask the judge. */
    double (*measure)(const void *state, cairn_law law);
    /* The impulses of the state. */
    void (*unload)(const void *state, double *r);
    /* Velocities computed anew. */
    void (*load_velocities)(void *state, const double *v);
    /* Velocities from the state's own impulses, so that rounding does not add up. */
    void (*refresh)(void *state);
    /* The next move counts from here. */
    void (*forget)(void *state);
} cairn_sweeps;

enum { CAIRN_WORTH_BATCHES = 200 }; /* contacts: fewer are swept one by one */

extern const cairn_sweeps cairn_sweeps_scalar;      /* any problem, in double          */
extern const cairn_sweeps cairn_sweeps_f32;         /* balls, in batches, in float     */
extern const cairn_sweeps cairn_sweeps_f64;         /* balls, in batches, in double    */
extern const cairn_sweeps cairn_sweeps_general_f32; /* 3D, any bodies, in batches      */
extern const cairn_sweeps cairn_sweeps_general_f64; /* likewise in double               */
extern const cairn_sweeps cairn_sweeps_plane_f32;   /* 2D, any bodies, in batches      */
extern const cairn_sweeps cairn_sweeps_plane_f64;   /* likewise in double               */

struct cairn_kernels {
    const char *name;
    /* Allocate and fill what a system needs beside the problem. */
    cairn_status (*setup)(cairn_system *s, cairn_arena *arena);
    /* W_jj and how contacts are solved, which `sweep` needs; made once. */
    cairn_status (*diagonals)(cairn_system *s, cairn_arena *arena);
    /* v = v_free + M^-1 H' r */
    void (*velocity)(const cairn_system *s, const double *r, double *v);
    /* g = (W + E) r + q + (b + mu s) n, E the compliance: the gradient of the dual at r; v becomes
     * the velocity of r */
    void (*gradient)(const cairn_system *s, const double *r, double *v, double *g);
    /* r = P_K(r), contact by contact; rows go to their bounds */
    void (*project)(const cairn_system *s, double *r);
    /* One sweep in place, one contact after the other: r and v, v kept in step. */
    cairn_sweep (*sweep)(const cairn_system *s, cairn_law law, const double *r_previous, double *r,
                         double *v);
    /* y = a x + b y */
    void (*axpby)(size_t n, double a, const double *x, double b, double *y);
    double (*dot)(size_t n, const double *x, const double *y);
};

extern const cairn_kernels cairn_kernels_cpu;

/* Prepare a system for a problem; memory comes from the arena. */
cairn_status cairn_system_create(const cairn_problem *p, const cairn_kernels *kernels,
                                 cairn_arena *arena, cairn_system *out);

#endif
