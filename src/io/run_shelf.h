/* run_shelf.h - which row of /geometry in run.h5 the data of a shape have: each is stored once,
 * however many bodies share it. */
#ifndef CAIRN_IO_RUN_SHELF_H
#define CAIRN_IO_RUN_SHELF_H

#include "cairn/shape.h"

/* The data seen so far, in the order of their rows; parts come before the compound that they make.
 * All are held, so that an address stands for one of them alone. Zero is valid: none. */
typedef struct cairn_run_shelf {
    const cairn_geometry **items;
    size_t capacity;
    int32_t count;
    int32_t forgotten; /* rows before the first item, of which nothing is known any more */
} cairn_run_shelf;

/* Give the data, and those of their parts, rows unless they have some. NULL is allowed. */
cairn_status cairn_run_shelf_add(cairn_run_shelf *shelf, const cairn_geometry *geometry);
/* The row; -1: it has none. */
int32_t cairn_run_shelf_row(const cairn_run_shelf *shelf, const cairn_geometry *geometry);
/* A file that goes on has `rows` rows: keep the items if they are these, else forget them all. */
void cairn_run_shelf_settle(cairn_run_shelf *shelf, int32_t rows);
void cairn_run_shelf_destroy(cairn_run_shelf *shelf);

#endif
