/* film.h - pictures of a run without a screen: the page of the viewer in a headless chromium,
 * which sends what it draws to a server of our own; ffmpeg makes a film of it. */
#ifndef CAIRN_VIEW_FILM_H
#define CAIRN_VIEW_FILM_H

#include "cairn/cairn.h"

/* What to draw. */
typedef struct cairn_view_film {
    cairn_recording *run;
    const char *name;
    const char *path;  /* of the picture or the film                                     */
    double time;       /* s: of one picture; NaN: a film                                 */
    int width, height; /* pixels                                                         */
    const char *look;  /* more for the address of the page, as "&color=force"; NULL: none */
} cairn_view_film;

/* Draw it. CAIRN_IO_FAILED: a program that is needed is not there; `error` says which. */
cairn_status cairn_view_film_make(const cairn_view_film *film, cairn_error *error);

#endif
