/* run_paraview.h - the folder paraview/ of a run: series of bodies (balls), other moving shapes,
 * contacts, joints and walls, and a script that shows them.
 *
 * Each frame is one small file per series; the .pvd files that list them are written again at
 * every flush, so they are valid while the run goes on. */
#ifndef CAIRN_IO_RUN_PARAVIEW_H
#define CAIRN_IO_RUN_PARAVIEW_H

#include "io/file.h"
#include "io/run_frame.h"
#include "io/run_solids.h"
#include "io/run_walls.h"
#include "io/vtk.h"

/* Zero is valid: nothing written. */
typedef struct cairn_run_paraview {
    char folder[CAIRN_PATH_BYTES];
    bool contacts;           /* write the contacts as well                */
    bool joints;             /* the first frame has some                  */
    cairn_run_walls walls;   /* as drawn last                             */
    cairn_vtk_moment *times; /* of bodies and contacts: frame k is file k */
    size_t count, times_room;
    size_t without_balls;         /* frames at the start that have no balls, and no file of them */
    cairn_vtk_moment *wall_times; /* several frames may share a file of walls  */
    size_t wall_times_room;
    cairn_run_solids solids;       /* shapes of moving bodies that are no balls      */
    cairn_vtk_moment *shape_times; /* frames that have some                          */
    size_t shape_count, shape_times_room;
} cairn_run_paraview;

/* Make folder/paraview; or go on there, after the frames that `out` has the times of. */
cairn_status cairn_run_paraview_create(const char *folder, bool contacts, cairn_run_paraview *out,
                                       cairn_error *error);
cairn_status cairn_run_paraview_go_on(const char *folder, bool contacts, cairn_run_paraview *out,
                                      cairn_error *error);
/* Room for the times of so many frames. */
cairn_status cairn_run_paraview_reserve(cairn_run_paraview *paraview, size_t frames);
/* Write a frame; scratch comes from the arena that holds it. */
cairn_status cairn_run_paraview_frame(cairn_run_paraview *paraview, const cairn_run_frame *frame,
                                      cairn_arena *arena, cairn_error *error);
/* Write the .pvd files of the frames so far. */
cairn_status cairn_run_paraview_flush(const cairn_run_paraview *paraview, cairn_error *error);
/* Flush, then remove files that an earlier run left and this one did not replace. */
cairn_status cairn_run_paraview_finish(const cairn_run_paraview *paraview, cairn_error *error);
void cairn_run_paraview_destroy(cairn_run_paraview *paraview);

#endif
