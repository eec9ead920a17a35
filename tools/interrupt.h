/* interrupt.h - Ctrl-C and SIGTERM end a run cleanly. */
#ifndef CAIRN_TOOLS_INTERRUPT_H
#define CAIRN_TOOLS_INTERRUPT_H

/* From now on SIGINT and SIGTERM only leave a note; a second one kills the program at once. */
void cairn_interrupt_watch(void);

/* The number of the signal that came, 0: none. */
int cairn_interrupt_signal(void);

#endif
