/* generate.h - many bodies: at once by generators (grids, hexagonal packings, triangular piles,
 * random fill), or one after the other by inlets. All make spheres (2D: disks), or bodies of
 * another bounded shape; positions, sizes and masses are reproducible from the seed. */
#ifndef CAIRN_GENERATE_H
#define CAIRN_GENERATE_H

#include "cairn/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- distributions ------------------------------------------------------------------------- */

typedef enum cairn_distribution_kind {
    CAIRN_DISTRIBUTION_CONSTANT,  /* always `value`                                           */
    CAIRN_DISTRIBUTION_UNIFORM,   /* between minimum and maximum                              */
    CAIRN_DISTRIBUTION_NORMAL,    /* mean, deviation; redrawn until within [minimum, maximum] */
    CAIRN_DISTRIBUTION_LOGNORMAL, /* mean and deviation of the values; redrawn likewise       */
    CAIRN_DISTRIBUTION_LIST,      /* one of `values`, with `weights` when given               */
    CAIRN_DISTRIBUTION_SIEVE,     /* a sieve curve: sizes and the mass that passes them       */
    CAIRN_DISTRIBUTION_COUNT
} cairn_distribution_kind;

/** A distribution of positive numbers (radii, masses). Start from cairn_distribution_default. A
 *  list by mass and a sieve curve are gradings: generators and inlets draw them so that all bodies
 *  together have these shares of mass to about one body. */
typedef struct cairn_distribution {
    cairn_distribution_kind kind;
    double value, minimum, maximum, mean, deviation;
    cairn_list values;   /* sieve: openings of the sieves (m), rising; radii are half of them    */
    cairn_list weights;  /* sieve: % of the mass that passes each                                */
    const char *by;      /* list: weights are shares of the "number" or of the "mass" of bodies  */
    const char *between; /* sieve: passing is linear in the "log" of the size, or "linear" in it */
    double power; /* gradings: mass goes with value^power; generators and inlets set it (3; radii in
                     2D: 2; masses: 1)                                                           */
} cairn_distribution;

/** The table of a distribution kind, NULL past the last. */
CAIRN_API const cairn_record *cairn_distribution_record(int kind);
/** A distribution of a kind with its defaults. */
CAIRN_API cairn_distribution cairn_distribution_default(cairn_distribution_kind kind);
/** Refuse impossible parameters; `error` may be NULL. */
CAIRN_API cairn_status cairn_distribution_check(const cairn_distribution *d, cairn_error *error);
/** Draw one number; `state` is a splitmix64 state. */
CAIRN_API double cairn_distribution_draw(const cairn_distribution *d, uint64_t *state);

/* ---- generators ---------------------------------------------------------------------------- */

typedef enum cairn_generator_kind {
    CAIRN_GENERATOR_GRID,      /* count.x * count.y * count.z on a regular grid with jitter      */
    CAIRN_GENERATOR_HEXAGONAL, /* close-packed layers of equal spheres, touching at gap 0        */
    CAIRN_GENERATOR_PILE,      /* 2D triangular pile / 3D square pyramid of touching spheres     */
    CAIRN_GENERATOR_FILL,      /* random free places in a box or vertical cylinder               */
    CAIRN_GENERATOR_COUNT
} cairn_generator_kind;

/** What to generate. Only the fields of its kind are used. Start from cairn_generator_default. */
typedef struct cairn_generator {
    cairn_generator_kind kind;
    cairn_vec3 count;    /* grid, hexagonal: bodies per axis (2D: z = 1)                       */
    cairn_vec3 spacing;  /* m: grid: step per axis                                             */
    double gap;          /* m: hexagonal, pile: distance left between neighbours               */
    double jitter;       /* m: grid: each centre moves uniformly in [-jitter, jitter] per axis */
    int64_t rows;        /* pile: rows (2D) or layers (3D)                                     */
    cairn_vec3 origin;   /* m: grid, hexagonal, pile: centre of the first body                 */
    int64_t bodies;      /* fill: how many                                                     */
    cairn_vec3 centre;   /* m: fill: middle of the region                                      */
    cairn_vec3 size;     /* m: fill: extents of the region                                     */
    double disk_radius;  /* m: fill: > 0 makes the region a vertical cylinder                  */
    cairn_vec3 velocity; /* m/s                                                                */
    int64_t seed;
    cairn_shape shape;         /* of every body; a sphere gets its size from `radius`           */
    bool turned;               /* other shapes: each at a random orientation                   */
    bool glued;                /* the bodies never move: a rough floor or wall                 */
    cairn_distribution radius; /* m: of a sphere; other shapes are scaled so that their bounding
                                  ball about the origin has this radius; a constant 0: not
                                  scaled                                                       */
    cairn_distribution mass;   /* kg; a constant 0: from the density                           */
    double density;            /* kg/m^3 (2D: kg/m^2)                                          */
    int material;
    int64_t group, mask; /* of every body, see cairn_body_def                                  */
} cairn_generator;

/** A generator of a kind with its defaults. */
CAIRN_API cairn_generator cairn_generator_default(cairn_generator_kind kind, int dimension);
/** The table of a generator kind (not shape, radius, mass, material), NULL past the last. */
CAIRN_API const cairn_record *cairn_generator_record(int kind);
/** Create the bodies. Shapes other than spheres are placed like their bounding balls. Fails with
 *  CAIRN_BAD_INPUT (`error`, may be NULL, says why: no room, ...), CAIRN_NO_MEMORY; bodies created
 *  before the failure stay. `made` (may be NULL) receives their number. */
