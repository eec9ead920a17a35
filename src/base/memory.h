/* memory.h - the only way to the heap. */
#ifndef CAIRN_BASE_MEMORY_H
#define CAIRN_BASE_MEMORY_H

#include "cairn/base.h"

/* A block of count * size bytes, all zero. NULL when there is no memory or the product overflows;
 * also NULL, without failure, when count is 0. */
void *cairn_memory_zeroed(size_t count, size_t size);

/* Resize a block (NULL: a new one) to count * size bytes; NULL on failure, the block then stays. */
void *cairn_memory_resize(void *block, size_t count, size_t size);

/* Give a block back; NULL is allowed. */
void cairn_memory_free(void *block);

/* A copy of a text; NULL on failure. */
char *cairn_memory_text(const char *text);

/* Let a list own a copy of its values; an empty one owns nothing. On failure it is as before. */
cairn_status cairn_memory_own_list(cairn_list *list);

/* Make room for `needed` items of `size` bytes in *block, growing by half as much again.
 * *capacity counts items. New items are zero. On failure nothing changes. */
cairn_status cairn_memory_reserve(void **block, size_t *capacity, size_t needed, size_t size);
/* The same, but new items hold anything: memory that nobody writes to is never really taken. */
cairn_status cairn_memory_extend(void **block, size_t *capacity, size_t needed, size_t size);

#endif
