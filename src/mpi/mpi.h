/* mpi.h - the members of a computation as ranks of MPI. MPI is optional at build time (CAIRN_MPI):
 * link_mpi.c is built with it, link_none.c without. All other files are the same. */
#ifndef CAIRN_MPI_MPI_H
#define CAIRN_MPI_MPI_H

#include "base/link.h"

/* How this process was started. */
typedef struct cairn_mpi_start {
    bool launched; /* by mpirun, mpiexec or srun                                             */
    int ranks;     /* number of processes that the launcher started; 0: it does not tell     */
    int rank;      /* which of them this is; 0 also if it does not tell                      */
} cairn_mpi_start;

/* Read from the environment, so that MPI need not be started to know. */
cairn_mpi_start cairn_mpi_how_started(void);

/* Start MPI and make the link of this rank to all others. Call it once a process. Messages may come
 * from any thread, but only from one at a time. CAIRN_UNSUPPORTED: built without MPI, or with
 * another MPI than that of the launcher. After a failure there is nothing to close. */
cairn_status cairn_mpi_open(cairn_link *out, cairn_error *error);

/* Leave, wait until all other ranks have left too, and end MPI. A rank that still waits for a
 * message of this one fails. */
void cairn_mpi_close(cairn_link *link);

/* Number of ranks on this machine, this one included: they share its processors. */
int cairn_mpi_ranks_here(const cairn_link *link);

/* For tests: messages of more than so many bytes travel in pieces. MPI counts in int. */
void cairn_mpi_set_piece(cairn_link *link, size_t bytes);

#endif
