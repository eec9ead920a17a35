/* plot.h - drawing by gnuplot, where it is installed. */
#ifndef CAIRN_TOOLS_PLOT_H
#define CAIRN_TOOLS_PLOT_H

typedef enum cairn_plot_outcome { PLOT_DRAWN, PLOT_NO_GNUPLOT, PLOT_FAILED } cairn_plot_outcome;

/* Run `gnuplot SCRIPT` in `folder` as a child process, without a shell. The script writes
 * PICTURE.part, which becomes PICTURE (cairn/output.h) when gnuplot ended well, and is removed when
 * not. */
cairn_plot_outcome cairn_plot_draw(const char *folder, const char *script, const char *picture);

#endif
