/* world.h - bodies, materials, loads, drivers and inlets, and the step that moves them.
 * SI units throughout: m, kg, s, rad, N, J. A 2D world has 3 degrees of freedom a body and lies in
 * the plane z = 0. */
#ifndef CAIRN_WORLD_H
#define CAIRN_WORLD_H

#include "cairn/columns.h"
#include "cairn/shape.h"
#include "cairn/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_world cairn_world;

/** Where and in which space things happen. Start from cairn_world_def_default(). */
typedef struct cairn_world_def {
    int64_t dimension;  /* 2 or 3                                      */
    cairn_vec3 gravity; /* m/s^2; z is ignored in 2D                   */
} cairn_world_def;

/** 3D, gravity (0, 0, -9.81). */
CAIRN_API cairn_world_def cairn_world_def_default(void);
/** Create a world. Fails with CAIRN_BAD_INPUT, CAIRN_NOT_FINITE or CAIRN_NO_MEMORY. */
CAIRN_API cairn_status cairn_world_create(const cairn_world_def *def, cairn_world **out);
/** Free a world and all in it; NULL is allowed. */
CAIRN_API void cairn_world_destroy(cairn_world *world);
/** 2 or 3. */
CAIRN_API int cairn_world_dimension(const cairn_world *world);
/** The time reached, s. */
CAIRN_API double cairn_world_time(const cairn_world *world);
/** Gravity, m/s^2. */
CAIRN_API cairn_vec3 cairn_world_gravity(const cairn_world *world);
/** Kinetic energy of the dynamic bodies and their potential in gravity (0 at the origin), J. */
CAIRN_API void cairn_world_energy(const cairn_world *world, double *kinetic, double *potential);
/** A 64-bit hash of time, poses and velocities: equal bits of state give equal hashes. */
CAIRN_API uint64_t cairn_world_hash(const cairn_world *world);
/** What the last failing call on this world has to say; empty message when nothing. */
CAIRN_API const cairn_error *cairn_world_error(const cairn_world *world);

/* ---- materials ----------------------------------------------------------------------------- */

typedef enum cairn_friction_kind {
    CAIRN_FRICTION_CONSTANT, /* the material's `friction` at any speed                          */
    CAIRN_FRICTION_STRIBECK, /* dynamic + (static - dynamic) exp(-(|u_T|/speed)^exponent)       */
    CAIRN_FRICTION_TABLE,    /* values at speeds, linear in between, constant outside           */
    CAIRN_FRICTION_SMALLER,  /* pairs alone: the smaller one of both materials at each speed    */
    CAIRN_FRICTION_COUNT
} cairn_friction_kind;

/** Friction as a function of the sliding speed: continuous, never rising. All zero: constant. */
typedef struct cairn_friction_law {
    cairn_friction_kind kind;
    double mu_static;  /* stribeck: at rest                                                    */
    double mu_dynamic; /* stribeck: at high speed, at most mu_static                           */
    double speed;      /* m/s, stribeck: how fast the one becomes the other                    */
    double exponent;   /* stribeck                                                             */
    cairn_list speeds; /* m/s, table: rising                                                   */
    cairn_list values; /* table: as many, never rising                                         */
} cairn_friction_law;

/** A law of a kind with its defaults (exponent 2). */
CAIRN_API cairn_friction_law cairn_friction_law_default(cairn_friction_kind kind);
/** The table of a friction law, NULL past CAIRN_FRICTION_TABLE. */
CAIRN_API const cairn_record *cairn_friction_law_record(int kind);
/** Refuse impossible parameters; `error` may be NULL. */
CAIRN_API cairn_status cairn_friction_law_check(const cairn_friction_law *law, cairn_error *error);

/** Surface properties. Two materials that meet use the smaller friction (at each sliding speed),
 *  the smaller restitution with its law (Newton's when equal) and the smaller of all else, unless
 *  cairn_material_pair_set says otherwise. docs/friction.md has the laws. */
typedef struct cairn_material_def {
    double friction;             /* Coulomb coefficient mu >= 0, when the law is constant      */
    double restitution;          /* e in [0, 1]                                                */
    const char *restitution_law; /* a name of cairn_restitution_name; NULL: newton             */
    cairn_friction_law friction_law;
    double friction_2;        /* across the friction_axis of a body, `friction` is then along it;
                                 0: as `friction`. 3D                                           */
    double adhesion;          /* N: pull that a contact withstands while it touches             */
    double adhesion_range;    /* m: gap up to which it touches; 0: 1e-5 of the smaller body     */
    double rolling_friction;  /* m: bound of the rolling moment over the normal force           */
    double spinning_friction; /* m: bound of the moment about the normal likewise. 3D           */
} cairn_material_def;

