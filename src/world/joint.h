/* joint.h - internals of joints: which motion a kind holds, and the rows it adds to the problem.
 *
 * A row is one scalar equation of the one-step problem between two bodies a and b:
 *     y = e.(va + wa x pa) + ta.wa - e.(vb + wb x pb) - tb.wb
 *         + gain * defect + bias + compliance * r,
 *     lower <= r <= upper,  y >= 0 at lower, y <= 0 at upper, y = 0 between. */
#ifndef CAIRN_WORLD_JOINT_H
#define CAIRN_WORLD_JOINT_H

#include "cairn/joint.h"

/* Relative motion that a kind of joint prevents, as bits. "Along" and "about" refer to its axis. */
enum {
    CAIRN_HOLDS_ALONG = 1,   /* sliding along the axis                       */
    CAIRN_HOLDS_ACROSS = 2,  /* sliding perpendicular to it                  */
    CAIRN_HOLDS_ABOUT = 4,   /* rotation about the axis (2D: any rotation)   */
    CAIRN_HOLDS_TILT = 8,    /* rotation of the axis itself; 3D only         */
    CAIRN_HOLDS_CROSS = 16,  /* the two axes stay perpendicular              */
    CAIRN_HOLDS_LENGTH = 32, /* the distance between the two points          */
    CAIRN_HOLDS_SCREW = 64,  /* slide - pitch turn/(2 pi)                    */
    CAIRN_HOLDS_GEAR = 128,  /* rotation of a + ratio * rotation of b        */
    CAIRN_HOLDS_ROPE = 256,  /* an upper bound on the distance of the points */
    CAIRN_HOLDS_SOFTLY = 512 /* all relative motion, by springs and dampers  */
};

/* One kind of joint. The table of all kinds is in joint.c. */
typedef struct cairn_joint_class {
    cairn_record record;         /* name, summary and option table of the kind                  */
    unsigned holds_2d, holds_3d; /* bits above; 0: the kind holds nothing or does not exist     */
    bool exists_2d;              /* all kinds exist in 3D                                       */
    bool turns, slides;          /* free coordinates that may have a drive                      */
    bool two_points;             /* anchor_b is used; `slide` is the distance of the two points */
} cairn_joint_class;

const cairn_joint_class *cairn_joint_class_of(cairn_joint_kind kind);

/* What a row does; the energy ledger and the drift are accounted for by it. */
typedef enum cairn_row_role {
    CAIRN_ROW_UNUSED,
    CAIRN_ROW_HOLD,      /* equality, defect in m   */
    CAIRN_ROW_HOLD_TURN, /* equality, defect in rad */
    CAIRN_ROW_LIMIT,
    CAIRN_ROW_MOTOR,
    CAIRN_ROW_FRICTION,
    CAIRN_ROW_SPRING
} cairn_row_role;

/* One row, with the letters of the equation at the top of this file. */
typedef struct cairn_row {
    cairn_row_role role;
    cairn_vec3 e;            /* direction of sliding, unit vector; 0: the row does not slide */
    cairn_vec3 arm_a, arm_b; /* m: pa, pb, from the centres of mass, world frame             */
    cairn_vec3 turn_a;       /* ta, tb: world frame                                          */
    cairn_vec3 turn_b;
    double defect;                   /* m or rad: coordinate minus the value that the row demands */
    double gain;                     /* 1/s: gain * defect is added to the bias                   */
    double bias;                     /* m/s or rad/s: the rest of the bias                        */
    double lower, upper, compliance; /* N s or N m s; compliance in 1/kg or 1/(kg m^2)            */
    double stiffness;                /* springs: k of the energy 1/2 k defect^2, else 0           */
    double damping;                  /* springs: c, else 0                                        */
} cairn_row;

enum { CAIRN_JOINT_ROWS = 18 }; /* most rows of a joint, a multiple of 2 and 3 */

