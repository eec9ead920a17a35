/* recording_describe.h - what a run file holds, as JSON for viewers. */
#ifndef CAIRN_IO_RECORDING_DESCRIBE_H
#define CAIRN_IO_RECORDING_DESCRIBE_H

#include <stdio.h>

#include "io/hdf5_read.h"

/* Write the document that cairn_recording_describe tells of. */
cairn_status cairn_recording_write(hid_t file, bool grows, cairn_arena *scratch, FILE *out,
                                   cairn_error *error);

#endif
