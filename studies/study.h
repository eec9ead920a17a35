/* study.h - the results of an entry of `cairn reproduce`: rows that compare numbers, and figures.
 * Also heap memory, for all studies and tools.
 *
 * Entries add to a study; the program prints it, draws it and writes its page. Failures of memory
 * are recorded in `status`, so that entries need not check after every row. */
#ifndef CAIRN_STUDIES_STUDY_H
#define CAIRN_STUDIES_STUDY_H

#include "cairn/base.h"
#include "cairn/cairn.h"

/* How our number compares with the published one. */
typedef enum cairn_match {
    CAIRN_MATCH_SAME,    /* within 0.1 %, or within the row's tolerance when that is less        */
    CAIRN_MATCH_CLOSE,   /* within the row's tolerance                                           */
    CAIRN_MATCH_TREND,   /* a statement of the paper, without a number, holds                    */
    CAIRN_MATCH_DIFFERS, /* none of these; the row says why                                      */
    CAIRN_MATCH_COUNT
} cairn_match;

/* "same", "close", "trend", "differs". */
const char *cairn_match_name(cairn_match match);

/* A number to compare. Zero where there is none. */
typedef struct cairn_study_values {
    double published;        /* as the paper prints it                                           */
    double reference;        /* by an independent program                                        */
    double ours;             /* computed now                                                     */
    double within;           /* largest relative difference from the published number; from the
                                reference when nothing is published                              */
    double within_reference; /* from the reference when there is a published number as well      */
    const char *why;         /* reason for a difference; NULL: none                              */
} cairn_study_values;

/* A row as it was judged. */
typedef struct cairn_finding {
    char what[128];
    double published, reference, ours, within;
    double difference; /* relative, from the number it was judged by; a statement: 0            */
    bool statement;    /* it says whether a statement of the paper holds                        */
    cairn_match match;
    char why[320];
} cairn_finding;

typedef enum cairn_series_style {
    CAIRN_SERIES_LINE,
    CAIRN_SERIES_DASHED,
    CAIRN_SERIES_POINTS,    /* ours, at single places                                            */
    CAIRN_SERIES_PUBLISHED, /* as printed in the paper: drawn over ours                          */
    CAIRN_SERIES_DISKS,     /* circles of radius z at (x, y)                                     */
    CAIRN_SERIES_AREAS,     /* filled outlines, broken between two                               */
    CAIRN_SERIES_MAP,       /* colour z at (x, y), in rows                                       */
    CAIRN_SERIES_STYLES
} cairn_series_style;

typedef struct cairn_series {
    char name[96]; /* in the legend; empty: not in it                                           */
    cairn_series_style style;
    int colour;
    double (*points)[3]; /* x, y, z; x not finite: the line is broken here                       */
    int count, capacity;
} cairn_series;

/* A diagram; its series are those added after it. */
typedef struct cairn_figure {
    const char *name, *title, *x_label, *y_label; /* texts that live as long as the program      */
    bool log_x, log_y;
    bool equal; /* the same scale on both axes                                           */
    bool bare;  /* a legend would only hide things                                       */
    double y_low, y_high; /* range of y; both 0: that of the data                                */
    int first, count; /* of its series: set by the study                                       */
} cairn_figure;

typedef struct cairn_study {
    bool quick;
    int threads; /* threads for steps of many bodies; 0: one per processor                      */
    cairn_status status;
    cairn_finding *findings;
    int finding_count, finding_capacity;
    cairn_figure *figures;
    int figure_count, figure_capacity;
    cairn_series *series;
    int series_count, series_capacity;
    char note[512]; /* which data were missing, and what was assumed                            */
} cairn_study;

/* Free the contents of a study and make it empty. */
void cairn_study_clear(cairn_study *study);

/* Judge a number and keep it; `format` names what it is. */
void cairn_study_row(cairn_study *study, const cairn_study_values *row, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Keep a statement of the paper that holds or does not, with the number that shows it. */
void cairn_study_claim(cairn_study *study, bool holds, const cairn_study_values *row,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same for a statement about the time of a solve: one that gave up proves nothing, whatever its
 * time, and differs. */
void cairn_study_time_claim(cairn_study *study, const cairn_trial *trial, bool holds,
                            const cairn_study_values *row, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Describe the data that were chosen. */
void cairn_study_note(cairn_study *study, const char *text);

/* Begin a figure. */
void cairn_study_figure(cairn_study *study, const cairn_figure *figure);
/* Begin a series of the last figure; returns its number. */
int cairn_study_series(cairn_study *study, cairn_series_style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Add a point to a series. */
void cairn_study_point(cairn_study *study, int series, double x, double y, double z);
/* Draw a series in colour 0, 1, ...; without this the n-th of a figure has colour n. */
void cairn_study_colour(cairn_study *study, int series, int colour);
/* Break the line of a series. */
void cairn_study_break(cairn_study *study, int series);

/* Which calls of `cairn reproduce` compute an entry. */
typedef enum cairn_entry_size {
    CAIRN_QUICK, /* all of them                                                                 */
    CAIRN_FULL   /* `all` without --quick                                                       */
} cairn_entry_size;

/* An item of a paper. */
typedef struct cairn_study_entry {
    const char *name;    /* "a06-table-10-1"                                                    */
    const char *paper;   /* "[A06]", see docs/references.md                                     */
    const char *item;    /* "Table 10.1"                                                        */
    const char *summary; /* one line                                                            */
    cairn_entry_size size;
    double cpu; /* s: approximate CPU time of a full run, for scheduling and the time left      */
    cairn_status (*run)(cairn_study *study);
} cairn_study_entry;

/* Entry `index` in the order of the report; NULL past the last. */
const cairn_study_entry *cairn_entry_at(int index);
/* The entry called `name`; NULL: there is none. */
const cairn_study_entry *cairn_entry_find(const char *name);

/* ---- pictures of a world as figures ---------------------------------------------------------- */

/* Balls from number `first` on as the plane y = `plane` cuts them, in x and z; 2D: all of them, in
 * x and y. Axes and legend of the figure are set. */
void cairn_view_balls(cairn_study *study, const cairn_world *world, const cairn_figure *figure,
                      int first, double plane);

/* ---- the entries of each paper; study.c puts them in order ----------------------------------- */

extern const cairn_study_entry cairn_entries_a06[], cairn_entries_st96[], cairn_entries_bl23[],
    cairn_entries_bl23_box[], cairn_entries_bl23_grains[], cairn_entries_a05[], cairn_entries_c09[],
    cairn_entries_shaken[], cairn_entries_pebble_bed[];
extern const int cairn_entries_a06_count, cairn_entries_st96_count, cairn_entries_bl23_count,
    cairn_entries_bl23_box_count, cairn_entries_bl23_grains_count, cairn_entries_a05_count,
    cairn_entries_c09_count, cairn_entries_shaken_count, cairn_entries_pebble_bed_count;

/* ---- heap memory, also of tools -------------------------------------------------------------- */

/* Return from the calling function when `call` fails. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        cairn_status try_status_ = (call);                                                         \
        if (try_status_ != CAIRN_OK)                                                               \
            return try_status_;                                                                    \
    } while (0)

/* A block of `count` items of `size` bytes, all zero; NULL: no memory. */
void *cairn_block_take(size_t count, size_t size);

/* Room for one more item in the block at `block_address`, which holds `count` of `capacity` items
 * of `size` bytes; the block may move. CAIRN_NO_MEMORY: nothing has changed. */
cairn_status cairn_block_grow(void *block_address, int count, int *capacity, size_t size);

/* Free a block of the functions above; NULL is allowed. */
void cairn_block_free(void *block);

#endif
