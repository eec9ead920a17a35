/* memory.c - see memory.h. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>

bool check_memory_take(void *block_address, size_t count, size_t size)
{
    void *old, *block = calloc(count > 0 ? count : 1, size);
    if (!block)
        return false;
    memcpy(&old, block_address, sizeof old);
    free(old);
    memcpy(block_address, &block, sizeof block);
    return true;
}

void check_memory_free(void *block_address)
{
    void *block, *none = NULL;
    memcpy(&block, block_address, sizeof block);
    free(block);
    memcpy(block_address, &none, sizeof none);
}
