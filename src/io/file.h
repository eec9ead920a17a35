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

/* A file written as `path`.part and renamed at the end. Zero is valid: nothing is open. */
typedef struct cairn_file {
    FILE *stream; /* write here with fwrite and fprintf; failures show at the close */
    char path[CAIRN_PATH_BYTES];
    char part[CAIRN_PATH_BYTES];
} cairn_file;

/* Start a file. A left-over `path`.part is removed first, so no link is followed. */
cairn_status cairn_file_create(const char *path, cairn_file *out, cairn_error *error);

/* Complete the file: flush, close, rename over `path`. On failure the part is removed and `path`
 * is what it was before. */
cairn_status cairn_file_commit(cairn_file *file, cairn_error *error);

/* The same, and it is on the disk when this returns, under its name. */
cairn_status cairn_file_commit_durable(cairn_file *file, cairn_error *error);

/* All bytes of a file, to be freed by cairn_memory_free. CAIRN_NOT_FOUND: there is none. */
cairn_status cairn_file_read(const char *path, void **data, size_t *bytes, cairn_error *error);

/* Give up: close and remove the part. */
void cairn_file_abandon(cairn_file *file);

#endif
