/* step.h - a step as a sequence of values; each stage is a function that computes the next value
 * from the earlier ones.
 *
 *     free motion -> candidates -> joints -> posed -> answer -> mending -> arrival
 *
 * A stage takes const pointers to the values that it reads and one non-const pointer to the value
 * that it produces. In addition, stages fill entries of the report, and two groups of stages change
 * the world: the candidates write its contacts, and the last stages its new state. All arrays of
 * the values are in the scratch arena of the world, so nothing has to be freed when a step fails,
 * and the arrays of a successful step stay valid until the next one. step.c calls the stages in
 * order. */
#ifndef CAIRN_WORLD_STEP_H
#define CAIRN_WORLD_STEP_H

#include "base/common.h"
#include "world/scheme.h"
#include "world/world.h"

/* How overlaps are treated: cairn_step_options.overlaps. The reason for the default, moving, is at
 * the head of correct.c. */
typedef enum cairn_overlaps {
    CAIRN_OVERLAPS_MOVE, /* by a displacement without velocity (penetration correction) */
    CAIRN_OVERLAPS_PUSH, /* by a negative bias, so that a velocity remains              */
    CAIRN_OVERLAPS_KEEP  /* not at all: the drift stays visible                         */
} cairn_overlaps;

/* ---- the values ----------------------------------------------------------------------------- */

/* What is determined once at the start of a step and read by all stages. Nothing in it changes
 * during the step, apart from what `world` and `report` point to. */
typedef struct cairn_step {
    cairn_world *world;
    const cairn_step_options *options;
    double h;     /* time step, s             */
    double whole; /* s: h, or the step of which this one is a substep */
    const cairn_scheme *scheme;
    const cairn_broad_phase *broad;
    cairn_overlaps overlaps;
    int linearisations;    /* most evaluations of the contacts at q + h v^; 0: at the start only */
    int held;              /* number of fixed and driven bodies, which have the first rows       */
    int blocks;            /* of the problem: the dynamic bodies, in the order of their rows     */
    int block_size;        /* velocity components of a body: 3 in 2D, 6 in 3D                    */
    int components;        /* of a contact in the problem, including rolling and spinning        */
    int rolling, spinning; /* how many of them are of rolling and of spinning friction           */
    const cairn_backend *pile; /* the step is one of the device of this back end; NULL: no */
    cairn_step_report *report;
} cairn_step;

/* A wall of a cell in a step; see cell.c. */
typedef struct cairn_servo {
    int row;         /* of the wall; -1: there is none, or another member has it  */
    int axis;        /* 0, 1, 2                                                   */
    bool moves;      /* the cell moves it                                         */
    bool held;       /* its velocity is given, not the force on it                */
    double push;     /* N: the force along the axis, of its servo and its loads   */
    double damping;  /* N s/m                                                     */
    double inverse;  /* kg^-1: 1/(M + h c); 0: held                               */
    cairn_vec3 felt; /* N s: impulses of the contacts on it, known after the solve */
} cairn_servo;

/* Motion without contact, and the poses at which contacts are evaluated. Every array has one entry
 * per body, in the order of the rows. */
typedef struct cairn_free_motion {
    cairn_vec3 *v_free, *omega_free; /* m/s; rad/s, body frame; of driven bodies: the mean    */
    cairn_vec3 *omega_coast;         /* rad/s, body frame: as omega_free, but without torques;
                                        this counts as the velocity before the step */
    cairn_vec3 *force, *torque;      /* loads: N; N m in the body frame                       */
    cairn_vec3 *x_eval; /* where contacts are evaluated: at the start, at mid-step, or ... */
    cairn_quat *q_eval;
    cairn_vec3 *v_eval, *omega_eval; /* ... at q + h v^, with this v^ of dynamic bodies */
    cairn_vec3 *x_next;              /* pose of driven bodies at the end of the step    */
    cairn_quat *q_next;
    double *angle_next;
    cairn_servo *servos; /* 6 of each cell */
    int servo_count;
    cairn_vec3 *damping; /* as in cairn_step_inputs */
} cairn_free_motion;

/* What the candidate contacts were found with, and the impulses that they start from. The contacts
 * themselves are cairn_world.contacts. */
typedef struct cairn_candidates {
    double *reach;                   /* m, of each body: bound on its motion in this step     */
    bool plain;                      /* all shapes are balls and planes: one witness per pair */
    bool mended, far;                /* of a pile: its answer has a penetration correction; a body
                                        moved farther than its size past one that pushes it   */
    const cairn_contact_store *warm; /* contacts whose impulses are the warm start            */
    double warm_ratio;         /* this time step over that of `warm`: impulses scale with it */
    cairn_contact_store aside; /* contacts of the previous attempt, with their impulses      */
    cairn_arena_moment before_attempts; /* scratch taken after it belongs to one attempt only */
} cairn_candidates;

/* A body in a step of second order, see swing.c: its state at mid-step and the predicted
 * one at the end. */
