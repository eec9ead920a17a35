/* formats.h - internals of file formats: VTK, tables of numbers, and the matrices of FCLib.
 *
 * VTK: XML PolyData (.vtp) and unstructured grids of points (.vtu) with appended raw data, and .pvd
 * series, written without the VTK library. */
#ifndef CAIRN_FILE_FORMATS_H
#define CAIRN_FILE_FORMATS_H

#include <stdio.h>

#include "cairn/base.h"
#include "cairn/output.h"
#include "cairn/problem.h"
#include "cairn/statistics.h"
#include "file/file.h"
#include "file/hdf5.h"

typedef enum cairn_vtk_type {
    CAIRN_VTK_REAL,  /* double  */
    CAIRN_VTK_INT,   /* int32_t */
    CAIRN_VTK_LONG,  /* int64_t */
    CAIRN_VTK_BYTE,  /* uint8_t */
    CAIRN_VTK_FLOAT, /* float  */
    CAIRN_VTK_TEXT   /* const char *, NULL: "" */
} cairn_vtk_type;

/* A named array with `width` numbers for each point or cell, lent. */
typedef struct cairn_vtk_array {
    const char *name;
    cairn_vtk_type type;
    int width;
    const void *data;
} cairn_vtk_array;

/* Cells of one kind: cell c has corners connectivity[offsets[c-1]] .. connectivity[offsets[c]-1],
 * with offsets[-1] taken as 0. */
typedef struct cairn_vtk_cells {
    const char *kind; /* "Verts", "Lines" or "Polys"; "Cells": vertices of an unstructured grid */
    int64_t count;
    const int64_t *connectivity;
    const int64_t *offsets;
} cairn_vtk_cells;

/* The contents of one .vtp file, lent by the caller during the call. */
typedef struct cairn_vtk_piece {
    double time; /* s, stored as field TimeValue */
    int64_t points;
    const cairn_vec3 *x;  /* m */
    const float *x_float; /* m, if x is NULL: three numbers for each point */
    bool packed;          /* compressed by zlib: smaller, but slower to write */
    cairn_vtk_cells cells;
    const cairn_vtk_array *point_arrays;
    int point_array_count;
    const cairn_vtk_array *cell_arrays;
    int cell_array_count;
    /* cell arrays have `rows` rows, of which row i is that of the next repeat[i] cells; NULL: one
     * row for each cell */
    const int64_t *repeat;
    int64_t rows;
} cairn_vtk_piece;

/* A regular grid of cubic cells with arrays over its cells, x fastest; lent during the call. */
typedef struct cairn_vtk_grid {
    double time; /* s, stored as field TimeValue */
    int cells[3];
    double origin[3], edge[3]; /* m: lower corner of the first cell; edges of a cell */
    const cairn_vtk_array *arrays;
    int array_count;
} cairn_vtk_grid;

/* Write a .vti file (ImageData); on failure no file appears. At most 31 arrays. */
cairn_status cairn_vtk_grid_write(const char *path, const cairn_vtk_grid *grid, cairn_error *error);

/* Write a .vtp or .vtu file; on failure no file appears. At most 32 arrays, those of points and
 * cells included. */
cairn_status cairn_vtk_write(const char *path, const cairn_vtk_piece *piece, cairn_error *error);

/* Write folder/<name>_<number>.pvtp, which lists the files <name>_<number>_<k>.vtp of so many
 * pieces. They have the arrays of `piece`, whose data are not looked at. */
typedef struct cairn_vtk_pieces {
    const char *folder, *name;
    int64_t number;
    int count;
} cairn_vtk_pieces;

cairn_status cairn_vtk_pieces_write(const cairn_vtk_pieces *pieces, const cairn_vtk_piece *piece,
                                    cairn_error *error);
/* file = the name of piece k, or with k = -1 that of the list; `file` holds 64 bytes. */
void cairn_vtk_piece_name(const char *name, int64_t number, int k, char *file);

/* One entry of a series: the file <name>_<number>.vtp and its time. */
typedef struct cairn_vtk_moment {
    double time; /* s */
    int64_t number;
} cairn_vtk_moment;

/* Write folder/<name>.pvd; on failure the old one stays. A moment that was written in pieces is
 * shown by its list. */
cairn_status cairn_vtk_series_write(const char *folder, const char *name,
                                    const cairn_vtk_moment *moments, size_t count,
                                    cairn_error *error);

/* file = "<name>_<number>.vtp", of fields .vti, with at least six digits; `file` holds 64 bytes. */
void cairn_vtk_file_name(const char *name, int64_t number, char *file);

/* ---- tables ---------------------------------------------------------------------------------- */

/* Writes tables of statistics as CSV, piece by piece; and what the readers and writers of
 * tables of numbers (cairn/output.h) share. */

/* The line with the names of the columns. */
void cairn_statistic_write_head(FILE *out, const cairn_statistic_table *table);
/* A line for each row; undefined numbers are left empty. */
void cairn_statistic_write_rows(FILE *out, const cairn_statistic_table *table);
/* The numbers of one row, separated by `between`; `unknown` stands for undefined ones. */
void cairn_statistic_write_row(FILE *out, const cairn_statistic_table *table, size_t row,
                               const char *between, const char *unknown);
/* Whether a table has a row for each cell of a regular grid: the statistic `fields`. */
bool cairn_statistic_is_grid(const cairn_statistic_table *table);
/* Write rows [first, end) of such a table, which are those of one frame, as a .vti file: vectors
 * for columns that end in _x, _y and _z, scalars for all others. */
cairn_status cairn_statistic_grid_write(const cairn_statistic_table *table, size_t first,
                                        size_t end, const char *path, cairn_error *error);
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

/* ---- FCLib ----------------------------------------------------------------------------------- */

/* A matrix group of an FCLib file; docs/fclib.md describes it. */

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
