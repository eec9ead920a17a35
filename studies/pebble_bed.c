/* pebble_bed.c - the slides [A05]: 2,000 pebbles in a vessel, and what the resting bed is like:
 * packing, contacts and the two-point correlation function, in 3D and in 2D. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "studies/study.h"
#include "studies/worlds.h"

static const double pebble_radius = 0.03, time_step = 2e-3; /* m, s */

/* ---- the bed of spheres ---------------------------------------------------------------------- */

static cairn_status add_vessel(cairn_world *world)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape = cairn_shape_default(CAIRN_SHAPE_INSIDE_CYLINDER, 3);
    def.shape.radius = 0.35;
    TRY(cairn_body_create(world, &def, NULL));
    def.shape = cairn_shape_default(CAIRN_SHAPE_INSIDE_CONE, 3);
    def.shape.half_angle = M_PI / 4;
    def.position = (cairn_vec3){ 0, 0, -0.35 };
    return cairn_body_create(world, &def, NULL);
}

static cairn_status add_inlet(cairn_world *world, int pebbles)
{
    cairn_inlet_def inlet = cairn_inlet_def_default();
    inlet.count = pebbles;
    inlet.rate = 1000;
    inlet.centre = (cairn_vec3){ 0, 0, 1.7 };
    inlet.size = (cairn_vec3){ 0, 0, 0.6 };
    inlet.disk_radius = 0.31;
    inlet.velocity = (cairn_vec3){ 0, 0, -2 };
    inlet.radius = cairn_distribution_default(CAIRN_DISTRIBUTION_CONSTANT);
    inlet.radius.value = pebble_radius;
    inlet.mass = 0.2;
    inlet.seed = 7;
    return cairn_inlet_create(world, &inlet);
}

/* Totals over the pouring. */
typedef struct pouring {
    double seconds; /* of CPU */
    double penetration;
    int missed, steps;
} pouring;

static cairn_status pour(cairn_world *world, double until, int threads, pouring *out)
{
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    options.time_step = time_step;
    options.scheme = "coulomb";
    options.threads = threads;
    *out = (pouring){ .steps = (int)lround(until / options.time_step) };
    clock_t began = clock();
    for (int k = 0; k < out->steps; k++) {
        TRY(cairn_world_step(world, &options, &report));
        out->missed += !report.solve.converged;
        out->penetration = fmax(out->penetration, report.certificate.penetration);
    }
    out->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    return CAIRN_OK;
}

/* ---- what a bed is like ---------------------------------------------------------------------- */

/* One row of a series, or rows of a profile; destroy `out`. */
static cairn_status measure(const cairn_world *world, const cairn_measure_options *options,
                            const char *name, cairn_statistic_table *out)
{
    TRY(cairn_statistic_table_create(name, cairn_world_dimension(world), out));
    return cairn_world_statistic(world, time_step, options, out);
}

/* Column of the first row by name; NaN: there is none. */
static double value_of(const cairn_statistic_table *t, const char *column)
{
    for (int i = 0; i < t->column_count && t->rows > 0; i++)
        if (strcmp(t->columns[i].name, column) == 0)
            return t->values[i];
    return NAN;
}

/* Packing fraction and coordination numbers, with the bounds that a bed of frictional balls has. */
typedef struct bed_bounds {
    double loosest, densest; /* packing fraction                        */
    double fewest, most;     /* contacts of a grain that carries        */
    double second[2];        /* diameters: where the second peak of g is */
    const char *packing, *contacts, *peak;
} bed_bounds;

static cairn_status packing_row(cairn_study *study, const cairn_world *world,
                                const cairn_measure_options *options, const bed_bounds *bounds)
{
    cairn_statistic_table table = { 0 };
    cairn_status status = measure(world, options, "packing", &table);
    cairn_study_values row = { .ours = value_of(&table, "fraction"), .why = bounds->packing };
    if (status == CAIRN_OK)
        cairn_study_claim(study, row.ours > bounds->loosest && row.ours < bounds->densest, &row,
                          "packing fraction away from the walls: %g to %g", bounds->loosest,
                          bounds->densest);
    cairn_statistic_table_destroy(&table);
    return status;
}

static cairn_status contact_row(cairn_study *study, const cairn_world *world,
                                const cairn_measure_options *options, const bed_bounds *bounds)
{
    cairn_statistic_table table = { 0 };
    cairn_status status = measure(world, options, "coordination", &table);
    cairn_study_values row = { .ours = value_of(&table, "without_rattlers"),
                               .why = bounds->contacts };
    if (status == CAIRN_OK)
        cairn_study_claim(study, row.ours >= bounds->fewest && row.ours <= bounds->most, &row,
                          "coordination number without rattlers: %g to %g", bounds->fewest,
                          bounds->most);
    row = (cairn_study_values){ .ours = value_of(&table, "mean"), .why = "over all grains" };
    if (status == CAIRN_OK)
        cairn_study_claim(study, row.ours < bounds->most, &row, "mean coordination number");
    cairn_statistic_table_destroy(&table);
    return status;
}