typedef struct cairn_swing {
    bool swings;
    bool strays;             /* of the first of a group: its end is not foreseen */
    int32_t group;           /* the first of the bodies that joints connect      */
    cairn_vec3 x_mid, x_end; /* m */
    cairn_quat q_mid, q_end;
    cairn_vec3 v_end, omega_end;
    cairn_vec3 force, moment; /* N; N m, body frame at mid-step: of the joints, in the last step */
    cairn_vec3 omega_free;    /* rad/s: replaces that of the free motion                         */
    cairn_vec3 gyroscopic;    /* N m, body frame: what the free rotation adds to the torque      */
} cairn_swing;

/* The joints in a step. */
typedef struct cairn_mechanism {
    cairn_row *rows;    /* CAIRN_JOINT_ROWS of each joint                                    */
    int blocks;         /* blocks of rows that joints add to the problem, after the contacts */
    bool any;           /* the joints of some member do                                      */
    cairn_vec3 *added;  /* kg m^2, of each body: added to its moments, see joint_rows.c      */
    cairn_swing *swing; /* of each body: its motion by swing.c; NULL: no body swings         */
} cairn_mechanism;

/* Which blocks of the problem are balls. Their angular velocity is given in the world frame, that
 * of all other bodies in the body frame. A ball has one moment of inertia, so both describe the
 * same motion; in the world frame the rows of a contact of balls follow from its normal and
 * tangent. */
typedef struct cairn_balls {
    double *radius; /* m, of each block: > 0 for a ball, else -1; NULL: there are none */
    bool all;       /* every block is a ball, and every contact is one of balls        */
} cairn_balls;

/* The one-step problem and the arrays that it points to. The letters are those of
 * docs/notation.md. */
typedef struct cairn_posed {
    cairn_problem problem;
    cairn_balls balls;
    double *mass_inverse, *v_free, *H, *w, *b, *mu, *mu_rolling, *mu_spinning;
    double *arc;      /* m/s, of contacts: the part of b that follows round walls, arc.c; NULL */
    int32_t *block;   /* two per contact, of bodies a and b; -1: held                     */
    int32_t *rows;    /* of each contact: its index in H; -1: not stored; NULL: j itself  */
    int stored;       /* number of contacts and blocks of joints whose rows are in H      */
    uint8_t *bounded; /* marks blocks of joints; without joints NULL, like the next five */
    double *lower, *upper, *compliance;
    double *demand;    /* m/s, of rows: the part of w that their laws ask for          */
    uint8_t *corrects; /* of rows: 1: what they demand corrects drift                  */
    const cairn_vec3 *added; /* of bodies: as in cairn_mechanism */
    double *v_old; /* velocities of blocks before the step, angular ones as omega_coast */
} cairn_posed;

/* Impacts that a step resolved one after the other, and the state that they leave; see chain.c. */
typedef struct cairn_impacts {
    int count;
    int32_t *round, *contact; /* of each impact; rounds count from 1                        */
    double *time;             /* s, of each impact: since the start of the step             */
    double *impulse;          /* N s, of each impact: `components` numbers                  */
    double *total;            /* N s, of contacts: sums of their impulses; NULL: no impacts */
    double *behind;           /* of blocks: y, they end at x + h v - y; NULL: no impacts    */
    uint8_t *struck;          /* of blocks: 1 if an impact changed them; NULL: no impacts   */
    double *farthest;         /* m, of blocks: largest distance from x at an impact; NULL   */
    const double *v_free;     /* of blocks: of the step; NULL: no impacts                   */
    const double *apart;      /* m/s, of contacts: b without restitution; NULL: no impacts  */
    const double *work;       /* J, of contacts: done by their impacts; NULL: no impacts    */
} cairn_impacts;

/* Groups: bodies connected by candidate contacts. See groups.c. */
typedef struct cairn_groups {
    int32_t *first;                /* of each block: the first block of its group             */
    struct cairn_group *group;     /* of each block that is the first of its group            */
    struct cairn_group_name *name; /* the groups by their labels                              */
    int64_t *told;                 /* scratch: what a member tells others about its blocks    */
    int32_t *list;                 /* contacts to solve: of groups awake and drowsy              */
    int names;                     /* number of groups                                        */
    int awake;                     /* their number                                               */
    int sleepers;                  /* groups asleep when the step began; 0: no member has any */
} cairn_groups;

/* Which bodies sleep. */
typedef struct cairn_rest {
    bool by_groups; /* sleeping groups are not solved again */
    cairn_groups groups;
    uint8_t *asleep; /* of each body: it sleeps when the step ends; NULL: none does */
    int32_t *calm;   /* of each body: steps in a row that it was slow; NULL: all 0  */
} cairn_rest;

