/* run_folder.c - whether a folder can take a new run: one that holds a run is told with how that
 * run ended and what can be done with it. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "cairn/run.h"
#include "io/file.h"

static bool holds(const char *folder, const char *name)
{
    char path[CAIRN_PATH_BYTES];
    cairn_error unused = { 0 };
    return cairn_path_join(folder, name, path, &unused) == CAIRN_OK && cairn_is_file(path);
}

/* "complete, t = 2 s", or what little is known. */
static void describe(const cairn_run_info *info, bool readable, char *text, size_t capacity)
{
    if (readable)
        snprintf(text, capacity, "%s, t = %g s", info->ending[0] ? info->ending : "ending unknown",
                 info->time);
    else
        snprintf(text, capacity, "it cannot be read");
}

/* A run that did not do a single step is no loss. */
static cairn_status check_run(const char *folder, cairn_error *error)
{
    char about[64];
    cairn_run_info info;
    cairn_error unused = { 0 };
    bool readable = cairn_run_read_info(folder, &info, &unused) == CAIRN_OK;
    if (readable && info.steps == 0 && strcmp(info.ending, "failed") == 0)
        return CAIRN_OK;
    describe(&info, readable, about, sizeof about);
    cairn_error_set_file(error, folder);
    if (holds(folder, "checkpoint"))
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                          "this folder holds a run (%s): 'cairn resume %.150s' goes on with it, "
                          "--force replaces it",
                          about, folder);
    return cairn_fail(error, CAIRN_BAD_INPUT, NULL,
                      "this folder holds a run (%s): --force replaces it, --out names another "
                      "folder",
                      about);
}

cairn_status cairn_run_folder_check(const char *folder, cairn_error *error)
{
    int lock;
    cairn_error unused = { 0 };
    error = error ? error : &unused;
    if (!cairn_is_folder(folder) || (!holds(folder, "run.h5") && !holds(folder, "run.h5.part")))
        return CAIRN_OK;
    TRY(cairn_folder_lock(folder, &lock, error)); /* a run that is under way is another matter */
    cairn_folder_unlock(&lock);
    return check_run(folder, error);
}
