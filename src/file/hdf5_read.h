/* hdf5_read.h - reads HDF5 files of any origin: every type and size is checked before it is
 * read. Errors have the name of the dataset as their key. */
#ifndef CAIRN_FILE_HDF5_READ_H
#define CAIRN_FILE_HDF5_READ_H

#include "base/arena.h"
#include "cairn/base.h"
#include "file/hdf5.h"

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
 * opened. With `data` all numbers are read. */
cairn_status cairn_hdf5_probe(const char *path, bool data, cairn_error *error);

/* Whether the metadata of the file have no checksums. This is the case for the first format of
 * HDF5, in which cairn wrote runs until version 1 of their format. */
bool cairn_hdf5_is_unsummed(const char *path);

#endif