/** Friction 0.5, restitution 0 by Newton's law. */
CAIRN_API cairn_material_def cairn_material_def_default(void);
/** The table of the plain fields of cairn_material_def (not friction_law). */
CAIRN_API const cairn_record *cairn_material_record(void);
/** Name of restitution law `index`, NULL past the last. newton: e is the speed after over the speed
 *  before. poisson: e is the impulse of decompression over that of compression. */
CAIRN_API const char *cairn_restitution_name(int index);
/** Add a material (copied); `out` receives its number (0, 1, ...). */
CAIRN_API cairn_status cairn_material_create(cairn_world *world, const cairn_material_def *def,
                                             int *out);
/** The definition of a material; its lists are lent. CAIRN_NOT_FOUND: no such number. */
CAIRN_API cairn_status cairn_material_get(const cairn_world *world, int material,
                                          cairn_material_def *out);
/** Set friction and restitution between two materials (either order, may be equal). */
CAIRN_API cairn_status cairn_material_pair_set(cairn_world *world, int a, int b,
                                               const cairn_material_def *def);
/** What holds between two materials: as set, or the rule of cairn_material_def with a friction law
 *  of kind CAIRN_FRICTION_SMALLER; `friction` is that at rest. CAIRN_NOT_FOUND for a number that no
 *  material has. */
CAIRN_API cairn_status cairn_material_pair_get(const cairn_world *world, int a, int b,
                                               cairn_material_def *out);

/** What a world has beyond Coulomb friction with one mu: some material or pair has friction_2,
 *  adhesion, rolling or spinning friction; some body had a surface velocity. */
typedef struct cairn_surface_laws {
    bool anisotropic, adhesive, rolling, spinning, moving;
} cairn_surface_laws;

/** The laws that materials and bodies of a world brought in so far. */
CAIRN_API cairn_surface_laws cairn_world_surface_laws(const cairn_world *world);

/* ---- functions of time: drivers and loads --------------------------------------------------- */

typedef enum cairn_driver_kind {
    CAIRN_DRIVER_VELOCITY, /* constant velocity                                               */
    CAIRN_DRIVER_SHAKE,    /* amplitude sin(2 pi frequency t + phase) - its value at the start */
    CAIRN_DRIVER_ROTATION, /* constant turning about an axis through the body's origin        */
    CAIRN_DRIVER_TABLE,    /* displacement and angle from a table, linear in between          */
    CAIRN_DRIVER_COUNT
} cairn_driver_kind;

/** One motion given as a function of time; the motions of a body add up. It acts between `start`
 *  and `stop`; before and after it stands still. What counts is the change since the body was
 *  made, so a body never jumps. */
typedef struct cairn_driver {
    cairn_driver_kind kind;
    double start, stop;          /* s                                                           */
    cairn_vec3 velocity;         /* m/s: velocity                                               */
    cairn_vec3 amplitude;        /* m: shake                                                    */
    double frequency, phase;     /* Hz, rad: shake                                              */
    cairn_vec3 angular_velocity; /* rad/s in the world frame (2D: z): rotation                  */
    cairn_vec3 axis;             /* table: direction of the turning angle (2D: z)               */
    cairn_list time;             /* table: increasing times counted from `start`, s             */
    cairn_list x, y, z, angle;   /* table: displacement (m) and angle (rad) at those times      */
} cairn_driver;

/** A driver of a kind with defaults: nothing moves, start 0, stop never. */
CAIRN_API cairn_driver cairn_driver_default(cairn_driver_kind kind);
/** The table of a driver kind, NULL past the last. */
CAIRN_API const cairn_record *cairn_driver_record(int kind);

typedef enum cairn_load_kind {
    CAIRN_LOAD_CONSTANT, /* force and torque as given                                         */
    CAIRN_LOAD_SINE,     /* times sin(2 pi frequency (t - start) + phase)                     */
    CAIRN_LOAD_TABLE,    /* times a factor from a table, linear in between                    */
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
} cairn_load;

