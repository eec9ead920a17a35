/* statistic_table.h - tables of statistics with numbers of our own, for the tests of what writes them. */
#ifndef CAIRN_TESTS_STATISTIC_TABLE_H
#define CAIRN_TESTS_STATISTIC_TABLE_H

#include "run_scene.h"

/* A 2D table with these numbers, rows x columns; they are lent. */
static inline cairn_statistic_table table_of(const char *name, double *values, size_t rows)
{
    cairn_statistic_table t;
    CHECK_OK(cairn_statistic_table_create(name, 2, &t));
    t.values = values;
    t.rows = rows;
    return t;
}

#endif
