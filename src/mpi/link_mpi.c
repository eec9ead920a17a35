/* link_mpi.c - a link over MPI: messages between two ranks, see mpi.h and base/link.h.
 *
 *   send     The message is copied and sent without waiting (MPI_Isend). Its buffer is used again
 *            once MPI has finished with it.
 *   receive  The rank asks for the next message of the other one until there is one. It gives the
 *            processor away in between, so that more ranks than processors make progress.
 *   arrived  The rank asks once.
 *   leave    Every other rank gets a message that says so, behind all others of this rank.
 *
 * MPI counts bytes in int. Longer messages travel in pieces, and all but the last one say that more
 * follow. Two ranks exchange messages in order, whatever their tags: the receiver asks for any tag
 * of one rank, in a communicator that nobody else uses. */
#include "mpi/mpi.h"

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"

enum tag { LAST, MORE, LEFT };

enum { SPINS = 200, PIECE = 1 << 30, LARGE = 1 << 22 }; /* bytes */

/* A message on its way. */
typedef struct parcel {
    MPI_Request request; /* MPI_REQUEST_NULL: the buffer is free */
    unsigned char *bytes;
    size_t capacity;
} parcel;

typedef struct ranks {
    MPI_Comm all;
    int me, count;
    int here; /* ranks on this machine */
    parcel *out;
    size_t outs, outs_capacity, oldest; /* oldest: where the search for a free buffer begins */
    unsigned char *in;                  /* the message that was received last                */
    size_t in_capacity;
    bool *left; /* of each rank: no message of it will come any more     */
    bool has_left;
    size_t piece; /* bytes of a message, at most                           */
} ranks;

