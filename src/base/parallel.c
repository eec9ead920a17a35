/* parallel.c - the parallel loop, reductions, and ordered pieces of work, on OpenMP.
 *
 * There are no barriers between pieces: a thread takes a piece as soon as all earlier pieces on its
 * parts are done. The first piece that is not done can always begin, so that there is no deadlock,
 * and the order of work on a part does not depend on the threads. */
#include "base/parallel.h"

#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

enum { WORTH_IT = 4 }; /* ranges: below that, waking threads costs more than it saves */

/* The number of threads set by the calling thread; 0: not set. OpenMP's own setting belongs to the
 * program that uses the library, and is not changed. */
static _Thread_local int wanted;

void cairn_parallel_threads(int threads)
{
    wanted = threads > 0 ? threads : omp_get_num_procs();
}

int cairn_parallel_width(void)
{
    return wanted > 0 ? wanted : omp_get_max_threads();
}

int cairn_parallel_cores(void)
{
    return omp_get_num_procs();
}

static void work_on(int k, int count, int grain, cairn_range_fn *work, void *context)
{
    int begin = k * grain;
    work(begin, begin + grain < count ? begin + grain : count, context);
}

/* A single thread or few ranges do not use OpenMP: even a team of one thread takes longer to start
 * than some sweeps take in all. */
void cairn_parallel_for(int count, int grain, cairn_range_fn *work, void *context)
{
    int ranges = (count + grain - 1) / grain;
    if (ranges < WORTH_IT || cairn_parallel_width() == 1) {
        for (int k = 0; k < ranges; k++)
            work_on(k, count, grain, work, context);
        return;
    }
#pragma omp parallel for schedule(dynamic) num_threads(cairn_parallel_width())
    for (int k = 0; k < ranges; k++)
        work_on(k, count, grain, work, context);
}

/* ---- reductions ------------------------------------------------------------------------------ */

typedef struct reduce_job {
    const cairn_reduction *r;
    char *values;
} reduce_job;

static void reduce_range(int begin, int end, void *context)
{
    const reduce_job *job = context;
    const cairn_reduction *r = job->r;
    char *value = job->values + (size_t)(begin / r->grain) * r->size;
    memcpy(value, r->neutral, r->size);
    r->work(begin, end, r->context, value);
}

size_t cairn_parted_bytes(int parts, int spans)
{
    return ((size_t)parts + (size_t)spans) * CAIRN_VALUE;
}

int cairn_reduction_values(const cairn_reduction *r)
{
    if (r->parted)
        return 0; /* uses the room of `parted` */
    return r->count / r->grain + (r->count % r->grain > 0);
}

static void reduce_spans(int begin, int end, void *context)
{
    const reduce_job *job = context;
    const cairn_reduction *r = job->r;
    for (int k = begin; k < end; k++) {
        const cairn_span *span = &r->parted->span[k];
        char *value = job->values + (size_t)k * r->size;
        memcpy(value, r->neutral, r->size);
        r->work(span->begin, span->end, r->context, value);
    }
}

/* Compute the values of all spans, join those of each part of this member, then those of all parts.
 * Spans that others count are processed, too, since `work` may have results beside its value, but
 * their values are not joined. */
static void reduce_parts(const cairn_reduction *r, void *result)
{
    const cairn_parted *by = r->parted;
    int spans = by->count + by->others;
    char *values = by->room, *parts = values + (size_t)spans * r->size;
    reduce_job job = { r, values };
    cairn_parallel_for(spans, 1, reduce_spans, &job);
    for (int part = by->first; part < by->end; part++)
        memcpy(parts + (size_t)part * r->size, r->neutral, r->size);
    for (int k = 0; k < by->count; k++)
        r->join(parts + (size_t)by->span[k].part * r->size, values + (size_t)k * r->size);
    if (by->link)
        cairn_link_share(by->link, by->parts, parts, r->size);
    for (int part = 0; part < by->parts; part++)
        r->join(result, parts + (size_t)part * r->size);
}

