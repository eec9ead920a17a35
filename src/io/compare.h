/* compare.h - the inside of a comparison. */
#ifndef CAIRN_IO_COMPARE_H
#define CAIRN_IO_COMPARE_H

#include "cairn/compare.h"

struct cairn_comparison {
    cairn_compared *items;
    size_t count, capacity;
};

#endif
