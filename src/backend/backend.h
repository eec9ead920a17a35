/* backend.h - finding back ends by name; cairn/backend.h defines the interface of a back end. */
#ifndef CAIRN_BACKEND_BACKEND_H
#define CAIRN_BACKEND_BACKEND_H

#include "cairn/backend.h"

extern const cairn_backend cairn_backend_host;   /* threads, SIMD: the default              */
extern const cairn_backend cairn_backend_scalar; /* plain C, in double: the reference       */

/* A back end in use: its table, and the shared object that contains the table. */
typedef struct cairn_backend_use {
    const cairn_backend *backend;
    void *object; /* from dlopen; NULL: the back end is built in, or none is in use */
} cairn_backend_use;

/* Find a back end by name (NULL: the default) and load its shared object if it has one. Fails like
 * cairn_backend_check; *out is then zero. The caller closes it. */
cairn_status cairn_backend_open(const char *name, cairn_backend_use *out, cairn_error *error);
/* Unload it. The table and everything that was created through it must no longer be used. A zero
 * struct is allowed. */
void cairn_backend_close(cairn_backend_use *use);

#endif
