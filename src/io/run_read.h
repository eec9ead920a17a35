/* run_read.h - the frames of a run file, one by one, as states for statistics. */
#ifndef CAIRN_IO_RUN_READ_H
#define CAIRN_IO_RUN_READ_H

#include "io/hdf5_read.h"
#include "measure/measure.h"

/* An open run file. Zero is valid: nothing is open. */
typedef struct cairn_run_reader {
    hid_t file;
    int dimension;
    double time_step; /* s */
    cairn_vec3 gravity;
    int frames;
    bool has_contacts;
    const double *time, *step, *body_offset, *contact_offset; /* by frame */
    int bodies; /* rows of /bodies, by which the next go */
    const int32_t *shape, *motion, *material;
    const double *radius, *mass;
    const double *volume; /* NULL: a file of before there was one */
    const cairn_vec3 *inertia;
    int steps;
    cairn_energy *totals; /* after each step, sums since the start; NULL: not kept */
    cairn_arena kept, frame;
    cairn_error *error; /* what goes wrong is told here; may be NULL */
} cairn_run_reader;

/* Open a folder or its run.h5 and read what does not change from frame to frame. `error` must
 * outlive the reader. */
cairn_status cairn_run_reader_open(const char *path, cairn_run_reader *out, cairn_error *error);
/* Frame k, lent until the next call; scratch may go on in reader->frame. */
cairn_status cairn_run_reader_frame(cairn_run_reader *reader, int k, cairn_sample *out);
void cairn_run_reader_close(cairn_run_reader *reader);

#endif
