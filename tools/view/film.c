/* film.c - pictures and films of a run, drawn by the page of the viewer in a headless chromium; and
 * showing runs to people. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ending/ending.h"
#include "studies/study.h"
#include "view.h"

enum { NOT_THERE = 127, PICTURES_A_SECOND = 30, MOST_SECONDS = 3600 };

static cairn_status fail(cairn_error *error, cairn_status status, const char *text)
{
    snprintf(error->message, sizeof error->message, "%s", text);
    return status;
}

/* ---- programs ------------------------------------------------------------------------------- */

/* Start a program with its output discarded; `input` becomes its standard input unless it is -1. */
static pid_t start(char *const *words, int input)
{
    fflush(NULL);
    pid_t child = fork();
    if (child != 0)
        return child;
    int nowhere = open("/dev/null", O_RDWR);
    cairn_interrupt_forget();
    if (dup2(input >= 0 ? input : nowhere, 0) >= 0 && dup2(nowhere, 1) >= 0 &&
        dup2(nowhere, 2) >= 0)
        execvp(words[0], words);
    _exit(NOT_THERE);
}

/* Its exit code; -1: it was killed by a signal. */
static int wait_for(pid_t child)
{
    int how = 0;
    while (waitpid(child, &how, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

/* In one of the folders of PATH. */
static bool is_installed(const char *name)
{
    char *const words[] = { "sh", "-c", "command -v \"$0\"", (char *)name, NULL };
    return wait_for(start(words, -1)) == 0;
}

static const char *find_browser(void)
{
    static const char *const names[] = { "chromium", "chromium-browser", "google-chrome" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_installed(names[i]))
            return names[i];
    return NULL;
}

/* ---- drawing -------------------------------------------------------------------------------- */

static pid_t start_browser(const char *program, const cairn_view_film *film, const char *address,
                           const char *profile)
{
    char page[1024], size[64], home[512];
    snprintf(page, sizeof page, "%s?film=%.17g&rate=%d&width=%d&height=%d%s", address, film->time,
             PICTURES_A_SECOND, film->width, film->height, film->look ? film->look : "");
    snprintf(size, sizeof size, "--window-size=%d,%d", film->width, film->height);
    snprintf(home, sizeof home, "--user-data-dir=%s", profile);
    /* the browser refuses to run as root without the second flag; the page comes only from us */
    char *const words[] = { (char *)program,
                            "--headless=new",
                            geteuid() == 0 ? "--no-sandbox" : "--no-first-run",
                            "--hide-scrollbars",
                            "--force-device-scale-factor=1",
                            "--enable-unsafe-swiftshader",
                            "--ignore-gpu-blocklist",
                            "--no-default-browser-check",
                            "--disable-extensions",
                            "--disable-background-networking",
                            size,
                            home,
                            page,
                            NULL };
    return start(words, -1);
}

/* Wait until the page reports that it is done; false: it never did. */
static bool wait_for_page(cairn_view_server *server, pid_t browser)
{
    for (int i = 0; i < 20 * MOST_SECONDS; i++) {
        if (cairn_view_server_tend(server))
            return true;
        if (cairn_interrupt_signal() != 0 || waitpid(browser, NULL, WNOHANG) != 0)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
    }
    return false;
}

/* What came of the pictures; `done`: the page reported that it is done. */
static cairn_status outcome(const cairn_view_server *server, bool done, cairn_error *error)
{
    const char *refusal = done ? cairn_view_server_refusal(server) : NULL;
    if (!done)
        return fail(error, CAIRN_IO_FAILED, "the browser drew no pictures");
    if (!refusal)
        return CAIRN_OK;
    *error = (cairn_error){ .key = "--look" };
    return fail(error, CAIRN_BAD_INPUT, refusal);
}

/* All pictures into `out`, one after the other. */
static cairn_status draw(const cairn_view_film *film, const char *program, FILE *out,
                         cairn_error *error)
{
    const char *reason;
    cairn_view_server *server;
    char profile[] = "/tmp/cairn-film-XXXXXX";
    cairn_view_runs runs = { { film->run }, { film->name }, 1, out };
    if (!mkdtemp(profile))
        return fail(error, CAIRN_IO_FAILED, "cannot make a temporary folder");
    if (!cairn_view_server_start(&runs, &server, &reason))
        return fail(error, CAIRN_IO_FAILED, reason);
    pid_t browser = start_browser(program, film, cairn_view_server_address(server), profile);
    bool done = browser > 0 && wait_for_page(server, browser);
    if (browser > 0 && waitpid(browser, NULL, WNOHANG) == 0) {
        kill(browser, SIGTERM);
        wait_for(browser);
    }
    cairn_status status = outcome(server, done, error);
    cairn_view_server_stop(server);
    char *const clear[] = { "rm", "-rf", "--", profile, NULL };
    wait_for(start(clear, -1));
    return status;
}

static cairn_status draw_picture(const cairn_view_film *film, const char *program,
                                 cairn_error *error)
{
    cairn_output *file;
    TRY(cairn_output_create(film->path, &file, error));
    cairn_status status = draw(film, program, cairn_output_stream(file), error);
    if (status == CAIRN_OK)
        return cairn_output_commit(file, error);
    cairn_output_abandon(file);
    return status;
}

/* ---- films ---------------------------------------------------------------------------------- */

/* ffmpeg reads pictures from the pipe; what it writes follows from the name of the file. */
static pid_t start_ffmpeg(const char *path, int input)
{
    char rate[16];
    snprintf(rate, sizeof rate, "%d", PICTURES_A_SECOND);
    char *const words[] = { "ffmpeg",     "-y",
                            "-loglevel",  "error",
                            "-f",         "image2pipe",
                            "-c:v",       "png",
                            "-framerate", rate,
                            "-i",         "-",
                            "-vf",        "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                            "-pix_fmt",   "yuv420p",
                            (char *)path, NULL };
    return start(words, input);
}

static cairn_status draw_into(const char *path, const cairn_view_film *film, const char *program,
                              cairn_error *error)
{
    int ends[2];
    if (pipe(ends) != 0)
        return fail(error, CAIRN_IO_FAILED, "cannot make a pipe");
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN); /* ffmpeg may stop reading; its exit code says why */
    pid_t ffmpeg = start_ffmpeg(path, ends[0]);
    close(ends[0]);
    FILE *out = fdopen(ends[1], "wb");
    cairn_status status = out && ffmpeg > 0 ? draw(film, program, out, error)
                                            : fail(error, CAIRN_IO_FAILED, "cannot start ffmpeg");
    if (out)
        fclose(out);
    int code = ffmpeg > 0 ? wait_for(ffmpeg) : -1;
    if (status == CAIRN_OK && code != 0)
        status = fail(error, CAIRN_IO_FAILED, "ffmpeg could not write the film");
    return status;
}

/* The film gets its name when it is complete; until then `.part` stands before its ending, from
 * which ffmpeg takes the format. */
static cairn_status draw_film(const cairn_view_film *film, const char *program, cairn_error *error)
{
    char part[4200];
    const char *ending = strrchr(film->path, '.');
    snprintf(part, sizeof part, "%.*s.part%.16s", (int)(ending - film->path), film->path, ending);
    FILE *first = fopen(part, "wb");
    if (!first) {
        snprintf(error->message, sizeof error->message, "cannot create %.300s: %s", part,
                 strerror(errno));
        return CAIRN_IO_FAILED;
    }
    fclose(first);
    cairn_status status = draw_into(part, film, program, error);
    if (status == CAIRN_OK)
        return cairn_output_place(part, film->path, error);
    unlink(part);
    return status;
}

cairn_status cairn_view_film_make(const cairn_view_film *film, cairn_error *error)
{
    const char *program = find_browser();
    if (!program)
        return fail(error, CAIRN_IO_FAILED,
                    "pictures need chromium, which is not installed; "
                    "on Debian: apt install chromium");
    if (!isnan(film->time))
        return draw_picture(film, program, error);
    if (!is_installed("ffmpeg"))
        return fail(error, CAIRN_IO_FAILED,
                    "films need ffmpeg, which is not installed; "
                    "on Debian: apt install ffmpeg");
    return draw_film(film, program, error);
}

/* ---- showing runs ---------------------------------------------------------------------------- */

/* Runs in the browser: opens them, serves them, and waits for the end.
 *
 * A run in progress is shown by a separate process, which reads what the run has written
 * (cairn/recording.h): the run does not depend on it and never waits. */

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
