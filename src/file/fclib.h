/* fclib.h - a matrix group of an FCLib file; docs/fclib.md describes it. */
#ifndef CAIRN_FILE_FCLIB_H
#define CAIRN_FILE_FCLIB_H

#include "cairn/problem.h"
#include "file/hdf5.h"

/* How a matrix is stored, by the value of the dataset `nz`. */
enum { CAIRN_FCLIB_ROWS = -2, CAIRN_FCLIB_COLUMNS = -1 }; /* 0 or more: that many triplets */

/* The size that a matrix must have. It is compared before anything is allocated, so that a wrong
 * file cannot demand memory. */
typedef struct cairn_fclib_size {
    int rows, columns;
} cairn_fclib_size;

/* Read the group `name` of `parent`, stored in any of the three ways, into rows in the arena. An
 * error's key is name/list. */
cairn_status cairn_fclib_matrix_read(hid_t parent, const char *name, cairn_fclib_size size,
                                     cairn_arena *arena, cairn_matrix *out, cairn_error *error);

/* Rows and columns that the group `name` states, not checked against its lists. */
cairn_status cairn_fclib_matrix_size(hid_t parent, const char *name, int *rows, int *columns,
                                     cairn_error *error);

/* Write the group `name`: as compressed rows, or as triplets sorted by column. */
cairn_status cairn_fclib_matrix_write(hid_t parent, const char *name, const cairn_matrix *A,
                                      bool triplets, cairn_error *error);

/* Write a list of numbers, or a text of fixed length, in the types that FCLib reads. */
cairn_status cairn_fclib_list_write(hid_t parent, const char *name, cairn_hdf5_values values,
                                    cairn_error *error);
cairn_status cairn_fclib_text_write(hid_t parent, const char *name, const char *text,
                                    cairn_error *error);

#endif
