/* ranks.c - the ranks of MPI that run a scene together; see cairn/base.h and mpi.h. */
#include <stdlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "mpi/mpi.h"

/* The largest of some variables of the environment; 0: there is none. */
static int number_of(const char *const *names, int count)
{
    int largest = 0;
    for (int k = 0; k < count; k++) {
        const char *found = getenv(names[k]);
        int number = found ? atoi(found) : 0;
        largest = number > largest ? number : largest;
    }
    return largest;
}

/* Open MPI and MPICH (and those made from it) give the number of processes; PMIx alone, as under
 * Slurm, only which one this is. */
cairn_mpi_start cairn_mpi_how_started(void)
{
    static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK" };
    cairn_mpi_start how = { .ranks = number_of(sizes, CAIRN_COUNT(sizes)),
                            .rank = number_of(names, CAIRN_COUNT(names)) };
    how.launched = how.ranks > 0 || getenv("PMIX_RANK");
    return how;
}

/* A launcher that starts one process, which has no MPI, is no mistake. */
static bool is_alone(cairn_mpi_start how)
{
    char name[64];
    return !how.launched || (how.ranks <= 1 && !cairn_mpi_name(name, sizeof name));
}

cairn_status cairn_ranks_open(cairn_link **out, cairn_error *error)
{
    cairn_mpi_start how = cairn_mpi_how_started();
    *out = NULL;
    if (is_alone(how))
        return CAIRN_OK;
    cairn_link *link = cairn_memory_zeroed(1, sizeof *link);
    if (!link)
        return CAIRN_NO_MEMORY;
    cairn_status status = cairn_mpi_open(link, error);
    if (status == CAIRN_OK) {
        *out = link;
        return CAIRN_OK;
    }
    cairn_memory_free(link);
    if (how.rank > 0 && error)
        *error = (cairn_error){ 0 };
    return status;
}

void cairn_ranks_close(cairn_link *link)
{
    if (link)
        cairn_mpi_close(link);
    cairn_memory_free(link);
}

int cairn_ranks_own(const cairn_link *link)
{
    return link->member;
}

int cairn_ranks_count(const cairn_link *link)
{
    return link->members;
}
