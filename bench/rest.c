/* rest.c - a box of spheres at rest, and many of them side by side and on top of each other: what a
 * step costs there. It needs no scene and no file format but its own. Also what all parts of the
 * benchmark share.
 *
 * A box settles once, and the positions of its spheres are kept in a file of the folder for the
 * next time. For sizes that would take a night to settle, copies of it are put together: mirrored
 * along x and y, so that what leaned on a wall leans on its image, and stacked along z. The
 * disturbance at the seams has some steps to come to rest before anything is measured. Every run
 * starts without impulses. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"
#include "math/vec.h"

/* ---- what the parts share ------------------------------------------------------------------- */

void bench_fail(const char *what, cairn_status status)
{
    fprintf(stderr, "bench: %s: %s\n", what, cairn_status_text(status));
    exit(1);
}

FILE *bench_table(const char *folder, const char *name, const char *head)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (!out)
        bench_fail(path, CAIRN_IO_FAILED);
    fprintf(out, "%s\n", head);
    return out;
}

double bench_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of processor time so far, of all threads. */
double bench_processor_time(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_utime.tv_sec + 1e-6 * (double)use.ru_utime.tv_usec +
           (double)use.ru_stime.tv_sec + 1e-6 * (double)use.ru_stime.tv_usec;
}

/* A whole number from 1 on that ends at `*end`. */
static int read_number(const char *text, const char **end)
{
    char *stop;
    long number = strtol(text, &stop, 10);
    *end = stop;
    if (stop == text || number < 1 || number > 1000000000) {
        fprintf(stderr, "bench: %s: expected a number from 1 on\n", text);
        exit(2);
    }
    return (int)number;
}

/* A number given in place `at`, or its default. */
int bench_number_at(int argc, char **argv, int at, int otherwise)
{
    if (argc <= at)
        return otherwise;
    const char *end;
    int number = read_number(argv[at], &end);
    if (*end != '\0') {
        fprintf(stderr, "bench: %s: expected a number from 1 on\n", argv[at]);
        exit(2);
    }
    return number;
}

/* Copies along x, y and z, as in 2x2x1. */
static void read_copies(const char *text, int copies[3])
{
    const char *at = text;
    for (int i = 0; i < 3; i++) {
        copies[i] = read_number(at, &at);
        if (*at != (i < 2 ? 'x' : '\0')) {
            fprintf(stderr, "bench: %s: expected copies along x, y and z, as in 2x2x1\n", text);
            exit(2);
        }
        at++;
    }
}

/* Options of a box at rest, from argument `at` on. */
bench_rest_options bench_read_rest(int argc, char **argv, int at)
{
    bench_rest_options o = { .n = bench_number_at(argc, argv, at, 32),
                             .copies = { 1, 1, 1 },
                             .scheme = argc > at + 1 ? argv[at + 1] : "convex",
                             .before = bench_number_at(argc, argv, at + 3, 20),
                             .steps = bench_number_at(argc, argv, at + 4, 20),
                             .parts = argc > at + 5 && strcmp(argv[at + 5], "0") != 0
                                          ? bench_number_at(argc, argv, at + 5, 1)
                                          : 0,
                             .backend = argc > at + 6 ? argv[at + 6] : NULL,
                             .threads = bench_number_at(argc, argv, at + 7, 1) };
    if (argc > at + 2)
        read_copies(argv[at + 2], o.copies);
    return o;
}

/* ---- a heap of balls ------------------------------------------------------------------------ */

static const double side = 10; /* m: of the box */

/* One ball; velocities in space axes. */
typedef struct ball {
    cairn_vec3 x, v, omega;
    double radius, mass;
} ball;

typedef struct heap {
    ball *balls;
    size_t count;
    double time_step;
} heap;

/* ---- a box that has settled ----------------------------------------------------------------- */

static void add_body(cairn_world *world, const cairn_body_def *def)
{
    cairn_status status = cairn_body_create(world, def, NULL);
    if (status != CAIRN_OK)
        bench_fail("a body", status);
}

static void add_wall(cairn_world *world, cairn_vec3 axis, cairn_vec3 at)
{
    cairn_body_def def = cairn_body_def_default();
    def.motion = CAIRN_MOTION_FIXED;
    def.shape.kind = CAIRN_SHAPE_HALF_SPACE;
    def.shape.axis = axis;
    def.position = at;
    add_body(world, &def);
}

static cairn_world *open_floor(void)
{
    cairn_world_def def = cairn_world_def_default();
    cairn_material_def material = cairn_material_def_default();
    cairn_world *world;
    def.gravity = cairn_vec(0, 0, -1);
    material.friction = 0.3;
    if (cairn_world_create(&def, &world) != CAIRN_OK ||
        cairn_material_create(world, &material, NULL) != CAIRN_OK)
        bench_fail("a world", CAIRN_NO_MEMORY);
    add_wall(world, cairn_vec(0, 0, 1), cairn_vec(0, 0, 0));
    return world;
}

