/* memory.h - heap memory of studies and tools. */
#ifndef CAIRN_STUDIES_MEMORY_H
#define CAIRN_STUDIES_MEMORY_H

#include "cairn/base.h"

/* Return from the calling function when `call` fails. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        cairn_status try_status_ = (call);                                                         \
        if (try_status_ != CAIRN_OK)                                                               \
            return try_status_;                                                                    \
    } while (0)

/* A block of `count` items of `size` bytes, all zero; NULL: no memory. */
void *cairn_block_take(size_t count, size_t size);

/* Room for one more item in the block at `block_address`, which holds `count` of `capacity` items
 * of `size` bytes; the block may move. CAIRN_NO_MEMORY: nothing has changed. */
cairn_status cairn_block_grow(void *block_address, int count, int *capacity, size_t size);

/* Free a block of the functions above; NULL is allowed. */
void cairn_block_free(void *block);

#endif
