/* reproduce.h - what the parts of `cairn reproduce` share. */
#ifndef CAIRN_TOOLS_REPRODUCE_H
#define CAIRN_TOOLS_REPRODUCE_H

#include <stdio.h>

#include "reproduce/study.h"

enum { REPRODUCE_PATH = 4096 };

/* An entry that was computed. */
typedef struct cairn_computed {
    const cairn_entry *entry;
    const cairn_study *study;
    cairn_status status;
    double seconds;
} cairn_computed;

/* How often each verdict was given, apart for what it was judged by. */
typedef struct cairn_verdict_count {
    int published[CAIRN_MATCH_COUNT];  /* against a number printed in the paper            */
    int reference[CAIRN_MATCH_COUNT];  /* against an independent computation               */
    int statements[CAIRN_MATCH_COUNT]; /* whether a statement of the paper holds           */
    int entries, failed;               /* items computed, and those that could not be      */
} cairn_verdict_count;

/* Add the rows of an entry. */
void cairn_verdict_count_add(cairn_verdict_count *count, const cairn_computed *c);

/* Draw figure `index` into FOLDER/ENTRY-FIGURE.svg; `path` receives the file. False: not drawn,
 * and a warning was printed the first time. */
bool cairn_figure_draw(const char *folder, const cairn_computed *c, int index,
                       char path[REPRODUCE_PATH]);

/* Parts of a page; drawn figures of `folder` go into it. */
void cairn_page_begin(FILE *page, const char *title);
void cairn_page_contents(FILE *page, bool quick);
void cairn_page_entry(FILE *page, const char *folder, const cairn_computed *c);
void cairn_page_count(FILE *page, const cairn_verdict_count *count);
void cairn_page_end(FILE *page);

#endif
