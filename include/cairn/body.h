/* body.h - bodies: what they are, what drives and loads them, and where their energy goes.
 * SI units throughout: m, kg, s, rad, N, J. */
#ifndef CAIRN_BODY_H
#define CAIRN_BODY_H

#include "cairn/columns.h"
#include "cairn/material.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions of time: drivers and loads --------------------------------------------------- */

typedef enum cairn_driver_kind {
    CAIRN_DRIVER_VELOCITY, /* constant velocity                                               */
    CAIRN_DRIVER_SHAKE,    /* amplitude sin(2 pi frequency t + phase) - its value at the start */
    CAIRN_DRIVER_ROTATION, /* constant turning about an axis through the body's origin        */
    CAIRN_DRIVER_TABLE,    /* displacement and angle from a table, linear in between          */
    CAIRN_DRIVER_MOTION,   /* position, velocity, angle and spin as functions of time         */
    CAIRN_DRIVER_COUNT
} cairn_driver_kind;

/** One motion as a function of time; the motions of a body are added. It acts between `start` and
 *  `stop`, and is at rest before and after. A motion is relative to the pose in which the body was
 *  created, so that a body never jumps. Bodies with equal drivers and the same `point` move as one
 *  rigid body. */
typedef struct cairn_driver {
    cairn_driver_kind kind;
    double start, stop;          /* s; start infinite: not before cairn_body_start              */
    cairn_vec3 velocity;         /* m/s: velocity                                               */
    cairn_vec3 amplitude;        /* m: shake                                                    */
    double frequency, phase;     /* Hz, rad: shake                                              */
    cairn_vec3 angular_velocity; /* rad/s in the world frame (2D: z): rotation                  */
    cairn_vec3 axis;             /* table, motion: direction of the turning angle (2D: z)       */
    cairn_vec3 point;            /* m: rotation, table, motion: of the axis, where it is at the
                                    start, it moves with the displacement; infinite: the body's
                                    position                                                    */
    cairn_list time;             /* table: increasing times counted from `start`, s             */
    cairn_list x, y, z, angle;   /* table: displacement (m) and angle (rad) at those times      */
    /* motion: functions of t - start. The displacement is path + the integral of speed, the turn
     * about the axis is turn + the integral of spin. */
    cairn_function path[3];  /* m     */
    cairn_function speed[3]; /* m/s   */
    cairn_function turn;     /* rad   */
    cairn_function spin;     /* rad/s */
} cairn_driver;

/** A driver of a kind with defaults: nothing moves, start 0, stop never. */
CAIRN_API cairn_driver cairn_driver_default(cairn_driver_kind kind);
/** The table of a driver kind, NULL past the last. */
CAIRN_API const cairn_record *cairn_driver_record(int kind);

typedef enum cairn_load_kind {
    CAIRN_LOAD_CONSTANT, /* force and torque as given                                         */
    CAIRN_LOAD_SINE,     /* times sin(2 pi frequency (t - start) + phase)                     */
    CAIRN_LOAD_TABLE,    /* times a factor from a table, linear in between                    */
    CAIRN_LOAD_FUNCTION, /* times a function of t - start, its mean over each step            */
    CAIRN_LOAD_COUNT
} cairn_load_kind;

/** A force and torque on one body as a function of time, 0 outside [start, stop]. */
typedef struct cairn_load {
    cairn_load_kind kind;
    double start, stop;      /* s                                       */
    cairn_vec3 force;        /* N, world frame, at the centre of mass   */
    cairn_vec3 torque;       /* N m, world frame (2D: z)                */
    double frequency, phase; /* Hz, rad: sine                           */
    cairn_list time, factor; /* table: times counted from `start`       */
    cairn_function course;   /* function: the factor                    */
} cairn_load;

/** A load of a kind with defaults: no force, start 0, stop never. */
CAIRN_API cairn_load cairn_load_default(cairn_load_kind kind);
/** The table of a load kind, NULL past the last. */
CAIRN_API const cairn_record *cairn_load_record(int kind);

/** A callback for forces that depend on the state of a world. It is called once at the beginning of
 *  each step, with the `time` (s) of its middle. It adds to the forces (N) and torques (N m) of the
 *  rows of cairn_world_bodies; both are in the world frame and zero before. Those of bodies that
 *  are not dynamic are ignored. It must not change the world; any status but CAIRN_OK fails the
 *  step with that status. */
typedef cairn_status cairn_force_fn(void *context, const cairn_world *world, double time,
                                    cairn_vec3 *force, cairn_vec3 *torque);
/** Call `force` in every step from now on; NULL: none. It is not saved by cairn_world_save. */
CAIRN_API void cairn_world_on_force(cairn_world *world, cairn_force_fn *force, void *context);
/** Whether there is such a callback. */
CAIRN_API bool cairn_world_has_force(const cairn_world *world);

/* ---- bodies -------------------------------------------------------------------------------- */