static cairn_world *open_box(double width, double depth)
{
    cairn_world *world = open_floor();
    add_wall(world, cairn_vec(1, 0, 0), cairn_vec(0, 0, 0));
    add_wall(world, cairn_vec(-1, 0, 0), cairn_vec(width, 0, 0));
    add_wall(world, cairn_vec(0, 1, 0), cairn_vec(0, 0, 0));
    add_wall(world, cairn_vec(0, -1, 0), cairn_vec(0, depth, 0));
    return world;
}

/* A floor that repeats itself along x and y. */
static cairn_world *open_cell(double width, double depth)
{
    cairn_world *world = open_floor();
    cairn_lattice_def cell = cairn_lattice_def_default();
    cell.axes = (cairn_names){ .count = 2, .items = { "x", "y" } };
    cell.high = cairn_vec(width, depth, 1);
    cairn_status status = cairn_world_set_lattice(world, &cell);
    if (status != CAIRN_OK)
        bench_fail("a periodic cell", status);
    return world;
}

/* n^3 spheres, as in scenes/box_of_spheres.yaml, made without the file, so that this benchmark
 * needs no file formats. */
static cairn_world *fill(cairn_world *world, int n)
{
    double d = side / n, r = d / 2;
    cairn_generator grid = cairn_generator_default(CAIRN_GENERATOR_GRID, 3);
    grid.count = cairn_vec(n, n, n);
    grid.origin = cairn_vec(r, r, r);
    grid.spacing = cairn_vec(d, d, d);
    grid.jitter = 0.05 * r;
    grid.seed = 12345;
    grid.radius = (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM,
                                        .minimum = 0.8 * r,
                                        .maximum = 0.9 * r };
    grid.mass =
        (cairn_distribution){ .kind = CAIRN_DISTRIBUTION_UNIFORM, .minimum = 1, .maximum = 2 };
    cairn_status status = cairn_generate(world, &grid, NULL, NULL);
    if (status != CAIRN_OK)
        bench_fail("a grid of spheres", status);
    return world;
}

static void settle(cairn_world *world, const char *scheme, double time_step)
{
    cairn_step_options options = cairn_step_options_default();
    cairn_step_report report;
    int steps = (int)(BENCH_UNTIL / time_step);
    options.time_step = time_step;
    options.scheme = scheme;
    options.threads = 0;
    for (int k = 0; k < steps; k++) {
        cairn_status status = cairn_world_step(world, &options, &report);
        if (status != CAIRN_OK)
            bench_fail("a step", status);
        if (k % 50 == 49)
            fprintf(stderr, "bench: settled %d of %d steps\n", k + 1, steps);
    }
}

static void take_balls(const cairn_world *world, heap *out)
{
    const cairn_bodies b = cairn_world_bodies(world);
    for (int i = 0; i < b.count; i++)
        if (b.motion[i] == CAIRN_MOTION_DYNAMIC)
            out->balls[out->count++] = (ball){ b.x[i], b.v[i], cairn_rotate(b.q[i], b.omega[i]),
                                               cairn_bodies_shape(&b, i)->radius, b.mass[i] };
}

/* From the file if it exists; otherwise settled and written to it. */
static heap settled_box(const char *folder, int n, const char *scheme)
{
    char path[512];
    heap h = { .count = (size_t)n * (size_t)n * (size_t)n };
    h.time_step = BENCH_LONGER * 0.2 * 0.8 * (side / n / 2) / 4.5;
    h.balls = calloc(h.count, sizeof *h.balls);
    snprintf(path, sizeof path, "%s/settled-%d-%s.bin", folder, n, scheme);
    FILE *file = fopen(path, "rb");
    if (!h.balls)
        bench_fail("memory", CAIRN_NO_MEMORY);
    if (!file || fread(h.balls, sizeof *h.balls, h.count, file) != h.count) {
        cairn_world *world = fill(open_box(side, side), n);
        settle(world, scheme, h.time_step);
        h.count = 0;
        take_balls(world, &h);
        cairn_world_destroy(world);
        FILE *out = fopen(path, "wb");
        if (!out || fwrite(h.balls, sizeof *h.balls, h.count, out) != h.count || fclose(out))
            bench_fail(path, CAIRN_IO_FAILED);
    }
    if (file)
        fclose(file);
    return h;
}

/* ---- copies of it --------------------------------------------------------------------------- */

static double mirrored(double x, int place, bool turned)
{
    return place * side + (turned ? side - x : x);
}

