/* world.h - the inside of a world. */
#ifndef CAIRN_WORLD_WORLD_H
#define CAIRN_WORLD_WORLD_H

#include "base/arena.h"
#include "cairn/world.h"
#include "collide/kept.h"
#include "world/bodies.h"
#include "world/contact_store.h"
#include "world/driver.h"
#include "world/inlet.h"
#include "world/joint.h"
#include "world/material.h"

/* time = start + count * step */
typedef struct cairn_world_clock {
    double start, step; /* s */
    int64_t count;
} cairn_world_clock;

struct cairn_world {
    int dimension;
    cairn_vec3 gravity;
    double time; /* s */
    cairn_world_clock clock;
    cairn_body_store bodies;
    cairn_material_list materials;
    cairn_driven_list driven;
    cairn_loaded_list loaded;
    cairn_inlet_list inlets;
    cairn_joint_list joints;
    cairn_contact_store contacts, last; /* of this step; of the last one, for warm start  */
    double contacts_step, last_step;    /* s: the time steps of both; 0: none yet         */
    bool contacts_sorted;               /* by rows, as a warm start needs them            */
    cairn_kept_pairs kept_pairs;
    cairn_pair_list pair_list; /* of this step                                            */
    cairn_leaf_list leaf_list;
    cairn_arena scratch;        /* of one step                                             */
    cairn_problem problem;      /* of the last step, in the scratch                        */
    const double *problem_r;    /* its impulses; NULL: there is no problem                 */
    cairn_step_inputs inputs;   /* of the last step, in the scratch as well                */
    cairn_workspace *workspace; /* of the solver                                          */
    cairn_error error;
};

/* What reports and messages call the body of a row: its uid; -1: nobody. */
static inline long long cairn_row_uid(const cairn_world *world, int row)
{
    return row < 0 ? -1 : (long long)world->bodies.uid[row];
}

/* order.c: contacts and joints name the rows in which their bodies stand now; contacts of a body
 * that is gone are dropped. Nobody can see a difference: what shows rows calls it first. */
void cairn_world_name_rows(cairn_world *world);
/* The rows of dynamic bodies along a curve through space, where there are many of them and it
 * pays, and contacts sorted by rows. CAIRN_NO_MEMORY: the world is as before, in another order. */
cairn_status cairn_world_put_in_order(cairn_world *world);

/* world.c: radius of the smaller of two bodies, m, about the origins of their shapes; 1 mm where
 * neither has a size */
double cairn_pair_radius(const cairn_world *world, int a, int b);

#endif
