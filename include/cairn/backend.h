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
enum { CAIRN_BACKEND_VERSION = 6 };

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

/** Errors of the contacts as the judge defines them (src/problem/residual.c), in the precision of
 *  the sweeps. */
typedef struct cairn_measured {
    double error; /* m/s: |e| over all contacts                                                   */
    double share; /* the largest e_j / max(S_j, min(w |r_j|, C_j)); 0: the problem has no scales  */
} cairn_measured;

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
    /** The errors by a law at the present impulses and velocities; only if it `measures`. */
    cairn_measured (*measure)(const cairn_sweeping *state, cairn_law law);
    /** Copy the impulses of the state to r. */
    void (*unload)(const cairn_sweeping *state, cairn_vector *r);
    /** Replace the velocities of the state by accurate ones, or recompute them from its impulses,
     *  so that rounding errors do not accumulate. */
    void (*load_velocities)(cairn_sweeping *state, const cairn_vector *v);
    void (*refresh)(cairn_sweeping *state);

    /** Piles of balls that stay on the device, see below; NULL: the back end has none. */
    const struct cairn_pile_table *pile;
} cairn_backend;

/* ---- piles ----------------------------------------------------------------------------------- */

/* A pile is a world of balls among walls, on the device of a back end. Bodies are copied there once
 * and move there from step to step; contacts are found there, solved there, and keep their
 * impulses there for the next step. Both are copied to the host only when somebody looks at them.
 * An optional capability: a step with a back end that has none, or of a world that is no pile, is
 * the host's. */

typedef struct cairn_pile cairn_pile;

/** A problem on a device; what a back end holds of it begins with this. */
typedef struct cairn_resident {
    double friction; /* the largest mu */
} cairn_resident;

/** What distinguishes the contacts of a ball with one wall. */
typedef struct cairn_pile_part {
    int32_t feature; /* as the host numbers it, see src/collide                                  */
    int32_t patch;   /* the flat region of a surface; -1: none                                   */
    int32_t face;    /* the triangle; -1: none                                                   */
} cairn_pile_part;

/** Walls of any form but planes and wide cylinders, which are wider than four times the largest
 *  ball. Insides of boxes and surfaces of revolution may be touched at several points. */
typedef enum cairn_wall_kind {
    CAIRN_WALL_TUBE,      /* the inside of a cylinder                                 */
    CAIRN_WALL_CONE,      /* the inside of a cone                                     */
    CAIRN_WALL_FUNNEL,    /* a thin wall, open at both ends                           */
    CAIRN_WALL_CONTAINER, /* the inside of a box                                      */
    CAIRN_WALL_BOX,       /* solid, with or without rounded edges                     */
    CAIRN_WALL_CAPSULE,   /* solid                                                    */
    CAIRN_WALL_CYLINDER,  /* solid                                                    */
    CAIRN_WALL_SURFACE    /* the triangles of a mesh or a height field                */
} cairn_wall_kind;

/** The triangles of a wall, in its frame; the arrays belong to the host. */
typedef struct cairn_wall_surface {
    int32_t vertices, faces;
    const cairn_vec3 *vertex; /* m                                                            */
    const cairn_vec3 *normal; /* of each face: unit, outward                                  */
    const int32_t *corner;    /* 3 of each face: vertices, counterclockwise seen from outside */
    const int32_t *neighbour; /* 3 of each face: across the side that begins at this corner;
                                  -1: none                                                     */
    const int32_t *patch;     /* of each face: the flat region that it belongs to             */
    const int32_t *order;     /* all faces, neighbours in space close to each other           */
} cairn_wall_surface;

typedef struct cairn_pile_wall {
    int32_t row;  /* of its body                                                                */
    int32_t kind; /* a cairn_wall_kind                                                   */
    int32_t two_sided;   /* a surface that may be touched from both sides                       */
    int32_t over;        /* the feature of a point over a face of a surface or cylinder         */
    cairn_vec3 x;        /* m: origin of the shape                                              */
    cairn_quat q;        /* its orientation                                                     */
    cairn_vec3 axis;     /* unit, in space                                                      */
    cairn_vec3 half;     /* m: half lengths of boxes, without their rounding                    */
    double rounding;     /* m: of edges of solid boxes                                          */
    double radius, top;  /* m: of tubes, capsules, cylinders; of both ends of a funnel          */
    double height;       /* m: of funnels, cylinders, the straight part of capsules             */
    double sine, cosine; /* of the angle between axis and wall of a cone                       */
    double extent; /* m: of a ball that holds it; INFINITY: none does                          */
    cairn_wall_surface surface;
} cairn_pile_wall;

