/* bytes.c - numbers and texts to and from a stream of bytes, and their check sums. */
#include "base/bytes.h"

#include <string.h>

#include "base/common.h"
#include "base/memory.h"

enum { NUMBER = 8 }; /* bytes */

/* ---- writing -------------------------------------------------------------------------------- */

void cairn_writer_destroy(cairn_writer *w)
{
    cairn_memory_free(w->data);
    *w = (cairn_writer){ 0 };
}

void cairn_write_raw(cairn_writer *w, const void *data, size_t bytes)
{
    void *block = w->data;
    if (bytes == 0 || w->failed)
        return;
    /* the bound keeps w->size + bytes from overflowing */
    w->failed = bytes > SIZE_MAX / 2 - w->size ||
                cairn_memory_reserve(&block, &w->capacity, w->size + bytes, 1) != CAIRN_OK;
    w->data = block;
    if (w->failed)
        return;
    memcpy(w->data + w->size, data, bytes);
    w->size += bytes;
}

/* Byte by byte, so that the order does not depend on the machine. */
static void write_bits(cairn_writer *w, uint64_t bits)
{
    unsigned char bytes[NUMBER];
    for (int i = 0; i < NUMBER; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i);
    cairn_write_raw(w, bytes, sizeof bytes);
}

void cairn_write_whole(cairn_writer *w, int64_t value)
{
    write_bits(w, (uint64_t)value);
}

void cairn_write_real(cairn_writer *w, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    write_bits(w, bits);
}

void cairn_rewrite_whole(cairn_writer *w, size_t at, int64_t value)
{
    cairn_writer there = { .data = w->data + at, .capacity = NUMBER };
    if (!w->failed && at + NUMBER <= w->size)
        cairn_write_whole(&there, value);
}

void cairn_write_vector(cairn_writer *w, cairn_vec3 value)
{
    cairn_write_real(w, value.x);
    cairn_write_real(w, value.y);
    cairn_write_real(w, value.z);
}

void cairn_write_rotation(cairn_writer *w, cairn_quat value)
{
    cairn_write_real(w, value.w);
    cairn_write_vector(w, (cairn_vec3){ value.x, value.y, value.z });
}

void cairn_write_text(cairn_writer *w, const char *text)
{
    cairn_write_whole(w, text ? (int64_t)strlen(text) : -1);
    if (text)
        cairn_write_raw(w, text, strlen(text));
}

static void write_list(cairn_writer *w, const cairn_list *list)
{
    cairn_write_whole(w, list->count);
    for (int i = 0; i < list->count; i++)
        cairn_write_real(w, list->values[i]);
}

static void write_names(cairn_writer *w, const cairn_names *names)
{
    cairn_write_whole(w, names->count);
    for (int i = 0; i < names->count; i++)
        cairn_write_text(w, names->items[i]);
}

/* The kind, then its text or its record. A callback belongs to the program and cannot be written:
 * the writer fails. */
void cairn_write_function(cairn_writer *w, const cairn_function *function)
{
    const cairn_record *record = cairn_function_record((int)function->kind);
    cairn_write_whole(w, (int64_t)function->kind);
    if (record)
        cairn_write_record(w, record, function);
    else
        cairn_write_text(w, function->text);
    w->failed = w->failed || function->kind == CAIRN_FUNCTION_CALL;
}

static void write_option(cairn_writer *w, const cairn_option *option, const void *field)
{
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        cairn_write_real(w, *(const double *)field);
        break;
    case CAIRN_OPTION_FUNCTION:
        cairn_write_function(w, field);
        break;
    case CAIRN_OPTION_INTEGER:
        cairn_write_whole(w, *(const int64_t *)field);
        break;
    case CAIRN_OPTION_FLAG:
        cairn_write_whole(w, *(const bool *)field);
        break;
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        cairn_write_vector(w, *(const cairn_vec3 *)field);
        break;
    case CAIRN_OPTION_LIST:
        write_list(w, field);
        break;
    case CAIRN_OPTION_NAMES:
        write_names(w, field);
        break;
    default:
        cairn_write_text(w, *(const char *const *)field);
    }
}

