/* hdf5_column.h - datasets that grow by rows.
 *
 * Short columns are written in place. Long ones are cut in chunks, which a packer shuffles and
 * deflates beside the steps; HDF5 itself is called in the thread of the owner alone, which writes
 * what is ready whenever it adds rows. */
#ifndef CAIRN_IO_HDF5_COLUMN_H
#define CAIRN_IO_HDF5_COLUMN_H

#include "io/hdf5_sums.h"
#include "io/packer.h"

/* What the columns of a file share. Zero is valid: nothing waits. */
typedef struct cairn_hdf5_writer {
    cairn_packer *packer;
    cairn_hdf5_sums *sums;             /* lent: checksums of the columns; NULL: none are kept */
    struct cairn_hdf5_column *columns; /* those that are open, the last one first             */
} cairn_hdf5_writer;

cairn_status cairn_hdf5_writer_create(cairn_hdf5_writer *out);
/* Put in the rows of all columns that do not fill a chunk yet. When nothing waits any more the
 * datasets have every row that was there now. */
cairn_status cairn_hdf5_writer_push(cairn_hdf5_writer *writer, cairn_error *error);
/* Write the chunks that are ready, or (`all`) wait for the others. */
cairn_status cairn_hdf5_writer_collect(cairn_hdf5_writer *writer, bool all, cairn_error *error);
bool cairn_hdf5_writer_waits(const cairn_hdf5_writer *writer);
/* Forgets what waits. Its columns must be closed, or be closed after it without being used. */
void cairn_hdf5_writer_destroy(cairn_hdf5_writer *writer);

/* How a column looks: `width` 1 gives a list of numbers, more a table with that many columns. */
typedef struct cairn_hdf5_column_def {
    const char *name;
    const char *unit; /* stored as attribute `unit`                             */
    cairn_hdf5_type type;
    int width;
    int chunk;                 /* rows stored together                                 */
    cairn_hdf5_writer *writer; /* NULL: a short column without a checksum that runs    */
    bool packed;               /* a long column, which the writer shuffles and deflates */
} cairn_hdf5_column_def;

/* A dataset that grows by rows. Zero is valid: nothing is open. One with a writer stays where it is
 * in memory until it is closed. */
typedef struct cairn_hdf5_column {
    hid_t dataset;
    cairn_hdf5_type type;
    int width, chunk;
    hsize_t rows; /* added so far                                            */
    cairn_hdf5_writer *writer;
    bool packed;
    size_t sum;                     /* number of its checksum                */
    struct cairn_hdf5_column *next; /* of the same writer                    */
    unsigned char *tail;            /* the last chunk, which is not full yet, as on the disk */
    bool changed;                   /* the tail has rows that were not put in */
} cairn_hdf5_column;

/* Make a column, or open the one that is there in a file that goes on, with all its rows. */
cairn_status cairn_hdf5_column_create(hid_t group, const cairn_hdf5_column_def *def,
                                      cairn_hdf5_column *out, cairn_error *error);
/* Keep its first `rows` rows; nothing may wait. */
cairn_status cairn_hdf5_column_cut(cairn_hdf5_column *column, int64_t rows, cairn_error *error);
/* `rows` rows from `first` on, of the column's type; nothing may wait. */
cairn_status cairn_hdf5_column_read(const cairn_hdf5_column *column, int64_t first, size_t rows,
                                    void *out, cairn_error *error);
/* One number of a column of whole numbers. */
cairn_status cairn_hdf5_column_at(const cairn_hdf5_column *column, int64_t row, int64_t *out,
                                  cairn_error *error);
/* Add rows at the end; of a long column they are in the file after push and collect. */
cairn_status cairn_hdf5_column_append(cairn_hdf5_column *column, size_t rows, const void *data,
                                      cairn_error *error);
/* Numbers of records that follow each other `stride` bytes apart. */
typedef struct cairn_hdf5_strided {
    const void *first;
    size_t stride;
} cairn_hdf5_strided;
/* The same, the numbers of each row being part of a record. */
cairn_status cairn_hdf5_column_gather(cairn_hdf5_column *column, size_t rows,
                                      cairn_hdf5_strided numbers, cairn_error *error);
/* Drops what was not put in. */
void cairn_hdf5_column_close(cairn_hdf5_column *column);

#endif
