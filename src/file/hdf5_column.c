/* hdf5_column.c - datasets that grow by rows, and the thread that packs them. Every object that
 * is opened for one call is closed in that call.
 *
 * The way of a row of a long column: it is copied to the tail of its column and converted to the
 * type of the file there; a full tail goes to the packer as a chunk; the owner takes packed
 * chunks from the packer and writes them, past the filters of HDF5. The tail stays valid after
 * that, so a chunk that was given to the packer incomplete is simply given again when it has
 * more rows: the later one replaces the earlier one in the file. */
#include "file/hdf5.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <zlib.h>

#include "base/common.h"
#include "base/memory.h"
#include "base/parallel.h"

/* A column of width 1 is a list, not a table with one column. */
static int rank_of(int width)
{
    return width > 1 ? 2 : 1;
}

/* HDF5 extends or shrinks a dataset by setting its extent; the number of columns stays. */
static cairn_status set_rows(hid_t dataset, int width, uint64_t rows, cairn_error *error)
{
    hsize_t extent[2] = { rows, (hsize_t)width };
    return H5Dset_extent(dataset, extent) < 0 ? cairn_hdf5_fail(error, "cannot write") : CAIRN_OK;
}

/* ---- chunks --------------------------------------------------------------------------------- */

/* Write a packed chunk past the filters of HDF5, which has both of them recorded as applied. The
 * dataset is extended first, because a chunk must lie within it. */
static cairn_status write_chunk(const cairn_chunk *chunk, cairn_error *error)
{
    hsize_t at[2] = { chunk->row, 0 };
    if (!chunk->data)
        return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot compress a chunk");
    TRY(set_rows(chunk->owner, chunk->width, chunk->rows, error));
    if (H5Dwrite_chunk(chunk->owner, H5P_DEFAULT, 0, at, chunk->bytes, chunk->data) < 0)
        return cairn_hdf5_fail(error, "cannot write");
    return CAIRN_OK;
}

/* Write the chunks that are ready; wait until at most `most` are inside. */
static cairn_status collect(cairn_packer *packer, int most, cairn_error *error)
{
    cairn_chunk chunk;
    while (cairn_packer_first(packer, cairn_packer_count(packer) > most, &chunk)) {
        TRY(write_chunk(&chunk, error));
        cairn_packer_drop(packer);
    }
    return CAIRN_OK;
}

/* A running checksum needs a writer that keeps sums. */
static bool keeps_sum(const cairn_hdf5_column *c)
{
    return c->writer && c->writer->sums;
}

static size_t row_bytes(const cairn_hdf5_column *c)
{
    return cairn_hdf5_size(c->type) * (size_t)c->width;
}

/* Give the chunk with the last row to the packer. Bytes behind that row have no meaning. If the
 * packer is full, this waits for the oldest chunk. */
static cairn_status put_tail(cairn_hdf5_column *c, cairn_error *error)
{
    hsize_t chunk_rows = (hsize_t)c->chunk;
    cairn_chunk chunk = { .owner = c->dataset,
                          .row = (c->rows - 1) / chunk_rows * chunk_rows,
                          .rows = c->rows,
                          .width = c->width,
                          .number_bytes = cairn_hdf5_size(c->type),
                          .bytes = chunk_rows * row_bytes(c),
                          .data = c->tail };
    TRY(collect(c->writer->packer, CAIRN_PACKER_ROOM - 1, error));
    TRY(cairn_packer_put(c->writer->packer, &chunk));
    c->changed = false;
    return CAIRN_OK;
}

cairn_status cairn_hdf5_writer_create(cairn_hdf5_writer *out)
{
    *out = (cairn_hdf5_writer){ 0 };
    return cairn_packer_create(&out->packer);
}

cairn_status cairn_hdf5_writer_push(cairn_hdf5_writer *writer, cairn_error *error)
{
    for (cairn_hdf5_column *c = writer->columns; c; c = c->next)
        if (c->changed)
            TRY(put_tail(c, error));
    return CAIRN_OK;
}

/* If the loops use every core, one more thread would make them wait for each other: the owner
 * then packs as well, and continues when everything is done. */
static bool cores_are_taken(void)
{
    return cairn_parallel_width() >= cairn_parallel_cores();
}

