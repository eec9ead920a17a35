/* run.h - a stored run as the checker sees it: settings, bodies, shapes, and one step at a time. */
#ifndef CHECK_RUN_H
#define CHECK_RUN_H

#include "base.h"

/* ---- the group /geometry --------------------------------------------------------------------- */

/* Points and faces of hulls, meshes, polylines and height fields, parts of compounds; and distances
 * from segments and triangles. */

enum { CHECK_BLOCK = 32 }; /* faces that share a box */

/* A box; empty when low > high. */
typedef struct check_bounds {
    vec low, high;
} check_bounds;

/* One row: what it has is in the lists of check_geometries. */
typedef struct check_geometry {
    int first_vertex, vertices, first_face, faces, first_part, parts;
    bool closed;   /* every edge has two faces: solid behind them */
    double extent; /* m: radius about the origin                  */
    double bent;   /* m: largest distance of corners of a hull from their faces */
    int first_block;
} check_geometry;

/* Parts of compounds: rows of /geometry/parts. */
typedef struct check_part_list {
    size_t capacity;
    int count;
    int32_t *shape, *geometry; /* shape: of the enum check_shape */
    vec *x, *size, *semi_axes, *axis;
    quat *q;
    double *radius, *height, *length, *rounding, *exponents;
} check_part_list;

typedef struct check_vertices {
    size_t capacity;
    vec *value;
} check_vertices;

typedef struct check_wholes {
    size_t capacity;
    int32_t *value;
} check_wholes;

/* Zero is valid: the file has none. */
typedef struct check_geometries {
    int count;
    check_geometry *rows;
    check_vertices vertices;
    int vertex_count;
    check_wholes corners, corner_offset;
    int corner_count, face_count;
    vec *normals; /* of faces: outward, unit */
    check_bounds *blocks;
    check_part_list parts;
} check_geometries;

struct check_run;
/* Read the group, if there is one, and refuse impossible numbers; then the rows that bodies name.
 * Hulls that are not convex are findings. */
bool check_geometries_read(struct check_run *run);
void check_geometries_free(check_geometries *g);

/* Corner k of a face, in the frame of its shape. */
vec check_corner(const check_geometries *g, const check_geometry *row, int face, int k);
int check_corner_count(const check_geometries *g, const check_geometry *row, int face);
/* The face across the edge from corner k of a face to the next (2D: at corner k); -1: none. */
int check_neighbour(const check_geometries *g, const check_geometry *row, int face, int k);
/* m: distance of p from a face, or from a triangle; in 2D from a segment. */
double check_face_distance(const check_geometries *g, const check_geometry *row, int face, vec p);
double check_triangle_distance(const vec corner[3], vec p);
double check_segment_distance(vec from, vec to, vec p);
/* m: depth of p inside a closed surface: its distance from the nearest face; negative: outside. */
double check_depth_inside(const check_geometries *g, const check_geometry *row, vec p);
/* The next face from `face` on whose box, enlarged by `within`, contains p; -1: none. */
int check_face_near(const check_geometries *g, const check_geometry *row, int face, vec p,
                    double within);

/* ---- the run --------------------------------------------------------------------------------- */

/* Shapes; the names are those of the file. */
typedef enum check_shape {
    CHECK_SPHERE,
    CHECK_POINT,
    CHECK_HALF_SPACE,
    CHECK_CYLINDER, /* inside */
    CHECK_CONE,     /* inside */
    CHECK_FUNNEL,
    CHECK_BOX, /* from here on checked by the points of contacts, see witness.c */
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
    bool convex;        /* law: s = 0; else exact Coulomb, s = |u_T| */
    bool frictionless;  /* mu = 0                                          */
    bool edges;         /* cones with edges, in 3D                         */
    bool middle;        /* contacts at q + h v/2, no gap in the bias       */
    bool mixed;         /* convex law, with s = |u_T| at marked contacts   */
    int linearisations; /* > 0: contacts at q + h v^, at most this often  */
} check_scheme;

