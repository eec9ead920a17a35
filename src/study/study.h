/* study.h - private parts of the studies: comparisons of runs, trajectories of bodies, trials of
 * solvers, and a reader for the frames of run files. */
#ifndef CAIRN_STUDY_STUDY_H
#define CAIRN_STUDY_STUDY_H

#include "base/memory.h"
#include "cairn/study.h"
#include "file/hdf5.h"
#include "measure/measure.h"

/* ---- comparisons ------------------------------------------------------------------------- */

/* The runs in the order in which they were made; item 0 is the reference. */
struct cairn_comparison {
    cairn_compared *items;
    size_t count, capacity;
};

/* ---- trajectories ------------------------------------------------------------------------ */

/* Positions of bodies at given times, and the distance of another run from them. */

/* A limit on memory, not on accuracy: a reference with many small steps would otherwise store every
 * body at every step. */
enum { CAIRN_TRAJECTORY_SAMPLES = 1000 };

/* Times at which all runs are compared: start + k interval, k = 1 .. count. The start itself is
 * left out, because all runs begin in the same state. */
typedef struct cairn_sample_times {
    double start, interval; /* s */
    int count;              /* at most CAIRN_TRAJECTORY_SAMPLES */
} cairn_sample_times;

/* One sample for each time step of the coarsest run within `duration` (s), at most
 * CAIRN_TRAJECTORY_SAMPLES. The interval divides the duration evenly. */
cairn_sample_times cairn_sample_times_make(double start, double duration, double coarsest);

/* Positions of the dynamic bodies at the sample times reached so far. Zero is valid: none.
 *
 * Within a sample, bodies are indexed by uid, because rows may change between two runs and between
 * two steps. The number of entries may differ from sample to sample, since inlets add bodies. */
typedef struct cairn_trajectory {
    cairn_vec3 *x; /* m, by uid; x.x is NaN if the uid is not that of a dynamic body */
    size_t count, capacity;
    /* start of each sample in x; the last entry is the end */
    size_t first[CAIRN_TRAJECTORY_SAMPLES + 1];
    int samples;
} cairn_trajectory;

void cairn_trajectory_destroy(cairn_trajectory *trajectory);

/* Add the next sample: positions at `time` (s), extrapolated from the current state of the world
 * along straight lines, forwards or backwards. Samples beyond CAIRN_TRAJECTORY_SAMPLES are ignored.
 * Fails with CAIRN_NO_MEMORY. */
cairn_status cairn_trajectory_add(cairn_trajectory *trajectory, const cairn_world *world,
                                  double time);

/* Distances of a run from a trajectory, accumulated sample by sample. Zero is valid. */
typedef struct cairn_distance_meter {
    double sum;                      /* m^2: squared distances over all bodies and samples */
    double greatest;                 /* m   */
    int64_t count;                   /* number of distances in `sum` */
    cairn_run_difference difference; /* up to date after every sample */
} cairn_distance_meter;

/* Compare the world at `time` (s) with sample `k` (from 0) of the reference. Does nothing if the
 * reference has no such sample, for example because it ended early. */
void cairn_distance_meter_add(cairn_distance_meter *meter, const cairn_trajectory *reference, int k,
                              const cairn_world *world, double time);

/* ---- trials ------------------------------------------------------------------------------ */

struct cairn_trials {
    cairn_trial *items;
    size_t count, capacity;
    char **names; /* of the problems, each stored once; owned, and referred to by the items */
    size_t name_count, name_capacity;
    cairn_workspace *workspace;
    cairn_arena scratch;    /* reset at the start of every trial */
    const double *impulses; /* of the last trial, in `scratch`; NULL: it has none */
    bool threads_set;       /* use `threads`; otherwise the setting of OpenMP is left alone */
    int threads;            /* 0: one for each processor of the machine */
    /* further solves of the same problem; the shortest time is reported; 0: none */
    int repeats;
};

/* ---- frames of a run file ---------------------------------------------------------------- */

/* Reads the frames of a run file one by one, as samples for statistics.
 *
 * All arrays belong to the arenas of the reader. The reader trusts no number of the file: offsets
 * and rows are checked before they are used as indices. */

/* An open run file. Zero is valid: nothing is open. */
typedef struct cairn_run_reader {
    hid_t file;
    int dimension;
    double time_step; /* s */
    double length;    /* s: of the step, or substep, that led to the frame that was read last */
    const double *lengths; /* by step, from 1; NULL: an older file, where all are equal */
    cairn_vec3 gravity;
    const cairn_vec3 *gravity_of; /* by step, from 1, where it varies; NULL: it does not */
    int frames;
    bool has_contacts;
    const double *time, *step, *body_offset, *contact_offset; /* by frame */
    int bodies; /* rows of /bodies; the arrays below have one entry for each */
    const int32_t *shape, *motion, *material;
    const double *radius, *mass;
    const double *volume; /* NULL: the file was written before this column existed */
    const double *cell;   /* CAIRN_CELL_NUMBERS of each frame; NULL: the run did not measure them */
    const cairn_vec3 *inertia;
    int steps;
    /* by step, from 0: sums of works and losses since the start; NULL: not stored */
    cairn_energy *totals;
    cairn_arena kept, frame; /* for data of the whole reader, and of the current frame */
    cairn_error *error;      /* receives the description of failures; may be NULL */
} cairn_run_reader;

/* Open a folder or its run.h5 and read the data that do not change from frame to frame. `error`
 * must outlive the reader. On failure nothing stays open. */
cairn_status cairn_run_reader_open(const char *path, cairn_run_reader *out, cairn_error *error);
/* Read frame k, 0 <= k < frames. The sample is valid until the next call; the caller may take
 * further scratch memory from reader->frame. */
cairn_status cairn_run_reader_frame(cairn_run_reader *reader, int k, cairn_sample *out);
void cairn_run_reader_close(cairn_run_reader *reader);

#endif
