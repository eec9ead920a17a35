/* jobs.c - work in processes of its own, several at a time; see command.h.
 *
 * A process computes one item and sends its result through a pipe. A crash or lack of memory
 * therefore ends one item and no other. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "ending/ending.h"
#include "studies/study.h"

enum { MOST_JOBS = 64, CHUNK = 1 << 16, POLL_MS = 200 };

typedef enum item_state { WAITS, AT_WORK, ENDED } item_state;

/* An item in progress. */
typedef struct job {
    int item; /* -1: none */
    pid_t process;
    int pipe;
    double began;         /* s, clock */
    char (*bytes)[CHUNK]; /* as they arrived */
    int chunks, capacity;
    size_t count; /* of bytes */
} job;

/* All jobs in progress. */
typedef struct crew {
    const cairn_work *work;
    uint8_t *states; /* item_state, of each item */
    int width;       /* places for jobs */
    job running[MOST_JOBS];
    cairn_progress_view view;
} crew;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- in the child ---------------------------------------------------------------------------- */

bool cairn_job_send(int pipe, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t sent = write(pipe, at, count);
        if (sent < 0 && errno != EINTR)
            return false;
        at += sent > 0 ? sent : 0;
        count -= sent > 0 ? (size_t)sent : 0;
    }
    return true;
}

static void become_job(const cairn_work *work, int item, const int ends[2])
{
    cairn_interrupt_forget();
    close(ends[0]);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC); /* gnuplot must not hold it open */
    exit(work->compute(work->context, item, ends[1]));
}

/* ---- start and end --------------------------------------------------------------------------- */

static void end_item(crew *c, int item, const cairn_job_end *end)
{
    c->states[item] = ENDED;
    cairn_progress_end(&c->view);
    c->work->ended(c->work->context, item, end);
}

