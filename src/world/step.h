/* step.h - a step as a row of values: each stage is a function from the values before to the next.
 *
 *     free motion -> candidates -> joints -> posed -> answer -> mending -> arrival
 *
 * What a stage reads is a const pointer, what it makes the one pointer that is not. Beside that a
 * stage writes lines of the report, and those of candidates and of the new state the world. All
 * arrays are in the scratch of the world. step.c shows the row. */
#ifndef CAIRN_WORLD_STEP_H
#define CAIRN_WORLD_STEP_H

#include "base/prefetch.h"
#include "world/scheme.h"
#include "world/world.h"

/* What becomes of overlaps: cairn_step_options.overlaps. */
typedef enum cairn_overlaps {
    CAIRN_OVERLAPS_MOVE,
    CAIRN_OVERLAPS_PUSH,
    CAIRN_OVERLAPS_KEEP
} cairn_overlaps;

/* ---- the values ----------------------------------------------------------------------------- */

/* What is asked once, and read by all. */
typedef struct cairn_step {
    cairn_world *world;
    const cairn_step_options *options;
    double h; /* s                                                        */
    const cairn_scheme *scheme;
    const cairn_broad_phase *broad;
    cairn_overlaps overlaps;
    int linearisations; /* at most, at q + h v^; 0: contacts are those of the start */
    int held;           /* rows of bodies that are not dynamic: the first ones              */
    int blocks;         /* in the problem: the dynamic bodies, in the order of their rows   */
    int block_size;     /* 3 or 6                                                   */
    int components;     /* of a contact in the problem, rolling and spinning ones   */
    int rolling, spinning;
    cairn_step_report *report;
} cairn_step;

/* Motion without contact, and where contacts are evaluated; of each body. */
typedef struct cairn_free_motion {
    cairn_vec3 *v_free, *omega_free;
    cairn_vec3 *gyroscopic;     /* N m, body frame: what the implicit midpoint rule used */
    cairn_vec3 *force, *torque; /* loads: N; N m in the body frame                       */
    cairn_vec3 *x_eval;         /* where contacts are evaluated: now, at mid-step, or ... */
    cairn_quat *q_eval;
    cairn_vec3 *v_eval, *omega_eval; /* ... with this v^, of dynamic bodies, at q + h v^ */
    cairn_vec3 *x_next;              /* where driven bodies will be                      */
    cairn_quat *q_next;
    double *angle_next;
} cairn_free_motion;

/* What the candidate contacts were found with, and what impulses they start from; they themselves
 * are cairn_world.contacts. */
typedef struct cairn_candidates {
    double *reach;                   /* m: how far each body may move in this step               */
    bool plain;                      /* there are balls and planes alone                         */
    const cairn_contact_store *warm; /* whose impulses to start from                             */
    double warm_ratio;               /* time step now over the one of `warm`                     */
    cairn_contact_store aside;       /* those of the last attempt                                */
    cairn_arena_moment
        before_attempts; /* what is taken after it counts for one attempt alone      */
} cairn_candidates;

/* A body in a step of second order, see swing.c: half a step on, and where it is about to be. */
typedef struct cairn_swing {
    bool swings;
    cairn_vec3 x_mid, x_end; /* m */
    cairn_quat q_mid, q_end;
    cairn_vec3 v_end, omega_end;
    cairn_vec3 force, moment; /* N; N m, body frame of mid-step: of joints in the step before   */
    cairn_vec3 omega_free;    /* rad/s: instead of the free motion's                            */
    cairn_vec3 gyroscopic;    /* N m, body frame: likewise                                      */
} cairn_swing;

/* Joints in a step. */
typedef struct cairn_mechanism {
    cairn_row *rows;    /* CAIRN_JOINT_ROWS of each joint                                  */
    int blocks;         /* that joints take in the problem, after the contacts             */
    cairn_vec3 *added;  /* kg m^2 that the moments of bodies get, see joint_tension.c      */
    cairn_swing *swing; /* of each body: how it moves by swing.c; NULL: none does          */
} cairn_mechanism;

/* Which blocks of the problem are balls: their angular velocity is in space axes. */
typedef struct cairn_balls {
    double *radius; /* m: of each block that is a ball, else -1; NULL: none is one     */
    bool all;       /* every block is a ball, and every contact one of balls           */
} cairn_balls;

