/* world.h - the inside of a world: bodies as arrays, contacts of the last step, scratch. */
#ifndef CAIRN_WORLD_WORLD_H
#define CAIRN_WORLD_WORLD_H

#include "base/arena.h"
#include "base/prefetch.h"
#include "cairn/world.h"
#include "collide/kept.h"
#include "world/columns.h"
#include "world/joint.h"

/* Bodies, structure of arrays; index = body. Fixed and driven bodies have inverse mass 0. */
typedef struct cairn_body_store {
    int count, free_count; /* entries in use or holes; holes                              */
    int first_hole;        /* there is none before                                        */
    size_t capacity;
    size_t bytes; /* of all columns                                                      */
    CAIRN_BODY_COLUMNS(CAIRN_COLUMN_STORED)
    int32_t *near; /* room for a list of bodies, used by inlets                           */
} cairn_body_store;

/* A driven body: where it started, and its motions. */
typedef struct cairn_driven {
    int32_t body;
    cairn_vec3 x0;
    cairn_quat q0;
    double angle0;
    double since; /* s: when the body was made; the motion counts from there         */
    cairn_driver driver;
} cairn_driven;

typedef struct cairn_loaded {
    int32_t body;
    cairn_load load;
} cairn_loaded;

typedef struct cairn_inlet {
    cairn_inlet_def def;
    uint64_t state; /* of the random numbers                                  */
    int64_t released;
    double waiting; /* m: radius drawn for a body that found no place; 0: none */
} cairn_inlet;

#define CAIRN_KEY_GONE INT32_MIN /* feature of an old contact that matches no other          */

/* A contact of the step: geometry, law, and after the solve its impulse. Sorted by (smaller body,
 * larger body, pieces, feature). */
typedef struct cairn_contact_store {
    int count;
    size_t capacity;
    size_t bytes;  /* of all columns                                          */
    unsigned set;  /* of what has columns of its own: CAIRN_CONTACTS_...      */
    int moments;   /* numbers of moment and turning per contact; 0: none      */
    double *zeros; /* instead of columns that nothing has                     */
    CAIRN_CONTACT_COLUMNS(CAIRN_COLUMN_STORED)
} cairn_contact_store;

struct cairn_world {
    int dimension;
    cairn_vec3 gravity;
    double time;
    double clock_start, clock_step; /* time = clock_start + clock_count * clock_step      */
    int64_t clock_count;
    cairn_body_store bodies;
    cairn_material_def *materials;
    size_t material_count, material_capacity;
    cairn_material_def *pairs; /* material_count^2, made when materials change            */
    bool *pair_given;
    bool friction_varies;       /* some friction depends on the sliding speed                  */
    bool bouncing;              /* some pair has restitution                                   */
    cairn_surface_laws laws;    /* beyond Coulomb friction with one mu                     */
    cairn_arena friction_lists; /* of the friction laws                                      */
    cairn_driven *driven;
    size_t driven_count, driven_capacity;
    cairn_loaded *loaded;
    size_t loaded_count, loaded_capacity;
    cairn_inlet *inlets;
    size_t inlet_count, inlet_capacity;
    cairn_joint *joints;
    size_t joint_count, joint_capacity;
    uint64_t *joined; /* sorted keys of bodies that a joint keeps from meeting            */
    size_t joined_count, joined_capacity;
    cairn_contact_store contacts, last; /* of this step; of the last one, for warm start  */
    double contacts_step, last_step;    /* s: the time steps of both; 0: none yet         */
    cairn_kept_pairs kept_pairs;
    cairn_pair_list pair_list; /* of this step                                            */
    cairn_leaf_list leaf_list;
    cairn_arena scratch;        /* of one step                                             */
    cairn_problem problem;      /* of the last step, in the scratch                        */
    const double *problem_r;    /* its impulses; NULL: there is no problem                 */
    cairn_step_inputs inputs;   /* of the last step, in the scratch as well                */
    cairn_workspace *workspace; /* of the solver                                          */
    cairn_error error;
};

/* What becomes of overlaps: cairn_step_options.overlaps. */
typedef enum cairn_overlaps {
    CAIRN_OVERLAPS_MOVE,
    CAIRN_OVERLAPS_PUSH,
    CAIRN_OVERLAPS_KEEP
} cairn_overlaps;
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
typedef struct cairn_joint_stage {
    cairn_row *rows;  /* CAIRN_JOINT_ROWS of each joint                           */
    int blocks;       /* that joints take in the problem, after the contacts      */
    uint8_t *bounded; /* of the problem                                           */
    double *lower, *upper, *compliance;
    cairn_vec3 *added;  /* kg m^2 that the moments of bodies get, see joint_tension.c    */
    cairn_swing *swing; /* of each body: how it moves by swing.c; NULL: none does         */
} cairn_joint_stage;

