/* run_certificate.h - the group /certificate of run.h5, written with `certificate: full`: every
 * step with all that an independent program needs to compute it again (docs/run-format.md). */
#ifndef CAIRN_IO_RUN_CERTIFICATE_H
#define CAIRN_IO_RUN_CERTIFICATE_H

#include "io/run_columns.h"

enum { CAIRN_CERTIFICATE_PARTS = 8 };

/* Open columns: the parts are bodies, joints, contacts, loads, poses, guesses, rows of joints,
 * impacts. Zero is valid: nothing is open. */
typedef struct cairn_run_certificate {
    cairn_run_table parts[CAIRN_CERTIFICATE_PARTS];
    cairn_run_table details; /* more columns of the contacts */
    cairn_hdf5_column offsets[CAIRN_CERTIFICATE_PARTS];
    cairn_hdf5_writer *writer;
} cairn_run_certificate;

/* Make the group in a file, with the laws of all pairs of materials. */
cairn_status cairn_run_certificate_create(hid_t file, const cairn_world *world,
                                          cairn_hdf5_writer *writer, cairn_run_certificate *out,
                                          cairn_error *error);
/* Add the state after a step, and the contacts, loads and poses of that step. The first call, with
 * frame->step 0, is for the state before the first step. */
cairn_status cairn_run_certificate_step(cairn_run_certificate *c, const cairn_run_frame *frame,
                                        cairn_error *error);
/* Keep the first `steps` steps. */
cairn_status cairn_run_certificate_cut(cairn_run_certificate *c, int64_t steps, cairn_error *error);
void cairn_run_certificate_close(cairn_run_certificate *c);

#endif
