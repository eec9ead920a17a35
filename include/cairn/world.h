/* world.h - a world of bodies, and the step that moves them.
 * SI units throughout: m, kg, s, rad, N, J. A 2D world has 3 degrees of freedom a body and lies in
 * the plane z = 0. */
#ifndef CAIRN_WORLD_H
#define CAIRN_WORLD_H

#include "cairn/body.h"
#include "cairn/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Dimension and gravity of a world. Start from cairn_world_def_default(). */
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
/** Gravity of the last step, m/s^2; before the first step, as given. */
CAIRN_API cairn_vec3 cairn_world_gravity(const cairn_world *world);
/** Set gravity, m/s^2 (2D: z must be 0). A component that follows a function of time
 *  (cairn_world_vary) still does so. Fails with CAIRN_BAD_INPUT or CAIRN_NOT_FINITE; the world is
 *  then as before. */
CAIRN_API cairn_status cairn_world_set_gravity(cairn_world *world, cairn_vec3 gravity);
/** Set the clock to `time` s and forget the contacts of the last step, as in a world that has not
 *  stepped yet. For bodies that were put into the state of another time (cairn_body_put); those
 *  that were created after it count as created then. Fails with CAIRN_NOT_FINITE, or
 *  CAIRN_UNSUPPORTED if a driver follows a speed, whose integral up to then is not known; the world
 *  is then as before. */
CAIRN_API cairn_status cairn_world_restart(cairn_world *world, double time);

/* ---- numbers that vary ---------------------------------------------------------------------- */

/** A number of a world that can be a function of time. The step from t to t + h uses the mean of
 *  the function over the step, so that impulses and distances are those of the function to
 *  rounding; a position motor, which aims at the end of the step, uses the value at t + h. */
typedef enum cairn_varied {
    CAIRN_VARIED_GRAVITY_X, /* m/s^2                                             */
    CAIRN_VARIED_GRAVITY_Y,
    CAIRN_VARIED_GRAVITY_Z,
    CAIRN_VARIED_FRICTION,  /* of a material, by its number; its law is constant  */
    CAIRN_VARIED_TURN,      /* target of the motor of a joint, by its index       */
    CAIRN_VARIED_SLIDE,     /* likewise                                           */
    CAIRN_VARIED_RATE,      /* of an inlet, 1/s, by its number: 0, 1, ...         */
    CAIRN_VARIED_LATTICE_X, /* of the velocity gradient of the periodic cell, 1/s: the derivative
                              along x of the velocity component `index`: 0, 1, 2 */
    CAIRN_VARIED_LATTICE_Y, /* along y                                            */
    CAIRN_VARIED_LATTICE_Z, /* along z                                            */
    CAIRN_VARIED_COUNT
} cairn_varied;

/** Let a number follow a function of time (copied) from the next step on; an earlier function of
 *  the same number is replaced. `index` is 0 for gravity. With `function` NULL the number keeps the
 *  value that it has; this is not possible for the rate of an inlet. A world with a callback cannot
 *  be saved. Fails with CAIRN_NOT_FOUND, CAIRN_BAD_INPUT (cairn_world_error says why),
 *  CAIRN_NO_MEMORY; the world is then as before. */
CAIRN_API cairn_status cairn_world_vary(cairn_world *world, cairn_varied what, int index,
                                        const cairn_function *function);
/** Whether some number of this kind follows a function of time. */
CAIRN_API bool cairn_world_varies(const cairn_world *world, cairn_varied what);

/* ---- periodic worlds ------------------------------------------------------------------------ */

/** A world that repeats itself along some axes: docs/periodic.md. Start from
 *  cairn_lattice_def_default(). */
typedef struct cairn_lattice_def {
    cairn_names axes;      /* x, y, z: along which the world repeats itself                 */
    cairn_vec3 low, high;  /* m: two corners of the cell; other axes do not matter          */
    cairn_vec3 gradient_x; /* 1/s: derivatives of the velocity component x along x, y and z */
    cairn_vec3 gradient_y; /* 1/s: likewise of y                                            */
    cairn_vec3 gradient_z;
} cairn_lattice_def;

