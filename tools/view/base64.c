/* base64.c - see base64.h. */
#include "base64.h"

#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Three bytes as four letters; with fewer bytes the last letters are '='. */
static void write_three(FILE *out, const unsigned char *b, int count)
{
    unsigned v = (unsigned)b[0] << 16 | (count > 1 ? (unsigned)b[1] << 8 : 0) |
                 (count > 2 ? (unsigned)b[2] : 0);
    char text[4] = { letters[v >> 18], letters[v >> 12 & 63], '=', '=' };
    if (count > 1)
        text[2] = letters[v >> 6 & 63];
    if (count > 2)
        text[3] = letters[v & 63];
    fwrite(text, 1, 4, out);
}

static void write_letters(cairn_base64 *b, const unsigned char *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        b->rest[b->waiting++] = data[i];
        if (b->waiting == 3) {
            write_three(b->out, b->rest, 3);
            b->waiting = 0;
        }
    }
}

bool cairn_base64_begin(cairn_base64 *b, FILE *out)
{
    enum { GZIP = 15 + 16 }; /* the largest window, and gzip's frame */
    *b = (cairn_base64){ .out = out };
    return deflateInit2(&b->stream, 9, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) == Z_OK;
}

/* Pack what is there, until nothing more comes out. */
static bool push(cairn_base64 *b, int flush)
{
    unsigned char packed[1 << 15];
    int result;
    do {
        b->stream.next_out = packed;
        b->stream.avail_out = sizeof packed;
        result = deflate(&b->stream, flush);
        write_letters(b, packed, sizeof packed - b->stream.avail_out);
    } while (b->stream.avail_out == 0 && result != Z_STREAM_ERROR);
    return result != Z_STREAM_ERROR;
}

bool cairn_base64_put(cairn_base64 *b, const void *data, size_t bytes)
{
    b->stream.next_in = (void *)data;
    b->stream.avail_in = (uInt)bytes;
    return push(b, Z_NO_FLUSH);
}

bool cairn_base64_end(cairn_base64 *b)
{
    b->stream.next_in = NULL;
    b->stream.avail_in = 0;
    bool good = push(b, Z_FINISH);
    deflateEnd(&b->stream);
    if (b->waiting > 0)
        write_three(b->out, b->rest, b->waiting);
    return good;
}
