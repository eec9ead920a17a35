/* lists.h - what a world owns besides its bodies: materials, drivers, loads and inlets; and the
 * functions that create many bodies at once. */
#ifndef CAIRN_WORLD_LISTS_H
#define CAIRN_WORLD_LISTS_H

#include "base/bytes.h"
#include "base/memory.h"
#include "cairn/cell.h"
#include "cairn/generate.h"
#include "cairn/world.h"
#include "collide/collide.h"
#include "world/store.h"

/* ---- materials ------------------------------------------------------------------------------- */

/* The materials of a world, and the laws given for pairs of them. */
typedef struct cairn_material_list {
    cairn_material_def *items;
    size_t count, capacity;
    cairn_material_def *pairs;  /* count x count, symmetric; grows with the materials */
    bool *pair_given;           /* of each pair: its entry of `pairs` is set          */
    bool friction_varies;       /* some friction law depends on the sliding speed     */
    bool bouncing;              /* some material or pair has restitution              */
    cairn_surface_laws laws;    /* laws in use beyond Coulomb friction with one mu    */
    cairn_arena friction_lists; /* the world's copies of friction tables              */
} cairn_material_list;

/* Whether some material or pair bounces by Poisson's law. */
bool cairn_materials_have_poisson(const cairn_world *world);
/* The law of two materials: as given for the pair, else from the smaller values of both. */
cairn_material_def cairn_material_pair(const cairn_world *world, int a, int b);
bool cairn_material_is_poisson(const cairn_material_def *def);
/* mu between materials a and b at a sliding speed, m/s. */
double cairn_material_friction(const cairn_world *world, int a, int b, double speed);
/* material.c: mu of a law at a sliding speed, m/s; `constant` if the law does not depend on it. */
double cairn_friction_law_at(const cairn_friction_law *law, double constant, double speed);
/* Materials and pairs in saved states; those that a world has are replaced. */
void cairn_materials_write(cairn_writer *w, const cairn_world *world);
cairn_status cairn_materials_read(cairn_reader *r, cairn_world *world);

/* ---- numbers that vary ---------------------------------------------------------------------- */

/* A number of the world that follows a function of time. */
typedef struct cairn_varied_number {
    cairn_varied what;
    int index;
    cairn_function function; /* owned                                               */
    double before;           /* the number before this step, to be restored if it fails */
    bool told; /* the function is a callback of another process, which has told `next` */
    double next;
} cairn_varied_number;

typedef struct cairn_varied_list {
    cairn_varied_number *items;
    size_t count, capacity;
    bool plain; /* while a world is saved: without callbacks */
} cairn_varied_list;

/* ---- cells ----------------------------------------------------------------------------------- */

/* A wall of a cell, as all members know it. */
typedef struct cairn_cell_wall {
    uint64_t uid;     /* CAIRN_NO_BODY: there is none                                     */
    bool moves;       /* the cell moves it                                                */
    double half;      /* m: from its centre to the face that touches the grains           */
    double x;         /* m: its place along the axis                                      */
    double push;      /* N: force that moved it along the axis in the last step           */
    double damping;   /* N s/m: in the last step; infinite: its velocity was given        */
    cairn_vec3 force; /* N: of the contacts on it, filtered                               */
} cairn_cell_wall;

typedef struct cairn_cell {
    cairn_cell_def def;      /* its functions are owned                               */
    cairn_cell_wall wall[6]; /* low and high of each axis                             */
    double sample;           /* kg: mass of the other dynamic bodies at its creation  */
    double length[3];        /* m: lengths from which strains count                   */
    bool counting;           /* strain_from has passed                                */
    bool measured;           /* there has been a step                                 */
} cairn_cell;

typedef struct cairn_cell_list {
    cairn_cell *items;
    size_t count, capacity;
} cairn_cell_list;

/* Removes the cells that have the body as a wall; CAIRN_NO_BODY: all. */
void cairn_cells_remove(cairn_world *world, uint64_t uid);
/* Copies what the cells of a world have measured to those of another one. */
void cairn_cells_copy(const cairn_world *from, cairn_world *to);
/* m: between the faces of the two walls of an axis; NaN: there is only one. */
double cairn_cell_length(const cairn_cell *cell, int axis);
/* m^2, in 2D m: between the walls of the other axes; NaN: not all of them have two. */
double cairn_cell_area(const cairn_cell *cell, int dimension, int axis);
/* Cells in saved states. */
void cairn_cells_write(cairn_writer *w, const cairn_world *world);
cairn_status cairn_cells_read(cairn_reader *r, cairn_world *world);
/* Whether the body with a uid is moved by a cell. */
bool cairn_cells_move(const cairn_world *world, uint64_t uid);

