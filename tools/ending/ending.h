/* ending.h - how the program ends: exit codes, error messages, and signals that end it cleanly. */
#ifndef CAIRN_TOOLS_ENDING_H
#define CAIRN_TOOLS_ENDING_H

#include "cairn/cairn.h"

/* Exit codes; docs/cli.md describes them for users. */
enum {
    EXIT_DONE = 0,         /* success                                             */
    EXIT_FAILED = 1,       /* reading, writing, memory, or a step that failed     */
    EXIT_USAGE = 2,        /* the command line is invalid                         */
    EXIT_SCENE = 3,        /* the scene or the problem file is invalid            */
    EXIT_UNCERTIFIED = 4,  /* a step or a solve missed its tolerance              */
    EXIT_SIGNAL_BASE = 128 /* plus the number of the signal that ended the run    */
};

/* Print "file:line:column: key: message" and return the exit code of a failure. */
int cairn_error_print(cairn_status status, const cairn_error *error);

/* ---- signals: Ctrl-C, SIGTERM and SIGHUP (a closed terminal) end a run cleanly --------------- */

/* From now on SIGINT, SIGTERM and SIGHUP are only recorded, unless they are ignored. A second
 * SIGINT kills the program at once; so does any signal a second or more after the first. */
void cairn_interrupt_watch(void);

/* For a child process: restore the default, by which they end it. */
void cairn_interrupt_forget(void);

/* The number of the signal that arrived; 0: none. */
int cairn_interrupt_signal(void);

#endif
