/* hdf5.h - the small part of HDF5 that run files need: attributes, texts, and failures as cairn
 * errors; reading files of any origin; and columns. Nothing here prints: messages of HDF5 go into
 * cairn_error. */
#ifndef CAIRN_FILE_HDF5_H
#define CAIRN_FILE_HDF5_H

#include <hdf5.h>

#include "base/bytes.h"
#include "base/memory.h"
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

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads HDF5 files of any origin: every type and size is checked before it is
 * read. Errors have the name of the dataset as their key. */

/* Open a file for reading. CAIRN_NOT_FOUND: no such file; CAIRN_BAD_INPUT: not HDF5, or damaged. */
cairn_status cairn_hdf5_open(const char *path, hid_t *out, cairn_error *error);

/* The same for a file that anyone may have written: all its data are probed first. */
cairn_status cairn_hdf5_open_foreign(const char *path, hid_t *out, cairn_error *error);

/* Whether a dataset can be as long as it claims, judging by the bytes that it has in the file.
 * To be asked before memory is allocated for it. */
bool cairn_hdf5_is_there(hid_t dataset);

/* Whether `parent` has an object of that name (one step of a path). */
bool cairn_hdf5_has(hid_t parent, const char *name);

/* Open a group that must exist; the caller closes it. */
cairn_status cairn_hdf5_open_group(hid_t parent, const char *name, hid_t *out, cairn_error *error);

/* Numbers read into an arena. */
typedef struct cairn_hdf5_numbers {
    const void *data; /* of the requested type */
    int count;
} cairn_hdf5_numbers;

/* Read all numbers of a dataset that must exist; CAIRN_HDF5_INT accepts integers only. */
cairn_status cairn_hdf5_read(hid_t parent, const char *name, cairn_hdf5_type type,
                             cairn_arena *arena, cairn_hdf5_numbers *out, cairn_error *error);

/* Rows of a dataset that must exist: `rows` of them from `first` on, `width` numbers each. */
typedef struct cairn_hdf5_slab {
    const char *name;
    cairn_hdf5_type type; /* CAIRN_HDF5_REAL or CAIRN_HDF5_INT; the latter takes integers only */
    int width;            /* 1: a list of numbers */
    int64_t first, rows;
} cairn_hdf5_slab;

/* Read the numbers of a slab; CAIRN_BAD_INPUT if the dataset does not have these rows. */
cairn_status cairn_hdf5_read_slab(hid_t parent, const cairn_hdf5_slab *slab, cairn_arena *arena,
                                  const void **out, cairn_error *error);

/* A dataset of one integer. */
cairn_status cairn_hdf5_read_int(hid_t parent, const char *name, int32_t *out, cairn_error *error);

/* A dataset of one text; *out is "" if there is no such dataset. */
cairn_status cairn_hdf5_read_text(hid_t parent, const char *name, cairn_arena *arena,
                                  const char **out, cairn_error *error);

/* A dataset of texts of a fixed length, as cairn_hdf5_text_dataset writes them. */
typedef struct cairn_hdf5_text_list {
    const char *const *items;
    int count;
} cairn_hdf5_text_list;

/* Read all of them; CAIRN_BAD_INPUT if the dataset has another form. */
cairn_status cairn_hdf5_read_texts(hid_t parent, const char *name, cairn_arena *arena,
                                   cairn_hdf5_text_list *out, cairn_error *error);

/* The texts of the attribute `names` of a dataset, which give the meaning of its integers. */
cairn_status cairn_hdf5_read_names(hid_t dataset, cairn_arena *arena, cairn_hdf5_text_list *out,
                                   cairn_error *error);

/* Attributes of a group; false if there is none, or not a single number. */
bool cairn_hdf5_read_real_attribute(hid_t object, const char *name, double *out);
/* The same for exactly `count` numbers. */
bool cairn_hdf5_read_reals_attribute(hid_t object, const char *name, int count, double *out);
/* As much of the text as fits. CAIRN_NOT_FOUND: no such attribute; CAIRN_BAD_INPUT: not a single
 * text. */
cairn_status cairn_hdf5_read_text_attribute(hid_t object, const char *name, char *text,
                                            size_t capacity);

/* ---- probing ----------------------------------------------------------------------------- */

/* Whether HDF5 survives a file.
 *
 * A few damaged bytes can make libhdf5 crash or loop forever, because without checksums it
 * trusts what it reads. So a child process first opens the file with all objects in it, and
 * reads all data if the file has no checksums. Only if the child succeeds does this process open
 * the file. */

/* CAIRN_BAD_INPUT: reading this file crashes or does not end, or some object in it cannot be
 * opened. CAIRN_IO_FAILED: the child was killed, or waits for something. How long all this takes on
 * the clock does not matter. With `data` all numbers are read. */
cairn_status cairn_hdf5_probe(const char *path, bool data, cairn_error *error);

/* Whether the metadata of the file have no checksums. This is the case for the first format of
 * HDF5, in which cairn wrote runs until version 1 of their format. */
bool cairn_hdf5_is_unsummed(const char *path);

/* ---- columns --------------------------------------------------------------------------------- */

/* Datasets that grow by rows.
 *
 * Short columns are written directly. Long ones are cut into chunks, which a packer shuffles and
 * deflates in a thread of its own while the steps go on. HDF5, which need not be thread safe, is
 * called only in the thread of the owner: it writes the chunks that are ready whenever it adds
 * rows. */

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
