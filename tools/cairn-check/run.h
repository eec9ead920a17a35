/* run.h - a stored run as the checker sees it: settings, bodies, and one step at a time. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include "columns.h"
#include "geometry.h"

/* Shapes; the names are those of the file. */
typedef enum check_shape {
    CHECK_SPHERE,
    CHECK_POINT,
    CHECK_HALF_SPACE,
    CHECK_CYLINDER, /* inside */
    CHECK_CONE,     /* inside */
    CHECK_FUNNEL,
    CHECK_BOX, /* from here on by the points of contacts, see witness.c */
    CHECK_CAPSULE,
    CHECK_SOLID_CYLINDER,
    CHECK_SOLID_CONE,
    CHECK_ELLIPSOID,
    CHECK_SUPERELLIPSOID,
    CHECK_INSIDE_BOX,
    CHECK_HULL, /* from here on with a row of /geometry */
    CHECK_MESH,
    CHECK_POLYLINE,
    CHECK_HEIGHT_FIELD,
    CHECK_COMPOUND,
    CHECK_OTHER /* not known here */
} check_shape;

typedef enum check_motion { CHECK_DYNAMIC, CHECK_FIXED, CHECK_DRIVEN } check_motion;

/* How a scheme poses its step. */
typedef struct check_scheme {
    const char *name;
    bool convex;        /* asked law: s = 0; else exact Coulomb, s = |u_T| */
    bool frictionless;  /* mu = 0                                          */
    bool edges;         /* cones with edges, in 3D                         */
    bool middle;        /* contacts at q + h v/2, no gap in the bias       */
    bool mixed;         /* convex law, with s = |u_T| at marked contacts   */
    int linearisations; /* > 0: contacts at q + h v^, at most so often    */
} check_scheme;

typedef struct check_settings {
    int version; /* of the format: 1, or 2 with checksums */
    int rules;   /* of motion: 1, or 2 with free turning of second order and soft motors */
    int dimension;
    vec gravity;
    double h;               /* s: time step                         */
    double tolerance;       /* of the relative residual             */
    double gamma;           /* stabilisation                        */
    int directions;         /* edges of a cone; 0: circular         */
    int rolling, spinning;  /* components of contacts that turn: rolling 1 or 2, spinning 1 */
    int components;         /* of a contact in the problem: with these                      */
    double increment;       /* > 0: another test ended the steps    */
    double model_tolerance; /* m: scheme auto                 */
    int linearisations; /* > 0: contacts are those of q + h v^, found in at most so many turns */
    int impact_rounds;  /* > 0: impacts one after the other, in at most so many; -1: a file from
                           before there were any, also of the compression at mid-step          */
    bool sleep;         /* bodies may rest, with v = 0                                        */
    bool push, move;    /* overlaps are pushed apart; moved apart                             */
    const check_scheme *scheme;
    char level[16]; /* what was stored: off, summary, full          */
} check_settings;

/* What bodies are: rows of /bodies. */
typedef struct check_bodies {
    size_t capacity;
    int count;
    int32_t *shape, *motion, *material; /* the first two translated to the enums above */
    double *uid;                        /* names, which rise from row to row           */
    double *volume;                     /* m^3, in 2D m^2                              */
    double *mass, *radius, *half_angle, *bottom_radius, *top_radius, *height;
    vec *inertia, *axis, *size, *semi_axes;
    double *length, *rounding, *exponents; /* exponents: 2 each           */
    int32_t *geometry;                     /* row of /geometry; -1: none  */
    vec *shape_x;                          /* m: the shape in the body    */
    quat *shape_q;
    vec *surface_velocity; /* m/s, body frame: of belts                               */
    vec *friction_axis;    /* body frame: along it friction counts, across friction_2 */
} check_bodies;

/* Where bodies are. */
typedef struct check_state {
    size_t capacity;
    int count;
    int32_t *index; /* of the body, of each row             */
    vec *x, *v, *omega;
    quat *q;
    int32_t *asleep; /* 1: rests, with v = 0 whatever its impulses leave */
    double *angle;
    int32_t *row; /* of each body; -1: it is not there    */
} check_state;

