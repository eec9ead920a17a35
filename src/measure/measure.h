/* measure.h - statistics of a heap of grains as pure functions of arrays.
 *
 * A statistic is a line in the table of statistics.c: a name, its columns, and a function that
 * adds rows for one state. The state (cairn_sample) may come from a world or from a file;
 * nothing here knows which, so both give the same numbers. docs/statistics.md has the
 * definitions. */
#ifndef CAIRN_MEASURE_MEASURE_H
#define CAIRN_MEASURE_MEASURE_H

#include "base/memory.h"
#include "cairn/statistics.h"
#include "math/vec.h"

/* Rows of a state: of its grains, or of its contacts. */
typedef struct cairn_rows {
    bool contacts;
    bool cut;         /* of the grains only those with low <= x <= high along the axis are needed */
    int axis;         /* 0, 1, 2 */
    double low, high; /* m */
} cairn_rows;

/* Where a state comes from that is not in memory as a whole: it is visited window by window. */
typedef struct cairn_source {
    int64_t grains; /* in the whole state               */
    double largest; /* N: normal force, 0: no contacts  */
    void *context;
    /* Put the first window, or the next one, into the arrays of the sample; returns the number of
     * grains or contacts in it, 0: there are no more, or it failed. Of contacts the sample then has
     * the two bodies of each, and no velocities. */
    int (*next)(void *context, const cairn_rows *rows, bool first);
    /* The coordinate of a grain before which those of so many others come. */
    double (*ranked)(void *context, int axis, int64_t rank);
    cairn_status status; /* the first failure */
} cairn_source;

/* A state, whose arrays belong to the caller. Bodies and contacts are given by index. */
typedef struct cairn_sample {
    int dimension;
    double time; /* s */
    cairn_vec3 gravity;
    cairn_source *source; /* NULL: the arrays have the whole state; else a window of it       */
    int count;
    const int32_t *order;    /* the bodies in the order of sums; NULL: 0, 1, 2, ...              */
    const uint8_t *is_grain; /* 1: a dynamic body that exists at this time, no wall of a cell */
    const cairn_vec3 *x, *v; /* m, m/s                                                          */
    const cairn_vec3 *omega, *inertia; /* rad/s, kg m^2, body frame                             */
    const double *mass;                /* kg                                                    */
    const double *radius;              /* m; 0: not a ball, or not known */
    const double *volume;              /* m^3, 2D: m^2; 0: not known                            */
    const int32_t *material;
    const double *touching; /* contacts that push on each body; NULL: not counted yet        */
    bool has_contacts;      /* false: the contacts are not known */
    int contacts;
    const int32_t *pair;              /* 2 per contact: a, b; -1: no longer exists */
    const cairn_vec3 *point, *normal; /* m; unit, from b to a                                   */
    const cairn_vec3 *force;          /* N, on a                                                */
    const cairn_image *image;         /* of b, in periodic samples; NULL: the originals touch   */
    cairn_lattice lattice;            /* edges of the periodic cell; 0: not periodic            */
    const cairn_energy *totals;       /* works and losses since the start; NULL: not known      */
    const double *cell; /* CAIRN_CELL_NUMBERS of the first cell, in the order of the columns of its
                           statistic; NULL: there is none, or it is not known                   */
} cairn_sample;

enum { CAIRN_CELL_NUMBERS = 17 };

/* A box; in 2D the third side is ignored. */
typedef struct cairn_region {
    int dimension;
    double low[3], high[3]; /* m */
} cairn_region;

/* A measurement in progress: its input, and the table that its rows go to. */
typedef struct cairn_measure {
    const cairn_sample *sample;
    const cairn_measure_options *options;
    cairn_arena *arena; /* scratch memory, freed by the caller */
    cairn_region box;   /* as given; open sides are infinite                                    */
    int axis, up;       /* 0, 1, 2: axis of slices; axis nearest to upward */
    double upward;      /* 1 or -1: direction of upward along `up` */
    double least;       /* N: a contact pushes if its normal force is greater */
    double *touching;   /* of a whole sample, once cairn_measure_touch has counted them */
    const struct cairn_statistic *statistic;
    cairn_statistic_table *out;
} cairn_measure;

/* A column as declared by its statistic. */
typedef struct cairn_statistic_field {
    cairn_statistic_column column;
    const char *flat_unit; /* unit in 2D; NULL: the same */
    bool deep;             /* exists in 3D only */
} cairn_statistic_field;

/* A statistic. `measure` adds rows with cairn_measure_row; a state in which the statistic is
 * undefined (no grains, no volume) adds none, and that is no error. */
typedef struct cairn_statistic {
    const char *name, *summary;
    const char *needs; /* what a frame needs, for messages */
    const cairn_statistic_field *fields;
    int field_count;
    bool series;   /* one row per frame, else a profile with several */
    bool contacts; /* skips frames whose contacts are not known */
    cairn_status (*measure)(cairn_measure *m);
} cairn_statistic;

extern const cairn_statistic cairn_statistic_packing, cairn_statistic_slices,
    cairn_statistic_surface, cairn_statistic_coordination, cairn_statistic_neighbours,
    cairn_statistic_forces, cairn_statistic_pair_correlation, cairn_statistic_height,
    cairn_statistic_centre, cairn_statistic_temperature, cairn_statistic_stress,
    cairn_statistic_fabric, cairn_statistic_mixing, cairn_statistic_energy, cairn_statistic_flow,
    cairn_statistic_fields, cairn_statistic_cell;

/* The statistic of a name; NULL if there is none. */
const cairn_statistic *cairn_statistic_find(const char *name);