/* ---- drivers and loads ----------------------------------------------------------------------- */

/* One motion of a driven body; a body may have several. The pose at time t follows from that of the
 * start and t alone, so that no error accumulates. */
typedef struct cairn_driven {
    uint64_t uid;
    cairn_vec3 x0;
    cairn_quat q0;
    double angle0;
    double since; /* s: when the driver was added; its motion counts from there */
    /* motion: integrals of its speed and spin from `since` until the last step, s, m, rad */
    double until;
    cairn_vec3 moved;
    double turned;
    cairn_driver driver;
} cairn_driven;

/* What moves by functions of time: driven bodies, numbers of the world, and walls of cells. */
typedef struct cairn_driven_list {
    cairn_driven *items;
    size_t count, capacity;
    cairn_varied_list varied;
    cairn_cell_list cells;
} cairn_driven_list;

/* A load on one body. */
typedef struct cairn_loaded {
    uint64_t uid;
    cairn_load load;
} cairn_loaded;

/* A push of one body in the next step. */
typedef struct cairn_pushed {
    uint64_t uid;
    cairn_vec3 force, torque; /* N, N m: world frame */
} cairn_pushed;

/* Bodies that the caller changed, in the order in which they were changed first. */
typedef struct cairn_change_list {
    cairn_change *items;
    size_t count, capacity;
} cairn_change_list;

/* What the caller applied to bodies since the last step that succeeded. */
typedef struct cairn_applied {
    cairn_pushed *pushes;
    size_t push_count, push_capacity;
    cairn_change_list changes;
    cairn_directory where;   /* of each changed body: its place in `changes`      */
    cairn_change_list shown; /* those before the last step, for cairn_step_inputs */
    double energy;           /* J: that the changes gave to bodies                */
} cairn_applied;

typedef struct cairn_loaded_list {
    cairn_loaded *items;
    size_t count, capacity;
    cairn_force_fn *force; /* loads that depend on the state; NULL: none */
    void *context;         /* of `force`; belongs to the caller          */
    cairn_applied applied;
} cairn_loaded_list;

/* vary.c: whether functions of another process have told their values in the next step. */
bool cairn_varied_told(const cairn_world *world);

/* Whether forces besides gravity act on bodies. */
static inline bool cairn_loads_act(const cairn_loaded_list *loaded)
{
    return loaded->count > 0 || loaded->force || loaded->applied.push_count > 0;
}

/* vary.c: after a step that succeeded, report what was applied before it and forget the pushes,
 * unless substeps of the same step are still to come. */
void cairn_applied_report(cairn_applied *applied, bool in_step, cairn_step_report *report);
void cairn_applied_release(cairn_applied *applied);
/* Add a push, or note and make a change, that a world with the same bodies has accepted; nothing
 * happens to a body that is elsewhere. */
cairn_status cairn_applied_push(cairn_world *world, const cairn_pushed *push);
cairn_status cairn_applied_change(cairn_world *world, const cairn_change *change);
/* The pushes that wait in one world wait in the other one, which has no changes to report. */
cairn_status cairn_applied_copy(const cairn_world *from, cairn_world *to);

/* The pose of a driven body at a time, s. */
void cairn_driven_pose(const cairn_world *world, int body, double time, cairn_vec3 *x,
                       cairn_quat *q, double *angle);
/* Whether some driver follows a speed, so that its place depends on an integral up to the present
 * time. */
bool cairn_drivers_integrate(const cairn_world *world);
/* Whether the motion of a driven body is a callback. */
bool cairn_drivers_call(const cairn_world *world);
/* After a step: add the integrals over it, up to the present time. */
void cairn_drivers_advance(cairn_world *world);
/* Check and add a driver of the body in a row, or a load of the body with a uid, which another
 * member may have; lists are copied. */
cairn_status cairn_driver_add(cairn_world *world, int body, const cairn_driver *driver);
cairn_status cairn_load_add(cairn_world *world, uint64_t uid, const cairn_load *load);
/* Removes the drivers and loads of one body; CAIRN_NO_BODY: of all bodies. */
void cairn_drivers_remove(cairn_world *world, uint64_t uid);
/* Removes the drivers of all bodies. */
void cairn_drivers_clear(cairn_driven_list *driven);
/* Adds the loads of all bodies `ahead` s from now, N and N m. Torques are given in the frame that
 * the body will have by then. The caller clears both arrays. Fails if the world's force function
 * does, or if one is not a finite number. */
