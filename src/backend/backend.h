/* backend.h - the back ends, by name; cairn/backend.h says what one is. */
#ifndef CAIRN_BACKEND_BACKEND_H
#define CAIRN_BACKEND_BACKEND_H

#include "cairn/backend.h"

extern const cairn_backend cairn_backend_host;   /* threads, wide registers: the default    */
extern const cairn_backend cairn_backend_scalar; /* plain C, in double: the oracle          */

/* A back end while it is in use: its table, and the shared object that it is in. */
typedef struct cairn_backend_use {
    const cairn_backend *backend;
    void *object; /* NULL: it comes with the library, or none is in use */
} cairn_backend_use;

/* Find the back end of a name, NULL being the default, and load it where it is a shared object.
 * Fails as cairn_backend_check. */
cairn_status cairn_backend_open(const char *name, cairn_backend_use *out, cairn_error *error);
/* Let it go; nothing of its is used any more. Zero is allowed. */
void cairn_backend_close(cairn_backend_use *use);

#endif
