/* sample.c - see sample.h. */
#include "io/sample.h"

#include "base/status.h"
#include "math/vec.h"

const cairn_vec3 *cairn_sample_forces(const cairn_sample_contacts *contacts, int dimension,
                                      double time_step, cairn_arena *arena)
{
    cairn_vec3 *force = cairn_arena_take(arena, (size_t)contacts->count, sizeof *force);
    for (int c = 0; force && c < contacts->count; c++) {
        const double *r = &contacts->impulse[(size_t)c * (size_t)dimension];
        cairn_vec3 n = contacts->normal[c], t = contacts->tangent[c];
        cairn_vec3 f = cairn_add_scaled(cairn_scale(r[0], n), r[1], t);
        if (dimension == 3)
            f = cairn_add_scaled(f, r[2], cairn_cross(n, t));
        force[c] = cairn_scale(1 / time_step, f);
    }
    return force;
}

static cairn_status take_contacts(const cairn_world *world, double time_step, cairn_arena *arena,
                                  cairn_sample *out)
{
    cairn_contacts all = cairn_world_contacts(world);
    cairn_sample_contacts mine = { all.count, all.normal, all.tangent, all.impulse };
    out->has_contacts = time_step > 0;
    if (!out->has_contacts)
        return CAIRN_OK;
    out->contacts = all.count;
    out->pair = all.body;
    out->point = all.point;
    out->normal = all.normal;
    out->force = cairn_sample_forces(&mine, out->dimension, time_step, arena);
    return out->force ? CAIRN_OK : CAIRN_NO_MEMORY;
}

double cairn_sample_volume(const cairn_shape *shape, int dimension)
{
    cairn_mass mass;
    return cairn_shape_mass_tensor(shape, dimension, &mass) == CAIRN_OK ? mass.mass : 0;
}

cairn_status cairn_sample_take(const cairn_world *world, double time_step, cairn_arena *arena,
                               cairn_sample *out)
{
    cairn_bodies b = cairn_world_bodies(world);
    uint8_t *is_grain = cairn_arena_take(arena, (size_t)b.count, sizeof *is_grain);
    double *radius = cairn_arena_take(arena, (size_t)b.count, sizeof *radius);
    double *volume = cairn_arena_take(arena, (size_t)b.count, sizeof *volume);
    *out = (cairn_sample){ .dimension = cairn_world_dimension(world),
                           .time = cairn_world_time(world),
                           .gravity = cairn_world_gravity(world),
                           .count = b.count,
                           .is_grain = is_grain,
                           .x = b.x,
                           .v = b.v,
                           .omega = b.omega,
                           .inertia = b.inertia,
                           .mass = b.mass,
                           .radius = radius,
                           .volume = volume,
                           .material = b.material };
    if (!is_grain || !radius || !volume)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < b.count; i++) {
        is_grain[i] = i >= b.held;
        radius[i] = cairn_bodies_shape(&b, i)->kind == CAIRN_SHAPE_SPHERE
                        ? cairn_bodies_shape(&b, i)->radius
                        : 0;
        volume[i] =
            is_grain[i] ? cairn_sample_volume(cairn_bodies_shape(&b, i), out->dimension) : 0;
    }
    return take_contacts(world, time_step, arena, out);
}

cairn_status cairn_world_statistic(const cairn_world *world, double time_step,
                                   const cairn_measure_options *options,
                                   cairn_statistic_table *table)
{
    cairn_arena arena = { 0 };
    cairn_sample sample;
    TRY(cairn_measure_options_check(options, cairn_world_dimension(world), NULL));
    cairn_status status = cairn_sample_take(world, time_step, &arena, &sample);
    if (status == CAIRN_OK)
        status = cairn_statistic_measure(&sample, options, &arena, table);
    cairn_arena_destroy(&arena);
    return status;
}
