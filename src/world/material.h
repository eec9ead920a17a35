/* material.h - the materials of a world, and the law where two of them meet. */
#ifndef CAIRN_WORLD_MATERIAL_H
#define CAIRN_WORLD_MATERIAL_H

#include "base/arena.h"
#include "cairn/world.h"

typedef struct cairn_material_list {
    cairn_material_def *items;
    size_t count, capacity;
    cairn_material_def *pairs; /* count^2, made when materials change                         */
    bool *pair_given;
    bool friction_varies;       /* some friction depends on the sliding speed                  */
    bool bouncing;              /* some pair has restitution                                   */
    cairn_surface_laws laws;    /* beyond Coulomb friction with one mu                         */
    cairn_arena friction_lists; /* of the friction laws                                        */
} cairn_material_list;

bool cairn_materials_have_poisson(const cairn_world *world);
cairn_material_def cairn_material_pair(const cairn_world *world, int a, int b);
bool cairn_material_is_poisson(const cairn_material_def *def);
/* Friction where materials a and b meet and slide, m/s. */
double cairn_material_friction(const cairn_world *world, int a, int b, double speed);
/* friction.c */
double cairn_friction_law_at(const cairn_friction_law *law, double constant, double speed);

#endif