cairn_status cairn_hdf5_writer_collect(cairn_hdf5_writer *writer, bool all, cairn_error *error)
{
    return collect(writer->packer, all || cores_are_taken() ? 0 : CAIRN_PACKER_ROOM, error);
}

bool cairn_hdf5_writer_waits(const cairn_hdf5_writer *writer)
{
    return writer->packer && cairn_packer_count(writer->packer) > 0;
}

void cairn_hdf5_writer_destroy(cairn_hdf5_writer *writer)
{
    cairn_packer_destroy(writer->packer);
    for (cairn_hdf5_column *c = writer->columns; c; c = c->next)
        c->writer = NULL;
    *writer = (cairn_hdf5_writer){ 0 };
}

/* ---- making --------------------------------------------------------------------------------- */

/* The layout of a new dataset. Long columns are shuffled and deflated, so that any reader of
 * HDF5 can unpack what the packer made. */
static hid_t layout_create(const cairn_hdf5_column_def *def)
{
    hsize_t chunk[2] = { (hsize_t)def->chunk, (hsize_t)def->width };
    hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
    bool good = layout >= 0 && H5Pset_chunk(layout, rank_of(def->width), chunk) >= 0;
    if (good && def->packed)
        good = H5Pset_shuffle(layout) >= 0 && H5Pset_deflate(layout, CAIRN_PACKER_LEVEL) >= 0;
    if (good)
        return layout;
    if (layout >= 0)
        H5Pclose(layout);
    return -1;
}

/* The number of rows of a dataset with `width` numbers a row; -1 if it has another form. */
static hssize_t rows_of(hid_t dataset, int width)
{
    hsize_t extent[2] = { 0, 1 };
    hid_t space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    bool good = rank == rank_of(width);
    good = good && H5Sget_simple_extent_dims(space, extent, NULL) == rank;
    H5Sclose(space);
    return good && (width == 1 || extent[1] == (hsize_t)width) ? (hssize_t)extent[0] : -1;
}

/* Whether the chunks of a dataset are as defined: only then may packed chunks be written as a
 * whole. */
static bool has_layout(hid_t dataset, const cairn_hdf5_column_def *def)
{
    hsize_t chunk[2] = { 0, (hsize_t)def->width };
    hid_t layout = H5Dget_create_plist(dataset);
    bool good = layout >= 0 && H5Pget_layout(layout) == H5D_CHUNKED &&
                H5Pget_chunk(layout, 2, chunk) == rank_of(def->width) &&
                H5Pget_nfilters(layout) == (def->packed ? 2 : 0);
    if (layout >= 0)
        H5Pclose(layout);
    return good && chunk[0] == (hsize_t)def->chunk && chunk[1] == (hsize_t)def->width;
}

/* The tail is allocated with the first rows; its unused end is zero at first. */
static cairn_status make_tail(cairn_hdf5_column *c)
{
    if (!c->tail)
        c->tail = cairn_memory_zeroed((size_t)c->chunk, row_bytes(c));
    return c->tail ? CAIRN_OK : CAIRN_NO_MEMORY;
}

static cairn_status read_rows(const cairn_hdf5_column *c, hid_t type, hsize_t first, hsize_t rows,
                              void *out, cairn_error *error)
{
    hsize_t at[2] = { first, 0 }, extent[2] = { rows, (hsize_t)c->width };
    hid_t file = H5Dget_space(c->dataset);
    hid_t memory = H5Screate_simple(rank_of(c->width), extent, NULL);
    H5Sselect_hyperslab(file, H5S_SELECT_SET, at, NULL, extent, NULL);
    herr_t result = H5Dread(c->dataset, type, memory, file, H5P_DEFAULT, out);
    cairn_status status = result < 0 ? cairn_hdf5_fail(error, "cannot read") : CAIRN_OK;
    H5Sclose(file);
    H5Sclose(memory);
    return status;
}

/* Read the rows of the last, incomplete chunk, which will be written again with more rows. They
 * are kept in the type of the file, as the packer needs them. */
static cairn_status load_tail(cairn_hdf5_column *c, cairn_error *error)
{
    hsize_t rows = c->rows % (hsize_t)c->chunk;
    if (!c->packed || rows == 0)
        return CAIRN_OK;
    TRY(make_tail(c));
    return read_rows(c, cairn_hdf5_disk_type(c->type), c->rows - rows, rows, c->tail, error);
}

