/* interrupt.h - Ctrl-C, SIGTERM and SIGHUP (a terminal that is closed) end a run cleanly. */
#ifndef CAIRN_TOOLS_INTERRUPT_H
#define CAIRN_TOOLS_INTERRUPT_H

/* From now on SIGINT, SIGTERM and SIGHUP only leave a note, unless they are ignored; a second one
 * kills the program at once. */
void cairn_interrupt_watch(void);

/* For a child process: from now on they end it. */
void cairn_interrupt_forget(void);

/* The number of the signal that came, 0: none. */
int cairn_interrupt_signal(void);

#endif
