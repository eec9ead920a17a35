/* run_problems.c - see run_problems.h. The files are those of docs/fclib.md. */
#include "io/run_problems.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "cairn/fclib.h"
#include "io/file.h"

/* step_, digits, .hdf5 */
static bool is_ours(const char *name)
{
    if (strncmp(name, "step_", 5) != 0)
        return false;
    size_t digits = strspn(name + 5, "0123456789");
    return digits > 0 && strcmp(name + 5 + digits, ".hdf5") == 0;
}

cairn_status cairn_run_problems_clear(const char *folder, cairn_error *error)
{
    char inside[CAIRN_PATH_BYTES], path[CAIRN_PATH_BYTES];
    TRY(cairn_path_join(folder, "problems", inside, error));
    DIR *entries = opendir(inside);
    const struct dirent *entry;
    cairn_status status = CAIRN_OK;
    while (entries && status == CAIRN_OK && (entry = readdir(entries))) {
        if (!is_ours(entry->d_name))
            continue;
        status = cairn_path_join(inside, entry->d_name, path, error);
        if (status == CAIRN_OK && unlink(path) != 0) {
            status = cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot remove: %s", strerror(errno));
            cairn_error_set_file(error, path);
        }
    }
    if (entries)
        closedir(entries);
    return status;
}

static bool is_asked_for(const cairn_scene *scene, int64_t step)
{
    const cairn_list *list = &scene->run.save_problem;
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == (double)step)
            return true;
    return false;
}

static cairn_status problem_path(const char *folder, int64_t step, char *path, cairn_error *error)
{
    char inside[CAIRN_PATH_BYTES], name[64];
    TRY(cairn_path_join(folder, "problems", inside, error));
    TRY(cairn_folder_create(inside, error));
    snprintf(name, sizeof name, "step_%06" PRId64 ".hdf5", step);
    return cairn_path_join(inside, name, path, error);
}

static cairn_status write_problem(const char *path, const cairn_scene *scene, int64_t step,
                                  const char *solver, cairn_error *error)
{
    char text[320];
    const double *r;
    const cairn_problem *p = cairn_world_problem(scene->world, &r);
    if (!p)
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL, "the world keeps no problem");
    snprintf(text, sizeof text, "%s: step %" PRId64 " to t = %g s, scheme %s", scene->title, step,
             cairn_world_time(scene->world), scene->step.scheme);
    return cairn_fclib_save_problem(path, p, text, solver, r, error);
}

static int64_t file_bytes(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

cairn_status cairn_run_problems_step(cairn_run_problems *problems, const char *folder,
                                     const cairn_scene *scene, int64_t step,
                                     const cairn_step_report *report, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    bool asked = is_asked_for(scene, step);
    bool full =
        problems->missed >= CAIRN_RUN_MOST_PROBLEMS || problems->bytes >= CAIRN_RUN_PROBLEM_BYTES;
    if (!asked && (report->solve.converged || full))
        return CAIRN_OK;
    TRY(problem_path(folder, step, path, error));
    cairn_status status = write_problem(path, scene, step, report->solve.solver, error);
    if (status == CAIRN_UNSUPPORTED && !asked) {
        *error = (cairn_error){ 0 };
        return CAIRN_OK; /* the file cannot hold such a problem, and nobody asked for it */
    }
    TRY(status);
    problems->written++;
    if (!asked) {
        problems->missed++;
        problems->bytes += file_bytes(path);
    }
    return CAIRN_OK;
}
