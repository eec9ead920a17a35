/* status.h - passing failures on. */
#ifndef CAIRN_BASE_STATUS_H
#define CAIRN_BASE_STATUS_H

#include "cairn/base.h"

/* Return from the calling function when `call` fails. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        cairn_status try_status_ = (call);                                                         \
        if (try_status_ != CAIRN_OK)                                                               \
            return try_status_;                                                                    \
    } while (0)

/* Fill `error` (NULL: nothing happens) with a formatted message and a key (NULL: keep the one it
 * has), and return `status`, so that a caller can write `return cairn_fail(...)`. */
cairn_status cairn_fail(cairn_error *error, cairn_status status, const char *key,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
