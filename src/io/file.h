/* file.h - paths, folders, and files that appear under their name only when they are complete. */
#ifndef CAIRN_IO_FILE_H
#define CAIRN_IO_FILE_H

#include <stdio.h>

#include "cairn/base.h"

enum { CAIRN_PATH_BYTES = 4096 };

/* path = folder/name. CAIRN_BAD_INPUT when that is too long. `path` holds CAIRN_PATH_BYTES. */
cairn_status cairn_path_join(const char *folder, const char *name, char *path, cairn_error *error);

/* Put the path, from its end when it is long, into error->file; error may be NULL. */
void cairn_error_set_file(cairn_error *error, const char *path);

/* Whether something is there under that name. */
bool cairn_is_file(const char *path);

/* Make a folder and those above it; one that exists is fine. */
cairn_status cairn_folder_create(const char *path, cairn_error *error);
/* Whether there is a folder of that name. */
bool cairn_is_folder(const char *path);

/* A file that is written as `path`.part and renamed at the end. Behind a link it is the link's
 * target that is written so; the link stays. What takes bytes in a row and is no plain file (a
 * FIFO, a terminal, /dev/null), and the file that the program's own output goes to, is written in
 * place. Everything that cairn writes but HDF5 goes through here. Zero is valid: nothing is
 * open. */
typedef struct cairn_file {
    FILE *stream;  /* write here with fwrite and fprintf; failures show at the close */
    bool in_place; /* no part, no renaming                                           */
    char path[CAIRN_PATH_BYTES];
    char part[CAIRN_PATH_BYTES];
} cairn_file;

/* Start a file. A left-over `path`.part is removed first, so no link is followed there. Waits for
 * the reader of a FIFO. */
cairn_status cairn_file_create(const char *path, cairn_file *out, cairn_error *error);

/* Complete the file: flush, close, rename over `path`. On failure the part is removed and `path`
 * is what it was before. */
cairn_status cairn_file_commit(cairn_file *file, cairn_error *error);

/* The same, and it is on the disk when this returns, under its name. */
cairn_status cairn_file_commit_durable(cairn_file *file, cairn_error *error);

/* Give up: close and remove the part. */
void cairn_file_abandon(cairn_file *file);

/* Give a file that another program wrote its name: as cairn_file_commit does, and the same for
 * links and what is written in place. The part is gone afterwards. */
cairn_status cairn_file_place(const char *part, const char *path, cairn_error *error);

/* Bring the entry of a file in its folder to the disk. */
bool cairn_file_keep_entry(const char *path);

/* Take the lock (flock) of an open file or folder, which ends with its last descriptor, however the
 * program ends. False: another program has it. Where the file system knows no locks: true. */
bool cairn_lock_take(int descriptor);

typedef enum cairn_lock_state {
    CAIRN_LOCK_FREE,
    CAIRN_LOCK_TAKEN,  /* by a program that lives                   */
    CAIRN_LOCK_UNKNOWN /* the file system knows no locks of this    */
} cairn_lock_state;

/* Whether a program has taken the lock of a file or folder; free when there is none. Who takes it
 * in the same moment is not turned away. */
cairn_lock_state cairn_lock_look(const char *path);

/* Be the only run that writes into a folder, until cairn_folder_unlock or the end of the program.
 * CAIRN_IO_FAILED: another one is at it. */
cairn_status cairn_folder_lock(const char *folder, int *lock, cairn_error *error);
/* Let others write; *lock < 0: nothing happens. */
void cairn_folder_unlock(int *lock);

/* Open a plain file for reading; of other kinds only descriptors that the program was given, by
 * /dev/stdin or /dev/fd/3. Never waits for the writer of a FIFO. CAIRN_NOT_FOUND: there is none. */
cairn_status cairn_file_open(const char *path, FILE **out, cairn_error *error);
/* The same question before a library opens it by itself: CAIRN_BAD_INPUT for a FIFO, on which it
 * would wait, and for a device. */
cairn_status cairn_file_check_plain(const char *path, cairn_error *error);

/* All bytes of a file, to be freed by cairn_memory_free. CAIRN_NOT_FOUND: there is none. */
cairn_status cairn_file_read(const char *path, void **data, size_t *bytes, cairn_error *error);

#endif
