/* together.h - a run that several processes compute.
 *
 * Rank 0 runs the scene as a single process does, and alone reads and writes files. It sends the
 * scene with its world to the other ranks and keeps the whole world for its files. Each rank joins
 * a copy of it, and has a part of the bodies from then on. The others do what rank 0 tells them:
 * take a step, or send it what they have, so that its whole world becomes current again. */
#ifndef CAIRN_RUN_TOGETHER_H
#define CAIRN_RUN_TOGETHER_H

#include "base/bytes.h"
#include "base/link.h"
#include "cairn/run.h"

/* Where the time of one process went, in steps. */
typedef struct cairn_team_spent {
    double steps; /* s, all of it          */
    cairn_traffic traffic;
} cairn_team_spent;

/* The processes of a run, as this one sees them. Zero is valid: it is alone. */
typedef struct cairn_team {
    cairn_link *ranks;  /* all processes; NULL: this one alone                              */
    cairn_link link;    /* those that have parts of the world                               */
    cairn_scene *copy;  /* its world is the part of this process; NULL: it has all of it    */
    cairn_world *world; /* that this process steps                                          */
    bool stale;         /* rank 0: the world of the scene is older than `world`             */
    int64_t entered;    /* rank 0: bodies that came in since                                */
    double speed2;      /* m^2/s^2: of the fastest body; known if the run waits for rest    */
    cairn_team_spent spent;
} cairn_team;

/* Rank 0, or a process alone: share the world of a scene among scene->link. Sets scene->step.parts
 * if it is not given. Fails, with nothing written, if the ranks cannot compute this scene. */
cairn_status cairn_team_begin(cairn_team *team, cairn_scene *scene, cairn_error *error);
/* Step the world of all; scene->world is not current afterwards. */
cairn_status cairn_team_step(cairn_team *team, const cairn_scene *scene, cairn_step_report *report);
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
/* Let all do it; scene->world must be current and stays so. */
cairn_status cairn_team_act(cairn_team *team, const cairn_scene *scene, const cairn_deed *deed);
/* How the time was spent by all of them. The last call to others: they end. */
cairn_run_ranks cairn_team_dismiss(cairn_team *team, const cairn_scene *scene);
void cairn_team_destroy(cairn_team *team);

/* checkpoint.c: a scene with its world as bytes, and back. */
cairn_status cairn_scene_pack(const cairn_scene *scene, cairn_writer *out);
cairn_status cairn_scene_unpack(const void *data, size_t bytes, cairn_scene **out,
                                cairn_error *error);

#endif
