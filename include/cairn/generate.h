/* generate.h - many bodies at once: grids, hexagonal packings, triangular piles, random fill.
 * All make spheres (2D: disks), or bodies of another bounded shape; positions, sizes and masses are
 * reproducible from the seed. */
#ifndef CAIRN_GENERATE_H
#define CAIRN_GENERATE_H

#include "cairn/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cairn_generator_kind {
    CAIRN_GENERATOR_GRID,      /* count.x * count.y * count.z on a regular grid with jitter      */
    CAIRN_GENERATOR_HEXAGONAL, /* close-packed layers of equal spheres, touching at gap 0        */
    CAIRN_GENERATOR_PILE,      /* 2D triangular pile / 3D square pyramid of touching spheres     */
    CAIRN_GENERATOR_FILL,      /* random free places in a box or vertical cylinder               */
    CAIRN_GENERATOR_COUNT
} cairn_generator_kind;

/** What to make. Only the fields of its kind count. Start from cairn_generator_default. */
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
    cairn_distribution radius; /* m: of a sphere; other shapes are scaled so that the ball about
                                  their origin that holds them has this radius; a constant 0:
                                  as large as the shape is                                     */
    cairn_distribution mass;   /* kg; a constant 0: from the density                           */
    double density;            /* kg/m^3 (2D: kg/m^2)                                          */
    int material;
} cairn_generator;

/** A generator of a kind with its defaults. */
CAIRN_API cairn_generator cairn_generator_default(cairn_generator_kind kind, int dimension);
/** The table of a generator kind (not shape, radius, mass, material), NULL past the last. */
CAIRN_API const cairn_record *cairn_generator_record(int kind);
/** Make the bodies; other shapes than spheres keep the distances of the balls that hold them.
 *  Fails with CAIRN_BAD_INPUT (`error`, may be NULL, says why: no room, ...),
 *  CAIRN_NO_MEMORY; bodies made before the failure stay. `made` (may be NULL) counts them. */
CAIRN_API cairn_status cairn_generate(cairn_world *world, const cairn_generator *generator,
                                      int64_t *made, cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