CAIRN_API cairn_status cairn_generate(cairn_world *world, const cairn_generator *generator,
                                      int64_t *made, cairn_error *error);

/* ---- inlets -------------------------------------------------------------------------------- */

/** An inlet adds bodies to the world while it runs: `rate` per second, at random free places of a
 *  region, until there are `count`. A body that finds no free place waits for the next step. */
typedef struct cairn_inlet_def {
    int64_t count;       /* how many in all                                                     */
    double rate;         /* bodies per second                                                   */
    double start;        /* s                                                                   */
    cairn_vec3 centre;   /* m: middle of the region                                             */
    cairn_vec3 size;     /* m: full extents of a box region                                     */
    double disk_radius;  /* m: > 0 makes the region a vertical cylinder of this radius and of
                           height size.z (2D: ignored)                                         */
    cairn_vec3 velocity; /* m/s: of the new bodies                                             */
    int64_t seed;
    cairn_shape shape;         /* of every body: a sphere, or any bounded shape (its data is held
                                  until the world ends)                                        */
    bool turned;               /* other shapes: each at a random orientation                   */
    cairn_distribution radius; /* m: of a sphere; other shapes are scaled so that the ball about
                                  their origin that holds them has this radius; a constant 0:
                                  as large as the shape is                                     */
    double density;            /* kg/m^3 (2D: kg/m^2); used when mass is 0                     */
    double mass;               /* kg: of each body; 0: from the density                        */
    int material;
    int64_t group, mask; /* of every body, see cairn_body_def                                  */
} cairn_inlet_def;

/** One body per second for ever, nothing else set. */
CAIRN_API cairn_inlet_def cairn_inlet_def_default(void);
/** The table of the plain fields of cairn_inlet_def (not shape, radius, material). */
CAIRN_API const cairn_record *cairn_inlet_record(void);
/** Add an inlet (copied). Fails like cairn_body_create. */
CAIRN_API cairn_status cairn_inlet_create(cairn_world *world, const cairn_inlet_def *def);

/* ---- outlets ------------------------------------------------------------------------------- */

typedef enum cairn_outlet_kind {
    CAIRN_OUTLET_BOX,        /* bodies in a box leave                                          */
    CAIRN_OUTLET_HALF_SPACE, /* bodies behind a plane: (x - point).normal < 0                  */
    CAIRN_OUTLET_HEIGHT,     /* bodies below a height along z (2D: y)                          */
    CAIRN_OUTLET_AGE,        /* bodies older than a lifetime                                   */
    CAIRN_OUTLET_COUNT
} cairn_outlet_kind;

/** An outlet removes dynamic bodies whose centre of mass is in its region, or that are too old. A
 *  body leaves when the step begins that follows the one which brought it there. A body that left
 *  is gone, or comes back by an inlet: at its rate, its place and velocity, with a new uid, the
 *  same shape, mass and material, and one more in its number of passes. */
typedef struct cairn_outlet_def {
    cairn_outlet_kind kind;
    double start, stop;       /* s: it is open from start to stop                               */
    cairn_vec3 centre, size;  /* m: box; size: full extents                                     */
    cairn_vec3 point, normal; /* m, 1: half space                                               */
    double below;             /* m: height                                                      */
    double after;             /* s: age                                                         */
    int inlet;                /* number of the inlet by which bodies come back; -1: they do not */
} cairn_outlet_def;

/** What has left through an outlet so far. */
typedef struct cairn_outlet_state {
    int64_t left;
    double mass; /* kg */
    double last; /* s: when the last body left; -infinity: none has */
} cairn_outlet_state;

/** An outlet of a kind with its defaults: always open, bodies do not come back. */
CAIRN_API cairn_outlet_def cairn_outlet_default(cairn_outlet_kind kind);
/** The table of a kind of outlet (not the inlet), NULL past the last. */
CAIRN_API const cairn_record *cairn_outlet_record(int kind);
/** Add an outlet. Fails with CAIRN_BAD_INPUT, CAIRN_NOT_FINITE (cairn_world_error says why) or
 *  CAIRN_NO_MEMORY; the world is then as before. */
CAIRN_API cairn_status cairn_outlet_create(cairn_world *world, const cairn_outlet_def *def);
/** What has come through an inlet so far. */
typedef struct cairn_inlet_state {
    int64_t count;    /* new bodies in all: cairn_inlet_def.count                               */
    int64_t released; /* of these, the ones that came                                           */
    int64_t unplaced; /* of these, the ones that were due and found no free place: they wait    */
} cairn_inlet_state;

/** Number of inlets. */
CAIRN_API int cairn_world_inlet_count(const cairn_world *world);
/** The state of inlet `index`; all zero if there is none. */
CAIRN_API cairn_inlet_state cairn_world_inlet(const cairn_world *world, int index);
/** Number of outlets. */
CAIRN_API int cairn_world_outlet_count(const cairn_world *world);
/** The state of outlet `index`; all zero if there is none. */
CAIRN_API cairn_outlet_state cairn_world_outlet(const cairn_world *world, int index);

#ifdef __cplusplus
}
#endif
#endif
