/* view.h - the interface of the viewer to the commands: runs in the browser, as one page, as
 * pictures and films, and in the formats of other programs. */
#ifndef CAIRN_VIEW_VIEW_H
#define CAIRN_VIEW_VIEW_H

#include <stdbool.h>
#include <sys/types.h>

#include "cairn/cairn.h"

/* Show one or two runs until Ctrl-C or the page ends it; `browser`: open the default browser.
 * Returns an exit code. */
int cairn_view_show(const char *const *paths, int count, bool browser);

/* Before a run begins: start a process that shows it, once there is something to see. -1: not
 * possible, after a message. */
pid_t cairn_view_begin_beside(const char *folder, bool browser);
/* After the run: wait until the viewer is closed, or close it. */
void cairn_view_end_beside(pid_t viewer, bool close);

/* ---- pictures and films ---------------------------------------------------------------------- */

/* They need no screen: the page of the viewer runs in a headless chromium and sends what it draws
 * to a server of our own; ffmpeg makes a film of the pictures. */

/* What to draw. */
typedef struct cairn_view_film {
    cairn_recording *run;
    const char *name;
    const char *path;  /* of the picture or the film                                     */
    double time;       /* s: of one picture; NaN: a film                                 */
    int width, height; /* pixels                                                         */
    const char *look;  /* more for the address of the page, as "&color=force"; NULL: none */
} cairn_view_film;

/* Draw it. CAIRN_IO_FAILED: a required program is missing; `error` says which. */
cairn_status cairn_view_film_make(const cairn_view_film *film, cairn_error *error);

/* ---- a run inside one page ------------------------------------------------------------------- */

/* The page holds the columns that the viewer needs, most of them in 16 bits, as base64 of a gzip
 * stream: the length of a JSON text in 4 bytes, 4 zero bytes, that text, and the columns, each
 * aligned to 8 bytes. The text says where each column begins and how it is stored: plain, or
 * quantised to whole numbers from 0 (the minimum of its component) to 65535 (the maximum), with all
 * low bytes before all high bytes. viewer/src/source.ts reads it. */

/* Write the page of the viewer with a run in it; `bytes` receives the size of the file. */
cairn_status cairn_view_export_html(cairn_recording *run, const char *name, const char *path,
                                    int64_t *bytes, cairn_error *error);

/* ---- the frames of a run as a CSV table ------------------------------------------------------ */

/* One row for each body in each frame, with commas: time, body, x, y, z, qw, qx, qy, qz, vx, vy,
 * vz, wx, wy, wz. */
cairn_status cairn_view_export_csv(cairn_recording *run, const char *path, int64_t *rows,
                                   cairn_error *error);

/* ---- the bodies of one frame as a table ------------------------------------------------------ */

/* The frame and the file of a table. */
typedef struct cairn_view_table {
    const char *path; /* its ending is the format, see cairn_table_write        */
    double time;      /* s: of the frame, to within half a time step; NaN: last */
    double time_step;
    int dimension;
} cairn_view_table;

/* Write the dynamic spheres of a frame: id, type (number of the material, from 1), x, y, z, radius,
 * mass, vx, vy, vz, wx, wy, wz (world frame), qw, qx, qy, qz, in 2D angle. `rows` receives their
 * number, `others` that of other bodies. */
cairn_status cairn_view_export_table(cairn_recording *run, const cairn_view_table *wanted,
                                     int64_t *rows, int64_t *others, cairn_error *error);

/* ---- a run as an animated glTF 2.0 scene in binary form (.glb) ------------------------------- */

/* A node for each body with a bounded shape, a mesh for each different shape, and one animation
 * with a key for each frame. A body that enters later has scale 0 until then. */
cairn_status cairn_view_export_gltf(cairn_recording *run, int dimension, const char *path,
                                    int64_t *bytes, cairn_error *error);

/* ---- a run as one VTKHDF 2.0 file for ParaView 5.12 and later -------------------------------- */

/* The geometry changes with time. Balls are points with their `radius`; other bounded shapes are
 * polygons, or lines where they have no interior. Each point has `id`, `material`, `radius` and
 * `velocity` of its body. A script for ParaView, `path`.py, shows the points as balls. */
cairn_status cairn_view_export_vtkhdf(cairn_recording *run, int dimension, const char *path,
                                      cairn_error *error);

#endif
