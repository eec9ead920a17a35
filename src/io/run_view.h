/* run_view.h - a script that shows the series of a run in ParaView. */
#ifndef CAIRN_IO_RUN_VIEW_H
#define CAIRN_IO_RUN_VIEW_H

#include "cairn/base.h"

/* Write `folder`/view.py. */
cairn_status cairn_run_view_write(const char *folder, cairn_error *error);

#endif
