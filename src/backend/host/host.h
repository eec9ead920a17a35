/* host.h - the back end of this machine: threads, wide registers, float where that will do. What
 * solvers that factorise look into, and what its own files share. */
#ifndef CAIRN_BACKEND_HOST_H
#define CAIRN_BACKEND_HOST_H

#include "backend/backend.h"
#include "base/arena.h"
#include "problem/judge.h"

/* Which of the exact one-contact solves a contact takes (problem/local.h). */
typedef enum cairn_local_kind {
    CAIRN_LOCAL_CONE,  /* any W                                             */
    CAIRN_LOCAL_BALL,  /* 3D: W = diag(W_N, W_T, W_T)                       */
    CAIRN_LOCAL_PARTS, /* with rolling or spinning friction                 */
    CAIRN_LOCAL_ROWS   /* rows with bounds                                  */
} cairn_local_kind;

/* Numbers in an array, at their home where they have one. */
struct cairn_vector {
    double *x;
    size_t count;
    double *home;
    bool normals; /* one number for each contact: normals.h */
};

enum { CAIRN_FIRST_VECTORS = 4 }; /* that every solve has: r, v, u and the best r */

/* A problem made ready for repeated passes. */
struct cairn_system {
    const cairn_problem *p;
    cairn_arena *arena;
    size_t r_count;    /* dimension * contacts                               */
    size_t v_count;    /* block_size * blocks                                */
    double *shift;     /* b + mu s of each contact                           */
    cairn_norms norms; /* what residuals are relative to, once it was judged */
    double *W;     /* W_jj of each contact as a lower triangle; NULL until `diagonals` was called */
    uint8_t *kind; /* how each contact is solved, a cairn_local_kind; likewise                    */
    struct cairn_batches
        *batches; /* NULL until asked for: batch.h                                */
    struct cairn_batches
        *general; /* likewise, of any bodies: batch_general.h                     */
    struct cairn_normals *normals; /* NULL until asked for: normals.h             */
    cairn_vector first[CAIRN_FIRST_VECTORS];
    int vectors; /* how many of these are in use */
};

/* One kind of sweeps, on a state in a layout of its own. */
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

/* Numbers of an array as a vector, which is not written. */
cairn_vector cairn_host_view(const double *x, size_t count);

/* Prepare a system for a problem; memory comes from the arena. */
cairn_status cairn_system_create(const cairn_problem *p, cairn_arena *arena, cairn_system *out);
/* W_jj and how contacts are solved, which cairn_host_sweep needs; made once. */
cairn_status cairn_host_diagonals(cairn_system *s, cairn_arena *arena);

/* As in the table of the back end, on arrays of whole impulses. */
void cairn_host_gradient(const cairn_system *s, const double *r, double *v, double *g);
void cairn_host_project(const cairn_system *s, double *r);
/* One sweep in place, one contact after the other: r and v, v kept in step. */
cairn_sweep cairn_host_sweep(const cairn_system *s, cairn_law law, const double *r_previous,
                             double *r, double *v);
/* y = a x + b y, x.y */
void cairn_host_combine(size_t n, double a, const double *x, double b, double *y);
double cairn_host_dot(size_t n, const double *x, const double *y);

#endif
