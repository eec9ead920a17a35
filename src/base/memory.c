/* memory.c - the only file that calls the C library's allocator; arenas on top of it, and a sort
 * that uses them. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/common.h"

/* For large blocks the system is asked to use pages of 2 MiB: a million contacts then need hundreds
 * of page table entries instead of a hundred thousand, and fewer misses of the processor's
 * translation cache. If the system has no such pages, nothing changes. */
static const uintptr_t large_page = (uintptr_t)1 << 21;

static void ask_for_large_pages(void *block, size_t bytes)
{
    uintptr_t from = ((uintptr_t)block + large_page - 1) & ~(large_page - 1);
    uintptr_t to = ((uintptr_t)block + bytes) & ~(large_page - 1);
    if (to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* a hint: failure does not matter */
}

static void *c_library_resize(void *context, void *block, size_t bytes)
{
    (void)context;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    void *resized = realloc(block, bytes);
    /* with twice the size, at least one aligned page lies within the block */
    if (resized && bytes >= 2 * large_page)
        ask_for_large_pages(resized, bytes);
    return resized;
}

/* The only mutable global of the library, next to the number of threads of parallel.c. */
static cairn_allocator allocator = { c_library_resize, NULL };

void cairn_allocator_set(const cairn_allocator *replacement)
{
    allocator = replacement ? *replacement : (cairn_allocator){ c_library_resize, NULL };
}

void *cairn_memory_resize(void *block, size_t count, size_t size)
{
    if (count == 0 || size == 0 || count > SIZE_MAX / size)
        return NULL;
    return allocator.resize(allocator.context, block, count * size);
}

void *cairn_memory_zeroed(size_t count, size_t size)
{
    void *block = cairn_memory_resize(NULL, count, size);
    return block ? memset(block, 0, count * size) : NULL;
}

void cairn_memory_free(void *block)
{
    if (block)
        allocator.resize(allocator.context, block, 0);
}

char *cairn_memory_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = cairn_memory_resize(NULL, bytes, 1);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

cairn_status cairn_memory_own_list(cairn_list *list)
{
    double *copy = NULL;
    if (list->count > 0) {
        copy = cairn_memory_resize(NULL, (size_t)list->count, sizeof(double));
        if (!copy)
            return CAIRN_NO_MEMORY;
        memcpy(copy, list->values, (size_t)list->count * sizeof(double));
    }
    list->values = copy;
    return CAIRN_OK;
}

cairn_status cairn_memory_extend(void **block, size_t *capacity, size_t needed, size_t size)
{
    if (needed <= *capacity)
        return CAIRN_OK;
    /* growth by a factor keeps the cost of appending constant on average */
    size_t wanted = *capacity + *capacity / 2 + 8;
    if (wanted < needed)
        wanted = needed;
    void *grown = cairn_memory_resize(*block, wanted, size);
    if (!grown)
        return CAIRN_NO_MEMORY;
    *block = grown;
    *capacity = wanted;
    return CAIRN_OK;
}

cairn_status cairn_memory_reserve(void **block, size_t *capacity, size_t needed, size_t size)
{
    size_t before = *capacity;
    TRY(cairn_memory_extend(block, capacity, needed, size));
    if (*capacity > before)
        memset((char *)*block + before * size, 0, (*capacity - before) * size);
    return CAIRN_OK;
}

/* ==== arenas ================================================================================= */

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

void *cairn_arena_zeros(cairn_arena *arena, size_t count, size_t size)
{
    void *items = cairn_arena_take(arena, count, size);
    if (items)
        memset(items, 0, count * size);
    return items;
}

double *cairn_arena_doubles(cairn_arena *arena, size_t count)
{
    return cairn_arena_zeros(arena, count, sizeof(double));
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

/* Radix sort by 16 bits at a time, from the lowest on. It is stable, so that the result
 * does not depend on the sort. */
cairn_status cairn_sort_by_number(const uint64_t *number, int count, cairn_arena *arena,
                                  int32_t **out)
{
    enum { DIGIT = 16, VALUES = 1 << DIGIT };
    int32_t *from = cairn_arena_take(arena, (size_t)count, sizeof *from);
    int32_t *to = cairn_arena_take(arena, (size_t)count, sizeof *to);
    int32_t *start = cairn_arena_take(arena, VALUES + 1, sizeof *start);
    uint64_t digits = 0;
    if (!from || !to || !start)
        return CAIRN_NO_MEMORY;
    for (int i = 0; i < count; i++) {
        from[i] = i;
        digits |= number[i];
    }
    for (int shift = 0; shift < 64 && digits >> shift > 0; shift += DIGIT) {
        memset(start, 0, (VALUES + 1) * sizeof *start);
        for (int i = 0; i < count; i++)
            start[(number[i] >> shift & (VALUES - 1)) + 1]++;
        for (int k = 0; k < VALUES; k++)
            start[k + 1] += start[k];
        for (int i = 0; i < count; i++)
            to[start[number[from[i]] >> shift & (VALUES - 1)]++] = from[i];
        int32_t *held = from;
        from = to;
        to = held;
    }
    *out = from;
    return CAIRN_OK;
}
