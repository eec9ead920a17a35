/* hdf5_probe.h - whether HDF5 survives a file.
 *
 * A few damaged bytes can make libhdf5 crash, or turn in circles: it believes what it reads, unless
 * there is a check sum. So a file is first opened by a child process, with all that is in it, and
 * read from end to end if it has no such sums; only when that lives does this process open it. */
#ifndef CAIRN_IO_HDF5_PROBE_H
#define CAIRN_IO_HDF5_PROBE_H

#include "cairn/base.h"

/* CAIRN_BAD_INPUT: who reads this file dies or does not come to an end, or cannot open all that is
 * in it. With `data` all numbers are read. */
cairn_status cairn_hdf5_probe(const char *path, bool data, cairn_error *error);

/* Whether the metadata of the file were written without check sums: it is in HDF5's first format,
 * in which cairn wrote runs until version 1 of their format. */
bool cairn_hdf5_is_unsummed(const char *path);

#endif