typedef struct check_settings {
    int version; /* of the format: 1; 2 with checksums; 3 with residuals by contact */
    int rules;   /* of motion: 2 with second-order free rotation and soft motors; 3 without rebound
                    of approaches that the tolerance allows; 4 with omega_before, and with arcs
                    of ellipsoids; 5: bodies swing where their end is foreseen                 */
    int dimension;
    vec gravity;        /* m/s^2: in the loaded step            */
    vec gravity_before; /* and in the step before               */
    bool gravity_varies;
    double time_step;       /* s: of the run                        */
    double h;               /* s: of the loaded step: it, or a part of it in a substep */
    bool lengths;           /* steps have their own lengths: older files have none */
    double substeps;        /* most that a step may be divided into */
    double tolerance;       /* of the relative residual             */
    double gamma;           /* stabilisation                        */
    int directions;         /* edges of a cone; 0: circular         */
    int rolling, spinning;  /* rotational components of contacts: rolling 1 or 2, spinning 1 */
    int components;         /* of a contact in the problem, including these                 */
    double increment;       /* > 0: another stopping test was used  */
    double model_tolerance; /* m: scheme auto                 */
    int linearisations;     /* > 0: contacts at q + h v^, found in at most this many iterations */
    int impact_rounds; /* > 0: impacts in sequence, in at most this many rounds; -1: an older file,
                          without them and with the compression not at mid-step              */
    bool sleep;        /* bodies may sleep, with v = 0                                       */
    bool elsewhere;    /* the back end is not the host                                       */
    bool push, move;   /* overlaps are pushed apart; moved apart                             */
    bool arcs;         /* contacts follow round walls to second order                        */
    const check_scheme *scheme;
    char level[16]; /* what was stored: off, summary, full          */
} check_settings;

/* Definitions of bodies: rows of /bodies. */
typedef struct check_bodies {
    size_t capacity;
    int count;
    int32_t *shape, *motion, *material; /* the first two translated to the enums above */
    double *uid;                        /* names, in ascending order                   */
    double *born, *passes, *first;      /* s; how often it came back, and its first uid */
    double *volume;                     /* m^3, in 2D m^2                              */
    double *mass, *radius, *half_angle, *bottom_radius, *top_radius, *height;
    vec *inertia, *axis, *size, *semi_axes;
    double *length, *rounding, *exponents; /* exponents: 2 each           */
    int32_t *geometry;                     /* row of /geometry; -1: none  */
    vec *shape_x;                          /* m: the shape in the body    */
    quat *shape_q;
    vec *surface_velocity;    /* m/s, body frame: of belts                               */
    vec *friction_axis;       /* body frame: friction acts along it, friction_2 across */
    int32_t *group, *ignores; /* collision group; groups that it does not touch, as bits */
} check_bodies;

/* Positions and velocities of bodies. */
typedef struct check_state {
    size_t capacity;
    int32_t *image; /* 3 each: how often it has left the periodic cell along each edge */
    int count;
    int32_t *index; /* of the body, of each row             */
    vec *x, *v, *omega;
    quat *q;
    int32_t *asleep; /* 1: sleeps, with v = 0 whatever its impulses */
    double *angle;
    int32_t *row; /* of each body; -1: it is absent       */
} check_state;

typedef struct check_contacts {
    size_t capacity;
    int count;
    int32_t *body;  /* a, b */
    int32_t *image; /* 3 each: of b, which touches a there; 0 unless the run is periodic */
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
    double *correction;       /* normal impulses of the correction of overlaps             */
} check_contacts;

typedef struct check_loads {
    size_t capacity;
    int count;
    int32_t *body;
    vec *force, *torque;
    vec *damping; /* N s/m: of walls of cells, infinite where their velocity is given */
} check_loads;

typedef struct check_poses {
    size_t capacity;
    int count;
    int32_t *body;
    vec *x;
    quat *q;
} check_poses;

/* Velocities v^ that take bodies in contact to the poses at which contacts were evaluated. */
typedef struct check_guesses {
    size_t capacity;
    int count;
    int32_t *body;
    vec *v, *omega;
} check_guesses;