/* The one-step problem, and the arrays behind it. */
typedef struct cairn_posed {
    cairn_problem problem;
    cairn_balls balls;
    double *mass_inverse, *v_free, *H, *w, *b, *mu, *mu_rolling, *mu_spinning;
    int32_t *block;   /* two of each contact                                                */
    int32_t *rows;    /* of each contact: its place in H; -1: follows from n; NULL: j       */
    int stored;       /* contacts and blocks of joints whose rows are in H                  */
    uint8_t *bounded; /* rows of joints; NULL where there are none, like what follows       */
    double *lower, *upper, *compliance;
    double *v_old; /* velocities of blocks before the step                               */
} cairn_posed;

/* Impacts that a step resolved one after the other, and what they leave; see chain.c. */
typedef struct cairn_impacts {
    int count;
    int32_t *round, *contact; /* round: from 1                                            */
    double *time;             /* s: after the step began                                  */
    double *impulse;          /* N s, components each                                     */
    double *total;            /* N s, of contacts: sums of them; NULL: there were none    */
    double *behind;           /* of blocks: y, the way that they lack for it; NULL: none  */
    uint8_t *struck;          /* of blocks: some impact was theirs; NULL: nobody's        */
    double *farthest;         /* m, of blocks: from x, at their impacts; NULL: none       */
} cairn_impacts;

/* Bodies joined by candidate contacts, see sleep.c. */
typedef struct cairn_groups {
    int32_t *first;            /* of each block: the first block of its group               */
    struct cairn_group *group; /* of each block that is first                               */
    int32_t *list;             /* contacts to be solved: of groups awake, then of drowsy ones */
    int awake;                 /* contacts of groups awake                                  */
    int sleepers;              /* groups that slept when the step began                     */
} cairn_groups;

/* Who sleeps. */
typedef struct cairn_rest {
    bool by_groups; /* what sleeps is not solved again                          */
    cairn_groups groups;
    uint8_t *asleep; /* of each body: rests when the step ends; NULL: nobody     */
    int32_t *calm;   /* of each body, after the step; NULL: 0                    */
} cairn_rest;

/* Impulses and velocities. */
typedef struct cairn_answer {
    cairn_problem problem; /* as it was solved: with the mu and the bias that were found with it */
    cairn_balls balls;     /* of it                                                              */
    const double *v_old;   /* velocities of blocks before the step                               */
    double *r, *s, *v, *u; /* impulses, sliding, velocities of blocks and contacts               */
    double *mu;            /* of `problem`, where friction depends on the sliding speed          */
    const double *s_held;  /* the s of the law judged by; NULL: 0 or the law's own               */
    uint8_t *exact;        /* scheme auto: marks of contacts with exact friction; else NULL      */
    double *compression;   /* what r holds of impacts: of the first phase by Poisson's law, or of
                              those before the solve; NULL: none                                 */
    double *floor;         /* Poisson's law: least normal impulses of its second phase, N s      */
    cairn_impacts impacts; /* within the step, before the solve                                  */
    cairn_rest rest;
    cairn_problem shown;   /* where a step has phases: the problem to show ...                   */
    const double *shown_r; /* ... and its impulses; NULL: `problem` and `r`                      */
} cairn_answer;

/* The displacement beside h v. */
typedef struct cairn_mending {
    double *shift;          /* m/s: it over h; NULL: none                                   */
    const double *mended;   /* m/s: the part of it that mends overlaps; NULL: none          */
    const uint8_t *shifted; /* of each block: > 0 where the shift can be other than 0       */
    double *correction;     /* its normal impulse of each contact; NULL: none               */
    double *impulses;       /* all its impulses; NULL: none                                 */
} cairn_mending;

/* What moves bodies, once the solve is done. */
typedef struct cairn_moves {
    const cairn_free_motion *motion;
    const cairn_mechanism *joints;
    const cairn_answer *answer;
    const cairn_mending *mending;
} cairn_moves;

/* A dynamic body where the step ends. */
typedef struct cairn_body_end {
    int body;
    bool swings;                  /* it moves with the mean of both velocities               */
    cairn_vec3 v[2];              /* velocity, and angular velocity in the body frame        */
    const cairn_vec3 *gyroscopic; /* N m, body frame                                         */
    const double *behind;         /* of all blocks: y, after impacts within the step; NULL   */
} cairn_body_end;

