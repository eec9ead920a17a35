/* interrupt.c - see interrupt.h. A signal handler can reach nothing but a global; this is the only
 * one of the program. */
#include "interrupt.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t arrived;

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
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cairn_interrupt_signal(void)
{
    return arrived;
}