/* Impulses and velocities: the solution of the one-step problem. */
typedef struct cairn_answer {
    cairn_problem problem; /* as it was solved: with the final mu and bias                       */
    cairn_balls balls;     /* of `problem`                                                       */
    const double *v_old;   /* as in cairn_posed                                                  */
    const double *arc;     /* as in cairn_posed                                                  */
    const double *demand;  /* as in cairn_posed                                                  */
    const uint8_t *corrects;
    const cairn_vec3 *added;
    const double *eased; /* of blocks of rows: share of `demand` that was given up: restrain.c   */
    double *r, *s, *v, *u; /* impulses, sliding correction, velocities of blocks and of contacts */
    double *mu;            /* of `problem`, if friction depends on the sliding speed             */
    const double *s_held;  /* s as data of the law; NULL: s = 0 (convex) or |u_T| (Coulomb)      */
    uint8_t *exact;        /* scheme auto: marks contacts with exact friction; else NULL         */
    double *compression;   /* the part of r that belongs to impacts: the first phase by Poisson's
                              law, or the impacts before the solve; NULL: none */
    double *floor;         /* N s, Poisson's law: least normal impulses of the second phase */
    cairn_impacts impacts; /* resolved within the step, before the solve                    */
    cairn_rest rest;
    cairn_problem shown;   /* if a step has phases: the problem to show to the user ... */
    const double *shown_r; /* ... and its impulses; NULL: `problem` and `r`             */
} cairn_answer;

/* Penetration correction: the displacement in addition to h v. It also contains -y of impacts
 * within the step (chain.c). */
typedef struct cairn_mending {
    double *shift;        /* m/s, of blocks: the displacement over h; NULL: none       */
    const double *mended; /* m/s: the part of it that corrects penetration; NULL: none */
    uint8_t *shifted;     /* of each block: > 0 if its shift may differ from 0         */
    double *correction;   /* normal impulse of each contact that gives it; NULL: none  */
    double *impulses;     /* all components, kept for joints; NULL: none               */
} cairn_mending;

/* Everything that moves bodies, once the solve is done. */
typedef struct cairn_moves {
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_answer *answer;
    const cairn_mending *mending;
} cairn_moves;

/* A dynamic body at the end of the step. */
typedef struct cairn_body_end {
    int body;
    bool swings;              /* it moves with the mean of the old and new velocity      */
    cairn_vec3 v[2];          /* velocity, and angular velocity in the body frame        */
    const cairn_swing *swing; /* NULL: it does not swing                                 */
    const double *behind;     /* of all blocks: y of impacts within the step; NULL: none */
} cairn_body_end;

/* The poses at the end of the step. The arrays are x_next, q_next and angle_next of the free
 * motion, which already hold the driven bodies; the arrival fills in all others. */
typedef struct cairn_arrival {
    cairn_vec3 *x;
    cairn_quat *q;
    double *angle;
    cairn_lattice cell;     /* the periodic cell at that time                                   */
    bool far;               /* a body may have moved farther than its size, relative to another */
    const uint8_t *shifted; /* of each block: > 0 if it moved by more than h v; NULL: none did  */
    uint8_t *pushed; /* of each body: pushed by a contact or joint, or stopped by sleep; NULL: no
                        angular velocity changes without being pushed */
} cairn_arrival;

/* ---- small functions ------------------------------------------------------------------------ */

enum { CAIRN_AHEAD = 16 }; /* how many bodies or contacts ahead loops prefetch */

/* The block of a body in the problem; -1: the body is held. */
static inline int cairn_step_block(const cairn_step *step, int body)
{
    return body < step->held ? -1 : body - step->held;
}

static inline bool cairn_mechanism_swings(const cairn_mechanism *joints, int body)
{
    return joints->swing && joints->swing[body].swings;
}

/* rad/s, body frame: what counts as the angular velocity of a dynamic body before the step. */
static inline cairn_vec3 cairn_turning_before(const cairn_step *step,
                                              const cairn_free_motion *motion,
                                              const cairn_mechanism *joints, int body)
{
    bool swings = cairn_mechanism_swings(joints, body);
    return swings ? step->world->bodies.omega[body] : motion->omega_coast[body];
}

static inline bool cairn_balls_hold(const cairn_balls *balls, int block)
{
    return balls->all || (balls->radius && balls->radius[block] >= 0);
}

/* The end of a range of the problem without the rows of joints, which follow the contacts. */
static inline int cairn_step_contacts(const cairn_step *step, int end)
{
    int contacts = step->world->contacts.count;
    return end < contacts ? end : contacts;
}

/* Whether a dynamic body is displaced in addition to h v. */
static inline bool cairn_mending_moves(const cairn_step *step, const cairn_mending *mending,
                                       int body)
{
    return mending->shift && mending->shifted[body - step->held];
}

/* integrate.c: the linear velocity of a dynamic body, and its angular velocity in the body frame,
 * taken from an array x over all blocks. */
cairn_vec3 cairn_block_moving(const cairn_step *step, int body, const double *x);
cairn_vec3 cairn_block_turning(const cairn_step *step, const cairn_balls *balls, int body,
                               const double *x);
/* Both, from the velocities of the answer. */
void cairn_answer_velocity(const cairn_step *step, const cairn_answer *answer, int body,
                           cairn_vec3 *v, cairn_vec3 *omega);

/* step.c: one substep, which is the whole step if that need not be divided, or all substeps up to
 * the end of the step. */
