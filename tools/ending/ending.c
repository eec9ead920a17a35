/* ending.c - error messages and signals of the program; see ending.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ending.h"

/* ---- error messages -------------------------------------------------------------------------- */

/* Whether the operating system or the scene is at fault. */
static int exit_code(cairn_status status, const cairn_error *error)
{
    switch (status) {
    case CAIRN_OK:
        return EXIT_DONE;
    case CAIRN_NO_MEMORY:
    case CAIRN_IO_FAILED:
        return EXIT_FAILED;
    case CAIRN_NOT_FOUND:
        return error->line > 0 || error->key[0] ? EXIT_SCENE : EXIT_FAILED;
    default:
        return EXIT_SCENE;
    }
}

int cairn_error_print(cairn_status status, const cairn_error *error)
{
    char shown[4 * sizeof error->message];
    cairn_text_escape(error->file[0] ? error->file : "cairn", shown, sizeof shown);
    fprintf(stderr, "%s", shown);
    if (error->line > 0)
        fprintf(stderr, ":%d:%d", error->line, error->column);
    cairn_text_escape(error->key, shown, sizeof shown);
    if (error->key[0])
        fprintf(stderr, ": %s", shown);
    cairn_text_escape(error->message[0] ? error->message : cairn_status_text(status), shown,
                      sizeof shown);
    fprintf(stderr, ": %s\n", shown);
    return exit_code(status, error);
}

/* ---- signals --------------------------------------------------------------------------------- */

/* A signal handler can only reach globals; these are the only ones of the program. */

static volatile sig_atomic_t arrived;
static struct timespec arrived_at; /* only handlers use it, and they do not interrupt each other */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* Schedulers and timeout(1) repeat a signal at once: to the process and to its group. */
static bool is_repetition(int number)
{
    struct timespec now;
    if (number == SIGINT && arrived == SIGINT)
        return false; /* Ctrl-C twice */
    clock_gettime(CLOCK_MONOTONIC, &now);
    double passed = (double)(now.tv_sec - arrived_at.tv_sec) +
                    1e-9 * (double)(now.tv_nsec - arrived_at.tv_nsec);
    return passed < 1;
}

static void note(int number)
{
    if (!arrived) {
        clock_gettime(CLOCK_MONOTONIC, &arrived_at);
        arrived = number;
    } else if (!is_repetition(number)) {
        signal(number, SIG_DFL);
        raise(number); /* it comes when this handler returns */
    }
}

void cairn_interrupt_watch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNALS; i++)
        sigaddset(&action.sa_mask, signals[i]);
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction before;
        /* signals that the caller ignores (nohup) stay ignored */
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void cairn_interrupt_forget(void)
{
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler == note)
            signal(signals[i], SIG_DFL);
    }
}

int cairn_interrupt_signal(void)
{
    return arrived;
}
