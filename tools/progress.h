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
/* Leave the redrawn line. */
void cairn_progress_end(cairn_progress_view *view);

#endif
