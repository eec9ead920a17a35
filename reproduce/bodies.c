/* bodies.c - see bodies.h. */
#include "reproduce/bodies.h"

#include "reproduce/memory.h"

cairn_status cairn_plain_world(int dimension, cairn_vec3 gravity, double mu, cairn_world **out)
{
    cairn_world_def def = cairn_world_def_default();
    def.dimension = dimension;
    def.gravity = gravity;
    TRY(cairn_world_create(&def, out));
    return cairn_material_create(*out, &(cairn_material_def){ .friction = mu }, NULL);
}

cairn_status cairn_add_ball(cairn_world *world, const cairn_ball *ball)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape = cairn_shape_default(CAIRN_SHAPE_SPHERE, cairn_world_dimension(world));
    def.shape.radius = ball->radius;
    def.mass = ball->mass;
    def.inertia = (cairn_vec3){ ball->inertia, ball->inertia, ball->inertia };
    if (cairn_world_dimension(world) == 2)
        def.inertia.x = def.inertia.y = 0;
    def.position = ball->x;
    def.velocity = ball->v;
    return cairn_body_create(world, &def, NULL);
}

cairn_status cairn_add_wall(cairn_world *world, cairn_vec3 normal, cairn_vec3 x)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_HALF_SPACE, cairn_world_dimension(world));
    def.shape.axis = normal;
    def.position = x;
    return cairn_body_create(world, &def, NULL);
}

cairn_status cairn_solved_step(cairn_world *world, const cairn_step_options *options,
                               cairn_step_report *report)
{
    TRY(cairn_world_step(world, options, report));
    return report->solve.converged ? CAIRN_OK : CAIRN_STOPPED;
}