/* Impacts that the step resolved in sequence. */
typedef struct check_impacts {
    size_t capacity;
    int count;
    int32_t *round, *contact;
    double *time, *impulse; /* s after the step began; N s, dimension each */
} check_impacts;

/* Bodies that the program changed before the step: what they were when it began. */
typedef struct check_changes {
    size_t capacity;
    int count;
    int32_t *body, *material;
    vec *x, *v, *omega;
    quat *q;
    double *angle;
} check_changes;

/* Friction and restitution of pairs of materials. A law has 7 numbers: kind, constant, static,
 * dynamic, speed, exponent, number of points; friction is the smaller of a pair's two laws. */
enum { CHECK_LAW_CONSTANT = 1, CHECK_LAW_NUMBERS = 7 }; /* of a law: mu, and all of its numbers */
typedef struct check_materials {
    int count;
    double *friction, *restitution, *poisson, *law_first, *law_second; /* count x count */
    double *laws, *points;                                             /* 7, 2 a row    */
    int law_count, point_count;
    /* beyond Coulomb friction, count x count; NULL: no pair has it */
    double *friction_2, *adhesion, *adhesion_range, *rolling, *spinning;
    int *first_point; /* of each law */
    bool vary;        /* some law depends on the sliding speed */
    double *in_step;  /* steps x count: friction of materials; NULL: none is a function of time */
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

/* Definitions of joints: rows of /joints. */
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

/* Their states. */
typedef struct check_joint_states {
    size_t capacity;
    int count;
    int32_t *index, *broken;
    vec *point, *force, *torque;
    double *turn, *slide, *drift, *turn_drift, *phase, *turn_target, *slide_target;
    int32_t *image; /* 3 each: of b, or of the world, that a is joined with */
    int32_t *row;   /* of each joint; -1: it is absent */
} check_joint_states;

/* Stored impulses of their rows. */
typedef struct check_row_list {
    size_t capacity;
    int count;
    int32_t *joint;
    double *impulse, *correction, *eased;
} check_row_list;

typedef enum check_role {
    CHECK_HOLD,
    CHECK_HOLD_TURN,
    CHECK_LIMIT,
    CHECK_MOTOR,
    CHECK_DRY,
    CHECK_SOFT
} check_role;

/* The velocities that an error is related to, m/s, see scales.c. */
typedef struct check_scale {
    double scale, most, size; /* S, C; the size that their rounding is relative to */
    bool struck, bounces;     /* of a group: something hits in it; and bounces, by Poisson's law */
} check_scale;

/* A row of a joint: rate = e.(va + wa x pa) + ta.wa - the same of b, and
 * y = rate + gain defect + bias + eps r with lower <= r <= upper. */
typedef struct check_joint_row {
    int joint, block; /* block: of the problem, counted after the contacts */
    check_role role;
    int body[2]; /* -1: the world */
    vec e, arm[2], turn[2];
    double defect, gain, bias, lower, upper, eps, stiffness, damping;
    double r, z;                         /* impulse; that of the overlap correction         */
    double after, free, before, imposed; /* rates; the last of driven bodies                */
    double weight;                       /* 1/kg: of the residual                           */
    check_scale scale;                   /* of its block                                    */
    double reach;                        /* m: what rounding of arms and defects is relative to */
    double rate_size, size;              /* m/s: likewise of rates, and of y                */
} check_joint_row;

enum { CHECK_JOINT_ROWS = 18 }; /* of a joint, at most */

/* The columns of /steps that are checked, as a whole. */
typedef struct check_steps {
    size_t capacity;
    int count;
    double *step, *time, *candidates, *active, *entered, *converged, *attempts;
    double *time_step; /* of each; not in older files */
    double *upgraded, *linearisations, *linearisation_error, *friction_law, *spurious_work;
    double *asked_worst_contact, *coulomb_worst_contact;
    double *penetration, *gap_error, *cone_violation, *friction_direction, *complementarity,
        *dilatation, *asked_worst, *asked_relative, *asked_fclib, *coulomb_worst, *coulomb_relative,
        *asked_whole, *coulomb_whole, *coulomb_fclib, *judge_cone_violation;
    double *kinetic, *potential, *entered_energy, *load_work, *driver_work, *friction_loss,
        *impact_loss, *numerical_loss, *correction, *elastic, *motor_work, *damping_loss,
        *sleep_loss, *gravity_work, *applied_energy;
    double *changed;
    double *left, *entered_mass, *left_mass;
    double *gravity;   /* 3 each; missing where it does not vary */
    double *cell;      /* 9 each: edges of the periodic cell when the step ends; missing: none */
    double *cell_rate; /* m/s, 9 each: their velocities in the step */
    double *asleep, *woken;
    double *impacts, *impact_rounds, *impacts_left, *impacts_reduced;
    double *energy_made, *energy_made_groups; /* J; not in older files */
    double *broken, *joint_drift, *joint_turn_drift;
    double *distance, *distance_body; /* the second: 2 each */
} check_steps;

/* Numbers of a list of offsets. */
typedef struct check_list {
    size_t capacity;
    double *value;
} check_list;

/* Events that happened: their numbers in the scene, and the steps after which they did. */
typedef struct check_event_list {
    size_t capacity;
    double *event, *step, *time;
} check_event_list;

/* The first two are states, which include the one before the first step. */
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
    CHECK_CHANGES,
    CHECK_PARTS
};

