/* output.h - files that get their name only when they are complete, and tables of numbers. */
#ifndef CAIRN_OUTPUT_H
#define CAIRN_OUTPUT_H

#include <stdio.h>

#include "cairn/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A file that is being written. It is written as `path`.part and renamed at the end; if `path` is
 *  a symbolic link, its target is written in this way and the link stays. A FIFO, a terminal,
 *  /dev/null and the file of the program's own output are written in place. */
typedef struct cairn_output cairn_output;

/** Start a file, to be completed by cairn_output_commit. Waits for the reader of a FIFO. Fails with
 *  CAIRN_IO_FAILED, CAIRN_BAD_INPUT (the path is too long) or CAIRN_NO_MEMORY; *out is then
 *  NULL. */
CAIRN_API cairn_status cairn_output_create(const char *path, cairn_output **out,
                                           cairn_error *error);
/** The stream to write to; owned by the output. Write errors are reported by
 *  cairn_output_commit. */
CAIRN_API FILE *cairn_output_stream(const cairn_output *output);
/** Complete and rename the file, and free the output, also on failure; an existing file of that
 *  name is then unchanged. */
CAIRN_API cairn_status cairn_output_commit(cairn_output *output, cairn_error *error);

/** Remove what was written, and free the output; an existing file of that name is unchanged. */
CAIRN_API void cairn_output_abandon(cairn_output *output);

/** Rename the file `part`, which another program wrote, to `path`, by the same rules. Afterwards
 *  `part` no longer exists. */
CAIRN_API cairn_status cairn_output_place(const char *part, const char *path, cairn_error *error);

/* ---- tables -------------------------------------------------------------------------------- */

/** Most columns of a table. */
enum { CAIRN_TABLE_COLUMNS = 256 };

/** A table of numbers with named columns. */
typedef struct cairn_table {
    int column_count;
    int64_t row_count;
    char *columns[CAIRN_TABLE_COLUMNS]; /* their names; "1", "2", ... where the file has none */
    double *values;                     /* row by row; NaN: not a number                      */
    int32_t *line;                      /* of each row in its file; 0: it has no lines        */
    size_t capacity;                    /* private: rows that there is memory for             */
    int64_t *word;                      /* private: of each value where its word begins, or 0 */
    char *words;                        /* private: words that are no numbers, each with a 0  */
    size_t word_count, word_room, letter_count, letter_room; /* private                       */
    bool keeps_words;                                        /* private: csv and text         */
} cairn_table;

/** How to read a table. Zero is not valid: `frame` is -1 by default. */
typedef struct cairn_table_options {
    const char *format; /* a name of cairn_table_format_name; NULL: by the ending of the file  */
    const char *group;  /* hdf5: path of the group that has the columns; NULL: the file itself */
    int64_t frame;      /* lammps-dump: number of the snapshot, from 0; -1: the last           */
} cairn_table_options;

/** Name of table format `index` ("csv", "text", "hdf5", "vtk", "lammps-data", "lammps-dump"), NULL
 *  past the last. */
CAIRN_API const char *cairn_table_format_name(int index);
/** Read a table. Arrays with several numbers a row become columns NAME:0, NAME:1, ...; of VTK files
 *  the points are Points:0 to Points:2. Fails with CAIRN_BAD_INPUT (`error`, may be NULL, has the
 *  line and says what was expected), CAIRN_UNSUPPORTED, CAIRN_NOT_FOUND, CAIRN_IO_FAILED or
 *  CAIRN_NO_MEMORY; *out is then NULL. */
CAIRN_API cairn_status cairn_table_read(const char *path, const cairn_table_options *options,
                                        cairn_table **out, cairn_error *error);
/** Write a table in the format of the file's ending, all or nothing. LAMMPS and VTK need columns x,
 *  y, z; a LAMMPS data file also radius and mass. A VTK file has a line for each row if there are
 *  columns from_x, from_y, from_z, to_x, to_y, to_z, its ends; and columns NAME_x, NAME_y, NAME_z
 *  become vectors NAME. Fails with CAIRN_UNSUPPORTED (unknown ending, a
 *  column is missing) or CAIRN_IO_FAILED. */
CAIRN_API cairn_status cairn_table_write(const char *path, const cairn_table *table,
                                         cairn_error *error);
/** The number of a column; -1: there is none of that name. */
CAIRN_API int cairn_table_find(const cairn_table *table, const char *name);
/** The word in a row and column of a csv or text table where there is no number; NULL: none. */
CAIRN_API const char *cairn_table_word(const cairn_table *table, int64_t row, int column);
/** Free a table; NULL is allowed. */
CAIRN_API void cairn_table_destroy(cairn_table *table);

/** Write a text as a field of a CSV table: in quotes, with inner quotes doubled (RFC 4180). */
CAIRN_API void cairn_csv_quote(FILE *out, const char *text);
/** The same for JSON, with escapes. */
CAIRN_API void cairn_json_quote(FILE *out, const char *text);

/** A picture that gnuplot draws. */
typedef struct cairn_plot_page {
    const char *picture; /* NAME.svg; the script writes NAME.svg.part                         */
    int width, height;   /* pixels                                                            */
    bool plain;          /* texts are plain: _ and ^ do not make subscripts and superscripts  */
} cairn_plot_page;

/** Begin a gnuplot script with the common style of all diagrams of cairn: page, grid, border and
 *  legend. */
CAIRN_API void cairn_plot_begin(FILE *out, const cairn_plot_page *page);
/** A title in quotes, after "set title" or "title", broken into lines that fit. */
CAIRN_API void cairn_plot_title(FILE *out, const char *title);
/** The range of an axis, 'x' or 'y', whose numbers are between these: gnuplot chooses it, but needs
 *  one, and else warns, where all numbers are the same. */
CAIRN_API void cairn_plot_range(FILE *out, char axis, double low, double high);
/** The label of an axis, 'x' or 'y', as people write it: spaces for underscores, m² for m^2; with
 *  the unit in parentheses unless it is "". */
CAIRN_API void cairn_plot_label(FILE *out, char axis, const char *name, const char *unit);
/** The colour of curve 0, 1, ... as "#1b6ca8"; they begin again after eight. */
CAIRN_API const char *cairn_plot_colour(int series);

#ifdef __cplusplus
}
#endif
#endif