cairn_status cairn_step_take(cairn_world *world, const cairn_step_options *options, bool to_end,
                             cairn_step_report *report);

/* ---- the stages, in their order ------------------------------------------------------------- */

/* integrate.c: what is determined once. Empties the list of contacts of the world. */
cairn_step cairn_step_begin(cairn_world *world, const cairn_step_options *options,
                            cairn_step_report *report);
/* correct.c */
cairn_overlaps cairn_overlaps_find(const char *name);

/* integrate.c: v_free = v + h M^-1 F, the poses of driven bodies at the end, and the poses at which
 * contacts are evaluated. */
cairn_status cairn_step_free_motion(const cairn_step *step, cairn_free_motion *motion);
/* Set the pose at which a body is evaluated, `ahead` s after the start of the step. */
void cairn_body_place(const cairn_step *step, int body, double ahead, cairn_free_motion *motion);
/* The mean of the angular velocity of a body before and after the step if a further moment, N m in
 * the body frame, acted on it. */
cairn_vec3 cairn_body_mean_turning(const cairn_step *step, const cairn_free_motion *motion,
                                   int body, cairn_vec3 moment);
/* motion.c: fails with CAIRN_NOT_FINITE, and names the body, if the free motion is not finite. */
cairn_status cairn_step_check_free_motion(const cairn_step *step, const cairn_free_motion *motion);

/* contacts.c: the candidates and their contact law. Before the first attempt there are none, and
 * the contacts of the last step are the warm start. */
cairn_candidates cairn_candidates_none(const cairn_world *world, double h);
cairn_status cairn_step_candidates(const cairn_step *step, const cairn_free_motion *motion,
                                   cairn_candidates *candidates);
/* How far each body may move. */
cairn_status cairn_step_reach(const cairn_step *step, const cairn_free_motion *motion,
                              cairn_candidates *candidates);
/* material.c: the law of two materials. It is cached, because consecutive contacts mostly have the
 * same materials. cairn_contact_meet sets the law of contact j, whose geometry is already there. */
typedef struct cairn_contact_law {
    int a, b; /* materials; -1: none yet */
    bool poisson;
    cairn_material_def def;
} cairn_contact_law;

void cairn_contact_meet(cairn_world *world, const cairn_quat *q_eval, int j,
                        cairn_contact_law *known);
/* The velocity of a body's surface relative to the body, in the contact plane, as on a conveyor
 * belt; q: the orientation of the body. */
cairn_vec3 cairn_surface_velocity(const cairn_body_store *bodies, cairn_quat q, int body,
                                  cairn_vec3 normal);
/* The second tangent n x t1; the directions of the sliding rows (n, t1, t2), scaled if friction is
 * anisotropic; and the axes of the rolling and spinning rows. */
cairn_vec3 cairn_contact_bitangent(const cairn_contact_store *contacts, int j);
void cairn_contact_rows(const cairn_contact_store *contacts, int j, cairn_vec3 row[3]);
void cairn_contact_turns(const cairn_step *step, int j, cairn_vec3 turn[3]);
/* D: the factors by which the rows of the two tangents are multiplied. */
void cairn_contact_shares(const cairn_contact_store *contacts, int j, double share[2]);

/* joint_stage.c: the rows of joints. joint_rows.c: the inertia that motors feel, and what joints
 * add to moments of inertia. swing.c: which bodies move to second order; whether v^ of their joint
 * is a prediction, from the rates of its rows; and those for which it is not. */
cairn_status cairn_step_joints(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_mechanism *joints);
cairn_status cairn_joints_feel(cairn_world *world);
cairn_status cairn_joints_tension(const cairn_step *step, cairn_mechanism *joints);
cairn_status cairn_joints_find_swings(const cairn_step *step, const cairn_free_motion *motion,
                                      cairn_mechanism *joints);
bool cairn_joint_is_foreseen(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_mechanism *joints, const cairn_joint *joint,
                             const cairn_row *rows, const double *rates);
void cairn_joint_strays(const cairn_joint *joint, cairn_mechanism *joints);
void cairn_joints_stop_strays(const cairn_world *world, cairn_mechanism *joints);

/* assemble.c: the one-step problem */
cairn_status cairn_step_pose(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_candidates *candidates, const cairn_mechanism *joints,
                             cairn_posed *posed);
/* The gap at the start of the step, extrapolated from its linearisation at the pose of
 * evaluation. */
double cairn_contact_gap(const cairn_step *step, const cairn_free_motion *motion, int j);
/* m/s: the bias b that keeps a gap open; `overlap` <= 0 m is the part of the gap that is a real
 * overlap. After rounds of impacts the gap at the start of the straightened path, g' = g - H_N y,
 * may be negative without any overlap, and u_N >= -g'/h keeps the bodies apart. At most `leaves`
 * m/s of separation is demanded (chain.c). */
