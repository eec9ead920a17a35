/* server.c - see server.h. HTTP is libmicrohttpd's, with one thread of its own. It counts a
 * connection as alive as long as bytes come, however slowly; so the time until a request is
 * complete is watched here, and what takes too long is cut off. */
#include "server.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "answer.h"
#include "guard.h"
#include "page.h"
#include "reproduce/memory.h"

enum {
    MOST_CONNECTIONS = 12,      /* browsers open up to 6                         */
    REQUEST_SECONDS = 5,        /* to send a request, or to take some of an answer */
    CONNECTION_BYTES = 32 << 10 /* of addresses and headers                      */
};

/* A connection on which a request is awaited or being sent. */
typedef struct waiting {
    struct MHD_Connection *connection; /* NULL: free                           */
    int socket;
    time_t since; /* s; 0: a request is being answered                          */
} waiting;

struct cairn_view_server {
    struct MHD_Daemon *daemon;
    cairn_view_runs runs;
    cairn_view_desk desk;
    char token[VIEW_TOKEN_BYTES];
    unsigned port;
    char address[128];
    pthread_mutex_t lock; /* of `waiting` */
    waiting waiting[MOST_CONNECTIONS];
};

bool cairn_view_is_built(const char **reason)
{
    *reason = "this cairn was built without the page of the viewer; run 'make viewer' (it needs "
              "node and npm) and build again";
    return cairn_view_page_bytes > 0;
}

/* ---- connections ---------------------------------------------------------------------------- */

static time_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1;
}

static waiting *find_waiting(cairn_view_server *s, struct MHD_Connection *connection)
{
    for (size_t i = 0; i < sizeof s->waiting / sizeof s->waiting[0]; i++)
        if (s->waiting[i].connection == connection)
            return &s->waiting[i];
    return NULL;
}

/* A libmicrohttpd policy: whether one more may come. By itself it would let others wait. */
static enum MHD_Result let_in(void *context, const struct sockaddr *from, socklen_t bytes)
{
    cairn_view_server *s = context;
    (void)from, (void)bytes;
    pthread_mutex_lock(&s->lock);
    bool room = find_waiting(s, NULL) != NULL;
    pthread_mutex_unlock(&s->lock);
    return room ? MHD_YES : MHD_NO;
}

static void note_connection(void *context, struct MHD_Connection *connection, void **own,
                            enum MHD_ConnectionNotificationCode code)
{
    cairn_view_server *s = context;
    (void)own;
    pthread_mutex_lock(&s->lock);
    bool begins = code == MHD_CONNECTION_NOTIFY_STARTED;
    waiting *w = find_waiting(s, begins ? NULL : connection);
    const union MHD_ConnectionInfo *info =
        begins ? MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD) : NULL;
    if (w)
        *w = begins && info ? (waiting){ connection, info->connect_fd, now() } : (waiting){ 0 };
    pthread_mutex_unlock(&s->lock);
}

/* From `since` on the next request is awaited; 0: one is being answered. */
static void set_since(cairn_view_server *s, struct MHD_Connection *connection, time_t since)
{
    pthread_mutex_lock(&s->lock);
    waiting *w = find_waiting(s, connection);
    if (w)
        w->since = since;
    pthread_mutex_unlock(&s->lock);
}

static void note_completed(void *context, struct MHD_Connection *connection, void **own,
                           enum MHD_RequestTerminationCode code)
{
    (void)own, (void)code;
    set_since(context, connection, now());
}

bool cairn_view_server_tend(cairn_view_server *s)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < sizeof s->waiting / sizeof s->waiting[0]; i++) {
        const waiting *w = &s->waiting[i];
        if (w->connection && w->since > 0 && now() - w->since > REQUEST_SECONDS)
            shutdown(w->socket, SHUT_RDWR);
    }
    pthread_mutex_unlock(&s->lock);
    return atomic_load(&s->desk.ended);
}

/* ---- requests ------------------------------------------------------------------------------- */

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool has_body(struct MHD_Connection *connection)
{
    const char *length = header(connection, "Content-Length");
    return header(connection, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

/* A libmicrohttpd handler; called twice for each request, the second time to answer. */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *body,
                              size_t *body_bytes, void **own)
{
    static char seen;
    cairn_view_server *s = context;
    (void)version;
    set_since(s, connection, 0);
    if (!cairn_view_host_is_ours(header(connection, "Host"), s->port))
        return cairn_view_refuse(connection, MHD_HTTP_FORBIDDEN, "another host was asked for");
    if (!cairn_view_origin_is_ours(header(connection, "Origin"), s->port))
        return cairn_view_refuse(connection, MHD_HTTP_FORBIDDEN, "another page is asking");
    const char *what = cairn_view_path_after_token(path, s->token);
    if (!what)
        return cairn_view_refuse(connection, MHD_HTTP_FORBIDDEN, "the token is not right");
    bool picture = s->desk.pictures && strcmp(what, "picture") == 0;
    if (!picture && (has_body(connection) || *body_bytes > 0))
        return cairn_view_refuse(connection, VIEW_TOO_LARGE, "expected no body");
    if (!*own) {
        *own = &seen;
        return MHD_YES;
    }
    if (picture && *body_bytes > 0) { /* pictures come one by one, each in pieces */
        fwrite(body, 1, *body_bytes, s->desk.pictures);
        *body_bytes = 0;
        return MHD_YES;
    }
    return cairn_view_answer(&s->desk, connection, method, what);
}

/* ---- start and stop ------------------------------------------------------------------------- */

static struct MHD_Daemon *start_daemon(cairn_view_server *s)
{
    struct sockaddr_in here = { .sin_family = AF_INET };
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, let_in, s, handle, s,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&here, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)MOST_CONNECTIONS + 4, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)REQUEST_SECONDS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
        note_connection, s, MHD_OPTION_NOTIFY_COMPLETED, note_completed, s, MHD_OPTION_END);
}

static bool start(cairn_view_server *s, const char **reason)
{
    *reason = "the system gives no random numbers";
    if (!cairn_view_token_make(s->token))
        return false;
    *reason = "cannot listen on 127.0.0.1";
    s->daemon = start_daemon(s);
    const union MHD_DaemonInfo *info =
        s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return false;
    s->port = info->port;
    snprintf(s->address, sizeof s->address, "http://127.0.0.1:%u/%s/", s->port, s->token);
    return true;
}

bool cairn_view_server_start(const cairn_view_runs *runs, cairn_view_server **out,
                             const char **reason)
{
    *out = NULL;
    if (!cairn_view_is_built(reason))
        return false;
    cairn_view_server *s = cairn_block_take(1, sizeof *s);
    *reason = "there is no memory";
    if (!s)
        return false;
    s->runs = *runs;
    s->desk.runs = &s->runs;
    s->desk.pictures = runs->pictures;
    pthread_mutex_init(&s->lock, NULL);
    if (!start(s, reason)) {
        cairn_view_server_stop(s);
        return false;
    }
    *out = s;
    return true;
}

const char *cairn_view_server_address(const cairn_view_server *s)
{
    return s->address;
}

void cairn_view_server_stop(cairn_view_server *s)
{
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    pthread_mutex_destroy(&s->lock);
    cairn_block_free(s);
}
