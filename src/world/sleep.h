/* sleep.h - groups of bodies at rest are not solved again; the method is told in sleep.c. */
#ifndef CAIRN_WORLD_SLEEP_H
#define CAIRN_WORLD_SLEEP_H

#include "world/world.h"

/* The groups of the step, and which of them are to be solved, out of the impulses of the warm
 * start; v and u of the stage are then theirs where somebody sleeps. */
cairn_status cairn_stage_find_groups(cairn_stage *stage);
/* The drowsy group after number *next of the blocks, to be solved alone: its contacts. False: no
 * more. */
bool cairn_stage_next_drowsy(const cairn_stage *stage, int *next, const int32_t **contacts,
                             int *count);
/* With the velocities of the impulses that were found: who rests when the step ends. */
cairn_status cairn_stage_settle(cairn_stage *stage);
/* Velocities of who rests are 0, and so are those of its contacts. */
void cairn_stage_hold_still(cairn_stage *stage);

#endif
