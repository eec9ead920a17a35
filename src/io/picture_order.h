/* picture_order.h - in which order the things of a picture are painted, so that what is in front
 * hides what is behind. */
#ifndef CAIRN_IO_PICTURE_ORDER_H
#define CAIRN_IO_PICTURE_ORDER_H

#include "base/arena.h"

/* A face of a convex thing: its outward normal and a point of it. */
typedef struct cairn_picture_face {
    cairn_vec3 normal, point; /* unit, m */
} cairn_picture_face;

/* A ball, a convex body, or a single polygon of something that is not convex. */
typedef struct cairn_picture_item {
    cairn_vec3 centre;               /* m                         */
    double radius;                   /* m: a ball; 0: none        */
    const cairn_vec3 *corners;       /* of what is no ball        */
    const cairn_picture_face *faces; /* of it                     */
    int corner_count, face_count;    /* one face: a polygon alone */
    double size;                     /* m: about its half width   */
    double low[2], high[2];          /* m: its box in the picture */
    double depth;                    /* m: of the centre, grows towards
                                                                     the viewer                */
} cairn_picture_item;

/* The numbers of the items from the farthest to the nearest, in `order`. Things that a plane
 * separates, and whose boxes in the picture overlap, are ordered by the side of the plane that the
 * viewer is on; where this leads round in a circle, or nothing separates them, the depth decides.
 * `towards` is the unit vector to the viewer. Scratch comes from the arena. */
cairn_status cairn_picture_order(const cairn_picture_item *items, int count, cairn_vec3 towards,
                                 cairn_arena *arena, int32_t *order);

#endif
