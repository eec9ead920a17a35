/* show.h - shows runs in the browser: opens them, serves them, and waits for the end. */
#ifndef CAIRN_VIEW_SHOW_H
#define CAIRN_VIEW_SHOW_H

#include <stdbool.h>
#include <sys/types.h>

/* Show one or two runs until Ctrl-C or the page ends it; `browser`: open the default one. Returns
 * an exit code. */
int cairn_view_show(const char *const *paths, int count, bool browser);

/* Before a run begins: start a process that shows it, once there is something to see. -1: not
 * possible, after a message. */
pid_t cairn_view_begin_beside(const char *folder, bool browser);
/* After the run: wait until the viewer is closed, or close it. */
void cairn_view_end_beside(pid_t viewer, bool close);

#endif