void cairn_reduce(const cairn_reduction *r, void *room, void *result)
{
    if (r->parted) {
        reduce_parts(r, result);
        return;
    }
    reduce_job job = { r, room };
    cairn_parallel_for(r->count, r->grain, reduce_range, &job);
    for (int k = 0; k < cairn_reduction_values(r); k++)
        r->join(result, job.values + (size_t)k * r->size);
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* The progress of a part, in a cache line of its own, since all threads poll it. */
typedef struct progress {
    _Alignas(64) atomic_int done; /* finished pieces on this part */
} progress;

typedef struct crew {
    const cairn_pieces *pieces;
    cairn_range_fn *work;
    void *context;
    atomic_bool *taken; /* of each piece: a thread has it            */
    atomic_int left;    /* pieces that no thread has taken           */
    atomic_int first;   /* all pieces before this one are taken      */
    progress at[];      /* of each part                              */
} crew;

size_t cairn_pieces_bytes(int parts, int most)
{
    size_t n = (size_t)most, m = (size_t)parts;
    size_t bytes = sizeof(crew) + m * sizeof(progress) + n * (4 * sizeof(int)) + m * sizeof(int) +
                   n * sizeof(atomic_bool);
    return bytes;
}

void cairn_pieces_start(cairn_pieces *p, int parts, int most, void *room)
{
    crew *c = room;
    int *numbers = (int *)(c->at + parts);
    *p = (cairn_pieces){ .parts = parts, .crew = c };
    p->part = (int(*)[2])numbers;
    p->turn = p->part + most;
    p->on = (int *)(p->turn + most);
    /* all arrays follow each other in `room`, in the order of falling alignment */
    c->taken = (atomic_bool *)(p->on + parts);
    memset(p->on, 0, (size_t)parts * sizeof *p->on);
}

void cairn_pieces_add(cairn_pieces *p, int one, int other)
{
    int k = p->count++;
    p->part[k][0] = one;
    p->part[k][1] = other;
    p->turn[k][0] = p->on[one]++;
    p->turn[k][1] = other == one ? p->turn[k][0] : p->on[other]++;
}

/* A piece may begin when all earlier pieces on both of its parts are done. Acquire pairs with the
 * release in do_piece: the results of those pieces are then visible. */
static bool is_ready(const crew *c, int k)
{
    const int *part = c->pieces->part[k], *turn = c->pieces->turn[k];
    return !atomic_load_explicit(&c->taken[k], memory_order_relaxed) &&
           atomic_load_explicit(&c->at[part[0]].done, memory_order_acquire) == turn[0] &&
           atomic_load_explicit(&c->at[part[1]].done, memory_order_acquire) == turn[1];
}

/* How many parts of a piece (0 to 2) belong to the thread's own share of the parts. */
static int own_parts(const crew *c, int k, int thread, int threads)
{
    const int *part = c->pieces->part[k], parts = c->pieces->parts;
    return (part[0] * threads / parts == thread) + (part[1] * threads / parts == thread);
}

/* Pieces that a thread examines, per part, from the first one that is not taken. */
enum { AHEAD = 8 };

/* A piece that may begin, preferably on the thread's own parts, which its cache may still hold.
 * Every other thread searches backwards, so that neighbours divide the pieces in the same way each
 * time. -1: none at present. */
static int find_piece(const crew *c, int thread, int threads)
{
    int first = atomic_load_explicit(&c->first, memory_order_relaxed);
    int best = -1, most = -1, count = c->pieces->count - first;
    count = count < AHEAD * c->pieces->parts ? count : AHEAD * c->pieces->parts;
    for (int i = 0; i < count && most < 2; i++) {
        int k = first + (thread % 2 ? count - 1 - i : i);
        int own = is_ready(c, k) ? own_parts(c, k, thread, threads) : -1;
        if (own > most) {
            most = own;
            best = k;
        }
    }
    return best;
}

/* Advance `first` past taken pieces. A thread that is late may store a lower value; this is
 * harmless, some pieces are only examined again. */
static void skip_taken(crew *c)
{
    int first = atomic_load_explicit(&c->first, memory_order_relaxed);
    while (first < c->pieces->count && atomic_load_explicit(&c->taken[first], memory_order_relaxed))
        first++;
    atomic_store_explicit(&c->first, first, memory_order_relaxed);
}

static void do_piece(crew *c, int k)
{
    const int *part = c->pieces->part[k];
    if (atomic_exchange_explicit(&c->taken[k], true, memory_order_relaxed))
        return; /* another thread has taken it in the meantime */
    atomic_fetch_sub_explicit(&c->left, 1, memory_order_relaxed);
    skip_taken(c);
    c->work(k, k + 1, c->context);
    for (int side = 0; side < (part[0] == part[1] ? 1 : 2); side++)
        atomic_fetch_add_explicit(&c->at[part[side]].done, 1, memory_order_release);
}

/* Failed searches, some hundred microseconds, after which a thread sleeps: on a busy machine it
 * then probably waits for a thread that has lost its core. (sched_yield would put it behind all
 * others.) */
enum { PATIENCE = 10000, NAP = 50000 /* ns */ };

static void do_pieces(crew *c, int thread, int threads)
{
    for (int vain = 0; atomic_load_explicit(&c->left, memory_order_relaxed) > 0; vain++) {
        int k = find_piece(c, thread, threads);
        if (k >= 0) {
            do_piece(c, k);
            vain = 0;
        } else if (vain > PATIENCE) {
            nanosleep(&(struct timespec){ .tv_nsec = NAP }, NULL);
        }
    }
}

void cairn_parallel_pieces(const cairn_pieces *p, cairn_range_fn *work, void *context)
{
    crew *c = p->crew;
    if (p->count < 2 || cairn_parallel_width() == 1) {
        for (int k = 0; k < p->count; k++)
            work(k, k + 1, context);
        return;
    }
    c->pieces = p;
    c->work = work;
    c->context = context;
    atomic_init(&c->left, p->count);
    atomic_init(&c->first, 0);
    for (int k = 0; k < p->count; k++)
        atomic_init(&c->taken[k], false);
    for (int i = 0; i < p->parts; i++)
        atomic_init(&c->at[i].done, 0);
#pragma omp parallel num_threads(cairn_parallel_width())
    do_pieces(c, omp_get_thread_num(), omp_get_num_threads());
}