/** A load of a kind with defaults: no force, start 0, stop never. */
CAIRN_API cairn_load cairn_load_default(cairn_load_kind kind);
/** The table of a load kind, NULL past the last. */
CAIRN_API const cairn_record *cairn_load_record(int kind);

/** Forces that follow from the state of a world. Called once in each step, when it begins, for the
 *  `time` (s) of its middle: add to the forces (N) and torques (N m), both in the world frame and
 *  zero before, of the rows of cairn_world_bodies. Those of bodies that are not dynamic do not
 *  count. Must not change the world; anything but CAIRN_OK fails the step with that status. */
typedef cairn_status cairn_force_fn(void *context, const cairn_world *world, double time,
                                    cairn_vec3 *force, cairn_vec3 *torque);
/** Have `force` called in every step from now on; NULL: nobody. It is not part of what
 *  cairn_world_save writes. */
CAIRN_API void cairn_world_on_force(cairn_world *world, cairn_force_fn *force, void *context);

/* ---- bodies -------------------------------------------------------------------------------- */

/** A body by its name: 0, 1, 2, ... in the order in which bodies are made, never given twice. */
typedef struct cairn_body_id {
    uint64_t uid;
} cairn_body_id;

/** The uid of no body: in joints, the world itself. */
#define CAIRN_NO_BODY UINT64_MAX

typedef enum cairn_motion {
    CAIRN_MOTION_DYNAMIC, /* moved by forces and contacts                       */
    CAIRN_MOTION_FIXED,   /* never moves                                        */
    CAIRN_MOTION_DRIVEN,  /* moved by its drivers, whatever pushes against it   */
    CAIRN_MOTION_COUNT
} cairn_motion;

/** Name of a motion: "dynamic", "fixed", "driven"; NULL past the last. */
CAIRN_API const char *cairn_motion_name(int motion);

/** A body to be made. Start from cairn_body_def_default(). */
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
} cairn_body_def;

/** Dynamic, density 1000, at rest at the origin, no shape size. */
CAIRN_API cairn_body_def cairn_body_def_default(void);
/** The table of the plain fields of cairn_body_def (not shape, drivers, loads). */
CAIRN_API const cairn_record *cairn_body_record(void);
/** Add a body. Fails with CAIRN_BAD_INPUT (cairn_world_error says why), CAIRN_NOT_FINITE,
 *  CAIRN_NO_MEMORY; the world is then as before. */
CAIRN_API cairn_status cairn_body_create(cairn_world *world, const cairn_body_def *def,
                                         cairn_body_id *out);
/** Make room for so many bodies more, for who knows how many will come: they are then made without
 *  the arrays being copied again and again. Fails with CAIRN_NO_MEMORY. */
CAIRN_API cairn_status cairn_world_reserve(cairn_world *world, int64_t bodies);
/** Remove a body, with its joints. CAIRN_NOT_FOUND for one that is not there. */
CAIRN_API cairn_status cairn_body_destroy(cairn_world *world, cairn_body_id body);

/** Move a driven body by other drivers from now on (copied, `count` of them; 0: it stands still),
 *  from where it is. CAIRN_NOT_FOUND for one that is not there; CAIRN_BAD_INPUT (a body that is
 *  not driven, a number of a driver: cairn_world_error says why), CAIRN_NO_MEMORY; the world is
 *  then as before. */
CAIRN_API cairn_status cairn_body_drive(cairn_world *world, cairn_body_id body,
                                        const cairn_driver *drivers, int count);

/** The bodies of a world. */
CAIRN_API cairn_bodies cairn_world_bodies(const cairn_world *world);
/** The row of a body in cairn_world_bodies as they stand now; -1: it is not there. */
CAIRN_API int cairn_body_row(const cairn_world *world, cairn_body_id body);
/** The shape of the body in a row. */
CAIRN_API const cairn_shape *cairn_bodies_shape(const cairn_bodies *bodies, int row);
/** Where the shape of body `index` stands in space. */
CAIRN_API cairn_pose cairn_bodies_shape_pose(const cairn_bodies *bodies, int index);

/** The deepest overlap between bodies as they stand: its depth (m, 0 when nothing overlaps), and
 *  in a and b (may be NULL) who. Uses the same broad and narrow phase as the step; bodies of a
 *  joint that do not meet in a step do not count. */
CAIRN_API cairn_status cairn_world_overlap(cairn_world *world, double *depth, cairn_body_id *a,
                                           cairn_body_id *b);
