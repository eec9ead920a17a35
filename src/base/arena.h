/* arena.h - scratch memory for one step: taken in pieces, given back all at once.
 * Blocks are kept and joined on reset, so a steady step allocates nothing. */
#ifndef CAIRN_BASE_ARENA_H
#define CAIRN_BASE_ARENA_H

#include "base/parallel.h"
#include "cairn/base.h"

typedef struct cairn_arena_block cairn_arena_block;

/* Zero is a valid, empty arena. */
typedef struct cairn_arena {
    cairn_arena_block *newest; /* chain of blocks, the newest first        */
    size_t used;               /* bytes taken since the last reset         */
    size_t most;               /* the most that were at once               */
} cairn_arena;

/* A moment in the life of an arena. */
typedef struct cairn_arena_moment {
    cairn_arena_block *block;
    size_t block_used, used;
} cairn_arena_moment;

/* `count` items of `size` bytes, aligned to 64 bytes, not initialised. NULL: no memory.
 * A count of 0 gives a pointer that must not be followed. */
void *cairn_arena_take(cairn_arena *arena, size_t count, size_t size);
/* `count` items for a pointer; false: no memory. */
#define CAIRN_TAKE(arena, pointer, count)                                                          \
    (((pointer) = cairn_arena_take(arena, count, sizeof *(pointer))) != NULL)
/* `count` doubles, all zero. NULL: no memory. */
double *cairn_arena_doubles(cairn_arena *arena, size_t count);
/* Now; and everything taken since a moment is given back. */
cairn_arena_moment cairn_arena_now(const cairn_arena *arena);
void cairn_arena_return(cairn_arena *arena, cairn_arena_moment moment);
/* Bytes that the arena holds, taken or not. */
size_t cairn_arena_capacity(const cairn_arena *arena);
/* Everything taken is given back; the memory is kept. */
void cairn_arena_reset(cairn_arena *arena);
/* Free all. */
void cairn_arena_destroy(cairn_arena *arena);

/* cairn_reduce with room from the arena, which is given back. */
cairn_status cairn_arena_reduce(cairn_arena *arena, const cairn_reduction *r, void *result);

#endif