static cairn_status outcome(int code)
{
    return code == MPI_SUCCESS ? CAIRN_OK : CAIRN_IO_FAILED;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* A buffer that MPI does not use any more, from the oldest one on; a new one if there is none. */
static cairn_status find_free(ranks *r, parcel **out)
{
    for (size_t k = 0; k < r->outs; k++) {
        size_t i = (r->oldest + k) % r->outs;
        int done = 0;
        TRY(outcome(MPI_Test(&r->out[i].request, &done, MPI_STATUS_IGNORE)));
        if (done) {
            r->oldest = (i + 1) % r->outs;
            *out = &r->out[i];
            return CAIRN_OK;
        }
    }
    TRY(cairn_memory_reserve((void **)&r->out, &r->outs_capacity, r->outs + 1, sizeof *r->out));
    *out = &r->out[r->outs++];
    (*out)->request = MPI_REQUEST_NULL;
    return CAIRN_OK;
}

/* Large buffers, as for the bodies that move at the start, are not kept for later messages. */
static cairn_status free_large(ranks *r)
{
    for (size_t i = 0; i < r->outs; i++) {
        parcel *p = &r->out[i];
        int done = 0;
        if (p->capacity <= LARGE)
            continue;
        TRY(outcome(MPI_Test(&p->request, &done, MPI_STATUS_IGNORE)));
        if (done) {
            cairn_memory_free(p->bytes);
            p->bytes = NULL;
            p->capacity = 0;
        }
    }
    return CAIRN_OK;
}

static cairn_status post(ranks *r, int to, const void *bytes, size_t count, enum tag tag)
{
    parcel *p;
    TRY(free_large(r));
    TRY(find_free(r, &p));
    TRY(cairn_memory_extend((void **)&p->bytes, &p->capacity, count + 1, 1));
    if (count > 0)
        memcpy(p->bytes, bytes, count);
    return outcome(MPI_Isend(p->bytes, (int)count, MPI_BYTE, to, (int)tag, r->all, &p->request));
}

static cairn_status send_message(void *context, int to, const void *bytes, size_t count)
{
    ranks *r = context;
    const char *at = bytes;
    for (; count > r->piece; at += r->piece, count -= r->piece)
        TRY(post(r, to, at, r->piece, MORE));
    return post(r, to, at, count, LAST);
}

/* It is too late to do anything about a failure here. */
static void leave(void *context)
{
    ranks *r = context;
    for (int k = 0; !r->has_left && k < r->count; k++)
        if (k != r->me)
            (void)post(r, k, NULL, 0, LEFT);
    r->has_left = true;
}

/* ---- receiving ------------------------------------------------------------------------------ */

/* Wait for the next message of a rank. */
static cairn_status await(ranks *r, int from, MPI_Message *message, MPI_Status *about)
{
    int found = 0;
    for (int tries = 0; !found; tries++) {
        TRY(outcome(MPI_Improbe(from, MPI_ANY_TAG, r->all, &found, message, about)));
        if (!found && tries >= SPINS)
            sched_yield();
    }
    return CAIRN_OK;
}

/* Append the next piece of a message of `count` bytes so far. A rank that has left sends none. */
static cairn_status take_piece(ranks *r, int from, size_t *count, enum tag *tag)
{
    MPI_Message message;
    MPI_Status about;
    int bytes = 0;
    *tag = LEFT;
    if (r->left[from])
        return CAIRN_OK;
    TRY(await(r, from, &message, &about));
    TRY(outcome(MPI_Get_count(&about, MPI_BYTE, &bytes)));
    TRY(cairn_memory_extend((void **)&r->in, &r->in_capacity, *count + (size_t)bytes + 1, 1));
    TRY(outcome(MPI_Mrecv(r->in + *count, bytes, MPI_BYTE, &message, &about)));
    *count += (size_t)bytes;
    *tag = (enum tag)about.MPI_TAG;
    r->left[from] = *tag == LEFT;
    return CAIRN_OK;
}

static cairn_status receive_message(void *context, int from, const void **bytes, size_t *count)
{
    ranks *r = context;
    enum tag tag = MORE;
    *count = 0;
    while (tag == MORE)
        TRY(take_piece(r, from, count, &tag));
    *bytes = r->in;
    return tag == LEFT ? CAIRN_IO_FAILED : CAIRN_OK;
}

/* A failure is found out by the call that receives the message. */
static bool has_arrived(void *context, int from)
{
    const ranks *r = context;
    int found = 0;
    return r->left[from] ||
           MPI_Iprobe(from, MPI_ANY_TAG, r->all, &found, MPI_STATUS_IGNORE) != MPI_SUCCESS || found;
}

/* ---- the beginning -------------------------------------------------------------------------- */

/* "Open MPI v4.1.4, package: ..." or "MPICH Version:\t4.0.2 ...": the first words, without blanks
 * that repeat and without "Version: ". */
bool cairn_mpi_name(char *text, size_t capacity)
{
    char whole[MPI_MAX_LIBRARY_VERSION_STRING], clean[64];
    int length;
    size_t n = 0;
    if (MPI_Get_library_version(whole, &length) != MPI_SUCCESS)
        snprintf(whole, sizeof whole, "MPI");
    for (const char *c = whole; *c && !strchr(",\n", *c) && n + 1 < sizeof clean; c++) {
        char next = *c == '\t' ? ' ' : *c;
        if (next != ' ' || (n > 0 && clean[n - 1] != ' '))
            clean[n++] = next;
    }
    clean[n] = '\0';
    const char *word = strstr(clean, "Version: ");
    int before = word ? (int)(word - clean) : (int)n;
    snprintf(text, capacity, "%.*s%s", before, clean, word ? word + strlen("Version: ") : "");
    return true;
}

static void destroy(ranks *r)
{
    for (size_t k = 0; k < r->outs; k++)
        cairn_memory_free(r->out[k].bytes);
    cairn_memory_free(r->out);
    cairn_memory_free(r->in);
    cairn_memory_free(r->left);
    cairn_memory_free(r);
}

/* Ranks that can share memory are on the same machine. */
static cairn_status count_ranks_here(ranks *r)
{
    MPI_Comm here;
    TRY(outcome(MPI_Comm_split_type(r->all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here)));
    cairn_status status = outcome(MPI_Comm_size(here, &r->here));
    MPI_Comm_free(&here);
    return status;
}

/* Failures of MPI are returned: the caller reports them. */
static cairn_status connect(ranks *r)
{
    TRY(outcome(MPI_Comm_dup(MPI_COMM_WORLD, &r->all)));
    TRY(outcome(MPI_Comm_set_errhandler(r->all, MPI_ERRORS_RETURN)));
    TRY(outcome(MPI_Comm_rank(r->all, &r->me)));
    TRY(outcome(MPI_Comm_size(r->all, &r->count)));
    TRY(count_ranks_here(r));
    r->left = cairn_memory_zeroed((size_t)r->count, sizeof *r->left);
    return r->left ? CAIRN_OK : CAIRN_NO_MEMORY;
}

/* A program that was built with Open MPI and started by the mpirun of MPICH, or the reverse, finds
 * itself alone: so many runs of the same scene. */
static cairn_status check_launcher(const ranks *r, cairn_error *error)
{
    char name[64];
    int started = cairn_mpi_how_started().ranks;
    if (started == 0 || started == r->count)
        return CAIRN_OK;
    cairn_mpi_name(name, sizeof name);
    return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                      "the launcher started %d processes, but %s finds %d: this cairn was built "
                      "with another MPI than that of the launcher",
                      started, name, r->count);
}

