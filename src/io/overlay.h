/* overlay.h - a file whose kept part changes all at once.
 *
 * Bytes that the last commit left in the file are not touched before the next one: what is to
 * replace them waits in memory, page by page. What lies behind them is written at once; no reader
 * of the kept part looks there. A commit writes the waiting pages to a journal beside the file,
 * then into the file, then removes the journal. So a file whose writer was killed is what the last
 * commit left, unless it was killed within a commit; then the journal is there, and
 * cairn_overlay_recover finishes what it began. The journal names its writer, so that one of
 * another run, or of another file under this name, is never taken for it. */
#ifndef CAIRN_IO_OVERLAY_H
#define CAIRN_IO_OVERLAY_H

#include "cairn/base.h"
#include "io/file.h"

/* Zero is valid: nothing is kept yet, and nothing waits. Functions return 0 or an errno. */
typedef struct cairn_overlay {
    int descriptor;
    uint64_t kept; /* bytes that the last commit left                              */
    char journal[CAIRN_PATH_BYTES], writer[CAIRN_PATH_BYTES];
    uint64_t id; /* of this writer, once it is `named` in the file `writer`        */
    bool named;
    bool torn; /* the last commit failed half way: the journal is needed           */
    struct cairn_page *pages; /* `count` waiting pages, in no order                */
    size_t count, capacity;
    int32_t *slots; /* hash table of page numbers: place in `pages` + 1, 0: free  */
    size_t slot_count;
} cairn_overlay;

/* Start on an open file of which `kept` bytes count. A journal that someone left beside a new file
 * (kept = 0) is removed. */
int cairn_overlay_start(cairn_overlay *o, int descriptor, const char *path, uint64_t kept);
int cairn_overlay_read(const cairn_overlay *o, uint64_t at, size_t bytes, void *buffer);
int cairn_overlay_write(cairn_overlay *o, uint64_t at, size_t bytes, const void *buffer);
/* From now on the file is what was written, and has `size` bytes. */
int cairn_overlay_commit(cairn_overlay *o, uint64_t size);
/* Forget what waits, and free. */
void cairn_overlay_destroy(cairn_overlay *o);

/* Remove what an earlier writer left beside the file: his journal and his name. */
int cairn_overlay_clear(const char *path);

/* Finish the commit in which the writer of a file was killed, if it was. A file that is being
 * written is left alone. */
cairn_status cairn_overlay_recover(const char *path, cairn_error *error);

#endif
