/* packer.h - a thread that shuffles and deflates chunks of numbers, as the filters of HDF5 with
 * these names do, while its owner goes on with something else.
 *
 * Chunks come out in the order in which they went in; at most CAIRN_PACKER_ROOM are inside. All
 * functions are for the one thread that owns the packer. Memory is asked for in that thread
 * only. */
#ifndef CAIRN_IO_PACKER_H
#define CAIRN_IO_PACKER_H

#include "cairn/base.h"

enum { CAIRN_PACKER_ROOM = 64, CAIRN_PACKER_LEVEL = 1 }; /* chunks; level of deflate: fastest */

/* Bytes that belong together. The first four are the owner's: nobody looks at them. */
typedef struct cairn_chunk {
    int64_t owner;
    uint64_t row, rows;
    int width;
    size_t number_bytes; /* of one number; 1: nothing to shuffle      */
    size_t bytes;        /* of `data`                                 */
    const void *data;    /* NULL, of a packed one: it could not be packed */
} cairn_chunk;

typedef struct cairn_packer cairn_packer;

cairn_status cairn_packer_create(cairn_packer **out);
/* Chunks inside. */
int cairn_packer_count(const cairn_packer *packer);
/* Put a copy of a chunk in; there must be room. */
cairn_status cairn_packer_put(cairn_packer *packer, const cairn_chunk *chunk);
/* The oldest chunk inside, packed; lent until it is dropped. False: there is none, or it is not
 * ready and `wait` is false. Who waits packs what the thread has not begun. */
bool cairn_packer_first(cairn_packer *packer, bool wait, cairn_chunk *out);
void cairn_packer_drop(cairn_packer *packer);
/* Forgets what is inside. NULL is allowed. */
void cairn_packer_destroy(cairn_packer *packer);

#endif
