/* run_geometry.h - the group /geometry of run.h5: points and faces of hulls, meshes, polylines and
 * height fields, parts of compounds (docs/run-format.md). */
#ifndef CAIRN_IO_RUN_GEOMETRY_H
#define CAIRN_IO_RUN_GEOMETRY_H

#include "io/run_columns.h"

/* Lists of rows, and where each geometry (corners: each face) begins in them. */
enum {
    CAIRN_GEOMETRY_VERTICES,
    CAIRN_GEOMETRY_FACES,
    CAIRN_GEOMETRY_PARTS,
    CAIRN_GEOMETRY_CORNERS,
    CAIRN_GEOMETRY_LISTS
};

/* Open columns. Zero with a writer is valid: nothing is open, the file has no such group. */
typedef struct cairn_run_geometry {
    cairn_hdf5_writer *writer;
    cairn_hdf5_column offsets[CAIRN_GEOMETRY_LISTS];
    cairn_hdf5_column vertices, corners;
    cairn_run_table parts;
} cairn_run_geometry;

/* Write what is on the shelf and not in the file; the first time makes the group. */
cairn_status cairn_run_geometry_append(hid_t file, const cairn_run_shelf *shelf,
                                       cairn_run_geometry *g, cairn_error *error);
/* Open the group of a file that goes on, if it has one, and keep its first `rows` rows. */
cairn_status cairn_run_geometry_go_on(hid_t file, int64_t rows, cairn_run_geometry *g,
                                      cairn_error *error);
void cairn_run_geometry_close(cairn_run_geometry *g);

#endif