/* A reflection turns angular velocities as well: along the axes that are kept. */
static ball placed(const ball *from, const int place[3], double height)
{
    bool flip_x = place[0] % 2 == 1, flip_y = place[1] % 2 == 1;
    double sx = flip_x ? -1 : 1, sy = flip_y ? -1 : 1;
    ball b = *from;
    b.x = cairn_vec(mirrored(b.x.x, place[0], flip_x), mirrored(b.x.y, place[1], flip_y),
                    b.x.z + place[2] * height);
    b.v = cairn_vec(sx * b.v.x, sy * b.v.y, b.v.z);
    b.omega = cairn_vec(sy * b.omega.x, sx * b.omega.y, sx * sy * b.omega.z);
    return b;
}

static void add_ball(cairn_world *world, const ball *b)
{
    cairn_body_def def = cairn_body_def_default();
    def.shape.kind = CAIRN_SHAPE_SPHERE;
    def.shape.radius = b->radius;
    def.mass = b->mass;
    def.position = b->x;
    def.velocity = b->v;
    def.angular_velocity = b->omega;
    add_body(world, &def);
}

static double top_of(const heap *h)
{
    double top = 0;
    for (size_t i = 0; i < h->count; i++)
        top = fmax(top, h->balls[i].x.z + h->balls[i].radius);
    return top;
}

static cairn_world *put_together(const heap *h, const int copies[3])
{
    cairn_world *world = open_box(copies[0] * side, copies[1] * side);
    double height = top_of(h);
    int place[3];
    for (place[2] = 0; place[2] < copies[2]; place[2]++)
        for (place[1] = 0; place[1] < copies[1]; place[1]++)
            for (place[0] = 0; place[0] < copies[0]; place[0]++)
                for (size_t i = 0; i < h->count; i++) {
                    ball b = placed(&h->balls[i], place, height);
                    add_ball(world, &b);
                }
    return world;
}

/* ---- what a step costs ---------------------------------------------------------------------- */

static cairn_step_report step(cairn_world *world, const cairn_step_options *options)
{
    cairn_step_report report;
    cairn_status status = cairn_world_step(world, options, &report);
    if (status != CAIRN_OK)
        bench_fail("a step", status);
    return report;
}

typedef struct cost {
    cairn_timing sum;
    double processor, wall; /* s */
    int64_t sweeps;
    int candidates, missed;
} cost;

static cost measure(cairn_world *world, const cairn_step_options *options, int steps)
{
    cost c = { 0 };
    double start = bench_processor_time(), clock = bench_clock();
    for (int k = 0; k < steps; k++) {
        cairn_step_report report = step(world, options);
        c.sum.collide += report.timing.collide / steps;
        c.sum.assemble += report.timing.assemble / steps;
        c.sum.solve += report.timing.solve / steps;
        c.sum.finish += report.timing.finish / steps;
        c.sweeps += report.solve.iterations;
        c.missed += !report.solve.converged;
        c.candidates = report.candidates;
    }
    c.processor = (bench_processor_time() - start) / steps;
    c.wall = (bench_clock() - clock) / steps;
    return c;
}

static void show(const char *scheme, double spheres, const cost *c, int steps)
{
    double all = c->wall, rest = all - c->sum.solve, sweeps = (double)c->sweeps / steps;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("%-12s %8.0f %9d %7.0f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %7.3f %7.1f %6.2f%s\n",
           scheme, spheres, c->candidates, sweeps, 1e3 * c->sum.collide, 1e3 * c->sum.assemble,
           1e3 * c->sum.solve, 1e3 * c->sum.finish, 1e3 * all, 1e3 * c->processor,
           1e6 * rest * c->processor / all / spheres,
           sweeps > 0 ? rest / (c->sum.solve / sweeps) : 0, (double)use.ru_maxrss / 1e6,
           c->missed ? "  some missed" : "");
}

/* One more row of rest.csv; for a size that was measured before, the last row counts. */
static void keep_row(const char *folder, const char *scheme, double spheres, const cost *c,
                     int steps)
{
    char path[512];
    snprintf(path, sizeof path, "%s/rest.csv", folder);
    FILE *csv = fopen(path, "r");
    if (csv)
        fclose(csv);
    else
        fclose(bench_table(folder, "rest.csv",
                           "scheme,bodies,candidates,sweeps,collide_s,assemble_s,solve_s,finish_s,"
                           "processor_s"));
    csv = fopen(path, "a");
    if (!csv)
        bench_fail(path, CAIRN_IO_FAILED);
    fprintf(csv, "%s,%.0f,%d,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n", scheme, spheres, c->candidates,
            (double)c->sweeps / steps, c->sum.collide, c->sum.assemble, c->sum.solve, c->sum.finish,
            c->processor);
    fclose(csv);
}

/* ---- what periodic sides cost ---------------------------------------------------------------- */

/* Seconds of the stages of a step, and its contacts. */
typedef struct stages {
    double seconds[4];
    int contacts;
} stages;

