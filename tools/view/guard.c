/* guard.c - see guard.h. */
#include "guard.h"

#include <stdio.h>
#include <string.h>

bool cairn_view_token_make(char *token)
{
    unsigned char bytes[(VIEW_TOKEN_BYTES - 1) / 2];
    FILE *source = fopen("/dev/urandom", "rb");
    bool good = source && fread(bytes, sizeof bytes, 1, source) == 1;
    if (source)
        fclose(source);
    for (size_t i = 0; good && i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return good;
}

/* Whether `text` is `before`, one of our names and the port. */
static bool names_us(const char *text, const char *before, unsigned port)
{
    static const char *const names[] = { "127.0.0.1", "localhost" };
    for (int i = 0; i < 2; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "%s%s:%u", before, names[i], port);
        if (strcmp(text, expected) == 0)
            return true;
    }
    return false;
}

bool cairn_view_host_is_ours(const char *host, unsigned port)
{
    return host && names_us(host, "", port);
}

bool cairn_view_origin_is_ours(const char *origin, unsigned port)
{
    return !origin || names_us(origin, "http://", port);
}

const char *cairn_view_path_after_token(const char *path, const char *token)
{
    const size_t length = VIEW_TOKEN_BYTES - 1;
    if (strlen(path) < length + 2 || path[0] != '/' || path[length + 1] != '/')
        return NULL;
    unsigned different = 0;
    for (size_t i = 0; i < length; i++)
        different |= (unsigned)(unsigned char)path[i + 1] ^ (unsigned)(unsigned char)token[i];
    return different == 0 ? path + length + 2 : NULL;
}
