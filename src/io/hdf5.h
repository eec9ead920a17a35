/* hdf5.h - the little of HDF5 that run files need: attributes, columns that grow, and failures as
 * cairn errors. Nothing here prints; HDF5's own messages end up in cairn_error. */
#ifndef CAIRN_IO_HDF5_H
#define CAIRN_IO_HDF5_H

#include <hdf5.h>

#include "cairn/base.h"
#include "io/hdf5_sink.h"

/* HDF5 prints its failures unless told otherwise; between begin and end it is told so. */
typedef struct cairn_hdf5_quiet {
    H5E_auto2_t print;
    void *context;
} cairn_hdf5_quiet;

cairn_hdf5_quiet cairn_hdf5_quiet_begin(void);
void cairn_hdf5_quiet_end(cairn_hdf5_quiet saved);

/* CAIRN_IO_FAILED, with what HDF5 has to say. Call it right after the failing call. */
cairn_status cairn_hdf5_fail(cairn_error *error, const char *what);

/* Create a file, or replace one, that is written through a sink of the caller. Dirty metadata
 * leaves memory only in cairn_hdf5_flush, so what a crash leaves is the file of the last flush. */
cairn_status cairn_hdf5_create(const char *path, cairn_hdf5_sink *sink, hid_t *out,
                               cairn_error *error);
/* Open such a file to write on. */
cairn_status cairn_hdf5_go_on(const char *path, cairn_hdf5_sink *sink, hid_t *out,
                              cairn_error *error);
cairn_status cairn_hdf5_flush(hid_t file, cairn_error *error);

/* A group inside `parent`: made, or opened when the file goes on and has it. */
cairn_status cairn_hdf5_group(hid_t parent, const char *name, hid_t *out, cairn_error *error);

/* Types of numbers. */
typedef enum cairn_hdf5_type {
    CAIRN_HDF5_REAL,  /* double   */
    CAIRN_HDF5_INT,   /* int32_t  */
    CAIRN_HDF5_LONG,  /* int64_t  */
    CAIRN_HDF5_ULONG, /* uint64_t */
    CAIRN_HDF5_BYTE   /* uint8_t  */
} cairn_hdf5_type;

/* Bytes of one number. */
size_t cairn_hdf5_size(cairn_hdf5_type type);

/* Numbers lent for an attribute. */
typedef struct cairn_hdf5_values {
    cairn_hdf5_type type;
    int count; /* 1: a scalar */
    const void *data;
} cairn_hdf5_values;

/* An attribute of numbers; replaces one of that name. */
cairn_status cairn_hdf5_attribute(hid_t object, const char *name, cairn_hdf5_values values,
                                  cairn_error *error);
cairn_status cairn_hdf5_real(hid_t object, const char *name, double value, cairn_error *error);
cairn_status cairn_hdf5_long(hid_t object, const char *name, int64_t value, cairn_error *error);
/* Text attributes of any length, one or a list; NULL is stored as "". */
cairn_status cairn_hdf5_text(hid_t object, const char *name, const char *text, cairn_error *error);
cairn_status cairn_hdf5_texts(hid_t object, const char *name, const char *const *texts, int count,
                              cairn_error *error);

/* A dataset of texts, written once. */
cairn_status cairn_hdf5_text_dataset(hid_t group, const char *name, const char *const *texts,
                                     size_t count, cairn_error *error);

/* How a column looks: `width` 1 gives a list of numbers, more a table with that many columns. */
typedef struct cairn_hdf5_column_def {
    const char *name;
    const char *unit; /* stored as attribute `unit`                             */
    cairn_hdf5_type type;
    int width;
    int chunk;   /* rows stored together                                   */
    bool packed; /* shuffle and deflate: for long columns                  */
} cairn_hdf5_column_def;

/* A dataset that grows by rows. Zero is valid: nothing is open. */
typedef struct cairn_hdf5_column {
    hid_t dataset;
    cairn_hdf5_type type;
    int width;
    hsize_t rows;
} cairn_hdf5_column;

/* Make a column, or open the one that is there in a file that goes on, with all its rows. */
cairn_status cairn_hdf5_column_create(hid_t group, const cairn_hdf5_column_def *def,
                                      cairn_hdf5_column *out, cairn_error *error);
/* Keep its first `rows` rows. */
cairn_status cairn_hdf5_column_cut(cairn_hdf5_column *column, int64_t rows, cairn_error *error);
/* `rows` rows from `first` on, of the column's type. */
cairn_status cairn_hdf5_column_read(const cairn_hdf5_column *column, int64_t first, size_t rows,
                                    void *out, cairn_error *error);
/* One number of a column of whole numbers. */
cairn_status cairn_hdf5_column_at(const cairn_hdf5_column *column, int64_t row, int64_t *out,
                                  cairn_error *error);
/* Add rows at the end. */
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
void cairn_hdf5_column_close(cairn_hdf5_column *column);

#endif
