/* gain.h - groups of bodies that contacts connect, for energies (gain.c) and for what is solved
 * again (restrain.c). */
#ifndef CAIRN_WORLD_GAIN_H
#define CAIRN_WORLD_GAIN_H

#include "world/step.h"

/* Groups of blocks that some contacts connect. A label is the place of a block in the whole
 * world. */
typedef struct cairn_labels {
    int64_t *of;    /* of blocks: the smallest label in the group            */
    int64_t *told;  /* of blocks: what other members say                     */
    int32_t *first; /* of blocks: the first one of the group, of this member */
    int64_t count;  /* labels are below it                                   */
} cairn_labels;

/* Memory for them. */
cairn_status cairn_labels_take(const cairn_step *step, const cairn_problem *p, cairn_labels *l);
/* The groups that the marked contacts connect; `marks` NULL: all contacts do. */
void cairn_labels_find(const cairn_step *step, const cairn_problem *p, const uint8_t *marks,
                       cairn_labels *l);
/* Of contact j. */
int64_t cairn_label_of(const cairn_problem *p, const cairn_labels *l, int j);

#endif
