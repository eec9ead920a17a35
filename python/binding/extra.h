/* extra.h - what the Python package needs in C beside the public face of cairn. All of it is read
 * by make_binding.py as it stands: declarations, and nothing for the preprocessor but the guard. */
#ifndef CAIRN_PYTHON_EXTRA_H
#define CAIRN_PYTHON_EXTRA_H

#include "cairn/cairn.h"

/* ---- memory that outlives the library's use of it ------------------------------------------- */

/** Route the library's memory through here. Call it once, before anything else. */
void cairn_python_start(void);
/** Keep a block of the library, by its first byte, from being freed or moved under somebody's eyes:
 *  when the library lets it go it stays until the last pin is taken out. Returns false when there
 *  is no memory to note it. */
bool cairn_python_pin(const void *block);
/** Take one pin out. */
void cairn_python_unpin(const void *block);
/** Pins there are now, for tests. */
int cairn_python_pins(void);

/* ---- bodies by uid --------------------------------------------------------------------------- */

/** The body of a uid. */
cairn_body_id cairn_python_body(uint64_t uid);

/** One column of bodies to be made: `width` numbers a row go to `offset` of cairn_body_def. */
typedef struct cairn_python_column {
    const double *values; /* NULL: `whole` */
    const int32_t *whole;
    size_t offset;
    int width;
} cairn_python_column;

/** Make `count` bodies from a definition, with columns in place of some of its fields: all of them
 *  or none. `made` is how many were fine before the one that failed. */
cairn_status cairn_python_create(cairn_world *world, const cairn_body_def *def,
                                 const cairn_python_column *columns, int column_count,
                                 int64_t count, uint64_t *uids, int64_t *made);

/** How many steps of a row were done, and how many of them missed their tolerance. */
typedef struct cairn_python_count {
    int done, missed;
} cairn_python_count;

/** Steps one after the other, for loops in which Python has nothing to do. Ends after `count`
 *  steps, at a failure, or with CAIRN_STOPPED after a step that missed its tolerance when `strict`.
 *  `report` is that of the last one. */
cairn_status cairn_python_steps(cairn_world *world, const cairn_step_options *options, int count,
                                bool strict, cairn_python_count *counted,
                                cairn_step_report *report);

#endif
