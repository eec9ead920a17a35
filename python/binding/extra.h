/* extra.h - C functions of the Python package beyond the public interface of cairn. make_binding.py
 * reads this file as it is: declarations only, and no preprocessor lines but the guard. */
#ifndef CAIRN_PYTHON_EXTRA_H
#define CAIRN_PYTHON_EXTRA_H

#include "cairn/cairn.h"

/* ---- memory that outlives the library's use of it ------------------------------------------- */

/** Route the library's memory through here. Call it once, before anything else. */
void cairn_python_start(void);
/** Pin a block of the library, by its first byte: when the library frees or moves it, the block
 * stays
 *  valid until the last pin is removed. Returns false when out of memory. */
bool cairn_python_pin(const void *block);
/** Remove one pin. */
void cairn_python_unpin(const void *block);
/** The present number of pins, for tests. */
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
 *  or none. `made` is the number that succeeded before the one that failed. */
cairn_status cairn_python_create(cairn_world *world, const cairn_body_def *def,
                                 const cairn_python_column *columns, int column_count,
                                 int64_t count, uint64_t *uids, int64_t *made);

/** How many steps were done, and how many of them missed their tolerance. */
typedef struct cairn_python_count {
    int done, missed;
} cairn_python_count;

/** Several steps in a row, for loops without Python callbacks. Ends after `count`
 *  steps, at a failure, or with CAIRN_STOPPED after a step that missed its tolerance when `strict`.
 *  `report` is that of the last one. */
cairn_status cairn_python_steps(cairn_world *world, const cairn_step_options *options, int count,
                                bool strict, cairn_python_count *counted,
                                cairn_step_report *report);

#endif
