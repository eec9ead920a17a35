/* describe.h - telling people what a scene holds. */
#ifndef CAIRN_TOOLS_DESCRIBE_H
#define CAIRN_TOOLS_DESCRIBE_H

#include "cairn/cairn.h"

/* One line of a table on standard output: a name and a formatted value. */
void cairn_line_print(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Title, bodies, materials, mass, extent, and the settings of the run. */
void cairn_scene_describe(const cairn_scene *scene);

/* "3-5, 9 and 2 more ranges": steps as text, at most `most` ranges. */
void cairn_spans_text(const cairn_run_spans *spans, int most, char *text, size_t capacity);

#endif