/** A body by its uid: 0, 1, 2, ... in the order of creation, never reused. */
typedef struct cairn_body_id {
    uint64_t uid;
} cairn_body_id;

/** The uid of no body: in joints, the world itself. */
#define CAIRN_NO_BODY UINT64_MAX

typedef enum cairn_motion {
    CAIRN_MOTION_DYNAMIC, /* moved by forces and contacts                       */
    CAIRN_MOTION_FIXED,   /* never moves                                        */
    CAIRN_MOTION_DRIVEN,  /* moved by its drivers; contacts do not affect it    */
    CAIRN_MOTION_COUNT
} cairn_motion;

/** Name of a motion: "dynamic", "fixed", "driven"; NULL past the last. */
CAIRN_API const char *cairn_motion_name(int motion);

/** The definition of a body. Start from cairn_body_def_default(). */
typedef struct cairn_body_def {
    cairn_motion motion;
    cairn_shape shape;
    int material;
    cairn_vec3 position;         /* m, of the shape's origin                                  */
    cairn_quat orientation;      /* of the shape, 3D                                          */
    double angle;                /* rad, of the shape, 2D                                     */
    cairn_vec3 velocity;         /* m/s, of the centre of mass                                */
    cairn_vec3 angular_velocity; /* rad/s, about the axes of the shape (2D: z)                */
    double density;              /* kg/m^3 (2D: kg/m^2); used when mass is 0                  */
    double mass;                 /* kg; 0: from shape and density                             */
    cairn_vec3 inertia;          /* kg m^2, principal, about axes through the centre of mass
                                    parallel to the shape's (2D: z); 0: from the shape, scaled
                                    to the mass                                               */
    const cairn_driver *drivers; /* copied, with their tables                                 */
    int driver_count;
    const cairn_load *loads; /* copied, with their tables                                     */
    int load_count;
    cairn_vec3 surface_velocity; /* m/s, body frame: of the surface, as of a belt; the part along
                                    a contact counts. Fixed and driven bodies                 */
    cairn_vec3 friction_axis;    /* direction in the body frame for materials with friction_2;
                                    0: none. Of two bodies with one the first one's counts.
                                    3D                                                        */
    int64_t group;               /* 0 to 30: its collision group                              */
    int64_t mask;                /* bit g: it may touch bodies of group g. Two bodies touch if
                                    each is in the mask of the other                          */
} cairn_body_def;

/** The mask of a body that may touch all others. */
#define CAIRN_ALL_GROUPS 0x7fffffff

/** Dynamic, density 1000, at rest at the origin, no shape size, touches all groups. */
CAIRN_API cairn_body_def cairn_body_def_default(void);
/** The table of the plain fields of cairn_body_def (not shape, drivers, loads). */
CAIRN_API const cairn_record *cairn_body_record(void);
/** Add a body. Fails with CAIRN_BAD_INPUT (cairn_world_error says why), CAIRN_NOT_FINITE,
 *  CAIRN_NO_MEMORY; the world is then as before. */
CAIRN_API cairn_status cairn_body_create(cairn_world *world, const cairn_body_def *def,
                                         cairn_body_id *out);
/** Reserve memory for `count` more bodies, so that the arrays are not copied repeatedly while they
 *  are created. Fails with CAIRN_NO_MEMORY. */
CAIRN_API cairn_status cairn_world_reserve(cairn_world *world, int64_t bodies);
/** Remove a body together with its joints. CAIRN_NOT_FOUND if there is no such body. */
CAIRN_API cairn_status cairn_body_destroy(cairn_world *world, cairn_body_id body);

/** Replace the drivers of a driven body by others (copied, `count` of them; 0: it stands still),
 *  starting from its present pose. Fails with CAIRN_NOT_FOUND (no such body), CAIRN_BAD_INPUT (the
 *  body is not driven, or a number of a driver is not allowed: cairn_world_error says why),
 *  CAIRN_NO_MEMORY; the world is then as before. */
CAIRN_API cairn_status cairn_body_drive(cairn_world *world, cairn_body_id body,
                                        const cairn_driver *drivers, int count);
/** Start now those drivers of a driven body that have not begun; their motion counts from now.
 *  Fails like cairn_body_drive. */
CAIRN_API cairn_status cairn_body_start(cairn_world *world, cairn_body_id body);
/** Stop now those drivers of a driven body that act: it stays where it is. Fails likewise. */
CAIRN_API cairn_status cairn_body_stop(cairn_world *world, cairn_body_id body);

/* ---- what a caller does to bodies between steps --------------------------------------------- */

/* A step reports the energy that these calls gave (cairn_energy.applied) and which bodies they
 * changed (cairn_step_inputs.change). Refused calls change nothing, cairn_world_error says why:
 * CAIRN_NOT_FOUND (no such body), CAIRN_BAD_INPUT, CAIRN_NOT_FINITE, or CAIRN_NO_MEMORY. In a
 * joined world (cairn_world_join) all processes must make the same calls at the same point; each of
 * them takes one reduction over all processes. */