/* A joint of a world. Entries are never reused: a destroyed joint stays in the list, not alive. */
typedef struct cairn_joint {
    bool alive, broken;
    bool elsewhere; /* another member has its bodies. Valid after cairn_joints_index */
    uint32_t generation;
    cairn_joint_def def;  /* as given, apart from a length of 0, which is measured                */
    int32_t body[2];      /* rows; -1: the world. Valid after cairn_joints_index                  */
    cairn_vec3 anchor[2]; /* m: points in the bodies' frames                                      */
    cairn_quat frame[2];  /* joint frames in the bodies' frames; the first axis is the joint axis */
    double turn, slide;   /* rad, m: coordinates after the last step, full turns counted          */
    cairn_image image;    /* of b, or of the world, that a is joined with; 0: itself              */
    double phase;         /* rad: accumulated slip of a gear                                      */
    int rows;             /* in this step; 0 if broken or destroyed                               */
    double impulse[CAIRN_JOINT_ROWS];    /* N s: of the last step, for the warm start */
    double correction[CAIRN_JOINT_ROWS]; /* kg m/s: of its penetration correction     */
    double eased;                        /* in the last step: see restrain.c          */
    cairn_vec3 force, torque;            /* N, N m: reaction on a in the last step    */
    double drift, turn_drift;            /* m, rad: largest defect of the held rows   */
    double elastic, gained;              /* J: energy stored in its springs; in the last step */
    double felt_turn;  /* kg m^2: inertia along `turn`, if a motor needs it: joint_rows.c */
    double felt_slide; /* kg: along `slide`                                               */
} cairn_joint;

/* A pair of bodies that must not collide. */
typedef struct cairn_joined {
    uint64_t key;      /* of both rows                       */
    cairn_image image; /* of the body with the higher row    */
} cairn_joined;

/* All joints of a world. The list owns both arrays. */
typedef struct cairn_joint_list {
    cairn_joint *items;
    size_t count, capacity;
    cairn_joined *joined; /* sorted */
    size_t joined_count, joined_capacity;
    bool changed; /* since the rows of bodies and `joined` were computed */
} cairn_joint_list;

/* Poses of the two bodies, and the time step, for which rows are computed. */
typedef struct cairn_joint_view {
    int dimension;
    double h, whole, gamma; /* s: of the substep; of the step, in which a defect is corrected */
    cairn_vec3 x[2];
    cairn_quat q[2];
} cairn_joint_view;

/* joint_rows.c: writes the rows of a joint in a pose, at most CAIRN_JOINT_ROWS; returns their
 * number. */
int cairn_joint_rows(const cairn_joint *joint, const cairn_joint_view *view, cairn_row *rows);
/* The free coordinates in a pose. `turn` is the angle nearest to the joint's last one, so that full
 * turns are counted. */
void cairn_joint_coordinates(const cairn_joint *joint, const cairn_joint_view *view, double *turn,
                             double *slide);

/* joint_stage.c: sets drift and stored energy of the joint for a pose. */
void cairn_joint_measure(cairn_joint *joint, const cairn_joint_view *view);

/* joint.c */
/* Removes the joints of a body that is destroyed. */
void cairn_joints_remove(cairn_world *world, uint64_t uid);
/* Looks up the rows of all jointed bodies, and rebuilds the list of pairs that must not collide. */
void cairn_joints_index(cairn_world *world);
/* After a step: tell the other members the state of the joints that are here. */
void cairn_joints_share(cairn_world *world);
/* Whether a joint keeps the body of row a and an image of that of row b from colliding. */
bool cairn_joints_forbid(const cairn_world *world, int a, int b, cairn_image image);
/* m: from body b, or the world, to the image that is joined, some time, s, after the start of the
 * step; and m/s: its velocity relative to b. Both are 0 unless the world is periodic. */
cairn_vec3 cairn_joint_shift(const cairn_world *world, const cairn_joint *joint, double ahead);
cairn_vec3 cairn_joint_drift(const cairn_world *world, const cairn_joint *joint);

#endif
