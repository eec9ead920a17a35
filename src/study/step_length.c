/* step_length.c - is the step of a run short enough? The scene is run three times: as it was, with
 * half the step, and with a tenth of the tolerance.
 *
 * 1. All runs are sampled at the same times, whole steps of the first run.
 * 2. A quantity is one number for each run: a mean, its last value or its largest. Its change is
 *    the difference from the first run as a share of a scale that noise does not make small.
 * 3. A scheme of first order has the error C h: halving the step changes a quantity by half its
 *    error. Where the tolerance alone changes it as much, it depends on chance, as the places of
 *    bodies in a collapsing pile do, and no step would settle it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/common.h"
#include "base/memory.h"
#include "cairn/output.h"
#include "file/file.h"
#include "run/run_file.h"
#include "study/study.h"

enum { PLACE, KINETIC, POTENTIAL, FRICTION, IMPACTS, FORCE, CONTACTS, OVERLAP };
enum { MEAN, LAST, MOST };
enum { OF_WAY, OF_ENERGY, OF_WEIGHT, OF_CONTACTS, OF_ONE };

/* An impact pushes for one step, so the number of contacts that push depends on the step even where
 * the motion does not: it is no reason for a verdict. */
static const struct {
    const char *name, *unit;
    int taken, scale;
} rows[CAIRN_STEP_QUANTITIES] = {
    [PLACE] = { "places of bodies, rms", "m", LAST, OF_WAY },
    [KINETIC] = { "kinetic energy, mean", "J", MEAN, OF_ENERGY },
    [POTENTIAL] = { "potential energy at the end", "J", LAST, OF_ENERGY },
    [FRICTION] = { "lost by friction", "J", LAST, OF_ENERGY },
    [IMPACTS] = { "lost by impacts", "J", LAST, OF_ENERGY },
    [FORCE] = { "sum of normal forces, mean", "N", MEAN, OF_WEIGHT },
    [CONTACTS] = { "contacts that push, mean", "", MEAN, OF_CONTACTS },
    [OVERLAP] = { "deepest overlap", "radii", MOST, OF_ONE },
};

static const char *const scale_names[] = {
    [OF_WAY] = "farthest that a body moved, or a radius",
    [OF_ENERGY] = "energy that the bodies turn over",
    [OF_WEIGHT] = "mean sum, or the weight",
    [OF_CONTACTS] = "mean number, or 1",
    [OF_ONE] = "radius of the smaller body",
};

/* A check under way. */
typedef struct check {
    const cairn_step_check_options *options;
    cairn_step_check *out;
    double duration; /* s: of each run          */
    cairn_sample_times times;
    cairn_trajectory plain; /* places in the first run */
    double wall_seconds;    /* of the run that is checked */
    double size, weight;    /* m, N: radius of the smallest dynamic body; m g of all */
} check;

/* One of its runs. Sums since the last sample, or since the start of the run. */
typedef struct trial {
    check *c;
    const cairn_world *world;
    int run, next;                /* number of the next sample */
    double impulse, active, time; /* N s, s: since the last sample                    */
    double friction, impacts;     /* J: since the start                               */
    double overlap;               /* deepest since the last sample                    */
    double began;                 /* s: wall time                                     */
    cairn_distance_meter meter;
    cairn_status status;
    bool stopped;
} trial;

/* ---- (1) sampling ---------------------------------------------------------------------------- */

static double pushed(const cairn_world *world)
{
    const cairn_contacts c = cairn_world_contacts(world);
    double sum = 0;
    for (int k = 0; k < c.count; k++)
        sum += c.impulse[k * c.dimension];
    return sum;
}

static void add_step(trial *t, const cairn_progress *p)
{
    const cairn_step_report *r = p->report;
    double length = cairn_world_last_length(t->world);
    t->impulse += pushed(t->world);
    t->active += length * r->active;
    t->time += length;
    t->friction += r->energy.friction_loss;
    t->impacts += r->energy.impact_loss;
    t->overlap = fmax(t->overlap, r->overlap);
}

