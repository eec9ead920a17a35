/* drawing.h - what of a run can be looked at: walls and shapes as surfaces, the series for
 * ParaView, and the picture of the last state. */
#ifndef CAIRN_RUN_DRAWING_H
#define CAIRN_RUN_DRAWING_H

#include "base/memory.h"
#include "cairn/base.h"
#include "cairn/scene.h"
#include "cairn/world.h"
#include "file/file.h"
#include "file/formats.h"
#include "run/frame.h"

/* Walls and containers as surfaces (2D: lines) that a viewer can draw.
 *
 * Fixed bodies of any shape except balls count as walls. Unbounded shapes are cut to the box of the
 * scene. The box only grows during a run, so that walls do not shrink and jump in an animation.
 * Parts of a container that lie outside another one (a cylinder below its conical bottom) are left
 * out. */

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

/* The distinct shapes of moving bodies, each drawn once in its own frame, with corners that its
 * polygons share. A frame places copies of them. */

/* A shape, and where in the mesh its points, corners and cells begin; they end where those of the
 * next one begin. */
typedef struct cairn_run_solid {
    cairn_shape
        shape; /* geometry is not retained: bodies, and the shelf of the run, keep it alive */
    size_t points, corners, cells;
} cairn_run_solid;

/* Zero is valid: none. */
typedef struct cairn_run_solids {
    cairn_run_solid *items; /* and one more, where the last one ends */
    size_t count, room;
    cairn_polygons mesh; /* `body` is the number of the shape: 0, 1, ... */
} cairn_run_solids;

/* The number of a shape; a new shape is drawn. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_solids_find(cairn_run_solids *solids, const cairn_shape *shape,
                                   int dimension, size_t *number);
void cairn_run_solids_destroy(cairn_run_solids *solids);

/* ---- walls ------------------------------------------------------------------------------- */

/* A box along the axes. Zero is valid: empty. */
typedef struct cairn_run_box {
    bool filled;
    cairn_vec3 low, high; /* m */
} cairn_run_box;

/* The drawn walls. Zero is valid: empty. */
typedef struct cairn_run_walls {
    cairn_run_box box;    /* of the scene so far                             */
    cairn_run_box others; /* of bodies that are not in the frame            */
    size_t count;         /* walls drawn                                     */
    cairn_polygons mesh;  /* their polygons; `body` is the row in /bodies    */
} cairn_run_walls;

/* Draw the walls of a frame. `changed` receives whether they may differ from those drawn before; if
 * not, the old polygons are kept. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_walls_draw(cairn_run_walls *walls, const cairn_run_frame *frame,
                                  bool *changed);
void cairn_run_walls_destroy(cairn_run_walls *walls);
/* Extend a box by the bodies in rows [begin, end) of the world; by another box. */
void cairn_run_box_add(cairn_run_box *box, const cairn_run_frame *frame, int begin, int end);
void cairn_run_box_join(cairn_run_box *box, const cairn_run_box *other);

/* ---- the folder paraview/ -------------------------------------------------------------------- */

/* Series of bodies (balls, as points), surfaces of other moving shapes, contacts, joints and walls,
 * and a script that shows them. Each frame is one small file per series. The .pvd files, which list
 * them, are rewritten at every flush, so they are valid while the run is in progress. */

