/* plot_style.c - the look that all diagrams drawn by gnuplot share. */
#include "cairn/output.h"

static const char *const colours[] = { "#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad",
                                       "#d98c00", "#16a0a0", "#7f5539", "#555555" };

enum { COLOURS = sizeof colours / sizeof colours[0] };

const char *cairn_plot_colour(int series)
{
    return colours[series % COLOURS];
}

void cairn_plot_begin(FILE *out, const cairn_plot_page *page)
{
    /* the name goes into all ids of the drawing, so that several fit into one document */
    fprintf(out, "set terminal svg size %d,%d %s background 'white' font 'sans-serif,13' name \"",
            page->width, page->height, page->plain ? "noenhanced" : "enhanced");
    for (const char *c = page->picture; *c && *c != '.'; c++)
        fputc(*c == '-' ? '_' : *c, out);
    fprintf(out, "\"\nset encoding utf8\nset output '%s.part'\n", page->picture);
    fputs("set grid lc rgb '#dddddd'\nset border lc rgb '#555555'\n"
          "set key below center horizontal height 1 samplen 2.5\n",
          out);
}
