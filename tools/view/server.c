/* server.c - serves the page of the viewer and its runs on 127.0.0.1; see view.h. */
#include <arpa/inet.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "studies/study.h"
#include "view.h"

/* ---- who may ask the server, and for what ---------------------------------------------------- */

/* The server listens on 127.0.0.1 alone, but every page that a browser shows can send requests
 * there, and every user of the machine. So an address holds a random token; requests that name
 * another host (a name that resolves to 127.0.0.1) or come from another page are refused. */

enum { TOKEN_BYTES = 33 }; /* 128 bits in hexadecimal digits, and the end */

/* A new random token; false: the system provides no random numbers. */
static bool make_token(char *token)
{
    unsigned char bytes[(TOKEN_BYTES - 1) / 2];
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

/* Whether a Host header names this server; NULL: there is none. */
static bool is_our_host(const char *host, unsigned port)
{
    return host && names_us(host, "", port);
}

/* Whether an Origin header is that of our own page; NULL: none was sent, which is fine. */
static bool is_our_origin(const char *origin, unsigned port)
{
    return !origin || names_us(origin, "http://", port);
}

/* The part after "/TOKEN/" of the path of a request; NULL: the token is wrong. Takes the same time
 * wherever tokens differ. */
static const char *path_after_token(const char *path, const char *token)
{
    const size_t length = TOKEN_BYTES - 1;
    if (strlen(path) < length + 2 || path[0] != '/' || path[length + 1] != '/')
        return NULL;
    unsigned different = 0;
    for (size_t i = 0; i < length; i++)
        different |= (unsigned)(unsigned char)path[i + 1] ^ (unsigned)(unsigned char)token[i];
    return different == 0 ? path + length + 2 : NULL;
}

/* ---- what requests are about ----------------------------------------------------------------- */

enum { TOO_LARGE = 413 }; /* its name in libmicrohttpd changed */

/* One for the server. */
typedef struct view_desk {
    const cairn_view_runs *runs;
    atomic_bool ended; /* the page has requested the end                              */
    FILE *pictures;    /* where pictures sent by the page go; NULL: they are refused   */
    char refusal[512]; /* why the page draws no pictures; empty: it has not said so   */
} view_desk;

/* ---- responses ------------------------------------------------------------------------------ */

/* Nothing may be cached, framed, or interpreted as another type; the page itself says what it may
 * load (viewer/build.mjs). */
static void add_headers(struct MHD_Response *response, const char *type)
{
    static const char *const headers[][2] = {
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
    };
    MHD_add_response_header(response, "Content-Type", type);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned code,
                                     struct MHD_Response *response, const char *type)
{
    if (!response)
        return MHD_NO;
    add_headers(response, type);
    enum MHD_Result result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static struct MHD_Response *copy_of(const void *data, size_t bytes)
{
    return MHD_create_response_from_buffer(bytes, (void *)data, MHD_RESPMEM_MUST_COPY);
}

/* Refuse with a status and a sentence, and close the connection. */
static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned code,
                              const char *sentence)
{
    struct MHD_Response *response = copy_of(sentence, strlen(sentence));
    if (response)
        MHD_add_response_header(response, "Connection", "close");
    return send_response(connection, code, response, "text/plain; charset=utf-8");
}

static unsigned code_of(cairn_status status)
{
    switch (status) {
    case CAIRN_BAD_INPUT:
        return MHD_HTTP_NOT_FOUND;
    case CAIRN_UNSUPPORTED:
        return TOO_LARGE;
    case CAIRN_IO_FAILED:
        return MHD_HTTP_SERVICE_UNAVAILABLE;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

static enum MHD_Result refuse_error(struct MHD_Connection *connection, cairn_status status,
                                    const cairn_error *error)
{
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s", error->key, error->key[0] ? ": " : "",
             error->message[0] ? error->message : cairn_status_text(status));
    return refuse(connection, code_of(status), text);
}

/* ---- what can be asked for ------------------------------------------------------------------ */

static enum MHD_Result send_page(struct MHD_Connection *connection)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        cairn_view_page_bytes, (void *)cairn_view_page, MHD_RESPMEM_PERSISTENT);
    if (response)
        MHD_add_response_header(response, "Content-Encoding", "gzip");
    return send_response(connection, MHD_HTTP_OK, response, "text/html; charset=utf-8");
}