/* Where bodies will be. The arrays are those of driven bodies in the free motion, with all others
 * in them. */
typedef struct cairn_arrival {
    cairn_vec3 *x;
    cairn_quat *q;
    double *angle;
    bool far;               /* some body may have moved by more than its size relative to another */
    const uint8_t *shifted; /* of each block: > 0 where it was moved beside h v; NULL: nowhere    */
    uint8_t *pushed; /* of each body: by a contact or a joint, or stopped; NULL: nobody's angular
                        velocity changes by itself                               */
} cairn_arrival;

/* ---- small questions ------------------------------------------------------------------------ */

enum { CAIRN_AHEAD = 16 }; /* bodies or contacts between asking for memory and using it */

/* The block of a body in the problem; -1: it is not dynamic. */
static inline int cairn_step_block(const cairn_step *step, int body)
{
    return body < step->held ? -1 : body - step->held;
}

static inline bool cairn_mechanism_swings(const cairn_mechanism *joints, int body)
{
    return joints->swing && joints->swing[body].swings;
}

static inline bool cairn_balls_hold(const cairn_balls *balls, int block)
{
    return balls->all || (balls->radius && balls->radius[block] >= 0);
}

/* Whether a dynamic body is moved beside h v. */
static inline bool cairn_mending_moves(const cairn_step *step, const cairn_mending *mending,
                                       int body)
{
    return mending->shift && mending->shifted[body - step->held];
}

/* Out of the numbers x of all blocks: the velocity of a dynamic body; its angular velocity in the
 * body frame. integrate.c */
cairn_vec3 cairn_block_moving(const cairn_step *step, int body, const double *x);
cairn_vec3 cairn_block_turning(const cairn_step *step, const cairn_balls *balls, int body,
                               const double *x);
/* Both, as they were found. */
void cairn_answer_velocity(const cairn_step *step, const cairn_answer *answer, int body,
                           cairn_vec3 *v, cairn_vec3 *omega);

/* ---- the stages, in their order ------------------------------------------------------------- */

/* begin.c: what is asked once. The scratch of the world and its contacts start anew. */
cairn_step cairn_step_begin(cairn_world *world, const cairn_step_options *options,
                            cairn_step_report *report);
/* correct.c */
cairn_overlaps cairn_overlaps_find(const char *name);

/* integrate.c: v_free = v + h M^-1 F, where driven bodies will be, where contacts are evaluated */
cairn_status cairn_step_free_motion(const cairn_step *step, cairn_free_motion *motion);
/* Where a body is evaluated `ahead` s on. */
void cairn_body_place(const cairn_step *step, int body, double ahead, cairn_free_motion *motion);
/* The mean of the angular velocity of a body before and after the step if a moment, N m in its
 * frame, acted as well. */
cairn_vec3 cairn_body_mean_turning(const cairn_step *step, const cairn_free_motion *motion,
                                   int body, cairn_vec3 moment);
/* motion.c: fails with CAIRN_NOT_FINITE, and names the body, where the free motion is no number. */
cairn_status cairn_step_check_free_motion(const cairn_step *step, const cairn_free_motion *motion);

/* contacts.c: candidates and their law; before the first attempt there are none, and those of the
 * last step are the warm start */
cairn_candidates cairn_candidates_none(const cairn_world *world, double h);
cairn_status cairn_step_candidates(const cairn_step *step, const cairn_free_motion *motion,
                                   cairn_candidates *candidates);
/* surface.c: the law of two materials, for contacts one after the other that mostly have the same
 * ones; and what holds at contact j, whose geometry is there */
typedef struct cairn_contact_law {
    int a, b; /* materials; -1: none yet                                                  */
    bool poisson;
    cairn_material_def def;
} cairn_contact_law;

void cairn_contact_meet(cairn_world *world, const cairn_quat *q_eval, int j,
                        cairn_contact_law *known);
/* The velocity of a body's surface relative to the body, along the contact; q: its orientation. */
cairn_vec3 cairn_surface_velocity(const cairn_body_store *bodies, cairn_quat q, int body,
                                  cairn_vec3 normal);
cairn_vec3 cairn_contact_bitangent(const cairn_contact_store *contacts, int j);
void cairn_contact_rows(const cairn_contact_store *contacts, int j, cairn_vec3 row[3]);
void cairn_contact_turns(const cairn_step *step, int j, cairn_vec3 turn[3]);
/* D: what the rows of both tangents are multiplied by. */
void cairn_contact_shares(const cairn_contact_store *contacts, int j, double share[2]);

