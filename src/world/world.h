/* world.h - the inside of a world: bodies as arrays, contacts of the last step, scratch. */
#ifndef CAIRN_WORLD_WORLD_H
#define CAIRN_WORLD_WORLD_H

#include "base/arena.h"
#include "base/prefetch.h"
#include "cairn/world.h"
#include "collide/kept.h"
#include "world/columns.h"
#include "world/joint.h"

/* Bodies, structure of arrays; index = body. Fixed and driven bodies have inverse mass 0. */
typedef struct cairn_body_store {
    int count, free_count; /* entries in use or holes; holes                              */
    int first_hole;        /* there is none before                                        */
    size_t capacity;
    size_t bytes; /* of all columns                                                      */
    CAIRN_BODY_COLUMNS(CAIRN_COLUMN_STORED)
    int32_t *near; /* room for a list of bodies, used by inlets                           */
} cairn_body_store;

/* A driven body: where it started, and its motions. */
typedef struct cairn_driven {
    int32_t body;
    cairn_vec3 x0;
    cairn_quat q0;
    double angle0;
    double since; /* s: when the body was made; the motion counts from there         */
    cairn_driver driver;
} cairn_driven;

typedef struct cairn_loaded {
    int32_t body;
    cairn_load load;
} cairn_loaded;

typedef struct cairn_inlet {
    cairn_inlet_def def;
    uint64_t state; /* of the random numbers                                  */
    int64_t released;
    double waiting; /* m: radius drawn for a body that found no place; 0: none */
} cairn_inlet;

#define CAIRN_KEY_GONE INT32_MIN /* feature of an old contact that matches no other          */

/* A contact of the step: geometry, law, and after the solve its impulse. Sorted by (smaller body,
 * larger body, pieces, feature). */
typedef struct cairn_contact_store {
    int count;
    size_t capacity;
    size_t bytes;  /* of all columns                                          */
    unsigned set;  /* of what has columns of its own: CAIRN_CONTACTS_...      */
    int moments;   /* numbers of moment and turning per contact; 0: none      */
    double *zeros; /* instead of columns that nothing has                     */
    CAIRN_CONTACT_COLUMNS(CAIRN_COLUMN_STORED)
} cairn_contact_store;

struct cairn_world {
    int dimension;
    cairn_vec3 gravity;
    double time;
    double clock_start, clock_step; /* time = clock_start + clock_count * clock_step      */
    int64_t clock_count;
    cairn_body_store bodies;
    cairn_material_def *materials;
    size_t material_count, material_capacity;
    cairn_material_def *pairs; /* material_count^2, made when materials change            */
    bool *pair_given;
    bool friction_varies;       /* some friction depends on the sliding speed                  */
    bool bouncing;              /* some pair has restitution                                   */
    cairn_surface_laws laws;    /* beyond Coulomb friction with one mu                     */
    cairn_arena friction_lists; /* of the friction laws                                      */
    cairn_driven *driven;
    size_t driven_count, driven_capacity;
    cairn_loaded *loaded;
    size_t loaded_count, loaded_capacity;
    cairn_inlet *inlets;
    size_t inlet_count, inlet_capacity;
    cairn_joint *joints;
    size_t joint_count, joint_capacity;
    uint64_t *joined; /* sorted keys of bodies that a joint keeps from meeting            */
    size_t joined_count, joined_capacity;
    cairn_contact_store contacts, last; /* of this step; of the last one, for warm start  */
    double contacts_step, last_step;    /* s: the time steps of both; 0: none yet         */
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

/* bodies.c */
cairn_status cairn_bodies_reserve(cairn_body_store *bodies, size_t count);
void cairn_bodies_release(cairn_body_store *bodies);
/* What cairn_body_create would refuse in this definition. */
cairn_status cairn_body_check(const cairn_world *world, const cairn_body_def *def,
                              cairn_error *error);
/* Set the columns that follow from shape and pose: extent, arm, ball. */
void cairn_body_measure(cairn_body_store *bodies, int body);
/* The body's shape as it stands, or with the body at another pose. */
cairn_collider cairn_body_collider(const cairn_world *world, int body);
cairn_collider cairn_body_collider_at(const cairn_world *world, int i, const cairn_pose *body);
/* Radius about the body's origin that holds it, m; infinite for unbounded shapes. */
double cairn_body_extent(const cairn_world *world, int body);
/* Likewise about the origin of its shape. */
double cairn_body_size(const cairn_world *world, int body);
/* How far the points whose turning moves the surface lie from the centre, m: turning by an angle
 * moves no point of the surface by more than arm times the angle, as far as anyone can see: a ball
 * about the centre, or swept over the core, looks the same. Infinite for unbounded shapes. */
double cairn_body_arm(const cairn_world *world, int body);

/* world.c */
/* Radius of the smaller of two bodies, m, about the origins of their shapes; 1 mm where neither has
 * a size. */
double cairn_pair_radius(const cairn_world *world, int a, int b);

/* friction.c */
double cairn_friction_law_at(const cairn_friction_law *law, double constant, double speed);

/* material.c */
bool cairn_materials_have_poisson(const cairn_world *world);
cairn_material_def cairn_material_pair(const cairn_world *world, int a, int b);
bool cairn_material_is_poisson(const cairn_material_def *def);
/* Friction where materials a and b meet and slide, m/s. */
double cairn_material_friction(const cairn_world *world, int a, int b, double speed);

/* driver.c: poses and loads as functions of time */
void cairn_driven_pose(const cairn_world *world, int body, double time, cairn_vec3 *x,
                       cairn_quat *q, double *angle);
cairn_status cairn_driver_add(cairn_world *world, int body, const cairn_driver *driver);
cairn_status cairn_load_add(cairn_world *world, int body, const cairn_load *load);
void cairn_drivers_remove(cairn_world *world, int body);
/* `ahead` s from now; torques in the frame of a body that has turned on by then. */
void cairn_loads_at(const cairn_world *world, double ahead, cairn_vec3 *force, cairn_vec3 *torque);

/* contact_store.c */
/* Room for so many contacts, with the columns of a set and of those before. On failure there is
 * room for none. */
cairn_status cairn_contacts_reserve(cairn_contact_store *contacts, size_t count, unsigned set,
                                    int dimension);
void cairn_contacts_release(cairn_contact_store *contacts);
/* The piece of the body of smaller (0) or larger index (1). */
cairn_piece cairn_contact_piece(const cairn_contact_store *contacts, int j, int which);
/* From the centre of the body on one side to its witness point, m, with bodies at x. */
cairn_vec3 cairn_contact_arm(const cairn_contact_store *contacts, const cairn_vec3 *x, int j,
                             int side);
/* energy.c */
double cairn_body_kinetic(const cairn_world *world, int body, cairn_vec3 v, cairn_vec3 omega);

/* inlet.c */
size_t cairn_inlets_due(const cairn_world *world, double time);
int cairn_inlets_pour(cairn_world *world);
void cairn_inlets_release(cairn_world *world);

#endif