/* The names come from the command line: quotes and control characters become underscores. */
static void write_name(const char *name, char *out, size_t capacity)
{
    size_t i = 0;
    for (; name[i] && i + 1 < capacity; i++) {
        bool plain = (unsigned char)name[i] >= 0x20 && name[i] != '"' && name[i] != '\\';
        out[i] = plain ? name[i] : '_';
    }
    out[i] = '\0';
}

static enum MHD_Result send_runs(const view_desk *desk, struct MHD_Connection *connection)
{
    char text[2048], name[256];
    int used = snprintf(text, sizeof text, "{\"version\": \"%s\", \"runs\": [", cairn_version());
    for (int i = 0; i < desk->runs->count; i++) {
        write_name(desk->runs->names[i], name, sizeof name);
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"name\": \"%s\"}",
                         i ? ", " : "", name);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "], \"pictures\": %s}\n",
                     desk->pictures ? "true" : "false");
    return send_response(connection, MHD_HTTP_OK, copy_of(text, (size_t)used), "application/json");
}

static enum MHD_Result send_description(cairn_recording *run, struct MHD_Connection *connection)
{
    cairn_error error = { 0 };
    FILE *file = tmpfile();
    if (!file)
        return refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no temporary file");
    cairn_status status = cairn_recording_describe(run, file, &error);
    long bytes = ftell(file);
    int copy = status == CAIRN_OK && bytes >= 0 ? dup(fileno(file)) : -1;
    fclose(file);
    if (copy < 0)
        return refuse_error(connection, status, &error);
    return send_response(connection, MHD_HTTP_OK, MHD_create_response_from_fd((size_t)bytes, copy),
                         "application/json");
}

/* ---- rows ----------------------------------------------------------------------------------- */

enum { MOST_PARTS = 32, LONGEST_COLUMN = 128 };

typedef struct wish {
    cairn_recording_rows rows[MOST_PARTS];
    char columns[MOST_PARTS][LONGEST_COLUMN];
    int parts;
    bool good;
} wish;

/* Paths of columns have small letters, digits and underscores between slashes. */
static bool is_column(const char *text)
{
    size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_/");
    return plain == strlen(text) && text[0] != '/' && !strstr(text, "//");
}

static bool read_type(const char *text, cairn_number_type *out)
{
    static const struct {
        const char *name;
        cairn_number_type type;
    } types[] = {
        { "f4", CAIRN_NUMBER_FLOAT },
        { "f8", CAIRN_NUMBER_DOUBLE },
        { "i4", CAIRN_NUMBER_INT },
    };
    for (int i = 0; i < 3; i++)
        if (strcmp(text, types[i].name) == 0) {
            *out = types[i].type;
            return true;
        }
    return false;
}

/* "COLUMN,TYPE,FIRST,COUNT" */
static bool read_rows(const char *text, char *column, cairn_recording_rows *out)
{
    char type[3];
    long long first, count;
    int end = 0;
    if (sscanf(text, "%127[^,],%2[a-z0-9],%15lld,%15lld%n", column, type, &first, &count, &end) !=
            4 ||
        text[end] != '\0' || first < 0 || count < 0 || !is_column(column))
        return false;
    *out = (cairn_recording_rows){ column, CAIRN_NUMBER_FLOAT, first, count };
    return read_type(type, &out->type);
}

static enum MHD_Result add_part(void *context, enum MHD_ValueKind kind, const char *key,
                                const char *value)
{
    wish *w = context;
    (void)kind;
    if (w->parts == MOST_PARTS || strcmp(key, "c") != 0 || !value ||
        !read_rows(value, w->columns[w->parts], &w->rows[w->parts])) {
        w->good = false;
        return MHD_NO;
    }
    w->parts++;
    return MHD_YES;
}

static enum MHD_Result send_rows(cairn_recording *run, struct MHD_Connection *connection)
{
    wish w = { .good = true };
    cairn_error error = { 0 };
    const void *data;
    size_t bytes;
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, add_part, &w);
    if (!w.good)
        return refuse(connection, MHD_HTTP_BAD_REQUEST,
                      "expected c=COLUMN,TYPE,FIRST,COUNT, at most 32 times");
    cairn_status status = cairn_recording_read(run, w.rows, w.parts, &data, &bytes, &error);
    if (status != CAIRN_OK)
        return refuse_error(connection, status, &error);
    return send_response(connection, MHD_HTTP_OK, copy_of(data, bytes), "application/octet-stream");
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* The run that "run/K" or "rows/K" means; NULL: none. */
static cairn_recording *find_run(const view_desk *desk, const char *what, const char *before)
{
    size_t length = strlen(before);
    if (strncmp(what, before, length) != 0 || strlen(what) != length + 1)
        return NULL;
    int index = what[length] - '0';
    return index >= 0 && index < desk->runs->count ? desk->runs->items[index] : NULL;
}

