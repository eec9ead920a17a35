/* status.c - texts of status codes, and filling errors. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *cairn_status_text(cairn_status status)
{
    static const char *const texts[] = {
        [CAIRN_OK] = "ok",
        [CAIRN_NO_MEMORY] = "out of memory",
        [CAIRN_BAD_INPUT] = "bad input",
        [CAIRN_NOT_FINITE] = "a number is not finite",
        [CAIRN_NOT_FOUND] = "not found",
        [CAIRN_IO_FAILED] = "reading or writing failed",
        [CAIRN_UNSUPPORTED] = "not supported",
        [CAIRN_STOPPED] = "stopped",
    };
    size_t count = sizeof texts / sizeof texts[0];
    return (size_t)status < count ? texts[status] : "unknown status";
}

const char *cairn_version(void)
{
    return CAIRN_VERSION;
}

cairn_status cairn_fail(cairn_error *error, cairn_status status, const char *key,
                        const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    if (key)
        snprintf(error->key, sizeof error->key, "%s", key);
    return status;
}
