/* status.h - propagating failures. */
#ifndef CAIRN_BASE_STATUS_H
#define CAIRN_BASE_STATUS_H

#include "cairn/base.h"

/* Return the status of `call` from the enclosing function if it is a failure. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        cairn_status try_status_ = (call);                                                         \
        if (try_status_ != CAIRN_OK)                                                               \
            return try_status_;                                                                    \
    } while (0)

/* Fill `error` (may be NULL) with a formatted message and a key (NULL: keep the present one), and
 * return `status`, so that a caller can write `return cairn_fail(...)`. */
cairn_status cairn_fail(cairn_error *error, cairn_status status, const char *key,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
