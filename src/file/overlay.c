/* overlay.c - a file whose committed part changes atomically, see file.h.
 *
 * The journal: "cairn journal 2\n", the id of its writer, the committed size of the file before
 * and after, the number of pages, then for each page its number and its bytes, then the checksum
 * of all that. A journal without a correct checksum is incomplete, so the file was not touched
 * yet. The id is a random number. It is also stored as text in the file `path`.writer, from
 * before the first journal until the file is closed. A journal that another writer left is
 * therefore recognised, even after all files were copied to another place. */
#include "file/file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/common.h"
#include "base/memory.h"

/* HEAD: magic, id, two sizes and the count, 16 + 4 * 8 bytes. */
enum { PAGE = 4096, HEAD = 48, ID_DIGITS = 16 };

typedef struct cairn_page {
    uint64_t number;
    unsigned char bytes[PAGE];
} cairn_page;

static const char MAGIC[17] = "cairn journal 2\n";
enum { MAGIC_BYTES = sizeof MAGIC - 1 };

/* ---- the file ------------------------------------------------------------------------------- */

/* Read bytes at an offset; what lies behind the end of the file reads as zeros. */
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

/* pwrite may write less than requested, or be interrupted by a signal, so it is repeated. */
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

/* The slot of a page number: its own, or the free one where it belongs. Multiplicative hashing
 * by 2^64 over the golden ratio, then linear probing; the number of slots is a power of 2. */
static size_t slot_of(const cairn_overlay *o, uint64_t number)
{
    size_t slot = (size_t)(number * 0x9e3779b97f4a7c15u >> 20) & (o->slot_count - 1);
    while (o->slots[slot] && o->pages[o->slots[slot] - 1].number != number)
        slot = (slot + 1) & (o->slot_count - 1);
    return slot;
}

/* NULL if the page does not wait; without pages the table may not exist yet. */
static cairn_page *find_page(const cairn_overlay *o, uint64_t number)
{
    if (o->count == 0)
        return NULL;
    int32_t place = o->slots[slot_of(o, number)];
    return place ? &o->pages[place - 1] : NULL;
}

/* Keep at least twice as many slots as pages, so that searches stay short. */
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

/* The waiting page of a number; created from the file if it does not wait yet. Pointers to pages
 * are valid until the next page is created. */
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

/* A size that fits into memory and a distance in the file, which may not. */
static size_t least(size_t a, uint64_t b)
{
    return a < b ? a : (size_t)b;
}

/* The names path.journal and path.writer; false if they are too long. */
static bool name_files(const char *path, char journal[CAIRN_PATH_BYTES],
                       char writer[CAIRN_PATH_BYTES])
{
    int length = snprintf(journal, CAIRN_PATH_BYTES, "%s.journal", path);
    int other = snprintf(writer, CAIRN_PATH_BYTES, "%s.writer", path);
    return length > 0 && length < CAIRN_PATH_BYTES && other > 0 && other < CAIRN_PATH_BYTES;
}

int cairn_overlay_clear(const char *path)
{
    char journal[CAIRN_PATH_BYTES], writer[CAIRN_PATH_BYTES];
    if (!name_files(path, journal, writer))
        return ENAMETOOLONG;
    bool there = unlink(journal) == 0;
    if (!there && errno != ENOENT)
        return errno;
    there |= unlink(writer) == 0;
    return there && !cairn_file_keep_entry(path) ? errno : 0;
}

int cairn_overlay_start(cairn_overlay *o, int descriptor, const char *path, uint64_t kept)
{
    *o = (cairn_overlay){ .descriptor = descriptor, .kept = kept };
    if (!name_files(path, o->journal, o->writer))
        return ENAMETOOLONG;
    return kept == 0 ? cairn_overlay_clear(path) : 0;
}

/* Read from the file, then put the waiting pages over it. */
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

/* Within the committed pages a write changes waiting pages only, behind them it goes to the
 * file. */
