/* columns.h - the columns of run.h5 as tables: to add a column, add a line in columns.c.
 *
 * A table is a group of datasets that grow together, row by row, from the arrays of one
 * cairn_run_frame. Tables store columns, not records, so that a reader loads only the quantities
 * that it needs, and numbers of one kind compress well. */
#ifndef CAIRN_RUN_COLUMNS_H
#define CAIRN_RUN_COLUMNS_H

#include "cairn/world.h"
#include "file/hdf5.h"
#include "run/frame.h"

/* Rows in a chunk of HDF5: of columns with one row a step or frame, which are written in place, and
 * of the long ones, which are compressed chunk by chunk (32 KiB for one real a row). */
enum { CAIRN_STEP_CHUNK = 1024, CAIRN_ROW_CHUNK = 4096 };

enum { CAIRN_RUN_TURNS = -1 }; /* a width: components of a rotation, 1 in 2D, 3 in 3D */

/* A column and the source of its numbers. `offset` is that of a pointer to the numbers in a
 * cairn_run_frame, or, where a caller gathers them from records of its own, of the number itself in
 * such a record. */
typedef struct cairn_run_source {
    const char *name, *unit;
    cairn_hdf5_type type;
    int width; /* numbers in a row; 0: the dimension of the world; or CAIRN_RUN_TURNS */
    size_t offset;
    /* for columns of codes: the name of each value, stored as attribute `names`; NULL: plain
     * numbers */
    const char *(*value_name)(int value);
} cairn_run_source;

enum { CAIRN_RUN_COLUMNS = 40 }; /* most columns of a table */

/* A list of columns, passed by value. A `count` above CAIRN_RUN_COLUMNS marks a list that did not
 * fit; cairn_run_table_create refuses it. */
typedef struct cairn_run_sources {
    cairn_run_source items[CAIRN_RUN_COLUMNS];
    int count;
    bool plain; /* one row a step: written in place, not compressed */
} cairn_run_sources;

/* Copy an array of at most CAIRN_RUN_COLUMNS columns into a list. */
cairn_run_sources cairn_run_sources_of(const cairn_run_source *items, size_t count);

cairn_run_sources cairn_run_detail_sources(void); /* contacts: columns of certificates only */
cairn_run_sources cairn_run_load_sources(void);   /* loads of the last step      */
cairn_run_sources cairn_run_pose_sources(void);   /* driven bodies               */
cairn_run_sources cairn_run_impact_sources(void); /* impacts resolved one after the other */
cairn_run_sources cairn_run_guess_sources(void);  /* v^ where contacts are linearised */

/* The properties of a body that are written once, and the contacts of the last step. Columns for
 * laws beyond Coulomb friction are included only if the world has such laws. */
cairn_run_sources cairn_run_body_sources(const cairn_world *world);
cairn_run_sources cairn_run_contact_sources(const cairn_world *world);

/* joints.c: the definition of a joint; its state in a frame; its state with everything that a
 * certificate needs; the rows of joints in the one-step problem. */
cairn_run_sources cairn_run_joint_sources(void);
cairn_run_sources cairn_run_joint_state_sources(void);
cairn_run_sources cairn_run_joint_detail_sources(void);
cairn_run_sources cairn_run_joint_row_sources(void);

/* Positions and velocities of bodies. */
cairn_run_sources cairn_run_state_sources(int dimension);

/* The open columns of a list of sources. Zero is valid: nothing is open. Columns with a writer are
 * linked into its list, so a table must not move in memory until it is closed. */
typedef struct cairn_run_table {
    cairn_run_sources sources;
    cairn_hdf5_column columns[CAIRN_RUN_COLUMNS];
} cairn_run_table;

/* Create the columns in a group, or open them if the file is being continued. Long columns need a
 * `writer`, which compresses them; NULL is possible for columns with one row a step. On failure,
 * close the table as well. */
cairn_status cairn_run_table_create(hid_t group, cairn_run_sources sources, int dimension,
                                    cairn_hdf5_writer *writer, cairn_run_table *out,
                                    cairn_error *error);
/* Append `rows` rows from the arrays of a frame. */
cairn_status cairn_run_table_append(cairn_run_table *table, const cairn_run_frame *frame,
                                    size_t rows, cairn_error *error);