/** No axes, a cell of 1 m that does not move. */
CAIRN_API cairn_lattice_def cairn_lattice_def_default(void);
/** The table of cairn_lattice_def. */
CAIRN_API const cairn_record *cairn_lattice_record(void);
/** Make a world periodic; without axes it is so no longer. The contacts of the last step are
 *  forgotten. Fails with CAIRN_BAD_INPUT or CAIRN_NOT_FINITE; cairn_world_error says why. What the
 *  cell cannot hold is refused by the next step. */
CAIRN_API cairn_status cairn_world_set_lattice(cairn_world *world, const cairn_lattice_def *def);
/** Only its velocity gradient: the cell and the bodies in it stay. CAIRN_BAD_INPUT: an axis is not
 *  periodic. */
CAIRN_API cairn_status cairn_world_set_lattice_gradient(cairn_world *world,
                                                        const cairn_lattice_def *def);
/** The cell now, with the velocities that its edges had in the last step. */
CAIRN_API cairn_lattice cairn_world_lattice(const cairn_world *world);
/** Whether the world is periodic along some axis. */
CAIRN_API bool cairn_lattice_exists(const cairn_lattice *cell);

/** Bodies still to come from all inlets (generate.h). */
CAIRN_API int64_t cairn_world_inlet_pending(const cairn_world *world);
/** A 64-bit hash of time, poses and velocities: equal bits of state give equal hashes. */
CAIRN_API uint64_t cairn_world_hash(const cairn_world *world);
/** The error of the last call on this world that failed; the message is empty if none has. */
CAIRN_API const cairn_error *cairn_world_error(const cairn_world *world);

/** The deepest overlap between bodies in their present poses: its depth (m, 0 if nothing overlaps),
 *  and in a and b (may be NULL) the two bodies. Uses the same broad and narrow phase as the step;
 *  bodies of a joint that do not collide in a step do not count. */
CAIRN_API cairn_status cairn_world_overlap(cairn_world *world, double *depth, cairn_body_id *a,
                                           cairn_body_id *b);
/** The same for the overlap that is deepest as a share of the smaller body's radius (that of the
 *  ball about its origin that holds it; 1 mm where neither has one), with its depth in m. */
CAIRN_API cairn_status cairn_world_overlap_share(cairn_world *world, double *share, double *depth,
                                                 cairn_body_id *a, cairn_body_id *b);

/* ---- the step ------------------------------------------------------------------------------ */

/** What force, torque and work are asked for: those of one joint, or those that act from outside on
 *  a set of bodies, by contacts and joints. The set has all bodies that meet every condition.
 *  Start from cairn_probe_default(), whose set has all bodies. */
typedef struct cairn_probe {
    int64_t joint;          /* index of the joint; -1: a set of bodies                        */
    const uint64_t *bodies; /* uids; lent                                                     */
    int body_count;         /* number of them; 0: any body                                    */
    int64_t material;       /* number of their material; -1: any                              */
    int64_t group;          /* their collision group; -1: any                                 */
    bool boxed;             /* only dynamic bodies with their centre in the following box     */
    cairn_vec3 low, high;   /* m: low <= x < high when the step begins                        */
    bool about_point;       /* of a joint: the torque is that about `about`; else about its
                               point on a                                                     */
    cairn_vec3 about;       /* m: point of the torque                                         */
} cairn_probe;

/** A set of all bodies, with torques about the origin. */
CAIRN_API cairn_probe cairn_probe_default(void);

/** What a probe reads in one step: means of force and torque over it, and the work in it. Forces
 *  between two bodies of the set cancel and are left out; so is their work. A joint is read as it
 *  acts on its body a, and with the work that it does on both bodies. */
typedef struct cairn_probe_reading {
    cairn_vec3 force;  /* N                                                                   */
    cairn_vec3 torque; /* N m                                                                 */
    double work;       /* J: with the mean velocity of each body in the step                  */
} cairn_probe_reading;

enum { CAIRN_MOST_PROBES = 64 };

/** How to step. Start from cairn_step_options_default(); every field is a key of `run:`, but for
 *  the probes. */
