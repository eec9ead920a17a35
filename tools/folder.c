/* folder.c - see folder.h. */
#include "folder.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command.h"

static bool make(char *path)
{
    for (char *slash = path + 1; *slash; slash++) {
        if (*slash != '/')
            continue;
        *slash = 0;
        mkdir(path, 0777); /* parents may be there, and need not be ours */
        *slash = '/';
    }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

int cairn_folder_prepare(const char *command, const char *folder)
{
    char path[4096];
    struct stat found;
    const char *problem = NULL;
    if (!folder[0] || snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path)
        problem = "expected the name of a folder, 1 to 4095 bytes long";
    else if (!make(path) || stat(path, &found) != 0)
        problem = strerror(errno);
    else if (!S_ISDIR(found.st_mode))
        problem = "found a file, expected a folder";
    else if (access(path, W_OK | X_OK) != 0)
        problem = strerror(errno);
    if (problem)
        fprintf(stderr, "cairn %s: %.200s: %s\n", command, folder, problem);
    return problem ? EXIT_FAILED : EXIT_DONE;
}