static enum MHD_Result answer_get(view_desk *desk, struct MHD_Connection *connection,
                                  const char *what)
{
    cairn_recording *run;
    if (what[0] == '\0')
        return send_page(connection);
    if (strcmp(what, "runs") == 0)
        return send_runs(desk, connection);
    if ((run = find_run(desk, what, "run/")))
        return send_description(run, connection);
    if ((run = find_run(desk, what, "rows/")))
        return send_rows(run, connection);
    return refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
}

/* Answer a request with the right token; `what` is its path after the token. */
static enum MHD_Result answer(view_desk *desk, struct MHD_Connection *connection,
                              const char *method, const char *what)
{
    if (strcmp(method, "GET") == 0)
        return answer_get(desk, connection, what);
    if (strcmp(method, "POST") == 0 && strcmp(what, "end") == 0) {
        atomic_store(&desk->ended, true);
        return refuse(connection, MHD_HTTP_OK, "the viewer ends");
    }
    if (strcmp(method, "POST") == 0 && desk->pictures && strcmp(what, "refusal") == 0) {
        atomic_store(&desk->ended, true);
        return refuse(connection, MHD_HTTP_OK, "the export ends");
    }
    if (strcmp(method, "POST") == 0 && desk->pictures && strcmp(what, "picture") == 0)
        return send_response(connection, MHD_HTTP_OK, copy_of("", 0), "text/plain");
    return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "expected GET");
}

/* ---- the server ------------------------------------------------------------------------------ */

/* libmicrohttpd handles HTTP, with one thread of its own. It treats a connection as alive as long
 * as bytes arrive, however slowly; so the time until a request is complete is limited here. */

enum {
    MOST_CONNECTIONS = 12,      /* browsers open up to 6                         */
    REQUEST_SECONDS = 5,        /* to send a request, or to read part of an answer */
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
    view_desk desk;
    char token[TOKEN_BYTES];
    unsigned port;
    char address[128];
    pthread_mutex_t lock; /* of `waiting` */
    waiting waiting[MOST_CONNECTIONS];
};

bool cairn_view_is_built(const char **reason)
{
    *reason = cairn_view_no_page;
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

/* A libmicrohttpd policy: whether to accept another connection. Its own limit would let others
 * wait. */
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

/* Take a piece of a picture, or of a refusal. */
static void take(view_desk *desk, bool picture, const char *body, size_t bytes)
{
    size_t length = strlen(desk->refusal), room = sizeof desk->refusal - 1 - length;
    if (picture)
        fwrite(body, 1, bytes, desk->pictures);
    else
        memcpy(desk->refusal + length, body, bytes < room ? bytes : room);
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
    if (!is_our_host(header(connection, "Host"), s->port))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "the request names another host");
    if (!is_our_origin(header(connection, "Origin"), s->port))
        return refuse(connection, MHD_HTTP_FORBIDDEN, "the request comes from another page");
    const char *what = path_after_token(path, s->token);
    if (!what)
        return refuse(connection, MHD_HTTP_FORBIDDEN, "the token is wrong");
    bool picture = s->desk.pictures && strcmp(what, "picture") == 0;
    bool refusal = s->desk.pictures && strcmp(what, "refusal") == 0;
    if (!picture && !refusal && (has_body(connection) || *body_bytes > 0))
        return refuse(connection, TOO_LARGE, "expected no body");
    if (!*own) {
        *own = &seen;
        return MHD_YES;
    }
    if (*body_bytes > 0) { /* pictures come one by one, each in pieces */
        take(&s->desk, picture, body, *body_bytes);
        *body_bytes = 0;
        return MHD_YES;
    }
    return answer(&s->desk, connection, method, what);
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
    *reason = "the system provides no random numbers";
    if (!make_token(s->token))
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
    *reason = "out of memory";
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

const char *cairn_view_server_refusal(const cairn_view_server *s)
{
    return s->desk.refusal[0] ? s->desk.refusal : NULL;
}

void cairn_view_server_stop(cairn_view_server *s)
{
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    pthread_mutex_destroy(&s->lock);
    cairn_block_free(s);
}