/* Bodies joined by candidate contacts, see sleep.h. */
typedef struct cairn_groups {
    int32_t *first;            /* of each block: the first block of its group               */
    struct cairn_group *group; /* of each block that is first                               */
    int32_t *list;             /* contacts to be solved: of groups awake, then of drowsy ones */
    int awake;                 /* contacts of groups awake                                  */
    int sleepers;              /* groups that slept when the step began                     */
} cairn_groups;

/* Impacts that a step resolved one after the other; see chain.c. */
typedef struct cairn_impacts {
    int count;
    int32_t *round, *contact; /* round: from 1                                            */
    double *time;             /* s: after the step began                                  */
    double *impulse;          /* N s, dimension each                                      */
} cairn_impacts;

/* What the stages of one step pass on to each other. All arrays are scratch. */
typedef struct cairn_stage {
    cairn_world *world;
    const cairn_step_options *options;
    double h; /* s                                                        */
    const struct cairn_scheme *scheme;
    const cairn_broad_phase *broad;
    cairn_overlaps overlaps;
    const cairn_contact_store *warm; /* whose impulses to start from                        */
    cairn_contact_store aside;       /* those of the last attempt, in the scratch                */
    double warm_ratio;               /* time step now over the one of `warm`                     */
    bool far;       /* some body may have moved by more than its size relative to another        */
    int32_t *block; /* of each body in the problem; -1: not dynamic             */
    int blocks;
    int block_size; /* 3 or 6                                                   */
    int components; /* of a contact in the problem, rolling and spinning ones   */
    int rolling, spinning;
    cairn_vec3 *v_free, *omega_free; /* of each body                                        */
    cairn_vec3 *gyroscopic;          /* N m, body frame: what the implicit midpoint rule used    */
    cairn_vec3 *force, *torque;      /* loads: N; N m in the body frame                          */
    bool plain;                      /* there are balls and planes alone                         */
    cairn_arena_moment before_attempts; /* what is taken after it counts for one attempt alone  */
    double *reach;      /* m: how far each body may move in this step               */
    int linearisations; /* at most, at q + h v^; 0: contacts are those of the start */
    cairn_vec3 *x_eval; /* where contacts are evaluated: now, at mid-step, or ...   */
    cairn_quat *q_eval;
    cairn_vec3 *v_eval, *omega_eval; /* ... with this v^, of dynamic bodies, at q + h v^         */
    cairn_vec3 *x_next;              /* where bodies will be: driven ones at once, others after  */
    cairn_quat *q_next;
    double *angle_next;
    cairn_joint_stage joints;
    cairn_problem problem;
    double *mass_inverse, *v_problem, *H, *w, *b, *mu; /* behind `problem`                  */
    double *mu_rolling, *mu_spinning;                  /* likewise                          */
    double *radius;         /* of each block that is a ball, else -1; NULL: none is one     */
    bool all_balls;         /* every block is a ball, and every contact one of balls        */
    int32_t *rows;          /* of each contact: its place in H; -1: follows from n; NULL: j */
    int stored;             /* contacts and blocks of joints whose rows are in H            */
    int32_t *contact_block; /* likewise                                                 */
    double *r, *s, *v, *u;  /* impulses, sliding, velocities of blocks and contacts     */
    const double *s_held;   /* the s of the law judged by; NULL: 0 or the law's own     */
    double *v_old;          /* velocities of blocks before the step                     */
    uint8_t *exact;         /* scheme auto: marks of contacts with exact friction; else NULL */
    double *shift;          /* m/s: displacement over h beside h v; NULL: none          */
    const double *mended;   /* m/s: the part of it that mends overlaps; NULL: none      */
    const uint8_t *shifted; /* of each block: > 0 where the shift can be other than 0   */
    double *correction;     /* its normal impulse of each contact; NULL: none           */
    double *shift_r;        /* all its impulses; NULL: none                             */
    double *compression;    /* an impact by Poisson's law: impulses of its first phase; else NULL */
    double *floor;          /* and the least normal impulses of its second phase, N s   */
    cairn_impacts impacts;  /* within the step, before the solve; see chain.c             */
    double *impulses_before; /* of contacts: sums of their impulses; NULL: there were none */
    double *behind;          /* of blocks: y, the way that they lack for it                */
    uint8_t *struck;         /* of blocks: some impact was theirs; NULL: nobody's          */
    double *farthest;        /* m, of blocks: from x, at their impacts; NULL: none         */
    cairn_problem posed;     /* where a step has phases: the problem to show ...           */
    const double *posed_r;   /* ... and its impulses; NULL: `problem` and `r`              */
    double *depths;          /* m: deepest overlap in each range of contacts             */
    bool by_groups;          /* what sleeps is not solved again                          */
    cairn_groups groups;
    uint8_t *asleep; /* of each body: rests when the step ends; NULL: nobody     */
    int32_t *calm;   /* of each body, after the step; NULL: 0                    */
    uint8_t *pushed; /* of each body: by a contact or a joint, or stopped; NULL: nobody's angular
                        velocity changes by itself                               */
    cairn_step_report *report;
} cairn_stage;

