/* memory.h - all heap memory of the library comes from here, through the allocator that the user
 * may replace (cairn_allocator_set). */
#ifndef CAIRN_BASE_MEMORY_H
#define CAIRN_BASE_MEMORY_H

#include "cairn/base.h"

/* A block of count * size bytes, all zero. NULL when there is no memory or the product overflows;
 * also NULL, without failure, when count is 0. */
void *cairn_memory_zeroed(size_t count, size_t size);

/* Resize a block (NULL: a new one) to count * size bytes. New bytes are not initialised. NULL on
 * failure or for 0 bytes; the block then stays. */
void *cairn_memory_resize(void *block, size_t count, size_t size);

/* Free a block; NULL is allowed. */
void cairn_memory_free(void *block);

/* A copy of a text; NULL on failure. */
char *cairn_memory_text(const char *text);

/* Replace the values of a list by a copy, which the caller owns from then on; an empty list owns
 * nothing. On failure the list stays as it was. */
cairn_status cairn_memory_own_list(cairn_list *list);

/* Make room for `needed` items of `size` bytes in *block, growing by half as much again.
 * *capacity counts items. New items are zero. On failure nothing changes. */
cairn_status cairn_memory_reserve(void **block, size_t *capacity, size_t needed, size_t size);
/* The same, but new items are not initialised: the system provides pages only when they are first
 * written, so that unused capacity costs no memory. */
cairn_status cairn_memory_extend(void **block, size_t *capacity, size_t needed, size_t size);

#endif