/* A continued file must have the same form as a new one would have: chunks are written whole. */
static cairn_status open_column(hid_t group, const cairn_hdf5_column_def *def,
                                cairn_hdf5_column *out, cairn_error *error)
{
    out->dataset = H5Dopen2(group, def->name, H5P_DEFAULT);
    if (out->dataset < 0)
        return cairn_hdf5_fail(error, "cannot open a dataset");
    hssize_t rows = rows_of(out->dataset, def->width);
    if (rows < 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, def->name, "expected rows of %d numbers",
                          def->width);
    if (!has_layout(out->dataset, def))
        return cairn_fail(error, CAIRN_BAD_INPUT, def->name, "expected chunks of %d rows%s",
                          def->chunk, def->packed ? ", shuffled and deflated" : "");
    out->rows = (hsize_t)rows;
    return load_tail(out, error);
}

/* The extent is unlimited in rows, which HDF5 supports for chunked datasets only. */
static cairn_status make_column(hid_t group, const cairn_hdf5_column_def *def,
                                cairn_hdf5_column *out, cairn_error *error)
{
    hsize_t start[2] = { 0, (hsize_t)def->width };
    hsize_t limit[2] = { H5S_UNLIMITED, (hsize_t)def->width };
    hid_t space = H5Screate_simple(rank_of(def->width), start, limit);
    hid_t layout = layout_create(def);
    if (space >= 0 && layout >= 0)
        out->dataset = H5Dcreate2(group, def->name, cairn_hdf5_disk_type(def->type), space,
                                  H5P_DEFAULT, layout, H5P_DEFAULT);
    cairn_status status =
        out->dataset < 0 ? cairn_hdf5_fail(error, "cannot make a dataset") : CAIRN_OK;
    if (layout >= 0)
        H5Pclose(layout);
    if (space >= 0)
        H5Sclose(space);
    return status == CAIRN_OK ? cairn_hdf5_text(out->dataset, "unit", def->unit, error) : status;
}

cairn_status cairn_hdf5_column_create(hid_t group, const cairn_hdf5_column_def *def,
                                      cairn_hdf5_column *out, cairn_error *error)
{
    *out = (cairn_hdf5_column){ .dataset = H5I_INVALID_HID,
                                .type = def->type,
                                .width = def->width,
                                .chunk = def->chunk,
                                .writer = def->writer,
                                .packed = def->packed };
    /* listed first, so that closing the column works also after a failure below */
    if (def->writer) {
        out->next = def->writer->columns;
        def->writer->columns = out;
    }
    TRY(H5Lexists(group, def->name, H5P_DEFAULT) > 0 ? open_column(group, def, out, error)
                                                     : make_column(group, def, out, error));
    return keeps_sum(out)
               ? cairn_hdf5_sums_follow(out->writer->sums, out->dataset, &out->sum, error)
               : CAIRN_OK;
}

/* Remove a column from the list of its writer. */
static void leave_writer(cairn_hdf5_column *c)
{
    cairn_hdf5_column **link = c->writer ? &c->writer->columns : NULL;
    while (link && *link && *link != c)
        link = &(*link)->next;
    if (link && *link)
        *link = c->next;
}

void cairn_hdf5_column_close(cairn_hdf5_column *c)
{
    leave_writer(c);
    cairn_memory_free(c->tail);
    if (c->dataset > 0)
        H5Dclose(c->dataset);
    c->dataset = 0;
    c->tail = NULL;
    c->writer = NULL;
    c->next = NULL;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* The sum is computed from the file before it is cut, while all rows can still be read. */
cairn_status cairn_hdf5_column_cut(cairn_hdf5_column *column, int64_t rows, cairn_error *error)
{
    if (rows < 0 || (hsize_t)rows > column->rows)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "a dataset has %lld rows, expected %lld at least",
                          (long long)column->rows, (long long)rows);
    hsize_t extent[2] = { (hsize_t)rows, (hsize_t)column->width };
    if (keeps_sum(column) && (hsize_t)rows < column->rows)
        TRY(cairn_hdf5_sums_cut(column->writer->sums, column->sum, column->dataset, extent[0],
                                error));
    if (H5Dset_extent(column->dataset, extent) < 0)
        return cairn_hdf5_fail(error, "cannot cut a dataset");
    column->rows = (hsize_t)rows;
    return load_tail(column, error);
}

