/* guard.h - who may ask the server of the viewer, and for what.
 *
 * The server listens on 127.0.0.1 alone, but every page that a browser shows can send requests
 * there, and every user of the machine. So an address holds a random token; requests that name
 * another host (a name that was bent to 127.0.0.1) or come from another page are refused. */
#ifndef CAIRN_VIEW_GUARD_H
#define CAIRN_VIEW_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { VIEW_TOKEN_BYTES = 33 }; /* 128 bits in hexadecimal digits, and the end */

/* A new random token; false: the system has no random numbers. */
bool cairn_view_token_make(char *token);

/* Whether a Host header names this server; NULL: there is none. */
bool cairn_view_host_is_ours(const char *host, unsigned port);
/* Whether an Origin header is that of our own page; NULL: none was sent, which is fine. */
bool cairn_view_origin_is_ours(const char *origin, unsigned port);

/* What follows "/TOKEN/" in the path of a request; NULL: the token is another. Takes the same time
 * wherever tokens differ. */
const char *cairn_view_path_after_token(const char *path, const char *token);

#endif
