/* hdf5_sink.h - where HDF5 writes a run file: a disk that never says no.
 *
 * When a write fails, HDF5 cannot close the file any more and brings the program down at its end.
 * So this file driver keeps the first failure to itself, answers that all is well, and the owner
 * of the sink asks it afterwards. The file is what it was at the last flush until the next one
 * (overlay.h), also when its sink failed or the program was killed. */
#ifndef CAIRN_IO_HDF5_SINK_H
#define CAIRN_IO_HDF5_SINK_H

#include <hdf5.h>

#include "cairn/base.h"
#include "io/overlay.h"

/* Belongs to the caller and must outlive the file. Zero is valid: nothing is open. */
typedef struct cairn_hdf5_sink {
    H5FD_t common;         /* HDF5's own part, first                          */
    cairn_overlay overlay; /* the file                                        */
    haddr_t end_of_space;  /* what HDF5 has given away                        */
    haddr_t end_of_file;   /* what it believes to have written                */
    int reason;            /* errno of the first failure; 0: none             */
    hid_t driver;          /* what HDF5 calls it; 0: not attached             */
} cairn_hdf5_sink;

/* Make a file access list use the sink. */
cairn_status cairn_hdf5_sink_attach(cairn_hdf5_sink *sink, hid_t access, cairn_error *error);
/* To be called when the file is closed, not before: while HDF5 closes a file it lets go of the
 * driver first and calls it then, so somebody else must hold it. Nothing attached: nothing done. */
void cairn_hdf5_sink_detach(cairn_hdf5_sink *sink);

/* What was written since the last flush shall not count: the file stays as that left it. */
void cairn_hdf5_sink_drop(cairn_hdf5_sink *sink);

/* CAIRN_IO_FAILED when something could not be written. */
cairn_status cairn_hdf5_sink_check(const cairn_hdf5_sink *sink, cairn_error *error);

#endif
