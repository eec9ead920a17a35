/* base64.h - bytes as letters, packed by gzip on the way. */
#ifndef CAIRN_VIEW_BASE64_H
#define CAIRN_VIEW_BASE64_H

#include <stdbool.h>
#include <stdio.h>
#include <zlib.h>

/* Bytes go in by cairn_base64_put, letters come out. */
typedef struct cairn_base64 {
    FILE *out;
    z_stream stream;
    unsigned char rest[3]; /* packed bytes that wait for a third one */
    int waiting;
} cairn_base64;

bool cairn_base64_begin(cairn_base64 *b, FILE *out);
bool cairn_base64_put(cairn_base64 *b, const void *data, size_t bytes);
/* The last of it; frees what the stream holds. */
bool cairn_base64_end(cairn_base64 *b);

#endif