double cairn_contact_apart(const cairn_step *step, double gap, double overlap, double leaves);
/* m/s: the normal velocity of a contact before the step. */
double cairn_contact_before(const cairn_step *step, const cairn_free_motion *motion, int j);
/* arc.c: whether some contacts may need a term of second order; m/s: this term of contact j, at
 * most 0 */
bool cairn_step_has_arcs(const cairn_step *step);
double cairn_contact_arc(const cairn_step *step, const cairn_free_motion *motion, int j);
/* The place in H of the rows of contact or block j, on one side (0: body a, 1: body b). */
double *cairn_posed_rows(const cairn_posed *posed, int j, int side);
/* Whether the problem can use the columns of the contact list (mu, impulses, velocities) without a
 * copy, because both have the same layout. */
bool cairn_posed_shares(const cairn_step *step, const cairn_mechanism *joints);
/* assemble.c: which contacts need no stored rows */
cairn_status cairn_step_find_balls(const cairn_step *step, const cairn_free_motion *motion,
                                   bool plain, const cairn_mechanism *joints, cairn_posed *posed);
/* material.c: v_free -= h c M^-1 H' n for adhesion, once the rows of contact j are filled */
cairn_status cairn_contact_adhere(const cairn_step *step, const cairn_free_motion *motion, int j,
                                  cairn_posed *posed);
/* joint_stage.c: write the rows of joints into the problem; joint_rows.c: the moments that they
 * add */
cairn_status cairn_joints_pose(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, cairn_posed *posed);
void cairn_joints_steady(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed);

/* scales.c: m/s: the error that the tolerance allows to contacts that carry only weights */
double cairn_step_promised(const cairn_step *step);
/* scales.c: m: a gap that counts as closed, half of what the tolerance allows in a step */
double cairn_step_closed(const cairn_step *step, double size);
/* scales.c: the groups of the answer's problem, and the velocities to which the errors of its
 * contacts are related; once it has its v_free and b */
cairn_status cairn_step_scales(const cairn_step *step, cairn_answer *answer);
/* The same once b or mu has changed; nothing where the problem has no scales. */
void cairn_step_rescale(const cairn_step *step, cairn_answer *answer);

/* impulses.c: the warm start: r and s of contacts and joints that existed before, else 0 */
cairn_status cairn_step_first_guess(const cairn_step *step, const cairn_candidates *candidates,
                                    const cairn_mechanism *joints, const cairn_posed *posed,
                                    cairn_answer *answer);
/* joint_stage.c: the impulses of joints from number `entry` of r on */
void cairn_joints_first_guess(const cairn_step *step, double ratio, double *r);

/* impulses.c: compute r, v and u by the scheme */
cairn_status cairn_step_impulses(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer);
/* chain.c: resolve impacts one after the other; *any: whether there were any. If so, the problem of
 * the answer then starts from the state that they leave. */
cairn_status cairn_step_chain(const cairn_step *step, cairn_answer *answer, bool *any);
/* chain.c: how much forces change the speed of either body of contact j in a step, m/s. */
double cairn_contact_forced(const cairn_problem *p, const double *v_old, int dimension, int j);
/* H_N y of contact j: by how much its gap is smaller than g + h u_N, because y is subtracted. */
double cairn_contact_behind(const cairn_problem *p, int j, const double *y);

/* gain.c: the work of impulses r, after which contacts have the velocities u. */
typedef struct cairn_work {
    const cairn_problem *p;
    const double *r, *u;
    const double *v;      /* m/s, of blocks: velocities after; NULL: not known                 */
    const double *before; /* m/s, of blocks: velocities before, without forces                 */
    const double *push;   /* m/s, of contacts: added to the mean of u_N before and after; NULL: 0 */
    const double *earlier; /* J, of contacts: work that they did earlier in the step; NULL: 0   */
    const uint8_t *joined; /* of contacts: 1 if they join their bodies to groups; NULL: where r or
                              `earlier` is not 0, and rows of joints                            */
    const double *demand; /* m/s, of rows of joints: the part of u that their laws ask for        */
    const uint8_t *corrects; /* of rows: as in cairn_posed; NULL: there are none */
    const cairn_vec3 *added; /* of bodies: as in cairn_posed */
    const cairn_free_motion *motion; /* for the servos of cells; NULL: there are none */
    bool twice;   /* r acts in two phases, so that its friction may drive what slides in the end  */
    double share; /* of the energy of a group: less than this is no gain               */
} cairn_work;

/* Groups that gain more energy than the law allows, of all members, and by how much. */
typedef struct cairn_gain {
    int64_t groups;
    double made; /* J */
} cairn_gain;

/* Marks the contacts of the bodies whose group gains energy. */
cairn_status cairn_work_gains(const cairn_step *step, const cairn_work *work, uint8_t *gains,
                              cairn_gain *gain);