/** The same for the overlap that is deepest as a share of the smaller body's radius (that of the
 *  ball about its origin that holds it; 1 mm where neither has one), with its depth in m. */
CAIRN_API cairn_status cairn_world_overlap_share(cairn_world *world, double *share, double *depth,
                                                 cairn_body_id *a, cairn_body_id *b);

/* ---- inlets -------------------------------------------------------------------------------- */

typedef enum cairn_distribution_kind {
    CAIRN_DISTRIBUTION_CONSTANT,  /* always `value`                                           */
    CAIRN_DISTRIBUTION_UNIFORM,   /* between minimum and maximum                              */
    CAIRN_DISTRIBUTION_NORMAL,    /* mean, deviation; redrawn until within [minimum, maximum] */
    CAIRN_DISTRIBUTION_LOGNORMAL, /* mean and deviation of the values; redrawn likewise       */
    CAIRN_DISTRIBUTION_LIST,      /* one of `values`, with `weights` when given               */
    CAIRN_DISTRIBUTION_COUNT
} cairn_distribution_kind;

/** A distribution of positive numbers (radii, masses). */
typedef struct cairn_distribution {
    cairn_distribution_kind kind;
    double value, minimum, maximum, mean, deviation;
    cairn_list values, weights;
} cairn_distribution;

/** The table of a distribution kind, NULL past the last. */
CAIRN_API const cairn_record *cairn_distribution_record(int kind);
/** A distribution of a kind with its defaults. */
CAIRN_API cairn_distribution cairn_distribution_default(cairn_distribution_kind kind);
/** Refuse impossible parameters; `error` may be NULL. */
CAIRN_API cairn_status cairn_distribution_check(const cairn_distribution *d, cairn_error *error);
/** Draw one number; `state` is a splitmix64 state. */
CAIRN_API double cairn_distribution_draw(const cairn_distribution *d, uint64_t *state);

/** Pours bodies into the world while it runs: `rate` per second, at random free
 *  places of a region, until `count`. One that finds no free place waits for the next step. */
typedef struct cairn_inlet_def {
    int64_t count;       /* how many in all                                                     */
    double rate;         /* bodies per second                                                   */
    double start;        /* s                                                                   */
    cairn_vec3 centre;   /* m: middle of the region                                             */
    cairn_vec3 size;     /* m: full extents of a box region                                     */
    double disk_radius;  /* m: > 0 makes the region a vertical cylinder of this radius and of
                           height size.z (2D: ignored)                                         */
    cairn_vec3 velocity; /* m/s: of what comes in                                              */
    int64_t seed;
    cairn_shape shape;         /* of every body: a sphere, or any bounded shape (its data is held
                                  until the world ends)                                        */
    bool turned;               /* other shapes: each at a random orientation                   */
    cairn_distribution radius; /* m: of a sphere; other shapes are scaled so that the ball about
                                  their origin that holds them has this radius; a constant 0:
                                  as large as the shape is                                     */
    double density;            /* kg/m^3 (2D: kg/m^2); used when mass is 0                     */
    double mass;               /* kg: of each body; 0: from the density                        */
    int material;
} cairn_inlet_def;

/** One body per second for ever, nothing else set. */
CAIRN_API cairn_inlet_def cairn_inlet_def_default(void);
/** The table of the plain fields of cairn_inlet_def (not shape, radius, material). */
CAIRN_API const cairn_record *cairn_inlet_record(void);
/** Add an inlet (copied). Fails like cairn_body_create. */
CAIRN_API cairn_status cairn_inlet_create(cairn_world *world, const cairn_inlet_def *def);
/** Bodies still to come from all inlets. */
CAIRN_API int64_t cairn_world_inlet_pending(const cairn_world *world);

/* ---- the step ------------------------------------------------------------------------------ */