/* Places at `time` exactly, all else at the end of the step. */
static cairn_status add_sample(trial *t, double time, const cairn_energy *energy)
{
    cairn_step_check *out = t->c->out;
    double length = t->time > 0 ? t->time : 1;
    if (t->run == CAIRN_STEP_PLAIN)
        TRY(cairn_trajectory_add(&t->c->plain, t->world, time));
    else
        cairn_distance_meter_add(&t->meter, &t->c->plain, t->next, t->world, time);
    const double values[CAIRN_STEP_QUANTITIES] = {
        [PLACE] = t->meter.difference.end_rms,
        [KINETIC] = energy->kinetic,
        [POTENTIAL] = energy->potential,
        [FRICTION] = t->friction,
        [IMPACTS] = t->impacts,
        [FORCE] = t->impulse / length,
        [CONTACTS] = t->active / length,
        [OVERLAP] = t->overlap,
    };
    for (int q = 0; q < CAIRN_STEP_QUANTITIES; q++)
        out->series[q][t->run][t->next] = values[q];
    out->time[t->next++] = time;
    t->impulse = t->active = t->time = t->overlap = 0;
    return CAIRN_OK;
}

/* The first run ends when it has used its share of the time, if it has samples; the others then end
 * there as well. */
static bool has_time(trial *t)
{
    check *c = t->c;
    bool limited = t->run == CAIRN_STEP_PLAIN && c->options->duration == 0 && t->next > 0;
    double most = c->options->seconds / CAIRN_STEP_COST;
    if (!limited || !(most > 0) || cairn_clock_seconds() - t->began < most)
        return true;
    c->duration = t->next * c->times.interval;
    c->out->whole = false;
    return false;
}

static bool caller_goes_on(const trial *t, const cairn_progress *step)
{
    const check *c = t->c;
    const cairn_step_progress p = { t->run, c->duration, c->wall_seconds, step };
    return !c->options->progress || c->options->progress(&p, c->options->context);
}

/* Called by cairn_run after every step; the samples of the first run coincide with its steps, up to
 * rounding. */
static bool after_step(const cairn_progress *progress, void *context)
{
    trial *t = context;
    const cairn_sample_times *times = &t->c->times;
    double reached = progress->time + 1e-6 * times->interval;
    add_step(t, progress);
    while (t->status == CAIRN_OK && t->next < times->count) {
        double time = times->start + (t->next + 1) * times->interval;
        if (time > reached)
            break;
        t->status = add_sample(t, time, &progress->report->energy);
    }
    t->stopped = !caller_goes_on(t, progress);
    return t->status == CAIRN_OK && !t->stopped && has_time(t);
}

/* ---- the runs -------------------------------------------------------------------------------- */

/* The radius of a ball, half the largest side of other shapes; m. */
static void measure(const cairn_world *world, check *c)
{
    const cairn_bodies b = cairn_world_bodies(world);
    const cairn_vec3 g = cairn_world_gravity(world);
    double mass = 0;
    c->size = HUGE_VAL;
    for (int i = b.held; i < b.count; i++) {
        double size = cairn_shape_size(cairn_bodies_shape(&b, i), cairn_world_dimension(world)) / 2;
        c->size = size > 0 ? fmin(c->size, size) : c->size;
        mass += b.mass[i];
    }
    c->weight = mass * sqrt(g.x * g.x + g.y * g.y + g.z * g.z);
    c->size = isfinite(c->size) ? c->size : 1;
}

/* Whole steps between the samples, at most CAIRN_STEP_SAMPLES of them. */
static void choose_times(const cairn_scene *scene, check *c)
{
    double h = scene->step.time_step, whole = scene->run.duration, asked = c->options->duration;
    c->duration = asked > 0 && asked < whole ? asked : whole;
    double steps = fmax(round(c->duration / h), 1);
    double stride = ceil(steps / CAIRN_STEP_SAMPLES);
    c->times = (cairn_sample_times){ cairn_world_time(scene->world), stride * h,
                                     (int)floor(steps / stride) };
    c->out->whole = c->duration == whole;
    c->out->time_step = h;
    c->out->tolerance = scene->step.tolerance;
    memcpy(c->out->title, scene->title, sizeof c->out->title);
}

