/* info.c - `cairn check` and `cairn info`: what a scene or a run holds. */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

/* ---- a scene in lines ------------------------------------------------------------------------ */

void cairn_line_print(const char *name, const char *format, ...)
{
    char text[2048], shown[4 * sizeof text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cairn_text_escape(text, shown, sizeof shown);
    printf("  %-20s %s\n", name, shown);
}

/* An upright box; empty: low is above high. */
typedef struct box {
    cairn_vec3 low, high; /* m */
} box;

/* The least and the most of something, with the rows of their bodies. */
typedef struct spread {
    int64_t count;
    double least, most;
    int least_row, most_row;
} spread;

/* Totals over the bodies of a world. */
typedef struct tally {
    int64_t all, by_motion[CAIRN_MOTION_COUNT], by_shape[CAIRN_SHAPE_COUNT];
    double mass;                           /* kg, of the dynamic bodies                       */
    spread mass_range, size_range;         /* kg, m, of the dynamic bodies                    */
    double radius_minimum, radius_maximum; /* m, of the dynamic spheres                      */
    box centres;                           /* m, of the dynamic bodies                        */
    box all_bodies;                        /* m, of all bodies with an end                    */
} tally;

/* Make room for a point, and for so much around it. */
static void widen(box *b, cairn_vec3 x, double r)
{
    b->low =
        (cairn_vec3){ fmin(b->low.x, x.x - r), fmin(b->low.y, x.y - r), fmin(b->low.z, x.z - r) };
    b->high = (cairn_vec3){ fmax(b->high.x, x.x + r), fmax(b->high.y, x.y + r),
                            fmax(b->high.z, x.z + r) };
}

/* A cairn_polygon_fn. */
static cairn_status widen_by(void *context, const cairn_vec3 *corners, int count, bool closed)
{
    (void)closed;
    for (int i = 0; i < count; i++)
        widen(context, corners[i], 0);
    return CAIRN_OK;
}

/* Round shapes but balls are drawn with corners on their surface, so the box is a little small. */
static void count_extent(const cairn_bodies *bodies, int i, int dimension, tally *t)
{
    const cairn_shape *shape = cairn_bodies_shape(bodies, i);
    const cairn_pose pose = cairn_bodies_shape_pose(bodies, i);
    bool ball = shape->kind == CAIRN_SHAPE_SPHERE || shape->kind == CAIRN_SHAPE_POINT;
    if (ball)
        widen(&t->all_bodies, bodies->x[i], bodies->extent[i]);
    else if (isfinite(bodies->extent[i]))
        cairn_shape_draw(shape, dimension, &pose, widen_by, &t->all_bodies);
}

static void note(spread *s, int row, double value)
{
    if (s->count == 0 || value < s->least)
        s->least_row = row;
    if (s->count == 0 || value > s->most)
        s->most_row = row;
    s->least = s->count == 0 ? value : fmin(s->least, value);
    s->most = s->count == 0 ? value : fmax(s->most, value);
    s->count++;
}

static void count_dynamic(const cairn_bodies *bodies, int i, int dimension, tally *t)
{
    const cairn_shape *shape = cairn_bodies_shape(bodies, i);
    t->mass += bodies->mass[i];
    note(&t->mass_range, i, bodies->mass[i]);
    note(&t->size_range, i, cairn_shape_size(shape, dimension));
    widen(&t->centres, bodies->x[i], 0);
    if (shape->kind == CAIRN_SHAPE_SPHERE) {
        t->radius_minimum = fmin(t->radius_minimum, shape->radius);
        t->radius_maximum = fmax(t->radius_maximum, shape->radius);
    }
}

static tally count_bodies(const cairn_world *world)
{
    cairn_bodies bodies = cairn_world_bodies(world);
    const box empty = { { DBL_MAX, DBL_MAX, DBL_MAX }, { -DBL_MAX, -DBL_MAX, -DBL_MAX } };
    tally t = { .radius_minimum = DBL_MAX };
    t.centres = t.all_bodies = empty;
    for (int i = 0; i < bodies.count; i++) {
        t.all++;
        t.by_motion[bodies.motion[i]]++;
        t.by_shape[cairn_bodies_shape(&bodies, i)->kind]++;
        count_extent(&bodies, i, cairn_world_dimension(world), &t);
        if (bodies.motion[i] == CAIRN_MOTION_DYNAMIC)
            count_dynamic(&bodies, i, cairn_world_dimension(world), &t);
    }
    return t;
}

static void print_counts(const tally *t, int64_t pending)
{
    printf("  %-20s %lld:", "bodies", (long long)t->all);
    for (int i = 0; i < CAIRN_MOTION_COUNT; i++)
        if (t->by_motion[i] > 0)
            printf(" %lld %s", (long long)t->by_motion[i], cairn_motion_name(i));
    printf("\n  %-20s", "shapes");
    for (int i = 0; i < CAIRN_SHAPE_COUNT; i++)
        if (t->by_shape[i] > 0)
            printf(" %lld %s", (long long)t->by_shape[i], cairn_shape_record(i)->name);
    puts("");
    if (pending > 0)
        cairn_line_print("to be poured", "%lld", (long long)pending);
}

static void print_joints(const cairn_world *world)
{
    int by_kind[CAIRN_JOINT_COUNT] = { 0 }, count = cairn_world_joint_count(world);
    for (int i = 0; i < count; i++)
        by_kind[cairn_world_joint(world, i).kind]++;
    if (count == 0)
        return;
    printf("  %-20s %d:", "joints", count);
    for (int i = 0; i < CAIRN_JOINT_COUNT; i++)
        if (by_kind[i] > 0)
            printf(" %d %s", by_kind[i], cairn_joint_record(i)->name);
    puts("");
}

static void print_box(const char *name, const box *b, int dimension)
{
    if (b->low.x > b->high.x)
        return;
    if (dimension == 2)
        cairn_line_print(name, "[%.4g, %.4g] to [%.4g, %.4g] m", b->low.x, b->low.y, b->high.x,
                         b->high.y);
    else
        cairn_line_print(name, "[%.4g, %.4g, %.4g] to [%.4g, %.4g, %.4g] m", b->low.x, b->low.y,
                         b->low.z, b->high.x, b->high.y, b->high.z);
}

/* "0.2 m (body 'ball') to 3 m (body 17)"; all alike: "0.2 m" */
static void print_range(const cairn_scene *scene, const char *name, const char *unit,
                        const spread *s)
{
    const cairn_bodies bodies = cairn_world_bodies(scene->world);
    char least[192], most[192];
    cairn_scene_body_label(scene, (int64_t)bodies.uid[s->least_row], least, sizeof least);
    cairn_scene_body_label(scene, (int64_t)bodies.uid[s->most_row], most, sizeof most);
    if (s->most - s->least <= 1e-9 * s->most)
        cairn_line_print(name, "%.4g %s", s->most, unit);
    else
        cairn_line_print(name, "%.4g %s (body %s) to %.4g %s (body %s)", s->least, unit, least,
                         s->most, unit, most);
}

static void print_extent(const cairn_scene *scene, const tally *t, int dimension)
{
    print_box("extent", &t->all_bodies, dimension);
    if (t->by_motion[CAIRN_MOTION_DYNAMIC] == 0)
        return;
    cairn_line_print("dynamic mass", "%.6g kg", t->mass);
    print_range(scene, "masses", "kg", &t->mass_range);
    print_range(scene, "sizes", "m", &t->size_range);
    if (t->radius_maximum > 0)
        cairn_line_print("radii", "%.6g to %.6g m", t->radius_minimum, t->radius_maximum);
    print_box("centres", &t->centres, dimension);
}

static void print_materials(const cairn_scene *scene)
{
    printf("  %-20s", "materials");
    for (int i = 0; i < scene->material_count; i++) {
        char shown[256]; /* names have 63 bytes at most */
        cairn_text_escape(scene->material_names[i], shown, sizeof shown);
        printf("%s%s", i ? ", " : " ", shown);
    }
    puts("");
}

void cairn_scene_describe(const cairn_scene *scene)
{
    const cairn_step_options *step = &scene->step;
    int dimension = cairn_world_dimension(scene->world);
    tally t = count_bodies(scene->world);
    cairn_line_print("title", "%s", scene->title);
    cairn_line_print("dimension", "%d", dimension);
    print_counts(&t, cairn_world_inlet_pending(scene->world));
    int64_t elsewhere = cairn_world_body_count(scene->world) - t.all;
    if (elsewhere > 0) /* of generators; they are not counted by shape */
        cairn_line_print("made by the ranks", "%lld, %lld in each", (long long)elsewhere,
                         (long long)(elsewhere / cairn_ranks_count(scene->link)));
    print_joints(scene->world);
    print_extent(scene, &t, dimension);
    print_materials(scene);
    cairn_line_print("time step", "%g s", step->time_step);
    cairn_line_print("duration", "%g s: %.0f steps", scene->run.duration,
                     fmax(1.0, round(scene->run.duration / step->time_step)));
    cairn_line_print("scheme, solver", "%s, %s", step->scheme, step->solver);
    if (strcmp(step->backend, cairn_backend_name(0)) != 0)
        cairn_line_print("back end", "%s", step->backend);
    cairn_line_print("tolerance", "%g by the %s law; if missed: %s", step->tolerance,
                     cairn_law_name(cairn_scheme_law(step->scheme)), scene->run.on_uncertified);
}

void cairn_spans_text(const cairn_run_spans *spans, int most, char *text, size_t capacity)
{
    size_t used = 0;
    int shown = spans->count < most ? (int)spans->count : most;
    text[0] = '\0';
    for (int i = 0; i < shown && used < capacity; i++) {
        long long first = spans->span[i][0], last = spans->span[i][1];
        used += (size_t)snprintf(text + used, capacity - used, i ? ", %lld" : "%lld", first);
        if (last > first && used < capacity)
            used += (size_t)snprintf(text + used, capacity - used, "-%lld", last);
    }
    if (spans->count > shown && used < capacity)
        snprintf(text + used, capacity - used, " and %lld more ranges",
                 (long long)(spans->count - shown));
}

/* ---- cairn check ----------------------------------------------------------------------------- */

/* The first one last, so from the end of the list. */
static void print_doubts(const cairn_doubt *doubt)
{
    if (!doubt)
        return;
    print_doubts(doubt->next);
    cairn_error said = doubt->found;
    size_t used = strlen(said.message);
    if (doubt->others > 0)
        snprintf(said.message + used, sizeof said.message - used, " (and %lld more like this)",
                 (long long)doubt->others);
    fputs("WARNING: ", stderr);
    cairn_error_print(CAIRN_OK, &said);
}

static int check_first(const cairn_arguments *arguments, cairn_link *link)
{
    cairn_scene *scene = NULL;
    int code = cairn_arguments_scene(arguments, link, &scene);
    if (code != EXIT_DONE)
        return code;
    if (!arguments->quiet) {
        printf("%s: ok\n", arguments->operand);
        cairn_scene_describe(scene);
        fflush(stdout);
    }
    print_doubts(scene->doubts);
    cairn_scene_destroy(scene);
    return EXIT_DONE;
}

/* With several ranks each makes a share of the bodies, as in a run. */
static int check(const cairn_arguments *arguments)
{
    return cairn_with_ranks(arguments, check_first);
}

static const cairn_flag *const check_flags[] = { &cairn_flag_set, &cairn_flag_quiet, NULL };

const cairn_command cairn_command_check = {
    .name = "check",
    .operand = "SCENE",
    .summary = "Read a scene, build its world, and report what it holds or what is wrong",
    .details =
        "Errors are printed as file:line:column: key: what was found and expected. Warnings\n"
        "name numbers that look like degrees, percent or millimetres, and steps that are too\n"
        "long for the sizes; they do not change the exit code.",
    .flags = check_flags,
    .run = check,
};

/* ---- cairn info ------------------------------------------------------------------------------ */

/* A folder, or a file that starts like HDF5, is a run; anything else is read as a scene. */
static bool is_run(const char *path)
{
    static const char signature[8] = "\x89HDF\r\n\x1a\n";
    const char *dot = strrchr(path, '.');
    char start[8] = "";
    struct stat about;
    bool there = stat(path, &about) == 0;
    if (there && S_ISDIR(about.st_mode))
        return true;
    /* nothing is read from a FIFO or a pipe, as it would be lost */
    FILE *file = there && S_ISREG(about.st_mode) ? fopen(path, "rb") : NULL;
    size_t got = file ? fread(start, 1, sizeof start, file) : 0;
    if (file)
        fclose(file);
    if (got == sizeof start && memcmp(start, signature, sizeof start) == 0)
        return true;
    return dot && strcmp(dot, ".h5") == 0;
}

static void print_certificate(const cairn_run_info *info)
{
    char steps[256];
    cairn_spans_text(&info->missed, 8, steps, sizeof steps);
    cairn_line_print("certificate", "%s", info->certificate);
    if (!isnan(info->worst_relative))
        cairn_line_print("residual", "%.2e at worst, %.2e on average", info->worst_relative,
                         info->mean_relative);
    cairn_line_print("missed tolerance", "%lld steps%s%s", (long long)info->uncertified,
                     steps[0] ? ": " : "", steps);
}

static void print_info(const cairn_run_info *info)
{
    cairn_line_print("title", "%s", info->title);
    cairn_line_print("written by", "cairn %s", info->version);
    cairn_line_print("dimension", "%d", info->dimension);
    cairn_line_print("time", "%g s in %lld steps of %g s", info->time, (long long)info->whole_steps,
                     info->time_step);
    if (info->whole_steps < info->steps)
        cairn_line_print("divided", "into %lld steps and substeps, see cairn explain",
                         (long long)info->steps);
    cairn_line_print("frames", "%lld", (long long)info->frames);
    cairn_line_print("bodies", "%lld", (long long)info->bodies);
    cairn_line_print("contacts", "at most %lld", (long long)info->max_contacts);
    if (info->joints > 0)
        cairn_line_print("joints", "%lld, %lld broken, drift at most %.2e m",
                         (long long)info->joints, (long long)info->broken, info->joint_drift);
    cairn_line_print("scheme, solver", "%s, %s", info->scheme, info->solver);
    cairn_line_print("tolerance", "%g", info->tolerance);
    print_certificate(info);
    if (info->ending[0])
        cairn_line_print("ending", "%s", info->ending);
    cairn_line_print("hash", "%016llx", (unsigned long long)info->hash);
}

static int run_info(const char *path)
{
    cairn_run_info info = { 0 };
    cairn_error error = { 0 };
    cairn_status status = cairn_run_read_info(path, &info, &error);
    if (status != CAIRN_OK) {
        if (!error.file[0])
            snprintf(error.file, sizeof error.file, "%s", path);
        cairn_error_print(status, &error);
        return EXIT_FAILED;
    }
    printf("%s: a run\n", path);
    print_info(&info);
    return EXIT_DONE;
}

static int scene_info(const cairn_arguments *arguments)
{
    cairn_scene *scene = NULL;
    int code = cairn_arguments_scene(arguments, NULL, &scene);
    if (code != EXIT_DONE)
        return code;
    printf("%s: a scene\n", arguments->operand);
    cairn_scene_describe(scene);
    cairn_scene_destroy(scene);
    return EXIT_DONE;
}

static int info(const cairn_arguments *arguments)
{
    return is_run(arguments->operand) ? run_info(arguments->operand) : scene_info(arguments);
}

static const cairn_flag *const info_flags[] = { &cairn_flag_set, NULL };

const cairn_command cairn_command_info = {
    .name = "info",
    .operand = "SCENE|RUN",
    .summary = "Describe a scene or a run folder",
    .details = "A folder or an HDF5 file is read as a run, anything else as a scene.",
    .flags = info_flags,
    .run = info,
};