/** Bodies of the host, by rows. The first `held` never move; the others are balls. */
typedef struct cairn_pile_bodies {
    int count, held;
    const cairn_vec3 *x;     /* m                                                              */
    const cairn_quat *q;     /* orientation                                                    */
    const cairn_vec3 *v;     /* m/s                                                            */
    const cairn_vec3 *omega; /* rad/s, body frame                                              */
    const cairn_vec3 *axis;  /* of held rows: unit normals of planes, axes of wide cylinders   */
    const double *inside;    /* m, of held rows: radius of the inside of a wide cylinder; 0: planes
                                  and balls; < 0: one of `walls`, minus its extent               */
    const double *radius;    /* m; < 0: a wall                                                 */
    const uint64_t *uid;     /* less than 2^32                                                 */
    const int32_t *material;
    const double *mass;        /* kg                                                             */
    const cairn_vec3 *inertia; /* kg m^2: a ball's are equal                                     */
    const cairn_pile_wall *walls; /* in the order of rows; its bytes between members are 0       */
    int wall_count;
} cairn_pile_bodies;

/** Where the states of all rows are copied to: arrays of the host; v and omega NULL: not wanted. */
typedef struct cairn_pile_states {
    cairn_vec3 *x;
    cairn_quat *q;
    cairn_vec3 *v, *omega;
} cairn_pile_states;

/** How contacts become a problem. */
typedef struct cairn_pile_rule {
    double h;           /* s: the time step                                                   */
    cairn_vec3 gravity; /* m/s^2                                                              */
    double margin;      /* m: bodies reach at least so far                                    */
    double closing;     /* 1/s: b = closing * gap for gap > 0                                 */
    double pushing;     /* 1/s: likewise for gap < 0                                          */
    double ratio;       /* of time steps: impulses of the last step start with so much of them;
                               0: from nothing                                                    */
    int materials;
    const double *friction; /* materials x materials: mu                                          */
    bool arcs;              /* balls follow tubes, cones and funnels to second order: b has the term
                               max(h g"/2, min(u_N before, 0)), if that is negative               */
} cairn_pile_rule;

/** A problem on the device: impulses r start as given and v, u are room for the answer. */
typedef struct cairn_pile_problem {
    cairn_problem problem;
    double *r, *v, *u;
    bool warm;    /* some impulse of the start is not 0                                           */
    int32_t wild; /* the first row whose motion without contact is not finite: there are no contacts
                     then; -1: none                                                               */
} cairn_pile_problem;

/** When overlaps are corrected, see correct.c of the world. */
typedef struct cairn_pile_overlaps {
    double h, gamma;                  /* s; 1/s: c = u_N + gamma gap      */
    double slack;                     /* m/s: less is not worth it       */
    double negligible, portion, wide; /* of the smaller radius, twice; of the worst overlap */
    int rings;
} cairn_pile_overlaps;

/** Sums and extremes over the contacts of the answer; the letters are those of docs/notation.md. */
typedef struct cairn_pile_sums {
    double gap_error, complementarity, friction_direction, dilatation, spurious_work;
    double impact_loss, friction_loss; /* J                                                       */
    int64_t active;                    /* contacts that push                                      */
    int64_t far; /* of these, and of those at walls that are not planes, with bodies that move
                    farther than the smaller one's radius, relative to each other                 */
} cairn_pile_sums;

/** Whether bodies moved farther than contacts were looked for. */
typedef struct cairn_pile_race {
    int64_t outran; /* so many did; they may reach 1.5 times as far in the next attempt           */
    double share;   /* the largest motion of a body, of its radius                                */
    int32_t body;   /* its row                                                                    */
} cairn_pile_race;

