/* scene.h - reading a scene file into a world and the settings of its run. */
#ifndef CAIRN_SCENE_H
#define CAIRN_SCENE_H

#include <stdio.h>

#include "cairn/statistics.h"
#include "cairn/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a run computes and writes besides how it steps. */
typedef struct cairn_run_options {
    double duration;            /* s                                                            */
    double frame_interval;      /* s between stored frames; 0: every step                       */
    bool contacts;              /* store the contacts of each frame                             */
    bool paraview;              /* write the ParaView series                                    */
    bool picture;               /* draw the last state as picture.svg                           */
    cairn_names statistics;     /* measured at each frame and written; see cairn_statistic_name */
    bool packing;               /* report the packing fraction at the end                       */
    const char *certificate;    /* "off", "summary" or "full": what run.h5 keeps of it          */
    const char *on_uncertified; /* "warn" or "stop": when a step misses its tolerance           */
    cairn_list save_problem;    /* numbers of the steps whose contact problem is written; the first
                                   step is 1                                                    */
    double checkpoint_every;    /* s between checkpoints; 0: only when the run is interrupted   */
    bool state;                 /* write the last state, from which other scenes can start      */
    double start_overlap;       /* deepest overlap that a scene may start with, as a share of the
                                   smaller radius; the steps move such bodies apart              */
    double rest_speed;          /* m/s: > 0: end before `duration` once all inlets are done and
                                   no body is faster                                            */
} cairn_run_options;

/** Defaults of the run part; the duration must be given. */
CAIRN_API cairn_run_options cairn_run_options_default(void);
/** The table of cairn_run_options. */
CAIRN_API const cairn_record *cairn_run_record(void);

/** What an event waits for. */
typedef enum cairn_event_kind {
    CAIRN_EVENT_TIME,        /* a time                                                        */
    CAIRN_EVENT_SETTLED,     /* no body was faster than `speed` for `quiet` s                 */
    CAIRN_EVENT_MASS_BELOW,  /* the dynamic bodies have less than `mass` kg                   */
    CAIRN_EVENT_FORCE_ABOVE, /* contacts push on a body with more than `force` N              */
    CAIRN_EVENT_FLOW_STOPS,  /* bodies have left through an outlet, but none for `quiet` s    */
    CAIRN_EVENT_COUNT
} cairn_event_kind;

/** What happens then. */
typedef enum cairn_action {
    CAIRN_ACTION_OPEN,         /* a body, the gate, is removed                                */
    CAIRN_ACTION_START_DRIVER, /* cairn_body_start                                            */
    CAIRN_ACTION_STOP_DRIVER,  /* cairn_body_stop                                             */
    CAIRN_ACTION_STOP_RUN,     /* the run ends after this step, with the ending "event"       */
    CAIRN_ACTION_SAVE_STATE,   /* cairn_world_save into a file of the run folder              */
    CAIRN_ACTION_COUNT
} cairn_action;

/** An event of a run: it is examined after every step and happens once. */
typedef struct cairn_event {
    cairn_event_kind kind;
    double from;  /* s: it is not examined before                                              */
    double speed; /* m/s: settled                                                              */
    double quiet; /* s: settled, flow_stops                                                    */
    double mass;  /* kg: mass_below                                                            */
    double force; /* N: force_above                                                            */
    int64_t body; /* uid: force_above                                                          */
    int outlet;   /* number: flow_stops; -1: all                                               */
    cairn_action action;
    int64_t target;   /* uid of the body of open, start_driver, stop_driver                    */
    const char *file; /* save_state: name of the file in the run folder                        */
    int64_t step;     /* after which it happened; -1: not yet                                  */
    double time;      /* s: when it happened                                                   */
    double since;     /* s: settled since; infinite: not                                       */
} cairn_event;

/** The table of what an event waits for (not body and outlet), NULL past the last. */
CAIRN_API const cairn_record *cairn_event_record(int kind);
/** Name of an action, NULL past the last. */
CAIRN_API const char *cairn_action_name(int action);

/** A series of forces: what a probe of the steps (`step.probes`) reads, written under a name. */
typedef struct cairn_force_series {
    const char *name; /* of its files and of its group in run.h5: letters, digits, - and _     */
    double interval;  /* s: a row is the mean over the steps of this time; 0: a row a step     */
} cairn_force_series;

/** The table of what a series reads and how often (not its bodies, material and joint). */
CAIRN_API const cairn_record *cairn_series_record(void);

/** A number that is possible but probably in another unit, such as an angle in degrees. `found`
 *  has its place and what to write; it is the first of its kind. */
typedef struct cairn_doubt {
    cairn_error found;
    int64_t others; /* more of this kind */
    const struct cairn_doubt *next;
} cairn_doubt;

/** A scene in memory. Everything it points to is freed by cairn_scene_destroy. */
typedef struct cairn_scene {
    char title[128];
    cairn_world *world;
    cairn_step_options step;
    cairn_run_options run;
    cairn_measure_options measure; /* how run.statistics are measured                            */
    int material_count;
    const char *const *material_names; /* by material number                                    */
    int body_count;
    const char *const *body_names; /* by uid, NULL: unnamed; bodies that a generator or
                                      inlet made have none                                      */
    int event_count;
    cairn_event *events; /* in the order of the scene                                           */
    int series_count;
    const cairn_force_series *series; /* one for each of step.probes                            */
    int inlet_count, outlet_count;
    const char *const *inlet_names, *const *outlet_names; /* by number; "": unnamed             */
    const cairn_doubt *doubts; /* the last one first; NULL: none                                */
    double overlap;   /* deepest overlap at the start, as a share of the smaller radius          */
    const char *text; /* the file as read, with overrides listed as comments at the end         */
    cairn_link *link; /* the processes that run it together; NULL: this one. Not owned           */
    struct cairn_scene_shared *shared; /* private: what this process has of a world in shares     */
    void *owner; /* private                                                                */
} cairn_scene;

/** Read a scene and build its world. `overrides` are "path=value" texts applied before anything
 *  is interpreted ("run.time_step=1e-3", "bodies.0.mass=2"); `override_count` may be 0.
 *  On failure `error` says file, line, column, key, what was found and what was expected, and
 *  *out is NULL. */
CAIRN_API cairn_status cairn_scene_load(const char *path, const char *const *overrides,
                                        int override_count, cairn_scene **out, cairn_error *error);
/** Free a scene with its world; NULL is allowed. */
CAIRN_API void cairn_scene_destroy(cairn_scene *scene);

/** Write the state of a scene to a file: its world, with all that its next step depends on, and
 *  the names of its materials, bodies, inlets and outlets. The file is written under a temporary
 *  name and renamed; a scene starts from it with `start: {run: FILE}`. Fails with
 *  CAIRN_IO_FAILED, CAIRN_NO_MEMORY, or CAIRN_UNSUPPORTED for a world of which this process has
 *  only a part, or which has callbacks. */
CAIRN_API cairn_status cairn_state_write(const cairn_scene *scene, const char *path,
                                         cairn_error *error);

/** A readable name of a body, by its uid: 'ball' in quotes if the scene names it, else its
 *  number. */
CAIRN_API void cairn_scene_body_label(const cairn_scene *scene, int64_t body, char *out,
                                      size_t capacity);

/** Write the JSON Schema of the scene format, made from the option tables. */
CAIRN_API cairn_status cairn_scene_schema(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
