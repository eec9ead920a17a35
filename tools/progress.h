/* progress.h - showing how far a run has come: one redrawn line on a terminal, else plain lines. */
#ifndef CAIRN_TOOLS_PROGRESS_H
#define CAIRN_TOOLS_PROGRESS_H

#include "cairn/cairn.h"

/* Set by cairn_progress_start; the rest is kept by cairn_progress_show. */
typedef struct cairn_progress_view {
    bool quiet, terminal;
    double started; /* s, clock at the start                                      */
    double shown;   /* s, clock when a line was last printed                      */
    double reached; /* s of the run reached then                                  */
    double speed;   /* seconds of the run per second, of late; 0: not known yet   */
    int tenths;     /* 10 % marks passed                                          */
    bool line_open; /* the cursor stands in a redrawn line                        */
} cairn_progress_view;

/* Begin; lines go to standard error. */
cairn_progress_view cairn_progress_start(bool quiet);
/* Called after every step; prints when it is time to. */
void cairn_progress_show(cairn_progress_view *view, const cairn_progress *progress);
/* For other work than a run: whether it is time to print, when a share `done` in [0, 1] of it is
 * done, and printing what is to be said. */
bool cairn_progress_due(cairn_progress_view *view, double done);
void cairn_progress_print(cairn_progress_view *view, const char *state, double done);
/* Seconds as "1:05" or "2:03:09"; not a number: "?". */
void cairn_progress_left(double seconds, char *text, size_t capacity);
/* Leave the redrawn line. */
void cairn_progress_end(cairn_progress_view *view);

#endif
