/* together.h - a run that several processes compute.
 *
 * Rank 0 runs the scene as a single process does, and alone writes files. A world comes to the
 * ranks in one of three ways:
 *   in shares   cairn_ranks_load: each rank reads the scene and makes its share of the bodies, so
 *               that no rank has all of them
 *   as a whole  cairn_team_begin: rank 0 sends the scene with its world to the others, which then
 *               keep a part of it
 *   saved       cairn_team_begin of a run that goes on: rank 0 cuts a share for each rank out of
 *               the checkpoint
 * The others do what rank 0 tells them: take a step, or send it what they have, so that its world
 * for files becomes current again. */
#ifndef CAIRN_RUN_TOGETHER_H
#define CAIRN_RUN_TOGETHER_H

#include "base/bytes.h"
#include "base/link.h"
#include "cairn/run.h"
#include "measure/measure.h"
#include "run/output.h"
#include "scene/stages.h"

/* Where the time of one process went, in steps. */
typedef struct cairn_team_spent {
    double steps; /* s, all of it          */
    cairn_traffic traffic;
} cairn_team_spent;

/* What rank 0 tells the others to do. */
typedef enum cairn_order_kind {
    CAIRN_ORDER_STEP,
    CAIRN_ORDER_ACT,           /* a deed follows, which all do                                    */
    CAIRN_ORDER_APPLY,         /* what the caller of a run applied to bodies follows              */
    CAIRN_ORDER_GATHER,        /* send all that rank 0 needs for its world                        */
    CAIRN_ORDER_BODIES,        /* send bodies with uids [from, to); those from `known` on are new */
    CAIRN_ORDER_CONTACTS,      /* send the next contacts; from 0: the first ones of the frame     */
    CAIRN_ORDER_DETAIL_BODIES, /* the same with what a full certificate says of them            */
    CAIRN_ORDER_DETAIL_CONTACTS,
    CAIRN_ORDER_KEEP_PLACES, /* the positions of bodies are those of the start                  */
    CAIRN_ORDER_SEND_PLACES,
    CAIRN_ORDER_FARTHEST, /* find the body that moved farthest */
    CAIRN_ORDER_MASS,     /* add the mass of own bodies, kg, to the sum of those before        */
    CAIRN_ORDER_IMPULSE,  /* likewise the impulses, N s, of contacts on the body with uid `from` */
    CAIRN_ORDER_JOINTS,   /* send where joints are fixed to own bodies                         */
    CAIRN_ORDER_FIRSTS,   /* find the first body of each shape                                 */
    CAIRN_ORDER_HELD,     /* add the forces of own contacts on held bodies                     */
    CAIRN_ORDER_HASH,
    CAIRN_ORDER_SAVED_BYTES, /* cairn_world_saved_bytes, by all */
    CAIRN_ORDER_SAVE,        /* cairn_world_save, by all        */
    CAIRN_ORDER_LOOK_FOR, /* a folder follows: say whether pieces of a frame can be written there */
    CAIRN_ORDER_PIECE,    /* a folder follows: write the pieces of frame `from` there, after step
                             `to`, with contacts if `known` */
    CAIRN_ORDER_CHOOSE,   /* find out which bodies are in the picture                             */
    CAIRN_ORDER_DRAWN,    /* send these, with the forces on them                                  */
    CAIRN_ORDER_SAMPLE,   /* take what is measured, after step `from`                             */
    CAIRN_ORDER_RANKED,   /* find the coordinate `from` of a grain before which `to` others come  */
    CAIRN_ORDER_ROWS,     /* what is asked follows: send the next grains or contacts              */
    CAIRN_ORDER_PACKING,  /* cairn_world_packing, by all                                          */
    CAIRN_ORDER_END
} cairn_order_kind;

typedef struct cairn_order {
    int64_t what, from, to, known;
} cairn_order;

/* What a process has of a state that statistics are measured of (pieces.c). Zero is valid. */
typedef struct cairn_sampled {
    cairn_sample own; /* of its world, with ghosts                     */
    int32_t *row;     /* its own grains in `own`, by uid               */
    int rows, sent;   /* `sent` of them are sent, or not asked for     */
    cairn_arena arena;
} cairn_sampled;

