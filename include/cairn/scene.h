/* scene.h - a scene file becomes a world and the settings of its run. */
#ifndef CAIRN_SCENE_H
#define CAIRN_SCENE_H

#include <stdio.h>

#include "cairn/generate.h"
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
    double start_overlap;       /* deepest overlap that a scene may start with, as a share of the
                                   smaller radius; the steps move such bodies apart              */
    double rest_speed;          /* m/s: > 0: end before `duration` once all inlets are done and
                                   no body is faster                                            */
} cairn_run_options;

/** Defaults of the run part; the duration must be given. */
CAIRN_API cairn_run_options cairn_run_options_default(void);
/** The table of cairn_run_options. */
CAIRN_API const cairn_record *cairn_run_record(void);

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
    double overlap;   /* deepest overlap at the start, as a share of the smaller radius          */
    const char *text; /* the file as read, with overrides listed as comments at the end         */
    void *owner;      /* private                                                                */
} cairn_scene;

/** Read a scene and build its world. `overrides` are "path=value" texts applied before anything
 *  is interpreted ("run.time_step=1e-3", "bodies.0.mass=2"); `override_count` may be 0.
 *  On failure `error` says file, line, column, key, what was found and what was expected, and
 *  *out is NULL. */
CAIRN_API cairn_status cairn_scene_load(const char *path, const char *const *overrides,
                                        int override_count, cairn_scene **out, cairn_error *error);
/** Free a scene with its world; NULL is allowed. */
CAIRN_API void cairn_scene_destroy(cairn_scene *scene);

/** What people call a body, by its uid: 'ball' in quotes when the scene names it,
 *  else its number. */
CAIRN_API void cairn_scene_body_label(const cairn_scene *scene, int64_t body, char *out,
                                      size_t capacity);

/** Write the JSON Schema of the scene format, made from the option tables. */
CAIRN_API cairn_status cairn_scene_schema(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