cairn_status cairn_loads_at(cairn_world *world, double ahead, cairn_vec3 *force,
                            cairn_vec3 *torque);

/* Set the numbers for the step from the present time to h later. On failure all are as before. */
cairn_status cairn_varied_set(cairn_world *world, double h);
/* What a number will be in the next step. */
double cairn_varied_in_step(const cairn_world *world, const cairn_varied_number *number, double h);
/* Set them back, after a step that failed. */
void cairn_varied_restore(cairn_world *world);
void cairn_varied_release(cairn_world *world);
/* Functions of time in saved states; reading takes one of them. */
void cairn_varied_write(cairn_writer *w, const cairn_world *world);
cairn_status cairn_varied_read(cairn_reader *r, cairn_world *world);
/* Functions of time for other processes: in the place of a callback, which they cannot call, what
 * the number will be in the step from now to h later. */
void cairn_varied_tell(cairn_writer *w, const cairn_world *world, double h);
cairn_status cairn_varied_hear(cairn_reader *r, cairn_world *world);

/* ---- the periodic cell ----------------------------------------------------------------------- */

typedef struct cairn_periodic {
    cairn_lattice cell;
    double gradient[3][3]; /* 1/s: L, e' = L e: derivative of velocity component i along axis j */
    double work;           /* J: of putting bodies back into the cell, since the last step     */
    cairn_images images;   /* for the list of pairs                                            */
} cairn_periodic;

/* The cell if the world is periodic, else NULL. */
const cairn_lattice *cairn_lattice_of(const cairn_world *world);
/* What the beginning of a step changed, in the scratch of the step. */
typedef struct cairn_lattice_undo {
    cairn_lattice cell; /* as it was */
    double work;
    struct {
        int i, j;
        int32_t m;
    } shortened[9]; /* edge j became e_j - m e_i, one after the other */
    int shortened_count, body_count, contact_count;
    struct cairn_put_body *body;       /* those that were put back */
    struct cairn_put_contact *contact; /* of the last step, that followed them */
    cairn_image *joint;                /* the image of each; NULL: not changed */
} cairn_lattice_undo;

/* When a step begins: choose short edges for the lattice, find their velocities in the step, and
 * put bodies that have left the cell back into it. `undo` says what changed, also on failure. */
cairn_status cairn_lattice_begin(cairn_world *world, double h, cairn_lattice_undo *undo);
/* After a step that failed: all as before it, to the bit. */
void cairn_lattice_take_back(cairn_world *world, const cairn_lattice_undo *undo);
/* When it ends: move the edges. */
void cairn_lattice_advance(cairn_world *world, double h);
/* For members: from one world to another of the same bodies. */
void cairn_lattice_copy(const cairn_world *from, cairn_world *to);
/* An upper bound on how far an image moves relative to its body in the next step, over its distance
 * from it. */
double cairn_lattice_way(const cairn_world *world, double h);
/* Whether an image of box a overlaps box b, in a periodic world; `way`: how far images move, over
 * their distance. */
bool cairn_lattice_joins(const cairn_world *world, double way, const cairn_bounds *a,
                         const cairn_bounds *b);
/* Likewise, with each such image, given by its distance from box a, m, until one is accepted. */
typedef bool cairn_image_fn(cairn_vec3 shift, void *context);
bool cairn_lattice_search(const cairn_world *world, double way, const cairn_bounds *a,
                          const cairn_bounds *b, cairn_image_fn *accept, void *context);
/* Replace a place and a velocity by those of the image in the cell, if the world is periodic. */
void cairn_lattice_enter(const cairn_world *world, cairn_vec3 *x, cairn_vec3 *v);
cairn_status cairn_lattice_check_gradient(const cairn_lattice *cell, int i, int j,
                                          cairn_error *error);
/* The cell as bytes of a saved state, and back; fails where it spans no volume. */
void cairn_lattice_write(cairn_writer *w, const cairn_world *world);
cairn_status cairn_lattice_read(cairn_reader *r, cairn_world *world);
/* Whether what the world has is possible in its cell, with the key to blame. */
cairn_status cairn_lattice_check(const cairn_world *world, const cairn_step_options *options,
                                 cairn_error *error);

/* ---- generators ------------------------------------------------------------------------------ */

/* A generator while it runs. */
typedef struct cairn_generation {
    cairn_world *world;
    const cairn_generator *generator;
    int dimension;
    uint64_t state;     /* of the random number generator */
    int64_t count;      /* of all bodies that it makes    */
    int64_t made;       /* bodies created so far          */
    cairn_error *error; /* may be NULL                    */
} cairn_generation;

