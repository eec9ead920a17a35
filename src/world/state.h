/* state.h - between the files that turn a world into bytes and back (state.c, state_arrays.c,
 * state_joints.c). Readers fill a world that has nothing of the kind yet; their failures are
 * CAIRN_BAD_INPUT and CAIRN_NO_MEMORY, and the world can be destroyed after each. */
#ifndef CAIRN_WORLD_STATE_H
#define CAIRN_WORLD_STATE_H

#include "base/bytes.h"
#include "world/world.h"

/* CAIRN_BAD_INPUT once a reader has failed. */
cairn_status cairn_state_settle(const cairn_reader *r);

/* state_arrays.c */
/* The row of a body that is told by its uid; it is there, or the reader has failed. */
int cairn_state_read_body(cairn_reader *r, const cairn_world *world);
void cairn_state_write_bodies(cairn_writer *w, const cairn_world *world);
cairn_status cairn_state_read_bodies(cairn_reader *r, cairn_world *world);
void cairn_state_write_contacts(cairn_writer *w, const cairn_world *world);
cairn_status cairn_state_read_contacts(cairn_reader *r, cairn_world *world);

/* state_joints.c */
void cairn_state_write_joints(cairn_writer *w, const cairn_world *world);
cairn_status cairn_state_read_joints(cairn_reader *r, cairn_world *world);

#endif