/* joint_stage.c: the rows of joints; joint_felt.c: the inertia that motors feel; joint_tension.c:
 * what moments of inertia get; swing.c: who moves to second order */
cairn_status cairn_step_joints(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_mechanism *joints);
cairn_status cairn_joints_feel(cairn_world *world);
cairn_status cairn_joints_tension(const cairn_step *step, cairn_mechanism *joints);
cairn_status cairn_joints_find_swings(const cairn_step *step, const cairn_free_motion *motion,
                                      cairn_mechanism *joints);

/* assemble.c: the one-step problem */
cairn_status cairn_step_pose(const cairn_step *step, const cairn_free_motion *motion,
                             const cairn_candidates *candidates, const cairn_mechanism *joints,
                             cairn_posed *posed);
/* The gap at the start of the step, as its linearisation where it was evaluated has it. */
double cairn_contact_gap(const cairn_step *step, const cairn_free_motion *motion, int j);
/* m/s: b that keeps a gap, of which `overlap` <= 0 m is an overlap. After rounds of impacts the gap
 * where the path of the bodies began, g' = g - H_N y, is below 0 without any overlap, and
 * u_N >= -g'/h keeps them apart; no more than `leaves` m/s is asked for (chain.c). */
double cairn_contact_apart(const cairn_step *step, double gap, double overlap, double leaves);
/* Where the rows of block j of the problem are stored on one side. */
double *cairn_posed_rows(const cairn_posed *posed, int j, int side);
/* Whether impulses and velocities of the problem are those of the list of contacts as they are. */
bool cairn_posed_shares(const cairn_step *step, const cairn_mechanism *joints);
/* ball_rows.c: contacts that need no rows of their own */
cairn_status cairn_step_find_balls(const cairn_step *step, const cairn_free_motion *motion,
                                   bool plain, const cairn_mechanism *joints, cairn_posed *posed);
/* surface.c: v_free -= h c M^-1 H' n, once the rows of contact j are there */
cairn_status cairn_contact_adhere(const cairn_step *step, const cairn_free_motion *motion, int j,
                                  cairn_posed *posed);
/* joint_stage.c: the rows of joints in the problem; joint_tension.c: moments that it gets */
cairn_status cairn_joints_pose(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, cairn_posed *posed);
void cairn_joints_steady(const cairn_step *step, const cairn_mechanism *joints, cairn_posed *posed);

/* warm.c: the first guess: r and s of contacts and joints that were there before, 0 of others */
cairn_status cairn_step_first_guess(const cairn_step *step, const cairn_candidates *candidates,
                                    const cairn_mechanism *joints, const cairn_posed *posed,
                                    cairn_answer *answer);
/* joint_stage.c: the impulses of joints from number `entry` of r on */
void cairn_joints_first_guess(const cairn_step *step, double ratio, double *r);

/* impulses.c: r, v and u, by the scheme */
cairn_status cairn_step_impulses(const cairn_step *step, const cairn_free_motion *motion,
                                 cairn_answer *answer);
/* chain.c: impacts one after the other; whether there were any. Then the problem starts from what
 * they leave. */
cairn_status cairn_step_chain(const cairn_step *step, cairn_answer *answer, bool *any);
/* H_N y of contact j: by how much its gap is smaller than its velocity tells. */
double cairn_contact_behind(const cairn_problem *p, int j, const double *y);

/* correct.c: overlaps are mended by moving, not by velocity: the displacement over h */
cairn_status cairn_step_mend(const cairn_step *step, const cairn_answer *answer,
                             cairn_mending *mending);

/* contacts.c: whether somebody moved further than its reach, which is then larger */
cairn_status cairn_step_outran(const cairn_step *step, const cairn_moves *moves,
                               cairn_candidates *candidates, bool *outran);
/* The step in which no body moves further than its own radius, and which body asks for it; half of
 * this step and -1 when none does. */
double cairn_step_needed(const cairn_step *step, const cairn_moves *moves, int *body);
/* warm.c: start the next attempt from the impulses of this one, in the same memory */
cairn_status cairn_step_set_aside(const cairn_step *step, const cairn_answer *answer,
                                  cairn_candidates *candidates);
