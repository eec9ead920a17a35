/* hdf5_record.h - options as attributes of an HDF5 file. */
#ifndef CAIRN_IO_HDF5_RECORD_H
#define CAIRN_IO_HDF5_RECORD_H

#include "io/hdf5.h"

/* Every line of an options table becomes an attribute of the object. */
cairn_status cairn_hdf5_record(hid_t object, const cairn_record *record, const void *options,
                               cairn_error *error);

#endif
