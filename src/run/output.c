/* run_output.c - see run_output.h. */
#include "io/run_output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/status.h"
#include "io/overlay.h"
#include "io/picture.h"
#include "io/run_summary.h"

/* Flushing may take this share of the time at most; a crash loses what came after the last one. */
static const double FLUSH_SHARE = 0.05;

/* run.h5 is written under these names: what stands there and is no file of ours stays. */
static cairn_status check_names(const char *folder, cairn_error *error)
{
    static const char *const names[] = { "run.h5.part", "run.h5" };
    for (int i = 0; i < 2; i++) {
        char path[CAIRN_PATH_BYTES];
        struct stat about;
        TRY(cairn_path_join(folder, names[i], path, error));
        if (lstat(path, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
            continue; /* a folder is refused when the file is made */
        cairn_error_set_file(error, path);
        return cairn_fail(error, CAIRN_IO_FAILED, NULL,
                          "found %s, expected a plain file of an earlier run, or nothing",
                          S_ISLNK(about.st_mode) ? "a link" : "something else");
    }
    return CAIRN_OK;
}

cairn_status cairn_run_output_create(const char *folder, const cairn_scene *scene,
                                     cairn_run_output *out, cairn_error *error)
{
    *out = (cairn_run_output){ .folder = folder, .scene = scene };
    if (!folder)
        return CAIRN_OK;
    TRY(check_names(folder, error));
    TRY(cairn_run_file_open(folder, scene, NULL, &out->file, error));
    TRY(cairn_run_problems_clear(folder, error));
    if (scene->run.paraview)
        TRY(cairn_run_paraview_create(folder, scene->run.contacts, &out->paraview, error));
    return CAIRN_OK;
}

/* run.h5 of a run that was stopped cleanly becomes run.h5.part again. */
static cairn_status take_back(const char *folder, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES], part[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(folder, "run.h5", path, error));
    TRY(cairn_path_join(folder, "run.h5.part", part, error));
    if (!cairn_is_file(part) && rename(path, part) != 0) {
        cairn_error_set_file(error, folder);
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "there is no run.h5.part to go on with: %s",
                          strerror(errno));
    }
    return cairn_overlay_recover(part, error);
}

cairn_status cairn_run_output_go_on(const char *folder, const cairn_scene *scene,
                                    const cairn_run_extent *extent, cairn_run_output *out,
                                    cairn_error *error)
{
    out->folder = folder;
    out->scene = scene;
    TRY(take_back(folder, error));
    TRY(cairn_run_file_open(folder, scene, extent, &out->file, error));
    TRY(cairn_run_roll_go_on(&out->roll, scene->world, cairn_run_file_geometries(out->file)));
    if (scene->run.paraview)
        TRY(cairn_run_paraview_go_on(folder, scene->run.contacts, &out->paraview, error));
    return CAIRN_OK;
}

/* The step with all that it was made of, when the run keeps that. */
static cairn_status store_detail(cairn_run_output *o, int64_t step, cairn_error *error)
{
    cairn_run_frame frame;
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    TRY(cairn_run_frame_detail(o->scene->world, &o->arena, &frame));
    frame.step = step;
    return cairn_run_file_detail(o->file, &frame, error);
}

/* End the flush that is under way, if all is packed by now. */
static cairn_status flush_on(cairn_run_output *o, cairn_error *error)
{
    if (!cairn_run_file_is_flushing(o->file))
        return CAIRN_OK;
    double now = cairn_clock_seconds();
    TRY(cairn_run_file_end_flush(o->file, false, error));
    o->flush_costs += cairn_clock_seconds() - now;
    return CAIRN_OK;
}

cairn_status cairn_run_output_step(cairn_run_output *output, int64_t step,
                                   const cairn_step_report *report, cairn_error *error)
{
    if (!output->folder)
        return CAIRN_OK;
    double time = cairn_world_time(output->scene->world);
    TRY(flush_on(output, error));
    TRY(cairn_run_problems_step(&output->problems, output->folder, output->scene, step, report,
                                error));
    if (cairn_run_file_is_full(output->file))
        TRY(store_detail(output, step, error));
    return cairn_run_file_step(output->file, step, time, report, error);
}

cairn_status cairn_run_output_flush(cairn_run_output *o, cairn_error *error)
{
    if (!o->folder)
        return CAIRN_OK;
    TRY(cairn_run_file_flush(o->file, error));
    return o->scene->run.paraview ? cairn_run_paraview_flush(&o->paraview, error) : CAIRN_OK;
}

/* Begin a flush after a frame, unless flushes would then take more than their share of the time. */
static cairn_status flush_in_time(cairn_run_output *o, cairn_error *error)
{
    double now = cairn_clock_seconds();
    bool first = o->last_flush == 0;
    if (now - o->last_flush < o->flush_costs / FLUSH_SHARE)
        return CAIRN_OK;
    TRY(cairn_run_file_begin_flush(o->file, error));
    if (first) /* from now on there is a file to read */
        TRY(cairn_run_file_end_flush(o->file, true, error));
    if (o->scene->run.paraview)
        TRY(cairn_run_paraview_flush(&o->paraview, error));
    o->last_flush = cairn_clock_seconds();
    o->flush_costs = o->last_flush - now;
    return CAIRN_OK;
}

cairn_status cairn_run_output_frame(cairn_run_output *o, int64_t step, cairn_error *error)
{
    cairn_run_frame frame;
    if (!o->folder)
        return CAIRN_OK;
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    frame.step = step;
    frame.time_step = o->scene->step.time_step;
    TRY(cairn_run_file_frame(o->file, &frame, error));
    if (step == 0 && cairn_run_file_is_full(o->file))
        TRY(cairn_run_file_detail(o->file, &frame, error));
    if (o->scene->run.paraview)
        TRY(cairn_run_paraview_frame(&o->paraview, &frame, &o->arena, error));
    o->frames++;
    return flush_in_time(o, error);
}

static cairn_status draw_last(cairn_run_output *o, cairn_error *error)
{
    cairn_run_frame frame;
    TRY(cairn_run_frame_take(o->scene->world, &o->roll, &o->arena, &frame));
    frame.time_step = o->scene->step.time_step;
    return cairn_picture_write(&frame, o->scene, o->folder, &o->arena, error);
}

/* The name of run.h5 last: where it stands everything else does. */
cairn_status cairn_run_output_commit(cairn_run_output *o, const cairn_run_summary *summary,
                                     const cairn_run_ending *ending, cairn_error *error)
{
    if (!o->folder)
        return CAIRN_OK;
    if (o->scene->run.paraview)
        TRY(cairn_run_paraview_finish(&o->paraview, error));
    if (o->scene->run.picture)
        TRY(draw_last(o, error));
    TRY(cairn_run_file_finish(o->file, summary, ending, error));
    TRY(cairn_run_summary_write(summary, o->scene, ending, o->folder, error));
    return cairn_run_file_commit(o->file, error);
}

void cairn_run_output_destroy(cairn_run_output *o)
{
    cairn_run_file_destroy(o->file);
    cairn_run_paraview_destroy(&o->paraview);
    cairn_run_roll_destroy(&o->roll);
    cairn_arena_destroy(&o->arena);
    *o = (cairn_run_output){ .folder = NULL };
}
