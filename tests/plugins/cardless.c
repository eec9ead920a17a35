/* cardless.c - a back end that cannot run on any machine, and says why. */
#include "cairn/backend.h"

__attribute__((visibility("default"))) cairn_backend_table_function cairn_backend_table;

static const char *reason(void)
{
    return "there is no card";
}

const cairn_backend *cairn_backend_table(void)
{
    static const cairn_backend table = { .version = CAIRN_BACKEND_VERSION,
                                         .name = "cardless",
                                         .reason = reason };
    return &table;
}