/** How to step. Start from cairn_step_options_default(); every field is a key of `run:`. */
typedef struct cairn_step_options {
    double time_step;             /* s                                                          */
    const char *scheme;           /* a name of cairn_scheme_name                                */
    const char *solver;           /* a name of cairn_solver_name                                */
    const char *backend;          /* a name of cairn_backend_name, or that of a shared object   */
    double tolerance;             /* relative residual of the scheme's law, see cairn_residual  */
    int64_t max_iterations;       /* sweeps or gradient steps in one solve                      */
    double stabilisation;         /* gamma in (0, 1]: share of a gap corrected in one step      */
    const char *overlaps;         /* a name of cairn_overlaps_name: what becomes of them        */
    int64_t directions;           /* schemes with edges, 3D: edges of a cone, even, at least 4  */
    int64_t linearisations;       /* n: most turns to hold gaps at the end; 0: scheme's own     */
    double fixed_point_tolerance; /* scheme fixed-point: > 0: the test of [BL23] on s; 0: go on to
                                     `tolerance` of exact Coulomb                               */
    int64_t max_fixed_point;      /* schemes fixed-point, auto: outer iterations; friction laws:
                                     updates of mu                                              */
    double model_tolerance;       /* m: scheme auto: largest gap h mu |u_T| kept while sliding  */
    double margin;                /* m: candidates cover at least this much motion of each body;
                                     0: only what the step can need                             */
    bool warm_start;              /* start from the last step's impulses                        */
    const char *broad_phase;      /* a name of cairn_broad_phase_name                           */
    bool reuse_pairs;             /* pairs found once serve while nothing leaves its place; never
                                     changes a result                                           */
    bool sleep;                   /* groups at rest whose impulses still meet the tolerance are
                                     not solved again                                           */
    int64_t threads;              /* worker threads; 0: as many as the machine has              */
    int64_t impact_rounds;        /* Newton's restitution: most impacts one after the other in a
                                     step; 0: all at once                                       */
    int64_t parts;                /* that sweeps keep the bodies in, up to CAIRN_MOST_PARTS; 0: by
                                     the number of contacts                                     */
} cairn_step_options;

/** Scheme coulomb, solver auto, tolerance 1e-3, gamma 1; the time step must be given. */
CAIRN_API cairn_step_options cairn_step_options_default(void);
/** The table of cairn_step_options. */
CAIRN_API const cairn_record *cairn_step_record(void);
/** Check options for a world of a dimension: ranges, names, and that the solver treats what the
 *  scheme asks of it. `error` (may be NULL) names the key. */
CAIRN_API cairn_status cairn_step_options_check(const cairn_step_options *options, int dimension,
                                                cairn_error *error);
/** Check that steps with these options are possible in this world: cairn_step_options_check, and
 *  that the scheme treats its friction laws. cairn_world_step does the same. */
CAIRN_API cairn_status cairn_world_step_check(const cairn_world *world,
                                              const cairn_step_options *options,
                                              cairn_error *error);
/** Name of scheme `index`, NULL past the last. */
CAIRN_API const char *cairn_scheme_name(int index);
/** One line about a scheme, NULL when unknown. */
CAIRN_API const char *cairn_scheme_summary(const char *name);
/** The law a scheme's step is judged by; CAIRN_LAW_COUNT when unknown. */
CAIRN_API cairn_law cairn_scheme_law(const char *name);
/** Name of way `index` to treat overlaps: "move" mends them by a displacement without velocity,
 *  "push" by velocities (b = gamma g/h, which stay), "keep" not at all. NULL past the last. */
CAIRN_API const char *cairn_overlaps_name(int index);
/** Name of broad phase `index`, NULL past the last. */
CAIRN_API const char *cairn_broad_phase_name(int index);
/** One line about a broad phase, NULL when unknown. */
CAIRN_API const char *cairn_broad_phase_summary(const char *name);

/** Where energy went in one step, J. Closed to rounding:
 *  d(kinetic) + d(potential) + d(elastic) = entered + load + driver + motor + correction - friction
 *  - impact - damping - numerical. */
typedef struct cairn_energy {
    double kinetic, potential; /* after the step; potential of gravity, 0 at the origin         */
    double elastic;            /* after the step: stored in springs                             */
    double entered;            /* brought in by bodies from inlets                              */
    double load_work;          /* done by loads                                                 */
    double driver_work;        /* done by driven bodies and moving surfaces through contacts    */
    double motor_work;         /* done by motors of joints                                      */
    double friction_loss;      /* - sum r_T . (mean sliding velocity), and of rolling, spinning */
    double impact_loss;        /* - sum r_N (mean normal velocity); what tears adhering contacts
                                  apart counts here                                             */
    double correction;         /* potential added by moving overlapping bodies apart            */
    double damping_loss;       /* h c rate^2 of dampers                                         */
    double sleep_loss;         /* what stopping bodies that fall asleep takes                   */
    double numerical_loss;     /* of the time stepping: h m g.(v+ - v)/2 and the turning of
                                  unequal inertias; may have either sign                        */
} cairn_energy;

