/* walls.h - walls and containers as surfaces (2D: lines) that a viewer can draw.
 *
 * Fixed bodies of any shape except balls count as walls. Unbounded shapes are cut to the box of the
 * scene. The box only grows during a run, so that walls do not shrink and jump in an animation.
 * Parts of a container that lie outside another one (a cylinder below its conical bottom) are left
 * out. */
#ifndef CAIRN_RUN_WALLS_H
#define CAIRN_RUN_WALLS_H

#include "cairn/world.h"
#include "run/frame.h"

/* ---- polygons ---------------------------------------------------------------------------- */

/* A growing set of polygons or lines in space, in the layout of VTK: one list of points, one list
 * of corners, and the end of each cell in it. */

/* Zero is valid: empty. */
typedef struct cairn_polygons {
    cairn_vec3 *x; /* m: `points` points; cells do not share them */
    size_t points, x_room;
    int64_t *connectivity; /* point of each corner, cell after cell */
    size_t corners, connectivity_room;
    int64_t *offsets; /* for each cell: the end of its corners */
    size_t cells, offsets_room;
    int32_t *body; /* for each cell: the body that it belongs to */
    size_t body_room;
} cairn_polygons;

/* Remove all polygons, keep the memory. */
void cairn_polygons_clear(cairn_polygons *polygons);
void cairn_polygons_destroy(cairn_polygons *polygons);
/* Add one polygon or line with `count` corners (m). Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_polygons_add(cairn_polygons *polygons, const cairn_vec3 *corners, size_t count,
                                int32_t body);
/* How the polygons of a body are added. */
typedef struct cairn_polygons_of {
    int dimension; /* of the world                                    */
    int32_t body;  /* the number stored with each polygon */
    bool outlined; /* as lines: a closed line repeats its first corner at the end */
} cairn_polygons_of;

/* Add the polygons of the body at row `index`, in world coordinates. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_polygons_add_body(cairn_polygons *polygons, const cairn_bodies *bodies,
                                     int index, const cairn_polygons_of *how);

/* ---- solids ------------------------------------------------------------------------------ */

/* The distinct shapes of moving bodies, each drawn once in its own frame. A frame then stores only
 * a pose for each body. */

/* Zero is valid: none. */
typedef struct cairn_run_solids {
    /* geometry is not retained: bodies, and the shelf of the run, keep it alive */
    cairn_shape *shapes;
    size_t count, room;
    cairn_polygons mesh; /* `body` is the number of the shape: 0, 1, ... in the order of `shapes` */
} cairn_run_solids;

/* The number of a shape; a new shape is drawn. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_solids_find(cairn_run_solids *solids, const cairn_shape *shape,
                                   int dimension, int32_t *number);
void cairn_run_solids_destroy(cairn_run_solids *solids);

/* ---- walls ------------------------------------------------------------------------------- */

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

/* Draw the walls of a frame. `changed` receives whether they may differ from those drawn before; if
 * not, the old polygons are kept. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_walls_draw(cairn_run_walls *walls, const cairn_run_frame *frame,
                                  bool *changed);
void cairn_run_walls_destroy(cairn_run_walls *walls);

#endif