typedef struct check_contacts {
    size_t capacity;
    int count;
    int32_t *body; /* a, b */
    int32_t *feature;
    vec *point, *normal, *tangent;
    double *gap, *mu, *restitution, *bias;
    double *impulse, *velocity; /* dimension each                                            */
    double *mu_2;               /* across the tangent                                        */
    double *adhesion;           /* N: the pull that the contact withstands in this step      */
    double *mu_rolling, *mu_spinning; /* m                                                   */
    double *moment, *turning; /* N m s, rad/s; 3 each, in 2D 1                             */
    int32_t *exact;           /* scheme auto: exact friction                               */
    double *compression;      /* dimension each: of an impact by Poisson's law; else 0     */
    double *correction;       /* normal impulses whose velocities times h move bodies apart */
} check_contacts;

typedef struct check_loads {
    size_t capacity;
    int count;
    int32_t *body;
    vec *force, *torque;
} check_loads;

typedef struct check_poses {
    size_t capacity;
    int count;
    int32_t *body;
    vec *x;
    quat *q;
} check_poses;

/* Velocities v^ with which bodies in contact got to where contacts were evaluated. */
typedef struct check_guesses {
    size_t capacity;
    int count;
    int32_t *body;
    vec *v, *omega;
} check_guesses;

/* Impacts that the step resolved one after the other. */
typedef struct check_impacts {
    size_t capacity;
    int count;
    int32_t *round, *contact;
    double *time, *impulse; /* s after the step began; N s, dimension each */
} check_impacts;

/* What happens where materials meet. A law has 7 numbers: kind, constant, static, dynamic, speed,
 * exponent, how many points; friction is the smaller of a pair's two laws. */
enum { CHECK_LAW_NUMBERS = 7 };
typedef struct check_materials {
    int count;
    double *friction, *restitution, *poisson, *law_first, *law_second; /* count x count */
    double *laws, *points;                                             /* 7, 2 a row    */
    int law_count, point_count;
    /* beyond Coulomb friction, count x count; NULL: no pair has it */
    double *friction_2, *adhesion, *adhesion_range, *rolling, *spinning;
    int *first_point; /* of each law */
    bool vary;        /* some law depends on the sliding speed */
} check_materials;

/* ---- joints --------------------------------------------------------------------------------- */

typedef enum check_joint_kind {
    CHECK_BALL,
    CHECK_FIXED_JOINT,
    CHECK_REVOLUTE,
    CHECK_PRISMATIC,
    CHECK_CYLINDRICAL,
    CHECK_UNIVERSAL,
    CHECK_PLANAR,
    CHECK_SCREW,
    CHECK_DISTANCE,
    CHECK_ROPE,
    CHECK_GEAR,
    CHECK_SPRING,
    CHECK_TORSION_SPRING,
    CHECK_BUSHING,
    CHECK_JOINT_KINDS
} check_joint_kind;

typedef enum check_motor {
    CHECK_NO_MOTOR,
    CHECK_VELOCITY,
    CHECK_POSITION,
    CHECK_FORCE
} check_motor;

/* What acts along a free coordinate. */
typedef struct check_drive {
    int32_t *motor;
    double *lower, *upper, *friction, *effort, *spring, *damper, *rest;
} check_drive;

/* What joints are: rows of /joints. */
typedef struct check_joints {
    size_t capacity;
    int count;
    int32_t *kind, *body, *collide; /* body: a, b; -1: the world */
    vec *anchor_a, *anchor_b;       /* m: in the bodies' frames  */
    quat *frame_a, *frame_b;
    double *length, *pitch, *ratio, *stiffness, *damping, *turn_stiffness, *turn_damping;
    double *break_force, *break_torque;
    check_drive turn, slide;
} check_joints;

