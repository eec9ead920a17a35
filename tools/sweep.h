/* sweep.h - what the parts of `cairn sweep` share. */
#ifndef CAIRN_TOOLS_SWEEP_H
#define CAIRN_TOOLS_SWEEP_H

#include "command.h"

enum { SWEEP_PATH = 4096, SWEEP_VALUE = 64 }; /* bytes of a path, of a value */

/* One varied key and its values. */
typedef struct cairn_sweep_key {
    char name[64]; /* as given: a parameter, or a path with dots */
    char (*values)[SWEEP_VALUE];
    int count;
    bool repeats; /* results are averaged over it */
} cairn_sweep_key;

typedef struct cairn_sweep_plan {
    const cairn_arguments *arguments;
    char folder[SWEEP_PATH];
    cairn_sweep_key keys[CAIRN_SWEEP_KEYS];
    int key_count, run_count;
    int *runs; /* numbers of the runs to be computed              */
    int todo_count, failed;
    char label[32];
} cairn_sweep_plan;

/* The number that stands for the value of key k in run r: itself; for a word its place from 1. */
double cairn_sweep_value(const cairn_sweep_plan *sweep, int r, int k);
/* DIR/run_0001/name; without a name the folder itself. `path` has SWEEP_PATH bytes. */
void cairn_sweep_path(const cairn_sweep_plan *sweep, int r, const char *name, char *path);
/* The unit of a result, or of a key that is a path with dots; "": it has none. */
void cairn_sweep_unit(const char *name, char unit[32]);

/* Write the tables and the picture of all runs that are done (sweep_tables.c). An exit code. */
int cairn_sweep_report(const cairn_sweep_plan *sweep);

#endif