/* Velocities of a body that result from impulses; rounding is relative to the sizes. */
typedef struct check_velocity {
    vec v, omega;
    double v_size, omega_size;
} check_velocity;

/* Numbers derived for each contact of the loaded step, in the form of the one-step problem:
 * tangents multiplied by D where friction is anisotropic, with the compensation of adhesion, and
 * with rolling and spinning. `components` numbers each where noted. */
typedef struct check_derived {
    size_t capacity;
    double *weight; /* 1/kg: trace(W_jj)/components                         */
    double *size;   /* m/s: sum of the magnitudes of the terms of u and b   */
    double *share;  /* 2 each: D                                            */
    double *length; /* m, 2 each: lengths that turn rolling and spinning into speeds */
    double *scaled; /* 1/kg: the weight in these units                      */
    double *r;      /* N s, components: impulses                            */
    double *velocity, *free,
        *before;        /* m/s, components: u with the velocities after, free, before */
    double *judged;     /* components: u as impulses produce it, also for sleeping bodies */
    double *imposed;    /* components: the part of driven bodies and belts            */
    double *guess;      /* m/s: normal part of u with v^        */
    double *mu;         /* 0 in schemes without friction        */
    double *s;          /* m/s: of the law used for judging     */
    double *compressed; /* components: u after a compression    */
    double *middle;     /* components: u that it starts from    */
    double *compression_mu, *compression_bias;
    double *decompression; /* N s, components: impulse without that of the compression */
    double *least;         /* N s: least normal part of it                            */
    /* impacts within the step: impacts.c */
    double *early;  /* N s, components: sum of their impulses; r without it is above   */
    double *struck; /* components: u as they leave it, with the free motion            */
    double *lag;    /* m: by how much the gap falls short of the one that velocities predict */
    double *hits_at, *hits_slack;        /* s: when a contact hits, and rounding of that     */
    double *sure;                        /* 1: it certainly hits                             */
    double *spared;                      /* 1: left out of the rounds, see impacts.c         */
    double *work, *work_size;            /* J: of the impacts within the step                */
    double *round_r, *round_u, *round_q; /* components: of one round                         */
    double *round_bias;
    check_scale *scale; /* of the residual: scales.c */
} check_derived;

/* A body in a step of second order, see swing.c. */
typedef struct check_swing {
    bool swings, strays, grounded;
    vec x_mid, x_end, v_end, w_end; /* at mid-step; approximately at the end                 */
    quat q_mid, q_end;
    vec force, moment; /* of joints in the step before                                */
    vec gained;        /* angular momentum without that of joints, in the frame of q_end */
} check_swing;

/* The periodic cell in the loaded step. */
typedef struct check_cell {
    bool there;
    vec corner;
    vec start[3], rate[3], end[3]; /* edges, m; their velocities, m/s                 */
    double work, work_size;        /* J: of putting bodies back when the step begins  */
} check_cell;

