/* print.h - what commands print: lines, scenes, the summary of a run, progress, and pictures by
 * gnuplot. */
#ifndef CAIRN_TOOLS_PRINT_H
#define CAIRN_TOOLS_PRINT_H

#include "cairn/cairn.h"

/* One line of a table on standard output: a name and a formatted value. */
void cairn_line_print(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Title, bodies, materials, mass, extent, and the settings of the run. */
void cairn_scene_describe(const cairn_scene *scene);

/* "3-5, 9 and 2 more ranges": steps as text, at most `most` ranges. */
void cairn_spans_text(const cairn_run_spans *spans, int most, char *text, size_t capacity);

/* ---- the table at the end of a run ----------------------------------------------------------- */

/* Print what a run did, how well, where the time went and where the files are. */
void cairn_summary_print(const cairn_scene *scene, const cairn_run_summary *summary,
                         const char *folder);

/* Warn on standard error of steps that missed their tolerance, with the place of their problems,
 * and of deep overlaps. */
void cairn_summary_warn(const cairn_scene *scene, const cairn_run_summary *summary,
                        const char *folder);

/* ---- how far a run has come: one redrawn line on a terminal, else plain lines ---------------- */

/* Set by cairn_progress_start, updated by cairn_progress_show. */
typedef struct cairn_progress_view {
    bool quiet, terminal;
    double started; /* s, clock at the start                                      */
    double shown;   /* s, clock when a line was last printed                      */
    double reached; /* s of the run reached then                                  */
    double speed;   /* recent seconds of the run per second; 0: not known yet     */
    int tenths;     /* 10 % marks passed                                          */
    bool line_open; /* the cursor is in a redrawn line                            */
} cairn_progress_view;

/* Begin; lines go to standard error. */
cairn_progress_view cairn_progress_start(bool quiet);
/* Called after every step; prints when a line is due. */
void cairn_progress_show(cairn_progress_view *view, const cairn_progress *progress);
/* For work other than a run: whether a line is due when the fraction `done` in [0, 1] is completed,
 * and printing it. */
bool cairn_progress_due(cairn_progress_view *view, double done);
void cairn_progress_print(cairn_progress_view *view, const char *state, double done);
/* Seconds as "1:05" or "2:03:09"; NaN: "?". */
void cairn_progress_left(double seconds, char *text, size_t capacity);
/* Leave the redrawn line. */
void cairn_progress_end(cairn_progress_view *view);

/* ---- pictures by gnuplot, where it is installed ---------------------------------------------- */

typedef enum cairn_plot_outcome { PLOT_DRAWN, PLOT_NO_GNUPLOT, PLOT_FAILED } cairn_plot_outcome;

/* Run `gnuplot SCRIPT` in `folder` as a child process, without a shell. The script writes
 * PICTURE.part, which becomes PICTURE (cairn/output.h) if gnuplot succeeds, and is removed if
 * not. */
cairn_plot_outcome cairn_plot_draw(const char *folder, const char *script, const char *picture);

/* ---- work in processes of its own, several at a time (jobs.c) -------------------------------- */

/* How the process of an item ended. */
typedef struct cairn_job_end {
    const char *bytes; /* that it sent, `count` of them, lent            */
    size_t count;
    int code;            /* its exit code; -1: none                      */
    double seconds, cpu; /* s: elapsed, and CPU time                     */
    char problem[96];    /* how it was ended; empty: it ended by itself  */
} cairn_job_end;

/* Items to compute. */
typedef struct cairn_work {
    int count;
    int width; /* processes at a time, at most 64 */
    bool quiet;
    const char *noun;                          /* of the items, for the line of progress */
    void *context;                             /* given to all functions                 */
    double (*weight)(void *context, int item); /* estimated seconds, > 0; the longest begin first */
    const char *(*name)(void *context, int item);
    /* in a process of its own, which SIGTERM ends: compute, send, return the exit code */
    int (*compute)(void *context, int item, int pipe);
    void (*ended)(void *context, int item, const cairn_job_end *end);
} cairn_work;

/* Compute all items. An interrupt of the program ends it before all items have ended; `ended` is
 * not called for those in progress. Progress goes to standard error. */
cairn_status cairn_work_do(const cairn_work *work);
/* Send bytes to the parent; false: it is gone. */
bool cairn_job_send(int pipe, const void *bytes, size_t count);

#endif
