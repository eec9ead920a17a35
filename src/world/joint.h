/* joint.h - the inside of joints: what a kind holds, and the rows it puts into the problem.
 *
 * A row is one equation of the one-step problem between two bodies:
 *     y = e.(va + wa x pa) + ta.wa - e.(vb + wb x pb) - tb.wb
 *         + gain * defect + bias + compliance * r,
 *     lower <= r <= upper,  y >= 0 at lower, y <= 0 at upper, y = 0 between. */
#ifndef CAIRN_WORLD_JOINT_H
#define CAIRN_WORLD_JOINT_H

#include "cairn/joint.h"

/* Relative motion that a kind holds, as bits; "along" and "about" mean its axis. */
enum {
    CAIRN_HOLDS_ALONG = 1,   /* sliding along the axis                                        */
    CAIRN_HOLDS_ACROSS = 2,  /* sliding at right angles to it                                 */
    CAIRN_HOLDS_ABOUT = 4,   /* turning about the axis (2D: turning)                          */
    CAIRN_HOLDS_TILT = 8,    /* turning of the axis itself; 3D                                */
    CAIRN_HOLDS_CROSS = 16,  /* the two axes stay at right angles                             */
    CAIRN_HOLDS_LENGTH = 32, /* the distance of the two points                                */
    CAIRN_HOLDS_SCREW = 64,  /* slide - pitch turn/(2 pi)                                     */
    CAIRN_HOLDS_GEAR = 128,  /* turning of a + ratio * turning of b                           */
    CAIRN_HOLDS_ROPE = 256,  /* the distance from above                                       */
    CAIRN_HOLDS_SOFTLY = 512 /* everything, by springs                                        */
};

typedef struct cairn_joint_class {
    cairn_record record;
    unsigned holds_2d, holds_3d; /* 0: the kind does not exist there                          */
    bool exists_2d;
    bool turns, slides; /* free coordinates with a drive                               */
    bool two_points;    /* anchor_b counts; `slide` is the distance of the two         */
} cairn_joint_class;

const cairn_joint_class *cairn_joint_class_of(cairn_joint_kind kind);

typedef enum cairn_row_role {
    CAIRN_ROW_UNUSED,
    CAIRN_ROW_HOLD,      /* equality, drift in m                                        */
    CAIRN_ROW_HOLD_TURN, /* equality, drift in rad                                      */
    CAIRN_ROW_LIMIT,
    CAIRN_ROW_MOTOR,
    CAIRN_ROW_FRICTION,
    CAIRN_ROW_SPRING
} cairn_row_role;

typedef struct cairn_row {
    cairn_row_role role;
    cairn_vec3 e;            /* direction of sliding; 0: none                                 */
    cairn_vec3 arm_a, arm_b; /* m: pa, pb from the centres                                    */
    cairn_vec3 turn_a;       /* ta, tb: world frame                                           */
    cairn_vec3 turn_b;
    double defect; /* m or rad: how far the coordinate is from where the row wants it  */
    double gain;   /* 1/s: bias grows by gain * defect                                 */
    double bias;   /* m/s or rad/s: the rest of it                                     */
    double lower, upper, compliance;
    double stiffness; /* springs: of energy 1/2 k defect^2                                */
    double damping;
} cairn_row;

enum { CAIRN_JOINT_ROWS = 18 }; /* most rows of a joint, a multiple of 2 and 3 */

/* A joint of a world. */
typedef struct cairn_joint {
    bool alive, broken;
    uint32_t generation;
    cairn_joint_def def;  /* bodies and geometry as given                               */
    int32_t body[2];      /* rows; -1: the world                                        */
    cairn_vec3 anchor[2]; /* m: points in the bodies' frames                            */
    cairn_quat frame[2];  /* joint frames in the bodies' frames; first axis: the axis   */
    double turn, slide;   /* coordinates at the last commit, turns counted              */
    double phase;         /* rad: what a gear has let slip                              */
    int rows;             /* of this step                                               */
    double impulse[CAIRN_JOINT_ROWS];    /* N s: of the last step                                 */
    double correction[CAIRN_JOINT_ROWS]; /* kg m/s: while overlaps were mended in it            */
    cairn_vec3 force, torque; /* N, N m on a                                                */
    double drift, turn_drift; /* m, rad                                                     */
    double elastic;           /* J: what its springs store */
    double felt_turn;  /* kg m^2: inertia along `turn`, where a motor asks for it: joint_felt.c */
    double felt_slide; /* kg: along `slide` */
} cairn_joint;

typedef struct cairn_joint_list {
    cairn_joint *items;
    size_t count, capacity;
    uint64_t *joined; /* sorted keys of bodies that a joint keeps from meeting            */
    size_t joined_count, joined_capacity;
    bool changed; /* since both were made                                                 */
} cairn_joint_list;

/* Poses and time step that rows are made for. */
typedef struct cairn_joint_view {
    int dimension;
    double h, gamma;
    cairn_vec3 x[2];
    cairn_quat q[2];
} cairn_joint_view;

/* joint_rows.c: the rows of a joint in a pose; returns their number. */
int cairn_joint_rows(const cairn_joint *joint, const cairn_joint_view *view, cairn_row *rows);
/* The free coordinates in a pose, turns counted on from the joint's own. */
void cairn_joint_coordinates(const cairn_joint *joint, const cairn_joint_view *view, double *turn,
                             double *slide);

/* joint_stage.c: drift and stored energy in a pose. */
void cairn_joint_measure(cairn_joint *joint, const cairn_joint_view *view);

/* joint.c */
/* Those of a body that goes. */
void cairn_joints_remove(cairn_world *world, uint64_t uid);
void cairn_joints_index(cairn_world *world);
bool cairn_joints_forbid(const cairn_world *world, int a, int b);

#endif
