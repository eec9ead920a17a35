/* run_joints.h - the joints of a stored frame: what they are, what they do, and their rows. */
#ifndef CAIRN_IO_RUN_JOINTS_H
#define CAIRN_IO_RUN_JOINTS_H

#include "base/arena.h"
#include "cairn/joint.h"

struct cairn_run_frame;
struct cairn_run_roll;

enum { CAIRN_RUN_JOINT_NUMBERS = 23 }; /* plain numbers that a joint is made of */

typedef struct cairn_run_joints {
    size_t count;   /* alive: rows below      */
    int32_t *index; /* row in /joints         */
    int32_t *slot;  /* 2 per joint: indices in the world; -1: the world itself */
    uint8_t *broken;
    cairn_vec3 *force, *torque, *point, *point_b;
    double *turn, *slide, *drift, *turn_drift, *phase;
    double *turn_target, *slide_target; /* of the motors in the last step                   */
    size_t fresh;                       /* joints that no frame held before: their properties */
    uint8_t *kind, *collide, *turn_motor, *slide_motor;
    int32_t *pair; /* 2 per joint: rows in /bodies; -1: the world, or gone */
    cairn_vec3 *anchor_a, *anchor_b;
    cairn_quat *frame_a, *frame_b;
    double *number[CAIRN_RUN_JOINT_NUMBERS];
    size_t rows; /* of all joints in the last step */
    int32_t *row_joint;
    double *row_impulse, *row_correction;
} cairn_run_joints;

/* Add the joints of a world to a frame whose bodies are there. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_joints_take(const cairn_world *world, struct cairn_run_roll *roll,
                                   cairn_arena *arena, struct cairn_run_frame *frame);

#endif
