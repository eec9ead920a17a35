/* fclib_matrix.h - a matrix group of an FCLib file; see docs/fclib.md. */
#ifndef CAIRN_IO_FCLIB_MATRIX_H
#define CAIRN_IO_FCLIB_MATRIX_H

#include "cairn/problem.h"
#include "io/hdf5_read.h"

/* What the dataset `nz` says. */
enum { CAIRN_FCLIB_ROWS = -2, CAIRN_FCLIB_COLUMNS = -1 }; /* 0 or more: that many triplets */

/* What a matrix must measure; asked for first, so that a wrong file cannot ask for memory. */
typedef struct cairn_fclib_size {
    int rows, columns;
} cairn_fclib_size;

/* Read the group `name` of `parent`, stored in any of the three ways. */
cairn_status cairn_fclib_matrix_read(hid_t parent, const char *name, cairn_fclib_size size,
                                     cairn_arena *arena, cairn_matrix *out, cairn_error *error);

/* Rows and columns that the group `name` claims. */
cairn_status cairn_fclib_matrix_size(hid_t parent, const char *name, int *rows, int *columns,
                                     cairn_error *error);

/* Write the group `name`: by compressed rows, or as triplets sorted by column. */
cairn_status cairn_fclib_matrix_write(hid_t parent, const char *name, const cairn_matrix *A,
                                      bool triplets, cairn_error *error);

/* Write a list of numbers, or a text of fixed length; both are what FCLib reads. */
cairn_status cairn_fclib_list_write(hid_t parent, const char *name, cairn_hdf5_values values,
                                    cairn_error *error);
cairn_status cairn_fclib_text_write(hid_t parent, const char *name, const char *text,
                                    cairn_error *error);

#endif
