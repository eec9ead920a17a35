/* extra.c - C functions of the Python package beyond the public interface of cairn. */
#define _DEFAULT_SOURCE /* madvise */
#include "extra.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- memory that outlives the library's use of it ------------------------------------------- */

/* A block that Python arrays refer to. */
typedef struct pinned {
    void *block;
    int pins;
    bool given_up; /* by the library: the last pin frees it */
} pinned;

static struct {
    pthread_mutex_t lock;
    atomic_int count; /* entries: mostly none, and then no lock is taken */
    int capacity;
    pinned *entries;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Searches from the end: pins are mostly used like a stack. -1: none. */
static int find(const void *block)
{
    int i = table.count - 1;
    while (i >= 0 && (table.entries[i].block != block || table.entries[i].given_up))
        i--;
    return i;
}

static bool give_up(void *block)
{
    bool found = false;
    if (block && table.count > 0) {
        pthread_mutex_lock(&table.lock);
        int i = find(block);
        found = i >= 0;
        if (found)
            table.entries[i].given_up = true;
        pthread_mutex_unlock(&table.lock);
    }
    return found;
}

static bool is_pinned(const void *block)
{
    bool found = false;
    if (block && table.count > 0) {
        pthread_mutex_lock(&table.lock);
        found = find(block) >= 0;
        pthread_mutex_unlock(&table.lock);
    }
    return found;
}

/* As the library's own allocator does: large blocks in pages of 2 MiB. */
static void ask_for_large_pages(void *block, size_t bytes)
{
    const uintptr_t page = (uintptr_t)1 << 21;
    uintptr_t from = ((uintptr_t)block + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)block + bytes) & ~(page - 1);
    if (bytes >= 2 * page && to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

/* A pinned block does not move: the library gets another one with the same bytes. */
static void *move_away(void *block, size_t bytes)
{
    size_t held = malloc_usable_size(block);
    void *other = malloc(bytes);
    if (!other)
        return NULL;
    memcpy(other, block, held < bytes ? held : bytes);
    if (!give_up(block)) /* the last pin was removed meanwhile */
        free(block);
    return other;
}

static void *resize(void *context, void *block, size_t bytes)
{
    (void)context;
    if (bytes == 0) {
        if (!give_up(block))
            free(block);
        return NULL;
    }
    void *resized = is_pinned(block) ? move_away(block, bytes) : realloc(block, bytes);
    if (resized)
        ask_for_large_pages(resized, bytes);
    return resized;
}

void cairn_python_start(void)
{
    cairn_allocator_set(&(cairn_allocator){ resize, NULL });
}

/* Room for one more entry. */
static bool reserve(void)
{
    if (table.count < table.capacity)
        return true;
    int capacity = table.capacity > 0 ? 2 * table.capacity : 64;
    pinned *entries = realloc(table.entries, (size_t)capacity * sizeof *entries);
    if (!entries)
        return false;
    table.entries = entries;
    table.capacity = capacity;
    return true;
}

bool cairn_python_pin(const void *block)
{
    pthread_mutex_lock(&table.lock);
    int i = find(block);
    bool ok = i >= 0 || reserve();
    if (i >= 0)
        table.entries[i].pins++;
    else if (ok)
        table.entries[table.count++] = (pinned){ (void *)block, 1, false };
    pthread_mutex_unlock(&table.lock);
    return ok;
}

/* A released block is not reused before it is freed here, so it has a single entry. */
void cairn_python_unpin(const void *block)
{
    void *unused = NULL;
    pthread_mutex_lock(&table.lock);
    int i = table.count - 1;
    while (i >= 0 && table.entries[i].block != block)
        i--;
    if (i >= 0 && --table.entries[i].pins == 0) {
        unused = table.entries[i].given_up ? table.entries[i].block : NULL;
        table.entries[i] = table.entries[table.count - 1];
        table.count--;
    }
    pthread_mutex_unlock(&table.lock);
    free(unused);
}

int cairn_python_pins(void)
{
    return table.count;
}

/* ---- bodies by uid --------------------------------------------------------------------------- */

cairn_body_id cairn_python_body(uint64_t uid)
{
    return (cairn_body_id){ uid };
}

static void set_column(cairn_body_def *def, const cairn_python_column *column, int64_t row)
{
    char *place = (char *)def + column->offset;
    size_t first = (size_t)row * (size_t)column->width;
    if (column->values)
        memcpy(place, column->values + first, (size_t)column->width * sizeof *column->values);
    else
        memcpy(place, column->whole + first, (size_t)column->width * sizeof *column->whole);
}

/* Destroying a body clears the message about another one. */
static void take_back(cairn_world *world, const uint64_t *uids, int64_t count)
{
    while (count-- > 0)
        (void)cairn_body_destroy(world, cairn_python_body(uids[count]));
}

cairn_status cairn_python_create(cairn_world *world, const cairn_body_def *def,
                                 const cairn_python_column *columns, int column_count,
                                 int64_t count, uint64_t *uids, int64_t *made)
{
    cairn_body_def one = *def;
    *made = 0;
    if (cairn_world_reserve(world, count) != CAIRN_OK)
        return CAIRN_NO_MEMORY;
    for (; *made < count; ++*made) {
        cairn_body_id id;
        for (int k = 0; k < column_count; k++)
            set_column(&one, &columns[k], *made);
        cairn_status status = cairn_body_create(world, &one, &id);
        if (status != CAIRN_OK) {
            take_back(world, uids, *made);
            return status;
        }
        uids[*made] = id.uid;
    }
    return CAIRN_OK;
}

cairn_status cairn_python_steps(cairn_world *world, const cairn_step_options *options, int count,
                                bool strict, cairn_python_count *counted, cairn_step_report *report)
{
    *counted = (cairn_python_count){ 0 };
    while (counted->done < count) {
        cairn_status status = cairn_world_step(world, options, report);
        if (status != CAIRN_OK)
            return status;
        counted->done++;
        counted->missed += !report->solve.converged;
        if (strict && !report->solve.converged)
            return CAIRN_STOPPED;
    }
    return CAIRN_OK;
}
