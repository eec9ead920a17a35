/* reproduce.h - what the parts of `cairn reproduce` share. */
#ifndef CAIRN_TOOLS_REPRODUCE_H
#define CAIRN_TOOLS_REPRODUCE_H

#include <stdio.h>

#include "studies/study.h"

enum { REPRODUCE_PATH = 4096 };

typedef enum cairn_entry_state { ENTRY_WAITS, ENTRY_ENDED } cairn_entry_state;

/* An entry and its outcome. */
typedef struct cairn_computed {
    const cairn_study_entry *entry;
    cairn_entry_state state;
    cairn_study study;   /* its rows, note and figures; series stay where they were computed */
    char problem[96];    /* why it could not be computed; empty: it was                      */
    double seconds, cpu; /* s: elapsed, and CPU time                                         */
    int undrawn;         /* figures that could not be drawn                                  */
    bool no_gnuplot;     /* because gnuplot is not installed                                 */
} cairn_computed;

/* Number of rows with each verdict, by what they were compared with. */
typedef struct cairn_verdict_count {
    int published[CAIRN_MATCH_COUNT];  /* against a number printed in the paper            */
    int reference[CAIRN_MATCH_COUNT];  /* against an independent computation               */
    int statements[CAIRN_MATCH_COUNT]; /* whether a statement of the paper holds           */
    int entries, failed;               /* items that ended, and those of them that failed  */
} cairn_verdict_count;

/* Add the rows of an entry. */
void cairn_verdict_count_add(cairn_verdict_count *count, const cairn_computed *c);

/* ---- entries in processes of their own ------------------------------------------------------- */

/* Entries to compute, each in a process of its own. */
typedef struct cairn_jobs {
    cairn_computed *items;
    int count;
    int width; /* processes at a time */
    bool quick, quiet;
    const char *folder; /* of the figures */
    void (*ended)(void *context, cairn_computed *item);
    void *context;
} cairn_jobs;

/* Compute all items, the longest first, and call `ended` for each. An interrupt of the program
 * stops it before all items have ended. Progress goes to standard error. */
void cairn_jobs_run(const cairn_jobs *jobs);

/* ---- reproduce_page.c: figures by gnuplot, and HTML pages with the figures of `folder` ------- */

/* Draw figure `index` into FOLDER/ENTRY-FIGURE.svg; failures are counted in `c`. */
void cairn_figure_draw(const char *folder, cairn_computed *c, int index);

void cairn_page_write(FILE *page, const char *folder, const cairn_computed *c);
void cairn_page_report(FILE *page, const char *folder, const cairn_computed *items, int count);

#endif