/* restrain.c: solves again where contacts create energy, more closely or with less restitution */
struct cairn_solving;
struct cairn_phase;
typedef struct cairn_bounce {        /* an impact by Poisson's law                               */
    const cairn_problem *first;      /* the problem, with the velocities of the compression      */
    const double *e;                 /* of contacts: restitution; 0: they do not bounce          */
    const struct cairn_phase *phase; /* how the compression is solved                            */
    const cairn_step *step;          /* each phase has its own scales; NULL: there are none      */
} cairn_bounce;
cairn_status cairn_step_restrain(const cairn_step *step, const cairn_free_motion *motion,
                                 const struct cairn_solving *solving, const cairn_bounce *bounce,
                                 cairn_answer *answer);

/* correct.c: penetration correction by a displacement, not by velocity; in units of
 * displacement/h */
cairn_status cairn_step_mend(const cairn_step *step, const cairn_answer *answer,
                             cairn_mending *mending);

/* How that problem is solved, and which overlaps are corrected. */
cairn_solve_options cairn_mending_options(const cairn_step *step);
cairn_pile_overlaps cairn_mending_rule(const cairn_step *step);

/* contacts.c: whether a body moved beyond its reach; its reach is then enlarged */
cairn_status cairn_step_outran(const cairn_step *step, const cairn_moves *moves,
                               cairn_candidates *candidates, bool *outran);
/* The longest time step in which no body moves farther than its own radius, and the body that
 * limits it; half of this time step and -1 if no body does. */
double cairn_step_needed(const cairn_step *step, const cairn_moves *moves, int *body);
/* impulses.c: keep the contacts and impulses of this attempt as the warm start of the next one, and
 * give the scratch of this attempt back */
cairn_status cairn_step_set_aside(const cairn_step *step, const cairn_answer *answer,
                                  cairn_candidates *candidates);
/* limit.c: whether the linearised gaps hold at the end of the step; if not, the next evaluation is
 * there */
bool cairn_step_linearised(const cairn_step *step, const cairn_answer *answer,
                           cairn_free_motion *motion);

/* certificate.c: how well the law holds; also the share of contacts in the energy ledger. If cones
 * have edges, v and u are replaced by those that the judge computes. */
cairn_status cairn_step_certify(const cairn_step *step, cairn_answer *answer);
/* Whether all numbers about contacts are finite. */
bool cairn_report_is_finite(const cairn_step_report *report);
/* Judge by exact Coulomb friction with circular cones, whatever cones the problem has; v and u are
 * set to those of r. */
void cairn_judge_circular(const cairn_problem *p, const double *r, double *v, double *u,
                          cairn_judgement *judgement);
/* certificate.c: entries of the ledger, summed range by range so that threads do not change the
 * sums */
void cairn_energy_add_contacts(const cairn_step *step, const cairn_answer *answer, int begin,
                               int end, cairn_energy *energy);
void cairn_energy_add_body(const cairn_step *step, const cairn_free_motion *motion,
                           const cairn_body_end *end, cairn_energy *energy);
/* Kinetic and potential energy of all bodies, J; of all members, if several compute the world. */
void cairn_step_energy(cairn_world *world, double *kinetic, double *potential);
/* The same after the last `entered` bodies were added. */
void cairn_step_add_energy(const cairn_world *world, int entered, double *kinetic,
                           double *potential);
void cairn_energy_add_up(const cairn_energy *sum, int ranges, cairn_energy *energy);
/* joint_stage.c, joint_rows.c: the share of joints in the ledger */
cairn_status cairn_joints_energy(const cairn_step *step, const cairn_free_motion *motion,
                                 const cairn_mechanism *joints, const cairn_answer *answer);
/* Added to the entry of the part of each body; to the first one if the world is not cut. */
void cairn_joints_steady_loss(const cairn_step *step, const cairn_moves *moves,
                              cairn_energy *energy);

/* certificate.c: what the probes of the options read, for the report */
cairn_status cairn_step_probe(const cairn_step *step, const cairn_free_motion *motion,
                              const cairn_mechanism *joints, const cairn_answer *answer);
/* What acts on one body: impulse N s, its moment about the origin N m s, and its work J. */
typedef struct cairn_push {
    cairn_vec3 impulse, moment;
    double work;
} cairn_push;
/* What one joint does to its two bodies. */
typedef struct cairn_joint_push {
    size_t joint;
    int part;           /* that counts it; 0 if the world is not cut          */
    cairn_push side[2]; /* on a and on b                                      */
    cairn_vec3 couple;  /* N m s: moment on a about the point of the joint    */
} cairn_joint_push;
typedef void cairn_joint_visit_fn(const cairn_joint_push *push, void *context);
/* The mean velocity of a body in the step, and its angular velocity in the body frame, with which
 * works are counted. Fixed bodies have none. */
void cairn_step_mean_velocity(const cairn_step *step, const cairn_moves *moves, int body,
                              cairn_vec3 velocity[2]);
/* joint_stage.c: call `visit` for each joint that acts here, in their order */
void cairn_joints_visit(const cairn_step *step, const cairn_moves *moves,
                        cairn_joint_visit_fn *visit, void *context);

/* motion.c: poses at the end of the step, and the share of joints and bodies in the energy ledger;
 * fails with CAIRN_NOT_FINITE, and names the body, if a pose is not finite */