/* Energy that contacts made (gain.c): the steps in which they did, and the largest share. */
typedef struct check_gain {
    long steps, step;
    double share, made;        /* of the energy of the bodies concerned; J    */
    double normal, tangential; /* J: work of both parts of these impulses     */
} check_gain;

/* What contacts did to a group of bodies: restraint.c. */
typedef struct check_creation {
    double kinetic, forced; /* J: K and |f|_M^2/8 */
    double mended, spared;  /* J: D, and the bound of E + D */
    double made, made_size; /* J: E and S         */
    double driven, driven_size; /* J: F, likewise */
    double slack;           /* J: rounding        */
    int body, bodies;       /* the first of them, and their number */
} check_creation;

typedef struct check_run {
    hid_t file;
    bool skip_checksums; /* only recomputation counts */
    long time_limit;     /* s of CPU time for a file without checksums in its metadata; 0: any */
    check_settings settings;
    check_report *report;
    check_bodies bodies;
    check_geometries geometries;
    check_steps steps;
    check_group parts[CHECK_PARTS], step_group, body_group, joint_group;
    check_joints joints;
    check_list offsets[CHECK_PARTS];
    bool unfinished; /* the run did not finish: what was written counts */
    check_materials materials;
    check_cell cell;
    long step; /* the loaded one; 0: before the first                  */
    check_state before, after;
    check_contacts contacts;
    check_loads loads;
    check_poses poses;
    check_guesses guesses;
    check_impacts impacts;
    bool has_changes; /* the file says what the program changed */
    check_changes changes;
    double applied, applied_size; /* J: the energy that they gave, and the sum of its terms */
    check_joint_states joints_before, joints_after;
    check_row_list row_list;
    /* derived for the loaded step, by body: */
    vec *x_eval; /* where contacts are evaluated */
    quat *q_eval;
    vec *x_after; /* after the step */
    quat *q_after;
    vec *force, *torque; /* loads: N; N m in the body frame              */
    vec *damping;        /* N s/m: of walls of cells; else 0             */
    vec *gyroscopic;     /* N m, body frame: whose work the ledger has           */
    vec *omega_before;   /* rad/s, body frame: counts as that before the step, motion.c */
    vec *v_free, *omega_free;
    vec *v_start, *omega_start;       /* v_free of the problem: with adhesion and tension     */
    vec *v_adhesion, *omega_adhesion; /* what adhesion adds to it                       */
    vec *added;                       /* kg m^2: C of joints under tension                    */
    vec *v_eval, *omega_eval;         /* v^                                                  */
    char *touched;                    /* 1: some contact names it                            */
    int32_t *group;                   /* the group of each body: scales.c                    */
    check_scale *group_scale;         /* of each group                                       */
    check_event_list events;
    int64_t event_count;
    char *gone;                          /* 1: it left in some step                             */
    int *lived;                          /* the row that it had before it came back; -1: none   */
    char *pushed;                        /* 1: turns by h w+, see motion.c                        */
    check_velocity *expected;            /* after the step                                      */
    check_velocity *moved;               /* m/s: displacement over h that corrects overlaps     */
    check_velocity *hit;                 /* after the compression of an impact                  */
    check_velocity *path;                /* between impacts within the step                     */
    check_velocity *late;                /* m, rad: displacement lost to these impacts          */
    double *hit_time;                    /* s: of its last impact                               */
    double reduced; /* contacts with reduced restitution: certainly ... */
    double reduced_perhaps, reduced_poisson; /* ... within rounding; with impulse to spare */
    double *earliest, *earliest_perhaps; /* s: of its next, at the latest; at the earliest   */
    double *around, *around_perhaps;     /* likewise, of it and all its neighbours           */
    int *group_first;                    /* a body of its group: restraint.c                  */
    check_creation *creation;            /* of the group that this body names                 */
    double fastest;                      /* m/s: by how much the fastest contact exceeds rest */
    double fastest_sure;                 /* likewise of those that close without doubt        */
    char *side;         /* scratch of joint_rows.c for one joint                    */
    vec *hang;          /* m: likewise, from a body to its image that hangs there   */
    check_swing *swing; /* how it swings                                       */
    check_derived by_contact;
    check_joint_row *rows; /* of the joints in force */
    int *row_first;        /* of each joint, and the end after the last */
    int row_count, blocks; /* blocks: of rows in the problem            */
    /* of all joints after the step: stored energy and its losses, J; defects; broken ones */
    double elastic, elastic_lost, elastic_size, drift, turn_drift, broken;
    bool impact;                 /* the step is an impact by Poisson's law: two phases */
    int slow_steps;              /* consecutive steps up to here in which no body was fast */
    check_gain gain;
    long beyond;        /* steps in which contacts made more than the law allows ... */
    double beyond_made; /* J: ... and how much, see restraint.c                      */
    struct check_made *made; /* scratch of gain.c               */
    struct check_series *series; /* /statistics; NULL: there are none */
    struct check_forces *forces; /* /series; NULL: there are none     */
    struct check_fields *fields; /* /statistics/fields; NULL: there are none */
    double start_time;           /* s */
    double start_kinetic, start_potential,
        start_size;      /* J: before the first step; of their terms            */
    double *ledger_size; /* J: by step: of the terms of its energies            */
} check_run;

