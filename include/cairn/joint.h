/* joint.h - joints, motors and springs between two bodies, or between a body and the world.
 *
 * A joint constrains some of the relative motion of its two bodies by rows of the one-step problem
 * (see cairn_problem): J v + gamma theta/h = 0, theta its defect. The free motion has coordinates:
 * `turn` (an angle) or `slide` (a length). Each coordinate may have limits, a motor, dry friction
 * and a spring with damper. SI units; angles in rad. */
#ifndef CAIRN_JOINT_H
#define CAIRN_JOINT_H

#include "cairn/body.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cairn_joint_kind {
    CAIRN_JOINT_BALL,           /* 3D: one point shared                                         */
    CAIRN_JOINT_FIXED,          /* nothing moves                                                */
    CAIRN_JOINT_REVOLUTE,       /* turn about an axis (2D: about the point)                     */
    CAIRN_JOINT_PRISMATIC,      /* slide along an axis                                          */
    CAIRN_JOINT_CYLINDRICAL,    /* 3D: turn about and slide along an axis                       */
    CAIRN_JOINT_UNIVERSAL,      /* 3D: one point shared, two axes stay at right angles          */
    CAIRN_JOINT_PLANAR,         /* 3D: slides in a plane and turns about its normal             */
    CAIRN_JOINT_SCREW,          /* 3D: cylindrical, a full turn advances by the pitch           */
    CAIRN_JOINT_DISTANCE,       /* a rigid, massless rod between two points                     */
    CAIRN_JOINT_ROPE,           /* two points at most a length apart                            */
    CAIRN_JOINT_GEAR,           /* turning of a about its axis + ratio * turning of b about its
                                   axis stays as it is                                          */
    CAIRN_JOINT_SPRING,         /* along the line between two points; `slide` is its length     */
    CAIRN_JOINT_TORSION_SPRING, /* about an axis; `turn` is its angle                           */
    CAIRN_JOINT_BUSHING,        /* springs and dampers against all relative motion              */
    CAIRN_JOINT_COUNT
} cairn_joint_kind;

typedef enum cairn_motor_kind {
    CAIRN_MOTOR_NONE,
    CAIRN_MOTOR_VELOCITY, /* drives the coordinate at `target` m/s or rad/s                     */
    CAIRN_MOTOR_POSITION, /* drives it to `target` m or rad, by stiffness and damping           */
    CAIRN_MOTOR_FORCE,    /* pushes with `target` N or N m                                      */
    CAIRN_MOTOR_COUNT
} cairn_motor_kind;

/** Name of a motor kind, NULL past the last. */
CAIRN_API const char *cairn_motor_name(int kind);

/** What acts along one free coordinate of a joint. Coordinates are 0 when the joint is created
 *  (length of springs, ropes and rods: the distance of the points). */
typedef struct cairn_joint_drive {
    double lower, upper;       /* m or rad: limits; infinite: none                              */
    double friction;           /* N or N m: bound of dry friction                               */
    const char *motor;         /* a name of cairn_motor_name                                    */
    double target;             /* of the motor                                                  */
    double effort;             /* N or N m: largest force of a velocity or position motor       */
    double stiffness, damping; /* N/m and N s/m, or N m/rad and N m s/rad; implicit in time: of a
                                  spring; both of a position motor, damping of a velocity motor.
                                  0 in a position motor: critically damped, see
                                  docs/joint-methods.md                                        */
    double rest;               /* m or rad: coordinate at which the spring is at rest           */
} cairn_joint_drive;

/** No limits, no friction, no motor, no spring. */
CAIRN_API cairn_joint_drive cairn_joint_drive_default(void);
/** The table of cairn_joint_drive. */
CAIRN_API const cairn_record *cairn_joint_drive_record(void);

/** The definition of a joint. Start from cairn_joint_def_default(). Points and directions are in
 *  the world frame, for the poses of the bodies when the joint is created. */
typedef struct cairn_joint_def {
    cairn_joint_kind kind;
    cairn_body_id a, b;        /* b may be cairn_body_none(): the world itself                  */
    cairn_vec3 anchor;         /* m: the joint's point; of a, where there are two               */
    cairn_vec3 anchor_b;       /* m: b's point of distance, rope, spring                        */
    cairn_vec3 axis;           /* direction of turning and sliding; a's axis                    */
    cairn_vec3 axis_b;         /* b's axis of universal and gear                                */
    double length;             /* m: distance, rope; 0: as placed                               */
    double pitch;              /* m: advance in one turn of a screw                             */
    double ratio;              /* of a gear                                                     */
    double stiffness, damping; /* N/m, N s/m: bushing                                           */
    double turn_stiffness;     /* N m/rad: bushing                                              */
    double turn_damping;       /* N m s/rad: bushing                                            */
    double break_force;        /* N: the joint breaks above it; 0: never                        */
    double break_torque;       /* N m: likewise                                                 */
    bool collide;              /* whether the two bodies also collide with each other           */
    cairn_joint_drive turn, slide;
} cairn_joint_def;

