/* hdf5.h - the little of HDF5 that run files need: attributes, texts, and failures as cairn errors;
 * columns are in hdf5_column.h. Nothing here prints; HDF5's own messages end up in cairn_error. */
#ifndef CAIRN_IO_HDF5_H
#define CAIRN_IO_HDF5_H

#include <hdf5.h>

#include "cairn/base.h"

/* Where a file is written; hdf5_sink.h. */
typedef struct cairn_hdf5_sink cairn_hdf5_sink;

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
/* Close it; all that was opened in it is closed before. */
cairn_status cairn_hdf5_close(hid_t file, cairn_hdf5_sink *sink, cairn_error *error);

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
/* HDF5's own types: of this machine, and of the file. */
hid_t cairn_hdf5_memory_type(cairn_hdf5_type type);
hid_t cairn_hdf5_disk_type(cairn_hdf5_type type);

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

#endif
