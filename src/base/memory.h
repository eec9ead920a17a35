/* memory.h - all heap memory of the library comes from here, through the allocator that the user
 * may replace (cairn_allocator_set). */
#ifndef CAIRN_BASE_MEMORY_H
#define CAIRN_BASE_MEMORY_H

#include "base/parallel.h"
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

/* ---- arenas: scratch memory for one step, taken in pieces, freed all at once ---------------- */

typedef struct cairn_arena_block cairn_arena_block;

/* Zero is a valid, empty arena. */
typedef struct cairn_arena {
    cairn_arena_block *newest; /* chain of blocks, the newest first        */
    size_t used;               /* bytes in use                             */
    size_t most;               /* the largest `used` since the last reset  */
} cairn_arena;

/* A state of an arena to which it can return. */
typedef struct cairn_arena_moment {
    cairn_arena_block *block;
    size_t block_used, used;
} cairn_arena_moment;

/* `count` items of `size` bytes, aligned to 64 bytes (a cache line, and the widest register), not
 * initialised. NULL: no memory. A count of 0 gives a pointer that must not be dereferenced. */
void *cairn_arena_take(cairn_arena *arena, size_t count, size_t size);
/* Set a pointer to `count` items of its type; false: no memory. */
#define CAIRN_TAKE(arena, pointer, count)                                                          \
    (((pointer) = cairn_arena_take(arena, count, sizeof *(pointer))) != NULL)
/* `count` doubles, all zero. NULL: no memory. */
double *cairn_arena_doubles(cairn_arena *arena, size_t count);
/* `count` items of `size` bytes, all zero. NULL: no memory. */
void *cairn_arena_zeros(cairn_arena *arena, size_t count, size_t size);
/* Remember the present state; and free everything that was taken since then. Moments must be
 * returned to in the reverse order, and not after a reset. */
cairn_arena_moment cairn_arena_now(const cairn_arena *arena);
void cairn_arena_return(cairn_arena *arena, cairn_arena_moment moment);
/* Bytes that the arena owns, whether in use or not. */
size_t cairn_arena_capacity(const cairn_arena *arena);
/* Free everything that was taken, but keep the memory for later use. */
void cairn_arena_reset(cairn_arena *arena);
/* Free all. */
void cairn_arena_destroy(cairn_arena *arena);

/* cairn_reduce with scratch memory from the arena, which is returned. */
cairn_status cairn_arena_reduce(cairn_arena *arena, const cairn_reduction *r, void *result);

/* Indices of numbers in ascending order, in the arena; those of equal ones ascend. */
cairn_status cairn_sort_by_number(const uint64_t *number, int count, cairn_arena *arena,
                                  int32_t **out);

#endif