/** A ball joint at the origin, axis +z, ratio 1, the bodies do not collide. */
CAIRN_API cairn_joint_def cairn_joint_def_default(void);
/** The id that stands for the world itself. */
CAIRN_API cairn_body_id cairn_body_none(void);
/** The table of a joint kind (not bodies and drives), NULL past the last. */
CAIRN_API const cairn_record *cairn_joint_record(int kind);
/** Whether a kind exists in a dimension. */
CAIRN_API bool cairn_joint_exists(cairn_joint_kind kind, int dimension);
/** Whether a kind leaves an angle free, which the drive `turn` acts on. */
CAIRN_API bool cairn_joint_turns(cairn_joint_kind kind);
/** Whether a kind leaves a length free, which the drive `slide` acts on. */
CAIRN_API bool cairn_joint_slides(cairn_joint_kind kind);

/** A joint by number. */
typedef struct cairn_joint_id {
    int32_t index;
    uint32_t generation;
} cairn_joint_id;

/** Add a joint. Fails with CAIRN_BAD_INPUT or CAIRN_NOT_FOUND (cairn_world_error says why),
 *  CAIRN_NO_MEMORY; the world is then as before. Removing a body removes its joints. */
CAIRN_API cairn_status cairn_joint_create(cairn_world *world, const cairn_joint_def *def,
                                          cairn_joint_id *out);
/** Remove a joint. CAIRN_NOT_FOUND for an id that is not alive. */
CAIRN_API cairn_status cairn_joint_destroy(cairn_world *world, cairn_joint_id joint);
/** Change the target of a joint's motor (turn or slide) from now on. CAIRN_NOT_FOUND for an id that
 *  is not alive, CAIRN_BAD_INPUT for a kind without that drive, CAIRN_NOT_FINITE. */
CAIRN_API cairn_status cairn_joint_aim(cairn_world *world, cairn_joint_id joint, bool turn,
                                       double target);

/** The state of a joint after the last step. */
typedef struct cairn_joint_state {
    bool alive;
    bool broken; /* broken in an earlier step: it no longer acts                  */
    cairn_joint_kind kind;
    int32_t body[2];          /* indices of cairn_bodies; -1: the world                        */
    cairn_vec3 point;         /* m: where it is, on a                                          */
    cairn_vec3 point_b;       /* m: and on b, or on the image of b that is joined              */
    cairn_image image;        /* of b, or of the world; 0 unless the world is periodic         */
    double turn, slide;       /* rad, counting whole turns; m                                  */
    cairn_vec3 force, torque; /* N, N m on a about its point: mean over the step               */
    double drift, turn_drift; /* m, rad: largest defect of its constraints                     */
    double elastic;           /* J: energy stored in its springs                               */
    double phase;             /* rad: accumulated slip of a gear                               */
    int rows;                 /* of the last step, in the order of docs/run-format.md          */
    const double *impulse;    /* N s, N m s: of each row; lent until the next step             */
    const double *correction; /* kg m/s, kg m^2/s: of each row in the penetration correction of the
                                 last step (see cairn_step_inputs); valid until the next step  */
    double eased; /* share of the correction of its drift that the last step did without, because
                     it would have made energy                                                    */
} cairn_joint_state;

/** Number of joints ever created: indices run from 0. */
CAIRN_API int cairn_world_joint_count(const cairn_world *world);
/** The state of joint `index`; `alive` is false for a removed one. */
CAIRN_API cairn_joint_state cairn_world_joint(const cairn_world *world, int index);

/** The definition of a joint in the frames of its bodies. */
typedef struct cairn_joint_setup {
    cairn_joint_def def;  /* as given; lengths as they count, targets as they are now             */
    cairn_vec3 anchor[2]; /* m: its points in the frames of a and b (the world: as they are)      */
    cairn_quat frame[2];  /* its frames in theirs; the first direction is its axis                */
} cairn_joint_setup;

/** The definition of joint `index`; the default without bodies if there is none. */
CAIRN_API cairn_joint_setup cairn_world_joint_setup(const cairn_world *world, int index);

#ifdef __cplusplus
}
#endif
#endif