cairn_status cairn_step_arrive(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, const cairn_answer *answer,
                               cairn_arrival *arrival);
/* Whether every entry of the ledger of a step is finite. */
bool cairn_energy_is_finite(const cairn_energy *energy);
/* integrate.c: the pose of one dynamic body at the end of the step */
void cairn_body_arrive(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_body_end *end, cairn_arrival *arrival);
/* integrate.c: which bodies are pushed; whether a body rotates by its own motion and loads alone;
 * and its rotation, in the body frame, from the angular velocities before and after the step */
cairn_status cairn_step_find_pushed(const cairn_step *step, const cairn_free_motion *motion,
                                    const cairn_answer *answer, cairn_arrival *arrival);
bool cairn_body_turns_freely(const cairn_step *step, const cairn_free_motion *motion,
                             const uint8_t *pushed, int body);
cairn_quat cairn_free_turn(cairn_vec3 inertia, cairn_vec3 omega, cairn_vec3 next, double h);
/* correct.c: apply the penetration correction to the poses */
cairn_status cairn_step_move_apart(const cairn_step *step, const cairn_balls *balls,
                                   const cairn_mending *mending, cairn_arrival *arrival);

/* penetration.c: overlaps at the end of the step */
cairn_status cairn_step_penetration(const cairn_step *step, const cairn_free_motion *motion,
                                    const cairn_candidates *candidates, const cairn_answer *answer,
                                    const cairn_arrival *arrival);
/* The smallest gap of all pieces of two bodies, m; infinite if it is larger than `reach`. */
struct cairn_meeting; /* touch.h */
cairn_status cairn_arrival_gap(cairn_world *world, const cairn_arrival *arrival,
                               const struct cairn_meeting *couple, double reach, double *gap);
/* limit.c: refuse a step in which a body moves farther than linearised gaps are valid */
cairn_status cairn_step_limit(const cairn_step *step, const cairn_free_motion *motion, bool plain,
                              const cairn_answer *answer, const cairn_arrival *arrival);
/* joint_stage.c: refuse a step that pulls a joint apart */
cairn_status cairn_joints_limit(const cairn_step *step, const cairn_answer *answer,
                                const cairn_arrival *arrival);
/* How far the points of each body move in the step, m, in the scratch; for bodies without bounds
 * the rotation is left out. */
cairn_status cairn_answer_ways(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_answer *answer, double **out);

/* impulses.c, joint_stage.c, integrate.c: write the new state. None of these can fail. */
void cairn_step_store_contacts(const cairn_step *step, const cairn_answer *answer);
void cairn_contact_store_result(const cairn_step *step, const cairn_answer *answer, int j);
void cairn_step_store_joints(const cairn_step *step, const cairn_mechanism *joints,
                             const cairn_answer *answer, const cairn_mending *mending);
void cairn_step_commit(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_answer *answer, const cairn_arrival *arrival);
void cairn_step_commit_joints(const cairn_step *step, const cairn_answer *answer);

/* sleep.c: which bodies sleep */
/* The groups of the step, and which of them must be solved, judged by the impulses of the warm
 * start. If some body sleeps, v and u of the answer are then those of these impulses. */
cairn_status cairn_rest_find_groups(const cairn_step *step, const cairn_free_motion *motion,
                                    double tolerance, cairn_answer *answer);
/* Decide, with the velocities of the solution, which bodies sleep at the end of the step. */
cairn_status cairn_rest_settle(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer);
/* Set the velocities of sleeping bodies and of their contacts to 0. */
void cairn_rest_hold_still(const cairn_step *step, cairn_answer *answer);

/* ---- piles ----------------------------------------------------------------------------------- */

/* pile.c: the stages of a step of balls and planes on a device: contacts and impulses; certificate;
 * poses, overlaps and limits at the end of the step; the new state. */

/* The back end that has such stages for this world and these options; NULL: the host's are used. */
const cairn_backend *cairn_pile_backend(cairn_world *world, const cairn_step_options *options);
/* Candidates, impulses, velocities and penetration correction of one attempt; whether a body moved
 * beyond its reach; the time step that would be short enough for a body. */
cairn_status cairn_pile_velocities(const cairn_step *step, cairn_candidates *candidates);
cairn_status cairn_pile_outran(const cairn_step *step, bool *outran);
double cairn_pile_needed(const cairn_step *step, int *body);
cairn_status cairn_pile_set_aside(const cairn_step *step, cairn_candidates *candidates);
cairn_status cairn_pile_certify(const cairn_step *step, cairn_candidates *candidates);
/* Poses at the end, energies, deepest overlap and limits. */
cairn_status cairn_pile_arrive(const cairn_step *step, const cairn_candidates *candidates);
void cairn_pile_keep(const cairn_step *step);

/* ---- phases ---------------------------------------------------------------------------------- */

/* Impulses of a problem by the scheme: in one phase, or in the two of an impact by
 * Poisson's law. Bodies and Lagrangian systems share it; scheme.c describes the methods. */

/* Friction that depends on the sliding speed. Both functions set mu of the answer: `start` from the
 * velocities before the step, `update` from those of the answer. `update` returns the largest
 * change. */
