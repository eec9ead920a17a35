/* overlay.c - see overlay.h. The journal: "cairn journal\n\0\0", the number of pages and the size
 * of the file, then for each page its number and its bytes, then the check sum of all that. A
 * journal without a right sum was not complete, so the file was not touched yet. */
#include "io/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"

enum { PAGE = 4096, HEAD = 32 };

typedef struct cairn_page {
    uint64_t number;
    unsigned char bytes[PAGE];
} cairn_page;

static const char MAGIC[16] = "cairn journal\n";

/* ---- the file ------------------------------------------------------------------------------- */

/* What was never written reads as zeros. */
static int read_file(int descriptor, uint64_t at, size_t bytes, void *buffer)
{
    char *next = buffer;
    while (bytes > 0) {
        ssize_t got = pread(descriptor, next, bytes, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        next += got;
        at += (uint64_t)got;
        bytes -= (size_t)got;
    }
    memset(next, 0, bytes);
    return 0;
}

static int write_file(int descriptor, uint64_t at, size_t bytes, const void *buffer)
{
    const char *next = buffer;
    while (bytes > 0) {
        ssize_t put = pwrite(descriptor, next, bytes, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put == 0 ? ENOSPC : errno;
        next += put;
        at += (uint64_t)put;
        bytes -= (size_t)put;
    }
    return 0;
}

/* ---- pages ---------------------------------------------------------------------------------- */

static size_t slot_of(const cairn_overlay *o, uint64_t number)
{
    size_t slot = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (o->slot_count - 1);
    while (o->slots[slot] && o->pages[o->slots[slot] - 1].number != number)
        slot = (slot + 1) & (o->slot_count - 1);
    return slot;
}

static cairn_page *find_page(const cairn_overlay *o, uint64_t number)
{
    if (o->count == 0)
        return NULL;
    int32_t place = o->slots[slot_of(o, number)];
    return place ? &o->pages[place - 1] : NULL;
}

/* Twice as many slots as pages at least. */
static bool make_slots(cairn_overlay *o)
{
    if (o->slot_count > 2 * o->count + 2)
        return true;
    size_t wanted = o->slot_count ? 2 * o->slot_count : 64;
    int32_t *slots = cairn_memory_zeroed(wanted, sizeof *slots);
    if (!slots)
        return false;
    cairn_memory_free(o->slots);
    o->slots = slots;
    o->slot_count = wanted;
    for (size_t i = 0; i < o->count; i++)
        o->slots[slot_of(o, o->pages[i].number)] = (int32_t)i + 1;
    return true;
}

/* The waiting page of a number, made from the file when it does not wait yet. */
static int take_page(cairn_overlay *o, uint64_t number, cairn_page **out)
{
    void *block = o->pages;
    *out = find_page(o, number);
    if (*out)
        return 0;
    cairn_status status = cairn_memory_reserve(&block, &o->capacity, o->count + 1, sizeof **out);
    o->pages = block;
    if (status != CAIRN_OK || !make_slots(o))
        return ENOMEM;
    cairn_page *page = &o->pages[o->count];
    page->number = number;
    int reason = read_file(o->descriptor, number * PAGE, PAGE, page->bytes);
    if (reason)
        return reason;
    o->slots[slot_of(o, number)] = (int32_t)++o->count;
    *out = page;
    return 0;
}

static size_t least(size_t a, uint64_t b)
{
    return a < b ? a : (size_t)b;
}

int cairn_overlay_start(cairn_overlay *o, int descriptor, const char *path, uint64_t kept)
{
    *o = (cairn_overlay){ .descriptor = descriptor, .kept = kept };
    int length = snprintf(o->journal, sizeof o->journal, "%s.journal", path);
    return length > 0 && (size_t)length < sizeof o->journal ? 0 : ENAMETOOLONG;
}

int cairn_overlay_read(const cairn_overlay *o, uint64_t at, size_t bytes, void *buffer)
{
    int reason = read_file(o->descriptor, at, bytes, buffer);
    for (size_t done = 0; done < bytes && o->count > 0 && !reason;) {
        size_t inside = (size_t)((at + done) % PAGE), part = least(bytes - done, PAGE - inside);
        const cairn_page *page = find_page(o, (at + done) / PAGE);
        if (page)
            memcpy((char *)buffer + done, page->bytes + inside, part);
        done += part;
    }
    return reason;
}

int cairn_overlay_write(cairn_overlay *o, uint64_t at, size_t bytes, const void *buffer)
{
    const char *from = buffer;
    uint64_t kept_pages = (o->kept + PAGE - 1) / PAGE;
    while (bytes > 0 && at / PAGE < kept_pages) {
        size_t inside = (size_t)(at % PAGE), part = least(bytes, PAGE - inside);
        cairn_page *page;
        int reason = take_page(o, at / PAGE, &page);
        if (reason)
            return reason;
        memcpy(page->bytes + inside, from, part);
        from += part;
        at += part;
        bytes -= part;
    }
    return write_file(o->descriptor, at, bytes, from);
}

/* ---- commit --------------------------------------------------------------------------------- */

static int write_journal(const cairn_overlay *o, uint64_t size)
{
    cairn_writer w = { 0 };
    int reason = ENOMEM;
    cairn_write_raw(&w, MAGIC, sizeof MAGIC);
    cairn_write_whole(&w, (int64_t)o->count);
    cairn_write_whole(&w, (int64_t)size);
    for (size_t i = 0; i < o->count; i++) {
        cairn_write_whole(&w, (int64_t)o->pages[i].number);
        cairn_write_raw(&w, o->pages[i].bytes, PAGE);
    }
    cairn_write_whole(&w, w.failed ? 0 : (int64_t)cairn_bytes_check(w.data, w.size));
    int journal = w.failed ? -1 : open(o->journal, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (!w.failed && journal < 0)
        reason = errno;
    if (journal >= 0) {
        reason = write_file(journal, 0, w.size, w.data);
        if (!reason && fsync(journal) != 0)
            reason = errno;
        close(journal);
    }
    cairn_writer_destroy(&w);
    return reason;
}

static int write_pages(int descriptor, const cairn_page *pages, size_t count, uint64_t size)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t at = pages[i].number * PAGE;
        int reason =
            at < size ? write_file(descriptor, at, least(PAGE, size - at), pages[i].bytes) : 0;
        if (reason)
            return reason;
    }
    return ftruncate(descriptor, (off_t)size) != 0 || fsync(descriptor) != 0 ? errno : 0;
}

/* The new end is on the disk before anything points to it. */
int cairn_overlay_commit(cairn_overlay *o, uint64_t size)
{
    if (o->count > 0) {
        if (fsync(o->descriptor) != 0)
            return errno;
        int reason = write_journal(o, size);
        if (reason) {
            unlink(o->journal); /* incomplete: the file stays as it was */
            return reason;
        }
    }
    int reason = write_pages(o->descriptor, o->pages, o->count, size);
    if (reason)
        return reason; /* the journal stays: it knows what the file should be */
    if (o->count > 0)
        unlink(o->journal);
    o->kept = size;
    o->count = 0;
    if (o->slots)
        memset(o->slots, 0, o->slot_count * sizeof *o->slots);
    return 0;
}

void cairn_overlay_destroy(cairn_overlay *o)
{
    cairn_memory_free(o->pages);
    cairn_memory_free(o->slots);
    o->pages = NULL;
    o->slots = NULL;
    o->count = o->capacity = o->slot_count = 0;
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* A journal in memory; what comes out is 0 when it is complete and its pages were written. */
static int replay(const unsigned char *data, size_t bytes, int descriptor)
{
    cairn_reader r = { .data = data, .size = bytes };
    if (bytes < HEAD + 8 || memcmp(data, MAGIC, sizeof MAGIC) != 0)
        return 0;
    r.at = bytes - 8;
    if ((uint64_t)cairn_read_whole(&r) != cairn_bytes_check(data, bytes - 8))
        return 0;
    r.at = sizeof MAGIC;
    uint64_t count = (uint64_t)cairn_read_whole(&r), size = (uint64_t)cairn_read_whole(&r);
    for (uint64_t i = 0; i < count && r.at + 8 + PAGE <= bytes; i++) {
        uint64_t at = (uint64_t)cairn_read_whole(&r) * PAGE;
        int reason =
            at < size ? write_file(descriptor, at, least(PAGE, size - at), data + r.at) : 0;
        if (reason)
            return reason;
        r.at += PAGE;
    }
    return ftruncate(descriptor, (off_t)size) != 0 || fsync(descriptor) != 0 ? errno : 0;
}

static cairn_status recover(const char *path, const char *journal, cairn_error *error)
{
    void *data;
    size_t bytes;
    TRY(cairn_file_read(journal, &data, &bytes, error));
    int descriptor = open(path, O_RDWR | O_CLOEXEC), reason = descriptor < 0 ? errno : 0;
    /* while someone writes the file it is his business */
    bool busy = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0;
    if (!reason && !busy)
        reason = replay(data, bytes, descriptor);
    if (!reason && !busy && unlink(journal) != 0)
        reason = errno;
    if (descriptor >= 0)
        close(descriptor);
    cairn_memory_free(data);
    if (!reason)
        return CAIRN_OK;
    cairn_error_set_file(error, path);
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot be mended from its journal: %s",
                      strerror(reason));
}

cairn_status cairn_overlay_recover(const char *path, cairn_error *error)
{
    char journal[CAIRN_PATH_BYTES];
    int length = snprintf(journal, sizeof journal, "%s.journal", path);
    if (length < 0 || (size_t)length >= sizeof journal || access(journal, F_OK) != 0)
        return CAIRN_OK;
    return recover(path, journal, error);
}
