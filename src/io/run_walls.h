/* run_walls.h - walls and containers as surfaces (2D: lines) that a viewer can draw.
 *
 * Fixed bodies of any shape but balls count as walls. Shapes without end are cut to the box of the
 * scene. The box only grows during a run. Parts of a container that lie outside another one (a
 * cylinder below its conical bottom) are left out. */
#ifndef CAIRN_IO_RUN_WALLS_H
#define CAIRN_IO_RUN_WALLS_H

#include "io/polygons.h"
#include "io/run_frame.h"

/* A box along the axes. Zero is valid: empty. */
typedef struct cairn_run_box {
    bool filled;
    cairn_vec3 low, high; /* m */
} cairn_run_box;

/* The drawn walls. Zero is valid: empty. */
typedef struct cairn_run_walls {
    cairn_run_box box;   /* of the scene so far                             */
    size_t count;        /* walls drawn                                     */
    cairn_polygons mesh; /* their polygons; `body` is the row in /bodies    */
} cairn_run_walls;

/* Draw the walls of a frame. `changed` tells whether they differ from those drawn before.
 * Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_walls_draw(cairn_run_walls *walls, const cairn_run_frame *frame,
                                  bool *changed);
void cairn_run_walls_destroy(cairn_run_walls *walls);

#endif
