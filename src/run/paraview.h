/* paraview.h - the folder paraview/ of a run: series of bodies (balls), other moving shapes,
 * contacts, joints and walls, and a script that shows them.
 *
 * Each frame is one small file per series. The .pvd files, which list them, are rewritten at every
 * flush, so they are valid while the run is in progress. */
#ifndef CAIRN_RUN_PARAVIEW_H
#define CAIRN_RUN_PARAVIEW_H

#include "cairn/base.h"
#include "file/file.h"
#include "file/vtk.h"
#include "run/frame.h"
#include "run/walls.h"

/* Zero is valid: nothing is written. */
typedef struct cairn_run_paraview {
    char folder[CAIRN_PATH_BYTES];
    bool contacts;           /* whether contacts are written */
    bool joints;             /* the first frame has joints; only then is the series written */
    cairn_run_walls walls;   /* as of the last frame, to see whether they changed */
    cairn_vtk_moment *times; /* of bodies, contacts and joints: frame k is file k */
    size_t count, times_room;
    size_t without_balls;         /* frames before the first ball, which have no file of bodies */
    cairn_vtk_moment *wall_times; /* frames share a file as long as the walls do not change */
    size_t wall_times_room;
    cairn_run_solids solids;       /* shapes of moving bodies other than balls */
    cairn_vtk_moment *shape_times; /* frames with such bodies */
    size_t shape_count, shape_times_room;
} cairn_run_paraview;

/* Create folder/paraview for a new run, or continue a series after the frames whose times `out`
 * already has. */
cairn_status cairn_run_paraview_create(const char *folder, bool contacts, cairn_run_paraview *out,
                                       cairn_error *error);
cairn_status cairn_run_paraview_go_on(const char *folder, bool contacts, cairn_run_paraview *out,
                                      cairn_error *error);
/* Reserve memory for the times of `frames` frames. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_paraview_reserve(cairn_run_paraview *paraview, size_t frames);
/* Write a frame. Scratch memory comes from `arena`, which may be the one that holds the frame. */
cairn_status cairn_run_paraview_frame(cairn_run_paraview *paraview, const cairn_run_frame *frame,
                                      cairn_arena *arena, cairn_error *error);
/* Write the .pvd files of the frames so far. */
cairn_status cairn_run_paraview_flush(const cairn_run_paraview *paraview, cairn_error *error);
/* Flush, then remove the files of an earlier run that this one did not replace. */
cairn_status cairn_run_paraview_finish(const cairn_run_paraview *paraview, cairn_error *error);
void cairn_run_paraview_destroy(cairn_run_paraview *paraview);

/* ---- the script view.py ------------------------------------------------------------------ */

/* Write `folder`/view.py, a script for ParaView. */
cairn_status cairn_run_view_write(const char *folder, cairn_error *error);

#endif
