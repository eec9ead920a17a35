/* output.h - files that appear under their name when they are complete. */
#ifndef CAIRN_OUTPUT_H
#define CAIRN_OUTPUT_H

#include <stdio.h>

#include "cairn/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A file under way. It is written as `path`.part and gets its name at the end; behind a link the
 *  link's target is written so, and the link stays. A FIFO, a terminal, /dev/null and the file that
 *  the program's own output goes to are written in place. */
typedef struct cairn_output cairn_output;

/** Start a file, to be ended by cairn_output_commit. Waits for the reader of a FIFO. Fails with
 *  CAIRN_IO_FAILED, CAIRN_BAD_INPUT (a path that is too long) or CAIRN_NO_MEMORY; *out is then
 *  NULL. */
CAIRN_API cairn_status cairn_output_create(const char *path, cairn_output **out,
                                           cairn_error *error);
/** Where to write; belongs to the output. What fails shows at the end. */
CAIRN_API FILE *cairn_output_stream(const cairn_output *output);
/** Complete the file, give it its name, and free the output, also when that fails; a file that was
 *  there before is then as it was. */
CAIRN_API cairn_status cairn_output_commit(cairn_output *output, cairn_error *error);

/** Give the file `part`, which another program wrote, the name `path`, by the same rules. The part
 *  is gone afterwards. */
CAIRN_API cairn_status cairn_output_place(const char *part, const char *path, cairn_error *error);

/** A picture that gnuplot draws. */
typedef struct cairn_plot_page {
    const char *picture; /* NAME.svg; the script writes NAME.svg.part                         */
    int width, height;   /* pixels                                                            */
    bool plain;          /* texts stand as they are: no _ and ^ that move letters up and down */
} cairn_plot_page;

/** Begin a script of gnuplot with the look that all diagrams of cairn share: page, grid, border and
 *  legend. */
CAIRN_API void cairn_plot_begin(FILE *out, const cairn_plot_page *page);
/** The colour of curve 0, 1, ... as "#1b6ca8"; they begin again after eight. */
CAIRN_API const char *cairn_plot_colour(int series);

#ifdef __cplusplus
}
#endif
#endif