cairn_status cairn_hdf5_column_read(const cairn_hdf5_column *column, int64_t first, size_t rows,
                                    void *out, cairn_error *error)
{
    hsize_t at = (hsize_t)first;
    if (first < 0 || at > column->rows || rows > column->rows - at)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "a dataset has %lld rows, expected %lld",
                          (long long)column->rows, (long long)first + (long long)rows);
    return read_rows(column, cairn_hdf5_memory_type(column->type), at, rows, out, error);
}

cairn_status cairn_hdf5_column_at(const cairn_hdf5_column *column, int64_t row, int64_t *out,
                                  cairn_error *error)
{
    return cairn_hdf5_column_read(column, row, 1, out, error);
}

/* Write `rows` rows behind the present ones; the dataset is already long enough. */
static cairn_status write_rows(const cairn_hdf5_column *column, hsize_t rows, const void *data,
                               cairn_error *error)
{
    hsize_t first[2] = { column->rows, 0 };
    hsize_t extent[2] = { rows, (hsize_t)column->width };
    hid_t memory = H5Screate_simple(rank_of(column->width), extent, NULL);
    hid_t file = H5Dget_space(column->dataset);
    herr_t result = H5Sselect_hyperslab(file, H5S_SELECT_SET, first, NULL, extent, NULL);
    if (result >= 0)
        result = H5Dwrite(column->dataset, cairn_hdf5_memory_type(column->type), memory, file,
                          H5P_DEFAULT, data);
    /* closing clears the error stack, so the message is taken before */
    cairn_status status = result < 0 ? cairn_hdf5_fail(error, "cannot write") : CAIRN_OK;
    H5Sclose(file);
    H5Sclose(memory);
    return status;
}

/* Convert numbers in place to the type of the file. */
static cairn_status convert(const cairn_hdf5_column *c, size_t rows, void *data, cairn_error *error)
{
    if (H5Tconvert(cairn_hdf5_memory_type(c->type), cairn_hdf5_disk_type(c->type),
                   rows * (size_t)c->width, data, NULL, H5P_DEFAULT) < 0)
        return cairn_hdf5_fail(error, "cannot write");
    return CAIRN_OK;
}

/* Update the checksum with rows that HDF5 will convert by itself; a copy is converted here, part
 * by part. */
static cairn_status add_to_sum(const cairn_hdf5_column *c, size_t rows, const void *data,
                               cairn_error *error)
{
    unsigned char some[8192];
    size_t size = row_bytes(c), most = sizeof some / size;
    if (most == 0)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "a row has %zu bytes", size);
    for (size_t done = 0, part; done < rows; done += part) {
        part = rows - done < most ? rows - done : most;
        memcpy(some, (const unsigned char *)data + done * size, part * size);
        TRY(convert(c, part, some, error));
        cairn_hdf5_sums_add(c->writer->sums, c->sum, some, part * size);
    }
    return CAIRN_OK;
}

/* The checksum first: it converts a copy, while HDF5 converts the data itself when it writes. */
static cairn_status append_short(cairn_hdf5_column *c, size_t rows, const void *data,
                                 cairn_error *error)
{
    if (keeps_sum(c))
        TRY(add_to_sum(c, rows, data, error));
    TRY(set_rows(c->dataset, c->width, c->rows + rows, error));
    TRY(write_rows(c, rows, data, error));
    c->rows += rows;
    return CAIRN_OK;
}

/* Fill the tail; whenever it is full it goes to the packer. */
static cairn_status append_long(cairn_hdf5_column *c, size_t rows, const unsigned char *data,
                                cairn_error *error)
{
    size_t size = row_bytes(c), chunk = (size_t)c->chunk;
    TRY(make_tail(c));
    while (rows > 0) {
        size_t at = (size_t)(c->rows % chunk), part = rows < chunk - at ? rows : chunk - at;
        unsigned char *place = c->tail + at * size;
        memcpy(place, data, part * size);
        TRY(convert(c, part, place, error));
        if (keeps_sum(c))
            cairn_hdf5_sums_add(c->writer->sums, c->sum, place, part * size);
        c->rows += part;
        c->changed = true;
        if (at + part == chunk)
            TRY(put_tail(c, error));
        data += part * size;
        rows -= part;
    }
    return CAIRN_OK;
}

