/* inlet.h - inlets from inside: what they owe, and bodies that come in. */
#ifndef CAIRN_WORLD_INLET_H
#define CAIRN_WORLD_INLET_H

#include "cairn/world.h"

typedef struct cairn_inlet {
    cairn_inlet_def def;
    uint64_t state; /* of the random numbers                                  */
    int64_t released;
    double waiting; /* m: radius drawn for a body that found no place; 0: none */
} cairn_inlet;

typedef struct cairn_inlet_list {
    cairn_inlet *items;
    size_t count, capacity;
} cairn_inlet_list;

size_t cairn_inlets_due(const cairn_world *world, double time);
int cairn_inlets_pour(cairn_world *world);
void cairn_inlets_release(cairn_world *world);

#endif
