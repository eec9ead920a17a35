/* ending.h - how the program ends: exit codes, and how errors are printed. Signals: interrupt.h. */
#ifndef CAIRN_TOOLS_ENDING_H
#define CAIRN_TOOLS_ENDING_H

#include "cairn/cairn.h"

/* How the program ends; docs/cli.md tells users. */
enum {
    EXIT_DONE = 0,         /* all went well                                       */
    EXIT_FAILED = 1,       /* reading, writing, memory, or a step that failed     */
    EXIT_USAGE = 2,        /* the command line is not right                       */
    EXIT_SCENE = 3,        /* the scene or the problem file is not right          */
    EXIT_UNCERTIFIED = 4,  /* a step or a solve missed its tolerance              */
    EXIT_SIGNAL_BASE = 128 /* plus the number of the signal that ended the run    */
};

/* Print "file:line:column: key: message" and return the exit code of a failure. */
int cairn_error_print(cairn_status status, const cairn_error *error);

#endif