/* base.c: compare the whole file with /checksums; false: that cannot be read. */
bool check_checksums(check_run *run);
/* run.c: open a run file, read what does not change; load step 0, 1, ... in order. */
bool check_run_open(check_run *run, const char *path);
bool check_run_load(check_run *run, long step);
void check_run_close(check_run *run);
/* Translate the shape numbers of the file to the enum, by the names of a dataset. */
bool check_shapes_translate(check_run *run, const char *dataset, int count, int32_t *shape);
/* periodic.c: read the cell; that of the loaded step, with its bodies put back. */
bool check_cell_read(check_run *run);
void check_cell_of(check_run *run);
/* m: from a body to its image k, where contacts are evaluated; where the step ends. */
vec check_shift_eval(const check_run *run, const int32_t k[3]);
vec check_shift_after(const check_run *run, const int32_t k[3]);
/* m, m/s: from body b of a joint to its image that is joined, some time, s, after the start of the
 * step; its velocity relative to b. */
vec check_joint_shift(const check_run *run, int joint, double ahead);
vec check_joint_drift(const check_run *run, int joint);
/* m/s: velocity of the image of b in contact j, relative to b. */
vec check_drift(const check_run *run, int j);
/* m: where the body on one side of contact j is where it is evaluated; b: its image. */
vec check_x_of(const check_run *run, int j, int side);
/* Visit every pair of a body and an image k of another whose bounding balls overlap, one of them
 * dynamic, each once. false: no memory. */
typedef struct check_images {
    const vec *x; /* by body */
    bool after;   /* the step: else where contacts are evaluated */
    void (*visit)(void *context, int a, int b, const int32_t k[3]);
    void *context;
    int *near; /* scratch */
} check_images;
bool check_visit_images(const check_run *run, check_images *images);
/* pairs.c: whether a body is there, has bounds and a known size; m: the radius that holds it. */
bool check_is_bounded(const check_run *run, int body);
double check_ball_about(const check_run *run, int body);
/* friction.c: contact laws beyond a single mu: the tangent along an axis, D, adhesion, belts. */
double check_tangent_along(const check_run *run, int j, vec *tangent); /* 0: no axis, else its
                                                        part in the contact, at most 1 */
void check_shares(const check_run *run, int j, double share[2]);
void check_surface_prepare(check_run *run, int j); /* D, impulses of the problem */
void check_surface(check_run *run, int j);
vec check_belt(const check_run *run, int body, vec normal);
/* The same number of a pair of materials; 0 where there is none. */
double check_pair(const check_run *run, int j, const double *matrix);
/* friction.c: read /certificate's materials; friction of the pair of a contact at a speed. */
bool check_materials_read(check_run *run);
void check_materials_free(check_materials *materials);
double check_friction(const check_run *run, int j, double speed);
double check_pair_friction(const check_materials *m, int pair, double speed);
bool check_is_poisson(const check_run *run, int j);
/* impacts.c: whether this is an impact by Poisson's law; the gap at the start of the step, and the
 * size that rounding of displacements in this step is relative to. */
