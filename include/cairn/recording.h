/* recording.h - looking into a run: what its file holds, and rows of any of its columns.
 *
 * A recording is opened in a moment, whatever its size: only what is asked for is read. A run that
 * is still under way can be looked at as well, from another process; it never waits for that. */
#ifndef CAIRN_RECORDING_H
#define CAIRN_RECORDING_H

#include <stdio.h>

#include "cairn/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open run. */
typedef struct cairn_recording cairn_recording;

/** How numbers are given. */
typedef enum cairn_number_type {
    CAIRN_NUMBER_FLOAT,  /* float   */
    CAIRN_NUMBER_DOUBLE, /* double  */
    CAIRN_NUMBER_INT     /* int32_t: of columns of whole numbers only */
} cairn_number_type;

/** Some rows of a column. */
typedef struct cairn_recording_rows {
    const char *column; /* its path in the file, as in "frames/bodies/x" */
    cairn_number_type type;
    int64_t first, count;
} cairn_recording_rows;

/** What cairn_recording_read gives at most, in bytes. */
enum { CAIRN_RECORDING_MOST_BYTES = 64 << 20 };

/** Open a run folder or its run.h5. Of a folder in which a run is under way, that run is taken:
 *  from another process than the one that runs it. Fails as cairn_run_read_info. */
CAIRN_API cairn_status cairn_recording_open(const char *path, cairn_recording **out,
                                            cairn_error *error);
/** Close it; NULL is allowed. */
CAIRN_API void cairn_recording_close(cairn_recording *recording);

/** Whether the run was under way when the recording was last read. */
CAIRN_API bool cairn_recording_grows(const cairn_recording *recording);
/** Whether the run was killed: it has not come to its end, and no program writes it any more. It
 *  may be resumed, and is then under way again. */
CAIRN_API bool cairn_recording_interrupted(const cairn_recording *recording);

/** Write what the file holds as JSON: `attributes` of the run; `columns` by path, each with `rows`,
 *  `width` (numbers in a row), `whole` (whether they are whole), `unit` and `names` (what whole
 *  numbers stand for); `texts` by path; `grows` and `interrupted`, as the functions above. `out`
 *  must be a file that can be rewound. */
CAIRN_API cairn_status cairn_recording_describe(cairn_recording *recording, FILE *out,
                                                cairn_error *error);

/** What is known of a column. */
typedef struct cairn_recording_column {
    int64_t rows;
    int width;  /* numbers in a row               */
    bool whole; /* whether they are whole numbers */
} cairn_recording_column;

/** Look at a column. CAIRN_NOT_FOUND: the run has none of that name, or not of numbers. */
CAIRN_API cairn_status cairn_recording_look(cairn_recording *recording, const char *column,
                                            cairn_recording_column *out, cairn_error *error);

/** The numbers of `parts` ranges of rows, one range after the other, each from a multiple of 8
 *  bytes on; lent until the next call. All are of the same moment of a run that is under way.
 *  CAIRN_BAD_INPUT: there is no such column, it has not these rows or is not of whole numbers;
 *  CAIRN_UNSUPPORTED: more than CAIRN_RECORDING_MOST_BYTES; CAIRN_IO_FAILED: the file changes
 *  faster than it can be read, try again. */
CAIRN_API cairn_status cairn_recording_read(cairn_recording *recording,
                                            const cairn_recording_rows *rows, int parts,
                                            const void **data, size_t *bytes, cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
