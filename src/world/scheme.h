/* scheme.h - a time-stepping scheme: a choice of bias, of law and of how the step is solved. */
#ifndef CAIRN_WORLD_SCHEME_H
#define CAIRN_WORLD_SCHEME_H

#include "world/world.h"

typedef struct cairn_scheme {
    const char *name;
    const char *summary;
    cairn_law law;        /* by which the step is judged            */
    unsigned solver_laws; /* its solver must treat one of these bits 1 << law */
    bool frictionless;    /* mu = 0 everywhere                      */
    bool edges;           /* cones with edges, in 3D                */
    bool velocity_level;  /* contacts that overlap at mid-step, without the gap in the bias */
    cairn_status (*solve)(cairn_stage *stage);
} cairn_scheme;

/* The scheme of a name, NULL when unknown. */
const cairn_scheme *cairn_scheme_find(const char *name);

#endif
