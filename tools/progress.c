/* progress.c - progress of a run on the terminal, and pictures by gnuplot; see print.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cairn/output.h"
#include "print.h"

/* ---- progress -------------------------------------------------------------------------------- */

static const double redraw_seconds = 0.1, line_seconds = 10.0;

static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

cairn_progress_view cairn_progress_start(bool quiet)
{
    double now = clock_seconds();
    return (cairn_progress_view){
        .quiet = quiet, .terminal = isatty(STDERR_FILENO), .started = now, .shown = now
    };
}

void cairn_progress_left(double seconds, char *text, size_t capacity)
{
    if (!(seconds >= 0 && seconds < 1e8)) {
        snprintf(text, capacity, "?");
        return;
    }
    long whole = lround(seconds), hours = whole / 3600, minutes = whole / 60 % 60;
    if (hours > 0)
        snprintf(text, capacity, "%ld:%02ld:%02ld", hours, minutes, whole % 60);
    else
        snprintf(text, capacity, "%ld:%02ld", minutes, whole % 60);
}

/* A moving average of the speed: steps cost more once more bodies touch, so old steps count
 * less. */
static void update_speed(cairn_progress_view *view, double time, double now)
{
    const double memory_seconds = 5.0;
    double passed = now - view->shown;
    if (passed <= 0)
        return;
    double latest = (time - view->reached) / passed, keep = exp(-passed / memory_seconds);
    view->speed = view->speed > 0 ? keep * view->speed + (1 - keep) * latest : latest;
    view->reached = time;
}

/* Short enough for a terminal of 80 columns. */
static void format_state(const cairn_progress_view *view, const cairn_progress *p, char *text,
                         size_t capacity)
{
    char left[32];
    double rest = view->speed > 0 ? (p->duration - p->time) / view->speed : -1;
    cairn_progress_left(rest, left, sizeof left);
    int length = snprintf(
        text, capacity,
        "%3.0f%% %s left  t %.4g/%.4g s  step %lld  bodies %lld  contacts %d  res %.1e",
        100 * fmin(1, p->time / p->duration), left, p->time, p->duration, (long long)p->step,
        (long long)p->bodies, p->report->active, p->report->certificate.judgement.asked.relative);
    if (p->report->asleep > 0 && length > 0 && (size_t)length < capacity)
        snprintf(text + length, capacity - (size_t)length, "  asleep %d", p->report->asleep);
}

/* "[######....] state", in one line whatever the width. */
static void redraw(const char *state, double done)
{
    enum { WIDEST = 40 };
    char bar[WIDEST + 1];
    int columns = terminal_columns() - 1, room = columns - (int)strlen(state) - 3;
    int width = room < 0 ? 0 : room > WIDEST ? WIDEST : room;
    int filled = (int)(done * width);
    memset(bar, '.', sizeof bar);
    memset(bar, '#', (size_t)filled);
    bar[width] = '\0';
    fputs("\r\033[K", stderr);
    if (width >= 8)
        fprintf(stderr, "[%s] ", bar);
    fprintf(stderr, "%.*s", columns, state);
    fflush(stderr);
}

static bool is_due(cairn_progress_view *view, double done, double now)
{
    int tenths = (int)floor(10 * done + 1e-9);
    bool passed_mark = tenths > view->tenths;
    view->tenths = tenths;
    if (view->terminal)
        return now - view->shown >= redraw_seconds || done >= 1 - 1e-9;
    return passed_mark || now - view->shown >= line_seconds;
}

bool cairn_progress_due(cairn_progress_view *view, double done)
{
    return !view->quiet && is_due(view, done, clock_seconds());
}

void cairn_progress_print(cairn_progress_view *view, const char *state, double done)
{
    view->shown = clock_seconds();
    if (view->terminal)
        redraw(state, done);
    else
        fprintf(stderr, "%s\n", state);
    view->line_open = view->terminal;
}

void cairn_progress_show(cairn_progress_view *view, const cairn_progress *p)
{
    char state[256];
    double done = fmax(0, fmin(1, p->time / p->duration));
    if (!cairn_progress_due(view, done))
        return;
    update_speed(view, p->time, clock_seconds());
    format_state(view, p, state, sizeof state);
    cairn_progress_print(view, state, done);
}

void cairn_progress_end(cairn_progress_view *view)
{
    if (view->line_open)
        fputs("\n", stderr);
    view->line_open = false;
}

/* ---- pictures by gnuplot --------------------------------------------------------------------- */

enum { BROKEN = 126, NOT_THERE = 127, PATH_BYTES = 4096 };

/* In the child: become gnuplot, or exit with a code that gives the reason. */
static void become_gnuplot(const char *folder, const char *script)
{
    if (chdir(folder) == 0)
        execlp("gnuplot", "gnuplot", script, (char *)NULL);
    _exit(errno == ENOENT ? NOT_THERE : BROKEN);
}

/* The exit code of gnuplot; -1 if it was killed or never started. */
static int run_gnuplot(const char *folder, const char *script)
{
    int how = 0;
    fflush(NULL); /* or the child would print buffered output again */
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
    remove(part); /* so that no link is followed */
    int code = run_gnuplot(folder, script);
    if (code == 0 && cairn_output_place(part, whole, NULL) == CAIRN_OK)
        return PLOT_DRAWN;
    remove(part);
    return code == NOT_THERE ? PLOT_NO_GNUPLOT : PLOT_FAILED;
}
