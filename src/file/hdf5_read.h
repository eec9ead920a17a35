/* hdf5_read.h - reading HDF5 files that may be anything: every type and size is checked before it
 * is read. Names in errors are those of the datasets. */
#ifndef CAIRN_IO_HDF5_READ_H
#define CAIRN_IO_HDF5_READ_H

#include "base/arena.h"
#include "io/hdf5.h"

/* Open a file for reading. CAIRN_NOT_FOUND: there is none; CAIRN_BAD_INPUT: it is not HDF5, or
 * broken. */
cairn_status cairn_hdf5_open(const char *path, hid_t *out, cairn_error *error);

/* The same of a file that anyone may have written: all of it is tried first. */
cairn_status cairn_hdf5_open_foreign(const char *path, hid_t *out, cairn_error *error);

/* Whether a dataset can be as long as it claims, by the bytes that it has in the file: to be asked
 * before memory is taken for it. */
bool cairn_hdf5_is_there(hid_t dataset);

/* Whether `parent` has something of that name (one step of a path). */
bool cairn_hdf5_has(hid_t parent, const char *name);

/* Open a group that must be there; the caller closes it. */
cairn_status cairn_hdf5_open_group(hid_t parent, const char *name, hid_t *out, cairn_error *error);

/* Numbers read into an arena. */
typedef struct cairn_hdf5_numbers {
    const void *data; /* of the type asked for */
    int count;
} cairn_hdf5_numbers;

/* All numbers of a dataset that must be there; CAIRN_HDF5_INT takes integers only. */
cairn_status cairn_hdf5_read(hid_t parent, const char *name, cairn_hdf5_type type,
                             cairn_arena *arena, cairn_hdf5_numbers *out, cairn_error *error);

/* Rows of a dataset that must be there: `rows` of them from `first` on, `width` numbers each. */
typedef struct cairn_hdf5_slab {
    const char *name;
    cairn_hdf5_type type; /* CAIRN_HDF5_REAL or CAIRN_HDF5_INT; the latter takes integers only */
    int width;            /* 1: a list of numbers */
    int64_t first, rows;
} cairn_hdf5_slab;

/* The numbers of a slab; CAIRN_BAD_INPUT when the dataset does not have these rows. */
cairn_status cairn_hdf5_read_slab(hid_t parent, const cairn_hdf5_slab *slab, cairn_arena *arena,
                                  const void **out, cairn_error *error);

/* A dataset of one integer. */
cairn_status cairn_hdf5_read_int(hid_t parent, const char *name, int32_t *out, cairn_error *error);

/* A dataset of one text; *out is "" when there is no such dataset. */
cairn_status cairn_hdf5_read_text(hid_t parent, const char *name, cairn_arena *arena,
                                  const char **out, cairn_error *error);

/* A dataset of texts of a fixed length, as cairn_hdf5_text_dataset writes them. */
typedef struct cairn_hdf5_text_list {
    const char *const *items;
    int count;
} cairn_hdf5_text_list;

/* All of them; CAIRN_BAD_INPUT when the dataset is anything else. */
cairn_status cairn_hdf5_read_texts(hid_t parent, const char *name, cairn_arena *arena,
                                   cairn_hdf5_text_list *out, cairn_error *error);

/* The texts of the attribute `names` of a dataset, which say what its whole numbers stand for. */
cairn_status cairn_hdf5_read_names(hid_t dataset, cairn_arena *arena, cairn_hdf5_text_list *out,
                                   cairn_error *error);

/* Attributes of a group; false when there is none, or not one number or text. */
bool cairn_hdf5_read_real_attribute(hid_t object, const char *name, double *out);
/* The same for exactly `count` numbers. */
bool cairn_hdf5_read_reals_attribute(hid_t object, const char *name, int count, double *out);
/* As much of the text as fits. CAIRN_NOT_FOUND: there is none; CAIRN_BAD_INPUT: not one text. */
cairn_status cairn_hdf5_read_text_attribute(hid_t object, const char *name, char *text,
                                            size_t capacity);

#endif