/* Run a scene without writing anything; a step that misses its tolerance does not end it. */
static cairn_status run_scene(cairn_scene *scene, trial *t, cairn_error *error)
{
    check *c = t->c;
    if (t->run == CAIRN_STEP_PLAIN) {
        measure(scene->world, c);
        choose_times(scene, c);
    }
    scene->run.duration = c->duration;
    scene->run.packing = false;
    scene->run.on_uncertified = "warn";
    scene->run.statistics.count = 0;
    t->world = scene->world;
    t->began = cairn_clock_seconds();
    if (!caller_goes_on(t, NULL))
        return CAIRN_STOPPED;
    TRY(cairn_run(scene, NULL, after_step, t, &c->out->summary[t->run], error));
    TRY(t->status);
    return t->stopped ? CAIRN_STOPPED : CAIRN_OK;
}

/* The overrides of the caller, and the one of this run, which wins. */
static cairn_status run_trial(check *c, int run, const char *path, const char **overrides,
                              cairn_error *error)
{
    char text[64], number[32];
    int count = c->options->override_count;
    trial t = { .c = c, .run = run };
    cairn_scene *scene;
    bool halved = run == CAIRN_STEP_HALVED;
    cairn_number_text(halved ? c->out->time_step / 2 : c->out->tolerance / 10, number);
    snprintf(text, sizeof text, "run.%s=%s", halved ? "time_step" : "tolerance", number);
    overrides[count] = text;
    count += run != CAIRN_STEP_PLAIN;
    TRY(cairn_scene_load(path, overrides, count, &scene, error));
    cairn_status status = run_scene(scene, &t, error);
    cairn_scene_destroy(scene);
    /* a run that came to rest, or had no more time, has fewer samples: those after it count no
     * more */
    c->times.count = t.next < c->times.count ? t.next : c->times.count;
    if (status == CAIRN_OK && c->times.count == 0)
        return cairn_fail(error, CAIRN_BAD_INPUT, NULL, "the run ended before its first sample");
    return status;
}

static cairn_status run_trials(check *c, const char *path, cairn_error *error)
{
    const cairn_step_check_options *o = c->options;
    const char **overrides = cairn_memory_zeroed((size_t)o->override_count + 1, sizeof *overrides);
    cairn_status status = overrides ? CAIRN_OK : CAIRN_NO_MEMORY;
    for (int i = 0; overrides && i < o->override_count; i++)
        overrides[i] = o->overrides[i];
    for (int run = 0; run < CAIRN_STEP_RUNS && status == CAIRN_OK; run++)
        status = run_trial(c, run, path, overrides, error);
    cairn_memory_free(overrides);
    return status;
}

/* ---- (2) what changes ------------------------------------------------------------------------ */

static double take(const check *c, int q, int run)
{
    const double *series = c->out->series[q][run];
    double sum = 0, most = -HUGE_VAL;
    for (int k = 0; k < c->times.count; k++) {
        sum += series[k] / c->times.count;
        most = fmax(most, series[k]);
    }
    return rows[q].taken == MEAN ? sum : rows[q].taken == MOST ? most : series[c->times.count - 1];
}

static double largest(const check *c, int q)
{
    double most = -HUGE_VAL;
    for (int k = 0; k < c->times.count; k++)
        most = fmax(most, c->out->series[q][CAIRN_STEP_PLAIN][k]);
    return most;
}

static double smallest(const check *c, int q)
{
    double least = HUGE_VAL;
    for (int k = 0; k < c->times.count; k++)
        least = fmin(least, c->out->series[q][CAIRN_STEP_PLAIN][k]);
    return least;
}

/* The energy of a scene at rest is noise: the least scale lifts all bodies by a hundredth of the
 * smallest radius. */
static double scale_of(const check *c, int which)
{
    double turned = largest(c, KINETIC) + largest(c, POTENTIAL) - smallest(c, POTENTIAL) +
                    fabs(take(c, FRICTION, 0)) + fabs(take(c, IMPACTS, 0));
    switch (which) {
    case OF_WAY:
        return fmax(c->out->summary[CAIRN_STEP_PLAIN].displacement, c->size);
    case OF_ENERGY:
        return fmax(turned, 0.01 * c->weight * c->size);
    case OF_WEIGHT:
        return fmax(take(c, FORCE, 0), c->weight);
    case OF_CONTACTS:
        return fmax(take(c, CONTACTS, 0), 1);
    default:
        return 1;
    }
}

/* (3) */
static cairn_step_verdict judge(const double change[CAIRN_STEP_RUNS])
{
    double halved = change[CAIRN_STEP_HALVED], strict = change[CAIRN_STEP_STRICT];
    if (halved <= CAIRN_STEP_LIMIT && strict <= CAIRN_STEP_LIMIT)
        return CAIRN_STEP_FINE;
    return 2 * strict >= halved ? CAIRN_STEP_SENSITIVE : CAIRN_STEP_TOO_LONG;
}

