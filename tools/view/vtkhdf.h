/* vtkhdf.h - a run as one file that ParaView 5.12 and later opens: VTKHDF 2.0, polygons that change
 * with time. */
#ifndef CAIRN_VIEW_VTKHDF_H
#define CAIRN_VIEW_VTKHDF_H

#include "cairn/cairn.h"

/* Balls are points with their `radius`; all other bounded shapes are polygons, those without an
 * inside lines. Each point has `id`, `material`, `radius` and `velocity` of its body. A script for
 * ParaView, `path`.py, shows the points as balls. */
cairn_status cairn_view_export_vtkhdf(cairn_recording *run, int dimension, const char *path,
                                      cairn_error *error);

#endif
