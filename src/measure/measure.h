/* measure.h - statistics of a heap of grains as pure functions of arrays.
 *
 * A statistic is a line in the table of statistics.c: a name, its columns, and a function that adds
 * rows for one state. The state (cairn_sample) may come from a world or from a file. */
#ifndef CAIRN_MEASURE_MEASURE_H
#define CAIRN_MEASURE_MEASURE_H

#include "base/arena.h"
#include "cairn/statistics.h"

/* A state, lent. Bodies and contacts by index. */
typedef struct cairn_sample {
    int dimension;
    double time; /* s */
    cairn_vec3 gravity;
    int count;
    const uint8_t *is_grain; /* 1: a dynamic body that is there                                 */
    const cairn_vec3 *x, *v; /* m, m/s                                                          */
    const cairn_vec3 *omega, *inertia; /* rad/s, kg m^2, body frame                             */
    const double *mass;                /* kg                                                    */
    const double *radius;              /* m; 0: not a ball                                      */
    const double *volume;              /* m^3, 2D: m^2; 0: not known                            */
    const int32_t *material;
    bool has_contacts; /* false: nobody knows them                                             */
    int contacts;
    const int32_t *pair;              /* 2 per contact: a, b; -1: gone                          */
    const cairn_vec3 *point, *normal; /* m; unit, from b to a                                   */
    const cairn_vec3 *force;          /* N, on a                                                */
    const cairn_energy *totals;       /* works and losses since the start; NULL: not known      */
} cairn_sample;

/* A box; in 2D the third side does not count. */
typedef struct cairn_region {
    int dimension;
    double low[3], high[3]; /* m */
} cairn_region;

/* A statistic under way: what it reads, and where its rows go. */
typedef struct cairn_measure {
    const cairn_sample *sample;
    const cairn_measure_options *options;
    cairn_arena *arena;
    cairn_region box; /* as given; open sides are infinite                                    */
    int axis, up;     /* 0, 1, 2: of slices; the one nearest to upward                        */
    double upward;    /* 1 or -1: sign of `up`                                                */
    double least;     /* N: contacts with a greater normal force push                         */
    const struct cairn_statistic *statistic;
    cairn_statistic_table *out;
} cairn_measure;

/* A column as its statistic declares it. */
typedef struct cairn_statistic_field {
    cairn_statistic_column column;
    const char *flat_unit; /* in 2D; NULL: the same  */
    bool deep;             /* not in 2D              */
} cairn_statistic_field;

typedef struct cairn_statistic {
    const char *name, *summary;
    const char *needs; /* what a frame must have to be measured */
    const cairn_statistic_field *fields;
    int field_count;
    bool series;   /* one row a frame                                     */
    bool contacts; /* frames without contacts are left out                */
    cairn_status (*measure)(cairn_measure *m);
} cairn_statistic;

extern const cairn_statistic cairn_statistic_packing, cairn_statistic_slices,
    cairn_statistic_surface, cairn_statistic_coordination, cairn_statistic_neighbours,
    cairn_statistic_forces, cairn_statistic_pair_correlation, cairn_statistic_height,
    cairn_statistic_centre, cairn_statistic_temperature, cairn_statistic_stress,
    cairn_statistic_fabric, cairn_statistic_mixing, cairn_statistic_energy;

/* The statistic of a name, NULL when unknown. */
const cairn_statistic *cairn_statistic_find(const char *name);

/* Measure one state into a table of the statistic. On failure the table is as before. */
cairn_status cairn_statistic_measure(const cairn_sample *sample,
                                     const cairn_measure_options *options, cairn_arena *arena,
                                     cairn_statistic_table *table);

/* Add a row: a number for each field of the statistic, also for those that 2D does not have. */
cairn_status cairn_measure_row(cairn_measure *m, const double *row);

/* ---- helpers -------------------------------------------------------------------------------- */

static inline double cairn_component(cairn_vec3 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : v.z;
}

/* Radius (m) of grain i, or of a ball of its volume; 0: not known. */
double cairn_measure_radius(const cairn_sample *s, int i);
/* low <= x < high on every side: neighbouring boxes share no point. */
bool cairn_region_contains(const cairn_region *region, cairn_vec3 x);
/* Volume, in 2D area; 0: empty. */
double cairn_region_volume(const cairn_region *region);
/* The box of a statistic that needs a volume: as given, and where it is open between quantiles of
 * the grains' centres. */
cairn_status cairn_region_bulk(const cairn_measure *m, cairn_region *out);
/* The same, but open sides along `axis` end where the balls end. */
cairn_status cairn_region_column(const cairn_measure *m, int axis, cairn_region *out);
/* Share of the segment from a to b that lies in the region. */
double cairn_region_share(const cairn_region *region, cairn_vec3 a, cairn_vec3 b);
/* Volume (2D: area) that a ball and the region have in common. */
double cairn_region_ball(const cairn_region *region, cairn_vec3 centre, double radius);

/* Whether body i is a grain with its centre in the box as given. */
bool cairn_measure_counts(const cairn_measure *m, int i);
/* Whether contact c pushes, and its normal force. */
bool cairn_measure_pushes(const cairn_measure *m, int c, double *force);
/* Contacts that push on each body; NULL: no memory. */
double *cairn_measure_contacts(const cairn_measure *m);

#endif
