/* memory.c - heap memory of studies and tools: the only file that calls malloc and free. */
#include "studies/memory.h"

#include <stdlib.h>
#include <string.h>

void *cairn_block_take(size_t count, size_t size)
{
    return calloc(count > 0 ? count : 1, size);
}

cairn_status cairn_block_grow(void *block_address, int count, int *capacity, size_t size)
{
    void *block;
    if (count < *capacity)
        return CAIRN_OK;
    int more = *capacity > 0 ? 2 * *capacity : 16;
    memcpy(&block, block_address, sizeof block);
    block = realloc(block, (size_t)more * size);
    if (!block)
        return CAIRN_NO_MEMORY;
    memcpy(block_address, &block, sizeof block);
    *capacity = more;
    return CAIRN_OK;
}

void cairn_block_free(void *block)
{
    free(block);
}
