/* old.c - a shared object of another version of the interface: it must be refused by name. */
#include "cairn/backend.h"

__attribute__((visibility("default"))) cairn_backend_table_function cairn_backend_table;

const cairn_backend *cairn_backend_table(void)
{
    static const cairn_backend table = { .version = CAIRN_BACKEND_VERSION + 1, .name = "old" };
    return &table;
}