/** What a step can prove about itself, in units a person understands. After an impact by Poisson's
 *  law it speaks of the decompression, the judgement of the worse phase. */
typedef struct cairn_certificate {
    double penetration;        /* m: deepest overlap of any two bodies after the step (>= 0)     */
    double gap_error;          /* m: largest |h min(o, w r_N)|: gap left where it pushes, or
                                overlap; o = u_N + b, less mu |u_T| for the convex law         */
    double cone_violation;     /* N s: largest distance of an impulse from its cone              */
    double friction_direction; /* W: largest (r_T.u_T + |r_T||u_T|)/h, 0 when friction opposes
                                  sliding; of rolling and spinning likewise                    */
    double complementarity;    /* J: largest |r_N o|                                             */
    double dilatation;         /* m: largest h mu (|u_T| - s) at a pushing contact: the gap that
                                the convex law (s = 0) keeps while sliding; with
                                h (mu_R |u_R| + mu_S |u_S|) where there is such friction       */
    double spurious_work;      /* J: sum of r_N mu (|u_T| - s): the work of normal impulses in
                                lifting what slides, held while it does; exact friction: 0     */
    double friction_law;       /* largest |mu(|u_T|) - mu| at a pushing contact, mu the one the
                                impulses were found with; all else is judged with mu(|u_T|)    */
    double joint_drift;        /* m: largest defect of what joints hold, after the step          */
    double joint_turn_drift;   /* rad: likewise                                                  */
    double distance;           /* 1: largest residual |a - b - g n| / size of a distance between
                                two shapes, a and b their points, g the gap along the normal n;
                                0: all of them are closed forms                                */
    cairn_judgement judgement; /* residuals of the asked law and of exact Coulomb              */
} cairn_certificate;

/** Seconds spent in the parts of a step. */
typedef struct cairn_timing {
    double collide, assemble, solve, finish;
} cairn_timing;

/** What happened in a step. */
typedef struct cairn_step_report {
    int candidates;           /* contacts in the one-step problem                             */
    int active;               /* contacts with an impulse                                     */
    int attempts;             /* 1, or more when bodies outran the margin and the step was
                                 solved again with more candidates                            */
    int upgraded;             /* scheme auto: contacts with exact Coulomb friction            */
    int broken;               /* joints that broke                                            */
    int entered;              /* bodies that came in through inlets                           */
    int asleep;               /* bodies that rest when the step ends: their v is 0            */
    int woken;                /* bodies that rested before it and do not any more             */
    int impacts;              /* resolved one after the other within the step, by Newton's
                                 restitution                                                  */
    int impact_rounds;        /* in so many rounds; a round holds those that do not wait for
                                 each other                                                   */
    int impacts_left;         /* contacts that still hit when the rounds were over; they bounce
                                 all at once                                                  */
    int64_t distance_body[2]; /* uids: pair of certificate.distance; -1, -1: closed forms     */
    double overlap;           /* 1: deepest overlap after the step as a share of the radius of
                                 the smaller of its two bodies; >= 0                          */
    int64_t overlap_body[2];  /* uids of that pair; -1, -1: nothing overlaps                  */
    cairn_solve_report solve;
    cairn_certificate certificate;
    cairn_energy energy;
    cairn_timing timing;
    /* Schemes that linearise contacts where the step ends: how often, and how far (m, over the
     * surfaces of bodies with candidates) the step ends from where they did so last. When this did
     * not settle within more than one linearisation, solve.converged is false. */
    int linearisations;
    double linearisation_error;
} cairn_step_report;

/** Advance by one time step. On failure the world is as before the call and cairn_world_error
 *  says why: CAIRN_BAD_INPUT with the key run.time_step when a body would move further than
 *  linearised gaps can tell, CAIRN_NOT_FINITE when a number would overflow. A step that misses its
 *  tolerance succeeds with report->solve.converged false. `report` may be NULL. */
CAIRN_API cairn_status cairn_world_step(cairn_world *world, const cairn_step_options *options,
                                        cairn_step_report *report);

/** The contacts of the last step. */
CAIRN_API cairn_contacts cairn_world_contacts(const cairn_world *world);

/** The one-step problem of the last step, as the scheme posed it, and its impulses `r` (may be
 *  NULL), lent until the next step or overlap test. Anisotropic friction is in scaled tangents and
 *  adhesion in v_free, as docs/friction.md says. After an impact by Poisson's law: those of the
 *  compression. NULL: there was no step yet, it failed, or the
 *  problem has been given up since. */
