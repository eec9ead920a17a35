/* statistic_write.h - tables of statistics as CSV, piece by piece. */
#ifndef CAIRN_IO_STATISTIC_WRITE_H
#define CAIRN_IO_STATISTIC_WRITE_H

#include <stdio.h>

#include "cairn/statistics.h"
#include "io/file.h"

/* The line of names. */
void cairn_statistic_write_head(FILE *out, const cairn_statistic_table *table);
/* A line for each row; a number that has no meaning is left empty. */
void cairn_statistic_write_rows(FILE *out, const cairn_statistic_table *table);
/* The numbers of a row; `unknown` stands for those that have no meaning. */
void cairn_statistic_write_row(FILE *out, const cairn_statistic_table *table, size_t row,
                               const char *between, const char *unknown);
/* Start folder/NAME.ending; the folder is made if missing. */
cairn_status cairn_statistic_file(const cairn_statistic_table *table, const char *folder,
                                  const char *ending, cairn_file *out, cairn_error *error);

#endif
