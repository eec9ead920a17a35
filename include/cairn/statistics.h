/* statistics.h - statistics of granular matter: packing, coordination, pair correlation, stress,
 * fabric, mixing, energy, ... of the present state of a world, or of the frames of a finished run.
 * docs/statistics.md has the formulas. */
#ifndef CAIRN_STATISTICS_H
#define CAIRN_STATISTICS_H

#include "cairn/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How to measure. Start from cairn_measure_options_default(); every field is a key of `measure:`.
 *  Grains are the dynamic bodies. */
typedef struct cairn_measure_options {
    cairn_vec3 low, high; /* m: corners of the box that is measured; a side at -1e30 or 1e30 is
                             open                                                              */
    double trim;          /* statistics that need a volume: where the box is open it ends at the
                             `trim` and 1 - `trim` quantiles of the centres of the grains      */
    const char *axis;     /* "up", "x", "y" or "z": of slices and of the surface               */
    int64_t bins;         /* rows of a profile or histogram                                    */
    double range;         /* of the pair correlation, in mean diameters                        */
    const char *classes;  /* "radius" or "material": what distinguishes the classes of a mixture */
    double cell;          /* m: edge of the cells of the mixing index, 0: 20 grains in a cell;
                             and of those of fields, 0: two widths                             */
    double width;         /* m: standard deviation of the kernel of fields; 0: mean diameter   */
    bool kinetic;         /* add the stress that moving grains carry                           */
} cairn_measure_options;

/** No box, trim 0.15, axis up, 50 bins, 5 diameters, classes by radius. */
CAIRN_API cairn_measure_options cairn_measure_options_default(void);
/** The table of cairn_measure_options. */
CAIRN_API const cairn_record *cairn_measure_record(void);
/** Check options for a world of a dimension: ranges, and that the box is not empty; `error` (may be
 *  NULL) names the key. */
CAIRN_API cairn_status cairn_measure_options_check(const cairn_measure_options *options,
                                                   int dimension, cairn_error *error);

/** Name of statistic `index`, NULL past the last. */
CAIRN_API const char *cairn_statistic_name(int index);
/** One line about a statistic, NULL when unknown. */
CAIRN_API const char *cairn_statistic_summary(const char *name);

/** The data that a frame must contain for a statistic, as text; NULL when unknown. */
CAIRN_API const char *cairn_statistic_needs(const char *name);

/** One number of a statistic. */
typedef struct cairn_statistic_column {
    const char *name, *unit; /* "" for pure numbers            */
    const char *text;        /* one line for people            */
    bool drawn;              /* a curve of the statistic's plot */
} cairn_statistic_column;

enum { CAIRN_STATISTIC_COLUMNS = 40 }; /* at most, with the time */

/** A statistic as rows of numbers. The first column is the time (s) of the frame; a series has one
 *  row a frame, other statistics have several, told apart by the second column. Frames that cannot
 *  be measured have none; a number that has no meaning there is NaN. */
typedef struct cairn_statistic_table {
    const char *name;
    bool series;
    int dimension;
    int column_count;
    cairn_statistic_column columns[CAIRN_STATISTIC_COLUMNS];
    size_t rows;
    double *values;  /* rows x column_count */
    size_t capacity; /* private             */
} cairn_statistic_table;

/** An empty table of a statistic. CAIRN_NOT_FOUND when there is none of that name. */
CAIRN_API cairn_status cairn_statistic_table_create(const char *name, int dimension,
                                                    cairn_statistic_table *out);
/** An empty table of a series of forces, with the columns time, force, torque and work; `name` is
 *  lent. */
CAIRN_API void cairn_series_table_create(const char *name, int dimension,
                                         cairn_statistic_table *out);
/** Free the rows; zero is allowed. */
CAIRN_API void cairn_statistic_table_destroy(cairn_statistic_table *table);

/** Add the present state of a world to a table. Forces are the impulses of the last step over
 *  `time_step` (s); 0: there was no step. Works and losses are not known. Fails with
 *  CAIRN_NO_MEMORY or CAIRN_BAD_INPUT; the table is then as before. */
CAIRN_API cairn_status cairn_world_statistic(const cairn_world *world, double time_step,
                                             const cairn_measure_options *options,
                                             cairn_statistic_table *table);

/** Write a table as `folder`/NAME.csv (made if missing); of fields also .vti files and a .pvd. */
CAIRN_API cairn_status cairn_statistic_table_write(const cairn_statistic_table *table,
                                                   const char *folder, cairn_error *error);
/** Write `folder`/NAME.gp, a script by which gnuplot draws NAME.svg.part: series against the time,
 *  other statistics against their second column at five frames at most. CAIRN_UNSUPPORTED
 *  when there is nothing to draw. */
CAIRN_API cairn_status cairn_statistic_plot_write(const cairn_statistic_table *table,
                                                  const char *title, const char *folder,
                                                  cairn_error *error);

#ifdef __cplusplus
}
#endif
#endif
