/* small_world.h - worlds made by hand in a few lines: one material, spheres, walls. */
#ifndef CAIRN_TESTS_SMALL_WORLD_H
#define CAIRN_TESTS_SMALL_WORLD_H

#include "cairn/cairn.h"
#include "check.h"

static inline cairn_body_id add_sphere(cairn_world *world, double radius, cairn_vec3 position)
{
    cairn_body_id id;
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = radius;
    def.position = position;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

static inline cairn_body_id add_wall(cairn_world *world, cairn_shape shape, cairn_vec3 position)
{
    cairn_body_id id;
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = shape;
    def.position = position;
    CHECK_OK(cairn_body_create(world, &def, &id));
    return id;
}

static inline cairn_world *world_create(int dimension)
{
    cairn_world *world = NULL;
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    int number;
    def.dimension = dimension;
    def.gravity = dimension == 2 ? (cairn_vec3){ 0, -9.81, 0 } : (cairn_vec3){ 0, 0, -9.81 };
    CHECK_OK(cairn_world_create(&def, &world));
    CHECK_OK(cairn_material_create(world, &material, &number));
    return world;
}

#endif