/* Draws the radius or the mass of a body (0, 1, ...). A constant, and a grading, which is picked by
 * the number of the body, leave the random state unchanged. */
double cairn_generation_draw(cairn_generation *g, const cairn_distribution *distribution,
                             int64_t body);
/* Draws orientation and mass, and creates a body that fits into a ball of this radius about its
 * origin. */
cairn_status cairn_generation_place(cairn_generation *g, double radius, cairn_vec3 position);

/* ---- distributions -------------------------------------------------------------------------- */

/* Whether a distribution gives shares of mass: a sieve curve, or a list by mass. */
bool cairn_distribution_graded(const cairn_distribution *d);
/* The value of body `index` of `count` by a grading. All of them together have its shares of mass,
 * to about one body, and so has each `block` of bodies that follow one another; the fewer blocks,
 * the closer. The seed decides their order. */
double cairn_distribution_pick(const cairn_distribution *d, uint64_t seed, int64_t index,
                               int64_t count, int64_t block);
/* The largest value; infinite where it has no bound. */
double cairn_distribution_largest(const cairn_distribution *d);

/* ---- grains: what generators and inlets share ----------------------------------------------- */

/* Whether bodies of this shape can be created with these radii: the shape must be bounded and have
 * a size, and can be scaled only if it is described by numbers alone (not by a mesh). */
cairn_status cairn_grain_check(const cairn_shape *shape, const cairn_distribution *radius,
                               int dimension, cairn_error *error);
/* Refuses radii by mass beside a mass, which they would not go with. */
cairn_status cairn_grain_check_grading(const cairn_distribution *radius, bool mass_given,
                                       cairn_error *error);
/* The radii to draw from; if none are given (a constant 0), the size of the shape itself. */
cairn_distribution cairn_grain_radii(const cairn_shape *shape, const cairn_distribution *radius);
/* The shape scaled so that it fits into a ball of this radius about its origin. */
cairn_shape cairn_grain_shape(const cairn_shape *shape, double radius, int dimension);
/* Draws an orientation, uniformly distributed. */
void cairn_grain_turn(int dimension, uint64_t *state, cairn_body_def *def);

/* Fills a region with bodies at random free places: generate.c. */
cairn_status cairn_generation_fill(cairn_generation *g);

/* ---- inlets ---------------------------------------------------------------------------------- */

/* An inlet with its progress, which is saved so that a resumed run releases the same bodies. */
typedef struct cairn_inlet {
    cairn_inlet_def def;
    uint64_t state;   /* of the random number generator                       */
    int64_t released; /* bodies so far                                        */
    double waiting;   /* m: radius of a body that found no place yet; 0: none */
    bool varies;      /* its rate is a function of time, and `flow` its integral from the start */
    double flow;
    struct cairn_returning *queue; /* bodies that come back, the first one first */
    size_t queued, queue_capacity;
    double turn; /* integral of the rate at which the next one may come back */
} cairn_inlet;

/* A body that left through an outlet and waits at an inlet. */
typedef struct cairn_returning {
    cairn_shape shape; /* holds its geometry */
    double mass;       /* kg */
    int material;
    int32_t group, ignores;
    int32_t passes;
    uint64_t first;
} cairn_returning;

/* An outlet with what left through it. */
typedef struct cairn_outlet {
    cairn_outlet_def def;
    cairn_outlet_state state;
} cairn_outlet;

typedef struct cairn_outlet_list {
    cairn_outlet *items;
    size_t count, capacity;
    /* what left since the last step that succeeded, for the report of the next one */
    int left;
    double mass, energy; /* kg, J */
} cairn_outlet_list;

/* What enters the world and what leaves it. */
typedef struct cairn_inlet_list {
    cairn_inlet *items;
    size_t count, capacity;
    cairn_outlet_list outlets;
} cairn_inlet_list;

/* Remove the bodies that leave. On CAIRN_NO_MEMORY some may stay until the next call. */
cairn_status cairn_outlets_drain(cairn_world *world);
/* Add a body to the end of the queue of an inlet at a time, s; its geometry is retained. */
cairn_status cairn_inlet_queue(cairn_inlet *inlet, const cairn_returning *body, double time);

/* From a time on, s, the rate of the inlet is a function of time. */
void cairn_inlet_vary(cairn_inlet *inlet, double time);

/* Number of bodies that the inlets owe at a time, s: an upper bound on what they will add. */
size_t cairn_inlets_due(const cairn_world *world, double time);
/* Creates the bodies that are due and find a place; returns how many. Needs the room reserved
 * before. */
int cairn_inlets_pour(cairn_world *world);
void cairn_inlets_release(cairn_world *world);

#endif
