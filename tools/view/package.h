/* package.h - a run inside one page: the columns that the viewer needs, most of them in 16 bits,
 * packed.
 *
 * The page holds, in base64, a gzip stream of: the length of a JSON text in 4 bytes, 4 bytes 0,
 * that text, and the columns, each from a multiple of 8 bytes on. The text tells of each where it
 * begins and how it is stored: plain, or as whole numbers from 0 (the least) to 65535 (the largest
 * number of its component), all low bytes before all high ones. viewer/src/source.ts reads it. */
#ifndef CAIRN_VIEW_PACKAGE_H
#define CAIRN_VIEW_PACKAGE_H

#include "cairn/cairn.h"

/* Write the page of the viewer with a run in it; `bytes` receives the size of the file. */
cairn_status cairn_view_export_html(cairn_recording *run, const char *name, const char *path,
                                    int64_t *bytes, cairn_error *error);

#endif
