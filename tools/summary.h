/* summary.h - the table at the end of a run. */
#ifndef CAIRN_TOOLS_SUMMARY_H
#define CAIRN_TOOLS_SUMMARY_H

#include "cairn/cairn.h"

/* Print what a run did, how well, where the time went and where the files are. */
void cairn_summary_print(const cairn_scene *scene, const cairn_run_summary *summary,
                         const char *folder);

/* Say on standard error that steps missed their tolerance, and where their problems are, and that
 * bodies overlap deeply; nothing when there is nothing to say. */
void cairn_summary_warn(const cairn_scene *scene, const cairn_run_summary *summary,
                        const char *folder);

#endif