void check_impact(check_run *run);
double check_gap(const check_run *run, int j);
double check_way_size(const check_run *run, int j);
/* impacts.c: impacts within the step. */
void check_chain(check_run *run);
/* m/s: impacts at a contact slower than this are not followed where e < 1. */
double check_faded(const check_run *run, int j);
/* contacts.c: relative velocity of a contact for velocities of dynamic bodies, by body, with or
 * without that of other bodies; returns the size that its rounding is relative to. */
double check_relative(const check_run *run, int j, const check_velocity *motion, bool imposed,
                      double *u);
/* motion.c: velocities, by body, with an impulse of contact j. */
void check_strike(const check_run *run, int j, const double *r, check_velocity *motion);
/* contacts.c: where contacts were evaluated. */
void check_place_guesses(check_run *run);
/* motion.c: (J + C)^-1 */
vec check_inverse_inertia(const check_run *run, int body);
vec check_inverse_mass(const check_run *run, int body);
bool check_is_servo(const check_run *run, int body); /* a wall that a cell moves */
/* motion.c: which bodies are pushed in the step; the rotation (in 2D the angle) that takes a body
 * to its new orientation, from its angular velocities before and after. */
void check_find_pushed(check_run *run);
quat check_turn_of(const check_run *run, int body, vec old, vec new);
double check_angle_of(const check_run *run, int body, double old, double new);
/* swing.c: which bodies move to second order, with which rows. */
void check_swings(check_run *run);
/* joints.c: rows that correct less than all of the drift. */
void check_rows_ease(check_run *run);
/* motion.c: the angular velocity after the step with a torque, by the midpoint rule. */
vec check_midpoint(const check_run *run, int body, vec torque);
/* swing.c: C, and the velocities that the problem starts from; then rates of rows. */
void check_find_added(check_run *run);
void check_start(check_run *run);
void check_start_law(check_run *run);
/* joints.c: what springs store before the first step. */
double check_elastic_start(check_run *run, double *size);
/* joints.c: read /joints; the loaded step's joints. */
bool check_joints_read(check_run *run);
void check_joints_free(check_run *run);
check_group check_joint_group(const char *name, int dimension, bool certificate);
check_group check_row_group(void);
bool check_joints_index(check_run *run, check_joint_states *states);
bool check_rows_make(check_run *run);
bool check_is_joined(const check_run *run, int a, int b, const int32_t k[3]);
bool check_joint_in_force(const check_run *run, int joint);
/* joint_rows.c: rows of a joint in a pose, made for the step; returns their number. Also its
 * coordinates, with rotation counted on from `turn`. */
typedef struct check_joint_pose {
    vec x[2];
    quat q[2];
    double turn;  /* rad: counted so far; then its value here */
    double slide; /* m: its value here                         */
    double phase; /* rad                                       */
    double turn_target, slide_target;
    double felt_turn, felt_slide; /* kg m^2, kg: inertia that motors feel              */
    double reach, turn_size;      /* what rounding of slide and turn is relative to */
} check_joint_pose;
int check_joint_rows(const check_run *run, int joint, check_joint_pose *pose,
                     check_joint_row *rows);
bool check_has_two_points(const check_run *run, int joint);
/* Whether it constrains some motion: with its motors locked, its bodies move as one. */
bool check_is_link(const check_run *run, int joint);
/* joint_rows.c: the inertia along both coordinates of a joint; the row of a motor. */
void check_felt(const check_run *run, int joint, double *turn, double *slide);
typedef struct check_gains {
    double target, effort, stiffness, damping, felt;
} check_gains;
check_joint_row check_motor_gains(const check_run *run, check_joint_row row, int motor,
                                  check_gains gains);
bool check_has_coordinate(const check_run *run, int joint, bool turn);

