/* picture.h - the last state of a run as one SVG file, which any browser can show. */
#ifndef CAIRN_RUN_PICTURE_H
#define CAIRN_RUN_PICTURE_H

#include "base/arena.h"
#include "cairn/scene.h"
#include "run/frame.h"

/* Write `folder`/picture.svg: bodies seen from the side and above (2D: from the front), coloured by
 * the sum of the normal forces on them, and the walls. Scratch memory comes from the arena. */
cairn_status cairn_picture_write(const cairn_run_frame *frame, const cairn_scene *scene,
                                 const char *folder, cairn_arena *arena, cairn_error *error);

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
