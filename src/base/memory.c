/* memory.c - the only file that calls the C library's allocator. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/status.h"

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
