/* bytes.h - numbers and texts to and from a stream of bytes that is the same on every machine:
 * integers and reals take 8 bytes, lowest byte first; texts are stored as their length and their
 * bytes. A reader checks every size against the remaining bytes before using it. */
#ifndef CAIRN_BASE_BYTES_H
#define CAIRN_BASE_BYTES_H

#include "base/memory.h"
#include "cairn/base.h"

/* A stream that grows. Zero is a valid, empty stream. If memory runs out, `failed` is set and stays
 * set, and later writes do nothing: it is enough to check it once at the end. */
typedef struct cairn_writer {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} cairn_writer;

void cairn_writer_destroy(cairn_writer *w);
void cairn_write_raw(cairn_writer *w, const void *data, size_t bytes);
void cairn_write_whole(cairn_writer *w, int64_t value);
/* Replace the integer that was written at byte `at`, for example a size that was not yet known. */
void cairn_rewrite_whole(cairn_writer *w, size_t at, int64_t value);
void cairn_write_real(cairn_writer *w, double value);
void cairn_write_vector(cairn_writer *w, cairn_vec3 value);
void cairn_write_rotation(cairn_writer *w, cairn_quat value);
void cairn_write_text(cairn_writer *w, const char *text); /* NULL is read back as NULL */
/* Write all options of a record, in the order of its table. */
void cairn_write_record(cairn_writer *w, const cairn_record *record, const void *options);

/* Write a function of time. Fails for a callback. */
void cairn_write_function(cairn_writer *w, const cairn_function *function);

/* A stream in the caller's memory. Reading past its end or reading an invalid value sets `failed`;
 * after that, numbers are 0 (or `low`), texts NULL and lists empty. Texts and lists are allocated
 * from the arena. */
typedef struct cairn_reader {
    const unsigned char *data;
    size_t size, at;
    bool failed;
    cairn_arena *arena;
} cairn_reader;

int64_t cairn_read_whole(cairn_reader *r);
/* An integer, which must be in [low, high]. */
int64_t cairn_read_within(cairn_reader *r, int64_t low, int64_t high);
/* The number of items that follow, each of at least `bytes` bytes. A number for which the rest of
 * the stream is too short is an error, so that damaged files cannot cause huge allocations. */
size_t cairn_read_count(cairn_reader *r, size_t bytes);
double cairn_read_real(cairn_reader *r);
cairn_vec3 cairn_read_vector(cairn_reader *r);
cairn_quat cairn_read_rotation(cairn_reader *r);
const char *cairn_read_text(cairn_reader *r);
/* Read into a struct that holds its defaults. The names and order must be those of the table. */
void cairn_read_record(cairn_reader *r, const cairn_record *record, void *options);

/* Read a function of time; its lists and text are in the arena. It is not checked. */
cairn_function cairn_read_function(cairn_reader *r);

/* ---- sealed files --------------------------------------------------------------------------- */

/* A file with a head of 32 bytes (16 of magic, version, length of the body), a body, and a checksum
 * of everything before it. */
typedef struct cairn_seal {
    const char *magic; /* at most 16 letters                       */
    int version;       /* of the body's format; others are refused */
    const char *noun;  /* what the file is, for messages           */
} cairn_seal;

/* Write the head of a file whose body will have `length` bytes (file/file.h writes such files). */
void cairn_seal_head(cairn_writer *w, const cairn_seal *seal, int64_t length);
/* Check magic, version, length and checksum, and set `body`, whose arena is kept, to read the body.
 * CAIRN_BAD_INPUT: the file is damaged; CAIRN_UNSUPPORTED: it has another version. */
cairn_status cairn_seal_open(const void *data, size_t bytes, const cairn_seal *seal,
                             cairn_reader *body, cairn_error *error);

/* CRC-64 (ECMA-182, as in XZ) of bytes. */
uint64_t cairn_bytes_check(const void *data, size_t bytes);

/* The same for data that arrive in pieces. `of[k][b]` is the contribution of byte b to the sum if k
 * zero bytes follow it. */
typedef struct cairn_check_table {
    uint64_t of[8][256];
} cairn_check_table;

void cairn_check_table_make(cairn_check_table *out);
/* Given the sum of the bytes so far (0 at first), the sum including the next bytes. */
uint64_t cairn_check_add(const cairn_check_table *table, uint64_t sum, const void *data,
                         size_t bytes);

#endif