/* What they do. */
typedef struct check_joint_states {
    size_t capacity;
    int count;
    int32_t *index, *broken;
    vec *point, *force, *torque;
    double *turn, *slide, *drift, *turn_drift, *phase, *turn_target, *slide_target;
    int32_t *row; /* of each joint; -1: it is not there */
} check_joint_states;

/* Stored impulses of their rows. */
typedef struct check_row_list {
    size_t capacity;
    int count;
    int32_t *joint;
    double *impulse, *correction;
} check_row_list;

typedef enum check_role {
    CHECK_HOLD,
    CHECK_HOLD_TURN,
    CHECK_LIMIT,
    CHECK_MOTOR,
    CHECK_DRY,
    CHECK_SOFT
} check_role;

/* A row of a joint: rate = e.(va + wa x pa) + ta.wa - the same of b, and
 * y = rate + gain defect + bias + eps r with lower <= r <= upper. */
typedef struct check_joint_row {
    int joint, block; /* block: of the problem, counted after the contacts */
    check_role role;
    int body[2]; /* -1: the world */
    vec e, arm[2], turn[2];
    double defect, gain, bias, lower, upper, eps, stiffness, damping;
    double r, z;                         /* impulse; while overlaps were mended             */
    double after, free, before, imposed; /* rates; the last of driven bodies                */
    double weight;                       /* 1/kg: of the residual                           */
    double reach;                        /* m: what rounding of arms and defects is relative to */
    double rate_size, size;              /* m/s: likewise of rates, and of y                */
} check_joint_row;

enum { CHECK_JOINT_ROWS = 18 }; /* of a joint, at most */

/* The columns of /steps that are checked, whole. */
typedef struct check_steps {
    size_t capacity;
    int count;
    double *step, *time, *candidates, *active, *entered, *converged;
    double *upgraded, *linearisations, *linearisation_error, *friction_law, *spurious_work;
    double *asked_worst_contact, *coulomb_worst_contact;
    double *penetration, *gap_error, *cone_violation, *friction_direction, *complementarity,
        *dilatation, *asked_worst, *asked_relative, *asked_fclib, *coulomb_worst, *coulomb_relative,
        *coulomb_fclib, *judge_cone_violation;
    double *kinetic, *potential, *entered_energy, *load_work, *driver_work, *friction_loss,
        *impact_loss, *numerical_loss, *correction, *elastic, *motor_work, *damping_loss,
        *sleep_loss;
    double *asleep, *woken;
    double *impacts, *impact_rounds, *impacts_left;
    double *broken, *joint_drift, *joint_turn_drift;
    double *distance, *distance_body; /* the second: 2 each */
} check_steps;

/* Numbers of a list of offsets. */
typedef struct check_list {
    size_t capacity;
    double *value;
} check_list;

/* The first two are states: also that before the first step. */
enum {
    CHECK_BODIES,
    CHECK_JOINTS,
    CHECK_STATES,
    CHECK_CONTACTS = CHECK_STATES,
    CHECK_LOADS,
    CHECK_POSES,
    CHECK_GUESSES,
    CHECK_ROWS,
    CHECK_IMPACTS,
    CHECK_PARTS
};

/* Velocities of a body as impulses make them; sizes are what rounding is relative to. */
typedef struct check_velocity {
    vec v, omega;
    double v_size, omega_size;
} check_velocity;

/* Numbers derived for each contact of the loaded step, as the one-step problem has them: tangents
 * multiplied by D where friction has directions, with what makes up for adhesion, and with rolling
 * and spinning. `components` each where it says so. */