CAIRN_API const cairn_problem *cairn_world_problem(const cairn_world *world, const double **r);

/** What the last step was made of besides the state of the bodies: by row, for the bodies that
 *  were there when it began, and by contact of cairn_world_contacts. */
typedef struct cairn_step_inputs {
    int count;
    const cairn_vec3 *force;   /* N, world frame: sum of a body's loads                         */
    const cairn_vec3 *torque;  /* N m, body frame: likewise                                     */
    const cairn_vec3 *x;       /* m: where the contacts were evaluated                          */
    const cairn_quat *q;       /* likewise                                                      */
    const cairn_vec3 *v;       /* m/s: v^ of dynamic bodies, where contacts are linearised ahead,
                                 at q + h v^; NULL: they are not                               */
    const cairn_vec3 *omega;   /* rad/s, body frame: likewise                                   */
    const double *bias;        /* m/s: b of each contact                                        */
    const uint8_t *exact;      /* scheme auto: 1: exact Coulomb friction; NULL: other schemes   */
    const double *compression; /* N s, `dimension` each: impulses of the first phase of an impact
                                 by Poisson's law; NULL: there was none                        */
    const double *correction;  /* kg m/s: of each contact, what moved overlapping bodies apart, as
                                 a normal impulse from rest for h; NULL: nothing was moved     */
    int impacts;               /* that the step resolved one after the other, in this order      */
    const int32_t *impact_round;   /* from 1                                                    */
    const int32_t *impact_contact; /* of cairn_world_contacts                                   */
    const double *impact_time;     /* s: after the step began                                   */
    const double *impact_impulse;  /* N s, `dimension` each; a part of the contact's impulse    */
} cairn_step_inputs;

/** Bytes that a world holds. All but the bodies grow with the largest step so far. */
typedef struct cairn_memory_use {
    size_t bodies;   /* shapes, states, materials of bodies: arrays of them                  */
    size_t contacts; /* of this step, of the last one, and of a first attempt at a step      */
    size_t pairs;    /* of bodies and of their pieces that may meet                          */
    size_t step;     /* what one step needs, the one-step problem among it                   */
    size_t solver;   /* workspace of the solver                                              */
} cairn_memory_use;

/** How many bytes the world holds now, by what for. */
CAIRN_API cairn_memory_use cairn_world_memory(const cairn_world *world);

/** The inputs of the last step, lent as long as cairn_world_problem; count 0: there are none. */
CAIRN_API cairn_step_inputs cairn_world_step_inputs(const cairn_world *world);

/** Takes bytes somewhere; anything but CAIRN_OK ends the writing. */
typedef cairn_status cairn_write_fn(const void *data, size_t bytes, void *context);

/** Write everything that the future of a world depends on: a world loaded from it goes on with the
 *  same bits. What cairn_world_problem and cairn_world_step_inputs lend is not part of it. Fails
 *  with CAIRN_NO_MEMORY, or as `write` does. */
CAIRN_API cairn_status cairn_world_save(const cairn_world *world, cairn_write_fn *write,
                                        void *context);
/** A world from what cairn_world_save wrote. The bytes may be anything: CAIRN_BAD_INPUT when they
 *  make no sense, `error` (may be NULL) says why. */
CAIRN_API cairn_status cairn_world_load(const void *data, size_t bytes, cairn_world **out,
                                        cairn_error *error);

/** Share of a region's volume (2D: area) that spheres fill. */
typedef struct cairn_packing {
    double fraction;  /* filled share of the probed region, in [0, 1]                          */
    double low, high; /* m: heights along the upward axis between which it was probed         */
    int64_t samples;  /* Monte Carlo points that fell inside the containers                    */
} cairn_packing;

/** Packing fraction by `samples` low-discrepancy points between the `trim` and 1 - `trim`
 *  quantiles of the heights of the dynamic spheres, counting only points inside all cylinders,
 *  cones and half-spaces. CAIRN_UNSUPPORTED when that region is unbounded sideways or empty, or
 *  when bodies of other shapes move in the world. */
CAIRN_API cairn_status cairn_world_packing(const cairn_world *world, double trim, int64_t samples,
                                           cairn_packing *out);

#ifdef __cplusplus
}
#endif
#endif
