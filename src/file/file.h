/* file.h - paths, folders, files that appear under their name only when they are complete, files
 * whose committed part changes atomically, and a writer of JSON. */
#ifndef CAIRN_FILE_FILE_H
#define CAIRN_FILE_FILE_H

#include <stdio.h>

#include "base/bytes.h"
#include "cairn/base.h"

/* Longest path with its final zero. Paths are kept in arrays of this size instead of on the
 * heap. */
enum { CAIRN_PATH_BYTES = 4096 };

/* path = folder/name. `path` has room for CAIRN_PATH_BYTES; CAIRN_BAD_INPUT if that is too
 * small. */
cairn_status cairn_path_join(const char *folder, const char *name, char *path, cairn_error *error);

/* Copy the path into error->file; of a long path the end is kept. `error` may be NULL. */
void cairn_error_set_file(cairn_error *error, const char *path);

/* Whether a file, folder or anything else of that name exists. */
bool cairn_is_file(const char *path);

/* Create a folder and its parents; it may exist already. */
cairn_status cairn_folder_create(const char *path, cairn_error *error);
/* Whether there is a folder of that name. */
bool cairn_is_folder(const char *path);

/* A file that is written as `path`.part and renamed at the end, so that nobody ever sees half of
 * it. If `path` is a link, its target is replaced in this way and the link stays. Anything that
 * takes bytes in sequence but is not a plain file (a FIFO, a terminal, /dev/null), and the file
 * that the program's own output goes to, is written in place. Everything that cairn writes
 * except HDF5 passes through here. All zero is valid: nothing is open. */
typedef struct cairn_file {
    FILE *stream;  /* write here with fwrite and fprintf; errors are reported by the commit */
    bool in_place; /* no .part file and no renaming */
    char path[CAIRN_PATH_BYTES];
    char part[CAIRN_PATH_BYTES];
} cairn_file;

/* Start a file. A left-over `path`.part is removed first, so that a link of that name is not
 * followed. On a FIFO this waits for the reader. */
cairn_status cairn_file_create(const char *path, cairn_file *out, cairn_error *error);

/* Complete the file: flush, close, rename to `path`. On failure the .part file is removed and
 * `path` is unchanged. */
cairn_status cairn_file_commit(cairn_file *file, cairn_error *error);

/* The same, but the data and the name are on the disk when this returns. */
cairn_status cairn_file_commit_durable(cairn_file *file, cairn_error *error);

/* Discard the file: close it and remove the .part file. Does nothing if none is open. */
void cairn_file_abandon(cairn_file *file);

/* Give a file that another program wrote its final name, with the same rules for links and for
 * files written in place as cairn_file_create. `part` no longer exists afterwards. */
cairn_status cairn_file_place(const char *part, const char *path, cairn_error *error);

/* Write the entry of a file in its folder to the disk (fsync); false: errno says why. */
bool cairn_file_keep_entry(const char *path);

/* Take the lock (flock) of an open file or folder. It ends when its last descriptor is closed,
 * however the program ends. False: another program has it. On file systems without locks: true. */
bool cairn_lock_take(int descriptor);

typedef enum cairn_lock_state {
    CAIRN_LOCK_FREE,
    CAIRN_LOCK_TAKEN,  /* by a running program */
    CAIRN_LOCK_UNKNOWN /* this file system has no such locks */
} cairn_lock_state;

/* Whether a program has taken the lock of a file or folder; free if the file does not exist.
 * Looking takes the lock for a moment; cairn_lock_take allows for that. */
cairn_lock_state cairn_lock_look(const char *path);

/* Become the only run that writes into a folder, until cairn_folder_unlock or the end of the
 * program. CAIRN_IO_FAILED: another run is writing there. */
cairn_status cairn_folder_lock(const char *folder, int *lock, cairn_error *error);
/* Release the lock; does nothing for *lock < 0. */
void cairn_folder_unlock(int *lock);

/* Open a plain file for reading. Other kinds are accepted only as descriptors that the program
 * was given, /dev/stdin or /dev/fd/3. Never waits for the writer of a FIFO. CAIRN_NOT_FOUND: no
 * such file. */
cairn_status cairn_file_open(const char *path, FILE **out, cairn_error *error);
/* The same check for a file that a library will open: CAIRN_BAD_INPUT for a FIFO, on which the
 * library would wait, and for a device. */
cairn_status cairn_file_check_plain(const char *path, cairn_error *error);

/* Read a whole file; free it by cairn_memory_free. One zero byte follows the data, so a text can
 * be used as a C string. CAIRN_NOT_FOUND: no such file. */
cairn_status cairn_file_read(const char *path, void **data, size_t *bytes, cairn_error *error);

/* The same without taking memory: the bytes stay in the file, which must not be cut short
 * meanwhile. Nothing follows the data. An empty file has data NULL. */
typedef struct cairn_mapped {
    const unsigned char *data;
    size_t bytes;
} cairn_mapped;

