/* table.h - the frames of a run as a table of text. */
#ifndef CAIRN_VIEW_TABLE_H
#define CAIRN_VIEW_TABLE_H

#include "cairn/cairn.h"

/* One row for each body in each frame, with commas: time, body, x, y, z, qw, qx, qy, qz, vx, vy,
 * vz, wx, wy, wz. */
cairn_status cairn_view_export_csv(cairn_recording *run, const char *path, int64_t *rows,
                                   cairn_error *error);

#endif