enum { CAIRN_AHEAD = 16 }; /* bodies or contacts between asking for memory and using it */

/* Blocks are in another order than bodies: ask for the numbers x of a body that comes soon, if
 * there is one. */
CAIRN_ASKING void cairn_stage_ask_for(const cairn_stage *stage, int body, const double *x)
{
    if (body < stage->world->bodies.count && stage->block[body] >= 0)
        cairn_prefetch(x + (size_t)stage->block[body] * (size_t)stage->block_size,
                       stage->block_size * (int)sizeof *x);
}

CAIRN_ASKING void cairn_stage_ask_to_write(const cairn_stage *stage, int body, const double *x)
{
    if (body < stage->world->bodies.count && stage->block[body] >= 0)
        cairn_prefetch_write(x + (size_t)stage->block[body] * (size_t)stage->block_size,
                             stage->block_size * (int)sizeof *x);
}

static inline bool cairn_stage_swings(const cairn_stage *stage, int body)
{
    return stage->joints.swing && stage->joints.swing[body].swings;
}

/* The orientation whose frame the rows of joints have for a body. */
static inline cairn_quat cairn_stage_rows_q(const cairn_stage *stage, int body)
{
    return cairn_stage_swings(stage, body) ? stage->joints.swing[body].q_end
                                           : stage->world->bodies.q[body];
}

/* bodies.c */
cairn_status cairn_bodies_reserve(cairn_body_store *bodies, size_t count);
void cairn_bodies_release(cairn_body_store *bodies);
/* What cairn_body_create would refuse in this definition. */
cairn_status cairn_body_check(const cairn_world *world, const cairn_body_def *def,
                              cairn_error *error);
/* Set the columns that follow from shape and pose: extent, arm, ball. */
void cairn_body_measure(cairn_body_store *bodies, int body);
/* The body's shape as it stands, or with the body at another pose. */
cairn_collider cairn_body_collider(const cairn_world *world, int body);
cairn_collider cairn_body_collider_at(const cairn_world *world, int i, const cairn_pose *body);
/* Radius about the body's origin that holds it, m; infinite for unbounded shapes. */
double cairn_body_extent(const cairn_world *world, int body);
/* Likewise about the origin of its shape. */
double cairn_body_size(const cairn_world *world, int body);
/* How far the points whose turning moves the surface lie from the centre, m: turning by an angle
 * moves no point of the surface by more than arm times the angle, as far as anyone can see: a ball
 * about the centre, or swept over the core, looks the same. Infinite for unbounded shapes. */
double cairn_body_arm(const cairn_world *world, int body);

/* world.c */
/* Radius of the smaller of two bodies, m, about the origins of their shapes; 1 mm where neither has
 * a size. */
double cairn_pair_radius(const cairn_world *world, int a, int b);

/* friction.c */
double cairn_friction_law_at(const cairn_friction_law *law, double constant, double speed);

/* material.c */
bool cairn_materials_have_poisson(const cairn_world *world);
cairn_material_def cairn_material_pair(const cairn_world *world, int a, int b);
bool cairn_material_is_poisson(const cairn_material_def *def);
/* Friction where materials a and b meet and slide, m/s. */
double cairn_material_friction(const cairn_world *world, int a, int b, double speed);

/* driver.c: poses and loads as functions of time */
void cairn_driven_pose(const cairn_world *world, int body, double time, cairn_vec3 *x,
                       cairn_quat *q, double *angle);
cairn_status cairn_driver_add(cairn_world *world, int body, const cairn_driver *driver);
cairn_status cairn_load_add(cairn_world *world, int body, const cairn_load *load);
void cairn_drivers_remove(cairn_world *world, int body);
/* `ahead` s from now; torques in the frame of a body that has turned on by then. */
void cairn_loads_at(const cairn_world *world, double ahead, cairn_vec3 *force, cairn_vec3 *torque);