/** The end of a step, summed over the bodies. */
typedef struct cairn_pile_end {
    double kinetic, potential; /* J: of the new state                                             */
    double numerical_loss;     /* J: h/2 m g.(v+ - v)                                             */
    double correction;         /* J: potential that the penetration correction added              */
    double energy;             /* J: kinetic + |potential| without that correction; not finite if a
                                  state of some body is not                                       */
    int32_t body;              /* the first row whose energy is not finite; -1: none              */
} cairn_pile_end;

/** The deepest overlap. */
typedef struct cairn_pile_depth {
    double depth, share; /* m; of the radius of the smaller body */
    int32_t body[2];     /* rows of the pair with the largest share; -1: none */
    int64_t lost;        /* balls that are so deep behind a surface that it does not detect them */
} cairn_pile_depth;

/** Where the contacts of a pile are copied to: arrays of the host, 3 numbers of each contact where
 *  nothing else is said. */
typedef struct cairn_pile_contacts {
    int32_t *uid; /* 2 of each: the low 32 bits */
    cairn_vec3 *point, *normal, *tangent;
    double *gap, *impulse, *velocity;
    double *bias, *correction; /* 1 of each; NULL: not wanted */
    int32_t *feature;          /* 1 of each; NULL: not wanted */
    int32_t *piece; /* 4 of each: part and face of the body of smaller and of larger uid, -1: none;
                       NULL: not wanted */
} cairn_pile_contacts;

/** All of it fails with CAIRN_NO_MEMORY only. A step calls `find`, then any of the others, then
 *  `keep` if it succeeds; without `keep` the bodies and contacts of the step before are still those
 *  of the pile. */
typedef struct cairn_pile_table {
    cairn_status (*create)(cairn_pile **out);
    void (*destroy)(cairn_pile *pile);
    /** Take over bodies of the host. */
    cairn_status (*take)(cairn_pile *pile, const cairn_pile_bodies *bodies);
    /** Start from contacts of the host, given by the uids of a and b, the impulse on a, and, where
     *  there are `walls` (else NULL), their parts. */
    cairn_status (*start)(cairn_pile *pile, int count, const uint64_t *uids,
                          const cairn_vec3 *impulse, const cairn_pile_part *part);
    /** Sum of the distances (of their components) of dynamic bodies in neighbouring rows, none
     *  longer than `far`, in units of 2^-32 far. */
    cairn_status (*apart)(cairn_pile *pile, double far, int64_t *sum);
    /** The contacts within reach, with impulses of those of the step before or, `again`, of the
     *  last call in this step. */
    cairn_status (*find)(cairn_pile *pile, const cairn_pile_rule *rule, bool again,
                         cairn_pile_problem *out);
    /** The problem of the displacement that corrects overlaps left by the answer; without contacts:
     *  there are none to correct. */
    cairn_status (*mend)(cairn_pile *pile, const cairn_pile_overlaps *overlaps,
                         cairn_pile_problem *out);
    /** Compare the motion of bodies with their reach. */
    cairn_status (*race)(cairn_pile *pile, cairn_pile_race *out);
    /** The velocities of the answer and, after mend, the displacement over h with the blocks that
     *  have one: all of the host; 6 numbers of each block, 3 and 1. */
    cairn_status (*velocities)(cairn_pile *pile, double *v, double *shift, uint8_t *shifted);
    cairn_status (*measure)(cairn_pile *pile, cairn_law law, cairn_pile_sums *out);
    /** The states of bodies at the end of the step. */
    cairn_status (*arrive)(cairn_pile *pile, cairn_pile_end *out);
    /** Where bodies end; after `arrive`. */
    cairn_status (*deepest)(cairn_pile *pile, cairn_pile_depth *out);
    void (*keep)(cairn_pile *pile);
    /** Copy the contacts of the last `keep`, or, `now`, of this step. */
    cairn_status (*show)(cairn_pile *pile, bool now, const cairn_pile_contacts *out);
    /** Copy the states of bodies: of now, or, `before`, at the start of the step of the last
     *  `keep`. */
    cairn_status (*states)(cairn_pile *pile, bool before, const cairn_pile_states *out);
    /** Bytes on the device, of the pile alone. */
    size_t (*bytes)(const cairn_pile *pile);
    /** Bytes that are left on the device. */
    double (*room)(void);
} cairn_pile_table;

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
