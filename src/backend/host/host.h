/* host.h - the back end of this machine: threads, SIMD, float where that is accurate enough. This
 * header is for the files of the back end and for solvers that factorise, which need the arrays. */
#ifndef CAIRN_BACKEND_HOST_HOST_H
#define CAIRN_BACKEND_HOST_HOST_H

#include "backend/backend.h"
#include "base/memory.h"
#include "problem/cut.h"
#include "problem/judge.h"

/* Which exact one-contact solve applies to a contact (problem/cone.h). The order matters: from
 * CAIRN_LOCAL_PARTS on contacts are special and take the general route. */
typedef enum cairn_local_kind {
    CAIRN_LOCAL_CONE,  /* any W                                             */
    CAIRN_LOCAL_BALL,  /* 3D: W = diag(W_N, W_T, W_T)                       */
    CAIRN_LOCAL_PARTS, /* with rolling or spinning friction                 */
    CAIRN_LOCAL_ROWS   /* rows with bounds                                  */
} cairn_local_kind;

/* A vector. If the caller gave it a home, `x` is that array and nothing is copied up or down. */
struct cairn_vector {
    double *x;
    size_t count;
    double *home;
    bool normals;     /* only the normal component of each contact is stored  */
    bool of_contacts; /* it has numbers of each contact, not velocities of blocks */
};

enum { CAIRN_FIRST_VECTORS = 4 }; /* that every solve has: r, v, u and the best r */

/* A problem prepared for repeated passes. Parts that not every solver needs are NULL until they are
 * first requested; all memory is the arena's. */
struct cairn_system {
    const cairn_problem *p;
    cairn_arena *arena;
    size_t r_count;    /* dimension * contacts                               */
    size_t v_count;    /* block_size * blocks                                */
    double *shift;     /* b + mu s of each contact                           */
    cairn_norms norms; /* denominators of residuals, set by the first judge  */
    double *W;     /* W_jj of each contact as a lower triangle; NULL until `diagonals` was called */
    uint8_t *kind; /* how each contact is solved, a cairn_local_kind; likewise                    */
    cairn_visits visits; /* in which order, if the problem is cut into parts; likewise            */
    struct cairn_batches
        *batches; /* of balls, see batch.h                                         */
    struct cairn_batches
        *general; /* of any bodies                                                 */
    struct cairn_normals *normals; /* see below                                   */
    cairn_vector first[CAIRN_FIRST_VECTORS];
    int vectors; /* how many of these are in use */
};

/* One implementation of sweeps, with a state in a layout of its own. */
typedef struct cairn_sweeps {
    const char *name;
    bool single; /* in float */
    /* Create the state from r and its velocities v, in the arena. *out is NULL, without failure, if
     * this implementation does not apply to the problem. */
    cairn_status (*begin)(cairn_system *s, cairn_arena *arena, const double *r, const double *v,
                          void **out);
    /* Extrapolate r and v by their momentum, then sweep once. */
    cairn_sweep (*sweep)(void *state, cairn_law law, cairn_momentum momentum);
    /* The errors by a law, in the precision of the state; NULL: only the judge finds them. */
    cairn_measured (*measure)(const void *state, cairn_law law);
    /* Copy the impulses out of the state. */
    void (*unload)(const void *state, double *r);
    /* Replace the velocities by accurate ones. */
    void (*load_velocities)(void *state, const double *v);
    /* Recompute the velocities from the impulses, so that rounding errors do not accumulate. */
    void (*refresh)(void *state);
    /* Restart momentum: the next extrapolation starts from the present r and v. */
    void (*forget)(void *state);
} cairn_sweeps;

enum { CAIRN_WORTH_BATCHES = 200 }; /* contacts: fewer are swept one by one, without SIMD */

extern const cairn_sweeps cairn_sweeps_scalar;      /* any problem, in double          */
extern const cairn_sweeps cairn_sweeps_f32;         /* balls, in batches, in float     */
extern const cairn_sweeps cairn_sweeps_f64;         /* balls, in batches, in double    */
extern const cairn_sweeps cairn_sweeps_general_f32; /* 3D, any bodies, in batches      */
extern const cairn_sweeps cairn_sweeps_general_f64; /* likewise in double               */
extern const cairn_sweeps cairn_sweeps_plane_f32;   /* 2D, any bodies, in batches      */
extern const cairn_sweeps cairn_sweeps_plane_f64;   /* likewise in double               */

/* An array as a vector that is only read. */
cairn_vector cairn_host_view(const double *x, size_t count);

/* Prepare a system for a problem; memory comes from the arena. */
cairn_status cairn_system_create(const cairn_problem *p, cairn_arena *arena, cairn_system *out);
/* Compute W_jj and the kind of every contact, which cairn_host_sweep needs, and the order of its
 * visits; done once. */
cairn_status cairn_host_diagonals(cairn_system *s, cairn_arena *arena);

/* As in the table of the back end, on arrays with all components of the impulses. */
void cairn_host_gradient(const cairn_system *s, const double *r, double *v, double *g);
void cairn_host_project(const cairn_system *s, double *r);
/* One sweep in place, contact after contact, of all members; v is updated together with r. */
cairn_sweep cairn_host_sweep(const cairn_system *s, cairn_law law, const double *r_previous,
                             double *r, double *v);
/* y = a x + b y, x.y */
void cairn_host_combine(size_t n, double a, const double *x, double b, double *y);
double cairn_host_dot(size_t n, const double *x, const double *y);

/* ---- normal impulses alone --------------------------------------------------------------- */

/* Frictionless problems as problems in their normal impulses alone.
 *
 * With mu = 0 everywhere the tangential impulses are 0: a method that works on all components moves
 * three times (in 2D twice) as many numbers for nothing. A system of normals has one number for
 * each contact:
 *     v = v_free + M^-1 N' r,   g = N v + w_N + b,   K = { r >= 0 },
 * N the normal rows of H. */

/* Whether normal impulses are the only unknowns of a problem: it is given in blocks and has no
 * friction, no rows with bounds, no rolling or spinning friction. */
bool cairn_problem_is_normal(const cairn_problem *p);

/* The additional data of such a system. */
typedef struct cairn_normals {
    bool usable;   /* the problem is normal              */
    double *shift; /* w_N + b of each contact, if usable */
} cairn_normals;

/* Set s->normals, usable or not; done once. */
cairn_status cairn_normals_find(cairn_system *s);

/* As in the table of the back end, on arrays of one number for each contact; only if normals are
 * usable. */
void cairn_normals_gradient(const cairn_system *s, const double *r, double *v, double *g);
void cairn_normals_project(const cairn_system *s, double *r);

/* The normal impulses of r, and r from them with tangents 0. */
void cairn_normals_pack(const cairn_problem *p, const double *r, double *normals);
void cairn_normals_unpack(const cairn_problem *p, const double *normals, double *r);

#endif
