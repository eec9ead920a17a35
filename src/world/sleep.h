/* sleep.h - groups of bodies at rest are not solved again; the method is told in sleep.c. */
#ifndef CAIRN_WORLD_SLEEP_H
#define CAIRN_WORLD_SLEEP_H

#include "world/step.h"

/* The groups of the step, and which of them are to be solved, out of the impulses of the warm
 * start; v and u of the answer are then theirs where somebody sleeps. */
cairn_status cairn_rest_find_groups(const cairn_step *step, const cairn_free_motion *motion,
                                    double tolerance, cairn_answer *answer);
/* The drowsy group after number *next of the blocks, to be solved alone: its contacts. False: no
 * more. */
bool cairn_groups_next_drowsy(const cairn_groups *groups, int blocks, int *next,
                              const int32_t **contacts, int *count);
/* With the velocities of the impulses that were found: who rests when the step ends. */
cairn_status cairn_rest_settle(const cairn_step *step, const cairn_free_motion *motion,
                               cairn_answer *answer);
/* Velocities of who rests are 0, and so are those of its contacts. */
void cairn_rest_hold_still(const cairn_step *step, cairn_answer *answer);

#endif