/* The number of options, then each with its name, so that a reader notices a changed table. */
void cairn_write_record(cairn_writer *w, const cairn_record *record, const void *options)
{
    cairn_write_whole(w, record->option_count);
    for (int i = 0; i < record->option_count; i++) {
        const cairn_option *option = &record->options[i];
        cairn_write_text(w, option->name);
        write_option(w, option, (const char *)options + option->offset);
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The next bytes, or NULL if there are not enough. r->at <= r->size always holds. */
static const unsigned char *take(cairn_reader *r, size_t bytes)
{
    r->failed = r->failed || bytes > r->size - r->at;
    if (r->failed)
        return NULL;
    r->at += bytes;
    return r->data + (r->at - bytes);
}

static uint64_t read_bits(cairn_reader *r)
{
    const unsigned char *bytes = take(r, NUMBER);
    uint64_t bits = 0;
    for (int i = 0; bytes && i < NUMBER; i++)
        bits |= (uint64_t)bytes[i] << 8 * i;
    return bits;
}

int64_t cairn_read_whole(cairn_reader *r)
{
    return (int64_t)read_bits(r);
}

int64_t cairn_read_within(cairn_reader *r, int64_t low, int64_t high)
{
    int64_t value = cairn_read_whole(r);
    r->failed = r->failed || value < low || value > high;
    return r->failed ? low : value;
}

size_t cairn_read_count(cairn_reader *r, size_t bytes)
{
    int64_t count = cairn_read_whole(r);
    r->failed = r->failed || count < 0 || (uint64_t)count > (r->size - r->at) / bytes;
    return r->failed ? 0 : (size_t)count;
}

double cairn_read_real(cairn_reader *r)
{
    uint64_t bits = read_bits(r);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

cairn_vec3 cairn_read_vector(cairn_reader *r)
{
    cairn_vec3 v;
    v.x = cairn_read_real(r);
    v.y = cairn_read_real(r);
    v.z = cairn_read_real(r);
    return v;
}

cairn_quat cairn_read_rotation(cairn_reader *r)
{
    double w = cairn_read_real(r);
    cairn_vec3 imaginary = cairn_read_vector(r);
    return (cairn_quat){ w, imaginary.x, imaginary.y, imaginary.z };
}

const char *cairn_read_text(cairn_reader *r)
{
    int64_t length = cairn_read_whole(r);
    if (r->failed || length == -1)
        return NULL;
    r->failed = length < 0 || (uint64_t)length > r->size - r->at;
    char *text = r->failed ? NULL : cairn_arena_take(r->arena, (size_t)length + 1, 1);
    r->failed = !text;
    if (!text)
        return NULL;
    memcpy(text, take(r, (size_t)length), (size_t)length);
    text[length] = '\0';
    return text;
}

static cairn_list read_list(cairn_reader *r)
{
    size_t count = cairn_read_count(r, NUMBER);
    double *values = cairn_arena_doubles(r->arena, count);
    r->failed = r->failed || !values || count > INT32_MAX;
    for (size_t i = 0; i < count && !r->failed; i++)
        values[i] = cairn_read_real(r);
    return (cairn_list){ values, r->failed ? 0 : (int)count };
}

/* Names of the table are returned as the table's own constants, so that they outlive the arena. */
static const char *read_name(cairn_reader *r, const cairn_option *option)
{
    const char *text = cairn_read_text(r);
    for (int i = 0; text && option->choice && option->choice(i); i++)
        if (strcmp(option->choice(i), text) == 0)
            return option->choice(i);
    if (text && option->type == CAIRN_OPTION_WORD && cairn_is_word(text))
        return text;
    r->failed = true;
    return NULL;
}

static cairn_names read_names(cairn_reader *r, const cairn_option *option)
{
    cairn_names names = { .count = 0 };
    int64_t count = cairn_read_within(r, 0, CAIRN_MOST_NAMES);
    while (names.count < count && !r->failed) {
        const char *name = read_name(r, option);
        names.items[names.count++] = name;
    }
    return r->failed ? (cairn_names){ .count = 0 } : names;
}

cairn_function cairn_read_function(cairn_reader *r)
{
    int kind = (int)cairn_read_within(r, 0, CAIRN_FUNCTION_EXPRESSION);
    const cairn_record *record = cairn_function_record(kind);
    cairn_function function = cairn_function_default((cairn_function_kind)kind);
    if (record)
        cairn_read_record(r, record, &function);
    else
        function.text = cairn_read_text(r);
    r->failed = r->failed || (!record && !function.text);
    return r->failed ? cairn_function_default(CAIRN_FUNCTION_CONSTANT) : function;
}

static void read_option(cairn_reader *r, const cairn_option *option, void *field)
{
    switch (option->type) {
    case CAIRN_OPTION_REAL:
    case CAIRN_OPTION_VARYING:
        *(double *)field = cairn_read_real(r);
        break;
    case CAIRN_OPTION_FUNCTION:
        *(cairn_function *)field = cairn_read_function(r);
        break;
    case CAIRN_OPTION_INTEGER:
        *(int64_t *)field = cairn_read_whole(r);
        break;
    case CAIRN_OPTION_FLAG:
        *(bool *)field = cairn_read_within(r, 0, 1) != 0;
        break;
    case CAIRN_OPTION_VECTOR:
    case CAIRN_OPTION_VARYING_VECTOR:
        *(cairn_vec3 *)field = cairn_read_vector(r);
        break;
    case CAIRN_OPTION_LIST:
        *(cairn_list *)field = read_list(r);
        break;
    case CAIRN_OPTION_NAMES:
        *(cairn_names *)field = read_names(r, option);
        break;
    default:
        *(const char **)field = read_name(r, option);
    }
}

void cairn_read_record(cairn_reader *r, const cairn_record *record, void *options)
{
    int64_t count = cairn_read_within(r, record->option_count, record->option_count);
    for (int64_t i = 0; i < count && !r->failed; i++) {
        const cairn_option *option = &record->options[i];
        const char *name = cairn_read_text(r);
        r->failed = r->failed || !name || strcmp(name, option->name) != 0;
        if (!r->failed)
            read_option(r, option, (char *)options + option->offset);
    }
}

/* ---- check ---------------------------------------------------------------------------------- */

/* The polynomial of ECMA-182, x^64 + x^62 + ..., with reversed bits. */
void cairn_check_table_make(cairn_check_table *out)
{
    static const uint64_t polynomial = 0xc96c5795d7870f42u;
    for (uint64_t b = 0; b < 256; b++) {
        uint64_t sum = b;
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? polynomial : 0);
        out->of[0][b] = sum;
    }
    for (int k = 1; k < 8; k++)
        for (int b = 0; b < 256; b++)
            out->of[k][b] = out->of[k - 1][b] >> 8 ^ out->of[0][out->of[k - 1][b] & 255];
}

/* Eight bytes as an integer, the first one lowest; compilers turn this into one load. */
static uint64_t eight(const unsigned char *b)
{
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

/* Eight bytes at a time (slicing by 8), then the rest one by one. The result is the complement of
 * the internal sum, which therefore starts with all bits set: otherwise leading zeros would not
 * count. */
uint64_t cairn_check_add(const cairn_check_table *table, uint64_t told, const void *data,
                         size_t bytes)
{
    uint64_t sum = ~told;
    const unsigned char *byte = data;
    for (; bytes >= 8; bytes -= 8, byte += 8) {
        uint64_t x = sum ^ eight(byte);
        sum = table->of[7][x & 255] ^ table->of[6][x >> 8 & 255] ^ table->of[5][x >> 16 & 255] ^
              table->of[4][x >> 24 & 255] ^ table->of[3][x >> 32 & 255] ^
              table->of[2][x >> 40 & 255] ^ table->of[1][x >> 48 & 255] ^ table->of[0][x >> 56];
    }
    for (; bytes > 0; bytes--, byte++)
        sum = sum >> 8 ^ table->of[0][*byte ^ (sum & 255)];
    return ~sum;
}

uint64_t cairn_bytes_check(const void *data, size_t bytes)
{
    cairn_check_table table;
    cairn_check_table_make(&table);
    return cairn_check_add(&table, 0, data, bytes);
}

/* ---- sealed files --------------------------------------------------------------------------- */

enum { MAGIC = 16, HEAD = 32, SUM = 8 }; /* bytes */

void cairn_seal_head(cairn_writer *w, const cairn_seal *seal, int64_t length)
{
    char magic[MAGIC] = { 0 };
    memcpy(magic, seal->magic, strnlen(seal->magic, MAGIC));
    cairn_write_raw(w, magic, MAGIC);
    cairn_write_whole(w, seal->version);
    cairn_write_whole(w, length);
}

/* The version comes before the length, so that a file of another version gets the message that
 * helps; the length comes before the checksum, so that a file that was cut short is reported as
 * such. */
cairn_status cairn_seal_open(const void *data, size_t bytes, const cairn_seal *seal,
                             cairn_reader *body, cairn_error *error)
{
    char magic[MAGIC] = { 0 };
    memcpy(magic, seal->magic, strnlen(seal->magic, MAGIC));
    cairn_reader head = { .data = data, .size = bytes, .at = MAGIC };
    if (bytes < HEAD + SUM || memcmp(data, magic, MAGIC) != 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "this is not a %s", seal->noun);
    int64_t version = cairn_read_whole(&head), length = cairn_read_whole(&head);
    if (version != seal->version)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "the %s has version %lld, expected %d: it was written by another "
                          "version of cairn",
                          seal->noun, (long long)version, seal->version);
    if (length < 0 || (uint64_t)length != bytes - HEAD - SUM)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the %s is damaged: found %zu bytes, expected %lld", seal->noun, bytes,
                          (long long)length + HEAD + SUM);
    head.at = bytes - SUM;
    uint64_t sum = (uint64_t)cairn_read_whole(&head), found = cairn_bytes_check(data, bytes - SUM);
    if (sum != found)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "the %s is damaged: its check sum is %016llx, expected %016llx",
                          seal->noun, (unsigned long long)found, (unsigned long long)sum);
    *body = (cairn_reader){ .data = (const unsigned char *)data + HEAD,
                            .size = bytes - HEAD - SUM,
                            .arena = body->arena };
    return CAIRN_OK;
}