/* The row of a body in a state; -1: none. */
static inline int check_row(const check_state *state, int body)
{
    return state->row[body];
}
/* A state of bodies out of any group with the columns of bodies. */
check_group check_state_group(const char *name, int dimension);
check_group check_contact_group(const char *name, int dimension);

/* The orientation in whose frame rows are given: at the start of the step, or that of swing.c. */
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

void check_prepare(check_run *run);      /* motion.c: poses, loads, free velocities */
void check_linearised(check_run *run);   /* contacts.c: how far from q + h v^ it ends */
void check_motion_of(check_run *run);    /* motion.c: velocities from impulses, poses */
void check_unhit(check_run *run, int body);
void check_contacts_of(check_run *run);  /* contacts.c: geometry, law, velocities    */
void check_law_of(check_run *run);       /* law.c: residuals and certificate         */
void check_energy_of(check_run *run);    /* energy.c: the ledger                     */
void check_energy_start(check_run *run); /* energy.c: of the state before the first  */
bool check_gain_of(check_run *run);      /* gain.c: energy that contacts made        */
void check_gain_of_ledger(check_run *run);        /* gain.c: the same, from /steps alone      */
void check_gain_free(check_run *run);
/* energy.c: add the energy of a row of the state before the step, with a sign, to what was given
 * between steps. */
void check_energy_change(check_run *run, int row, double sign);
void check_ledgers(check_run *run);           /* energy.c: closed, from /steps alone      */
void check_certificate_of(check_run *run);    /* law.c: the law in other units   */
void check_bias(check_run *run, int j);       /* impacts.c: b of the scheme                 */
/* arcs.c: a term of second order in b along round walls, and what its rounding is relative to, m/s.
 * Which part of a body touches is not in the file: the terms of all parts, one after the other. A
 * contact without such a term has 0 once. */
typedef struct check_arc {
    int part, face; /* where the search is */
    double term, size;
} check_arc;
#define CHECK_FIRST_ARC ((check_arc){ -1, -2, 0, 0 })
bool check_arc_next(const check_run *run, int j, check_arc *arc);
void check_reduced(check_run *run);           /* impacts.c: how many demand less than that  */
double check_pushing(const check_run *run, int j); /* m/s: the part of b that moves overlaps   */
double check_apart(const check_run *run, int j);   /* m/s: b without restitution              */
void check_creation_of(check_run *run);       /* restraint.c: contacts create no energy          */
void check_joints_of(check_run *run);         /* joints.c: what joints did */
bool check_complete(check_run *run);          /* pairs.c: no overlapping pair is missing  */
bool check_frames(check_run *run);            /* facts.c: /frames repeats what is stored */
void check_volumes(check_run *run);           /* facts.c: of all bodies, from their shapes */
/* claims.c: bodies and laws, before any step; the bodies of the loaded step; events; attempts. */
bool check_claims(check_run *run);
void check_births(check_run *run);
void check_events(check_run *run);
void check_attempts(check_run *run);
void check_servos(check_run *run);            /* motion.c: momentum of walls of cells     */
void check_uids(check_run *run);              /* facts.c: in the loaded state             */
void check_distance_of(check_run *run);       /* facts.c: accuracy of distances           */
void check_slowness(check_run *run);          /* facts.c: counts slow steps               */
double check_length(const check_run *run, long step); /* facts.c: s, of a step or substep */
void check_ending(check_run *run, bool full); /* facts.c: how it ended, after all steps */
/* facts.c: read /statistics; compare with the loaded state; with all states. */
bool check_statistics_open(check_run *run);
/* facts.c: whether statistics count all grains, wherever they are */
bool check_has_no_box(const check_run *run);
/* series.c: series of forces; fields */
bool check_forces_open(check_run *run);
void check_forces_of(check_run *run);
void check_forces(check_run *run);
void check_forces_close(check_run *run);
bool check_fields_open(check_run *run);
bool check_fields_of(check_run *run);
void check_fields_close(check_run *run);
void check_statistics_of(check_run *run);
bool check_statistics(check_run *run);
void check_statistics_close(check_run *run);

#endif