/* Zero is valid: nothing is written. */
typedef struct cairn_run_paraview {
    char folder[CAIRN_PATH_BYTES];
    bool contacts;            /* whether contacts are written */
    bool fields;              /* whether the run measures fields */
    bool cell;                /* whether the run is periodic: its cell is drawn */
    bool joints;              /* the first frame has joints; only then is the series written */
    const cairn_scene *scene; /* names of bodies and materials; lent; NULL: there are none */
    cairn_run_walls walls;    /* as of the last frame, to see whether they changed */
    cairn_vtk_moment *times;  /* of bodies, contacts and joints: frame k is file k */
    size_t count, times_room;
    size_t without_balls;         /* frames before the first ball, which have no file of bodies */
    cairn_vtk_moment *wall_times; /* frames share a file as long as the walls do not change */
    size_t wall_times_room;
    cairn_run_solids solids;       /* shapes of moving bodies other than balls */
    cairn_vtk_moment *shape_times; /* frames with such bodies */
    size_t shape_count, shape_times_room;
    /* of a frame that several ranks write: their number, which one this is, and its bodies; the
     * first one also has the held ones */
    int pieces, piece, own, own_end;
    bool any_balls, any_shapes; /* some rank has, or had, a ball; has another moving shape */
    const cairn_vec3 *held; /* N, first rank: forces of all ranks on held bodies; lent, or NULL */
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
/* Write what this rank has of frame paraview->count, as a piece of its bodies and contacts. */
cairn_status cairn_run_paraview_piece(cairn_run_paraview *paraview, const cairn_run_frame *frame,
                                      cairn_arena *arena, cairn_error *error);
/* Add the forces, N, of this rank's contacts on held bodies, by row. */
void cairn_run_paraview_held(const cairn_run_paraview *paraview, const cairn_run_frame *frame,
                             cairn_vec3 *sum);
/* Write the .pvd files of the frames so far. */
cairn_status cairn_run_paraview_flush(const cairn_run_paraview *paraview, cairn_error *error);
/* Flush, then remove the files of an earlier run that this one did not replace. */
cairn_status cairn_run_paraview_finish(const cairn_run_paraview *paraview, cairn_error *error);
void cairn_run_paraview_destroy(cairn_run_paraview *paraview);

/* ---- the script view.py ------------------------------------------------------------------ */

/* Write `folder`/view.py, a script for ParaView. */
cairn_status cairn_run_view_write(const char *folder, cairn_error *error);

/* ---- colours --------------------------------------------------------------------------------- */

/* The colours of the viewer, as "#1b6ca8". */
enum { CAIRN_COLOUR_BYTES = 8 };

/* Of a share from 0 to 1: from blue over green to amber. */
void cairn_palette_share(double share, char *text);
/* Of one of `count` kinds. A kind with the name of a colour, such as `red` or `dark_red`, has that
 * colour; the others take turns with the rest. */
void cairn_palette_kind(const char *const *names, int count, int kind, char *text);

/* ---- the picture ----------------------------------------------------------------------------- */

/* The last state of a run as one SVG file, which any browser can show. */

/* At most so many circles and faces of moving bodies are painted: the nearest ones. */
enum { CAIRN_PICTURE_MARKS = 30000 };

/* A ball, a convex body, or a single polygon of a body that moves, before anything is left out. */
typedef struct cairn_picture_part {
    double depth;  /* m: increases towards the viewer        */
    int32_t slot;  /* row of its body in the world           */
    int32_t marks; /* circles and faces that are painted     */
    bool polygon;  /* no ball: painted after all balls of the same depth */
} cairn_picture_part;

/* What some bodies that move need in a picture. */
typedef struct cairn_picture_needs {
    cairn_picture_part *parts; /* balls by rows of the frame, then polygons by rows */
    size_t count;
    double largest_force;   /* N                                                 */
    bool polygons;          /* some are painted with polygons                    */
    double low[2], high[2]; /* m: where these are in the picture plane           */
} cairn_picture_needs;

/* Find it for the bodies of a frame, which has these in `slot`, `bodies`, `world` and `dimension`;
 * `forces` as below. The parts belong to the arena. */
cairn_status cairn_picture_need(const cairn_world *world, const cairn_run_frame *frame,
                                const double *forces, cairn_arena *arena, cairn_picture_needs *out);

/* Of a frame that lacks contacts, and moving bodies that are farther away than CAIRN_PICTURE_MARKS
 * others. Zero is valid: it lacks nothing. */
typedef struct cairn_picture_rest {
    const double *forces;      /* N, by row of the world: sum of the normal forces on each body */
    cairn_picture_needs needs; /* of all bodies that move, without `parts`                       */
    cairn_run_box box;         /* of all bodies that move                                        */
} cairn_picture_rest;

/* Write `folder`/picture.svg: bodies seen from the side and above (2D: from the front), and the
 * walls. If bodies of several materials move, their materials are the colours, else the sums of the
 * normal forces on them. `rest` may be NULL. Scratch memory comes
 * from the arena. */
cairn_status cairn_picture_write(const cairn_run_frame *frame, const cairn_picture_rest *rest,
                                 const cairn_scene *scene, const char *folder, cairn_arena *arena,
                                 cairn_error *error);

/* ---- order ------------------------------------------------------------------------------- */

/* The order in which the items of a picture are painted, so that items in front hide those
 * behind. */

/* A face of a convex item: its outward normal and a point on it. */
typedef struct cairn_picture_face {
    cairn_vec3 normal, point; /* unit, m */
} cairn_picture_face;

/* A ball, a convex body, or a single polygon of something that is not convex. */
typedef struct cairn_picture_item {
    cairn_vec3 centre;               /* m                         */
    double radius;                   /* m: of a ball; 0: not a ball */
    const cairn_vec3 *corners;       /* of anything but a ball */
    const cairn_picture_face *faces; /* outward normals and a point of each face */
    int corner_count, face_count;    /* one face: a single polygon */
    double size;                     /* m: largest distance of a corner from the centre */
    double low[2], high[2];          /* m: bounding box in the picture plane */
    double depth;                    /* m: of the centre, increasing towards the viewer */
} cairn_picture_item;

/* Write the indices of the items into `order`, from the farthest to the nearest. Two items whose
 * boxes in the picture overlap, and which a plane separates, are ordered by the side of the plane
 * on which the viewer is. If this leads to a cycle, or if no plane separates them, the depth
 * decides. `towards` is the unit vector to the viewer. Scratch memory comes from the arena. */
cairn_status cairn_picture_order(const cairn_picture_item *items, int count, cairn_vec3 towards,
                                 cairn_arena *arena, int32_t *order);

#endif
