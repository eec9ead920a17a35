/* link_none.c - takes the place of link_mpi.c in a build without MPI; see mpi.h. */
#include "base/common.h"
#include "mpi/mpi.h"

bool cairn_mpi_name(char *text, size_t capacity)
{
    if (capacity > 0)
        text[0] = '\0';
    return false;
}

cairn_status cairn_mpi_open(cairn_link *out, cairn_error *error)
{
    *out = (cairn_link){ .members = 1 };
    return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                      "this cairn was built without MPI; 'make mpi' builds it with MPI");
}

void cairn_mpi_close(cairn_link *link)
{
    (void)link;
}

int cairn_mpi_ranks_here(const cairn_link *link)
{
    (void)link;
    return 1;
}

void cairn_mpi_set_piece(cairn_link *link, size_t bytes)
{
    (void)link;
    (void)bytes;
}
