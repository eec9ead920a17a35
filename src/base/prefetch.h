/* prefetch.h - asking for memory before it is needed, where a list says what comes next.
 *
 * Always inline: to a compiler a function that only asks for memory does nothing, and its calls
 * can go. */
#ifndef CAIRN_BASE_PREFETCH_H
#define CAIRN_BASE_PREFETCH_H

#define CAIRN_ASKING static inline __attribute__((always_inline))

/* A record that begins there and ends in the same line of the cache or in the next one. Advice: any
 * address will do. */
CAIRN_ASKING void cairn_prefetch(const void *address, int bytes)
{
    __builtin_prefetch(address);
    __builtin_prefetch((const char *)address + bytes - 1);
}

/* The same for a record that will be written. */
CAIRN_ASKING void cairn_prefetch_write(const void *address, int bytes)
{
    __builtin_prefetch(address, 1);
    __builtin_prefetch((const char *)address + bytes - 1, 1);
}

#endif
