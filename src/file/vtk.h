/* vtk.h - writes VTK XML PolyData (.vtp) with appended raw data, and .pvd series, by hand. */
#ifndef CAIRN_IO_VTK_H
#define CAIRN_IO_VTK_H

#include "cairn/base.h"

typedef enum cairn_vtk_type {
    CAIRN_VTK_REAL, /* double  */
    CAIRN_VTK_INT,  /* int32_t */
    CAIRN_VTK_LONG  /* int64_t */
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
    const char *kind; /* "Verts", "Lines" or "Polys" */
    int64_t count;
    const int64_t *connectivity;
    const int64_t *offsets;
} cairn_vtk_cells;

/* Everything in one .vtp file, lent. */
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

/* Write a .vtp file, all or nothing. */
cairn_status cairn_vtk_write(const char *path, const cairn_vtk_piece *piece, cairn_error *error);

/* One line of a series: the file <name>_<number>.vtp shows the time. */
typedef struct cairn_vtk_moment {
    double time; /* s */
    int64_t number;
} cairn_vtk_moment;

/* Write folder/<name>.pvd, all or nothing. */
cairn_status cairn_vtk_series_write(const char *folder, const char *name,
                                    const cairn_vtk_moment *moments, size_t count,
                                    cairn_error *error);

/* file = "<name>_<number>.vtp" with at least six digits; `file` holds 64 bytes. */
void cairn_vtk_file_name(const char *name, int64_t number, char *file);

#endif
