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
    cairn_arena scratch; /* of one trial */
};

#endif