/* ---- two-point correlation ------------------------------------------------------------------- */

/* The maximum of g between two distances, in diameters; NaN: none. */
static double peak_between(const cairn_statistic_table *t, double low, double high)
{
    double at = NAN, most = -INFINITY;
    for (size_t k = 0; k < t->rows; k++) {
        const double *row = t->values + k * (size_t)t->column_count;
        double r = row[1] / (2 * pebble_radius);
        if (r >= low && r <= high && row[2] > most) {
            most = row[2];
            at = r;
        }
    }
    return at;
}

static double mean_beyond(const cairn_statistic_table *t, double low)
{
    double sum = 0;
    int count = 0;
    for (size_t k = 0; k < t->rows; k++) {
        const double *row = t->values + k * (size_t)t->column_count;
        if (row[1] > low * 2 * pebble_radius) {
            sum += row[2];
            count++;
        }
    }
    return sum / count;
}

static void draw_correlation(cairn_study *study, const cairn_statistic_table *t)
{
    static const double lattice[] = { 1, 1.7320508, 2, 2.6457513, 3 };
    static const double random[] = { 1, 1.7320508, 2 };
    bool flat = t->dimension == 2;
    cairn_study_figure(study, &(cairn_figure){ .name = "correlation",
                                               .title = flat ? "Two-point correlation, 2D"
                                                             : "Two-point correlation, 3D",
                                               .x_label = "distance of centres/diameter",
                                               .y_label = "g(r)" });
    int ours = cairn_study_series(study, CAIRN_SERIES_LINE, "resting bed");
    for (size_t k = 0; k < t->rows; k++) {
        const double *row = t->values + k * (size_t)t->column_count;
        cairn_study_point(study, ours, row[1] / (2 * pebble_radius), row[2], 0);
    }
    int marks = cairn_study_series(study, CAIRN_SERIES_POINTS,
                                   flat ? "distances in a triangular lattice" : "d, √3 d and 2 d");
    for (int i = 0; i < (flat ? 5 : 3); i++)
        cairn_study_point(study, marks, flat ? lattice[i] : random[i], 0, 0);
}

static cairn_status correlation_rows(cairn_study *study, const cairn_world *world,
                                     const cairn_measure_options *options, const bed_bounds *bounds)
{
    cairn_statistic_table table = { 0 };
    cairn_status status = measure(world, options, "pair-correlation", &table);
    if (status == CAIRN_OK) {
        cairn_study_values row = { .ours = peak_between(&table, 0, 5) };
        cairn_study_claim(study, fabs(row.ours - 1) < 0.03, &row,
                          "g(r) is largest where pebbles touch (r/d)");
        row = (cairn_study_values){ .ours = peak_between(&table, 1.4, 2.4), .why = bounds->peak };
        cairn_study_claim(study, row.ours > bounds->second[0] && row.ours < bounds->second[1], &row,
                          "second peak of g(r) between %g and %g (r/d)", bounds->second[0],
                          bounds->second[1]);
        row = (cairn_study_values){ .ours = mean_beyond(&table, 2.5) };
        cairn_study_claim(study, fabs(row.ours - 1) < 0.1, &row,
                          "g(r) tends to 1 (mean beyond 2.5 d)");
        draw_correlation(study, &table);
    }
    cairn_statistic_table_destroy(&table);
    return status;
}

static cairn_status bed_statistics(cairn_study *study, const cairn_world *world,
                                   const cairn_measure_options *options, const bed_bounds *bounds)
{
    TRY(packing_row(study, world, options, bounds));
    TRY(contact_row(study, world, options, bounds));
    return correlation_rows(study, world, options, bounds);
}

/* ---- entries --------------------------------------------------------------------------------- */

static void pouring_rows(cairn_study *study, const pouring *p)
{
    cairn_study_values row = { .ours = 100.0 * (p->steps - p->missed) / p->steps };
    cairn_study_claim(study, p->missed == 0, &row, "steps with exact friction solved to 1e-3 (%%)");
    row = (cairn_study_values){ .ours = p->penetration };
    cairn_study_claim(study, p->penetration < 0.01 * pebble_radius, &row,
                      "deepest overlap below 1 %% of r (m)");
}

static cairn_status bed_rows(cairn_study *study, const cairn_world *world, int pebbles,
                             const pouring *p)
{
    static const bed_bounds bounds = {
        .loosest = 0.55,
        .densest = 0.64,
        .fewest = 4,
        .most = 6,
        .second = { 1.65, 2.1 },
        .packing = "random packings: 0.55 when loose, 0.64 when close",
        .contacts = "rigid balls at rest: 4 when friction carries all it can, 6 without any",
        .peak = "split in random packings, at sqrt(3) d and 2 d",
    };
    cairn_measure_options options = cairn_measure_options_default();
    options.low = (cairn_vec3){ -0.2, -0.2, 0.1 };
    options.high = (cairn_vec3){ 0.2, 0.2, 0.55 };
    options.bins = 100;
    cairn_study_values row = { .published = 20 * 3600.0, .ours = p->seconds };
    row.why =
        "about 20 h in 2005, by an interior point and by an active set method; theirs filled a "
        "vessel that is not given";
    cairn_study_claim(study, p->seconds < 20 * 3600, &row, "%d pebbles poured, CPU time (s)",
                      pebbles);
    pouring_rows(study, p);
    return bed_statistics(study, world, &options, &bounds);
}

