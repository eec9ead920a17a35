/* failing_allocator.h - an allocator that counts, fails on the n-th call, and sees leaks. */
#ifndef CAIRN_TESTS_FAILING_ALLOCATOR_H
#define CAIRN_TESTS_FAILING_ALLOCATOR_H

#include <stdlib.h>

#include "cairn/base.h"

typedef struct meter {
    long calls;   /* allocations asked for              */
    long fail_at; /* the one that fails; 0: none does   */
    long alive;   /* blocks not yet freed               */
} meter;

static inline void *metered_resize(void *context, void *block, size_t bytes)
{
    meter *m = context;
    if (bytes == 0) {
        m->alive -= block != NULL;
        free(block);
        return NULL;
    }
    if (++m->calls == m->fail_at)
        return NULL;
    m->alive += block == NULL;
    return realloc(block, bytes);
}

static inline void meter_install(meter *m)
{
    cairn_allocator allocator = { metered_resize, m };
    cairn_allocator_set(&allocator);
}

#endif
