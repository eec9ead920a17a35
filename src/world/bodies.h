/* bodies.h - bodies as arrays. */
#ifndef CAIRN_WORLD_BODIES_H
#define CAIRN_WORLD_BODIES_H

#include "base/directory.h"
#include "cairn/world.h"
#include "collide/collide.h"
#include "world/columns.h"
#include "world/shapes.h"

/* Structure of arrays, without holes: first what is held (fixed or driven, with inverse mass 0),
 * then the dynamic bodies. A body that comes in is appended; who goes is replaced by the last one.
 * Rows are named anew (order.c) when somebody looks, not each time that one changes. */
typedef struct cairn_body_store {
    int count;         /* rows                                                              */
    int held;          /* rows of fixed and driven bodies, the first ones                   */
    uint64_t next_uid; /* of the body that is made next                                     */
    double apart;      /* m: how far bodies of rows side by side were when they were sorted */
    double far;        /* m: what is further apart counts as that                           */
    size_t capacity;
    size_t bytes; /* of all columns                                                        */
    CAIRN_BODY_COLUMNS(CAIRN_COLUMN_STORED)
    cairn_shape_table shapes;
    cairn_directory directory; /* rows by uid                                              */
    bool moved;                /* rows have changed since they were last named             */
    int named;                 /* rows when they were                                      */
    int32_t *was;              /* then: row of each body when they were; -1: it is younger */
    int32_t *list;             /* room for a list of rows                                  */
} cairn_body_store;

/* The shape of the body in a row. */
static inline const cairn_shape *cairn_body_shape(const cairn_body_store *bodies, int row)
{
    return &bodies->shapes.items[bodies->shape[row]];
}

cairn_status cairn_bodies_reserve(cairn_body_store *bodies, size_t count);
void cairn_bodies_release(cairn_body_store *bodies);
/* From now on, until rows are named anew, `was` is kept. */
void cairn_bodies_start_moving(cairn_body_store *bodies);
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
/* energy.c: J, with velocities v and omega */
double cairn_body_kinetic(const cairn_world *world, int body, cairn_vec3 v, cairn_vec3 omega);

#endif
