/* vtk.h - writes VTK XML PolyData (.vtp) and unstructured grids of points (.vtu) with appended raw
 * data, and .pvd series, without the VTK library. */
#ifndef CAIRN_FILE_VTK_H
#define CAIRN_FILE_VTK_H

#include "cairn/base.h"

typedef enum cairn_vtk_type {
    CAIRN_VTK_REAL, /* double  */
    CAIRN_VTK_INT,  /* int32_t */
    CAIRN_VTK_LONG, /* int64_t */
    CAIRN_VTK_BYTE  /* uint8_t */
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
    const cairn_vec3 *x; /* m */
    cairn_vtk_cells cells;
    const cairn_vtk_array *point_arrays;
    int point_array_count;
    const cairn_vtk_array *cell_arrays;
    int cell_array_count;
} cairn_vtk_piece;

/* Write a .vtp or .vtu file; on failure no file appears. At most 32 arrays, those of points and
 * cells included. */
cairn_status cairn_vtk_write(const char *path, const cairn_vtk_piece *piece, cairn_error *error);

/* One entry of a series: the file <name>_<number>.vtp and its time. */
typedef struct cairn_vtk_moment {
    double time; /* s */
    int64_t number;
} cairn_vtk_moment;

/* Write folder/<name>.pvd; on failure the old one stays. */
cairn_status cairn_vtk_series_write(const char *folder, const char *name,
                                    const cairn_vtk_moment *moments, size_t count,
                                    cairn_error *error);

/* file = "<name>_<number>.vtp" with at least six digits; `file` holds 64 bytes. */
void cairn_vtk_file_name(const char *name, int64_t number, char *file);

#endif
