/* packer.c - see packer.h. A ring of chunks with three counters: `taken` <= `begun` <= `put`. The
 * owner moves the first and the last; whoever packs, thread or owner, moves the middle one. */
#include "io/packer.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/status.h"

/* A chunk is shuffled from `data` to `other`, and deflated from there to `data`. */
typedef struct slot {
    cairn_chunk chunk;
    unsigned char *data, *other;
    size_t room; /* bytes of each */
    bool done;
} slot;

struct cairn_packer {
    slot slots[CAIRN_PACKER_ROOM];
    uint64_t taken, begun, put;
    z_stream streams[2]; /* of the owner, of the thread */
    int stream_count;
    pthread_mutex_t lock; /* of `begun`, `put`, `done` and `over` */
    pthread_cond_t news;
    pthread_t thread;
    bool locks_made, started, over;
};

enum { OWNER, THREAD };

/* ---- packing -------------------------------------------------------------------------------- */

/* First the first bytes of all numbers, then the second ones, and so on. */
static void shuffle(const unsigned char *from, size_t bytes, size_t number_bytes, unsigned char *to)
{
    size_t count = bytes / number_bytes;
    for (size_t b = 0; b < number_bytes; b++)
        for (size_t i = 0; i < count; i++)
            to[b * count + i] = from[i * number_bytes + b];
}

static void pack(slot *s, z_stream *stream)
{
    shuffle(s->data, s->chunk.bytes, s->chunk.number_bytes, s->other);
    deflateReset(stream);
    stream->next_in = s->other;
    stream->avail_in = (uInt)s->chunk.bytes;
    stream->next_out = s->data;
    stream->avail_out = (uInt)s->room;
    bool good = deflate(stream, Z_FINISH) == Z_STREAM_END;
    s->chunk.bytes = s->room - stream->avail_out;
    s->chunk.data = good ? s->data : NULL;
}

/* Pack the next chunk that nobody has begun; called, and returns, with the lock held. */
static void pack_next(cairn_packer *p, int who)
{
    slot *s = &p->slots[p->begun++ % CAIRN_PACKER_ROOM];
    pthread_mutex_unlock(&p->lock);
    pack(s, &p->streams[who]);
    pthread_mutex_lock(&p->lock);
    s->done = true;
    pthread_cond_broadcast(&p->news);
}

static void *work(void *context)
{
    cairn_packer *p = context;
    pthread_mutex_lock(&p->lock);
    while (!p->over)
        if (p->begun < p->put)
            pack_next(p, THREAD);
        else
            pthread_cond_wait(&p->news, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- making --------------------------------------------------------------------------------- */

static void *z_take(void *context, unsigned count, unsigned size)
{
    (void)context;
    return cairn_memory_resize(NULL, count, size);
}

static void z_give(void *context, void *block)
{
    (void)context;
    cairn_memory_free(block);
}

/* Signals are for the other threads. Without a thread the owner packs when it waits. */
static void start(cairn_packer *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->started = pthread_create(&p->thread, NULL, work, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static cairn_status prepare(cairn_packer *p)
{
    for (int i = 0; i < 2; i++, p->stream_count++) {
        p->streams[i] = (z_stream){ .zalloc = z_take, .zfree = z_give };
        if (deflateInit(&p->streams[i], CAIRN_PACKER_LEVEL) != Z_OK)
            return CAIRN_NO_MEMORY;
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->news, NULL);
    p->locks_made = true;
    start(p);
    return CAIRN_OK;
}

cairn_status cairn_packer_create(cairn_packer **out)
{
    *out = cairn_memory_zeroed(1, sizeof **out);
    if (!*out)
        return CAIRN_NO_MEMORY;
    cairn_status status = prepare(*out);
    if (status == CAIRN_OK)
        return CAIRN_OK;
    cairn_packer_destroy(*out);
    *out = NULL;
    return status;
}

static void stop(cairn_packer *p)
{
    if (p->started) {
        pthread_mutex_lock(&p->lock);
        p->over = true;
        pthread_cond_broadcast(&p->news);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
    }
    if (p->locks_made) {
        pthread_cond_destroy(&p->news);
        pthread_mutex_destroy(&p->lock);
    }
}

void cairn_packer_destroy(cairn_packer *p)
{
    if (!p)
        return;
    stop(p);
    for (int i = 0; i < p->stream_count; i++)
        deflateEnd(&p->streams[i]);
    for (int i = 0; i < CAIRN_PACKER_ROOM; i++) {
        cairn_memory_free(p->slots[i].data);
        cairn_memory_free(p->slots[i].other);
    }
    cairn_memory_free(p);
}

/* ---- in and out ----------------------------------------------------------------------------- */

int cairn_packer_count(const cairn_packer *p)
{
    return (int)(p->put - p->taken);
}

/* Room for the chunk as it is, and packed. */
static cairn_status make_room(slot *s, size_t bytes)
{
    size_t wanted = compressBound((uLong)bytes);
    if (s->room >= wanted)
        return CAIRN_OK;
    cairn_memory_free(s->data);
    cairn_memory_free(s->other);
    s->data = cairn_memory_resize(NULL, wanted, 1);
    s->other = cairn_memory_resize(NULL, wanted, 1);
    s->room = s->data && s->other ? wanted : 0;
    return s->room > 0 ? CAIRN_OK : CAIRN_NO_MEMORY;
}

cairn_status cairn_packer_put(cairn_packer *p, const cairn_chunk *chunk)
{
    slot *s = &p->slots[p->put % CAIRN_PACKER_ROOM];
    TRY(make_room(s, chunk->bytes));
    s->chunk = *chunk;
    memcpy(s->data, chunk->data, chunk->bytes);
    pthread_mutex_lock(&p->lock);
    s->done = false;
    p->put++;
    pthread_cond_broadcast(&p->news);
    pthread_mutex_unlock(&p->lock);
    return CAIRN_OK;
}

bool cairn_packer_first(cairn_packer *p, bool wait, cairn_chunk *out)
{
    const slot *first = &p->slots[p->taken % CAIRN_PACKER_ROOM];
    if (p->taken == p->put)
        return false;
    pthread_mutex_lock(&p->lock);
    while (wait && !first->done)
        if (p->begun < p->put)
            pack_next(p, OWNER);
        else
            pthread_cond_wait(&p->news, &p->lock);
    bool done = first->done;
    pthread_mutex_unlock(&p->lock);
    if (done)
        *out = first->chunk;
    return done;
}

void cairn_packer_drop(cairn_packer *p)
{
    p->taken++;
}