cairn_status cairn_hdf5_column_append(cairn_hdf5_column *column, size_t rows, const void *data,
                                      cairn_error *error)
{
    if (rows == 0)
        return CAIRN_OK;
    return column->packed ? append_long(column, rows, data, error)
                          : append_short(column, rows, data, error);
}

cairn_status cairn_hdf5_column_gather(cairn_hdf5_column *column, size_t rows,
                                      cairn_hdf5_strided numbers, cairn_error *error)
{
    char packed[8192]; /* a number of rows, contiguous */
    size_t size = cairn_hdf5_size(column->type) * (size_t)column->width;
    size_t most = sizeof packed / size;
    for (size_t done = 0, some; done < rows; done += some) {
        some = rows - done < most ? rows - done : most;
        for (size_t i = 0; i < some; i++)
            memcpy(packed + i * size, (const char *)numbers.first + (done + i) * numbers.stride,
                   size);
        TRY(cairn_hdf5_column_append(column, some, packed, error));
    }
    return CAIRN_OK;
}

/* ---- packing ----------------------------------------------------------------------------- */

/* A ring of chunks with three counters, `taken` <= `begun` <= `put`, which only grow; modulo the
 * size of the ring they are places in it. The owner advances the first and the last; whoever
 * packs, thread or owner, advances the middle one. */

/* A chunk is shuffled from `data` to `other`, and deflated from there back to `data`. The
 * buffers stay with the slot and are reused. */
typedef struct slot {
    cairn_chunk chunk;
    unsigned char *data, *other;
    size_t room; /* bytes of each */
    bool done;
} slot;

struct cairn_packer {
    slot slots[CAIRN_PACKER_ROOM];
    uint64_t taken, begun, put;
    z_stream streams[2]; /* of the owner and of the thread, which may pack at the same time */
    int stream_count;
    pthread_mutex_t lock; /* protects `begun`, `put`, `done` and `over` */
    pthread_cond_t news;
    pthread_t thread;
    bool locks_made, started, over;
};

enum { OWNER, THREAD };

/* ---- packing -------------------------------------------------------------------------------- */

/* Put the first bytes of all numbers first, then the second bytes, and so on. Signs and
 * exponents of similar numbers are equal, so they compress well side by side. */
static void shuffle(const unsigned char *from, size_t bytes, size_t number_bytes, unsigned char *to)
{
    size_t count = bytes / number_bytes;
    for (size_t b = 0; b < number_bytes; b++)
        for (size_t i = 0; i < count; i++)
            to[b * count + i] = from[i * number_bytes + b];
}

/* Called without the lock. The room is compressBound, so one call of deflate is enough. */
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

/* Pack the next chunk that nobody has begun. The lock is held on entry and on return, but not
 * while packing. */
static void pack_next(cairn_packer *p, int who)
{
    slot *s = &p->slots[p->begun++ % CAIRN_PACKER_ROOM];
    pthread_mutex_unlock(&p->lock);
    pack(s, &p->streams[who]);
    pthread_mutex_lock(&p->lock);
    s->done = true;
    pthread_cond_broadcast(&p->news);
}

/* The thread: packs whatever waits, in order, and sleeps otherwise. */
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

/* zlib allocates through the memory functions of cairn, all of it in deflateInit. */
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

/* Start the thread with all signals blocked, so that handlers run in the program's own threads.
 * If no thread can be started, the owner packs when it waits. */
static void start(cairn_packer *p)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->started = pthread_create(&p->thread, NULL, work, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* stream_count and locks_made record how far this came, for cairn_packer_destroy after a
 * failure. */
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

/* `over` ends the thread after the chunk at hand; chunks that wait are discarded. */
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

/* Room for the chunk as it is, and for the packed one, which may be larger. */
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

/* The copy is made without the lock: the thread does not touch a slot before `put` includes it. */
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

/* `put` and `taken` are changed by this thread only, so they may be read without the lock. */
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