/* contact_store.c */
/* Room for so many contacts, with the columns of a set and of those before. On failure there is
 * room for none. */
cairn_status cairn_contacts_reserve(cairn_contact_store *contacts, size_t count, unsigned set,
                                    int dimension);
void cairn_contacts_release(cairn_contact_store *contacts);
/* The piece of the body of smaller (0) or larger index (1). */
cairn_piece cairn_contact_piece(const cairn_contact_store *contacts, int j, int which);
/* From the centre of the body on one side to its witness point, m. */
cairn_vec3 cairn_contact_arm(const cairn_stage *stage, int j, int side);

/* contacts.c: candidates and their law */
cairn_status cairn_stage_collide(cairn_stage *stage);
cairn_status cairn_stage_outran(cairn_stage *stage, bool *outran);
/* The step in which no body moves further than its own radius, and which body asks for it; half of
 * this step and -1 when none does. */
double cairn_stage_needed_step(const cairn_stage *stage, int *body);

/* warm.c: impulses of the last step and of the last attempt */
/* The first guess: r and s of contacts that were there before, 0 of others. */
void cairn_stage_warm_start(cairn_stage *stage);
void cairn_stage_store_contacts(cairn_stage *stage);
/* Start the next attempt from the impulses of this one, in the same memory. */
cairn_status cairn_stage_set_aside(cairn_stage *stage);

/* integrate.c: motion without contact before the solve, the new state after it */
cairn_status cairn_stage_free_motion(cairn_stage *stage);
void cairn_stage_place(cairn_stage *stage, int body, double ahead);
/* The mean of the angular velocity of a body before and after the step if a moment, N m in its
 * frame, acted as well. */
cairn_vec3 cairn_stage_mean_turning(const cairn_stage *stage, int body, cairn_vec3 moment);
void cairn_stage_new_velocity(const cairn_stage *stage, int body, cairn_vec3 *v, cairn_vec3 *omega);
/* Where a dynamic body will be with these velocities. */
void cairn_stage_arrive(cairn_stage *stage, int body, cairn_vec3 v, cairn_vec3 omega);
/* Its linear part alone. */
cairn_vec3 cairn_stage_moving(const cairn_stage *stage, int body, const double *x);
/* The angular velocity in the body frame out of the numbers x of all blocks. */
cairn_vec3 cairn_stage_turning(const cairn_stage *stage, int body, const double *x);
void cairn_stage_commit(cairn_stage *stage);

/* free_turn.c: who is pushed; whether a body turns by what its own motion and loads make of it; and
 * the turn, body frame, from the angular velocities before and after the step */
cairn_status cairn_stage_find_pushed(cairn_stage *stage);
bool cairn_stage_turns_freely(const cairn_stage *stage, int body);
cairn_quat cairn_free_turn(cairn_vec3 inertia, cairn_vec3 omega, cairn_vec3 next, double h);

/* linearise.c: gaps that hold where the step ends */
bool cairn_stage_linearised(cairn_stage *stage);

/* blocks.c: stage->block and stage->blocks, for the whole step */
cairn_status cairn_stage_number_blocks(cairn_stage *stage);

/* assemble.c */
cairn_status cairn_stage_assemble(cairn_stage *stage);
double cairn_stage_gap(const cairn_stage *stage, int j);
/* m/s: b that keeps a gap, of which `overlap` <= 0 m is an overlap. After rounds of impacts the gap
 * where the path of the bodies began, g' = g - H_N y, is below 0 without any overlap, and
 * u_N >= -g'/h keeps them apart; no more than `leaves` m/s is asked for (chain.c). */
double cairn_stage_apart(const cairn_stage *stage, double gap, double overlap, double leaves);
/* Where the rows of block j of the problem are stored on one side. */
double *cairn_stage_rows(const cairn_stage *stage, int j, int side);

/* ball_rows.c: contacts that need no rows of their own */
cairn_status cairn_stage_find_balls(cairn_stage *stage);
/* Whether the angular velocity of a dynamic body is in space axes in the problem. */
bool cairn_stage_in_space(const cairn_stage *stage, int body);

/* surface.c: friction beyond Coulomb's with one mu */
/* The law of two materials, for contacts one after the other that mostly have the same ones. */
typedef struct cairn_contact_law {
    int a, b; /* materials; -1: none yet                                                  */
    bool poisson;
    cairn_material_def def;
} cairn_contact_law;