cairn_status cairn_file_map(const char *path, cairn_mapped *out, cairn_error *error);
void cairn_file_unmap(cairn_mapped *mapped);

/* A sealed file (base/bytes.h) that is written piece by piece, so that nobody has to have all of
 * it. The length of the body must be known. */
typedef struct cairn_sealing {
    cairn_file file;
    int64_t left; /* bytes of the body that are still to come */
    uint64_t sum; /* of what is written                       */
    cairn_check_table table;
} cairn_sealing;

/* On failure nothing is open. */
cairn_status cairn_sealing_begin(const char *path, const cairn_seal *seal, int64_t length,
                                 cairn_sealing *out, cairn_error *error);
/* Failures show at the end. */
void cairn_sealing_add(cairn_sealing *sealing, const void *data, size_t bytes);
/* Write the sum, and give the file its name, as cairn_file_commit_durable does; or, if something
 * else has failed, discard it and return that status. */
cairn_status cairn_sealing_end(cairn_sealing *sealing, cairn_status status, cairn_error *error);

/* ---- overlays ---------------------------------------------------------------------------- */

/* A file whose committed part changes atomically.
 *
 * Bytes that the last commit left in the file are not overwritten before the next commit: new
 * contents wait in memory, page by page. Bytes behind the committed part are written at once,
 * since no reader of the committed part looks there. A commit writes the waiting pages to a
 * journal beside the file, then into the file, then removes the journal. If the writer is
 * killed, the file is therefore as the last commit left it, unless it was killed during a
 * commit. In that case the journal exists, and cairn_overlay_recover completes the commit. The
 * journal names its writer, so that a journal of another run, or of another file of the same
 * name, is never applied. */

/* All zero is valid: nothing is committed, and nothing waits. Functions return 0 or an errno. */
typedef struct cairn_overlay {
    int descriptor;
    uint64_t kept; /* size of the committed part, in bytes */
    char journal[CAIRN_PATH_BYTES], writer[CAIRN_PATH_BYTES];
    uint64_t id; /* identifies this writer, once it is `named` in the file `writer` */
    bool named;
    bool torn;                /* the last commit failed midway: the journal is needed */
    struct cairn_page *pages; /* `count` waiting pages, unordered */
    size_t count, capacity;
    int32_t *slots; /* hash table of page numbers: index in `pages` + 1, 0: free */
    size_t slot_count;
} cairn_overlay;

/* Start on an open file whose first `kept` bytes are committed. A journal left beside a new file
 * (kept = 0) is removed. The descriptor stays the caller's. */
int cairn_overlay_start(cairn_overlay *o, int descriptor, const char *path, uint64_t kept);
int cairn_overlay_read(const cairn_overlay *o, uint64_t at, size_t bytes, void *buffer);
int cairn_overlay_write(cairn_overlay *o, uint64_t at, size_t bytes, const void *buffer);
/* Commit everything written so far; the file then has `size` bytes. ESTALE: the file was removed,
 * or its path leads to another one, which is left alone. */
int cairn_overlay_commit(cairn_overlay *o, uint64_t size);
/* Discard waiting pages and free the memory. The file is not closed. */
void cairn_overlay_destroy(cairn_overlay *o);

/* Remove the journal and the .writer file that an earlier writer left beside the file. */
int cairn_overlay_clear(const char *path);

/* Complete a commit during which the writer of the file was killed, if there was one. A file
 * that is being written is left alone. */
cairn_status cairn_overlay_recover(const char *path, cairn_error *error);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A writer of JSON objects with one key a line. Errors of the stream are not checked
 * here; the owner of the stream finds them when it closes it. */

/* The shortest of 15, 16 and 17 digits that reads back as `value`, always with a decimal point
 * whatever the locale. `text` has room for 32 bytes. Not for NaN and infinities. */
void cairn_number_text(double value, char *text);

typedef struct cairn_json {
    FILE *out;
    int depth;  /* open objects                    */
    bool empty; /* the innermost one has no entry yet */
} cairn_json;

/* Begin an object; the outermost one has no key (NULL). */
void cairn_json_begin(cairn_json *json, const char *key);
/* End the innermost object. */
void cairn_json_end(cairn_json *json);
/* A number; null if it is not finite, because JSON has no such numbers. */
void cairn_json_real(cairn_json *json, const char *key, double value);
void cairn_json_integer(cairn_json *json, const char *key, int64_t value);
void cairn_json_flag(cairn_json *json, const char *key, bool value);
/* A text, escaped; NULL gives null. */
void cairn_json_text(cairn_json *json, const char *key, const char *text);
/* Lists on one line: [1, 2.5, null], ["a", "b"]. */
void cairn_json_reals(cairn_json *json, const char *key, const double *values, int count);
void cairn_json_texts(cairn_json *json, const char *key, const char *const *texts, int count);
/* A list of pairs on one line: [[1, 2], [5, 5]]. */
void cairn_json_pairs(cairn_json *json, const char *key, const int64_t (*pairs)[2], int count);

#endif