static void keep_least(stages *s, const cairn_step_report *report)
{
    const cairn_timing *t = &report->timing;
    const double seconds[4] = { t->collide, t->assemble, t->solve, t->finish };
    for (int i = 0; i < 4; i++)
        if (s->contacts == 0 || seconds[i] < s->seconds[i])
            s->seconds[i] = seconds[i];
    s->contacts = report->candidates + 1; /* not 0: this step was measured */
}

/* Nanoseconds per contact of all steps, by stage and in all. */
static void sum_up(const stages *steps, int count, double out[5])
{
    double contacts = 0, sum[5] = { 0 };
    for (int k = 0; k < count; k++) {
        contacts += steps[k].contacts - 1;
        for (int i = 0; i < 4; i++)
            sum[i] += steps[k].seconds[i];
    }
    sum[4] = sum[0] + sum[1] + sum[2] + sum[3];
    for (int i = 0; i < 5; i++)
        out[i] = 1e9 * sum[i] / contacts;
}

/* Both worlds begin alike and take turns, with the same number of sweeps in each step. Runs are
 * repeated, and of each stage of each step the least time counts: every run does the same. */
void bench_periodic(const char *folder, int n, int steps, int rounds)
{
    enum { SWEEPS = 40 };
    static const char *const names[] = { "collide", "assemble", "solve", "finish", "step" };
    cairn_step_options options = cairn_step_options_default();
    stages *all = calloc(2 * (size_t)steps, sizeof *all);
    double each[2][5];
    if (!all)
        bench_fail("memory", CAIRN_NO_MEMORY);
    options.time_step = BENCH_LONGER * 0.2 * 0.8 * (side / n / 2) / 4.5;
    options.scheme = "convex";
    options.tolerance = 1e-16;
    options.max_iterations = SWEEPS;
    options.threads = 1;
    for (int round = 0; round < rounds; round++) {
        cairn_world *worlds[2] = { fill(open_box(side, side), n), fill(open_cell(side, side), n) };
        for (int k = 0; k < steps; k++)
            for (int w = 0; w < 2; w++) {
                cairn_step_report report = step(worlds[w], &options);
                keep_least(&all[w * steps + k], &report);
            }
        for (int w = 0; w < 2; w++)
            cairn_world_destroy(worlds[w]);
    }
    FILE *csv = bench_table(folder, "periodic.csv", "stage,walls_ns,periodic_ns,ratio");
    printf("%d spheres fall onto a floor, %d steps of %d sweeps, least of %d runs: ns per contact\n"
           "%-10s %9s %9s %9s\n",
           n * n * n, steps, SWEEPS, rounds, "", "walls", "periodic", "ratio");
    for (int w = 0; w < 2; w++)
        sum_up(all + w * steps, steps, each[w]);
    for (int i = 0; i < 5; i++) {
        double ratio = each[1][i] / each[0][i];
        printf("%-10s %9.1f %9.1f %9.3f\n", names[i], each[0][i], each[1][i], ratio);
        fprintf(csv, "%s,%.6g,%.6g,%.6g\n", names[i], each[0][i], each[1][i], ratio);
    }
    fclose(csv);
    free(all);
}

double bench_heap(const char *folder, const bench_rest_options *o, cairn_world **world,
                  cairn_step_options *options)
{
    heap h = settled_box(folder, o->n, o->scheme);
    double spheres = (double)h.count * o->copies[0] * o->copies[1] * o->copies[2];
    *options = cairn_step_options_default();
    options->time_step = h.time_step;
    options->scheme = o->scheme;
    options->tolerance = 1e-3;
    options->threads = o->threads;
    options->parts = o->parts;
    options->backend = o->backend ? o->backend : options->backend;
    if (world)
        *world = put_together(&h, o->copies);
    free(h.balls);
    return spheres;
}

void bench_rest(const char *folder, const bench_rest_options *o)
{
    cairn_world *world;
    cairn_step_options options;
    double spheres = bench_heap(folder, o, &world, &options);
    printf("at rest, tolerance 1e-3, back end %s, %d threads: %d steps to settle, then %d "
           "measured\n%-12s %8s %9s "
           "%7s %8s %8s %8s %8s %8s %8s %7s %7s %6s\n",
           o->backend ? o->backend : "host", o->threads, o->before, o->steps, "", "spheres",
           "contacts", "sweeps", "collide", "assemble", "solve", "finish", "step ms", "cpu ms",
           "us each", "sweeps", "GB");
    for (int k = 0; k < o->before; k++)
        step(world, &options);
    cost c = measure(world, &options, o->steps);
    show(o->scheme, spheres, &c, o->steps);
    keep_row(folder, o->scheme, spheres, &c, o->steps);
    cairn_world_destroy(world);
}
