/* arena.c - scratch memory for one step, allocated in pieces and freed all at once. */
#include "base/arena.h"

#include <string.h>

#include "base/memory.h"

enum { ALIGNMENT = 64, SMALLEST_BLOCK = 1 << 16 };

struct cairn_arena_block {
    cairn_arena_block *older;
    size_t capacity; /* usable bytes                   */
    size_t used;     /* bytes in use                   */
    char *start;     /* first aligned byte             */
};

static size_t rounded_up(size_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static cairn_arena_block *block_create(size_t capacity, cairn_arena_block *older)
{
    char *raw = cairn_memory_resize(NULL, sizeof(cairn_arena_block) + ALIGNMENT + capacity, 1);
    if (!raw)
        return NULL;
    cairn_arena_block *block = (cairn_arena_block *)raw;
    uintptr_t first = (uintptr_t)(raw + sizeof *block);
    size_t shift = rounded_up(first) - first;
    *block = (cairn_arena_block){ older, capacity, 0, raw + sizeof *block + shift };
    return block;
}

/* Add a block at least twice as large as the last one, so that there are few of them. The rest of
 * the old block stays unused until the next reset. */
static bool grow(cairn_arena *arena, size_t bytes)
{
    size_t capacity = arena->newest ? 2 * arena->newest->capacity : SMALLEST_BLOCK;
    cairn_arena_block *block =
        block_create(capacity > bytes ? capacity : rounded_up(bytes), arena->newest);
    if (!block)
        return false;
    arena->newest = block;
    return true;
}

void *cairn_arena_take(cairn_arena *arena, size_t count, size_t size)
{
    /* a quarter of the range leaves room for rounding up and for the header of a block */
    if (size != 0 && count > (SIZE_MAX / 4) / size)
        return NULL;
    size_t bytes = rounded_up(count * size);
    cairn_arena_block *block = arena->newest;
    if (!block || block->capacity - block->used < bytes) {
        if (!grow(arena, bytes))
            return NULL;
        block = arena->newest;
    }
    void *piece = block->start + block->used;
    block->used += bytes;
    arena->used += bytes;
    arena->most = arena->used > arena->most ? arena->used : arena->most;
    return piece;
}

double *cairn_arena_doubles(cairn_arena *arena, size_t count)
{
    double *numbers = cairn_arena_take(arena, count, sizeof(double));
    if (numbers)
        memset(numbers, 0, count * sizeof(double));
    return numbers;
}

cairn_arena_moment cairn_arena_now(const cairn_arena *arena)
{
    return (cairn_arena_moment){ arena->newest, arena->newest ? arena->newest->used : 0,
                                 arena->used };
}

/* Free the blocks that are newer than `last`. */
static void drop_blocks(cairn_arena *arena, const cairn_arena_block *last)
{
    while (arena->newest && arena->newest != last) {
        cairn_arena_block *older = arena->newest->older;
        cairn_memory_free(arena->newest);
        arena->newest = older;
    }
}

void cairn_arena_return(cairn_arena *arena, cairn_arena_moment moment)
{
    drop_blocks(arena, moment.block);
    if (arena->newest)
        arena->newest->used = moment.block_used;
    arena->used = moment.used;
}

size_t cairn_arena_capacity(const cairn_arena *arena)
{
    size_t sum = 0;
    for (const cairn_arena_block *block = arena->newest; block; block = block->older)
        sum += block->capacity;
    return sum;
}

void cairn_arena_destroy(cairn_arena *arena)
{
    drop_blocks(arena, NULL);
    arena->used = arena->most = 0;
}

void cairn_arena_reset(cairn_arena *arena)
{
    cairn_arena_block *newest = arena->newest;
    /* several blocks: one block for the largest use so far and a quarter more replaces them */
    if (newest && (newest->older || newest->capacity < arena->most)) {
        size_t wanted = rounded_up(arena->most + arena->most / 4);
        cairn_arena_destroy(arena);
        arena->newest = block_create(wanted, NULL); /* on failure the next take allocates again */
    } else if (newest) {
        newest->used = 0;
    }
    arena->used = arena->most = 0;
}

cairn_status cairn_arena_reduce(cairn_arena *arena, const cairn_reduction *r, void *result)
{
    cairn_arena_moment before = cairn_arena_now(arena);
    void *room = cairn_arena_take(arena, (size_t)cairn_reduction_values(r), r->size);
    if (!room)
        return CAIRN_NO_MEMORY;
    cairn_reduce(r, room, result);
    cairn_arena_return(arena, before);
    return CAIRN_OK;
}
