/* fclib_files.h - the real problems of other laboratories, where they are at hand. */
#ifndef CAIRN_TESTS_FCLIB_FILES_H
#define CAIRN_TESTS_FCLIB_FILES_H

#include <dirent.h>
#include <stdlib.h>

#include "check.h"

#define FCLIB_FOLDER CAIRN_SOURCE_DIR "/../shared/data/fclib"

enum { MOST_FILES = 200 };

typedef struct file_list {
    char path[MOST_FILES][512];
    int count;
} file_list;

static inline int compare_paths(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Add every *.hdf5 of a folder inside FCLIB_FOLDER, sorted. */
static inline void list_files(file_list *list, const char *folder)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", FCLIB_FOLDER, folder);
    DIR *entries = opendir(path);
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        if (strstr(entry->d_name, ".hdf5") && list->count < MOST_FILES)
            snprintf(list->path[list->count++], sizeof list->path[0], "%.250s/%.250s", path,
                     entry->d_name);
    if (entries)
        closedir(entries);
    qsort(list->path, (size_t)list->count, sizeof list->path[0], compare_paths);
}

#endif
