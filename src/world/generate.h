/* generate.h - what the generators share: one body drawn and made at a time. */
#ifndef CAIRN_WORLD_GENERATE_H
#define CAIRN_WORLD_GENERATE_H

#include "cairn/generate.h"

/* A generator at work. */
typedef struct cairn_generation {
    cairn_world *world;
    const cairn_generator *generator;
    int dimension;
    uint64_t state; /* of the random numbers                       */
    int64_t made;
    cairn_error *error; /* may be NULL */
} cairn_generation;

/* The next number of a distribution; a constant one draws nothing. */
double cairn_generation_draw(cairn_generation *g, const cairn_distribution *distribution);
/* Draw orientation and mass and make a body that a ball of this radius about its origin holds. */
cairn_status cairn_generation_place(cairn_generation *g, double radius, cairn_vec3 position);

/* ---- grains: what generators and inlets share ----------------------------------------------- */

/* Whether bodies of this shape can be made with these radii: bounded, with a size, and scaled only
 * if numbers alone describe it. */
cairn_status cairn_grain_check(const cairn_shape *shape, const cairn_distribution *radius,
                               int dimension, cairn_error *error);
/* The radii of a shape of which none are given (a constant 0): its own size. */
cairn_distribution cairn_grain_radii(const cairn_shape *shape, const cairn_distribution *radius);
/* The shape in the size that a ball of this radius about its origin holds. */
cairn_shape cairn_grain_shape(const cairn_shape *shape, double radius, int dimension);
/* Draw an orientation, uniform among all. */
void cairn_grain_turn(int dimension, uint64_t *state, cairn_body_def *def);

/* Random free places in a region, in generate_fill.c. */
cairn_status cairn_generation_fill(cairn_generation *g);

#endif