/* What a process needs to send its part of a frame (window.c). Zero is valid. */
typedef struct cairn_window {
    int32_t *row; /* rows of bodies that it sends, by uid */
    double *push; /* N: the normal forces on the bodies of the picture, by row of the world */
    size_t push_room;
    size_t room;
    int count;
    int32_t *contact; /* contacts that it sends, in their order; `sent` of them are sent */
    size_t contact_room;
    int contacts, sent;
    int64_t uids;      /* bodies at the start                                */
    cairn_vec3 *place; /* m: where those of a range of uids were at the start */
    int64_t last;      /* rank 0: the largest uid of all bodies              */
    cairn_arena arena; /* rank 0: a window of a frame                        */
    cairn_sampled sampled;
    struct cairn_sampling *sampling; /* rank 0: windows of a state that is measured */
} cairn_window;

/* The processes of a run, as this one sees them. Zero is valid: it is alone. */
typedef struct cairn_team {
    cairn_link *ranks;  /* all processes; NULL: this one alone                              */
    cairn_link *link;   /* those that have parts of the world                               */
    cairn_link own;     /* what `link` points to, unless the scene has it                   */
    cairn_scene *copy;  /* its world is the part of this process; NULL: it has all of it    */
    cairn_world *world; /* that this process steps                                          */
    bool stale;         /* rank 0: the world of the scene is older than `world`             */
    bool spread;        /* rank 0: its world for files never has all bodies                 */
    bool whole;         /* rank 0: it must have them, since the caller steps the run; given */
    cairn_window window;
    double speed2; /* m^2/s^2: of the fastest body; known if the run waits for rest    */
    cairn_team_spent spent;
} cairn_team;

/* Rank 0, or a process alone: share the world of a scene among scene->link. Sets scene->step.parts
 * if it is not given. Fails, with nothing written, if the ranks cannot compute this scene. */
cairn_status cairn_team_begin(cairn_team *team, cairn_scene *scene, cairn_error *error);
/* Step the world of all; scene->world is not current afterwards. */
cairn_status cairn_team_step(cairn_team *team, const cairn_scene *scene, cairn_step_report *report);
/* Let the world of all have what the caller applied to scene->world since the last step, and the
 * materials and functions of time that it has. CAIRN_UNSUPPORTED: nothing was done. */
cairn_status cairn_team_apply(cairn_team *team, const cairn_scene *scene, cairn_error *error);
/* Make scene->world current. */
cairn_status cairn_team_look(cairn_team *team, const cairn_scene *scene);
/* Whether no body is faster, m/s, and all inlets are done; NaN is not slow. Known if the run or an
 * event waits for it. */
bool cairn_team_is_slow(const cairn_team *team, double speed);

/* What an event does to the world of all: a body is removed, or its drivers start or stop. */
typedef struct cairn_deed {
    cairn_action action;
    uint64_t target;
} cairn_deed;
/* Let all do it, if the body is still there. If scene->world has all bodies, it is current then. */
cairn_status cairn_team_act(cairn_team *team, const cairn_scene *scene, const cairn_deed *deed);

/* The packing fraction at the end, also of a world that is not spread. */
cairn_status cairn_team_packing(cairn_team *team, const cairn_scene *scene, cairn_packing *out);

/* Tell all others. */
void cairn_team_tell(cairn_team *team, const cairn_order *order);

/* window.c: rank 0 of a run that is spread. */
/* Store a frame after `step` steps, window by window. */
cairn_status cairn_team_frame(cairn_team *team, cairn_run_output *output, int64_t step,
                              cairn_error *error);
/* Store what a full certificate has of the last step, likewise. */
cairn_status cairn_team_detail(cairn_team *team, cairn_run_output *output, int64_t step,
                               cairn_error *error);
/* The world to be saved: that of the scene, or of all ranks. */
cairn_saver cairn_team_saver(cairn_team *team, const cairn_scene *scene);
/* Whether several ranks can go on with a run of which none has all bodies. */
bool cairn_team_can_spread(const cairn_team *team, const cairn_scene *scene);
/* Other ranks: do what such a call of rank 0 needs. */
cairn_status cairn_window_answer(cairn_team *team, const cairn_order *order);
/* The rows of own bodies by uid, and the first of them whose body has this uid or a larger one. */
cairn_status cairn_window_index(cairn_team *team);
int cairn_window_find(const cairn_window *window, const uint64_t *uid, int64_t from);
/* The contacts that this member sends, none of which is sent yet; and the number by which those of
 * all members are sorted, with the `order` of cairn_world_own. */
