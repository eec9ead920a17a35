/* driver.h - poses and loads as functions of time. */
#ifndef CAIRN_WORLD_DRIVER_H
#define CAIRN_WORLD_DRIVER_H

#include "cairn/world.h"

/* A driven body: where it started, and its motions. */
typedef struct cairn_driven {
    uint64_t uid;
    cairn_vec3 x0;
    cairn_quat q0;
    double angle0;
    double since; /* s: when the body was made; the motion counts from there         */
    cairn_driver driver;
} cairn_driven;

typedef struct cairn_driven_list {
    cairn_driven *items;
    size_t count, capacity;
} cairn_driven_list;

typedef struct cairn_loaded {
    uint64_t uid;
    cairn_load load;
} cairn_loaded;

typedef struct cairn_loaded_list {
    cairn_loaded *items;
    size_t count, capacity;
    cairn_force_fn *force; /* loads that follow from the state; NULL: none */
    void *context;         /* of it                                        */
} cairn_loaded_list;

void cairn_driven_pose(const cairn_world *world, int body, double time, cairn_vec3 *x,
                       cairn_quat *q, double *angle);
cairn_status cairn_driver_add(cairn_world *world, int body, const cairn_driver *driver);
cairn_status cairn_load_add(cairn_world *world, int body, const cairn_load *load);
/* Drivers and loads of one body; CAIRN_NO_BODY: of all. */
void cairn_drivers_remove(cairn_world *world, uint64_t uid);
/* `ahead` s from now; torques in the frame of a body that has turned on by then. Forces and torques
 * are zero before. Fails as the world's force function does. */
cairn_status cairn_loads_at(const cairn_world *world, double ahead, cairn_vec3 *force,
                            cairn_vec3 *torque);

#endif
