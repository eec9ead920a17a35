/* answer.c - see answer.h. */
#include "answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "page.h"

/* ---- responses ------------------------------------------------------------------------------ */

/* Nothing may be kept, framed, or taken for something else; the page itself says what it may load
 * (viewer/build.mjs). */
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

enum MHD_Result cairn_view_refuse(struct MHD_Connection *connection, unsigned code,
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
        return VIEW_TOO_LARGE;
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
    return cairn_view_refuse(connection, code_of(status), text);
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

static enum MHD_Result send_runs(const cairn_view_desk *desk, struct MHD_Connection *connection)
{
    char text[2048], name[256];
    int used = snprintf(text, sizeof text, "{\"version\": \"%s\", \"runs\": [", cairn_version());
    for (int i = 0; i < desk->runs->count; i++) {
        write_name(desk->runs->names[i], name, sizeof name);
        used += snprintf(text + used, sizeof text - (size_t)used, "%s{\"name\": \"%s\"}",
                         i ? ", " : "", name);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "]}\n");
    return send_response(connection, MHD_HTTP_OK, copy_of(text, (size_t)used), "application/json");
}

static enum MHD_Result send_description(cairn_recording *run, struct MHD_Connection *connection)
{
    cairn_error error = { 0 };
    FILE *file = tmpfile();
    if (!file)
        return cairn_view_refuse(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no temporary file");
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
        return cairn_view_refuse(connection, MHD_HTTP_BAD_REQUEST,
                                 "expected c=COLUMN,TYPE,FIRST,COUNT, at most 32 times");
    cairn_status status = cairn_recording_read(run, w.rows, w.parts, &data, &bytes, &error);
    if (status != CAIRN_OK)
        return refuse_error(connection, status, &error);
    return send_response(connection, MHD_HTTP_OK, copy_of(data, bytes), "application/octet-stream");
}

/* ---- choosing ------------------------------------------------------------------------------- */

/* The run that "run/K" or "rows/K" means; NULL: none. */
static cairn_recording *find_run(const cairn_view_desk *desk, const char *what, const char *before)
{
    size_t length = strlen(before);
    if (strncmp(what, before, length) != 0 || strlen(what) != length + 1)
        return NULL;
    int index = what[length] - '0';
    return index >= 0 && index < desk->runs->count ? desk->runs->items[index] : NULL;
}

static enum MHD_Result answer_get(cairn_view_desk *desk, struct MHD_Connection *connection,
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
    return cairn_view_refuse(connection, MHD_HTTP_NOT_FOUND, "there is nothing here");
}

enum MHD_Result cairn_view_answer(cairn_view_desk *desk, struct MHD_Connection *connection,
                                  const char *method, const char *what)
{
    if (strcmp(method, "GET") == 0)
        return answer_get(desk, connection, what);
    if (strcmp(method, "POST") == 0 && strcmp(what, "end") == 0) {
        atomic_store(&desk->ended, true);
        return cairn_view_refuse(connection, MHD_HTTP_OK, "the viewer ends");
    }
    if (strcmp(method, "POST") == 0 && desk->pictures && strcmp(what, "picture") == 0)
        return send_response(connection, MHD_HTTP_OK, copy_of("", 0), "text/plain");
    return cairn_view_refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "expected GET");
}
