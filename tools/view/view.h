/* view.h - the interface of the viewer to the commands: runs in the browser, as one page, as
 * pictures and films, and in the formats of other programs. */
#ifndef CAIRN_VIEW_VIEW_H
#define CAIRN_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
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

/* Draw it. CAIRN_IO_FAILED: a required program is missing; CAIRN_BAD_INPUT: `look` has a word that
 * the page does not know; `error` says which. */
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
 * vz, wx, wy, wz, name, material. */
cairn_status cairn_view_export_csv(cairn_recording *run, const char *path, int64_t *rows,
                                   cairn_error *error);

/* ---- the bodies of one frame as a table ------------------------------------------------------ */

/* The frame and the file of a table. */
typedef struct cairn_view_table {
    const char *path; /* its ending is the format, see cairn_table_write        */
    double time;      /* s: of the frame, to within half a time step; NaN: last */
    double time_step;
    int dimension;
    bool all; /* contacts: of all frames, with a column of their times */
} cairn_view_table;

/* Write the dynamic spheres of a frame: id, type (number of the material, from 1), x, y, z, radius,
 * mass, vx, vy, vz, wx, wy, wz (world frame), qw, qx, qy, qz, in 2D angle. `rows` receives their
 * number, `others` that of other bodies. */
cairn_status cairn_view_export_table(cairn_recording *run, const cairn_view_table *wanted,
                                     int64_t *rows, int64_t *others, cairn_error *error);

/* Write the contacts of a frame that carry an impulse: uids of both bodies, point, normal, gap,
 * forces (N, on a), sliding, and the ends of a line between the bodies, in periodic runs to the
 * image that touches. `rows` receives their number, `frames` that of the frames. */
cairn_status cairn_view_export_contacts(cairn_recording *run, const cairn_view_table *wanted,
                                        int64_t *rows, int64_t *frames, cairn_error *error);

/* ---- a run as an animated glTF 2.0 scene in binary form (.glb) ------------------------------- */

/* A node for each body with a bounded shape, called by its name and with that of its material as
 * `extras`, a mesh for each different shape, and one animation with a key for each frame. A body
 * that enters later has scale 0 until then. */
cairn_status cairn_view_export_gltf(cairn_recording *run, int dimension, const char *path,
                                    int64_t *bytes, cairn_error *error);

/* ---- a run as one VTKHDF 2.0 file for ParaView 5.12 and later -------------------------------- */

/* The geometry changes with time. Balls are points with their `radius`; other bounded shapes are
 * polygons, or lines where they have no interior. Each point has `id`, `material`, `radius` and
 * `velocity` of its body. A script for ParaView, `path`.py, shows the points as balls. */
cairn_status cairn_view_export_vtkhdf(cairn_recording *run, int dimension, const char *path,
                                      cairn_error *error);

/* ---- the page, and the server that serves it ------------------------------------------------- */

/* ---- the page, as `make viewer` built it; embed.cmake writes it into the program ------------- */

/* HTML, packed by gzip. */
extern const unsigned char cairn_view_page[];
/* 0: the program was built without it. */
extern const size_t cairn_view_page_bytes;
/* What a program without it says. */
extern const char cairn_view_no_page[];

/* ---- the server, on 127.0.0.1 ---------------------------------------------------------------- */

/* GET  /TOKEN/            the page
 * GET  /TOKEN/runs        names of the runs, as JSON
 * GET  /TOKEN/run/K       what run K holds (cairn_recording_describe)
 * GET  /TOKEN/rows/K?c=COLUMN,TYPE,FIRST,COUNT&c=...
 *                         numbers, lowest byte first; TYPE is f4, f8 or i4; each range starts at a
 *                         multiple of 8 bytes
 * POST /TOKEN/end         ends the server
 * POST /TOKEN/refusal     says why the page draws none, and the end; for `cairn export` only
 * POST /TOKEN/picture     a picture that the page has drawn; for `cairn export` only
 *
 * Everything else is refused. One thread answers, one request at a time; a page that needs much
 * data sends many requests, so that a slow reader delays only itself. */

enum { VIEW_MOST_RUNS = 2 };

/* The runs to show, lent until the server is stopped. */
typedef struct cairn_view_runs {
    cairn_recording *items[VIEW_MOST_RUNS];
    const char *names[VIEW_MOST_RUNS];
    int count;
    FILE *pictures; /* where pictures that the page sends are written; NULL: they are refused */
} cairn_view_runs;

typedef struct cairn_view_server cairn_view_server;

/* Whether this program can serve at all; if not, `reason` says why, in one line. */
bool cairn_view_is_built(const char **reason);

/* Start on a free port. False: `reason` says why not. */
bool cairn_view_server_start(const cairn_view_runs *runs, cairn_view_server **out,
                             const char **reason);
/* Where the page is: "http://127.0.0.1:PORT/TOKEN/". */
const char *cairn_view_server_address(const cairn_view_server *server);
/* Call regularly: closes connections that take too long. True: the page has requested the end. */
bool cairn_view_server_tend(cairn_view_server *server);
/* After the end: why the page drew no pictures; NULL: it did not refuse. Lent until the stop. */
const char *cairn_view_server_refusal(const cairn_view_server *server);
void cairn_view_server_stop(cairn_view_server *server);

/* ---- the bodies of a run as shapes ----------------------------------------------------------- */

/* Zero is valid: empty. */
typedef struct cairn_view_shelf {
    int dimension;
    int count;           /* bodies, rows of /bodies                          */
    cairn_shape *shapes; /* of each; they hold geometries of the shelf       */
    cairn_pose *poses;   /* of each shape in its body                        */
    const cairn_geometry **geometries;
    int geometry_count;
} cairn_view_shelf;

/* Read all bodies. Containers have no geometry. */
cairn_status cairn_view_shelf_fill(cairn_recording *run, int dimension, cairn_view_shelf *out,
                                   cairn_error *error);
/* Whether a shape can be drawn; containers, and shapes without their geometry, cannot. */
bool cairn_view_is_drawn(const cairn_shape *shape);

/* The pose of a shape in space: that of its body, after its own in the body. */
cairn_pose cairn_view_pose(const cairn_pose *body, const cairn_pose *own);

void cairn_view_shelf_clear(cairn_view_shelf *shelf);

/* ---- the names that a run has from its scene ------------------------------------------------- */

/* Zero is valid: none. */
typedef struct cairn_view_names {
    int bodies;
    char **body;     /* by row of /bodies; NULL: unnamed        */
    char **material; /* likewise: the name of its material      */
    char *texts[2];  /* where all of them are                   */
} cairn_view_names;

cairn_status cairn_view_names_fill(cairn_recording *run, cairn_view_names *out, cairn_error *error);
void cairn_view_names_clear(cairn_view_names *names);

#endif
