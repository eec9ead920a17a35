/* lagrange.h - a system in generalised coordinates, from inside. */
#ifndef CAIRN_WORLD_LAGRANGE_H
#define CAIRN_WORLD_LAGRANGE_H

#include "base/arena.h"
#include "cairn/lagrange.h"

struct cairn_lagrange {
    cairn_lagrange_system system;
    double time;
    double *q, *v; /* coordinates                                       */
    double *r;     /* dimension per contact: impulses of the last step  */
    double *s;     /* per contact: sliding correction of the last step  */
    cairn_arena owned, scratch;
    cairn_workspace *workspace;
};

#endif