typedef struct cairn_step_options {
    double time_step;             /* s                                                          */
    const char *scheme;           /* a name of cairn_scheme_name                                */
    const char *solver;           /* a name of cairn_solver_name                                */
    const char *backend;          /* a name of cairn_backend_name, or that of a shared object   */
    double tolerance;             /* relative residual of the scheme's law: no contact is wrong by
                                     more than 10 times this share of what it has to remove, see
                                     cairn_residual and docs/notation.md                        */
    int64_t max_iterations;       /* sweeps or gradient steps in one solve                      */
    double stabilisation;         /* gamma in (0, 1]: share of a gap corrected in one step      */
    const char *overlaps;         /* a name of cairn_overlaps_name: how they are treated        */
    bool arcs;                    /* contacts follow round walls to second order                */
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
    bool reuse_pairs;             /* keep the list of pairs while bodies stay in their zones; never
                                     changes a result                                           */
    bool sleep;                   /* groups at rest whose impulses still meet the tolerance are
                                     not solved again                                           */
    int64_t threads;              /* worker threads; 0: as many as the machine has              */
    int64_t impact_rounds;        /* Newton's restitution: most impacts one after the other in a
                                     step; 0: all at once                                       */
    int64_t parts;                /* that sweeps keep the bodies in, up to CAIRN_MOST_PARTS; 0: by
                                     the number of contacts                                     */
    int64_t max_substeps;         /* most that a step is divided into where bodies move too far,
                                     rounded down to a power of 2; 1: such a step is refused    */
    const cairn_probe *probes;    /* what to read in the step; lent                             */
    int probe_count;              /* at most CAIRN_MOST_PROBES                                  */
} cairn_step_options;

/** Upper bound of max_substeps. */
enum { CAIRN_MOST_SUBSTEPS = 1048576 };

/** Scheme coulomb, solver auto, tolerance 1e-3, gamma 1; the time step must be given. */
CAIRN_API cairn_step_options cairn_step_options_default(void);
/** The table of cairn_step_options. */
CAIRN_API const cairn_record *cairn_step_record(void);
/** Check options for a world of a dimension: ranges, names, and that the solver treats what the
 *  scheme asks of it. `error` (may be NULL) names the key. */
CAIRN_API cairn_status cairn_step_options_check(const cairn_step_options *options, int dimension,
                                                cairn_error *error);
/** The back end that `auto` means in scenes: `device` ("cuda") if the world is a pile of at least
 *  CAIRN_AUTO_BODIES bodies (docs/gpu.md), `to_come` of inlets included, and the device can be used
 *  here; else the default. options->backend is not read. */
enum { CAIRN_AUTO_BODIES = 10000 };
CAIRN_API const char *cairn_world_choose_backend(cairn_world *world,
                                                 const cairn_step_options *options,
                                                 const char *device, int64_t to_come);

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
/** Name of way `index` to treat overlaps: "move" corrects them by a displacement without velocity,
 *  "push" by velocities (b = gamma g/h, which stay), "keep" not at all. NULL past the last. */
CAIRN_API const char *cairn_overlaps_name(int index);

/** How well a step satisfies the contact law, in physical units. After an impact by Poisson's law
 *  it refers to the decompression, but its judgement to the worse phase. */
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

/** The report of a step. */
typedef struct cairn_step_report {
    int candidates;           /* contacts in the one-step problem                             */
    int active;               /* contacts with an impulse                                     */
    int attempts;             /* 1, or more if bodies moved beyond their reach and the step was
                                 repeated with more candidates                                */
    int upgraded;             /* scheme auto: contacts with exact Coulomb friction            */
    int broken;               /* joints that broke                                            */
    int entered;              /* bodies that came in through inlets                           */
    int left;                 /* bodies that left through outlets, when the step began        */
    int changed;              /* bodies that calls changed before it: cairn_step_inputs       */
    int asleep;               /* bodies that rest when the step ends: their v is 0            */
    int woken;                /* bodies that rested before it and no longer do                */
    int impacts;              /* resolved one after the other within the step, by Newton's
                                 restitution                                                  */
    int impact_rounds;        /* in so many rounds; a round holds those that do not wait for
                                 each other                                                   */
    int impacts_left;         /* contacts that still hit when the rounds were over; they bounce
                                 all at once                                                  */
    int impacts_reduced;      /* contacts whose restitution was reduced, because it would have
                                 created energy                                               */
    int energy_made_groups;   /* groups of bodies whose contacts created energy that the law does
                                 not allow, although they were solved again; then the step has
                                 not converged                                                */
    double energy_made;       /* J: how much, beyond what counts as none (docs/steps.md)      */
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
    const cairn_probe_reading *readings; /* of each probe, lent until the next step; NULL: none */
    bool resident; /* contacts were found and kept on the device of the back end (docs/gpu.md) */
    int substeps;  /* that the step was divided into, because bodies move too far in it; 1: none */
    double length; /* s: time that passed, the time step; of a substep: a part of it          */
} cairn_step_report;

