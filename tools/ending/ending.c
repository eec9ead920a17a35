/* ending.c - error messages and signals of the program; see ending.h. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

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

/* A signal handler can only reach a global; this is the only one of the program. */

static volatile sig_atomic_t arrived;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
enum { SIGNALS = sizeof signals / sizeof signals[0] };

static void note(int number)
{
    arrived = number;
}

void cairn_interrupt_watch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = note;
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    sigemptyset(&action.sa_mask);
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