void cairn_contact_meet(const cairn_stage *stage, int j, cairn_contact_law *known);
cairn_vec3 cairn_contact_bitangent(const cairn_contact_store *contacts, int j);
void cairn_contact_rows(const cairn_contact_store *contacts, int j, cairn_vec3 row[3]);
void cairn_contact_turns(const cairn_stage *stage, int j, cairn_vec3 turn[3]);
cairn_vec3 cairn_surface_velocity(const cairn_stage *stage, int body, cairn_vec3 normal);
cairn_status cairn_stage_adhere(cairn_stage *stage, int j);
/* D: what the rows of both tangents are multiplied by. */
void cairn_contact_shares(const cairn_contact_store *contacts, int j, double share[2]);
void cairn_contact_store_result(cairn_stage *stage, int j);

/* chain.c: impacts one after the other; whether there were any. Then the problem starts from what
 * they leave. */
cairn_status cairn_stage_chain(cairn_stage *stage, bool *any);
/* H_N y of contact j: by how much its gap is smaller than its velocity tells. */
double cairn_stage_behind(const cairn_stage *stage, int j, const double *y);

/* impulses.c */
cairn_status cairn_stage_impulses(cairn_stage *stage);
/* correct.c: overlaps are mended by moving, not by velocity: the displacement over h of all blocks,
 * that of body i, and the move of where bodies will be */
cairn_overlaps cairn_overlaps_find(const char *name);
cairn_status cairn_stage_correct(cairn_stage *stage);
cairn_vec3 cairn_stage_shift(const cairn_stage *stage, int i);
/* Its angular part, rad/s. */
cairn_vec3 cairn_stage_shift_turn(const cairn_stage *stage, int i);
void cairn_stage_move_apart(cairn_stage *stage);
/* joint_stage.c: rows for the problem, their place in it, and what they did */
cairn_status cairn_stage_joints_prepare(cairn_stage *stage);
cairn_status cairn_stage_joints_fill(cairn_stage *stage);
void cairn_stage_joints_store(cairn_stage *stage);
void cairn_stage_joints_energy(cairn_stage *stage);
void cairn_stage_joints_commit(cairn_stage *stage);

/* swing.c: who moves to second order, where they are at mid-step, and their free turning */
cairn_status cairn_stage_find_swings(cairn_stage *stage);

/* joint_felt.c: the inertia that motors feel in this step */
cairn_status cairn_stage_joints_feel(cairn_stage *stage);

/* joint_tension.c: what moments of inertia get; and that put into the problem */
cairn_status cairn_stage_joints_tension(cairn_stage *stage);
void cairn_stage_joints_steady(cairn_stage *stage);
void cairn_stage_joints_steady_loss(cairn_stage *stage);

/* certificate.c */
void cairn_stage_judge_circular(const cairn_stage *stage, cairn_judgement *judgement);
/* How well the law holds; also what contacts add to the energy ledger. */
cairn_status cairn_stage_certify(cairn_stage *stage);

/* penetration.c: overlaps where the bodies will be */
cairn_status cairn_stage_penetration(cairn_stage *stage);
/* The least gap of all pieces of two bodies, m; infinite where it is more than `reach`. */
cairn_status cairn_stage_gap_after(const cairn_stage *stage, int a, int b, double reach,
                                   double *gap);

/* limit.c: refuse a step in which a body goes further than linearised gaps can tell */
cairn_status cairn_stage_limit(cairn_stage *stage);
/* How far the points of each body get in the step, m, in the scratch; those of what has no bounds
 * without turning. */
cairn_status cairn_stage_ways(const cairn_stage *stage, double **out);

/* energy.c: contacts and bodies, with their new velocities v and omega, are added by ranges */
double cairn_body_kinetic(const cairn_world *world, int body, cairn_vec3 v, cairn_vec3 omega);
void cairn_energy_add_contacts(const cairn_stage *stage, int begin, int end, cairn_energy *energy);
void cairn_energy_add_body(const cairn_stage *stage, int body, cairn_vec3 v, cairn_vec3 omega,
                           cairn_energy *energy);
void cairn_energy_add_up(const cairn_energy *sum, int ranges, cairn_energy *energy);

/* motion.c: what the bodies are about to do, before anything is changed. All fail with
 * CAIRN_NOT_FINITE and name the body that does it. */
/* The free motion, before contacts are looked for. */
cairn_status cairn_stage_check_free_motion(cairn_stage *stage);
/* What joints and bodies add to the energy ledger, and where bodies will be. */
cairn_status cairn_stage_energy(cairn_stage *stage);

/* inlet.c */
size_t cairn_inlets_due(const cairn_world *world, double time);
int cairn_inlets_pour(cairn_world *world);
void cairn_inlets_release(cairn_world *world);

#endif