/** Advance by one time step. A step in which a body would move further than linearised gaps can
 *  tell is divided: it is tried with half its length, and half of that, until it does, and goes on
 *  with substeps of this length, or shorter ones, to its end. Each is a step of its own; what the
 *  world shows of the last step (contacts, problem, inputs, probe readings) is then that of the
 *  last substep, and the report is that of all of them (cairn_step_report_add).
 *  On failure the world is as before the call, but for bodies that outlets have removed, or, if
 *  the step was divided, as before the substep that failed; the next call then goes on there.
 *  cairn_world_error says why: CAIRN_BAD_INPUT with
 *  the key run.time_step when bodies move too far even in the shortest substep, CAIRN_NOT_FINITE
 *  when a number would overflow. A step that misses its tolerance succeeds with
 *  report->solve.converged false. `report` may be NULL. */
CAIRN_API cairn_status cairn_world_step(cairn_world *world, const cairn_step_options *options,
                                        cairn_step_report *report);
/** The same up to the end of the next substep: all of the step if it need not be divided. Fails as
 *  cairn_world_step, and leaves the world as before the call. */
CAIRN_API cairn_status cairn_world_substep(cairn_world *world, const cairn_step_options *options,
                                           cairn_step_report *report);
/** Whether a step was divided, and some of its substeps are still to come. */
CAIRN_API bool cairn_world_in_step(const cairn_world *world);
/** Give up the substeps that are still to come, if there are any: the next step begins where the
 *  world is, and is whole. */
CAIRN_API void cairn_world_end_step(cairn_world *world);
/** Add the report of what was done before, a step or substep, to that of the one after it: counts,
 *  works, losses and times are sums, certificates the worst; all else is that of the last one. */
CAIRN_API void cairn_step_report_add(const cairn_step_report *before, cairn_step_report *now);
/** s: length of the last step, or substep, by which the impulses of cairn_world_contacts are to be
 *  divided; 0 before the first one. */
CAIRN_API double cairn_world_last_length(const cairn_world *world);

/** The contacts of the last step. */
CAIRN_API cairn_contacts cairn_world_contacts(const cairn_world *world);

/** The one-step problem of the last step, as the scheme posed it, and its impulses `r` (may be
 *  NULL), lent until the next step or overlap test. Anisotropic friction is in scaled tangents and
 *  adhesion in v_free, as docs/friction.md says. After an impact by Poisson's law: those of the
 *  compression. NULL: there was no step yet, it failed, or the
 *  problem has been given up since. */
CAIRN_API const cairn_problem *cairn_world_problem(const cairn_world *world, const double **r);

/** The inputs of the last step besides the state of the bodies: by row, for the bodies that existed
 *  when it began, and by contact of cairn_world_contacts. */
