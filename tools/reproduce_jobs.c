/* reproduce_jobs.c - entries in processes of their own, several at a time.
 *
 * A process computes one entry, draws its figures and sends the rows and the figures' names through
 * a pipe. What ends a process, a crash or no memory, so ends one entry and no other. The texts of
 * figures are constants of the program: their addresses hold in the parent as well. */
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

#include "ending/interrupt.h"
#include "progress.h"
#include "reproduce.h"

enum { MOST_JOBS = 64, CHUNK = 1 << 16, POLL_MS = 200 };

/* What a process sends first; its rows and its figures follow. */
typedef struct head {
    cairn_status status;
    int findings, figures, undrawn;
    bool no_gnuplot;
    char note[sizeof((cairn_study *)0)->note];
} head;

/* An entry at work; item NULL: none. */
typedef struct job {
    cairn_computed *item;
    pid_t process;
    int pipe;
    double began;         /* s, clock */
    char (*bytes)[CHUNK]; /* as they arrived */
    int chunks, capacity;
    size_t count; /* of bytes */
} job;

/* All that is at work. */
typedef struct crew {
    const cairn_jobs *jobs;
    int width; /* places for jobs */
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

static bool send_bytes(int pipe, const void *bytes, size_t count)
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

static int compute(const cairn_jobs *jobs, cairn_computed *c, int pipe)
{
    cairn_study *study = &c->study;
    /* others may be at work beside it, and times are of one core */
    *study = (cairn_study){ .quick = jobs->quick, .threads = 1 };
    cairn_status status = c->entry->run(study);
    for (int i = 0; i < study->figure_count; i++)
        cairn_figure_draw(jobs->folder, c, i);
    head h = { .status = status != CAIRN_OK ? status : study->status,
               .findings = study->finding_count,
               .figures = study->figure_count,
               .undrawn = c->undrawn,
               .no_gnuplot = c->no_gnuplot };
    memcpy(h.note, study->note, sizeof h.note);
    bool sent = send_bytes(pipe, &h, sizeof h) &&
                send_bytes(pipe, study->findings, (size_t)h.findings * sizeof *study->findings) &&
                send_bytes(pipe, study->figures, (size_t)h.figures * sizeof *study->figures);
    cairn_study_clear(study);
    return sent ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void become_job(const cairn_jobs *jobs, cairn_computed *item, const int ends[2])
{
    cairn_interrupt_forget();
    close(ends[0]);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC); /* gnuplot shall not hold it open */
    exit(compute(jobs, item, ends[1]));
}

/* ---- start and end --------------------------------------------------------------------------- */

static void end_item(crew *c, cairn_computed *item)
{
    item->state = ENTRY_ENDED;
    cairn_progress_end(&c->view);
    c->jobs->ended(c->jobs->context, item);
}

static void start(crew *c, job *place, cairn_computed *item)
{
    int ends[2];
    pid_t process = -1;
    fflush(NULL); /* or the child would print what is waiting once more */
    if (pipe(ends) == 0) {
        process = fork();
        if (process == 0)
            become_job(c->jobs, item, ends);
        close(ends[1]);
        if (process < 0)
            close(ends[0]);
    }
    item->state = ENTRY_AT_WORK;
    if (process < 0) {
        snprintf(item->problem, sizeof item->problem, "no process for it: %s", strerror(errno));
        end_item(c, item);
        return;
    }
    *place = (job){ .item = item, .process = process, .pipe = ends[0], .began = now() };
}

/* Bytes of a message into a new block; NULL: none or no memory. */
static void *take(const char **at, int count, size_t size)
{
    void *block = cairn_block_take((size_t)count, size);
    if (block)
        memcpy(block, *at, (size_t)count * size);
    *at += (size_t)count * size;
    return block;
}

/* False: not a whole message. */
static bool unpack(const job *j)
{
    cairn_computed *c = j->item;
    cairn_study *study = &c->study;
    const char *at = (const char *)j->bytes;
    head h;
    if (j->count < sizeof h)
        return false;
    memcpy(&h, at, sizeof h);
    at += sizeof h;
    if (j->count != sizeof h + (size_t)h.findings * sizeof *study->findings +
                        (size_t)h.figures * sizeof *study->figures)
        return false;
    study->findings = take(&at, h.findings, sizeof *study->findings);
    study->figures = take(&at, h.figures, sizeof *study->figures);
    study->finding_count = study->findings ? h.findings : 0;
    study->figure_count = study->figures ? h.figures : 0;
    memcpy(study->note, h.note, sizeof h.note);
    c->undrawn = h.undrawn;
    c->no_gnuplot = h.no_gnuplot;
    if (h.status != CAIRN_OK)
        snprintf(c->problem, sizeof c->problem, "%s", cairn_status_text(h.status));
    return true;
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

/* Wait for the process; what it sent, or how it ended, goes into the item. */
static void reap(job *j)
{
    int how = 0;
    double before = cpu_so_far();
    cairn_computed *c = j->item;
    close(j->pipe); /* first: a process that still writes ends then */
    while (waitpid(j->process, &how, 0) < 0 && errno == EINTR)
        continue;
    c->seconds = now() - j->began;
    c->cpu = cpu_so_far() - before;
    if (WIFSIGNALED(how))
        snprintf(c->problem, sizeof c->problem, "its process was ended by signal %d (%s)",
                 WTERMSIG(how), strsignal(WTERMSIG(how)));
    else if (!unpack(j))
        snprintf(c->problem, sizeof c->problem, "its process ended without a result");
    cairn_block_free(j->bytes);
    j->item = NULL;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/* The longest that waits; NULL: none. */
static cairn_computed *next_item(const cairn_jobs *jobs)
{
    cairn_computed *next = NULL;
    for (int i = 0; i < jobs->count; i++) {
        cairn_computed *item = &jobs->items[i];
        if (item->state == ENTRY_WAITS && (!next || item->entry->cpu > next->entry->cpu))
            next = item;
    }
    return next;
}

/* Fill free places; false: nothing is at work and nothing waits. */
static bool start_more(crew *c)
{
    cairn_computed *next;
    bool busy = false;
    for (int i = 0; i < c->width; i++) {
        while (!c->running[i].item && (next = next_item(c->jobs)))
            start(c, &c->running[i], next);
        busy = busy || c->running[i].item;
    }
    return busy;
}

/* Read what came; false: the process has closed its end, or there is no memory for more. */
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

/* Wait a moment, and end what has ended. */
static void wait_some(crew *c)
{
    struct pollfd ends[MOST_JOBS];
    for (int i = 0; i < c->width; i++) { /* poll passes over ends that are negative */
        const job *j = &c->running[i];
        ends[i] = (struct pollfd){ .fd = j->item ? j->pipe : -1, .events = POLLIN };
    }
    if (poll(ends, (nfds_t)c->width, POLL_MS) <= 0 || cairn_interrupt_signal())
        return;
    for (int i = 0; i < c->width; i++) {
        cairn_computed *item = c->running[i].item;
        if (!item || !ends[i].revents || receive(&c->running[i]))
            continue;
        reap(&c->running[i]);
        end_item(c, item);
    }
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Seconds that an item is taken to need. With --quick all are short. */
static double weight(const crew *c, const cairn_computed *item)
{
    return c->jobs->quick ? fmin(item->entry->cpu, 4) : item->entry->cpu;
}

/* Share of the work that is done, as far as the weights are right. */
static double share_done(const crew *c)
{
    double total = 0, done = 0;
    for (int i = 0; i < c->jobs->count; i++) {
        const cairn_computed *item = &c->jobs->items[i];
        total += weight(c, item);
        done += item->state == ENTRY_ENDED ? weight(c, item) : 0;
    }
    for (int i = 0; i < c->width; i++)
        if (c->running[i].item)
            done += fmin(now() - c->running[i].began, 0.95 * weight(c, c->running[i].item));
    return done / total;
}

static void show(crew *c)
{
    char text[512], left[32];
    double done = share_done(c), passed = now() - c->view.started;
    int ended = 0;
    if (!cairn_progress_due(&c->view, done))
        return;
    for (int i = 0; i < c->jobs->count; i++)
        ended += c->jobs->items[i].state == ENTRY_ENDED;
    cairn_progress_left(passed > 2 && done > 0 ? passed * (1 - done) / done : NAN, left,
                        sizeof left);
    int used = snprintf(text, sizeof text, "%3.0f%% %s left  %d of %d items", 100 * done, left,
                        ended, c->jobs->count);
    for (int i = 0; i < c->width && used < (int)sizeof text; i++)
        if (c->running[i].item)
            used += snprintf(text + used, sizeof text - (size_t)used, "  %s",
                             c->running[i].item->entry->name);
    cairn_progress_print(&c->view, text, done);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* End what is at work; it counts as not begun. */
static void stop(crew *c)
{
    for (int i = 0; i < c->width; i++) {
        cairn_computed *item = c->running[i].item;
        if (!item)
            continue;
        kill(c->running[i].process, SIGTERM);
        reap(&c->running[i]);
        cairn_study_clear(&item->study);
        item->state = ENTRY_WAITS;
        item->problem[0] = 0;
    }
}

void cairn_jobs_run(const cairn_jobs *jobs)
{
    crew c = { .jobs = jobs, .view = cairn_progress_start(jobs->quiet) };
    c.width = jobs->width < 1 ? 1 : jobs->width > MOST_JOBS ? MOST_JOBS : jobs->width;
    cairn_interrupt_watch();
    while (!cairn_interrupt_signal() && start_more(&c)) {
        wait_some(&c);
        show(&c);
    }
    cairn_progress_end(&c.view);
    stop(&c);
}
