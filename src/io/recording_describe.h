/* recording_describe.h - what a run file holds, as JSON for viewers. */
#ifndef CAIRN_IO_RECORDING_DESCRIBE_H
#define CAIRN_IO_RECORDING_DESCRIBE_H

#include <stdio.h>

#include "io/hdf5_read.h"

/* How far a run has come. */
typedef struct cairn_recording_state {
    bool grows;       /* it is under way                               */
    bool interrupted; /* its program ended without ending the run      */
} cairn_recording_state;

/* Write the document that cairn_recording_describe tells of. */
cairn_status cairn_recording_write(hid_t file, cairn_recording_state state, cairn_arena *scratch,
                                   FILE *out, cairn_error *error);

#endif
