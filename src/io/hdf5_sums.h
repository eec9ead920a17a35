/* hdf5_sums.h - checksums of all that a file holds, kept while it is written; docs/run-format.md
 * defines them. They find what an accident or a careless hand changed. Who means to deceive can
 * compute them anew: what numbers must be is the business of cairn-check.
 *
 * Of every group and dataset there are two: `head`, of its kind and attributes, and `data`, of its
 * numbers in order. The sum of a column runs along with the rows that are added; all others are
 * computed from the file when something was made, and at its end. */
#ifndef CAIRN_IO_HDF5_SUMS_H
#define CAIRN_IO_HDF5_SUMS_H

#include "base/bytes.h"
#include "io/hdf5.h"

enum { CAIRN_HDF5_PATH_BYTES = 96 }; /* of a path in the file, with the 0 at its end */

typedef struct cairn_hdf5_sum {
    char path[CAIRN_HDF5_PATH_BYTES]; /* filled up with zeros                        */
    uint64_t head, data;
    bool runs; /* `data` is kept by who adds rows, and not computed from the file    */
} cairn_hdf5_sum;

/* Made by cairn_hdf5_sums_start. */
typedef struct cairn_hdf5_sums {
    cairn_hdf5_sum *items;
    size_t count, capacity;
    bool stale; /* there may be objects or attributes that are not in the list */
    cairn_check_table table;
} cairn_hdf5_sums;

void cairn_hdf5_sums_start(cairn_hdf5_sums *out);
void cairn_hdf5_sums_destroy(cairn_hdf5_sums *sums);

/* From now on the sum of a dataset runs; `out` is its number. */
cairn_status cairn_hdf5_sums_follow(cairn_hdf5_sums *sums, hid_t dataset, size_t *out,
                                    cairn_error *error);
/* Bytes that were added at the end, as they are on the disk. */
void cairn_hdf5_sums_add(cairn_hdf5_sums *sums, size_t number, const void *data, size_t bytes);
/* The first `rows` rows of a dataset are all that is left of it. */
cairn_status cairn_hdf5_sums_cut(cairn_hdf5_sums *sums, size_t number, hid_t dataset, hsize_t rows,
                                 cairn_error *error);

/* Write /checksums: of what the file holds now, rows that wait to be packed left out. */
cairn_status cairn_hdf5_sums_write(cairn_hdf5_sums *sums, hid_t file, cairn_error *error);
/* Read /checksums into an empty list, and compare with all that the file holds; CAIRN_BAD_INPUT
 * when something does not agree. */
cairn_status cairn_hdf5_sums_verify(cairn_hdf5_sums *sums, hid_t file, cairn_error *error);

#endif
