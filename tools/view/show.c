/* show.c - runs in the browser: opens them, serves them, and waits for the end.
 *
 * A run in progress is shown by a separate process, which reads what the run has written
 * (cairn/recording.h): the run does not depend on it and never waits. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ending/ending.h"
#include "server.h"
#include "view.h"

static void sleep_shortly(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* ---- the browser ---------------------------------------------------------------------------- */

/* Whether there is a screen to open a window on. */
static bool has_screen(void)
{
    return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
}

/* In a detached process, with its output discarded. */
static void open_browser(const char *address)
{
    pid_t child = fork();
    if (child == 0) {
        int nowhere = open("/dev/null", O_RDWR);
        cairn_interrupt_forget();
        if (nowhere >= 0 && dup2(nowhere, 1) >= 0 && dup2(nowhere, 2) >= 0 && fork() == 0)
            execlp("xdg-open", "xdg-open", address, (char *)NULL);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void tell_address(const char *address, bool browser)
{
    printf("The viewer is at %s\nPress Ctrl-C, or 'End' in the page, to stop it.\n", address);
    fflush(stdout);
    if (browser && has_screen())
        open_browser(address);
}

/* ---- showing -------------------------------------------------------------------------------- */

/* The last part of a path. */
static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static int serve(const cairn_view_runs *runs, bool browser)
{
    const char *reason;
    cairn_view_server *server;
    if (!cairn_view_server_start(runs, &server, &reason)) {
        fprintf(stderr, "cairn view: %s\n", reason);
        return EXIT_FAILED;
    }
    tell_address(cairn_view_server_address(server), browser);
    while (cairn_interrupt_signal() == 0 && !cairn_view_server_tend(server))
        sleep_shortly();
    cairn_view_server_stop(server);
    return EXIT_DONE;
}

int cairn_view_show(const char *const *paths, int count, bool browser)
{
    cairn_view_runs runs = { .count = 0 };
    cairn_error error = { 0 };
    cairn_status status = CAIRN_OK;
    cairn_interrupt_watch();
    for (int i = 0; i < count && status == CAIRN_OK; i++) {
        status = cairn_recording_open(paths[i], &runs.items[i], &error);
        runs.names[i] = short_name(paths[i]);
        runs.count += status == CAIRN_OK;
    }
    int code = status == CAIRN_OK ? serve(&runs, browser) : cairn_error_print(status, &error);
    for (int i = 0; i < runs.count; i++)
        cairn_recording_close(runs.items[i]);
    return code;
}

/* ---- beside a run --------------------------------------------------------------------------- */

/* Whether the folder holds a file of that name that was written at or after `since`. */
static bool is_new(const char *folder, const char *name, struct timespec since)
{
    char path[4200];
    struct stat about;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (stat(path, &about) != 0 || about.st_size == 0)
        return false;
    return about.st_mtim.tv_sec > since.tv_sec ||
           (about.st_mtim.tv_sec == since.tv_sec && about.st_mtim.tv_nsec >= since.tv_nsec);
}

/* The child: wait for the run's first flush, or for its end. */
static int show_beside(const char *folder, struct timespec since, pid_t run, bool browser)
{
    cairn_recording *first = NULL;
    cairn_error error = { 0 };
    while (cairn_interrupt_signal() == 0) {
        bool there = is_new(folder, "run.h5.part", since) || is_new(folder, "run.h5", since);
        if (there && cairn_recording_open(folder, &first, &error) == CAIRN_OK)
            break;
        if (getppid() != run)
            return EXIT_FAILED;
        sleep_shortly();
    }
    cairn_recording_close(first);
    return first ? cairn_view_show(&folder, 1, browser) : EXIT_DONE;
}

pid_t cairn_view_begin_beside(const char *folder, bool browser)
{
    const char *reason;
    struct timespec since;
    if (!cairn_view_is_built(&reason)) {
        fprintf(stderr, "cairn run: --view: %s\n", reason);
        return -1;
    }
    clock_gettime(CLOCK_REALTIME, &since);
    since.tv_sec -= since.tv_nsec < 20000000; /* file times have the resolution of clock ticks */
    since.tv_nsec = (since.tv_nsec + 980000000) % 1000000000;
    fflush(stdout);
    pid_t run = getpid(), child = fork();
    if (child == 0) {
        int code = show_beside(folder, since, run, browser);
        fflush(stdout);
        _exit(code);
    }
    if (child < 0)
        fprintf(stderr, "cairn run: --view: %s\n", strerror(errno));
    return child;
}

void cairn_view_end_beside(pid_t viewer, bool close)
{
    if (viewer <= 0)
        return;
    if (close)
        kill(viewer, SIGTERM);
    else
        fprintf(stderr, "The viewer stays open until Ctrl-C, or 'End' in the page.\n");
    bool told = close;
    while (waitpid(viewer, NULL, WNOHANG) == 0) {
        if (!told && cairn_interrupt_signal() != 0) {
            kill(viewer, SIGTERM);
            told = true;
        }
        sleep_shortly();
    }
}
