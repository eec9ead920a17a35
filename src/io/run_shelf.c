/* run_shelf.c - see run_shelf.h. */
#include "io/run_shelf.h"

#include "base/memory.h"
#include "base/status.h"

int32_t cairn_run_shelf_row(const cairn_run_shelf *shelf, const cairn_geometry *geometry)
{
    /* bodies that share data mostly come one after the other */
    for (int32_t i = geometry ? shelf->count - 1 : -1; i >= 0; i--)
        if (shelf->items[i] == geometry)
            return shelf->forgotten + i;
    return -1;
}

static cairn_status append(cairn_run_shelf *shelf, const cairn_geometry *geometry)
{
    void *block = shelf->items;
    TRY(cairn_memory_reserve(&block, &shelf->capacity, (size_t)shelf->count + 1,
                             sizeof *shelf->items));
    shelf->items = block;
    shelf->items[shelf->count++] = cairn_geometry_retain(geometry);
    return CAIRN_OK;
}

cairn_status cairn_run_shelf_add(cairn_run_shelf *shelf, const cairn_geometry *geometry)
{
    if (!geometry || cairn_run_shelf_row(shelf, geometry) >= 0)
        return CAIRN_OK;
    cairn_geometry_view view = cairn_geometry_look(geometry);
    for (int i = 0; i < view.part_count; i++) {
        const cairn_geometry *part = view.parts[i].shape.geometry; /* no compound: no deeper */
        if (part && cairn_run_shelf_row(shelf, part) < 0)
            TRY(append(shelf, part));
    }
    return append(shelf, geometry);
}

static void forget(cairn_run_shelf *shelf)
{
    for (int32_t i = 0; i < shelf->count; i++)
        cairn_geometry_release(shelf->items[i]);
    shelf->count = 0;
}

void cairn_run_shelf_settle(cairn_run_shelf *shelf, int32_t rows)
{
    if (shelf->forgotten + shelf->count == rows)
        return;
    forget(shelf);
    shelf->forgotten = rows;
}

void cairn_run_shelf_destroy(cairn_run_shelf *shelf)
{
    forget(shelf);
    cairn_memory_free(shelf->items);
    *shelf = (cairn_run_shelf){ 0 };
}