cairn_status cairn_window_index_contacts(cairn_team *team);
uint64_t cairn_window_key(const int32_t *body, int held, const int64_t *order);
/* Rank 0: a frame of the bodies that all members have chosen, `count` of them, and the forces on
 * them, by row. The roll is one of this frame alone. */
cairn_status cairn_window_drawn(cairn_team *team, int64_t count, cairn_run_roll *roll,
                                cairn_run_output *output, cairn_run_frame *frame,
                                const double **forces);
void cairn_window_destroy(cairn_window *window);

/* output.c: all of them together, for events: the sum of what an order asks for, CAIRN_ORDER_MASS
 * (x) or CAIRN_ORDER_IMPULSE. The bits are those of one process. */
cairn_status cairn_team_add(cairn_team *team, const cairn_order *order, cairn_vec3 *sum);

/* geometry.c: rank 0 of a run that is spread. */
/* Add the joints of all members to a frame without bodies. In one that has joints already, put
 * right where these are fixed to bodies that only other members have. */
cairn_status cairn_team_joints(cairn_team *team, cairn_run_roll *roll, cairn_arena *arena,
                               cairn_run_frame *frame);
cairn_status cairn_team_joint_ends(cairn_team *team, cairn_run_frame *frame);
/* Other ranks: tell where joints are fixed to own bodies. */
cairn_status cairn_team_tell_joints(cairn_team *team);

/* pieces.c: likewise. */
/* Remember where bodies are, at the start; and at the end how far one has moved, how many there
 * are, and their hash. */
cairn_status cairn_team_remember(cairn_team *team);
cairn_status cairn_team_measure(cairn_team *team, cairn_run_summary *summary);
/* The positions at the start, by uid, for a checkpoint: lent, piece by piece. */
typedef void cairn_take_places(const cairn_vec3 *places, int64_t count, void *context);
cairn_status cairn_team_places(cairn_team *team, cairn_take_places *take, void *context);
/* Other ranks: do what such a call of rank 0 needs. */
cairn_status cairn_piece_answer(cairn_team *team, const cairn_order *order);
/* Nobody is left waiting for a member that has failed. */
cairn_status cairn_team_give_up(cairn_link *link, cairn_status status);

/* shown.c: likewise. */
/* A run that goes on: find out which geometry has which row of /geometry in run.h5. */
cairn_status cairn_team_shelf(cairn_team *team, cairn_run_output *output);
/* Draw the state at the end, from the nearest bodies. */
cairn_status cairn_team_picture(cairn_team *team, cairn_run_output *output, cairn_error *error);
/* The state after `step` steps for statistics, which are made of windows of it; lent until the next
 * call of this function. */
cairn_status cairn_team_sample(cairn_team *team, int64_t step, cairn_sample **out);
void cairn_sampling_destroy(struct cairn_sampling *sampling);
/* Write a frame for ParaView, in pieces if all ranks can write theirs. */
cairn_status cairn_team_paraview(cairn_team *team, cairn_run_output *output, int64_t step,
                                 cairn_error *error);
/* Other ranks: do what such a call of rank 0 needs. */
cairn_status cairn_shown_answer(cairn_team *team, const cairn_order *order);

/* How the time was spent by all of them. The last call to others: they end. */
cairn_run_ranks cairn_team_dismiss(cairn_team *team, const cairn_scene *scene);
void cairn_team_destroy(cairn_team *team);

/* checkpoint.c: a scene with its world as bytes, and back; or with the share of a member in a saved
 * world, which becomes team->copy. */
cairn_status cairn_share_pack(const cairn_team *team, const cairn_scene *scene, int member,
                              cairn_writer *out);
cairn_status cairn_share_unpack(cairn_team *team, const void *data, size_t bytes,
                                cairn_error *error);
cairn_status cairn_scene_pack(const cairn_scene *scene, cairn_writer *out);
cairn_status cairn_scene_unpack(const void *data, size_t bytes, cairn_scene **out,
                                cairn_error *error);

#endif
