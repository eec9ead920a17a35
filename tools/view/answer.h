/* answer.h - what the server of the viewer answers; server.c tells the requests. */
#ifndef CAIRN_VIEW_ANSWER_H
#define CAIRN_VIEW_ANSWER_H

#include <microhttpd.h>
#include <stdatomic.h>

#include "server.h"

enum { VIEW_TOO_LARGE = 413 }; /* its name in libmicrohttpd changed */

/* What requests are about. */
typedef struct cairn_view_desk {
    const cairn_view_runs *runs;
    atomic_bool ended; /* the page has asked for it                                    */
    FILE *pictures;    /* where pictures that the page sends go; NULL: none are taken  */
} cairn_view_desk;

/* Answer a request whose token was right; `what` is its path behind that. */
enum MHD_Result cairn_view_answer(cairn_view_desk *desk, struct MHD_Connection *connection,
                                  const char *method, const char *what);

/* Refuse with a status and a sentence, and close the connection. */
enum MHD_Result cairn_view_refuse(struct MHD_Connection *connection, unsigned code,
                                  const char *sentence);

#endif
