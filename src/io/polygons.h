/* polygons.h - a growing set of polygons or lines in space, as viewers read them. */
#ifndef CAIRN_IO_POLYGONS_H
#define CAIRN_IO_POLYGONS_H

#include "cairn/world.h"

/* Zero is valid: empty. */
typedef struct cairn_polygons {
    cairn_vec3 *x; /* m: `points` corners                              */
    size_t points, x_room;
    int64_t *connectivity; /* corners of the cells, one cell after the other  */
    size_t corners, connectivity_room;
    int64_t *offsets; /* for each cell: end of its corners               */
    size_t cells, offsets_room;
    int32_t *body; /* for each cell: whose it is                      */
    size_t body_room;
} cairn_polygons;

/* Forget all, keep the memory. */
void cairn_polygons_clear(cairn_polygons *polygons);
void cairn_polygons_destroy(cairn_polygons *polygons);
cairn_status cairn_polygons_add(cairn_polygons *polygons, const cairn_vec3 *corners, size_t count,
                                int32_t body);
/* How the polygons of a body are added. */
typedef struct cairn_polygons_of {
    int dimension; /* of the world                                    */
    int32_t body;  /* the number they get                             */
    bool outlined; /* as lines: a closed one ends where it began      */
} cairn_polygons_of;

/* The polygons of body `index`. */
cairn_status cairn_polygons_add_body(cairn_polygons *polygons, const cairn_bodies *bodies,
                                     int index, const cairn_polygons_of *how);

#endif
