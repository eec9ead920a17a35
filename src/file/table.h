/* table.h - writes tables of statistics as CSV, piece by piece; and what the readers and writers of
 * tables of numbers (cairn/output.h) share. */
#ifndef CAIRN_FILE_TABLE_H
#define CAIRN_FILE_TABLE_H

#include <stdio.h>

#include "cairn/output.h"
#include "cairn/statistics.h"
#include "file/file.h"

/* The line with the names of the columns. */
void cairn_statistic_write_head(FILE *out, const cairn_statistic_table *table);
/* A line for each row; undefined numbers are left empty. */
void cairn_statistic_write_rows(FILE *out, const cairn_statistic_table *table);
/* The numbers of one row, separated by `between`; `unknown` stands for undefined ones. */
void cairn_statistic_write_row(FILE *out, const cairn_statistic_table *table, size_t row,
                               const char *between, const char *unknown);
/* Start the file folder/NAME.ending; the folder is created if necessary. */
cairn_status cairn_statistic_file(const cairn_statistic_table *table, const char *folder,
                                  const char *ending, cairn_file *out, cairn_error *error);

/* ---- tables of numbers ---------------------------------------------------------------------- */

/* Add a column while the table has no rows; a long name is cut. CAIRN_UNSUPPORTED: too many. */
cairn_status cairn_table_add_column(cairn_table *table, const char *name, size_t length);
/* Make room for rows, after all columns have been added. */
cairn_status cairn_table_reserve(cairn_table *table, int64_t rows);
/* The number of a format by its name, or by the ending of the path (name NULL); -1: unknown. */
int cairn_table_format(const char *path, const char *name);

/* Readers of table_form.c. */
typedef cairn_status cairn_table_read_fn(const char *path, const cairn_table_options *options,
                                         cairn_table *out, cairn_error *error);
cairn_table_read_fn cairn_table_read_vtk, cairn_table_read_hdf5;

#endif