typedef struct check_derived {
    size_t capacity;
    double *weight; /* 1/kg: trace(W_jj)/components                         */
    double *size;   /* m/s: sum of the magnitudes of the terms of u and b   */
    double *share;  /* 2 each: D                                            */
    double *length; /* m, 2 each: of rolling and spinning, that make them speeds    */
    double *scaled; /* 1/kg: the weight in these units                      */
    double *r;      /* N s, components: impulses                            */
    double *velocity, *free,
        *before;        /* m/s, components: u with the velocities after, free, before */
    double *judged;     /* components: u with the velocities that impulses make, which who sleeps
                           has not                                                            */
    double *imposed;    /* components: the part of driven bodies and belts            */
    double *guess;      /* m/s: normal part of u with v^        */
    double *mu;         /* 0 in schemes without friction        */
    double *s;          /* m/s: of the law judged by            */
    double *compressed; /* components: u after a compression    */
    double *middle;     /* components: u that it starts from    */
    double *compression_mu, *compression_bias;
    double *decompression; /* N s, components: impulse without that of the compression */
    double *least;         /* N s: least normal part of it                            */
    /* impacts within the step: chain.c */
    double *early;  /* N s, components: sum of their impulses; r without it is above   */
    double *struck; /* components: u as they leave it, with the free motion            */
    double *lag;    /* m: what the gap lacks of what velocities tell                   */
    double *hits_at, *hits_slack;        /* s: when a contact hits, and rounding of that     */
    double *sure;                        /* 1: it certainly does                             */
    double *round_r, *round_u, *round_q; /* components: of one round                         */
    double *round_bias;
} check_derived;

/* A body in a step of second order, see swing.c. */
typedef struct check_swing {
    bool swings;
    vec x_mid, x_end, v_end, w_end; /* at mid-step; about at the end                         */
    quat q_mid, q_end;
    vec force, moment; /* of joints in the step before                          */
} check_swing;

typedef struct check_run {
    hid_t file;
    bool skip_checksums; /* only recomputation counts */
    long time_limit;     /* s of processor, of a file whose metadata have no check sums; 0: none */
    check_settings settings;
    check_report *report;
    check_bodies bodies;
    check_geometries geometries;
    check_steps steps;
    check_group parts[CHECK_PARTS], step_group, body_group, joint_group;
    check_joints joints;
    check_list offsets[CHECK_PARTS];
    bool unfinished; /* the run did not end: what is there counts */
    check_materials materials;
    long step; /* the one that is loaded; 0: before the first          */
    check_state before, after;
    check_contacts contacts;
    check_loads loads;
    check_poses poses;
    check_guesses guesses;
    check_impacts impacts;
    check_joint_states joints_before, joints_after;
    check_row_list row_list;
    /* derived for the loaded step, by body: */
    vec *x_eval; /* where contacts are evaluated */
    quat *q_eval;
    vec *x_after; /* after the step */
    quat *q_after;
    vec *force, *torque; /* loads: N; N m in the body frame              */
    vec *gyroscopic;     /* N m, body frame: as the midpoint rule has it */
    vec *v_free, *omega_free;
    vec *v_start, *omega_start;          /* v_free of the problem: with adhesion and tension     */
    vec *v_adhesion, *omega_adhesion;    /* what adhesion adds to it                       */
    vec *added;                          /* kg m^2: C of joints under tension                    */
    vec *v_eval, *omega_eval;            /* v^                                                  */
    char *touched;                       /* 1: some contact names it                            */
    char *pushed;                        /* 1: turns by h w+, see turn.c                        */
    check_velocity *expected;            /* after the step                                      */
    check_velocity *moved;               /* m/s: displacement over h that mends overlaps        */
    check_velocity *hit;                 /* after the compression of an impact                  */
    check_velocity *path;                /* between impacts within the step                     */
    check_velocity *late;                /* m, rad: way that a body lacks for these             */
    double *hit_time;                    /* s: of its last impact                               */
    double *earliest, *earliest_perhaps; /* s: of its next, at the latest; at the earliest   */
    double *around, *around_perhaps;     /* likewise, of it and all that it may meet         */
    double fastest;                      /* m/s: by how much the fastest contact exceeds rest */
    char *side;                          /* of the joint that motor.c looks at: room            */
    check_swing *swing;                  /* how it swings                                       */
    check_derived by_contact;
    check_joint_row *rows; /* of the joints in force */
    int *row_first;        /* of each joint, and the end after the last */
    int row_count, blocks; /* blocks: that rows take in the problem     */
    /* of all joints after the step: stored energy, and what it has lost, J; defects; broken ones */
    double elastic, elastic_lost, elastic_size, drift, turn_drift, broken;
    bool impact;                 /* the step is an impact by Poisson's law: two phases */
    int slow_steps;              /* so many in a row, up to here, in which no body was fast */
    struct check_series *series; /* /statistics; NULL: there are none */
    double start_time;           /* s */
    double start_kinetic, start_potential,
        start_size;      /* J: before the first step; of their terms            */
    double *ledger_size; /* J: by step: of the terms of its energies            */
} check_run;

