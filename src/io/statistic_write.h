/* statistic_write.h - tables of statistics as CSV, piece by piece. */
#ifndef CAIRN_IO_STATISTIC_WRITE_H
#define CAIRN_IO_STATISTIC_WRITE_H

#include <stdio.h>

#include "cairn/statistics.h"

/* The line of names. */
void cairn_statistic_write_head(FILE *out, const cairn_statistic_table *table);
/* A line for each row; a number that has no meaning is left empty. */
void cairn_statistic_write_rows(FILE *out, const cairn_statistic_table *table);

#endif
