/* run_solids.h - the different shapes of moving bodies, each drawn once in its own frame. */
#ifndef CAIRN_IO_RUN_SOLIDS_H
#define CAIRN_IO_RUN_SOLIDS_H

#include "io/polygons.h"

/* Zero is valid: none. */
typedef struct cairn_run_solids {
    cairn_shape *shapes; /* lent: the bodies hold their data                          */
    size_t count, room;
    cairn_polygons mesh; /* `body` is the number of the shape: 0, 1, ... in this order */
} cairn_run_solids;

/* The number of a shape; one that is new is drawn. Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_run_solids_find(cairn_run_solids *solids, const cairn_shape *shape,
                                   int dimension, int32_t *number);
void cairn_run_solids_destroy(cairn_run_solids *solids);

#endif
