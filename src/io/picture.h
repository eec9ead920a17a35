/* picture.h - the last state of a run as one SVG file that any browser shows. */
#ifndef CAIRN_IO_PICTURE_H
#define CAIRN_IO_PICTURE_H

#include "cairn/scene.h"
#include "io/run_frame.h"

/* Write `folder`/picture.svg: balls seen from the side and above (2D: from the front), coloured by
 * the sum of the normal forces on them, with the walls. Memory comes from the arena. */
cairn_status cairn_picture_write(const cairn_run_frame *frame, const cairn_scene *scene,
                                 const char *folder, cairn_arena *arena, cairn_error *error);

#endif
