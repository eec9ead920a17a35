/* hdf5_column.h - datasets that grow by rows.
 *
 * Short columns are written directly. Long ones are cut into chunks, which a packer shuffles and
 * deflates in a thread of its own while the steps go on. HDF5, which need not be thread safe, is
 * called only in the thread of the owner: it writes the chunks that are ready whenever it adds
 * rows. */
#ifndef CAIRN_FILE_HDF5_COLUMN_H
#define CAIRN_FILE_HDF5_COLUMN_H

#include "base/bytes.h"
#include "cairn/base.h"
#include "file/hdf5.h"

/* ---- check sums -------------------------------------------------------------------------- */

/* Checksums of everything in a file, kept up to date while it is written; docs/run-format.md
 * defines them. They detect accidental changes. Somebody who wants to deceive can compute them
 * anew: whether the numbers are right is checked by cairn-check.
 *
 * Every group and dataset has two: `head`, of its type and attributes, and `data`, of its
 * numbers in order. The sum of a column is updated with the rows that are added. All others are
 * computed from the file when objects have been created, and at its end. */

enum { CAIRN_HDF5_PATH_BYTES = 96 }; /* of a path in the file, final zero included */

typedef struct cairn_hdf5_sum {
    char path[CAIRN_HDF5_PATH_BYTES]; /* padded with zeros */
    uint64_t head, data;
    bool runs; /* `data` is updated as rows are added, not computed from the file */
} cairn_hdf5_sum;

/* Made by cairn_hdf5_sums_start. */
typedef struct cairn_hdf5_sums {
    cairn_hdf5_sum *items;
    size_t count, capacity;
    bool stale; /* objects or attributes may be missing from the list */
    cairn_check_table table;
} cairn_hdf5_sums;

void cairn_hdf5_sums_start(cairn_hdf5_sums *out);
void cairn_hdf5_sums_destroy(cairn_hdf5_sums *sums);

/* Update the sum of a dataset as rows are added from now on; `out` is its number. */
cairn_status cairn_hdf5_sums_follow(cairn_hdf5_sums *sums, hid_t dataset, size_t *out,
                                    cairn_error *error);
/* Add bytes at the end of a dataset, as they are on the disk (little endian). */
void cairn_hdf5_sums_add(cairn_hdf5_sums *sums, size_t number, const void *data, size_t bytes);
/* Only the first `rows` rows of a dataset remain: compute its sum again from the file. */
cairn_status cairn_hdf5_sums_cut(cairn_hdf5_sums *sums, size_t number, hid_t dataset, hsize_t rows,
                                 cairn_error *error);

/* Write /checksums: the sums of what the file contains now, without rows that wait to be packed. */
cairn_status cairn_hdf5_sums_write(cairn_hdf5_sums *sums, hid_t file, cairn_error *error);
/* Read /checksums into an empty list and compare them with the contents of the file;
 * CAIRN_BAD_INPUT if anything differs. */
cairn_status cairn_hdf5_sums_verify(cairn_hdf5_sums *sums, hid_t file, cairn_error *error);

/* ---- packing ----------------------------------------------------------------------------- */

/* A thread that shuffles and deflates chunks of numbers, exactly as the filters of HDF5 with
 * these names do, while its owner continues.
 *
 * Chunks come out in the order in which they went in; at most CAIRN_PACKER_ROOM are inside. All
 * functions must be called by the thread that owns the packer. Memory is allocated in that
 * thread only. */

enum { CAIRN_PACKER_ROOM = 64, CAIRN_PACKER_LEVEL = 1 }; /* chunks; deflate level 1, the fastest */

/* A chunk of a column. The first four members are passed through unchanged, for the owner. */
typedef struct cairn_chunk {
    int64_t owner;
    uint64_t row, rows;
    int width;
    size_t number_bytes; /* of one number; 1: no shuffling */
    size_t bytes;        /* of `data`                                 */
    const void *data;    /* of a packed chunk NULL: packing failed */
} cairn_chunk;

typedef struct cairn_packer cairn_packer;

cairn_status cairn_packer_create(cairn_packer **out);
/* The number of chunks inside. */
int cairn_packer_count(const cairn_packer *packer);
/* Add a copy of a chunk; there must be room. */
cairn_status cairn_packer_put(cairn_packer *packer, const cairn_chunk *chunk);
/* The oldest chunk inside, packed, valid until it is dropped. False: there is none, or it is not
 * ready and `wait` is false. A waiting owner packs chunks that the thread has not begun. */