/* Add the rows of one state to a table of the statistic. On failure the table is as before. */
cairn_status cairn_statistic_measure(const cairn_sample *sample,
                                     const cairn_measure_options *options, cairn_arena *arena,
                                     cairn_statistic_table *table);

/* Add a row: a number for each field of the statistic, including those that are omitted in 2D.
 * The time is added in front. NaN: undefined. */
cairn_status cairn_measure_row(cairn_measure *m, const double *row);

/* ---- visiting all -------------------------------------------------------------------------- */

/* The bodies or the contacts of a state one after the other, in the order of sums:
 *     for (cairn_visit w = cairn_visit_bodies(m); cairn_visit_next(&w, &i);)
 * Indices, and the arrays of the sample, are valid until the next one; a visit ends before another
 * one begins. If it fails, it ends early, and the measurement fails when it is done. */
typedef struct cairn_visit {
    const cairn_sample *sample;
    cairn_rows rows;
    const int32_t *order;
    int next, end;
    bool begun;
} cairn_visit;

/* Bodies: all grains, and possibly others. */
cairn_visit cairn_visit_bodies(const cairn_measure *m);
/* The same, but only those with low <= x <= high along the axis are needed. */
cairn_visit cairn_visit_between(const cairn_measure *m, int axis, double low, double high);
/* There are none if they are not known. */
cairn_visit cairn_visit_contacts(const cairn_measure *m);
/* Go on with the next window; false: there is none. */
bool cairn_visit_on(cairn_visit *visit);

static inline bool cairn_visit_next(cairn_visit *visit, int *i)
{
    if (visit->next == visit->end && !cairn_visit_on(visit))
        return false;
    *i = visit->order ? visit->order[visit->next] : visit->next;
    visit->next++;
    return true;
}

/* ---- images in periodic samples: images.c --------------------------------------------------- */

/* The lattice of a sample with its reciprocal vectors. */
typedef struct cairn_image_space {
    const cairn_lattice *lattice; /* NULL: images do not count, since the box of the edges does not
                                     fill space */
    cairn_vec3 reciprocal[3];     /* 1/m */
} cairn_image_space;

/* Images, given by how many edges they lie away. */
typedef struct cairn_image_range {
    int from[3], to[3];
    int at[3]; /* the present one */
} cairn_image_range;

cairn_image_space cairn_measure_space(const cairn_sample *sample);
/* Whether images lie along an axis. */
bool cairn_measure_repeats(const cairn_image_space *s, int axis);
/* Those of a thing between two points that may reach a box; without images itself. Before the first
 * one. */
cairn_image_range cairn_measure_images(const cairn_image_space *s, const cairn_region *box,
                                       cairn_vec3 one, cairn_vec3 other);
/* Go to the next image; false: there is none. */
bool cairn_measure_next_image(cairn_image_range *all);
/* What the present image adds to places (m), and to velocities (m/s). */
cairn_vec3 cairn_measure_shift(const cairn_image_space *s, const cairn_image_range *all);
cairn_vec3 cairn_measure_drift(const cairn_image_space *s, const cairn_image_range *all);

/* ---- helpers -------------------------------------------------------------------------------- */

/* Radius (m) of grain i, or of a ball of its volume; 0: not known. */
double cairn_measure_radius(const cairn_sample *s, int i);
/* Whether low <= x < high on every side. The upper bound is excluded, so that neighbouring boxes
 * have no point in common. */
bool cairn_region_contains(const cairn_region *region, cairn_vec3 x);
/* Volume, in 2D area; 0: empty. */
double cairn_region_volume(const cairn_region *region);
/* The volume (2D: area) of the periodic cell, if it is the region: the sample is periodic along all
 * axes, and no box is given. 0: it is not. */
double cairn_measure_cell(const cairn_measure *m);
/* The box of a statistic that needs a volume: as given; open sides end at quantiles of the
 * grains' centres, away from walls. */
cairn_status cairn_region_bulk(const cairn_measure *m, cairn_region *out);
/* The same, but open sides along `axis` end where the balls end. Without grains the box is
 * empty. */
cairn_status cairn_region_column(const cairn_measure *m, int axis, cairn_region *out);
/* The share of the segment from a to b that lies in the region, 0 to 1. */
double cairn_region_share(const cairn_region *region, cairn_vec3 a, cairn_vec3 b);
/* The volume (2D: area) that a ball and the region have in common. */
double cairn_region_ball(const cairn_region *region, cairn_vec3 centre, double radius);

/* Whether body i is a grain with its centre in the box as given. */
bool cairn_measure_counts(const cairn_measure *m, int i);
/* Whether contact c pushes, and its normal force (`force` may be NULL). */
bool cairn_measure_pushes(const cairn_measure *m, int c, double *force);
/* The ends of the branch of contact c: from b, or its image that touches a, to a; for a wall, the
 * point of contact. False: neither is a grain. */
bool cairn_measure_branch(const cairn_sample *s, int c, cairn_vec3 *from, cairn_vec3 *to);
/* Make the number of pushing contacts of each body known; and that of body i. */
cairn_status cairn_measure_touch(cairn_measure *m);
static inline double cairn_measure_touching(const cairn_measure *m, int i)
{
    return m->touching ? m->touching[i] : m->sample->touching[i];
}
/* The largest normal force of the contacts in the arrays of a sample, N. */
double cairn_sample_largest(const cairn_sample *s);
/* A contact pushes if its normal force is greater than this, N. */
double cairn_measure_least(double largest);

#endif
