/* groups.h - bodies connected by candidate contacts: nothing that happens to one group in this step
 * can affect another. */
#ifndef CAIRN_WORLD_GROUPS_H
#define CAIRN_WORLD_GROUPS_H

#include "world/step.h"

/* A group; it is stored in the entry of its first block. */
typedef struct cairn_group {
    double closing;       /* m/s: C, see scales.c                               */
    double sum, part_sum; /* by cairn_groups_sum; of the contacts of one part   */
    int64_t label;        /* the row of its first body in the whole world       */
    uint8_t marks;
    bool sleeper;     /* asleep when the step began; equilibrium.c: quiet      */
    bool drowsy;      /* a sleeper whose impulses are no longer valid          */
    bool struck;      /* by Poisson's law: something hits in it, and can bounce */
    bool own, shared; /* this member, or another one, has some of its bodies   */
    bool met;         /* it has contacts in the part that is being summed      */
} cairn_group;

/* Groups by their labels, ascending. */
typedef struct cairn_group_name {
    int64_t label;
    int32_t first; /* block */
} cairn_group_name;

/* Find the groups of a problem; everything else about them is 0. Several stages of a step use the
 * same groups: each clears the marks first. */
cairn_status cairn_groups_find(const cairn_step *step, const cairn_problem *p, cairn_groups *g);
void cairn_groups_clear(const cairn_problem *p, cairn_groups *g);
/* What members tell each other about their groups until nothing changes: the label, of which the
 * smallest counts; the marks, of which any counts; the closing velocity, of which the largest
 * counts. */
typedef enum cairn_told { CAIRN_TOLD_LABEL, CAIRN_TOLD_MARKS, CAIRN_TOLD_CLOSING } cairn_told;
void cairn_groups_spread(const cairn_problem *p, cairn_groups *g, cairn_told what);
/* The group of contact j; NULL if neither side can move. */
cairn_group *cairn_group_of(const cairn_problem *p, const cairn_groups *g, int j);
/* The group of the body in a row; NULL if it is held. Marks are made for own bodies alone: a member
 * does not know all contacts of a ghost, and so not its velocity. */
cairn_group *cairn_group_of_row(const cairn_step *step, const cairn_groups *g, int row);

/* Add the numbers of the contacts of each sleeper to its sum, in the order of the parts, so that it
 * does not depend on the members. */
cairn_status cairn_groups_sum(const cairn_problem *p, const double *value, cairn_arena *scratch,
                              cairn_groups *g);

#endif