static void compare(const check *c)
{
    for (int q = 0; q < CAIRN_STEP_QUANTITIES; q++) {
        cairn_step_quantity *out = &c->out->quantities[q];
        double scale = scale_of(c, rows[q].scale);
        *out = (cairn_step_quantity){ rows[q].name, rows[q].unit, scale_names[rows[q].scale],
                                      scale > 0 ? scale : 1 };
        for (int run = 0; run < CAIRN_STEP_RUNS; run++) {
            out->value[run] = take(c, q, run);
            out->change[run] = fabs(out->value[run] - out->value[0]) / out->scale;
        }
        out->verdict = q == CONTACTS ? CAIRN_STEP_FINE : judge(out->change);
    }
    c->out->samples = c->times.count;
    c->out->duration = c->duration;
}

/* ---- the scene of the run -------------------------------------------------------------------- */

/* The text of the scene, and how long the run took. */
static cairn_status read_run(const char *path, char *text, size_t capacity, check *c,
                             cairn_error *error)
{
    char found[CAIRN_PATH_BYTES];
    hid_t file;
    TRY(cairn_run_find_file(path, found, error));
    TRY(cairn_hdf5_open(found, &file, error));
    cairn_status status = cairn_hdf5_read_text_attribute(file, "scene", text, capacity);
    cairn_hdf5_read_real_attribute(file, "wall_seconds", &c->wall_seconds);
    H5Fclose(file);
    if (status != CAIRN_OK || !text[0])
        return cairn_fail(error, CAIRN_UNSUPPORTED, NULL,
                          "the run was not made from a scene: there is nothing to run again");
    return CAIRN_OK;
}

/* The values of --set with which it was run, which its text ends with, one a line. */
static int find_overrides(char *text, const char **out, int most)
{
    static const char mark[] = "# --set ";
    char *end = text + strlen(text);
    int count = 0;
    for (char *line = end; line > text && count < most; end = line) {
        while (line > text && (line == end || line[-1] != '\n'))
            line--;
        if (strncmp(line, mark, strlen(mark)) != 0)
            break;
        line[strcspn(line, "\n")] = '\0';
        out[count++] = line + strlen(mark);
    }
    for (int i = 0; i < count / 2; i++) {
        const char *other = out[i];
        out[i] = out[count - 1 - i];
        out[count - 1 - i] = other;
    }
    return count;
}

/* A file with the text for cairn_scene_load, to be removed. */
static cairn_status write_scene(const char *text, char path[CAIRN_PATH_BYTES], cairn_error *error)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, CAIRN_PATH_BYTES, "%.2000s/cairn-scene-XXXXXX", folder ? folder : "/tmp");
    int file = mkstemp(path);
    size_t length = strlen(text);
    bool good = file >= 0 && write(file, text, length) == (ssize_t)length;
    if (file >= 0 && close(file) == 0 && good)
        return CAIRN_OK;
    if (file >= 0)
        unlink(path);
    return cairn_fail(error, CAIRN_IO_FAILED, NULL, "cannot write the scene of the run to %.200s",
                      path);
}

enum { LONGEST = 1 << 24, MOST_OVERRIDES = 256 };

/* With its overrides before those of the caller. */
static cairn_status run_stored(check *c, char *text, cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    const char *all[MOST_OVERRIDES];
    const cairn_step_check_options *asked = c->options;
    cairn_step_check_options o = *asked;
    o.overrides = all;
    o.override_count = find_overrides(text, all, MOST_OVERRIDES / 2);
    for (int i = 0; i < asked->override_count && o.override_count < MOST_OVERRIDES; i++)
        all[o.override_count++] = asked->overrides[i];
    TRY(write_scene(text, path, error));
    c->options = &o;
    cairn_status status = run_trials(c, path, error);
    c->options = asked;
    unlink(path);
    return status;
}

