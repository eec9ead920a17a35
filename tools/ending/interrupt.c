/* interrupt.c - see interrupt.h. A signal handler can reach nothing but a global; this is the only
 * one of the program. */
#include "interrupt.h"

#include <signal.h>
#include <string.h>

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
        /* what the caller of the program ignores (nohup) stays ignored */
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
