/* server.h - the page of the viewer, and the server that serves it with the runs it shows. */
#ifndef CAIRN_VIEW_SERVER_H
#define CAIRN_VIEW_SERVER_H

#include <stddef.h>

#include "cairn/cairn.h"

/* ---- the page, as `make viewer` built it; embed.cmake writes it into the program ------------- */

/* HTML, packed by gzip. */
extern const unsigned char cairn_view_page[];
/* 0: the program was built without it. */
extern const size_t cairn_view_page_bytes;

/* ---- the server, on 127.0.0.1 ---------------------------------------------------------------- */

/* GET  /TOKEN/            the page
 * GET  /TOKEN/runs        names of the runs, as JSON
 * GET  /TOKEN/run/K       what run K holds (cairn_recording_describe)
 * GET  /TOKEN/rows/K?c=COLUMN,TYPE,FIRST,COUNT&c=...
 *                         numbers, lowest byte first; TYPE is f4, f8 or i4; each range starts at a
 *                         multiple of 8 bytes
 * POST /TOKEN/end         ends the server
 * POST /TOKEN/picture     a picture that the page has drawn; for `cairn export` only
 *
 * Everything else is refused. One thread answers, one request at a time; a page that needs much
 * data sends many requests, so that a slow reader delays only itself. */

enum { VIEW_MOST_RUNS = 2 };

/* The runs to show, lent until the server is stopped. */
typedef struct cairn_view_runs {
    cairn_recording *items[VIEW_MOST_RUNS];
    const char *names[VIEW_MOST_RUNS];
    int count;
    FILE *pictures; /* where pictures that the page sends are written; NULL: they are refused */
} cairn_view_runs;

typedef struct cairn_view_server cairn_view_server;

/* Whether this program can serve at all; if not, `reason` says why, in one line. */
bool cairn_view_is_built(const char **reason);

/* Start on a free port. False: `reason` says why not. */
bool cairn_view_server_start(const cairn_view_runs *runs, cairn_view_server **out,
                             const char **reason);
/* Where the page is: "http://127.0.0.1:PORT/TOKEN/". */
const char *cairn_view_server_address(const cairn_view_server *server);
/* Call regularly: closes connections that take too long. True: the page has requested the end. */
bool cairn_view_server_tend(cairn_view_server *server);
void cairn_view_server_stop(cairn_view_server *server);

#endif