static cairn_status pebble_bed(cairn_study *study)
{
    const int pebbles = 2000;
    static const cairn_figure cut = { .name = "bed", .title = "The bed, cut in the middle" };
    cairn_world *world = NULL;
    pouring p;
    cairn_study_note(study,
                     "2,000 pebbles as on the slides; vessel, size and mu = 0.3 are ours, those of "
                     "scenes/pebble_bed.yaml. The slides name the two-point correlation function "
                     "as what they hope to find and print no number of the bed.");
    cairn_status status = cairn_plain_world(3, (cairn_vec3){ 0, 0, -9.81 }, 0.3, &world);
    if (status == CAIRN_OK)
        status = add_vessel(world);
    if (status == CAIRN_OK)
        status = add_inlet(world, pebbles);
    if (status == CAIRN_OK)
        status = pour(world, 4, study->threads, &p);
    if (status == CAIRN_OK) {
        cairn_view_balls(study, world, &cut, 2, 0);
        status = bed_rows(study, world, pebbles, &p);
    }
    cairn_world_destroy(world);
    return status;
}

/* ---- the bed of disks ------------------------------------------------------------------------ */

enum { DISKS = 1000, ACROSS = 25 };

static const double box_width = 1.8; /* m: 30 diameters */

/* Rows of disks, each shifted at random, fall into a box. */
static cairn_status make_disks(cairn_world **out)
{
    uint64_t state = 7;
    TRY(cairn_plain_world(2, (cairn_vec3){ 0, -9.81, 0 }, 0.3, out));
    TRY(cairn_add_wall(*out, (cairn_vec3){ 0, 1, 0 }, (cairn_vec3){ 0, 0, 0 }));
    TRY(cairn_add_wall(*out, (cairn_vec3){ 1, 0, 0 }, (cairn_vec3){ 0, 0, 0 }));
    TRY(cairn_add_wall(*out, (cairn_vec3){ -1, 0, 0 }, (cairn_vec3){ box_width, 0, 0 }));
    for (int i = 0; i < DISKS; i++) {
        double free = box_width / ACROSS - 2 * pebble_radius;
        cairn_ball disk = { .radius = pebble_radius, .mass = 0.2 };
        disk.x.x =
            i % ACROSS * (box_width / ACROSS) + pebble_radius + free * cairn_random_uniform(&state);
        disk.x.y = 0.05 + 0.072 * (i / ACROSS) + 0.012 * cairn_random_uniform(&state);
        TRY(cairn_add_ball(*out, &disk));
    }
    return CAIRN_OK;
}

static cairn_status disk_bed(cairn_study *study)
{
    static const bed_bounds bounds = {
        .loosest = 0.77,
        .densest = 0.9069,
        .fewest = 3,
        .most = 6,
        .second = { 1.65, 2.05 },
        .packing = "0.77 is loose for equal disks; a triangular lattice has 0.9069",
        .contacts = "3 when friction carries all it can; 6 in a triangular lattice",
        .peak = "equal disks order themselves: sqrt(3) d and 2 d in the triangular lattice",
    };
    static const cairn_figure all = { .name = "bed", .title = "1,000 disks at rest" };
    cairn_measure_options options = cairn_measure_options_default();
    options.low = (cairn_vec3){ 0.2, 0.2, 0 };
    options.high = (cairn_vec3){ 1.6, 1.4, 0 };
    options.bins = 100;
    cairn_world *world = NULL;
    pouring p;
    cairn_study_note(study, "1,000 equal disks fall into a box 30 diameters wide and come to rest; "
                            "mu = 0.3. The slides have no data of theirs.");
    cairn_status status = make_disks(&world);
    if (status == CAIRN_OK)
        status = pour(world, 3, study->threads, &p);
    if (status == CAIRN_OK) {
        cairn_view_balls(study, world, &all, 3, 0);
        pouring_rows(study, &p);
        status = bed_statistics(study, world, &options, &bounds);
    }
    cairn_world_destroy(world);
    return status;
}

const cairn_study_entry cairn_entries_pebble_bed[] = {
    { "a05-pebble-bed", "[A05]", "Pebble bed", "2,000 pebbles poured into a vessel", CAIRN_FULL, 40,
      pebble_bed },
    { "a05-correlation-2d", "[A05]", "Two-point correlation", "1,000 disks at rest", CAIRN_FULL, 20,
      disk_bed },
};
const int cairn_entries_pebble_bed_count =
    sizeof cairn_entries_pebble_bed / sizeof cairn_entries_pebble_bed[0];
