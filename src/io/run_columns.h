/* run_columns.h - the columns of run.h5 as tables: a new column is a new line in run_columns.c.
 *
 * A table is a group of datasets that grow together, row by row, out of one cairn_run_frame. */
#ifndef CAIRN_IO_RUN_COLUMNS_H
#define CAIRN_IO_RUN_COLUMNS_H

#include "io/hdf5_column.h"
#include "io/run_frame.h"

/* Rows stored together: of columns with one row a step, and of the long ones. */
enum { CAIRN_STEP_CHUNK = 1024, CAIRN_ROW_CHUNK = 4096 };

enum { CAIRN_RUN_TURNS = -1 }; /* width: numbers of a turning, 1 in 2D, 3 in 3D */

/* A column and where its numbers are: `offset` of a pointer to them in a cairn_run_frame, or of a
 * number in the record that a caller has. */
typedef struct cairn_run_source {
    const char *name, *unit;
    cairn_hdf5_type type;
    int width; /* 0: the dimension of the world; CAIRN_RUN_TURNS */
    size_t offset;
    const char *(*value_name)(int value); /* names of the values, stored as attribute `names` */
} cairn_run_source;

enum { CAIRN_RUN_COLUMNS = 40 }; /* of a table, at most */

/* A list of columns. */
typedef struct cairn_run_sources {
    cairn_run_source items[CAIRN_RUN_COLUMNS];
    int count;
    bool plain; /* one row a step: not packed */
} cairn_run_sources;

/* A list out of an array. */
cairn_run_sources cairn_run_sources_of(const cairn_run_source *items, size_t count);

cairn_run_sources cairn_run_detail_sources(void); /* of contacts: the rest of their data */
cairn_run_sources cairn_run_load_sources(void);   /* loads of the last step      */
cairn_run_sources cairn_run_pose_sources(void);   /* driven bodies               */
cairn_run_sources cairn_run_impact_sources(void); /* within a step               */
cairn_run_sources cairn_run_guess_sources(void);  /* v^ of linearised contacts   */

/* What a body is, and contacts of the last step: with what surfaces do beyond Coulomb friction
 * only where the world has it. */
cairn_run_sources cairn_run_body_sources(const cairn_world *world);
cairn_run_sources cairn_run_contact_sources(const cairn_world *world);

/* run_joints.c: what a joint is, what it does, the same with all that a step needs, its rows. */
cairn_run_sources cairn_run_joint_sources(void);
cairn_run_sources cairn_run_joint_state_sources(void);
cairn_run_sources cairn_run_joint_detail_sources(void);
cairn_run_sources cairn_run_joint_row_sources(void);

/* Where bodies are and how they move. */
cairn_run_sources cairn_run_state_sources(int dimension);

/* The open columns of a list of sources. Zero is valid: nothing is open. */
typedef struct cairn_run_table {
    cairn_run_sources sources;
    cairn_hdf5_column columns[CAIRN_RUN_COLUMNS];
} cairn_run_table;

/* Make the columns in a group: long ones by a writer, or (NULL) those with one row a step. */
cairn_status cairn_run_table_create(hid_t group, cairn_run_sources sources, int dimension,
                                    cairn_hdf5_writer *writer, cairn_run_table *out,
                                    cairn_error *error);
/* Add `rows` rows out of the arrays of a frame. */
cairn_status cairn_run_table_append(cairn_run_table *table, const cairn_run_frame *frame,
                                    size_t rows, cairn_error *error);
/* Keep the first `rows` rows of every column. */
cairn_status cairn_run_table_cut(cairn_run_table *table, int64_t rows, cairn_error *error);
void cairn_run_table_close(cairn_run_table *table);

/* Rows that the table has. */
int64_t cairn_run_table_rows(const cairn_run_table *table);

#endif
