/* run_materials.h - the laws of friction and restitution of a world, for /certificate of run.h5. */
#ifndef CAIRN_IO_RUN_MATERIALS_H
#define CAIRN_IO_RUN_MATERIALS_H

#include "cairn/world.h"
#include "io/hdf5.h"

/* Write into a group: a matrix over pairs of materials for each number of the pair, and the group
 * `laws` with the friction laws that the matrices `law_first` and `law_second` name. */
cairn_status cairn_run_materials_write(hid_t group, const cairn_world *world, cairn_error *error);

#endif