/* Remove all but the first `rows` rows of every column. */
cairn_status cairn_run_table_cut(cairn_run_table *table, int64_t rows, cairn_error *error);
void cairn_run_table_close(cairn_run_table *table);

/* Rows in the table, including those that wait to be compressed; 0 if it has no columns. */
int64_t cairn_run_table_rows(const cairn_run_table *table);

/* ---- certificates ------------------------------------------------------------------------ */

/* The group /certificate of run.h5, written with `certificate: full`: every step with all the data
 * that an independent program needs to recompute it (docs/run-format.md). */

enum { CAIRN_CERTIFICATE_PARTS = 8 };

/* Open columns. The parts are bodies, joints, contacts, loads, poses, guesses, rows of joints and
 * impacts, in this order. Step k has rows [offset[k], offset[k+1]) of a part. Zero is valid:
 * nothing is open. */
typedef struct cairn_run_certificate {
    cairn_run_table parts[CAIRN_CERTIFICATE_PARTS];
    /* further columns of the contacts, in the same group and with the same offsets */
    cairn_run_table details;
    cairn_hdf5_column offsets[CAIRN_CERTIFICATE_PARTS];
    cairn_hdf5_writer *writer;
} cairn_run_certificate;

/* Create the group in a file, with the friction laws of all pairs of materials. `writer` must
 * outlive the columns. */
cairn_status cairn_run_certificate_create(hid_t file, const cairn_world *world,
                                          cairn_hdf5_writer *writer, cairn_run_certificate *out,
                                          cairn_error *error);
/* Append the state after a step, and the contacts, loads and poses of that step. The first call,
 * with frame->step 0, stores the state before the first step. */
cairn_status cairn_run_certificate_step(cairn_run_certificate *c, const cairn_run_frame *frame,
                                        cairn_error *error);
/* Remove everything after step `steps`; the state before the first step stays. */
cairn_status cairn_run_certificate_cut(cairn_run_certificate *c, int64_t steps, cairn_error *error);
void cairn_run_certificate_close(cairn_run_certificate *c);

/* ---- geometry ---------------------------------------------------------------------------- */

/* The group /geometry of run.h5: points and faces of hulls, meshes, polylines and height fields,
 * parts of compounds (docs/run-format.md). */

/* Lists with offsets: where each geometry begins in the vertices, faces and parts, and where each
 * face begins in the corners. CORNERS must be last: loops over the lists of geometries stop before
 * it. */
enum {
    CAIRN_GEOMETRY_VERTICES,
    CAIRN_GEOMETRY_FACES,
    CAIRN_GEOMETRY_PARTS,
    CAIRN_GEOMETRY_CORNERS,
    CAIRN_GEOMETRY_LISTS
};

/* Open columns. Zero with a writer is valid: nothing is open, and the file has no such group yet.
 * The group is created when the first shape with such data appears. */
typedef struct cairn_run_geometry {
    cairn_hdf5_writer *writer;
    cairn_hdf5_column offsets[CAIRN_GEOMETRY_LISTS];
    cairn_hdf5_column vertices, corners;
    cairn_run_table parts;
} cairn_run_geometry;

/* Append the geometries of the shelf that the file does not have yet. The first call that has some
 * creates the group. */
cairn_status cairn_run_geometry_append(hid_t file, const cairn_run_shelf *shelf,
                                       cairn_run_geometry *g, cairn_error *error);
/* Open the group of a file that is being continued, if it has one, and keep its first `rows`
 * geometries. */
cairn_status cairn_run_geometry_go_on(hid_t file, int64_t rows, cairn_run_geometry *g,
                                      cairn_error *error);
void cairn_run_geometry_close(cairn_run_geometry *g);

/* ---- materials --------------------------------------------------------------------------- */

/* The laws of friction and restitution of a world, for /certificate of run.h5. */

/* Write into a group: for each property of a pair of materials a matrix over all pairs, and the
 * datasets `laws` and `law_points` with the friction laws that the matrices `law_first` and
 * `law_second` refer to. Does nothing if the file is being continued and has them already. */
cairn_status cairn_run_materials_write(hid_t group, const cairn_world *world, cairn_error *error);

#endif