/* linearise.c: whether gaps hold where the step ends; if not, they are evaluated there next */
bool cairn_step_linearised(const cairn_step *step, const cairn_answer *answer,
                           cairn_free_motion *motion);

/* certificate.c: how well the law holds; also what contacts add to the energy ledger. Where cones
 * have edges v and u become those that the judge finds. */
cairn_status cairn_step_certify(const cairn_step *step, cairn_answer *answer);
/* By exact Coulomb friction, with circular cones, whatever cones the problem has; v, u: of r. */
void cairn_judge_circular(const cairn_problem *p, const double *r, double *v, double *u,
                          cairn_judgement *judgement);
/* energy.c: contacts and bodies are added by ranges */
void cairn_energy_add_contacts(const cairn_step *step, const cairn_answer *answer, int begin,
                               int end, cairn_energy *energy);
void cairn_energy_add_body(const cairn_step *step, const cairn_free_motion *motion,
                           const cairn_body_end *end, cairn_energy *energy);
void cairn_energy_add_up(const cairn_energy *sum, int ranges, cairn_energy *energy);
/* joint_stage.c, joint_tension.c: what joints add to it */
void cairn_joints_energy(const cairn_step *step, const cairn_free_motion *motion,
                         const cairn_mechanism *joints, const cairn_answer *answer);
void cairn_joints_steady_loss(const cairn_step *step, const cairn_mechanism *joints,
                              const double *v);

/* motion.c: where bodies will be, and what joints and bodies add to the energy ledger; fails with
 * CAIRN_NOT_FINITE and names the body where that is no number */
cairn_status cairn_step_arrive(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_mechanism *joints, const cairn_answer *answer,
                               cairn_arrival *arrival);
/* integrate.c: where a dynamic body will be */
void cairn_body_arrive(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_body_end *end, cairn_arrival *arrival);
/* free_turn.c: who is pushed; whether a body turns by what its own motion and loads make of it; and
 * the turn, body frame, from the angular velocities before and after the step */
cairn_status cairn_step_find_pushed(const cairn_step *step, const cairn_free_motion *motion,
                                    const cairn_answer *answer, cairn_arrival *arrival);
bool cairn_body_turns_freely(const cairn_step *step, const cairn_free_motion *motion,
                             const uint8_t *pushed, int body);
cairn_quat cairn_free_turn(cairn_vec3 inertia, cairn_vec3 omega, cairn_vec3 next, double h);
/* correct.c: moved by the displacement as well */
void cairn_step_move_apart(const cairn_step *step, const cairn_balls *balls,
                           const cairn_mending *mending, cairn_arrival *arrival);

/* penetration.c: overlaps where the bodies will be */
cairn_status cairn_step_penetration(const cairn_step *step, const cairn_free_motion *motion,
                                    const cairn_candidates *candidates, const cairn_answer *answer,
                                    const cairn_arrival *arrival);
/* The least gap of all pieces of two bodies, m; infinite where it is more than `reach`. */
cairn_status cairn_arrival_gap(cairn_world *world, const cairn_arrival *arrival, const int body[2],
                               double reach, double *gap);
/* limit.c: refuse a step in which a body goes further than linearised gaps can tell */
cairn_status cairn_step_limit(const cairn_step *step, const cairn_free_motion *motion, bool plain,
                              const cairn_answer *answer, const cairn_arrival *arrival);
/* How far the points of each body get in the step, m, in the scratch; those of what has no bounds
 * without turning. */
cairn_status cairn_answer_ways(const cairn_step *step, const cairn_free_motion *motion,
                               const cairn_answer *answer, double **out);

/* warm.c, joint_stage.c, integrate.c: the new state */
void cairn_step_store_contacts(const cairn_step *step, const cairn_answer *answer);
void cairn_contact_store_result(const cairn_step *step, const cairn_answer *answer, int j);
void cairn_step_store_joints(const cairn_step *step, const cairn_mechanism *joints,
                             const cairn_answer *answer, const cairn_mending *mending);
void cairn_step_commit(const cairn_step *step, const cairn_free_motion *motion,
                       const cairn_answer *answer, const cairn_arrival *arrival);
void cairn_step_commit_joints(const cairn_step *step, const cairn_mechanism *joints,
                              const cairn_answer *answer);

#endif