/* checksums.c: compare the whole file with /checksums; false: that cannot be read. */
bool check_checksums(check_run *run);
/* run.c: open a run file, read what does not change; load step 0, 1, ... in order. */
bool check_run_open(check_run *run, const char *path);
bool check_run_load(check_run *run, long step);
void check_run_close(check_run *run);
/* Kinds of shapes as the file numbers them to the enum, by the names of a dataset. */
bool check_shapes_translate(check_run *run, const char *dataset, int count, int32_t *shape);
/* surface.c: what contacts have beyond one mu: the tangent along an axis, D, adhesion, belts. */
double check_tangent_along(const check_run *run, int j, vec *tangent); /* 0: no axis, else its
                                                        part in the contact, at most 1 */
void check_shares(const check_run *run, int j, double share[2]);
void check_surface_prepare(check_run *run, int j); /* D, impulses of the problem */
void check_surface(check_run *run, int j);
vec check_belt(const check_run *run, int body, vec normal);
/* The same number of a pair of materials; 0 where there is none. */
double check_pair(const check_run *run, int j, const double *matrix);
/* laws.c: read /certificate's materials; friction of the pair of a contact at a speed. */
bool check_materials_read(check_run *run);
void check_materials_free(check_materials *materials);
double check_friction(const check_run *run, int j, double speed);
bool check_is_poisson(const check_run *run, int j);
/* bias.c: whether this is an impact by Poisson's law; the gap at the start of the step, and what
 * rounding of ways of this step is relative to. */
void check_impact(check_run *run);
double check_gap(const check_run *run, int j);
double check_way_size(const check_run *run, int j);
/* chain.c: impacts within the step. */
void check_chain(check_run *run);
/* m/s: impacts at a contact slower than this are not followed where e < 1. */
double check_faded(const check_run *run, int j);
/* contacts.c: relative velocity of a contact for velocities of dynamic bodies, by body, with that
 * of other bodies or without; returns what its rounding is relative to. */
double check_relative(const check_run *run, int j, const check_velocity *motion, bool imposed,
                      double *u);
/* motion.c: velocities, by body, with an impulse of contact j. */
void check_strike(const check_run *run, int j, const double *r, check_velocity *motion);
/* linearise.c: where contacts were evaluated. */
void check_place_guesses(check_run *run);
/* motion.c: (J + C)^-1 */
vec check_inverse_inertia(const check_run *run, int body);
/* turn.c: who is pushed in the step; by which turn a body gets to its new orientation, and in 2D by
 * which angle, from its angular velocities before and after. */
void check_find_pushed(check_run *run);
quat check_turn_of(const check_run *run, int body, vec old, vec new);
double check_angle_of(const check_run *run, int body, double old, double new);
/* swing.c: who moves to second order, with which rows. */
void check_swings(check_run *run);
/* prepare.c: the angular velocity after the step with a torque, by the midpoint rule. */
vec check_midpoint(const check_run *run, int body, vec torque);
/* tension.c: C, and the velocities that the problem starts from; then rates of rows. */
void check_find_added(check_run *run);
void check_start(check_run *run);
void check_start_law(check_run *run);
/* joint_state.c: what springs store before the first step. */
double check_elastic_start(check_run *run, double *size);
/* joints.c: read /joints; the loaded step's joints. */
bool check_joints_read(check_run *run);
void check_joints_free(check_run *run);
check_group check_joint_group(const char *name, int dimension, bool certificate);
check_group check_row_group(void);
bool check_joints_index(check_run *run, check_joint_states *states);
bool check_rows_make(check_run *run);
bool check_is_joined(const check_run *run, int a, int b);
bool check_joint_in_force(const check_run *run, int joint);
/* joint_rows.c: rows of a joint in a pose, made for the step; returns how many. With them the
 * coordinates, turns counted on from `turn`. */