cairn_status cairn_run_check_step(const char *path, const cairn_step_check_options *options,
                                  cairn_step_check *out, cairn_error *error)
{
    check c = { .options = options, .out = out };
    cairn_run_info info;
    *out = (cairn_step_check){ 0 };
    TRY(cairn_run_read_info(path, &info, error));
    char *text = cairn_memory_zeroed(LONGEST, 1);
    if (!text)
        return CAIRN_NO_MEMORY;
    cairn_status status = read_run(path, text, LONGEST, &c, error);
    if (status == CAIRN_OK)
        status =
            options->scene ? run_trials(&c, options->scene, error) : run_stored(&c, text, error);
    if (status == CAIRN_OK) {
        compare(&c);
        out->same_hash = out->summary[CAIRN_STEP_PLAIN].hash == info.hash;
    }
    cairn_memory_free(text);
    cairn_trajectory_destroy(&c.plain);
    return status;
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* The runs as curves, and the quantities that have a panel. */
static const char *const curves[CAIRN_STEP_RUNS] = { "as it was", "half the step",
                                                     "a tenth of the tolerance" };
static const struct {
    int quantity;
    const char *label;
} panels[] = {
    { PLACE, "distance of bodies" },
    { KINETIC, "kinetic energy" },
    { FORCE, "sum of forces" },
    { CONTACTS, "contacts" },
};

static void write_data(const cairn_step_check *c, FILE *out)
{
    fputs("$data << END\n", out);
    for (int k = 0; k < c->samples; k++) {
        char number[32];
        cairn_number_text(c->time[k], number);
        fputs(number, out);
        for (int p = 0; p < CAIRN_COUNT(panels); p++)
            for (int run = 0; run < CAIRN_STEP_RUNS; run++) {
                cairn_number_text(c->series[panels[p].quantity][run][k], number);
                fprintf(out, " %s", number);
            }
        fputc('\n', out);
    }
    fputs("END\n", out);
}

/* From 0 to at least the change that counts: what is smaller shall not look large. */
static void write_range(const cairn_step_check *c, int quantity, FILE *out)
{
    char end[32];
    double least = CAIRN_STEP_LIMIT * c->quantities[quantity].scale, high = 0;
    for (int run = 0; run < CAIRN_STEP_RUNS; run++)
        for (int k = 0; k < c->samples; k++)
            high = fmax(high, c->series[quantity][run][k]);
    cairn_number_text(least, end);
    fprintf(out, "set yrange [0:%s]\n", high > least ? "*" : end);
}

static void write_panel(const cairn_step_check *c, int p, FILE *out)
{
    const char *between = "plot ";
    int quantity = panels[p].quantity;
    cairn_plot_label(out, 'x', "time", "s");
    cairn_plot_label(out, 'y', panels[p].label, rows[quantity].unit);
    write_range(c, quantity, out);
    /* no run is at a distance from itself */
    for (int run = quantity == PLACE; run < CAIRN_STEP_RUNS; run++) {
        fprintf(out, "%s$data using 1:%d with lines lw 2 dt %d lc rgb '%s' title '%s'", between,
                2 + CAIRN_STEP_RUNS * p + run, run + 1, cairn_plot_colour(run), curves[run]);
        between = ", \\\n     ";
    }
    fputc('\n', out);
}

cairn_status cairn_step_check_write(const cairn_step_check *c, const char *folder,
                                    cairn_error *error)
{
    char path[CAIRN_PATH_BYTES];
    cairn_file file;
    char title[sizeof c->title + 80];
    int count = CAIRN_COUNT(panels);
    TRY(cairn_folder_create(folder, error));
    TRY(cairn_path_join(folder, "step-length.gp", path, error));
    TRY(cairn_file_create(path, &file, error));
    fputs("# step-length.gp - run as: gnuplot step-length.gp\n", file.stream);
    cairn_plot_begin(file.stream,
                     &(cairn_plot_page){ "step-length.svg", 760, 60 + 220 * count, true });
    write_data(c, file.stream);
    cairn_plot_range(file.stream, 'x', c->time[0], c->time[c->samples - 1]);
    fprintf(file.stream, "set multiplot layout %d,1 title ", count);
    snprintf(title, sizeof title, "%s\nsteps of %g s, and distances from that run",
             c->title[0] ? c->title : "a run", c->time_step);
    cairn_plot_title(file.stream, title);
    for (int p = 0; p < count; p++)
        write_panel(c, p, file.stream);
    fputs("unset multiplot\n", file.stream);
    return cairn_file_commit(&file, error);
}
