/* server_absent.c - replaces server.c where libmicrohttpd was not found at build time. */
#include "view.h"

static const char *const why =
    "this cairn was built without libmicrohttpd; install it (Debian: libmicrohttpd-dev) and build "
    "again";

bool cairn_view_is_built(const char **reason)
{
    *reason = why;
    return false;
}

bool cairn_view_server_start(const cairn_view_runs *runs, cairn_view_server **out,
                             const char **reason)
{
    (void)runs;
    *out = NULL;
    *reason = why;
    return false;
}

const char *cairn_view_server_address(const cairn_view_server *server)
{
    (void)server;
    return "";
}

bool cairn_view_server_tend(cairn_view_server *server)
{
    (void)server;
    return true;
}

const char *cairn_view_server_refusal(const cairn_view_server *server)
{
    (void)server;
    return NULL;
}

void cairn_view_server_stop(cairn_view_server *server)
{
    (void)server;
}