int cairn_overlay_write(cairn_overlay *o, uint64_t at, size_t bytes, const void *buffer)
{
    const char *from = buffer;
    /* the last committed page counts as a whole, also where the file ends within it */
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

/* Create a file with these bytes, which are on the disk when this returns. */
static int write_new(const char *path, const void *bytes, size_t count)
{
    if (unlink(path) != 0 && errno != ENOENT)
        return errno;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return errno;
    int reason = write_file(file, 0, count, bytes);
    if (!reason && fsync(file) != 0)
        reason = errno;
    close(file);
    return reason;
}

/* A number that no other writer has: random, mixed with clock and process in case there is no
 * source of random numbers. */
static uint64_t new_id(void)
{
    uint64_t id = 0;
    int source = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    if (source >= 0) {
        read_file(source, 0, sizeof id, &id);
        close(source);
    }
    uint64_t state = (uint64_t)getpid() << 32 ^ (uint64_t)(1e9 * cairn_clock_seconds());
    return id ^ cairn_random_next(&state);
}

/* Write the id to the .writer file, before the first journal refers to it. */
static int name_writer(cairn_overlay *o)
{
    char text[ID_DIGITS + 2];
    if (o->named)
        return 0;
    o->id = new_id();
    snprintf(text, sizeof text, "%016" PRIx64 "\n", o->id);
    int reason = write_new(o->writer, text, strlen(text));
    o->named = reason == 0 && cairn_file_keep_entry(o->writer);
    return reason ? reason : o->named ? 0 : errno;
}

/* The journal is built in memory and written at once; the checksum covers everything before it. */
static int write_journal(const cairn_overlay *o, uint64_t size)
{
    cairn_writer w = { 0 };
    cairn_write_raw(&w, MAGIC, MAGIC_BYTES);
    cairn_write_whole(&w, (int64_t)o->id);
    cairn_write_whole(&w, (int64_t)o->kept);
    cairn_write_whole(&w, (int64_t)size);
    cairn_write_whole(&w, (int64_t)o->count);
    for (size_t i = 0; i < o->count; i++) {
        cairn_write_whole(&w, (int64_t)o->pages[i].number);
        cairn_write_raw(&w, o->pages[i].bytes, PAGE);
    }
    cairn_write_whole(&w, w.failed ? 0 : (int64_t)cairn_bytes_check(w.data, w.size));
    int reason = w.failed ? ENOMEM : write_new(o->journal, w.data, w.size);
    cairn_writer_destroy(&w);
    return reason;
}

/* Pages beyond the new size are dropped, and the last one is cut. */
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

/* What the path leads to: somebody may have removed the file, or put another one there, which must
 * not get its journal. */
typedef enum place { FILE_IS_THERE, FILE_IS_GONE, FILE_IS_ANOTHER } place;

static place look_at_place(const cairn_overlay *o)
{
    char path[CAIRN_PATH_BYTES];
    struct stat named, own;
    size_t length = strlen(o->journal) - strlen(".journal");
    memcpy(path, o->journal, length);
    path[length] = '\0';
    if (stat(path, &named) != 0 || fstat(o->descriptor, &own) != 0)
        return FILE_IS_GONE;
    bool same = named.st_dev == own.st_dev && named.st_ino == own.st_ino;
    return same ? FILE_IS_THERE : FILE_IS_ANOTHER;
}

/* The order makes a crash harmless at every moment: first the bytes behind the committed part
 * are on the disk, since pages refer to them; then the journal; then the pages in the file; then
 * the journal goes. Without waiting pages nothing committed changes, and no journal is needed. */
int cairn_overlay_commit(cairn_overlay *o, uint64_t size)
{
    if (look_at_place(o) != FILE_IS_THERE)
        return ESTALE;
    if (o->count > 0) {
        if (fsync(o->descriptor) != 0)
            return errno;
        int reason = name_writer(o);
        if (!reason)
            reason = write_journal(o, size);
        if (reason) {
            unlink(o->journal); /* incomplete: the file stays as it was */
            return reason;
        }
    }
    int reason = write_pages(o->descriptor, o->pages, o->count, size);
    o->torn = reason != 0;
    if (reason)
        return reason; /* the journal stays, since it has the contents that the file should have */
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
    if (o->named && !o->torn && look_at_place(o) != FILE_IS_ANOTHER)
        unlink(o->writer);
    cairn_memory_free(o->pages);
    cairn_memory_free(o->slots);
    o->pages = NULL;
    o->slots = NULL;
    o->count = o->capacity = o->slot_count = 0;
}

/* ---- recovery ------------------------------------------------------------------------------- */

/* Whether a journal in memory is complete and undamaged. */
static bool is_complete(const unsigned char *data, size_t bytes)
{
    cairn_reader r = { .data = data, .size = bytes, .at = bytes - 8 };
    return bytes >= HEAD + 8 && memcmp(data, MAGIC, MAGIC_BYTES) == 0 &&
           (uint64_t)cairn_read_whole(&r) == cairn_bytes_check(data, bytes - 8);
}

/* Whether the last writer of the file has this id. */
static bool is_of_writer(const char *writer, uint64_t id)
{
    void *text;
    size_t bytes;
    if (cairn_file_read(writer, &text, &bytes, NULL) != CAIRN_OK)
        return false;
    char expected[ID_DIGITS + 2];
    snprintf(expected, sizeof expected, "%016" PRIx64 "\n", id);
    bool same = strcmp(text, expected) == 0;
    cairn_memory_free(text);
    return same;
}

/* Write the pages of a journal in memory into its file. A journal of another writer, or an
 * incomplete one, changes nothing. Replaying twice is harmless: the pages are absolute. */
static int replay(const unsigned char *data, size_t bytes, int descriptor, const char *writer)
{
    cairn_reader r = { .data = data, .size = bytes, .at = MAGIC_BYTES };
    struct stat about;
    if (!is_complete(data, bytes) || !is_of_writer(writer, (uint64_t)cairn_read_whole(&r)))
        return 0;
    uint64_t kept = (uint64_t)cairn_read_whole(&r), size = (uint64_t)cairn_read_whole(&r);
    uint64_t count = (uint64_t)cairn_read_whole(&r);
    if (fstat(descriptor, &about) != 0)
        return errno;
    if ((uint64_t)about.st_size < kept && (uint64_t)about.st_size < size)
        return 0; /* too short for either size: this is another file */
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

/* The lock protects against a writer that starts at the same moment. The journal is removed once
 * its pages are in the file, or once it is known not to belong to it. */
static cairn_status recover(const char *path, const char *journal, const char *writer,
                            cairn_error *error)
{
    void *data;
    size_t bytes;
    TRY(cairn_file_read(journal, &data, &bytes, error));
    int descriptor = open(path, O_RDWR | O_CLOEXEC), reason = descriptor < 0 ? errno : 0;
    /* a file that is being written belongs to its writer */
    bool busy = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) != 0;
    if (!reason && !busy)
        reason = replay(data, bytes, descriptor, writer);
    if (!reason && !busy)
        reason = cairn_overlay_clear(path);
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
    char journal[CAIRN_PATH_BYTES], writer[CAIRN_PATH_BYTES];
    if (!name_files(path, journal, writer) || access(journal, F_OK) != 0)
        return CAIRN_OK;
    return recover(path, journal, writer, error);
}