typedef struct cairn_speed_friction {
    void (*start)(const void *context, cairn_answer *answer);
    double (*update)(const void *context, cairn_answer *answer);
    const void *context;
    double *change; /* result of the last update; output */
} cairn_speed_friction;

/* How a problem is solved. */
typedef struct cairn_solving {
    const cairn_scheme *scheme;
    cairn_solve_options options;          /* with the law of the scheme                        */
    double fixed_point_tolerance;         /* loops on s and mu: end at this change, if > 0 ... */
    int64_t max_fixed_point;              /* ... or after this number of solves                */
    double allowed;                       /* m/s, scheme auto: largest mu |u_T| left convex    */
    bool circular;                        /* Coulomb's law is judged with circular cones       */
    const cairn_speed_friction *friction; /* NULL: mu is given                                 */
    cairn_arena *scratch;
    cairn_workspace *workspace;
    cairn_solve_report *report;
    int *upgraded; /* scheme auto: number of contacts with exact friction; output */
} cairn_solving;

/* scheme.c: whether contact j slides so fast with the velocities of the answer that scheme auto
 * needs exact friction there, if the contact pushes; false for other schemes. */
bool cairn_scheme_slides_fast(const cairn_solving *s, const cairn_answer *answer, int j);

/* One way to compute r, v and u of the answer, and the judge of the result. */
typedef struct cairn_phase {
    cairn_status (*solve)(const cairn_solving *, const void *context, cairn_answer *answer);
    void (*judge)(const cairn_solving *, cairn_answer *answer, cairn_judgement *out);
    const void *context;
} cairn_phase;

extern const cairn_phase cairn_phase_whole; /* all contacts together */
/* After a solve of some contacts: judge all, and say whether all meet the tolerance. */
void cairn_judge_whole(const cairn_solving *s, cairn_answer *answer);

/* equilibrium.c: groups that can rest are held; all other contacts are solved together. */
typedef struct cairn_stillness {
    const cairn_step *step;
    const cairn_free_motion *motion;
    const int32_t *contact; /* to solve, ascending; NULL: all */
    int count;
} cairn_stillness;

cairn_phase cairn_phase_still(const cairn_stillness *by);

/* scheme.c: what scheme auto needs in addition to solve `count` of the contacts: their marks, and s
 * as data of the law by which the step is judged. The marks of the answer are 0. */
cairn_status cairn_prepare_upgrade(const cairn_solving *s, cairn_answer *answer, int count,
                                   cairn_scheme_job *job);

/* impulses.c: solve the listed contacts as a separate problem and write r and s back. Velocities
 * are not written: the judge computes those of all contacts later. */
cairn_status cairn_solve_some(const cairn_solving *s, const int32_t *contacts, int count,
                              cairn_answer *answer);

/* impulses.c: how a step is solved; friction NULL: mu does not depend on the speed. */
cairn_solving cairn_step_solving(const cairn_step *step, const cairn_speed_friction *friction);
/* The job for the solve function of a scheme, on the problem of an answer. */
cairn_scheme_job cairn_solving_job(const cairn_solving *solving, const cairn_answer *answer);
/* A phase inside the fixed-point loop on speed-dependent friction. */
cairn_status cairn_phase_with_law(const cairn_solving *solving, const cairn_phase *phase,
                                  cairn_answer *answer);

/* Whether a contact hits. `before` and `free` are its normal velocities before the step and without
 * contact, `closing` the velocity that must close the gap within the step; all in m/s. */
bool cairn_impact_hits(double before, double free, double closing, double gap, double h);
/* Poisson's law: the compression, then the decompression, which solves the problem of the answer. r
 * is the sum of both. */
cairn_status cairn_impact_solve(const cairn_solving *solving, const cairn_bounce *bounce,
                                cairn_answer *answer);

/* ---- cells (cell.c) -------------------------------------------------------------------------- */

/* Replace the free motion of the walls that cells move. */
cairn_status cairn_step_control(const cairn_step *step, cairn_free_motion *motion);
/* Set their inverse masses in the problem. */
void cairn_servos_pose(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_posed *posed);
/* After the solve: the impulses on all walls, and the forces that given velocities needed. */
cairn_status cairn_step_feel(const cairn_step *step, const cairn_answer *answer,
                             cairn_free_motion *motion);
/* Add the loss in the damping of a wall. */
void cairn_servos_add_energy(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_body_end *end, cairn_energy *energy);
/* After the bodies have moved: what the cells measure. */
void cairn_step_commit_cells(const cairn_step *step, const cairn_free_motion *motion);

/* ---- Lagrangian systems ---------------------------------------------------------------------- */

struct cairn_lagrange {
    cairn_lagrange_system system;
    double time;
    double *q, *v; /* coordinates                                      */
    double *r;     /* dimension per contact: impulses of the last step */
    double *s;     /* per contact: sliding correction of the last step */
    cairn_arena owned, scratch;
    cairn_workspace *workspace;
};

#endif
