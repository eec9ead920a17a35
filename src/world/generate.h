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

/* Random free places in a region, in generate_fill.c. */
cairn_status cairn_generation_fill(cairn_generation *g);

#endif