cairn_status cairn_mpi_open(cairn_link *out, cairn_error *error)
{
    int provided;
    *out = (cairn_link){ .members = 1 };
    ranks *r = cairn_memory_zeroed(1, sizeof *r);
    if (!r)
        return CAIRN_NO_MEMORY;
    r->piece = PIECE;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
        destroy(r);
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "MPI cannot be started");
    }
    cairn_status status = connect(r);
    if (status == CAIRN_OK)
        status = check_launcher(r, error);
    else
        cairn_fail(error, status, NULL, "the ranks of MPI cannot be connected");
    if (status != CAIRN_OK) {
        destroy(r);
        MPI_Finalize();
        return status;
    }
    *out = (cairn_link){ .member = r->me,
                         .members = r->count,
                         .send = send_message,
                         .receive = receive_message,
                         .arrived = has_arrived,
                         .leave = leave,
                         .context = r };
    return CAIRN_OK;
}

/* ---- the end -------------------------------------------------------------------------------- */

#if defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40200000
enum { MAY_HANG = 1 };
#else
enum { MAY_HANG = 0 };
#endif

/* MPICH before 4.2 may never end where messages go by TCP: in MPI_Finalize a rank asks others for
 * answers, while those that have got theirs wait in a barrier of the launcher and give none
 * (repaired by pull request 6596 of MPICH). Under the launcher of such an MPICH, hydra, a rank only
 * says that it ends well, in the words of PMI 1 that the two speak with each other; what MPI still
 * has goes with the process. false: there is nobody to tell. */
static bool end_without_mpi(void)
{
    const char *name = getenv("HYDI_CONTROL_FD") ? getenv("PMI_FD") : NULL;
    const char line[] = "cmd=finalize\n";
    int file = name ? atoi(name) : -1;
    char c = '\0';
    if (!MAY_HANG || file < 0 || write(file, line, sizeof line - 1) < 0)
        return false;
    while (c != '\n' && read(file, &c, 1) == 1) {
    }
    return true;
}

/* Messages that nobody has read are read here, because MPI must not end with messages on their
 * way. */
void cairn_mpi_close(cairn_link *link)
{
    ranks *r = link->context;
    cairn_status status = CAIRN_OK;
    if (!r)
        return;
    leave(r);
    for (int k = 0; k < r->count; k++)
        while (k != r->me && !r->left[k] && status == CAIRN_OK) {
            size_t count = 0;
            enum tag tag;
            status = take_piece(r, k, &count, &tag);
        }
    for (size_t k = 0; k < r->outs && status == CAIRN_OK; k++)
        status = outcome(MPI_Wait(&r->out[k].request, MPI_STATUS_IGNORE));
    /* a launcher may end all ranks when one has ended: nobody goes before the last one is ready */
    MPI_Barrier(r->all);
    MPI_Comm_free(&r->all);
    if (!end_without_mpi())
        MPI_Finalize();
    destroy(r);
    *link = (cairn_link){ .members = 1 };
}

int cairn_mpi_ranks_here(const cairn_link *link)
{
    const ranks *r = link->send == send_message ? link->context : NULL; /* else it is not ours */
    return r ? r->here : 1;
}

void cairn_mpi_set_piece(cairn_link *link, size_t bytes)
{
    ranks *r = link->context;
    r->piece = bytes;
}
