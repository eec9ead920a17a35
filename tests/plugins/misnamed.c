/* misnamed.c - a back end that calls itself otherwise than its file. */
#include "cairn/backend.h"

__attribute__((visibility("default"))) cairn_backend_table_function cairn_backend_table;

const cairn_backend *cairn_backend_table(void)
{
    static const cairn_backend table = { .version = CAIRN_BACKEND_VERSION, .name = "host" };
    return &table;
}
