/* world.h - the private definition of a world, and small functions on it that many files use. */
#ifndef CAIRN_WORLD_WORLD_H
#define CAIRN_WORLD_WORLD_H

#include "base/memory.h"
#include "cairn/world.h"
#include "collide/collide.h"
#include "world/exchange.h"
#include "world/joint.h"
#include "world/lists.h"
#include "world/store.h"

/* time = start + (count + done) * step. A sum of many equal steps would accumulate rounding errors;
 * a product does not. A change of the time step starts a new count. `done` and `share` are sums of
 * powers of 2, so the step after a divided one begins where it would have begun otherwise. */
typedef struct cairn_world_clock {
    double start, step; /* s */
    int64_t count;
    double done;  /* share of the present step that is done by substeps: 0 <= done < 1 */
    double share; /* of a step: the length of the last substep                         */
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
    cairn_contact_store contacts, last; /* of this step; of the last one, for the warm start    */
    bool contacts_sorted;               /* by rows, as the warm start requires                  */
    cairn_kept_pairs kept_pairs;        /* the pair list with its skin, kept over several steps */
    cairn_periodic periodic;            /* the periodic cell; all 0: there is none              */
    cairn_pair_list pair_list;          /* of this step                                         */
    cairn_leaf_list leaf_list;          /* pairs of pieces, of this step                        */
    cairn_arena scratch;                /* memory of one step, emptied when the next one begins */
    cairn_problem problem;              /* of the last step; its arrays are in the scratch      */
    const double *problem_r;            /* its impulses; NULL: there is no problem to show      */
    cairn_step_inputs inputs;           /* of the last step, in the scratch as well             */
    cairn_workspace *workspace;         /* of the solver, reused from step to step              */
    cairn_exchange exchange;            /* parts, and the other members that compute this world */
    cairn_error error;                  /* of the last call; empty if it succeeded */
};

/* The number by which reports and messages name the body in a row: its uid; -1: no body. */
static inline long long cairn_row_uid(const cairn_world *world, int row)
{
    return row < 0 ? -1 : (long long)world->bodies.uid[row];
}

/* order.c: update contacts and joints to the current rows of their bodies, and drop contacts of
 * bodies that were removed. This is done lazily and changes nothing that a caller can see: every
 * function that shows rows calls it first. */
void cairn_world_name_rows(cairn_world *world);
/* pile.c: copy what a step left on a device: contacts; the states of bodies; x and q of the inputs
 * of the step. Likewise: every function that reads or changes a state calls cairn_pile_return. */
void cairn_pile_show(cairn_world *world);
void cairn_pile_return(cairn_world *world);
void cairn_pile_show_inputs(cairn_world *world);
/* The sum that order.c measures disorder by, of bodies on a device. */
cairn_status cairn_pile_apart(cairn_world *world, double far, int64_t *sum);
/* Prepare the rows for a step: sort the dynamic bodies along a space-filling curve if there are
 * many of them and it pays off, sort the contacts by rows, and cut both into parts if the options
 * ask for it. On CAIRN_NO_MEMORY the world is the same as before, possibly with its rows in another
 * order. */
cairn_status cairn_world_put_in_order(cairn_world *world, const cairn_step_options *options);

/* Sort the dynamic rows by the places of their bodies; `place` has that of each dynamic row. */
cairn_status cairn_world_sort_rows(cairn_world *world, const uint64_t *place);

/* Whether this world moves the body in a row: it is dynamic and not a ghost. */
static inline bool cairn_world_moves(const cairn_world *world, int row)
{
    const cairn_exchange *x = &world->exchange;
    return row >= world->bodies.held && (!x->link || (row >= x->own && row < x->own_end));
}

/* The rows by parts, for reductions; NULL: the world is not cut into parts. */
static inline const cairn_parted *cairn_world_parted(const cairn_world *world)
{
    return world->exchange.parts > 0 ? &world->exchange.bodies : NULL;
}

/* world.c: the radius of the smaller of two bodies, m, about the origins of their shapes; 1 mm if
 * neither has a size */
double cairn_pair_radius(const cairn_world *world, int a, int b);

#endif
