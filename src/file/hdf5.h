/* hdf5.h - the small part of HDF5 that run files need: attributes, texts, and failures as cairn
 * errors; columns are in hdf5_column.h. Nothing here prints: messages of HDF5 go into
 * cairn_error. */
#ifndef CAIRN_FILE_HDF5_H
#define CAIRN_FILE_HDF5_H

#include <hdf5.h>

#include "cairn/base.h"
#include "file/file.h"

/* The destination of a file, defined below. */
typedef struct cairn_hdf5_sink cairn_hdf5_sink;

/* HDF5 prints its errors to stderr unless this is switched off, as it is between begin and end.
 * The setting belongs to the program, so it is restored. */
typedef struct cairn_hdf5_quiet {
    H5E_auto2_t print;
    void *context;
} cairn_hdf5_quiet;

cairn_hdf5_quiet cairn_hdf5_quiet_begin(void);
void cairn_hdf5_quiet_end(cairn_hdf5_quiet saved);

/* Return CAIRN_IO_FAILED with the message of HDF5. Call it right after the failing call, because
 * any other call of HDF5 clears the message. */
cairn_status cairn_hdf5_fail(cairn_error *error, const char *what);

/* Create or replace a file that is written through a sink of the caller. Dirty metadata leaves
 * memory only in cairn_hdf5_flush, so a crash leaves the file as it was at the last flush. */
cairn_status cairn_hdf5_create(const char *path, cairn_hdf5_sink *sink, hid_t *out,
                               cairn_error *error);
/* Open such a file to continue it. */
cairn_status cairn_hdf5_go_on(const char *path, cairn_hdf5_sink *sink, hid_t *out,
                              cairn_error *error);
cairn_status cairn_hdf5_flush(hid_t file, cairn_error *error);
/* Close the file; everything opened in it must be closed before. */
cairn_status cairn_hdf5_close(hid_t file, cairn_hdf5_sink *sink, cairn_error *error);

/* A group in `parent`: created, or opened if it exists because the file is continued. */
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
/* The types of HDF5: on this machine, and in the file, where all numbers are little endian. They
 * are constants of HDF5 and must not be closed. */
hid_t cairn_hdf5_memory_type(cairn_hdf5_type type);
hid_t cairn_hdf5_disk_type(cairn_hdf5_type type);

/* Numbers lent for an attribute. */
typedef struct cairn_hdf5_values {
    cairn_hdf5_type type;
    int count; /* 1: a scalar */
    const void *data;
} cairn_hdf5_values;

/* Write an attribute of numbers; an existing one of that name is replaced. */
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

/* ---- records ----------------------------------------------------------------------------- */

/* Options as attributes, so that a run file says how it was made. */

/* Write every option of a table as an attribute of the object. */
cairn_status cairn_hdf5_record(hid_t object, const cairn_record *record, const void *options,
                               cairn_error *error);

/* Write a whole file: `fill` adds its contents. It is written as `path`.part and renamed; on
 * failure nothing appears. */
typedef cairn_status cairn_hdf5_fill_fn(hid_t file, const void *context, cairn_error *error);
cairn_status cairn_hdf5_write_file(const char *path, cairn_hdf5_fill_fn *fill, const void *context,
                                   cairn_error *error);

/* ---- sinks ------------------------------------------------------------------------------- */

/* A file driver for run files that never reports a failure to HDF5.
 *
 * If a write fails, HDF5 can no longer close the file and crashes the program at its end. So
 * this driver remembers the first failure, reports success, and the owner of the sink asks it
 * afterwards. Between two flushes the file stays as the earlier one left it (overlays in
 * file.h), also if the sink failed or the program was killed. */

/* Belongs to the caller and must outlive the file. All zero is valid: nothing is open. */
typedef struct cairn_hdf5_sink {
    H5FD_t common;         /* the part of HDF5; must come first */
    cairn_overlay overlay; /* the file                                        */
    haddr_t end_of_space;  /* end of the space that HDF5 has allocated */
    haddr_t end_of_file;   /* end of what HDF5 believes it has written */
    int reason;            /* errno of the first failure; 0: none             */
    hid_t driver;          /* its id in HDF5; 0: not attached */
} cairn_hdf5_sink;

/* Make a file access list use the sink. */
cairn_status cairn_hdf5_sink_attach(cairn_hdf5_sink *sink, hid_t access, cairn_error *error);
/* Call it after the file is closed, not before: while closing a file HDF5 releases the driver
 * first and still calls it afterwards, so somebody else must hold it. Does nothing if not
 * attached. */
void cairn_hdf5_sink_detach(cairn_hdf5_sink *sink);

/* Discard everything written since the last flush: the file stays as that flush left it. */
void cairn_hdf5_sink_drop(cairn_hdf5_sink *sink);

/* CAIRN_IO_FAILED if anything could not be written, with the first reason. */
cairn_status cairn_hdf5_sink_check(const cairn_hdf5_sink *sink, cairn_error *error);

#endif
