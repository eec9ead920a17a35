/* world_memory.h - a step in which an allocation fails, for each one that it makes. */
#ifndef CAIRN_TESTS_WORLD_MEMORY_H
#define CAIRN_TESTS_WORLD_MEMORY_H

#include "failing_allocator.h"
#include "worlds.h"

/* The first step of a world: each failed allocation is told, and nothing leaks. */
static inline void check_step_without_memory(cairn_world *(*make)(void),
                                             const cairn_step_options *options)
{
    meter m = { 0 };
    long calls = 1;
    for (long n = 0; n < calls; n++) {
        cairn_step_report report;
        meter_install(&m);
        cairn_world *world = make();
        long start = m.calls;
        m.fail_at = n ? start + n : 0;
        cairn_status status = cairn_world_step(world, options, &report);
        CHECK_INT(status, n ? CAIRN_NO_MEMORY : CAIRN_OK);
        if (n == 0)
            calls = m.calls - start + 1;
        cairn_world_destroy(world);
        cairn_allocator_set(NULL);
        CHECK_INT(m.alive, 0);
        m = (meter){ 0 };
    }
    CHECK(calls > 3);
}

#endif
