/* memory.h - the only door to the heap. */
#ifndef CHECK_MEMORY_H
#define CHECK_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Make *block hold `count` items of `size` bytes, at least one; what was in it may be lost. The new
 * bytes are zero. false: no memory, and *block is as before. */
bool check_memory_take(void *block_address, size_t count, size_t size);

/* Free what check_memory_take gave; *block becomes NULL. */
void check_memory_free(void *block_address);

#endif