typedef struct cairn_step_inputs {
    int count;
    const cairn_vec3 *force;   /* N, world frame: sum of a body's loads                         */
    const cairn_vec3 *torque;  /* N m, body frame: likewise                                     */
    const cairn_vec3 *damping; /* N s/m: of walls that cells move, in each direction; infinite: the
                                 velocity in that direction was given. 0 for other bodies; NULL:
                                 there are no cells                                            */
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
    int changes;                   /* bodies that calls changed before the step               */
    const cairn_change *change;
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

/** A callback that writes bytes; any status but CAIRN_OK ends the writing. */
typedef cairn_status cairn_write_fn(const void *data, size_t bytes, void *context);

/** Save the complete state of a world: a world loaded from it continues with the same bits. The
 *  data of cairn_world_problem and cairn_world_step_inputs are not included. `write` is called
 *  once. All processes of a joined world must call it; the bytes, which are those of a world that
 *  is not joined, then go to `write` of process 0 piece by piece, and no process has all of them.
 *  Fails with CAIRN_NO_MEMORY, with the status of `write`, or with CAIRN_UNSUPPORTED: functions
 *  belong to the program; bodies were removed from a joined world since its last step (save what
 *  cairn_world_gather collects). */
CAIRN_API cairn_status cairn_world_save(const cairn_world *world, cairn_write_fn *write,
                                        void *context);
/** Save a world that is not joined in the same way, but without callbacks as functions of time: the
 *  numbers that follow them (cairn_world_vary) keep the values that they have. */
CAIRN_API cairn_status cairn_world_save_plain(cairn_world *world, cairn_write_fn *write,
                                              void *context);
/** How many bytes that will be. All processes of a joined world must call it. */
CAIRN_API cairn_status cairn_world_saved_bytes(const cairn_world *world, int64_t *out);
/** Load a world that cairn_world_save wrote. Any bytes are safe: CAIRN_BAD_INPUT if they are not
 *  valid, `error` (may be NULL) says why. */
CAIRN_API cairn_status cairn_world_load(const void *data, size_t bytes, cairn_world **out,
                                        cairn_error *error);

/* ---- worlds that several processes compute together ---------------------------------------- */

/** From now on this process makes only a share of this world: of the dynamic bodies that are
 *  created those with numbers [begin, end), counted from 0 in the order of creation. Those that are
 *  there already, and all fixed and driven ones, are kept by all processes. Of the others only
 *  shapes and loads are kept, so all processes must create the same bodies in the same order;
 *  cairn_body_row is then -1 for some. The world can be joined once all bodies are created, if
 *  process k of n has bodies [k N/n, (k + 1) N/n) of N, rounded down. CAIRN_UNSUPPORTED: it is
 *  joined, or a share already. */
CAIRN_API cairn_status cairn_world_share(cairn_world *world, int64_t begin, int64_t end);
/** Bodies of the whole world, wherever they are. */
CAIRN_API int64_t cairn_world_body_count(const cairn_world *world);

/** From now on this world, of which every process of the link has a whole copy or its share, is
 *  computed by all of them together, and this process has some of its bodies. All bodies and
 *  materials must be there. Steps, cairn_world_hash, cairn_world_speed2, cairn_world_energy,
 *  cairn_world_overlap and cairn_world_gather must then be called by all processes at the same
 *  point; all fail if one fails. Views show the bodies that this process has. The link must outlive
 *  the world. */
CAIRN_API cairn_status cairn_world_join(cairn_world *world, cairn_link *link);

/** Where the parts of a saved world are, in bytes from its beginning, and how many rows they have.
 *  For cairn_world_survey and cairn_saved_cut. */
typedef struct cairn_saved {
    const unsigned char *data; /* lent */
    size_t size;
    const cairn_world *world;     /* of cairn_world_survey, lent                                  */
    bool share, survey;           /* it is loaded as a share; without dynamic bodies and contacts */
    size_t count_at;              /* the number of bodies                                         */
    size_t bodies_at, middle_at;  /* columns of bodies, and their end                             */
    size_t contacts_at, last_at;  /* columns of contacts, and their end                           */
    int64_t rows, held, contacts; /* all bodies; fixed and driven ones; contacts                  */
} cairn_saved;

/** Load a saved world without its dynamic bodies and its contacts, and describe it in `saved`. The
 *  world counts all bodies, but can only be cut, or filled by cairn_world_gather. */
CAIRN_API cairn_status cairn_world_survey(const void *data, size_t bytes, cairn_world **out,
                                          cairn_saved *saved, cairn_error *error);
/** Write the share of one process of a link as bytes for cairn_world_load_share. */
CAIRN_API cairn_status cairn_saved_cut(const cairn_saved *saved, const cairn_link *link, int member,
                                       cairn_write_fn *write, void *context);
/** Load such a share. All processes of the link must call it; their worlds are then joined, as by
 *  cairn_world_join. */
CAIRN_API cairn_status cairn_world_load_share(const void *data, size_t bytes, cairn_link *link,
                                              cairn_world **out, cairn_error *error);

/** Write what was applied to a world since its last step (cairn_body_push, _strike, _put,
 *  _set_material), and the present drivers and targets of motors, as bytes for cairn_world_apply;
 *  `write` is called once. Materials and functions of time are written if `other`, a world to which
 *  all of this is applied, has other ones. A callback (cairn_world_vary) is called here, for the
 *  step from now to h s later, in which `other` will use its mean; one that moves a body is
 *  refused: CAIRN_UNSUPPORTED. */
CAIRN_API cairn_status cairn_world_applied(const cairn_world *world, const cairn_world *other,
                                           double h, cairn_write_fn *write, void *context);
/** Apply it to another world with the same bodies, or to a share of it: every process of a joined
 *  world with the same bytes. No message is sent. After CAIRN_BAD_INPUT, the bytes are not valid,
 *  or CAIRN_NO_MEMORY a part may have been applied. */
CAIRN_API cairn_status cairn_world_apply(cairn_world *world, const void *data, size_t bytes);
/** Whether two worlds have the same materials and functions of time. A callback is like no
 *  other. */
CAIRN_API bool cairn_world_alike(const cairn_world *one, const cairn_world *other);

/** What this process has of a joined world. */
typedef struct cairn_world_part {
    int begin, end;       /* rows of the dynamic bodies that it computes                         */
    const int64_t *order; /* of each row: the row in the whole world; NULL: it is not joined      */
} cairn_world_part;

/** The bodies that this process computes; those of a world that is not joined are all. */
CAIRN_API cairn_world_part cairn_world_own(const cairn_world *world);

/** Put rows and contacts in order after a body was removed between two steps, as the next step
 *  would: a joined world can only then be saved. The inputs of the last step end here. */
CAIRN_API cairn_status cairn_world_tidy(cairn_world *world, const cairn_step_options *options);

/** Complete an array that has `size` bytes for each row of a joined world: the rows of bodies that
 *  other processes compute are copied from these. All processes must call it together; a world that
 *  is not joined has no such rows. */
CAIRN_API void cairn_world_fetch(const cairn_world *world, void *rows, size_t size);

/** Collect the state of a joined world. In process 0 `whole`, a world that was made from the same
 *  state as `world`, is then as if it had made all steps itself, also its cairn_world_step_inputs;
 *  others pass NULL. CAIRN_UNSUPPORTED: the world is not joined. */
CAIRN_API cairn_status cairn_world_gather(cairn_world *world, cairn_world *whole);

/** Copy the numbers that are functions of time (gravity, friction and others), as they were in the
 *  last step, and the periodic cell to a world that was made from the same state. Needs no
 *  messages. */
CAIRN_API void cairn_world_copy_varied(const cairn_world *from, cairn_world *to);

/** The square of the largest speed of a dynamic body, m^2/s^2; NaN: a speed is not a number. */
CAIRN_API double cairn_world_speed2(const cairn_world *world);

/** Share of a region's volume (2D: area) that spheres fill. */
typedef struct cairn_packing {
    double fraction;  /* filled share of the probed region, in [0, 1]                          */
    double low, high; /* m: heights along the upward axis between which it was probed         */
    int64_t samples;  /* Monte Carlo points that fell inside the containers                    */
} cairn_packing;

/** Packing fraction by `samples` low-discrepancy points between the `trim` and 1 - `trim`
 *  quantiles of the heights of the dynamic spheres, counting only points inside all cylinders,
 *  cones and half-spaces. CAIRN_UNSUPPORTED when that region is unbounded sideways or empty, or
 *  when bodies of other shapes move in the world. All processes of a joined world must call it
 *  together, and get the same. */
CAIRN_API cairn_status cairn_world_packing(const cairn_world *world, double trim, int64_t samples,
                                           cairn_packing *out);

#ifdef __cplusplus
}
#endif
#endif