/** The state of a body, as the columns of cairn_bodies show it: of a dynamic body that of its
 *  principal frame. */
typedef struct cairn_body_state {
    cairn_vec3 x;     /* m                                        */
    cairn_quat q;     /* 3D                                       */
    double angle;     /* rad, 2D                                  */
    cairn_vec3 v;     /* m/s; dynamic bodies only                 */
    cairn_vec3 omega; /* rad/s, body frame; dynamic bodies only   */
} cairn_body_state;

/** The present state of a body. CAIRN_NOT_FOUND: there is no such body. */
CAIRN_API cairn_status cairn_body_get(const cairn_world *world, cairn_body_id body,
                                      cairn_body_state *out);
/** Put a body into a state, awake. A driven body goes back to where its drivers lead it in the next
 *  step. Bodies that overlap then are treated as the scheme treats overlaps. */
CAIRN_API cairn_status cairn_body_put(cairn_world *world, cairn_body_id body,
                                      const cairn_body_state *state);
/** Push a dynamic body during the next step with a force at its centre of mass (N) and a torque
 *  (N m, 2D: z), both in the world frame. Several pushes of a body add up; the step that succeeds
 *  forgets them. Their work is part of cairn_energy.load_work. */
CAIRN_API cairn_status cairn_body_push(cairn_world *world, cairn_body_id body, cairn_vec3 force,
                                       cairn_vec3 torque);
/** Strike a dynamic body at a point (m, world frame) with an impulse J (N s, world frame): at once
 *  v changes by J/m, and omega by I^-1 ((point - x) x J). */
CAIRN_API cairn_status cairn_body_strike(cairn_world *world, cairn_body_id body, cairn_vec3 impulse,
                                         cairn_vec3 point);
/** Give a body another material of the world, by its number. */
CAIRN_API cairn_status cairn_body_set_material(cairn_world *world, cairn_body_id body,
                                               int material);

/** A body that was changed between two steps: what it was when the second one began. */
typedef struct cairn_change {
    uint64_t uid;
    cairn_body_state state;
    int material;
} cairn_change;

/** Forget which bodies were changed, and the energy that this gave them: the next step counts from
 *  the present state. Pushes stay. A run begins with this. */
CAIRN_API void cairn_world_forget_changes(cairn_world *world);

/** The bodies of a world. */
CAIRN_API cairn_bodies cairn_world_bodies(const cairn_world *world);
/** The present row of a body in cairn_world_bodies; -1: there is no such body. */
CAIRN_API int cairn_body_row(const cairn_world *world, cairn_body_id body);
/** The shape of the body in a row. */
CAIRN_API const cairn_shape *cairn_bodies_shape(const cairn_bodies *bodies, int row);
/** The pose of the shape of body `index` in the world. */
CAIRN_API cairn_pose cairn_bodies_shape_pose(const cairn_bodies *bodies, int index);

/* ---- energy -------------------------------------------------------------------------------- */

/** The balance of energy (J) and of mass in one step. It is closed to rounding:
 *  d(kinetic) + d(potential) + d(elastic) = entered + applied + load + driver + motor + gravity
 *  + correction - friction - impact - damping - sleep - numerical. */
typedef struct cairn_energy {
    double kinetic, potential; /* after the step; potential of gravity, 0 at the origin         */
    double elastic;            /* after the step: stored in springs                             */
    double entered;            /* energy of bodies that entered through inlets, less that of those
                                  that left through outlets                                     */
    double applied;            /* given to bodies between the last step and this one by the calls
                                  cairn_body_put and cairn_body_strike                          */
    double load_work;          /* done by loads and pushes                                      */
    double driver_work;        /* done by driven bodies and moving surfaces through contacts    */
    double motor_work;         /* done by motors of joints                                      */
    double gravity_work;       /* - sum m (g - g_before).x: what a change of gravity adds to the
                                  potential, before bodies move                                 */
    double friction_loss;      /* - sum r_T . (mean sliding velocity), and of rolling, spinning */
    double impact_loss;        /* - sum r_N (mean normal velocity); what tears adhering contacts
                                  apart counts here                                             */
    double correction;         /* potential added by moving overlapping bodies apart            */
    double damping_loss;       /* h c rate^2 of dampers                                         */
    double sleep_loss;         /* removed when bodies that fall asleep are stopped              */
    double numerical_loss;     /* of the time stepping: h m g.(v+ - v)/2, rows of joints, and the
                                  turning of what joints hold; may have either sign             */
    double entered_mass;       /* kg, the balance of mass: of bodies that entered by inlets ...  */
    double left_mass;          /* kg: ... and of those that left through outlets                */
} cairn_energy;

/** Kinetic energy of the dynamic bodies and their potential in gravity (0 at the origin), J. */
CAIRN_API void cairn_world_energy(const cairn_world *world, double *kinetic, double *potential);

#ifdef __cplusplus
}
#endif
#endif