typedef struct check_joint_pose {
    vec x[2];
    quat q[2];
    double turn;  /* rad: counted so far; then what it is here */
    double slide; /* m: what it is here                        */
    double phase; /* rad                                       */
    double turn_target, slide_target;
    double felt_turn, felt_slide; /* kg m^2, kg: inertia that motors feel              */
    double reach, turn_size;      /* what rounding of slide and turn is relative to */
} check_joint_pose;
int check_joint_rows(const check_run *run, int joint, check_joint_pose *pose,
                     check_joint_row *rows);
bool check_has_two_points(const check_run *run, int joint);
/* Whether it holds some motion: locked, its bodies move as one. */
bool check_is_link(const check_run *run, int joint);
/* motor.c: the inertia along both coordinates of a joint; the row of a motor. */
void check_felt(const check_run *run, int joint, double *turn, double *slide);
typedef struct check_gains {
    double target, effort, stiffness, damping, felt;
} check_gains;
check_joint_row check_motor_gains(const check_run *run, check_joint_row row, int motor,
                                  check_gains gains);
bool check_has_coordinate(const check_run *run, int joint, bool turn);

/* Which row of a state a body has; -1: none. */
static inline int check_row(const check_state *state, int body)
{
    return state->row[body];
}
/* A state of bodies out of any group with the columns of bodies. */
check_group check_state_group(const char *name, int dimension);
check_group check_contact_group(const char *name, int dimension);

/* The orientation in whose frame rows are: that of the start of the step, or swing.c's. */
static inline quat check_rows_q(const check_run *run, int body)
{
    return run->swing[body].swings ? run->swing[body].q_end : run->before.q[run->before.row[body]];
}

static inline check_place check_at(const check_run *run, const char *kind, long number,
                                   const char *what)
{
    return (check_place){ run->step, kind, number, what };
}

/* ---- the checks: each looks at the loaded step ---------------------------------------------- */

void check_prepare(check_run *run);           /* prepare.c: poses, loads, free velocities */
void check_linearised(check_run *run);        /* linearise.c: how far from q + h v^ it ends */
void check_motion_of(check_run *run);         /* motion.c: velocities from impulses, poses */
void check_contacts_of(check_run *run);       /* contacts.c: geometry, law, velocities    */
void check_law_of(check_run *run);            /* law.c: residuals and certificate         */
void check_energy_of(check_run *run);         /* energy.c: the ledger                     */
void check_energy_start(check_run *run);      /* energy.c: of the state before the first  */
void check_ledgers(check_run *run);           /* energy.c: closed, from /steps alone      */
void check_certificate_of(check_run *run);    /* certificate.c: the law in other units   */
void check_bias(check_run *run, int j);       /* bias.c: b of the scheme                 */
void check_joints_of(check_run *run);         /* joint_state.c: what joints did */
bool check_complete(check_run *run);          /* pairs.c: no overlapping pair left out    */
bool check_frames(check_run *run);            /* frames.c: /frames repeats what is stored */
void check_volumes(check_run *run);           /* facts.c: of all bodies, from their shapes */
void check_uids(check_run *run);              /* facts.c: in the loaded state             */
void check_distance_of(check_run *run);       /* facts.c: what is said of distances       */
void check_slowness(check_run *run);          /* facts.c: counts slow steps               */
void check_ending(check_run *run, bool full); /* facts.c: how it ended, after all steps */
/* statistics.c: read /statistics; compare with the loaded state; with all states. */
bool check_statistics_open(check_run *run);
void check_statistics_of(check_run *run);
bool check_statistics(check_run *run);
void check_statistics_close(check_run *run);

#endif
