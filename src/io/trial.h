/* trial.h - the inside of a list of trials. */
#ifndef CAIRN_IO_TRIAL_H
#define CAIRN_IO_TRIAL_H

#include "base/arena.h"
#include "cairn/trial.h"

struct cairn_trials {
    cairn_trial *items;
    size_t count, capacity;
    char **names; /* of the problems, each once */
    size_t name_count, name_capacity;
    cairn_workspace *workspace;
    cairn_arena scratch;    /* of one trial                                      */
    const double *impulses; /* of the last one, in `scratch`; NULL: it has none  */
    bool threads_set;       /* `threads` counts; else OpenMP's own number does   */
    int threads;            /* 0: as many as the machine has                     */
    int repeats;            /* of a solve, of which the shortest counts; 0: none */
};

#endif