static void start(crew *c, job *place, int item)
{
    int ends[2];
    pid_t process = -1;
    fflush(NULL); /* or the child would print buffered output again */
    if (pipe(ends) == 0) {
        process = fork();
        if (process == 0)
            become_job(c->work, item, ends);
        close(ends[1]);
        if (process < 0)
            close(ends[0]);
    }
    c->states[item] = AT_WORK;
    if (process < 0) {
        cairn_job_end end = { .code = -1 };
        snprintf(end.problem, sizeof end.problem, "no process could be started: %s",
                 strerror(errno));
        end_item(c, item, &end);
        return;
    }
    *place = (job){ .item = item, .process = process, .pipe = ends[0], .began = now() };
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

/* CPU time of all processes that were waited for. */
static double cpu_so_far(void)
{
    struct rusage used = { 0 };
    getrusage(RUSAGE_CHILDREN, &used);
    return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

/* Wait for the process. What it sent is lent until the bytes of the job are freed. */
static cairn_job_end reap(job *j)
{
    int how = 0;
    double before = cpu_so_far();
    cairn_job_end end = { .bytes = (const char *)j->bytes, .count = j->count };
    close(j->pipe); /* first: a process that is still writing then ends */
    while (waitpid(j->process, &how, 0) < 0 && errno == EINTR)
        continue;
    end.seconds = now() - j->began;
    end.cpu = cpu_so_far() - before;
    end.code = WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    if (WIFSIGNALED(how))
        snprintf(end.problem, sizeof end.problem, "its process was ended by signal %d (%s)",
                 WTERMSIG(how), strsignal(WTERMSIG(how)));
    j->item = -1;
    return end;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* The longest waiting item; -1: none. */
static int next_item(const crew *c)
{
    int next = -1;
    double longest = -1;
    for (int i = 0; i < c->work->count; i++) {
        double weight = c->states[i] == WAITS ? c->work->weight(c->work->context, i) : -1;
        if (weight > longest) {
            next = i;
            longest = weight;
        }
    }
    return next;
}

/* Start jobs in free places; false: nothing is running and nothing waits. */
static bool start_more(crew *c)
{
    int next;
    bool busy = false;
    for (int i = 0; i < c->width; i++) {
        while (c->running[i].item < 0 && (next = next_item(c)) >= 0)
            start(c, &c->running[i], next);
        busy = busy || c->running[i].item >= 0;
    }
    return busy;
}

/* Read what has arrived; false: the process has closed its end, or memory is exhausted. */
static bool receive(job *j)
{
    if (cairn_block_grow(&j->bytes, j->chunks, &j->capacity, CHUNK) != CAIRN_OK)
        return false;
    ssize_t got = read(j->pipe, (char *)j->bytes + j->count, CHUNK);
    if (got < 0)
        return errno == EINTR;
    j->count += (size_t)got;
    j->chunks = (int)((j->count + CHUNK - 1) / CHUNK) + 1; /* room for a whole chunk is kept */
    return got > 0;
}

/* Wait a moment, and finish the jobs that have ended. */
static void wait_some(crew *c)
{
    struct pollfd ends[MOST_JOBS];
    for (int i = 0; i < c->width; i++) { /* poll ignores negative descriptors */
        const job *j = &c->running[i];
        ends[i] = (struct pollfd){ .fd = j->item >= 0 ? j->pipe : -1, .events = POLLIN };
    }
    if (poll(ends, (nfds_t)c->width, POLL_MS) <= 0 || cairn_interrupt_signal())
        return;
    for (int i = 0; i < c->width; i++) {
        int item = c->running[i].item;
        if (item < 0 || !ends[i].revents || receive(&c->running[i]))
            continue;
        cairn_job_end end = reap(&c->running[i]);
        end_item(c, item, &end);
        cairn_block_free(c->running[i].bytes);
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Completed fraction of the work, by the weights. */
static double share_done(const crew *c)
{
    const cairn_work *w = c->work;
    double total = 0, done = 0;
    for (int i = 0; i < w->count; i++) {
        total += w->weight(w->context, i);
        done += c->states[i] == ENDED ? w->weight(w->context, i) : 0;
    }
    for (int i = 0; i < c->width; i++)
        if (c->running[i].item >= 0)
            done +=
                fmin(now() - c->running[i].began, 0.95 * w->weight(w->context, c->running[i].item));
    return done / total;
}

static void show(crew *c)
{
    char text[512], left[32];
    double done = share_done(c), passed = now() - c->view.started;
    int ended = 0;
    if (!cairn_progress_due(&c->view, done))
        return;
    for (int i = 0; i < c->work->count; i++)
        ended += c->states[i] == ENDED;
    cairn_progress_left(passed > 2 && done > 0 ? passed * (1 - done) / done : NAN, left,
                        sizeof left);
    int used = snprintf(text, sizeof text, "%3.0f%% %s left  %d of %d %s", 100 * done, left, ended,
                        c->work->count, c->work->noun);
    for (int i = 0; i < c->width && used < (int)sizeof text; i++)
        if (c->running[i].item >= 0)
            used += snprintf(text + used, sizeof text - (size_t)used, "  %s",
                             c->work->name(c->work->context, c->running[i].item));
    cairn_progress_print(&c->view, text, done);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* End the jobs in progress; their items count as not started. */
static void stop(crew *c)
{
    for (int i = 0; i < c->width; i++)
        if (c->running[i].item >= 0)
            kill(c->running[i].process, SIGTERM);
    for (int i = 0; i < c->width; i++) {
        if (c->running[i].item < 0)
            continue;
        reap(&c->running[i]);
        cairn_block_free(c->running[i].bytes);
    }
}

cairn_status cairn_work_do(const cairn_work *work)
{
    crew c = { .work = work, .view = cairn_progress_start(work->quiet) };
    c.states = cairn_block_take((size_t)work->count + 1, sizeof *c.states);
    if (!c.states)
        return CAIRN_NO_MEMORY;
    c.width = work->width < 1 ? 1 : work->width > MOST_JOBS ? MOST_JOBS : work->width;
    for (int i = 0; i < c.width; i++)
        c.running[i].item = -1;
    cairn_interrupt_watch();
    while (!cairn_interrupt_signal() && start_more(&c)) {
        wait_some(&c);
        show(&c);
    }
    cairn_progress_end(&c.view);
    stop(&c);
    cairn_block_free(c.states);
    return CAIRN_OK;
}
