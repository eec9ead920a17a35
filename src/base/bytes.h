/* bytes.h - numbers and texts to and from a stream of bytes, the same on every machine: whole
 * numbers and reals take 8 bytes, lowest first; texts their length and their bytes. A reader
 * checks every size against what is left before it is used. */
#ifndef CAIRN_BASE_BYTES_H
#define CAIRN_BASE_BYTES_H

#include "base/arena.h"
#include "cairn/base.h"

/* A stream that grows. Zero is valid: empty. When memory runs out `failed` is set, and stays. */
typedef struct cairn_writer {
    unsigned char *data;
    size_t size, capacity;
    bool failed;
} cairn_writer;

void cairn_writer_destroy(cairn_writer *w);
void cairn_write_raw(cairn_writer *w, const void *data, size_t bytes);
void cairn_write_whole(cairn_writer *w, int64_t value);
/* A number that was written before, as byte `at` on, gets another value. */
void cairn_rewrite_whole(cairn_writer *w, size_t at, int64_t value);
void cairn_write_real(cairn_writer *w, double value);
void cairn_write_vector(cairn_writer *w, cairn_vec3 value);
void cairn_write_text(cairn_writer *w, const char *text); /* NULL is kept */
/* The options of a record, by its table. */
void cairn_write_record(cairn_writer *w, const cairn_record *record, const void *options);

/* A stream that is lent. Reading past its end, or what makes no sense, sets `failed`, and all that
 * comes then is 0. Texts and lists are put into the arena. */
typedef struct cairn_reader {
    const unsigned char *data;
    size_t size, at;
    bool failed;
    cairn_arena *arena;
} cairn_reader;

int64_t cairn_read_whole(cairn_reader *r);
/* A number in [low, high]. */
int64_t cairn_read_within(cairn_reader *r, int64_t low, int64_t high);
/* How many things of at least `bytes` bytes each follow: no more than there is room for. */
size_t cairn_read_count(cairn_reader *r, size_t bytes);
double cairn_read_real(cairn_reader *r);
cairn_vec3 cairn_read_vector(cairn_reader *r);
const char *cairn_read_text(cairn_reader *r);
/* Into a struct that has its defaults: names must be names of the table. */
void cairn_read_record(cairn_reader *r, const cairn_record *record, void *options);

/* CRC-64 (ECMA-182, as in XZ) of bytes. */
uint64_t cairn_bytes_check(const void *data, size_t bytes);

/* The same of bytes that come piece by piece. `of[k][b]` is what byte b does to the sum with k
 * bytes of 0 behind it. */
typedef struct cairn_check_table {
    uint64_t of[8][256];
} cairn_check_table;

void cairn_check_table_make(cairn_check_table *out);
/* The sum of bytes that have `sum` (at first 0), and of these behind them. */
uint64_t cairn_check_add(const cairn_check_table *table, uint64_t sum, const void *data,
                         size_t bytes);

#endif