bool cairn_packer_first(cairn_packer *packer, bool wait, cairn_chunk *out);
void cairn_packer_drop(cairn_packer *packer);
/* Discards the chunks inside. NULL is allowed. */
void cairn_packer_destroy(cairn_packer *packer);

/* ---- columns ----------------------------------------------------------------------------- */

/* What the columns of a file share. All zero is valid: nothing waits. */
typedef struct cairn_hdf5_writer {
    cairn_packer *packer;
    cairn_hdf5_sums *sums;             /* borrowed: checksums of the columns; NULL: none are kept */
    struct cairn_hdf5_column *columns; /* the open columns, newest first */
} cairn_hdf5_writer;

cairn_status cairn_hdf5_writer_create(cairn_hdf5_writer *out);
/* Give the incomplete last chunks of all columns to the packer. Once nothing waits any more, the
 * datasets have all rows that were added before this call. */
cairn_status cairn_hdf5_writer_push(cairn_hdf5_writer *writer, cairn_error *error);
/* Write the chunks that are ready; with `all`, wait for the others too. */
cairn_status cairn_hdf5_writer_collect(cairn_hdf5_writer *writer, bool all, cairn_error *error);
bool cairn_hdf5_writer_waits(const cairn_hdf5_writer *writer);
/* Discards what waits. Its columns must be closed before, or afterwards without being used. */
void cairn_hdf5_writer_destroy(cairn_hdf5_writer *writer);

/* Properties of a column. `width` 1 gives a list of numbers, more gives a table with that many
 * columns. */
typedef struct cairn_hdf5_column_def {
    const char *name;
    const char *unit; /* stored as attribute `unit`                             */
    cairn_hdf5_type type;
    int width;
    int chunk;                 /* rows stored together                                 */
    cairn_hdf5_writer *writer; /* NULL: a short column without a running checksum */
    bool packed;               /* a long column, shuffled and deflated by the writer */
} cairn_hdf5_column_def;

/* A dataset that grows by rows. All zero is valid: nothing is open. A column with a writer must
 * not move in memory until it is closed, because the writer's list points to it. */
typedef struct cairn_hdf5_column {
    hid_t dataset;
    cairn_hdf5_type type;
    int width, chunk;
    hsize_t rows; /* added so far                                            */
    cairn_hdf5_writer *writer;
    bool packed;
    size_t sum;                     /* index of its checksum */
    struct cairn_hdf5_column *next; /* of the same writer                    */
    unsigned char *tail;            /* the last, incomplete chunk, as on the disk */
    bool changed;                   /* the tail has rows that the packer has not got */
} cairn_hdf5_column;

/* Create a column, or open the existing one, with all its rows, in a file that is continued. */
cairn_status cairn_hdf5_column_create(hid_t group, const cairn_hdf5_column_def *def,
                                      cairn_hdf5_column *out, cairn_error *error);
/* Keep the first `rows` rows; nothing may wait in the writer. */
cairn_status cairn_hdf5_column_cut(cairn_hdf5_column *column, int64_t rows, cairn_error *error);
/* Read `rows` rows from `first` on, in the column's type; nothing may wait in the writer. */
cairn_status cairn_hdf5_column_read(const cairn_hdf5_column *column, int64_t first, size_t rows,
                                    void *out, cairn_error *error);
/* One number of a column of 64-bit integers: the type is not converted. */
cairn_status cairn_hdf5_column_at(const cairn_hdf5_column *column, int64_t row, int64_t *out,
                                  cairn_error *error);
/* Add rows at the end. Those of a long column are in the file after push and collect. */
cairn_status cairn_hdf5_column_append(cairn_hdf5_column *column, size_t rows, const void *data,
                                      cairn_error *error);
/* Numbers inside records that are `stride` bytes apart. */
typedef struct cairn_hdf5_strided {
    const void *first;
    size_t stride;
} cairn_hdf5_strided;
/* The same, for rows that are members of records. */
cairn_status cairn_hdf5_column_gather(cairn_hdf5_column *column, size_t rows,
                                      cairn_hdf5_strided numbers, cairn_error *error);
/* Discards rows that the packer has not got. */
void cairn_hdf5_column_close(cairn_hdf5_column *column);

#endif
