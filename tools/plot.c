/* plot.c - see plot.h. */
#include "plot.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cairn/output.h"

enum { BROKEN = 126, NOT_THERE = 127, PATH_BYTES = 4096 };

/* In the child: become gnuplot, or end with a code that tells why not. */
static void become_gnuplot(const char *folder, const char *script)
{
    if (chdir(folder) == 0)
        execlp("gnuplot", "gnuplot", script, (char *)NULL);
    _exit(errno == ENOENT ? NOT_THERE : BROKEN);
}

/* The exit code of gnuplot; -1 when it was ended or never began. */
static int run_gnuplot(const char *folder, const char *script)
{
    int how = 0;
    fflush(NULL); /* or the child would print what is waiting once more */
    pid_t child = fork();
    if (child == 0)
        become_gnuplot(folder, script);
    if (child < 0)
        return -1;
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

cairn_plot_outcome cairn_plot_draw(const char *folder, const char *script, const char *picture)
{
    char whole[PATH_BYTES], part[PATH_BYTES];
    int length = snprintf(part, sizeof part, "%s/%s.part", folder, picture);
    if (length < 0 || (size_t)length >= sizeof part)
        return PLOT_FAILED;
    snprintf(whole, sizeof whole, "%s/%s", folder, picture);
    remove(part); /* so no link is followed */
    int code = run_gnuplot(folder, script);
    if (code == 0 && cairn_output_place(part, whole, NULL) == CAIRN_OK)
        return PLOT_DRAWN;
    remove(part);
    return code == NOT_THERE ? PLOT_NO_GNUPLOT : PLOT_FAILED;
}
